"""alibabacloud-oss-v2."""

from pathlib import Path

import alibabacloud_oss_v2 as oss
from operations import BUCKET, ENDPOINT, FOLDER, KEY, SECRET, content, operation

provider = oss.credentials.StaticCredentialsProvider(KEY, SECRET)
client = oss.Client(oss.Config(region="local", endpoint=ENDPOINT, credentials_provider=provider))
data = content(12 << 20)


@operation("list_buckets, get_bucket_info, is_bucket_exist")
def _():
    assert BUCKET in [bucket.name for bucket in client.list_buckets(oss.ListBucketsRequest()).buckets]
    assert client.get_bucket_info(oss.GetBucketInfoRequest(bucket=BUCKET)).bucket_info.name == BUCKET
    assert client.is_bucket_exist(BUCKET)


@operation("put_object, is_object_exist, get_object_meta")
def _():
    client.put_object(oss.PutObjectRequest(bucket=BUCKET, key="v2/a", body=b"abc", metadata={"color": "red"}))
    assert client.is_object_exist(BUCKET, "v2/a") and not client.is_object_exist(BUCKET, "v2/none")
    assert client.get_object_meta(oss.GetObjectMetaRequest(bucket=BUCKET, key="v2/a")).content_length == 3
    assert client.head_object(oss.HeadObjectRequest(bucket=BUCKET, key="v2/a")).metadata == {"color": "red"}


@operation("uploader and downloader")
def _():
    with open(f"{FOLDER}/v2", "wb") as file:
        file.write(data)
    request = oss.PutObjectRequest(bucket=BUCKET, key="v2/parts")
    client.uploader(part_size=5 << 20).upload_file(request, f"{FOLDER}/v2")
    client.downloader().download_file(oss.GetObjectRequest(bucket=BUCKET, key="v2/parts"), f"{FOLDER}/v2.back")
    assert Path(f"{FOLDER}/v2.back").read_bytes() == data


@operation("copier and copy_object")
def _():
    source = {"bucket": BUCKET, "source_bucket": BUCKET, "source_key": "v2/parts"}
    client.copy_object(oss.CopyObjectRequest(key="v2/copy", **source))
    client.copier().copy(
        oss.CopyObjectRequest(key="v2/copier", **source), part_size=5 << 20, multipart_copy_threshold=1
    )
    assert client.get_object(oss.GetObjectRequest(bucket=BUCKET, key="v2/copier")).body.content == data


@operation("append_file")
def _():
    with client.append_file(BUCKET, "v2/append") as file:
        file.write(b"a")
        file.write(b"b")
    assert client.get_object(oss.GetObjectRequest(bucket=BUCKET, key="v2/append")).body.content == b"ab"


@operation("delete_multiple_objects")
def _():
    pages = client.list_objects_v2_paginator().iter_page(oss.ListObjectsV2Request(bucket=BUCKET, prefix="v2/"))
    objects = [oss.DeleteObject(key=entry.key) for page in pages for entry in page.contents]
    found = client.delete_multiple_objects(oss.DeleteMultipleObjectsRequest(bucket=BUCKET, objects=objects))
    assert len(found.deleted_objects) == len(objects) == 5, (found.deleted_objects, objects)
