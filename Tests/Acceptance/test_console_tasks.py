"""What people do in the console, counted: clicks, pressed keys and typed words, from the overview right after the sign-in.

With --full, there are 20,000 objects.
"""

import csv
import datetime
import io
import math
import re
import time
from collections import Counter
from email.utils import formatdate

import grpc
import pytest
from selenium.webdriver.common.keys import Keys
from support.gateway import eventually
from support.large_fleet import FULL, SHORT, LargeFleet
from support.parties import Fleet, exchange
from support.person import Person
from support.raw import RawStore
from support.uploads import Upload, content

ORGANIZATION = "orchard-robotics"
DAY = 86_400
#: A time that has passed, of which a sentence has the largest unit.
AGO = r"\d+ (second|minute)s? ago"
CAUSES = ("never called", "key disabled", "clock", "uploads fail", "site disabled", "silent")


@pytest.fixture(scope="module")
def fleet(binary, tmp_path_factory, is_full):
    made = LargeFleet(binary, tmp_path_factory.mktemp("tasks"), FULL if is_full else SHORT)
    made.gateway.start()
    yield made
    made.gateway.close()


@pytest.fixture
def enter(fleet, browser):
    """Signs a user in, and returns the person who sees the overview; the test fails if the browser logged an error."""

    def enter(user: str, organization: str = ORGANIZATION) -> Person:
        browser.enter(fleet.gateway)
        browser.driver.get_log("browser")
        browser.sign_in(organization, user, fleet.contents["password"])
        browser.heading("Overview")
        return Person(browser)

    yield enter
    browser.assert_no_errors()


def refuse(uploader) -> None:
    """Calls as a device whose key does not work."""
    with pytest.raises(grpc.RpcError):
        exchange(uploader.gateway, uploader.stubs, uploader.credential)


def per_day(times: list[int]) -> int:
    """Returns the average of the week before the last of the times, the latest of which are first."""
    week = [each for each in times if times[0] - each < 7 * DAY]
    return max(1, math.floor(len(week) / max(1, math.ceil((week[0] - week[-1]) / DAY)) + 0.5))


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


@pytest.fixture(scope="module")
def silent(fleet, stubs) -> dict[str, tuple[str, str]]:
    """Devices that are silent, by the cause: the name, and the sentence as a pattern."""
    ada = fleet.login(stubs, ORGANIZATION)
    own, closed = Fleet.create(ada), Fleet.create(ada)
    own.register(display_name="Picker 901")
    disabled = own.uploader(display_name="Picker 902")
    (key,) = ada.admin("ListApiKeys", device_id=disabled.device_id).api_keys
    ada.admin("DisableApiKey", api_key_id=key.api_key_id)
    for _ in range(2):
        refuse(disabled)
    slow = Upload.create(own.uploader(display_name="Picker 903"))
    date = formatdate(time.time() - 5 * 3600, usegmt=True)
    assert RawStore(slow.credentials).request("PUT", body=content(10), headers={"Date": date}).status == 200
    failing = own.uploader(display_name="Picker 904")
    for name in ("a.mcap", "b.mcap"):
        failing.abort(failing.create(file_name=name).logical_upload_id, reason="no space left on device")
    shut = closed.uploader(display_name="Picker 905")
    ada.admin("DisableSite", site_id=closed.site_id)
    refuse(shut)
    # Of the robots that stopped days ago, the one with the most uploads.
    uploads: dict[str, list[int]] = {}
    for found in ada.list_all():
        uploads.setdefault(found.device_id, []).append(found.created_at_unix)
    stopped = [
        device
        for device in ada.devices("ListDevices", page_size=1000, silent_for_seconds=2 * DAY).devices
        if device.device_id in uploads
    ]
    busiest = max(stopped, key=lambda device: len(uploads[device.device_id]))
    rate = per_day(sorted(uploads[busiest.device_id], reverse=True))
    days = int(time.time() - busiest.last_seen_at.seconds) // DAY
    # The gateway writes the clocks of devices once a minute, and when it stops.
    assert fleet.gateway.stop() == 0
    fleet.gateway.start()
    sentences = (
        ("Picker 901", r"The device never called: it has not fetched its key\."),
        (
            "Picker 902",
            f"The device's key is disabled. Calls continue: 2 refused calls, the first one {AGO}, the last one {AGO}.",
        ),
        ("Picker 903", r"The device's clock is 5 hours behind\."),
        ("Picker 904", rf"The device's last 2 uploads failed: no space left on device \(begun {AGO}\)\."),
        (
            "Picker 905",
            f"The site of the device's suite is disabled. Calls continue: 1 refused call, the first one {AGO}, "
            f"the last one {AGO}.",
        ),
        (
            busiest.display_name,
            f"The device was last heard of ({days}|{days + 1}) days ago, and nothing was refused. "
            f"Before that it made {counted(rate, 'upload')} a day.",
        ),
    )
    return dict(zip(CAUSES, sentences, strict=True))


