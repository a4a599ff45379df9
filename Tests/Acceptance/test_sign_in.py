"""The app for sign-ins: the routes, bodies and answers that phone apps were written against, and who may do what."""

import json
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import jwt
import pytest
import requests
from support import described_calls
from support.apps import App
from support.database import change, rows, tables
from support.gateway import ADMIN_PASSWORD, eventually
from support.issuer import Issuer, Key, digest
from support.parties import User

BUNDLE = "cloud.longde.AIStudyApp"
SECRET = "你的开发密钥"
USER = {"id", "email", "nickname", "avatarUrl", "role", "status", "onboardingCompleted"}

# The samples of the contract, as its document prints them.
DEV_LOGIN = """{
"email": "test@zhixi.app",
"nickname": "测试用户",
"devSecret": "你的开发密钥"
}"""
SESSION = """{
"accessToken": "eyJ...",
"refreshToken": "eyJ...",
"user": {
"id": "user_xxx",
"email": "test@zhixi.app",
"nickname": "测试用户",
"avatarUrl": null,
"role": "USER",
"status": "ACTIVE",
"onboardingCompleted": false
}
}"""
APPLE = """{
"identityToken": "eyJ...",
"authorizationCode": "...",
"userIdentifier": "000123.xxx",
"email": "xxx@privaterelay.appleid.com",
"fullName": {
"givenName": "Long",
"familyName": "De"
}
}"""
APPLE_WITH_NONCE = """{
"identityToken": "eyJ...",
"authorizationCode": "c123...",
"userIdentifier": "000123.xxxxx",
"email": "xxx@privaterelay.appleid.com",
"fullName": {
"givenName": "Long",
"familyName": "Wang"
},
"nonce": "optional_nonce"
}"""
APPLE_SESSION = """{
"accessToken": "your_access_token",
"refreshToken": "your_refresh_token",
"user": {
"id": "user_xxx",
"email": "xxx@privaterelay.appleid.com",
"nickname": "Wang",
"avatarUrl": null,
"role": "USER",
"status": "ACTIVE",
"onboardingCompleted": false
}
}"""
APPLE_MINIMUM = """{
"identityToken": "eyJ..."
}"""
DEV_LOGIN_IN_SHORT = """{
"email": "test@zhixi.app",
"nickname": "测试用户",
"devSecret": "xxx"
}"""
ME = """{
"id": "user_xxx",
"email": "test@zhixi.app",
"nickname": "测试用户",
"avatarUrl": null,
"role": "USER",
"status": "ACTIVE",
"onboardingCompleted": false
}"""
REFRESH = """{
"refreshToken": "eyJ..."
}"""
REFRESHED = """{
"accessToken": "new_access_token",
"refreshToken": "new_refresh_token"
}"""
LOGOUT = REFRESH


@pytest.fixture(scope="module")
def issuer():
    issuer = Issuer()
    # Apple publishes three RSA keys.
    issuer.keys = [Key(kid) for kid in ("fh6Bs8C", "YuyXoY", "W6WcOK")]
    return issuer


def configuration(issuer: Issuer, **settings) -> dict:
    """Returns a gateway's configuration with the app; `settings` are further ones of the app."""
    people = {"organization": "zhixi", "default_role": "member", "create": True, "session_hours": 720}
    apple = {"issuer": issuer.url, "audiences": [BUNDLE], "keys_url": f"{issuer.url}/keys", "users": people}
    app = {"enabled": True, "organization": "zhixi", "dev_login": {"secret_env": "DEV_LOGIN_SECRET"}}
    return {
        "listeners": {"apps": "127.0.0.1:0"},
        "identity": {"providers": {"apple": apple}},
        "apps": {"sign_in": app | settings},
    }


@pytest.fixture(scope="module")
def gateway(gateway_with, issuer):
    return gateway_with(configuration(issuer), {"DEV_LOGIN_SECRET": SECRET})


@pytest.fixture(scope="module")
def app(gateway) -> App:
    return App(gateway)


def with_token(sample: str, name: str, token: str) -> str:
    """Returns a sample with another token, and otherwise as it is."""
    changed = sample.replace(f'"{name}": "eyJ..."', f'"{name}": "{token}"')
    assert changed != sample
    return changed


