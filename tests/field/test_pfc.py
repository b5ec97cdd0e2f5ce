#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""PFC over real ports: what is counted, what is obeyed, what is sent, asymmetric PFC, odd frames."""
import struct
import sys

sys.dont_write_bytecode = True
import field
from field import ALL, QUANTA, mac_bytes, name

SRC, DST, ASYM, OTHER = range(4)
LOSSLESS, LOSSY = (3, 4), (0, 1, 2, 5, 6)
CLASS_DSCP = {8: 0, 0: 1, 5: 2, 3: 3, 4: 4, 46: 5, 48: 6}   # AZURE: DSCP to queue
LEN, ROOM_FRAMES, LIMIT_FRAMES = 500, 20, 10

CONFIG = f'''
descriptors = 16384;
buffer_pool = (
  {{ name = "in"; type = "ingress"; size = "500000"; }},
  {{ name = "out"; type = "egress"; size = "4MiB"; }});
buffer_profile = (
  {{ name = "pg_lossless"; pool = "in"; size = "{ROOM_FRAMES * LEN}"; xoff = "{ROOM_FRAMES * LEN}"; xon = "1000";
     static_th = "{LIMIT_FRAMES * LEN}"; }},
  {{ name = "pg_lossy"; pool = "in"; static_th = "{LIMIT_FRAMES * LEN}"; }},
  {{ name = "queue"; pool = "out"; static_th = 0; }});
buffer_pg = (
  {{ port = "all"; pg = "3-4"; profile = "pg_lossless"; }},
  {{ port = "all"; pg = "0-2,5-7"; profile = "pg_lossy"; }});
buffer_queue = ({{ port = "all"; queue = "0-7"; profile = "queue"; }});
'''
SYMMETRIC = 'pfc_enable = "3-4"; cnp_reserve = "0"; '


class PfcTest(field.FieldTest):
    CONFIG, PORT = CONFIG, [SYMMETRIC, SYMMETRIC, SYMMETRIC + 'pfc_asymmetric = true;', SYMMETRIC]

    def one_of_each_class(self, dst):
        """Sends a frame of every class; returns the queues that have sent theirs when all that may have."""
        for dscp in CLASS_DSCP:
            self.send(SRC, dst, 1, 100, dscp=dscp)
        held = sum(1 for p in self.held.get(dst, ()) if p in CLASS_DSCP.values())
        frames = self.take(dst, len(CLASS_DSCP) - held)
        return sorted(CLASS_DSCP[f[15] >> 2] for f in frames)

    def flow_freely(self, dst=DST):
        self.assertEqual(self.one_of_each_class(dst), sorted(CLASS_DSCP.values()))

    def pfc_rx(self, port=DST):
        return self.row(port, 'prio', 'pfc_rx_pkts')

    def wait_pfc_rx(self, count, prio, port=DST):
        self.wait_stat(count, port, 'prio', prio, 'pfc_rx_pkts')


class PfcCounters(PfcTest):
    def counted(self, quanta):
        for prio in ALL:
            before = self.pfc_rx()[prio]
            for _ in range(20):
                self.peers[DST].send_pfc([prio], quanta)
            self.wait_pfc_rx(before + 20, prio)
            self.assertEqual(self.pfc_rx(), [20 if p <= prio else 0 for p in ALL])
        self.assertEqual(self.port(DST, 'pause_rx_pkts'), 0)
        self.assertEqual(self.drops(), {})

    def test_pfc_pause(self):
        self.counted(QUANTA)

    def test_pfc_unpause(self):
        self.counted(0)

    def global_counted(self, quanta):
        for _ in range(50):
            self.peers[DST].send_pfc((), quanta, opcode=field.PAUSE)
        self.wait_stat(50, DST, 'port', 0, 'pause_rx_pkts')
        self.assertEqual(self.pfc_rx(), [0] * 8)
        self.assertEqual(self.row(DST, 'prio', 'rx_pause_transitions'), [0] * 8)
        self.assertEqual(self.drops(), {})

    def test_fc_pause(self):
        self.global_counted(QUANTA)

    def test_fc_unpause(self):
        self.global_counted(0)

    def test_continous_pfc(self):
        """Every enable vector, one behind the other without a gap: each priority is in half of them."""
        for vector in range(256):
            self.peers[DST].send_pfc([p for p in ALL if vector >> p & 1], vector % 2)
        field.wait_for(lambda: self.pfc_rx() == [128] * 8, 10, lambda: self.pfc_rx())

    def test_frames_not_counted_as_rx_ok(self):
        """Neither PFC nor PAUSE is data, received, dropped or passed on."""
        for _ in range(30):
            self.peers[DST].send_pfc(LOSSLESS, 0)
            self.peers[DST].send_pfc((), QUANTA, opcode=field.PAUSE)
        self.wait_pfc_rx(30, 3)
        self.wait_stat(30, DST, 'port', 0, 'pause_rx_pkts')
        for key in ('if_in_ucast_pkts', 'if_in_non_ucast_pkts', 'if_in_octets', 'in_dropped_pkts'):
            self.assertEqual(self.port(DST, key), 0, key)
        for port in (SRC, ASYM, OTHER):
            self.assertEqual(self.peers[port].received(), [])


