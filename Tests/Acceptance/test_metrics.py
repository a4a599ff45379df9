"""Metrics, alerts and the dashboard, checked by Prometheus' own tools and a real server."""

import json
import os
import re
import shutil
import time
from pathlib import Path

import grpc
import pytest
from engines.postgres import Server
from support import apps, database_engine
from support.buckets import Bucket
from support.certificates import Authority
from support.gateway import Gateway, eventually
from support.monitoring import Prometheus, log, metric, promtool, samples, scrape
from support.parties import Fleet, call
from support.uploads import completed

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
#: The variables that Grafana sets in a panel.
VARIABLES = {"$__rate_interval": "1m", "$instance": ".*"}


def test_calls_are_counted_by_method_and_status(gateway, uploader):
    def counts(**labels: str) -> tuple:
        labels |= {"listener": "gateway", "grpc_method": "GetUploadRecovery"}
        names = ("started_total", "msg_received_total", "handling_seconds_count")
        ended = metric(gateway, "grpc_server_handled_total", grpc_code="NOT_FOUND", **labels)
        return ended, *(metric(gateway, f"grpc_server_{name}", **labels) for name in names)

    before = counts()
    for _ in range(3):
        with pytest.raises(grpc.RpcError):
            uploader.recovery("no-such")
    assert counts() == tuple(count + 3 for count in before)
    labels = next(labels for name, labels, _ in samples(gateway) if name == "grpc_server_started_total")
    assert set(labels) == {"listener", "grpc_type", "grpc_service", "grpc_method"}
    assert metric(gateway, "grpc_server_started_total", grpc_type="server_stream", grpc_method="Watch") >= 0


def test_names_that_clients_choose_make_no_label(gateway):
    before = metric(gateway, "data_gateway_requests_refused_total", listener="auth", reason="unknown_method")
    known = {(name, tuple(sorted(labels.items()))) for name, labels, _ in samples(gateway)}
    for number in range(5):
        with pytest.raises(grpc.RpcError):
            gateway.channel("auth").unary_unary(f"/no.Such{number}/Method")(b"", timeout=20)
    fresh = {(name, tuple(sorted(labels.items()))) for name, labels, _ in samples(gateway)} - known
    assert not [sample for sample in fresh if "Such" in str(sample)]
    assert (
        metric(gateway, "data_gateway_requests_refused_total", listener="auth", reason="unknown_method") == before + 5
    )


def test_requests_of_the_object_store_are_counted(gateway, uploader):
    def counts() -> tuple:
        labels = {"dialect": "oss", "operation": "PutObject"}
        prefix = "data_gateway_object_store"
        return (
            metric(gateway, f"{prefix}_requests_total", status="200", **labels),
            metric(gateway, f"{prefix}_received_bytes_total", **labels),
            metric(gateway, f"{prefix}_request_seconds_count", **labels),
        )

    before = counts()
    completed(uploader, b"x" * 1000)
    assert eventually(lambda: counts() == (before[0] + 1, before[1] + 1000, before[2] + 1))


def test_process_and_build_have_metrics(gateway):
    assert metric(gateway, "data_gateway_build_info") == 1
    assert metric(gateway, "data_gateway_serving") == 1
    assert metric(gateway, "data_gateway_store_free_bytes") > 0
    started = metric(gateway, "process_start_time_seconds")
    assert time.time() - 3600 * 24 < started <= time.time() + 1
    assert metric(gateway, "process_resident_memory_bytes") > 10 << 20
    assert 10 < metric(gateway, "process_open_fds") < metric(gateway, "process_max_fds")


def test_process_in_a_sandbox_has_metrics(binary, tmp_path):
    """Sandboxed like in its unit (ProcSubset=pid)."""
    if os.geteuid() != 0:
        pytest.skip("only root mounts")
    gateway = Gateway(binary, tmp_path)
    mount = 'mount -t proc -o subset=pid proc /proc && exec "$0" "$@"'
    gateway.wrapper = ["unshare", "--mount", "--propagation=private", "sh", "-c", mount]
    try:
        started = metric(gateway.start(), "process_start_time_seconds")
        assert time.time() - 3600 < started <= time.time() + 1
    finally:
        gateway.close()


def test_every_metric_is_described(gateway):
    described = (DEPLOY.parent / "docs/operations.md").read_text()
    table = described.split("## Metrics")[1].split("## Alerts")[0]
    names = {
        name
        for line in table.splitlines()
        for name in re.findall(r"`((?:data_gateway|grpc_server|process)_\w+)`", line)
    }
    described = {line.split()[2] for line in scrape(gateway).splitlines() if line.startswith("# TYPE ")}
    assert described - names == set()
    for kind in {labels["kind"] for name, labels, _ in samples(gateway) if name == "data_gateway_swept_total"}:
        assert f"`{kind}`" in table, kind


