#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# `weft-switch --dump -c FILE`: canonical text that means what the file means. Each example's dump is
# dumped again and must not change; a small file's dump is compared knob by knob with what the file
# says and with defaults of schema/config.def.
"""Tests weft-switch --dump. Arguments: weft-switch, then example configurations."""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SCHEMA = Path(__file__).resolve().parents[2] / 'schema/config.def'
SMALL = '''name = "small";
buffer_pool = ({ name = "in"; type = "ingress"; size = "1M"; },
	{ name = "out"; type = "egress"; size = "1M"; });
buffer_profile = ({ name = "i"; pool = "in"; dynamic_th = 0; },
	{ name = "o"; pool = "out"; dynamic_th = 0; });
buffer_pg = ({ port = "all"; pg = "0-7"; profile = "i"; });
buffer_queue = ({ port = "all"; queue = "0-7"; profile = "o"; });
port = ({ name = "Ethernet0"; devargs = "net_null0,size=64"; mtu = 1500; alias = "a \\"b\\""; });
'''


def dump(program, *paths, how='--dump'):
    args = [program, how]
    for path in paths:
        args += ['-c', str(path)]
    done = subprocess.run(args, capture_output=True, text=True, timeout=30)
    return done.returncode, done.stdout, done.stderr


def check_again(program, path, how='--dump'):
    """The dump of a dump is the dump."""
    status, first, errors = dump(program, path, how=how)
    if status != 0:
        return f'status {status}: {errors}'
    with tempfile.NamedTemporaryFile('w', suffix='.cfg') as file:
        file.write(first)
        file.flush()
        status, second, errors = dump(program, file.name)
    if status != 0:
        return f'its dump is refused: {errors}'
    return '' if first == second else 'its dump does not dump to itself'


def check_rows(program, path):
    """A preset as rows needs no preset, and is no less: there are groups with headroom, or none in a lossy file."""
    status, text, errors = dump(program, path, how='--dump=rows')
    if status != 0:
        return f'status {status}: {errors}'
    lossless = re.search(r'\txoff = "[1-9]', text) is not None
    if '\nroce = "off";' not in text or lossless == ('lossy' in Path(path).name):
        return f'a preset is left, or lossless is {lossless}'
    return check_again(program, path, how='--dump=rows')


def defaults(macro):
    """Knob -> default in the schema, of those that have one."""
    rows = re.findall(rf'^{macro}_KNOB\((\w+), (\w+), "([^"]*)"', SCHEMA.read_text(), re.M)
    return {key: (kind, default) for key, kind, default in rows if default not in ('!', '-')}


def check_small(program):
    with tempfile.NamedTemporaryFile('w', suffix='.cfg') as file:
        file.write(SMALL)
        file.flush()
        status, text, errors = dump(program, file.name)
    if status != 0:
        return f'status {status}: {errors}'
    port = text.split('\nport = (')[1].split('});')[0]
    for knob in ('\tname = "Ethernet0";', '\tmtu = "1500";', '\talias = "a \\"b\\"";'):
        if knob not in port.split('\n'):
            return f'no {knob.strip()} in the port'
    for knob, (kind, default) in defaults('PORT').items():
        if knob in ('alias', 'mtu'):
            continue
        bare = default if kind in ('COUNT', 'BOOL', 'INT') else f'"{default}"'
        if kind in ('COUNT', 'BOOL', 'ENUM', 'NAME') and f'\t{knob} = {bare};' not in port:
            return f'no default of {knob} ({default}) in the port'
    return '' if 'devargs = "net_null0,size=64";' in port else 'devargs'


def check_refused(program, example):
    """A wrong file is an error and no text; several files are a wrong command line."""
    with tempfile.NamedTemporaryFile('w', suffix='.cfg') as file:
        file.write('nmae = "a";\n')
        file.flush()
        status, text, errors = dump(program, file.name)
    if status != 1 or text or 'did you mean name?' not in errors:
        return f'status {status}, text {text[:40]!r}, errors {errors!r}'
    status, text, errors = dump(program, example, '/dev/null')
    return '' if status == 2 and not text else f'two files: status {status}'


def main():
    program, examples = sys.argv[1], sys.argv[2:]
    tests = [(Path(path).name, lambda path=path: check_again(program, path)) for path in examples]
    tests += [(f'{Path(path).name} as rows', lambda path=path: check_rows(program, path)) for path in examples]
    tests.append(('knobs and defaults', lambda: check_small(program)))
    tests.append(('refusals', lambda: check_refused(program, examples[0])))
    print(f'1..{len(tests)}')
    failed = 0
    for number, (what, run) in enumerate(tests, 1):
        wrong = run()
        failed += wrong != ''
        print(f'{"not ok" if wrong else "ok"} {number} - {what}')
        if wrong:
            print(f'# {wrong}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
