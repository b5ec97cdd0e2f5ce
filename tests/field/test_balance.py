#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Routed traffic over the members of a group: balance by each field, members that fail and come back."""
import struct
import sys

sys.dont_write_bytecode = True
import field
import lab
from field import frame, name

SRC, PATHS = 0, (1, 2, 3, 4)
ROUTER_MAC = '02:aa:00:00:00:01'
# 25 % of 625 flows a path are 6.25 deviations of a binomial share.
FLOWS = 625 * len(PATHS)
TOLERANCE = 0.25
PLACED = 400      # flows whose paths are compared
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


def outer(protocol, inner):
    """A frame whose packet carries `inner`, always between the same ends."""
    head = frame('02:00:00:00:77:01', ROUTER_MAC, 60, ends=(0x0a4d0001, 0x0b000001))[:34]
    ip = struct.pack('!BBHHHBBHII', 0x45, 0, 20 + len(inner), 0, 0x4000, 64, protocol, 0, 0x0a4d0001, 0x0b000001)
    return head[:14] + ip[:10] + struct.pack('!H', lab.checksum(ip)) + ip[12:] + inner


TUNNELS = {
    'vxlan': lambda f: outer(17, struct.pack('!HHHHII', 50000, 4789, 16 + len(f), 0, 0x08000000, 77 << 8) + f),
    'nvgre': lambda f: outer(47, struct.pack('!HHI', 0x2000, 0x6558, 77 << 8) + f),
    'ipinip': lambda f: outer(4, f[14:]),
    'gre': lambda f: outer(47, struct.pack('!HH', 0, 0x0800) + f[14:]),
}


class Balanced(field.FieldTest):
    PORTS, CONFIG, SPEED = 5, CONFIG, ''

    @classmethod
    def know_addresses(cls):
        """The next hops are configured."""

    def target(self):
        return ROUTER_MAC

    def flows(self, what, count=FLOWS, wrap=lambda sent: sent):
        """Sends a frame of each flow, in a tunnel or as it is; returns how many left on each path."""
        before = self.look()
        peer = self.peers[SRC]
        taken = self.taken_in(SRC)
        for i in range(count):
            fields = {'ends': (0x0a4d0001, 0x0b000001), **VARIED[what](i)}
            peer.raw.send(wrap(frame(peer.mac, self.target(), 100, **fields)))
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

    def placement(self):
        """Which path each of some flows takes, seen at the peers."""
        for peer in self.peers:
            peer.received()
        self.flows('src_port', PLACED)
        return {int.from_bytes(f[34:36], 'big'): p for p in PATHS for f in self.peers[p].data()
                if f[12:14] == b'\x08\x00'}

    def member_flap(self):
        """A member that fails gives its flows to the others, theirs stay; when it is back it has its own again."""
        gone = PATHS[1]
        before = self.placement()
        self.assertEqual(len(before), PLACED)
        self.peers[gone].link(False)
        self.switch.wait_link(name(gone), up=False)
        without = self.placement()
        self.assertEqual(len(without), PLACED)
        self.assertNotIn(gone, without.values())
        self.assertEqual({f: p for f, p in without.items() if before[f] != gone},
                         {f: p for f, p in before.items() if p != gone})
        self.assert_balanced([list(without.values()).count(p) for p in PATHS], PLACED)
        self.peers[gone].link(True)
        self.switch.wait_link(name(gone))
        self.assertEqual(self.placement(), before)
        self.assertEqual(self.drops(), {})


