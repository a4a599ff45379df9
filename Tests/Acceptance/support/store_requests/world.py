"""The gateway and its contents that the requests are for: static keys, buckets, objects, and uploads of a device in every state."""

import base64
import hashlib
import json
import zlib
from dataclasses import dataclass, field
from pathlib import Path

from .. import stubs as stubs_module
from ..gateway import ADMIN_PASSWORD, Gateway, eventually
from ..parties import Fleet, Uploader, User
from ..static_keys import StaticKey
from ..uploads import Upload
from .masks import Masks
from .signing import Keys, Signing, sign
from .wire import Reply, Request, exchange, request_bytes

#: The host of the public endpoint; names below it are buckets.
DOMAIN = "oss-local.store.example.com"
ORIGIN = "https://viewer.example.com"
BUCKETS = {"maps": {"prefix": "tools/maps/"}, "lists": {"prefix": "lists/"}, "with.dots": {"prefix": "dots/"}}
STATIC = {
    "owner": StaticKey("OWNER", "a secret of the owner", "write"),
    "tools": StaticKey("TOOLS", "a secret of the tools", "write", prefix="tools/"),
    "maps": StaticKey("MAPPER", "a secret of the mapper", "write", prefix="tools/maps/"),
    "reader": StaticKey("AUDITOR", "a secret of the auditor", "read"),
    "tools reader": StaticKey("VISITOR", "a secret of the visitor", "read", prefix="tools/"),
    "small": StaticKey("SMALL", "a secret of the small one", "write", prefix="small/"),
}
#: The quota of the key `small`, in bytes.
QUOTA = 1000
PART_SIZE = 1024 * 1024
#: Small contents, which a reader of the recording recognizes.
TEXT = b"The quick brown fox jumps over the lazy dog. 0123456789"
UPLOADS_OF_DEVICE = 20
#: The states of the device's uploads.
STATES = ("open", "stored", "completed", "aborted", "superseded", "expired")


