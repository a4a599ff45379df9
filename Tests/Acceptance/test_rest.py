"""Tests of REST with curl, over HTTP/1.1 at the web listener and over HTTP/2 at the gRPC listeners."""

import gzip
import json
import subprocess

import pytest
from support import curl as support_curl
from support.apps import ORIGIN
from support.gateway import ADMIN_PASSWORD
from support.monitoring import metric

INFO = "type.googleapis.com/google.rpc.ErrorInfo"


@pytest.fixture
def curl(open_gateway, version):
    """Returns a function that runs curl at the path's listener with the HTTP version: `curl(path, *options, data=…)`."""

    def run(
        path: str, *options: str, data: str | bytes | None = None, listener: str = "admin"
    ) -> support_curl.Response:
        address = open_gateway.listeners["web" if version == "http1" else listener]
        return support_curl.curl(f"http://{address}{path}", version, data, *options)

    return run


@pytest.fixture
def token(curl) -> tuple[str, str]:
    """Returns curl's options for the admin's token."""
    request = {"organization": "system", "user_name": "admin", "password": ADMIN_PASSWORD}
    response = curl("/v1/sessions", data=json.dumps(request), listener="auth")
    assert response.status == 200
    return "-H", f"Authorization: Bearer {response.json['accessToken']}"


def test_a_resource_is_made_read_changed_and_deleted(curl, token, version):
    site = curl("/v1/sites", *token, data=json.dumps({"name": f"rest {version}"})).json["site"]
    path = f"/v1/sites/{site['siteId']}"
    assert curl(path, *token).json == {"site": site}
    assert site in curl("/v1/sites", *token).json["sites"]
    renamed = curl(path, *token, "-X", "PATCH", data=json.dumps({"name": f"other {version}"}))
    assert renamed.json["site"]["name"] == f"other {version}"
    # An empty body is accepted like no body.
    assert curl(f"{path}:disable", *token, "-X", "POST").json["site"]["status"] == 2
    assert curl(path, *token, "-X", "DELETE").json == {}
    assert (curl(path, *token).status, curl(path, *token).json["error"]["status"]) == (404, "NOT_FOUND")


def test_a_resource_name_is_in_the_path(curl, token, version):
    name = "260101-00000" + version[-1]
    assert curl("/v1/devices", *token, data=json.dumps({"device_id": name})).json["name"] == f"devices/{name}"
    assert curl(f"/v1/devices/{name}", *token).json["deviceId"] == name
    assert curl(f"/v1/devices/{name}:disable", *token, "-X", "POST").json["status"] == "DEVICE_STATUS_DISABLED"


def test_a_refusal_has_the_form_of_aip_193(curl, token):
    response = curl("/v1/objects?page_size=-1", *token, listener="gateway")
    assert response.status == 400
    error = response.json["error"]
    assert (error["code"], error["status"]) == (400, "INVALID_ARGUMENT")
    assert "page_size" in error["message"]
    assert error["details"] == [{"@type": INFO, "reason": "DATA_GATEWAY_INVALID_ARGUMENT", "domain": "data-gateway"}]
    refused = curl("/v1/sites")
    assert (refused.status, refused.reason) == (401, "DATA_GATEWAY_UNAUTHENTICATED")
    assert refused.fields["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "path, options, explanation",
    [
        ("/v1/sites?nam=1", (), "the parameter nam is unknown"),
        ("/v1/sites/one", (), "site_id in the path"),
        ("/v1/users/%zz", (), "user_name in the path"),
        ("/v1/sites", ("-X", "GET", "-H", "Content-Type: application/json", "-d", "{}"), "takes no body"),
        ("/v1/sites", ("-H", "Content-Type: application/json", "-d", "{"), "not valid JSON"),
        ("/v1/trashSettings", ("-X", "PUT"), "the body is missing"),
        ("/v1/trashSettings", ("-X", "PUT", "-H", "Content-Type: application/json", "-d", "{}"), "days must be set"),
        ("/v1/signInPolicy", ("-X", "PUT", "-H", "Content-Type: application/json", "-d", "{}"), "policy must be set"),
        ("/v1/retention", ("-X", "PUT"), "the body is missing"),
        ("/v1/sites", ("-H", "Content-Type: application/json", "-d", '{"nam": 1}'), "nam: the field is unknown"),
    ],
)
def test_a_wrong_request_is_explained(curl, token, path, options, explanation):
    response = curl(path, *token, *options)
    assert response.status == 400
    assert explanation in response.json["error"]["message"]


