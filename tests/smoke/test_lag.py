#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A LAG of two links between two switches: LACP brings it up, a cut link leaves it and comes back."""
import sys

sys.dont_write_bytecode = True
import lab

MEMBERS = ('Ethernet4', 'Ethernet8')
LAG = ('lag: ( {{ name = "PortChannel1"; members = "Ethernet4 Ethernet8"; mode = "{mode}"; '
       'lacp_rate = "fast"; }} );\n')


class Lag(lab.SmokeTest):
    """Host - left = right - host, in one process."""

    def path(self, mode):
        self.hosts = lab.Host(self, 1), lab.Host(self, 2)
        self.left, self.right = (lab.Switch(self, name, (
            lab.veth_port('Ethernet0', host, index),
            lab.link_port('Ethernet4', 'first'), lab.link_port('Ethernet8', 'second')),
            buffers=lab.LOSSY + LAG.format(mode=mode))
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
