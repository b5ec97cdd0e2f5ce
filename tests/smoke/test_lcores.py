#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One switch on several forwarding lcores: traffic across them is lossless, and the bridge is one."""
import sys

sys.dont_write_bytecode = True
import lab

# Small enough that two senders fill it.
LOSSLESS = lab.lossless(16384, 100000)


class Lcores(lab.SmokeTest):
    def host(self, number, *options):
        return lab.DpdkHost(self, HOST, number, self.dir / f'm{number}', 'client', *options, seconds=4)

    def test_incast_across(self):
        """Two pairs of hosts, each pair's slow receiver on the other lcore: PFC, and not a frame lost."""
        ports = [lab.memif_port(f'Ethernet{n}', n, self.dir / f'm{n}', f'speed = "{"2M" if n > 1 else "100M"}"; '
                                f'burst = "20ms"; pfc_enable = "3"; tc_to_pg_map = "three"; lcore = {n // 2};')
                 for n in range(4)]
        switch = lab.Switch(self, 'two', ports, buffers=LOSSLESS).start()
        receivers = [self.host(n, '--wait', '200s') for n in (2, 3)]
        lab.wait_for(lambda: len(switch.get('/v1/mac')['entries']) == 2, 20, 'addresses of receivers')
        senders = [self.host(n, '--flow', f'{n + 2}:3:1024') for n in (0, 1)]
        sent = [process.result()['priorities'][3] for process in senders]
        got = [result['priorities'][3] for result in lab.end_receivers(receivers, switch)]
        for one, other in zip(sent, got):
            self.assertGreater(one['paused_ns'], 0)
            self.assertEqual((other['rx_lost'], other['rx_reordered']), (0, 0))
            self.assertEqual(other['rx_packets'], one['tx_packets'])
            self.assertGreater(other['rx_packets'], 100)
        lab.assert_headroom(self, switch, 'Ethernet0', 'Ethernet1')
        lcores = switch.get('/v1/lcore')['lcores']
        self.assertEqual([lcore['id'] for lcore in lcores], [0, 1])
        # Each lcore received from its ports alone, and sent to them alone. Only what receivers announce
        # goes the other way; no PFC of theirs, and that of the switch is not counted here.
        for what, busy, other in (('rx_packets', *lcores), ('tx_packets', *reversed(lcores))):
            self.assertGreater(busy[what], 200)
            self.assertLess(other[what], busy[what] / 10)
        self.assert_conserved(switch)

    def test_bridge(self):
        """Hosts on three lcores: floods, learning, link down, and an idle switch that answers."""
        hosts = [lab.Host(self, n + 1) for n in range(3)]
        switch = lab.Switch(self, 'three', [lab.veth_port(f'Ethernet{n}', host, n, f'lcore = {n};')
                                            for n, host in enumerate(hosts)]).start()
        for n in range(3):
            switch.wait_link(f'Ethernet{n}')
        for a, b in ((0, 1), (1, 2), (2, 0)):
            self.assertEqual(hosts[a].ping(hosts[b]), 3)
        entries = {e['mac']: e['port'] for e in switch.get('/v1/mac')['entries']}
        self.assertEqual(entries, {host.mac: f'Ethernet{n}' for n, host in enumerate(hosts)})
        self.assertEqual(hosts[0].ping(hosts[1], '-i', '0.3', count=4), 4)
        lab.run('ip', 'link', 'set', hosts[2].port, 'down')
        switch.wait_link('Ethernet2', up=False)
        gone = lambda: hosts[2].mac not in (e['mac'] for e in switch.get('/v1/mac')['entries'])
        lab.wait_for(gone, 10, 'the address behind the link that is down forgotten')
        lab.run('ip', 'link', 'set', hosts[2].port, 'up')
        switch.wait_link('Ethernet2')
        self.assertEqual(hosts[0].ping(hosts[2]), 3)
        self.assert_conserved(switch)

    def test_processors(self):
        """--lcore names a processor per lcore; one too few, or one that is not there, is an error of ours."""
        ports = [f'name = "Ethernet{n}"; devargs = "net_null{n}"; mtu = 1500; lcore = {n};' for n in range(2)]
        switch = lab.Switch(self, 'named', ports, args=('--lcore', '0,0')).start()
        self.assertEqual(len(switch.get('/v1/lcore')['lcores']), 2)
        self.assert_conserved(switch)
        for processors, message in (('0', 'ports ask for 2 forwarding lcores (lcore = 1), --lcore names 1'),
                                    ('0,4000', '--lcore 4000: this process may run on processors'),
                                    ('0,x', '--lcore 0,x: not a list of processor numbers')):
            with self.subTest(processors=processors):
                wrong = lab.Switch(self, 'wrong', ports, args=('--lcore', processors))
                wrong.log_path.unlink(missing_ok=True)
                wrong.launch()
                self.assertNotEqual(wrong.process.wait(30), 0)
                self.assertIn(message, wrong.log())


if __name__ == '__main__':
    HOST = sys.argv.pop(2)
    lab.main()
