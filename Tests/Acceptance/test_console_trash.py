"""The trash of the console in headless Chromium: search, sums, and many objects at once."""

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from support.browser import DESKTOP, Browser
from support.parties import PASSWORD, Fleet
from support.uploads import FILE_NAME_TAG, added, content


@pytest.fixture
def boss(new_organization):
    """The admin of an organization with four objects in the trash, two of them with the tag `ground=snow`."""
    boss = new_organization()
    uploader = Fleet.create(boss).uploader()
    boss.recordings = [
        added(boss, uploader, content(1024), {"ground": ground, FILE_NAME_TAG: f"{number}.bin"})
        for number, ground in enumerate(("snow", "snow", "sun", "sun"))
    ]
    for each in boss.recordings:
        boss.object_management("DeleteObject", file_id=each.file_id, reason="test drive")
    return boss


@pytest.fixture
def console(browser, gateway, boss) -> Browser:
    """The trash for the organization's admin; the test fails if the browser logged an error."""
    browser.resize(DESKTOP)
    browser.enter(gateway)
    browser.sign_in(boss.organization, "boss", PASSWORD)
    browser.heading("Overview")
    browser.go("Trash")
    browser.driver.get_log("browser")
    yield browser
    browser.assert_no_errors()


def rows(console) -> list[dict[str, str]]:
    return [row for row in console.rows() if row.get("Name")]


def trashed(boss) -> int:
    return len(boss.list_all(filter="trashed=true"))


def select(console, *objects) -> None:
    for each in objects:
        console.click(f"//input[@aria-label='Select {each.name}']")


def test_trash_has_who_deleted_an_object_and_its_end(console, boss, look):
    console.until(lambda: len(rows(console)) == 4)
    assert "4 objects, 4 KiB in the trash." in console.text
    row = rows(console)[0]
    assert row["Actor"].splitlines() == ["boss", "test drive"]
    assert row["Deleted permanently"] not in ("", "–")
    look("trash-rows")
    select(console, *boss.recordings[:2])
    assert "2 objects selected · 2 KiB" in console.find("//div[@aria-label='Selected objects']").text
    look("trash-selected")


def test_selected_objects_are_restored_and_deleted_permanently(console, boss):
    select(console, *boss.recordings[:2])
    console.click("//div[@aria-label='Selected objects']//button[normalize-space()='Restore']")
    console.dialog("Restore 2 objects?")
    console.press("Restore")
    console.notice("2 objects restored.")
    console.until(lambda: len(rows(console)) == 2)
    assert len(boss.list_all()) == 2
    select(console, boss.recordings[2])
    console.click("//div[@aria-label='Selected objects']//button[normalize-space()='Select all rows']")
    console.click("//div[@aria-label='Selected objects']//button[normalize-space()='Delete permanently']")
    assert "They cannot be restored." in console.dialog("Delete 2 objects permanently?")
    console.press("Delete permanently")
    console.fill("Type 2 to confirm", "3")
    console.press("Delete permanently")
    assert console.alert() == "Type 2 to confirm."
    console.fill("Type 2 to confirm", "2")
    console.press("Delete permanently")
    console.notice("2 objects deleted permanently.")
    console.find("//*[normalize-space()='The trash is empty.']")
    assert trashed(boss) == 0


def test_objects_that_a_search_finds_are_restored_together(console, boss):
    console.fill("Filter", "ground=snow" + Keys.ENTER)
    console.until(lambda: "2 objects, 2 KiB of 4 objects, 4 KiB in the trash." in console.text)
    console.until(lambda: len(rows(console)) == 2)
    console.press("Restore all found")
    assert "2 KiB are listed again." in console.dialog("Restore 2 objects?")
    console.press("Restore")
    console.dialog("Restoration")
    console.until(lambda: "succeeded" in console.find("//dialog[@open]").text)
    console.press("Close")
    console.find("//*[normalize-space()='No objects in the trash match the filter.']")
    assert {each.file_id for each in boss.list_all()} == {each.file_id for each in boss.recordings[:2]}
    console.fill("Filter", "size>much" + Keys.ENTER)
    console.until(lambda: console.driver.find_elements(By.XPATH, "//*[@class='mistake']//mark"))
    assert not console.driver.find_elements(By.XPATH, "//button[normalize-space()='Empty the trash']")


def test_trash_is_emptied(console, boss):
    console.press("Empty the trash")
    console.dialog("Delete 4 objects permanently?")
    console.fill("Type 4 to confirm", "4")
    console.press("Delete permanently")
    console.dialog("Deletion")
    console.until(lambda: "succeeded" in console.find("//dialog[@open]").text)
    console.press("Close")
    console.find("//*[normalize-space()='The trash is empty.']")
    assert trashed(boss) == 0
