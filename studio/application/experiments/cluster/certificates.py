"""Certificates for a cluster of one's own: an authority, and one pair for all its machines.

Scheduler, workers and leader show each other the same certificate, signed by the same authority:
whoever has the folder belongs to the cluster, and nobody else can speak to it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.x509 import Certificate, CertificateBuilder, GeneralName

_DAYS = 365


def write_certificates(folder: Path, hosts: Sequence[str]) -> None:
    """Write `ca.pem`, `cert.pem` and `key.pem`; the authority's own key is thrown away.

    Args:
        folder: where; it is made, and none of the files may be there.
        hosts: names and addresses of the machines.

    Raises:
        FileExistsError: a file is there already.
        OSError: it cannot be written.
        ImportError: `cryptography` is not installed.
    """
    from cryptography import x509
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    authority_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    authority = _signed(
        _about("Prompt Studio cluster authority", "Prompt Studio cluster authority", authority_key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True),
        authority_key,
    )  # fmt: skip
    names: list[GeneralName] = [_name(each) for each in hosts]
    certificate = _signed(
        _about("Prompt Studio cluster", "Prompt Studio cluster authority", key)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True),
        authority_key,
    )  # fmt: skip
    pem = serialization.Encoding.PEM
    private = key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "key.pem", private, 0o600)
    _write(folder / "cert.pem", certificate.public_bytes(pem), 0o644)
    _write(folder / "ca.pem", authority.public_bytes(pem), 0o644)


def _about(subject: str, issuer: str, key: EllipticCurvePrivateKey) -> CertificateBuilder:
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    def name(text: str) -> x509.Name:
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(name(subject))
        .issuer_name(name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        # Clocks of machines differ.
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=_DAYS))
    )


def _signed(builder: CertificateBuilder, key: EllipticCurvePrivateKey) -> Certificate:
    from cryptography.hazmat.primitives import hashes

    return builder.sign(key, hashes.SHA256())


def _name(host: str) -> GeneralName:
    from cryptography import x509

    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _write(path: Path, content: bytes, mode: int) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(content)