@dataclass
class World:
    """A running gateway and the parties whose requests are recorded."""

    gateway: Gateway
    stubs: object
    masks: Masks = field(default_factory=Masks)
    uploads: dict[str, Upload] = field(default_factory=dict)
    #: The ids of multipart uploads by the names of their makers.
    multiparts: dict[str, str] = field(default_factory=dict)
    fleet: Fleet | None = None
    device: Uploader | None = None
    devices: int = 0

    @classmethod
    def start(cls, binary: Path, directory: Path) -> "World":
        """Starts a gateway with the keys, and makes the uploads and objects."""
        protos = Path(__file__).resolve().parents[4] / "protos"
        (stubs := directory / "stubs").mkdir()
        (served := directory / "gateway").mkdir()
        keys = [key.setting(directory) for key in STATIC.values()]
        keys[-1]["quota_bytes"] = QUOTA
        config = {
            "object_store": {
                "static_keys": keys,
                "buckets": BUCKETS,
                "cors_origins": [ORIGIN, "http://127.0.0.1:8080"],
                "public_endpoint": f"http://{DOMAIN}",
                "min_free_bytes": 0,
            },
            "uploads": {"part_size_bytes": PART_SIZE, "credential_lifetime_seconds": 1},
            "log": {"format": "json", "level": "debug"},
        }
        gateway = Gateway(binary, served, config)
        world = cls(gateway.start(), stubs_module.load(protos, stubs))
        try:
            world._make_expired()
            gateway.stop()
            # The counters of the metrics are zero again: what came before depended on the time.
            config["uploads"]["credential_lifetime_seconds"] = 43_200
            gateway.config.write_text(json.dumps(config))
            gateway.start()
            world._make_fleet()
            world._make_contents()
        except BaseException:
            gateway.close()
            raise
        return world

    @property
    def address(self) -> str:
        return self.gateway.object_store

    def keys(self, name: str) -> Keys:
        """Returns a static key, or the credentials of an upload."""
        if name in STATIC:
            return Keys(STATIC[name].id, STATIC[name].secret)
        credentials = self.uploads[name].credentials
        return Keys(credentials.access_key_id, credentials.secret, credentials.token)

    def host(self, request: Request) -> str:
        """Returns the Host field of a request."""
        if request.host is not None:
            return request.host
        return f"{request.bucket}.{DOMAIN}" if request.virtual and request.bucket else self.address

    def written(self, request: Request, how: Signing | None) -> bytes:
        """Returns the bytes of a request, signed unless `how` is `None`."""
        host = self.host(request)
        target, fields, body = request.written(), request.fields, request.body
        if how:
            target, fields, body = sign(request, how, host)
        return request_bytes(request.method, request.target or target, (("Host", host), *fields), body, request.framing)

    def send(self, request: Request, dialect: str = "s3", by: str = "owner") -> Reply:
        """Sends a request that is not recorded, which must succeed."""
        reply = exchange(self.address, self.written(request, Signing(dialect, self.keys(by))))
        assert 200 <= reply.status < 300, (request, reply)
        return reply

    def put(self, key: str, body: bytes = TEXT, *fields: tuple[str, str], bucket: str = "data") -> str:
        """Stores an object, and returns its ETag."""
        return self.send(Request("PUT", bucket, key, fields=fields, body=body)).get("etag")

    def initiate(self, key: str, *fields: tuple[str, str], bucket: str = "data", name: str = "") -> str:
        """Initiates a multipart upload, and returns its id, which is masked by its name or else its key."""
        body = self.send(Request("POST", bucket, key, (("uploads", None),), fields)).body.decode()
        upload_id = body.split("<UploadId>")[1].split("<")[0]
        self.masks.name(upload_id, f"upload {name or key}")
        return upload_id

    def part(self, key: str, upload_id: str, number: int, body: bytes, *fields, bucket: str = "data") -> str:
        """Uploads a part, and returns its ETag."""
        query = (("partNumber", str(number)), ("uploadId", upload_id))
        return self.send(Request("PUT", bucket, key, query, fields, body)).get("etag")

    def complete(self, key: str, upload_id: str, etags: list[str], bucket: str = "data") -> None:
        self.send(Request("POST", bucket, key, (("uploadId", upload_id),), body=completion(etags)))

    def upload(self, state: str, name: str) -> Upload:
        """Makes an upload of the device in the state, whose values are masked by the name."""
        if len(self.uploads) >= self.devices * UPLOADS_OF_DEVICE:
            self._add_device()
        upload = Upload.create(self.device)
        self._add(name, upload)
        if state in ("stored", "completed"):
            content = f"The device sends this as {name}: ".encode() + TEXT
            request = Request("PUT", upload.credentials.bucket, upload.credentials.key, body=content)
            upload.size, upload.etag = len(content), self.send(request, by=name).get("etag")
        if state == "completed":
            upload.complete()
        if state == "aborted":
            upload.uploader.abort(upload.logical_id)
        if state == "superseded":
            self._add(f"{name}, again", Upload.create(self.device, restart_from=upload.id))
        return upload

    def _add(self, name: str, upload: Upload) -> None:
        self.uploads[name] = upload
        credentials = upload.credentials
        self.masks.name(credentials.key, f"key of {name}")
        self.masks.name(credentials.key.replace("/", "%2F"), f"encoded key of {name}")
        # The id in the log of an object that a static key would put there.
        direct = hashlib.sha256(f"{credentials.bucket}/{credentials.key}".encode()).hexdigest()[:32]
        self.masks.name(f"direct-{direct}", f"direct id of {name}")
        self.masks.name(upload.id, f"attempt of {name}")
        self.masks.name(upload.logical_id, f"logical upload of {name}")
        self.masks.name(credentials.token, f"token of {name}")
        self.masks.name(credentials.access_key_id, f"access key of {name}")
        self.masks.name(credentials.secret, f"secret of {name}")

    def _make_fleet(self) -> None:
        self.fleet = Fleet.create(User.login(self.gateway, self.stubs, "system", "admin", ADMIN_PASSWORD))

    def _add_device(self) -> None:
        """Registers the device that makes the next uploads: few of one device are open at a time."""
        self.device, self.devices = self.fleet.uploader(), self.devices + 1
        payload = self.device.token.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        self.masks.name(self.device.device_id, f"device {self.devices}")
        self.masks.name(claims["sub"], f"caller {self.devices}")

    def _make_expired(self) -> None:
        self._make_fleet()
        self._add_device()
        self._add("expired", upload := Upload.create(self.device))
        request = Request("GET", upload.credentials.bucket, upload.credentials.key)

        def has_expired() -> bool:
            reply = exchange(self.address, self.written(request, Signing("oss4", self.keys("expired"))))
            return b"SecurityTokenExpired" in reply.body

        eventually(has_expired)

    def _make_contents(self) -> None:
        """Makes the objects that are only read, and an upload of the device in every other state."""
        for state in STATES:
            if state != "expired":
                self.upload(state, state)
        self.upload("completed", "another")
        for key in ("world/text", "tools/text", "tools/maps/text", "dots/text"):
            self.put(key)
        described = (
            ("Content-Type", "text/plain"), ("Cache-Control", "max-age=60"), ("Content-Language", "de"),
            ("Content-Disposition", 'inline; filename="text.txt"'), ("Content-Encoding", "identity"),
            ("Expires", "Thu, 01 Jan 2037 00:00:00 GMT"), ("x-amz-meta-color", "blue"),
            ("x-amz-meta-size", "large"), ("x-amz-tagging", "kind=map&level=3"),
        )  # fmt: skip
        self.put("world/described", TEXT, *described)
        self.put("world/empty", b"")
        self.put("world/html", b"<html>", ("Content-Type", "text/html"))
        self.put("world/ä b+c&d=e?f#g%h", TEXT)
        for algorithm, value in checksums(TEXT).items():
            self.put(f"world/with {algorithm}", TEXT, (f"x-amz-checksum-{algorithm}", value))
        self._make_multiparts()
        for position in (0, len(TEXT)):
            query = (("append", None), ("position", str(position)))
            self.send(Request("POST", "data", "world/appended", query, body=TEXT), "oss4")
        for number in range(12):
            self.put(f"lists/{'abcd'[number % 4]}/{number:02}", TEXT[: number + 1])
        for key in ("lists/a b", "lists/ä", "lists/top", "lists/x&y<z>"):
            self.put(key)
        for key in ("lists/a/00", "lists/a/open", "lists/open", "lists/z/open"):
            self.initiate(key, name=f"listed {key}")

    def _make_multiparts(self) -> None:
        size = 5 * 1024 * 1024
        for name, fields in (("world/parts", ()), ("world/summed parts", (("x-amz-checksum-algorithm", "CRC32C"),))):
            upload_id = self.initiate(name, *fields)
            etags = [self.part(name, upload_id, number, bytes([number]) * size) for number in (1, 2)]
            etags.append(self.part(name, upload_id, 3, TEXT))
            self.complete(name, upload_id, etags)
            self.multiparts[name] = upload_id
        self.multiparts["world/started"] = started = self.initiate("world/started")
        for number in (1, 2, 5):
            self.part("world/started", started, number, TEXT[:number])


