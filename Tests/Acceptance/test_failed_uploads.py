"""Uploads that ended without an object, in the lists of REST, the command line and the console."""

import csv
import io
import json
import urllib.parse

import pytest
from support.commands import USAGE, CommandLine
from support.faults import Clock
from support.gateway import eventually
from support.monitoring import metric
from support.parties import PASSWORD, Fleet, call, unique
from support.raw import fetch_url
from support.uploads import Upload, content

#: The session of an upload, in seconds; shorter than the lifetime of a token.
SESSION = 120


class Failures:
    """An organization with two devices and their failed uploads."""

    def __init__(self, boss):
        self.boss = boss
        self.fleet, self.other = Fleet.create(boss), Fleet.create(boss)
        self.name = unique("Picker")
        self.device = self.fleet.uploader(display_name=self.name)
        self.retired = self.other.uploader()
        self.aborted = self.device.create(file_name="run7.mcap", file_size="5000000")
        upload = Upload.of(self.device, self.aborted)
        upload.send_parts(content(upload.part_size), upload.store.initiate())
        self.stored = upload.part_size
        self.device.abort(upload.logical_id, reason="disk error on the robot")
        self.canceled = self.device.create(file_name="run8.mcap")
        stubs = boss.stubs.gateway
        management = stubs.UploadManagementServiceStub(boss.gateway.channel("admin"))
        call(
            management.CancelUpload,
            stubs.CancelUploadRequest(logical_upload_id=self.canceled.logical_upload_id),
            boss.token,
        )
        self.of_retired = self.retired.create()
        boss.devices("RetireDevice", name=f"devices/{self.retired.device_id}")
        #: The latest first.
        self.ids = [self.of_retired.upload_id, self.canceled.upload_id, self.aborted.upload_id]


@pytest.fixture(scope="module")
def failures(new_organization) -> Failures:
    return Failures(new_organization())


def rest(user, **query) -> dict:
    """Calls `GET /v1/failedUploads`."""
    address = f"http://{user.gateway.listeners['web']}/v1/failedUploads?{urllib.parse.urlencode(query, doseq=True)}"
    return json.loads(fetch_url(address, headers={"Authorization": f"Bearer {user.token}"}).body)


def ids(reply: dict) -> list[str]:
    return [upload["uploadId"] for upload in reply.get("uploads", [])]


def test_rest_lists_why_uploads_failed_and_whose(failures):
    boss, device = failures.boss, failures.device
    reply = rest(boss)
    assert ids(reply) == failures.ids and "nextPageToken" not in reply
    found = reply["uploads"][2]
    times = [found.pop(name) for name in ("createdAt", "endedAt")]
    assert times == sorted(times)
    assert found == {
        "logicalUploadId": failures.aborted.logical_upload_id,
        "uploadId": failures.aborted.upload_id,
        "organization": boss.organization,
        "deviceId": device.device_id,
        "deviceName": failures.name,
        "siteId": str(failures.fleet.site_id),
        "fileName": "run7.mcap",
        "fileSizeBytes": "5000000",
        "storedBytes": str(failures.stored),
        "cause": "FAILED_UPLOAD_CAUSE_ABORTED",
        "endedBy": f"device:{device.device_id}",
        "reason": "disk error on the robot",
    }
    causes = [upload["cause"].removeprefix("FAILED_UPLOAD_CAUSE_") for upload in reply["uploads"]]
    assert causes == ["DEVICE_RETIRED", "CANCELED", "ABORTED"]
    person = f"user:{boss.organization}/boss"
    assert [upload["endedBy"] for upload in reply["uploads"]] == [person, person, f"device:{device.device_id}"]
    assert reply["uploads"][1]["reason"] == "canceled by boss"


