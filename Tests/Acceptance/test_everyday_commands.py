"""The everyday commands: sites, users, keys, organizations, statistics, and the completion in a shell."""

import shutil
import subprocess

import pytest
from support import process
from support.commands import OK, REFUSED, USAGE, CommandLine
from support.gateway import ADMIN_PASSWORD, eventually
from support.parties import PASSWORD, Uploader, exchange, init_device, unique, unique_device_id
from support.uploads import Upload, completed, content


@pytest.fixture(scope="module")
def admin(binary, gateway, tmp_path_factory) -> CommandLine:
    """The admin of `system`, signed in."""
    return CommandLine(binary, gateway, tmp_path_factory.mktemp("admin")).login()


@pytest.fixture
def site(admin) -> dict:
    return admin.json("site", "create", unique("site"))


def test_whoami_shows_the_session(admin, stranger):
    session = admin.json("whoami")
    assert (session["organization"], session["user_name"], session["role"]) == ("system", "admin", "admin")
    assert "data-gateway login" in stranger.refused(REFUSED, "whoami")


def test_version_is_that_of_the_option(stranger):
    assert stranger.run("version").stdout == stranger.run("--version").stdout


def test_site_is_found_by_its_name(admin, site):
    assert admin.json("site", "show", site["name"]) == admin.json("site", "show", str(site["site_id"]))
    suite = admin.json("device", "suite", "create", "--site", site["name"], "--display-name", unique("suite"))
    assert suite["site_id"] == site["site_id"]
    assert admin.json("device", "suite", "list", "--site", site["name"])["device_suites"] == [suite]
    assert admin.json("device", "suite", "show", suite["display_name"]) == suite
    assert admin.json("device", "list", "--site", site["name"])["devices"] == []
    missing = unique("nowhere")
    assert f'no site is named "{missing}"' in admin.refused(REFUSED, "site", "show", missing)


def test_site_name_that_two_have_is_refused_with_their_numbers(admin, site):
    second = admin.run("site", "create", site["name"])
    if second.returncode == OK:
        message = admin.refused(REFUSED, "site", "show", site["name"])
        assert f"{site['site_id']}" in message
    else:
        assert "already exists" in second.stderr


def test_site_is_renamed_disabled_enabled_and_deleted(admin, site):
    number, name = str(site["site_id"]), unique("site")
    assert admin.json("site", "rename", number, name)["name"] == name
    assert admin.json("site", "disable", name)["status"] == 2
    assert admin.json("site", "enable", name)["status"] == 1
    assert admin.json("site", "delete", name) == {"site_id": site["site_id"]}
    assert number in admin.refused(REFUSED, "site", "show", number)


def test_device_and_its_suite_are_deleted(admin, site):
    suite = admin.json("device", "suite", "create", "--site", site["name"], "--display-name", unique("suite"))["name"]
    device = admin.json("device", "register", unique_device_id(), "--suite", suite)
    assert suite.removeprefix("deviceSuites/") in admin.refused(REFUSED, "device", "suite", "delete", suite)
    assert admin.json("device", "delete", device["device_id"]) == {"name": device["name"]}
    assert admin.json("device", "suite", "delete", suite) == {"name": suite}
    assert "does not exist" in admin.refused(REFUSED, "device", "show", device["device_id"])


def test_silent_devices_are_those_not_heard_of_since(admin, site, gateway, stubs):
    suite = admin.json("device", "suite", "create", "--site", site["name"], "--display-name", unique("suite"))["name"]
    device = admin.json("device", "register", "--suite", suite)["device_id"]
    admin.json("device", "register", "--suite", suite)
    init_device(gateway, stubs, device)

    def silent(time: str) -> list[str]:
        found = admin.json("device", "list", "--suite", suite, "--silent-for", time)["devices"]
        return [each["device_id"] for each in found]

    eventually(lambda: silent("1s") == [device])
    assert silent("2d") == []
    seen = admin.json("device", "list", "--suite", suite, "--seen-within", "1h", "--order-by", "last_seen_at desc")
    assert [each["device_id"] for each in seen["devices"]] == [device]
    assert "order_by must be" in admin.refused(REFUSED, "device", "list", "--order-by", "size")
    assert "must be a time like 30m, 2h or 7d" in admin.refused(USAGE, "device", "list", "--silent-for", "2")


