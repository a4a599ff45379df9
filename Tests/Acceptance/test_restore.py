"""A restore through a running gateway: staged, checked, applied by the next start, returned from."""

import errno
import random
import shutil
from pathlib import Path

import pytest
from support.commands import REFUSED, CommandLine
from support.database import rows
from support.faults import FAIL, KILL, LINK, MKDIR, OPEN, RENAME, SYNC, UNLINK, WRITE, Faults
from support.gateway import Gateway, eventually
from support.library_archive import open_deleted_files
from support.parties import PASSWORD, Fleet, User, unique
from support.raw import fetch
from support.restores import RESTART, Refusal, Restores, ended, stored
from support.uploads import Upload, completed, content, download

pytestmark = pytest.mark.sqlite

CONFIG = {"object_store": {"min_free_bytes": 0}}
#: The calls before which a start is killed: a sample of the first four kinds, or all of all kinds with `--full`.
KINDS = {"rename": RENAME, "unlink": UNLINK, "sync": SYNC, "link": LINK, "mkdir": MKDIR, "write": WRITE, "open": OPEN}
SHORT = 4
SAMPLES = 2


class Scene:
    """A gateway with a backup of an earlier time: since then, an object and a user were added."""

    def __init__(self, binary, directory: Path, login):
        self.binary, self.directory, self.login = binary, directory, login
        self.gateway = Gateway(binary, directory, CONFIG)
        self.gateway.start()
        self.user = login(self.gateway)
        self.fleet = Fleet.create(self.user)
        self.early = [completed(self.fleet.uploader(), content(20_000, number)) for number in range(2)]
        self.command = CommandLine(binary, self.gateway, directory).login()
        self.archive = directory / "early.backup"
        self.command.json("backup", "--to", str(self.archive))
        completed(self.fleet.uploader(), content(30_000, 9))
        self.late = unique("late")
        self.user.users("CreateUser", user_name=self.late, password=PASSWORD, role="viewer")
        self.restores = Restores(self.gateway, self.user.token)

    def restart(self) -> None:
        """Starts the gateway after it has ended to be started again."""
        assert ended(self.gateway) == RESTART, self.gateway.stderr
        self.gateway.start()
        self.sign_in()

    def sign_in(self) -> None:
        self.user = self.login(self.gateway)
        self.restores = Restores(self.gateway, self.user.token)

    def sizes(self) -> list[int]:
        return sorted(found.size_bytes for found in self.user.list_all())

    def previous(self) -> Path:
        (folder,) = self.gateway.data.glob("previous-*")
        return folder


@pytest.fixture
def scene(binary, tmp_path, login):
    scene = Scene(binary, tmp_path, login)
    yield scene
    scene.gateway.close()


