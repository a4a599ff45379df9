"""The faults of where a page of the console shows its parts."""

from pathlib import Path

SCRIPT = Path(__file__).with_suffix(".js").read_text()


def faults(browser, change: str = "") -> list[str]:
    """Returns what is wider than the screen, cut or overlapped, and what is wrong with axes; at most ten sentences.

    :param change: a script that runs directly before, so that the page does not draw itself again in between.
    """
    return browser.driver.execute_script(f"{change}\n{SCRIPT}")
