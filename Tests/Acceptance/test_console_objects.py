"""Uses the console's pages of objects in headless Chromium: search, selection, one object, archives and previews."""

import io
import json
import struct
import zipfile

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from support.browser import Browser
from support.media import CLIP, png, wav
from support.parties import unique
from support.raw import fetch_url
from support.recordings import recording
from support.uploads import FILE_NAME_TAG, Upload, completed, content


def search(console, gateway, filter_text: str) -> None:
    console.open(f"http://{gateway.listeners['web']}/console/#/objects")
    console.heading("Objects")
    console.fill("Filter", filter_text + Keys.ENTER)


def names(console) -> list[str]:
    return [row.get("Name", "") for row in console.rows()]


@pytest.fixture
def drives(uploader) -> str:
    """Four objects with a tag `run` of their own."""
    run = unique("run")
    for number in range(4):
        tags = {"run": run, "weather": "rain" if number < 3 else "sun", FILE_NAME_TAG: f"drive {number}.csv"}
        completed(uploader, content(1000 * (number + 1), number), tags)
    return run


# The list.


def test_facets_narrow_the_search_and_chips_widen_it(console, gateway, drives):
    search(console, gateway, f"raw_tags.run={drives}")
    console.until(lambda: len(names(console)) == 4)
    console.find("//*[@class='list-status'][normalize-space()='4 objects found']")
    console.click("//section[@aria-label='weather']//a[.//span[normalize-space()='sun']]")
    console.until(lambda: names(console) == ["drive 3.csv"])
    console.click("//ul[@class='chips']//a[contains(., 'sun')]")
    console.until(lambda: len(names(console)) == 4)


def test_mistake_in_a_filter_is_marked_at_its_place(console, gateway):
    search(console, gateway, 'k="é" name:* run')
    assert console.find("//p[@class='mistake']//mark").text == "*"
    assert console.find("//p[@class='mistake']/code").text == 'k="é" name:* run'
    assert console.driver.find_element(By.CLASS_NAME, "list-status").get_attribute("textContent") == ""


def test_empty_result_offers_the_filter_without_each_term(console, gateway, drives):
    search(console, gateway, f"raw_tags.run={drives} weather = snow drive")
    console.find("//p[normalize-space()='No objects match all of these terms.']")
    way = "//li[a[normalize-space()='Without weather=snow'] and contains(., '4 objects')]/a"
    console.click(way)
    console.until(lambda: len(names(console)) == 4)
    word = unique("nothing")
    search(console, gateway, word)
    console.find(f"//p[contains(., '“{word}”: it is in no name of an object, a device or a site')]")
    console.find("//ul[@class='ways']//a[normalize-space()='All objects']")


def test_terms_are_suggested_while_typing(console, gateway, admin, uploader, drives):
    admin.devices("UpdateDevice", name=f"devices/{uploader.device_id}", display_name="Picker 041")
    search(console, gateway, f"raw_tags.run={drives}")
    console.until(lambda: len(names(console)) == 4)
    field = console.field("Filter")
    field.send_keys(" sun")
    console.find("//li[@role='option'][code='raw_tags.weather=sun' and span[@class='count']='1']")
    field.send_keys(Keys.ARROW_DOWN, Keys.ENTER)
    assert field.get_attribute("value") == f"raw_tags.run={drives} raw_tags.weather=sun "
    field.send_keys("icker")
    console.click(f"//li[@role='option'][code='device={uploader.device_id}' and span='Picker 041']")
    assert field.get_attribute("value").endswith(f"raw_tags.weather=sun device={uploader.device_id} ")
    field.send_keys(Keys.ENTER)
    console.until(lambda: names(console) == ["drive 3.csv"])
    # A name finds its objects without a suggestion, too.
    search(console, gateway, f'raw_tags.run={drives} "picker 041"')
    console.until(lambda: len(names(console)) == 4)


def test_long_name_keeps_its_end_and_devices_have_names(console, gateway, admin, uploader):
    run = unique("run")
    name = "2026-11-26T04-43-53Z_forklift-012-of-the-north-yard_second-attempt_run-03756_drive.mcap"
    completed(uploader, content(10), {"run": run, FILE_NAME_TAG: name})
    admin.devices("UpdateDevice", name=f"devices/{uploader.device_id}", display_name="Picker 041")
    search(console, gateway, f"raw_tags.run={run}")
    console.until(lambda: names(console) == [name])
    console.until(lambda: console.rows()[0]["Device"].split("\n") == ["Picker 041", uploader.device_id])
    head, tail, cell, sizes = console.driver.execute_script(
        """
        const of = (selector) => document.querySelector(`main tbody ${selector}`)
        const [head, tail, cell] = ['.name-head', '.name-tail', '.col-name'].map(of)
        return [head.scrollWidth > head.clientWidth, tail.textContent, tail.getBoundingClientRect().right
          <= cell.getBoundingClientRect().right, ['.device a', '.device small'].map(of).map((each) =>
          parseFloat(getComputedStyle(each).fontSize))]
        """
    )
    assert head and cell and tail == name[-22:]
    assert sizes[0] > sizes[1]
    console.find("//section[@aria-label='Device']//a[starts-with(normalize-space(), 'Picker 041')]")
    console.click("//main//tbody//a[normalize-space()='Picker 041']")
    console.heading("Picker 041")
    assert uploader.device_id in console.fact("Device id")


