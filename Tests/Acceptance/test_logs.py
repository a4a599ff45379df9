"""The log: a line for every call and request, the named callers, and the secrets that it never contains."""

import fcntl
import http.client
import json
import os
import socket
import subprocess
import urllib.error
import urllib.parse
import urllib.request

import grpc
import pytest
from support.commands import CommandLine
from support.gateway import ADMIN_PASSWORD, LISTENERS, eventually
from support.h2raw import DATA, END_HEADERS, END_STREAM, HEADERS, Peer, block
from support.monitoring import log, logged
from support.parties import PASSWORD, Fleet, User, call, exchange, unique
from support.raw import RawStore, fetch
from support.uploads import Upload, completed
from support.waiting import WAIT_SECONDS

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


@pytest.fixture(scope="module")
def chatty(gateway_with):
    """A gateway that logs as much as possible."""
    return gateway_with({"log": {"level": "debug"}})


@pytest.fixture(scope="module")
def boss(chatty, login):
    return login(chatty)


@pytest.fixture(scope="module")
def device(boss):
    return Fleet.create(boss).uploader()


def list_sites(boss, **metadata: str):
    """Makes one call, and returns the header of its response."""
    stub = boss.stubs.auth.AdminAuthServiceStub(boss.gateway.channel("admin"))
    pairs = [("authorization", f"Bearer {boss.token}")] + [(k.replace("_", "-"), v) for k, v in metadata.items()]
    reply, handle = stub.ListSites.with_call(boss.stubs.auth.ListSitesRequest(), metadata=pairs, timeout=20)
    return reply, dict(handle.initial_metadata())


def test_a_call_has_its_line(boss, chatty):
    name = unique("request")
    reply, header = list_sites(boss, x_request_id=name, traceparent=f"00-{TRACE}-{PARENT}-01")
    assert header["x-request-id"] == name
    line = logged(chatty, request_id=name)
    assert line["event"] == "call" and line["level"] == "info" and line["listener"] == "admin"
    assert line["method"] == "/archebase.auth.v1.AdminAuthService/ListSites"
    assert line["code"] == "OK" and line["principal"] == "user:system/admin" and line["organization_id"] > 0
    assert line["peer"].startswith("127.0.0.1:")
    assert 0 < line["duration_ms"] < 20_000
    assert line["bytes_in"] == 5 and line["bytes_out"] == 5 + reply.ByteSize()
    assert (line["trace_id"], line["parent_span_id"]) == (TRACE, PARENT)
    assert len(line["span_id"]) == 16 and line["span_id"] != PARENT


def test_request_without_a_valid_name_gets_one(boss, chatty):
    for given in ({}, {"x_request_id": "not a name"}, {"x_request_id": "x" * 129}):
        header = list_sites(boss, **given)[1]
        assert len(header["x-request-id"]) == 32
        assert "trace_id" not in logged(chatty, request_id=header["x-request-id"])


@pytest.mark.parametrize("field", [f"00-{TRACE}-{PARENT}", f"00-{'0' * 32}-{PARENT}-01", f"ff-{TRACE}-{PARENT}-01"])
def test_malformed_trace_is_ignored(boss, chatty, field):
    name = unique("request")
    list_sites(boss, x_request_id=name, traceparent=field)
    assert "trace_id" not in logged(chatty, request_id=name)


def test_a_refusal_names_its_code_and_who_was_refused(boss, device, chatty, stubs):
    name = unique("request")
    stub = stubs.gateway.DataGatewayServiceStub(chatty.channel("gateway"))
    with pytest.raises(grpc.RpcError) as refused:
        request = stubs.gateway.GetUploadRecoveryRequest(logical_upload_id="no-such")
        call(stub.GetUploadRecovery, request, device.token, {"x-request-id": name})
    assert dict(refused.value.initial_metadata())["x-request-id"] == name
    line = logged(chatty, request_id=name)
    assert (line["code"], line["detail"]) == ("NOT_FOUND", "DATA_GATEWAY_UPLOAD_NOT_FOUND")
    assert line["principal"] == f"device:{device.device_id}" and line["site_id"] > 0


