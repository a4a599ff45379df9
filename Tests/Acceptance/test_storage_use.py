"""What fills the store: calls, REST and the command line."""

import json
import urllib.parse

from support.commands import USAGE, CommandLine
from support.parties import PASSWORD, Fleet, User
from support.raw import fetch_url
from support.refusal import refused
from support.uploads import FILE_NAME_TAG, Upload, completed, content


def fill(boss: User) -> tuple[str, str]:
    """Stores objects of 3,000, 200 and 10 bytes, the last one in the trash; returns the site's id and the device's."""
    fleet = Fleet.create(boss)
    uploader = fleet.uploader(display_name="Picker 041")
    recorded = {"recorded_from": "2026-03-31T23:30:00Z"}
    Upload.of(uploader, uploader.create(**recorded)).put(content(3000)).complete({FILE_NAME_TAG: "a.csv", "run": "7"})
    completed(uploader, content(200), {FILE_NAME_TAG: "b.json", "run": "8"})
    completed(uploader, content(10), {FILE_NAME_TAG: "c.json", "run": "8"})
    (last,) = boss.objects("ListObjects", filter="c.json").objects
    boss.object_management("DeleteObject", file_id=last.file_id)
    return str(fleet.site_id), uploader.device_id


def use(user: User, group: str = "", **fields):
    return user.object_management("GetStorageUse", group_by=group, **fields)


def test_store_is_filled_by_sites_devices_types_tags_and_days(new_organization):
    boss = new_organization()
    site, device = fill(boss)
    reply = use(boss)
    assert (reply.objects, reply.bytes, reply.trashed_objects, reply.trashed_bytes) == (2, 3200, 1, 10)
    assert reply.is_complete and list(reply.tag_keys)[-1] == "run"
    assert [group.name for group in reply.groups] == ["site", "device", "content_type", "month"]
    sites, devices, types, _ = ([(each.value, each.bytes) for each in group.values] for group in reply.groups)
    assert (sites, devices) == ([(site, 3200)], [(device, 3200)])
    assert types == [("text/csv", 3000), ("application/json", 200)]
    assert reply.groups[1].values[0].display_name == "Picker 041"
    assert reply.groups[0].values[0].display_name
    (runs,) = use(boss, "raw_tags.run", value_limit=1).groups
    assert [(each.value, each.objects, each.bytes) for each in runs.values] == [("7", 1, 3000)]
    assert runs.total_values == 2
    months = [(each.value, each.bytes) for each in use(boss, "month").groups[0].values]
    assert months[-1] == ("2026-03", 3000) and months[0][1] == 200
    assert use(boss, "month", time_zone="Europe/Berlin").groups[0].values[-1].value == "2026-04"
    assert use(boss, "day").groups[0].values[-1].value == "2026-03-31"


def test_organization_and_role_decide(admin, new_organization, stubs, gateway):
    boss, other = new_organization(), new_organization()
    fill(boss)
    assert use(other).bytes == 0 and use(other, "device").groups[0].total_values == 0
    boss.users("CreateUser", user_name="eve", password=PASSWORD, role="viewer")
    viewer = User.login(gateway, stubs, boss.organization, "eve", PASSWORD)
    assert use(viewer).bytes == 3200
    boss.users("CreateUser", user_name="nobody", password=PASSWORD, role="member")
    with refused(stubs, "PERMISSION_DENIED"):
        use(User.login(gateway, stubs, boss.organization, "nobody", PASSWORD))
    everyone = use(admin)
    assert everyone.groups[0].name == "organization" and everyone.bytes >= 3200
    with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_INVALID_ARGUMENT"):
        use(boss, "color")


def test_rest_and_the_command_line_show_it(new_organization, gateway, binary, tmp_path):
    boss = new_organization()
    site, device = fill(boss)
    query = urllib.parse.urlencode({"group_by": "device", "value_limit": 5})
    url = f"http://{gateway.listeners['web']}/v1/storageUse?{query}"
    reply = json.loads(fetch_url(url, headers={"Authorization": f"Bearer {boss.token}"}).body)
    assert reply["bytes"] == "3200" and reply["groups"][0]["values"] == [
        {"value": device, "displayName": "Picker 041", "objects": "2", "bytes": "3200"}
    ]
    user = CommandLine(binary, gateway, tmp_path).login()
    words = ("--organization", boss.organization)
    table = user.run("storage", *words).stdout
    assert table.startswith("2 objects, 3.13 KiB; in the trash: 1 object, 10 B\n\nSITE ")
    assert f"({site})" in table and "100 %" in table
    shown = user.json("storage", "--by", "type", *words)
    assert [(each["value"], each["size_bytes"], each["share"]) for each in shown["values"]] == [
        ("text/csv", 3000, 94),
        ("application/json", 200, 6),
    ]
    assert (shown["size_bytes"], shown["trashed_size_bytes"], shown["is_complete"]) == (3200, 10, True)
    cut = user.run("storage", "--by", "raw_tags.run", "--limit", "1", *words).stdout
    assert cut.endswith("1 of 2 values; see --limit\n")
    assert "--limit must be 1 to 1000" in user.refused(USAGE, "storage", "--limit", "0")
    assert "group_by must be" in user.refused(1, "storage", "--by", "color")
