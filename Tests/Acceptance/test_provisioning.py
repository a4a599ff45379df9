"""The operator's preparations for devices: sites, suites, devices, keys."""

import re

import pytest
from support.parties import Fleet, Uploader, unique, unique_device_id
from support.refusal import refused


def test_a_site_is_enabled_and_found_again(admin):
    created = admin.admin("CreateSite", name=unique("site")).site
    assert created.site_id > 0
    assert created.status == 1
    assert created.created_at.seconds > 0
    assert admin.admin("GetSite", site_id=created.site_id).site == created
    assert created in admin.admin("ListSites").sites


def test_a_site_can_be_created_disabled(admin):
    assert admin.admin("CreateSite", name=unique("site"), status=2).site.status == 2


@pytest.mark.parametrize("fields", [{"name": ""}, {"status": 3}, {"status": -1}], ids=str)
def test_a_site_that_breaks_a_rule_is_refused(admin, stubs, fields):
    with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_INVALID_ARGUMENT"):
        admin.admin("CreateSite", **({"name": unique("site")} | fields))


def test_an_unknown_site_is_not_found(admin, stubs):
    with refused(stubs, "NOT_FOUND"):
        admin.admin("GetSite", site_id=2**40)


def test_a_suite_belongs_to_a_site(admin, fleet):
    suite = admin.devices("CreateDeviceSuite", site_id=fleet.site_id, display_name="Suite", description="For tests")
    assert re.fullmatch(r"deviceSuites/[A-Za-z0-9-]+", suite.name)
    assert (suite.site_id, suite.display_name, suite.description) == (fleet.site_id, "Suite", "For tests")


def test_a_suite_of_an_unknown_site_is_refused(admin, stubs):
    with refused(stubs, "NOT_FOUND"):
        admin.devices("CreateDeviceSuite", site_id=2**40, display_name="Suite")


def test_a_device_is_registered_and_found_again(admin, fleet, stubs):
    device_id = unique_device_id()
    created = admin.devices(
        "RegisterDevice", device_id=device_id, display_name="Arm", description="On the left", suite=fleet.suite,
        tags={"line": "3"},
    )  # fmt: skip
    assert created.name == f"devices/{device_id}"
    assert created.device_id == device_id
    assert (created.display_name, created.description) == ("Arm", "On the left")
    assert (created.suite, created.site_id) == (fleet.suite, fleet.site_id)
    assert created.tags == {"line": "3"}
    assert created.status == stubs.meta.DEVICE_STATUS_REGISTERED
    assert not created.HasField("initialized_at")
    found = admin.devices("GetDevice", name=created.name)
    assert found.diagnosis.condition == stubs.meta.DEVICE_CONDITION_NEVER_CALLED
    found.ClearField("diagnosis")
    assert found == created


def test_an_id_that_we_assign_is_of_today_and_random(admin, fleet):
    before = unique_device_id()[:6]
    first, second = (admin.devices("RegisterDevice", suite=fleet.suite).device_id for _ in range(2))
    # It may be midnight.
    days = f"({before}|{unique_device_id()[:6]})"
    assert re.fullmatch(rf"{days}-\d{{6}}", first)
    assert re.fullmatch(rf"{days}-\d{{6}}", second)
    assert abs(int(first[7:]) - int(second[7:])) != 1, "ids that we assign can be guessed"


def test_a_device_is_registered_once(fleet, stubs):
    device = fleet.register()
    with refused(stubs, "ALREADY_EXISTS"):
        fleet.register(device_id=device.device_id)


@pytest.mark.parametrize(
    "device_id", ["260427-00001", "260427-0000001", "2604270000001", "26042a-000001", "260427-00000١", "260427_000001"]
)
def test_a_malformed_device_id_is_refused(fleet, stubs, device_id):
    with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_DEVICE_ID_INVALID", "DATA_GATEWAY_INVALID_ARGUMENT"):
        fleet.register(device_id=device_id)


