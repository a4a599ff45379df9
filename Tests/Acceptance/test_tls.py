"""TLS at the gRPC listeners, with grpcio, Python's ssl module and temporary certificates."""

import signal
import socket
import ssl
import subprocess

import grpc
import pytest
from cryptography import x509
from support.certificates import Authority
from support.gateway import ADMIN_PASSWORD, eventually


@pytest.fixture(scope="module")
def secured(gateway_with, authority):
    return gateway_with({"tls": authority.tls("auth", "gateway", "web")})


def channel(gateway, listener, credentials) -> grpc.Channel:
    port = gateway.listeners[listener].rsplit(":", 1)[1]
    return grpc.secure_channel(f"localhost:{port}", credentials, options=[("grpc.use_local_subchannel_pool", 1)])


def check(stubs, over: grpc.Channel) -> int:
    return stubs.health.HealthStub(over).Check(stubs.health.HealthCheckRequest(), timeout=20).status


def handshake(gateway, listener, protocols=("h2",), ciphers=None, **settings):
    """Returns the served certificate's serial number, and the protocol that ALPN selected."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(list(protocols))
    if ciphers:
        context.set_ciphers(ciphers)
    for name, value in settings.items():
        setattr(context, name, value)
    host, port = gateway.listeners[listener].rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=20) as plain, context.wrap_socket(plain) as secure:
        served = x509.load_der_x509_certificate(secure.getpeercert(binary_form=True))
        # With TLS 1.3 a refusal arrives at the first read.
        secure.settimeout(20)
        assert secure.recv(9)[3:4] == b"\x04", "no SETTINGS"
        return served.serial_number, secure.selected_alpn_protocol(), secure.version()


def test_calls_use_tls_for_small_and_large_messages(secured, authority, stubs):
    with channel(secured, "auth", grpc.ssl_channel_credentials(authority.pem)) as over:
        assert check(stubs, over) == 1
        large = stubs.auth.ExchangeCredentialRequest(credential="x" * 2_000_000)
        with pytest.raises(grpc.RpcError) as refusal:
            stubs.auth.AuthServiceStub(over).ExchangeCredential(large, timeout=20)
        assert refusal.value.code() is grpc.StatusCode.UNAUTHENTICATED


def test_web_listener_uses_tls(secured, authority):
    address = f"https://localhost:{secured.listeners['web'].rsplit(':', 1)[1]}"
    command = ["curl", "--silent", "--cacert", str(authority.path), "-d", "{}", "-H", "Content-Type: application/json"]
    response = subprocess.run([*command, f"{address}/grpc.health.v1.Health/Check"], capture_output=True, check=True)
    assert response.stdout == b'{"status":"SERVING"}'


def test_listener_that_is_not_named_uses_cleartext(secured, stubs):
    assert check(stubs, secured.channel("admin")) == 1
    with pytest.raises(grpc.RpcError) as refusal:
        check(stubs, secured.channel("gateway"))
    assert refusal.value.code() is grpc.StatusCode.UNAVAILABLE


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_both_tls_versions_are_served(secured, version):
    _, alpn, negotiated = handshake(secured, "auth", minimum_version=version, maximum_version=version)
    assert (alpn, negotiated.replace("v", "").replace(".", "")) == (
        "h2",
        version.name.replace("v", "").replace("_", ""),
    )


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion.TLSv1")
def test_older_versions_are_refused(secured):
    # The client would accept: the server refuses.
    old = {"minimum_version": ssl.TLSVersion.TLSv1, "maximum_version": ssl.TLSVersion.TLSv1_1}
    with pytest.raises(ssl.SSLError, match="(?i)protocol.version|unsupported.protocol"):
        handshake(secured, "auth", ciphers="DEFAULT:@SECLEVEL=0", **old)


@pytest.mark.parametrize("protocols", [("http/1.1",), ()], ids=["http/1.1", "none"])
def test_client_without_h2_is_refused(secured, protocols):
    with pytest.raises((ssl.SSLError, OSError, AssertionError)):
        handshake(secured, "auth", protocols)


def test_only_clients_with_a_certificate_are_served(gateway_with, tmp_path, authority, stubs):
    clients = Authority(tmp_path, "clients")
    gateway = gateway_with({"tls": authority.tls("auth") | {"client_authorities": str(clients.path)}})
    client_certificate, client_key, _ = clients.issue("robot")
    known = grpc.ssl_channel_credentials(authority.pem, client_key.read_bytes(), client_certificate.read_bytes())
    with channel(gateway, "auth", known) as over:
        assert check(stubs, over) == 1
    with channel(gateway, "auth", grpc.ssl_channel_credentials(authority.pem)) as over:
        with pytest.raises(grpc.RpcError) as refusal:
            check(stubs, over)
        assert refusal.value.code() is grpc.StatusCode.UNAVAILABLE


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_client_with_a_certificate_resumes_its_session(gateway_with, tmp_path, authority, version):
    clients = Authority(tmp_path, "clients")
    gateway = gateway_with({"tls": authority.tls("auth") | {"client_authorities": str(clients.path)}})
    context = ssl.create_default_context(cafile=authority.path)
    context.check_hostname = False
    context.set_alpn_protocols(["h2"])
    context.load_cert_chain(*clients.issue("robot")[:2])
    context.minimum_version = context.maximum_version = version
    host, port = gateway.listeners["auth"].rsplit(":", 1)
    session, reused = None, []
    for _ in range(2):
        with socket.create_connection((host, int(port)), timeout=20) as plain:
            with context.wrap_socket(plain, session=session) as secure:
                assert secure.recv(9)[3:4] == b"\x04", "no SETTINGS"
                session = secure.session
                reused.append(secure.session_reused)
    assert reused == [False, True]


def test_sighup_shows_the_new_certificate_and_drops_no_call(gateway_with, tmp_path, stubs):
    authority = Authority(tmp_path, "authority")
    certificate, key, first = authority.issue("server")
    gateway = gateway_with({"tls": {"certificate": str(certificate), "key": str(key), "listeners": ["auth"]}})
    with channel(gateway, "auth", grpc.ssl_channel_credentials(authority.pem)) as over:
        watch = stubs.health.HealthStub(over).Watch(stubs.health.HealthCheckRequest(), timeout=60)
        assert next(watch).status == 1
        assert handshake(gateway, "auth")[0] == first

        key.write_text("no key")
        gateway.process.send_signal(signal.SIGHUP)
        eventually(lambda: "reload failed" in gateway.stderr)
        assert handshake(gateway, "auth")[0] == first

        second = authority.issue("server")[2]
        gateway.process.send_signal(signal.SIGHUP)
        eventually(lambda: handshake(gateway, "auth")[0] == second)
        # The earlier connection continues.
        assert check(stubs, over) == 1
        watch.cancel()


def test_a_reload_takes_all_files_or_none(gateway_with, tmp_path):
    authority = Authority(tmp_path, "authority")
    certificate, key, first = authority.issue("server")
    (programs := tmp_path / "programs.pem").write_bytes(authority.pem)
    gateway = gateway_with(
        {
            "tls": {"certificate": str(certificate), "key": str(key), "listeners": ["auth", "internal"]},
            "listeners": {"internal": "127.0.0.1:0"},
            "internal": {"client_authorities": str(programs)},
        }
    )
    second = authority.issue("server")[2]
    programs.write_text("no certificate")
    gateway.process.send_signal(signal.SIGHUP)
    eventually(lambda: "reload failed" in gateway.stderr)
    assert [handshake(gateway, listener)[0] for listener in ("auth", "internal")] == [first, first]

    programs.write_bytes(authority.pem)
    gateway.process.send_signal(signal.SIGHUP)
    for listener in ("auth", "internal"):
        eventually(lambda: handshake(gateway, listener)[0] == second)


def test_a_certificate_that_cannot_be_used_is_named(gateway_with, tmp_path, authority):
    certificate, _, _ = authority.issue("server")
    with pytest.raises(AssertionError, match="missing.key"):
        gateway_with({"tls": {"certificate": str(certificate), "key": str(tmp_path / "missing.key")}})


def test_command_line_uses_tls(secured, authority, binary, tmp_path):
    other = Authority(tmp_path, "other")
    port = secured.listeners["auth"].rsplit(":", 1)[1]

    def login(host: str, ca: str):
        environment = {
            "DATA_GATEWAY_SESSION": str(tmp_path / "session.json"),
            "DATA_GATEWAY_CA": ca,
            "PATH": "/usr/bin",
        }
        command = [binary, "login", "--user", "admin", "--password-stdin", "--auth-server", f"{host}:{port}"]
        return subprocess.run(
            command, input=ADMIN_PASSWORD + "\n", capture_output=True, text=True, env=environment, timeout=30
        )

    assert login("localhost", str(authority.path)).returncode == 0
    for refused, reason in (
        (login("localhost", str(other.path)), "set DATA_GATEWAY_CA to the PEM file of the authority that signed it"),
        (login("127.0.0.1", str(authority.path)), "the server's certificate is for localhost, not for 127.0.0.1; use"),
    ):
        assert (refused.returncode, reason in refused.stderr) == (3, True), refused.stderr