def test_calls_over_http1_have_the_same_line_and_no_other(boss, chatty):
    name = unique("request")
    request = urllib.request.Request(
        f"http://{chatty.listeners['web']}/archebase.auth.v1.AdminAuthService/ListSites", b"{}",
        {"content-type": "application/json", "authorization": f"Bearer {boss.token}", "x-request-id": name},
    )  # fmt: skip
    with urllib.request.urlopen(request, timeout=20) as response:
        assert response.headers.get_all("x-request-id") == [name]
        size = len(response.read())
    line = logged(chatty, request_id=name)
    assert line["event"] == "call" and line["listener"] == "web" and line["bytes_in"] == 2
    assert line["bytes_out"] == size


def test_request_that_is_no_call_has_a_log_line(chatty):
    for listener, event in (("web", "a request was not a call"), ("ops", "request")):
        name = unique("request")
        url = f"http://{chatty.listeners[listener]}/nothing?token=hush"
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(urllib.request.Request(url, headers={"x-request-id": name}), timeout=20)
        assert refused.value.code == 404 and refused.value.headers["x-request-id"] == name
        line = logged(chatty, request_id=name, event=event)
        assert line["path"] == "/nothing" and line["listener"] == listener
    assert "hush" not in chatty.stderr


def test_requests_of_the_object_store_are_logged(boss, device, chatty):
    upload = completed(device, b"x" * 1000)
    put = logged(chatty, operation="PutObject", target=f"uploads/{upload.id}")
    assert put["status"] == 200 and put["bytes_in"] == 1000 and put["dialect"] == "oss"
    assert put["principal"].startswith("api_key:") and put["path"].endswith(upload.credentials.key)
    file = boss.list_all()[0]
    url = boss.objects("RequestDownload", file_ids=[file.file_id]).files[0].read.uri
    name = unique("request")
    with urllib.request.urlopen(urllib.request.Request(url, headers={"x-request-id": name}), timeout=20) as response:
        assert response.headers["x-oss-request-id"] == name and len(response.read()) == 1000
    get = logged(chatty, request_id=name)
    assert (get["operation"], get["status"], get["bytes_out"]) == ("GetObject", 200, 1000)
    assert "?" not in get["path"]


def test_mistake_of_a_client_is_not_logged_as_an_error(chatty, device):
    """Operators who are alerted at errors must not be alerted by unknown callers."""
    headers = [(":method", "POST"), (":scheme", "http"), (":path", "/grpc.health.v1.Health/Check"), (":authority", "a")]
    headers += [("content-type", "application/grpc"), ("x-request-id", "without-te")]
    compressed = [(":path", "/grpc.health.v1.Health/List"), ("te", "trailers"), ("x-request-id", "without-encoding")]
    with Peer(chatty.listeners["auth"]) as peer:
        peer.send(HEADERS, END_HEADERS | END_STREAM, 1, block(*headers))
        peer.expect_end(1)
        peer.send(HEADERS, END_HEADERS, 3, block(*(dict(headers) | dict(compressed)).items()))
        peer.send(DATA, END_STREAM, 3, b"\1\0\0\0\1a")
        peer.expect_end(3)
    for request_id in ("without-te", "without-encoding"):
        line = logged(chatty, request_id=request_id)
        assert (line["code"], line["level"]) == ("INTERNAL", "info")
    raw = RawStore(Upload.create(device).credentials)
    assert raw.request("GET", [("acl", "")]).status == 501
    line = eventually(lambda: [line for line in log(chatty) if line.get("status") == 501])[-1]
    assert line["level"] == "info"
    assert not [line for line in log(chatty) if line["event"] == "a request to the object store failed"]


