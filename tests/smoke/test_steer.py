#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A NIC for two: the switch takes RoCE and PFC of an interface and the kernel keeps its TCP."""
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import types

sys.dont_write_bytecode = True
import lab

ROCE_PORT = 4791
BLOB = os.urandom(1 << 18)


def roce_frame(src, dst, number):
    frame = bytearray(lab.udp_frame(src, dst, 200, number=number))
    frame[36:38] = ROCE_PORT.to_bytes(2, 'big')
    return bytes(frame)


def pfc_frame(src, priority):
    return (bytes.fromhex('0180c2000001' + src.replace(':', '') + '88080101') +
            (1 << priority).to_bytes(2, 'big') + b'\0\1' * 8).ljust(60, b'\0')


class SwitchInside(lab.Switch):
    """A switch in a network namespace of its own, which its ports are moved to."""

    def __init__(self, test, name, hosts, ports):
        super().__init__(test, name, ports)
        self.namespace = f'weft-smoke-sw{os.getpid()}'
        lab.run('ip', 'netns', 'add', self.namespace)
        test.addCleanup(lab.run, 'ip', 'netns', 'del', self.namespace)
        for host in hosts:
            lab.run('ip', 'link', 'set', host.port, 'netns', self.namespace)
            self.ip('link', 'set', host.port, 'up')

    def argv(self, *args):
        return ['ip', 'netns', 'exec', self.namespace, *super().argv(*args)]

    def ip(self, *argv):
        return lab.run('ip', '-n', self.namespace, *argv)


