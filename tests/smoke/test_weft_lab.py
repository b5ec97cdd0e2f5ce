#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""weft lab: whole fabrics on this machine, from their intent to nothing left of them."""
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
import lab

LEAF_SPINE = 'name = "pair";\nleaf_spine = { leaves = 2; spines = 2; hosts_per_leaf = 4; };\n'
FAT_TREE = 'name = "pods";\nfat_tree = { k = 4; };\n'
TORUS = 'name = "rings";\ntorus = { dims = [4, 4]; hosts_per_switch = 1; };\n'
ROUTED = 'name = "routed";\nleaf_spine = { leaves = 2; spines = 1; hosts_per_leaf = 1; };\n' \
         'addressing = "per_leaf";\nsubnet = "10.7.0.0/16";\n'
# PFC has to do all of it; and a busy machine shall not make a timer expire.
# All pieces at once, so that they meet.
UNMARKED = ('--warmup', '0', '--slice', '0', '--no-ecn', '--no-congestion-control', '--retry-timeout', '20s', '--timeout', '120s')
UP_SECONDS, DOWN_SECONDS, RUN_SECONDS = 150, 60, 200
# What hosts had sent that left before all of it had arrived: ACKs and CNPs. All data had.
LEAVING = {'LINK_FLUSH', 'TX_REFUSED', 'GROUP_DEAD', 'NOT_FLOODED', 'CNP_QUEUE_FULL'}


