"""An error of each service, read by libraries for `google.rpc.Status`: grpcio-status and Connect's client."""

import re
from dataclasses import dataclass, field

import grpc
import pytest
from connectrpc.errors import ConnectError
from connectrpc.method import StreamType
from google.protobuf import descriptor_pool, message_factory, wrappers_pb2
from google.rpc import status_pb2
from grpc_status import rpc_status
from support import connect
from support.refusal import DETAILS
from support.services import LISTENERS

UNKNOWN = "019aa000-0000-7000-8000-000000000000"


@dataclass
class Row:
    """A call that fails, with its detail code and status."""

    method: str
    status: str
    code: str
    fields: dict = field(default_factory=dict)
    #: The caller; None = without authorization.
    caller: str | None = None
    #: Sent instead of the method's own request with the fields.
    request: object | None = None

    @property
    def listener(self) -> str:
        return LISTENERS[self.method.split("/")[0]]

    @property
    def service(self) -> str:
        return self.method.split("/")[0].rsplit(".", 1)[1]


UNAUTHENTICATED = ("UNAUTHENTICATED", "DATA_GATEWAY_UNAUTHENTICATED")
INVALID = ("INVALID_ARGUMENT", "DATA_GATEWAY_INVALID_ARGUMENT")
CREDENTIAL = ("UNAUTHENTICATED", "AUTH_INVALID_CREDENTIAL")
NOT_FOUND = ("NOT_FOUND", "DATA_GATEWAY_UPLOAD_NOT_FOUND")
DEVICE = ("NOT_FOUND", "DATA_GATEWAY_DEVICE_NOT_FOUND")
AUTH, DATA = "archebase.auth.v1", "archebase.data_gateway.v1"
ROWS = [
    Row(f"{AUTH}.AuthService/ExchangeCredential", *CREDENTIAL, {"credential": "nonsense"}),
    Row(f"{AUTH}.SystemAuthService/ExchangeSystemCredential", *CREDENTIAL, {"credential": "nonsense"}),
    Row(f"{AUTH}.IdentityService/ListIdentities", *UNAUTHENTICATED),
    Row(f"{AUTH}.AccountService/GetAccount", *UNAUTHENTICATED),
    Row(f"{AUTH}.ApiTokenService/CreateApiToken", *INVALID, {"token_name": "x"}, "admin"),
    # Logout only refuses a string that is not UTF-8.
    Row("archebase.session.v1.SessionService/Logout", *INVALID, request=wrappers_pb2.BytesValue(value=b"\xff")),
    Row(f"{DATA}.DataGatewayService/GetUploadRecovery", *NOT_FOUND, {"logical_upload_id": UNKNOWN}, "device"),
    Row(f"{DATA}.DataGatewayObjectService/ListObjects", *INVALID, {"page_size": -1}, "admin"),
    Row(f"{DATA}.ObjectArchiveService/ZipObjects", *INVALID, {}, "admin"),
    Row(f"{DATA}.DataGatewayCopyService/CreateCopyJob", *INVALID, {"file_ids": [""]}, "admin"),
    Row(f"{DATA}.CopyManagementService/ListCopyJobs", *INVALID, {"page_size": -1}, "admin"),
    Row(f"{AUTH}.AdminAuthService/CreateSite", *INVALID, {"name": ""}, "admin"),
    Row(f"{AUTH}.UserAuthService/CreateUser", *INVALID, {"user_name": "x", "role": "czar"}, "admin"),
    Row(f"{AUTH}.InvitationManagementService/CreateInvitation", *INVALID, {"user_name": "x", "role": "czar"}, "admin"),
    Row(f"{AUTH}.InvitationService/AcceptInvitation", *INVALID, {"token": "nonsense", "password": "short"}),
    Row(f"{AUTH}.IdentityManagementService/IssueSystemCredential", *UNAUTHENTICATED),
    Row(f"{AUTH}.AuditService/ListAuditLines", *INVALID, {"page_size": -1}, "admin"),
    Row("archebase.meta.v1.DeviceManagementService/GetDevice", *INVALID, {"name": "nonsense"}, "admin"),
    Row(f"{DATA}.ObjectManagementService/ListBadObjects", *INVALID, {"page_size": -1}, "admin"),
    Row(f"{DATA}.UploadManagementService/ListUploads", *INVALID, {"page_size": -1}, "admin"),
    Row(f"{DATA}.BackupService/Backup", *UNAUTHENTICATED),
    Row(f"{DATA}.RestoreService/GetRestore", *UNAUTHENTICATED),
    Row(f"{DATA}.SystemService/GetSystemStatus", *UNAUTHENTICATED),
    Row(
        f"{DATA}.ClockService/ConfirmClock",
        "FAILED_PRECONDITION",
        "DATA_GATEWAY_FAILED_PRECONDITION",
        {"step_seconds": 1},
        "admin",
    ),
    Row("archebase.events.v1.EventService/ListDeadLetters", *INVALID, {"page_size": -1}, "admin"),
    Row(f"{DATA}.DeviceInitService/InitDevice", *DEVICE, {"device_id": "991231-999999"}),
    Row(f"{DATA}.InternalStorageService/ReadObject", *INVALID, {}, "admin"),
]
every_service = pytest.mark.parametrize("row", ROWS, ids=[row.service for row in ROWS])


