"""The filter of ListObjects compared with a simple evaluator: random filters over a growing catalog.

A filter is generated as a tree with its text, and the tree determines the matching objects. So the parser, the search
tables and the pages have to agree with a few lines of Python that use none of them.
"""

import datetime
import random
import threading
import time
from dataclasses import dataclass

import pytest
from support.database import changing
from support.parties import PASSWORD, Fleet, User
from support.uploads import completed, content

HOUR = 3600
#: The numbers of objects and filters, and those with --full.
SHORT, FULL = (600, 300), (5000, 20_000)

DEVICES = [f"2611{day}-00000{number}" for day in ("20", "21") for number in range(1, 6)]
TAGS = {
    "weather": ["rain", "Rain", "heavy rain", "sun", "snow"],
    "route name": ["north", "North loop", "Nordring", 'the "short" one', "ÉTÉ"],
    "run": [f"run-{number}" for number in range(12)],
    "k": ["", "a=b:c", "(x)", "名前", "f(1)"],
}
WORDS = [
    "rain",
    "RAIN",
    "r",
    "heavy",
    "nor",
    "north l",
    "north",
    "run-1",
    "run",
    "261121",
    "2611",
    "été",
    "名",
    "the",
    "zzz",
]


@dataclass
class Object:
    id: str
    organization: int
    site: int
    device: str | None
    size: int
    #: In seconds since 1970.
    created: int
    tags: dict[str, str]
    is_trashed: bool

    @property
    def name(self) -> str:
        """The name of an object without a name from its client."""
        time_ = datetime.datetime.fromtimestamp(self.created, datetime.UTC).strftime("%Y-%m-%dT%H-%M-%SZ")
        return f"{self.device or f'site-{self.site}'}_{time_}"


def catalog(count: int, organizations: list[int], now: int, choose: random.Random) -> list[Object]:
    """Returns objects in the order of storage, oldest first; their creation times follow that order only roughly."""
    return [
        Object(
            id=f"0197{number:08x}-7000-8000-000000000000",
            organization=choose.choice(organizations),
            site=choose.randrange(1, 4),
            device=choose.choice([None, *DEVICES]),
            size=choose.choice([0, 1, 1000, 1024, 1 << 20, 1_500_000, 3 << 20, 5_000_000_000]),
            created=now - (count - number) * HOUR // 20 // HOUR * HOUR - choose.randrange(8) * HOUR - HOUR // 2,
            tags={key: choose.choice(values) for key, values in TAGS.items() if choose.random() < 0.7},
            is_trashed=choose.random() < 0.1,
        )
        for number in range(count)
    ]


def store(database, objects: list[Object]) -> None:
    """Inserts objects like a gateway of an earlier version: without rows in the search tables."""
    for one in objects:
        time_ = one.created * 1_000_000
        position = database.execute(
            """
            INSERT INTO objects (id, file_id, upload_id, organization_id, site_id, suite_id, device_id, bucket, object_key,
                size, etag, created_at, uploaded_at, verified_at, trashed_at)
            VALUES ($id, $id, $id, $organization, $site, NULL, $device, 'data', $id, $size, '"A"', $time, $time, $time,
                $trashed) RETURNING position
            """,
            {
                "id": one.id,
                "organization": one.organization,
                "site": one.site,
                "device": one.device,
                "size": one.size,
                "time": time_,
                # The grace period of the trash is longer than the test.
                "trashed": int(time.time()) * 1_000_000 if one.is_trashed else None,
            },
        ).fetchone()[0]
        database.executemany(
            "INSERT INTO object_tags (position, key, value) VALUES (?, ?, ?)",
            [(position, key, value) for key, value in one.tags.items()],
        )
    database.execute("INSERT INTO search_upgrade (id, position) SELECT 1, max(position) + 1 FROM objects")


# Filters


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def written(text: str, choose: random.Random) -> str:
    """Returns a value or a key, in quotes if necessary, and sometimes if not."""
    is_plain = text and not set(text) & set(' "()=:<>*') and text not in ("AND", "OR", "NOT", "site")
    return text if is_plain and choose.random() < 0.8 else quoted(text)


def rfc3339(seconds: int) -> str:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


