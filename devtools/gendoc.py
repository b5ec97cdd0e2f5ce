#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Writes the reference pages that would rot if people wrote them: docs/config.md, docs/intent.md,
# docs/alarms.md, docs/counters.md, docs/drops.md, docs/fabric-events.md, docs/steering.md,
# docs/traffic-options.md and docs/traffic-report.md, from the rows of schema/*.def.
#
# With --check nothing is written; the gate fails when a page differs from what would be written.
# The name of a configuration list ("buffer_pool" of POOL_KNOB) is read from the descriptor tables.
"""Generates docs/config.md, intent.md, counters.md, drops.md, steering.md and traffic-*.md."""
import re
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from gatelib import Report, Tree, arguments, schema_rows, write_tree

RULES = {'in-sync': 'run devtools/gendoc.py and commit docs/'}
TABLES = 'dataplane/core/config.c'
INTENT_TABLES = 'fabricmgr/intent.c'
TRAFFIC_TABLES = 'traffic/config.c'

# How a kind is written in the file; {NAME} is CONFIG_NAME_BYTES - 1 of schema/config.h.
KINDS = {
    'NAME': 'text of at most {NAME} bytes',
    'TEXT': 'text of at most {TEXT} bytes',
    'COUNT': 'whole number',
    'INT': 'whole number, may be negative',
    'BYTES': 'bytes: a number, or text with K, M, G or KiB, MiB, GiB (powers of 1024) or '
             'kB, MB, GB (powers of 1000)',
    'BPS': 'bits per second: text with k, M, G or T (powers of 1000); 0 needs no unit',
    'NS': 'time: text with ns, us, ms or s',
    'METRES': 'length: text with m or km',
    'PPM': 'probability: text with % or ppm',
    'RATIO': 'fraction: text such as "1/256" or "0.25"',
    'BOOL': 'true or false',
    'ENUM': 'one of the words in the range column',
    'MASK8': 'set of 0 to 7: a number, or text such as "3,4" or "3-5"; empty is none',
    'MAC': 'address such as "02:00:00:00:00:01"',
    'PREFIX': 'network such as "10.1.0.0/16" or "fd00:1::/32", no bits behind its length',
    'NUMBERS': 'whole numbers in order, such as [4, 4, 8] or "4, 4, 8"',
    'ADDRESS': 'address such as "10.1.0.1" or "fd00::1", or with its network\'s length behind "/"',
}
SCALES = {
    'BYTES': [(1 << 30, 'GiB'), (1 << 20, 'MiB'), (1, '')],
    'BPS': [(10**9, 'G'), (10**6, 'M'), (10**3, 'k'), (1, '')],
    'NS': [(10**9, 's'), (10**6, 'ms'), (10**3, 'us'), (1, 'ns')],
    'PPM': [(10**4, '%'), (1, 'ppm')],
    'METRES': [(1, 'm')],
}
OBJECTS = {'PORT': 'Port', 'PRIO': 'Priority of a port', 'PG': 'Priority group', 'QUEUE': 'Queue',
           'POOL': 'Buffer pool', 'FLOW': 'RoCE flow by port', 'SWITCH': 'Switch'}
STAT_KINDS = {'COUNTER': 'counter', 'GAUGE': 'gauge', 'WATERMARK': 'watermark'}
SIDES = {'IN': 'ingress', 'OUT': 'egress'}

