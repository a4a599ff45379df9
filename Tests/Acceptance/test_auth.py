"""Authentication: credentials, passwords and tokens, and their end."""

import base64
import datetime
import json
import time

import pytest
from support.faults import Clock
from support.gateway import ADMIN_PASSWORD
from support.parties import Fleet, Uploader, User, call, exchange, unique
from support.refusal import refused

#: The lifetime of access tokens in tests that set the clock forward, in seconds.
LIFETIME = 900


@pytest.fixture
def site_key(fleet, admin):
    """A key of the shared site: its id and its credential."""
    created = admin.admin("CreateSiteApiKey", site_id=fleet.site_id, key_name=unique("key"))
    return created.api_key.api_key_id, created.credential


def test_exchange_gives_a_bearer_token_that_lasts(uploader, gateway, stubs):
    session = exchange(gateway, stubs, uploader.credential)
    assert session.token_type == "Bearer"
    assert session.expires_at_unix > time.time() + 120


@pytest.mark.parametrize("owner", ["device", "site"])
def test_exchange_leaves_the_principal_unset(uploader, site_key, gateway, stubs, owner):
    """A deployed client declares a string, and fails if the bytes are not UTF-8, which happens at site ids above 127."""
    reply = exchange(gateway, stubs, uploader.credential if owner == "device" else site_key[1])
    assert reply.access_token
    assert {field.number for field, _ in reply.ListFields()} == {1, 2, 3}


def altered(credential: str) -> str:
    """Returns the same credential with another secret: its last byte before Base64 is changed."""
    raw = bytearray(base64.b64decode(credential + "=" * (-len(credential) % 4)))
    raw[-1] ^= 1
    return base64.b64encode(raw).decode()


@pytest.mark.parametrize("credential", ["", "x", "AAAA", "é", "a" * 10_000, base64.b64encode(b"x" * 48).decode()])
def test_malformed_credential_is_refused(gateway, stubs, credential):
    with refused(stubs, "UNAUTHENTICATED", "AUTH_INVALID_CREDENTIAL"):
        exchange(gateway, stubs, credential)


def test_malformed_unknown_and_wrong_credentials_get_one_message(uploader, gateway, stubs):
    messages = set()
    for credential in ["nonsense", base64.b64encode(b"x" * 48).decode(), altered(uploader.credential)]:
        with refused(stubs, "UNAUTHENTICATED", "AUTH_INVALID_CREDENTIAL") as refusal:
            exchange(gateway, stubs, credential)
        messages.add(refusal.detail.message)
    assert len(messages) == 1


def test_disabled_key_is_refused_at_once(site_key, admin, gateway, stubs):
    uploader = Uploader(gateway, stubs, site_key[1]).sign_in()
    upload = uploader.create()
    assert admin.admin("DisableApiKey", api_key_id=site_key[0]).api_key.status == 2
    with refused(stubs, "UNAUTHENTICATED", "DATA_GATEWAY_UNAUTHENTICATED"):
        uploader.recovery(upload.logical_upload_id)
    with refused(stubs, "UNAUTHENTICATED", "AUTH_KEY_DISABLED"):
        exchange(gateway, stubs, site_key[1])
    admin.admin("EnableApiKey", api_key_id=site_key[0])
    assert uploader.sign_in().recovery(upload.logical_upload_id)


def test_wrong_secret_of_a_disabled_key_does_not_reveal_the_reason(site_key, admin, gateway, stubs):
    admin.admin("DisableApiKey", api_key_id=site_key[0])
    with refused(stubs, "UNAUTHENTICATED", "AUTH_INVALID_CREDENTIAL"):
        exchange(gateway, stubs, altered(site_key[1]))


@pytest.fixture
def clock(tmp_path) -> Clock:
    """The clock of a gateway of the test: tokens and keys end when it is set forward, not while the machine is stalled."""
    return Clock(tmp_path)


