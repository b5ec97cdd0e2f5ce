#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Writes a man page (man(7) macros) from where its facts are: knobs, counters, drop reasons and faults
# from schema/*.def, options and commands from what the programs themselves print as help. Only the
# prose between them is here. The build calls it; nothing that it writes is committed.
#
# usage: genman.py PAGE OUTPUT [PROGRAM]
"""Generates weft.1, weft-switch.8, weft-fabricd.8, weft-traffic.1, weft.cfg.5 and weft-counters.7."""
import os
import re
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import gendoc
from gatelib import Tree, schema_rows

ROOT = Path(__file__).resolve().parents[1]
SEE = {'weft.1': 'weft-switch(8)', 'weft-switch.8': 'weft(1), weft.cfg(5), weft-counters(7), systemd.service(5)',
       'weft-fabricd.8': 'weft(1), weft-switch(8), systemd.service(5)',
       'weft-traffic.1': 'weft-switch(8), weft(1)',
       'weft.cfg.5': 'weft-switch(8), weft-counters(7)', 'weft-counters.7': 'weft(1), weft.cfg(5)'}

SWITCH_TEXT = '''
.SH DESCRIPTION
Forwards packets between its ports as a lossless Ethernet switch does: one shared buffer, priority flow
control generated and obeyed, ECN, strict and weighted scheduling. Each configuration is one switch; a
process may host several, whose ports may be linked in memory.
.SH OPTIONS
{options}
.SH SIGNALS
.TP
.BR SIGTERM ", " SIGINT
Saves learned addresses, takes all links down and ends.
.TP
.B SIGHUP
Takes the configuration that the file holds now, without losing a packet, or says why it cannot.
.SH AS A SERVICE
.B systemctl enable \\-\\-now weft\\-switch@NAME
runs the switch of
.IR /etc/weft/NAME.cfg .
The manager is told when every switch is ready, how many ports are up, and, at half of WatchdogSec, that
the process lives: its control thread turns and every forwarding lcore answers.
.SH ENVIRONMENT
.TP
.BR NOTIFY_SOCKET ", " WATCHDOG_USEC ", " WATCHDOG_PID
As in
.BR sd_notify (3)
and
.BR sd_watchdog_enabled (3).
.SH FILES
.TP
.I /etc/weft/NAME.cfg
Configuration, see
.BR weft.cfg (5).
.TP
.I /run/weft/NAME.sock
Control socket: HTTP with JSON bodies, and /metrics for Prometheus.
.TP
.I /run/dpdk/weft\\-NAME/dpdk_telemetry.v2
For
.BR "dpdk\\-telemetry.py \\-f weft\\-NAME" :
/weft/switches, /weft/stats,SWITCH, /weft/port,SWITCH:PORT and so on.
.TP
.I /var/lib/weft/NAME/
What outlives a restart: learned addresses, and
.IR saved.cfg ,
which
.B weft config save
writes. While the configuration file is as it was then, the next start runs
.I saved.cfg
in its place; once that file is edited, it counts again, and what was saved becomes
.IR saved.cfg.old .
.TP
.I /usr/share/weft/examples/
Configurations to begin with.
.SH EXIT STATUS
.TP
.B 0
Ended by SIGTERM or SIGINT, or nothing is wrong for \\-\\-check.
.TP
.B 1
A switch cannot start, packets are not accounted for at its end, or \\-\\-check or \\-\\-dump finds a configuration
wrong.
.TP
.B 2
The command line is wrong.
.TP
.B 78
A configuration is wrong (EX_CONFIG of
.IR sysexits.h ),
and a start was asked for. The unit does not try again after 2 and 78.
'''
FABRICD_TEXT = '''
.SH DESCRIPTION
Plans the routes, lanes and classes of a fabric of switches from an intent, proves them, and gets them into force
on all switches that call; repairs them when links or switches are lost. Switches forward by what they have while
it is away.
.SH OPTIONS
{options}
.SH SIGNALS
.TP
.BR SIGTERM ", " SIGINT
Ends. Switches go on.
.TP
.B SIGHUP
Reads the intent and the list of revoked certificates again. An intent that is wrong, or that no plan is found
for, changes nothing; the log says why.
.SH WHAT IT KEEPS
.I fabric.sqlite
has the epoch, what was decided last, what operators asked for, the intent in force and the one before, and the
end of the journal. A manager that starts goes on with the stored intent; the file of
.B \\-\\-intent
is taken when it says something else than when it was last read. A file that is damaged is told and left alone;
on a disk that is full nothing new is decided, and switches keep what they have.
.SH ENVIRONMENT
.TP
.BR NOTIFY_SOCKET ", " WATCHDOG_USEC ", " WATCHDOG_PID
As in
.BR sd_notify (3)
and
.BR sd_watchdog_enabled (3).
.SH FILES
.TP
.I /etc/weft/fabric.cfg
The intent that the unit
.I weft\\-fabricd.service
names.
.TP
.I /run/weft/fabricd.rpc
Socket that switches of the same machine call at.
.TP
.I /run/weft/fabric.socket
Socket of
.BR "weft fabric" :
HTTP with JSON bodies.
.TP
.I /var/lib/weft/fabric/
What outlives a restart.
.SH EXIT STATUS
{statuses}
'''
TRAFFIC_TEXT = '''
.SH DESCRIPTION
Any number of RoCEv2 hosts in one process, on the ports of a switch or of any DPDK device: reliable connections
with writes, reads and sends, PFC obeyed and made, DCQCN. They do a workload to each other and report on it.
.SH WORKLOADS
{workloads}
.SH OPTIONS
A truth value needs no value of its own, and \\-\\-no\\-NAME takes it back.
{options}
{lists}
.SH SCENARIO FILES
Options are knobs of a libconfig file, with _ for \\-; options that may come again are lists of groups there.
\\-\\-dump prints the file that a command line stands for.
.SH EXAMPLES
.nf
{examples}
.fi
.SH EXIT STATUS
{statuses}
'''
CLI_TEXT = '''
.SH DESCRIPTION
Asks a running switch, or the fabric manager, through its control socket and prints tables, or JSON.
.SH COMMANDS
{commands}
.SH OPTIONS
{options}
.SH NOTES
{notes}
.SH EXIT STATUS
{statuses}
.SH FILES
.TP
.I /run/weft/NAME.sock
Control socket of a switch.
.TP
.I /run/weft/fabric.socket
Control socket of the fabric manager.
'''
CFG_TEXT = '''
.SH DESCRIPTION
One libconfig file describes one switch. Knobs of the switch stand at the top level; every other object is
a list of groups under the name of its section below:
.PP
.in +4n
.nf
name = "leaf1";
roce = "lossless";
port = (
	{{ name = "Ethernet0"; devargs = "0000:3b:00.0"; }},
	{{ name = "Ethernet4"; devargs = "0000:3b:00.1"; }}
);
.fi
.in
.PP
Unknown keys, values out of range and references to missing objects are errors that name the file and the
line. "Required" means the knob must be given, "unset" that it has no value unless it is given.
.SH KINDS OF VALUES
{kinds}
{tables}
.SH WHY A CONFIGURATION IS REFUSED
{faults}
'''
COUNTERS_TEXT = '''
.SH DESCRIPTION
Keys are those of the control socket and of
.BR dpdk\\-telemetry.py ;
the name behind a key is SAI's. For Prometheus a key becomes weft_OBJECT_KEY in base units (_octets is _bytes,
_us and _ns are _seconds, _pkts is _packets), a counter with _total. A
.I counter
only grows, a
.I gauge
is as of now, a
.I watermark
is the maximum since its kind was cleared.
{tables}
.SH DROP REASONS
A packet that leaves the switch other than by transmission or by being consumed counts exactly one of these,
at the ingress or the egress port.
{drops}
'''


