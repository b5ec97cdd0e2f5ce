#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two switches on one software link: a path across both, and what happens when either restarts."""
import signal
import socket
import subprocess
import sys

sys.dont_write_bytecode = True
import lab

SO_RCVBUFFORCE = 33     # of Linux; Python has no name for it


class Link(lab.SmokeTest):
    """Host - left - link - right - host. `near` listens on the socket, `far` connects to it."""

    def path(self, near, far, mtu=1500, more=''):
        a, b = lab.Host(self, 1), lab.Host(self, 2)
        left, right = (lab.Switch(self, name, (
            lab.veth_port('Ethernet0', host, index, mtu=mtu),
            f'name = "Ethernet4"; devargs = "{link.format(self.dir / "link.sock")}"; mtu = {mtu}; {more}'))
            for index, (name, host, link) in enumerate((('left', a, near), ('right', b, far))))
        return a, b, left, right

    def wait_linked(self, *switches):
        for switch in switches:
            switch.wait_link('Ethernet0')
            switch.wait_link('Ethernet4')

    def restarts(self, near, far):
        a, b, left, right = self.path(near, far)
        left.start()
        right.start()
        self.wait_linked(left, right)
        self.assertEqual(a.ping(b, '-s', '1400'), 3)
        for first, other in ((right, left), (left, right)):
            with self.subTest(killed=first.name):
                first.kill()
                other.wait_link('Ethernet4', up=False)
                first.start()
                self.wait_linked(left, right)
                a.reach(b)
        self.assert_conserved(right)
        self.assert_conserved(left)


class Memif(Link):
    NEAR = 'net_memif0,role=server,socket={},socket-abstract=no,rsize=6'
    FAR = 'net_memif1,role=client,socket={},socket-abstract=no,rsize=6'

    def test_restarts(self):
        self.restarts(self.NEAR, self.FAR)

    def test_jumbo(self):
        """Frames of several segments. Slots of the ring are as long as the MTU needs, or the port is refused: the
        driver loses count of frames that take several. Small frames among long ones, more at once than there are
        slots."""
        mtu, batch, batches = 9000, 80, 5
        a, b, left, right = self.path(self.NEAR, self.FAR, mtu=mtu)
        done = subprocess.run([lab.SWITCH, '--check', '-c', left.config], capture_output=True, text=True, timeout=60,
                              check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('port Ethernet4: MTU 9000 is not possible with net_memif, at most 2026: a frame must fit in a slot',
                      done.stdout + done.stderr)
        left.config.write_text(left.config.read_text().replace('rsize=6', 'rsize=6,bsize=9024'))
        for host in (a, b):
            host.run('ip', 'link', 'set', 'eth0', 'mtu', str(mtu))
        left.start()
        right.start()
        self.wait_linked(left, right)
        self.assertIn('bsize=9024', right.port('Ethernet4')['devargs'])
        self.assertEqual(a.ping(b, '-s', '8972', '-M', 'do'), 3)
        raw, taken = a.raw_socket(), b.raw_socket()
        taken.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 24)
        taken.settimeout(20 * lab.PATIENCE)
        for first in range(0, batch * batches, batch):
            sent = [(number, 14 + mtu if number % 3 else 60) for number in range(first, first + batch)]
            for number, size in sent:
                raw.send(lab.udp_frame(a.mac, b.mac, size, 0, number))
            got = []
            while len(got) < batch:
                frame = taken.recv(1 << 14)
                if frame[:6] == lab.mac_bytes(b.mac) and frame[23] == 17:
                    got.append((int.from_bytes(frame[42:46], 'big'), len(frame)))
            self.assertEqual(got, sent)
        self.assertEqual(lab.drops(left, right), [])
        self.assert_conserved(right)
        self.assert_conserved(left)

    def test_hellos(self):
        """A peer that stands still keeps its carrier; hellos tell, within 10 x 100 ms."""
        a, b, left, right = self.path(self.NEAR, self.FAR, more='role = "fabric";')
        left.start()
        right.start()
        self.wait_linked(left, right)

        def hello(state):
            lab.wait_for(lambda: left.port('Ethernet4')['hello']['state'] == state, 5,
                         f'{state}; {left.port("Ethernet4")["hello"]}')
            return left.port('Ethernet4')['hello']

        self.assertEqual((hello('up')['peer'], hello('up')['peer_port']), ('right', 'Ethernet4'))
        self.assertEqual(a.ping(b), 3)
        right.process.send_signal(signal.SIGSTOP)
        self.addCleanup(right.process.send_signal, signal.SIGCONT)
        gone = hello('silent')
        self.assertEqual((gone['carrier'], gone['used']), (True, False))
        self.assertIn('Ethernet4: not used: no hello from the peer any more', left.log())
        right.process.send_signal(signal.SIGCONT)
        self.assertTrue(hello('up')['used'])
        a.reach(b)
        self.assert_conserved(left)
        self.assert_conserved(right)

    def test_client_first(self):
        """A client that finds no server yet tries until there is one."""
        a, b, left, right = self.path(self.NEAR, self.FAR)
        right.start()
        self.assertFalse(right.port('Ethernet4')['present'])
        left.start()
        self.wait_linked(left, right)
        self.assertEqual(a.ping(b), 3)
        self.assert_conserved(left)
        self.assert_conserved(right)

    def test_one_process(self):
        """One process, two configurations, two switches."""
        a, b, left, right = self.path(self.NEAR, self.FAR)
        left.args = ('-c', right.config)
        left.start()
        self.wait_linked(left, right)
        self.assertEqual(a.ping(b), 3)
        self.assertEqual(left.stop(), 0)
        for name in ('left', 'right'):
            self.assertIn(f'{name}: every packet is accounted for', left.log())


class Vhost(Link):
    def test_restarts(self):
        self.restarts('net_vhost0,iface={}', 'net_virtio_user0,path={}')

    def test_interrupts(self):
        """With vhost ports alone an idle core waits for its guests' notifications."""
        a, b = lab.Host(self, 1), lab.Host(self, 2)
        ends = [self.dir / f'{i}.sock' for i in range(2)]
        middle = lab.Switch(self, 'middle', [
            f'name = "Ethernet{i}"; devargs = "net_vhost{i},iface={end}"; mtu = 1500;'
            for i, end in enumerate(ends)]).start()
        outer = [lab.Switch(self, f'outer{i}', (
            lab.veth_port('Ethernet0', host, 0),
            f'name = "Ethernet4"; devargs = "net_virtio_user0,path={end}"; mtu = 1500;')).start()
            for i, (host, end) in enumerate(zip((a, b), ends))]
        self.wait_linked(*outer)
        for i in range(2):
            middle.wait_link(f'Ethernet{i}')
        waits = lambda: middle.get('/v1/lcore')['lcores'][0]['interrupt_waits']
        before = waits()
        lab.wait_for(lambda: waits() > before, 10, 'waiting for interrupts', every=1)
        for _ in range(3):
            self.assertEqual(a.ping(b, '-W', '1', count=1), 1)
        for switch in (*outer, middle):
            self.assert_conserved(switch)


if __name__ == '__main__':
    lab.main()
