"""Very many requests that no regular client sends: the process lives, and no response is a server error."""

import collections
import http.client
import random
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import grpc
import pytest
from google.protobuf import descriptor_pool, message_factory
from support import h2raw
from support.gateway import Gateway
from support.mutations import TEXTS, Extremes, Mutations
from support.parties import Fleet, Uploader, User, exchange_system_credential, issue_system_credential, unique
from support.raw import RawStore
from support.services import LISTENERS
from support.static_keys import StaticKey
from support.uploads import MIB, Upload, completed, content

SEED = 20261122
WORKERS = 8
CALLS, FULL_CALLS = 1600, 50_000
CONNECTIONS, FULL_CONNECTIONS = 480, 10_000
REQUESTS, FULL_REQUESTS = 2400, 100_000
#: HTTP statuses above 499 that concern the request or the current load, and are not failures of the gateway.
NO_FAILURE = (501, 503, 507)
#: The gRPC codes for failures of the gateway.
FAILURES = (grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN, grpc.StatusCode.DATA_LOSS)
WRITER = StaticKey("WRITER", "a secret of the writer", "write")
READER = StaticKey("READER", "a secret of the reader", "read")


@dataclass
class Target:
    """A gateway under a storm of requests."""

    gateway: Gateway
    login: Callable[[Gateway], User]

    def fleet(self) -> Fleet:
        """A new one, because a storm with an admin's rights may have disabled any other."""
        return Fleet.create(self.login(self.gateway))

    def assert_serves(self) -> None:
        """Checks that it is the same process, and that a device can upload."""
        assert self.gateway.process.poll() is None
        completed(self.fleet().uploader(), content(1000))


@pytest.fixture(scope="module")
def target(gateway_with, login, tmp_path_factory) -> Target:
    secrets = tmp_path_factory.mktemp("secrets")
    keys = [key.setting(secrets) for key in (WRITER, READER)]
    # The storm comes from one address, and has to reach the code behind the limits.
    most = 1_000_000
    config = {
        "uploads": {"part_size_bytes": MIB, "calls_per_minute": most},
        "listeners": {"internal": "127.0.0.1:0"},
        "object_store": {"static_keys": keys},
    }
    return Target(gateway_with(config), login)


