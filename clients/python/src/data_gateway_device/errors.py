"""The errors of this package, all of which are a `DeviceError`."""

from __future__ import annotations


class DeviceError(Exception):
    """Any error of this package; `str(error)` is a sentence for people."""

    #: The detail code of the gateway, such as `DATA_GATEWAY_UPLOAD_NOT_FOUND`; empty without one.
    code: str = ""


class FolderError(DeviceError):
    """A file in the device's folder is missing, damaged or cannot be written."""


class BusyError(FolderError):
    """Another process is uploading the file."""


class SourceError(DeviceError):
    """A file cannot be uploaded as it is."""


class FileChangedError(SourceError):
    """The file changed while it was uploaded; its upload was aborted."""


class UploadAbortedError(DeviceError):
    """The upload was aborted at the gateway."""


class ProtocolError(DeviceError):
    """A response breaks the rules of the protocol."""


class UnreachableError(DeviceError):
    """The gateway or the object store failed for longer than `retry_for`; a later attempt continues the upload."""


class GatewayError(DeviceError):
    """The gateway refused a call.

    `status` is the name of the gRPC status, such as `NOT_FOUND`, and `code` the detail code.
    """

    def __init__(self, method: str, status: str, code: str, message: str):
        self.method, self.status, self.code, self.message = method, status, code, message
        named = f"{status}, {code}" if code else status
        super().__init__(f"the gateway refused {method}: {message or 'it gave no reason'} ({named})")


class StoreError(DeviceError):
    """The object store refused a request.

    `status` is the HTTP status, and `code` the code of the store, such as `NoSuchUpload`.
    """

    def __init__(self, operation: str, status: int, code: str, message: str):
        self.operation, self.status, self.code, self.message = operation, status, code, message
        super().__init__(f"the object store refused {operation}: {message or 'it gave no reason'} ({status} {code})")
