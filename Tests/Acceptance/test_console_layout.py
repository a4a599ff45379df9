"""Opens every page of the console in headless Chromium, and checks that it fits the screen and is accessible."""

import pytest
from selenium.webdriver.common.by import By
from support import geometry
from support.browser import DESKTOP, PHONE
from support.gateway import ADMIN_PASSWORD
from support.parties import PASSWORD, Fleet
from support.uploads import FILE_NAME_TAG, completed, content

#: The pages of an organization without data, and their headings.
EMPTY = {
    "overview": "Overview",
    "devices": "Devices",
    "suites": "Suites",
    "uploads": "Uploads",
    "objects": "Objects",
    "copies": "Copy jobs",
    "storage": "Storage",
    "trash": "Trash",
    "retention": "Retention",
    "corrupted-objects": "Corrupted objects",
    "keys": "Sites and keys",
    "users": "Users",
    "webhooks": "Webhooks",
    "audit": "Audit log",
    "account": "My account",
}


def sign_in(browser, showcase, organization: str, user_name: str, password: str) -> None:
    browser.enter(showcase.gateway)
    browser.sign_in(organization, user_name, password)
    browser.heading("Overview")


def test_every_page_fits_the_screen_and_is_accessible(browser, showcase, look):
    sign_in(browser, showcase, "system", "admin", ADMIN_PASSWORD)
    for name, (path, heading) in showcase.pages.items():
        browser.show(showcase.gateway, path, heading)
        if name == "objects":
            browser.find("//section[@aria-label='weather']")
        look(name)
    browser.open(f"http://{showcase.gateway.listeners['web']}/console/#/devices/991231-000000")
    browser.alert()
    look("missing")
    network = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    browser.driver.execute_cdp_cmd("Network.enable", {})
    browser.driver.execute_cdp_cmd("Network.emulateNetworkConditions", network | {"offline": True})
    browser.click("//nav//a[normalize-space()='Devices']")
    browser.find("//p[@class='away']")
    look("disconnected")
    browser.driver.execute_cdp_cmd("Network.emulateNetworkConditions", network | {"offline": False})
    browser.until(lambda: not browser.driver.find_elements(By.XPATH, "//p[@class='away']"))
    browser.heading("Devices")
    browser.press("Sign out")
    browser.heading("data-gateway")
    look("sign-in")
    browser.sign_in("system", "admin", "not the password")
    browser.alert()
    look("sign-in-refused")
    assert [text for text in browser.logged_errors if "Failed to load resource" not in text] == []


#: What breaks the overview, and the fault that it causes.
BROKEN = {
    "cut": ("add('.tile .big { width: 1rem; overflow: hidden; white-space: nowrap }')", "is cut"),
    "low": ("add('.tile .big { max-height: .8rem; overflow: hidden }')", "at its bottom"),
    "overlap": ("add('.tile h2 { margin-bottom: -1.5rem !important }')", "overlap by"),
    "page": ("add('main { min-width: 3000px }')", "beside the screen"),
    "table": ("add('.scroll table { width: 200% }')", "wider than its place"),
    "word": ("add('.page-header h1 { flex: none; width: 2rem; min-width: 0 }')", "the word “Overview” is broken"),
    "null": ("document.querySelector('main').append(null)", "shows “null”"),
    "axis": ("document.querySelector('.axis span').textContent = '5 KiB'", "wrong numbers 5 KiB"),
    "odd": ("document.querySelectorAll('.axis span')[1].textContent = '819 KiB'", "the odd number 819 KiB"),
    "times": (
        "const cell = document.querySelector('main').appendChild(document.createElement('table')).insertRow().insertCell(); "
        "for (const text of ['Nov 3, 07:10', 'Nov 3, 07:10:30']) cell.appendChild(document.createElement('time')).append(text)",
        "times with seconds and without",
    ),
    "values": ("document.querySelectorAll('rect').forEach((each) => each.removeAttribute('height'))", "without values"),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_faults_of_a_page_are_noticed(browser, showcase, fault):
    sign_in(browser, showcase, "system", "admin", ADMIN_PASSWORD)
    browser.show(showcase.gateway, *showcase.pages["overview"])
    assert geometry.faults(browser) == []
    change, sentence = BROKEN[fault]
    add = "const [sheet] = document.styleSheets; const add = (rule) => sheet.insertRule(rule, sheet.cssRules.length);"
    try:
        assert any(sentence in found for found in geometry.faults(browser, f"{add} {{ {change} }}"))
    finally:
        browser.driver.refresh()


def test_pages_without_data_fit_the_screen_and_are_accessible(browser, showcase, look):
    sign_in(browser, showcase, "university", "boss", PASSWORD)
    for path, heading in EMPTY.items():
        browser.show(showcase.gateway, path, heading)
        look(f"empty-{path}")


def test_pages_of_a_viewer_fit_the_screen_and_are_accessible(browser, showcase, look):
    sign_in(browser, showcase, "system", "vera", PASSWORD)
    for name in ("overview", "uploads", "object-png"):
        browser.show(showcase.gateway, *showcase.pages[name])
        look(f"viewer-{name}")


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_long_names_wrap_without_horizontal_scrolling(page, gateway, new_organization, size):
    boss = new_organization()
    long = "Landmaschinenvermessungsgesellschaft" * 3
    site = boss.admin("CreateSite", name=long).site.site_id
    suite = boss.devices("CreateDeviceSuite", site_id=site, display_name=long).name
    uploader = Fleet(boss, site, suite).uploader(display_name=long, tags={"a" * 64: "b" * 500})
    boss.admin("CreateSiteApiKey", site_id=site, key_name="k" * 80)
    boss.users("CreateUser", user_name="x" * 60, password=PASSWORD, role="viewer")
    completed(uploader, content(10), {FILE_NAME_TAG: long, "note": "w" * 1500})
    (wanted,) = boss.list_all()
    page.sign_in(boss.organization, "boss", PASSWORD)
    page.resize(size)
    for path in (
        "devices",
        f"devices/{uploader.device_id}",
        "uploads",
        "objects",
        f"objects/{wanted.file_id}",
        f"keys?site={site}",
        "users",
        "audit",
    ):
        page.open(f"http://{gateway.listeners['web']}/console/#/{path}")
        page.until(lambda: page.find("//h1") and "Loading…" not in page.text)
        # Neither the page nor a table in it scrolls horizontally.
        wide = page.driver.execute_script(
            """
            return [document.documentElement, ...document.querySelectorAll('.scroll')].filter(
              (each) => each.scrollWidth > each.clientWidth).map((each) => `${each.className}: ${each.scrollWidth}`)
            """
        )
        assert not wide, f"{path}: {wide}"
    # An id does not wrap.
    page.open(f"http://{gateway.listeners['web']}/console/#/devices")
    link = page.find(f"//small[normalize-space()='{uploader.device_id}']")
    assert link.size["height"] < 30

    page.sign_out()
    page.open(f"http://{gateway.listeners['web']}/console/")
    page.sign_in(boss.organization, "x" * 60, PASSWORD)
    page.heading("Overview")
    brand, account = page.driver.execute_script(
        "return ['.brand', '#account'].map((each) => document.querySelector(each).getBoundingClientRect().toJSON())"
    )
    assert brand["right"] <= account["left"] <= page.account().rect["x"] and account["right"] <= size[0]
