#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Facts are judged, speeds are reported: the machine may be busy. Ports and hosts may catch up 20 ms of
# it, so that what is measured is not the scheduler alone.
"""weft-traffic: hosts in software through a real switch with emulated 1G ports."""
import json
import os
import random
import re
import shlex
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
import lab

PORT = 'speed = "1G"; burst = "20ms"; '
HOST = ('--speed', '1G', '--burst', '20ms', '--retry-timeout', '30s')
ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 240

COUNTS = ('lossless_drops', 'retransmits', 'ce_marked', 'cnps', 'pauses_received')


def line_bytes(op, size, mtu=1024):
    """A message on the line: Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, and 24 of FCS, preamble and gap."""
    once = {'write': 16, 'send': 0, 'read': 8 if size > mtu else 4}[op]
    return -(-size // mtu) * (58 + 24) + once + size


def catches(pid, number):
    mask = re.search(r'^SigCgt:\s*(\w+)$', Path(f'/proc/{pid}/status').read_text(), re.M)[1]
    return int(mask, 16) >> (number - 1) & 1


class Traffic(lab.SmokeTest):
    def switch(self, name, count, buffers='roce = "lossless";\n', more='', lldp=False):
        ports = [lab.memif_port(f'Ethernet{n}', n, self.dir / f'{name}{n}', PORT + more) for n in range(count)]
        return lab.Switch(self, name, ports, buffers, lldp=lldp).start()

    def start(self, *words):
        process = subprocess.Popen([TRAFFIC, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        lab.LEFT.append(process.kill)
        self.addCleanup(process.kill)
        return process

    def end(self, process, status):
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, status, f'{process.args}:\n{out}{err}')
        self.assert_gone(process)
        return out, err

    def assert_gone(self, process):
        self.assertFalse(Path(f'/var/run/dpdk/weft-traffic-{process.pid}').exists(), 'left behind')

    def run_pair(self, *words, status=0):
        return json.loads(self.end(self.start(*words, '--hosts', 'pair', '--json'), status)[0])

    def run_hosts(self, name, count, *words, status=0):
        """Hosts on the first `count` ports of a switch; returns the report."""
        hosts = f'memif:{self.dir}/{name}{{0-{count - 1}}}'
        out, _ = self.end(self.start('--hosts', hosts, '--json', *HOST, *words), status)
        report = json.loads(out)
        if words[0] == 'replay':
            return report
        print(f'# {" ".join(words)}: {report["goodput_gbps"]:.3f} Gb/s of {report["ceiling_gbps"]:.3f}, Jain '
              f'{report["jain"]:.4f}, CE {report["ce_marked"]}, CNPs {report["cnps"]}, pauses '
              f'{report["pauses_received"]}', flush=True)
        return report

    def assert_clean(self, report):
        self.assertEqual((report['outcome'], report['good']), ('done', 1))
        for key in ('lossless_drops', 'retransmits', 'timeouts', 'icrc_errors', 'failed'):
            self.assertEqual(report[key], 0, key)

    def test_pair(self):
        """Two hosts in memory, no switch."""
        for words, count in ((('write',), 20), (('read', '--qps', '3'), 60), (('send', '--bidirectional'), 40),
                             (('write', '--latency', '--size', '8', '--iters', '1000'), 1000),
                             (('send', '--mtu', '4096', '--size', '4M', '--ip', 'fd00::1'), 20)):
            report = self.run_pair(*words)
            self.assert_clean(report)
            self.assertEqual(report['iterations'], count)
            self.assertEqual(report['bytes'], count * report['size_bytes'])
        for words in (('all-reduce', '--algorithm', 'tree'), ('all-gather',), ('reduce-scatter',), ('all-to-all',),
                      ('moe', '--skew', '80%')):
            report = self.run_pair(*words, '--iters', '5')
            self.assert_clean(report)
            self.assertEqual((report['iterations'], report['wrong']), (5, 0))
            self.assertGreater(report['checked'], 0)

    def test_keys(self):
        """What scripts rely on is there in the report of every workload, and fits what else it says."""
        switch = self.switch('keys', 4)
        trace = self.dir / 'keys.trace'
        trace.write_text('0 0 1 64K\n0 2 1 64K\n')
        size, piece = 65536, 16384
        ring = piece / line_bytes('write', piece)
        write = size / line_bytes('write', size)
        for words, ceiling, bus in (
                (('write',), 2 * write, None), (('send',), 2 * size / line_bytes('send', size), None),
                (('read',), 2 * size / line_bytes('read', size), None),
                (('incast',), write, None), (('permutation',), 4 * write, None), (('mesh',), 4 * write, None),
                (('victim',), 1.5 * write, None),      # two go to host 0, and two come from host 1
                (('trace', '--trace', str(trace)), write, None), (('write', '--load', '10%'), 2 * write, None),
                (('all-reduce',), ring, 1.5), (('all-gather',), ring, 0.75), (('reduce-scatter',), ring, 0.75),
                (('all-to-all',), ring, 0.75), (('all-reduce', '--algorithm', 'tree'), None, 1.5),
                (('moe',), None, None)):
            with self.subTest(words):
                report = self.run_hosts('keys', 4, *words, '--size', '64K', '--iters', '2')
                self.assert_clean(report)
                self.assertTrue(all(isinstance(report[key], int) and report[key] >= 0 for key in COUNTS))
                self.assertTrue(0 < report['jain'] <= 1)
                self.assertTrue(0 < report['latency_p50_us'] <= report['latency_p99_us'])
                self.assertAlmostEqual(report['ceiling_ratio'], report['goodput_gbps'] / report['ceiling_gbps'], 6)
                if ceiling is not None:
                    self.assertAlmostEqual(report['ceiling_gbps'], ceiling, 6)
                if words[0] in ('moe', 'all-to-all', 'all-reduce', 'all-gather', 'reduce-scatter'):
                    self.assert_collective(report, bus)
                else:
                    self.assertGreaterEqual(report['goodput_gbps'], 8e-9 * report['bytes'] / report['seconds'])
        self.assertEqual(lab.drops(switch), [])
        self.assert_conserved(switch)

    def assert_collective(self, report, bus):
        self.assertAlmostEqual(report['algbw_gbs'], report['size_bytes'] / report['time_us'] / 1e3, 6)
        if bus is not None:
            self.assertAlmostEqual(report['busbw_gbs'], report['algbw_gbs'] * bus, 6)
        self.assertGreaterEqual(report['busbw_gbs'], 0.5 * report['algbw_gbs'])
        self.assertAlmostEqual(report['ideal_ratio'], report['ideal_us'] / report['time_us'], 6)
        self.assertAlmostEqual(report['ideal_ratio'], report['ceiling_ratio'], 6)
        self.assertEqual(report['wrong'], 0)
        self.assertIn(report['slowest_rank'], range(4))
        self.assertIn(report['cause'], ('none', 'port', 'paused', 'marked', 'retransmitted'))

    def test_troubles(self):
        """What is wrong with a host on purpose shows, is recovered from, and is said by the exit status."""
        report = self.run_pair('write', '--trouble', '0:corrupt=1%', status=1)
        self.assertEqual((report['iterations'], report['good']), (20, 0))
        self.assertGreater(report['icrc_errors'], 0)
        self.assertGreater(report['retransmits'], 0)
        report = self.run_pair('write', '--trouble', '0:corrupt=1%', '--no-pfc')
        self.assertEqual((report['iterations'], report['lossless_drops']), (20, 0))
        self.assertGreater(report['retransmits'], 0)
        # Reordering costs go-back-N packets, and selective hosts nothing.
        report = self.run_pair('write', '--trouble', '0:reorder=1%', '--no-pfc')
        self.assertEqual(report['iterations'], 20)
        self.assertGreater(report['retransmits'], 0)
        report = self.run_pair('write', '--trouble', '0:reorder=1%', '--no-pfc', '--selective', '--reorder-time', '1s')
        self.assertEqual((report['iterations'], report['retransmits']), (20, 0))
        # A slow receiver pauses its peer and loses nothing.
        report = self.run_pair('send', '--iters', '4', '--trouble', '1:slow=1G')
        self.assert_clean(report)
        self.assertGreater(report['pauses_received'], 0)
        self.assertGreater(report['ranks'][0]['paused_us'], 0)
        self.assertGreater(report['ranks'][1]['pausing_us'], 0)
        # Unless the peer ignores it.
        report = self.run_pair('send', '--iters', '2', '--trouble', '1:slow=1G', '--trouble', '0:ignore_pfc', status=1)
        self.assertEqual(report['iterations'], 2)
        self.assertGreater(report['ranks'][1]['overflows'], 0)
        # A storm holds everything until it ends.
        report = self.run_pair('write', '--iters', '1', '--trouble', '1:storm=3,storm_stop=300ms')
        self.assert_clean(report)
        self.assertGreater(report['ranks'][0]['paused_us'], 50_000)

    def run_perftest(self, *words):
        """Reports of the server and the client of one test."""
        ends = []
        for host, role in ((2, ('--listen',)), (1, ('--connect', '10.1.0.2'))):
            ends.append(self.start('perftest', *role, '--ip', f'10.1.0.{host}', '--mac', f'02:00:00:00:00:0{host}',
                                   '--hosts', f'memif:{self.dir}/pair{host - 1}', '--json', '--size', '100000', *words,
                                   *HOST))
            if len(ends) == 1:
                self.assertIn('waiting for a client', ends[0].stderr.readline())
        reports = [json.loads(self.end(process, 0)[0]) for process in ends]
        for report in reports:
            for key in ('retransmits', 'out_of_sequence', 'refused', 'rx_bad', 'kernel_lost'):
                self.assertEqual(report[key], 0, f'{words} {key}')
        return reports

    def test_perftest(self):
        """Both ends of perftest's handshake, each with a kernel's TCP behind its port."""
        switch = self.switch('pair', 2)
        for op in ('write', 'read', 'send'):
            server, client = self.run_perftest('--op', op)
            sender, receiver = (server, client) if op == 'read' else (client, server)
            self.assertEqual((sender['tx_bytes'], receiver['rx_bytes']), (20 * 100000, 20 * 100000), op)
            self.assertEqual((server['bytes'], server['iterations']), (100000, 20), op)
            reports = self.run_perftest('--op', op, '--bidirectional', '--qps', '3')
            for report in reports:
                self.assertEqual((report['tx_bytes'], report['rx_bytes']), (60 * 100000, 60 * 100000), op)
                self.assertEqual((report['iterations'], report['qps'], report['bidirectional']), (60, 3, True), op)
            # Both say what both did together.
            self.assertAlmostEqual(reports[0]['bw_average'], reports[1]['bw_average'], places=5)
        self.assert_conserved(switch)

    def test_point_to_point(self):
        switch = self.switch('line', 2)
        for words in (('write',), ('read',), ('send',), ('send', '--latency', '--size', '64', '--iters', '50')):
            self.assert_clean(self.run_hosts('line', 2, *words))
        self.assertEqual(lab.drops(switch), [])
        self.assertGreater(switch.get('/v1/stats')['switch']['rx_packets'], 3 * 20 * 1024)
        self.assert_conserved(switch)

    def test_incast(self):
        """7 to 1 with PFC, ECN and DCQCN: nothing is lost or sent again, and the switch has held and marked."""
        switch = self.switch('incast', 8)
        report = self.run_hosts('incast', 8, 'incast', '--iters', '10', *self.ask('incast'))
        self.assert_clean(report)
        self.assertEqual(report['iterations'], 70)
        self.assertGreaterEqual(report['jain'], 0.9)
        self.assertGreater(report['ceiling_ratio'], 0.01)
        self.assertLessEqual(report['ceiling_ratio'], 1.3)      # with what ports catch up
        ports = switch.ports()
        marked = ports[0]['queues'][3]['wred_ecn_marked_packets']
        self.assertGreater(marked, 0)
        self.assertEqual(report['ce_marked'], marked)
        self.assertEqual(report['switch_ce_marked'], marked)
        # A question that reached the switch before another port was up is no loss.
        self.assertEqual(set(report['switch_reasons']) - {'FLOOD_NOWHERE'}, set())
        self.assertEqual(report['switch_lossless_drops'], 0)
        self.assertEqual(report['switch_pauses_sent'], sum(port['priorities'][3]['pfc_tx_pkts'] for port in ports))
        self.assertEqual(report['switch_headroom_bytes'], max(
            port['priority_groups'][3]['xoff_room_watermark_bytes'] for port in ports))
        self.assertGreater(report['cnps'], 0)
        self.assertGreater(sum(port['priority_groups'][3]['xoff_events'] for port in ports[1:]), 0)
        sent = sum(port['priorities'][3]['pfc_tx_pkts'] for port in ports)
        self.assertGreater(sent, 0)
        self.assertLessEqual(report['pauses_received'], sent)
        self.assertEqual(lab.drops(switch), [])
        self.assert_conserved(switch)

    def test_lossy(self):
        """The same without PFC: losses, which go-back-N recovers and counts."""
        switch = self.switch('lossy', 8, 'roce = "lossy";\n')
        report = self.run_hosts('lossy', 8, 'incast', '--iters', '4', '--no-pfc', '--no-congestion-control',
                                '--window', '256', '--retry-timeout', '200ms', '--retries', '255', *self.ask('lossy'))
        self.assertEqual((report['outcome'], report['iterations'], report['failed']), ('done', 28, 0))
        self.assertGreater(report['retransmits'], 0)
        drops = lab.drops(switch)
        self.assertGreater(sum(count for *_, count in drops), 0)
        counted = {reason: count for reason, count in report['switch_reasons'].items() if reason != 'FLOOD_NOWHERE'}
        self.assertEqual(sum(counted.values()), sum(count for *_, count in drops))
        self.assertEqual(set(counted), {reason for *_, reason, _ in drops})
        self.assert_conserved(switch)

    def test_all_reduce(self):
        """Round a ring of eight, and then with one that is at half speed, which is named."""
        switch = self.switch('ring', 8)
        report = self.run_hosts('ring', 8, 'all-reduce', '--size', '1M', '--iters', '3', '--warmup', '1')
        self.assert_clean(report)
        self.assertEqual((report['wrong'], report['iterations']), (0, 3))
        self.assertEqual(report['checked'], 2 * 8 * (1 << 18))     # in the first and the last operation
        # At a rate at which nobody is late.
        report = self.run_hosts('ring', 8, 'all-reduce', '--size', '256K', '--iters', '3', '--warmup', '1',
                                '--speed', '20M', '--host', '5:speed=10M')
        self.assert_clean(report)
        self.assertEqual((report['slowest_rank'], report['cause']), (5, 'port'))
        self.assertEqual(report['ranks'][6]['waited_for'], 5)
        report = self.run_hosts('ring', 8, 'moe', '--size', '1M', '--iters', '3', '--warmup', '1')
        self.assert_clean(report)
        self.assertEqual(report['wrong'], 0)
        self.assertEqual(lab.drops(switch), [])
        self.assert_conserved(switch)

    def test_interrupted(self):
        """Ctrl-C prints what was measured so far."""
        process = self.start('write', '--hosts', 'pair', '--duration', '300s', '--json', '--progress')
        line = b''
        while b'Gb/s' not in line:
            line += process.stderr.buffer.read1(4096)
        process.send_signal(signal.SIGINT)
        report = json.loads(self.end(process, 0)[0])
        self.assertEqual((report['outcome'], report['good']), ('stopped', 1))
        self.assertGreater(report['iterations'], 0)
        self.assertLess(report['seconds'], 300)

    def test_af_packet(self):
        """Two hosts on the two ends of a cable of the kernel."""
        name = f'weft-traffic-{os.getpid()}'
        self.addCleanup(subprocess.run, ['ip', 'netns', 'del', name], check=False, capture_output=True)
        lab.run('ip', 'netns', 'add', name)
        lab.run('ip', '-n', name, 'link', 'add', 'left', 'type', 'veth', 'peer', 'name', 'right')
        for end in ('left', 'right'):
            lab.run('ip', 'netns', 'exec', name, 'sysctl', '-qw', f'net.ipv6.conf.{end}.disable_ipv6=1')
            lab.run('ip', '-n', name, 'link', 'set', end, 'up')
        hosts = 'net_af_packet{0-1},iface={left,right}'
        done = subprocess.run(['ip', 'netns', 'exec', name, TRAFFIC, 'send', '--hosts', hosts, '--size', '64K', '--json',
                               *HOST], check=False, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(json.loads(done.stdout)['iterations'], 20)

    def test_victim(self):
        """A flow beside an incast gets its messages through; each flow is reported."""
        switch = self.switch('victim', 5)
        report = self.run_hosts('victim', 5, 'victim', '--iters', '3', '--gap', '1ms', '--qps', '2')
        self.assert_clean(report)
        self.assertEqual([(flow['src'], flow['dst'], flow['messages']) for flow in report['flows']],
                         [(1, 0, 6), (2, 0, 6), (3, 0, 6), (1, 4, 6)])
        self.assertEqual(lab.drops(switch), [])
        self.assert_conserved(switch)

    def test_open(self):
        """A load of a distribution and a trace: every message arrives, and starts when it is due."""
        switch = self.switch('open', 4)
        report = self.run_hosts('open', 4, 'mesh', '--sizes', str(ROOT / 'deploy/examples/sizes/hadoop'), '--load',
                                '20%', '--iters', '10', '--qps', '4')
        self.assert_clean(report)
        self.assertEqual(report['iterations'], 4 * 3 * 4 * 10)
        self.assertEqual(sum(size['messages'] for size in report['sizes']), report['iterations'])
        self.assertEqual(sum(flow['bytes'] for flow in report['flows']), report['bytes'])
        trace = self.dir / 'trace'
        trace.write_text('# time src dst bytes\n0.3 0 1 5000\n100ms,2,1,64K\n200ms 3 0 1M # the last\n')
        report = self.run_hosts('open', 4, 'trace', '--trace', str(trace))
        self.assert_clean(report)
        self.assertEqual([(flow['src'], flow['dst'], flow['messages'], flow['bytes']) for flow in report['flows']],
                         [(0, 1, 1, 5000), (2, 1, 1, 65536), (3, 0, 1, 1 << 20)])
        self.assertGreaterEqual(report['seconds'], 0.3)
        self.assertEqual([size['messages'] for size in report['sizes']], [0, 1, 1, 0, 1, 0])
        self.assertEqual(lab.drops(switch), [])
        self.assert_conserved(switch)
        trace.write_text('0.1 0 1 5000\n0.2 0 9 5000\n')
        _, err = self.end(self.start('trace', '--trace', str(trace), '--hosts', 'pair'), 2)
        self.assertIn(f'{trace}:2: "9" is no host: those are 0 to 1', err)

    def test_replay(self):
        """Frames of a capture arrive as they were, at their times; the switch has seen as many."""
        switch = self.switch('replay', 3)
        capture = self.dir / 'replay.pcap'
        sizes = [60 + 7 * i for i in range(200)]
        with capture.open('wb') as file:
            file.write(struct.pack('<IHHiIII', 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
            for i, size in enumerate(sizes):
                # Priority 3 and another in turn, and some for all.
                dst = b'\xff' * 6 if i % 50 == 0 else bytes.fromhex('02aa00000001')
                words = [0x4500 | (26 * 4 if i % 2 else 0), size - 14, i, 0, 0x4011, 0, 0x0a09, 1, 0x0a09, 2]
                words[5] = 0xffff - (sum(words) - 1) % 0xffff - 1
                frame = dst + bytes.fromhex('02aa000000020800') + struct.pack('>14H', *words, 9, 9, size - 34, 0)
                file.write(struct.pack('<IIII', 1, 1000 * i, size, size) + frame + bytes(size - len(frame)))
        before = {port['name']: port['stats'] for port in switch.ports()}
        report = self.run_hosts('replay', 3, 'replay', '--pcap', str(capture), '--pcap-rate', '50%')
        after = {port['name']: port['stats'] for port in switch.ports()}
        self.assertEqual((report['outcome'], report['good'], report['frames_lost']), ('done', 1, 0),
                         lab.drops(switch))
        self.assertEqual((report['frames'], report['frames_sent']), (200, 200))
        self.assertEqual(report['frame_bytes'], sum(sizes))
        self.assertEqual([(rank['frames'], rank['frame_bytes']) for rank in report['ranks'][:2]],
                         [(0, 0), (200, sum(sizes))])
        self.assertEqual(report['ranks'][2]['frames'], 4)       # for all
        self.assertGreaterEqual(report['seconds'], 0.398)       # 199 ms at half of the speed

        def count(port, key):
            return after[port][key] - before[port][key]
        self.assertEqual(count('Ethernet0', 'if_in_ucast_pkts'), 196)
        self.assertEqual(count('Ethernet1', 'if_out_ucast_pkts'), 196)
        self.assertGreaterEqual(count('Ethernet0', 'if_in_octets'), sum(sizes))
        self.assertEqual(lab.drops(switch), [])
        self.assert_conserved(switch)
        # One that is cut off is found before anything is sent.
        capture.write_bytes(capture.read_bytes()[:-1])
        _, err = self.end(self.start('replay', '--pcap', str(capture), '--hosts', 'pair'), 2)
        self.assertIn(f'{capture}: frame 200: truncated dump file', err)

    def test_timeout(self):
        report = self.run_pair('write', '--duration', '300s', '--timeout', '100ms', status=1)
        self.assertEqual((report['outcome'], report['good']), ('timeout', 0))

    def test_killed(self):
        """Hosts that vanish with packets on their way leave the switch as it was, whatever its lcore does then."""
        ports = [lab.memif_port(f'Ethernet{n}', n, self.dir / f'vanish{n}', PORT) for n in range(8)]
        switch = lab.Switch(self, 'vanish', ports, 'roce = "lossless";\n', args=('--busy-poll',))
        # On one processor what notices that they went interrupts the lcore somewhere.
        switch.sandbox = lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        switch.start()
        for _ in range(4):
            before = switch.get('/v1/stats')['switch']['tx_packets']
            hosts = self.start('incast', '--duration', '60s', '--hosts', f'memif:{self.dir}/vanish{{0-7}}', *HOST)
            lab.wait_for(lambda: switch.get('/v1/stats')['switch']['tx_packets'] > before + 2000, 60, 'packets')
            hosts.kill()
            hosts.communicate()
            self.assert_gone(hosts)
            switch.wait_link('Ethernet0', up=False)
        self.assertIsNone(switch.process.poll())
        self.assert_conserved(switch)

    def test_lldp(self):
        """The switch lists the hosts with what they say of PFC, and forgets them when they end."""
        switch = self.switch('names', 2, lldp=True)

        def neighbors():
            return [one for port in switch.get('/v1/lldp')['ports'] for one in port['neighbors']]

        for dcbx in ('announce', 'willing', 'off'):
            process = self.start('write', '--hosts', f'memif:{self.dir}/names{{0-1}}', '--duration', '60s', '--json',
                                 '--size', '16K', '--dcbx', dcbx, *HOST)
            found = lab.wait_for(lambda: len(found := neighbors()) == 2 and found, 20, 'two neighbours')
            self.assertEqual([one['system_name'] for one in found], ['weft-traffic 0', 'weft-traffic 1'])
            self.assertEqual([one['management_address'] for one in found], ['10.1.0.1', '10.1.0.2'])
            for one in found:
                if dcbx == 'off':
                    self.assertNotIn('pfc', one['dcbx'])
                    continue
                self.assertEqual(one['dcbx']['pfc']['enable'], '3')
                self.assertEqual(one['dcbx']['pfc']['willing'], dcbx == 'willing')
            process.send_signal(signal.SIGINT)
            self.end(process, 0)
            lab.wait_for(lambda: not neighbors(), 10, 'none')
        self.assert_conserved(switch)

    def ask(self, name):
        return '--switch-name', str(self.dir / 'run' / f'{name}.sock')

    def test_no_such_switch(self):
        for name, says in ((str(self.dir / 'gone.sock'), 'no switch is running'),
                           (str(self.dir / 'gone'), 'a socket is named NAME.sock')):
            _, err = self.end(self.start('write', '--hosts', 'pair', '--switch-name', name), 2)
            self.assertIn('weft-traffic: ', err)
            self.assertIn(says, err)
            self.assertEqual(err.count('\n'), 1, err)

    def test_starved(self):
        """A process that is not let run for longer than the retry timeout does not send again because of that."""
        process = self.start('write', '--hosts', 'pair', '--duration', '5s', '--json', '--speed', '1G',
                             '--retry-timeout', '300ms')
        lab.wait_for(lambda: catches(process.pid, signal.SIGINT), 10, 'a handler of SIGINT')
        for _ in range(3):
            time.sleep(0.5)
            process.send_signal(signal.SIGSTOP)
            time.sleep(0.7)
            process.send_signal(signal.SIGCONT)
        report = json.loads(self.end(process, 0)[0])
        self.assert_clean(report)
        self.assertGreater(report['starved_us'], 3 * 690_000)

    def test_no_directory(self):
        """What is wrong with the path of a socket is said without the driver's own words."""
        _, err = self.end(self.start('write', '--hosts', f'memif:{self.dir}/none/{{0-1}}'), 2)
        self.assertEqual(err, f'weft-traffic: host 0: no socket can be at {self.dir}/none/0: '
                         'No such file or directory\n')
        long = self.dir / ('x' * 120)
        _, err = self.end(self.start('write', '--hosts', f'memif:{long}{{0-1}}'), 2)
        self.assertEqual(err, f'weft-traffic: host 0: no socket can be at {long}0: File name too long\n')

    def test_ended_early(self):
        """Whenever it is ended, and with both ends of a link in one process, it ends in order."""
        dice = random.Random(20)
        for n in range(20):
            hosts = [word for end, role in enumerate(('server', 'client')) for word in
                     ('--port', f'net_memif{end},role={role},socket={self.dir}/early{n},socket-abstract=no,rsize=5')]
            process = self.start('write', '--duration', '60s', '--json', *hosts)
            # Behind that moment a signal no longer just kills it.
            lab.wait_for(lambda: catches(process.pid, signal.SIGINT), 10, 'a handler of SIGINT')
            time.sleep(dice.random() * 0.5)
            process.send_signal((signal.SIGINT, signal.SIGTERM, signal.SIGHUP)[n % 3])
            out, err = process.communicate(timeout=PATIENCE)
            # Before there was a link there is nothing to report.
            self.assertIn(process.returncode, (0, 1), err)
            self.assertEqual(process.returncode, 0 if out and json.loads(out)['good'] else 1, f'{out}{err}')
            self.assert_gone(process)
            self.assertTrue(out or 'stopped while it waited for links' in err, err)

    def test_no_switch(self):
        """Ports without a link are named."""
        _, err = self.end(self.start('write', '--hosts', f'memif:{self.dir}/none{{0-1}}', '--link-timeout', '200ms'), 2)
        self.assertEqual(err.count('\n'), 2, err)      # without the driver's own words
        for rank in (0, 1):
            self.assertIn(f'host {rank}: no link: net_memif{rank},role=client,socket={self.dir}/none{rank}', err)

    def test_no_device(self):
        for device, says in (('nosuch{0-1}', 'nosuch0: the port cannot be opened: no driver has this name'),
                             ('net_af_packet{0-1},iface=nosuch', 'its driver does not take it')):
            _, err = self.end(self.start('write', '--hosts', device), 2)
            self.assertIn(says, err)

    def test_output_fails(self):
        """A full disk is an error, and so is a reader that has gone."""
        capture = ROOT / 'tests/data/captures/kinds.pcap'
        for words in (('--help',), ('write', '--hosts', 'pair', '--dump'), ('write', '--hosts', 'pair', '--iters', '1'),
                      ('all-reduce', '--hosts', 'pair', '--size', '4K', '--json'),
                      ('replay', '--hosts', 'pair', '--pcap', str(capture), '--json')):
            reader, closed = os.pipe()
            os.close(reader)
            with open('/dev/full', 'wb') as full:
                for out in (full, closed):
                    done = subprocess.run([TRAFFIC, *words], stdout=out, stderr=subprocess.PIPE, text=True, check=False,
                                          timeout=PATIENCE)
                    self.assertEqual((done.returncode, done.stderr),
                                     (1, 'weft-traffic: the output cannot be written\n'), words)
            os.close(closed)

    def test_switch_goes(self):
        """A run whose links go away ends, says whose, and prints what was measured."""
        switch = self.switch('gone', 2)
        process = self.start('write', '--hosts', f'memif:{self.dir}/gone{{0-1}}', '--duration', '300s', '--json',
                             '--progress', *HOST)
        line = b''
        while b'Gb/s' not in line:
            line += process.stderr.buffer.read1(4096)
        switch.stop()
        out, err = self.end(process, 1)
        report = json.loads(out)
        self.assertEqual((report['outcome'], report['good']), ('failed', 0))
        self.assertGreater(report['iterations'], 0)
        self.assertLess(report['seconds'], 200)
        for rank in (0, 1):
            self.assertIn(f'host {rank}: no link: net_memif{rank},', err)

    def test_stopped_without_link(self):
        """Ctrl-C while it waits for links says so."""
        process = self.start('write', '--hosts', f'memif:{self.dir}/never{{0-1}}', '--link-timeout', '200s')
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        _, err = self.end(process, 1)
        self.assertIn('stopped while it waited for links', err)
        self.assertIn('host 0: no link: net_memif0,', err)

    def test_switch_comes_later(self):
        """Hosts may start first."""
        process = self.start('write', '--hosts', f'memif:{self.dir}/later{{0-1}}', '--json', *HOST)
        time.sleep(0.5)
        self.switch('later', 2)
        self.assert_clean(json.loads(self.end(process, 0)[0]))

    def test_documented(self):
        """Each command of docs/traffic.md that needs nothing else, and the scenario that it shows."""
        text = (ROOT / 'docs/traffic.md').read_text()
        scenario = re.search(r'^```\n(workload = .*?)^```$', text, re.M | re.S)[1]
        (self.dir / 'scenario.cfg').write_text(scenario)
        (self.dir / 'trace.txt').write_text(re.search(r'^```\n(# time .*?)^```$', text, re.M | re.S)[1])
        commands = re.findall(r'^weft-traffic (.*(?:--hosts pair|-c scenario\.cfg).*)$', text, re.M)
        self.assertGreater(len(commands), 3)
        for command in commands:
            done = subprocess.run([TRAFFIC, *shlex.split(command.partition('#')[0])], cwd=self.dir, check=False,
                                  capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(done.returncode, 0, f'{command}\n{done.stdout}{done.stderr}')


if __name__ == '__main__':
    TRAFFIC = Path(sys.argv.pop(2)).resolve()
    lab.main()
