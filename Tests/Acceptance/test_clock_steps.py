"""A gateway whose clock is set by more than a year: it deletes nothing that it should keep, and in the end deletes
all old data.
"""

import time

import pytest
from support.commands import CommandLine
from support.faults import Clock
from support.gateway import Gateway, eventually
from support.monitoring import log, metric
from support.parties import Fleet, unique
from support.uploads import Upload, completed, content

DAY = 86_400
STEP = 400 * DAY
PART = 65_536
RETENTION_DAYS = 30
OBJECTS = 5


class Scene:
    """A gateway with objects, a retention, and an upload in progress with one part."""

    def __init__(self, binary, directory, stubs, login):
        self.binary, self.directory, self.stubs, self.login = binary, directory, stubs, login
        self.clock = Clock(directory)
        self.gateway = Gateway(binary, directory, {"uploads": {"part_size_bytes": PART}})
        self.gateway.environment = self.clock.environment
        self.gateway.start()
        self.run = unique("run")
        self.user = login(self.gateway)
        self.fleet = Fleet.create(self.user)
        self.user.object_management("SetRetention", days=RETENTION_DAYS)
        for _ in range(OBJECTS):
            self.add()
        self.begin()

    def add(self) -> None:
        completed(self.fleet.uploader(), b"object", {"run": self.run})

    def begin(self) -> None:
        """Begins an upload with one acknowledged part."""
        self.upload = Upload.create(self.fleet.uploader())
        self.multipart = self.upload.store.initiate()
        self.data = content(PART)
        self.upload.send_parts(self.data, self.multipart)

    def finish(self) -> None:
        """Completes the upload with its part, whatever the time."""
        upload = self.upload
        upload.uploader.sign_in()
        recovery = upload.recovery()
        assert recovery.next_action == self.stubs.gateway.UPLOAD_RECOVERY_ACTION_CONTINUE
        upload.credentials = upload.reissued()
        upload.etag = upload.store.complete(self.multipart, upload.parts)
        upload.complete({"run": self.run})

    def sweep(self) -> None:
        """Restarts the gateway, which sweeps at once, and waits for the end of the sweep: empty usage rows are swept last."""
        uploader = self.fleet.uploader()
        upload = Upload.create(uploader)
        upload.send_parts(b"1", upload.store.initiate())
        uploader.abort(upload.logical_id)
        self.restart()

    def restart(self) -> None:
        self.gateway.stop()
        self.gateway.start()
        eventually(lambda: metric(self.gateway, "data_gateway_swept_total", kind="usage") > 0)

    def objects(self) -> int:
        return len(self.login(self.gateway).list_all(filter=f"raw_tags.run={self.run}"))

    @property
    def is_paused(self) -> bool:
        return metric(self.gateway, "data_gateway_deletions_paused") == 1

    def command(self) -> CommandLine:
        return CommandLine(self.binary, self.gateway, self.directory).login()


@pytest.fixture
def scene(binary, tmp_path, stubs, login):
    scene = Scene(binary, tmp_path, stubs, login)
    yield scene
    scene.gateway.close()


@pytest.mark.parametrize("step", [STEP, -STEP])
def test_a_step_for_seconds_deletes_nothing(scene, step):
    scene.clock.set(step)
    eventually(lambda: scene.is_paused)
    assert metric(scene.gateway, "data_gateway_clock_step_seconds") == pytest.approx(step, abs=60)
    scene.fleet = Fleet.create(scene.login(scene.gateway))
    scene.sweep()
    assert scene.is_paused and scene.objects() == OBJECTS
    scene.clock.set(0)
    eventually(lambda: not scene.is_paused)
    scene.fleet = Fleet.create(scene.login(scene.gateway))
    scene.sweep()
    assert scene.objects() == OBJECTS
    scene.finish()
    assert scene.objects() == OBJECTS + 1
    steps = [line for line in log(scene.gateway) if line["event"].startswith("the clock stepped")]
    assert [line["level"] for line in steps] == ["warning", "info"]


def test_a_late_clock_catches_up(scene):
    scene.clock.set(STEP)
    eventually(lambda: scene.is_paused)
    # The boot clock advances by twelve hours, and the wall clock with it.
    hours = 12 * 3600 + 60
    scene.clock.set(STEP + hours, hours)
    eventually(lambda: not scene.is_paused)
    scene.fleet = Fleet.create(scene.login(scene.gateway))
    scene.sweep()
    # These were created minutes before the clock stepped: by the boot clock they are half a day old.
    assert scene.objects() == OBJECTS
    month = hours + (RETENTION_DAYS + 1) * DAY
    scene.clock.set(STEP + month, month)
    scene.fleet = Fleet.create(scene.login(scene.gateway))
    scene.sweep()
    assert scene.objects() == 0


def test_an_absence_is_confirmed_by_an_operator(scene):
    # The machine is off for more than a year: its boot clock starts again.
    scene.gateway.stop()
    scene.clock.set(STEP, 60 - int(time.clock_gettime(time.CLOCK_BOOTTIME)))
    scene.gateway.start()
    assert scene.is_paused and scene.objects() == OBJECTS
    command = scene.command()
    shown = command.json("clock", "show")
    assert not shown["is_confirmed"] and shown["step_seconds"] == pytest.approx(STEP, abs=60)
    assert 0 < shown["remaining_seconds"] <= 12 * 3600
    assert command.json("clock", "confirm")["is_confirmed"]
    assert not scene.is_paused
    scene.fleet = Fleet.create(scene.login(scene.gateway))
    scene.sweep()
    assert scene.objects() == 0


def test_clock_that_was_behind_at_a_boot_deletes_nothing_at_once(scene):
    scene.gateway.stop()
    boot = 60 - int(time.clock_gettime(time.CLOCK_BOOTTIME))
    scene.clock.set(-STEP, boot)
    scene.gateway.start()
    assert scene.is_paused
    scene.fleet = Fleet.create(scene.login(scene.gateway))
    scene.add()
    scene.begin()
    scene.clock.set(0, boot)
    eventually(lambda: not scene.is_paused)
    scene.fleet = Fleet.create(scene.login(scene.gateway))
    scene.sweep()
    assert scene.objects() == OBJECTS + 1
    scene.finish()
    assert scene.objects() == OBJECTS + 2
