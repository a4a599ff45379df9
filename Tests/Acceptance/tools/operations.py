"""The common parts of the programs in this directory: the store's endpoint and the report.

A program prints a line `PASS name` or `FAIL name: reason` for each operation, and continues after a failure.
"""

import atexit
import os
import random
import sys

ENDPOINT = os.environ["STORE_ENDPOINT"]
KEY = os.environ["STORE_KEY"]
SECRET = os.environ["STORE_SECRET"]
BUCKET = os.environ["STORE_BUCKET"]
FOLDER = os.environ["STORE_FOLDER"]
REGION = "us-east-1"


@atexit.register
def end() -> None:
    """Ends the process without the destructors of C++: pyarrow's threads may still run then, which aborts it now and then
    ("terminate called without an active exception"), with all operations done.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(1 if hasattr(sys, "last_value") else 0)


def content(size: int, seed: int = 1) -> bytes:
    return random.Random(seed).randbytes(size)


def operation(name: str):
    """Runs a function at once, as one operation."""

    def run(function):
        try:
            function()
        except BaseException as error:
            print(f"FAIL {name}: {type(error).__name__}: {str(error)[:400]}".replace("\n", " "), flush=True)
        else:
            print(f"PASS {name}", flush=True)
        return function

    return run
