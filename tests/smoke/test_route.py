#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Routing between kernel hosts: two VLANs, the gateway itself, and a router behind two next hops."""
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
import lab

WEFT = sys.argv.pop(2)
ROUTER_MAC = '02:aa:00:00:00:01'
FAR = [f'11.0.0.{i}' for i in range(1, 25)]     # addresses behind the router
HOPS = 64       # that a kernel starts with

TABLES = '''
router_mac = "02:aa:00:00:00:01";
vlan = (
	{ id = 10; untagged = "Ethernet0"; },
	{ id = 20; untagged = "Ethernet4"; },
	{ id = 30; untagged = "Ethernet8"; },
	{ id = 40; untagged = "Ethernet12"; });
interface = (
	{ vlan = 10; address = "10.1.0.1/24"; }, { vlan = 10; address = "fd00:1::1/64"; },
	{ vlan = 20; address = "10.2.0.1/24"; }, { vlan = 20; address = "fd00:2::1/64"; },
	{ vlan = 30; address = "10.3.0.1/24"; },
	{ vlan = 40; address = "10.4.0.1/24"; });
next_hop = (
	{ group = "far"; port = "Ethernet8"; address = "10.3.0.2"; },
	{ group = "far"; port = "Ethernet12"; address = "10.4.0.2"; });
route = (
	{ prefix = "11.0.0.0/8"; via = "far"; },
	{ prefix = "11.9.0.0/16"; via = "drop"; });
'''

# a and c in VLAN 10, b in VLAN 20, all of them known.
MANAGED = """
router_mac = "02:aa:00:00:00:01";
forwarding = "managed";
edge_number = 1;
vlan = ({{ id = 10; untagged = "Ethernet0 Ethernet8"; }}, {{ id = 20; untagged = "Ethernet4"; }});
interface = (
	{{ vlan = 10; address = "10.1.0.1/24"; }}, {{ vlan = 10; address = "fd00:1::1/64"; }},
	{{ vlan = 20; address = "10.2.0.1/24"; }}, {{ vlan = 20; address = "fd00:2::1/64"; }});
host = (
	{{ mac = "{a.mac}"; vlan = 10; prefix = "{a.ipv4}/32"; edge = 1; port = 0; }},
	{{ mac = "{a.mac}"; vlan = 10; prefix = "{a.ipv6}/128"; edge = 1; port = 0; }},
	{{ mac = "{b.mac}"; vlan = 20; prefix = "{b.ipv4}/32"; edge = 1; port = 1; }},
	{{ mac = "{b.mac}"; vlan = 20; prefix = "{b.ipv6}/128"; edge = 1; port = 1; }},
	{{ mac = "{c.mac}"; vlan = 10; prefix = "10.1.0.3/32"; edge = 1; port = 2; }});
"""


class Host(lab.Host):
    """A host in network 10.`net`.0.0/24 and fd00:`net`::/64, with the switch as its gateway."""

    def __init__(self, test, number, net):
        super().__init__(test, number)
        self.net, self.ipv4, self.ipv6 = net, f'10.{net}.0.2', f'fd00:{net}::2'
        self.gateways = [f'10.{net}.0.1', f'fd00:{net}::1']
        self.ip('addr', 'flush', 'dev', 'eth0')
        self.run('sysctl', '-qw', 'net.ipv6.conf.eth0.disable_ipv6=0')
        self.ip('addr', 'add', f'{self.ipv4}/24', 'dev', 'eth0')
        self.ip('addr', 'add', f'{self.ipv6}/64', 'dev', 'eth0', 'nodad')
        self.ip('link', 'set', 'lo', 'up')
        for gateway in self.gateways:
            self.ip('route', 'add', 'default', 'via', gateway)

    def ip(self, *argv):
        lab.run('ip', '-n', self.name, *argv)

    def hops(self, address, count=3):
        """The hops left in each answer."""
        done = subprocess.run(['ip', 'netns', 'exec', self.name, 'ping', '-c', str(count), '-i', '0.05',
                               '-W', '2', address], capture_output=True, text=True, check=False,
                              timeout=60)
        return [int(ttl) for ttl in re.findall(r'ttl=(\d+)', done.stdout)]

    def neighbor_mac(self, address):
        found = re.search(r'lladdr (\S+)', lab.run('ip', '-n', self.name, 'neigh', 'show', address))
        return found and found[1]


