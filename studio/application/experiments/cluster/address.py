"""Where the workers of an experiment are, and the certificates by which they know each other.

Scheduler, workers and leader show each other the same certificate, signed by the same authority:
whoever has the folder belongs to the cluster, and nobody else can speak to it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from studio.application.experiments.cluster.dispatch import WorkersError
from studio.application.words import tr

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.x509 import Certificate, CertificateBuilder, GeneralName


CERTIFICATES = ("ca.pem", "cert.pem", "key.pem")
"""The files of a folder of certificates."""

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_DAYS = 365


@dataclass(frozen=True, slots=True)
class WorkersAddress:
    """Where workers are."""

    address: str
    """`local:N`, `tcp://host:port` or `tls://host:port`."""

    certificates: Path | None = None
    """The folder of `ca.pem`, `cert.pem` and `key.pem`, for `tls://`."""

    insecure: bool = False
    """Whether an open scheduler on another machine is used all the same."""

    @property
    def local(self) -> int | None:
        """How many worker processes are started on this machine; None for a scheduler."""
        kind, _, count = self.address.partition(":")
        return int(count) if kind == "local" and count.isdigit() and int(count) else None

    def check(self) -> None:
        """Refuse what cannot be used, or what would let anyone run code.

        Raises:
            WorkersError: why.
        """
        if self.local is not None:
            return
        parts = urlsplit(self.address)
        if parts.scheme not in ("tcp", "tls") or not parts.hostname or not parts.port:
            raise WorkersError(
                tr(
                    "{address!r} names no workers: write local:4, tls://host:8786 or "
                    "tcp://127.0.0.1:8786."
                ).format(address=self.address)
            )
        if parts.scheme == "tcp" and parts.hostname not in _LOOPBACK and not self.insecure:
            raise WorkersError(
                tr(
                    "{address} is not encrypted: whoever reaches that scheduler can run programs "
                    "on its workers. Use tls:// (prompt-studio cluster certificates makes what it "
                    "needs), or --insecure in a network of your own."
                ).format(address=self.address)
            )
        if parts.scheme == "tls":
            folder = self.certificates
            lacking = [name for name in CERTIFICATES if not folder or not (folder / name).is_file()]
            if lacking:
                raise WorkersError(
                    tr(
                        "tls:// needs --certificates FOLDER with ca.pem, cert.pem and key.pem; "
                        "missing: {names}."
                    ).format(names=", ".join(lacking))
                )


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
        _about(
            "Prompt Studio cluster authority", "Prompt Studio cluster authority", authority_key
        ).add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True),
        authority_key,
    )
    names: list[GeneralName] = [_name(each) for each in hosts]
    certificate = _signed(
        _about("Prompt Studio cluster", "Prompt Studio cluster authority", key)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True),
        authority_key,
    )
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