def equal(response, sample: str, *varying: str) -> None:
    """Checks that an answer has the members of a sample, each with its value unless it varies."""
    expected = json.loads(sample)
    assert response.status == 200, response.body
    assert response.fields["content-type"] == "application/json"
    assert same(response.json, expected, set(varying)), response.body


def same(value, expected, varying: set[str]) -> bool:
    if not isinstance(expected, dict):
        return value == expected
    return value.keys() == expected.keys() and all(
        (isinstance(value[name], str) and value[name])
        if name in varying
        else same(value[name], expected[name], varying)
        for name in expected
    )


def dev(app: App, email: str) -> dict:
    response = app.post("/api/auth/dev-login", {"email": email, "nickname": email[:5], "devSecret": SECRET})
    assert response.status == 200, response.body
    return response.json


def refused(response, status: int, error: str, message: str | None = None) -> None:
    assert response.status == status, response.body
    assert response.json.keys() == {"message", "error", "statusCode"}
    assert (response.json["error"], response.json["statusCode"]) == (error, status)
    assert isinstance(response.json["message"], list) == (status == 400)
    if message:
        assert response.json["message"] == message


# The samples


def test_dev_login_and_me_answer_the_samples(app):
    response = app.post("/api/auth/dev-login", DEV_LOGIN)
    equal(response, SESSION, "accessToken", "refreshToken", "id")
    equal(app.get("/api/users/me", response.json["accessToken"]), ME, "id")


def test_apple_sign_in_answers_the_sample(app, issuer):
    email = "xxx@privaterelay.appleid.com"
    token = issuer.token(BUNDLE, "000999.sample", email=email, email_verified="true", nonce=digest("optional_nonce"))
    response = app.post("/api/auth/apple", with_token(APPLE_WITH_NONCE, "identityToken", token))
    equal(response, APPLE_SESSION, "accessToken", "refreshToken", "id")


def test_apple_sign_ins_of_the_samples_succeed(app, issuer):
    for sample, key in ((APPLE, issuer.keys[1]), (APPLE_MINIMUM, issuer.keys[2])):
        token = issuer.token(BUNDLE, f"000998.{key.kid}", key=key)
        response = app.post("/api/auth/apple", with_token(sample, "identityToken", token))
        assert response.status == 200 and response.json["user"].keys() == USER, response.body


def test_samples_with_their_placeholders_are_refused(app):
    for sample in (APPLE, APPLE_WITH_NONCE, APPLE_MINIMUM):
        refused(app.post("/api/auth/apple", sample), 401, "Unauthorized", "Invalid Apple identity token")
    refused(app.post("/api/auth/dev-login", DEV_LOGIN_IN_SHORT), 401, "Unauthorized", "devSecret is wrong")
    refused(app.post("/api/auth/refresh", REFRESH), 401, "Unauthorized", "刷新令牌无效或已过期")
    refused(app.post("/api/auth/logout", LOGOUT), 401, "Unauthorized")


def test_refresh_me_and_logout_answer_the_samples(app):
    session = dev(app, "flow@zhixi.app")
    response = app.post("/api/auth/refresh", with_token(REFRESH, "refreshToken", session["refreshToken"]))
    refreshed = response.json
    assert refreshed.pop("user") == session["user"]
    assert same(refreshed, json.loads(REFRESHED), {"accessToken", "refreshToken"})
    assert refreshed["refreshToken"] != session["refreshToken"]

    me = app.get("/api/users/me", refreshed["accessToken"])
    equal(me, json.dumps(session["user"]))

    token = refreshed["accessToken"]
    logout = app.post("/api/auth/logout", with_token(LOGOUT, "refreshToken", refreshed["refreshToken"]), token)
    assert (logout.status, logout.json) == (200, {"success": True})
    refused(app.get("/api/users/me", token), 401, "Unauthorized", "登录已过期,请重新登录")
    refused(app.post("/api/auth/refresh", {"refreshToken": refreshed["refreshToken"]}), 401, "Unauthorized")


@pytest.mark.parametrize("way", ["dev", "apple"])
def test_an_app_in_swift_follows_the_flow(binary, gateway, issuer, way):
    proof = SECRET if way == "dev" else issuer.token(BUNDLE, "000997.flow")
    client = binary.with_name("sign-in-client")
    command = [client, f"http://{gateway.listeners['apps']}", way, proof]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout.endswith("done\n"), done.stdout + done.stderr


