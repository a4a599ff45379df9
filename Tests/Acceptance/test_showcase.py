"""The showcase: a fleet of four organizations, made by the gateway's modules with a clock of their own."""

import datetime
import io
import subprocess
import zipfile
from collections import Counter

import pytest
from mcap.reader import make_reader
from selenium.webdriver.common.keys import Keys
from support.gateway import eventually
from support.large_fleet import FULL, SHORT, LargeFleet
from support.person import Person
from support.uploads import download


@pytest.fixture(scope="module")
def fleet(binary, tmp_path_factory, is_full):
    made = LargeFleet(binary, tmp_path_factory.mktemp("showcase"), FULL if is_full else SHORT)
    examined = subprocess.run([binary, "doctor", "--data-dir", made.gateway.data], capture_output=True, text=True)
    assert (examined.returncode, examined.stdout) == (0, "no problems found\n"), examined
    made.gateway.start()
    yield made
    made.gateway.close()


def test_organizations_have_all_objects_with_their_folders_and_topics(fleet, stubs):
    listed, recorded, devices, sites = [], [], 0, 0
    for name in fleet.contents["organizations"]:
        user = fleet.login(stubs, name)
        listed += user.list_all()
        recorded += user.list_all(filter="topic=/gps/fix")
        devices += len(user.devices("ListDevices", page_size=1000).devices)
        sites += len(user.admin("ListSites").sites)
    assert (len(listed), devices, sites) == (fleet.contents["objects"], fleet.contents["devices"], 8)
    assert recorded == [found for found in listed if found.name.endswith(".mcap")]
    folders = {found.relative_path.split("/")[0] for found in listed if found.relative_path}
    assert folders and all(folder.endswith("_rosbag2") for folder in folders)
    assert len({found.created_at_unix // 86_400 for found in listed}) >= 30


def test_a_recording_can_be_read_by_its_library(fleet, stubs):
    user = fleet.login(stubs, "orchard-robotics", "vera")
    recording = next(found for found in user.list_all() if found.name.endswith("_camera-imu-gps.mcap"))
    reader = make_reader(io.BytesIO(download(user, recording.file_id)))
    topics = {channel.topic for _, channel, _ in reader.iter_messages()}
    assert {"/imu", "/gps/fix"} <= topics <= {"/camera/front", "/imu", "/gps/fix"}
    assert reader.get_summary().statistics.message_count > 0


@pytest.fixture
def overview(fleet, browser):
    """The page that a viewer of the largest organization sees after the sign-in."""
    browser.enter(fleet.gateway)
    browser.driver.get_log("browser")
    browser.sign_in("orchard-robotics", "vera", fleet.contents["password"])
    browser.heading("Overview")
    yield browser
    browser.assert_no_errors()


def test_file_is_found_by_a_part_of_its_name_with_three_actions(fleet, stubs, overview):
    names = [found.name for found in fleet.login(stubs, "orchard-robotics", "vera").list_all()]
    # A person remembers when it was: the time of day, which no other name has.
    part, name = next((name[11:19], name) for name in names if sum(name[11:19] in other for other in names) == 1)
    person = Person(overview)
    person.press("k", control=True)
    person.write(part)
    overview.find(f"//dialog[@open]//li[@aria-selected='true'][.//span[@title='{name}']]")
    person.press(Keys.ENTER)
    overview.heading(name)
    assert person.actions == 3


def test_button_in_the_header_opens_the_search(overview):
    person = Person(overview)
    person.click("//header//button[@aria-label='Find anything']")
    person.write("picker")
    overview.find("//dialog[@open]//li[small[@class='kind']='Object']")


def test_folder_of_a_day_is_downloaded_as_one_archive_with_five_clicks(fleet, page):
    """From the overview, without the syntax of filters."""
    page.enter(fleet.gateway)
    page.sign_in("orchard-robotics", "vera", fleet.contents["password"])
    page.heading("Overview")
    # The day as the page counts it, in the zone of the browser.
    yesterday = datetime.date.today() - datetime.timedelta(days=1)
    person = Person(page)
    person.click("//nav[@aria-label='Sections']/a[.='Objects']")
    page.heading("Objects")
    person.click("//input[@id='filter']")
    page.field("Filter").send_keys("picker 041" + Keys.ENTER)
    person.click("//fieldset[legend='Recorded']//a[.='Yesterday']")
    person.click(f"//input[@aria-label='Select {yesterday}_picker-041_rosbag2']")
    person.click("//div[@aria-label='Selected objects']//button[.='Download .zip']")
    with zipfile.ZipFile(io.BytesIO(page.downloaded("*.zip"))) as archive:
        assert archive.testzip() is None
        files = {name.rsplit("/", 1)[1] for name in archive.namelist()}
    splits = {f"{yesterday}_picker-041_rosbag2_{part}.mcap" for part in range(3)}
    assert files == {"front.mp4", "metadata.yaml"} | splits
    assert person.actions == 5


def test_deleted_objects_are_found_and_restored_with_four_clicks(fleet, stubs, page):
    """Who deleted these objects, and how to get them back: from the overview, by an administrator."""
    admin = fleet.login(stubs, "orchard-robotics")
    counts = Counter(found.device_id for found in admin.list_all())
    # Objects of one line of the audit log, which has at most 100.
    device, count = max((entry for entry in counts.items() if entry[0] and entry[1] <= 100), key=lambda entry: entry[1])
    deleted = admin.object_management("DeleteObjects", filter=f"device={device}", reason="the wrong robot").operation
    eventually(
        lambda: admin.object_management("GetObjectOperation", operation_id=deleted.operation_id).operation.status != 1
    )
    page.enter(fleet.gateway)
    page.sign_in("orchard-robotics", "ada", fleet.contents["password"])
    page.heading("Overview")
    person = Person(page)
    person.click("//nav[@aria-label='Sections']/a[.='Administration']")
    person.click("//nav[@aria-label='Pages']/a[.='Audit log']")
    event = f'ada deleted {count} objects: filter "device={device}", reason "the wrong robot"'
    page.until(lambda: event in [row["Event"] for row in page.rows()], event)
    person.click(f"//button[.='{count} objects']")
    page.until(lambda: page.text.count("in the trash") == min(count, 50))
    person.click("//button[.='Restore all objects of this deletion']")
    page.until(lambda: f"Restored\n{count} objects" in page.dialog("Restoration"))
    assert person.actions == 4
    assert Counter(found.device_id for found in admin.list_all()) == counts
