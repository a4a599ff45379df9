"""The end of a session in headless Chromium: the warning before it, and the sign-in over the page after it."""

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from support.browser import DESKTOP, Browser
from support.parties import PASSWORD, Fleet, unique
from support.uploads import content

MIB = 1 << 20
#: The slow network of an upload that is interrupted, in bytes a second.
SLOW = 800_000
#: Ends the session at the gateway, of which the page does not know.
END = """
const headers = { 'X-Console-Token': localStorage.getItem('console-token') }
await fetch('/console/session', { method: 'DELETE', headers })
"""
#: Changes the times that a session has left, as the gateway sends them; `asked` says of each request whether it is in the background.
TIMES = """
window.asked = []
const there = fetch
window.times = arguments[0]
window.fetch = async (url, options) => {
  if (url !== '/console/session' || options.method !== 'GET') return there(url, options)
  asked.push(Boolean(options.headers['X-Console-Background']))
  const answer = await there(url, options)
  return new Response(JSON.stringify({ ...await answer.json(), ...times }), { status: answer.status })
}
const { checkSession } = await import('/console/api.js')
const { watchSession } = await import('/console/session-watch.js')
await checkSession({ isBackground: true })
watchSession()
"""


@pytest.fixture
def boss(new_organization):
    boss = new_organization()
    boss.users("CreateUser", user_name="vera", password=PASSWORD, role="viewer")
    boss.site_id = Fleet.create(boss).site_id
    return boss


@pytest.fixture
def console(browser, gateway, boss) -> Browser:
    """The console for the organization's admin; the test fails if the browser logged an error."""
    browser.resize(DESKTOP)
    browser.enter(gateway)
    browser.sign_in(boss.organization, "boss", PASSWORD)
    browser.heading("Overview")
    browser.driver.get_log("browser")
    yield browser
    browser.throttle(-1)
    browser.driver.execute_script("window.onbeforeunload = null")
    browser.assert_no_errors()


def end_session(console) -> None:
    console.script(END)


def sign_in_again(console, user_name: str = "boss") -> None:
    console.find("//dialog[@open]//h2[normalize-space()='Sign in again']")
    console.fill("User name", user_name)
    console.fill("Password", PASSWORD)
    console.press("Sign in")


def test_sign_in_over_the_page_keeps_what_was_typed(console, boss):
    console.go("Users")
    console.press("New user")
    name = unique("nina")
    console.fill("User name", name)
    console.driver.execute_script(
        "document.querySelector('dialog input[name=password]').value = arguments[0]", PASSWORD
    )
    console.script(END)
    console.press("Create")
    console.find("//dialog[@open]//h2[normalize-space()='Sign in again']")
    assert console.alert() == "Your session has ended. Sign in again."
    form = "//form[@class='sign-in']"
    value = lambda label: console.find(f"{form}//input[@name='{label}']").get_attribute("value")
    assert (value("organization"), value("userName")) == (boss.organization, "boss")
    # Escape does not lead around it.
    for _ in range(2):
        console.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    console.find(f"{form}//input[@name='password']").send_keys(PASSWORD + Keys.ENTER)
    # The call that was refused is made again.
    console.notice(f"User “{name}” was created.")
    console.row("User", name)


def test_upload_continues_after_the_sign_in_over_the_page(console, boss, look, tmp_path):
    console.go("Uploads")
    data = content(40 * MIB)
    (tmp_path / "night.bin").write_bytes(data)
    run = unique("run")
    console.throttle(SLOW)
    console.driver.find_element(By.XPATH, "//input[@aria-label='Choose files']").send_keys(str(tmp_path / "night.bin"))
    console.fill("Tags", f"run={run}")
    console.press("Upload")
    parts = "return performance.getEntriesByType('resource').filter(({ name }) => name.includes('/parts/')).length"
    before = console.until(lambda: console.driver.execute_script(parts))
    end_session(console)
    console.find("//dialog[@open]//h2[normalize-space()='Sign in again']")
    look("sign-in-again")
    console.throttle(-1)
    sign_in_again(console)
    console.find("//section[@aria-label='Uploads of this browser']//*[normalize-space()='uploaded']")
    assert not console.driver.find_elements(By.XPATH, "//dialog")
    found = {each.name: each for each in boss.list_all(filter=f"raw_tags.run={run}")}
    assert found["night.bin"].size_bytes == len(data)
    # No part that was stored is sent again, but for those that the end refused.
    assert console.driver.execute_script(parts) <= len(data) // MIB + 3, before


