"""A gateway whose people sign in with a browser at an identity provider."""

from pathlib import Path

from .gateway import ADMIN_PASSWORD, Gateway
from .parties import User

CLIENT = "data-gateway"
USERS = {
    "organization": "acme",
    "create": True,
    "roles_claim": "groups",
    "roles": {"gw-admins": "admin", "gw-ops": "operator"},
}


def client_of(issuer: str, secret: str, folder: Path, users: dict = USERS) -> dict:
    """Returns the configuration of a provider, at which the gateway is a client with the secret."""
    (file := folder / "secret").write_text(secret)
    file.chmod(0o600)
    client = {"audiences": [CLIENT], "client_id": CLIENT, "secret_file": str(file)}
    return {"title": "Example SSO", "issuer": issuer, "users": users} | client


def start(gateway_with, stubs, **providers: dict) -> Gateway:
    """Starts a gateway with the providers, and the organization of their users."""
    gateway = gateway_with({"identity": {"providers": providers}})
    User.login(gateway, stubs, "system", "admin", ADMIN_PASSWORD).create_organization("acme")
    return gateway
