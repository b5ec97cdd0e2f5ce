#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""systemd accepts the units that the project ships, and finds them as closed as they are meant to be."""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
UNITS = ROOT / 'deploy/systemd'

# systemd-analyze security: 0 is locked up, 10 is wide open; what it calls OK ends at 4.9. What is left is
# what a switch is for: the host's network, packet sockets, devices, and root with seven capabilities.
EXPOSURE_MAX = 3.5


def analyze(*args):
    return subprocess.run(['systemd-analyze', *args], capture_output=True, text=True, check=False, timeout=60)


def verify(text, name, directory):
    """What systemd says about the unit; nothing when it is right."""
    path = Path(directory) / name
    path.write_text(text)
    done = analyze('verify', '--man=no', '--recursive-errors=no', str(path))
    return done.stderr if done.returncode != 0 or done.stderr else ''


def stays_down(text, what, *argv):
    """(what, why not): whether the unit leaves it at that when a start ends as this one does."""
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
    statuses = re.search(r'^RestartPreventExitStatus=(.*)$', text, re.M)[1].split()
    return f'{what} is not tried again', '' if str(done.returncode) in statuses else (
        f'status {done.returncode}, not one of {statuses}\n{done.stderr}')


def wrong_starts(name, directory):
    """[(what, argv behind the program)] of starts that another try cannot better."""
    config = Path(directory) / 'wrong.cfg'
    config.write_text('name = "wrong"; prot = ();\n')
    given = ['-c', str(config)]
    if name == 'weft-fabricd.service':
        given = ['-i', str(config), '--run-dir', directory, '--state-dir', directory]
    return [('a wrong configuration', given), ('a wrong option', [*given, '--no-hugh'])]


def main():
    programs = {f'/usr/bin/{Path(path).name}': str(Path(path).resolve()) for path in sys.argv[1:]}
    rows = []
    with tempfile.TemporaryDirectory(prefix='weft-units-') as directory:
        for path in sorted(UNITS.glob('*.service')):
            name = path.name.replace('@.', '@test.')
            text = path.read_text()
            program = re.search(r'^ExecStart=(\S+)', text, re.M)[1]
            text = text.replace(program, programs[program])
            rows.append((f'{path.name} verifies', verify(text, name, directory)))
            wrong = verify(text.replace('RestartSec=', 'RestartSek='), name, directory)
            rows.append((f'{path.name} would not with a typing error',
                         '' if 'RestartSek' in wrong else f'systemd-analyze verify said: {wrong!r}'))
            done = analyze('security', '--offline=yes', str(path))
            level = re.search(r'exposure level for \S+: ([\d.]+)', done.stdout)
            rows.append((f'{path.name} has an exposure of at most {EXPOSURE_MAX}',
                         '' if level and float(level[1]) <= EXPOSURE_MAX else done.stdout[-200:] + done.stderr))
            print(f'# {path.name}: exposure {level and level[1]}')
            rows += [stays_down(text, f'{path.name}: {what}', programs[program], *argv)
                     for what, argv in wrong_starts(path.name, directory)]
        done = subprocess.run([programs['/usr/bin/weft-switch'], '--check', '-c', Path(directory) / 'wrong.cfg'],
                              capture_output=True, check=False, timeout=60)
        rows.append(('--check of a wrong configuration ends with 1',
                     '' if done.returncode == 1 else f'with {done.returncode}'))
    print(f'1..{len(rows)}')
    for number, (what, why) in enumerate(rows, 1):
        print(f'{"not ok" if why else "ok"} {number} - {what}')
        for line in why.splitlines():
            print(f'# {line}')
    return any(why for _, why in rows)


if __name__ == '__main__':
    sys.exit(main())
