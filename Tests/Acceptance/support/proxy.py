"""A TCP proxy that counts, cuts, holds, delays, repeats and lets a test step in: the network between client and gateway."""

import re
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

#: Bounds every wait of a connection for the test.
HOLD_TIMEOUT = 60
#: Bytes of a connection that can be repeated.
KEPT_BYTES = 2 * 1024 * 1024


@dataclass
class Hook:
    """Called once, on the connection's own thread, when a request matches."""

    pattern: re.Pattern
    action: Callable[[], None]
    #: Bytes of the request's body that pass before; `None` = called when the reply comes.
    after: int | None = 0
    taken: bool = False


@dataclass
class Exchange:
    """Where a connection stands in its HTTP requests: enough to know where the next begins."""

    #: All that came from the client, as long as it is little enough to be repeated.
    kept: bytes | None = b""
    head: bytes = b""
    #: The request whose body passes now.
    line: str = ""
    body_passed: int = 0
    body_left: int = 0
    #: Requests whose replies have not begun.
    waiting: list[str] = field(default_factory=list)


class Proxy:
    """`address` is where clients connect; `target` where their bytes go, both `host:port`.

    With `http`, requests are told apart, and `before` and `on_reply` step in.
    """

    def __init__(self, target: str = "", http: bool = False):
        self.target = target
        self.http = http
        #: Bytes from clients that were passed on.
        self.sent = 0
        #: Those of them that were bodies of PUTs: objects and parts.
        self.bodies = 0
        #: Bytes to clients that were passed on.
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
        #: What the connection that ended last had sent, where that can be repeated.
        self._kept: bytes | None = None
        threading.Thread(target=self._accept, daemon=True).start()

    # What a test does

    def before(self, pattern: str, action: Callable[[], None], after: int = 0) -> None:
        """Calls `action` before a request whose line matches is passed on, or `after` so many bytes of its body."""
        self._hooks.append(Hook(re.compile(pattern), action, after))

    def on_reply(self, pattern: str, action: Callable[[], None]) -> None:
        """Calls `action` when the reply to a request whose line matches has come, before it is passed on."""
        self._hooks.append(Hook(re.compile(pattern), action, None))

    def cut_at(self, *totals: int) -> None:
        """Cuts every connection each time when so many bytes from clients have passed in all."""
        with self._lock:
            self._cut_at = sorted(self._cut_at + list(totals))

    @property
    def cuts_to_come(self) -> int:
        return len(self._cut_at)

    def on_received(self, total: int, action: Callable[[], None]) -> None:
        """Calls `action` once, when so many bytes to clients have passed in all, before more do."""
        with self._lock:
            self._on_received.append((total, action))

    def forget(self) -> None:
        """No hook is called any more."""
        with self._lock:
            self._hooks, self._cut_at, self._on_received = [], [], []

    def hold(self, direction: str) -> threading.Event:
        """From now on nothing passes `up` or `down`; the event says that something waits. `release` ends it."""
        self._open.clear()
        self._held[direction] = threading.Event()
        return self._held[direction]

    def release(self) -> None:
        """Ends every hold; what was held back is lost with its connection."""
        self._held = {}
        self.cut()
        self._open.set()

    def pause(self) -> None:
        """From now on nothing passes, and nothing is lost; `resume` ends it."""
        self._flow.clear()

    def resume(self) -> None:
        self._flow.set()

    def repeat(self) -> bool:
        """Sends what the connection that ended last had sent once more, as a network may; nobody hears the answers.

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
            # Nothing comes any more: all of it was answered.
            pass
        return True

    def cut(self) -> None:
        """Ends every connection, as a network that breaks does."""
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

    # The connections

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
                    self._reply(exchange)
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
        """The bytes in pieces that end where a hook is called, and whether each is of a body."""
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
                if not hook.taken and hook.after and hook.pattern.search(exchange.line):
                    piece = piece[: max(0, hook.after - exchange.body_passed)] or piece
            yield piece, exchange.line.startswith("PUT ")
            data = data[len(piece) :]
            exchange.body_passed += len(piece)
            exchange.body_left -= len(piece)
            self._call(exchange.line, exchange.body_passed)

    def _reply(self, exchange: Exchange) -> None:
        # `100 Continue` comes while the body has not been sent.
        if exchange.waiting and exchange.body_left == 0:
            self._call(exchange.waiting.pop(0), None)

    def _call(self, line: str, passed: int | None) -> None:
        for hook in self._hooks:
            if hook.taken or not hook.pattern.search(line):
                continue
            if (hook.after is None and passed is None) or (
                hook.after is not None and passed is not None and passed >= hook.after
            ):
                hook.taken = True
                hook.action()