COMPARE = {
    "<": lambda value, first, last: value < first,
    "<=": lambda value, first, last: value <= last,
    ">": lambda value, first, last: value > last,
    ">=": lambda value, first, last: value >= first,
    "=": lambda value, first, last: first <= value <= last,
    ":": lambda value, first, last: first <= value <= last,
}


def begins(one: Object, word: str) -> bool:
    """Whether the device or the value of a tag begins with a word."""
    return any(each.lower().startswith(word.lower()) for each in [one.device or "", *one.tags.values()])


def finds(word: str, name: str) -> bool:
    """Whether a name contains a word, both in lower case; a short one only at a border."""
    if len(word) > 2:
        return word in name
    kinds = ["0" if each.isdigit() else "a" if each.isalpha() else f"other {place}" for place, each in enumerate(name)]
    borders = [place for place, kind in enumerate(kinds) if place == 0 or kind != kinds[place - 1]]
    return any(name.startswith(word, place) for place in borders)


class Term:
    """A text, and the objects that it matches."""

    def __init__(self, text: str, matches):
        self.text, self.matches = text, matches

    @classmethod
    def random(cls, objects: list[Object], choose: random.Random) -> "Term":
        kind = choose.choice(
            [
                "tag",
                "tag",
                "word",
                "word",
                "beginning",
                "device",
                "prefix",
                "name",
                "site",
                "size",
                "created",
                "day",
                "age",
                "id",
                "trash",
                "content_type",
            ]
        )
        return getattr(cls, kind)(objects, choose)

    @classmethod
    def tag(cls, objects, choose):
        key = choose.choice(list(TAGS))
        value = choose.choice([*TAGS[key], "none"])
        name = choose.choice(["", "raw_tags."]) + (key if " " not in key else quoted(key))
        operator = choose.choice("=:") if name.startswith("raw_tags.") else "="
        return cls(f"{name}{operator}{written(value, choose)}", lambda one: one.tags.get(key) == value)

    @classmethod
    def word(cls, objects, choose):
        word = choose.choice(WORDS)
        if choose.random() < 0.5:
            name = choose.choice(objects).name
            start = choose.randrange(len(name))
            word = choose.choice([str.upper, str.lower])(name[start : start + choose.choice([1, 2, 3, 4, 8, 20])])
        return cls(written(word, choose), lambda one: finds(word.lower(), one.name.lower()) or begins(one, word))

    @classmethod
    def beginning(cls, objects, choose):
        word = choose.choice([*WORDS, choose.choice(objects).name[: choose.randrange(1, 20)]])
        text = choose.choice([written(word, choose) + "*", "begins:" + written(word, choose)])
        return cls(text, lambda one: one.name.lower().startswith(word.lower()) or begins(one, word))

    @classmethod
    def device(cls, objects, choose):
        device = choose.choice([*DEVICES, "261120-000009"])
        return cls(f"device{choose.choice(':=')}{device}", lambda one: one.device == device)

    @classmethod
    def prefix(cls, objects, choose):
        device = choose.choice(DEVICES)
        prefix = device[: choose.randrange(1, len(device) + 1)]
        return cls(f"device:{prefix}*", lambda one: (one.device or "").startswith(prefix))

    @classmethod
    def name(cls, objects, choose):
        name = choose.choice(objects).name
        if choose.random() < 0.3:
            return cls(f"name{choose.choice(':=')}{quoted(name)}", lambda one: one.name == name)
        if choose.random() < 0.5:
            start = choose.randrange(len(name))
            part = name[start : choose.randrange(start + 1, len(name) + 1)]
            if choose.random() < 0.5:
                return cls(f"name:{quoted('*' + part)}", lambda one: one.name.lower().endswith(part.lower()))
            return cls(f"name:{quoted('*' + part.upper() + '*')}", lambda one: part.lower() in one.name.lower())
        prefix = name[: choose.randrange(1, len(name) + 1)]
        text = choose.choice([prefix, prefix.upper()])
        return cls(f"name:{quoted(text)}*", lambda one: one.name.lower().startswith(prefix.lower()))

    @classmethod
    def content_type(cls, objects, choose):
        text, is_match = choose.choice(
            [("application/*", True), ("application/octet-stream", True), ("app*", True), ("video/*", False)]
        )
        return cls(f"content_type:{text}", lambda one: is_match)

    @classmethod
    def trash(cls, objects, choose):
        """Whatever else a filter contains, `trashed` makes it find objects in the trash."""
        is_trashed = choose.random() < 0.5
        return cls(f"trashed{choose.choice(':=')}{str(is_trashed).lower()}", lambda one: one.is_trashed == is_trashed)

    @classmethod
    def site(cls, objects, choose):
        site = choose.randrange(1, 5)
        return cls(f"site{choose.choice(':=')}{site}", lambda one: one.site == site)

    @classmethod
    def size(cls, objects, choose):
        text, size = choose.choice(
            [
                ("0", 0),
                ("1000", 1000),
                ("1kB", 1000),
                ("1KiB", 1024),
                ("1MiB", 1 << 20),
                ("1.5MB", 1_500_000),
                ("5GB", 5 * 10**9),
            ]
        )
        operator = choose.choice(list(COMPARE))
        return cls(f"size{operator}{text}", lambda one: COMPARE[operator](one.size, size, size))

    @classmethod
    def created(cls, objects, choose):
        seconds = choose.choice(objects).created + choose.choice([-1, 0, 0, 1])
        operator = choose.choice(list(COMPARE))
        text = choose.choice([rfc3339(seconds), quoted(rfc3339(seconds))])
        return cls(f"created{operator}{text}", lambda one: COMPARE[operator](one.created, seconds, seconds))

    @classmethod
    def day(cls, objects, choose):
        first = choose.choice(objects).created // 86_400 * 86_400
        operator = choose.choice(list(COMPARE))
        return cls(
            f"created{operator}{rfc3339(first)[:10]}", lambda one: COMPARE[operator](one.created, first, first + 86_399)
        )

    @classmethod
    def age(cls, objects, choose):
        """An object's age is the one at the time of each match."""
        hours = choose.choice([1, 5, 24, 48, 168])
        operator = choose.choice(["<", "<=", ">", ">="])
        text = f"{hours // 24}d" if hours % 24 == 0 else f"{hours}h"
        return cls(
            f"age{operator}{text}",
            lambda one: COMPARE[operator](int(time.time()) - one.created, hours * HOUR, hours * HOUR),
        )

    @classmethod
    def id(cls, objects, choose):
        one = choose.choice(objects)
        return cls(f"object_id={one.id}", lambda other: other.id == one.id)


