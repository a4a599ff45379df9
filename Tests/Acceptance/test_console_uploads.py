"""Uploads files from the browser: by choice, by drop, whole folders, and on after a reload."""

import hashlib
import re

import pytest
from selenium.webdriver.common.by import By
from support.browser import DESKTOP, PHONE, Browser
from support.parties import PASSWORD, Fleet, call, unique
from support.raw import fetch_url
from support.recordings import recording
from support.uploads import FILE_NAME_TAG, content

#: The part size of the shared gateway.
PART_SIZE = MIB = 1 << 20
#: The slow network of an upload that is interrupted, in bytes a second.
SLOW = 800_000
#: The network of an upload of 200 MB that is interrupted, in bytes a second.
MODERATE = 30_000_000
#: Limit for the transfer of 200 MB by a debug build on a busy machine, in seconds.
LONG = 300
#: The password of the admin that `new_organization` makes.


@pytest.fixture(scope="module")
def boss(new_organization):
    """The admin of an organization with one site, so that the dialog has one choice."""
    boss = new_organization()
    boss.site_id = Fleet.create(boss).site_id
    return boss


@pytest.fixture
def console(browser, gateway, boss) -> Browser:
    """The page Uploads for the organization's admin; the test fails if the browser logged an error."""
    browser.resize(DESKTOP)
    browser.enter(gateway)
    browser.sign_in(boss.organization, "boss", PASSWORD)
    browser.heading("Overview")
    browser.go("Uploads")
    browser.driver.get_log("browser")
    yield browser
    browser.throttle(-1)
    browser.prefer("light")
    browser.assert_no_errors()


def choose(console, *paths, label: str = "Choose files") -> None:
    """Chooses files or a folder, as in the browser's own dialog."""
    control = console.driver.find_element(By.XPATH, f"//input[@aria-label='{label}']")
    control.send_keys("\n".join(str(path) for path in paths))


def upload(console, tags: str = "") -> None:
    """Confirms the open dialog."""
    console.fill("Tags", tags)
    console.press("Upload")


def states(console) -> dict[str, str]:
    """Returns the state of each file of this browser."""
    rows = console.driver.execute_script(
        """
        return [...document.querySelectorAll('.uploader tbody tr')].map((row) => Object.fromEntries(
          [...row.cells].map((cell) => [cell.dataset.label, cell.innerText.trim()])))
        """
    )
    return {row["File"]: row.get("State", "") for row in rows}


def objects(boss, run: str) -> dict[str, object]:
    """Returns the objects with a tag `run`, by name."""
    return {found.name: found for found in boss.list_all(filter=f"raw_tags.run={run}")}


def stored(boss, found) -> bytes:
    return fetch_url(boss.objects("RequestDownload", file_ids=[found.file_id]).files[0].read.uri).body


def under_way(boss) -> list:
    request = boss.stubs.gateway.ListUploadsRequest()
    management = boss.stubs.gateway.UploadManagementServiceStub(boss.gateway.channel("admin"))
    return call(management.ListUploads, request, boss.token).uploads


def test_chosen_files_become_objects_of_the_site(console, boss, tmp_path):
    run = unique("run")
    files = {"small.csv": b"a,b\n1,2\n", "empty.bin": b"", "drive one.mcap": content(5 * MIB + 17)}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    choose(console, *(tmp_path / name for name in files))
    assert "5 MiB" in console.dialog("Upload 3 files")
    upload(console, f"run={run}\nweather=rain")
    console.until(lambda: states(console) == dict.fromkeys(files, "uploaded"))
    found = objects(boss, run)
    assert set(found) == set(files)
    for name, data in files.items():
        assert stored(boss, found[name]) == data
        assert (found[name].site_id, found[name].device_id) == (boss.site_id, "")
        assert dict(found[name].tags) == {"run": run, "weather": "rain", FILE_NAME_TAG: name}
    assert found["small.csv"].content_type == "text/csv"
    console.click("//section[@aria-label='Uploads of this browser']//a[normalize-space()='small.csv']")
    console.heading("small.csv")


def test_folder_is_uploaded_with_the_path_of_each_file(console, boss, tmp_path):
    run = unique("run")
    (tmp_path / "drives/monday").mkdir(parents=True)
    (tmp_path / "drives/a.txt").write_text("a")
    (tmp_path / "drives/monday/b.txt").write_text("b")
    choose(console, tmp_path / "drives", label="Choose a folder")
    console.dialog("Upload 2 files")
    upload(console, f"run={run}")
    console.until(lambda: states(console) == {"a.txt": "uploaded", "b.txt": "uploaded"})
    folders = {name: found.tags["folder"] for name, found in objects(boss, run).items()}
    assert folders == {"a.txt": "drives", "b.txt": "drives/monday"}
    paths = {name: found.relative_path for name, found in objects(boss, run).items()}
    assert paths == {"a.txt": "drives/a.txt", "b.txt": "drives/monday/b.txt"}