def roff(text):
    """Text as a roff line: nothing in it is a request or an escape."""
    text = text.replace('\\', '\\e').replace('-', '\\-').replace("'", '\\(aq')
    return '\\&' + text if text[:1] in ('.', "'") else text


def items(rows):
    """[(tag, text)] as a list with hanging tags."""
    return '\n'.join(f'.TP\n.B {roff(tag)}\n{roff(text)}' for tag, text in rows)


def sentence(text):
    return text[:1].upper() + text[1:] + '.'


def ask(program, *args):
    return subprocess.run([program, *args], check=True, capture_output=True, text=True, timeout=20).stdout


def column(lines):
    """Where the last column of aligned lines begins."""
    fits = [at for at in range(6, min(map(len, lines)))
            if all(line[at - 1] == ' ' and line[at] != ' ' for line in lines)]
    if not fits:
        sys.exit('genman: the help has no column that all its lines share')
    return fits[-1]


def help_rows(text, begin):
    """[(left, right)] of the help lines that begin so."""
    lines = [line for line in text.splitlines() if re.match(begin, line)]
    at = column(lines)
    return [(' '.join(line[:at].split()), line[at:].strip()) for line in lines]


def weft_page(program):
    option = r'  (-\w+|  ) +--'
    text = ask(program, 'help')
    lines = text.splitlines()
    last = max(i for i, line in enumerate(lines) if re.match(option, line))
    rest, found, statuses = ' '.join(' '.join(lines[last + 1:]).split()).partition('Exit status: ')
    if not found:
        sys.exit('genman: the help of weft does not say its exit statuses')
    rows = [part.split(' ', 1) for part in statuses.rstrip('.').split('; ')]
    return '[\\fIOPTION\\fR]... \\fIWORD\\fR...', CLI_TEXT.format(
        commands=items([(left, sentence(right)) for left, right in help_rows(text, r'  weft ')]),
        options=items([(left, sentence(right)) for left, right in help_rows(text, option)]),
        notes=roff(rest.strip()), statuses=items([(number, sentence(what)) for number, what in rows]))


