"""Invalid messages: refused with a code, while the connection and the server continue."""

import pytest
from support.refusal import refused
from support.waiting import WAIT_SECONDS

MALFORMED = {
    "a field that is cut off": b"\x0a\x05ab",
    "a varint without an end": b"\x08" + b"\xff" * 11,
    "a length beyond the message": b"\x0a\xff\xff\xff\xff\x0f",
    "field number zero": b"\x00\x01",
    "wire type six": b"\x0e",
    "wire type seven": b"\x0f",
    "an end group without a start": b"\x0c",
    "invalid UTF-8": b"\x0a\x02\xff\xfe",
    "a group nested ten thousand deep": b"\x0b" * 10_000,
}

METHODS = [
    ("auth", "/archebase.auth.v1.AuthService/Login"),
    ("device-init", "/archebase.data_gateway.v1.DeviceInitService/InitDevice"),
]


@pytest.mark.parametrize("listener, path", METHODS, ids=[path for _, path in METHODS])
@pytest.mark.parametrize("body", MALFORMED.values(), ids=MALFORMED)
def test_malformed_message_is_refused(gateway, stubs, listener, path, body):
    method = gateway.channel(listener).unary_unary(path)
    with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_INVALID_ARGUMENT"):
        method(body, timeout=WAIT_SECONDS)


def test_malformed_message_to_an_authenticated_service_is_refused(gateway, uploader, stubs):
    method = gateway.channel("gateway").unary_unary("/archebase.data_gateway.v1.DataGatewayService/CompleteUpload")
    metadata = [("authorization", f"Bearer {uploader.token}")]
    for body in MALFORMED.values():
        with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_INVALID_ARGUMENT"):
            method(body, metadata=metadata, timeout=WAIT_SECONDS)
    assert uploader.create()


def test_unknown_fields_are_no_error(gateway, stubs):
    """A client newer than the server sends fields that the server does not know."""
    request = stubs.gateway.InitDeviceRequest(device_id="nonsense").SerializeToString()
    method = gateway.channel("device-init").unary_unary("/archebase.data_gateway.v1.DeviceInitService/InitDevice")
    with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_DEVICE_ID_INVALID"):
        method(request + b"\x9a\x06\x03abc\xa0\x06\x01", timeout=WAIT_SECONDS)


def test_message_over_the_limit_is_refused(gateway, stubs):
    """Refused by the limit that is reached first, and the next call succeeds."""
    method = gateway.channel("auth").unary_unary("/archebase.auth.v1.AuthService/Login")
    with refused(stubs, "RESOURCE_EXHAUSTED"):
        method(b"\x0a\x80\x80\x80\x20" + b"x" * (64 * 1024 * 1024), timeout=WAIT_SECONDS)
    with refused(stubs, "UNAUTHENTICATED", "AUTH_INVALID_CREDENTIAL"):
        method(b"", timeout=WAIT_SECONDS)
