"""The destinations of copy jobs of a test: a folder, moto's S3 and another gateway, and some that fail."""

import contextlib
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from . import s3
from .copies import Copies, Moto, secret_file
from .gateway import Gateway
from .oss import Credentials
from .parties import Fleet, User, unique
from .ports import free_port
from .uploads import MIB, Upload

#: The smallest part size of a destination.
PART_SIZE = 5 * MIB
SECRET = "a secret of the second gateway"
INVALID = "DATA_GATEWAY_INVALID_ARGUMENT"


@dataclass
class Place:
    """A gateway with objects, and the destinations of its copy jobs."""

    gateway: Gateway
    admin: User
    fleet: Fleet
    folder: Path
    endpoints: dict[str, dict]
    moto: Moto
    second: Gateway

    def __post_init__(self):
        self.copies = Copies(self.admin)
        self.uploader = self.fleet.uploader()

    def upload(self, data: bytes, uploader=None, user: User | None = None) -> str:
        """Uploads a new object and returns its file id."""
        run = unique("run")
        upload = Upload.create(uploader or self.uploader)
        (upload.multipart if data else upload.put)(data).complete({"run": run})
        (found,) = (user or self.admin).list_all(filter=f"raw_tags.run={run}")
        return found.file_id

    def destination(self, name: str, template: str) -> dict:
        return self.endpoints[name] | {"key_template": template}

    def found(self, name: str, key: str) -> bytes | None:
        """Returns the content of a destination under a key."""
        if name == "folder":
            path = self.folder / key
            return path.read_bytes() if path.exists() else None
        client, bucket = self._client(name)
        try:
            return client.get_object(Bucket=bucket, Key=key)["Body"].read()
        except client.exceptions.NoSuchKey:
            return None

    def _client(self, name: str):
        """Returns a client of a bucket, and its name."""
        if name == "moto":
            return self.moto.client, "copies"
        credentials = Credentials(
            "data", f"http://{self.second.object_store}", "", "COPIER", SECRET, None, "", PART_SIZE
        )
        return s3.client(credentials), "data"

    def put(self, name: str, key: str, data: bytes) -> None:
        """Writes content to a destination that no copy job wrote."""
        if name == "folder":
            (self.folder / key).write_bytes(data)
        else:
            client, bucket = self._client(name)
            client.put_object(Bucket=bucket, Key=key, Body=data)


def _second_gateway(gateway_with, secrets: Path) -> Gateway:
    """Returns another gateway, with a static key that may write below `copies/`."""
    key = {
        "id": "COPIER",
        "secret_file": secret_file(secrets, SECRET),
        "prefix": "copies/",
        "access": "write",
    }
    return gateway_with({"object_store": {"static_keys": [key]}})


@contextlib.contextmanager
def _moto() -> Iterator[Moto]:
    server = Moto()
    try:
        server.client.create_bucket(Bucket="copies")
        yield server
    finally:
        server.close()


@contextlib.contextmanager
def _silent() -> Iterator[str]:
    """The endpoint of a server that accepts connections and never responds."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


@contextlib.contextmanager
def open_place(gateway_with, login, tmp_path_factory) -> Iterator[Place]:
    """Makes a place with destinations of each kind, and some that fail."""
    second = _second_gateway(gateway_with, tmp_path_factory.mktemp("secrets"))
    with _moto() as moto, _silent() as silent:
        folder, secrets = tmp_path_factory.mktemp("folder"), tmp_path_factory.mktemp("keys")
        right = {"access_key_id": "COPIER", "secret_file": secret_file(secrets, SECRET), "part_size_bytes": PART_SIZE}
        wrong = right | {"secret_file": secret_file(secrets, "another")}
        store = f"http://{second.object_store}"
        alias = store.replace("127.0.0.1", "localhost")
        destinations = {
            "folder": {"kind": "directory", "root": str(folder)},
            "moto": {"kind": "s3", "endpoint": moto.endpoint, "bucket": "copies"} | right,
            "no bucket": {"kind": "s3", "endpoint": moto.endpoint, "bucket": "absent"} | right,
            "oss": {"kind": "oss", "endpoint": store, "bucket": "data"} | right,
            "s3": {"kind": "s3", "endpoint": alias, "bucket": "data"} | right,
            "wrong secret": {"kind": "oss", "endpoint": store, "bucket": "another"} | wrong,
            "nobody": {"kind": "s3", "endpoint": f"http://127.0.0.1:{free_port()}", "bucket": "copies"} | right,
            "silent": {"kind": "s3", "endpoint": silent, "bucket": "copies"} | right,
        }
        gateway = gateway_with(
            {
                "uploads": {"part_size_bytes": MIB},
                "copy": {"destinations": list(destinations.values()), "retry_seconds": 2, "workers": 6},
            }
        )
        endpoints = {
            name: {"endpoint": f"file://{configured['root']}"}
            if name == "folder"
            else {"endpoint": configured["endpoint"], "bucket": configured["bucket"]}
            for name, configured in destinations.items()
        }
        admin = login(gateway)
        yield Place(gateway, admin, Fleet.create(admin), folder, endpoints, moto, second)


def new_prefix() -> str:
    """Returns the prefix of a test's own keys; the second gateway's static key is limited to it."""
    return f"copies/{unique('test')}"
