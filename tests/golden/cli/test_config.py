#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Test of `weft config`: what each command line asks the switch for, byte for byte as JSON, and what
# it prints of the answer. The switch is an HTTP server on a unix socket that keeps the request and
# gives the answer of the row.
"""Compares the requests and output of weft config with tables. Argument: weft."""
import json
import os
import shlex
import socket
import subprocess
import sys
import tempfile
import threading

LIMIT_S = 20


def edit(op, table, *key, before=None, **knobs):
    out = {'op': op, 'table': table, 'key': list(key)}
    if before is not None:
        out['before'] = before
    if knobs:
        out['knobs'] = knobs
    return out


# Words behind "weft config" -> edits.
EDITS = [
    ('set port Ethernet0 mtu=1500 admin=false',
     [edit('set', 'port', 'Ethernet0', mtu='1500', admin='false')]),
    ('set mac_age=60s', [edit('set', 'switch', mac_age='60s')]),
    ('set switch mac_age=60s', [edit('set', 'switch', mac_age='60s')]),
    ('add vlan 20 untagged="Ethernet0 Ethernet4"',
     [edit('add', 'vlan', '20', untagged='Ethernet0 Ethernet4')]),
    ('add vlan 20', [edit('add', 'vlan', '20')]),
    (r'set port Ethernet0 alias="a \"b\" = c"', [edit('set', 'port', 'Ethernet0', alias='a "b" = c')]),
    ('set port Ethernet0 devargs=net_tap0,iface=x', [edit('set', 'port', 'Ethernet0', devargs='net_tap0,iface=x')]),
    ('set port Ethernet0 alias=', [edit('set', 'port', 'Ethernet0', alias='')]),
    ('remove vlan 20', [edit('remove', 'vlan', '20')]),
    ('remove turn Ethernet0 Ethernet4 1', [edit('remove', 'turn', 'Ethernet0', 'Ethernet4', '1')]),
    ('clear pfc_wd', [edit('clear', 'pfc_wd')]),
    ('put scheduler fast weight=9', [edit('put', 'scheduler', 'fast', weight='9')]),
    ('unset port Ethernet0 mtu,alias', [edit('set', 'port', 'Ethernet0', mtu=None, alias=None)]),
    ('unset mac_age', [edit('set', 'switch', mac_age=None)]),
    ('unset switch mac_age', [edit('set', 'switch', mac_age=None)]),
    ('add acl a action=deny before b', [edit('add', 'acl', 'a', before=['b'], action='deny')]),
    ('set port Ethernet0 pfc_enable+=3 pfc_enable-=4 mtu=9000',
     [edit('set', 'port', 'Ethernet0', mtu='9000'), edit('include', 'port', 'Ethernet0', pfc_enable='3'),
      edit('exclude', 'port', 'Ethernet0', pfc_enable='4')]),
    # The shapes of SONiC's tools.
    ('pfcwd start --action drop Ethernet0 200 --restoration-time 400',
     [edit('put', 'pfc_wd', 'Ethernet0', detection_time='200ms', action='drop', restoration_time='400ms')]),
    ('pfcwd start Ethernet0 0.3s -a alert --restoration-time=2s --pfc-stat-history',
     [edit('put', 'pfc_wd', 'Ethernet0', detection_time='0.3s', action='alert', restoration_time='2s',
           pfc_stat_history='enable')]),
    ('pfcwd start all 200', [edit('put', 'pfc_wd', 'all', detection_time='200ms')]),
    ('pfcwd stop', [edit('clear', 'pfc_wd')]),
    ('pfcwd stop Ethernet0', [edit('clear', 'pfc_wd', 'Ethernet0')]),
    ('pfcwd interval 100', [edit('set', 'switch', pfc_wd_poll_interval='100ms')]),
    ('pfcwd big_red_switch enable', [edit('set', 'switch', pfc_wd_big_red_switch='true')]),
    ('pfcwd start_default',
     [edit('set', 'switch', pfc_wd_poll_interval='200ms'), edit('clear', 'pfc_wd'),
      edit('add', 'pfc_wd', 'all', action='drop', detection_time='200ms', restoration_time='200ms')]),
    ('interface startup Ethernet0', [edit('set', 'port', 'Ethernet0', admin='true')]),
    ('interface shutdown Ethernet0', [edit('set', 'port', 'Ethernet0', admin='false')]),
    ('interface mtu Ethernet0 9100', [edit('set', 'port', 'Ethernet0', mtu='9100')]),
    ('interface speed Ethernet0 100000', [edit('set', 'port', 'Ethernet0', speed='100000M')]),
    ('interface speed Ethernet0 25G', [edit('set', 'port', 'Ethernet0', speed='25G')]),
    ('interface cable-length Ethernet0 40m', [edit('set', 'port', 'Ethernet0', cable='40m')]),
    ('interface cable_length Ethernet0 40', [edit('set', 'port', 'Ethernet0', cable='40m')]),
    ('interface pfc priority Ethernet0 3 on', [edit('include', 'port', 'Ethernet0', pfc_enable='3')]),
    ('interface pfc priority Ethernet0 3 off', [edit('exclude', 'port', 'Ethernet0', pfc_enable='3')]),
    ('interface pfc asymmetric Ethernet0 on', [edit('set', 'port', 'Ethernet0', pfc_asymmetric='true')]),
    ('interface buffer priority-group lossless set Ethernet0 3-4 fat',
     [edit('put', 'buffer_pg', 'Ethernet0', '3-4', profile='fat')]),
    ('interface buffer queue remove Ethernet0 3', [edit('remove', 'buffer_queue', 'Ethernet0', '3')]),
    ('ecn -gmin 1000 -profile AZURE -gmax 2000 -gdrop 5',
     [edit('set', 'wred_profile', 'AZURE', green_min_threshold='1000', green_max_threshold='2000',
           green_drop_probability='5%')]),
    ('mmu -p fat -a -2',
     [edit('set', 'buffer_profile', 'fat', static_th=None), edit('set', 'buffer_profile', 'fat', dynamic_th='-2')]),
    ('mmu -s 12121212 -p fat',
     [edit('set', 'buffer_profile', 'fat', dynamic_th=None),
      edit('set', 'buffer_profile', 'fat', static_th='12121212')]),
    ('buffer profile add fat --pool in -dynamic_th 0 --xon 18432',
     [edit('add', 'buffer_profile', 'fat', pool='in', dynamic_th='0', xon='18432')]),
    ('buffer pool add in ingress 12MB', [edit('add', 'buffer_pool', 'in', type='ingress', size='12MB')]),
    ('vlan add 20', [edit('add', 'vlan', '20')]),
    ('vlan del 20', [edit('remove', 'vlan', '20')]),
    ('vlan member add 20 Ethernet0',
     [edit('include', 'vlan', '20', tagged='Ethernet0'), edit('exclude', 'vlan', '20', untagged='Ethernet0')]),
    ('vlan member add -u 20 Ethernet0',
     [edit('include', 'vlan', '20', untagged='Ethernet0'), edit('exclude', 'vlan', '20', tagged='Ethernet0')]),
    ('vlan member del 20 Ethernet0',
     [edit('exclude', 'vlan', '20', tagged='Ethernet0', untagged='Ethernet0')]),
    ('route add 10.0.0.0/8 spines', [edit('put', 'route', '10.0.0.0/8', via='spines')]),
    ('route del fd00::/64', [edit('remove', 'route', 'fd00::/64')]),
    ('qos map dscp_to_tc AZURE "3:3 *:1"', [edit('put', 'map', 'dscp_to_tc', 'AZURE', map='3:3 *:1')]),
    ('scheduler set fast --weight 9 --type=DWRR',
     [edit('put', 'scheduler', 'fast', weight='9', type='DWRR')]),
    ('acl add ssh deny --l4-dst-port 22 --src-ip 10.0.0.0/8',
     [edit('add', 'acl', 'ssh', action='deny', l4_dst_port='22', src_ip='10.0.0.0/8')]),
]

