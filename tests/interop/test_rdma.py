#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_rdma.py BUILD_DIR: the main job as a test, in TAP.

Runs deploy/demo --rdma (kernel soft-RoCE hosts, stock perftest) and asserts on what the switch and the
hosts counted, then on what the receivers captured behind the switch: every ICRC must be right, on
IPv4, IPv6 and tagged frames, those included that the switch turned from ECT to CE.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEMO_SECONDS = 400
CAPTURES = {'ipv4': 'ipv4', 'ipv6': 'ipv6', 'tagged': 'tagged', 'ce': 'ce'}

count = 0
failed = False


def check(name, right, why=''):
    global count, failed
    count += 1
    failed = failed or not right
    print(f'{"ok" if right else "not ok"} {count} - {name}')
    if not right and why:
        print(''.join(f'# {line}\n' for line in str(why).splitlines()), end='')


def check_switch(summary):
    lossless, control = summary['lossless'], summary['control']
    check('lossless_drops_nothing', lossless['dropped'] == 0, lossless['drops'])
    check('lossless_has_no_retries', lossless['retries'] == 0, lossless['retries'])
    check('lossless_raises_xoff', lossless['xoff'] > 0)
    check('lossless_uses_headroom', lossless['headroom'] > 0)
    check('lossless_marks_ce', lossless['ce'] > 0)
    check('control_drops', control['dropped'] > 0)
    check('control_raises_no_xoff', control['xoff'] == 0, control['xoff'])
    check('drops_have_reasons', sum(control['drops'].values()) == control['dropped'], control)


def check_flows(directory):
    hosts = json.loads((directory / 'results.json').read_text())
    for phase in hosts['phases']:
        for flow in phase['flows']:
            check(f'{phase["name"]}_{flow["client"]}_{flow["server"]}', flow['status'] == 0, flow)
    check('hosts_received_what_they_sent', hosts['frames_sent'] == hosts['frames_received'], hosts)


def check_captures(directory):
    for kind, required in CAPTURES.items():
        path = directory / f'h4-{kind}.pcap'
        run = subprocess.run([ROOT / 'tests/interop/icrc.py', '--require', required, path],
                             capture_output=True, text=True, timeout=60, check=False)
        check(f'icrc_{kind}', run.returncode == 0, run.stdout + run.stderr)


def check_conserved(directory):
    log = (directory / 'switch.log').read_text()
    check(f'conserved_{directory.name}', 'every packet is accounted for' in log, log[-2000:])


def main(argv):
    with tempfile.TemporaryDirectory(prefix='weft-rdma.') as name:
        out = pathlib.Path(name)
        run = subprocess.run([ROOT / 'deploy/demo', '--rdma', '--no-setup', '--out', out],
                             env={**os.environ, 'WEFT_BUILD': argv[0]}, text=True, check=False,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=DEMO_SECONDS)
        check('demo', run.returncode == 0, run.stdout)
        if (out / 'summary.json').exists():
            check_switch(json.loads((out / 'summary.json').read_text()))
            check_flows(out / 'lossless')
            check_captures(out / 'lossless')
            for directory in ('lossless', 'control'):
                check_conserved(out / directory)
    print(f'1..{count}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
