"""Sign-ins by identity providers: people with tokens in Apple's format, and workloads such as CI jobs."""

import base64
import hashlib
import hmac
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding
from support.commands import CommandLine
from support.database import change
from support.gateway import ADMIN_PASSWORD, eventually
from support.hostile_provider import HostileProvider
from support.issuer import Issuer, Key, digest, forged
from support.parties import PASSWORD, User, call, unique
from support.refusal import refused

AUDIENCE = "com.example.app"


@pytest.fixture(scope="module")
def issuer():
    return Issuer()


def configuration(issuer: Issuer, **members) -> dict:
    people = {"organization": "system", "default_role": "viewer", "create": True}
    provider = {"issuer": issuer.url, "audiences": [AUDIENCE], "users": people} | members
    return {"identity": {"providers": {"apple": provider}}}


@pytest.fixture(scope="module")
def gateway(gateway_with, issuer):
    workloads = [{"account": "ci", "claims": {"repository": "acme/robots", "ref": "refs/heads/main"}}]
    return gateway_with(configuration(issuer, service_accounts=workloads))


@pytest.fixture
def admin(gateway, stubs) -> User:
    return User.login(gateway, stubs, "system", "admin", ADMIN_PASSWORD)


def identity(gateway, stubs, method: str, token: str | None = None, **fields):
    stub = stubs.auth.IdentityServiceStub(gateway.channel("auth"))
    return call(getattr(stub, method), getattr(stubs.auth, f"{method}Request")(**fields), token)


def sign_in(gateway, stubs, token: str, nonce: str = ""):
    return identity(gateway, stubs, "SignInWithIdentityToken", provider="apple", identity_token=token, nonce=nonce)


def exchange(gateway, stubs, token: str):
    return identity(gateway, stubs, "ExchangeWorkloadToken", identity_token=token)


def names(admin) -> list[str]:
    return [user.user_name for user in admin.users("ListUsers").users]


# People.


def test_tokens_of_each_key_sign_in(gateway, stubs, issuer):
    for key in issuer.keys:
        reply = sign_in(gateway, stubs, issuer.token(AUDIENCE, unique("sub"), key))
        assert (reply.token_type, reply.user.role, reply.user.organization) == ("Bearer", "viewer", "system")
        assert reply.refresh_token


def test_same_token_twice_and_at_once_makes_one_account(gateway, stubs, issuer, admin):
    subject = unique("sub")
    token = issuer.token(AUDIENCE, subject)
    with ThreadPoolExecutor(8) as pool:
        users = list(pool.map(lambda _: sign_in(gateway, stubs, token).user.user_id, range(8)))
    assert len(users) == 8 and len(set(users)) == 1
    assert names(admin).count(subject) == 1


def test_nonce_is_the_tokens_own_or_its_digest(gateway, stubs, issuer):
    for claimed in ("a nonce", digest("a nonce")):
        assert sign_in(gateway, stubs, issuer.token(AUDIENCE, nonce=claimed), "a nonce").access_token
    for given in ("", "another"):
        with refused(stubs, "UNAUTHENTICATED", "AUTH_INVALID_CREDENTIAL"):
            sign_in(gateway, stubs, issuer.token(AUDIENCE, nonce=digest("a nonce")), given)


