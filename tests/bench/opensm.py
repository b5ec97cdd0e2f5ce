#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# weft plan beside OpenSM, on the same fabrics and in the same run: each fabric is exported in the form of
# ibnetdiscover, a simulator (ibsim) plays it, OpenSM routes it once and dumps its tables, which weft then
# proves or refutes. Of OpenSM the engine alone is timed (opensm_clock.c), on the clock of its thread; of weft
# reading the fabric, planning and proving, once from its intent file and once from that export. Each figure is
# the least of its rounds.
#
# usage: opensm.py WEFT [--all] [--rounds N] [--only NAME] [--gate]
#   --all   trees of k = 24 and 32 and larger Torus as well: some minutes
#   --gate  fail when an intent of a tree of k >= 16 is not read, planned and proven BAR times faster than the
#           engine routes
# Needs the packages opensm, ibsim-utils, infiniband-diags, libopensm-dev and libibumad-dev, and root for a
# network namespace, in which the simulator's abstract socket is nobody else's. Without them it says so and is
# skipped.
"""Times and loads of weft plan and of OpenSM's engines, side by side."""
import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SKIP = 77  # of meson
BAR = 50
PRELOAD = Path('/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so')
HEADERS = Path('/usr/include/infiniband')
CLOCK = Path(__file__).resolve().parent / 'opensm_clock.c'
SIM_READY_S, SM_LIMIT_S, PLAN_LIMIT_S = 30, 120, 120
DUMP_BYTES_MAX = 64 << 20  # of tables that are proven
TREE = ['ftree', 'updn', 'minhop']
RINGS = ['torus-2QoS', 'dor', 'lash']

# Name, intent, engines of OpenSM, whether only with --all.
FABRICS = [
    ('ft2-k8', 'leaf_spine = { leaves = 8; spines = 4; hosts_per_leaf = 4; };', TREE, False),
    ('k=8', 'fat_tree = { k = 8; };', TREE, False),
    ('k=16', 'fat_tree = { k = 16; };', ['ftree'], False),
    ('k=24', 'fat_tree = { k = 24; };', ['ftree'], True),
    ('k=32', 'fat_tree = { k = 32; };', ['ftree'], True),
    ('8x8', 'torus = { dims = [8, 8]; hosts_per_switch = 4; };', RINGS, False),
    ('4x4x4', 'torus = { dims = [4, 4, 4]; hosts_per_switch = 4; };', RINGS, False),
    ('8x8x8', 'torus = { dims = [8, 8, 8]; hosts_per_switch = 4; };', RINGS[:1], False),
    ('10x10x10', 'torus = { dims = [10, 10, 10]; hosts_per_switch = 4; };', RINGS[:1], True),
]


def missing():
    """What the comparison needs and is not there."""
    lacks = [name for name in ('opensm', 'ibsim', 'unshare', 'cc') if shutil.which(name) is None]
    lacks += [str(path) for path in (PRELOAD, HEADERS / 'opensm/osm_opensm.h', HEADERS / 'umad.h')
              if not path.exists()]
    return lacks + ([] if os.geteuid() == 0 else ['root'])


def build_clock(work):
    subprocess.run(['cc', '-O2', '-shared', '-fPIC', f'-I{HEADERS}', '-o', work / 'libweft_clock.so', CLOCK],
                   check=True)


def plan(weft, *words):
    """What weft plan prints as JSON, good or not."""
    done = subprocess.run([weft, 'plan', *map(str, words), '--json'], stdout=subprocess.PIPE, check=False,
                          timeout=PLAN_LIMIT_S)
    if done.returncode not in (0, 1):
        sys.exit(f'opensm: weft plan {words} ends with {done.returncode}')
    return json.loads(done.stdout)


def export(weft, work, name, intent):
    path = work / 'fabric.cfg'
    topology = work / f'{name}.topo'
    path.write_text(f'name = "fabric";\n{intent}\n')
    subprocess.run([weft, 'plan', path, '--check', '--export', f'ibnetdiscover:{topology}'], check=True,
                   stdout=subprocess.DEVNULL)
    return topology


