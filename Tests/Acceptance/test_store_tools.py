"""Tests operators' tools with the store, in the configurations of docs/tools/: every operation passes, or is listed
here with the reason.

The short form uses the tools that the acceptance tests need anyway; `scripts/lab store_tools` uses all tools, which
`scripts/store-tools` installs into `.build/store-tools`.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.static_keys import StaticKey

HERE = Path(__file__).resolve().parent
TOOLS = Path(os.environ.get("STORE_TOOLS", HERE.parents[1] / ".build/store-tools"))
OPERATOR = StaticKey("OPERATOR", "a secret of the operator", "write")

COMMANDS = ["awscli", "rclone", "restic", "s3cmd", "s5cmd", "juicefs"]
PROGRAMS = ["boto3", "oss2", "alibabacloud", "minio", "pyarrow", "polars", "deltalake", "s3fs", "obstore", "opendal"]
PROGRAMS += ["smart_open", "ossfs", "duckdb"]
#: The tools that `make test` runs: they need no installation, and take a few seconds.
SHORT = ["boto3", "oss2", "alibabacloud"]
#: The operations that fail, as (tool, operation), with the reason.
KNOWN = {("s3cmd", "signurl"): "it signs with version 2 only, which the store refuses"}
for kind in ("s3", "minio"):
    KNOWN["juicefs", f"{kind} special key"] = "the key has a control character, which keys of the store never have"
    KNOWN["juicefs", f"{kind} get partial object"] = "a range behind the object is 416, as in S3, and it wants no error"


@pytest.fixture(scope="module")
def gateway(gateway_with, tmp_path_factory):
    keys = [OPERATOR.setting(tmp_path_factory.mktemp("secrets"))]
    return gateway_with({"object_store": {"static_keys": keys, "public_endpoint": "http://oss-lab.store.test"}})


@pytest.fixture(scope="module")
def names(tmp_path_factory) -> Path:
    """The library that resolves names below store.test, for preloading."""
    library = tmp_path_factory.mktemp("names") / "names.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, HERE / "tools/names.c", "-ldl"], check=True)
    return library


def python(tool: str) -> Path | None:
    """Returns the Python interpreter with a tool's package."""
    if tool in SHORT:
        return Path(sys.executable)
    path = TOOLS / "bin/python"
    return path if path.exists() else None


def command(tool: str) -> list[str] | None:
    if tool in PROGRAMS:
        interpreter = python(tool)
        return [str(interpreter), str(HERE / f"tools/{tool}_client.py")] if interpreter else None
    return [str(HERE / "tools/commands.sh"), tool]


@pytest.mark.parametrize("tool", PROGRAMS + COMMANDS)
def test_operations_of_each_tool_succeed(gateway, names, is_full, tmp_path, tool):
    if tool not in SHORT and not is_full:
        pytest.skip("part of the long form")
    program = {"awscli": "aws"}.get(tool, tool)
    search = [str(TOOLS / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
    path = os.pathsep.join(search)
    line = command(tool)
    found = subprocess.run(["which", program], env={"PATH": path}, capture_output=True, check=False).returncode == 0
    if line is None or (tool in COMMANDS and not found):
        pytest.skip(f"{tool} is not there: run scripts/store-tools")
    credentials = OPERATOR.credentials(gateway)
    environment = {
        "PATH": path,
        "HOME": str(tmp_path),
        "STORE_ENDPOINT": credentials.endpoint,
        "STORE_KEY": credentials.access_key_id,
        "STORE_SECRET": credentials.secret,
        "STORE_BUCKET": "data",
        "STORE_FOLDER": str(tmp_path),
        "STORE_HOST_ENDPOINT": f"http://oss-lab.store.test:{gateway.object_store.rsplit(':', 1)[1]}",
        "LD_PRELOAD": str(names),
    }
    done = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=300, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith(("PASS ", "FAIL "))]
    assert lines, done.stdout + done.stderr
    failed = [one for one in lines if one.startswith("FAIL ")]
    unexpected = [one for one in failed if (tool, one[5:].split(":")[0]) not in KNOWN]
    assert not unexpected, "\n".join(unexpected)
    assert done.returncode == 0, done.stderr
