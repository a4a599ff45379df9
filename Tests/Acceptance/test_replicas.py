"""Several gateways (replicas) on one database and one bucket, behind HAProxy."""

import dataclasses
import itertools
import json
import time

import grpc
import pytest
from engines.postgres import Server
from support import database_engine
from support.buckets import Bucket
from support.client import SignedIn
from support.faults import Clock
from support.gateway import ADMIN_PASSWORD, eventually
from support.parties import PASSWORD, Fleet, Uploader, User, call, unique
from support.raw import fetch_url
from support.replicas import PORTS, ROOT, Replicas
from support.uploads import MIB, Upload, content, download, fresh_seeds
from support.workload import Workload

pytestmark = pytest.mark.sqlite


@pytest.fixture(scope="module")
def postgres():
    with Server() as server:
        yield server


@pytest.fixture(scope="module")
def bucket(gateway_with, tmp_path_factory) -> Bucket:
    return Bucket.start(gateway_with, tmp_path_factory.mktemp("bucket"))


@pytest.fixture(scope="module")
def replicas(binary, postgres, bucket, tmp_path_factory) -> Replicas:
    replicas = Replicas(
        binary,
        {"url": database_engine.uri(postgres.url("postgres")), "schema": "service"},
        bucket.settings("service"),
        tmp_path_factory.mktemp("replicas"),
        uploads={"part_size_bytes": MIB},
    )
    try:
        yield replicas.start()
    finally:
        replicas.close()


@pytest.fixture(scope="module")
def boss(replicas, login):
    return login(replicas.service)


def test_clients_are_fields_the_balancer(replicas):
    for gateway in replicas.gateways.values():
        reply = fetch_url(f"http://{gateway.listeners['web']}/.well-known/data-gateway")
        listeners = json.loads(reply.body)["listeners"]
        balancer = replicas.addresses["balancer"]
        assert {name: (each["host"], each["port"]) for name, each in listeners.items()} == {
            name: (balancer, PORTS[name]) for name in listeners
        }


def test_an_upload_takes_its_steps_at_different_replicas(replicas, boss):
    uploader = Fleet.create(boss).uploader()
    data = content(3 * MIB, next(fresh_seeds))
    turns = itertools.cycle(replicas.gateways.values())

    def at_the_next(upload: Upload) -> Upload:
        upload.uploader.gateway = next(turns)
        upload.credentials.endpoint = f"http://{next(turns).object_store}"
        return upload

    upload = at_the_next(Upload.create(uploader))
    multipart = at_the_next(upload).store.initiate()
    upload.size = len(data)
    for number in range(1, 4):
        piece = data[(number - 1) * MIB : number * MIB]
        upload.parts.append(at_the_next(upload).store.upload_part(multipart, number, piece))
    upload.etag = at_the_next(upload).store.complete(multipart, upload.parts)
    at_the_next(upload).complete()
    assert at_the_next(upload).recovery().oss_object_etag == upload.etag
    (entry,) = [each for each in boss.list_all() if each.etag == upload.etag]
    assert download(boss, entry.file_id) == data


def test_status_shows_the_replicas(replicas, binary, tmp_path):
    operator = SignedIn(binary, replicas.service, tmp_path)
    ops = replicas.gateways["b"].listeners["ops"]
    shown = json.loads(operator.done("status", "--ops", ops, "--json"))["replicas"]
    assert len(shown) == 3 and sum(each["is_this"] for each in shown) == 1
    assert len({each["description"] for each in shown}) == 3 and len({each["version"] for each in shown}) == 1
    # Each work is done at one of them.
    leases = [name for each in shown for name in each["leases"]]
    assert "recordings" in leases and len(leases) == len(set(leases))
    assert all(each["seconds_since_renewal"] < 30 for each in shown)


def kept_methods() -> set[str]:
    """Returns the names of the methods whose responses are kept."""
    (_, kept) = (ROOT / "deploy/scale-out/repeatable.lst").read_text().split("# The response is kept")
    return {line.rsplit("/")[-1] for line in kept.splitlines()[1:]}


