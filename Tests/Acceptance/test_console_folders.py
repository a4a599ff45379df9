"""Uses folders in the console's list of objects in headless Chromium: one row that opens, and that is handled as one."""

import io
import zipfile

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from support.browser import PHONE
from support.parties import unique
from support.uploads import Upload, content

FILES = ("metadata.yaml", "run_0.mcap", "run_1.mcap", "cameras/front.mp4", "cameras/rear.mp4")


def add(uploader, path: str, data: bytes, tags: dict[str, str]) -> None:
    """Uploads a file, which is in a folder if its path has a slash."""
    hints = {"file_name": path.rsplit("/", 1)[-1]}
    if "/" in path:
        hints["relative_path"] = path
    Upload.of(uploader, uploader.create(**hints)).put(data).complete(tags)


@pytest.fixture
def run(uploader) -> str:
    """Two folders of a device beside two files, with a tag `run` of their own."""
    run = unique("run")
    for folder in ("morning", "evening shift"):
        for number, name in enumerate(FILES):
            add(uploader, f"{folder}/{name}", content(1000 * (number + 1), number), {"run": run})
    for name in ("notes.txt", "track.csv"):
        add(uploader, name, content(10), {"run": run})
    return run


def open_list(console, gateway, run: str) -> None:
    console.open(f"http://{gateway.listeners['web']}/console/#/objects?filter=raw_tags.run%3D{run}")
    console.heading("Objects")


def names(console) -> list[str]:
    """Returns the names of the rows, with the number of files of a folder."""
    return [" ".join(row.get("Name", "").split()) for row in console.rows()]


LIST = ["track.csv", "notes.txt", "evening shift 5 files", "morning 5 files"]


def test_folder_is_a_row_that_opens(console, gateway, uploader, run):
    open_list(console, gateway, run)
    console.until(lambda: names(console) == LIST)
    console.find("//*[@class='list-status'][normalize-space()='12 objects found']")
    row = console.rows()[2]
    assert row["Size"] == "14.6 KiB"
    assert console.find("//main//tbody//tr[3]//*[@class='file-icon']").get_attribute("aria-label") == "folder"
    # With the keyboard: the third row, and Enter.
    ActionChains(console.driver).send_keys("jjj", Keys.ENTER).perform()
    console.heading("evening shift")
    console.until(lambda: names(console) == ["cameras 2 files", "run_1.mcap", "run_0.mcap", "metadata.yaml"])
    console.click("//main//tbody//a[normalize-space()='cameras']")
    console.heading("cameras")
    console.until(lambda: names(console) == ["rear.mp4", "front.mp4"])
    console.click("//nav[@aria-label='Breadcrumb']/a[.='evening shift']")
    console.heading("evening shift")
    console.click(f"//nav[@aria-label='Breadcrumb']/a[.='{uploader.device_id}']")
    console.heading("Objects")
    console.until(lambda: names(console) == LIST)


def test_switch_lists_all_files_and_is_remembered(console, gateway, run):
    open_list(console, gateway, run)
    console.until(lambda: names(console) == LIST)
    console.field("Folders as rows").click()
    console.until(lambda: len(names(console)) == 12)
    assert "folders=off" in console.driver.current_url
    open_list(console, gateway, run)
    console.until(lambda: len(names(console)) == 12)
    console.field("Folders as rows").click()
    console.until(lambda: names(console) == LIST)
    assert "folders=" not in console.driver.current_url


def test_folder_is_downloaded_as_one_archive(console, gateway, uploader, run):
    open_list(console, gateway, run)
    console.until(lambda: names(console) == LIST)
    console.click("//input[@aria-label='Select morning']")
    console.find("//div[@aria-label='Selected objects']/p[.='5 objects (1 folder) selected · 14.6 KiB']")
    console.press("Download .zip")
    expected = sorted(f"{uploader.device_id}/morning/{name}" for name in FILES)
    with zipfile.ZipFile(io.BytesIO(console.downloaded("*.zip"))) as archive:
        assert archive.testzip() is None
        assert sorted(archive.namelist()) == expected
    console.click("//main//tbody//a[normalize-space()='morning']")
    console.heading("morning")
    console.press("Download folder")
    with zipfile.ZipFile(io.BytesIO(console.downloaded("*.zip"))) as archive:
        assert sorted(archive.namelist()) == expected


def test_folder_is_shared_tagged_and_deleted_as_one(console, gateway, admin, run):
    open_list(console, gateway, run)
    console.until(lambda: names(console) == LIST)
    for name in ("morning", "notes.txt"):
        console.click(f"//input[@aria-label='Select {name}']")
    console.find("//div[@aria-label='Selected objects']/p[starts-with(., '6 objects (1 folder, 1 file) selected')]")
    console.press("Share")
    console.dialog("Share 6 objects")
    console.press("Create links")
    links = console.until(lambda: console.find("//dialog[@open]//textarea").get_attribute("value"))
    assert len(links.splitlines()) == 6
    console.press("Close")
    console.press("Tag")
    console.fill("Tags to add or change", "checked=yes")
    console.press("Change tags")
    console.notice("The tags of 6 objects were changed.")
    assert len(admin.list_all(filter=f"raw_tags.run={run} checked=yes")) == 6
    console.click("//div[@aria-label='Selected objects']//button[normalize-space()='Delete']")
    assert "6 objects, 14.7 KiB. They move to the trash" in console.dialog("Delete 6 objects?")
    console.fill("Type 6 to confirm", "6")
    console.fill("Reason", "a test")
    console.press("Delete")
    console.notice("6 objects moved to the trash.")
    console.until(lambda: names(console) == ["track.csv", "evening shift 5 files"])
    assert len(admin.list_all(filter=f"raw_tags.run={run}")) == 6


def test_new_files_of_a_folder_are_counted(console, gateway, uploader, run):
    open_list(console, gateway, run)
    console.until(lambda: names(console) == LIST)
    add(uploader, "morning/run_2.mcap", content(10), {"run": run})
    add(uploader, "late.csv", content(10), {"run": run})
    console.until(lambda: names(console) == ["late.csv", *LIST[:3], "morning 6 files"])


def test_folders_are_suggested_while_typing(console, gateway, run):
    open_list(console, gateway, run)
    console.until(lambda: names(console) == LIST)
    console.field("Filter").send_keys(" shift")
    console.click("//li[@role='option'][span='evening shift']")
    assert console.field("Filter").get_attribute("value").endswith(' folder:"evening shift" ')


@pytest.mark.parametrize("size", [None, PHONE])
def test_folders_are_accessible(console, gateway, run, size):
    if size:
        console.resize(size)
    open_list(console, gateway, run)
    console.until(lambda: names(console) == LIST)
    assert console.violations() == []
    assert console.driver.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    console.click("//main//tbody//a[normalize-space()='morning']")
    console.heading("morning")
    console.until(lambda: len(names(console)) == 4)
    assert console.violations() == []
    assert console.driver.execute_script("return document.documentElement.scrollWidth <= innerWidth")