def attacks(issuer: Issuer) -> dict[str, str]:
    """Every attack on a token, by name."""
    rsa_key, stranger = issuer.keys[0], Key("A")
    now = int(time.time())
    claims = issuer.claims(AUDIENCE, "attacker")

    def by_rsa(key):
        return lambda signed: key.private.sign(signed, padding.PKCS1v15(), hashes.SHA256())

    pem = rsa_key.private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    valid = issuer.token(AUDIENCE, "attacker")
    repeated = forged({"alg": "RS256", "kid": "A"}, claims, by_rsa(rsa_key))

    class Twice(dict):
        def items(self):
            return [("sub", "attacker"), *super().items()]

    return {
        "none": forged({"alg": "none", "kid": "A"}, claims, lambda _: b""),
        "HS256 with the RSA key as secret": forged(
            {"alg": "HS256", "kid": "A"}, claims, lambda signed: hmac.digest(pem, signed, hashlib.sha256)
        ),
        "RS256 under an EC key's name": forged({"alg": "RS256", "kid": "E"}, claims, by_rsa(rsa_key)),
        "ES256 under an RSA key's name": forged({"alg": "ES256", "kid": "A"}, claims, lambda _: bytes(64)),
        "a path as kid": forged({"alg": "RS256", "kid": "../../A"}, claims, by_rsa(rsa_key)),
        "a key in the header": forged({"alg": "RS256", "kid": "A", "jwk": stranger.public}, claims, by_rsa(stranger)),
        "a key's address in the header": forged(
            {"alg": "RS256", "kid": "A", "jku": "http://127.0.0.1:1/keys"}, claims, by_rsa(stranger)
        ),
        "a critical extension": forged({"alg": "RS256", "kid": "A", "crit": ["b64"]}, claims, by_rsa(rsa_key)),
        "a token for another purpose": forged({"alg": "RS256", "kid": "A", "typ": "at+jwt"}, claims, by_rsa(rsa_key)),
        "another app's token": issuer.token("com.example.other", "attacker"),
        "several audiences without azp": issuer.token([AUDIENCE, "com.example.other"], "attacker"),
        "another issuer": issuer.token(AUDIENCE, "attacker", iss="http://127.0.0.1:1"),
        "expired": issuer.token(AUDIENCE, "attacker", iat=now - 900, exp=now - 300),
        "without expiry": issuer.token(AUDIENCE, "attacker", exp=None),
        "issued in the future": issuer.token(AUDIENCE, "attacker", iat=now + 300),
        "not valid yet": issuer.token(AUDIENCE, "attacker", nbf=now + 300),
        "without subject": issuer.token(AUDIENCE, None),
        "a repeated claim": forged({"alg": "RS256", "kid": "A"}, Twice(claims), by_rsa(rsa_key)),
        "16 KiB and one byte": issuer.token(AUDIENCE, "attacker", x="a" * 16_384),
        "garbage": "!!!.???.***",
        "padding": valid + "=",
        "two parts": valid.rsplit(".", 1)[0],
        "a changed signature": valid[:-8] + ("A" * 8 if valid[-8:] != "A" * 8 else "B" * 8),
        "another's signature": repeated.rsplit(".", 1)[0] + "." + issuer.token(AUDIENCE, "x").rsplit(".", 1)[1],
    }


def test_every_attack_is_refused_and_makes_no_account(gateway, stubs, issuer, admin):
    before = names(admin)
    for name, token in attacks(issuer).items():
        for use in (sign_in, exchange):
            with pytest.raises(grpc.RpcError) as error:
                use(gateway, stubs, token)
            assert error.value.code() is grpc.StatusCode.UNAUTHENTICATED, name
    assert names(admin) == before


def test_weak_keys_of_the_set_verify_nothing(gateway_with, stubs):
    issuer = Issuer()
    weak, small = Key("weak"), Key("small")
    weak.public["e"] = "AQ"
    small.public["n"] = small.public["n"][:170]
    issuer.keys += [weak, small]
    gateway = gateway_with(configuration(issuer))
    assert sign_in(gateway, stubs, issuer.token(AUDIENCE)).access_token
    for key in (weak, small):
        with refused(stubs, "UNAUTHENTICATED", "AUTH_INVALID_CREDENTIAL"):
            sign_in(gateway, stubs, issuer.token(AUDIENCE, key=key))
    gateway.stop()
    issuer.stop()


# Keys.


def test_keys_of_a_set_are_used_as_far_as_they_match(gateway_with, stubs):
    issuer = Issuer()
    key, encryption, first, second = Key("dup"), Key("dup"), Key("twice"), Key("twice")
    encryption.public["use"] = "enc"
    modulus = base64.urlsafe_b64decode(key.public["n"] + "==")
    key.public["n"] = base64.urlsafe_b64encode(b"\0" + modulus).decode()
    others = [Key(f"other-{number}", "ES256") for number in range(40)]
    for number, other in enumerate(others):
        other.public["crv"] = f"P-{number}"
    again = Key("dup")
    again.public = key.public | {"alg": "RS512"}
    issuer.keys = [key, encryption, again, Key("dup", "ES256"), first, second, *others]
    gateway = gateway_with(configuration(issuer))
    assert sign_in(gateway, stubs, issuer.token(AUDIENCE)).access_token
    assert sign_in(gateway, stubs, issuer.token(AUDIENCE, "another", key=issuer.keys[3])).access_token
    for ambiguous in (first, second):
        with refused(stubs, "UNAUTHENTICATED", "AUTH_INVALID_CREDENTIAL"):
            sign_in(gateway, stubs, issuer.token(AUDIENCE, key=ambiguous))
    output = 'several RS256 keys have the kid \\"twice\\", so none of them is used'
    eventually(lambda: output in gateway.stderr)
    eventually(lambda: "its provider has no usable key with its kid and alg" in gateway.stderr)
    gateway.stop()
    issuer.stop()