TAGS_AT_THE_LIMIT = [
    {f"key-{number}": "" for number in range(192)},
    {"k" * 64: "v" * 2048},
    {"é" * 32: "é" * 1024},
]
TAGS_OVER_THE_LIMIT = [
    {f"key-{number}": "" for number in range(193)},
    {"": "v"},
    {"k" * 65: "v"},
    {"é" * 32 + "k": "v"},
    {"key": "v" * 2049},
    {"key": "é" * 1024 + "v"},
    {"key\n": "v"},
    {"key": "v\x00"},
    {"key": "v\x7f"},
    {"key": "v\u0085"},
]


@pytest.mark.parametrize("tags", TAGS_AT_THE_LIMIT, ids=range(len(TAGS_AT_THE_LIMIT)))
def test_tags_at_their_limits_are_accepted_and_handed_to_the_device(fleet, tags):
    assert fleet.uploader(tags=tags).tags == tags


@pytest.mark.parametrize("tags", TAGS_OVER_THE_LIMIT, ids=range(len(TAGS_OVER_THE_LIMIT)))
def test_tags_over_their_limits_are_refused(fleet, stubs, tags):
    device_id = unique_device_id()
    with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_INVALID_ARGUMENT"):
        fleet.register(device_id=device_id, tags=tags)
    with refused(stubs, "NOT_FOUND"):
        fleet.user.devices("GetDevice", name=f"devices/{device_id}")


def test_a_device_is_bound_to_one_suite_at_a_time(admin, fleet, stubs):
    device = admin.devices("RegisterDevice", device_id=unique_device_id())
    assert (device.suite, device.site_id) == ("", 0)
    bound = admin.devices("AddDeviceToSuite", suite=fleet.suite, device=device.name)
    assert (bound.suite, bound.site_id) == (fleet.suite, fleet.site_id)
    other = admin.devices("CreateDeviceSuite", site_id=fleet.site_id, display_name="Other")
    with refused(stubs, "FAILED_PRECONDITION"):
        admin.devices("AddDeviceToSuite", suite=other.name, device=device.name)
    assert admin.devices("RemoveDeviceFromSuite", suite=fleet.suite, device=device.name).suite == ""
    assert admin.devices("AddDeviceToSuite", suite=other.name, device=device.name).suite == other.name


def test_devices_are_listed_page_by_page(admin):
    fleet = Fleet.create(admin)
    expected = {fleet.register().name for _ in range(5)}
    found, token = [], ""
    for _ in range(3):
        page = admin.devices("ListDevices", suite=fleet.suite, page_size=2, page_token=token)
        assert len(page.devices) <= 2
        found += [device.name for device in page.devices]
        token = page.next_page_token
    assert token == ""
    assert len(found) == 5
    assert set(found) == expected


def test_devices_are_listed_by_site_and_status(admin, stubs):
    fleet = Fleet.create(admin)
    registered, initialized = fleet.register(), fleet.uploader()
    assert {device.name for device in admin.devices("ListDevices", site_id=fleet.site_id).devices} == {
        registered.name,
        f"devices/{initialized.device_id}",
    }
    found = admin.devices("ListDevices", site_id=fleet.site_id, status=stubs.meta.DEVICE_STATUS_INITIALIZED).devices
    assert [device.device_id for device in found] == [initialized.device_id]


def test_a_site_key_uploads_for_its_site(admin, fleet, gateway, stubs):
    created = admin.admin("CreateSiteApiKey", site_id=fleet.site_id, key_name=unique("key"))
    assert created.api_key.status == 1
    assert created.api_key.principal.site_id == fleet.site_id
    assert created.api_key.principal.owner_kind == stubs.auth.API_KEY_OWNER_KIND_SITE
    uploader = Uploader(gateway, stubs, created.credential).sign_in()
    assert uploader.create().logical_upload_id


def test_a_key_of_an_unknown_site_is_refused(admin, stubs):
    with refused(stubs, "NOT_FOUND"):
        admin.admin("CreateSiteApiKey", site_id=2**40, key_name="key")
