"""The calls of the gateway, with tokens, deadlines and retries."""

from __future__ import annotations

import contextlib
import time
from typing import Any

import grpc

from . import messages
from .errors import GatewayError
from .folder import DeviceFolder, Endpoint, Endpoints
from .messages import Message
from .retries import Retrying, TemporaryError, waited
from .tls import Authorities

#: The deadline of each call, in seconds.
_DEADLINE = 20.0
#: The time before a token's expiry at which it is replaced, in seconds; at most a quarter of its lifetime.
_TOKEN_LEAD = 60.0
#: The codes for an upload that the gateway does not have, or that belongs to another device, as after `init` with another id.
UNKNOWN_UPLOAD_CODES = ("DATA_GATEWAY_UPLOAD_NOT_FOUND", "DATA_GATEWAY_UPLOAD_NOT_OWNED")
_TEMPORARY = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.INTERNAL)
_OPTIONS = [
    ("grpc.enable_retries", 0),
    ("grpc.enable_http_proxy", 0),
    ("grpc.use_local_subchannel_pool", 1),
    # An attempt to connect may take as long as a call; a shorter limit would fail on slow networks.
    ("grpc.min_reconnect_backoff_ms", int(_DEADLINE * 1000)),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2000),
]


class Channels:
    """The connections to the gateway's listeners."""

    def __init__(self, endpoints: Endpoints, authorities: Authorities):
        self._endpoints = endpoints
        self._authorities = authorities
        self._channels: dict[Endpoint, Any] = {}

    def call(self, method: str, request: Message, reply: Message, token: str | None = None) -> Message:
        """Makes one attempt of a call: `auth.v1.AuthService/ExchangeCredential`.

        Raises TemporaryError where another attempt may succeed, else GatewayError.
        """
        endpoint = self._endpoint(method)
        channel = self._channel(endpoint)
        metadata = [("authorization", f"Bearer {token}")] if token is not None else []
        function = channel.unary_unary(
            f"/archebase.{method}",
            request_serializer=type(request).SerializeToString,
            response_deserializer=reply.FromString,
        )
        try:
            return function(request, timeout=_DEADLINE, metadata=metadata)
        except grpc.RpcError as error:
            if error.code() == grpc.StatusCode.DEADLINE_EXCEEDED:
                # The connection may be dead without a notice, as after the timeout of a NAT: the next attempt makes another.
                self._channels.pop(endpoint).close()
            raise _failure(method.rpartition("/")[2], error) from error

    def _endpoint(self, method: str) -> Endpoint:
        if method.startswith("auth."):
            return self._endpoints.auth
        return self._endpoints.device_init if "DeviceInitService" in method else self._endpoints.gateway

    def _channel(self, endpoint: Endpoint) -> Any:
        if endpoint not in self._channels:
            if endpoint.scheme == "https":
                trusted = grpc.ssl_channel_credentials(self._authorities.pem())
                self._channels[endpoint] = grpc.secure_channel(endpoint.address, trusted, _OPTIONS)
            else:
                self._channels[endpoint] = grpc.insecure_channel(endpoint.address, _OPTIONS)
        return self._channels[endpoint]

    def close(self) -> None:
        for each in self._channels.values():
            each.close()
        self._channels = {}


def _failure(method: str, error: Any) -> Exception:
    """Returns the error that a failed call means."""
    trailers = dict(error.trailing_metadata() or ())
    detail = messages.ErrorDetail()
    with contextlib.suppress(Exception):
        detail = messages.ErrorDetail.FromString(trailers.get("grpc-status-details-bin", b""))
    status = error.code()
    failure = GatewayError(method, status.name, detail.code, detail.message or error.details() or "")
    if status not in _TEMPORARY:
        return failure
    wait = waited(str(trailers.get("retry-after-ms", "")), 0.001)
    text = f"{method} failed: {failure.message}"
    return TemporaryError(f"{text} ({detail.code})" if detail.code else text, wait)


class Gateway:
    """The calls of an initialized device."""

    def __init__(self, folder: DeviceFolder, channels: Channels, retrying: Retrying):
        self._folder = folder
        self._channels = channels
        self._retrying = retrying
        self._token = ""
        #: The time of `time.time()` from which the token is replaced; 0 = only after a refusal.
        self._stale_at = 0.0

    def exchange(self) -> int:
        """Exchanges the device's key for a new token; returns its expiry in seconds since 1970."""
        return self._retrying.run(self._exchange)

    def _exchange(self) -> int:
        refusal: GatewayError | None = None
        # The file is read each time, because another program may have replaced the key.
        for key in self._folder.candidate_keys():
            request = messages.ExchangeCredentialRequest(credential=key)
            method = "auth.v1.AuthService/ExchangeCredential"
            try:
                reply = self._channels.call(method, request, messages.ExchangeCredentialResponse)
            except GatewayError as error:
                if error.code != "AUTH_INVALID_CREDENTIAL":
                    raise
                refusal = refusal or error
                continue
            self._token = reply.access_token
            self._stale_at = stale_at(reply.expires_at_unix, _TOKEN_LEAD)
            return int(reply.expires_at_unix)
        assert refusal is not None
        raise refusal

    def _call(self, name: str, request: Message, reply: Message) -> Message:
        return self._retrying.run(lambda: self._attempt(name, request, reply))

    def _attempt(self, name: str, request: Message, reply: Message) -> Message:
        method = f"data_gateway.v1.DataGatewayService/{name}"
        if not self._token or 0 < self._stale_at <= time.time():
            self._exchange()
        try:
            return self._channels.call(method, request, reply, self._token)
        except GatewayError as error:
            if error.status != "UNAUTHENTICATED":
                raise
        # A token ends with its key, and may have expired by another clock.
        self._exchange()
        return self._channels.call(method, request, reply, self._token)

    def create(self, hints: dict[str, str], restart_from: str) -> Message:
        request = messages.CreateLogicalUploadRequest(client_hints=hints, restart_from_upload_id=restart_from)
        return self._call("CreateLogicalUpload", request, messages.CreateLogicalUploadResponse)

    def recovery(self, logical_id: str) -> Message:
        request = messages.GetUploadRecoveryRequest(logical_upload_id=logical_id)
        return self._call("GetUploadRecovery", request, messages.GetUploadRecoveryResponse)

    def reissue(self, upload_id: str) -> Message:
        request = messages.ReissueUploadCredentialsRequest(upload_id=upload_id)
        return self._call("ReissueUploadCredentials", request, messages.ReissueUploadCredentialsResponse)

    def abort(self, logical_id: str, reason: str) -> None:
        request = messages.AbortUploadRequest(logical_upload_id=logical_id, reason=reason)
        try:
            self._call("AbortUpload", request, messages.AbortUploadResponse)
        except GatewayError as error:
            if error.code not in UNKNOWN_UPLOAD_CODES:
                raise

    def complete(self, request: Message) -> str:
        """Calls CompleteUpload; returns the file id, which is empty from an older gateway."""
        return str(self._call("CompleteUpload", request, messages.CompleteUploadResponse).file_id)


def stale_at(expires_at: int, lead: float) -> float:
    """Returns the time from which something with an expiry is replaced.

    It is 0 for something that has expired on arrival, because a clock is wrong: it is used until it is refused.
    """
    lifetime = expires_at - time.time()
    return expires_at - min(lead, lifetime / 4) if lifetime > 0 else 0.0