CONFIG_INTRO = '''# Configuration of a switch

One libconfig file describes one switch. Knobs of the switch stand at the top level; every other
object is a list of groups under the name of its heading; its key tells the rows of a list apart:

```
name = "leaf1";
port = (
	{ name = "Ethernet0"; devargs = "net_tap0"; mtu = 1500; }
);
```

Unknown keys, values out of range and references to missing objects are errors that name the file
and the line. A default of *required* means the knob must be given, *unset* that it has no value
unless it is given.
'''
INTENT_INTRO = '''# Intent files

One libconfig file says what a fabric is meant to be; `weft plan FILE` makes its routes, proves them
and reports on them. A shape is one group, of which there is at most one: `fat_tree`, `leaf_spine`,
`torus`, `hybrid`, or the list of tiers `clos`. Every other object is a list of groups, or of names
where a name is all there is. Rows of `switches`, `links`, `hosts` and `uplinks` come on top of a
shape, or stand alone:

```
name = "lab";
leaf_spine = { leaves = 4; spines = 2; hosts_per_leaf = 4; oversubscription = 2.0; };
speed = "100G";
tenants = ( { name = "red"; hosts = "host1..host8"; }, { name = "blue"; hosts = "host9..host16"; } );
roots = [ "spine1" ];
```

A shape names what it makes: `leaf1`, `spine1` with two tiers; `pod1-leaf1`, `pod1-spine1`, `core1`
with three; `sw-0-2` by its place in a Torus, `pod1-sw-0-2` in a hybrid; `host1` and so on. Ports are
`Ethernet0` and so on: first those of hosts, then those up, or two for each dimension.

Unknown keys, values out of range and names of nothing are errors with the file, the line, the knob
and the nearest valid name. A default of *required* means the knob must be given, *unset* that it
has no value unless it is given.
'''
COUNTERS_INTRO = '''# Counters

Names are those of SAI (`SAI_<OBJECT>_STAT_<NAME>`) unless the meaning says otherwise; the key is
the name in JSON and metrics. A *counter* only grows, a *gauge* is as of now, a *watermark* is the
maximum since its kind was cleared.
'''
DROPS_INTRO = '''# Drop reasons

A packet that leaves the switch other than by transmission or by being consumed counts exactly one
of these. The side tells which port total it adds to: IN_DROPPED_PKTS of the ingress port or
OUT_DROPPED_PKTS of the egress port.
'''
ALARMS_INTRO = '''# Alarms of a fabric

What `weft-fabricd` raises an alarm about, and when: its level has to be above the first limit for that
time, and at or below the second for that time before it is cleared. Levels of 0 and 1 are no and yes.
`weft-fabricd --alarm NAME:RAISE:SECONDS:CLEAR:SECONDS` sets other limits, in whole numbers; what is left
out stays, as in `PAUSED:30`. Alarms change nothing; they are in the journal, under `/v1/fabric/alarms` and
in the metric `weft_fabric_alarms`. Rates of a switch that does not report are no reason for an alarm of its ports.
'''
STEERING_INTRO = '''# Steering

What the switch takes from an interface that it shares with the kernel (`steer = "roce"`), in the
order in which its XDP program decides: the first class that fits. It looks behind at most two VLAN
tags. *Own* addresses are those of the kernel on the interface and on devices stacked on it.
[Sharing an interface](configuration.md#sharing-an-interface-with-the-kernel) says what follows from
it; `weft show steering` counts.
'''
FABRIC_FAULTS_INTRO = '''## Why a fabric is refused

*object*, *detail* and the numbers stand for what the message names.
'''
EVENTS_INTRO = '''# Events of a fabric

What `weft-fabricd` writes into its journal, which `weft fabric events` shows; the log has the same lines. The
last 4,096 are kept, over restarts too. *object* and *detail* stand for what the event names.
'''
OPTIONS_INTRO = '''# Options of weft-traffic

Each is an option of the command line, with - for _ and without = where it is true or false, and a knob of a
scenario file under its name here. Lists are options that may be given several times, as
`--host 3:speed=500M`, and lists of groups in a file. [traffic.md](traffic.md) says what they are for.
A default of *required* means the knob must be given, *unset* that it has no value unless it is given.
'''
DCQCN_INTRO = '''
Values of the presets are those at their reference speeds: SCALED ones follow the speed of the port, FIXED ones
do not. A RATIO is written as text such as "1/256" or "0.25".

'''
REPORT_INTRO = '''# The report of weft-traffic

Keys of its JSON, in this order. REAL is a number with a fraction, COUNT one without, TEXT words; a LIMIT is a
number or null for none, a HOST the number of one or null. Of which workloads: FLOWS are all that are no
collective operations, OPEN those whose messages are due at times of their own (`load`, `trace`), COLLECTIVE
the operations, ALL of these, REPLAY captures, ANY every one; SWITCH figures come with the knob `switch_name`.
perftest has a report of its own.
'''
REPORTS = {'REPORT': 'The run', 'REPORT_RANK': 'Each of `ranks`', 'REPORT_FLOW': 'Each of `flows`',
           'REPORT_SIZE': 'Each of `sizes`'}
