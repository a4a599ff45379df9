"""Makes the pictures of docs/console.md; only with `--pictures FOLDER`, see `scripts/console-pictures`."""

import io

import pytest
from PIL import Image
from support.browser import Browser
from support.showcase import fill

SIZE = (1280, 800)
#: The colors of a stored picture; few keep it small.
COLORS = 64


@pytest.fixture
def folder(request):
    folder = request.config.getoption("--pictures")
    if folder is None:
        pytest.skip("only with --pictures")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def test_pictures_show_the_current_console(folder, gateway, new_organization, tmp_path):
    boss = new_organization()
    site = boss.admin("CreateSite", name="North plant").site.site_id
    fill(boss, site, boss.devices("CreateDeviceSuite", site_id=site, display_name="Tractors").name)
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
