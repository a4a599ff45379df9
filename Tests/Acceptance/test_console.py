"""Uses the console in headless Chromium, against a running gateway."""

import contextlib
import functools
import http.server
import json
import sqlite3
import threading
from pathlib import Path

import pytest
import zxingcpp
from PIL import Image
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from support.browser import DESKTOP, PHONE, Browser
from support.certificates import Authority
from support.commands import offline
from support.gateway import ADMIN_PASSWORD
from support.parties import Fleet, User, call, init_device, unique, unique_device_id
from support.raw import fetch, fetch_url
from support.refusal import refused
from support.totp import App
from support.uploads import FILE_NAME_TAG, Upload, completed, content

ASSETS = Path(__file__).resolve().parents[2] / "Sources/Console/Assets"
PASSWORD = "a password of some length"
LIST_USERS = "archebase.auth.v1.UserAuthService/ListUsers"


@pytest.fixture
def page(browser, gateway):
    """The sign-in page; the test fails if the browser logged an error."""
    browser.resize(DESKTOP)
    browser.open(f"http://{gateway.listeners['web']}/console/")
    browser.sign_out()
    browser.open(f"http://{gateway.listeners['web']}/console/")
    browser.driver.get_log("browser")  # Discards the entries of other tests.
    yield browser
    errors = [text for text in browser.logged_errors if "Failed to load resource" not in text]
    assert not errors, errors


@pytest.fixture
def console(page, gateway) -> Browser:
    """A browser in which the admin of `system` is signed in."""
    page.sign_in("system", "admin", ADMIN_PASSWORD)
    page.heading("Overview")
    return page


@pytest.fixture
def viewer(admin) -> str:
    name = unique("viewer")
    admin.users("CreateUser", user_name=name, password=PASSWORD, role="viewer")
    return name


# Sign-in and sessions.


def test_sign_in_refuses_a_wrong_password_and_accepts_the_right_one(page, gateway):
    page.sign_in("system", "admin", "not the password")
    assert page.alert() == "the organization, the user name or the password is wrong"
    page.fill("Password", ADMIN_PASSWORD + Keys.ENTER)
    page.heading("Overview")
    cookie = page.driver.get_cookie("__Host-console")
    assert (cookie["httpOnly"], cookie["secure"], cookie["sameSite"], cookie["path"]) == (True, True, "Strict", "/")
    assert page.driver.execute_script("return document.cookie") == ""


def test_session_survives_a_reload_and_ends_at_sign_out(console):
    console.driver.refresh()
    console.heading("Overview")
    cookie = console.driver.get_cookie("__Host-console")["value"]
    console.press("Sign out")
    console.heading("data-gateway")
    assert console.driver.get_cookie("__Host-console") is None
    # A copy of the cookie does not open the ended session.
    console.driver.add_cookie(
        {"name": "__Host-console", "value": cookie, "path": "/", "secure": True, "httpOnly": True, "sameSite": "Strict"}
    )
    console.driver.refresh()
    console.find("//label[normalize-space()='Password']")


def test_session_ends_when_its_users_password_changes(page, gateway, admin, viewer):
    page.sign_in("system", viewer, PASSWORD)
    page.go("Objects")
    admin.users("UpdateUser", user_name=viewer, password=PASSWORD + "!")
    page.find("//nav//a[normalize-space()='Overview']").click()
    assert page.alert() == "Your session has ended. Sign in again."
    page.find("//label[normalize-space()='Password']")


def test_sign_in_works_over_tls(browser, gateway_with, tmp_path):
    certificate, key, _ = Authority(tmp_path, "authority").issue("server")
    gateway = gateway_with({"tls": {"certificate": str(certificate), "key": str(key), "listeners": ["web"]}})
    browser.open(f"https://{gateway.listeners['web']}/console/")
    browser.sign_in("system", "admin", ADMIN_PASSWORD)
    browser.heading("Overview")
    browser.sign_out()
    gateway.stop()