def expression(objects, choose: random.Random, depth: int = 0):
    """Returns a filter's text, the precedence of its outermost operator (0 = OR, 1 = AND, 2 = neither), and its matches."""
    kind = choose.random()
    if depth == 3 or kind < 0.4:
        term = Term.random(objects, choose)
        return term.text, 2, term.matches
    if kind < 0.55:
        text, strength, matches = expression(objects, choose, depth + 1)
        return f"NOT {text if strength == 2 else f'({text})'}", 2, lambda one: not matches(one)
    children = [expression(objects, choose, depth + 1) for _ in range(2)]
    is_and = kind < 0.8
    texts = [text if strength > (0 if is_and else -1) else f"({text})" for text, strength, _ in children]
    if not is_and:
        texts = [f"({text})" if choose.random() < 0.2 else text for text in texts]
    separator = choose.choice([" ", " AND ", "  AND "]) if is_and else choose.choice([" OR ", "  OR  "])
    matchers = [matches for _, _, matches in children]
    combine = all if is_and else any
    return separator.join(texts), int(is_and), lambda one: combine(matches(one) for matches in matchers)


def walk(user: User, filter: str, size: int, limit: int) -> list[str]:
    ids, token = [], ""
    for _ in range(limit):
        page = user.objects("ListObjects", filter=filter, page_size=size, page_token=token)
        assert len(page.objects) <= size
        ids += [found.object_id for found in page.objects]
        if not (token := page.next_page_token):
            return ids
    raise AssertionError(f"the pages of {filter!r} do not end")