def torus_config(topology, intent, path):
    """Dimensions and one switch with its neighbours: what torus-2QoS has to be told."""
    dims = [int(word) for word in re.search(r'dims = \[([\d, ]+)\]', intent)[1].split(',')]
    guids = {name: guid for guid, name in re.findall(r'^Switch\t\d+ "S-(\w+)"\s+# "(\S+)"', topology.read_text(),
                                                     re.MULTILINE)}
    lines = ['torus ' + ' '.join(map(str, dims + [1] * (3 - len(dims))))]
    for axis, size in enumerate(dims):
        for sign, step in (('p', 1), ('m', size - 1)):
            ends = ['-'.join(['sw', *(str(at if i == axis else 0) for i in range(len(dims)))]) for at in (0, step)]
            lines.append(f'{"xyz"[axis]}{sign}_link ' + ' '.join('0x' + guids[end] for end in ends))
    path.write_text('\n'.join(lines) + '\n')


class Sim:
    """An ibsim of a fabric, in this network namespace."""

    def __init__(self, topology, work):
        self.socket = f'weft-{os.getpid()}'
        self.log = open(work / 'ibsim.log', 'w+', encoding='utf-8')  # pylint: disable=consider-using-with
        self.process = subprocess.Popen(
            ['ibsim', '-s', '-n', '-N', '16384', '-S', '2048', '-P', '131072', topology], stdin=subprocess.DEVNULL,
            stdout=self.log, stderr=subprocess.STDOUT, env={**os.environ, 'IBSIM_SOCKNAME': self.socket})
        end = time.monotonic() + SIM_READY_S
        while f'@{self.socket}' not in Path('/proc/net/unix').read_text(encoding='utf-8'):
            if self.process.poll() is not None or time.monotonic() > end:
                sys.exit(f'opensm: ibsim does not start, see {self.log.name}')
            time.sleep(0.05)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.log.close()


def wait(process):
    """What a process used; it is ended when it takes too long, as OpenSM does that finds no routes."""
    end = time.monotonic() + SM_LIMIT_S
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid != 0:
            process.returncode = os.waitstatus_to_exitcode(status)
            return usage
        if time.monotonic() > end:
            process.kill()
        time.sleep(0.02)


def route(sim, engine, work, host):
    """OpenSM routes once: milliseconds of its engine, kB of memory, lanes (None: not told), its dump."""
    out = work / 'opensm'
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    (out / 'opensm.conf').write_text('event_plugin_name weft_clock\n')
    words = ['opensm', '-F', out / 'opensm.conf', '-o', '-R', f'{engine},no_fallback', '-f', out / 'opensm.log',
             '-D', '0x43']
    if engine == 'torus-2QoS':
        words += ['-Q', '--torus_config', work / 'torus.conf']
    with open(out / 'out', 'w+', encoding='utf-8') as said:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT, env={
            **os.environ, 'IBSIM_SOCKNAME': sim.socket, 'SIM_HOST': host, 'LD_PRELOAD': str(PRELOAD),
            'LD_LIBRARY_PATH': str(work), 'OSM_TMP_DIR': str(out), 'OSM_CACHE_DIR': str(out)})
        usage = wait(process)
        said.seek(0)
        text = said.read()
    spent = re.search(r'engine cpu ms ([\d.]+) rc 0', text)
    if spent is None:
        sys.exit(f'opensm: {engine} does not route:\n{text}\n{(out / "opensm.log").read_text()[-2000:]}')
    lanes = re.search(r'Lanes needed: (\d+)', (out / 'opensm.log').read_text(encoding='utf-8', errors='replace'))
    return float(spent[1]), usage.ru_maxrss, int(lanes[1]) if lanes else None, out / 'opensm-lfts.dump'


def own_lanes(engine, lanes):
    """Lanes of an engine: lash says how many, torus-2QoS takes two by design, others know of one."""
    return {'lash': lanes, 'torus-2QoS': 2}.get(engine, 1)


def row(name, engine, ms, kb, load, lanes, free):
    ratio = load.get('load_max_over_avg')
    loads = f'{load["load_max"]:.0f} ({ratio:.2f})' if ratio else '-'
    print(f'{name:10} {engine:11} {ms:10.2f} {kb / 1024:8.1f} {loads:>14} {lanes or "-":>6} {free}', flush=True)