def test_keyboard_alone_signs_in_and_opens_a_dialog(page, gateway):
    page.open(f"http://{gateway.listeners['web']}/console/")
    page.find("//label[normalize-space()='Password']")
    keys = lambda text: page.driver.switch_to.active_element.send_keys(text)
    assert page.driver.switch_to.active_element.get_attribute("name") == "userName"
    keys("admin" + Keys.TAB)
    keys(ADMIN_PASSWORD + Keys.ENTER)
    page.heading("Overview")
    for _ in range(30):
        keys(Keys.TAB)
        if page.driver.switch_to.active_element.text == "Devices":
            break
    keys(Keys.ENTER)
    page.heading("Devices")
    for _ in range(30):
        keys(Keys.TAB)
        if page.driver.switch_to.active_element.text == "Register device":
            break
    keys(Keys.ENTER)
    page.find("//dialog[@open]//h2[normalize-space()='Register a device']")
    assert page.driver.switch_to.active_element.get_attribute("name") == "deviceId"
    keys(Keys.ESCAPE)
    page.until(lambda: not page.driver.find_elements(By.XPATH, "//dialog"))


def test_tab_follows_a_sign_in_of_another_tab(console, viewer):
    first, address = console.driver.current_window_handle, console.driver.current_url
    console.driver.switch_to.new_window("tab")
    second = console.driver.current_window_handle
    try:
        console.open(address)
        console.press("Sign out")
        console.sign_in("system", viewer, PASSWORD)
        console.heading("Overview")
        console.driver.switch_to.window(first)
        console.until(lambda: viewer in console.find("//*[@id='account']").text)
    finally:
        console.driver.switch_to.window(second)
        console.driver.close()
        console.driver.switch_to.window(first)


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
    console.press("Edit")
    # The session ends, as if the user signed out in another tab.
    console.script(
        """
        const headers = { 'X-Console-Token': localStorage.getItem('console-token') }
        await fetch('/console/session', { method: 'DELETE', headers })
        """
    )
    console.press("Save")
    console.find("//label[normalize-space()='Password']")
    assert not console.driver.find_elements(By.XPATH, "//dialog")


def test_focus_moves_to_the_content_when_a_dialog_changed_the_page(console, fleet, gateway):
    device = fleet.register().device_id
    console.open(f"http://{gateway.listeners['web']}/console/#/devices/{device}")
    console.heading(device)
    console.press("Edit")
    console.fill("Name", "Blue rover" + Keys.ENTER)
    console.until(lambda: console.fact("Name") == "Blue rover")
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


# The own account.


def test_account_page_lists_sessions_and_ends_others(page, gateway, stubs, viewer):
    other = User.login(gateway, stubs, "system", viewer, PASSWORD)
    page.sign_in("system", viewer, PASSWORD)
    page.go("My account")
    page.until(lambda: len(page.rows()) == 2)
    (own,) = [row for row in page.rows() if "this session" in row["Program"]]
    assert "Chrome" in own["Program"] and own["Address"] == "127.0.0.1"
    page.press("End all others")
    page.press("End all others")
    page.notice("1 session ended.")
    with refused(stubs, "UNAUTHENTICATED", "DATA_GATEWAY_UNAUTHENTICATED"):
        other.objects("ListObjects")
    page.driver.refresh()
    page.heading("My account")


def test_revoked_session_shows_the_sign_in_page(page, gateway, stubs, viewer):
    page.sign_in("system", viewer, PASSWORD)
    page.go("Objects")
    other = User.login(gateway, stubs, "system", viewer, PASSWORD)
    sessions = stubs.session.SessionServiceStub(gateway.channel("auth"))
    call(sessions.RevokeOtherSessions, stubs.session.RevokeOtherSessionsRequest(), other.token)
    page.find("//nav//a[normalize-space()='Overview']").click()
    assert page.alert() == "Your session has ended. Sign in again."


def test_password_is_changed_on_the_account_page(page, viewer):
    page.sign_in("system", viewer, PASSWORD)
    page.go("My account")
    page.press("Change password")
    page.fill("Current password", "not the password")
    page.fill("New password", PASSWORD + "!")
    page.press("Change password")
    assert page.alert() == "the current password is wrong"
    page.fill("Current password", PASSWORD)
    page.press("Change password")
    page.notice("Your password was changed.")
    page.press("Sign out")
    page.sign_in("system", viewer, PASSWORD + "!")
    page.heading("My account")


