#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Has tshark judge what hosts in software say over LLDP and DCBX.

usage: test_lldp.py LLDP_WRITE [unittest arguments]

LLDP_WRITE writes the first and the last frame of hosts with and without DCBX, over IPv4 and IPv6, and
says what they should say; tshark must find the same, and nothing to complain about.
"""
import functools
import ipaddress
import pathlib
import subprocess
import sys
import tempfile
import unittest

LLDP_WRITE = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else 'lldp_write')

PRIORITIES = range(8)
# column of lldp_write -> fields of tshark, of which a frame has one
FIELDS = {
    'mac': ('lldp.chassis.id.mac',), 'ttl': ('lldp.time_to_live',), 'name': ('lldp.tlv.system.name',),
    'address': ('lldp.mgn.addr.ip4', 'lldp.mgn.addr.ip6'),
    'max_frame': ('lldp.ieee.802_3.max_frame_size',), 'roce': ('lldp.dcbx.ieee.app.prio',),
}
OTHER = ('eth.dst', 'eth.src', 'lldp.port.id.mac', 'lldp.tlv.enable_system_cap.station_only',
         'lldp.tlv.enable_system_cap', 'lldp.dcbx.ieee.willing', 'lldp.dcbx.iee.app.sf',
         'lldp.dcbx.feature.app.proto', '_ws.expert.message', '_ws.malformed',
         *(f'lldp.dcbx.feature.pfc.prio{i}' for i in PRIORITIES),
         *(f'lldp.dcbx.ieee.ets.tsa{i}' for i in PRIORITIES))


def number(name, text):
    """The value of a field as lldp_write prints it."""
    if text == '':
        return '-'
    if name == 'address':
        return ipaddress.ip_address(text).packed.hex()
    if name == 'mac':
        return text.replace(':', '')
    return text if name == 'name' else str(int(text, 0))


@functools.cache
def results():
    """(what should be said, what tshark found, other fields) for each frame."""
    names = [field for fields in FIELDS.values() for field in fields] + list(OTHER)
    with tempfile.NamedTemporaryFile(suffix='.pcap') as file:
        out = subprocess.run([LLDP_WRITE, file.name], check=True, capture_output=True, text=True)
        header, *lines = (line.split('\t') for line in out.stdout.splitlines())
        command = ['tshark', '-r', file.name, '-T', 'fields']
        command += [word for name in names for word in ('-e', name)]
        found = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = [dict(zip(names, line.split('\t'))) for line in found.splitlines()]
    wanted = [dict(zip(header, line)) for line in lines]
    assert len(rows) == len(wanted), f'{len(rows)} frames of {len(wanted)}'
    return [(want, {column: number(column, ''.join(row[field] for field in fields))
                    for column, fields in FIELDS.items()}, row)
            for want, row in zip(wanted, rows)]


class LldpTest(unittest.TestCase):
    def frames(self):
        for count, (want, found, other) in enumerate(results(), 1):
            with self.subTest(frame=count):
                yield want, found, other

    def test_every_host_is_there(self):
        self.assertEqual(len(results()), 3 * 2 * 2)     # DCBX, address, first and last frame
        self.assertEqual({want['willing'] for want, _, _ in results()}, {'-', '0', '1'})

    def test_nothing_to_complain_about(self):
        for _, _, other in self.frames():
            self.assertEqual(other['_ws.expert.message'] + other['_ws.malformed'], '')
            self.assertEqual(other['eth.dst'], '01:80:c2:00:00:0e')
            self.assertEqual(other['eth.src'], other['lldp.port.id.mac'])

    def test_fields_agree(self):
        for want, found, _ in self.frames():
            self.assertEqual({**found, 'willing': want['willing']}, want)

    def test_stations(self):
        for want, _, other in self.frames():
            capabilities = '' if want['ttl'] == '0' else '0x0080'
            self.assertEqual(other['lldp.tlv.enable_system_cap'], capabilities)

    def test_dcbx(self):
        for want, _, other in self.frames():
            said = want['willing'] != '-'
            # Of ETS, whose shares it does not follow, and of PFC.
            self.assertEqual(other['lldp.dcbx.ieee.willing'], f'0,{want["willing"]}' if said else '')
            for i in PRIORITIES:
                on = str(int(i == 3)) if said else ''
                self.assertEqual(other[f'lldp.dcbx.feature.pfc.prio{i}'], on, i)
                shares = ('2' if i in (0, 3) else '0') if said else ''
                self.assertEqual(other[f'lldp.dcbx.ieee.ets.tsa{i}'], shares, i)
            self.assertEqual(other['lldp.dcbx.iee.app.sf'], '3' if said else '')   # UDP
            self.assertEqual(other['lldp.dcbx.feature.app.proto'], '0x12b7' if said else '')   # 4791


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
