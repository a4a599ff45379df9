"""The throughput of webhooks whose receivers take 10 ms, and what it costs other writes."""

import asyncio
import sqlite3
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

from measuring import CLIENT_CORE, ROOT, SERVER_CORE, figure, on_cores
from support import stubs as stubs_module
from support.gateway import ADMIN_PASSWORD, Gateway
from support.parties import Fleet, Uploader, User, call

ROUNDS = 3
RECEIVERS = 8
#: The time that a receiver takes for a request, in seconds.
DURATION = 0.010
#: The number of events for one webhook in a round.
EVENTS = 2000
#: The number of calls whose median is measured.
CALLS = 100
SECRET = "whsec_" + "A" * 43 + "="


class Receivers:
    """HTTP servers that take some time for each request; any number of requests at once, on kept connections."""

    def __init__(self, count: int):
        self.received = 0
        self.awaited = 0
        self.done = threading.Event()
        self.loop = asyncio.new_event_loop()
        ready = threading.Event()

        async def start():
            servers = [await asyncio.start_server(self.serve, "127.0.0.1", 0) for _ in range(count)]
            self.ports = [server.sockets[0].getsockname()[1] for server in servers]
            ready.set()

        def run():
            self.loop.create_task(start())
            self.loop.run_forever()

        threading.Thread(target=run, daemon=True).start()
        ready.wait()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
                await reader.readexactly(int(length.split(b":")[1]))
                await asyncio.sleep(DURATION)
                writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
                if self.received == 0:
                    self.began = time.perf_counter()
                self.received += 1
                if self.received == self.awaited:
                    self.ended = time.perf_counter()
                    self.done.set()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    def expect(self, events: int) -> None:
        self.received, self.awaited = 0, events
        self.done.clear()

    def rate(self) -> float:
        """Returns the number of received events a second, when all have arrived."""
        assert self.done.wait(300), f"only {self.received} of {self.awaited} events arrived"
        return (self.awaited - 1) / (self.ended - self.began)


def fill(path: Path, webhooks: list[str], number: int) -> None:
    """Inserts events that are due, each of a subject of its own, into the database of a gateway that does not run."""
    database = sqlite3.connect(path)
    with database:
        for index in range(EVENTS):
            subject, now = f"objects/{number}-{index}", int(time.time() * 1_000_000)
            payload = '{"data":{"file_id":"' + "0" * 400 + f'{index}"}}}}'
            (position,) = database.execute(
                """
                INSERT INTO events (id, type, subject, organization_id, organization, occurred_at, payload)
                VALUES (?, 'object.verified', ?, 1, 'system', ?, ?) RETURNING position
                """,
                (subject, subject, now, payload),
            ).fetchone()
            database.executemany(
                """
                INSERT INTO event_deliveries (position, webhook, subject, state, bytes, organization_id, due_at)
                VALUES (?, ?, ?, 1, ?, 1, ?)
                """,
                [(position, webhook, subject, len(payload), now) for webhook in webhooks],
            )
    database.close()


class Creates:
    """CreateLogicalUpload calls of one caller, one after the other."""

    def __init__(self, gateway: Gateway, stubs):
        self.gateway, self.stubs = gateway, stubs
        user = User.login(gateway, stubs, "system", "admin", ADMIN_PASSWORD)
        fleet = Fleet.create(user)
        self.credential = user.admin("CreateSiteApiKey", site_id=fleet.site_id, key_name="benchmark").credential

    def median(self) -> float:
        """Returns the median duration in milliseconds."""
        token = Uploader(self.gateway, self.stubs, self.credential).sign_in().token
        service = self.stubs.gateway.DataGatewayServiceStub(self.gateway.channel("gateway"))
        times = []
        for _ in range(CALLS):
            start = time.perf_counter()
            call(service.CreateLogicalUpload, self.stubs.gateway.CreateLogicalUploadRequest(), token)
            times.append((time.perf_counter() - start) * 1000)
        return statistics.median(times)


def main(binary: str) -> None:
    receivers = Receivers(RECEIVERS)
    names = [f"receiver-{number}" for number in range(RECEIVERS)]
    with tempfile.TemporaryDirectory(prefix="data-gateway-benchmark-") as text, on_cores({CLIENT_CORE}):
        directory = Path(text)
        for folder in ("stubs", "gateway"):
            (directory / folder).mkdir()
        stubs = stubs_module.load(ROOT / "protos", directory / "stubs")
        secret = directory / "secret"
        secret.write_text(SECRET)
        webhooks = {
            name: {"url": f"http://127.0.0.1:{port}/", "secret_file": str(secret), "events": ["object.verified"]}
            for name, port in zip(names, receivers.ports, strict=True)
        }
        config = {"webhooks": webhooks, "quota": {"device_uploads": 0}, "uploads": {"calls_per_minute": 0}}
        ours = Gateway(Path(binary), directory / "gateway", config)

        def start() -> None:
            with on_cores({SERVER_CORE}):
                ours.start()

        start()
        creates = Creates(ours, stubs)
        one, eight, during, idle = [], [], [], []
        for number in range(ROUNDS):
            idle.append(creates.median())
            for rates, chosen in ((one, names[:1]), (eight, names)):
                ours.stop()
                fill(ours.data / "gateway.db", chosen, 2 * number + len(chosen) // RECEIVERS)
                receivers.expect(EVENTS * len(chosen))
                start()
                if chosen == names:
                    during.append(creates.median())
                    assert not receivers.done.is_set(), "the deliveries ended before the calls"
                rates.append(receivers.rate())
        ours.close()
        figure("webhooks.one_receiver", one, "events/s")
        figure(f"webhooks.{RECEIVERS}_receivers", eight, "events/s")
        figure("webhooks.create_upload.median", during, "ms", "without deliveries", idle)


if __name__ == "__main__":
    main(sys.argv[1])
