"""Sending over slow connections: a connection has failed if no byte moves, however long all of them take."""

from __future__ import annotations

import contextlib
import fcntl
import select
import socket
import ssl
import struct
import sys
import termios
import time

#: The longest time between two looks at a connection, in seconds.
_LONGEST_LOOK = 0.5
#: SO_NWRITE of macOS: the number of bytes that wait to be sent.
_SO_NWRITE = 0x1024


def is_answered(connection: socket.socket) -> bool:
    """Whether a reply has arrived, or the peer has closed the connection; waits until that, or until bytes can be sent.

    It is not known with TLS, where the bytes that arrive may be of the protocol itself.
    Raises OSError if neither happens in the timeout of the connection.
    """
    if isinstance(connection, ssl.SSLSocket):
        return False
    poll = select.poll()
    poll.register(connection, select.POLLIN | select.POLLOUT)
    timeout = connection.gettimeout()
    found = poll.poll(None if timeout is None else timeout * 1000)
    if not found:
        raise socket.timeout("the connection is silent")
    return bool(found[0][1] & select.POLLIN)


def wait_until_sent(connection: socket.socket, timeout: float) -> None:
    """Waits until the peer has acknowledged all bytes, or replies.

    The system accepts megabytes before they are sent, for which a slow connection needs longer than a reply may take.
    Raises OSError if the peer acknowledges no byte for the time of `timeout`.
    """
    left, moved, look = _unacknowledged(connection), time.monotonic(), 0.01
    while left > 0:
        if isinstance(connection, ssl.SSLSocket):
            time.sleep(look)
        elif _has_bytes(connection, look):
            return
        look = min(2 * look, _LONGEST_LOOK)
        former, left = left, _unacknowledged(connection)
        if left < former:
            moved = time.monotonic()
        elif time.monotonic() - moved >= timeout:
            raise socket.timeout("the connection is silent")


def _has_bytes(connection: socket.socket, seconds: float) -> bool:
    # select() cannot wait for descriptors from 1,024 on.
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    return bool(poll.poll(int(seconds * 1000)))


def _unacknowledged(connection: socket.socket) -> int:
    """Returns the number of bytes that the peer has not acknowledged; 0 where the system does not tell."""
    with contextlib.suppress(OSError):
        if sys.platform == "darwin":
            return connection.getsockopt(socket.SOL_SOCKET, _SO_NWRITE)
        data = fcntl.ioctl(connection.fileno(), termios.TIOCOUTQ, b"\0" * 4)
        return int(struct.unpack("i", data)[0])
    return 0
