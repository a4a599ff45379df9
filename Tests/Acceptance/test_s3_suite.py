"""Runs ceph/s3-tests, a public suite of S3, against the store: `S3_TESTS=CHECKOUT make lab`, or with `scripts/lab s3_suite`.

Every test passes, or `tools/s3_suite_expected.txt` has it below the reason why it fails. A listed test that passes is reported as
well, so that the list stays true.
"""

import configparser
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.static_keys import StaticKey

CHECKOUT = os.environ.get("S3_TESTS")
HERE = Path(__file__).resolve().parent
KEYS = {
    name: StaticKey(name.upper(), f"a secret of {name} for the suite", "write", prefix=f"{name}/")
    for name in ("main", "alt", "tenant")
}
#: The suite has about 900 tests, some of which create several buckets.
BUCKETS = 3000
MINUTES = 60

pytestmark = pytest.mark.skipif(not CHECKOUT, reason="S3_TESTS names no checkout of ceph/s3-tests")


def expected() -> dict[str, str]:
    """Returns the tests that are expected to fail, with the reason that stands above them."""
    tests, reason = {}, ""
    for line in (HERE / "tools/s3_suite_expected.txt").read_text().splitlines():
        if line.startswith("#"):
            reason = line[1:].strip()
        elif line.strip():
            assert reason, f"{line} has no reason"
            tests[line.strip()] = reason
    return tests


@pytest.fixture(scope="module")
def gateway(gateway_with, tmp_path_factory):
    secrets = tmp_path_factory.mktemp("secrets")
    keys = [key.setting(secrets) for key in KEYS.values()]
    buckets = {f"suite-{number}": {"prefix": f"main/suite-{number}/"} for number in range(1, BUCKETS + 1)}
    return gateway_with({"object_store": {"static_keys": keys, "buckets": buckets}})


def configuration(gateway, path: Path) -> Path:
    host, port = gateway.object_store.split(":")
    suite = configparser.RawConfigParser()
    suite["DEFAULT"] = {"host": host, "port": port, "is_secure": "False"}
    suite["fixtures"] = {"bucket prefix": "suite-"}
    people = {"display_name": "data-gateway", "user_id": "data-gateway", "email": "suite@example.com"}
    for name, key in KEYS.items():
        suite[f"s3 {name}"] = people | {"access_key": key.id, "secret_key": key.secret, "tenant": "suite"}
    for name in ("iam", "iam root", "iam alt root"):
        suite[name] = people | {"access_key": "NOBODY", "secret_key": "nobody"}
    with path.open("w") as file:
        suite.write(file)
    return path


def test_every_test_of_the_suite_has_its_outcome(gateway, tmp_path):
    environment = Path(".build/s3-tests").resolve()
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    python = environment / "bin/python"
    requirements = ["--requirement", f"{CHECKOUT}/requirements.txt"]
    subprocess.run([python, "-m", "pip", "install", "--quiet", "pytest-timeout", *requirements], check=True)
    results = tmp_path / "results"
    files = [f"{CHECKOUT}/s3tests/functional/{name}.py" for name in ("test_s3", "test_headers")]
    subprocess.run(
        [python, "-m", "pytest", "-q", "-p", "s3_suite", "--timeout", "120", "--no-header", "--tb", "line", *files],
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": f"{HERE / 'tools'}:{CHECKOUT}",
            "S3TEST_CONF": str(configuration(gateway, tmp_path / "s3tests.conf")),
            "SUITE_RESULTS": str(results),
            "AWS_MAX_ATTEMPTS": "1",
            "AWS_EC2_METADATA_DISABLED": "true",
        },
        cwd=tmp_path,
        timeout=MINUTES * 60,
        check=False,
    )
    outcomes: dict[str, str] = {}
    for line in results.read_text().splitlines():
        outcome, name = line.split(" ", 1)
        # A test fails with any of its parameters, and by an error of the clean-up after it.
        name = name.split("[")[0]
        outcomes[name] = "failed" if "failed" in (outcome, outcomes.get(name)) else outcome
    listed = expected().keys()
    failed = sorted(name for name, outcome in outcomes.items() if outcome == "failed" and name not in listed)
    passed = sorted(name for name in listed if outcomes.get(name) == "passed")
    unknown = sorted(name for name in listed if name not in outcomes)
    counts = {outcome: list(outcomes.values()).count(outcome) for outcome in ("passed", "failed", "skipped")}
    print(f"ceph/s3-tests: {counts}, {len(failed)} not expected")
    assert len(outcomes) > 800, "the suite did not run"
    assert (failed, passed, unknown) == ([], [], []), "failed unexpectedly, passed unexpectedly, and in the list only"