def switch_page(program):
    rows = []
    for line in ask(program, '--help').splitlines():
        found = re.match(r' +((?:-\w, )?--[^ ]+(?: [A-Z][^ ]*| text\|json)?)(?: +(.*))?$', line)
        if found:
            rows.append((found[1], sentence(found[2] or 'print it and end')))
    return '\\-c \\fIFILE\\fR [\\fIOPTION\\fR]...', SWITCH_TEXT.format(options=items(rows))


def fabricd_page(program):
    """Options of one line or more, and exit statuses, from the help."""
    text = ask(program, '--help')
    rows = []
    for line in text.split('\n\n')[1].splitlines():
        found = re.match(r' +((?:-\w, )?--[^ ]+(?: [A-Z][^ ]*| text\|json)?)(?: +(.*))?$', line)
        if found:
            rows.append((found[1], found[2] or 'print it and end'))
        else:
            rows[-1] = (rows[-1][0], f'{rows[-1][1]} {line.strip()}')
    said = ' '.join(text.split('Exit status: ')[1].split())
    statuses = [part.split(' ', 1) for part in said.rstrip('.').split('; ')]
    return '\\-i \\fIINTENT\\fR [\\fIOPTION\\fR]...', FABRICD_TEXT.format(
        options=items([(tag, sentence(what)) for tag, what in rows]),
        statuses=items([(number, sentence(what)) for number, what in statuses]))


def rows_of(name):
    return schema_rows(Tree(ROOT), f'schema/{name}.def')[0]


# Kinds of knobs as options have them.
WORDS = {'NS': 'TIME', 'BPS': 'RATE', 'COUNT': 'N', 'PPM': 'PART', 'MASK8': 'PRIORITIES', 'ENUM': 'WORD'}


def option(row, dash=True):
    """A knob of weft-traffic as it stands on the command line."""
    name = row.name.replace('_', '-') if dash else row.name
    kind, on = row.args['kind'], row.args['def'] == 'true'
    if kind == 'BOOL':
        return ('--' if dash else '') + ('[no-]' if on else '') + name
    word = WORDS.get(kind, kind)
    return f'--{name} {word}' if dash else f'{name}={word}'


def traffic_page(program):
    """Options from the schema; examples and exit statuses from the help."""
    text = ask(program, '--help')
    knobs = dict(gendoc.by_object(rows_of('traffic_run')))
    knobs['DCQCN'] = rows_of('dcqcn')
    workload, *run = knobs['RUN']
    fixed = [('-c, --config FILE', 'A scenario; options come on top.'), ('--dump', 'Print the scenario and end.'),
             ('-h, --help', 'Print help.'), ('-V, --version', 'Print the version.')]
    lists = []
    for name, rows in (('port', knobs['DEVICE']), ('host', knobs['RANK']), ('trouble', knobs['TROUBLE']),
                       ('dcqcn', knobs['DCQCN'])):
        more = '[:KNOB=VALUE[,KNOB=VALUE]...]' if len(rows) > 1 else ''
        first = (f'--{name} {rows[0].name}{more}', knob_text(rows[0].args, rows[0].doc))
        lists.append(items([first]) + '\n.RS\n' +
                     items([(option(row, dash=False), knob_text(row.args, row.doc)) for row in rows[1:]]) + '\n.RE')
    said = ' '.join(text.split('Exit status: ')[1].split())
    statuses = [part.split(' ', 1) for part in said.rstrip('.').split('; ')]
    return '\\fIWORKLOAD\\fR \\-\\-hosts \\fISPEC\\fR [\\fIOPTION\\fR]...', TRAFFIC_TEXT.format(
        workloads=roff(sentence(plain(workload.doc)) + ' One of ' + workload.args['words'].replace('|', ', ') + '.'),
        options=items(fixed + [(option(row), knob_text(row.args, row.doc)) for row in run]), lists='\n'.join(lists),
        examples='\n'.join(roff(line.strip()) for line in re.findall(r'^  weft-traffic .*$', text, re.M)),
        statuses=items([(number, sentence(what)) for number, what in statuses]))


