"""The time from the start of the gateway to its ready line."""

import sys
import tempfile
import time
from pathlib import Path

from measuring import figure
from support.gateway import Gateway

STARTS = 25


def milliseconds(gateway: Gateway) -> float:
    """Starts a gateway, and returns the time until its ready line: then every listener accepts connections."""
    began = time.perf_counter()
    gateway.start()
    return (time.perf_counter() - began) * 1000


def main(binary: str) -> None:
    """Measures first starts, with an empty data directory, and second ones, which find it as the first left it.

    The gateway has all cores: nobody works beside it.
    """
    first, second = [], []
    for _ in range(STARTS):
        with tempfile.TemporaryDirectory(prefix="data-gateway-benchmark-") as directory:
            gateway = Gateway(Path(binary), Path(directory))
            for times in first, second:
                try:
                    times.append(milliseconds(gateway))
                finally:
                    gateway.close()
    for name, times in ("first", first), ("second", second):
        figure(f"start.{name}", times, "ms")
        figure(f"start.{name}.lowest", [min(times)], "ms")
        figure(f"start.{name}.highest", [max(times)], "ms")


if __name__ == "__main__":
    main(sys.argv[1])
