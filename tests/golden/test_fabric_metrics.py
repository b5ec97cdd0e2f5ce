#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What Prometheus reads of a fabric: promtool finds nothing to say about it, histograms are whole,
names are those that a switch itself uses, and sums over the fabric are sums. Arguments: the program
that prints it, an intent."""
import collections
import re
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.append('/usr/lib/python3/dist-packages')    # Debian's, whichever python this is
from prometheus_client.parser import text_string_to_metric_families as parse

PROGRAM, INTENT = sys.argv[1:3]
SCHEMA = Path(__file__).resolve().parents[2] / 'schema'
OBJECTS = {'SWITCH': 'switch', 'POOL': 'pool', 'PORT': 'port', 'PRIO': 'priority', 'PG': 'priority_group',
           'QUEUE': 'queue'}
UNITS = (('_us', '_seconds'), ('_ns', '_seconds'), ('_octets', '_bytes'), ('_pkts', '_packets'))
SWITCHES = ['leaf1', 'leaf2', 'leaf3', 'leaf4', 'spine1']    # spine2 has not reported
PORTS = {'leaf1': 6, 'leaf2': 6, 'leaf3': 6, 'leaf4': 7, 'spine1': 4}


def text_of(*more):
    return subprocess.run([PROGRAM, INTENT, *more], capture_output=True, text=True, check=True, timeout=30).stdout


def samples_of(text):
    found = {}
    for family in parse(text):
        for sample in family.samples:
            key = sample.name, frozenset(sample.labels.items())
            assert key not in found, f'{key} twice'
            found[key] = sample.value
    return found


def metric_names():
    """(name, kind) of every row of the schema of objects that are reported, by the rules of Prometheus."""
    for path, macro in (('stats.def', r'(\w+)_STAT\((\w+), \w+, (\w+),'), ('states.def', r'(\w+)_STATE\((\w+), (\w+),')):
        for name, kind, key in re.findall('^' + macro, (SCHEMA / path).read_text(), re.M):
            for suffix, word in UNITS:
                if key.endswith(suffix):
                    key = key.removesuffix(suffix) + word
                    break
            if name in OBJECTS:
                counter = path == 'stats.def' and kind == 'COUNTER'
                yield f'weft_{OBJECTS[name]}_{key}' + '_total' * counter, kind


class Metrics(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = text_of()
        cls.found = samples_of(cls.text)

    def value(self, name, **labels):
        return self.found[name, frozenset(labels.items())]

    def test_promtool(self):
        for text in (self.text, text_of('leaf1')):
            done = subprocess.run(['promtool', 'check', 'metrics'], input=text, capture_output=True, text=True,
                                  check=False, timeout=60)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, '', ''))

    def test_every_row_has_a_metric(self):
        types = dict(re.findall(r'^# TYPE (\S+) (\S+)$', self.text, re.M))
        rows = list(metric_names())
        self.assertGreater(len(rows), 120)
        for name, _ in rows:
            self.assertEqual(types.get(name), 'counter' if name.endswith('_total') else 'gauge', name)

    def test_histograms(self):
        names = re.findall(r'^# TYPE (\S+) histogram$', self.text, re.M)
        self.assertEqual(set(names), {'weft_queue_depth_bytes', 'weft_queue_delay_seconds',
                                      'weft_fabric_queue_depth_bytes', 'weft_fabric_queue_delay_seconds',
                                      'weft_fabric_plan_duration_seconds'})
        buckets = collections.defaultdict(list)
        for (name, labels), value in self.found.items():
            labels = dict(labels)
            if name.removesuffix('_bucket') in names:
                limit = float(labels.pop('le'))
                buckets[name.removesuffix('_bucket'), frozenset(labels.items())].append((limit, value))
        self.assertEqual(len(buckets), 2 * len(SWITCHES) + 2 + 1)
        for (name, labels), rows in buckets.items():
            rows.sort()
            self.assertEqual(rows[-1][0], float('inf'), name)
            self.assertEqual(rows[-1][1], self.found[name + '_count', labels])
            self.assertIn((name + '_sum', labels), self.found)
            self.assertEqual([count for _, count in rows], sorted(count for _, count in rows), 'they add up')
        # Of three seconds the first is where rates begin.
        labels = frozenset({('switch', 'leaf1'), ('queue', '3')})
        self.assertEqual(self.found['weft_queue_depth_bytes_sum', labels], 2 * (5 << 20))
        self.assertEqual(dict(buckets['weft_queue_depth_bytes', labels])[4 << 20], 0, 'it is above the last limit')
        self.assertEqual(dict(buckets['weft_queue_delay_seconds', labels])[5e-05], 2)
        self.assertAlmostEqual(self.value('weft_fabric_plan_duration_seconds_sum'), 0.0004)
        self.assertEqual(self.value('weft_fabric_plan_duration_seconds_count'), 1)

    def test_values(self):
        for at, switch in enumerate(SWITCHES):
            self.assertEqual(self.value('weft_switch_rx_packets_total', switch=switch), 100 + at)
            self.assertEqual(self.value('weft_switch_uptime_seconds', switch=switch), 3)
            self.assertEqual(self.value('weft_pool_watermark_bytes', switch=switch, pool='1'), 1000 + at)
            for port in range(PORTS[switch]):
                self.assertEqual(self.value('weft_port_if_in_bytes_total', switch=switch, port=f'Ethernet{port}'),
                                 1000 * (at + 1) + port)
        port = {'switch': 'leaf2', 'port': 'Ethernet1'}
        self.assertEqual(self.value('weft_queue_bytes_total', **port, queue='3'), 5000)
        self.assertEqual(self.value('weft_priority_pfc_tx_packets_total', **port, priority='3'), 7)
        self.assertEqual(self.value('weft_port_drops_total', **port, reason='QUEUE_FULL'), 1)

    def test_nothing_that_is_not_there(self):
        self.assertFalse([key for key in self.found if 'spine2' in dict(key[1]).values()], 'it said nothing')
        unknown = [key for key in self.found if key[0] == 'weft_priority_rx_pause_duration_seconds_total']
        self.assertEqual(unknown, [], 'the device does not know')
        queues = {dict(labels)['queue'] for name, labels in self.found if name == 'weft_queue_bytes_total'}
        self.assertEqual(queues, {'3'}, 'nothing was ever in others')
        pools = {dict(labels)['pool'] for name, labels in self.found if name == 'weft_pool_size_bytes'}
        self.assertEqual(pools, {'1'})

    def test_sums(self):
        """Each sum over the fabric, from the samples of switches; watermarks are the largest."""
        watermarks = {name for name, kind in metric_names() if kind == 'WATERMARK'}
        compared = 0
        for (name, labels), value in self.found.items():
            own = name.replace('weft_fabric_', 'weft_', 1) if name != 'weft_fabric_drops_total' else 'weft_port_drops_total'
            if own == name or not (own.endswith('_total') or own in watermarks):
                continue
            of_switches = [v for (n, l), v in self.found.items() if n == own and labels <= l]
            want = (max if own in watermarks else sum)(of_switches or [0])
            self.assertAlmostEqual(value, want, msg=name)
            compared += 1
        self.assertGreater(compared, 200)
        self.assertEqual(self.value('weft_fabric_drops_total', reason='QUEUE_FULL'),
                         sum(at * PORTS[switch] for at, switch in enumerate(SWITCHES)))
        self.assertEqual(self.value('weft_fabric_queue_watermark_bytes', queue='3'), 2004)

    def test_manager(self):
        self.assertEqual(self.value('weft_fabric_generation'), 7)
        self.assertEqual(self.value('weft_fabric_epoch'), 3)
        self.assertEqual(self.value('weft_fabric_switches', state='there'), 5)
        self.assertEqual(self.value('weft_fabric_switches', state='unseen'), 1)
        self.assertEqual(sum(v for (name, _), v in self.found.items() if name == 'weft_fabric_links'), 8)
        alarms = [v for (name, _), v in self.found.items() if name == 'weft_fabric_alarms']
        self.assertEqual((len(alarms), sum(alarms)), (10, 0))

    def test_one_switch(self):
        found = samples_of(text_of('leaf3'))
        self.assertEqual({dict(labels).get('switch') for _, labels in found}, {'leaf3'})
        for key, value in found.items():
            self.assertEqual(self.found[key], value)


def main():
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(Metrics)
    print(f'1..{suite.countTestCases()}')
    for number, test in enumerate(suite, 1):
        result = unittest.TestResult()
        unittest.TestSuite([test]).run(result)
        bad = result.failures + result.errors
        print(f'{"not ok" if bad else "ok"} {number} - {test.id().split(".")[-1]}', flush=True)
        for _, trace in bad:
            print('\n'.join('# ' + line for line in trace.splitlines()), flush=True)


if __name__ == '__main__':
    main()
