"""Programs that tests run."""

import subprocess

from .waiting import WAIT_SECONDS


def run(*command, code: int = 0, timeout: float | None = WAIT_SECONDS, **options) -> subprocess.CompletedProcess:
    """Runs a program, which must end with the exit code."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, timeout=timeout, **options)
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return done
