"""Backups that the gateway takes by itself: verified, rotated, and never half there."""

import shutil
from pathlib import Path

import pytest
from support import process
from support.commands import OK, REFUSED, offline
from support.copies import Moto, secret_file
from support.database import changing, rows
from support.faults import Clock
from support.file_systems import MIB, SmallDisk
from support.gateway import Gateway, eventually
from support.monitoring import metric
from support.parties import Fleet, unique
from support.uploads import completed, content
from support.waiting import WAIT_SECONDS

pytestmark = pytest.mark.sqlite

DAY = 86_400
PASSPHRASE = "correct horse battery"


class Scene:
    """A gateway with objects and one schedule, whose clock a test steps."""

    def __init__(self, binary, directory: Path, login, schedule: dict, objects: int = 3, size: int = 10_000):
        self.binary, self.directory = binary, directory
        self.clock = Clock(directory)
        self.root = directory / "backups"
        self.root.mkdir(exist_ok=True)
        place = {} if "kind" in schedule else {"kind": "directory", "root": str(self.root)}
        config = {"backup": {"schedules": [{"name": "nightly"} | place | schedule]}}
        self.gateway = Gateway(binary, directory, config)
        self.gateway.environment |= self.clock.environment
        self.gateway.start()
        self.user = login(self.gateway)
        self.fleet = Fleet.create(self.user)
        self.run = unique("run")
        for number in range(objects):
            completed(self.fleet.uploader(), content(size, number), {"run": self.run})

    def value(self, name: str) -> float:
        return metric(self.gateway, f"data_gateway_backup_{name}", schedule="nightly")

    def archives(self) -> list[Path]:
        return sorted(self.root.glob("nightly-*.backup"), key=lambda path: int(path.stem.split("-")[-1]))

    def unfinished(self) -> list[Path]:
        return list(self.root.glob("*.partial"))

    def ended(self) -> int:
        """Returns the number of the run that ended last, with any result."""
        return rows(self.gateway, "SELECT max(id) FROM backup_runs WHERE finished_at > 0")[0][0] or 0

    def wait(self, run: int) -> None:
        """Waits for the end of a run, and of the rotation after it."""
        eventually(lambda: self.ended() >= run and self.value("running") == 0, WAIT_SECONDS)

    def audit(self) -> list[tuple]:
        return rows(self.gateway, "SELECT target, result FROM audit WHERE action = 'ScheduledBackup' ORDER BY id")


@pytest.fixture
def scene(binary, tmp_path, login):
    scenes = []

    def make(schedule: dict, **options) -> Scene:
        scenes.append(Scene(binary, tmp_path, login, schedule, **options))
        return scenes[-1]

    yield make
    for made in scenes:
        made.gateway.close()


def verify(binary, path: Path, *options: str, code: int = OK) -> str:
    done = process.run(binary, "backup", "verify", path, *options, code=code)
    return done.stdout + done.stderr


def test_archives_are_rotated_by_number_and_the_newest_restores(binary, scene, login, tmp_path):
    here = scene({"keep": 2})
    here.wait(1)
    # The clock steps a day ahead, and far back: each causes one more backup, and the rotation only counts.
    for run, offset in enumerate((DAY, -400 * DAY, 0), start=2):
        here.clock.set(offset)
        here.wait(run)
    archives = here.archives()
    assert [int(path.stem.split("-")[-1]) for path in archives] == [3, 4]
    assert not here.unfinished()
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in archives)
    assert here.value("last_success_timestamp_seconds") > 0
    assert here.value("last_size_bytes") == archives[-1].stat().st_size
    assert here.value("failures_total") == here.value("lost_objects") == 0
    assert here.audit() == [("backups/nightly", "OK")] * 4
    assert "3 objects" in verify(binary, archives[-1])

    # A process that was killed before the rotation leaves it to the next start.
    assert here.gateway.stop() == 0
    with changing(here.gateway) as database:
        ((name,),) = database.execute("UPDATE backup_runs SET state = 2 WHERE id = 1 RETURNING archive").fetchall()
    shutil.copy(archives[0], here.root / name)
    assert len(here.archives()) == 3
    here.gateway.start()
    eventually(lambda: here.archives() == archives)

    (tmp_path / "copy").mkdir()
    copy = Gateway(binary, tmp_path / "copy")
    assert offline(binary, "restore", "--from", archives[-1], "--data-dir", copy.data)["objects"] == 3
    copy.start()
    try:
        assert len(login(copy).list_all(filter=f"raw_tags.run={here.run}")) == 3
    finally:
        copy.close()


