"""The app for archives: members have libraries of their own."""

import json
import re
from pathlib import Path

import pytest
from support import process
from support.commands import CommandLine
from support.gateway import ADMIN_PASSWORD, Gateway
from support.library_archive import (
    DOCUMENTS,
    Phone,
    archive,
    create_member,
    library,
    member,
    rows,
    search,
    sorted_lists,
    start_with_members,
    unpacked,
)
from support.ports import free_port

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def members(binary, gateway_with, tmp_path_factory) -> Gateway:
    return start_with_members(binary, gateway_with, tmp_path_factory.mktemp("operator"))


def test_members_have_libraries_of_their_own(members):
    stranger = Phone(members)
    for method, path in [("GET", "/export"), ("GET", "/status"), ("GET", "/search?keyword=a"), ("DELETE", "/account")]:
        status, _, body = stranger.raw(method, path)
        assert (status, json.loads(body)) == (401, {"message": "请先登录"}), path
    assert stranger.take(archive(library())) == (401, {"message": "请先登录"})
    assert stranger.sign_in("ada", "another password") == 401 and stranger.sign_in("nobody", "ada's password") == 401
    ada, bob = member(members, "ada"), member(members, "bob")
    assert ada.take(archive(library())) == (200, {"ok": True})
    assert unpacked(ada.export()) == sorted_lists(library())
    assert unpacked(bob.export()) == {name: [] for name in DOCUMENTS}
    assert search(bob, "满") == {"results": [], "hasMore": False} != search(ada, "满")
    # The cookie of another site's page does not count.
    for fields in ({"origin": "https://evil.example"}, {"sec_fetch_site": "cross-site"}):
        assert ada.raw("GET", "/export", **fields)[0] == 401
    assert ada.raw("GET", "/status", sec_fetch_site="same-origin")[0] == 200
    status, fields, body = ada.raw("DELETE", "/session")
    assert (status, body) == (204, b"") and fields["set-cookie"].startswith("member_archive=; Max-Age=0")
    assert ada.raw("GET", "/status")[0] == 401


def test_member_changes_the_password_and_ends_all_sessions(binary, members, tmp_path):
    operator = CommandLine(binary, members, tmp_path).login()
    create_member(operator, "carol")
    phone, page = member(members, "carol"), member(members, "carol")

    def change(password: str, new: str) -> tuple[int, str]:
        body = json.dumps({"name": "carol", "password": password, "newPassword": new}).encode()
        status, fields, response = page.raw("POST", "/password", body, content_type="application/json")
        if status == 204:
            page.cookie = fields["set-cookie"].split(";")[0]
        return status, response.decode()

    assert change("wrong password", "a new password") == (401, '{"message":"用户名或密码错误"}')
    assert change("carol's password", "short") == (500, '{"message":"新密码须为 8 至 1024 字节"}')
    assert phone.raw("GET", "/status")[0] == 200
    assert change("carol's password", "a new password") == (204, "")
    assert phone.raw("GET", "/status")[0] == 401 and page.raw("GET", "/status")[0] == 200
    assert phone.sign_in("carol", "carol's password") == 401 and phone.sign_in("carol", "a new password") == 204
    done = operator.run("audit", "--organization", "kvasir", "--json")
    assert "ChangeArchivePassword" in {json.loads(line)["action"] for line in done.stdout.splitlines()}


def test_deleting_an_account_deletes_its_library(binary, members, tmp_path):
    operator = CommandLine(binary, members, tmp_path)
    operator.login()
    for name in ("eve", "mallory"):
        create_member(operator, name)
        assert member(members, name).take(archive(library())) == (200, {"ok": True})
    eve = member(members, "eve")
    before = rows(members)
    status, fields, body = eve.raw("DELETE", "/account")
    assert (status, body) == (204, b"") and fields["set-cookie"].startswith("member_archive=; Max-Age=0")
    assert eve.raw("GET", "/status")[0] == 401 and eve.sign_in("eve", "eve's password") == 401
    assert [len(table) for table in rows(members)] < [len(table) for table in before]
    operator.json("user", "delete", "mallory", "--organization", "kvasir")
    owners = {row[0] for table in rows(members) for row in table}
    assert len(owners) <= 1
    done = operator.run("audit", "--organization", "kvasir", "--json")
    actions = {json.loads(line)["action"] for line in done.stdout.splitlines()}
    assert {"DeleteUser", "OpenArchiveSession"} <= actions


def test_commands_of_the_page_make_a_member_with_the_example_configuration(binary, tmp_path):
    """The lines of the page as an operator types them, on ports and with a password file of this test."""
    gateway = Gateway(binary, tmp_path)
    example = (ROOT / "deploy/debian/apps.example").read_text()
    gateway.config.write_text(example.replace("apps: {", 'apps: { archive: { enabled: true, organization: "kvasir" },'))
    gateway.off = set(re.findall(r"(\w+): \"off\"", example))
    gateway.off = {name.replace("_", "-") for name in gateway.off}
    gateway.listeners["apps"] = f"127.0.0.1:{free_port()}"
    gateway.start()
    try:
        lines = re.findall(r"^\$ (.*data-gateway .*)", (ROOT / "docs/apps/archive.md").read_text(), re.M)
        assert len(lines) == 2
        (tmp_path / "password").write_text(ADMIN_PASSWORD + "\n")
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin/data-gateway").symlink_to(binary)
        environment = {"PATH": f"{tmp_path}/bin:/usr/bin:/bin", "HOME": str(tmp_path)}
        for line in lines:
            line = line.replace("127.0.0.1:50072", gateway.listeners["web"])
            line = line.replace("/var/lib/data-gateway-apps/initial-admin-password", str(tmp_path / "password"))
            process.run("sh", "-c", line, env=environment, cwd=tmp_path)
        assert Phone(gateway).sign_in("ada", "a long password") == 204
    finally:
        gateway.close()


def test_user_of_the_gateway_cannot_sign_in(members):
    from support.gateway import ADMIN_PASSWORD

    assert Phone(members).sign_in("admin", ADMIN_PASSWORD) == 401


def test_cookie_of_another_app_is_not_accepted(members):
    ada = member(members, "ada")
    name, value = ada.cookie.split("=", 1)
    assert name == "member_archive"
    ada.cookie = f"member_companions={value}"
    assert ada.raw("GET", "/status")[0] == 401
    ada.cookie = f"member_companions=other; {name}={value}; member=another"
    assert ada.raw("GET", "/status")[0] == 200
