"""A client's sequence of every kind of acknowledged call, which records the state that has to exist afterwards.

Acknowledged changes have to exist. Calls with an error or without a response may or may not have had an effect.
"""

import hashlib
import http.client
import time
from dataclasses import dataclass, field
from pathlib import Path

import grpc

from . import database_engine
from .database import rows
from .faults import Faults
from .gateway import Gateway, eventually
from .oss import Credentials
from .parties import PASSWORD, Fleet, Uploader, User, call, exchange, init_device, unique
from .raw import RawStore, fetch, fetch_url
from .uploads import content
from .webhooks import SECRET, Receiver

PART_SIZE = 65536
STATIC_KEY = ("TOOLS", "a secret of the tools")
#: The time for which tokens are used, in seconds.
TOKENS_FOR = 300
#: The statuses that a client may get from a gateway on a failing disk; it retries them.
TRANSIENT = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.INTERNAL)


class Refused(Exception):
    """A step was not acknowledged; the response asks for a retry."""


@dataclass
class Stored:
    """An object of the store: its location, and its possible contents; None = it does not exist."""

    store: RawStore
    key: str | None = None
    contents: set[bytes | None] = field(default_factory=lambda: {None})

    def put(self, data: bytes) -> str:
        self.contents.add(data)
        response = response_of(self.store, "PUT", body=data, key=self.key)
        self.contents = {data}
        return response.headers["ETag"]

    def delete(self) -> None:
        self.contents.add(None)
        response_of(self.store, "DELETE", key=self.key)
        self.contents = {None}

    def check(self) -> None:
        response = self.store.request("GET", key=self.key)
        assert response.status in (200, 404), response.body
        found = response.body if response.status == 200 else None
        assert found in self.contents, (
            f"{self.key}: {response.status}, {len(response.body)} bytes that nobody put there"
        )


@dataclass
class Attempt:
    """The known state of one upload."""

    logical_id: str
    id: str
    object: Stored
    multipart: str = ""
    #: The possible contents of a part by number; None = it does not exist.
    parts: dict[int, set[bytes | None]] = field(default_factory=dict)
    #: Whether CompleteUpload was sent, and whether it was acknowledged.
    is_sent: bool = False
    is_completed: bool = False
    #: Whether it may be aborted or superseded, so that nothing has to exist.
    may_be_over: bool = False
    is_aborted: bool = False
    #: Whether DeleteObject was sent, and whether it was acknowledged.
    may_be_deleted: bool = False
    is_deleted: bool = False


def response_of(store: RawStore, method: str, query=(), body: bytes | None = None, key: str | None = None):
    """Returns a successful response of the store; raises `Refused` for one that asks for a retry."""
    response = store.request(method, query, body, key=key)
    if response.status >= 500:
        raise Refused(f"{method}: {response.status}")
    assert response.status < 300, (method, response.status, response.body)
    return response


def etag(data: bytes) -> str:
    """Returns the ETag of a part, or of an object from a single PUT."""
    return f'"{hashlib.md5(data).hexdigest().upper()}"'


