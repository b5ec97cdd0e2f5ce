#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Counters of a live fabric: weft-fabricd and six real switches, as in test_fabricd.py. What the manager
# says that switches count is held against what they say themselves; two cables are plugged the wrong way.
#
# usage: test_fabric_health.py WEFT_SWITCH WEFT WEFT_FABRICD [TEST...]
"""Counters, metrics, alarms and cables of a fabric."""
import json
import re
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
import lab
import test_fabricd as fabricd
sys.path.append('/usr/lib/python3/dist-packages')    # Debian's, whichever python this is
from prometheus_client.parser import text_string_to_metric_families as parse

SCHEMA = Path(__file__).resolve().parents[2] / 'schema/stats.def'


def counters_of(macro):
    return re.findall(rf'^{macro}_STAT\(COUNTER, \w+, (\w+),', SCHEMA.read_text(), re.M)


class Health(lab.SmokeTest):
    def start(self, ports_of=fabricd.ports_of):
        self.manager = fabricd.Manager(self).start()
        text = f'manager = "unix:{self.dir}/run/fabricd.rpc";\ndescriptors = 8192;\nlldp_interval = "1s";\n'
        names = fabricd.NAMES
        self.fleet = lab.Fleet(self, [ports_of(i) for i in range(len(names))], text, names=names)
        for switch in self.fleet.switches:
            switch.config.write_text(switch.config.read_text().replace('lldp = false', 'lldp = true'))
        self.fleet.launch()
        self.manager.in_force()

    def get(self, path):
        connection = lab.UnixConnection(self.dir / 'run/fabric.socket')
        try:
            connection.request('GET', path)
            answer = connection.getresponse()
            body = answer.read().decode()
            self.assertEqual(answer.status, 200, body)
            return body if path.startswith('/metrics') else json.loads(body)
        finally:
            connection.close()

    def counters(self, switch, above=0):
        """What the manager has of a switch, once it is newer than this time of the switch."""
        def look():
            counters = self.get(f'/v1/fabric/counters?switch={switch}')
            return counters if counters['stats']['uptime_ns'] > above else None
        return lab.wait_for(look, 20, lambda: f'counters of {switch}; log:\n{self.manager.log()}')

    def assert_between(self, keys, before, between, after, what):
        for key in keys:
            if before[key] is None:
                continue
            self.assertLessEqual(before[key], between[key], f'{what} {key}')
            self.assertLessEqual(between[key], after[key], f'{what} {key}')
        return len(keys)

    def test_counters(self):
        """Every counter of every port, between what the switch says before and after."""
        self.start()
        compared = frames = 0
        for switch in self.fleet.switches:
            before = switch.get('/v1/stats')
            counters = self.counters(switch.name, before['switch']['uptime_ns'])
            after = switch.get('/v1/stats')
            compared += self.assert_between(counters_of('SWITCH'), before['switch'], counters['stats'],
                                            after['switch'], switch.name)
            self.assertEqual([port['name'] for port in counters['ports']], [port['name'] for port in before['ports']])
            for one, two, three in zip(before['ports'], counters['ports'], after['ports']):
                compared += self.assert_between(counters_of('PORT'), one['stats'], two['stats'], three['stats'],
                                                f'{switch.name} {one["name"]}')
                self.assertEqual(two['stats']['up'], int(one['link']))
                frames += two['stats']['lldp_tx_pkts']
                for queue in two['queues']:
                    compared += self.assert_between(counters_of('QUEUE'), one['queues'][queue['queue']], queue,
                                                    three['queues'][queue['queue']], switch.name)
        self.assertGreater(compared, 1000)
        self.assertGreater(frames, 0)
        lab.wait_for(lambda: any(value is not None for value in self.get(
            '/v1/fabric/history?port=leaf1:Ethernet2&row=tx_packets&seconds=60')['values']), 20, 'history')
        self.assertEqual(self.get('/v1/fabric/alarms'), {'alarms': []})
        self.assertEqual(self.get('/v1/fabric/health')['cables'], [])
        print(f'# {compared} counters of {len(self.fleet.switches)} switches compared')

    def test_metrics(self):
        """promtool has nothing to say, and the names and values are those that the switch itself tells."""
        self.start()
        for switch in self.fleet.switches:
            self.counters(switch.name)
        text = self.get('/metrics')
        done = subprocess.run(['promtool', 'check', 'metrics'], input=text, capture_output=True, text=True,
                              check=False, timeout=60)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, '', ''))
        found = {(s.name, frozenset(s.labels.items())): s.value for f in parse(text) for s in f.samples}
        self.assertEqual(found['weft_fabric_switches', frozenset({('state', 'there')})], len(fabricd.NAMES))
        self.assertEqual(sum(value for (name, _), value in found.items() if name == 'weft_port_up'),
                         (2 + fabricd.SPINES) * fabricd.LEAVES + fabricd.LEAVES * fabricd.SPINES)
        self.assertGreater(found['weft_fabric_plan_duration_seconds_count', frozenset()], 0)
        self.assertEqual({dict(labels)['switch'] for name, labels in found if name == 'weft_switch_rx_packets_total'},
                         set(fabricd.NAMES))
        only = self.get('/metrics?switch=spine1')
        self.assertEqual(set(re.findall(r'switch="(\w+)"', only)), {'spine1'})

    def test_miscabled(self):
        """Two cables of leaf1 are plugged the other way round: alarms name them, and each is told apart from
        what is meant. Nothing else is wrong."""
        def swapped(number):
            ports = fabricd.ports_of(number)
            if number == 0:
                ports[2], ports[3] = (text.replace('l0s0', 'l0sX') for text in ports[2:])
                ports[2], ports[3] = ports[2].replace('l0sX', 'l0s1'), ports[3].replace('l0s1', 'l0s0')
            return ports
        self.start(swapped)
        cables = lab.wait_for(lambda: (lambda rows: rows if len(rows) == 4 else None)(
            self.get('/v1/fabric/health')['cables']), 30, lambda: f'four ends: {self.get("/v1/fabric/health")["cables"]}')
        found = {(row['switch'], row['port']): row for row in cables}
        row = found['leaf1', 'Ethernet2']
        self.assertEqual((row['expected'], row['expected_port'], row['seen'], row['seen_port'], row['state']),
                         ('spine1', 'Ethernet0', 'spine2', 'Ethernet0', 'wrong'))
        row = found['spine2', 'Ethernet0']
        self.assertEqual((row['expected'], row['expected_port'], row['seen'], row['seen_port']),
                         ('leaf1', 'Ethernet3', 'leaf1', 'Ethernet2'))
        alarms = lab.wait_for(lambda: (lambda rows: rows if len(rows) == 4 else None)(
            self.get('/v1/fabric/alarms')['alarms']), 30, 'four alarms')
        self.assertEqual({alarm['alarm'] for alarm in alarms}, {'MISCABLED'})
        events = self.manager.ask('events', '--since', '0')['events']
        self.assertEqual({event['object'] for event in events if event['kind'] == 'ALARM_RAISED'},
                         {'leaf1:Ethernet2', 'leaf1:Ethernet3', 'spine1:Ethernet0', 'spine2:Ethernet0'})

    def test_silent(self):
        """A manager that starts anew asks for nothing that it does not get, and switches that end are missed."""
        self.start()
        self.counters('leaf1')
        self.manager.kill()
        self.manager.start()
        for switch in self.fleet.switches:
            self.assertEqual(len(self.counters(switch.name)['ports']), len(switch.get('/v1/stats')['ports']))
        self.fleet.switches[0].stop()
        alarms = lab.wait_for(lambda: self.get('/v1/fabric/alarms')['alarms'], 30, 'an alarm')
        self.assertEqual({alarm['alarm'] for alarm in alarms}, {'HEADLESS'})


if __name__ == '__main__':
    fabricd.WEFT = sys.argv.pop(2)
    fabricd.FABRICD = sys.argv.pop(2)
    lab.main()