FAULTS_INTRO = '''## Why a configuration is refused

*object*, *detail* and the numbers stand for what the message names.
'''


def note(source):
    return f'<!-- Generated by devtools/gendoc.py from {source}: do not edit. -->\n\n'


def cell(text):
    return text.replace('|', '\\|').replace('<', '&lt;').replace('*', '\\*')


def table(head, rows):
    lines = [head, ['---'] * len(head)] + rows
    return ''.join('| ' + ' | '.join(line) + ' |\n' for line in lines)


def quantity(kind, text):
    value = {'INT64_MAX': 2**63 - 1, 'INT64_MIN': -2**63}.get(text)
    if value is not None:
        return '2^63 - 1' if value > 0 else '-2^63'
    value = int(text, 0)
    if kind == 'RATIO':
        return f'{value / 2**32:g}'
    for scale, unit in SCALES.get(kind, []):
        if value and value % scale == 0:
            return f'{value // scale}{unit}'
    return str(value)


def allowed(args):
    if args['kind'] == 'ENUM':
        return ', '.join(f'`{word}`' for word in args['words'].split('|'))
    if args['kind'] in ('NAME', 'TEXT', 'BOOL', 'MASK8', 'MAC', 'PREFIX', 'ADDRESS', 'RATIO'):
        return ''
    return f'{quantity(args["kind"], args["min"])} to {quantity(args["kind"], args["max"])}'


def default(args):
    return {'!': '*required*', '-': '*unset*', '': 'empty'}.get(args['def'], f'`{args["def"]}`')


def list_names(tree, tables=TABLES):
    """Macro prefix -> name of the list in the file, '' for the top level."""
    text = tree.text(tables) if tree.has(tables) else ''
    arrays = dict(re.findall(r'#define (\w+)_KNOB\(.*\n.*\bconfig_knob (\w+)\[\]', text))
    names = {array: name for name, array in re.findall(r'"(\w*)",\s*(\w+_knobs)\b', text)}
    return {macro: names[array] for macro, array in arrays.items() if array in names}


def keys(tree, tables=TABLES):
    """Name of a list -> (number of knobs in its key, whether the order of its rows counts)."""
    text = tree.text(tables) if tree.has(tables) else ''
    return {name: (int(count), order == 'ORDERED') for name, count, order in
            re.findall(r'ROWS\("(\w+)",[^)]*?,\s*(\d+),\s*(ORDERED|ANY_ORDER)\)', text)}


def key_line(name, rows, table_keys):
    if name not in table_keys:
        return ''
    count, ordered = table_keys[name]
    words = ', '.join(f'`{row.name}`' for row in rows[:count])
    return f'Key: {words}.' + (' The order of the rows counts.' if ordered else '') + '\n\n'


def by_object(rows):
    groups = {}
    for row in rows:
        groups.setdefault(row.object, []).append(row)
    return groups.items()


def knob_tables(tree, tables, knobs):
    """Kinds of values, then a table for each object."""
    names = list_names(tree, tables)
    table_keys = keys(tree, tables)
    header = tree.text('schema/config.h') if tree.has('schema/config.h') else ''
    sizes = {name: int(size) - 1 for name, size in
             re.findall(r'CONFIG_(NAME|TEXT)_BYTES = (\d+)', header)}
    out = '\n## Kinds of values\n\n'
    out += table(['kind', 'how to write it'],
                 [[kind, cell(KINDS[kind].format_map(sizes))] for kind in KINDS
                  if kind in {row.args['kind'] for row in knobs}])
    for name, rows in by_object(knobs):
        if name not in names:
            sys.exit(f'gendoc: {tables} has no table for {name}_KNOB')
        out += f'\n## `{names[name]}`\n\n' if names[name] else '\n## Top level\n\n'
        out += key_line(names[name], rows, table_keys)
        out += table(['knob', 'kind', 'default', 'range', 'meaning'],
                     [[f'`{row.name}`', row.args['kind'], default(row.args), allowed(row.args),
                       cell(row.doc)] for row in rows])
    return out