def test_devices_without_uploads_are_those_that_completed_none_since(admin, site, gateway, stubs):
    suite = admin.json("device", "suite", "create", "--site", site["name"], "--display-name", unique("suite"))["name"]
    admin.json("device", "register", "--suite", suite)
    idle, busy = (admin.json("device", "register", "--suite", suite)["device_id"] for _ in range(2))
    uploaders = [
        Uploader(gateway, stubs, init_device(gateway, stubs, device).api_key, device).sign_in()
        for device in (idle, busy)
    ]

    def listed(*options: str) -> dict[str, str | None]:
        found = admin.json("device", "list", "--suite", suite, *options)["devices"]
        return {each["device_id"]: each["last_upload_at"] for each in found}

    # An upload that is not completed does not count.
    Upload.create(uploaders[0])
    completed(uploaders[1], content(10))
    eventually(lambda: listed("--no-upload-for", "1s").keys() == {idle, busy})
    assert listed("--no-upload-for", "1s")[idle] is None
    assert listed("--no-upload-for", "1h") == {}
    first = listed()[busy]
    completed(uploaders[1], content(11))
    assert listed()[busy] != first


def test_commands_create_update_and_delete_a_user(admin, stranger):
    name = unique("user")
    admin.json("user", "create", name, "--role", "viewer", "--password-stdin", input=PASSWORD + "\n")
    assert admin.json("user", "update", name, "--role", "operator")["role"] == "operator"
    assert admin.json("user", "show", name)["role"] == "operator"
    admin.json("user", "passwd", name, "--password-stdin", input="another password\n")
    stranger.refused(REFUSED, "login", "--user", name, "--password-stdin", input=PASSWORD + "\n")
    stranger.login(name, "another password")
    assert admin.json("user", "delete", name) == {"user_name": name}
    assert "does not exist" in admin.refused(REFUSED, "user", "show", name)


def test_commands_create_disable_and_delete_a_key_of_a_site(admin, site, gateway, stubs):
    created = admin.json(
        "key", "create", "--site", site["name"], "--name", "uploader", "--expires", "2099-01-31T08:00:00Z"
    )
    assert exchange(gateway, stubs, created["credential"]).access_token
    assert created["expired_at"] == "2099-01-31T08:00:00Z"
    (listed,) = admin.json("key", "list", "--site", site["name"])["api_keys"]
    assert admin.json("key", "show", listed["api_key_id"]) == listed
    assert (listed["key_name"], listed["owner"]) == ("uploader", f"sites/{site['site_id']}")
    assert "credential" not in listed
    key = created["api_key_id"]
    rotated = admin.json("key", "rotate", key)
    assert rotated["credential"] != created["credential"]
    assert exchange(gateway, stubs, rotated["credential"]).access_token
    assert admin.json("key", "disable", key)["status"] == 2
    assert admin.json("key", "enable", key)["status"] == 1
    assert admin.json("key", "delete", key) == {"api_key_id": key}
    assert admin.json("key", "list", "--site", site["name"])["api_keys"] == []


def test_key_of_a_device_is_made_once(admin, site, gateway, stubs):
    suite = admin.json("device", "suite", "create", "--site", site["name"], "--display-name", unique("suite"))["name"]
    device = admin.json("device", "register", "--suite", suite)["device_id"]
    created = admin.json("key", "create", "--device", device)
    assert exchange(gateway, stubs, created["credential"]).access_token
    assert created["owner"] == f"devices/{device}"
    assert "already has a key" in admin.refused(REFUSED, "key", "create", "--device", device)
    assert [key["key_name"] for key in admin.json("key", "list", "--device", device)["api_keys"]] == [device]
    assert "retire it instead" in admin.refused(REFUSED, "device", "delete", device)
    assert admin.json("device", "retire", device)["status"] == "DEVICE_STATUS_RETIRED"
    assert admin.json("key", "list", "--device", device)["api_keys"] == []
    assert device not in {each["device_id"] for each in admin.json("device", "list")["devices"]}
    assert device in {each["device_id"] for each in admin.json("device", "list", "--retired")["devices"]}
    assert admin.json("device", "unretire", device)["status"] == "DEVICE_STATUS_REGISTERED"


