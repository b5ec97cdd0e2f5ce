#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Neighbours that stay, move, fall silent and come back; kernels answer, or are told not to."""
import json
import re
import socket
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import lab
import test_route

# Reachable for about a second; then it takes a delay of a sixth and two probes.
SHORT = ('neighbor_reachable_time = "1s"; neighbor_probe_interval = "200ms"; neighbor_probe_count = 2; '
         'solicit_time = "400ms";\n')
GONE_SECONDS = 20   # many times 1.5 + 0.2 + 0.4 s, on a machine that has other work too


class Neighbor(lab.SmokeTest):
    def setUp(self):
        super().setUp()
        self.a, self.b = (test_route.Host(self, number, number) for number in (1, 2))

    def start(self, tables, *more_ports):
        ports = [f'name = "Ethernet{4 * i}"; devargs = "net_af_packet{i},iface={device}"; mtu = 1500; '
                 for i, device in enumerate((self.a.port, self.b.port, *more_ports))]
        switch = lab.Switch(self, f'neighbor{self.a.index}', ports, lab.LOSSY + tables).start()
        for i in range(len(ports)):
            switch.wait_link(f'Ethernet{4 * i}')
        return switch

    def start_two(self, more=SHORT, length=24):
        return self.start(f'''
router_mac = "02:aa:00:00:00:01";
vlan = ({{ id = 10; untagged = "Ethernet0"; }}, {{ id = 20; untagged = "Ethernet4"; }});
interface = (
	{{ vlan = 10; address = "10.1.0.1/24"; }}, {{ vlan = 10; address = "fd00:1::1/64"; }},
	{{ vlan = 20; address = "10.2.0.1/{length}"; }}, {{ vlan = 20; address = "fd00:2::1/64"; }});
{more}''')

    def weft(self, switch, *words):
        return json.loads(lab.run(test_route.WEFT, '--run-dir', str(self.dir / 'run'), '-n', switch.name,
                                  '--json', *words))

    def shown(self, switch, address):
        """The row of an address, or None."""
        return next((row for row in self.weft(switch, 'show', 'arp')['neighbors']
                     if row['address'] == address), None)

    @staticmethod
    def counters(switch):
        return switch.get('/v1/stats')['switch']

    def ping(self, address, count, interval='0.05'):
        """Sent, answered, and what ping said."""
        out = subprocess.run(['ip', 'netns', 'exec', self.a.name, 'ping', '-n', '-c', str(count), '-i', interval,
                              '-W', '2', address], capture_output=True, text=True, check=False,
                             timeout=90).stdout
        sent, got = re.search(r'(\d+) packets transmitted, (\d+) received', out).groups()
        return int(sent), int(got), out

    def ignore_arp(self, host, device, ignore):
        host.run('sysctl', '-qw', f'net.ipv4.conf.{device}.arp_ignore={8 if ignore else 0}')

    def test_in_use(self):
        """Traffic over many reachable times, of both families: probed again and again, nothing lost."""
        switch = self.start_two()
        for address in (self.b.ipv4, self.b.ipv6):
            self.ping(address, 1)
            sent, got, out = self.ping(address, 120)
            self.assertEqual(got, sent, out)
            row = self.shown(switch, address)
            self.assertIn(row['state'], ('reachable', 'stale', 'delay', 'probe'), row)
            self.assertEqual((row['mac'], row['vlan'], row['type']), (self.b.mac, 20, 'learned'))
        counted = self.counters(switch)
        self.assertGreater(counted['neighbor_probes'], 4)
        self.assertEqual(counted['neighbor_dead'], 0)
        self.assert_conserved(switch)

    def test_silent(self):
        """A host that answers no question is given up, and asked for again when somebody wants it."""
        switch = self.start_two()
        self.assertEqual(self.ping(self.b.ipv4, 3)[1], 3)
        self.ignore_arp(self.b, 'eth0', True)
        pinger = subprocess.Popen(['ip', 'netns', 'exec', self.a.name, 'ping', '-n', '-i', '0.1', self.b.ipv4],
                                  stdout=subprocess.PIPE, text=True)
        self.addCleanup(pinger.kill)
        lab.wait_for(lambda: self.counters(switch)['neighbor_dead'] > 0, GONE_SECONDS, 'given up')
        asked = self.counters(switch)['solicited']
        lab.wait_for(lambda: self.counters(switch)['solicited'] > asked, GONE_SECONDS, 'asked for again')
        lab.wait_for(lambda: self.counters(switch)['icmp_sent'] > 0, GONE_SECONDS, 'the sender is told')
        self.ignore_arp(self.b, 'eth0', False)
        lab.wait_for(lambda: (self.shown(switch, self.b.ipv4) or {}).get('mac') == self.b.mac, GONE_SECONDS,
                     'found again')
        pinger.terminate()
        self.assertIn('Destination Host Unreachable', pinger.communicate(timeout=30)[0])
        lab.wait_for(lambda: self.ping(self.b.ipv4, 1)[1] == 1, GONE_SECONDS, 'reached again')
        self.assert_conserved(switch)

    def test_unused(self):
        """One that nobody sends to is forgotten without a question."""
        switch = self.start_two(SHORT + 'neighbor_stale_time = "1s";\n')
        self.assertEqual(self.ping(self.b.ipv4, 1)[1], 1)
        self.assertIsNotNone(self.shown(switch, self.b.ipv4))
        lab.wait_for(lambda: self.shown(switch, self.b.ipv4) is None, GONE_SECONDS, 'forgotten')
        self.assertEqual(self.counters(switch)['neighbor_dead'], 0)
        self.assertEqual(self.ping(self.b.ipv4, 2)[1], 2)
        self.assert_conserved(switch)

    def test_moves(self):
        """A host that announces another MAC address has it, although nobody asks for it. It says so again:
        it was found just now, and for a second nothing else is believed."""
        switch = self.start_two('')
        self.assertEqual(self.ping(self.b.ipv4, 1)[1], 1)
        mac = '02:00:00:00:78:02'
        self.b.run('sysctl', '-qw', 'net.ipv4.conf.eth0.arp_notify=1')

        def announced():
            self.b.ip('link', 'set', 'eth0', 'address', mac)
            return (self.shown(switch, self.b.ipv4) or {}).get('mac') == mac
        lab.wait_for(announced, 10, 'announced')
        lab.wait_for(lambda: self.ping(self.b.ipv4, 1)[1] == 1, 10, 'reached')
        self.assert_conserved(switch)

    def test_scan(self):
        """A scan of a /16 fills nothing, reaches the network as few questions, and disturbs nobody."""
        switch = self.start_two('', length=16)
        self.assertEqual(self.ping(self.b.ipv4, 1)[1], 1)
        with lab.inside(self.a.name):
            udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(udp.close)
        before, began = switch.port('Ethernet4')['stats'], time.monotonic()
        for i in range(1, 20000):
            try:
                udp.sendto(b'x', (f'10.2.{1 + i // 250}.{1 + i % 250}', 9))
            except OSError:     # an answer to an earlier one
                pass
        sent, got, out = self.ping(self.b.ipv4, 20)
        self.assertEqual(got, sent, out)
        counted, after = self.counters(switch), switch.port('Ethernet4')['stats']
        self.assertLessEqual(counted['neighbors_wanted'], 256)
        self.assertLessEqual(counted['neighbors'], 4)
        self.assertGreater(counted['solicit_policed'], 0)
        questions = after['if_out_non_ucast_pkts'] - before['if_out_non_ucast_pkts']
        self.assertGreater(questions, 50)
        self.assertLess(questions, 500 * (time.monotonic() - began) + 200)
        self.assert_conserved(switch)

    def test_next_hop(self):
        """A router that is silent leaves its group, though its link is up, and comes back."""
        router = test_route.Router(self, 3)
        switch = self.start(test_route.TABLES + SHORT, router.port, router.port1)

        def states():
            return [m['state'] for m in self.weft(switch, 'show', 'group')['members']]

        lab.wait_for(lambda: states() == ['up', 'up'], 30, 'both are found')
        self.ignore_arp(router, 'eth1', True)
        lab.wait_for(lambda: states()[0] == 'up' != states()[1], GONE_SECONDS, 'the second has left')
        self.assertEqual([self.ping(address, 1)[1] for address in test_route.FAR[:8]], [1] * 8)
        self.ignore_arp(router, 'eth1', False)
        lab.wait_for(lambda: states() == ['up', 'up'], GONE_SECONDS, 'it is back')
        self.assertEqual([self.ping(address, 1)[1] for address in test_route.FAR[:8]], [1] * 8)
        self.assert_conserved(switch)

    def test_shared_address(self):
        """Two routers that are fe80::1 on links of their own: both join, and stay while probed."""
        routers = [lab.Host(self, 3 + i) for i in range(2)]
        for router in routers:
            router.run('sysctl', '-qw', 'net.ipv6.conf.eth0.disable_ipv6=0')
            lab.run('ip', '-n', router.name, 'addr', 'add', 'fe80::1/64', 'dev', 'eth0', 'nodad')
        hops = ', '.join(f'{{ group = "up"; port = "Ethernet{port}"; address = "fe80::1"; }}' for port in (8, 12))
        switch = self.start(f'''
router_mac = "02:aa:00:00:00:01";
vlan = ({{ id = 10; untagged = "Ethernet0"; }}, {{ id = 30; untagged = "Ethernet8"; }},
	{{ id = 40; untagged = "Ethernet12"; }});
interface = ({{ vlan = 10; address = "fd00:1::1/64"; }});
next_hop = ({hops});
route = ({{ prefix = "fd00:9::/32"; via = "up"; }});
{SHORT}''', *(router.port for router in routers))

        def members():
            return [(m['state'], m.get('mac')) for m in self.weft(switch, 'show', 'group')['members']]

        both = [('up', router.mac) for router in routers]
        lab.wait_for(lambda: members() == both, 30, 'both are found')
        probes = self.counters(switch)['neighbor_probes']
        lab.wait_for(lambda: self.counters(switch)['neighbor_probes'] > probes + 8, 60, 'they are probed')
        self.assertEqual(members(), both)
        counted = self.counters(switch)
        self.assertEqual((counted['neighbor_dead'], counted['neighbor_doubted']), (0, 0))
        self.assert_conserved(switch)


if __name__ == '__main__':
    lab.main()
