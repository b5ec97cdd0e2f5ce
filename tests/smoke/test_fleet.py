#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Many switches in one process on in-memory links, and one process per switch over memif."""
import json
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import lab

NULL = 'name = "N"; devargs = "net_null{},no-rx=1";'

# Priority 3 is lossless. Headroom is what comes after XOFF at 100 Mbit/s through a ring of 32 frames;
# the switch warns when it is less than its formula asks for.
LOSSLESS = lab.lossless(20000, 180000)
PFC = 'tx_ring = 32; pfc_enable = "3"; tc_to_pg_map = "three"; '
FAST, SLOW = PFC + 'speed = "100M";', PFC + 'speed = "10M";'


class Links(lab.SmokeTest):
    def fleet(self, count, edges, at, **more):
        """Hosts h1, h2, ... on the switches `at`, behind the links of the edges."""
        hosts = [lab.Host(self, i + 1) for i in range(len(at))]
        ports = lab.linked_ports(count, edges)
        for i, host in enumerate(hosts):
            ports[at[i]].append(lab.veth_port(f'Host{i + 1}', host, i))
        return hosts, lab.Fleet(self, ports, **more).start()

    def test_two(self):
        (a, b), fleet = self.fleet(2, [(0, 1)], (0, 1))
        self.assertEqual(a.ping(b, '-s', '1472', '-M', 'do'), 3)
        for number, (near, far) in enumerate((('Host1', 'Ethernet0'), ('Ethernet0', 'Host2'))):
            where = {e['mac']: e['port'] for e in fleet[number].get('/v1/mac')['entries']}
            self.assertEqual(where, {a.mac: near, b.mac: far})
        self.assertEqual(fleet.drops(), [])
        port = fleet[0].port('Ethernet0')
        self.assertEqual((port['driver'], port['class'], port['devargs']), ('link', 'ring', 'link:s0-s1'))
        # The transmit ring (64 by default) and a refused burst of 32, of frames with two tags.
        self.assertEqual(port['ring_bytes'], (64 + 32) * (1500 + 14 + 8))
        fleet.assert_conserved()

    def test_foreign_device(self):
        """A device belongs to one switch, when they start and when one is changed."""
        fleet = lab.Fleet(self, [[NULL.format(0)], [NULL.format(1)]]).start()
        edit = {'op': 'set', 'table': 'port', 'key': ['N'], 'knobs': {'devargs': 'net_null0,no-rx=1'}}
        status, answer = fleet[1].request('POST', '/v1/config', json.dumps({'edits': [edit], 'force': True}))
        self.assertEqual(status, 400, answer)
        self.assertRegex(json.dumps(answer), f'port N: its device belongs to a port of {fleet[0].config} already')
        fleet.assert_conserved()
        both = lab.Fleet(self, [[NULL.format(0)], [NULL.format(0)]])
        done = subprocess.run(both[0].argv('--check'), capture_output=True, text=True, check=False, timeout=20)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, rf'{both[1].config}:\d+: port N: its device belongs to a port of')

    def test_cut(self):
        """A cut takes both ends down, a healed link forwards again; a short cut is not overlooked."""
        (a, b), fleet = self.fleet(2, [(0, 1)], (0, 1))
        self.assertEqual(a.ping(b), 3)
        self.assertEqual(fleet[1].request('POST', '/v1/link?cut=1&port=Ethernet0')[0], 200)
        for switch in fleet.switches:
            switch.wait_link('Ethernet0', up=False)
        self.assertEqual(a.ping(b, '-W', '1', count=1), 0)
        self.assertEqual(fleet[0].request('POST', '/v1/link?heal=1&port=Ethernet0')[0], 200)
        for switch in fleet.switches:
            switch.wait_link('Ethernet0')
        self.assertEqual(a.ping(b), 3)
        downs = [fleet.log().count(f's{i} Ethernet0: link down') for i in range(2)]
        self.assertEqual(downs, [1, 1])
        for what in ('cut', 'heal'):
            fleet[0].request('POST', f'/v1/link?{what}=1&port=Ethernet0')
        for i, switch in enumerate(fleet.switches):
            lab.wait_for(lambda: fleet.log().count(f's{i} Ethernet0: link down') == 2, 10, 'second cut')
            switch.wait_link('Ethernet0')
        self.assertEqual(a.ping(b), 3)
        for path, status in (('/v1/link?cut=1&port=Host1', 400), ('/v1/link?cut=1&port=None', 400),
                             ('/v1/link?port=Ethernet0', 400)):
            self.assertEqual(fleet[0].request('POST', path)[0], status)
        fleet.assert_conserved()

    def test_admin_down(self):
        """A port that is administratively down holds its peer down, which waits for no device."""
        ports = lab.linked_ports(2, [(0, 1)])
        ports[0][0] += 'admin = false;'
        fleet = lab.Fleet(self, ports).launch()
        self.assertEqual([(p['present'], p['link']) for s in fleet.switches for p in s.ports()],
                         [(False, False), (True, False)])
        self.assertNotIn('waiting', fleet.log())
        fleet.assert_conserved()

    def test_twenty(self):
        """A tree of twenty learning switches: pings over seven links, all that time on one core."""
        before = time.monotonic()
        (a, b, c), fleet = self.fleet(20, lab.tree(20, 2), (19, 10, 14))
        took = time.monotonic() - before
        self.assertEqual([a.ping(b), b.ping(c), c.ping(a)], [3, 3, 3])
        self.assertEqual(fleet.drops(), [])
        for switch in fleet.switches:
            lab.wait_for(lambda: {e['mac'] for e in switch.get('/v1/mac')['entries']} == {a.mac, b.mac, c.mac}, 10,
                         f'{switch.name}: the addresses of all three, which have all broadcast')
        self.assertEqual(fleet[0].request('POST', '/v1/clear?poll_gap=1')[0], 200)
        sleeps = fleet.lcore()['sleeps']
        lab.wait_for(lambda: fleet.lcore()['sleeps'] > sleeps, 10, 'twenty idle switches sleep', every=1)
        print(f'# {took:.1f} s until all links were up, longest poll gap '
              f'{fleet.lcore()["max_poll_gap_ns"] / 1e6:.2f} ms')
        fleet.assert_conserved()