def test_tags_that_differ_are_shown_first(console, gateway, uploader):
    run = unique("run")
    for number, sky in enumerate(("rain", "sun", "fog")):
        tags = {"area": "one for all", "run": run, "weather": sky, "zone": "one for all"}
        completed(uploader, content(10), tags | {FILE_NAME_TAG: f"{run}_{number}.csv"})
    search(console, gateway, f"raw_tags.run={run}")
    console.until(lambda: len(names(console)) == 3)
    for row in console.rows():
        shown = row["Tags"].split("\n")
        assert shown[0] == f"run {run}" and shown[-1] == f"+{4 - (len(shown) - 1)}", shown
    # No tag is in this filter; all rows have the same area and zone.
    search(console, gateway, f"name:{run}*")
    console.until(
        lambda: [row["Tags"].split("\n")[0] for row in console.rows()] == ["weather fog", "weather sun", "weather rain"]
    )


def test_address_has_the_chosen_columns(console, gateway, drives):
    search(console, gateway, f"raw_tags.run={drives}")
    console.until(lambda: len(names(console)) == 4)
    console.press("Columns")
    for label in ("Device", "Site", "Started", "Completed", "Tag weather"):
        console.field(label).click()
    console.press("Show")
    titles = ["", "Name", "Tags", "Size", "weather"]
    shown = lambda: [set(row) for row in console.rows()[:1]] == [set(titles)]
    console.until(shown)
    assert "columns=tags%2Csize%2Ctag%3Aweather" in console.driver.current_url
    assert [row["weather"] for row in console.rows()] == ["sun", "rain", "rain", "rain"]
    console.driver.refresh()
    console.until(shown)
    console.click("//section[@aria-label='weather']//a[.//span[normalize-space()='sun']]")
    console.until(lambda: names(console) == ["drive 3.csv"] and shown())
    console.driver.back()
    console.driver.back()
    console.until(lambda: console.rows() and "Device" in console.rows()[0])


def test_saved_search_belongs_to_the_organization(console, gateway, admin, drives):
    name = unique("Rainy drives")
    saved = lambda: [each.name for each in admin.object_management("ListSavedSearches").saved_searches]
    search(console, gateway, f"raw_tags.run={drives} weather=rain")
    console.until(lambda: len(names(console)) == 3)
    console.press("Save this search")
    console.fill("Name", name)
    console.press("Save")
    console.notice(f"Search “{name}” was saved.")
    assert name in saved()
    # Nothing of it is in this browser.
    console.driver.execute_script("localStorage.removeItem('console-saved-searches')")
    search(console, gateway, "")
    console.click(f"//section[@aria-label='Saved searches']//a[normalize-space()='{name}']")
    console.until(lambda: len(names(console)) == 3)
    console.click(f"//button[@aria-label='Delete search {name}']")
    console.until(lambda: name not in saved())


def test_facets_show_the_number_of_their_values_and_find_them(console, gateway, uploader):
    batch = unique("batch")
    for number in range(25):
        completed(uploader, content(10), {"batch": batch, "lap": f"Lap-{number:02}"})
    search(console, gateway, f"raw_tags.batch={batch}")
    lap = "//section[@aria-label='lap']"
    console.click(f"{lap}//button[normalize-space()='Show 20 of 25']")
    console.find(f"{lap}//p[normalize-space()='20 of 25']")
    shown = lambda: [each.text for each in console.driver.find_elements(By.XPATH, f"{lap}//span[@class='value']")]
    assert len(shown()) == 20
    console.find(f"{lap}//input").send_keys("lap-24")
    console.until(lambda: shown() == ["Lap-24"])
    console.find(f"{lap}//p[normalize-space()='1 of 1']")
    console.click(f"{lap}//a")
    console.until(lambda: "1 object found" in console.text)