class Story:
    """One client with its own run tag, and its records."""

    def __init__(self, lab: "Lab"):
        self.lab, self.user, self.uploader = lab, lab.user, lab.uploader
        self.stubs = self.user.stubs
        self.run = unique("run")
        self.fleet: Fleet | None = None
        self.names: list[tuple[str, dict]] = []
        self.device_id = ""
        #: The API keys of the device that may be its current one.
        self.keys: set[str] = set()
        #: The number of the device's events that have to arrive.
        self.events = 0
        self.sessions: set[str] = set()
        self.attempts: dict[str, Attempt] = {}
        #: The attempts that may be the current one, by logical upload.
        self.current: dict[str, set[str]] = {}
        self.tools: list[Stored] = []
        #: The paths of copies, and their contents.
        self.copies: dict[Path, bytes] = {}
        self.file_id = ""

    def execute(self) -> "Story":
        """Runs all steps; raises `Refused` at the first one that is not acknowledged."""
        try:
            self._registries()
            self._device()
            self._login()
            self._put_twice()
            self._parts()
            self._restart_and_abort()
            self._delete()
            self._static_key()
            self._copy()
        except grpc.RpcError as error:
            if error.code() not in TRANSIENT:
                raise
            raise Refused(error.details()) from None
        except (OSError, http.client.HTTPException) as error:
            raise Refused(repr(error)) from None
        return self

    # Registries and keys.

    def _registries(self) -> None:
        self.fleet = Fleet.create(self.user)
        self.names.append(("GetSite", {"site_id": self.fleet.site_id}))
        self.names.append(("GetDeviceSuite", {"name": self.fleet.suite}))
        name = unique("user")
        self.user.users("CreateUser", user_name=name, password=PASSWORD, role="viewer")
        self.names.append(("GetUser", {"user_name": name}))

    def _device(self) -> None:
        device = self.fleet.register()
        self.names.append(("GetDevice", {"name": device.name}))
        for method in ("InitDevice", "ReinitDevice"):
            key = init_device(self.user.gateway, self.stubs, device.device_id, method).api_key
            # The second response may be lost, and with it the only key.
            self.keys = {key}
            self.device_id = device.device_id
            self.events += 1
            if method == "InitDevice":
                self.keys.add("")
        self.keys.discard("")

    def _login(self) -> None:
        _, fields = next(known for known in self.names if known[0] == "GetUser")
        self.sessions = {
            User.login(self.user.gateway, self.stubs, "system", fields["user_name"], PASSWORD).refresh_token
        }

    # Uploads.

    def _create(self, restart_from: Attempt | None = None) -> Attempt:
        if restart_from:
            restart_from.may_be_over = True
            # A new attempt, whose response may be lost.
            self.current[restart_from.logical_id].add("")
        reply = self.uploader.create(restart_from.id if restart_from else "")
        store = RawStore(Credentials.of(reply.credentials))
        attempt = Attempt(reply.logical_upload_id, reply.upload_id, Stored(store))
        self.attempts[attempt.id] = attempt
        self.current[attempt.logical_id] = {attempt.id}
        return attempt

    def _complete(self, attempt: Attempt, data: bytes, etag: str, parts: int = 0) -> None:
        attempt.is_sent = True
        # A client repeats calls without a response.
        for _ in range(2):
            self.uploader.complete(
                attempt.id,
                file_size=len(data),
                completed_part_count=parts,
                oss_object_etag=etag,
                raw_tags={"run": self.run},
            )
            attempt.is_completed = True

    def _put_twice(self) -> None:
        attempt = self._create()
        attempt.object.put(content(5000, 1))
        data = content(2 * PART_SIZE + 100, 2)
        self._complete(attempt, data, attempt.object.put(data))

    def _parts(self) -> None:
        attempt = self.begin_parts()
        pieces = {1: content(PART_SIZE, 3), 2: content(PART_SIZE, 4), 3: content(300, 5)}
        self.send_part(attempt, 1, pieces[1])
        self.send_part(attempt, 2, content(PART_SIZE, 6))
        self.send_part(attempt, 2, pieces[2])
        self.send_part(attempt, 3, pieces[3])
        self._finish(attempt, pieces)

    def begin_parts(self) -> Attempt:
        attempt = self._create()
        attempt.multipart = response_of(attempt.object.store, "POST", [("uploads", "")]).text("UploadId")
        return attempt

    def send_part(self, attempt: Attempt, number: int, piece: bytes) -> None:
        contents = attempt.parts.setdefault(number, {None})
        contents.add(piece)
        query = [("partNumber", str(number)), ("uploadId", attempt.multipart)]
        response = response_of(attempt.object.store, "PUT", query, piece)
        assert response.headers["ETag"] == etag(piece)
        attempt.parts[number] = {piece}

    def _finish(self, attempt: Attempt, pieces: dict[int, bytes]) -> None:
        listed = "".join(
            f"<Part><PartNumber>{number}</PartNumber><ETag>{etag(piece)}</ETag></Part>"
            for number, piece in pieces.items()
        )
        document = f"<CompleteMultipartUpload>{listed}</CompleteMultipartUpload>".encode()
        data = b"".join(pieces.values())
        attempt.object.contents.add(data)
        response = response_of(attempt.object.store, "POST", [("uploadId", attempt.multipart)], document)
        attempt.object.contents = {data}
        self._complete(attempt, data, response.text("ETag"), len(pieces))

    def _restart_and_abort(self) -> None:
        attempt = self._create()
        attempt.object.put(content(3000, 7))
        attempt = self._create(restart_from=attempt)
        attempt.object.put(content(3000, 8))
        attempt.may_be_over = True
        self.uploader.abort(attempt.logical_id)
        attempt.is_aborted = True

    def _delete(self) -> None:
        attempt = self._create()
        data = content(2000, 9)
        self._complete(attempt, data, attempt.object.put(data))
        (found,) = [o for o in self.user.list_all(filter=f"raw_tags.run={self.run}") if o.size_bytes == len(data)]
        attempt.may_be_deleted, attempt.may_be_over = True, True
        self.user.delete_permanently(found.file_id)
        attempt.is_deleted = True

    def _static_key(self) -> None:
        first, second = (self.lab.tools(unique("tools/object")) for _ in range(2))
        self.tools += [first, second]
        first.put(content(4000, 10))
        first.put(content(6000, 11))
        second.put(content(500, 12))
        second.delete()

    def _copy(self) -> None:
        attempt = next(attempt for attempt in self.attempts.values() if attempt.is_completed)
        (data,) = attempt.object.contents
        self.file_id = next(
            o.file_id for o in self.user.list_all(filter=f"raw_tags.run={self.run}") if o.size_bytes == len(data)
        )
        folder = {"endpoint": f"file://{self.lab.copies}", "key_template": f"{self.run}/{{file_id}}"}
        # The second attempt finds the existing file, which is acknowledged as well.
        for _ in range(2):
            job = self.user.copies("CreateCopyJob", file_ids=[self.file_id], destination=folder).copy_job_id
            status = eventually(lambda: self._status(job), every=0.02)
            if status != "SUCCEEDED":
                raise Refused(status)
            self.copies[self.lab.copies / self.run / self.file_id] = data

    def _status(self, job: str) -> str | None:
        """Returns the job's last status, also if the database's writer ends meanwhile."""
        if not self.lab.is_ready():
            return "NOT READY"
        name = self.stubs.gateway.CopyJobStatus.Name(self.user.copies("GetCopyJob", copy_job_id=job).job.status)
        status = name.removeprefix("COPY_JOB_STATUS_")
        return status if status in ("SUCCEEDED", "PARTIAL_FAILED", "FAILED", "CANCELED") else None

    # Checks.

    def check(self) -> None:
        """Checks that everything acknowledged exists, and that nothing is incomplete."""
        self.lab.renew_tokens()
        calls = {"GetSite": self.user.admin, "GetUser": self.user.users}
        for method, fields in self.names:
            assert calls.get(method, self.user.devices)(method, **fields)
        if "" not in self.keys:
            for key in self.keys:
                assert exchange(self.user.gateway, self.stubs, key).access_token
        if self.events:
            self.lab.receiver.waits_for(f"devices/{self.device_id}", self.events)
        self._check_sessions()
        for attempt in self.attempts.values():
            self._check_attempt(attempt)
        for tool in self.tools:
            tool.check()
        self._check_listing()
        for path, data in self.copies.items():
            assert path.read_bytes() == data

    def _check_sessions(self) -> None:
        stub = self.stubs.auth.AuthServiceStub(self.user.gateway.channel("auth"))
        for token in self.sessions:
            reply = call(stub.RefreshToken, self.stubs.auth.RefreshTokenRequest(refresh_token=token))
            # An acknowledgement of its own: the old token is used up.
            self.sessions = {reply.refresh_token}

    def _check_attempt(self, attempt: Attempt) -> None:
        codes = self.stubs.gateway
        recovery = self.uploader.recovery(attempt.logical_id)
        current = self.current[attempt.logical_id]
        assert recovery.current_upload_id in current or "" in current
        if attempt.is_completed:
            assert recovery.logical_upload_status == codes.LOGICAL_UPLOAD_STATUS_COMPLETED
        if attempt.is_aborted:
            assert recovery.logical_upload_status == codes.LOGICAL_UPLOAD_STATUS_TERMINAL
        if attempt.may_be_over:
            return
        if not attempt.is_sent:
            assert recovery.logical_upload_status != codes.LOGICAL_UPLOAD_STATUS_COMPLETED
            # A client with acknowledged bytes continues, and does not start over.
            if None not in attempt.object.contents or any(None not in held for held in attempt.parts.values()):
                assert recovery.next_action != codes.UPLOAD_RECOVERY_ACTION_RESTART, recovery
        attempt.object.check()
        if attempt.parts and attempt.object.store.request("HEAD").status == 404:
            self._check_parts(attempt)

    def _check_parts(self, attempt: Attempt) -> None:
        response = attempt.object.store.request("GET", [("uploadId", attempt.multipart)])
        assert response.status == 200, response.body
        listed = {int(part.findtext("PartNumber")): part.findtext("ETag") for part in response.xml.iter("Part")}
        for number, contents in attempt.parts.items():
            if None in contents and number not in listed:
                continue
            assert listed.get(number) in {etag(piece) for piece in contents if piece is not None}, (number, listed)

    def _check_listing(self) -> None:
        """Checks that all listed objects are complete, whether or not the device got the response."""
        attempts = self.attempts.values()
        least = sum(attempt.is_completed and not attempt.may_be_deleted for attempt in attempts)
        most = sum(attempt.is_sent and not attempt.is_deleted for attempt in attempts)
        found = self.user.list_all(filter=f"raw_tags.run={self.run}")
        assert least <= len(found) <= most
        if not found:
            return
        known = [data for attempt in attempts for data in attempt.object.contents]
        for file in self.user.objects("RequestDownload", file_ids=[o.file_id for o in found]).files:
            assert fetch_url(file.read.uri).body in known

    def resume(self) -> None:
        """Continues interrupted uploads: the bytes of acknowledged parts are read back as those of an object."""
        for attempt in list(self.attempts.values()):
            if not attempt.multipart or attempt.is_sent or attempt.object.store.request("HEAD").status != 404:
                continue
            pieces = {}
            for number, contents in sorted(attempt.parts.items()):
                if len(contents) == 1:
                    (pieces[number],) = contents
                else:
                    pieces[number] = content(PART_SIZE, number)
                    self.send_part(attempt, number, pieces[number])
            if pieces:
                self._finish(attempt, pieces)
                attempt.object.check()


