#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Public bugs of what the command line shows and clears. The switch is a made-up answer behind a
# unix socket, in which every number of a kind is different, so a number tells where it came from.
#
# usage: test_show.py WEFT [TEST...]
"""Labels name what they show, and counters are cleared for one user."""
import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'smoke'))
import lab

PORTS, CLASSES = 2, 8


class Numbers:
    """Statistics in which each number stands once."""

    def __init__(self, schema, start=1000):
        self.next = start
        self.kinds = {}     # object -> {field: kind}
        for line in schema.read_text().splitlines():
            if '_STAT(' in line and line[:1].isalpha():
                kind, _, field = line.split('(', 1)[1].split(', ')[:3]
                self.kinds.setdefault(line.split('_STAT(')[0], {})[field] = kind

    def rows(self, of, /, **more):
        for field in self.kinds[of]:
            more[field] = self.next
            self.next += 1
        return more

    def port(self, index):
        return {'name': f'Ethernet{4 * index}', 'alias': '', 'stats': self.rows('PORT'),
                'priorities': [self.rows('PRIO') for _ in range(CLASSES)],
                'priority_groups': [self.rows('PG', lossless=True, pool='in', reserved_bytes=11,
                                              xoff_bytes=12, xon_bytes=13) for _ in range(CLASSES)],
                'queues': [self.rows('QUEUE') for _ in range(CLASSES)],
                'drops': {'QUEUE_FULL': 70 + index}}

    def answer(self):
        return {'switch': self.rows('SWITCH', name='lab', boot_id='first', uptime_ns=5),
                'pools': [self.rows('POOL', name='in', type='ingress', size_bytes=14,
                                    headroom_bytes=15)],
                'ports': [self.port(i) for i in range(PORTS)]}


