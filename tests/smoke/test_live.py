#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A running switch is configured through its socket: changes, refusals in words, dry runs, changes that
wait to be confirmed, and what is kept over a restart. Arguments: weft-switch, weft."""
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
import lab

PORTS = (
    f'name = "Ethernet0"; devargs = "net_null0"; speed = "10G"; mtu = 1500; {lab.LOSSLESS_PORT}',
    f'name = "Ethernet4"; devargs = "net_null1"; speed = "10G"; mtu = 1500; {lab.LOSSLESS_PORT}',
)
VLANS = 40


class Live(lab.SmokeTest):
    def start(self, name='live'):
        self.switch = lab.Switch(self, name, PORTS, lab.LOSSLESS)
        self.saved = self.dir / 'state' / name / 'saved.cfg'
        return self.switch.start()

    def weft(self, *words, status=0):
        """What `weft config` prints; it must end with this status."""
        return lab.weft(WEFT, self.dir, 'config', *words, status=status, stderr=subprocess.STDOUT)

    def shows(self, table, line):
        return f'\t{line};' in self.weft('show', table).split('\n')

    def restart(self, number=signal.SIGTERM):
        self.switch.stop(number)
        self.switch.start()

    def test_changes(self):
        """Every kind of edit arrives, is said in words, and is logged with who did it."""
        switch = self.start()
        rows = (
            (('set', 'mac_age=60s'), 'switch: mac_age 300s -> 60s\n'),
            (('unset', 'mac_age'), 'switch: mac_age 60s -> 300s\n'),
            (('add', 'vlan', '20', 'tagged=Ethernet0 Ethernet4'), '+ vlan 20: tagged = "Ethernet0 Ethernet4"\n'),
            (('vlan', 'member', 'del', '20', 'Ethernet4', '--force'),
             'vlan 20: tagged "Ethernet0 Ethernet4" -> "Ethernet0"\n'),
            (('set', 'port', 'Ethernet0', 'alias=a "b" c'), 'port Ethernet0: alias "" -> "a \\"b\\" c"\n'),
            (('pfcwd', 'start', '--action', 'alert', 'Ethernet0', '200', '--restoration-time', '400'),
             '+ pfc_wd Ethernet0: action = alert, restoration_time = 400ms\n'),
            (('pfcwd', 'start', 'Ethernet0', '300'), 'pfc_wd Ethernet0: detection_time 200ms -> 300ms\n'),
            (('pfcwd', 'stop'), '- pfc_wd Ethernet0\n'),
            (('remove', 'vlan', '20', '--force'), '- vlan 20\n'),
            (('set', 'mac_age=300s'), 'nothing changes\n'),
        )
        for words, said in rows:
            with self.subTest(words=words):
                have = self.weft(*words)
                self.assertEqual(have.split('In spite of:\n')[0], said)
                if said != 'nothing changes\n':
                    self.assertRegex(switch.log(), rf'live: uid {os.getuid()}, pid \d+: {re.escape(said)}')
        self.assertTrue(self.shows('port', 'alias = "a \\"b\\" c"'))
        self.assertEqual(switch.port('Ethernet0')['alias'], 'a "b" c')
        self.assertIn('port Ethernet0: alias', self.weft('diff'))
        self.assert_conserved(switch)

    def test_refusals(self):
        """What is wrong is said, all of it, and nothing changes; what would drop needs force."""
        switch = self.start()
        before = self.weft('show')
        rows = (
            (('set', 'prot', 'Ethernet0', 'mtu=1500'), 'prot Ethernet0: no such table; did you mean port?'),
            (('set', 'port', 'Ethernet5', 'mtu=1500'), 'no such row; did you mean Ethernet'),
            (('set', 'port', 'Ethernet0', 'mut=1500'), 'port Ethernet0: mut: unknown; did you mean mtu?'),
            (('set', 'port', 'Ethernet0', 'mtu=99999'),
             'port Ethernet0: mtu: "99999" is too large; allowed: 68 to 9K'),
            # Right by itself, wrong with the rest.
            (('set', 'port', 'Ethernet0', 'tc_to_pg_map=none'), 'none'),
            (('remove', 'buffer_pool', 'ingress'), 'ingress'),
            # Needs a restart.
            (('set', 'name=other'), 'restart'),
        )
        for words, said in rows:
            with self.subTest(words=words):
                self.assertIn(said, self.weft(*words, status=1))
        self.assertIn('refused', self.weft('set', 'name=other', status=1))
        for body in (b'', b'{"edits": [{"op": "sett", "table": "port"}]}', b'{"dryrun": true}', b'[', b'{}'):
            self.assertEqual(self.post(body)[0], 400, body)
        switch.wait_link('Ethernet0')
        said = self.weft('interface', 'shutdown', 'Ethernet0', status=1)
        self.assertIn('It would drop:', said)
        self.assertIn('Ethernet0', said)
        self.assertEqual(self.weft('show'), before)
        self.assertIn('admin true -> false', self.weft('interface', 'shutdown', 'Ethernet0', '--force'))
        switch.wait_link('Ethernet0', up=False)
        self.assertIn('admin false -> true', self.weft('interface', 'startup', 'Ethernet0'))
        switch.wait_link('Ethernet0')
        self.assert_conserved(switch)

    def post(self, body, path='/v1/config'):
        connection = lab.UnixConnection(self.dir / 'run' / f'{self.switch.name}.sock')
        try:
            connection.request('POST', path, body=body)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def test_dry_run(self):
        self.start()
        before = self.weft('show')
        self.assertEqual(self.weft('vlan', 'add', '20', '--dry-run'), 'It would change:\n  + vlan 20\n')
        said = self.weft('interface', 'shutdown', 'Ethernet0', '--dry-run')
        self.assertTrue(said.startswith('It would change:\n  port Ethernet0: admin true -> false\n'), said)
        self.weft('set', 'mtu=1', '--dry-run', status=1)
        self.assertEqual(self.weft('show'), before)

    def test_confirm(self):
        """A change that nobody confirms goes back; while it waits no other is taken."""
        switch = self.start()
        before = self.weft('show')
        self.assertIn('no change waits', self.weft('confirm', status=1))
        self.assertIn('no change waits', self.weft('rollback', status=1))
        self.assertIn('Taken back in 1 s', self.weft('set', 'mac_age=60s', '--confirm', '1'))
        lab.wait_for(lambda: 'nobody confirmed the change' in switch.log(), 20, 'the way back')
        self.assertEqual(self.weft('show'), before)

        self.weft('set', 'mac_age=60s', '--confirm', '600')
        self.assertIn('waits', self.weft('set', 'mac_age=70s', status=1))
        self.assertIn('waits', self.weft('save', status=1))
        self.assertIn('waits', self.weft('reload', status=1))
        switch.process.send_signal(signal.SIGHUP)
        lab.wait_for(lambda: 'is not applied: a change waits' in switch.log(), 20, 'an answer to SIGHUP')
        self.assertEqual(self.weft('rollback'), 'switch: mac_age 60s -> 300s\n')
        self.assertEqual(self.weft('show'), before)

        self.weft('set', 'mac_age=60s', '--confirm', '600')
        self.assertEqual(self.weft('confirm'), 'the change stays\n')
        self.assertTrue('mac_age = "60s";' in self.weft('show', 'switch'))
        self.assert_conserved(switch)

    def test_saved(self):
        """What is saved holds over restarts, also a violent one, until the file is edited."""
        switch = self.start()
        self.weft('set', 'mac_age=60s')
        self.restart()
        self.assertNotIn('mac_age', self.weft('diff'))
        self.weft('set', 'mac_age=60s')
        self.assertIn('saved.cfg', self.weft('save'))
        self.weft('set', 'mac_age=70s')
        self.assertEqual(self.weft('diff', '--saved'), 'switch: mac_age 60s -> 70s\n')
        self.restart(signal.SIGKILL)
        self.assertEqual(self.weft('diff'), 'switch: mac_age 300s -> 60s\n')
        self.assertIn(f'started with {self.saved}', switch.log())
        self.assertEqual(self.weft('show'), self.weft('show', '--saved'))
        said = self.weft('set', 'port', 'Ethernet0', 'devargs=net_nil0', status=1)
        self.assertIn(f'{switch.config}: port Ethernet0: no driver for devargs', said)

        # The saved text is a configuration by itself.
        check = [lab.SWITCH, '--check', '-c', self.saved]
        self.assertEqual(subprocess.run(check, check=False, timeout=30).returncode, 0)

        with open(switch.config, 'a', encoding='utf-8') as file:
            file.write('mac_count = 4096;\n')
        self.assertIn('was edited since it was loaded', self.weft('save'))
        self.restart()
        self.assertIn('was edited after weft config save', switch.log())
        self.assertEqual(self.weft('diff'), 'nothing changes\n')
        self.assertFalse(self.saved.exists())
        self.assertTrue(self.saved.with_suffix('.cfg.old').exists())
        self.assert_conserved(switch)

    def test_reload(self):
        """The file anew; then what is saved stands in for it as it is now."""
        switch = self.start()
        self.weft('set', 'mac_age=60s')
        text = switch.config.read_text()
        switch.config.write_text(text + 'mac_age = "90s";\n')
        self.assertEqual(self.weft('reload', '--dry-run'), 'It would change:\n  switch: mac_age 60s -> 90s\n')
        self.assertEqual(self.weft('reload'), 'switch: mac_age 60s -> 90s\n')
        self.assertNotIn('edited', self.weft('save'))
        switch.config.write_text('name = ;\n')
        self.assertIn('syntax error', self.weft('reload', status=1))
        switch.config.write_text(text + 'mac_age = "90s";\n')
        self.restart()
        self.assertIn(f'started with {self.saved}', switch.log())
        self.assert_conserved(switch)

    def test_all_is_logged(self):
        """As many lines as there are changes, though a place in the code says only so many in a second."""
        switch = self.start()
        text = switch.config.read_text()
        rows = ', '.join(f'{{ id = {number}; tagged = "Ethernet0"; }}' for number in range(100, 100 + VLANS))
        switch.config.write_text(f'{text}vlan = ({rows});\n')
        switch.process.send_signal(signal.SIGHUP)
        lab.wait_for(lambda: 'is applied' in switch.log(), 20, 'an answer to SIGHUP')
        for number in range(100, 100 + VLANS):
            self.assertIn(f'live: SIGHUP: + vlan {number}: tagged = "Ethernet0"', switch.log())
        self.assertNotIn('left out', switch.log())
        self.assert_conserved(switch)

    def test_device_refuses(self):
        """A device that takes less than its driver allows is named, and nothing changes."""
        host = lab.Host(self, 1)
        narrow = f'wm{os.getpid()}'
        lab.run('ip', 'link', 'add', 'link', host.port, 'name', narrow, 'up', 'type', 'macvlan')
        ports = (f'name = "Ethernet0"; devargs = "net_af_packet0,iface={narrow}"; mtu = 1500;',)
        self.switch = lab.Switch(self, 'live', ports).start()
        said = self.weft('set', 'port', 'Ethernet0', 'mtu=1600', status=1)
        self.assertIn(f'port Ethernet0: its device (net_af_packet0,iface={narrow}) refuses an MTU of 1600', said)
        self.assertEqual(self.switch.port('Ethernet0')['mtu'], 1500)
        self.assert_conserved(self.switch)

    def test_lent_buffers(self):
        """Packet buffers of an impaired link are the buffer's own, as far as it has them to spare."""
        switch = self.start()
        descriptors = lambda: [switch.get('/v1/stats')['switch'][key] for key in ('descriptors', 'shared_descriptors')]
        before = descriptors()
        self.weft('add', 'impairment', 'Ethernet0', 'limit=1000')
        self.assertEqual(descriptors(), [number - 1000 for number in before])
        self.weft('remove', 'impairment', 'Ethernet0')
        self.assertEqual(descriptors(), before)
        most = before[1] // 2
        said = self.weft('add', 'impairment', 'Ethernet0', f'limit={most + 1}', status=1)
        self.assertIn('packet buffers', said)
        self.assertIn('need a restart', said)
        self.assertEqual(descriptors(), before)
        self.weft('add', 'impairment', 'Ethernet0', f'limit={most}')
        self.assertEqual(descriptors()[1], before[1] - most)
        self.assert_conserved(switch)

    def test_saved_in_vain(self):
        """What cannot be saved, and what is saved and cannot be read: in words, and the last good holds."""
        switch = self.start()
        self.weft('set', 'mac_age=60s')
        self.weft('save')
        good = self.saved.read_bytes()
        blocked = self.saved.with_suffix('.cfg.new')
        blocked.mkdir()
        self.assertIn('what was saved before still holds', self.weft('save', status=1))
        blocked.rmdir()
        self.assertEqual(self.saved.read_bytes(), good)
        for text, said in ((b'', 'does not say which file'),
                           (good.replace(b'mac_age', b'mac_aeg'), 'did you mean mac_age?'),
                           (good[:len(good) // 2], 'syntax error')):
            with self.subTest(said=said):
                switch.stop()
                self.saved.write_bytes(text)
                switch.start()
                self.assertIn(said, switch.log())
                self.assertIn(f'{switch.config} is', switch.log())
                self.assertEqual(self.weft('diff'), 'nothing changes\n')

    def test_full_disk(self):
        """No room in the state directory."""
        state = self.dir / 'state'
        state.mkdir()
        subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=16k', 'none', state], check=True, timeout=30)
        self.addCleanup(subprocess.run, ['umount', '-l', state], check=True, timeout=30)
        switch = self.start()
        with self.assertRaises(OSError), open(state / 'filler', 'wb', buffering=0) as filler:
            while True:
                filler.write(bytes(4096))
        said = self.weft('save', status=1)
        self.assertIn('No space left on device', said)
        self.assertFalse(self.saved.exists())
        self.assertFalse(self.saved.with_suffix('.cfg.new').exists())
        Path(state, 'filler').unlink()
        self.assert_conserved(switch)


if __name__ == '__main__':
    WEFT = sys.argv.pop(2)
    lab.main()