def test_expired_key_is_refused(gateway_with, login, clock, stubs):
    gateway = gateway_with(environment=clock.environment)
    admin = login(gateway)
    fleet = Fleet.create(admin)
    end = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=LIFETIME // 2)
    key = admin.admin("CreateSiteApiKey", site_id=fleet.site_id, key_name=unique("key"), expired_at=end)
    uploader = Uploader(gateway, stubs, key.credential).sign_in()
    upload = uploader.create()
    clock.set(LIFETIME // 2 + 1, LIFETIME // 2 + 1)
    with refused(stubs, "UNAUTHENTICATED", "AUTH_KEY_EXPIRED"):
        exchange(gateway, stubs, key.credential)
    with refused(stubs, "UNAUTHENTICATED", "DATA_GATEWAY_UNAUTHENTICATED"):
        uploader.recovery(upload.logical_upload_id)


def test_a_disabled_site_stops_its_devices_on_the_next_call(admin, gateway, stubs):
    fleet = Fleet.create(admin)
    uploader = fleet.uploader()
    upload = uploader.create()
    admin.admin("DisableSite", site_id=fleet.site_id)
    with refused(stubs, "UNAUTHENTICATED", "DATA_GATEWAY_UNAUTHENTICATED"):
        uploader.recovery(upload.logical_upload_id)
    with refused(stubs, "UNAUTHENTICATED", "AUTH_SITE_DISABLED"):
        exchange(gateway, stubs, uploader.credential)
    admin.admin("EnableSite", site_id=fleet.site_id)
    assert uploader.sign_in().recovery(upload.logical_upload_id)


def test_login_gives_both_tokens_and_the_user(gateway, stubs):
    stub = stubs.auth.AuthServiceStub(gateway.channel("auth"))
    request = stubs.auth.LoginRequest(organization="system", user_name="admin", password=ADMIN_PASSWORD)
    reply = call(stub.Login, request)
    assert reply.token_type == "Bearer"
    assert time.time() + 120 < reply.access_token_expires_at_unix < reply.refresh_token_expires_at_unix
    assert reply.refresh_token
    assert (reply.user.organization, reply.user.user_name) == ("system", "admin")
    assert not reply.user.HasField("last_login_at") or reply.user.last_login_at.seconds > 0


@pytest.mark.parametrize(
    "organization, user_name, password",
    [
        ("system", "admin", "wrong"),
        ("system", "nobody", ADMIN_PASSWORD),
        ("nowhere", "admin", ADMIN_PASSWORD),
        ("", "", ""),
        ("system", "admin", "x" * 100_000),
    ],
    ids=["password", "user", "organization", "empty", "long"],
)
def test_login_that_is_wrong_gets_one_answer(gateway, stubs, organization, user_name, password):
    with refused(stubs, "UNAUTHENTICATED", "AUTH_INVALID_CREDENTIAL") as refusal:
        User.login(gateway, stubs, organization, user_name, password)
    with refused(stubs, "UNAUTHENTICATED", "AUTH_INVALID_CREDENTIAL") as another:
        exchange(gateway, stubs, "nonsense")
    assert "admin" not in refusal.detail.message
    assert refusal.detail.message and another.detail.message


def user_door(uploader, stubs, token):
    """Calls an RPC for users only."""
    stub = stubs.gateway.DataGatewayObjectServiceStub(uploader.gateway.channel("gateway"))
    return call(stub.ListObjects, stubs.gateway.ListObjectsRequest(), token)


def admin_door(uploader, stubs, token):
    """Calls an RPC for admins only."""
    stub = stubs.auth.AdminAuthServiceStub(uploader.gateway.channel("admin"))
    return call(stub.ListSites, stubs.auth.ListSitesRequest(), token)


def device_management_door(uploader, stubs, token):
    """Calls an RPC for operators only."""
    stub = stubs.meta.DeviceManagementServiceStub(uploader.gateway.channel("admin"))
    return call(stub.ListDevices, stubs.meta.ListDevicesRequest(), token)


def key_door(uploader, stubs, token):
    """Calls an RPC for API keys only."""
    stub = stubs.gateway.DataGatewayServiceStub(uploader.gateway.channel("gateway"))
    return call(stub.CreateLogicalUpload, stubs.gateway.CreateLogicalUploadRequest(), token)


USER_DOORS = [user_door, admin_door, device_management_door]


@pytest.mark.parametrize("door", USER_DOORS)
def test_token_of_a_key_is_refused_by_calls_for_users(uploader, stubs, door):
    with refused(stubs, "UNAUTHENTICATED", "DATA_GATEWAY_UNAUTHENTICATED"):
        door(uploader, stubs, uploader.token)


def test_token_of_a_user_is_refused_by_calls_for_keys(uploader, admin, stubs):
    with refused(stubs, "UNAUTHENTICATED", "DATA_GATEWAY_UNAUTHENTICATED"):
        key_door(uploader, stubs, admin.token)


def test_a_refresh_token_is_no_access_token(uploader, admin, stubs):
    with refused(stubs, "UNAUTHENTICATED", "DATA_GATEWAY_UNAUTHENTICATED"):
        user_door(uploader, stubs, admin.refresh_token)


@pytest.mark.parametrize("door", [*USER_DOORS, key_door])
@pytest.mark.parametrize("token", [None, "x", "a.b.c"], ids=["missing", "short", "dots"])
def test_malformed_token_is_refused(uploader, stubs, door, token):
    with refused(stubs, "UNAUTHENTICATED", "DATA_GATEWAY_UNAUTHENTICATED"):
        door(uploader, stubs, token)


def b64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def test_altered_token_is_refused(uploader, stubs):
    header, payload, signature = uploader.token.split(".")
    claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    claims["exp"] += 3600
    longer = b64url(json.dumps(claims).encode())
    none = b64url(b'{"alg":"none","typ":"JWT"}')
    for token in [
        f"{header}.{longer}.{signature}",
        f"{none}.{payload}.",
        f"{none}.{payload}.{signature}",
        f"{header}.{payload}.",
        f"{header}.{payload}",
        f"{header}.{payload}.{b64url(bytes(64))}",
    ]:
        with refused(stubs, "UNAUTHENTICATED", "DATA_GATEWAY_UNAUTHENTICATED"):
            key_door(uploader, stubs, token)


@pytest.mark.parametrize("scheme", ["Basic", "", "Token"])
def test_scheme_other_than_bearer_is_refused(uploader, stubs, scheme):
    stub = stubs.gateway.DataGatewayServiceStub(uploader.gateway.channel("gateway"))
    with refused(stubs, "UNAUTHENTICATED", "DATA_GATEWAY_UNAUTHENTICATED"):
        call(
            stub.CreateLogicalUpload,
            stubs.gateway.CreateLogicalUploadRequest(),
            metadata={"authorization": f"{scheme} {uploader.token}".strip()},
        )


def test_expired_token_is_refused(gateway_with, login, clock, stubs):
    gateway = gateway_with({"auth": {"access_token_lifetime_seconds": LIFETIME}}, clock.environment)
    uploader = Fleet.create(login(gateway)).uploader()
    upload = uploader.create()
    clock.set(LIFETIME + 1, LIFETIME + 1)
    with refused(stubs, "UNAUTHENTICATED", "DATA_GATEWAY_UNAUTHENTICATED"):
        uploader.recovery(upload.logical_upload_id)
    assert uploader.sign_in().recovery(upload.logical_upload_id)


def test_expired_token_of_a_user_is_refused(gateway_with, login, clock, stubs):
    user = login(gateway_with({"auth": {"access_token_lifetime_seconds": LIFETIME}}, clock.environment))
    user.objects("ListObjects")
    clock.set(LIFETIME + 1, LIFETIME + 1)
    with refused(stubs, "UNAUTHENTICATED", "DATA_GATEWAY_UNAUTHENTICATED"):
        user.objects("ListObjects")
