"""States of the console's pages that a person reaches by an action: each shows one, and takes its pictures."""

from pathlib import Path

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from .gateway import eventually
from .parties import PASSWORD, User
from .uploads import content

NETWORK = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
#: Ends the session at the gateway, of which the page does not know.
END = """
const headers = { 'X-Console-Token': localStorage.getItem('console-token') }
await fetch('/console/session', { method: 'DELETE', headers })
"""
#: The gateway's times of the session, which ends soon.
ENDING = """
const there = fetch
window.fetch = async (url, options) => {
  if (url !== '/console/session' || options.method !== 'GET') return there(url, options)
  const answer = await there(url, options)
  const times = { secondsLeft: 7200, idleSecondsLeft: 200 }
  return new Response(JSON.stringify({ ...await answer.json(), ...times }), { status: answer.status })
}
const { checkSession } = await import('/console/api.js')
const { watchSession } = await import('/console/session-watch.js')
await checkSession({ isBackground: true })
watchSession()
"""
FILTER = "//input[@id='filter']"


def entrances(camera, organization: str, invitation: str) -> None:
    """The sign-in, and the page of an invitation."""
    browser, base = camera.browser, f"http://{camera.gateway.listeners['web']}/console/"
    browser.enter(camera.gateway)
    browser.heading("data-gateway")
    camera.take("sign-in")
    with camera.attempt("sign-in-refused"):
        browser.sign_in(organization, "ada", "not the password")
        browser.alert()
        camera.take("sign-in-refused")
    for name, token, heading in (
        ("invitation", invitation, f"Join {organization}"),
        ("invitation-ended", "dgwi_absent", "Invitation"),
    ):
        with camera.attempt(name):
            browser.open(f"{base}#/invitation/{token}")
            browser.driver.refresh()
            browser.heading(heading)
            browser.until(lambda: "Loading…" not in browser.text)
            camera.take(name)


def of_pages(camera, user: User, place: Path) -> None:
    """What opens in a page, and what is the result of an action in it."""
    browser, gateway = camera.browser, camera.gateway
    with camera.attempt("audit-opened"):
        browser.show(gateway, "audit?since=&about=DELETION", "Audit log")
        browser.click("//button[contains(@class, 'link')][@aria-expanded='false']")
        browser.find("//*[@class='targets']//li")
        camera.take("audit-opened")
    with camera.attempt("objects-facets"):
        browser.show(gateway, "objects", "Objects")
        # They close when the window becomes narrow.
        camera.take("objects-facets", "document.querySelector('.side').open = true")
    with camera.attempt("objects-suggestions"):
        browser.show(gateway, "objects", "Objects")
        browser.find(FILTER).send_keys("pic")
        # The names are loaded when the field has the focus.
        browser.until(
            lambda: (
                browser.driver.find_elements(By.XPATH, "//*[@class='suggestions']/li")
                or browser.find(FILTER).send_keys("k", Keys.BACKSPACE)
            )
        )
        camera.take("objects-suggestions")
        browser.find(FILTER).send_keys(Keys.ESCAPE)
    with camera.attempt("objects-folders"):
        browser.show(gateway, "objects?filter=name%3A%2Ametadata.yaml", "Objects")
        browser.click(
            "//main//tbody//tr[.//*[@class='folder-files'][normalize-space()]]//a[contains(@class, 'row-link')]"
        )
        browser.find("//button[normalize-space()='Download folder']")
        browser.until(lambda: not any(text in browser.text for text in ("Loading…", "Counting…")))
        camera.take("objects-folder")
        browser.show(gateway, "objects?filter=%22Picker+041%22", "Objects")
        camera.take("objects-folders")
    with camera.attempt("device-more"):
        (device, *_) = user.devices("ListDevices", page_size=1).devices
        browser.show(gateway, f"devices/{device.device_id}", device.display_name or device.device_id)
        browser.click("//summary[@aria-label='More actions']")
        camera.take("device-more")
    with camera.attempt("users-more"):
        browser.show(gateway, "users", "Users")
        browser.click("(//summary[@aria-label='More actions'])[1]")
        camera.take("users-more")
    with camera.attempt("object-link"):
        (found, *_) = user.list_all(filter="name:*.png")
        browser.show(gateway, f"objects/{found.file_id}", found.name)
        browser.press("Share")
        browser.press("Create link")
        browser.find("//dialog[@open]//textarea")
        camera.dialog("object-link")
    with camera.attempt("retention-counted"):
        browser.show(gateway, "retention", "Retention")
        browser.press("Add a rule")
        browser.find("//*[@class='rule']//input[@name='filter']").send_keys("weather=sun name:*.csv")
        browser.driver.find_element(By.NAME, "ruleDays").clear()
        browser.driver.find_element(By.NAME, "ruleDays").send_keys("3")
        browser.press("Count what would be deleted")
        browser.find("//*[@class='warning']")
        camera.take("retention-counted")
        browser.driver.execute_script("location.hash = '#/overview'")
        camera.dialog("retention-leave")
        browser.find("//*[@class='rule']//input[@name='filter']").send_keys(" size>much")
        browser.press("Count what would be deleted")
        browser.find("//*[@class='field-error']")
        camera.take("retention-refused")
        browser.driver.execute_script("location.hash = '#/trash'")
        browser.press("Leave")
        browser.heading("Trash")
        browser.driver.find_element(By.CSS_SELECTOR, "main input[data-select]").click()
        camera.take("trash-selected")
    with camera.attempt("uploads-own"):
        files = [place / f"2026-11-28T07-10-00_workshop_calibration-of-the-cameras_{number}.csv" for number in range(3)]
        for number, path in enumerate(files):
            path.write_bytes(content(1000 * (number + 1)))
        browser.show(gateway, "uploads", "Uploads")
        control = browser.driver.find_element(By.XPATH, "//input[@aria-label='Choose files']")
        control.send_keys("\n".join(map(str, files)))
        browser.find("//dialog[@open]")
        camera.take("uploads-choose")
        browser.press("Upload")
        own = "//section[@aria-label='Uploads of this browser']//*[contains(@class, 'badge')][.='uploaded']"
        browser.until(lambda: len(browser.driver.find_elements(By.XPATH, own)) == len(files))
        camera.take("uploads-own")
    for name, address in {
        "page-missing": "robots",
        "page-foreign": "objects?org=harbor-works",
        "device-missing": "devices/991231-000000",
        "object-missing": "objects/00000000000000000000000000000000",
    }.items():
        with camera.attempt(name):
            browser.open(f"http://{gateway.listeners['web']}/console/#/{address}")
            browser.alert()
            camera.take(name)


