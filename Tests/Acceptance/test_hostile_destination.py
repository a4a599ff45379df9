"""Copy destinations whose responses are not an object store's documents: their jobs fail, and nothing else happens."""

import base64
import http.server
import threading

import pytest
from support.copies import Copies, secret_file
from support.gateway import eventually
from support.parties import Fleet
from support.uploads import MIB, Upload, content

PART_SIZE = 5 * MIB

#: The responses of the destinations; one of them once ended the process, and again after each start.
BODIES = [
    b"",
    b"no XML at all \xff\xfe\x00",
    b"<Error><a\xff/></Error>",
    b"<Error><!-- \xff --></Error>",
    b"<Error><?x?></Error>",
    b"<?x?><Error/>",
    b'<!DOCTYPE a [<!ENTITY b "bbbbbbbbbb"><!ENTITY c "&b;&b;&b;&b;&b;">]><Error><Code>&c;</Code></Error>',
    b"<Error>" + b"<a>" * 100_000,
    b"<Error" + b"".join(b" a%d=''" % number for number in range(200_000)) + b"/>",
    b"<Error><Code>" + b"A" * (7 * MIB) + b"</Code></Error>",
    b"<Error><a/>" + b"<a/>" * MIB + b"</Error>",
]
#: The beginning of these responses, by the first word of the bucket's name, and the results of the items.
STAGES = {
    "every": "DESTINATION_REFUSED",
    "initiate": "DESTINATION_REFUSED",
    "complete": "DESTINATION_REFUSED",
    "unavailable": "DESTINATION_UNAVAILABLE",
}


class Hostile(http.server.BaseHTTPRequestHandler):
    """Handles path-style requests for buckets named `STAGE-NUMBER`, of any dialect."""

    protocol_version = "HTTP/1.1"

    def respond(self):
        self.rfile.read(int(self.headers["Content-Length"] or 0))
        stage, _, number = self.path.split("/")[1].partition("-")
        body = BODIES[int(number)]
        query = self.path.partition("?")[2]
        if stage in ("every", "unavailable"):
            self.send(400 if stage == "every" else 503, body)
        elif self.command == "HEAD":
            self.send(404, body)
        elif self.command == "POST" and stage == "complete" and query.startswith("uploads"):
            self.send(200, b"<InitiateMultipartUploadResult><UploadId>id</UploadId></InitiateMultipartUploadResult>")
        elif self.command == "PUT":
            self.send(200, b"")
        else:
            self.send(200, body)

    do_HEAD = do_GET = do_PUT = do_POST = do_DELETE = respond

    def send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", '"AA"')
        self.send_header("x-oss-err", base64.b64encode(body[:10_000]).decode())
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def endpoint():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hostile) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("kind", ["oss", "s3"])
def test_only_its_own_jobs_fail(gateway_with, login, endpoint, tmp_path, kind):
    buckets = [f"{stage}-{number}" for stage in STAGES for number in range(len(BODIES))]
    common = {"kind": kind, "endpoint": f"http://{endpoint}", "access_key_id": "AK", "part_size_bytes": PART_SIZE}
    common["secret_file"] = secret_file(tmp_path, "a secret of the destination")
    (folder := tmp_path / "folder").mkdir()
    gateway = gateway_with(
        {
            "copy": {
                "destinations": [common | {"bucket": bucket} for bucket in buckets]
                + [{"kind": "directory", "root": str(folder)}],
                "retry_seconds": 2,
                "workers": 4,
            }
        }
    )
    admin = login(gateway)
    data = content(PART_SIZE + 1000)
    Upload.create(Fleet.create(admin).uploader()).put(data).complete()
    (found,) = admin.list_all()
    copies = Copies(admin)
    jobs = {
        bucket: copies.create([found.file_id], {"endpoint": common["endpoint"], "bucket": bucket}).copy_job_id
        for bucket in buckets
    }
    # A job in progress continues after a restart, and gets the same response again.
    eventually(lambda: any(copies.states(job) == ["FAILED_TERMINAL"] for job in jobs.values()))
    assert gateway.process.poll() is None
    gateway.kill()
    gateway.start()
    for bucket, job in jobs.items():
        copies.finished(job, 120)
        (item,) = copies.items(job)
        assert copies.states(job) == ["FAILED_TERMINAL"], item
        assert item.error_code == STAGES[bucket.partition("-")[0]], (bucket, item)
        assert len(item.error_message) < 1000
    good = copies.create([found.file_id], {"endpoint": f"file://{folder}"}).copy_job_id
    assert copies.finished(good).completed_items == 1
    assert (folder / found.file_id).read_bytes() == data
    assert gateway.process.poll() is None
