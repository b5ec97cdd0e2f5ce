#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The command line against a running switch: what it says of queues that are held and of frames that
are lost, and what it shows of profiles, rates and congestion notifications."""
import json
import struct
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
import lab

WEFT = sys.argv.pop(2)

# Every port marks priority 3 from 4 KiB on, but Ethernet8, which was given another profile.
BUFFERS = lab.LOSSLESS.replace('200KiB', '100KiB') + '''
wred_profile = (
	{ name = "early"; ecn = "ecn_all"; green_min_threshold = "4KiB"; green_max_threshold = "64KiB"; },
	{ name = "late"; ecn = "ecn_all"; green_min_threshold = "400KiB"; green_max_threshold = "800KiB"; });
queue = (
	{ port = "Ethernet0"; queue = "3"; wred_profile = "early"; },
	{ port = "Ethernet4"; queue = "3"; wred_profile = "early"; },
	{ port = "Ethernet8"; queue = "3"; wred_profile = "late"; });
acl = ({ name = "no storage"; action = "deny"; ip_protocol = 17; l4_dst_port = "5555"; });
pfc_wd_poll_interval = "100ms";
pfc_wd = ({ port = "Ethernet8"; queue = "3"; detection_time = "100ms"; restoration_time = "100ms"; });
'''

ECT, RDMA = 2, 26 << 2
PFC_XOFF_3 = bytes.fromhex('0180c2000001' '020000007702' '8808' '0101' '0008') + struct.pack(
    '!8H', 0, 0, 0, 0xffff, 0, 0, 0, 0) + bytes(26)


def udp(src, dst, length, tos, port, payload=b''):
    """An Ethernet frame of `length` bytes with UDP to `port` between these hosts."""
    return lab.udp_frame(src.mac, dst.mac, length, tos >> 2, ecn=tos & 3, ports=(1000, port), payload=payload,
                         ends=(0x0a4d0000 + src.number, 0x0a4d0000 + dst.number))


def cnp(src, dst):
    """A congestion notification: BTH with opcode 0x81 (IBTA A17.9.2), 16 reserved bytes, ICRC."""
    bth = struct.pack('!BBHII', 0x81, 0, 0xffff, 0x40000123, 0)
    return udp(src, dst, 74, 48 << 2, 4791, bth)


def write(src, dst):
    """The middle of an RDMA write to queue pair 0x456."""
    return udp(src, dst, 1000, RDMA, 4791, struct.pack('!BBHII', 0x07, 0, 0xffff, 0x456, 0))


class Sending:
    """Sends frames again and again from a thread while it is entered."""

    def __init__(self, raw, frame, period):
        self.raw, self.frame, self.period = raw, frame, period
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.stop.wait(self.period):
            self.raw.send(self.frame)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()


class CommandLine(lab.SmokeTest):
    def setUp(self):
        super().setUp()
        self.a, self.b = lab.Host(self, 1), lab.Host(self, 2)
        slow = f'speed = "10M"; {lab.LOSSLESS_PORT}'
        self.switch = lab.Switch(self, 'cli', [
            lab.veth_port('Ethernet0', self.a, 0, slow),
            lab.veth_port('Ethernet4', self.b, 1, slow, mtu=1000),
            f'name = "Ethernet8"; devargs = "net_null2,no-rx=1"; mtu = 1500; {slow}',
            'name = "Ethernet12"; devargs = "net_null3,no-rx=1"; mtu = 1500; speed = "1G"; '
            f'{lab.LOSSLESS_PORT}',
        ], BUFFERS).start()
        for name in ('Ethernet0', 'Ethernet4', 'Ethernet8', 'Ethernet12'):
            self.switch.wait_link(name)
        self.assertGreater(self.a.ping(self.b), 0)      # both are known
        self.raw = {host: host.raw_socket() for host in (self.a, self.b)}

    def weft(self, *words, status=0):
        return json.loads(lab.weft(WEFT, self.dir, *words, '--json', status=status))

    def why(self, *words, status=1):
        return self.weft('show', 'why', *words, status=status)['findings']

    def find(self, findings, rule):
        found = [f for f in findings if f['rule'] == rule]
        self.assertTrue(found, f'{rule} is not in {findings}')
        return found[0]

    def test_nothing(self):
        self.assertEqual([f['rule'] for f in self.why('Ethernet12', status=0)], ['headroom'])

    def test_paused(self):
        self.raw[self.b].send(PFC_XOFF_3)       # 65535 quanta of 512 bits are 3.4 s at 10 Mb/s
        for _ in range(10):
            self.raw[self.a].send(udp(self.a, self.b, 900, RDMA, 9))
        found = self.find(self.why('Ethernet4', '3'), 'paused')
        self.assertEqual((found['severity'], found['where']), ('wrong', 'queue 3'))
        self.assertIn('the peer of Ethernet4 pauses priority 3', found['finding'])
        self.assertIn('charged to Ethernet0 priority group 3 (', found['finding'])
        self.assertEqual(found['evidence']['priority'], 3)
        self.assertGreaterEqual(found['evidence']['curr_occupancy_bytes'], 10 * 900)
        # The share of the last 300 ms, in which nothing but that pause was.
        self.assertGreater(found['evidence']['rx_pause_share_ppm'], 900_000)

    def test_losses(self):
        with Sending(self.raw[self.a], udp(self.a, self.b, 200, 0, 5555), 0.01):
            found = self.find(self.why('Ethernet0'), 'acl')
            self.assertIn('"no storage"', found['finding'])
        with Sending(self.raw[self.a], udp(self.a, self.b, 1300, 0, 9), 0.01):
            found = self.find(self.why('Ethernet4'), 'drops')
            self.assertIn('EGRESS_MTU', found['finding'])
            self.assertIn('raise mtu', found['change'])
            # Counters of the moment, from the same two looks.
            row = self.weft('show', 'interfaces', 'counters', 'Ethernet0', '-i', '500ms')['counters'][0]
            self.assertGreater(row['rx_bps'], 100_000)

    def test_storm(self):
        self.assertEqual(self.switch.request('POST', '/v1/storm?port=Ethernet8&queue=3&on=on')[0], 200)
        lab.wait_for(lambda: self.switch.port('Ethernet8')['queues'][3]['pfc_wd_status'] == 1, 10,
                     'storm')
        found = self.find(self.why('Ethernet8', 'UC3'), 'stormed')
        self.assertIn('action is drop', found['finding'])

    def test_ecn(self):
        found = self.find(self.why('Ethernet4', '3', status=0), 'ecn_differs')
        self.assertIn('Ethernet8 marks from 409,600', found['finding'])
        self.assertIn('2 equal ports', found['finding'])
        # 14 Mb/s to a port of 10: the queue grows by 500 KB in each second, from Kmin on with marks.
        with Sending(self.raw[self.a], udp(self.a, self.b, 900, RDMA | ECT, 9), 0.0005):
            lab.wait_for(lambda: self.switch.port('Ethernet4')['stats']['ecn_marked_packets'] > 0, 30,
                         'marks')
            found = self.find(self.why('Ethernet4', '3', status=0), 'above_kmin')
        self.assertEqual(found['evidence']['min_bytes'], 4096)

    def sent(self, port):
        return self.switch.port(port)['stats']['if_out_octets']

    def test_congestion_notifications(self):
        self.weft('show', 'roce')
        sent = self.sent('Ethernet4')
        with Sending(self.raw[self.a], write(self.a, self.b), 0.001):
            lab.wait_for(lambda: self.sent('Ethernet4') >= sent + 400_000, 20, 'data')
        for _ in range(20):
            self.raw[self.b].send(cnp(self.b, self.a))
        lab.wait_for(lambda: self.switch.port('Ethernet4')['stats']['cnp_rx_packets'] == 20, 10, 'CNPs')
        roce = self.weft('show', 'roce')
        self.assertEqual([(p['receiver'], p['sender'], p['cnp_packets']) for p in roce['pairs']],
                         [('10.77.0.2', '10.77.0.1', 20)])
        port = next(p for p in roce['ports'] if p['name'] == 'Ethernet4')
        self.assertGreater(port['cnp_rx_per_second'], 0)
        flow = next(f for f in roce['flows'] if f['source'] == '10.77.0.1')
        self.assertEqual((flow['port'], flow['destination'], flow['destination_qp'], flow['cnp_packets']),
                         ('Ethernet4', '10.77.0.2', 0x456, 20))
        # 400 kB are six times 64 KiB, each of which has one sampled byte; the first and the last are
        # shared with other frames.
        self.assertGreaterEqual(flow['bytes'], 5 * 65536)
        self.assertLessEqual(flow['bytes'], self.sent('Ethernet4') - sent + 2 * 65536)
        self.assertGreater(flow['bits_per_second'], 0)

    def test_names(self):
        queues = {(q['name'], q['queue']): q['wred_profile'] for q in self.weft('show', 'ecn')['queues']}
        self.assertEqual(queues, {('Ethernet0', 'UC3'): 'early', ('Ethernet4', 'UC3'): 'early',
                                  ('Ethernet8', 'UC3'): 'late'})
        maps = self.weft('show', 'qos', 'maps')['maps']
        self.assertIn({'type': 'dscp_to_tc', 'name': 'test', 'map': '26:3 *:0'}, maps)
        members = {row['name'] for row in self.weft('show', 'vlan')['vlans'] if row['vlan'] == 1}
        self.assertEqual(members, {'Ethernet0', 'Ethernet4', 'Ethernet8', 'Ethernet12'})

    def test_watch_ends_with_the_switch(self):
        done = subprocess.Popen([WEFT, '--run-dir', self.dir / 'run', 'watch', '-i', '100ms', '--json'],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(done.kill)
        line = json.loads(done.stdout.readline())
        self.assertEqual(len(line['ports']), 4)
        self.assertGreaterEqual(line['interval_ns'], 100_000_000)
        self.assertGreaterEqual(json.loads(done.stdout.readline())['interval_ns'], 100_000_000)
        self.assert_conserved(self.switch)
        # It ends between two looks, or in the middle of an answer.
        complaint = done.communicate(timeout=20)[1]
        if 'cut short' in complaint:
            self.assertEqual(done.returncode, 1)
        else:
            self.assertIn('no switch', complaint)
            self.assertEqual(done.returncode, 3)


if __name__ == '__main__':
    lab.main()
