"""Debian's glewlwyd, an identity provider that companies run, with people who sign in by password at its own page."""

import shutil
import sqlite3
import subprocess
from pathlib import Path

import httpx
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from support.copies import free_port

from .waiting import WAIT_SECONDS

PROGRAM = Path("/usr/bin/glewlwyd")
SCHEMA = Path("/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3")
PAGES = Path("/usr/share/glewlwyd/webapp")
PAGE_SETTINGS = Path("/usr/share/glewlwyd/templates/config.json")


class Glewlwyd:
    """A provider in the folder `directory`; `issuer` is that of its tokens."""

    def __init__(self, directory: Path):
        self.url = f"http://localhost:{free_port()}"
        self.issuer = f"{self.url}/api/oidc"
        self._settings = directory / "glewlwyd.conf"
        database = directory / "glewlwyd.db"
        with sqlite3.connect(database) as connection:
            connection.executescript(SCHEMA.read_text())
        # The package's link to the settings of the pages leads to a folder.
        pages = directory / "pages"
        shutil.copytree(PAGES, pages, ignore=shutil.ignore_patterns("config.json"))
        shutil.copy(PAGE_SETTINGS, pages / "config.json")
        self._settings.write_text(configuration(self.url, database, pages, directory / "glewlwyd.log"))
        self.start()
        self._add_fields_of_people()
        self._send("POST", "mod/plugin/", plugin(self.issuer))

    def start(self) -> None:
        self._process = subprocess.Popen([PROGRAM, f"--config-file={self._settings}"], stderr=subprocess.STDOUT)
        self._admin = httpx.Client(
            base_url=f"{self.url}/api/", transport=httpx.HTTPTransport(retries=20), timeout=WAIT_SECONDS
        )
        # The password of a new installation.
        self._send("POST", "auth/", {"username": "admin", "password": "password"})

    def stop(self) -> None:
        self._admin.close()
        self._process.terminate()
        self._process.wait(30)

    close = stop

    def rotate_key(self) -> None:
        self._send("PUT", "mod/plugin/oidc", plugin(self.issuer))
        self._send("PUT", "mod/plugin/oidc/reset", {})

    def add_client(self, name: str, secret: str, redirects: list[str]) -> None:
        client = {
            "client_id": name,
            "name": name,
            "enabled": True,
            "confidential": True,
            "password": secret,
            "scope": [],
            "redirect_uri": redirects,
            "authorization_type": ["code"],
            "token_endpoint_auth_method": ["client_secret_basic", "client_secret_post"],
        }
        self._send("POST", "client/", client)

    def add_redirect(self, name: str, redirect: str) -> None:
        client = self._get(f"client/{name}")
        client["redirect_uri"].append(redirect)
        self._send("PUT", f"client/{name}", client)

    def put_person(
        self, name: str, password: str, groups: list[str], is_verified: bool = True, exists: bool = False
    ) -> None:
        person = {
            "username": name,
            "name": name,
            "password": password,
            "email": f"{name}@example.com",
            "enabled": True,
            "scope": ["openid"],
            "groups": groups,
            "verified": "yes" if is_verified else "no",
        }
        self._send(*(("PUT", f"user/{name}") if exists else ("POST", "user/")), person)

    def _add_fields_of_people(self) -> None:
        module = self._get("mod/user/database")
        field = {"read": True, "write": True}
        module["parameters"]["data-format"] |= {
            "groups": field | {"multiple": True},
            "verified": field | {"multiple": False},
        }
        self._send("PUT", "mod/user/database", module)
        self._send("PUT", "mod/user/database/reset", {})

    def _get(self, path: str) -> dict:
        return self._admin.get(path).raise_for_status().json()

    def _send(self, method: str, path: str, body: dict) -> None:
        self._admin.request(method, path, json=body).raise_for_status()


def plugin(issuer: str) -> dict:
    """Returns OpenID Connect with a new key, and with the claims `email`, `email_verified` and `groups`."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    groups = {"name": "groups", "user-property": "groups", "type": "string", "mandatory": True}
    verified = {
        "name": "email_verified",
        "user-property": "verified",
        "type": "boolean",
        "boolean-value-true": "yes",
        "boolean-value-false": "no",
        "mandatory": True,
    }
    parameters = {
        "iss": issuer,
        "jwt-type": "rsa",
        "jwt-key-size": "256",
        "key": private.decode(),
        "cert": public.decode(),
        "jwks-show": True,
        "auth-type-code-enabled": True,
        "pkce-allowed": True,
        "pkce-required": True,
        "subject-type": "public",
        "allowed-scope": ["openid"],
        "email-claim": "mandatory",
        "claims": [groups, verified],
    }
    return {"module": "oidc", "name": "oidc", "display_name": "OpenID Connect", "parameters": parameters}


def configuration(url: str, database: Path, pages: Path, log: Path) -> str:
    """Returns the provider's configuration, in the form that the package installs."""
    return f"""
        port = {url.rpartition(":")[2]}
        bind_address = "127.0.0.1"
        external_url = "{url}"
        login_url = "login.html"
        api_prefix = "api"
        static_files_path = "{pages}/"
        log_mode = "file"
        log_level = "INFO"
        log_file = "{log}"
        cookie_secure = 0
        session_key = "GLEWLWYD2_SESSION_ID"
        admin_scope = "g_admin"
        profile_scope = "g_profile"
        user_module_path = "/usr/lib/glewlwyd/user"
        client_module_path = "/usr/lib/glewlwyd/client"
        user_auth_scheme_module_path = "/usr/lib/glewlwyd/scheme"
        plugin_module_path = "/usr/lib/glewlwyd/plugin"
        hash_algorithm = "SHA512"
        database = {{ type = "sqlite3"; path = "{database}"; }};
        static_files_mime_types = (
            {{ extension = ".html"; mime_type = "text/html" }},
            {{ extension = ".css"; mime_type = "text/css" }},
            {{ extension = ".js"; mime_type = "application/javascript" }},
            {{ extension = ".json"; mime_type = "application/json" }},
            {{ extension = ".png"; mime_type = "image/png" }}
        )
    """
