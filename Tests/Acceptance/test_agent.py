"""Tests of `data-gateway agent`: the files that are created in directories, with a real gateway, and with kills of both."""

import contextlib
import itertools
import json
import os
import random
import re
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest
from support.client import Device, SignedIn, Stage, end
from support.commands import OK, REFUSED, USAGE
from support.counters import rest
from support.deep import make_unreadable
from support.faults import Clock, late_threads
from support.file_systems import MIB, SmallDisk, Unavailable
from support.gateway import eventually
from support.uploads import content

PART = 64 * 1024
#: The limit in seconds for the arrival of files. Each takes some ten syncs of the agent and of the gateway, which take seconds on
#: a disk that others write to.
WAIT_SECONDS = 180
#: How long a file is unchanged before it is uploaded in the test of that, in seconds.
STABLE_SECONDS = 3
#: The program of the package data-gateway-device, if it was built.
SHIPPED = Path(__file__).resolve().parents[2] / ".build/static/release/data-gateway-device"
CONFIGURATION = {"uploads": {"part_size_bytes": PART}}


class Agent:
    """An agent of a device that watches one directory, and can be started and ended."""

    def __init__(self, device: Device, directory: Path, configuration: dict | None = None, rule: dict | None = None):
        self.device, self.directory = device, directory
        directory.mkdir(exist_ok=True)
        rules = {"path": str(directory), "settle_seconds": 1, "tags": {"folder": "{dir1}"}} | (rule or {})
        self.metrics = device.folder / "agent.prom"
        self.file = device.folder / "agent.json"
        self.file.write_text(
            json.dumps({"directories": [rules], "metrics_file": str(self.metrics)} | (configuration or {}))
        )
        self.process: subprocess.Popen | None = None

    def start(self, **environment: str) -> "Agent":
        self.device.environment |= environment
        with (self.device.folder / "agent.log").open("ab") as log:
            self.process = self.device.start("agent", "run", stdout=subprocess.DEVNULL, stderr=log.fileno())
        return self

    @property
    def log(self) -> str:
        file = self.device.folder / "agent.log"
        return file.read_text() if file.exists() else ""

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        end(self.process, signal.SIGTERM)
        return self.process.returncode

    def status(self) -> dict:
        eventually(lambda: (self.device.folder / "agent/status.json").exists())
        return json.loads(self.device.run("agent", "status", "--json").stdout)


@pytest.fixture
def device(binary, network, network_fleet, tmp_path) -> Device:
    """A device that no other test has, since the tests look for its objects."""
    return Device(binary, network, tmp_path / "device").join(network_fleet)


@pytest.fixture
def agent_with(device, tmp_path):
    """Returns a function that makes agents, which end with the test."""
    made: list[Agent] = []

    def make(configuration: dict | None = None, rule: dict | None = None) -> Agent:
        made.append(Agent(device, tmp_path / "watched", configuration, rule))
        return made[-1]

    yield make
    for agent in made:
        if agent.process and agent.process.poll() is None:
            agent.kill()
        # Shown if the test failed.
        print(agent.log)


def arrived(user: SignedIn, device: Device) -> list[dict]:
    return user.objects(f"device={device.device_id}")


def wait_for_files(user: SignedIn, device: Device, count: int, seconds: float = WAIT_SECONDS) -> list[dict]:
    """Returns the objects of the device, when there are `count`."""
    eventually(lambda: len(arrived(user, device)) >= count, seconds=seconds)
    return arrived(user, device)


def downloaded(user: SignedIn, found: list[dict], folder: Path) -> dict[str, bytes]:
    """Returns the contents of objects by name."""
    user.done("download", *(each["file_id"] for each in found), "--by-id", "--to", folder, "--parallel", "8")
    return {each["name"]: (folder / each["file_id"]).read_bytes() for each in found}


