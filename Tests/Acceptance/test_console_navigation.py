"""Goes from page to page of the console in headless Chromium: addresses, the way back, the focus and long lists."""

import json

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from support.browser import DESKTOP, PHONE
from support.gateway import ADMIN_PASSWORD
from support.parties import PASSWORD, Fleet


def test_dialog_closes_when_its_page_is_left(console, fleet, gateway):
    device = fleet.register().device_id
    console.go("Devices")
    console.open(f"http://{gateway.listeners['web']}/console/#/devices/{device}")
    console.heading(device)
    console.press("Edit")
    console.driver.back()
    console.heading("Devices")
    assert not console.driver.find_elements(By.XPATH, "//dialog")
    console.driver.forward()
    console.heading(device)
    assert not console.driver.find_elements(By.XPATH, "//dialog")


def test_focus_moves_to_the_content_when_a_dialog_changed_the_page(console, fleet, gateway):
    device = fleet.register().device_id
    console.open(f"http://{gateway.listeners['web']}/console/#/devices/{device}")
    console.heading(device)
    console.press("Edit")
    console.fill("Name", "Blue rover" + Keys.ENTER)
    console.heading("Blue rover")
    console.until(lambda: not console.driver.find_elements(By.XPATH, "//dialog"))
    assert console.driver.switch_to.active_element.get_attribute("id") == "content"


def test_invalid_address_shows_a_page_with_an_error(console, gateway):
    console.open(f"http://{gateway.listeners['web']}/console/#/objects/%")
    assert console.alert()
    console.go("Devices")
    console.open(f"http://{gateway.listeners['web']}/console/#/devices/991231-000000")
    assert console.alert() == "device 991231-000000 does not exist"
    console.heading("Devices")


def test_former_address_of_corrupted_objects_still_works(console, gateway):
    console.open(f"http://{gateway.listeners['web']}/console/#/bad-objects")
    console.heading("Corrupted objects")
    assert console.find("//nav//a[@aria-current='page']").text == "Corrupted objects"


#: Holds the first call of a method until `hold.send()`, and its answer until `hold.release()`.
HOLD = """
const there = fetch
const gate = (name) => new Promise((done) => { hold[name] = done })
window.hold = { isCalled: false, isSent: false, isReleased: false }
window.fetch = async (url, options) => {
  if (hold.isCalled || !url.endsWith(arguments[0])) return there(url, options)
  const [sent, released] = [gate('send'), gate('release')]
  hold.isCalled = true
  await sent
  const answer = await there(url, options)
  const text = await answer.text()
  hold.isSent = true
  await released
  hold.isReleased = true
  return new Response(text, { status: answer.status })
}
"""


class Hold:
    """The first call of a method, which waits for the test."""

    def __init__(self, page, method: str):
        self.page = page
        page.driver.execute_script(f"(function () {{ {HOLD} }}).call(null, {json.dumps('/' + method)})")

    def wait_for(self, state: str) -> None:
        self.page.until(lambda: self.page.driver.execute_script(f"return hold.{state}"), state)

    def send(self) -> None:
        self.wait_for("isCalled")
        self.page.driver.execute_script("hold.send()")
        self.wait_for("isSent")

    def release(self) -> None:
        self.page.driver.execute_script("hold.release()")
        self.wait_for("isReleased")
        self.page.drawn()


def test_page_that_was_left_changes_nothing_of_the_next_one(console):
    console.heading("Overview")
    held = Hold(console, "ListDeviceSuites")
    console.driver.execute_script("location.hash = '#/devices'")
    held.send()
    console.go("Objects")
    filter_field = console.field("Filter")
    console.driver.execute_script("arguments[0].focus()", filter_field)
    held.release()
    assert console.driver.switch_to.active_element == filter_field
    assert console.driver.title == "Objects · data-gateway"


#: Pages, the call that each waits for, and its title.
LOADING = {
    "overview": ("GetStatistics", "Overview"),
    "devices": ("ListDeviceSuites", "Devices"),
    "retention": ("GetRetention", "Retention"),
    "storage": ("GetStorageUse", "Storage"),
    "gateways": ("GetSystemStatus", "Gateways"),
    "settings": ("ListSettings", "Settings"),
    "account": ("ListSessions", "My account"),
}


