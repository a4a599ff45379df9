"""People's own accounts: sessions, passwords, second factors and API tokens, by gRPC, Connect, REST and the commands."""

import datetime
import json
import subprocess

import grpc
import pytest
from support.commands import CommandLine
from support.database import rows
from support.gateway import ADMIN_PASSWORD, eventually
from support.parties import PASSWORD, User, call, unique
from support.raw import fetch_url
from support.refusal import refused
from support.totp import App


class Person:
    """A user with the calls of their own account."""

    def __init__(self, gateway, stubs, organization: str, name: str, password: str = PASSWORD):
        self.gateway, self.stubs = gateway, stubs
        self.organization, self.name, self.password = organization, name, password
        self.sign_in()

    def sign_in(self) -> "Person":
        self.user = User.login(self.gateway, self.stubs, self.organization, self.name, self.password)
        return self

    @property
    def token(self) -> str:
        return self.user.token

    def account(self, method: str, **fields):
        return self._call(self.stubs.auth, "AccountService", method, fields)

    def tokens(self, method: str, **fields):
        return self._call(self.stubs.auth, "ApiTokenService", method, fields)

    def sessions(self, method: str, **fields):
        return self._call(self.stubs.session, "SessionService", method, fields)

    def create_token(self, name: str, role: str = "viewer", days: float = 1, **fields):
        end = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=days)
        return self.tokens("CreateApiToken", token_name=name, role=role, expired_at=end, **fields)

    def enroll(self) -> App:
        """Sets up an authenticator app, whose code of this step is used up."""
        app = App(self.account("EnrollSecondFactor", password=self.password).secret)
        self.recovery_codes = list(self.account("ConfirmSecondFactor", code=app.code()).recovery_codes)
        return app

    def _call(self, package, service: str, method: str, fields: dict):
        stub = getattr(package, f"{service}Stub")(self.gateway.channel("auth"))
        return call(getattr(stub, method), getattr(package, f"{method}Request")(**fields), self.token)


@pytest.fixture
def boss(new_organization, gateway, stubs) -> Person:
    """The admin of an organization of the test's own."""
    return Person(gateway, stubs, new_organization().organization, "boss")


@pytest.fixture
def vera(boss, gateway, stubs) -> Person:
    """A viewer of that organization."""
    boss.user.users("CreateUser", user_name="vera", password=PASSWORD, role="viewer")
    return Person(gateway, stubs, boss.organization, "vera")


def challenge_of(gateway, stubs, person: Person) -> str:
    """Signs in with the password, and returns the challenge for the second step."""
    with refused(stubs, "UNAUTHENTICATED", "AUTH_SECOND_FACTOR_REQUIRED") as refusal:
        User.login(gateway, stubs, person.organization, person.name, person.password)
    return refusal.detail.metadata["challenge"]


def complete(gateway, stubs, challenge: str, code: str):
    stub = stubs.session.SessionServiceStub(gateway.channel("auth"))
    return call(stub.CompleteLogin, stubs.session.CompleteLoginRequest(challenge=challenge, code=code))


# Sessions.


def test_revoked_session_ends_at_the_next_call(vera, stubs):
    first = vera.user
    vera.sign_in()
    sessions = vera.sessions("ListSessions").sessions
    assert [each.is_current for each in sessions].count(True) == 1
    assert all(each.address == "127.0.0.1" and "grpc-python" in each.user_agent for each in sessions)
    (other,) = [each.session_id for each in sessions if not each.is_current and each.session_id]
    first.objects("ListObjects")
    vera.sessions("RevokeSession", session_id=other)
    with refused(stubs, "UNAUTHENTICATED", "DATA_GATEWAY_UNAUTHENTICATED"):
        first.objects("ListObjects")
    vera.user.objects("ListObjects")


def test_session_survives_a_crash_of_the_gateway(gateway_with, stubs):
    gateway = gateway_with()
    admin = Person(gateway, stubs, "system", "admin", ADMIN_PASSWORD)
    gateway.kill()
    gateway.start()
    assert [each.is_current for each in admin.sessions("ListSessions").sessions] == [True]
    gateway.stop()


def test_changed_password_ends_the_other_sessions(vera, gateway, stubs):
    first = vera.user
    vera.sign_in()
    with refused(stubs, "PERMISSION_DENIED"):
        vera.account("ChangePassword", current_password="not the password", new_password=PASSWORD + "!")
    reply = vera.account("ChangePassword", current_password=PASSWORD, new_password=PASSWORD + "!")
    assert reply.revoked_sessions == 1
    vera.user.objects("ListObjects")
    with refused(stubs, "UNAUTHENTICATED", "DATA_GATEWAY_UNAUTHENTICATED"):
        first.objects("ListObjects")
    with refused(stubs, "UNAUTHENTICATED", "AUTH_INVALID_CREDENTIAL"):
        vera.sign_in()


