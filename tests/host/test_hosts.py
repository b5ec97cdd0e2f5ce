#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Test hosts over memif: back to back, and around a switch that must not lose what they pause."""
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'smoke'))
import lab

LOSSLESS = lab.lossless(12288, 100000)


class Hosts(lab.SmokeTest):
    def host(self, number, link, role, *options):
        return lab.DpdkHost(self, HOST, number, self.dir / link, role, *options)

    def test_back_to_back(self):
        """A receiver at a twentieth of the rate pauses its peer; nothing is lost, nothing overflows."""
        receiver = self.host(1, 'link', 'server', '--receiver', '5M:500000:100000:50000', '--wait', '3s')
        lab.wait_for((self.dir / 'link').exists, 20, 'the listening end')
        sender = self.host(0, 'link', 'client', '--flow', '1:3:1024', '--linger', '5s')
        got = receiver.result()['priorities'][3]
        sent = sender.result()['priorities'][3]
        self.assertGreater(got['rx_packets'], 500)
        self.assertEqual(got['rx_packets'], sent['tx_packets'])
        self.assertEqual((got['rx_lost'], got['rx_reordered'], got['rx_overflow']), (0, 0, 0))
        self.assertGreater(got['pfc_tx'], 2)
        self.assertEqual(sent['pfc_rx'], got['pfc_tx'])
        self.assertGreater(sent['paused_ns'], 10_000_000)

    def incast(self, name, port_knobs, buffers):
        """Two at full rate to one of a tenth: the switch pauses both, and not a frame is lost."""
        ports = [lab.memif_port(f'Ethernet{n}', n, self.dir / f'{name}{n}',
                                f'speed = "{"10M" if n == 2 else "100M"}"; {port_knobs}') for n in range(3)]
        switch = lab.Switch(self, name, ports, buffers=buffers).start()
        receiver = self.host(2, f'{name}2', 'client', '--wait', '200s')
        # It announces itself; before that, frames to it could only wait, and not many of them.
        lab.wait_for(lambda: switch.get('/v1/mac')['entries'], 20, 'the address of the receiver')
        senders = [self.host(n, f'{name}{n}', 'client', '--flow', '2:3:1024') for n in range(2)]
        sent = [process.result()['priorities'][3] for process in senders]
        got = lab.end_receivers([receiver], switch)[0]['priorities'][3]
        drops = {f'Ethernet{n}': switch.port(f'Ethernet{n}')['drops'] for n in range(3)}
        self.assertEqual(got['rx_lost'], 0, drops)
        self.assertEqual(got['rx_reordered'], 0)
        for one in sent:
            self.assertGreater(one['paused_ns'], 0)
        self.assertEqual(got['rx_packets'], sum(one['tx_packets'] for one in sent))
        self.assertGreater(got['rx_packets'], 200)
        lab.assert_headroom(self, switch, 'Ethernet0', 'Ethernet1')
        return switch

    def test_incast_through_switch(self):
        switch = self.incast('incast', 'pfc_enable = "3"; tc_to_pg_map = "three";', LOSSLESS)
        self.assert_conserved(switch)

    def test_incast_through_preset(self):
        """One line instead of all of that; the hosts' own classes are a map of the file."""
        switch = self.incast('preset', 'dscp_to_tc_map = "hosts";',
                             'roce = "lossless";\n'
                             'map = ( { type = "dscp_to_tc"; name = "hosts"; map = "3:3 *:0"; } );')
        for n in range(3):
            port = switch.port(f'Ethernet{n}')
            self.assertEqual(port['priority_groups'][3]['headroom_verdict'], 'enough')
        self.assertGreater(switch.port('Ethernet2')['queues'][3]['wred_ecn_marked_packets'], 0)
        self.assert_conserved(switch)

    def test_queue_per_priority(self):
        """Two switches whose link does PFC by itself, queue by queue: no PFC frame crosses it. The far
        one is slow and stops polling the queue of priority 3; that queue alone fills up, the near switch
        pauses its host, nothing lossless is lost, and the lossy class goes on meanwhile."""
        common = 'pfc_enable = "3"; tc_to_pg_map = "three";'
        device = common + ' pfc_path = "device";'
        near = lab.Switch(self, 'near', [
            lab.memif_port('Ethernet0', 0, self.dir / 'm0', common),
            lab.memif_port('Ethernet4', 1, self.dir / 'between', device)], buffers=LOSSLESS).start()
        far = lab.Switch(self, 'far', [
            lab.memif_port('Ethernet0', 0, self.dir / 'between', device, role='client'),
            lab.memif_port('Ethernet4', 1, self.dir / 'm1', 'speed = "20M"; ' + common)],
            buffers=LOSSLESS).start()
        near.wait_link('Ethernet4')
        far.wait_link('Ethernet0')
        receiver = self.host(1, 'm1', 'client', '--wait', '200s')
        lab.wait_for(lambda: near.get('/v1/mac')['entries'], 20, 'the address of the receiver')
        sender = self.host(0, 'm0', 'client', '--flow', '1:3:1024', '--flow', '1:0:512:2M')
        sent = sender.result()['priorities']
        got = lab.end_receivers([receiver], near, far)[0]['priorities']
        # What the lossy class loses, if anything, it loses to a full group of its own, and that is counted.
        dropped = lab.drops(near, far)
        self.assertLessEqual({reason for _, _, reason, _ in dropped}, {'PG_LOSSY_FULL'})
        lost = {0: sum(count for _, _, _, count in dropped), 3: 0}
        for prio in (0, 3):
            self.assertEqual(got[prio]['rx_packets'] + lost[prio], sent[prio]['tx_packets'], f'priority {prio}')
            self.assertEqual(got[prio]['rx_reordered'], 0)
            self.assertGreater(got[prio]['rx_packets'], 100)
        self.assertEqual(got[3]['rx_lost'], 0)
        self.assertGreater(sent[3]['paused_ns'], 0)
        for switch, port in ((near, 'Ethernet4'), (far, 'Ethernet0')):
            state = switch.port(port)
            self.assertEqual((state['pfc_path'], state['class']), ('device', 'hold'))
            self.assertEqual([p['pfc_tx_pkts'] for p in state['priorities']], [None] * 8)
        lab.assert_headroom(self, far, 'Ethernet0')
        self.assertGreater(near.port('Ethernet0')['priority_groups'][3]['xoff_events'], 0)
        self.assert_conserved(near)
        self.assert_conserved(far)


if __name__ == '__main__':
    HOST = sys.argv.pop(2)
    lab.main()
