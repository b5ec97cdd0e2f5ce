#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_verbs.py BUILD_DIR [WORD]: weft-traffic on RDMA devices, in TAP; with a word, only those runs
whose name has it.

Four kernel soft-RoCE hosts (User-Mode Linux) sit behind a weft-switch; weft-traffic --verbs runs in
each of them as one rank. Judged by what rank 0 reports, by the exit status of every rank, and by what
the switch counted: an incast pauses and marks and loses nothing. Then what goes wrong: a rank that is
killed, that was told otherwise, that never comes, that is interrupted.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from guests import ROOT, Checks, Lab

RANKS = 4
RUN_SECONDS = 60
LOST_SECONDS = 15       # from the end of a rank to that of all others
DSCP_QUEUE = 3          # of the data
# Slow enough for queues to form however slow the guests are on this machine.
CONFIG = (ROOT / 'deploy/examples/rdma-lab.cfg').read_text().replace('"200M"', '"20M"')
NAME = 'rdma-lab'
COMMON = '--speed 20M --retry-timeout 10s --timeout 50s --json'

# name, command line, bytes that all flows or hosts of it move, 0: not looked at
FLOWS = (
    ('write_bandwidth', 'write --size 64K --iters 5', 2 * 5 * 65536),
    ('read_bandwidth', 'read --size 64K --iters 5', 2 * 5 * 65536),
    ('send_bandwidth', 'send --size 64K --iters 5 --qps 2', 2 * 2 * 5 * 65536),
    ('write_latency', 'write --latency --size 64 --iters 20', 2 * 20 * 64),
    ('send_latency', 'send --latency --size 64 --iters 20', 2 * 20 * 64),
    ('permutation', 'permutation --op read --size 32K --iters 5 --shift 2', 4 * 5 * 32768),
)
COLLECTIVES = ('all-reduce', 'all-reduce --algorithm tree', 'all-gather', 'reduce-scatter', 'all-to-all', 'moe')
COLLECTIVE = '--size 64K --slice 16K --iters 2 --warmup 1'

# Little on its way, so that a stop ends it; and a job that ends when the guest sends frames of RDMA.
LONG = 'incast --size 8K --depth 1 --duration 40s'
STARTED = """for i in {1..200}; do
	sent=$(counters | sed -n 's/^sent_pkts //p')
	[ "$sent" -gt "${before:=$sent}" ] && break
	sleep 0.1
done"""

check = Checks()


def keys_of(*scopes):
    """Keys that the JSON of a run has: of rank, of flow, of size, of the whole."""
    rows = re.findall(r'^REPORT_(\w*)VALUE\((\w+), \w+, (\w+),',
                      (ROOT / 'schema/traffic_report.def').read_text(), re.M)
    return {kind: {key for where, key, of in rows if where == kind and of in ('ALL', *scopes)}
            for kind in ('', 'RANK_', 'FLOW_', 'SIZE_')}


class Crew:
    """weft-traffic in all guests."""

    def __init__(self, lab, build):
        self.lab, self.program, self.port = lab, build / 'traffic/weft-traffic', 18600

    def start(self, words, ranks=range(RANKS), others=None):
        """Starts ranks, each with the same words, or with those of `others`."""
        self.port += 1
        return {rank: self.lab.guests[rank].start_job(
            f'exec {self.program} {COMMON} --verbs rxe0 --rank {rank} --world {RANKS}'
            f' --coordinator 10.0.0.1:{self.port} {(others or {}).get(rank, words)}') for rank in ranks}

    def status(self, jobs, seconds=RUN_SECONDS):
        return {rank: self.lab.guests[rank].status(job, seconds) for rank, job in jobs.items()}

    def output(self, jobs, rank):
        return self.lab.guests[rank].output(jobs[rank])

    def all_output(self, jobs):
        return '\n'.join(f'rank {rank}: {self.output(jobs, rank)}' for rank in jobs)

    def signal(self, rank, name):
        self.lab.guests[rank].job(f'kill -{name} $(pidof weft-traffic)')

    def run(self, name, words):
        """One run that is to end well: its report, None after a failure."""
        jobs = self.start(words)
        try:
            status = self.status(jobs)
        except TimeoutError as error:
            check(name, False, f'{error}\n{self.all_output(jobs)}')
            for rank in jobs:
                self.lab.guests[rank].job('pkill weft-traffic || true')
            return None
        right = all(code == 0 for code in status.values())
        check(name, right, f'{status}\n{self.all_output(jobs)}')
        return json.loads(self.output(jobs, 0)) if right else None


