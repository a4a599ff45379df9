"""Service accounts: programs that act as an admin of SYSTEM, by a system credential in the place of a password."""

import pytest

from support.parties import Fleet, User, call, unique
from support.refusal import refused


def issue(user: User, name: str) -> str:
    """The system credential that `data-gateway user credential` shows."""
    stubs = user.stubs
    stub = stubs.auth.IdentityManagementServiceStub(user.gateway.channel("admin"))
    return call(
        stub.IssueSystemCredential, stubs.auth.IssueSystemCredentialRequest(user_name=name), user.token
    ).credential


def sign_in(gateway, stubs, credential: str):
    stub = stubs.auth.SystemAuthServiceStub(gateway.channel("auth"))
    return call(stub.ExchangeSystemCredential, stubs.auth.ExchangeSystemCredentialRequest(credential=credential))


@pytest.fixture
def account(admin) -> str:
    return admin.users("CreateUser", user_name=unique("service"), role="service").user.user_name


def test_a_system_credential_opens_what_an_admin_of_the_system_may(gateway, stubs, admin, account):
    reply = sign_in(gateway, stubs, issue(admin, account))
    assert (reply.token_type, reply.organization, reply.user_name) == ("Bearer", "system", account)
    service = User(gateway, stubs, reply.access_token)
    organization = unique("org")
    service.admin(
        "CreateOrganization",
        organization=organization,
        bootstrap_admin_user_name="boss",
        bootstrap_admin_password="a password of some length",
    )
    service.acting_for = organization
    assert Fleet.create(service).suite
    assert [user.user_name for user in service.users("ListUsers").users] == ["boss"]


@pytest.mark.parametrize("password", ["", "a password of some length"])
def test_login_refuses_it(gateway, stubs, admin, account, password):
    issue(admin, account)
    with refused(stubs, "UNAUTHENTICATED", "AUTH_INVALID_CREDENTIAL"):
        User.login(gateway, stubs, "system", account, password)


def test_a_new_credential_ends_the_old_one_and_its_tokens(gateway, stubs, admin, account):
    first = issue(admin, account)
    service = User(gateway, stubs, sign_in(gateway, stubs, first).access_token)
    second = issue(admin, account)
    with refused(stubs, "UNAUTHENTICATED", "DATA_GATEWAY_UNAUTHENTICATED"):
        service.admin("ListSites")
    for credential in (first, "nonsense", ""):
        with refused(stubs, "UNAUTHENTICATED", "AUTH_INVALID_CREDENTIAL"):
            sign_in(gateway, stubs, credential)
    service.token = sign_in(gateway, stubs, second).access_token
    assert service.admin("ListSites") is not None
    admin.users("DeleteUser", user_name=account)
    with refused(stubs, "UNAUTHENTICATED", "DATA_GATEWAY_UNAUTHENTICATED"):
        service.admin("ListSites")


def test_only_the_system_has_them(admin, gateway, stubs):
    organization, password = unique("org"), "a password of some length"
    admin.admin(
        "CreateOrganization",
        organization=organization,
        bootstrap_admin_user_name="boss",
        bootstrap_admin_password=password,
    )
    boss = User.login(gateway, stubs, organization, "boss", password)
    with refused(stubs, "PERMISSION_DENIED"):
        boss.users("CreateUser", user_name="robot", role="service")
    with refused(stubs, "PERMISSION_DENIED"):
        issue(boss, "boss")
