#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""SIGHUP: a running switch takes the configuration that its file holds, whole or not at all."""
import random
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
import lab

CHANGES = 30            # that are applied, besides those that are refused
SECONDS_MAX = 180       # on a machine where one takes seconds; else a few


def buffers(pool=600000, headroom=100000, alpha=-2, xon=20000, more=''):
    """Priority 3 lossless on every port, as lab.lossless() with knobs that change."""
    text = lab.lossless(16384, headroom, pool)
    return text.replace('dynamic_th = -2', f'dynamic_th = {alpha}').replace('"20000"', f'"{xon}"') + more


class Live(lab.SmokeTest):
    """A switch named live, and reloads of it."""

    def text(self, text, ports=None):
        groups = ',\n'.join('{ ' + port + ' }' for port in ports or self.ports)
        return f'name = "live";\n{text}\nport = (\n{groups});\n'

    def hup(self, word, text, ports=None):
        """Reloads a configuration; returns what was logged of it, which ends with `word`."""
        said = self.switch.hup(self.text(text, ports))
        self.assertIn(word, said)
        return said


class Reload(Live):
    SENDING_SECONDS = 400   # until finish(), however long reloads take

    def port(self, number, more=''):
        speed = '2M' if number == 2 else '100M'
        return lab.memif_port(f'Ethernet{number}', number, self.dir / f'm{number}',
                              f'speed = "{speed}"; burst = "20ms"; pfc_enable = "3"; '
                              f'tc_to_pg_map = "three"; lcore = {number // 2}; {more}')

    def start(self):
        """Two hosts send to a third one that takes less: priority groups are in XOFF all the time."""
        self.ports = [self.port(n) for n in range(3)]
        self.switch = lab.Switch(self, 'live', self.ports, buffers=buffers()).start()
        host = lambda n, *options: lab.DpdkHost(self, HOST, n, self.dir / f'm{n}', 'client', *options,
                                                seconds=self.SENDING_SECONDS)
        self.receiver = host(2)
        lab.wait_for(lambda: self.switch.get('/v1/mac')['entries'], 20, 'address of the receiver')
        self.senders = [host(n, '--flow', '2:3:1024') for n in (0, 1)]
        xoffs = lambda: [self.switch.port(f'Ethernet{n}')['priority_groups'][3]['xoff_events'] for n in (0, 1)]
        lab.wait_for(lambda: min(xoffs()) > 0, 20, 'XOFF at both senders')

    def finish(self):
        """Everything that was sent has arrived in order, and headroom was used."""
        for sender in self.senders:
            sender.end_flows()
        sent = [sender.result()['priorities'][3] for sender in self.senders]
        got = lab.end_receivers([self.receiver], self.switch)[0]['priorities'][3]
        self.assertEqual((got['rx_lost'], got['rx_reordered']), (0, 0), self.switch.log())
        self.assertEqual(got['rx_packets'], sum(one['tx_packets'] for one in sent))
        self.assertGreater(got['rx_packets'], 200)
        for one in sent:
            self.assertGreater(one['paused_ns'], 0)
        lab.assert_headroom(self, self.switch, 'Ethernet0', 'Ethernet1')
        self.assertEqual(lab.drops(self.switch), [])
        self.assert_conserved(self.switch)

    def sent(self):
        return self.switch.port('Ethernet2')['stats']['if_out_ucast_pkts']

    def assert_flows(self):
        """The switch goes on to forward."""
        before = self.sent()
        lab.wait_for(lambda: self.sent() > before + 20, 10, 'more frames')

    def test_good_and_bad(self):
        self.start()
        log = self.hup('is applied', buffers(alpha=-4, pool=700000))
        for line in ('buffer_pool in: size 600kB -> 700kB', 'buffer_profile lossless: dynamic_th -2 -> -4'):
            self.assertIn(line, log)
        stats = self.switch.get('/v1/stats')
        self.assertEqual(next(p['size_bytes'] for p in stats['pools'] if p['name'] == 'in'), 700000)
        self.assert_flows()
        rows = (
            # configuration, ports, what the log must say
            (buffers().replace('dynamic_th = 0', 'dynamic_th = 9'), None, (':{line}: ', 'dynamic_th')),
            (buffers(headroom=500), None, ('switch.cfg:', 'headroom')),
            (buffers(), [self.port(0), self.port(1)], ('number of ports needs a restart',)),
            (buffers(), [self.port(0, 'spede = 1;'), *self.ports[1:]], ('spede',)),
            (buffers() + 'seed = 7;\n', None, ('seed needs a restart',)),
            (buffers(), [self.ports[0], self.port(1, 'admin = false;'), self.ports[2]],
             ('port Ethernet1: admin down drops what is queued',)),
            (buffers(), [self.ports[0].replace('mtu = 1500', 'mtu = 1400'), *self.ports[1:]],
             ('port Ethernet0: frames of up to 1514 bytes are taken',)),
            (buffers(headroom=90000, pool=20000), None, ('buffer_pool in: a size of 20000 bytes', 'in use')),
            (buffers().replace('"3"; profile = "lossless"', '"3"; profile = "lossy"'),
             [p.replace('pfc_enable = "3"', 'pfc_enable = ""') for p in self.ports],
             [f'port Ethernet{n}: priority group 3 would become lossy' for n in range(3)]),
        )
        for text, ports, words in rows:
            with self.subTest(words=words):
                log = self.hup('is not applied', text, ports)
                for word in words:
                    self.assertIn(word.format(line=next((i for i, line in enumerate(
                        self.switch.config.read_text().splitlines(), 1) if 'dynamic_th = 9' in line), 0)), log)
                self.assert_flows()
        stats = self.switch.get('/v1/stats')
        self.assertEqual(next(p['size_bytes'] for p in stats['pools'] if p['name'] == 'in'), 700000)
        self.finish()

    def test_many(self):
        """Random changes under load, some refused since they would drop: no packet is lost."""
        dice = random.Random(1)
        self.start()
        answers = lambda: [self.switch.get('/v1/stats')['switch'][key]
                           for key in ('config_generation', 'config_refused')]
        applied, refused, room, end = 0, 0, 100000, time.monotonic() + SECONDS_MAX
        while applied < CHANGES or refused == 0:
            self.assertLess(time.monotonic(), end, f'{applied} applied, {refused} refused')
            asked = room + dice.choice((0, 0, 5000, -10000))    # less is refused while a group is in XOFF
            said = self.switch.hup(self.text(buffers(
                pool=dice.randrange(300000, 900000), alpha=dice.randrange(-5, 2), xon=dice.randrange(0, 40000),
                headroom=asked, more='buffer_pool_more = 1;' if dice.random() < 0.1 else '')))
            if 'is applied' in said:
                applied, room = applied + 1, asked
            else:
                refused += 1
            self.assertEqual(answers(), [applied, refused], said)
        self.finish()


