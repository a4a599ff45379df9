"""What every program here has in common: the place of the store, and how it tells what passed.

A program prints a line `PASS name` or `FAIL name: reason` for each operation, and goes on after a failure.
"""

import os
import random

ENDPOINT = os.environ["STORE_ENDPOINT"]
KEY = os.environ["STORE_KEY"]
SECRET = os.environ["STORE_SECRET"]
BUCKET = os.environ["STORE_BUCKET"]
FOLDER = os.environ["STORE_FOLDER"]
REGION = "us-east-1"


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
