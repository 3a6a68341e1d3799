"""A certificate authority for one test, and servers' contexts with certificates of every kind."""

import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

DAY = timedelta(days=1)


class Authority:
    """Signs certificates; whose `SSL_CERT_FILE` is its `file` believes it."""

    def __init__(self, folder):
        self._folder = folder
        self._count = 0
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name(f"authority of {folder.name}")
        certificate = (
            _builder(self._name, self._name, self._key, 10 * DAY)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(_usage(signs=True), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.file = folder / "authority.pem"
        self.file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def server(self, *names, expired=False, self_signed=False):
        """A context with a certificate for `names` (hostnames and addresses)."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = _name(names[0])
        issuer, signer = (subject, key) if self_signed else (self._name, self._key)
        certificate = (
            _builder(subject, issuer, key, -DAY if expired else DAY)
            .add_extension(
                x509.SubjectAlternativeName(list(map(_alternative, names))), critical=False
            )
            .sign(signer, hashes.SHA256())
        )
        self._count += 1
        path = self._folder / f"{self._count}.pem"
        pkcs8, clear = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        path.write_bytes(
            key.private_bytes(serialization.Encoding.PEM, pkcs8, clear)
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return context


def _name(text):
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])


def _alternative(name):
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _builder(subject, issuer, key, until):
    now = datetime.now(UTC)
    serial = x509.random_serial_number()
    return x509.CertificateBuilder(
        issuer, subject, key.public_key(), serial, now - 5 * DAY, now + until
    )


def _usage(*, signs):
    names = ("digital_signature", "content_commitment", "key_encipherment", "data_encipherment",
             "key_agreement", "encipher_only", "decipher_only")  # fmt: skip
    return x509.KeyUsage(key_cert_sign=signs, crl_sign=signs, **dict.fromkeys(names, False))
