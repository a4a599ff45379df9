"""A warm spare: Litestream copies the database of a gateway whose objects are in a bucket, and another machine takes over.

The page is docs/spare.md. `scripts/lab spare` installs Litestream.
"""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import grpc
import oss2.exceptions
import pytest
from support.buckets import KEY, Bucket
from support.gateway import Gateway, eventually
from support.oss import StoreError
from support.parties import PASSWORD, Fleet, User, unique
from support.uploads import MIB, Upload, content, download, fresh_seeds

pytestmark = pytest.mark.sqlite

PROGRAM = Path(__file__).resolve().parents[2] / ".build/litestream/bin/litestream"
#: The option by which a gateway takes the prefix of one that is gone.
TAKE_OVER = ["sh", "-c", 'exec "$@" --take-over', "sh"]
CONFIGURATION = """
dbs:
  - path: {data}/gateway.db
    replica:
      type: s3
      bucket: data
      path: litestream
      endpoint: http://{address}
      region: us-east-1
      force-path-style: true
      sync-interval: 200ms
"""


class Litestream:
    """Litestream on one machine."""

    def __init__(self, folder: Path, bucket: Bucket, data: Path):
        self.configuration = folder / "litestream.yml"
        self.configuration.write_text(CONFIGURATION.format(data=data, address=bucket.address))
        # Its client does not start with another bundle of authorities.
        self.environment = {name: value for name, value in os.environ.items() if name != "AWS_CA_BUNDLE"}
        self.environment |= {"AWS_ACCESS_KEY_ID": KEY.id, "AWS_SECRET_ACCESS_KEY": KEY.secret}
        self.data = data
        self.output = folder / "litestream.log"

    def replicate(self) -> subprocess.Popen:
        with self.output.open("ab") as output:
            command = [PROGRAM, "replicate", "-config", self.configuration]
            return subprocess.Popen(command, stdout=output, stderr=output, env=self.environment)

    def restore(self, to: Path) -> bool:
        """Restores the copy; returns whether there is one."""
        to.unlink(missing_ok=True)
        command = [PROGRAM, "restore", "-config", self.configuration, "-o", to, self.data / "gateway.db"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=self.environment)
        return done.returncode == 0


@pytest.fixture
def litestream():
    if not PROGRAM.exists():
        pytest.skip("Litestream is not installed: scripts/lab spare")


def uploaded(fleet: Fleet, size: int) -> tuple[Upload, bytes]:
    upload, data = Upload.create(fleet.uploader(), "oss2-v4"), content(size, next(fresh_seeds))
    upload.put(data).complete()
    return upload, data


def etags(user: User) -> set[str]:
    return {each.etag for each in user.list_all()}


def is_copied(copier: Litestream, marker: str, folder: Path) -> bool:
    """Whether the copy has the text, which was written last."""
    restored = folder / "probe.db"
    return copier.restore(restored) and marker.encode() in restored.read_bytes()


@pytest.mark.usefixtures("litestream")
def test_a_spare_takes_over_with_the_copied_metadata(gateway_with, binary, login, stubs, tmp_path):
    bucket = Bucket.start(gateway_with, tmp_path)
    config = {"objects": bucket.settings(), "uploads": {"part_size_bytes": MIB}}
    old = gateway_with(config)
    boss = login(old)
    copier = Litestream(tmp_path, bucket, old.data)
    running = copier.replicate()
    try:
        fleet = Fleet.create(boss)
        kept = [uploaded(fleet, size) for size in (1000, 3 * MIB)]
        viewer = unique("viewer")
        boss.users("CreateUser", user_name=viewer, password=PASSWORD, role="viewer")
        eventually(lambda: is_copied(copier, viewer, tmp_path), every=1)
    finally:
        running.kill()
        running.wait()
    # What happens after the last copy is lost with the machine: an object, and a revocation.
    lost, _ = uploaded(fleet, 2000)
    boss.users("DeleteUser", user_name=viewer)
    segments = bucket.keys("robots/data/")
    # The machine does not answer; it is not known whether it has ended.
    old.process.send_signal(signal.SIGSTOP)
    try:
        spare = Gateway(binary, tmp_path, config)
        spare.data.mkdir()
        shutil.copytree(old.data / "keys", spare.data / "keys")
        shutil.copy(old.data / "format", spare.data)
        assert copier.restore(spare.data / "gateway.db")
        spare.wrapper = TAKE_OVER

        def starts() -> bool:
            try:
                spare.start()
            except AssertionError as refusal:
                assert "it can be taken over after 60 seconds" in str(refusal), refusal
                return False
            return True

        eventually(starts, seconds=180, every=5)
        try:
            again = login(spare)
            assert etags(again) == {upload.etag for upload, _ in kept}
            for upload, data in kept:
                (entry,) = [each for each in again.list_all() if each.etag == upload.etag]
                assert download(again, entry.file_id) == data
            # The lost revocation: the user is back. The bytes of the lost object are still in the bucket.
            assert User.login(spare, stubs, "system", viewer, PASSWORD)
            assert lost.etag not in etags(again)
            assert segments <= bucket.keys("robots/data/")
            uploaded(Fleet.create(again), 500)
            # The machine is back, and acknowledges nothing.
            old.process.send_signal(signal.SIGCONT)
            with pytest.raises((grpc.RpcError, StoreError, oss2.exceptions.RequestError)):
                uploaded(fleet, 700)
            assert old.process.wait(120) != 0
            assert segments <= bucket.keys("robots/data/")
        finally:
            spare.close()
    finally:
        old.kill()