def test_token_is_created_and_revoked_on_the_account_page(page, gateway, stubs, viewer):
    page.sign_in("system", viewer, PASSWORD)
    page.go("My account")
    page.press("New token")
    page.fill("Name", "nightly export")
    page.press("Create")
    token = page.find("//dialog[@open]//textarea").get_attribute("value")
    page.press("Close")
    page.find("//td[normalize-space()='nightly export']")
    caller = User(gateway, stubs, token)
    caller.objects("ListObjects")
    page.press_in_row("nightly export", "Revoke")
    page.press("Revoke")
    page.notice("Token “nightly export” was revoked.")
    with refused(stubs, "UNAUTHENTICATED", "DATA_GATEWAY_UNAUTHENTICATED"):
        caller.objects("ListObjects")


def test_second_factor_is_scanned_and_asked_for(page, viewer, look, tmp_path):
    page.sign_in("system", viewer, PASSWORD)
    page.go("My account")
    page.press("Set up second factor")
    page.fill("Current password", PASSWORD)
    page.press("Continue")
    picture = tmp_path / "code.png"
    page.find("//dialog//*[name()='svg']").screenshot(str(picture))
    (code,) = zxingcpp.read_barcodes(Image.open(picture))
    look("dialog-second-factor")
    secret = page.field("Secret").get_attribute("value")
    assert code.text.startswith(f"otpauth://totp/data-gateway:system%2F{viewer}?secret={secret}&issuer=data-gateway")
    app = App(secret)
    page.fill("Code", app.code())
    page.press("Turn on")
    codes = page.find("//dialog[@open]//textarea").get_attribute("value").split("\n")
    look("dialog-recovery-codes")
    page.press("Close")
    page.until(lambda: page.fact("Second factor") == "on 10 recovery codes left")
    look("account-second-factor")
    page.press("Sign out")
    page.sign_in("system", viewer, PASSWORD)
    page.heading("Second factor")
    look("sign-in-second-factor")
    page.fill("Code", "000000")
    page.press("Continue")
    assert page.alert() == "the code is wrong or was already used"
    page.fill("Code", app.code(+1))
    page.press("Continue")
    page.heading("My account")
    page.press("Sign out")
    page.sign_in("system", viewer, PASSWORD)
    page.heading("Second factor")
    page.fill("Code", codes[0].upper() + Keys.ENTER)
    page.heading("My account")


# Devices.


def test_long_list_is_shown_page_by_page(page, gateway, new_organization):
    boss = new_organization()
    fleet = Fleet.create(boss)
    devices = {fleet.register().device_id for _ in range(60)}
    page.sign_in(boss.organization, "boss", PASSWORD)
    page.go("Devices")
    page.until(lambda: len(page.rows()) == 50)
    # The button is pressed while the network is down, and twice when it is back.
    press = "const more = [...document.querySelectorAll('button')].find((each) => each.textContent === 'Show more');"
    page.driver.execute_script(f"window.there = fetch; window.fetch = () => Promise.reject(); {press} more.click()")
    page.until(lambda: "The gateway cannot be reached." in page.find("//*[@id='notice']").text)
    assert len(page.rows()) == 50
    page.driver.execute_script(f"window.fetch = window.there; {press} more.focus(); more.click(); more.click()")
    page.until(lambda: len(page.rows()) > 50)
    assert {row["Device"] for row in page.rows()} == devices and len(page.rows()) == len(devices)
    assert page.driver.switch_to.active_element.text == page.rows()[50]["Device"]


def test_device_is_registered_initialized_and_disabled(console, admin, fleet, gateway, stubs):
    device = unique_device_id()
    console.go("Devices")
    console.press("Register device")
    console.fill("Device id", device)
    console.fill("Name", "Blue rover")
    console.choose(
        "Suite",
        next(o.text for o in console.field("Suite").find_elements(By.TAG_NAME, "option") if fleet.suite in o.text),
    )
    console.fill("Tags", "model=mk2\nowner=A & B <i>")
    console.press("Register")
    console.heading(device)
    assert console.fact("State") == "registered"
    registered = admin.devices("GetDevice", name=f"devices/{device}")
    assert (registered.display_name, dict(registered.tags)) == ("Blue rover", {"model": "mk2", "owner": "A & B <i>"})
    assert "owner A & B <i>" in console.fact("Tags")

    init_device(gateway, stubs, device)
    console.driver.refresh()
    console.until(lambda: console.fact("State") == "initialized")
    console.press("Disable")
    console.press("Disable")
    console.until(lambda: console.fact("State") == "disabled")
    console.press("Enable")
    console.press("Enable")
    console.until(lambda: console.fact("State") == "initialized")