def test_promtool_takes_the_metrics(gateway, uploader):
    completed(uploader, b"x")
    promtool("check", "metrics", input=scrape(gateway))


def test_promtool_takes_the_rules_and_each_fires_where_it_should(tmp_path):
    promtool("check", "rules", DEPLOY / "prometheus/alerts.yml")
    promtool("check", "config", DEPLOY / "prometheus/prometheus.yml")
    promtool("test", "rules", DEPLOY / "prometheus/alerts_test.yml")
    # A rule without its own test would pass.
    alerts = re.findall(r"alert: (\w+)", (DEPLOY / "prometheus/alerts.yml").read_text())
    tests = (DEPLOY / "prometheus/alerts_test.yml").read_text()
    assert all(f"{alert} fires" in tests and f"{alert} keeps quiet" in tests for alert in alerts)
    broken = tmp_path / "prometheus"
    shutil.copytree(DEPLOY / "prometheus", broken)
    rules = (broken / "alerts.yml").read_text()
    (broken / "alerts.yml").write_text(rules.replace("data_gateway_bad_objects > 0", "data_gateway_bad_objects > 5"))
    with pytest.raises(AssertionError, match="DataGatewayBadObjects"):
        promtool("test", "rules", broken / "alerts_test.yml")


def test_every_alert_is_described():
    described = (DEPLOY.parent / "docs/operations.md").read_text()
    for alert in re.findall(r"alert: (\w+)", (DEPLOY / "prometheus/alerts.yml").read_text()):
        assert f"`{alert}`" in described, alert


def queries() -> list[str]:
    """Returns every expression of the dashboard and, returning 0 or 1, of the alerts."""
    dashboard = json.loads((DEPLOY / "grafana/data-gateway.json").read_text())
    panels = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]
    for variable, value in VARIABLES.items():
        panels = [panel.replace(variable, value) for panel in panels]
    assert not [panel for panel in panels if "$" in panel]
    rules = (DEPLOY / "prometheus/alerts.yml").read_text()
    alerts = re.findall(r"expr: (?:>-)?(.*?)\n        (?:for|labels):", rules, re.DOTALL)
    assert len(alerts) == rules.count("alert: ")
    return panels + [re.sub(r" (==|<|>) ", r" \1 bool ", " ".join(alert.split())) for alert in alerts]


@pytest.mark.sqlite
def test_every_query_of_dashboard_and_alerts_has_data(gateway_with, login, stubs, tmp_path):
    (secret := tmp_path / "secret").write_text("0123456789abcdef0123456789abcdef")
    secret.chmod(0o600)
    (backups := tmp_path / "backups").mkdir()
    bucket = Bucket.start(gateway_with, tmp_path)
    gateway = gateway_with(
        {
            "objects": bucket.settings(),
            "tls": Authority(tmp_path, "authority").tls("web"),
            # Nothing listens there.
            "webhooks": {"shop": {"url": "http://127.0.0.1:1/", "secret_file": str(secret)}},
            "backup": {"schedules": [{"name": "nightly", "kind": "directory", "root": str(backups)}]},
        }
        | apps.enabled()
    )
    with Server() as server, server.standby():
        on_server = gateway_with(None, database_engine.variables(server, "metrics"))
        boss, other = login(gateway), login(on_server)
        assert_queries_have_data(boss, other, stubs, [gateway, bucket.gateway, on_server], tmp_path)
        assert on_server.stop() == 0
    assert not [line for line in log(gateway) if line["level"] == "error"]


def assert_queries_have_data(boss, other, stubs, gateways: list[Gateway], folder: Path) -> None:
    """Makes calls until each query of the dashboard and of the alerts has data.

    :param other: an admin of the gateway whose database is on a server.
    """
    gateway = gateways[0]
    device = Fleet.create(boss).uploader()
    check = stubs.health.HealthStub(gateway.channel("auth")).Check

    def flow() -> None:
        """Makes calls of all kinds, including refused ones."""
        completed(device, b"x" * 1000)
        boss.list_all()
        other.list_all()
        Fleet.create(other)
        with pytest.raises(grpc.RpcError):
            gateway.channel("auth").unary_unary("/no.Such/Method")(b"", timeout=20)
        with pytest.raises(grpc.RpcError):
            call(check, stubs.health.HealthCheckRequest(), metadata={"x-long": "x" * 20_000})

    # Only the disk of the other gateways has free space for objects.
    with Prometheus(folder, *gateways) as prometheus:
        missing = queries()
        assert len(missing) > 50

        def answered() -> bool:
            flow()
            missing[:] = [query for query in missing if not prometheus.query(query)]
            return not missing

        try:
            eventually(answered, seconds=300, every=1)
        except AssertionError as failure:
            raise AssertionError("no data: " + "\n".join(missing)) from failure
