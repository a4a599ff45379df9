"""Many devices in a process of their own: `python -m support.swarm`, with a plan on standard input.

Each device uploads files one after the other, and the process prints one line of JSON with durations and failures.
"""

import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

import grpc

from .oss import Credentials
from .parties import Uploader
from .raw import RawStore
from .stubs import load
from .uploads import content


@dataclass
class Plan:
    """The work of one process's devices."""

    protos: str
    listeners: dict[str, str]
    credentials: list[str]
    #: The number of files of each device.
    uploads: int
    #: The mean of the random time between the beginnings of two uploads, in seconds; 0 = at once.
    interval: float
    #: The bytes of a part, and the number of parts of a file.
    part_size: int
    parts: int
    seed: int


@dataclass
class Outcome:
    """The result of a process. `timings`: the name of each call, its beginning (Unix time) and its duration in
    seconds.

    `failures`: the call that ended an upload, its time, and its error.
    """

    timings: list[tuple[str, float, float]] = field(default_factory=list)
    failures: list[tuple[str, float, str]] = field(default_factory=list)
    uploads: int = 0


class Swarm:
    """The processes of a plan that was divided among them."""

    def __init__(self, plan: Plan, processes: int):
        self._processes = []
        for number in range(processes):
            share = asdict(plan) | {"credentials": plan.credentials[number::processes], "seed": plan.seed + number}
            process = subprocess.Popen(
                [sys.executable, "-m", "support.swarm"],
                cwd=Path(__file__).resolve().parents[1],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            process.stdin.write(json.dumps(share))
            process.stdin.close()
            self._processes.append(process)

    def wait(self) -> Outcome:
        """Waits for the processes, and returns the combined result."""
        whole = Outcome()
        for process in self._processes:
            output = process.stdout.read()
            process.stdout.close()
            assert process.wait() == 0, f"a swarm ended with {process.returncode}"
            part = Outcome(**json.loads(output))
            whole.timings += [tuple(timing) for timing in part.timings]
            whole.failures += part.failures
            whole.uploads += part.uploads
        return whole


class _Gateway:
    """The part of a gateway that a caller in another process needs, with its own connections."""

    def __init__(self, listeners: dict[str, str]):
        options = [("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0)]
        self._channels = {name: grpc.insecure_channel(address, options) for name, address in listeners.items()}

    def channel(self, listener: str) -> grpc.Channel:
        return self._channels[listener]


class _Device:
    def __init__(self, plan: Plan, stubs, credential: str, outcome: Outcome, chance: random.Random):
        self.plan, self.outcome, self.chance = plan, outcome, chance
        self.uploader = Uploader(_Gateway(plan.listeners), stubs, credential)
        self.doing = ""
        self.data = content(plan.part_size * plan.parts, seed=chance.randrange(1000))

    def run(self) -> None:
        # Devices do not all begin at the same moment.
        start = time.monotonic() + self.chance.random() * self.plan.interval
        for _ in range(self.plan.uploads):
            time.sleep(max(0, start - time.monotonic()))
            start += self.plan.interval * self.chance.uniform(0.5, 1.5)
            try:
                self.upload()
                self.outcome.uploads += 1
            except Exception as error:  # noqa: BLE001 - whatever it was, the test says so, and the load stays what it is
                self.outcome.failures.append((self.doing, time.time(), f"{type(error).__name__}: {error}"))

    def timed(self, name: str, call):
        self.doing, at, before = name, time.time(), time.perf_counter()
        response = call()
        self.outcome.timings.append((name, at, time.perf_counter() - before))
        return response

    def upload(self) -> None:
        uploader = self.uploader
        self.timed("ExchangeCredential", uploader.sign_in)
        created = self.timed("CreateLogicalUpload", uploader.create)
        store = RawStore(Credentials.of(created.credentials))
        multipart = self.request("InitiateMultipartUpload", store, "POST", [("uploads", "")]).text("UploadId")
        etags = []
        for number in range(1, self.plan.parts + 1):
            query = [("partNumber", str(number)), ("uploadId", multipart)]
            piece = self.data[(number - 1) * self.plan.part_size : number * self.plan.part_size]
            etags.append(self.request("UploadPart", store, "PUT", query, piece).headers["ETag"])
        recovery = self.timed("GetUploadRecovery", lambda: uploader.recovery(created.logical_upload_id))
        assert recovery.current_upload_id == created.upload_id
        self.timed("ReissueUploadCredentials", lambda: uploader.reissue(created.upload_id))
        listed = "".join(
            f"<Part><PartNumber>{number}</PartNumber><ETag>{etag}</ETag></Part>"
            for number, etag in enumerate(etags, start=1)
        )
        document = f"<CompleteMultipartUpload>{listed}</CompleteMultipartUpload>".encode()
        query = [("uploadId", multipart)]
        joined = self.request("CompleteMultipartUpload", store, "POST", query, document)
        self.timed(
            "CompleteUpload",
            lambda: uploader.complete(
                created.upload_id,
                file_size=len(self.data),
                completed_part_count=len(etags),
                oss_object_etag=joined.headers["ETag"],
                part_size_bytes=self.plan.part_size,
            ),
        )

    def request(self, name: str, store: RawStore, method: str, query: list, body: bytes = b""):
        response = self.timed(name, lambda: store.request(method, query, body))
        assert response.status == 200, (name, response.status, response.body)
        return response


def main() -> None:
    plan = Plan(**json.load(sys.stdin))
    outcome = Outcome()
    with tempfile.TemporaryDirectory() as directory:
        stubs = load(Path(plan.protos), Path(directory))
        devices = [
            _Device(plan, stubs, credential, outcome, random.Random(f"{plan.seed}/{number}"))
            for number, credential in enumerate(plan.credentials)
        ]
        threads = [threading.Thread(target=device.run) for device in devices]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    json.dump(asdict(outcome), sys.stdout)


if __name__ == "__main__":
    main()
