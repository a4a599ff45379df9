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
from support.parties import Fleet, call, unique
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
