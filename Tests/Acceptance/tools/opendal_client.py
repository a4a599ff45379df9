"""Runs the operations with opendal: the services s3 and oss. The latter puts the bucket in front of the endpoint's host name."""

import os

import opendal
from operations import BUCKET, ENDPOINT, KEY, REGION, SECRET, content, operation

data = content(12 << 20)
s3 = opendal.Operator(
    "s3", bucket=BUCKET, endpoint=ENDPOINT, region=REGION, access_key_id=KEY, secret_access_key=SECRET, root="/opendal"
)


@operation("s3: write, read, stat")
def _():
    s3.write("a", b"abc")
    s3.write("parts", data, chunk=5 << 20)
    assert bytes(s3.read("parts")) == data
    assert s3.stat("a").content_length == 3


@operation("s3: copy and rename")
def _():
    s3.copy("a", "b")
    assert bytes(s3.read("b")) == b"abc"


@operation("s3: list and scan")
def _():
    assert {"a", "b", "parts"} <= {entry.path for entry in s3.list("/")}


@operation("s3: remove_all")
def _():
    s3.remove_all("/")
    assert not [entry for entry in s3.list("/") if not entry.path.endswith("/")]


oss = opendal.Operator(
    "oss",
    bucket=BUCKET,
    endpoint=os.environ["STORE_HOST_ENDPOINT"],
    access_key_id=KEY,
    access_key_secret=SECRET,
    root="/oss",
)


@operation("oss: write, read, stat")
def _():
    oss.write("a", b"abc", content_type="text/plain")
    oss.write("parts", data, chunk=5 << 20)
    assert bytes(oss.read("parts")) == data
    found = oss.stat("a")
    assert (found.content_length, found.content_type) == (3, "text/plain")


@operation("oss: ranges")
def _():
    with oss.open("parts", "rb") as file:
        file.seek(1 << 20)
        assert file.read(100) == data[1 << 20 : (1 << 20) + 100]


@operation("oss: append")
def _():
    for piece in (b"one ", b"two"):
        oss.write("log", piece, append=True)
    assert bytes(oss.read("log")) == b"one two"


@operation("oss: copy")
def _():
    oss.copy("a", "b")
    assert bytes(oss.read("b")) == b"abc"


@operation("oss: list and scan")
def _():
    assert {"a", "b", "parts"} <= {entry.path for entry in oss.list("/")}


@operation("oss: conditional write")
def _():
    try:
        oss.write("a", b"second", if_not_exists=True)
    except opendal.exceptions.ConditionNotMatch:
        pass
    else:
        raise AssertionError("the object was overwritten")
    assert bytes(oss.read("a")) == b"abc"


@operation("oss: remove_all")
def _():
    oss.delete("b")
    oss.remove_all("/")
    assert not [entry for entry in oss.list("/") if not entry.path.endswith("/")]
