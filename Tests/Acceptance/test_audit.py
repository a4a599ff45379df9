"""The audit log: every change leaves a line, and no line contains a secret."""

import csv
import datetime
import json
import os
import re
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest
from support.commands import USAGE, CommandLine
from support.database import change, integrity_error, reading
from support.gateway import ADMIN_PASSWORD, eventually
from support.parties import PASSWORD, Fleet, Uploader, User, call, exchange, init_device, unique, unique_device_id
from support.raw import fetch_url
from support.refusal import refused
from support.stubs import descriptors
from support.totp import App
from support.uploads import FILE_NAME_TAG, Upload, completed, content

#: The methods without an effect (besides those named Get… or List…), or that may not commit: signing in must not cost
#: an fsync.
READING = {
    "Check",
    "Watch",
    "ServerReflectionInfo",
    "ExchangeCredential",
    "ExchangeSystemCredential",
    "BeginSignIn",
    "FindStoredFiles",
}
#: The methods whose lines other tests check: test_events.py, because they need a webhook,
#: BulkDeletionTests.swift, because it needs a long operation, test_restore.py, because the gateway ends, and SignInTests.swift and WorkloadTests.swift, because they
#: need an identity provider.
ELSEWHERE = {
    "RedeliverEvent",
    "StartEngineCopy",
    "StopEngineCopy",
    "SendTestEvent",
    "RetryWebhook",
    "CancelObjectOperation",
    "CompleteSignIn",
    "SignInWithIdentityToken",
    "ExchangeWorkloadToken",
    "Unlink",
    "ApplyArchive",
    "ReturnToPreviousData",
    "DeletePreviousData",
}


class Log:
    """The audit log of a running gateway."""

    def __init__(self, gateway):
        self.gateway = gateway

    def lines(self, **wanted: str) -> list[dict]:
        """Returns the lines with these fields, oldest first."""
        with reading(self.gateway) as database:
            found = database.execute("SELECT * FROM audit ORDER BY id")
            names = [column[0] for column in found.description]
            rows = [dict(zip(names, row, strict=True)) for row in found]
        return [row for row in rows if all(row[name] == value for name, value in wanted.items())]

    def last(self, **wanted: str) -> dict:
        return self.lines(**wanted)[-1]


def test_every_action_that_sources_name_has_a_sentence():
    """Those that are named by their methods are checked by GatewayServicesTests.swift."""
    sources = Path(__file__).parents[2] / "Sources"
    commands = [sources / "GatewayServer/Commands", sources / "DeviceCommands"]
    written, described = set(), set()
    for path in sources.rglob("*.swift"):
        if any(folder in path.parents for folder in commands):
            continue
        text = path.read_text()
        written |= set(re.findall(r'\b(?:byGateway\(\s*|did\(|note\(|action: )"([A-Z]\w+)"', text))
        described |= set(re.findall(r'AuditSentence\(\s*\.\w+,\s*"(\w+)"', text))
    assert len(written) >= 20
    assert not written - described


@pytest.fixture
def log(gateway) -> Log:
    return Log(gateway)


class Walk:
    """Counts the audit lines of each call."""

    def __init__(self, log: Log):
        self.log = log
        self.seen: set[str] = set()

    @contextmanager
    def one_line(self, action: str, **wanted: str):
        before = len(self.log.lines(action=action))
        yield
        new = self.log.lines(action=action)[before:]
        assert len(new) == 1, f"{action} left {len(new)} lines: {new}"
        wanted = {"result": "OK", "count": 1, "peer": "127.0.0.1"} | wanted
        assert {name: new[0][name] for name in wanted} == wanted, action
        self.seen.add(action)

    @contextmanager
    def no_line(self, action: str):
        before = self.log.lines(action=action)
        yield
        assert self.log.lines(action=action) == before, action