def test_form_shows_why_the_gateway_refuses(console):
    console.go("Devices")
    console.press("Register device")
    console.fill("Device id", "no device id")
    console.press("Register")
    assert "YYMMDD-NNNNNN" in console.alert()
    console.press("Cancel")


def test_configuration_of_a_device_is_scannable(console, fleet, gateway, tmp_path):
    device = fleet.register().device_id
    console.open(f"http://{gateway.listeners['web']}/console/#/devices/{device}")
    console.heading(device)
    console.press("Show configuration")
    warning = console.find("//dialog//*[@class='warning']")
    assert "Only the gateway’s own machine can reach this address." in warning.text
    console.fill("Host for devices", "gateway.example")
    assert not warning.is_displayed()
    picture = tmp_path / "code.png"
    console.find("//dialog//*[name()='svg']").screenshot(str(picture))
    (code,) = zxingcpp.read_barcodes(Image.open(picture))
    endpoints = {
        name: {"scheme": "http", "host": "gateway.example", "port": int(gateway.listeners[listener].split(":")[1])}
        for name, listener in (("auth", "auth"), ("gateway", "gateway"), ("deviceInit", "device-init"))
    }
    assert json.loads(code.text) == endpoints | {"device_id": device}
    console.press("Close")


def test_qr_codes_of_every_size_are_readable(console):
    """An independent decoder reads texts of many lengths, which cover every version and kind of mask."""
    lengths = sorted({*range(1, 667, 23), 14, 15, 180, 181, 213, 214, 666})
    texts = ["".join(chr(33 + (length * 7 + i * i) % 94) for i in range(length)) for length in lengths] + ["Ä漢🤖"]
    symbols = console.script(
        "const { encodeQR } = await import('/console/qr.js'); return arguments[0].map((text) => encodeQR(text))", texts
    )
    for text, rows in zip(texts, symbols, strict=True):
        side = len(rows) + 8
        image = Image.new("L", (side, side), 255)
        for y, row in enumerate(rows):
            for x, is_dark in enumerate(row):
                image.putpixel((x + 4, y + 4), 0 if is_dark else 255)
        found = zxingcpp.read_barcodes(image.resize((side * 4, side * 4), Image.Resampling.NEAREST))
        assert [code.text for code in found] == [text], f"{len(text)} bytes, {len(rows)} modules"
    too_long = console.script("const { encodeQR } = await import('/console/qr.js'); return encodeQR('x'.repeat(667))")
    assert "667 bytes, maximum 666 bytes" in too_long["error"]


# Uploads and objects.


def test_upload_in_progress_is_updated(console, uploader):
    upload = Upload.create(uploader)
    console.go("Uploads")
    listed = lambda: next((row for row in console.rows() if upload.id in row["Name"]), {})
    console.until(lambda: listed().get("Parts") == "0 parts")
    # An update of the page keeps the focus on a link.
    link = f"//tr[contains(., '{upload.id}')]//a"
    console.driver.execute_script("arguments[0].focus()", console.find(link))
    store = upload.store
    multipart = store.initiate()
    data = content(upload.part_size + 1000)
    parts = [store.upload_part(multipart, 1, data[: upload.part_size])]
    console.until(lambda: listed()["Parts"] == "1 part")
    row = listed()
    assert (row["Source"], row["Progress"]) == (uploader.device_id, "1 MiB, size not known yet")
    assert console.driver.switch_to.active_element == console.find(link)
    parts.append(store.upload_part(multipart, 2, data[upload.part_size :]))
    console.until(lambda: listed()["Parts"] == "2 parts")
    upload.size, upload.parts, upload.etag = len(data), parts, store.complete(multipart, parts)
    upload.complete()
    console.until(lambda: not listed(), "the completed upload is still listed")


