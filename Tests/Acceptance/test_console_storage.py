"""The console's page Storage, the disk on the overview, and the examples of a retention, in headless Chromium."""

import json

import pytest
from selenium.webdriver.common.by import By
from support.gateway import ADMIN_PASSWORD
from support.parties import PASSWORD, Fleet
from support.uploads import FILE_NAME_TAG, completed, content

GIB = 1 << 30

#: Answers the named call with the message, and all others as the gateway does.
RESPONSE = """
const there = window.fetch
window.fetch = (url, options) => (url.endsWith('/METHOD')
  ? Promise.resolve(new Response(JSON.stringify(MESSAGE))) : there(url, options))
"""


def respond(page, method: str, message: dict) -> None:
    page.driver.execute_script(RESPONSE.replace("METHOD", method).replace("MESSAGE", json.dumps(message)))


@pytest.fixture
def boss(new_organization):
    boss = new_organization()
    uploader = Fleet.create(boss).uploader(display_name="Picker 041")
    completed(uploader, content(3000), {FILE_NAME_TAG: "drive.csv", "run": "7"})
    completed(uploader, content(200), {FILE_NAME_TAG: "notes.json"})
    return boss


def test_storage_is_one_click_from_the_overview(page, boss):
    page.sign_in(boss.organization, "boss", PASSWORD)
    page.heading("Overview")
    page.click("//main//a[.='Show what fills the store']")
    page.heading("Storage")
    assert "2 objects, 3.1 KiB." in page.text
    (site,) = page.rows()
    assert (site["Size"], site["Objects"]) == ("3.1 KiB", "2")
    page.choose("Group", "Device")
    row = page.until(lambda: next((row for row in page.rows() if "Device" in row), None))
    assert row["Device"].startswith("Picker 041") and row["Objects"] == "2"
    page.choose("Group", "Tag run")
    page.row("run", "7")
    # Objects without the tag are not left out.
    assert page.row("run", "None")["Size"] == "200 B"
    page.choose("Group", "Type")
    page.row("Type", "text/csv")
    page.click("//main//td//a[.='text/csv']")
    page.heading("Objects")
    page.row("Name", "drive.csv")
    assert [row["Name"] for row in page.rows()] == ["drive.csv"]


def test_month_opens_its_objects(page, boss):
    page.sign_in(boss.organization, "boss", PASSWORD)
    page.heading("Overview")
    page.go("Storage")
    page.choose("Group", "Month")
    page.until(lambda: page.rows() and "Month" in page.rows()[0])
    (month,) = page.rows()
    page.click(f"//main//td//a[.='{month['Month']}']")
    page.heading("Objects")
    page.until(lambda: len(page.rows()) == 2)


def test_page_is_accessible_and_hides_the_disk(page, boss):
    boss.users("CreateUser", user_name="eve", password=PASSWORD, role="viewer")
    page.sign_in(boss.organization, "eve", PASSWORD)
    page.heading("Overview")
    page.go("Storage")
    page.find("//main//table")
    assert page.violations() == []
    assert not page.driver.find_elements(By.XPATH, "//section[@aria-label='Disk']")
    # Only administrators may see the trash and the retention.
    assert not page.driver.find_elements(By.XPATH, "//main//a[@href='#/retention']")


#: What GetSystemStatus says, the note on the overview, and the words on the page Storage.
DISKS = {
    "far": (
        {"storeFreeBytes": 8 * GIB, "state": "GROWING", "fullAt": "2099-12-14T12:00:00Z"},
        "",
        "full on Dec 14, 2099",
    ),
    "soon": (
        {"storeFreeBytes": 8 * GIB, "state": "GROWING", "fullAt": "2026-01-01T12:00:00Z"},
        "The disk will be full on Jan 1, 2026, if it fills as in the last days.",
        "20 % used, 8 GiB free, full on Jan 1, 2026.",
    ),
    "nearly full": (
        {"storeFreeBytes": 1.5 * GIB, "state": "NOT_GROWING"},
        "The disk is nearly full: 1.5 GiB are free, and new uploads are refused below 1 GiB.",
        "85 % used, 1.5 GiB free, it does not grow.",
    ),
    "full": (
        {"storeFreeBytes": GIB / 2, "state": "FULL"},
        "The disk is full: new uploads are refused now, because only 512 MiB are free and 1 GiB must stay free.",
        "95 % used, 512 MiB free, new uploads are refused now.",
    ),
    "new": ({"storeFreeBytes": 8 * GIB, "state": "NOT_ENOUGH_HISTORY"}, "", "not enough history for a forecast"),
    "unknown": ({"storeFreeBytes": -1, "state": "NO_DISK"}, "", "The free space of the object store is unknown."),
}


@pytest.mark.parametrize("name", DISKS)
def test_disk_is_described_above_and_below_its_minimum(page, name):
    (status, note, words) = DISKS[name]
    forecast = {"state": f"DISK_FORECAST_STATE_{status['state']}", "fullAt": status.get("fullAt")}
    message = {
        "storeFreeBytes": str(int(status["storeFreeBytes"])),
        "storeMinimumFreeBytes": str(GIB),
        "storeSizeBytes": str(10 * GIB),
        "diskForecast": forecast,
    }
    page.sign_in("system", "admin", ADMIN_PASSWORD)
    page.heading("Overview")
    page.go("Objects")
    respond(page, "GetSystemStatus", message)
    page.go("Overview")
    notes = page.driver.execute_script(
        "return [...document.querySelectorAll('.attention li')].map((each) => each.innerText)"
    )
    disk = [each for each in notes if "disk" in each]
    assert disk == ([f"{note} Show what fills it"] if note else [])
    page.go("Storage")
    assert words in page.find("//section[@aria-label='Disk']").text
    assert page.violations("main") == []


def test_dry_run_of_a_retention_shows_what_it_hits(page, boss):
    page.sign_in(boss.organization, "boss", PASSWORD)
    page.heading("Overview")
    page.go("Retention")
    example = {"fileId": "f1", "name": "drive.csv", "sizeBytes": "3000", "keptSince": "2026-01-02T03:04:05Z"}
    respond(page, "SetRetention", {"days": 1, "affectedObjects": "12", "affectedBytes": "4096", "examples": [example]})
    page.fill("All other objects: days", "1")
    page.press("Count what would be deleted")
    page.find("//h3[.='The oldest 1 of them']")
    assert "12 objects (4 KiB) would move to the trash now." in page.text
    assert page.find("//main//td//a[.='drive.csv']").get_attribute("hash") == "#/objects/f1"
    assert page.violations("main") == []