def fault_table(intro, faults):
    words = {'%o': '*object*', '%d': '*detail*', '%h': '*number*', '%w': '*limit*'}
    return '\n' + intro + '\n' + table(
        ['fault', 'message'],
        [[f'`{row.name}`', re.sub('%[odhw]', lambda m: words[m[0]], cell(row.doc))]
         for row in faults])


def preset_value(args, preset):
    """A value of schema/dcqcn.def as people write it."""
    value = int(args[preset])
    if args['kind'] == 'ENUM':
        return args['words'].split('|')[value]
    if args['kind'] == 'BOOL':
        return 'true' if value else 'false'
    return quantity(args['kind'], args[preset])


def options_page(tree, knobs, dcqcn):
    out = note('schema/traffic_run.def and schema/dcqcn.def') + OPTIONS_INTRO
    out += knob_tables(tree, TRAFFIC_TABLES, knobs)
    if not dcqcn:
        return out
    presets = dcqcn[0].args['words'].split('|')
    return out + '\n## `dcqcn`\n' + DCQCN_INTRO + table(
        ['knob', 'kind', 'range', *presets, 'speed', 'meaning'],
        [[f'`{row.name}`', row.args['kind'], allowed(row.args),
          *(preset_value(row.args, preset) for preset in presets), row.args['scale'], cell(row.doc)]
         for row in dcqcn])


def report_page(rows):
    out = note('schema/traffic_report.def') + REPORT_INTRO
    for name, group in by_object(rows):
        out += f'\n## {REPORTS[name]}\n\n' + table(
            ['key', 'kind', 'of', 'meaning'],
            [[f'`{row.name}`', row.args['kind'], row.args['scope'], cell(row.doc)] for row in group])
    return out


def config_page(tree, knobs, faults):
    out = note('schema/config.def and schema/faults.def') + CONFIG_INTRO
    out += knob_tables(tree, TABLES, knobs)
    return out + (fault_table(FAULTS_INTRO, faults) if faults else '')


def intent_page(tree, knobs, faults):
    out = note('schema/intent.def and schema/fabric_faults.def') + INTENT_INTRO
    out += knob_tables(tree, INTENT_TABLES, knobs)
    return out + (fault_table(FABRIC_FAULTS_INTRO, faults) if faults else '')


def counters_page(stats):
    out = note('schema/stats.def') + COUNTERS_INTRO
    for name, rows in by_object(stats):
        out += f'\n## {OBJECTS.get(name, name)}\n\n' + table(
            ['name', 'key', 'kind', 'meaning'],
            [[f'`{row.name}`', f'`{row.args["field"]}`', STAT_KINDS[row.args['kind']],
              cell(row.doc)] for row in rows])
    return out


def drops_page(drops):
    return note('schema/drops.def') + DROPS_INTRO + '\n' + table(
        ['reason', 'side', 'meaning'],
        [[f'`{row.name}`', SIDES[row.args['side']], cell(row.doc)] for row in drops])


def events_page(events):
    words = {'%o': '*object*', '%d': '*detail*'}
    return note('schema/fabric_events.def') + EVENTS_INTRO + '\n' + table(
        ['event', 'severity', 'meaning'],
        [[f'`{row.name}`', row.args['severity'].lower(),
          re.sub('%[od]', lambda m: words[m[0]], cell(row.doc))] for row in events])


