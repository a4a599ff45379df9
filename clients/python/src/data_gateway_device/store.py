"""The object store: the requests of an upload, signed with version 4 of the OSS signature."""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import hmac
import http.client
import ipaddress
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Callable
from urllib.parse import quote, urlsplit
from xml.etree import ElementTree

from . import connections
from .errors import ProtocolError, SourceError, StoreError
from .retries import TemporaryError, waited
from .tls import Authorities

#: The time without a byte after which a connection has failed, in seconds.
_TIMEOUT = 30.0
_BLOCK = 256 * 1024
#: The largest response that is read, in bytes; a page of 1,000 parts has less than 512 KiB.
_MAXIMUM_RESPONSE = 4 << 20
_SAFE = "-_.~"
_TYPE = "application/octet-stream"


@dataclass(frozen=True)
class Credentials:
    """The place of an object, and temporary credentials that reach it only."""

    bucket: str
    endpoint: str
    object_key: str
    access_key_id: str
    secret: str = field(repr=False)
    token: str = field(repr=False)
    region: str
    expires_at: int
    part_size: int

    def is_same_place(self, other: Credentials) -> bool:
        place = (self.endpoint, self.bucket, self.object_key, self.region)
        return place == (other.endpoint, other.bucket, other.object_key, other.region)


@dataclass(frozen=True)
class Piece:
    """A range of a file."""

    path: str
    descriptor: int
    start: int
    size: int

    def blocks(self) -> Iterator[bytes]:
        """Returns the bytes in blocks; raises EOFError if the file ends before, and SourceError if it cannot be read."""
        position, end = self.start, self.start + self.size
        while position < end:
            try:
                block = os.pread(self.descriptor, min(_BLOCK, end - position), position)
            except OSError as error:
                raise SourceError(f"cannot read {self.path} at byte {position}: {error.strerror}") from error
            if not block:
                raise EOFError(self.path)
            position += len(block)
            yield block

    def md5(self) -> bytes:
        digest = md5()
        for block in self.blocks():
            digest.update(block)
        return digest.digest()


@dataclass(frozen=True)
class Part:
    """A stored part."""

    number: int
    size: int
    etag: str


@dataclass(frozen=True)
class Request:
    """A request to the store, before it is signed."""

    operation: str
    method: str
    query: Mapping[str, str]
    body: bytes = b""
    piece: Piece | None = None


@dataclass(frozen=True)
class Response:
    """A successful response."""

    headers: Mapping[str, str]
    body: bytes
    #: The MD5 of the bytes that were sent, in hexadecimal.
    sent_md5: str = ""


def md5(data: bytes = b"") -> hashlib._Hash:
    # Not for security, which systems in FIPS mode need to know.
    return hashlib.md5(data, usedforsecurity=False)


