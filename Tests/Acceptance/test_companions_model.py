"""Matching of companions under many callers and kills: nobody has two partners or a blocked one, and each side is told once.

With `--full` (scripts/lab companions_model): 200 users, 16 callers, 20,000 operations, 10 kills.
"""

import contextlib
import random
import threading
from collections import Counter, defaultdict

import requests
from support.companions import CONFIGURATION, Phone
from support.database import reading, rows
from support.gateway import Gateway, eventually
from support.webhooks import SECRET, Receiver, metrics

SEED = 20261124
PLANS = (1, 2)


class World:
    """The users, and what was answered to each."""

    def __init__(self, gateway: Gateway, count: int):
        self.gateway = gateway
        self.phones = [Phone(gateway, f"user{number:03}", f"203.0.{number // 8}.7") for number in range(count)]
        #: A user's phone makes one call at a time, as the app does.
        self.locks = [threading.Lock() for _ in range(count)]
        #: The partners that GetMatch told each user, in order.
        self.reported = [[] for _ in range(count)]
        self.responses: Counter = Counter()
        self.faults: list[str] = []

    def register(self) -> None:
        for phone in self.phones:
            assert phone.register() == (0, "Register succeed")
            phone.refresh()

    def operate(self, choice: random.Random) -> None:
        """Makes one random call of a random user. A call that a kill cuts off may have had its effect."""
        number = choice.randrange(len(self.phones))
        phone = self.phones[number]
        kind = choice.choices(
            ["match", "told", "cancel", "leave", "block", "unblock", "finish"], [40, 25, 8, 6, 3, 6, 12]
        )[0]
        with self.locks[number], contextlib.suppress(requests.RequestException):
            if kind == "match":
                code, _ = phone.match(choice.choice(PLANS))
            elif kind == "told":
                code, partner = phone.get_match()
                if code == 0:
                    self.reported[number].append(partner)
            elif kind == "finish":
                phone.refresh()
                for task in phone.user["TogetherTasks"]:
                    task["IsFinished"] = True
                code, _ = phone.change()
            elif kind in ("block", "unblock"):
                # Only friends can be blocked.
                friends = self.reported[number][-3:] or [choice.choice(self.phones).email]
                code, _ = phone.post(f"/{kind}", {"email": choice.choice(friends)})
            else:
                code, _ = phone.post(f"/match/{kind}")
            self.responses[kind, code] += 1

    def look(self) -> None:
        """Checks what has to hold at every moment, on one snapshot."""
        with reading(self.gateway) as database:
            database.execute("BEGIN")
            wrong = {
                "queue and matches": """
                    SELECT user_id FROM companions_queue WHERE user_id IN (SELECT user_id FROM companions_partners)""",
                "a side without the other": """
                    SELECT s.user_id FROM companions_partners s LEFT JOIN companions_partners o
                    ON o.user_id = s.partner_id AND o.partner_id = s.user_id AND o.match_id = s.match_id
                    WHERE o.user_id IS NULL""",
                "a blocked partner": """
                    SELECT s.user_id FROM companions_partners s JOIN companions_blocks b
                    ON b.user_id = s.user_id AND b.blocked_id = s.partner_id""",
                "a match that has ended for one": """
                    SELECT s.user_id FROM companions_partners s JOIN companions_matches m ON m.id = s.match_id
                    WHERE m.ended_at IS NOT NULL""",
                "a match with oneself": "SELECT id FROM companions_matches WHERE first_id = second_id",
            }
            self.faults += [
                f"{name}: {found}" for name, query in wrong.items() if (found := database.execute(query).fetchall())
            ]

    def history(self) -> None:
        """Checks that matches of a user do not overlap, none was made with a blocked one, and each was told at most once."""
        with reading(self.gateway) as database:
            numbers = dict(database.execute("SELECT email, user_id FROM companions_profiles"))
            matches = database.execute(
                "SELECT id, first_id, second_id, made_at, ended_at FROM companions_matches ORDER BY id"
            )
            matches = matches.fetchall()
            blocks = {(a, b): since for a, b, since in database.execute("SELECT * FROM companions_blocks")}
            sides = dict(database.execute("SELECT user_id, told_at IS NOT NULL FROM companions_partners"))
        emails = {number: email for email, number in numbers.items()}
        for number, phone in enumerate(self.phones):
            user = numbers[phone.email]
            own = [match for match in matches if user in match[1:3]]
            for earlier, later in zip(own, own[1:], strict=False):
                assert earlier[4] is not None and earlier[4] <= later[3], f"{phone.email} was in two matches"
            partners = [emails[b if a == user else a] for _, a, b, _, _ in own]
            rest = iter(partners)
            assert all(partner in rest for partner in self.reported[number]), (self.reported[number], partners)
            if own and own[-1][4] is None:
                assert sides[user] and self.reported[number][-1:] == [partners[-1]], f"{phone.email} was not told"
        for _, first, second, made, _ in matches:
            for pair in ((first, second), (second, first)):
                assert pair not in blocks or made <= blocks[pair], "somebody was matched with a blocked one"


