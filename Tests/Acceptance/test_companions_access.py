"""The app for companions: who may do what, who sees what, limits, and hostile forms."""

import json

from support import companions
from support.companions import FORM, Phone, addresses, png
from support.database import rows

CONFIGURATION = companions.CONFIGURATION
#: The password of the public server that opened everybody's account.
MASTER = "a98f9eaa6ff801c24e30a6f4619b23b59393ceea9b7b4c65700a5a38cff95c98"


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


def test_forged_cookies_and_pages_of_other_origins_are_not_signed_in(server, phone):
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
    response = ada.send("POST", "/login", data={"email": ada.email, "pass": ada.password})
    assert response.json()["code"] == -1 and int(response.headers["retry-after"]) > 0


def test_registrations_of_one_address_are_limited(server):
    address = next(addresses)
    responses = [Phone(server, f"flood.{number}", address).register() for number in range(11)]
    assert [code for code, _ in responses] == [0] * 10 + [-1] and "too many accounts" in responses[-1][1]


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
                response = phone.send(method, path, data=body, headers={"content-type": FORM})
                if (method, path) == ("GET", "/inbox/watch") or response.status_code == 200 and path == "/plans":
                    continue
                assert response.json().get("msg"), (method, path, body, response.status_code, response.content)
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
