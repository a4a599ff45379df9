"""A TCP proxy that counts, cuts, holds, delays and repeats, with hooks for tests: the network between client and gateway."""

import re
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

#: The limit for each wait of a connection for the test, which is longer than those of the test.
HOLD_TIMEOUT = 180
#: The reply that only asks for the body.
INTERIM_REPLY = re.compile(rb"HTTP/1\.1 100 [^\r]*\r\n\r\n")
#: The number of bytes of a connection that can be repeated.
KEPT_BYTES = 2 * 1024 * 1024


@dataclass
class Hook:
    """A function that is called once, on the connection's own thread, when a request matches."""

    pattern: re.Pattern
    action: Callable[[], None]
    #: The bytes of the request's body that are passed on before; `None` = called when the reply arrives.
    after: int | None = 0
    #: How often it is still called.
    times: int = 1


@dataclass
class Exchange:
    """The state of a connection in its HTTP requests, which is needed to find the next one's beginning."""

    #: All bytes from the client, as long as they are few enough to be repeated.
    kept: bytes | None = b""
    head: bytes = b""
    #: The request whose body is being passed on.
    line: str = ""
    body_passed: int = 0
    body_left: int = 0
    #: The requests whose replies have not begun.
    waiting: list[str] = field(default_factory=list)