# Command line -> request, beside those of edits.
REQUESTS = [
    ('show', 'GET /v1/config?', None),
    ('show port', 'GET /v1/config?table=port', None),
    ('show --saved', 'GET /v1/config?saved=1&', None),
    ('diff', 'GET /v1/config?diff=file', None),
    ('diff --saved', 'GET /v1/config?diff=saved', None),
    ('save', 'POST /v1/config?save=1', {'force': False, 'dry_run': False}),
    ('confirm', 'POST /v1/config?confirm=1', {'force': False, 'dry_run': False}),
    ('rollback', 'POST /v1/config?rollback=1', {'force': False, 'dry_run': False}),
    ('--dry-run reload --force', 'POST /v1/config?reload=1', {'force': True, 'dry_run': True}),
    ('vlan add 20 --confirm 60 --force', 'POST /v1/config',
     {'force': True, 'dry_run': False, 'confirm_s': 60, 'edits': [edit('add', 'vlan', '20')]}),
]

# Command line, answer of the switch (status, object) or None when it is not asked, exit status and
# what is printed.
PRINTED = [
    ('vlan add 20', (200, {'changes': ['+ vlan 20'], 'drops': [], 'applied': True}), 0, '+ vlan 20\n'),
    ('vlan add 20', (200, {'changes': [], 'drops': [], 'applied': False}), 0, 'nothing changes\n'),
    ('vlan add 20 --dry-run', (200, {'changes': ['+ vlan 20'], 'drops': ['2 frames of Ethernet0'],
                                     'applied': False}), 0,
     'It would change:\n  + vlan 20\nIt would drop:\n  2 frames of Ethernet0\n'),
    ('vlan add 20 --force', (200, {'changes': ['+ vlan 20'], 'drops': ['2 frames'], 'applied': True}), 0,
     '+ vlan 20\nIn spite of:\n  2 frames\n'),
    ('vlan add 20 --confirm 60', (200, {'changes': ['+ vlan 20'], 'drops': [], 'applied': True,
                                        'confirm_s': 60}), 0,
     '+ vlan 20\nTaken back in 60 s unless weft config confirm comes before.\n'),
    ('vlan add 20', (409, {'error': 'it would drop packets; force does it all the same',
                           'drops': ['2 frames of Ethernet0'], 'changes': ['+ vlan 20']}), 1,
     'weft: run/lab.sock: the switch refused (409): it would drop packets; force does it all the same\n'
     'It would drop:\n  2 frames of Ethernet0\n'),
    ('vlan add x', (400, {'error': 'refused, and nothing is changed',
                          'errors': ['vlan x: id: "x" is not valid; allowed: 1 to 4094', 'another']}), 1,
     'weft: run/lab.sock: the switch refused (400): refused, and nothing is changed\n'
     '  vlan x: id: "x" is not valid; allowed: 1 to 4094\n  another\n'),
    ('show vlan', (200, {'name': 'lab', 'text': '\nvlan = ();\n'}), 0, '\nvlan = ();\n'),
    ('save', (200, {'saved': '/s/lab/saved.cfg'}), 0, 'saved to /s/lab/saved.cfg\n'),
    ('confirm', (200, {'done': 'the change stays'}), 0, 'the change stays\n'),
    ('show --json', (200, {'name': 'lab'}), 0, '{\n  "name": "lab"\n}\n'),
    ('vlann add 20', None, 2, 'weft: config vlann: unknown; did you mean vlan?\n'),
    ('bgp', None, 2, 'weft: config bgp: unknown; see weft config\n'),
    ('vlan add 20 30', None, 2, 'weft: config: the words do not fit; it is\n  weft config vlan add ID\n'
     '        a VLAN\n'),
    ('vlan add 20 --untaged', None, 2, 'weft: config: option --untaged does not belong here; it is\n'
     '  weft config vlan add ID\n        a VLAN\n'),
    ('vlan add 20 --confirm', None, 2, 'weft: config: --confirm takes 1 to 3600 seconds\n'),
    ('vlan add 20 --confirm 0', None, 2, 'weft: config: --confirm takes 1 to 3600 seconds\n'),
    ('set', None, 2, 'weft: config: set: which table?\n'),
    ('set port Ethernet0 mtu=1 9', None, 2, 'weft: config: not of the form KNOB=VALUE: 9\n'),
    ('set port Ethernet0 mtu=1 mtu=2', None, 2, 'weft: config: the knob is given twice: mtu\n'),
    ('add acl a action=deny before', None, 2, 'weft: config: before which row?\n'),
    ('show port vlan', None, 2, 'weft: config show: one word too many: vlan\n'),
    ('show a&b', None, 2, 'weft: config show: a&b is no table\n'),
    ('save --saved', None, 2, 'weft: config save: takes no --saved\n'),
]


