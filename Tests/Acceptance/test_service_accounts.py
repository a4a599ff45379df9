"""Service accounts: programs with the rights of an admin of SYSTEM, with a system credential instead of a password."""

import pytest
from support.parties import Fleet, User, exchange_system_credential, issue_system_credential, unique
from support.refusal import refused


@pytest.fixture
def account(admin) -> str:
    return admin.users("CreateUser", user_name=unique("service"), role="service").user.user_name


def test_a_system_credential_opens_what_an_admin_of_the_system_may(gateway, stubs, admin, account):
    reply = exchange_system_credential(gateway, stubs, issue_system_credential(admin, account))
    assert (reply.token_type, reply.organization, reply.user_name) == ("Bearer", "system", account)
    service = User(gateway, stubs, reply.access_token)
    organization = unique("org")
    service.create_organization(organization)
    service.acting_for = organization
    assert Fleet.create(service).suite
    assert [user.user_name for user in service.users("ListUsers").users] == ["boss"]


@pytest.mark.parametrize("password", ["", "a password of some length"])
def test_password_of_a_service_account_is_refused(gateway, stubs, admin, account, password):
    issue_system_credential(admin, account)
    with refused(stubs, "UNAUTHENTICATED", "AUTH_INVALID_CREDENTIAL"):
        User.login(gateway, stubs, "system", account, password)


def test_a_new_credential_ends_the_old_one_and_its_tokens(gateway, stubs, admin, account):
    first = issue_system_credential(admin, account)
    service = User(gateway, stubs, exchange_system_credential(gateway, stubs, first).access_token)
    second = issue_system_credential(admin, account)
    with refused(stubs, "UNAUTHENTICATED", "DATA_GATEWAY_UNAUTHENTICATED"):
        service.admin("ListSites")
    for credential in (first, "nonsense", ""):
        with refused(stubs, "UNAUTHENTICATED", "AUTH_INVALID_CREDENTIAL"):
            exchange_system_credential(gateway, stubs, credential)
    service.token = exchange_system_credential(gateway, stubs, second).access_token
    assert service.admin("ListSites") is not None
    admin.users("DeleteUser", user_name=account)
    with refused(stubs, "UNAUTHENTICATED", "DATA_GATEWAY_UNAUTHENTICATED"):
        service.admin("ListSites")


def test_only_the_system_creates_service_accounts(admin, gateway, stubs):
    organization, password = unique("org"), "a password of some length"
    boss = admin.create_organization(organization, password)
    with refused(stubs, "PERMISSION_DENIED"):
        boss.users("CreateUser", user_name="robot", role="service")
    with refused(stubs, "PERMISSION_DENIED"):
        issue_system_credential(boss, "boss")