class Labs(lab.SmokeTest):
    """The lab of a test is in a directory of the test's own."""

    def setUp(self):
        super().setUp()
        self.lab_dir = self.dir / 'lab'
        self.addCleanup(self.clean)

    def clean(self):
        if self.lab_dir.exists():
            self.weft('down', status=None)

    def argv(self, action, *words):
        return [WEFT, 'lab', action, '--dir', self.lab_dir, *words]

    def weft(self, action, *words, status=0, seconds=DOWN_SECONDS):
        """What it prints; it must end with this status, None: any."""
        done = subprocess.run(self.argv(action, *words), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=seconds, check=False)
        if status is not None and done.returncode != status:
            raise AssertionError(f'weft lab {action} {words}: {done.returncode}, not {status}:\n{done.stdout}'
                                 f'{done.stderr}\n{self.log()[-3000:]}')
        return done.stdout if done.returncode == 0 else done.stderr

    def log(self):
        return ''.join(path.read_text() for path in sorted(self.lab_dir.glob('log/*')))

    def intent(self, text):
        path = self.dir / f'{text[8:text.index(chr(34), 8)]}.cfg'
        path.write_text(text)
        return path

    def up(self, text, *words):
        return self.weft('up', self.intent(text), *words, seconds=UP_SECONDS)

    def status(self):
        return json.loads(self.weft('status', '--json'))

    def switches(self):
        return {row['switch']: row for row in self.status()['switches']}

    def sum_of(self, key):
        return sum(row[key] for row in self.switches().values())

    def ports_up(self, name):
        return self.switches()[name]['up']

    def start_traffic(self, *words):
        process = subprocess.Popen(self.argv('traffic', *words, '--json'), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        return process

    def report(self, process):
        out, err = process.communicate(timeout=RUN_SECONDS)
        if not out:
            raise AssertionError(f'weft-traffic ended with {process.returncode}: {err}')
        return json.loads(out)

    def traffic(self, *words):
        return self.report(self.start_traffic(*words))

    def processes(self):
        """[pid] of all that has to do with this lab, whoever started it."""
        found = []
        for path in Path('/proc').glob('[0-9]*/cmdline'):
            try:
                if str(self.lab_dir).encode() in path.read_bytes():
                    found.append(int(path.parent.name))
            except OSError:
                pass
        return found

    def namespaces(self):
        return [path.name for path in Path('/run/netns').glob('weft-lab-*')]

    def assert_nothing_left(self):
        self.assertFalse(self.lab_dir.exists())
        self.assertEqual(self.processes(), [])
        self.assertEqual(self.namespaces(), [])
        self.assertEqual([name for name in os.listdir('/sys/class/net') if name.startswith('wl')], [])

    def assert_lossless(self, report):
        self.assertEqual((report['outcome'], report['lossless_drops'], report['retransmits'], report.get('wrong', 0)),
                         ('done', 0, 0, 0), report)
        self.assertEqual(report['good'], 1, report)
        rows = self.switches().values()
        self.assertEqual([row['switch'] for row in rows if row['lossless_dropped_packets']], [])
        reasons = {part.split(':')[0] for row in rows for part in row['drops'].split()}
        self.assertLessEqual(reasons, LEAVING)

    def assert_load(self):
        """All to all, and all to one: nothing is lost although PFC had to hold it."""
        report = self.traffic('all-to-all', '--size', '4M', '--iters', '1', *UNMARKED)
        self.assert_lossless(report)
        self.assert_lossless(self.traffic('incast', '--size', '64K', '--iters', '8', *UNMARKED))
        self.assertGreater(self.sum_of('xoff_events'), 0)
        return report

    def assert_cut(self, cable, *ends):
        """A link is cut under load, which goes on over others, and healed; both ends of it are `ends`."""
        before = {end: self.ports_up(end) for end in ends}
        process = self.start_traffic('all-to-all', '--size', '1M', '--iters', '1000', '--warmup', '0',
                                     '--timeout', '10s')
        carried = lambda: self.switches()[ends[0]]['xoff_events']
        lab.wait_for(lambda: self.ports_up(ends[0]) > before[ends[0]], 20, 'hosts')
        self.weft('cut', cable)
        for end in ends:
            self.assertLess(self.ports_up(end), self.most_ports(end))
        self.weft('heal', cable)
        lab.wait_for(lambda: all(self.ports_up(end) == self.most_ports(end) for end in ends), 20, 'healed')
        report = self.report(process)
        self.assertEqual(report['failed'], 0, report)
        self.assertEqual(report['wrong'], 0)
        return report, carried()

    def most_ports(self, name):
        return self.switches()[name]['ports']


class LeafSpine(Labs):
    def test_lab(self):
        """Four switches and eight hosts: all to all without loss, over what is left of a cut cable, too."""
        out = self.up(LEAF_SPINE, '--no-manager')
        self.assertRegex(out, 'Lab lab: 4 switches, 4 links, 8 hosts')
        self.assertEqual({name: row['up'] for name, row in self.switches().items()},
                         {'leaf1': 2, 'leaf2': 2, 'spine1': 2, 'spine2': 2})
        report = self.assert_load()
        print(f'# {report["goodput_gbps"]:.3f} Gb/s, {self.sum_of("xoff_events")} XOFF')
        self.assert_cut('leaf1:Ethernet4', 'leaf1', 'spine1')
        self.weft('down')
        self.assert_nothing_left()

    def test_processes(self):
        """A process for each switch: one that is killed is missed by nobody for long, and comes back."""
        self.up(LEAF_SPINE, '--no-manager', '--processes')
        self.assert_load()
        self.weft('cut', 'leaf1:Ethernet4')
        self.assertEqual([self.ports_up(name) for name in ('leaf1', 'spine1')], [1, 1])
        self.weft('heal', 'leaf1:Ethernet4')
        self.weft('kill', 'spine1')
        self.assertEqual(self.switches()['spine1']['state'], 'gone')
        lab.wait_for(lambda: self.ports_up('leaf1') == 1, 20, 'spine1 is missed')
        self.assertEqual(self.traffic('all-to-all', '--size', '64K', '--iters', '2', *UNMARKED)['good'], 1)
        self.assertIn('has ended already', self.weft('kill', 'spine1', status=1))
        self.weft('start', 'spine1')
        lab.wait_for(lambda: self.ports_up('leaf1') == 2, 60, 'spine1 is back')
        self.weft('down')
        self.assert_nothing_left()


class Managed(Labs):
    def fabric(self, *words):
        return json.loads(lab.weft(WEFT, self.lab_dir, 'fabric', *words, '--json'))

    def wait_generation(self, least):
        lab.wait_for(lambda: self.fabric('status')['generation'] >= least and self.fabric('status')['in_force'], 20,
                     f'generation {least} in force')
        return self.fabric('status')['last_repair']

    def test_manager(self):
        """Switches get their tables from a manager, which plans around a cut; without it nothing is lost."""
        self.up(LEAF_SPINE)
        status = self.fabric('status')
        self.assertEqual((status['generation'], status['in_force'], status['switches']['there']), (1, True, 4))
        self.assert_load()
        self.assert_killed()
        self.weft('start', 'manager')
        lab.wait_for(lambda: self.fabric('status')['switches']['there'] == 4, 20, 'all switches call again')
        status = self.fabric('status')
        self.assertEqual((status['epoch'], status['generation'], status['last_repair']['switches_changed']), (2, 1, 0))
        self.weft('cut', 'leaf1:Ethernet4')
        repair = self.wait_generation(2)
        took = repair['asked_to_planned_ns'] + repair['planned_to_in_force_ns']
        self.assertEqual(repair['switches_changed'], 3)
        self.assert_lossless(self.traffic('all-to-all', '--size', '256K', '--iters', '1', *UNMARKED))
        self.weft('heal', 'leaf1:Ethernet4')
        self.wait_generation(3)
        print(f'# planned around a cut and in force {took / 1e6:.0f} ms later')
        self.weft('down')
        self.assert_nothing_left()

    def assert_killed(self):
        """The manager is killed under load."""
        process = self.start_traffic('all-to-all', '--size', '512K', '--iters', '6', *UNMARKED)
        lab.wait_for(lambda: self.ports_up('leaf1') == 6, 20, 'hosts')
        self.weft('kill', 'manager')
        self.assert_lossless(self.report(process))
        state = {row['process']: row['state'] for row in self.status()['processes']}
        self.assertEqual((state['manager'], state['switches']), ('has ended', 'runs'))


class FatTree(Labs):
    def test_lab(self):
        """Twenty switches and sixteen hosts, with their manager."""
        before = time.monotonic()
        self.up(FAT_TREE)
        took = time.monotonic() - before
        report = self.assert_load()
        process = next(row for row in self.status()['processes'] if row['process'] == 'switches')
        resident = next(int(line.split()[1]) for line in Path(f'/proc/{process["pid"]}/status').read_text().splitlines()
                        if line.startswith('VmRSS'))
        print(f'# up in {took:.1f} s, {resident / 1024:.0f} MiB resident, {report["goodput_gbps"]:.3f} Gb/s, '
              f'{self.sum_of("xoff_events")} XOFF')
        self.assert_cut('pod1-leaf1:Ethernet2', 'pod1-leaf1', 'pod1-spine1')
        self.weft('down')
        self.assert_nothing_left()


class Torus(Labs):
    def test_lab(self):
        """Rings everywhere, and everybody sends to everybody: on two lanes nobody waits for himself."""
        self.up(TORUS)
        report = self.assert_load()
        self.assertEqual([line for line in self.log().splitlines() if 'frames may be lost' in line][:3], [])
        second = sum(queue['packets'] for name in self.switches() for queue in json.loads(
            lab.weft(WEFT, self.lab_dir, '-n', name, 'show', 'queue', 'counters', '--json'))['queues']
                     if queue['queue'] == 'UC4')
        print(f'# {report["goodput_gbps"]:.3f} Gb/s, {self.sum_of("xoff_events")} XOFF, {second} frames on the second '
              'lane')
        self.assertGreater(second, 0)
        self.weft('down')
        self.assert_nothing_left()


class Namespaces(Labs):
    def test_exec(self):
        """Hosts as namespaces: the kernel's own traffic, bridged and, where leaves have subnets, routed."""
        for text, far in ((LEAF_SPINE, '10.0.0.9'), (ROUTED, '10.7.0.6')):
            with self.subTest(intent=text):
                self.up(text, '--no-manager', '--hosts', 'netns')
                out = self.weft('exec', 'host1', 'ping', '-c', '3', '-i', '0.2', '-W', '5', far)
                self.assertIn(' 0% packet loss', out)
                self.assertIn('hosts of this lab are namespaces', self.weft('traffic', 'write', status=2))
                self.weft('down')
                self.assert_nothing_left()


class Crashes(Labs):
    def test_killed_start(self):
        """`up` is killed at any moment: `down` finds all that there is."""
        for after in (0, 0.01, 0.03, 0.1, 0.2, 0.4, 0.8, 1.6):
            with self.subTest(after=after):
                process = subprocess.Popen(self.argv('up', self.intent(LEAF_SPINE), '--no-manager', '--hosts', 'netns',
                                                     '--processes'),
                                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                           stderr=subprocess.DEVNULL)
                time.sleep(after)
                process.kill()
                process.wait(10)
                if self.lab_dir.exists():
                    self.weft('down')
                self.assert_nothing_left()

    def test_interrupted(self):
        """One that is told to end takes back what it has made."""
        process = subprocess.Popen(self.argv('up', self.intent(FAT_TREE), '--no-manager'), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        lab.wait_for(self.lab_dir.exists, 20, 'a beginning')
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(DOWN_SECONDS), 1)
        self.assert_nothing_left()

    def test_killed_parts(self):
        """Whatever has been killed, `down` ends the rest; another process with such a number is left alone."""
        self.up(LEAF_SPINE, '--no-manager', '--processes')
        traffic = self.start_traffic('all-to-all', '--iters', '100000')
        lab.wait_for(lambda: self.ports_up('leaf1') == 6, 20, 'hosts')
        os.kill(next(row['pid'] for row in self.status()['processes'] if row['process'] == 'leaf1'), signal.SIGKILL)
        other = subprocess.Popen(['sleep', '60'])
        self.addCleanup(other.wait)
        self.addCleanup(other.kill)
        path = self.lab_dir / 'lab.json'
        state = json.loads(path.read_text())
        next(row for row in state['process'] if row['name'] == 'leaf1')['pid'] = other.pid
        path.write_text(json.dumps(state))
        self.weft('down')
        self.assertIsNone(other.poll())
        traffic.communicate(timeout=30)
        self.assert_nothing_left()


class Errors(Labs):
    def test_errors(self):
        """What cannot be is said, and leaves nothing."""
        for words, says in (
                (('up', self.intent('name = "large";\ntorus = { dims = [8, 8]; hosts_per_switch = 1; };')),
                 '64 ports of hosts, a lab at most 32'),
                (('up', self.intent('name = "none";')), 'none.cfg'),
                (('up', 'dot:none'), 'from an intent file'),
                (('up', self.dir / 'missing'), 'No such file'),
                (('status', '--speed', '1G'), '--speed is of weft lab up'),
                (('up', self.intent(LEAF_SPINE), '--sped', '1G'), 'did you mean --speed?'),
                (('cut', 'leaf1:Ethernet4', 'more'), 'usage: weft lab cut'),
        ):
            with self.subTest(words=words):
                self.assertIn(says, self.weft(*words, '--no-manager', status=2) if words[0] == 'up' else
                              self.weft(*words, status=2))
                self.assert_nothing_left()
        self.assertIn('there is no such lab', self.weft('status', status=3))

    def test_words(self):
        self.up(LEAF_SPINE, '--no-manager', '--name', 'words')
        for words, says in (
                (('cut', 'leaf3:Ethernet0'), 'leaf3: the lab has no such switch; did you mean leaf1?'),
                (('cut', 'leaf1:Ethernet9'), 'leaf1:Ethernet9: the lab has no such port'),
                (('cut', 'leaf1'), 'is not SWITCH:PORT'),
                (('kill', 'leaf1'), '--processes: one each'),
                (('kill', 'manager'), 'no process of that name'),
                (('exec', 'host1', 'true'), '--hosts netns makes namespaces'),
        ):
            with self.subTest(words=words):
                self.assertIn(says, self.weft(*words, status=2))
        self.assertIn('is not empty', self.weft('up', self.intent(LEAF_SPINE), '--no-manager', status=1))
        self.weft('down')
        self.assert_nothing_left()


class Guide(Labs):
    def run_line(self, line):
        """What a line of the guide prints, with the directory that it names."""
        words, _, path = line.removeprefix('weft lab ').partition(' > ')
        action, *words = words.split()
        out = self.weft(action, *words, seconds=RUN_SECONDS).replace(str(self.lab_dir), '/run/weft-lab/lab')
        if path:
            (self.dir / path).write_text(out)
        return '' if path else out

    def test_screens(self):
        """The screens of the guide, whatever the numbers are."""
        def plain(text):
            text = re.sub(r'[A-Z_]+:[\d,]+', '', text)
            lines = re.sub(r'-+', '-', re.sub(r'[\d,]+', '#', text)).splitlines()
            return [' '.join(line.split()) for line in lines]

        guide = Path(GUIDE).read_text()
        intent = re.search(r'^name = .*?(?=^```)', guide, re.M | re.S)[0]
        os.chdir(self.dir)
        Path('leaf-spine.cfg').write_text(intent)
        lines = re.search(r'^```console\n(.*?)^```', guide, re.M | re.S)[1]
        for screen in re.split(r'^\$ ', lines, flags=re.M)[1:]:
            line, _, want = screen.partition('\n')
            self.assertEqual(plain(self.run_line(line)), plain(want), line)
        self.assert_nothing_left()
        report = json.loads(Path('all-to-all.json').read_text())
        self.assertEqual((report['good'], report['lossless_drops']), (1, 0))


class Demo(Labs):
    def test_fabric(self):
        """deploy/demo shows what README shows."""
        def plain(text):
            text = re.sub(r'lost: .*', 'lost', re.sub(r'[\d,]+(\.\d+)?', '#', text))
            return [' '.join(line.split()) for line in text.splitlines()]

        root = Path(GUIDE).parents[1]
        done = subprocess.run([root / 'deploy/demo', '--no-setup', '--any-speed', '--out', self.dir / 'out'],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=RUN_SECONDS,
                              check=False, env={**os.environ, 'WEFT_BUILD': str(Path(WEFT).parents[1])})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        shown = re.search(r'^(== all-to-all .*?)^```', (root / 'README.md').read_text(), re.M | re.S)[1]
        self.assertLessEqual(set(plain(shown)), set(plain(done.stdout)))
        summary = json.loads((self.dir / 'out/summary.json').read_text())
        self.assertTrue(summary['ok'])
        self.assertGreater(len(summary['phases']['during']['lost']), 0)
        self.assert_nothing_left()


if __name__ == '__main__':
    WEFT, GUIDE = os.path.abspath(sys.argv.pop(2)), os.path.abspath(sys.argv.pop(2))
    lab.main()
