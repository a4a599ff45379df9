"""minio-py, without a region."""

import io
import urllib.request

from minio import Minio
from minio.commonconfig import CopySource
from minio.deleteobjects import DeleteObject
from operations import BUCKET, ENDPOINT, FOLDER, KEY, SECRET, content, operation

host = ENDPOINT.split("//")[1]
client = Minio(host, access_key=KEY, secret_key=SECRET, secure=False)
data = content(12 << 20)


@operation("bucket_exists and list_buckets")
def _():
    assert client.bucket_exists(BUCKET)
    assert BUCKET in [bucket.name for bucket in client.list_buckets()]


@operation("put_object whole and in parts")
def _():
    client.put_object(BUCKET, "minio/a", io.BytesIO(b"abc"), 3, metadata={"color": "red"})
    client.put_object(BUCKET, "minio/parts", io.BytesIO(data), -1, part_size=5 << 20)


@operation("get_object, range, stat_object")
def _():
    assert client.get_object(BUCKET, "minio/parts").read() == data
    assert client.get_object(BUCKET, "minio/a", offset=1, length=1).read() == b"b"
    assert client.stat_object(BUCKET, "minio/a").metadata["x-amz-meta-color"] == "red"


@operation("fget_object and fput_object")
def _():
    client.fget_object(BUCKET, "minio/a", f"{FOLDER}/minio-a")
    client.fput_object(BUCKET, "minio/b", f"{FOLDER}/minio-a")


@operation("copy_object and compose_object")
def _():
    client.copy_object(BUCKET, "minio/copy", CopySource(BUCKET, "minio/parts"))
    assert client.get_object(BUCKET, "minio/copy").read() == data


@operation("list_objects")
def _():
    names = [found.object_name for found in client.list_objects(BUCKET, prefix="minio/", recursive=True)]
    assert names == ["minio/a", "minio/b", "minio/copy", "minio/parts"], names


@operation("presigned_get_object")
def _():
    assert urllib.request.urlopen(client.presigned_get_object(BUCKET, "minio/a")).read() == b"abc"


@operation("set_object_tags and get_object_tags")
def _():
    from minio.commonconfig import Tags

    tags = Tags.new_object_tags()
    tags["a"] = "b"
    client.set_object_tags(BUCKET, "minio/a", tags)
    assert client.get_object_tags(BUCKET, "minio/a") == tags


@operation("remove_objects")
def _():
    objects = [DeleteObject(found.object_name) for found in client.list_objects(BUCKET, "minio/", recursive=True)]
    assert list(client.remove_objects(BUCKET, objects)) == []
    assert list(client.list_objects(BUCKET, "minio/", recursive=True)) == []
