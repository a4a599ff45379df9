"""Resources of one organization are invisible to another; admins of `system` may act for any."""

import pytest
from support.parties import Fleet, User, unique, unique_device_id
from support.refusal import refused
from support.uploads import completed, content


@pytest.fixture(scope="module")
def ours(new_organization) -> User:
    return new_organization()


@pytest.fixture(scope="module")
def theirs(new_organization) -> User:
    return new_organization()


@pytest.fixture(scope="module")
def their_fleet(theirs) -> Fleet:
    return Fleet.create(theirs)


@pytest.fixture(scope="module")
def our_fleet(ours) -> Fleet:
    return Fleet.create(ours)


def test_organization_system_exists_from_the_start(admin, stubs):
    system = admin.admin("GetOrganization", organization="system").organization
    assert system.organization_kind == stubs.auth.ORGANIZATION_KIND_SYSTEM


def test_a_new_organization_is_a_business(admin, ours, stubs):
    found = admin.admin("GetOrganization", organization=ours.organization).organization
    assert found.organization_kind == stubs.auth.ORGANIZATION_KIND_BUSINESS
    assert found in admin.admin("ListOrganizations").organizations


@pytest.mark.parametrize(
    "method, fields",
    [
        ("CreateOrganization", {"organization": "sneaky", "bootstrap_admin_user_name": "me",
                                "bootstrap_admin_password": "a password of some length"}),
        ("DeleteOrganization", {"organization": "system"}),
    ],
)  # fmt: skip
def test_only_system_makes_and_ends_organizations(ours, stubs, method, fields):
    with refused(stubs, "PERMISSION_DENIED"):
        ours.admin(method, **fields)


def test_sites_of_another_organization_are_not_found(ours, their_fleet, stubs):
    for method in ["GetSite", "EnableSite", "DisableSite", "DeleteSite"]:
        with refused(stubs, "NOT_FOUND"):
            ours.admin(method, site_id=their_fleet.site_id)
    with refused(stubs, "NOT_FOUND"):
        ours.admin("CreateSiteApiKey", site_id=their_fleet.site_id, key_name="key")
    with refused(stubs, "NOT_FOUND"):
        ours.devices("CreateDeviceSuite", site_id=their_fleet.site_id, display_name="Suite")
    assert their_fleet.site_id not in [site.site_id for site in ours.admin("ListSites").sites]


def test_devices_of_another_organization_are_not_found(ours, our_fleet, their_fleet, stubs):
    device = their_fleet.register()
    for method in ["GetDevice", "DisableDevice", "EnableDevice", "DeleteDevice"]:
        with refused(stubs, "NOT_FOUND"):
            ours.devices(method, name=device.name)
    with refused(stubs, "NOT_FOUND"):
        ours.devices("RemoveDeviceFromSuite", suite=their_fleet.suite, device=device.name)
    loose = their_fleet.user.devices("RegisterDevice", device_id=unique_device_id())
    with refused(stubs, "NOT_FOUND"):
        ours.devices("AddDeviceToSuite", suite=our_fleet.suite, device=loose.name)
    with refused(stubs, "NOT_FOUND"):
        ours.devices("RegisterDevice", device_id=unique_device_id(), suite=their_fleet.suite)
    assert device.name not in [seen.name for seen in ours.devices("ListDevices", page_size=1000).devices]


def test_suites_of_another_organization_are_not_found(ours, their_fleet, stubs):
    with refused(stubs, "NOT_FOUND"):
        ours.devices("GetDeviceSuite", name=their_fleet.suite)
    assert their_fleet.suite not in [suite.name for suite in ours.devices("ListDeviceSuites").device_suites]


def test_keys_of_another_organization_are_not_found(ours, theirs, their_fleet, stubs):
    key = theirs.admin("CreateSiteApiKey", site_id=their_fleet.site_id, key_name=unique("key")).api_key
    for method in ["GetApiKey", "DisableApiKey", "EnableApiKey", "RotateApiKeySecret", "DeleteApiKey"]:
        with refused(stubs, "NOT_FOUND"):
            ours.admin(method, api_key_id=key.api_key_id)


