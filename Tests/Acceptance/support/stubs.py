"""Python stubs of the repository's `protos/`, made by grpcio-tools at the start of a test run."""

import importlib
import sys
from importlib import resources
from pathlib import Path
from types import SimpleNamespace

import grpc
from google.protobuf import descriptor_pb2
from grpc_tools import protoc

#: The gateway's own files.
PROTOS = Path(__file__).resolve().parents[3] / "protos"
#: Proto package → the name under which its messages and stubs are reached: `stubs.auth.LoginRequest`.
PACKAGES = {
    "archebase.common.v1": "common",
    "archebase.auth.v1": "auth",
    "archebase.data_gateway.v1": "gateway",
    "archebase.meta.v1": "meta",
    "archebase.session.v1": "session",
    "archebase.events.v1": "events",
    "grpc.health.v1": "health",
    "grpc.testing": "testing",
}


def descriptors(protos: Path, out: Path) -> descriptor_pb2.FileDescriptorSet:
    """The descriptors of every file below `protos`, without those of their imports from elsewhere."""
    path = out / "descriptors"
    _protoc(protos, f"--descriptor_set_out={path}")
    return descriptor_pb2.FileDescriptorSet.FromString(path.read_bytes())


def load(protos: Path, out: Path) -> SimpleNamespace:
    """Generates the stubs of everything below `protos` into `out` and imports them, by package."""
    _protoc(protos, f"--python_out={out}", f"--grpc_python_out={out}")
    sys.path.insert(0, str(out))
    # Health lands in OUT/grpc, which the real grpc package would hide, or take for grpcio-health-checking.
    grpc.__path__.append(str(out / "grpc"))
    sys.modules.pop("grpc.health", None)
    stubs = SimpleNamespace(**{name: SimpleNamespace() for name in PACKAGES.values()})
    for file in descriptors(protos, out).file:
        if file.package not in PACKAGES:
            continue
        module = file.name.removesuffix(".proto").replace("/", ".").replace("-", "_")
        namespace = getattr(stubs, PACKAGES[file.package])
        for suffix in ("_pb2", "_pb2_grpc"):
            vars(namespace).update(
                (key, value)
                for key, value in vars(importlib.import_module(module + suffix)).items()
                if not key.startswith("_") and key != "DESCRIPTOR"
            )
    return stubs


def _protoc(protos: Path, *arguments: str) -> None:
    # What lies below google/ is protobuf's own, and comes with its Python package.
    paths = (path.relative_to(protos) for path in protos.rglob("*.proto"))
    files = sorted(str(path) for path in paths if path.parts[0] != "google")
    well_known = str(resources.files("grpc_tools") / "_proto")
    # Files elsewhere import the annotations, which lie among the gateway's own.
    includes = [f"-I{path}" for path in (well_known, protos, PROTOS)]
    status = protoc.main(["protoc", *includes, *arguments, *files])
    if status != 0:
        raise RuntimeError(f"protoc failed with status {status}; its messages are above")
