#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A LAG of two links between two switches: LACP brings it up, a cut link leaves it and comes back, and
members are taken out and put in while it runs."""
import sys

sys.dont_write_bytecode = True
import lab
from lab import edit

MEMBERS = ('Ethernet4', 'Ethernet8')
LAG = ('lag: ( {{ name = "PortChannel1"; members = "Ethernet4 Ethernet8"; mode = "{mode}"; '
       'lacp_rate = "fast"; }} );\n')


# A port outside of the LAG is in no VLAN: the second link makes no loop.
VLAN = 'vlan = ( { id = 1; untagged = "Ethernet0 PortChannel1"; } );\n'


class Lag(lab.SmokeTest):
    """Host - left = right - host, in one process."""

    def path(self, mode, more=''):
        self.hosts = lab.Host(self, 1), lab.Host(self, 2)
        self.left, self.right = (lab.Switch(self, name, (
            lab.veth_port('Ethernet0', host, index),
            lab.link_port('Ethernet4', 'first'), lab.link_port('Ethernet8', 'second')),
            buffers=lab.LOSSY + LAG.format(mode=mode) + more)
            for index, (name, host) in enumerate(zip(('left', 'right'), self.hosts)))
        self.left.args = ('-c', self.right.config)
        self.left.start()
        self.left.wait_link('Ethernet0')
        self.right.wait_link('Ethernet0')

    def lag(self, switch):
        return switch.get('/v1/stats')['lags'][0]

    def selected(self, switch):
        return [m['name'] for m in self.lag(switch)['members'] if m['selected']]

    def wait_selected(self, *names):
        for switch in (self.left, self.right):
            lab.wait_for(lambda: self.selected(switch) == list(names), 20,
                         f'{switch.name}: members {names}')

    def members_come_and_go(self, mode):
        self.path(mode)
        self.wait_selected(*MEMBERS)
        self.assertEqual(self.hosts[0].ping(self.hosts[1]), 3)
        for port in MEMBERS:
            with self.subTest(cut=port):
                rest = [m for m in MEMBERS if m != port]
                status, _ = self.left.request('POST', f'/v1/link?cut=1&port={port}')
                self.assertEqual(status, 200)
                self.wait_selected(*rest)
                self.assertTrue(self.lag(self.left)['up'])
                self.assertEqual(self.hosts[0].ping(self.hosts[1]), 3)
                self.left.request('POST', f'/v1/link?heal=1&port={port}')
                self.wait_selected(*MEMBERS)
        self.assertEqual(self.hosts[1].ping(self.hosts[0]), 3)
        entries = self.left.get('/v1/mac')['entries']
        self.assertIn('PortChannel1', {entry['port'] for entry in entries})

    def end(self):
        self.assertEqual(self.left.stop(), 0)
        for name in ('left', 'right'):
            self.assertIn(f'{name}: every packet is accounted for', self.left.log())

    def set_lag(self, **knobs):
        """The same change of the LAG at both ends, which must be forced where it takes a port away."""
        reasons = []
        for switch in (self.left, self.right):
            status, answer = switch.change(edit('set', 'lag', 'PortChannel1', **knobs))
            if status == 409:
                reasons += answer['drops']
                status, answer = switch.change(edit('set', 'lag', 'PortChannel1', **knobs), force=True)
            self.assertEqual((status, answer['applied']), (200, True), answer)
        return '\n'.join(reasons)

    def members_change_live(self, mode):
        """One member goes and comes back, then the other; hosts talk over what is left."""
        self.path(mode, VLAN)
        self.wait_selected(*MEMBERS)
        for gone, rest in (MEMBERS, MEMBERS[::-1]):
            with self.subTest(gone=gone):
                said = self.set_lag(members=rest)
                self.assertEqual(said.count(f'port {gone}: VLAN 1 would be taken from it'), 2, said)
                self.wait_selected(rest)
                before = self.left.port(gone)['stats']['if_out_ucast_pkts']
                lab.wait_for(lambda: self.hosts[0].ping(self.hosts[1]) == 3, 20, f'answers over {rest}')
                self.assertEqual(self.left.port(gone)['stats']['if_out_ucast_pkts'], before)
                said = self.set_lag(members=' '.join(MEMBERS))
                # With LACP a port that could be used waits until the partner agrees.
                self.assertEqual('LACP' in said, mode == 'lacp', said)
                self.wait_selected(*MEMBERS)
                lab.wait_for(lambda: self.hosts[0].ping(self.hosts[1]) == 3, 20, 'answers over both')
        self.set_lag(min_links=2)
        self.assertTrue(self.lag(self.left)['up'])
        status, answer = self.left.change(edit('set', 'lag', 'PortChannel1', members=MEMBERS[0]))
        self.assertEqual(status, 400, answer)
        self.assertIn('min_links 2 of 1 members', str(answer['errors']))
        self.assertEqual(self.hosts[1].ping(self.hosts[0]), 3)
        self.end()

    def test_static_live(self):
        self.members_change_live('static')

    def test_lacp_live(self):
        self.members_change_live('lacp')

    def test_static(self):
        self.members_come_and_go('static')
        self.end()

    def test_lacp(self):
        self.members_come_and_go('lacp')
        systems = [self.lag(switch)['members'][0]['partner_system']
                   for switch in (self.left, self.right)]
        self.assertNotEqual(*systems)
        self.assertGreater(self.lag(self.left)['members'][0]['lacp_rx_pdus'], 5)
        self.end()


if __name__ == '__main__':
    lab.main()
