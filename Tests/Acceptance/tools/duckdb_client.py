"""Runs the operations with DuckDB: its extension httpfs comes as a Python package, because `INSTALL` downloads it from elsewhere."""

from pathlib import Path

import duckdb
import duckdb_extension_httpfs
from operations import BUCKET, ENDPOINT, KEY, REGION, SECRET, operation

extension = next(Path(duckdb_extension_httpfs.__path__[0]).rglob("httpfs.duckdb_extension"))
host = ENDPOINT.removeprefix("http://")
database = duckdb.connect()
database.execute(f"LOAD '{extension}'")
database.execute(
    f"""
    CREATE SECRET (
        TYPE s3, KEY_ID '{KEY}', SECRET '{SECRET}', REGION '{REGION}', ENDPOINT '{host}', URL_STYLE 'path', USE_SSL false
    )
    """
)
at = f"s3://{BUCKET}/duckdb"


def rows(query: str) -> list[tuple]:
    return database.execute(query).fetchall()


@operation("write and read parquet")
def _():
    database.execute(f"COPY (SELECT range AS id, range % 7 AS site FROM range(100000)) TO '{at}/a.parquet'")
    assert rows(f"SELECT count(*), sum(id) FROM '{at}/a.parquet'") == [(100000, 4999950000)]


@operation("columns and filters by ranges")
def _():
    assert rows(f"SELECT count(*) FROM '{at}/a.parquet' WHERE id >= 99990") == [(10,)]


@operation("write in parts")
def _():
    database.execute(
        f"COPY (SELECT hash(range) AS a, hash(range + 1) AS b FROM range(2000000)) TO '{at}/big.parquet' (COMPRESSION 'uncompressed')"
    )
    assert rows(f"SELECT count(*) FROM '{at}/big.parquet'") == [(2000000,)]


@operation("partitions and globs")
def _():
    database.execute(
        f"COPY (SELECT range AS id, range % 3 AS site FROM range(30)) TO '{at}/set' (FORMAT parquet, PARTITION_BY (site))"
    )
    assert rows(
        f"SELECT site, count(*) FROM read_parquet('{at}/set/*/*.parquet', hive_partitioning = true) GROUP BY 1 ORDER BY 1"
    ) == [
        (0, 10),
        (1, 10),
        (2, 10),
    ]
    assert len(rows(f"SELECT file FROM glob('{at}/set/**')")) == 3


@operation("csv and json")
def _():
    database.execute(f"COPY (SELECT 1 AS a, 'x' AS b) TO '{at}/a.csv'")
    database.execute(f"COPY (SELECT 1 AS a, 'x' AS b) TO '{at}/a.json'")
    assert rows(f"FROM '{at}/a.csv'") == rows(f"FROM '{at}/a.json'") == [(1, "x")]


@operation("overwrite")
def _():
    database.execute(f"COPY (SELECT 2 AS a) TO '{at}/a.csv'")
    assert rows(f"FROM '{at}/a.csv'") == [(2,)]
