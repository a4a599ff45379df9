"""The Connect and gRPC-Web protocols with the official Connect client, over HTTP/2 and over HTTP/1.1."""

import pytest
from connectrpc.client import ResponseMetadata
from connectrpc.code import Code
from connectrpc.errors import ConnectError
from connectrpc.method import StreamType
from support import connect
from support.gateway import ADMIN_PASSWORD

SIZES = (31415, 9, 2653, 58979)
TIMEOUT_MS = 60_000


@pytest.fixture(params=["connect", "grpc-web"])
def protocol(request) -> str:
    return request.param


@pytest.fixture(params=["proto", "json"])
def codec(request) -> str:
    return request.param


@pytest.fixture
def client(interop, version, protocol, codec):
    """A client of the TestService, for each combination."""
    address = interop.web if version == "http1" else interop.address
    with connect.client(address, version, protocol, codec, authority=interop.authority) as client:
        yield client


@pytest.fixture
def compressing(interop, version, protocol, codec):
    """The same with gzip in both directions."""
    address = interop.web if version == "http1" else interop.address
    with connect.client(address, version, protocol, codec, compresses=True, authority=interop.authority) as client:
        yield client


@pytest.fixture(scope="module")
def methods(testing):
    def method(name: str, prefix: str, kind: StreamType):
        takes, gives = getattr(testing, f"{prefix}Request"), getattr(testing, f"{prefix}Response")
        return connect.method("grpc.testing.TestService", name, takes, gives, kind)

    return {
        "unary": method("UnaryCall", "Simple", StreamType.UNARY),
        "download": method("StreamingOutputCall", "StreamingOutputCall", StreamType.SERVER_STREAM),
        "upload": method("StreamingInputCall", "StreamingInputCall", StreamType.CLIENT_STREAM),
        "duplex": method("FullDuplexCall", "StreamingOutputCall", StreamType.BIDI_STREAM),
        "missing": method("Missing", "Simple", StreamType.UNARY),
    }


def unary(client, method, request, **options):
    return client.execute_unary(request=request, method=method, timeout_ms=TIMEOUT_MS, **options)


def download(client, method, request, **options):
    options = {"timeout_ms": TIMEOUT_MS} | options
    return list(client.execute_server_stream(request=request, method=method, **options))


def test_large_unary_call_returns_its_payload(client, methods, testing):
    request = testing.SimpleRequest(response_size=314159, payload={"body": bytes(271828)})
    assert unary(client, methods["unary"], request).payload.body == bytes(314159)


def test_metadata_is_echoed(client, methods, testing):
    headers = {"x-grpc-test-echo-initial": "first", "x-grpc-test-echo-trailing-bin": "q6ur"}
    with ResponseMetadata() as metadata:
        unary(client, methods["unary"], testing.SimpleRequest(), headers=headers)
    assert metadata.headers["x-grpc-test-echo-initial"] == "first"
    assert metadata.trailers["x-grpc-test-echo-trailing-bin"] == "q6ur"


def test_error_has_its_code_and_message(client, methods, testing):
    message = "\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n"
    for code in (2, 5, 9, 14):
        request = testing.SimpleRequest(response_status={"code": code, "message": message})
        with pytest.raises(ConnectError) as raised:
            unary(client, methods["unary"], request)
        assert raised.value.message == message
        assert raised.value.code is {2: Code.UNKNOWN, 5: Code.NOT_FOUND, 9: Code.FAILED_PRECONDITION}.get(
            code, Code.UNAVAILABLE
        )


def test_unknown_method_is_unimplemented(client, methods, testing):
    with pytest.raises(ConnectError) as raised:
        unary(client, methods["missing"], testing.SimpleRequest())
    assert raised.value.code is Code.UNIMPLEMENTED


def test_server_stream_has_every_message(client, methods, testing):
    request = testing.StreamingOutputCallRequest(response_parameters=[{"size": size} for size in SIZES])
    responses = download(client, methods["download"], request)
    assert [len(response.payload.body) for response in responses] == list(SIZES)