def completion(etags: list[str], numbers: list[int] | None = None) -> bytes:
    """Returns the document of a Complete."""
    numbers = numbers or list(range(1, len(etags) + 1))
    parts = "".join(
        f"<Part><PartNumber>{number}</PartNumber><ETag>{etag}</ETag></Part>"
        for number, etag in zip(numbers, etags, strict=True)
    )
    return f"<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>".encode()


def checksums(body: bytes) -> dict[str, str]:
    """Returns the body's checksums in base64, by the names of their fields."""
    digests = {
        "crc32": zlib.crc32(body).to_bytes(4, "big"),
        "crc32c": _crc(body, 0x82F63B78, 32),
        "crc64nvme": _crc(body, 0x9A6C9329AC4BC9B5, 64),
        "sha1": hashlib.sha1(body).digest(),
        "sha256": hashlib.sha256(body).digest(),
    }
    return {name: base64.b64encode(value).decode() for name, value in digests.items()}


def _crc(body: bytes, polynomial: int, bits: int) -> bytes:
    """Returns a reflected CRC, computed bit by bit, since only short bodies have one."""
    crc = ones = (1 << bits) - 1
    for byte in body:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (polynomial if crc & 1 else 0)
    return (crc ^ ones).to_bytes(bits // 8, "big")
