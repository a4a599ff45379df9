"""The app for companions: the end of an account, webhooks, announcements, the inbox and metrics."""

import concurrent.futures

import requests
from support.commands import OK, CommandLine
from support.companions import CONFIGURATION, Phone, chunk, png
from support.database import columns, rows, tables
from support.gateway import eventually
from support.monitoring import metric
from support.webhooks import KEY, SECRET, metrics, verify


def test_deleted_account_leaves_no_row_and_no_picture(server, pair):
    first, second = pair
    assert first.upload(png(2, 2, chunk(b"gAMA", b"abcd")))[0] == 0
    path = first.refresh()["img_path"]
    picture = first.send("GET", path).content
    user = rows(server, "SELECT user_id FROM companions_profiles WHERE email = ?", first.email)[0][0]
    response = first.send("DELETE", "/account")
    assert response.json() == {"code": 0, "msg": "Success"} and "Max-Age=0" in response.headers["set-cookie"]
    for table in tables(server):
        names = columns(server, table)
        for column in names:
            if column in ("user_id", "first_id", "second_id", "partner_id", "friend_id", "blocked_id"):
                assert not rows(server, f"SELECT * FROM {table} WHERE {column} = ?", user), (table, column)
        if table.startswith(("companions_", "user")):
            texts = [str(row) for row in rows(server, f"SELECT * FROM {table} WHERE {names[0]} IS NOT NULL")]
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


def test_operator_finds_a_member_by_address_and_resets_the_password(binary, server, phone, tmp_path):
    ada = phone("forgetful")
    operator = CommandLine(binary, server, tmp_path).login()
    within = ("--organization", "companions")
    (found,) = operator.json("user", "find", "--email", ada.email.upper(), *within)["users"]
    assert (found["email"], found["role"], found["issuer"]) == (ada.email, "member", "password")
    lines = rows(server, "SELECT target, organization, peer FROM audit WHERE action = 'FindUsersByEmail'")
    assert lines == [(f"users/{found['user_id']}", "companions", "127.0.0.1")]
    assert operator.json("user", "find", "--email", "nobody@example.com", *within)["users"] == []
    done = operator.run("user", "passwd", found["user_name"], "--password-stdin", *within, input="another secret\n")
    assert done.returncode == OK, done.stderr
    assert ada.send("POST", "/GetFriend", data={"email": ada.email}).json()["code"] == -1, "the session has ended"
    assert ada.login() == (0, "Wrong Password")
    assert ada.login("another secret") == (1, "Login success")


def test_match_is_reported_to_webhooks_without_addresses(gateway_with, receivers, tmp_path):
    (secret := tmp_path / "secret").write_text(SECRET)
    wanted, others = receivers(), receivers()
    hooks = {
        "matches": {"url": wanted.url, "secret_file": str(secret), "events": ["companions.matched"]},
        "objects": {"url": others.url, "secret_file": str(secret), "events": ["object.verified"]},
    }
    server = gateway_with(CONFIGURATION | {"webhooks": hooks})
    first, second = Phone(server, "first.user"), Phone(server, "second.user")
    assert first.register()[0] == 0 and second.register()[0] == 0
    assert first.match(2)[0] == 0
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    response = second.send(
        "POST", "/match", data={"TaskId": 2, "Email": second.email},
        headers={"traceparent": f"00-{trace}-00f067aa0ba902b7-01"},
    )  # fmt: skip
    assert response.json()["code"] == 0
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
