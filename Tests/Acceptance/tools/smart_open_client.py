"""smart_open."""

import boto3
from botocore.config import Config
from operations import BUCKET, ENDPOINT, KEY, REGION, SECRET, content, operation
from smart_open import open as smart_open

client = boto3.client(
    "s3",
    endpoint_url=ENDPOINT,
    aws_access_key_id=KEY,
    aws_secret_access_key=SECRET,
    region_name=REGION,
    config=Config(signature_version="s3v4"),
)
parameters = {"client": client}
data = content(12 << 20)


@operation("write in parts, read, seek")
def _():
    with smart_open(f"s3://{BUCKET}/smart/a", "wb", transport_params=parameters | {"min_part_size": 5 << 20}) as file:
        file.write(data)
    with smart_open(f"s3://{BUCKET}/smart/a", "rb", transport_params=parameters) as file:
        file.seek(1000)
        assert file.read() == data[1000:]


@operation("write and read gzip")
def _():
    with smart_open(f"s3://{BUCKET}/smart/a.gz", "wb", transport_params=parameters) as file:
        file.write(b"text")
    with smart_open(f"s3://{BUCKET}/smart/a.gz", "rb", transport_params=parameters) as file:
        assert file.read() == b"text"
