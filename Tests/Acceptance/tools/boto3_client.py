"""Runs the operations with boto3: transfer manager, resources, presigned requests."""

import urllib.request
from pathlib import Path

import boto3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from operations import BUCKET, ENDPOINT, FOLDER, KEY, REGION, SECRET, content, operation

options = {
    "endpoint_url": ENDPOINT,
    "aws_access_key_id": KEY,
    "aws_secret_access_key": SECRET,
    "region_name": REGION,
    "config": Config(signature_version="s3v4"),
}
client = boto3.client("s3", **options)
bucket = boto3.resource("s3", **options).Bucket(BUCKET)
data = content(20 << 20)


@operation("upload_file and download_file in parts")
def _():
    with open(f"{FOLDER}/boto3", "wb") as file:
        file.write(data)
    transfer = TransferConfig(multipart_threshold=5 << 20, multipart_chunksize=5 << 20)
    client.upload_file(f"{FOLDER}/boto3", BUCKET, "boto3/a", Config=transfer, ExtraArgs={"Metadata": {"color": "red"}})
    client.download_file(BUCKET, "boto3/a", f"{FOLDER}/boto3.back", Config=transfer)
    assert Path(f"{FOLDER}/boto3.back").read_bytes() == data
    assert client.head_object(Bucket=BUCKET, Key="boto3/a")["Metadata"] == {"color": "red"}


@operation("copy of the transfer manager, whole and in parts")
def _():
    client.copy({"Bucket": BUCKET, "Key": "boto3/a"}, BUCKET, "boto3/b")
    transfer = TransferConfig(multipart_threshold=5 << 20, multipart_chunksize=5 << 20)
    client.copy({"Bucket": BUCKET, "Key": "boto3/a"}, BUCKET, "boto3/c", Config=transfer)
    assert client.get_object(Bucket=BUCKET, Key="boto3/c")["Body"].read() == data


@operation("generate_presigned_url and generate_presigned_post")
def _():
    url = client.generate_presigned_url("get_object", Params={"Bucket": BUCKET, "Key": "boto3/b"})
    assert urllib.request.urlopen(url).read() == data
    import requests

    form = client.generate_presigned_post(BUCKET, "boto3/form/${filename}")
    response = requests.post(form["url"], data=form["fields"], files={"file": ("a.txt", b"abc")}, timeout=10)
    assert response.status_code == 204, response.text
    assert client.get_object(Bucket=BUCKET, Key="boto3/form/a.txt")["Body"].read() == b"abc"


@operation("objects of the bucket, deletion of all")
def _():
    assert len(list(bucket.objects.filter(Prefix="boto3/"))) >= 3
    bucket.objects.filter(Prefix="boto3/").delete()
    assert list(bucket.objects.filter(Prefix="boto3/")) == []


@operation("conditional put")
def _():
    client.put_object(Bucket=BUCKET, Key="boto3-once", Body=b"1", IfNoneMatch="*")
    try:
        client.put_object(Bucket=BUCKET, Key="boto3-once", Body=b"2", IfNoneMatch="*")
    except client.exceptions.ClientError as error:
        assert error.response["Error"]["Code"] == "PreconditionFailed"
    else:
        raise AssertionError("the object was overwritten")
