# SPDX-License-Identifier: Apache-2.0
"""Loses, retransmits and resets packets of the loopback device, a known number of each, in a cgroup and
the network namespace of this process. All happens within calls of this process, so that it is the one
that the kernel has for each packet.

    packets.py CGROUP loss|retransmission|reset COUNT

Prints what the kernel counted, for the names in COUNTERS: {"NAME": NUMBER}.
"""

import ctypes
import json
import os
import pathlib
import socket
import struct
import subprocess
import sys

SO_ATTACH_FILTER, SO_DETACH_FILTER = 26, 27
DROP_ALL = struct.pack("HBBI", 6, 0, 0, 0)  # BPF_RET | BPF_K, 0: no byte of a packet is kept
COUNTERS = ("Udp:NoPorts", "Tcp:RetransSegs", "TcpExt:TCPTimeouts", "Tcp:OutRsts")


def loss(count):
    """Datagrams to a port that nobody has."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        for _ in range(count):
            sock.sendto(b"x", ("127.0.0.1", 9))


def attach_filter(sock, code):
    code = ctypes.create_string_buffer(code)
    sock.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HxxxxxxQ", 1, ctypes.addressof(code)))


def retransmission(count):
    """A segment that the receiver drops, and five that it confirms: the third of these confirmations lets the
    sender send the first one again, while it sends."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        for _ in range(count):
            with socket.socket() as sender:
                sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")  # without a timer between segments
                sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                sender.connect(server.getsockname())
                with server.accept()[0] as receiver:
                    attach_filter(receiver, DROP_ALL)
                    sender.send(b"0")
                    receiver.setsockopt(socket.SOL_SOCKET, SO_DETACH_FILTER, 0)
                    for _ in range(5):
                        sender.send(b"1")
                    received = b""
                    while len(received) < 6:
                        received += receiver.recv(6)


def reset(count):
    """Connections to a port at which nobody listens: the kernel answers each with a reset."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        for _ in range(count):
            with socket.socket() as sock:
                sock.connect_ex(unused.getsockname())


def counters():
    counts = {}
    for path in ("/proc/self/net/snmp", "/proc/self/net/netstat"):
        lines = pathlib.Path(path).read_text().splitlines()
        for names, numbers in zip(lines[::2], lines[1::2]):
            protocol, *names = names.split()
            counts |= {protocol + name: int(number) for name, number in zip(names, numbers.split()[1:])}
    return {name: counts[name] for name in COUNTERS}


if __name__ == "__main__":
    pathlib.Path(sys.argv[1], "cgroup.procs").write_text(str(os.getpid()))
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    # Nothing is sent again by a timer: timers run in any process.
    pathlib.Path("/proc/sys/net/ipv4/tcp_early_retrans").write_text("0")
    before = counters()
    {"loss": loss, "retransmission": retransmission, "reset": reset}[sys.argv[2]](int(sys.argv[3]))
    print(json.dumps({name: count - before[name] for name, count in counters().items()}))