@pytest.mark.parametrize("owner", [[], ["--site", "1", "--device", "260427-000001"]], ids=["none", "both"])
def test_key_create_wants_one_owner(admin, owner):
    assert "either --site or --device" in admin.refused(USAGE, "key", "create", *owner)


def test_commands_create_update_and_delete_an_organization(admin, stranger):
    name = unique("org")
    arguments = ["org", "create", name, "--admin", "boss", "--display-name", "Acme", "--password-stdin"]
    assert admin.json(*arguments, input=PASSWORD + "\n")["display_name"] == "Acme"
    assert name in [org["organization"] for org in admin.json("org", "list")["organizations"]]
    assert admin.json("org", "update", name, "--display-name", "Acme Ltd")["display_name"] == "Acme Ltd"
    assert admin.json("org", "show", name)["display_name"] == "Acme Ltd"
    assert admin.json("org", "delete", name) == {"organization": name}


def test_statistics_have_a_line_for_each_day(admin):
    response = admin.json("statistics", "--days", "3")
    assert len(response["days"]) == 3
    table = admin.run("statistics", "--days", "3").stdout
    assert all(day["date"] in table for day in response["days"])
    assert "1 to 400" in admin.refused(USAGE, "statistics", "--days", "401")


#: The words before the cursor, the typed part of the next one, and the shell's expected suggestions.
OFFERS = [
    ([], "dev", ["device"]),
    (["site"], "re", ["rename"]),
    (["device", "suite"], "d", ["delete"]),
    (["site", "create"], "--or", ["--organization"]),
    (["site", "create", "Plant"], "--js", ["--json"]),
    (["user", "create", "ada", "--role"], "o", ["operator"]),
    (["ls", "--order-by"], "s", ["size"]),
    (["device", "list", "--output"], "c", ["csv"]),
    (["completion"], "z", ["zsh"]),
    (["token", "create", "ci", "--role"], "v", ["viewer"]),
]


def offered(shell: str, script: str, words: list[str], typed: str, tmp_path) -> list[str]:
    """Returns the shell's suggestions for the typed part."""
    (file := tmp_path / f"completion.{shell}").write_text(script)
    line = " ".join(["data-gateway", *words, typed])
    if shell == "bash":
        code = (
            f'source {file}; COMP_WORDS=({line}); COMP_CWORD={len(words) + 1}; _data_gateway; echo "${{COMPREPLY[@]}}"'
        )
    else:
        code = f"source {file}; complete -C '{line}'"
    done = subprocess.run([shell, "-c", code], capture_output=True, text=True, timeout=30)
    assert done.stderr == "", done.stderr
    return [line.split("\t")[0] for line in (done.stdout.split() if shell == "bash" else done.stdout.splitlines())]


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_shell_completes_commands_and_options(stranger, shell, tmp_path):
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed: only its users can complete with it")
    script = stranger.run("completion", shell).stdout
    for words, typed, expected in OFFERS:
        assert offered(shell, script, words, typed, tmp_path) == expected, (words, typed)


def test_zsh_completes_with_the_file_of_the_package(stranger, tmp_path):
    if not shutil.which("zsh"):
        pytest.skip("zsh is not installed: only its users can complete with it")
    (folder := tmp_path / "functions").mkdir()
    (folder / "_data-gateway").write_text(stranger.run("completion", "zsh").stdout)
    # As the completion system calls it: as a function whose file is found in $fpath.
    code = (
        f"fpath=({folder} $fpath); autoload -Uz _data-gateway; compadd() {{ shift; print -l -- $@ }}; _files() {{ }}; "
        "words=(data-gateway device suite ''); CURRENT=4; _data-gateway"
    )
    done = process.run("zsh", "-f", "-c", code)
    assert "remove" in done.stdout.split()