class Switch:
    """Answers one request at a time and keeps it."""
    def __init__(self, path):
        self.request, self.answer = None, (200, {'changes': []})
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            with peer, peer.makefile('rb') as stream:
                line = stream.readline().decode().split(' ')
                length = 0
                while (header := stream.readline().strip()):
                    name, _, value = header.decode().partition(':')
                    length = int(value) if name.lower() == 'content-length' else length
                body = stream.read(length)
                self.request = (' '.join(line[:2]), json.loads(body) if body else None)
                status, answer = self.answer
                text = json.dumps(answer).encode()
                peer.sendall(f'HTTP/1.1 {status} X\r\nContent-Length: {len(text)}\r\n\r\n'.encode() + text)


def run(weft, words):
    done = subprocess.run([weft, '--run-dir', 'run', 'config', *shlex.split(words)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_S, check=False)
    return done.returncode, done.stdout


def check_request(weft, switch, words, target, body):
    switch.request, switch.answer = None, (200, {'changes': []})
    status, out = run(weft, words)
    if status != 0 or switch.request != (target, body):
        return f'exit {status}, {out!r}\n# want {(target, body)}\n# have {switch.request}'
    return ''


def check_printed(weft, switch, words, answer, status, text):
    switch.request, switch.answer = None, answer
    have = run(weft, words)
    if have != (status, text) or (switch.request is None) != (answer is None):
        return f'want {(status, text)}\n# have {have}, request {switch.request}'
    return ''


def tests(weft, switch):
    for words, edits in EDITS:
        body = {'force': False, 'dry_run': False, 'edits': edits}
        yield words, check_request(weft, switch, words, 'POST /v1/config', body)
    for words, target, body in REQUESTS:
        yield words, check_request(weft, switch, words, target, body)
    for words, answer, status, text in PRINTED:
        yield f'{words}: what is printed', check_printed(weft, switch, words, answer, status, text)


def main():
    weft = os.path.abspath(sys.argv[1])
    print(f'1..{len(EDITS) + len(REQUESTS) + len(PRINTED)}')
    failed = 0
    with tempfile.TemporaryDirectory(prefix='weft-cli-') as directory:
        os.chdir(directory)
        os.makedirs('run')
        switch = Switch('run/lab.sock')
        for at, (what, wrong) in enumerate(tests(weft, switch), 1):
            failed += wrong != ''
            print(f'{"not ok" if wrong else "ok"} {at} - {what.replace("#", "")}')
            if wrong:
                print(f'# {wrong}')
        os.chdir('/')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
