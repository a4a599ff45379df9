"""Addresses of the console in headless Chromium: which exist, who may see them, and the organization that they open in."""

from urllib.parse import urlencode

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select
from support.gateway import ADMIN_PASSWORD
from support.parties import PASSWORD, Fleet
from support.uploads import Upload, added, content


def open_address(page, gateway, address: str) -> None:
    page.open(f"http://{gateway.listeners['web']}/console/#/{address}")


def test_address_that_names_no_page_is_explained_and_stays(console, gateway, look):
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


@pytest.fixture
def organizations(new_organization):
    """Two organizations with a device and an object each."""
    made = []
    for _ in range(2):
        boss = new_organization()
        boss.fleet = Fleet.create(boss)
        uploader = boss.fleet.uploader()
        boss.object = added(boss, uploader, content(10))
        boss.device = uploader.device_id
        made.append(boss)
    return made


def organization_choice(console) -> str:
    return Select(console.find("//select[@aria-label='Organization']")).first_selected_option.text


def test_all_organizations_is_a_view_whose_links_open_in_their_organization(console, gateway, organizations, look):
    boss, other = organizations
    console.driver.refresh()
    console.until(lambda: organization_choice(console) == "All organizations")
    filter_both = f"device={boss.device} OR device={other.device}"
    open_address(console, gateway, f"objects?{urlencode({'filter': filter_both})}")
    row = f"//tr[.//a[@class='row-link'][normalize-space()='{boss.object.name}']]"
    console.find(f"{row}//td[@data-label='Organization'][normalize-space()='{boss.organization}']")
    console.find(f"//td[@data-label='Organization'][normalize-space()='{other.organization}']")
    look("objects-all-organizations")
    console.click(f"{row}//td[@data-label='Device']//a")
    console.heading(boss.device)
    assert organization_choice(console) == boss.organization
    assert console.driver.current_url.endswith(f"#/devices/{boss.device}?org={boss.organization}")
    console.driver.back()
    console.until(lambda: organization_choice(console) == "All organizations")
    console.click(f"{row}//a[@class='row-link']")
    console.heading(boss.object.name)
    assert organization_choice(console) == boss.organization
    assert console.fact("Organization") == boss.organization
    # The way back leads to the list of all organizations again.
    console.click("//nav[@aria-label='Breadcrumb']/a")
    console.find(f"//td[@data-label='Organization'][normalize-space()='{other.organization}']")
    console.until(lambda: organization_choice(console) == "All organizations")
    # A page of one organization says which one it shows.
    console.go("Devices")
    assert "now system" in console.find("//*[@role='note']").text


def test_all_objects_of_all_organizations_are_not_deleted_together(console, gateway, organizations, look):
    """A deletion by a filter is one of one organization: in the list of all, selected files and folders are deleted in theirs."""
    boss, other = organizations
    uploader = other.fleet.uploader()
    for name in ("run_0.mcap", "run_1.mcap"):
        created = uploader.create(file_name=name, relative_path=f"morning/{name}")
        Upload.of(uploader, created).put(content(10)).complete({})
    console.driver.refresh()
    console.until(lambda: organization_choice(console) == "All organizations")
    filter_all = " OR ".join(f"device={device}" for device in (boss.device, uploader.device_id))
    open_address(console, gateway, f"objects?{urlencode({'filter': filter_all})}")
    console.find(f"//input[@aria-label='Select {boss.object.name}']")
    everything, bar = "//input[@aria-label='Select all objects of the list']", "//div[@aria-label='Selected objects']"
    delete, remark = f"{bar}//button[normalize-space()='Delete']", f"{bar}//small"
    console.click(everything)
    assert console.find(remark).text == "To delete all objects of the list, choose an organization in the header."
    assert not console.driver.find_element(By.XPATH, delete).is_displayed()
    look("objects-selected-all-organizations")
    console.click(everything)
    console.click(f"//input[@aria-label='Select {boss.object.name}']")
    console.click("//input[@aria-label='Select morning']")
    assert not console.driver.find_element(By.XPATH, remark).is_displayed()
    console.click(delete)
    console.dialog("Delete 3 objects?")
    console.fill("Type 3 to confirm", "3")
    console.fill("Reason", "acceptance test")
    console.press("Delete")
    console.notice("3 objects moved to the trash.")
    assert (len(boss.list_all()), [each.name for each in other.list_all()]) == (0, [other.object.name])
    # With one organization, all objects of its list can be deleted.
    console.choose_organization(other.organization)
    console.find(f"//a[@class='row-link'][normalize-space()='{other.object.name}']")
    console.click(everything)
    console.click(delete)
    console.dialog("Delete 1 object?")
    console.press("Cancel")


