"""The limits of texts that are in indexes: the longest is accepted, a longer one is refused by a message with field and limit.

`scripts/engines/bounds.py` has all of them; their sums are what an entry of an index of PostgreSQL can hold.
"""

import datetime

import pytest
from support.parties import PASSWORD, init_device, unique
from support.refusal import refused
from support.s3 import refused as refused_by_store
from support.uploads import completed, content

ROWS = [
    # The field that the refusal names, the longest value in bytes, and the words of the refusal.
    ("organization", 64, "1 to 64"),
    ("user_name", 64, "1 to 64"),
    ("name", 128, "128 bytes"),
    ("token_name", 128, "128 bytes"),
    ("idempotency_key", 128, "128 bytes"),
    ("relative_path", 1024, "1024"),
    ("tags", 64, "1 to 64 bytes"),
    ("tags[k]", 2048, "2048 bytes"),
    ("endpoint", 1024, "1024 bytes"),
]


def text(size: int) -> str:
    return unique("t").ljust(size, "x")


@pytest.fixture
def steps(admin, fleet, uploader, copy_root):
    """Returns a call with a text of the size for each field."""
    tomorrow = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=1)
    boss = {"bootstrap_admin_user_name": "boss", "bootstrap_admin_password": PASSWORD}

    def path(size: int) -> str:
        """Returns names of 100 bytes with slashes between them; the last is shorter or longer."""
        return "/".join(unique("p").ljust(100, "x") for _ in range(size // 101)).ljust(size, "y")

    def copy(size: int):
        file_id = completed(uploader, content(100)).complete().file_id
        root = f"file://{copy_root}/"
        destination = {"endpoint": root + path(size - len(root)), "key_template": "{file_id}"}
        return admin.copies("CreateCopyJob", file_ids=[file_id], destination=destination)

    return {
        "organization": lambda size: admin.admin("CreateOrganization", organization=text(size), **boss),
        "user_name": lambda size: admin.users("CreateUser", user_name=text(size), password=PASSWORD, role="viewer"),
        "name": lambda size: admin.admin("CreateSite", name=text(size)),
        "token_name": lambda size: admin._call(
            "auth", admin.stubs.auth, "ApiTokenService", "CreateApiToken",
            {"token_name": text(size), "role": "viewer", "expired_at": tomorrow},
        ),
        "idempotency_key": lambda size: uploader.create(idempotency_key=text(size)),
        "relative_path": lambda size: uploader.create(relative_path=path(size), file_name="a"),
        "tags": lambda size: completed(uploader, content(100), {text(size): "v"}),
        "tags[k]": lambda size: completed(uploader, content(100), {"k": text(size)}),
        "endpoint": copy,
    }  # fmt: skip


@pytest.mark.parametrize("field, longest, words", ROWS, ids=[row[0] for row in ROWS])
def test_the_longest_text_is_accepted_and_a_longer_one_refused(stubs, steps, field, longest, words):
    steps[field](longest)
    with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_INVALID_ARGUMENT", "AUTH_INVALID_ARGUMENT") as refusal:
        steps[field](longest + 1)
    assert field.partition("[")[0] in refusal.message and words in refusal.message, refusal.message


def test_the_store_limits_keys_and_tags(store):
    s3, name = store.client(), {"Bucket": "maps", "Body": b"x"}
    s3.put_object(**name, Key="k" * 1024, Tagging=f"{'k' * 128}={'v' * 256}")
    assert refused_by_store(s3.put_object, **name, Key="k" * 1025) == (400, "KeyTooLongError")
    for tags in (f"{'k' * 129}=", f"k={'v' * 257}"):
        assert refused_by_store(s3.put_object, **name, Key="k", Tagging=tags) == (400, "InvalidTag")


def test_devices_have_ids_of_one_length(gateway, admin, stubs):
    for name in ("260101-0000001", "2" * 3000):
        with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_DEVICE_ID_INVALID"):
            init_device(gateway, stubs, name)
