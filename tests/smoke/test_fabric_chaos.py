#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# A fabric whose manager and switches are killed (SIGKILL) at moments that a seed chooses, while links are
# cut and healed and operators drain and change the intent; and one whose disk fills up. Every switch is a
# process of its own, joined to the others by memif. What was acknowledged must outlive every kill, and what
# comes out must be what a manager that begins anew makes of the same state.
#
# usage: test_fabric_chaos.py WEFT_SWITCH WEFT_FABRICD [TEST...]
"""Kills and full disks; WEFT_TEST_LONG=1: more of them, WEFT_TEST_SEED=N: this seed."""
import errno
import http.client
import json
import os
import random
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import lab
import sandbox

LEAVES, SPINES, HOSTS = 3, 2, 2
NAMES = [f'leaf{i + 1}' for i in range(LEAVES)] + [f'spine{i + 1}' for i in range(SPINES)]
LINKS = [(leaf, spine) for leaf in range(LEAVES) for spine in range(SPINES)]
LONG = os.environ.get('WEFT_TEST_LONG', '0') not in ('', '0')
KILLS = 50 if LONG else 8
SETTLE_SECONDS = 10
STORED_MS = 1500            # events are in the store within a second
SPEED = 'speed = "100M"; '


def intent_of(number):
    """Two intents, whose hosts have other addresses."""
    return (f'name = "chaos";\nleaf_spine = {{ leaves = {LEAVES}; spines = {SPINES}; hosts_per_leaf = {HOSTS}; }};\n'
            f'speed = "100M"; length = "1m"; mtu = 1500; ring = 16; poll_gap = "1ms";\n'
            f'addressing = "flat"; subnet = "10.{number + 1}.0.0/16";\n')


INTENTS = [intent_of(0), intent_of(1)]


