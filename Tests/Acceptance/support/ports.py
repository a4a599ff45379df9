"""Ports for servers under test.

They are outside of the range from which the kernel takes the ports of outgoing connections. A server that is restarted on its
port would otherwise find it taken by a connection of any process on the machine.
"""

import itertools
import os
import socket

#: Below the first port of outgoing connections, which is 32768 unless somebody configured it.
PORTS = range(10_000, 32_768)


def _candidates():
    """Yields ports for ever, from the share of this process among the workers of the test run."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    share = PORTS[worker::workers]
    # Two test runs on one machine begin at different ports.
    first = os.getpid() * 97 % len(share)
    return itertools.cycle([*share[first:], *share[:first]])


_ports = _candidates()


def free_port() -> int:
    """Returns a port of 127.0.0.1 on which nothing listens, and which no other call returns soon."""
    for port in itertools.islice(_ports, len(PORTS)):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError(f"no port of {PORTS} is free")