def test_rows_do_not_wait_for_facets(console, gateway, drives):
    console.open(f"http://{gateway.listeners['web']}/console/#/overview")
    console.heading("Overview")
    console.driver.execute_script(
        """
        const there = window.fetch
        window.fetch = (url, options) => url.endsWith('/GetObjectFacets') ? new Promise(() => {}) : there(url, options)
        """
    )
    console.driver.execute_script(f"location.hash = '#/objects?filter=raw_tags.run={drives}'")
    console.until(lambda: len(names(console)) == 4)
    assert "Counting…" in console.text
    console.driver.refresh()


def test_columns_sort_the_list(console, gateway, drives):
    search(console, gateway, f"raw_tags.run={drives}")
    console.until(lambda: names(console) == [f"drive {number}.csv" for number in (3, 2, 1, 0)])
    console.click("//th//a[contains(., 'Size')]")
    console.until(lambda: names(console) == [f"drive {number}.csv" for number in (3, 2, 1, 0)])
    console.click("//th//a[contains(., 'Size')]")
    console.until(lambda: names(console) == [f"drive {number}.csv" for number in range(4)])
    assert "sort=size" in console.driver.current_url


def test_new_objects_appear_by_themselves(console, gateway, uploader, drives):
    search(console, gateway, f"raw_tags.run={drives}")
    console.until(lambda: len(names(console)) == 4)
    completed(uploader, content(10), {"run": drives, FILE_NAME_TAG: "late.csv"})
    console.until(lambda: names(console)[0] == "late.csv")


@pytest.fixture
def many_objects(console, gateway) -> Browser:
    """A list of 100,000 objects on pages of 250, which replace the gateway's answers; their runs are a long facet."""
    console.open(f"http://{gateway.listeners['web']}/console/#/objects?filter=name=nothing-at-all")
    console.heading("Objects")
    console.driver.execute_script(
        """
        const there = window.fetch
        const runs = Array.from({ length: 20 }, (_, index) => ({ value: `r${index}`, objects: '2000' }))
        const facets = ['run', 'lap', 'field', 'weather', 'operator', 'model'].map(
          (key) => ({ name: `raw_tags.${key}`, values: runs, totalValues: '50' }))
        window.fetch = async (url, options) => {
          const answer = (value) => new Response(JSON.stringify(value), { status: 200 })
          if (url.endsWith('/GetObjectFacets')) return answer({ count: '100000', isExact: true, facets })
          if (url.endsWith('/GetObject')) return answer({ object: { fileId: 'x', name: 'one', status: 'VERIFIED' } })
          if (!url.endsWith('/ListObjects')) return there(url, options)
          const { pageToken, pageSize } = JSON.parse(options.body)
          const start = Number(pageToken || 0)
          const objects = Array.from({ length: pageSize }, (_, index) => ({
            fileId: `id${start + index}`, name: `file ${start + index}.mcap`, sizeBytes: String(start + index),
            createdAtUnix: '1795305600', verifiedAtUnix: '1795305600', tags: { run: `r${(start + index) % 50}` } }))
          return answer({ objects, nextPageToken: start + pageSize < 100000 ? String(start + pageSize) : '' })
        }
        location.hash = '#/objects'
        """
    )
    console.until(lambda: names(console)[:1] == ["file 0.mcap"])
    yield console
    console.driver.refresh()


def test_only_visible_rows_exist_and_back_returns_to_the_same_row(many_objects):
    console = many_objects
    console.driver.execute_script("scrollTo(0, document.documentElement.scrollHeight / 2)")
    in_the_middle = lambda name: name.startswith("file ") and int(name[5:].removesuffix(".mcap")) > 40_000
    console.until(lambda: names(console) and all(map(in_the_middle, names(console))), "the middle of the list is shown")
    console.drawn()
    shown = names(console)
    assert 20 < len(shown) < 120, "only the visible rows are in the page"
    position = console.driver.execute_script("return scrollY")
    console.driver.execute_script("document.querySelectorAll('.row-link')[20].click()")
    console.heading("one")
    console.driver.back()
    console.heading("Objects")
    console.until(lambda: console.driver.execute_script("return scrollY") == position)
    console.until(lambda: set(names(console)) == set(shown))


def test_facets_stay_beside_a_long_list(many_objects):
    console = many_objects
    facet = "//section[@aria-label='model']"
    console.find(f"{facet}//a")
    console.driver.execute_script("scrollTo(0, 100000)")
    console.until(lambda: "file 0.mcap" not in names(console))
    box = "const { top, bottom } = document.querySelector('.side').getBoundingClientRect(); return [top, bottom, innerHeight]"
    top, bottom, height = console.driver.execute_script(box)
    assert 0 <= top < bottom <= height
    # They scroll by themselves, and the list stays where it is.
    last = console.driver.find_element(By.XPATH, f"({facet}//a)[last()]")
    console.driver.execute_script("document.querySelector('.side').scrollTo(0, 100000)")
    assert console.driver.execute_script("return scrollY") == 100_000
    last.click()
    console.until(lambda: "model%3Dr5" in console.driver.current_url)


