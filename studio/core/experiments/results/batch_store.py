"""Stored batches of a result: which requests were sent in each, and their responses.

Every step is written to the ledger's file before the next one begins, so that a process killed at
any point sends nothing twice. The requests of a finished cell are deleted in the transaction that
finishes it.
"""

import sqlite3
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from studio.core.experiments.results.cells import CellKey
from studio.core.experiments.results.database import LedgerDatabase, packed, unpacked

HASH_BYTES = 16
"""Length of a request's hash, in bytes."""

_COLUMNS = "id, connection, model, mark, noted, file, remote, state, requests"


@dataclass(frozen=True, slots=True)
class KeptBatch:
    """A stored batch."""

    id: int
    """Number in the ledger."""

    connection: str
    """Name of the connection that it is sent to."""

    model: str
    """Model that answers it."""

    mark: str
    """Hash of the batch."""

    noted: float
    """Time at which it was stored, in seconds since 1970."""

    file: str
    """The provider's id of the file of requests; empty if none was sent (yet)."""

    remote: str
    """The provider's id of the batch; empty while it is unknown whether it was sent."""

    is_over: bool
    """Whether all results were read."""

    requests: int
    """Number of requests."""


@dataclass(frozen=True, slots=True)
class KeptRequest:
    """A stored request of a cell."""

    asked: bytes
    """Hash of the request with the options that its server was found to reject."""

    sent: bytes
    """Hash of the line that was sent; empty if an older version sent it."""

    batch: KeptBatch
    """Batch that contains the request."""

    line: str | None
    """Line of the results, without secrets; None if there is none (yet). Older versions stored only
    its response.
    """


class BatchStore:
    """The batches in one ledger."""

    def __init__(self, database: LedgerDatabase) -> None:
        """Use the open database."""
        self._database = database

    def note(
        self,
        experiment: int,
        connection: str,
        model: str,
        mark: str,
        requests: Sequence[tuple[CellKey, str, bytes]],
    ) -> KeptBatch:
        """Store a batch about to be sent, with cell, name and both hashes of each request."""
        now = time.time()
        with self._database.transaction() as run:
            cursor = run.execute(
                "INSERT INTO batch (experiment, connection, model, mark, noted, requests)"
                " VALUES (?,?,?,?,?,?)",
                (experiment, connection, model, mark, now, len(requests)),
            )
            number = int(cursor.lastrowid or 0)
            run.executemany(
                "INSERT OR REPLACE INTO batch_request VALUES (?,?,?,?,?,?,?,NULL)",
                [
                    (experiment, key.repeat, key.row, key.variant, name, hash_, number)
                    for key, name, hash_ in requests
                ],
            )
        return KeptBatch(number, connection, model, mark, now, "", "", False, len(requests))

    def note_file(self, batch: int, file: str) -> None:
        """Store the provider's id of the file of requests."""
        self._set(batch, "file", file)

    def note_sent(self, batch: int, remote: str) -> None:
        """Store the provider's id of the batch, which marks it as sent."""
        self._set(batch, "remote", remote)

    def note_over(self, batch: int) -> None:
        """Mark a batch as finished: all results were read, or it was never sent."""
        self._set(batch, "state", "over")

    def _set(self, batch: int, column: str, value: str) -> None:
        with self._database.transaction() as run:
            run.execute(f"UPDATE batch SET {column} = ? WHERE id = ?", (value, batch))

    def keep(
        self, experiment: int, replies: Iterable[tuple[CellKey, str, str]], batch: int
    ) -> None:
        """Store result lines, except those of finished cells."""
        with self._database.transaction() as run:
            run.executemany(
                "UPDATE batch_request SET response = ? WHERE experiment = ? AND repeat = ?"
                " AND row = ? AND variant = ? AND name = ? AND batch = ?",
                [
                    (packed(line), experiment, key.repeat, key.row, key.variant, name, batch)
                    for key, name, line in replies
                ],
            )

    def request(self, experiment: int, key: CellKey, name: str) -> KeptRequest | None:
        """Return a cell's stored request; None if it was never sent."""
        found = self._database.read(
            f"SELECT r.hash, r.response, {', '.join(f'b.{each}' for each in _COLUMNS.split(', '))}"
            " FROM batch_request r JOIN batch b ON b.id = r.batch WHERE r.experiment = ?"
            " AND r.repeat = ? AND r.row = ? AND r.variant = ? AND r.name = ?",
            experiment,
            key.repeat,
            key.row,
            key.variant,
            name,
        )
        if not found:
            return None
        hash_, line, *batch = found[0]
        held = unpacked(line) if line is not None else None
        return KeptRequest(hash_[:HASH_BYTES], hash_[HASH_BYTES:], _batch(*batch), held)

    def batches(self, experiment: int) -> list[KeptBatch]:
        """Return all batches of a result, the oldest first."""
        found = self._database.read(
            f"SELECT {_COLUMNS} FROM batch WHERE experiment = ? ORDER BY id", experiment
        )
        return [_batch(*each) for each in found]

    def under_way(self, experiment: int) -> list[KeptBatch]:
        """Return a result's batches that may still be answered, or were not fully read."""
        return [each for each in self.batches(experiment) if not each.is_over]

    def remotes(self) -> set[str]:
        """Return the providers' identifiers of all batches in the file."""
        found = self._database.read("SELECT remote FROM batch WHERE remote <> ''")
        return {remote for (remote,) in found}

    def members(self, batch: int) -> list[tuple[bytes, CellKey, str]]:
        """Return hash, cell and name of a batch's requests whose cells are not finished."""
        return [
            (bytes(identity), CellKey(repeat, row, variant), name)
            for identity, repeat, row, variant, name in self._database.read(
                "SELECT c.identity, r.repeat, r.row, r.variant, r.name FROM batch_request r"
                " JOIN cell c USING (experiment, repeat, row, variant) WHERE r.batch = ?",
                batch,
            )
        ]


def forget_requests(
    run: sqlite3.Connection, where: tuple[int, int, int, int], *, is_error: bool
) -> None:
    """Delete the requests of a finished cell, within the transaction that finishes it.

    Those of a cell without an answer stay while a batch may still answer one.
    """
    if (
        is_error
        and run.execute(
            "SELECT 1 FROM batch_request r JOIN batch b ON b.id = r.batch WHERE r.experiment = ?"
            " AND r.repeat = ? AND r.row = ? AND r.variant = ? AND r.response IS NULL"
            " AND b.state <> 'over' LIMIT 1",
            where,
        ).fetchone()
    ):
        return
    run.execute(
        "DELETE FROM batch_request WHERE experiment = ? AND repeat = ? AND row = ? AND variant = ?",
        where,
    )


def _batch(
    number: int,
    connection: str,
    model: str,
    mark: str,
    noted: float,
    file: str,
    remote: str,
    state: str,
    requests: int,
) -> KeptBatch:
    return KeptBatch(
        number, connection, model, mark, noted, file, remote, state == "over", requests
    )