def test_methods_of_a_path_are_listed(curl, token):
    allowed = "GET, HEAD, PATCH, DELETE, OPTIONS"
    refused = curl("/v1/sites/1", *token, "-X", "PUT")
    assert (refused.status, refused.fields["allow"]) == (405, allowed)
    options = curl("/v1/sites/1", "-X", "OPTIONS")
    assert (options.status, options.fields["allow"], options.body) == (200, allowed, b"")
    assert curl("/v1/nothing", *token).status == 404
    assert curl("/v1", *token).status == 404


def test_head_has_the_length_of_get(curl, token):
    whole = curl("/v1/health", *token)
    response = curl("/v1/health", *token, "--head")
    assert (response.status, response.body, response.code) == (200, b"", 0)
    assert int(response.fields["content-length"]) == len(whole.body)


def test_bodies_are_limited_also_when_inflated(curl, token):
    large = json.dumps({"name": "a" * (5 << 20)})
    assert curl("/v1/sites", *token, data=large).status == 413
    compressed = gzip.compress(json.dumps({"name": ""}).encode())
    response = curl("/v1/sites", *token, "-H", "Content-Encoding: gzip", data=compressed)
    assert (response.status, "name" in response.json["error"]["message"]) == (400, True)
    assert curl("/v1/sites", *token, "-H", "Content-Encoding: br", data="{}").status == 501
    assert curl("/v1/sites", *token, "-H", "Content-Type: text/plain", "-d", "a").status == 415


def test_a_stream_is_lines_or_events(curl, version):
    if version == "http1":
        lines = curl("/v1/health:watch")
        assert (lines.code, lines.fields["content-type"]) == (0, "application/x-ndjson")
        assert lines.body == b'{"result":{"status":"SERVING"}}\n'
        return
    # The timeout ends the call, and the client detects that the response is incomplete.
    events = curl("/v1/health:watch", "-H", "Accept: text/event-stream", "-H", "Connect-Timeout-Ms: 5000")
    assert (events.code, events.fields["content-type"]) == (92, "text/event-stream")
    assert events.body.startswith(b'data: {"status":"SERVING"}\n\n')


@pytest.mark.sqlite
def test_a_backup_is_the_bytes_of_its_archive(curl, token, binary, tmp_path):
    response = curl("/v1/backup", *token, data='{"withoutObjects": true}')
    assert (response.status, response.code) == (200, 0)
    assert response.fields["content-type"] == "application/octet-stream"
    assert response.body.startswith(b"data-gateway backup ")


@pytest.mark.parametrize("origin, is_allowed", [(ORIGIN, True), ("https://evil.example", False)])
def test_pages_may_use_the_methods_of_a_path(curl, origin, is_allowed):
    ask = ("-H", f"Origin: {origin}", "-H", "Access-Control-Request-Method: PATCH")
    response = curl("/v1/sites/1", "-X", "OPTIONS", *ask)
    assert response.status == 200
    methods = response.fields.get("access-control-allow-methods")
    assert methods == ("GET, HEAD, PATCH, DELETE, OPTIONS" if is_allowed else None)
    for path in ("/v1/sites", "/v1/nothing"):
        assert ("access-control-allow-origin" in curl(path, *ask[:2]).fields) == is_allowed


def test_calls_are_counted_under_their_method(curl, open_gateway, version):
    def refused() -> float:
        listener = "web" if version == "http1" else "admin"
        labels = {"listener": listener, "grpc_method": "ListSites", "grpc_code": "UNAUTHENTICATED"}
        return metric(open_gateway, "grpc_server_handled_total", **labels)

    before = refused()
    assert curl("/v1/sites").status == 401
    assert refused() == before + 1


def test_services_of_devices_are_not_at_the_web_listener(open_gateway):
    for path in ("/v1/uploads", "/v1/devices/260101-000001:init"):
        command = ["curl", "--silent", "--include", "--json", "{}", f"http://{open_gateway.listeners['web']}{path}"]
        response = subprocess.run(command, capture_output=True, check=True).stdout
        assert response.startswith((b"HTTP/1.1 404", b"HTTP/1.1 405")), response