def test_files_are_uploaded_with_their_tags(agent_with, device, user, tmp_path):
    agent = agent_with(rule={"include": ["*.mcap"], "exclude": ["tmp/**"]})
    (agent.directory / "before.mcap").write_bytes(content(3 * PART))
    agent.start(**late_threads())
    wait_for_files(user, device, 1)
    # New directories are watched as well, and their existing files are found.
    for folder in ("run7", "tmp"):
        (tmp_path / folder / "deep").mkdir(parents=True)
        (tmp_path / folder / "deep/after.mcap").write_bytes(content(100, seed=2))
        (tmp_path / folder).rename(agent.directory / folder)
    (agent.directory / "run7/late.mcap").write_bytes(content(200, seed=3))
    (agent.directory / "run7/late.log").write_bytes(b"no recording")
    found = wait_for_files(user, device, 3)
    assert sorted((each["name"], each["tags"].get("folder")) for each in found) == [
        ("after.mcap", "run7"),
        ("before.mcap", None),
        ("late.mcap", "run7"),
    ]
    eventually(lambda: agent.status()["pending_files"] == 0)
    status = agent.status()
    assert (status["is_running"], status["uploaded_files"], status["failures"]) == (True, 3, [])
    eventually(lambda: "data_gateway_agent_uploaded_files_total 3\n" in agent.metrics.read_text())
    assert agent.stop() == OK
    assert "the agent is not running" in device.refused(REFUSED, "agent", "status")
    # The next agent uploads nothing again.
    agent.start()
    eventually(lambda: agent.status()["is_running"] and agent.status()["uploaded_files"] == 0)
    (agent.directory / "one_more.mcap").write_bytes(b"x")
    assert len(wait_for_files(user, device, 4)) == 4


def test_file_that_is_being_written_waits(agent_with, device, user):
    agent = agent_with(rule={"settle_seconds": STABLE_SECONDS}).start()
    eventually(lambda: (device.folder / "agent/status.json").exists())
    held = agent.directory / "held"
    with held.open("wb") as file:
        file.write(b"first")
        file.flush()
        for number in itertools.count():
            growing = agent.directory / f"growing {number}"
            if is_written_steadily(growing, lambda name=growing.name: name not in sizes(user, device)):
                break
        eventually(lambda: growing.name in sizes(user, device), WAIT_SECONDS)
        assert sizes(user, device)[growing.name] == 8000
        eventually(lambda: agent.status()["pending_files"] == 1)
        assert "held" not in sizes(user, device)
        file.write(b" and second")
    eventually(lambda: "held" in sizes(user, device), WAIT_SECONDS)
    assert sizes(user, device)["held"] == len("first and second")


def is_written_steadily(path: Path, is_absent) -> bool:
    """Appends to a file, closed after each write, for longer than `SETTLE`; asserts that it is absent at the gateway meanwhile.

    Returns whether no pause was as long as `SETTLE`: a stalled machine makes longer ones.
    """
    began = last = time.monotonic()
    absences = []
    for number in range(8):
        with path.open("ab") as appended:
            appended.write(content(1000, seed=number))
        # The time between two writes is the subject.
        time.sleep(STABLE_SECONDS / 6)
        absences.append(is_absent())
        if time.monotonic() - last >= STABLE_SECONDS:
            return False
        last = time.monotonic()
    assert last - began > STABLE_SECONDS and all(absences)
    return True


def sizes(user: SignedIn, device: Device) -> dict[str, int]:
    return {each["name"]: each["size_bytes"] for each in arrived(user, device)}


def test_file_that_changes_while_it_waits_waits_until_it_is_stable_again(agent_with, device, network, user):
    agent = agent_with({"files": 1})
    paths = [agent.directory / name for name in ("first", "appended", "replaced")]
    for number, path in enumerate(paths):
        path.write_bytes(content(100, seed=number))
        os.utime(path, (1000 + number, 1000 + number))
    stage = Stage()
    network.store.before("PUT", stage)
    agent.start()
    stage.wait()
    eventually(lambda: agent.status()["pending_files"] == 3)
    # The time is the subject: the other files are unchanged for longer than settle_seconds, and settle.
    time.sleep(3)
    with paths[1].open("ab") as file:
        file.write(b"more")
        file.flush()
        paths[2].unlink()
        paths[2].symlink_to(device.folder / "archebase-config.json")
        stage.let_go()
        wait_for_files(user, device, 1)
        eventually(lambda: agent.status()["pending_files"] == 1)
        assert [each["name"] for each in arrived(user, device)] == ["first"]
        file.write(b" and more")
    found = wait_for_files(user, device, 2)
    assert {each["name"]: each["size_bytes"] for each in found} == {
        "first": 100,
        "appended": 100 + len("more and more"),
    }


