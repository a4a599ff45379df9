"""Many devices upload in parallel: no call fails, and the gateway's resources do not grow over time."""

import json
import statistics
import time
from pathlib import Path

from support.chart import Chart, svg
from support.gateway import Gateway
from support.parties import Fleet, init_patiently
from support.process_usage import Watch
from support.swarm import Outcome, Plan, Swarm

PART, PARTS = 64 * 1024, 4
#: All devices have the same address here; connections over its limit would be closed.
CONFIG = {
    "uploads": {"part_size_bytes": PART},
    "object_store": {"max_connections": 512, "max_connections_per_address": 512},
}
#: The number of devices, the files of each, the seconds between two files of a device, and the number of processes.
SHORT = (10, 8, 0.5, 2)
#: 600 s: each device begins a file every 8 s.
LONG = (200, 75, 8.0, 4)
#: The folder for the report of a long run.
REPORTS = Path(__file__).resolve().parents[2] / ".build" / "lab"
#: Memory is flat if the last minute's median is at most this factor of the second minute's.
TOLERANCE = 1.10


def test_many_devices_lose_no_upload(binary, protos, login, is_full, tmp_path):
    devices, uploads, interval, processes = LONG if is_full else SHORT
    gateway = Gateway(binary, tmp_path, CONFIG).start()
    user = login(gateway)
    fleet = Fleet.create(user)
    ids = [fleet.register().device_id for _ in range(devices)]
    credentials = [init_patiently(gateway, user.stubs, device_id).api_key for device_id in ids]
    listeners = {name: gateway.listeners[name] for name in ("auth", "gateway")}
    plan = Plan(str(protos), listeners, credentials, uploads, interval, PART, PARTS, seed=1)
    with Watch(gateway.process.pid) as watch:
        outcome = Swarm(plan, processes).wait()
    if is_full:
        report(watch, outcome, devices)
    user = login(gateway)
    arrived = user.list_all(page_size=1000)
    assert gateway.stop() == 0
    assert outcome.failures == []
    assert outcome.uploads == len(arrived) == devices * uploads
    assert {each.size_bytes for each in arrived} == {PART * PARTS}
    if is_full:
        assert_flat(watch, "mebibytes")
        assert_flat(watch, "descriptors")


def assert_flat(watch: Watch, what: str) -> None:
    """After the first minute, in which connections open and caches fill, nothing grows."""
    end = watch.seconds
    second, last = watch.median(what, 60, 120), watch.median(what, end - 60, end)
    assert last <= second * TOLERANCE, f"{what}: {second} in the second minute, {last} in the last"


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def report(watch: Watch, outcome: Outcome, devices: int) -> None:
    """Writes a table, the charts, and all figures."""
    folder = REPORTS / time.strftime("soak-%Y%m%d-%H%M%S")
    folder.mkdir(parents=True)
    start = watch.samples[0].at
    names = sorted({name for name, _, _ in outcome.timings})
    rows, p50, p99 = [], {}, {}
    for name in names:
        timings = [(at - start, 1000 * took) for called, at, took in outcome.timings if called == name]
        values = [value for _, value in timings]
        rows.append((name, len(values), statistics.median(values), percentile(values, 0.99), max(values)))
        windows: dict[int, list[float]] = {}
        for at, value in timings:
            windows.setdefault(int(at // 10), []).append(value)
        p50[name] = [(10 * window, statistics.median(values)) for window, values in sorted(windows.items())]
        p99[name] = [(10 * window, percentile(values, 0.99)) for window, values in sorted(windows.items())]
    lines = [
        f"{devices} devices, {outcome.uploads} uploads in {watch.seconds:.0f} s, {len(outcome.failures)} failures",
        "",
    ]
    lines += [f"{'call':26} {'count':>7} {'p50 ms':>8} {'p99 ms':>8} {'max ms':>8}"]
    lines += [f"{name:26} {count:7} {mid:8.2f} {high:8.2f} {most:8.2f}" for name, count, mid, high, most in rows]
    lines.append("")
    for what in ("mebibytes", "descriptors"):
        second, last = watch.median(what, 60, 120), watch.median(what, watch.seconds - 60, watch.seconds)
        highest = max(getattr(sample, what) for sample in watch.samples)
        lines.append(f"{what}: {second:.1f} in the second minute, {last:.1f} in the last, {highest:.1f} at most")
    lines += [f"{at - start:5.0f} s  {name}: {what}" for name, at, what in outcome.failures]
    (folder / "report.txt").write_text("\n".join(lines) + "\n")
    (folder / "timings.json").write_text(json.dumps(outcome.timings))
    memory = {"resident": [(sample.at - start, sample.mebibytes) for sample in watch.samples]}
    descriptors = {"open": [(sample.at - start, sample.descriptors) for sample in watch.samples]}
    charts = [
        Chart("Memory", "MiB", memory),
        Chart("Descriptors", "", descriptors),
        Chart("Median", "ms", p50),
        Chart("99th percentile", "ms", p99),
    ]
    (folder / "report.svg").write_text(svg(charts))
    print("\n".join(lines), f"\n{folder}")
