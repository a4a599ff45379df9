"""pyarrow: files and datasets."""

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from operations import BUCKET, ENDPOINT, KEY, REGION, SECRET, content, operation
from pyarrow import fs

host = ENDPOINT.split("//")[1]
store = fs.S3FileSystem(access_key=KEY, secret_key=SECRET, endpoint_override=host, scheme="http", region=REGION)
table = pa.table({"site": [1, 2, 2], "value": [0.5, 1.5, 2.5]})


@operation("write_table and read_table")
def _():
    pq.write_table(table, f"{BUCKET}/arrow/a.parquet", filesystem=store)
    assert pq.read_table(f"{BUCKET}/arrow/a.parquet", filesystem=store) == table


@operation("write_dataset and scan with a filter")
def _():
    ds.write_dataset(
        table,
        f"{BUCKET}/arrow/set",
        format="parquet",
        filesystem=store,
        partitioning=ds.partitioning(pa.schema([("site", pa.int64())]), flavor="hive"),
    )
    found = ds.dataset(f"{BUCKET}/arrow/set", filesystem=store, partitioning="hive").to_table(
        filter=ds.field("site") == 2
    )
    assert found.num_rows == 2


@operation("open_output_stream of 20 MB in parts")
def _():
    data = content(20 << 20)
    with store.open_output_stream(f"{BUCKET}/arrow/stream") as stream:
        stream.write(data)
    with store.open_input_file(f"{BUCKET}/arrow/stream") as file:
        assert file.read() == data


@operation("copy_file and move")
def _():
    store.copy_file(f"{BUCKET}/arrow/a.parquet", f"{BUCKET}/arrow/b.parquet")
    store.move(f"{BUCKET}/arrow/b.parquet", f"{BUCKET}/arrow/c.parquet")
    assert store.get_file_info(f"{BUCKET}/arrow/c.parquet").size > 0


@operation("get_file_info of a tree and of the buckets")
def _():
    assert len(store.get_file_info(fs.FileSelector(f"{BUCKET}/arrow", recursive=True))) >= 4
    assert BUCKET in [found.path for found in store.get_file_info(fs.FileSelector("", recursive=False))]


@operation("create_dir and delete_dir")
def _():
    store.create_dir(f"{BUCKET}/arrow/new")
    store.delete_dir(f"{BUCKET}/arrow")
    assert store.get_file_info(f"{BUCKET}/arrow").type == fs.FileType.NotFound
