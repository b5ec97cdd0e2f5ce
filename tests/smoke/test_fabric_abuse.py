#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Switches that wear a fabric manager out: one whose link comes and goes a thousand times a minute, and one
# with a valid certificate that says whatever it likes, as fast as it can, and never reads an answer. The
# manager is weft-fabricd; switches are those of this file, which speak its RPC over TLS and do what they are
# told without any table. Others are served meanwhile, and memory does not grow.
#
# usage: test_fabric_abuse.py WEFT WEFT_FABRICD [TEST...]
"""Flapping and hostile switches; WEFT_TEST_LONG=1: for longer."""
import http.client
import json
import os
import random
import socket
import ssl
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
import lab

LEAVES, SPINES, HOSTS = 4, 2, 2
LONG = os.environ.get('WEFT_TEST_LONG', '0') not in ('', '0')
FLAPS = 3000 if LONG else 500
FLAP_SECONDS = 0.03         # twice a thousand flaps a minute, less what reports take
ATTACK_SECONDS = 60 if LONG else 8
GROWTH_KIB = 2048
INTENT = f'''
name = "abuse";
leaf_spine = {{ leaves = {LEAVES}; spines = {SPINES}; hosts_per_leaf = {HOSTS}; }};
speed = "100M"; mtu = 1500; ring = 16;
'''
NAMES = [f'leaf{i + 1}' for i in range(LEAVES)] + [f'spine{i + 1}' for i in range(SPINES)]
PREPARE, COMMIT, FORGET = 1, 2, 3       # steps, of schema/fabric.h
UP, DOWN = 1, 2                         # kinds of events


# --- evtag ----------------------------------------------------------------------------------------------

def integer(value):
    """evtag's integer: the number of nibbles less one, then those, the lowest first."""
    nibbles = [value >> shift & 15 for shift in range(0, max(value.bit_length(), 1), 4)]
    nibbles = [len(nibbles) - 1] + nibbles + [0] * (len(nibbles) % 2 == 0)
    return bytes(a << 4 | b for a, b in zip(nibbles[::2], nibbles[1::2]))


def field(tag, value):
    """One of a message: a number, a text, or a message; tags are below 128."""
    data = integer(value) if isinstance(value, int) else value.encode() if isinstance(value, str) else value
    return bytes([tag]) + integer(len(data)) + data


def message(**fields):
    """t1=..., t2=...: those that are None are left out, those of a list repeated."""
    return b''.join(field(int(key[1:]), one) for key, value in fields.items() if value is not None
                    for one in (value if isinstance(value, list) else [value]))


