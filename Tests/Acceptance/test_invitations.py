"""Invitations: an administrator invites a colleague, who chooses the password, by gRPC, REST and the command line."""

import json
import re
import threading
import urllib.error
import urllib.request

import pytest
from support.commands import OK, REFUSED, USAGE, CommandLine
from support.parties import PASSWORD, User, call, unique
from support.refusal import refused

ENDED = "the invitation is not valid: it was used or withdrawn, or has expired; ask for another one"
OWN = "the password of the invited"


class Invitations:
    """The calls of an administrator, and those of people without a session."""

    def __init__(self, gateway, stubs):
        self.stubs = stubs.auth
        self._management = stubs.auth.InvitationManagementServiceStub(gateway.channel("admin"))
        self._visits = stubs.auth.InvitationServiceStub(gateway.channel("auth"))

    def create(self, user: User, name: str, role: str = "viewer"):
        request = self.stubs.CreateInvitationRequest(user_name=name, role=role)
        return call(self._management.CreateInvitation, request, user.token)

    def open(self, user: User) -> list[str]:
        return [
            each.user_name
            for each in call(
                self._management.ListInvitations, self.stubs.ListInvitationsRequest(), user.token
            ).invitations
        ]

    def withdraw(self, user: User, invitation_id: str) -> None:
        request = self.stubs.WithdrawInvitationRequest(invitation_id=invitation_id)
        call(self._management.WithdrawInvitation, request, user.token)

    def get(self, token: str):
        return call(self._visits.GetInvitation, self.stubs.GetInvitationRequest(token=token))

    def accept(self, token: str, password: str = OWN):
        return call(self._visits.AcceptInvitation, self.stubs.AcceptInvitationRequest(token=token, password=password))


@pytest.fixture
def invitations(gateway, stubs) -> Invitations:
    return Invitations(gateway, stubs)