def test_failed_stream_reports_code_and_message(client, methods, testing):
    request = testing.StreamingOutputCallRequest(response_status={"code": 8, "message": "enough"})
    with pytest.raises(ConnectError) as raised:
        download(client, methods["download"], request)
    assert (raised.value.code, raised.value.message) == (Code.RESOURCE_EXHAUSTED, "enough")


def test_deadline_ends_the_stream(client, methods, testing):
    request = testing.StreamingOutputCallRequest(response_parameters=[{"size": 1, "interval_us": 1_800_000_000}])
    with pytest.raises(ConnectError) as raised:
        download(client, methods["download"], request, timeout_ms=50)
    assert raised.value.code is Code.DEADLINE_EXCEEDED


def test_client_stream_arrives_whole(client, methods, testing):
    requests = [testing.StreamingInputCallRequest(payload={"body": bytes(size)}) for size in (27182, 8, 1828, 45904)]
    response = client.execute_client_stream(request=iter(requests), method=methods["upload"], timeout_ms=TIMEOUT_MS)
    assert response.aggregated_payload_size == 74922


def test_half_duplex_stream_returns_every_response(client, methods, testing):
    """The half-duplex form of bidirectional streaming: over HTTP/1.1 and in browsers there is no other."""
    requests = [testing.StreamingOutputCallRequest(response_parameters=[{"size": size}]) for size in SIZES]
    responses = client.execute_bidi_stream(request=iter(requests), method=methods["duplex"], timeout_ms=TIMEOUT_MS)
    assert [len(response.payload.body) for response in responses] == list(SIZES)


def test_compressed_messages_are_exchanged_both_ways(compressing, methods, testing):
    request = testing.SimpleRequest(
        response_size=314159,
        payload={"body": bytes(271828)},
        expect_compressed={"value": True},
        response_compressed={"value": True},
    )
    assert unary(compressing, methods["unary"], request).payload.body == bytes(314159)
    parameters = [{"size": size, "compressed": {"value": size > 9}} for size in SIZES]
    responses = download(
        compressing, methods["download"], testing.StreamingOutputCallRequest(response_parameters=parameters)
    )
    assert [len(response.payload.body) for response in responses] == list(SIZES)


# The gateway itself.


def test_safe_method_is_called_by_get(gateway, stubs, version, codec):
    """For a method that declares that it has no side effects."""
    address = gateway.listeners["web" if version == "http1" else "auth"]
    takes, gives = stubs.health.HealthCheckRequest, stubs.health.HealthCheckResponse
    with connect.client(address, version, "connect", codec) as client:
        method = connect.method("grpc.health.v1.Health", "Check", takes, gives, is_safe=True)
        assert unary(client, method, takes(), use_get=True).status == 1
        with pytest.raises(ConnectError) as raised:
            unary(client, method, takes(service="nobody"), use_get=True)
        assert raised.value.code is Code.NOT_FOUND


@pytest.fixture
def caller(gateway, stubs, version, protocol, codec):
    """Calls a unary method on the auth listener or, over HTTP/1.1, on the web listener."""
    address = gateway.listeners["web" if version == "http1" else "auth"]
    with connect.client(address, version, protocol, codec) as client:

        def call(service: str, name: str, request, gives):
            method = connect.method(service, name, type(request), gives)
            return unary(client, method, request)

        yield call


def test_login_returns_the_user(caller, stubs):
    request = stubs.auth.LoginRequest(organization="system", user_name="admin", password=ADMIN_PASSWORD)
    reply = caller("archebase.auth.v1.AuthService", "Login", request, stubs.auth.LoginResponse)
    assert reply.user.user_name == "admin"
    assert reply.user.created_at.seconds > 0


def test_a_refusal_carries_its_detail_code(caller, stubs):
    request = stubs.auth.LoginRequest(organization="system", user_name="admin", password="wrong")
    with pytest.raises(ConnectError) as raised:
        caller("archebase.auth.v1.AuthService", "Login", request, stubs.auth.LoginResponse)
    assert raised.value.code is Code.UNAUTHENTICATED
    (detail,) = raised.value.details
    assert detail.type_name == "archebase.common.v1.ErrorDetail"
    assert stubs.common.ErrorDetail.FromString(detail.message_bytes).code == "AUTH_INVALID_CREDENTIAL"
