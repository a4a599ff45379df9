"""Events from the receiver's view: signed, retried, in order, and listed and redelivered as dead letters."""

import json
import ssl
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import standardwebhooks
from support.certificates import Authority
from support.commands import CommandLine
from support.gateway import eventually
from support.monitoring import logged
from support.parties import Fleet, User, call, init_device
from support.refusal import refused
from support.uploads import Upload, completed, content
from support.waiting import WAIT_SECONDS
from support.webhooks import KEY, OLD_KEY, SECRET, metrics, verify


def test_event_continues_the_trace_of_its_call(with_webhooks):
    gateway, fleet, receiver = with_webhooks()
    trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    uploader = fleet.uploader()
    upload = Upload.create(uploader).put(b"x")
    service = fleet.user.stubs.gateway.DataGatewayServiceStub(gateway.channel("gateway"))
    request = fleet.user.stubs.gateway.CompleteUploadRequest(
        upload_id=upload.id, file_size=1, oss_object_etag=upload.etag, part_size_bytes=upload.part_size
    )
    call(service.CompleteUpload, request, uploader.token, {"traceparent": f"00-{trace}-{parent}-01"})
    (found,) = fleet.user.list_all()
    receiver.waits_for(f"objects/{found.file_id}")
    line = logged(gateway, trace_id=trace)
    assert line["parent_span_id"] == parent
    sent = {json.loads(body)["type"]: headers.get("traceparent") for headers, body in receiver.requests}
    assert sent == {"device.initialized": None, "object.verified": f"00-{trace}-{line['span_id']}-01"}


def test_each_event_is_delivered_with_a_signature(with_webhooks):
    gateway, fleet, receiver = with_webhooks()
    uploader = fleet.uploader()
    device = f"devices/{uploader.device_id}"
    (initialized,) = receiver.waits_for(device)
    assert initialized["type"] == "device.initialized" and initialized["organization"] == "system"
    assert initialized["data"] == {
        "device_id": uploader.device_id,
        "is_reinit": False,
        "platform": "linux-x86_64",
        "sdk_version": "acceptance/1",
        "site_id": fleet.site_id,
        "suite_id": int(fleet.suite.split("/")[1]),
    }
    init_device(gateway, fleet.user.stubs, uploader.device_id, "ReinitDevice")
    assert [event["data"]["is_reinit"] for event in receiver.waits_for(device, 2)] == [False, True]

    uploader = fleet.uploader()
    upload = completed(uploader, content(3000), {"weatherNow": "rain"})
    upload.complete({"weatherNow": "rain"})  # Changes nothing, and tells nothing.
    (found,) = fleet.user.list_all()
    (verified,) = receiver.waits_for(f"objects/{found.file_id}")
    assert verified["type"] == "object.verified"
    assert verified["data"] == {
        "bucket": "data",
        "device_id": uploader.device_id,
        "etag": found.etag,
        "file_id": found.file_id,
        "logical_upload_id": upload.logical_id,
        "object_id": found.object_id,
        "object_key": upload.credentials.key,
        "raw_tags": {"weatherNow": "rain"},
        "site_id": fleet.site_id,
        "size_bytes": 3000,
        "upload_id": upload.id,
    }
    given_up = Upload.create(uploader)
    for _ in range(2):
        uploader.abort(given_up.logical_id, reason="a dead battery")
    aborted, failed = receiver.waits_for(f"uploads/{given_up.logical_id}", 2)
    assert (aborted["type"], aborted["data"]["reason"]) == ("upload.aborted", "a dead battery")
    assert aborted["data"]["upload_id"] == given_up.id and aborted["data"]["device_id"] == uploader.device_id
    assert (failed["type"], failed["data"]) == ("upload.failed", aborted["data"] | {"cause": "aborted"})

    for headers, body in receiver.requests:
        assert headers["content-type"] == "application/json"
        assert json.loads(body)["id"] == headers["webhook-id"]
        assert verify(KEY, headers, body) and verify(OLD_KEY, headers, body)
        assert not verify(KEY[1:], headers, body)
        assert not verify(KEY, headers, body + b" ")
        assert not verify(KEY, headers | {"webhook-timestamp": str(int(time.time()) - 301)}, body)
        # The library of the specification agrees.
        assert standardwebhooks.Webhook(SECRET).verify(body, headers) == json.loads(body)
    ids = [event["id"] for event in receiver.events]
    assert len(set(ids)) == len(ids) == 6


