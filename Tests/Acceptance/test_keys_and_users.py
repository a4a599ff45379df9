"""Keys that are created, changed, rotated and deleted; users; refresh tokens: further tasks of an admin."""

import datetime

import pytest
from support.parties import PASSWORD, Fleet, Uploader, User, call, exchange, init_device, unique
from support.refusal import refused


@pytest.fixture
def key(fleet, admin):
    """A site's key and its credential."""
    return admin.admin("CreateSiteApiKey", site_id=fleet.site_id, key_name=unique("key"))


def test_a_rotated_key_has_another_secret_and_the_old_one_ends(key, admin, gateway, stubs):
    uploader = Uploader(gateway, stubs, key.credential).sign_in()
    upload = uploader.create()
    rotated = admin.admin("RotateApiKeySecret", api_key_id=key.api_key.api_key_id)
    assert rotated.api_key.api_key_id == key.api_key.api_key_id
    with refused(stubs, "UNAUTHENTICATED", "AUTH_INVALID_CREDENTIAL"):
        exchange(gateway, stubs, key.credential)
    with refused(stubs, "UNAUTHENTICATED", "DATA_GATEWAY_UNAUTHENTICATED"):
        uploader.recovery(upload.logical_upload_id)
    uploader.credential = rotated.credential
    assert uploader.sign_in().recovery(upload.logical_upload_id)


def test_a_deleted_key_ends_with_its_next_call(key, admin, gateway, stubs):
    uploader = Uploader(gateway, stubs, key.credential).sign_in()
    admin.admin("DeleteApiKey", api_key_id=key.api_key.api_key_id)
    with refused(stubs, "UNAUTHENTICATED", "DATA_GATEWAY_UNAUTHENTICATED"):
        uploader.create()
    with refused(stubs, "UNAUTHENTICATED", "AUTH_INVALID_CREDENTIAL"):
        exchange(gateway, stubs, key.credential)
    with refused(stubs, "NOT_FOUND"):
        admin.admin("GetApiKey", api_key_id=key.api_key.api_key_id)


def test_an_update_changes_what_it_names(key, admin):
    key_id = key.api_key.api_key_id
    later = datetime.datetime(2099, 1, 1, tzinfo=datetime.UTC)
    assert admin.admin("UpdateApiKey", api_key_id=key_id, key_name="another").api_key.key_name == "another"
    updated = admin.admin("UpdateApiKey", api_key_id=key_id, expired_at=later).api_key
    assert updated.key_name == "another"
    assert updated.expired_at.seconds == int(later.timestamp())
    assert not admin.admin("UpdateApiKey", api_key_id=key_id, clear_expired_at=True).api_key.HasField("expired_at")
    assert admin.admin("UpdateApiKey", api_key_id=key_id, status=2).api_key.status == 2


def test_keys_are_listed_by_site_owner_and_device(admin, stubs):
    fleet = Fleet.create(admin)
    site_key = admin.admin("CreateSiteApiKey", site_id=fleet.site_id, key_name=unique("key")).api_key
    device = fleet.uploader()
    of_site = admin.admin("ListApiKeys", site_id=fleet.site_id, owner_kind=stubs.auth.API_KEY_OWNER_KIND_SITE)
    assert [found.api_key_id for found in of_site.api_keys] == [site_key.api_key_id]
    of_device = admin.admin("ListApiKeys", device_id=device.device_id).api_keys
    assert [found.principal.device_id for found in of_device] == [device.device_id]
    assert len(admin.admin("ListApiKeys", site_id=fleet.site_id).api_keys) == 2


def test_a_device_key_is_created_once_and_rotated(admin, fleet, gateway, stubs):
    device = fleet.register()
    create, rotate = (
        stubs.auth.DEVICE_API_KEY_MUTATION_MODE_CREATE_ONLY,
        stubs.auth.DEVICE_API_KEY_MUTATION_MODE_ROTATE_ONLY,
    )
    make = lambda mode: admin.admin(  # noqa: E731
        "CreateOrRotateDeviceApiKey", device_id=device.device_id, key_name="key", mutation_mode=mode
    )
    with refused(stubs, "NOT_FOUND"):
        make(rotate)
    first = make(create)
    assert first.api_key.principal.device_id == device.device_id
    assert exchange(gateway, stubs, first.credential).access_token
    with refused(stubs, "ALREADY_EXISTS"):
        make(create)
    # A device with a key from an operator counts as initialized.
    with refused(stubs, "FAILED_PRECONDITION", "DATA_GATEWAY_DEVICE_ALREADY_INITIALIZED"):
        init_device(gateway, stubs, device.device_id)
    second = make(rotate)
    with refused(stubs, "UNAUTHENTICATED", "AUTH_INVALID_CREDENTIAL", "AUTH_KEY_DISABLED"):
        exchange(gateway, stubs, first.credential)
    assert exchange(gateway, stubs, second.credential)
    assert exchange(gateway, stubs, make(0).credential)


