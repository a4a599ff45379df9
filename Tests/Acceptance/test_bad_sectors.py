"""One object that the disk cannot read: it is reported, everything else continues, and a restore over the store repairs it."""

import errno
import json

import pytest
from support.commands import REFUSED, CommandLine, offline
from support.faults import bad_sector
from support.gateway import eventually
from support.parties import Fleet, unique
from support.uploads import completed, content

pytestmark = pytest.mark.sqlite

SIZES = (1000, 700_000, 2000)
#: After the first piece that is read at once.
BAD_BYTE = 500_000
ERRORS = [errno.EIO, errno.ENODATA, errno.EILSEQ, errno.EUCLEAN, errno.EBADMSG]


@pytest.fixture(params=ERRORS, ids=[errno.errorcode[error] for error in ERRORS])
def error(request) -> int:
    return request.param


def test_bad_sector_damages_only_the_objects_on_it(binary, gateway_with, login, tmp_path, error):
    gateway = gateway_with({"uploads": {"part_size_bytes": 1 << 20}})
    operator = CommandLine(binary, gateway, tmp_path).login()
    user = login(gateway)
    uploader = Fleet.create(user).uploader()
    run = unique("run")
    for size in SIZES:
        completed(uploader, content(size), {"run": run})
    ids = {found.size_bytes: found.file_id for found in user.list_all(filter=f"raw_tags.run={run}")}
    paths = {size: gateway.data / "store/data" / ids[size][:2] / ids[size] for size in SIZES}
    whole = tmp_path / "whole.backup"
    assert operator.json("backup", "--to", str(whole))["damaged_file_ids"] == []
    assert gateway.stop() == 0
    environment = bad_sector(paths[700_000], BAD_BYTE, error)

    # A backup completes, and reports which object it does not contain.
    gateway.environment = environment
    gateway.start()
    poor = tmp_path / "poor.backup"
    summary = operator.json("backup", "--to", str(poor))
    assert (summary["objects"], summary["bytes"], summary["missing_objects"]) == (3, sum(SIZES), 0)
    assert (summary["damaged_objects"], summary["damaged_file_ids"]) == (1, [ids[700_000]])
    again = operator.run("backup", "--to", str(tmp_path / "again.backup"))
    assert f"  {ids[700_000]}" in again.stdout.splitlines()
    assert gateway.stop() == 0

    # A restore of that archive reports it as well.
    outcome = offline(binary, "restore", "--from", poor, "--data-dir", tmp_path / "poor")
    assert outcome["damaged"] == {"count": 1, "file_ids": [ids[700_000]]}
    elsewhere = tmp_path / "poor/store/data"
    for size in (1000, 2000):
        assert (elsewhere / ids[size][:2] / ids[size]).read_bytes() == content(size)

    # The doctor reports it, and examines all the others.
    paths[2000].chmod(0o600)
    paths[2000].write_bytes(b"y" * 2000)
    report = offline(binary, "doctor", "--data-dir", gateway.data, "--checksums", code=REFUSED, environment=environment)
    assert sorted(report["damaged"]["file_ids"]) == sorted([ids[700_000], ids[2000]])

    # The earlier backup restores both. The replaced files are kept.
    outcome = offline(binary, "restore", "--from", whole, "--data-dir", gateway.data, environment=environment)
    assert (outcome["already_there"], outcome["missing"]["count"], outcome["damaged"]["count"]) == (1, 0, 0)
    assert {size: path.read_bytes() == content(size) for size, path in paths.items()} == dict.fromkeys(SIZES, True)
    assert (gateway.data / "store/quarantine" / ids[700_000]).read_bytes() == content(700_000)
    report = offline(binary, "doctor", "--data-dir", gateway.data, "--checksums", code=REFUSED, environment=environment)
    assert report["damaged"]["count"] == report["missing"]["count"] == 0
    gateway.start()
    assert {found.file_id for found in user.list_all(filter=f"raw_tags.run={run}")} == set(ids.values())


def test_scrubber_marks_a_bad_sector_and_continues(binary, gateway_with, login, tmp_path, error):
    gateway = gateway_with({"scrub": {"bytes_per_second": 0}})
    user = login(gateway)
    uploader = Fleet.create(user).uploader()
    run = unique("run")
    for size in SIZES:
        completed(uploader, content(size), {"run": run})
    ids = {found.size_bytes: found.file_id for found in user.list_all(filter=f"raw_tags.run={run}")}
    paths = {size: gateway.data / "store/data" / ids[size][:2] / ids[size] for size in SIZES}
    assert gateway.stop() == 0
    # A newer one is damaged, too: it is found after the unreadable one.
    paths[2000].chmod(0o600)
    paths[2000].write_bytes(b"y" * 2000)
    paths[2000].chmod(0o400)
    gateway.environment = bad_sector(paths[700_000], BAD_BYTE, error)
    gateway.config.write_text(json.dumps({"scrub": {"bytes_per_second": 1 << 30}}))
    gateway.start()

    def bad() -> set[str]:
        return {found.file_id for found in user.object_management("ListBadObjects").objects}

    eventually(lambda: bad() == {ids[700_000], ids[2000]})
