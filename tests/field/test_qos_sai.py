#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The SAI QoS suite over real ports: thresholds, pools, maps, scheduling, marking, to the frame."""
import sys

sys.dont_write_bytecode = True
import field
from field import ALL, QUANTA, name

# One ingress pool: five ports reserve RESERVE bytes in two lossless groups each, SHARED are left.
RESERVE, XOFF, SHARED, XON_OFFSET = 1000, 20000, 180000, 5000
PORTS = 5
SRC, DST, WEIGHED, MARKED, OTHER = range(PORTS)
INGRESS_BYTES = SHARED + PORTS * 2 * RESERVE
LOSSY_RESERVE, LOSSY_SHARED = 1000, 60000
LOSSY_BYTES = LOSSY_SHARED + PORTS * 5 * LOSSY_RESERVE
LEN = 500
MARK_BYTES = 30 * LEN
HOG_DSCP, LOSSY_DSCP = 8, 0     # AZURE: class 0, and class 1

# alpha = 2^-2: a lone group holds x shared bytes while x <= (SHARED - x) / 4, so x = SHARED / 5.
LIMIT = RESERVE + SHARED // 5
LIMIT_FRAMES, ROOM_FRAMES = LIMIT // LEN, XOFF // LEN
# XON by xon_offset: x + XON_OFFSET <= (SHARED - x) / 4, so x = (SHARED - 4 XON_OFFSET) / 5.
XON_FRAMES = (RESERVE + (SHARED - 4 * XON_OFFSET) // 5) // LEN
# Lossy queues: alpha = 2^1, x = 2 (LOSSY_SHARED - x), so x = 2 LOSSY_SHARED / 3.
LOSSY_FRAMES = (LOSSY_RESERVE + 2 * LOSSY_SHARED // 3) // LEN

CONFIG = f'''
descriptors = 16384;
buffer_pool = (
  {{ name = "in"; type = "ingress"; size = "{INGRESS_BYTES}"; }},
  {{ name = "out"; type = "egress"; size = "4MiB"; }},
  {{ name = "lossy"; type = "egress"; size = "{LOSSY_BYTES}"; }});
buffer_profile = (
  {{ name = "pg_lossless"; pool = "in"; size = "{RESERVE + XOFF}"; xoff = "{XOFF}"; xon = "2000";
     xon_offset = "{XON_OFFSET}"; dynamic_th = -2; }},
  {{ name = "pg_lossy"; pool = "in"; static_th = 0; }},
  {{ name = "queue_open"; pool = "out"; static_th = 0; }},
  {{ name = "queue_lossy"; pool = "lossy"; size = "{LOSSY_RESERVE}"; dynamic_th = 1; }});
buffer_pg = (
  {{ port = "all"; pg = "3-4"; profile = "pg_lossless"; }},
  {{ port = "all"; pg = "0-2,5-7"; profile = "pg_lossy"; }});
buffer_queue = (
  {{ port = "all"; queue = "0,3-4"; profile = "queue_open"; }},
  {{ port = "all"; queue = "1-2,5-7"; profile = "queue_lossy"; }});
scheduler = (
  {{ name = "light"; weight = 1; }},
  {{ name = "heavy"; weight = 3; }});
wred_profile = ({{ name = "step"; ecn = "ecn_all"; green_min_threshold = "{MARK_BYTES}";
          green_max_threshold = "{MARK_BYTES}"; green_drop_probability = "100%"; }});
queue = (
  {{ port = "{name(WEIGHED)}"; queue = "3"; scheduler = "light"; }},
  {{ port = "{name(WEIGHED)}"; queue = "4"; scheduler = "heavy"; }},
  {{ port = "{name(MARKED)}"; queue = "3"; wred_profile = "step"; }});
'''
PORT = 'pfc_enable = "3-4"; pfc_asymmetric = true; cnp_reserve = "0"; '


class SaiSwitch(field.FieldTest):
    PORTS, CONFIG, PORT = PORTS, CONFIG, PORT

    def room(self, port, pg):
        return self.stat(port, 'pg', pg, 'xoff_room_curr_occupancy_bytes')

    def hook(self, what, on):
        status, answer = self.switch.request('POST', f'/v1/debug/{what}&on={"on" if on else "off"}')
        self.assertEqual(status, 200, answer)


class QosSai(SaiSwitch):

    def assert_only_pfc(self, src, prio):
        """The switch has paused this priority at this port, and nothing else anywhere."""
        for port in range(PORTS):
            paused = [p for p, count in enumerate(self.row(port, 'prio', 'pfc_tx_pkts')) if count]
            self.assertEqual(paused, [prio] if port == src else [], name(port))

    def test_testParameter(self):
        """What the switch says of its buffers is what was configured, and it adds up."""
        ingress = self.pool('in')
        self.assertEqual((ingress['size_bytes'], ingress['headroom_bytes']), (INGRESS_BYTES, 0))    # none shared
        for port in self.switch.ports():
            for prio, group in enumerate(port['priority_groups']):
                want = (RESERVE, XOFF, True) if prio in (3, 4) else (0, 0, False)
                self.assertEqual((group['reserved_bytes'], group['xoff_bytes'], group['lossless']), want)
            # Empty: each lossless group may take its reserve and 1/4 of the shared part.
            self.assertEqual(port['priority_groups'][3]['xoff_threshold_bytes'], RESERVE + SHARED // 4)

    def pfc_xoff_limit(self, prio, hook=''):
        """The destination is held by its own PFC, or by a test hook of the switch."""
        if hook:
            self.hook(hook, True)
            self.addCleanup(self.hook, hook, False)
        else:
            self.hold(DST)
        self.send(SRC, DST, LIMIT_FRAMES, dscp=prio)
        self.assert_quiet()
        self.assertEqual(self.stat(SRC, 'pg', prio, 'curr_occupancy_bytes'), LIMIT_FRAMES * LEN)
        self.assertEqual(self.room(SRC, prio), 0)
        # One more: XOFF of this priority alone.
        self.send(SRC, DST, 1, dscp=prio)
        self.assert_only_pfc(SRC, prio)
        self.assertEqual(self.room(SRC, prio), LEN)
        enable, timers = self.peers[SRC].pfc()[0]
        self.assertEqual((enable, timers[prio]), (1 << prio, QUANTA))
        # To the end of headroom nothing is lost.
        self.send(SRC, DST, ROOM_FRAMES - 1, dscp=prio)
        self.assertEqual(self.drops(), {})
        # Beyond it frames are lost at ingress, in this group.
        self.send(SRC, DST, 3, dscp=prio)
        self.assertEqual(self.drops(), {(SRC, 'PG_LOSSLESS_FULL'): 3})
        self.assertEqual(self.row(SRC, 'pg', 'dropped_packets'), [3 * (i == prio) for i in ALL])
        self.assertEqual((self.port(SRC, 'in_dropped_pkts'), self.port(DST, 'out_dropped_pkts')), (3, 0))
        self.assert_only_pfc(SRC, prio)
        self.hook(hook, False) if hook else self.release(DST)
        self.assertEqual(len(self.take(DST, LIMIT_FRAMES + ROOM_FRAMES)), LIMIT_FRAMES + ROOM_FRAMES)
        self.assertEqual(self.pg(SRC, prio, 'xon_events'), 1)

    def test_PfcXoffLimit_1(self):
        self.pfc_xoff_limit(3)

    def test_PfcXoffLimit_2(self):
        self.pfc_xoff_limit(4)

    def test_PfcXoffLimit_tx_disabled(self):
        self.pfc_xoff_limit(3, f'tx-disable?port={name(DST)}')

    def test_PfcXoffLimit_dequeue_disabled(self):
        self.pfc_xoff_limit(4, f'dequeue-disable?port={name(DST)}&queue=4')

    def pfc_xon_limit(self, prio):
        """Three held destinations; with each that goes on less is left, and PFC ends at the rule."""
        counts = {DST: LIMIT_FRAMES + 2 - XON_FRAMES - 1, WEIGHED: 1, OTHER: XON_FRAMES}
        for dst, count in counts.items():
            self.hold(dst)
            self.send(SRC, dst, count, dscp=prio)
        self.assertEqual(self.stat(SRC, 'pg', prio, 'xoff_state'), 1)
        self.peers[SRC].received()
        self.release(DST)
        self.take(DST, counts[DST])
        # One frame above the rule.
        field.wait_for(lambda: self.stat(SRC, 'pg', prio, 'curr_occupancy_bytes') == (XON_FRAMES + 1) * LEN, 5,
                       'one frame above the rule')
        self.assertEqual(self.stat(SRC, 'pg', prio, 'xoff_state'), 1)
        self.assertNotIn((1 << prio, (0,) * 8), self.peers[SRC].pfc())
        self.release(WEIGHED)
        self.take(WEIGHED, 1)
        field.wait_for(lambda: self.stat(SRC, 'pg', prio, 'xoff_state') == 0, 5, 'XON at the rule')
        field.wait_for(lambda: (1 << prio, (0,) * 8) in self.peers[SRC].pfc(), 5, 'an XON frame')
        self.release(OTHER)
        self.take(OTHER, counts[OTHER])
        self.assertEqual((self.pg(SRC, prio, 'xoff_events'), self.pg(SRC, prio, 'xon_events')), (1, 1))
        self.assertEqual(self.peers[SRC].pfc(), [])
        self.assertGreater(self.stat(SRC, 'pg', prio, 'xoff_room_watermark_bytes'), 0)
        self.assertEqual(self.drops(), {})

    def test_PfcXonLimit_1(self):
        self.pfc_xon_limit(3)

    def test_PfcXonLimit_2(self):
        self.pfc_xon_limit(4)

    def test_PGDrop(self):
        """The counter of a group stands still until headroom is used up, and counts every frame then."""
        self.hold(DST)
        for step in (1, LIMIT_FRAMES - 1, 1, ROOM_FRAMES - 1):
            self.send(SRC, DST, step, dscp=4)
            self.assertEqual(self.pg(SRC, 4, 'dropped_packets'), 0)
        for lost in range(1, 6):
            self.send(SRC, DST, 1, dscp=4)
            self.assertEqual(self.pg(SRC, 4, 'dropped_packets'), lost)
        # Neither the other lossless group nor another port is concerned.
        self.send(SRC, DST, 2, dscp=3)
        self.send(OTHER, DST, 2, dscp=4)
        self.assertEqual(self.drops(), {(SRC, 'PG_LOSSLESS_FULL'): 5})

    def test_PgSharedWatermark(self):
        self.hold(DST)
        for sent in (1, 2, 3, 10, LIMIT_FRAMES, LIMIT_FRAMES + 10):
            self.send(SRC, DST, sent - self.numbers[SRC], dscp=3)
            under = min(sent, LIMIT_FRAMES)
            self.assertEqual(self.stat(SRC, 'pg', 3, 'shared_watermark_bytes'), max(0, under * LEN - RESERVE))
        self.release(DST)
        self.drain()
        self.assertEqual(self.stat(SRC, 'pg', 3, 'shared_watermark_bytes'), LIMIT_FRAMES * LEN - RESERVE)
        self.assertEqual(self.stat(SRC, 'pg', 3, 'shared_curr_occupancy_bytes'), 0)
        self.assertEqual(self.stat(SRC, 'pg', 4, 'shared_watermark_bytes'), 0)

    def test_PgHeadroomWatermark(self):
        self.hold(DST)
        self.send(SRC, DST, LIMIT_FRAMES, dscp=3)
        self.assertEqual(self.stat(SRC, 'pg', 3, 'xoff_room_watermark_bytes'), 0)
        for room in (1, 2, ROOM_FRAMES // 2, ROOM_FRAMES):
            self.send(SRC, DST, LIMIT_FRAMES + room - self.numbers[SRC], dscp=3)
            self.assertEqual(self.stat(SRC, 'pg', 3, 'xoff_room_watermark_bytes'), room * LEN)
        self.release(DST)
        self.drain()
        self.assertEqual(self.stat(SRC, 'pg', 3, 'xoff_room_watermark_bytes'), ROOM_FRAMES * LEN)
        self.assertEqual(self.room(SRC, 3), 0)

    def test_BufferPoolWatermark(self):
        """Ingress: what is reserved and shared; egress: what is queued. Each follows each step."""
        self.hold(DST)
        for sent in (1, 4, 30, LIMIT_FRAMES):
            self.send(SRC, DST, sent - self.numbers[SRC], dscp=3)
            self.assertEqual(self.pool('in')['watermark_bytes'], sent * LEN)
            self.assertEqual(self.pool('out')['watermark_bytes'], sent * LEN)
        self.release(DST)
        self.drain()
        self.assertEqual(self.pool('in')['watermark_bytes'], LIMIT_FRAMES * LEN)
        self.assertEqual(self.pool('in')['curr_occupancy_bytes'], 0)

    def test_LossyQueue(self):
        """Overload is lost at the egress queue, and nobody is paused."""
        self.hold(DST)
        self.send(SRC, DST, LOSSY_FRAMES, dscp=LOSSY_DSCP)
        self.assert_quiet()
        self.send(SRC, DST, 25, dscp=LOSSY_DSCP)
        self.assertEqual(self.drops(), {(DST, 'QUEUE_FULL'): 25})
        self.assertEqual((self.port(SRC, 'in_dropped_pkts'), self.port(DST, 'out_dropped_pkts')), (0, 25))
        self.assertEqual(self.queue(DST, 1, 'dropped_packets'), 25)
        self.assertEqual(self.row(SRC, 'prio', 'pfc_tx_pkts'), [0] * 8)
        self.release(DST)
        self.assertEqual(len(self.take(DST, LOSSY_FRAMES)), LOSSY_FRAMES)

    def test_QSharedWatermark(self):
        self.hold(DST)
        for sent in (1, 2, 5, LOSSY_FRAMES, LOSSY_FRAMES + 5):
            self.send(SRC, DST, sent - self.numbers[SRC], dscp=LOSSY_DSCP)
            under = min(sent, LOSSY_FRAMES) * LEN
            self.assertEqual(self.stat(DST, 'queue', 1, 'watermark_bytes'), under)
            self.assertEqual(self.stat(DST, 'queue', 1, 'shared_watermark_bytes'), max(0, under - LOSSY_RESERVE))
        self.release(DST)
        self.drain()
        self.assertEqual(self.stat(DST, 'queue', 1, 'watermark_bytes'), LOSSY_FRAMES * LEN)

    def test_QWatermarkAllPorts(self):
        """Every port's queues, lossless and lossy, each with another length."""
        want = {}
        for dst in range(PORTS):
            self.hold(dst)
            for dscp, queue in ((0, 1), (3, 3), (4, 4), (5, 2), (46, 5)):
                want[dst, queue] = 2 + dst + queue
                self.send((dst + 1) % PORTS, dst, want[dst, queue], 100, dscp=dscp)
        for (dst, queue), count in want.items():
            self.assertEqual(self.stat(dst, 'queue', queue, 'watermark_bytes'), 100 * count, (dst, queue))
        self.release(*range(PORTS))

    def test_SharedReservationSize(self):
        """Every reserve is used at the same time, and nothing of the shared part."""
        for dst in range(PORTS):
            self.hold(dst)
            for dscp in (3, 4, LOSSY_DSCP, 5, 46):
                self.send((dst + 1) % PORTS, dst, 1, RESERVE, dscp=dscp)
        reserves = sum(group['reserved_bytes'] for port in self.switch.ports()
                       for group in port['priority_groups'])
        self.assertEqual(reserves, INGRESS_BYTES - SHARED)
        ingress, lossy = self.pool('in'), self.pool('lossy')
        # Lossy groups have no reserve, so three frames a port are shared at ingress; no lossy queue is.
        self.assertEqual(ingress['curr_occupancy_bytes'], reserves + PORTS * 3 * RESERVE)
        self.assertEqual(ingress['shared_curr_occupancy_bytes'], PORTS * 3 * RESERVE)
        self.assertEqual((lossy['curr_occupancy_bytes'], lossy['shared_curr_occupancy_bytes']),
                         (PORTS * 3 * LOSSY_RESERVE, 0))
        self.assert_quiet()
        self.release(*range(PORTS))

    def test_PgMinThreshold(self):
        """Others hold the whole shared part: a group has its reserve, and the next frame is headroom's."""
        self.hold(DST)
        self.send(OTHER, DST, SHARED // 1500, 1500, dscp=HOG_DSCP)
        self.assertEqual(self.pool('in')['shared_curr_occupancy_bytes'], SHARED)
        self.assert_quiet()
        self.send(SRC, DST, RESERVE // LEN, dscp=3)
        self.assertEqual(self.stat(SRC, 'pg', 3, 'xoff_state'), 0)
        self.assertEqual(self.stat(SRC, 'pg', 3, 'shared_curr_occupancy_bytes'), 0)
        self.send(SRC, DST, 1, dscp=3)
        self.assertEqual((self.stat(SRC, 'pg', 3, 'xoff_state'), self.room(SRC, 3)), (1, LEN))
        self.assertEqual(self.drops(), {})

    def load(self, port, counts, lengths):
        """Frames of these priorities all wait, then leave; their priorities in order of arrival."""
        self.hold(port)
        for prio, count in counts.items():
            self.send(SRC, port, count, lengths[prio], dscp=prio)
        self.release(port)
        order = [f[15] >> 2 for f in self.take(port, sum(counts.values()))]
        self.assertEqual({prio: order.count(prio) for prio in counts}, counts)
        self.assertEqual(self.drops(), {})
        return order

    def test_Dwrr(self):
        """Weights 1 and 3, loads 1 to 3: at any moment the two differ by less than a quantum and a frame each
        (Shreedhar and Varghese), scaled by the weights; in any other order they would differ by far more."""
        order = self.load(WEIGHED, {3: 20, 4: 60}, {3: LEN, 4: LEN})
        quantum = {p: self.stat(WEIGHED, 'queue', p, 'weight_bytes') for p in (3, 4)}
        self.assertEqual(quantum[4], 3 * quantum[3])
        bound = quantum[4] + LEN + 3 * (quantum[3] + LEN)
        self.assertLess(bound, 60 * LEN / 2)
        for i in range(1, len(order)):
            sent = {p: order[:i].count(p) * LEN for p in (3, 4)}
            self.assertLess(abs(sent[4] - 3 * sent[3]), bound, order)

    def test_Dwrr_lengths(self):
        """Equal weights, frames of 1024 and 256 bytes: shares of bytes, within 5 % when one queue is empty."""
        lengths = {3: 1024, 4: 256}
        order = self.load(DST, {3: 48, 4: 192}, lengths)
        last = min(len(order) - 1 - order[::-1].index(p) for p in lengths)
        sent = {p: order[:last + 1].count(p) * lengths[p] for p in lengths}
        self.assertGreater(min(sent.values()), 40000)
        self.assertLess(abs(sent[3] - sent[4]) / sum(sent.values()), 0.05)

    def test_FullMeshTrafficSanity(self):
        """Every pair of ports, every class."""
        classes = {3: 3, 4: 4, 5: 2, 8: 0, 46: 5, 48: 6, 0: 1}
        for src in range(PORTS):
            for dst in range(PORTS):
                for dscp in classes if src != dst else ():
                    self.post(src, dst, 1, 100, dscp=dscp)
        for dst in range(PORTS):
            got = [f[15] >> 2 for f in self.take(dst, (PORTS - 1) * len(classes))]
            self.assertEqual(sorted(got), sorted(list(classes) * (PORTS - 1)))
        self.drain()
        for dst in range(PORTS):
            self.assertEqual(self.row(dst, 'queue', 'packets'), [PORTS - 1] * 7 + [0])
        self.assert_quiet()

    def test_DscpEcn(self):
        """Off: no CE. On, a step at 30 frames: of 60 frames the first 31 leave a queue of 30 or more. The
        counters are what was captured."""
        for port, ecn, marks in ((DST, 2, 0), (MARKED, 2, 31), (MARKED, 1, 31), (MARKED, 0, 0)):
            with self.subTest(port=port, ecn=ecn):
                before = self.queue(port, 3, 'wred_ecn_marked_packets')
                self.hold(port)
                self.send(SRC, port, 60, dscp=3, ecn=ecn)
                self.release(port)
                got = [f[15] & 3 for f in self.take(port, 60)]
                self.assertEqual(got, [3] * marks + [ecn] * (60 - marks))
                self.drain()
                self.assertEqual(self.queue(port, 3, 'wred_ecn_marked_packets') - before, marks)
        self.assertEqual(self.port(MARKED, 'ecn_marked_packets'), 62)


class Hysteresis(SaiSwitch):
    """So slow that frames leave one by one: one takes 20 ms."""
    SPEED, BURST = '210k', '100us'

    def test_XonHysteresis(self):
        """XOFF lasts above max(xon, limit - xon_offset), whatever is left of headroom, and not below it."""
        self.hold(DST)
        self.send(SRC, DST, LIMIT_FRAMES + 1, dscp=3)
        seen = []
        self.release(DST)

        def empty():
            now = self.look()
            left = now[SRC, 'pg', 3, 'curr_occupancy_bytes'] // LEN
            seen.append((left, now[SRC, 'pg', 3, 'xoff_state']))
            return left == 0

        field.wait_for(empty, 20, 'drained')
        for left, paused in seen:
            self.assertEqual(paused, left > XON_FRAMES, (left, seen))
        self.assertTrue(any(left > XON_FRAMES for left, _ in seen), seen)
        self.assertTrue(any(0 < left <= XON_FRAMES for left, _ in seen), seen)
        self.assertEqual((self.pg(SRC, 3, 'xoff_events'), self.pg(SRC, 3, 'xon_events')), (1, 1))
        self.assertEqual(self.drops(), {})


POOLED, SHP, SHARE, SINK = 4, 30000, 10000, 3
# Four ports with two groups reserve 2000 bytes each. With alpha = 1/8, m groups of x shared bytes each fit
# while x <= (shared - m x - what others hold) / 8, so x = (shared - others) / (8 + m).
POOL_RESERVE, POOL_SHARED = 2000, 120000 - POOLED * 2 * 2000


def pooled_frames(groups, others=0):
    return (POOL_RESERVE + (POOL_SHARED - others) // (8 + groups)) // 1000


ALL_FIT, TWO_FIT = pooled_frames(6), pooled_frames(2)
NEXT_FIT = pooled_frames(2, 2 * (TWO_FIT * 1000 - POOL_RESERVE))


class PooledSwitch(field.FieldTest):
    """Six groups of at most 10000 bytes of headroom each share 30000."""
    PORTS = POOLED
    PORT = PORT
    CONFIG = f'''
descriptors = 16384;
buffer_pool = (
  {{ name = "in"; type = "ingress"; size = "120000"; xoff = "{SHP}"; }},
  {{ name = "out"; type = "egress"; size = "4MiB"; }});
buffer_profile = (
  {{ name = "pg_lossless"; pool = "in"; size = "{POOL_RESERVE}"; xoff = "{SHARE}"; xon = "2000"; dynamic_th = -3; }},
  {{ name = "pg_lossy"; pool = "in"; dynamic_th = 0; }},
  {{ name = "queue"; pool = "out"; static_th = 0; }});
buffer_pg = (
  {{ port = "all"; pg = "3-4"; profile = "pg_lossless"; }},
  {{ port = "all"; pg = "0-2,5-7"; profile = "pg_lossy"; }});
buffer_queue = ({{ port = "all"; queue = "0-7"; profile = "queue"; }});
'''
    GROUPS = [(port, pg) for port in range(SINK) for pg in (3, 4)]

    def room(self, port, pg):
        return self.stat(port, 'pg', pg, 'xoff_room_curr_occupancy_bytes')

    def pause(self, groups, fits):
        """`fits` frames are below the limit of each, whatever the order; with one more all are in XOFF."""
        for port, pg in groups:
            self.send(port, SINK, fits, 1000, dscp=pg)
        self.assertEqual([self.stat(*group[:1], 'pg', group[1], 'xoff_state') for group in groups], [0] * len(groups))
        for port, pg in groups:
            self.send(port, SINK, 1, 1000, dscp=pg)
            self.assertEqual((self.stat(port, 'pg', pg, 'xoff_state'), self.room(port, pg)), (1, 1000))

    def pause_all(self):
        self.pause(self.GROUPS, ALL_FIT)


class HeadroomPool(PooledSwitch):
    def test_HeadroomPoolSize(self):
        self.hold(SINK)
        self.pause_all()
        self.assertEqual([self.room(*group) for group in self.GROUPS], [1000] * 6)
        # Two fill their share, the third takes what is left; no drop until all of the pool is used.
        for (port, pg), more in zip(self.GROUPS, (9, 9, 6)):
            self.send(port, SINK, more, 1000, dscp=pg)
            self.assertEqual(self.room(port, pg), 1000 * (1 + more))
        self.assertEqual(self.pool('in')['xoff_room_watermark_bytes'], SHP)
        self.assertEqual(self.drops(), {})
        self.send(2, SINK, 1, 1000, dscp=4)
        self.assertEqual(self.drops(), {(2, 'PG_LOSSLESS_FULL'): 1})
        self.release(SINK)
        self.drain()
        for port, pg in self.GROUPS:
            self.assertEqual(self.stat(port, 'pg', pg, 'xoff_state'), 0)
        self.assertEqual(self.drops(), {(2, 'PG_LOSSLESS_FULL'): 1})

    def test_HeadroomPoolWatermark(self):
        """Headroom of two groups adds up in the pool that they share, and what was most stays."""
        groups = [(0, 3), (1, 4)]
        self.hold(SINK)
        self.pause(groups, TWO_FIT)
        self.assertEqual(self.pool('in')['xoff_room_watermark_bytes'], 2000)
        for (port, pg), more, total in zip(groups, (4, 7), (6000, 13000)):
            self.send(port, SINK, more, 1000, dscp=pg)
            self.assertEqual(self.room(port, pg), 1000 * (1 + more))
            self.assertEqual(self.pool('in')['xoff_room_watermark_bytes'], total)
        self.assertEqual(self.drops(), {})
        self.release(SINK)
        self.drain()
        self.assertEqual(self.pool('in')['xoff_room_watermark_bytes'], 13000)
        self.assertEqual(self.pool('in')['xoff_room_curr_occupancy_bytes'], 0)

    def test_PfcStormWithSharedHeadroomOccupancy(self):
        """Group 4 of two ports holds 12 frames of the headroom pool while the sink storms on priority 3:
        what the senders still deliver after their XOFF fits, and nothing is lost."""
        self.hold(SINK)
        self.pause([(0, 4), (1, 4)], TWO_FIT)
        for port in (0, 1):
            self.send(port, SINK, 5, 1000, dscp=4)
        self.pause([(0, 3), (1, 3)], NEXT_FIT)
        for port in (0, 1):
            self.send(port, SINK, 8, 1000, dscp=3)
        self.assertEqual(self.pool('in')['xoff_room_curr_occupancy_bytes'], SHP)
        self.release(SINK, priorities=[4])
        sent = [sum(self.pg(port, pg, 'packets') for port in (0, 1)) for pg in (3, 4)]
        self.take(SINK, sent[1])
        self.assertEqual(self.queue(SINK, 3, 'packets'), 0)
        self.release(SINK)
        self.take(SINK, sent[0])
        self.assertEqual(self.drops(), {})


# AZURE, restated from the published tables: DSCP and PCP to (group, queue).
AZURE_DSCP = {3: (3, 3), 4: (4, 4), 5: (0, 2), 8: (0, 0), 46: (0, 5), 48: (0, 6)}
AZURE_DOT1P = [(0, 1), (0, 0), (0, 2), (3, 3), (4, 4), (0, 5), (0, 6), (7, 7)]


# A map of a port's own: DSCP d is class d / 8; class 3 and 4 are lossless, as everywhere.
OWN_MAP = 'map = ({ type = "dscp_to_tc"; name = "own"; map = "' + ' '.join(
    f'{8 * tc}-{8 * tc + 7}:{tc}' for tc in ALL) + '"; });\n'


class Maps(field.FieldTest):
    PORTS, SPEED = 4, ''
    CONFIG = CONFIG.partition('scheduler =')[0].replace(str(INGRESS_BYTES), '1MiB') + OWN_MAP
    PORT = [PORT, PORT, PORT + 'trust = "pcp";', PORT + 'dscp_to_tc_map = "own";']
    DST, PCP_SRC, OWN_SRC = 1, 2, 3

    def landings(self, part, src, key, want):
        """Sends a frame with each value of `key`, `want` being the index where it must land: all of one index
        together, and then that counter has grown by so many, and no other has."""
        port = {'pg': src, 'queue': self.DST}[part]
        for index in sorted(set(want)):
            values = [value for value, landing in enumerate(want) if landing == index]
            before = self.look()
            for value in values:
                self.post(src, self.DST, 1, 100, **{key: value})
            self.take(self.DST, len(values))
            self.drain()
            now = self.look()
            landed = [now[port, part, i, 'packets'] - before[port, part, i, 'packets'] for i in ALL]
            self.assertEqual(landed, [len(values) * (i == index) for i in ALL], (key, values))
        self.assert_quiet()

    def test_DscpQueueMapping(self):
        self.landings('queue', 0, 'dscp', [AZURE_DSCP.get(d, (0, 1))[1] for d in range(64)])

    def test_DscpToPgMapping(self):
        self.landings('pg', 0, 'dscp', [AZURE_DSCP.get(d, (0, 1))[0] for d in range(64)])

    def test_SeparatedDscpQueueMapping(self):
        """A port with a map of its own, beside ports with the common one."""
        self.landings('queue', self.OWN_SRC, 'dscp', [d // 8 for d in range(64)])
        self.landings('queue', 0, 'dscp', [AZURE_DSCP.get(d, (0, 1))[1] for d in range(64)])

    def test_SeparatedDscpToPgMapping(self):
        self.landings('pg', self.OWN_SRC, 'dscp', [{3: 3, 4: 4, 7: 7}.get(d // 8, 0) for d in range(64)])

    def test_cnp_queue(self):
        """A congestion notification (BTH opcode 0x81 to UDP port 4791) takes queue 6 whatever its DSCP, and
        no other RoCE packet does because of its opcode."""
        roce = lambda opcode, dscp: {'ports': (50000, 4791), 'number': opcode << 24, 'dscp': dscp}
        source, target = self.peers[0], self.peers[self.DST]
        for opcode, dscp, queue in ((0x81, 48, 6), (0x81, 0, 6), (0x81, 3, 6), (0x07, 3, 3), (0x11, 0, 1)):
            before = self.queue(self.DST, queue, 'packets')
            source.raw.send(field.frame(source.mac, target.mac, 100, **roce(opcode, dscp)))
            self.wait_stat(before + 1, self.DST, 'queue', queue, 'packets')
        self.assertEqual((self.port(0, 'cnp_rx_packets'), self.port(self.DST, 'cnp_tx_packets')), (3, 3))

    def test_Dot1pQueueMapping(self):
        self.landings('queue', self.PCP_SRC, 'pcp', [q for _, q in AZURE_DOT1P])

    def test_Dot1pPgMapping(self):
        self.landings('pg', self.PCP_SRC, 'pcp', [g for g, _ in AZURE_DOT1P])


if __name__ == '__main__':
    field.main()
