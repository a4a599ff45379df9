"""The database of a gateway moves to a PostgreSQL server and back, and backups of it are those of a file."""

import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from engines.postgres import Server
from support import database_engine, process
from support.client import SignedIn
from support.commands import REFUSED, offline
from support.gateway import Gateway, eventually
from support.parties import Fleet, User, unique
from support.uploads import Upload, completed, content, download

pytestmark = pytest.mark.sqlite

PART_SIZE = 65536
CONFIG = {"uploads": {"part_size_bytes": PART_SIZE, "calls_per_minute": 0}}
DATA, PARTS = content(200_000), content(3 * PART_SIZE, seed=2)


@pytest.fixture(scope="module")
def postgres():
    with Server() as server:
        yield server


class Place:
    """A schema of the test's own."""

    def __init__(self, server: Server):
        self.schema = unique("copy").replace("-", "_")
        self.url = database_engine.uri(server.url("postgres"))
        self.variables = database_engine.variables(server, self.schema)

    def options(self, source, target) -> tuple[str, ...]:
        return "database", "copy", "--from", str(source), "--to", str(target), "--schema", self.schema

    def to_server(self, gateway: Gateway) -> tuple[str, ...]:
        return self.options(gateway.data, self.url)

    def to_directory(self, gateway: Gateway) -> tuple[str, ...]:
        return self.options(self.url, gateway.data)


@pytest.fixture
def place(postgres) -> Place:
    return Place(postgres)


def set_place(gateway: Gateway, place: Place | None) -> None:
    """Sets where the database of a stopped gateway is; `None` = in its data directory."""
    for name in [name for name in gateway.environment if name.startswith("DATA_GATEWAY_DATABASE__")]:
        del gateway.environment[name]
    if place:
        gateway.environment |= place.variables


class Work:
    """Objects, and an upload whose parts are stored."""

    def __init__(self, gateway: Gateway, boss: User, objects: int = 5):
        self.gateway = gateway
        self.user = boss
        self.fleet = Fleet.create(boss)
        self.uploader = self.fleet.uploader()
        for seed in range(objects):
            completed(self.uploader, content(1000, seed))
        upload = completed(self.uploader, DATA)
        (self.data_id,) = [entry.file_id for entry in boss.list_all() if entry.etag == upload.etag]
        self.ids = [entry.file_id for entry in boss.list_all()]
        self.page = boss.objects("ListObjects", page_size=2)
        self.upload = Upload.create(self.uploader)
        self.multipart = self.upload.store.initiate()
        self.upload.send_parts(PARTS, self.multipart)

    def require(self, login) -> None:
        """Everything is as before: the list, the rest of it by a page token of the time before, bytes, and the upload."""
        user = login(self.gateway)
        assert [entry.file_id for entry in user.list_all()] == self.ids
        rest = user.objects("ListObjects", page_size=100, page_token=self.page.next_page_token)
        pages = [entry.file_id for page in (self.page, rest) for entry in page.objects]
        assert pages == self.ids[: len(pages)] and len(pages) > 3
        assert download(user, self.data_id) == DATA

    def finish(self, login) -> None:
        """The device continues the upload with the token that it has, and further objects have further positions."""
        credentials = self.upload.reissued()
        self.upload.credentials = credentials
        self.upload.etag = self.upload.store.complete(self.multipart, self.upload.parts)
        self.upload.complete()
        user = login(self.gateway)
        new = {entry.file_id for entry in user.list_all()} - set(self.ids)
        assert [download(user, file_id) for file_id in new] == [PARTS]
        self.ids = [entry.file_id for entry in user.list_all()]
        self.page = user.objects("ListObjects", page_size=2)


def test_database_moves_to_a_server_and_back(binary, gateway_with, login, place):
    gateway = gateway_with(CONFIG)
    work = Work(gateway, login(gateway))
    assert gateway.stop() == 0
    done = offline(binary, *place.to_server(gateway))
    assert done["rows"] > 100 and done["tables"] > 50 and Path(done["kept_file"]).exists()
    assert done["place"].endswith(f"schema {place.schema}")
    assert not (gateway.data / "gateway.db").exists()
    with pytest.raises(AssertionError, match="is on a server"):
        gateway.start()
    set_place(gateway, place)
    gateway.start()
    work.require(login)
    work.finish(login)
    work.require(login)
    assert gateway.stop() == 0

    done = offline(binary, *place.to_directory(gateway))
    assert done["rows"] > 100 and done["tables"] > 50 and done["kept_file"] is None
    with pytest.raises(AssertionError, match="database.url names a server"):
        gateway.start()
    set_place(gateway, None)
    gateway.start()
    work.require(login)
    completed(work.fleet.uploader(), content(10))
    assert gateway.stop() == 0
    offline(binary, "doctor", "--data-dir", gateway.data, "--checksums")


def killed_often(command: list, kills: int, longest: float, is_done) -> int:
    """Kills a command after rising times, of which the last is the longest, and then lets it end.

    Returns the number of kills before its end.
    """
    count = 0
    for attempt in range(1, kills + 1):
        copy = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        try:
            copy.wait(longest * attempt / kills)
        except subprocess.TimeoutExpired:
            copy.send_signal(signal.SIGKILL)
            copy.wait()
            count += 1
        if is_done():
            return count
    assert eventually(lambda: subprocess.run(command, stdout=subprocess.DEVNULL).returncode == 0)
    return count


