"""The faults of where a page of the console shows its parts."""

from pathlib import Path

SCRIPT = Path(__file__).with_suffix(".js").read_text()


def faults(browser) -> list[str]:
    """Returns what is wider than the screen, cut or overlapped, and what is wrong with axes; at most ten sentences."""
    return browser.driver.execute_script(SCRIPT)