def test_rest_filters_and_pages_them(failures):
    boss, device = failures.boss, failures.device.device_id
    first, second, third = failures.ids
    assert ids(rest(boss, device_id=device)) == [second, third]
    assert ids(rest(boss, site_id=failures.other.site_id)) == [first]
    assert ids(rest(boss, site_id=failures.other.site_id, device_id=device)) == []
    assert ids(rest(boss, causes=["FAILED_UPLOAD_CAUSE_ABORTED", "FAILED_UPLOAD_CAUSE_DEVICE_RETIRED"])) == [
        first,
        third,
    ]
    ended = {upload["uploadId"]: upload["endedAt"] for upload in rest(boss)["uploads"]}
    assert ids(rest(boss, since=ended[second])) == [first, second]
    assert ids(rest(boss, until=ended[second])) == [third]
    page = rest(boss, page_size=2)
    assert ids(page) == [first, second]
    assert ids(rest(boss, page_size=2, page_token=page["nextPageToken"])) == [third]
    refused = rest(boss, page_token=page["nextPageToken"], device_id=device)
    assert refused["error"]["status"] == "INVALID_ARGUMENT"


def test_other_organizations_see_none_of_them_and_the_system_all(failures, new_organization, admin):
    other = new_organization()
    for query in ({}, {"device_id": failures.device.device_id}, {"site_id": failures.fleet.site_id, "page_size": 1}):
        assert rest(other, **query) == {}
    for query in ({"device_id": failures.device.device_id}, {"site_id": failures.fleet.site_id}):
        assert ids(rest(admin, **query)) == failures.ids[1:]
    everything = rest(admin, page_size=1000)["uploads"]
    found = {upload["uploadId"]: upload["organization"] for upload in everything}
    assert {found[upload] for upload in failures.ids} == {failures.boss.organization}


def test_command_lists_them(failures, binary, gateway, tmp_path):
    shell = CommandLine(binary, gateway, tmp_path).login()
    acting = ("--organization", failures.boss.organization)
    found = shell.json("uploads", "list-failed", *acting)["uploads"]
    assert [upload["upload_id"] for upload in found] == failures.ids
    assert found[2]["cause"] == "FAILED_UPLOAD_CAUSE_ABORTED" and found[2]["stored_bytes"] == failures.stored
    assert found[2]["device_name"] == failures.name and found[2]["organization"] == failures.boss.organization

    def listed(*arguments) -> list[str]:
        return [each["upload_id"] for each in shell.json("uploads", "list-failed", *arguments, *acting)["uploads"]]

    first, second, third = failures.ids
    assert listed("--device", failures.device.device_id, "--limit", "1") == [second]
    assert listed("--site", str(failures.other.site_id)) == [first]
    assert listed("--cause", "device-retired") == [first]
    assert listed("--since", "1h", "--limit", "2") == [first, second]
    assert listed("--until", "1h") == []
    form = ("--output", "csv", "--columns", "file_name,reason,ended_by")
    done = shell.run("uploads", "list-failed", "--cause", "aborted", *form, *acting)
    (row,) = csv.DictReader(io.StringIO(done.stdout, newline=""))
    assert (row["file_name"], row["reason"]) == ("run7.mcap", "disk error on the robot")
    assert row["ended_by"] == f"device:{failures.device.device_id}"
    text = shell.run("uploads", "list-failed", "--device", failures.device.device_id, *acting).stdout
    assert failures.name in text and "canceled by boss" in text
    assert "--limit must be above 0" in shell.refused(USAGE, "uploads", "list-failed", "--limit", "0")
    running = Upload.create(failures.device)
    (shown,) = shell.json("uploads", "list", *acting)["uploads"]
    assert shown["organization"] == failures.boss.organization
    running.uploader.abort(running.logical_id)
    failures.ids.insert(0, running.id)


def test_upload_whose_session_ended_is_listed_after_the_sweep(gateway_with, login, tmp_path):
    clock = Clock(tmp_path)
    sessions = {"part_size_bytes": 65536, "session_idle_seconds": SESSION, "session_total_seconds": SESSION}
    gateway = gateway_with({"uploads": sessions}, clock.environment)
    fleet = Fleet.create(login(gateway))
    upload = Upload.create(fleet.uploader())
    upload.send_parts(content(65536), upload.store.initiate())
    assert rest(fleet.user) == {}
    gateway.stop()
    clock.set(SESSION + 1, SESSION + 1)
    gateway.start()
    eventually(lambda: metric(gateway, "data_gateway_swept_total", kind="uploads") > 0)
    (found,) = rest(login(gateway))["uploads"]
    assert (found["uploadId"], found["cause"]) == (upload.id, "FAILED_UPLOAD_CAUSE_EXPIRED")
    assert (found["endedBy"], found["storedBytes"]) == ("gateway", "65536")
    assert found["reason"] == "nothing was received until the end of its session"


