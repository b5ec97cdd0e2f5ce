#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""ECN and WRED over real ports: where marks fall, how many, on what, and what the counters say."""
import math
import sys

sys.dont_write_bytecode = True
import field
from field import name

SRC, STEP, LAW, WRED = range(4)
N, LEN = 40, 100
# red_accuracy: the field's 500 and 2000 packets and 5 %, in frames of 100 bytes.
KMIN, KMAX, PMAX, FRAMES, ROUNDS, BIN = 500, 2000, 0.05, 2100, 8, 150
WRED_DROP, WRED_MARK = 60, 40       # frames

CONFIG = field.POOLS + f'''
buffer_profile = (
  {{ name = "pg_lossless"; pool = "in"; size = "20000"; xoff = "20000"; xon = "2000"; static_th = "1MiB"; }},
  {{ name = "pg_lossy"; pool = "in"; static_th = 0; }},
  {{ name = "queue"; pool = "out"; static_th = 0; }});
buffer_pg = (
  {{ port = "all"; pg = "3-4"; profile = "pg_lossless"; }},
  {{ port = "all"; pg = "0-2,5-7"; profile = "pg_lossy"; }});
buffer_queue = ({{ port = "all"; queue = "0-7"; profile = "queue"; }});
wred_profile = (
  {{ name = "step"; ecn = "ecn_all"; green_min_threshold = "{N * LEN}"; green_max_threshold = "{N * LEN}";
     green_drop_probability = "5%"; }},
  {{ name = "law"; ecn = "ecn_all"; green_min_threshold = "{KMIN * LEN}"; green_max_threshold = "{KMAX * LEN}";
     green_drop_probability = "{PMAX * 100:g}%"; }},
  {{ name = "both"; ecn = "ecn_all"; wred_green_enable = true;
     green_min_threshold = "{WRED_DROP * LEN}"; green_max_threshold = "{WRED_DROP * LEN}";
     green_drop_probability = "100%";
     green_ect_min_threshold = "{WRED_MARK * LEN}"; green_ect_max_threshold = "{WRED_MARK * LEN}"; }});
queue = (
  {{ port = "{name(STEP)}"; queue = "3-4"; wred_profile = "step"; }},
  {{ port = "{name(LAW)}"; queue = "3"; wred_profile = "law"; }},
  {{ port = "{name(WRED)}"; queue = "0"; wred_profile = "both"; }});
'''