def of_connection(camera) -> None:
    """A page that is loading, and the gateway that cannot be reached."""
    browser, gateway = camera.browser, camera.gateway
    for name, address, mark in (
        ("overview-loading", "overview", "//*[@class='skeleton']"),
        ("devices-loading", "devices", "//*[@class='skeleton']"),
        ("objects-loading", "objects?filter=run-0001", "//*[@class='skeleton'] | //*[contains(., 'Counting…')]"),
    ):
        with camera.attempt(name):
            browser.show(gateway, "account", "My account")
            browser.driver.execute_script(
                "window.fetch = () => new Promise(() => {}); location.hash = `#/${arguments[0]}`", address
            )
            browser.find(mark)
            camera.take(name)
        browser.driver.refresh()
    with camera.attempt("disconnected"):
        browser.show(gateway, "overview", "Overview")
        browser.driver.execute_cdp_cmd("Network.enable", {})
        browser.driver.execute_cdp_cmd("Network.emulateNetworkConditions", NETWORK | {"offline": True})
        browser.driver.execute_script("location.hash = '#/devices'")
        browser.find("//p[@class='away']")
        camera.take("disconnected")
    browser.driver.execute_cdp_cmd("Network.emulateNetworkConditions", NETWORK | {"offline": False})
    browser.until(lambda: not browser.driver.find_elements(By.XPATH, "//p[@class='away']"))


def of_session(camera) -> None:
    """The end of a session: the warning, and the sign-in over the page."""
    browser = camera.browser
    with camera.attempt("session-ending"):
        browser.show(camera.gateway, "users", "Users")
        browser.script(ENDING)
        browser.find("//aside[@aria-label='End of the session']")
        camera.take("session-ending")
    with camera.attempt("session-ended"):
        browser.driver.refresh()
        browser.heading("Users")
        browser.script(END)
        browser.driver.execute_script("location.hash = '#/devices'")
        browser.find("//dialog[@open]//h2[normalize-space()='Sign in again']")
        camera.take("session-ended")
        browser.press("Sign out")


def of_roles(camera, organization: str, password: str) -> None:
    """What a viewer and a member see."""
    browser, gateway = camera.browser, camera.gateway
    with camera.attempt("viewer"):
        camera.sign_in(organization, "vera", password)
        for name, address in (("overview", "Overview"), ("objects", "Objects"), ("storage", "Storage")):
            browser.show(gateway, name, address)
            camera.take(f"viewer-{name}")
        browser.show(gateway, "users", "Users")
        camera.take("viewer-forbidden")
    with camera.attempt("member"):
        camera.sign_in(organization, "mia", PASSWORD, "No access to the console")
        camera.take("member")


def corrupt(user: User) -> None:
    """Changes the stored bytes of an object, and waits until the scrubber has found them."""
    (found, *_) = user.list_all(filter="name:*.csv")
    path = user.gateway.data / "store/data" / found.file_id[:2] / found.file_id
    path.chmod(0o600)
    path.write_bytes(b"y" * path.stat().st_size)
    path.chmod(0o400)
    eventually(lambda: user.object_management("ListBadObjects").objects)
