"""Other servers for PUTs and GETs on this machine: single-threaded servers in C (sink.c), and nginx."""

import contextlib
import socket
import subprocess
import tempfile
from pathlib import Path

from measuring import SERVER_CORE, on_cores
from support.gateway import eventually


@contextlib.contextmanager
def sinks():
    """Starts the servers in C on the server's core, with their files where the gateway's are; returns their addresses by mode."""
    source = Path(__file__).with_name("sink.c")
    with tempfile.TemporaryDirectory(prefix="data-gateway-benchmark-") as directory:
        program = Path(directory) / "sink"
        flags = ["-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror"]
        subprocess.run(["cc", *flags, "-o", program, source, "-lcrypto", "-llzma"], check=True)
        running = {}
        try:
            with on_cores({SERVER_CORE}):
                for mode in ("receive", "hash", "durable"):
                    running[mode] = subprocess.Popen([program, mode, directory], stdout=subprocess.PIPE, text=True)
            yield {mode: f"127.0.0.1:{int(process.stdout.readline())}" for mode, process in running.items()}
        finally:
            for process in running.values():
                process.kill()
                process.communicate()


NGINX = """
daemon off;
user root;
worker_processes 1;
pid {directory}/nginx.pid;
error_log stderr;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000;
    client_max_body_size 0;
    client_body_temp_path {directory}/incoming;
    ssl_certificate {certificate};
    ssl_certificate_key {key};
    server {{
        listen 127.0.0.1:{plain};
        listen 127.0.0.1:{secure} ssl;
        root {root};
        location /put/ {{ alias {directory}/put/; dav_methods PUT; }}
    }}
}}
"""


class Nginx:
    """The addresses of one worker on the server's core; it serves the files of `root`, and accepts PUTs below /put/."""

    def __init__(self, plain: int, secure: int):
        self.plain, self.secure = f"127.0.0.1:{plain}", f"127.0.0.1:{secure}"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _accepts(address: str) -> bool:
    host, port = address.split(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0


@contextlib.contextmanager
def nginx(root: Path, certificate: Path, key: Path):
    """Starts Debian's nginx (`apt-get install nginx-core`)."""
    with tempfile.TemporaryDirectory(prefix="data-gateway-benchmark-") as name:
        directory, peer = Path(name), Nginx(_free_port(), _free_port())
        (directory / "put").mkdir()
        ports = {"plain": peer.plain.split(":")[1], "secure": peer.secure.split(":")[1]}
        text = NGINX.format(directory=directory, root=root, certificate=certificate, key=key, **ports)
        (directory / "nginx.conf").write_text(text)
        with on_cores({SERVER_CORE}):
            process = subprocess.Popen(["nginx", "-p", name, "-c", directory / "nginx.conf"])
        try:
            eventually(lambda: process.poll() is not None or _accepts(peer.plain), every=0.01)
            assert process.poll() is None, "nginx did not start"
            yield peer
        finally:
            process.terminate()
            process.wait()
