"""States of the console's pages in headless Chromium: paused webhooks, errors at their fields, unsaved changes and rare actions."""

import re

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from support.browser import DESKTOP, Browser
from support.gateway import ADMIN_PASSWORD
from support.parties import PASSWORD, Fleet, init_device
from support.uploads import added, content


@pytest.fixture
def boss(new_organization):
    return new_organization()


@pytest.fixture
def console(browser, gateway, boss) -> Browser:
    """The console for an organization's admin; the test fails if the browser logged an error."""
    browser.resize(DESKTOP)
    browser.enter(gateway)
    browser.sign_in(boss.organization, "boss", PASSWORD)
    browser.heading("Overview")
    browser.driver.get_log("browser")
    yield browser
    browser.assert_no_errors()


def test_paused_webhook_says_why_and_tries_again_at_once(browser, with_webhooks, look):
    gateway, fleet, receiver = with_webhooks({"indexer": {}}, longest_retry_seconds=3600)
    receiver.respond = lambda event: 503
    devices = [fleet.register().device_id for _ in range(12)]
    for device in devices:
        init_device(gateway, fleet.user.stubs, device)
    browser.resize(DESKTOP)
    browser.enter(gateway)
    browser.sign_in("system", "admin", ADMIN_PASSWORD)
    browser.heading("Overview")
    browser.go("Webhooks")
    browser.until(lambda: browser.row("Webhook", "indexer")["State"] in ("failing", "paused"))
    browser.click("//main//a[normalize-space()='indexer']")
    state = lambda: browser.find("//*[contains(@class, 'webhook-state')]/p").text
    paused = r"Paused: the webhook answered with HTTP status 503 \(\d+ times in a row\)\. Next try (in .+|now)\."
    browser.until(lambda: re.fullmatch(paused, state()))
    look("webhook-paused")
    receiver.respond = lambda event: 200
    # Each of them would be tried again within an hour.
    browser.press("Try now")
    for device in devices:
        receiver.waits_for(f"devices/{device}")
    browser.until(lambda: not browser.driver.find_element(By.CLASS_NAME, "webhook-state").is_displayed())
    browser.sign_out()


def test_errors_of_retention_are_shown_at_their_fields(console, look):
    console.go("Retention")
    for filter_text, days in (("kind=test", "3"), ("kind=old age<3d", "5")):
        console.press("Add a rule")
        row = console.driver.find_elements(By.CLASS_NAME, "rule")[-1]
        row.find_element(By.NAME, "filter").send_keys(filter_text)
        row.find_element(By.NAME, "ruleDays").clear()
        row.find_element(By.NAME, "ruleDays").send_keys(days)
    console.press("Count what would be deleted")
    field = lambda: console.driver.find_elements(By.NAME, "filter")[1]
    console.until(lambda: field().get_attribute("aria-invalid") == "true")
    error = console.find(f"//*[@id='{field().get_attribute('aria-describedby')}']").text
    assert error.splitlines()[0] == "Must not have a term age or trashed"
    assert console.driver.switch_to.active_element == field()
    look("retention-refused")
    # A mistake is marked at its place, by "Save", too.
    field().clear()
    field().send_keys("kind=old size>much")
    console.click("(//button[normalize-space()='Save'])[1]")
    console.until(lambda: console.driver.find_elements(By.XPATH, "//*[@class='field-error']//mark"))
    assert (
        console.find("//*[@class='field-error']//mark").text == "size>much"[5:] or "much" in console.find("//mark").text
    )
    field().clear()
    field().send_keys("kind=old")
    console.click("(//button[normalize-space()='Save'])[1]")
    console.notice("The retention was saved.")
    assert not console.driver.find_elements(By.CLASS_NAME, "field-error")


def test_unsaved_changes_are_not_left_without_a_question(console, look):
    console.go("Retention")
    console.fill("All other objects: days", "90")
    console.click("//nav[@aria-label='Pages']/a[.='Trash']")
    console.dialog("Leave without saving?")
    look("dialog-leave")
    console.press("Cancel")
    console.until(lambda: not console.driver.find_elements(By.XPATH, "//dialog"))
    assert console.driver.current_url.endswith("#/retention")
    assert console.field("All other objects: days").get_attribute("value") == "90"
    console.click("//nav[@aria-label='Pages']/a[.='Trash']")
    console.press("Leave")
    console.heading("Trash")
    console.go("Retention")
    # What is as it was saved asks nothing.
    console.fill("All other objects: days", "90")
    console.fill("All other objects: days", "0")
    console.go("Trash")


def test_rare_actions_are_in_a_menu(console, boss, gateway, look):
    device = Fleet.create(boss).uploader().device_id
    console.open(f"http://{gateway.listeners['web']}/console/#/devices/{device}")
    console.heading(device)
    hidden = lambda: not console.driver.find_element(By.XPATH, "//button[.='Disable']").is_displayed()
    assert hidden()
    menu = console.find("//summary[@aria-label='More actions']")
    menu.click()
    console.until(lambda: not hidden())
    look("device-more")
    console.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    console.until(hidden)
    assert console.driver.switch_to.active_element == menu
    menu.send_keys(Keys.ENTER)
    console.until(lambda: not hidden())
    console.find("//h1").click()
    console.until(hidden)
    # A device that has a key is not offered what must fail.
    assert not console.driver.find_elements(By.XPATH, "//main//button[.='Delete']")


def test_statistics_of_an_organization_stay_open(browser, console, boss, gateway, look):
    added(boss, Fleet.create(boss).uploader(), content(2048))
    browser.enter(gateway)
    browser.sign_in("system", "admin", ADMIN_PASSWORD)
    browser.go("Organizations")
    browser.press_in_row(boss.organization, "Statistics")
    browser.dialog(f"Statistics of “{boss.organization}”")
    assert browser.fact("Stored, trash included") == browser.fact("Uploaded") == "1 object, 2 KiB"
    look("dialog-statistics")
    browser.click("//dialog//a[normalize-space()='Overview of the organization']")
    browser.heading("Overview")
    assert browser.driver.current_url.endswith(f"org={boss.organization}")


def test_overview_and_objects_have_the_same_count(console, boss):
    uploader = Fleet.create(boss).uploader()
    objects = [added(boss, uploader, content(size)) for size in (10, 20, 30)]
    boss.object_management("DeleteObject", file_id=objects[0].file_id, reason="test drive")
    console.driver.refresh()
    console.find("//*[@class='tile']/p[starts-with(normalize-space(), '2 objects and 1 in the trash')]")
    console.find("//*[@class='tile'][h2='Deleted permanently']/p[normalize-space()='0 objects']")
    console.go("Objects")
    console.find("//*[@class='list-status'][normalize-space()='2 objects']")
