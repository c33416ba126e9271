"""The leader's side: send cells to workers in small batches until each is finished.

Dask, or another system, is only the transport: a lost batch is sent again. Few cells run at a time
(two batches of ten per thread), so that a lost worker costs little, and results from a worker are
stored and released at once.
"""

from __future__ import annotations

import asyncio
import math
import os
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from studio.application.words import tr

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.x509 import Certificate, CertificateBuilder, GeneralName


BATCH = 10
"""Maximum number of cells in a batch."""

AHEAD = 2
"""Number of batches per worker thread: one runs, one waits."""

_LOST_TIMES = 5
_SHRINK, _GROWTH = 0.85, 0.5


class WorkersError(Exception):
    """Raised when the workers cannot be used. Finished cells are stored; the run can continue."""


class BatchLostError(Exception):
    """Raised when a batch is lost with its worker or the scheduler; it may be sent again."""


class WorkerPool(Protocol):
    """A pool of workers that receive batches and return their results."""

    @property
    def workers(self) -> int:
        """Number of workers."""
        ...

    @property
    def threads(self) -> int:
        """Number of batches that the workers can run at once."""
        ...

    async def send(
        self, cells: list[dict[str, Any]], shares: Mapping[str, float]
    ) -> tuple[list[dict[str, Any]], Mapping[str, int]]:
        """Run a batch; return an object for each cell, and the rejected requests by connection.

        Raises:
            BatchLostError: the batch may be sent again.
            WorkersError: sending it again is useless.
        """
        ...

    async def restore(self) -> None:
        """Find the workers again after a batch was lost.

        Raises:
            WorkersError: there are none.
        """
        ...


@dataclass(slots=True)
class _Waiting:
    cell: dict[str, Any]
    over: asyncio.Future[dict[str, Any]] = field(repr=False)
    lost: int = 0


class CellDispatcher:
    """A dispatcher of the cells of one experiment to workers."""

    def __init__(self, pool: WorkerPool, rates: Mapping[str, float]) -> None:
        """Store the workers and the rates.

        Args:
            pool: the workers.
            rates: maximum number of parallel requests per connection, over all workers.
        """
        self._pool = pool
        self._most = dict(rates)
        self._rates = dict(rates)
        self._cuts: dict[str, float] = {}
        self._shortest = math.inf
        self._waiting: deque[_Waiting] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        self._pump: asyncio.Handle | None = None
        self._restored = asyncio.Lock()
        self._losses = 0
        self.refused = 0
        """Number of requests that servers rejected so far (429)."""
        self.sent_again = 0
        """Number of cells that were sent again after a lost batch."""

    @property
    def room(self) -> int:
        """Number of cells to run at once, so that no worker waits for the leader."""
        return max(1, self._pool.threads) * AHEAD * BATCH

    async def ask(self, cell: Mapping[str, Any]) -> dict[str, Any]:
        """Run a cell on a worker and return its result.

        Raises:
            WorkersError: the workers cannot be used.
        """
        over: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(dict(cell), over))
        self._soon()
        return await over

    async def close(self) -> None:
        """Stop sending cells."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _soon(self) -> None:
        """Send the waiting cells after all cells of this turn of the loop have been added."""
        if self._pump is None:
            self._pump = asyncio.get_running_loop().call_soon(self._send)

    def _send(self) -> None:
        self._pump = None
        while self._waiting and (free := AHEAD * max(1, self._pool.threads) - len(self._tasks)) > 0:
            count = min(BATCH, math.ceil(len(self._waiting) / free))
            batch = [self._waiting.popleft() for _ in range(count)]
            batch = [each for each in batch if not each.over.cancelled()]
            if batch:
                task = asyncio.get_running_loop().create_task(self._batch(batch))
                self._tasks.add(task)
                task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._soon()

    async def _batch(self, batch: list[_Waiting]) -> None:
        losses, began = self._losses, asyncio.get_running_loop().time()
        try:
            found, refused = await self._pool.send([each.cell for each in batch], self._shares())
        except BatchLostError as error:
            await self._lost(batch, losses, error)
            return
        except BaseException as error:
            # Even if it is canceled: these cells must not wait forever.
            for each in batch:
                if not each.over.done():
                    each.over.set_exception(_as_error(error))
            if not isinstance(error, Exception):
                raise
            return
        self._learn(refused, began)
        for each, asked in zip(batch, found, strict=True):
            if not each.over.done():
                each.over.set_result(asked)

    async def _lost(self, batch: list[_Waiting], losses: int, error: BatchLostError) -> None:
        """Put a lost batch first in the queue, when there are workers again."""
        self.sent_again += len(batch)
        for each in batch:
            each.lost += 1
        worst = max(each.lost for each in batch)
        failed: Exception | None = None
        if worst > _LOST_TIMES:
            failed = WorkersError(f"A batch was lost {worst} times: {error}")
        else:
            try:
                async with self._restored:
                    if losses == self._losses:  # no other batch has restored them since
                        await self._pool.restore()
                        self._losses += 1
            except WorkersError as away:
                failed = away
        for each in reversed(batch):
            if failed is not None and not each.over.done():
                each.over.set_exception(failed)
            elif failed is None:
                self._waiting.appendleft(each)

    def _shares(self) -> dict[str, float]:
        """Return the share of each connection's limit for one worker."""
        workers = max(1, self._pool.workers)
        return {name: max(1.0, rate / workers) for name, rate in self._rates.items()}

    def _learn(self, refused: Mapping[str, int], began: float) -> None:
        """Lower the rate of a connection with rejected requests; raise the other rates a little.

        Workers get a lower rate with their next batches; until these have ended, it is not lowered
        again.
        """
        now = asyncio.get_running_loop().time()
        self._shortest = min(self._shortest, now - began)
        for name, rate in self._rates.items():
            count = refused.get(name, 0)
            self.refused += count
            if not count:
                self._rates[name] = min(self._most[name], rate + _GROWTH)
            elif now - self._cuts.get(name, -self._shortest) >= self._shortest:
                self._rates[name] = max(1.0, rate * _SHRINK)
                self._cuts[name] = now


