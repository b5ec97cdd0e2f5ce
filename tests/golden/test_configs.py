#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Every configuration that weft plan writes for the example fabrics is one that weft-switch takes,
# with a NIC at each port: links in memory have no room for what is on its way at 400G. Fabrics that
# fit on one machine are taken as they are, all switches in one process.
#
# usage: test_configs.py WEFT WEFT_SWITCH INTENT...
"""Checks the files of weft plan --configs with weft-switch --check."""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

LIMIT_S = 120
SMALL = {
    'k4': 'fat_tree = { k = 4; }; speed = "100M"; mtu = 1500; ring = 32;',
}


def check(switch, files):
    """What weft-switch says about files of one process."""
    words = [word for file in files for word in ('-c', str(file))]
    done = subprocess.run([switch, '--check', *words], capture_output=True, text=True, timeout=LIMIT_S,
                          check=False)
    return done.stderr if done.returncode else ''


def with_nics(text):
    numbers = iter(range(256))
    return re.sub('devargs = "[^"]*"', lambda _: f'devargs = "ffff:{next(numbers):02x}:00.0"', text)


def faults(weft, switch, intent, scratch):
    """Lines about an intent, none when all of its configurations are taken."""
    done = subprocess.run([weft, 'plan', intent, '--configs', scratch], capture_output=True, text=True,
                          timeout=LIMIT_S, check=False)
    files = sorted(scratch.glob('*.cfg'))
    if done.returncode or not files:
        return done.stderr or 'nothing was written'
    if intent.stem in SMALL:
        return check(switch, files)
    for file in files:
        file.write_text(with_nics(file.read_text()))
    return ''.join(check(switch, [file]) for file in files)


def main():
    weft, switch = sys.argv[1:3]
    failed = 0
    with tempfile.TemporaryDirectory(prefix='weft-configs-') as root:
        intents = [Path(word) for word in sys.argv[3:]]
        for name, text in SMALL.items():
            intents.append(Path(root) / f'{name}.cfg')
            intents[-1].write_text(text)
        print(f'1..{len(intents)}')
        for number, intent in enumerate(intents, 1):
            scratch = Path(root) / f'{number}'
            said = faults(weft, switch, intent, scratch)
            failed += said != ''
            print(f'{"not ok" if said else "ok"} {number} - {intent.name}')
            print(''.join(f'# {line}\n' for line in said.splitlines()[:20]), end='', flush=True)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
