"""Signs in to the console in headless Chromium, and looks at when its sessions end."""

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from support.certificates import Authority
from support.gateway import ADMIN_PASSWORD
from support.parties import PASSWORD


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
    # The page may have noticed it by itself, and hidden its links.
    page.driver.execute_script("location.hash = '#/overview'")
    assert page.alert() == "Your session has ended. Sign in again."
    page.find("//label[normalize-space()='Password']")


def test_sign_in_works_over_tls(browser, gateway_with, tmp_path):
    gateway = gateway_with({"tls": Authority(tmp_path, "authority").tls("web")})
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

    def enter(name: str) -> None:
        """Moves the focus to the control with that name, and presses Enter."""
        # The focus begins after the field that was submitted, so that all controls of the page may come first.
        for _ in range(300):
            keys(Keys.TAB)
            control = page.driver.switch_to.active_element
            if control.text == name:
                control.send_keys(Keys.ENTER)
                return
        raise AssertionError(f"no control is named {name}")

    enter("Devices")
    page.heading("Devices")
    enter("Register device")
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