def test_object_is_found_shown_and_downloaded(console, admin, uploader):
    run = unique("run")
    data = content(100_000)
    completed(uploader, data, {"run": run, "weather": "rain", FILE_NAME_TAG: "drive.mcap"})
    completed(uploader, content(10), {"run": run, "weather": "sun"})
    (wanted,) = admin.list_all(filter=f"raw_tags.run={run} raw_tags.weather=rain")
    console.go("Objects")
    console.fill("Filter", f"raw_tags.run={run}" + Keys.ENTER)
    console.until(lambda: len(console.rows()) == 2)
    console.fill("Filter", f"raw_tags.run={run} raw_tags.weather=rain" + Keys.ENTER)
    console.until(lambda: [row["Name"] for row in console.rows()] == ["drive.mcap"])
    console.find("//main//td//a[normalize-space()='drive.mcap']").click()
    console.heading("drive.mcap")
    assert console.fact("Size") == "97.7 KiB (100,000 bytes)"
    assert console.fact("ETag").startswith(wanted.etag)
    assert console.fact("Device") == uploader.device_id
    assert console.fact("Tags").split("\n") == [f"run {run}", "weather rain"]
    console.press("Download")
    assert console.downloaded("drive.mcap") == data


def test_download_saves_a_page_instead_of_showing_it(console, admin, gateway, uploader):
    """The object store shares the console's host, so a page from it must not run its scripts there."""
    upload = Upload.create(uploader)
    page = b"<title>not the console</title><script>document.cookie = 'x=1; Path=/'</script>"
    put = fetch_url(upload.store.presign_put(600), "PUT", page, headers={"Content-Type": "text/html"})
    assert put.status == 200, put.body
    upload.size, upload.etag = len(page), put.headers["ETag"]
    upload.complete()
    (wanted,) = (found for found in admin.list_all() if found.etag == upload.etag)
    console.open(f"http://{gateway.listeners['web']}/console/#/objects/{wanted.file_id}")
    console.heading(wanted.name)
    console.press("Download")
    # Chromium may append an extension for the content type.
    path = console.until(lambda: next(console.downloads.glob(f"{wanted.name}*"), None))
    assert console.downloaded(path.name) == page
    console.heading(wanted.name)
    assert console.driver.get_cookie("x") is None


def test_invalid_filter_is_explained(console):
    console.go("Objects")
    console.fill("Filter", "size>much" + Keys.ENTER)
    assert console.alert().startswith("filter: ")


def test_object_is_deleted_with_a_reason(console, admin, gateway, uploader):
    run = unique("run")
    completed(uploader, content(10), {"run": run})
    (wanted,) = admin.list_all(filter=f"raw_tags.run={run}")
    console.open(f"http://{gateway.listeners['web']}/console/#/objects/{wanted.file_id}")
    console.heading(wanted.name)
    console.press("Delete")
    assert "restored for 7 days" in console.dialog("Delete this object?")
    console.fill("Reason", "a person is in it")
    console.press("Delete")
    console.heading("Objects")
    assert admin.list_all(filter=f"raw_tags.run={run}") == []


def test_trashed_object_is_restored_and_purged(console, admin, gateway, uploader):
    run = unique("run")
    completed(uploader, content(10), {"run": run})
    (wanted,) = admin.list_all(filter=f"raw_tags.run={run}")
    admin.object_management("DeleteObject", file_id=wanted.file_id, reason="acceptance test")
    console.go("Trash")
    console.find(f"//main//a[normalize-space()='{wanted.name}']").click()
    console.heading(wanted.name)
    console.press("Restore")
    console.notice("The object was restored.")
    assert len(admin.list_all(filter=f"raw_tags.run={run}")) == 1
    admin.object_management("DeleteObject", file_id=wanted.file_id)
    console.go("Trash")
    console.find(f"//main//a[normalize-space()='{wanted.name}']").click()
    console.press("Delete permanently")
    assert "cannot be restored" in console.dialog("Delete this object permanently?")
    console.press("Delete permanently")
    console.heading("Trash")
    assert admin.list_all(filter=f"trashed=true raw_tags.run={run}") == []


# Administration.


