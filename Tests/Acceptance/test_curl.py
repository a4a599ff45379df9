"""Calls with curl, over HTTP/1.1 to the web listener and over HTTP/2 to the gRPC listeners, and requests that are not calls."""

import base64
import gzip
import json
import subprocess

import pytest
from support import curl as support_curl
from support.apps import ORIGIN
from support.gateway import ADMIN_PASSWORD
from support.monitoring import metric

OBJECTS = "archebase.data_gateway.v1.DataGatewayObjectService"
CHECK = "grpc.health.v1.Health/Check"


@pytest.fixture
def curl(open_gateway, version):
    """curl to the listener of a service, over the version of HTTP: `curl(path, data, *options)`."""

    def run(
        path: str, data: str | bytes | None = "{}", *options: str, type: str = "application/json"
    ) -> support_curl.Response:
        listener = "auth" if "Auth" in path else "gateway"
        address = open_gateway.listeners["web" if version == "http1" else listener]
        response = support_curl.curl(f"http://{address}/{path}", version, data, *options, type=type)
        assert response.code == 0
        return response

    return run


@pytest.fixture
def authorization(curl) -> tuple[str, str]:
    """curl's options for the admin's token."""
    request = {"organization": "system", "user_name": "admin", "password": ADMIN_PASSWORD}
    response = curl("archebase.auth.v1.AuthService/Login", json.dumps(request))
    assert response.status == 200
    # In proto3's JSON, 64-bit numbers are strings, and times are RFC 3339.
    assert int(response.json["accessTokenExpiresAtUnix"]) > 0
    assert response.json["user"]["createdAt"].endswith("Z")
    return "-H", f"Authorization: Bearer {response.json['accessToken']}"


def frame(message: bytes, flag: int = 0) -> bytes:
    return bytes([flag]) + len(message).to_bytes(4, "big") + message


def test_call_with_a_token_succeeds(curl, authorization):
    response = curl(f"{OBJECTS}/ListObjects", '{"pageSize": 10}', *authorization)
    assert response.status == 200
    assert response.fields["content-type"] == "application/json"
    assert isinstance(response.json, dict)


def test_a_refusal_names_the_field_and_carries_its_code(curl, authorization):
    response = curl(f"{OBJECTS}/ListObjects", '{"pageSize": -1}', *authorization)
    assert response.status == 400
    assert response.json["code"] == "invalid_argument"
    assert "page_size" in response.json["message"]
    (detail,) = response.json["details"]
    assert detail["type"] == "archebase.common.v1.ErrorDetail"
    assert detail["debug"]["code"] == "DATA_GATEWAY_INVALID_ARGUMENT"
    assert b"DATA_GATEWAY_INVALID_ARGUMENT" in base64.b64decode(detail["value"] + "==")


@pytest.mark.parametrize("options", [(), ("-H", "Authorization: Bearer x"), ("-H", "Authorization: Basic eDp5")])
def test_unauthenticated_call_is_refused_as_over_grpc(curl, options):
    response = curl(f"{OBJECTS}/ListObjects", "{}", *options)
    assert response.status == 401
    assert response.json["details"][0]["debug"]["code"] == "DATA_GATEWAY_UNAUTHENTICATED"


@pytest.mark.parametrize(
    "data, explanation",
    [
        ("", "{}"),
        ("{", "not valid JSON"),
        ('{"pageSize": "ten"}', "pageSize: the value is not valid for the field"),
        ('{"pageSise": 1}', "pageSise: the field is unknown"),
        ('{"pageSize": 1, "page_size": 2}', "page_size: the field is given twice"),
        ("[" * 100_000, "not valid JSON"),
    ],
)
def test_bad_json_is_explained(curl, authorization, data, explanation):
    response = curl(f"{OBJECTS}/ListObjects", data, *authorization)
    assert response.status == 400
    assert response.json["code"] == "invalid_argument"
    assert explanation in response.json["message"]


def test_compressed_request_is_inflated_within_limits(curl):
    response = curl(CHECK, gzip.compress(b'{"service": ""}'), "-H", "Content-Encoding: gzip")
    assert (response.status, response.json) == (200, {"status": "SERVING"})
    bomb = gzip.compress(b" " * (8 << 20))
    response = curl(CHECK, bomb, "-H", "Content-Encoding: gzip")
    assert (response.status, response.json["code"]) == (429, "resource_exhausted")
    response = curl(CHECK, "{}", "-H", "Content-Encoding: br")
    assert (response.status, response.json["code"]) == (501, "unimplemented")


def test_body_over_the_limit_is_refused(curl):
    response = curl(CHECK, b" " * (5 << 20))
    assert (response.status, response.json["code"]) == (429, "resource_exhausted")


def test_chunked_body_is_read(curl, version):
    options = ("-H", "Transfer-Encoding: chunked") if version == "http1" else ()
    assert curl(CHECK, "{}", *options).json == {"status": "SERVING"}


def test_a_stream_ends_with_its_deadline(curl, version):
    response = curl(
        "grpc.health.v1.Health/Watch",
        frame(b"{}"),
        "-H",
        "Connect-Timeout-Ms: 300",
        type="application/connect+json",
    )
    assert response.status == 200
    first = frame(b'{"status":"SERVING"}')
    assert response.body.startswith(first)
    assert response.body[len(first)] == 2
    end = json.loads(response.body[len(first) + 5 :])
    if version == "http1":
        # A call that waits would occupy a thread there: it returns the current state, and ends.
        assert end == {}
    else:
        assert end["error"]["code"] == "deadline_exceeded"


