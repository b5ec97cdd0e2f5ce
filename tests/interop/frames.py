#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Hand-made frames of every kind that the parser knows, and of every way in which one can be wrong.

usage: frames.py --write      writes tests/data/captures/kinds.pcap (VALID, in this order),
                              tests/fuzz/corpus/parse/ (VALID and BROKEN, one file each) and
                              tests/fuzz/corpus/roce/ (HOST, likewise)

The same bytes in each run. Valid frames are valid to the last byte: IP, TCP and ICMPv6 checksums
and the RoCE ICRC are right. test_parse_tshark.py compares the committed files with this list.
"""
import pathlib
import struct
import sys
import zlib

sys.dont_write_bytecode = True
from icrc import mask_packet

TESTS = pathlib.Path(__file__).resolve().parent.parent
CAPTURE = TESTS / 'data' / 'captures' / 'kinds.pcap'
CORPUS = TESTS / 'fuzz' / 'corpus' / 'parse'
HOST_CORPUS = TESTS / 'fuzz' / 'corpus' / 'roce'

HOST_A, HOST_B = bytes.fromhex('020000000001'), bytes.fromhex('020000000002')
BROADCAST, ZERO = b'\xff' * 6, bytes(6)
LLDP_GROUP, PAUSE_GROUP, STP_GROUP = (bytes.fromhex('0180c20000' + n) for n in ('0e', '01', '00'))
V4_A, V4_B = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
V6_A, V6_B = (bytes.fromhex('20010db8' + '00' * 11 + n) for n in ('01', '02'))

IPV4, ARP, CTAG, IPV6, MAC_CONTROL, STAG, LLDP, ROCE_V1 = (
    0x0800, 0x0806, 0x8100, 0x86DD, 0x8808, 0x88A8, 0x88CC, 0x8915)
HOP_BY_HOP, ICMP, TCP, UDP, BTH, ROUTING, FRAGMENT, AH, ICMPV6, NONE, OPTIONS = (
    0, 1, 6, 17, 27, 43, 44, 51, 58, 59, 60)
DF, MF = 0x4000, 0x2000
ROCE_PORT = 4791
WRITE_ONLY, ACK, CNP = 0x0A, 0x11, 0x81
RDMA_TOS, CNP_TOS = 26 << 2 | 2, 48 << 2
PAYLOAD = bytes(range(32))


# ---- headers -----------------------------------------------------------------------------------

def checksum(data):
    """The internet checksum (RFC 1071)."""
    words = struct.unpack(f'>{(len(data) + 1) // 2}H', data + bytes(len(data) % 2))
    total = sum(words)
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def with_checksum(data, at, pseudo=b''):
    return data[:at] + struct.pack('>H', checksum(pseudo + data)) + data[at + 2:]


def ethernet(ethertype, payload, tags=(), dst=HOST_B, src=HOST_A):
    """`tags` are (TPID, TCI), outermost first."""
    stack = b''.join(struct.pack('>HH', *tag) for tag in tags)
    return dst + src + stack + struct.pack('>H', ethertype) + payload


def ipv4(proto, payload, tos=RDMA_TOS, fragment=DF, options=b'', total=None, first=None):
    size = 20 + len(options)
    header = struct.pack('>BBHHHBBH', 0x40 + size // 4 if first is None else first, tos,
                         size + len(payload) if total is None else total, 7, fragment, 64, proto, 0)
    return with_checksum(header + V4_A + V4_B + options, 10) + payload


def ipv6(proto, payload, tos=RDMA_TOS, hops=64, size=None):
    word = 6 << 28 | tos << 20 | 0x12345
    size = len(payload) if size is None else size
    return struct.pack('>IHBB', word, size, proto, hops) + V6_A + V6_B + payload


def udp(port, payload, size=None, source=0xC123):
    return struct.pack('>HHHH', source, port, 8 + len(payload) if size is None else size, 0) + payload


def bth(opcode, payload=PAYLOAD, qp=0x12345):
    return struct.pack('>BBHII', opcode, 0x40, 0xFFFF, qp, 1 << 31 | 77) + payload


def extension(proto, units=0):
    """Hop-by-hop, destination options: a PadN option fills it."""
    return bytes([proto, units, 1, 4 + 8 * units]) + bytes(4 + 8 * units)


def routing(proto):
    return bytes([proto, 0, 253, 0]) + bytes(4)  # an experimental type with no segments left


def authentication(proto):
    return bytes([proto, 4, 0, 0]) + struct.pack('>II', 9, 1) + bytes(12)


def fragment_header(proto, offset, more=0):
    return struct.pack('>BBHI', proto, 0, offset << 3 | more, 99)


def icmpv6(kind, body, hops=255):
    message = bytes([kind, 0, 0, 0]) + body
    pseudo = V6_A + V6_B + struct.pack('>II', len(message), ICMPV6)
    return ipv6(ICMPV6, with_checksum(message, 2, pseudo), 0, hops)


def tcp(pseudo):
    segment = struct.pack('>HHIIHHHH', 40000, 443, 1, 0, 0x5002, 65535, 0, 0)
    return with_checksum(segment, 16, pseudo + struct.pack('>HH', TCP, len(segment)))


def sealed(packet, udp_at, bth_at):
    """The packet with its ICRC behind it; the lengths in it count the ICRC already."""
    masked = bytearray(packet)
    mask_packet(masked, udp_at, bth_at)
    return packet + struct.pack('<I', zlib.crc32(b'\xff' * 8 + masked))


# ---- RoCE --------------------------------------------------------------------------------------

def roce_v4(opcode=WRITE_ONLY, tos=RDMA_TOS, options=b'', payload=PAYLOAD):
    packet = ipv4(UDP, udp(ROCE_PORT, bth(opcode, payload + bytes(4))), tos, options=options)
    at = 20 + len(options)
    return sealed(packet[:-4], at, at + 8)


def roce_v6(opcode=WRITE_ONLY, tos=RDMA_TOS, first=UDP, chain=b''):
    packet = ipv6(first, chain + udp(ROCE_PORT, bth(opcode, PAYLOAD + bytes(4))), tos)
    at = 40 + len(chain)
    return sealed(packet[:-4], at, at + 8)


def roce_v1(opcode=WRITE_ONLY, tos=RDMA_TOS):
    return sealed(ipv6(BTH, bth(opcode, PAYLOAD + bytes(4)), tos)[:-4], None, 40)


def pause(opcode, words, src=HOST_A, tags=()):
    body = struct.pack('>H', opcode) + b''.join(struct.pack('>H', word) for word in words)
    return ethernet(MAC_CONTROL, body.ljust(46, b'\0'), tags, PAUSE_GROUP, src)


def arp(opcode, dst, target):
    body = struct.pack('>HHBBH', 1, IPV4, 6, 4, opcode) + HOST_A + V4_A + target + V4_B
    return ethernet(ARP, body.ljust(46, b'\0'), dst=dst)


# ---- the lists ---------------------------------------------------------------------------------

V4_PSEUDO, V6_PSEUDO = V4_A + V4_B, V6_A + V6_B + bytes(2)
BIG = udp(ROCE_PORT, bytes(1472))   # a datagram of two fragments
PFC_BODY = [0x0008, 0, 0, 0, 0xFFFF, 0, 0, 0, 0]
TLVS = bytes.fromhex('0207 04020000000001 0404 05657468 0602 0078 0000')

VALID = {
    'v4-roce': ethernet(IPV4, roce_v4()),
    'v4-roce-ack-ce': ethernet(IPV4, roce_v4(ACK, 26 << 2 | 3, payload=b'\x1f\0\0\1')),
    'v4-cnp': ethernet(IPV4, roce_v4(CNP, CNP_TOS, payload=bytes(16))),
    'v4-roce-option': ethernet(IPV4, roce_v4(options=bytes.fromhex('94040000'))),
    'v4-roce-ten-options': ethernet(IPV4, roce_v4(options=bytes([1] * 39 + [0]))),
    'v4-udp': ethernet(IPV4, ipv4(UDP, udp(5001, PAYLOAD), 0)),
    'v4-udp-padded': ethernet(IPV4, ipv4(UDP, udp(9, b''), 0).ljust(46, b'\0')),
    'v4-tcp': ethernet(IPV4, ipv4(TCP, tcp(V4_PSEUDO), 0x10)),
    'v4-icmp': ethernet(IPV4, ipv4(ICMP, with_checksum(bytes([8, 0, 0, 0, 0, 1, 0, 1]), 2), 0)),
    'v4-fragment-first': ethernet(IPV4, ipv4(UDP, BIG[:744], 0, MF)),
    'v4-fragment-last': ethernet(IPV4, ipv4(UDP, BIG[744:], 0, 744 // 8)),
    'v6-roce': ethernet(IPV6, roce_v6()),
    'v6-cnp': ethernet(IPV6, roce_v6(CNP, CNP_TOS)),
    'v6-roce-hop-by-hop': ethernet(IPV6, roce_v6(first=HOP_BY_HOP, chain=extension(UDP))),
    'v6-roce-options': ethernet(IPV6, roce_v6(first=OPTIONS, chain=extension(UDP, 2))),
    'v6-roce-routing': ethernet(IPV6, roce_v6(first=ROUTING, chain=routing(UDP))),
    'v6-roce-authentication': ethernet(IPV6, roce_v6(first=AH, chain=authentication(UDP))),
    'v6-roce-atomic': ethernet(IPV6, roce_v6(first=FRAGMENT, chain=fragment_header(UDP, 0))),
    'v6-roce-chain': ethernet(IPV6, roce_v6(
        first=HOP_BY_HOP, chain=extension(OPTIONS) + extension(ROUTING, 1) + routing(OPTIONS) +
        extension(UDP))),
    'v6-fragment-first': ethernet(IPV6, ipv6(
        FRAGMENT, fragment_header(UDP, 0, 1) + BIG[:744], 0)),
    'v6-fragment-last': ethernet(IPV6, ipv6(
        FRAGMENT, fragment_header(UDP, 744 // 8) + BIG[744:], 0)),
    'v6-tcp': ethernet(IPV6, ipv6(TCP, tcp(V6_PSEUDO), 0x10)),
    'v6-no-next-header': ethernet(IPV6, ipv6(NONE, b'', 0)),
    'v6-solicitation': ethernet(IPV6, icmpv6(135, bytes(4) + V6_B + b'\1\1' + HOST_A)),
    'v6-advertisement': ethernet(IPV6, icmpv6(136, b'\x60\0\0\0' + V6_A + b'\2\1' + HOST_A)),
    'v6-router-solicitation': ethernet(IPV6, icmpv6(133, bytes(4))),
    'v6-echo': ethernet(IPV6, icmpv6(128, bytes([0, 1, 0, 1]), 64)),
    'grh-roce': ethernet(ROCE_V1, roce_v1()),
    'grh-cnp': ethernet(ROCE_V1, roce_v1(CNP, CNP_TOS)),
    'tag-priority-v4-roce': ethernet(IPV4, roce_v4(), [(CTAG, 3 << 13)]),
    'tag-c-v6-roce': ethernet(IPV6, roce_v6(), [(CTAG, 4 << 13 | 100)]),
    'tag-c-grh-roce': ethernet(ROCE_V1, roce_v1(), [(CTAG, 3 << 13 | 4094)]),
    'tag-s-v4-roce': ethernet(IPV4, roce_v4(), [(STAG, 5 << 13 | 200)]),
    'tag-sc-v4-roce': ethernet(IPV4, roce_v4(), [(STAG, 3 << 13 | 200), (CTAG, 1 << 13 | 100)]),
    'tag-cc-v6-tcp': ethernet(IPV6, ipv6(TCP, tcp(V6_PSEUDO)), [(CTAG, 2), (CTAG, 7 << 13 | 3)]),
    'arp-request': arp(1, BROADCAST, ZERO),
    'arp-reply': arp(2, HOST_B, HOST_B),
    'lldp': ethernet(LLDP, TLVS.ljust(46, b'\0'), dst=LLDP_GROUP),
    'pfc': pause(0x0101, PFC_BODY),
    'pfc-source-zero': pause(0x0101, PFC_BODY, ZERO),
    'pause': pause(0x0001, [0xFFFF]),
    'spanning-tree': ethernet(38, bytes.fromhex('424203' + '00' * 35).ljust(46, b'\0'),
                              dst=STP_GROUP),
    'experimental': ethernet(0x88B5, bytes(46)),
}

DATAGRAM = udp(ROCE_PORT, bth(WRITE_ONLY))

BROKEN = {
    'runt': HOST_B + HOST_A + b'\x08',
    'three-tags': ethernet(IPV4, roce_v4(), [(STAG, 1), (CTAG, 2), (CTAG, 3)]),
    'tag-cut': HOST_B + HOST_A + struct.pack('>HH', CTAG, 1),
    'source-zero': ethernet(IPV4, roce_v4(), src=ZERO),
    'source-group': ethernet(IPV4, roce_v4(), src=BROADCAST),
    'pfc-cut': pause(0x0101, PFC_BODY)[:20],
    'pfc-tagged': pause(0x0101, PFC_BODY, ZERO, [(CTAG, 7 << 13)]),
    'arp-cut': arp(1, BROADCAST, ZERO)[:41],
    'arp-other-medium': ethernet(ARP, struct.pack('>HHBBH', 6, IPV4, 6, 4, 1) + bytes(20)),
    'v4-version': ethernet(IPV4, ipv4(UDP, DATAGRAM, first=0x65)),
    'v4-four-words': ethernet(IPV4, ipv4(UDP, DATAGRAM, first=0x44)),
    'v4-fifteen-words-cut': ethernet(IPV4, ipv4(UDP, DATAGRAM[:30], first=0x4F)),
    'v4-length-zero': ethernet(IPV4, ipv4(UDP, DATAGRAM, total=0)),
    'v4-length-in-header': ethernet(IPV4, ipv4(UDP, DATAGRAM, total=19)),
    'v4-length-in-udp': ethernet(IPV4, ipv4(UDP, DATAGRAM, total=27)),
    'v4-length-beyond': ethernet(IPV4, ipv4(UDP, DATAGRAM, total=20 + len(DATAGRAM) + 1)),
    'v4-tcp-short': ethernet(IPV4, ipv4(TCP, tcp(V4_PSEUDO), total=39)),
    'v4-fragment-tiny': ethernet(IPV4, ipv4(TCP, tcp(V4_PSEUDO)[:8], fragment=MF)),
    'udp-length-zero': ethernet(IPV4, ipv4(UDP, udp(ROCE_PORT, bth(ACK), 0))),
    'udp-length-in-header': ethernet(IPV4, ipv4(UDP, udp(ROCE_PORT, bth(ACK), 7))),
    'udp-length-beyond': ethernet(IPV4, ipv4(UDP, udp(ROCE_PORT, bth(ACK), 8 + 44 + 1))),
    'udp-no-room-for-bth': ethernet(IPV4, ipv4(UDP, udp(ROCE_PORT, bth(CNP), 8 + 11))),
    'v6-version': ethernet(IPV6, ipv4(UDP, DATAGRAM + bytes(20))),
    'v6-length-beyond': ethernet(IPV6, ipv6(UDP, DATAGRAM, size=len(DATAGRAM) + 1)),
    'v6-length-in-udp': ethernet(IPV6, ipv6(UDP, DATAGRAM, size=7)),
    'v6-length-zero': ethernet(IPV6, ipv6(UDP, DATAGRAM, size=0)),
    'v6-jumbogram': ethernet(IPV6, ipv6(
        HOP_BY_HOP, bytes.fromhex('1100c20400010000') + DATAGRAM, size=0)),
    'v6-extension-beyond': ethernet(IPV6, ipv6(OPTIONS, bytes([UDP, 255]) + bytes(6) + DATAGRAM)),
    'v6-extension-cut': ethernet(IPV6, ipv6(OPTIONS, extension(UDP)[:5])),
    'v6-authentication-beyond': ethernet(IPV6, ipv6(AH, bytes([UDP, 255]) + bytes(6) + DATAGRAM)),
    'v6-hop-by-hop-second': ethernet(IPV6, ipv6(
        OPTIONS, extension(HOP_BY_HOP) + extension(UDP) + DATAGRAM)),
    'v6-nine-extensions': ethernet(IPV6, ipv6(
        OPTIONS, extension(OPTIONS) * 8 + extension(UDP) + DATAGRAM)),
    'v6-nd-forwarded': ethernet(IPV6, icmpv6(135, bytes(4) + V6_B, 254)),
    'v6-nd-short': ethernet(IPV6, icmpv6(136, bytes(19))),
    'v6-nd-behind-fragment': ethernet(IPV6, ipv6(
        FRAGMENT, fragment_header(ICMPV6, 0) + icmpv6(135, bytes(4) + V6_B)[40:], hops=255)),
    'grh-version': ethernet(ROCE_V1, ipv4(BTH, bth(ACK))),
    'grh-length-in-bth': ethernet(ROCE_V1, ipv6(BTH, bth(ACK), size=11)),
    'grh-length-beyond': ethernet(ROCE_V1, ipv6(BTH, bth(ACK), size=len(bth(ACK)) + 1)),
    'grh-other-header': ethernet(ROCE_V1, ipv6(NONE, bth(ACK))),
}


RETH, AETH, IMM = bytes(7) + b'\x10' + b'\0\0\x12\x34' + b'\0\0\0\x20', b'\x1f\0\0\1', b'imm!'
OPCODES = {   # opcode -> what stands behind its BTH; those without a payload are ACK, READ and CNP
    'send-middle': (0x01, PAYLOAD), 'send-last-imm': (0x03, IMM + PAYLOAD),
    'send-only': (0x04, PAYLOAD), 'send-empty': (0x04, b''),
    'write-first': (0x06, RETH + PAYLOAD), 'write-middle': (0x07, PAYLOAD),
    'write-only-imm': (0x0B, RETH + IMM + PAYLOAD), 'read-request': (0x0C, RETH),
    'read-response-only': (0x10, AETH + PAYLOAD), 'ack': (ACK, AETH), 'cnp': (CNP, bytes(16)),
    'atomic': (0x13, PAYLOAD), 'datagram': (0x64, PAYLOAD), 'ack-with-payload': (ACK, AETH + AETH),
    'reth-cut': (0x06, RETH[:8]),
}

# What a host makes of a frame: those for it, and those that are almost.
HOST = {
    **{name: ethernet(IPV4, roce_v4(opcode, payload=body))
       for name, (opcode, body) in OPCODES.items()},
    **{name: VALID[name] for name in (
        'v4-roce-option', 'v4-udp', 'v4-fragment-first', 'v6-roce', 'v6-roce-options', 'grh-roce',
        'tag-priority-v4-roce', 'tag-c-v6-roce', 'tag-sc-v4-roce', 'arp-request')},
    **{name: BROKEN[name] for name in (
        'v4-length-beyond', 'udp-length-beyond', 'udp-no-room-for-bth', 'v6-length-beyond')},
    'minimum-frame': ethernet(IPV4, roce_v4(0x04, payload=b'')).ljust(60, b'\0'),
    'padding': ethernet(IPV4, roce_v4(0x04, payload=b'abc\0').replace(
        b'\x04\x40\xff\xff', b'\x04\x50\xff\xff', 1)),
    'icrc-wrong': ethernet(IPV4, roce_v4()[:-1] + b'\0'),
}


def capture():
    """VALID as a pcap file, a microsecond between frames."""
    out = struct.pack('<IHHiIII', 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    for at, frame in enumerate(VALID.values()):
        out += struct.pack('<IIII', 0, at, len(frame), len(frame)) + frame
    return out


def files():
    """path -> content of all that --write writes."""
    out = {CORPUS / name: frame for name, frame in {**VALID, **BROKEN}.items()}
    out |= {HOST_CORPUS / name: frame for name, frame in HOST.items()}
    out[CAPTURE] = capture()
    return out


if __name__ == '__main__':
    if sys.argv[1:] != ['--write']:
        sys.exit(__doc__)
    for corpus in (CORPUS, HOST_CORPUS):
        corpus.mkdir(parents=True, exist_ok=True)
    for path, content in files().items():
        path.write_bytes(content)