def test_referenced_resources_are_not_deleted(admin, stubs):
    fleet = Fleet.create(admin)
    device = fleet.register()
    with refused(stubs, "FAILED_PRECONDITION"):
        admin.admin("DeleteSite", site_id=fleet.site_id)
    with refused(stubs, "FAILED_PRECONDITION") as refusal:
        admin.devices("DeleteDeviceSuite", name=fleet.suite)
    assert device.device_id in refusal.message or "device" in refusal.message
    admin.devices("RemoveDeviceFromSuite", suite=fleet.suite, device=device.name)
    admin.devices("DeleteDeviceSuite", name=fleet.suite)
    admin.admin("DeleteSite", site_id=fleet.site_id)
    with refused(stubs, "NOT_FOUND"):
        admin.admin("GetSite", site_id=fleet.site_id)


def test_a_user_is_created_changed_and_deleted(admin, gateway, stubs):
    name = unique("user")
    user = admin.users("CreateUser", user_name=name, password=PASSWORD, role="operator").user
    assert (user.user_name, user.role, user.organization) == (name, "operator", "system")
    with refused(stubs, "ALREADY_EXISTS"):
        admin.users("CreateUser", user_name=name, password=PASSWORD, role="viewer")
    session = User.login(gateway, stubs, "system", name, PASSWORD)
    assert session.devices("ListDevices") is not None
    # A changed role or password ends existing sessions.
    admin.users("UpdateUser", user_name=name, role="viewer")
    with refused(stubs, "UNAUTHENTICATED", "DATA_GATEWAY_UNAUTHENTICATED"):
        session.devices("ListDevices")
    session = User.login(gateway, stubs, "system", name, PASSWORD)
    with refused(stubs, "PERMISSION_DENIED") as refusal:
        session.devices("ListDevices")
    assert "operator" in refusal.message
    admin.users("UpdateUser", user_name=name, password="another password")
    with refused(stubs, "UNAUTHENTICATED", "AUTH_INVALID_CREDENTIAL"):
        User.login(gateway, stubs, "system", name, PASSWORD)
    session = User.login(gateway, stubs, "system", name, "another password")
    admin.users("DeleteUser", user_name=name)
    with refused(stubs, "UNAUTHENTICATED", "DATA_GATEWAY_UNAUTHENTICATED"):
        session.objects("ListObjects")


@pytest.mark.parametrize("fields", [{"role": "king"}, {"user_name": ""}, {"password": ""}], ids=str)
def test_user_that_breaks_a_rule_is_refused(admin, stubs, fields):
    with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_INVALID_ARGUMENT"):
        admin.users("CreateUser", **({"user_name": unique("user"), "password": PASSWORD, "role": "viewer"} | fields))


def test_a_refresh_token_gives_new_ones_and_logout_ends_them(gateway, stubs, admin):
    name = unique("user")
    admin.users("CreateUser", user_name=name, password=PASSWORD, role="viewer")
    session = User.login(gateway, stubs, "system", name, PASSWORD)
    auth = stubs.auth.AuthServiceStub(gateway.channel("auth"))
    reply = call(auth.RefreshToken, stubs.auth.RefreshTokenRequest(refresh_token=session.refresh_token))
    assert reply.refresh_token != session.refresh_token
    assert User(gateway, stubs, reply.access_token).objects("ListObjects") is not None
    sessions = stubs.session.SessionServiceStub(gateway.channel("auth"))
    call(sessions.Logout, stubs.session.LogoutRequest(refresh_token=reply.refresh_token))
    for token in (reply.refresh_token, session.refresh_token, "nonsense", ""):
        with refused(stubs, "UNAUTHENTICATED", "AUTH_INVALID_CREDENTIAL"):
            call(auth.RefreshToken, stubs.auth.RefreshTokenRequest(refresh_token=token))