def check_report(name, report, *scopes):
    keys = keys_of(*scopes)
    missing = keys[''] - report.keys()
    missing |= {key for rank in report['ranks'] for key in keys['RANK_'] - rank.keys()}
    missing |= {key for flow in report.get('flows', []) for key in keys['FLOW_'] - flow.keys()}
    missing |= {key for size in report.get('sizes', []) for key in keys['SIZE_'] - size.keys()}
    check(f'{name}_keys', not missing and len(report['ranks']) == RANKS, missing)
    check(f'{name}_clean', (report['outcome'], report['good']) == ('done', 1) and not any(
        report[key] for key in ('lossless_drops', 'retransmits', 'timeouts', 'failed')), report)
    check(f'{name}_measured', report['goodput_gbps'] > 0 and report['latency_p50_us'] > 0 and
          report['latency_p99_us'] >= report['latency_p50_us'], report)


def run_flows(crew, word):
    for name, words, payload in FLOWS:
        if word not in name:
            continue
        report = crew.run(name, words)
        if report is None:
            continue
        check_report(name, report, 'FLOWS')
        # A ping-pong moves its bytes twice.
        moved = payload * (2 if 'latency' in name else 1)
        check(f'{name}_bytes', report['bytes'] == payload and
              sum(rank['tx_bytes'] for rank in report['ranks']) == moved and
              sum(rank['rx_bytes'] for rank in report['ranks']) == moved, report)


def run_open_loop(crew, word):
    if word not in 'open_loop':
        return
    report = crew.run('open_loop', 'mesh --load 10% --size 4K --iters 4')
    if report is None:
        return
    check_report('open_loop', report, 'FLOWS', 'OPEN')
    messages = RANKS * (RANKS - 1) * 4
    check('open_loop_messages', report['iterations'] == messages and
          sum(size['messages'] for size in report['sizes']) == messages, report)
    check('open_loop_slowdown', report['slowdown_p99'] >= report['slowdown_p50'] > 0, report)


