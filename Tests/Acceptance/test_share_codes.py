"""The app for share codes: the requests of its documentation, its own code, races, faults and limits."""

import concurrent.futures
import errno
import http.client
import json
import subprocess
import threading
import time

import pytest
from support import apps
from support.database import rows, tables
from support.faults import SYNC, Faults
from support.gateway import Gateway, eventually
from support.monitoring import metric

CONFIGURATION = {
    "listeners": {"apps": "127.0.0.1:0"},
    "apps": {"share_codes": {"enabled": True}, "cors_origins": ["https://um.example"]},
    # Callers name their address, so that each test has limits of its own.
    "rpc": {"trusted_proxies": ["127.0.0.1"]},
}


class Response(apps.Response):
    @property
    def error(self) -> tuple[int, str]:
        """The status and the code; the body must have the one shape of errors."""
        body = self.json
        assert list(body) == ["error"], body
        assert list(body["error"]) in (["code", "message"], ["code", "message", "details"]), body
        assert all(isinstance(text, str) and text for text in body["error"].values()), body
        return self.status, body["error"]["code"]


class Phone(apps.App):
    """A client of the app at an address of its own."""

    response = Response

    def __init__(self, gateway: Gateway, address: str):
        super().__init__(gateway, x_forwarded_for=address)

    def register(self, code: str, umid: str = "ada", token: str | None = None, **changes) -> Response:
        registration = {"umid": umid, "shareCode": code, "encryptedData": "…", "validityMinutes": 5}
        return self.post("/api/share-code/register", registration | changes, token)

    def claim(self, umid: str) -> str:
        response = self.post("/api/umid", {"umid": umid})
        assert response.status == 200 and response.json["umid"] == umid, response
        return response.json["token"]


_addresses = iter(f"203.0.113.{number}" for number in range(1, 250))


@pytest.fixture
def phone(server) -> Phone:
    return Phone(server, next(_addresses))


def test_requests_of_the_documentation_have_its_responses(phone):
    """Verbatim, apart from times, which are those of today, and the version."""
    health = phone.get("/api/health")
    assert (health.status, health.fields["content-type"]) == (200, "application/json")
    assert list(health.json) == ["status", "timestamp", "version"] and health.json["status"] == "ok"
    assert len(health.json["timestamp"]) == len("2024-01-20T10:00:00Z") and health.json["timestamp"].endswith("Z")

    check = phone.post("/api/share-code/check", b'{\n"shareCode": "A1B2C3"\n}')
    assert (check.status, check.body) == (200, b'{"isUnique":true,"shareCode":"A1B2C3"}')

    sample = b"""{
"umid": "abc123...",
"shareCode": "A1B2C3",
"encryptedData": "...",
"validityMinutes": 5,
"expiresAt": "2024-01-20T10:05:00Z"
}"""
    registered = phone.post("/api/share-code/register", sample)
    assert registered.status == 200
    assert list(registered.json) == ["success", "shareCode", "expiresAt"]
    assert (registered.json["success"], registered.json["shareCode"]) == (True, "A1B2C3")
    assert registered.json["expiresAt"] > health.json["timestamp"]

    request = """{
"requestId": "uuid-here",
"fromUserId": "user-uuid",
"toUserId": "target-uuid",
"message": "查询您的状态"
}""".encode()
    requested = phone.post("/api/status-request", request)
    assert (requested.status, requested.body) == (200, b'{"success":true,"requestId":"uuid-here","status":"pending"}')

    collision = b"""{
"shareCode": "A1B2C3",
"attempts": 3,
"codeLength": 6,
"timestamp": "2024-01-20T10:00:00Z"
}"""
    recorded = phone.post("/api/collision/record", collision)
    assert (recorded.status, recorded.body) == (200, b'{"success":true}')

    check = phone.post("/api/share-code/check", b'{"shareCode":"TEST01"}')
    assert (check.status, check.body) == (200, b'{"isUnique":true,"shareCode":"TEST01"}')
    assert phone.post("/api/share-code/check", b'{"shareCode":"a1b2c3"}').json["isUnique"] is False