def test_copies_that_are_killed_are_repeated(binary, gateway_with, login, place, is_full):
    objects, kills, longest = (10_000, 20, 10) if is_full else (5, 4, 0.5)
    gateway = gateway_with(CONFIG)
    work = Work(gateway, login(gateway), objects)
    assert gateway.stop() == 0
    file = gateway.data / "gateway.db"
    counts = [killed_often([binary, *place.to_server(gateway)], kills, longest, lambda: not file.exists())]
    set_place(gateway, place)
    gateway.start()
    work.require(login)
    work.finish(login)
    assert gateway.stop() == 0
    note = gateway.data / "database"
    counts.append(killed_often([binary, *place.to_directory(gateway)], kills, longest, lambda: not note.exists()))
    set_place(gateway, None)
    gateway.start()
    work.require(login)
    assert gateway.stop() == 0
    assert all(counts), counts


@pytest.mark.parametrize("knows_place", [False, True])
def test_copy_that_ended_before_the_file_was_renamed_is_repeated(binary, gateway_with, login, place, knows_place):
    gateway = gateway_with(CONFIG)
    work = Work(gateway, login(gateway))
    assert gateway.stop() == 0
    database, note = gateway.data / "gateway.db", gateway.data / "database"
    shutil.copy(database, saved := gateway.data / "saved")
    offline(binary, *place.to_server(gateway))
    shutil.move(saved, database)
    if not knows_place:
        note.unlink()
    assert "an earlier copy had them" in process.run(binary, *place.to_server(gateway)).stdout
    place_note = note.read_text()
    offline(binary, *place.to_directory(gateway))
    assert not note.exists()
    # As if the last step had not run.
    note.write_text(place_note)
    offline(binary, *place.to_directory(gateway))
    gateway.start()
    work.require(login)


def test_copy_is_refused_while_a_gateway_serves(binary, gateway_with, login, place):
    gateway = gateway_with(CONFIG)
    Work(gateway, login(gateway))
    assert "is in use by another gateway" in process.run(binary, *place.to_server(gateway), code=REFUSED).stderr
    assert gateway.stop() == 0
    offline(binary, *place.to_server(gateway))
    set_place(gateway, place)
    gateway.start()
    assert "is in use by another gateway" in process.run(binary, *place.to_directory(gateway), code=REFUSED).stderr


def test_wrong_places_are_refused(binary, gateway_with, place, tmp_path):
    gateway = gateway_with(CONFIG)
    assert gateway.stop() == 0

    def refusal(*words: str) -> str:
        return process.run(binary, *words, code=REFUSED).stderr

    assert "must be the URL of a server" in refusal(*place.options("a", "b"))
    secret = "postgresql://u:secretword@h/d"
    message = refusal(*place.options(gateway.data, secret))
    assert "must not have a password" in message and "secretword" not in message
    assert "is not the data directory of a gateway with its database on a server" in refusal(
        *place.options(place.url, tmp_path)
    )
    assert (gateway.data / "gateway.db").exists()
    offline(binary, *place.to_server(gateway))
    other = Place.__new__(Place)
    other.__dict__ |= place.__dict__ | {"schema": "another"}
    assert "is another one (" in refusal(*other.to_directory(gateway))


def test_schema_of_another_gateway_is_refused(binary, gateway_with, login, place):
    first, second = gateway_with(CONFIG), gateway_with(CONFIG)
    completed(Fleet.create(login(first)).uploader(), DATA)
    for gateway in (first, second):
        assert gateway.stop() == 0
    offline(binary, *place.to_server(first))
    # The right to the schema that a killed program had ends after a while.
    refusals = []

    def refused() -> bool:
        refusals.append(process.run(binary, *place.to_server(second), code=REFUSED).stderr)
        return "is in use by another gateway" not in refusals[-1]

    assert eventually(refused)
    assert "has tables already, and other rows" in (message := refusals[-1])
    assert "name another schema" in message
    assert (second.data / "gateway.db").exists()
    second.start()


def test_backup_of_a_server_is_restored_into_a_directory(binary, gateway_with, login, place, tmp_path):
    gateway = gateway_with(CONFIG, place.variables)
    work = Work(gateway, login(gateway))
    operator = SignedIn(binary, gateway, tmp_path)
    archive = tmp_path / "archive"
    assert "7 objects" in operator.done("backup", "--to", str(archive)) or len(work.ids) == 6
    offline(binary, "backup", "verify", archive)
    assert gateway.stop() == 0
    (folder := tmp_path / "restored").mkdir()
    restored = Gateway(binary, folder, CONFIG)
    set_place(restored, None)
    offline(binary, "restore", "--from", archive, "--data-dir", restored.data)
    work.gateway = restored.start()
    work.require(login)
    assert restored.stop() == 0


def test_scheduled_backup_of_a_server(gateway_with, login, place, binary, tmp_path):
    folder: Path = tmp_path / "backups"
    folder.mkdir()
    schedule = {"name": "nightly", "kind": "directory", "root": str(folder)}
    gateway = gateway_with(CONFIG | {"backup": {"schedules": [schedule]}}, place.variables)
    login(gateway)
    assert eventually(lambda: list(folder.glob("nightly-*.backup")))
    offline(binary, "backup", "verify", *folder.glob("nightly-*.backup"))
