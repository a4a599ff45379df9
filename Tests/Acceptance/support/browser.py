"""Drives the console in Debian's Chromium without a window, as a user would."""

import shutil
from pathlib import Path

import axe_core_python
from selenium import webdriver
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException, TimeoutException
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select, WebDriverWait

from .waiting import WAIT_SECONDS

AXE = Path(axe_core_python.__file__).with_name("axe.min.js")
#: Keeps the texts of notices, each of which the page removes after some seconds.
NOTE_NOTICES = """
window.notices = []
addEventListener('DOMContentLoaded', () => {
  const area = document.getElementById('notice')
  const note = ({ addedNodes }) => notices.push(
    ...[...addedNodes].filter((each) => each.checkVisibility()).map((each) => each.textContent))
  if (area) new MutationObserver((changes) => changes.forEach(note)).observe(area, { childList: true })
})
"""
#: The pages that the navigation shows only while their section is open.
SECTIONS = {
    "Devices": ("Suites", "Sites and keys"),
    "Objects": ("Uploads", "Copy jobs", "Storage", "Trash", "Retention", "Corrupted objects"),
    "Administration": (
        "Users",
        "Webhooks",
        "Audit log",
        "Organizations",
        "Gateways",
        "Settings",
        "Signing keys",
        "Backup",
    ),
}
DESKTOP = (1280, 900)
PHONE = (390, 844)


