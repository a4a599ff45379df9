"""The fixtures of the acceptance tests: a running gateway for the session, and parties of its own for each test."""

import http.server
import os
import ssl
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from support import database_engine, object_engine, package, sql_recorder
from support import stubs as stubs_module
from support.apps import ORIGIN
from support.browser import DESKTOP, Browser
from support.certificates import Authority
from support.client import Device, Network, SignedIn
from support.commands import CommandLine
from support.companions import pair_of, registrar
from support.gateway import ADMIN_PASSWORD, Gateway
from support.impostor import Impostor
from support.interop import InteropServer
from support.looks import Looks
from support.operators_store import Store
from support.parties import PASSWORD, Fleet, Uploader, User, unique
from support.showcase import Showcase
from support.stories import Lab
from support.uploads import Upload, content
from support.webhooks import OLD_KEY, SECRET, Receiver

ROOT = Path(__file__).resolve().parents[2]
#: Three parts are still quick to upload, and 0.5 MiB fits into one.
PART_SIZE = 1024 * 1024

# Whoever makes a release has these; what the tests make is signed by their own keys, or not at all.
for name in ("DIST_SIGNING_KEY", "DIST_PUBLIC_KEY"):
    os.environ.pop(name, None)


def absolute(text: str) -> Path:
    """Returns the path of an option: tests run programs in other directories."""
    return Path(text).resolve()


def pytest_addoption(parser):
    parser.addoption(
        "--binary",
        type=absolute,
        default=ROOT / ".build/debug/data-gateway",
        help="the gateway to test (default: the debug build)",
    )
    parser.addoption("--package", type=absolute, help="the Debian package to test (default: one of --binary)")
    parser.addoption("--files", type=absolute, help="the folder of a version's files to test (default: none)")
    parser.addoption("--device-package", type=absolute, help="the Debian package of a device to test (default: built)")
    parser.addoption(
        "--screenshots", type=absolute, help="folder for screenshots of the console's pages (default: none)"
    )
    parser.addoption("--pictures", type=absolute, help="folder for the pictures of docs/console.md (default: none)")
    parser.addoption("--write-pages", action="store_true", help="write the output of the documents' commands into them")
    parser.addoption("--python-client", help="the command of an installed Python client, such as one in a chroot")
    parser.addoption("--sql-texts", type=absolute, help="the folder for the SQL texts of the gateways (default: none)")
    parser.addoption(
        "--sql-history", type=absolute, help="the folder for all statements of the gateways (default: none)"
    )
    parser.addoption("--object-engine", help="the URL of an S3 engine for the gateways' objects (scripts/objects)")
    parser.addoption("--full", action="store_true", help="the long form of the tests that have one (make lab)")


def pytest_configure(config):
    sql_recorder.record(config.getoption("--sql-texts"), config.getoption("--sql-history"))
    object_engine.use(config.getoption("--object-engine"))


#: The files that take longest. They come first, so that no process of a run of all tests works alone at its end.
LONGEST = [
    "test_openapi.py",
    "test_replicas.py",
    "test_console_layout.py",
    "test_console_objects.py",
    "test_engine_copy.py",
    "test_agent.py",
    "test_dist.py",
    "test_faults.py",
    "test_bucket_policy.py",
    "test_bucket_faults.py",
    "test_console_restore.py",
    "test_console_dialogs.py",
    "test_console_navigation.py",
    "test_console_uploads.py",
    "test_database_copy.py",
    "test_json_errors.py",
    "test_products.py",
    "test_archive_cost.py",
]


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST))
    skipped = {}
    if object_engine.is_used():
        skipped["directory"] = "for objects in a directory"
    if database_engine.is_used():
        skipped["sqlite"] = "for a database in the data directory"
    for item in items:
        for marker, reason in skipped.items():
            if item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def is_full(request) -> bool:
    return request.config.getoption("--full")


@pytest.fixture(scope="session")
def binary(request) -> Path:
    path = request.config.getoption("--binary")
    assert path.exists(), f"{path} is not there; run `make build` first"
    return path


@pytest.fixture(scope="session")
def built(request, binary, tmp_path_factory) -> Path:
    """The Debian package under test."""
    given = request.config.getoption("--package")
    return given.resolve() if given else package.build(binary, "0.2.0-1", tmp_path_factory.mktemp("package"))


@pytest.fixture(scope="session")
def bare_debian(built, tmp_path_factory) -> Path:
    """A minimal Debian, made once, and copied for each test; with the programs of docs/fleet.md."""
    programs = ["curl", "haproxy", "jq", "openssl"]
    return package.bare_debian(tmp_path_factory.mktemp("debian") / "root", [*package.dependencies(built), *programs])


@pytest.fixture(scope="session")
def protos() -> Path:
    return ROOT / "protos"


@pytest.fixture(scope="session")
def stubs(protos, tmp_path_factory):
    return stubs_module.load(protos, tmp_path_factory.mktemp("stubs"))