@pytest.mark.parametrize("text", [False, True])
def test_grpc_web_call_is_answered(curl, text):
    body = frame(b"")
    type = "application/grpc-web-text" if text else "application/grpc-web+proto"
    response = curl(CHECK, base64.b64encode(body) if text else body, "-H", "X-Grpc-Web: 1", type=type)
    assert response.status == 200
    assert response.fields["content-type"] == type
    # Each piece has its own padding.
    message, trailers = frame(b"\x08\x01"), frame(b"grpc-status: 0\r\n", 0x80)
    assert response.body == (base64.b64encode(message) + base64.b64encode(trailers) if text else message + trailers)


@pytest.mark.parametrize(
    "path, options, status",
    [
        (CHECK, ("-X", "PUT"), 405),
        (CHECK, ("-X", "DELETE"), 405),
        (CHECK, ("-X", "OPTIONS"), 405),
        ("archebase.auth.v1.AuthService/Login", ("-X", "GET"), 405),
        ("grpc.health.v1.Health/Nothing", (), 404),
        ("nothing", (), 404),
        ("", (), 404),
        (f"{CHECK}/", (), 404),
        (CHECK, ("-H", f"X-Filler: {'a' * 17_000}"), 431),
    ],
)
def test_request_that_is_no_call_is_refused(curl, version, path, options, status):
    response = curl(path, "{}", *options)
    if status == 431:
        # The HTTP/1.1 server refuses it before any other check.
        assert response.status == (400 if version == "http1" else 431)
        return
    assert response.status == status
    assert response.json["message"]
    assert ("allow" in response.fields) == (status == 405)


@pytest.mark.parametrize("type", ["text/plain", "application/x-www-form-urlencoded", "application/json;charset=x"])
def test_another_content_type_is_refused_with_those_that_are_taken(curl, type):
    response = curl(CHECK, "{}", type=type)
    assert response.status == 415
    assert "application/json" in response.fields["accept-post"] and "application/json" in response.json["message"]


def test_get_calls_safe_methods_only(curl, authorization):
    response = curl(f"{OBJECTS}/ListObjects?encoding=json&message=%7B%22page_size%22%3A-1%7D", None, *authorization)
    assert (response.status, response.json["code"]) == (400, "invalid_argument")
    response = curl(f"{OBJECTS}/ListObjects?encoding=json&message=%7B%7D", None, *authorization)
    assert response.status == 200
    response = curl(f"{OBJECTS}/RequestDownload?encoding=json&message=%7B%7D", None, *authorization)
    assert (response.status, response.fields["allow"]) == (405, "POST")


def test_head_is_refused_without_a_body(curl):
    response = curl(CHECK, None, "--head")
    assert (response.status, response.body) == (405, b"")


def test_grpc_itself_needs_http2(curl, version):
    response = curl(CHECK, frame(b""), "-H", "TE: trailers", type="application/grpc")
    assert response.status == (415 if version == "http1" else 200)


def test_preflight_allows_the_configured_origin_only(curl):
    ask = ("-X", "OPTIONS", "-H", "Access-Control-Request-Method: POST")
    response = curl(f"{OBJECTS}/ListObjects", None, *ask, "-H", f"Origin: {ORIGIN}")
    assert response.status == 204
    assert response.fields["access-control-allow-origin"] == ORIGIN
    assert "authorization" in response.fields["access-control-allow-headers"]
    assert "access-control-allow-credentials" not in response.fields
    response = curl(f"{OBJECTS}/ListObjects", None, *ask, "-H", "Origin: https://evil.example")
    assert response.status == 405
    assert "access-control-allow-origin" not in response.fields


@pytest.mark.parametrize("origin, is_allowed", [(ORIGIN, True), ("https://evil.example", False)])
def test_allowed_pages_may_read_the_answer(curl, origin, is_allowed):
    for path, status in ((CHECK, 200), (f"{OBJECTS}/ListObjects", 401), ("nothing", 404)):
        response = curl(path, "{}", "-H", f"Origin: {origin}")
        assert response.status == status
        assert (response.fields.get("access-control-allow-origin") == origin) == is_allowed
        assert ("grpc-status" in response.fields.get("access-control-expose-headers", "")) == is_allowed


def test_calls_are_counted_as_over_grpc(curl, open_gateway, version):
    def refused() -> float:
        listener = "web" if version == "http1" else "gateway"
        labels = {"listener": listener, "grpc_method": "ListObjects", "grpc_code": "UNAUTHENTICATED"}
        return metric(open_gateway, "grpc_server_handled_total", **labels)

    before = refused()
    assert curl(f"{OBJECTS}/ListObjects").status == 401
    assert refused() == before + 1


def test_without_configuration_no_page_may_call(gateway):
    command = ["curl", "--silent", "--include", "-X", "OPTIONS", "-H", f"Origin: {ORIGIN}"]
    command += ["-H", "Access-Control-Request-Method: POST", f"http://{gateway.listeners['web']}/{CHECK}"]
    response = subprocess.run(command, capture_output=True, check=True).stdout
    assert response.startswith(b"HTTP/1.1 405") and b"access-control" not in response.lower()


def test_the_web_listener_has_what_people_use_and_not_what_devices_do(open_gateway):
    for service, status in (
        ("archebase.auth.v1.AdminAuthService/ListSites", 401),
        ("archebase.auth.v1.UserAuthService/ListUsers", 401),
        ("archebase.meta.v1.DeviceManagementService/ListDevices", 401),
        ("archebase.data_gateway.v1.DataGatewayService/AbortUpload", 404),
        ("archebase.data_gateway.v1.DeviceInitService/InitDevice", 404),
    ):
        command = ["curl", "--silent", "--include", "-d", "{}", "-H", "Content-Type: application/json"]
        command += [f"http://{open_gateway.listeners['web']}/{service}"]
        response = subprocess.run(command, capture_output=True, check=True).stdout
        assert response.startswith(f"HTTP/1.1 {status}".encode()), response
