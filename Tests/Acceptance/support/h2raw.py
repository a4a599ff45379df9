"""An HTTP/2 peer without any rules: it sends the frames of a test, and returns the received frames (RFC 9113)."""

import socket
import ssl
import struct
from dataclasses import dataclass

from .waiting import WAIT_SECONDS

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)

END_STREAM = ACK = 0x1
END_HEADERS = 0x4
PADDED = 0x8
HAS_PRIORITY = 0x20

HEADER_TABLE_SIZE, ENABLE_PUSH, MAX_CONCURRENT_STREAMS = 1, 2, 3
INITIAL_WINDOW_SIZE, MAX_FRAME_SIZE, MAX_HEADER_LIST_SIZE = 4, 5, 6

NO_ERROR, PROTOCOL_ERROR, INTERNAL_ERROR, FLOW_CONTROL_ERROR = range(4)
SETTINGS_TIMEOUT, STREAM_CLOSED, FRAME_SIZE_ERROR = 4, 5, 6
REFUSED_STREAM, CANCEL, COMPRESSION_ERROR, CONNECT_ERROR, ENHANCE_YOUR_CALM = range(7, 12)


@dataclass
class Frame:
    kind: int
    flags: int
    stream: int
    payload: bytes

    @property
    def error(self) -> int:
        """Returns the error code of RST_STREAM or GOAWAY."""
        return struct.unpack(">I", self.payload[4:8] if self.kind == GOAWAY else self.payload)[0]

    @property
    def settings(self) -> dict[int, int]:
        return dict(struct.unpack_from(">HI", self.payload, at) for at in range(0, len(self.payload), 6))


def integer(value: int, prefix: int, first: int = 0) -> bytes:
    """Encodes an HPACK integer (RFC 7541, section 5.1) in the low `prefix` bits of an octet whose other bits are
    those of `first`.
    """
    limit = (1 << prefix) - 1
    if value < limit:
        return bytes([first | value])
    octets = [first | limit]
    value -= limit
    while value >= 128:
        octets.append(value % 128 + 128)
        value //= 128
    return bytes([*octets, value])


def string(text: str | bytes) -> bytes:
    """Encodes an HPACK string literal without Huffman coding (section 5.2)."""
    text = text.encode() if isinstance(text, str) else text
    return integer(len(text), 7) + text


def literal(name: str, value: str) -> bytes:
    """Encodes a field without indexing (section 6.2.2)."""
    return b"\0" + string(name) + string(value)


def block(*fields: tuple[str, str]) -> bytes:
    return b"".join(literal(name, value) for name, value in fields)


