"""ListObjects and RequestDownload: the results for users."""

import hashlib
import os
import re
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.oss import CLIENTS
from support.parties import User, unique
from support.raw import fetch_url
from support.refusal import refused
from support.uploads import FILE_NAME_TAG, Upload, completed, content


def test_uploaded_file_is_listed_and_downloaded(uploader, admin, run, stubs):
    """The main purpose: a file in three parts is completed, listed and downloaded with equal bytes."""
    data = content(2 * 1024 * 1024 + 12345)
    upload = Upload.create(uploader).multipart(data)
    before = int(time.time())
    upload.complete({FILE_NAME_TAG: "run 1.mcap", "run": run})

    (found,) = admin.list_all(filter=f"status:verified raw_tags.run={run}")
    assert found.status == stubs.gateway.DATA_OBJECT_STATUS_VERIFIED
    assert found.size_bytes == len(data)
    assert found.etag.strip('"') == upload.etag.strip('"')
    assert found.object_id and found.file_id
    assert found.created_at_unix <= found.uploaded_at_unix <= found.verified_at_unix
    assert before <= found.verified_at_unix <= time.time() + 1

    reply = admin.objects("RequestDownload", file_ids=[found.file_id])
    (location,) = reply.files
    assert location.file_id == found.file_id
    assert location.read.method == "GET"
    assert time.time() + 60 < reply.expires_at_unix <= time.time() + 3600
    assert reply.large_file_threshold_bytes > 0 and reply.range_part_size_bytes > 0
    response = fetch_url(location.read.uri, headers=dict(location.read.headers))
    assert response.status == 200
    assert response.body == data
    part = fetch_url(location.read.uri, headers=dict(location.read.headers) | {"Range": "bytes=1048570-1048580"})
    assert part.status == 206
    assert part.body == data[1048570:1048581]


@pytest.mark.parametrize("client", CLIENTS)
def test_every_client_reaches_the_catalog(uploader, admin, run, client):
    data = content(2 * 1024 * 1024 + 7)
    Upload.create(uploader, client).multipart(data).complete({"run": run})
    (found,) = admin.list_all(filter=f"raw_tags.run={run}")
    (location,) = admin.objects("RequestDownload", file_ids=[found.file_id]).files
    body = fetch_url(location.read.uri, headers=dict(location.read.headers)).body
    assert hashlib.sha256(body).digest() == hashlib.sha256(data).digest()


def test_an_upload_that_is_not_completed_is_not_listed(upload, admin):
    upload.multipart(os.urandom(1000))
    listed = {found.etag.strip('"') for found in admin.list_all(page_size=1000)}
    assert upload.etag.strip('"') not in listed
    upload.complete()
    listed = {found.etag.strip('"') for found in admin.list_all(page_size=1000)}
    assert upload.etag.strip('"') in listed


def test_completing_again_lists_one_object(upload, admin, run):
    upload.put(content(1000))
    for _ in range(3):
        upload.complete({"run": run})
    assert len(admin.list_all(filter=f"raw_tags.run={run}")) == 1


def test_pages_list_the_newest_first(uploader, admin, run):
    sizes = list(range(1, 8))
    for size in sizes:
        completed(uploader, content(size), {"run": run})
    filter = f"raw_tags.run={run}"
    assert [found.size_bytes for found in admin.list_all(filter=filter)] == sizes[::-1]
    assert [found.size_bytes for found in admin.list_all(filter=filter, page_size=2)] == sizes[::-1]
    assert [found.size_bytes for found in admin.list_all(filter=filter, page_size=7)] == sizes[::-1]


def test_objects_added_during_the_walk_neither_repeat_nor_hide_one(uploader, admin, run):
    for size in range(1, 6):
        completed(uploader, content(size), {"run": run})
    seen, token, added = [], "", 100
    while True:
        page = admin.objects("ListObjects", filter=f"raw_tags.run={run}", page_size=1, page_token=token)
        seen += [found.size_bytes for found in page.objects]
        if not (token := page.next_page_token):
            break
        completed(uploader, content(added), {"run": run})
        added += 1
    assert [size for size in seen if size < 100] == [5, 4, 3, 2, 1]


@pytest.mark.parametrize("page_size", [0, 1, 1000, 5000])
def test_pages_hold_at_most_the_requested_number(admin, page_size):
    page = admin.objects("ListObjects", page_size=page_size)
    assert len(page.objects) <= (page_size or 50)


