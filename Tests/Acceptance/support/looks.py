"""Looks at the console in the sizes and color schemes of its users."""

import base64
from collections.abc import Iterator
from pathlib import Path

from . import geometry
from .browser import DESKTOP, PHONE, Browser

WIDE = (1440, 900)
LOOKS = [(size, scheme) for size in (WIDE, PHONE) for scheme in ("light", "dark")]
#: The greatest height of a picture; a longer page repeats itself.
MOST_HEIGHT = 3000


class Looks:
    """Checks that what the browser shows fits the screen and is accessible, and stores pictures of it.

    `folder`: for the pictures, None = no pictures. `is_full`: in all looks instead of the first, in which alone the page is then
    examined for accessibility.
    """

    def __init__(self, browser: Browser, folder: Path | None, is_full: bool):
        self.browser = browser
        self.folder = folder
        self.looks = LOOKS if folder or is_full else LOOKS[:1]

    def __call__(self, name: str) -> None:
        """Looks at the present page, or its open dialog; `name` is the picture's."""
        # What fits needs little time, and is examined on a phone, too.
        for size, scheme in self._in_turn([*self.looks, *([] if self.looks == LOOKS else [(PHONE, "light")])]):
            place = f"{name}, {size[0]} px, {scheme}"
            assert not (found := self._faults(size)), f"{place}: {found}"
            if (size, scheme) in self.looks:
                assert not (found := self._violations()), f"{place}: {found}"
                if self.folder:
                    self._store(name, size, scheme)

    def take(self, name: str, script: str = "") -> tuple[list[str], list[str]]:
        """Stores pictures of the present page, or its open dialog; returns its faults, and what axe finds in two of them. `script` runs before each."""
        faults, violations = [], []
        for size, scheme in self._in_turn(self.looks):
            self.browser.driver.execute_script(script)
            self.browser.drawn()
            self._store(name, size, scheme)
            place = f"{name}, {size[0]} px, {scheme}"
            faults += [f"{place}: {fault}" for fault in self._faults(size)]
            # A picture in each size and one in each color scheme.
            if (size, scheme) in ((WIDE, "light"), (PHONE, "dark")):
                violations += [f"{place}: {violation}" for violation in self._violations()]
        return faults, violations

    def _in_turn(self, looks: list[tuple[tuple[int, int], str]]) -> Iterator[tuple[tuple[int, int], str]]:
        """Shows the page in each look, then in the first one of the tests."""
        try:
            for size, scheme in looks:
                self.browser.resize(size)
                self.browser.prefer(scheme)
                self.browser.drawn()
                yield size, scheme
        finally:
            self.browser.resize(DESKTOP)
            self.browser.prefer("light")

    def _faults(self, size: tuple[int, int]) -> list[str]:
        """Returns what does not fit the screen or its place, and controls without a name."""
        width, unnamed, outside, cut = self.browser.driver.execute_script(
            """
            const dialog = document.querySelector('dialog[open]')
            const box = dialog?.getBoundingClientRect()
            const frames = 'td, dd, .card, .tile, .properties, dialog, main'
            const leaves = (each) => {
              const [inner, outer] = [each, each.parentElement.closest(frames)].map((one) => one?.getBoundingClientRect())
              return inner.width > 0 && outer?.width > 0 && !each.closest('.virtual')
                && (inner.left < outer.left - 1 || inner.right > outer.right + 1)
            }
            const parts = 'button, input, select, textarea, time, code, .badge, .id, .name, td, h1, h2'
            return [document.documentElement.scrollWidth,
              [...document.querySelectorAll('a[href], button, input, select, textarea, summary')].filter((each) =>
                !each.textContent.trim() && !each.labels?.length && !each.getAttribute('aria-label')
                && !each.closest('[aria-hidden=true]'))
                .map((each) => each.outerHTML),
              dialog && (box.left < 0 || box.top < 0 || box.right > innerWidth || box.bottom > innerHeight
                || dialog.scrollWidth > dialog.clientWidth),
              [...(dialog ?? document.querySelector('main')).querySelectorAll(parts)].filter(leaves).map(
                (each) => each.outerHTML.slice(0, 200))]
            """
        )
        return [
            *([f"{width} px wide"] if width > size[0] else []),
            *(f"a control without a name: {each}" for each in unnamed),
            *(["the dialog is wider than itself, or leaves the screen"] if outside else []),
            *(f"a part that leaves what contains it: {each}" for each in cut[:5]),
            *geometry.faults(self.browser),
        ]

    def _violations(self) -> list[str]:
        """Returns what axe finds in the page, or in its open dialog."""
        # What is behind a dialog cannot be used, and its contrast is lower.
        has_dialog = self.browser.driver.execute_script("return Boolean(document.querySelector('dialog[open]'))")
        return self.browser.violations("dialog[open]" if has_dialog else "")

    def _store(self, name: str, size: tuple[int, int], scheme: str) -> None:
        """Stores a picture of the whole page, or of the screen if a dialog is open."""
        path = self.folder / f"{name}-{size[0]}-{scheme}.png"
        height = self.browser.driver.execute_script(
            "return document.querySelector('dialog[open]') ? 0 : document.documentElement.scrollHeight"
        )
        whole = {
            "clip": {"x": 0, "y": 0, "width": size[0], "height": min(height, MOST_HEIGHT), "scale": 1},
            "captureBeyondViewport": True,
        }
        picture = self.browser.driver.execute_cdp_cmd("Page.captureScreenshot", whole if height else {})
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(picture["data"]))