def test_users_of_another_organization_are_not_found(ours, theirs, stubs):
    name = unique("user")
    theirs.users("CreateUser", user_name=name, password="a password of some length", role="admin")
    with refused(stubs, "NOT_FOUND"):
        ours.users("GetUser", user_name=name)
    assert name not in [user.user_name for user in ours.users("ListUsers").users]


def test_objects_are_seen_by_their_own_organization_and_by_system(ours, theirs, their_fleet, admin, stubs):
    run = unique("run")
    completed(their_fleet.uploader(), content(1000), {"run": run})
    assert ours.list_all(filter=f"raw_tags.run={run}") == []
    (found,) = theirs.list_all(filter=f"raw_tags.run={run}")
    assert admin.list_all(filter=f"raw_tags.run={run}") == [found]
    with refused(stubs, "NOT_FOUND") as refusal:
        ours.objects("RequestDownload", file_ids=[found.file_id])
    assert found.file_id in refusal.message
    assert theirs.objects("RequestDownload", file_ids=[found.file_id]).files


def test_uploads_of_another_organization_are_not_found(our_fleet, their_fleet, stubs):
    upload = their_fleet.uploader().create()
    stranger = our_fleet.uploader()
    for step in [
        lambda: stranger.recovery(upload.logical_upload_id),
        lambda: stranger.abort(upload.logical_upload_id),
        lambda: stranger.reissue(upload.upload_id),
        lambda: stranger.complete(upload.upload_id, file_size=1),
        lambda: stranger.create(restart_from=upload.upload_id),
    ]:
        with refused(stubs, "NOT_FOUND", "DATA_GATEWAY_UPLOAD_NOT_FOUND"):
            step()


def test_system_acts_for_another_organization(admin, theirs, gateway, stubs):
    acting = User(gateway, stubs, admin.token, acting_for=theirs.organization)
    fleet = Fleet.create(acting)
    assert fleet.site_id in [site.site_id for site in theirs.admin("ListSites").sites]
    device = fleet.register()
    assert theirs.devices("GetDevice", name=device.name).device_id == device.device_id
    # Resources created this way belong to that organization: without the metadata, `system` does not see them either.
    assert fleet.site_id not in [site.site_id for site in admin.admin("ListSites").sites]


def test_others_do_not_act_for_another_organization(ours, theirs, their_fleet, gateway, stubs):
    acting = User(gateway, stubs, ours.token, acting_for=theirs.organization)
    try:
        seen = [site.site_id for site in acting.admin("ListSites").sites]
    except Exception as error:
        assert error.code().name == "PERMISSION_DENIED"
    else:
        assert their_fleet.site_id not in seen


def test_acting_for_an_unknown_organization_is_refused(admin, gateway, stubs):
    acting = User(gateway, stubs, admin.token, acting_for="no-such-organization")
    with refused(stubs, "NOT_FOUND"):
        acting.admin("ListSites")


def test_the_same_names_in_two_organizations_do_not_meet(ours, theirs):
    name = unique("user")
    for organization in (ours, theirs):
        organization.users("CreateUser", user_name=name, password="a password of some length", role="admin")
    assert ours.users("GetUser", user_name=name).user.organization == ours.organization
    assert theirs.users("GetUser", user_name=name).user.organization == theirs.organization


def test_refusal_names_the_role_that_is_needed(ours, gateway, stubs):
    name, password = unique("user"), "a password of some length"
    ours.users("CreateUser", user_name=name, password=password, role="viewer")
    viewer = User.login(gateway, stubs, ours.organization, name, password)
    assert viewer.list_all(filter="status:verified") is not None
    with refused(stubs, "PERMISSION_DENIED") as refusal:
        viewer.admin("CreateSite", name="no")
    assert "admin" in refusal.message