@pytest.fixture
def view(page, failures):
    """The overview for the organization's admin."""
    page.sign_in(failures.boss.organization, "boss", PASSWORD)
    page.heading("Overview")
    return page


def names(page) -> list[str]:
    return [row["Name"].split("\n")[0] for row in page.rows()]


def test_console_leads_from_the_overview_to_what_failed(view, new_organization, gateway, look):
    view.click("//ul[@aria-label='Needs attention']/li[contains(., 'failed in the last 24 hours.')]/a")
    view.heading("Uploads")
    view.until(lambda: "run7.mcap" in names(view))
    assert "run8.mcap" not in names(view), "what a person canceled needs no attention"
    assert view.field("Cause").get_attribute("value") == "UNEXPECTED"
    row = next(row for row in view.rows() if row["Name"].startswith("run7.mcap"))
    assert (row["Cause"].split("\n"), row["Reason"]) == (["aborted", "by the device"], "disk error on the robot")
    look("uploads-failed")
    # An organization without any is told so.
    boss = new_organization()
    view.enter(gateway)
    view.sign_in(boss.organization, "boss", PASSWORD)
    view.heading("Overview")
    assert "failed in the last" not in view.text
    view.go("Uploads")
    view.click("//nav[@aria-label='Views of uploads']/a[normalize-space()='Failed']")
    view.until(lambda: "No failed uploads." in view.text)


def test_console_filters_and_exports_failed_uploads(view, failures):
    view.go("Uploads")
    view.click("//nav[@aria-label='Views of uploads']/a[normalize-space()='Failed']")
    view.until(lambda: len(view.rows()) == len(failures.ids))
    view.choose("Cause", "Canceled by a user")
    view.until(lambda: names(view) == ["run8.mcap"])
    assert "cause=CANCELED" in view.driver.current_url
    view.driver.refresh()
    view.until(lambda: names(view) == ["run8.mcap"])
    view.choose("Cause", "All causes")
    view.until(lambda: len(view.rows()) == len(failures.ids))
    # A device is found by its name.
    view.fill("Device", f"{failures.name}\n")
    view.until(lambda: len(view.rows()) == len(failures.ids) - 1 and "run7.mcap" in names(view))
    view.press("Export CSV")
    rows = list(csv.DictReader(io.StringIO(view.downloaded("failed-uploads.csv").decode(), newline="")))
    assert {row["device_name"] for row in rows} == {failures.name}
    assert "disk error on the robot" in {row["reason"] for row in rows}
    view.choose("Cause", "Expired")
    view.until(lambda: "No failed uploads match the filter." in view.text)


def test_console_leads_from_a_device_to_its_failed_uploads_and_back(view, failures, gateway):
    view.show(gateway, f"devices/{failures.device.device_id}", failures.name)
    view.click("//a[normalize-space()='Failed uploads of this device']")
    view.heading("Uploads")
    view.until(lambda: "run7.mcap" in names(view))
    assert {row["Source"].split("\n")[0] for row in view.rows()} == {failures.name}
    view.click(f"//td//a[normalize-space()='{failures.name}']")
    view.heading(failures.name)


def test_viewer_sees_failed_uploads_without_links_to_devices(page, failures, gateway):
    viewer = unique("viewer")
    failures.boss.users("CreateUser", user_name=viewer, password=PASSWORD, role="viewer")
    page.sign_in(failures.boss.organization, viewer, PASSWORD)
    page.heading("Overview")
    page.show(gateway, f"uploads?view=failed&device={failures.device.device_id}", "Uploads")
    page.until(lambda: "run7.mcap" in names(page))
    assert not page.driver.find_elements("xpath", "//td//a")
