"""The data of older gateways, `older/VERSION.json`, as an upgrade finds them.

`0.1.0` is of a program whose schema ended with `uploads-2`, before events, copies and statistics. Every release adds
its own:

    cd Tests/Acceptance && ../../.venv/bin/python -m support.older PROGRAM older/VERSION.json

They contain no secrets: the root key is publicly known, and so is the device's credential.
"""

import base64
import hashlib
import hmac
import json
import sqlite3
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from . import stubs as stubs_module
from .database import changing
from .gateway import Gateway
from .parties import Fleet, User
from .uploads import FILE_NAME_TAG, Upload, completed, content

TESTS = Path(__file__).resolve().parents[1]
ROOT_KEY, SECRET = bytes(32), bytes(30)
PASSWORD = "the password of an older gateway"
CONTENT = content(5000, seed=7)
PART = bytes(65536)
TAGS = {"weather": "rain", FILE_NAME_TAG: "drive 7.mcap"}


@dataclass
class Kept:
    """The contents of an export, and the credentials of its callers."""

    device_id: str
    credential: str
    #: The id of the object that the device completed.
    file_id: str
    etag: str
    #: The upload that it left with one of two parts.
    logical_upload_id: str
    upload_id: str


def versions() -> list[str]:
    return sorted(path.stem for path in (TESTS / "older").glob("*.json"))


def unpack(version: str, directory: Path) -> Kept:
    """Fills an empty data directory."""
    older = json.loads((TESTS / f"older/{version}.json").read_text())
    _write(directory / "keys/root", ROOT_KEY)
    for name, text in older["files"].items():
        _write(directory / name, text.encode())
    for name in older["objects"]:
        _write(directory / name, CONTENT)
        (directory / name).chmod(0o400)
    for name in older["parts"]:
        _write(directory / name, PART)
    with changing(directory) as database:
        database.executescript("\n".join(older["database"]))
    (directory / "gateway.db").chmod(0o600)
    return Kept(**older["kept"])


def _write(path: Path, data: bytes) -> None:
    for folder in reversed(path.parents):
        if not folder.exists():
            folder.mkdir(0o700)
    path.write_bytes(data)
    path.chmod(0o600)


def take(program: Path, path: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        stubs = stubs_module.load(TESTS.parents[1] / "protos", Path(scratch))
        gateway = Gateway(program, Path(scratch), {"uploads": {"part_size_bytes": len(PART)}})
        gateway.environment = {"DATA_GATEWAY_ADMIN_PASSWORD": PASSWORD}
        _write(gateway.data / "format", b"1\n")
        _write(gateway.data / "keys/root", ROOT_KEY)
        try:
            admin = User.login(gateway.start(), stubs, "system", "admin", PASSWORD)
            device = Fleet.create(admin).uploader(tags={"model": "mk2"})
            completed(device, CONTENT, TAGS)
            (found,) = admin.list_all()
            under_way = Upload.create(device)
            under_way.store.upload_part(under_way.store.initiate(), 1, PART)
            assert gateway.stop() == 0
        finally:
            gateway.close()
        with changing(gateway) as database:
            credential = _publish(database)
            dump = list(database.iterdump())
        kept = Kept(device.device_id, credential, found.file_id, found.etag, under_way.logical_id, under_way.id)
        files = sorted(file.relative_to(gateway.data) for file in gateway.data.rglob("*") if file.is_file())
        data = [file for file in files if file.parts[:2] == ("store", "data")]
        text = [file for file in files if file not in data and file.parts[0] in ("format", "store")]
        older = {
            "kept": asdict(kept),
            "files": {str(file): (gateway.data / file).read_text() for file in text},
            "objects": [str(file) for file in data if file.name == found.file_id],
            "parts": [str(file) for file in data if file.name != found.file_id],
            "database": dump,
        }
        path.write_text(json.dumps(older, indent=1) + "\n")


def _publish(database: sqlite3.Connection) -> str:
    """Gives the only API key a publicly known credential, and removes all sessions.

    A credential is its kind, its id and 30 bytes in Base64; the database stores its digest, keyed by a key from the
    root key.
    """
    ((id,),) = database.execute("SELECT id FROM api_keys")
    kind = "dgwk"
    pepper = hmac.digest(ROOT_KEY, b"data-gateway pepper 1\x01", hashlib.sha256)
    digest = hmac.digest(pepper, f"{kind} {id} ".encode() + SECRET, hashlib.sha256)
    database.execute("UPDATE api_keys SET digest = ?", (digest,))
    database.execute("DELETE FROM refresh_tokens")
    database.commit()
    return base64.b64encode(base64.b64decode(kind) + id.encode() + SECRET).decode()


if __name__ == "__main__":
    take(Path(sys.argv[1]), Path(sys.argv[2]))