# Who signs in


def test_only_the_subject_of_the_token_is_believed(app, issuer):
    first = app.post("/api/auth/apple", {"identityToken": issuer.token(BUNDLE, "000900.a"), "nickname": "A"}).json
    forged = {
        "identityToken": issuer.token(BUNDLE, "000900.b"),
        "userIdentifier": "000900.a",
        "userId": first["user"]["id"],
    }
    second = app.post("/api/auth/apple", forged | {"email": "a@example.com"}).json
    assert second["user"]["id"] != first["user"]["id"]
    assert second["user"]["email"] is None and second["user"]["nickname"] is None
    again = app.post("/api/auth/apple", {"identityToken": issuer.token(BUNDLE, "000900.a", email="later@example.com")})
    assert again.json["user"] == first["user"]


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "another.app"},
        {"iss": "https://appleid.example"},
        {"exp": 1_000_000},
        {"sub": None},
        {"nonce": "another"},
    ],
    ids=lambda claims: next(iter(claims)),
)
def test_token_for_somebody_else_is_refused(app, issuer, claims):
    response = app.post("/api/auth/apple", {"identityToken": issuer.token(BUNDLE, "000901.x", **claims)})
    refused(response, 401, "Unauthorized", "Invalid Apple identity token")


def test_same_token_at_once_makes_one_account(app, issuer):
    token = issuer.token(BUNDLE, "000902.once")
    with ThreadPoolExecutor(2) as pool:
        responses = list(pool.map(lambda _: app.post("/api/auth/apple", {"identityToken": token}), range(2)))
    assert [response.status for response in responses] == [200, 200]
    assert len({response.json["user"]["id"] for response in responses}) == 1


def test_nonces_of_token_and_request_agree(app, issuer):
    own = "a nonce of the app"
    for number, (claim, sent, status) in enumerate([
        (None, None, 200), (None, "", 200), (own, own, 200), (digest(own), own, 200),
        (own, None, 401), (digest(own), "another", 401), (None, "optional_nonce", 401),
    ]):  # fmt: skip
        token = issuer.token(BUNDLE, f"000904.{number}", **({} if claim is None else {"nonce": claim}))
        body = {"identityToken": token} | ({} if sent is None else {"nonce": sent})
        assert app.post("/api/auth/apple", body).status == status, (claim, sent)


def test_nonce_of_the_server_is_accepted_once(app, issuer):
    nonce = app.post("/api/auth/nonce", {}).json["nonce"]
    token = issuer.token(BUNDLE, "000903.n", nonce=digest(nonce))
    assert app.post("/api/auth/apple", {"identityToken": token, "nonce": nonce}).status == 200
    other = issuer.token(BUNDLE, "000903.m", nonce=digest(nonce))
    refused(app.post("/api/auth/apple", {"identityToken": other, "nonce": nonce}), 401, "Unauthorized")


def test_dev_login_through_a_proxy_is_disabled(app):
    response = app.post("/api/auth/dev-login", DEV_LOGIN, x_forwarded_for="198.51.100.7")
    refused(response, 403, "Forbidden", "dev-login is disabled in production")


def test_gateway_reachable_by_others_has_no_dev_login(gateway_with):
    app = {"enabled": True, "organization": "zhixi", "dev_login": {"secret_env": "DEV_LOGIN_SECRET"}}
    listeners = {"apps": "0.0.0.0:0", "allow_cleartext": True}
    gateway = gateway_with({"listeners": listeners, "apps": {"sign_in": app}}, {"DEV_LOGIN_SECRET": SECRET})
    app = App(gateway)
    refused(app.post("/api/auth/dev-login", DEV_LOGIN), 403, "Forbidden", "dev-login is disabled in production")
    refused(app.post("/api/auth/apple", APPLE), 401, "Unauthorized", "Apple 登录未配置,请联系管理员")
    eventually(lambda: "dev-login stays disabled" in gateway.stderr)
    gateway.stop()


