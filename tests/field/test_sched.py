#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Strict priority over real ports, with and without a rate."""
import sys

sys.dont_write_bytecode = True
import field
from field import name

SRC, STRICT, LIMITED, OTHER = range(4)
LEN = 476       # 500 bytes of wire: 2 ms at 2 Mb/s
FRAME_SECONDS = 500 * 8 / 500_000      # at the rate of the limited queue
LATE_FRAMES = 5     # times of a frame by which the kernel's stamps may be late: of 19, which were 5 without a limit

CONFIG = field.POOLS + f'''
buffer_profile = (
  {{ name = "pg"; pool = "in"; static_th = 0; }},
  {{ name = "queue"; pool = "out"; static_th = 0; }});
buffer_pg = ({{ port = "all"; pg = "0-7"; profile = "pg"; }});
buffer_queue = ({{ port = "all"; queue = "0-7"; profile = "queue"; }});
scheduler = (
  {{ name = "first"; type = "STRICT"; }},
  {{ name = "limited"; type = "STRICT"; pir = "500k"; }});
queue = (
  {{ port = "{name(STRICT)}"; queue = "2,5"; scheduler = "first"; }},
  {{ port = "{name(LIMITED)}"; queue = "5"; scheduler = "limited"; }});
'''
DSCP = {2: 5, 5: 46, 1: 0, 0: 8}        # AZURE: queue to DSCP


class StrictPriority(field.FieldTest):
    """PFC of every priority is obeyed, for the tests hold queues by it; no priority is lossless."""
    CONFIG, BURST = CONFIG, '100us'
    PORT = 'pfc_asymmetric = true; cnp_reserve = "0"; '

    def order(self, port, counts):
        """(queue, time) of frames in the order of their arrival, after all of them waited."""
        self.hold(port)
        for queue, count in counts.items():
            self.send(SRC, port, count, LEN, dscp=DSCP[queue])
        self.release(port)
        queues = {dscp: queue for queue, dscp in DSCP.items()}
        self.drain()
        got = [(queues[f[15] >> 2], at) for at, f in self.peers[port].stamped()]
        self.assertEqual({queue: sum(q == queue for q, _ in got) for queue in counts}, counts)
        self.assertEqual(self.drops(), {})
        return got

    def test_strict_priority(self):
        """The highest strict queue to its end, then the next, then what is left."""
        got = self.order(STRICT, {1: 15, 2: 15, 5: 15})
        self.assertEqual([queue for queue, _ in got], [5] * 15 + [2] * 15 + [1] * 15)

    def test_sched_strict_priority(self):
        """A strict queue with a rate of a quarter of the line's. It goes first whenever its rate lets it, so
        that the others get the time of one of its frames at its rate, 8 ms, and not more: four frames of
        2 ms, and one that has begun. And it gets no more than its rate."""
        count = 20
        got = self.order(LIMITED, {1: 80, 5: count})
        mine = [i for i, (queue, _) in enumerate(got) if queue == 5]
        self.assertEqual(mine[0], 0)
        self.assertLessEqual(max(b - a for a, b in zip(mine, mine[1:])) - 1, 5, got)
        self.assertGreater(got[mine[-1]][1] - got[mine[0]][1], (count - 1 - LATE_FRAMES) * FRAME_SECONDS)


if __name__ == '__main__':
    field.main()
