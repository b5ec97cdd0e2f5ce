# SPDX-License-Identifier: BSD-3-Clause
#
# What the field's test suites stand on here: one switch per class of tests, with a peer in a network
# namespace on each port (veth and AF_PACKET), and its counters as differences since the test began.
#
# The method is that of the public suites: hold the destination's queues, send as many frames as must
# have no effect, look, send one more, look again. A queue is held by the peer's own PFC; at 2 Mb/s one
# frame holds it for 16.8 s, and send() repeats it. Sending is exact to the frame: send() returns when
# the switch has counted every one of them as received.
"""One switch for a class of tests, peers that count frames, and counters as differences."""
import functools
import shutil
import signal
import socket
import struct
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
# Behind this directory: both have a test_pfcwd.py.
sys.path.append(str(Path(__file__).resolve().parent.parent / 'smoke'))
import lab
from lab import mac_bytes

BATCH = 256             # frames at once: half of what the driver's ring holds
FRESH_SECONDS = 0.2     # how long the answer that ended send() stands for what follows it
SPEED = '2M'
# For tests of single queues: nothing but them is ever full.
POOLS = '''
descriptors = 16384;
buffer_pool = (
  { name = "in"; type = "ingress"; size = "4MiB"; },
  { name = "out"; type = "egress"; size = "4MiB"; });
'''
QUANTA = 65535
PFC, PAUSE = 0x0101, 0x0001
MAC_CONTROL = b'\x88\x08'
ALL = range(8)
HOST = WEFT = None          # programs, set by main()
STRANGERS = (0x0a4d6401, 0x0a4d6402)    # 10.77.100.x: no kernel has them, so that none answers


# Frames that no kernel answers.
frame = functools.partial(lab.udp_frame, ends=STRANGERS)


def wait_for(condition, seconds, what):
    """As lab's, where every look is a new one."""
    def fresh():
        FieldTest.fresh_until = 0
        return condition()

    return lab.wait_for(fresh, seconds, what)


def name(port):
    return f'Ethernet{4 * port}'


def number_of(data):
    return struct.unpack_from('!I', data, 42)[0]


def pfc_frame(src, enable, quanta, opcode=PFC, dst='01:80:c2:00:00:01'):
    """`quanta` is one timer for all priorities, or eight of them."""
    timers = [quanta] * 8 if isinstance(quanta, int) else quanta
    body = struct.pack('!HH8H', opcode, enable, *timers) if opcode == PFC else struct.pack('!HH', opcode,
                                                                                       timers[0])
    return (mac_bytes(dst) + mac_bytes(src) + MAC_CONTROL + body).ljust(60, b'\0')


def mask(priorities):
    return sum(1 << p for p in priorities)


class Peer(lab.Host):
    """A host of a port: sends raw frames, and takes what the switch sends it."""

    def __init__(self, owner, number):
        super().__init__(owner, number)
        self.raw = self.raw_socket()
        self.raw.setsockopt(socket.SOL_SOCKET, 33, 32 << 20)    # SO_RCVBUFFORCE
        # From the start: the kernel begins to stamp frames a while after it is asked (in a work queue), and
        # gives those that came before the time at which they are read.
        self.raw.setsockopt(socket.SOL_SOCKET, 35, 1)   # SO_TIMESTAMPNS

    def received(self):
        """All frames that are there now."""
        frames = []
        while True:
            try:
                frames.append(self.raw.recv(4096, socket.MSG_DONTWAIT))
            except BlockingIOError:
                return frames

    def stamped(self):
        """(seconds by the kernel's stamp, data frame) of all that are there."""
        frames = []
        while True:
            try:
                data, extra, _, _ = self.raw.recvmsg(4096, 256, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return frames
            if data[12:14] != MAC_CONTROL:
                seconds, ns = next(struct.unpack('qq', value) for _, kind, value in extra if kind == 35)
                frames.append((seconds + ns / 1e9, data))

    def data(self):
        return [f for f in self.received() if f[12:14] != MAC_CONTROL]

    def pfc(self):
        """(enable vector, timers) of the PFC frames that came."""
        return [(f[17], struct.unpack_from('!8H', f, 18)) for f in self.received()
                if f[12:16] == MAC_CONTROL + b'\x01\x01']

    def link(self, up):
        lab.run('ip', '-n', self.name, 'link', 'set', 'eth0', 'up' if up else 'down')
        self.raw.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)     # that it was down, told once

    def send_pfc(self, priorities, quanta, **more):
        self.raw.send(pfc_frame(self.mac, mask(priorities), quanta, **more))


