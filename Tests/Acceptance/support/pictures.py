"""Pictures of every page of the console with the data of the showcase, and a sheet of them."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from itertools import groupby
from pathlib import Path

from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from . import picture_states as states
from . import stubs as stubs_module
from .browser import Browser
from .gateway import eventually
from .large_fleet import LargeFleet
from .looks import LOOKS, Looks
from .parties import PASSWORD, Fleet, User, call, unique_device_id
from .person import Person
from .uploads import Upload, content
from .webhooks import SECRET

ORGANIZATION = "orchard-robotics"
#: An organization in which nothing has happened.
EMPTY_ORGANIZATION = "new-robotics"
#: The pages of an organization's administrator by name: address, heading, and the buttons of the page that open dialogs. An empty
#: heading is that of the item, which the page shows.
PAGES = {
    "overview": ("overview", "Overview", ()),
    "overview-week": ("overview?days=7", "Overview", ()),
    "overview-year": ("overview?days=365", "Overview", ()),
    "objects": ("objects", "Objects", ("Columns",)),
    "objects-filter": (
        "objects?filter=weather%3Drain+camera&columns=device%2Ctag%3Afield%2Crecorded%2Cduration%2Ctopics",
        "Objects",
        ("Save this search",),
    ),
    "objects-none": ("objects?filter=weather%3Dsnow+camera", "Objects", ()),
    "objects-mistake": ("objects?filter=name%3A%2A", "Objects", ()),
    "uploads": ("uploads", "Uploads", ("Abort",)),
    "uploads-failed": ("uploads?view=failed", "Uploads", ()),
    "uploads-failed-none": ("uploads?view=failed&cause=EXPIRED&since=86400", "Uploads", ()),
    "copies": ("copies", "Copy jobs", ()),
    "storage": ("storage", "Storage", ()),
    "storage-device": ("storage?by=device", "Storage", ()),
    "storage-tag": ("storage?by=raw_tags.weather", "Storage", ()),
    "storage-month": ("storage?by=month", "Storage", ()),
    "trash": ("trash", "Trash", ()),
    "trash-none": ("trash?filter=weather%3Dsnow", "Trash", ()),
    "retention": ("retention", "Retention", ()),
    "corrupted-objects": ("corrupted-objects", "Corrupted objects", ()),
    "devices": ("devices", "Devices", ("Register device", "New suite")),
    "devices-silent": ("devices?silent=reported", "Devices", ()),
    "devices-none": ("devices?text=walker", "Devices", ()),
    "suites": ("suites", "Suites", ("Edit", "Delete")),
    "users": ("users", "Users", ("Invite", "New user", "Change role", "Reset second factor")),
    "audit": ("audit?since=", "Audit log", ()),
    "audit-devices": ("audit?who=all&since=", "Audit log", ()),
    "audit-none": ("audit?since=3600&actor=nobody", "Audit log", ()),
    "account": ("account", "My account", ("Change password", "Set up second factor", "New token")),
}
#: Those that only administrators of `system` see.
SYSTEM_PAGES = {
    "system-overview": ("overview", "Overview", ()),
    "system-objects": ("objects", "Objects", ()),
    "system-uploads": ("uploads", "Uploads", ()),
    "system-uploads-failed": ("uploads?view=failed", "Uploads", ()),
    "system-copies": ("copies", "Copy jobs", ()),
    "system-storage": ("storage?by=organization", "Storage", ()),
    "system-trash": ("trash", "Trash", ()),
    "system-corrupted-objects": ("corrupted-objects", "Corrupted objects", ()),
    "system-devices": ("devices", "Devices", ()),
    "system-users": ("users", "Users", ()),
    "system-audit": ("audit?since=", "Audit log", ()),
    "other-objects": (f"objects?org={ORGANIZATION}", "Objects", ()),
    "webhooks": ("webhooks?org=", "Webhooks", ()),
    "webhook": ("webhooks/fleet-dashboard", "fleet-dashboard", ()),
    "organizations": ("organizations", "Organizations", ("New organization", "Rename", "Statistics")),
    "gateways": ("gateways", "Gateways", ()),
    "settings": ("settings", "Settings", ()),
    "signing-keys": ("signing-keys", "Signing keys", ("Rotate",)),
    "backup": ("backup", "Backup", ()),
}
#: The pages of an organization without data.
EMPTY_PAGES = {
    f"empty-{name}": (name, heading, ())
    for name, (_, heading, _) in PAGES.items()
    if name in ("overview", "objects", "uploads", "copies", "storage", "trash", "devices", "suites", "users", "audit")
} | {"empty-keys": ("keys", "Sites and keys", ())}
#: The buttons of the page of a file, of a device and of the bar for selected objects.
OBJECT_DIALOGS = ("Share", "Edit tags", "Copy to…", "Delete")
DEVICE_DIALOGS = ("Show configuration", "Edit", "Allow new key", "Retire")
BULK = ("Share", "Tag", "Copy to…", "Delete")


def item_pages(user: User) -> Iterator[tuple[str, tuple[str, str, tuple[str, ...]]]]:
    """Yields the pages of a file of each kind, of devices in several states, and of a site."""
    objects = sorted(user.list_all(), key=lambda found: found.name.rpartition(".")[2])
    for kind, found in groupby(objects, lambda found: found.name.rpartition(".")[2]):
        first = next(found)
        yield f"object-{kind}", (f"objects/{first.file_id}", first.name, OBJECT_DIALOGS if kind == "mcap" else ())
    (trashed, *_) = eventually(lambda: user.list_all(filter="trashed=true"))
    yield "object-trashed", (f"objects/{trashed.file_id}", trashed.name, ("Delete permanently",))
    devices = sorted(
        user.devices("ListDevices", page_size=1000).devices, key=lambda device: device.last_seen_at.seconds
    )
    for name, device in (("device-new", devices[0]), ("device-silent", devices[1]), ("device", devices[-1])):
        heading = device.display_name or device.device_id
        yield name, (f"devices/{device.device_id}", heading, DEVICE_DIALOGS if name == "device" else ())
    (site, *_) = user.admin("ListSites").sites
    yield "keys", (f"keys?site={site.site_id}", "Sites and keys", ("New site", "Edit", "New key", "Rotate"))


def prepare(user: User, admin: User, copies: Path) -> tuple[str, str]:
    """Makes what the showcase has none of, and returns the token of an invitation and the id of a copy job."""
    user.object_management("DeleteObjects", filter="weather=wind name:*.log", reason="a person is in the picture")
    found = user.list_all(filter="name:*.png")[:3]
    # Several organizations have this destination, each in a folder of its own.
    place = {"endpoint": f"file://{copies}", "key_template": f"{ORGANIZATION}/{{device}}/{{name}}"}
    job = user.copies("CreateCopyJob", file_ids=[each.file_id for each in found], destination=place).copy_job_id
    (site, *_) = user.admin("ListSites").sites
    user.admin("CreateSiteApiKey", site_id=site.site_id, key_name="importer")
    user.devices("RegisterDevice", device_id=unique_device_id())
    (suite, *_) = user.devices("ListDeviceSuites").device_suites
    uploader = Fleet(user, suite.site_id, suite.name).uploader(display_name="Picker 901")
    for name, reason in (
        ("left-camera.mcap", "disk error on the robot"),
        ("", "power loss"),
        ("right-camera.mcap", None),
    ):
        hints = {"file_name": f"2026-11-28T06-53-12_picker-901_north-field_{name}", "file_size": str(9 << 20)}
        upload = Upload.of(uploader, uploader.create(**hints if name else {}))
        upload.send_parts(content(1 << 20), upload.store.initiate())
        if reason is not None:
            uploader.abort(upload.logical_id, reason)
    user.users("CreateUser", user_name="oscar.lindqvist@example.com", password=PASSWORD, role="operator")
    user.users("CreateUser", user_name="mia", password=PASSWORD, role="member")
    admin.create_organization(EMPTY_ORGANIZATION, display_name="New Robotics")
    invitations = user.stubs.auth.InvitationManagementServiceStub(user.gateway.channel("admin"))
    request = user.stubs.auth.CreateInvitationRequest(user_name="nora", role="operator")
    return call(invitations.CreateInvitation, request, user.token).token, job


class Camera:
    """Takes the pictures of a gateway's pages."""

    def __init__(self, gateway, browser: Browser, folder: Path):
        self.gateway, self.browser = gateway, browser
        self.looks = Looks(browser, folder, is_full=True)
        #: The names of the pictures, in order.
        self.names: list[str] = []
        #: What is wrong with them, and what axe found.
        self.faults: list[str] = []
        self.violations: list[str] = []

    def take(self, name: str, script: str = "") -> None:
        faults, violations = self.looks.take(name, script)
        self.faults += faults
        self.violations += violations
        self.names.append(name)

    @contextmanager
    def attempt(self, name: str) -> Iterator[None]:
        """Lists a page or a state that cannot be shown as a fault, and continues with a new page."""
        try:
            yield
        except (WebDriverException, AssertionError, ValueError) as error:
            self.faults.append(f"{name}: not shown: {str(error).splitlines()[0][:200]}")
            self.browser.driver.refresh()

    def sign_in(self, organization: str, user: str, password: str, heading: str = "Overview") -> None:
        self.browser.enter(self.gateway)
        self.browser.sign_in(organization, user, password)
        self.browser.heading(heading)

    def dialogs(self, page: str, place: str, buttons: tuple[str, ...]) -> None:
        """Opens dialogs by the buttons of a place, an XPath, and closes each by the keyboard."""
        for button in buttons:
            name = f"{page}-{'-'.join(button.rstrip('…').lower().split())}"
            with self.attempt(name):
                self.browser.click(f"({place}//button[normalize-space()='{button}'])[1]")
                self.dialog(name)

    def dialog(self, name: str) -> None:
        self.browser.find("//dialog[@open]")
        self.take(name)
        self.browser.driver.find_element(By.CSS_SELECTOR, "dialog[open]").send_keys(Keys.ESCAPE)
        self.browser.until(lambda: not self.browser.driver.find_elements(By.CSS_SELECTOR, "dialog[open]"), name)

    def pages(self, pages: dict[str, tuple[str, str, tuple[str, ...]]]) -> None:
        for name, (address, heading, buttons) in pages.items():
            with self.attempt(name):
                self.browser.show(self.gateway, address, heading)
                self.take(name)
                self.dialogs(name, "//main", buttons)

    def selection(self) -> None:
        """Takes the page Objects with selected rows, and the dialogs that are not of one page."""
        self.browser.show(self.gateway, "objects", "Objects")
        for box in self.browser.driver.find_elements(By.CSS_SELECTOR, "main tbody input[type=checkbox]")[:3]:
            box.click()
        self.take("objects-selected")
        self.dialogs("selected", "//div[@aria-label='Selected objects']", BULK)
        person = Person(self.browser)
        person.press("k", control=True)
        person.write("pick")
        self.browser.find("//dialog[@open]//li[small[@class='kind']='Object']")
        self.dialog("find-anything")
        person.press("?")
        self.dialog("shortcuts")


