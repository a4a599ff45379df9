"""The app for companions: the published app on a phone, pictures, and what the database has."""

import itertools
import json
import struct
import zlib

import requests

from .gateway import Gateway

#: Callers name their address, so that each test has limits of its own.
CONFIGURATION = {
    "listeners": {"apps": "127.0.0.1:0"},
    "apps": {"companions": {"enabled": True}},
    "rpc": {"trusted_proxies": ["127.0.0.1"]},
}
#: The members of a user whom the published app decodes, none of which may be absent.
USER = {
    "username": str, "email": str, "mobile": str, "password": str, "age": str, "bio": str, "constellation": str,
    "birthday": str, "sex": str, "img_path": str, "TogetherTasks": list, "PrivateTasks": list, "Friends": list,
    "Messages": list, "partner": str, "CurrentTaskId": int,
}  # fmt: skip
FORM = "application/x-www-form-urlencoded"

_numbers = itertools.count(1)
addresses = iter(f"198.51.{block}.{number}" for block in range(100, 120) for number in range(1, 250))


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int = 2, height: int = 2, *more: bytes) -> bytes:
    """Returns a gray picture, with further chunks before its data."""
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    rows = zlib.compress(b"\0\x80\x80" * 2)
    return b"\x89PNG\r\n\x1a\n" + head + b"".join(more) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def segment(marker: int, content: bytes) -> bytes:
    return bytes([0xFF, marker]) + struct.pack(">H", len(content) + 2) + content


def jpeg(*more: bytes, scan: bytes = b"\x12\x34\xff\x00\x56") -> bytes:
    """Returns the frame of a picture of 2 × 2 pixels, with further segments at its beginning."""
    frame = segment(0xC0, struct.pack(">BHHB", 8, 2, 2, 1) + b"\x01\x11\x00")
    tables = segment(0xDB, b"\0" * 65) + segment(0xC4, b"\0" * 17)
    return (
        b"\xff\xd8" + b"".join(more) + tables + frame + segment(0xDA, b"\x01\x01\x00\x00\x3f\x00") + scan + b"\xff\xd9"
    )


def exif(place: bytes = b"48.137N 11.575E", orientation: int = 6) -> bytes:
    """Returns an Exif segment with an orientation, a place and a time."""
    entries = struct.pack(">HHIHH", 0x0112, 3, 1, orientation, 0) + struct.pack(">HHII", 0x8825, 4, 1, 100)
    return segment(0xE1, b"Exif\0\0MM\0*" + struct.pack(">IH", 8, 2) + entries + b"\0\0\0\0" + place + b"2026:01:31")


def box(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content) + 8) + kind + content


def heic(image: bytes, metadata: bytes) -> bytes:
    """Returns the form of a phone's picture: an image behind Exif data, and the places of both."""
    items = ((1, b"hvc1", image), (2, b"Exif", metadata))
    entries = b"".join(
        box(b"infe", struct.pack(">IHH", 2 << 24, number, 0) + kind + b"\0") for number, kind, _ in items
    )

    def head(start: int) -> bytes:
        places = struct.pack(">IHH", 0, 0x4400, 2)
        places += struct.pack(">HHHII", 2, 0, 1, start, len(metadata))
        places += struct.pack(">HHHII", 1, 0, 1, start + len(metadata), len(image))
        size = box(b"ipco", box(b"ispe", struct.pack(">III", 0, 64, 32)) + box(b"irot", b"\x03"))
        boxes = box(b"pitm", struct.pack(">IH", 0, 1)) + box(b"iinf", struct.pack(">IH", 0, 2) + entries)
        meta = box(b"meta", bytes(4) + boxes + box(b"iloc", places) + box(b"iprp", size))
        return box(b"ftyp", b"heic" + bytes(4) + b"mif1heic") + meta

    return head(len(head(0)) + 8) + box(b"mdat", metadata + image)


class Phone:
    """The published app on a phone: it keeps cookies, and sends its own copy of the user."""

    def __init__(self, gateway: Gateway, name: str, address: str | None = None):
        self.base = f"http://{gateway.listeners['apps']}/api"
        self.name, self.email, self.password = name, f"{name}@example.com", f"secret of {name}"
        self.session = requests.Session()
        self.session.headers["X-Forwarded-For"] = address or next(addresses)
        self.user: dict = {}

    def send(self, method: str, path: str, **arguments) -> requests.Response:
        return self.session.request(method, self.base + path, timeout=60, **arguments)

    def post(self, path: str, data=None, **arguments) -> tuple[int, str]:
        """Returns the code and the text, which every answer has."""
        response = self.send("POST", path, data=data, **arguments).json()
        return response["code"], response["msg"]

    def register(self, picture: bytes | None = None, **changes) -> tuple[int, str]:
        fields = {"name": self.name, "email": self.email, "pass": self.password} | changes
        files = {name: (None, value) for name, value in fields.items()}
        if picture is not None:
            files["file"] = ("me.jpg", picture, "image/jpeg")
        return self.post("/register", files=files)

    def login(self, password: str | None = None) -> tuple[int, str]:
        return self.post("/login", {"email": self.email, "pass": password or self.password})

    def refresh(self) -> dict:
        """Reads the user as the app does at its start, with what it stored as the password."""
        password = self.user.get("password", self.password)
        self.user = self.send("POST", "/UserInfo", data={"email": self.email, "pass": password}).json()
        for name, kind in USER.items():
            assert type(self.user[name]) is kind, name
        return self.user

    def change(self, **changes) -> tuple[int, str]:
        """Posts the whole copy as the app does: JSON that claims to be a form."""
        document = json.dumps(self.user | changes)
        return self.post("/ChangeProfile", document.encode(), headers={"content-type": FORM})

    def upload(self, picture: bytes, name: str = "me.jpg") -> tuple[int, str]:
        form = {"email": (None, self.email), "pass": (None, self.password)}
        return self.post("/upload", files=form | {"file": (name, picture, "image/jpeg")})

    def match(self, plan: int = 1) -> tuple[int, str]:
        return self.post("/match", {"TaskId": plan, "Email": self.email})

    def get_match(self) -> tuple[int, str]:
        return self.post("/GetMatch", {"TaskId": 1, "Email": self.email})

    def friend(self, email: str) -> dict:
        return self.send("POST", "/GetFriend", data={"email": email, "pass": ""}).json()


def registrar(server: Gateway):
    """Makes phones whose users exist, with names that no other test has."""

    def make(name: str, **changes) -> Phone:
        made = Phone(server, f"{name}.user{next(_numbers)}")
        assert made.register(**changes) == (0, "Register succeed")
        return made

    return make


def pair_of(phone) -> tuple[Phone, Phone]:
    """Returns two users who are matched in plan 1 and know it."""
    first, second = phone("first"), phone("second")
    assert first.match()[0] == 0 and second.match()[0] == 0
    assert first.get_match() == (0, second.email) and second.get_match() == (0, first.email)
    first.refresh(), second.refresh()
    return first, second