def test_webhooks_get_what_they_ask_for(with_webhooks, stubs):
    gateway, fleet, objects, acme, everything = with_webhooks(
        {"objects": {"events": ["object.verified"]}, "acme": {"organization": "acme"}, "everything": {}}
    )
    boss = fleet.user.create_organization("acme")
    ours, theirs = fleet.uploader(), Fleet.create(boss).uploader()
    completed(ours, b"ours")
    completed(theirs, b"theirs")
    eventually(lambda: len(everything.taken) == 4 and len(objects.taken) == 2 and len(acme.taken) == 2)
    assert {event["type"] for event in objects.taken} == {"object.verified"}
    assert {event["organization"] for event in acme.taken} == {"acme"}
    eventually(lambda: metrics(gateway, "delivered_total") == {"acme": 2, "everything": 4, "objects": 2})


def test_test_event_reaches_one_webhook_and_is_in_its_deliveries(with_webhooks, stubs):
    gateway, fleet, one, other = with_webhooks(
        {"one": {"events": ["object.verified"], "organization": "system"}, "other": {}}
    )
    service = stubs.events.EventServiceStub(gateway.channel("admin"))
    ask = lambda name, user=fleet.user, **fields: call(
        getattr(service, name), getattr(stubs.events, f"{name}Request")(**fields), user.token
    )
    sent = ask("SendTestEvent", webhook="one")
    (event,) = one.waits_for("webhooks/one")
    assert (event["id"], event["type"]) == (sent.event_id, "webhook.test")
    assert event["data"] == {"requested_by": "user:system/admin", "webhook": "one"}
    (line,) = audit(gateway, stubs, fleet.user, "SendTestEvent")
    assert (line.actor, line.target) == ("user:system/admin", "webhooks/one")
    eventually(lambda: metrics(gateway, "delivered_total") == {"one": 1, "other": 0})
    assert other.events == []
    (delivery,) = ask("ListDeliveries", webhook="one").deliveries
    assert (delivery.event_id, delivery.type, delivery.state) == (sent.event_id, "webhook.test", 2)
    assert [(view.name, list(view.types), view.delivered) for view in ask("ListWebhooks").webhooks] == [
        ("one", ["object.verified"], 1),
        ("other", [], 0),
    ]
    # The admin of another organization sees neither.
    boss = fleet.user.create_organization("acme")
    assert not ask("ListWebhooks", boss).webhooks
    for name in ("SendTestEvent", "ListDeliveries"):
        with refused(stubs, "NOT_FOUND"):
            ask(name, boss, webhook="one")


def test_failed_event_is_retried_and_holds_back_its_subject_only(with_webhooks, stubs):
    gateway, fleet, receiver = with_webhooks()
    failing, other = fleet.register(), fleet.register()
    subject = f"devices/{failing.device_id}"
    left = [500, 503, None]
    gate, other_is_taken = threading.Lock(), threading.Event()

    def respond(event):
        with gate:
            if event["subject"] != subject or not left:
                return 200
            failure = left.pop(0)
        # The last failure is awaited: the other subject's event may take long to come.
        return failure if left or other_is_taken.wait(WAIT_SECONDS) else 200

    receiver.respond = respond
    init_device(gateway, stubs, failing.device_id)
    for _ in range(3):
        init_device(gateway, stubs, failing.device_id, "ReinitDevice")
    init_device(gateway, stubs, other.device_id)
    receiver.waits_for(f"devices/{other.device_id}")
    other_is_taken.set()
    assert not receiver.of(subject), "the other subject was to come first: this one's first event failed"
    taken = receiver.waits_for(subject, 4)
    assert [event["data"]["is_reinit"] for event in taken] == [False, True, True, True]
    assert [event["id"] for event in taken] == sorted(event["id"] for event in taken)
    # The failed event was sent four times without changes, and no other one overtook it.
    sent = [event for event in receiver.events if event["subject"] == subject]
    assert sent == [taken[0]] * 4 + taken[1:]
    assert metrics(gateway, "failed_attempts_total") == {"all": 3}
    eventually(lambda: metrics(gateway, "pending") == {"all": 0})


def test_every_event_is_delivered_once_without_failures(with_webhooks, stubs):
    gateway, fleet, receiver = with_webhooks(concurrency=8)
    devices = [fleet.register().device_id for _ in range(8)]

    def call_often(device: str):
        init_device(gateway, stubs, device)
        for _ in range(39):
            init_device(gateway, stubs, device, "ReinitDevice")

    with ThreadPoolExecutor(len(devices)) as pool:
        list(pool.map(call_often, devices))
    eventually(lambda: metrics(gateway, "pending") == {"all": 0})
    assert len(receiver.events) == 8 * 40
    for device in devices:
        ids = [event["id"] for event in receiver.of(f"devices/{device}")]
        assert len(ids) == 40 and ids == sorted(set(ids))