@pytest.mark.parametrize("name", LOADING)
def test_page_shows_its_title_while_it_is_loaded(console, name):
    method, title = LOADING[name]
    console.go("Objects")
    held = Hold(console, method)
    console.driver.execute_script(f"location.hash = '#/{name}'")
    held.wait_for("isCalled")
    skeleton = console.find("//main//*[@class='skeleton'][@aria-busy='true']")
    assert console.find("//main//*[@class='skeleton-title']").text == title
    places = [each for each in skeleton.find_elements(By.TAG_NAME, "div") if each.is_displayed()]
    assert len(places) == 3 and all(each.size["height"] > 50 for each in places)
    held.send()
    held.release()
    console.heading(title)
    assert not console.driver.find_elements(By.CLASS_NAME, "skeleton")


def test_reload_keeps_the_scroll_position(page, gateway, new_organization):
    boss = new_organization()
    fleet = Fleet.create(boss)
    for _ in range(30):
        fleet.register()
    page.sign_in(boss.organization, "boss", PASSWORD)
    page.go("Devices")
    page.until(lambda: len(page.rows()) == 30)
    page.driver.execute_script("scrollTo(0, 700)")
    page.driver.refresh()
    page.heading("Devices")
    page.until(lambda: page.driver.execute_script("return scrollY") == 700)
    # Another page begins at its top. A click would first scroll to the link.
    page.driver.execute_script("location.hash = '#/suites'")
    page.heading("Suites")
    assert page.driver.execute_script("return scrollY") == 0
    page.driver.back()
    page.heading("Devices")
    page.until(lambda: page.driver.execute_script("return scrollY") == 700)


def test_late_answer_to_an_earlier_session_leaves_the_current_one_alone(page):
    page.sign_in("system", "admin", ADMIN_PASSWORD)
    page.heading("Overview")
    held = Hold(page, "ListApiTokens")
    page.go("My account")
    held.wait_for("isCalled")
    page.press("Sign out")
    page.heading("data-gateway")
    held.send()
    page.sign_in("system", "admin", ADMIN_PASSWORD)
    page.heading("My account")
    held.release()
    page.go("Overview")


def navigation(page) -> dict[str, list[str]]:
    """Opens every section; returns the pages that its row shows."""

    def texts(links: str) -> list[str]:
        return [link.text for link in page.driver.find_elements(By.XPATH, links)]

    def shown() -> tuple[list[str], list[str], list[str]]:
        """Returns the texts of the current page's link, of the row of pages, and of the current section's link."""
        return (
            texts("//header//a[@aria-current='page']"),
            texts("//nav[@aria-label='Pages']/a"),
            texts("//nav[@aria-label='Sections']/a[@aria-current='true']"),
        )

    page.heading("Overview")
    sections = page.until(lambda: texts("//nav[@aria-label='Sections']/a"))
    rows = {}
    for section in sections:
        page.click(f"//nav[@aria-label='Sections']/a[.='{section}']")
        page.find(f"//nav[@aria-label='Sections']/a[.='{section}'][@aria-current]")
        # The page may draw its header again while it is read; `until` reads it once more then.
        (current,), rows[section], current_sections = page.until(shown)
        assert current == (rows[section] or [section])[0]
        assert current_sections == [section] * bool(rows[section])
        page.heading(current)
    return rows


