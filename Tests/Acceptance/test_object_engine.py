"""Objects in a bucket, for the operator: metrics, `status`, the console's data, `config check`. The bucket is another gateway's."""

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.bucket_proxy import BucketProxy
from support.buckets import KEY, Bucket, write_credentials
from support.client import SignedIn
from support.faults import Clock
from support.gateway import ADMIN_PASSWORD, eventually
from support.monitoring import metric
from support.oss import StoreError
from support.parties import Fleet
from support.raw import fetch_url
from support.uploads import MIB, Upload, completed, content, download

ENGINE = "data_gateway_object_engine"


@pytest.fixture(scope="module")
def bucket(gateway_with, tmp_path_factory) -> Bucket:
    return Bucket.start(gateway_with, tmp_path_factory.mktemp("bucket"))


@pytest.fixture
def proxy(bucket) -> BucketProxy:
    proxy = BucketProxy(bucket.address)
    yield proxy
    proxy.close()


@pytest.fixture
def config(binary, tmp_path):
    """Runs `config check` with these settings of objects."""

    def check(objects: dict, *options: str) -> subprocess.CompletedProcess:
        (tmp_path / "config").write_text(json.dumps({"objects": objects}))
        command = [binary, "config", "check", "--config", tmp_path / "config", *options]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, env={"PATH": "/usr/bin"})

    return check


def test_requests_and_the_last_failure_are_shown(gateway_with, login, bucket, proxy, binary, browser, tmp_path):
    gateway = gateway_with({"objects": bucket.settings("shown", proxy.address, retry_budget=0)})
    boss = login(gateway)
    uploader = Fleet.create(boss).uploader()
    user = SignedIn(binary, gateway, tmp_path)

    def status() -> dict:
        return json.loads(user.done("status", "--ops", gateway.listeners["ops"], "--json"))["object_engine"]

    data = content(3 * MIB)
    run = completed(uploader, data)
    (entry,) = boss.list_all()
    assert download(boss, entry.file_id) == data and entry.etag == run.etag
    for operation in ("put", "get", "ownership"):
        assert eventually(lambda: metric(gateway, f"{ENGINE}_requests_total", operation=operation, result="done") > 0)
    assert metric(gateway, f"{ENGINE}_sent_bytes_total") >= len(data)
    assert metric(gateway, f"{ENGINE}_received_bytes_total") >= len(data)
    assert metric(gateway, f"{ENGINE}_ownership", state="held") == 1
    assert metric(gateway, f"{ENGINE}_connections") <= metric(gateway, f"{ENGINE}_max_connections") == 400
    state = status()
    assert (state["kind"], state["bucket"], state["prefix"]) == ("s3", "data", "shown/")
    assert (state["ownership"], state["last_failure"], state["last_failure_at"]) == ("held", "", None)
    proxy.add("PUT /data/shown/data/", error=(503, "SlowDown"))
    with pytest.raises(StoreError) as refusal:
        Upload.create(uploader, "oss2-v4").put(data)
    assert refusal.value.status == 503
    assert metric(gateway, f"{ENGINE}_requests_total", operation="put", result="failed") == 1
    assert metric(gateway, f"{ENGINE}_given_up_total") == 1
    assert "SlowDown" in status()["last_failure"]
    assert "SlowDown" in user.done("status", "--ops", gateway.listeners["ops"])
    browser.enter(gateway)
    browser.sign_in("system", "admin", ADMIN_PASSWORD)
    browser.heading("Overview")
    assert browser.fact("Objects are in") == "bucket data, prefix shown/"
    assert browser.fact("Right to the prefix") == "held"
    assert browser.fact("Slow bodies on the disk").startswith("0 B of ")
    assert "SlowDown" in browser.fact("Last failure of the bucket")
    browser.go("Storage")
    disk = browser.find("//section[@aria-label='Disk']").text
    assert "The objects are in the bucket data: no disk fills with them." in disk
    shown = json.loads(user.done("status", "--ops", gateway.listeners["ops"], "--json"))
    assert (shown["disk_size_bytes"], shown["disk_used_percent"], shown["disk_full_at"]) == (None, None, None)
    browser.assert_no_errors()


