"""Repeating what failed temporarily."""

from __future__ import annotations

import random
import time
from typing import Callable, TypeVar

from .errors import UnreachableError

Result = TypeVar("Result")

_FIRST_WAIT = 0.5
_LONGEST_WAIT = 30.0
#: The number of attempts that are made at least, if `retry_for` is not short.
_FEWEST_ATTEMPTS = 6
_LONG = 300.0


class TemporaryError(Exception):
    """A failure after which another attempt may succeed; `retry_after` is the shortest wait in seconds."""

    def __init__(self, reason: str, retry_after: float = 0):
        super().__init__(reason)
        self.retry_after = retry_after


class Retrying:
    """Repeats a call with growing, partly random waits, at most until `retry_for` seconds after its first failure."""

    def __init__(self, retry_for: float, waiting: Callable[[str, float], None] | None = None):
        self._retry_for = retry_for
        self._waiting = waiting

    def run(self, call: Callable[[], Result]) -> Result:
        """Calls `call` until it does not raise a TemporaryError any more."""
        failures, deadline = 0, 0.0
        while True:
            try:
                return call()
            except TemporaryError as error:
                failures += 1
                deadline = deadline or time.monotonic() + self._retry_for
                # A server that asks for a day must not stop the upload for a day.
                wait = max(min(error.retry_after, max(_LONGEST_WAIT, self._retry_for)), _backoff(failures))
                is_over = time.monotonic() + wait > deadline
                if is_over and (self._retry_for < _LONG or failures >= _FEWEST_ATTEMPTS):
                    raise UnreachableError(f"{error}; try again later") from error
                if self._waiting is not None:
                    self._waiting(str(error), wait)
                time.sleep(wait)


def waited(text: str, unit: float = 1.0) -> float:
    """Returns the wait in seconds that a server names as a number of units; 0 without a number."""
    # More digits mean a longer wait than any that is made.
    return int(text[:12]) * unit if text.isascii() and text.isdecimal() else 0.0


def _backoff(failures: int) -> float:
    """Returns the wait after a number of failures in seconds; half of it is random."""
    longest: float = min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** min(failures - 1, 10))
    return longest * (0.5 + random.random() / 2)
