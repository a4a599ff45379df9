"""Days of recordings in the time zone of a site: calls, REST, the command line and the console."""

import datetime
import json
import sqlite3
import urllib.parse
import zoneinfo

import grpc
import pytest
from support.commands import CommandLine
from support.database import changing, reading
from support.gateway import eventually
from support.parties import Fleet, unique
from support.person import Person
from support.raw import fetch_url
from support.uploads import FILE_NAME_TAG, Upload, content

AUCKLAND = "Pacific/Auckland"
#: 2026-11-22T10:59:59Z and a second later: the end of a day in Auckland, and the beginning of the next one.
EVENING, MIDNIGHT = "2026-11-22T10:59:59Z", "2026-11-22T11:00:00Z"


def record(uploader, recorded_from: str, tags: dict[str, str]) -> None:
    Upload.of(uploader, uploader.create(recorded_from=recorded_from)).put(content(100)).complete(tags)


@pytest.fixture
def drives(uploader) -> str:
    """Two recordings with a tag `run` of their own, on both sides of midnight in Auckland."""
    run = unique("run")
    record(uploader, EVENING, {"run": run, FILE_NAME_TAG: "evening.bin"})
    record(uploader, MIDNIGHT, {"run": run, FILE_NAME_TAG: "night.bin"})
    return run


def test_site_has_a_time_zone(admin):
    site = admin.admin("CreateSite", name=unique("site"), time_zone=AUCKLAND).site
    assert site.time_zone == AUCKLAND
    renamed = admin.admin("UpdateSite", site_id=site.site_id, name=unique("site")).site
    assert renamed.time_zone == AUCKLAND
    for zone in ("Mars/Base", "../../etc/passwd", "localtime", "posix/UTC"):
        with pytest.raises(grpc.RpcError) as refused:
            admin.admin("UpdateSite", site_id=site.site_id, name="changed", time_zone=zone)
        assert refused.value.code() == grpc.StatusCode.INVALID_ARGUMENT
        rule = "time_zone must be empty or a name of the time zone database, such as UTC or Europe/Berlin"
        assert rule in refused.value.details()
    assert admin.admin("GetSite", site_id=site.site_id).site == renamed
    assert admin.admin("UpdateSite", site_id=site.site_id, time_zone="").site.time_zone == ""


def test_days_are_those_of_the_zone(admin, drives):
    def found(day: str, zone: str) -> list[str]:
        filter = f"recorded={day} raw_tags.run={drives}"
        return sorted(each.name for each in admin.objects("ListObjects", filter=filter, time_zone=zone).objects)

    assert found("2026-11-22", "") == ["evening.bin", "night.bin"]
    assert found("2026-11-22", AUCKLAND) == ["evening.bin"]
    assert found("2026-11-23", AUCKLAND) == ["night.bin"]
    fields = {"filter": f"raw_tags.run={drives}", "facet": "recorded", "time_zone": AUCKLAND}
    (facet,) = admin.object_management("GetObjectFacets", **fields).facets
    assert [(each.value, each.objects) for each in facet.values] == [("2026-11-23", 1), ("2026-11-22", 1)]


def test_rest_and_the_command_line_have_the_zone(admin, gateway, binary, tmp_path, drives):
    query = urllib.parse.urlencode({"filter": f"recorded=2026-11-23 raw_tags.run={drives}", "time_zone": AUCKLAND})
    url = f"http://{gateway.listeners['web']}/v1/objects?{query}"
    listed = json.loads(fetch_url(url, headers={"Authorization": f"Bearer {admin.token}"}).body)
    assert [each["name"] for each in listed["objects"]] == ["night.bin"]
    user = CommandLine(binary, gateway, tmp_path).login()
    filter = f"recorded=2026-11-23 raw_tags.run={drives}"
    assert [each["name"] for each in user.json("ls", filter, "--time-zone", AUCKLAND)["objects"]] == ["night.bin"]
    days = user.json("object", "du", f"raw_tags.run={drives}", "--by", "day", "--time-zone", AUCKLAND)["groups"]
    assert sorted(each["group"] for each in days) == ["2026-11-22", "2026-11-23"]
    site = user.json("site", "create", unique("site"), "--time-zone", "Asia/Kathmandu")
    assert site["time_zone"] == "Asia/Kathmandu"
    assert user.json("site", "set-time-zone", str(site["site_id"]), "UTC")["time_zone"] == "UTC"
    refused = user.run("rm", "--filter", "recorded=yesterday", "--dry-run")
    assert refused.returncode != 0 and "expected a date such as 2026-01-31, because this filter" in refused.stderr