def test_rotation_works_within_one_call_and_unknown_keys_cost_one_request(gateway_with, stubs):
    issuer = Issuer()
    gateway = gateway_with(configuration(issuer))
    old = issuer.keys[0]
    assert sign_in(gateway, stubs, issuer.token(AUDIENCE)).access_token
    assert issuer.key_requests == 1
    issuer.keys = [Key("N")]
    assert sign_in(gateway, stubs, issuer.token(AUDIENCE)).access_token
    with refused(stubs, "UNAUTHENTICATED", "AUTH_INVALID_CREDENTIAL"):
        sign_in(gateway, stubs, issuer.token(AUDIENCE, key=old))
    stranger = Key("N")
    for number in range(20):
        stranger.kid = f"X{number}"
        with refused(stubs, "UNAUTHENTICATED", "AUTH_INVALID_CREDENTIAL"):
            sign_in(gateway, stubs, issuer.token(AUDIENCE, key=stranger))
    assert issuer.key_requests == 2
    gateway.stop()
    issuer.stop()


def test_outage_ends_no_session_and_a_restart_survives_it(gateway_with, stubs):
    issuer = Issuer()
    gateway = gateway_with(configuration(issuer))
    assert sign_in(gateway, stubs, issuer.token(AUDIENCE)).access_token
    issuer.stop()
    assert sign_in(gateway, stubs, issuer.token(AUDIENCE, jti="2")).access_token
    gateway.kill()
    gateway.start()
    session = sign_in(gateway, stubs, issuer.token(AUDIENCE, jti="3"))
    assert User(gateway, stubs, session.access_token).list_all() == []
    # Keys that were read more than a day ago verify nothing, and nobody is refused because of it.
    gateway.stop()
    change(gateway, "UPDATE identity_keys SET read_at = read_at - 86400000000")
    gateway.start()
    with pytest.raises(grpc.RpcError) as error:
        sign_in(gateway, stubs, issuer.token(AUDIENCE, jti="4"))
    assert error.value.code() is grpc.StatusCode.UNAVAILABLE
    assert "retry-after-ms" in dict(error.value.trailing_metadata())
    issuer.start()
    gateway.stop()
    gateway.start()
    assert sign_in(gateway, stubs, issuer.token(AUDIENCE, jti="5")).access_token
    gateway.stop()
    issuer.stop()


def test_provider_that_violates_http_is_an_outage(gateway_with, stubs):
    good, hostile = Issuer(), HostileProvider(json.dumps({"keys": [Key("A").public]}).encode())
    hostile.elsewhere = f"{good.url}/keys"
    key = Key("A")
    people = {"organization": "system", "default_role": "viewer", "create": True}
    providers = {"apple": {"issuer": good.url, "audiences": [AUDIENCE], "users": people}}
    for name in hostile.attacks:
        url = f"{hostile.url}/{name}"
        providers[name] = {"issuer": url, "audiences": [AUDIENCE], "keys_url": url, "users": people}
    gateway = gateway_with({"identity": {"providers": providers}})
    outcomes = {}

    def attempt(name: str) -> None:
        token = good.token(AUDIENCE, key=key, iss=f"{hostile.url}/{name}")
        with pytest.raises(grpc.RpcError) as error:
            identity(gateway, stubs, "SignInWithIdentityToken", provider=name, identity_token=token)
        outcomes[name] = error.value.code()

    threads = [threading.Thread(target=attempt, args=(name,)) for name in hostile.attacks]
    for thread in threads:
        thread.start()
    # The others sign in meanwhile.
    assert sign_in(gateway, stubs, good.token(AUDIENCE)).access_token
    for thread in threads:
        thread.join()
    assert outcomes == dict.fromkeys(hostile.attacks, grpc.StatusCode.UNAVAILABLE)
    assert good.key_requests == 1
    # What fits into the buffers of the connection, and little more.
    assert max(hostile.sent.values()) < 16 << 20, hostile.sent
    assert sign_in(gateway, stubs, good.token(AUDIENCE, jti="2")).access_token
    gateway.stop()
    hostile.close()
    good.stop()


# Workloads.


def workload(issuer, **changes) -> str:
    claims = {"repository": "acme/robots", "ref": "refs/heads/main"} | changes
    return issuer.token(AUDIENCE, "repo:acme/robots:ref:refs/heads/main", **claims)


@pytest.fixture(scope="module")
def account(gateway, stubs) -> str:
    admin = User.login(gateway, stubs, "system", "admin", ADMIN_PASSWORD)
    return admin.users("CreateUser", user_name="ci", role="service").user.user_name