def test_a_bucket_that_does_not_respond_is_reported_at_a_path_of_its_own(gateway_with, bucket, proxy, tmp_path):
    clock = Clock(tmp_path)
    gateway = gateway_with({"objects": bucket.settings("ready", proxy.address)}, clock.environment)

    def ready(path: str) -> tuple[int, bytes]:
        reply = fetch_url(f"http://{gateway.listeners['ops']}{path}")
        return reply.status, reply.body

    assert ready("/readyz/object-store") == (200, b"ready\n")
    proxy.add("/ready/owner", times=1000, error=(503, "SlowDown"))
    # The latest renewal was 25 seconds ago.
    clock.set(wall=0, boot=25)
    assert ready("/readyz/object-store") == (503, b"the bucket does not respond\n")
    assert ready("/readyz") == (200, b"ready\n")
    proxy.forget()
    eventually(lambda: ready("/readyz/object-store") == (200, b"ready\n"))


def test_objects_are_read_from_a_bucket_over_tls(gateway_with, login, authority, tmp_path):
    tls = authority.tls("object-store", addresses=("127.0.0.1",))
    engine = gateway_with({"object_store": {"static_keys": [KEY.setting(tmp_path)]}, "tls": tls})
    write_credentials(tmp_path / "credentials", KEY.id, KEY.secret)
    bucket = Bucket(engine.object_store, "data", tmp_path / "credentials", engine)
    objects = bucket.settings("tls", endpoint=f"https://{engine.object_store}", authorities=str(authority.path))
    gateway = gateway_with({"objects": objects, "uploads": {"part_size_bytes": 4 * MIB}})
    boss = login(gateway)
    upload, data = Upload.create(Fleet.create(boss).uploader()), content(10 * MIB + 5)
    upload.multipart(data)
    upload.complete()
    (entry,) = boss.list_all()
    with ThreadPoolExecutor(8) as readers:
        assert set(readers.map(lambda _: download(boss, entry.file_id) == data, range(16))) == {True}


def test_repeated_requests_are_counted(gateway_with, login, bucket, proxy):
    gateway = gateway_with({"objects": bucket.settings("repeated", proxy.address)})
    uploader = Fleet.create(login(gateway)).uploader()
    proxy.add("PUT /data/repeated/data/", times=2, error=(500, "InternalError"))
    completed(uploader, b"short")
    assert metric(gateway, f"{ENGINE}_retries_total") == 2
    assert metric(gateway, f"{ENGINE}_given_up_total") == 0


def test_a_full_spool_refuses_slow_bodies(gateway_with, login, bucket):
    settings = bucket.settings("spooled", spool_bytes=16 * MIB, spool_below=1 << 30)
    gateway = gateway_with({"objects": settings, "uploads": {"part_size_bytes": 32 * MIB}})
    uploader = Fleet.create(login(gateway)).uploader()
    with pytest.raises(StoreError) as refusal:
        Upload.create(uploader, "oss2-v4").put(content(17 * MIB))
    assert refusal.value.status == 503
    assert metric(gateway, f"{ENGINE}_spool_refusals_total") == 1
    assert eventually(lambda: metric(gateway, f"{ENGINE}_spool_bytes") == 0)
    assert metric(gateway, f"{ENGINE}_spool_limit_bytes") == 16 * MIB


def test_the_check_examines_the_bucket(gateway_with, bucket, proxy, config):
    settings = bucket.settings("checked", proxy.address)
    gateway = gateway_with({"objects": bucket.settings("checked")})
    # The gateway records its identity a moment later.
    present = {"checked/identity", "checked/owner"}
    done = config(settings)
    assert (done.returncode, done.stderr) == (0, ""), done
    assert "bucket: fact: The engine honors conditional PUT" in done.stdout
    # The gateway that runs still has the prefix, and nothing is left.
    assert bucket.keys("checked/") | {"checked/identity"} == present
    assert metric(gateway, f"{ENGINE}_ownership", state="held") == 1
    findings = json.loads(config(settings, "--json").stdout)["bucket"]
    assert [each.split(":")[0] for each in findings] == ["fact"]
    lost = b"x-amz-meta-key"
    proxy.add("HEAD /data/checked/probe/", times=9, alter=lambda head: head.replace(lost, b"x-none"))
    done = config(settings)
    assert done.returncode == 1 and "bucket: refusal: The engine does not return the metadata" in done.stdout
    assert "refusal" not in config(settings, "--offline").stdout


def test_the_check_refuses_a_bucket_that_does_not_answer(bucket, config):
    done = config(bucket.settings("none", "127.0.0.1:1"))
    assert done.returncode == 1
    assert "bucket: refusal: The engine at http://127.0.0.1:1 cannot be used" in done.stdout
    assert config(bucket.settings("none", "127.0.0.1:1"), "--offline").returncode == 0
