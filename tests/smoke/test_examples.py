#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Examples run as their comments say, each in network and mount namespaces of its own."""
import os
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
import lab

EXAMPLES = Path(__file__).resolve().parents[2] / 'deploy/examples'
CLI = sys.argv.pop(2)

# The script of a user in a fresh world: its own interfaces, its own /run. Everything ends with it.
WORLD = '''set -eu
mount -t tmpfs none /run
mkdir -p /run/netns /run/weft/vhost
"$SWITCH" -c "$EXAMPLES/$1" --state-dir /run/state >/run/log 2>&1 &
pid=$!
trap 'kill $pid 2>/dev/null || true; wait $pid || echo "status $?"; cat /run/log; eval "$2"' EXIT
for i in $(seq 200); do
	if "$CLI" show interface >/dev/null 2>&1; then break; fi
	sleep 0.1
done
eval "$3"
'''


class Examples(lab.SmokeTest):
    def world(self, example, script, before='', after=''):
        """Runs weft-switch with the example and then `script`."""
        env = {**os.environ, 'SWITCH': str(Path(lab.SWITCH).resolve()), 'CLI': str(Path(CLI).resolve()),
               'EXAMPLES': str(EXAMPLES)}
        text = WORLD.replace('"$SWITCH" -c', before + '\n"$SWITCH" -c', 1)
        done = subprocess.run(['unshare', '--net', '--mount', '--', 'bash', '-c', text, 'world', example, after,
                               script], capture_output=True, text=True, check=False, timeout=120, env=env)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertNotIn('status ', done.stdout)
        self.assertIn('every packet is accounted for', done.stdout)
        return done.stdout

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

    def test_wrong_words(self):
        for words in ((), ('sideways',), ('up', '0'), ('up', 'x'), ('up', '100'), ('down', '-1')):
            with self.subTest(words):
                done = subprocess.run([EXAMPLES / 'netns', *words], capture_output=True, text=True, check=False,
                                      timeout=20)
                self.assertEqual(done.returncode, 2)
                self.assertIn('usage: netns up', done.stderr)


if __name__ == '__main__':
    lab.main()