def test_all_objects_of_all_organizations_are_tagged(console, gateway, organizations):
    boss, other = organizations
    uploader = other.fleet.uploader()
    created = uploader.create(file_name="run_0.mcap", relative_path="morning/run_0.mcap")
    Upload.of(uploader, created).put(content(10)).complete({})
    console.driver.refresh()
    console.until(lambda: organization_choice(console) == "All organizations")
    filter_all = " OR ".join(f"device={device}" for device in (boss.device, other.device, uploader.device_id))
    open_address(console, gateway, f"objects?{urlencode({'filter': filter_all})}")
    console.find("//input[@aria-label='Select morning']")
    console.click("//input[@aria-label='Select all objects of the list']")
    console.press("Tag")
    console.dialog("Tag 3 objects")
    console.fill("Tags to add or change", "weather=rain")
    console.press("Change tags")
    console.notice("The tags of 3 objects were changed.")
    assert [each.tags["weather"] for each in [*boss.list_all(), *other.list_all()]] == ["rain"] * 3


def test_address_carries_the_organization_to_a_colleague(console, gateway, organizations):
    boss, other = organizations
    console.driver.refresh()
    console.go("Devices")
    console.choose_organization(boss.organization)
    console.row("Device", boss.device)
    console.click(f"//main//td//a[normalize-space()='{boss.device}']")
    console.heading(boss.device)
    address = console.driver.current_url
    assert address.endswith(f"?org={boss.organization}")
    # The address opens in its organization, in another session, too.
    console.enter(gateway)
    console.open(address)
    console.sign_in("system", "admin", ADMIN_PASSWORD)
    console.heading(boss.device)
    console.until(lambda: organization_choice(console) == boss.organization)
    # For the organization's own admin it opens as well, and says so to that of another one.
    console.enter(gateway)
    console.open(address)
    console.sign_in(boss.organization, "boss", PASSWORD)
    console.heading(boss.device)
    console.enter(gateway)
    console.open(address)
    console.sign_in(other.organization, "boss", PASSWORD)
    console.heading("Another organization")
    assert boss.organization in console.alert() and other.organization in console.alert()


def test_another_organization_drops_what_belongs_to_the_first(console, gateway, organizations):
    boss, other = organizations
    console.driver.refresh()
    console.heading("Overview")
    query = {"filter": f"device={boss.device} size>0", "sort": "size desc", "org": boss.organization}
    open_address(console, gateway, f"objects?{urlencode(query)}")
    console.find(f"//a[@class='row-link'][normalize-space()='{boss.object.name}']")
    console.choose_organization(other.organization)
    console.find(f"//a[@class='row-link'][normalize-space()='{other.object.name}']")
    assert console.field("Filter").get_attribute("value") == "size>0"
    assert "sort=size+desc" in console.driver.current_url
    # The page of an item of the first one becomes the list of the other.
    open_address(console, gateway, f"devices/{other.device}?org={other.organization}")
    console.heading(other.device)
    console.choose_organization(boss.organization)
    console.row("Device", boss.device)
    # SYSTEM itself has neither object.
    console.go("Objects")
    console.find(f"//a[@class='row-link'][normalize-space()='{boss.object.name}']")
    console.choose_organization("system")
    console.until(lambda: "org=system" in console.driver.current_url)
    query = {"filter": f"name:{boss.object.name} OR device={boss.device}", "org": "system"}
    open_address(console, gateway, f"objects?{urlencode(query)}")
    console.find("//*[starts-with(normalize-space(), '0 objects')]")
