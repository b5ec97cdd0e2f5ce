#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Self test of icrc.py: real captures of kernel soft-RoCE hosts, mutants of them, re-encapsulations.

The expected ICRC of a re-encapsulated frame comes from the bitwise CRC below over a pseudo packet
that is assembled field by field, so nothing here shares code or a table with what is tested.
"""
import contextlib
import importlib.util
import io
import json
import pathlib
import struct
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
CAPTURES = HERE.parent / 'data' / 'captures'

spec = importlib.util.spec_from_file_location('icrc', HERE / 'icrc.py')
icrc = importlib.util.module_from_spec(spec)
spec.loader.exec_module(icrc)

IP, UDP, BTH = 14, 34, 42  # offsets in the untagged IPv4 frames of the real captures
MACS = bytes.fromhex('020000000002020000000001')
TAG_7, TAG_Q, TAG_S = (bytes.fromhex(text) for text in ('8100e007', '81000064', '88a80065'))
ADDRESSES = bytes.fromhex('fd000000000000000000000000000001fd000000000000000000000000000002')


def crc32_bitwise(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xEDB88320 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def pcap(frames, order='<', nanoseconds=False, linktype=1, snap=65535):
    magic = 0xA1B23C4D if nanoseconds else 0xA1B2C3D4
    out = struct.pack(order + 'IHHiIII', magic, 2, 4, 0, 0, snap, linktype)
    for frame in frames:
        kept = frame[:snap]
        out += struct.pack(order + 'IIII', 1, 2, len(kept), len(frame)) + kept
    return out


def block(order, kind, body):
    body += bytes(-len(body) % 4)
    size = struct.pack(order + 'I', len(body) + 12)
    return struct.pack(order + 'I', kind) + size + body + size


def pcapng(frames, order='<', packet='enhanced'):
    out = block(order, 0x0A0D0D0A, struct.pack(order + 'IHHq', 0x1A2B3C4D, 1, 0, -1))
    out += block(order, 1, struct.pack(order + 'HHI', 1, 0, 0))
    out += block(order, 5, struct.pack(order + 'III', 0, 0, 0))  # statistics: to be skipped
    for frame in frames:
        size = len(frame)
        if packet == 'enhanced':
            out += block(order, 6, struct.pack(order + 'IIIII', 0, 0, 1, size, size) + frame)
        else:
            out += block(order, 3, struct.pack(order + 'I', size) + frame)
    return out


def real_frames(name):
    data, at, frames = (CAPTURES / name).read_bytes(), 24, []
    while at < len(data):
        size = struct.unpack_from('<I', data, at + 8)[0]
        frames.append(data[at + 16:at + 16 + size])
        at += 16 + size
    return frames


def with_byte(frame, at, value):
    return frame[:at] + bytes([value]) + frame[at + 1:]


def transport(frame):
    """BTH and what follows, without ICRC, of a real frame."""
    return frame[BTH:-4]


def masked_bth(body):
    return body[:4] + b'\xff' + body[5:]


def sealed(visible, pseudo):
    """A packet with the ICRC of its pseudo form (mutable fields as ones) at the end."""
    return visible + struct.pack('<I', crc32_bitwise(b'\xff' * 8 + pseudo))


def udp_header(body, checksum):
    return struct.pack('>HHHH', 0xC123, 4791, 8 + len(body) + 4, checksum)


def as_ipv4_options(frame, options=bytes.fromhex('94040000')):
    body = transport(frame)
    total = 20 + len(options) + 8 + len(body) + 4
    ends = bytes.fromhex('0a0000010a000002') + options

    def header(tos, ttl, checksum):
        return struct.pack('>BBHHHBBH', 0x45 + len(options) // 4, tos, total, 7, 0x4000, ttl, 17,
                           checksum) + ends
    return MACS + b'\x08\x00' + sealed(header(0x6A, 64, 0x1234) + udp_header(body, 0) + body,
                                       header(0xFF, 255, 0xFFFF) + udp_header(body, 0xFFFF) +
                                       masked_bth(body))


def as_ipv6(frame, extensions=b'', first=17, ecn=2, tags=b''):
    body = transport(frame)
    size = len(extensions) + 8 + len(body) + 4
    word = 6 << 28 | (0x68 | ecn) << 20 | 0x12345
    visible = struct.pack('>IHBB', word, size, first, 64) + ADDRESSES + extensions
    pseudo = struct.pack('>IHBB', 0x6FFFFFFF, size, first, 255) + ADDRESSES + extensions
    return MACS + tags + b'\x86\xdd' + sealed(visible + udp_header(body, 0xBEEF) + body,
                                              pseudo + udp_header(body, 0xFFFF) + masked_bth(body))


def as_rocev1(frame, ecn=1, next_header=0x1B):
    body = transport(frame)
    size = len(body) + 4
    visible = struct.pack('>IHBB', 6 << 28 | ecn << 20, size, next_header, 64) + ADDRESSES
    pseudo = struct.pack('>IHBB', 0x6FFFFFFF, size, next_header, 255) + ADDRESSES
    return MACS + b'\x89\x15' + sealed(visible + body, pseudo + masked_bth(body))


def tagged(frame, tags):
    return frame[:12] + tags + frame[12:]


class IcrcTest(unittest.TestCase):
    def setUp(self):
        self.ect0 = real_frames('rxe-ect0.pcap')
        self.ce = real_frames('rxe-ce.pcap')
        self.frame = max(self.ect0, key=len)

    def check(self, capture, *options):
        """Runs the program; returns (exit status, counts, what it complained about)."""
        out, err = io.StringIO(), io.StringIO()
        with tempfile.NamedTemporaryFile() as file:
            file.write(capture)
            file.flush()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                status = icrc.main(['--json', *options, file.name])
        return status, json.loads(out.getvalue() or '{}'), err.getvalue()

    def expect(self, frames, status, **want):
        got, counts, err = self.check(pcap(frames))
        self.assertEqual(got, status, err)
        self.assertEqual({name: counts[name] for name in want}, want, err)

    def test_bitwise_crc_is_crc32(self):
        self.assertEqual(crc32_bitwise(b'123456789'), 0xCBF43926)  # the published check value

    def test_real_captures(self):
        for name, frames, kind in (('rxe-ect0.pcap', 105, 'ect0'), ('rxe-ce.pcap', 100, 'ce')):
            status, counts, _ = self.check((CAPTURES / name).read_bytes())
            self.assertEqual((status, counts['right'], counts['wrong']), (0, frames, 0), name)
            self.assertEqual((counts['ipv4'], counts[kind]), (frames, frames), name)

    def test_real_frames_in_every_container(self):
        for capture in (pcap(self.ect0, '>'), pcap(self.ect0, nanoseconds=True),
                        pcap(self.ect0, '>', nanoseconds=True), pcapng(self.ect0),
                        pcapng(self.ect0, '>'), pcapng(self.ect0, packet='simple')):
            status, counts, err = self.check(capture)
            self.assertEqual((status, counts['right']), (0, len(self.ect0)), err)

    def test_any_flipped_covered_byte_is_wrong(self):
        # Payload, addresses, source port, opcode, destination QP, PSN and the ICRC itself.
        for at in (100, len(self.frame) - 5, IP + 12, IP + 19, UDP + 1, BTH, BTH + 7, BTH + 11,
                   len(self.frame) - 1):
            bad = with_byte(self.frame, at, self.frame[at] ^ 1)
            self.expect([self.frame, bad], 1, right=1, wrong=1)

    def test_rewrites_a_switch_may_make_stay_right(self):
        for what, at, value in (('TOS', IP + 1, 0x00), ('CE', IP + 1, 0x6B), ('TTL', IP + 8, 63),
                                ('IP checksum', IP + 10, 0x55), ('UDP checksum', UDP + 6, 0x77),
                                ('FECN and BECN', BTH + 4, 0xC0), ('MAC', 5, 9)):
            with self.subTest(what):
                self.expect([with_byte(self.frame, at, value)], 0, right=1)

    def test_ethernet_padding_is_not_part_of_the_packet(self):
        self.expect([self.frame + bytes(7)], 0, right=1)

    def test_reencapsulations(self):
        hop_by_hop = bytes([17, 0, 1, 4, 0, 0, 0, 0])
        routing_then_options = bytes([60, 0, 4, 0, 0, 0, 0, 0]) + bytes([17, 1]) + bytes(14)
        atomic = bytes([17, 0, 0, 0, 1, 2, 3, 4])
        for what, frame, kinds in (
                ('IPv4 options', as_ipv4_options(self.frame), {'ipv4', 'ect0'}),
                ('IPv6', as_ipv6(self.frame), {'ipv6', 'ect0'}),
                ('IPv6 CE', as_ipv6(self.frame, ecn=3), {'ipv6', 'ce'}),
                ('IPv6 hop by hop', as_ipv6(self.frame, hop_by_hop, 0), {'ipv6', 'ect0'}),
                ('IPv6 two', as_ipv6(self.frame, routing_then_options, 43), {'ipv6', 'ect0'}),
                ('IPv6 atomic fragment', as_ipv6(self.frame, atomic, 44), {'ipv6', 'ect0'}),
                ('tagged IPv4', tagged(self.frame, TAG_Q), {'ipv4', 'ect0', 'tagged'}),
                ('priority tag', tagged(self.frame, TAG_7), {'ipv4', 'ect0', 'tagged'}),
                ('QinQ', tagged(self.frame, TAG_S + TAG_Q), {'ipv4', 'ect0', 'tagged'}),
                ('tagged IPv6', as_ipv6(self.frame, tags=TAG_Q), {'ipv6', 'ect0', 'tagged'}),
                ('RoCEv1', as_rocev1(self.frame), {'rocev1', 'ect1'}),
                ('tagged RoCEv1', tagged(as_rocev1(self.frame), TAG_7),
                 {'rocev1', 'ect1', 'tagged'})):
            with self.subTest(what):
                self.expect([frame], 0, right=1, wrong=0,
                            **{kind: int(kind in kinds) for kind in icrc.KINDS})
                self.expect([with_byte(frame, len(frame) - 9, frame[-9] ^ 0x80)], 1, wrong=1)

    def test_cnp_is_counted(self):
        cnp = as_ipv6(with_byte(self.frame, BTH, 0x81), ecn=0)
        self.expect([self.frame, cnp], 0, right=2, cnp=1, **{'not-ect': 1})

    def test_no_roce_frame(self):
        other_port = with_byte(self.frame, UDP + 3, 0xB8)
        fragment = with_byte(self.frame, IP + 6, 0x20)
        tcp = with_byte(self.frame, IP + 9, 6)
        raw = as_rocev1(self.frame, next_header=59)
        arp = MACS + b'\x08\x06' + bytes(46)
        for frames in ([], [other_port], [fragment], [tcp], [raw], [arp], [MACS], [b'']):
            self.expect(frames, 2, right=0, wrong=0)
        self.assertEqual(self.check(pcapng([]))[0], 2)

    def test_truncated_frames_are_not_judged(self):
        status, counts, _ = self.check(pcap([self.frame], snap=128))
        self.assertEqual((status, counts['truncated'], counts['right']), (2, 1, 0))
        status, counts, _ = self.check(pcap([self.frame])[:-10])  # the writer was killed
        self.assertEqual((status, counts['truncated']), (2, 1))

    def test_lengths_that_lie_are_wrong(self):
        longer = with_byte(self.frame, IP + 3, (self.frame[IP + 3] + 1) & 0xFF)
        udp = with_byte(self.frame, UDP + 5, (self.frame[UDP + 5] + 1) & 0xFF)
        short = MACS + b'\x08\x00' + struct.pack('>BBHHHBBH', 0x45, 0, 36, 1, 0x4000, 64, 17, 0) + \
            bytes(8) + struct.pack('>HHHH', 0xC000, 4791, 16, 0) + bytes(8)
        for frame in (longer, udp, short):
            self.expect([frame], 1, wrong=1)

    def test_require(self):
        mixed = pcap(self.ect0 + self.ce + [as_ipv6(self.frame), tagged(self.frame, TAG_Q)])
        self.assertEqual(self.check(mixed, '--require', 'ipv4,ipv6,tagged,ce')[0], 0)
        status, _, err = self.check(mixed, '--require', 'ipv4,cnp,rocev1')
        self.assertEqual(status, 3)
        self.assertIn('no frame of kind cnp, rocev1', err)
        self.assertEqual(self.check(mixed, '--require', 'ipv5')[0], 4)

    def test_unreadable_files(self):
        for capture in (b'', b'not a capture, but long enough to be one', pcap([], linktype=113),
                        pcapng([self.frame])[:40] + b'\x06\0\0\0\x01\0\0\0' + bytes(30)):
            self.assertEqual(self.check(capture)[0], 4, capture[:8])
        with contextlib.redirect_stderr(io.StringIO()) as err:
            self.assertEqual(icrc.main(['/nonexistent/a.pcap']), 4)
        self.assertIn('/nonexistent/a.pcap', err.getvalue())

    def test_several_captures_add_up(self):
        names = [str(CAPTURES / name) for name in ('rxe-ect0.pcap', 'rxe-ce.pcap')]
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = icrc.main(['--json', '--require', 'ect0,ce', *names])
        self.assertEqual((status, json.loads(out.getvalue())['right']), (0, 205))

    def test_wrong_frames_are_named(self):
        bad = with_byte(self.frame, 100, self.frame[100] ^ 1)
        _, _, err = self.check(pcap([self.frame, self.frame, bad]))
        self.assertIn(': frame 3 (ipv4 ect0): carries', err)


if __name__ == '__main__':
    unittest.main()
