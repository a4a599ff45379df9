"""The disk fails at any one write, sync or open: nothing acknowledged is lost, and nothing hangs or crashes."""

import errno
import random
import sqlite3

import grpc
import pytest

from support.faults import FAULTS, OPEN, SYNC, WRITE, Faults
from support.gateway import Gateway
from support.oss import Credentials
from support.parties import Fleet, Uploader, User, unique
from support.raw import RawStore, fetch, fetch_url
from support.uploads import content

PART_SIZE = 65536
DATA = content(2 * PART_SIZE + 100)
#: How often each fault happens in the short form, spread over all the calls of a story.
SAMPLES = 3
#: What a client may be told about our disk; it tries again then.
PASSING = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.INTERNAL)


class Refused(Exception):
    """A step was not acknowledged, by an answer that says to try again."""


class Story:
    """A client's way through both planes, with a note of everything that was acknowledged."""

    def __init__(self, user: User, uploader: Uploader):
        self.user, self.uploader = user, uploader
        self.run_id = unique("run")
        self.sites: list[int] = []
        #: Upload id → what is known of it.
        self.uploads: dict[str, dict] = {}
        self.aborted: list[str] = []

    def tell(self) -> "Story":
        """Goes to the end; raises `Refused` at the first step that is not acknowledged."""
        try:
            self.sites.append(self.user.admin("CreateSite", name=unique("site")).site.site_id)
            self._put_whole()
            self._multipart()
            self._abort()
        except grpc.RpcError as error:
            if error.code() not in PASSING:
                raise
            raise Refused(error.details()) from None
        return self

    def _create(self) -> dict:
        reply = self.uploader.create()
        upload = {"logical": reply.logical_upload_id, "parts": [], "object": None, "completed": False}
        self.uploads[reply.upload_id] = upload
        upload["id"], upload["store"] = reply.upload_id, RawStore(Credentials.of(reply.credentials))
        return upload

    def _stored(self, upload: dict, method: str, query=(), body: bytes = b""):
        answer = upload["store"].request(method, query, body)
        if answer.status >= 500:
            raise Refused(f"{method}: {answer.status}")
        assert answer.status < 300, answer.body
        return answer

    def _complete(self, upload: dict, parts: int) -> None:
        upload["object"] = upload["etag"]
        self.uploader.complete(
            upload["id"],
            file_size=len(DATA),
            completed_part_count=parts,
            oss_object_etag=upload["etag"],
            raw_tags={"run": self.run_id},
        )
        upload["completed"] = True

    def _put_whole(self) -> None:
        upload = self._create()
        upload["etag"] = self._stored(upload, "PUT", body=DATA).headers["ETag"]
        self._complete(upload, 0)

    def _multipart(self) -> None:
        upload = self._create()
        upload["multipart"] = self._stored(upload, "POST", [("uploads", "")]).text("UploadId")
        for number, start in enumerate(range(0, len(DATA), PART_SIZE), start=1):
            query = [("partNumber", str(number)), ("uploadId", upload["multipart"])]
            answer = self._stored(upload, "PUT", query, DATA[start : start + PART_SIZE])
            upload["parts"].append(answer.headers["ETag"])
        listed = "".join(
            f"<Part><PartNumber>{number}</PartNumber><ETag>{etag}</ETag></Part>"
            for number, etag in enumerate(upload["parts"], start=1)
        )
        document = f"<CompleteMultipartUpload>{listed}</CompleteMultipartUpload>".encode()
        upload["etag"] = self._stored(upload, "POST", [("uploadId", upload["multipart"])], document).text("ETag")
        self._complete(upload, len(upload["parts"]))

    def _abort(self) -> None:
        upload = self._create()
        self.uploader.abort(upload["logical"])
        self.aborted.append(upload["id"])

    def check(self) -> None:
        """All that was acknowledged is there, and nothing is half there."""
        states = self.uploader.stubs.gateway
        for site in self.sites:
            assert self.user.admin("GetSite", site_id=site).site.site_id == site
        for upload in self.uploads.values():
            recovery = self.uploader.recovery(upload["logical"])
            assert recovery.current_upload_id == upload["id"]
            if upload["completed"]:
                assert recovery.logical_upload_status == states.LOGICAL_UPLOAD_STATUS_COMPLETED
            if upload["id"] in self.aborted:
                assert recovery.logical_upload_status == states.LOGICAL_UPLOAD_STATUS_TERMINAL
                continue
            if upload["object"]:
                answer = upload["store"].request("GET")
                assert (answer.status, answer.headers["ETag"], answer.body) == (200, upload["object"], DATA)
            elif upload["parts"]:
                answer = upload["store"].request("GET", [("uploadId", upload["multipart"])])
                if answer.status == 200:
                    listed = [part.findtext("ETag") for part in answer.xml.iter("Part")]
                    assert listed[: len(upload["parts"])] == upload["parts"]
                else:
                    # Completed in the store, by a call whose answer was no success.
                    assert upload["store"].request("GET").body == DATA
        # What users see is whole, whether the device heard of it or not.
        completed = sum(upload["completed"] for upload in self.uploads.values())
        found = self.user.list_all(filter=f"raw_tags.run={self.run_id}")
        assert completed <= len(found) <= completed + 1
        for file in self.user.objects("RequestDownload", file_ids=[o.file_id for o in found]).files if found else ():
            assert fetch_url(file.read.uri).body == DATA


