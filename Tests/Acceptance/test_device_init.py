"""InitDevice and ReinitDevice: a device's first key, and further ones."""

from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from support.client import Device
from support.commands import REFUSED
from support.oss import StoreError
from support.parties import Fleet, Uploader, exchange, expired, init_device, unique_device_id
from support.refusal import refused
from support.uploads import Upload, completed, content


@pytest.fixture
def init(gateway, stubs):
    return lambda device_id, method="InitDevice": init_device(gateway, stubs, device_id, method)


METHODS = pytest.mark.parametrize("method", ["InitDevice", "ReinitDevice"])


def test_init_hands_out_a_key_that_works_and_the_tags(fleet, gateway, stubs, init):
    device = fleet.register(tags={"line": "3", "名前": "腕"})
    reply = init(device.device_id)
    assert reply.tags == {"line": "3", "名前": "腕"}
    assert exchange(gateway, stubs, reply.api_key).access_token
    (key,) = fleet.user.admin("ListApiKeys", device_id=device.device_id).api_keys
    assert key.principal.owner_kind == stubs.auth.API_KEY_OWNER_KIND_DEVICE
    assert key.principal.site_id == fleet.site_id


def test_registry_shows_what_the_device_reported(fleet, admin, stubs, init):
    device = fleet.register()
    init(device.device_id)
    seen = admin.devices("GetDevice", name=device.name)
    assert seen.status == stubs.meta.DEVICE_STATUS_INITIALIZED
    assert (seen.sdk_version, seen.platform) == ("acceptance/1", "linux-x86_64")
    assert seen.initialized_at.seconds > 0


@METHODS
@pytest.mark.parametrize("device_id", ["", "nonsense", "260427-00001", "260427-0000011", "devices/260427-000001"])
def test_malformed_device_id_is_refused(stubs, init, method, device_id):
    with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_DEVICE_ID_INVALID"):
        init(device_id, method)


@METHODS
def test_unregistered_id_is_refused(stubs, init, method):
    with refused(stubs, "NOT_FOUND", "DATA_GATEWAY_DEVICE_NOT_FOUND"):
        init("991231-999999", method)


@METHODS
def test_device_without_a_suite_is_refused(admin, stubs, init, method):
    device = admin.devices("RegisterDevice", device_id=unique_device_id())
    with refused(stubs, "FAILED_PRECONDITION", "DATA_GATEWAY_DEVICE_NOT_READY"):
        init(device.device_id, method)


@METHODS
def test_disabled_device_is_not_initialized(fleet, admin, stubs, init, method):
    device = fleet.register()
    if method == "ReinitDevice":
        init(device.device_id)
    admin.devices("DisableDevice", name=device.name)
    with refused(stubs, "FAILED_PRECONDITION", "DATA_GATEWAY_DEVICE_NOT_READY"):
        init(device.device_id, method)
    admin.devices("EnableDevice", name=device.name)
    assert init(device.device_id, method).api_key


@METHODS
def test_device_of_a_disabled_site_is_not_initialized(admin, stubs, init, method):
    fleet = Fleet.create(admin)
    device = fleet.register()
    if method == "ReinitDevice":
        init(device.device_id)
    admin.admin("DisableSite", site_id=fleet.site_id)
    with refused(stubs, "FAILED_PRECONDITION", "DATA_GATEWAY_DEVICE_NOT_READY"):
        init(device.device_id, method)
    admin.admin("EnableSite", site_id=fleet.site_id)
    assert init(device.device_id, method).api_key


def test_key_that_an_operator_disabled_is_not_replaced(uploader, admin, gateway, stubs, init):
    (key,) = admin.admin("ListApiKeys", device_id=uploader.device_id).api_keys
    key_id = key.api_key_id
    admin.admin("DisableApiKey", api_key_id=key_id)
    with refused(stubs, "FAILED_PRECONDITION", "DATA_GATEWAY_DEVICE_NOT_READY"):
        init(uploader.device_id, "ReinitDevice")
    admin.admin("EnableApiKey", api_key_id=key_id)
    assert init(uploader.device_id, "ReinitDevice").api_key


@METHODS
@pytest.mark.parametrize("how", ["disabled", "expired", "deleted"])
def test_key_that_an_operator_deleted_is_not_replaced(uploader, admin, gateway, stubs, init, how, method):
    """A device cannot undo an operator's change of its key."""
    (key,) = admin.admin("ListApiKeys", device_id=uploader.device_id).api_keys
    key_id = key.api_key_id
    if how == "disabled":
        admin.admin("DisableApiKey", api_key_id=key_id)
    elif how == "expired":
        expired(lambda end: admin.admin("UpdateApiKey", api_key_id=key_id, expired_at=end))
    else:
        admin.admin("DeleteApiKey", api_key_id=key_id)
    with refused(stubs, "FAILED_PRECONDITION", "DATA_GATEWAY_DEVICE_NOT_READY"):
        init(uploader.device_id, method)


def test_second_init_is_refused(uploader, stubs, init):
    with refused(stubs, "FAILED_PRECONDITION", "DATA_GATEWAY_DEVICE_ALREADY_INITIALIZED"):
        init(uploader.device_id)


