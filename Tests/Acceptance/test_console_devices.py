"""Uses the console's pages of devices and of their uploads in headless Chromium."""

import csv
import io
import json

import grpc
import pytest
import zxingcpp
from PIL import Image
from selenium.webdriver.support.ui import Select
from support.commands import CommandLine
from support.gateway import eventually
from support.parties import PASSWORD, Fleet, exchange, init_device, unique, unique_device_id
from support.raw import fetch_url
from support.uploads import Upload, completed, content


def test_device_is_registered_initialized_and_disabled(console, admin, fleet, gateway, stubs):
    device = unique_device_id()
    console.go("Devices")
    console.press("Register device")
    console.fill("Device id", device)
    console.fill("Name", "Blue rover")
    Select(console.field("Suite")).select_by_value(fleet.suite)
    console.fill("Tags", "model=mk2\nowner=A & B <i>")
    console.press("Register")
    console.heading("Blue rover")
    assert device in console.fact("Device id")
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


def test_silent_devices_are_filtered_and_exported(console, admin, gateway, stubs):
    """The robots that were not heard of are a file after the choice of a time and a press of a button."""
    fleet = Fleet.create(admin)
    silent = fleet.register().device_id
    init_device(gateway, stubs, silent)
    fleet.register()
    console.open(f"http://{gateway.listeners['web']}/console/#/devices?suite={fleet.suite}&silent=0.00001")

    def listed() -> list[str]:
        console.driver.refresh()
        console.until(lambda: console.rows() or "No devices match the filter." in console.text)
        return [row["Device"] for row in console.rows()]

    # Silence of a second, which begins with the device's key.
    console.until(lambda: listed() == [silent])
    console.choose("Order", "Last seen, latest first")
    console.until(lambda: "order=last_seen_at+desc" in console.driver.current_url)
    console.press("Export CSV")
    (row,) = csv.DictReader(io.StringIO(console.downloaded("devices.csv").decode(), newline=""))
    assert (row["device_id"], row["status"], row["suite"]) == (silent, "initialized", fleet.suite)
    console.choose("Last seen", "Over 3 days ago")
    console.until(lambda: "No devices match the filter." in console.text)


def test_page_says_why_a_device_is_silent(console, admin, binary, gateway, stubs, tmp_path):
    """A device is found with two clicks and its name; its page says in a sentence what is wrong."""
    fleet, closed = Fleet.create(admin), Fleet.create(admin)
    name = unique("Picker")

    def uploader(suffix: str, fleet=fleet):
        uploader = fleet.uploader()
        admin.devices("UpdateDevice", name=f"devices/{uploader.device_id}", display_name=f"{name} {suffix}")
        return uploader

    def sentence(suffix: str) -> str:
        console.go("Devices")
        console.heading("Devices")
        console.fill("Search", f"{name} {suffix}\n")
        console.click(f"//td//a[normalize-space()='{name} {suffix}']")
        console.heading(f"{name} {suffix}")
        return console.find("//section[@aria-label='Diagnosis']/p").text

    admin.devices("RegisterDevice", display_name=f"{name} new", suite=fleet.suite)
    disabled = uploader("disabled")
    admin.devices("DisableDevice", name=f"devices/{disabled.device_id}")
    with pytest.raises(grpc.RpcError):
        exchange(gateway, stubs, disabled.credential)
    unbound = uploader("unbound")
    admin.devices("RemoveDeviceFromSuite", suite=fleet.suite, device=f"devices/{unbound.device_id}")
    uploader("closed", closed)
    admin.admin("DisableSite", site_id=closed.site_id)
    failing = uploader("failing")
    failing.abort(failing.create(file_name="a.mcap").logical_upload_id, reason="disk error on the robot")
    refused = uploader("refused")
    with pytest.raises(grpc.RpcError):
        refused.create(relative_path="a" * 2000, file_name="a")
    busy = uploader("busy")
    Upload.create(busy)

    assert sentence("new") == "The device never called: it has not fetched its key."
    assert sentence("disabled").startswith("The device is disabled. Calls continue: 1 refused call, the first one")
    assert sentence("unbound") == "The device is in no suite, so its key does not work. There was no call since."
    assert sentence("closed") == "The site of the device's suite is disabled. There was no call since."
    assert sentence("failing").startswith("The device's last upload failed: disk error on the robot (begun ")
    eventually(lambda: "a.mcap: disk error on the robot" in console.text)
    assert sentence("refused").startswith('The device\'s calls are refused: client_hints["relative_path"] ')
    assert sentence("busy") == "The device is uploading 1 file."
    found = admin.devices("GetDevice", name=f"devices/{busy.device_id}")
    assert found.diagnosis.sentence == sentence("busy")
    rest = fetch_url(
        f"http://{gateway.listeners['web']}/v1/devices/{busy.device_id}",
        headers={"Authorization": f"Bearer {admin.token}"},
    )
    assert json.loads(rest.body)["diagnosis"]["sentence"] == sentence("busy")
    shown = CommandLine(binary, gateway, tmp_path).login().json("device", "show", busy.device_id)
    assert shown["diagnosis"] == sentence("busy")


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
    console.press("Retire")
    assert "Its objects stay." in console.dialog(f"Retire device {device}?")
    console.press("Retire")
    console.notice(f"Device {device} was retired.")
    console.press("Unretire")
    assert "it can fetch its first key again" in console.dialog(f"Return device {device} to use?")
    console.press("Unretire")
    console.notice(f"Device {device} was returned to use.")
    console.press("Delete")
    assert "only if it never fetched a key" in console.dialog(f"Delete device {device}?")
    console.press("Cancel")


