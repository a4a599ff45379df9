"""The two kinds of caller: a user who operates the gateway, and a device (or site) that uploads to it."""

import datetime
import itertools
import random
import time
from dataclasses import dataclass, field

import grpc

from .gateway import Gateway, eventually
from .waiting import WAIT_SECONDS

PASSWORD = "a password of some length"
#: Distinguishes the names of different runs; `random` is seeded by the operating system here.
_RUN = f"{random.SystemRandom().randrange(10**6):06d}"
_numbers = itertools.count(1)


def unique(prefix: str) -> str:
    """Returns a name that no other test uses."""
    return f"{prefix}-{_RUN}-{next(_numbers)}"


def unique_device_id() -> str:
    """Returns a device id of the form YYMMDD-NNNNNN that no other test uses."""
    today = datetime.datetime.now(datetime.UTC).strftime("%y%m%d")
    return f"{today}-{(int(_RUN) + next(_numbers)) % 10**6:06d}"


def expired(set_end):
    """Calls `set_end` with a time that is a second ahead, waits for that time, and returns the result of the call."""

    def attempt():
        end = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=1)
        try:
            return set_end(end), end
        except grpc.RpcError as error:
            # The time was over before the call arrived.
            if error.code() != grpc.StatusCode.INVALID_ARGUMENT:
                raise
            return None

    result, end = eventually(attempt)
    eventually(lambda: datetime.datetime.now(datetime.UTC) > end)
    return result


def call(
    method, request, token: str | None = None, metadata: dict[str, str] | None = None, timeout: float = WAIT_SECONDS
):
    """Makes a unary call with the bearer token and further metadata."""
    pairs = [("authorization", f"Bearer {token}")] if token else []
    pairs += list((metadata or {}).items())
    return method(request, metadata=pairs, timeout=timeout)


@dataclass
class User:
    """A signed-in user, with the calls of the admin listener and of the object service."""

    gateway: Gateway
    stubs: object
    token: str
    organization: str = "system"
    refresh_token: str = ""
    #: The value of `x-organization`; set to act for another organization.
    acting_for: str | None = None

    @classmethod
    def login(cls, gateway, stubs, organization: str, user_name: str, password: str) -> "User":
        request = stubs.auth.LoginRequest(organization=organization, user_name=user_name, password=password)
        reply = call(stubs.auth.AuthServiceStub(gateway.channel("auth")).Login, request)
        return cls(gateway, stubs, reply.access_token, organization, reply.refresh_token)

    def admin(self, method: str, **fields):
        """Calls AdminAuthService with the method's name and the request's fields."""
        return self._call("admin", self.stubs.auth, "AdminAuthService", method, fields)

    def create_organization(self, name: str, password: str = PASSWORD, **fields) -> "User":
        """Creates a business organization, and signs its admin `boss` in."""
        boss = {"bootstrap_admin_user_name": "boss", "bootstrap_admin_password": password}
        self.admin("CreateOrganization", organization=name, **boss, **fields)
        return User.login(self.gateway, self.stubs, name, "boss", password)

    def users(self, method: str, **fields):
        """Calls UserAuthService."""
        return self._call("admin", self.stubs.auth, "UserAuthService", method, fields)

    def devices(self, method: str, **fields):
        """Calls DeviceManagementService."""
        return self._call("admin", self.stubs.meta, "DeviceManagementService", method, fields)

    def objects(self, method: str, **fields):
        """Calls DataGatewayObjectService."""
        return self._call("gateway", self.stubs.gateway, "DataGatewayObjectService", method, fields)

    def object_management(self, method: str, **fields):
        """Calls ObjectManagementService."""
        return self._call("admin", self.stubs.gateway, "ObjectManagementService", method, fields)

    def delete_permanently(self, file_id: str, reason: str = "acceptance test") -> None:
        """Moves an object to the trash, and purges it there."""
        self.object_management("DeleteObject", file_id=file_id, reason=reason)
        self.object_management("PurgeObject", file_id=file_id)

    def copies(self, method: str, **fields):
        """Calls DataGatewayCopyService."""
        return self._call("gateway", self.stubs.gateway, "DataGatewayCopyService", method, fields)

    def internal(self, method: str, bucket: str, key: str, **fields):
        """Calls InternalStorageService for one object."""
        named = {"object": self.stubs.gateway.StorageObject(bucket=bucket, object_key=key)}
        return self._call("internal", self.stubs.gateway, "InternalStorageService", method, named | fields)

    def list_all(self, **fields) -> list:
        """Returns every object of ListObjects, over all pages."""
        objects, page_token = [], ""
        while True:
            page = self.objects("ListObjects", page_token=page_token, **fields)
            objects += page.objects
            if not (page_token := page.next_page_token):
                return objects

    def _call(self, listener: str, package, service: str, method: str, fields: dict):
        stub = getattr(package, f"{service}Stub")(self.gateway.channel(listener))
        request = getattr(package, f"{method}Request")(**fields)
        metadata = {"x-organization": self.acting_for} if self.acting_for else None
        return call(getattr(stub, method), request, self.token, metadata)