def test_files_are_deleted_once_they_arrived(agent_with, device, user):
    agent = agent_with(rule={"after_upload": "delete"})
    paths = [agent.directory / f"{number}.bin" for number in range(5)]
    for path in paths:
        path.write_bytes(content(2 * PART, seed=len(path.name)))
    agent.start()
    eventually(lambda: not any(path.exists() for path in paths))
    assert len(wait_for_files(user, device, 5)) == 5
    eventually(lambda: agent.status()["deleted_files"] == 5)


def test_other_file_that_looks_like_a_delivered_one_is_uploaded(agent_with, device, user):
    agent = agent_with(rule={"after_upload": "delete"})
    path = agent.directory / "recording"
    for seed in (1, 2):
        path.write_bytes(content(PART, seed=seed))
        os.utime(path, (1000, 1000))
        agent.start()
        eventually(lambda: not path.exists())
        agent.stop()
    found = arrived(user, device)
    assert [each["size_bytes"] for each in found] == [PART, PART]
    assert len({each["file_id"] for each in found}) == 2


def test_files_of_the_agent_are_not_uploaded(agent_with, device, user, tmp_path):
    agent = agent_with(
        {"metrics_file": str(tmp_path / "agent.prom")}, {"path": str(tmp_path), "after_upload": "delete"}
    )
    (agent.directory / "recording").write_bytes(b"x")
    result = device.run("agent", "check")
    assert (result.returncode, "has the device's folder" in result.stderr) == (OK, True)
    assert "has the metrics_file" in result.stderr
    agent.start()
    eventually(lambda: not (agent.directory / "recording").exists())
    eventually(lambda: agent.status()["pending_files"] == 0 and agent.status()["deleted_files"] == 1)
    assert (tmp_path / "agent.prom").exists() and device.config["api_key"]
    agent.stop()
    (agent.directory / "second").write_bytes(b"y")
    device.done("upload", tmp_path, "--exclude", "agent.prom")
    assert sorted(each["name"] for each in arrived(user, device)) == ["recording", "second"]


def test_upload_is_given_up_when_its_file_was_removed(agent_with, device, network):
    agent = agent_with({"rescan_seconds": 1})
    path = agent.directory / "recording"
    path.write_bytes(content(3 * PART))
    stage = Stage()
    network.store.before("partNumber=2&", stage)
    agent.start()
    stage.wait()
    agent.kill()
    for proxy in network.proxies:
        proxy.release()
    stage.let_go()
    # As where the disk is not mounted.
    away = agent.directory.rename(agent.directory.with_name("away"))
    agent.start()
    # The time is the subject: it has more than the three readings of the directories after which an upload is given up.
    time.sleep(6)
    assert len(device.journals) == 1
    (away / path.name).unlink()
    away.rename(agent.directory)
    eventually(lambda: device.journals == [])


def test_one_agent_works_with_a_folder(agent_with, device):
    agent_with().start()
    eventually(lambda: (device.folder / "agent/status.json").exists())
    assert "another agent is running" in device.refused(REFUSED, "agent", "run")