@pytest.mark.sqlite
def test_every_call_that_changes_something_leaves_one_line(
    gateway, stubs, protos, log, admin, new_organization, copy_root, tmp_path
):
    walk = Walk(log)
    user = unique("user")
    boss = new_organization()
    organization = boss.organization
    by_boss = {"actor": f"user:{organization}/boss", "organization": organization}
    secrets = [ADMIN_PASSWORD, PASSWORD, boss.token, boss.refresh_token]

    # Organizations, users, sessions.
    with walk.one_line("CreateOrganization", target=(name := "organizations/" + (made := unique("org")))):
        admin.admin(
            "CreateOrganization",
            organization=made,
            bootstrap_admin_user_name="boss",
            bootstrap_admin_password=PASSWORD,
        )
    with walk.one_line("UpdateOrganization", actor="user:system/admin", target=name):
        admin.admin("UpdateOrganization", organization=made, display_name="Another")
    with walk.one_line("DeleteOrganization", target=name):
        admin.admin("DeleteOrganization", organization=made)
    with walk.one_line("CreateUser", **by_boss):
        user_id = boss.users("CreateUser", user_name=user, password=PASSWORD, role="viewer").user.user_id
    visits = stubs.auth.InvitationServiceStub(gateway.channel("auth"))
    invitations = stubs.auth.InvitationManagementServiceStub(gateway.channel("admin"))
    invited = stubs.auth.CreateInvitationRequest(user_name="nora", role="viewer")
    with walk.one_line("CreateInvitation", **by_boss, target="invitations/nora"):
        invitation = call(invitations.CreateInvitation, invited, boss.token)
    secrets.append(invitation.token)
    with walk.one_line("WithdrawInvitation", **by_boss, target="invitations/nora"):
        request = stubs.auth.WithdrawInvitationRequest(invitation_id=invitation.invitation.invitation_id)
        call(invitations.WithdrawInvitation, request, boss.token)
    token = call(invitations.CreateInvitation, invited, boss.token).token
    secrets.append(token)
    with walk.no_line("GetInvitation"):
        call(visits.GetInvitation, stubs.auth.GetInvitationRequest(token=token))
    with walk.one_line("AcceptInvitation", actor=f"user:{organization}/nora", organization=organization):
        call(visits.AcceptInvitation, stubs.auth.AcceptInvitationRequest(token=token, password=PASSWORD))
    with walk.one_line("FindUsersByEmail", **by_boss, target="users"):
        request = stubs.auth.FindUsersByEmailRequest(email="nobody@example.com")
        call(stubs.auth.IdentityServiceStub(gateway.channel("auth")).FindUsersByEmail, request, boss.token)
    with walk.one_line("Login", actor=f"user:{organization}/{user}", organization=organization):
        session = User.login(gateway, stubs, organization, user, PASSWORD)
    auth = stubs.auth.AuthServiceStub(gateway.channel("auth"))
    with walk.one_line("RefreshToken", actor=f"user:{organization}/{user}"):
        reply = call(auth.RefreshToken, stubs.auth.RefreshTokenRequest(refresh_token=session.refresh_token))
    with walk.no_line("RefreshToken"):  # The same answer once more changes nothing.
        call(auth.RefreshToken, stubs.auth.RefreshTokenRequest(refresh_token=session.refresh_token))
    secrets += [session.token, session.refresh_token, reply.access_token, reply.refresh_token]
    sessions = stubs.session.SessionServiceStub(gateway.channel("auth"))
    own = {"actor": f"user:{organization}/{user}", "organization": organization, "target": f"users/{user_id}"}
    person = User.login(gateway, stubs, organization, user, PASSWORD)
    accounts = stubs.auth.AccountServiceStub(gateway.channel("auth"))
    with walk.one_line("RevokeOtherSessions", **own):
        call(sessions.RevokeOtherSessions, stubs.session.RevokeOtherSessionsRequest(), person.token)
    with walk.no_line("RevokeOtherSessions"):
        call(sessions.RevokeOtherSessions, stubs.session.RevokeOtherSessionsRequest(), person.token)
    with walk.one_line("ChangePassword", **own):
        passwords = {"current_password": PASSWORD, "new_password": PASSWORD + "!"}
        call(accounts.ChangePassword, stubs.auth.ChangePasswordRequest(**passwords), person.token)
    with walk.one_line("EnrollSecondFactor", **own):
        request = stubs.auth.EnrollSecondFactorRequest(password=PASSWORD + "!")
        secret = call(accounts.EnrollSecondFactor, request, person.token).secret
    app = App(secret)
    with walk.one_line("ConfirmSecondFactor", **own):
        request = stubs.auth.ConfirmSecondFactorRequest(code=app.code())
        codes = list(call(accounts.ConfirmSecondFactor, request, person.token).recovery_codes)
    with refused(stubs, "UNAUTHENTICATED", "AUTH_SECOND_FACTOR_REQUIRED") as refusal:
        User.login(gateway, stubs, organization, user, PASSWORD + "!")
    with walk.one_line("Login", actor=f"user:{organization}/{user}", organization=organization):
        request = stubs.session.CompleteLoginRequest(challenge=refusal.detail.metadata["challenge"], code=app.code(+1))
        completed = call(sessions.CompleteLogin, request)
    walk.seen.add("CompleteLogin")  # Its line has the action Login.
    with walk.one_line("ReplaceRecoveryCodes", **own):
        request = stubs.auth.ReplaceRecoveryCodesRequest(code=codes[0])
        codes += call(accounts.ReplaceRecoveryCodes, request, person.token).recovery_codes
    with walk.one_line("RemoveSecondFactor", **own):
        request = stubs.auth.RemoveSecondFactorRequest(code=codes[-1])
        call(accounts.RemoveSecondFactor, request, person.token)
    listed = call(sessions.ListSessions, stubs.session.ListSessionsRequest(), person.token).sessions
    (other,) = [each.session_id for each in listed if not each.is_current]
    with walk.one_line("RevokeSession", **(own | {"target": f"sessions/{other}"})):
        call(sessions.RevokeSession, stubs.session.RevokeSessionRequest(session_id=other), person.token)
    tokens = stubs.auth.ApiTokenServiceStub(gateway.channel("auth"))
    end = datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=1)
    with walk.one_line("CreateApiToken", actor=f"user:{organization}/{user}", organization=organization):
        request = stubs.auth.CreateApiTokenRequest(token_name="ci", role="viewer", expired_at=end)
        token = call(tokens.CreateApiToken, request, person.token)
    with walk.one_line("RevokeApiToken", **(own | {"target": f"apiTokens/{token.api_token.token_id}"})):
        request = stubs.auth.RevokeApiTokenRequest(token_id=token.api_token.token_id)
        call(tokens.RevokeApiToken, request, person.token)
    secrets += [person.token, person.refresh_token, completed.access_token, token.token, secret, *codes]
    with walk.one_line("Logout", actor=f"user:{organization}/{user}"):
        call(sessions.Logout, stubs.session.LogoutRequest(refresh_token=person.refresh_token))
    with walk.one_line("UpdateUser", **by_boss):
        boss.users("UpdateUser", user_name=user, role="operator")
    with walk.one_line("DeleteUser", **by_boss):
        boss.users("DeleteUser", user_name=user)

    # The gateway's own identities.
    identities = stubs.auth.IdentityManagementServiceStub(gateway.channel("admin"))
    guarded = {"requires_second_factor": True}
    acting = {"x-organization": organization}
    with walk.one_line("SetSignInPolicy", target=f"organizations/{organization}", organization=organization):
        call(identities.SetSignInPolicy, stubs.auth.SetSignInPolicyRequest(policy=guarded), admin.token, acting)
    with walk.no_line("SetSignInPolicy"):
        call(identities.SetSignInPolicy, stubs.auth.SetSignInPolicyRequest(policy=guarded), admin.token, acting)
    request = stubs.auth.EnrollSecondFactorRequest(password=PASSWORD)
    call(accounts.EnrollSecondFactor, request, boss.token)
    with walk.one_line("ResetSecondFactor", organization=organization):
        request = stubs.auth.ResetSecondFactorRequest(user_name="boss")
        call(identities.ResetSecondFactor, request, admin.token, acting)
    with walk.one_line("SetSignInPolicy", organization=organization):
        call(identities.SetSignInPolicy, stubs.auth.SetSignInPolicyRequest(policy={}), admin.token, acting)
    admin.users("CreateUser", user_name=(service := unique("service")), role="service")
    with walk.one_line("IssueSystemCredential", actor="user:system/admin", organization="system"):
        request = stubs.auth.IssueSystemCredentialRequest(user_name=service)
        secrets.append(call(identities.IssueSystemCredential, request, admin.token).credential)
    backups = stubs.gateway.BackupServiceStub(gateway.channel("admin"))
    with walk.one_line("Backup", actor="user:system/admin", organization="system"):
        for _ in call(backups.Backup, stubs.gateway.BackupRequest(without_objects=True), admin.token):
            pass
    restores = stubs.gateway.RestoreServiceStub(gateway.channel("admin"))
    by_system = {"actor": "user:system/admin", "organization": "system"}
    archive = b"".join(
        chunk.data for chunk in call(backups.Backup, stubs.gateway.BackupRequest(without_objects=True), admin.token)
    )
    with walk.one_line("StageArchive", **by_system):
        staged = call(restores.StageArchive, stubs.gateway.StageArchiveRequest(passphrase="x"), admin.token).staging_id
    with walk.one_line("DiscardArchive", target=f"restore/{staged}", **by_system):
        call(restores.DiscardArchive, stubs.gateway.DiscardArchiveRequest(staging_id=staged), admin.token)
    staged = call(restores.StageArchive, stubs.gateway.StageArchiveRequest(), admin.token).staging_id
    with walk.one_line("UploadArchive", target=f"restore/{staged}", **by_system):
        pieces = [
            stubs.gateway.UploadArchiveRequest(staging_id=staged),
            stubs.gateway.UploadArchiveRequest(archive={"data": archive}),
        ]
        call(restores.UploadArchive, iter(pieces), admin.token)
    call(restores.DiscardArchive, stubs.gateway.DiscardArchiveRequest(staging_id=staged), admin.token)
    with walk.one_line("RotateSigningKey", actor="user:system/admin", organization="system"):
        call(identities.RotateSigningKey, stubs.auth.RotateSigningKeyRequest(), admin.token)
    clock = stubs.gateway.ClockServiceStub(gateway.channel("admin"))
    with walk.one_line("ConfirmClock", target="clock/0", actor="user:system/admin", organization="system"):
        call(clock.ConfirmClock, stubs.gateway.ConfirmClockRequest(), admin.token)

    # Sites and keys.
    with walk.one_line("CreateSite", **by_boss):
        site = boss.admin("CreateSite", name=unique("site")).site.site_id
    for method, fields in [("DisableSite", {}), ("EnableSite", {}), ("UpdateSite", {"name": unique("site")})]:
        with walk.one_line(method, target=f"sites/{site}", **by_boss):
            boss.admin(method, site_id=site, **fields)
    with walk.one_line("CreateSiteApiKey", **by_boss):
        key = boss.admin("CreateSiteApiKey", site_id=site, key_name="gate")
    key_id = key.api_key.api_key_id
    with walk.one_line("RotateApiKeySecret", target=f"apiKeys/{key_id}", **by_boss):
        rotated = boss.admin("RotateApiKeySecret", api_key_id=key_id)
    secrets += [key.credential, rotated.credential]
    by_site = Uploader(gateway, stubs, rotated.credential).sign_in()
    with walk.one_line("CreateLogicalUpload", actor=f"site:{site}", organization=organization):
        by_site.create()
    for method, fields in [("DisableApiKey", {}), ("EnableApiKey", {}), ("UpdateApiKey", {"key_name": "door"})]:
        with walk.one_line(method, target=f"apiKeys/{key_id}", **by_boss):
            boss.admin(method, api_key_id=key_id, **fields)
    with walk.one_line("DeleteApiKey", target=f"apiKeys/{key_id}", **by_boss):
        boss.admin("DeleteApiKey", api_key_id=key_id)

    # Devices.
    with walk.one_line("CreateDeviceSuite", **by_boss):
        suite = boss.devices("CreateDeviceSuite", site_id=site, display_name="robots").name
    with walk.one_line("UpdateDeviceSuite", target=suite, **by_boss):
        boss.devices("UpdateDeviceSuite", name=suite, display_name="arms")
    device_id = unique_device_id()
    device = f"devices/{device_id}"
    of_device = by_boss | {"target": device}
    with walk.one_line("RegisterDevice", **of_device):
        boss.devices("RegisterDevice", device_id=device_id)
    with walk.one_line("AddDeviceToSuite", **of_device):
        boss.devices("AddDeviceToSuite", suite=suite, device=device)
    for method in ("InitDevice", "ReinitDevice"):
        with walk.one_line(method, actor="nobody", organization=organization, target=device):
            secrets.append(init_device(gateway, stubs, device_id, method).api_key)
    with walk.one_line("CreateOrRotateDeviceApiKey", **by_boss):
        credential = boss.admin("CreateOrRotateDeviceApiKey", device_id=device_id).credential
    secrets.append(credential)
    with walk.one_line("RotateDeviceKeys", **of_device):
        boss.devices("RotateDeviceKeys", devices=[device])
    with walk.one_line("RotateCredential", actor=f"device:{device_id}", organization=organization):
        auth = stubs.auth.AuthServiceStub(gateway.channel("auth"))
        rotation = stubs.auth.RotateCredentialRequest(credential=credential)
        credential = call(auth.RotateCredential, rotation).credential
        secrets.append(credential)
        # The line is of the first use.
        exchange(gateway, stubs, credential)
    for method in ("DisableDevice", "EnableDevice", "UpdateDevice", "AllowReinit"):
        with walk.one_line(method, **of_device):
            boss.devices(method, name=device)

    # Addresses of the gateway, for devices.
    endpoint = stubs.auth.DeviceEndpoint(host="new.example.com", port=1, tls=True)
    fields = {"auth": endpoint, "gateway": endpoint, "device_init": endpoint}
    with walk.one_line("AnnounceAddresses", target="deviceAddresses/1", **by_boss):
        boss.devices("AnnounceAddresses", ends_at={"seconds": int(time.time()) + 3600}, **fields)
    with walk.one_line("WithdrawAddresses", target="deviceAddresses/1", **by_boss):
        boss.devices("WithdrawAddresses")

    # Uploads and downloads.
    uploader = Uploader(gateway, stubs, credential).sign_in()
    secrets.append(uploader.token)
    of_upload = {"actor": f"device:{device_id}", "organization": organization}
    with walk.one_line("CreateLogicalUpload", **of_upload):
        upload = Upload.create(uploader)
    of_upload["target"] = f"uploads/{upload.id}"
    with walk.one_line("ReissueUploadCredentials", **of_upload):
        uploader.reissue(upload.id)
    upload.put(content(1000))
    with walk.one_line("CompleteUpload", **of_upload):
        upload.complete()
    with walk.no_line("CompleteUpload"):
        upload.complete()
    with walk.no_line("FindStoredFiles"):
        uploader.find({"size_bytes": 1000, "file_name": "a"})
    another = Upload.create(uploader)
    with walk.one_line("CreateLogicalUpload", actor=f"device:{device_id}"):
        restarted = Upload.create(uploader, restart_from=another.id)
    with walk.one_line("AbortUpload", actor=f"device:{device_id}", target=f"uploads/{restarted.id}"):
        uploader.abort(restarted.logical_id, reason=PASSWORD)
    with walk.no_line("AbortUpload"):
        uploader.abort(restarted.logical_id)
    canceled = Upload.create(uploader)
    management = stubs.gateway.UploadManagementServiceStub(gateway.channel("admin"))
    with walk.one_line("CancelUpload", target=f"uploads/{canceled.id}", **by_boss):
        request = stubs.gateway.CancelUploadRequest(logical_upload_id=canceled.logical_id, reason="a test")
        call(management.CancelUpload, request, boss.token)
    site_id = boss.admin("ListSites").sites[0].site_id
    of_site = by_boss | {"organization": organization}
    with walk.one_line("CreateSiteUpload", **of_site):
        request = stubs.gateway.CreateSiteUploadRequest(site_id=site_id, file_name="site.bin", file_size_bytes=1000)
        made_upload = call(management.CreateSiteUpload, request, boss.token)
    of_site["target"] = f"uploads/{made_upload.upload_id}"
    with walk.one_line("IssueSiteUploadCredentials", **of_site):
        request = stubs.gateway.IssueSiteUploadCredentialsRequest(upload_id=made_upload.upload_id)
        secrets.append(call(management.IssueSiteUploadCredentials, request, boss.token).credentials.sts_security_token)
    by_hand = Upload.of(uploader, made_upload).put(content(1000))
    request = stubs.gateway.CompleteSiteUploadRequest(
        upload_id=by_hand.id, file_size_bytes=by_hand.size, oss_object_etag=by_hand.etag
    )
    with walk.one_line("CompleteSiteUpload", **of_site):
        of_user = call(management.CompleteSiteUpload, request, boss.token)
    with walk.no_line("CompleteSiteUpload"):
        call(management.CompleteSiteUpload, request, boss.token)
    with walk.one_line("DeleteObject", **by_boss):
        boss.object_management("DeleteObject", file_id=of_user.file_id, reason="a test")
    (found,) = boss.list_all()
    with walk.one_line("RequestDownload", target=f"files/{found.file_id}", **by_boss):
        location = boss.objects("RequestDownload", file_ids=[found.file_id]).files[0]
    upload_id = boss.object_management("GetObject", file_id=found.file_id).upload_id
    with walk.one_line("RequestDownload", target=f"files/{found.file_id}", **by_boss):
        boss.objects("RequestDownload", file_ids=[upload_id])
    archives = stubs.gateway.ObjectArchiveServiceStub(gateway.channel("gateway"))
    with walk.one_line("ZipObjects", target=f"files/{found.file_id}", **by_boss):
        request = stubs.gateway.ZipObjectsRequest(file_ids=[found.file_id])
        assert list(call(archives.ZipObjects, request, boss.token))
    with walk.one_line("CreateCopyJob", **by_boss):
        # The job stays there until it is canceled, because the folder does not exist.
        destination = {"endpoint": f"file://{copy_root.with_name('absent')}/{organization}"}
        job = boss.copies("CreateCopyJob", file_ids=[found.file_id], destination=destination, idempotency_key="k")
    with walk.no_line("CreateCopyJob"):
        boss.copies("CreateCopyJob", file_ids=[found.file_id], destination=destination, idempotency_key="k")
    with walk.one_line("CancelCopyJob", target=f"copyJobs/{job.copy_job_id}", **by_boss):
        boss.copies("CancelCopyJob", copy_job_id=job.copy_job_id, reason=PASSWORD)
    with walk.no_line("CancelCopyJob"):
        boss.copies("CancelCopyJob", copy_job_id=job.copy_job_id)
    with walk.one_line("SetRetention", **by_boss):
        boss.object_management("SetRetention", days=400)
    with walk.no_line("SetRetention"):
        boss.object_management("SetRetention", days=30, dry_run=True)
    with walk.one_line("SaveSearch", **by_boss):
        search = boss.object_management("SaveSearch", name="rain", filter="weather=rain")
    with walk.one_line("DeleteSavedSearch", target=f"savedSearches/{search.search_id}", **by_boss):
        boss.object_management("DeleteSavedSearch", search_id=search.search_id)
    of_object = {"actor": "user:system/admin", "organization": "system"}
    (place, key) = (upload.credentials.bucket, upload.credentials.key)
    with walk.one_line("PresignObject", target=f"read/{place}/{key}", **of_object):
        presigned = admin.internal("PresignObject", place, key, access_mode=1, expires_in_seconds=60)
    with walk.one_line("PresignObject", target=f"read-write/{place}/{made}", **of_object):
        admin.internal("PresignObject", place, made, access_mode=3, expires_in_seconds=60)
    with walk.one_line("ReadObject", target=f"read/{place}/{key}", **of_object):
        admin.internal("ReadObject", place, key, max_bytes=1000)
    secrets.append(presigned.read.uri.split("?")[1])
    of_file = by_boss | {"target": f"objects/{found.file_id}"}
    with walk.one_line("UpdateObject", **of_file):
        boss.object_management("UpdateObject", file_id=found.file_id, tags={"secret": PASSWORD})
    with walk.no_line("UpdateObject"):
        boss.object_management("UpdateObject", file_id=found.file_id, tags={"secret": PASSWORD})
    with walk.one_line("DeleteObject", **of_file):
        boss.object_management("DeleteObject", file_id=found.file_id, reason=PASSWORD)
    with walk.no_line("DeleteObject"):
        boss.object_management("DeleteObject", file_id=found.file_id, reason=PASSWORD)
    with walk.one_line("RestoreObject", **of_file):
        boss.object_management("RestoreObject", file_id=found.file_id)
    with walk.no_line("RestoreObject"):
        boss.object_management("RestoreObject", file_id=found.file_id)
    boss.object_management("DeleteObject", file_id=found.file_id)
    with walk.one_line("PurgeObject", **of_file):
        boss.object_management("PurgeObject", file_id=found.file_id, reason=PASSWORD)
    with walk.one_line("DeleteObjects", **by_boss):
        operation = boss.object_management("DeleteObjects", filter="size<0", reason=PASSWORD).operation.operation_id
    eventually(lambda: boss.object_management("GetObjectOperation", operation_id=operation).operation.status != 1)
    with walk.no_line("CancelObjectOperation"):
        boss.object_management("CancelObjectOperation", operation_id=operation)
    with walk.one_line("UndoObjectOperation", **by_boss):
        boss.object_management("UndoObjectOperation", operation_id=operation)
    with walk.one_line("RestoreObjects", **by_boss):
        boss.object_management("RestoreObjects", filter="size<0")
    with walk.one_line("PurgeObjects", **by_boss):
        boss.object_management("PurgeObjects", filter="size<0", reason=PASSWORD)
    with walk.one_line("SetTrashSettings", target="trash/0", **by_boss):
        boss.object_management("SetTrashSettings", days=0)
    secrets += [upload.credentials.secret, upload.credentials.token, location.read.uri.split("?")[1]]

    with walk.one_line("RemoveDeviceFromSuite", **(by_boss | {"target": device})):
        boss.devices("RemoveDeviceFromSuite", suite=suite, device=device)
    with walk.one_line("DeleteDeviceSuite", **by_boss):
        boss.devices("DeleteDeviceSuite", name=suite)
    with walk.one_line("RetireDevice", **of_device):
        boss.devices("RetireDevice", name=device)
    with walk.no_line("RetireDevice"):
        boss.devices("RetireDevice", name=device)
    with walk.one_line("UnretireDevice", **of_device):
        boss.devices("UnretireDevice", name=device)
    with walk.one_line("DeleteDevice", **by_boss):
        boss.devices("DeleteDevice", name=boss.devices("RegisterDevice").name)
    empty = boss.admin("CreateSite", name=unique("site")).site.site_id
    with walk.one_line("DeleteSite", target=f"sites/{empty}", **by_boss):
        boss.admin("DeleteSite", site_id=empty)

    # Every other method only reads, or is on no listener.
    for path in (
        f"/{file.package}.{service.name}/{method.name}"
        for file in descriptors(protos, tmp_path).file
        for service in file.service
        for method in service.method
    ):
        action = path.rsplit("/", 1)[1]
        if action in walk.seen | ELSEWHERE | READING or action.startswith(("Get", "List")):
            continue
        for listener in ("auth", "gateway", "admin", "device-init"):
            method = gateway.channel(listener).unary_unary(path, lambda _: b"", lambda reply: reply)
            with pytest.raises(grpc.RpcError) as error:
                call(method, None, admin.token)
            assert error.value.code() is grpc.StatusCode.UNIMPLEMENTED, f"{path}: let this test see its line"

    everything = str(log.lines())
    for secret in secrets:
        assert secret and secret not in everything