class Proxy:
    """A proxy: clients connect to `address`; their bytes go to `target`, both `host:port`.

    With `http`, requests are distinguished, and `before` and `on_reply` can be used.
    """

    def __init__(self, target: str = "", http: bool = False):
        self.target = target
        self.http = http
        #: The bytes from clients that were passed on.
        self.sent = 0
        #: The part of them that were bodies of PUTs: objects and parts.
        self.bodies = 0
        #: The bytes to clients that were passed on.
        self.received = 0
        self.connections = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._lock = threading.Lock()
        self._sockets: set[socket.socket] = set()
        self._hooks: list[Hook] = []
        self._cut_at: list[int] = []
        self._on_received: list[tuple[int, Callable[[], None]]] = []
        self._held: dict[str, threading.Event] = {}
        self._open, self._flow = threading.Event(), threading.Event()
        self._open.set()
        self._flow.set()
        #: The bytes of the last connection that ended, if they can be repeated.
        self._kept: bytes | None = None
        threading.Thread(target=self._accept, daemon=True).start()

    # Operations for tests

    def before(self, pattern: str, action: Callable[[], None], after: int = 0) -> None:
        """Calls `action` before a matching request is passed on, or after `after` bytes of its body."""
        self._hooks.append(Hook(re.compile(pattern), action, after))

    def on_reply(self, pattern: str, action: Callable[[], None], times: int = 1) -> None:
        """Calls `action` when the reply to a matching request has arrived, before it is passed on."""
        self._hooks.append(Hook(re.compile(pattern), action, None, times))

    def cut_at(self, *totals: int) -> None:
        """Cuts every connection whenever the total of bytes from clients reaches one of these numbers."""
        with self._lock:
            self._cut_at = sorted(self._cut_at + list(totals))

    @property
    def cuts_to_come(self) -> int:
        return len(self._cut_at)

    def on_received(self, total: int, action: Callable[[], None]) -> None:
        """Calls `action` once, when the total of bytes to clients reaches this number, before more are passed on."""
        with self._lock:
            self._on_received.append((total, action))

    def forget(self) -> None:
        """Removes all hooks."""
        with self._lock:
            self._hooks, self._cut_at, self._on_received = [], [], []

    def hold(self, direction: str) -> threading.Event:
        """Blocks all bytes `up` or `down` until `release`; the returned event is set when bytes are waiting."""
        self._open.clear()
        self._held[direction] = threading.Event()
        return self._held[direction]

    def release(self) -> None:
        """Ends every hold; blocked bytes are lost with their connections."""
        self._held = {}
        self.cut()
        self._open.set()

    def pause(self) -> None:
        """Blocks all bytes, without losing any, until `resume`."""
        self._flow.clear()

    def resume(self) -> None:
        self._flow.set()

    def repeat(self) -> bool:
        """Sends the bytes of the last connection that ended once more, as a network may; the responses are dropped.

        Returns whether there was such a connection.
        """
        if not self._kept:
            return False
        host, port = self.target.rsplit(":", 1)
        try:
            with socket.create_connection((host, int(port)), timeout=1) as server:
                server.sendall(self._kept)
                while server.recv(65536):
                    pass
        except OSError:
            # Nothing more arrives: everything was answered.
            pass
        return True

    def cut(self) -> None:
        """Closes every connection, like a broken network."""
        with self._lock:
            sockets, self._sockets = self._sockets, set()
        for each in sockets:
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self) -> None:
        self._listener.close()
        self.resume()
        self.release()

    # Connections

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        host, port = self.target.rsplit(":", 1)
        try:
            server = socket.create_connection((host, int(port)), timeout=10)
        except OSError:
            client.close()
            return
        server.settimeout(None)
        with self._lock:
            self._sockets |= {client, server}
        exchange = Exchange()
        down = threading.Thread(target=self._pump, args=(server, client, "down", exchange), daemon=True)
        down.start()
        self._pump(client, server, "up", exchange)
        down.join()
        with self._lock:
            self._sockets -= {client, server}
            self._kept = exchange.kept
        client.close()
        server.close()

    def _pump(self, source: socket.socket, sink: socket.socket, direction: str, exchange: Exchange) -> None:
        try:
            while data := source.recv(65536):
                if (held := self._held.get(direction)) is not None:
                    held.set()
                    self._open.wait(HOLD_TIMEOUT)
                    return
                self._flow.wait(HOLD_TIMEOUT)
                if direction == "up" and exchange.kept is not None:
                    exchange.kept = exchange.kept + data if len(exchange.kept) + len(data) <= KEPT_BYTES else None
                if direction == "down":
                    self._reply(data, exchange)
                    self._pass_down(data, sink)
                else:
                    for piece, is_body in self._requests(data, exchange) if self.http else [(data, False)]:
                        if not self._pass_up(piece, sink, is_body):
                            return
        except OSError:
            pass
        finally:
            for each in (source, sink):
                try:
                    each.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def _pass_up(self, data: bytes, sink: socket.socket, is_body: bool) -> bool:
        with self._lock:
            cut = next((total for total in self._cut_at if self.sent < total <= self.sent + len(data)), None)
            if cut is not None:
                self._cut_at.remove(cut)
                data = data[: cut - self.sent]
            self.sent += len(data)
            self.bodies += len(data) if is_body else 0
        sink.sendall(data)
        if cut is not None:
            self.cut()
        return cut is None

    def _pass_down(self, data: bytes, sink: socket.socket) -> None:
        with self._lock:
            start = self.received
            due = next((each for each in self._on_received if start <= each[0] <= start + len(data)), None)
            if due is not None:
                self._on_received.remove(due)
            first = data if due is None else data[: due[0] - start]
            self.received += len(first)
        sink.sendall(first)
        if due is not None:
            due[1]()
            self._pass_down(data[len(first) :], sink)

    def _requests(self, data: bytes, exchange: Exchange):
        """Splits the bytes at the places of hooks; yields pieces, and whether each belongs to a body."""
        while data:
            if exchange.body_left == 0:
                exchange.head += data
                end = exchange.head.find(b"\r\n\r\n")
                if end < 0:
                    return
                head, data = exchange.head[: end + 4], exchange.head[end + 4 :]
                exchange.head = b""
                exchange.line = head.split(b"\r\n", 1)[0].decode()
                length = re.search(rb"\r\ncontent-length: *(\d+)", head, re.IGNORECASE)
                exchange.body_left, exchange.body_passed = int(length[1]) if length else 0, 0
                exchange.waiting.append(exchange.line)
                self._call(exchange.line, 0)
                yield head, False
                continue
            piece = data[: exchange.body_left]
            for hook in self._hooks:
                if hook.times and hook.after and hook.pattern.search(exchange.line):
                    piece = piece[: max(0, hook.after - exchange.body_passed)] or piece
            yield piece, exchange.line.startswith("PUT ")
            data = data[len(piece) :]
            exchange.body_passed += len(piece)
            exchange.body_left -= len(piece)
            self._call(exchange.line, exchange.body_passed)

    def _reply(self, data: bytes, exchange: Exchange) -> None:
        # A refusal may arrive before the body has been sent.
        if exchange.waiting and not INTERIM_REPLY.fullmatch(data):
            self._call(exchange.waiting.pop(0), None)

    def _call(self, line: str, passed: int | None) -> None:
        for hook in self._hooks:
            if not hook.times or not hook.pattern.search(line):
                continue
            if (hook.after is None and passed is None) or (
                hook.after is not None and passed is not None and passed >= hook.after
            ):
                hook.times -= 1
                hook.action()
