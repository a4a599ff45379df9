"""Several gateways (replicas) on one database and one bucket, behind HAProxy."""

import dataclasses
import itertools
import json
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import grpc
import jwt
import pytest
from engines.postgres import Server
from support import database_engine
from support.apps import App
from support.buckets import Bucket
from support.client import SignedIn
from support.copies import Copies
from support.faults import Clock
from support.gateway import ADMIN_PASSWORD, ANY_PORT, eventually
from support.monitoring import metric
from support.parties import PASSWORD, Fleet, Uploader, User, call, exchange, init_device, unique
from support.raw import fetch_url
from support.refusal import refused
from support.replicas import PORTS, ROOT, Replicas
from support.uploads import MIB, Upload, content, download, fresh_seeds
from support.webhooks import SECRET, Receiver
from support.workload import Workload

pytestmark = pytest.mark.sqlite
#: The schema of the replicas' database, and the name of their webhook.
SCHEMA, WEBHOOK = "service", "parts"


@pytest.fixture(scope="module")
def postgres():
    with Server() as server:
        yield server


@pytest.fixture(scope="module")
def bucket(gateway_with, tmp_path_factory) -> Bucket:
    return Bucket.start(gateway_with, tmp_path_factory.mktemp("bucket"))


@pytest.fixture(scope="module")
def receiver() -> Receiver:
    """The receiver of the replicas' webhook."""
    receiver = Receiver()
    yield receiver
    receiver.close()


@pytest.fixture(scope="module")
def copies_folder(tmp_path_factory) -> Path:
    """The folder in which copies of objects go."""
    return tmp_path_factory.mktemp("copies")