def test_member_opens_nothing(boss, gateway, stubs):
    boss.user.users("CreateUser", user_name="mia", password=PASSWORD, role="member")
    mia = Person(gateway, stubs, boss.organization, "mia")
    for attempt in (
        lambda: mia.user.objects("ListObjects"),
        lambda: mia.account("GetAccount"),
        lambda: mia.create_token("ci"),
    ):
        with refused(stubs, "PERMISSION_DENIED"):
            attempt()


# API tokens.


def test_token_is_accepted_in_every_protocol(boss, gateway, stubs):
    token = boss.create_token("ci", role="admin").token
    bearer = {"Authorization": f"Bearer {token}"}
    caller = User(gateway, stubs, token, boss.organization)
    assert [user.user_name for user in caller.users("ListUsers").users] == ["boss"]
    web = f"http://{gateway.listeners['web']}"
    rest = fetch_url(f"{web}/v1/users", headers=bearer)
    assert [user["userName"] for user in json.loads(rest.body)["users"]] == ["boss"]
    connect = fetch_url(
        f"{web}/archebase.auth.v1.UserAuthService/ListUsers",
        method="POST",
        body=b"{}",
        headers=bearer | {"Content-Type": "application/json"},
    )
    assert [user["userName"] for user in json.loads(connect.body)["users"]] == ["boss"]


def test_token_is_limited_and_shown_once(vera, gateway, stubs):
    created = vera.create_token("nightly")
    assert created.token.startswith("dgwt_") and len(created.token) == 70
    caller = User(gateway, stubs, created.token, vera.organization)
    caller.objects("ListObjects")
    with refused(stubs, "PERMISSION_DENIED"):
        caller.devices("ListDevices")
    stub = stubs.auth.ApiTokenServiceStub(gateway.channel("auth"))
    with refused(stubs, "PERMISSION_DENIED"):
        call(stub.ListApiTokens, stubs.auth.ListApiTokensRequest(), created.token)
    # The first use is recorded at once, after the response.
    eventually(lambda: vera.tokens("ListApiTokens").api_tokens[0].HasField("last_used_at"))
    (listed,) = vera.tokens("ListApiTokens").api_tokens
    assert (listed.token_name, listed.role, listed.last_used_address) == ("nightly", "viewer", "127.0.0.1")
    assert created.token[21:64] not in str(rows(gateway, "SELECT * FROM api_tokens"))


@pytest.mark.parametrize("change", ["cut", "typing error", "other secret"])
def test_token_that_is_wrong_is_refused(vera, gateway, stubs, change):
    token, other = vera.create_token("a").token, vera.create_token("b").token
    wrong = {"cut": token[:-1], "typing error": token[:-1] + "~", "other secret": token[:21] + other[21:]}[change]
    with refused(stubs, "UNAUTHENTICATED", "DATA_GATEWAY_UNAUTHENTICATED"):
        User(gateway, stubs, wrong, vera.organization).objects("ListObjects")


def test_revoked_token_is_refused_at_the_next_call(boss, vera, gateway, stubs):
    created = vera.create_token("ci")
    caller = User(gateway, stubs, created.token, vera.organization)
    caller.objects("ListObjects")
    assert [each.token_name for each in boss.tokens("ListApiTokens", user_name="vera").api_tokens] == ["ci"]
    boss.tokens("RevokeApiToken", token_id=created.api_token.token_id)
    with refused(stubs, "UNAUTHENTICATED", "DATA_GATEWAY_UNAUTHENTICATED"):
        caller.objects("ListObjects")


def test_token_ends_with_its_user(boss, vera, gateway, stubs):
    caller = User(gateway, stubs, vera.create_token("ci").token, vera.organization)
    caller.objects("ListObjects")
    boss.user.users("DeleteUser", user_name="vera")
    with refused(stubs, "UNAUTHENTICATED", "DATA_GATEWAY_UNAUTHENTICATED"):
        caller.objects("ListObjects")


# The second factor.


def test_password_alone_does_not_sign_in(vera, gateway, stubs):
    app = vera.enroll()
    challenge = challenge_of(gateway, stubs, vera)
    with refused(stubs, "UNAUTHENTICATED", "AUTH_INVALID_CREDENTIAL"):
        complete(gateway, stubs, challenge, "000000")
    code = app.code(+1)
    reply = complete(gateway, stubs, challenge, code)
    assert reply.user.user_name == "vera"
    User(gateway, stubs, reply.access_token, vera.organization).objects("ListObjects")
    with refused(stubs, "UNAUTHENTICATED", "AUTH_INVALID_CREDENTIAL"):
        complete(gateway, stubs, challenge, code)
    complete(gateway, stubs, challenge, vera.recovery_codes[0])
    with refused(stubs, "UNAUTHENTICATED", "AUTH_INVALID_CREDENTIAL"):
        complete(gateway, stubs, challenge, vera.recovery_codes[0])