def init_device(gateway, stubs, device_id: str, method: str = "InitDevice"):
    """Calls InitDevice or ReinitDevice like a device: without authorization."""
    stub = stubs.gateway.DeviceInitServiceStub(gateway.channel("device-init"))
    request = getattr(stubs.gateway, f"{method}Request")(
        device_id=device_id, sdk_version="acceptance/1", platform="linux-x86_64"
    )
    return call(getattr(stub, method), request)


def exchange(gateway, stubs, credential: str):
    """Calls ExchangeCredential: returns the token for an API key."""
    stub = stubs.auth.AuthServiceStub(gateway.channel("auth"))
    return call(stub.ExchangeCredential, stubs.auth.ExchangeCredentialRequest(credential=credential))


def issue_system_credential(user: User, name: str) -> str:
    """Issues a system credential for the service account of that name, like `data-gateway user credential`."""
    stub = user.stubs.auth.IdentityManagementServiceStub(user.gateway.channel("admin"))
    request = user.stubs.auth.IssueSystemCredentialRequest(user_name=name)
    return call(stub.IssueSystemCredential, request, user.token).credential


def exchange_system_credential(gateway, stubs, credential: str):
    """Calls ExchangeSystemCredential: returns the token for a service account."""
    stub = stubs.auth.SystemAuthServiceStub(gateway.channel("auth"))
    return call(stub.ExchangeSystemCredential, stubs.auth.ExchangeSystemCredentialRequest(credential=credential))


@dataclass
class Uploader:
    """The owner of an API key, with the calls of the deployed SDKs on the control plane."""

    gateway: Gateway
    stubs: object
    credential: str
    device_id: str = ""
    suite: str = ""
    token: str = ""
    tags: dict[str, str] = field(default_factory=dict)

    def sign_in(self) -> "Uploader":
        """Exchanges the credential for a token."""
        self.token = exchange(self.gateway, self.stubs, self.credential).access_token
        return self

    def create(self, restart_from: str = "", **hints: str):
        return self._call("CreateLogicalUpload", client_hints=hints, restart_from_upload_id=restart_from)

    def recovery(self, logical_upload_id: str):
        return self._call("GetUploadRecovery", logical_upload_id=logical_upload_id)

    def reissue(self, upload_id: str):
        return self._call("ReissueUploadCredentials", upload_id=upload_id)

    def abort(self, logical_upload_id: str, reason: str = "acceptance test"):
        return self._call("AbortUpload", logical_upload_id=logical_upload_id, reason=reason)

    def complete(self, upload_id: str, **fields):
        return self._call("CompleteUpload", upload_id=upload_id, **fields)

    def find(self, *files: dict):
        return self._call("FindStoredFiles", files=files)

    def _call(self, method: str, **fields):
        stub = self.stubs.gateway.DataGatewayServiceStub(self.gateway.channel("gateway"))
        return call(getattr(stub, method), getattr(self.stubs.gateway, f"{method}Request")(**fields), self.token)


@dataclass
class Fleet:
    """A site and a suite of an organization, and the devices registered there."""

    user: User
    site_id: int
    suite: str

    @classmethod
    def create(cls, user: User) -> "Fleet":
        site = user.admin("CreateSite", name=unique("site")).site
        suite = user.devices("CreateDeviceSuite", site_id=site.site_id, display_name=unique("suite"))
        return cls(user, site.site_id, suite.name)

    def register(self, **fields):
        """Registers a device in the suite, and returns the server's response."""
        fields = {"device_id": unique_device_id(), "suite": self.suite} | fields
        return self.user.devices("RegisterDevice", **fields)

    def uploader(self, **fields) -> Uploader:
        """Returns a new device, initialized and signed in."""
        device = self.register(**fields)
        reply = init_patiently(self.user.gateway, self.user.stubs, device.device_id)
        uploader = Uploader(
            self.user.gateway, self.user.stubs, reply.api_key, device.device_id, device.suite, tags=dict(reply.tags)
        )
        return uploader.sign_in()


def init_patiently(gateway, stubs, device_id: str):
    """Calls InitDevice, repeatedly as long as the rate limit of the address is reached."""
    for _ in range(20):
        try:
            return init_device(gateway, stubs, device_id)
        except grpc.RpcError as error:
            wait = dict(error.trailing_metadata() or ()).get("retry-after-ms")
            if error.code() is not grpc.StatusCode.UNAVAILABLE or wait is None:
                raise
            time.sleep(int(wait) / 1000)
    raise AssertionError("InitDevice was rate-limited twenty times")
