"""Devices that are not heard of, and their return, from the view of a webhook, the command line and REST."""

import pytest
from support.commands import CommandLine
from support.faults import Clock
from support.gateway import Gateway, eventually
from support.monitoring import metric
from support.parties import Fleet, call
from support.uploads import Upload
from support.webhooks import SECRET

#: Shorter than a pause between two looks for silent devices.
STEP = 14 * 60


class Scene:
    """A gateway with a limit of an hour, a webhook, and a device that makes the calls that a sweep needs."""

    def __init__(self, binary, directory, login, receiver):
        (secret := directory / "secret").write_text(SECRET)
        self.binary, self.directory, self.login, self.receiver = binary, directory, login, receiver
        self.clock, self.passed = Clock(directory), 0
        hook = {"url": receiver.url, "secret_file": str(secret), "events": ["device.silent", "device.returned"]}
        self.gateway = Gateway(
            binary, directory, {"webhooks": {"pager": hook}, "device_init": {"silent_after_hours": 1}}
        )
        self.gateway.environment = self.clock.environment
        self.gateway.start()
        self.fleet = Fleet.create(login(self.gateway))
        self.caller = self.fleet.uploader()

    def look(self, seconds: int = 0, is_killed: bool = False) -> None:
        """Restarts the gateway after some time, which looks at once, and waits for the end of its sweeps."""
        self.caller.sign_in()
        upload = Upload.create(self.caller)
        upload.send_parts(b"1", upload.store.initiate())
        self.caller.abort(upload.logical_id)
        self.gateway.kill() if is_killed else self.gateway.stop()
        self.passed += seconds
        self.clock.set(self.passed, self.passed)
        self.gateway.start()
        eventually(lambda: metric(self.gateway, "data_gateway_swept_total", kind="usage") > 0)

    def user(self):
        return self.login(self.gateway)

    def reports(self) -> list[str]:
        """Returns the actions of the reports in the audit log."""
        user = self.user()
        audit = user.stubs.auth.AuditServiceStub(self.gateway.channel("admin"))
        lines = call(audit.ListAuditLines, user.stubs.auth.ListAuditLinesRequest(page_size=1000), user.token).lines
        return [line.action for line in lines if line.action.startswith("Report")]


@pytest.fixture
def scene(binary, tmp_path, login, receivers):
    scene = Scene(binary, tmp_path, login, receivers())
    yield scene
    scene.gateway.close()


def test_a_device_is_reported_once_when_it_is_silent_and_once_when_it_returns(scene):
    quiet, parked = scene.fleet.uploader(), scene.fleet.uploader()
    device = f"devices/{quiet.device_id}"
    shell = CommandLine(scene.binary, scene.gateway, scene.directory).login()
    shown = shell.json("device", "update", parked.device_id, "--silent-after", "never")
    assert shown["silent_after_hours"] == 0
    assert shell.json("device", "list", "--silent")["devices"] == []
    for _ in range(4):
        scene.look(STEP)
    assert scene.receiver.taken == []
    scene.look(STEP)
    (silent,) = scene.receiver.waits_for(device)
    shown = scene.user().devices("GetDevice", name=device)
    assert (silent["type"], silent["organization"]) == ("device.silent", "system")
    assert silent["data"] == {
        "device_id": quiet.device_id,
        "display_name": shown.display_name,
        "last_seen_at": shown.last_seen_at.ToJsonString().split(".")[0].rstrip("Z") + "Z",
        "silent_after_hours": 1,
        "site_id": scene.fleet.site_id,
        "suite_id": int(scene.fleet.suite.split("/")[1]),
    }
    assert shown.silent_since == shown.last_seen_at
    shell = CommandLine(scene.binary, scene.gateway, scene.directory).login()
    assert [each["device_id"] for each in shell.json("device", "list", "--silent")["devices"]] == [quiet.device_id]
    for _ in range(2):
        scene.look(STEP, is_killed=True)
    quiet.sign_in()
    for _ in range(2):
        scene.look()
    silent_again, returned = scene.receiver.waits_for(device, 2)
    assert silent_again == silent and returned["type"] == "device.returned"
    assert returned["data"]["silent_since"] == silent["data"]["last_seen_at"]
    assert scene.user().devices("GetDevice", name=device).last_seen_at.seconds > shown.last_seen_at.seconds
    assert scene.reports() == ["ReportSilentDevice", "ReportReturnedDevice"]
    assert {event["subject"] for event in scene.receiver.taken} == {device}


def test_limits_are_set_on_the_command_line(scene):
    shell = CommandLine(scene.binary, scene.gateway, scene.directory).login()
    site, suite = str(scene.fleet.site_id), scene.fleet.suite
    for command, argument in [(("site", "set-silent-after"), site), (("device", "suite", "set-silent-after"), suite)]:
        for text, hours in [("2d", 48), ("never", 0), ("12h", 12), ("inherit", None)]:
            assert shell.json(*command, argument, text)["silent_after_hours"] == hours
        refused = shell.refused(2, *command, argument, "90m")
        assert "must be whole hours like 12h or 3d, never or inherit, not '90m'" in refused