def test_an_admin_of_the_system_is_named_beside_whom_they_act_for(admin, new_organization, log):
    boss = new_organization()
    admin_there = User(admin.gateway, admin.stubs, admin.token, acting_for=boss.organization)
    site = admin_there.admin("CreateSite", name=unique("site")).site.site_id
    line = log.last(target=f"sites/{site}")
    assert (line["actor"], line["organization"]) == ("user:system/admin", boss.organization)


def test_a_change_that_is_refused_leaves_no_line(admin, fleet, stubs, log):
    before = len(log.lines(target=f"sites/{fleet.site_id}"))
    with refused(stubs, "FAILED_PRECONDITION"):
        admin.admin("DeleteSite", site_id=fleet.site_id)
    assert len(log.lines(target=f"sites/{fleet.site_id}")) == before


def test_audit_line_cannot_be_rewritten(gateway_with, login):
    gateway = gateway_with()
    Fleet.create(login(gateway))
    gateway.stop()
    for statement in ("UPDATE audit SET actor = 'somebody'", "DELETE FROM audit"):
        with pytest.raises(integrity_error(), match="append-only"):
            change(gateway, statement)
    gateway.start()


@pytest.fixture
def command(gateway, tmp_path):
    """Runs `data-gateway`, signed in as the admin of `system`."""
    environment = os.environ | {"DATA_GATEWAY_SESSION": str(tmp_path / "session.json")}

    def start(*words: str, **options) -> subprocess.Popen:
        words = [str(gateway.binary), *words]
        return subprocess.Popen(words, env=environment, text=True, stdout=subprocess.PIPE, **options)

    servers = ["--auth-server", gateway.listeners["auth"], "--server", gateway.listeners["admin"]]
    login = start("login", "--user", "admin", "--password-stdin", *servers, stdin=subprocess.PIPE)
    login.communicate(ADMIN_PASSWORD, timeout=30)
    assert login.returncode == 0
    return start


