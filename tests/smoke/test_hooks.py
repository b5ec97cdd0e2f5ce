#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Test hooks of a running switch on two lcores, by the command line: what they hold back stays, and is seen."""
import sys

sys.dont_write_bytecode = True
import lab

COUNT = 40
DSCP = 26   # lossless, queue 3


class Hooks(lab.SmokeTest):
    def weft(self, *words):
        return lab.weft(WEFT, self.dir, *words)

    def queued(self, queue):
        return self.switch.port('Ethernet4')['queues'][queue]['curr_occupancy_packets']

    def send(self, a, b, dscp):
        raw = a.raw_socket()
        for number in range(COUNT):
            raw.send(lab.udp_frame(a.mac, b.mac, 500, dscp, number))

    def test_hold_and_let_go(self):
        a, b = lab.Host(self, 1), lab.Host(self, 2)
        self.switch = switch = lab.Switch(self, 'hooks', [
            lab.veth_port(f'Ethernet{4 * n}', host, n, f'lcore = {n}; {lab.LOSSLESS_PORT}')
            for n, host in enumerate((a, b))], lab.LOSSLESS).start()
        for n in range(2):
            switch.wait_link(f'Ethernet{4 * n}')
        self.assertEqual(a.ping(b), 3)

        self.assertIn('tx-disable on', self.weft('debug', 'tx-disable', 'Ethernet4', 'on'))
        self.send(a, b, DSCP)
        lab.wait_for(lambda: self.queued(3) == COUNT, 20, 'all frames queued')
        self.assertEqual(a.ping(b, count=1), 0)
        for show in (('interface',), ('queue', 'counters', 'Ethernet4'), ('queue', 'watermark')):
            self.assertRegex(self.weft('show', *show), r'Ethernet4 +tx-disable +all')
        sent = switch.port('Ethernet4')['stats']['if_out_ucast_pkts']
        self.weft('debug', 'tx-disable', 'Ethernet4', 'off')
        lab.wait_for(lambda: self.queued(3) == 0, 20, 'all frames sent')
        self.assertGreaterEqual(switch.port('Ethernet4')['stats']['if_out_ucast_pkts'], sent + COUNT)

        self.weft('debug', 'dequeue-disable', 'Ethernet4', '3,5-7', 'on')
        self.send(a, b, DSCP)
        lab.wait_for(lambda: self.queued(3) == COUNT, 20, 'all frames queued')
        self.assertEqual(a.ping(b), 3, 'queue 0 is served')
        self.assertRegex(self.weft('show', 'interface'), r'Ethernet4 +dequeue-disable +3,5,6,7')
        self.weft('debug', 'dequeue-disable', 'Ethernet4', 'all', 'off')
        lab.wait_for(lambda: self.queued(3) == 0, 20, 'all frames sent')
        self.assertNotIn('Test hooks', self.weft('show', 'interface'))
        self.weft('debug', 'seed', '42')
        lab.assert_headroom(self, switch, 'Ethernet0')
        self.assertEqual(lab.drops(switch), [])
        for line in ('tx-disable of port Ethernet4: on', 'tx-disable of port Ethernet4: off',
                     'dequeue-disable of port Ethernet4, queue 3,5-7: on', 'seed 42'):
            self.assertIn(f'test hook: {line}' if 'seed' not in line else line, switch.log())
        for path in ('tx-disable?port=Ethernet9&on=on', 'tx-disable?port=Ethernet4&on=maybe', 'tx-disable?on',
                     'dequeue-disable?port=Ethernet4&queue=8&on=on', 'dequeue-disable?port=Ethernet4&on=on',
                     'dequeue-disable?port=Ethernet4&queue=&on=on', 'seed', 'seed?seed=-1', 'seed?seed=x'):
            self.assertEqual(switch.request('POST', f'/v1/debug/{path}')[0], 400, path)
        self.assertEqual(switch.request('GET', '/v1/debug/seed?seed=1')[0], 405)
        self.assert_conserved(switch)


if __name__ == '__main__':
    WEFT = sys.argv.pop(2)
    lab.main()