class Errors(lab.SmokeTest):
    def check(self, *ports, names=None, more=()):
        """--check of one switch per list of ports: exit status, messages, configurations."""
        switches = [lab.Switch(self, f's{i}', groups) for i, groups in enumerate(ports)]
        for switch, name in zip(switches, names or ()):
            switch.config.write_text(switch.config.read_text().replace(f'"{switch.name}"', f'"{name}"'))
        argv = [word for s in switches for word in ('-c', s.config)]
        done = subprocess.run([lab.SWITCH, '--check', *argv, *more], capture_output=True, text=True,
                              check=False, timeout=20)
        return done.returncode, done.stderr, switches

    def line(self, switch, port):
        lines = switch.config.read_text().splitlines()
        return f'{switch.config}:{next(i for i, line in enumerate(lines, 1) if port in line)}'

    def test_good(self):
        a, b = lab.link_port('A', 'x.1'), lab.link_port('B', 'x.1')
        for ports in (([a], [b]), ([a, b],), ([a, lab.link_port('B', 'y')], [b, lab.link_port('A', 'y')])):
            with self.subTest(ports=ports):
                self.assertEqual(self.check(*ports)[:2], (0, ''))

    def test_dangling(self):
        port = lab.link_port('A', 'loose')
        status, text, (first, _) = self.check([port], [NULL.format(1)])
        self.assertEqual(status, 1)
        self.assertIn(f'{self.line(first, port)}: port A: link "loose" has no other end', text)

    def test_three_ends(self):
        a, b, c = (lab.link_port(name, 'x') for name in 'ABC')
        status, text, (first, second) = self.check([a, b], [c])
        self.assertEqual(status, 1)
        self.assertIn(f'{self.line(second, c)}: port C: link "x" has two ends already: '
                      f'port A ({self.line(first, a)}) and port B ({self.line(first, b)})', text)

    def test_mtu(self):
        a, b = lab.link_port('A', 'x', mtu=1500), lab.link_port('B', 'x', mtu=9000)
        status, text, (first, second) = self.check([a], [b])
        self.assertEqual(status, 1)
        self.assertIn(f'{self.line(second, b)}: port B: ', text)
        self.assertIn(f'MTU 9000 here and 1500 at its other end, port A ({self.line(first, a)})', text)

    def test_names(self):
        for name in ('', 'a b', 'a,b', 'x' * 48):
            with self.subTest(name=name):
                port = lab.link_port('A', name)
                status, text, (first,) = self.check([port])
                self.assertEqual(status, 1)
                self.assertIn(f'{self.line(first, port)}: port A: ', text)
        status, text, _ = self.check(['name = "A"; devargs = "linked0";'])
        self.assertEqual(status, 1)
        self.assertIn('no driver', text)

    def test_same_switch(self):
        """Two files with one name, and one file twice."""
        status, text, (first, second) = self.check([NULL.format(0)], [NULL.format(1)], names=('x', 'x'))
        self.assertEqual(status, 1)
        self.assertIn(f'{second.config}: switch "x" is configured by {first.config} already', text)
        status, text, (first,) = self.check([NULL.format(0)], more=('-c', self.dir / 's0' / 'switch.cfg'))
        self.assertEqual(status, 2)
        self.assertIn(f'{first.config}: given twice', text)


