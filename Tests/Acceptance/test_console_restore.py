"""A restore in headless Chromium: an archive is uploaded, looked at, applied, and its result is seen."""

import threading

import pytest
from selenium.webdriver.common.by import By
from support.browser import Browser
from support.commands import CommandLine
from support.gateway import ADMIN_PASSWORD, Gateway
from support.parties import Fleet
from support.restores import RESTART
from support.uploads import completed, content

CONFIG = {"object_store": {"min_free_bytes": 0}}


class Supervisor:
    """Starts the gateway again when it ends with the exit code for a restart, like its unit."""

    def __init__(self, gateway: Gateway):
        self.gateway = gateway
        self.restarts = 0

    def watch(self) -> threading.Thread:
        def run() -> None:
            process = self.gateway.process
            if process.wait() == RESTART:
                self.gateway._reader.join()
                self.gateway.process = None
                self.gateway.start()
                self.restarts += 1

        thread = threading.Thread(target=run)
        thread.start()
        return thread


@pytest.fixture
def gateway(binary, tmp_path):
    gateway = Gateway(binary, tmp_path, CONFIG).start()
    yield gateway
    gateway.close()


def test_backup_is_restored_and_taken_back_on_the_page(browser, gateway, binary, login, tmp_path, look):
    user = login(gateway)
    completed(Fleet.create(user).uploader(), content(300_000))
    archive = tmp_path / "gateway.backup"
    CommandLine(binary, gateway, tmp_path).login().json("backup", "--to", str(archive))
    broken = tmp_path / "broken.backup"
    broken.write_bytes(archive.read_bytes()[:-10])
    completed(Fleet.create(user).uploader(), content(400_000))

    browser.open(f"http://{gateway.listeners['web']}/console/")
    browser.sign_in("system", "admin", ADMIN_PASSWORD)
    browser.heading("Overview")
    browser.go("Backup")
    browser.field("Archive").send_keys(str(broken))
    browser.press("Upload and check")
    assert browser.alert() == "the archive is cut off: its end is missing"
    look("restore-refused")
    browser.field("Archive").send_keys(str(archive))
    browser.press("Upload and check")
    row = browser.row("Content", "Objects")
    assert (row["In the archive"], row["Present"], row["Present, not in the archive"]) == ("1", "2", "1")
    assert browser.fact("Origin") == "this gateway"
    look("restore-staged")

    browser.press("Restore…")
    text = browser.dialog("Restore this archive?")
    assert "No longer listed afterwards: 1 object (391 KiB), 1 device, 1 site." in text
    look("restore-confirm")
    browser.fill("Your password", "not the password")
    browser.press("Restore")
    assert browser.alert() == "the current password is wrong"
    supervisor = Supervisor(gateway)
    watch = supervisor.watch()
    browser.fill("Your password", ADMIN_PASSWORD)
    browser.press("Restore")
    browser.heading("The gateway is restarting")
    look("restore-restarting")
    watch.join()
    # The session is of the archive's time or later: in the first case, the result is shown at once.
    sign_in_if_asked(browser)
    browser.find("//p[normalize-space()='The gateway was restored from a backup.']")
    assert "1 file that the archive does not know" in browser.fact("In quarantine")
    look("restore-restored")
    assert len(login(gateway).list_all()) == 1

    watch = supervisor.watch()
    browser.press("Return to previous data")
    browser.fill("Your password", ADMIN_PASSWORD)
    browser.press("Return")
    watch.join()
    sign_in_if_asked(browser)
    browser.find("//p[normalize-space()='The gateway has its previous data again.']")
    assert supervisor.restarts == 2
    assert len(login(gateway).list_all()) == 2

    browser.press("Delete previous data")
    browser.fill("Your password", ADMIN_PASSWORD)
    browser.press("Delete")
    browser.until(lambda: not browser.driver.find_elements(By.XPATH, "//button[.='Delete previous data']"))
    assert not list(gateway.data.glob("previous-*"))
    errors = [text for text in browser.logged_errors if "Failed to load resource" not in text]
    assert not errors, errors


def test_an_upload_that_is_canceled_at_its_begin_sends_no_archive(browser, gateway, tmp_path):
    """Cancel is pressed while the gateway makes room for the archive."""
    archive = tmp_path / "any.backup"
    archive.write_bytes(b"not an archive")
    browser.open(f"http://{gateway.listeners['web']}/console/")
    browser.sign_in("system", "admin", ADMIN_PASSWORD)
    browser.heading("Overview")
    browser.go("Backup")
    field = browser.field("Archive")
    browser.driver.execute_script("""
        window.sent = 0
        const [send, request] = [XMLHttpRequest.prototype.send, fetch]
        XMLHttpRequest.prototype.send = function (body) { sent += 1; return send.call(this, body) }
        window.fetch = async (path, options) => {
          const response = await request(path, options)
          if (path.endsWith('/StageArchive')) {
            [...document.querySelectorAll('button')].find((button) => button.textContent === 'Cancel').click()
          }
          return response
        }""")
    field.send_keys(str(archive))
    browser.press("Upload and check")
    browser.notice("The upload was canceled.")
    assert browser.driver.execute_script("return sent") == 0


def sign_in_if_asked(browser: Browser) -> None:
    """Waits until the page shows the result or the sign-in form, and signs in."""
    button = browser.find("//button[normalize-space()='Sign in' or normalize-space()='Delete previous data']")
    if button.text == "Sign in":
        assert "other data" in browser.alert()
        browser.sign_in("system", "admin", ADMIN_PASSWORD)
        browser.find("//button[normalize-space()='Delete previous data']")
