#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Changes of a running switch that must drop: refused with the reason, then forced, with every lost frame
counted, and the switch goes on. Test hooks keep the queue full, so that all numbers are exact."""
import sys

sys.dont_write_bytecode = True
import lab
from lab import edit

COUNT = 40
LENGTH = 500
DSCP = 26   # lossless, queue 3
OUT = 'Ethernet4'
LIMIT = 16 << 10    # static_th of lab.LOSSLESS
POOL = 12 << 10


class Force(lab.SmokeTest):
    def start(self):
        self.hosts = lab.Host(self, 1), lab.Host(self, 2)
        self.switch = lab.Switch(self, 'force', [
            lab.veth_port(f'Ethernet{4 * n}', host, n, f'lcore = {n}; {lab.LOSSLESS_PORT}')
            for n, host in enumerate(self.hosts)], lab.LOSSLESS).start()
        for name in ('Ethernet0', OUT):
            self.switch.wait_link(name)
        self.talk()

    def talk(self):
        lab.wait_for(lambda: self.hosts[0].ping(self.hosts[1]) == 3, 20, f'answers; log:\n{self.switch.log()}')

    def hold(self, on):
        status, answer = self.switch.request('POST', f'/v1/debug/tx-disable?port={OUT}&on={"on" if on else "off"}')
        self.assertEqual(status, 200, answer)

    def queued(self):
        return self.switch.port(OUT)['queues'][3]['curr_occupancy_packets']

    def sent(self):
        return self.switch.port(OUT)['stats']['if_out_ucast_pkts']

    def lost(self):
        """Frames lost by reason; what a host says to nobody in particular is not looked at."""
        return {reason: count for _, _, reason, count in lab.drops(self.switch)}

    def send(self, wait=COUNT):
        """Lossless frames for the port that does not send; `wait` of them are then queued."""
        a, b = self.hosts
        raw = a.raw_socket()
        for number in range(COUNT):
            raw.send(lab.udp_frame(a.mac, b.mac, LENGTH, DSCP, number))
        lab.wait_for(lambda: self.queued() == wait, 20, f'{wait} frames queued')

    def fill(self):
        self.hold(True)
        self.send()

    def refused_then_forced(self, words, *edits):
        """A dry look at the reason, without a trace, and then the deed."""
        before = self.switch.get('/v1/config')['text']
        status, answer = self.switch.change(*edits)
        self.assertEqual(status, 409, answer)
        self.assertFalse(answer['applied'])
        self.assertIn('force does it', answer['error'])
        for word in words:
            self.assertIn(word, '\n'.join(answer['drops']))
        self.assertEqual(self.switch.get('/v1/config')['text'], before)
        status, forced = self.switch.change(*edits, force=True)
        self.assertEqual((status, forced['applied']), (200, True), forced)
        self.assertEqual(forced['drops'], answer['drops'])

    def test_admin_down(self):
        """What is queued is lost, all of it and nothing else, and the port comes back."""
        self.start()
        self.fill()
        self.refused_then_forced((f'port {OUT}: admin down drops what is queued',),
                                 edit('set', 'port', OUT, admin=False))
        self.switch.wait_link(OUT, up=False)
        lab.wait_for(lambda: self.queued() == 0, 20, 'an empty queue')
        self.assertEqual(self.lost(), {'LINK_FLUSH': COUNT})
        self.hold(False)
        self.assertEqual(self.switch.change(edit('set', 'port', OUT, admin=True))[0], 200)
        self.switch.wait_link(OUT)
        self.talk()
        self.assert_conserved(self.switch)

    def test_reopened(self):
        """A device that is opened anew."""
        self.start()
        self.fill()
        self.refused_then_forced((f'port {OUT}: its device is closed and opened again (rx_ring)',),
                                 edit('set', 'port', OUT, rx_ring=512))
        lab.wait_for(lambda: self.queued() == 0, 20, 'an empty queue')
        self.assertEqual(self.lost(), {'LINK_FLUSH': COUNT})
        self.hold(False)
        self.switch.wait_link(OUT)
        self.talk()
        self.assert_conserved(self.switch)

    def test_pool(self):
        """A pool below what is in use: nothing lossless is lost, what comes is in XOFF and takes headroom."""
        self.start()
        self.fill()
        used = LIMIT // LENGTH * LENGTH     # the rest is in headroom
        self.refused_then_forced((f'buffer_pool ingress: a size of {POOL} bytes would be less than the {used} in use',),
                                 edit('set', 'buffer_pool', 'ingress', size=POOL))
        self.assertEqual(self.queued(), COUNT)
        self.send(wait=2 * COUNT)
        group = self.switch.port('Ethernet0')['priority_groups'][3]
        self.assertEqual(group['xoff_state'], 1)
        sent = self.sent()
        self.hold(False)
        lab.wait_for(lambda: self.queued() == 0, 20, 'an empty queue')
        self.assertGreaterEqual(self.sent(), sent + 2 * COUNT)
        # What kernels say meanwhile is lossy, and finds no room in a pool that is too full.
        self.assertLessEqual(set(self.lost()), {'PG_LOSSY_FULL'})
        lab.assert_headroom(self, self.switch, 'Ethernet0')
        self.talk()
        self.assert_conserved(self.switch)

    def test_mtu(self):
        """Frames that have become too long for the way out are counted, shorter ones pass."""
        self.start()
        self.fill()
        self.refused_then_forced((f'port {OUT}: frames of up to 1514 bytes are taken', 'mtu'),
                                 edit('set', 'port', OUT, mtu=400))
        self.hold(False)
        lab.wait_for(lambda: self.queued() == 0, 20, 'an empty queue')
        before = self.lost().get('EGRESS_MTU', 0)
        self.send(wait=0)
        lab.wait_for(lambda: self.lost().get('EGRESS_MTU', 0) == before + COUNT, 20, 'all of them counted')
        self.talk()
        self.assertEqual(self.switch.change(edit('set', 'port', OUT, mtu=1500))[0], 200)
        sent = self.sent()
        self.send(wait=0)
        lab.wait_for(lambda: self.sent() >= sent + COUNT, 20, 'all of them sent')
        self.assertEqual(self.lost(), {'EGRESS_MTU': before + COUNT})
        self.assert_conserved(self.switch)


if __name__ == '__main__':
    lab.main()