def _as_error(error: BaseException) -> Exception:
    if isinstance(error, Exception):
        return error
    return WorkersError("The experiment was stopped.")


# The address of the workers, and the certificates of both sides.

CERTIFICATES = ("ca.pem", "cert.pem", "key.pem")
"""The files of a folder of certificates."""

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_DAYS = 365


@dataclass(frozen=True, slots=True)
class WorkersAddress:
    """The address of the workers."""

    address: str
    """`local:N`, `tcp://host:port` or `tls://host:port`."""

    certificates: Path | None = None
    """Folder with `ca.pem`, `cert.pem` and `key.pem`, for `tls://`."""

    insecure: bool = False
    """Whether to use an unprotected scheduler on another machine."""

    @property
    def local(self) -> int | None:
        """Number of worker processes on this machine; None for a scheduler."""
        kind, _, count = self.address.partition(":")
        return int(count) if kind == "local" and count.isdigit() and int(count) else None

    def check(self) -> None:
        """Refuse an address that cannot be used, or that would let anyone run code.

        Raises:
            WorkersError: the address is refused; the text says why.
        """
        if self.local is not None:
            return
        try:
            parts = urlsplit(self.address)
            is_place = parts.scheme in ("tcp", "tls") and parts.hostname and parts.port
        except ValueError:  # unmatched brackets, or a port that is no number
            is_place = False
        if not is_place:
            raise WorkersError(
                tr(
                    "{address!r} names no workers: write local:4, tls://host:8786 or "
                    "tcp://127.0.0.1:8786."
                ).format(address=self.address)
            )
        if parts.scheme == "tcp" and parts.hostname not in _LOOPBACK and not self.insecure:
            raise WorkersError(
                tr(
                    "{address} is not encrypted: anyone who can access that scheduler can run "
                    "programs on its workers. Use tls:// (prompt-studio cluster certificates "
                    "creates its certificates), or --insecure in your own network."
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
    """Write `ca.pem`, `cert.pem` and `key.pem`; the key of the authority is not stored.

    Args:
        folder: target folder, which is created; none of the files may exist.
        hosts: names and addresses of the machines.

    Raises:
        FileExistsError: a file exists already.
        OSError: a file cannot be written.
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
        # The clocks of machines differ.
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