@pytest.fixture(scope="module")
def replicas(binary, postgres, bucket, receiver, copies_folder, tmp_path_factory) -> Replicas:
    (secret := tmp_path_factory.mktemp("secret") / "secret").write_text(SECRET)
    replicas = Replicas(
        binary,
        {"url": database_engine.uri(postgres.url("postgres")), "schema": SCHEMA},
        bucket.settings("service"),
        tmp_path_factory.mktemp("replicas"),
        uploads={"part_size_bytes": MIB},
        webhooks={WEBHOOK: {"url": receiver.url, "secret_file": str(secret)}},
        events={"timeout_seconds": 300},
        copy={"destinations": [{"kind": "directory", "root": str(copies_folder)}]},
        # The balancer does not have the listener for apps.
        listeners={"apps": ANY_PORT},
        apps={"share_codes": {"enabled": True}},
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


def test_console_shows_the_replicas(replicas, bucket, postgres, browser):
    browser.enter(replicas.service)
    browser.sign_in("system", "admin", ADMIN_PASSWORD)
    browser.heading("Overview")
    browser.show(replicas.service, "gateways", "Gateways")
    rows = browser.until(lambda: len(found := browser.rows()) == len(replicas.gateways) and found)
    assert {replicas.holder(row["Gateway"]).process.pid for row in rows} == {
        gateway.process.pid for gateway in replicas.gateways.values()
    }
    assert sum("answers this page" in row["Gateway"] for row in rows) == 1
    assert len({row["Version"] for row in rows}) == 1 and all(row["Last renewal"].endswith(" s ago") for row in rows)
    with closing(Leases(postgres)) as leases:
        holder = replicas.holder(eventually(lambda: leases.holder(f"webhook/{WEBHOOK}")))
    (sender,) = (row for row in rows if f"webhook/{WEBHOOK}" in row["Work that one gateway does"])
    assert replicas.holder(sender["Gateway"]) is holder
    assert browser.fact("Bucket") == bucket.name and browser.fact("Right to the prefix") == "held"
    # The page is updated: a gateway that ended is not listed.
    stopped = replicas.gateways["c"]
    description = f"process {stopped.process.pid} "
    stopped.stop()
    browser.until(lambda: description not in browser.text)
    stopped.start()
    browser.until(lambda: f"process {stopped.process.pid} " in browser.text)
    browser.assert_no_errors()


def kept_methods() -> set[str]:
    """Returns the names of the methods whose responses are kept."""
    (_, kept) = (ROOT / "deploy/scale-out/repeatable.lst").read_text().split("# The response is kept")
    return {line.rsplit("/")[-1] for line in kept.splitlines()[1:]}


def test_a_call_that_is_sent_again_to_another_replica_gets_the_same_response(replicas, boss, stubs, copies_folder):
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
        # The credentials of an upload are new each time, and the state of a job changes.
        parts = [getattr(reply, "upload_id", getattr(reply, "copy_job_id", reply)) for reply in replies]
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
    file = {"site_id": site, "file_name": unique("file"), "file_size_bytes": 1000}
    twice("admin", stubs.gateway, "UploadManagementService", "CreateSiteUpload", file, boss.token)
    Upload.create(uploader).put(content(1000)).complete()
    copied = {
        "file_ids": [boss.list_all()[0].file_id],
        "destination": stubs.gateway.CopyDestination(
            endpoint=f"file://{copies_folder}", key_template=f"{unique('twice')}/{{file_id}}"
        ),
    }
    twice("gateway", stubs.gateway, "DataGatewayCopyService", "CreateCopyJob", copied, boss.token)
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
    token = admin("CreateInvitation", "InvitationManagementService", user_name=unique("user"), role="viewer").token
    invited = {"token": token, "password": PASSWORD}
    twice("auth", stubs.auth, "InvitationService", "AcceptInvitation", invited)
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


def test_a_disabled_key_is_refused_by_the_next_call_at_each_replica(replicas, boss, stubs, is_full):
    site = Fleet.create(boss).site_id
    places = list(replicas.gateways.values())
    for turn in range(1000 if is_full else 20):
        # Each replica in turn disables a key that the others have verified.
        first, second, third = places[turn % 3 :] + places[: turn % 3]
        admin = dataclasses.replace(boss, gateway=first)
        key = admin.admin("CreateSiteApiKey", site_id=site, key_name=unique("key"))
        uploaders = [Uploader(place, stubs, key.credential).sign_in() for place in (second, third)]
        upload = uploaders[0].create()
        for uploader in uploaders:
            uploader.recovery(upload.logical_upload_id)
        admin.admin("DisableApiKey", api_key_id=key.api_key.api_key_id)
        for uploader in uploaders:
            with refused(stubs, "UNAUTHENTICATED", "DATA_GATEWAY_UNAUTHENTICATED"):
                uploader.recovery(upload.logical_upload_id)
            with refused(stubs, "UNAUTHENTICATED", "AUTH_KEY_DISABLED"):
                exchange(uploader.gateway, stubs, key.credential)


class TokenUser(threading.Thread):
    """A device that gets a token at one replica and uses it at another one, again and again."""

    def __init__(self, issuer, verifier, uploader: Uploader):
        super().__init__(daemon=True)
        self._issuer, self._uploader = issuer, dataclasses.replace(uploader, gateway=verifier)
        self._upload = uploader.create().logical_upload_id
        self._ending = threading.Event()
        self.failure: Exception | None = None
        #: The ids of the keys that signed tokens which were accepted.
        self.keys: list[str] = []

    def run(self) -> None:
        try:
            before = self._token()
            while not self._ending.is_set():
                latest = self._token()
                # The token of before is in flight.
                for token in (before, latest):
                    dataclasses.replace(self._uploader, token=token).recovery(self._upload)
                self.keys.append(jwt.get_unverified_header(latest)["kid"])
                before = latest
        except grpc.RpcError as failure:
            self.failure = failure

    def _token(self) -> str:
        return exchange(self._issuer, self._uploader.stubs, self._uploader.credential).access_token

    def end(self) -> None:
        self._ending.set()
        self.join()


def test_no_token_is_refused_while_the_signing_key_is_rotated(replicas, boss, stubs, is_full):
    a, b, c = replicas.gateways.values()
    fleet = Fleet.create(boss)
    users = [TokenUser(*places, fleet.uploader()) for places in ((b, c), (c, b), (a, c), (b, a))]

    def use(is_enough) -> None:
        eventually(lambda: any(user.failure for user in users) or all(is_enough(user) for user in users), 300)
        assert not any(user.failure for user in users), [user.failure for user in users]

    for user in users:
        user.start()
    try:
        use(lambda user: len(user.keys) > 2)
        stub = stubs.auth.IdentityManagementServiceStub(a.channel("admin"))
        key = call(stub.RotateSigningKey, stubs.auth.RotateSigningKeyRequest(), boss.token).key_id
        counts = {user: len(user.keys) for user in users}
        use(lambda user: len(user.keys) > counts[user] + 5)
        if is_full:
            # The new key signs when all replicas know it, two minutes later.
            use(lambda user: user.keys[-5:] == [key] * 5)
    finally:
        for user in users:
            user.end()
    assert not any(user.failure for user in users), [user.failure for user in users]


@pytest.mark.parametrize("place", ["b", "c"])
def test_a_call_that_waits_at_one_replica_ends_with_a_request_at_another(replicas, place):
    waiting, there = replicas.gateways["a"], replicas.gateways[place]
    ada, request = unique("ada"), unique("request")
    token = App(there).post("/api/umid", {"umid": ada}).json["token"]
    with ThreadPoolExecutor(1) as thread:
        list_ = thread.submit(App(waiting).get, "/api/status-request?status=pending&wait=50", token)
        eventually(lambda: metric(waiting, "data_gateway_share_codes_waiting_calls") == 1)
        began = time.monotonic()
        body = {"requestId": request, "fromUserId": "bob", "toUserId": ada, "message": ""}
        assert App(there).post("/api/status-request", body).status == 200
        assert [each["requestId"] for each in list_.result().json["requests"]] == [request]
    # Fifty seconds would be the end of the wait; a replica looks once a second for what another one has committed.
    assert time.monotonic() - began < 40


class Leases:
    """The rows of the replicas' leases."""

    def __init__(self, postgres: Server):
        self.connection = postgres.connect("postgres")
        self.connection.execute(f"SET search_path TO {SCHEMA}")

    def close(self) -> None:
        self.connection.close()

    def holder(self, name: str) -> str | None:
        """Returns the description of the process that has a lease."""
        row = self.connection.execute(
            "SELECT p.description FROM leases l JOIN leases p ON p.holder = l.holder AND p.name LIKE 'gateway/%%' "
            "WHERE l.name = %s AND l.expires_at > extract(epoch FROM clock_timestamp()) * 1000000",
            [name],
        ).fetchone()
        return row and row[0]

    def end(self, name: str) -> None:
        """Lets a lease end as if its holder had not renewed it."""
        assert self.connection.execute("UPDATE leases SET expires_at = 0 WHERE name = %s", [name]).rowcount == 1

    def end_claims(self) -> None:
        """Lets all claims on items of copies end as if their processes had not renewed them."""
        self.connection.execute("UPDATE copy_items SET claimed_until = 0 WHERE state = 2")

    def keep_as_they_are(self) -> None:
        """Lets nobody change a row until the end of the transaction; writes under leases read them."""
        self.connection.execute("BEGIN")
        # Locks of rows would not stop a statement that finds no row of its process.
        self.connection.execute("LOCK TABLE leases IN SHARE MODE")


def test_a_write_under_a_lease_that_was_lost_is_refused(replicas, boss, stubs, postgres, receiver, is_full):
    """A replica is stopped while it sends an event, and continued when another one has its lease and sends the event again."""
    lease = f"webhook/{WEBHOOK}"
    arrived, statuses = [threading.Event() for _ in range(3)], [threading.Event() for _ in range(3)]
    numbers, subject = itertools.count(), f"webhooks/{WEBHOOK}"

    def respond(event: dict) -> int:
        if event["subject"] != subject:
            return 204
        number = next(numbers)
        arrived[number].set()
        assert statuses[number].wait(120)
        # The first request is accepted too late, the second is refused, the third is accepted.
        return (204, 500, 204)[number]

    with closing(Leases(postgres)) as leases:
        description = eventually(lambda: leases.holder(lease))
        stopped = replicas.holder(description)
        receiver.respond = respond
        stub = stubs.events.EventServiceStub(boss.gateway.channel("admin"))
        call(stub.SendTestEvent, stubs.events.SendTestEventRequest(webhook=WEBHOOK), boss.token)
        assert arrived[0].wait(120)
        stopped.process.send_signal(signal.SIGSTOP)
        try:
            if not is_full:
                leases.end(lease)
            assert arrived[1].wait(120)
            assert leases.holder(lease) not in (None, description)
            log = len(stopped.stderr)
            # A renewal, which would cancel the work of the stopped replica, waits; its write does not.
            leases.keep_as_they_are()
            statuses[0].set()
        finally:
            stopped.process.send_signal(signal.SIGCONT)
        eventually(lambda: f"another gateway may do the work of the lease {lease}" in stopped.stderr[log:])
        leases.connection.execute("ROLLBACK")
    # The result of the first request was not recorded: the event is sent again after the second one.
    for status in statuses[1:]:
        status.set()
    eventually(arrived[2].is_set)
    assert len({event["id"] for event in receiver.events if event["subject"] == subject}) == 1


def test_each_event_is_delivered_in_order_while_its_senders_are_killed(
    replicas, boss, stubs, postgres, receiver, is_full
):
    """The gateway that sends the events is killed again and again, while devices call and the receiver fails now and then."""
    lease, numbers = f"webhook/{WEBHOOK}", itertools.count()
    receiver.respond = lambda event: 500 if next(numbers) % 20 == 3 else 204
    fleet = Fleet.create(boss)
    devices = [fleet.register().device_id for _ in range(4)]
    calls = dict.fromkeys(devices, 0)
    ending = threading.Event()

    def initialize(device: str) -> None:
        init_device(replicas.service, stubs, device)
        calls[device] = 1
        # A device has a limit of such calls.
        while not ending.wait(0.3):
            init_device(replicas.service, stubs, device, "ReinitDevice")
            calls[device] += 1

    def arrived() -> dict[str, list[str]]:
        return {each: [event["id"] for event in receiver.of(f"devices/{each}")] for each in devices}

    with closing(Leases(postgres)) as leases, ThreadPoolExecutor(len(devices)) as pool:
        clients = [pool.submit(initialize, device) for device in devices]
        try:
            for _ in range(20 if is_full else 4):
                before = {device: len(ids) for device, ids in arrived().items()}
                eventually(lambda before=before: all(len(arrived()[each]) > before[each] + 3 for each in devices), 120)
                sender = replicas.holder(leases.holder(lease))
                sender.kill()
                if not is_full:
                    leases.end(lease)
                eventually(lambda: leases.holder(lease), 120)
                sender.start()
        finally:
            ending.set()
        for client in clients:
            client.result()
    eventually(lambda: all(len(set(ids)) == calls[device] for device, ids in arrived().items()), 120)
    for ids in arrived().values():
        # An event that was being sent at a kill is sent again.
        first = list(dict.fromkeys(ids))
        assert first == sorted(first)


def test_each_copy_is_made_once_while_gateways_are_killed(replicas, boss, postgres, copies_folder, is_full):
    uploader, data = Fleet.create(boss).uploader(), {}
    for seed in itertools.islice(fresh_seeds, 400 if is_full else 60):
        upload = Upload.create(uploader).put(content(20_000, seed))
        upload.complete()
        data[upload.etag] = content(20_000, seed)
    files = {each.file_id: data[each.etag] for each in boss.list_all() if each.etag in data}
    assert len(files) == len(data)
    folder = unique("copied")
    job = Copies(boss).create(
        list(files), {"endpoint": f"file://{copies_folder}", "key_template": f"{folder}/{{file_id}}"}
    )

    def done() -> int:
        return len(list((copies_folder / folder).glob("[!.]*")))

    with closing(Leases(postgres)) as leases:
        for turn, gateway in enumerate(replicas.gateways.values(), 1):
            eventually(lambda turn=turn: done() >= turn * len(files) // 4, 120)
            gateway.kill()
            gateway.start()
            if not is_full:
                # Those of the other gateways as well: what these have not finished is copied again.
                leases.end_claims()
    Copies(boss).finished(job.copy_job_id)
    assert Copies(boss).status(job.copy_job_id) == "SUCCEEDED"
    assert {each.name: each.read_bytes() for each in (copies_folder / folder).iterdir()} == files


def test_no_call_fails_while_gateways_are_restarted(replicas, boss, is_full):
    """As in an upgrade: one after the other ends with its drain (SIGTERM), and starts again."""
    clients = Workload(boss).add_sdks(4).add_scripts(4).start()
    try:
        for gateway in [*replicas.gateways.values()] * (10 if is_full else 1):
            assert gateway.stop() == 0
            gateway.start()
            clients.go_on()
    finally:
        clients.end()
    assert not clients.record.failed_calls
    assert not clients.lost()


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
