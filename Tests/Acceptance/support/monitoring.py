"""The gateway's output for operators: its metrics, its log, and a Prometheus server that scrapes it."""

import json
import re
import shutil
import subprocess
import urllib.parse
import urllib.request
from pathlib import Path

from . import process
from .gateway import eventually
from .ports import free_port
from .waiting import WAIT_SECONDS

_SAMPLE = re.compile(r"^([a-z_]+)(?:\{(.*)\})? (\S+)$")
_LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')


def scrape(gateway) -> str:
    """Returns all metrics in Prometheus' text format."""
    with urllib.request.urlopen(f"http://{gateway.listeners['ops']}/metrics", timeout=WAIT_SECONDS) as response:
        return response.read().decode()


def samples(gateway) -> list[tuple[str, dict[str, str], float]]:
    """Returns the name, labels and value of each sample."""
    matches = [_SAMPLE.match(line) for line in scrape(gateway).splitlines() if not line.startswith("#")]
    return [(match[1], dict(_LABEL.findall(match[2] or "")), float(match[3])) for match in matches]


def metric(gateway, name: str, **labels: str) -> float:
    """Returns the sum of the samples with that name and these labels."""
    return sum(value for found, has, value in samples(gateway) if found == name and labels.items() <= has.items())


def log(gateway) -> list[dict]:
    """Returns the log lines so far, each of which has to be a JSON object. The gateway writes them a moment after the event."""
    # The last line may be half written.
    complete, _, _ = gateway.stderr.rpartition("\n")
    return [json.loads(line) for line in complete.splitlines()]


def logged(gateway, **fields) -> dict:
    """Returns the only line with these fields."""

    def find() -> list[dict]:
        return [line for line in log(gateway) if fields.items() <= line.items()]

    found = eventually(find)
    assert len(found) == 1, found
    return found[0]


def tool(name: str) -> str:
    path = shutil.which(name)
    assert path, f"{name} is missing: scripts/deps prometheus installs it"
    return path


def promtool(*arguments: str | Path, input: str = "") -> None:
    """Runs Prometheus' checker, which must succeed."""
    process.run(tool("promtool"), *arguments, input=input)


class Prometheus:
    """A Prometheus server that scrapes gateways every second."""

    def __init__(self, directory: Path, *gateways):
        self.address = f"127.0.0.1:{free_port()}"
        targets = json.dumps([gateway.listeners["ops"] for gateway in gateways])
        config = directory / "prometheus.yml"
        config.write_text(
            "global: {scrape_interval: 1s, scrape_timeout: 1s}\n"
            f"scrape_configs: [{{job_name: data-gateway, static_configs: [{{targets: {targets}}}]}}]\n"
        )
        with open(directory / "prometheus.log", "wb") as output:
            self.process = subprocess.Popen(
                [
                    tool("prometheus"), f"--config.file={config}", f"--storage.tsdb.path={directory / 'tsdb'}",
                    f"--web.listen-address={self.address}",
                ],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            )  # fmt: skip

    def __enter__(self) -> "Prometheus":
        try:
            eventually(self._is_ready, seconds=60)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        self.process.terminate()
        self.process.wait(WAIT_SECONDS)

    def _is_ready(self) -> bool:
        """Returns whether it responds to queries: it refuses connections, then queries (503), until its storage is open."""
        assert self.process.poll() is None, "prometheus ended: see prometheus.log in the test's directory"
        try:
            with urllib.request.urlopen(f"http://{self.address}/-/ready", timeout=WAIT_SECONDS):
                return True
        except OSError:
            return False

    def query(self, expression: str) -> list[dict]:
        """Returns the current result of the expression."""
        question = urllib.parse.urlencode({"query": expression})
        try:
            with urllib.request.urlopen(
                f"http://{self.address}/api/v1/query?{question}", timeout=WAIT_SECONDS
            ) as response:
                return json.load(response)["data"]["result"]
        except urllib.error.HTTPError as refusal:
            raise RuntimeError(f"{expression}: {refusal.read().decode()}") from None
