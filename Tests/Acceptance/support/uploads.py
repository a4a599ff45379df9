"""An upload from its creation to its completion, by a client of both planes."""

import itertools
import random
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

from .oss import CLIENTS, Credentials, Part
from .parties import Uploader, User, unique
from .raw import fetch_url
from .waiting import WAIT_SECONDS

#: The key of the tag in which clients send the source file's name.
MIB = 1024 * 1024
FILE_NAME_TAG = "a206e337ecdf70a93bb611cf6a30c346.raw_file"


def content(size: int, seed: int = 1) -> bytes:
    """Returns random-looking bytes, the same for the same seed."""
    return random.Random(seed).randbytes(size)


#: Seeds for contents that no other test has: a device does not upload the same file twice.
fresh_seeds = itertools.count(1_000_000)


@dataclass
class Upload:
    """One attempt: the response of CreateLogicalUpload, and a client of the store with its credentials."""

    uploader: Uploader
    logical_id: str
    id: str
    credentials: Credentials
    client: str = "alibabacloud-v4"
    size: int = 0
    parts: list[Part] = field(default_factory=list)
    etag: str = ""

    @classmethod
    def create(cls, uploader: Uploader, client: str = "alibabacloud-v4", restart_from: str = "") -> "Upload":
        return cls.of(uploader, uploader.create(restart_from), client)

    @classmethod
    def of(cls, uploader: Uploader, reply, client: str = "alibabacloud-v4") -> "Upload":
        """Makes it from the response of CreateLogicalUpload."""
        return cls(uploader, reply.logical_upload_id, reply.upload_id, Credentials.of(reply.credentials), client)

    @property
    def store(self):
        """Returns a client of the store with the issued credentials."""
        return CLIENTS[self.client](self.credentials)

    @property
    def part_size(self) -> int:
        return self.credentials.part_size

    def put(self, data: bytes) -> "Upload":
        """Stores the object in one request (PutObject)."""
        self.size, self.parts, self.etag = len(data), [], self.store.put(data).etag
        return self

    def send_parts(self, data: bytes, multipart_id: str) -> "Upload":
        """Sends the data in parts of the issued size."""
        pieces = [data[start : start + self.part_size] for start in range(0, len(data), self.part_size)]
        self.size = len(data)
        self.parts = [
            self.store.upload_part(multipart_id, number, piece) for number, piece in enumerate(pieces, start=1)
        ]
        return self

    def multipart(self, data: bytes) -> "Upload":
        """Stores the object in parts and completes it in the store."""
        store = self.store
        multipart_id = store.initiate()
        self.send_parts(data, multipart_id)
        self.etag = store.complete(multipart_id, self.parts)
        return self

    def complete(self, tags: dict[str, str] | None = None, **changed):
        """Calls CompleteUpload with the uploaded values, except for the given fields."""
        fields = {
            "file_size": self.size,
            "raw_tags": tags or {},
            "completed_part_count": len(self.parts),
            "oss_object_etag": self.etag,
            "part_size_bytes": self.part_size,
        }
        return self.uploader.complete(self.id, **(fields | changed))

    def recovery(self):
        return self.uploader.recovery(self.logical_id)

    def reissued(self) -> Credentials:
        """Returns new credentials for the same attempt."""
        return Credentials.of(self.uploader.reissue(self.id).credentials)


def completed(uploader: Uploader, data: bytes, tags: dict[str, str] | None = None) -> Upload:
    """Makes a complete upload of a small file: PUT, then CompleteUpload."""
    upload = Upload.create(uploader).put(data)
    upload.complete(tags)
    return upload


def added(user: User, uploader: Uploader, data: bytes, tags: dict[str, str] | None = None):
    """Uploads an object, and returns its entry in ListObjects."""
    upload = completed(uploader, data, {"run": (run := unique("run"))} | (tags or {}))
    (found,) = user.list_all(filter=f"raw_tags.run={run}")
    assert found.etag == upload.etag
    return found


def download(user: User, file_id: str) -> bytes:
    """Downloads an object as a user does."""
    (location,) = user.objects("RequestDownload", file_ids=[file_id]).files
    return fetch_url(location.read.uri, headers=dict(location.read.headers)).body


def is_stored(user: User, file_id: str, path: Path) -> bool:
    """Downloads an object, and returns whether it has the bytes of a file, neither of which need fit into memory."""
    with path.open("rb") as file, urllib.request.urlopen(location(user, file_id), timeout=WAIT_SECONDS) as reply:
        while piece := reply.read(MIB):
            if file.read(len(piece)) != piece:
                return False
        return not file.read(1)


def location(user: User, file_id: str) -> str:
    """Returns the presigned URL of a download."""
    return user.objects("RequestDownload", file_ids=[file_id]).files[0].read.uri