def test_check_reports_every_fault(agent_with, device, tmp_path):
    agent = agent_with()
    assert device.done("agent", "check") == "no faults: 1 directory\n"
    configuration = json.loads(agent.file.read_text())
    configuration["directories"].append({"path": str(tmp_path / "missing")})
    configuration["directories"].append({"path": str(agent.file)})
    agent.file.write_text(json.dumps(configuration))
    (device.folder / "archebase-config.json").write_text(json.dumps(device.config | {"api_key": "nonsense"}))
    message = device.refused(REFUSED, "agent", "check")
    assert "No such file or directory" in message and "is not a directory" in message
    assert "AUTH_INVALID_CREDENTIAL" in message
    result = device.run("agent", "check", "--json")
    checked = json.loads(result.stdout)
    assert (result.returncode, result.stderr, checked["directories"]) == (REFUSED, "", 3)
    assert len(checked["faults"]) == 3 and checked["notes"] == []
    agent.file.write_text('{"directories": [{"path": "x", "bogus": 1}], "files": 0}')
    result = device.run("agent", "check", "--json")
    assert (result.returncode, result.stderr) == (USAGE, "")
    faults = json.loads(result.stdout)["faults"]
    assert len(faults) == 3 and "absolute path" in faults[0] and "files must be" in faults[-1]
    message = device.refused(USAGE, "agent", "check")
    assert all(part in message for part in ("absolute path", "unknown key directories[0].bogus", "files must be"))


def test_directory_that_cannot_be_read_hides_no_other(agent_with, device, user):
    agent = agent_with()
    make_unreadable(agent.directory)
    (agent.directory / "z.bin").write_bytes(b"after it")
    # A time of change that 64 bits of nanoseconds cannot hold, as far as the file system can.
    os.utime(agent.directory / "z.bin", (1 << 40, 1 << 40))
    agent.start()
    (found,) = wait_for_files(user, device, 1)
    assert found["name"] == "z.bin"
    status = agent.status()
    assert status["failed_directories"] == 1
    assert "File name too long" in status["directory_failures"][0]
    assert "data_gateway_agent_failed_directories 1\n" in agent.metrics.read_text()
    assert "File name too long" in device.refused(REFUSED, "agent", "check")
    result = device.run("upload", agent.directory)
    assert (result.returncode, "File name too long" in result.stderr) == (REFUSED, True)
    assert "1 already stored" in result.stdout and len(arrived(user, device)) == 1


def test_directory_in_the_folder_of_the_device_is_reported(agent_with, device, user):
    inside = device.folder / "recordings"
    inside.mkdir()
    (inside / "drive.mcap").write_bytes(b"x")
    agent = agent_with(rule={"path": str(inside)})
    reason = f"{inside} is in the program's own folder"
    assert reason in device.refused(REFUSED, "agent", "check")
    assert reason in device.refused(REFUSED, "upload", inside)
    agent.start()
    eventually(lambda: agent.status()["failed_directories"] == 1)
    assert reason in agent.status()["directory_failures"][0] and reason in agent.log
    assert arrived(user, device) == []


def test_file_that_is_never_accepted_is_reported_once(agent_with, device, user):
    agent = agent_with({"rescan_seconds": 1}, {"tags": {"file": "{stem}"}})
    agent.directory.mkdir(exist_ok=True)
    # The gateway refuses the tag that is made of the name.
    (agent.directory / "a\nb\x1b[31m.txt").write_bytes(content(3 * PART))
    (agent.directory / "good.txt").write_bytes(b"x")
    agent.start()
    assert [each["name"] for each in wait_for_files(user, device, 1)] == ["good.txt"]
    eventually(lambda: agent.status()["refused_files"] == 1)
    # Later files pass through the queue while the directories are read again and again.
    for number in range(3):
        (agent.directory / f"later{number}.txt").write_bytes(b"x")
        wait_for_files(user, device, 2 + number)
    # The gateway lists a file before the agent has read the response.
    eventually(lambda: agent.status()["pending_files"] == 0)
    status = agent.status()
    assert (status["pending_files"], status["failed_attempts"], status["refused_files"]) == (0, 0, 1)
    (refusal,) = status["refusals"]
    assert refusal["file"].endswith("a\nb\x1b[31m.txt")
    assert "must not contain control characters" in refusal["message"]
    assert agent.log.count("control characters") == 1 and "\x1b" not in agent.log
    assert "data_gateway_agent_refused_files 1\n" in agent.metrics.read_text()
    assert not list((device.folder / "uploads").glob("*.jsonl"))
    # The command refuses it with the same reason, and sends the others.
    result = device.run("upload", agent.directory, "--skip-existing", "--tag-template", "file={stem}")
    assert result.returncode == REFUSED and "must not contain control characters" in result.stderr
    (agent.directory / "a\nb\x1b[31m.txt").rename(agent.directory / "renamed.txt")
    assert "renamed.txt" in {each["name"] for each in wait_for_files(user, device, 5)}
    eventually(lambda: agent.status()["refused_files"] == 0)


