#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Golden test of the command line: runs every command of transcript.txt and compares what it
# prints and how it ends. The switch is an HTTP server on a unix socket that gives the answers in
# answers/, recorded from a real one (nic.json: of one whose device does PFC; made up are odd.json:
# members missing, text that attacks a terminal, storm.json: storms of a watchdog, hooks.json: test hooks that are on, and fabric_*.json: of the fabric
# manager). Other sockets misbehave: each is a way a switch can fail.
#
# usage: test_cli.py WEFT [--guide FILE] [--update]
# With a guide, the commands are those of its ```console blocks, and the switch is that of rack/.
# --update writes the transcript or the guide anew; read the difference before it is believed.
"""Compares the output of the weft command with a transcript."""
import grp
import json
import os
import re
import shlex
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIMIT_S = 20


def answer(name):
    return (HERE / 'answers' / f'{name}.json').read_bytes()


def reply(body, status='200 OK'):
    return (f'HTTP/1.1 {status}\r\nContent-Type: application/json\r\n'
            f'Content-Length: {len(body)}\r\n\r\n').encode() + body


def chunked(body, size):
    chunks = [body[i:i + size] for i in range(0, len(body), size)]
    return (b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n' +
            b''.join(b'%x\r\n%s\r\n' % (len(c), c) for c in chunks) + b'0\r\n\r\n')


PATHS = {
    'GET /v1/stats': 'stats', 'GET /v1/mac': 'mac', 'GET /v1/acl': 'acl', 'GET /v1/lcore': 'lcore',
    'GET /v1/driver': 'driver', 'GET /v1/route': 'route', 'GET /v1/group': 'group', 'GET /v1/arp': 'arp',
    'GET /v1/lldp': 'lldp', 'GET /v1/hash': 'hash', 'GET /v1/turn': 'turn',
    'GET /v1/fabric': 'fabric',
}
KINDS = {'', '?watermark=user', '?watermark=persistent', '?watermark=periodic'}


def well_behaved(request):
    path, mark, query = request.partition('?')
    if path == 'POST /v1/link':
        if query == 'cut=1&port=Ethernet4':
            return reply(b'{"port": "Ethernet4", "link": "spine1", "cut": true}')
        return reply(b'{"error": "only an in-memory link can be cut"}', '400 Error')
    if path == 'GET /v1/route' and query:
        if query == 'prefix=10.1.0.101':
            return reply(answer('route_one'))
        return reply(b'{"error": "prefix: an address or a network"}', '400 Error')
    if mark + query not in KINDS:
        return reply(b'{"error": "watermark: user, persistent or periodic"}', '400 Error')
    if path == 'POST /v1/clear':
        return reply(b'{}')
    if path in PATHS:
        return reply(answer(PATHS[path]))
    return reply(b'{"error": "no such resource"}', '404 Error')


def storming(request):
    if request == 'GET /v1/stats':
        return reply(answer('storm'))
    done = {'POST /v1/storm?port=Ethernet0&queue=3&on=on': b'{"done": "storm on"}',
            'POST /v1/storm?port=Ethernet0&queue=3&on=off': b'{"done": "storm off"}',
            'POST /v1/big-red?on=on': b'{"done": "big red switch on"}'}
    if request in done:
        return reply(done[request])
    return reply(b'{"error": "the queue has no watchdog (pfc_wd), or its link is down"}',
                 '400 Error')


def block(kind, body):
    size = struct.pack('<I', len(body) + 12)
    return struct.pack('<I', kind) + size + body + size


def capture(port):
    """Two frames as pcapng, and that three were lost; a stream that is cut, and one that is none."""
    whole = (block(0x0a0d0d0a, struct.pack('<IHHq', 0x1a2b3c4d, 1, 0, -1)) +
             block(1, struct.pack('<HHI', 1, 0, 64)) + 2 * block(6, struct.pack('<5I4x', 0, 0, 0, 1, 1)) +
             block(5, struct.pack('<3I HHQ HHQ I', 0, 0, 0, 4, 8, 5, 5, 8, 3, 0)))
    if port == 'Ethernet4':
        whole = whole[:-50]
    return b'HTTP/1.0 200 OK\r\n\r\n' + (b'no pcapng' if port == 'Ethernet8' else whole)


