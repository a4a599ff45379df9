"""Clients of a service that upload and list until they are ended, and a record of what was acknowledged to them."""

import hashlib
import itertools
import json
import subprocess
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import grpc
from oss2.exceptions import RequestError

from .client import Device
from .commands import OK
from .gateway import Gateway, eventually
from .oss import StoreError
from .parties import Fleet, User, unique
from .s3 import client as s3_client
from .static_keys import OWNER
from .uploads import FILE_NAME_TAG, MIB, Upload, content, download, fresh_seeds
from .waiting import WAIT_SECONDS

#: The waits of clients between attempts, in seconds.
FIRST_WAIT, LONGEST_WAIT = 0.05, 1.0
#: The acknowledgments to each client after which it has gone on.
ENOUGH = 2


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@dataclass
class Counts:
    """What clients noticed in a period."""

    uploads: int = 0
    #: Unary calls of gRPC that succeeded, and those that failed and were made again.
    calls: int = 0
    failed_calls: int = 0
    #: Requests to the store that failed and were sent again.
    repeated_requests: int = 0
    #: The longest time without an upload of a kind of client, in seconds.
    longest_pause: float = 0

    def __str__(self) -> str:
        return (
            f"{self.uploads} uploads; {self.calls} calls of gRPC, {self.failed_calls} more failed; "
            f"{self.repeated_requests} requests to the store repeated; longest pause of all clients {self.longest_pause:.1f} s"
        )


class Record:
    """What was acknowledged, and what failed; for all threads."""

    def __init__(self):
        self._lock = threading.Lock()
        self.uploads: dict[str, int] = {}
        #: What ended a client; a client ends with nothing else.
        self.failures: list[str] = []
        #: The calls that failed, with their codes, and were made again.
        self.failed_calls: list[str] = []
        self._calls = self._repeated = 0
        self._times: list[float] = []
        self._before = Counts()
        self._since = time.monotonic()

    def acknowledged(self, client: str) -> None:
        with self._lock:
            self.uploads[client] = self.uploads.get(client, 0) + 1
            self._times.append(time.monotonic())

    def succeeded(self) -> None:
        with self._lock:
            self._calls += 1

    def failed(self, failure: Exception) -> None:
        """Notes a call or a request that is going to be made again."""
        with self._lock:
            if isinstance(failure, grpc.RpcError):
                self.failed_calls.append(f"{failure.code().name}: {failure.details()}")
            else:
                self._repeated += 1

    def repeated(self, times: int) -> None:
        with self._lock:
            self._repeated += times

    def troubles(self) -> int:
        """Returns the number of calls and requests that failed and were made again."""
        with self._lock:
            return len(self.failed_calls) + self._repeated

    def ended(self, client: str, failure: Exception) -> None:
        with self._lock:
            self.failures.append(f"{client}: {failure!r}\n{''.join(traceback.format_tb(failure.__traceback__)[-3:])}")

    def turn(self) -> Counts:
        """Returns what was noticed since the last turn."""
        with self._lock:
            now = time.monotonic()
            marks = [self._since, *self._times, now]
            pause = max(after - before for before, after in itertools.pairwise(marks))
            whole = Counts(sum(self.uploads.values()), self._calls, len(self.failed_calls), self._repeated)
            before, self._before = self._before, whole
            self._times, self._since = [], now
            return Counts(
                whole.uploads - before.uploads,
                whole.calls - before.calls,
                whole.failed_calls - before.failed_calls,
                whole.repeated_requests - before.repeated_requests,
                pause,
            )


def is_transient(failure: Exception) -> bool:
    if isinstance(failure, grpc.RpcError):
        return failure.code() is grpc.StatusCode.UNAVAILABLE
    return failure.status >= 500 if isinstance(failure, StoreError) else True


