#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What weft show roce tells of a 7-to-1 incast, beside what the hosts of weft-traffic counted themselves."""
import json
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import lab

SENDERS, ITERS, MESSAGE = 7, 20, 1 << 20
PORT = 'speed = "1G"; burst = "20ms"; '
MTU, HEADERS, RETH = 1024, 14 + 20 + 8 + 12 + 4, 16
# Every 64 KiB of what the switch sends has one sampled byte: 340 samples of a flow, and its share of them is off by
# the root of that at most, four times over.
SAMPLE_BYTES = 1 << 16
PATIENCE = 240


def address(host):
    return f'10.1.0.{host + 1}'


class Incast(lab.SmokeTest):
    def weft(self):
        return json.loads(lab.weft(WEFT, self.dir, '--json', 'show', 'roce'))

    def test_flows(self):
        ports = [lab.memif_port(f'Ethernet{n}', n, self.dir / f'host{n}', PORT) for n in range(SENDERS + 1)]
        switch = lab.Switch(self, 'incast', ports, 'roce = "lossless";\n').start()
        start = time.monotonic()
        self.assertEqual(self.weft()['flows'], [])
        looked = time.monotonic()
        done = subprocess.run([TRAFFIC, 'incast', '--hosts', f'memif:{self.dir}/host{{0-{SENDERS}}}', '--speed', '1G',
                               '--burst', '20ms', '--iters', str(ITERS), '--size', str(MESSAGE), '--retry-timeout',
                               '30s', '--json'], capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        inner = time.monotonic() - looked
        roce = self.weft()
        outer = time.monotonic() - start
        report = json.loads(done.stdout)
        self.check_flows(roce['flows'], report['ranks'], inner, outer)
        self.check_counts(roce, report)
        self.assertEqual(lab.drops(switch), [])
        self.assert_conserved(switch)

    def check_flows(self, flows, ranks, inner, outer):
        """The flows that send most are those of the incast, fastest first, with the bytes that they have sent in
        the time between both looks, and each mark and CNP."""
        top = flows[:SENDERS]
        self.assertEqual({(flow['port'], flow['source'], flow['destination']) for flow in top},
                         {('Ethernet0', address(host), address(0)) for host in range(1, SENDERS + 1)})
        rates = [flow['bits_per_second'] for flow in flows]
        self.assertEqual(rates, sorted(rates, reverse=True))
        sent = ITERS * (MESSAGE + MESSAGE // MTU * HEADERS + RETH)
        room = 4 * (sent * SAMPLE_BYTES) ** 0.5
        for flow in top:
            self.assertAlmostEqual(flow['bytes'], sent, delta=room)
            self.assertGreaterEqual(flow['bits_per_second'] + 1, 8 * flow['bytes'] / outer)
            self.assertLessEqual(flow['bits_per_second'], 8 * flow['bytes'] / inner)
            rank = next(rank for rank in ranks if address(rank['rank']) == flow['source'])
            self.assertEqual(flow['cnp_packets'], rank['cnps'])
        self.assertEqual(sum(flow['ecn_marked_packets'] for flow in top), ranks[0]['ce_marked'])

    def check_counts(self, roce, report):
        """Ports, flows and pairs agree with each other and with the hosts."""
        ranks, at = report['ranks'], {port['name']: port for port in roce['ports']}
        self.assertGreater(report['ce_marked'], 0)
        self.assertGreater(report['cnps'], 0)
        self.assertEqual(at['Ethernet0']['ecn_marked_packets'], report['ce_marked'])
        self.assertEqual(at['Ethernet0']['cnp_rx_packets'], report['cnps'])
        self.assertEqual([at[f'Ethernet{host}']['cnp_tx_packets'] for host in range(1, SENDERS + 1)],
                         [rank['cnps'] for rank in ranks[1:]])
        self.assertEqual({(pair['receiver'], pair['sender'], pair['cnp_packets']) for pair in roce['pairs']},
                         {(address(0), address(rank['rank']), rank['cnps']) for rank in ranks[1:] if rank['cnps']})


if __name__ == '__main__':
    WEFT, TRAFFIC = sys.argv.pop(2), sys.argv.pop(2)
    lab.main()
