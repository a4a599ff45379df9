"""Python stubs of the gateway's services, generated from protos/ with grpcio-tools."""

import importlib
import sys
import tempfile
from pathlib import Path

import grpc
from grpc_tools import protoc

PROTOS = Path(__file__).resolve().parents[1] / "protos"
FILES = ("common.proto", "auth.proto", "data_gateway.proto")

_directory = tempfile.TemporaryDirectory(prefix="data-gateway-stubs-")
_well_known = Path(protoc.__file__).parent / "_proto"
_out = _directory.name
if protoc.main(
    ["protoc", f"-I{_well_known}", f"-I{PROTOS}", f"--python_out={_out}", f"--grpc_python_out={_out}", *FILES]
):
    raise RuntimeError("the stubs could not be made from protos/")
sys.path.insert(0, _out)

common = importlib.import_module("common_pb2")
auth = importlib.import_module("auth_pb2")
gateway = importlib.import_module("data_gateway_pb2")
_services = {
    name: getattr(module, f"{name}Stub")
    for module in (importlib.import_module("auth_pb2_grpc"), importlib.import_module("data_gateway_pb2_grpc"))
    for name in ("AuthService", "DeviceInitService", "DataGatewayService", "DataGatewayObjectService")
    if hasattr(module, f"{name}Stub")
}


def service(name: str, address: str):
    """Returns a stub of the service at `HOST:PORT`."""
    return _services[name](grpc.insecure_channel(address))


def bearer(token: str) -> list[tuple[str, str]]:
    """Returns the metadata of a signed-in caller."""
    return [("authorization", f"Bearer {token}")]


def explain(error: grpc.RpcError) -> str:
    """Returns an error in one line: its message, and the detail code for programs."""
    details = dict(error.trailing_metadata() or ()).get("grpc-status-details-bin")
    code = common.ErrorDetail.FromString(details).code if details else error.code().name
    return f"{code}: {error.details()}"