def test_zsh_accepts_its_script(stranger, tmp_path):
    if not shutil.which("zsh"):
        pytest.skip("zsh is not installed: only its users can complete with it")
    (file := tmp_path / "completion.zsh").write_text(stranger.run("completion", "zsh").stdout)
    code = f"autoload -Uz compinit && compinit -D && source {file} && _data_gateway_find device suite"
    done = process.run("zsh", "-f", "-c", code)
    assert "remove" in done.stdout.split()


@pytest.fixture
def addresses(gateway) -> list[str]:
    listeners = gateway.listeners
    return [word for name in ("auth", "gateway", "device-init") for word in (f"--{name}", f"http://{listeners[name]}")]


def test_quickstart_makes_site_suite_and_device_at_once(admin, addresses, tmp_path):
    site, suite, device_id = unique("site"), unique("suite"), unique_device_id()
    names = ["--site", site, "--suite", suite, *addresses]
    made = admin.json("quickstart", device_id, *names)
    assert made["device_id"] == device_id
    assert admin.json("site", "show", site)["site_id"] == made["site_id"]
    assert admin.json("device", "show", device_id)["suite"] == made["suite"]
    # The printed command works, and a second run changes nothing.
    printed = admin.run("quickstart", device_id, *names).stdout
    assert made["init"] in printed and "█" in printed
    done = admin.run(*made["init"].split()[1:], "--device-dir", str(tmp_path / "device"))
    assert done.returncode == OK, done.stderr
    assert admin.json("quickstart", device_id, *names)["status"] == "DEVICE_STATUS_INITIALIZED"
    # A further device needs the command only; the gateway assigns its id.
    further = admin.json("quickstart", *names)
    assert further["suite"] == made["suite"] and further["device_id"] != device_id
    assert len(admin.json("device", "list", "--suite", suite)["devices"]) == 2


@pytest.mark.parametrize("option", ["--host", "--auth-server"])
def test_quickstart_prints_the_addresses_that_the_login_found(stranger, gateway, option, tmp_path):
    for name in ("DATA_GATEWAY_ADMIN", "DATA_GATEWAY_AUTH"):
        del stranger.environment[name]
    listeners = gateway.listeners
    server = ["--server", listeners["admin"]] if option == "--auth-server" else []
    address = listeners["web" if option == "--host" else "auth"]
    login = ["login", "--user", "admin", "--password-stdin", option, address, *server]
    assert stranger.run(*login, input=ADMIN_PASSWORD + "\n").returncode == OK
    done = stranger.run("quickstart", unique_device_id(), "--site", unique("site"))
    assert done.returncode == OK, done.stderr
    command = next(line for line in done.stdout.splitlines() if "data-gateway init" in line).split()
    if option == "--host":
        found = dict(zip(command[3::2], command[4::2], strict=True))
        assert found == {f"--{name}": f"http://{listeners[name]}" for name in ("auth", "gateway", "device-init")}
        assert stranger.run(*command[1:], "--device-dir", str(tmp_path / "device")).returncode == OK
    else:
        # That sign-in did not learn where keys are fetched, and the output says so.
        assert "the last login did not name the listener for keys" in done.stdout


def resources(admin) -> tuple[list, list]:
    return admin.json("site", "list")["sites"], admin.json("device", "suite", "list")["device_suites"]


def test_quickstart_that_is_refused_creates_nothing(admin, addresses):
    retired = admin.json("device", "register")["device_id"]
    admin.json("device", "retire", retired)
    before = resources(admin)
    new = unique("site")
    message = admin.refused(USAGE, "quickstart", "12345", "--site", new)
    assert "DEVICE_ID must be YYMMDD-NNNNNN, not '12345'" in message
    message = admin.refused(REFUSED, "quickstart", retired, "--site", new)
    assert f"device {retired} is retired: 'device unretire {retired}' returns it to use" in message
    message = admin.refused(USAGE, "quickstart", "--site", new, "--suite", "a\x07")
    assert "--suite must not contain control characters" in message
    for option, host in (
        ("--host", "c d"),
        ("--host", "https://a;reboot"),
        ("--host", "-x"),
        ("--auth", "http://$(id):1"),
    ):
        message = admin.refused(USAGE, "quickstart", "--site", new, option, host)
        assert f"{option} must be " in message and host in message
    message = admin.refused(REFUSED, "quickstart", "--site", "999999")
    assert "site 999999 does not exist" in message
    assert resources(admin) == before


