#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A switch between capture files: frames come out as they went in, and the process ends clean."""
import os
import signal
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
import lab

A, B = '02:00:00:00:00:01', '02:00:00:00:00:02'
SIZES = (60, 64, 128, 1024, 1514)
POLLS = 2000        # of nothing: without --busy-poll an lcore has slept long before


class Forward(lab.SmokeTest):
    def switch(self, frames, mtu=1500, args=()):
        """The sink comes first, so it is up when the source starts."""
        source, sink = self.dir / 'in.pcap', self.dir / 'out.pcap'
        lab.write_pcap(source, frames)
        ports = (f'name = "Ethernet0"; devargs = "net_pcap0,tx_pcap={sink}"; mtu = {mtu};',
                 f'name = "Ethernet4"; devargs = "net_pcap1,rx_pcap={source},'
                 f'tx_pcap={self.dir / "back.pcap"}"; mtu = {mtu}; flood_rate = "0";')
        return lab.Switch(self, 'forward', ports, args=args).start(), sink

    def forwarded(self, frames, **kwargs):
        switch, sink = self.switch(frames, **kwargs)
        sent = lambda: switch.port('Ethernet0')['stats']['if_out_octets']
        lab.wait_for(lambda: sent() == sum(map(len, frames)), 10, 'all frames sent')
        self.assert_conserved(switch)
        return lab.read_pcap(sink)

    def test_unchanged(self):
        frames = [lab.udp_frame(A, B, SIZES[i % 5], number=i) for i in range(500)]
        self.assertEqual(self.forwarded(frames), frames)

    def test_busy_poll(self):
        frames = [lab.udp_frame(A, B, 64, number=i) for i in range(100)]
        self.assertEqual(self.forwarded(frames, args=('--busy-poll',)), frames)

    def test_hugepages(self):
        """With hugepages the packets live there, and all of them are free again afterwards."""
        pool = Path('/sys/kernel/mm/hugepages/hugepages-2048kB')
        before = (pool / 'nr_hugepages').read_text()
        free = int((pool / 'free_hugepages').read_text())
        self.addCleanup((pool / 'nr_hugepages').write_text, before)
        (pool / 'nr_hugepages').write_text(str(int(before) + 128))
        frames = [lab.udp_frame(A, B, 64, number=i) for i in range(100)]
        switch, _ = self.switch(frames, args=('--huge',))
        self.assertLess(int((pool / 'free_hugepages').read_text()), free + 128)
        self.assert_conserved(switch)
        self.assertEqual(int((pool / 'free_hugepages').read_text()), free + 128)

    def test_jumbo(self):
        """Frames of several mbufs, up to the largest MTU."""
        frames = [lab.udp_frame(A, B, length, number=i)
                  for i, length in enumerate((2048, 4096, 9014, 9230))]
        self.assertEqual(self.forwarded(frames, mtu=9216), frames)

    def test_oversize(self):
        frames = [lab.udp_frame(A, B, 1515), lab.udp_frame(A, B, 1514)]
        switch, sink = self.switch(frames)
        lab.wait_for(lambda: switch.port('Ethernet0')['stats']['if_out_octets'] == 1514, 10, 'sent')
        self.assertEqual(switch.port('Ethernet4')['drops'], {'FRAME_OVERSIZE': 1})
        self.assert_conserved(switch)
        self.assertEqual(lab.read_pcap(sink), frames[1:])

    def test_known_addresses(self):
        """The state directory's addresses are in the table at start: nothing is flooded."""
        state = self.dir / 'state' / 'forward'
        state.mkdir(parents=True)
        (state / 'macs').write_text(f'# comment\nnonsense\n{B} 1 Ethernet0\n')
        frames = [lab.udp_frame(A, B, 64, number=i) for i in range(50)]
        switch, _ = self.switch([])
        self.assertIn('macs:2: ', switch.log())
        entries = switch.get('/v1/mac')['entries']
        self.assertEqual([(e['mac'], e['vlan'], e['port']) for e in entries], [(B, 1, 'Ethernet0')])
        self.assert_conserved(switch)
        self.assertEqual(self.forwarded(frames), frames)
        self.assertEqual((state / 'macs').read_text().splitlines()[1:],
                         [f'{B} 1 Ethernet0', f'{A} 1 Ethernet4'])


