"""Ports for servers that need to know theirs before they start, and for addresses at which nobody is."""

import random
import socket
from pathlib import Path

_FIRST = 15_000
_HANDED_OUT = Path("/proc/sys/net/ipv4/ip_local_port_range")


def free_port():
    """A port of loopback on which nobody listens, and which no process is given that asks the system for any.

    Whoever takes one that the system had just given, and lets it go, may find it given to another process meanwhile.
    """
    first_handed_out = int(_HANDED_OUT.read_text(encoding="ascii").split()[0])
    while True:
        port = random.randrange(_FIRST, max(first_handed_out, _FIRST + 5_000))  # other processes choose at random, too
        with socket.socket() as taken:
            try:
                taken.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
