"""A channel of unary gRPC calls that sends nothing but the calls, so that it does not change what is measured."""

import itertools

from support import h2raw
from support.h2raw import DATA, END_HEADERS, END_STREAM, HEADERS, Peer

#: HPACK's static table ends here (RFC 7541, appendix A).
_STATIC_ENTRIES = 61


class UnaryChannel(Peer):
    """As much of `grpc.Channel` as stubs need for unary calls: one connection, one call at a time, sent by one write.

    Header fields enter HPACK's table when they first come; its 4 KiB are not watched: a few methods and tokens fit.
    """

    def __init__(self, address: str):
        super().__init__(address)
        self._streams = itertools.count(1, 2)
        #: The newest entry of the dynamic table is the last.
        self._entries: list[tuple[str, str]] = []
        self.window_update(0, 2**30)

    def unary_unary(self, path: str, request_serializer, response_deserializer, **_):
        """What a stub makes of each of its methods."""

        def call(request, metadata=(), timeout=None):
            # The socket has a timeout of its own; a deadline would be a field that differs from call to call.
            return response_deserializer(self.call(path, request_serializer(request), metadata))

        return call

    def unary_stream(self, *_, **__) -> None:
        """Streams are not for this channel; stubs ask for them all the same."""

    def call(self, path: str, message: bytes, metadata=()) -> bytes:
        """The bytes of the answer's message; AssertionError where the call fails."""
        fields = [
            (":method", "POST"), (":scheme", "http"), (":path", path), (":authority", self.authority),
            ("content-type", "application/grpc"), ("te", "trailers"), *metadata,
        ]  # fmt: skip
        stream = next(self._streams)
        head = b"".join(self._encode(field) for field in fields)
        body = b"\0" + len(message).to_bytes(4, "big") + message
        self.raw(h2raw.frame(HEADERS, END_HEADERS, stream, head) + h2raw.frame(DATA, END_STREAM, stream, body))
        return self._answer(stream)[5:]

    def _encode(self, field: tuple[str, str]) -> bytes:
        """One field of a header section (RFC 7541, sections 6.1 and 6.2.1)."""
        if field in self._entries:
            newer = len(self._entries) - 1 - self._entries.index(field)
            return h2raw.integer(_STATIC_ENTRIES + 1 + newer, 7, 0x80)
        self._entries.append(field)
        return b"\x40" + h2raw.string(field[0]) + h2raw.string(field[1])

    def _answer(self, stream: int) -> bytes:
        """The message with its prefix."""
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
    """A gateway's listeners for those who call it by these channels; `User` and `Uploader` do."""

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
