"""Verification of tokens by others: PyJWT with the published keys of the web listener, during a rotation."""

import urllib.error
import urllib.request

import jwt
import pytest
from support.gateway import ADMIN_PASSWORD, eventually
from support.parties import User, call, exchange, unique
from support.refusal import refused
from support.waiting import WAIT_SECONDS

AUDIENCES = {"user": "data-gateway/users", "key": "data-gateway/uploads", "system": "data-gateway/system"}


def published(gateway) -> jwt.PyJWKSet:
    """Returns the keys that the web listener publishes now."""
    url = f"http://{gateway.listeners['web']}/.well-known/jwks.json"
    with urllib.request.urlopen(url, timeout=WAIT_SECONDS) as response:
        assert response.headers["Content-Type"] == "application/jwk-set+json"
        assert "max-age=" in response.headers["Cache-Control"]
        return jwt.PyJWKSet.from_json(response.read().decode())


def verified(token: str, kind: str, keys: jwt.PyJWKSet) -> dict:
    """Returns the token's claims; raises if no published key signed it."""
    header = jwt.get_unverified_header(token)
    assert header["typ"] == f"{kind}+jwt"
    return jwt.decode(
        token,
        keys[header["kid"]],
        algorithms=["ES256"],
        audience=AUDIENCES[kind],
        issuer="data-gateway",
        options={"require": ["exp", "nbf", "iat", "sub"]},
    )


def rotate(user: User):
    """Runs `data-gateway keys rotate`."""
    stubs = user.stubs
    stub = stubs.auth.IdentityManagementServiceStub(user.gateway.channel("admin"))
    return call(stub.RotateSigningKey, stubs.auth.RotateSigningKeyRequest(), user.token)


def test_every_kind_of_token_is_verified_by_the_published_keys(gateway, admin, fleet, login, stubs):
    keys = published(gateway)
    assert verified(login(gateway).token, "user", keys)["sub"]
    key = admin.admin("CreateSiteApiKey", site_id=fleet.site_id, key_name=unique("key"))
    claims = verified(exchange(gateway, stubs, key.credential).access_token, "key", keys)
    assert claims["sub"] == key.api_key.api_key_id
    with pytest.raises(jwt.InvalidAudienceError):
        signer = keys[jwt.get_unverified_header(admin.token)["kid"]]
        jwt.decode(admin.token, signer, algorithms=["ES256"], audience=AUDIENCES["key"])


def test_no_private_key_is_published(gateway):
    for key in published(gateway).keys:
        assert set(key._jwk_data) == {"kty", "crv", "x", "y", "kid", "use", "alg"}


@pytest.mark.parametrize("method, path, status", [("POST", "/.well-known/jwks.json", 405), ("GET", "/keys", 404)])
def test_other_requests_for_keys_are_refused(gateway, method, path, status):
    request = urllib.request.Request(f"http://{gateway.listeners['web']}{path}", method=method)
    with pytest.raises(urllib.error.HTTPError) as refusal:
        urllib.request.urlopen(request, timeout=WAIT_SECONDS)
    assert refusal.value.code == status
    refusal.value.close()


def test_tokens_are_verified_before_through_and_after_a_rotation(gateway_with, login):
    gateway = gateway_with({"auth": {"access_token_lifetime_seconds": 20}})
    before = login(gateway)
    (old,) = published(gateway).keys
    reply = rotate(before)
    assert reply.older_key_ids == [old.key_id]

    # During the rotation both keys are published, and tokens of the old key are still valid.
    keys = published(gateway)
    assert {key.key_id for key in keys.keys} == {old.key_id, reply.key_id}
    after = login(gateway)
    assert jwt.get_unverified_header(after.token)["kid"] == reply.key_id
    for user in (before, after):
        assert verified(user.token, "user", keys)
        assert user.admin("ListSites") is not None

    # A restart changes nothing.
    gateway.stop()
    gateway.start()
    assert {key.key_id for key in published(gateway).keys} == {old.key_id, reply.key_id}

    # Afterwards, the old key is removed once all its tokens have expired.
    eventually(lambda: [key.key_id for key in published(gateway).keys] == [reply.key_id], every=0.5)
    assert verified(login(gateway).token, "user", published(gateway))
    with pytest.raises(KeyError):
        verified(before.token, "user", published(gateway))


def test_only_admins_of_the_system_rotate(gateway, stubs, admin):
    name = unique("user")
    admin.users("CreateUser", user_name=name, password=ADMIN_PASSWORD, role="operator")
    with refused(stubs, "PERMISSION_DENIED"):
        rotate(User.login(gateway, stubs, "system", name, ADMIN_PASSWORD))
