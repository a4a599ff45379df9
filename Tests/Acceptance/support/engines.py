"""S3 engines on this machine: Ceph's RGW, from Debian's packages, and SeaweedFS, from PyPI; see `scripts/lab engines`."""

import json
import os
import shutil
import subprocess
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import boto3
import requests
from botocore.config import Config

from .ports import free_port
from .process import run

ACCESS_KEY, SECRET_KEY = "AKGATEWAY", "SKGATEWAY"
ROOT = Path(__file__).resolve().parents[3]
#: The program of SeaweedFS.
WEED = ROOT / ".build/engines/bin/weed"

CEPH = """
[global]
fsid = {fsid}
run_dir = {folder}/run
log_file = {folder}/log/$name.log
admin_socket = {folder}/run/$name.asok
pid_file = {folder}/run/$name.pid
crash_dir = {folder}/crash
keyring = {folder}/keyring
mon_host = v2:127.0.0.1:{monitor}/0
public_addr = 127.0.0.1
ms_bind_msgr1 = false
mon_allow_pool_size_one = true
mon_max_pg_per_osd = 1000
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 1
osd_pool_default_pg_autoscale_mode = off
osd_crush_chooseleaf_type = 0
[mon]
mon_data = {folder}/mon
mon_data_avail_warn = 1
mon_data_avail_crit = 1
mgr_initial_modules =
[mgr]
mgr_data = {folder}/mgr
mgr_module_path = {folder}/none
[osd]
osd_data = {folder}/osd
osd_objectstore = {store}
bluestore_block_size = 21474836480
memstore_device_bytes = 8589934592
osd_memory_target = 1073741824
osd_class_load_list = *
osd_class_default_list = *
[client.rgw]
rgw_data = {folder}/rgw
rgw_frontends = beast endpoint=127.0.0.1:{port}
rgw_dynamic_resharding = false
"""


#: How long an engine may take to start: a new machine with other work to do needs minutes.
START_SECONDS = 300
#: The packages of RGW.
CEPH_PACKAGES = "ceph-mon ceph-osd ceph-mgr radosgw ceph-common"


class Engine:
    """A running engine with one bucket."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.processes: list[subprocess.Popen] = []
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"

    def start(self, *command, **options) -> None:
        # No engine outlives a test run that is killed.
        words = ["setpriv", "--pdeathsig", "KILL", *(str(word) for word in command)]
        with (self.folder / "output").open("ab") as output:
            self.processes.append(subprocess.Popen(words, stdout=output, stderr=output, **options))

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Waits for a step of the start, unless one of the processes has ended."""
        deadline = time.monotonic() + START_SECONDS
        while not condition():
            ended = [process.args for process in self.processes if process.poll() is not None]
            assert not ended and time.monotonic() < deadline, (ended, self.output())
            time.sleep(0.1)

    def output(self) -> str:
        """Returns the last lines of its processes."""
        path = self.folder / "output"
        return path.read_text(errors="replace")[-4000:] if path.exists() else ""

    def responds(self) -> bool:
        try:
            return requests.get(f"http://{self.address}/", timeout=5).status_code < 500
        except requests.RequestException:
            return False

    def make_bucket(self, name: str) -> None:
        self.s3 = boto3.client(
            "s3",
            endpoint_url=f"http://{self.address}",
            aws_access_key_id=ACCESS_KEY,
            aws_secret_access_key=SECRET_KEY,
            region_name="us-east-1",
            config=Config(s3={"addressing_style": "path"}, retries={"total_max_attempts": 5}),
        )
        self.s3.create_bucket(Bucket=name)

    def sizes(self, bucket: str) -> dict[str, int]:
        """Returns the objects of a bucket, fewer than a page."""
        return {each["Key"]: each["Size"] for each in self.s3.list_objects_v2(Bucket=bucket).get("Contents", [])}

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.kill()
            process.wait()
        self.processes.clear()


