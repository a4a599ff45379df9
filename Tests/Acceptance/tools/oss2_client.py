"""oss2 with signatures of versions 1 and 4."""

import urllib.request
from pathlib import Path

import oss2
from operations import BUCKET, ENDPOINT, FOLDER, KEY, SECRET, content, operation

data = content(12 << 20)

for version, auth in (("V1", oss2.Auth), ("V4", oss2.AuthV4)):
    bucket = oss2.Bucket(auth(KEY, SECRET), ENDPOINT, BUCKET, region="local")
    name = f"oss2/{version}"

    @operation(f"{version}: get_bucket_info and list of buckets")
    def _():
        assert bucket.get_bucket_info().name == BUCKET
        assert BUCKET in [
            found.name for found in oss2.BucketIterator(oss2.Service(bucket.auth, ENDPOINT, region="local"))
        ]

    @operation(f"{version}: put, get, exists, meta, metadata, acl")
    def _():
        bucket.put_object(f"{name}/a", b"abc", headers={"x-oss-meta-color": "red", "Cache-Control": "no-cache"})
        assert bucket.get_object(f"{name}/a").read() == b"abc"
        assert bucket.object_exists(f"{name}/a") and bucket.get_object_meta(f"{name}/a").content_length == 3
        assert bucket.head_object(f"{name}/a").headers["x-oss-meta-color"] == "red"
        assert bucket.get_object_acl(f"{name}/a").acl == "private"

    @operation(f"{version}: resumable upload and download")
    def _():
        path = f"{FOLDER}/oss2-{version}"
        with open(path, "wb") as file:
            file.write(data)
        oss2.resumable_upload(bucket, f"{name}/parts", path, multipart_threshold=1 << 20, part_size=5 << 20)
        oss2.resumable_download(bucket, f"{name}/parts", path + ".back", multiget_threshold=1 << 20)
        assert Path(path + ".back").read_bytes() == data

    @operation(f"{version}: copy, part copy, update of metadata")
    def _():
        bucket.copy_object(BUCKET, f"{name}/a", f"{name}/copy")
        bucket.update_object_meta(f"{name}/copy", {"x-oss-meta-color": "blue"})
        assert bucket.head_object(f"{name}/copy").headers["x-oss-meta-color"] == "blue"
        upload = bucket.init_multipart_upload(f"{name}/composed").upload_id
        part = bucket.upload_part_copy(BUCKET, f"{name}/parts", (0, 99), f"{name}/composed", upload, 1)
        bucket.complete_multipart_upload(f"{name}/composed", upload, [oss2.models.PartInfo(1, part.etag)])
        assert bucket.get_object(f"{name}/composed").read() == data[:100]

    @operation(f"{version}: append")
    def _():
        position = bucket.append_object(f"{name}/append", 0, b"a").next_position
        bucket.append_object(f"{name}/append", position, b"b")
        assert bucket.get_object(f"{name}/append").read() == b"ab"

    @operation(f"{version}: tags")
    def _():
        rule = oss2.models.TaggingRule()
        rule.add("a", "b")
        bucket.put_object_tagging(f"{name}/a", oss2.models.Tagging(rule))
        assert bucket.get_object_tagging(f"{name}/a").tag_set.tagging_rule == {"a": "b"}

    @operation(f"{version}: sign_url")
    def _():
        assert urllib.request.urlopen(bucket.sign_url("GET", f"{name}/a", 60)).read() == b"abc"

    @operation(f"{version}: list of multipart uploads, lists, batch delete")
    def _():
        upload = bucket.init_multipart_upload(f"{name}/begun").upload_id
        found = [one.upload_id for one in oss2.MultipartUploadIterator(bucket, prefix=name)]
        assert found == [upload], found
        bucket.abort_multipart_upload(f"{name}/begun", upload)
        keys = [found.key for found in oss2.ObjectIteratorV2(bucket, prefix=name)]
        assert bucket.batch_delete_objects(keys).deleted_keys == keys