def test_pages_of_objects_lead_to_the_next_one_of_the_list(console, gateway, drives):
    search(console, gateway, f"raw_tags.run={drives}")
    console.until(lambda: len(names(console)) == 4)
    console.click("//main//td//a[normalize-space()='drive 2.csv']")
    console.heading("drive 2.csv")
    near = "//nav[@aria-label='Other objects of the list']/a[.='{}']"
    console.click(near.format("Next"))
    console.heading("drive 1.csv")
    console.click(near.format("Next"))
    console.heading("drive 0.csv")
    assert not console.driver.find_elements(By.XPATH, near.format("Next"))
    console.click(near.format("Previous"))
    console.heading("drive 1.csv")
    # Back, like the link above the name, returns to the list with its filter.
    address = console.find("//nav[@aria-label='Breadcrumb']/a").get_attribute("hash")
    console.driver.back()
    console.heading("Objects")
    # The list is of all organizations, and each object opens in its own.
    assert console.driver.current_url.endswith(address.removesuffix("&org=")) and drives in address


def test_column_has_the_topics_of_recordings(console, gateway, uploader, admin):
    run = unique("run")
    completed(uploader, recording(), {"run": run, FILE_NAME_TAG: "drive.mcap"})
    completed(uploader, content(10), {"run": run, FILE_NAME_TAG: "notes.bin"})
    search(console, gateway, f"raw_tags.run={run}")
    console.until(lambda: len(names(console)) == 2)
    # The gateway reads the recording in the background.
    console.until(lambda: [found.name for found in admin.list_all(filter=f"topic=/imu raw_tags.run={run}")])
    console.press("Columns")
    console.field("Topics").click()
    console.press("Show")
    topics = lambda: [row.get("Topics") for row in console.rows()]
    console.until(lambda: topics() == ["–", "/camera/front, /imu"])
    assert "topics" in console.driver.current_url
    console.driver.refresh()
    console.until(lambda: topics() == ["–", "/camera/front, /imu"])


def test_tags_of_another_direction_stay_apart(console, gateway, uploader, admin):
    run = unique("run")
    # The end of the override is missing.
    tags = {"note": "\u202eבוקר <b>left</b>", "run": run, FILE_NAME_TAG: "drive.bin"}
    completed(uploader, content(10), tags)
    search(console, gateway, f"raw_tags.run={run}")
    console.until(lambda: names(console) == ["drive.bin"])
    isolated = lambda part: [
        each.get_attribute("textContent") for each in console.driver.find_elements(By.CSS_SELECTOR, f"{part} bdi")
    ]
    assert isolated("main tbody .tag")[:2] == ["run", run]
    console.click("//main//td//a[normalize-space()='drive.bin']")
    console.heading("drive.bin")
    assert isolated(".tags li") == ["note", tags["note"], "run", run]


def test_scrolling_shows_other_objects_in_the_same_rows(console, gateway, uploader):
    run = unique("run")
    for number in range(120):
        completed(uploader, b"x", {"run": run, FILE_NAME_TAG: f"file {number:03}.txt"})
    search(console, gateway, f"raw_tags.run={run}")
    console.until(lambda: names(console)[:1] == ["file 119.txt"])
    marked = "return [...document.querySelectorAll('.virtual-table tbody tr')].map((row) => row.isMarked === true)"
    # The first rows below the top have more rows above them than the top has.
    for position in (2000, 2500):
        console.driver.execute_script(f"scrollTo(0, {position})")
        console.until(lambda: "file 060.txt" in names(console))
        console.drawn()
        console.driver.execute_script(
            "for (const row of document.querySelectorAll('.virtual-table tbody tr')) row.isMarked = true"
        )
    console.driver.execute_script("scrollTo(0, 0)")
    console.until(lambda: names(console)[:1] == ["file 119.txt"])
    assert all(console.driver.execute_script(marked))
    assert names(console) == sorted(names(console), reverse=True), "the order of elements is that of the rows"


# The selection.


