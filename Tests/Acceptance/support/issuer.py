"""An identity provider on loopback: discovery, a key set in Apple's format, and tokens signed as the test requires."""

import base64
import hashlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa


def encoded(number: int, length: int | None = None) -> str:
    data = number.to_bytes(length or (number.bit_length() + 7) // 8, "big")
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Key:
    """A key pair with its entry in the key set: `kty`, `kid`, `use`, `alg` and the numbers, as Apple publishes them."""

    def __init__(self, kid: str, algorithm: str = "RS256"):
        self.kid = kid
        self.algorithm = algorithm
        if algorithm == "RS256":
            self.private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
            numbers = self.private.public_key().public_numbers()
            members = {"kty": "RSA", "n": encoded(numbers.n), "e": encoded(numbers.e)}
        else:
            self.private = ec.generate_private_key(ec.SECP256R1())
            numbers = self.private.public_key().public_numbers()
            members = {"kty": "EC", "crv": "P-256", "x": encoded(numbers.x, 32), "y": encoded(numbers.y, 32)}
        self.public = {"kid": kid, "use": "sig", "alg": algorithm} | members


class Issuer:
    """A provider that answers until `stop`, on the same port again after `start`."""

    def __init__(self, path: str = ""):
        self.keys = [Key("A"), Key("B"), Key("E", "ES256")]
        self.path = path
        self.requests: list[str] = []
        self.port = 0
        self.server: ThreadingHTTPServer | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}{self.path}"

    def start(self) -> None:
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                issuer.requests.append(self.path)
                documents = {
                    f"{issuer.path}/.well-known/openid-configuration": {
                        "issuer": issuer.url,
                        "jwks_uri": f"{issuer.url}/keys",
                    },
                    f"{issuer.path}/keys": {"keys": [key.public for key in issuer.keys]},
                }
                document = documents.get(self.path)
                body = json.dumps(document).encode()
                self.send_response(200 if document else 404)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        ThreadingHTTPServer.allow_reuse_address = True
        self.server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        """Refuses connections from now on. Open ones end with their next request."""
        self.server.shutdown()
        self.server.server_close()
        self.server = None

    @property
    def key_requests(self) -> int:
        return sum(path.endswith("/keys") for path in self.requests)

    def claims(self, audience: str, subject: str = "001234.abc.0001", **changes) -> dict:
        now = int(time.time())
        claims = {"iss": self.url, "aud": audience, "sub": subject, "iat": now, "exp": now + 600} | changes
        return {name: value for name, value in claims.items() if value is not None}

    def token(self, audience: str, subject: str = "001234.abc.0001", key: Key | None = None, **changes) -> str:
        """Returns a token; a change to None removes a claim."""
        key = key or self.keys[0]
        return jwt.encode(
            self.claims(audience, subject, **changes), key.private, algorithm=key.algorithm, headers={"kid": key.kid}
        )


def forged(header: dict, claims: dict, sign) -> str:
    """Returns a token with any header; `sign` makes the signature of its bytes."""

    def part(value) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()

    signed = f"{part(header)}.{part(claims)}"
    return f"{signed}.{base64.urlsafe_b64encode(sign(signed.encode())).rstrip(b'=').decode()}"


def digest(nonce: str) -> str:
    return hashlib.sha256(nonce.encode()).hexdigest()