def test_nothing_is_sent_at_a_rate_of_zero(agent_with, device, user):
    agent = agent_with({"rate": 0})
    (agent.directory / "waits").write_bytes(b"x")
    agent.start()
    eventually(lambda: agent.status()["is_paused"] and agent.status()["pending_files"] == 1)
    agent.stop()
    assert arrived(user, device) == []
    agent_with({"rate": "unlimited"}).start()
    wait_for_files(user, device, 1)


def test_idle_agent_costs_nothing(agent_with, device, user, is_full):
    # `scripts/lab agent` builds the program of the package; others have many pages of debug code and of Swift's libraries.
    is_shipped = is_full and SHIPPED.exists()
    if is_shipped:
        device.binary = SHIPPED
    agent = agent_with()
    (agent.directory / "first").write_bytes(content(PART))
    agent.start()
    wait_for_files(user, device, 1)
    eventually(lambda: agent.status()["pending_files"] == 0)

    def wakes() -> int:
        tasks = Path(f"/proc/{agent.process.pid}/task").glob("*/status")
        return sum(
            int(line.split()[1])
            for task in tasks
            for line in task.read_text().splitlines()
            if line.startswith("voluntary_ctxt_switches")
        )

    before, seconds = wakes(), 60 if is_full else 10
    # The time over which the wake-ups are counted.
    time.sleep(seconds)
    assert wakes() - before <= seconds
    status = Path(f"/proc/{agent.process.pid}/status").read_text()
    pages = re.search(rf"{'VmRSS' if is_shipped else 'RssAnon'}:\s+(\d+) kB", status)
    assert int(pages[1]) < 20 * 1024


def test_full_disk_is_emptied_by_uploads(binary, network, network_fleet, user, tmp_path):
    try:
        with SmallDisk(tmp_path / "disk", 32 * MIB) as disk:
            device = Device(binary, network, disk.folder / "device").join(network_fleet)
            agent = Agent(device, disk.folder / "watched", rule={"after_upload": "delete"})
            try:
                agent.start()
                eventually(lambda: (device.folder / "agent/reserve").exists())
                path = agent.directory / "recording"
                path.write_bytes(content(4 * PART))
                disk.fill()
                eventually(lambda: not path.exists())
                (found,) = arrived(user, device)
                assert found["size_bytes"] == 4 * PART
            finally:
                agent.kill()
    except Unavailable as reason:
        pytest.skip(str(reason))


def test_oldest_delivered_files_are_deleted_when_space_is_low(binary, network, network_fleet, user, tmp_path):
    try:
        with SmallDisk(tmp_path / "disk", 32 * MIB) as disk:
            device = Device(binary, network, tmp_path / "device").join(network_fleet)
            rule = {"include": ["*.bin"]}
            agent = Agent(device, disk.folder / "watched", rule=rule)
            paths = [agent.directory / f"{number}.bin" for number in range(3)]
            for number, path in enumerate(paths):
                path.write_bytes(content(MIB, seed=number) * 6)
                os.utime(path, (1000 + number, 1000 + number))
            (agent.directory / "kept.log").write_bytes(b"no recording")
            try:
                agent.start()
                eventually(lambda: agent.status()["uploaded_files"] == 3, seconds=WAIT_SECONDS)
                agent.kill()
                # All have arrived: which one is deleted no longer depends on the order of their arrival.
                rule["after_upload"] = "delete_when_full"
                agent = Agent(device, agent.directory, {"minimum_free": 20 * MIB}, rule).start()
                eventually(lambda: not (paths[0].exists() or paths[1].exists()))
                assert sorted(path.name for path in agent.directory.iterdir()) == ["2.bin", "kept.log"]
            finally:
                agent.kill()
    except Unavailable as reason:
        pytest.skip(str(reason))