def test_requests_that_break_a_rule_name_it(app):
    for path, body, field in (
        ("/api/auth/apple", {}, "identityToken"),
        ("/api/auth/apple", {"identityToken": 7}, "identityToken"),
        ("/api/auth/refresh", {}, "refreshToken"),
        ("/api/auth/dev-login", {"email": "nobody", "devSecret": SECRET}, "email"),
    ):
        response = app.post(path, body)
        refused(response, 400, "Bad Request")
        assert field in response.json["message"][0]
    refused(app.post("/api/auth/apple", "{"), 400, "Bad Request")
    refused(app.get("/api/auth/apple"), 405, "Method Not Allowed")
    refused(app.get("/api/users/me"), 401, "Unauthorized", "请先登录")
    refused(app.get("/api/users/me", "not a token"), 401, "Unauthorized", "登录已过期,请重新登录")
    refused(app.post("/api/auth/logout", LOGOUT), 401, "Unauthorized", "请先登录")


# Who may do what


def test_token_of_a_member_opens_nothing_of_the_gateway(gateway, app):
    token = dev(app, "member@zhixi.app")["accessToken"]
    web = App(gateway, "web")
    for path in ("/v1/objects", "/v1/devices", "/v1/sites", "/v1/users", "/v1/auditLines", "/v1/statistics"):
        assert web.get(path, token).status == 403, path
    for method, path in (("POST", "/v1/apiTokens"), ("GET", "/v1/sessions"), ("GET", "/v1/identities")):
        assert web.send(method, path, {} if method == "POST" else None, token).status in (403, 404), path


def test_token_of_the_gateway_opens_nothing_of_the_app(gateway, app, stubs):
    admin = User.login(gateway, stubs, "system", "admin", ADMIN_PASSWORD)
    for path in ("/api/users/me", "/api/users/me/export", "/api/knowledge-bases"):
        refused(app.get(path, admin.token), 401, "Unauthorized")
    refused(app.post("/api/knowledge-bases", {"title": "x"}, admin.token), 401, "Unauthorized")


def test_calls_of_the_gateway_are_not_on_the_listener(app):
    for path in ("/v1/objects", "/v1/health", "/console/", "/.well-known/data-gateway"):
        assert app.get(path).status == 404, path
    login = "/archebase.auth.v1.AuthService/Login"
    assert app.post(login, {"organization": "system", "userName": "admin"}).status == 404


def test_description_lists_the_apps_calls_only(app):
    paths = app.get("/openapi.json").json["paths"]
    assert "/api/auth/apple" in paths and not any(path.startswith("/v1") for path in paths)


def test_answers_to_a_member_agree_with_the_description(gateway_with, issuer, tmp_path, is_full):
    gateway = gateway_with(configuration(issuer), {"DEV_LOGIN_SECRET": SECRET})
    token = dev(App(gateway), "ada@example.com")["accessToken"]
    # Wrong secrets and tokens are limited, and then refused with 503.
    described_calls.check(
        f"http://{gateway.listeners['apps']}", tmp_path, is_full, token=token, paths="^/api/(users|knowledge-bases)"
    )


def test_envelope_is_around_every_response(gateway_with, issuer):
    app = App(gateway_with(configuration(issuer, envelope=True), {"DEV_LOGIN_SECRET": SECRET}))
    begin = datetime.now(UTC)
    response = app.post("/api/auth/dev-login", DEV_LOGIN).json
    assert list(response) == ["success", "data", "timestamp"] and response["success"] is True
    # The time has milliseconds, rounded down.
    assert begin - timedelta(milliseconds=1) < datetime.fromisoformat(response["timestamp"]) <= datetime.now(UTC)
    session = response["data"]
    assert same(session, json.loads(SESSION), {"accessToken", "refreshToken", "id"})
    assert app.get("/api/users/me", session["accessToken"]).json["data"] == session["user"]
    assert app.get("/api/knowledge-bases", session["accessToken"]).json["data"] == []
    for refusal, status, code in [
        (app.get("/api/users/me"), 401, "UNAUTHENTICATED"),
        (app.post("/api/auth/refresh", {}), 400, "INVALID_REQUEST"),
        (app.get("/api/knowledge-bases/kb_none", session["accessToken"]), 404, "NOT_FOUND"),
        (app.get("/api/none"), 404, "NOT_FOUND"),
        (app.get("/api/auth/apple"), 405, "METHOD_NOT_ALLOWED"),
    ]:
        assert refusal.status == status
        assert refusal.json == {
            "success": False,
            "statusCode": status,
            "message": refusal.json["message"],
            "errorCode": code,
        }
        assert isinstance(refusal.json["message"], str) and refusal.json["message"]


