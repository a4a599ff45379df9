"""A restore in headless Chromium: an archive is uploaded, looked at, applied, and its result is seen."""

import sys

import pytest
from selenium.webdriver.common.by import By
from support.browser import Browser
from support.commands import CommandLine
from support.gateway import ADMIN_PASSWORD, Gateway
from support.parties import Fleet
from support.proxy import Proxy
from support.restores import RESTART, Restores
from support.uploads import MIB, completed, content

pytestmark = pytest.mark.sqlite

CONFIG = {"object_store": {"min_free_bytes": 0}}
#: The rate of the slow connection in bytes a second.
SLOW = 400_000


def restart(gateway: Gateway) -> None:
    """Starts the gateway again once it has ended with the exit code for a restart, like its unit."""
    assert gateway.process.wait() == RESTART
    gateway._reader.join()
    gateway.process = None
    gateway.start()


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

    open_backup_page(browser, gateway.listeners["web"])
    choose_archive(browser, broken)
    assert browser.alert() == "the archive is cut off: its end is missing"
    look("restore-refused")
    choose_archive(browser, archive)
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
    browser.fill("Your password", ADMIN_PASSWORD)
    browser.press("Restore")
    browser.heading("The gateway is restarting")
    look("restore-restarting")
    restart(gateway)
    # The session is of the archive's time or later: in the first case, the result is shown at once.
    sign_in_if_required(browser)
    browser.find("//p[normalize-space()='The gateway was restored from a backup.']")
    assert "1 file that the archive does not know" in browser.fact("In quarantine")
    look("restore-restored")
    assert len(login(gateway).list_all()) == 1

    browser.press("Return to previous data")
    browser.fill("Your password", ADMIN_PASSWORD)
    browser.press("Return")
    browser.heading("The gateway is restarting")
    restart(gateway)
    sign_in_if_required(browser)
    browser.find("//p[normalize-space()='The gateway has its previous data again.']")
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
    open_backup_page(browser, gateway.listeners["web"])
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


@pytest.fixture
def large_archive(binary, gateway, login, tmp_path):
    """An archive that takes a while on the way."""
    completed(Fleet.create(login(gateway)).uploader(), content(8 * MIB))
    archive = tmp_path / "large.backup"
    CommandLine(binary, gateway, tmp_path).login().json("backup", "--to", str(archive))
    return archive


@pytest.fixture
def lossy(gateway):
    """A proxy on the way to the console."""
    proxy = Proxy(gateway.listeners["web"], http=True)
    yield proxy
    proxy.close()


def choose_archive(browser: Browser, archive) -> None:
    browser.field("Archive").send_keys(str(archive))
    browser.press("Upload and check")


def open_backup_page(browser: Browser, address: str) -> None:
    browser.open(f"http://{address}/console/")
    browser.sign_in("system", "admin", ADMIN_PASSWORD)
    browser.heading("Overview")
    browser.go("Backup")


def requests_for_archives(browser: Browser) -> list[str]:
    """The queries of the page's requests with bytes of an archive."""
    return browser.driver.execute_script("""
        return performance.getEntriesByType('resource').map(({ name }) => new URL(name))
          .filter(({ pathname }) => pathname.includes('/restore/archives/')).map(({ search }) => search)""")


def is_continuation(query: str) -> bool:
    return int(query.removeprefix("?offset=")) > 0


def test_upload_of_an_archive_continues_after_lost_connections(browser, lossy, large_archive):
    open_backup_page(browser, lossy.address)
    lossy.before("^PUT /console/restore/", lossy.cut)
    lossy.before("^PUT /console/restore/", lossy.cut, after=3 * MIB)
    lossy.before("^PUT /console/restore/.*offset=[1-9]", lossy.cut, after=2 * MIB)
    choose_archive(browser, large_archive)
    assert browser.row("Content", "Objects")["In the archive"] == "1"
    queries = requests_for_archives(browser)
    assert queries[0] == "?offset=0" and sum(is_continuation(query) for query in queries) >= 1


