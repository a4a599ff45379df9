"""Reads the console's audit log in headless Chromium: filters, folded lines, targets, exports."""

import csv
import io
import json

from support.commands import CommandLine
from support.parties import PASSWORD, Fleet, User
from support.uploads import FILE_NAME_TAG, completed, content


def events(page) -> list[str]:
    return [row["Event"] for row in page.rows()]


def filled(boss: User):
    """Returns a device that stored three files, and was disabled."""
    fleet = Fleet.create(boss)
    uploader = fleet.uploader(display_name="Picker 041")
    for number in range(3):
        completed(uploader, content(10 + number), {FILE_NAME_TAG: f"scan-{number}.bin", "run": "7"})
    boss.devices("DisableDevice", name=f"devices/{uploader.device_id}")
    return uploader


def test_people_come_first_and_devices_are_folded(page, new_organization):
    boss = new_organization()
    uploader = filled(boss)
    page.sign_in(boss.organization, "boss", PASSWORD)
    page.go("Audit log")
    page.until(lambda: "boss disabled the device Picker 041" in events(page))
    assert not any("uploaded" in event for event in events(page))
    page.choose("Who", "Everybody")
    page.until(lambda: "Picker 041 uploaded 3 files" in events(page))
    assert "who=all" in page.driver.current_url
    page.find("//tr[.//*[contains(., 'uploaded 3 files')]]//a[.='3']").click()
    uploaded = [f"Picker 041 uploaded scan-{number}.bin" for number in (2, 1, 0)]
    page.until(lambda: events(page) == uploaded, "the lines that were folded")
    page.driver.back()
    page.until(lambda: "boss disabled the device Picker 041" in events(page))
    page.find("//tr[.//*[contains(., 'boss disabled')]]//a[.='Picker 041']").click()
    page.heading("Picker 041")
    assert uploader.device_id in page.fact("Device id")


def test_filters_are_in_the_address(page, gateway, new_organization):
    boss = new_organization()
    filled(boss)
    boss.users("CreateUser", user_name="op", password=PASSWORD, role="operator")
    page.sign_in(boss.organization, "boss", PASSWORD)
    page.go("Audit log")
    page.choose("What", "Devices")
    page.until(lambda: "boss disabled the device Picker 041" in events(page))
    assert not any("created the user" in event for event in events(page))
    page.find("//summary[.='More filters']").click()
    page.fill("Target", "picker 041\n")
    page.choose("Result", "Succeeded")
    page.until(lambda: "target=picker+041" in page.driver.current_url and "result=OK" in page.driver.current_url)
    wanted = {"boss registered the device Picker 041", "boss disabled the device Picker 041"}
    page.until(lambda: wanted <= set(events(page)) and all("Picker 041" in event for event in events(page)))
    page.driver.refresh()
    page.until(lambda: wanted <= set(events(page)), "the filter after a reload")
    page.open(f"http://{gateway.listeners['web']}/console/#/audit?actor=op&since=")
    page.until(lambda: "No events match the filter." in page.text)
    page.open(f"http://{gateway.listeners['web']}/console/#/audit?target=*********")
    assert "target must have at most 8 asterisks" in page.alert()


def test_deleted_objects_are_listed_and_restored(page, new_organization):
    boss = new_organization()
    filled(boss)
    boss.object_management("DeleteObjects", filter="run=7", reason="a mistake")
    page.sign_in(boss.organization, "boss", PASSWORD)
    page.go("Audit log")
    wanted = 'boss deleted 3 objects: filter "run=7", reason "a mistake"'
    page.until(lambda: page.driver.refresh() or page.until(lambda: events(page)) and wanted in events(page))
    page.find("//button[.='3 objects']").click()
    page.find("//li[a[.='scan-0.bin']]//button[.='Restore']").click()
    page.notice("scan-0.bin was restored.")
    assert [found.name for found in boss.list_all()] == ["scan-0.bin"]
    assert not page.violations()
    page.press("Restore all objects of this deletion")
    page.until(lambda: "Restored\n2 objects" in page.dialog("Restoration"))
    page.press("Close")
    page.until(lambda: page.find("//li[a[.='scan-2.bin']]").text == "scan-2.bin")
    assert len(boss.list_all()) == 3
    # Nothing is wider than a phone.
    page.resize((390, 844))
    assert page.script("return document.documentElement.scrollWidth <= innerWidth")
    assert not page.violations()


def test_exports_have_the_lines_of_the_filter(page, gateway, new_organization, tmp_path):
    boss = new_organization()
    filled(boss)
    page.sign_in(boss.organization, "boss", PASSWORD)
    page.go("Audit log")
    page.choose("Who", "Devices and keys")
    page.until(lambda: "Picker 041 uploaded 3 files" in events(page))
    page.press("Export CSV")
    page.notice("6 lines exported.")
    rows = list(csv.DictReader(io.StringIO(page.downloaded("audit.csv").decode(), newline="")))
    page.press("Export JSON")
    exported = json.loads(page.downloaded("audit.json"))["audit"]
    line = CommandLine(gateway.binary, gateway, tmp_path)
    line.run("login", "--user", "boss", "--organization", boss.organization, "--password-stdin", input=PASSWORD)
    listed = [json.loads(text) for text in line.run("audit", "--who", "devices", "--json").stdout.splitlines()]
    ids = [line["line_id"] for line in reversed(listed)]
    assert ids and [int(row["line_id"]) for row in rows] == ids == [each["line_id"] for each in exported]
    assert rows[0]["sentence"] == listed[-1]["sentence"] == "Picker 041 uploaded scan-2.bin"


def test_preview_is_a_view(page, gateway, new_organization):
    boss = new_organization()
    uploader = Fleet.create(boss).uploader()
    completed(uploader, b"hello world", {FILE_NAME_TAG: "notes.txt"})
    (found,) = boss.list_all()
    page.sign_in(boss.organization, "boss", PASSWORD)
    page.open(f"http://{gateway.listeners['web']}/console/#/objects/{found.file_id}")
    page.until(lambda: "hello world" in page.text)
    page.go("Audit log")
    page.until(lambda: "boss viewed the object notes.txt" in events(page))
    assert not any("downloaded" in event for event in events(page))
    days = boss.object_management("GetStatistics").days
    assert sum(day.requested_objects for day in days) == 0
