"""What one address sends to use up what a gateway offers to unknown callers."""

import http.client
import json

from .h2raw import DATA, END_HEADERS, END_STREAM, HEADERS, Peer, block, frame
from .monitoring import metric

#: The addresses of attackers, and of others who are unknown.
ATTACKER, ANOTHER = "127.0.0.2", "127.0.0.3"
WATCH = "/grpc.health.v1.Health/Watch"
REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
LOGIN = "/archebase.auth.v1.AuthService/Login"
INIT = "/archebase.data_gateway.v1.DeviceInitService/InitDevice"


def reached(gateway, listener: str, limit: str) -> int:
    return int(metric(gateway, "data_gateway_limits_reached_total", listener=listener, limit=limit))


def call_head(authority: str, path: str, *more: tuple[str, str]) -> bytes:
    """Returns the header section of a call."""
    return block(
        (":method", "POST"), (":scheme", "http"), (":path", path), (":authority", authority),
        ("content-type", "application/grpc"), ("te", "trailers"), *more,
    )  # fmt: skip


def wait_on(peer: Peer, path: str, streams: int, is_whole: bool) -> list[bytes]:
    """Opens a number of calls, and returns the trailers of those that were refused."""
    headers = call_head(peer.authority, path)
    for number in range(streams):
        stream = 2 * number + 1
        peer.raw(frame(HEADERS, END_HEADERS, stream, headers))
        if is_whole:
            peer.raw(frame(DATA, END_STREAM, stream, bytes(5)))
    refused = []
    # Frames that came before the answer to a PING came because of these calls.
    peer.send(6, 0, 0, b"all sent")
    while (got := peer.next()) is not None and not (got.kind == 6 and got.payload == b"all sent"):
        if got.kind == HEADERS and got.flags & END_STREAM:
            refused.append(got.payload)
    return refused


def sign_in(gateway, password: str, source: str) -> tuple[int, str]:
    """Signs in as the admin of `system` at the web listener from an address; returns the status and the error message."""
    host, port = gateway.listeners["web"].split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=60, source_address=(source, 0))
    try:
        body = json.dumps({"organization": "system", "userName": "admin", "password": password})
        connection.request("POST", LOGIN, body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        return response.status, json.loads(response.read()).get("message", "")
    finally:
        connection.close()


def ask_for_keys(gateway, stubs, device_ids: list[str]) -> None:
    """Calls InitDevice from the attacker's address, once for each id."""
    for start in range(0, len(device_ids), 50):
        with Peer(gateway.listeners["device-init"], source=ATTACKER) as peer:
            headers = call_head(peer.authority, INIT)
            for number, device_id in enumerate(device_ids[start : start + 50]):
                message = stubs.gateway.InitDeviceRequest(device_id=device_id).SerializeToString()
                peer.raw(frame(HEADERS, END_HEADERS, 2 * number + 1, headers))
                peer.raw(frame(DATA, END_STREAM, 2 * number + 1, b"\0" + len(message).to_bytes(4, "big") + message))
            open_calls = len(device_ids[start : start + 50])
            while open_calls and (got := peer.next()) is not None:
                open_calls -= got.kind == HEADERS and bool(got.flags & END_STREAM)
            assert open_calls == 0