def shares(whole: int) -> list[tuple[int, int]]:
    """Returns each worker's number, and its share of `whole`."""
    return [(worker, whole // WORKERS) for worker in range(WORKERS)]


def stormed(work, whole: int) -> collections.Counter:
    """Runs `work(worker, count)` on all workers, and adds up their counts."""
    with ThreadPoolExecutor(WORKERS) as pool:
        return sum(pool.map(lambda share: work(*share), shares(whole)), collections.Counter())


# Calls.


def principals(admin: User, uploader: Uploader) -> list[str]:
    """Returns the values of `authorization` for every kind of caller; "" = none."""
    gateway, stubs = admin.gateway, admin.stubs
    tokens = [uploader.token, admin.token]
    for role in ("viewer", "operator", "admin"):
        name, password = unique(role), "a password of some length"
        admin.users("CreateUser", user_name=name, password=password, role=role)
        tokens.append(User.login(gateway, stubs, "system", name, password).token)
    name = admin.users("CreateUser", user_name=unique("service"), role="service").user.user_name
    credential = issue_system_credential(admin, name)
    tokens.append(exchange_system_credential(gateway, stubs, credential).access_token)
    return ["", "Bearer", "Bearer nonsense", *(f"Bearer {token}" for token in tokens)]


def test_calls_with_extreme_values_are_survived(target, is_full):
    fleet = target.fleet()
    admin, uploader = fleet.user, fleet.uploader()
    callers = principals(admin, uploader)
    upload = Upload.create(uploader)
    completed(uploader, content(100))
    names = [
        *(found.file_id for found in admin.list_all()),
        fleet.suite, uploader.device_id, uploader.credential, upload.id, "default", "viewer",
        f"{fleet.suite}/devices/{uploader.device_id}",
    ]  # fmt: skip
    methods = [
        (listener, method)
        for service, listener in sorted(LISTENERS.items())
        for method in descriptor_pool.Default().FindServiceByName(service).methods
        # It may require a second factor of the users who call afterwards.
        if method.name != "SetSignInPolicy"
    ]

    def work(worker: int, count: int) -> collections.Counter:
        draw = random.Random(f"{SEED} {worker}")
        extremes = Extremes(draw, names)
        seen = collections.Counter()
        for _ in range(count):
            listener, method = draw.choice(methods)
            body = extremes.message(message_factory.GetMessageClass(method.input_type)).SerializeToString()
            if draw.random() < 0.2:
                body = Mutations(draw, [body], [b"\xff", b"\x80" * 12, b"\0"]).next()
            channel = target.gateway.channel(listener)
            kind = channel.unary_stream if method.server_streaming else channel.unary_unary
            metadata = [("authorization", caller)] if (caller := draw.choice(callers)) else []
            seen[answered(kind(f"/{method.containing_service.full_name}/{method.name}"), method, body, metadata)] += 1
        return seen

    seen = stormed(work, FULL_CALLS if is_full else CALLS)
    # Every layer has responded: authentication, rights, decoding, values, existence, and success.
    expected = ["UNAUTHENTICATED", "PERMISSION_DENIED", "INVALID_ARGUMENT", "NOT_FOUND", "OK"]
    assert set(expected) <= {code.name for code in seen}, seen
    target.assert_serves()


def answered(call, method, body: bytes, metadata: list) -> grpc.StatusCode:
    try:
        response = call(body, metadata=metadata, timeout=30)
        if method.server_streaming:
            for _ in response:
                pass
        return grpc.StatusCode.OK
    except grpc.RpcError as error:
        assert error.code() not in FAILURES, (method.full_name, error.code(), error.details(), body[:2000])
        return error.code()


# Connections.


HTTP1 = [
    b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    b"PUT /data/uploads/a?partNumber=1&uploadId=b HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nAuthorization: OSS a:b\r\n\r\nabcde",
    b"POST /archebase.auth.v1.AuthService/Login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
    b"Connect-Protocol-Version: 1\r\nContent-Length: 2\r\n\r\n{}",
    b"POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n",
    b"GET /metrics HTTP/1.1\r\nHost: a\r\nRange: bytes=0-1\r\nIf-None-Match: *\r\n\r\nGET /healthz HTTP/1.0\r\n\r\n",
]
HTTP1_PIECES = [
    b"\r\n", b"\n", b"\r", b"\0", b" ", b":", b"\t", b"\xff", b"%00", b"%", b"?", b"#", b"/../", b"HTTP/9.9", b"GET", b"a" * 3000,
    b"Content-Length: 99999999999999999999\r\n", b"Content-Length: -1\r\n", b"Transfer-Encoding: chunked\r\n", b"Expect: 100-continue\r\n",
    b"ffffffffffffffff\r\n", b"Host: b\r\n", b"X: y\r\n" * 120, b" folded\r\n", b"Range: bytes=-9223372036854775808\r\n",
]  # fmt: skip
FIELDS = h2raw.block(
    (":method", "POST"),
    (":scheme", "http"),
    (":path", "/archebase.auth.v1.AuthService/Login"),
    (":authority", "a"),
    ("content-type", "application/grpc"),
    ("te", "trailers"),
)
HTTP2 = [
    h2raw.PREFACE
    + h2raw.frame(h2raw.SETTINGS, 0, 0, b"")
    + h2raw.frame(h2raw.HEADERS, h2raw.END_HEADERS, 1, FIELDS)
    + h2raw.frame(h2raw.DATA, h2raw.END_STREAM, 1, b"\0\0\0\0\0"),
    h2raw.PREFACE
    + h2raw.frame(h2raw.SETTINGS, 0, 0, h2raw.encode_settings({h2raw.INITIAL_WINDOW_SIZE: 0}))
    + h2raw.frame(h2raw.HEADERS, 0, 1, FIELDS[:20])
    + h2raw.frame(h2raw.CONTINUATION, h2raw.END_HEADERS, 1, FIELDS[20:])
    + h2raw.frame(h2raw.RST_STREAM, 0, 1, b"\0\0\0\x08")
    + h2raw.frame(h2raw.PING, 0, 0, b"12345678")
    + h2raw.frame(h2raw.GOAWAY, 0, 0, b"\0" * 8),
]
HTTP2_PIECES = [
    *(h2raw.frame(kind, flags, stream, b"\xff" * 8) for kind in range(11) for flags in (0, 0xFF) for stream in (0, 1, 2**31 - 1)),
    b"\xff\xff\xff", b"\0" * 9, b"\x3f\xe1\xff\xff\xff\xff\xff\xff\xff\x7f", b"\x80", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
]  # fmt: skip


def test_malformed_connections_are_survived(target, is_full):
    listeners = target.gateway.listeners
    by_listener = [(listeners[name], HTTP1, HTTP1_PIECES) for name in ("object-store", "web", "ops")]
    by_listener += [(listeners[name], HTTP2, HTTP2_PIECES) for name in ("auth", "gateway", "admin", "device-init")]

    def work(worker: int, count: int) -> collections.Counter:
        draw = random.Random(f"{SEED} {worker}")
        seen = collections.Counter()
        for _ in range(count):
            address, documents, pieces = draw.choice(by_listener)
            sent = Mutations(draw, documents, pieces).next()
            response = exchanged(address, sent)
            if documents is HTTP1 and response:
                assert response.startswith(b"HTTP/1."), (sent, response)
                status = int(response[9:12])
                assert status < 500 or status in (*NO_FAILURE, 505), (sent, response)
                seen[status] += 1
            seen["answered" if response else "closed"] += 1
        return seen

    seen = stormed(work, FULL_CONNECTIONS if is_full else CONNECTIONS)
    assert {200, 400, 404, "answered"} <= seen.keys(), seen
    target.assert_serves()


def exchanged(address: str, sent: bytes) -> bytes:
    """Returns the response to these bytes and the end after them; the other side has to close, too."""
    host, port = address.rsplit(":", 1)
    response = b""
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        try:
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            while piece := connection.recv(65536):
                response += piece
        except (ConnectionResetError, BrokenPipeError, OSError) as error:
            assert not isinstance(error, TimeoutError), (address, sent)
    return response


# Requests to the store.


NAMES = [
    "uploads", "uploadId", "partNumber", "tagging", "acl", "delete", "list-type", "prefix", "delimiter", "marker", "max-keys", "max-parts",
    "part-number-marker", "continuation-token", "encoding-type", "versions", "versionId", "append", "position", "symlink", "location",
    "x-oss-process", "response-content-type", "response-content-disposition", "x-id", "attributes", "Expires", "Signature", "OSSAccessKeyId",
    "X-Amz-Date", "X-Amz-Signature", "x-oss-signature",
]  # fmt: skip
HEADERS = [
    "Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range", "Content-MD5", "Content-Type",
    "Content-Encoding", "Cache-Control", "Expect", "Connection", "x-oss-meta-a", "x-oss-forbid-overwrite", "x-oss-object-acl", "x-oss-copy-source",
    "x-oss-storage-class", "x-oss-tagging", "x-oss-hash-crc64ecma", "x-amz-content-sha256", "x-amz-checksum-crc32", "x-amz-checksum-sha256",
    "x-amz-sdk-checksum-algorithm", "x-amz-trailer", "x-amz-decoded-content-length", "x-amz-meta-a", "x-amz-copy-source", "x-amz-tagging",
]  # fmt: skip
VALUES = [
    "", "0", "1", "-1", "2", "10001", "9" * 30, "bytes=0-", "bytes=-1", "bytes=5-1", "bytes=0-0,2-3", "bytes=" + "9" * 30 + "-", "*", '"a"',
    "Thu, 01 Jan 1970 00:00:00 GMT", "Sat, 32 Foo 9999 99:99:99 GMT", "true", "a=b&c=d", "/data/x", "AAAAAA==", "1B2M2Y8AsgTpgAmY7PhCfg==",
    "100-continue", "close", "aws-chunked", "UNSIGNED-PAYLOAD", "STREAMING-UNSIGNED-PAYLOAD-TRAILER", "x-amz-checksum-crc32", "application/xml",
]  # fmt: skip
METHODS = ["GET", "GET", "PUT", "PUT", "POST", "POST", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "A"]


def test_malformed_store_requests_are_survived(target, is_full):
    upload = Upload.create(target.fleet().uploader())
    device = RawStore(upload.credentials)
    static = [RawStore(key.credentials(target.gateway, "tools/storm")) for key in (WRITER, READER)]
    multiparts = [store.request("POST", [("uploads", "")]).text("UploadId") for store in (device, static[0])]
    values = [value for value in TEXTS if value.isprintable()] + VALUES + multiparts
    plain = [value for value in values if value.isascii() and len(value) < 3000]

    def work(worker: int, count: int) -> collections.Counter:
        draw = random.Random(f"{SEED} {worker}")
        connection = http.client.HTTPConnection(device.address, timeout=60)
        seen = collections.Counter()
        for _ in range(count):
            store = draw.choice([device, *static])
            query = [(draw.choice(NAMES), draw.choice(values)[:3000]) for _ in range(draw.randrange(4))]
            headers = {draw.choice(HEADERS): draw.choice(plain) for _ in range(draw.randrange(4))}
            key = draw.choice([None, None, "tools/storm", draw.choice(plain)[:2000] or "a"])
            method, body = draw.choice(METHODS), draw.choice([None, b"", b"a", b"<a/>", content(3000)])
            target_of, signed = store.head(method, query, headers, key, sign=draw.random() < 0.9)
            try:
                connection.request(method, target_of, body, signed)
                reply = connection.getresponse()
                reply.read()
            except (http.client.HTTPException, OSError) as error:
                # A refusal at the header may close the connection before the body was sent.
                connection.close()
                assert not isinstance(error, TimeoutError), (method, target_of, signed)
                seen["closed"] += 1
                continue
            assert reply.status < 500 or reply.status in NO_FAILURE, (reply.status, method, target_of, signed, body)
            seen[reply.status] += 1
        connection.close()
        return seen

    seen = stormed(work, FULL_REQUESTS if is_full else REQUESTS)
    assert {200, 204, 400, 403, 404, 501} <= seen.keys(), seen
    assert seen["closed"] < sum(seen.values()) / 10, seen
    target.assert_serves()