class Show(lab.SmokeTest):
    def setUp(self):
        super().setUp()
        schema = Path(__file__).resolve().parent.parent.parent / 'schema' / 'stats.def'
        self.numbers = Numbers(schema)
        self.stats = self.numbers.answer()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.dir / 'lab.sock'))
        self.listener.listen()
        # Closing does not wake a thread in accept(); a shutdown does.
        self.addCleanup(self.listener.close)
        self.addCleanup(self.listener.shutdown, socket.SHUT_RDWR)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            with peer:
                head = b''
                while b'\r\n\r\n' not in head:
                    data = peer.recv(4096)
                    if not data:
                        break
                    head += data
                body = json.dumps(self.stats).encode()
                peer.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s' % (len(body), body))

    def weft(self, *words, user='alice', status=0):
        home = self.dir / user
        home.mkdir(exist_ok=True)
        env = {key: value for key, value in os.environ.items() if key != 'XDG_CACHE_HOME'}
        done = subprocess.run([lab.SWITCH, '--run-dir', self.dir, *words], env={**env, 'HOME': str(home)},
                              capture_output=True, text=True, timeout=20, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout

    def table(self, *words, **options):
        """The tables of a command: {key: rows}."""
        return json.loads(self.weft(*words, '--json', **options))

    def pg_drops(self, **options):
        rows = self.table('show', 'priority-group', 'drop', 'counters', **options)['dropped_packets']
        return [[row[f'pg{i}'] for i in range(CLASSES)] for row in rows]

    def pg(self, field):
        return [[group[field] for group in port['priority_groups']] for port in self.stats['ports']]

    def queue_rows(self, **options):
        return self.table('show', 'queue', 'counters', **options)['queues']

    def test_sonic_utilities_1321(self):
        """Total, shared and headroom are different numbers under different headings."""
        pool = self.stats['pools'][0]
        lines = self.weft('show', 'buffer').splitlines()
        titles, values = lines[1].split('  '), lines[3].split()
        shown = dict(zip([title.strip() for title in titles if title.strip()], values))
        for title, field in (('Used', 'curr_occupancy_bytes'), ('Used max', 'watermark_bytes'),
                             ('Shared', 'shared_curr_occupancy_bytes'),
                             ('Headroom', 'xoff_room_curr_occupancy_bytes'),
                             ('Headroom max', 'xoff_room_watermark_bytes'),
                             ('Size', 'size_bytes'), ('Headroom pool', 'headroom_bytes')):
            self.assertEqual(shown[title], f'{pool[field]:,}', title)
        for words, key, heading, numbers in (
                (('priority-group', 'watermark'), 'shared_bytes', 'shared pool occupancy per PG',
                 self.pg('shared_watermark_bytes')),
                (('priority-group', 'watermark'), 'headroom_bytes', 'headroom use per PG',
                 self.pg('xoff_room_watermark_bytes')),
                (('queue', 'watermark'), 'shared_bytes', 'shared pool occupancy per queue',
                 [[queue['shared_watermark_bytes'] for queue in port['queues']]
                  for port in self.stats['ports']])):
            rows = self.table('show', *words)[key]
            self.assertEqual([list(row.values())[1:] for row in rows], numbers)
            text = self.weft('show', *words)
            self.assertIn(heading, text)
            behind = text[text.index(heading):].replace(',', '').split()
            self.assertIn(str(numbers[0][0]), behind[:60])

    def test_sonic_mgmt_21519(self):
        """Cleared drop counters of groups are 0, count on from there, and --total has them all."""
        dropped = self.pg('dropped_packets')
        self.assertEqual(self.pg_drops(), dropped)
        self.weft('clear', 'counters')
        self.assertEqual(self.pg_drops(), [[0] * CLASSES] * PORTS)
        self.stats['ports'][1]['priority_groups'][3]['dropped_packets'] += 7
        want = [[0] * CLASSES for _ in range(PORTS)]
        want[1][3] = 7
        self.assertEqual(self.pg_drops(), want)
        dropped[1][3] += 7
        total = self.table('show', 'priority-group', 'drop', 'counters', '--total')['dropped_packets']
        self.assertEqual([list(row.values())[1:] for row in total], dropped)
        # Reasons too: gone, then back with what is new.
        self.assertEqual(self.table('show', 'drops')['drops'], [])
        self.stats['ports'][0]['drops'].update(QUEUE_FULL=75, QUEUE_WRED=2)
        self.assertEqual([(row['reason'], row['packets']) for row in self.table('show', 'drops')['drops']],
                         [('QUEUE_FULL', 5), ('QUEUE_WRED', 2)])

    def test_sonic_buildimage_23566(self):
        """WRED counters are zero for the one who cleared them; another user sees them all."""
        fields = ('wred_dropped_packets', 'wred_ecn_marked_packets')
        before = self.queue_rows()
        self.assertEqual(len({row[field] for row in before for field in fields}),
                         PORTS * CLASSES * len(fields))
        self.weft('clear', 'counters', user='alice')
        for row in self.queue_rows(user='alice'):
            self.assertEqual([row[field] for field in fields], [0, 0])
        self.assertEqual(self.queue_rows(user='bob'), before)
        self.stats['ports'][0]['queues'][3]['wred_ecn_marked_packets'] += 5
        self.assertEqual(self.queue_rows(user='alice')[3]['wred_ecn_marked_packets'], 5)
        self.assertEqual(self.queue_rows(user='bob')[3]['wred_ecn_marked_packets'],
                         before[3]['wred_ecn_marked_packets'] + 5)

    def test_sonic_buildimage_5206(self):
        """A counter that went back is 0, never below; a switch that started again begins anew."""
        self.weft('clear', 'counters')
        before = self.pg('dropped_packets')
        watermarks = self.table('show', 'priority-group', 'watermark')
        self.stats['ports'][0]['priority_groups'][2]['dropped_packets'] -= 900
        self.assertEqual(self.pg_drops(), [[0] * CLASSES] * PORTS)
        self.assertEqual(self.table('show', 'priority-group', 'watermark'), watermarks)
        # The same switch after a restart: smaller counters, and one that is larger than before.
        self.stats = Numbers(Path(__file__).resolve().parent.parent.parent / 'schema/stats.def',
                             start=10).answer()
        self.stats['switch']['boot_id'] = 'second'
        self.stats['ports'][1]['priority_groups'][5]['dropped_packets'] = before[1][5] + 3
        self.assertEqual(self.pg_drops(), self.pg('dropped_packets'))
        self.weft('clear', 'counters')
        self.assertEqual(self.pg_drops(), [[0] * CLASSES] * PORTS)
        # A port that was not there when counters were cleared has all of its own.
        self.stats['ports'].append(self.numbers.port(7))
        self.assertEqual(self.pg_drops()[2], self.pg('dropped_packets')[2])
        # A baseline that cannot be read is none.
        (self.dir / 'alice/.cache/weft/lab.json').write_text('{"switch": {"boot_id": "second"')
        self.assertEqual(self.pg_drops(), self.pg('dropped_packets'))


if __name__ == '__main__':
    lab.main()
