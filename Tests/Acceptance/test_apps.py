"""The place for apps: nothing of it without them, and a gateway for apps only. No test here names an app."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from support import process
from support.apps import NAMES, App, enabled
from support.commands import CommandLine
from support.database import tables
from support.gateway import Gateway
from support.monitoring import scrape

ROOT = Path(__file__).resolve().parents[2]
OFF = dict.fromkeys(("auth", "gateway", "admin", "device_init", "object_store", "web"), "off")


def own_tables() -> set[str]:
    sources = "".join(path.read_text() for path in ROOT.glob("Sources/Apps/**/*.swift"))
    return set(re.findall(r"CREATE TABLE (\w+)", sources))


@pytest.mark.sqlite
def test_gateway_without_apps_has_nothing_of_them(gateway):
    assert "apps" not in gateway.listeners
    assert not tables(gateway) & own_tables()
    assert 'listener="apps"' not in scrape(gateway)
    web = App(gateway, "web")
    paths = re.findall(
        r'(?:get|post|put|patch|delete): "(/[^"]*)"', "".join(p.read_text() for p in ROOT.glob("protos/apps/*.proto"))
    )
    # The root of the web listener leads to the console.
    for path in set(paths) - {"/"}:
        assert web.get(path).status == 404, path


@pytest.mark.skipif(not NAMES, reason="there are no apps")
@pytest.mark.sqlite
def test_gateway_for_apps_only_serves_starts_again_and_forgets_nothing(binary, tmp_path):
    gateway = Gateway(binary, tmp_path, enabled(**OFF)).start()
    try:
        assert set(gateway.listeners) == {"apps", "ops"}
        assert App(gateway, "ops").get("/readyz").status == 200
        described = App(gateway).get("/openapi.json").json["paths"]
        assert described and App(gateway).get("/reference").status == 200
        assert own_tables() <= tables(gateway)
        assert 'listener="apps"' in scrape(gateway)
        assert gateway.stop() == 0

        # Without apps, their tables stay, and the program accepts them.
        gateway.listeners = {}
        gateway.config.write_text("{}")
        gateway.off = set()
        gateway.start()
        assert "apps" not in gateway.listeners and own_tables() <= tables(gateway)
        assert gateway.stop() == 0
        process.run(binary, "doctor", "--data-dir", gateway.data)

        gateway.listeners = {}
        gateway.config.write_text(json.dumps(enabled(**OFF)))
        gateway.off = {name.replace("_", "-") for name in OFF}
        gateway.start()
        assert App(gateway).get("/openapi.json").json["paths"] == described
    finally:
        gateway.close()


@pytest.mark.skipif(not NAMES, reason="there are no apps")
def test_path_that_no_app_has_is_answered_in_the_form_of_rest(gateway_with):
    app = App(gateway_with(enabled()))
    for path in ("/nothing", "/api/nothing"):
        response = app.get(path)
        assert (response.status, response.json["error"]["status"]) == (404, "NOT_FOUND"), response.body


@pytest.mark.skipif(not NAMES, reason="there are no apps")
@pytest.mark.sqlite
def test_backup_of_a_gateway_with_apps_is_restored(binary, tmp_path):
    gateway = Gateway(binary, tmp_path, enabled()).start()
    try:
        operator = CommandLine(binary, gateway, tmp_path)
        operator.login()
        archive = tmp_path / "archive"
        operator.json("backup", "--to", str(archive))
        assert gateway.stop() == 0
        shutil.rmtree(gateway.data)
        command = [binary, "restore", "--from", archive, "--data-dir", gateway.data]
        process.run(*command)
        gateway.start()
        assert own_tables() <= tables(gateway)
    finally:
        gateway.close()


@pytest.mark.skipif(not NAMES, reason="there are no apps")
def test_example_configuration_is_valid(binary, tmp_path):
    example = ROOT / "deploy/debian/apps.example"
    process.run(binary, "config", "check", "--config", example)


@pytest.mark.skipif(not NAMES, reason="there are no apps")
def test_configurations_of_the_page_for_other_servers_are_valid(binary, tmp_path):
    blocks = re.findall(r"```json5\n(.*?)```", (ROOT / "docs/apps/from-env.md").read_text(), re.DOTALL)
    assert len(blocks) >= len(NAMES)
    for block in blocks:
        (tmp_path / "config").write_text(block)
        command = [binary, "config", "check", "--config", tmp_path / "config"]
        process.run(*command)


@pytest.mark.skipif(not NAMES, reason="there are no apps")
def test_unknown_key_of_an_app_is_found_beside_other_faults(binary, tmp_path):
    sections = {name: {"enabled": False, "nonsense": 1} for name in NAMES}
    (tmp_path / "config").write_text(json.dumps({"apps": sections, "log": {"level": "loud"}}))
    done = subprocess.run(
        [binary, "config", "check", "--json", "--config", tmp_path / "config"], capture_output=True, text=True
    )
    found = {fault["key"] for fault in json.loads(done.stdout)["faults"]}
    assert found == {f"apps.{name}.nonsense" for name in NAMES} | {"log.level"}


def test_nothing_outside_apps_names_one():
    process.run(ROOT / "scripts/apps")
