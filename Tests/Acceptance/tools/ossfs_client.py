"""ossfs."""

import ossfs
from operations import BUCKET, ENDPOINT, FOLDER, KEY, SECRET, content, operation

store = ossfs.OSSFileSystem(endpoint=ENDPOINT, key=KEY, secret=SECRET)
data = content(12 << 20)


@operation("ls of the buckets")
def _():
    assert any(BUCKET in str(found) for found in store.ls("", detail=False)), store.ls("")


@operation("pipe, cat, exists, info")
def _():
    store.pipe(f"{BUCKET}/ossfs/a", b"abc")
    assert store.cat(f"{BUCKET}/ossfs/a") == b"abc"
    assert store.exists(f"{BUCKET}/ossfs/a") and not store.exists(f"{BUCKET}/ossfs/none")


@operation("open for writing (AppendObject) and reading")
def _():
    with store.open(f"{BUCKET}/ossfs/appended", "wb") as file:
        file.write(data)
    assert store.cat(f"{BUCKET}/ossfs/appended") == data


@operation("put and get")
def _():
    store.get(f"{BUCKET}/ossfs/a", f"{FOLDER}/ossfs-a")
    store.put(f"{FOLDER}/ossfs-a", f"{BUCKET}/ossfs/b")


@operation("cp and mv")
def _():
    store.cp(f"{BUCKET}/ossfs/a", f"{BUCKET}/ossfs/c")
    store.mv(f"{BUCKET}/ossfs/c", f"{BUCKET}/ossfs/d")
    assert store.cat(f"{BUCKET}/ossfs/d") == b"abc"


@operation("rm of one and of a tree")
def _():
    store.rm(f"{BUCKET}/ossfs/a")
    store.rm(f"{BUCKET}/ossfs", recursive=True)
    store.invalidate_cache()
    assert not store.find(f"{BUCKET}/ossfs")
