"""The app for companions: the published app's walk, the app's own Swift, privacy, pictures, and who may do what."""

import concurrent.futures
import itertools
import json
import sqlite3
import struct
import subprocess
import zlib

import pytest
import requests
from support.gateway import Gateway, eventually
from support.monitoring import metric
from support.webhooks import KEY, SECRET, metrics, verify

#: Callers name their address, so that each test has limits of its own.
ENABLED = {
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
#: The password of the public server that opened everybody's account.
MASTER = "a98f9eaa6ff801c24e30a6f4619b23b59393ceea9b7b4c65700a5a38cff95c98"

_numbers = itertools.count(1)
_addresses = iter(f"198.51.{block}.{number}" for block in range(100, 120) for number in range(1, 250))


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


class Phone:
    """The published app on a phone: it keeps cookies, and sends its own copy of the user."""

    def __init__(self, gateway: Gateway, name: str, address: str | None = None):
        self.base = f"http://{gateway.listeners['apps']}/api"
        self.name, self.email, self.password = name, f"{name}@example.com", f"secret of {name}"
        self.session = requests.Session()
        self.session.headers["X-Forwarded-For"] = address or next(_addresses)
        self.user: dict = {}

    def send(self, method: str, path: str, **arguments) -> requests.Response:
        return self.session.request(method, self.base + path, timeout=60, **arguments)

    def post(self, path: str, data=None, **arguments) -> tuple[int, str]:
        """Returns the code and the text, which every answer has."""
        answer = self.send("POST", path, data=data, **arguments).json()
        return answer["code"], answer["msg"]

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


@pytest.fixture(scope="module")
def server(gateway_with) -> Gateway:
    return gateway_with(ENABLED)


@pytest.fixture
def phone(server):
    """Makes phones whose users exist, with names that no other test has."""

    def make(name: str, **changes) -> Phone:
        made = Phone(server, f"{name}.user{next(_numbers)}")
        assert made.register(**changes) == (0, "Register succeed")
        return made

    return make


@pytest.fixture
def pair(phone):
    """Two users who are matched in plan 1 and know it."""
    first, second = phone("first"), phone("second")
    assert first.match()[0] == 0 and second.match()[0] == 0
    assert first.get_match() == (0, second.email) and second.get_match() == (0, first.email)
    first.refresh(), second.refresh()
    return first, second


def rows(gateway: Gateway, statement: str, *values) -> list:
    database = sqlite3.connect(f"file:{gateway.data}/gateway.db?mode=ro", uri=True)
    try:
        return database.execute(statement, values).fetchall()
    finally:
        database.close()


# The published app


def test_published_app_walks_from_registration_to_the_end_of_a_plan(server, phone):
    ada = phone("ada", picture=jpeg(exif()))
    assert ada.register() == (-1, "Email has existed")
    assert ada.login("wrong") == (0, "Wrong Password")
    assert Phone(server, "nobody").login() == (-1, "Email does not exist")
    assert ada.login() == (1, "Login success")
    user = ada.refresh()
    assert (user["username"], user["email"], user["partner"]) == (ada.name, ada.email, "")
    assert user["password"] not in ("", ada.password)
    picture = ada.send("GET", user["img_path"])
    assert picture.status_code == 200 and picture.headers["content-type"] == "image/jpeg"

    for good, bad in [
        ({"username": "Ada L."}, {"username": "Ada"}), ({"age": "36"}, {"age": "036"}),
        ({"mobile": "13800138000"}, {"mobile": "+86 138"}), ({"sex": "female"}, {"sex": "other"}),
        ({"birthday": "1990-12-1"}, {"birthday": "1990-02-30"}), ({"bio": "Engines."}, {"bio": "x" * 501}),
        ({"constellation": "Sagittarius"}, {"constellation": "x" * 33}), ({"blood": "AB"}, {"blood": "C"}),
    ]:  # fmt: skip
        assert ada.change(**good) == (0, "Update Success"), good
        code, message = ada.change(**good | bad)
        assert code == -1 and message.startswith(next(iter(bad))), message
        assert ada.refresh() | good == ada.user, "an invalid field changes nothing"

    bob = phone("bob")
    bob.refresh()
    assert ada.get_match() == (1, "No queue info")
    assert ada.match() == (0, "add queue success")
    assert ada.match() == (-2, "You are queuing!")
    assert ada.get_match()[0] == -1 and ada.refresh()["CurrentTaskId"] == 1
    assert bob.match() == (0, "add queue success")
    assert bob.match() == (-3, "You have been matched!")
    assert (ada.get_match(), ada.get_match()) == ((0, bob.email), (1, "No queue info"))
    assert (bob.get_match(), bob.get_match()) == ((0, ada.email), (1, "No queue info"))

    assert ada.refresh()["partner"] == bob.email and ada.user["Friends"] == [bob.email]
    assert len(ada.user["TogetherTasks"]) == 9 and ada.user["CurrentTaskId"] == 0
    assert [message["IsUser"] for message in ada.user["Messages"]] == [False, False]
    tasks = ada.user["TogetherTasks"]
    tasks[0] |= {"IsFinished": True, "comment": "十五分钟!"}
    assert ada.change() == (0, "Update Success")
    seen = bob.friend(ada.email)
    assert (
        seen["TogetherTasks"][0] == tasks[0] | {"friendEmail": bob.email} and not seen["TogetherTasks"][1]["IsFinished"]
    )

    ada.user["Messages"] = [message | {"IsRead": True} for message in ada.user["Messages"]]
    ada.user["Messages"].append({"msg": "The button is too small.", "IsUser": True, "IsRead": True})
    ada.user["PrivateTasks"] = [{"name": "Buy milk", "number": 0, "IsFinished": False}]
    document = ada.user
    assert ada.change() == (0, "Update Success") and ada.change() == (0, "Update Success")
    assert ada.refresh()["PrivateTasks"] == document["PrivateTasks"]
    assert [m["msg"] for m in ada.user["Messages"]] == [m["msg"] for m in document["Messages"]], "stored once"
    assert ada.user["Messages"][0]["IsRead"]
    assert ada.change(Messages=[]) == (0, "Update Success") and ada.refresh()["Messages"] == []

    code, path = ada.upload(png())
    assert code == 0 and ada.refresh()["img_path"] == path != user["img_path"]
    assert ada.send("GET", path).content == png()

    for one in (ada, bob):
        one.refresh()
        for task in one.user["TogetherTasks"]:
            task["IsFinished"] = True
        assert one.change() == (0, "Update Success")
    assert ada.refresh()["partner"] == bob.refresh()["partner"] == ""
    assert len(ada.user["TogetherTasks"]) == 9 and "both finished" in ada.user["Messages"][-1]["msg"]
    assert ada.match(2)[0] == 0
    assert ada.post("/match/cancel") == (0, "Success") and ada.get_match() == (1, "No queue info")


def test_seeds_own_swift_registers_reads_and_changes_the_picture(binary, server, tmp_path):
    """`PostRegister`, `PostGetUserInfo` and `PostChangeProt`, compiled as the document has them."""
    client, url = binary.with_name("companions-client"), f"http://{server.listeners['apps']}"
    (tmp_path / "one.jpg").write_bytes(jpeg(exif()))
    (tmp_path / "two.png").write_bytes(png())

    def run(*arguments) -> str:
        command = [client, url, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.splitlines()[-1]

    email = "swift@example.com"
    assert run("register", "史瑞琪和邓萌达", email, "密码 & more", tmp_path / "one.jpg") == "0 Register succeed"
    assert run("register", "Another", email, "other", tmp_path / "one.jpg") == "-1 Email has existed"
    info = json.loads(run("info", email, "密码 & more"))
    assert info.keys() == USER.keys() and info["username"] == "史瑞琪和邓萌达"
    assert run("picture", email, info["password"], tmp_path / "two.png").startswith("0 /img/")
    assert json.loads(run("info", email, info["password"]))["img_path"].endswith(".png")
    assert run("picture", email, "wrong", tmp_path / "two.png") == "-1 Post Failure"


def test_bytes_of_alamofire_are_understood(server):
    """A form as the library sends it: its boundary, a file with name and type, texts without a type."""
    boundary = "alamofire.boundary.9a1b2c3d4e5f6071"
    parts = [
        b'Content-Disposition: form-data; name="file"; filename="IMG_0001.jpg"\r\nContent-Type: image/jpeg\r\n\r\n'
        + jpeg(),
        'Content-Disposition: form-data; name="name"\r\n\r\n邓萌达邓萌达'.encode(),
        b'Content-Disposition: form-data; name="email"\r\n\r\nalamofire@example.com',
        b'Content-Disposition: form-data; name="pass"\r\n\r\nsecret',
    ]
    delimiter = f"--{boundary}\r\n".encode()
    body = delimiter + (b"\r\n" + delimiter).join(parts) + f"\r\n--{boundary}--\r\n".encode()
    phone = Phone(server, "alamofire")
    answer = phone.post("/register", body, headers={"content-type": f"multipart/form-data; boundary={boundary}"})
    assert answer == (0, "Register succeed")
    phone.password = "secret"
    assert phone.refresh()["username"] == "邓萌达邓萌达"


def test_curl_follows_the_same_walk(server, tmp_path):
    (tmp_path / "me.png").write_bytes(png())
    jar = tmp_path / "cookies"

    def curl(path: str, *arguments: str) -> dict:
        url = f"http://{server.listeners['apps']}/api{path}"
        done = subprocess.run(
            ["curl", "-sS", "-b", jar, "-c", jar, *arguments, url], capture_output=True, text=True, check=True
        )
        return json.loads(done.stdout)

    form = ("-F", "name=Curly", "-F", "email=curl@example.com", "-F", "pass=secret", "-F", f"file=@{tmp_path}/me.png")
    assert curl("/register", *form) == {"code": 0, "msg": "Register succeed"}
    assert curl("/login", "-d", "email=CURL@example.com&pass=secret") == {"code": 1, "msg": "Login success"}
    assert curl("/match", "-d", "TaskId=3&Email=curl@example.com") == {"code": 0, "msg": "add queue success"}
    assert curl("/match/cancel", "-X", "POST") == {"code": 0, "msg": "Success"}
    assert [plan["id"] for plan in curl("/plans")["plans"]] == [1, 2, 3, 4]


def test_names_of_the_document_are_accepted_and_can_be_sent(gateway_with):
    server = gateway_with(ENABLED | {"apps": {"companions": {"enabled": True, "names": "document"}}})
    phone = Phone(server, "document")
    assert phone.register() == (0, "Register succeed")
    login = {"email": phone.email, "pass": phone.password}
    user = phone.send("POST", "/UserInfo", data=login).json()
    assert {"together_tasks", "private_tasks", "friends", "messages", "current_task_id", "blood"} <= user.keys()
    assert not {"TogetherTasks", "PrivateTasks", "Friends"} & user.keys()
    phone.user = user
    tasks = [{"name": "Tea", "number": 1, "is_finished": True}]
    assert phone.change(private_tasks=tasks, blood="AB") == (0, "Update Success")
    read = phone.send("POST", "/UserInfo", data=login).json()
    assert (read["private_tasks"], read["blood"]) == (tasks, "AB")
    del phone.user["blood"]
    assert phone.change(private_tasks=tasks) == (0, "Update Success")
    assert phone.send("POST", "/UserInfo", data=login).json()["blood"] == "AB", "an absent value is unchanged"


def test_configured_limits_of_accounts_hold(gateway_with):
    limits = {"min_password": 8, "max_members": 1}
    server = gateway_with(ENABLED | {"apps": {"companions": {"enabled": True} | limits}})
    first, second = Phone(server, "first"), Phone(server, "second")
    assert first.register(**{"pass": "seven b"}) == (-1, "pass must be 8 to 1024 bytes")
    assert first.register(**{"pass": "eight by"}) == (0, "Register succeed")
    assert second.register() == (1, "Register error")


# Who may do what


def test_address_of_somebody_else_opens_nothing(phone, pair):
    first, second = pair
    stranger = phone("stranger")
    stranger.refresh()
    assert stranger.friend(first.email) == {"code": -1, "msg": "Email does not exist"} | {
        name: [] for name in ("TogetherTasks", "PrivateTasks", "Friends", "Messages")
    }
    for path in ("/match", "/GetMatch"):
        code, _ = stranger.post(path, {"TaskId": 1, "Email": first.email})
        assert code == (1 if path == "/GetMatch" else -1)
    before = first.refresh()
    for password in (MASTER, "114514", "", stranger.user["password"], stranger.password):
        forged = before | {"password": password, "bio": "owned", "Messages": []}
        data = json.dumps(forged).encode()
        assert stranger.post("/ChangeProfile", data, headers={"content-type": FORM}) == (-1, "Update Failure")
    form = {"email": (None, first.email), "pass": (None, stranger.user["password"])}
    assert stranger.post("/upload", files=form | {"file": ("a.png", png())}) == (-1, "Post Failure")
    assert first.refresh() == before
    # What the published app posts about the partner, with the master password.
    partner = second.friend(first.email) | {"password": MASTER, "partner": second.email, "bio": "owned"}
    code, _ = second.post("/ChangeProfile", json.dumps(partner).encode(), headers={"content-type": FORM})
    assert code == -1 and first.refresh() == before


def test_posted_document_cannot_make_friends_partners_or_tasks(phone, pair):
    first, second = pair
    stranger = phone("stranger")
    before = first.refresh()
    forged = {"name": "Anything", "number": 1, "comment": "x", "friendEmail": stranger.email, "IsFinished": True}
    assert first.change(
        Friends=[stranger.email], partner=stranger.email, CurrentTaskId=4, img_path="/img/../../etc/passwd",
        TogetherTasks=[forged], email=first.email.upper(),
        Messages=[*before["Messages"], {"msg": "From the system", "IsUser": False, "IsRead": False}],
    ) == (0, "Update Success")  # fmt: skip
    assert first.refresh() == before


def test_forged_cookies_and_pages_of_other_origins_are_nobody(server, phone):
    ada = phone("ada")
    cookie = ada.session.cookies["member_companions"]
    other = Phone(server, "other")
    email = {"TaskId": 1, "Email": ada.email}
    for value in (cookie[:-1], cookie[::-1], "", "x" * 43, f"{cookie}; member_companions={cookie}"):
        headers = {"cookie": f"member_companions={value}"}
        assert other.post("/GetMatch", email, headers=headers) == (1, "No queue info")
        assert other.post("/match", email, headers=headers)[0] == -1
    for headers in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
        assert ada.post("/match", email, headers=headers)[0] == -1
    assert ada.match()[0] == 0 and ada.post("/match/cancel")[0] == 0


def test_friend_sees_what_the_member_shows(phone, pair):
    first, second = pair
    assert first.change(mobile="13800138000", blood="O", bio="Hello") == (0, "Update Success")
    seen = second.friend(first.email)
    assert (seen["mobile"], seen["bio"], seen["password"]) == ("13800138000", "Hello", "*********")
    assert (seen["PrivateTasks"], seen["Messages"], seen["Friends"], seen["partner"]) == ([], [], [], "")
    assert first.post("/willing", {"share_mobile": "false"}) == (0, "Success")
    assert second.friend(first.email)["mobile"] == ""
    assert first.post("/block", {"email": second.email}) == (0, "Success")
    for one, other in ((first, second), (second, first)):
        assert one.friend(other.email)["code"] == -1
        assert one.refresh()["Friends"] == [] and one.user["partner"] == "" and one.user["TogetherTasks"] == []
    assert second.post("/block", {"email": first.email}) == (-1, "Email does not exist")
    assert first.post("/unblock", {"email": second.email}) == (0, "Success")


def test_friend_does_not_see_tasks_with_somebody_else(phone, pair):
    first, second = pair
    assert first.post("/match/leave") == (0, "Success")
    third = phone("third")
    assert second.match(4)[0] == 0 and third.match(4)[0] == 0
    assert second.refresh()["TogetherTasks"] and third.friend(second.email)["TogetherTasks"]
    seen = first.friend(second.email)
    assert seen["email"] == second.email and seen["TogetherTasks"] == []
    assert second.post("/match/leave") == (0, "Success")


def test_notice_that_comes_meanwhile_survives_clear_all(phone):
    ada, bob = phone("ada"), phone("bob")
    ada.refresh(), bob.refresh()
    assert ada.match(2)[0] == 0 and ada.refresh()["Messages"]
    assert bob.match(2)[0] == 0
    assert ada.change(Messages=[]) == (0, "Update Success")
    assert [message["msg"].split(":")[0] for message in ada.refresh()["Messages"]] == [
        'You have a companion for "A week of quiet hours"'
    ]
    assert bob.post("/match/leave") == (0, "Success")
    assert "has left" in ada.refresh()["Messages"][-1]["msg"]


def test_password_change_ends_sessions(server, phone):
    ada = phone("ada")
    ada.refresh()
    second = Phone(server, ada.name)
    assert second.login() == (1, "Login success")
    form = {"email": ada.email, "new_pass": "another secret"}
    assert ada.post("/password", form | {"pass": ada.user["password"]})[0] == -1, "a credential does not suffice"
    assert ada.post("/password", form | {"pass": ada.password}) == (0, "Success")
    assert second.get_match() == (1, "No queue info") and second.match()[0] == -1
    old = {"email": ada.email, "pass": ada.user["password"]}
    assert ada.post("/UserInfo", old) == (0, "Wrong Password")
    assert ada.login() == (0, "Wrong Password")
    assert ada.login("another secret") == (1, "Login success")


def test_willing_member_only_is_matched(phone):
    ada = phone("ada")
    assert ada.match(3)[0] == 0
    assert ada.post("/willing", {"willing": "false"}) == (0, "Success")
    assert ada.get_match() == (1, "No queue info") and ada.match(3)[0] == -1
    assert ada.post("/willing", {"willing": "true"}) == (0, "Success")
    assert ada.match(3)[0] == 0 and ada.post("/match/cancel")[0] == 0


# Limits and errors


def test_guesses_of_a_password_are_stopped_with_a_failure(phone):
    ada = phone("ada")
    codes = [ada.login("wrong")[0] for _ in range(40)]
    assert codes[0] == 0 and codes[-1] == -1, codes
    answer = ada.send("POST", "/login", data={"email": ada.email, "pass": ada.password})
    assert answer.json()["code"] == -1 and int(answer.headers["retry-after"]) > 0


def test_registrations_of_one_address_are_limited(server):
    address = next(_addresses)
    answers = [Phone(server, f"flood.{number}", address).register() for number in range(11)]
    assert [code for code, _ in answers] == [0] * 10 + [-1] and "too many accounts" in answers[-1][1]


def test_every_answer_has_a_text(server):
    phone = Phone(server, "anybody")
    with open("protos/apps/companions.proto") as file:
        lines = file.read().splitlines()
    paths = [line.split('"')[1].removeprefix("/api") for line in lines if "option (google.api.http)" in line]
    assert len(paths) > 20
    for path in [*paths, "/nothing", "/img/..%2f..%2fx.png"]:
        path = path.replace("{filename}", "unknown")
        for method in ("GET", "POST", "DELETE", "PUT"):
            for body in (b"", b"{", b"[]", b"email=a&email=b", b"\xff\xfe", b'{"email":7}'):
                answer = phone.send(method, path, data=body, headers={"content-type": FORM})
                if (method, path) == ("GET", "/inbox/watch") or answer.status_code == 200 and path == "/plans":
                    continue
                assert answer.json().get("msg"), (method, path, body, answer.status_code, answer.content)
    code, message = phone.post("/ChangeProfile", b"{not json", headers={"content-type": FORM})
    assert code == -1 and "JSON" in message
    assert phone.send("OPTIONS", "/login").status_code == 200


def test_hostile_forms_are_refused(server):
    """Forms that are cut, repeat a name, have too many parts, or a file where a text belongs."""
    phone = Phone(server, "forms")
    text = 'Content-Disposition: form-data; name="{}"\r\n\r\n{}'
    whole = [text.format("name", "Forms"), text.format("email", "forms@example.com"), text.format("pass", "secret")]
    file = 'Content-Disposition: form-data; name="{}"; filename="x"\r\n\r\nx'

    def send(parts: list[str], boundary: str = "b", end: str = "--\r\n") -> tuple[int, str]:
        body = "--b\r\n" + "\r\n--b\r\n".join(parts) + "\r\n--b" + end
        return phone.post("/register", body, headers={"content-type": f"multipart/form-data; boundary={boundary}"})

    hostile = {
        "cut": ([*whole], {"end": ""}),
        "another boundary": (whole, {"boundary": "c"}),
        "a boundary of 71 characters": (whole, {"boundary": "b" * 71}),
        "a repeated name": ([*whole, text.format("email", "other@example.com")], {}),
        "a file as the name": ([file.format("name"), *whole[1:]], {}),
        "a text as the file": ([*whole, text.format("file", "text")], {}),
        "33 parts": ([*whole, *[text.format(f"x{number}", "") for number in range(30)]], {}),
        "a header of 5 KiB": ([*whole, text.format("x" * 5000, "")], {}),
        "no name": (whole[1:], {}),
    }
    for name, (parts, changes) in hostile.items():
        code, message = send(parts, **changes)
        assert code == -1 and message, name
    assert rows(server, "SELECT * FROM companions_profiles WHERE email LIKE '%forms@%'") == []
    assert send(whole) == (0, "Register succeed")


# Pictures


def test_picture_is_stored_without_place_comment_or_trailer(phone):
    ada = phone("ada")
    xmp = segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0<x>48.137N</x>")
    comment = segment(0xFE, b"<script>alert(1)</script>")
    profile = segment(0xE2, b"ICC_PROFILE\0\x01\x01colours")
    zipped = b"PK\x03\x04 and a zip archive"
    code, path = ada.upload(jpeg(exif(), xmp, comment, profile) + zipped)
    assert code == 0
    answer = ada.send("GET", path)
    for removed in (b"48.137N", b"2026:01:31", b"script", b"PK\x03\x04", b"xap"):
        assert removed not in answer.content
    assert b"ICC_PROFILE" in answer.content and answer.content.startswith(b"\xff\xd8\xff\xe1\x00\x22Exif\0\0MM")
    assert answer.content.endswith(jpeg(profile)[2:]), "the orientation comes first, and the image is unchanged"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"] == "default-src 'none'"
    text = chunk(b"tEXt", b"Location\x0048.137N")
    code, path = ada.upload(png(2, 2, text, chunk(b"eXIf", b"48.137N")) + zipped)
    assert code == 0 and ada.send("GET", path).content == png()


def test_hostile_pictures_are_refused(phone):
    ada = phone("ada")
    ada.refresh()
    html = b"<html><script>alert(1)</script></html>"
    hostile = {
        "svg": b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>',
        "html": html,
        "gif": b"GIF89a=1;alert(1)//",
        "pdf": b"%PDF-1.7",
        "cut jpeg": jpeg()[:-8],
        "jpeg of a header": b"\xff\xd8\xff\xe0" + html,
    }
    for name, content in hostile.items():
        code, message = ada.upload(content, "me.jpg")
        assert code == -1 and message, name
    ada = phone("grace")
    ada.refresh()
    assert ada.upload(png(60_000, 60_000)) == (-1, "the picture must have at most 64 million pixels")
    assert ada.upload(jpeg() + b"\0" * (2 << 20))[0] == -1
    answer = ada.send("POST", "/upload", files={"file": ("a.jpg", jpeg() + b"\0" * (5 << 20))})
    assert answer.status_code == 413 and answer.json()["code"] == -1
    assert Phone.register(ada, hostile["svg"], email="svg@example.com")[0] == -1
    assert ada.refresh()["img_path"] == "/img/default.png"
    assert ada.send("GET", "/img/default.png").headers["content-type"] == "image/png"


def test_names_of_files_are_never_paths(server, phone):
    ada = phone("ada")
    for name in ("../../x.png", "/etc/passwd", "..\\x.png", "a" * 200 + ".php"):
        code, path = ada.upload(png(), name)
        assert code == 0 and path.startswith("/img/") and path.endswith(".png") and len(path) == 5 + 32 + 4
    assert not list(server.directory.rglob("*x.png"))
    for name in ("..%2f..%2fgateway.db", "%2e%2e%2fx.png", "x.png", "0" * 31 + "g.png"):
        assert ada.send("GET", f"/img/{name}").status_code == 404
    gone = ada.send("GET", "/img/" + "0" * 32 + ".png")
    assert gone.headers["cache-control"] == "no-store" and gone.content == ada.send("GET", "/img/default.png").content


# The end of an account, and operators


def test_deleted_account_leaves_no_row_and_no_picture(server, pair):
    first, second = pair
    assert first.upload(png(2, 2, chunk(b"gAMA", b"abcd")))[0] == 0
    path = first.refresh()["img_path"]
    picture = first.send("GET", path).content
    user = rows(server, "SELECT user_id FROM companions_profiles WHERE email = ?", first.email)[0][0]
    answer = first.send("DELETE", "/account")
    assert answer.json() == {"code": 0, "msg": "Success"} and "Max-Age=0" in answer.headers["set-cookie"]
    tables = [row[0] for row in rows(server, "SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in tables:
        columns = [row[1] for row in rows(server, f"SELECT * FROM pragma_table_info('{table}')")]
        for column in columns:
            if column in ("user_id", "first_id", "second_id", "partner_id", "friend_id", "blocked_id"):
                assert not rows(server, f"SELECT * FROM {table} WHERE {column} = ?", user), (table, column)
        if table.startswith(("companions_", "user")):
            texts = [str(row) for row in rows(server, f"SELECT * FROM {table} WHERE {columns[0]} IS NOT NULL")]
            found = [text for text in texts if first.email in text]
            # The partner's own messages stay.
            assert table == "companions_messages" or not found, (table, found)
    assert second.send("GET", path).content == second.send("GET", "/img/default.png").content
    assert first.login() == (-1, "Email does not exist")
    assert second.refresh()["partner"] == "" and second.user["Friends"] == []
    assert "account of your companion was deleted" in second.user["Messages"][-1]["msg"]
    assert second.match(4)[0] == 0 and second.post("/match/cancel")[0] == 0
    again = Phone(server, first.name)
    assert again.register() == (0, "Register succeed")
    user = again.refresh()
    assert [user[name] for name in ("Messages", "Friends", "TogetherTasks", "PrivateTasks", "partner")] == [[]] * 4 + [
        ""
    ]
    assert again.send("GET", user["img_path"]).content != picture


def test_account_that_an_operator_deletes_frees_the_partner(server, pair, login):
    first, second = pair
    name = rows(
        server,
        "SELECT u.name FROM users u JOIN companions_profiles p ON p.user_id = u.id WHERE p.email = ?",
        first.email,
    )[0][0]
    operator = login(server)
    operator.acting_for = "companions"
    operator.users("DeleteUser", user_name=name)
    assert second.get_match() == (1, "No queue info") and second.refresh()["partner"] == ""
    assert second.user["TogetherTasks"] == [] and second.user["Friends"] == []
    notices = [message["msg"] for message in second.user["Messages"]]
    assert [text for text in notices if "account of your companion was deleted" in text] == notices[-1:]
    assert second.match(4)[0] == 0 and second.post("/match/cancel")[0] == 0
    assert first.login() == (-1, "Email does not exist")


def test_match_is_reported_to_webhooks_without_addresses(gateway_with, receivers, tmp_path):
    (secret := tmp_path / "secret").write_text(SECRET)
    wanted, others = receivers(), receivers()
    hooks = {
        "matches": {"url": wanted.url, "secret_file": str(secret), "events": ["companions.matched"]},
        "objects": {"url": others.url, "secret_file": str(secret), "events": ["object.verified"]},
    }
    server = gateway_with(ENABLED | {"webhooks": hooks})
    first, second = Phone(server, "first.user"), Phone(server, "second.user")
    assert first.register()[0] == 0 and second.register()[0] == 0
    assert first.match(2)[0] == 0
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    answer = second.send(
        "POST", "/match", data={"TaskId": 2, "Email": second.email},
        headers={"traceparent": f"00-{trace}-00f067aa0ba902b7-01"},
    )  # fmt: skip
    assert answer.json()["code"] == 0
    assert second.match(2)[0] == -3, "a call that is refused reports nothing"
    ((match, title),) = rows(server, "SELECT id, title FROM companions_matches")
    (event,) = wanted.waits_for(f"matches/{match}")
    users = dict(rows(server, "SELECT email, user_id FROM companions_profiles"))
    made = event["data"].pop("made_at")
    assert made.startswith(event["timestamp"][:10])
    assert event["type"] == "companions.matched" and event["organization"] == "companions"
    assert event["data"] == {
        "match_id": match, "plan": 2, "title": title, "user_ids": [users[first.email], users[second.email]],
    }  # fmt: skip
    headers, body = wanted.requests[0]
    assert verify(KEY, headers, body) and trace in headers["traceparent"]
    assert b"example.com" not in body and b"user" not in body.replace(b"user_ids", b"")
    assert first.post("/match/leave")[0] == 0
    eventually(lambda: metrics(server, "pending") == {"matches": 0, "objects": 0})
    assert len(wanted.events) == 1 and others.events == []


def test_operators_announce_and_read_feedback(server, phone, login):
    ada = phone("ada")
    ada.refresh()
    assert ada.change(Messages=[{"msg": "Bigger buttons, please.", "IsUser": True, "IsRead": True}])[0] == 0
    operator = {"authorization": f"Bearer {login(server).token}", "x-organization": "companions"}
    base = f"http://{server.listeners['apps']}/api"
    assert requests.post(f"{base}/announcements", json={"text": "x"}, timeout=60).status_code == 401
    headers = operator | {"x-organization": "system"}
    assert requests.post(f"{base}/announcements", json={"text": "x"}, headers=headers, timeout=60).status_code == 403
    sent = requests.post(f"{base}/announcements", json={"text": "Closed on Monday."}, headers=operator, timeout=60)
    assert sent.json() == {"code": 0, "msg": "Success"}
    feedback = requests.get(f"{base}/feedback", headers=operator, timeout=60).json()["feedback"]
    assert [(entry["email"], entry["text"]) for entry in feedback if entry["email"] == ada.email] == [
        (ada.email, "Bigger buttons, please.")
    ]
    assert ada.refresh()["Messages"][-1]["msg"] == "Closed on Monday."
    assert [m["msg"] for m in ada.user["Messages"]].count("Closed on Monday.") == 1
    assert len(ada.refresh()["Messages"]) == 2
    assert phone("new").refresh()["Messages"] == [], "an account gets later announcements only"


def test_inbox_is_read_in_pages_and_watched(phone):
    ada, bob = phone("ada"), phone("bob")
    assert ada.match(4)[0] == 0
    inbox = ada.send("GET", "/inbox").json()
    assert (inbox["code"], len(inbox["messages"])) == (0, 1)
    position = inbox["messages"][0]["position"]
    assert ada.send("GET", f"/inbox?after={position}").json()["messages"] == []
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        # The response begins with the first message.
        accept = {"accept": "text/event-stream"}
        waiting = pool.submit(ada.send, "GET", f"/inbox/watch?after={position}", stream=True, headers=accept)
        assert bob.match(4)[0] == 0
        watch = waiting.result()
        assert watch.headers["content-type"].startswith("text/event-stream")
        line = next(line for line in watch.iter_lines() if line.startswith(b"data:"))
        assert b"You have a companion" in line
        watch.close()
    account = ada.send("GET", "/account").json()
    assert account["user"]["email"] == ada.email and account["willing"] is True and account["blocked"] == []
    assert bob.post("/match/leave")[0] == 0


def test_metrics_count_accounts_and_matches(server, pair):
    assert metric(server, "data_gateway_companions_registrations_total") >= 2
    assert metric(server, "data_gateway_companions_matches_total") >= 1