def test_an_archive_replaces_the_data_and_the_previous_ones_come_back(scene):
    assert scene.restores.state() == {}
    archive = scene.restores.stage(scene.archive)
    assert archive["isOfThisGateway"] and archive["hasObjects"]
    assert archive["sizeBytes"] == str(scene.archive.stat().st_size)
    summary = {"organizations": "1", "users": "1", "sites": "1", "devices": "2", "objects": "2", "objectBytes": "40000"}
    shown = {name: archive["content"][name] for name in summary}
    assert shown == summary
    assert archive["present"]["objects"] == "3"
    lacking = archive["lacking"]
    assert (lacking["objects"], lacking["objectBytes"], lacking["users"], lacking["devices"]) == (
        "1",
        "30000",
        "1",
        "1",
    )
    assert "organizations" not in lacking
    # Until it is applied, an archive changes nothing, and a restart of the gateway keeps it.
    assert scene.sizes() == [20_000, 20_000, 30_000]
    scene.gateway.stop()
    scene.gateway.start()
    assert scene.restores.state()["archive"]["stagingId"] == archive["stagingId"]

    with pytest.raises(Refusal) as wrong:
        scene.restores.apply(archive, "not the password")
    assert (wrong.value.status, wrong.value.message) == (403, "the current password is wrong")
    scene.restores.apply(archive)
    scene.restart()
    assert scene.sizes() == [20_000, 20_000]
    assert {download(scene.user, found.file_id) for found in scene.user.list_all()} == {
        content(20_000, 0),
        content(20_000, 1),
    }
    state = scene.restores.state()
    assert "archive" not in state
    last = state["lastRestore"]
    assert (last["objects"], last["quarantinedFiles"], last["requestedBy"]) == ("2", "1", "user:system/admin")
    assert last["backupTime"] == archive["backupTime"] and not last.get("failure")
    # The previous data are whole, beside the restored ones.
    assert {size for _, size in stored(scene.previous())} == {20_000, 30_000}
    assert rows(scene.previous(), "SELECT name FROM users WHERE name = ?", scene.late)
    assert not (scene.gateway.data / "restore/archive").exists() and not (scene.gateway.data / "restore/new").exists()
    (line,) = rows(scene.gateway.data, "SELECT target, result FROM audit WHERE action = 'Restore'")
    assert line[0].startswith("backups/20") and line[1] == "OK"

    # A second restore waits for the decision on the previous data.
    again = scene.restores.stage(scene.archive)
    with pytest.raises(Refusal, match="previous data of an earlier restore"):
        scene.restores.apply(again)
    scene.restores.return_to_previous()
    scene.restart()
    assert scene.sizes() == [20_000, 20_000, 30_000]
    assert scene.late in {user.user_name for user in scene.user.users("ListUsers").users}
    assert "backupTime" not in scene.restores.state()["lastRestore"]
    # What is uploaded now, and the deletion of the other data, do not affect each other.
    completed(Fleet.create(scene.user).uploader(), content(1234))
    scene.restores.delete_previous()
    assert not list(scene.gateway.data.glob("previous-*"))
    eventually(lambda: not list((scene.gateway.data / "restore").glob("deleted-*")))
    assert scene.sizes() == [1234, 20_000, 20_000, 30_000]
    assert {len(download(scene.user, found.file_id)) for found in scene.user.list_all()} == {1234, 20_000, 30_000}
    assert scene.gateway.stop() == 0


def test_an_archive_of_another_gateway_replaces_everything(binary, scene, gateway_with, login, tmp_path):
    other = gateway_with(CONFIG)
    user = login(other)
    completed(Fleet.create(user).uploader(), content(777))
    (tmp_path / "other").mkdir()
    sealed, passphrase = tmp_path / "other.backup", tmp_path / "passphrase"
    passphrase.write_text("correct horse battery\n")
    CommandLine(binary, other, tmp_path / "other").login().json(
        "backup", "--to", str(sealed), "--passphrase-file", str(passphrase)
    )
    for given, message in ("", "must not be empty"), ("something else", "the passphrase is wrong"):
        with pytest.raises(Refusal, match=message):
            scene.restores.stage(sealed, given)
    # Without the objects' data, an archive fits no other store.
    bare = tmp_path / "bare.backup"
    CommandLine(binary, other, tmp_path / "other").login().json("backup", "--to", str(bare), "--without-objects")
    with pytest.raises(Refusal, match="does not have its store"):
        scene.restores.stage(bare)
    archive = scene.restores.stage(sealed, "correct horse battery")
    assert "isOfThisGateway" not in archive
    assert (archive["content"]["objects"], archive["lacking"]["objects"]) == ("1", "3")
    scene.restores.apply(archive)
    scene.restart()
    assert scene.sizes() == [777]
    assert {size for _, size in stored(scene.previous())} == {20_000, 30_000}
    # Now the store has them.
    archive = scene.restores.stage(bare)
    assert archive["isOfThisGateway"] and "hasObjects" not in archive
    scene.restores.delete_previous()
    scene.restores.apply(archive)
    scene.restart()
    assert [len(download(scene.user, found.file_id)) for found in scene.user.list_all()] == [777]


