#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# A live fabric: weft-fabricd and six real switches in one process, four leaves and two spines joined in
# memory. What is asked for goes through the command line, and what is claimed is looked up in the
# switches: the tables that each runs, and whether they change.
#
# usage: test_fabricd.py WEFT_SWITCH WEFT WEFT_FABRICD [TEST...]
"""Generations, cut links, drained ones and a manager that is killed."""
import contextlib
import http.client
import json
import signal
import socket
import subprocess
import sys

sys.dont_write_bytecode = True
import lab

LEAVES, SPINES = 4, 2
INTENT = f'''
name = "smoke";
leaf_spine = {{ leaves = {LEAVES}; spines = {SPINES}; hosts_per_leaf = 2; }};
speed = "10M"; length = "1m"; mtu = 1500; ring = 16; poll_gap = "1ms"; cell = 256;
addressing = "flat"; subnet = "10.1.0.0/16";
'''
NAMES = [f'leaf{i + 1}' for i in range(LEAVES)] + [f'spine{i + 1}' for i in range(SPINES)]
# What a managed switch's own file says of a port beside its device.
PORT = 'burst = "20ms"; tx_ring = 16; speed = "10M";'


def ports_of(number):
    """Port groups of a switch: two hosts that are not there and the spines, or the leaves."""
    if number < LEAVES:
        hosts = [f'name = "Ethernet{n}"; devargs = "net_null{2 * number + n},no-rx=1"; {PORT}' for n in range(2)]
        return hosts + [lab.link_port(f'Ethernet{2 + s}', f'l{number}s{s}', PORT) for s in range(SPINES)]
    return [lab.link_port(f'Ethernet{n}', f'l{n}s{number - LEAVES}', PORT) for n in range(LEAVES)]