class Peer:
    """A connection to `host:port`, after both sides' SETTINGS unless `greet` is false; with TLS if a context is
    given.

    `source` is its own address.
    """

    def __init__(
        self,
        address: str,
        settings: dict[int, int] | None = None,
        greet: bool = True,
        tls: ssl.SSLContext | None = None,
        source: str = "",
    ):
        host, port = address.rsplit(":", 1)
        self.authority = address
        self.socket = socket.create_connection((host, int(port)), timeout=WAIT_SECONDS, source_address=(source, 0))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls is not None:
            self.socket = tls.wrap_socket(self.socket, server_hostname="localhost")
        self.peer_settings: dict[int, int] = {}
        self._received = b""
        if greet:
            self.raw(PREFACE + frame(SETTINGS, 0, 0, encode_settings(settings or {})))
            self.peer_settings = self.expect(SETTINGS).settings
            self.send(SETTINGS, ACK)
            self.expect(SETTINGS, flags=ACK)

    def __enter__(self) -> "Peer":
        return self

    def __exit__(self, *_) -> None:
        self.socket.close()

    # Sending.

    def raw(self, octets: bytes) -> None:
        try:
            self.socket.sendall(octets)
        except (BrokenPipeError, ConnectionResetError, ssl.SSLEOFError):
            # The other side has already closed; its earlier output can still be read.
            pass

    def send(self, kind: int, flags: int = 0, stream: int = 0, payload: bytes = b"") -> None:
        self.raw(frame(kind, flags, stream, payload))

    def settings(self, *entries: tuple[int, int]) -> None:
        """Sends SETTINGS with these entries in this order."""
        self.send(SETTINGS, 0, 0, encode_settings(entries))

    def window_update(self, stream: int, increment: int) -> None:
        self.send(WINDOW_UPDATE, 0, stream, struct.pack(">I", increment))

    def reset(self, stream: int, code: int = CANCEL) -> None:
        self.send(RST_STREAM, 0, stream, struct.pack(">I", code))

    def priority(self, stream: int, depends_on: int = 0, weight: int = 15, exclusive: bool = False) -> None:
        self.send(PRIORITY, 0, stream, priority(depends_on, weight, exclusive))

    # Receiving.

    def next(self) -> Frame | None:
        """Returns the next frame; `None` if the other side has closed the connection."""
        header = self._read(9)
        if header is None:
            return None
        payload = self._read(int.from_bytes(header[:3], "big"))
        if payload is None:
            return None
        return Frame(header[3], header[4], int.from_bytes(header[5:9], "big") & 0x7FFFFFFF, payload)

    def _read(self, count: int) -> bytes | None:
        while len(self._received) < count:
            try:
                more = self.socket.recv(65536)
            except (ConnectionResetError, ssl.SSLEOFError):
                more = b""
            if not more:
                return None
            self._received += more
        octets, self._received = self._received[:count], self._received[count:]
        return octets

    def expect(self, kind: int, stream: int = 0, flags: int = 0) -> Frame:
        """Reads up to a frame of this kind, on this stream, with these flags; the connection must not end before."""
        seen = []
        while (got := self.next()) is not None:
            if got.kind == kind and got.stream == stream and got.flags & flags == flags:
                return got
            seen.append(got)
            assert got.kind != GOAWAY, f"GOAWAY {got.error} instead of a frame of kind {kind}: {got.payload[8:]!r}"
            assert got.kind != RST_STREAM or got.stream != stream, f"RST_STREAM {got.error}"
        raise AssertionError(f"closed instead of a frame of kind {kind}, after {seen}")

    def expect_pong(self, data: bytes = b"conform!") -> None:
        """Checks that the connection is alive: it answers a PING."""
        self.send(PING, 0, 0, data)
        assert self.expect(PING, flags=ACK).payload == data

    def expect_end(self, stream: int) -> None:
        """Expects that the other side ends its half of the stream."""
        while (got := self.next()) is not None:
            if got.stream == stream and got.kind in (DATA, HEADERS) and got.flags & END_STREAM:
                return
            assert got.kind != GOAWAY and (got.kind, got.stream) != (RST_STREAM, stream), got
        raise AssertionError("closed within the response")

    def expect_connection_error(self, *codes: int) -> None:
        """Expects GOAWAY with one of the codes, and then the end of the connection (section 5.4.1)."""
        code = None
        while (got := self.next()) is not None:
            if got.kind == GOAWAY:
                code = got.error
        assert code is not None, "closed without GOAWAY"
        assert code in codes, f"GOAWAY {code}, not {codes}"

    def expect_stream_error(self, stream: int, *codes: int) -> None:
        """Expects RST_STREAM with one of the codes (section 5.4.2), or a connection error with one of them."""
        code = None
        while code is None and (got := self.next()) is not None:
            if got.kind == GOAWAY or (got.kind == RST_STREAM and got.stream == stream):
                code = got.error
        assert code is not None, "closed without RST_STREAM or GOAWAY"
        assert code in codes, f"code {code}, not {codes}"


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def encode_settings(entries) -> bytes:
    pairs = entries.items() if isinstance(entries, dict) else entries
    return b"".join(struct.pack(">HI", name, value) for name, value in pairs)


def priority(depends_on: int = 0, weight: int = 15, exclusive: bool = False) -> bytes:
    """Returns the payload of PRIORITY; `weight` is one less than its meaning (RFC 7540, section 6.3)."""
    return struct.pack(">IB", depends_on | (0x80000000 if exclusive else 0), weight)


def call(authority: str, method: str, *more: tuple[str, str]) -> bytes:
    """Returns the header section of a call of `grpc.testing.TestService`."""
    return block(
        (":method", "POST"),
        (":scheme", "http"),
        (":path", f"/grpc.testing.TestService/{method}"),
        (":authority", authority),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
        *more,
    )
