"""A channel for unary gRPC calls that sends nothing else, so that it does not affect measurements."""

import itertools

from support import h2raw
from support.h2raw import DATA, END_HEADERS, END_STREAM, HEADERS, Peer

#: The size of HPACK's static table (RFC 7541, appendix A).
_STATIC_ENTRIES = 61


class UnaryChannel(Peer):
    """The part of `grpc.Channel` that stubs need for unary calls: one connection, sequential calls, one write for
    each.

    Header fields are added to HPACK's table on their first use; its limit of 4 KiB is not checked, since a few
    methods and tokens fit.
    """

    def __init__(self, address: str):
        super().__init__(address)
        self._streams = itertools.count(1, 2)
        #: The dynamic table, with the newest entry last.
        self._entries: list[tuple[str, str]] = []
        self.window_update(0, 2**30)

    def unary_unary(self, path: str, request_serializer, response_deserializer, **_):
        """Makes the function for a method of a stub."""

        def call(request, metadata=(), timeout=None):
            # The socket has its own timeout; a deadline would be a field that differs from call to call.
            return response_deserializer(self.call(path, request_serializer(request), metadata))

        return call

    def unary_stream(self, *_, **__) -> None:
        """Does nothing: streams are not supported, but stubs create them anyway."""

    def call(self, path: str, message: bytes, metadata=()) -> bytes:
        """Returns the bytes of the response's message; AssertionError if the call fails."""
        fields = [
            (":method", "POST"), (":scheme", "http"), (":path", path), (":authority", self.authority),
            ("content-type", "application/grpc"), ("te", "trailers"), *metadata,
        ]  # fmt: skip
        stream = next(self._streams)
        head = b"".join(self._encode(field) for field in fields)
        body = b"\0" + len(message).to_bytes(4, "big") + message
        self.raw(h2raw.frame(HEADERS, END_HEADERS, stream, head) + h2raw.frame(DATA, END_STREAM, stream, body))
        return self._respond(stream)[5:]

    def _encode(self, field: tuple[str, str]) -> bytes:
        """Encodes one field of a header section (RFC 7541, sections 6.1 and 6.2.1)."""
        if field in self._entries:
            newer = len(self._entries) - 1 - self._entries.index(field)
            return h2raw.integer(_STATIC_ENTRIES + 1 + newer, 7, 0x80)
        self._entries.append(field)
        return b"\x40" + h2raw.string(field[0]) + h2raw.string(field[1])

    def _respond(self, stream: int) -> bytes:
        """Returns the message with its prefix."""
        body = b""
        while (got := self.next()) is not None:
            if got.stream != stream:
                continue
            assert got.kind in (HEADERS, DATA), got
            if got.kind == DATA:
                body += got.payload
            if got.flags & END_STREAM:
                assert body, f"the call failed; its trailers: {got.payload!r}"
                return body
        raise AssertionError("closed within the response")


class UnaryGateway:
    """A gateway's listeners for callers that use these channels, such as `User` and `Uploader`."""

    def __init__(self, listeners: dict[str, str]):
        self._listeners = listeners
        self._channels: dict[str, UnaryChannel] = {}

    def __enter__(self) -> "UnaryGateway":
        return self

    def __exit__(self, *_) -> None:
        for channel in self._channels.values():
            channel.socket.close()

    def channel(self, listener: str) -> UnaryChannel:
        if listener not in self._channels:
            self._channels[listener] = UnaryChannel(self._listeners[listener])
        return self._channels[listener]
