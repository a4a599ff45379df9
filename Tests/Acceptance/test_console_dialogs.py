"""Opens the console's dialogs in headless Chromium: each fits the screen, is accessible and closes by the keyboard."""

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from support.browser import DESKTOP, Browser
from support.gateway import ADMIN_PASSWORD
from support.looks import Looks
from support.showcase import LONG_NAME
from support.uploads import content

#: The buttons of each page that open a dialog; a button's name may have the text of its table row before a slash.
DIALOGS = {
    "devices": ["New suite", "Register device"],
    "device": ["Show configuration", "Edit", "Remove from suite", "Allow new key", "Disable", "Retire"],
    "device-new": ["Add to suite"],
    "device-disabled": ["Enable"],
    "suites": ["New suite", "Edit", "Delete"],
    "uploads": ["Abort"],
    "object-mcap": ["Share", "Open in…", "Edit tags", "Copy to…", "Delete"],
    "object-trashed": ["Delete permanently"],
    "copy-waiting": ["Cancel"],
    "retention": ["Show"],
    "keys": [
        "New site",
        "North plant/Edit",
        "North plant/Disable",
        "Old depot/Enable",
        "New key",
        "importer/Rotate",
        "importer/Disable",
        "importer/Delete",
    ],
    "users": [
        "Invite",
        "New user",
        "Require a second factor",
        "nora/Withdraw",
        "vera/Change role",
        "vera/Set password",
        "vera/Reset second factor",
        "vera/Delete",
    ],
    "webhooks": ["Payload"],
    "organizations": ["New organization", "Rename", "university/Delete"],
    "signing-keys": ["Rotate"],
    "account": ["Change password", "End all others", "New token", "Set up second factor"],
}
#: The actions of the page Objects on the selected objects.
BULK = ["Share", "Tag", "Copy to…", "Delete"]


@pytest.fixture
def console(browser, showcase) -> Browser:
    """A browser in which the admin of `system` is signed in; the test fails if the browser logged an error."""
    browser.resize(DESKTOP)
    browser.enter(showcase.gateway)
    browser.sign_in("system", "admin", ADMIN_PASSWORD)
    browser.heading("Overview")
    yield browser
    browser.assert_no_errors()


def show(console: Browser, showcase, name: str) -> None:
    console.open(f"http://{showcase.gateway.listeners['web']}/console/#/{showcase.pages[name][0]}")


def inspect(console: Browser, look: Looks, name: str) -> None:
    """Looks at the open dialog, and closes it."""
    console.find("//dialog[@open]")
    look(f"dialog-{name}")
    console.driver.find_element(By.CSS_SELECTOR, "dialog[open]").send_keys(Keys.ESCAPE)
    # A dialog is removed, and what follows its end done, after it was closed.
    console.until(lambda: not console.driver.find_elements(By.TAG_NAME, "dialog"), name)


def picture_name(page: str, button: str) -> str:
    return "-".join([page, *button.rpartition("/")[2].rstrip("…").lower().split()])


def test_every_dialog_is_accessible_and_closes_by_the_keyboard(console, showcase, look):
    for page, buttons in DIALOGS.items():
        show(console, showcase, page)
        for button in buttons:
            row, _, name = button.rpartition("/")
            place = f"//tr[td[normalize-space()='{row}']]" if row else "//main"
            console.click(f"({place}//button[normalize-space()='{name}'])[1]")
            inspect(console, look, picture_name(page, button))


def test_dialogs_for_selected_objects_are_accessible(console, showcase, look):
    show(console, showcase, "objects")
    for name in ("front.png", LONG_NAME):
        console.click(f"//input[@aria-label='Select {name}']")
    look("objects-selected")
    for name in BULK:
        console.click(f"//div[@aria-label='Selected objects']//button[normalize-space()='{name}']")
        inspect(console, look, picture_name("selected", name))


def test_dialogs_with_results_are_accessible(console, showcase, look, tmp_path):
    console.driver.find_element(By.TAG_NAME, "body").send_keys("?")
    inspect(console, look, "shortcuts")

    show(console, showcase, "object-png")
    console.press("Share")
    console.press("Create link")
    console.find("//dialog[@open]//textarea")
    inspect(console, look, "link")

    show(console, showcase, "keys")
    console.press_in_row("importer", "Rotate")
    console.press("Rotate")
    console.find("//dialog[@open]//textarea")
    inspect(console, look, "credential")

    show(console, showcase, "retention")
    console.fill("All other objects: days", "1")
    console.press("Count what would be deleted")
    console.find("//*[@class='warning']")
    look("retention-counted")
    console.driver.execute_script("location.hash = '#/overview'")
    inspect(console, look, "retention-leave")

    console.driver.execute_script("location.hash = '#/devices'")
    console.press("Leave")
    console.press("Register device")
    console.fill("Device id", "no device id")
    console.press("Register")
    console.alert()
    inspect(console, look, "refused")

    (tmp_path / LONG_NAME).write_bytes(content(100))
    show(console, showcase, "uploads")
    console.heading("Uploads")
    control = console.driver.find_element(By.XPATH, "//input[@aria-label='Choose files']")
    control.send_keys(str(tmp_path / LONG_NAME))
    inspect(console, look, "upload")
