#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""weft-switch under a service manager: what it says, when it stops saying it, and how soon it is back."""
import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

sys.dont_write_bytecode = True
import lab
import sandbox

UNIT = Path(__file__).resolve().parents[2] / 'deploy/systemd/weft-switch@.service'
PTRACE_ATTACH, PTRACE_DETACH, WALL = 16, 17, 0x40000000
WATCHDOG_SECONDS = 1
BACK_SECONDS = 4  # the aim is 2, which a busy machine may miss


def ptrace(request, tid):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    if libc.ptrace(request, tid, None, None) != 0:
        raise OSError(ctypes.get_errno(), 'ptrace')


class Manager:
    """The receiving end of sd_notify(3): lists of lines, with the time at which they came."""

    def __init__(self, test):
        self.test, self.path = test, test.dir / 'notify'
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        test.addCleanup(self.socket.close)
        self.socket.bind(str(self.path))
        self.log = str

    def environment(self, seconds=WATCHDOG_SECONDS):
        return {**os.environ, 'NOTIFY_SOCKET': str(self.path), 'WATCHDOG_USEC': str(int(seconds * 1e6))}

    def listen(self, seconds):
        """The lines of the next `seconds`."""
        lines, end = [], time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.socket.settimeout(left)
            try:
                lines += self.socket.recv(4096).decode().split('\n')
            except TimeoutError:
                break
        return lines

    def wait(self, line, seconds=lab.START_SECONDS):
        """What came until and with this line."""
        lines, end = [], time.monotonic() + seconds
        while line not in lines:
            self.test.assertLess(time.monotonic(), end, f'{line} not in {lines}; {self.log()}')
            lines += self.listen(0.05)
        return lines