def test_selection_is_downloaded_as_one_archive(console, gateway, drives):
    search(console, gateway, f"raw_tags.run={drives}")
    console.until(lambda: len(names(console)) == 4)
    for number in (1, 2):
        console.click(f"//input[@aria-label='Select drive {number}.csv']")
    console.find("//div[@aria-label='Selected objects']/p[contains(., '2 objects selected · 4.9 KiB')]")
    console.press("Download .zip")
    # Names with the time of day differ.
    with zipfile.ZipFile(io.BytesIO(console.downloaded("objects-*T*-*-*Z.zip"))) as archive:
        assert archive.testzip() is None
        assert sorted(archive.read(name) for name in archive.namelist()) == sorted([content(2000, 1), content(3000, 2)])


def test_selected_objects_are_tagged_and_deleted(console, gateway, admin, drives):
    search(console, gateway, f"raw_tags.run={drives} weather=rain")
    console.until(lambda: len(names(console)) == 3)
    console.click("//input[@aria-label='Select all objects of the list']")
    console.find("//div[@aria-label='Selected objects']/p[normalize-space()='3 objects selected']")
    console.press("Tag")
    console.fill("Tags to add or change", "checked=yes")
    console.press("Change tags")
    console.notice("The tags of 3 objects were changed.")
    assert len(admin.list_all(filter=f"raw_tags.run={drives} checked=yes")) == 3

    console.click("//div[@aria-label='Selected objects']//button[normalize-space()='Delete']")
    assert "3 objects, 5.9 KiB. They move to the trash" in console.dialog("Delete 3 objects?")
    console.fill("Type 3 to confirm", "4")
    console.fill("Reason", "a test")
    console.press("Delete")
    assert console.find("//dialog[@open]//*[@role='alert']").text == "Type 3 to confirm."
    assert len(admin.list_all(filter=f"raw_tags.run={drives}")) == 4
    console.fill("Type 3 to confirm", "3")
    console.press("Delete")
    console.until(lambda: len(admin.list_all(filter=f"raw_tags.run={drives}")) == 1)
    console.find("//dialog[@open]//dd[normalize-space()='succeeded']")
    console.press("Close")


def test_shared_link_has_the_chosen_end(console, gateway, admin, drives):
    (wanted,) = admin.list_all(filter=f"raw_tags.run={drives} weather=sun")
    console.open(f"http://{gateway.listeners['web']}/console/#/objects/{wanted.file_id}")
    console.heading("drive 3.csv")
    console.press("Share")
    console.choose("The link is valid for", "7 days")
    console.press("Create link")
    link = console.until(lambda: console.find("//dialog[@open]//textarea").get_attribute("value"))
    assert "604800" in link


# One object.


def test_object_is_found_shown_and_downloaded(console, admin, uploader):
    run = unique("run")
    data = content(100_000)
    completed(uploader, data, {"run": run, "weather": "rain", FILE_NAME_TAG: "drive.mcap"})
    completed(uploader, content(10), {"run": run, "weather": "sun"})
    (wanted,) = admin.list_all(filter=f"raw_tags.run={run} raw_tags.weather=rain")
    console.go("Objects")
    console.fill("Filter", f"raw_tags.run={run}" + Keys.ENTER)
    console.until(lambda: len(console.rows()) == 2)
    console.fill("Filter", f"raw_tags.run={run} raw_tags.weather=rain" + Keys.ENTER)
    console.until(lambda: [row["Name"] for row in console.rows()] == ["drive.mcap"])
    console.click("//main//td//a[normalize-space()='drive.mcap']")
    console.heading("drive.mcap")
    assert console.fact("Size") == "97.7 KiB (100,000 bytes)"
    console.click("//summary[.='Ids and checksums']")
    assert console.fact("ETag").startswith(wanted.etag)
    assert console.fact("Device") == uploader.device_id
    assert console.fact("Tags").split("\n") == [f"run {run}", "weather rain"]
    console.press("Download")
    assert console.downloaded("drive.mcap") == data


def test_download_saves_a_page_instead_of_showing_it(console, admin, gateway, uploader):
    """The object store shares the console's host, so a page from it must not run its scripts there."""
    upload = Upload.create(uploader)
    page = b"<title>not the console</title><script>document.cookie = 'x=1; Path=/'</script>"
    put = fetch_url(upload.store.presign_put(600), "PUT", page, headers={"Content-Type": "text/html"})
    assert put.status == 200, put.body
    upload.size, upload.etag = len(page), put.headers["ETag"]
    upload.complete()
    (wanted,) = (found for found in admin.list_all() if found.etag == upload.etag)
    console.open(f"http://{gateway.listeners['web']}/console/#/objects/{wanted.file_id}")
    console.heading(wanted.name)
    console.press("Download")
    # Chromium may append an extension for the content type.
    assert console.downloaded(f"{wanted.name}*") == page
    console.heading(wanted.name)
    assert console.driver.get_cookie("x") is None


