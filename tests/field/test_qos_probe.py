#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Thresholds found by search, without knowing them, and then compared with the formula."""
import sys

sys.dont_write_bytecode = True
import field
import test_qos_sai as sai
from test_qos_sai import DST, LEN, OTHER, SRC

MOST = 256      # frames: above every threshold here


class QosProbe(sai.SaiSwitch):
    """Destinations are held by the switch's test hook, and their ports send as fast as they can."""
    SPEED = ''

    def hold(self, port, priorities=field.ALL):
        self.hook(f'tx-disable?port={field.name(port)}', True)

    def release(self, *ports, priorities=field.ALL):
        field.FieldTest.fresh_until = 0
        for port in ports:
            self.hook(f'tx-disable?port={field.name(port)}', False)

    def least(self, happens):
        """The least number of frames with which it happens, by halving; each try begins with empty buffers."""
        low, high = 0, MOST
        while high - low > 1:
            middle = (low + high) // 2
            self.setUp()
            if happens(middle):
                high = middle
            else:
                low = middle
        return high

    def sent_to_held(self, count, dscp):
        self.hold(DST)
        self.send(SRC, DST, count, LEN, dscp=dscp)

    def test_PfcXoffProbing(self):
        def happens(count):
            self.sent_to_held(count, 3)
            return self.prio(SRC, 3, 'pfc_tx_pkts')

        self.assertEqual(self.least(happens), sai.LIMIT_FRAMES + 1)

    def test_IngressDropProbing(self):
        def happens(count):
            self.sent_to_held(count, 4)
            return self.pg(SRC, 4, 'dropped_packets')

        self.assertEqual(self.least(happens), sai.LIMIT_FRAMES + sai.ROOM_FRAMES + 1)

    def test_EgressDropProbing(self):
        def happens(count):
            self.sent_to_held(count, sai.LOSSY_DSCP)
            return self.queue(DST, 1, 'dropped_packets')

        self.assertEqual(self.least(happens), sai.LOSSY_FRAMES + 1)

    def test_PfcXonProbing(self):
        """How many frames of a paused group must leave until it is resumed."""
        total = sai.LIMIT_FRAMES + 1

        def happens(count):
            count = min(count, total)
            for dst, part in ((DST, count), (OTHER, total - count)):
                self.hold(dst)
                self.send(SRC, dst, part, LEN, dscp=3)
            self.assertEqual(self.stat(SRC, 'pg', 3, 'xoff_state'), 1)
            self.release(DST)
            field.wait_for(lambda: self.stat(SRC, 'pg', 3, 'curr_occupancy_bytes') == (total - count) * LEN, 10,
                           'the part has left')
            return not self.stat(SRC, 'pg', 3, 'xoff_state')

        self.assertEqual(self.least(happens), total - sai.XON_FRAMES)


class HeadroomPoolProbe(sai.PooledSwitch):
    def test_HeadroomPoolProbing(self):
        """All six groups paused, then one frame after the other to those in turn that have a share left."""
        self.hold(sai.SINK)
        self.pause_all()
        frames = 0
        while not self.drops() and frames < MOST:
            port, pg = self.GROUPS[frames % len(self.GROUPS)]
            self.send(port, sai.SINK, 1, 1000, dscp=pg)
            frames += 1
        self.assertEqual(frames, sai.SHP // 1000 - len(self.GROUPS) + 1)


if __name__ == '__main__':
    field.main()