def hooked(request):
    if request.startswith('GET /v1/capture?what=port&port=Ethernet9&'):
        return reply(b'{"error": "no such port"}', '400 Error')
    if request.startswith('GET /v1/capture?what=port&port='):
        return capture(re.split('[=&]', request)[3])
    if request.partition('?')[0] == 'GET /v1/stats':
        return reply(answer('hooks'))
    done = {'POST /v1/debug/tx-disable?port=Ethernet0&on=on': b'{"done": "tx-disable on"}',
            'POST /v1/debug/tx-disable?port=Ethernet0&on=off': b'{"done": "tx-disable off"}',
            'POST /v1/debug/tx-disable?port=fortyGigE0/0&on=on': b'{"done": "tx-disable on"}',
            'POST /v1/debug/dequeue-disable?port=Ethernet4&queue=0,3&on=on': b'{"done": "dequeue-disable on"}',
            'POST /v1/debug/dequeue-disable?port=Ethernet4&queue=all&on=off': b'{"done": "dequeue-disable off"}',
            'POST /v1/debug/seed?seed=42': b'{"done": "seeded"}'}
    if request in done:
        return reply(done[request])
    return reply(b'{"error": "no such port"}', '400 Error')


def partly(request):
    """Counters that are cleared in parts: those of well_behaved, of a switch with another name. It has
    a VLAN without ports, and what it says of LLDP cannot be read."""
    path = request.partition('?')[0]
    if path == 'GET /v1/stats':
        return reply(answer('stats').replace(b'"name": "lab"', b'"name": "part"'))
    if path == 'GET /v1/qos':
        body = json.loads(answer('rack_qos'))
        body['vlans'].insert(0, {'vlan': 7, 'members': []})
        return reply(json.dumps(body).encode())
    if path == 'GET /v1/lldp':
        return b'SSH-2.0-OpenSSH_9.2\r\n'
    return well_behaved(request)


class Growing:
    """A switch with traffic: each look is a second after the one before, and counters grow."""
    GROWTH = {('stats', 'if_in_octets'): 625_000_000, ('stats', 'if_out_octets'): 125_000_000,
              ('stats', 'if_in_ucast_pkts'): 610_000, ('stats', 'if_out_ucast_pkts'): 122_000,
              ('stats', 'ecn_marked_packets'): 500, ('stats', 'cnp_rx_packets'): 40,
              ('priorities', 3, 'rx_pause_duration_us'): 250_000,
              ('priorities', 3, 'tx_pause_duration_us'): 20_000,
              ('drops', 'VLAN_NOT_MEMBER'): 3, ('stats', 'in_dropped_pkts'): 3}

    def __init__(self):
        self.looks = 0

    def stats(self):
        body = json.loads(answer('rack'))
        body['switch']['uptime_ns'] += self.looks * 10**9
        port = body['ports'][0]
        for (*path, key), by in self.GROWTH.items():
            one = port
            for step in path:
                one = one[step]
            one[key] += self.looks * by
        self.looks += 1
        return json.dumps(body).encode()

    def __call__(self, request):
        path = request.partition('?')[0]
        if path == 'GET /v1/stats':
            return reply(self.stats())
        if path == 'GET /v1/roce':
            body = json.loads(answer('rack_roce'))
            body['uptime_ns'] += self.looks * 10**9
            body['cnp_pairs'][0]['count'] += 40 * self.looks
            for flow, grown in zip(body['flows'], ((62_500_000, 300, 40), (0, 0, 0), (125_000_000, 200, 0))):
                for key, by in zip(('bytes', 'ecn_marked_packets', 'cnp_packets'), grown):
                    flow[key] += by * self.looks
            return reply(json.dumps(body).encode())
        if path == 'GET /v1/qos':
            return reply(answer('rack_qos'))
        if path == 'GET /v1/acl':
            return reply(answer('acl'))
        if path == 'GET /v1/lldp':
            return reply(b'{"interval_s": 30, "ports": []}')
        return well_behaved(request)


