"""Tests of the OpenAPI document: it is valid, the gateway's responses agree with it, and a generated client works."""

import importlib
import json
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator
from support import described_calls, process
from support.apps import NAMES, App, enabled
from support.gateway import ADMIN_PASSWORD
from support.parties import Fleet
from support.uploads import completed, content

ROUTES = Path(__file__).with_name("routes.txt")


@pytest.fixture(scope="module")
def web(gateway) -> str:
    return f"http://{gateway.listeners['web']}"


@pytest.fixture(scope="module")
def document(web) -> dict:
    with urllib.request.urlopen(f"{web}/openapi.json") as reply:
        assert reply.headers["Content-Type"] == "application/json"
        return json.load(reply)


def test_a_validator_accepts_the_document(document):
    assert document["openapi"] == "3.1.0"
    OpenAPIV31SpecValidator(document).validate()


def test_every_request_of_the_listener_is_described(document, web):
    described = {
        operation["operationId"].replace("_", "/", 1)
        for item in document["paths"].values()
        for operation in item.values()
    }
    tags = {tag["name"] for tag in document["tags"]}
    for line in ROUTES.read_text().splitlines():
        method = line.split()[2].rsplit(".", 1)[1]
        assert (method in described) == (method.split("/")[0] in tags), line
    assert "DataGatewayService" not in tags and {"AuthService", "BackupService", "Health"} <= tags


def test_a_required_body_is_needed(document, web, gateway, login):
    """A PUT or PATCH without its body would reset every field, and some methods of POST need a member."""
    headers = {"Authorization": f"Bearer {login(gateway).token}"}
    required = set()
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if not operation.get("requestBody", {}).get("required"):
                continue
            required.add(method)
            request = urllib.request.Request(web + path.replace("{", "").replace("}", ""), method=method.upper())
            request.headers = headers
            with pytest.raises(urllib.error.HTTPError) as refusal:
                urllib.request.urlopen(request)
            error = json.load(refusal.value)["error"]
            assert error["status"] == "INVALID_ARGUMENT", (method, path, error)
            # The path's own parameters are checked first. A POST without a body is one with an empty object.
            assert method == "post" or "the body is missing" in error["message"] or "in the path" in error["message"], (
                method,
                path,
                error,
            )
    assert required == {"put", "patch", "post"}


def test_open_calls_need_no_token(document):
    login = document["paths"]["/v1/sessions"]["post"]
    assert login["security"] == []
    assert "security" not in document["paths"]["/v1/sites"]["get"]
    assert login["requestBody"]["content"]["application/json"]["example"]["userName"]


def test_the_reference_page_has_every_operation(document, web):
    with urllib.request.urlopen(f"{web}/reference") as reply:
        assert "default-src 'none'" in reply.headers["Content-Security-Policy"]
        page = reply.read().decode()
    for path in document["paths"]:
        assert f"<code>{path}</code>" in page
    assert "<script" not in page and "http://" not in page and "https://" not in page


def test_answers_agree_with_the_document(gateway_with, login, tmp_path, is_full):
    """schemathesis makes requests from the document: no response is an error of the gateway, and each agrees with it."""
    # The requests may delete anything, so the test has its own gateway.
    gateway = gateway_with()
    # A backup would delay the gateway; an ended session, a new key or a confirmed clock would affect the rest of the run
    # (schemathesis finds the id of its own session, and the name of its own user, in lists). Wrong passwords, codes and invitations are
    # limited, and then answered with UNAVAILABLE.
    limited = ("/v1/account:changePassword", "/v1/account/secondFactor:enroll", "/v1/tokens:exchangeWorkload")
    visits = ("/v1/invitations:get", "/v1/invitations:accept")
    restore = ("/v1/restore:stage", "/v1/restore/archives/{stagingId}")
    ending = ("/v1/sessions:end", "/v1/sessions/{sessionId}", "/v1/signingKeys:rotate", "/v1/clock:confirm")
    own_user = ("UserAuthService_UpdateUser", "UserAuthService_DeleteUser")
    user = login(gateway)
    described_calls.check(
        f"http://{gateway.listeners['web']}",
        tmp_path,
        is_full,
        token=user.token,
        but=("/v1/backup", *own_user, *ending, *limited, *visits, *restore),
        checks_rules=True,
    )
    user.list_all()


@pytest.mark.skipif(not NAMES, reason="there are no apps")
def test_answers_of_apps_agree_with_their_document(gateway_with, tmp_path, is_full):
    gateway = gateway_with(enabled())
    document = App(gateway).get("/openapi.json").json
    OpenAPIV31SpecValidator(document).validate()
    # The clients of some apps expect status 500 for every failure, and the document says so.
    failing = [
        path
        for path, item in document["paths"].items()
        if any("500" in operation["responses"] for operation in item.values())
    ]
    url = f"http://{gateway.listeners['apps']}"
    described_calls.check(url, tmp_path, is_full, but=failing)
    if failing:
        described_calls.check(url, tmp_path, is_full, only=failing, is_failure_described=True)


@pytest.fixture(scope="module")
def client(document, tmp_path_factory):
    """Returns the package that openapi-python-client generates from the document."""
    folder = tmp_path_factory.mktemp("client")
    (folder / "openapi.json").write_text(json.dumps(document))
    (folder / "config.yml").write_text(
        "package_name_override: gateway_client\nproject_name_override: client\npost_hooks: []\n"
    )
    program = Path(sys.executable).with_name("openapi-python-client")
    command = [program, "generate", "--path", folder / "openapi.json"]
    command += ["--config", folder / "config.yml", "--output-path", folder / "made", "--meta", "setup"]
    done = process.run(*command, cwd=folder)
    assert "WARNING" not in done.stdout + done.stderr, done.stdout + done.stderr
    sys.path.insert(0, str(folder / "made"))
    yield lambda name: importlib.import_module(f"gateway_client.{name}")
    sys.path.remove(str(folder / "made"))


def test_a_generated_client_signs_in_lists_and_downloads(client, gateway, web, admin):
    data = content(70_000)
    file_id = completed(Fleet.create(admin).uploader(), data).complete().file_id
    api = lambda service, method: client(f"api.{service}.{service}_{method}")  # noqa: E731
    models = client("models")
    anonymous = client("client").Client(base_url=web)
    body = models.LoginRequest(organization="system", user_name="admin", password=ADMIN_PASSWORD)
    session = api("auth_service", "login").sync(client=anonymous, body=body)
    user = client("client").AuthenticatedClient(base_url=web, token=session.access_token)
    listed = api("data_gateway_object_service", "list_objects").sync(client=user, page_size=100)
    assert file_id in {each.file_id for each in listed.objects}
    wanted = models.RequestDownloadRequest(file_ids=[file_id])
    reply = api("data_gateway_object_service", "request_download").sync(client=user, body=wanted)
    with urllib.request.urlopen(reply.files[0].read.uri) as object:
        assert object.read() == data
    refused = api("admin_auth_service", "get_site").sync(client=user, site_id="999999")
    assert refused.error.code == 404