@pytest.fixture
def authorization(admin, fleet):
    def of(row: Row) -> dict[str, str]:
        match row.caller:
            case None:
                return {}
            case "device":
                return {"authorization": f"Bearer {fleet.uploader().token}"}
            case _:
                return {"authorization": f"Bearer {admin.token}"}

    return of


def described(row: Row):
    """Returns the method, the row's request, and the class of its response."""
    service, name = row.method.split("/")
    method = descriptor_pool.Default().FindServiceByName(service).FindMethodByName(name)
    takes, gives = (message_factory.GetMessageClass(type) for type in (method.input_type, method.output_type))
    return method, row.request or takes(**row.fields), gives


def by_grpc(gateway, row: Row, metadata: dict[str, str]) -> grpc.RpcError:
    method, request, gives = described(row)
    kind = "unary_stream" if method.server_streaming else "unary_unary"
    call = getattr(gateway.channel(row.listener), kind)(
        f"/{row.method}", request_serializer=type(request).SerializeToString, response_deserializer=gives.FromString
    )
    with pytest.raises(grpc.RpcError) as raised:
        response = call(request, metadata=list(metadata.items()), timeout=20)
        if method.server_streaming:
            list(response)
    return raised.value


def by_connect(gateway, row: Row, metadata: dict[str, str], protocol: str) -> ConnectError:
    method, request, gives = described(row)
    kind = StreamType.SERVER_STREAM if method.server_streaming else StreamType.UNARY
    service, name = row.method.split("/")
    described_so = connect.method(service, name, type(request), gives, kind)
    with connect.client(gateway.listeners[row.listener], "http2", protocol) as client:
        with pytest.raises(ConnectError) as raised:
            options = {"method": described_so, "headers": metadata, "timeout_ms": 20_000}
            if method.server_streaming:
                list(client.execute_server_stream(request=request, **options))
            else:
                client.execute_unary(request=request, **options)
    return raised.value


def test_every_service_of_the_documents_has_a_row(protos):
    text = (protos.parent / "docs/integrators.md").read_text()
    listed = re.search(r"(?m)^## Services\n(.*?)^## ", text, re.DOTALL)[1]
    assert sorted(re.findall(r"`(\w+Service)`", listed)) == sorted(row.service for row in ROWS)


@every_service
def test_grpcio_status_reads_status_message_and_detail(gateway, stubs, authorization, row):
    error = by_grpc(gateway, row, authorization(row))
    status = rpc_status.from_call(error)
    assert (error.code().name, status.code) == (row.status, error.code().value[0])
    assert status.message == error.details() != ""
    (packed,) = status.details
    detail = stubs.common.ErrorDetail()
    assert packed.Unpack(detail)
    assert (detail.code, detail.message) == (row.code, error.details())


@every_service
@pytest.mark.parametrize("protocol", ["grpc", "grpc-web", "connect"])
def test_connect_reads_code_message_and_detail(gateway, stubs, authorization, row, protocol):
    error = by_connect(gateway, row, authorization(row), protocol)
    assert (error.code.name, bool(error.message)) == (row.status, True)
    (packed,) = error.details
    assert packed.type_name == "archebase.common.v1.ErrorDetail"
    detail = stubs.common.ErrorDetail.FromString(packed.message_bytes)
    assert (detail.code, detail.message) == (row.code, error.message)


@every_service
def test_error_details_are_decoded_as_both_messages(gateway, stubs, authorization, row):
    """The decoding of deployed clients, and the comparison that grpc-go makes before it reports an error."""
    error = by_grpc(gateway, row, authorization(row))
    raw = dict(error.trailing_metadata())[DETAILS]
    assert raw[:2] == bytes([0x08, error.code().value[0]])
    detail = stubs.common.ErrorDetail.FromString(raw)
    assert (detail.code, detail.message) == (row.code, error.details())
    status = status_pb2.Status.FromString(raw)
    assert (status.code, status.message) == (error.code().value[0], error.details())


def test_an_error_without_a_code_has_no_details(gateway, admin):
    row = Row(f"{AUTH}.AdminAuthService/GetSite", "NOT_FOUND", "", {"site_id": 10**9})
    error = by_grpc(gateway, row, {"authorization": f"Bearer {admin.token}"})
    assert error.code() is grpc.StatusCode.NOT_FOUND
    assert rpc_status.from_call(error) is None