def test_negative_page_size_is_refused(admin, stubs):
    with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_INVALID_ARGUMENT"):
        admin.objects("ListObjects", page_size=-1)


@pytest.mark.parametrize("value", ["plain", "with space", 'quote"d', "back\\slash", "名前", "a=b:c", "OR", "(x)", ""])
def test_tag_values_are_found_bare_or_quoted(uploader, admin, run, value):
    completed(uploader, content(10), {"run": run, "label": value})
    completed(uploader, content(20), {"run": run, "label": "another"})
    quoted = '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    (found,) = admin.list_all(filter=f"raw_tags.run={run} raw_tags.label={quoted}")
    assert found.size_bytes == 10
    if re.fullmatch(r"\w+", value) and value != "OR":
        (found,) = admin.list_all(filter=f"raw_tags.run={run} raw_tags.label={value}")
        assert found.size_bytes == 10


@pytest.mark.parametrize("key", ["object_list_run", "dotted.key", "with space", "名前", FILE_NAME_TAG])
def test_tag_keys_are_found_bare_or_quoted(uploader, admin, run, key):
    completed(uploader, content(10), {key: run})
    (found,) = admin.list_all(filter=f'raw_tags."{key}"={run}')
    assert found.size_bytes == 10
    if " " not in key:
        assert admin.list_all(filter=f"raw_tags.{key}={run}") == [found]


@pytest.mark.parametrize(
    "shape",
    [
        "status:verified raw_tags.run={run}",
        "status=verified AND raw_tags.run:{run}",
        'raw_tags.run="{run}"   AND   status:"verified"',
        "raw_tags.run={run} raw_tags.run={run}",
    ],
)
def test_filter_of_each_form_is_accepted(uploader, admin, run, shape):
    completed(uploader, content(10), {"run": run})
    assert len(admin.list_all(filter=shape.format(run=run))) == 1


def test_terms_are_combined_with_and(uploader, admin, run):
    completed(uploader, content(10), {"run": run, "side": "left"})
    completed(uploader, content(20), {"run": run, "side": "right"})
    assert [found.size_bytes for found in admin.list_all(filter=f"raw_tags.run={run} raw_tags.side=right")] == [20]
    assert admin.list_all(filter=f"raw_tags.run={run} raw_tags.side=middle") == []
    assert admin.list_all(filter="raw_tags.no_such_tag_at_all=x") == []


@pytest.mark.parametrize(
    "filter, position",
    [
        ("status:uploaded", None),
        ("status:verified OR size>x", 24),
        ("NOT status:uploaded", 11),
        ("(status:verified", 16),
        ("colour:red", 0),
        ('raw_tags.k="é" colour:red', 16),
        ("status", None),
        ("status:", None),
        ("raw_tags.=x", None),
        ("raw_tags=x", None),
        ('raw_tags.k="open', None),
        ("status:verified AND", None),
        ("AND status:verified", None),
        ("status<verified", None),
        ("-status:verified", 0),
        ("status:verified\tstatus:verified", None),
    ],
)
def test_malformed_filter_is_refused_with_the_position(admin, stubs, filter, position):
    with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_INVALID_ARGUMENT") as refusal:
        admin.objects("ListObjects", filter=filter)
    numbers = [int(number) for number in re.findall(r"\d+", refusal.message)]
    assert numbers, refusal.message
    if position is not None:
        # Counted from 0 or from 1, but in bytes.
        assert position in numbers or position + 1 in numbers, refusal.message


def test_filters_over_the_limits_are_refused(admin, stubs):
    term = "status:verified"
    assert admin.objects("ListObjects", filter=" ".join([term] * 16)) is not None
    with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_INVALID_ARGUMENT"):
        admin.objects("ListObjects", filter=" ".join([term] * 17))
    with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_INVALID_ARGUMENT"):
        admin.objects("ListObjects", filter="raw_tags.k=" + "x" * 4096)


@pytest.fixture
def page_token(uploader, admin, run) -> str:
    """The token of a second page, for the filter raw_tags.run=RUN."""
    for size in (1, 2):
        completed(uploader, content(size), {"run": run})
    token = admin.objects("ListObjects", filter=f"raw_tags.run={run}", page_size=1).next_page_token
    assert token
    return token


def test_a_page_token_works_again(page_token, admin, run):
    for _ in range(2):
        page = admin.objects("ListObjects", filter=f"raw_tags.run={run}", page_size=1, page_token=page_token)
        assert [found.size_bytes for found in page.objects] == [1]


