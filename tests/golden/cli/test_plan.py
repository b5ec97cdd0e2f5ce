#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Golden test of what weft does without a switch (plan, trace, pki): runs the commands of the
# ```console blocks of a guide in a directory with copies of the example intents, and compares what
# they print and how they end. Processor times, memory and serial numbers differ from run to run and
# are shown as 0, and days as 2000-01-01.
#
# usage: test_plan.py WEFT GUIDE FILE... [--update]; of the files, *.cfg are intents
# --update writes the guide anew; read the difference before it is believed.
"""Compares the output of weft plan, trace and pki with a guide."""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from test_cli import LIMIT_S, read_guide, report


def run(weft, command):
    """Output and exit status of a line; besides weft, what a reader may do with its files."""
    words = shlex.split(command)
    program = {'weft': [weft]}.get(words[0], [words[0]])
    assert program[0] in (weft, 'cat', 'sed', 'ls', 'stat', 'openssl'), command
    done = subprocess.run(program + words[1:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, 'LC_ALL': 'C'}, timeout=LIMIT_S, check=False)
    text = re.sub(r'("(?:\w+_cpu_ms|rss_kb)": )[0-9.e-]+', r'\g<1>0', done.stdout.decode())
    text = re.sub(r'(?<= )[0-9a-f]{16} (?=\d{4}-)', '0' * 16 + ' ', text)
    text = re.sub(r'\b\d{4}-\d\d-\d\d\b', '2000-01-01', text)
    return text + (f'[exit {done.returncode}]\n' if done.returncode else '')


def main():
    update = '--update' in sys.argv
    words = [word for word in sys.argv[1:] if word != '--update']
    weft, guide = os.path.abspath(words[0]), Path(words[1]).resolve()
    intents = [Path(word).resolve() for word in words[2:]]
    cases, rest = read_guide(guide)
    with tempfile.TemporaryDirectory(prefix='weft-plan-') as scratch:
        os.chdir(scratch)
        for intent in intents:
            shutil.copy(intent, scratch)
        have = [run(weft, command) for _, command, _ in cases]
        told = len(cases)
        for intent in [path for path in intents if path.suffix == '.cfg']:
            shutil.copy(intent, scratch)
            cases.append(('', f'weft plan {intent.name} --check', ''))
            checked = run(weft, f'weft plan {intent.name} --check')
            have.append('' if re.match(r'\S+: \d+ hosts, \d+ switches, \d+ links\n$', checked)
                        else checked)
        os.chdir('/')
    if not update:
        return 0 if report(cases, have) else 1
    text = ''
    for (before, command, _), out in list(zip(cases, have))[:told]:
        gap = '\n' if text and not before else ''
        text += f'{before}{gap}$ {command}\n{out}'
    guide.write_text(text + rest)
    return 0


if __name__ == '__main__':
    sys.exit(main())
