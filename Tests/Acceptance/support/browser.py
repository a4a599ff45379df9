"""A person at the console: Debian's Chromium without a window, driven as a hand and an eye would."""

import shutil
from pathlib import Path

from selenium import webdriver
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select, WebDriverWait

#: A debug build on a busy machine answers within a second; this bounds the wait for what never comes.
TIMEOUT = 30
DESKTOP = (1280, 900)
PHONE = (390, 844)


class Browser:
    """One browser with a profile of its own; what it downloads goes to `downloads`."""

    def __init__(self, downloads: Path):
        self.downloads = downloads
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        # As root, and in a container's small /dev/shm, Chromium runs only so.
        for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
            options.add_argument(argument)
        options.add_experimental_option(
            "prefs", {"download.default_directory": str(downloads), "download.prompt_for_download": False}
        )
        options.accept_insecure_certs = True
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
        self.resize(DESKTOP)

    def close(self) -> None:
        self.driver.quit()

    # What a hand does.

    def open(self, url: str) -> None:
        self.driver.get(url)

    def resize(self, size: tuple[int, int]) -> None:
        """The page's size: a window has a frame, and a least width."""
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size == PHONE},
        )

    def prefer(self, scheme: str) -> None:
        """`light` or `dark`."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def sign_in(self, organization: str, user_name: str, password: str) -> None:
        """At the page that asks for it."""
        self.fill("Organization", organization)
        self.fill("User name", user_name)
        self.fill("Password", password)
        self.press("Sign in")

    def sign_out(self) -> None:
        """Whatever the browser had, it has no more."""
        self.driver.execute_script("localStorage.clear(); sessionStorage.clear()")
        self.driver.delete_all_cookies()

    def go(self, page: str) -> None:
        """To the page of that name in the navigation."""
        self.find(f"//nav//a[normalize-space()='{page}']").click()
        self.heading(page if page != "Uploads" else "Uploads in progress")

    def press(self, name: str) -> None:
        """The button of that name: of the dialog that is open, or of the page."""
        self.find(f"{self._front}//button[normalize-space()='{name}']").click()

    def press_in_row(self, value: str, name: str) -> None:
        """Presses the button `name` in the table row that has a cell `value`."""
        self.find(f"//tr[td[normalize-space()='{value}']]//button[normalize-space()='{name}']").click()

    def fill(self, label: str, text: str) -> None:
        field = self.field(label)
        field.clear()
        field.send_keys(text)

    def choose(self, label: str, text: str) -> None:
        Select(self.field(label)).select_by_visible_text(text)

    # What an eye sees.

    @property
    def _front(self) -> str:
        """Behind a dialog that is open nothing can be reached."""
        return "//dialog[@open]" if self.driver.find_elements(By.XPATH, "//dialog[@open]") else ""

    def field(self, label: str) -> WebElement:
        """The control that the label is for: in the dialog that is open, or in the page."""
        target = self.find(f"{self._front}//label[normalize-space()='{label}']").get_attribute("for")
        return self.driver.find_element(By.ID, target)

    def find(self, xpath: str) -> WebElement:
        """Waits until it is there and can be seen."""

        def seen(driver):
            element = driver.find_element(By.XPATH, xpath)
            return element if element.is_displayed() else None

        ignored = (NoSuchElementException, StaleElementReferenceException)
        return WebDriverWait(self.driver, TIMEOUT, ignored_exceptions=ignored).until(seen, f"{xpath}\n{self.text}")

    def heading(self, text: str) -> WebElement:
        return self.find(f"//h1[normalize-space()='{text}']")

    def dialog(self, title: str) -> str:
        """Waits for the open dialog with that title, and returns its text."""
        return self.find(f"//dialog[@open][.//h2[normalize-space()='{title}']]").text

    def notice(self, text: str) -> None:
        """Waits for the notice, and until no dialog is open."""
        self.find(f"//*[@id='notice']/p[normalize-space()='{text}']")
        self.until(lambda: not self.driver.find_elements(By.XPATH, "//dialog"))

    def alert(self) -> str:
        return self.find("//*[@role='alert'][normalize-space()]").text

    def until(self, check, message: str = ""):
        """Waits until `check()` is true, and returns what it gave."""
        ignored = (NoSuchElementException, StaleElementReferenceException)
        waiting = WebDriverWait(self.driver, TIMEOUT, poll_frequency=0.05, ignored_exceptions=ignored)
        return waiting.until(lambda _: check(), f"{message}\n{self.text}")

    @property
    def text(self) -> str:
        """All that the page says."""
        return self.driver.find_element(By.TAG_NAME, "body").text

    def fact(self, name: str) -> str:
        """What a page about one thing says of it."""
        return self.find(f"//dt[normalize-space()='{name}']/following-sibling::dd[1]").text

    def rows(self) -> list[dict[str, str]]:
        """The first table's, by the columns' titles."""
        return self.driver.execute_script(
            """
            return [...document.querySelectorAll('main table tbody')].slice(0, 1).flatMap((body) =>
              [...body.rows].map((row) => Object.fromEntries(
                [...row.cells].map((cell) => [cell.dataset.label, cell.innerText.trim()]))))
            """
        )

    def row(self, column: str, value: str) -> dict[str, str]:
        """Waits for the row that has `value` there."""
        return self.until(
            lambda: next((row for row in self.rows() if row[column] == value), None), f"{column}: {value}"
        )

    @property
    def complaints(self) -> list[str]:
        """What the browser said to the page's author, since it was last asked: breaches of the policy, scripts' errors."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]

    def script(self, body: str, *arguments):
        """Runs an asynchronous function in the page, and returns what it resolves to."""
        return self.driver.execute_async_script(
            f"""
            const done = arguments[arguments.length - 1];
            (async (...arguments) => {{ {body} }})(...arguments).then(done, (error) => done({{ error: String(error) }}))
            """,
            *arguments,
        )

    def downloaded(self, name: str) -> bytes:
        """Waits until the browser has the whole file."""
        path = self.downloads / name
        self.until(lambda: path.exists() and not list(self.downloads.glob("*.crdownload")), name)
        return path.read_bytes()