def test_redirects_are_not_followed(with_webhooks):
    gateway, fleet, receiver = with_webhooks()
    receiver.headers = {"Location": receiver.url + "/elsewhere"}
    responses = iter([302])
    receiver.respond = lambda event: next(responses, 204)
    device = fleet.register()
    init_device(gateway, fleet.user.stubs, device.device_id)
    receiver.waits_for(f"devices/{device.device_id}")
    assert len(receiver.events) == 2


def test_a_receiver_by_tls_shows_a_certificate_that_is_trusted(gateway_with, login, receivers, stubs, tmp_path):
    certificate, key, _ = (authority := Authority(tmp_path, "receivers")).issue("receiver", ("127.0.0.1",))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    (secret := tmp_path / "secret").write_text(SECRET)
    receiver, hook = receivers(context), {"secret_file": str(secret)}
    gateway = gateway_with(
        {
            "webhooks": {
                "trusting": hook | {"url": receiver.url, "authorities": str(authority.path)},
                "wary": hook | {"url": receiver.url},
            },
            "events": {"give_up_seconds": 1},
        }
    )
    user = login(gateway)
    device = Fleet.create(user).register()
    init_device(gateway, stubs, device.device_id)
    receiver.waits_for(f"devices/{device.device_id}")
    eventually(lambda: metrics(gateway, "dead") == {"trusting": 0, "wary": 1})
    service = stubs.events.EventServiceStub(gateway.channel("admin"))
    (letter,) = call(service.ListDeadLetters, stubs.events.ListDeadLettersRequest(), user.token).dead_letters
    assert letter.webhook == "wary" and "certificate" in letter.last_error
    assert len(receiver.events) == 1


def test_an_orderly_end_waits_for_no_webhook_and_loses_nothing(with_webhooks, stubs):
    gateway, fleet, receiver = with_webhooks()
    hold = threading.Event()
    receiver.respond = lambda event: hold.wait(60) and None
    device = fleet.register()
    init_device(gateway, stubs, device.device_id)
    eventually(lambda: receiver.events)
    assert gateway.stop() == 0
    hold.set()
    receiver.respond = lambda event: 204
    gateway.start()
    (again,) = receiver.waits_for(f"devices/{device.device_id}")
    assert again == receiver.events[0]


def test_calls_do_not_wait_for_a_webhook(with_webhooks):
    """Neither for an unreachable webhook, nor for one that never responds."""
    gateway, fleet, receiver = with_webhooks(concurrency=1, timeout_seconds=300)
    hold = threading.Event()
    receiver.respond = lambda event: hold.wait(300) and 204
    uploaders = [fleet.uploader() for _ in range(5)]
    for uploader in uploaders:
        completed(uploader, b"x")
    assert len(fleet.user.list_all()) == 5
    eventually(lambda: metrics(gateway, "pending") == {"all": 10})
    assert len(receiver.events) == 1
    hold.set()
    eventually(lambda: len(receiver.taken) == 10)
    eventually(lambda: metrics(gateway, "oldest_pending_seconds") == {"all": 0})


def test_a_dead_letter_is_listed_and_redelivered(with_webhooks, binary, stubs, tmp_path):
    gateway, fleet, receiver = with_webhooks(give_up_seconds=1)
    device = fleet.register()
    subject = f"devices/{device.device_id}"
    receiver.respond = lambda event: 500
    init_device(gateway, stubs, device.device_id)
    init_device(gateway, stubs, device.device_id, "ReinitDevice")
    eventually(lambda: metrics(gateway, "dead") == {"all": 2})
    assert metrics(gateway, "pending") == {"all": 0}

    command = CommandLine(binary, gateway, tmp_path).login()
    (webhook,) = command.json("events", "webhooks")["webhooks"]
    assert (webhook["name"], webhook["dead_letters"], webhook["pending"]) == ("all", 2, 0)
    deliveries = command.json("events", "deliveries", "all")["deliveries"]
    assert [each["state"] for each in deliveries] == ["DELIVERY_STATE_DEAD"] * 2
    assert command.json("events", "deliveries", "all", "--limit", "1")["deliveries"] == deliveries[:1]
    letters = command.json("events", "dead-letters")["dead_letters"]
    assert [letter["subject"] for letter in letters] == [subject] * 2
    first = letters[0]
    assert first["event_id"] < letters[1]["event_id"]
    assert (first["webhook"], first["type"], first["organization"]) == ("all", "device.initialized", "system")
    assert first["attempts"] >= 2 and first["last_error"] == "the webhook answered with HTTP status 500"
    assert json.loads(first["payload"]) == receiver.events[0]
    shown = command.run("events", "dead-letters", "--webhook", "all").stdout
    assert first["event_id"] in shown and "the webhook answered with HTTP status 500" in shown
    assert command.json("events", "dead-letters", "--webhook", "another") == {"dead_letters": []}

    receiver.respond = lambda event: 204
    assert command.json("events", "redeliver", first["event_id"]) == {"webhooks": ["all"]}
    (again,) = receiver.waits_for(subject)
    assert again["id"] == first["event_id"]
    headers, body = receiver.requests[-1]
    assert verify(KEY, headers, body)
    eventually(lambda: metrics(gateway, "dead") == {"all": 1})
    assert "is not a dead letter" in command.refused(1, "events", "redeliver", first["event_id"])
    test = command.json("events", "test", "all")["event_id"]
    eventually(lambda: test in {event["id"] for event in receiver.events})
    service = stubs.events.EventServiceStub(gateway.channel("admin"))
    page = call(service.ListDeadLetters, stubs.events.ListDeadLettersRequest(page_size=1), fleet.user.token)
    assert [letter.event_id for letter in page.dead_letters] == [letters[1]["event_id"]]


