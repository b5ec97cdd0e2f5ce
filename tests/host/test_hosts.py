#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Test hosts over memif: back to back, and around a switch that must not lose what they pause."""
import json
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'smoke'))
import lab

MEMIF = 'net_memif{},role={},socket={},socket-abstract=no,rsize=5'
LOSSLESS = '''
descriptors = 12288;
buffer_pool = ( { name = "in"; type = "ingress"; size = "600000"; },
                { name = "out"; type = "egress"; size = "2000000"; } );
buffer_profile = (
  { name = "lossless"; pool = "in"; size = "100000"; xoff = "100000"; xon = "20000"; dynamic_th = -2; },
  { name = "lossy"; pool = "in"; dynamic_th = 0; },
  { name = "queue"; pool = "out"; static_th = "0"; } );
buffer_pg = ( { port = "all"; pg = "3"; profile = "lossless"; },
              { port = "all"; pg = "0-2,4-7"; profile = "lossy"; } );
buffer_queue = ( { port = "all"; queue = "0-7"; profile = "queue"; } );
map = ( { type = "tc_to_pg"; name = "three"; map = "3:3 *:0"; } );
'''


class Hosts(lab.SmokeTest):
    def host(self, number, link, role, *options):
        """Starts one host on its end of a link; its report comes from result()."""
        argv = [HOST, '--no-huge', '-m', '128', '--no-pci', '--no-telemetry', '--no-shconf',
                f'--file-prefix=host{number}', '--lcores=0@(0-1)',
                '--vdev=' + MEMIF.format(0, role, self.dir / link),
                '--', '--id', str(number), '--rate', '100M', '--seconds', '2', *options]
        process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        return process

    def result(self, process):
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)
        return json.loads(out.splitlines()[-1])

    def test_back_to_back(self):
        """A receiver at a twentieth of the rate pauses its peer; nothing is lost, nothing overflows."""
        receiver = self.host(1, 'link', 'server', '--receiver', '5M:500000:100000:50000', '--wait', '3s')
        lab.wait_for((self.dir / 'link').exists, 20, 'the listening end')
        sender = self.host(0, 'link', 'client', '--flow', '1:3:1024')
        sent = self.result(sender)['priorities'][3]
        got = self.result(receiver)['priorities'][3]
        self.assertGreater(got['rx_packets'], 500)
        self.assertEqual(got['rx_packets'], sent['tx_packets'])
        self.assertEqual((got['rx_lost'], got['rx_reordered'], got['rx_overflow']), (0, 0, 0))
        self.assertGreater(got['pfc_tx'], 2)
        self.assertEqual(sent['pfc_rx'], got['pfc_tx'])
        self.assertGreater(sent['paused_ns'], 10_000_000)

    def test_incast_through_switch(self):
        """Two at full rate to one of a tenth: the switch pauses both, and not a frame is lost."""
        ports = [f'name = "Ethernet{n}"; devargs = "{MEMIF.format(n, "server", self.dir / f"m{n}")}";'
                 f' mtu = 1500; speed = "{"10M" if n == 2 else "100M"}"; pfc_enable = "3"; tc_to_pg_map = "three";'
                 for n in range(3)]
        switch = lab.Switch(self, 'incast', ports, buffers=LOSSLESS).start()
        receiver = self.host(2, 'm2', 'client', '--wait', '4s')
        # It announces itself; before that, frames to it could only wait, and not many of them.
        lab.wait_for(lambda: switch.get('/v1/mac')['entries'], 20, 'the address of the receiver')
        senders = [self.host(n, f'm{n}', 'client', '--flow', '2:3:1024') for n in range(2)]
        sent = [self.result(process)['priorities'][3] for process in senders]
        got = self.result(receiver)['priorities'][3]
        drops = {f'Ethernet{n}': switch.port(f'Ethernet{n}')['drops'] for n in range(3)}
        self.assertEqual(got['rx_lost'], 0, drops)
        self.assertEqual(got['rx_reordered'], 0)
        for one in sent:
            self.assertGreater(one['paused_ns'], 0)
        self.assertEqual(got['rx_packets'], sum(one['tx_packets'] for one in sent))
        self.assertGreater(got['rx_packets'], 200)
        self.assert_conserved(switch)


if __name__ == '__main__':
    HOST = sys.argv.pop(2)
    lab.main()
