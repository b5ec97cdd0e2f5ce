#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_perftest.py BUILD_DIR [WORD]: weft-traffic and stock perftest, in TAP; with a word, only those
sessions whose name has it.

A kernel soft-RoCE host (User-Mode Linux, nothing of ours inside) and weft-traffic sit on two ports of
a weft-switch, vhost-user and memif. Each bandwidth test runs both ways: once the kernel's perftest is
the server, once the client. Judged by what both ends counted, and by what the host captured: every
ICRC and TCP checksum is right, and tshark finds no error.
"""
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from guests import ROOT, Checks, Lab, wait_for

SESSION_SECONDS, LIFE_SECONDS = 90, 840
CAPTURED_MAX = 600  # frames of a session
KERNEL, WEFT = '10.0.0.1', '10.0.0.2'
CONFIG = '''
name = "perftest";
roce = "lossless";
port = (
	{ name = "Ethernet0"; speed = "1G"; burst = "20ms"; mtu = 4200; pause = "hold";
	  devargs = "net_vhost0,iface=port0.sock"; },
	{ name = "Ethernet1"; speed = "1G"; burst = "20ms"; mtu = 4200;
	  devargs = "net_memif0,role=server,socket=DIRECTORY/port1.sock,socket-abstract=no,rsize=5,bsize=4224"; }
);
'''
# size, messages, MTU: one packet of one byte, and messages of many packets at both MTUs.
SHAPES = ((1, 50, 1024), (65536, 20, 1024), (65536, 20, 4096))
LONG = (8 << 20, 5, 4096)
# What soft-RoCE counts when something went wrong.
TROUBLES = ('duplicate_request', 'out_of_seq_request', 'rcvd_seq_err', 'retry_exceeded_err', 'completer_retry_err',
            'send_err', 'rcvd_rnr_err', 'send_rnr_err')
OUR_TROUBLES = ('retransmits', 'timeouts', 'naks_received', 'naks_sent', 'duplicates', 'out_of_sequence', 'refused',
                'rx_bad', 'rx_icrc', 'rx_no_qp', 'kernel_lost')
# tshark 4.0 guesses at the data of a message, which of the kernel's perftest is random, and of a SEND wants four
# bytes: of its own frames only those without data can be judged. weft-traffic's data is zeros.
WRONG = ('(_ws.expert.severity == "Error" || _ws.malformed || tcp.checksum.status == "Bad" || (infiniband && _ws.expert))'
         f' && !(infiniband && ip.src == {KERNEL} && !(infiniband.bth.opcode in {{12, 17}}))'
         ' && !(infiniband.bth.opcode in {2, 4} && udp.length <= 28)')

check = Checks()


class PerftestLab(Lab):
    """The switch, the kernel host, and weft-traffic on the port beside it."""

    def __init__(self, build, directory):
        super().__init__(build, directory, CONFIG.replace('DIRECTORY', str(directory)), 1, mtu=4200,
                         life=LIFE_SECONDS)

    @property
    def host(self):
        return self.guests[0]

    def weft(self, *words):
        return subprocess.Popen(
            [self.build / 'traffic/weft-traffic', 'perftest', '--hosts', f'memif:{self.dir}/port1.sock', '--speed',
             '1G', '--burst', '20ms', '--mac', '02:00:00:00:00:02', '--ip', WEFT, '--retry-timeout', '10s',
             '--timeout', f'{SESSION_SECONDS}s', '--json', *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def end_weft(process):
    try:
        out, err = process.communicate(timeout=SESSION_SECONDS + 30)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    if process.returncode != 0:
        raise RuntimeError(f'{process.args}: {process.returncode}\n{out}{err}')
    return json.loads(out)


def session(lab, op, weft_is_client, shape, port):
    """Runs one test. Returns what weft-traffic counted."""
    size, messages, mtu = shape
    tool = f'chrt -i 0 ib_{op}_bw -d rxe0 -F -u 20 -s {size} -n {messages} -t 8 -m {mtu} --tclass=106 -p {port}'
    tool += f' -x $(wait_gid {KERNEL})'
    words = ('--op', op, '--size', str(size), '--iters', str(messages), '--mtu', str(mtu), '--depth', '8',
             '--tcp-port', str(port))
    if weft_is_client:
        server = lab.host.start_job(f'serve {port} {tool}')
        wait_for('server', 30, lambda: (lab.host.box / f'{port}.listening').exists())
        weft = lab.weft('--connect', KERNEL, *words)
        report = end_weft(weft)
        lab.host.end_job(server)
        return report
    weft = lab.weft('--listen', *words)
    line = weft.stderr.readline()
    if 'waiting' not in line:
        raise RuntimeError(line + weft.stderr.read())
    client = lab.host.start_job(f'{tool} {WEFT}')
    report = end_weft(weft)
    lab.host.end_job(client)
    return report


def check_counts(name, op, weft_is_client, shape, report, before, after):
    size, messages, mtu = shape
    payload, packets = size * messages, -(-size // mtu) * messages
    weft_sends = weft_is_client != (op == 'read')
    delta = {key: after[key] - before[key] for key in after}
    sent, received = (report['tx_bytes'], delta['rcvd_pkts']) if weft_sends else (
        payload, delta['sent_pkts'])
    check(f'{name}_bytes', sent == payload and (weft_sends or report['rx_bytes'] == payload), report)
    check(f'{name}_kernel_packets', received >= packets, delta)
    if not weft_sends:
        check(f'{name}_weft_packets', report['rx_packets'] >= packets, report)
    check(f'{name}_report', (report['bytes'], report['iterations'], report['mtu']) == (size, messages, mtu), report)
    check(f'{name}_weft_troubles', not any(report[key] for key in OUR_TROUBLES), report)
    check(f'{name}_kernel_troubles', not any(delta.get(key, 0) for key in TROUBLES), delta)


def tshark(path, words):
    run = subprocess.run(['tshark', '-r', path, '-o', 'tcp.check_checksum:TRUE', '-o', 'ip.check_checksum:TRUE',
                          *words], capture_output=True, text=True, timeout=60, check=True)
    return run.stdout


def check_capture(name, path):
    run = subprocess.run([ROOT / 'tests/interop/icrc.py', '--require', 'ipv4', path], capture_output=True, text=True,
                         timeout=60, check=False)
    check(f'{name}_icrc', run.returncode == 0, run.stdout + run.stderr)
    wrong = tshark(path, ['-Y', WRONG])
    check(f'{name}_tshark', wrong == '', wrong)
    check(f'{name}_tcp_seen', tshark(path, ['-Y', f'tcp && ip.src == {WEFT}']) != '')
    answers = tshark(path, ['-Y', f'arp.opcode == 2 && arp.src.proto_ipv4 == {WEFT}', '-T', 'fields', '-e',
                            'arp.src.hw_mac', '-e', 'frame.time_epoch'])
    check(f'{name}_one_mac', all(line.startswith('02:00:00:00:00:02') for line in answers.splitlines()), answers)


def run_all(lab, word):
    port = 18515
    cases = [(op, client, shape) for op, client, shape in
             itertools.product(('write', 'send', 'read'), (True, False), SHAPES)]
    cases += [('write', True, LONG), ('read', False, LONG)]
    for op, weft_is_client, shape in cases:
        name = f'{op}_{"to" if weft_is_client else "from"}_perftest_{shape[0]}_mtu{shape[2]}'
        if word not in name:
            continue
        before = lab.host.counters()
        capture = lab.host.start_job(f"capture {name} {CAPTURED_MAX} 'udp port 4791 or tcp or arp'")
        wait_for('capture', 10, lambda: 'listening' in lab.host.output(capture))
        try:
            report = session(lab, op, weft_is_client, shape, port)
        except (RuntimeError, TimeoutError, subprocess.TimeoutExpired, ValueError) as error:
            check(name, False, error)
            continue
        finally:
            lab.host.job('end_captures; rm -f /run/*.tcpdump')
            lab.host.end_job(capture)
            port += 1
        check_counts(name, op, weft_is_client, shape, report, before, lab.host.counters())
        check_capture(name, lab.host.box / f'{name}.pcap')
        print(f'# {name}: {report["bw_average"]} MB/s')


def main(argv):
    with tempfile.TemporaryDirectory(prefix='weft-perftest.') as name:
        directory = pathlib.Path(name)
        try:
            lab = PerftestLab(pathlib.Path(argv[0]), directory)
            with lab:
                run_all(lab, argv[1] if len(argv) > 1 else '')
        except (RuntimeError, TimeoutError, OSError, subprocess.SubprocessError) as error:
            check('lab', False, error)
        check('conserved', *lab.conserved())
    return check.end()


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
