"""opendal: the services s3 and oss."""

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
