"""s3fs."""

import urllib.request

import s3fs
from operations import BUCKET, ENDPOINT, FOLDER, KEY, REGION, SECRET, content, operation

store = s3fs.S3FileSystem(
    key=KEY,
    secret=SECRET,
    endpoint_url=ENDPOINT,
    client_kwargs={"region_name": REGION},
    config_kwargs={"signature_version": "s3v4"},
)
data = content(12 << 20)


@operation("ls of the buckets")
def _():
    assert BUCKET in store.ls("")


@operation("pipe, cat, open for writing in parts")
def _():
    store.pipe(f"{BUCKET}/s3fs/a", b"abc")
    assert store.cat(f"{BUCKET}/s3fs/a") == b"abc"
    with store.open(f"{BUCKET}/s3fs/parts", "wb", block_size=5 << 20) as file:
        file.write(data)
    with store.open(f"{BUCKET}/s3fs/parts") as file:
        file.seek(5_000_000)
        assert file.read(1000) == data[5_000_000:5_001_000]


@operation("put and get of a tree")
def _():
    store.get(f"{BUCKET}/s3fs/a", f"{FOLDER}/s3fs-a")
    store.put(f"{FOLDER}/s3fs-a", f"{BUCKET}/s3fs/b")


@operation("cp, mv, exists, info, find")
def _():
    store.cp(f"{BUCKET}/s3fs/a", f"{BUCKET}/s3fs/c")
    store.mv(f"{BUCKET}/s3fs/c", f"{BUCKET}/s3fs/d")
    assert store.exists(f"{BUCKET}/s3fs/d") and not store.exists(f"{BUCKET}/s3fs/c")
    assert store.info(f"{BUCKET}/s3fs/parts")["size"] == len(data)
    assert len(store.find(f"{BUCKET}/s3fs")) == 4


@operation("setxattr, getxattr")
def _():
    store.setxattr(f"{BUCKET}/s3fs/a", color="red")
    assert store.getxattr(f"{BUCKET}/s3fs/a", "color") == "red"


@operation("put_tags, get_tags")
def _():
    store.put_tags(f"{BUCKET}/s3fs/a", {"a": "b"})
    assert store.get_tags(f"{BUCKET}/s3fs/a") == {"a": "b"}


@operation("url")
def _():
    assert urllib.request.urlopen(store.url(f"{BUCKET}/s3fs/b")).read() == b"abc"


@operation("rm of a tree")
def _():
    store.rm(f"{BUCKET}/s3fs", recursive=True)
    store.invalidate_cache()
    assert not store.exists(f"{BUCKET}/s3fs")
