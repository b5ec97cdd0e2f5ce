#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Examples and README run as they say, each in network, mount and process namespaces of its own.
Arguments: weft-switch, weft, host_dpdk, weft-traffic."""
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
import lab

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / 'deploy/examples'
CLI, HOST, TRAFFIC = sys.argv.pop(2), sys.argv.pop(2), sys.argv.pop(2)

# The script of a user in a fresh world: its own interfaces, its own /run. Everything ends with it, since
# its shell is the first process of a process namespace.
PRELUDE = '''set -eu
mount -t tmpfs none /run
mkdir -p /run/weft/vhost
within() {      # SECONDS COMMAND...: until it succeeds
	for i in $(seq $(($1 * 10))); do
		if "${@:2}" >/dev/null 2>&1; then return; fi
		sleep 0.1
	done
	echo "not within $1 s: ${*:2}"
	return 1
}
'''
WORLD = PRELUDE + '''eval "$3"
"$SWITCH" -c "$EXAMPLES/$1" --state-dir /run/state >/run/log 2>&1 &
pid=$!
trap 'kill $pid 2>/dev/null || true; wait $pid || echo "the switch ended with $?"; cat /run/log; eval "$2"' EXIT
within 20 "$CLI" show interface
eval "$4"
'''

# Two virtual machines, as far as the switch can tell: each a virtio device at a socket of the example.
MACHINES = r'''
vm() {
	exec "$HOST" --no-huge -m 128 --no-pci --no-telemetry --no-shconf --file-prefix="vm$1" --lcores='0@(0-1)' \
		--vdev="net_virtio_user0,path=/run/weft/vhost/vm$1.sock" -- \
		--id "$1" --rate 200M --dscp 26 --nap 100us "${@:2}"
}
stats() { curl -sS --unix-socket /run/weft/vms.sock http://weft/v1/stats; }
says() { "${@:2}" | tr -d ' \n' | grep -q -- "$1"; }
vm 2 --seconds 1 --wait 100s >/run/vm2 2>/run/vm2.err & receiver=$!
within 20 says '[0-9a-fA-F:]\{17\}' "$CLI" show mac
vm 1 --seconds 5 --flow 2:3:1024 --linger 2s >/run/vm1 2>/run/vm1.err & sender=$!
within 20 says 'UC3' "$CLI" show queue counters vm2 -nz
"$CLI" debug tx-disable vm2 on >/dev/null
within 20 says 'notpolled(pause=hold)' "$CLI" show why vm1 || { "$CLI" show why vm1; cat /run/*.err; exit 1; }
"$CLI" debug tx-disable vm2 off >/dev/null
wait $sender || { cat /run/vm1.err; exit 1; }
within 60 says '"queued_packets":0,' stats
kill -TERM $receiver
wait $receiver || { cat /run/vm2.err; exit 1; }
cat /run/vm1 /run/vm2
stats | tr -d '\n'
echo
'''

# The directory that README's commands are run in has no more than what they name.
README = PRELUDE + r'''mount -t tmpfs none /var/lib
mkdir -p /run/clone/build/dataplane /run/clone/build/cli /run/bin
printf '#!/bin/sh\nexec "$@"\n' >/run/bin/sudo
chmod +x /run/bin/sudo
PATH=/run/bin:$PATH
ln -s "$SWITCH" /run/clone/build/dataplane/weft-switch
ln -s "$CLI" /run/clone/build/cli/weft
ln -s "$EXAMPLES/.." /run/clone/deploy
cd /run/clone
ready() { ! build/cli/weft show interfaces status | grep -q ' down '; }
trap 'kill $! 2>/dev/null || true; wait $! || echo "the switch ended with $?"; cat /run/log' EXIT
eval "$1"
'''
# The programs as the scripts of a user find them, and ahead of others where the machine is busy.
PROGRAMS = PRELUDE + r'''mkdir -p /run/build/dataplane /run/build/cli /run/build/traffic /run/tmp
ln -s "$SWITCH" /run/build/dataplane/weft-switch
ln -s "$CLI" /run/build/cli/weft
ln -s "$TRAFFIC" /run/build/traffic/weft-traffic
PATH=/run/build/dataplane:/run/build/cli:/run/build/traffic:$PATH
renice -n -20 $$ >/dev/null
export TMPDIR=/run/tmp
alone() { ! pgrep weft- && [ -z "$(ls /run/tmp)" ]; }
eval "$1"
'''
# Counters of queue 0 depend on what else the hosts tell each other.
CHATTER = re.compile(r'^(Ethernet\d+ UC0) \S+ \S+')


def section(title):
    text = (ROOT / 'README.md').read_text()
    return re.search(rf'^## {title}\n(.*?)^## ', text, re.M | re.S)[1]


def fences(title):
    return re.findall(r'^```\n(.*?)^```', section(title), re.M | re.S)


def numberless(line):
    """A line of the demo without what differs from run to run."""
    line = ' '.join(re.sub(r'^(yes|-  ) ', 'any ', line).split())
    return re.sub(r'\((port|marked|paused|none|peer)\)|cause: \w+', '(cause)', re.sub(r'[-+]?[\d,]*\d(\.\d+)?', 'N', line))


def shape(text):
    lines = (' '.join(line.split()) for line in text.strip().splitlines())
    return [CHATTER.sub(r'\1 any any', re.sub('-+', '-', line)) for line in lines]


class Examples(lab.SmokeTest):
    def unshared(self, text, *args, seconds=120, proof='every packet is accounted for'):
        """Runs a script in a world of its own; nothing of it is left."""
        env = {**os.environ, 'SWITCH': str(Path(lab.SWITCH).resolve()), 'CLI': str(Path(CLI).resolve()),
               'HOST': str(Path(HOST).resolve()), 'TRAFFIC': str(Path(TRAFFIC).resolve()),
               'EXAMPLES': str(EXAMPLES), 'DEPLOY': str(EXAMPLES.parent)}
        done = subprocess.run(['unshare', '--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc', '--',
                               'bash', '-c', text, 'world', *args], capture_output=True, text=True, check=False,
                              timeout=seconds, env=env)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertNotIn('the switch ended with', done.stdout)
        self.assertIn(proof, done.stdout)
        return done.stdout

    def world(self, example, script, before='', after=''):
        """Runs weft-switch with the example and then `script`."""
        return self.unshared(WORLD, example, after, before, script)

    def test_namespaces(self):
        """netns up, the switch, a ping from every host to every other, netns down."""
        out = self.world('single-switch-veth.cfg', '''
for i in 0 1 2 3; do
	for j in 1 2 3 4; do ip netns exec h$i ping -c 1 -W 5 10.0.0.$j >/dev/null && echo "h$i $j"; done
done''', before='"$EXAMPLES/netns" up', after='"$EXAMPLES/netns" down; ip netns list; ip -o link | grep -c veth || true')
        self.assertEqual(sum(line.startswith('h') for line in out.splitlines()), 16, out)
        self.assertEqual(out.splitlines()[-1], '0', 'no namespace and no veth is left')

    def test_machines(self):
        """The sockets that QEMU connects to are there, and every port waits for its machine."""
        out = self.world('roce-vms.cfg', '''
for i in 1 2 3 4; do test -S /run/weft/vhost/vm$i.sock; done
"$CLI" show interface''')
        for name in ('Ethernet0', 'Ethernet4', 'Ethernet8', 'Ethernet12'):
            self.assertIn(f'{name}: net_vhost is open', out)

    def test_machine_to_machine(self):
        """Class 3 from one machine to another, which stops reading for a while: the first is not polled
        (pause = "hold"), and not a frame is lost."""
        out = self.world('roce-vms.cfg', MACHINES)
        *hosts, stats = [json.loads(line) for line in out.splitlines() if line.startswith('{')]
        sent, got = (next(host for host in hosts if host['id'] == i)['priorities'][3] for i in (1, 2))
        self.assertGreater(sent['tx_packets'], 3000)
        self.assertEqual(got['rx_packets'], sent['tx_packets'])
        self.assertEqual((got['rx_lost'], got['rx_reordered']), (0, 0))
        near = stats['ports'][0]
        self.assertGreater(near['priority_groups'][3]['xoff_events'], 0)
        self.assertEqual(near['priority_groups'][3]['headroom_verdict'], 'enough')
        self.assertGreater(near['priorities'][3]['tx_pause_duration_us'], 0)
        self.assertEqual([port['drops'] for port in stats['ports'] if set(port['drops']) - {'FLOOD_NOWHERE'}], [])

    def test_readme(self):
        """What README promises within five minutes: its commands print its screens."""
        begin, screens, changes = fences('A lossless switch in five minutes')
        setup, netns, switch, ping = begin.strip().splitlines()
        self.assertTrue(setup.startswith('sudo deploy/setup --no-lab'), setup)
        self.assertTrue(switch.endswith(' &'), switch)
        shows = re.split(r'^\$ (.*)\n', screens, flags=re.M)[1:]
        script = [netns, switch.replace(' &', ' >/run/log 2>&1 &'), 'within 20 ready', f'{ping} >/dev/null']
        commands = shows[::2] + changes.strip().splitlines()
        script += [f'echo {shlex.quote("$ " + command)}\n{command}' for command in commands]
        parts = re.split(r'^\$ (.*)\n', self.unshared(README, '\n'.join(script)), flags=re.M)[1:]
        self.assertEqual(parts[::2], commands)
        for command, want, have in zip(commands, shows[1::2], parts[1::2]):
            with self.subTest(command):
                self.assertEqual(shape(have), shape(want))
        for have, want in zip(parts[1::2][len(shows) // 2:], ('It would change:', 'pfc_wd Ethernet0', '+ vlan 20', 'the change stays')):
            self.assertIn(want, have)

    def test_ci(self):
        """The CI job says that all holds, or what does not, and leaves nothing behind, whatever ends it."""
        out = self.unshared(PROGRAMS, '''
LEAST_GOODPUT=0 "$EXAMPLES/ci-incast" 2>&1
alone
! LEAST_GOODPUT=9 "$EXAMPLES/ci-incast" 2>/dev/null
"$EXAMPLES/ci-incast" 2>/dev/null & job=$!
within 60 pgrep weft-traffic
kill -TERM $job
! wait $job
alone''', seconds=400)
        words = re.findall('^(ok|FAIL) ', out, re.M)
        self.assertEqual((words.count('ok'), words.count('FAIL')), (15, 1), out)
        self.assertRegex(out, r'FAIL goodput 0\.\d+ of 0\.926 Gb/s')     # 1G x 1024 / (1024 + 58 + 24)

    def test_demo(self):
        """deploy/demo --incast shows what README shows, and leaves nothing behind, whatever ends it."""
        out = self.unshared(PROGRAMS, '''
export WEFT_BUILD=/run/build
"$DEPLOY/demo" --incast --no-setup --any-speed --out /run/out
alone
! grep -h 'Invalid memory' /run/out/*.log
grep -h 'accounted for' /run/out/*.log
"$DEPLOY/demo" --incast --no-setup --out /run/out >/dev/null & demo=$!
within 60 pgrep weft-traffic
kill -TERM $demo
! wait $demo
alone''', seconds=400)
        have = [numberless(line) for line in out.splitlines()]
        shown = re.search(r'^```\n(== incast.*?)\n```', (ROOT / 'README.md').read_text(), re.M | re.S)[1]
        for line in shown.splitlines():
            if line != '...':
                self.assertIn(numberless(line), have)
        # 13 of three incasts, 3 of each of five rings.
        self.assertEqual(sum(line.startswith('any ') for line in have), 13 + 5 * 3)
        self.assertEqual(out.count('every packet is accounted for'), 3 + 5)

    def test_wrong_words(self):
        for words in ((), ('sideways',), ('up', '0'), ('up', 'x'), ('up', '100'), ('down', '-1')):
            with self.subTest(words):
                done = subprocess.run([EXAMPLES / 'netns', *words], capture_output=True, text=True, check=False,
                                      timeout=20)
                self.assertEqual(done.returncode, 2)
                self.assertIn('usage: netns up', done.stderr)


if __name__ == '__main__':
    lab.main()