@pytest.fixture(scope="session", params=["cleartext", "tls"])
def interop(request, binary, tmp_path_factory):
    """`grpc.testing.TestService` on the gateway's server; the program is beside the gateway's. Its tests run in both variants."""
    authority = Authority(tmp_path_factory.mktemp("interop"), "authority") if request.param == "tls" else None
    server = InteropServer(binary.with_name("interop-server"), authority)
    yield server
    server.close()


@pytest.fixture(scope="session")
def testing(tmp_path_factory):
    """The stubs of `grpc.testing`."""
    return stubs_module.load(ROOT / "Tests/Protos", tmp_path_factory.mktemp("testing-stubs")).testing


def gateways(binary, tmp_path_factory) -> Iterator[Callable[..., Gateway]]:
    """Makes running gateways with their own configuration and data directory, and ends them."""
    started: list[Gateway] = []

    def start(config: dict | None = None, environment: dict[str, str] | None = None) -> Gateway:
        gateway = Gateway(binary, tmp_path_factory.mktemp("gateway"), config)
        gateway.environment |= environment or {}
        started.append(gateway)
        return gateway.start()

    yield start
    for gateway in started:
        gateway.close()


@pytest.fixture(scope="session")
def shared_gateway_with(binary, tmp_path_factory):
    """Makes the gateways of the session."""
    yield from gateways(binary, tmp_path_factory)


@pytest.fixture(scope="module")
def gateway_with(binary, tmp_path_factory):
    """Makes the gateways of a file. Those of all files together would need more memory than a machine has."""
    yield from gateways(binary, tmp_path_factory)


@pytest.fixture(scope="session")
def copy_root(tmp_path_factory) -> Path:
    """The folder for copy jobs of the shared gateway; its sibling `absent` does not exist."""
    return tmp_path_factory.mktemp("copies") / "root"


@pytest.fixture(scope="session")
def gateway(shared_gateway_with, copy_root) -> Gateway:
    """The gateway that tests share; tests that stop or kill a gateway make their own with `gateway_with`."""
    copy_root.mkdir()
    roots = [{"kind": "directory", "root": str(root)} for root in (copy_root, copy_root.with_name("absent"))]
    return shared_gateway_with(
        {
            "uploads": {"part_size_bytes": PART_SIZE},
            # The session's tests share tokens, and may take longer than the default lifetime.
            "auth": {"access_token_lifetime_seconds": 7200},
            "listeners": {"internal": "127.0.0.1:0"},
            "copy": {"destinations": roots},
        }
    )


@pytest.fixture(scope="session")
def login(stubs):
    """Signs the admin of `system` in at a gateway."""
    return lambda gateway: User.login(gateway, stubs, "system", "admin", ADMIN_PASSWORD)


@pytest.fixture(scope="session")
def admin(gateway, login) -> User:
    """The admin of `system`."""
    return login(gateway)


@pytest.fixture(scope="session")
def fleet(admin) -> Fleet:
    """A site and a suite of `system`."""
    return Fleet.create(admin)


@pytest.fixture
def uploader(fleet) -> Uploader:
    """An initialized and signed-in device of the test's own."""
    return fleet.uploader()


@pytest.fixture
def upload(uploader) -> Upload:
    """A new upload of the test's own device."""
    return Upload.create(uploader)


@pytest.fixture(scope="module")
def network(request, gateway_with) -> Network:
    """A gateway behind proxies, for the tests of a file; the file's `CONFIGURATION` is the gateway's."""
    network = Network(gateway_with, getattr(request.module, "CONFIGURATION", None))
    yield network
    network.close()


@pytest.fixture(scope="module")
def network_fleet(network, login) -> Fleet:
    """A site and a suite at the gateway of `network`."""
    return Fleet.create(login(network.gateway))


@pytest.fixture(scope="module")
def initialized(binary, network, network_fleet, tmp_path_factory) -> Device:
    """A device whose key the tests of a file share."""
    device = Device(binary, network, tmp_path_factory.mktemp("device") / "folder")
    return device.join(network_fleet, tags={"model": "mk2"})


@pytest.fixture
def device(initialized, network, tmp_path) -> Device:
    """The initialized device, with a folder of the test's own, and a network without faults after the test."""
    yield initialized.copy(tmp_path / "device")
    for proxy in network.proxies:
        proxy.forget()
        proxy.release()
    network.point_at(network.gateway)


@pytest.fixture(scope="module")
def user(binary, network, tmp_path_factory) -> SignedIn:
    """The command line of a user who is signed in at the gateway of `network`."""
    return SignedIn(binary, network.gateway, tmp_path_factory.mktemp("user"))


@pytest.fixture
def path(tmp_path):
    """A recording of the test's own, all with the same bytes."""
    (path := tmp_path / "drive.mcap").write_bytes(content(1000))
    return path


@pytest.fixture
def impostor(network, stubs):
    """A false gateway in place of the listener `auth`."""
    impostor = Impostor(network.gateway.channel("auth"), stubs)
    target, network.auth.target = network.auth.target, impostor.address
    yield impostor
    network.auth.target = target
    impostor.server.stop(None)


@pytest.fixture(scope="module")
def tree(built, tmp_path_factory) -> Path:
    """The contents of the package; its control files are in DEBIAN."""
    path = tmp_path_factory.mktemp("tree") / "tree"
    package.run("dpkg-deb", "--raw-extract", built, path)
    return path


