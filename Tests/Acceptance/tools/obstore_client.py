"""obstore, of the Rust crate object_store."""

import urllib.request
from datetime import timedelta

import obstore
from obstore.exceptions import AlreadyExistsError
from obstore.store import S3Store
from operations import BUCKET, ENDPOINT, KEY, REGION, SECRET, content, operation

store = S3Store(
    BUCKET,
    access_key_id=KEY,
    secret_access_key=SECRET,
    endpoint=ENDPOINT,
    region=REGION,
    virtual_hosted_style_request=False,
    client_options={"allow_http": True},
)
data = content(12 << 20)


@operation("put whole and in parts, get, range")
def _():
    obstore.put(store, "obstore/a", b"abc", attributes={"Content-Type": "text/plain", "color": "red"})
    obstore.put(store, "obstore/parts", data, chunk_size=5 << 20, use_multipart=True)
    assert bytes(obstore.get(store, "obstore/parts").bytes()) == data
    assert bytes(obstore.get_range(store, "obstore/a", start=1, end=2)) == b"b"


@operation("put with mode create")
def _():
    obstore.put(store, "obstore/new", b"1", mode="create")
    try:
        obstore.put(store, "obstore/new", b"2", mode="create")
    except AlreadyExistsError:
        return
    raise AssertionError("the object was overwritten")


@operation("copy, rename, copy without overwriting")
def _():
    obstore.copy(store, "obstore/a", "obstore/b")
    obstore.rename(store, "obstore/b", "obstore/c")
    assert bytes(obstore.get(store, "obstore/c").bytes()) == b"abc"


@operation("list and list_with_delimiter")
def _():
    found = [one["path"] for page in obstore.list(store, "obstore") for one in page]
    assert found == ["obstore/a", "obstore/c", "obstore/new", "obstore/parts"], found
    assert "obstore" in obstore.list_with_delimiter(store)["common_prefixes"]


@operation("sign")
def _():
    url = obstore.sign(store, "GET", "obstore/a", timedelta(minutes=1))
    assert urllib.request.urlopen(url).read() == b"abc"


@operation("delete of several")
def _():
    obstore.delete(store, [one["path"] for page in obstore.list(store, "obstore") for one in page])
    assert [one for page in obstore.list(store, "obstore") for one in page] == []