def managed(request):
    """The manager of the fabric of deploy/examples/fabric/leaf-spine.cfg, which has lost a link of leaf1."""
    method, target = request.split(' ', 1)
    path, _, query = target.partition('?')
    if target == '/v1/fabric/counters?switch=leaf2&port=Ethernet4':
        return reply(answer('fabric_counters_port'))
    if method == 'GET' and query in ('', 'switch=leaf2', 'from=host5&to=host13', 'since=12', 'count=2'):
        if path == '/v1/fabric/watch':
            status = json.dumps(json.loads(answer('fabric_status')))
            return (b'HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n:\n\n' + b''.join(
                f'id: {event["number"]}\nevent: journal\ndata: {json.dumps(event)}\n\n'.encode()
                for event in json.loads(answer('fabric_events'))['events']) +
                    f'event: status\ndata: {status}\n\n'.encode())
        body = json.loads(answer(f'fabric_{path.rpartition("/")[2]}'))
        if path == '/v1/fabric/events':
            since = 12 if query == 'since=12' else 0
            body['events'] = [event for event in body['events'] if event['number'] > since]
            body['events'] = body['events'][-2 if query == 'count=2' else 0:]
        return reply(json.dumps(body).encode())
    done = {'drain?object=leaf1:Ethernet5': 'packets go other ways soon',
            'drain?force=1&object=leaf1': 'packets go other ways soon',
            'undrain?object=leaf1:Ethernet5': 'it is planned with again',
            'freeze': 'nothing changes until it is thawed', 'thaw': 'the fabric changes again',
            'confirm': 'confirmed', f'apply?canary=leaf1&name=next.cfg {INTENT}': 'the new intent is being planned'}
    order = target.removeprefix('/v1/fabric/')
    if order in done:
        return reply(json.dumps({'done': done[order]}).encode())
    if order == f'diff?name=next.cfg {INTENT}':
        return reply(b'{"done": "nothing has been changed", "changes": ["switch spine3 is added"]}')
    if order.startswith('diff?name=wrong.cfg '):
        return reply(b'{"error": "wrong.cfg:3: leaf_spine: spines: 0: allowed: 1 to 4096", "errors": '
                     b'["wrong.cfg:4: unknown key \\"sped\\"; did you mean speed?"]}', '400 Error')
    if order == 'rollback':
        return reply(b'{"error": "there is no intent before this one"}', '409 Error')
    return reply(b'{"error": "there is no switch leef1; did you mean leaf1?"}', '404 Error')


# What is sent with a request, as it is.
INTENT = 'name = "lab";\nleaf_spine = { leaves = 4; spines = 3; hosts_per_leaf = 4; };\n'

# directory/name of a socket -> what it answers to "METHOD target", and " BODY" if there is one
SWITCHES = {
    'run/lab': well_behaved,
    'two/blue': well_behaved,
    'two/green': well_behaved,
    'wd/storm': storming,
    'hook/hook': hooked,
    'part/part': partly,
    'nic/nic': lambda request: reply(answer('nic')),
    'bad/odd': lambda request: reply(answer('odd')),
    'bad/chunks': lambda request: chunked(answer('mac'), 7),
    'bad/closing': lambda request: b'HTTP/1.0 200 OK\r\n\r\n' + answer('mac'),
    'bad/cut': lambda request: reply(answer('mac'))[:-1],
    'bad/silent': lambda request: b'',
    'bad/ssh': lambda request: b'SSH-2.0-OpenSSH_9.2\r\n',
    'bad/text': lambda request: reply(b'hello'),
    'bad/list': lambda request: reply(b'[1, 2]'),
    'bad/refusing': lambda request: reply(b'{"error": "frozen"}', '409 Conflict'),
    'bad/failing': lambda request: reply(b'<html>', '500 Internal'),
    'bad/empty': lambda request: reply(b'', '200 OK'),
    'rack/rack1': Growing(),
    'denied/shut': well_behaved,
    'denied/group': well_behaved,
}
MANAGERS = {
    'lab/fabric.socket': managed,
    'bad/fabric.socket': lambda request: reply(b'{"error": "there is no plan in force yet"}', '400 Error'),
}
# Sockets that their users may not write to.
DENIED = {'denied/shut.sock': 0, 'denied/group.sock': 0o020}
NOBODY = 65534


def serve(listener, behave):
    """One request per connection, until the listener is closed."""
    while True:
        try:
            peer, _ = listener.accept()
        except OSError:
            return
        with peer:
            head = b''
            while b'\r\n\r\n' not in head:
                data = peer.recv(4096)
                if not data:
                    break
                head += data
            request = ' '.join(head.decode('latin-1').split(' ')[:2])
            head, _, body = head.partition(b'\r\n\r\n')
            length = re.search(br'Content-Length: (\d+)', head)
            while length and len(body) < int(length[1]):
                body += peer.recv(4096)
            request += f' {body.decode()}' if body else ''
            # A peer that has heard enough may hang up.
            try:
                peer.sendall(behave(request))
            except BrokenPipeError:
                pass