class EcmpBalance(Balanced):
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

    def inner_hashing(self, tunnel):
        """Flows inside a tunnel spread by what is inside; without inner fields they could not."""
        for what in VARIED:
            with self.subTest(what=what):
                counts = self.flows(what, wrap=TUNNELS[tunnel])
                self.assertEqual(sum(1 for c in counts if c), len(PATHS))
                self.assert_balanced(counts)
        self.assertEqual(self.drops(), {})

    def test_inner_hashing_vxlan(self):
        self.inner_hashing('vxlan')

    def test_inner_hashing_nvgre(self):
        self.inner_hashing('nvgre')

    def test_inner_hashing_ipinip(self):
        self.inner_hashing('ipinip')

    def test_inner_hashing_gre(self):
        self.inner_hashing('gre')

    def test_one_flow_one_path(self):
        """Frames of one flow, plain or in any tunnel, never take two paths."""
        for tunnel in (lambda f: f, *TUNNELS.values()):
            before = self.look()
            sent = tunnel(frame(self.peers[SRC].mac, ROUTER_MAC, 100, ends=(0x0a4d0001, 0x0b000001)))
            taken = self.taken_in(SRC)
            for _ in range(50):
                self.peers[SRC].raw.send(sent)
            field.wait_for(lambda: self.taken_in(SRC) == taken + 50, 10, 'taken in')
            self.drain()
            now = self.look()
            key = lambda p: (p, 'port', 0, 'if_out_ucast_pkts')
            self.assertEqual(sorted(now[key(p)] - before[key(p)] for p in PATHS), [0, 0, 0, 50])

    def test_placement_after_a_restart(self):
        """A new process, of the same configuration, puts each flow where the old one had it."""
        before = self.placement()
        self.assertEqual((len(before), set(before.values())), (PLACED, set(PATHS)))
        self.restart()
        self.assertEqual(self.placement(), before)

    def test_ecmp_group_member_flap(self):
        self.member_flap()

    def test_ecmp_group_member_flap_under_traffic(self):
        """The same while frames keep coming: what was sent is what came, but for frames queued at the port."""
        gone = PATHS[1]
        counts = self.flows('src_port', 400)
        self.peers[gone].link(False)
        self.flows('src_port', 400)
        self.switch.wait_link(name(gone), up=False)
        without = self.flows('src_port', 400)
        self.assertEqual((sum(without), without[1]), (400, 0))
        self.peers[gone].link(True)
        self.switch.wait_link(name(gone))
        self.assertEqual(self.flows('src_port', 400), counts)
        self.assertLessEqual({reason for _, reason in self.drops()}, {'EGRESS_DOWN', 'LINK_FLUSH', 'TX_REFUSED'})


class Growing(Balanced):
    """The last next hop is known by its address alone, which nobody has at first."""
    LAST = PATHS[-1]
    ADDRESS = f'10.{80 + LAST}.0.2'
    CONFIG = CONFIG.replace(f'port = "{name(LAST)}"; mac = "02:00:00:00:77:{LAST + 1:02x}"', f'address = "{ADDRESS}"')

    def test_group_members_increment(self):
        """Three members become four when the fourth answers: only flows that it takes move, and shares are
        those of four."""
        before = self.placement()
        self.assertEqual((len(before), set(before.values())), (PLACED, set(PATHS[:-1])))
        lab.run('ip', '-n', self.peers[self.LAST].name, 'addr', 'add', f'{self.ADDRESS}/24', 'dev', 'eth0')
        states = lambda: [member['state'] for member in self.switch.get('/v1/group')['members']]
        field.wait_for(lambda: states() == ['up'] * len(PATHS), 60, states)
        after = self.placement()
        moved = {flow for flow in before if after[flow] != before[flow]}
        self.assertEqual({after[flow] for flow in moved}, {self.LAST})
        self.assertEqual(moved, {flow for flow in after if after[flow] == self.LAST})
        self.assert_balanced([list(after.values()).count(p) for p in PATHS], PLACED)


MEMBERS = ' '.join(name(p) for p in PATHS)


class LagSwitch(Balanced):
    """The same four ports as one LAG, and a host behind it."""
    CONFIG = (field.lab.LOSSY.replace('descriptors = 4096;', 'descriptors = 16384;') +
              f'lag = ({{ name = "PortChannel1"; members = "{MEMBERS}"; }});\n')

    @classmethod
    def know_addresses(cls):
        cls.state_file(f'{cls.peers[PATHS[0]].mac} 1 PortChannel1\n')

    def target(self):
        return self.peers[PATHS[0]].mac


class LagBalance(LagSwitch):
    def test_lag_hash(self):
        for what in VARIED:
            with self.subTest(what=what):
                counts = self.flows(what)
                self.assertEqual(sum(1 for c in counts if c), len(PATHS))
                self.assert_balanced(counts)
        self.assertEqual(self.drops(), {})

    def test_lag_member_flap(self):
        self.member_flap()


if __name__ == '__main__':
    field.main()
