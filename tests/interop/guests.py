# SPDX-License-Identifier: BSD-3-Clause
"""A weft-switch with kernel soft-RoCE hosts (User-Mode Linux guests of deploy/lab) on its vhost-user
sockets, in a directory of its own, and checks in TAP. Everything started here ends with the block.
"""
import json
import os
import pathlib
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BOOT_SECONDS = 60


class Checks:
    """Results of a test in TAP."""

    def __init__(self):
        self.count, self.failed = 0, False

    def __call__(self, name, right, why=''):
        self.count += 1
        self.failed = self.failed or not right
        print(f'{"ok" if right else "not ok"} {self.count} - {name}', flush=True)
        if not right and why:
            print(''.join(f'# {line}\n' for line in str(why).splitlines()), end='')

    def end(self):
        print(f'1..{self.count}')
        return 1 if self.failed else 0


def wait_for(what, seconds, done):
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            raise TimeoutError(f'{what} after {seconds} s')
        time.sleep(0.02)


class Guest:
    """A host with 10.0.0.N and fd00::N on port N - 1; it takes jobs, bash scripts, through its box."""

    def __init__(self, lab, number):
        self.name, self.address = f'h{number}', f'10.0.0.{number}'
        self.box, self.log = lab.dir / self.name, lab.dir / f'{self.name}.log'
        self.box.mkdir()
        run = subprocess.run([ROOT / 'deploy/lab/uml-host', self.name, f'port{number - 1}.sock',
                              f'02:00:00:00:00:{number:02x}', f'{self.address}/24,fd00::{number}/64',
                              self.box, self.log],
                             cwd=lab.dir, capture_output=True, text=True, check=True,
                             env={**os.environ, 'MTU': str(lab.mtu), 'LIFE': str(lab.life)})
        self.pid = int(run.stdout)
        self.jobs = 0

    def wait_ready(self):
        wait_for(f'{self.name} ready', BOOT_SECONDS, lambda: 'READY' in self.log.read_text())

    def start_job(self, command):
        self.jobs += 1
        name = f'job{self.jobs}'
        (self.box / f'{name}.new').write_text(command + '\n')
        (self.box / f'{name}.new').rename(self.box / f'{name}.job')
        return name

    def output(self, name):
        path = self.box / f'{name}.out'
        return path.read_text(errors='replace') if path.exists() else ''

    def is_over(self, name):
        return (self.box / f'{name}.rc').exists()

    def status(self, name, seconds=30):
        """Exit status of a job, once it is over."""
        wait_for(f'end of {name} of {self.name}', seconds, lambda: self.is_over(name))
        return int((self.box / f'{name}.rc').read_text())

    def end_job(self, name, seconds=30):
        status, out = self.status(name, seconds), self.output(name)
        if status != 0:
            raise RuntimeError(f'{name} failed:\n{out}')
        return out

    def job(self, command):
        return self.end_job(self.start_job(command))

    def counters(self):
        return {name: int(value) for name, value in (line.split() for line in self.job('counters').splitlines())}

    def end(self):
        os.kill(self.pid, 15)


class Lab:
    """A switch of the configuration `config` (text), and guests on its first ports."""

    def __init__(self, build, directory, config, guests, mtu=1500, life=300):
        self.build, self.dir, self.config = build, directory, config
        self.count, self.mtu, self.life = guests, mtu, life
        self.switch, self.guests = None, []

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self):
        (self.dir / 'switch.cfg').write_text(self.config)
        with open(self.dir / 'switch.log', 'w', encoding='utf-8') as log:
            self.switch = subprocess.Popen(
                [self.build / 'dataplane/weft-switch', '-c', 'switch.cfg', '--run-dir', '.', '--state-dir', '.',
                 '--no-huge'], cwd=self.dir, stdout=log, stderr=subprocess.STDOUT)
        wait_for('sockets', 20,
                 lambda: all((self.dir / f'port{n}.sock').exists() for n in range(self.count)))
        for number in range(1, self.count + 1):
            self.guests.append(Guest(self, number))
        for guest in self.guests:
            guest.wait_ready()

    def stats(self, name):
        """What a switch of this name counts."""
        run = subprocess.run(['curl', '-sf', '--unix-socket', f'{name}.sock', 'http://weft/v1/stats'],
                             cwd=self.dir, capture_output=True, text=True, timeout=10, check=True)
        return json.loads(run.stdout)

    def __exit__(self, *_):
        for guest in self.guests:
            guest.end()
        if self.switch is not None:
            self.switch.terminate()
            self.switch.wait(timeout=20)

    def conserved(self):
        """After the end: did every packet go somewhere? And what the log says."""
        log = (self.dir / 'switch.log').read_text()
        return 'every packet is accounted for' in log, log[-2000:]
