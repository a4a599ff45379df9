"""Uses the console's page of the own account in headless Chromium: sessions, password, tokens and second factor."""

import re

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
    assert re.fullmatch(r"Chrome \d+ on Linux this session", own["Program"]) and own["Address"] == "127.0.0.1"
    (program,) = [row["Program"] for row in page.rows() if row != own]
    assert program.startswith("grpc-python/")
    page.press("End all others")
    page.press("End all others")
    page.notice("1 session ended.")
    with refused(stubs, "UNAUTHENTICATED", "DATA_GATEWAY_UNAUTHENTICATED"):
        other.objects("ListObjects")
    page.driver.refresh()
    page.heading("My account")


def test_colors_are_chosen_in_the_browser(page, viewer):
    background = "return getComputedStyle(document.body).backgroundColor"
    page.sign_in("system", viewer, PASSWORD)
    page.go("My account")
    light = page.driver.execute_script(background)
    page.choose("Colors in this browser", "Dark")
    dark = page.until(lambda: (color := page.driver.execute_script(background)) != light and color)
    page.driver.refresh()
    page.heading("My account")
    assert page.driver.execute_script(background) == dark
    page.prefer("dark")
    page.choose("Colors in this browser", "Light")
    assert page.driver.execute_script(background) == light
    page.choose("Colors in this browser", "Automatic")
    assert page.driver.execute_script(background) == dark
    page.prefer("light")
    assert page.driver.execute_script(background) == light


def test_programs_are_named_by_their_browsers(page):
    agents = {
        "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0": "Firefox 128 on Linux",
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36 "
        "Edg/126.0.0.0": "Edge 126 on Windows",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 "
        "Mobile/15E148 Safari/604.1": "Safari 17 on iOS",
        "data-gateway/0.3.0": "data-gateway/0.3.0",
    }
    body = "const { programName } = await import('/console/user-agent.js'); return arguments[0].map(programName)"
    assert page.script(body, list(agents)) == list(agents.values())


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
    page.press("Copy")
    page.find("//dialog//*[@role='status'][.='Copied.']")
    page.press("Download")
    assert page.downloaded(f"recovery-codes-{viewer}.txt").decode().split() == codes
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