def test_outage_of_apple_ends_no_session_and_a_restart_survives_it(gateway_with):
    issuer = Issuer()
    gateway = gateway_with(configuration(issuer), {"DEV_LOGIN_SECRET": SECRET})
    app = App(gateway)

    def sign_in(subject: str, key: Key | None = None):
        return app.post("/api/auth/apple", {"identityToken": issuer.token(BUNDLE, subject, key=key)})

    session = sign_in("000.outage")
    assert session.status == 200, session.body
    issuer.stop()
    for _ in range(2):
        assert app.get("/api/users/me", session.json["accessToken"]).status == 200
        assert sign_in("000.outage", issuer.keys[1]).json["user"]["id"] == session.json["user"]["id"]
        assert sign_in("000.new").status == 200
        # A key that nobody has seen cannot be told from one that Apple has published meanwhile.
        refused(sign_in("000.outage", Key("unseen")), 503, "Service Unavailable")
        gateway.stop()
        gateway.start()
    # Keys that were read more than a day ago verify nothing; sessions continue.
    gateway.stop()
    change(gateway, "UPDATE identity_keys SET read_at = read_at - 86400000000")
    gateway.start()
    refused(sign_in("000.outage"), 503, "Service Unavailable")
    assert app.get("/api/users/me", session.json["accessToken"]).status == 200


def test_sign_in_waits_for_the_first_keys_of_apple(gateway_with):
    issuer = Issuer()
    issuer.stop()
    app = App(gateway_with(configuration(issuer), {"DEV_LOGIN_SECRET": SECRET}))
    response = app.post("/api/auth/apple", {"identityToken": issuer.token(BUNDLE)})
    refused(response, 503, "Service Unavailable")


def test_profile_changes_what_is_given(app):
    token = dev(app, "patch@zhixi.app")["accessToken"]
    changed = app.send("PATCH", "/api/users/me", {"nickname": "新名字", "onboardingCompleted": True}, token).json
    assert (changed["nickname"], changed["onboardingCompleted"], changed["avatarUrl"]) == ("新名字", True, None)
    url = "https://example.com/a.png"
    assert app.send("PATCH", "/api/users/me", {"avatarUrl": url}, token).json == changed | {"avatarUrl": url}
    for body in ({"avatarUrl": "javascript:alert(1)"}, {"nickname": "x" * 65}, {"nickname": "a\u0000b"}):
        refused(app.send("PATCH", "/api/users/me", body, token), 400, "Bad Request")
    assert app.get("/api/users/me", token).json["avatarUrl"] == url


def test_knowledge_bases_belong_to_the_token(app):
    mine, theirs = (dev(app, f"{name}@zhixi.app") for name in ("mine", "theirs"))
    token, other = mine["accessToken"], theirs["accessToken"]
    base = app.post("/api/knowledge-bases", {"title": "一", "userId": theirs["user"]["id"]}, token).json
    assert base["userId"] == mine["user"]["id"] and base["description"] == "" and base["deletedAt"] is None
    path = f"/api/knowledge-bases/{base['id']}"
    assert app.get("/api/knowledge-bases", token).json == [base]
    assert app.get("/api/knowledge-bases", other).json == []
    for method, body in (("GET", None), ("PATCH", {"title": "二"}), ("DELETE", None)):
        refused(app.send(method, path, body, other), 404, "Not Found", "资源不存在")
    assert app.send("PATCH", path, {"description": "二"}, token).json["description"] == "二"
    refused(app.post("/api/knowledge-bases", {"title": ""}, token), 400, "Bad Request")
    refused(app.send("PATCH", path, {"title": "x" * 101}, token), 400, "Bad Request")
    assert app.send("DELETE", path, None, token).json == {"success": True}
    refused(app.get(path, token), 404, "Not Found")
    assert app.get("/api/knowledge-bases", token).json == []