def test_invalid_filter_is_explained(console):
    console.go("Objects")
    console.fill("Filter", "size>much" + Keys.ENTER)
    assert console.alert().startswith("filter: ")


def test_object_is_deleted_with_a_reason(console, admin, gateway, uploader):
    run = unique("run")
    completed(uploader, content(10), {"run": run})
    (wanted,) = admin.list_all(filter=f"raw_tags.run={run}")
    console.open(f"http://{gateway.listeners['web']}/console/#/objects/{wanted.file_id}")
    console.heading(wanted.name)
    console.press("Delete")
    assert "restored for 7 days" in console.dialog("Delete this object?")
    console.fill("Reason", "a person is in it")
    console.press("Delete")
    console.heading("Objects")
    assert admin.list_all(filter=f"raw_tags.run={run}") == []


def test_trashed_object_is_restored_and_purged(console, admin, gateway, uploader):
    run = unique("run")
    completed(uploader, content(10), {"run": run})
    (wanted,) = admin.list_all(filter=f"raw_tags.run={run}")
    admin.object_management("DeleteObject", file_id=wanted.file_id, reason="acceptance test")
    # The list of objects does not count it, and the overview says why it has one more.
    console.go("Overview")
    console.find("//*[@class='tile']/p[contains(., ' in the trash')]")
    console.go("Trash")
    console.click(f"//main//a[normalize-space()='{wanted.name}']")
    console.heading(wanted.name)
    console.press("Restore")
    console.notice("The object was restored.")
    assert len(admin.list_all(filter=f"raw_tags.run={run}")) == 1
    admin.object_management("DeleteObject", file_id=wanted.file_id)
    console.go("Trash")
    console.click(f"//main//a[normalize-space()='{wanted.name}']")
    console.press("Delete permanently")
    assert "cannot be restored" in console.dialog("Delete this object permanently?")
    console.press("Delete permanently")
    console.heading("Trash")
    assert admin.list_all(filter=f"trashed=true raw_tags.run={run}") == []


# Previews.


def object_of(uploader, admin, name: str, data: bytes, content_type: str = "application/octet-stream"):
    """Uploads a file as a client that declares the content type, and returns the object."""
    run = unique("run")
    upload = Upload.create(uploader).put(data)
    upload.complete({"run": run, FILE_NAME_TAG: name})
    (found,) = admin.list_all(filter=f"raw_tags.run={run}")
    return found


def preview(console, gateway, found) -> str:
    console.open(f"http://{gateway.listeners['web']}/console/#/objects/{found.file_id}")
    # Not by an XPath, in which some of these names would have to be quoted.
    console.until(lambda: console.driver.find_element(By.TAG_NAME, "h1").text == found.name)
    section = console.find("//section[@aria-label='Preview']")
    console.until(lambda: not section.find_elements(By.XPATH, ".//*[@aria-busy]"))
    return section.text


def test_recording_shows_its_topics(console, gateway, uploader, admin):
    found = object_of(uploader, admin, "drive.mcap", recording())
    text = preview(console, gateway, found)
    assert "/imu" in text and "/camera/front" in text and "sensor_msgs/Imu" in text
    assert console.fact("Messages") == "30"
    assert console.fact("Duration") == "1.9 s"
    # The keys and values of the metadata "robot".
    assert console.find("//h4[.='robot']").is_displayed() and console.fact("name") == "blue"
    # The gateway has read the summary as well, and finds the object by it.
    console.until(lambda: [o.file_id for o in admin.list_all(filter=f"topic=/imu device={uploader.device_id}")])
    (listed,) = admin.list_all(filter=f"topic:/cam* recorded_from>=2026-01-01 device={uploader.device_id}")
    assert listed.file_id == found.file_id and listed.recorded_from.seconds == 1_795_305_600


def test_summary_without_channels_is_explained(console, gateway, uploader, admin):
    text = preview(console, gateway, object_of(uploader, admin, "short.mcap", recording(repeat_channels=False)))
    assert "The summary of the recording does not list its topics." in text
    assert console.fact("Messages") == "30"


