"""The messages of the gateway, in a descriptor pool of their own.

Another package of the same process may have the same messages, for example an older SDK. Two versions of a file cannot
be in one pool.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from . import _descriptors

#: A protobuf message; the classes are made when the program starts, and have no static types.
Message = Any


def _pool() -> descriptor_pool.DescriptorPool:
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(_descriptors.FILES).file:
        pool.AddSerializedFile(file.SerializeToString())
    return pool


_POOL = _pool()


def _message(name: str) -> Any:
    return message_factory.GetMessageClass(_POOL.FindMessageTypeByName(f"archebase.{name}"))


ErrorDetail = _message("common.v1.ErrorDetail")
ExchangeCredentialRequest = _message("auth.v1.ExchangeCredentialRequest")
ExchangeCredentialResponse = _message("auth.v1.ExchangeCredentialResponse")
InitDeviceRequest = _message("data_gateway.v1.InitDeviceRequest")
ReinitDeviceRequest = _message("data_gateway.v1.ReinitDeviceRequest")
InitDeviceResponse = _message("data_gateway.v1.InitDeviceResponse")
CreateLogicalUploadRequest = _message("data_gateway.v1.CreateLogicalUploadRequest")
CreateLogicalUploadResponse = _message("data_gateway.v1.CreateLogicalUploadResponse")
GetUploadRecoveryRequest = _message("data_gateway.v1.GetUploadRecoveryRequest")
GetUploadRecoveryResponse = _message("data_gateway.v1.GetUploadRecoveryResponse")
ReissueUploadCredentialsRequest = _message("data_gateway.v1.ReissueUploadCredentialsRequest")
ReissueUploadCredentialsResponse = _message("data_gateway.v1.ReissueUploadCredentialsResponse")
AbortUploadRequest = _message("data_gateway.v1.AbortUploadRequest")
AbortUploadResponse = _message("data_gateway.v1.AbortUploadResponse")
CompleteUploadRequest = _message("data_gateway.v1.CompleteUploadRequest")
CompleteUploadResponse = _message("data_gateway.v1.CompleteUploadResponse")

#: The values of UploadRecoveryAction.
CONTINUE, COMPLETE_ONLY, RESTART, ABORT = 1, 2, 3, 4
