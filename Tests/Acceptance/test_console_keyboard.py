"""Uses the console with the keyboard in headless Chromium, and looks at what a first sign-in shows."""

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from support.parties import PASSWORD, unique, unique_device_id
from support.uploads import FILE_NAME_TAG, completed, content

#: An entry of the open palette, by its label.
FOUND = "//dialog[@open]//li[span[@class='label'][normalize-space()='{}']]"


def open_objects(console, gateway, filter_text: str) -> None:
    console.open(f"http://{gateway.listeners['web']}/console/#/objects?filter={filter_text}")
    console.heading("Objects")


def press(console, keys: str) -> None:
    """Presses keys, wherever the focus is."""
    ActionChains(console.driver).send_keys(keys).perform()


def press_control(console, key: str) -> None:
    ActionChains(console.driver).key_down(Keys.CONTROL).send_keys(key).key_up(Keys.CONTROL).perform()


def focused_row(console) -> int:
    return console.driver.execute_script("return document.activeElement.closest('tbody tr')?.index ?? -1")


def found(console, text: str, label: str) -> None:
    """Types into the open palette, and waits until it finds something."""
    field = console.find("//dialog[@open]//input[@role='combobox']")
    field.clear()
    field.send_keys(text)
    console.find(FOUND.format(label))


def test_keys_select_any_number_of_rows(console, gateway, uploader):
    run = unique("run")
    for number in range(90):
        completed(uploader, b"x", {"run": run, FILE_NAME_TAG: f"file {number:03}.txt"})
    open_objects(console, gateway, f"raw_tags.run={run}")
    console.until(lambda: "90 objects" in console.text)
    for row in range(85):
        press(console, "j")
        assert focused_row(console) == row
    press(console, "k" * 10)
    assert focused_row(console) == 74
    press(console, "x")
    console.find("//div[@aria-label='Selected objects']/p[contains(., '1 object selected')]")
    assert focused_row(console) == 74
    press(console, Keys.ENTER)
    console.heading("file 015.txt")


def test_palette_lists_devices_whose_names_have_the_typed_word_first(page, new_organization):
    """The number of a device is often a part of another one's id."""
    boss = new_organization()
    rover, picker = sorted(unique_device_id() for _ in range(2))
    number = rover[-4:]
    for device, name in ((rover, "Rover"), (picker, f"Picker {number}")):
        boss.devices("RegisterDevice", device_id=device, display_name=name)
    page.sign_in(boss.organization, "boss", PASSWORD)
    page.heading("Overview")
    press_control(page, "k")
    found(page, number, "Rover")
    labels = "return [...document.querySelectorAll('dialog[open] li .label')].map((each) => each.textContent)"
    page.until(lambda: page.driver.execute_script(labels) == [f"Picker {number}", "Rover"])
    press(page, Keys.ENTER)
    page.heading(f"Picker {number}")


def test_palette_finds_a_device_that_was_just_registered(console):
    console.go("Devices")
    press_control(console, "k")
    # The devices are loaded.
    found(console, "overview", "Overview")
    press(console, Keys.ESCAPE)
    name, device = unique("Picker"), unique_device_id()
    console.press("Register device")
    console.fill("Device id", device)
    console.fill("Name", name)
    console.press("Register")
    console.heading(name)
    console.go("Overview")
    press_control(console, "k")
    found(console, name.lower(), name)


def test_palette_finds_pages_devices_objects_and_actions(console, gateway, admin, uploader):
    name, run = unique("Picker"), unique("run")
    admin.devices("UpdateDevice", name=f"devices/{uploader.device_id}", display_name=name)
    for number in range(3):
        completed(uploader, content(10), {"run": run, FILE_NAME_TAG: f"{run}_{number}_drive.mcap"})
    open_objects(console, gateway, f"raw_tags.run={run}")
    console.until(lambda: len(console.rows()) == 3)
    press_control(console, "k")
    found(console, name.lower(), name)
    press(console, Keys.ENTER)
    console.heading(name)
    press_control(console, "k")
    found(console, f"{run}_1_dri", f"{run}_1_drive.mcap")
    # The end of a name is never cut.
    right = (
        "return ['.palette .label span:last-child', '.palette .label'].map((each) => "
        "document.querySelector(each).getBoundingClientRect().right)"
    )
    end, label = console.driver.execute_script(right)
    assert end <= label + 1
    press(console, Keys.ENTER)
    console.heading(f"{run}_1_drive.mcap")
    press_control(console, "k")
    found(console, "audit", "Audit log")
    console.click(FOUND.format("Audit log"))
    console.heading("Audit log")
    open_objects(console, gateway, f"raw_tags.run={run}")
    console.until(lambda: len(console.rows()) == 3)
    press(console, "jx")
    console.find("//div[@aria-label='Selected objects']/p[contains(., '1 object selected')]")
    press(console, ".")
    found(console, "clear", "Clear")
    assert not console.violations("dialog[open]")
    press(console, Keys.ENTER)
    bar = console.driver.find_element(By.CSS_SELECTOR, "div[aria-label='Selected objects']")
    console.until(lambda: not bar.is_displayed())


def test_single_keys_can_be_switched_off(console, gateway, uploader):
    run = unique("run")
    completed(uploader, b"x", {"run": run})
    open_objects(console, gateway, f"raw_tags.run={run}")
    console.until(lambda: len(console.rows()) == 1)
    press(console, "?")
    console.dialog("Keyboard shortcuts")
    console.field("Use single keys").click()
    console.press("Close")
    press(console, "j?")
    assert focused_row(console) == -1
    press_control(console, "k")
    found(console, "keyboard", "Keyboard shortcuts")
    press(console, Keys.ENTER)
    console.dialog("Keyboard shortcuts")
    console.field("Use single keys").click()
    console.press("Close")
    press(console, "j")
    assert focused_row(console) == 0


def test_first_sign_in_shows_the_steps(page, gateway, new_organization):
    boss = new_organization()
    page.sign_in(boss.organization, "boss", PASSWORD)
    page.heading("Overview")
    page.find("//div[contains(@class, 'first-steps')]//a[normalize-space()='Create a site']")
    assert not page.driver.find_elements(By.CSS_SELECTOR, ".chart, .tile")
    assert not page.driver.find_elements(By.CSS_SELECTOR, ".first-steps .done")
    boss.admin("CreateSite", name="north")
    page.driver.refresh()
    page.find("//li[@class='done'][a[normalize-space()='Create a site']]")


def test_sign_in_remembers_organization_and_user(page, gateway, new_organization):
    boss = new_organization()
    page.sign_in(boss.organization, "boss", PASSWORD)
    page.heading("Overview")
    page.press("Sign out")
    page.until(lambda: page.field("Organization").get_attribute("value") == boss.organization)
    assert page.field("User name").get_attribute("value") == "boss"
    assert page.driver.switch_to.active_element.get_attribute("name") == "password"