def run_collectives(crew, word):
    for workload in COLLECTIVES:
        name = workload.replace(' --algorithm ', '_').replace('-', '_')
        if word not in name:
            continue
        report = crew.run(name, f'{workload} {COLLECTIVE}')
        if report is None:
            continue
        check_report(name, report, 'COLLECTIVE')
        # The first and the last operation, on every rank.
        check(f'{name}_result', (report['wrong'], report['checked']) == (0, 2 * RANKS * 65536 // 4), report)
        check(f'{name}_iterations', report['iterations'] == 2 and
              report['time_min_us'] <= report['time_us'] <= report['time_max_us'], report)


def sum_of(stats, table, key):
    return sum(row[key] for port in stats['ports'] for row in port[table])


def run_incast(crew, word):
    if word not in 'incast':
        return
    before = crew.lab.stats(NAME)
    report = crew.run('incast', 'incast --size 64K --iters 16')
    if report is None:
        return
    after = crew.lab.stats(NAME)
    check_report('incast', report, 'FLOWS')
    check('incast_is_fair', report['jain'] > 0.9, report['jain'])
    data, packets = (RANKS - 1) * 16, (RANKS - 1) * 16 * 64
    check('incast_messages', report['iterations'] == data, report)
    queue = [switch['ports'][0]['queues'][DSCP_QUEUE]['packets'] for switch in (before, after)]
    check('incast_through_the_switch', queue[1] - queue[0] >= packets, queue)
    grown = {key: sum_of(after, table, key) - sum_of(before, table, key)
             for table, key in (('priority_groups', 'xoff_events'), ('queues', 'wred_ecn_marked_packets'))}
    check('incast_raises_xoff', grown['xoff_events'] > 0, grown)
    check('incast_marks', grown['wred_ecn_marked_packets'] > 0, grown)
    check('incast_drops_nothing', after['switch']['dropped_packets'] == 0, after['switch'])


def check_cut_off(crew):
    """Frames of rank 1 go to nobody any more: its device says so, and rank 0 hears no word of it."""
    guest = crew.lab.guests[1]
    jobs = crew.start(LONG + ' --retries 1 --retry-timeout 1s')
    guest.job(STARTED)
    guest.job('ip neigh replace 10.0.0.1 lladdr 02:00:00:00:00:99 dev eth0 nud permanent')
    status = crew.status(jobs, LOST_SECONDS)
    guest.job('ip neigh del 10.0.0.1 dev eth0')
    check('cut_off_ends_all', set(status.values()) == {1}, status)
    check('cut_off_is_named_there', 'between it and rank 0: transport retry counter exceeded' in crew.output(jobs, 1),
          crew.output(jobs, 1))
    check('cut_off_is_named', all('rank 1: nothing was heard' in crew.output(jobs, rank) for rank in (0, 2, 3)),
          crew.all_output(jobs))


def run_troubles(crew, word):
    if word in 'killed':
        jobs = crew.start(LONG)
        crew.lab.guests[2].job(STARTED)
        crew.signal(2, 'KILL')
        others = {rank: job for rank, job in jobs.items() if rank != 2}
        status = crew.status(others, LOST_SECONDS)
        check('killed_ends_all', set(status.values()) == {1}, status)
        check('killed_is_named', all(re.search(r'rank 2: ', crew.output(jobs, rank)) for rank in others),
              crew.all_output(others))
    if word in 'other_options':
        jobs = crew.start('incast --size 64K --link-timeout 3s',
                          others={3: 'incast --size 32K --link-timeout 3s'})
        status = crew.status(jobs)
        check('other_options_end_all', set(status.values()) == {1}, status)
        check('other_options_are_told', 'other options' in crew.output(jobs, 3), crew.all_output(jobs))
        check('missing_rank_is_named', all('rank 3: did not come' in crew.output(jobs, rank) for rank in range(3)),
              crew.all_output(jobs))
    if word in 'no_rank_0':
        jobs = crew.start('incast --link-timeout 1s', ranks=(1, 2))
        status = crew.status(jobs)
        check('no_rank_0', set(status.values()) == {1} and 'rank 0 was not found' in crew.output(jobs, 1),
              crew.all_output(jobs))
    if word in 'cut_off':
        check_cut_off(crew)
    if word in 'interrupted':
        jobs = crew.start(LONG)
        crew.lab.guests[1].job(STARTED)
        crew.signal(1, 'TERM')
        status = crew.status(jobs, LOST_SECONDS)
        report = json.loads(crew.output(jobs, 0) or '{}')
        check('interrupted_ends_all', set(status.values()) == {0}, f'{status}\n{crew.all_output(jobs)}')
        check('interrupted_reports', report.get('outcome') == 'stopped' and report['iterations'] > 0, report)


def main(argv):
    build, word = pathlib.Path(argv[0]), argv[1] if len(argv) > 1 else ''
    with tempfile.TemporaryDirectory(prefix='weft-verbs.') as name:
        lab = Lab(build, pathlib.Path(name), CONFIG, RANKS)
        try:
            with lab:
                crew = Crew(lab, build.resolve())
                for part in (run_incast, run_flows, run_open_loop, run_collectives, run_troubles):
                    part(crew, word)
        except (RuntimeError, TimeoutError, OSError, subprocess.SubprocessError, ValueError) as error:
            check('lab', False, error)
        check('conserved', *lab.conserved())
    return check.end()


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
