"""A webhook's receiver, and the events that the gateway sends to it."""

import base64
import hashlib
import hmac
import json
import ssl
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from .gateway import eventually
from .raw import fetch_url

KEY = bytes(range(32))
#: A key with which some receivers still verify.
OLD_KEY = b"the key that was used until now"
SECRET = "whsec_" + base64.b64encode(KEY).decode()


class Receiver:
    """A receiver on loopback: keeps received events, and responds as the test requires.

    `answer(event)` returns the status, or None to close the connection without a response.
    """

    def __init__(self, context: ssl.SSLContext | None = None):
        self.events: list[dict] = []
        self.requests: list[tuple[dict, bytes]] = []
        self.taken: list[dict] = []
        self.respond = lambda event: 204
        self.headers: dict[str, str] = {}
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                length = int(self.headers["content-length"])
                body = self.rfile.read(length)
                if len(body) < length:  # Its sender was killed.
                    self.close_connection = True
                    return
                event = json.loads(body)
                receiver.requests.append(({name.lower(): value for name, value in self.headers.items()}, body))
                receiver.events.append(event)
                status = receiver.respond(event)
                if status is None:
                    self.close_connection = True
                    return
                if status // 100 == 2:
                    receiver.taken.append(event)
                self.send_response(status)
                for name, value in receiver.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            def handle_error(self, request, client_address):
                if not isinstance(sys.exception(), ConnectionError):
                    super().handle_error(request, client_address)

        self.server = Server(("127.0.0.1", 0), Handler)
        if context:
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"{'https' if context else 'http'}://127.0.0.1:{self.server.server_port}/hook"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def of(self, subject: str) -> list[dict]:
        return [event for event in self.taken if event["subject"] == subject]

    def waits_for(self, subject: str, count: int = 1) -> list[dict]:
        return eventually(lambda: len(found := self.of(subject)) >= count and found)


def verify(secret: bytes, headers, body: bytes) -> bool:
    """Verifies a signature as described in docs/events.md."""
    id, sent = headers["webhook-id"], headers["webhook-timestamp"]
    if abs(time.time() - int(sent)) > 300:
        return False
    mac = hmac.new(secret, f"{id}.{sent}.".encode() + body, hashlib.sha256).digest()
    ours = "v1," + base64.b64encode(mac).decode()
    return any(hmac.compare_digest(ours, theirs) for theirs in headers["webhook-signature"].split())


def metrics(gateway, name: str) -> dict[str, int]:
    """Returns a metric family of events, by webhook."""
    text = fetch_url(f"http://{gateway.listeners['ops']}/metrics").body.decode()
    start = f'data_gateway_events_{name}{{webhook="'
    lines = [line[len(start) :] for line in text.splitlines() if line.startswith(start)]
    return {line.split('"')[0]: int(line.split()[-1]) for line in lines}
