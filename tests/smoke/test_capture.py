#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Captures of a running switch: what is selected, how tshark reads it, and every way a capture ends."""
import collections
import select
import signal
import socket
import subprocess
import sys

sys.dont_write_bytecode = True
import lab

COUNT = 50
LEN = 500
DENIED = 46     # DSCP that the access list denies
LOSSLESS = 26   # queue 3
# A lossy queue of ten frames, and an access list of one row.
CONFIG = lab.LOSSLESS.replace('{ name = "queue_lossy"; pool = "egress"; dynamic_th = 3; }',
                              f'{{ name = "queue_lossy"; pool = "egress"; static_th = "{10 * LEN}"; }}') + f'''
acl = ({{ name = "deny_ef"; action = "deny"; dscp = "{DENIED}"; }});
'''


class Capture(lab.SmokeTest):
    def setUp(self):
        super().setUp()
        self.a, self.b = lab.Host(self, 1), lab.Host(self, 2)
        self.switch = lab.Switch(self, 'capture', [
            lab.veth_port(f'Ethernet{4 * n}', host, n, f'alias = "veth{n}"; lcore = {n}; {lab.LOSSLESS_PORT}')
            for n, host in enumerate((self.a, self.b))], CONFIG).start()
        for n in range(2):
            self.switch.wait_link(f'Ethernet{4 * n}')
        self.assertEqual(self.a.ping(self.b), 3)

    def argv(self, *words):
        return [WEFT, '--run-dir', str(self.dir / 'run'), *words]

    def weft(self, *words):
        return lab.weft(WEFT, self.dir, *words)

    def begin(self, *words, file='c.pcapng'):
        """A running capture, once the switch has it."""
        before = self.switch.log().count(' begins: ')
        capture = subprocess.Popen(self.argv('capture', *words, '-w', str(self.dir / file)),
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(capture.kill)
        lab.wait_for(lambda: self.switch.log().count(' begins: ') > before or capture.poll() is not None, 10,
                     'the capture')
        return capture

    def end(self, capture, number=signal.SIGINT):
        """Ends it as Ctrl-C does: frames captured, and lost."""
        if number:
            capture.send_signal(number)
        _, err = capture.communicate(timeout=30)
        self.assertEqual(capture.returncode, 0, err)
        words = err.split()
        self.assertEqual(words[1:3] + words[4:5], ['frames', 'captured,', 'lost'], err)
        return int(words[0]), int(words[3])

    def read(self, *fields, file='c.pcapng'):
        out = lab.run('tshark', '-r', str(self.dir / file), '-T', 'fields', '-E', 'separator=|',
                      *(word for field in fields for word in ('-e', field)))
        return [line.split('|') for line in out.splitlines()]

    def send(self, dscp, count=COUNT):
        raw = self.a.raw_socket()
        for number in range(count):
            raw.send(lab.udp_frame(self.a.mac, self.b.mac, LEN, dscp, number))

    def drops(self):
        counts = collections.Counter()
        for port in self.switch.ports():
            counts.update(port['drops'])
        return counts

    def queued(self, queue):
        return self.switch.port('Ethernet4')['queues'][queue]['curr_occupancy_packets']

    def test_drops(self):
        """Captured drops are the counted ones, one by one, with reason, ports and direction."""
        capture = self.begin('drops')
        self.weft('debug', 'tx-disable', 'Ethernet4', 'on')
        self.send(DENIED)
        self.send(0)
        lab.wait_for(lambda: self.drops()['QUEUE_FULL'] >= COUNT - 10 and self.drops()['ACL_DENY'] == COUNT,
                     20, 'drops')
        self.weft('debug', 'tx-disable', 'Ethernet4', 'off')
        counted = self.drops()
        self.assertEqual(self.end(capture), (sum(counted.values()), 0))
        rows = self.read('frame.comment', 'frame.interface_name', 'frame.packet_flags_direction', 'frame.len')
        self.assertEqual(collections.Counter(comment.split()[1].strip(',') for comment, *_ in rows), counted)
        for comment, name, direction, length in rows:
            if 'ACL_DENY' in comment:
                self.assertEqual((comment, name, int(direction, 0), length),
                                 ('drop ACL_DENY, from Ethernet0', 'Ethernet0', 1, str(LEN)))
            if 'QUEUE_FULL' in comment and length == str(LEN):
                self.assertEqual((comment, name, int(direction, 0)),
                                 ('drop QUEUE_FULL, from Ethernet0, to Ethernet4, queue 0', 'Ethernet4', 2))
        self.assertIn(f'Number of packets:   {len(rows)}', lab.run('capinfos', '-c', '-M', str(self.dir / 'c.pcapng')))
        info = lab.run('capinfos', str(self.dir / 'c.pcapng'))
        for text in ('Name = Ethernet0', 'Name = Ethernet4', 'Description = veth1, net_af_packet1',
                     'Time precision = nanoseconds (9)', 'Capture comment: drops of switch capture, all ports'):
            self.assertIn(text, ' '.join(info.split()) if 'comment' in text else info)
        self.assert_conserved(self.switch)

    def test_reasons_and_limits(self):
        """Only the reason asked for, as many as asked for, as long as asked for, cut as asked for."""
        capture = self.begin('drops', 'Ethernet0', '--reason', 'ACL_DENY,ACL_POLICED', '--count', '7',
                             '--snaplen', '64')
        self.send(0, 5)
        self.send(DENIED)
        self.assertEqual(self.end(capture, None)[0], 7)
        rows = self.read('frame.comment', 'frame.len', 'frame.cap_len')
        self.assertEqual(rows, [['drop ACL_DENY, from Ethernet0', str(LEN), '64']] * 7)
        self.assertEqual(self.end(self.begin('drops', 'Ethernet4', '--seconds', '1'), None), (0, 0))
        for words, why in ((('drops', '--reason', 'NO_SUCH'), 'reason'), (('drops', 'Ethernet9'), 'no such port'),
                           (('queue', 'Ethernet0', '9'), 'queue: 0 to 7'), (('port', 'Ethernet0', 'up'), 'direction'),
                           (('drops', '--count', '0'), '1 or more'), (('drops', '--snaplen', '70000'), 'snaplen')):
            capture = self.begin(*words)
            self.assertIn(why, capture.communicate(timeout=30)[1])
            self.assertNotEqual(capture.returncode, 0)

    def test_queue(self):
        """A lossless queue under capture: XOFF, headroom, nothing lost; its length counts down frame by frame."""
        capture = self.begin('queue', 'Ethernet4', '3')
        self.weft('debug', 'dequeue-disable', 'Ethernet4', '3', 'on')
        self.send(LOSSLESS)
        lab.wait_for(lambda: self.queued(3) == COUNT, 20, 'all queued')
        self.weft('debug', 'dequeue-disable', 'Ethernet4', '3', 'off')
        lab.wait_for(lambda: self.queued(3) == 0, 20, 'all sent')
        self.assertEqual(self.end(capture), (COUNT, 0))
        self.assertEqual(self.read('frame.comment', 'frame.interface_name'),
                         [[f'queue 3, {(COUNT - i) * LEN} bytes queued, from Ethernet0', 'Ethernet4']
                          for i in range(COUNT)])
        lab.assert_headroom(self, self.switch, 'Ethernet0')
        self.assertEqual(lab.drops(self.switch), [])
        self.assert_conserved(self.switch)

    def test_port(self):
        """Both directions of a port and one; PFC that the switch sends is there as well."""
        both, one = self.begin('port', 'Ethernet0'), self.begin('port', 'Ethernet0', 'in', file='in.pcapng')
        self.weft('debug', 'dequeue-disable', 'Ethernet4', '3', 'on')
        self.send(LOSSLESS)
        lab.wait_for(lambda: self.queued(3) == COUNT, 20, 'all queued')
        self.weft('debug', 'dequeue-disable', 'Ethernet4', '3', 'off')
        self.assertEqual(self.a.ping(self.b), 3)
        pfc = self.switch.port('Ethernet0')['priorities'][3]['pfc_tx_pkts']
        self.end(both)
        self.end(one)
        rows = self.read('eth.type', 'frame.packet_flags_direction', 'frame.len')
        sides = collections.Counter((kind, int(direction, 0)) for kind, direction, _ in rows)
        self.assertGreaterEqual(sides['0x8808', 2], 2)
        self.assertGreaterEqual(pfc, sides['0x8808', 2])
        self.assertEqual(sum(length == str(LEN) and int(direction, 0) == 1 for _, direction, length in rows), COUNT)
        self.assertGreaterEqual(sides['0x0800', 2], 3)
        self.assertEqual({int(row[0], 0) for row in self.read('frame.packet_flags_direction', file='in.pcapng')}, {1})
        self.assert_conserved(self.switch)

    def test_client_that_does_not_read(self):
        """Its capture ends when it is told to, and so does the wait for it to take what is left."""
        client = socket.socket(socket.AF_UNIX)
        self.addCleanup(client.close)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(str(self.dir / 'run/capture.sock'))
        client.sendall(b'GET /v1/capture?what=port&port=Ethernet0&id=7 HTTP/1.1\r\nHost: weft\r\n\r\n')
        lab.wait_for(lambda: ' begins: ' in self.switch.log(), 10, 'the capture')
        captured = lambda: self.switch.port('Ethernet0')['stats']['if_in_ucast_pkts']
        before = captured()
        # More than the sockets hold.
        while captured() < before + 4000:
            self.send(0)
        self.assertEqual(self.switch.request('POST', '/v1/capture/stop?id=7')[0], 200)
        lab.wait_for(lambda: 'capture 7 ends' in self.switch.log(), 10, 'the end')
        hangs_up = select.poll()
        hangs_up.register(client, 0)
        self.assertEqual(hangs_up.poll(0), [], 'it is waited for')
        lab.wait_for(lambda: hangs_up.poll(0), 30, 'its connection to be closed')
        self.assert_conserved(self.switch)

    def test_pipe_and_ends(self):
        """Into a pipe; a full disk; clients that go away without a word; a switch that ends."""
        capture = subprocess.Popen(self.argv('capture', 'drops', '--count', '3', '-w', '-'),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(capture.kill)
        lab.wait_for(lambda: ' begins: ' in self.switch.log(), 10, 'the capture')
        shark = subprocess.Popen(['tshark', '-r', '-', '-T', 'fields', '-e', 'frame.comment'], stdin=capture.stdout,
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(shark.kill)
        self.send(DENIED)
        self.assertEqual(shark.communicate(timeout=30)[0].split('\n')[:3], ['drop ACL_DENY, from Ethernet0'] * 3)

        full = subprocess.run(self.argv('capture', 'drops', '-w', '/dev/full'), capture_output=True, text=True,
                              timeout=30, check=False)
        self.assertEqual(full.returncode, 1)
        self.assertIn('/dev/full: No space left on device', full.stderr)
        for _ in range(6):
            capture = self.begin('drops')
            capture.kill()
            capture.communicate(timeout=30)
            lab.wait_for(lambda: self.switch.log().count('the client has gone') ==
                         self.switch.log().count(' begins: ') - 1, 10, 'the switch knows')
        running = [self.begin('drops', file=f'{n}.pcapng') for n in range(4)]
        refused = self.begin('drops', file='5.pcapng')
        self.assertIn('too many captures', refused.communicate(timeout=30)[1])
        self.send(DENIED)
        lab.wait_for(lambda: self.drops()['ACL_DENY'] == 2 * COUNT, 20, 'drops')
        self.assert_conserved(self.switch)
        for n, capture in enumerate(running):
            self.assertEqual(self.end(capture, None), (COUNT, 0))
            self.assertEqual(len(self.read('frame.number', file=f'{n}.pcapng')), COUNT)


if __name__ == '__main__':
    WEFT = sys.argv.pop(2)
    lab.main()
