"""Certificates for the servers under test, signed by temporary authorities."""

import datetime
import ipaddress
import ssl

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


class Authority:
    """A certificate authority in a folder."""

    def __init__(self, directory, name):
        self.directory = directory
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.certificate = self._sign(name, self.key.public_key(), name, is_authority=True)
        self.path = directory / f"{name}.pem"
        self.path.write_bytes(self.pem)

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    def client_context(self) -> ssl.SSLContext:
        """Returns the context for a client that uses h2 and trusts this authority."""
        context = ssl.create_default_context(cafile=self.path)
        context.set_alpn_protocols(["h2"])
        return context

    def issue(self, name: str, addresses: tuple[str, ...] = (), hosts: tuple[str, ...] = ("localhost",)):
        """Issues a certificate for hosts and addresses and its key, and writes both files, replacing earlier ones."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = self._sign(
            name, key.public_key(), self.certificate.subject.rfc4514_string()[3:], (hosts, addresses)
        )
        certificate_path, key_path = self.directory / "server.pem", self.directory / "server.key"
        certificate_path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        key_path.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        return certificate_path, key_path, certificate.serial_number

    def tls(self, *listeners: str, **subjects: tuple[str, ...]) -> dict:
        """Issues a certificate of a gateway, and returns the section `tls` of its configuration."""
        certificate, key, _ = self.issue("server", **subjects)
        return {"certificate": str(certificate), "key": str(key), "listeners": list(listeners)}

    def _sign(self, name, public_key, issuer, subjects=None, is_authority=False):
        now = datetime.datetime.now(datetime.UTC)
        named = [x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)]) for text in (name, issuer)]
        builder = (
            x509.CertificateBuilder()
            .subject_name(named[0])
            .issuer_name(named[1])
            .public_key(public_key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        )
        if not is_authority:
            hosts, addresses = subjects
            names = [x509.DNSName(host) for host in hosts]
            names += [x509.IPAddress(ipaddress.ip_address(address)) for address in addresses]
            builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        return builder.sign(self.key, hashes.SHA256())