def test_no_secret_is_in_the_log_of_a_whole_flow(chatty, stubs, login, binary, tmp_path):
    boss = login(chatty)
    refreshed = call(
        stubs.auth.AuthServiceStub(chatty.channel("auth")).RefreshToken,
        stubs.auth.RefreshTokenRequest(refresh_token=boss.refresh_token),
    )
    secrets = [
        ADMIN_PASSWORD,
        PASSWORD,
        boss.token,
        boss.refresh_token,
        refreshed.access_token,
        refreshed.refresh_token,
    ]
    user = unique("user")
    boss.users("CreateUser", user_name=user, password=PASSWORD, role="viewer")
    viewer = User.login(chatty, stubs, "system", user, PASSWORD)
    secrets += [viewer.token, viewer.refresh_token]

    fleet = Fleet.create(boss)
    device = fleet.uploader()
    made = boss.admin("CreateSiteApiKey", site_id=fleet.site_id, key_name=unique("key"))
    rotated = boss.admin("RotateApiKeySecret", api_key_id=made.api_key.api_key_id)
    site_token = exchange(chatty, stubs, rotated.credential).access_token
    secrets += [device.credential, device.token, made.credential, rotated.credential, site_token]

    for client in ("alibabacloud-v4", "oss2-v1"):
        upload = Upload.create(device, client).put(b"x" * 1000)
        upload.complete()
        fresh = upload.reissued()
        secrets += [upload.credentials.secret, upload.credentials.token, fresh.secret, fresh.token]
    file_id = viewer.list_all()[0].file_id
    url = viewer.objects("RequestDownload", file_ids=[file_id]).files[0].read.uri
    secrets += [
        value for values in urllib.parse.parse_qs(url.split("?")[1]).values() for value in values if len(value) > 20
    ]
    urllib.request.urlopen(url, timeout=20).read()

    operator = CommandLine(binary, chatty, tmp_path).login()
    service = unique("service")
    boss.users("CreateUser", user_name=service, role="service")
    credential = operator.json("user", "credential", service)
    secrets += [value for value in credential.values() if isinstance(value, str) and len(value) > 40]
    passphrase = tmp_path / "passphrase"
    passphrase.write_text("a passphrase of some length\n")
    operator.json("backup", "--to", str(tmp_path / "x.backup"), "--passphrase-file", str(passphrase))
    secrets.append(passphrase.read_text().strip())

    # Also credentials that are sent in the wrong place, or are invalid.
    for token in (device.token + "x", rotated.credential):
        with pytest.raises(grpc.RpcError):
            call(
                stubs.gateway.DataGatewayObjectServiceStub(chatty.channel("gateway")).ListObjects,
                stubs.gateway.ListObjectsRequest(), token,
            )  # fmt: skip
    with pytest.raises(grpc.RpcError):
        User.login(chatty, stubs, "system", user, "a wrong password of some length")
    secrets.append("a wrong password of some length")

    end = unique("end")
    list_sites(boss, x_request_id=end)
    logged(chatty, request_id=end)
    text = chatty.stderr
    assert len(secrets) > 25 and all(len(secret) >= 16 for secret in secrets)
    for secret in secrets:
        assert secret not in text, f"{secret[:6]}…"
        assert urllib.parse.quote(secret, safe="") not in text


def test_nothing_breaks_out_of_its_line(chatty):
    host, port = chatty.listeners["ops"].split(":")
    name = unique("request")
    with socket.create_connection((host, int(port)), timeout=20) as peer:
        peer.sendall(b'GET /\x1b[2J\x9b"\\{name} HTTP/1.1\r\nHost: x\r\nx-request-id: ' + name.encode() + b"\r\n\r\n")
        assert peer.recv(1000)
    line = logged(chatty, request_id=name)
    assert line["path"].startswith("/\x1b[2J")
    raw = next(line for line in chatty.stderr.splitlines() if name in line)
    assert "\x1b" not in raw and "\\u001b" in raw


def test_every_line_is_one_object(chatty, boss):
    lines = log(chatty)
    assert len(lines) > 10
    for line in lines:
        assert {"time", "level", "event"} <= line.keys() and line["level"] in ("debug", "info", "warning", "error")