def test_navigation_names_the_pages_of_each_role(page, gateway, new_organization):
    boss = new_organization()
    for role in ("viewer", "operator"):
        boss.users("CreateUser", user_name=role, password=PASSWORD, role=role)
    page.sign_in(boss.organization, "viewer", PASSWORD)
    objects = ["Objects", "Uploads", "Copy jobs", "Storage"]
    assert navigation(page) == {"Overview": [], "Objects": objects}
    sign_in_as(page, gateway, boss.organization, "operator", PASSWORD)
    devices = ["Devices", "Suites", "Sites and keys"]
    assert navigation(page) == {"Overview": [], "Devices": devices, "Objects": objects}
    sign_in_as(page, gateway, boss.organization, "boss", PASSWORD)
    objects += ["Trash", "Retention", "Corrupted objects"]
    administration = ["Users", "Webhooks", "Audit log"]
    assert navigation(page) == {
        "Overview": [],
        "Devices": devices,
        "Objects": objects,
        "Administration": administration,
    }
    sign_in_as(page, gateway, "system", "admin", ADMIN_PASSWORD)
    administration += ["Organizations", "Gateways", "Settings", "Signing keys", "Backup"]
    assert navigation(page)["Administration"] == administration
    page.go("My account")
    (current,) = page.driver.find_elements(By.XPATH, "//header//a[@aria-current]")
    assert current == page.account()


def sign_in_as(page, gateway, organization: str, user_name: str, password: str) -> None:
    page.sign_out()
    page.open(f"http://{gateway.listeners['web']}/console/")
    page.sign_in(organization, user_name, password)


def test_long_list_is_shown_page_by_page(page, gateway, new_organization):
    boss = new_organization()
    fleet = Fleet.create(boss)
    devices = {fleet.register().device_id for _ in range(60)}
    page.sign_in(boss.organization, "boss", PASSWORD)
    page.go("Devices")
    page.until(lambda: len(page.rows()) == 50)
    # The button is pressed while the network is down, and twice when it is back.
    page.driver.execute_script(
        """
        window.there = fetch
        window.more = [...document.querySelectorAll('button')].find((each) => each.textContent === 'Show more')
        // Whether the gateway is back stays open, because the page would show its list from the beginning then.
        const probe = (answer) => (url, options) => url.endsWith('/icon.svg') ? new Promise(() => {}) : answer(url, options)
        window.fetch = probe(() => Promise.reject())
        window.repair = () => { window.fetch = probe(there) }
        more.click()
        """
    )
    page.notice("The gateway cannot be reached. Check the network connection and try again.")
    assert len(page.rows()) == 50
    page.driver.execute_script("repair(); more.focus(); more.click(); more.click()")
    page.until(lambda: len(page.rows()) > 50)
    assert {row["Device"] for row in page.rows()} == devices and len(page.rows()) == len(devices)
    assert page.driver.switch_to.active_element.text == page.rows()[50]["Device"]


def navigation_state(page) -> dict:
    """Returns the current links, whether each is wholly visible in its row, the width, and where the page is scrolled."""
    return page.driver.execute_script(
        """
        const links = [...document.querySelectorAll('nav [aria-current]')]
        const isVisible = (link) => {
          const [frame, box] = [link.parentElement, link].map((each) => each.getBoundingClientRect())
          return box.left >= frame.left && box.right <= frame.right
        }
        return { current: links.map(({ textContent }) => textContent), visible: links.every(isVisible),
          width: innerWidth, scrollY: Math.round(scrollY) }
        """
    )


def test_navigation_of_a_phone_shows_the_current_page(console, gateway):
    def wait(current: list[str], scrolled: int) -> None:
        expected = {"current": current, "visible": True, "width": PHONE[0], "scrollY": scrolled}
        console.until(lambda: navigation_state(console) == expected, expected)

    console.resize(PHONE)
    pages = {"backup": ["Administration", "Backup"], "overview": ["Overview"], "users": ["Administration", "Users"]}
    for path, current in pages.items():
        console.open(f"http://{gateway.listeners['web']}/console/#/{path}")
        console.heading(current[-1])
        wait(current, 0)
    # A row scrolls when the window becomes narrow, and the page stays where it is. A window keeps its position, unlike a
    # phone that is turned.
    console.open(f"http://{gateway.listeners['web']}/console/#/backup")
    console.heading("Backup")
    console.resize(DESKTOP)
    console.driver.execute_script("document.documentElement.style.minHeight = '3000px'; scrollTo(0, 500)")
    console.until(lambda: navigation_state(console)["scrollY"] == 500)
    console.resize((PHONE[0], DESKTOP[1]))
    wait(pages["backup"], 500)