def judge(weft, topology, dump, engine):
    """What weft finds of OpenSM's tables. Engines with lanes of their own choose one by pair of hosts, which
    tables alone do not tell, so only a cycle of those with one lane is one."""
    if dump.stat().st_size > DUMP_BYTES_MAX:
        return {}, 'not read'
    found = plan(weft, f'ibnetdiscover:{topology}', '--tables', f'opensm:{dump}')
    if found['unreachable_pairs'] or found['loops']:
        return found, 'NOT ROUTED'
    if engine in ('lash', 'torus-2QoS'):
        return found, 'by its lanes'
    return found, 'yes' if found['deadlock_free'] else 'NO: a cycle'


def weft_row(weft, name, form, source, rounds):
    """A row of weft; the least milliseconds of reading, planning and proving."""
    runs = [plan(weft, source) for _ in range(rounds)]
    parts = [min(run[key] for run in runs) for key in ('parse_cpu_ms', 'plan_cpu_ms', 'verify_cpu_ms')]
    row(name, f'weft {form}', sum(parts), runs[0]['rss_kb'], runs[0], runs[0]['lanes'],
        'yes' if runs[0]['deadlock_free'] else 'NO')
    return parts


def compare(weft, work, fabric, rounds):
    """Rows of a fabric; how many times weft is faster than the first of OpenSM's engines."""
    name, intent, engines, _ = fabric
    topology = export(weft, work, name, intent)
    if engines == RINGS or engines == RINGS[:1]:
        torus_config(topology, intent, work / 'torus.conf')
    spent_by = {form: weft_row(weft, name if form == 'intent' else '', form, source, rounds) for form, source in
                (('intent', work / 'fabric.cfg'), ('import', f'ibnetdiscover:{topology}'))}
    first = None
    for engine in engines:
        with Sim(topology, work) as sim:
            routed = [route(sim, engine, work, 'host1 HCA-1') for _ in range(rounds)]
        spent = min(one[0] for one in routed)
        first = first or spent
        load, free = judge(weft, topology, routed[-1][3], engine)
        row('', engine, spent, routed[-1][1], load, own_lanes(engine, routed[-1][2]), free)
    for form, parts in spent_by.items():
        print(f'{"":10} {form}: parse {parts[0]:.2f} + plan {parts[1]:.2f} + verify {parts[2]:.2f} ms; '
              f'{engines[0]} takes {first / sum(parts):.1f} times as long')
    return first / sum(spent_by['intent'])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('weft', type=os.path.abspath)
    parser.add_argument('--all', action='store_true')
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--only')
    parser.add_argument('--gate', action='store_true')
    options = parser.parse_args()
    lacks = missing()
    if lacks:
        print('opensm: skipped, it needs', ', '.join(lacks))
        return SKIP
    if 'WEFT_BENCH_NETNS' not in os.environ:
        os.environ['WEFT_BENCH_NETNS'] = '1'
        os.execvp('unshare', ['unshare', '-n', sys.executable, *sys.argv])
    print(f'{"fabric":10} {"engine":11} {"CPU ms":>10} {"RSS MB":>8} {"load (max/avg)":>14} {"lanes":>6} '
          'free of deadlock')
    slow = []
    signal.signal(signal.SIGTERM, lambda *_: sys.exit('opensm: ended'))
    with tempfile.TemporaryDirectory(prefix='weft-opensm-') as scratch:
        build_clock(Path(scratch))
        for fabric in FABRICS:
            if options.only == fabric[0] or (options.only is None and (options.all or not fabric[3])):
                ratio = compare(options.weft, Path(scratch), fabric, options.rounds)
                if fabric[0] in ('k=16', 'k=24', 'k=32') and ratio < BAR:
                    slow.append(f'{fabric[0]}: {ratio:.1f}')
    if slow:
        print(f'{"FAIL" if options.gate else "note"}: less than {BAR} times faster:', ', '.join(slow))
    return 1 if slow and options.gate else 0


if __name__ == '__main__':
    sys.exit(main())
