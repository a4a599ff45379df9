"""The console's page of a copy job, in headless Chromium."""

from selenium.webdriver.common.by import By
from support.copies import Copies
from support.gateway import ADMIN_PASSWORD
from support.parties import Fleet
from support.uploads import completed, content


def test_page_of_a_copy_job_follows_it_to_its_end(browser, gateway_with, login, tmp_path):
    # The folder does not exist, so that the job waits.
    root = str(tmp_path / "missing")
    gateway = gateway_with({"copy": {"destinations": [{"kind": "directory", "root": root}]}})
    admin = login(gateway)
    completed(Fleet.create(admin).uploader(), content(1000))
    (found,) = admin.list_all()
    job = Copies(admin).create([found.file_id], {"endpoint": f"file://{root}"}).copy_job_id
    browser.enter(gateway)
    browser.sign_in("system", "admin", ADMIN_PASSWORD)
    browser.heading("Overview")
    browser.show(gateway, f"copies/{job}", "Copy job")
    cancel = browser.find("//main//button[normalize-space()='Cancel']")
    assert cancel.is_displayed() and browser.fact("State") != "canceled"
    # By another client.
    Copies(admin).cancel(job)
    browser.until(lambda: browser.fact("State") == "canceled")
    browser.until(lambda: not browser.driver.find_element(By.XPATH, "//main//button[.='Cancel']").is_displayed())
    browser.assert_no_errors()