def test_the_command_shows_the_lines_since_a_time_and_those_that_come(admin, command, log):
    site = admin.admin("CreateSite", name=unique("site")).site.site_id
    # One line, because the columns widen with what later pages show.
    shown, _ = command("audit", "--since", "1h", "--target", f"sites/{site}").communicate(timeout=60)
    (name,) = [each.name for each in admin.admin("ListSites", page_size=1000).sites if each.site_id == site]
    (line,) = [line for line in shown.splitlines() if name in line]
    assert re.split(" {2,}", line)[1:] == ["system", "127.0.0.1", f"admin created the site {name}"]
    header = shown.splitlines()[0]
    assert header.split() == ["AT", "ORGANIZATION", "PEER", "SENTENCE"]
    assert line.index("admin created") == header.index("SENTENCE")
    shown, _ = command("audit", "--output", "wide").communicate(timeout=60)
    assert shown.split()[:4] == ["LINE", "ID", "AT", "ACTOR"]
    wanted = ["--actor", "user:system/*", "--action", "CreateSite", "--target", f"sites/{site}", "--result", "OK"]
    shown, _ = command("audit", "--since", "2020-01-31", *wanted, "--json").communicate(timeout=60)
    assert [json.loads(text)["target"] for text in shown.splitlines()] == [f"sites/{site}"]
    shown, _ = command("audit", *wanted, "--output", "csv").communicate(timeout=60)
    (row,) = csv.DictReader(shown.splitlines())
    assert (row["target"], row["actor"], row["count"]) == (f"sites/{site}", "user:system/admin", "1")
    shown, _ = command("audit", "--actor", "user:*/nobody-*").communicate(timeout=60)
    assert shown == ""
    shown, _ = command("audit", "--since", "2099-01-01T00:00:00Z", "--json").communicate(timeout=60)
    assert shown == ""

    follower = command("audit", "--since", "1h", "--follow", "--json")
    try:
        lines = map(json.loads, follower.stdout)
        seen = [next(lines)]
        while seen[-1]["target"] != f"sites/{site}":
            seen.append(next(lines))
        assert [line["line_id"] for line in seen] == sorted({line["line_id"] for line in seen})
        later = admin.admin("CreateSite", name=unique("site")).site.site_id
        while seen[-1]["target"] != f"sites/{later}":
            seen.append(next(lines))
        newest = log.last(target=f"sites/{later}")
        assert seen[-1]["line_id"] == newest["id"]
        assert {name: seen[-1][name] for name in ("actor", "peer", "count")} == {
            "actor": "user:system/admin",
            "peer": "127.0.0.1",
            "count": 1,
        }
    finally:
        follower.kill()
        follower.wait()
        follower.stdout.close()