class Router(lab.Host):
    """A kernel that is reached over two cables, 10.3.0.2 and 10.4.0.2, and has the far addresses."""

    def __init__(self, test, number):
        super().__init__(test, number)
        self.port1 = f'{self.port}x'
        lab.run('ip', 'link', 'add', self.port1, 'index', str(self.next_index()), 'type', 'veth',
                'peer', 'name', 'eth1', 'netns', self.name)
        test.addCleanup(subprocess.run, ['ip', 'link', 'del', self.port1], capture_output=True,
                        check=False, timeout=30)
        Path(f'/proc/sys/net/ipv6/conf/{self.port1}/disable_ipv6').write_text('1')
        lab.run('ip', 'link', 'set', self.port1, 'up')
        self.run('ethtool', '-K', 'eth1', 'tx', 'off', 'gso', 'off', 'tso', 'off')
        self.run('sysctl', '-qw', 'net.ipv4.conf.all.rp_filter=0', 'net.ipv4.conf.eth0.rp_filter=0',
                 'net.ipv4.conf.eth1.rp_filter=0', 'net.ipv4.conf.all.arp_ignore=1')
        self.ip('addr', 'flush', 'dev', 'eth0')
        for device, net in (('eth0', 3), ('eth1', 4)):
            self.ip('addr', 'add', f'10.{net}.0.2/24', 'dev', device)
            self.ip('link', 'set', device, 'up')
        self.ip('link', 'set', 'lo', 'up')
        for address in FAR:
            self.ip('addr', 'add', f'{address}/32', 'dev', 'lo')
        self.ip('route', 'add', 'default', 'nexthop', 'via', '10.3.0.1', 'nexthop', 'via', '10.4.0.1')

    def ip(self, *argv):
        lab.run('ip', '-n', self.name, *argv)