class Lossless(lab.SmokeTest):
    def ends(self, ports, at):
        """Adds memif ports for hosts 0 (receiver, slow), 1 and 2 (senders) to the switches `at`."""
        for number, where in enumerate(at):
            ports[where].append(lab.memif_port(f'Host{number}', number, self.dir / f'h{number}',
                                               FAST if number else SLOW))

    def incast(self, first, last, *between):
        """Two senders at full rate to one receiver of a tenth, which hears out what waits for it in the first
        and the last switch and those between."""
        receiver = lab.DpdkHost(self, HOST, 0, self.dir / 'h0', 'client', '--wait', '200s')
        # It announces itself; before that, frames to it could only wait, and not many of them.
        for switch, port in ((last, 'Host0'), (first, 'Ethernet0')):
            lab.wait_for(lambda: port in (e['port'] for e in switch.get('/v1/mac')['entries']), 20,
                         f'{switch.name}: the address of the receiver')
        senders = [lab.DpdkHost(self, HOST, n, self.dir / f'h{n}', 'client', '--flow', '0:3:1024')
                   for n in (1, 2)]
        sent = [host.result()['priorities'][3] for host in senders]
        got = lab.end_receivers([receiver], first, last, *between)[0]['priorities'][3]
        for one in sent:
            self.assertGreater(one['paused_ns'], 0)
        self.assertEqual((got['rx_lost'], got['rx_reordered']), (0, 0))
        self.assertEqual(got['rx_packets'], sum(one['tx_packets'] for one in sent))
        self.assertGreater(got['rx_packets'], 200)
        last.wait_link('Host0', up=False)

    def pauses(self, near, far):
        """Of the two ends (switch, port) of a link: PFC frames heard, PFC frames told, time paused."""
        heard, told = (switch.port(port)['priorities'][3] for switch, port in (near, far))
        return heard['pfc_rx_pkts'], told['pfc_tx_pkts'], heard['rx_pause_duration_us']

    def assert_backpressure(self, near, far, before=(0, 0, 0)):
        """The far end of a link has paused the near one, which has obeyed."""
        heard, told, paused = (now - old for now, old in zip(self.pauses(near, far), before))
        self.assertGreater(told, 1)
        self.assertEqual(heard, told)
        self.assertGreater(paused, 0)
        lab.assert_headroom(self, far[0], far[1])

    def test_chain(self):
        """Back-pressure goes through three switches in one process, and nothing is lost."""
        ports = lab.linked_ports(3, [(0, 1), (1, 2)], FAST)
        self.ends(ports, (2, 0, 0))
        fleet = lab.Fleet(self, ports, LOSSLESS).launch()
        self.incast(fleet[0], fleet[2], fleet[1])
        self.assertEqual(fleet.drops(), [])
        self.assert_backpressure((fleet[1], 'Ethernet4'), (fleet[2], 'Ethernet0'))
        self.assert_backpressure((fleet[0], 'Ethernet0'), (fleet[1], 'Ethernet0'))
        self.assertNotIn('bytes of headroom', fleet.log())
        fleet.assert_conserved()

    def test_twenty(self):
        """Back-pressure over seven links of a tree of twenty switches, all on one core."""
        ports = lab.linked_ports(20, lab.tree(20, 2), FAST)
        self.ends(ports, (19, 14, 14))
        fleet = lab.Fleet(self, ports, lab.lossless(24000, 180000)).launch()
        self.incast(fleet[14], fleet[19], *fleet.switches)
        self.assertEqual(fleet.drops(), [])
        for near, far in (((9, 'Ethernet4'), (19, 'Ethernet0')), ((4, 'Ethernet4'), (9, 'Ethernet0'))):
            self.assert_backpressure((fleet[near[0]], near[1]), (fleet[far[0]], far[1]))
        fleet.assert_conserved()

    def test_memif(self):
        """One process per switch: the same over memif, and once more after either end has restarted."""
        near, far = (lab.memif_port('Ethernet0', 9, self.dir / 'link', FAST, role)
                     for role in ('server', 'client'))
        ports = [[near], [far]]
        self.ends(ports, (1, 0, 0))
        left, right = (lab.Switch(self, f's{i}', groups, LOSSLESS) for i, groups in enumerate(ports))
        left.start()
        right.start()
        for again in (None, right, left):
            with self.subTest(restarted=again and again.name):
                if again:
                    self.assert_conserved(again)
                    again.start()
                for switch in (left, right):
                    switch.wait_link('Ethernet0')
                ends = (left, 'Ethernet0'), (right, 'Ethernet0')
                before = self.pauses(*ends)
                self.incast(left, right)
                self.assert_backpressure(*ends, before)
                self.assertEqual(lab.drops(left, right), [])
        self.assert_conserved(left)
        self.assert_conserved(right)


if __name__ == '__main__':
    HOST = sys.argv.pop(2)
    lab.main()
