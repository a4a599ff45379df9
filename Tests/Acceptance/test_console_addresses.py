"""Addresses of the console in headless Chromium: which exist, who may see them, and the organization that they open in."""

from selenium.webdriver.common.by import By
from support.parties import PASSWORD


def open_address(page, gateway, address: str) -> None:
    page.open(f"http://{gateway.listeners['web']}/console/#/{address}")


def test_address_that_names_no_page_says_so_and_stays(console, gateway, look):
    open_address(console, gateway, "nonsense?days=7")
    console.heading("This page does not exist")
    assert "#/nonsense?days=7" in console.alert()
    assert console.driver.current_url.endswith("#/nonsense?days=7")
    assert console.driver.title == "This page does not exist · data-gateway"
    assert not console.driver.find_elements(By.XPATH, "//nav//*[@aria-current]")
    look("page-missing")
    console.click("//main//a[normalize-space()='Overview']")
    console.heading("Overview")


def test_page_of_a_higher_role_names_the_role_and_opens_for_another_user(page, gateway, new_organization):
    boss = new_organization()
    for role in ("viewer", "operator"):
        boss.users("CreateUser", user_name=role, password=PASSWORD, role=role)
    open_address(page, gateway, "keys")
    page.sign_in(boss.organization, "viewer", PASSWORD)
    page.heading("Sites and keys")
    assert page.alert() == "You need the role operator to see this page."
    for address, heading, role in (
        ("users", "Users", "the role admin"),
        ("settings", "Settings", "the role admin in the organization system"),
        ("devices/260101-000001", "Devices", "the role operator"),
    ):
        open_address(page, gateway, address)
        page.heading(heading)
        page.until(lambda role=role: page.alert() == f"You need {role} to see this page.")
        assert page.driver.current_url.endswith(f"#/{address}")
    open_address(page, gateway, "keys")
    page.heading("Sites and keys")
    page.press("Sign in as another user")
    page.sign_in(boss.organization, "operator", PASSWORD)
    page.heading("Sites and keys")
    page.find(
        "//button[normalize-space()='New key' or normalize-space()='New site'] | //main//table | //main//*[@class='empty']"
    )
    assert not page.driver.find_elements(By.XPATH, "//*[@role='alert']")


def test_member_learns_that_the_console_is_not_for_them(page, new_organization, look):
    boss = new_organization()
    boss.users("CreateUser", user_name="mia", password=PASSWORD, role="member")
    page.sign_in(boss.organization, "mia", PASSWORD)
    page.heading("No access to the console")
    assert page.alert().startswith("Your user has the role member, which is for the apps beside the gateway.")
    assert not page.driver.find_elements(By.XPATH, "//nav//a")
    look("member")
    page.press("Sign in as another user")
    page.sign_in(boss.organization, "boss", PASSWORD)
    page.heading("Overview")
