# SPDX-License-Identifier: BSD-3-Clause
#
# What all gates share: the list of source files, a view of C text without comments and
# strings, the rows of schema/*.def and tests/skips.def, what tests said, the report, and the
# self-test that shows each rule of a gate can fail.
#
# A gate is `check(tree, report)` plus RULES (rule name -> what to do instead). A report line
# reads like a compiler's: `path:line: [rule] what is wrong; what to do instead`.
"""Shared parts of the gates: file listing, C text views, rows, test logs, reporting, self-tests."""
import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PURE_DIRS = ('base', 'pfc', 'ecn', 'link', 'routing', 'dataplane/core', 'traffic/core', 'fabricmgr/core')
SKIP_DIRS = {'node_modules', '__pycache__', 'subprojects', 'dist', 'target'}

_LEX = re.compile(
    r"(?P<num>\b[0-9][0-9A-Za-z_.]*(?:'[0-9A-Za-z_]+)*)"
    r'|(?P<line>//[^\n]*)'
    r'|(?P<block>/\*.*?(?:\*/|\Z))'
    r'|(?P<str>"(?:\\.|[^"\\\n])*")'
    r"|(?P<chr>'(?:\\.|[^'\\\n])*')", re.S)


def _blank(text):
    return re.sub(r'[^\n]', ' ', text)


def mask_c(text, strings=True):
    """C text with comments (and the inside of strings, if asked) blanked; same line numbers."""
    def repl(m):
        if m.lastgroup in ('line', 'block'):
            return _blank(m.group())
        if strings and m.lastgroup in ('str', 'chr'):
            return m.group()[0] + _blank(m.group()[1:-1]) + m.group()[-1]
        return m.group()
    return _LEX.sub(repl, text)


def block_comments(text):
    """Offsets of all /* comments in C text."""
    return [m.start() for m in _LEX.finditer(text) if m.lastgroup == 'block']


def line_of(text, offset):
    return text.count('\n', 0, offset) + 1


def find(pattern, text):
    """(line, match) of every match of pattern in text, lines counted from 1."""
    for m in re.finditer(pattern, text, re.M):
        yield line_of(text, m.start()), m


def under(path, dirs):
    return any(path == d or path.startswith(d + '/') for d in dirs)


def is_pure(path):
    return under(path, PURE_DIRS)


def is_c(path):
    return path.endswith(('.c', '.h'))


class Tree:
    """The files of a source tree as root-relative paths: git's view, or a walk without git."""

    def __init__(self, root):
        self.root = Path(root).resolve()
        self._text = {}
        self.files = sorted(self._git() or self._walk())

    def _git(self):
        if not (self.root / '.git').exists():
            return None
        cmd = ['git', '-C', str(self.root), 'ls-files', '-z', '-co', '--exclude-standard']
        run = subprocess.run(cmd, capture_output=True, check=False)
        names = {n for n in run.stdout.decode().split('\0') if n}
        return [n for n in names if (self.root / n).is_file()]

    def _walk(self):
        found = []
        for top, dirs, names in os.walk(self.root):
            dirs[:] = [d for d in dirs if d not in SKIP_DIRS and not d.startswith('.git')
                       and not os.path.isdir(os.path.join(top, d, 'meson-private'))]
            found += [os.path.relpath(os.path.join(top, n), self.root) for n in names]
        return found

    def text(self, path):
        if path not in self._text:
            data = (self.root / path).read_bytes()
            self._text[path] = '' if b'\0' in data[:4096] else data.decode('utf-8', 'replace')
        return self._text[path]

    def has(self, path):
        return (self.root / path).is_file()

    def c_files(self, *dirs):
        return [f for f in self.files if is_c(f) and (not dirs or under(f, dirs))]

    def scripts(self):
        """Python and shell files, by ending or by their #! line."""
        def script(f):
            if f.endswith(('.py', '.sh', '.bash')):
                return True
            return '.' not in os.path.basename(f) and re.match(r'#!.*\b(python3?|ba|)(sh)?\b',
                                                               self.text(f)[:80])
        return [f for f in self.files if script(f)]