def test_rest_error_carries_the_challenge(vera, gateway):
    app = vera.enroll()
    web = f"http://{gateway.listeners['web']}/v1/sessions"
    types = {"Content-Type": "application/json"}
    body = {"organization": vera.organization, "userName": "vera", "password": PASSWORD}
    refusal = fetch_url(web, method="POST", body=json.dumps(body).encode(), headers=types)
    (info,) = json.loads(refusal.body)["error"]["details"]
    assert (refusal.status, info["reason"]) == (401, "AUTH_SECOND_FACTOR_REQUIRED")
    body = {"challenge": info["metadata"]["challenge"], "code": app.code(+1)}
    reply = fetch_url(f"{web}:complete", method="POST", body=json.dumps(body).encode(), headers=types)
    assert reply.status == 200 and json.loads(reply.body)["user"]["userName"] == "vera"


def test_organization_requires_a_second_factor(boss, vera, gateway, stubs):
    management = stubs.auth.IdentityManagementServiceStub(gateway.channel("admin"))
    request = stubs.auth.SetSignInPolicyRequest(policy={"requires_second_factor": True})
    with refused(stubs, "FAILED_PRECONDITION"):
        call(management.SetSignInPolicy, request, boss.token)
    boss.enroll()
    call(management.SetSignInPolicy, request, boss.token)
    with refused(stubs, "PERMISSION_DENIED"):
        vera.user.objects("ListObjects")
    assert vera.account("GetAccount").second_factor_missing
    vera.enroll()
    vera.user.objects("ListObjects")
    call(management.ResetSecondFactor, stubs.auth.ResetSecondFactorRequest(user_name="vera"), boss.token)
    vera.sign_in()
    with refused(stubs, "PERMISSION_DENIED"):
        vera.user.objects("ListObjects")


# The commands.


@pytest.fixture
def command(gateway, tmp_path):
    """Runs `data-gateway` with the session file of the test, or with an API token."""

    def run(*words: str, stdin: str = "", token: str | None = None) -> subprocess.CompletedProcess:
        environment = {"DATA_GATEWAY_TOKEN": token} if token else {}
        return CommandLine(gateway.binary, gateway, tmp_path).run(*words, input=stdin, environment=environment)

    return run


def signed_in(command, person: Person, *words: str):
    return command(
        "login",
        "--user",
        person.name,
        "--organization",
        person.organization,
        "--password-stdin",
        *words,
        stdin=person.password + "\n",
    )


def test_commands_manage_the_own_account(boss, command):
    assert signed_in(command, boss).returncode == 0
    listed = json.loads(command("session", "list", "--json").stdout)["sessions"]
    assert [each["is_current"] for each in listed].count(True) == 1
    created = json.loads(command("token", "create", "ci", "--role", "admin", "--json").stdout)
    users = command("user", "list", "--json", token=created["token"])
    assert [each["user_name"] for each in json.loads(users.stdout)["users"]] == ["boss"]
    assert command("token", "revoke", created["token_id"]).returncode == 0
    assert command("user", "list", token=created["token"]).returncode != 0
    assert command("session", "revoke", "--others").returncode == 0
    changed = command("account", "passwd", "--password-stdin", stdin=f"{PASSWORD}\n{PASSWORD}!\n")
    assert changed.returncode == 0, changed.stderr
    boss.password += "!"
    assert command("user", "list").returncode == 0


def test_login_asks_for_the_second_factor(vera, command):
    app = vera.enroll()
    refusal = signed_in(command, vera, "--code", "000000")
    assert refusal.returncode != 0 and "the code is wrong" in refusal.stderr
    assert signed_in(command, vera, "--code", app.code(+1)).returncode == 0
    shown = json.loads(command("account", "show", "--json").stdout)
    assert (shown["has_second_factor"], shown["recovery_codes_left"]) == (True, 10)
    assert signed_in(command, vera, "--code", vera.recovery_codes[0]).returncode == 0


def test_expired_challenge_is_no_password(gateway, stubs):
    with pytest.raises(grpc.RpcError) as error:
        complete(gateway, stubs, unique("dgwc_"), "123456")
    assert error.value.code() is grpc.StatusCode.UNAUTHENTICATED
