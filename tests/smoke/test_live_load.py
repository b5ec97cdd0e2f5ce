#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A thousand random changes of a running switch under lossless load, through its socket: not a frame is
lost. Arguments: weft-switch, host_dpdk."""
import collections
import random
import statistics
import sys
import time

sys.dont_write_bytecode = True
import lab
from lab import edit

CHANGES = 1000
REQUESTS_MAX = 1500     # some of them are refused, since they would drop, and some change nothing
SECONDS_MAX = 360   # on a machine that has much else to do; else half a minute
HEADROOM = 120000
QUANTA_MIN = 50000  # 256 ms at 100 Mb/s: a busy machine takes the switch off its core for long
SENDERS = ('Ethernet0', 'Ethernet1')

BUFFERS = lab.lossless(16384, HEADROOM) + '''
wred_profile = ( { name = "ecn"; ecn = "ecn_all"; green_min_threshold = "20KiB"; green_max_threshold = "80KiB"; } );
scheduler = ( { name = "three"; weight = 10; } );
queue = ( { port = "all"; queue = "3"; scheduler = "three"; wred_profile = "ecn"; } );
'''

# --- kinds of changes: each returns the edits of one, by the dice ------------------------------------


def pool(dice):
    return [edit('set', 'buffer_pool', 'in', size=f'{dice.randrange(500, 900)}kB')]


def thresholds(dice):
    return [edit('set', 'buffer_profile', 'lossless', dynamic_th=dice.randrange(-5, 2), xon=dice.randrange(40000)),
            edit('set', 'buffer_profile', 'lossy', dynamic_th=dice.randrange(-3, 4))]


def headroom(dice):
    """Less of it is refused while a group is in XOFF."""
    size = HEADROOM + dice.randrange(20000)
    return [edit('set', 'buffer_profile', 'lossless', size=size, xoff=size)]


def ecn(dice):
    low = dice.randrange(5000, 60000)
    return [edit('set', 'wred_profile', 'ecn', green_min_threshold=low, green_max_threshold=low + dice.randrange(90000),
                 green_drop_probability=f'{dice.randrange(1, 101)}%', mark_at=dice.choice(('dequeue', 'enqueue')))]


def scheduler(dice):
    return [edit('set', 'scheduler', 'three', type=dice.choice(('STRICT', 'DWRR')), weight=dice.randrange(1, 101),
                 pir=dice.choice((None, '2M', '5M')))]


def speed(dice):
    return [edit('set', 'port', 'Ethernet2', speed=dice.choice(('2M', '4M', '6M')), burst=f'{dice.randrange(1, 40)}ms')]


def watchdog(dice):
    if dice.random() < 0.3:
        return [edit('clear', 'pfc_wd')]
    detection = dice.randrange(200, 900)
    return [edit('clear', 'pfc_wd'),
            edit('put', 'pfc_wd', 'all', '', action=dice.choice(('drop', 'forward', 'alert')),
                 detection_time=f'{detection}ms', restoration_time=f'{dice.randrange(200, 900)}ms'),
            edit('set', 'switch', pfc_wd_poll_interval=f'{dice.randrange(100, 200)}ms')]


def maps(dice):
    """DSCP 3 stays in class 3 and that in its group; the rest moves about."""
    rest = dice.choice((0, 1, 2, 5))
    return [edit('put', 'map', 'dscp_to_tc', 'hosts', map=f'3:3 7:{dice.randrange(3)} *:{rest}'),
            edit('put', 'map', 'tc_to_pg', 'three', map=f'3:3 1:{dice.randrange(3)} *:0'),
            *(edit('set', 'port', name, dscp_to_tc_map='hosts', default_tc=dice.randrange(3)) for name in SENDERS)]


def vlan(dice):
    """What is taken from a port that is up is refused."""
    number = dice.randrange(2, 30)
    if dice.random() < 0.2:
        return [edit('clear', 'vlan', number)]
    return [edit('put', 'vlan', number, tagged=' '.join(dice.sample(SENDERS, dice.randrange(2))))]


def acl(dice):
    row = f'row{dice.randrange(20)}'
    source = f'192.0.2.{dice.randrange(256)}/32'
    if dice.random() < 0.3:
        return [edit('clear', 'acl', row)]
    knobs = dice.choice(({'action': 'deny', 'src_ip': source}, {'action': 'count', 'in_ports': 'Ethernet0'},
                         {'action': 'permit', 'tc': '3'}, {'action': 'remark', 'src_ip': source, 'set_dscp': 1},
                         {'action': 'police', 'tc': '0', 'rate': '5M', 'burst': '8KiB'}))
    return [edit('clear', 'acl', row), edit('add', 'acl', row, **knobs)]


def routes(dice):
    net = dice.randrange(200)
    if dice.random() < 0.3:
        return [edit('clear', table) for table in ('route', 'next_hop', 'neighbor', 'interface')]
    return [edit('put', 'interface', 1, f'10.250.{net}.1/24'),
            edit('put', 'neighbor', f'10.250.{net}.9', 1, mac=f'02:00:00:00:99:{net:02x}'),
            edit('put', 'next_hop', 'away', 'Ethernet1', 0, '', mac='02:00:00:00:98:01', weight=dice.randrange(1, 9)),
            edit('put', 'route', f'10.251.{net}.0/24', via=dice.choice(('away', 'drop')))]


def impairment(dice):
    """Delay that comes, changes and goes; what is on the line stays, in order."""
    port = dice.choice(SENDERS)
    if dice.random() < 0.4:
        return [edit('clear', 'impairment', port)]
    return [edit('put', 'impairment', port, delay=f'{dice.randrange(1000)}us', jitter=f'{dice.randrange(300)}us',
                 limit=500)]


def switch_knobs(dice):
    # The receiver says nothing: its address must not age before the test is done.
    age = dice.randrange(2 * SECONDS_MAX, 4 * SECONDS_MAX)
    return [edit('set', 'switch', mac_age=f'{age}s', solicit_time=f'{dice.randrange(500, 2000)}ms',
                 icmp_rate=dice.randrange(200), ecmp_hash_seed=dice.randrange(99))]


def port_knobs(dice):
    return [edit('set', 'port', dice.choice(SENDERS), alias=f'rack {dice.randrange(9)}',
                 flood_rate=f'{dice.randrange(50, 200)}M', mac_limit=dice.randrange(100, 999),
                 cnp_rate=dice.choice((None, '1M')), cnp_reserve=f'{dice.randrange(1, 9)}KiB',
                 pfc_quanta=dice.randrange(QUANTA_MIN, 65536), cable=f'{dice.randrange(1, 50)}m')]


KINDS = (pool, thresholds, headroom, ecn, scheduler, speed, watchdog, maps, vlan, acl, routes, impairment,
         switch_knobs, port_knobs)


class Thousand(lab.SmokeTest):
    def start(self):
        """Two hosts send to a third one that takes less: both are paused over and over."""
        ports = [lab.memif_port(f'Ethernet{n}', n, self.dir / f'm{n}',
                                f'speed = "{"4M" if n == 2 else "100M"}"; burst = "20ms"; pfc_enable = "3"; '
                                f'tc_to_pg_map = "three"; lcore = {n // 2};') for n in range(3)]
        self.switch = lab.Switch(self, 'thousand', ports, buffers=BUFFERS).start()
        self.receiver = self.host(2, '--wait', '400s')
        lab.wait_for(lambda: self.switch.get('/v1/mac')['entries'], 20, 'address of the receiver')
        self.senders = [self.host(n, '--flow', '2:3:1024') for n in (0, 1)]
        lab.wait_for(lambda: min(self.xoffs()) > 0, 20, 'XOFF at both senders')

    def host(self, number, *options):
        return lab.DpdkHost(self, HOST, number, self.dir / f'm{number}', 'client', '--nap', '100us', *options,
                            seconds=400)

    def xoffs(self):
        return [self.switch.port(name)['priority_groups'][3]['xoff_events'] for name in SENDERS]

    def verdict(self, drops):
        """What to say of these drops. Which of the two it is matters: the first is a fault of the machine."""
        lapses = [self.switch.port(name)['priorities'][3]['tx_pause_lapses'] for name in SENDERS]
        gaps = [one['max_poll_gap_ns'] // 1000000 for one in self.switch.get('/v1/lcore')['lcores']]
        if any(lapses):
            return (f'the machine took the switch off its core for up to {gaps} ms, and {lapses} pauses of the '
                    f'senders ran out meanwhile: no switch can help that, try again when it is less busy; {drops}')
        return f'not explained: no pause ran out, poll gaps of up to {gaps} ms; {drops}'

    def ask(self, dice):
        """One change of one to three kinds, and what became of it."""
        kinds = dice.sample(KINDS, dice.choice((1, 1, 2, 3)))
        edits = [one for kind in kinds for one in kind(dice)]
        start = time.monotonic()
        status, answer = self.switch.change(*edits)
        self.seconds.append(time.monotonic() - start)
        self.assertIn(status, (200, 409), f'{edits}\n{answer}')
        names = [kind.__name__ for kind in kinds]
        if status == 409:
            self.assertGreater(len(answer['drops']), 0, answer)
            self.refused += 1
        elif answer['applied']:
            self.applied.update(names)
            self.generation += 1

    def test_thousand(self):
        dice = random.Random(1)
        self.seconds, self.applied, self.refused, self.generation = [], collections.Counter(), 0, 0
        self.start()
        xoffs, end = self.xoffs(), time.monotonic() + SECONDS_MAX
        while self.generation < CHANGES:
            self.assertLess(time.monotonic(), end, f'{self.generation} changes')
            self.assertLess(len(self.seconds), REQUESTS_MAX, f'{self.generation} changes')
            self.ask(dice)
        more = [after - before for before, after in zip(xoffs, self.xoffs())]
        slow = sorted(self.seconds)
        print(f'# {self.generation} changes applied, {self.refused} refused since they would drop; '
              f'{statistics.median(slow) * 1e3:.1f} ms each (median), {slow[-1] * 1e3:.1f} ms (worst), '
              f'{sum(slow):.1f} s in all; XOFF meanwhile {more}; {dict(self.applied)}')
        self.assertEqual(self.switch.get('/v1/stats')['switch']['config_generation'], self.generation)
        self.assertEqual(set(self.applied), {kind.__name__ for kind in KINDS})
        self.assertGreater(self.refused, 0)
        self.assertLess(self.refused, len(self.seconds) // 4)
        self.assertGreater(min(more), 0)
        self.finish()

    def finish(self):
        """All that was sent has arrived in order, and headroom and marks were used."""
        for sender in self.senders:
            sender.end_flows()
        sent = [sender.result()['priorities'][3] for sender in self.senders]
        got = lab.end_receivers([self.receiver], self.switch)[0]['priorities'][3]
        lossless = [drop for drop in lab.drops(self.switch) if drop[1] in SENDERS]
        self.assertEqual(lossless, [], self.verdict(lossless))
        self.assertEqual((got['rx_lost'], got['rx_reordered']), (0, 0))
        self.assertEqual(got['rx_packets'], sum(one['tx_packets'] for one in sent))
        self.assertGreater(got['rx_packets'], 1000)
        self.assertGreater(got['rx_ce'], 0)
        for one in sent:
            self.assertGreater(one['paused_ns'], 0)
        lab.assert_headroom(self, self.switch, *SENDERS)
        self.assert_conserved(self.switch)


if __name__ == '__main__':
    HOST = sys.argv.pop(2)
    lab.main()