class Report:
    """Collects violations; repeated ones are printed once."""

    def __init__(self, rules):
        self.rules = rules
        self.failures = []
        self.warnings = []

    def fail(self, rule, path, line, what):
        self._add(self.failures, rule, path, line, what)

    def warn(self, rule, path, line, what):
        self._add(self.warnings, rule, path, line, what)

    def _add(self, to, rule, path, line, what):
        row = (path, line, rule, f'{what}; {self.rules[rule]}')
        if row not in to:
            to.append(row)

    def finish(self, name):
        for path, line, rule, msg in sorted(self.warnings):
            print(f'{path}:{line}: warning: [{rule}] {msg}')
        for path, line, rule, msg in sorted(self.failures):
            print(f'{path}:{line}: [{rule}] {msg}')
        print(f'{name}: {len(self.failures)} violations, {len(self.warnings)} warnings')
        return 1 if self.failures else 0


class Row:
    """One X-macro row of schema/*.def: strings are unquoted, arguments go by parameter name."""

    def __init__(self, path, line, macro, values, params):
        self.path, self.line, self.macro, self.values = path, line, macro, values
        self.args = dict(zip(params, values)) if params and len(params) == len(values) else None
        self.object = macro.rpartition('_')[0]      # PORT of PORT_STAT, '' of DROP
        get = (self.args or {}).get
        self.name = get('name') or get('key') or (values[0] if values else '')
        self.doc = get('doc') or get('text') or get('reason', '')


def _row_values(inner):
    """Splits the arguments of a row; adjacent strings are one."""
    values = re.split(r',(?=(?:[^"\\]|\\.|"(?:[^"\\]|\\.)*")*$)', inner)
    out = []
    for value in map(str.strip, values):
        strings = re.findall(r'"((?:[^"\\]|\\.)*)"', value)
        out.append(re.sub(r'\\(.)', r'\1', ''.join(strings)) if strings else value)
    return out


def schema_rows(tree, path):
    """(rows, [line of text that is no row]) of a .def file.

    Parameter names come from the file: `#define PORT_STAT(kind, name, ...)`, or a comment that
    says DROP(NAME, side, doc) or <OBJECT>_STAT(kind, NAME, ...).
    """
    text = tree.text(path)
    params = {}
    for m in re.finditer(r'(?:<\w+>_|\b)([A-Z]\w*)\(([A-Za-z_]\w*(?:, *[A-Za-z_]\w*)*)\)', text):
        params.setdefault(m[1], [p.strip().lower() for p in m[2].split(',')])
    code = re.sub(r'^[ \t]*#(?:[^\n\\]|\\.|\\\n)*', lambda m: _blank(m.group()),
                  mask_c(text, strings=False), flags=re.M)
    rows, last, strays = [], 0, []
    for m in re.finditer(r'^([A-Z]\w*)\(((?:[^()"]|"(?:[^"\\\n]|\\.)*")*)\)', code, re.M):
        strays += _strays(code, last, m.start())
        last = m.end()
        of = params.get(m[1]) or params.get(m[1].rpartition('_')[2])
        rows.append(Row(path, line_of(code, m.start()), m[1], _row_values(m[2]), of))
    return rows, strays + _strays(code, last, len(code))


def _strays(code, start, end):
    gap = code[start:end]
    return [line_of(code, start + len(gap) - len(gap.lstrip()))] if gap.strip() else []


SKIPS = 'tests/skips.def'
ISSUE_MACRO = 'ISSUE'     # its rows are of tests that do not exist yet (devtools/check-issues)


def skip_rows(tree, issues=False):
    """As schema_rows(), of tests/skips.def. The name of a row is that of a meson test, or
    `test:case` for one case of it as its TAP says; both may have spaces. With `issues`, the rows of
    public bugs without a test instead."""
    rows, strays = schema_rows(tree, SKIPS) if tree.has(SKIPS) else ([], [])
    return [row for row in rows if (row.macro == ISSUE_MACRO) == issues], strays


# One outcome of a test run: case is '' for a test as a whole, result is passed, failed or skipped,
# said is the reason of a skip or what came with a failure.
Outcome = collections.namedtuple('Outcome', 'test case result said')

