#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The PFC watchdog over real ports: storms by the peers' own PFC, actions, counters, times, restarts."""
import signal
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import field
import lab
from field import QUANTA, name

SRC, DROP, OTHER, FORWARD, ALERT = range(5)
LEN = 500
LIMIT_FRAMES = 20000 // LEN     # of a lossless group before XOFF: static_th
# The shortest that are allowed: what takes longer than detection is found within a poll more.
TIMES_MS = {'poll': 100, 'detection': 100, 'restoration': 100}
# The data centre's own numbers are a multiple of these; accuracy is measured with other times.
ACCURATE_MS = {'poll': 200, 'detection': 300, 'restoration': 250}
ROUNDS = 7
QUANTUM_NS = 512 * 1_000_000_000 // 2_000_000     # at 2 Mb/s

BUFFERS = '''
descriptors = 16384;
buffer_pool = (
  { name = "in"; type = "ingress"; size = "1MiB"; },
  { name = "out"; type = "egress"; size = "4MiB"; });
buffer_profile = (
  { name = "pg_lossless"; pool = "in"; size = "20000"; xoff = "20000"; xon = "2000"; static_th = "20000"; },
  { name = "pg_lossy"; pool = "in"; dynamic_th = 0; },
  { name = "queue"; pool = "out"; static_th = 0; });
buffer_pg = (
  { port = "all"; pg = "3-4"; profile = "pg_lossless"; },
  { port = "all"; pg = "0-2,5-7"; profile = "pg_lossy"; });
buffer_queue = ({ port = "all"; queue = "0-7"; profile = "queue"; });
'''
PORT = 'pfc_enable = "3-4"; cnp_reserve = "0"; '
STORMED, RESTORED = 1, 0


def row(port, action, times):
    return (f'{{ port = "{name(port)}"; action = "{action}"; detection_time = "{times["detection"]}ms"; '
            f'restoration_time = "{times["restoration"]}ms"; }}')


def watchdogs(times, actions):
    rows = ', '.join(row(port, action, times) for port, action in enumerate(actions))
    return f'{BUFFERS}pfc_wd_poll_interval = "{times["poll"]}ms";\npfc_wd = ({rows});\n'


class Watched(field.FieldTest):
    PORT = PORT

    def hold(self, port, priorities=(3,)):
        super().hold(port, priorities)

    def wait_status(self, port, queue, status, seconds=10):
        field.wait_for(lambda: self.stat(port, 'queue', queue, 'pfc_wd_status') == status, seconds,
                       lambda: f'{name(port)} queue {queue} status {status}')

    def setUp(self):
        super().setUp()
        for port in range(self.PORTS):
            for queue in (3, 4):
                self.wait_status(port, queue, RESTORED)
        self.first = self.look()

    def storm(self, port, queue=3, waiting=1):
        """The peer pauses a queue in which frames wait, until the watchdog has found it."""
        self.hold(port, [queue])
        self.send(SRC if port != SRC else OTHER, port, waiting, LEN, dscp=queue)
        self.wait_status(port, queue, STORMED)

    def calm(self, port, queue=3):
        self.release(port)
        self.wait_status(port, queue, RESTORED)

    def flows(self, src, dst, dscp=3, count=3):
        before = self.queue(dst, dscp, 'packets')
        self.send(src, dst, count, LEN, dscp=dscp)
        self.wait_stat(before + count, dst, 'queue', dscp, 'packets')

    def storms(self, port, queue=3):
        return self.queue(port, queue, 'pfc_wd_deadlock_detected'), self.queue(port, queue,
                                                                               'pfc_wd_deadlock_restored')