def test_altered_page_token_is_refused(page_token, admin, run, stubs):
    middle = len(page_token) // 2
    for token in [
        page_token[:middle] + ("A" if page_token[middle] != "A" else "B") + page_token[middle + 1 :],
        ("A" if page_token[0] != "A" else "B") + page_token[1:],
        page_token[:-4],
        page_token + "AAAA",
        "nonsense",
        "é",
    ]:
        with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_INVALID_ARGUMENT"):
            admin.objects("ListObjects", filter=f"raw_tags.run={run}", page_size=1, page_token=token)


def test_page_token_of_another_filter_is_refused(page_token, admin, stubs):
    with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_INVALID_ARGUMENT"):
        admin.objects("ListObjects", filter="status:verified", page_size=1, page_token=page_token)


def test_page_token_of_another_user_is_refused(page_token, admin, gateway, run, stubs):
    name, password = unique("user"), "a password of some length"
    admin.users("CreateUser", user_name=name, password=password, role="admin")
    other = User.login(gateway, stubs, "system", name, password)
    with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_INVALID_ARGUMENT"):
        other.objects("ListObjects", filter=f"raw_tags.run={run}", page_size=1, page_token=page_token)


# RequestDownload


@pytest.fixture
def file_ids(uploader, admin, run) -> list[str]:
    """Three file ids, whose objects have one, two and three bytes."""
    for size in (1, 2, 3):
        completed(uploader, content(size), {"run": run})
    return [found.file_id for found in reversed(admin.list_all(filter=f"raw_tags.run={run}"))]


def test_locations_come_in_the_order_of_the_request(file_ids, admin):
    wanted = [file_ids[1], file_ids[2], file_ids[0]]
    files = admin.objects("RequestDownload", file_ids=wanted).files
    assert [location.file_id for location in files] == wanted
    sizes = [len(fetch_url(file.read.uri, headers=dict(file.read.headers)).body) for file in files]
    assert sizes == [2, 3, 1]


def test_one_unknown_id_fails_the_whole_call_and_is_named(file_ids, admin, stubs):
    with refused(stubs, "NOT_FOUND") as refusal:
        admin.objects("RequestDownload", file_ids=[file_ids[0], "no-such-file"])
    assert "no-such-file" in refusal.message


def test_ids_that_break_a_rule_are_refused(file_ids, admin, stubs):
    for ids in [[], [""], [file_ids[0], ""], [file_ids[0], file_ids[0]]]:
        with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_INVALID_ARGUMENT"):
            admin.objects("RequestDownload", file_ids=ids)


def test_location_reads_one_object_only(file_ids, admin, uploader):
    first, second = (location.read for location in admin.objects("RequestDownload", file_ids=file_ids[:2]).files)
    key = lambda uri: uri.split("?")[0]  # noqa: E731
    assert fetch_url(first.uri.replace(key(first.uri), key(second.uri))).status == 403
    assert fetch_url(first.uri, method="PUT", body=b"x").status == 403
    assert fetch_url(first.uri, method="DELETE").status == 403
    assert fetch_url(first.uri[:-1] + ("0" if first.uri[-1] != "0" else "1")).status == 403
    assert fetch_url(first.uri).status == 200


def test_a_message_for_people_may_hold_any_character(admin, stubs):
    """It is sent percent-encoded, and decoded to the original."""
    with refused(stubs, "NOT_FOUND") as refusal:
        admin.objects("RequestDownload", file_ids=["名前 100%"])
    assert "名前 100%" in refusal.message


def test_many_devices_upload_at_once(fleet, admin, run):
    def one(number: int) -> None:
        data = content(1024 * 1024 + number, seed=number)
        uploader = fleet.uploader()
        upload = Upload.create(uploader, list(CLIENTS)[number % len(CLIENTS)]).multipart(data)
        upload.complete({"run": run})
        assert upload.store.get() == data

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(one, range(24)))
    sizes = sorted(found.size_bytes for found in admin.list_all(filter=f"raw_tags.run={run}", page_size=5))
    assert sizes == [1024 * 1024 + number for number in range(24)]


def test_a_location_ends_with_its_user(file_ids, admin, gateway, stubs):
    name, password = unique("user"), "a password of some length"
    admin.users("CreateUser", user_name=name, password=password, role="viewer")
    user = User.login(gateway, stubs, "system", name, password)
    (location,) = user.objects("RequestDownload", file_ids=file_ids[:1]).files
    assert fetch_url(location.read.uri).status == 200
    admin.users("DeleteUser", user_name=name)
    assert fetch_url(location.read.uri).status == 403
