"""Requests that schemathesis makes from an OpenAPI document."""

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

CHECKS = ("not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance")


def check(
    url: str, directory: Path, is_full: bool, *, token: str | None = None, but: Iterable[str] = (), paths: str = ""
) -> None:
    """Checks that no response is an error of the server, and that each agrees with the document.

    Args:
        url: of the listener, without a slash at its end.
        directory: the working directory.
        token: sent with every request.
        but: paths that are left out.
        paths: a regular expression for the paths of the requests; empty = all.
    """
    command = [Path(sys.executable).with_name("schemathesis"), "run", f"{url}/openapi.json", f"--url={url}"]
    command += ["--seed=20", "--phases=examples,fuzzing", "--workers=1", "--mode=all", "--no-color"]
    command += [f"--checks={','.join(CHECKS)}"]
    command += [f"--max-examples={50 if is_full else 3}", "--generation-deterministic"]
    command += ["-H", f"Authorization: Bearer {token}"] if token else []
    command += [f"--exclude-path={path}" for path in but]
    command += [f"--include-path-regex={paths}"] if paths else []
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=3000 if is_full else 300)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
