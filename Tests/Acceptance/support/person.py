"""A person with a mouse and a keyboard, whose actions are counted."""

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from .browser import Browser


class Person:
    """Uses a page; `actions`: the clicks, the pressed keys and the typed words."""

    def __init__(self, browser: Browser):
        self.browser = browser
        self.actions = 0

    def click(self, xpath: str) -> None:
        self.browser.click(xpath)
        self.actions += 1

    def press(self, key: str, control: bool = False) -> None:
        """Presses a key, wherever the focus is; with `control` together with the Control key."""
        chain = ActionChains(self.browser.driver)
        if control:
            chain.key_down(Keys.CONTROL).send_keys(key).key_up(Keys.CONTROL).perform()
        else:
            chain.send_keys(key).perform()
        self.actions += 1

    def write(self, text: str) -> None:
        """Types words into the control that has the focus."""
        ActionChains(self.browser.driver).send_keys(text).perform()
        self.actions += len(text.split())
