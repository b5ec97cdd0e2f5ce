#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# RDMA writes of 1 KiB from host to host over memif: both hosts in one weft-traffic, on one processor.
# Beside it testpmd, also with both ends in one process and on one processor, with frames as long. It
# has one mode for all its ports, so what sends and receives is `flowgen`; what its headers cost more
# than those of `txonly` is found on a null device and taken off. What is left is a packet of txonly,
# the way over memif, and rxonly. Neither has hugepages.
#
# All is processor time, so that waiting for a processor does not count: of testpmd's forwarding
# thread, which sleeps while stopped, and of weft-traffic, a long run less a short one. Rounds take
# turns, and each figure is the least of its rounds, since other work on the machine only ever adds.
"""Cycles per packet of weft-traffic and of testpmd over memif, and their ratio."""
import argparse
import functools
import json
import os
import re
import resource
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BOUND = 2.5
FRAME_BYTES = 14 + 20 + 8 + 12 + 16 + 1024 + 4  # a WRITE ONLY of 1 KiB
PROMPT = b'testpmd> '
ANSWER_S = 60
LONG, SHORT = 2_000_000, 200_000  # writes
DEPTH = 128  # of them on their way, as in perftest
RING_BITS = 10
RING = 1 << RING_BITS
ROUND_S = 0.03
YARDSTICKS = 6  # of testpmd in a round


def raise_priority():
    """Sessions share the processors evenly, unless the group's nice value says otherwise."""
    try:
        Path('/proc/self/autogroup').write_text('-19')
    except OSError:
        pass


@functools.cache
def tsc_mhz():
    """Of the time stamp counter, which has the nominal rate of the processor here."""
    return float(re.search(r'cpu MHz\s*: ([\d.]+)', Path('/proc/cpuinfo').read_text())[1])


class Testpmd:
    """A testpmd at its prompt, with a forwarding thread on `cpu` that sleeps while it is stopped."""

    def __init__(self, name, cpu, other, *devices):
        self.prefix = Path('/var/run/dpdk') / f'weft-{name}-{os.getpid()}'
        vdevs = [word for device in devices for word in ('--vdev', device)]
        self.process = subprocess.Popen(
            ['stdbuf', '-oL', 'dpdk-testpmd', '--lcores', f'0@{other},1@{cpu}', '--main-lcore', '0', '--no-huge',
             '-m', '128', '--no-pci', '--no-telemetry', '--no-shconf', '--file-prefix', self.prefix.name, *vdevs,
             '--', '-i', '--nb-cores=1', '--total-num-mbufs=4096', '--no-flush-rx', '--no-lsc-interrupt',
             f'--txpkts={FRAME_BYTES}', '--flowgen-flows=1'],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.answer()
        tasks = Path(f'/proc/{self.process.pid}/task').iterdir()
        self.worker = next(task for task in tasks if 'worker' in (task / 'comm').read_text())

    def answer(self):
        text, end = b'', time.monotonic() + ANSWER_S
        while not text.endswith(PROMPT):
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
            more = os.read(self.process.stdout.fileno(), 65536) if ready else b''
            if not more:
                sys.exit(f'memif: testpmd does not answer:\n{text.decode()}')
            text += more
        return text.decode()

    def ask(self, command):
        self.process.stdin.write(command.encode() + b'\n')
        self.process.stdin.flush()
        return self.answer()

    def wait_link(self):
        for _ in range(100):
            if 'Link status: up' in self.ask('show port info 0'):
                return
            time.sleep(0.1)
        sys.exit('memif: testpmd has no link')

    def cycles(self, mode, received):
        """Cycles per packet sent, all of which came back if they should."""
        self.ask(f'set fwd {mode}')
        before = self.used_ns()
        self.ask('start')
        time.sleep(ROUND_S)
        text = self.ask('stop')
        used = self.used_ns() - before
        total = text[text.index('Accumulated'):]
        sent = int(re.search(r'TX-packets: (\d+)', total)[1])
        came = int(re.search(r'RX-packets: (\d+)', total)[1])
        if sent == 0 or (received and abs(sent - came) > sent / 50 + RING):
            sys.exit(f'memif: testpmd lost something:\n{text}')
        return used * tsc_mhz() / 1000 / sent

    def used_ns(self):
        return int((self.worker / 'schedstat').read_text().split()[0])

    def close(self):
        try:
            self.process.communicate(b'quit\n', timeout=10)
        except (subprocess.TimeoutExpired, BrokenPipeError):
            self.process.kill()
            self.process.wait()
        if self.prefix.is_dir() and not any(self.prefix.iterdir()):
            self.prefix.rmdir()


def run_writes(program, socket, cpu, count):
    """Processor seconds of a run with so many writes."""
    socket.unlink(missing_ok=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [program, 'write', '--size', '1024', '--iters', str(count), '--depth', str(DEPTH), '--speed', '100G', '--json',
         *(word for device in memif_pair(socket) for word in ('--port', device))],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=600,
        preexec_fn=lambda: os.sched_setaffinity(0, {cpu}))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f'memif: weft-traffic: {done.returncode}\n{done.stdout}{done.stderr}')
    report = json.loads(done.stdout)
    if report['good'] != 1 or report['iterations'] != count or report['retransmits'] != 0:
        sys.exit(f'memif: weft-traffic lost something:\n{done.stdout}')
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def memif_pair(socket):
    return [f'net_memif{n},role={role},socket={socket},socket-abstract=no,rsize={RING_BITS}'
            for n, role in enumerate(('server', 'client'))]