class PfcPause(PfcTest):
    def pause_lossless(self, prios):
        """What is paused stays where it is, everything else passes."""
        self.hold(DST, prios)
        self.assertEqual(self.one_of_each_class(DST), sorted(set(CLASS_DSCP.values()) - set(prios)))
        for prio in prios:
            self.assertEqual(self.queue(DST, prio, 'packets'), 0)
            self.assertEqual(self.stat(DST, 'queue', prio, 'curr_occupancy_packets'), 1)
        self.release(DST)
        self.assertEqual(sorted(f[15] >> 2 for f in self.take(DST, len(prios))), sorted(prios))
        self.assert_quiet()

    def test_pause_lossless_single(self):
        self.pause_lossless([3])

    def test_pause_lossless_single_of_the_other(self):
        self.pause_lossless([4])

    def test_pause_lossless_multi(self):
        self.pause_lossless(LOSSLESS)

    def test_no_pfc(self):
        """Without PFC everything passes."""
        self.flow_freely()
        self.assertEqual(self.row(DST, 'prio', 'rx_pause_transitions'), [0] * 8)
        self.assert_quiet()

    def test_counter_check(self):
        """What the switch says it sent is what the peer got; what it says was received is what was sent."""
        self.hold(DST, [3])
        self.send(SRC, DST, LIMIT_FRAMES + 1, dscp=3)
        self.release(DST)
        self.drain()
        field.wait_for(lambda: self.stat(SRC, 'pg', 3, 'xon_events') >= self.first[SRC, 'pg', 3, 'xon_events'] + 1,
                       5, 'XON')
        got = []
        field.wait_for(lambda: got.extend(self.peers[SRC].pfc()) or len(got) >= self.prio(SRC, 3, 'pfc_tx_pkts'),
                       5, 'all PFC that was counted')
        self.assertEqual(len(got), self.prio(SRC, 3, 'pfc_tx_pkts'))
        self.assertEqual([enable for enable, _ in got], [1 << 3] * len(got))
        self.assertEqual([timers[3] for _, timers in got], [QUANTA] * (len(got) - 1) + [0])

    def test_global_pause(self):
        """802.3x is counted and never obeyed."""
        for _ in range(20):
            self.peers[DST].send_pfc((), QUANTA, opcode=field.PAUSE)
        self.wait_stat(20, DST, 'port', 0, 'pause_rx_pkts')
        self.flow_freely()
        self.assert_quiet()

    def test_pause_lossy(self):
        """PFC for priorities without PFC pauses nothing, neither them nor lossless ones."""
        self.peers[DST].send_pfc(LOSSY + (7,), QUANTA)
        self.wait_pfc_rx(1, 0)
        self.flow_freely()
        self.assert_quiet()

    def unset_bits(self, priorities):
        timers = [QUANTA if p in priorities else 0 for p in ALL]
        self.peers[DST].send_pfc((), timers)
        # A frame that does count, behind it, shows that it has been looked at; nothing obeys priority 7.
        self.peers[DST].send_pfc([7], QUANTA)
        self.wait_pfc_rx(1, 7)
        self.assertEqual(self.pfc_rx(), [0] * 7 + [1])
        self.flow_freely()

    def test_unset_bit_enable_vector_lossless(self):
        self.unset_bits(LOSSLESS)

    def test_unset_bit_enable_vector_lossy(self):
        self.unset_bits(LOSSY)

    def send_zero_mac(self, priorities):
        self.peers[DST].raw.send(field.pfc_frame('00:00:00:00:00:00', field.mask(priorities), QUANTA))

    def test_zero_mac_lossless(self):
        self.send_zero_mac([3])
        self.wait_pfc_rx(1, 3)
        self.held[DST] = [3]
        self.assertEqual(self.one_of_each_class(DST), [0, 1, 2, 4, 5, 6])
        self.release(DST)
        self.take(DST, 1)
        self.assert_quiet()

    def test_zero_mac_lossy(self):
        self.send_zero_mac(LOSSY)
        self.wait_pfc_rx(1, 0)
        self.flow_freely()
        self.assert_quiet()

    def sent_pfc(self):
        """Frames, raw, that the switch sends for an XOFF and its end."""
        self.hold(DST, LOSSLESS)
        self.send(SRC, DST, LIMIT_FRAMES + 1, dscp=4)
        self.release(DST)
        frames = []
        done = lambda: frames and frames[-1][18 + 8:20 + 8] == b'\0\0'
        field.wait_for(lambda: frames.extend(f for f in self.peers[SRC].received()
                                             if f[12:14] == field.MAC_CONTROL) or done(), 10, 'XOFF and XON')
        return frames

    def test_valid_pfc_frame(self):
        """IEEE 802.1Q figure 36-1: address, type, opcode, one bit, its timer, zeros to 60 bytes."""
        for sent in self.sent_pfc():
            self.assertEqual((sent[:6].hex(), len(sent)), ('0180c2000001', 60))
            timer = struct.unpack_from('!H', sent, 18 + 8)[0]
            self.assertIn(timer, (QUANTA, 0))
            timers = [timer if p == 4 else 0 for p in ALL]
            self.assertEqual(sent[12:], struct.pack('!HHH8H', 0x8808, 0x0101, 1 << 4, *timers) + bytes(26))

    def test_valid_src_mac(self):
        own = mac_bytes(self.switch.port(name(SRC))['mac'])
        self.assertFalse(own[0] & 1)
        self.assertTrue(any(own))
        self.assertEqual({sent[6:12] for sent in self.sent_pfc()}, {own})

    def test_tx_drop_counter(self):
        """A storm at egress makes no drop: not at the queue, not at the port."""
        self.hold(DST, LOSSLESS)
        self.send(SRC, DST, LIMIT_FRAMES + ROOM_FRAMES, dscp=3)
        self.assertEqual(self.drops(), {})
        for key in ('out_dropped_pkts', 'wred_dropped_packets'):
            self.assertEqual(self.port(DST, key), 0)
        self.assertEqual(self.queue(DST, 3, 'dropped_packets'), 0)

    def test_pause_response_headroom(self):
        """A peer sends on after XOFF: nothing is lost up to its headroom, then exactly what is beyond."""
        for late in (1, ROOM_FRAMES, ROOM_FRAMES + 1, ROOM_FRAMES + 7):
            with self.subTest(late=late):
                before = self.port(SRC, 'in_dropped_pkts')
                self.hold(DST, LOSSLESS)
                self.send(SRC, DST, LIMIT_FRAMES + late, dscp=3)
                self.assertEqual(self.stat(SRC, 'pg', 3, 'xoff_state'), 1)
                self.assertEqual(self.port(SRC, 'in_dropped_pkts') - before, max(0, late - ROOM_FRAMES))
                self.release(DST)
                self.drain()


