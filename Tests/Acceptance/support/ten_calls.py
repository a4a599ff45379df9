"""The ten representative calls: those of a monitor, a device and a user in the life of a file.

One client makes them sequentially, each kind on one connection.
"""

import dataclasses
import http.client
import socket
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from support.gateway import ADMIN_PASSWORD, Gateway
from support.oss import Credentials
from support.parties import Fleet, Uploader, User, exchange, init_device
from support.raw import RawStore
from support.unary import UnaryGateway
from support.uploads import content

from .waiting import WAIT_SECONDS

#: The numbers of calls of each kind: the first ones make connections, prepare statements and fill caches.
WARM_UP, COUNTED = 20, 50
CALLS = WARM_UP + COUNTED
#: The size of a part and of an object, in bytes.
SIZE = 64 * 1024
#: Without limits for the many calls of one device within seconds.
CONFIG = {"uploads": {"calls_per_minute": 0}, "quota": {"device_uploads": 0}}

#: Makes the calls of a kind, which is named, and returns their results.
Run = Callable[[str, list[Callable]], list]


def make(gateway: Gateway, stubs, run: Run) -> None:
    """Makes the ten kinds of calls with `run`, `CALLS` of each, at a gateway started with `CONFIG`."""
    user = User.login(gateway, stubs, "system", "admin", ADMIN_PASSWORD)
    fleet = Fleet.create(user)
    devices = [fleet.register().device_id for _ in range(CALLS)]
    # grpcio's own traffic must not be counted.
    gateway.forget_channels()
    with UnaryGateway(gateway.listeners) as unary, _StoreConnection(gateway.object_store) as store:
        health = stubs.health.HealthStub(unary.channel("auth"))
        run("Check", [lambda: health.Check(stubs.health.HealthCheckRequest())] * CALLS)
        keys = run("InitDevice", [lambda id=id: init_device(unary, stubs, id) for id in devices])
        tokens = run("ExchangeCredential", [lambda key=key: exchange(unary, stubs, key.api_key) for key in keys])
        uploader = Uploader(unary, stubs, keys[0].api_key, devices[0], token=tokens[0].access_token)
        _upload(uploader, store, run)
        _download(dataclasses.replace(user, gateway=unary), store, run)


def _upload(uploader: Uploader, store: "_StoreConnection", run: Run) -> None:
    """A device uploads files of one part."""
    created = run("CreateLogicalUpload", [uploader.create] * CALLS)
    run("GetUploadRecovery", [lambda it=it: uploader.recovery(it.logical_upload_id) for it in created])
    uploads = [_Upload.begin(uploader, one) for one in created]
    run("UploadPart", [lambda it=it: it.put(store) for it in uploads])
    for one in uploads:
        one.join()
    run("CompleteUpload", [one.complete for one in uploads])


def _download(user: User, store: "_StoreConnection", run: Run) -> None:
    """A user lists the files, and downloads one."""
    pages = run("ListObjects", [lambda: user.objects("ListObjects")] * CALLS)
    file = pages[0].objects[0].file_id
    replies = run("RequestDownload", [lambda: user.objects("RequestDownload", file_ids=[file])] * CALLS)
    got = run("GetObject", [lambda it=it: store.get(it.files[0].read) for it in replies])
    assert got == [content(SIZE)] * CALLS


@dataclass
class _Upload:
    """A multipart upload of one part."""

    uploader: Uploader
    upload_id: str
    store: RawStore
    multipart_id: str
    etag: str = ""

    @classmethod
    def begin(cls, uploader: Uploader, created) -> "_Upload":
        store = RawStore(Credentials.of(created.credentials))
        return cls(uploader, created.upload_id, store, store.request("POST", [("uploads", "")]).text("UploadId"))

    def put(self, store: "_StoreConnection") -> None:
        target, headers = self.store.head("PUT", [("partNumber", "1"), ("uploadId", self.multipart_id)])
        self.etag = store.request("PUT", target, headers, content(SIZE))[0]["ETag"]

    def join(self) -> None:
        """Calls CompleteMultipartUpload."""
        part = f"<Part><PartNumber>1</PartNumber><ETag>{self.etag}</ETag></Part>"
        document = f"<CompleteMultipartUpload>{part}</CompleteMultipartUpload>".encode()
        self.etag = self.store.request("POST", [("uploadId", self.multipart_id)], document).headers["ETag"]

    def complete(self) -> None:
        """Calls CompleteUpload."""
        tags = {"robot": "arm 7", "run": "4711"}
        fields = {"file_size": SIZE, "completed_part_count": 1, "oss_object_etag": self.etag, "raw_tags": tags}
        self.uploader.complete(self.upload_id, part_size_bytes=self.store.credentials.part_size, **fields)


class _StoreConnection:
    """A connection to the object store for sequential requests; a request and its body are sent at once."""

    def __init__(self, address: str):
        host, port = address.rsplit(":", 1)
        self.address = address
        self.socket = socket.create_connection((host, int(port)), timeout=WAIT_SECONDS)

    def __enter__(self) -> "_StoreConnection":
        return self

    def __exit__(self, *_) -> None:
        self.socket.close()

    def get(self, presigned) -> bytes:
        """Returns the body of a presigned GET."""
        parts = urlsplit(presigned.uri)
        return self.request("GET", f"{parts.path}?{parts.query}", dict(presigned.headers))[1]

    def request(
        self, method: str, target: str, headers: dict[str, str], body: bytes = b""
    ) -> tuple[http.client.HTTPMessage, bytes]:
        """Returns header and body of the response; AssertionError unless its status is 200."""
        fields = {"Host": self.address, "Content-Length": str(len(body))} | headers
        lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items()), "", ""]
        self.socket.sendall("\r\n".join(lines).encode() + body)
        with http.client.HTTPResponse(self.socket, method=method) as response:
            response.begin()
            received = response.read()
            assert response.status == 200, (response.status, received)
            return response.headers, received