class Kinds(Live):
    """Kernel hosts that go on to talk while the switch learns to do other things."""

    def start(self, count=2, admin=True):
        self.hosts = [lab.Host(self, n + 1) for n in range(count)]
        self.ports = [lab.veth_port(f'Ethernet{n}', host, n) for n, host in enumerate(self.hosts)]
        ports = self.ports[:-1] + [self.ports[-1] + ('' if admin else 'admin = false;')]
        self.switch = lab.Switch(self, 'live', ports).start()
        for n in range(count - (not admin)):
            self.switch.wait_link(f'Ethernet{n}')

    def apply(self, more='', ports=None):
        return self.hup('is applied', lab.LOSSY + more, ports)

    def talk(self):
        """Both answer; a ping that the machine was late with does not count."""
        lab.wait_for(lambda: self.hosts[0].ping(self.hosts[1]) == 3, 20, f'answers; log:\n{self.switch.log()}')

    def test_kinds(self):
        self.start()
        a, b = self.hosts
        self.talk()
        macs = self.switch.get('/v1/mac')['entries']
        deny = 'acl = ({ name = "no"; action = "deny"; src_ip = "10.77.0.1"; ip_protocol = 1; });\n'
        slow = 'impairment = ({ port = "Ethernet0"; delay = "200ms"; limit = 1000; });\n'
        self.apply(deny)
        self.assertEqual(a.ping(b, '-W', '1', count=2), 0)
        self.assertGreater(self.switch.get('/v1/acl')['rows'][0]['dropped_packets'], 1)
        self.apply()
        self.talk()
        self.apply(slow)
        start = time.monotonic()
        self.assertEqual(a.ping(b, count=1), 1)
        self.assertGreater(time.monotonic() - start, 0.2)
        self.apply()
        self.talk()
        self.apply(ports=[port.replace('mtu = 1500', 'mtu = 1600') for port in self.ports])
        self.assertEqual(Path(f'/sys/class/net/{a.port}/mtu').read_text().strip(), '1600')
        self.assertEqual(self.switch.get('/v1/mac')['entries'][0]['mac'], macs[0]['mac'])
        self.assertEqual(len(self.switch.get('/v1/mac')['entries']), len(macs))
        self.talk()
        self.assert_conserved(self.switch)

    def test_routes(self):
        """A bridge becomes a router and one again, and what ARP has found stays over a change of something else."""
        self.start()
        a, b = self.hosts
        vlans = 'vlan = ({ id = 1; untagged = "all"; }, { id = 9; tagged = "all"; });\n'
        gateway = 'interface = ({ vlan = 1; address = "10.77.0.254/24"; });\n'
        for more in (vlans + gateway, vlans + gateway + 'route = ({ prefix = "11.0.0.0/8"; via = "drop"; });\n'):
            self.apply(more)
            for host in self.hosts:
                host.run('ping', '-c', '1', '-W', '9', '10.77.0.254')
        known = lambda: {(row['address'], row['mac']) for row in self.switch.get('/v1/arp')['neighbors']}
        before = known()
        self.assertIn((a.address, a.mac), before)
        self.apply(vlans + gateway + 'ecmp_hash_seed = 5;\n')
        self.assertEqual(known(), before)
        self.apply(vlans + gateway.replace('/24', '/29').replace('254', '6'))
        self.assertEqual(known(), before, 'both are in the smaller network, too')
        self.apply(vlans + gateway.replace('10.77', '10.78'))
        self.assertEqual(known(), set())
        self.apply(vlans)
        self.talk()
        self.assert_conserved(self.switch)

    def test_admin(self):
        """A port that comes, one whose peer is gone and that goes: neither holds a packet."""
        self.start(admin=False)
        a, b = self.hosts
        self.assertFalse(self.switch.port('Ethernet1')['link'])
        self.apply()
        self.switch.wait_link('Ethernet1')
        self.talk()
        lab.run('ip', 'link', 'set', b.port, 'down')
        self.switch.wait_link('Ethernet1', up=False)
        self.apply(ports=[self.ports[0], self.ports[1] + 'admin = false; rx_ring = 512;'])
        lab.run('ip', 'link', 'set', b.port, 'up')
        self.apply(ports=[self.ports[0], self.ports[1] + 'rx_ring = 512;'])
        self.switch.wait_link('Ethernet1')
        self.talk()
        log = self.hup('is not applied', lab.LOSSY, [self.ports[0], self.ports[1] + 'rx_ring = 256;'])
        self.assertIn('port Ethernet1: its device is closed and opened again (rx_ring)', log)
        self.talk()
        self.assert_conserved(self.switch)


if __name__ == '__main__':
    HOST = sys.argv.pop(2)
    lab.main()