class Route(lab.SmokeTest):
    def setUp(self):
        super().setUp()
        self.a, self.b = Host(self, 1, 1), Host(self, 2, 2)
        self.router = Router(self, 3)

    def start(self, tables=TABLES):
        devices = (self.a.port, self.b.port, self.router.port, self.router.port1)
        ports = [f'name = "Ethernet{4 * i}"; devargs = "net_af_packet{i},iface={device}"; mtu = 1500; '
                 for i, device in enumerate(devices)]
        switch = lab.Switch(self, f'route{os.getpid()}', ports, lab.LOSSY + tables).start()
        for i in range(len(ports)):
            switch.wait_link(f'Ethernet{4 * i}')
        return switch

    def weft(self, switch, *words):
        return json.loads(lab.weft(WEFT, self.dir, '-n', switch.name, '--json', *words))

    def member_states(self, switch):
        return [m['state'] for m in self.weft(switch, 'show', 'group')['members']]

    def wait_members(self, switch, *states):
        lab.wait_for(lambda: self.member_states(switch) == list(states), 30,
                     f'members {states}, have {self.weft(switch, "show", "group")}')

    def test_between_networks(self):
        """Both families, a hop less each way, and every neighbour shown."""
        a, b = self.a, self.b
        switch = self.start()
        self.assertEqual(a.hops(b.ipv4), [HOPS - 1] * 3)
        self.assertEqual(a.hops(b.ipv6), [HOPS - 1] * 3)
        self.assertEqual(b.hops(a.ipv4), [HOPS - 1] * 3)
        self.assertEqual(b.hops(a.ipv6), [HOPS - 1] * 3)
        self.assertEqual([a.neighbor_mac(g) for g in a.gateways], [ROUTER_MAC] * 2)
        known = {(n['address'], n['vlan'], n['mac'], n['port'], n['type'])
                 for n in self.weft(switch, 'show', 'arp')['neighbors']}
        self.assertLessEqual({(h.ipv4, 10 * h.net, h.mac, f'Ethernet{4 * h.net - 4}', 'learned')
                              for h in (a, b)} |
                             {(h.ipv6, 10 * h.net, h.mac, f'Ethernet{4 * h.net - 4}', 'learned')
                              for h in (a, b)}, known)
        # 3 requests and 3 replies in each of 4 runs
        self.assertEqual(switch.get('/v1/stats')['switch']['routed_packets'], 24)
        self.assert_conserved(switch)

    def test_gateway(self):
        """The gateway answers for all of its addresses, and no more than a hundred a second."""
        switch = self.start()
        for address in ('10.1.0.1', 'fd00:1::1', '10.2.0.1', 'fd00:2::1'):
            self.assertEqual(self.a.hops(address), [HOPS] * 3, address)
        done = subprocess.run(['ip', 'netns', 'exec', self.a.name, 'ping', '-f', '-c', '2000', '-w', '1',
                               '10.1.0.1'], capture_output=True, text=True, check=False, timeout=30)
        received = int(re.search(r'(\d+) received', done.stdout)[1])
        self.assertGreater(received, 0)
        self.assertLessEqual(received, 300)     # a second of it touches two, rarely three
        self.assert_conserved(switch)

    def probe(self, raw, target):
        """Host a looks for a duplicate of an address, by ARP."""
        mac = self.a.mac.replace(':', '')
        raw.send(bytes.fromhex(f'ffffffffffff{mac}08060001080006040001{mac}00000000{12 * "0"}{target}'))

    @staticmethod
    def first_reply(raw):
        """Sender of the first ARP reply that host a gets: MAC and IPv4 address."""
        raw.settimeout(5)
        end = time.monotonic() + 5
        while time.monotonic() < end:
            frame = raw.recv(2048)
            if frame[12:14] == b'\x08\x06' and frame[20:22] == b'\x00\x02':
                return frame[22:32]
        raise AssertionError('no ARP reply among other frames within 5 s')

    def test_duplicate_address(self):
        """Who takes the gateway's address for its own is told so."""
        switch = self.start()
        raw = self.a.raw_socket()
        self.probe(raw, '0a010001')
        self.assertEqual(self.first_reply(raw), bytes.fromhex(ROUTER_MAC.replace(':', '') + '0a010001'))
        self.assert_conserved(switch)

    def test_routes(self):
        switch = self.start()
        self.wait_members(switch, 'up', 'up')
        routes = {r['prefix']: (r['type'], r['via']) for r in self.weft(switch, 'show', 'route')['routes']}
        self.assertEqual(routes['11.0.0.0/8'], ('static', 'far'))
        self.assertEqual(routes['11.9.0.0/16'], ('blackhole', None))
        self.assertEqual(routes['10.1.0.0/24'], ('connected', None))
        self.assertEqual(routes['fd00:2::1/128'], ('local', None))
        for asked, prefix in (('11.9.1.1', '11.9.0.0/16'), ('11.0.0.0/8', '11.0.0.0/8'),
                              ('fd00:1::77', 'fd00:1::/64')):
            found = self.weft(switch, 'show', 'route', asked)['routes']
            self.assertEqual([r['prefix'] for r in found], [prefix], asked)
        self.assertEqual(self.weft(switch, 'show', 'route', '99.0.0.1')['routes'], [])
        self.assert_conserved(switch)

    def tx(self, switch):
        return [switch.port(name)['stats']['if_out_ucast_pkts'] for name in ('Ethernet8', 'Ethernet12')]

    def reached(self):
        return sum(len(self.a.hops(address, count=1)) for address in FAR)

    def test_group(self):
        """Next hops are resolved by the switch; flows use both, and one that is cut leaves at once."""
        switch = self.start()
        self.wait_members(switch, 'up', 'up')
        before = self.tx(switch)
        self.assertEqual(self.reached(), len(FAR))
        self.assertTrue(all(x > y for x, y in zip(self.tx(switch), before)), self.tx(switch))
        self.router.ip('link', 'set', 'eth1', 'down')
        switch.wait_link('Ethernet12', up=False)
        self.wait_members(switch, 'up', 'down')
        before = self.tx(switch)
        self.assertEqual(self.reached(), len(FAR))
        after = self.tx(switch)
        self.assertGreaterEqual(after[0] - before[0], len(FAR))
        self.assertEqual(after[1], before[1])
        self.assertEqual(self.weft(switch, 'show', 'route', '11.0.0.1')['routes'][0]['usable_members'], 1)
        self.assert_conserved(switch)

    def test_managed(self):
        """Nothing is flooded: the switch answers for hosts with their real addresses, not for probes."""
        a, b, c = self.a, self.b, self.router
        c.ip('addr', 'add', '10.1.0.3/24', 'dev', 'eth0')
        switch = self.start(MANAGED.format(a=a, b=b, c=c))
        self.assertEqual(a.hops('10.1.0.3'), [HOPS] * 3)
        self.assertEqual(a.neighbor_mac('10.1.0.3'), c.mac)
        self.assertEqual(a.hops(b.ipv4), [HOPS - 1] * 3)
        self.assertEqual(a.hops(b.ipv6), [HOPS - 1] * 3)
        self.assertEqual(a.hops('10.1.0.1'), [HOPS] * 3)
        raw = a.raw_socket()
        self.probe(raw, '0a010003')
        self.probe(raw, '0a010001')     # frames keep their order
        self.assertEqual(self.first_reply(raw), bytes.fromhex(ROUTER_MAC.replace(':', '') + '0a010001'))
        self.assertEqual(self.weft(switch, 'show', 'arp')['neighbors'], [])
        self.assertEqual(self.weft(switch, 'show', 'mac')['entries'], [])
        self.assertEqual([p['stats']['if_out_non_ucast_pkts'] for p in switch.ports()], [0] * 4)
        self.assert_conserved(switch)

    def test_sonic_buildimage_19218(self):
        """What is hashed can be looked up, and what could be."""
        switch = self.start()
        shown = self.weft(switch, 'show', 'switch-hash', 'global')
        self.assertEqual({f['field'] for f in shown['fields']},
                         {'IP_PROTOCOL', 'DST_IP', 'SRC_IP', 'L4_DST_PORT', 'L4_SRC_PORT',
                          'RDMA_BTH_DEST_QP', 'INNER_DST_IP', 'INNER_SRC_IP', 'INNER_IP_PROTOCOL',
                          'INNER_L4_DST_PORT', 'INNER_L4_SRC_PORT'})
        can = self.weft(switch, 'show', 'switch-hash', 'capabilities')
        self.assertLess({f['field'] for f in shown['fields']}, {f['field'] for f in can['fields']})
        self.assertIn(shown['hash'][0]['algorithm'], [a['algorithm'] for a in can['algorithms']])

    def test_hash(self):
        """Seed, offset, algorithm and fields are what the configuration says, and do something."""
        switch = self.start(TABLES + 'ecmp_hash = "SRC_IP SRC_MAC"; ecmp_hash_algorithm = "CRC"; '
                                     'ecmp_hash_seed = 77; ecmp_hash_offset = 5;')
        shown = self.weft(switch, 'show', 'switch-hash', 'global')
        self.assertEqual(shown['hash'], [{'hash': 'ecmp', 'algorithm': 'CRC', 'seed': 77, 'offset': 5,
                                          'symmetric': False}])
        self.assertEqual([f['field'] for f in shown['fields']], ['SRC_MAC', 'SRC_IP'])
        self.wait_members(switch, 'up', 'up')
        before = self.tx(switch)
        self.assertEqual(self.reached(), len(FAR))
        # One source is one flow now, whatever its destination.
        used = [x - y >= len(FAR) for x, y in zip(self.tx(switch), before)]
        self.assertEqual(sorted(used), [False, True])


if __name__ == '__main__':
    lab.main()