def test_refusal_whose_response_was_lost_is_shown(browser, lossy, large_archive):
    large_archive.write_bytes(large_archive.read_bytes()[:-10])
    open_backup_page(browser, lossy.address)
    # The browser repeats a request by itself, so replies are lost until the page knows that one failed.
    lost = []

    def lose() -> None:
        lost.append(True)
        lossy.cut()

    lossy.on_reply("^PUT /console/restore/", lose, times=sys.maxsize)
    choose_archive(browser, large_archive)
    browser.until(lambda: lost and requests_for_archives(browser))
    lossy.forget()
    assert browser.alert() == "the archive is cut off: its end is missing"
    assert len(requests_for_archives(browser)) >= 2


def test_upload_from_elsewhere_is_replaced_only_when_confirmed(browser, gateway, login, large_archive, look):
    open_backup_page(browser, gateway.listeners["web"])
    restores = Restores(gateway, login(gateway).token)
    other = restores.begin()
    connection = restores.deliver(other, large_archive, 0, MIB)
    choose_archive(browser, large_archive)
    browser.dialog("Replace the other archive?")
    look("restore-replace")
    browser.press("Cancel")
    browser.find("//p[.='An archive is being uploaded elsewhere: 1 MiB have arrived.']")
    assert restores.state()["arriving"]["stagingId"] == other
    browser.press("Discard")
    browser.dialog("Discard the archive?")
    browser.press("Cancel")
    choose_archive(browser, large_archive)
    browser.dialog("Replace the other archive?")
    browser.press("Replace")
    assert browser.row("Content", "Objects")["In the archive"] == "1"
    connection.close()


def begin_slow_upload(browser: Browser, gateway, login, archive) -> Restores:
    """Uploads an archive so slowly that the test can do something before its end."""
    browser.throttle(SLOW)
    choose_archive(browser, archive)
    restores = Restores(gateway, login(gateway).token)
    browser.until(lambda: int(restores.state().get("arriving", {}).get("receivedBytes", 0)) > MIB)
    return restores


def leave_and_return(browser: Browser, gateway, restores: Restores) -> None:
    """Opens the page anew, in the middle of an upload."""
    browser.driver.get("about:blank")
    browser.throttle(-1)
    browser.until(lambda: restores.state()["arriving"].get("isInterrupted"))
    browser.open(f"http://{gateway.listeners['web']}/console/#/backup")


def test_upload_of_an_archive_continues_after_a_reload_or_is_discarded(browser, gateway, login, large_archive, look):
    open_backup_page(browser, gateway.listeners["web"])
    restores = begin_slow_upload(browser, gateway, login, large_archive)
    leave_and_return(browser, gateway, restores)
    text = browser.find("//p[contains(., 'stopped after')]").text
    assert text.startswith("The upload of “large.backup” stopped after ") and "Choose the file again" in text
    look("restore-interrupted")
    choose_archive(browser, large_archive)
    assert browser.row("Content", "Objects")["In the archive"] == "1"
    (query,) = requests_for_archives(browser)
    assert is_continuation(query)

    browser.press("Discard archive")
    begin_slow_upload(browser, gateway, login, large_archive)
    leave_and_return(browser, gateway, restores)
    browser.find("//p[contains(., 'stopped after')]")
    browser.press("Discard")
    browser.until(lambda: not browser.driver.find_elements(By.XPATH, "//button[.='Discard']"))
    assert not list((gateway.data / "restore").iterdir())


def test_canceled_upload_of_an_archive_leaves_nothing(browser, gateway, login, large_archive):
    open_backup_page(browser, gateway.listeners["web"])
    restores = begin_slow_upload(browser, gateway, login, large_archive)
    browser.press("Cancel")
    browser.notice("The upload was canceled.")
    assert restores.state() == {} and not list((gateway.data / "restore").iterdir())


def sign_in_if_required(browser: Browser) -> None:
    """Waits until the page shows the result or the sign-in form, and signs in."""
    button = browser.find("//button[normalize-space()='Sign in' or normalize-space()='Delete previous data']")
    if button.text == "Sign in":
        assert "other data" in browser.alert()
        browser.sign_in("system", "admin", ADMIN_PASSWORD)
        browser.find("//button[normalize-space()='Delete previous data']")