def test_dropped_file_is_uploaded_from_the_page_of_objects(console, boss):
    run = unique("run")
    console.go("Objects")
    console.driver.execute_script(
        """
        const data = new DataTransfer()
        data.items.add(new File(['dropped'], 'dropped.txt'))
        for (const type of ['dragover', 'drop']) {
          document.querySelector('.objects').dispatchEvent(
            new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }))
        }
        """
    )
    console.dialog("Upload 1 file")
    upload(console, f"run={run}")
    console.heading("Uploads")
    console.until(lambda: states(console) == {"dropped.txt": "uploaded"})
    assert stored(boss, objects(boss, run)["dropped.txt"]) == b"dropped"


def test_upload_continues_after_a_reload_where_it_stopped(console, boss, tmp_path):
    run = unique("run")
    data = content(40 * MIB)
    (tmp_path / "long.bin").write_bytes(data)
    console.throttle(SLOW)
    choose(console, tmp_path / "long.bin")
    upload(console, f"run={run}")
    parts = "return performance.getEntriesByType('resource').filter(({ name }) => name.includes('/parts/')).length"
    before = console.until(lambda: console.driver.execute_script(parts))
    console.driver.refresh()
    console.find("//h2[normalize-space()='Interrupted uploads']")
    assert states(console) == {"long.bin": ""}
    console.throttle(-1)
    choose(console, tmp_path / "long.bin")
    console.dialog("Upload 1 file")
    console.press("Upload")
    console.until(lambda: states(console) == {"long.bin": "uploaded"})
    console.find("//section[@aria-label='Uploads of this browser']//a[normalize-space()='long.bin']")
    found = objects(boss, run)["long.bin"]
    assert stored(boss, found) == data
    after = console.driver.execute_script(parts)
    assert 1 <= after <= len(data) // PART_SIZE - before, "stored parts are not sent again"
    assert not console.driver.find_elements(By.XPATH, "//h2[normalize-space()='Interrupted uploads']")


