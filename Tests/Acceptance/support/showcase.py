"""A gateway that has something to show on every page of the console."""

import json
import random
from dataclasses import dataclass, field
from pathlib import Path

from .copies import Copies
from .gateway import Gateway, eventually
from .media import CLIP, png, wav
from .parties import PASSWORD, Fleet, Uploader, User, call
from .recordings import recording
from .uploads import FILE_NAME_TAG, Upload, completed, content
from .webhooks import SECRET, Receiver

TOPICS = ("/camera/front", "/camera/rear", "/gps/fix", "/imu", "/lidar/points", "/tf")
#: The password of the users.
LONG_NAME = "2026-11-09T06-53-12_north-field_tractor-1_front-camera-and-lidar_calibration-run-07499_second-attempt.mcap"


def csv() -> bytes:
    """Returns a table of six columns."""
    rows = [
        f"{number},{50 + number / 1e5:.6f},{9 + number / 1e5:.6f},{100 + number},fix,{number % 5}"
        for number in range(60)
    ]
    return "\n".join(["time,latitude,longitude,altitude_m,state,satellites", *rows]).encode()


#: One file of each kind of preview.
KINDS = {
    LONG_NAME: recording(TOPICS, 600),
    "front.png": png(640, 360),
    "field.mp4": CLIP.read_bytes(),
    "motor.wav": wav(3),
    "track.csv": csv(),
    "state.json": json.dumps(
        {"weather": ["rain", "sun"], "battery": {"volts": 48.2, "cells": list(range(14))}}
    ).encode(),
    "notes.txt": b"The second run began after the rain.\n" * 40,
    "report.pdf": b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF",
    "firmware.bin": content(5000),
}


def fill(user: User, site: int, suite: str) -> list[Uploader]:
    """Uploads files as a small fleet would, and returns its devices."""
    fleet = Fleet(user, site, suite)
    devices = [fleet.uploader(display_name=name) for name in ("Tractor 1", "Tractor 2", "Mast")]
    chance = random.Random(7)
    for number in range(36):
        run = f"run{number // 6:02d}"
        kind = ("mcap", "mcap", "csv", "json", "png", "bag")[number % 6]
        data = recording(TOPICS, 600) if kind == "mcap" else content(chance.randrange(2_000, 90_000), number)
        part = ("drive", "drive", "gps", "state", "front", "log")[number % 6]
        name = f"2026-11-{10 + number // 6}_{run}_{part}.{kind}"
        tags = {
            "run": run,
            "weather": chance.choice(["rain", "sun", "fog"]),
            "field": chance.choice(["north", "south"]),
        }
        completed(devices[number % 3], data, tags | {FILE_NAME_TAG: name})
    return devices