class Lab:
    """A gateway on a disk that fails, with a device in it."""

    def __init__(self, gateway: Gateway, faults: Faults, login):
        self.gateway, self.faults, self.login = gateway, faults, login
        self.user = login(gateway)
        self.uploader = Fleet.create(self.user).uploader()

    def story(self) -> Story:
        return Story(self.user, self.uploader)

    def is_ready(self) -> bool:
        return fetch(self.gateway.listeners["ops"], "GET", "/readyz").status == 200

    def after(self, story: Story) -> None:
        """Whatever became of the story: no crash, nothing stuck, nothing lost, also not with the power."""
        self.faults.disarm()
        assert self.gateway.process.poll() is None, f"crashed\n{self.gateway.stderr}"
        stories = [story]
        if self.is_ready():
            stories.append(self.story().tell())
        self.gateway.cut_power(self.faults)
        self.gateway.start()
        for told in stories:
            told.check()
        self.story().tell().check()
        database = sqlite3.connect(f"file:{self.gateway.data / 'gateway.db'}?mode=ro", uri=True)
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        database.close()


def faulty(binary, directory) -> tuple[Gateway, Faults]:
    """A gateway that was not started yet, and its disk."""
    gateway = Gateway(binary, directory, {"uploads": {"part_size_bytes": PART_SIZE}})
    faults = Faults(directory, gateway.data)
    faults.journal = 1
    gateway.environment = faults.environment
    return gateway, faults


@pytest.fixture
def lab(binary, tmp_path, login):
    gateway, faults = faulty(binary, tmp_path)
    gateway.start()
    yield Lab(gateway, faults, login)
    gateway.close()


@pytest.mark.parametrize("kind, error", FAULTS, ids=lambda value: errno.errorcode.get(value) if value > 4 else None)
def test_any_one_call_fails(lab, kind, error, is_full):
    lab.faults.arm(kind, 0, error)
    lab.story().tell()
    calls = lab.faults.counted
    assert calls > 3
    # The short form takes some of them, each time others than the kinds beside it.
    numbers = sorted(random.Random(kind * error).sample(range(1, calls + 1), min(SAMPLES, calls)))
    number = 0
    while True:
        number = number + 1 if is_full else numbers.pop(0) if numbers else calls * 4
        story = lab.story()
        lab.faults.arm(kind, number, error)
        try:
            story.tell()
        except Refused:
            assert lab.faults.failed == 1, "refused although nothing failed"
        untouched = lab.faults.failed == 0
        lab.after(story)
        if untouched:
            break


def test_power_goes_without_any_fault(lab):
    for _ in range(3):
        lab.after(lab.story().tell())


@pytest.mark.parametrize("kind, error", FAULTS, ids=lambda value: errno.errorcode.get(value) if value > 4 else None)
def test_a_start_that_fails_says_so_and_the_next_one_succeeds(binary, tmp_path, login, kind, error, is_full):
    gateway, faults = faulty(binary, tmp_path)
    gateway.start()
    lab = Lab(gateway, faults, login)
    story = lab.story().tell()
    number = 0
    while True:
        number += 1 if is_full or number == 0 else 7
        gateway.cut_power(faults)
        faults.arm(kind, number, error)
        try:
            gateway.start()
        except AssertionError:
            assert gateway.exit_code == 1, f"crashed or hung: {gateway.exit_code}\n{gateway.stderr}"
            assert faults.failed == 1, gateway.stderr
        untouched = faults.failed == 0
        faults.disarm()
        if gateway.process is None:
            gateway.start()
        story.check()
        if untouched:
            break
    gateway.close()
