"""A whole service that loses each of its parts in turn, while real clients upload; `scripts/lab service`.

The start alone takes half a minute, so `make test` has only what needs no service.
"""

import itertools
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.engines import RadosGateway
from support.gateway import ADMIN_PASSWORD
from support.parties import User
from support.process import run
from support.replicas import HAPROXY, ROOT
from support.service import EVENTS, Service
from support.workload import Workload

pytestmark = pytest.mark.sqlite
DEMO = ROOT / "deploy/scale-out/demo"
#: The duration of the kills, and the least time between two of them, in seconds.
DURATION, INTERVAL = float(os.environ.get("LAB_SECONDS", "120")), 1.0


@pytest.fixture(scope="module")
def service(binary, tmp_path_factory, is_full):
    if not is_full:
        pytest.skip("--full")
    if missing := RadosGateway.missing():
        pytest.skip(f"{', '.join(missing)} not found")
    service = Service(binary, tmp_path_factory.mktemp("service"))
    try:
        yield service.start()
    finally:
        service.close()


@pytest.fixture(scope="module")
def clients(service, stubs, binary, tmp_path_factory) -> Workload:
    boss = User.login(service.replicas.service, stubs, "system", "admin", ADMIN_PASSWORD)
    clients = Workload(boss).add_all(binary, tmp_path_factory.mktemp("devices")).start()
    yield clients
    clients.abandon()


def test_no_call_fails_while_a_gateway_is_killed_each_second(service, clients):
    clients.go_on()
    clients.record.turn()
    begin = time.monotonic()
    for kills, name in enumerate(itertools.cycle("abc")):
        # The interval is longer where a gateway needs longer to start, so that two of them serve.
        time.sleep(max(0, begin + kills * INTERVAL - time.monotonic()))
        if time.monotonic() > begin + DURATION:
            break
        service.respawn(name)
    clients.go_on()
    print(f"{kills} kills: {clients.record.turn()}")
    assert not clients.record.failed_calls, clients.record.failed_calls


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.title)
def test_clients_continue_after_each_event(service, clients, event):
    event.run(service, clients)
    clients.go_on()
    print(f"{event.title}: {clients.record.turn()}")
    assert not service.ended()


def test_acknowledged_objects_have_their_bytes(clients):
    clients.end()
    assert not clients.lost()
    print(f"acknowledged: {clients.record.uploads}")


def test_the_unit_of_the_balancer_has_the_variables_of_its_configuration():
    unit = (HAPROXY.parent / "haproxy.service.d/gateways.conf").read_text()
    variables = dict(re.findall(r'"([A-Z_]+)=([^"]+)"', unit)) | {
        "REPEATABLE": str(HAPROXY.with_name("repeatable.lst"))
    }
    run("haproxy", "-c", "-f", HAPROXY, env={"PATH": os.environ["PATH"]} | variables)


def demo(*arguments) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, DEMO, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def test_the_demo_needs_a_terminal_or_the_self_test(binary):
    refused = demo("--binary", binary)
    assert refused.returncode == 1
    assert refused.stderr == "demo: the menu needs a terminal; --self-test does not\n"


def test_the_demo_names_a_missing_program(tmp_path):
    refused = demo("--binary", tmp_path / "nothing", "--self-test")
    assert refused.returncode == 1
    assert refused.stderr.startswith("demo: no data-gateway: install the package")


def test_the_demo_leaves_nothing(binary, tmp_path, is_full):
    if not is_full:
        pytest.skip("--full")
    done = subprocess.run(
        [sys.executable, DEMO, "--binary", binary, "--self-test"],
        env=os.environ | {"TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 lost" in done.stdout
    assert not list(Path(tmp_path).iterdir())