def read_integer(data, at):
    count = (data[at] >> 4) + 1
    nibbles = [data[at + i // 2] >> (0 if i % 2 else 4) & 15 for i in range(1, count + 1)]
    return sum(nibble << 4 * i for i, nibble in enumerate(nibbles)), at + count // 2 + 1


def read(data):
    """{tag: payload} of a message, the last of each."""
    fields, at = {}, 0
    while at < len(data):
        tag, (size, at) = data[at], read_integer(data, at + 1)
        fields[tag], at = data[at:at + size], at + size
    return fields


def number(fields, tag):
    return read_integer(fields[tag], 0)[0] if tag in fields else 0


def event(sequence, kind, port):
    return message(t1=sequence, t2=kind, t3=port)


# --- switches ------------------------------------------------------------------------------------------

class Agent:
    """A switch as the manager sees it; calls may come from several threads, each on its own connection."""

    def __init__(self, fabric, name):
        self.fabric, self.name, self.boot, self.epoch = fabric, name, 1, 0
        self.running = self.prepared = None
        self.sequence, self.ends = 0, threading.Event()
        self.thread = threading.Thread(target=self.follow, daemon=True)
        self.calls = self.connect()

    def connect(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.check_hostname = False
        context.load_verify_locations(self.fabric.pki / 'authority.pem')
        context.load_cert_chain(self.fabric.pki / f'{self.name}.pem', self.fabric.pki / f'{self.name}.key')
        return http.client.HTTPSConnection('127.0.0.1', self.fabric.port, timeout=30, context=context)

    def call(self, connection, method, body):
        connection.request('POST', f'/.rpc.{method}', body=body)
        answer = connection.getresponse()
        data = answer.read()
        if answer.status != 200:
            raise AssertionError(f'{self.name} {method}: {answer.status} {answer.reason}')
        return read(data)

    def hello(self, connection, name=None, boot=None):
        reply = self.call(connection, 'hello', message(t1=1, t2=1, t3=1, t4=name or self.name,
                                                       t5=boot or self.boot, t6=self.epoch))
        self.epoch = number(reply, 2) if not name else self.epoch
        return reply

    def fetch(self, connection, wait_ms):
        return self.call(connection, 'fetch', message(t1=self.boot, t2=self.epoch, t3=wait_ms, t4=self.running,
                                                      t5=self.prepared))

    def report(self, events):
        """[(kind, port)] of new events."""
        rows = []
        for kind, port in events:
            self.sequence += 1
            rows.append(event(self.sequence, kind, port))
        return self.call(self.calls, 'report', message(t1=self.boot, t2=self.epoch, t3=self.running, t4=rows))

    def start(self):
        self.hello(self.calls)
        count = HOSTS + SPINES if self.name.startswith('leaf') else LEAVES
        self.report([(UP, port) for port in range(count)])
        self.thread.start()
        return self

    def follow(self):
        """Does what it is told, until it ends."""
        connection = self.connect()
        self.hello(connection)
        while not self.ends.is_set():
            reply = self.fetch(connection, 1000)
            step = number(reply, 2)
            if step == PREPARE:
                self.prepared = reply[3]
            elif step == COMMIT:
                self.running, self.prepared = reply[3], None
            elif step == FORGET:
                self.prepared = None
        connection.close()

    def end(self):
        self.ends.set()
        if self.thread.is_alive():
            self.thread.join(10)
        self.calls.close()


class Abuse(lab.SmokeTest):
    def setUp(self):
        super().setUp()
        self.pki, run, state = self.dir / 'pki', self.dir / 'run', self.dir / 'state'
        run.mkdir()
        state.mkdir()
        lab.run(WEFT, 'pki', 'init', str(self.pki))
        lab.run(WEFT, 'pki', 'issue', str(self.pki), 'weft-fabricd', *NAMES)
        with socket.socket() as probe:
            probe.bind(('127.0.0.1', 0))
            self.port = probe.getsockname()[1]
        (self.dir / 'intent.cfg').write_text(INTENT)
        self.log_path = self.dir / 'log'
        with open(self.log_path, 'ab') as log:
            self.process = subprocess.Popen(
                [FABRICD, '-i', self.dir / 'intent.cfg', '--run-dir', run, '--state-dir', state, '--listen',
                 f'127.0.0.1:{self.port}', '--authority', self.pki / 'authority.pem', '--certificate',
                 self.pki / 'weft-fabricd.pem', '--key', self.pki / 'weft-fabricd.key', '--revoked',
                 self.pki / 'revoked.pem'], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        lab.LEFT.append(self.kill)
        self.addCleanup(self.kill)
        lab.wait_for((run / 'fabric.socket').exists, 20, self.log)
        self.agents = {}
        for name in NAMES:
            self.agents[name] = Agent(self, name)
            self.addCleanup(self.agents[name].end)
            self.agents[name].start()
        self.wait_in_force(0)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(lab.STOP_SECONDS)

    def log(self):
        return self.log_path.read_text(errors='replace')

    def get(self, path):
        connection = lab.UnixConnection(self.dir / 'run/fabric.socket')
        try:
            connection.request('GET', '/v1/fabric/' + path)
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()

    def wait_in_force(self, above):
        def look():
            status = self.get('status')
            return status if status['in_force'] and status['generation'] > above else None
        return lab.wait_for(look, 15, lambda: f'a generation above {above}: {self.get("status")}\n{self.log()[-8000:]}')

    def resident_kib(self):
        with open(f'/proc/{self.process.pid}/status', encoding='utf-8') as rows:
            return next(int(row.split()[1]) for row in rows if row.startswith('VmRSS'))

    def link(self, name):
        return next(link for link in self.get('links')['links'] if link['name'] == name)

    def repair(self, name, port, kind):
        """Seconds from a report of a link until the plan for it is in force."""
        before, start = self.get('status')['generation'], time.monotonic()
        self.agents[name].report([(kind, port)])
        self.wait_in_force(before)
        return time.monotonic() - start


class Flaps(Abuse):
    def flap(self, agent, count):
        """Always a link to spine1, as all that is lost here: over the other one every leaf reaches every other."""
        for _ in range(count):
            agent.report([(DOWN, HOSTS), (UP, HOSTS)])
            time.sleep(FLAP_SECONDS)

    def test_flaps(self):
        """More than a thousand flaps a minute: the link is left out, others are repaired, memory is flat."""
        self.flap(self.agents['leaf1'], 100)
        lab.wait_for(lambda: self.link('leaf1:Ethernet2')['state'] == 'damped', 10, self.log)
        resident, before, start = self.resident_kib(), self.get('status'), time.monotonic()
        flapping = threading.Thread(target=self.flap, args=(self.agents['leaf1'], FLAPS))
        flapping.start()
        repairs = []
        for kind in (DOWN, UP, DOWN, UP):
            time.sleep(1)
            repairs.append(self.repair('leaf3', HOSTS, kind))
        flapping.join()
        rate, grown = FLAPS * 60 / (time.monotonic() - start), self.resident_kib() - resident
        after = self.get('status')
        self.assertGreater(rate, 1000)
        self.assertEqual(self.link('leaf1:Ethernet2')['state'], 'damped')
        self.assertFalse(self.link('leaf1:Ethernet2')['planned'])
        self.assertEqual(after['generation'], before['generation'] + len(repairs), 'flaps make no plans')
        self.assertLess(max(repairs), lab.PATIENCE * 1)
        self.assertLess(grown, GROWTH_KIB)
        seconds = time.monotonic() - start
        self.assertLess(after['events'] - before['events'], 16 + 2 * seconds + 8 * len(repairs))
        print(f'# {rate:.0f} flaps a minute: {grown} KiB more of {resident}, other repairs within '
              f'{max(repairs):.3f} s, {after["events"] - before["events"]} events')


class Hostile(Abuse):
    def attack(self, turn):
        """What a switch with a certificate of its own may try on one connection, until it is to end."""
        agent, dice = self.agents['leaf4'], random.Random(turn)
        while not self.ends.is_set():
            connection = agent.connect()
            try:
                if turn == 0:
                    self.leave_unread(connection)
                while not self.ends.is_set() and turn != 0:
                    self.said += 1
                    dice.choice((self.lie_hello, self.lie_ack, self.lie_report))(agent, connection, dice)
            except (OSError, http.client.HTTPException):
                self.refused += 1
            finally:
                connection.close()

    def send(self, connection, method, body):
        """Whatever the answer is."""
        connection.request('POST', f'/.rpc.{method}', body=body)
        connection.getresponse().read()

    def leave_unread(self, connection):
        """Requests in one row, whose answers are never read."""
        agent = self.agents['leaf4']
        body = message(t1=agent.boot, t2=agent.epoch, t3=0)
        connection.connect()
        connection.sock.settimeout(2)
        request = (f'POST /.rpc.fetch HTTP/1.1\r\nHost: weft\r\nContent-Length: {len(body)}\r\n\r\n').encode() + body
        while not self.ends.is_set():
            connection.sock.sendall(request * 100)

    def lie_hello(self, agent, connection, dice):
        self.send(connection, 'hello', message(t1=1, t2=1, t3=1, t4=dice.choice(NAMES[:3] + ['leaf4', 'leaf9']),
                                               t5=dice.getrandbits(63), t6=dice.choice((0, 1, dice.getrandbits(62)))))

    def lie_ack(self, agent, connection, dice):
        generation = message(t1=dice.choice((1, dice.getrandbits(60))), t2=dice.randrange(100), t3=dice.getrandbits(64))
        self.send(connection, 'ack', message(t1=dice.choice((agent.boot, dice.getrandbits(63))), t2=agent.epoch,
                                             t3=dice.randrange(5), t4=generation, t5=dice.choice((0, 2, 12, 22)),
                                             t6='x' * 255))

    def lie_report(self, agent, connection, dice):
        first = dice.getrandbits(60)
        events = [event(first + i, dice.randrange(4), dice.choice((HOSTS, dice.randrange(LEAVES, 1 << 16))))
                  for i in range(128)]
        self.send(connection, 'report', message(t1=agent.boot, t2=agent.epoch, t4=events))

    def fetch_ms(self, seconds):
        """How long another switch waits for the answer to a fetch, sorted."""
        agent, times, until = self.agents['leaf1'], [], time.monotonic() + seconds
        while time.monotonic() < until:
            start = time.monotonic()
            agent.fetch(agent.calls, 0)
            times.append((time.monotonic() - start) * 1000)
            time.sleep(0.005)
        return sorted(times)

    def test_hostile(self):
        """A switch with a certificate that floods and lies: nobody else is slowed down or changed."""
        self.ends, self.said, self.refused = threading.Event(), 0, 0
        others = [name for name in NAMES if name != 'leaf4']
        quiet = self.fetch_ms(1)
        self.agents['leaf4'].ends.set()
        threads = [threading.Thread(target=self.attack, args=(turn,), daemon=True) for turn in range(4)]
        for thread in threads:
            thread.start()
        self.addCleanup(self.ends.set)
        time.sleep(3)
        resident = self.resident_kib()
        times = self.fetch_ms(ATTACK_SECONDS / 2)
        took = self.repair('leaf2', HOSTS, DOWN)
        times = sorted(times + self.fetch_ms(ATTACK_SECONDS / 2))
        grown = self.resident_kib() - resident
        topology = self.get('topology')
        self.ends.set()
        for thread in threads:
            thread.join(35)
        states = {sw['name']: sw['state'] for sw in topology['switches'] if sw['name'] in others}
        self.assertEqual(states, dict.fromkeys(others, 'there'))
        links = {link['name']: link['state'] for link in topology['links'] if not link['name'].startswith('leaf4:')}
        self.assertEqual(links.pop('leaf2:Ethernet2'), 'down')
        self.assertEqual(set(links.values()), {'up'})
        p99 = times[len(times) * 99 // 100]
        self.assertLess(p99, lab.PATIENCE * 50)
        self.assertLess(took, lab.PATIENCE * 2.5)
        self.assertLess(grown, GROWTH_KIB)
        print(f'# {self.said} lies, {self.refused} connections ended: p99 of a fetch {p99:.1f} ms (before: '
              f'{quiet[len(quiet) * 99 // 100]:.1f}), repair {took:.3f} s, {grown} KiB more of {resident}')


if __name__ == '__main__':
    WEFT, FABRICD = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv.pop(2))
    lab.main()
