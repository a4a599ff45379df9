"""The interop server: `grpc.testing.TestService` on the gateway's server library, in a process of its own."""

from pathlib import Path

import grpc

from support.certificates import Authority
from support.h2raw import Peer
from support.process_usage import memory

from .echo import Server


class InteropServer(Server):
    """An interop server; with TLS if an authority is given, which signs the certificate."""

    def __init__(self, binary: Path, authority: Authority | None = None):
        self.authority = authority
        super().__init__(binary, *(authority.issue("server")[:2] if authority else ()))
        self.address = self.listeners["interop"]
        #: The address of the same service over HTTP/1.1.
        self.web = self.listeners["web"]

    def channel(self, *options: tuple[str, int]) -> grpc.Channel:
        """Opens a new channel."""
        options = [("grpc.enable_retries", 0), ("grpc.use_local_subchannel_pool", 1), *options]
        if self.authority is None:
            return grpc.insecure_channel(self.address, options=options)
        options.append(("grpc.ssl_target_name_override", "localhost"))
        return grpc.secure_channel(self.address, grpc.ssl_channel_credentials(self.authority.pem), options=options)

    def peer(self, settings: dict[int, int] | None = None, greet: bool = True) -> Peer:
        """Opens a new connection without any rules."""
        if self.authority is None:
            return Peer(self.address, settings, greet)
        return Peer(self.address, settings, greet, self.authority.client_context())

    @property
    def resident_bytes(self) -> int:
        """Returns the resident memory of the process in bytes."""
        return memory(self.process.pid)
