#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Twenty switches as a fat-tree of k = 4 in one process on one core, sixteen hosts in another one.

Edge switches are s0 to s7 with hosts at ports 0 and 1, aggregation switches s8 to s15, cores s16 to s19;
pod p has edges 2p, 2p + 1 and aggregation switches 8 + 2p, 9 + 2p."""
import sys

sys.dont_write_bytecode = True
import lab

EDGES, AGGREGATIONS, CORES, HOSTS, UP = 8, 8, 4, 16, 2

# Priority 3 is lossless. Headroom is what comes after XOFF at 100 Mbit/s through a ring of 16 frames.
BUFFERS = 'forwarding = "managed";' + lab.lossless(16000, 110000, pool=400000)
PFC = 'tx_ring = 16; pfc_enable = "3"; tc_to_pg_map = "three"; speed = "100M"; '
RATE, PAUSE_BITS = 100e6, 65535 * 512


def pod(i):
    return i % EDGES // 2


def neighbors(i):
    """Per port upwards of edge and aggregation switches, the switch there and its port."""
    plane = i % 2
    if i < EDGES:
        return [(EDGES + 2 * pod(i) + k, i % 2) for k in range(2)]
    return [(EDGES + AGGREGATIONS + 2 * plane + k, pod(i)) for k in range(2)]


def is_core(i):
    return i >= EDGES + AGGREGATIONS


def links():
    """Port groups per switch, hosts' ports left out, in the order of ports."""
    ports = {}
    for i in range(EDGES + AGGREGATIONS):
        for k, (upper, port) in enumerate(neighbors(i)):
            for switch, number in ((i, UP + k), (upper, port)):
                ports[switch, number] = lab.link_port(f'Ethernet{4 * number}', f's{i}-s{upper}',
                                                      PFC + 'role = "fabric";')
    return ports


def group(i, edge):
    """Through what switch `i` reaches an edge."""
    if is_core(i):
        return f'down{pod(edge)}'
    return f'down{edge % 2}' if i >= EDGES and pod(edge) == pod(i) else 'up'


def rows(i):
    """Everything that switch `i` forwards by: hosts, edges, groups and turns without a valley."""
    down = 4 if is_core(i) else UP
    hops = [(f'down{p}', p) for p in range(down if i >= EDGES else 0)] + [('up', p) for p in range(down, 4)]
    tables = {
        'host': [f'mac = "02:00:00:00:00:{h + 1:02x}"; edge = {h // 2}; port = {h % 2};' for h in range(HOSTS)],
        'next_hop': [f'group = "{name}"; port = "Ethernet{4 * p}";' for name, p in hops],
        'edge': [f'number = {e}; via = "{group(i, e)}";' for e in range(EDGES) if e != i],
        'turn': [f'in = "Ethernet{4 * a}"; out = "Ethernet{4 * b}";' for a in range(4) for b in range(4)
                 if a != b and (is_core(i) or min(a, b) < UP)],
    }
    own = f'edge_number = {i};\n' if i < EDGES else ''
    return own + ''.join(f'{name} = ({", ".join("{ " + row + " }" for row in table)});\n'
                         for name, table in tables.items())


class FatTree(lab.SmokeTest):
    def fleet(self):
        ports = links()
        for host in range(HOSTS):
            ports[host // 2, host % 2] = lab.memif_port(f'Ethernet{4 * (host % 2)}', host,
                                                        self.dir / f'h{host}', PFC)
        count = EDGES + AGGREGATIONS + CORES
        fleet = lab.Fleet(self, [[ports[i, port] for port in range(4)] for i in range(count)], BUFFERS,
                          args=('--lcore', '0'))
        for i, switch in enumerate(fleet.switches):
            with open(switch.config, 'a', encoding='utf-8') as config:
                config.write(rows(i))
        fleet.launch()
        for i, switch in enumerate(fleet.switches):
            for port in range(UP if i < EDGES else 0, 4):
                switch.wait_link(f'Ethernet{4 * port}')
        return fleet

    def hosts(self, *options, seconds=3):
        return lab.DpdkHosts(self, HOST, 0, [self.dir / f'h{h}' for h in range(HOSTS)], 'client', '--start',
                             '2s', '--wait', '3s', *options, seconds=seconds, cpus='1', memory=320)

    def test_all_to_all(self):
        """Every host sends to every other one at line rate: nothing is lost, all paths are used."""
        fleet = self.fleet()
        self.assertEqual(fleet[0].request('POST', '/v1/clear?poll_gap=1')[0], 200)
        results = [host['priorities'][3] for host in self.hosts('--all-to-all', '3:1024').results()]
        self.assertEqual(len(results), HOSTS)
        sent = sum(host['tx_packets'] for host in results)
        got = sum(host['rx_packets'] for host in results)
        gap = fleet.lcore()['max_poll_gap_ns']
        self.assertEqual((got, fleet.drops()), (sent, []))
        self.assertEqual(sum(host['rx_lost'] + host['rx_reordered'] for host in results), 0)
        # How much that is, is the machine's business: the share of sixteen lines in three seconds is printed.
        share = sent * (1024 + 24) * 8 / (HOSTS * RATE * 3)
        self.assertGreater(sent, 1000)
        xoffs = headroom = 0
        for i, switch in enumerate(fleet.switches):
            for port in switch.ports():
                group = port['priority_groups'][3]
                xoffs += group['xoff_events']
                headroom = max(headroom, group['xoff_room_watermark_bytes'])
                self.assertGreater(port['queues'][3]['packets'], 0, f's{i} {port["name"]}')
        self.assertGreater(xoffs, 0)
        self.assertGreater(headroom, 0)
        # The time until a pause is repeated, and once more for a machine that does other things as well.
        self.assertLess(gap, PAUSE_BITS / RATE * 1e9)
        print(f'# {sent} frames ({share:.0%} of line rate), {xoffs} XOFF, {headroom} bytes of headroom, longest poll '
              f'gap {gap / 1e6:.2f} ms of {PAUSE_BITS / RATE / 2 * 1e3:.0f} ms until a pause is repeated')
        fleet.assert_conserved()

    def test_cut(self):
        """A link between tiers dies under traffic: edge 0 goes on over its other uplink."""
        fleet = self.fleet()
        hosts = self.hosts('--all-to-all', '3:1024', seconds=5)
        lab.wait_for(lambda: fleet[0].port('Ethernet8')['queues'][3]['packets'] > 300, 60, 'traffic')
        self.assertEqual(fleet[0].request('POST', '/v1/link?cut=1&port=Ethernet8')[0], 200)
        fleet[0].wait_link('Ethernet8', up=False)
        lost = lab.drops(fleet[0])
        before = fleet[0].port('Ethernet12')['queues'][3]['packets']
        lab.wait_for(lambda: fleet[0].port('Ethernet12')['queues'][3]['packets'] > before + 300, 60,
                     'traffic over the other uplink')
        hosts.results()
        # What the cable and the queue before it held is lost, and nothing after that.
        self.assertEqual(lab.drops(fleet[0]), lost)
        # What others send to edge 0 through the aggregation switch that lost it is dropped there, and said.
        reasons = {reason for _, _, reason, _ in fleet.drops()}
        self.assertLessEqual(reasons, {'LINK_FLUSH', 'TX_REFUSED', 'GROUP_DEAD', 'EGRESS_DOWN'})
        fleet.assert_conserved()


if __name__ == '__main__':
    HOST = sys.argv.pop(2)
    lab.main()
