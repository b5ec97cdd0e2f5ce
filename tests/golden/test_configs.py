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
SWITCHES_MAX = 32    # as many as are quick to check in one process
SMALL = {
    'torus': 'torus = { dims = [4, 4]; }; speed = "100M"; mtu = 1500; ring = 32;',
    'hybrid': 'hybrid = { pods = 2; dims = [3, 3]; spines = 2; }; speed = "100M"; mtu = 1500; ring = 32;',
    'classes': 'leaf_spine = { leaves = 3; spines = 2; hosts_per_leaf = 4; }; speed = "1G"; mtu = 1500; '
               'classes = ( { name = "roce"; dscp = [26]; share = "40%"; }, '
               '{ name = "storage"; dscp = [18, 20]; share = "30%"; ecn = false; }, '
               '{ name = "bulk"; dscp = [10]; lossless = false; share = "20%"; } );',
    'lossy': 'leaf_spine = { leaves = 2; spines = 2; hosts_per_leaf = 2; }; speed = "1G"; mtu = 1500; '
             'classes = ( { name = "roce"; dscp = [26]; lossless = false; } );',
    'tenants': 'leaf_spine = { leaves = 2; spines = 2; hosts_per_leaf = 3; }; addressing = "per_leaf"; speed = "1G"; '
               'mtu = 1500; tenants = ( { name = "red"; hosts = "host1..host3"; } );',
    'k4': 'fat_tree = { k = 4; }; speed = "100M"; mtu = 1500; ring = 32;',
}


def check(switch, files):
    """What weft-switch says about files of one process."""
    words = [word for file in files for word in ('-c', str(file))]
    done = subprocess.run([switch, '--check', *words], capture_output=True, text=True, timeout=LIMIT_S,
                          check=False)
    return done.stderr if done.returncode else ''


def with_nics(text, numbers):
    def nic(_):
        number = next(numbers)
        return f'devargs = "ffff:{number // 256:02x}:{number % 256 // 8:02x}.{number % 8}"'
    return re.sub('devargs = "[^"]*"', nic, text)


def faults(weft, switch, intent, scratch):
    """Lines about an intent, none when all of its configurations are taken."""
    done = subprocess.run([weft, 'plan', intent, '--configs', scratch], capture_output=True, text=True,
                          timeout=LIMIT_S, check=False)
    files = sorted(scratch.glob('*.cfg'))
    if done.returncode or not files:
        return done.stderr or 'nothing was written'
    if intent.stem in SMALL:
        return check(switch, files)
    numbers = iter(range(65536))
    for file in files:
        file.write_text(with_nics(file.read_text(), numbers))
    return ''.join(check(switch, files[i:i + SWITCHES_MAX]) for i in range(0, len(files), SWITCHES_MAX))


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