def alarms_page(alarms):
    def limit(row, which):
        value, seconds = row.args[which], row.args[which + '_s']
        return f'{value} {row.args["unit"]}'.strip() + (f' for {seconds} s' if seconds != '0' else '')
    return note('schema/alarms.def') + ALARMS_INTRO + '\n' + table(
        ['alarm', 'of a', 'severity', 'raised above', 'cleared at', 'meaning'],
        [[f'`{row.name}`', row.args['object'].lower(), row.args['severity'].lower(), limit(row, 'raise'),
          limit(row, 'clear'), cell(row.doc)] for row in alarms])


def steering_page(classes):
    return note('schema/steering.def') + STEERING_INTRO + '\n' + table(
        ['class', 'what the switch does'],
        [[f'`{row.args["key"]}`', cell(row.doc)] for row in classes])


def pages(tree):
    """Path -> text of every page whose schema file exists."""
    rows = {}
    for name in ('config', 'faults', 'intent', 'fabric_faults', 'stats', 'drops', 'alarms', 'steering',
                 'traffic_run', 'dcqcn', 'traffic_report', 'fabric_events'):
        path = f'schema/{name}.def'
        rows[name] = schema_rows(tree, path)[0] if tree.has(path) else []
        for row in rows[name]:
            if row.args is None:
                sys.exit(f'{path}:{row.line}: malformed row (see devtools/check-schema)')
    out = {}
    if rows['config']:
        out['docs/config.md'] = config_page(tree, rows['config'], rows['faults'])
    if rows['intent']:
        out['docs/intent.md'] = intent_page(tree, rows['intent'], rows['fabric_faults'])
    if rows['fabric_events']:
        out['docs/fabric-events.md'] = events_page(rows['fabric_events'])
    if rows['stats']:
        out['docs/counters.md'] = counters_page(rows['stats'])
    if rows['drops']:
        out['docs/drops.md'] = drops_page(rows['drops'])
    if rows['alarms']:
        out['docs/alarms.md'] = alarms_page(rows['alarms'])
    if rows['steering']:
        out['docs/steering.md'] = steering_page(rows['steering'])
    if rows['traffic_run']:
        out['docs/traffic-options.md'] = options_page(tree, rows['traffic_run'], rows['dcqcn'])
    if rows['traffic_report']:
        out['docs/traffic-report.md'] = report_page(rows['traffic_report'])
    return out


def check(tree, report):
    for path, want in pages(tree).items():
        have = tree.text(path) if tree.has(path) else ''
        if have != want:
            pairs = zip(have.split('\n'), want.split('\n'))
            line = next((n for n, (a, b) in enumerate(pairs, 1) if a != b), 1)
            report.fail('in-sync', path, line, 'differs from schema/' if have else 'missing')


