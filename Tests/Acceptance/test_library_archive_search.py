"""The app for archives: search in a library."""

import json
import random

import pytest
from support.library_archive import OPEN_TO_ALL, Phone, archive, book, digest, identifier, search


@pytest.fixture(scope="module")
def searched(gateway_with) -> Phone:
    """A library of 10,000 digests, the last of which was changed last."""
    phone = Phone(gateway_with(OPEN_TO_ALL))
    lots = random.Random(7)
    names = "天地玄黄宇宙洪荒日月盈昃辰宿列张寒来暑往秋收冬藏"
    digests = []
    for number in range(10_000):
        content = "".join(lots.choices(names, k=40))
        if number % 1000 == 500:
            content = f"{content[:20]}甲{content[20:]}"
        updated = f"2020-01-01T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}.000Z"
        digests.append(digest(number, content, number % 2, updated=updated))
    special = {
        20_000: "0123456789ABCDEFGHIJ Straße needle KLMNOPQRST9876543210",
        20_001: "NEEDLE at the beginning",
        20_002: "at the end needle",
        20_003: "😀😀 NeeDLe 👩‍👩‍👧‍👦👩‍👩‍👧‍👦 needle 😀 tail of more than ten characters",
        20_004: "İstanbul Ǆ ǆ ΣΑΣ",
        20_005: "😀 𐐔𐐇𐐝𐐀𐐡𐐇𐐓 İzmir",
    }
    digests += [
        digest(number, text, updated=f"2021-01-01T00:00:{number - 20_000:02}.000Z", of=book(1, "书"))
        for number, text in special.items()
    ]
    books = [book(1, "书", [identifier(number) for number in special])]
    assert phone.take(archive({"books": books, "creators": [], "tags": [], "digests": digests})) == (200, {"ok": True})
    return phone


def hits(result: dict) -> list[str]:
    """Returns the marked parts, by UTF-16 units."""
    units = result["content"].encode("utf-16-le")
    return [
        units[2 * one["start"] : 2 * (one["start"] + one["length"])].decode("utf-16-le") for one in result["ranges"]
    ]


def test_search_finds_a_character_in_ten_thousand_digests_page_by_page(searched):
    first, second = search(searched, "甲"), search(searched, "甲", page=1)
    assert first["hasMore"] is True and second["hasMore"] is False
    found = [one["id"] for one in first["results"] + second["results"]]
    assert found == [identifier(number) for number in range(9500, 0, -1000)] and len(first["results"]) == 5
    for one in first["results"]:
        assert len(one["content"]) == 21 and one["content"][10] == "甲" and hits(one) == ["甲"]
        assert (one["ranges"], one["bookName"]) == ([{"start": 10, "length": 1}], "")
    assert search(searched, "甲", "paragraph") == {"results": [], "hasMore": False}
    assert search(searched, "甲", page=2) == {"results": [], "hasMore": False}


def test_search_ignores_case_and_counts_utf16(searched):
    results = search(searched, "nEEdle")["results"]
    assert [one["id"] for one in results] == [identifier(number) for number in (20_003, 20_002, 20_001, 20_000)]
    emoji, end, beginning, middle = results
    assert hits(emoji) == ["NeeDLe", "needle"] and emoji["content"].startswith("😀😀 NeeDLe")
    assert emoji["content"].endswith(" 😀 tail of") and emoji["ranges"][0]["start"] == 5
    assert (end["content"], hits(end)) == ("t the end needle", ["needle"])
    assert (beginning["content"], hits(beginning)) == ("NEEDLE at the be", ["NEEDLE"])
    assert (middle["content"], hits(middle)) == ("IJ Straße needle KLMNOPQRS", ["needle"])
    assert middle["bookName"] == "书"
    assert hits(search(searched, "σας")["results"][0]) == ["ΣΑΣ"]
    assert hits(search(searched, "ǆ")["results"][0]) == ["Ǆ", "ǆ"]
    assert hits(search(searched, "😀")["results"][1]) == ["😀", "😀", "😀"]
    # Letters outside of the Basic Multilingual Plane are two units each; the capital I with a dot has no simple lower case.
    assert hits(search(searched, "𐐼𐐯𐑅𐐨𐑉𐐯𐐻")["results"][0]) == ["𐐔𐐇𐐝𐐀𐐡𐐇𐐓"]
    dotted = search(searched, "İZMIR")["results"][0]
    assert hits(dotted) == ["İzmir"] and search(searched, "izmir")["results"] == []


def test_search_without_a_keyword_finds_nothing_and_refuses_what_is_not_valid(searched):
    assert search(searched, "") == {"results": [], "hasMore": False}
    assert search(searched, "100% _ nothing like this'") == {"results": [], "hasMore": False}
    for query, message in {
        "keyword=a&type=word": "type must be sentence or paragraph",
        "keyword=a&type=sentence&page=-1": "page must be 0 to 20000",
        f"keyword={'a' * 101}&type=sentence": "keyword must be at most 100 characters",
    }.items():
        status, _, body = searched.raw("GET", f"/search?{query}")
        assert (status, json.loads(body)) == (500, {"message": message})
