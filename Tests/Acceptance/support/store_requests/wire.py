"""Requests to the store as bytes, and the responses as they arrive."""

import socket
from dataclasses import dataclass, field, replace
from urllib.parse import quote

from ..waiting import WAIT_SECONDS

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Request:
    """A request before it is signed. Without a key it is for the bucket, without a bucket for the service."""

    method: str
    bucket: str | None = "data"
    key: str | None = None
    #: Decoded names and values; a value of `None` is sent without `=`.
    query: tuple[tuple[str, str | None], ...] = ()
    fields: Pairs = ()
    body: bytes = b""
    #: Whether the bucket is in the Host field.
    virtual: bool = False
    #: The Host field in place of the one of the style.
    host: str | None = None
    #: The target as it is sent, in place of the signed one.
    target: str | None = None
    #: `length`, `chunked`, or `none` for a body without framing.
    framing: str = "length"

    def with_(self, *fields: tuple[str, str], query: tuple = (), **changed) -> "Request":
        """Returns the request with further fields and parameters, and with other values."""
        return replace(self, **({"fields": self.fields + fields, "query": self.query + tuple(query)} | changed))

    @property
    def resource(self) -> str:
        """`/bucket/key`, decoded."""
        return f"/{self.bucket}/{self.key or ''}" if self.bucket else "/"

    @property
    def path(self) -> str:
        """The decoded path of the target."""
        if self.bucket is None or self.virtual:
            return f"/{self.key or ''}"
        return f"/{self.bucket}" if self.key is None else f"/{self.bucket}/{self.key}"

    def written(self, query=None) -> str:
        """Returns the target with the query, percent-encoded."""
        return quote(self.path, safe="/-_.~") + written_query(self.query if query is None else query)


def escaped(text: str) -> str:
    return quote(text, safe="-_.~")


def written_query(query) -> str:
    pairs = [escaped(name) if value is None else f"{escaped(name)}={escaped(value)}" for name, value in query]
    return "?" + "&".join(pairs) if pairs else ""


@dataclass
class Reply:
    """A response as it was received."""

    status: int = 0
    #: The status line, the names and the values as sent, in their order.
    reason: str = ""
    fields: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""
    #: Status codes of interim responses.
    interim: list[int] = field(default_factory=list)
    #: Bytes after the response.
    rest: bytes = b""

    def get(self, name: str) -> str | None:
        return next((value for has, value in self.fields if has.lower() == name), None)


def request_bytes(method: str, target: str, fields: Pairs, body: bytes, framing: str = "length") -> bytes:
    """Returns the bytes of a request of HTTP/1.1."""
    names = {name.lower() for name, _ in fields}
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in fields)]
    if framing == "chunked":
        lines.append("Transfer-Encoding: chunked")
        body = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in (body,) if piece) + b"0\r\n\r\n"
    elif framing == "length" and "content-length" not in names and (body or method in ("PUT", "POST")):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode("utf-8", "surrogateescape") + b"\r\n\r\n" + body


def exchange(address: str, data: bytes) -> Reply:
    """Sends the bytes on a new connection, and returns the response to the first request."""
    host, port = address.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=WAIT_SECONDS) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            connection.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass  # The response may have been sent before the body was read.
        with connection.makefile("rb") as stream:
            return _read(stream, data.split(b" ", 1)[0] == b"HEAD")


def _read(stream, is_head: bool) -> Reply:
    reply = Reply()
    while True:
        line = stream.readline()
        if not line:
            reply.reason = "closed without a response"
            return reply
        _, status, *reason = line.decode("latin-1").rstrip("\r\n").split(" ", 2)
        fields = []
        while (line := stream.readline()) not in (b"\r\n", b"\n", b""):
            name, _, value = line.decode("utf-8", "surrogateescape").rstrip("\r\n").partition(":")
            fields.append((name, value.strip()))
        if int(status) >= 200:
            reply.status, reply.reason, reply.fields = int(status), " ".join(reason), fields
            break
        reply.interim.append(int(status))
    if is_head or reply.status in (204, 304):
        return reply
    if (reply.get("transfer-encoding") or "").lower() == "chunked":
        while size := int(stream.readline().split(b";")[0], 16):
            reply.body += stream.read(size)
            stream.readline()
        stream.readline()
    elif (length := reply.get("content-length")) is not None:
        reply.body = stream.read(int(length))
    else:
        reply.body = stream.read()
    return reply
