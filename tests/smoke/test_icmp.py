#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What kernels are told about packets that the switch does not route: the peer is their own ICMP."""
import re
import socket
import subprocess
import sys

sys.dont_write_bytecode = True
import lab
import test_route

MTU_A, MTU_B = 9000, 1500
NOBODY = ('10.2.0.77', 'fd00:2::77')    # in the network of host b
IP_MTU_DISCOVER, IP_PMTUDISC_DO, IP_MTU = 10, 2, 14     # of Linux, not in the socket module
ROCE = 4791


class Icmp(lab.SmokeTest):
    """Host a on a link of 9000 bytes, host b behind one of 1500; a route to nowhere, none to 99.0.0.0."""

    def setUp(self):
        super().setUp()
        self.a, self.b = (test_route.Host(self, number, number) for number in (1, 2))
        for side in (('link', 'set', self.a.port), ('-n', self.a.name, 'link', 'set', 'eth0')):
            lab.run('ip', *side, 'mtu', str(MTU_A))

    def start(self, more=''):
        ports = [f'name = "Ethernet{4 * i}"; devargs = "net_af_packet{i},iface={host.port}"; mtu = {mtu}; '
                 for i, (host, mtu) in enumerate(((self.a, MTU_A), (self.b, MTU_B)))]
        tables = '''
router_mac = "02:aa:00:00:00:01";
vlan = ({ id = 10; untagged = "Ethernet0"; }, { id = 20; untagged = "Ethernet4"; });
interface = (
	{ vlan = 10; address = "10.1.0.1/24"; }, { vlan = 10; address = "fd00:1::1/64"; },
	{ vlan = 20; address = "10.2.0.1/24"; }, { vlan = 20; address = "fd00:2::1/64"; });
route = ({ prefix = "11.9.0.0/16"; via = "drop"; });
'''
        switch = lab.Switch(self, f'icmp{self.a.index}', ports, lab.LOSSY + tables + more).start()
        for i in range(len(ports)):
            switch.wait_link(f'Ethernet{4 * i}')
        for address in (self.b.ipv4, self.b.ipv6):
            self.assertTrue(self.a.hops(address), address)
        return switch

    def ping(self, address, *argv, count=2):
        return subprocess.run(['ip', 'netns', 'exec', self.a.name, 'ping', '-n', '-c', str(count), '-i', '0.2',
                               '-W', '2', *argv, address], capture_output=True, text=True, check=False,
                              timeout=60).stdout

    @staticmethod
    def counters(switch):
        return switch.get('/v1/stats')['switch']

    @staticmethod
    def drops(switch, reason):
        return switch.port('Ethernet0')['drops'].get(reason, 0)

    def test_no_hop_left(self):
        """As traceroute asks: the first hop is the gateway."""
        switch = self.start()
        for address, gateway in zip((self.b.ipv4, self.b.ipv6), self.a.gateways):
            self.assertRegex(self.ping(address, '-t', '1'),
                             f'From {gateway} icmp_seq=1 Time (to live exceeded|exceeded: Hop limit)')
            self.assertIn('bytes from', self.ping(address, '-t', '2'))
        self.assertEqual(self.drops(switch, 'TTL_EXPIRED'), 4)
        self.assertEqual(self.counters(switch)['icmp_sent'], 4)
        self.assert_conserved(switch)

    def test_unreachable(self):
        switch = self.start()
        for address, gateway, text in (
                ('99.0.0.1', 0, 'Destination Net Unreachable'), (NOBODY[0], 0, 'Destination Host Unreachable'),
                ('fd00:9::1', 1, 'Destination unreachable: No route'),
                (NOBODY[1], 1, 'Destination unreachable: Address unreachable')):
            self.assertIn(f'From {self.a.gateways[gateway]} icmp_seq=1 {text}', self.ping(address, '-W', '4'))
        self.assertNotIn('From', self.ping('11.9.0.1'), 'a route that says drop is silent')
        self.assertEqual(self.drops(switch, 'NO_ROUTE'), 4)
        self.assertEqual(self.drops(switch, 'BLACK_HOLE'), 2)
        self.assertGreaterEqual(self.drops(switch, 'UNKNOWN_NEIGHBOR'), 2)
        self.assert_conserved(switch)

    def test_too_big_ipv4(self):
        switch = self.start()
        out = self.ping(self.b.ipv4, '-M', 'do', '-s', '8000', count=1)
        self.assertRegex(out, rf'From {self.a.gateways[0]} icmp_seq=1 Frag needed and DF set \(mtu = {MTU_B}\)')
        self.assertEqual(self.drops(switch, 'EXCEEDS_L3_MTU'), 1)
        self.assertIn(f'mtu {MTU_B}', lab.run('ip', '-n', self.a.name, 'route', 'get', self.b.ipv4))
        self.assertIn('bytes from', self.ping(self.b.ipv4, '-M', 'do', '-s', '1472'), 'the longest that fits')
        self.assert_conserved(switch)

    def test_may_be_fragmented(self):
        """The switch fragments nothing, and says nothing where fragments are allowed."""
        switch = self.start()
        with lab.inside(self.a.name):
            udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(udp.close)
        udp.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, 0)
        udp.sendto(bytes(4000), (self.b.ipv4, ROCE))
        lab.wait_for(lambda: self.drops(switch, 'EXCEEDS_L3_MTU') == 1, 10, 'the drop')
        # Answers are made in the order of what they answer: the second would be behind the first.
        self.assertIn('Frag needed', self.ping(self.b.ipv4, '-M', 'do', '-s', '4000', count=1))
        self.assertEqual(self.drops(switch, 'EXCEEDS_L3_MTU'), 2)
        self.assertEqual(self.counters(switch)['icmp_sent'], 1)
        self.assert_conserved(switch)

    def test_too_big_for_roce(self):
        """A datagram of RoCE's port is answered like any other: the socket learns the MTU."""
        switch = self.start()
        with lab.inside(self.a.name):
            udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(udp.close)
        udp.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO)
        udp.connect((self.b.ipv4, ROCE))
        self.assertEqual(udp.getsockopt(socket.IPPROTO_IP, IP_MTU), MTU_A)
        udp.send(bytes(4096))
        lab.wait_for(lambda: udp.getsockopt(socket.IPPROTO_IP, IP_MTU) == MTU_B, 10, 'the path MTU')
        self.assertEqual(self.drops(switch, 'EXCEEDS_L3_MTU'), 1)
        self.assert_conserved(switch)

    def test_too_big_ipv6(self):
        """The first is lost, then the host fragments by itself."""
        switch = self.start()
        out = self.ping(self.b.ipv6, '-M', 'do', '-s', '8000', count=1)
        self.assertRegex(out, rf'From {self.a.gateways[1]} icmp_seq=1 Packet too big: mtu[ =]+{MTU_B}')
        self.assertIn(f'mtu {MTU_B}', lab.run('ip', '-n', self.a.name, '-6', 'route', 'get', self.b.ipv6))
        self.assertIn('bytes from', self.ping(self.b.ipv6, '-s', '4000'))
        self.assert_conserved(switch)

    def test_policed(self):
        """A flood of packets without a route gets a few answers; every one of them is dropped and counted."""
        switch = self.start('icmp_rate = 50; icmp_source_rate = 20;\n')
        done = subprocess.run(['ip', 'netns', 'exec', self.a.name, 'ping', '-f', '-c', '2000', '-w', '2',
                               '99.0.0.1'], capture_output=True, text=True, check=False, timeout=30)
        sent = int(re.search(r'(\d+) packets transmitted', done.stdout)[1])
        lab.wait_for(lambda: self.drops(switch, 'NO_ROUTE') >= sent, 10, 'all are dropped')
        self.assertEqual(self.drops(switch, 'NO_ROUTE'), sent)

        def judged():
            counted = self.counters(switch)
            return counted if counted['icmp_sent'] + counted['icmp_policed'] >= sent else None
        counted = lab.wait_for(judged, 10, 'all are answered or policed')
        self.assertEqual(counted['icmp_sent'] + counted['icmp_policed'], sent)
        self.assertGreater(counted['icmp_sent'], 0)
        self.assertLessEqual(counted['icmp_sent'], 20 * 3 + 10)     # two seconds, and a burst
        self.assert_conserved(switch)


if __name__ == '__main__':
    lab.main()
