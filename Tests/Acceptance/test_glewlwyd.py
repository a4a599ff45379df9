"""Sign-ins at Debian's glewlwyd, a provider with accounts, passwords and consent of its own."""

from urllib.parse import parse_qs, urlsplit

import pytest
from selenium.webdriver.common.by import By
from support import single_sign_on
from support.browser import Browser
from support.commands import BrowserLogin
from support.glewlwyd import PROGRAM, Glewlwyd
from support.parties import PASSWORD, unique
from support.single_sign_on import CLIENT

# The secret has what the Authorization field would need to encode.
SECRET = "the client's secret: 100 %"


@pytest.fixture(scope="module")
def provider(is_full, tmp_path_factory):
    if not is_full:
        pytest.skip("part of the long form")
    if not PROGRAM.exists():
        pytest.skip("glewlwyd is not installed: apt-get install glewlwyd")
    provider = Glewlwyd(tmp_path_factory.mktemp("glewlwyd"))
    yield provider
    provider.close()


@pytest.fixture(scope="module")
def gateway(gateway_with, provider, stubs, tmp_path_factory):
    corp = single_sign_on.client_of(provider.issuer, SECRET, tmp_path_factory.mktemp("secret"))
    gateway = single_sign_on.start(gateway_with, stubs, corp=corp)
    provider.add_client(CLIENT, SECRET, [f"http://{gateway.listeners['web']}/console/sso/callback"])
    return gateway


@pytest.fixture
def page(tmp_path):
    browser = Browser(tmp_path)
    yield browser
    browser.close()


@pytest.fixture
def name(provider) -> str:
    """The name of a new person whom the provider knows as an operator."""
    name = unique("person")
    provider.put_person(name, PASSWORD, ["others", "gw-ops"])
    return name


def sign_in(page: Browser, gateway, provider, name: str) -> None:
    """Begins at the console, and gives name, password and consent at the provider."""
    page.open(f"http://{gateway.listeners['web']}/console/")
    page.press("Sign in with Example SSO")
    authorize(page, provider, name)


def authorize(page: Browser, provider, name: str) -> None:
    page.find("//input[@id='username']").send_keys(name)
    page.find("//input[@id='password']").send_keys(PASSWORD + "\n")
    page.until(lambda: has_left(page, provider))


def has_left(page: Browser, provider) -> bool:
    """Whether the browser is no longer at the provider; else presses the button that leads on.

    The provider draws its page again while it learns whether the person has consented, so a press may be lost.
    """
    if not page.driver.current_url.startswith(provider.url):
        return True
    choices = "normalize-space()='Grant access' or normalize-space()='Continue'"
    for button in page.driver.find_elements(By.XPATH, f"//button[{choices}]"):
        if button.is_displayed():
            button.click()
            break
    return False


def account(page: Browser) -> tuple[str, str]:
    """Returns the name of the signed-in user, and the text with the role."""
    page.heading("Overview")
    found = page.account()
    return found.get_attribute("title"), found.text


def leave(page: Browser) -> None:
    """Signs out of the console and of the provider."""
    page.press("Sign out")
    page.find("//button[normalize-space()='Sign in with Example SSO']")
    page.driver.execute_cdp_cmd("Network.clearBrowserCookies", {})


def test_role_follows_the_group_at_each_sign_in(page, gateway, provider, name):
    sign_in(page, gateway, provider, name)
    title, role = account(page)
    assert title == f"acme/{name}@example.com" and "operator" in role
    leave(page)
    provider.put_person(name, PASSWORD, ["gw-admins"], exists=True)
    sign_in(page, gateway, provider, name)
    title, role = account(page)
    assert title == f"acme/{name}@example.com" and "admin" in role
    leave(page)
    provider.put_person(name, PASSWORD, ["others"], exists=True)
    sign_in(page, gateway, provider, name)
    assert page.alert() == "Example SSO has not given this person a role at the gateway"


def test_unverified_address_is_not_used_as_a_name(page, gateway, provider):
    name = unique("person")
    provider.put_person(name, PASSWORD, ["gw-ops"], is_verified=False)
    sign_in(page, gateway, provider, name)
    title, _ = account(page)
    assert title.startswith("acme/") and "@example.com" not in title


def test_new_key_of_the_provider_signs_the_next_sign_in(page, gateway, provider, name):
    sign_in(page, gateway, provider, name)
    account(page)
    leave(page)
    provider.rotate_key()
    sign_in(page, gateway, provider, name)
    assert "operator" in account(page)[1]


def test_login_of_the_command_line_waits_for_the_browser(page, binary, gateway, provider, name):
    login = BrowserLogin(binary, gateway, "corp")
    # This provider compares redirect URIs with their port.
    provider.add_redirect(CLIENT, parse_qs(urlsplit(login.url).query)["redirect_uri"][0])
    page.open(login.url)
    authorize(page, provider, name)
    page.until(lambda: "Return to the terminal" in page.text)
    assert login.user() == ("acme", f"{name}@example.com", "operator")


def test_outage_of_the_provider_ends_no_session(page, gateway, provider, name):
    sign_in(page, gateway, provider, name)
    account(page)
    provider.stop()
    page.driver.refresh()
    assert "operator" in account(page)[1]
    gateway.stop()
    gateway.start()
    page.open(f"http://{gateway.listeners['web']}/console/")
    assert "operator" in account(page)[1]
    provider.start()
