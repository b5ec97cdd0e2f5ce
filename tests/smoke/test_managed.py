#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Switches that a fabric manager decides about: two leaves and two spines in one process, linked in memory, with
two hosts at each leaf in another one, and weft-fabricd on the same machine."""
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
import lab

LEAVES, SPINES, HOSTS = 2, 2, 2
NAMES = [f'leaf{i + 1}' for i in range(LEAVES)] + [f'spine{i + 1}' for i in range(SPINES)]
INTENT = f'''
name = "managed";
leaf_spine = {{ leaves = {LEAVES}; spines = {SPINES}; hosts_per_leaf = {HOSTS}; }};
speed = "100M";
mtu = 1500;
ring = 16;
'''
PORT = 'speed = "100M"; rx_ring = 16; tx_ring = 16; '
ROCE = '26'     # the DSCP of the lossless class, priority 3


class Manager:
    """One weft-fabricd, which may be started again."""

    def __init__(self, test):
        self.test, self.log_path = test, test.dir / 'fabricd.log'
        self.intent = test.dir / 'intent.cfg'
        self.intent.write_text(INTENT)
        self.process = None
        lab.LEFT.append(self.kill)
        test.addCleanup(self.kill)

    def start(self):
        with open(self.log_path, 'ab') as log:
            self.process = subprocess.Popen(
                [FABRICD, '-i', self.intent, '--run-dir', self.test.dir / 'run', '--state-dir',
                 self.test.dir / 'fabricd', '--damping', '0s', '--mass', '0%'],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return self

    def kill(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait(lab.STOP_SECONDS)

    def log(self):
        return self.log_path.read_text() if self.log_path.exists() else ''


class Managed(lab.SmokeTest):
    def setUp(self):
        super().setUp()
        (self.dir / 'run').mkdir()
        self.manager = Manager(self)

    def fleet(self):
        """The switches, whose files say what they are made of and nothing else."""
        ports = [[lab.memif_port(f'Ethernet{n}', i * HOSTS + n, self.dir / f'h{i * HOSTS + n}', PORT)
                  for n in range(HOSTS)] for i in range(LEAVES)] + [[] for _ in range(SPINES)]
        for leaf in range(LEAVES):
            for spine in range(SPINES):
                for at, number in ((leaf, HOSTS + spine), (LEAVES + spine, leaf)):
                    ports[at].append(lab.link_port(f'Ethernet{number}', f'l{leaf}-s{spine}', PORT))
        own = f'manager = "unix:{self.dir}/run/fabricd.rpc";\ndescriptors = 8192;'
        return lab.Fleet(self, ports, own, names=NAMES)

    def fabric(self, switch):
        return switch.get('/v1/fabric')

    def wait(self, fleet, condition, what):
        lab.wait_for(condition, 30, f'{what}; log:\n{fleet.log()}\n{self.manager.log()}')

    def wait_settled(self, fleet):
        """Every switch runs the generation that the manager last decided, and uses its links to the others."""
        def settled():
            told = [self.fabric(switch) for switch in fleet.switches]
            links = [port['hello'] for switch in fleet.switches for port in switch.ports() if port['hello']]
            return (all(one['connected'] and one['running'] and not one['prepared'] and not one['events_due']
                        for one in told) and
                    len(links) == 2 * LEAVES * SPINES and all(link['used'] for link in links) and
                    all(self.ways(fleet[i]) == {'Ethernet2', 'Ethernet3'} for i in range(LEAVES)))
        self.wait(fleet, settled, 'all switches run what the manager decided')

    def ways(self, leaf):
        """The ports by which a leaf reaches the other one."""
        return {member['port'] for member in leaf.get('/v1/group')['members']}

    def hosts(self, *options, seconds=3):
        return lab.DpdkHosts(self, HOST, 0, [self.dir / f'h{h}' for h in range(LEAVES * HOSTS)], 'client', '--start',
                             '2s', '--wait', '3s', '--dscp', ROCE, *options, seconds=seconds, cpus='1')

    def losses(self, fleet):
        """Without hellos of a switch that knew its fabric before the one at the other end of the link did."""
        return [drop for drop in fleet.drops() if drop[2] != 'RESERVED_MAC']

    def assert_lossless(self, fleet, hosts):
        results = [host['priorities'][3] for host in hosts.results()]
        sent, got = (sum(host[key] for host in results) for key in ('tx_packets', 'rx_packets'))
        self.assertGreater(sent, 1000)
        self.assertEqual((got, self.losses(fleet)), (sent, []))

    def test_traffic(self):
        """What the manager decides carries traffic over both spines, and losing the manager costs nothing."""
        self.manager.start()
        fleet = self.fleet().launch()
        self.wait_settled(fleet)
        hosts = self.hosts('--all-to-all', '3:1024', seconds=4)
        lab.wait_for(lambda: fleet[0].port('Ethernet2')['queues'][3]['packets'] > 300, 60, 'traffic')
        self.manager.kill()
        self.assert_lossless(fleet, hosts)
        for port in ('Ethernet2', 'Ethernet3'):
            self.assertGreater(fleet[0].port(port)['queues'][3]['packets'], 300, port)
        self.wait(fleet, lambda: not self.fabric(fleet[0])['connected'], 'the manager is missed')
        self.assertIn('it goes on with generation', fleet.log())
        fleet.assert_conserved()

    def test_restart(self):
        """Switches start with what they had, without a manager; one that comes back changes nothing."""
        self.manager.start()
        fleet = self.fleet().launch()
        self.wait_settled(fleet)
        before = [self.fabric(switch) for switch in fleet.switches]
        self.manager.kill()
        fleet[0].end()
        fleet.launch()
        for switch, was in zip(fleet.switches, before):
            now = self.fabric(switch)
            self.assertEqual((now['running'], now['connected']), (was['running'], False))
            self.assertGreater(now['boot'], was['boot'])
        self.assert_lossless(fleet, self.hosts('--all-to-all', '3:1024', seconds=2))
        self.manager.start()
        self.wait(fleet, lambda: all(self.fabric(switch)['connected'] for switch in fleet.switches), 'connected')
        self.wait_settled(fleet)
        for switch, was in zip(fleet.switches, before):
            now = self.fabric(switch)
            self.assertEqual(now['running']['hash'], was['running']['hash'])
            self.assertNotIn(f'{switch.name}: fabric manager: ', switch.said())
        fleet.assert_conserved()

    def test_damaged(self):
        """A table that is damaged on disk is found, and fetched anew."""
        self.manager.start()
        fleet = self.fleet().launch()
        self.wait_settled(fleet)
        fleet[0].end()
        path = next((self.dir / 'state' / 'leaf1' / 'fabric').glob('routes-*'))
        path.write_bytes(path.read_bytes()[:-1] + b'?')
        fleet.launch()
        self.assertIn('what it had of its fabric cannot be used', fleet[0].said())
        self.wait_settled(fleet)
        fleet.assert_conserved()

    def test_cut(self):
        """A lost link is told at once, and the new plan goes around it."""
        self.manager.start()
        fleet = self.fleet().launch()
        self.wait_settled(fleet)
        before = self.fabric(fleet[0])['running']['number']
        self.assertEqual(fleet[0].request('POST', '/v1/link?cut=1&port=Ethernet2')[0], 200)
        self.wait(fleet, lambda: self.ways(fleet[0]) == self.ways(fleet[1]) == {'Ethernet3'}, 'a way around the link')
        self.assertGreater(self.fabric(fleet[0])['running']['number'], before)
        self.assertEqual(fleet[0].request('POST', '/v1/link?heal=1&port=Ethernet2')[0], 200)
        self.wait_settled(fleet)
        fleet.assert_conserved()

    def test_no_certificates(self):
        """A manager that cannot be called, for want of certificates, does not keep a switch from starting."""
        switch = lab.Switch(self, 'leaf1', [lab.memif_port('Ethernet0', 0, self.dir / 'h0', PORT)],
                            'manager = "127.0.0.1:1";\ndescriptors = 8192;').start()
        self.assertEqual(self.fabric(switch)['connected'], False)
        self.assertIn('no agent for the fabric manager at 127.0.0.1:1', switch.log())
        switch.end()

    def test_own_knobs(self):
        """What is the switch's own changes as on any other; what the fabric decides is refused."""
        self.manager.start()
        fleet = self.fleet().launch()
        self.wait_settled(fleet)
        leaf = fleet[0]
        status, answer = leaf.change(lab.edit('set', 'port', 'Ethernet0', alias='rack 7'))
        self.assertEqual((status, answer['applied']), (200, True))
        status, answer = leaf.change(lab.edit('set', 'port', 'Ethernet2', role='edge'), force=True)
        self.assertEqual(status, 400)
        self.assertEqual(answer['errors'],
                         ['the fabric manager decides about this: port Ethernet2: role fabric -> edge'])
        status, answer = leaf.change(lab.edit('set', 'switch', manager=''))
        self.assertIn('need a restart', str(answer['errors']))
        # The file as it is now: its own knobs count, others are the fabric's whatever it says.
        text = leaf.config.read_text().replace('name = "Ethernet0";', 'name = "Ethernet0"; alias = "rack 8";')
        self.assertIn('is applied; ', leaf.hup(text + 'lanes = "3";\n'))
        self.assertEqual(leaf.get('/v1/config?diff=file')['changes'], [])
        self.assertIn('alias = "rack 8"', leaf.get('/v1/config?table=port')['text'])
        # A change that waits goes back, on top of what the fabric decided meanwhile.
        waits = {'edits': [lab.edit('set', 'port', 'Ethernet0', alias='rack 9')], 'confirm_s': 60}
        self.assertEqual(leaf.request('POST', '/v1/config', lab.json.dumps(waits))[0], 200)
        self.assertEqual(leaf.request('POST', '/v1/link?cut=1&port=Ethernet2')[0], 200)
        self.wait(fleet, lambda: self.ways(leaf) == {'Ethernet3'}, 'a way around the link')
        self.assertEqual(leaf.request('POST', '/v1/config?rollback=1', '')[0], 200)
        self.assertIn('alias = "rack 8"', leaf.get('/v1/config?table=port')['text'])
        self.assertEqual(self.ways(leaf), {'Ethernet3'})
        fleet.assert_conserved()


if __name__ == '__main__':
    FABRICD, HOST = sys.argv.pop(2), sys.argv.pop(2)
    lab.main()