def test_reinit_before_init_is_refused(fleet, stubs, init):
    device = fleet.register()
    with refused(stubs, "FAILED_PRECONDITION", "DATA_GATEWAY_DEVICE_NOT_INITIALIZED"):
        init(device.device_id, "ReinitDevice")


def test_exactly_one_of_concurrent_inits_succeeds(fleet, stubs, init):
    device = fleet.register()

    def attempt(_):
        try:
            return init(device.device_id).api_key
        except grpc.RpcError as error:
            assert error.code() is grpc.StatusCode.FAILED_PRECONDITION, error
            return None

    with ThreadPoolExecutor(8) as pool:
        keys = [key for key in pool.map(attempt, range(8)) if key]
    assert len(keys) == 1


def test_a_lost_init_reply_is_healed_by_reinit(fleet, gateway, stubs, init):
    device = fleet.register(tags={"line": "3"})
    init(device.device_id)
    with refused(stubs, "FAILED_PRECONDITION", "DATA_GATEWAY_DEVICE_ALREADY_INITIALIZED"):
        init(device.device_id)
    reply = init(device.device_id, "ReinitDevice")
    assert reply.tags == {"line": "3"}
    assert exchange(gateway, stubs, reply.api_key).access_token


def test_reinit_ends_the_old_key_its_tokens_and_its_temporary_credentials(uploader, gateway, stubs, init):
    upload = Upload.create(uploader).put(content(1000))
    init(uploader.device_id, "ReinitDevice")
    with refused(stubs, "UNAUTHENTICATED", "AUTH_INVALID_CREDENTIAL", "AUTH_KEY_DISABLED"):
        exchange(gateway, stubs, uploader.credential)
    with refused(stubs, "UNAUTHENTICATED", "DATA_GATEWAY_UNAUTHENTICATED"):
        uploader.recovery(upload.logical_id)
    with pytest.raises(Exception) as error:
        upload.store.put(content(1000))
    assert (error.value.status, error.value.code) == (403, "AccessDenied")


def test_reinit_keeps_the_uploads_of_a_device(uploader, gateway, stubs, init):
    before = Upload.create(uploader)
    key = init(uploader.device_id, "ReinitDevice").api_key
    renewed = Uploader(gateway, stubs, key, uploader.device_id).sign_in()
    before.uploader = renewed
    before.credentials = before.reissued()
    before.put(content(1000)).complete()
    assert before.recovery().logical_upload_status == stubs.gateway.LOGICAL_UPLOAD_STATUS_COMPLETED


@pytest.mark.parametrize("method", ["DisableDevice", "RemoveDeviceFromSuite"])
def test_a_device_taken_out_of_service_is_stopped_on_its_next_call(uploader, admin, stubs, method):
    upload = Upload.create(uploader)
    name = f"devices/{uploader.device_id}"
    if method == "DisableDevice":
        admin.devices("DisableDevice", name=name)
    else:
        admin.devices("RemoveDeviceFromSuite", suite=uploader.suite, device=name)
    with refused(stubs, "UNAUTHENTICATED", "DATA_GATEWAY_UNAUTHENTICATED"):
        uploader.recovery(upload.logical_id)
    with pytest.raises(Exception) as error:
        upload.store.put(content(1000))
    assert (error.value.status, error.value.code) == (403, "AccessDenied")


def test_device_enabled_again_continues_with_its_key(uploader, admin, gateway, stubs):
    upload = Upload.create(uploader)
    name = f"devices/{uploader.device_id}"
    admin.devices("DisableDevice", name=name)
    with refused(stubs, "UNAUTHENTICATED", "AUTH_KEY_DISABLED"):
        uploader.sign_in()
    admin.devices("EnableDevice", name=name)
    uploader.sign_in()
    upload.credentials = upload.reissued()
    upload.put(content(1000)).complete()


def test_device_that_moved_continues_at_its_new_site(uploader, admin, gateway, stubs):
    upload = Upload.create(uploader)
    elsewhere = Fleet.create(admin)
    name = f"devices/{uploader.device_id}"
    admin.devices("RemoveDeviceFromSuite", suite=uploader.suite, device=name)
    assert admin.devices("AddDeviceToSuite", suite=elsewhere.suite, device=name).site_id == elsewhere.site_id
    (key,) = admin.admin("ListApiKeys", device_id=uploader.device_id).api_keys
    assert key.principal.site_id == elsewhere.site_id
    uploader.sign_in()
    upload.credentials = upload.reissued()
    upload.put(content(1000)).complete()
    admin.admin("DisableSite", site_id=elsewhere.site_id)
    with refused(stubs, "UNAUTHENTICATED", "DATA_GATEWAY_UNAUTHENTICATED"):
        uploader.create()


