"""The app for companions: the walk of the published app, the app's own Swift, and other programs."""

import json
import os
import subprocess

from support import process
from support.companions import CONFIGURATION, USER, Phone, exif, jpeg, png


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
        done = process.run(*command)
        return done.stdout.splitlines()[-1]

    email = "swift@example.com"
    assert run("register", "史瑞琪和邓萌达", email, "密码 & more", tmp_path / "one.jpg") == "0 Register succeed"
    assert run("register", "Another", email, "other", tmp_path / "one.jpg") == "-1 Email has existed"
    info = json.loads(run("info", email, "密码 & more"))
    assert info.keys() == USER.keys() and info["username"] == "史瑞琪和邓萌达"
    assert run("picture", email, info["password"], tmp_path / "two.png").startswith("0 /img/")
    assert json.loads(run("info", email, info["password"]))["img_path"].endswith(".png")
    assert run("picture", email, "wrong", tmp_path / "two.png") == "-1 Post Failure"


def test_tick_of_the_apps_own_tasks_reaches_the_partner(binary, server, phone, tmp_path):
    """The app makes the tasks of a match from a list of its own, and Foundation's client keeps the cookie of the session."""
    client, url = binary.with_name("companions-client"), f"http://{server.listeners['apps']}"

    def run(*arguments) -> str:
        done = process.run(client, url, *arguments, env=os.environ | {"XDG_DATA_HOME": str(tmp_path)})
        return done.stdout.splitlines()[-1]

    ada, bob = phone("tick"), phone("tock")
    assert run("match", ada.email, ada.password) == "0 add queue success"
    assert run("match", bob.email, bob.password) == "0 add queue success"
    assert run("tick", ada.email, ada.password, "十五分钟!") == "0 Update Success"
    first, *others = bob.friend(ada.email)["TogetherTasks"]
    assert (first["name"], first["comment"], first["IsFinished"]) == ("Leg bent", "十五分钟!", True)
    assert len(others) == 8 and not any(task["IsFinished"] for task in others)
    assert ada.refresh()["TogetherTasks"][0] == first | {"friendEmail": bob.email}
    ada.user["TogetherTasks"][1]["name"] = "Unknown"
    ada.user["TogetherTasks"].append(first)
    code, message = ada.change()
    assert code == -1 and "task 2 is unknown" in message


def test_cookie_has_the_spelling_that_foundation_looks_for(server, phone):
    ada = phone("spelling")
    response = ada.send("POST", "/login", data={"email": ada.email, "pass": ada.password})
    assert [name for name in response.raw.headers if name.lower() == "set-cookie"] == ["Set-Cookie"]


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
    response = phone.post("/register", body, headers={"content-type": f"multipart/form-data; boundary={boundary}"})
    assert response == (0, "Register succeed")
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
    server = gateway_with(CONFIGURATION | {"apps": {"companions": {"enabled": True, "names": "document"}}})
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
    server = gateway_with(CONFIGURATION | {"apps": {"companions": {"enabled": True} | limits}})
    first, second = Phone(server, "first"), Phone(server, "second")
    assert first.register(**{"pass": "seven b"}) == (-1, "pass must be 8 to 1024 bytes")
    assert first.register(**{"pass": "eight by"}) == (0, "Register succeed")
    assert second.register() == (1, "Register error")