def test_another_user_replaces_page_and_uploads(console, boss, tmp_path):
    console.go("Uploads")
    (tmp_path / "private.bin").write_bytes(content(40 * MIB))
    console.throttle(SLOW)
    console.driver.find_element(By.XPATH, "//input[@aria-label='Choose files']").send_keys(
        str(tmp_path / "private.bin")
    )
    console.press("Upload")
    console.find("//section[@aria-label='Uploads of this browser']//*[contains(., '%')]")
    end_session(console)
    console.throttle(-1)
    sign_in_again(console, "vera")
    console.until(lambda: "vera" in console.account().text)
    console.heading("Uploads")
    # The gateway still lists the upload, which this browser sends no more.
    assert not console.driver.find_elements(By.CLASS_NAME, "uploader")
    assert not console.driver.find_elements(By.XPATH, "//dialog")


def test_signing_out_leaves_the_page(console):
    end_session(console)
    console.driver.execute_script("location.hash = '#/users'")
    console.find("//dialog[@open]//h2[normalize-space()='Sign in again']")
    console.press("Sign out")
    console.heading("data-gateway")
    assert not console.driver.find_elements(By.XPATH, "//dialog")


def test_sign_in_of_another_tab_continues_this_one(console):
    end_session(console)
    first = console.driver.current_window_handle
    console.driver.execute_script("location.hash = '#/users'")
    console.find("//dialog[@open]//h2[normalize-space()='Sign in again']")
    console.driver.execute_script("window.isSame = true")
    console.driver.switch_to.new_window("tab")
    second = console.driver.current_window_handle
    try:
        console.driver.switch_to.window(first)
        address = console.driver.current_url
        console.driver.switch_to.window(second)
        console.open(address)
        console.fill("User name", "boss")
        console.fill("Password", PASSWORD)
        console.press("Sign in")
        console.heading("Users")
        console.driver.switch_to.window(first)
        console.row("User", "vera")
        assert not console.driver.find_elements(By.XPATH, "//dialog")
        assert console.driver.execute_script("return window.isSame")
    finally:
        console.driver.switch_to.window(second)
        console.driver.close()
        console.driver.switch_to.window(first)


def test_unused_session_is_kept_by_the_warning(console, look):
    console.script(TIMES, {"secondsLeft": 7200, "idleSecondsLeft": 301})
    assert not console.driver.find_elements(By.XPATH, "//aside[@aria-label='End of the session']")
    console.driver.execute_script("times = { secondsLeft: 7200, idleSecondsLeft: 299 }")
    warning = console.find("//aside[@aria-label='End of the session']").text
    assert "Your session ends at" in warning and "because it is not used" in warning
    look("session-ending")
    console.driver.execute_script("asked.length = 0; times = {}")
    console.press("Stay signed in")
    console.until(lambda: not console.driver.find_elements(By.XPATH, "//aside[@aria-label='End of the session']"))
    # The request counts as use.
    assert console.driver.execute_script("return asked") == [False]


def test_session_that_cannot_be_prolonged_offers_another_sign_in(console):
    console.script(TIMES, {"secondsLeft": 200, "idleSecondsLeft": 1800})
    warning = console.find("//aside[@aria-label='End of the session']").text
    assert "some hours after the sign-in" in warning
    console.press("Sign in again")
    console.find("//dialog[@open]//h2[normalize-space()='Sign in again']")
    console.press("Cancel")
    console.until(lambda: not console.driver.find_elements(By.XPATH, "//dialog"))
    console.press("Sign in again")
    console.driver.execute_script("times = {}")
    sign_in_again(console)
    console.until(lambda: not console.driver.find_elements(By.XPATH, "//dialog"))
    console.until(lambda: not console.driver.find_elements(By.XPATH, "//aside[@aria-label='End of the session']"))
    console.go("Users")
    console.row("User", "vera")