@pytest.fixture
def growing(gateway_with, stubs, is_full, login):
    """A gateway with a catalog of two organizations, to which a device keeps adding; with users by organization, and objects."""
    ours = gateway_with(
        {
            "auth": {"access_token_lifetime_seconds": 86_400},
            "scrub": {"bytes_per_second": 0},
            "uploads": {"calls_per_minute": 0},
            "log": {"level": "info"},
        }
    )
    admin = login(ours)
    fields = {"organization": "field", "bootstrap_admin_user_name": "boss", "bootstrap_admin_password": PASSWORD}
    boss = admin.admin("CreateOrganization", **fields).bootstrap_admin
    fleet = Fleet.create(admin)
    ours.stop()
    now = int(time.time())
    choose = random.Random(18)
    with changing(ours) as database:
        system = database.execute("SELECT id FROM organizations WHERE name = 'system'").fetchone()[0]
        objects = catalog((FULL if is_full else SHORT)[0], [system, boss.organization_id], now, choose)
        store(database, objects)
        # No word of a filter is in the name of a site.
        for (site,) in database.execute("SELECT id FROM sites").fetchall():
            database.execute("UPDATE sites SET name = ? WHERE id = ?", ("ⵣ" * site, site))
    ours.start()
    users = {None: login(ours), boss.organization_id: User.login(ours, stubs, "field", "boss", PASSWORD)}
    uploader = fleet.uploader()
    is_over = threading.Event()

    def add() -> None:
        number = 0
        # More and more rarely, so that the pages of the long form do not become ever more.
        while not is_over.wait(0.02 + number / 50_000):
            number += 1
            completed(uploader, content(1000), {"weather": "rain", "run": f"run-{number % 12}"})

    thread = threading.Thread(target=add)
    thread.start()
    yield users, objects
    is_over.set()
    thread.join()


def test_random_filters_find_what_a_plain_evaluator_finds(growing, is_full):
    users, objects = growing
    ids = {one.id for one in objects}
    choose = random.Random(2026)
    matched = 0
    for _ in range((FULL if is_full else SHORT)[1]):
        text, _, matches = expression(objects, choose)
        organization = choose.choice(list(users))
        shows_trash = "trashed" in text
        size = choose.choice([1, 7, 50, 200, 1000]) if not is_full else choose.choice([50, 200, 1000])

        def evaluated() -> list[str]:
            return [
                one.id
                for one in reversed(objects)
                if (organization is None or one.organization == organization)
                and (shows_trash or not one.is_trashed)
                and matches(one)
            ]

        expected = evaluated()
        if size < 50 and len(expected) > 30:
            size = 50
        seen = [each for each in walk(users[organization], text, size, 2000) if each in ids]
        if seen != expected and expected != evaluated():
            continue  # Meanwhile, objects have become older than an age of this filter.
        assert seen == expected, text
        matched += len(seen)
    assert matched > 1000, "the filters matched next to nothing"


def test_counts_are_those_of_the_lists(growing):
    """For filters that the newly added objects do not match."""
    users, objects = growing
    for organization, user in users.items():
        own = [one for one in objects if organization in (None, one.organization) and not one.is_trashed]
        for text, matches in [
            ("created<2026-01-01", lambda one: False),
            ("site=2 age>20h", lambda one: one.site == 2 and time.time() - one.created > 20 * HOUR),
            (
                "device:261121-* age>20h",
                lambda one: (one.device or "").startswith("261121-") and time.time() - one.created > 20 * HOUR,
            ),
        ]:
            found = [one for one in own if matches(one)]
            reply = user.object_management("GetObjectFacets", filter=text)
            assert (reply.count, reply.is_exact) == (len(found), True), text
            for facet in reply.facets:
                for value in facet.values:
                    if facet.name == "device":
                        assert value.objects == sum(one.device == value.value for one in found)
                    if facet.name == "raw_tags.weather":
                        assert value.objects == sum(one.tags.get("weather") == value.value for one in found)


def test_all_objects_are_counted_after_the_upgrade(growing):
    users, objects = growing
    (organization,) = [each for each in users if each is not None]
    reply = users[organization].object_management("GetObjectFacets")
    assert (
        reply.count == sum(one.organization == organization and not one.is_trashed for one in objects)
        and reply.is_exact
    )
