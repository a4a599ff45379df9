"""Real S3 engines: streamed transfers, what remains of those that are cut, what is found in a bucket, and the owner of a prefix."""

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
    folder = tmp_path_factory.mktemp(request.param.__name__)
    options = {"in_memory": not is_full} if request.param is RadosGateway else {}
    engine = request.param(folder, **options)
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


def findings(engine, bucket: str) -> set[str]:
    """Returns the severity of each finding with the beginning of its sentence."""
    lines = transfer("probe", engine.address, bucket).splitlines()
    return {" ".join(line.split()[:4]) for line in lines}


def test_usual_bucket_is_accepted(engine, bucket):
    assert findings(engine, bucket) == {"fact: The engine honors"}
    assert engine.sizes(bucket) == {}


def test_lifecycle_rule_below_the_prefix_is_refused(engine, bucket):
    def put(**rule) -> None:
        rules = [{"ID": "old", "Status": "Enabled", **rule}]
        engine.s3.put_bucket_lifecycle_configuration(Bucket=bucket, LifecycleConfiguration={"Rules": rules})

    expiration = {"Expiration": {"Days": 30}}
    put(Filter={"Prefix": "gateway/data"}, **expiration)
    assert "refusal: The lifecycle rule" in findings(engine, bucket)
    assert 'rule "old" (Expiration)' in transfer("probe", engine.address, bucket)
    put(Filter={"Prefix": "logs/"}, **expiration)
    assert findings(engine, bucket) == {"fact: The engine honors"}
    put(Filter={"Prefix": ""}, AbortIncompleteMultipartUpload={"DaysAfterInitiation": 3})
    assert findings(engine, bucket) == {"fact: The engine honors"}


def test_versioning_is_found(engine, bucket):
    for status, finding in (
        ("Enabled", "refusal: Versioning is enabled:"),
        ("Suspended", "warning: Versioning is suspended:"),
    ):
        engine.s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": status})
        assert finding in findings(engine, bucket)


def test_object_lock_is_found(engine, bucket):
    bucket += "-locked"
    engine.s3.create_bucket(Bucket=bucket, ObjectLockEnabledForBucket=True)
    assert "warning: Object lock is" in findings(engine, bucket)
    rule = {"DefaultRetention": {"Mode": "GOVERNANCE", "Days": 1}}
    lock = {"ObjectLockEnabled": "Enabled", "Rule": rule}
    engine.s3.put_object_lock_configuration(Bucket=bucket, ObjectLockConfiguration=lock)
    assert "refusal: The bucket's object" in findings(engine, bucket)


def test_missing_bucket_is_refused(engine):
    assert findings(engine, "missing") == {"refusal: The bucket missing"}


def test_prefix_has_one_owner(engine, bucket):
    lines = transfer("prefix", engine.address, bucket).splitlines()
    assert len(lines) == 3
    assert all("in use by process 1 on host first" in line for line in lines[:2])
    assert lines[2] == "third: lost(to: nil)"
    assert engine.sizes(bucket) == {}


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
