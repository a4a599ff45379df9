"""An HTTP proxy in front of an S3 engine, which answers wrongly, cuts, delays and limits as a test says."""

import re
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

_HEAD_END = b"\r\n\r\n"
_LINE_END = b"\r\n"
_PIECE = 64 * 1024


class Closed(Exception):
    """A side has closed its connection, or the proxy does."""


@dataclass
class Fault:
    """What happens to matching requests, `times` times."""

    #: Matches the head of a request, e.g. `PUT /data/robots/data/`.
    pattern: re.Pattern
    times: int = 1
    #: The response in place of the engine's: its status and code. The engine gets nothing.
    error: tuple[int, str] | None = None
    #: The number of bytes of the request's body after which both connections are closed.
    cut_body: int | None = None
    #: The number of bytes of the response's body after which both connections are closed.
    cut_response: int | None = None
    #: Whether the engine does what it was asked, and its response is lost.
    loses_response: bool = False
    #: Changes the head of the response.
    alter: Callable[[bytes], bytes] | None = None
    #: Called when the head of the request has arrived.
    before: Callable[[], None] | None = None


class Stream:
    """One direction of a connection."""

    def __init__(self, source: socket.socket):
        self.source = source
        self.kept = b""

    def head(self) -> bytes:
        return self.until(_HEAD_END)

    def until(self, end: bytes) -> bytes:
        """Returns the bytes up to `end`, with it."""
        while end not in self.kept:
            self.kept += self.receive()
        count = self.kept.index(end) + len(end)
        found, self.kept = self.kept[:count], self.kept[count:]
        return found

    def receive(self) -> bytes:
        if not (data := self.source.recv(_PIECE)):
            raise Closed
        return data

    def pieces(self, length: int):
        """Yields the pieces of a body."""
        while length > 0:
            data, self.kept = self.kept or self.receive(), b""
            piece, self.kept = data[:length], data[length:]
            length -= len(piece)
            yield piece

    def chunks(self):
        """Yields the pieces of a chunked body, as they are."""
        size = 1
        while size > 0:
            line = self.until(_LINE_END)
            size = int(line.split(b";")[0], 16)
            yield line
            yield from self.pieces(size)
            # A trailer has no fields.
            yield self.until(_LINE_END)


def _length(head: bytes) -> int:
    found = re.search(rb"\r\ncontent-length: *(\d+)", head, re.IGNORECASE)
    return int(found[1]) if found else 0


def _is_chunked(head: bytes) -> bool:
    return re.search(rb"\r\ntransfer-encoding: *chunked", head, re.IGNORECASE) is not None


class BucketProxy:
    """Clients connect to `address`, and their requests go to `target`, both `host:port`."""

    def __init__(self, target: str, rate: int | None = None, idle: float | None = None):
        """`rate`: bytes a second of all bodies together; `idle`: seconds without bytes after which connections are closed."""
        self.target, self.rate, self.idle = target, rate, idle
        self.faults: list[Fault] = []
        #: The number of requests of each kind that met a fault.
        self.met = 0
        #: The number of connections that were closed because they were idle.
        self.idle_closed = 0
        self._lock = threading.Lock()
        self._due = 0.0
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def add(self, pattern: str, **fault) -> Fault:
        added = Fault(re.compile(pattern), **fault)
        with self._lock:
            self.faults.append(added)
        return added

    def forget(self) -> None:
        with self._lock:
            self.faults = []

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        server = None
        try:
            client.settimeout(self.idle)
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            host, port = self.target.rsplit(":", 1)
            server = socket.create_connection((host, int(port)), timeout=10)
            server.settimeout(None)
            server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            requests, responses = Stream(client), Stream(server)
            while True:
                self._exchange(client, server, requests, responses)
        except TimeoutError:
            with self._lock:
                self.idle_closed += 1
        except (Closed, OSError):
            pass
        finally:
            for each in filter(None, (client, server)):
                each.close()

    def _find(self, head: str) -> Fault | None:
        with self._lock:
            for fault in self.faults:
                if fault.times and fault.pattern.search(head):
                    fault.times -= 1
                    self.met += 1
                    return fault
        return None

    def _exchange(self, client, server, requests: Stream, responses: Stream) -> None:
        head = requests.head()
        line = head.split(b"\r\n", 1)[0].decode()
        fault = self._find(head.decode("latin-1")) or Fault(re.compile(""))
        if fault.before:
            fault.before()
        if fault.error:
            for _ in requests.pieces(_length(head)):
                pass
            status, code = fault.error
            body = f"<Error><Code>{code}</Code><Message>of the proxy</Message></Error>".encode()
            date = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime())
            fields = f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\nDate: {date}\r\n\r\n"
            client.sendall(fields.encode() + (b"" if line.startswith("HEAD") else body))
            return
        server.sendall(head)
        self._pass(requests.pieces(_length(head)), server, fault.cut_body)
        reply = responses.head()
        while reply.startswith(b"HTTP/1.1 1"):
            reply = responses.head()
        if fault.loses_response:
            raise Closed
        client.sendall(fault.alter(reply) if fault.alter else reply)
        if not line.startswith("HEAD"):
            body = responses.chunks() if _is_chunked(reply) else responses.pieces(_length(reply))
            self._pass(body, client, fault.cut_response)

    def _pass(self, pieces: Iterable[bytes], sink: socket.socket, cut: int | None) -> None:
        passed = 0
        for piece in pieces:
            if cut is not None and passed + len(piece) > cut:
                sink.sendall(piece[: cut - passed])
                raise Closed
            self._wait(len(piece))
            sink.sendall(piece)
            passed += len(piece)

    def _wait(self, count: int) -> None:
        """Waits until the rate permits so many bytes."""
        if not self.rate:
            return
        with self._lock:
            now = time.monotonic()
            # At most 5 ms of unused time are kept.
            self._due = max(self._due, now - 0.005) + count / self.rate
            pause = self._due - now
        if pause > 0:
            time.sleep(pause)


def main(target: str, rate: str) -> None:
    """Prints the address of a proxy with the rate, and serves until standard input ends."""
    proxy = BucketProxy(target, rate=int(rate) or None)
    print(proxy.address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