def test_retired_device_ends_its_uploads_and_frees_its_site(gateway, stubs, admin, init):
    fleet = Fleet.create(admin)
    uploader = fleet.uploader()
    device = admin.devices("GetDevice", name=f"devices/{uploader.device_id}")
    completed(uploader, content(100), {})

    def counted() -> dict[str, list[str]]:
        found = admin.object_management("GetObjectFacets", filter=f"device={uploader.device_id}").facets
        return {facet.name: [each.value for each in facet.values] for facet in found}

    assert counted()["device"] == [uploader.device_id]
    upload = Upload.create(uploader)
    with refused(stubs, "FAILED_PRECONDITION") as refusal:
        admin.admin("DeleteSite", site_id=fleet.site_id)
    assert uploader.device_id in refusal.message and "retire" in refusal.message
    with refused(stubs, "FAILED_PRECONDITION") as refusal:
        admin.devices("DeleteDevice", name=device.name)
    assert "retire it instead" in refusal.message
    for _ in range(2):
        retired = admin.devices("RetireDevice", name=device.name)
        assert retired.status == stubs.meta.DEVICE_STATUS_RETIRED
        assert retired.retired_at.seconds > 0 and not retired.suite
    with refused(stubs, "UNAUTHENTICATED", "DATA_GATEWAY_UNAUTHENTICATED"):
        Upload.create(uploader)
    with pytest.raises(StoreError):
        upload.put(content(100))
    uploads = admin._call("admin", stubs.gateway, "UploadManagementService", "ListUploads", {"page_size": 1000}).uploads
    assert upload.logical_id not in {each.logical_upload_id for each in uploads}
    for method in ("InitDevice", "ReinitDevice"):
        with refused(stubs, "FAILED_PRECONDITION", "DATA_GATEWAY_DEVICE_NOT_READY") as refusal:
            init(uploader.device_id, method)
        assert "retired" in refusal.message
    for method in ("EnableDevice", "DisableDevice", "AllowReinit"):
        with refused(stubs, "FAILED_PRECONDITION") as refusal:
            admin.devices(method, name=device.name)
        assert "unretire it first" in refusal.message
    listed = lambda **fields: {found.name for found in admin.devices("ListDevices", page_size=1000, **fields).devices}
    assert device.name not in listed() and device.name not in listed(status=stubs.meta.DEVICE_STATUS_INITIALIZED)
    assert device.name in listed(status=stubs.meta.DEVICE_STATUS_RETIRED)
    admin.devices("DeleteDeviceSuite", name=device.suite)
    admin.admin("DeleteSite", site_id=fleet.site_id)
    assert len(admin.list_all(filter=f"device={uploader.device_id}")) == 1
    # Its objects still count for the other facets.
    assert counted()["device"] == [] and counted()["site"] == [str(fleet.site_id)]
    assert admin.devices("GetDevice", name=device.name).display_name == device.display_name


def test_unretired_device_can_be_initialized_again(stubs, admin, fleet, init):
    device = fleet.register()
    first = init(device.device_id).api_key
    with refused(stubs, "FAILED_PRECONDITION"):
        admin.devices("UnretireDevice", name=device.name)
    admin.devices("RetireDevice", name=device.name)
    returned = admin.devices("UnretireDevice", name=device.name)
    assert returned.status == stubs.meta.DEVICE_STATUS_REGISTERED and not returned.HasField("retired_at")
    with refused(stubs, "FAILED_PRECONDITION"):
        admin.devices("DeleteDevice", name=device.name)
    admin.devices("AddDeviceToSuite", suite=device.suite, device=device.name)
    assert init(device.device_id).api_key != first


@pytest.fixture
def folder(binary, gateway, fleet, tmp_path) -> Device:
    """A device with a key in its own folder."""
    device = Device(binary, None, tmp_path / "device", fleet.register().device_id)
    urls = [
        word
        for name in ("auth", "gateway", "device-init")
        for word in (f"--{name}", f"http://{gateway.listeners[name]}")
    ]
    device.done("init", device.device_id, *urls)
    return device


def test_unretired_device_gets_a_key_in_its_own_folder(folder, admin, fleet):
    name, first = f"devices/{folder.device_id}", folder.config
    admin.devices("RetireDevice", name=name)
    admin.devices("UnretireDevice", name=name)
    admin.devices("AddDeviceToSuite", suite=fleet.suite, device=name)
    assert "--reinit replaces it" in folder.refused(REFUSED, "init", folder.device_id)
    assert "; the gateway had none to replace\n" in folder.done("init", folder.device_id, "--reinit")
    assert folder.config != first
    folder.done("upload", "--resume")
    (reply,) = folder.events_of("init", folder.device_id, "--reinit")
    assert reply["replaced_key"] is True


def test_refusal_of_a_deleted_key_names_what_to_do(folder, admin, stubs):
    (key,) = admin.admin("ListApiKeys", device_id=folder.device_id).api_keys
    admin.admin("DeleteApiKey", api_key_id=key.api_key_id)
    command = f"data-gateway key create --device {folder.device_id}"
    assert command in folder.refused(REFUSED, "init", folder.device_id, "--reinit")
    # The permission would have no effect.
    with refused(stubs, "FAILED_PRECONDITION") as refusal:
        admin.devices("AllowReinit", name=f"devices/{folder.device_id}")
    assert command in refusal.message
    admin.admin("CreateOrRotateDeviceApiKey", device_id=folder.device_id)
    folder.done("init", folder.device_id, "--reinit")