def test_deletion_removes_every_row_of_the_person(gateway, app):
    session = dev(app, "gone@zhixi.app")
    token = session["accessToken"]
    app.post("/api/knowledge-bases", {"title": "一"}, token)
    copy = app.get("/api/users/me/export", token).json
    assert copy["user"] == session["user"] and len(copy["knowledgeBases"]) == 1 and len(copy["sessions"]) == 1
    assert [(each["provider"], each["providerUserId"]) for each in copy["identities"]] == [("DEV", "gone@zhixi.app")]
    assert app.send("DELETE", "/api/users/me", None, token).json == {"success": True}
    refused(app.get("/api/users/me", token), 401, "Unauthorized")
    refused(app.post("/api/auth/refresh", {"refreshToken": session["refreshToken"]}), 401, "Unauthorized")
    everything = str([rows(gateway, f'SELECT * FROM "{name}"') for name in tables(gateway)])
    assert "gone@zhixi.app" not in everything and session["user"]["id"] not in everything
    assert dev(app, "gone@zhixi.app")["user"]["id"] != session["user"]["id"]


def test_notice_of_apple_ends_the_sessions(app, issuer):
    def notice(kind: str, **changes) -> str:
        event = json.dumps({"type": kind, "sub": "000905.left", "event_time": 1})
        return issuer.token(BUNDLE, sub=None, exp=None, events=event, **changes)

    session = app.post("/api/auth/apple", {"identityToken": issuer.token(BUNDLE, "000905.left")}).json
    token = session["accessToken"]
    assert app.post("/api/auth/apple/notifications", {"payload": notice("email-disabled")}).json == {}
    assert app.get("/api/users/me", token).status == 200
    forged = notice("consent-revoked", aud="another.app")
    refused(app.post("/api/auth/apple/notifications", {"payload": forged}), 401, "Unauthorized")
    identity = issuer.token(BUNDLE, "000905.left")
    refused(app.post("/api/auth/apple/notifications", {"payload": identity}), 400, "Bad Request")
    assert app.get("/api/users/me", token).status == 200
    assert app.post("/api/auth/apple/notifications", {"payload": notice("consent-revoked")}).json == {}
    refused(app.get("/api/users/me", token), 401, "Unauthorized")


def test_disabled_user_cannot_sign_in(gateway, app, stubs):
    session = dev(app, "disabled@zhixi.app")
    path = f"/api/users/{session['user']['id']}/status"
    refused(app.send("PUT", path, {"status": "DISABLED"}, session["accessToken"]), 403, "Forbidden")
    admin = User.login(gateway, stubs, "system", "admin", ADMIN_PASSWORD).token
    refused(app.send("PUT", path, {"status": "DISABLED"}, admin), 403, "Forbidden")
    response = app.send("PUT", path, {"status": "DISABLED"}, admin, x_organization="zhixi")
    assert response.status == 200 and response.json["status"] == "DISABLED", response.body
    refused(app.get("/api/users/me", session["accessToken"]), 401, "Unauthorized")
    again = app.post("/api/auth/dev-login", {"email": "disabled@zhixi.app", "devSecret": SECRET})
    refused(again, 401, "Unauthorized", "账号已被禁用")
    assert app.send("PUT", path, {"status": "ACTIVE"}, admin, x_organization="zhixi").json["status"] == "ACTIVE"
    assert dev(app, "disabled@zhixi.app")["user"]["id"] == session["user"]["id"]


def test_another_server_verifies_tokens_with_the_keys_of_the_listener(gateway, app):
    session = dev(app, "backend@zhixi.app")
    keys = jwt.PyJWKClient(f"http://{gateway.listeners['apps']}/.well-known/jwks.json")
    for token in (
        session["accessToken"],
        app.post("/api/auth/refresh", {"refreshToken": session["refreshToken"]}).json["accessToken"],
    ):
        claims = jwt.decode(
            token, keys.get_signing_key_from_jwt(token), algorithms=["ES256"], issuer="data-gateway",
            audience="data-gateway/users",
        )  # fmt: skip
        assert claims["user_id"] == session["user"]["id"]
    assert app.send("POST", "/.well-known/jwks.json").status == 405


def test_dev_login_works_through_a_tunnel_to_this_machine(gateway, app):
    """As `ssh -L` does: the bytes arrive from this machine, and the request names the port of the other end."""
    response = app.send(
        "POST", "/api/auth/dev-login", {"email": "mac@zhixi.app", "devSecret": SECRET}, host="192.168.1.7:8080"
    )
    assert response.status == 200, response.body