def test_a_call_that_is_sent_again_to_another_replica_gets_the_same_response(replicas, boss, stubs):
    """As when a replica is killed after the commit and before the response."""
    first, second = replicas.gateways["a"], replicas.gateways["b"]
    seen = set()

    def at(gateway, listener, package, service, method, fields, token, call_id):
        stub = getattr(package, f"{service}Stub")(gateway.channel(listener))
        request = getattr(package, f"{method}Request")(**fields)
        return call(getattr(stub, method), request, token, {"x-call-id": call_id} if call_id else None)

    def twice(listener, package, service, method, fields, token=None):
        seen.add(method)
        name = unique("call")
        replies = [at(each, listener, package, service, method, fields, token, name) for each in (first, second, first)]
        # The credentials of an upload are new each time.
        parts = [getattr(reply, "upload_id", reply) for reply in replies]
        assert parts[0] == parts[1] == parts[2]
        return replies[0]

    def admin(method, service="AdminAuthService", **fields):
        return twice("admin", stubs.auth, service, method, fields, boss.token)

    def devices(method, **fields):
        return twice("admin", stubs.meta, "DeviceManagementService", method, fields, boss.token)

    site = admin("CreateSite", name=unique("site")).site.site_id
    suite = devices("CreateDeviceSuite", site_id=site, display_name="suite").name
    device = devices("RegisterDevice", suite=suite).device_id
    fields = {"device_id": device, "sdk_version": "acceptance/1", "platform": "linux-x86_64"}
    key = twice("device-init", stubs.gateway, "DeviceInitService", "InitDevice", fields).api_key
    uploader = Uploader(first, stubs, key, device, suite).sign_in()
    twice("gateway", stubs.gateway, "DataGatewayService", "CreateLogicalUpload", {}, uploader.token)
    with pytest.raises(grpc.RpcError) as again:
        at(first, "device-init", stubs.gateway, "DeviceInitService", "InitDevice", fields, None, unique("call"))
    assert again.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    key = twice("device-init", stubs.gateway, "DeviceInitService", "ReinitDevice", fields).api_key
    Uploader(second, stubs, key, device, suite).sign_in()
    key = admin("CreateOrRotateDeviceApiKey", device_id=device).credential
    Uploader(second, stubs, key, device, suite).sign_in()
    key = admin("CreateSiteApiKey", site_id=site, key_name="site").credential
    Uploader(second, stubs, key, device, suite).sign_in()
    admin("CreateUser", "UserAuthService", user_name=unique("user"), password=PASSWORD, role="viewer")
    admin(
        "CreateOrganization",
        organization=unique("organization"),
        bootstrap_admin_user_name="boss",
        bootstrap_admin_password=PASSWORD,
    )
    end = int(time.time()) + 3600
    token = twice(
        "auth", stubs.auth, "ApiTokenService", "CreateApiToken",
        {"token_name": unique("token"), "role": "viewer", "expired_at": {"seconds": end}}, boss.token,
    ).token  # fmt: skip
    assert dataclasses.replace(boss, gateway=second, token=token).list_all(page_size=1) is not None
    login = User.login(second, stubs, "system", "admin", ADMIN_PASSWORD)
    fresh = twice("auth", stubs.auth, "AuthService", "RefreshToken", {"refresh_token": login.refresh_token})
    assert dataclasses.replace(boss, token=fresh.access_token).list_all(page_size=1) is not None
    assert seen == kept_methods()


def test_the_name_of_a_call_counts_only_from_the_balancer(gateway_with, login, stubs):
    alone = login(gateway_with())
    stub = stubs.auth.AdminAuthServiceStub(alone.gateway.channel("admin"))
    request = stubs.auth.CreateSiteRequest(name=unique("site"))
    call(stub.CreateSite, request, alone.token, {"x-call-id": "one"})
    with pytest.raises(grpc.RpcError) as again:
        call(stub.CreateSite, request, alone.token, {"x-call-id": "one"})
    assert again.value.code() is grpc.StatusCode.ALREADY_EXISTS


def readiness(gateway) -> tuple[int, str]:
    reply = fetch_url(f"http://{gateway.listeners['ops']}/readyz")
    return reply.status, reply.body.decode()


def test_a_replica_with_a_wrong_clock_is_not_ready(replicas, tmp_path):
    clock, gateway = Clock(tmp_path), replicas.gateways["c"]
    before = gateway.environment
    gateway.stop()
    gateway.environment = before | clock.environment
    gateway.start()
    try:
        assert readiness(gateway) == (200, "ready\n")
        clock.set(wall=5)
        eventually(lambda: readiness(gateway)[0] == 503)
        assert "off that of the database's server" in readiness(gateway)[1]
        clock.set(wall=0)
        eventually(lambda: readiness(gateway) == (200, "ready\n"))
    finally:
        gateway.stop()
        gateway.environment = before
        gateway.start()


def test_no_call_fails_while_gateways_are_killed(replicas, boss, is_full):
    clients = Workload(boss).add_sdks(4).start()
    try:
        for name in itertools.islice(itertools.cycle("abc"), 60 if is_full else 6):
            replicas.gateways[name].kill()
            clients.go_on()
            replicas.gateways[name].start()
    finally:
        clients.end()
    assert not clients.record.failed_calls
    assert not clients.lost()
