#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Has tshark and icrc.py judge the RoCEv2 frames that the hosts' code writes.

usage: test_roce.py ROCE_WRITE [unittest arguments]

ROCE_WRITE writes frames of every opcode over IPv4 and IPv6, with and without a tag, and says what it
put in; tshark must find the same, and nothing to complain about.
"""
import functools
import ipaddress
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import icrc

ROCE_WRITE = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else 'roce_write')

# column of roce_write -> fields of tshark, of which a frame has one
FIELDS = {
    'dst_mac': ('eth.dst',), 'src_mac': ('eth.src',), 'vid': ('vlan.id',), 'pcp': ('vlan.priority',),
    'dscp': ('ip.dsfield.dscp', 'ipv6.tclass.dscp'), 'ecn': ('ip.dsfield.ecn', 'ipv6.tclass.ecn'),
    'hops': ('ip.ttl', 'ipv6.hlim'), 'id': ('ip.id',), 'label': ('ipv6.flow',),
    'src_ip': ('ip.src', 'ipv6.src'), 'dst_ip': ('ip.dst', 'ipv6.dst'), 'sport': ('udp.srcport',),
    'opcode': ('infiniband.bth.opcode',), 'solicited': ('infiniband.bth.se',),
    'migrated': ('infiniband.bth.m',), 'ack_req': ('infiniband.bth.a',),
    'pkey': ('infiniband.bth.p_key',), 'dest_qp': ('infiniband.bth.destqp',),
    'psn': ('infiniband.bth.psn',), 'va': ('infiniband.reth.va',),
    'rkey': ('infiniband.reth.r_key',), 'dma_bytes': ('infiniband.reth.dmalen',),
    'syndrome': ('infiniband.aeth.syndrome',), 'msn': ('infiniband.aeth.msn',),
    'imm': ('infiniband.immdt',), 'padding': ('infiniband.bth.padcnt',),
}
OTHER = ('udp.length', 'infiniband.bth.tver', 'ip.checksum.status', 'ip.flags.df',
         '_ws.expert.message', '_ws.malformed')
# A UDP checksum of 0 over IPv6 is meant so (RFC 6936), and what kernel soft-RoCE sends.
PREFERENCES = ('ip.check_checksum:TRUE', 'udp.ignore_ipv6_zero_checksum:TRUE')

# tshark 4.0 looks for an EtherType in the data of these, without asking whether there is as much.
GUESSED_OPCODES, GUESSED_BYTES = {'2', '4'}, 4
CNP = '129'


def number(name, text):
    """The value of a field as roce_write prints it."""
    if text == '':
        return '-'
    if name in ('src_ip', 'dst_ip'):
        return ipaddress.ip_address(text).packed.hex()
    if name in ('dst_mac', 'src_mac'):
        return str(int(text.replace(':', ''), 16))
    return str(int(text, 16 if name == 'imm' else 0))


def found_by_tshark(capture):
    names = [field for fields in FIELDS.values() for field in fields] + list(OTHER)
    command = ['tshark', '-r', capture, '-T', 'fields', '-E', 'occurrence=f']
    command += [word for name in PREFERENCES for word in ('-o', name)]
    command += [word for name in names for word in ('-e', name)]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for line in out.splitlines():
        row = dict(zip(names, line.split('\t')))
        found = {column: number(column, ''.join(row[field] for field in fields))
                 for column, fields in FIELDS.items()}
        yield found, row


def extended_bytes(row):
    """Of the headers that tshark found."""
    return 16 * (row['va'] != '-') + 4 * (row['msn'] != '-') + 4 * (row['imm'] != '-') + \
        16 * (row['opcode'] == CNP)


@functools.cache
def results():
    """(what was written, what tshark found, other fields) for each frame, and icrc.py's answer."""
    with tempfile.NamedTemporaryFile(suffix='.pcap') as file:
        out = subprocess.run([ROCE_WRITE, file.name], check=True, capture_output=True, text=True)
        header, *lines = (line.split('\t') for line in out.stdout.splitlines())
        wanted = [dict(zip(header, line)) for line in lines]
        rows = list(found_by_tshark(file.name))
        judged = icrc.main(['--json', '--require', 'ipv4,ipv6,tagged,not-ect,ect0,ect1,ce,cnp',
                            file.name])
    assert len(rows) == len(wanted), f'{len(rows)} frames of {len(wanted)}'
    return [(want, *row) for want, row in zip(wanted, rows)], judged


class RoceTest(unittest.TestCase):
    def test_every_opcode_is_there(self):
        opcodes = {int(want['opcode']) for want, _, _ in results()[0]}
        self.assertEqual(opcodes, {*range(0x12), int(CNP)})

    def test_fields_agree(self):
        for number, (want, found, other) in enumerate(results()[0], 1):
            with self.subTest(frame=number, opcode=want['opcode']):
                self.assertEqual({**found, 'payload': want['payload']}, want)
                self.assertEqual(int(other['udp.length']) - 8 - 12 - extended_bytes(found) - 4,
                                 int(want['payload']) + int(want['padding']))
                self.assertEqual(int(other['infiniband.bth.tver'], 0), 0)

    def test_nothing_to_complain_about(self):
        guessed = 0
        for number, (want, _, other) in enumerate(results()[0], 1):
            with self.subTest(frame=number, opcode=want['opcode'], payload=want['payload']):
                if want['opcode'] in GUESSED_OPCODES and int(want['payload']) <= GUESSED_BYTES:
                    guessed += 1
                    continue
                self.assertEqual(other['_ws.expert.message'] + other['_ws.malformed'], '')
        self.assertLess(guessed, len(results()[0]) // 10)

    def test_ipv4_checksum_and_flags(self):
        frames = [other for want, _, other in results()[0] if want['id'] != '-']
        self.assertGreater(len(frames), 300)
        self.assertEqual({row['ip.checksum.status'] for row in frames}, {'1'})   # good
        self.assertEqual({row['ip.flags.df'] for row in frames}, {'1'})

    def test_icrc_is_right(self):
        self.assertEqual(results()[1], icrc.RIGHT)


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
