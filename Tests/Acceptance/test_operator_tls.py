"""The command line of operators with listeners of which some use TLS, whose certificate is for another host than theirs."""

import http.server
import json
import re
import socket
import subprocess
import threading

import pytest
from support.client import Device, Network
from support.commands import OK, REFUSED, UNREACHABLE, USAGE, CommandLine
from support.gateway import ADMIN_PASSWORD
from support.parties import Fleet
from support.terminal import Shell, Terminal

HOST = "gateway.test"
LISTENERS = ("auth", "gateway", "admin", "device-init", "object-store", "web", "ops")


@pytest.fixture(scope="module")
def tls(authority):
    return authority.tls("auth", "gateway", hosts=(HOST,))


@pytest.fixture(scope="module")
def gateway(gateway_with, tls):
    return gateway_with({"tls": tls})


@pytest.fixture
def operator(binary, gateway, authority, tmp_path):
    """A command line that knows no address of the gateway."""
    operator = CommandLine(binary, gateway, tmp_path)
    for name in ("AUTH", "ADMIN", "GATEWAY"):
        del operator.environment[f"DATA_GATEWAY_{name}"]
    operator.environment["DATA_GATEWAY_CA"] = str(authority.path)
    return operator


def sign_in(operator, *options: str, **others) -> subprocess.CompletedProcess:
    return operator.run("login", "--user", "admin", "--password-stdin", *options, input=ADMIN_PASSWORD, **others)


def test_one_address_is_enough(operator, gateway):
    done = sign_in(operator, "--host", gateway.listeners["web"])
    assert done.returncode == OK, done.stderr
    session = operator.json("whoami")
    assert session["auth_server"] == f"https://{gateway.listeners['auth']}"
    assert session["admin_server"] == f"http://{gateway.listeners['admin']}"
    assert session["gateway_server"] == f"https://{gateway.listeners['gateway']}"
    # The session keeps the authorities and the name.
    del operator.environment["DATA_GATEWAY_CA"]
    for command in ("site list", "ls", "account show", "status"):
        assert operator.run(*command.split()).returncode == OK, command
    assert (
        operator.json("device", "config", operator.json(*registration(operator))["device_id"])["endpoints"]["auth"][
            "scheme"
        ]
        == "https"
    )


def registration(operator) -> list[str]:
    site = operator.json("site", "create", f"plant {operator.session}")["site_id"]
    suite = operator.json("device", "suite", "create", "--display-name", "rovers", "--site", str(site))["name"]
    return ["device", "register", "260101-000001", "--suite", suite]


def test_address_of_each_listener_may_be_cleartext_at_loopback(operator, gateway):
    """As with an SSH forward: a listener at a loopback address may be cleartext, though the authorities are set."""
    done = sign_in(operator, "--auth-server", gateway.listeners["auth"], "--tls-name", HOST)
    assert done.returncode == OK, done.stderr
    for options in ([], ["--tls-name", HOST]):
        done = operator.run("site", "list", "--server", gateway.listeners["admin"], *options)
        assert done.returncode == OK, done.stderr
        done = operator.run("ls", "--server", gateway.listeners["gateway"], *options)
        assert done.returncode == OK, done.stderr


def test_listener_without_tls_is_named(operator, gateway):
    operator.environment["DATA_GATEWAY_DEVICE_DIR"] = str(operator.session.parent / "device")
    given = f"https://{gateway.listeners['admin']}"
    output = sign_in(operator, "--auth-server", given).stderr
    explanation = (
        f"{gateway.listeners['admin']} is not available: the server does not use TLS at this port: use http://"
    )
    assert explanation in output
    assert sign_in(operator, "--host", gateway.listeners["web"]).returncode == OK
    for command in (
        ("site", "list", "--server", given),
        ("ls", "--server", given),
        ("init", "260101-000009", "--auth", given, "--gateway", given, "--device-init", given),
    ):
        assert explanation in operator.refused(UNREACHABLE, *command)


def test_port_to_forward_is_named_with_its_option(operator, gateway):
    output = sign_in(operator, "--auth-server", "nosuch.invalid:50051")
    assert output.returncode == UNREACHABLE
    assert output.stderr == "data-gateway: cannot reach nosuch.invalid:50051: the host name cannot be resolved\n"
    output = sign_in(operator, "--auth-server", "0.0.0.0:1").stderr
    assert "if it listens on loopback, forward its port (ssh -L 1:127.0.0.1:1 HOST) and use --auth-server" in output
    assert sign_in(operator, "--host", gateway.listeners["web"]).returncode == OK
    output = operator.refused(UNREACHABLE, "site", "list", "--server", "0.0.0.0:1")
    assert "forward its port (ssh -L 1:127.0.0.1:1 HOST) and use --server 127.0.0.1:1" in output