def make_sheet(folder: Path, binary: Path, objects: int) -> tuple[Path, Camera]:
    """Takes all pictures; returns the sheet, a page of HTML, and the camera with what is wrong with them."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        copies = Path(place) / "copies"
        copies.mkdir()
        schedule = {"name": "nightly", "kind": "directory", "root": str(_folder(place, "backups"))}
        (secret := Path(place) / "secret").write_text(SECRET)
        config = {
            "copy": {"destinations": [{"kind": "directory", "root": str(copies)}]},
            "backup": {"schedules": [schedule]},
            "scrub": {"bytes_per_second": 1 << 30, "interval_seconds": 15},
            # Nothing accepts connections there.
            "webhooks": {"fleet-dashboard": {"url": "http://127.0.0.1:9/events", "secret_file": str(secret)}},
        }
        fleet = LargeFleet(binary, Path(place), objects, config)
        stubs = stubs_module.load(stubs_module.PROTOS, _folder(place, "stubs"))
        browser = Browser(_folder(place, "downloads"))
        # One state that cannot be shown does not delay the others for long.
        browser.time_limit = 20
        try:
            fleet.gateway.start()
            user = fleet.login(stubs, ORGANIZATION)
            password = fleet.contents["password"]
            invitation, job = prepare(user, fleet.login(stubs, "system", "admin"), copies)
            camera = Camera(fleet.gateway, browser, folder)
            states.entrances(camera, ORGANIZATION, invitation)
            camera.sign_in(ORGANIZATION, "ada", password)
            camera.pages(PAGES | dict(item_pages(user)) | {"copy": (f"copies/{job}", "Copy job", ())})
            with camera.attempt("selection"):
                camera.selection()
            states.of_pages(camera, user, Path(place))
            states.of_connection(camera)
            states.of_session(camera)
            states.of_roles(camera, ORGANIZATION, password)
            camera.sign_in(EMPTY_ORGANIZATION, "boss", PASSWORD)
            camera.pages(EMPTY_PAGES)
            states.corrupt(user)
            camera.sign_in("system", "admin", password)
            camera.pages(SYSTEM_PAGES)
        finally:
            browser.close()
            fleet.gateway.close()
    (sheet := folder / "index.html").write_text(_sheet(camera))
    return sheet, camera


def _folder(place: str, name: str) -> Path:
    (folder := Path(place) / name).mkdir()
    return folder


def _sheet(camera: Camera) -> str:
    """Returns a page with what is wrong, and a row for each name: its pictures in all looks."""
    names = camera.names
    wrong = "\n".join(f"<li>{escape(text)}</li>" for text in [*camera.faults, *camera.violations])
    looks = [f"{size[0]}-{scheme}" for size, scheme in LOOKS]
    rows = "\n".join(
        f'<section id="{name}"><h2>{escape(name)}</h2><div>'
        + "".join(
            f'<a href="{name}-{look}.png"><img src="{name}-{look}.png" alt="{name}, {look}" loading="lazy"></a>'
            for look in looks
        )
        + "</div></section>"
        for name in names
    )
    links = " ".join(f'<a href="#{name}">{escape(name)}</a>' for name in names)
    return f"""<!doctype html>
<meta charset="utf-8"><title>Pages of the console</title>
<style>
body {{ margin: 1rem; font: 14px/1.5 sans-serif }}
section div {{ display: grid; grid-template-columns: 3fr 3fr 1fr 1fr; gap: .5rem; align-items: start }}
img {{ width: 100%; border: 1px solid #999 }}
</style>
<nav>{links}</nav>
<ul>{wrong}</ul>
{rows}
"""
