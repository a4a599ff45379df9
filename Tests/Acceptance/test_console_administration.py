"""Administers users, keys, sites, organizations and backups by the console in headless Chromium."""

from selenium.webdriver.support.ui import Select
from support.commands import offline
from support.database import rows
from support.parties import PASSWORD, Fleet, User, unique
from support.uploads import completed, content


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
    assert console.row("Event", "admin created the API key the importer")["Client address"] == "127.0.0.1"
    assert console.row("Event", f"admin created the user {name}")["Result"] == "–"


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


def test_admin_of_system_acts_for_another_organization(console, new_organization):
    boss = new_organization()
    device = Fleet.create(boss).register().device_id
    console.driver.refresh()
    choice = console.find("//select[@aria-label='Organization']")
    console.go("Devices")
    Select(choice).select_by_value(boss.organization)
    console.row("Device", device)


def test_downloaded_backup_is_restorable(console, binary, gateway, uploader, tmp_path):
    completed(uploader, content(5000))
    ((objects,),) = rows(gateway, "SELECT count(*) FROM store_objects WHERE lost = 0")
    console.go("Backup")
    console.press("Download backup")
    archive = tmp_path / "gateway.backup"
    archive.write_bytes(console.downloaded("data-gateway-*.backup"))
    restored = offline(binary, "restore", "--from", archive, "--data-dir", tmp_path / "restored")
    assert restored["objects"] == objects, restored
