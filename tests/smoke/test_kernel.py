#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ports on interfaces of the kernel: jumbo frames over AF_PACKET, AF_XDP, and tap."""
import os
import socket
import sys
from pathlib import Path

sys.dont_write_bytecode = True
import lab


class Kernel(lab.SmokeTest):
    def test_jumbo(self):
        """The driver is given slots that hold the MTU, and each frame fits in one mbuf."""
        a, b = lab.Host(self, 1), lab.Host(self, 2)
        for host in (a, b):
            host.run('ip', 'link', 'set', 'eth0', 'mtu', '9000')
        switch = lab.Switch(self, f'jumbo{os.getpid()}', [
            f'name = "E{i}"; devargs = "net_af_packet{i},iface={host.port}"; mtu = 9000;'
            for i, host in enumerate((a, b))]).start()
        for i in range(2):
            switch.wait_link(f'E{i}')
        self.assertEqual(a.ping(b, '-s', '8972', '-M', 'do'), 3)
        self.assert_conserved(switch)

    def test_interface_down(self):
        """An interface that is set down takes the port's link with it: nothing is sent to nowhere."""
        a, b = lab.Host(self, 1), lab.Host(self, 2)
        switch = lab.Switch(self, f'down{os.getpid()}', [
            f'name = "E{i}"; devargs = "net_af_packet{i},iface={host.port}"; mtu = 1500;'
            for i, host in enumerate((a, b))]).start()
        for i in range(2):
            switch.wait_link(f'E{i}')
        self.assertEqual(a.ping(b), 3)
        lab.run('ip', 'link', 'set', b.port, 'down')
        switch.wait_link('E1', up=False)
        lab.run('ip', 'link', 'set', b.port, 'up')
        switch.wait_link('E1')
        a.reach(b)
        self.assert_conserved(switch)

    def test_af_xdp(self):
        a, b = lab.Host(self, 1), lab.Host(self, 2)
        switch = lab.Switch(self, f'xdp{os.getpid()}', [
            f'name = "E{i}"; devargs = "net_af_xdp{i},iface={host.port}"; mtu = 1500;'
            for i, host in enumerate((a, b))]).start()
        for i in range(2):
            switch.wait_link(f'E{i}')
        self.assertEqual(a.ping(b, '-s', '1472', '-M', 'do'), 3)
        b.unplug()
        switch.wait_link('E1', up=False)
        b.plug()
        switch.wait_link('E1')
        a.run('ip', 'neigh', 'flush', 'all')
        a.reach(b)
        self.assert_conserved(switch)

    def test_af_xdp_sizes(self):
        """Frames up to the driver's limit pass, also beside a port of jumbo frames.

        A page holds 64 bytes of mempool header, 128 of mbuf, 64 of packet, 128 and 256 of headroom,
        14 of Ethernet and 8 of tags: the rest is the MTU.
        """
        largest = 4096 - 64 - 128 - 64 - 128 - 256 - 14 - 8
        a, b, c = (lab.Host(self, number) for number in (1, 2, 3))
        for host, mtu in ((a, largest), (b, largest), (c, 9000)):
            host.run('ip', 'link', 'set', 'eth0', 'mtu', str(mtu))
        switch = lab.Switch(self, f'sizes{os.getpid()}', [
            f'name = "E0"; devargs = "net_af_xdp0,iface={a.port}"; mtu = {largest};',
            f'name = "E1"; devargs = "net_af_xdp1,iface={b.port}"; mtu = {largest};',
            f'name = "E2"; devargs = "net_af_packet2,iface={c.port}"; mtu = 9000;']).start()
        for i in range(3):
            switch.wait_link(f'E{i}')
        limits = {row['name']: row['max_mtu'] for row in switch.get('/v1/driver')['drivers']}
        self.assertEqual(limits['net_af_xdp'], largest)
        for mtu in (1500, 1770, 1771, 2026, 2027, 3000, 3200, largest):
            for other in (b, c):
                with self.subTest(mtu=mtu, other=other.address):
                    self.assertEqual(a.ping(other, '-s', str(mtu - 28), '-M', 'do', count=2), 2)
        self.assert_conserved(switch)

    def test_tap(self):
        names = [f'wt{os.getpid()}n{i}' for i in range(2)]
        switch = lab.Switch(self, f'tap{os.getpid()}', [
            f'name = "E{i}"; devargs = "net_tap{i},iface={name}"; mtu = 1500; ' + lab.LOSSLESS_PORT
            for i, name in enumerate(names)], buffers=lab.LOSSLESS).start()
        ends = []
        for i, name in enumerate(names):
            switch.wait_link(f'E{i}')
            Path(f'/proc/sys/net/ipv6/conf/{name}/disable_ipv6').write_text('1')
            end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
            self.addCleanup(end.close)
            end.bind((name, 0))
            end.settimeout(5)
            ends.append(end)
        waits = lambda: switch.get('/v1/lcore')['lcores'][0]['interrupt_waits']
        lab.wait_for(waits, 10, 'waiting for interrupts', every=1)
        for i in range(5):
            frame = lab.udp_frame('02:00:00:00:00:01', '02:00:00:00:00:02', 200, number=i)
            ends[0].send(frame)
            lab.wait_for(lambda: ends[1].recv(2048) == frame, 5, 'frame forwarded')
        self.check_lossless(switch, ends[0])
        self.assert_conserved(switch)

    def check_lossless(self, switch, end):
        """What the port says of itself, and that the device hands a PFC frame over."""
        port = switch.port('E0')
        self.assertEqual((port['class'], port['pfc_path'], port['pfc_path_reason']),
                         ('ring', 'software', ''))
        # At least the driver's ring of 1000 frames; the group has 200 KiB.
        self.assertGreater(port['headroom_need_bytes'], 1000 * 1522)
        short = port['headroom_need_bytes'] - 200 * 1024
        self.assertIn(f'{short} bytes short', port['priority_groups'][3]['headroom_verdict'])
        end.send(bytes.fromhex('0180c2000001 020000000001 8808 0101 0008') +
                 bytes(6) + b'\x00\x10' + bytes(34))
        lab.wait_for(lambda: switch.port('E0')['priorities'][3]['pfc_rx_pkts'] == 1, 5,
                     'the PFC frame is counted')


if __name__ == '__main__':
    lab.main()