def patiently(record: Record, request: Callable[[], object]):
    """Repeats what failed because a part of the service ended, as clients do, for `WAIT_SECONDS`."""
    deadline, wait = time.monotonic() + WAIT_SECONDS, FIRST_WAIT
    while True:
        try:
            return request()
        except (StoreError, RequestError, OSError, grpc.RpcError) as failure:
            if not is_transient(failure) or time.monotonic() > deadline:
                raise
            record.failed(failure)
        time.sleep(wait)
        wait = min(2 * wait, LONGEST_WAIT)


class Client:
    """One client in a thread of its own."""

    #: The program or library.
    kind = ""

    def __init__(self, record: Record):
        self.record = record
        self.name = unique(self.kind)
        #: The digests of what was acknowledged, by the name of the object.
        self.acknowledged: dict[str, str] = {}
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def ask_to_end(self) -> None:
        self._ending.set()

    def join(self) -> None:
        self._thread.join()

    def abandon(self) -> None:
        """Ends the client's processes; its thread ends with this process."""
        self.ask_to_end()

    def _run(self) -> None:
        try:
            while not self._ending.is_set():
                name, data = self.work()
                self.acknowledged[name] = digest(data)
                self.record.acknowledged(self.name)
        except Exception as failure:  # noqa: BLE001 - whatever it was, the record has it
            self.record.ended(self.name, failure)

    def work(self) -> tuple[str, bytes]:
        """Uploads something new, and returns its name and bytes when it was acknowledged."""
        raise NotImplementedError

    def lost(self, boss: User) -> list[str]:
        """Downloads all that was acknowledged, and returns the names of what is missing or different."""
        raise NotImplementedError

    def patient(self, request: Callable[[], object]):
        return patiently(self.record, request)

    def call(self, request: Callable[[], object]):
        """Makes a unary call of gRPC, again if it fails."""
        response = self.patient(request)
        self.record.succeeded()
        return response


class SdkClient(Client):
    """A device with an SDK: grpcio, and oss2 for a file in parts; each third file is one PUT."""

    kind = "oss2"

    def __init__(self, record: Record, fleet: Fleet, boss: User):
        super().__init__(record)
        self._uploader, self._boss = fleet.uploader(), boss
        self._sizes = itertools.cycle((2 * MIB + 1234, MIB + 1, 100_000))

    def work(self) -> tuple[str, bytes]:
        data = content(next(self._sizes), next(fresh_seeds))
        upload = self.call(lambda: Upload.create(self._uploader, "oss2-v4"))
        if len(data) < MIB:
            self.patient(lambda: upload.put(data))
        else:
            self._send_parts(upload, data)
        self.call(upload.complete)
        assert self.call(upload.recovery).oss_object_etag == upload.etag
        self.call(lambda: self._boss.objects("ListObjects", page_size=10))
        return upload.etag, data

    def _send_parts(self, upload: Upload, data: bytes) -> None:
        store = upload.store
        multipart = self.patient(store.initiate)
        upload.size = len(data)
        for number, start in enumerate(range(0, len(data), MIB), start=1):
            piece = data[start : start + MIB]
            upload.parts.append(
                self.patient(lambda number=number, piece=piece: store.upload_part(multipart, number, piece))
            )
        upload.etag = self.patient(lambda: store.complete(multipart, upload.parts))

    def lost(self, boss: User) -> list[str]:
        files = {entry.etag: entry.file_id for entry in boss.list_all()}
        return [
            f"{self.name}: the object {etag}"
            for etag, expected in self.acknowledged.items()
            if etag not in files or digest(download(boss, files[etag])) != expected
        ]


class GrpcClient(Client):
    """A script of an operator: calls of gRPC that HAProxy may send again, some of which make something."""

    kind = "grpcio"

    def __init__(self, record: Record, boss: User):
        super().__init__(record)
        self._boss = boss

    def work(self) -> tuple[str, bytes]:
        name = unique("site")
        boss = self._boss
        site = self.call(lambda: boss.admin("CreateSite", name=name)).site.site_id
        assert self.call(lambda: boss.admin("GetSite", site_id=site)).site.name == name
        suite = self.call(lambda: boss.devices("CreateDeviceSuite", site_id=site, display_name=name)).name
        device = self.call(lambda: boss.devices("RegisterDevice", suite=suite)).name
        assert self.call(lambda: boss.devices("GetDevice", name=device)).suite == suite
        return str(site), name.encode()

    def lost(self, boss: User) -> list[str]:
        return [
            f"{self.name}: the site {site}"
            for site, expected in self.acknowledged.items()
            if digest(boss.admin("GetSite", site_id=int(site)).site.name.encode()) != expected
        ]