class RadosGateway(Engine):
    """RGW over one OSD with BlueStore, or in memory."""

    def __init__(self, folder: Path, in_memory: bool = False):
        super().__init__(folder)
        try:
            self._start("memstore" if in_memory else "bluestore")
        except BaseException:
            self.stop()
            raise

    def _start(self, store: str) -> None:
        folder = self.folder
        for name in ("mon", "mgr", "osd", "rgw", "run", "log", "none"):
            (folder / name).mkdir()
        fsid, monitor = str(uuid.uuid4()), free_port()
        configuration, keyring = folder / "ceph.conf", folder / "keyring"
        configuration.write_text(CEPH.format(fsid=fsid, folder=folder, monitor=monitor, port=self.port, store=store))
        self.environment = os.environ | {"CEPH_CONF": str(configuration)}
        self.run("ceph-authtool", "--create-keyring", keyring, "--gen-key", "-n", "mon.", "--cap", "mon", "allow *")
        for name in ("client.admin", "mgr.x", "osd.0", "client.rgw"):
            caps = [word for kind in ("mon", "osd", "mgr") for word in ("--cap", kind, "allow *")]
            self.run("ceph-authtool", keyring, "--gen-key", "-n", name, *caps)
        monitors = folder / "monitors"
        self.run("monmaptool", "--create", "--fsid", fsid, "--addv", "a", f"[v2:127.0.0.1:{monitor}]", monitors)
        self.run("ceph-mon", "--mkfs", "-i", "a", "--monmap", monitors, "--keyring", keyring)
        self.start("ceph-mon", "-i", "a", "-f", env=self.environment)
        self.run("ceph", "--connect-timeout", str(START_SECONDS), "status")
        self.start("ceph-mgr", "-i", "x", "-f", env=self.environment)
        disk = str(uuid.uuid4())
        self.run("ceph", "osd", "new", disk)
        self.run("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", disk)
        self.start("ceph-osd", "-i", "0", "-f", env=self.environment)
        self.wait_until(lambda: json.loads(self.run("ceph", "osd", "stat", "-f", "json").stdout)["num_up_osds"] == 1)
        self._start_front()
        keys = (f"--access-key={ACCESS_KEY}", f"--secret-key={SECRET_KEY}")
        self.run(
            "radosgw-admin", "-n", "client.rgw", "user", "create", "--uid=gateway", "--display-name=gateway", *keys
        )

    def _start_front(self) -> None:
        self.start("radosgw", "-n", "client.rgw", "-f", env=self.environment)
        self.wait_until(self.responds)

    def start_again(self) -> None:
        """Starts the programs after `stop`, with what they have stored."""
        for program, name in (("ceph-mon", "a"), ("ceph-mgr", "x"), ("ceph-osd", "0")):
            self.start(program, "-i", name, "-f", env=self.environment)
        self._start_front()

    def add_key(self, key_id: str, secret: str) -> None:
        """Lets requests also be signed with this key."""
        key = ("--key-type=s3", f"--access-key={key_id}", f"--secret-key={secret}")
        self.run("radosgw-admin", "-n", "client.rgw", "key", "create", "--uid=gateway", *key)

    def add_user(self, name: str, key_id: str, secret: str) -> None:
        """Makes a user who owns nothing."""
        key = (f"--access-key={key_id}", f"--secret-key={secret}")
        self.run("radosgw-admin", "-n", "client.rgw", "user", "create", f"--uid={name}", f"--display-name={name}", *key)

    def run(self, *command) -> subprocess.CompletedProcess:
        return run(*command, env=self.environment, timeout=2 * START_SECONDS)

    @staticmethod
    def exists() -> bool:
        return not RadosGateway.missing()

    @staticmethod
    def missing() -> list[str]:
        """Returns the programs that are not installed."""
        programs = ("ceph", "ceph-mon", "ceph-mgr", "ceph-osd", "radosgw", "radosgw-admin", "monmaptool", "setpriv")
        return [name for name in programs if not shutil.which(name)]


class SeaweedFS(Engine):
    """A server of SeaweedFS with all its parts."""

    def __init__(self, folder: Path):
        super().__init__(folder)
        identity = {
            "name": "gateway",
            "credentials": [{"accessKey": ACCESS_KEY, "secretKey": SECRET_KEY}],
            "actions": ["Admin", "Read", "Write", "List", "Tagging"],
        }
        (folder / "s3.json").write_text(json.dumps({"identities": [identity]}))
        (folder / "data").mkdir()
        self.start(
            WEED,
            f"-logdir={folder}",
            "server",
            f"-dir={folder}/data",
            "-ip=127.0.0.1",
            "-ip.bind=127.0.0.1",
            f"-master.port={free_port()}",
            f"-volume.port={free_port()}",
            "-filer",
            f"-filer.port={free_port()}",
            "-s3",
            f"-s3.port={self.port}",
            f"-s3.config={folder}/s3.json",
            "-master.volumeSizeLimitMB=128",
            "-volume.max=200",
            cwd=folder,
        )
        self.wait_until(self.responds)

    @staticmethod
    def exists() -> bool:
        return WEED.exists()