def test_created_users_and_keys_are_in_the_audit_log(console, gateway, stubs, fleet):
    name = unique("vera")
    console.go("Users")
    console.press("New user")
    console.fill("User name", name)
    console.fill("Password", PASSWORD)
    console.press("Create")
    assert console.row("User", name)["Role"] == "viewer"
    User.login(gateway, stubs, "system", name, PASSWORD)

    console.go("Sites and keys")
    site = console.row("Site id", str(fleet.site_id))["Site"]
    console.find(f"//main//a[normalize-space()='{site}']").click()
    console.find(f"//h2[normalize-space()='Keys of {site}']")
    console.press("New key")
    console.fill("Name", "the importer")
    console.press("Create")
    secret = console.find("//dialog[@open]//textarea").get_attribute("value")
    assert secret.startswith("dgwk")
    console.press("Close")
    console.find("//td[normalize-space()='the importer']")

    console.go("Audit log")
    assert console.row("Action", "CreateSiteApiKey")["Actor"] == "user:system/admin"
    assert console.row("Action", "CreateUser")["Result"] == "OK"


def test_key_dialogs_state_the_consequence(console, fleet):
    console.go("Sites and keys")
    site = console.row("Site id", str(fleet.site_id))["Site"]
    console.find(f"//main//a[normalize-space()='{site}']").click()
    console.find(f"//h2[normalize-space()='Keys of {site}']")
    console.press("New key")
    name = unique("key")
    console.fill("Name", name)
    console.press("Create")
    first = console.find("//dialog[@open]//textarea").get_attribute("value")
    console.press("Close")

    console.press_in_row(name, "Rotate")
    assert "The current secret stops working with the next call." in console.dialog(f"Rotate key “{name}”?")
    console.press("Rotate")
    console.until(lambda: console.find("//dialog[@open]//textarea").get_attribute("value") not in ("", first))
    console.press("Close")
    for method, consequence in (("Disable", "The key stops working with the next call"), ("Enable", "")):
        console.press_in_row(name, method)
        assert consequence in console.dialog(f"{method} key “{name}”?")
        console.press(method)
        console.notice(f"Key “{name}” was {method.lower()}d.")
    console.press_in_row(name, "Delete")
    assert "It cannot be restored." in console.dialog(f"Delete key “{name}”?")
    console.press("Delete")
    console.notice(f"Key “{name}” was deleted.")


def test_site_dialogs_state_the_consequence(console):
    console.go("Sites and keys")
    name = unique("site")
    console.press("New site")
    console.fill("Name", name)
    console.press("Create")
    console.notice(f"Site “{name}” was created.")
    for method, consequence in (("Disable", "All keys of the site, and of its devices, stop working"), ("Enable", "")):
        console.press_in_row(name, method)
        assert consequence in console.dialog(f"{method} site “{name}”?")
        console.press(method)
        console.notice(f"Site “{name}” was {method.lower()}d.")


def test_user_dialogs_state_the_consequence(console, viewer):
    console.go("Users")
    console.press_in_row(viewer, "Change role")
    assert "existing sessions will be signed out" in console.dialog(f"Change role of user “{viewer}”")
    console.choose("Role", "operator: also manages devices and keys")
    console.press("Change role")
    console.notice(f"User “{viewer}” now has the role operator.")
    console.press_in_row(viewer, "Set password")
    assert "existing sessions will be signed out" in console.dialog(f"Set password of user “{viewer}”")
    console.fill("Password", PASSWORD + "!")
    console.press("Set password")
    console.notice(f"The password of user “{viewer}” was changed.")
    console.press_in_row(viewer, "Delete")
    assert "The user cannot sign in again." in console.dialog(f"Delete user “{viewer}”?")
    console.press("Delete")
    console.notice(f"User “{viewer}” was deleted.")


def test_device_dialogs_state_the_consequence(console, fleet, gateway, stubs):
    device = fleet.register().device_id
    init_device(gateway, stubs, device)
    console.open(f"http://{gateway.listeners['web']}/console/#/devices/{device}")
    console.heading(device)
    suite = console.fact("Suite")
    console.press("Allow new key")
    assert "The new key replaces the current one." in console.dialog(f"Allow device {device} to fetch a new key?")
    console.press("Allow new key")
    console.notice(f"Device {device} may fetch a new key for 15 minutes.")
    console.press("Remove from suite")
    assert "The device’s key stops working" in console.dialog(f"Remove device {device} from its suite?")
    console.press("Remove")
    console.notice(f"Device {device} was removed from its suite.")
    console.press("Add to suite")
    console.choose("Suite", suite)
    console.press("Add")
    console.notice(f"Device {device} was added to the suite “{suite}”.")
    console.press("Disable")
    assert "The device’s key stops working" in console.dialog(f"Disable device {device}?")
    console.press("Disable")
    console.notice(f"Device {device} was disabled.")
    console.press("Delete")
    assert "Disable it otherwise." in console.dialog(f"Delete device {device}?")
    console.press("Cancel")