def test_filters_are_combined(gateway, stubs, new_organization, tmp_path):
    """By gRPC, REST and the command line: who disabled which device, and what a device did."""
    boss = new_organization()
    fleet = Fleet.create(boss)
    uploader, other = fleet.uploader(display_name="Picker 041"), fleet.uploader(display_name="Picker 042")
    for each in uploader, other:
        boss.devices("DisableDevice", name=f"devices/{each.device_id}")
    boss.devices("EnableDevice", name=f"devices/{uploader.device_id}")
    exchange(gateway, stubs, uploader.credential)
    uploader.sign_in()
    for _ in range(3):
        Upload.create(uploader)
    audit = stubs.auth.AuditServiceStub(gateway.channel("admin"))

    def listed(**fields) -> list:
        reply = call(audit.ListAuditLines, stubs.auth.ListAuditLinesRequest(with_sentences=True, **fields), boss.token)
        assert not reply.has_more
        return list(reply.lines)

    def texts(**fields) -> list[str]:
        return ["".join(part.text for part in line.sentence) for line in listed(**fields)]

    target = {"target": uploader.device_id, "actor_kinds": ["AUDIT_ACTOR_KIND_USER"]}
    assert texts(**target, action="*ableDevice") == [
        "boss disabled the device Picker 041",
        "boss enabled the device Picker 041",
    ]
    assert texts(**target, action_group="AUDIT_ACTION_GROUP_ACCESS", result="OK") == []
    (row,) = listed(actor=f"device:{uploader.device_id}", fold_keys=True)
    assert (row.line_count, row.count, row.action) == (3, 3, "CreateLogicalUpload")
    (sentence,) = texts(actor=f"device:{uploader.device_id}", fold_keys=True)
    assert sentence == "Picker 041 began 3 uploads"
    first = call(
        audit.ListAuditLines, stubs.auth.ListAuditLinesRequest(action="DisableDevice", page_size=1), boss.token
    )
    assert first.has_more
    with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_INVALID_ARGUMENT") as refusal:
        request = stubs.auth.ListAuditLinesRequest(action="EnableDevice", page_token=first.next_page_token)
        call(audit.ListAuditLines, request, boss.token)
    assert "page_token was not issued for this list" in refusal.message
    with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_INVALID_ARGUMENT") as refusal:
        call(audit.ListAuditLines, stubs.auth.ListAuditLinesRequest(target="*" * 9), boss.token)
    assert "target must have at most 8 asterisks" in refusal.message

    query = f"action=Disable*&target={other.device_id}&with_sentences=true&actor_kinds=AUDIT_ACTOR_KIND_USER"
    headers = {"authorization": f"Bearer {boss.token}"}
    response = fetch_url(f"http://{gateway.listeners['web']}/v1/auditLines?{query}", headers=headers)
    (found,) = json.loads(response.body)["lines"]
    assert found["sentence"][-1] == {"text": "Picker 042", "resource": f"devices/{other.device_id}"}

    line = CommandLine(gateway.binary, gateway, tmp_path)
    line.run("login", "--user", "boss", "--organization", boss.organization, "--password-stdin", input=PASSWORD)
    shown = line.run("audit", "--about", "devices", "--target", uploader.device_id, "--action", "*ableDevice").stdout
    assert [text.split("  ")[-1] for text in shown.splitlines()[1:]] == [
        "boss disabled the device Picker 041",
        "boss enabled the device Picker 041",
    ]
    # A table is for people: devices' lines are asked for. Programs read all lines.
    assert "began the upload" not in line.run("audit").stdout
    assert line.run("audit", "--who", "devices").stdout.count("Picker 041 began the upload") == 3
    assert line.run("audit", "--json").stdout.count('"CreateLogicalUpload"') == 3
    assert line.refused(USAGE, "audit", "--who", "robots")


