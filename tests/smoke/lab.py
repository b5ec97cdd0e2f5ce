# SPDX-License-Identifier: BSD-3-Clause
#
# What the smoke tests stand on: a running weft-switch, hosts in network namespaces on veth pairs,
# capture files, and test results as TAP. Every wait is bounded, and everything that is made here is
# undone by the test's cleanups, by name or by process id.
"""Processes, namespaces and captures for the smoke tests."""
import contextlib
import ctypes
import http.client
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

START_SECONDS = 60
STOP_SECONDS = 30
PATIENCE = 4    # by which a busy machine may be slower than the quiet one that bounds are meant for

POOLS = '''
buffer_pool = (
	{ name = "ingress"; type = "ingress"; size = "1MiB"; },
	{ name = "egress"; type = "egress"; size = "4MiB"; });
'''

LOSSY = POOLS + '''
descriptors = 4096;
buffer_profile = (
	{ name = "pg_lossy"; pool = "ingress"; dynamic_th = 3; },
	{ name = "queue_lossy"; pool = "egress"; dynamic_th = 3; });
buffer_pg = ({ port = "all"; pg = "0-7"; profile = "pg_lossy"; });
buffer_queue = ({ port = "all"; queue = "0-7"; profile = "queue_lossy"; });
'''

# Priority 3 is lossless: XOFF after 16 KiB, and headroom for all that a test sends.
LOSSLESS = POOLS + '''
descriptors = 16384;
buffer_profile = (
	{ name = "pg_lossless"; pool = "ingress"; xon = "4KiB"; xoff = "200KiB"; static_th = "16KiB"; },
	{ name = "pg_lossy"; pool = "ingress"; dynamic_th = 3; },
	{ name = "queue_lossless"; pool = "egress"; static_th = 0; },
	{ name = "queue_lossy"; pool = "egress"; dynamic_th = 3; });
buffer_pg = (
	{ port = "all"; pg = "3"; profile = "pg_lossless"; },
	{ port = "all"; pg = "0-2,4-7"; profile = "pg_lossy"; });
buffer_queue = (
	{ port = "all"; queue = "3"; profile = "queue_lossless"; },
	{ port = "all"; queue = "0-2,4-7"; profile = "queue_lossy"; });
map = (
	{ type = "dscp_to_tc"; name = "test"; map = "26:3 *:0"; },
	{ type = "tc_to_pg"; name = "test"; map = "3:3 *:0"; });
'''
LOSSLESS_PORT = 'dscp_to_tc_map = "test"; tc_to_pg_map = "test"; pfc_enable = "3"; '


LEFT = []   # what to call at a signal, since it ends cleanups as well: each may be called again


def wait_for(condition, seconds, what, every=0):
    """Calls until the result is true, and returns it: more often at first. `seconds` are generous on a quiet
    machine. `what` may be a function. A look keeps an lcore awake: for those that sleep, look not so often."""
    start, seconds = time.monotonic(), PATIENCE * seconds
    while True:
        result = condition()
        if result:
            return result
        waited = time.monotonic() - start
        if waited > seconds:
            raise AssertionError(f'not within {seconds} s: {what() if callable(what) else what}')
        time.sleep(every or min(max(waited / 8, 0.002), 0.05))


def run(*argv):
    return subprocess.run(argv, check=True, capture_output=True, text=True, timeout=30).stdout


def weft(program, directory, *words, status=0, stderr=subprocess.PIPE):
    """What the command line prints about the switches of a test's directory; it must end with this status."""
    done = subprocess.run([program, '--run-dir', str(directory / 'run'), *words], stdout=subprocess.PIPE,
                          stderr=stderr, text=True, timeout=60, check=False,
                          env={**os.environ, 'XDG_CACHE_HOME': str(directory / 'cache')})
    if done.returncode != status:
        raise AssertionError(f'weft {words}: {done.returncode}, not {status}:\n{done.stdout}{done.stderr or ""}')
    return done.stdout


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__('weft', timeout=10)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def lossless(descriptors, headroom, pool=600000):
    """Buffers with priority 3 lossless: bytes of headroom per port, and of the shared pool."""
    return f'''
descriptors = {descriptors};
buffer_pool = ( {{ name = "in"; type = "ingress"; size = "{pool}"; }},
                {{ name = "out"; type = "egress"; size = "2000000"; }} );
buffer_profile = (
  {{ name = "lossless"; pool = "in"; size = "{headroom}"; xoff = "{headroom}"; xon = "20000"; dynamic_th = -2; }},
  {{ name = "lossy"; pool = "in"; dynamic_th = 0; }},
  {{ name = "queue"; pool = "out"; static_th = "0"; }} );
buffer_pg = ( {{ port = "all"; pg = "3"; profile = "lossless"; }},
              {{ port = "all"; pg = "0-2,4-7"; profile = "lossy"; }} );
buffer_queue = ( {{ port = "all"; queue = "0-7"; profile = "queue"; }} );
map = ( {{ type = "tc_to_pg"; name = "three"; map = "3:3 *:0"; }} );
'''