class Manager:
    """One weft-fabricd, which may be killed and started again over the same state."""

    def __init__(self, test):
        self.test, self.process = test, None
        self.intent, self.log_path = test.dir / 'smoke.cfg', test.dir / 'fabricd.log'
        self.intent.write_text(INTENT)
        (test.dir / 'run').mkdir(exist_ok=True)

    def start(self, *options):
        with open(self.log_path, 'ab') as log:
            self.process = subprocess.Popen(
                [FABRICD, '-i', self.intent, '--run-dir', self.test.dir / 'run', '--damping', '0s', '--state-dir',
                 self.test.dir / 'state', *options], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        lab.LEFT.append(self.kill)
        self.test.addCleanup(self.end)
        lab.wait_for(lambda: self.is_ready(), 20, lambda: f'the manager answers; log:\n{self.log()}')
        return self

    def is_ready(self):
        self.test.assertIsNone(self.process.poll(), self.log())
        return (self.test.dir / 'run/fabric.socket').exists() and self.ask('status', quiet=True) is not None

    def log(self):
        return self.log_path.read_text(errors='replace')

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(lab.STOP_SECONDS)

    def end(self):
        """Ends it in its own way, whoever still watches."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.test.assertEqual(self.process.wait(lab.STOP_SECONDS), 0, self.log())
            finally:
                self.kill()

    def ask(self, *words, quiet=False):
        """The manager's answer as JSON; None, if it may be quiet, when there is none."""
        done = subprocess.run([WEFT, '--run-dir', self.test.dir / 'run', 'fabric', *words, '--json'],
                              capture_output=True, text=True, timeout=60, check=False)
        if not done.stdout and quiet:
            return None
        self.test.assertTrue(done.stdout, f'{words}: {done.stderr}')
        return json.loads(done.stdout)

    def in_force(self, above=0):
        """The status, once a generation above this one is in force on all switches."""
        def look():
            status = self.ask('status')
            return status if status['in_force'] and status['generation'] > above else None
        return lab.wait_for(look, 15, lambda: f'a generation above {above} in force: {self.ask("status")}\n'
                            f'{self.log()}')


class Socket(lab.SmokeTest):
    """The manager's socket, without any switch."""

    def setUp(self):
        super().setUp()
        with socket.socket() as free:
            free.bind(('127.0.0.1', 0))
            self.port = free.getsockname()[1]
        self.manager = Manager(self).start('--http', str(self.port))
        self.path = self.dir / 'run/fabric.socket'

    def request(self, method, path, body=None, connection=None):
        """Status and JSON of an answer."""
        connection = connection or lab.UnixConnection(self.path)
        with contextlib.closing(connection):
            connection.request(method, f'/v1/fabric/{path}', body)
            answer = connection.getresponse()
            text = answer.read()
        return answer.status, json.loads(text) if text.startswith(b'{') else None

    def tcp(self):
        return http.client.HTTPConnection('127.0.0.1', self.port, timeout=10)

    def test_answers(self):
        """What is wrong is answered with 4xx and a sentence, whatever it is."""
        self.assertEqual(self.path.stat().st_mode & 0o777, 0o660)
        for method, path, body, status, why in (
                ('GET', 'nothing', None, 404, 'no such resource'),
                ('POST', 'status', None, 405, 'use GET'),
                ('GET', 'freeze', None, 405, 'use POST'),
                ('GET', 'routes', None, 400, 'which switch?'),
                ('GET', 'routes?switch=leef1', None, 400, 'did you mean leaf1?'),
                ('GET', 'routes?switch=%ff%00', None, 400, 'there is no switch ?'),
                ('GET', 'routes?switch=' + 'x' * 3000, None, 400, 'there is no switch xxx'),
                ('GET', 'trace?from=host1', None, 400, 'two hosts or switches'),
                ('GET', 'events?since=-1', None, 400, 'numbers'),
                ('GET', 'watch?since=x', None, 400, 'the number of an event'),
                ('POST', 'drain', None, 400, 'a switch, or a link'),
                ('POST', 'drain?object=leaf1:Ethernet0', None, 404, 'did you mean Ethernet2?'),
                ('POST', 'confirm', None, 400, 'nothing waits'),
                ('POST', 'diff', None, 400, 'the intent is missing'),
                ('POST', 'diff?name=../../x', b'name = 3;\n', 400, 'intent:'),
                ('POST', 'diff?name=a.cfg', b'\x00\xff', 400, 'a.cfg:'),
                ('POST', 'apply?canary=leaf9', INTENT, 404, 'did you mean leaf')):
            have, answer = self.request(method, path, body)
            self.assertEqual(have, status, f'{path}: {answer}')
            self.assertIn(why, answer['error'], path)
        self.assertEqual(self.request('POST', 'diff', INTENT), (200, {'done': 'nothing has been changed', 'changes': []}))
        self.assertEqual([entry.name for entry in (self.dir / 'run').iterdir() if 'intent' in entry.name], [])
        connection = lab.UnixConnection(self.path)
        self.addCleanup(connection.close)
        connection.request('POST', '/v1/fabric/diff', headers={'Content-Length': str(17 << 20)})
        self.assertEqual(connection.getresponse().status, 413)      # nobody waits for so much

    def test_looks_only(self):
        """The port of loopback answers who looks, and nobody else."""
        status, answer = self.request('GET', 'status', connection=self.tcp())
        self.assertEqual((status, answer['fabric']), (200, 'smoke'))
        for order in ('freeze', 'drain?object=leaf1:Ethernet2', 'rollback'):
            status, _ = self.request('POST', order, connection=self.tcp())
            self.assertGreaterEqual(status, 400)
        self.assertEqual(self.request('GET', 'status')[1]['hold']['kind'], 'none')

    def test_watchers(self):
        """There is a place for 32 watchers, and one that leaves makes room; one that comes back misses nothing."""
        watchers = []
        for _ in range(32):
            watcher = lab.UnixConnection(self.path)
            self.addCleanup(watcher.close)
            watcher.request('GET', '/v1/fabric/watch')
            watchers.append((watcher, watcher.getresponse()))
        self.assertEqual({answer.status for _, answer in watchers}, {200})
        self.assertEqual(self.request('GET', 'watch')[0], 503)
        for watcher, answer in watchers[:2]:
            answer.close()
            watcher.close()
        self.assertEqual(self.request('POST', 'freeze')[0], 200)
        count = self.request('GET', 'events')[1]['count']

        def comes_back():
            watcher = lab.UnixConnection(self.path)
            watcher.request('GET', '/v1/fabric/watch', headers={'Last-Event-ID': str(count - 1)})
            answer = watcher.getresponse()
            self.addCleanup(watcher.close)
            return answer if answer.status == 200 else None

        answer = lab.wait_for(comes_back, 10, 'a place')
        lines = [answer.readline().decode().rstrip('\n') for _ in range(3)]
        self.assertEqual(lines[:2], [f'id: {count}', 'event: journal'])
        self.assertEqual(json.loads(lines[2].removeprefix('data: '))['kind'], 'FROZEN')


class Fabric(lab.SmokeTest):
    def setUp(self):
        super().setUp()
        self.manager = Manager(self).start()
        text = f'manager = "unix:{self.dir}/run/fabricd.rpc";\ndescriptors = 8192;\n'
        self.fleet = lab.Fleet(self, [ports_of(i) for i in range(len(NAMES))], text, names=NAMES).launch()
        # A plan may be in force before anybody has said of a link that it is up.
        self.status = lab.wait_for(self.is_whole, 15, self.manager.log)

    def is_whole(self):
        status = self.manager.ask('status')
        return status if status['in_force'] and status['links']['up'] == LEAVES * SPINES else None

    def weft(self, *words, **options):
        return lab.weft(WEFT, self.dir, *words, **options)

    def running(self):
        """Of each switch, the hash of all the tables that it runs, in its own words."""
        return {switch.name: switch.get('/v1/fabric')['running']['hash'] for switch in self.fleet.switches}

    def members(self, name):
        """Ports that a switch has in its groups of next hops."""
        switch = self.fleet[NAMES.index(name)]
        return {member['port'] for member in switch.get('/v1/group')['members']}

    def link(self, name):
        """A link as the manager has it."""
        return next(link for link in self.manager.ask('links')['links'] if link['name'] == name)

    def hops(self, at, to):
        """Peers that the plan sends packets of a switch to."""
        [row] = self.manager.ask('routes', at, to)['routes']
        return sorted(hop['peer'] for hop in row['next_hops'])

    def changes(self):
        """Lines of the switches' log about what the manager has changed."""
        return [line for line in self.fleet.log().splitlines() if 'fabric manager: ' in line]

    def test_comes_into_force(self):
        """Six switches call, and run what was planned for them."""
        running = {sw['name']: sw['running']['number'] for sw in self.manager.ask('topology')['switches']}
        self.assertEqual(running, {name: self.status['generation'] for name in NAMES})
        self.assertEqual((self.status['switches']['there'], self.status['links']['up']),
                         (len(NAMES), LEAVES * SPINES))
        self.assertEqual(self.manager.ask('errors'), {'errors': []})
        self.assertEqual(self.hops('leaf1', 'leaf3'), ['spine1', 'spine2'])
        self.assertEqual((self.members('leaf1'), self.members('spine2')),
                         ({'Ethernet2', 'Ethernet3'}, {f'Ethernet{n}' for n in range(LEAVES)}))
        paths = self.manager.ask('trace', 'host1', 'host8')['paths']
        self.assertEqual([path['end'] for path in paths], ['arrives'] * SPINES)
        self.assertIn('8 up', self.weft('fabric', 'status'))

    def test_cut(self):
        """A cable is pulled: all switches get a plan without it, and what they had when it is plugged again. Who
        watches is told as it happens."""
        before = self.running()
        with subprocess.Popen([WEFT, '--run-dir', self.dir / 'run', 'fabric', 'watch', '--json'],
                              stdout=subprocess.PIPE, text=True) as watch:
            self.addCleanup(watch.kill)
            first = json.loads(watch.stdout.readline())     # the status, as soon as it is connected
            self.weft('-n', 'leaf1', 'link', 'cut', 'Ethernet2')
            status = self.manager.in_force(self.status['generation'])
            self.assertEqual(self.link('leaf1:Ethernet2')['state'], 'down')
            self.assertFalse(self.link('leaf1:Ethernet2')['planned'])
            self.assertEqual((self.members('leaf1'), self.members('leaf2')), ({'Ethernet3'}, {'Ethernet2', 'Ethernet3'}))
            self.assertEqual((self.hops('leaf1', 'leaf3'), self.hops('leaf3', 'leaf1')), (['spine2'], ['spine2']))
            errors = json.loads(self.weft('fabric', 'errors', '--json', status=1))['errors']
            self.assertEqual([error['object'] for error in errors], ['leaf1:Ethernet2'])
            told = [json.loads(watch.stdout.readline())]
            while told[-1].get('kind') != 'IN_FORCE':           # it is told some time after it is so
                told.append(json.loads(watch.stdout.readline()))
            watch.send_signal(signal.SIGTERM)
            told += [json.loads(line) for line in watch.stdout]
        self.assertEqual(first['generation'], self.status['generation'])
        kinds = [event.get('kind') for event in told]
        for kind in ('LINK_DOWN', 'PLANNED', 'IN_FORCE'):
            self.assertIn(kind, kinds)
        self.assertIn(status['generation'], [event.get('generation') for event in told])
        self.assertEqual(watch.returncode, 0)
        repair = status['last_repair']
        took = (repair['asked_to_planned_ns'] + repair['planned_to_in_force_ns']) / 1e9
        self.assertLess(took, lab.PATIENCE * 1)
        self.weft('-n', 'leaf1', 'link', 'heal', 'Ethernet2')
        self.manager.in_force(status['generation'])
        self.assertEqual(self.running(), before)
        print(f'# a cut link: in force after {took:.3f} s, {repair["rows_changed"]} rows of '
              f'{repair["switches_changed"]} switches')

    def test_drain(self):
        """A link, then a spine, is drained while it is up: nothing is sent over it, and no host is cut off by it."""
        before = self.running()
        self.weft('fabric', 'drain', 'leaf1:Ethernet2')
        status = self.manager.in_force(self.status['generation'])
        self.assertEqual((self.members('leaf1'), self.hops('leaf3', 'leaf1')), ({'Ethernet3'}, ['spine2']))
        self.assertTrue(self.fleet[0].port('Ethernet2')['link'])
        refused = self.weft('fabric', 'drain', 'spine2', status=1, stderr=subprocess.STDOUT)
        self.assertIn('would be cut off', refused)
        self.weft('fabric', 'undrain', 'leaf1:Ethernet2')
        status = self.manager.in_force(status['generation'])
        self.assertEqual(self.running(), before)
        self.weft('fabric', 'drain', 'spine1')
        status = self.manager.in_force(status['generation'])
        self.assertEqual([self.members(name) for name in NAMES[:LEAVES]], [{'Ethernet3'}] * LEAVES)
        self.assertEqual(status['links']['drained'], LEAVES)
        self.weft('fabric', 'undrain', 'spine1')
        self.manager.in_force(status['generation'])
        self.assertEqual(self.running(), before)

    def test_killed(self):
        """The manager is killed and started again: switches lose nothing, and no table changes."""
        before, changes = self.running(), self.changes()
        self.assertTrue(changes)
        self.manager.kill()
        for switch in self.fleet.switches:
            lab.wait_for(lambda: not switch.get('/v1/fabric')['connected'], 20, f'{switch.name} to miss its manager')
        self.assertEqual(self.running(), before)
        self.manager.start()
        lab.wait_for(lambda: self.manager.ask('status')['switches']['there'] == len(NAMES), 20, self.manager.log)
        status = self.manager.in_force()
        self.assertEqual(status['epoch'], self.status['epoch'] + 1)
        self.assertEqual((self.running(), self.changes()), (before, changes))
        # The journal is stored once a second: what the first one wrote last may be missing, not that it began.
        kinds = [event['kind'] for event in self.manager.ask('events', '--since', '0')['events']]
        self.assertEqual((kinds[0], kinds.count('MANAGER_STARTED')), ('MANAGER_STARTED', 2))

    def test_canary(self):
        """Another intent goes to one switch, is taken back, and then goes everywhere."""
        before = self.running()
        following = self.dir / 'next.cfg'
        following.write_text(INTENT.replace('10.1.0.0', '10.2.0.0'))
        self.weft('fabric', 'apply', following, '--canary', 'leaf2')
        lab.wait_for(lambda: self.manager.ask('status')['hold']['kind'] == 'canary', 15, self.manager.log)
        lab.wait_for(lambda: self.running()['leaf2'] != before['leaf2'], 15, self.manager.log)
        self.assertEqual({**self.running(), 'leaf2': before['leaf2']}, before)
        self.weft('fabric', 'rollback')
        lab.wait_for(lambda: self.running() == before, 15, self.manager.log)
        self.weft('fabric', 'apply', following, '--canary', 'leaf2')
        lab.wait_for(lambda: self.running()['leaf2'] != before['leaf2'], 15, self.manager.log)
        self.weft('fabric', 'confirm')
        lab.wait_for(lambda: not set(self.running().values()) & set(before.values()), 15, self.manager.log)
        self.assertEqual(self.manager.ask('status')['hold']['kind'], 'none')
        self.assertIn('no switch leef1; did you mean leaf1?',
                      self.weft('fabric', 'apply', following, '--canary', 'leef1', status=1,
                                stderr=subprocess.STDOUT))


if __name__ == '__main__':
    WEFT = sys.argv.pop(2)
    FABRICD = sys.argv.pop(2)
    lab.main()