def test_altered_and_truncated_archives_do_not_verify(binary, scene, tmp_path):
    here = scene({"objects": True})
    here.wait(1)
    archive = here.archives()[0]
    bad = tmp_path / "bad.backup"
    data = bytearray(archive.read_bytes())
    data[len(data) // 2] ^= 1
    bad.write_bytes(data)
    assert "the archive is damaged" in verify(binary, bad, code=REFUSED)
    bad.write_bytes(archive.read_bytes()[:-1])
    assert "cut off" in verify(binary, bad, code=REFUSED)
    assert "intact" in verify(binary, archive)


def test_a_full_destination_fails_the_backup_and_keeps_the_earlier_ones(binary, scene, tmp_path):
    with SmallDisk(tmp_path / "backups", 16 * MIB) as disk:
        here = scene({"keep": 1})
        here.wait(1)
        kept = {path: path.read_bytes() for path in here.archives()}
        disk.fill()
        here.clock.set(DAY)
        here.wait(2)
        assert here.value("failures_total") == 1
        assert {path: path.read_bytes() for path in here.archives()} == kept and not here.unfinished()
        assert here.audit()[-1] == ("backups/nightly", "INTERNAL")
        here.gateway.stop()


def test_a_disk_that_is_not_mounted_is_noticed(scene):
    here = scene({"keep": 1})
    here.wait(1)
    shutil.move(here.root, here.directory / "unmounted")
    here.clock.set(DAY)
    here.wait(2)
    assert here.value("failures_total") == 1 and not here.root.exists()


def test_a_kill_during_a_backup_leaves_only_verified_archives(binary, scene):
    here = scene({"keep": 3}, objects=4, size=8 * MIB)
    here.wait(1)
    here.clock.set(DAY)
    eventually(lambda: here.unfinished() or len(here.archives()) > 1, WAIT_SECONDS)
    here.gateway.kill()
    here.gateway.start()
    # The start ends the run of the earlier process, and the missed backup follows if it was not complete.
    eventually(lambda: len(here.archives()) > 1 and here.value("running") == 0 and not here.unfinished(), WAIT_SECONDS)
    for archive in here.archives():
        verify(binary, archive)
    assert here.value("last_success_timestamp_seconds") > 0


def test_encrypted_archives_in_a_bucket_are_verified_and_rotated(binary, scene, tmp_path):
    moto = Moto()
    try:
        moto.client.create_bucket(Bucket="backups")
        passphrase = Path(secret_file(tmp_path, PASSPHRASE))
        here = scene(
            {
                "kind": "s3",
                "endpoint": moto.endpoint,
                "bucket": "backups",
                "prefix": "plant-1/",
                "access_key_id": "AK",
                "secret_file": secret_file(tmp_path, "secret"),
                "part_size_bytes": 5 * MIB,
                "keep": 1,
                "passphrase_file": str(passphrase),
            },
            objects=2,
            size=4 * MIB,
        )
        here.wait(1)
        # The first backup may have begun before the objects were there.
        here.clock.set(DAY)
        here.wait(2)
        (found,) = moto.client.list_objects_v2(Bucket="backups").get("Contents")
        assert found["Key"].startswith("plant-1/nightly-") and found["Key"].endswith("-2.backup")
        assert found["Size"] == here.value("last_size_bytes") > 8 * MIB
        assert not moto.client.list_multipart_uploads(Bucket="backups").get("Uploads")
        copy = tmp_path / "fetched.backup"
        moto.client.download_file("backups", found["Key"], str(copy))
        assert "2 objects" in verify(binary, copy, "--passphrase-file", str(passphrase))
        assert "set --passphrase-file" in verify(binary, copy, code=REFUSED)
    finally:
        moto.close()
