#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""DPDK's own tool reads a running switch: dpdk-telemetry.py answers what `weft show` and the control socket do."""
import json
import os
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
import lab
from test_service import PTRACE_ATTACH, PTRACE_DETACH, WALL, ptrace

CLI = sys.argv.pop(2)
MOVING = {'uptime_ns', 'time_ns', 'max_poll_gap_ns'}


def plain(value):
    """JSON as the tool shows it: null is left out, true is 1, texts are cut at 127 bytes."""
    if isinstance(value, dict):
        return {key: plain(member) for key, member in value.items() if member is not None and key not in MOVING}
    if isinstance(value, list):
        return [member for member in value if isinstance(member, str)]
    return int(value) if isinstance(value, bool) else value[:127] if isinstance(value, str) else value


class Telemetry(lab.SmokeTest):
    def setUp(self):
        super().setUp()
        self.hosts = [lab.Host(self, 1), lab.Host(self, 2)]
        self.sw = lab.Switch(self, 'told', [
            lab.veth_port('Ethernet0', self.hosts[0], 0, 'alias = "first"; '),
            lab.veth_port('Ethernet4', self.hosts[1], 1)]).start()
        for port in ('Ethernet0', 'Ethernet4'):
            self.sw.wait_link(port)

    def tool(self, *commands, prefix='weft-told'):
        done = subprocess.run(['dpdk-telemetry.py', '-f', prefix], input='\n'.join(commands) + '\n', text=True,
                              capture_output=True, check=False, timeout=30,
                              env={**os.environ, 'RUNTIME_DIRECTORY': str(self.dir / 'run')})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([list(answer) for answer in answers], [[c.split(',')[0]] for c in commands])
        return [next(iter(answer.values())) for answer in answers]

    def test_values(self):
        self.assertEqual(self.hosts[0].ping(self.hosts[1]), 3)
        switches, stats, port, alias, queues, prios, groups = self.tool(
            '/weft/switches', '/weft/stats,told', '/weft/port,told:Ethernet0', '/weft/port,first',
            '/weft/queues,told:Ethernet4', '/weft/priorities,told:Ethernet4', '/weft/priority_groups,Ethernet4')
        want = self.sw.get('/v1/stats')
        first, second = want['ports']
        self.assertEqual(switches, ['told'])
        self.assertGreater(want['switch']['rx_packets'], 0)
        self.assertEqual({key: stats[key] for key in plain(want['switch'])}, plain(want['switch']))
        self.assertEqual(stats['ports'], ['Ethernet0', 'Ethernet4'])
        self.assertEqual([stats['pool0'], stats['pool1']], [plain(pool) for pool in want['pools']])
        self.assertEqual({key: port[key] for key in first['stats']}, first['stats'])
        self.assertEqual(port['drops'], first['drops'])
        self.assertEqual((port['link'], port['name']), (1, 'Ethernet0'))
        self.assertEqual(plain(alias), plain(port))
        for have, member in ((queues, 'queues'), (prios, 'priorities'), (groups, 'priority_groups')):
            self.assertEqual(have, {str(i): plain(row) for i, row in enumerate(second[member])})
        self.assertGreater(sum(queue['packets'] for queue in queues.values()), 0)
        self.assert_shown(stats)
        self.assert_conserved(self.sw)

    def assert_shown(self, stats):
        """What the tool says of the switch is what `weft show switch` prints."""
        done = subprocess.run([CLI, '--run-dir', self.dir / 'run', '-n', 'told', '--total', 'show', 'switch'],
                              capture_output=True, text=True, check=True, timeout=30)
        words = done.stdout.split()
        for key in ('rx_packets', 'tx_packets', 'consumed_packets', 'copied_packets'):
            self.assertIn(f'{stats[key]}', [word.replace(',', '') for word in words], f'{key}\n{done.stdout}')

    def test_wrong_words(self):
        answers = self.tool('/weft/stats,other', '/weft/port,told:none', '/weft/port', '/weft/port,' + 'x' * 300,
                            '/weft/queues,' + 'x' * 300 + ':Ethernet0')
        self.assertEqual([list(answer) for answer in answers], [['error']] * 5)
        self.assertIn('no such switch', answers[0]['error'])
        self.assertIn('SWITCH:PORT', answers[1]['error'])
        self.assertIn('too long', answers[3]['error'])
        self.assert_conserved(self.sw)

    def test_many_clients(self):
        """They take turns; each gets its own answer."""
        wrong = []

        def ask(name):
            for answer in self.tool(*[f'/weft/port,{name}'] * 20):
                if answer.get('name') != name:
                    wrong.append((name, answer))

        threads = [threading.Thread(target=ask, args=(name,)) for name in ('Ethernet0', 'Ethernet4') * 2]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        self.assert_conserved(self.sw)

    def test_bounded(self):
        """A control thread that does not get to answer is told in words, after a second."""
        ptrace(PTRACE_ATTACH, self.sw.process.pid)
        try:
            os.waitpid(self.sw.process.pid, WALL)
            start = time.monotonic()
            answer, = self.tool('/weft/stats,told')
            seconds = time.monotonic() - start
        finally:
            ptrace(PTRACE_DETACH, self.sw.process.pid)
        self.assertIn('did not answer', answer['error'])
        self.assertLess(seconds, 3)
        self.assertEqual(self.tool('/weft/switches'), [['told']])
        self.assert_conserved(self.sw)

    def test_second_process(self):
        """One of the same name fails and takes nothing away; what a killed one leaves is in nobody's way."""
        second = lab.Switch(self, 'told', ('name = "A"; devargs = "net_null0";',))
        done = subprocess.run(second.argv(), capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(self.tool('/weft/switches'), [['told']])
        self.sw.kill()
        self.assertTrue((self.dir / 'run/dpdk/weft-told').exists())
        second.start()
        self.assertEqual(self.tool('/weft/stats')[0]['ports'], ['A'])
        self.assert_conserved(second)
        self.assertFalse((self.dir / 'run/dpdk/weft-told').exists(), 'it goes with the process')


if __name__ == '__main__':
    lab.main()