class Uploads(Story):
    """Two whole uploads, so small that many of them are in the database's log at the same time."""

    def execute(self) -> "Uploads":
        for seed in range(2):
            attempt = self._create()
            data = content(3000, seed)
            self._complete(attempt, data, attempt.object.put(data))
        return self


class Lab:
    """A gateway on a failing disk, with a webhook, a static key and a folder for copies.

    disk: a folder on a real file system that is used without a model of it.
    """

    def __init__(self, binary: Path, directory: Path, login, disk: Path | None = None):
        self.disk = disk or directory / "disk"
        self.copies.mkdir(parents=True)
        self.receiver = Receiver()
        (secret := directory / "webhook-secret").write_text(SECRET)
        (key := directory / "static-secret").write_text(STATIC_KEY[1])
        tools = {"id": STATIC_KEY[0], "secret_file": str(key), "prefix": "tools/", "access": "write"}
        config = {
            "uploads": {"part_size_bytes": PART_SIZE},
            "object_store": {"static_keys": [tools], "min_free_bytes": 0},
            "copy": {"destinations": [{"kind": "directory", "root": str(self.copies)}], "retry_seconds": 1},
            "webhooks": {"all": {"url": self.receiver.url, "secret_file": str(secret)}},
        }
        self.gateway = Gateway(binary, directory, config)
        self.gateway.data = self.disk / "data"
        self.faults = Faults(directory, self.disk)
        if not disk:
            self.faults.journal = 1
            self.gateway.environment = self.faults.environment
        self._login = login
        self.user: User | None = None
        self.uploader: Uploader | None = None
        self._signed_in_at = 0.0

    @property
    def copies(self) -> Path:
        return self.disk / "copies"

    def start(self) -> "Lab":
        self.gateway.start()
        if self.user is None:
            self.user = self._login(self.gateway)
            self.uploader = Fleet.create(self.user).uploader()
            self._signed_in_at = time.monotonic()
        return self

    def close(self) -> None:
        """Ends everything, whatever its state."""
        self.faults.disarm()
        if self.gateway.process is not None:
            self.gateway.kill()
        self.receiver.close()

    def story(self) -> Story:
        self.renew_tokens()
        return Story(self)

    def renew_tokens(self) -> None:
        """Signs in again if the tokens may expire soon, for long tests."""
        if time.monotonic() - self._signed_in_at > TOKENS_FOR:
            self.user.token = self._login(self.gateway).token
            self.uploader.sign_in()
            self._signed_in_at = time.monotonic()

    def tools(self, key: str) -> Stored:
        """Returns an object that the static key may write."""
        endpoint = f"http://{self.gateway.object_store}"
        return Stored(RawStore(Credentials("data", endpoint, key, *STATIC_KEY, "", "", PART_SIZE)), key)

    def is_ready(self) -> bool:
        return fetch(self.gateway.listeners["ops"], "GET", "/readyz").status == 200

    def assert_sound(self) -> None:
        """Checks that the database in the data directory is intact."""
        if database_engine.is_used():
            return
        assert rows(self.gateway, "PRAGMA integrity_check") == [("ok",)]
        assert rows(self.gateway, "PRAGMA foreign_key_check") == []

    def restart(self) -> None:
        """Restarts like a service manager: the contents of the page cache stay."""
        if self.gateway.process is not None:
            self.gateway.kill()
        self.gateway.start()

    def cut_power(self, lots=None) -> None:
        self.gateway.cut_power(self.faults, lots)
        self.gateway.start()
