"""A device of data-gateway: fetches its key, and uploads files that survive interruptions."""

from .client import DeviceClient, Options
from .errors import (
    BusyError,
    DeviceError,
    FileChangedError,
    FolderError,
    GatewayError,
    ProtocolError,
    SourceError,
    StoreError,
    UnreachableError,
    UploadAbortedError,
)
from .folder import Configuration, Endpoint, Endpoints
from .upload import Progress, UploadResult
from .version import VERSION as __version__

__all__ = [
    "BusyError",
    "Configuration",
    "DeviceClient",
    "DeviceError",
    "Endpoint",
    "Endpoints",
    "FileChangedError",
    "FolderError",
    "GatewayError",
    "Options",
    "Progress",
    "ProtocolError",
    "SourceError",
    "StoreError",
    "UnreachableError",
    "UploadAbortedError",
    "UploadResult",
    "__version__",
]