def test_clock_that_jumps_changes_nothing(agent_with, device, user, tmp_path):
    clock = Clock(tmp_path)
    agent = agent_with(rule={"after_upload": "delete"})
    agent.start(**clock.environment)
    year = 400 * 86_400
    for number, step in enumerate((0, year, -year, 0)):
        clock.set(step)
        (agent.directory / f"{number}").write_bytes(content(2 * PART, seed=number))
        wait_for_files(user, device, number + 1)
    eventually(lambda: not any(agent.directory.iterdir()), seconds=WAIT_SECONDS)
    assert sorted(each["name"] for each in arrived(user, device)) == ["0", "1", "2", "3"]


class Recorder(threading.Thread):
    """Writes files in bursts, some of them slowly; `expected` has the final content of each."""

    def __init__(self, directory: Path, count: int, chance: random.Random):
        super().__init__()
        self.directory, self.chance = directory, chance
        self.sizes = [chance.randrange(0, 5 * PART) for _ in range(count)]
        self.expected = {f"{number:03}.bin": content(size, seed=number) for number, size in enumerate(self.sizes)}

    def run(self) -> None:
        slow = []
        for number, (name, data) in enumerate(self.expected.items()):
            folder = self.directory / f"run{number % 7}"
            folder.mkdir(exist_ok=True)
            if number % 10 == 3:
                slow.append((folder / name, data))
            else:
                (folder / name).write_bytes(data)
            if number % 25 == 24:
                # Bursts with a pause are the subject.
                time.sleep(0.5)
                self._write(slow)
        self._write(slow)

    def _write(self, slow: list) -> None:
        files = [(path.open("wb"), data) for path, data in slow]
        slow.clear()
        for step in range(4):
            for file, data in files:
                quarter = len(data) // 4 + 1
                file.write(data[step * quarter : (step + 1) * quarter])
                file.flush()
            # Files that are written slowly are the subject.
            time.sleep(0.4)
        for file, _ in files:
            file.close()


def test_every_file_arrives_once_under_kills(binary, network, network_fleet, user, is_full, tmp_path):
    """Both sides are killed again and again; meanwhile the device's disk is full for a time, and the clock jumps."""
    chance = random.Random(1)
    count, kills = (200, 20) if is_full else (40, 5)
    clock = Clock(tmp_path)
    with contextlib.ExitStack() as stack:
        try:
            disk = stack.enter_context(SmallDisk(tmp_path / "disk", 8 * MIB))
        except Unavailable as reason:
            pytest.skip(str(reason))
        device = Device(binary, network, disk.folder / "device").join(network_fleet)
        agent = Agent(device, tmp_path / "watched", {"files": 3}, rule={"after_upload": "delete"})
        recorder = Recorder(agent.directory, count, chance)
        recorder.start()
        agent.start(**clock.environment)
        stack.callback(agent.kill)
        for number in range(kills):
            # The time of the kill is the subject of the test.
            time.sleep(chance.random() * 1.5)
            if number == kills // 3:
                disk.fill()
            if number == kills // 2:
                clock.set(400 * 86_400)
            agent.kill()
            agent.start()
            # The time of the next kill is the subject as well.
            time.sleep(chance.random())
            if number == kills // 2:
                disk.free()
            network.gateway.kill()
            for proxy in network.proxies:
                proxy.cut()
            network.gateway.start()
            network.point_at(network.gateway)
        recorder.join()
        eventually(lambda: not [path for path in agent.directory.rglob("*") if path.is_file()], seconds=240)
        found = arrived(user, device)
        assert sorted(each["name"] for each in found) == sorted(recorder.expected)
        assert downloaded(user, found, tmp_path / "down") == recorder.expected
        assert all(each["tags"]["folder"].startswith("run") for each in found)
        assert device.journals == []


