"""Certificates as the tests need them, good ones and bad ones, made anew for each run."""

import datetime
import ipaddress
import pathlib

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

SERVER = ExtendedKeyUsageOID.SERVER_AUTH
CLIENT = ExtendedKeyUsageOID.CLIENT_AUTH
# The algorithm identifiers of PKCS#1 signatures in DER (RFC 8017, appendix A.2.4).
SHA256_WITH_RSA = bytes.fromhex("2a864886f70d01010b")
SHA1_WITH_RSA = bytes.fromhex("2a864886f70d010105")


def name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


class Identity:
    """A certificate and its key, as objects and as PEM."""

    def __init__(self, certificate: x509.Certificate, key):
        self.certificate = certificate
        self.key = key

    @property
    def der(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.DER)

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    @property
    def key_pem(self) -> bytes:
        return self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption())

    def write(self, folder: pathlib.Path, stem: str, mode: int = 0o600) -> tuple[str, str]:
        """Writes both, each whole at once; the paths of the certificate and the key."""
        certificate, key = folder / f"{stem}.pem", folder / f"{stem}.key"
        # The key first: beside a broken certificate it is no other failure for a server that reads
        # them in between.
        for path, data, bits in ((key, self.key_pem, mode), (certificate, self.pem, 0o644)):
            made = path.with_suffix(".new")
            made.write_bytes(data)
            made.chmod(bits)
            made.rename(path)
        return str(certificate), str(key)


class Authority:
    """Signs certificates. `rsa_bits` makes its own key an RSA key."""

    def __init__(self, text: str = "test authority", rsa_bits: int = 0):
        self.name = name(text)
        self.key = make_key(rsa_bits)
        self.identity = self.issue(text, usage=None, is_authority=True, key=self.key)

    @property
    def pem(self) -> bytes:
        return self.identity.pem

    def issue(self, text: str = "localhost", start: float = -1, end: float = 30, usage=SERVER,
              rsa_bits: int = 0, sha1: bool = False, is_authority: bool = False, key=None,
              hosts: tuple[str, ...] = ("localhost", "127.0.0.1")) -> Identity:
        """A certificate from `start` to `end`, in days from now."""
        key = key or make_key(rsa_bits)
        now = datetime.datetime.now(datetime.timezone.utc)
        builder = (x509.CertificateBuilder().subject_name(name(text)).issuer_name(self.name)
                   .public_key(key.public_key()).serial_number(x509.random_serial_number())
                   .not_valid_before(now + datetime.timedelta(days=start))
                   .not_valid_after(now + datetime.timedelta(days=end))
                   .add_extension(x509.BasicConstraints(is_authority, None), critical=True))
        if usage:
            builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        if not is_authority:
            builder = builder.add_extension(alternative_names(hosts), critical=False)
        certificate = builder.sign(self.key, hashes.SHA256())
        return Identity(self.signed_by_sha1(certificate) if sha1 else certificate, key)

    def signed_by_sha1(self, certificate: x509.Certificate) -> x509.Certificate:
        """The same with a signature that no library makes any more. Needs an RSA authority."""
        old = certificate.tbs_certificate_bytes
        new = old.replace(SHA256_WITH_RSA, SHA1_WITH_RSA)
        signature = self.key.sign(new, padding.PKCS1v15(), hashes.SHA1())
        der = certificate.public_bytes(serialization.Encoding.DER).replace(old, new)
        der = der.replace(SHA256_WITH_RSA, SHA1_WITH_RSA)
        return x509.load_der_x509_certificate(der.replace(certificate.signature, signature))


def self_signed(text: str, usage) -> Identity:
    """A certificate that is its own authority."""
    authority = Authority(text)
    return authority.issue(text, usage=usage, key=authority.key)


def make_key(rsa_bits: int):
    if rsa_bits:
        return rsa.generate_private_key(public_exponent=65537, key_size=rsa_bits)
    return ec.generate_private_key(ec.SECP256R1())


def alternative_names(hosts) -> x509.SubjectAlternativeName:
    def general_name(host: str) -> x509.GeneralName:
        try:
            return x509.IPAddress(ipaddress.ip_address(host))
        except ValueError:
            return x509.DNSName(host)
    return x509.SubjectAlternativeName([general_name(host) for host in hosts])