class Ecn(field.FieldTest):
    CONFIG = CONFIG
    PORT = 'pfc_enable = "3-4"; pfc_asymmetric = true; cnp_reserve = "0"; '

    def ecn_of(self, port, count, **fields):
        """The ECN fields of `count` frames that leave in one go, in their order."""
        self.hold(port)
        self.send(SRC, port, count, LEN, **fields)
        self.release(port)
        frames = self.take(port, count)
        self.assertEqual([field.number_of(f) - field.number_of(frames[0]) for f in frames], list(range(count)))
        return [f[15] & 3 for f in frames]

    def marks(self, port, queue=3):
        return self.queue(port, queue, 'wred_ecn_marked_packets')

    def test_dequeue_ecn(self):
        """Kmin = Kmax = N and 2N frames: frame i leaves a queue of 2N - i, so that N + 1 are marked and the
        last ones are not: marking is at dequeue."""
        self.assertEqual(self.ecn_of(STEP, 2 * N, dscp=3, ecn=2), [3] * (N + 1) + [2] * (N - 1))
        self.wait_stat(N + 1, STEP, 'queue', 3, 'wred_ecn_marked_packets')
        self.assertEqual(self.queue(STEP, 3, 'wred_ecn_marked_bytes'), (N + 1) * LEN)
        self.assertEqual(self.port(STEP, 'ecn_marked_packets'), N + 1)

    def test_red_accuracy(self):
        """Per level of the queue marks are binomial with p = PMAX (q - KMIN) / (KMAX - KMIN). Bins of 150
        levels lie within 4.5 deviations (7e-6 each), the total within 3; below KMIN there is none, above
        KMAX all are marked. The dice begin anew, so that
        their draws are the same in every run."""
        bins = (FRAMES + BIN - 1) // BIN + 1
        self.assertEqual(self.switch.request('POST', '/v1/debug/seed?seed=1')[0], 200)
        got, mean, variance = [0] * bins, [0.0] * bins, [0.0] * bins
        for _ in range(ROUNDS):
            for i, ecn in enumerate(self.ecn_of(LAW, FRAMES, dscp=3, ecn=2)):
                level = FRAMES - i
                p = PMAX * (level - KMIN) / (KMAX - KMIN)
                if level < KMIN or level > KMAX:
                    self.assertEqual(ecn == 3, level > KMAX, level)
                    continue
                got[level // BIN] += ecn == 3
                mean[level // BIN] += p
                variance[level // BIN] += p * (1 - p)
        for at, marks in enumerate(got):
            self.assertLessEqual(abs(marks - mean[at]), 4.5 * math.sqrt(variance[at]) + 1e-9,
                                 f'queue of {at * BIN} frames: {marks} marks, {mean[at]:.1f} expected')
        self.assertLessEqual(abs(sum(got) - sum(mean)), 3 * math.sqrt(sum(variance)))
        print(f'# red_accuracy: {sum(got)} marks, {sum(mean):.0f} expected, deviation '
              f'{math.sqrt(sum(variance)):.0f}', flush=True)
        self.assertEqual(self.drops(), {})

    def test_ect_marked_pkts(self):
        """ECT(0) and ECT(1) become CE, CE stays and is not ours, the rest is left alone."""
        for ecn, marked in ((2, True), (1, True), (0, False), (3, False)):
            with self.subTest(ecn=ecn):
                before = self.marks(STEP)
                got = self.ecn_of(STEP, 2 * N, dscp=3, ecn=ecn)
                self.assertEqual(got, ([3] * (N + 1) if marked else [ecn] * (N + 1)) + [ecn] * (N - 1))
                self.drain()
                self.assertEqual(self.marks(STEP) - before, (N + 1) * marked)
        self.assertEqual(self.drops(), {})

    def test_lossless_prio(self):
        """Both lossless queues have a measure of their own: while 3 is long, 4 is short."""
        self.hold(STEP)
        self.send(SRC, STEP, 2 * N, LEN, dscp=3, ecn=2)
        self.send(SRC, STEP, N - 1, LEN, dscp=4, ecn=2)
        self.release(STEP)
        got = [(f[15] >> 2, f[15] & 3) for f in self.take(STEP, 3 * N - 1)]
        self.assertEqual((got.count((3, 3)), got.count((4, 3))), (N + 1, 0))
        self.drain()
        self.assertEqual((self.marks(STEP, 3), self.marks(STEP, 4)), (N + 1, 0))

    def test_port_toggle(self):
        """Marking is the same behind a link that was down."""
        self.ecn_of(STEP, 2 * N, dscp=3, ecn=2)
        self.peers[STEP].link(False)
        self.switch.wait_link(name(STEP), up=False)
        self.peers[STEP].link(True)
        self.switch.wait_link(name(STEP))
        self.announce(STEP)
        self.assertEqual(self.ecn_of(STEP, 2 * N, dscp=3, ecn=2), [3] * (N + 1) + [2] * (N - 1))

    def test_pfc_quanta_variance(self):
        """The length of pauses changes when frames leave, not which are marked."""
        for quanta in (10000, 20000, 30000):
            with self.subTest(quanta=quanta):
                before = self.marks(STEP)
                pauses = self.prio(STEP, 3, 'rx_pause_transitions')
                self.peers[STEP].send_pfc([3], quanta)      # 2.6, 5.1 and 7.7 s
                self.wait_stat(pauses + 1, STEP, 'prio', 3, 'rx_pause_transitions')
                self.send(SRC, STEP, 2 * N, LEN, dscp=3, ecn=2)
                self.assertEqual(self.stat(STEP, 'queue', 3, 'curr_occupancy_packets'), 2 * N)
                self.assertEqual(sum(f[15] & 3 == 3 for f in self.take(STEP, 2 * N)), N + 1)
                self.drain()
                self.assertEqual(self.marks(STEP) - before, N + 1)

    def test_wred_counters(self):
        """What cannot be marked is dropped at its own step, what can is marked at another; each is counted."""
        self.hold(WRED)
        self.send(SRC, WRED, 100, LEN, dscp=8, ecn=0)
        # Frame 60 makes a queue of 60, so 59 stay.
        lost = 100 - (WRED_DROP - 1)
        self.assertEqual(self.drops(), {(WRED, 'QUEUE_WRED'): lost})
        self.release(WRED)
        self.assertEqual(len(self.take(WRED, WRED_DROP - 1)), WRED_DROP - 1)
        self.assertEqual([self.queue(WRED, 0, key) for key in ('wred_dropped_packets', 'wred_dropped_bytes',
                                                              'dropped_packets')], [lost, lost * LEN, lost])
        self.assertEqual([self.port(WRED, key) for key in ('wred_dropped_packets', 'green_wred_dropped_packets')],
                         [lost, lost])
        self.assertEqual(sum(e == 3 for e in self.ecn_of(WRED, 100, dscp=8, ecn=2)), 100 - (WRED_MARK - 1))
        self.drain()
        self.assertEqual(self.marks(WRED, 0), 100 - (WRED_MARK - 1))
        self.assertEqual(self.drops(), {(WRED, 'QUEUE_WRED'): lost})


if __name__ == '__main__':
    field.main()