def test_range_of_a_recording_has_only_messages(console, gateway):
    """The console's own reader: chunks without messages, and a summary above the limit with its groups."""
    console.open(f"http://{gateway.listeners['web']}/console/")
    ranges, large = console.script(
        """
        const { readMCAP, recordedRange } = await import('/console/mcap.js')
        const bytes = (value, count) => Array.from({ length: count }, (_, at) => Number((BigInt(value) >> BigInt(8 * at)) & 255n))
        const text = (value) => [...bytes(value.length, 4), ...new TextEncoder().encode(value)]
        const record = (opcode, content) => [opcode, ...bytes(content.length, 8), ...content]
        const magic = [0x89, 0x4d, 0x43, 0x41, 0x50, 0x30, 13, 10]
        const most = 2n ** 64n - 1n
        const index = (start, end) => record(8, [...bytes(start, 8), ...bytes(end, 8), ...bytes(0, 16), ...bytes(0, 4),
          ...bytes(0, 8), ...text('zstd'), ...bytes(0, 16)])
        const statistics = (start, end) => record(11, [...bytes(2, 8), ...bytes(1, 2), ...bytes(1, 4), ...bytes(0, 12),
          ...bytes(start, 8), ...bytes(end, 8), ...bytes(0, 4)])
        const channel = record(4, [...bytes(1, 2), ...bytes(0, 2), ...text('/imu'), ...text('cdr'), ...bytes(0, 4)])
        const footer = (summary, offsets) => [...record(2, [...bytes(summary, 8), ...bytes(offsets, 8), ...bytes(0, 4)]),
          ...magic]
        // Zeros between the beginning and the end.
        const file = (head, size, tail) => ({ size, async read(start, end) {
          const part = new Uint8Array(end - start)
          const copy = (source, at) => source.forEach((byte, place) => {
            if (at + place >= start && at + place < end) part[at + place - start] = byte
          })
          copy(head, 0)
          copy(tail, size - tail.length)
          return part
        } })
        const rangeOf = async (...records) => {
          const head = [...magic, ...records.flat(), ...footer(8, 0)]
          const range = recordedRange(await readMCAP(file(head, head.length, [])))
          return range && [Number(range.start), Number(range.end)]
        }
        const ranges = [
          await rangeOf(index(most, 0), index(4000, 9000), index(0, 0)), await rangeOf(index(0, 0)),
          await rangeOf(statistics(9000, 1), index(4000, 9000)), await rangeOf(statistics(4000, 9000)),
        ]
        const groups = [...channel, ...statistics(4000, 9000)]
        const size = 64 << 20
        const place = (opcode, start, length) => record(14, [opcode, ...bytes(start, 8), ...bytes(length, 8)])
        const offsets = [...place(4, 8, channel.length), ...place(11, 8 + channel.length, groups.length - channel.length)]
        const tail = [...offsets, ...footer(8, size - offsets.length - footer(0, 0).length)]
        const large = await readMCAP(file([...magic, ...groups, 8, ...bytes(size, 8)], size, tail))
        return [ranges, [large.channels.map((each) => each.topic), Number(recordedRange(large).end)]]
        """
    )
    assert ranges == [[4000, 9000], None, [4000, 9000], [4000, 9000]]
    assert large == [["/imu"], 9000]


def test_image_and_text_and_table_are_shown(console, gateway, uploader, admin):
    found = object_of(uploader, admin, "field.png", png(40, 30))
    preview(console, gateway, found)
    size = lambda: console.driver.execute_script(
        "const image = document.querySelector('.preview img'); return [image?.naturalWidth, image?.naturalHeight]"
    )
    console.until(lambda: size() == [40, 30])
    found = object_of(uploader, admin, "drive.json", json.dumps({"weather": ["rain", "sun"], "run": 7}).encode())
    assert preview(console, gateway, found).split("\n")[1:] == [
        "{ 2 values", '"weather": [ 2 values', '"rain"', '"sun"', "]", '"run": 7', "}"
    ]  # fmt: skip
    console.click("//summary[contains(., 'weather')]")
    assert '"rain"' not in console.find("//section[@aria-label='Preview']").text
    found = object_of(uploader, admin, "drive.csv", b'time,note\n1,"a, b"\n2,"line\nbreak"\n')
    preview(console, gateway, found)
    cells = [cell.text for cell in console.driver.find_elements(By.CSS_SELECTOR, ".preview td")]
    assert cells == ["1", "a, b", "2", "line break"]
    # A line for each column of numbers.
    rows = "\n".join(f"{50 + number / 8},fix,{number * number}" for number in range(9))
    preview(console, gateway, object_of(uploader, admin, "track.csv", f"latitude,state,speed\n{rows}".encode()))
    lines = console.driver.find_elements(By.CSS_SELECTOR, ".csv-plots svg")
    assert [each.get_attribute("aria-label") for each in lines] == ["latitude: 50 to 51", "speed: 0 to 64"]
    points = lines[1].find_element(By.TAG_NAME, "polyline").get_attribute("points").split()
    assert (points[0], points[-1], len(points)) == ("0.0,78.0", "600.0,2.0", 9)
    found = object_of(uploader, admin, "odd.bin", bytes(range(256)))
    assert "00000010  10 11 12" in preview(console, gateway, found)


