#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Traffic while links, ports and the switch itself go away and come back; and frames of every size."""
import signal
import sys
import threading
import time

sys.dont_write_bytecode = True
import field
import lab
from field import frame, name

A, B, C, D = range(4)
LEN = 200
BUFFERS = lab.LOSSLESS.replace('xoff = "200KiB"', 'xoff = "50KiB"')
# From SIGKILL to the next frame on its way. The bound is for a busy machine; what it took is printed.
BACK_SECONDS = 2.0


class Stream:
    """Frames from one port's peer to another's in a thread, one every `gap` seconds, numbered from 0."""

    def __init__(self, test, src, dst, gap=0.002, dscp=3):
        self.sent, self.running = 0, True
        self.source, self.target = test.peers[src], test.peers[dst]
        self.gap, self.dscp = gap, dscp
        self.thread = threading.Thread(target=self.work)
        self.thread.start()
        test.addCleanup(self.end)

    def work(self):
        while self.running:
            try:
                self.source.raw.send(frame(self.source.mac, self.target.mac, LEN, self.dscp, number=self.sent))
                self.sent += 1
            except OSError:     # a link that is down takes nothing
                pass
            time.sleep(self.gap)

    def end(self):
        self.running = False
        self.thread.join()
        return self.sent


class Flaps(field.FieldTest):
    SPEED, CONFIG, PORT = '', BUFFERS, lab.LOSSLESS_PORT

    def down_and_up(self, port):
        self.peers[port].link(False)
        self.switch.wait_link(name(port), up=False)
        self.peers[port].link(True)
        self.switch.wait_link(name(port))
        self.announce(port)

    def numbers_at(self, port):
        return [field.number_of(f) for f in self.peers[port].data() if f[:6] == field.mac_bytes(self.peers[port].mac)]

    def test_single_port_up_down(self):
        """A port that goes down takes nothing and holds nothing back; when it is up again, all passes."""
        self.send(A, B, 5, LEN, dscp=26)
        self.take(B, 5)
        self.peers[B].link(False)
        self.switch.wait_link(name(B), up=False)
        self.send(A, C, 5, LEN, dscp=26)
        self.take(C, 5)
        self.assertEqual(self.drops(), {})
        self.peers[B].link(True)
        self.switch.wait_link(name(B))
        self.announce(B)
        self.send(A, B, 5, LEN, dscp=26)
        self.take(B, 5)
        self.assertEqual(self.drops(), {})

    def test_port_flaps_under_traffic(self):
        """One port goes down and up five times under traffic: what flows between others loses nothing and
        keeps its order, and what goes to the flapping port arrives each time it is up."""
        others, flapping = Stream(self, A, B, dscp=26), Stream(self, C, D, dscp=26)
        for _ in range(5):
            self.peers[D].received()
            self.down_and_up(D)
            seen = []
            field.wait_for(lambda: seen.extend(self.numbers_at(D)) or len(seen) > 5, 20, 'traffic at the port')
            self.assertEqual(seen, sorted(seen))
        flapping.end()
        sent = others.end()
        got = []
        field.wait_for(lambda: got.extend(self.numbers_at(B)) or len(got) >= sent, 20, 'all of the others')
        self.assertEqual(got, list(range(sent)))
        self.assertGreater(sent, 50)
        self.assertEqual([reason for port, reason in self.drops() if port in (A, B)], [])

    def test_min_frame_size_no_loss(self):
        """5000 frames of 60 bytes (64 with FCS), as fast as they are taken in, to a port without congestion."""
        self.send(A, B, 5000, 60, dscp=26)
        self.drain()
        self.wait_stat(5000, B, 'port', 0, 'if_out_ucast_pkts')
        self.assertEqual(self.drops(), {})
        self.assertEqual([self.port(A, key) for key in ('rx_no_buffer', 'rx_missed')], [0, 0])

    def test_packet_drop_threshold(self):
        """Every size up to the MTU passes, none above it does."""
        for length in (60, 64, 65, 128, 256, 512, 1024, 1280, 1513, 1514):
            self.send(A, B, 20, length, dscp=26)
            self.assertEqual({len(f) for f in self.take(B, 20)}, {length})
        self.assertEqual(self.drops(), {})
        lab.run('ip', 'link', 'set', self.peers[A].port, 'mtu', '4000')     # else the cable drops them
        lab.run('ip', '-n', self.peers[A].name, 'link', 'set', 'eth0', 'mtu', '4000')
        for sent, length in enumerate((1515, 2000), 1):
            self.post(A, B, 20, length, dscp=26)
            self.wait_stat(20 * sent, A, 'drop', 0, 'FRAME_OVERSIZE')
        self.send(A, B, 1, 60, dscp=26)
        self.assertEqual({len(f) for f in self.take(B, 1)}, {60})
        self.assertEqual(self.drops(), {(A, 'FRAME_OVERSIZE'): 40})


class Restart(field.FieldTest):
    PORTS, SPEED, CONFIG, PORT, FLOOD = 3, '', BUFFERS, lab.LOSSLESS_PORT, ''

    def restarted(self, number):
        """Ends the switch under traffic and starts it again; returns seconds until a frame arrives."""
        stream = Stream(self, A, B, dscp=26)
        field.wait_for(self.peers[B].data, 10, 'traffic')
        killed = time.monotonic()
        type(self).stopped = self.switch.process
        if number == signal.SIGTERM:
            self.switch.end()
        else:
            self.switch.stop(number)
        self.peers[B].received()
        self.switch.launch()
        self.addClassCleanup(self.stop)
        field.wait_for(self.peers[B].data, lab.START_SECONDS, 'traffic again')
        seconds = time.monotonic() - killed
        sent = stream.end()
        field.wait_for(self.switch.is_ready, lab.START_SECONDS, 'ready')
        self.assertGreater(sent, 10)
        return seconds

    def assert_warm(self):
        """The configuration is the last one and addresses are known: nothing was flooded, though it might have
        been. (A frame that comes when its own port is up and the destination's is not yet makes the switch ask.)"""
        macs = {entry['mac']: entry['port'] for entry in self.switch.get('/v1/mac')['entries']}
        self.assertEqual(macs, {p.mac: name(i) for i, p in enumerate(self.peers)})
        self.assertEqual([f for f in self.peers[C].data() if f[:6] == field.mac_bytes(self.peers[B].mac)], [])
        self.assertEqual([p['name'] for p in self.switch.ports()], [name(A), name(B), name(C)])
        self.assertEqual(self.switch.port(name(A))['pfc_enable'], 1 << 3)
        for port in range(self.PORTS):
            self.switch.wait_link(name(port))

    def test_restart_under_traffic(self):
        """SIGKILL: the next process has the last configuration and addresses, and forwards within 2 s; the
        bound here is twice that."""
        seconds = self.restarted(signal.SIGKILL)
        print(f'# SIGKILL to the next frame: {seconds:.2f} s', flush=True)
        self.assertLess(seconds, 2 * BACK_SECONDS)
        self.assert_warm()

    def test_warm_restart(self):
        """An orderly end: the same, and every frame of the old process is accounted for."""
        seconds = self.restarted(signal.SIGTERM)
        print(f'# SIGTERM to the next frame: {seconds:.2f} s', flush=True)
        self.assert_warm()


if __name__ == '__main__':
    field.main()
