"""Requests that schemathesis makes from an OpenAPI document."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from . import process

#: The checks of `described_rules`.
RULES = ("valid_data_is_accepted", "wrong_data_is_refused")
CHECKS = ("status_code_conformance", "content_type_conformance", "response_schema_conformance")


def check(
    url: str,
    directory: Path,
    is_full: bool,
    *,
    token: str | None = None,
    but: Iterable[str] = (),
    only: Iterable[str] = (),
    paths: str = "",
    is_failure_described: bool = False,
    checks_rules: bool = False,
) -> None:
    """Checks that no response is an error of the server that the document does not describe, and that each agrees with it.

    Args:
        url: of the listener, without a slash at its end.
        directory: the working directory.
        token: sent with every request.
        but: paths, and ids of operations, that are left out.
        only: the paths of the requests; empty = all.
        paths: a regular expression for the paths of the requests; empty = all.
        checks_rules: whether the document states the rules of requests, but for those in the tables of `described_rules`.
        is_failure_described: whether the document describes responses with status 500, which are no faults then.
    """
    command = [Path(sys.executable).with_name("schemathesis"), "run", f"{url}/openapi.json", f"--url={url}"]
    command += [
        "--seed=20",
        f"--phases=examples,{'coverage,' if checks_rules else ''}fuzzing",
        "--workers=1",
        "--mode=all",
        "--no-color",
    ]
    # A status that the document describes is checked like any other: some clients expect 500 for every failure.
    checks = CHECKS if is_failure_described else ("not_a_server_error", *CHECKS)
    checks += RULES if checks_rules else ()
    command += [f"--checks={','.join(checks)}", "--continue-on-failure"]
    command += [f"--max-examples={50 if is_full else 12}", "--generation-deterministic"]
    command += ["-H", f"Authorization: Bearer {token}"] if token else []
    command += [f"--exclude-{'path' if each.startswith('/') else 'operation-id'}={each}" for each in but]
    command += [f"--include-path={path}" for path in only]
    command += [f"--include-path-regex={paths}"] if paths else []
    hooks = {"PYTHONPATH": str(Path(__file__).parents[1]), "SCHEMATHESIS_HOOKS": "support.described_rules"}
    process.run(*command, cwd=directory, env=os.environ | hooks, timeout=3000 if is_full else 1200)