@pytest.mark.parametrize("cause", CAUSES)
def test_reason_of_a_silent_device_is_read_after_three_actions(enter, browser, silent, cause):
    name, sentence = silent[cause]
    person = enter("oscar")
    person.press("k", control=True)
    person.write(name.split()[-1])
    browser.find(f"//dialog[@open]//li[@aria-selected='true'][.//span[@title='{name}']]")
    person.press(Keys.ENTER)
    browser.heading(name)
    shown = browser.find("//section[@aria-label='Diagnosis']/p").text
    assert re.fullmatch(sentence, shown), shown
    assert person.actions <= 3


def test_deletion_of_a_hundred_objects_is_found_and_undone_with_four_actions(enter, fleet, stubs, browser):
    ada = fleet.login(stubs, ORGANIZATION)
    ada.users("CreateUser", user_name="nora", password=fleet.contents["password"], role="admin")
    nora = fleet.login(stubs, ORGANIZATION, "nora")
    chosen = {found.file_id for found in ada.list_all()[:100]}
    for file_id in chosen:
        nora.object_management("UpdateObject", file_id=file_id, tags={"batch": "77"})
    deleted = nora.object_management("DeleteObjects", filter="batch=77", reason="the wrong batch").operation
    state = lambda: nora.object_management("GetObjectOperation", operation_id=deleted.operation_id).operation.status
    eventually(lambda: state() != 1)
    assert not chosen & {found.file_id for found in ada.list_all()}
    person = enter("ada")
    person.click("//nav[@aria-label='Sections']/a[.='Administration']")
    person.click("//nav[@aria-label='Pages']/a[.='Audit log']")
    event = 'nora deleted 100 objects: filter "batch=77", reason "the wrong batch"'
    browser.until(lambda: event in [row["Event"] for row in browser.rows()], event)
    person.click("//button[.='100 objects']")
    person.click("//button[.='Restore all objects of this deletion']")
    browser.until(lambda: "Restored\n100 objects" in browser.dialog("Restoration"))
    assert person.actions <= 4
    browser.press("Close")
    browser.show(fleet.gateway, "objects?filter=batch%3D77&folders=off", "Objects")
    browser.find("//*[@class='list-status'][normalize-space()='100 objects found']")
    assert {found.file_id for found in ada.list_all(filter="batch=77")} == chosen


def test_robots_without_uploads_for_three_days_are_a_file_after_two_actions(enter, fleet, stubs, browser, look):
    user = fleet.login(stubs, ORGANIZATION, "oscar")
    latest: dict[str, int] = {}
    for found in user.list_all():
        latest[found.device_id] = max(found.verified_at_unix, latest.get(found.device_id, 0))
    robots = {
        device.device_id: latest.get(device.device_id, 0)
        for device in user.devices("ListDevices", page_size=1000).devices
        if device.initialized_at.seconds and device.initialized_at.seconds < time.time() - 4 * DAY
    }
    since = time.time() - 3 * DAY
    person = enter("oscar")
    person.click("//figure[contains(figcaption, 'Objects by device')]//a[.='Without uploads for 3 days']")
    browser.heading("Devices")
    person.click("//button[.='Export CSV']")
    rows = list(csv.DictReader(io.StringIO(browser.downloaded("devices.csv").decode(), newline="")))
    assert person.actions <= 3
    until = time.time() - 3 * DAY
    exported = {row["device_id"]: row for row in rows}
    assert {id for id, at in robots.items() if at <= since} <= set(exported)
    assert set(exported) <= {id for id, at in robots.items() if at <= until}
    stopped = {row["display_name"] for row in rows}
    assert {"Picker 010", "Picker 026", "Picker 058"} <= stopped and len(stopped) < len(robots)
    for row in rows:
        text, at = row["last_upload_at"], robots[row["device_id"]]
        assert int(datetime.datetime.fromisoformat(text).timestamp()) == at if text else at == 0
    browser.until(lambda: len(browser.rows()) == min(50, len(rows)))
    assert browser.field("Last upload").get_attribute("value") == "3"
    look("devices-without-uploads")


def test_use_of_the_store_is_read_after_one_action(enter, fleet, stubs, browser):
    user = fleet.login(stubs, ORGANIZATION, "vera")
    sizes, numbers = Counter(), Counter()
    for found in user.list_all():
        sizes[found.site_id] += found.size_bytes
        numbers[found.site_id] += 1
    names = {site.site_id: site.name for site in fleet.login(stubs, ORGANIZATION).admin("ListSites").sites}
    person = enter("vera")
    person.click("//a[.='Show what fills the store']")
    browser.heading("Storage")
    shown = browser.until(lambda: [(row["Site"], row["Size"], row["Objects"]) for row in browser.rows()])
    assert person.actions <= 2
    formatted = browser.script(
        "const { formatBytes } = await import('/console/format.js'); return arguments[0].map(formatBytes)",
        [size for _, size in sizes.most_common()],
    )
    assert shown == [
        (names[site], text, f"{numbers[site]:,}")
        for (site, _), text in zip(sizes.most_common(), formatted, strict=True)
    ]


def test_use_of_the_disk_is_read_after_one_action(enter, browser):
    """By an administrator of the gateway, whose overview has the free disk."""
    person = enter("admin", "system")
    person.click("//div[@class='tile'][h2='Disk free']//a")
    browser.heading("Storage")
    assert "free" in browser.find("//section[@aria-label='Disk']/p").text
    assert browser.until(lambda: browser.rows())
    assert person.actions <= 2