@pytest.mark.parametrize(
    ("name", "data", "seconds"),
    [("field.mp4", CLIP.read_bytes(), 4), ("motor.wav", wav(600), 600)],
    ids=["mp4", "wav"],
)
def test_video_and_audio_play_from_any_position(console, gateway, uploader, admin, name, data, seconds):
    found = object_of(uploader, admin, name, data)
    preview(console, gateway, found)
    media = "const media = document.querySelector('.preview video, .preview audio');"
    console.until(lambda: console.driver.execute_script(media + "return media?.readyState >= 1"))
    assert console.driver.execute_script(media + "return media.duration") == pytest.approx(seconds, abs=0.2)
    # The end is read without what is before it.
    console.driver.execute_script(media + "media.muted = true; media.currentTime = arguments[0]", seconds - 0.5)
    console.until(lambda: console.driver.execute_script(media + "return media.readyState >= 2 && !media.seeking"))
    assert console.driver.execute_script(media + "return media.currentTime") == pytest.approx(seconds - 0.5, abs=0.2)
    console.script(media + "await media.play()")
    console.until(lambda: console.driver.execute_script(media + "return media.ended && media.error === null"))
    if name.endswith(".mp4"):
        assert console.driver.execute_script(media + "return [media.videoWidth, media.videoHeight]") == [160, 120]


def test_enormous_image_is_not_loaded(console, gateway, uploader, admin, is_full):
    """An image of 65 MiB; with `--full` of 4 GiB."""
    upload = Upload.create(uploader)
    piece = upload.part_size
    count = (4 << 30 if is_full else 65 << 20) // piece + 1
    multipart_id = upload.store.initiate()
    data = png(1, 1).ljust(piece, b"\0")
    upload.parts = [upload.store.upload_part(multipart_id, number, data) for number in range(1, count + 1)]
    upload.size = count * piece
    upload.etag = upload.store.complete(multipart_id, upload.parts)
    run = unique("run")
    upload.complete({"run": run, FILE_NAME_TAG: "enormous.png"})
    (found,) = admin.list_all(filter=f"raw_tags.run={run}")
    assert preview(console, gateway, found).endswith("There is no preview: the image is larger than 64 MiB.")


SCRIPT = b"document.title='hacked';document.cookie='x=1;Path=/'"


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("page.html", b"<!doctype html><script>" + SCRIPT + b"</script>"),
        ("picture.svg", b"<svg xmlns='http://www.w3.org/2000/svg'><script>" + SCRIPT + b"</script></svg>"),
        ("really.png", b"<svg xmlns='http://www.w3.org/2000/svg' onload=\"" + SCRIPT + b'"/>'),
        ("huge.png", png(1, 1)[:16] + struct.pack(">II", 100_000, 100_000) + png(1, 1)[24:]),
        ("lying.mcap", b"\x89MCAP0\r\n" + b"\x04" + b"\xff" * 8 + recording()[-37:]),
        ("cut.mcap", recording()[:-20]),
        ('"><img src=x onerror=' + SCRIPT.decode() + ">.txt", b"harmless"),
        ("empty.mcap", b""),
        ("video.mp4", b"\0\0\0\x20ftypisom" + b"\xff" * 200),
    ],
)
def test_hostile_content_is_shown_as_bytes_and_runs_nothing(console, gateway, uploader, admin, name, data):
    found = object_of(uploader, admin, name, data)
    preview(console, gateway, found)
    assert console.driver.get_cookie("x") is None
    assert "hacked" not in console.driver.title
    # Also if its address is opened: the type is never one with scripts.
    types = console.script(
        """
        const { createContentAccess } = await import('/console/api.js')
        const response = await fetch(await createContentAccess(arguments[0]), { headers: { Range: 'bytes=0-3' } })
        return [response.headers.get('content-type'), response.headers.get('content-security-policy')]
        """,
        found.file_id,
    )
    assert types[0] in ("application/octet-stream", "image/png", "video/mp4")
    assert types[1].startswith("default-src 'none'")


def test_content_needs_the_session_that_asked_for_it(console, gateway, uploader, admin):
    found = object_of(uploader, admin, "a.txt", b"secret")
    path = console.script(
        "const { createContentAccess } = await import('/console/api.js'); return createContentAccess(arguments[0])",
        found.file_id,
    )
    read = "return (await fetch(arguments[0], { headers: { Range: 'bytes=2-3' } })).text()"
    assert console.script(read, path) == "cr"
    assert console.script("return (await fetch(arguments[0] + 'x')).status", path) == 404
    console.driver.delete_all_cookies()
    assert console.script("return (await fetch(arguments[0])).status", path) == 401
