#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What Prometheus reads of a running switch: Prometheus's own parsers read it, and its values are those of
the control socket."""
import http.client
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
import lab
sys.path.append('/usr/lib/python3/dist-packages')    # Debian's, whichever python this is
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_plain

ROOT = Path(__file__).resolve().parents[2]
OPENMETRICS = 'application/openmetrics-text; version=1.0.0'
SCRAPE_SECONDS = 0.5
UNITS = (('_us', '_seconds', 1e-6), ('_ns', '_seconds', 1e-9), ('_octets', '_bytes', 1), ('_pkts', '_packets', 1))


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


def scrape(host, port, accept='text/plain', path='/metrics'):
    connection = http.client.HTTPConnection(host, port, timeout=10)
    try:
        connection.request('GET', path, headers={'Accept': accept})
        answer = connection.getresponse()
        return answer.status, answer.headers.get('Content-Type'), answer.read().decode()
    finally:
        connection.close()


def samples(families):
    """{(name, labels)} -> value; each appears once."""
    found = {}
    for family in families:
        for sample in family.samples:
            key = sample.name, frozenset(sample.labels.items())
            assert key not in found, f'{key} twice'
            found[key] = sample.value
    return found


def rows():
    """(object, kind, key, doc) of every row of the schema."""
    text = (ROOT / 'schema/stats.def').read_text()
    return re.findall(r'^(\w+)_STAT\((COUNTER|GAUGE|WATERMARK), \w+, (\w+), "(.*)"\)$', text, re.M)


def metric(name, kind, key):
    """The name and scale of a row, by the rules of Prometheus."""
    scale = 1
    for suffix, word, factor in UNITS:
        if key.endswith(suffix):
            key, scale = key.removesuffix(suffix) + word, factor
            break
    return f'weft_{name}_{key}' + ('_total' if kind == 'COUNTER' else ''), scale


class Metrics(lab.SmokeTest):
    def switch(self, name, more, ports=None):
        ports = ports or (lab.veth_port('Ethernet0', self.hosts[0], 0, 'alias = "rack \\"7\\"\\\\"; '),
                          lab.veth_port('Ethernet4', self.hosts[1], 1))
        return lab.Switch(self, name, ports, buffers=lab.LOSSY + more)

    def start(self, more, name='counted'):
        self.hosts = [lab.Host(self, 1), lab.Host(self, 2)]
        switch = self.switch(name, more).start()
        for port in ('Ethernet0', 'Ethernet4'):
            switch.wait_link(port)
        self.assertEqual(self.hosts[0].ping(self.hosts[1]), 3)
        return switch

    def assert_rows(self, stats, found, sw):
        """Every row of every object, with the value that the control socket tells."""
        objects = [('SWITCH', 'switch', stats['switch'], {})]
        objects += [('POOL', 'pool', pool, {'pool': pool['name']}) for pool in stats['pools']]
        for port in stats['ports']:
            labels = {'port': port['name']}
            objects.append(('PORT', 'port', port['stats'], labels))
            for macro, name, member, label in (('PRIO', 'priority', 'priorities', 'priority'),
                                               ('PG', 'priority_group', 'priority_groups', 'pg'),
                                               ('QUEUE', 'queue', 'queues', 'queue')):
                objects += [(macro, name, value, {**labels, label: str(i)})
                            for i, value in enumerate(port[member])]
        compared = 0
        for macro, name, values, labels in objects:
            for _, kind, key, _ in (row for row in rows() if row[0] == macro):
                known, scale = metric(name, kind, key)
                value = found[known, frozenset({'switch': sw, **labels}.items())]
                self.assertAlmostEqual(value, values[key] * scale, places=9, msg=f'{known} {labels}')
                compared += 1
        return compared

    def test_both_formats(self):
        port = free_port()
        switch = self.start(f'metrics = "127.0.0.1:{port}";\n')
        stats = switch.get('/v1/stats')
        for accept, kind, parse in (('text/plain', 'text/plain; version=0.0.4; charset=utf-8', parse_plain),
                                    (OPENMETRICS, OPENMETRICS + '; charset=utf-8', parse_openmetrics)):
            with self.subTest(accept):
                status, content, text = scrape('127.0.0.1', port, accept)
                self.assertEqual((status, content), (200, kind))
                families = list(parse(text))
                found = samples(families)
                # Nothing runs, so nothing changes between the two looks.
                self.assertGreater(self.assert_rows(stats, found, 'counted'), 800)
                docs = {family.name: family.documentation for family in families}
                self.assertEqual(docs['weft_queue_packets'], 'frames sent from this queue')
                self.assertEqual({family.type for family in families}, {'counter', 'gauge'})
                key = frozenset({'switch': 'counted', 'port': 'Ethernet0', 'alias': 'rack "7"\\',
                                 'driver': 'net_af_packet'}.items())
                self.assertEqual(found['weft_port_description', key], 1)
                self.assertEqual(sum(value for (name, _), value in found.items()
                                     if name == 'weft_port_drops_total'),
                                 stats['switch']['dropped_packets'])
        self.assertGreater(stats['switch']['rx_packets'], 0)
        status, _, over_unix = self.unix(switch)
        self.assertEqual(status, 200)
        self.assertEqual(samples(parse_plain(over_unix)).keys(), found.keys())
        self.assertEqual(scrape('127.0.0.1', port, path='/v1/stats')[0], 404)
        self.assertEqual(scrape('127.0.0.1', port, path='/v1/clear')[0], 404)
        self.assert_conserved(switch)

    def test_router(self):
        """Neighbours are counted by the control thread, and told like all the rest."""
        switch = self.start('vlan = ({ id = 1; untagged = "all"; });\n'
                            'interface = ({ vlan = 1; address = "10.77.0.254/24"; });\n', 'router')
        for host in self.hosts:
            host.run('ping', '-c', '1', '-W', '9', '10.77.0.254')
        before = switch.get('/v1/stats')
        found = samples(parse_plain(self.unix(switch)[2]))
        after = switch.get('/v1/stats')
        self.assertEqual(found['weft_switch_neighbors', frozenset({('switch', 'router')})], 2)
        for key in ('icmp_sent', 'neighbor_probes', 'neighbors_wanted'):
            name = f'weft_switch_{key}' + ('' if key == 'neighbors_wanted' else '_total')
            value = found[name, frozenset({('switch', 'router')})]
            self.assertLessEqual(before['switch'][key], value)
            self.assertLessEqual(value, after['switch'][key])
        self.assert_conserved(switch)

    def unix(self, switch):
        connection = lab.UnixConnection(self.dir / 'run' / f'{switch.name}.sock')
        self.addCleanup(connection.close)
        connection.request('GET', '/metrics')
        answer = connection.getresponse()
        return answer.status, answer.headers['Content-Type'], answer.read().decode()

    def test_shared_address(self):
        """Switches of one process behind one address are told apart by a label."""
        port = free_port()
        fleet = lab.Fleet(self, lab.linked_ports(3, lab.tree(3, 2)),
                          buffers=lab.LOSSY + f'metrics = "127.0.0.1:{port}";\n').start()
        found = samples(parse_plain(scrape('127.0.0.1', port)[2]))
        self.assertEqual({dict(labels)['switch'] for name, labels in found
                          if name == 'weft_switch_rx_packets_total'}, {'s0', 's1', 's2'})
        self.assertEqual(fleet.log().count('metrics at'), 1)
        fleet.assert_conserved()

    def test_busy_address(self):
        """Addresses that somebody has are told once, with the knob's line, and taken when they are free."""
        others = [self.enterContext(socket.socket()) for _ in range(2)]
        for other in others:
            other.bind(('127.0.0.1', 0))
            other.listen()
        first, second = (other.getsockname()[1] for other in others)
        fleet = lab.Fleet(self, lab.linked_ports(2, [(0, 1)]), buffers=lab.LOSSY + f'metrics = "127.0.0.1:{first}";\n')
        text = fleet[1].config.read_text()
        fleet[1].config.write_text(text.replace(f':{first}"', f':{second}"'))
        fleet.start()
        line = next(i for i, text in enumerate(text.splitlines(), 1) if text.startswith('metrics ='))
        want = [f'{switch.config}:{line}: metrics: cannot listen at 127.0.0.1:{port}: Address already in use'
                for switch, port in zip(fleet.switches, (first, second))]
        listens = lambda port: f'metrics at http://127.0.0.1:{port}/metrics' in fleet.log()
        self.assertEqual([fleet.log().count(text) for text in want], [1, 1])
        # The second is tried behind the first: when it is taken, the first has been tried again.
        others[1].close()
        lab.wait_for(lambda: listens(second), 20, 'metrics of the second')
        self.assertFalse(listens(first))
        self.assertEqual([fleet.log().count(text) for text in want], [1, 1])
        others[0].close()
        lab.wait_for(lambda: listens(first), 20, 'metrics of the first')
        self.assertEqual([scrape('127.0.0.1', port)[0] for port in (first, second)], [200, 200])
        fleet.assert_conserved()

    def test_reload(self):
        """A reload moves metrics to another address, and does not let them be public unsaid."""
        old, new = free_port(), free_port()
        switch = self.switch('moved', f'metrics = "127.0.0.1:{old}";\n', ('name = "A"; devargs = "net_null0";',)).start()
        text = switch.config.read_text()
        switch.config.write_text(text.replace(str(old), str(new)))
        switch.process.send_signal(signal.SIGHUP)
        lab.wait_for(lambda: f'metrics at http://127.0.0.1:{new}/metrics' in switch.log(), 10, 'moved')
        self.assertEqual(scrape('127.0.0.1', new)[0], 200)
        with self.assertRaises(ConnectionRefusedError):
            scrape('127.0.0.1', old)
        switch.config.write_text(text.replace(f'127.0.0.1:{old}', f'0.0.0.0:{old}'))
        switch.process.send_signal(signal.SIGHUP)
        lab.wait_for(lambda: f'{switch.config} is not applied' in switch.log(), 10, 'refused')
        self.assertIn('other machines reach', switch.log())
        for public in ({'metrics': f'0.0.0.0:{old}'}, {'metrics': 'here'}):
            status, answer = switch.change(lab.edit('set', 'switch', **public))
            self.assertEqual(status, 400, answer)
        time.sleep(1.5)     # the listener looks once a second
        self.assertEqual(scrape('127.0.0.1', new)[0], 200, 'all is as it was')
        with self.assertRaises(ConnectionRefusedError):
            scrape('127.0.0.1', old)
        self.assert_conserved(switch)

    def test_check(self):
        """Addresses that are refused, with the line of the knob."""
        for more, words in (('metrics = "0.0.0.0:9478";', ('other machines', 'metrics_public')),
                            ('metrics = "[::]:9478";', ('other machines', 'metrics_public')),
                            ('metrics = "localhost:9478";', ('not an address', 'localhost:9478')),
                            ('metrics = "127.0.0.1";', ('not an address',)),
                            ('metrics = "0.0.0.0:9478"; metrics_public = true;', ()),
                            ('metrics = "127.0.0.1:9478";', ())):
            with self.subTest(more):
                switch = self.switch('checked', more + '\n', ('name = "A"; devargs = "net_null0";',))
                done = subprocess.run(switch.argv('--check'), capture_output=True, text=True, check=False,
                                      timeout=20)
                line = next(i for i, text in enumerate(switch.config.read_text().splitlines(), 1)
                            if text.startswith('metrics ='))
                self.assertEqual(done.returncode, 1 if words else 0, done.stderr)
                for word in (f'{switch.config}:{line}: metrics:',) * bool(words) + words:
                    self.assertIn(word, done.stderr)

    def test_time(self):
        """A scrape of 32 ports holds up the control thread for a bounded time."""
        port = free_port()
        ports = [f'name = "Ethernet{i}"; devargs = "net_null{i}"; mtu = 1500; rx_ring = 64; admin = {state};'
                 for i, state in enumerate(['true'] + ['false'] * 31)]
        switch = self.switch('wide', f'metrics = "127.0.0.1:{port}";\n', ports).start()
        times = []
        for _ in range(10):
            start = time.monotonic()
            text = scrape('127.0.0.1', port)[2]
            times.append(time.monotonic() - start)
        print(f'# 32 ports: {len(text)} bytes, {text.count(chr(10))} lines, {min(times) * 1e3:.1f} ms')
        self.assertGreater(len(samples(parse_plain(text))), 32 * 400)
        self.assertLess(sorted(times)[5], SCRAPE_SECONDS)
        self.assert_conserved(switch)


if __name__ == '__main__':
    lab.main()