class Browser:
    """A browser with a profile of its own, which stores downloads in the folder `downloads`."""

    def __init__(self, downloads: Path):
        self.downloads = downloads
        #: How long `until` waits, in seconds.
        self.time_limit = WAIT_SECONDS
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        # Chromium needs these to run as root and with a container's small /dev/shm.
        for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
            options.add_argument(argument)
        options.add_experimental_option(
            "prefs", {"download.default_directory": str(downloads), "download.prompt_for_download": False}
        )
        options.accept_insecure_certs = True
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
        self.driver.set_script_timeout(WAIT_SECONDS)
        self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": NOTE_NOTICES})
        self.resize(DESKTOP)

    def close(self) -> None:
        self.driver.quit()

    # Actions.

    def open(self, url: str) -> None:
        self.driver.get(url)

    def resize(self, size: tuple[int, int]) -> None:
        """Sets the page's size, which unlike a window's has no frame and no minimum."""
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size == PHONE},
        )

    def prefer(self, scheme: str) -> None:
        """Sets the preferred color scheme, `light` or `dark`."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def throttle(self, bytes_per_second: int) -> None:
        """Limits the rate of what the browser sends; -1 = no limit."""
        self.driver.execute_cdp_cmd("Network.enable", {})
        self.driver.execute_cdp_cmd(
            "Network.emulateNetworkConditions",
            {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": bytes_per_second},
        )

    def enter(self, gateway) -> None:
        """Opens the console's sign-in page, without what an earlier session left."""
        address = f"http://{gateway.listeners['web']}/console/"
        self.open(address)
        self.sign_out()
        self.open(address)

    def assert_no_errors(self) -> None:
        """Checks that the browser logged no error but failures of requests, which tests cause."""
        errors = [text for text in self.logged_errors if "Failed to load resource" not in text]
        assert not errors, errors

    def sign_in(self, organization: str, user_name: str, password: str) -> None:
        """Fills in and submits the sign-in page."""
        self.fill("Organization", organization)
        self.fill("User name", user_name)
        self.fill("Password", password)
        self.press("Sign in")

    def sign_out(self) -> None:
        """Removes all cookies and stored values."""
        self.driver.execute_script("localStorage.clear(); sessionStorage.clear()")
        self.driver.delete_all_cookies()

    def go(self, page: str) -> None:
        """Opens the page of that name through the navigation."""
        self.find("//nav[@aria-label='Sections']/a")
        link = f"//header//a[normalize-space()='{page}' or starts-with(normalize-space(), '{page}: ')]"
        if not self.driver.find_elements(By.XPATH, link):
            section = next(section for section, pages in SECTIONS.items() if page in pages)
            self.click(f"//nav[@aria-label='Sections']/a[.='{section}']")
        self.click(link)
        self.heading(page)

    def show(self, gateway, address: str, heading: str) -> None:
        """Opens the page of an address such as `objects`, and waits until everything of it is loaded."""
        # The page before may have the same heading.
        self.driver.execute_script("document.querySelector('.page').classList.add('former')")
        self.open(f"http://{gateway.listeners['web']}/console/#/{address}")
        self.until(lambda: not self.driver.find_elements(By.CLASS_NAME, "former"))
        # Not by an XPath, since some names would have to be quoted.
        self.until(lambda: self.driver.find_element(By.TAG_NAME, "h1").text == heading, heading)
        self.until(lambda: not any(text in self.text for text in ("Loading…", "Counting…")))
        self.until(lambda: not self.driver.find_elements(By.XPATH, "//*[@aria-busy='true']"))

    def choose_organization(self, name: str) -> None:
        """Chooses an organization in the header."""
        choice = "//header//select[@aria-label='Organization']"
        self._until_done(lambda: Select(self.find(choice)).select_by_visible_text(name))

    def account(self) -> WebElement:
        """Waits for the link to the account: its text has user name and role, its title organization and user name."""
        return self.find("//header//a[starts-with(normalize-space(), 'My account: ')]")

    def click(self, xpath: str) -> None:
        """Waits until the element exists and is visible, and clicks on it."""
        self._until_done(lambda: self.find(xpath).click())

    def press(self, name: str) -> None:
        """Presses the button of that name, in the open dialog or else in the page."""
        self._until_done(lambda: self._find_in_scope(f"//button[normalize-space()='{name}']").click())

    def press_in_row(self, value: str, name: str) -> None:
        """Presses the button `name` in the table row that has a cell `value`."""
        self.click(f"//tr[td[normalize-space()='{value}']]//button[normalize-space()='{name}']")

    def fill(self, label: str, text: str) -> None:
        field = self.field(label)
        field.clear()
        field.send_keys(text)

    def choose(self, label: str, text: str) -> None:
        self._until_done(lambda: Select(self.field(label)).select_by_visible_text(text))

    def _until_done(self, action) -> None:
        """Repeats an action on an element until the page does not replace the element meanwhile, as it does when counts arrive."""
        self.until(lambda: action() is None)

    def drop(self, element: WebElement, *paths: Path) -> None:
        """Drops files on the element, as from the desktop."""
        place = self.driver.execute_script(
            """
            arguments[0].scrollIntoView({ block: 'center' })
            const { left, top, width, height } = arguments[0].getBoundingClientRect()
            return { x: left + width / 2, y: top + height / 2 }
            """,
            element,
        )
        data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.driver.execute_cdp_cmd("Input.dispatchDragEvent", place | {"type": kind, "data": data})

    # What the page shows.

    @property
    def _scope(self) -> str:
        """XPath of the open dialog, which covers the page; empty if none is open."""
        return "//dialog[@open]" if self.driver.find_elements(By.XPATH, "//dialog[@open]") else ""

    def field(self, label: str) -> WebElement:
        """Returns the labeled control, in the open dialog or else in the page."""
        target = self._find_in_scope(f"//label[normalize-space()='{label}']").get_attribute("for")
        return self.driver.find_element(By.ID, target)

    def find(self, xpath: str) -> WebElement:
        """Waits until the element exists and is visible."""
        return self.until(lambda: self._visible(xpath), xpath)

    def _find_in_scope(self, xpath: str) -> WebElement:
        return self.until(lambda: self._visible(self._scope + xpath), xpath)

    def _visible(self, xpath: str) -> WebElement | None:
        element = self.driver.find_element(By.XPATH, xpath)
        if not element.is_displayed():
            # It may be a rare action, whose menu has to be opened.
            for menu in element.find_elements(By.XPATH, "ancestor::details[@class='more-menu'][not(@open)]/summary"):
                menu.click()
        return element if element.is_displayed() else None

    def heading(self, text: str) -> WebElement:
        return self.find(f"//h1[normalize-space()='{text}']")

    def dialog(self, title: str) -> str:
        """Waits for the open dialog with that title, and returns its text."""
        return self.find(f"//dialog[@open][.//h2[normalize-space()='{title}']]").text

    def notice(self, text: str) -> None:
        """Waits for the notice, also if it is over, and until no dialog is open."""
        take = "const at = notices.indexOf(arguments[0]); return at >= 0 && notices.splice(0, at + 1).length"
        self.until(lambda: self.driver.execute_script(take, text), text)
        self.until(lambda: not self.driver.find_elements(By.XPATH, "//dialog"))

    def alert(self) -> str:
        return self.find("//*[@role='alert'][normalize-space()]").text

    def until(self, check, message: str = "", timeout: int | None = None):
        """Waits until `check()` returns a true value, and returns that value."""
        ignored = (NoSuchElementException, StaleElementReferenceException)
        waiting = WebDriverWait(
            self.driver, timeout or self.time_limit, poll_frequency=0.05, ignored_exceptions=ignored
        )
        try:
            return waiting.until(lambda _: check(), message)
        except TimeoutException as failure:
            failure.msg = f"{message}\n{self.text}"
            raise

    def drawn(self) -> None:
        """Waits until the page has drawn what its scripts changed."""
        self.script("await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    @property
    def text(self) -> str:
        """All text of the page; empty while the browser is between two pages."""
        return self.driver.execute_script("return document.body?.innerText ?? ''")

    def fact(self, name: str) -> str:
        """Returns the value of a property list's entry."""
        return self.find(f"//dt[normalize-space()='{name}']/following-sibling::dd[1]").text

    def rows(self) -> list[dict[str, str]]:
        """Returns the first table's rows, each as a dictionary by column title."""
        return self.driver.execute_script(
            """
            return [...document.querySelectorAll('main table tbody')].slice(0, 1).flatMap((body) =>
              [...body.rows].map((row) => Object.fromEntries(
                [...row.cells].map((cell) => [cell.dataset.label, cell.innerText.trim()]))))
            """
        )

    def row(self, column: str, value: str) -> dict[str, str]:
        """Waits for the row with `value` in the column."""
        return self.until(
            lambda: next((row for row in self.rows() if row.get(column) == value), None), f"{column}: {value}"
        )

    @property
    def logged_errors(self) -> list[str]:
        """Errors that the browser logged since the last call, such as violations of the policy and script errors."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]

    def violations(self, scope: str = "") -> list[str]:
        """Returns what axe finds against the accessibility rules of WCAG, best practices included.

        `scope`: the CSS selector of the part to examine; empty = the whole page.
        """
        # The driver runs it beside the page's own scripts, where the page's policy does not apply.
        self.driver.execute_script(AXE.read_text())
        return self.driver.execute_async_script(
            """
            const done = arguments[arguments.length - 1]
            axe.run(arguments[0] || document).then((found) => done(found.violations.map(
              ({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).slice(0, 3).join(' ')}`)))
            """,
            scope,
        )

    def script(self, body: str, *arguments):
        """Runs an asynchronous function in the page, and returns its result."""
        return self.driver.execute_async_script(
            f"""
            const done = arguments[arguments.length - 1];
            (async (...arguments) => {{ {body} }})(...arguments).then(done, (error) => done({{ error: String(error) }}))
            """,
            *arguments,
        )

    def downloaded(self, pattern: str, timeout: float = WAIT_SECONDS) -> bytes:
        """Waits for a complete download, takes it out of the folder, and returns its content.

        `pattern`: the file's name, with the wildcards of `glob`.
        """

        def complete() -> Path | None:
            # Chromium adds this extension to the file's name until the file is complete.
            return next((path for path in self.downloads.glob(pattern) if path.suffix != ".crdownload"), None)

        path = self.until(complete, pattern, timeout)
        content = path.read_bytes()
        path.unlink()
        return content
