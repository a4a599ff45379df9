"""The calls of a deployed Go uploader, according to its source.

It signs V1 over *every* query parameter, sends even one part as a multipart upload, calls ListParts with max-parts=1
before HEAD, initiates again at every resume, computes the ETag of the whole itself, and aborts after a Complete
without a response.
"""

import base64
import hashlib

import pytest
from support.parties import unique
from support.raw import RawStore
from support.uploads import FILE_NAME_TAG, Upload, content

PART_SIZE = 1024 * 1024


class GoUploader:
    """The data plane of that client, for one upload."""

    def __init__(self, upload: Upload):
        self.store = RawStore(upload.credentials)

    def initiate(self) -> str:
        response = self.store.request("POST", [("uploads", "")], headers={"Content-Type": "application/octet-stream"})
        assert response.status == 200, response.body
        return response.text("UploadId")

    def upload_part(self, multipart: str, number: int, data: bytes) -> str:
        response = self.store.request(
            "PUT",
            [("partNumber", str(number)), ("uploadId", multipart)],
            data,
            {
                "Content-MD5": base64.b64encode(hashlib.md5(data).digest()).decode(),
                "Content-Type": "application/xml",
            },
        )
        assert response.status == 200, response.body
        return response.headers["ETag"]

    def complete(self, multipart: str, etags: list[str]):
        parts = "".join(
            f"<Part><PartNumber>{number}</PartNumber><ETag>{etag.replace(chr(34), '&#34;')}</ETag></Part>"
            for number, etag in enumerate(etags, start=1)
        )
        body = f"<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>".encode()
        return self.store.request("POST", [("uploadId", multipart)], body, {"Content-Type": "application/xml"})

    def has_parts(self, multipart: str) -> bool:
        """Calls ListParts with max-parts=1; after 404 this client starts over."""
        response = self.store.request("GET", [("max-parts", "1"), ("uploadId", multipart)])
        if response.status == 404:
            return False
        assert response.status == 200, response.body
        return len(response.xml.findall("Part")) == 1

    def abort(self, multipart: str) -> tuple[int, str | None]:
        response = self.store.request("DELETE", [("uploadId", multipart)])
        return response.error() if response.body else (response.status, None)

    def head(self):
        return self.store.request("HEAD")


def etag_of(pieces: list[bytes]) -> str:
    """Returns the MD5 over the parts' MD5s in upper-case hex, upper-case, and the number of parts, like the client."""
    digests = "".join(hashlib.md5(piece).hexdigest().upper() for piece in pieces)
    return f"{hashlib.md5(digests.encode()).hexdigest().upper()}-{len(pieces)}"


def pieces_of(data: bytes) -> list[bytes]:
    return [data[start : start + PART_SIZE] for start in range(0, len(data), PART_SIZE)] or [b""]


@pytest.mark.parametrize("size", [1, 1000, PART_SIZE, PART_SIZE + 1, 2 * PART_SIZE + 12345])
def test_upload_by_the_deployed_client_is_stored(uploader, admin, size):
    data, run = content(size), unique("run")
    pieces = pieces_of(data)
    upload = Upload.create(uploader)
    go = GoUploader(upload)
    multipart = go.initiate()
    etags = [go.upload_part(multipart, number, piece) for number, piece in enumerate(pieces, start=1)]
    assert go.complete(multipart, etags).status == 200
    uploader.complete(
        upload.id,
        file_size=size,
        raw_tags={FILE_NAME_TAG: "go.mcap", "run": run},
        completed_part_count=len(pieces),
        oss_object_etag=etag_of(pieces),
        part_size_bytes=PART_SIZE,
    )
    (found,) = admin.list_all(filter=f"raw_tags.run={run}")
    assert found.size_bytes == size
    assert found.etag.strip('"') == etag_of(pieces)
    assert upload.store.get() == data


def test_a_resume_initiates_again(uploader, stubs):
    data = content(2 * PART_SIZE + 10)
    pieces = pieces_of(data)
    upload = Upload.create(uploader)
    go = GoUploader(upload)
    interrupted = go.initiate()
    go.upload_part(interrupted, 1, pieces[0])

    # After a restart it calls GetUploadRecovery, gets new credentials, looks for parts, then for the object.
    assert uploader.recovery(upload.logical_id).next_action == stubs.gateway.UPLOAD_RECOVERY_ACTION_CONTINUE
    upload.credentials = upload.reissued()
    go = GoUploader(upload)
    assert go.has_parts(interrupted)
    assert go.head().status == 404
    resumed = go.initiate()
    assert resumed != interrupted
    etags = [go.upload_part(resumed, number, piece) for number, piece in enumerate(pieces, start=1)]
    assert go.complete(resumed, etags).status == 200
    uploader.complete(
        upload.id,
        file_size=len(data),
        completed_part_count=3,
        oss_object_etag=etag_of(pieces),
        part_size_bytes=PART_SIZE,
    )
    # The parts of the interrupted multipart upload are dropped with the completion.
    assert not go.has_parts(interrupted)
    assert upload.store.get() == data


def test_complete_is_repeated_after_a_lost_response(uploader, stubs):
    data = content(PART_SIZE + 10)
    pieces = pieces_of(data)
    upload = Upload.create(uploader)
    go = GoUploader(upload)
    multipart = go.initiate()
    etags = [go.upload_part(multipart, number, piece) for number, piece in enumerate(pieces, start=1)]
    go.complete(multipart, etags)  # and its answer never came

    assert go.abort(multipart) == (404, "NoSuchUpload")
    assert go.has_parts(multipart)
    head = go.head()
    assert head.status == 200
    assert head.headers["ETag"].strip('"') == etag_of(pieces)
    assert upload.store.get() == data
    assert go.complete(multipart, etags).headers["ETag"] == head.headers["ETag"]

    recovery = uploader.recovery(upload.logical_id)
    assert recovery.next_action == stubs.gateway.UPLOAD_RECOVERY_ACTION_COMPLETE_ONLY
    assert recovery.oss_object_etag == head.headers["ETag"]
    uploader.complete(
        upload.id,
        file_size=len(data),
        completed_part_count=recovery.completed_part_count,
        oss_object_etag=etag_of(pieces),
        part_size_bytes=PART_SIZE,
    )
    # Also after CompleteUpload: an abort has no effect, and the parts are still listed.
    upload.credentials = upload.reissued()
    go = GoUploader(upload)
    assert go.abort(multipart)[0] in (403, 404)
    assert go.has_parts(multipart)
    assert upload.store.get() == data


def test_abort_before_complete_deletes_the_parts(uploader):
    upload = Upload.create(uploader)
    go = GoUploader(upload)
    multipart = go.initiate()
    go.upload_part(multipart, 1, content(10))
    assert go.abort(multipart) == (204, None)
    assert not go.has_parts(multipart)
    assert go.abort(multipart) == (404, "NoSuchUpload")
