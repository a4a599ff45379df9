"""Sign-ins with a browser at an identity provider: the console in headless Chromium, and `login --sso`."""

import json
import urllib.error
import urllib.parse
import urllib.request

import httpx
import pytest
from selenium.webdriver.common.by import By
from support import process, single_sign_on
from support.browser import Browser
from support.commands import BrowserLogin
from support.parties import unique
from support.waiting import WAIT_SECONDS


@pytest.fixture(scope="module")
def gateway(gateway_with, provider, stubs, tmp_path_factory):
    corp = single_sign_on.client_of(provider, "the client's secret\n", tmp_path_factory.mktemp("secret"))
    apps = {
        "issuer": "https://appleid.apple.com",
        "audiences": ["app"],
        "users": {"organization": "acme", "default_role": "viewer"},
    }
    return single_sign_on.start(gateway_with, stubs, corp=corp, apps=apps)


@pytest.fixture
def page(browser, gateway):
    browser.enter(gateway)
    return browser


def person(provider: str, *groups: str) -> str:
    """Returns the provider's name of a new person with these groups."""
    name = unique("person")
    set_groups(provider, name, *groups)
    return name


def set_groups(provider: str, name: str, *groups: str) -> None:
    claims = {"email": f"{name}@example.com", "email_verified": True, "groups": list(groups)}
    httpx.put(f"{provider}/users/{name}", json=claims, timeout=WAIT_SECONDS).raise_for_status()


def arrive(page: Browser, xpath: str) -> None:
    """Waits for a page of another server."""
    page.until(lambda: page.driver.find_elements(By.XPATH, xpath))


def authorize(page: Browser, name: str) -> None:
    """Signs in at the provider, in the browser, which then comes back."""
    arrive(page, "//input[@name='sub']")
    page.find("//input[@name='sub']").send_keys(name)
    page.click("//button[normalize-space()='Authorize']")
    arrive(page, "//main[@id='content']/*")


def test_person_signs_in_with_the_provider_and_has_the_role_of_their_group(page, gateway, provider):
    name = person(provider, "gw-ops", "others")
    page.press("Sign in with Example SSO")
    authorize(page, name)
    page.heading("Overview")
    assert page.driver.current_url == f"http://{gateway.listeners['web']}/console/"
    account = page.account()
    assert account.get_attribute("title") == f"acme/{name}@example.com"
    assert "operator" in account.text
    cookie = page.driver.get_cookie("__Host-console")
    assert (cookie["httpOnly"], cookie["secure"], cookie["sameSite"]) == (True, True, "Strict")
    assert page.driver.get_cookie("__Host-console-sign-in") is None
    page.press("Sign out")
    # The group is looked at again.
    set_groups(provider, name, "gw-admins")
    page.press("Sign in with Example SSO")
    authorize(page, name)
    page.go("Users")
    page.press("Sign out")
    set_groups(provider, name)
    page.press("Sign in with Example SSO")
    authorize(page, name)
    assert page.alert() == "Example SSO has not given this person a role at the gateway"


def test_page_has_no_button_for_providers_of_apps(page, look):
    page.find("//button[normalize-space()='Sign in with Example SSO']")
    look("sign-in-providers")
    labels = [button.text for button in page.driver.find_elements(By.XPATH, "//button")]
    assert not [label for label in labels if "apps" in label]


def test_declined_sign_in_at_the_provider_is_explained(page):
    page.press("Sign in with Example SSO")
    arrive(page, "//button[normalize-space()='Deny']")
    page.click("//button[normalize-space()='Deny']")
    arrive(page, "//main[@id='content']/*")
    assert page.alert().startswith("The identity provider refused the sign-in: access_denied")


def test_sign_in_of_another_browser_cannot_be_completed(page, gateway, provider):
    web = f"http://{gateway.listeners['web']}"
    with httpx.Client(base_url=web, headers={"Sec-Fetch-Site": "same-origin"}, timeout=WAIT_SECONDS) as attacker:
        url = attacker.post("/console/sso/corp").json()["url"]
    landed = sign_in(url, person(provider, "gw-ops"))
    page.open(landed)
    assert page.alert() == "this sign-in was begun in another browser, or took too long: begin it again"
    assert page.driver.get_cookie("__Host-console") is None
    # Nor with a sign-in of its own in progress.
    page.press("Sign in with Example SSO")
    arrive(page, "//input[@name='sub']")
    page.open(landed)
    assert page.alert() == "this sign-in was begun elsewhere: begin it again"


def test_other_sites_cannot_begin_or_complete_a_sign_in(gateway):
    web = f"http://{gateway.listeners['web']}"
    for site in ("cross-site", "same-site", "none", ""):
        headers = {"Sec-Fetch-Site": site} if site else {}
        for path in ("/console/sso/corp", "/console/sso/callback"):
            assert httpx.post(web + path, headers=headers, timeout=WAIT_SECONDS).status_code == 403
        assert httpx.get(f"{web}/console/sso", headers=headers, timeout=WAIT_SECONDS).status_code == 403
    same = {"Sec-Fetch-Site": "same-origin"}
    assert httpx.post(f"{web}/console/sso/nobody", headers=same, timeout=WAIT_SECONDS).status_code == 404
    assert httpx.get(f"{web}/console/sso/corp", headers=same, timeout=WAIT_SECONDS).status_code == 405
    foreign = httpx.post(
        f"{web}/console/sso/corp", headers=same | {"Host": "gateway.example.com"}, timeout=WAIT_SECONDS
    )
    assert foreign.status_code == 400 and "identity.public_url" in foreign.text


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def sign_in(url: str, name: str) -> str:
    """Signs in at the provider, and returns the address to which it sends the browser."""
    opener = urllib.request.build_opener(NoRedirect)
    try:
        opener.open(urllib.request.Request(url, data=urllib.parse.urlencode({"sub": name}).encode()))
    except urllib.error.HTTPError as error:
        assert error.code == 302, error.read()
        return error.headers["Location"]
    raise AssertionError("the provider did not redirect")


def test_login_with_sso_waits_for_the_browser(binary, gateway, provider):
    name = person(provider, "gw-ops")
    login = BrowserLogin(binary, gateway, "corp")
    landed = sign_in(login.url, name)
    host = landed.split("?")[0]
    # Other pages and other sign-ins do not end the wait.
    assert httpx.get(host.replace("/callback", "/"), timeout=WAIT_SECONDS).status_code == 404
    assert httpx.get(host, params={"code": "x", "state": "y"}, timeout=WAIT_SECONDS).status_code == 400
    assert "Return to the terminal" in httpx.get(landed, timeout=WAIT_SECONDS).text
    assert login.user() == ("acme", f"{name}@example.com", "operator")
    done = process.run(binary, "identity", "list", "--json", env=login.environment)
    (found,) = json.loads(done.stdout)["identities"]
    assert (found["provider"], found["subject"], found["email_verified"]) == ("corp", name, True)