class Owner:
    """What lab's helpers want of a test, for things that live as long as a class of them."""

    def __init__(self, cls):
        self.addCleanup = cls.addClassCleanup
        self.dir = Path(tempfile.mkdtemp(prefix='weft-field-'))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)


def flat(ports):
    """{(port, part, index, counter): value} of the ports' answer."""
    out = {}
    for port in ports:
        number = int(port['name'][8:]) // 4
        out.update({(number, 'port', 0, key): value for key, value in port['stats'].items()})
        out.update({(number, 'drop', 0, key): value for key, value in port['drops'].items()})
        for part, rows in (('prio', 'priorities'), ('pg', 'priority_groups'), ('queue', 'queues')):
            for i, row in enumerate(port[rows]):
                out.update({(number, part, i, key): value for key, value in row.items()})
    return out


class FieldTest(unittest.TestCase):
    """A switch with PORTS ports, started once. CONFIG is its file but for the ports; PORT the knobs of
    each, or a list of those of every one."""
    PORTS, CONFIG, PORT, SPEED, MTU = 4, lab.LOSSY, '', SPEED, 1500
    BURST = '1s'    # a port that is polled late, because the machine is busy, makes up for it
    FLOOD = 'flood_rate = "0"; '
    stopped, fresh_until = None, 0

    @classmethod
    def setUpClass(cls):
        cls.owner = Owner(cls)
        cls.peers = [Peer(cls.owner, i + 1) for i in range(cls.PORTS)]
        cls.switch = cls.make_switch()
        cls.know_addresses()
        cls.switch.start()
        for i in range(cls.PORTS):
            cls.switch.wait_link(name(i))
        cls.addClassCleanup(cls.stop)

    @classmethod
    def make_switch(cls):
        more = cls.PORT if isinstance(cls.PORT, list) else [cls.PORT] * cls.PORTS
        speed = f'speed = "{cls.SPEED}"; burst = "{cls.BURST}"; ' if cls.SPEED else ''
        ports = [lab.veth_port(name(i), peer, i, f'{speed}{cls.FLOOD}{more[i]}', cls.MTU)
                 for i, peer in enumerate(cls.peers)]
        return lab.Switch(cls.owner, cls.__name__.lower(), ports, cls.CONFIG)

    @classmethod
    def know_addresses(cls):
        """Nothing is flooded: the addresses are in the state directory before the start."""
        cls.state_file(''.join(f'{peer.mac} 1 {name(i)}\n' for i, peer in enumerate(cls.peers)))

    @classmethod
    def state_file(cls, text):
        state = cls.owner.dir / 'state' / cls.switch.name
        state.mkdir(parents=True)
        (state / 'macs').write_text(text)

    @classmethod
    def stop(cls):
        """Ends the switch, once."""
        if cls.stopped is cls.switch.process:
            return
        cls.stopped = cls.switch.process
        cls.switch.end()

    def restart(self, number=signal.SIGTERM):
        """Ends the switch, in order or by SIGKILL, and starts it again. Its counters begin anew."""
        if number == signal.SIGTERM:
            self.stop()
        else:
            type(self).stopped = self.switch.process
            self.assertEqual(self.switch.stop(number), -number)
        self.switch.start()
        self.addClassCleanup(self.stop)
        for port in range(self.PORTS):
            self.switch.wait_link(name(port))
        FieldTest.fresh_until = 0
        self.first = self.look()

    def setUp(self):
        self.held = {}
        self.numbers = [0] * self.PORTS
        self.release(*range(self.PORTS))
        self.drain()
        for peer in self.peers:
            peer.received()
        self.switch.request('POST', '/v1/clear?watermark=user')
        self.first = self.look()

    # --- counters -----------------------------------------------------------------------------

    def look(self):
        """All counters as of now. On a busy machine each question to the switch costs two turns at the
        processor, so that the answer with which send() ended serves what is asked right behind it."""
        if time.monotonic() > FieldTest.fresh_until:
            self.last = flat(self.switch.ports())
        return self.last

    def stat(self, port, part, index, key):
        """A value as of now."""
        return self.look().get((port, part, index, key), 0)

    def grown(self, port, part, index, key):
        """What has been added to a counter since the test began."""
        where = (port, part, index, key)
        return self.look().get(where, 0) - self.first.get(where, 0)

    def row(self, port, part, key):
        """Of all eight priorities, groups or queues at one moment, what was added."""
        now = self.look()
        return [now[port, part, i, key] - self.first[port, part, i, key] for i in ALL]

    def port(self, port, key):
        return self.grown(port, 'port', 0, key)

    def prio(self, port, prio, key):
        return self.grown(port, 'prio', prio, key)

    def pg(self, port, pg, key):
        return self.grown(port, 'pg', pg, key)

    def queue(self, port, queue, key):
        return self.grown(port, 'queue', queue, key)

    def drops(self):
        """{(port, reason): frames} since the test began."""
        now = self.look()
        return {(key[0], key[3]): value - self.first.get(key, 0) for key, value in now.items()
                if key[1] == 'drop' and value != self.first.get(key, 0)}

    def pool(self, pool):
        return next(p for p in self.switch.get('/v1/stats')['pools'] if p['name'] == pool)

    def wait_stat(self, want, port, part, index, key, seconds=20):
        wait_for(lambda: self.grown(port, part, index, key) == want, seconds,
                 lambda: f'{name(port)} {part} {index} {key}: {self.grown(port, part, index, key)}, '
                         f'wanted {want}')

    # --- frames -------------------------------------------------------------------------------

    def hold(self, port, priorities=ALL):
        """The peer of a port pauses these priorities until release()."""
        self.held[port] = sorted(set(self.held.get(port, ())) | set(priorities))
        self.peers[port].send_pfc(self.held[port], QUANTA)
        wait_for(lambda: all(self.stat(port, 'prio', p, 'rx_paused') for p in self.held[port]), 10,
                 f'{name(port)} paused')

    def release(self, *ports, priorities=ALL):
        FieldTest.fresh_until = 0
        for port in ports:
            self.held[port] = [p for p in self.held.get(port, ()) if p not in priorities]
            if not self.held[port]:
                del self.held[port]
            self.peers[port].send_pfc(priorities, 0)

    def taken_in(self, port):
        now = self.look()
        return sum(now[port, 'port', 0, key] for key in ('if_in_ucast_pkts', 'if_in_non_ucast_pkts'))

    def post(self, src, dst, count, length=500, **fields):
        """Sends without waiting for anything."""
        source, target = self.peers[src], self.peers[dst]
        FieldTest.fresh_until = 0
        for _ in range(count):
            source.raw.send(frame(source.mac, target.mac, length, number=self.numbers[src], **fields))
            self.numbers[src] += 1

    def send(self, src, dst, count, length=500, **fields):
        """Sends frames to a port's peer and returns when the switch has taken in all of them."""
        before = self.taken_in(src)
        for first in range(0, count, BATCH):
            for port, priorities in self.held.items():
                self.peers[port].send_pfc(priorities, QUANTA)
            batch = min(BATCH, count - first)
            self.post(src, dst, batch, length, **fields)
            wait_for(lambda want=before + first + batch: self.taken_in(src) == want, 10,
                     lambda: f'{self.taken_in(src) - before} of {count} frames taken in at {name(src)}')
        FieldTest.fresh_until = time.monotonic() + FRESH_SECONDS

    def announce(self, port):
        """The peer says who it is, as hosts do when their link comes up."""
        peer = self.peers[port]
        peer.raw.send(frame(peer.mac, 'ff:ff:ff:ff:ff:ff', 60))
        wait_for(lambda: (peer.mac, name(port)) in ((entry['mac'], entry['port']) for entry in self.switch.get(
            '/v1/mac')['entries']), 10, f'address of {name(port)}')

    def drain(self):
        wait_for(lambda: self.switch.get('/v1/stats')['switch']['queued_packets'] == 0, 30,
                 lambda: f'all sent: {self.switch.get("/v1/stats")["switch"]}')

    def take(self, port, count, seconds=20):
        """Waits for `count` data frames at the port's peer and returns them."""
        frames = []

        def enough():
            frames.extend(self.peers[port].data())
            return len(frames) >= count

        wait_for(enough, seconds, lambda: f'{len(frames)} of {count} frames at {name(port)}')
        return frames

    # --- configuration ------------------------------------------------------------------------

    def reload(self, text):
        """The switch takes this file, while it runs."""
        FieldTest.fresh_until = 0
        self.assertNotIn('not applied', self.switch.hup(text))

    def change(self, *pairs):
        """Replaces texts in the configuration, each of which must be there, until the test ends."""
        text = old = self.switch.config.read_text()
        for was, is_now in pairs:
            self.assertIn(was, text)
            text = text.replace(was, is_now)
        self.reload(text)
        self.addCleanup(self.reload, old)

    def assert_quiet(self, *ports):
        """No PFC has gone out of these ports, and nothing was dropped anywhere."""
        for port in ports or range(self.PORTS):
            self.assertEqual(self.row(port, 'prio', 'pfc_tx_pkts'), [0] * 8, name(port))
        self.assertEqual(self.drops(), {})


def main():
    """PROGRAM WEFT_SWITCH HOST_DPDK WEFT [TEST...]"""
    global HOST, WEFT
    HOST, WEFT = sys.argv.pop(2), sys.argv.pop(2)
    lab.main()