def test_admin_of_system_acts_for_another_organization(console, new_organization):
    boss = new_organization()
    device = Fleet.create(boss).register().device_id
    console.driver.refresh()
    choice = console.find("//select[@aria-label='Organization']")
    console.go("Devices")
    choice = console.find("//select[@aria-label='Organization']")
    choice.send_keys(boss.organization)
    choice.send_keys(Keys.TAB)
    console.row("Device", device)


def test_downloaded_backup_is_restorable(console, binary, gateway, uploader, tmp_path):
    completed(uploader, content(5000))
    with contextlib.closing(sqlite3.connect(f"file:{gateway.data / 'gateway.db'}?mode=ro", uri=True)) as database:
        (objects,) = database.execute("SELECT count(*) FROM store_objects WHERE lost = 0").fetchone()
    console.go("Backup")
    console.press("Download backup")
    console.until(lambda: list(console.downloads.glob("data-gateway-*.backup")))
    (path,) = console.downloads.glob("data-gateway-*.backup")
    console.downloaded(path.name)
    restored = offline(binary, "restore", "--from", path, "--data-dir", tmp_path / "restored")
    assert restored["objects"] == objects, restored


# Access: roles, cookie and token.


def test_viewer_sees_only_what_the_role_allows(page, gateway, viewer, admin, uploader):
    run = unique("run")
    completed(uploader, content(10), {"run": run})
    (wanted,) = admin.list_all(filter=f"raw_tags.run={run}")
    page.sign_in("system", viewer, PASSWORD)
    page.heading("Overview")
    assert [link.text for link in page.driver.find_elements(By.CSS_SELECTOR, "nav a")] == [
        "Overview",
        "Uploads",
        "Objects",
        "Copy jobs",
        "My account",
    ]
    page.open(f"http://{gateway.listeners['web']}/console/#/objects/{wanted.file_id}")
    page.heading(wanted.name)
    names = [button.text for button in page.driver.find_elements(By.CSS_SELECTOR, "main .actions button")]
    assert names == ["Download", "Share"]
    refusals = page.script(
        """
        const { call } = await import('/console/api.js')
        const refused = ([service, method]) => call(service, method, {}).then(() => 'accepted', (error) => error.message)
        return Promise.all(arguments[0].map(refused))
        """,
        [
            ["users", "ListUsers"],
            ["devices", "ListDevices"],
            ["management", "DeleteObject"],
            ["audit", "ListAuditLines"],
        ],
    )
    assert refusals == [
        "this call requires the role admin",
        "this call requires the role operator",
        "this call requires the role admin",
        "this call requires the role admin",
    ]


@pytest.fixture
def session(gateway) -> dict[str, str]:
    """The header fields that the console's scripts send in a session."""
    web = gateway.listeners["web"]
    body = json.dumps({"organization": "system", "userName": "admin", "password": ADMIN_PASSWORD})
    fields = {"Sec-Fetch-Site": "same-origin", "Content-Type": "application/json"}
    answer = fetch(web, "POST", "/console/session", body.encode(), fields)
    assert answer.status == 200, answer.body
    cookie = answer.headers["Set-Cookie"].split(";")[0]
    return fields | {"Cookie": cookie, "X-Console-Token": json.loads(answer.body)["token"]}


def test_forged_request_is_refused(gateway, session):
    web = gateway.listeners["web"]
    ask = lambda fields, target=f"/console/rpc/{LIST_USERS}": fetch(web, "POST", target, b"{}", fields).status
    without = lambda name: {key: value for key, value in session.items() if key != name}
    assert ask(session) == 200
    assert ask(without("Sec-Fetch-Site")) == 403
    for site in ("cross-site", "same-site", "none"):
        assert ask(session | {"Sec-Fetch-Site": site}) == 403
    assert ask(without("X-Console-Token")) == 403
    assert ask(session | {"X-Console-Token": "A" * 43}) == 403
    assert ask(without("Cookie")) == 401
    assert ask(session | {"Cookie": "__Host-console=" + "A" * 43}) == 401
    # The session opens the console only, not the gateway's own calls.
    assert ask(session, f"/{LIST_USERS}") == 401


