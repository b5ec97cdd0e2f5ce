#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A run of tests that is ended from outside leaves nothing behind: no process, no namespace, no file."""
import os
import signal
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
import lab

SECONDS = 30
# The run of which that is said.
PROGRAM = f'''
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, {str(Path(__file__).resolve().parent)!r})
import lab

class Endless(lab.SmokeTest):
    def test_endless(self):
        host = lab.Host(self, 1)
        switch = lab.Switch(self, 'endless', [lab.veth_port('Ethernet0', host, 0)], lab.LOSSY).start()
        print('made', self.dir, host.name, host.port, switch.process.pid, flush=True)
        lab.wait_for(lambda: False, 300, 'an end')

    def test_never(self):
        print('another test', flush=True)

lab.main()
'''


class Ended(lab.SmokeTest):
    def ended_by(self, *numbers):
        """Signals to the group of a run; returns its status, once nothing is left of what it made."""
        program = self.dir / 'program.py'
        program.write_text(PROGRAM)
        run = subprocess.Popen([sys.executable, program, lab.SWITCH], stdout=subprocess.PIPE, text=True,
                               start_new_session=True)
        self.addCleanup(run.stdout.close)
        self.addCleanup(run.kill)
        words = next(line for line in run.stdout if line.startswith('made')).split()
        left = [Path(words[1]), Path('/run/netns', words[2]), Path('/sys/class/net', words[3]),
                Path('/proc', words[4])]
        self.assertTrue(all(path.exists() for path in left), left)
        for number in numbers:
            os.killpg(run.pid, number)
        status = run.wait(SECONDS)
        lab.wait_for(lambda: not any(path.exists() for path in left), SECONDS,
                     lambda: f'gone: {[path for path in left if path.exists()]}')
        self.assertNotIn('another test', run.stdout.read())
        return status

    def test_ended(self):
        for numbers in ((signal.SIGTERM,), (signal.SIGINT,), (signal.SIGTERM, signal.SIGKILL), (signal.SIGKILL,)):
            with self.subTest(numbers=numbers):
                self.assertNotEqual(self.ended_by(*numbers), 0)


if __name__ == '__main__':
    lab.main()
