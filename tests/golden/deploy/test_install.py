#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Installs into a directory of its own and looks at it as a machine would: the unit's program, the examples
# through --check, man pages through two formatters. What a page must hold comes from schema/*.def and from
# the programs' help, read here anew.
"""`meson install` puts everything where a machine looks for it, and what it puts there is right."""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FILES = ('bin/weft', 'bin/weft-switch', 'bin/weft-fabricd', 'lib/systemd/system/weft-switch@.service',
         'lib/systemd/system/weft-fabricd.service', 'share/man/man1/weft.1', 'share/man/man8/weft-fabricd.8',
         'share/man/man8/weft-switch.8', 'share/man/man5/weft.cfg.5', 'share/man/man7/weft-counters.7',
         'share/weft/examples/netns', 'share/weft/examples/roce-nics.cfg', 'share/doc/weft/README.md',
         'share/doc/weft/docs/service.md', 'share/bash-completion/completions/weft')
PAGES = [Path(path).name for path in FILES if '/man/' in path]


def run(*args, **more):
    return subprocess.run(args, capture_output=True, text=True, check=False, timeout=120, **more)


def words_of(page, top):
    """The page as text without formatting, its words separated by one space."""
    path = next(top.rglob(page))
    text = re.sub('.\b', '', run('mandoc', '-Tutf8', '-O', 'width=500', str(path)).stdout)
    return ' '.join(text.replace('\u2010', '-').split())


def missing(page, top, wanted):
    text = words_of(page, top)
    return ', '.join(word for word in wanted if ' '.join(word.split()) not in text)


def schema(name, pattern):
    return re.findall(pattern, (ROOT / f'schema/{name}.def').read_text(), re.M)


def lost_links(top):
    """Relative links of the documents below `top` that lead to no installed file, or to no heading of it."""
    for path in sorted(top.rglob('*.md')):
        for target, _, anchor in (link.partition('#') for link in re.findall(r'\]\(([^)\s]+)\)', path.read_text())):
            if ':' in target:
                continue
            to = (path.parent / target).resolve() if target else path
            heads = re.findall(r'^#+ (.*)$', to.read_text(), re.M) if to.is_file() else []
            names = [re.sub(r'[^\w -]', '', head.lower()).replace(' ', '-') for head in heads]
            if not to.is_file() or (anchor and anchor not in names):
                yield f'{path.relative_to(top)}: {target}{anchor and "#"}{anchor}'


def checks(build, top, prefix):
    """(what, why it is not so, or nothing)."""
    here = top / prefix.lstrip('/')
    for path in FILES:
        yield f'{path} is there', '' if (here / path).exists() else 'missing'
    yield 'no file is writable by others', ', '.join(
        str(path) for path in here.rglob('*') if not path.is_symlink() and path.stat().st_mode & 0o022)
    for path in sorted((here / 'lib/systemd/system').glob('weft-*.service')):
        program = re.search(r'^ExecStart=(\S+)', path.read_text(), re.M)[1]
        yield f'{path.name} starts the installed program', '' if (top / program.lstrip('/')).exists() else program
    for name in ('weft', 'weft-switch', 'weft-fabricd'):
        done = run(str(here / 'bin' / name), '--version')
        yield f'{name} runs', '' if done.returncode == 0 and done.stdout.startswith(f'{name} ') else done.stderr
    for path in sorted((here / 'share/weft/examples').glob('*.cfg')):
        done = run(str(here / 'bin/weft-switch'), '--check', '-c', str(path))
        yield f'{path.name} is right', done.stderr
    documents = here / 'share/doc/weft'
    yield 'documents link to what is installed', '\n'.join(lost_links(documents))
    for path in documents.rglob('*.md'):
        path.write_text('[nowhere](nowhere.md) [here](#nowhere)\n')
    yield 'and a lost link is found', '' if any(lost_links(documents)) else 'it is not'
    for page in PAGES:
        path = str(next(top.rglob(page)))
        yield f'{page} has no fault for mandoc', run('mandoc', '-Tlint', '-Wwarning', path).stdout
        yield f'{page} has no fault for groff', run('groff', '-ww', '-k', '-man', '-Tutf8', path).stderr
    help_text = run(str(here / 'bin/weft'), 'help').stdout
    text = words_of('weft.1', top).lower()
    commands = [' '.join(line.split()) for line in help_text.splitlines() if line.startswith('  weft ')]
    yield 'weft(1) has every command with what it does', ', '.join(
        command for command in commands if f'{command.lower()}.' not in text) if commands else 'no commands'
    options = re.findall(r'--[a-z-]+', help_text)
    yield 'weft(1) has every option', missing('weft.1', top, options)
    yield 'weft(1) has the exit statuses', missing('weft.1', top, [
        'EXIT STATUS 0 Done. 1 The switch or the fabric manager refused', '4 No permission.'])
    yield 'weft-switch(8) has that of a wrong configuration', missing('weft-switch.8', top, ['EX_CONFIG'])
    options = re.findall(r'--[a-z-]+', run(str(here / 'bin/weft-switch'), '--help').stdout)
    yield 'weft-switch(8) has every option', missing('weft-switch.8', top, options)
    knobs = schema('config', r'^\w+_KNOB\((\w+), .*, "(.*)"\)$')
    yield 'weft.cfg(5) has every knob', missing('weft.cfg.5', top, [f'{key} ' for key, _ in knobs])
    rows = schema('stats', r'^\w+_STAT\(\w+, (\w+), (\w+), "(.*)"\)$')
    yield 'weft-counters(7) has every counter', missing('weft-counters.7', top, [
        f'{key} {name}, ' for name, key, _ in rows])
    yield 'weft-counters(7) has every drop reason', missing('weft-counters.7', top, [
        f'{name} ' for name in schema('drops', r'^DROP\((\w+),')])


def main():
    build = Path(sys.argv[1]).resolve()
    prefix = sys.argv[2]
    with tempfile.TemporaryDirectory(prefix='weft-install-') as top:
        done = run('meson', 'install', '-C', str(build), '--no-rebuild', '--quiet', '--destdir', top,
                   env={**os.environ, 'DESTDIR': top})
        rows = [('meson install', done.stderr if done.returncode else '')]
        if done.returncode == 0:
            rows += checks(build, Path(top), prefix)
    print(f'1..{len(rows)}')
    for number, (what, why) in enumerate(rows, 1):
        print(f'{"not ok" if why else "ok"} {number} - {what}')
        for line in why.splitlines()[:20]:
            print(f'# {line}')
    return any(why for _, why in rows)


if __name__ == '__main__':
    sys.exit(main())