class Manager:
    """One weft-fabricd over directories of its own, which may be killed and started again."""

    def __init__(self, test, name, intent):
        self.test, self.process, self.dir = test, None, test.dir / name
        self.run, self.state, self.log_path = self.dir / 'run', self.dir / 'state', self.dir / 'log'
        self.run.mkdir(parents=True)
        self.state.mkdir()
        self.intent = self.dir / 'intent.cfg'
        self.intent.write_text(intent)
        lab.LEFT.append(self.kill)
        test.addCleanup(self.kill)

    def launch(self):
        with open(self.log_path, 'ab') as log:
            self.process = subprocess.Popen(
                [FABRICD, '-i', self.intent, '--run-dir', self.run, '--state-dir', self.state, '--damping', '0s',
                 '--mass', '0%'], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def start(self):
        self.launch()
        lab.wait_for(self.is_ready, 20, lambda: f'the manager answers; log:\n{self.log()}')
        return self

    def is_ready(self):
        self.test.assertIsNone(self.process.poll(), self.log())
        try:
            return self.get('status')
        except OSError:
            return None

    def log(self):
        return self.log_path.read_text(errors='replace')

    def runs(self):
        """Whether it was not killed; it never ends by itself."""
        code = None if self.process is None else self.process.poll()
        self.test.assertIn(code, (None, -signal.SIGKILL, 0), self.log())
        return self.process is not None and code is None

    def end(self, number):
        if self.runs():
            self.process.send_signal(number)
            self.process.wait(lab.STOP_SECONDS)

    def kill(self):
        self.end(signal.SIGKILL)

    def request(self, method, path, body=None):
        connection = lab.UnixConnection(self.run / 'fabric.socket')
        try:
            connection.request(method, '/v1/fabric/' + path, body=body)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def get(self, path):
        status, body = self.request('GET', path)
        self.test.assertEqual(status, 200, body)
        return body

    def events(self, since=0):
        """{number: event} of those that are kept behind this one."""
        return {event['number']: event for event in self.get(f'events?since={since}&count=4096')['events']}

    def drain(self, link, drained=True):
        leaf, spine = link
        word = 'drain' if drained else 'undrain'
        return self.request('POST', f'{word}?object=leaf{leaf + 1}:Ethernet{HOSTS + spine}&force=1')

    def hashes(self):
        """Of each switch, the hash of what it is to run; None while there is no plan."""
        targets = {sw['name']: sw['target'] for sw in self.get('topology')['switches']}
        return {name: target['hash'] for name, target in targets.items()} if all(targets.values()) else None


def ports_of(test, number):
    """Port groups of a switch: hosts that are not there and the spines, or the leaves."""
    if number < LEAVES:
        hosts = [f'name = "Ethernet{n}"; devargs = "net_null{n},no-rx=1"; {SPEED}' for n in range(HOSTS)]
        return hosts + [lab.memif_port(f'Ethernet{HOSTS + s}', s, test.dir / f'l{number}s{s}', SPEED)
                        for s in range(SPINES)]
    spine = number - LEAVES
    return [lab.memif_port(f'Ethernet{n}', n, test.dir / f'l{n}s{spine}', SPEED, role='client')
            for n in range(LEAVES)]


class Fabric(lab.SmokeTest):
    def setUp(self):
        super().setUp()
        self.fresh_hashes = {}
        self.managers = 0
        self.manager = self.new_manager(0)
        own = f'manager = "unix:{self.manager.run}/fabricd.rpc";\ndescriptors = 8192;'
        self.switches = [lab.Switch(self, name, ports_of(self, i), own) for i, name in enumerate(NAMES)]

    def new_manager(self, intent):
        self.managers += 1
        return Manager(self, f'manager{self.managers}', INTENTS[intent])

    def log(self):
        return self.manager.log() + ''.join(f'\n--- {sw.name}\n{sw.log()}' for sw in self.switches)

    def start(self):
        self.manager.start()
        for switch in self.switches:
            switch.launch()
        return self.wait_settled(lambda: [0], {})

    def running(self, switch):
        return switch.get('/v1/fabric')['running']

    def settled(self, intents, down):
        """The intent, once every switch runs the newest generation, of one of these and over all links but these."""
        try:
            [address] = [port['ip'] for port in self.manager.get('hosts')['hosts'][0]['ports']]
            status, topology = self.manager.get('status'), self.manager.get('topology')
            own = {switch.name: self.running(switch) for switch in self.switches}
        except (OSError, http.client.HTTPException):
            return None
        lost = {link['name'] for link in topology['links'] if not link['planned']}
        wanted = {f'leaf{leaf + 1}:Ethernet{HOSTS + spine}' for leaf, spine in down}
        intent = int(address.split('.')[1]) - 1
        done = (intent in intents and lost == wanted and
                status['in_force'] and status['switches']['there'] == len(NAMES) and
                all(sw['running'] == sw['target'] is not None and sw['running']['number'] == status['generation']
                    for sw in topology['switches']) and
                all(one and one['number'] == status['generation'] for one in own.values()))
        return [intent] if done else None

    def wait_settled(self, intents, down):
        """And checks that tables are those that a new manager gives for the same state. Returns the intent."""
        [intent] = lab.wait_for(lambda: self.settled(intents(), down), SETTLE_SECONDS,
                                lambda: f'all run the newest generation of {intents()} without {down}: '
                                f'{self.manager.get("topology")}\n{self.log()}', every=0.02)
        fresh = self.fresh(intent, frozenset(down))

        def own():
            return {switch.name: self.running(switch)['hash'] for switch in self.switches}
        # A link may have been lost once more behind the look above, and come back.
        lab.wait_for(lambda: own() == fresh, SETTLE_SECONDS, lambda: f'intent {intent} without {sorted(down)}: '
                     f'{own()}, of a new manager {fresh}; {self.manager.get("topology")}\n{self.log()}', every=0.1)
        return intent

    def fresh(self, intent, down):
        """What a manager that begins anew decides for an intent and a state, with nobody there."""
        if (intent, down) in self.fresh_hashes:
            return self.fresh_hashes[intent, down]
        manager = self.new_manager(intent).start()
        for link in down:
            self.assertEqual(manager.drain(link)[0], 200)

        def planned():
            lost = [link for link in manager.get('links')['links'] if not link['planned']]
            return manager.hashes() if len(lost) == len(down) else None
        hashes = lab.wait_for(planned, 15, manager.log, every=0.02)
        manager.kill()
        return self.fresh_hashes.setdefault((intent, down), hashes)


class Disks(Fabric):
    """Small disks, in a mount namespace that ends with the test's process."""

    def setUp(self):
        sandbox.check(sandbox.libc.unshare(sandbox.CLONE_NEWNS))
        lab.run('mount', '--make-rprivate', '/')
        super().setUp()

    def disk(self, path):
        path.mkdir(parents=True, exist_ok=True)
        lab.run('mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', str(path))
        self.addCleanup(lab.run, 'umount', '-l', str(path))
        return path

    def fill(self, disk):
        """Returns what is to be removed again."""
        ballast = disk / 'ballast'
        with open(ballast, 'wb', buffering=0) as out:
            try:
                while True:
                    out.write(bytes(4096))
            except OSError as error:
                self.assertEqual(error.errno, errno.ENOSPC)
        return ballast

    def cut(self, leaf, cut=True):
        status, body = self.switches[leaf].change(
            lab.edit('set', 'port', f'Ethernet{HOSTS}', admin='false' if cut else 'true'), force=True)
        self.assertEqual(status, 200, body)

    def hashes(self):
        return {switch.name: self.running(switch)['hash'] for switch in self.switches}

    def test_manager(self):
        """A manager without room says so and leaves everything as it is, and goes on when there is some."""
        disk = self.disk(self.manager.state)
        self.start()
        before = self.hashes()
        ballast = self.fill(disk)
        self.cut(0)
        lab.wait_for(lambda: 'the store cannot be written: No space left on device' in self.manager.log(), 20,
                     self.manager.log)
        self.assertEqual(self.hashes(), before)
        status, body = self.manager.drain((1, 0))
        self.assertEqual((status, body['error']), (500, 'it cannot be stored: No space left on device'))
        ballast.unlink()
        self.wait_settled(lambda: [0], {(0, 0)})
        self.fill(disk)
        self.manager.kill()
        said = len(self.manager.log())
        self.manager.launch()
        self.assertNotEqual(self.manager.process.wait(20), 0)
        self.assertRegex(self.manager.log()[said:], 'No space left on device|disk is full')
        (disk / 'ballast').unlink()
        self.manager.start()
        self.wait_settled(lambda: [0], {(0, 0)})

    def test_switch(self):
        """A switch without room keeps what it has, and holds no other up."""
        disk = self.disk(self.dir / 'state' / 'leaf3')
        self.start()
        before = self.hashes()
        ballast = self.fill(disk)
        self.cut(0)
        wanted = self.fresh(0, frozenset({(0, 0)}))
        others = {name: wanted[name] for name in NAMES if name != 'leaf3'}
        lab.wait_for(lambda: {**others, 'leaf3': before['leaf3']} == self.hashes(), SETTLE_SECONDS, self.log)
        self.assertIn('No space left on device', self.manager.log())
        ballast.unlink()
        lab.wait_for(lambda: self.hashes() == wanted, SETTLE_SECONDS, self.log)


class Kills(Fabric):
    """`cut` and `drained` are links."""

    def setUp(self):
        super().setUp()
        self.seed = int(os.environ.get('WEFT_TEST_SEED') or random.SystemRandom().randrange(1 << 32))
        self.dice = random.Random(self.seed)
        print(f'# WEFT_TEST_SEED={self.seed}')
        self.cut, self.drained, self.intent, self.applied = set(), set(), 0, 0
        self.newest = {}        # of each switch, the highest generation that it was seen to run
        self.epoch = self.number = self.in_force = 0

    def down(self):
        return self.cut | self.drained

    def may_lose(self, link):
        """All lost links are those of one spine, which keeps one: every two leaves have the other in common,
        and no switch is taken for dead."""
        lost = self.down() | {link}
        return len({spine for _, spine in lost}) == 1 and len(lost) < LEAVES

    # --- what must not go back ----------------------------------------------------------------------

    def see(self, name, running):
        if not running:
            self.assertNotIn(name, self.newest, 'it forgot what it had acknowledged')
            return
        now = (running['epoch'], running['number'])
        self.assertGreaterEqual(now, self.newest.get(name, now), f'{name} went back')
        self.newest[name] = now

    def look(self):
        """At all who answer: what switches run, and what they have acknowledged."""
        for switch in self.switches:
            if switch.process.poll() is None:
                try:
                    self.see(switch.name, self.running(switch))
                except (OSError, http.client.HTTPException):
                    pass        # it starts
        if not self.manager.runs():
            return
        status = self.manager.get('status')
        self.assertGreaterEqual((status['epoch'], status['generation']), (self.epoch, self.number))
        self.epoch, self.number = status['epoch'], status['generation']
        if status['in_force']:
            self.in_force = status['generation']

    def acknowledged(self, name):
        """What the manager has heard from a switch since its last hello."""
        switches = self.manager.get('topology')['switches']
        return next(sw for sw in switches if sw['name'] == name)['running']

    # --- what happens ---------------------------------------------------------------------------------

    def flip_link(self):
        """One more link is cut, or one is healed. Its leaf's end may be the one that was killed."""
        link = self.dice.choice(LINKS)
        leaf, spine = link
        switch = self.switches[leaf]
        if link in self.drained or switch.process.poll() is not None or \
                (link not in self.cut and not self.may_lose(link)):
            return
        name = f'Ethernet{HOSTS + spine}'
        try:
            if link not in self.cut and not switch.port(name)['link']:
                return          # it has just been healed, or its spine was killed
            status, body = switch.change(lab.edit('set', 'port', name, admin='true' if link in self.cut else 'false'),
                                         force=True)
        except (OSError, http.client.HTTPException):
            return              # it starts
        self.assertEqual(status, 200, body)
        self.cut ^= {link}

    def flip_drained(self):
        link = self.dice.choice(LINKS)
        if link in self.cut or not self.manager.runs() or \
                (link not in self.drained and not self.may_lose(link)):
            return
        status, body = self.manager.drain(link, link not in self.drained)
        self.assertEqual(status, 200, body)
        self.drained ^= {link}

    def apply(self):
        """The other intent; once it is accepted it must come into force."""
        if not self.manager.runs():
            return
        status, body = self.manager.request('POST', 'apply', INTENTS[1 - self.intent])
        if status == 409:       # the last one is still being planned
            return
        self.assertEqual(status, 200, body)
        self.intent, self.applied = 1 - self.intent, len(self.manager.log())

    def intents(self):
        """Those that may be in force: what was accepted, unless there was no plan of it, which has been said."""
        return [0, 1] if 'no plan: ' in self.manager.log()[self.applied:] else [self.intent]

    def stir(self, seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.dice.choice((self.flip_link, self.flip_link, self.flip_link, self.flip_drained, self.apply))()
            self.look()
            time.sleep(self.dice.uniform(0, 0.05))

    def kill_manager(self):
        """Sometimes right after it was asked for something."""
        events, seen = self.manager.events(), self.manager.get('status')
        self.dice.choice((self.apply, self.flip_drained, self.flip_link, lambda: None))()
        self.manager.kill()
        self.stir(self.dice.uniform(0, 0.5))
        self.manager.start()
        status = self.manager.get('status')
        self.assertEqual(status['epoch'], seen['epoch'] + 1)
        self.assertGreaterEqual(status['generation'], self.in_force)
        self.epoch, self.number = status['epoch'], 0
        kept = self.manager.events()
        old = [number for number, event in events.items() if seen['wall_ms'] - event['wall_ms'] > STORED_MS]
        self.assertEqual([kept.get(number) for number in old], [events[number] for number in old])
        self.assertIn('MANAGER_STARTED', [kept[number]['kind'] for number in kept if number > max(old, default=0)])

    def kill_switch(self):
        switch = self.dice.choice(self.switches)
        switch.kill()
        self.see(switch.name, self.acknowledged(switch.name))
        # A link that was cut by hand is not so any more.
        if switch in self.switches[:LEAVES]:
            self.cut = {link for link in self.cut if link[0] != self.switches.index(switch)}
        self.stir(self.dice.uniform(0, 0.5))
        switch.launch()

    def test_kills(self):
        """Whoever is killed, whenever: nothing that was acknowledged is lost, and all come to the same."""
        self.start()
        worst, began = 0, time.monotonic()
        for _ in range(KILLS):
            self.stir(self.dice.uniform(0.1, 0.6))
            self.dice.choice((self.kill_manager, self.kill_switch))()
            self.stir(self.dice.uniform(0, 0.3))
            start = time.monotonic()
            self.intent = self.wait_settled(self.intents, self.down())
            worst = max(worst, time.monotonic() - start)
            self.look()
        print(f'# {KILLS} kills in {time.monotonic() - began:.0f} s, settled after {worst:.1f} s at most, '
              f'epoch {self.epoch}, generation {self.number}')


if __name__ == '__main__':
    FABRICD = sys.argv.pop(2)
    lab.main()