def measure(args, directory, cpus):
    first, last = cpus[0], cpus[-1]
    pmds = []
    best = {}

    def keep(name, value):
        best[name] = min(value, best.get(name, value))

    try:
        pmds.append(Testpmd('memif', last, first, *memif_pair(directory / 'testpmd.sock')))
        pmds.append(Testpmd('null', last, first, 'net_null0,no-rx=1'))
        pmds[0].wait_link()
        for _ in range(args.rounds):
            for _ in range(YARDSTICKS):
                keep('flowgen', pmds[0].cycles('flowgen', True))
                keep('flowgen_null', pmds[1].cycles('flowgen', False))
                keep('txonly_null', pmds[1].cycles('txonly', False))
            for name, count in (('long', LONG), ('short', SHORT)):
                keep(name, run_writes(args.program, directory / 'weft.sock', last, count))
    finally:
        for pmd in pmds:
            pmd.close()
    best['testpmd'] = best['flowgen'] - best['flowgen_null'] + best['txonly_null']
    best['weft'] = (best.pop('long') - best.pop('short')) * tsc_mhz() * 1e6 / (LONG - SHORT)
    best['ratio'] = best['weft'] / best['testpmd']
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('program', help='weft-traffic')
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--gate', action='store_true', help=f'fail above {2 * BOUND} times testpmd')
    parser.add_argument('--json', action='store_true')
    args = parser.parse_args()
    raise_priority()
    with tempfile.TemporaryDirectory(prefix='weft-memif-') as directory:
        best = measure(args, Path(directory), sorted(os.sched_getaffinity(0)))
    if args.json:
        print(json.dumps(best, indent=2))
    else:
        print(f'cycles per packet of {FRAME_BYTES} bytes over memif at {tsc_mhz():.0f} MHz, best of {args.rounds}\n'
              f'  testpmd        {best["testpmd"]:8.1f}   flowgen {best["flowgen"]:.1f}, on a null device '
              f'{best["flowgen_null"]:.1f} where txonly takes {best["txonly_null"]:.1f}\n'
              f'  weft-traffic   {best["weft"]:8.1f}   both hosts, ACKs included\n'
              f'  ratio          {best["ratio"]:8.2f}   bound {BOUND}')
    if args.gate and best['ratio'] > 2 * BOUND:
        print(f'FAIL: more than {2 * BOUND} times testpmd')
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
