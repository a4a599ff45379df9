"""Runs the operations with deltalake: commits by conditional writes, without a lock table."""

from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, write_deltalake
from deltalake.exceptions import CommitFailedError, DeltaError
from operations import BUCKET, ENDPOINT, KEY, REGION, SECRET, operation

options = {
    "AWS_ACCESS_KEY_ID": KEY,
    "AWS_SECRET_ACCESS_KEY": SECRET,
    "AWS_ENDPOINT_URL": ENDPOINT,
    "AWS_REGION": REGION,
    "AWS_ALLOW_HTTP": "true",
    "aws_conditional_put": "etag",
}
path = f"s3://{BUCKET}/delta/table"
table = pa.table({"site": [1, 2, 2], "value": [0.5, 1.5, 2.5]})


@operation("create")
def _():
    write_deltalake(path, table, storage_options=options)
    assert DeltaTable(path, storage_options=options).to_pyarrow_table().num_rows == 3


@operation("append")
def _():
    write_deltalake(path, table, mode="append", storage_options=options)
    assert DeltaTable(path, storage_options=options).to_pyarrow_table().num_rows == 6


@operation("concurrent append is refused")
def _():
    """Two writers with the same version of the table; without retries the later one has to fail."""
    first, second = (DeltaTable(path, storage_options=options) for _ in range(2))
    once = CommitProperties(max_commit_retries=0)
    write_deltalake(first, table, mode="append", commit_properties=once)
    try:
        write_deltalake(second, table, mode="append", commit_properties=once)
    except (CommitFailedError, DeltaError):
        pass
    else:
        raise AssertionError("both were committed as the same version")
    assert DeltaTable(path, storage_options=options).to_pyarrow_table().num_rows == 9


@operation("concurrent appends that retry lose nothing")
def _():
    def append(_):
        write_deltalake(path, table, mode="append", storage_options=options)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(append, range(6)))
    assert DeltaTable(path, storage_options=options).to_pyarrow_table().num_rows == 27


@operation("concurrent deletion is refused")
def _():
    first, second = (DeltaTable(path, storage_options=options) for _ in range(2))
    first.delete("site = 1")
    try:
        second.delete("site = 1")
    except (CommitFailedError, DeltaError):
        pass
    else:
        raise AssertionError("the second deletion of the same rows was committed")


@operation("optimize and vacuum")
def _():
    found = DeltaTable(path, storage_options=options)
    found.optimize.compact()
    found.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
    assert DeltaTable(path, storage_options=options).to_pyarrow_table().num_rows == 18
