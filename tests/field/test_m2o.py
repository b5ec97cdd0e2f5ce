#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Many to one over memif: hosts that obey PFC overload a port that is slower than theirs; lossless
classes lose nothing and use XOFF and headroom for it, lossy ones drop and pause nobody."""
import sys
import unittest

sys.dont_write_bytecode = True
import field
import lab
from field import ALL, name

SENDERS, SINK = (0, 1, 2), 3
SINK_SPEED, SPEED = '4M', '100M'
LEAST, XOFFS, LONGEST_SECONDS = 300, 3, 60
MIXED = '100M', '20M', '10M', SINK_SPEED

# Small buffers and a slow sink, so that there is congestion even when hosts hardly get the processor: alone a
# group holds 150000 / 9 bytes before XOFF.
CONFIG = '''
descriptors = 24576;
buffer_pool = (
  { name = "in"; type = "ingress"; size = "150000"; },
  { name = "out"; type = "egress"; size = "4MiB"; },
  { name = "lossy"; type = "egress"; size = "30000"; });
buffer_profile = (
  { name = "pg_lossless"; pool = "in"; size = "80000"; xoff = "80000"; xon = "10000"; dynamic_th = -3; },
  { name = "pg_lossy"; pool = "in"; dynamic_th = 3; },
  { name = "queue_lossless"; pool = "out"; static_th = 0; },
  { name = "queue_lossy"; pool = "lossy"; dynamic_th = 1; });
buffer_pg = (
  { port = "all"; pg = "3-4"; profile = "pg_lossless"; },
  { port = "all"; pg = "0-2,5-7"; profile = "pg_lossy"; });
buffer_queue = (
  { port = "all"; queue = "3-4"; profile = "queue_lossless"; },
  { port = "all"; queue = "0-2,5-7"; profile = "queue_lossy"; });
'''


class Hosts(unittest.TestCase):
    SPEEDS = SPEED, SPEED, SPEED, SINK_SPEED

    @classmethod
    def setUpClass(cls):
        cls.owner = field.Owner(cls)
        ports = [lab.memif_port(name(n), n, cls.owner.dir / f'm{n}',
                                f'speed = "{cls.SPEEDS[n]}"; pfc_enable = "3-4"; '
                                'burst = "200ms"; cnp_reserve = "0";') for n in (*SENDERS, SINK)]
        cls.switch = lab.Switch(cls.owner, cls.__name__.lower(), ports, CONFIG).start()
        cls.addClassCleanup(cls.switch.end)

    def hosts(self, first, count, *options, seconds=1):
        paths = [self.owner.dir / f'm{n}' for n in range(first, first + count)]
        return lab.DpdkHosts(self, field.HOST, first, paths, 'client', *options, seconds=seconds)

    def run_hosts(self, *flows, senders=((SENDERS[0], len(SENDERS), ()),), sinks=((SINK, 1),), sink_options=(),
                  until=None):
        """Lets the senders send their flows for a second, or until this is true and the sink got LEAST frames;
        returns what each priority sent and what each sink got, by priority, when all of it has left the switch."""
        for n in (*SENDERS, SINK):
            self.switch.wait_link(name(n), up=False)
        self.switch.request('POST', '/v1/clear?watermark=user')
        self.first = self.look()
        receivers = [self.hosts(first, count, '--wait', '200s', *sink_options) for first, count in sinks]
        expected = sum(count for _, count in sinks)
        field.wait_for(lambda: len(self.switch.get('/v1/mac')['entries']) >= expected, 20, 'addresses of receivers')
        options = [word for flow in flows for word in ('--flow', flow)]
        processes = [self.hosts(first, count, *options, *more, seconds=LONGEST_SECONDS if until else 1)
                     for first, count, more in senders]
        if until:
            field.wait_for(lambda: self.reached(until), LONGEST_SECONDS / 2,
                           lambda: f'congestion: {self.switch.ports()}')
            for process in processes:
                process.end_flows()
        sent = [result['priorities'] for process in processes for result in process.results()]
        got = [self.ended(receiver) for receiver in receivers]
        self.counters = self.look()
        return sent, got

    def reached(self, until):
        self.counters = self.look()
        return self.grown(SINK, 'port', 0, 'if_out_ucast_pkts') >= LEAST and until()

    def xoffs(self, *priorities, ports=SENDERS):
        """Each of these groups has been in XOFF several times."""
        return all(self.grown(port, 'pg', prio, 'xoff_events') >= XOFFS for port in ports for prio in priorities)

    def ended(self, receiver):
        receiver.result = lambda: receiver.results()[0]
        return lab.end_receivers([receiver], self.switch)[0]['priorities']

    def look(self):
        return field.flat(self.switch.ports())

    def grown(self, port, part, index, key):
        return self.counters.get((port, part, index, key), 0) - self.first.get((port, part, index, key), 0)

    def dropped(self):
        return {(key[0], key[3]): value - self.first.get(key, 0) for key, value in self.counters.items()
                if key[1] == 'drop' and value != self.first.get(key, 0) and key[3] != 'FLOOD_NOWHERE'}

    def assert_lossless(self, sent, got, prio, paused=True):
        """All that was sent has come, in order; where there was congestion PFC and headroom made it so."""
        self.assertEqual((got[prio]['rx_lost'], got[prio]['rx_reordered']), (0, 0), self.dropped())
        self.assertEqual(got[prio]['rx_packets'], sum(one[prio]['tx_packets'] for one in sent))
        self.assertGreater(got[prio]['rx_packets'], 10)
        if paused:
            self.assertGreater(sum(one[prio]['paused_ns'] for one in sent), 0)
        xoffs = sum(self.grown(port, 'pg', prio, 'xoff_events') for port in SENDERS)
        (self.assertGreater if paused else self.assertEqual)(xoffs, 0)
        room = max(self.counters[port, 'pg', prio, 'xoff_room_watermark_bytes'] for port in SENDERS)
        if paused:
            self.assertGreater(room, 0)

    def assert_not_paused(self, *priorities):
        for port in SENDERS:
            for prio in priorities:
                self.assertEqual(self.grown(port, 'prio', prio, 'pfc_tx_pkts'), 0, (port, prio))


class ManyToOne(Hosts):
    def test_m2o_oversubscribe_lossless(self):
        sent, (got,) = self.run_hosts('3:3:1024', until=lambda: self.xoffs(3))
        self.assert_lossless(sent, got, 3)
        self.assertEqual(self.dropped(), {})
        self.assert_not_paused(*set(ALL) - {3})

    def test_m2o_oversubscribe_lossless_lossy(self):
        """The lossy class drops at the sink's queue, and all it lost is counted there."""
        sent, (got,) = self.run_hosts('3:3:1024:5M', '3:0:1024', until=lambda: self.xoffs(3) and self.dropped())
        self.assert_lossless(sent, got, 3)
        dropped = self.dropped()
        self.assertLessEqual({reason for _, reason in dropped}, {'QUEUE_FULL', 'PG_LOSSY_FULL'})
        self.assertGreater(sum(dropped.values()), 0)
        self.assertEqual(got[0]['rx_packets'] + sum(dropped.values()), sum(one[0]['tx_packets'] for one in sent))
        self.assert_not_paused(*set(ALL) - {3})

    def test_m2o_oversubscribe_lossy(self):
        sent, (got,) = self.run_hosts('3:0:1024', until=self.dropped)
        dropped = self.dropped()
        self.assertGreater(sum(dropped.values()), 0)
        self.assertEqual(got[0]['rx_packets'] + sum(dropped.values()), sum(one[0]['tx_packets'] for one in sent))
        self.assert_not_paused(*ALL)

    def test_throttling_pause_storm(self):
        """A sink that takes a tenth of its rate out of its buffer and pauses the switch for the rest: the
        pause goes back to the senders, and nothing is lost anywhere."""
        sent, (got,) = self.run_hosts('3:3:1024:8M', sink_options=('--receiver', '2M:200000:60000:30000'),
                                      until=lambda: self.xoffs(3))
        self.assert_lossless(sent, got, 3)
        self.assertGreater(got[3]['pfc_tx'], 1)
        self.assertEqual(self.grown(SINK, 'prio', 3, 'pfc_rx_pkts'), got[3]['pfc_tx'])
        self.assertEqual(got[3]['rx_overflow'], 0)
        self.assertEqual(self.dropped(), {})

    def test_m2o_fluctuating_lossless(self):
        """Senders that come one after the other, so that the load rises and falls."""
        senders = [(n, 1, ('--start', f'{300 * n}ms')) for n in SENDERS]
        sent, (got,) = self.run_hosts('3:3:1024', senders=senders, until=lambda: self.xoffs(3))
        self.assert_lossless(sent, got, 3)
        self.assertEqual(self.dropped(), {})

    def test_no_congestion_throughput(self):
        """Below the sink's rate: no PFC, no loss, everything arrives, in both kinds of classes. Far below it,
        since a host that does not get the processor for half a second is congestion too."""
        sent, (got,) = self.run_hosts('3:3:512:200k', '3:4:512:200k', '3:0:512:200k')
        for prio in (3, 4, 0):
            self.assertEqual(got[prio]['rx_packets'], sum(one[prio]['tx_packets'] for one in sent), (prio, self.dropped()))
            self.assertEqual((got[prio]['rx_lost'], got[prio]['rx_reordered']), (0, 0))
            self.assertGreater(got[prio]['rx_packets'], 10)
        self.assertEqual(self.dropped(), {})
        self.assert_not_paused(*ALL)

    def test_port_congestion(self):
        """The slow sink pauses class 3 of its senders; class 4 of the same senders to a port with room goes
        on without a pause or a loss."""
        sent, got = self.run_hosts('3:3:1024', '2:4:512:200k', senders=[(0, 2, ())], sinks=[(SINK, 1), (2, 1)],
                                   until=lambda: self.xoffs(3, ports=(0, 1)))
        self.assert_lossless(sent, got[0], 3)
        self.assert_lossless(sent, got[1], 4, paused=False)
        self.assertEqual(self.dropped(), {})
        self.assert_not_paused(4)

    def test_mixed_speed(self):
        """100M to 4M is paused; the way back, from slow to fast, is not."""
        sent, (got, fast) = self.run_hosts('3:3:1024', senders=[(0, 2, ())], sinks=[(SINK, 1), (2, 1)],
                                           until=lambda: self.xoffs(3, ports=(0, 1)))
        self.assert_lossless(sent, got, 3)
        self.assertEqual(fast[3]['rx_packets'], 0)
        sent, (got,) = self.run_hosts('2:3:512:200k', senders=[(SINK, 1, ('--rate', SINK_SPEED))], sinks=[(2, 1)])
        self.assertEqual(got[3]['rx_packets'], sent[0][3]['tx_packets'])
        self.assertEqual((sent[0][3]['paused_ns'], got[3]['rx_lost']), (0, 0))
        self.assertEqual(self.grown(SINK, 'pg', 3, 'xoff_events'), 0)

    def two_classes(self, lengths):
        """Two lossless classes at full rate: both are paused, neither loses. (Their shares are exact in
        field_qos_sai: here a queue is empty whenever its senders do not get the processor.)"""
        sent, (got,) = self.run_hosts(*(f'3:{prio}:{length}' for prio, length in lengths.items()),
                                      until=lambda: self.xoffs(*lengths))
        for prio in lengths:
            self.assert_lossless(sent, got, prio)
        self.assertEqual(self.dropped(), {})

    def test_pfc_congestion_q3q4_same(self):
        self.two_classes({3: 1024, 4: 1024})

    def test_pfc_congestion_q3q4_mixed(self):
        self.two_classes({3: 1024, 4: 256})


class MixedSpeeds(Hosts):
    SPEEDS = MIXED

    def test_several_speeds_at_once(self):
        """Senders at 100M, 20M and 10M for a sink at 4M: each is paused by times of its own rate, none loses."""
        senders = [(n, 1, ('--rate', MIXED[n])) for n in SENDERS]
        sent, (got,) = self.run_hosts('3:3:1024', senders=senders, until=lambda: self.xoffs(3))
        self.assert_lossless(sent, got, 3)
        for n, one in zip(SENDERS, sent):
            self.assertGreater(one[3]['tx_packets'], 10, name(n))
            self.assertGreater(one[3]['paused_ns'], 0, name(n))
            self.assertGreater(self.grown(n, 'pg', 3, 'xoff_events'), 0, name(n))
        self.assertEqual(self.dropped(), {})


if __name__ == '__main__':
    field.main()