def start_switches():
    for name, behave in [(f'{name}.sock', behave) for name, behave in SWITCHES.items()] + [*MANAGERS.items()]:
        os.makedirs(os.path.dirname(name), exist_ok=True)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(name)
        listener.listen()
        threading.Thread(target=serve, args=(listener, behave), daemon=True).start()
    for name, mode in DENIED.items():
        os.chmod(name, mode)
    with socket.socket(socket.AF_UNIX) as gone:     # its file stays, nobody listens
        gone.bind('bad/gone.sock')
    os.makedirs('none')
    Path('none/notes.txt').touch()
    Path('next.cfg').write_text(INTENT)
    Path('wrong.cfg').write_text('name = "lab";\n')


def unprivileged():
    """What may be denied something: not root."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def run(weft, command, directory='run'):
    """Output and exit status of one line of the transcript; `directory` has the sockets, but that of the
    fabric manager."""
    directory = 'lab' if command.startswith('weft fabric ') else directory
    denied = '--run-dir denied' in command
    args = shlex.split(command)[1:]
    if '--run-dir' not in command:
        args = ['--run-dir', directory] + args
    done = subprocess.run([weft, *args], env={**os.environ, 'XDG_CACHE_HOME': os.path.abspath('cache'), 'TZ': 'UTC'},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          preexec_fn=unprivileged if denied else None,
                          timeout=LIMIT_S, check=False)
    status = f'[exit {done.returncode}]\n' if done.returncode else ''
    text = done.stdout.decode()
    if denied:
        text = text.replace(f'group {grp.getgrgid(os.getegid()).gr_name}', 'group GROUP')
    return text + status


COMMAND = re.compile(r'^\$ (.*)\n', re.M)


def read_transcript(path):
    """[(text before, command, expected text)]; a command is a line that starts with "$ "."""
    parts = COMMAND.split(path.read_text())
    return [(parts[0] if at == 1 else '', parts[at], parts[at + 1]) for at in range(1, len(parts), 2)], ''


def read_guide(path):
    """Likewise, of the blocks ```console; and the text behind the last."""
    cases, before = [], ''
    parts = re.split(r'^(```console\n)(.*?)(^```\n)', path.read_text(), flags=re.M | re.S)
    for at in range(0, len(parts) - 3, 4):
        before += parts[at] + parts[at + 1]
        lines = COMMAND.split(parts[at + 2])
        for i in range(1, len(lines), 2):
            cases.append((before, lines[i], lines[i + 1]))
            before = ''
        before = parts[at + 3]
    return cases, before + parts[-1]


def run_all(weft, cases, directory):
    with tempfile.TemporaryDirectory(prefix='weft-cli-') as scratch:
        os.chdir(scratch)
        os.chmod(scratch, 0o755)
        start_switches()
        have = [run(weft, command, directory) for _, command, _ in cases]
        os.chdir(HERE)
    return have


def report(cases, have):
    """TAP, and whether all is as it should be."""
    failed = 0
    print(f'1..{len(cases)}')
    for at, ((_, command, want), out) in enumerate(zip(cases, have), 1):
        good = out.rstrip('\n') == want.rstrip('\n')
        failed += not good
        print(f'{"ok" if good else "not ok"} {at} - {command.replace("#", "")}')
        if not good:
            print(f'--- want\n{want}--- have\n{out}', file=sys.stderr)
    return bool(cases) and not failed


def main():
    weft = os.path.abspath(sys.argv[1])
    guide = '--guide' in sys.argv
    path = Path(sys.argv[sys.argv.index('--guide') + 1]).resolve() if guide else HERE / 'transcript.txt'
    cases, rest = read_guide(path) if guide else read_transcript(path)
    have = run_all(weft, cases, 'rack' if guide else 'run')
    if '--update' not in sys.argv:
        return 0 if report(cases, have) else 1
    text = ''
    for (before, command, _), out in zip(cases, have):
        gap = '\n' if text and not before else ''
        text += f'{before}{gap}$ {command}\n{out}'
    path.write_text(text + rest)
    return 0


if __name__ == '__main__':
    sys.exit(main())
