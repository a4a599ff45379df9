"""When the disk of the store is full: GetSystemStatus, the command line, metrics."""

import datetime

import pytest
from support.commands import CommandLine
from support.database import changing
from support.monitoring import metric, samples

MIB = 1 << 20


@pytest.mark.sqlite
def test_forecast_follows_the_last_days(gateway_with, login, binary, tmp_path):
    gateway = gateway_with()
    admin = login(gateway)

    def status():
        return admin._call("admin", admin.stubs.gateway, "SystemService", "GetSystemStatus", {})

    user = CommandLine(binary, gateway, tmp_path).login()
    state = status()
    assert state.store_size_bytes > state.store_free_bytes > 0
    forecast = admin.stubs.gateway.DiskForecast
    names = {value.number: value.name for value in admin.stubs.gateway.DiskForecastState.DESCRIPTOR.values}
    assert names[state.disk_forecast.state] == "DISK_FORECAST_STATE_NOT_ENOUGH_HISTORY"
    assert state.disk_forecast == forecast(state=state.disk_forecast.state)
    assert "not enough history" in user.run("status", "--ops", gateway.listeners["ops"]).stdout
    assert not [name for name, _, _ in samples(gateway) if name == "data_gateway_store_growth_bytes_per_day"]

    def record(net_bytes: int, days: range) -> None:
        assert gateway.stop() == 0
        today = int(datetime.datetime.now(datetime.UTC).timestamp()) // 86_400
        with changing(gateway) as database:
            database.execute("DELETE FROM object_days")
            (organization,) = database.execute("SELECT min(id) FROM organizations").fetchone()
            for day in days:
                database.execute(
                    "INSERT INTO object_days (organization_id, day, arrived_objects, arrived_bytes, deleted_objects,"
                    " deleted_bytes) VALUES (?, ?, 1, ?, 1, ?)",
                    (organization, today - day, max(0, net_bytes), max(0, -net_bytes)),
                )
        gateway.start()

    record(MIB, range(1, 31))
    admin = login(gateway)
    state = status()
    assert names[state.disk_forecast.state] == "DISK_FORECAST_STATE_GROWING"
    assert (state.disk_forecast.bytes_per_day, state.disk_forecast.days) == (MIB, 14)
    assert metric(gateway, "data_gateway_store_growth_bytes_per_day") == MIB
    assert metric(gateway, "data_gateway_store_size_bytes") == state.store_size_bytes
    # A disk of a year, whatever this machine has.
    record(max(1, (state.store_free_bytes - state.store_minimum_free_bytes) // 365), range(1, 31))
    admin = login(gateway)
    full = status().disk_forecast.full_at.ToDatetime(datetime.UTC)
    now = datetime.datetime.now(datetime.UTC)
    assert datetime.timedelta(days=180) < full - now < datetime.timedelta(days=730)
    user.login()
    shown = user.json("status", "--ops", gateway.listeners["ops"])
    assert shown["disk_full_at"][:4] in (str(full.year), str(full.year - 1), str(full.year + 1))
    assert 0 <= shown["disk_used_percent"] <= 100 and shown["growth_bytes_per_day"] > 0
    assert metric(gateway, "data_gateway_store_full_timestamp_seconds") > now.timestamp()
    record(-MIB, range(1, 31))
    admin = login(gateway)
    assert names[status().disk_forecast.state] == "DISK_FORECAST_STATE_NOT_GROWING"
    # A clock that was in the future, and one that was in the past.
    for days in (range(-400, -390), range(15_000, 15_010)):
        record(MIB, days)
        admin = login(gateway)
        assert names[status().disk_forecast.state] == "DISK_FORECAST_STATE_NOT_ENOUGH_HISTORY"


def test_full_disk_is_no_forecast(gateway_with, login):
    gateway = gateway_with({"object_store": {"min_free_bytes": 1 << 50}})
    admin = login(gateway)
    state = admin._call("admin", admin.stubs.gateway, "SystemService", "GetSystemStatus", {})
    value = admin.stubs.gateway.DiskForecastState.Value("DISK_FORECAST_STATE_FULL")
    assert state.disk_forecast.state == value and not state.disk_forecast.HasField("full_at")