class Steer(lab.SmokeTest):
    def setUp(self):
        super().setUp()
        self.a, self.b = lab.Host(self, 1), lab.Host(self, 2)
        self.switch = SwitchInside(self, f'steer{os.getpid()}', (self.a, self.b), self.ports('roce'))
        # The kernel's end of the shared cable, and who talks to it.
        for family in ('10.78.0.{}/24', 'fd00:78::{}/64'):
            more = ('nodad',) if ':' in family else ()
            for namespace, device, number in ((self.switch.namespace, self.a.port, 1),
                                              (self.a.name, 'eth0', 2)):
                lab.run('ip', 'netns', 'exec', namespace, 'sysctl', '-qw',
                        f'net.ipv6.conf.{device}.disable_ipv6=0')
                lab.run('ip', '-n', namespace, 'addr', 'add', family.format(number), 'dev', device, *more)
        self.raw = {host: host.raw_socket() for host in (self.a, self.b)}
        self.sent = 0

    def ports(self, steer):
        more = 'steer_prefixes = "10.77.0.0/24";' if steer == 'roce' else ''
        return [f'name = "E0"; devargs = "net_af_xdp0,iface={self.a.port}"; mtu = 1500; '
                f'steer = "{steer}"; {more}',
                f'name = "E1"; devargs = "net_af_xdp1,iface={self.b.port}"; mtu = 1500;']

    def start(self):
        self.switch.start()
        for name in ('E0', 'E1'):
            self.switch.wait_link(name)

    def tcp(self, server, client, address):
        """Moves BLOB from a client in one namespace to a server in another and back."""
        family = socket.AF_INET6 if ':' in address else socket.AF_INET
        with lab.inside(server):
            listener = socket.create_server((address, 0), family=family)
        with lab.inside(client):
            caller = socket.socket(family)
        caller.settimeout(10)
        listener.settimeout(10)

        def echo():
            peer, _ = listener.accept()
            with peer:
                peer.settimeout(10)
                for data in iter(lambda: peer.recv(4096), b''):
                    peer.sendall(data)

        with listener, caller:
            answering = threading.Thread(target=echo, daemon=True)
            answering.start()
            caller.connect(listener.getsockname())
            sender = threading.Thread(target=lambda: (caller.sendall(BLOB),
                                                      caller.shutdown(socket.SHUT_WR)), daemon=True)
            sender.start()
            got = b''.join(iter(lambda: caller.recv(65536), b''))
            answering.join(10)
        self.assertEqual(got, BLOB)

    def check_kernel(self):
        """TCP in both directions and of both families, from empty neighbour caches."""
        kernel, host = self.switch.namespace, self.a.name
        for namespace in (kernel, host):
            lab.run('ip', '-n', namespace, 'neigh', 'flush', 'all')
        self.tcp(kernel, host, '10.78.0.1')
        self.tcp(kernel, host, 'fd00:78::1')
        for namespace in (kernel, host):
            lab.run('ip', '-n', namespace, 'neigh', 'flush', 'all')
        self.tcp(host, kernel, '10.78.0.2')
        self.tcp(host, kernel, 'fd00:78::2')

    def check_switch(self):
        """ARP, addresses in the prefix, RoCE and PFC reach the switch."""
        self.a.run('ip', 'neigh', 'flush', 'all')
        self.assertEqual(self.a.ping(self.b), 3)
        self.raw[self.b].settimeout(10)
        for _ in range(5):
            self.sent += 1
            frame = roce_frame(self.a.mac, self.b.mac, self.sent)
            self.raw[self.a].send(frame)
            lab.wait_for(lambda: self.raw[self.b].recv(2048) == frame, 10, 'RoCE forwarded')
        before = self.switch.port('E0')['priorities'][3]['pfc_rx_pkts']
        self.raw[self.a].send(pfc_frame(self.a.mac, 3))
        lab.wait_for(lambda: self.switch.port('E0')['priorities'][3]['pfc_rx_pkts'] == before + 1, 10,
                     'PFC received')

    def counters(self):
        return {row['class']: (row['taken_packets'], row['left_packets'])
                for row in self.switch.port('E0')['steering']}

    def interface(self):
        return json.loads(self.switch.ip('-j', 'link', 'show', self.a.port))[0]

    def test_shared(self):
        self.check_kernel()
        mac = self.interface()['address']
        self.start()
        self.assertIn('xdp', self.interface())
        self.check_switch()
        self.check_kernel()
        counters = self.counters()
        self.assertEqual(counters['roce_v2'], (5, 0))
        self.assertEqual(counters['mac_control'], (1, 0))
        self.assertEqual(counters['malformed'], (0, 0))
        self.assertEqual(counters['prefix'], (3, 0))
        self.assertEqual(counters['own'][0], 0)
        for row in (counters['arp'][0], counters['arp'][1], counters['nd'][1], counters['own'][1]):
            self.assertGreater(row, 0, counters)
        self.assertEqual(self.switch.port('E1')['steering'], [])
        # An address that the kernel gets later is its own, also inside of the prefix.
        self.switch.ip('addr', 'add', '10.77.0.9/24', 'dev', self.a.port)
        own = counters['own'][1]
        lab.wait_for(lambda: self.a.ping(types.SimpleNamespace(address='10.77.0.9'), count=1), 10,
                     'own address known')
        self.assertGreater(self.counters()['own'][1], own)
        self.assert_conserved(self.switch)
        interface = self.interface()
        self.assertNotIn('xdp', interface)
        self.assertNotIn('PROMISC', interface['flags'])
        self.assertEqual(interface['address'], mac)
        self.check_kernel()

    def test_killed(self):
        """A killed switch leaves its program behind: the kernel goes on, the next switch replaces it."""
        self.start()
        self.check_switch()
        self.switch.stop(signal.SIGKILL)
        self.assertIn('xdp', self.interface())
        self.check_kernel()
        self.start()
        self.check_switch()
        self.check_kernel()
        # The same interface without sharing, and back.
        shared = self.switch.config.read_text()
        alone = shared.replace(self.ports('roce')[0], self.ports('all')[0])
        for text, name in ((alone, 'xsk_def_prog'), (shared, 'weft_steer')):
            self.switch.stop(signal.SIGKILL)
            self.switch.config.write_text(text)
            self.start()
            self.assertEqual(self.interface()['xdp']['prog']['name'], name)
            self.assertEqual(self.a.ping(self.b), 3)
        self.check_kernel()
        self.assert_conserved(self.switch)

    def test_one_at_a_time(self):
        """A second switch does not take the interface from one that is at work."""
        self.start()
        other = SwitchInside.__new__(SwitchInside)
        lab.Switch.__init__(other, self, f'other{os.getpid()}', self.ports('roce')[:1])
        other.namespace = self.switch.namespace
        other.start()
        lab.wait_for(lambda: 'another port steers this interface' in other.log(), 10, 'refusal')
        self.assertFalse(other.port('E0')['present'])
        self.check_switch()
        self.assertEqual(other.stop(), 0)
        self.assert_conserved(self.switch)

    def test_refused(self):
        rows = (
            ('name = "E0"; devargs = "net_af_packet0,iface=x"; mtu = 1500; steer = "roce";', 'net_af_xdp'),
            ('name = "E0"; devargs = "net_af_xdp0"; mtu = 1500; steer = "roce";', 'iface='),
            ('name = "E0"; devargs = "net_af_xdp0,iface=x,xdp_prog=y"; mtu = 1500; steer = "roce";',
             'xdp_prog='),
            ('name = "E0"; devargs = "net_af_xdp0,iface=x"; mtu = 1500; steer = "roce"; '
             'steer_prefixes = "10.0.0.1/8";', '10.0.0.1/8'),
            ('name = "E0"; devargs = "net_af_xdp0,iface=x"; mtu = 1500; steer_prefixes = "10.0.0.0/8";',
             'steer = "roce"'),
        )
        for port, word in rows:
            with self.subTest(port=port):
                switch = lab.Switch(self, 'check', [port])
                done = subprocess.run(switch.argv('--check'), capture_output=True, text=True,
                                      check=False, timeout=20)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(word, done.stderr)
                self.assertRegex(done.stderr, rf'{switch.config}:\d+: port E0: ')


if __name__ == '__main__':
    lab.main()