_TAP = re.compile(r'(not )?ok\b(?: +\d+)?(?: +-)? *(.*?) *(?:\([\d.]+s\))? *(?:# *(SKIP)\b *(.*))?',
                  re.I)


def tap_outcomes(test, text):
    """What a TAP log says, case by case; a failure has the indented and # lines behind it."""
    out = []
    for line in text.splitlines():
        if m := _TAP.fullmatch(line):
            result = 'skipped' if m[3] else 'failed' if m[1] else 'passed'
            case, crash, place = m[2].partition(' unexpected signal ')    # as Criterion says it
            out.append(Outcome(test, case, result, m[4] or (crash + place).strip()))
        elif out and line.startswith((' ', '# ')) and out[-1].result == 'failed':
            out[-1] = out[-1]._replace(said=f'{out[-1].said}\n{line}'.lstrip('\n'))
    return out


def _meson_outcomes(entry):
    test = entry['name'].split(' / ', 1)[-1]
    out = tap_outcomes(test, entry.get('stdout') or '')
    result = {'OK': 'passed', 'EXPECTEDFAIL': 'passed', 'SKIP': 'skipped'}.get(entry['result'],
                                                                               'failed')
    stderr = entry.get('stderr') or ''
    failed = [i for i, row in enumerate(out) if row.result == 'failed']
    if failed:      # what the program said beside TAP belongs to any of them
        out[failed[-1]] = out[failed[-1]]._replace(said=f'{out[failed[-1]].said}\n{stderr}')
    elif result == 'failed':    # it died behind its last case, whatever its cases say
        out.append(Outcome(test, '', result, stderr or entry.get('stdout') or ''))
    elif not out:
        out.append(Outcome(test, '', result, 'exit status 77' if result == 'skipped' else ''))
    return out


def read_outcomes(path):
    """Outcomes of meson's testlog.json, or of a TAP log, whose test is named after its file."""
    text = Path(path).read_text()
    if text.startswith('{'):
        return [row for line in text.splitlines() for row in _meson_outcomes(json.loads(line))]
    plan = re.search(r'^1\.\.(\d+)', text, re.M)
    out = tap_outcomes(Path(path).stem, text)
    if not plan or int(plan[1]) != len(out):
        out.append(Outcome(Path(path).stem, '', 'failed', 'ended before its plan was done'))
    return out


def write_tree(root, files):
    for name, text in files.items():
        path = Path(root) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def self_test(name, rules, check, clean, cases):
    """Runs check over a clean fixture (no failure wanted), then over each case laid on it.

    A case is (rule, files, where): files are added to the clean ones, and the rule has to be
    reported at `where` ("path:line", or "path"). Every rule needs at least one case.
    """
    wrong = [f'rule {r} has no case' for r in rules if r not in {c[0] for c in cases}]
    for rule, files, where in [(None, {}, '')] + cases:
        with tempfile.TemporaryDirectory(prefix='weft-gate-') as top:
            write_tree(top, {**clean, **files})
            report = Report(rules)
            check(Tree(top), report)
        rows = report.failures
        if rule is None:
            wrong += [f'clean fixture: {row}' for row in rows]
        elif not any(row[2] == rule and f'{row[0]}:{row[1]}:'.startswith(where + ':')
                     for row in rows):
            wrong.append(f'{rule}: not reported at {where}; got {rows}')
    for line in wrong:
        print(f'{name} --self-test: {line}')
    print(f'{name} --self-test: {len(cases)} cases, {len(wrong)} wrong')
    return 1 if wrong else 0


def arguments(doc, *extra):
    """The command line all gates have: --root, --self-test, and what the gate adds."""
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument('--root', default=str(Path(__file__).resolve().parent.parent),
                        help='source tree to check (default: the one this program is in)')
    parser.add_argument('--self-test', action='store_true',
                        help='check that each rule of this gate can fail')
    for flags, options in extra:
        parser.add_argument(*flags, **options)
    return parser.parse_args()


def main(doc, rules, check, clean, cases):
    """Entry point of a gate that needs nothing but the tree."""
    name = os.path.basename(sys.argv[0])
    args = arguments(doc)
    if args.self_test:
        return self_test(name, rules, check, clean, cases)
    report = Report(rules)
    check(Tree(args.root), report)
    return report.finish(name)