def test_a_wrong_or_broken_archive_changes_nothing(scene, tmp_path):
    whole = scene.archive.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 1
    cases = {
        b"": "not an archive",
        b"hello, world" * 9: "not an archive",
        whole[:-1]: "cut off",
        whole[: len(whole) // 3]: "cut off",
        bytes(flipped): "damaged",
        whole + b"x": "bytes after its end",
        b"data-gateway backup 9\n" + whole[22:]: "newer data-gateway",
    }
    before = {path.name for path in scene.gateway.data.iterdir()} | {"restore"}
    empty = tmp_path / "empty"
    empty.write_bytes(b"")
    for number, (data, message) in enumerate(cases.items()):
        bad = tmp_path / f"bad-{number}"
        bad.write_bytes(data)
        staging_id = scene.restores.begin()
        # The second time, the reason is repeated for a client that has not received it.
        for attempt in bad, empty:
            with pytest.raises(Refusal, match=message) as refusal:
                scene.restores.upload(staging_id, attempt)
            assert refusal.value.status == 400, refusal.value
        assert scene.restores.state() == {}
        assert not list((scene.gateway.data / "restore").glob("*")), message
    assert {path.name for path in scene.gateway.data.iterdir()} == before
    archive = scene.restores.stage(scene.archive)
    scene.restores.discard(archive["stagingId"])
    assert scene.restores.state() == {} and not list((scene.gateway.data / "restore").glob("*"))
    with pytest.raises(Refusal) as refusal:
        scene.restores.apply(archive)
    assert refusal.value.status == 404
    assert scene.sizes() == [20_000, 20_000, 30_000]


def interrupted_upload(scene, staging_id: str, first: int, end: int) -> None:
    """Sends these bytes of the scene's archive, and loses the connection."""
    scene.restores.deliver(staging_id, scene.archive, first, end).close()
    arriving = {"stagingId": staging_id, "receivedBytes": str(end), "isInterrupted": True}
    eventually(lambda: scene.restores.state()["arriving"] == arriving)


@pytest.mark.parametrize("passphrase", ["", "a passphrase of some length"])
def test_an_interrupted_upload_continues_where_its_bytes_end(scene, tmp_path, passphrase):
    if passphrase:
        (tmp_path / "passphrase").write_text(passphrase)
        scene.archive = tmp_path / "sealed.backup"
        scene.command.json("backup", "--to", str(scene.archive), "--passphrase-file", str(tmp_path / "passphrase"))
    whole = scene.archive.read_bytes()
    staging_id = scene.restores.begin(passphrase)
    ends = [len(whole) // 3, len(whole) // 3 + 1, len(whole)]
    for first, end in zip([0, *ends], ends, strict=False):
        interrupted_upload(scene, staging_id, first, end)
        for wrong in "", f"?offset={end - 1}", f"?offset={end + 1}", "?offset=-1":
            with pytest.raises(Refusal, match=f"offset must be {end}") as refusal:
                scene.restores.upload(staging_id, scene.archive, wrong)
            assert refusal.value.status == 409
    (tmp_path / "nothing").write_bytes(b"")
    archive = scene.restores.upload(staging_id, tmp_path / "nothing", f"?offset={len(whole)}")
    assert scene.restores.state() == {"archive": archive}
    assert archive["content"]["objects"] == ("3" if passphrase else "2")


def test_an_archive_is_discarded_while_it_arrives(scene):
    staging_id = scene.restores.begin()
    connection = scene.restores.deliver(staging_id, scene.archive, 0, 20_000)
    with pytest.raises(Refusal, match="^400: another archive is being uploaded or removed: try again later"):
        scene.restores.begin()
    with pytest.raises(Refusal, match="^409: another call is delivering the archive: try again later"):
        scene.restores.upload(staging_id, scene.archive)
    scene.restores.discard(staging_id)
    assert scene.restores.state() == {} and not list((scene.gateway.data / "restore").glob("*"))
    # The call that delivers the bytes learns of it with its next ones.
    connection.send(scene.archive.read_bytes()[20_000:] + b"x")
    response = connection.getresponse()
    assert response.status == 409 and b"the archive was discarded" in response.read()
    connection.close()
    assert scene.restores.stage(scene.archive)


def test_a_new_archive_and_a_restart_take_the_place_of_an_interrupted_upload(scene):
    replaced = scene.restores.begin()
    interrupted_upload(scene, replaced, 0, 20_000)
    lost = scene.restores.begin()
    with pytest.raises(Refusal, match="^404: .*stage it again"):
        scene.restores.upload(replaced, scene.archive, "?offset=20000")
    interrupted_upload(scene, lost, 0, 10_000)
    # The first one's thread has ended.
    assert not [name for name in open_deleted_files(scene.gateway) if "archive.partial" in name]
    scene.gateway.stop()
    scene.gateway.start()
    scene.sign_in()
    assert scene.restores.state() == {} and not list((scene.gateway.data / "restore").glob("*"))
    for staging_id in replaced, lost:
        with pytest.raises(Refusal, match="stage it again") as refusal:
            scene.restores.upload(staging_id, scene.archive, "?offset=20000")
        assert refusal.value.status == 404


def test_only_admins_of_system_restore(scene, stubs):
    scene.user.create_organization("acme")
    operator = unique("operator")
    scene.user.users("CreateUser", user_name=operator, password=PASSWORD, role="operator")
    for organization, name in ("acme", "boss"), ("system", operator):
        user = User.login(scene.gateway, stubs, organization, name, PASSWORD)
        restores = Restores(scene.gateway, user.token)
        for attempt in (restores.state, restores.delete_previous, lambda: restores.stage(scene.archive)):
            with pytest.raises(Refusal) as refusal:
                attempt()
            assert refusal.value.status == 403
    stranger = fetch(scene.gateway.listeners["web"], "PUT", f"/v1/restore/archives/{'0' * 32}", b"x" * 100)
    assert stranger.status == 401


def test_commands_refuse_a_directory_with_a_requested_restore(binary, scene):
    scene.restores.apply(scene.restores.stage(scene.archive))
    assert ended(scene.gateway) == RESTART
    for arguments in (
        ("doctor", "--data-dir", scene.gateway.data),
        ("restore", "--from", scene.archive, "--data-dir", scene.gateway.data),
    ):
        message = scene.command.refused(REFUSED, *map(str, arguments))
        assert "start the gateway, which completes it" in message
    scene.gateway.start()
    scene.sign_in()
    assert scene.sizes() == [20_000, 20_000]


class Start:
    """The start of a gateway with a requested restore, repeated on copies of one data directory."""

    def __init__(self, scene: Scene):
        archive = scene.restores.stage(scene.archive)
        scene.restores.apply(archive)
        assert ended(scene.gateway) == RESTART
        self.scene, self.gateway, self.count = scene, scene.gateway, 0
        self.template = scene.directory / "template"
        self.gateway.data.rename(self.template)
        self.old = stored(self.template)
        self.new = {(file_id, size) for file_id, size in self.old if size == 20_000}

    def prepare(self) -> Faults:
        """Makes the state before the start, with faults that are disarmed."""
        self.count += 1
        shutil.rmtree(self.gateway.data, ignore_errors=True)
        shutil.copytree(self.template, self.gateway.data)
        folder = self.scene.directory / f"faults-{self.count}"
        folder.mkdir()
        faults = Faults(folder, self.gateway.data)
        self.gateway.environment |= faults.environment
        return faults

    def calls(self, kind: int) -> int:
        """Returns the number of calls of a kind in a start without faults."""
        faults = self.prepare()
        faults.arm(kind, 0, 0)
        self.gateway.start()
        count = faults.counted
        self.gateway.kill()
        return count

    def fail(self, faults: Faults, kind: int, number: int, error: int, action: int, path: str = "") -> bool:
        """Starts the gateway with a fault, and returns whether it serves."""
        faults.arm(kind, number, error, path=path, action=action)
        try:
            self.gateway.start()
        except AssertionError:
            faults.disarm()
            return False
        faults.disarm()
        return True

    def assert_is_old_until_the_switch(self) -> None:
        """Checks that without the file `switch` nothing outside of `restore` differs from the state before the start."""
        if (self.gateway.data / "restore/switch").exists() or list(self.gateway.data.glob("previous-*")):
            return
        assert stored(self.gateway.data) == self.old

    def assert_is_whole(self) -> str:
        """Checks that a running gateway has either the old or the new data and says which, and returns which."""
        self.scene.sign_in()
        served = {(found.file_id, found.size_bytes) for found in self.scene.user.list_all()}
        for file_id, size in served:
            assert len(download(self.scene.user, file_id)) == size
        last = self.scene.restores.state()["lastRestore"]
        if last.get("failure"):
            assert served == self.old and not list(self.gateway.data.glob("previous-*")), last
        else:
            assert served == self.new, last
            assert stored(self.scene.previous()) == self.old
        assert not (self.gateway.data / "restore/request").exists()
        assert not (self.gateway.data / "restore/switch").exists()
        assert not (self.gateway.data / "restore/new").exists()
        return "old" if last.get("failure") else "new"


@pytest.mark.parametrize("kind", KINDS)
def test_a_kill_at_any_step_leaves_the_old_or_the_new_data(scene, kind, is_full):
    if not is_full and kind not in list(KINDS)[:SHORT]:
        pytest.skip("with --full")
    start = Start(scene)
    calls = start.calls(KINDS[kind])
    assert calls > 0, "the start makes no such call"
    numbers = range(1, calls + 1)
    lots = random.Random(kind)
    for number in numbers if is_full else sorted(lots.sample(numbers, min(SAMPLES, calls))):
        faults = start.prepare()
        faults.journal = 1 if number % 2 else 0
        if start.fail(faults, KINDS[kind], number, 0, KILL):
            # A call of a thread that works beside the first requests.
            start.gateway.kill()
        if faults.journal:
            faults.cut_power(lots)
        start.assert_is_old_until_the_switch()
        start.gateway.start()
        assert start.assert_is_whole() == "new", (kind, number)
        start.gateway.kill()


def test_a_failed_restore_keeps_the_old_data_and_says_why(scene, is_full):
    start = Start(scene)
    cases = [
        (LINK, 1, errno.EPERM, "store/data"),
        (WRITE, 3, errno.ENOSPC, "restore/new"),
        (MKDIR, 1, errno.ENOSPC, "restore/new"),
        (RENAME, 1, errno.EBUSY, "previous-"),
        (RENAME, 2, errno.EIO, "previous-"),
        (RENAME, 1, errno.EIO, "restore/switch"),
    ]
    for kind, number, error, path in cases:
        faults = start.prepare()
        # A thread of the start may fail instead, after which the gateway is started again.
        if not start.fail(faults, kind, number, error, FAIL, path):
            start.gateway.start()
        assert start.assert_is_whole() == "old", (kind, number, path)
        last = scene.restores.state()["lastRestore"]
        assert last["failure"] and last["backupTime"], last
        assert scene.restores.state()["archive"], "the archive can be applied again"
        (line,) = rows(start.gateway.data, "SELECT result FROM audit WHERE action = 'Restore'")
        assert line == ("FAILED",)
        start.gateway.kill()
    # The reason has passed: the same archive is applied.
    start.gateway.start()
    scene.sign_in()
    scene.restores.apply(scene.restores.state()["archive"])
    assert ended(start.gateway) == RESTART
    start.gateway.start()
    assert start.assert_is_whole() == "new"


def test_a_damaged_staged_archive_is_noticed_by_the_start(scene):
    start = Start(scene)
    start.prepare()
    staged = start.gateway.data / "restore/archive"
    data = bytearray(staged.read_bytes())
    data[len(data) // 2] ^= 1
    staged.write_bytes(data)
    start.gateway.start()
    assert start.assert_is_whole() == "old"
    assert "the archive is damaged" in scene.restores.state()["lastRestore"]["failure"]


def test_uploads_continue_until_the_restart_and_are_kept(scene):
    archive = scene.restores.stage(scene.archive)
    upload = Upload.create(scene.fleet.uploader())
    data = content(4321)
    upload.put(data)
    upload.complete({"run": "during"})
    scene.restores.apply(archive)
    scene.restart()
    (quarantined,) = {
        path for path in (scene.gateway.data / "store/quarantine").iterdir() if path.stat().st_size == 4321
    }
    assert quarantined.read_bytes() == data
    assert scene.sizes() == [20_000, 20_000]