def test_status_says_why_a_file_is_pending(agent_with, device, user):
    agent = agent_with({"rescan_seconds": 1})
    (path := agent.directory / "recording").write_bytes(b"x")
    with path.open("ab"):
        agent.start()
        reasons = eventually(lambda: [each for each in agent.status()["waiting"] if each["reason"] == "open"])
        assert [each["file"] for each in reasons] == [str(path)]
        assert f"  {path} is open for writing\n" in device.run("agent", "status").stdout
    wait_for_files(user, device, 1)
    assert agent.status()["waiting"] == []


def test_status_says_why_an_upload_does_not_advance(agent_with, device, network, user):
    agent = agent_with()
    (path := agent.directory / "recording").write_bytes(content(1024))
    network.auth.target = "127.0.0.1:1"
    agent.start()
    (failure,) = eventually(lambda: [each["message"] for each in agent.status()["uploading"] if each["message"]])
    assert failure.startswith("ExchangeCredential at ")
    assert f"{path} (0 B of 1.00 KiB, trying again: {failure})\n" in device.run("agent", "status").stdout
    network.point_at(network.gateway)
    wait_for_files(user, device, 1)
    eventually(lambda: agent.status()["uploading"] == [])


def test_status_counts_what_arrived_when_the_agent_ended(agent_with, device, user):
    agent = agent_with({"rescan_seconds": 1})
    reader, writer = os.pipe()
    (path := agent.directory / "recording").write_bytes(b"x")
    with path.open("ab"):
        agent.process = device.start("agent", "run", stdout=subprocess.DEVNULL, stderr=writer)
        eventually(lambda: any(each["reason"] == "open" for each in agent.status()["waiting"]))
        # The agent waits while it says that the file arrived.
        with open(f"/proc/self/fd/{writer}", "wb", buffering=0, opener=nonblocking) as filler:
            while filler.write(bytes(4096)):
                pass
    os.close(writer)
    wait_for_files(user, device, 1)
    eventually(lambda: any(is_writing(thread) for thread in Path(f"/proc/{agent.process.pid}/task").iterdir()))
    agent.process.send_signal(signal.SIGTERM)
    rest(agent.process.pid)
    with open(reader, "rb") as log:
        assert f"uploaded {path}: 1 B, file ".encode() in log.read()
    assert agent.process.wait(WAIT_SECONDS) == 0
    assert agent.status()["uploaded_files"] == 1


def nonblocking(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)


def is_writing(thread: Path) -> bool:
    """Returns whether a thread waits in a write to standard error."""
    with contextlib.suppress(OSError):
        return (thread / "syscall").read_text().startswith("1 0x2 ")
    return False


def test_log_is_made_of_sentences_with_times(agent_with, device, network, user):
    agent = agent_with()
    (agent.directory / "back\\slash").write_bytes(content(1024))
    network.auth.target = "127.0.0.1:1"
    agent.start()
    eventually(lambda: "ExchangeCredential at " in agent.log)
    network.point_at(network.gateway)
    wait_for_files(user, device, 1)
    eventually(lambda: "1.00 KiB, file " in agent.log)
    lines = eventually(lambda: agent.log.splitlines() if "is stored as" in agent.log else None)
    assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \S", line) for line in lines), lines
    assert not any("(status:" in line or "Failure(" in line for line in lines), lines
    assert any(f'{agent.directory}/back\\slash is stored as "slash"' in line for line in lines)
    # The journal has times of its own.
    agent.stop()
    before = len(agent.log.splitlines())
    agent.start(JOURNAL_STREAM="8:1234")
    (agent.directory / "second").write_bytes(b"y")
    wait_for_files(user, device, 2)
    (line,) = eventually(lambda: agent.log.splitlines()[before:])
    assert line.startswith(f"uploaded {agent.directory}/second: 1 B, file ")