def test_curl_of_the_documentation_gets_its_output(gateway_with):
    url = f"http://{gateway_with(CONFIGURATION).listeners['apps']}"

    def curl(*arguments: str) -> bytes:
        return subprocess.run(["curl", "-sS", *arguments], capture_output=True, check=True, timeout=60).stdout

    health = json.loads(curl(f"{url}/api/health"))
    assert list(health) == ["status", "timestamp", "version"] and health["status"] == "ok"
    command = ["-X", "POST", f"{url}/api/share-code/check", "-H", "Content-Type: application/json"]
    assert curl(*command, "-d", '{"shareCode":"TEST01"}') == b'{"isUnique":true,"shareCode":"TEST01"}'


@pytest.fixture(scope="module")
def client(binary):
    """Runs the app's own code: `client(url, *arguments)` returns its exit code and its output."""

    def run(url: str, *arguments: str) -> tuple[int, str]:
        program = binary.with_name("share-codes-client")
        done = subprocess.run([program, url, *arguments], capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout.strip()

    return run


def test_code_of_the_app_works_and_fails_as_it_says(gateway_with, client):
    gateway = gateway_with(CONFIGURATION)
    url = f"http://{gateway.listeners['apps']}"
    assert client(url, "test") == (0, "✅ 连接成功")
    assert client(url, "check", "SWIFT1") == (0, "true")
    assert Phone(gateway, "192.0.2.1").register("SWIFT1").status == 200
    assert client(url, "check", "swift1") == (0, "false")
    assert client(url, "check", "no code") == (1, "invalidResponse")
    assert client(url, "request", "r-1", "bob", "ada", "查询您的状态") == (0, "sent")
    assert client(url, "request", "r-2", "bob", "bob", "") == (1, "requestFailed")
    # Another server than the app's.
    assert client(f"http://{gateway.listeners['web']}", "test") == (0, "❌ 服务器响应异常")
    gateway.stop()
    code, text = client(url, "test")
    assert code == 0 and text.startswith("❌ 连接失败:")
    assert client(url, "check", "SWIFT2") == (1, "no connection")
    assert client(url, "request", "r-3", "bob", "ada", "") == (1, "no connection")


def test_one_of_64_registrations_wins_and_survives_a_kill(gateway_with):
    gateway = gateway_with(CONFIGURATION)
    start = threading.Barrier(64)

    def register(number: int) -> Response:
        start.wait()
        return Phone(gateway, f"198.51.100.{number}").register("RACE64", f"umid-{number}")

    with concurrent.futures.ThreadPoolExecutor(64) as threads:
        responses = list(threads.map(register, range(64)))
    gateway.kill()
    outcomes = sorted(response.status for response in responses)
    assert outcomes == [200] + [409] * 63
    assert {response.error for response in responses if response.status == 409} == {(409, "ALREADY_EXISTS")}
    winner = next(number for number, response in enumerate(responses) if response.status == 200)
    assert rows(gateway, "SELECT code, umid FROM share_codes") == [("RACE64", f"umid-{winner}")]
    gateway.start()
    found = Phone(gateway, "192.0.2.1").get("/api/share-code/race64")
    assert (found.status, found.json["encryptedData"]) == (200, "…")
    assert found.json["shareCode"] == "race64" and found.json["expiresAt"] == responses[winner].json["expiresAt"]


def test_every_answered_change_survives_kills(gateway_with):
    gateway = gateway_with(CONFIGURATION)
    phone = Phone(gateway, "192.0.2.1")

    def kill():
        gateway.kill()
        gateway.start()

    registered = phone.register("KILL01").json
    kill()
    assert phone.get("/api/share-code/KILL01").json["expiresAt"] == registered["expiresAt"]
    ada, bob = phone.claim("ada"), phone.claim("bob")
    kill()
    request = {"requestId": "r", "fromUserId": "bob", "toUserId": "ada", "message": "今天好吗?"}
    assert phone.post("/api/status-request", request).json["status"] == "pending"
    kill()
    received = phone.get("/api/status-request?status=pending", ada).json["requests"]
    assert [(each["requestId"], each["message"]) for each in received] == [("r", "今天好吗?")]
    kill()
    assert phone.get("/api/status-request/r", bob).json["status"] == "delivered"
    response = {"status": "accepted", "encryptedData": "c2VhbGVk"}
    assert phone.post("/api/status-request/r/answer", response, ada).status == 200
    kill()
    assert phone.get("/api/status-request/r", bob).json == {"requestId": "r"} | response
    assert phone.send("DELETE", "/api/umid", token=ada).status == 200
    kill()
    assert phone.get("/api/status-request", ada).error == (401, "UNAUTHORIZED")
    assert phone.get("/api/status-request/r", bob).error == (404, "NOT_FOUND")
    assert phone.get("/api/share-code/KILL01").error == (404, "NOT_FOUND")


def test_walk_through_codes_is_stopped_and_others_are_not_touched(server, phone):
    other = Phone(server, next(_addresses))
    assert other.register("RIGHT1", "walked").status == 200
    before = metric(server, "data_gateway_share_codes_misses_total")
    codes, begun = iter([f"W{number}" for number in range(10_000, 99_999)]), time.monotonic()
    responses = [phone.get(f"/api/share-code/{next(codes)}") for _ in range(30)]
    assert {response.error for response in responses} == {(404, "NOT_FOUND")}

    def is_stopped() -> bool:
        """Whether a wrong code is refused, and then the right one; the limit grows again by one call in two seconds."""
        wrong = phone.get(f"/api/share-code/{next(codes)}")
        responses.append(wrong)
        if wrong.error == (404, "NOT_FOUND"):
            assert len(responses) < 50 + (time.monotonic() - begun) / 2
            return False
        assert wrong.error == (429, "RATE_LIMITED") and 1 <= int(wrong.fields["retry-after"]) <= 60
        return phone.get("/api/share-code/RIGHT1").error == (429, "RATE_LIMITED")

    eventually(is_stopped, every=0)
    assert other.get("/api/share-code/RIGHT1").status == 200
    assert metric(server, "data_gateway_share_codes_misses_total") - before >= 30
    assert metric(server, "data_gateway_share_codes_live") >= 1


def test_errors_of_every_kind_have_one_shape(phone):
    def refused(method: str, path: str, body=None, **fields: str) -> Response:
        return phone.send(method, path, body, **fields)

    check = "/api/share-code/check"
    for body in (b"", b"{", b"[]", b"null", b'"A1B2C3"', b"\xff", b'{"shareCode":"A1B2C3"'):
        assert refused("POST", check, body).error == (400, "INVALID_REQUEST"), body
    assert "archebase" not in refused("POST", check, b"{}x").json["error"]["message"]
    for body in ({"shareCode": "A1"}, {"shareCode": 5}, {"shareCode": None}, {}):
        response = refused("POST", check, body)
        assert response.error == (400, "INVALID_REQUEST") and response.json["error"]["details"] == "shareCode", body
    for changes, field in (
        ({"umid": ""}, "umid"),
        ({"umid": "a b"}, "umid"),
        ({"encryptedData": ""}, "encryptedData"),
        ({"encryptedData": "x" * 16_385}, "encryptedData"),
        ({"validityMinutes": 0}, "validityMinutes"),
        ({"validityMinutes": "soon"}, "validityMinutes"),
        ({"validityMinutes": None}, "validityMinutes"),
        ({"expiresAt": "tomorrow"}, "expiresAt"),
    ):
        response = phone.register("A1B2C3", **changes)
        assert response.error == (400, "INVALID_REQUEST") and response.json["error"]["details"] == field, field
    assert refused("POST", check, {"shareCode": "A1B2C3"}, Content_Type="text/plain").error == (
        415,
        "UNSUPPORTED_MEDIA_TYPE",
    )
    for path in (
        "/",
        "/nothing",
        "/api",
        "/api/",
        "/api/nothing",
        "/api/share-code",
        "/api/share-code/A1B2C3/data",
        "/api/%ff",
    ):
        assert refused("GET", path).error == (404, "NOT_FOUND"), path
    response = refused("GET", check.replace("check", "check/x"))
    assert response.error == (404, "NOT_FOUND")
    response = refused("DELETE", check)
    assert response.error == (405, "METHOD_NOT_ALLOWED") and "POST" in response.fields["allow"]
    for path in ("/api/collision/record", check, "/api/share-code/register"):
        assert refused("GET", path).error == (405, "METHOD_NOT_ALLOWED"), path
    assert refused("POST", check, {"shareCode": "A1B2C3", "more": "x" * 200_000}).error == (413, "PAYLOAD_TOO_LARGE")
    for method, path in (("GET", "/api/status-request"), ("DELETE", "/api/umid"), ("GET", "/api/status-request/r")):
        response = refused(method, path)
        assert response.error == (401, "UNAUTHORIZED"), path
        assert response.fields["www-authenticate"] == "Bearer"
    # Unknown members are ignored, as the app's other servers do.
    assert phone.post(check, {"shareCode": "NEWONE", "more": [1]}).status == 200


def test_stranger_neither_replaces_nor_uses_up_the_codes_of_a_claimed_umid(server, phone):
    token, stranger = phone.claim("owner-1"), Phone(server, next(_addresses))
    assert phone.register("OWNED1", "owner-1", token, encryptedData="genuine").status == 200
    found = stranger.get("/api/share-code/owned1").json
    assert list(found) == ["shareCode", "encryptedData", "expiresAt"] and found["encryptedData"] == "genuine"
    # Somebody who knows the umid from elsewhere.
    for code in ("OWNED1", "OWNED2"):
        assert stranger.register(code, "owner-1", encryptedData="forged").error == (401, "UNAUTHORIZED")
    assert stranger.get("/api/share-code/OWNED1").json == found | {"shareCode": "OWNED1"}
    assert phone.register("OWNED2", "owner-1", token).status == 200


def test_address_cannot_use_up_the_codes_of_all(gateway_with):
    app = {"enabled": True, "max_codes": 60, "max_percent_of_address": 10}
    gateway = gateway_with(CONFIGURATION | {"apps": {"share_codes": app}})
    one, other = Phone(gateway, "192.0.2.1"), Phone(gateway, "192.0.2.2")
    responses = [one.register(f"FULL0{number}", f"umid-{number}") for number in range(7)]
    assert [response.status for response in responses] == [200] * 6 + [429]
    assert responses[-1].error == (429, "RATE_LIMITED") and int(responses[-1].fields["retry-after"]) > 0
    assert other.register("HONEST", "honest").status == 200


@pytest.mark.sqlite
def test_failed_writes_are_database_errors(binary, tmp_path):
    (disk := tmp_path / "disk").mkdir()
    gateway = Gateway(binary, tmp_path, CONFIGURATION)
    gateway.data = disk / "data"
    faults = Faults(tmp_path, disk)
    gateway.environment |= faults.environment
    try:
        phone = Phone(gateway.start(), "192.0.2.1")
        assert phone.register("BEFORE").status == 200
        faults.arm(SYNC, 1, errno.EIO, path="gateway.db", lasting=True)
        assert phone.register("FAILS1").error == (500, "DATABASE_ERROR")
        faults.disarm()
        assert phone.register("FAILS2").error == (500, "DATABASE_ERROR")
        health = phone.get("/api/health")
        assert (health.status, health.json["status"]) == (503, "unavailable")
        # Reads still work.
        assert phone.get("/api/share-code/BEFORE").status == 200
    finally:
        faults.disarm()
        gateway.kill()


def test_requests_are_delivered_and_answered(server, phone):
    ada, bob = phone.claim("ada-1"), phone.claim("bob-1")
    assert phone.post("/api/umid", {"umid": "ada-1"}).error == (409, "ALREADY_EXISTS")
    empty = phone.get("/api/status-request?status=pending", ada)
    assert empty.status == 200 and list(empty.json) == ["requests", "cursor"] and empty.json["requests"] == []
    request = {"requestId": "7A0E-1", "fromUserId": "bob-1", "toUserId": "ada-1", "message": "今天好吗?"}
    assert phone.post("/api/status-request", request).json["status"] == "pending"
    cursor = empty.json["cursor"]
    inbox = phone.get(f"/api/status-request?status=pending&after={cursor}", ada).json
    assert [list(each) for each in inbox["requests"]] == [["requestId", "fromUserId", "message", "status", "createdAt"]]
    assert inbox["requests"][0] | {"createdAt": ""} == {
        "requestId": "7A0E-1",
        "fromUserId": "bob-1",
        "message": "今天好吗?",
        "status": "pending",
        "createdAt": "",
    }
    assert phone.post("/api/status-request", request).json["status"] == "delivered"
    assert phone.post("/api/status-request", request | {"message": ""}).error == (409, "ALREADY_EXISTS")
    assert phone.get("/api/status-request/7A0E-1", bob).json == {"requestId": "7A0E-1", "status": "delivered"}
    response = {"status": "accepted", "encryptedData": "c2VhbGVk"}
    assert phone.post("/api/status-request/7A0E-1/answer", response, bob).error == (404, "NOT_FOUND")
    done = phone.post("/api/status-request/7A0E-1/answer", response, ada)
    assert done.json == {"success": True, "requestId": "7A0E-1", "status": "accepted"}
    assert phone.get("/api/status-request/7A0E-1", bob).json == {"requestId": "7A0E-1"} | response
    deleted = phone.send("DELETE", "/api/umid", token=ada)
    assert (deleted.status, deleted.json) == (200, {"success": True})
    assert phone.get("/api/status-request/7A0E-1", bob).error == (404, "NOT_FOUND")
    assert phone.get("/api/status-request", ada).error == (401, "UNAUTHORIZED")


def test_waiting_list_gets_a_request_at_once_and_ends_with_its_client(server, phone):
    ada = phone.claim("ada-2")
    waiting = "data_gateway_share_codes_waiting_calls"
    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        list_ = thread.submit(phone.get, "/api/status-request?status=pending&wait=50", ada)
        eventually(lambda: metric(server, waiting) == 1)
        began = time.monotonic()
        request = {"requestId": "7A0E-2", "fromUserId": "bob-2", "toUserId": "ada-2", "message": ""}
        assert phone.post("/api/status-request", request).status == 200
        assert [each["requestId"] for each in list_.result().json["requests"]] == ["7A0E-2"]
        # Fifty seconds would be the end of the wait.
        assert time.monotonic() - began < 40
    host, port = server.listeners["apps"].split(":")
    closed = http.client.HTTPConnection(host, int(port), timeout=60)
    closed.request("GET", "/api/status-request?status=pending&wait=50", headers={"Authorization": f"Bearer {ada}"})
    eventually(lambda: metric(server, waiting) == 1)
    closed.close()
    eventually(lambda: metric(server, waiting) == 0)


def test_stop_ends_waiting_lists_with_a_response(gateway_with):
    gateway = gateway_with(CONFIGURATION | {"web": {"idle_timeout_seconds": 1}})
    phone = Phone(gateway, "192.0.2.1")
    ada = phone.claim("ada")
    # A wait that is longer than the time for which a connection may be idle.
    waited = phone.get("/api/status-request?wait=3", ada)
    assert (waited.status, waited.json["requests"]) == (200, [])
    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        list_ = thread.submit(phone.get, "/api/status-request?wait=50", ada)
        eventually(lambda: metric(gateway, "data_gateway_share_codes_waiting_calls") == 1)
        assert gateway.stop() == 0
        response = list_.result()
    assert (response.status, response.json["requests"]) == (200, [])


@pytest.mark.sqlite
def test_data_at_rest_is_encrypted(gateway_with):
    gateway = gateway_with(CONFIGURATION)
    phone = Phone(gateway, "192.0.2.1")
    secrets = ["a-secret-of-the-app", "a-secret-message", "a-secret-answer"]
    ada = phone.claim("ada")
    assert phone.register("SEALED", token=ada, encryptedData=secrets[0]).status == 200
    request = {"requestId": "r", "fromUserId": "bob", "toUserId": "ada", "message": secrets[1]}
    assert phone.post("/api/status-request", request).status == 200
    response = {"status": "accepted", "encryptedData": secrets[2]}
    assert phone.post("/api/status-request/r/answer", response, ada).status == 200
    gateway.kill()
    stored = b"".join(file.read_bytes() for file in gateway.data.glob("gateway.db*"))
    assert b"SEALED" in stored
    for secret in [*secrets, ada]:
        assert secret.encode() not in stored


def test_pages_of_configured_origins_may_call(phone):
    def preflight(origin: str) -> Response:
        fields = {"Origin": origin, "Access_Control_Request_Method": "POST"}
        return phone.send("OPTIONS", "/api/share-code/check", **fields)

    allowed = preflight("https://um.example")
    assert allowed.status == 200 and allowed.fields["access-control-allow-origin"] == "https://um.example"
    assert "POST" in allowed.fields["access-control-allow-methods"]
    assert "access-control-allow-origin" not in preflight("https://other.example").fields
    response = phone.send("POST", "/api/share-code/check", {"shareCode": "CORS01"}, Origin="https://um.example")
    assert response.fields["access-control-allow-origin"] == "https://um.example"


@pytest.mark.sqlite
def test_app_is_off_by_default(gateway):
    assert "apps" not in gateway.listeners
    assert apps.App(gateway, "web").get("/api/health").status == 404
    assert "users" in tables(gateway)
    assert not tables(gateway) & {"share_codes", "umids", "status_requests", "collisions"}
