"""Uses the console's page of the own account in headless Chromium: sessions, password, tokens and second factor."""

import zxingcpp
from PIL import Image
from selenium.webdriver.common.keys import Keys
from support.parties import PASSWORD, User, call
from support.refusal import refused
from support.totp import App


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
    # The page may have noticed it by itself, and hidden its links.
    page.driver.execute_script("location.hash = '#/overview'")
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
