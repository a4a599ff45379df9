"""The messages of a gateway to its service manager, in sd_notify's protocol over NOTIFY_SOCKET."""

import errno
import os
import signal
import socket

import grpc
import pytest
from support.faults import SYNC, Faults
from support.gateway import Gateway, eventually
from support.waiting import WAIT_SECONDS


@pytest.fixture(params=["path", "abstract"])
def manager(request, tmp_path):
    """The service manager's end of the socket; `name` is the value of NOTIFY_SOCKET."""
    end = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    end.settimeout(WAIT_SECONDS)
    name = str(tmp_path / "notify") if request.param == "path" else f"@data-gateway-{os.getpid()}-{os.urandom(4).hex()}"
    end.bind(name.replace("@", "\0"))
    with end:
        yield name, end


def fields(end: socket.socket) -> dict[str, str]:
    return dict(line.split("=", 1) for line in end.recv(4096).decode().splitlines())


def test_service_manager_is_notified_of_start_and_end(binary, tmp_path, manager):
    name, end = manager
    gateway = Gateway(binary, tmp_path)
    gateway.environment = {"NOTIFY_SOCKET": name}
    try:
        gateway.start()
        assert fields(end)["READY"] == "1"
        gateway.process.send_signal(signal.SIGHUP)
        reloading = fields(end)
        assert reloading["RELOADING"] == "1" and int(reloading["MONOTONIC_USEC"]) > 0
        assert fields(end)["READY"] == "1"
        assert gateway.stop() == 0
        assert fields(end)["STOPPING"] == "1"
        end.setblocking(False)
        with pytest.raises(BlockingIOError):
            end.recv(4096)
    finally:
        gateway.close()


def test_watchdog_is_notified_regularly(binary, tmp_path, manager):
    name, end = manager
    gateway = Gateway(binary, tmp_path)
    # Half of the time is between two signs, and ten of them can wait for a slow reader.
    gateway.environment = {"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "1000000"}
    try:
        gateway.start()
        assert "READY" in fields(end)
        assert [fields(end) for _ in range(3)] == [{"WATCHDOG": "1"}] * 3
    finally:
        gateway.close()


@pytest.mark.sqlite
def test_no_sign_of_life_once_the_database_takes_no_writes(binary, tmp_path, manager, login):
    name, end = manager
    gateway = Gateway(binary, tmp_path)
    faults = Faults(tmp_path, gateway.data)
    gateway.environment = {"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "100000"} | faults.environment
    try:
        admin = login(gateway.start())
        faults.arm(SYNC, 1, errno.EIO)
        with pytest.raises(grpc.RpcError):
            admin.admin("CreateSite", name="North")
        messages = [fields(end)]
        while "waiting" not in messages[-1].get("STATUS", ""):
            messages.append(fields(end))
        assert {"WATCHDOG": "1"} in messages
        # The log contains the reason.
        assert eventually(lambda: "the database accepts no more writes" in gateway.stderr)
        gateway.stop()
        assert "STOPPING" in fields(end)
    finally:
        gateway.close()


def test_gateway_keeps_running_without_its_service_manager(binary, tmp_path):
    gateway = Gateway(binary, tmp_path)
    gateway.environment = {"NOTIFY_SOCKET": str(tmp_path / "nobody"), "WATCHDOG_USEC": "100000"}
    try:
        gateway.start()
        assert gateway.stop() == 0
        assert "the service manager could not be notified" in gateway.stderr
    finally:
        gateway.close()