class S3Client(Client):
    """boto3 with a static key, and its own repetitions; each second object is sent in parts."""

    kind = "boto3"
    #: The least size of a part in S3.
    _PART = 5 * MIB

    def __init__(self, record: Record, gateway: Gateway):
        super().__init__(record)
        retries = {"total_max_attempts": 30, "mode": "standard"}
        self._s3 = s3_client(OWNER.credentials(gateway), retries=retries, connect_timeout=10)
        self._sizes = itertools.cycle((200_000, self._PART + 100_000))
        self._numbers = itertools.count(1)

    def work(self) -> tuple[str, bytes]:
        key, data = f"{self.name}/{next(self._numbers)}", content(next(self._sizes), next(fresh_seeds))
        place = {"Bucket": "data", "Key": key}
        if len(data) < self._PART:
            self._count(self._s3.put_object(**place, Body=data))
            return key, data
        upload = place | {"UploadId": self._count(self._s3.create_multipart_upload(**place))["UploadId"]}
        parts = []
        for number, start in enumerate(range(0, len(data), self._PART), start=1):
            piece = data[start : start + self._PART]
            reply = self._count(self._s3.upload_part(**upload, PartNumber=number, Body=piece))
            parts.append({"PartNumber": number, "ETag": reply["ETag"]})
        self._count(self._s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": parts}))
        return key, data

    def _count(self, reply: dict) -> dict:
        self.record.repeated(reply["ResponseMetadata"]["RetryAttempts"])
        return reply

    def lost(self, boss: User) -> list[str]:
        return [
            f"{self.name}: the object {key}"
            for key, expected in self.acknowledged.items()
            if not self._has(key, expected)
        ]

    def _has(self, key: str, expected: str) -> bool:
        try:
            return digest(self._s3.get_object(Bucket="data", Key=key)["Body"].read()) == expected
        except self._s3.exceptions.ClientError:
            return False


class DeviceClient(Client):
    """The device program: `data-gateway upload` for one file after the other."""

    kind = "device"

    def __init__(self, record: Record, binary: Path, gateway: Gateway, fleet: Fleet, folder: Path):
        super().__init__(record)
        self.folder = folder / self.name
        addresses = {
            name: SimpleNamespace(address=gateway.listeners[listener])
            for name, listener in (("auth", "auth"), ("rpc", "gateway"), ("device_init", "device-init"))
        }
        self.device = Device(binary, SimpleNamespace(**addresses), self.folder).join(fleet)
        self._upload: subprocess.Popen | None = None

    def work(self) -> tuple[str, bytes]:
        path = self.new_file()
        data = path.read_bytes()
        self._upload = self.device.start("upload", path, "--quiet", "--retry-for", str(WAIT_SECONDS))
        output = self._upload.communicate()
        assert self._upload.returncode == OK, (self._upload.returncode, output)
        path.unlink()
        return path.name, data

    def abandon(self) -> None:
        super().abandon()
        if self._upload and self._upload.poll() is None:
            self._upload.kill()
            self._upload.wait()

    def new_file(self, size: int = 3 * MIB + 321) -> Path:
        path = self.folder / f"{unique('drive')}.mcap"
        path.write_bytes(content(size, next(fresh_seeds)))
        return path

    def lost(self, boss: User) -> list[str]:
        listed = boss.list_all(filter=f"device={self.device.device_id}")
        files = {entry.tags[FILE_NAME_TAG]: entry.file_id for entry in listed}
        return [
            f"{self.name}: the file {name}"
            for name, expected in self.acknowledged.items()
            if name not in files or digest(download(boss, files[name])) != expected
        ]


class AgentClient(DeviceClient):
    """The agent of a device: it uploads what appears in a directory, and deletes what was acknowledged."""

    kind = "agent"

    def __init__(self, record: Record, binary: Path, gateway: Gateway, fleet: Fleet, folder: Path):
        super().__init__(record, binary, gateway, fleet, folder)
        (watched := folder / f"{self.name}-watched").mkdir()
        rule = {"path": str(watched), "settle_seconds": 1, "after_upload": "delete"}
        (self.folder / "agent.json").write_text(json.dumps({"directories": [rule]}))
        self._watched = watched
        self._agent: subprocess.Popen | None = None

    def start(self) -> None:
        with (self.folder / "agent.log").open("ab") as log:
            self._agent = self.device.start("agent", "run", stdout=subprocess.DEVNULL, stderr=log.fileno())
        super().start()

    def work(self) -> tuple[str, bytes]:
        path = self.new_file(size=MIB + 99)
        data = path.read_bytes()
        path = path.rename(self._watched / path.name)
        eventually(lambda: not path.exists())
        return path.name, data

    def join(self) -> None:
        super().join()
        self.abandon()

    def abandon(self) -> None:
        super().abandon()
        if self._agent:
            self._agent.kill()
            self._agent.wait()


class Workload:
    """All clients of a service, with one record."""

    def __init__(self, boss: User):
        self.boss = boss
        self.record = Record()
        self.clients: list[Client] = []
        self._fleet: Fleet | None = None

    def add_sdks(self, count: int = 1) -> "Workload":
        """Adds devices with an SDK."""
        self._fleet = self._fleet or Fleet.create(self.boss)
        self.clients += [SdkClient(self.record, self._fleet, self.boss) for _ in range(count)]
        return self

    def add_scripts(self, count: int) -> "Workload":
        """Adds scripts of the operator."""
        self.clients += [GrpcClient(self.record, self.boss) for _ in range(count)]
        return self

    def add_all(self, binary: Path, folder: Path) -> "Workload":
        """Adds one client of each kind, and two device programs."""
        self.add_sdks()
        gateway = self.boss.gateway
        programs = [
            kind(self.record, binary, gateway, self._fleet, folder)
            for kind in (DeviceClient, DeviceClient, AgentClient)
        ]
        self.clients += [GrpcClient(self.record, self.boss), S3Client(self.record, gateway), *programs]
        return self

    def start(self) -> "Workload":
        for client in self.clients:
            client.start()
        return self

    def go_on(self, enough: int = ENOUGH) -> None:
        """Waits until each client has had further acknowledgments."""
        before = {client.name: len(client.acknowledged) for client in self.clients}
        self._wait(lambda: all(len(client.acknowledged) >= before[client.name] + enough for client in self.clients))

    def notice(self) -> None:
        """Waits until a request was repeated."""
        before = self.record.troubles()
        self._wait(lambda: self.record.troubles() > before)

    def _wait(self, condition: Callable[[], bool]) -> None:
        try:
            eventually(lambda: self.record.failures or condition())
        except AssertionError as failure:
            counts = {client.name: len(client.acknowledged) for client in self.clients}
            raise AssertionError(f"clients do not go on: {counts}") from failure
        assert not self.record.failures, "\n".join(self.record.failures)

    def end(self) -> None:
        """Lets each client complete what it has begun."""
        for client in self.clients:
            client.ask_to_end()
        for client in self.clients:
            client.join()

    def abandon(self) -> None:
        """Ends the clients although the service may not be there."""
        for client in self.clients:
            client.abandon()

    def lost(self) -> list[str]:
        """Downloads everything that was acknowledged, and returns what is missing or different, and what ended clients."""
        return [*self.record.failures, *(lost for client in self.clients for lost in client.lost(self.boss))]
