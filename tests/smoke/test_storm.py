#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A host that pauses without end, behind two switches: with the watchdog the others do not notice, and without
it the congestion tree grows, which the command line shows.

Nine hosts of weft-traffic, each of which sends to the next one. Host 2 storms:

    0, 1, 4, 7, 8 -- s0 -- trunk -- s1 -- 2 (storm), 3, 5, 6

Frames from 1 to 2 hold up s1, which pauses the trunk; what waits for the trunk fills the groups of 1 and 4 in s0,
which pauses those. Whatever crosses from s0 to s1 stands still then, data (1 to 2, 4 to 5) and acknowledgements
(of 3 to 4 and of 6 to 7) alike, and what host 1 and host 2 have to acknowledge.
"""
import json
import subprocess
import sys

sys.dont_write_bytecode = True
import lab

SWITCH_OF = (0, 0, 1, 1, 0, 1, 1, 0, 0)     # by host
STORM = 2
SENDER, VICTIM = 1, 4
HELD = {0, 1, 2, 3, 4, 6}       # flows by sender that stand still without a watchdog
STORMED = {1, 2}                # and with it: to the host, and what it sends
KEPT = 0.9
HALF = 0.5
TRIES = 3                       # of speeds: the machine may be busy
# Hosts are a little slower than their ports, so that nothing waits in a queue unless it is held.
PORT_SPEED, HOST_SPEED, TRUNK_SPEED = '20M', '16M', '1G'
BURST = 'burst = "20ms"; '
STORM_TIME = 'storm=3,storm_start=500ms,storm_stop=3800ms'
FLOWS = ('--duration', '4s', '--size', '64K', '--no-ecn', '--no-congestion-control', '--retries', '255')
PATIENCE = 120


def watchdogs(action):
    return (f'roce = "lossless";\npfc_wd_poll_interval = "100ms";\npfc_wd = ({{ port = "all"; action = "{action}"; '
            'detection_time = "100ms"; restoration_time = "100ms"; });\n')


class Storm(lab.SmokeTest):
    def start(self, action):
        port = f'speed = "{PORT_SPEED}"; {BURST}'
        ports = [[lab.memif_port(f'h{host}', host, self.dir / f'h{host}', port)
                  for host, at in enumerate(SWITCH_OF) if at == switch]
                 + [lab.link_port('trunk', 'trunk', f'speed = "{TRUNK_SPEED}"; {BURST}')] for switch in (0, 1)]
        self.fleet = lab.Fleet(self, ports, watchdogs(action), args=('--busy-poll',)).launch()

    def weft(self, switch, *words, status=0):
        return json.loads(lab.weft(WEFT, self.dir, '--switch', f's{switch}', '--json', *words, status=status))

    def hosts(self, *words):
        last = len(SWITCH_OF) - 1
        process = subprocess.Popen([TRAFFIC, 'permutation', '--hosts', f'memif:{self.dir}/h{{0-{last}}}', '--speed',
                                    HOST_SPEED, '--burst', '20ms', '--json', *FLOWS, *words],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        lab.LEFT.append(process.kill)
        self.addCleanup(process.kill)
        return process

    def report(self, process, status):
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, status, f'{out}{err}')
        report = json.loads(out)
        self.assertEqual((report['outcome'], report['failed']), ('done', 0))
        return report

    def ratios(self, calm, stormy):
        """What each flow did in the storm, of what it did without, by sender."""
        ratios = {flow['src']: now['bytes'] / flow['bytes'] for flow, now in zip(calm['flows'], stormy['flows'])}
        print('# of the rate without a storm:',
              ', '.join(f'{src} to {(src + 1) % len(SWITCH_OF)} {ratio:.0%}' for src, ratio in ratios.items()))
        return ratios

    def paused(self):
        """(switch, port) whose peers have been paused, as weft show pfc counters tells it, whatever priority."""
        return {(switch, row['name']) for switch in (0, 1)
                for row in self.weft(switch, 'show', 'pfc', 'counters')['tx']
                if any(row[f'pfc{priority}'] for priority in range(8))}

    def storms(self):
        return {(switch, row['queue'], row['status']) for switch in (0, 1)
                for row in self.weft(switch, 'show', 'pfcwd', 'stats')['stats'] if row['status'] != 'operational'}

    def causes(self, switch, port, status):
        return ' '.join(finding['finding'] for finding in self.weft(switch, 'show', 'why', port, status=status)['findings'])

    def test_watched(self):
        """Nothing but what goes to the host, or comes from it, is slower or dropped."""
        self.start('drop')
        for left in reversed(range(TRIES)):
            calm = self.report(self.hosts('--retry-timeout', '30s'), 0)
            self.assertEqual((calm['retransmits'], calm['lossless_drops']), (0, 0))
            process = self.hosts('--retry-timeout', '300ms', '--trouble', f'{STORM}:{STORM_TIME}')
            lab.wait_for(self.storms, 10, 'a storm', every=0.2)
            self.assertEqual(self.storms(), {(1, f'h{STORM}:3', 'stormed')})
            self.assertIn('the PFC watchdog found a storm', self.causes(1, f'h{STORM}', 1))
            ratios = self.ratios(calm, self.report(process, 1))
            if left == 0 or all(ratio >= KEPT for src, ratio in ratios.items() if src not in STORMED):
                break
        for src, ratio in ratios.items():
            if src in STORMED:
                self.assertLess(ratio, HALF)
            else:
                self.assertGreaterEqual(ratio, KEPT)
        self.assertEqual({(switch, port, reason) for switch, port, reason, _ in lab.drops(*self.fleet.switches)},
                         {('s1', f'h{STORM}', 'PFC_WD_RX'), ('s1', f'h{STORM}', 'PFC_WD_TX')})
        lab.wait_for(lambda: not self.storms(), 10, 'the end of the storm')
        self.fleet.assert_conserved()

    def test_unwatched(self):
        """The tree grows to the ports whose hosts send into it and no further; nothing is lost, and all goes on
        when the storm is over."""
        self.start('alert')
        calm = self.report(self.hosts('--retry-timeout', '30s'), 0)
        self.assertEqual(self.paused(), set())
        process = self.hosts('--retry-timeout', '30s', '--trouble', f'{STORM}:{STORM_TIME}')
        tree = {(1, 'trunk'), (0, f'h{SENDER}'), (0, f'h{VICTIM}')}
        lab.wait_for(lambda: self.paused() == tree, 10, lambda: f'{tree}, not {self.paused()}', every=0.2)
        # From the leaves to the root, port by port.
        for host in (SENDER, VICTIM):
            self.assertIn(f'pauses the senders behind h{host} for priority 3', self.causes(0, f'h{host}', 0))
        cause = self.causes(0, 'trunk', 1)
        for text in ('the peer of trunk pauses priority 3', f'h{SENDER} priority group 3',
                     f'h{VICTIM} priority group 3'):
            self.assertIn(text, cause)
        self.assertIn('pauses the senders behind trunk for priority 3', self.causes(1, 'trunk', 0))
        self.assertIn(f'the peer of h{STORM} pauses priority 3', self.causes(1, f'h{STORM}', 1))
        self.assertIn((1, f'h{STORM}:3', 'stormed'), self.storms())
        stormy = self.report(process, 0)
        ratios = self.ratios(calm, stormy)
        self.assertEqual({src for src, ratio in ratios.items() if ratio < HALF}, HELD)
        self.assertEqual((stormy['retransmits'], stormy['lossless_drops']), (0, 0))
        self.assertEqual(self.paused(), tree)
        self.assertEqual(lab.drops(*self.fleet.switches), [])
        self.fleet.assert_conserved()


if __name__ == '__main__':
    WEFT, TRAFFIC = sys.argv.pop(2), sys.argv.pop(2)
    lab.main()