def signature(credentials: Credentials, request: Request, headers: Mapping[str, str], date: str) -> str:
    """Returns the Authorization header of version 4; `headers` have lower-case names, `date` is that of `x-oss-date`."""
    path = quote(f"/{credentials.bucket}/{credentials.object_key}", safe=_SAFE + "/")
    query = "&".join(
        name if value == "" else f"{name}={value}"
        for name, value in sorted(
            (quote(name, safe=_SAFE), quote(value, safe=_SAFE)) for name, value in request.query.items()
        )
    )
    signed = sorted(
        (name, value.strip())
        for name, value in headers.items()
        if name in ("content-md5", "content-type") or name.startswith("x-oss-")
    )
    lines = "".join(f"{name}:{value}\n" for name, value in signed)
    canonical = "\n".join([request.method, path, query, lines, "", "UNSIGNED-PAYLOAD"])
    scope = f"{date[:8]}/{credentials.region}/oss/aliyun_v4_request"
    text = "\n".join(["OSS4-HMAC-SHA256", date, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = f"aliyun_v4{credentials.secret}".encode()
    for step in (date[:8], credentials.region, "oss", "aliyun_v4_request"):
        key = hmac.new(key, step.encode(), hashlib.sha256).digest()
    digest = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
    return f"OSS4-HMAC-SHA256 Credential={credentials.access_key_id}/{scope},Signature={digest}"


class Store:
    """A client of the store for one object. It uses one connection, and follows no redirect."""

    def __init__(self, credentials: Credentials, authorities: Authorities, sent: Callable[[int], None]):
        self.credentials = credentials
        self._authorities = authorities
        self._sent = sent
        self._connection: http.client.HTTPConnection | None = None
        #: Seconds to add to this machine's time, for a machine whose clock is wrong.
        self._clock_offset = 0.0
        self._scheme, self._host, self._port = _parts(credentials.endpoint)

    def use(self, credentials: Credentials) -> None:
        """Takes renewed credentials of the same object."""
        self.credentials = credentials

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    # The operations

    def put(self, piece: Piece) -> str:
        """Stores the whole object; returns its ETag."""
        return self._put(Request("PutObject", "PUT", {}, piece=piece))

    def initiate(self) -> str:
        """Begins an upload in parts; returns its id."""
        response = self._request(Request("InitiateMultipartUpload", "POST", {"uploads": ""}))
        return _text(_document(response), "UploadId")

    def put_part(self, multipart_id: str, number: int, piece: Piece) -> str:
        query = {"partNumber": str(number), "uploadId": multipart_id}
        return self._put(Request("UploadPart", "PUT", query, piece=piece))

    def list_parts(self, multipart_id: str) -> list[Part]:
        """Returns the stored parts."""
        parts: list[Part] = []
        marker = ""
        while True:
            query = {"uploadId": multipart_id, "max-parts": "1000", **_marker(marker)}
            document = _document(self._request(Request("ListParts", "GET", query)))
            for each in document.findall("Part"):
                parts.append(Part(_number(each, "PartNumber"), _number(each, "Size"), _text(each, "ETag")))
            following = document.findtext("NextPartNumberMarker") or ""
            if document.findtext("IsTruncated") != "true":
                return parts
            if following == marker:
                raise ProtocolError("the object store returned the same page of parts twice")
            marker = following

    def join(self, multipart_id: str, etags: list[str]) -> str:
        """Makes the object of the parts; returns its ETag."""
        document = ElementTree.Element("CompleteMultipartUpload")
        for number, etag in enumerate(etags, start=1):
            part = ElementTree.SubElement(document, "Part")
            ElementTree.SubElement(part, "PartNumber").text = str(number)
            ElementTree.SubElement(part, "ETag").text = etag
        body = ElementTree.tostring(document)
        response = self._request(Request("CompleteMultipartUpload", "POST", {"uploadId": multipart_id}, body=body))
        return _text(_document(response), "ETag")

    def head(self) -> tuple[int, str] | None:
        """Returns size and ETag of the object; `None` if there is none."""
        try:
            response = self._request(Request("HeadObject", "HEAD", {}))
        except StoreError as error:
            if error.status == 404:
                return None
            raise
        length = response.headers.get("content-length", "")
        if not length.isdecimal():
            raise ProtocolError("the object store returned an object without its size")
        return int(length), response.headers.get("etag", "")

    # Requests

    def _put(self, request: Request) -> str:
        response = self._request(request)
        etag = response.headers.get("etag", "")
        if etag.strip('"').lower() != response.sent_md5:
            # The bytes were damaged on their way. The next attempt replaces them.
            raise TemporaryError(f"the object store received other bytes than {request.operation} sent")
        return etag

    def _request(self, request: Request) -> Response:
        try:
            return self._attempt(request)
        except _SkewedClockError as skewed:
            self._clock_offset = skewed.server_time - time.time()
            try:
                return self._attempt(request)
            except _SkewedClockError as again:
                raise again.refusal from None

    def _attempt(self, request: Request) -> Response:
        try:
            return self._exchange(request)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            reason = str(error) or type(error).__name__
            raise TemporaryError(f"{request.operation} failed: {reason}") from error
        except _CallerError as error:
            self.close()
            raise error.reason from None
        except BaseException:
            # A request that was not finished leaves a connection of no use.
            self.close()
            raise

    def _exchange(self, request: Request) -> Response:
        connection = self._connected()
        length = len(request.body) if request.piece is None else request.piece.size
        path, headers = self._signed(request)
        connection.putrequest(request.method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in headers.items():
            connection.putheader(name, value)
        if request.method in ("PUT", "POST"):
            connection.putheader("content-length", str(length))
        connection.endheaders()
        sent_md5 = self._send(connection, request)
        connections.wait_until_sent(connection.sock, _TIMEOUT)
        reply = connection.getresponse()
        body = reply.read(_MAXIMUM_RESPONSE + 1)
        if len(body) > _MAXIMUM_RESPONSE:
            raise ProtocolError(f"the response to {request.operation} is larger than {_MAXIMUM_RESPONSE} bytes")
        fields = {name.lower(): value for name, value in reply.getheaders()}
        if reply.will_close:
            self.close()
        if not 200 <= reply.status < 300:
            raise _refusal(request.operation, reply.status, fields, body)
        return Response(fields, body, sent_md5)

    def _send(self, connection: http.client.HTTPConnection, request: Request) -> str:
        """Sends the body; returns the MD5 of a piece."""
        if request.piece is None:
            for _ in self._moved(connection, request, request.body):
                pass
            return ""
        digest = md5()
        for block in request.piece.blocks():
            digest.update(block)
            for count in self._moved(connection, request, block):
                try:
                    self._sent(count)
                except OSError as error:
                    raise _CallerError(error) from error
        return digest.hexdigest()

    def _moved(self, connection: http.client.HTTPConnection, request: Request, block: bytes) -> Iterator[int]:
        """Sends a block; returns the number of bytes of each step, for which the timeout counts anew."""
        rest = memoryview(block)
        while rest:
            # The store may refuse the request before it has read the body, and not read on.
            if connections.is_answered(connection.sock):
                raise self._early_refusal(connection, request)
            try:
                count = connection.sock.send(rest)
            except (BrokenPipeError, ConnectionResetError) as error:
                with contextlib.suppress(OSError, http.client.HTTPException):
                    raise self._early_refusal(connection, request) from None
                raise error
            rest = rest[count:]
            yield count

    @staticmethod
    def _early_refusal(connection: http.client.HTTPConnection, request: Request) -> Exception:
        reply = connection.getresponse()
        fields = {name.lower(): value for name, value in reply.getheaders()}
        return _refusal(request.operation, reply.status, fields, reply.read(_MAXIMUM_RESPONSE))

    def _signed(self, request: Request) -> tuple[str, dict[str, str]]:
        """Returns the path with the query, and the headers."""
        credentials = self.credentials
        is_by_path = _is_by_path(self._host)
        host = f"[{self._host}]" if ":" in self._host else self._host_name()
        path = f"/{credentials.bucket}/{credentials.object_key}" if is_by_path else f"/{credentials.object_key}"
        query = "&".join(
            quote(name, safe=_SAFE) + (f"={quote(value, safe=_SAFE)}" if value else "")
            for name, value in request.query.items()
        )
        date = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(time.time() + self._clock_offset))
        headers = {
            "host": host if self._port is None else f"{host}:{self._port}",
            "content-type": _TYPE if request.piece is not None else "application/xml",
            "x-oss-content-sha256": "UNSIGNED-PAYLOAD",
            "x-oss-date": date,
            "x-oss-security-token": credentials.token,
        }
        if request.body:
            headers["content-md5"] = base64.b64encode(_digest(request.body)).decode()
        headers["authorization"] = signature(credentials, request, headers, date)
        return quote(path, safe=_SAFE + "/") + (f"?{query}" if query else ""), headers

    def _host_name(self) -> str:
        return self._host if _is_by_path(self._host) else f"{self.credentials.bucket}.{self._host}"

    def _connected(self) -> http.client.HTTPConnection:
        if self._connection is None:
            host = self._host_name()
            if self._scheme == "https":
                context = self._authorities.context()
                self._connection = http.client.HTTPSConnection(host, self._port, timeout=_TIMEOUT, context=context)
            else:
                self._connection = http.client.HTTPConnection(host, self._port, timeout=_TIMEOUT)
        return self._connection


class _CallerError(Exception):
    """The caller's function failed with an error that is not one of the connection."""

    def __init__(self, reason: OSError):
        super().__init__(str(reason))
        self.reason = reason


class _SkewedClockError(Exception):
    """The store refused the time of the request; it has this time."""

    def __init__(self, refusal: StoreError, server_time: float):
        super().__init__(str(refusal))
        self.refusal, self.server_time = refusal, server_time


def _refusal(operation: str, status: int, fields: Mapping[str, str], body: bytes) -> Exception:
    """Returns the error that an unsuccessful response means."""
    encoded = fields.get("x-oss-err") or fields.get("x-oss-error") or ""
    code = message = ""
    with contextlib.suppress(ElementTree.ParseError, binascii.Error, ValueError):
        document = ElementTree.fromstring(_checked(body or base64.b64decode(encoded)))
        code, message = document.findtext("Code") or "", (document.findtext("Message") or "")[:256]
    refusal = StoreError(operation, status, code, message)
    if code == "RequestTimeTooSkewed" and "date" in fields:
        with contextlib.suppress(TypeError, ValueError):
            return _SkewedClockError(refusal, parsedate_to_datetime(fields["date"]).timestamp())
    if code in ("BadDigest", "InvalidDigest") or status in (408, 429) or (status >= 500 and status != 501):
        return TemporaryError(str(refusal), waited(fields.get("retry-after", "")))
    return refusal


def _parts(endpoint: str) -> tuple[str, str, int | None]:
    """Returns scheme, host and port of the store's address."""
    try:
        parts = urlsplit(endpoint)
        scheme, host, port = parts.scheme, parts.hostname or "", parts.port
    except ValueError as error:
        raise ProtocolError(f"the address of the object store is not valid: {endpoint}") from error
    if scheme not in ("http", "https") or not host or parts.path.strip("/"):
        raise ProtocolError(f"the address of the object store is not valid: {endpoint}")
    return scheme, host, port


def _is_by_path(host: str) -> bool:
    """Whether the bucket is in the path instead of the host name."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    return True


def _marker(marker: str) -> dict[str, str]:
    return {"part-number-marker": marker} if marker else {}


def _checked(document: bytes) -> bytes:
    """Refuses a document with a definition of entities, which could expand without end."""
    if b"<!DOCTYPE" in document or b"<!ENTITY" in document:
        raise ValueError("the document has a definition")
    return document


def _document(response: Response) -> ElementTree.Element:
    try:
        return _without_namespaces(ElementTree.fromstring(_checked(response.body)))
    except (ElementTree.ParseError, ValueError) as error:
        raise ProtocolError(f"the object store returned a document that is not valid: {error}") from error


def _without_namespaces(document: ElementTree.Element) -> ElementTree.Element:
    for each in document.iter():
        each.tag = each.tag.rpartition("}")[2]
    return document


def _text(element: ElementTree.Element, name: str) -> str:
    text = element.findtext(name)
    if not text:
        raise ProtocolError(f"the object store returned no {name}")
    return text


def _number(element: ElementTree.Element, name: str) -> int:
    text = _text(element, name)
    if not text.isdecimal():
        raise ProtocolError(f"the object store returned a {name} that is no number")
    return int(text)


def _digest(body: bytes) -> bytes:
    return md5(body).digest()