def test_certificate_without_the_object_stores_name_is_explained(binary, gateway_with, login, authority, tls, tmp_path):
    network = Network(gateway_with, {"tls": tls | {"listeners": ["object-store"]}})
    device = Device(binary, network, tmp_path / "device", environment={"DATA_GATEWAY_CA": str(authority.path)})
    try:
        assert device.init(Fleet.create(login(network.gateway)).register().device_id).returncode == OK
        (tmp_path / "b.txt").write_text("b")
        output = device.refused(REFUSED, "upload", tmp_path / "b.txt")
        device.environment.clear()
        unknown = device.refused(REFUSED, "upload", tmp_path / "b.txt")
    finally:
        network.close()
    assert "b.txt: the server's certificate is not accepted: " in unknown
    assert (
        f" ({network.store.address}); set DATA_GATEWAY_CA to the PEM file of the authority that signed it\n" in unknown
    )
    assert f"b.txt: the server's certificate is for {HOST}, not for the host of {network.store.address}\n" in output


def test_name_missing_in_the_certificate_is_explained(operator, gateway):
    output = sign_in(operator, "--auth-server", gateway.listeners["auth"])
    assert output.returncode == UNREACHABLE
    assert f"the server's certificate is for {HOST}, not for 127.0.0.1; use one of these names" in output.stderr
    assert "--tls-name" in output.stderr
    output = sign_in(operator, "--host", gateway.listeners["web"], "--tls-name", "other.test")
    assert f"the server's certificate is for {HOST}, not for other.test" in output.stderr


def test_untrusted_authority_is_explained(operator, gateway):
    del operator.environment["DATA_GATEWAY_CA"]
    output = sign_in(operator, "--host", gateway.listeners["web"])
    assert output.returncode == UNREACHABLE
    assert "set DATA_GATEWAY_CA to the PEM file of the authority that signed it" in output.stderr


def test_the_certificate_itself_is_an_authority(operator, gateway, tls):
    operator.environment["DATA_GATEWAY_CA"] = tls["certificate"]
    assert sign_in(operator, "--host", gateway.listeners["web"]).returncode == OK


def test_wrong_scheme_of_the_web_listener_is_explained(operator, gateway, gateway_with, tls):
    output = sign_in(operator, "--host", f"https://{gateway.listeners['web']}")
    # The listener closes the connection after its answer, which may be lost with the connection then.
    assert re.search("does not use TLS at this port: use http://|use http:// if it does not use TLS", output.stderr)
    secured = gateway_with({"tls": tls | {"listeners": ["web", "auth"]}})
    output = sign_in(operator, "--host", f"http://{secured.listeners['web']}")
    assert (output.returncode, "use https:// if it uses TLS" in output.stderr) == (UNREACHABLE, True)
    output = sign_in(operator, "--host", f"https://{secured.listeners['web']}")
    assert f"the server's certificate is for {HOST}, not for the host of {secured.listeners['web']}" in output.stderr
    assert sign_in(operator, "--host", f"https://{secured.listeners['web']}", "--tls-name", HOST).returncode == OK
    assert operator.run("site", "list").returncode == OK
    del operator.environment["DATA_GATEWAY_CA"]
    output = sign_in(operator, "--host", f"https://{secured.listeners['web']}", "--tls-name", HOST)
    assert "the server's certificate is not accepted: " in output.stderr and "set DATA_GATEWAY_CA to " in output.stderr
    assert "check that --host" not in output.stderr


def test_server_that_ends_the_handshake_is_explained(operator):
    def accept() -> None:
        client, _ = server.accept()
        with client:
            client.recv(4096)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=accept)
        thread.start()
        output = sign_in(operator, "--host", f"https://127.0.0.1:{server.getsockname()[1]}").stderr
        thread.join()
    assert "closed the connection during the TLS handshake: use http:// if it does not use TLS" in output


@pytest.mark.parametrize("host", ["gateway.test/path", "http://", "ftp://gateway.test"])
def test_malformed_host_is_refused(operator, host):
    assert "[http[s]://]HOST[:PORT]" in sign_in(operator, "--host", host).stderr
    assert sign_in(operator, "--host", host).returncode == USAGE


def test_the_last_login_is_named(operator, gateway):
    closed = "https://127.0.0.1:1"
    assert sign_in(operator, "--host", gateway.listeners["web"]).returncode == OK
    session = json.loads(operator.session.read_text())
    operator.session.write_text(json.dumps(session | {"auth_server": closed}))
    output = sign_in(operator)
    assert (
        "cannot reach 127.0.0.1:1" in output.stderr and "that of the last login: --host names another" in output.stderr
    )


