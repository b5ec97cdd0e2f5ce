#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Routed traffic over the members of a group: balance by each field, members that fail and come back."""
import sys

sys.dont_write_bytecode = True
import field
from field import frame, name

SRC, PATHS = 0, (1, 2, 3, 4)
ROUTER_MAC = '02:aa:00:00:00:01'
# 25 % of 625 flows a path are 6.25 deviations of a binomial share.
FLOWS = 625 * len(PATHS)
TOLERANCE = 0.25
VARIED = {
    'src_port': lambda i: {'ports': (1024 + i, 4791)},
    'dst_port': lambda i: {'ports': (50000, 1024 + i)},
    'src_ip': lambda i: {'ends': (0x0a4d0000 + i, 0x0b000001)},
    'dst_ip': lambda i: {'ends': (0x0a4d0001, 0x0b000000 + i)},
}

CONFIG = field.lab.LOSSY.replace('descriptors = 4096;', 'descriptors = 16384;') + f'''
router_mac = "{ROUTER_MAC}";
vlan = (
  {{ id = 10; untagged = "{name(SRC)}"; }},
''' + ',\n'.join(f'  {{ id = {20 + p}; untagged = "{name(p)}"; }}' for p in PATHS) + ''');
interface = ({ vlan = 10; address = "10.77.0.254/16"; },
''' + ',\n'.join(f'  {{ vlan = {20 + p}; address = "10.{80 + p}.0.1/24"; }}' for p in PATHS) + ''');
next_hop = (
''' + ',\n'.join(f'  {{ group = "far"; port = "{name(p)}"; mac = "02:00:00:00:77:{p + 1:02x}"; }}'
                for p in PATHS) + ''');
route = ({ prefix = "11.0.0.0/8"; via = "far"; });
'''


class EcmpBalance(field.FieldTest):
    PORTS, CONFIG, SPEED = 5, CONFIG, ''

    @classmethod
    def know_addresses(cls):
        """The next hops are configured."""

    def flows(self, what, count=FLOWS):
        """Sends a frame of each flow; returns how many left on each path."""
        before = self.look()
        peer = self.peers[SRC]
        taken = self.taken_in(SRC)
        for i in range(count):
            peer.raw.send(frame(peer.mac, ROUTER_MAC, 100, **{'ends': (0x0a4d0001, 0x0b000001), **VARIED[what](i)}))
            if i % field.BATCH == field.BATCH - 1 or i == count - 1:
                field.wait_for(lambda: self.taken_in(SRC) == taken + i + 1, 10, f'{i + 1} frames taken in')
        self.drain()
        now = self.look()
        key = lambda p: (p, 'port', 0, 'if_out_ucast_pkts')
        return [now[key(p)] - before[key(p)] for p in PATHS]

    def assert_balanced(self, counts, total=FLOWS):
        self.assertEqual(sum(counts), total)
        used = [c for c in counts if c]
        for count in used:
            self.assertLessEqual(abs(count - total / len(used)), TOLERANCE * total / len(used), counts)

    def balance(self, what):
        counts = self.flows(what)
        self.assertEqual(sum(1 for c in counts if c), len(PATHS))
        self.assert_balanced(counts)
        self.assertEqual(self.drops(), {})

    def test_ecmp_balance_src_port(self):
        self.balance('src_port')

    def test_ecmp_balance_dst_port(self):
        self.balance('dst_port')

    def test_ecmp_balance_src_ip(self):
        self.balance('src_ip')

    def test_ecmp_balance_dst_ip(self):
        self.balance('dst_ip')

    def placement(self):
        """Which path each of 400 flows takes, seen at the peers."""
        for peer in self.peers:
            peer.received()
        self.flows('src_port', 400)
        return {int.from_bytes(f[34:36], 'big'): p for p in PATHS for f in self.peers[p].data()}

    def test_ecmp_group_member_flap(self):
        """A member that fails gives its flows to the others, theirs stay; when it is back it has its own again."""
        gone = PATHS[1]
        before = self.placement()
        self.assertEqual(len(before), 400)
        self.peers[gone].link(False)
        self.switch.wait_link(name(gone), up=False)
        without = self.placement()
        self.assertEqual(len(without), 400)
        self.assertNotIn(gone, without.values())
        self.assertEqual({f: p for f, p in without.items() if before[f] != gone},
                         {f: p for f, p in before.items() if p != gone})
        self.assert_balanced([list(without.values()).count(p) for p in PATHS], 400)
        self.peers[gone].link(True)
        self.switch.wait_link(name(gone))
        self.assertEqual(self.placement(), before)
        self.assertEqual(self.drops(), {})


if __name__ == '__main__':
    field.main()
