"""An identity provider that answers the request for its keys in ways that a client must not trust or wait for."""

import contextlib
import socket
import threading
from collections import defaultdict

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


class HostileProvider:
    """Answers `/NAME` with the attack of that name, until the gateway closes the connection."""

    def __init__(self, keys: bytes):
        self.keys = keys
        #: The key set of another provider, to which one attack redirects.
        self.elsewhere = ""
        #: The number of bytes that each attack could send.
        self.sent: dict[str, int] = defaultdict(int)
        self._closing = threading.Event()
        self._server = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._server.getsockname()[1]}"
        self.attacks = {
            "redirect": lambda: [
                f"HTTP/1.1 302 Found\r\nLocation: {self.elsewhere}\r\nContent-Length: 0\r\n\r\n".encode()
            ],
            "silent": lambda: self._slowly(b""),
            "slow": lambda: self._slowly(OK + b"Content-Length: 5000\r\n\r\n" + self.keys),
            "slow-head": lambda: self._slowly(OK + b"X: " + bytes([0x61]) * 5000),
            "huge": lambda: self._endlessly(OK + b"Content-Length: 1099511627776\r\n\r\n{", b" " * 65536),
            "huge-chunks": lambda: self._endlessly(
                OK + b"Transfer-Encoding: chunked\r\n\r\n", b"8000\r\n" + b" " * 32768 + b"\r\n"
            ),
            "huge-head": lambda: self._endlessly(OK, b"X-Filler: " + b"x" * 8000 + b"\r\n"),
            "informational": lambda: self._endlessly(
                b"", b"HTTP/1.1 103 Early Hints\r\nX: " + b"x" * 8000 + b"\r\n\r\n"
            ),
            "short": lambda: [OK + b"Content-Length: %d\r\n\r\n" % (len(self.keys) + 1) + self.keys],
            "long": lambda: [OK + b"Content-Length: %d\r\n\r\n" % (len(self.keys) - 1) + self.keys],
            "deep": lambda: [OK + b'Content-Length: 60008\r\n\r\n{"keys":' + b"[" * 60000],
            "not-http": lambda: [self.keys],
        }
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._closing.set()
        self._server.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._server.accept()
                threading.Thread(target=self._respond, args=(connection,), daemon=True).start()

    def _respond(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            request = b""
            while b"\r\n\r\n" not in request:
                piece = connection.recv(4096)
                if not piece:
                    return
                request += piece
            name = request.split()[1].decode().removeprefix("/")
            for piece in self.attacks[name]():
                connection.sendall(piece)
                self.sent[name] += len(piece)

    def _slowly(self, content: bytes):
        """Sends a byte from time to time, so that the exchange never stalls; without content, nothing at all."""
        for byte in content:
            yield bytes([byte])
            if self._closing.wait(0.2):
                return
        self._closing.wait()

    def _endlessly(self, beginning: bytes, piece: bytes):
        yield beginning
        while not self._closing.is_set():
            yield piece
