#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Kernel hosts in network namespaces behind veth and AF_PACKET: learning, PFC, ports that go away."""
import os
import re
import struct
import sys
import time

sys.dont_write_bytecode = True
import lab

DSCP_LOSSLESS = 26
MAC_CONTROL = 0x8808


class Bridge(lab.SmokeTest):
    def hosts(self, count):
        return [lab.Host(self, i + 1) for i in range(count)]

    def switch(self, hosts, more='', buffers=lab.LOSSY):
        ports = [lab.veth_port(f'Ethernet{4 * i}', host, i, more) for i, host in enumerate(hosts)]
        switch = lab.Switch(self, f'bridge{os.getpid()}', ports, buffers).start()
        for i in range(len(hosts)):
            switch.wait_link(f'Ethernet{4 * i}')
        return switch

    def lossless_switch(self, hosts, more=''):
        return self.switch(hosts, lab.LOSSLESS_PORT + more, lab.LOSSLESS)

    def test_ping(self):
        a, b, c = self.hosts(3)
        switch = self.switch((a, b, c))
        self.assertEqual([a.ping(b), b.ping(c), c.ping(a)], [3, 3, 3])
        where = {e['mac']: e['port'] for e in switch.get('/v1/mac')['entries']}
        self.assertEqual(where, {a.mac: 'Ethernet0', b.mac: 'Ethernet4', c.mac: 'Ethernet8'})
        self.assertEqual(switch.get('/v1/stats')['switch']['dropped_packets'], 0)
        self.assert_conserved(switch)

    def test_impaired(self):
        """Delay shows in the round trip, loss of all ends it, and both are counted at the port."""
        a, b = self.hosts(2)
        impairment = 'impairment = ({{ port = "Ethernet0"; {} }});\n'
        switch = self.switch((a, b), buffers=lab.LOSSY + impairment.format('delay = "40ms";'))
        self.assertEqual(a.ping(b), 3)
        times = [float(t) for t in re.findall(r'time=([0-9.]+) ms', a.run(
            'ping', '-c', '3', '-i', '0.2', '-W', '2', b.address))]
        self.assertEqual(len(times), 3)
        self.assertGreaterEqual(min(times), 40)
        lab.wait_for(lambda: switch.port('Ethernet0')['stats']['impair_held_packets'] == 0, 5,
                     'the line is empty')
        self.assert_conserved(switch)
        switch.stop()
        switch = self.switch((a, b), buffers=lab.LOSSY + impairment.format('loss = "100%";'))
        self.assertEqual(a.ping(b, count=2), 0)
        self.assertGreater(switch.port('Ethernet0')['stats']['impair_lost_packets'], 0)
        self.assertEqual(switch.port('Ethernet0')['stats']['in_dropped_pkts'], 0)
        self.assert_conserved(switch)

    def test_restart(self):
        """Addresses outlive a restart: the first frame afterwards is not flooded."""
        a, b = self.hosts(2)
        switch = self.switch((a, b))
        self.assertEqual(a.ping(b), 3)
        self.assert_conserved(switch)
        switch.start()
        switch.wait_link('Ethernet0')
        switch.wait_link('Ethernet4')
        self.assertEqual(a.ping(b), 3)
        macs = sorted((e['mac'], e['vlan']) for e in switch.get('/v1/mac')['entries'])
        self.assertEqual(macs, [(a.mac, 1), (b.mac, 1)])
        self.assert_conserved(switch)

    def test_vanish(self):
        """A deleted interface takes its port down; when it is back, so are link and counters."""
        a, b = self.hosts(2)
        switch = self.switch((a, b))
        self.assertEqual(a.ping(b), 3)
        before = switch.port('Ethernet4')['stats']['if_in_ucast_pkts']
        b.unplug()
        switch.wait_link('Ethernet4', up=False)
        self.assertEqual(a.ping(b, count=1), 0)
        b.plug()
        switch.wait_link('Ethernet4')
        a.run('ip', 'neigh', 'flush', 'all')
        self.assertEqual(a.ping(b), 3)
        self.assertGreater(switch.port('Ethernet4')['stats']['if_in_ucast_pkts'], before)
        self.assert_conserved(switch)

    def test_absent(self):
        """A port whose interface does not exist yet is opened when it does."""
        a, b = self.hosts(2)
        b.unplug()
        ports = [lab.veth_port('Ethernet0', a, 0), lab.veth_port('Ethernet4', b, 1)]
        switch = lab.Switch(self, f'absent{os.getpid()}', ports).start()
        self.assertFalse(switch.port('Ethernet4')['present'])
        b.plug()
        switch.wait_link('Ethernet4')
        self.assertEqual(a.ping(b), 3)
        self.assert_conserved(switch)

    def test_solicit(self):
        """Lossless unicast to a silent host waits while the switch asks for it, and is not lost."""
        a, b = self.hosts(2)
        switch = self.lossless_switch((a, b))
        a.run('ip', 'neigh', 'replace', b.address, 'lladdr', b.mac, 'dev', 'eth0', 'nud', 'permanent')
        self.assertEqual(a.ping(b, '-Q', str(DSCP_LOSSLESS << 2), count=1), 1)
        self.assertEqual(switch.get('/v1/stats')['switch']['solicited'], 1)
        self.assertEqual(switch.port('Ethernet0')['drops'], {})
        self.assert_conserved(switch)

    def test_solicit_ipv6(self):
        """The question for an IPv6 destination is one that a kernel answers."""
        a, b = self.hosts(2)
        for host in (a, b):
            host.run('sysctl', '-qw', 'net.ipv6.conf.eth0.disable_ipv6=0')
            lab.run('ip', '-n', host.name, 'addr', 'add', f'fd77::{host.number}/64', 'dev', 'eth0',
                    'nodad')
        switch = self.lossless_switch((a, b))
        raw = a.raw_socket()
        raw.settimeout(0.2)
        unknown = bytes.fromhex('020000007799')
        ends = bytes.fromhex('fd77' + '0' * 27 + '1' + 'fd77' + '0' * 27 + '2')
        raw.send(unknown + bytes.fromhex(a.mac.replace(':', '')) + b'\x86\xdd' +
                 struct.pack('!IHBB', 6 << 28 | DSCP_LOSSLESS << 22, 8, 17, 64) + ends +
                 struct.pack('!HHHH', 1, 2, 8, 0))
        advertisement = lambda frame: frame[12:14] == b'\x86\xdd' and frame[20] == 58 and (
            frame[54] == 136 and frame[62:78] == ends[16:])
        lab.wait_for(lambda: self.received(raw, advertisement), 5, 'neighbour advertisement')
        given_up = lambda: switch.port('Ethernet0')['drops'].get('UNKNOWN_LOSSLESS') == 1
        lab.wait_for(given_up, 5, 'the frame to the wrong address is given up')
        self.assert_conserved(switch)

    def received(self, raw, wanted):
        try:
            return wanted(raw.recv(2048))
        except TimeoutError:
            return False

    def test_pfc(self):
        """A slow egress raises XOFF towards the sender, repeats it, and ends with XON."""
        a, b = self.hosts(2)
        switch = self.lossless_switch((a, b), 'speed = "20M"; pfc_quanta = 400;')
        self.assertEqual(a.ping(b), 3)
        raw = a.raw_socket()
        raw.settimeout(0.2)
        for i in range(200):
            raw.send(lab.udp_frame(a.mac, b.mac, 1000, DSCP_LOSSLESS, i))
        frames = self.read_pfc(raw)
        for frame in frames:
            self.assertEqual(frame[:6].hex(), '0180c2000001')
            self.assertEqual(len(frame), 60)
            self.assertEqual(struct.unpack_from('!HH', frame, 14), (0x0101, 1 << 3))
        quanta = [struct.unpack_from('!H', frame, 18 + 2 * 3)[0] for frame in frames]
        # 400 quanta are 10 ms at 20 Mb/s, so the repeats are 5 ms apart; the queue stands for 60 ms.
        self.assertEqual(quanta[-1], 0)
        self.assertGreater(quanta.count(400), 2)
        port = switch.port('Ethernet0')
        self.assertEqual(port['priorities'][3]['pfc_tx_pkts'], len(frames))
        self.assertGreater(port['priority_groups'][3]['xoff_events'], 0)
        self.assertGreater(port['priority_groups'][3]['xoff_room_watermark_bytes'], 0)
        self.assertEqual(port['drops'], {})
        lab.wait_for(lambda: switch.port('Ethernet4')['queues'][3]['packets'] == 200, 5, 'all sent')
        self.assert_conserved(switch)

    def read_pfc(self, raw):
        """MAC control frames until one resumes."""
        frames, end = [], time.monotonic() + 10
        while time.monotonic() < end:
            try:
                frame = raw.recv(2048)
            except TimeoutError:
                continue
            if struct.unpack_from('!H', frame, 12)[0] != MAC_CONTROL:
                continue
            frames.append(frame)
            if struct.unpack_from('!H', frame, 24)[0] == 0:
                return frames
        raise AssertionError(f'no XON after {len(frames)} PFC frames')

    def test_paused(self):
        """A received PFC stops its queue and no other, until it is resumed."""
        a, b = self.hosts(2)
        switch = self.lossless_switch((a, b), 'speed = "1G";')
        self.assertEqual(a.ping(b), 3)
        raw = b.raw_socket()
        pfc = lambda quanta: raw.send(bytes.fromhex('0180c2000001' + b.mac.replace(':', '')) +
                                      struct.pack('!HHH8H', MAC_CONTROL, 0x0101, 1 << 3, 0, 0, 0,
                                                  quanta, 0, 0, 0, 0) + bytes(26))
        port = lambda: switch.port('Ethernet4')
        sender = a.raw_socket()
        pfc(65535)  # 33 ms
        lab.wait_for(lambda: port()['priorities'][3]['pfc_rx_pkts'] == 1, 5, 'PFC received')
        lab.wait_for(lambda: port()['priorities'][3]['rx_paused'] == 0, 5, 'pause over')
        self.assertGreater(port()['priorities'][3]['rx_pause_duration_us'], 33000)
        self.assertLess(port()['priorities'][3]['rx_pause_duration_us'], 34500)
        sent = port()['queues'][3]['packets']
        stop = time.monotonic() + 0.5
        while time.monotonic() < stop:
            pfc(65535)
            sender.send(lab.udp_frame(a.mac, b.mac, 100, DSCP_LOSSLESS))
            time.sleep(0.01)
        self.assertEqual(port()['queues'][3]['packets'], sent)
        self.assertEqual(a.ping(b), 3)
        pfc(0)
        lab.wait_for(lambda: port()['queues'][3]['curr_occupancy_packets'] == 0, 5, 'queue empty')
        self.assertGreater(port()['queues'][3]['packets'], sent)
        self.assert_conserved(switch)


if __name__ == '__main__':
    lab.main()
