#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""LLDP and DCBX between a switch and lldpd, the daemon of Debian, in a network namespace, and what
tshark makes of our frames. lldpd knows no DCBX: it is told the bytes of its TLVs (IEEE 802.1Q D.2)."""
import json
import subprocess
import sys

sys.dont_write_bytecode = True
import lab

PORT = lab.LOSSLESS_PORT
SECONDS = 20

# 3 of 10 parts of what is shared are the lossless class's; class 6 is strict.
SHARES = lab.LOSSLESS + '''
lldp_interval = "2s";
scheduler = (
	{ name = "heavy"; type = "DWRR"; weight = 30; },
	{ name = "light"; type = "DWRR"; weight = 10; },
	{ name = "first"; type = "STRICT"; });
queue = (
	{ port = "all"; queue = "3"; scheduler = "heavy"; },
	{ port = "all"; queue = "0-2,4-5,7"; scheduler = "light"; },
	{ port = "all"; queue = "6"; scheduler = "first"; });
vlan = ( { id = 7; untagged = "all"; } );
interface = ( { vlan = 7; address = "10.77.0.254/24"; } );
'''
PFC_SUBTYPE, APP_SUBTYPE = '11', '12'


class Lldpd:
    """One lldpd on eth0 of a host's namespace, with its own socket."""

    def __init__(self, test, host, name):
        self.host, self.path = host, str(test.dir / f'{name}.sock')
        test.dir.chmod(0o755)   # lldpcli is another user
        with open(test.dir / f'{name}.log', 'wb') as log:
            self.process = subprocess.Popen(
                ['ip', 'netns', 'exec', host.name, 'lldpd', '-d', '-u', self.path, '-I', 'eth0',
                 '-S', f'a neighbour called {name}'],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        test.addCleanup(self.kill)
        lab.wait_for(self.answers, SECONDS, 'lldpd answers')
        self.control('configure', 'system', 'hostname', name)
        self.control('configure', 'lldp', 'tx-interval', '2')
        self.control('configure', 'lldp', 'portidsubtype', 'ifname')

    def control(self, *words):
        return self.host.run('lldpcli', '-u', self.path, *words)

    def answers(self):
        try:
            return self.control('show', 'configuration')
        except subprocess.CalledProcessError:
            return False

    def tlv(self, subtype, *data):
        """Sends an organisationally specific TLV of IEEE 802.1 from now on, in place of an older one."""
        self.control('configure', 'lldp', 'custom-tlv', 'replace', 'oui', '00,80,c2', 'subtype', subtype,
                     'oui-info', ','.join(f'{byte:02x}' for byte in data))

    def neighbors(self):
        answer = json.loads(self.control('-f', 'json0', 'show', 'neighbors', 'details'))
        return [entry for group in answer.get('lldp', []) for entry in group.get('interface', [])]

    def stop(self):
        self.process.terminate()
        self.process.wait(SECONDS)

    def kill(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(SECONDS)


def value(entry, *path):
    """Of lldpcli's JSON, in which everything is a list of objects with a value."""
    for key in path:
        entry = entry[key][0]
    return entry['value']


class Lldp(lab.SmokeTest):
    def setUp(self):
        super().setUp()
        self.host = lab.Host(self, 1)

    def start(self, more='', buffers=SHARES):
        self.switch = lab.Switch(self, 'sw', [
            lab.veth_port('Ethernet0', self.host, 0, PORT + 'alias = "to the host"; ' + more)],
            buffers=buffers, lldp=True).start()
        self.switch.wait_link('Ethernet0')

    def port(self):
        return self.switch.get('/v1/lldp')['ports'][0]

    def neighbor(self, condition=lambda neighbor: True):
        return lab.wait_for(lambda: next((n for n in self.port()['neighbors'] if condition(n)), None),
                            SECONDS, f'neighbour; {self.port()}; {self.switch.log()}')

    def test_each_sees_the_other(self):
        daemon = Lldpd(self, self.host, 'lldp-host')
        self.start()
        seen = lab.wait_for(daemon.neighbors, SECONDS, 'lldpd has a neighbour')
        self.assertEqual(len(seen), 1)
        ours = self.port()['ours']
        self.assertEqual(seen[0]['chassis'][0]['id'][0], {'type': 'mac', 'value': ours['chassis']})
        self.assertEqual(value(seen[0], 'chassis', 'name'), 'sw')
        self.assertEqual(value(seen[0], 'chassis', 'mgmt-ip'), '10.77.0.254')
        self.assertEqual(
            {(c['type'], c['enabled']) for c in seen[0]['chassis'][0]['capability']},
            {('Bridge', True), ('Router', True)})
        self.assertEqual(seen[0]['port'][0]['id'][0], {'type': 'ifname', 'value': 'Ethernet0'})
        self.assertEqual(value(seen[0], 'port', 'descr'), 'to the host')
        self.assertEqual(value(seen[0], 'port', 'mfs'), '1522')     # 1500 + 14 + tag + FCS
        self.assertEqual(value(seen[0], 'port', 'ttl'), '9')        # 4 * 2 s + 1 s
        self.assertEqual(seen[0]['vlan'][0]['vlan-id'], '7')

        theirs = self.neighbor(lambda n: n['system_name'] == 'lldp-host' and n['port'] == 'eth0')
        self.assertEqual((theirs['chassis_kind'], theirs['chassis']), ('mac', self.host.mac))
        self.assertEqual(theirs['system_description'], 'a neighbour called lldp-host')
        self.assertEqual(theirs['dcbx'], {})
        self.assertEqual(self.switch.port('Ethernet0')['lldp'],
                         {'neighbor': 'lldp-host', 'port': 'eth0'})
        daemon.stop()   # it says so: no need to wait for the end of its time
        lab.wait_for(lambda: not self.port()['neighbors'], SECONDS, 'the neighbour has left')
        self.assertRegex(self.switch.log(), r'LLDP neighbour lldp-host, port eth0, has left')
        self.assertRegex(self.switch.log(), LEFT)
        self.assert_conserved(self.switch)

    def test_the_switch_says_that_it_leaves(self):
        daemon = Lldpd(self, self.host, 'lldp-host')
        self.start(buffers=SHARES.replace('"2s"', '"3600s"'))
        lab.wait_for(daemon.neighbors, SECONDS, 'lldpd has a neighbour')
        self.assert_conserved(self.switch)
        lab.wait_for(lambda: not daemon.neighbors(), SECONDS, 'lldpd has forgotten it')

    def test_a_peer_that_differs(self):
        daemon = Lldpd(self, self.host, 'lldp-host')
        self.start()
        daemon.tlv(PFC_SUBTYPE, 0x08, 0x18)                      # 8 classes, priorities 3 and 4
        daemon.tlv(APP_SUBTYPE, 0, 5 << 5 | 3, 4791 >> 8, 4791 & 255)
        words = 'Ethernet0: peer lldp-host enables PFC on 3-4, this port on 3'
        lab.wait_for(lambda: words in self.switch.log(), SECONDS, words)
        lab.wait_for(lambda: 'RoCE (UDP 4791) on priority 5, this port on 3' in self.switch.log(),
                     SECONDS, 'RoCE differs')
        rows = {row['topic']: row for row in self.neighbor()['comparison']}
        self.assertEqual({topic for topic, row in rows.items() if row['differs']},
                         {'PFC priorities', 'RoCE priority'})
        self.assertEqual(rows['PFC priorities']['theirs'], '3-4')
        daemon.tlv(PFC_SUBTYPE, 0x08, 0x08)
        daemon.tlv(APP_SUBTYPE, 0, 3 << 5 | 3, 4791 >> 8, 4791 & 255)
        agrees = 'peer lldp-host agrees on PFC and classes now'
        lab.wait_for(lambda: agrees in self.switch.log(), SECONDS, agrees)
        self.assertEqual(self.switch.log().count(words), 1)

    def test_modes(self):
        for mode, sees, is_seen in (('off', False, False), ('rx', True, False), ('tx', False, True)):
            with self.subTest(mode=mode):
                daemon = Lldpd(self, self.host, f'host-{mode}')
                self.start(f'lldp = "{mode}"; ')
                if sees:
                    self.neighbor()
                if is_seen:
                    lab.wait_for(daemon.neighbors, SECONDS, 'lldpd has a neighbour')
                # lldpd's frames have come: it sends when the link comes up, and every two seconds.
                lab.wait_for(lambda: self.switch.port('Ethernet0')['stats']['if_in_non_ucast_pkts'] > 2,
                             SECONDS, 'frames from lldpd')
                self.assertEqual(bool(self.port()['neighbors']), sees)
                self.assertEqual(bool(daemon.neighbors()), is_seen)
                stats = self.switch.port('Ethernet0')['stats']
                self.assertEqual(stats['lldp_rx_pkts'] > 0, sees)
                self.assertEqual(stats['lldp_tx_pkts'] > 0, is_seen)
                daemon.stop()
                self.assert_conserved(self.switch)

    def frame(self):
        """The first LLDP frame of the switch."""
        raw = self.host.raw_socket()
        raw.settimeout(SECONDS)
        self.start()

        def next_frame():
            frame = raw.recv(2048)
            return frame if frame[12:14] == b'\x88\xcc' else None
        return lab.wait_for(next_frame, SECONDS, 'an LLDP frame')

    def test_tshark_reads_what_is_configured(self):
        pcap = self.dir / 'lldp.pcap'
        lab.write_pcap(pcap, [self.frame()])
        text = lab.run('tshark', '-r', str(pcap), '-V')
        lines = [line.strip() for line in text.splitlines()]
        self.assertNotIn('Expert Info', text)
        self.assertNotIn('Malformed', text)
        self.assertIn('Destination: LLDP_Multicast (01:80:c2:00:00:0e)', lines)
        for i in range(8):
            word = 'Enabled' if i == 3 else 'Disabled'
            self.assertTrue(any(line.endswith(f'= PFC for Priority {i}: {word}') for line in lines), i)
            # Queue 3 has 30 of 90 parts, 33.3 %: what is left of 100 goes to the largest remainder.
            percent = 34 if i == 3 else 0 if i == 6 else 11
            self.assertEqual(lines.count(f'Bandwidth for PGID {i}: {percent}'), 2, i)
            tsa = 'Strict Priority (0)' if i == 6 else 'Enhanced Transmission Selection (2)'
            self.assertEqual(lines.count(f'TSA for Traffic Class {i}: {tsa}'), 2, i)
            group = {0: 1, 1: 0}.get(i, i)      # AZURE: PCP 0 is class 1, 1 is class 0
            self.assertEqual(sum(line.endswith(f'= PGID for Prio {i}: {group}') for line in lines), 2)
        self.assertEqual(sum(line.endswith('= Willing: No') for line in lines), 2)
        for end, times in (('= Max PFC Enabled Traffic Classes: 8', 1), ('= Application Priority: 3', 2),
                           ('= Application Selector: Port over UDP/DCCP (3)', 1),
                           (f'Application Protocol Id: 0x{4791:04x}', 1),
                           (f'Application Protocol Id: 0x{26:04x}', 1),     # DSCP 26
                           ('Port VLAN Identifier: 7 (0x0007)', 1),
                           ('Maximum Frame Size: 1522', 1)):
            self.assertEqual(sum(line.endswith(end) for line in lines), times, end)


LEFT = r'LLDP neighbour \S+, port \S+, has left'
DIFFERS = 'peer right shares its bandwidth'
AGREES = 'peer right agrees on PFC and classes now'


class TwoSwitches(lab.SmokeTest):
    """left - right, in memory, in one process."""

    def start(self, right_port=PORT, right_buffers=SHARES, left_port=PORT, left_buffers=SHARES):
        self.left, self.right = (
            lab.Switch(self, name, [lab.link_port('Ethernet4', 'cable', port + 'role = "fabric"; ')],
                       buffers=buffers, lldp=True)
            for name, port, buffers in (('left', left_port, left_buffers), ('right', right_port, right_buffers)))
        self.left.args = ('-c', self.right.config)
        self.left.start()

    def seen(self, switch):
        """What a switch has of the other, once both sides are there."""
        return lab.wait_for(lambda: next(iter(switch.get('/v1/lldp')['ports'][0]['neighbors']), None),
                            SECONDS, f'a neighbour of {switch.name}')

    def test_alike(self):
        self.start()
        for switch, other in ((self.left, 'right'), (self.right, 'left')):
            seen = self.seen(switch)
            self.assertEqual((seen['system_name'], seen['port']), (other, 'Ethernet4'))
            for row in seen['comparison']:
                self.assertEqual((row['ours'], row['differs']), (row['theirs'], False))
            self.assertEqual(seen['comparison'][0]['theirs'], '3')
            self.assertEqual(switch.port('Ethernet4')['lldp'], {'neighbor': other, 'port': 'Ethernet4'})
        self.assertEqual(self.left.stop(), 0)
        self.assertNotRegex(self.left.log(), LEFT)

    def log_has(self, words, times):
        lab.wait_for(lambda: self.left.log().count(words) >= times, SECONDS, f'{words}; {self.left.log()}')
        self.assertEqual(self.left.log().count(words), times)

    def change_ours(self):
        self.seen(self.left)
        for i, weight in enumerate((60, 30) * 4):
            status, answer = self.left.change(lab.edit('set', 'scheduler', 'heavy', weight=weight))
            self.assertEqual(status, 200, answer)
            # 60 of 120 parts here, 30 of 90 there.
            self.log_has(DIFFERS if weight == 60 else AGREES, 1 + i // 2)

    def test_a_change_of_our_own(self):
        """It is compared although it may be due to be sent before: frames leave each second, and so do
        comparisons, but not at the same time."""
        self.start(left_buffers=SHARES.replace('"2s"', '"1s"'))
        self.change_ours()
        self.assertEqual(self.left.stop(), 0)

    def test_a_change_of_our_own_that_nobody_is_told(self):
        self.start(left_port=f'{PORT}lldp = "rx"; ')
        self.change_ours()
        self.assertFalse(self.right.get('/v1/lldp')['ports'][0]['neighbors'])
        self.assertEqual(self.left.stop(), 0)

    def test_only_one_has_pfc(self):
        self.start('', lab.LOSSY)
        self.seen(self.left)
        lab.wait_for(lambda: 'Ethernet4: peer right enables PFC on none, this port on 3' in self.left.log()
                     and 'Ethernet4: peer left enables PFC on 3, this port on none' in self.left.log(),
                     SECONDS, 'both say it')
        self.assertEqual(self.left.stop(), 0)


if __name__ == '__main__':
    lab.main()