def test_without_access_lines_there_is_what_matters_only(gateway_with, login):
    gateway = gateway_with({"log": {"access": False, "level": "debug"}})
    login(gateway).admin("ListSites")
    gateway.stop()
    assert not [line for line in log(gateway) if line["event"] in ("call", "request", "a request was not a call")]


def test_text_format_writes_readable_lines(gateway_with, login):
    gateway = gateway_with({"log": {"format": "text"}})
    login(gateway).admin("ListSites")
    eventually(lambda: "method=/archebase.auth.v1.AdminAuthService/ListSites code=OK peer=127.0.0.1:" in gateway.stderr)


def test_lines_before_the_end_are_written(gateway_with, login):
    gateway = gateway_with()
    name = unique("request")
    list_sites(login(gateway), x_request_id=name)
    gateway.stop()
    assert any(line.get("request_id") == name for line in log(gateway))


def test_log_reader_that_stops_reading_does_not_block_the_gateway(binary, tmp_path):
    (config := tmp_path / "config").write_text('{"log": {"level": "debug"}}')
    command = [binary, "serve", "--data-dir", tmp_path / "data", "--config", config]
    command += [word for name in LISTENERS for word in (f"--{name}-listen", "127.0.0.1:0")]
    reader, end = os.pipe()
    with open(reader, "rb"), subprocess.Popen(command, stdout=subprocess.PIPE, stderr=end) as process:
        os.close(end)
        ops = json.loads(process.stdout.readline())["listeners"]["ops"]
        connection = http.client.HTTPConnection(ops, timeout=20)
        # More than a pipe accepts.
        for _ in range(fcntl.fcntl(reader, fcntl.F_GETPIPE_SZ) // 100):
            connection.request("GET", "/healthz")
            assert connection.getresponse().read() == b"ok\n"
        connection.close()
        process.terminate()
        try:
            assert process.wait(WAIT_SECONDS) == 0
        finally:
            process.kill()


def test_a_call_through_the_console_has_one_line(chatty):
    web, name = chatty.listeners["web"], unique("request")
    fields = {"Sec-Fetch-Site": "same-origin", "Content-Type": "application/json", "x-request-id": name}
    credentials = {"organization": "system", "userName": "admin", "password": ADMIN_PASSWORD}
    response = fetch(web, "POST", "/console/session", json.dumps(credentials).encode(), fields)
    fields |= {
        "Cookie": response.headers["Set-Cookie"].split(";")[0],
        "X-Console-Token": json.loads(response.body)["token"],
    }
    logged(chatty, request_id=name, event="call", method="/archebase.auth.v1.AuthService/Login")

    name = unique("request")
    fields |= {"x-request-id": name, "traceparent": f"00-{TRACE}-{PARENT}-01"}
    path = "/archebase.auth.v1.AdminAuthService/ListSites"
    response = fetch(web, "POST", f"/console/rpc{path}", b"{}", fields)
    assert response.status == 200 and response.headers["x-request-id"] == name
    line = logged(chatty, request_id=name)
    assert (line["event"], line["method"], line["principal"]) == ("call", path, "user:system/admin")
    assert (line["trace_id"], line["parent_span_id"]) == (TRACE, PARENT)

    offer = fetch(
        web, "POST", "/console/backups", b'{"withoutObjects": true}', fields | {"x-request-id": unique("request")}
    )
    target = json.loads(offer.body)["path"]
    fields["x-request-id"] = unique("request")
    assert fetch(web, "GET", target, b"", fields).status == 200
    assert (
        logged(chatty, request_id=fields["x-request-id"])["method"] == "/archebase.data_gateway.v1.BackupService/Backup"
    )
    assert target.split("=")[1] not in chatty.stderr


def test_failed_start_is_reported_in_plain_text(binary):
    done = subprocess.run([binary, "serve", "--data-dir", "/proc/nowhere"], capture_output=True, text=True, timeout=30)
    assert done.returncode == 1 and done.stderr.startswith("data-gateway: ")
    with pytest.raises(json.JSONDecodeError):
        json.loads(done.stderr)
