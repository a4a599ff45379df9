"""Streamed transfers to real S3 engines: their memory, and what remains of those that are cut."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from support.engines import ACCESS_KEY, SECRET_KEY, RadosGateway, SeaweedFS
from support.proxy import Proxy

PROGRAM = Path(__file__).resolve().parents[2] / ".build/debug/engine-transfer"
MIB = 1 << 20
#: The size of the large object, and the number of cuts of it, in the long form only.
LARGE, CUTS = 5 << 30, 20
#: The memory in bytes that a transfer may use above that of the idle process.
MEMORY = 16 * MIB


@pytest.fixture(scope="module", params=[RadosGateway, SeaweedFS])
def engine(request, tmp_path_factory, is_full):
    if not request.param.exists():
        pytest.skip(f"{request.param.__name__} is not installed: scripts/lab engines")
    engine = request.param(tmp_path_factory.mktemp(request.param.__name__))
    yield engine
    engine.stop()


@pytest.fixture
def bucket(engine, request) -> str:
    name = "b" + request.node.originalname.replace("_", "")[-20:].lower()
    engine.make_bucket(name)
    return name


def transfer(direction: str, address: str, bucket: str, *object: str | int, code: int = 0) -> str:
    """Runs the program, which must end with the exit code; returns its output."""
    keys = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}
    command = [str(PROGRAM), direction, f"http://{address}", bucket, *map(str, object)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, env=os.environ | keys)
    assert done.returncode == code, (command, done.returncode, done.stdout, done.stderr)
    return done.stdout


def test_every_call_has_its_response(engine, bucket):
    transfer("calls", engine.address, bucket)


def test_memory_is_flat(engine, bucket, is_full):
    size = LARGE if is_full else 256 * MIB
    for direction in ("put", "get"):
        usage = json.loads(transfer(direction, engine.address, bucket, "large", size))
        rate = size / MIB / usage["seconds"]
        print(f"{type(engine).__name__} {direction} {size // MIB} MiB: {rate:.0f} MiB/s, {usage}")
        assert usage["peak"] - usage["idle"] < MEMORY
    assert engine.sizes(bucket) == {"large": size}


def cut(engine, bucket: str, size: int, places: list[int]) -> None:
    """Cuts a transfer in each direction behind each number of bytes: it fails, and the store has no short object."""
    transfer("put", engine.address, bucket, "whole", size)
    for place in places:
        for direction, key in (("put", "cut"), ("get", "whole")):
            proxy = Proxy(engine.address)
            if direction == "put":
                proxy.cut_at(place)
            else:
                proxy.on_received(place, proxy.cut)
            print(direction, place, transfer(direction, proxy.address, bucket, key, size, code=1).strip())
            proxy.close()
        assert engine.sizes(bucket) == {"whole": size}


def test_cut_transfers_fail(engine, bucket, is_full):
    places = range(1, 64, 1 if is_full else 8)
    cut(engine, bucket, 64 * MIB, [place * MIB for place in places])


def test_cut_transfers_of_5_gib_fail(engine, bucket, is_full):
    if not is_full:
        pytest.skip("only in the long form")
    cut(engine, bucket, LARGE, [LARGE // (CUTS + 1) * number for number in range(1, CUTS + 1)])