def post(gateway, path: str, message: dict, token: str | None = None, method: str = "POST") -> tuple[int, dict]:
    """Sends a REST request to the web listener."""
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    body = json.dumps(message).encode() if method == "POST" else None
    request = urllib.request.Request(f"http://{gateway.listeners['web']}{path}", body, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_invited_person_chooses_the_password(invitations, new_organization, gateway, stubs):
    boss = new_organization()
    created = invitations.create(boss, "nora", "operator")
    assert re.fullmatch(r"dgwi_[0-9A-Za-z_-]{43}", created.token)
    assert created.link == ""
    assert invitations.open(boss) == ["nora"]
    shown = invitations.get(created.token)
    assert shown.invitation == created.invitation and not shown.second_factor_required
    assert (shown.invitation.organization, shown.invitation.invited_by) == (boss.organization, "boss")

    assert invitations.accept(created.token).user.role == "operator"
    session = User.login(gateway, stubs, boss.organization, "nora", OWN)
    session.devices("ListDevices")
    assert invitations.open(boss) == []
    for again in (invitations.get, invitations.accept):
        with refused(stubs, "NOT_FOUND") as refusal:
            again(created.token)
        assert refusal.message == ENDED
    assert {user.user_name: user.second_factor for user in boss.users("ListUsers").users} == {
        "boss": stubs.auth.SECOND_FACTOR_STATE_OFF,
        "nora": stubs.auth.SECOND_FACTOR_STATE_OFF,
    }


def test_of_two_people_with_a_link_one_becomes_the_user(invitations, new_organization, stubs):
    boss = new_organization()
    token = invitations.create(boss, "nora").token
    results = []

    def accept(number: int) -> None:
        try:
            results.append(invitations.accept(token, f"password {number}").user.user_name)
        except Exception as error:
            results.append(error.code().name)

    threads = [threading.Thread(target=accept, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == ["NOT_FOUND"] * 3 + ["nora"]


def test_invitation_ends_with_its_inviter(invitations, new_organization, gateway, stubs):
    boss = new_organization()
    boss.users("CreateUser", user_name="eve", password=PASSWORD, role="admin")
    eve = User.login(gateway, stubs, boss.organization, "eve", PASSWORD)
    token = invitations.create(eve, "nora").token
    boss.users("DeleteUser", user_name="eve")
    with refused(stubs, "NOT_FOUND") as refusal:
        invitations.accept(token)
    assert refusal.message == ENDED
    assert [user.user_name for user in boss.users("ListUsers").users] == ["boss"]


def test_rest_has_the_token_in_no_address(new_organization, gateway):
    boss = new_organization()
    status, created = post(gateway, "/v1/invitations", {"userName": "nora", "role": "viewer"}, boss.token)
    assert status == 200
    status, listed = post(gateway, "/v1/invitations", {}, boss.token, "GET")
    assert status == 200 and listed["invitations"] == [created["invitation"]]
    status, shown = post(gateway, "/v1/invitations:get", {"token": created["token"]})
    assert status == 200 and shown["invitation"] == created["invitation"]
    assert post(gateway, "/v1/invitations:accept", {"token": created["token"], "password": "short"})[0] == 400
    status, accepted = post(gateway, "/v1/invitations:accept", {"token": created["token"], "password": OWN})
    assert status == 200 and accepted["user"]["userName"] == "nora"
    status, again = post(gateway, "/v1/invitations:accept", {"token": created["token"], "password": OWN})
    assert (status, again["error"]["message"]) == (404, ENDED)

    other = post(gateway, "/v1/invitations", {"userName": "vera", "role": "viewer"}, boss.token)[1]
    path = f"/v1/invitations/{other['invitation']['invitationId']}"
    assert post(gateway, path, {}, boss.token, "DELETE") == (200, {})
    assert post(gateway, path, {}, boss.token, "DELETE")[0] == 404
    assert "AcceptInvitation" in gateway.stderr
    for secret in (created["token"], other["token"], OWN):
        assert secret not in gateway.stderr


def test_commands_invite_list_and_withdraw(binary, gateway, tmp_path, invitations, admin, stubs):
    line = CommandLine(binary, gateway, tmp_path).login()
    name = unique("nora")
    created = line.json("user", "invite", name, "--role", "viewer")
    assert created["user_name"] == name and created["link"] == ""
    assert invitations.get(created["token"]).invitation.user_name == name
    (listed,) = [each for each in line.json("user", "list-invitations")["invitations"] if each["user_name"] == name]
    assert listed["invitation_id"] == created["invitation_id"]
    assert line.json("user", "withdraw-invitation", created["invitation_id"]) == {
        "invitation_id": created["invitation_id"]
    }
    with refused(stubs, "NOT_FOUND"):
        invitations.get(created["token"])
    text = line.run("user", "invite", name, "--role", "viewer").stdout
    assert re.search(r"^/console/#/invitation/dgwi_[0-9A-Za-z_-]{43}$", text, re.MULTILINE)
    assert "identity.public_url" in text
    assert "already invited" in line.refused(REFUSED, "user", "invite", name, "--role", "viewer")
    assert "role must be" in line.refused(REFUSED, "user", "invite", unique("x"), "--role", "service")
    line.refused(USAGE, "user", "invite", name)
    users = line.run("user", "list")
    assert users.returncode == OK and "SECOND FACTOR" in users.stdout.upper()


def test_link_begins_with_the_public_address(binary, gateway_with, login, tmp_path):
    gateway = gateway_with({"identity": {"public_url": "https://gateway.example.com"}})
    line = CommandLine(binary, gateway, tmp_path).login()
    created = line.json("user", "invite", "nora", "--role", "viewer")
    assert created["link"] == f"https://gateway.example.com/console/#/invitation/{created['token']}"
    assert line.run("user", "invite", "vera", "--role", "viewer").stdout.startswith("https://gateway.example.com/")