class Lifecycle(lab.SmokeTest):
    def start(self, args=()):
        return lab.Switch(self, 'life', ('name = "A"; devargs = "net_null0,no-rx=1";',
                                         'name = "B"; devargs = "net_ring0";'), args=args).start()

    def leftovers(self, switch):
        return [str(path) for path in (self.dir / 'run' / 'life.sock',
                                       Path(f'/var/run/dpdk/weft-life-{switch.process.pid}'))
                if path.exists()]

    def test_signals(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number=number):
                switch = self.start()
                socket_path = self.dir / 'run' / 'life.sock'
                self.assertEqual(socket_path.stat().st_mode & 0o777, 0o660)
                self.assertEqual(switch.stop(number), 0, switch.log())
                self.assertEqual(self.leftovers(switch), [])

    def test_same_name(self):
        """A second switch of the same name is refused and does not disturb the first."""
        first = self.start()
        second = lab.Switch(self, 'life', ('name = "A"; devargs = "net_null0,no-rx=1";',))
        done = subprocess.run(second.argv(), capture_output=True, text=True, check=False, timeout=30)
        self.assertEqual(done.returncode, 1)
        self.assertIn('in use', done.stderr)
        self.assertTrue(first.get('/v1/lcore')['lcores'])
        self.assertEqual(first.stop(), 0)

    def test_killed(self):
        """What a killed process leaves does not stop the next one."""
        first = self.start()
        first.process.kill()
        first.process.wait(lab.STOP_SECONDS)
        self.assertTrue((self.dir / 'run' / 'life.sock').exists())
        second = self.start()
        self.assertEqual(second.stop(), 0)
        self.assertEqual(self.leftovers(second), [])

    def test_idle(self):
        """An idle switch sleeps; with --busy-poll it does not."""
        for args, sleeps in (((), True), (('--busy-poll',), False)):
            with self.subTest(args=args):
                switch = self.start(args)
                polls = lambda: switch.get('/v1/lcore')['lcores'][0]
                before = polls()
                if sleeps:
                    lab.wait_for(lambda: polls()['sleeps'] > before['sleeps'], 10, 'sleep', every=1)
                else:
                    lab.wait_for(lambda: polls()['polls'] > before['polls'] + POLLS, 10, 'polling')
                    self.assertEqual(polls()['sleeps'], before['sleeps'])
                self.assertEqual(switch.stop(), 0)

    def test_control_socket(self):
        switch = self.start()
        self.assertEqual(len(switch.get('/v1/stats')['ports']), 2)
        self.assertTrue(switch.get('/v1/driver')['drivers'])
        boot = switch.get('/v1/stats')['switch']['boot_id']
        self.assertRegex(boot, '^[0-9a-f]{16}$')
        self.assertEqual(switch.get('/v1/stats')['switch']['boot_id'], boot)
        for method, path, status in (('GET', '/v1/none', 404), ('POST', '/v1/stats', 405),
                                     ('GET', '/v1/clear', 405), ('POST', '/v1/clear', 200),
                                     ('GET', '/v1/stats?watermark=x', 400),
                                     ('GET', '/v1/stats?watermark=periodic', 200),
                                     ('POST', '/v1/clear?poll_gap=1', 200),
                                     ('POST', '/v1/clear?poll_gap', 400)):
            with self.subTest(method=method, path=path):
                answer, body = switch.request(method, path)
                self.assertEqual(answer, status)
                self.assertEqual('error' in body, status != 200)
        self.assertEqual(switch.stop(), 0)
        self.assertNotEqual(switch.start().get('/v1/stats')['switch']['boot_id'], boot)
        self.assertEqual(switch.stop(), 0)


if __name__ == '__main__':
    os.umask(0o022)
    lab.main()