class Switch:
    """One weft-switch process. `ports` are bodies of libconfig groups. Without `lldp` it speaks only when
    it is spoken to."""

    def __init__(self, test, name, ports, buffers=LOSSY, args=(), lldp=False):
        self.test, self.name, self.args = test, name, args
        self.dir = test.dir / name
        self.dir.mkdir(exist_ok=True)
        self.config = self.dir / 'switch.cfg'
        self.log_path = self.dir / 'log'
        groups = ',\n'.join('{ ' + port + ' }' for port in ports)
        self.config.write_text(f'name = "{name}";\nlldp = {str(lldp).lower()};\n{buffers}\n'
                               f'port = (\n{groups});\n')
        self.process, self.log_start = None, 0
        self.environment, self.sandbox = None, None     # of its own, if any

    def argv(self, *args):
        return [SWITCH, '-c', self.config, '--run-dir', self.test.dir / 'run',
                '--state-dir', self.test.dir / 'state', *self.args, *args]

    def launch(self):
        self.log_start = len(self.log())
        with open(self.log_path, 'ab') as log:
            self.process = subprocess.Popen(self.argv(), stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, env=self.environment,
                                            preexec_fn=self.sandbox)
        LEFT.append(self.kill)
        self.test.addCleanup(self.kill)

    def start(self):
        self.launch()
        wait_for(self.is_ready, START_SECONDS, f'{self.name} ready; log:\n{self.log()}')
        return self

    def is_ready(self):
        if self.process.poll() is not None:
            raise AssertionError(f'{self.name} ended with {self.process.returncode}:\n{self.log()}')
        try:
            return bool(self.get('/v1/lcore'))
        except (OSError, http.client.HTTPException):
            return False

    def log(self):
        return self.log_path.read_text() if self.log_path.exists() else ''

    def said(self):
        """The log of this process, without those before it."""
        return self.log()[self.log_start:]

    def hup(self, text):
        """Reloads this configuration; returns what was logged of it, which says whether it is applied."""
        before = len(self.log())
        self.config.write_text(text)
        self.process.send_signal(signal.SIGHUP)
        wait_for(lambda: 'applied' in self.log()[before:], 20, 'an answer to SIGHUP in the log')
        return self.log()[before:]

    def request(self, method, path, body=None):
        connection = UnixConnection(self.test.dir / 'run' / f'{self.name}.sock')
        try:
            connection.request(method, path, body=body)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def get(self, path):
        status, body = self.request('GET', path)
        if status != 200:
            raise AssertionError(f'{path}: {status} {body}')
        return body

    def change(self, *edits, force=False):
        """Asks for edits of the running configuration, one change; returns the status and the answer."""
        return self.request('POST', '/v1/config', json.dumps({'edits': edits, 'force': force}))

    def port(self, name):
        return next(p for p in self.ports() if p['name'] == name)

    def ports(self):
        return self.get('/v1/stats')['ports']

    def wait_link(self, name, up=True):
        try:
            wait_for(lambda: self.port(name)['link'] == up, 60,
                     f'{self.name} {name} link {"up" if up else "down"}')
        except AssertionError as error:
            raise AssertionError(f'{error}; {self.port(name)}; log:\n{self.log()}') from error

    def stop(self, number=signal.SIGTERM):
        """Ends the process and returns its exit status."""
        self.process.send_signal(number)
        return self.process.wait(STOP_SECONDS)

    def end(self, number=signal.SIGTERM):
        """Ends the process in order: it has forwarded, or counted as lost, every packet that it had."""
        status = self.stop(number)
        if status != 0 or f'{self.name}: every packet is accounted for' not in self.said():
            raise AssertionError(f'{self.name}: status {status}:\n{self.log()}')

    def kill(self):
        """Ends it, if need be, and removes what only a killed one leaves behind."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(STOP_SECONDS)
        for path in Path('/var/run/dpdk').glob(f'weft-*-{self.process.pid}'):
            shutil.rmtree(path, ignore_errors=True)


def edit(op, table, *key, before=None, **knobs):
    """One edit for Switch.change(); a knob that is None goes back to its default."""
    return {'op': op, 'table': table, 'key': [str(part) for part in key],
            **({'before': [before]} if before else {}), 'knobs': knobs}


def link_port(name, link, more='', mtu=1500):
    """One end of an in-memory link."""
    return f'name = "{name}"; devargs = "link:{link}"; mtu = {mtu}; {more}'


def tree(count, arity):
    """Edges (parent, child) of a tree of `count` switches."""
    return [((i - 1) // arity, i) for i in range(1, count)]


def linked_ports(count, edges, more='', mtu=1500):
    """Per switch its ports on the in-memory links of these edges: Ethernet0, Ethernet4, ..."""
    ports = [[] for _ in range(count)]
    for a, b in edges:
        for i in (a, b):
            ports[i].append(link_port(f'Ethernet{4 * len(ports[i])}', f's{a}-s{b}', more, mtu))
    return ports


def drops(*switches):
    """Frames dropped anywhere: [(switch, port, reason, frames)]. A flooded request that reaches a switch
    without a further port that is up ends there, and is no loss."""
    return [(switch.name, port['name'], reason, count) for switch in switches for port in switch.ports()
            for reason, count in port['drops'].items() if reason != 'FLOOD_NOWHERE']


class Fleet:
    """Several switches in one process. `ports` has a list of port groups per switch: s0, s1, ..., or `names`."""

    def __init__(self, test, ports, buffers=LOSSY, args=(), names=None):
        self.test = test
        self.switches = [Switch(test, names[i] if names else f's{i}', groups, buffers)
                         for i, groups in enumerate(ports)]
        self.switches[0].args = (*args, *(word for s in self.switches[1:] for word in ('-c', s.config)))

    def __getitem__(self, index):
        return self.switches[index]

    def launch(self):
        """Starts the process and waits until every switch answers."""
        self[0].launch()
        for switch in self.switches:
            switch.process, switch.log_path = self[0].process, self[0].log_path
            switch.log_start = self[0].log_start
            wait_for(switch.is_ready, START_SECONDS, f'{switch.name} ready; log:\n{self.log()}')
        return self

    def start(self):
        """And waits until every port has its link."""
        self.launch()
        for switch in self.switches:
            wait_for(lambda: all(p['link'] for p in switch.ports()), START_SECONDS,
                     f'{switch.name}: all links up; log:\n{self.log()}')
        return self

    def log(self):
        return self[0].log()

    def lcore(self):
        return self[0].get('/v1/lcore')['lcores'][0]

    def drops(self):
        return drops(*self.switches)

    def assert_conserved(self):
        self[0].end()
        for switch in self.switches:
            self.test.assertIn(f'{switch.name}: every packet is accounted for', switch.said())


MEMIF = 'net_memif{},role={},socket={},socket-abstract=no,rsize=5'


def memif_port(name, number, path, more='', role='server', mtu=1500):
    return f'name = "{name}"; devargs = "{MEMIF.format(number, role, path)}"; mtu = {mtu}; {more}'


class DpdkHosts:
    """PFC-obeying test hosts of `program` in one process, each on its end of a memif link; they end after
    `seconds`. `paths` are the sockets of hosts `number`, `number` + 1, ..."""

    def __init__(self, test, program, number, paths, role, *options, seconds=2, cpus='0-1', memory=128):
        self.test, self.prefix = test, f'host{os.getpid()}n{number}'
        argv = [program, '--no-huge', '-m', str(memory), '--no-pci', '--no-telemetry', '--no-shconf',
                f'--file-prefix={self.prefix}', f'--lcores=0@({cpus})',
                *('--vdev=' + MEMIF.format(i, role, path) for i, path in enumerate(paths)),
                '--', '--id', str(number), '--hosts', str(len(paths)), '--rate', '100M',
                '--seconds', str(seconds), *options]
        self.process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        LEFT.append(self.kill)
        test.addCleanup(self.kill)

    def kill(self):
        """Ends them, and removes what DPDK leaves behind."""
        self.process.kill()
        self.process.wait(STOP_SECONDS)
        shutil.rmtree(f'/var/run/dpdk/{self.prefix}', ignore_errors=True)

    def end_flows(self):
        """Their flows end now; they stay a little, as after their time."""
        self.process.send_signal(signal.SIGUSR1)

    def results(self):
        """Their reports, once they have ended."""
        out, err = self.process.communicate(timeout=60)
        self.test.assertEqual(self.process.returncode, 0, err)
        return [json.loads(line) for line in out.splitlines() if line.startswith('{')]


class DpdkHost(DpdkHosts):
    """One such host."""

    def __init__(self, test, program, number, path, role, *options, seconds=2):
        super().__init__(test, program, number, [path], role, *options, seconds=seconds)

    def result(self):
        return self.results()[0]


def end_receivers(receivers, *switches):
    """Ends hosts that wait for what is still on its way, once the switches have sent all of it, and returns
    their reports: when nothing is queued and nothing new came between two looks."""
    seen = None

    def quiet():
        nonlocal seen
        before, now = seen, [switch.get('/v1/stats')['switch'] for switch in switches]
        seen = now
        return before and not any(s['queued_packets'] for s in before + now) and (
            [s['rx_packets'] for s in before] == [s['rx_packets'] for s in now])

    wait_for(quiet, 100, 'all sent')
    for receiver in receivers:
        receiver.process.send_signal(signal.SIGTERM)
    return [receiver.result() for receiver in receivers]


class Host:
    """A network namespace with one interface, eth0; its other end is `port` out here."""
    made = 0

    def __init__(self, test, number):
        self.index = self.next_index()
        tag = f'{os.getpid()}n{Host.made}'
        self.test, self.number = test, number
        self.name, self.port = f'weft-smoke-{tag}', f'ws{tag}'
        self.address = f'10.77.0.{number}'
        self.mac = f'02:00:00:00:77:{number:02x}'
        LEFT.append(self.remove)
        test.addCleanup(self.remove)
        run('ip', 'netns', 'add', self.name)
        self.plug()

    @staticmethod
    def next_index():
        """Interface index of one more cable. AF_PACKET's driver names its fanout group by process id
        xor interface index, and a group that another process has is refused. An index whose low ten
        bits are zero keeps them apart."""
        Host.made += 1
        return (os.getpid() % 4096 * 64 + Host.made) * 1024

    def plug(self):
        """Makes the cable. The kernel must not speak on our end, and checksums must be complete."""
        run('ip', 'link', 'add', self.port, 'index', str(self.index), 'type', 'veth', 'peer', 'name',
            'eth0', 'address', self.mac, 'netns', self.name)
        Path(f'/proc/sys/net/ipv6/conf/{self.port}/disable_ipv6').write_text('1')
        self.run('sysctl', '-qw', 'net.ipv6.conf.eth0.disable_ipv6=1')
        run('ip', 'link', 'set', self.port, 'up')
        run('ip', '-n', self.name, 'addr', 'add', f'{self.address}/24', 'dev', 'eth0')
        run('ip', '-n', self.name, 'link', 'set', 'eth0', 'up')
        self.run('ethtool', '-K', 'eth0', 'tx', 'off', 'gso', 'off', 'tso', 'off')

    def unplug(self):
        run('ip', 'link', 'del', self.port)

    def remove(self):
        for argv in (('ip', 'link', 'del', self.port), ('ip', 'netns', 'del', self.name)):
            subprocess.run(argv, check=False, capture_output=True, timeout=30)

    def run(self, *argv):
        return run('ip', 'netns', 'exec', self.name, *argv)

    def ping(self, other, *args, count=3):
        """The number of answers."""
        done = subprocess.run(['ip', 'netns', 'exec', self.name, 'ping', '-c', str(count), '-i', '0.05',
                               '-W', '2', *args, other.address], capture_output=True, text=True,
                              check=False, timeout=60)
        return done.stdout.count('bytes from')

    def reach(self, other):
        """Waits for three answers in a row: behind a link that has just come up the first frames may be lost."""
        wait_for(lambda: self.ping(other) == 3, 20, f'answers from {other.address}')

    def raw_socket(self):
        """A packet socket on eth0, made inside the namespace."""
        with inside(self.name):
            raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
            raw.bind(('eth0', 0))
        self.test.addCleanup(raw.close)
        return raw


def libc_setns(fd):
    if ctypes.CDLL(None, use_errno=True).setns(fd, 0) != 0:
        raise OSError(ctypes.get_errno(), 'setns')


@contextlib.contextmanager
def inside(namespace):
    """What this thread opens belongs to the namespace."""
    with open('/proc/self/ns/net', 'rb') as old, open(f'/run/netns/{namespace}', 'rb') as new:
        libc_setns(new.fileno())
        try:
            yield
        finally:
            libc_setns(old.fileno())


def veth_port(name, host, index, more='', mtu=1500):
    return (f'name = "{name}"; devargs = "net_af_packet{index},iface={host.port}"; mtu = {mtu}; '
            f'{more}')


PATTERN = bytes(range(256)) * 40


def checksum(data):
    total = sum(struct.unpack(f'!{len(data) // 2}H', data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def mac_bytes(text):
    """Of hex digits, with colons or without."""
    return bytes.fromhex(text.replace(':', ''))


def udp_frame(src, dst, length, dscp=0, number=0, *, ecn=0, ports=(1000, 2000), ends=(0x0a4d0001, 0x0a4d0002),
              pcp=None, payload=None):
    """A UDP frame from one MAC address to another, `length` bytes without its tag. Its payload is its number
    and a pattern, unless there is another."""
    header = struct.pack('!BBHHHBBHII', 0x45, dscp << 2 | ecn, length - 14, number & 0xffff, 0x4000, 64, 17, 0, *ends)
    header = header[:10] + struct.pack('!H', checksum(header)) + header[12:]
    tag = b'' if pcp is None else struct.pack('!HH', 0x8100, pcp << 13)
    head = mac_bytes(dst) + mac_bytes(src) + tag + b'\x08\x00' + header + struct.pack('!HHHH', *ports, length - 34, 0)
    body = number.to_bytes(4, 'big') + PATTERN if payload is None else payload.ljust(length - 42, b'\0')
    return head + body[:length - 42]


def write_pcap(path, frames):
    with open(path, 'wb') as out:
        out.write(struct.pack('<IHHiIII', 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for frame in frames:
            out.write(struct.pack('<IIII', 0, 0, len(frame), len(frame)) + frame)


def read_pcap(path):
    data = Path(path).read_bytes()
    frames, at = [], 24
    while at + 16 <= len(data):
        length = struct.unpack_from('<I', data, at + 8)[0]
        frames.append(data[at + 16:at + 16 + length])
        at += 16 + length
    return frames


def assert_headroom(test, switch, *ports):
    """Priority 3 of these ports has been in XOFF, and what came after it was taken up by headroom."""
    for name in ports:
        group = switch.port(name)['priority_groups'][3]
        test.assertGreater(group['xoff_events'], 0, f'{switch.name} {name}')
        test.assertGreater(group['xoff_room_watermark_bytes'], 0, f'{switch.name} {name}')


class SmokeTest(unittest.TestCase):
    def setUp(self):
        self.dir = Path(tempfile.mkdtemp(prefix='weft-smoke-'))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def assert_conserved(self, switch):
        switch.end()


class TapResult(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.details = []

    def startTest(self, test):
        super().startTest(test)
        self.details = []

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.details.append(self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self.details.append(self.errors[-1][1])
        if not isinstance(test, unittest.TestCase):     # of a class, before or behind its tests
            print(f'{test}\n{self.errors[-1][1]}', file=sys.stderr)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.details.append(f'{subtest}\n{self._exc_info_to_string(err, test)}')

    def stopTest(self, test):
        super().stopTest(test)
        word = 'not ok' if self.details else 'ok'
        print(f'{word} {self.testsRun} - {test.id().split(".", 1)[1]}')
        for line in '\n'.join(self.details).splitlines():
            print(f'# {line}')
        sys.stdout.flush()


class Ended(Exception):
    """A signal has ended the run. (Not SystemExit, for which unittest skips cleanups of a class.)"""


def watch_over(child):
    """Waits for the process that runs the tests, and returns its status; to end this one is to end that one."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: os.kill(child, signal.SIGTERM))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def leave_the_group(result):
    """The tests have a session of their own: who ends a test that takes too long sends SIGKILL to its group
    half a second behind SIGTERM, which is too early for cleanups. They end with the process that watches over
    them, whatever ended that."""
    def on_signal(*_):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        result.stop()
        null = os.open(os.devnull, os.O_WRONLY)     # nobody reads any more
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError):
                stream.flush()
            os.dup2(null, stream.fileno())
        raise Ended

    os.setsid()
    signal.signal(signal.SIGTERM, on_signal)
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)      # PR_SET_PDEATHSIG


def run_tests():
    module, loader = sys.modules['__main__'], unittest.defaultTestLoader
    suite = (loader.loadTestsFromNames(sys.argv[2:], module) if sys.argv[2:] else
             loader.loadTestsFromModule(module))
    result = TapResult()
    leave_the_group(result)
    try:
        print(f'1..{suite.countTestCases()}', flush=True)
        suite.run(result)
    finally:
        for undo in LEFT if result.shouldStop else ():
            with contextlib.suppress(Exception):
                undo()
    return 0 if result.wasSuccessful() and not result.shouldStop else 1


def main():
    """Runs the tests of the calling program: PROGRAM WEFT_SWITCH [TEST...]."""
    global SWITCH
    SWITCH = sys.argv[1]
    child = os.fork()
    sys.exit(run_tests() if child == 0 else watch_over(child) != 0)