def test_operator_finds_a_user_by_address_and_disables_the_account(gateway, app, stubs):
    session = dev(app, "wanted@zhixi.app")
    admin = User.login(gateway, stubs, "system", "admin", ADMIN_PASSWORD)
    web = f"http://{gateway.listeners['web']}"

    def find(email: str, organization: str = "zhixi") -> requests.Response:
        headers = {"Authorization": f"Bearer {admin.token}", "X-Organization": organization}
        return requests.post(f"{web}/v1/users:findByEmail", json={"email": email}, headers=headers, timeout=60)

    (found,) = find("Wanted@ZHIXI.app").json()["users"]
    assert found["identity"]["email"] == "wanted@zhixi.app" and found["user"]["role"] == "member"
    assert (
        find("wanted@zhixi").json().get("users", []) == [] == find("wanted@zhixi.app", "system").json().get("users", [])
    )
    assert find("wanted").status_code == 400
    path = f"/api/users/{found['user']['userName']}/status"
    response = app.send("PUT", path, {"status": "DISABLED"}, admin.token, x_organization="zhixi")
    assert response.status == 200 and response.json["id"] == session["user"]["id"], response.body
    refused(app.get("/api/users/me", session["accessToken"]), 401, "Unauthorized")
    response = app.send("PUT", "/api/users/nobody/status", {"status": "ACTIVE"}, admin.token, x_organization="zhixi")
    refused(response, 404, "Not Found")


def test_every_answered_change_survives_kills(gateway_with, issuer):
    gateway = gateway_with(configuration(issuer), {"DEV_LOGIN_SECRET": SECRET})
    app = App(gateway)

    def kill():
        gateway.kill()
        gateway.start()

    session = dev(app, "kill@zhixi.app")
    kill()
    assert app.get("/api/users/me", session["accessToken"]).json == session["user"]
    tokens = app.post("/api/auth/refresh", {"refreshToken": session["refreshToken"]}).json
    kill()
    tokens = app.post("/api/auth/refresh", {"refreshToken": tokens["refreshToken"]}).json
    base = app.post("/api/knowledge-bases", {"title": "一"}, tokens["accessToken"]).json
    kill()
    assert app.get("/api/knowledge-bases", tokens["accessToken"]).json == [base]
    assert app.post("/api/auth/logout", {"refreshToken": tokens["refreshToken"]}, tokens["accessToken"]).status == 200
    kill()
    refused(app.get("/api/users/me", tokens["accessToken"]), 401, "Unauthorized")
    token = dev(app, "kill@zhixi.app")["accessToken"]
    assert app.send("DELETE", "/api/users/me", None, token).status == 200
    kill()
    refused(app.get("/api/users/me", token), 401, "Unauthorized")
    assert dev(app, "kill@zhixi.app")["user"]["id"] != session["user"]["id"]


def test_used_refresh_token_ends_the_session(gateway, app):
    session = dev(app, "reuse@zhixi.app")
    second = app.post("/api/auth/refresh", {"refreshToken": session["refreshToken"]}).json
    third = app.post("/api/auth/refresh", {"refreshToken": second["refreshToken"]}).json
    refused(app.post("/api/auth/refresh", {"refreshToken": session["refreshToken"]}), 401, "Unauthorized")
    refused(app.post("/api/auth/refresh", {"refreshToken": third["refreshToken"]}), 401, "Unauthorized")
    refused(app.get("/api/users/me", third["accessToken"]), 401, "Unauthorized")


def test_logout_ends_no_session_of_somebody_else(app):
    mine, theirs = dev(app, "out@zhixi.app"), dev(app, "stays@zhixi.app")
    body = {"refreshToken": theirs["refreshToken"]}
    assert app.post("/api/auth/logout", body, mine["accessToken"]).json == {"success": True}
    assert app.get("/api/users/me", theirs["accessToken"]).status == 200


# The last one, since it uses up the limit of the address.


def test_wrong_secret_is_refused_and_limited(app):
    body = json.loads(DEV_LOGIN) | {"devSecret": "wrong"}
    begun = time.monotonic()
    responses = [app.post("/api/auth/dev-login", body)]
    # The limit grows again by ten calls in a minute: a slow machine needs some more.
    while responses[-1].status == 401 and len(responses) < 12 + (time.monotonic() - begun) / 6:
        responses.append(app.post("/api/auth/dev-login", body))
    assert responses[0].status == 401 and responses[-1].status == 429
    assert "retry-after" in responses[-1].fields