def test_targets_of_a_line_have_their_names(gateway, stubs, new_organization):
    boss, stranger = new_organization(), new_organization()
    uploader = Fleet.create(boss).uploader()
    for number in range(3):
        completed(uploader, content(10 + number), {FILE_NAME_TAG: f"scan-{number}.bin"})
    files = {found.name: found.file_id for found in boss.list_all()}
    boss.objects("RequestDownload", file_ids=list(files.values()))
    boss.objects("RequestDownload", file_ids=[files["scan-0.bin"]], purpose="DOWNLOAD_PURPOSE_VIEW")
    boss.object_management("DeleteObject", file_id=files["scan-1.bin"])
    boss.object_management("DeleteObject", file_id=files["scan-2.bin"])
    boss.object_management("PurgeObject", file_id=files["scan-2.bin"])
    audit = stubs.auth.AuditServiceStub(gateway.channel("admin"))
    request = stubs.auth.ListAuditLinesRequest(action_group="AUDIT_ACTION_GROUP_DOWNLOAD", with_sentences=True)
    downloaded, viewed = call(audit.ListAuditLines, request, boss.token).lines
    assert [part.text for part in downloaded.sentence] == ["boss", " ", "downloaded ", "3 objects"]
    assert (viewed.action, viewed.target) == ("ViewObjects", f"files/{files['scan-0.bin']}")
    assert "".join(part.text for part in viewed.sentence) == "boss viewed the object scan-0.bin"
    (day,) = [day for day in boss.object_management("GetStatistics").days if day.requested_objects]
    assert day.requested_objects == 3, "a view is no download"

    wanted = stubs.auth.ListAuditLineTargetsRequest(line_id=downloaded.line_id)
    targets = call(audit.ListAuditLineTargets, wanted, boss.token).targets
    states = {target.resource.removeprefix("objects/"): (target.display_name, target.state) for target in targets}
    assert states == {
        files["scan-0.bin"]: ("scan-0.bin", 1),
        files["scan-1.bin"]: ("scan-1.bin", 2),
        files["scan-2.bin"]: ("", 3),
    }
    with refused(stubs, "NOT_FOUND") as refusal:
        call(audit.ListAuditLineTargets, wanted, stranger.token)
    assert "does not exist" in refusal.message
    with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_INVALID_ARGUMENT") as refusal:
        call(audit.ListAuditLineTargets, stubs.auth.ListAuditLineTargetsRequest(), boss.token)
    assert "line_id must be at least 1" in refusal.message
    with refused(stubs, "INVALID_ARGUMENT", "DATA_GATEWAY_INVALID_ARGUMENT") as refusal:
        boss.objects("RequestDownload", file_ids=[files["scan-0.bin"]], purpose=7)
    assert "purpose must be 0 or 1" in refusal.message


def test_only_admins_read_the_log(admin, gateway, stubs, new_organization):
    audit = stubs.auth.AuditServiceStub(gateway.channel("admin"))
    boss = new_organization()
    boss.users("CreateUser", user_name="op", password=PASSWORD, role="operator")
    operator = User.login(gateway, stubs, boss.organization, "op", PASSWORD)
    with refused(stubs, "PERMISSION_DENIED"):
        call(audit.ListAuditLines, stubs.auth.ListAuditLinesRequest(), operator.token)
    lines = call(audit.ListAuditLines, stubs.auth.ListAuditLinesRequest(), boss.token).lines
    assert {line.organization for line in lines} == {boss.organization}
    assert {line.action for line in lines} >= {"CreateUser", "Login"}
