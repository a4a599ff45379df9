"""Clients with little overhead compared with the store under load: sequential GETs, and PUTs over many connections."""

import http.client
import re
import selectors
import socket
import ssl
import time
from pathlib import Path
from urllib.parse import urlsplit

BUFFER = 1 << 20


class Reader:
    """GETs of one object on one connection, whole or in ranges."""

    def __init__(self, url: str, authority: Path | None = None):
        parts = urlsplit(url)
        if parts.scheme == "https":
            context = ssl.create_default_context(cafile=authority)
            self.connection = http.client.HTTPSConnection(parts.netloc, timeout=60, context=context)
        else:
            self.connection = http.client.HTTPConnection(parts.netloc, timeout=60)
        self.target = parts.path + (f"?{parts.query}" if parts.query else "")
        self.buffer = memoryview(bytearray(BUFFER))

    def read(self, expected: int, first: int | None = None) -> None:
        """Reads `expected` bytes, of the whole object or from `first` on."""
        headers = {} if first is None else {"Range": f"bytes={first}-{first + expected - 1}"}
        self.connection.request("GET", self.target, headers=headers)
        reply = self.connection.getresponse()
        assert reply.status == (200 if first is None else 206), reply.read()
        count = 0
        while taken := reply.readinto(self.buffer):
            count += taken
        assert count == expected, (count, expected)

    def close(self) -> None:
        self.connection.close()


def request(method: str, address: str, target: str, headers: dict[str, str], body: bytes) -> bytes:
    """Returns the bytes of an HTTP/1.1 request."""
    fields = {"Host": address, "Content-Length": str(len(body))} | headers
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def _is_complete(answer: bytes) -> bool:
    """Returns whether the response with a declared length has arrived."""
    head, end, body = answer.partition(b"\r\n\r\n")
    length = re.search(rb"\r\ncontent-length: *(\d+)", head, re.IGNORECASE)
    return bool(end) and len(body) >= (int(length[1]) if length else 0)


def send_all(address: str, requests: list[bytes], connections: int) -> float:
    """Sends each request once, over whichever connection has its response; every response must be 200.

    Returns the seconds from the first byte to the last response.
    """
    host, port = address.rsplit(":", 1)
    waiting = list(reversed(requests))
    with selectors.DefaultSelector() as selector:
        peers = [socket.create_connection((host, int(port)), timeout=60) for _ in range(connections)]
        began = time.perf_counter()
        for peer in peers:
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            selector.register(peer, selectors.EVENT_READ)
            peer.sendall(waiting.pop())
        answered = 0
        answers = dict.fromkeys(peers, b"")
        while answered < len(requests):
            for ready, _ in selector.select():
                answers[ready.fileobj] += ready.fileobj.recv(BUFFER)
                answer = answers[ready.fileobj]
                assert answer.startswith(b"HTTP/1.1 200 "), answer
                if not _is_complete(answer):
                    continue
                answers[ready.fileobj] = b""
                answered += 1
                if waiting:
                    ready.fileobj.sendall(waiting.pop())
        seconds = time.perf_counter() - began
        for peer in peers:
            peer.close()
    return seconds
