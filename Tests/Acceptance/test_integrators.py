"""Tests docs/integrators.md: every curl line works, in the order of the file, and every RPC is included."""

import os
import re
import subprocess
from pathlib import Path

import httpx
import pytest
from support import process, rest_lines
from support.gateway import ADMIN_PASSWORD, eventually
from support.parties import Fleet, call

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs/integrators.md"
#: The default addresses of the listeners, which the document uses.
ADDRESSES = {
    "127.0.0.1:50051": "auth",
    "127.0.0.1:50053": "gateway",
    "127.0.0.1:50054": "admin",
    "127.0.0.1:50057": "device-init",
    "127.0.0.1:50058": "internal",
    "127.0.0.1:50070": "web",
}


def rpcs() -> set[str]:
    """Returns every RPC of protos/ as a path, without those of apps."""
    found = set()
    apps = ROOT / "protos/apps"
    for path in (path for path in (ROOT / "protos").rglob("*.proto") if apps not in path.parents):
        text = path.read_text()
        package = re.search(r"(?m)^package ([\w.]+);", text)
        for service, body in re.findall(r"(?ms)^service (\w+) \{(.*?)^\}", text):
            found |= {f"{package[1]}.{service}/{method}" for method in re.findall(r"rpc (\w+)\(", body)}
    return found


def script() -> str:
    """Returns the curl blocks, with each line at its number in the document, so that bash reports the document's line
    for a failure.
    """
    lines, is_shell = [], False
    for line in DOCUMENT.read_text().splitlines():
        if line.startswith("```"):
            is_shell = line == "```sh"
            lines.append("")
        else:
            lines.append(line if is_shell else "")
    return "\n".join(lines)


#: Stands for a browser whose user signs in at the provider: prints the address to which the provider returns it.
SIGN_IN = """#!/bin/sh
exec curl -sS -o /dev/null -w '%{redirect_url}' -d sub=olga "$1"
"""


def identity_token(provider: str, subject: str, **claims: str) -> str:
    """Returns a token that the provider issues to the client `data-gateway` for a person."""
    httpx.put(f"{provider}/users/{subject}", json=claims).raise_for_status()
    client = {"client_id": "data-gateway", "redirect_uri": "http://127.0.0.1:8000/"}
    requested = client | {"response_type": "code", "scope": "openid"}
    page = httpx.post(f"{provider}/oauth2/authorize", params=requested, data={"sub": subject})
    sent = client | {"grant_type": "authorization_code", "code": httpx.URL(page.headers["Location"]).params["code"]}
    reply = httpx.post(f"{provider}/oauth2/token", data=sent, auth=("data-gateway", "a secret of some length"))
    return reply.raise_for_status().json()["id_token"]


@pytest.fixture
def furnished(gateway_with, login, stubs, tmp_path, provider):
    """A gateway that fulfills the prerequisites of the lines: the internal listener, a folder for copies, an event
    that could not be delivered, an identity provider, and tokens of it.
    """
    (tmp_path / "copies").mkdir()
    secret = tmp_path / "secret"
    secret.write_text("a secret of some length")
    secret.chmod(0o600)
    (tmp_path / "sign-in").write_text(SIGN_IN)
    (tmp_path / "sign-in").chmod(0o755)
    (tmp_path / "identity-token").write_text(identity_token(provider, "pia"))
    (tmp_path / "workload-token").write_text(identity_token(provider, "job", repository="acme/robots"))
    corp = {
        "issuer": provider,
        "audiences": ["data-gateway"],
        "client_id": "data-gateway",
        "secret_file": str(secret),
        "users": {"organization": "system", "default_role": "viewer", "create": True},
        "service_accounts": [{"account": "indexer", "claims": {"repository": "acme/robots"}}],
    }
    gateway = gateway_with(
        {
            "listeners": {"internal": "127.0.0.1:0"},
            "webhooks": {"nobody": {"url": "http://127.0.0.1:1/", "secret_file": str(secret)}},
            "copy": {"destinations": [{"kind": "directory", "root": str(tmp_path / "copies")}]},
            "events": {"give_up_seconds": 1, "longest_retry_seconds": 1},
            "identity": {"providers": {"corp": corp}},
        }
    )
    admin = login(gateway)
    Fleet.create(admin).uploader()
    events = stubs.events.EventServiceStub(gateway.channel("admin"))
    request = stubs.events.ListDeadLettersRequest()
    eventually(lambda: call(events.ListDeadLetters, request, admin.token).dead_letters)
    return gateway


@pytest.mark.sqlite
def test_every_line_of_curl_works(furnished, tmp_path):
    text = script()
    for address, listener in ADDRESSES.items():
        text = text.replace(address, furnished.listeners[listener])
    text = text.replace("/srv/copies", str(tmp_path / "copies"))
    (tmp_path / "data").mkdir()
    (tmp_path / "data/initial-admin-password").write_text(ADMIN_PASSWORD + "\n")
    (tmp_path / "integrators.sh").write_text(text)
    command = ["bash", "-euE", "-o", "pipefail", "-c"]
    # A failing call within $(…) fails the line; jq returns `null` for a missing field.
    command += ["trap 'echo \"docs/integrators.md:$LINENO: $BASH_COMMAND\" >&2' ERR; source ./integrators.sh"]
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = process.run(*command, cwd=tmp_path, env=environment)
    assert done.stdout.rstrip().endswith("}") and "a rob" in done.stdout


def called() -> set[str]:
    """Returns the RPCs that the lines call, by REST or, for streams of clients, by Connect."""
    lines = script().splitlines()
    return {call.rpc for line in lines if (call := rest_lines.parse(line))} | set(
        re.findall(r"curl [^|]*?/([a-z0-9_.]+\.[A-Za-z]+/[A-Za-z]+)", script())
    )


#: The calls that end the gateway, or need one that has ended: docs/backup.md has their lines, and test_restore.py makes them.
ENDING = {
    f"archebase.data_gateway.v1.RestoreService/{name}"
    for name in ("ApplyArchive", "ReturnToPreviousData", "DeletePreviousData")
}


@pytest.mark.parametrize("path", sorted(set(rpcs()) - ENDING))
def test_every_rpc_has_a_line_of_curl(path):
    assert path in called(), f"{path} has no line of curl in {DOCUMENT.name}"


def test_the_lines_of_grpcurl_make_the_same_calls():
    done = subprocess.run([ROOT / "scripts/grpcurl-lines", "--check"])
    assert done.returncode == 0, "run scripts/grpcurl-lines"
