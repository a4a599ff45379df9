"""The table of detail codes: every code that a client can provoke, with its gRPC status."""

import grpc
import pytest
from support.parties import Fleet, Uploader, exchange, expired, init_device, unique, unique_device_id
from support.refusal import Refusal, refused
from support.uploads import Upload, content

UNKNOWN = "019aa000-0000-7000-8000-000000000000"


class Scene:
    """The prerequisites of the table's rows."""

    def __init__(self, fleet: Fleet):
        self.fleet = fleet
        self.admin = fleet.user
        self.gateway, self.stubs = fleet.user.gateway, fleet.user.stubs

    def site_key(self, **fields):
        return self.admin.admin("CreateSiteApiKey", site_id=self.fleet.site_id, key_name=unique("key"), **fields)

    def invalid_credential(self):
        exchange(self.gateway, self.stubs, "nonsense")

    def key_disabled(self):
        key = self.site_key()
        self.admin.admin("DisableApiKey", api_key_id=key.api_key.api_key_id)
        exchange(self.gateway, self.stubs, key.credential)

    def key_expired(self):
        key = expired(lambda end: self.site_key(expired_at=end))
        exchange(self.gateway, self.stubs, key.credential)

    def site_disabled(self):
        fleet = Fleet.create(self.admin)
        uploader = fleet.uploader()
        self.admin.admin("DisableSite", site_id=fleet.site_id)
        exchange(self.gateway, self.stubs, uploader.credential)

    def unauthenticated(self):
        Uploader(self.gateway, self.stubs, credential="").create()

    def upload_not_found(self):
        self.fleet.uploader().recovery(UNKNOWN)

    def upload_not_owned(self):
        self.fleet.uploader().recovery(self.fleet.uploader().create().logical_upload_id)

    def upload_not_refreshable(self):
        upload = Upload.create(self.fleet.uploader())
        upload.uploader.abort(upload.logical_id)
        upload.reissued()

    def invalid_argument(self):
        Upload.create(self.fleet.uploader()).put(content(10)).complete({"": "an empty key"})

    def failed_precondition(self):
        Upload.create(self.fleet.uploader()).complete(file_size=1, oss_object_etag="x")

    def device_id_invalid(self):
        init_device(self.gateway, self.stubs, "nonsense")

    def device_not_found(self):
        init_device(self.gateway, self.stubs, "991231-999998")

    def device_not_ready(self):
        device = self.admin.devices("RegisterDevice", device_id=unique_device_id())
        init_device(self.gateway, self.stubs, device.device_id)

    def device_already_initialized(self):
        init_device(self.gateway, self.stubs, self.fleet.uploader().device_id)

    def device_not_initialized(self):
        init_device(self.gateway, self.stubs, self.fleet.register().device_id, "ReinitDevice")


TABLE = [
    ("AUTH_INVALID_CREDENTIAL", "UNAUTHENTICATED", Scene.invalid_credential),
    ("AUTH_KEY_DISABLED", "UNAUTHENTICATED", Scene.key_disabled),
    ("AUTH_KEY_EXPIRED", "UNAUTHENTICATED", Scene.key_expired),
    ("AUTH_SITE_DISABLED", "UNAUTHENTICATED", Scene.site_disabled),
    ("DATA_GATEWAY_UNAUTHENTICATED", "UNAUTHENTICATED", Scene.unauthenticated),
    ("DATA_GATEWAY_UPLOAD_NOT_FOUND", "NOT_FOUND", Scene.upload_not_found),
    ("DATA_GATEWAY_UPLOAD_NOT_OWNED", "PERMISSION_DENIED", Scene.upload_not_owned),
    ("DATA_GATEWAY_UPLOAD_NOT_REFRESHABLE", "FAILED_PRECONDITION", Scene.upload_not_refreshable),
    ("DATA_GATEWAY_INVALID_ARGUMENT", "INVALID_ARGUMENT", Scene.invalid_argument),
    ("DATA_GATEWAY_FAILED_PRECONDITION", "FAILED_PRECONDITION", Scene.failed_precondition),
    ("DATA_GATEWAY_DEVICE_ID_INVALID", "INVALID_ARGUMENT", Scene.device_id_invalid),
    ("DATA_GATEWAY_DEVICE_NOT_FOUND", "NOT_FOUND", Scene.device_not_found),
    ("DATA_GATEWAY_DEVICE_NOT_READY", "FAILED_PRECONDITION", Scene.device_not_ready),
    ("DATA_GATEWAY_DEVICE_ALREADY_INITIALIZED", "FAILED_PRECONDITION", Scene.device_already_initialized),
    ("DATA_GATEWAY_DEVICE_NOT_INITIALIZED", "FAILED_PRECONDITION", Scene.device_not_initialized),
]


@pytest.mark.parametrize("code, status, provoke", TABLE, ids=[row[0] for row in TABLE])
def test_every_detail_code_is_sent_with_its_status(fleet, stubs, code, status, provoke):
    with refused(stubs, status, code) as refusal:
        provoke(Scene(fleet))
    # The text for people is sent twice, and contains neither SQL nor file paths.
    assert refusal.message
    for secret in ["SELECT", "sqlite", "/tmp/", "Sources/"]:
        assert secret not in refusal.message + refusal.detail.message


def test_walking_through_device_ids_is_rate_limited(gateway_with, stubs):
    """With UNAVAILABLE and a retry time, which deployed clients retry; never RESOURCE_EXHAUSTED."""
    gateway = gateway_with()
    for number in range(1000):
        refusal = Refusal()
        try:
            init_device(gateway, stubs, f"991231-{number:06d}")
        except grpc.RpcError as error:
            refusal.read(stubs, error)
        if refusal.detail.code == "DATA_GATEWAY_RATE_LIMITED":
            break
        assert refusal.detail.code == "DATA_GATEWAY_DEVICE_NOT_FOUND"
    assert (refusal.status.name, refusal.detail.code) == ("UNAVAILABLE", "DATA_GATEWAY_RATE_LIMITED")
    assert int(refusal.trailers["retry-after-ms"]) > 0