def test_workload_of_the_repository_opens_the_service_account(gateway, stubs, issuer, account):
    reply = exchange(gateway, stubs, workload(issuer))
    assert (reply.user_name, reply.organization, reply.token_type) == (account, "system", "Bearer")
    assert User(gateway, stubs, reply.access_token).admin("ListSites") is not None


@pytest.mark.parametrize(
    "changes", [{"repository": "acme/other"}, {"repository": None}, {"ref": "refs/heads/feature"}, {"aud": "other"}]
)
def test_workload_of_another_repository_is_refused(gateway, stubs, issuer, account, changes):
    with refused(stubs, "UNAUTHENTICATED", "AUTH_INVALID_CREDENTIAL"):
        exchange(gateway, stubs, workload(issuer, **changes))


@pytest.mark.parametrize("aud", [["https://kubernetes.default.svc", AUDIENCE], [AUDIENCE, "other"], [AUDIENCE]])
def test_workload_may_name_other_audiences(gateway, stubs, issuer, account, aud):
    assert exchange(gateway, stubs, workload(issuer, aud=aud, jti=str(aud))).user_name == account


def test_person_in_many_groups_signs_in(gateway, stubs, issuer):
    groups = [f"0f0f0f0f-1111-2222-3333-{number:012}" for number in range(199)]
    token = issuer.token(AUDIENCE, unique("sub"), groups=groups)
    assert 10_000 < len(token) < 16_384
    assert sign_in(gateway, stubs, token).access_token


def test_reason_of_a_refusal_is_in_the_log(gateway, stubs, issuer):
    with refused(stubs, "UNAUTHENTICATED", "AUTH_INVALID_CREDENTIAL"):
        sign_in(gateway, stubs, issuer.token([AUDIENCE, "com.example.other"], azp=AUDIENCE))
    output = "its aud also contains an audience that the provider's configuration does not have"
    eventually(lambda: output in gateway.stderr)


# Identities.


def test_users_list_and_unlink_their_identities(gateway, stubs, issuer, admin):
    subject = unique("sub")
    session = sign_in(gateway, stubs, issuer.token(AUDIENCE, subject, email="ada@example.com", email_verified="true"))
    (found,) = identity(gateway, stubs, "ListIdentities", session.access_token).identities
    assert (found.provider, found.subject, found.email, found.email_verified) == (
        "apple",
        subject,
        "ada@example.com",
        True,
    )
    with refused(stubs, "FAILED_PRECONDITION"):
        identity(gateway, stubs, "Unlink", session.access_token, identity_id=found.identity_id)
    with refused(stubs, "PERMISSION_DENIED"):
        identity(gateway, stubs, "ListIdentities", session.access_token, user_name="admin")
    other = sign_in(gateway, stubs, issuer.token(AUDIENCE, unique("sub")))
    with refused(stubs, "NOT_FOUND"):
        identity(gateway, stubs, "Unlink", other.access_token, identity_id=found.identity_id)
    admin.users("UpdateUser", user_name=session.user.user_name, password=PASSWORD)
    user = User.login(gateway, stubs, "system", session.user.user_name, PASSWORD)
    identity(gateway, stubs, "Unlink", user.token, identity_id=found.identity_id)
    with refused(stubs, "UNAUTHENTICATED", "DATA_GATEWAY_UNAUTHENTICATED"):
        identity(gateway, stubs, "ListIdentities", user.token)


# Commands.


def test_commands_of_a_ci_job_use_its_token(binary, gateway, stubs, issuer, account):
    done = CommandLine(binary, gateway, gateway.directory).run(
        "login", "--identity-token-file", "-", "--json", input=workload(issuer, jti="cli")
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["user_name"] == account
    assert CommandLine(binary, gateway, gateway.directory).run("site", "list").returncode == 0
    assert (
        CommandLine(binary, gateway, gateway.directory).run("identity", "list", "--user", "admin", "--json").returncode
        == 0
    )
    refused = CommandLine(binary, gateway, gateway.directory).run(
        "login", "--identity-token-file", "-", input=workload(issuer, ref="other")
    )
    assert refused.returncode == 1
    assert "no service account accepts the claims" in refused.stderr
    missing = CommandLine(binary, gateway, gateway.directory).run("login", "--identity-token-file", "/nowhere/token")
    assert missing.returncode == 2
    assert "cannot read the identity token: /nowhere/token: No such file or directory" in missing.stderr
    for words in (["login"], ["login", "--user", "a", "--sso", "b"]):
        assert CommandLine(binary, gateway, gateway.directory).run(*words).returncode == 2
