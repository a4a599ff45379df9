"""Reads the console's charts in headless Chromium: axes, comparisons of weeks, days as links, devices that stopped."""

import json

import pytest
from selenium.webdriver.common.by import By
from support.parties import PASSWORD, Fleet
from support.uploads import FILE_NAME_TAG, completed, content

#: Numbers at which the digits or the unit of an axis change.
MAXIMA = [
    1,
    2,
    3,
    5,
    7,
    9,
    10,
    11,
    12,
    13,
    25,
    99,
    100,
    101,
    250,
    999,
    1000,
    1001,
    1010,
    1023,
    1024,
    1025,
    1500,
    48_213,
]
UNITS = {"": 1} | {unit: 1024**power for power, unit in enumerate(("B", "KiB", "MiB", "GiB", "TiB", "PiB"))}


def number(label: str) -> float:
    """Returns the number that a label of an axis names."""
    digits, _, unit = label.partition(" ")
    return float(digits.replace(",", "")) * UNITS[unit]


@pytest.fixture
def charts(page, gateway):
    """Draws charts of numbers, and returns the labels of each one's axis and the share of its plot that the largest bar has."""

    def draw(maxima: list[int], is_bytes: bool) -> list[tuple[list[str], float]]:
        return page.script(
            """
            const { dayChart } = await import('/console/chart.js')
            const { formatBytes } = await import('/console/format.js')
            const [maxima, isBytes] = arguments
            const format = isBytes ? formatBytes : (value) => value.toLocaleString('en')
            return maxima.map((value) => {
              const chart = dayChart('A chart', [{ day: '2026-11-29', value: 0 }, { day: '2026-11-30', value }], { format, isBytes })
              const bars = [...chart.querySelectorAll('rect:not(.hit)')].map((bar) => Number(bar.getAttribute('height')))
              return [[...chart.querySelectorAll('.axis span')].map((each) => each.textContent), Math.max(0, ...bars) / 159]
            })
            """,
            maxima,
            is_bytes,
        )

    return draw


@pytest.mark.parametrize("is_bytes", [False, True], ids=["counts", "bytes"])
def test_labels_of_an_axis_are_true(charts, is_bytes):
    maxima = MAXIMA + [number * 1024**power for number in MAXIMA for power in (1, 2, 3)] if is_bytes else MAXIMA
    for maximum, (labels, share) in zip(maxima, charts(maxima, is_bytes), strict=True):
        top, half, bottom = map(number, labels)
        assert bottom == 0 and len(set(labels)) == 3, (maximum, labels)
        assert half == pytest.approx(top / 2, rel=0.01), (maximum, labels)
        # The bar ends where its value is on the axis. A small bar stays visible.
        assert share == pytest.approx(maximum / top, rel=0.01, abs=2 / 159), (maximum, labels)
        # Not more than a quarter of the plot is empty.
        assert maximum <= 10 or share >= 0.74, (maximum, labels)


def test_chart_of_zeros_has_no_axis(charts):
    ((labels, _),) = charts([0], True)
    assert labels == []


def test_sentences_compare_two_weeks(page):
    def sentence(call: str) -> str:
        """Returns the result of a function of the values of days."""
        return page.script(
            f"""
            const {{ flowText, levelText }} = await import('/console/trend.js')
            const format = (value) => `${{value}} B`
            const [quiet, week, busy] = [0, 2, 4].map((value) => Array(7).fill(value))
            return {call}
            """
        )

    before = "in the 7 days before"
    assert (
        sentence("flowText([...week, ...busy], 14, format)")
        == f"42 B, 3 B a day. Last 7 days: 28 B, 100 % more than {before}."
    )
    assert (
        sentence("flowText([...busy, ...week], 7, format)")
        == f"14 B, 2 B a day. Last 7 days: 14 B, 50 % less than {before}."
    )
    assert sentence("flowText([...week, ...week], 7, format)") == f"14 B, 2 B a day. Last 7 days: 14 B, as {before}."
    assert (
        sentence("flowText([...quiet, ...week], 7, format)") == f"14 B, 2 B a day. Last 7 days: 14 B, nothing {before}."
    )
    assert sentence("flowText(week, 7, format)") == "14 B, 2 B a day."
    assert sentence("levelText([10, 12, 13, 14, 15, 16, 17, 18], format)") == "18 B, 8 B more than 7 days ago."
    assert sentence("levelText([20, ...busy], format)") == "4 B, 16 B less than 7 days ago."
    assert sentence("levelText([4, ...busy], format)") == "4 B, as much as 7 days ago."


def test_bar_opens_the_objects_of_its_day(page, new_organization):
    boss = new_organization()
    uploader = Fleet.create(boss).uploader()
    for number in range(3):
        completed(uploader, content(1000), {FILE_NAME_TAG: f"drive {number}.csv"})
    page.sign_in(boss.organization, "boss", PASSWORD)
    page.heading("Overview")
    chart = "//figure[starts-with(normalize-space(figcaption), 'Objects uploaded')]"
    assert page.find(f"{chart}/p").text.startswith("3 objects, 0.1 objects a day.")
    bar = page.find(f"({chart}//*[name()='rect'][@class='hit'])[last()]")
    address = page.driver.execute_script("return arguments[0].parentElement.getAttribute('href')", bar)
    # The same link is in the table, for the keyboard.
    link = page.driver.find_element(By.XPATH, f"({chart}//td/a)[last()]")
    assert link.get_attribute("hash") == address
    assert link.get_attribute("textContent") in address
    bar.click()
    page.heading("Objects")
    page.until(lambda: [row["Name"] for row in page.rows()] == [f"drive {number}.csv" for number in (2, 1, 0)])


def test_overview_lists_the_devices_that_stopped(page, new_organization):
    boss = new_organization()
    uploader = Fleet.create(boss).uploader(display_name="Picker 041")
    completed(uploader, content(10))
    page.sign_in(boss.organization, "boss", PASSWORD)
    page.heading("Overview")
    assert "Devices that stopped" not in page.text and "Nothing needs attention." in page.text
    page.go("Objects")
    device = {"deviceId": uploader.device_id, "displayName": "Picker 041", "status": "DEVICE_STATUS_INITIALIZED"}
    # A device that was seen last five days ago; the requests to the gateway are kept.
    page.driver.execute_script(
        """
        const there = window.fetch
        window.requests = []
        window.fetch = (url, options) => {
          if (!url.endsWith('/ListDevices')) return there(url, options)
          requests.push(JSON.parse(options.body))
          const lastSeenAt = new Date(Date.now() - 5 * 86_400_000 - 3_600_000).toISOString()
          return Promise.resolve(new Response(JSON.stringify({ devices: [{ ...arguments[0], lastSeenAt }] })))
        }
        """.replace("arguments[0]", json.dumps(device))
    )
    page.go("Overview")
    row = "//figure[contains(figcaption, 'Devices that stopped')]//tr[td[contains(., 'Picker 041')]]"
    assert page.find(f"{row}/td[last()]").text == "5 d 1 h"
    note = page.find("//ul[@aria-label='Needs attention']/li[normalize-space()='1 device silent. Show']/a")
    assert note.get_attribute("hash") == "#/devices?silent=reported&order=last_seen_at+desc"
    (request,) = page.driver.execute_script("return requests")
    assert request["orderBy"] == "last_seen_at desc" and request["reportedSilent"]
    assert page.find("//figcaption/a[normalize-space()='Show 1 device']").get_attribute("hash").startswith("#/devices?")
    page.driver.refresh()