def test_dead_letters_belong_to_the_admins_of_their_organization(with_webhooks, stubs):
    gateway, fleet, receiver = with_webhooks(give_up_seconds=1)
    receiver.respond = lambda event: 500
    device = fleet.register()
    init_device(gateway, stubs, device.device_id)
    eventually(lambda: metrics(gateway, "dead") == {"all": 1})
    password = "a password of some length"
    fleet.user.create_organization("acme", password)
    fleet.user.users("CreateUser", user_name="op", password=password, role="operator")
    boss = User.login(gateway, stubs, "acme", "boss", password)
    operator = User.login(gateway, stubs, "system", "op", password)
    service = stubs.events.EventServiceStub(gateway.channel("admin"))
    listing, redelivery = stubs.events.ListDeadLettersRequest(), stubs.events.RedeliverEventRequest
    (letter,) = call(service.ListDeadLetters, listing, fleet.user.token).dead_letters
    assert not call(service.ListDeadLetters, listing, boss.token).dead_letters
    with refused(stubs, "NOT_FOUND"):
        call(service.RedeliverEvent, redelivery(event_id=letter.event_id), boss.token)
    with refused(stubs, "NOT_FOUND"):
        call(service.RedeliverEvent, redelivery(event_id=letter.event_id, webhook="x"), fleet.user.token)
    for request in (redelivery(), redelivery(event_id="x" * 65)):
        with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_INVALID_ARGUMENT"):
            call(service.RedeliverEvent, request, fleet.user.token)
    for method, request in [
        (service.ListDeadLetters, listing),
        (service.RedeliverEvent, redelivery(event_id=letter.event_id)),
    ]:
        with refused(stubs, "PERMISSION_DENIED"):
            call(method, request, operator.token)
    before = len(audit(gateway, stubs, fleet.user))
    call(service.RedeliverEvent, redelivery(event_id=letter.event_id), fleet.user.token)
    (line,) = audit(gateway, stubs, fleet.user)[before:]
    assert (line.actor, line.target) == ("user:system/admin", f"events/{letter.event_id}")


def audit(gateway, stubs, user, action: str = "RedeliverEvent") -> list:
    """The audit lines of successful calls of one method."""
    service = stubs.auth.AuditServiceStub(gateway.channel("admin"))
    lines = call(service.ListAuditLines, stubs.auth.ListAuditLinesRequest(page_size=1000), user.token).lines
    return [line for line in lines if line.action == action and line.result == "OK"]


def test_removed_webhook_leaves_dead_letters(with_webhooks, stubs):
    gateway, fleet, receiver = with_webhooks()
    receiver.respond = lambda event: 500
    device = fleet.register()
    init_device(gateway, stubs, device.device_id)
    eventually(lambda: receiver.events)
    gateway.stop()
    gateway.config.write_text("{}")
    gateway.start()
    service = stubs.events.EventServiceStub(gateway.channel("admin"))
    letters = eventually(
        lambda: list(
            call(service.ListDeadLetters, stubs.events.ListDeadLettersRequest(), fleet.user.token).dead_letters
        )
    )
    assert [letter.last_error for letter in letters] == ["the configuration has no webhook with this name"]
    with refused(stubs, "FAILED_PRECONDITION", "DATA_GATEWAY_FAILED_PRECONDITION"):
        request = stubs.events.RedeliverEventRequest(event_id=letters[0].event_id)
        call(service.RedeliverEvent, request, fleet.user.token)
