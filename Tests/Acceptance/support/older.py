"""The data directory of an older gateway, `data/0.1.0.tar.xz`: what an upgrade finds on a machine.

It was made by a program whose schema ended with `uploads-2`, before events, copies and statistics; whoever changes what a
gateway keeps makes another of the last program that did not, beside it:

    python -m support.older PROGRAM data/VERSION.tar.xz
"""

import json
import sys
import tarfile
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from . import stubs as stubs_module
from .gateway import Gateway
from .package import run
from .parties import Fleet, User
from .uploads import FILE_NAME_TAG, Upload, completed, content

ROOT = Path(__file__).resolve().parents[3]
ARCHIVE = ROOT / "Tests/Acceptance/data/0.1.0.tar.xz"
PASSWORD = "the password of an older gateway"
CONTENT = content(5000, seed=7)
TAGS = {"weather": "rain", FILE_NAME_TAG: "drive 7.mcap"}


@dataclass
class Kept:
    """What is in it, and what its callers have."""

    device_id: str
    credential: str
    #: Of the object that it completed.
    file_id: str
    etag: str
    #: Of the upload that it left with one of two parts.
    logical_upload_id: str
    upload_id: str


def unpack(directory: Path) -> Kept:
    """Fills an empty data directory."""
    run("tar", "--extract", "--xz", "--file", ARCHIVE, "--directory", directory)
    facts = directory / "kept.json"
    kept = Kept(**json.loads(facts.read_text()))
    facts.unlink()
    return kept


def make(program: Path, path: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        stubs = stubs_module.load(ROOT / "protos", Path(scratch))
        gateway = Gateway(program, Path(scratch), {"uploads": {"part_size_bytes": 65536}})
        gateway.environment = {"DATA_GATEWAY_ADMIN_PASSWORD": PASSWORD}
        try:
            admin = User.login(gateway.start(), stubs, "system", "admin", PASSWORD)
            device = Fleet.create(admin).uploader(tags={"model": "mk2"})
            completed(device, CONTENT, TAGS)
            (found,) = admin.list_all()
            under_way = Upload.create(device)
            under_way.store.upload_part(under_way.store.initiate(), 1, bytes(under_way.part_size))
            kept = Kept(
                device.device_id, device.credential, found.file_id, found.etag, under_way.logical_id, under_way.id
            )
            assert gateway.stop() == 0
        finally:
            gateway.close()
        (gateway.data / "kept.json").write_text(json.dumps(asdict(kept)))
        (gateway.data / "lock").unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        with tarfile.open(path, "w:xz") as archive:
            archive.add(gateway.data, arcname=".", filter=_anybodys)


def _anybodys(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


if __name__ == "__main__":
    make(Path(sys.argv[1]), Path(sys.argv[2]))
