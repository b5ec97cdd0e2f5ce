#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares what parse() finds in captures with what tshark finds, field by field.

usage: test_parse_tshark.py PARSE_DUMP [unittest arguments]

The captures are those of tests/data/captures/: kernel soft-RoCE hosts, and kinds.pcap with a frame
of every kind (frames.py). tshark gives its dissection as PDML, in which each protocol and field has
its place in the frame. Where the two differ on purpose, the comment says why.
"""
import functools
import pathlib
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ElementTree

sys.dont_write_bytecode = True
import frames

CAPTURES = sorted(frames.CAPTURE.parent.glob('*.pcap'))
PARSE_DUMP = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else 'parse_dump')

# tshark protocol or field -> l3 of parse_dump
L3 = {'ip': 'ipv4', 'ipv6': 'ipv6', 'arp': 'arp', 'infiniband.grh': 'roce_v1',
      'macc': 'mac_control', 'lldp': 'lldp'}
EXTENSIONS = ('ipv6.hopopts', 'ipv6.dstopts', 'ipv6.routing', 'ipv6.fraghdr', 'ah')
ND_TYPES = ('135', '136')


@functools.cache
def ours(capture):
    """One dict per frame: column -> text."""
    out = subprocess.run([PARSE_DUMP, capture], check=True, capture_output=True, text=True).stdout
    header, *lines = (line.split('\t') for line in out.splitlines())
    return [dict(zip(header, line)) for line in lines]


class Dissection:
    """What tshark says about a frame: fields and protocols by name, outer ones first."""

    def __init__(self, packet):
        self.nodes = [n for n in packet.iter() if n.get('pos') and n.get('name')]

    def all(self, *names):
        return [n for n in self.nodes if n.get('name') in names]

    def show(self, *names):
        found = self.all(*names)
        return found[0].get('show') if found else '-'

    def at(self, name):
        return int(self.all(name)[0].get('pos'))

    def end(self, name):
        node = self.all(name)[0]
        return int(node.get('pos')) + int(node.get('size'))

    def number(self, *names):
        text = self.show(*names)
        return text if text == '-' else str(int(text, 0))

    def l3(self):
        return next((name for name in L3 if self.all(name)), None)

    def is_later_fragment(self):
        return self.number('ip.frag_offset', 'ipv6.fraghdr.offset') not in ('-', '0')

    def is_first_fragment(self):
        return not self.is_later_fragment() and \
            self.show('ip.flags.mf', 'ipv6.fraghdr.more') in ('1', 'True')

    def is_nd(self):
        # Only ND that a host would accept counts: see parse_icmpv6().
        return self.show('icmpv6.type') in ND_TYPES and self.show('ipv6.hlim') == '255'

    def l4(self):
        if self.is_later_fragment():
            return 'fragment'
        # tshark takes the first fragment of any datagram to port 4791 for RoCE, which never has any.
        if self.all('infiniband.bth') and not self.is_first_fragment():
            return 'bth'
        if self.is_nd():
            return 'nd'
        return next((name for name in ('udp', 'tcp') if self.all(name)), 'other')

    def l3_offset(self):
        if self.l3():
            return self.at(self.l3())
        return 14 + 4 * len(self.all('vlan', 'ieee8021ad'))

    def l4_offset(self):
        """Behind IP and its extension headers, or of the BTH."""
        if self.l4() == 'bth':
            return self.at('infiniband.bth')
        if self.l3() == 'ip':
            return self.end('ip')
        if self.l3() == 'ipv6':
            return max([self.at('ipv6') + 40] + [self.end(n) for n in EXTENSIONS if self.all(n)])
        return '-'

    def tos(self):
        if self.l3() == 'infiniband.grh':
            return int(self.show('infiniband.grh.tclass'))
        dscp, ecn = (self.number(f'ip.dsfield.{n}', f'ipv6.tclass.{n}') for n in ('dscp', 'ecn'))
        return '-' if dscp == '-' else int(dscp) << 2 | int(ecn)

    def columns(self):
        l4, tos = self.l4(), self.tos()
        # ieee8021ad shows no EtherType of what it carries when that is no tag.
        inner = self.all('eth.type', 'eth.len', 'vlan.etype')[-1]
        shown = self.all('vlan', 'ieee8021ad')[-1:]
        hidden = shown and shown[0].get('name') == 'ieee8021ad'
        is_bth = l4 == 'bth'
        return {
            'drop': '-',
            'ethertype': None if hidden else str(int(inner.get('show'), 0)),
            'l3': L3.get(self.l3(), 'other'),
            'l4': l4,
            'vid': self.number('vlan.id', 'ieee8021ad.id'),
            'pcp': self.number('vlan.priority', 'ieee8021ad.priority'),
            'dscp': '-' if tos == '-' else str(tos >> 2),
            'ecn': '-' if tos == '-' else str(tos & 3),
            'sport': self.number('udp.srcport', 'tcp.srcport'),
            'dport': self.number('udp.dstport', 'tcp.dstport'),
            'opcode': self.number('infiniband.bth.opcode') if is_bth else '-',
            'dst_qp': self.number('infiniband.bth.destqp') if is_bth else '-',
            'l3_offset': str(self.l3_offset()),
            'l4_offset': str(self.l4_offset()),
        }


@functools.cache
def theirs(capture):
    out = subprocess.run(
        ['tshark', '-n', '-r', capture, '-T', 'pdml', '-o', 'ip.defragment:FALSE',
         '-o', 'ipv6.defragment:FALSE'], check=True, capture_output=True).stdout
    return [Dissection(packet).columns() for packet in ElementTree.fromstring(out).iter('packet')]


class ParseTshark(unittest.TestCase):
    maxDiff = None

    def test_captures_are_there(self):
        self.assertLessEqual({'kinds.pcap', 'rxe-ce.pcap', 'rxe-ect0.pcap'},
                             {path.name for path in CAPTURES})

    def test_committed_files_are_what_frames_py_writes(self):
        for path, content in frames.files().items():
            with self.subTest(path=path.name):
                self.assertEqual(path.read_bytes(), content, 'run frames.py --write')

    def test_frames_agree(self):
        for capture in CAPTURES:
            want, got = theirs(capture), ours(capture)
            self.assertEqual(len(got), len(want), capture.name)
            for number, (found, expected) in enumerate(zip(got, want), 1):
                known = {key: value for key, value in expected.items() if value is not None}
                with self.subTest(capture=capture.name, frame=number):
                    self.assertEqual({key: found.get(key) for key in known}, known)

    def test_every_kind_is_among_them(self):
        rows = ours(frames.CAPTURE)
        self.assertEqual({row['l3'] for row in rows}, {*L3.values(), 'other'})
        self.assertEqual({row['l4'] for row in rows},
                         {'bth', 'fragment', 'nd', 'other', 'tcp', 'udp'})


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