@dataclass
class Showcase:
    """The gateway and what its pages show; `pages` maps a name to a page's address and heading."""

    gateway: Gateway
    admin: User
    receivers: list[Receiver]
    site_id: int = 0
    device: str = ""
    pages: dict[str, tuple[str, str]] = field(default_factory=dict)

    @classmethod
    def start(cls, gateway_with, login, stubs, folder: Path) -> "Showcase":
        for name in ("copies", "backups"):
            (folder / name).mkdir()
        (secret := folder / "secret").write_text(SECRET)
        receivers = [Receiver(), Receiver()]
        receivers[1].respond = lambda event: 503
        roots = [{"kind": "directory", "root": str(folder / name)} for name in ("copies", "absent")]
        hook = {"secret_file": str(secret)}
        gateway = gateway_with(
            {
                "uploads": {"part_size_bytes": 1 << 20},
                # A job that waits for its destination waits until the last test.
                "copy": {"destinations": roots, "retry_seconds": 604_800},
                "backup": {"schedules": [{"name": "nightly", "kind": "directory", "root": str(folder / "backups")}]},
                "webhooks": {
                    "fleet-dashboard": hook | {"url": receivers[0].url},
                    "indexer": hook | {"url": receivers[1].url, "events": ["device.initialized", "object.trashed"]},
                },
                "events": {"give_up_seconds": 1, "longest_retry_seconds": 1},
                "scrub": {"bytes_per_second": 1 << 30, "interval_seconds": 1},
            }
        )
        shown = cls(gateway, login(gateway), receivers)
        shown._fill(stubs, roots)
        return shown

    def close(self) -> None:
        for receiver in self.receivers:
            receiver.close()

    def _fill(self, stubs, roots: list[dict[str, str]]) -> None:
        admin = self.admin
        self.site_id = admin.admin("CreateSite", name="North plant").site.site_id
        south = admin.admin("CreateSite", name="South plant, trial fields of the university").site.site_id
        admin.admin("DisableSite", site_id=admin.admin("CreateSite", name="Old depot").site.site_id)
        suite = admin.devices("CreateDeviceSuite", site_id=self.site_id, display_name="Tractors").name
        admin.devices(
            "CreateDeviceSuite", site_id=south, display_name="Masts", description="Weather masts with cameras"
        )
        for organization, name in (
            ("acme-robotics", "Acme Robotics"),
            ("university", "University of Applied Sciences"),
        ):
            admin.admin(
                "CreateOrganization",
                organization=organization,
                display_name=name,
                bootstrap_admin_user_name="boss",
                bootstrap_admin_password=PASSWORD,
            )
        for name, role in (("vera", "viewer"), ("oscar.lindqvist@example.com", "operator"), ("mia", "member")):
            admin.users("CreateUser", user_name=name, password=PASSWORD, role=role)
        invitations = stubs.auth.InvitationManagementServiceStub(self.gateway.channel("admin"))
        call(
            invitations.CreateInvitation,
            stubs.auth.CreateInvitationRequest(user_name="nora", role="operator"),
            admin.token,
        )
        for name in ("importer", "nightly export of the north plant"):
            admin.admin("CreateSiteApiKey", site_id=self.site_id, key_name=name)
        first, second, mast = fill(admin, self.site_id, suite)
        self.device = first.device_id
        admin.devices(
            "UpdateDevice",
            name=f"devices/{first.device_id}",
            display_name="Tractor 1",
            description="Front loader with two cameras and a lidar",
            tags={"model": "mk2", "owner": "Trial fields"},
            replace_tags=True,
        )
        admin.devices("DisableDevice", name=f"devices/{mast.device_id}")
        alone = admin.devices("RegisterDevice", device_id="261124-000042", display_name="Spare mast")
        for name, data in KINDS.items():
            completed(first, data, {"run": "run07", "weather": "sun", FILE_NAME_TAG: name})
        named = {found.name: found for found in admin.list_all()}
        trashed, corrupted = named["2026-11-10_run00_log.bag"], named["2026-11-11_run01_log.bag"]
        admin.object_management("DeleteObject", file_id=trashed.file_id, reason="a person is in the picture")
        admin.object_management("DeleteObjects", filter="name=2026-11-12_run02_log.bag", reason="wrong field")
        rule = stubs.gateway.RetentionRule(filter="raw_tags.kind=test", days=400)
        admin.object_management("SetRetention", days=0, rules=[rule], replace_rules=True)
        job = self._copy([named[name].file_id for name in ("front.png", "track.csv", LONG_NAME)], roots[0])
        # Its folder does not exist, so it waits.
        waiting = self._copy([named["front.png"].file_id], roots[1])
        eventually(lambda: Copies(admin).job(job).finished_at_unix)
        self._corrupt(corrupted.file_id)
        self._upload(second)
        events = stubs.events.EventServiceStub(self.gateway.channel("admin"))
        letters = lambda: call(events.ListDeadLetters, stubs.events.ListDeadLettersRequest(), admin.token).dead_letters
        eventually(lambda: len(letters()) >= 2, 60)
        self.pages = {
            "overview": ("overview", "Overview"),
            "devices": ("devices", "Devices"),
            "device": (f"devices/{first.device_id}", "Tractor 1"),
            "device-new": (f"devices/{alone.device_id}", "Spare mast"),
            "device-disabled": (f"devices/{mast.device_id}", "Mast"),
            "suites": ("suites", "Suites"),
            "uploads": ("uploads", "Uploads"),
            "objects": ("objects", "Objects"),
            "objects-none": ("objects?filter=weather%3Dsnow", "Objects"),
            **{f"object-{name.split('.')[-1]}": (f"objects/{named[name].file_id}", name) for name in KINDS},
            "object-trashed": (f"objects/{trashed.file_id}", trashed.name),
            "object-corrupted": (f"objects/{corrupted.file_id}", corrupted.name),
            "copies": ("copies", "Copy jobs"),
            "copy": (f"copies/{job}", "Copy job"),
            "copy-waiting": (f"copies/{waiting}", "Copy job"),
            "storage": ("storage", "Storage"),
            "storage-month": ("storage?by=month", "Storage"),
            "trash": ("trash", "Trash"),
            "retention": ("retention", "Retention"),
            "corrupted-objects": ("corrupted-objects", "Corrupted objects"),
            "keys": (f"keys?site={self.site_id}", "Sites and keys"),
            "users": ("users", "Users"),
            "webhooks": ("webhooks", "Webhooks"),
            "webhook": ("webhooks/indexer", "indexer"),
            "audit": ("audit", "Audit log"),
            "organizations": ("organizations", "Organizations"),
            "gateways": ("gateways", "Gateways"),
            "settings": ("settings", "Settings"),
            "signing-keys": ("signing-keys", "Signing keys"),
            "backup": ("backup", "Backup"),
            "account": ("account", "My account"),
        }

    def _copy(self, file_ids: list[str], root: dict[str, str]) -> str:
        """Copies objects to a destination, and returns the job's id."""
        return Copies(self.admin).create(file_ids, {"endpoint": f"file://{root['root']}"}).copy_job_id

    def _corrupt(self, file_id: str) -> None:
        """Changes the stored bytes of an object, and waits until the scrubber has found them."""
        path = self.gateway.data / "store/data" / file_id[:2] / file_id
        assert self.gateway.stop() == 0
        path.chmod(0o600)
        path.write_bytes(b"y" * path.stat().st_size)
        path.chmod(0o400)
        self.gateway.start()
        eventually(lambda: self.admin.object_management("ListBadObjects").objects)

    def _upload(self, uploader: Uploader) -> None:
        """Begins two uploads, one of a file whose name and size are known."""
        hints = {"file_name": LONG_NAME, "file_size": str(9 << 20)}
        for reply in (uploader.create(**hints), uploader.create()):
            upload = Upload.of(uploader, reply)
            upload.send_parts(content(3 << 20), upload.store.initiate())