def test_list_has_the_number_of_objects_of_each_device(page, new_organization):
    boss = new_organization()
    fleet = Fleet.create(boss)
    uploader = fleet.uploader()
    for number in range(2):
        completed(uploader, content(10, number))
    counts = {fleet.register().device_id: "0", uploader.device_id: "2"}
    page.sign_in(boss.organization, "boss", PASSWORD)
    page.go("Devices")
    page.until(lambda: {row["Device"]: row["Objects"] for row in page.rows()} == counts)


def test_suites_have_the_names_of_their_sites(page, new_organization):
    boss = new_organization()
    north, south = (boss.admin("CreateSite", name=name).site.site_id for name in ("North", "South"))
    suites = [
        boss.devices("CreateDeviceSuite", site_id=site, display_name="Haulers").name for site in (north, south, south)
    ]
    page.sign_in(boss.organization, "boss", PASSWORD)
    page.go("Devices")
    options = {each.get_attribute("value"): each.text for each in Select(page.field("Suite")).options}
    first, *others = (options[suite] for suite in suites)
    # Two that are otherwise equal have their ids, too.
    assert [first, *others] == ["Haulers (North)", *(f"Haulers (South), {suite}" for suite in suites[1:])]


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
    console.until(lambda: listed().get("Parts") == "1 part")
    row = listed()
    assert (row["Source"], row["Progress"]) == (uploader.device_id, "1 MiB, size not known yet")
    assert console.driver.switch_to.active_element == console.find(link)
    parts.append(store.upload_part(multipart, 2, data[upload.part_size :]))
    console.until(lambda: listed().get("Parts") == "2 parts")
    upload.size, upload.parts, upload.etag = len(data), parts, store.complete(multipart, parts)
    upload.complete()
    console.until(lambda: not listed(), "the completed upload is still listed")


def test_limits_of_silence_are_set_in_the_forms(console, admin, gateway):
    fleet = Fleet.create(admin)
    device = fleet.register().device_id
    console.show(gateway, f"devices/{device}", device)
    assert console.fact("Silent after") == "as the suite"
    console.press("Edit")
    console.choose("Silent after", "12 hours")
    console.press("Save")
    console.until(lambda: console.fact("Silent after") == "12 hours")
    assert admin.devices("GetDevice", name=f"devices/{device}").silent_after_hours == 12
    suite = admin.devices("GetDeviceSuite", name=fleet.suite)
    console.go("Suites")
    console.press_in_row(suite.display_name, "Edit")
    console.choose("Silent after", "never")
    console.press("Save")
    console.notice("The suite was changed.")
    console.until(lambda: console.row("Suite", suite.display_name)["Silent after"] == "never")
    site = admin.admin("GetSite", site_id=fleet.site_id).site
    console.go("Sites and keys")
    console.press_in_row(site.name, "Edit")
    console.choose("Silent after", "7 days")
    console.press("Save")
    console.notice(f"Site “{site.name}” was saved.")
    console.until(lambda: console.row("Site", site.name)["Silent after"] == "7 days")
    # The form keeps a limit that its choices do not have.
    admin.admin("UpdateSite", site_id=fleet.site_id, silent_after_hours=5)
    console.driver.refresh()
    console.press_in_row(site.name, "Edit")
    assert not console.violations()
    console.press("Save")
    console.notice(f"Site “{site.name}” was saved.")
    assert admin.admin("GetSite", site_id=fleet.site_id).site.silent_after_hours == 5