class Document(http.server.BaseHTTPRequestHandler):
    """A web listener whose document the test defines."""

    def do_GET(self):
        body = json.dumps(self.server.document).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def test_document_of_an_earlier_version_is_accepted(operator, gateway):
    """It names neither hosts nor the certificate."""
    server = http.server.HTTPServer(("127.0.0.1", 0), Document)
    ports = {name: int(gateway.listeners[name].rsplit(":", 1)[1]) for name in ("auth", "admin")}
    server.document = {
        "version": "0.1.0",
        "listeners": {"auth": {"port": ports["auth"], "tls": True}, "admin": {"port": ports["admin"], "tls": False}},
    }
    threading.Thread(target=server.serve_forever, daemon=True).start()
    place = f"http://127.0.0.1:{server.server_port}"
    assert "certificate is for" in sign_in(operator, "--host", place).stderr
    assert sign_in(operator, "--host", place, "--tls-name", HOST).returncode == OK
    assert operator.run("site", "list").returncode == OK
    server.shutdown()


def test_document_names_hosts_and_certificate(gateway):
    shown = subprocess.run(
        ["curl", "-s", f"http://{gateway.listeners['web']}/.well-known/data-gateway"], capture_output=True, check=True
    )
    document = json.loads(shown.stdout)
    assert document["certificate_names"] == [HOST]
    assert {name: (each["host"], each["tls"]) for name, each in document["listeners"].items()} == {
        "auth": ("127.0.0.1", True),
        "gateway": ("127.0.0.1", True),
        "admin": ("127.0.0.1", False),
        "device-init": ("127.0.0.1", False),
    }


@pytest.mark.parametrize("listeners", [["auth", "gateway"], ["auth", "gateway", "admin", "web"]])
def test_the_greeting_has_a_line_that_works(binary, tmp_path, tls, listeners):
    (tmp_path / "gateway.json5").write_text(json.dumps({"tls": tls | {"listeners": listeners}}))
    options = [word for name in LISTENERS for word in (f"--{name}-listen", "127.0.0.1:0")]
    environment = {"PATH": f"{binary.parent}:/usr/bin:/bin", "HOME": str(tmp_path), "TERM": "xterm"}
    serve = ["data-gateway", "serve", "--data-dir", "./data", "--config", "gateway.json5", *options]
    terminal = Terminal.running(serve, environment, tmp_path, columns=400)
    terminal.wait_for("Ctrl-C")
    greeting = dict(re.findall(r"^  (\w[\w -]*?)  +(.+)$", terminal.text, re.M))
    shell = Shell(environment, tmp_path)
    assert "signed in as admin" in shell.run(greeting["sign in"])
    for command in ("site list", "ls"):
        assert "no " in shell.run(f"data-gateway {command}")
    shell.close()
    terminal.type("\x03")
    assert terminal.process.wait(60) == 0
    terminal.closed()


def test_the_check_notes_what_will_not_work(binary, tmp_path, tls):
    configuration = {
        "listeners": {
            "auth": "0.0.0.0:50051",
            "gateway": "192.0.2.8:50053",
            "device_init": "0.0.0.0:50057",
            "object_store": "0.0.0.0:50080",
        },
        "tls": {name: tls[name] for name in ("certificate", "key")},
        "object_store": {"public_endpoint": "https://192.0.2.7:50080"},
        "device_init": {"reinit": "window"},
    }
    (tmp_path / "gateway.json5").write_text(json.dumps(configuration))
    check = [binary, "config", "check", "--config", tmp_path / "gateway.json5"]
    done = subprocess.run(check, capture_output=True, text=True, timeout=30, check=True)
    notes = [line.removeprefix("note: ") for line in done.stdout.splitlines()[1:]]
    assert len(notes) == 5, notes
    for note, text in zip(
        notes,
        (
            f"clients refuse the host 192.0.2.7 of object_store.public_endpoint: the certificate has {HOST}",
            f"clients refuse the certificate at 192.0.2.8:50053, the gateway listener unless they use --tls-name {HOST}",
            "this machine's authorities do not verify the certificate",
            "the certificate expires at 20",
            "ssh -L 50054:127.0.0.1:50054 -L 50070:127.0.0.1:50070",
        ),
        strict=True,
    ):
        assert text in note
    done = subprocess.run([*check, "--json"], capture_output=True, text=True, timeout=30, check=True)
    assert json.loads(done.stdout)["notes"] == notes


def test_session_of_an_earlier_version_is_accepted(operator, gateway):
    """It has addresses without a scheme."""
    assert sign_in(operator, "--host", gateway.listeners["web"]).returncode == OK
    session = json.loads(operator.session.read_text())
    for name in ("auth_server", "admin_server", "gateway_server"):
        session[name] = session[name].split("://")[1]
    operator.session.write_text(json.dumps(session))
    for command in ("site list", "ls", "session list"):
        assert operator.run(*command.split()).returncode == OK, command
    operator.session.write_text(json.dumps(session | {"auth_server": "nonsense"}))
    assert "is not a session file" in operator.refused(REFUSED, "ls")
