"""Opens the console's dialogs in headless Chromium, and checks that each is accessible and closes by the keyboard."""

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from support.browser import DESKTOP, Browser
from support.gateway import ADMIN_PASSWORD
from support.uploads import FILE_NAME_TAG, Upload, completed, content

#: The buttons of each page that open a dialog; a page's name may contain the id of a device, an object or a site.
DIALOGS = {
    "devices": ["New suite", "Register device"],
    "devices/{device}": [
        "Show configuration",
        "Edit",
        "Remove from suite",
        "Allow new key",
        "Disable",
        "Delete",
    ],
    "suites": ["New suite", "Delete"],
    "uploads": ["Abort"],
    "objects/{object}": ["Share", "Edit tags", "Copy to…", "Delete"],
    "keys?site={site}": ["New site", "Disable", "New key"],
    "users": ["New user", "Change role", "Set password", "Reset second factor", "Delete"],
    "organizations": ["New organization", "Rename"],
    "signing-keys": ["Rotate"],
    "account": ["Change password", "New token", "Set up second factor"],
}


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("downloads"))
    yield browser
    browser.close()


def test_every_dialog_is_accessible_and_closes_by_the_keyboard(browser, gateway, admin, fleet, uploader):
    stored = completed(uploader, content(100), {FILE_NAME_TAG: "dialogs.csv"})
    (found,) = admin.list_all(filter=f"device={stored.uploader.device_id}")
    Upload.create(uploader).multipart(content(100))
    browser.resize(DESKTOP)
    browser.open(f"http://{gateway.listeners['web']}/console/")
    browser.sign_in("system", "admin", ADMIN_PASSWORD)
    browser.heading("Overview")
    places = {"device": uploader.device_id, "object": found.file_id, "site": fleet.site_id}
    for page, buttons in DIALOGS.items():
        browser.open(f"http://{gateway.listeners['web']}/console/#/{page.format(**places)}")
        for name in buttons:
            browser.find(f"(//main//button[normalize-space()='{name}'])[1]").click()
            browser.find("//dialog[@open]")
            assert not (wrong := browser.violations("dialog[open]")), f"{page}, {name}: {wrong}"
            browser.driver.find_element(By.CSS_SELECTOR, "dialog[open]").send_keys(Keys.ESCAPE)
            browser.until(lambda: not browser.driver.find_elements(By.CSS_SELECTOR, "dialog[open]"), name)
    assert browser.logged_errors == []