class Pfcwd(Watched):
    PORTS = 5
    CONFIG = watchdogs(TIMES_MS, ('drop', 'drop', 'drop', 'forward', 'alert'))

    def weft(self, *words, status=0):
        return lab.weft(field.WEFT, self.owner.dir, *words, status=status)

    def test_function_drop(self):
        """What the queue holds, what is to join it and what arrives in its group goes; nothing else does."""
        self.storm(DROP, waiting=10)
        self.assertEqual(self.stat(DROP, 'queue', 3, 'curr_occupancy_packets'), 0)
        self.send(SRC, DROP, 5, LEN, dscp=3)
        self.send(DROP, OTHER, 4, LEN, dscp=3)
        self.assertEqual(self.drops(), {(DROP, 'PFC_WD_TX'): 15, (DROP, 'PFC_WD_RX'): 4})
        self.assertEqual([self.queue(DROP, 3, key) for key in ('pfc_wd_tx_dropped_packets', 'pfc_wd_tx_packets',
                                                              'pfc_wd_rx_dropped_packets', 'pfc_wd_rx_packets')],
                         [15, 0, 4, 0])
        self.flows(SRC, DROP, dscp=4)
        self.flows(DROP, OTHER, dscp=4)
        self.flows(SRC, OTHER)
        self.calm(DROP)
        self.flows(SRC, DROP)
        self.flows(DROP, OTHER)
        self.assertEqual(self.storms(DROP), (1, 1))
        self.assertEqual(self.storms(DROP, 4), (0, 0))
        self.assertEqual(sum(self.drops().values()), 19)

    def test_function_forward(self):
        """PFC on the queue is ignored while the storm lasts, and obeyed again behind it."""
        self.storm(FORWARD, waiting=10)
        self.take(FORWARD, 10)
        self.flows(SRC, FORWARD)
        self.flows(FORWARD, OTHER)
        self.assertEqual(self.stat(FORWARD, 'prio', 3, 'rx_paused'), 1)
        self.assertEqual(self.queue(FORWARD, 3, 'pfc_wd_tx_packets'), 13)
        self.assertEqual(self.queue(FORWARD, 3, 'pfc_wd_rx_packets'), 3)
        self.calm(FORWARD)
        self.storm(FORWARD, waiting=2)      # only a queue that is held can be found again
        self.wait_stat(15, FORWARD, 'queue', 3, 'pfc_wd_tx_packets')
        self.calm(FORWARD)
        self.assertEqual(self.storms(FORWARD), (2, 2))
        self.assertEqual(self.drops(), {})

    def test_function_alert(self):
        """Reported and nothing else: the queue stays paused and lossless, by XOFF and headroom."""
        self.storm(ALERT, waiting=10)
        self.send(SRC, ALERT, LIMIT_FRAMES - 10, LEN, dscp=3)
        self.assertEqual(self.pg(SRC, 3, 'xoff_events'), 0)
        self.send(SRC, ALERT, 5, LEN, dscp=3)
        self.assertEqual(self.pg(SRC, 3, 'xoff_events'), 1)
        self.assertEqual(self.stat(SRC, 'pg', 3, 'xoff_room_curr_occupancy_bytes'), 5 * LEN)
        self.assertEqual(self.stat(ALERT, 'queue', 3, 'curr_occupancy_packets'), LIMIT_FRAMES + 5)
        self.calm(ALERT)
        self.assertEqual(len(self.take(ALERT, LIMIT_FRAMES + 5)), LIMIT_FRAMES + 5)
        self.assertEqual(self.drops(), {})

    def test_function_multi_port(self):
        """Two ports stormed at once, each with counters of its own; the others go on."""
        for port in (DROP, OTHER):
            self.hold(port)
            self.send(SRC, port, 2 + port, LEN, dscp=3)
        for port in (DROP, OTHER):
            self.wait_status(port, 3, STORMED)
            self.assertEqual(self.queue(port, 3, 'pfc_wd_tx_dropped_packets'), 2 + port)
        self.flows(SRC, FORWARD)
        self.flows(FORWARD, SRC)
        self.calm(OTHER)
        self.assertEqual(self.stat(DROP, 'queue', 3, 'pfc_wd_status'), STORMED)
        self.calm(DROP)
        for port in (DROP, OTHER):
            self.assertEqual(self.storms(port), (1, 1))
            self.flows(SRC, port)

    def test_function_port_toggle(self):
        """A link that goes ends its storm; when it is back, detection takes its full time again."""
        self.storm(DROP)
        del self.held[DROP]
        self.peers[DROP].link(False)
        self.switch.wait_link(name(DROP), up=False)
        self.assertEqual(self.stat(DROP, 'queue', 3, 'pfc_wd_status'), RESTORED)
        self.peers[DROP].link(True)
        self.switch.wait_link(name(DROP))
        self.announce(DROP)
        self.flows(SRC, DROP)
        start = time.monotonic()
        self.storm(DROP)
        self.assertGreater(time.monotonic() - start, TIMES_MS['detection'] / 1000)
        self.calm(DROP)
        self.flows(SRC, DROP)

    def test_storm_during_traffic(self):
        """A storm begins and ends while frames keep coming; each is sent, or dropped by the watchdog."""
        offered = 0
        for phase, count in (('before', 20), ('storm', 60), ('after', 20)):
            if phase == 'storm':
                self.hold(DROP)
            elif phase == 'after':
                self.calm(DROP)
            for _ in range(count):
                self.send(SRC, DROP, 1, LEN, dscp=3)
                self.send(SRC, DROP, 1, LEN, dscp=4)
                offered += 1
            if phase == 'storm':
                self.wait_status(DROP, 3, STORMED)
        self.drain()
        dropped = self.queue(DROP, 3, 'dropped_packets')
        self.assertEqual(self.queue(DROP, 3, 'packets') + dropped, offered)
        self.assertGreaterEqual(self.queue(DROP, 3, 'packets'), 40)
        self.assertGreater(dropped, 0)
        self.assertEqual(self.queue(DROP, 4, 'packets'), offered)
        self.assertEqual(self.drops(), {(DROP, 'PFC_WD_TX'): dropped})

    def test_no_traffic(self):
        """Without a frame that waits there is no storm, however long the pause."""
        self.hold(DROP)
        time.sleep(2 * (TIMES_MS['detection'] + TIMES_MS['poll']) / 1000)
        self.assertEqual(self.storms(DROP), (0, 0))
        self.send(SRC, DROP, 1, LEN, dscp=3)
        self.wait_status(DROP, 3, STORMED)

    def test_cli_show_stat(self):
        """`weft show pfcwd stats` says during a storm and behind it what the counters are."""
        cells = lambda: [line.split() for line in self.weft('show', 'pfcwd', 'stats', name(DROP)).splitlines()
                         if line.split()[:1] == [f'{name(DROP)}:3']][0]
        self.weft('show', 'pfcwd', 'stats', '--check-storm')
        self.storm(DROP, waiting=6)
        self.send(DROP, OTHER, 2, LEN, dscp=3)
        self.weft('show', 'pfcwd', 'stats', '--check-storm', status=1)
        now = self.look()
        number = lambda key: now[DROP, 'queue', 3, 'pfc_wd_' + key]
        totals = [f'{number(f"deadlock_detected")}/{number("deadlock_restored")}'] + [
            f'{number(side + "_packets" + last)}/{number(side + "_dropped_packets" + last)}'
            for last in ('', '_last') for side in ('tx', 'rx')]
        self.assertEqual(cells()[1:], ['stormed', *totals])
        self.assertEqual((number('tx_dropped_packets_last'), number('rx_dropped_packets_last')), (6, 2))
        self.calm(DROP)
        self.weft('show', 'pfcwd', 'stats', '--check-storm')
        self.assertEqual(cells()[1], 'operational')
        self.assertEqual(cells()[3:], totals[1:])

    def test_xon_not_counted(self):
        """XON and XOFF in turn add no drop to anything, received or sent."""
        for _ in range(200):
            self.peers[DROP].send_pfc([3], QUANTA)
            self.peers[DROP].send_pfc([3], 0)
        self.wait_stat(400, DROP, 'prio', 3, 'pfc_rx_pkts')
        self.flows(SRC, DROP)
        self.flows(DROP, SRC)
        self.assertEqual(self.storms(DROP), (0, 0))
        self.assertEqual([self.queue(DROP, 3, f'pfc_wd_{side}_dropped_packets') for side in ('tx', 'rx')], [0, 0])
        self.assertEqual(self.drops(), {})

    def test_burst_storm(self):
        """Bursts shorter than detection, each of one PFC frame of 80 ms by the switch's clock: no storm."""
        quanta = 80_000_000 // QUANTUM_NS
        for burst in range(1, 11):
            self.peers[DROP].send_pfc([3], quanta)
            self.wait_stat(burst, DROP, 'prio', 3, 'rx_pause_transitions')
            self.send(SRC, DROP, 1, LEN, dscp=3)
            self.wait_stat(burst, DROP, 'queue', 3, 'packets')
        self.assertGreaterEqual(self.prio(DROP, 3, 'rx_pause_duration_us'), 10 * quanta * QUANTUM_NS // 1000)
        self.assertEqual(self.storms(DROP), (0, 0))
        self.assertEqual(self.drops(), {})

    def test_over_subscription_drop(self):
        """Two senders at a stormed queue: neither is held up in what it sends elsewhere, nor paused."""
        self.storm(DROP)
        for src in (SRC, OTHER):
            self.send(src, DROP, 100, LEN, dscp=3)      # 50 kB, beyond limit and headroom of each
        self.assertEqual(self.drops(), {(DROP, 'PFC_WD_TX'): 201})
        for src in (SRC, OTHER):
            self.assertEqual(self.prio(src, 3, 'pfc_tx_pkts'), 0)
            self.flows(src, FORWARD)
        self.calm(DROP)
        self.flows(SRC, DROP)

    def test_over_subscription_forward(self):
        self.storm(FORWARD)
        for src in (SRC, OTHER):
            self.send(src, FORWARD, 30, LEN, dscp=3)
        self.take(FORWARD, 61)
        self.assertEqual(self.drops(), {})
        self.calm(FORWARD)

    def test_drop_releases_the_peer(self):
        """A group of the stormed port that is in XOFF is not held for as long as the storm lasts; behind it
        its XOFF is announced again."""
        said = lambda timer: any(enable == 1 << 3 and timers[3] == timer for enable, timers in self.peers[DROP].pfc())
        self.hold(ALERT)
        self.send(DROP, ALERT, LIMIT_FRAMES + 1, LEN, dscp=3)
        field.wait_for(lambda: said(QUANTA), 5, 'XOFF')
        self.storm(DROP)
        field.wait_for(lambda: said(0), 5, 'XON')
        self.assertEqual(self.stat(DROP, 'pg', 3, 'xoff_state'), 1)
        self.assertEqual(self.peers[DROP].pfc(), [])
        self.calm(DROP)
        field.wait_for(lambda: said(QUANTA), 5, 'XOFF again')
        self.release(ALERT)
        self.take(ALERT, LIMIT_FRAMES + 1)
        self.assertEqual(self.drops(), {(DROP, 'PFC_WD_TX'): 1})

    def test_big_red_switch(self):
        """Every watched queue is treated as stormed, storm or none, and none behind it."""
        self.assertEqual(self.switch.request('POST', '/v1/big-red?on=on')[0], 200)
        try:
            field.wait_for(lambda: self.switch.get('/v1/stats')['switch']['pfc_wd']['big_red_switch'], 5, 'on')
            self.send(SRC, DROP, 3, LEN, dscp=3)
            self.assertEqual(sum(self.drops().values()), 3)
        finally:
            self.switch.request('POST', '/v1/big-red?on=off')
        field.wait_for(lambda: not self.switch.get('/v1/stats')['switch']['pfc_wd']['big_red_switch'], 5, 'off')
        self.flows(SRC, DROP)


class AllPorts(Watched):
    """Detection takes so long that ten frames wait before the first storm is found."""
    PORTS = 5
    CONFIG = watchdogs({**TIMES_MS, 'detection': 1000}, ('drop', 'drop', 'drop', 'forward', 'alert'))

    def test_all_port_storm_restore(self):
        """Every port, every lossless priority, at once: all are found, all come back, all forward again."""
        where = [(port, queue) for port in range(self.PORTS) for queue in (3, 4)]
        for port in range(self.PORTS):
            self.hold(port, (3, 4))
        for port, queue in where:       # before the first storm is found, which ends what its port sends
            self.post((port + 1) % self.PORTS, port, 1, LEN, dscp=queue)
        for port, queue in where:
            self.wait_status(port, queue, STORMED)
        self.release(*range(self.PORTS))
        for port, queue in where:
            self.wait_status(port, queue, RESTORED)
            self.assertEqual(self.storms(port, queue), (1, 1))
        for port, queue in where:
            self.flows((port + 1) % self.PORTS, port, queue, 1)


class MixedSpeed(Watched):
    """A storm on each port by times of its own rate, which its sender does not have."""
    PORTS, SPEED = 3, ''
    SPEEDS = '4M', '2M', '1M'
    PORT = [f'speed = "{speed}"; burst = "1s"; {PORT}' for speed in SPEEDS]
    CONFIG = watchdogs(TIMES_MS, ('drop', 'drop', 'drop'))

    def test_mixed_speed(self):
        for port in range(self.PORTS):
            with self.subTest(speed=self.SPEEDS[port]):
                sender, other = (port + 1) % self.PORTS, (port + 2) % self.PORTS
                self.hold(port)
                self.send(sender, port, 4, LEN, dscp=3)
                self.wait_status(port, 3, STORMED)
                self.send(sender, port, 5, LEN, dscp=3)
                self.assertEqual(self.queue(port, 3, 'pfc_wd_tx_dropped_packets'), 9)
                self.flows(sender, other)
                self.calm(port)
                self.flows(sender, port)
                self.assertEqual(self.storms(port), (1, 1))
        self.assertEqual(self.drops(), {(port, 'PFC_WD_TX'): 9 for port in range(self.PORTS)})


class TimerAccuracy(Watched):
    PORTS = 2
    CONFIG = watchdogs(ACCURATE_MS, ('drop', 'drop'))

    def turned(self, status):
        """Waits for it; returns when it had not come yet, and when it had, in seconds of the clock here."""
        end = time.monotonic() + 10
        asked = before = time.monotonic()
        while self.stat(DROP, 'queue', 3, 'pfc_wd_status') != status:
            self.assertLess(asked, end)
            before = asked
            time.sleep(0.003)
            asked = time.monotonic()
        return before, time.monotonic()

    def late_seconds(self):
        """The longest that the switch did not get the processor since it was asked last."""
        seconds = max(port['max_poll_gap_ns'] for port in self.switch.ports()) / 1e9
        self.switch.request('POST', '/v1/clear?poll_gap=1')
        return seconds

    def assert_accurate(self, rounds, what):
        """`rounds` are (not before, not after, lateness of the switch): each takes longer than its time, and
        half of them are found within a poll more, what this program and the switch were late taken off."""
        print(f'# {what}: ' + ' '.join(f'{1000 * after:.0f}' for _, after, _ in rounds) + ' ms', flush=True)
        self.assertGreater(min(after for _, after, _ in rounds), ACCURATE_MS[what] / 1000)
        self.assertLess(statistics.median(before - late for before, _, late in rounds),
                        (ACCURATE_MS[what] + ACCURATE_MS['poll']) / 1000)

    def test_timer_accuracy(self):
        times = {'detection': [], 'restoration': []}
        for round_ in range(ROUNDS):
            for what, status in (('detection', STORMED), ('restoration', RESTORED)):
                time.sleep(0.029 * round_)      # another phase of the poll each time
                self.late_seconds()
                if status == STORMED:
                    self.hold(DROP)
                    start = time.monotonic()
                    self.post(SRC, DROP, 1, LEN, dscp=3)
                else:
                    start = time.monotonic()
                    self.release(DROP)
                before, after = self.turned(status)
                times[what].append((before - start, after - start, self.late_seconds()))
        for what, rounds in times.items():
            self.assert_accurate(rounds, what)
        self.assertEqual(self.storms(DROP), (ROUNDS, ROUNDS))


class Restart(Watched):
    PORTS = 3
    CONFIG = watchdogs(TIMES_MS, ('drop', 'drop', 'drop'))

    def test_warm_reboot_storm_before(self):
        """A storm that ended before the restart is forgotten with it."""
        self.storm(DROP)
        self.calm(DROP)
        self.restart()
        self.assertEqual(self.stat(DROP, 'queue', 3, 'pfc_wd_deadlock_detected'), 0)
        self.flows(SRC, DROP)

    def test_warm_reboot_storm_across(self):
        """One that goes on is found again, and restored."""
        self.storm(DROP)
        self.restart()
        self.assertEqual(self.stat(DROP, 'queue', 3, 'pfc_wd_status'), RESTORED)
        self.storm(DROP)
        self.assertEqual(self.storms(DROP), (1, 0))
        self.calm(DROP)
        self.flows(SRC, DROP)

    def storm_after(self):
        self.flows(SRC, DROP)
        self.storm(DROP)
        self.calm(DROP)
        self.assertEqual(self.storms(DROP), (1, 1))
        self.flows(SRC, DROP)

    def test_warm_reboot_storm_after(self):
        self.restart()
        self.storm_after()

    def test_crash_storm_after(self):
        """A process that is killed in a storm: the next one watches as if nothing had been."""
        self.storm(DROP)
        self.restart(signal.SIGKILL)
        self.release(DROP)
        self.storm_after()

    def test_warm_reboot_async_storms(self):
        """Storms that begin on one port before and on another behind the restart, and end in that order."""
        self.storm(DROP)
        self.restart()
        self.storm(DROP)
        self.storm(OTHER)
        self.calm(DROP)
        self.assertEqual(self.stat(OTHER, 'queue', 3, 'pfc_wd_status'), STORMED)
        self.flows(SRC, DROP)
        self.calm(OTHER)
        for port in (DROP, OTHER):
            self.assertEqual(self.storms(port), (1, 1))
            self.flows(SRC, port)


class Config(lab.SmokeTest):
    def check(self, knobs, more=''):
        ports = [f'name = "{name(i)}"; devargs = "net_null{i}"; speed = "10G"; mtu = 1500; {PORT}' for i in (0, 1)]
        switch = lab.Switch(self, 'config', ports, f'{BUFFERS}{more}pfc_wd = ({{ port = "{name(1)}"; {knobs} }});\n')
        done = subprocess.run(switch.argv('--check'), capture_output=True, text=True, check=False, timeout=20)
        return done.returncode, done.stderr

    def test_config_good(self):
        for knobs in ('', 'action = "forward";', 'detection_time = "5s"; restoration_time = "60s";',
                      'action = "alert"; detection_time = "200ms"; restoration_time = "200ms";'):
            self.assertEqual(self.check(knobs), (0, ''), knobs)

    def test_config_wrong(self):
        """Each is refused, and the message names the knob."""
        for knob, value in (('action', 'pause'), ('detection_time', '99ms'), ('detection_time', '6s'),
                            ('detection_time', 'soon'), ('restoration_time', '99ms'), ('restoration_time', '61s'),
                            ('restoration_time', '-1ms')):
            with self.subTest(knob=knob, value=value):
                status, text = self.check(f'{knob} = "{value}";')
                self.assertEqual(status, 1, text)
                self.assertIn(knob, text)
                self.assertIn(value, text)

    def test_config_poll_interval(self):
        """A poll that is longer than what it must find is refused."""
        status, text = self.check('detection_time = "200ms";', 'pfc_wd_poll_interval = "400ms";\n')
        self.assertEqual(status, 1)
        self.assertIn('pfc_wd: a time of 200000000 ns is shorter than pfc_wd_poll_interval of 400000000', text)


if __name__ == '__main__':
    field.main()