def test_quickstart_prints_an_address_of_ipv6_in_brackets(admin):
    made = admin.json("quickstart", "--site", unique("site"), "--host", "https://[2001:db8::1]")
    assert made["init"].endswith(" --host https://[2001:db8::1]")


def test_quickstart_names_each_suite_differently(admin, addresses):
    made = [admin.json("quickstart", "--site", unique("site"), *addresses) for _ in range(2)]
    suites = [admin.json("device", "suite", "show", each["suite"]) for each in made]
    assert [suite["site_id"] for suite in suites] == [each["site_id"] for each in made]
    assert suites[0]["display_name"] != suites[1]["display_name"]
    # The number of a site and the name of a suite select what exists.
    for suite in suites:
        assert admin.json("quickstart", "--site", str(suite["site_id"]), *addresses)["suite"] == suite["name"]
        assert admin.json("quickstart", "--suite", suite["display_name"], *addresses)["suite"] == suite["name"]


@pytest.mark.parametrize(
    "command, name",
    [
        (["device", "register", ""], "DEVICE_ID"),
        (["device", "list", "--suite", ""], "--suite"),
        (["rm", ""], "OBJECT"),
        (["rm", "--filter", ""], "--filter"),
        (["trash", "restore", ""], "OBJECT"),
        (["trash", "purge", ""], "OBJECT"),
        (["object", "restore", ""], "OBJECT"),
        (["device", "rotate", ""], "DEVICE_ID"),
        (["device", "suite", "create", "--site", "1", "--display-name", ""], "--display-name"),
        (["backup", "--to", ""], "--to"),
        (["restore", "--from", "", "--data-dir", "x"], "--from"),
        (["download", "x", "--to", ""], "--to"),
        (["session", "revoke", "--id", ""], "--id"),
        (["upload", ""], "FILE"),
        (["init", ""], "DEVICE_ID"),
    ],
)
def test_empty_argument_is_a_usage_error(stranger, command, name):
    assert f"{name} must not be empty" in stranger.refused(USAGE, *command)


def test_empty_texts_of_an_update_remove_them(admin):
    device = admin.json("device", "register", "--display-name", "Arm", "--description", "left")["device_id"]
    changed = admin.json("device", "update", device, "--display-name", "", "--description", "", "--tag", "line=")
    assert (changed["display_name"], changed["description"], changed["tags"]) == ("", "", {"line": ""})


@pytest.mark.parametrize(
    "command", [["device", "list", "--suite"], ["device", "list", "--site"], ["key", "list", "--site"]]
)
def test_list_of_an_unknown_number_is_refused(admin, command):
    assert "999999 does not exist" in admin.refused(REFUSED, *command, "999999")


def test_blank_names_are_refused(admin, site):
    for command in (
        ["site", "create", "   "],
        ["device", "suite", "create", "--site", str(site["site_id"]), "--display-name", " "],
        ["key", "create", "--site", str(site["site_id"]), "--name", " "],
        ["device", "register", "--display-name", " "],
    ):
        assert "must have a character other than spaces" in admin.refused(REFUSED, *command)


def test_quickstart_leaves_a_device_of_another_suite(admin, addresses):
    site, device_id = unique("site"), unique_device_id()
    first = admin.json("quickstart", device_id, "--site", site, "--suite", "first", *addresses)["suite"]
    message = admin.refused(REFUSED, "quickstart", device_id, "--site", site, "--suite", "second", *addresses)
    assert f"{device_id} is in {first}" in message
    assert admin.json("device", "show", device_id)["suite"] == first