def plain(text):
    return text.replace('*', '').replace('`', '')


def knob_text(args, doc):
    default = plain(gendoc.default(args))
    default = default if default in ('required', 'unset') else f'default {default}'
    allowed = plain(gendoc.allowed(args))
    facts = '; '.join(fact for fact in (args['kind'], allowed, default) if fact)
    return f'{sentence(doc)} ({facts})'


def cfg_page(_):
    tree = Tree(ROOT)
    knobs = rows_of('config')
    names = gendoc.list_names(tree)
    sizes = {name: int(size) - 1 for name, size in
             re.findall(r'CONFIG_(NAME|TEXT)_BYTES = (\d+)', tree.text('schema/config.h'))}
    used = {row.args['kind'] for row in knobs}
    kinds = [(kind, sentence(text.format_map(sizes))) for kind, text in gendoc.KINDS.items() if kind in used]
    tables = []
    for name, rows in gendoc.by_object(knobs):
        head = f'LIST {names[name]}' if names[name] else 'TOP LEVEL'
        tables.append(f'.SH {roff(head)}\n' + items([(row.name, knob_text(row.args, row.doc)) for row in rows]))
    words = {'%o': 'OBJECT', '%d': 'DETAIL', '%h': 'NUMBER', '%w': 'LIMIT'}
    faults = [(row.name, re.sub('%[odhw]', lambda m: words[m[0]], row.doc)) for row in rows_of('faults')]
    return '', CFG_TEXT.format(kinds=items(kinds), tables='\n'.join(tables), faults=items(faults))


def counters_page(_):
    tables = []
    for name, rows in gendoc.by_object(rows_of('stats')):
        title = gendoc.OBJECTS.get(name, 'Row of the access list' if name == 'ACL' else name).upper()
        tables.append(f'.SH {roff(title)}\n' + items([
            (row.args['field'], f'{row.name}, {gendoc.STAT_KINDS[row.args["kind"]]}: {row.doc}.') for row in rows]))
    drops = [(row.name, f'{sentence(row.doc)} ({gendoc.SIDES[row.args["side"]]})') for row in rows_of('drops')]
    return '', COUNTERS_TEXT.format(tables='\n'.join(tables), drops=items(drops))


PAGES = {
    'weft.1': (weft_page, 'show and steer switches'),
    'weft-switch.8': (switch_page, 'lossless RoCE switch in software'),
    'weft-fabricd.8': (fabricd_page, 'manager of a fabric of switches'),
    'weft-traffic.1': (traffic_page, 'RoCE hosts in software'),
    'weft.cfg.5': (cfg_page, 'configuration of a switch'),
    'weft-counters.7': (counters_page, 'counters and drop reasons of a switch'),
}


def page(name, program=None):
    make, what = PAGES[name]
    title, section = name.rsplit('.', 1)
    usage, body = make(program)
    date = time.strftime('%Y-%m-%d', time.gmtime(int(os.environ.get('SOURCE_DATE_EPOCH', time.time()))))
    out = f'.\\" Generated by devtools/genman.py: do not edit.\n.TH {roff(title.upper())} {section} {date} weft\n'
    out += f'.SH NAME\n{roff(title)} \\- {roff(what)}\n'
    if usage:
        out += f'.SH SYNOPSIS\n.B {roff(title)}\n{usage}\n'
    see = ', '.join(f'\\fB{roff(word[:-3])}\\fR{word[-3:]}' for word in SEE[name].split(', '))
    return out + body.strip() + f'\n.SH SEE ALSO\n{see}\n'


if __name__ == '__main__':
    Path(sys.argv[2]).write_text(page(sys.argv[1], *sys.argv[3:]), encoding='utf-8')
