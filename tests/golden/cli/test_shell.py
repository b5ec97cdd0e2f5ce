#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# The command line as a person at a terminal meets it: completion by bash itself, and weft watch on a
# terminal, which it redraws, and which Ctrl-C ends without a trace. Switches are those of
# test_cli.py.
#
# usage: test_shell.py WEFT COMPLETION
"""Completion of bash, and watch on a terminal."""
import os
import pty
import select
import shlex
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import test_cli

LIMIT_S = 20

# A command line up to the cursor -> what completion offers, in order.
COMPLETIONS = [
    ('weft sho', ['show']),
    ('weft show pf', ['pfc', 'pfcwd']),
    ('weft show pfc ', ['counters', 'pause', 'priority', 'asymmetric', 'history']),
    ('weft show pfc c', ['counters']),
    ('weft sh int stat', ['status']),
    ('weft show interfaces desc', ['description']),
    ('weft --run-dir rack show pfc counters ', ['Ethernet0', 'gpu1', 'Ethernet4', 'gpu2', 'Ethernet8', 'mgmt']),
    ('weft --run-dir rack show pfc counters gpu', ['gpu1', 'gpu2']),
    ('weft --run-dir rack show why gpu1 ', ['0', '1', '2', '3', '4', '5', '6', '7']),
    ('weft --run-dir rack show why gpu1 3 ', []),
    ('weft --run-dir rack debug storm Ethernet4 3 o', ['on', 'off']),
    ('weft debug big-red of', ['off']),
    ('weft --run-dir rack debug tx-disable Ethernet0 ', ['on', 'off']),
    ('weft --run-dir two -n ', ['blue', 'green', 'all']),
    ('weft --run-dir two --switch gr', ['green']),
    ('weft show queue watermark -k pe', ['persistent', 'periodic']),
    ('weft show --no', ['--nonzero']),
    ('weft --run-dir none show pfc counters ', []),
    ('weft show nonsense ', []),
    ('weft fabric un', ['undrain']),
    ('weft --run-dir lab fabric routes lea', ['leaf1', 'leaf2', 'leaf3', 'leaf4']),
    ('weft --run-dir lab fabric routes leaf1 host1', [f'host{n}' for n in (1, *range(10, 17))]),
    ('weft --run-dir lab fabric trace wan spi', ['spine1', 'spine2']),
    ('weft --run-dir lab fabric counters spi', ['spine1', 'spine2']),
    ('weft --run-dir lab fabric drain spine1', ['spine1'] + [f'spine1:Ethernet{n}' for n in range(4)]),
    ('weft --run-dir lab fabric apply next.cfg --canary leaf', ['leaf1', 'leaf2', 'leaf3', 'leaf4']),
    ('weft --run-dir none fabric drain ', []),
    ('weft l', ['link', 'lab']),
    ('weft lab st', ['status', 'start']),
    ('weft lab up --no', ['--no-manager']),
    # An alias of this switch is full of what a terminal would obey.
    ('weft --run-dir bad -n odd show drops ', ['Ethernet0', 'Ethernet4']),
]


def complete(completion, line):
    """What bash has in COMPREPLY for this line."""
    words = shlex.split(line)
    if line.endswith(' '):
        words.append('')
    quoted = ' '.join(shlex.quote(word) for word in words)
    script = (f'source {shlex.quote(completion)}; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; '
              '_weft; printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(['bash', '-c', script], capture_output=True, text=True, timeout=LIMIT_S,
                          check=True)
    return done.stdout.split()


def is_registered(completion):
    """bash knows the function as the completion of weft."""
    done = subprocess.run(['bash', '-c', f'source {shlex.quote(completion)}; complete -p weft'],
                          capture_output=True, text=True, timeout=LIMIT_S, check=False)
    return '-F _weft weft' in done.stdout


def watch(weft, number, look, *options):
    """Starts weft watch on a terminal, ends it by a signal after two looks, each of which has the bytes
    `look`; what it wrote, and how it ended."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(weft, [weft, '--run-dir', 'rack', 'watch', '--interval', '50ms', *options])
    data, end, sent = b'', time.monotonic() + LIMIT_S, False
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 0.1)[0]:
            continue
        try:
            data += os.read(terminal, 65536)
        except OSError:     # the other side of the terminal is gone
            break
        if not sent and data.count(look) >= 2:
            os.kill(pid, number)
            sent = True
    if not sent:
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    return data.decode(), os.waitstatus_to_exitcode(status)


def watch_tests(weft):
    redrawn, status = watch(weft, signal.SIGINT, b'rates of 1.0 s')
    yield 'watch on a terminal redraws', redrawn.count('\033[H\033[J') >= 2
    yield 'Ctrl-C ends watch with status 0', status == 0
    yield 'Ctrl-C leaves no error', 'weft:' not in redrawn
    lines, status = watch(weft, signal.SIGTERM, b'"rx_bps"', '--json')
    yield 'watch --json redraws nothing', '\033' not in lines and lines.count('"rx_bps"') >= 2
    yield 'SIGTERM ends watch with status 0', status == 0


def tests(weft, completion):
    yield 'completion is registered', is_registered(completion)
    for line, want in COMPLETIONS:
        have = complete(completion, line)
        yield f'complete "{line}"', have == want or print(f'--- want {want}\n--- have {have}', file=sys.stderr)
    yield from watch_tests(weft)


def main():
    weft, completion = map(os.path.abspath, sys.argv[1:3])
    os.environ['PATH'] = os.path.dirname(weft) + ':' + os.environ['PATH']
    with tempfile.TemporaryDirectory(prefix='weft-shell-') as directory:
        os.chdir(directory)
        test_cli.start_switches()
        results = list(tests(weft, completion))
        os.chdir('/')
    print(f'1..{len(results)}')
    for at, (name, good) in enumerate(results, 1):
        print(f'{"ok" if good else "not ok"} {at} - {name}')
    return 0 if all(good for _, good in results) else 1


sys.exit(main())