@pytest.mark.parametrize(("size", "scheme"), [((1440, 900), "light"), (PHONE, "dark")], ids=["desktop", "phone"])
def test_recording_of_200_mb_survives_a_reload(console, boss, is_full, tmp_path, size, scheme):
    """Drops a recording, reloads the page in the middle, chooses it again, looks into it, and downloads it."""
    if not is_full:
        pytest.skip("with --full")
    run, name = unique("run"), unique("drive") + ".mcap"
    data = recording(messages=200, payload=content(1_000_000))
    assert len(data) > 200_000_000
    (tmp_path / name).write_bytes(data)
    console.resize(size)
    console.prefer(scheme)
    parts = "return performance.getEntriesByType('resource').filter(({ name }) => name.includes('/parts/')).length"
    console.driver.execute_script("performance.setResourceTimingBufferSize(10000)")
    console.throttle(MODERATE)
    console.drop(console.find("//div[@class='drop']"), tmp_path / name)
    upload(console, f"run={run}")
    percent = lambda: int(states(console).get(name, "0%").rstrip("%") or 0)
    console.until(lambda: percent() >= 40, timeout=LONG)
    before = console.driver.execute_script(parts)
    console.driver.refresh()
    console.find("//h2[normalize-space()='Interrupted uploads']")
    console.driver.execute_script("performance.setResourceTimingBufferSize(10000)")
    console.throttle(-1)
    choose(console, tmp_path / name)
    console.dialog("Upload 1 file")
    console.press("Upload")
    console.until(lambda: states(console) == {name: "uploaded"}, timeout=LONG)
    after = console.driver.execute_script(parts)
    count = -(-len(data) // PART_SIZE)
    assert before > count // 3 and count - before - 1 <= after <= count - before, "stored parts are not sent again"
    found = objects(boss, run)[name]
    assert found.size_bytes == len(data)
    digest = hashlib.sha256(data).hexdigest()
    assert hashlib.sha256(stored(boss, found)).hexdigest() == digest

    # The preview reads the summary only.
    console.click(f"//section[@aria-label='Uploads of this browser']//a[normalize-space()='{name}']")
    console.heading(name)
    console.find("//section[@aria-label='Preview']//code[normalize-space()='/camera/front']")
    assert console.fact("Messages") == "200"
    console.press("Download")
    assert hashlib.sha256(console.downloaded(name, timeout=LONG)).hexdigest() == digest


def test_canceled_upload_is_removed_from_the_gateway(console, boss, tmp_path):
    (tmp_path / "unwanted.bin").write_bytes(content(40 * MIB))
    console.throttle(SLOW)
    choose(console, tmp_path / "unwanted.bin")
    upload(console)
    console.until(lambda: under_way(boss))
    console.click("//section[@aria-label='Uploads of this browser']//button[normalize-space()='Cancel']")
    console.until(lambda: not states(console))
    console.until(lambda: not under_way(boss))


def test_lost_connection_delays_an_upload(console, boss, tmp_path):
    run = unique("run")
    (tmp_path / "patient.bin").write_bytes(content(40 * MIB))
    console.throttle(SLOW)
    choose(console, tmp_path / "patient.bin")
    upload(console, f"run={run}")
    console.until(lambda: states(console).get("patient.bin", "").endswith("%"))
    offline = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    console.driver.execute_cdp_cmd("Network.emulateNetworkConditions", offline)
    console.find("//p[@class='away']")
    console.throttle(-1)
    console.until(lambda: states(console) == {"patient.bin": "uploaded"})
    assert stored(boss, objects(boss, run)["patient.bin"]) == content(40 * MIB)


def test_viewer_cannot_upload(console, gateway, boss):
    viewer = unique("viewer")
    boss.users("CreateUser", user_name=viewer, password=PASSWORD, role="viewer")
    console.sign_out()
    console.open(f"http://{gateway.listeners['web']}/console/")
    console.sign_in(boss.organization, viewer, PASSWORD)
    console.heading("Overview")
    console.go("Uploads")
    assert not console.driver.find_elements(By.CSS_SELECTOR, ".drop")
    refusal = console.script(
        """
        const { sendBytes } = await import('/console/api.js')
        return sendBytes('PUT', 'uploads/00000000-0000-0000-0000-000000000000', new Blob(['x'])).catch(({ status }) => status)
        """
    )
    assert refusal == 403


def test_pages_of_uploads_fit_the_screen_and_are_accessible(console, look, tmp_path):
    (tmp_path / "shown.bin").write_bytes(content(40 * MIB))
    console.throttle(SLOW)
    choose(console, tmp_path / "shown.bin")
    console.dialog("Upload 1 file")
    look("dialog-upload-site")
    upload(console)
    console.until(lambda: states(console).get("shown.bin", "").endswith("%"))
    console.throttle(SLOW // 100)
    look("uploads-sending")
    console.go("Devices")
    console.find("//aside[@aria-label='Upload progress']")
    look("devices-sending")
    console.go("Uploads")
    console.driver.refresh()
    console.find("//h2[normalize-space()='Interrupted uploads']")
    look("uploads-interrupted")
    console.press("Discard")
    console.until(lambda: not states(console))


#: Refuses the beginning of uploads like a gateway without space, until `admit()`.
NO_SPACE = """
const there = fetch
window.admit = () => { window.fetch = there }
window.fetch = (url, options) => url.endsWith('/CreateSiteUpload')
  ? Promise.resolve(new Response(JSON.stringify({ code: 'unavailable',
      message: 'the object store has no space for new uploads: try again later' }), { status: 503 }))
  : there(url, options)
"""


def test_upload_that_waits_says_what_for_and_when_it_tries_again(console, boss, look, tmp_path):
    run = unique("run")
    (tmp_path / "waiting.bin").write_bytes(b"waiting")
    console.driver.execute_script(NO_SPACE)
    choose(console, tmp_path / "waiting.bin")
    upload(console, f"run={run}")
    state = lambda: states(console).get("waiting.bin", "")
    console.until(lambda: re.fullmatch(r"waiting the gateway’s disk is full; next try in \d+ s", state()))
    # The time that is left is counted down, and a later pause is longer.
    console.until(lambda: "in 1 s" in state())
    console.until(lambda: re.search(r"in ([4-9]|\d\d) s", state()))
    summary = console.find("//div[@class='upload-summary']/p").text
    assert summary == "0 of 1 file, 0 B of 7 B, waiting"
    look("uploads-waiting")
    console.go("Devices")
    assert console.find("//aside[@aria-label='Upload progress']").text == "Uploads wait: the gateway’s disk is full"
    console.go("Uploads")
    console.driver.execute_script("admit()")
    console.press("Try now")
    console.until(lambda: states(console) == {"waiting.bin": "uploaded"})
    assert stored(boss, objects(boss, run)["waiting.bin"]) == b"waiting"


def test_upload_waits_for_a_gateway_that_cannot_be_reached(console, boss, tmp_path):
    run = unique("run")
    (tmp_path / "lost.bin").write_bytes(content(40 * MIB))
    console.throttle(SLOW)
    choose(console, tmp_path / "lost.bin")
    upload(console, f"run={run}")
    console.until(lambda: states(console).get("lost.bin", "").endswith("%"))
    offline = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    console.driver.execute_cdp_cmd("Network.emulateNetworkConditions", offline)
    console.until(lambda: "the gateway cannot be reached; next try" in states(console).get("lost.bin", ""))
    assert "/s" not in console.find("//div[@class='upload-summary']/p").text
    console.throttle(-1)
    console.until(lambda: states(console) == {"lost.bin": "uploaded"})
