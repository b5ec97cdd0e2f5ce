#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""weft-switch --check: a wrong configuration is told with file and line, and nothing is started."""
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
import lab

ROOT = Path(__file__).resolve().parents[2]


class Config(lab.SmokeTest):
    def check(self, *ports):
        """Exit status, what was printed, and the line of each port in the file."""
        switch = lab.Switch(self, 'check', ports)
        done = subprocess.run(switch.argv('--check'), capture_output=True, text=True, check=False,
                              timeout=20)
        lines = switch.config.read_text().splitlines()
        numbers = [next(i for i, line in enumerate(lines, 1) if port in line) for port in ports]
        self.assertFalse((self.dir / 'run').exists(), 'a check leaves nothing behind')
        return done.returncode, done.stderr, switch.config, numbers

    def test_right(self):
        status, text, _, _ = self.check('name = "A"; devargs = "net_null0"; mtu = 1500;')
        self.assertEqual((status, text), (0, ''))

    def test_wrong(self):
        good = 'name = "A"; devargs = "net_null0";'
        rows = (
            # port, what the message must hold
            ('name = "B"; devargs = "net_null1"; mtu = "9300";', ('mtu', '9300')),
            ('name = "B"; devargs = "net_null1"; spede = "10G";', ('spede',)),
            ('name = "B"; devargs = "net_nil1";', ('B', 'net_nil1')),
            ('name = "B"; devargs = "net_tap0"; mtu = 9000;', ('B', 'net_tap', '9000', '1500')),
            ('name = "B"; devargs = "net_af_packet0,iface=x,framesz=4096,blocksz=4096"; mtu = 9000;',
             ('B', 'net_af_packet', '9000', '4008', 'framesz')),
            ('name = "A"; devargs = "net_null1";', ('A',)),
        )
        for port, words in rows:
            with self.subTest(port=port):
                status, text, path, lines = self.check(good, port)
                self.assertEqual(status, 1, text)
                self.assertIn(f'{path}:{lines[1]}:', text)
                for word in words:
                    self.assertIn(word, text)

    def test_syntax(self):
        status, text, path, _ = self.check('name = "A"; devargs = ;')
        self.assertEqual(status, 1)
        self.assertRegex(text, rf'{path}:\d+: ')

    def test_examples(self):
        """Every configuration that the project ships is right; those in a directory belong together. Intents of
        whole fabrics, in fabric/, are what `weft plan --check` reads (tests/golden/cli/test_plan.py)."""
        examples = ROOT / 'deploy' / 'examples'
        sets = [[path] for path in examples.glob('*.cfg')]
        sets += [sorted(path.glob('*.cfg')) for path in examples.iterdir() if path.name != 'fabric' and path.is_dir()]
        sets = [paths for paths in sets if paths]
        found = [path for path in (ROOT / 'deploy').rglob('*.cfg') if path.parent.name != 'fabric']
        self.assertCountEqual(found, sum(sets, []))
        for paths in sets:
            with self.subTest(paths=paths):
                args = [word for path in paths for word in ('-c', path)]
                done = subprocess.run([lab.SWITCH, '--check', *args], capture_output=True,
                                      text=True, check=False, timeout=20)
                self.assertEqual((done.returncode, done.stderr), (0, ''))

    def test_arguments(self):
        for args, status in (((), 2), (('--nonsense',), 2), (('--lcore', 'x', '-c', 'f'), 2),
                             (('--version',), 0), (('--help',), 0), (('-c', '/nonexistent'), 78),
                             (('--check', '-c', '/nonexistent'), 1), (('--dump', '-c', '/nonexistent'), 1)):
            with self.subTest(args=args):
                done = subprocess.run([lab.SWITCH, *args], capture_output=True, text=True,
                                      check=False, timeout=20)
                self.assertEqual(done.returncode, status, done.stderr)


if __name__ == '__main__':
    lab.main()