class Service(lab.SmokeTest):
    PORTS = ('name = "Ethernet0"; devargs = "net_null0"; mtu = 1500;',
             'name = "Ethernet4"; devargs = "net_af_packet0,iface=weft-not-here"; mtu = 1500;')

    def setUp(self):
        super().setUp()
        self.manager = Manager(self)

    def launch(self, name='served', ports=PORTS, **more):
        switch = lab.Switch(self, name, ports, **more)
        switch.environment, self.manager.log = self.manager.environment(), switch.log
        switch.launch()
        return switch

    def test_words(self):
        switch = self.launch()
        lines = self.manager.wait('READY=1')
        self.assertIn('lcores', switch.get('/v1/lcore'), 'ready means that it answers')
        self.assertIn('STATUS=served: 1 of 2 ports up, 1 waiting for their devices',
                      lines + self.manager.listen(2))
        switch.process.send_signal(signal.SIGHUP)
        lines = self.manager.wait('READY=1', 10)
        self.assertIn('RELOADING=1', lines)
        stamp = next(int(line.split('=')[1]) for line in lines if line.startswith('MONOTONIC_USEC='))
        self.assertLess(abs(stamp / 1e6 - time.monotonic()), 10)
        self.assertEqual(switch.stop(), 0, switch.log())
        self.assertEqual(set(self.manager.wait('STOPPING=1', 1)) - {'WATCHDOG=1'}, {'STOPPING=1'})

    def test_many_switches(self):
        fleet = lab.Fleet(self, lab.linked_ports(2, [(0, 1)]))
        fleet[0].environment = self.manager.environment()
        fleet.launch()
        self.manager.wait('STATUS=2 switches: 2 of 2 ports up')
        fleet.assert_conserved()

    def test_log_json(self):
        """Every line is an object, also those of DPDK and those about a wrong file."""
        switch = lab.Switch(self, 'logged', (self.PORTS[0], 'name = "Bad"; devargs = "net_pcap9,rx_pcap=/none"; '
                                             'mtu = 1500;'), args=('--log', 'json')).start()
        self.assertEqual(switch.stop(), 0, switch.log())
        lines = [json.loads(line) for line in switch.log().splitlines()]
        for line in lines:
            self.assertLessEqual({'time', 'level', 'message'}, line.keys())
            self.assertIn(line['level'], ('error', 'warning', 'info'))
            self.assertLess(abs(datetime.fromisoformat(line['time']).timestamp() - time.time()), 60)
        said = [(line.get('switch'), line.get('port'), line['message']) for line in lines]
        self.assertIn(('logged', 'Ethernet0', 'link up'), said)
        self.assertIn(('logged', None, 'every packet is accounted for'), said)
        self.assertIn((None, None, 'Terminated: ending'), said)
        self.assertTrue(any('pcap' in message and sw is None for sw, _, message in said), said)
        done = subprocess.run(lab.Switch(self, 'wrong', ('name = "A"; devargs = "net_nil1";',)).argv(
            '--check', '--log', 'json'), capture_output=True, text=True, check=False, timeout=20)
        self.assertEqual(done.returncode, 1)
        self.assertIn('net_nil1', [json.loads(line) for line in done.stderr.splitlines()][0]['message'])

    def test_watchdog(self):
        """It is fed at half of its time, and not while one forwarding lcore is stuck."""
        switch = self.launch(ports=(self.PORTS[0],
                                    'name = "B"; devargs = "net_null1"; lcore = 1; mtu = 1500;'))
        self.manager.wait('READY=1')
        start = time.monotonic()
        fed = self.manager.listen(6 * WATCHDOG_SECONDS).count('WATCHDOG=1')
        halves = 2 * (time.monotonic() - start) / WATCHDOG_SECONDS
        self.assertTrue(halves / 2 < fed < 2 * halves, f'{fed} times in {halves:.1f} half times')
        threads = {(task / 'comm').read_text().strip(): int(task.name)
                   for task in Path(f'/proc/{switch.process.pid}/task').iterdir()}
        workers = [tid for name, tid in threads.items() if 'worker-2' in name]
        self.assertEqual(len(workers), 1, threads)
        ptrace(PTRACE_ATTACH, workers[0])
        try:
            os.waitpid(workers[0], WALL)
            self.manager.listen(WATCHDOG_SECONDS)      # what it has answered before
            stuck = self.manager.listen(3 * WATCHDOG_SECONDS)
        finally:
            ptrace(PTRACE_DETACH, workers[0])
        self.assertNotIn('WATCHDOG=1', stuck)
        self.manager.wait('WATCHDOG=1', 5)
        self.assert_conserved(switch)

    def test_back_after_a_kill(self):
        """A killed switch serves again within two seconds, the manager's own pause (RestartSec) included."""
        switch = self.launch(ports=self.PORTS[:1])
        self.manager.wait('READY=1')
        pause = dict(sandbox.read(UNIT))['RestartSec']
        self.assertTrue(pause.endswith('ms'), pause)
        switch.process.send_signal(signal.SIGKILL)
        switch.process.wait(lab.STOP_SECONDS)
        killed = time.monotonic()
        time.sleep(int(pause[:-2]) / 1000)
        self.manager.listen(0.01)
        switch.launch()
        self.manager.wait('READY=1')
        seconds = time.monotonic() - killed
        print(f'# back after {seconds:.2f} s')
        self.assertLess(seconds, BACK_SECONDS)
        self.assert_conserved(switch)

    def test_sandbox(self):
        """Ports of every kind that a kernel without NICs has work under the unit's restrictions, and what
        they forbid is forbidden."""
        hosts = [lab.Host(self, i) for i in (1, 2, 3)]
        tap = f'wt{os.getpid()}'
        switch = lab.Switch(self, 'boxed', (
            lab.veth_port('packet', hosts[0], 0),
            f'name = "xdp"; devargs = "net_af_xdp0,iface={hosts[1].port}"; mtu = 1500;',
            f'name = "roce"; devargs = "net_af_xdp1,iface={hosts[2].port}"; mtu = 1500; steer = "roce";',
            f'name = "tap"; devargs = "net_tap0,iface={tap}"; mtu = 1500;',
            f'name = "memif"; devargs = "{lab.MEMIF.format(0, "server", self.dir / "run/memif.sock")}"; mtu = 1500;',
            f'name = "vhost"; devargs = "net_vhost0,iface={self.dir / "run/vhost.sock"}"; mtu = 1500;'))
        for name in ('run', 'state'):
            (self.dir / name).mkdir()
        switch.environment, self.manager.log = self.manager.environment(), switch.log
        switch.sandbox = sandbox.enter(UNIT, (self.dir / 'run', self.dir / 'state'))
        switch.launch()
        self.manager.wait('READY=1')
        for name in ('packet', 'xdp', 'roce', 'tap'):
            switch.wait_link(name)
        for name in ('memif', 'vhost'):
            self.assertTrue(switch.port(name)['present'], switch.log())
        self.assertEqual(hosts[0].ping(hosts[1]), 3, switch.log())
        status = Path(f'/proc/{switch.process.pid}/status').read_text()
        fields = dict(line.split(':\t', 1) for line in status.splitlines())
        self.assertEqual((fields['NoNewPrivs'], fields['Seccomp']), ('1', '2'))
        wanted = dict(sandbox.read(UNIT))['CapabilityBoundingSet'].split()
        self.assertEqual(int(fields['CapBnd'], 16).bit_count(), len(wanted))
        self.assertEqual(int(fields['CapEff'], 16), int(fields['CapBnd'], 16))
        mounts = Path(f'/proc/{switch.process.pid}/mountinfo').read_text().splitlines()
        self.assertTrue(all(line.split()[5].startswith('ro') for line in mounts if line.split()[4] == '/'))
        self.assert_conserved(switch)


if __name__ == '__main__':
    lab.main()
