"""polars: parquet by globs."""

import polars as pl
from operations import BUCKET, ENDPOINT, KEY, REGION, SECRET, operation

options = {
    "aws_access_key_id": KEY,
    "aws_secret_access_key": SECRET,
    "aws_endpoint_url": ENDPOINT,
    "aws_region": REGION,
    "aws_allow_http": "true",
}
frame = pl.DataFrame({"site": [1, 2, 2], "value": [0.5, 1.5, 2.5]})


@operation("write_parquet")
def _():
    for name in "ab":
        frame.write_parquet(f"s3://{BUCKET}/polars/{name}.parquet", storage_options=options)


@operation("scan_parquet by a glob with a filter")
def _():
    found = pl.scan_parquet(f"s3://{BUCKET}/polars/*.parquet", storage_options=options)
    assert found.filter(pl.col("site") == 2).collect().height == 4


@operation("sink_parquet and read_parquet")
def _():
    scan = pl.scan_parquet(f"s3://{BUCKET}/polars/*.parquet", storage_options=options)
    scan.sink_parquet(f"s3://{BUCKET}/polars/sunk/all.parquet", storage_options=options)
    assert pl.read_parquet(f"s3://{BUCKET}/polars/sunk/all.parquet", storage_options=options).height == 6