def run(world: World, callers: int, operations: int, kills: int) -> None:
    """Lets callers make their calls; between equal parts of them, the process is killed while they call."""
    parts = kills + 1
    for part in range(parts):
        left = threading.Semaphore(operations // parts)
        most = threading.Event()
        made = Counter()

        def call(seed: int, left=left, most=most, made=made) -> None:
            choice = random.Random(seed)
            while left.acquire(blocking=False):
                world.operate(choice)
                made[0] += 1
                if made[0] * 10 >= 9 * operations // parts:
                    most.set()
            most.set()

        threads = [threading.Thread(target=call, args=(f"{SEED} {part} {number}",)) for number in range(callers)]
        ended = threading.Event()

        def watch(ended=ended) -> None:
            while not ended.is_set():
                world.look()

        watcher = threading.Thread(target=watch)
        watcher.start()
        for thread in threads:
            thread.start()
        if part < kills:
            most.wait()
            world.gateway.kill()
        for thread in threads:
            thread.join()
        ended.set()
        watcher.join()
        if part < kills:
            world.gateway.start()


def test_matching_keeps_its_rules(gateway_with, receivers, tmp_path, is_full):
    # Pairs may meet again at once, so that there are many matches; the limits of one user are above what callers can reach.
    companions = {"enabled": True, "rematch_days": 0}
    (secret := tmp_path / "secret").write_text(SECRET)
    receiver = receivers()
    hook = {"url": receiver.url, "secret_file": str(secret), "events": ["companions.matched"]}
    changes = {"apps": {"companions": companions}, "webhooks": {"matches": hook}}
    world = World(gateway_with(CONFIGURATION | changes), 200 if is_full else 24)
    world.register()
    if is_full:
        run(world, callers=16, operations=20_000, kills=10)
    else:
        run(world, callers=8, operations=900, kills=1)
    # A lost answer may have told a match: after kills, that is all that may be missing.
    lost = reported_without_response(world)
    for number, phone in enumerate(world.phones):
        for _ in range(2):
            code, partner = phone.get_match()
            if code == 0:
                world.reported[number].append(partner)
        if phone.email in lost and world.reported[number][-1:] != [lost[phone.email]]:
            world.reported[number].append(lost[phone.email])
    world.look()
    assert world.faults == []
    world.history()
    check_events(world, receiver)
    counts = world.responses
    assert counts["match", 0] > 50 and counts["told", 0] > 10 and counts["finish", 0] > 10, counts
    assert counts["match", -3] and counts["match", -2] and counts["leave", 0] and counts["block", 0], counts


def check_events(world: World, receiver: Receiver) -> None:
    """Checks that each match has one event, and no other has one: a repetition after a kill has the same id."""
    eventually(lambda: metrics(world.gateway, "pending") == {"matches": 0}, seconds=120)
    assert metrics(world.gateway, "dead") == {"matches": 0}
    ids: dict[str, set] = defaultdict(set)
    for event in receiver.taken:
        ids[event["subject"]].add(event["id"])
    matches = {f"matches/{match}" for (match,) in rows(world.gateway, "SELECT id FROM companions_matches")}
    assert ids.keys() == matches and all(len(found) == 1 for found in ids.values())


def reported_without_response(world: World) -> dict[str, str]:
    """Returns the partners of users whose match counts as told: an answer that a kill cut off."""
    query = """
        SELECT p.email, o.email FROM companions_partners s JOIN companions_profiles p ON p.user_id = s.user_id
        JOIN companions_profiles o ON o.user_id = s.partner_id WHERE s.told_at IS NOT NULL"""
    return dict(rows(world.gateway, query))
