"""Makes the pictures of docs/console.md; only with `--pictures FOLDER`, see `scripts/console-pictures`."""

import io
import random

import pytest
from PIL import Image
from support.browser import Browser
from support.parties import Fleet
from support.recordings import recording
from support.uploads import FILE_NAME_TAG, completed, content

SIZE = (1280, 800)
#: The colors of a stored picture; few keep it small.
COLORS = 64
TOPICS = ("/camera/front", "/camera/rear", "/gps/fix", "/imu", "/lidar/points", "/tf")


@pytest.fixture
def folder(request):
    folder = request.config.getoption("--pictures")
    if folder is None:
        pytest.skip("only with --pictures")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def fill(boss) -> None:
    """Uploads files as a small fleet would."""
    site = boss.admin("CreateSite", name="North plant").site.site_id
    suite = boss.devices("CreateDeviceSuite", site_id=site, display_name="Tractors").name
    devices = [Fleet(boss, site, suite).uploader(display_name=name) for name in ("Tractor 1", "Tractor 2", "Mast")]
    chance = random.Random(7)
    for number in range(36):
        run = f"run{number // 6:02d}"
        kind = ("mcap", "mcap", "csv", "json", "png", "bag")[number % 6]
        data = recording(TOPICS, 600) if kind == "mcap" else content(chance.randrange(2_000, 90_000), number)
        name = (
            f"2026-11-{10 + number // 6}_{run}_{('drive', 'drive', 'gps', 'state', 'front', 'log')[number % 6]}.{kind}"
        )
        tags = {
            "run": run,
            "weather": chance.choice(["rain", "sun", "fog"]),
            "field": chance.choice(["north", "south"]),
        }
        completed(devices[number % 3], data, tags | {FILE_NAME_TAG: name})


def test_pictures_show_the_current_console(folder, gateway, new_organization, tmp_path):
    boss = new_organization()
    fill(boss)
    browser = Browser(tmp_path)
    try:
        browser.resize(SIZE)
        base = f"http://{gateway.listeners['web']}/console/"
        browser.open(base)
        browser.sign_in(boss.organization, "boss", "a password of some length")
        browser.heading("Overview")
        wanted = next(found for found in boss.list_all() if found.name.endswith(".mcap"))
        pages = {"objects": "objects", "recording": f"objects/{wanted.file_id}", "overview": "overview"}
        for name, path in pages.items():
            browser.open(f"{base}#/{path}")
            browser.find("//h1")
            browser.until(lambda: "Loading…" not in browser.text and "Counting…" not in browser.text)
            if name == "objects":
                browser.find("//section[@aria-label='weather']")
            picture = Image.open(io.BytesIO(browser.driver.get_screenshot_as_png())).convert("RGB")
            picture.quantize(COLORS).save(folder / f"{name}.png", optimize=True)
    finally:
        browser.close()
