#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the invariant CRC of every RoCE frame of captures, with no code of the switch.

usage: icrc.py [--require KIND,...] [--json] FILE...      (pcap or pcapng, Ethernet)

RoCEv2 over IPv4 (with options) and IPv6 (with extension headers), RoCEv1 (EtherType 0x8915),
behind any number of 802.1Q or QinQ tags. Kinds counted, and accepted by --require:
ipv4 ipv6 rocev1 tagged not-ect ect0 ect1 ce cnp

Exit status over all files: 0 every frame checked is right, 1 at least one is wrong, 2 no RoCE
frame could be checked, 3 a required kind is absent, 4 a file is not a readable Ethernet capture
(or usage).

The rule (InfiniBand annexes A16 and A17): CRC-32 of Ethernet over 8 bytes of ones in place of the
LRH, then the packet from its IP header or GRH to the end of the payload, with every field a router
may rewrite set to ones: IPv4 TOS, TTL, checksum; IPv6 and GRH class, flow label, hop limit; UDP
checksum; the BTH byte that carries FECN and BECN. Sent least significant byte first.
"""
import argparse
import json
import struct
import sys
import zlib

KINDS = ('ipv4', 'ipv6', 'rocev1', 'tagged', 'not-ect', 'ect0', 'ect1', 'ce', 'cnp')
ECN_NAMES = ('not-ect', 'ect1', 'ect0', 'ce')
RIGHT, WRONG, NONE_FOUND, KIND_ABSENT, UNREADABLE = range(5)

ROCE_UDP_PORT = 4791
BTH_SIZE, ICRC_SIZE = 12, 4
OPCODE_CNP = 0x81
ETHERTYPE_IPV4, ETHERTYPE_IPV6, ETHERTYPE_ROCEV1 = 0x0800, 0x86DD, 0x8915
PROTOCOL_UDP, NEXT_HEADER_BTH = 17, 0x1B
TAG_TYPES = (0x8100, 0x88A8, 0x9100)
IPV6_EXTENSIONS = (0, 43, 60, 135)  # hop-by-hop, routing, destination options, mobility
IPV6_FRAGMENT = 44
LINKTYPE_ETHERNET = 1


class CaptureError(Exception):
    """The file is not a capture this program can read."""


# ---- capture files -----------------------------------------------------------------------------

def read_pcap(data, endian):
    """Yields (frame bytes, whole) for each record of a classic pcap file."""
    linktype = struct.unpack_from(endian + 'I', data, 20)[0] & 0x0FFFFFFF
    if linktype != LINKTYPE_ETHERNET:
        raise CaptureError(f'link type {linktype} is not Ethernet')
    at = 24
    while at + 16 <= len(data):
        captured, length = struct.unpack_from(endian + 'II', data, at + 8)
        frame = data[at + 16:at + 16 + captured]
        yield frame, len(frame) == length
        at += 16 + captured


def read_pcapng(data):
    """The same for pcapng: enhanced, simple and obsolete packet blocks of every section."""
    at, endian, interfaces = 0, '<', []
    while at + 12 <= len(data):
        if data[at:at + 4] == b'\x0a\x0d\x0d\x0a':
            endian = '<' if data[at + 8:at + 12] == b'\x4d\x3c\x2b\x1a' else '>'
            interfaces = []
        kind, size = struct.unpack_from(endian + 'II', data, at)
        if size < 12 or size % 4:
            raise CaptureError(f'pcapng block at byte {at} claims {size} bytes')
        block = data[at + 8:at + size - 4]
        at += size
        if kind == 1:
            interfaces.append(struct.unpack_from(endian + 'H', block)[0])
            continue
        if kind == 6 and len(block) >= 20:
            interface, captured, length = struct.unpack_from(endian + 'I8xII', block)
            body = block[20:]
        elif kind == 3 and len(block) >= 4:
            interface, length = 0, struct.unpack_from(endian + 'I', block)[0]
            captured, body = min(length, len(block) - 4), block[4:]
        elif kind == 2 and len(block) >= 20:
            interface, captured, length = struct.unpack_from(endian + 'H10xII', block)
            body = block[20:]
        else:
            continue
        if interface >= len(interfaces) or interfaces[interface] != LINKTYPE_ETHERNET:
            raise CaptureError(f'interface {interface} is not Ethernet')
        frame = body[:captured]
        yield frame, len(frame) == length


def read_frames(path):
    with open(path, 'rb') as file:
        data = file.read()
    magic = data[:4]
    if magic == b'\x0a\x0d\x0d\x0a':
        return read_pcapng(data)
    if len(data) >= 24 and magic in (b'\xd4\xc3\xb2\xa1', b'\x4d\x3c\xb2\xa1'):
        return read_pcap(data, '<')
    if len(data) >= 24 and magic in (b'\xa1\xb2\xc3\xd4', b'\xa1\xb2\x3c\x4d'):
        return read_pcap(data, '>')
    raise CaptureError('neither pcap nor pcapng')


# ---- one frame ---------------------------------------------------------------------------------

def be16(data, at):
    return data[at] << 8 | data[at + 1]


def find_ipv6_payload(frame, ip):
    """Walks the extension headers; returns (next header, offset from the IPv6 header)."""
    following, at = frame[ip + 6], 40
    while following in IPV6_EXTENSIONS:
        following, at = frame[ip + at], at + 8 + 8 * frame[ip + at + 1]
    if following == IPV6_FRAGMENT and not be16(frame, ip + at + 2) & 0xFFF9:
        following, at = frame[ip + at], at + 8  # an atomic fragment is a whole packet
    return following, at


def find_roce(frame):
    """Returns (kinds, start, size, UDP offset or None, BTH offset), offsets relative to start, the
    IP header or GRH; None when the frame is not RoCE. An IndexError means: too short to tell."""
    at, tagged = 12, []
    while be16(frame, at) in TAG_TYPES:
        at += 4
        tagged = ['tagged']
    ethertype, ip = be16(frame, at), at + 2

    if ethertype == ETHERTYPE_ROCEV1:
        bth = 40 if frame[ip + 6] == NEXT_HEADER_BTH else None
        size, ecn = 40 + be16(frame, ip + 4), frame[ip + 1] >> 4 & 3
        return bth and (tagged + ['rocev1', ECN_NAMES[ecn]], ip, size, None, bth)
    if ethertype == ETHERTYPE_IPV4:
        # RoCE is sent with DF and never fragmented: a fragment is something else.
        protocol = None if be16(frame, ip + 6) & 0x3FFF else frame[ip + 9]
        size, udp, ecn, kind = be16(frame, ip + 2), (frame[ip] & 15) * 4, frame[ip + 1] & 3, 'ipv4'
    elif ethertype == ETHERTYPE_IPV6:
        protocol, udp = find_ipv6_payload(frame, ip)
        size, ecn, kind = 40 + be16(frame, ip + 4), frame[ip + 1] >> 4 & 3, 'ipv6'
    else:
        return None
    if protocol != PROTOCOL_UDP or be16(frame, ip + udp + 2) != ROCE_UDP_PORT:
        return None
    return tagged + [kind, ECN_NAMES[ecn]], ip, size, udp, udp + 8


def mask_packet(packet, udp, bth):
    """Sets every field that a router may rewrite to ones, in place."""
    if packet[0] >> 4 == 4:
        packet[1] = packet[8] = 0xFF
        packet[10:12] = b'\xff\xff'
    else:
        packet[0] |= 0x0F
        packet[1:4] = b'\xff\xff\xff'
        packet[7] = 0xFF
    if udp is not None:
        packet[udp + 6:udp + 8] = b'\xff\xff'
    packet[bth + 4] = 0xFF


def check_packet(packet, udp, bth):
    """Returns None when the ICRC is right, else what is wrong, for a whole RoCE packet."""
    if bth + BTH_SIZE + ICRC_SIZE > len(packet):
        return 'too short for a BTH and an ICRC'
    if udp is not None and be16(packet, udp + 4) != len(packet) - udp:
        return f'UDP length {be16(packet, udp + 4)} in an IP payload of {len(packet) - udp}'
    carried = packet[-ICRC_SIZE:].hex()
    mask_packet(packet, udp, bth)
    computed = struct.pack('<I', zlib.crc32(b'\xff' * 8 + packet[:-ICRC_SIZE])).hex()
    return None if carried == computed else f'carries {carried}, should be {computed}'


# ---- the check ---------------------------------------------------------------------------------

def check_capture(path, counts):
    """Adds to counts; returns messages about wrong frames. Kinds are those of checked frames."""
    complaints = []
    for number, (frame, whole) in enumerate(read_frames(path), 1):
        try:
            found = find_roce(frame)
        except IndexError:
            continue
        if found is None:
            continue
        kinds, start, size, udp, bth = found
        if start + size > len(frame) and not whole:
            counts['truncated'] += 1
            continue
        if start + bth < len(frame) and frame[start + bth] == OPCODE_CNP:
            kinds.append('cnp')
        if start + size > len(frame):
            wrong = f'claims {size} bytes, has {len(frame) - start}'
        else:
            wrong = check_packet(bytearray(frame[start:start + size]), udp, bth)
        counts['wrong' if wrong else 'right'] += 1
        if wrong:
            complaints.append(f'{path}: frame {number} ({" ".join(kinds)}): {wrong}')
        for kind in kinds:
            counts[kind] += 1
    return complaints


def kind_list(text):
    kinds = [word for word in text.split(',') if word]
    for kind in kinds:
        if kind not in KINDS:
            raise argparse.ArgumentTypeError(f'{kind!r} is none of {", ".join(KINDS)}')
    return kinds


def main(argv):
    parser = argparse.ArgumentParser(prog='icrc.py', description=__doc__.split('\n')[0])
    parser.add_argument('files', nargs='+', metavar='FILE')
    parser.add_argument('--require', type=kind_list, default=[], metavar='KIND,...',
                        help='fail unless a frame of each kind was seen: ' + ', '.join(KINDS))
    parser.add_argument('--json', action='store_true', help='print the counts as one JSON object')
    try:
        args = parser.parse_args(argv)
    except SystemExit as stop:
        return UNREADABLE if stop.code else 0
    counts = dict.fromkeys(('right', 'wrong', 'truncated') + KINDS, 0)
    complaints = []
    for path in args.files:
        try:
            complaints += check_capture(path, counts)
        except (OSError, CaptureError, struct.error) as why:
            print(f'icrc.py: {path}: {why}', file=sys.stderr)
            return UNREADABLE

    print(json.dumps(counts) if args.json else
          'icrc ' + ' '.join(f'{name} {count}' for name, count in counts.items()))
    for line in complaints[:10]:
        print(f'icrc.py: {line}', file=sys.stderr)
    absent = [kind for kind in args.require if not counts[kind]]
    where = args.files[0] if len(args.files) == 1 else f'{len(args.files)} captures'
    if counts['wrong']:
        return WRONG
    if not counts['right']:
        print(f'icrc.py: {where}: no RoCE frame that could be checked', file=sys.stderr)
        return NONE_FOUND
    if absent:
        print(f'icrc.py: {where}: no frame of kind {", ".join(absent)}', file=sys.stderr)
        return KIND_ABSENT
    return RIGHT


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
