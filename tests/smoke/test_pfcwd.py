#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The PFC watchdog of a running switch: a forced storm, its log lines, and the big red switch."""
import sys

sys.dont_write_bytecode = True
import lab

WATCHED = lab.LOSSLESS + '''
pfc_wd_poll_interval = "100ms";
pfc_wd = ({ port = "all"; detection_time = "100ms"; restoration_time = "100ms"; });
'''
PORTS = (
    f'name = "Ethernet0"; devargs = "net_null0"; speed = "10G"; mtu = 1500; {lab.LOSSLESS_PORT}',
    f'name = "Ethernet4"; devargs = "net_null1"; speed = "10G"; mtu = 1500; {lab.LOSSLESS_PORT}',
)


class Watchdog(lab.SmokeTest):
    def queue(self, port):
        return self.switch.port(port)['queues'][3]

    def post(self, path):
        return self.switch.request('POST', path)

    def test_storm(self):
        self.switch = switch = lab.Switch(self, 'pfcwd', PORTS, WATCHED).start()
        switch.wait_link('Ethernet4')
        self.assertEqual(self.queue('Ethernet4')['pfc_wd']['action'], 'drop')
        self.assertEqual(self.post('/v1/storm?port=Ethernet4&queue=3&on=on')[0], 200)
        lab.wait_for(lambda: self.queue('Ethernet4')['pfc_wd_status'] == 1, 10, 'storm')
        self.assertEqual(self.queue('Ethernet0')['pfc_wd_status'], 0)
        self.assertEqual(self.post('/v1/storm?port=Ethernet4&queue=3&on=off')[0], 200)
        lab.wait_for(lambda: self.queue('Ethernet4')['pfc_wd_status'] == 0, 10, 'restored')
        queue = self.queue('Ethernet4')
        self.assertEqual((queue['pfc_wd_deadlock_detected'], queue['pfc_wd_deadlock_restored']),
                         (1, 1))
        for line in ('PFC Watchdog detected PFC storm on port Ethernet4, queue index 3',
                     'PFC Watchdog storm restored on port Ethernet4, queue index 3'):
            lab.wait_for(lambda line=line: line in switch.log(), 10, line)

        for path in ('/v1/storm?port=Ethernet4&queue=2&on=on', '/v1/storm?port=Ethernet9&queue=3&on=on',
                     '/v1/storm?port=Ethernet4&queue=8&on=on', '/v1/storm?port=Ethernet4&queue=3',
                     '/v1/storm', '/v1/storm?on', '/v1/big-red', '/v1/big-red?on', '/v1/big-red?on=maybe'):
            self.assertEqual(self.post(path)[0], 400, path)
        self.assertEqual(self.post('/v1/big-red?on=on')[0], 200)
        self.assertTrue(switch.get('/v1/stats')['switch']['pfc_wd']['big_red_switch'])
        self.assertEqual(self.post('/v1/big-red?on=off')[0], 200)
        self.assertEqual(switch.stop(), 0)


if __name__ == '__main__':
    lab.main()