FIXTURE = {
    'schema/config.def': '#define SW_KNOB(key, kind, def, min, max, words, doc)\n'
                         'SW_KNOB(seed, COUNT, "1", 0, INT64_MAX, "", "the seed")\n'
                         'POOL_KNOB(mode, ENUM, "!", 0, 0, "a|b", "the mode")\n'
                         '// <OBJECT>_KNOB(key, kind, def, min, max, words, doc)\n',
    'schema/intent.def': '#define ROOT_KNOB(key, kind, def, min, max, words, doc)\n'
                         'ROOT_KNOB(name, COUNT, "!", 0, 0, "", "the root")\n',
    'schema/fabric_faults.def': '// FABRIC_FAULT(NAME, text)\nFABRIC_FAULT(NONE, "%o: all wrong")\n',
    INTENT_TABLES: '#define ROOT_KNOB(...) K(a)\nstatic const struct config_knob root_knobs[] = {\n'
                   'ROWS("roots", root_knobs, root, 1, ORDERED)\n',
    'schema/fabric_events.def': '// JOURNAL(NAME, SEVERITY, text)\nJOURNAL(LOST, ERROR, "%o is lost")\n',
    'schema/faults.def': '// FAULT(NAME, text)\nFAULT(NONE, "%o: no \\"%d\\"")\n',
    'schema/stats.def': '// <OBJECT>_STAT(kind, NAME, field, doc)\n'
                        'PORT_STAT(GAUGE, IN, in, "now")\n',
    'schema/drops.def': '// DROP(NAME, side, doc)\nDROP(FULL, OUT, "no room")\n',
    'schema/steering.def': '// STEER(NAME, key, doc)\nSTEER(OTHER, other, "left: the rest")\n',
    'schema/traffic_run.def': '// <OBJECT>_KNOB(key, kind, def, min, max, words, doc)\n'
                              'RUN_KNOB(size, BYTES, "1M", 0, 1073741824, "", "of a message")\n',
    'schema/dcqcn.def': '// DCQCN_KNOB(key, kind, def, min, max, words, doc, scale, slow, fast)\n'
                        'DCQCN_KNOB(preset, ENUM, "slow", 0, 0, "slow|fast", "of all", FIXED, 0, 1)\n'
                        'DCQCN_KNOB(g, RATIO, "-", 1, 9, "", "gain", FIXED, 16777216, 33554432)\n',
    'schema/traffic_report.def': '// REPORT_VALUE(key, KIND, scope, doc)\n'
                                 'REPORT_VALUE(good, COUNT, ALL, "well")\n',
    TRAFFIC_TABLES: '#define RUN_KNOB(...) K(a)\nstatic const struct config_knob run_knobs[] = {\n'
                    '{ "", run_knobs }',
    TABLES: '#define SW_KNOB(...) K(a)\nstatic const struct config_knob sw_knobs[] = {\n'
            '#define POOL_KNOB(...) K(a)\nstatic const struct config_knob pool_knobs[] = {\n'
            '{ "", sw_knobs }, ROWS("buffer_pool", pool_knobs, pool, MAX, 1, ORDERED)\n',
}
CASES = [
    ('docs/config.md', 'schema/config.def', 'the seed', 'another seed'),
    ('docs/config.md', TABLES, ' ORDERED', ' ANY_ORDER'),
    ('docs/config.md', 'schema/faults.def', 'no ', 'without '),
    ('docs/intent.md', 'schema/intent.def', 'the root', 'another root'),
    ('docs/intent.md', 'schema/fabric_faults.def', 'all', 'partly'),
    ('docs/counters.md', 'schema/stats.def', 'GAUGE', 'COUNTER'),
    ('docs/drops.md', 'schema/drops.def', 'OUT', 'IN'),
    ('docs/fabric-events.md', 'schema/fabric_events.def', 'ERROR', 'INFO'),
    ('docs/steering.md', 'schema/steering.def', 'the rest', 'all'),
    ('docs/traffic-options.md', 'schema/traffic_run.def', '"1M"', '"2M"'),
    ('docs/traffic-options.md', 'schema/dcqcn.def', '33554432', '16777216'),
    ('docs/traffic-report.md', 'schema/traffic_report.def', 'ALL', 'FLOWS'),
    ('docs/drops.md', 'docs/drops.md', 'egress |', 'egress  |'),
]


def self_test():
    wrong = []
    for page, path, old, new in [(None, None, '', '')] + CASES:
        with tempfile.TemporaryDirectory(prefix='weft-gate-') as top:
            write_tree(top, FIXTURE)
            write_tree(top, pages(Tree(top)))
            if path:
                text = (Path(top) / path).read_text()
                write_tree(top, {path: text.replace(old, new)})
            report = Report(RULES)
            check(Tree(top), report)
        if [row[0] for row in report.failures] != ([page] if page else []):
            wrong.append(f'{path}: got {report.failures}')
    for line in wrong:
        print(f'gendoc.py --self-test: {line}')
    print(f'gendoc.py --self-test: {len(CASES)} cases, {len(wrong)} wrong')
    return 1 if wrong else 0


def main():
    args = arguments(__doc__, (('--check',), {'action': 'store_true',
                                              'help': 'write nothing; fail when a page is stale'}))
    if args.self_test:
        return self_test()
    tree = Tree(args.root)
    if args.check:
        report = Report(RULES)
        check(tree, report)
        return report.finish('gendoc.py --check')
    write_tree(args.root, pages(tree))
    return 0


if __name__ == '__main__':
    sys.exit(main())