def test_page_of_another_origin_cannot_use_the_session(console, gateway, viewer):
    """The other origin has the same host, so the browser sends even strict cookies; Sec-Fetch-Site causes the refusal."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(ASSETS))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    token = console.driver.execute_script("return localStorage.getItem('console-token')")
    cookie = console.driver.get_cookie("__Host-console")["value"]
    sign_in = json.dumps({"organization": "system", "userName": viewer, "password": PASSWORD})
    try:
        console.open(f"http://127.0.0.1:{server.server_port}/icon.svg")
        for path, mode, headers, body in (
            # This request needs no preflight; accepted, it would sign the browser in as another user.
            ("session", "no-cors", {}, sign_in),
            (f"rpc/{LIST_USERS}", "cors", {"X-Console-Token": token}, "{}"),
        ):
            answer = console.script(
                """
                const [url, mode, headers, body] = arguments
                return (await fetch(url, { method: 'POST', body, credentials: 'include', mode, headers })).type
                """,
                f"http://{gateway.listeners['web']}/console/{path}",
                mode,
                headers,
                body,
            )
            assert "Failed to fetch" in answer["error"]
        assert console.driver.get_cookie("__Host-console")["value"] == cookie
    finally:
        server.shutdown()
        server.server_close()
    console.driver.get_log("browser")  # The refusals are logged as errors.


def test_every_file_is_served_with_security_headers(gateway):
    web = gateway.listeners["web"]
    names = ["", *(path.name for path in ASSETS.iterdir() if path.name != "index.html")]
    scripts = sorted(name for name in names if name.endswith(".js"))
    links = "\n    ".join(f'<link rel="modulepreload" href="/console/{name}">' for name in scripts)
    page = (ASSETS / "index.html").read_text().replace("<!-- modules -->", links)
    for name in names:
        answer = fetch(web, "GET", f"/console/{name}")
        assert answer.status == 200, name
        assert answer.body.decode() == (page if name == "" else (ASSETS / name).read_text()), name
        assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'; "), name
        assert "unsafe" not in answer.headers["Content-Security-Policy"]
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cache-Control"] == "no-store"
    assert fetch(web, "GET", "/console").headers["Location"] == "/console/"
    assert fetch(web, "GET", "/console/missing").status == 404


def test_disabled_console_is_not_found(gateway_with):
    gateway = gateway_with({"console": {"enabled": False}})
    assert fetch(gateway.listeners["web"], "GET", "/console/").status == 404
    gateway.stop()


# Layout.


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
    link = page.find(f"//a[normalize-space()='{uploader.device_id}']")
    assert link.size["height"] < 30


def navigation_state(page) -> dict:
    """Returns whether the current entry is wholly in the visible part of the navigation, and where the page is scrolled."""
    return page.driver.execute_script(
        """
        const [row, link] = ['#navigation', '#navigation [aria-current]'].map(
          (each) => document.querySelector(each).getBoundingClientRect())
        return { text: document.querySelector('#navigation [aria-current]').textContent,
          visible: link.left >= row.left && link.right <= row.right, scrollY: Math.round(scrollY) }
        """
    )


def test_navigation_of_a_phone_shows_the_current_page(console, gateway):
    console.resize(PHONE)
    for path, name in {"backup": "Backup", "overview": "Overview", "account": "My account"}.items():
        console.open(f"http://{gateway.listeners['web']}/console/#/{path}")
        console.heading(name)
        assert navigation_state(console) == {"text": name, "visible": True, "scrollY": 0}
    # The row scrolls when the window becomes narrow, and the page stays where it is. A window keeps its position, unlike a
    # phone that is turned.
    console.resize(DESKTOP)
    console.driver.execute_script("document.documentElement.style.minHeight = '3000px'; scrollTo(0, 500)")
    console.until(lambda: navigation_state(console)["scrollY"] == 500)
    console.resize((PHONE[0], DESKTOP[1]))
    console.until(lambda: navigation_state(console)["visible"])
    assert navigation_state(console) == {"text": "My account", "visible": True, "scrollY": 500}
