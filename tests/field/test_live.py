#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Configurations changed while frames wait or a storm lasts: buffers, weights, ECN, maps, groups."""
import sys

sys.dont_write_bytecode = True
import field
import test_balance as balance
import test_pfcwd as pfcwd
import test_qos_sai as sai
from field import name
from test_qos_sai import DST, LEN, LIMIT_FRAMES, MARKED, OTHER, ROOM_FRAMES, SRC, WEIGHED


class Buffers(sai.SaiSwitch):
    def fill(self, src, dst, count, dscp):
        self.hold(dst)
        self.send(src, dst, count, LEN, dscp=dscp)

    def test_headroom_override(self):
        """Twice the headroom, and then the old one again: so many frames fit behind XOFF, to the frame."""
        old = f'size = "{sai.RESERVE + sai.XOFF}"; xoff = "{sai.XOFF}"'
        self.change((old, f'size = "{sai.RESERVE + 2 * sai.XOFF}"; xoff = "{2 * sai.XOFF}"'))
        for room in (2 * ROOM_FRAMES, ROOM_FRAMES):
            before = self.port(SRC, 'in_dropped_pkts')
            self.fill(SRC, DST, LIMIT_FRAMES + room, 3)
            self.assertEqual(self.port(SRC, 'in_dropped_pkts'), before)
            self.assertEqual(self.room(SRC, 3), room * LEN)
            self.send(SRC, DST, 2, LEN, dscp=3)
            self.assertEqual(self.port(SRC, 'in_dropped_pkts'), before + 2)
            self.release(DST)
            self.drain()
            self.doCleanups()

    def test_lossless_pg(self):
        """A threshold that changes under load: what waits stays, XOFF follows the new limit at once."""
        self.fill(SRC, DST, LIMIT_FRAMES // 2, 3)
        self.assertEqual(self.stat(SRC, 'pg', 3, 'xoff_state'), 0)
        # alpha = 2^-5: x <= (SHARED - x) / 32, far below what waits; the next frame finds that.
        self.change(('dynamic_th = -2', 'dynamic_th = -5'))
        self.send(SRC, DST, 1, LEN, dscp=3)
        self.assertEqual((self.stat(SRC, 'pg', 3, 'xoff_state'), self.room(SRC, 3)), (1, LEN))
        self.doCleanups()
        self.release(DST)
        self.assertEqual(len(self.take(DST, LIMIT_FRAMES // 2 + 1)), LIMIT_FRAMES // 2 + 1)
        self.assertEqual(self.drops(), {})
        self.fill(SRC, DST, LIMIT_FRAMES, 3)
        self.assertEqual(self.stat(SRC, 'pg', 3, 'xoff_state'), 0)
        self.send(SRC, DST, 1, LEN, dscp=3)
        self.assertEqual(self.stat(SRC, 'pg', 3, 'xoff_state'), 1)

    def test_DwrrWeightChange(self):
        """1 to 3 becomes 5 to 2 (in quanta of the smaller weight) while the frames already wait."""
        counts = {3: 50, 4: 20}
        for prio, count in counts.items():
            self.fill(SRC, WEIGHED, count, prio)
        self.change(('name = "light"; weight = 1', 'name = "light"; weight = 5'),
                    ('name = "heavy"; weight = 3', 'name = "heavy"; weight = 2'))
        quantum = {p: self.stat(WEIGHED, 'queue', p, 'weight_bytes') for p in counts}
        self.assertEqual(2 * quantum[3], 5 * quantum[4])
        self.release(WEIGHED)
        order = [f[15] >> 2 for f in self.take(WEIGHED, 70)]
        self.assertEqual({p: order.count(p) for p in counts}, counts)
        bound = 2 * (quantum[3] + LEN) + 5 * (quantum[4] + LEN)
        for i in range(1, len(order)):
            self.assertLess(abs(2 * order[:i].count(3) * LEN - 5 * order[:i].count(4) * LEN), bound, order)
        self.assertEqual(self.drops(), {})

    def test_ecn_config(self):
        """A threshold of 10 frames in place of 30 reaches frames that already wait."""
        self.fill(SRC, MARKED, 0, 3)
        self.send(SRC, MARKED, 60, LEN, dscp=3, ecn=2)
        old, new = f'threshold = "{sai.MARK_BYTES}"', f'threshold = "{10 * LEN}"'
        self.change((old, new))
        self.release(MARKED)
        # Frame i leaves a queue of 60 - i: 51 of them are 10 or more.
        self.assertEqual([f[15] & 3 for f in self.take(MARKED, 60)], [3] * 51 + [2] * 9)

    def test_qos_reload(self):
        """Another map of DSCP for one port, and the old one again."""
        more = f'map = ({{ type = "dscp_to_tc"; name = "other"; map = "3:3 4:4 20:5 *:1"; }});\nport = ('
        self.change(('port = (\n{ name = "Ethernet0";', more + '{ name = "Ethernet0"; dscp_to_tc_map = "other";'))
        for queue in (5, 1):
            before = self.queue(DST, queue, 'packets')
            self.send(SRC, DST, 3, LEN, dscp=20)
            self.wait_stat(before + 3, DST, 'queue', queue, 'packets')
            self.doCleanups()
        self.assertEqual(self.drops(), {})


class HeadroomPool(sai.PooledSwitch):
    def frames_until_drop(self):
        self.hold(sai.SINK)
        self.pause_all()
        before = sum(self.drops().values())
        for frames in range(1, 100):
            port, pg = self.GROUPS[frames % len(self.GROUPS)]
            self.send(port, sai.SINK, 1, 1000, dscp=pg)
            if sum(self.drops().values()) > before:
                break
        self.release(sai.SINK)
        self.drain()
        return frames + len(self.GROUPS) - 1

    def test_exceeding_headroom(self):
        """A group may not be given more headroom than the pool that it shares has: refused, and all is as it was."""
        old = self.switch.config.read_text()
        self.addCleanup(self.switch.config.write_text, old)
        said = self.switch.hup(old.replace(f'xoff = "{sai.SHARE}"', f'xoff = "{sai.SHP + 1}"'))
        self.assertIn(f'xoff {sai.SHP + 1} exceeds the shared headroom pool of {sai.SHP} bytes', said)
        self.assertIn('not applied', said)
        self.assertEqual(self.stat(0, 'pg', 3, 'xoff_bytes'), sai.SHARE)
        self.assertEqual(self.frames_until_drop(), sai.SHP // 1000)

    def test_shared_headroom_pool_configure(self):
        """The pool grows by ten frames, shrinks to what it was: as many frames fit into it."""
        self.assertEqual(self.frames_until_drop(), sai.SHP // 1000)
        self.change((f'xoff = "{sai.SHP}"', f'xoff = "{sai.SHP + 10000}"'))
        self.assertEqual(self.pool('in')['headroom_bytes'], sai.SHP + 10000)
        self.assertEqual(self.frames_until_drop(), sai.SHP // 1000 + 10)
        self.doCleanups()
        self.assertEqual(self.frames_until_drop(), sai.SHP // 1000)


class Pfcwd(pfcwd.Watched):
    PORTS = 3
    CONFIG = pfcwd.watchdogs(pfcwd.TIMES_MS, ('drop', 'drop', 'drop'))

    def test_mmu_change(self):
        """Other buffers in a storm leave the storm and its mitigation as they are."""
        self.storm(pfcwd.DROP)
        self.change(('static_th = "20000"', 'static_th = "30000"'))
        self.assertEqual(self.stat(pfcwd.DROP, 'queue', 3, 'pfc_wd_status'), pfcwd.STORMED)
        self.send(pfcwd.SRC, pfcwd.DROP, 4, LEN, dscp=3)
        self.assertEqual(self.drops(), {(pfcwd.DROP, 'PFC_WD_TX'): 5})
        self.doCleanups()
        self.assertEqual(self.storms(pfcwd.DROP), (1, 0))
        self.calm(pfcwd.DROP)
        self.assertEqual(self.storms(pfcwd.DROP), (1, 1))
        self.flows(pfcwd.SRC, pfcwd.DROP)

    def test_unconfigured_while_stormed(self):
        """Without its watchdog the queue is held by PFC again, and loses nothing more."""
        self.storm(pfcwd.DROP)
        self.change((pfcwd.row(pfcwd.DROP, 'drop', pfcwd.TIMES_MS) + ', ', ''))
        self.send(pfcwd.SRC, pfcwd.DROP, 4, LEN, dscp=3)
        self.assertEqual(self.stat(pfcwd.DROP, 'queue', 3, 'curr_occupancy_packets'), 4)
        self.assertEqual(self.drops(), {(pfcwd.DROP, 'PFC_WD_TX'): 1})
        self.release(pfcwd.DROP)
        self.wait_stat(4, pfcwd.DROP, 'queue', 3, 'packets')


class Group(balance.Balanced):
    def test_group_members_increment(self):
        """Three members become four: each path has its share before and after, and nothing is lost."""
        last = balance.PATHS[-1]
        row = f',\n  {{ group = "far"; port = "{name(last)}"; mac = "02:00:00:00:77:{last + 1:02x}"; }}'
        self.change((row, ''))
        before = self.flows('src_port')
        self.assertEqual(before[-1], 0)
        self.assert_balanced(before)
        self.doCleanups()
        after = self.flows('src_port')
        self.assertGreater(after[-1], 0)
        self.assert_balanced(after)
        self.assertEqual(self.drops(), {})


class Lag(balance.LagSwitch):
    def say_hello(self):
        """The host behind the LAG says where it is: other members make the switch forget it."""
        peer = self.peers[balance.PATHS[0]]
        peer.raw.send(field.frame(peer.mac, 'ff:ff:ff:ff:ff:ff', 60))
        field.wait_for(lambda: (peer.mac, 'PortChannel1') in [
            (entry['mac'], entry['port']) for entry in self.switch.get('/v1/mac')['entries']], 10, 'its address')

    def test_lag_member_remove_add(self):
        """A member is taken out: the others share all flows; put back each flow is where it was."""
        before = self.placement()
        self.change((f'members = "{balance.MEMBERS}"', f'members = "{balance.MEMBERS.rpartition(" ")[0]}"'))
        self.say_hello()
        without = self.placement()
        self.assertEqual((len(without), set(without.values())), (balance.PLACED, set(balance.PATHS[:-1])))
        self.assert_balanced([list(without.values()).count(p) for p in balance.PATHS], balance.PLACED)
        self.doCleanups()
        self.say_hello()
        self.assertEqual(self.placement(), before)
        self.assertEqual(self.drops(), {})


if __name__ == '__main__':
    field.main()
