"""The official Connect client, for the Connect, gRPC and gRPC-Web protocols, over either version of HTTP."""

from contextlib import contextmanager

from connectrpc.client import ConnectClientSync
from connectrpc.compat import google_protobuf_binary_codec, google_protobuf_json_codec
from connectrpc.compression.gzip import GzipCompression
from connectrpc.method import IdempotencyLevel, MethodInfo, StreamType
from connectrpc.protocol import ProtocolType
from pyqwest import HTTPVersion, SyncClient, SyncHTTPTransport

from support.certificates import Authority

CODECS = {"proto": google_protobuf_binary_codec, "json": google_protobuf_json_codec}
PROTOCOLS = {"connect": ProtocolType.CONNECT, "grpc": ProtocolType.GRPC, "grpc-web": ProtocolType.GRPC_WEB}
VERSIONS = {"http1": HTTPVersion.HTTP1, "http2": HTTPVersion.HTTP2}


@contextmanager
def client(
    address: str,
    version: str,
    protocol: str = "connect",
    codec: str = "proto",
    compresses: bool = False,
    authority: Authority | None = None,
):
    """Makes a client with its own connections; with TLS if an authority is given."""
    pem = authority.pem if authority else None
    base = f"https://localhost:{address.rsplit(':', 1)[1]}" if authority else f"http://{address}"
    with (
        SyncHTTPTransport(http_version=VERSIONS[version], tls_ca_cert=pem) as transport,
        ConnectClientSync(
            base,
            codec=CODECS[codec](),
            protocol=PROTOCOLS[protocol],
            accept_compression=[GzipCompression()] if compresses else [],
            send_compression=GzipCompression() if compresses else None,
            http_client=SyncClient(transport),
        ) as connected,
    ):
        yield connected


def method(service: str, name: str, takes, gives, kind: StreamType = StreamType.UNARY, is_safe: bool = False):
    """Returns the description of a method as in generated code."""
    level = IdempotencyLevel.NO_SIDE_EFFECTS if is_safe else IdempotencyLevel.UNKNOWN
    return MethodInfo(
        name=name, service_name=service, input=takes, output=gives, idempotency_level=level, stream_type=kind
    )