@pytest.mark.sqlite
def test_upgrade_counts_the_objects_by_quarter_hour(gateway_with, login):
    ours = gateway_with({})
    uploader = Fleet.create(login(ours)).uploader()
    for number, time in enumerate((EVENING, MIDNIGHT, "1970-01-01T00:00:00Z")):
        record(uploader, time, {"number": str(number)})
    ours.stop()
    with reading(ours) as database:
        right = counts(database)
    assert len(right) == 3
    with changing(ours) as database:
        # As the version before it left them.
        database.execute("DELETE FROM object_facets WHERE kind = 7")
        database.execute("DROP INDEX objects_by_recording")
        database.execute("ALTER TABLE object_facets DROP COLUMN bytes")
        database.execute("DROP TABLE facet_bytes_upgrade")
        database.execute("DELETE FROM object_facets WHERE kind = 8")
        database.execute("INSERT INTO object_facets VALUES (1, 4, '', '2026-11-22', 2)")
        database.execute("DELETE FROM migrations WHERE name IN ('catalog-recording-times', 'catalog-facet-bytes')")
    ours.start()
    (facet,) = login(ours).object_management("GetObjectFacets", facet="recorded", time_zone=AUCKLAND).facets
    assert [each.value for each in facet.values] == ["2026-11-23", "2026-11-22", "1970-01-01"]
    # The bytes are summed up while the gateway serves.
    admin = login(ours)
    eventually(lambda: admin.object_management("GetStorageUse").is_complete)
    (types,) = admin.object_management("GetStorageUse", group_by="content_type").groups
    assert [(each.value, each.objects, each.bytes) for each in types.values] == [("application/octet-stream", 3, 300)]
    ours.stop()
    with reading(ours) as database:
        assert counts(database) == right
        assert not database.execute("SELECT 1 FROM object_facets WHERE kind = 4").fetchall()


def counts(database: sqlite3.Connection) -> list[tuple]:
    return database.execute("SELECT value, objects, bytes FROM object_facets WHERE kind = 7 ORDER BY value").fetchall()


def test_yesterdays_recordings_of_a_robot_in_rain_need_four_clicks(console, admin, uploader):
    # The browser's zone is that of the machine.
    zone = zoneinfo.ZoneInfo(console.script("return Intl.DateTimeFormat().resolvedOptions().timeZone"))
    noon = datetime.datetime.now(zone).replace(hour=12, minute=0) - datetime.timedelta(days=1)
    yesterday = noon.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    name = unique("Picker 041 ")
    admin.devices("UpdateDevice", name=f"devices/{uploader.device_id}", display_name=name)
    rain = unique("rain")
    for number, (time, sky) in enumerate(((yesterday, rain), (yesterday, "sun"), (EVENING, rain))):
        record(uploader, time, {"weather": sky, FILE_NAME_TAG: f"drive {number}.bin"})
    person = Person(console)
    person.click("//nav//a[normalize-space()='Objects']")
    person.click("//fieldset//a[normalize-space()='Yesterday']")
    person.click(f"//section[@aria-label='Device']//a[starts-with(normalize-space(), '{name}')]")
    person.click(f"//section[@aria-label='weather']//a[starts-with(normalize-space(), '{rain}')]")
    console.until(lambda: [row["Name"] for row in console.rows()] == ["drive 0.bin"])
    assert person.actions <= 4


def test_list_of_a_site_has_its_zone(console, gateway, admin, fleet, drives):
    admin.admin("UpdateSite", site_id=fleet.site_id, time_zone=AUCKLAND)
    try:
        console.open(f"http://{gateway.listeners['web']}/console/#/objects?filter=site%3D{fleet.site_id}")
        # The console keeps what it knows of sites for half a minute.
        console.driver.refresh()
        console.heading("Objects")
        console.find(f"//fieldset//select/option[normalize-space()='{AUCKLAND} (site)']")
        query = urllib.parse.urlencode({"filter": f"site={fleet.site_id} raw_tags.run={drives}", "columns": "recorded"})
        console.open(f"http://{gateway.listeners['web']}/console/#/objects?{query}")
        texts = {"evening.bin": "Nov 22, 23:59", "night.bin": "Nov 23, 00:00"}
        console.until(lambda: {row["Name"]: row["Recorded"] for row in console.rows()} == texts)
        for day in ("2026-11-22", "2026-11-23"):
            console.find(f"//section[@aria-label='Day']//a[starts-with(normalize-space(), '{day}')]")
    finally:
        admin.admin("UpdateSite", site_id=fleet.site_id, time_zone="")