class PfcAsym(PfcTest):
    """Asymmetric PFC obeys every priority and generates it for the lossless ones alone."""

    def generated(self, src):
        """Priorities that the switch pauses at a port when every class is over its limit."""
        self.hold(DST, LOSSLESS)
        for dscp in (3, 4):
            self.send(src, DST, LIMIT_FRAMES + 1, dscp=dscp)
        for dscp in (0, 5, 8, 46):      # all of one lossy group, which drops instead
            self.send(src, DST, LIMIT_FRAMES + 1, 1500, dscp=dscp)
        self.assertGreater(self.pg(src, 0, 'dropped_packets'), 0)
        return [p for p, count in enumerate(self.row(src, 'prio', 'pfc_tx_pkts')) if count]

    def obeyed(self, dst):
        self.peers[dst].send_pfc(ALL, QUANTA)
        self.wait_pfc_rx(1, 0, dst)
        return [p for p in ALL if self.stat(dst, 'prio', p, 'rx_paused')]

    def test_off_tx_pfc(self):
        self.assertEqual(self.generated(SRC), list(LOSSLESS))

    def test_off_rx_pause_frames(self):
        self.assertEqual(self.obeyed(DST), list(LOSSLESS))
        self.held[DST] = list(LOSSLESS)
        self.assertEqual(self.one_of_each_class(DST), list(LOSSY))

    def test_on_tx_pfc(self):
        self.assertEqual(self.generated(ASYM), list(LOSSLESS))

    def test_on_handle_pfc_all_prio(self):
        self.assertEqual(self.obeyed(ASYM), list(ALL))
        self.held[ASYM] = list(ALL)
        self.assertEqual(self.one_of_each_class(ASYM), [])
        self.release(ASYM)
        self.assertEqual(len(self.take(ASYM, len(CLASS_DSCP))), len(CLASS_DSCP))


if __name__ == '__main__':
    field.main()