@pytest.fixture
def stranger(binary, gateway, tmp_path) -> CommandLine:
    """A user who has never signed in."""
    return CommandLine(binary, gateway, tmp_path)


@pytest.fixture(scope="module")
def provider():
    """The URL of a provider that lets anybody be whom they name; `PUT /users/SUB` sets a person's claims."""
    # Its packages warn of each other when they are imported, which the other tests need not see.
    from oidc_provider_mock import run_server_in_thread

    with run_server_in_thread() as server:
        yield f"http://localhost:{server.server_port}"


@pytest.fixture
def run() -> str:
    """The value of a tag that only the objects of the test have."""
    return unique("run")


@pytest.fixture(scope="session")
def new_organization(admin, gateway, stubs):
    """Creates a business organization and signs its admin in."""

    def make() -> User:
        name, password = unique("org"), "a password of some length"
        return admin.create_organization(name, password, display_name=f"Organization {name}")

    return make


@pytest.fixture(scope="module")
def authority(tmp_path_factory) -> Authority:
    """An authority for the certificates of a file's tests."""
    return Authority(tmp_path_factory.mktemp("authority"), "authority")


@pytest.fixture(scope="module")
def open_gateway(gateway_with):
    """A gateway that permits calls from a page of another origin."""
    return gateway_with({"rpc": {"cors_origins": [ORIGIN]}})


@pytest.fixture(params=["http1", "http2"])
def version(request) -> str:
    """Each version of HTTP."""
    return request.param


@pytest.fixture(scope="module")
def store(gateway_with, login, tmp_path_factory) -> Store:
    """A gateway with the static keys of operators' tools."""
    return Store.start(gateway_with, login, tmp_path_factory.mktemp("secrets"))


@pytest.fixture(scope="module")
def server(request, gateway_with) -> Gateway:
    """A gateway for the tests of a file, with the file's `CONFIGURATION`."""
    return gateway_with(request.module.CONFIGURATION)


@pytest.fixture
def phone(server):
    """Makes phones with the app for companions, each of which has registered."""
    return registrar(server)


@pytest.fixture
def pair(phone):
    """Two phones with a plan together."""
    return pair_of(phone)


@pytest.fixture(scope="session")
def showcase(shared_gateway_with, login, stubs, tmp_path_factory):
    """A gateway that has something to show on every page of the console."""
    shown = Showcase.start(shared_gateway_with, login, stubs, tmp_path_factory.mktemp("showcase"))
    yield shown
    shown.close()


@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> Browser:
    """Headless Chromium, one for the tests of a file."""
    browser = Browser(tmp_path_factory.mktemp("downloads"))
    yield browser
    browser.close()


@pytest.fixture
def page(browser, gateway):
    """The sign-in page of the console; the test fails if the browser logged an error."""
    browser.resize(DESKTOP)
    browser.enter(gateway)
    browser.driver.get_log("browser")  # Discards the entries of other tests.
    yield browser
    browser.assert_no_errors()


@pytest.fixture
def console(page, gateway) -> Browser:
    """A browser in which the admin of `system` is signed in."""
    page.sign_in("system", "admin", ADMIN_PASSWORD)
    page.heading("Overview")
    return page


@pytest.fixture
def viewer(admin) -> str:
    name = unique("viewer")
    admin.users("CreateUser", user_name=name, password=PASSWORD, role="viewer")
    return name


@pytest.fixture
def look(browser, request, is_full) -> Looks:
    """Looks at what the test's browser shows: with `--full` or `--screenshots FOLDER` in every size and color scheme."""
    return Looks(browser, request.config.getoption("--screenshots"), is_full)


@pytest.fixture
def lab(binary, tmp_path, login):
    """A gateway of the test's own, on a disk with injected faults."""
    lab = Lab(binary, tmp_path, login)
    try:
        yield lab.start()
    finally:
        lab.close()


@pytest.fixture
def receivers():
    made: list[Receiver] = []

    def make(context: ssl.SSLContext | None = None) -> Receiver:
        made.append(Receiver(context))
        return made[-1]

    yield make
    for receiver in made:
        receiver.close()


@pytest.fixture
def with_webhooks(gateway_with, login, receivers, tmp_path):
    """Makes a gateway with webhooks, a receiver for each name, and a fleet."""

    def make(webhooks: dict[str, dict] | None = None, **events):
        webhooks = {"all": {}} if webhooks is None else webhooks
        (secret := tmp_path / "secret").write_text(f"{SECRET}\n{OLD_KEY.decode()}\n")
        hooks = {name: receivers() for name in webhooks}
        configured = {
            name: {"url": hooks[name].url, "secret_file": str(secret)} | fields for name, fields in webhooks.items()
        }
        gateway = gateway_with({"webhooks": configured, "events": events})
        return gateway, Fleet.create(login(gateway)), *hooks.values()

    return make


@pytest.fixture
def served():
    """Serves a folder by HTTP on loopback, and returns its address."""
    servers = []

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    def serve(folder: Path, handler=Quiet) -> str:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder)))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    serve.handler = Quiet
    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()
