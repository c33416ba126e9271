"""The ledger of experiments: every cell of every result in one SQLite file of its own.

A cell is leased before it is asked for and finished in one transaction with its answer and marks,
so a process that is killed loses only what was under way. A lease holds while its owner lives: who
starts again takes back those of the dead.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import time
import uuid
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from studio.core.experiments.assertions.marking import results_as_json, results_of_json
from studio.core.experiments.results.cells import (
    CellKey,
    CellOutcome,
    CellState,
    RowTotal,
    VariantTotal,
)
from studio.core.runs.store import LockFile, is_held
from studio.core.text.values import Json

VERSION = 1
_AT_ONCE = 400

_SCHEMA = """
CREATE TABLE IF NOT EXISTS experiment (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, file TEXT NOT NULL, started REAL NOT NULL,
  finished REAL, state TEXT NOT NULL, repeats INTEGER NOT NULL, spec TEXT NOT NULL,
  accepted INTEGER NOT NULL DEFAULT 0, label TEXT NOT NULL DEFAULT '', totals TEXT
);
CREATE TABLE IF NOT EXISTS variant (
  experiment INTEGER NOT NULL, ord INTEGER NOT NULL, name TEXT NOT NULL,
  facts TEXT NOT NULL DEFAULT '{}', PRIMARY KEY (experiment, ord)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS row (
  experiment INTEGER NOT NULL, ord INTEGER NOT NULL, key TEXT NOT NULL, facts BLOB NOT NULL,
  PRIMARY KEY (experiment, ord)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS cell (
  experiment INTEGER NOT NULL, repeat INTEGER NOT NULL, row INTEGER NOT NULL,
  variant INTEGER NOT NULL, identity BLOB NOT NULL, state INTEGER NOT NULL DEFAULT 0,
  owner TEXT, passed INTEGER, score REAL, cost REAL, in_tokens INTEGER, out_tokens INTEGER,
  ms REAL, steps INTEGER, cached INTEGER NOT NULL DEFAULT 0, error TEXT, output INTEGER,
  facts TEXT, PRIMARY KEY (experiment, repeat, row, variant)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS cell_open ON cell (experiment, repeat, row, variant) WHERE state < 2;
CREATE INDEX IF NOT EXISTS cell_done ON cell (identity) WHERE state = 2;
CREATE TABLE IF NOT EXISTS mark (
  experiment INTEGER NOT NULL, repeat INTEGER NOT NULL, row INTEGER NOT NULL,
  variant INTEGER NOT NULL, results BLOB NOT NULL,
  PRIMARY KEY (experiment, repeat, row, variant)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS journal (
  experiment INTEGER NOT NULL, repeat INTEGER NOT NULL, row INTEGER NOT NULL,
  variant INTEGER NOT NULL, dictionary INTEGER, data BLOB NOT NULL,
  PRIMARY KEY (experiment, repeat, row, variant)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS blob (id INTEGER PRIMARY KEY, hash BLOB UNIQUE NOT NULL, data BLOB);
"""

_TOTALS = """
SELECT variant, count(*), sum(state = 2), coalesce(sum(passed = 1), 0), sum(state IN (3, 4)),
  sum(state = 2 AND passed IS NULL), sum(cached),
  coalesce(sum(CASE WHEN cached = 0 THEN cost END), 0.0),
  coalesce(sum(CASE WHEN cached = 0 THEN in_tokens + out_tokens END), 0),
  sum(state = 2 AND cost IS NULL)
FROM cell WHERE experiment = ? GROUP BY variant ORDER BY variant
"""


class LedgerError(Exception):
    """A ledger that cannot be used; the text says what to do."""


@dataclass(frozen=True, slots=True)
class ResultHead:
    """One result in the list of results."""

    id: int
    """Its number in the ledger."""

    name: str
    """The experiment's."""

    file: str
    """The experiment file."""

    started: float
    """When, in seconds since the epoch."""

    finished: float | None
    """When it ended; None while it has not."""

    state: str
    """`running`, `done`, `paused` or `cancelled`."""

    repeats: int
    """Repeats of each row."""

    spec: Mapping[str, Json]
    """Pass rule, baseline, seed: what reading the result needs."""

    is_accepted: bool = False
    """Whether it was blessed as the baseline."""

    label: str = ""
    """A name that was given to it."""


@dataclass(frozen=True, slots=True)
class ResultRow:
    """A row as the result keeps it."""

    number: int
    """From 1."""

    key: str
    """The same in other results of the same case."""

    facts: Mapping[str, Json]
    """`vars`, `tags`, `description`, `metadata`, `expected`, `file`, `line`, `threshold`."""


@dataclass(frozen=True)
class NewResult:
    """What a result begins with."""

    name: str
    """The experiment's."""

    file: str
    """The experiment file."""

    spec: Mapping[str, Json]
    """What reading the result needs."""

    variants: Sequence[str]
    """Names of the columns."""

    rows: Sequence[ResultRow]
    """In order."""

    repeats: int
    """Repeats of each row."""

    cells: Iterable[tuple[CellKey, bytes]] = field(default=())
    """Every cell with its identity."""


class ExperimentLedger:
    """The open file. May be used from several threads; several processes may share it."""

    def __init__(self, path: Path) -> None:
        """Open the file, or make it.

        Raises:
            LedgerError: it is no ledger, of a newer studio, or cannot be made.
        """
        self.path = path
        """The file."""
        self.owner = uuid.uuid4().hex[:12]
        """The name under which this process leases."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        except (OSError, sqlite3.Error) as error:
            raise LedgerError(f"{path} cannot be opened: {error}") from error
        self._mutex = threading.RLock()
        try:
            self._prepare()
            self._lock = LockFile(self._lock_path(self.owner))
        except (OSError, sqlite3.Error) as error:
            self._connection.close()
            raise LedgerError(
                f"{path} cannot be read as a ledger of experiments ({error}); move it away to "
                "start anew"
            ) from error
        except LedgerError:
            self._connection.close()
            raise

    def _prepare(self) -> None:
        run = self._connection.execute
        run("PRAGMA page_size = 8192")
        run("PRAGMA busy_timeout = 5000")
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = NORMAL")
        (version,) = run("PRAGMA user_version").fetchone()
        if version > VERSION:
            raise LedgerError(f"{self.path} was written by a newer studio")
        self._connection.executescript(_SCHEMA)
        if "totals" not in {row[1] for row in run("PRAGMA table_info(experiment)")}:
            run("ALTER TABLE experiment ADD COLUMN totals TEXT")
        run(f"PRAGMA user_version = {VERSION}")

    def _lock_path(self, owner: str) -> Path:
        return self.path.with_name(f"{self.path.stem}-{owner}.lock")

    def close(self) -> None:
        """Let go of the file."""
        with self._mutex:
            self._connection.close()
        self._lock.release()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._mutex:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                try:
                    yield self._connection
                except BaseException:
                    if self._connection.in_transaction:  # a full disk has rolled back by itself
                        self._connection.execute("ROLLBACK")
                    raise
                self._connection.execute("COMMIT")
            except sqlite3.Error as error:
                raise LedgerError(f"the results cannot be written: {error}") from error

    def _all(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        with self._mutex:
            return self._connection.execute(sql, values).fetchall()

    # Beginning and ending -------------------------------------------------------------------------

    def begin(self, new: NewResult) -> int:
        """Begin a result; its cells wait. Gives its number."""
        with self._transaction() as run:
            cursor = run.execute(
                "INSERT INTO experiment (name, file, started, state, repeats, spec)"
                " VALUES (?, ?, ?, 'running', ?, ?)",
                (new.name, new.file, time.time(), new.repeats, _json(new.spec)),
            )
            number = int(cursor.lastrowid or 0)
            run.executemany(
                "INSERT INTO variant (experiment, ord, name) VALUES (?, ?, ?)",
                [(number, at, name) for at, name in enumerate(new.variants)],
            )
            run.executemany(
                "INSERT INTO row (experiment, ord, key, facts) VALUES (?, ?, ?, ?)",
                ((number, row.number, row.key, _packed(_json(row.facts))) for row in new.rows),
            )
            run.executemany(
                "INSERT INTO cell (experiment, repeat, row, variant, identity) VALUES (?,?,?,?,?)",
                (
                    (number, key.repeat, key.row, key.variant, identity)
                    for key, identity in new.cells
                ),
            )
        return number

    def end(self, experiment: int, state: str) -> None:
        """Note how a result stands: `done`, `paused`, `cancelled`, or `running` again."""
        finished = None if state == "running" else time.time()
        with self._transaction() as run:
            # A million cells are added up once, when no more change.
            totals = None
            if finished is not None:
                totals = json.dumps(run.execute(_TOTALS, (experiment,)).fetchall())
            run.execute(
                "UPDATE experiment SET state = ?, finished = ?, totals = ? WHERE id = ?",
                (state, finished, totals, experiment),
            )

    def accept(self, experiment: int, label: str = "") -> None:
        """Bless a result as the baseline of its file; only one is."""
        with self._transaction() as run:
            run.execute(
                "UPDATE experiment SET accepted = 0 WHERE file ="
                " (SELECT file FROM experiment WHERE id = ?)", (experiment,),
            )  # fmt: skip
            run.execute(
                "UPDATE experiment SET accepted = 1, label = CASE ? WHEN '' THEN label ELSE ? END"
                " WHERE id = ?", (label, label, experiment),
            )  # fmt: skip

    def delete(self, experiment: int) -> None:
        """Forget a result."""
        with self._transaction() as run:
            for table in ("mark", "journal", "cell", "row", "variant"):
                run.execute(f"DELETE FROM {table} WHERE experiment = ?", (experiment,))
            run.execute("DELETE FROM experiment WHERE id = ?", (experiment,))

    # Leases ---------------------------------------------------------------------------------------

    def take_back(self, experiment: int) -> int:
        """Take back the leases of processes that are gone; gives how many."""
        owners = self._all(
            "SELECT DISTINCT owner FROM cell INDEXED BY cell_open"
            " WHERE experiment = ? AND state = 1 AND state < 2", experiment,
        )  # fmt: skip
        dead = [
            name for (name,) in owners
            if name != self.owner and not is_held(self._lock_path(str(name)))
        ]  # fmt: skip
        taken = 0
        with self._transaction() as run:
            for name in dead:
                cursor = run.execute(
                    "UPDATE cell SET state = 0, owner = NULL"
                    " WHERE experiment = ? AND state = 1 AND owner = ?", (experiment, name),
                )  # fmt: skip
                taken += cursor.rowcount
        for name in dead:
            self._lock_path(str(name)).unlink(missing_ok=True)
        return taken

    def lease(self, experiment: int, count: int) -> list[CellKey]:
        """Take cells that nobody has begun: row by row over the variants, repeats last."""
        with self._transaction() as run:
            found = run.execute(
                "SELECT repeat, row, variant FROM cell WHERE experiment = ? AND state = 0"
                " AND state < 2 ORDER BY repeat, row, variant LIMIT ?", (experiment, count),
            ).fetchall()  # fmt: skip
            run.executemany(
                "UPDATE cell SET state = 1, owner = ? WHERE experiment = ? AND repeat = ?"
                " AND row = ? AND variant = ?",
                [(self.owner, experiment, *each) for each in found],
            )
        return [CellKey(*each) for each in found]

    def give_back(self, experiment: int, keys: Iterable[CellKey]) -> None:
        """Cells that were leased and not asked for wait again."""
        with self._transaction() as run:
            run.executemany(
                "UPDATE cell SET state = 0, owner = NULL WHERE experiment = ? AND repeat = ?"
                " AND row = ? AND variant = ? AND state = 1",
                [(experiment, key.repeat, key.row, key.variant) for key in keys],
            )

    def reopen(self, experiment: int, *, errors: bool = False, failed: bool = False) -> int:
        """Let cells wait again: those without an answer, those that did not pass."""
        wanted = []
        if errors:
            wanted.append("state IN (3, 4)")
        if failed:
            wanted.append("(state = 2 AND (passed IS NULL OR passed = 0))")
        if not wanted:
            return 0
        with self._transaction() as run:
            run.execute("UPDATE experiment SET totals = NULL WHERE id = ?", (experiment,))
            cursor = run.execute(
                "UPDATE cell SET state = 0, owner = NULL, cached = 0 WHERE experiment = ?"
                f" AND ({' OR '.join(wanted)})", (experiment,),
            )  # fmt: skip
        return cursor.rowcount

    def waiting(self, experiment: int) -> int:
        """How many cells are not over."""
        ((count,),) = self._all(
            "SELECT count(*) FROM cell WHERE experiment = ? AND state < 2", experiment
        )
        return int(count)

    # Outcomes -------------------------------------------------------------------------------------

    def finish(
        self, experiment: int, key: CellKey, outcome: CellOutcome, journal: bytes | None = None
    ) -> None:
        """Keep what came of a cell; when this returns it is safe."""
        where = (experiment, key.repeat, key.row, key.variant)
        with self._transaction() as run:
            output = self._blob(run, outcome.output) if outcome.output else None
            run.execute(
                "UPDATE cell SET state = ?, owner = NULL, passed = ?, score = ?, cost = ?,"
                " in_tokens = ?, out_tokens = ?, ms = ?, steps = ?, cached = ?, error = ?,"
                " output = ?, facts = ? WHERE experiment = ? AND repeat = ? AND row = ?"
                " AND variant = ?",
                (
                    int(outcome.state), outcome.passed, outcome.score, outcome.cost,
                    outcome.input_tokens, outcome.output_tokens, outcome.ms, outcome.steps,
                    int(outcome.is_cached), outcome.error or None, output,
                    _json(outcome.facts) if outcome.facts else None, *where,
                ),
            )  # fmt: skip
            if outcome.results:
                packed = _packed(results_as_json(outcome.results))
                run.execute("INSERT OR REPLACE INTO mark VALUES (?,?,?,?,?)", (*where, packed))
            if journal is not None:
                self._keep_journal(run, where, journal)

    def _blob(self, run: sqlite3.Connection, text: str) -> int:
        data = text.encode("utf-8", "surrogatepass")
        name = hashlib.sha256(data).digest()[:16]
        held = run.execute("SELECT id FROM blob WHERE hash = ?", (name,)).fetchone()
        if held is not None:
            return int(held[0])
        packed = zlib.compress(data)
        return int(run.execute("INSERT INTO blob (hash, data) VALUES (?, ?)", (name, packed))
                   .lastrowid or 0)  # fmt: skip

    def _keep_journal(
        self, run: sqlite3.Connection, where: tuple[int, int, int, int], journal: bytes
    ) -> None:
        """Runs of one variant are alike: the first one is the dictionary of the others."""
        experiment, _, _, variant = where
        (facts,) = run.execute(
            "SELECT facts FROM variant WHERE experiment = ? AND ord = ?", (experiment, variant)
        ).fetchone()
        known = json.loads(facts)
        dictionary = known.get("dictionary")
        if dictionary is None:
            sample = journal[-32_768:]
            dictionary = int(
                run.execute(
                    "INSERT INTO blob (hash, data) VALUES (?, ?)",
                    (hashlib.sha256(f"{experiment}/{variant}".encode()).digest(),
                     zlib.compress(sample)),
                ).lastrowid or 0
            )  # fmt: skip
            run.execute(
                "UPDATE variant SET facts = ? WHERE experiment = ? AND ord = ?",
                (_json({**known, "dictionary": dictionary}), experiment, variant),
            )
        else:
            sample = self._dictionary(run, dictionary)
        packer = zlib.compressobj(9, zdict=sample)
        data = packer.compress(journal) + packer.flush()
        run.execute(
            "INSERT OR REPLACE INTO journal VALUES (?,?,?,?,?,?)", (*where, dictionary, data)
        )

    def _dictionary(self, run: sqlite3.Connection, number: int) -> bytes:
        (data,) = run.execute("SELECT data FROM blob WHERE id = ?", (number,)).fetchone()
        return zlib.decompress(data)

    def journal(self, experiment: int, key: CellKey) -> bytes | None:
        """The kept run of a cell; None where it was not kept."""
        found = self._all(
            "SELECT dictionary, data FROM journal WHERE experiment = ? AND repeat = ? AND row = ?"
            " AND variant = ?", experiment, key.repeat, key.row, key.variant,
        )  # fmt: skip
        if not found:
            return None
        dictionary, data = found[0]
        with self._mutex:
            sample = self._dictionary(self._connection, dictionary)
        return zlib.decompressobj(zdict=sample).decompress(data)

    def outcome(self, experiment: int, key: CellKey) -> CellOutcome | None:
        """What came of a cell; None where it is not over."""
        found = self._all(
            "SELECT c.state, b.data, c.passed, c.score, c.cost, c.in_tokens, c.out_tokens, c.ms,"
            " c.steps, c.error, c.cached, m.results, c.facts FROM cell c"
            " LEFT JOIN blob b ON b.id = c.output LEFT JOIN mark m ON m.experiment = c.experiment"
            " AND m.repeat = c.repeat AND m.row = c.row AND m.variant = c.variant"
            " WHERE c.experiment = ? AND c.repeat = ? AND c.row = ? AND c.variant = ?",
            experiment, key.repeat, key.row, key.variant,
        )  # fmt: skip
        if not found or found[0][0] < CellState.DONE:
            return None
        (state, data, passed, score, cost, into, out, ms, steps, error, cached, results,
         facts) = found[0]  # fmt: skip
        return CellOutcome(
            CellState(state),
            zlib.decompress(data).decode("utf-8", "surrogatepass") if data is not None else "",
            None if passed is None else bool(passed),
            score or 0.0, cost, into or 0, out or 0, ms or 0.0, steps or 0, error or "",
            bool(cached), results_of_json(_unpacked(results)) if results is not None else (),
            json.loads(facts) if facts else {},
        )  # fmt: skip

    def known(self, identities: Sequence[bytes]) -> dict[bytes, tuple[int, CellKey]]:
        """Which identities have an answer in any result, and where."""
        made: dict[bytes, tuple[int, CellKey]] = {}
        for at in range(0, len(identities), _AT_ONCE):
            part = identities[at : at + _AT_ONCE]
            marks = ",".join("?" * len(part))
            for identity, experiment, repeat, row, variant in self._all(
                "SELECT identity, experiment, repeat, row, variant FROM cell"
                f" WHERE state = 2 AND identity IN ({marks}) ORDER BY experiment", *part,
            ):  # fmt: skip
                made[bytes(identity)] = (experiment, CellKey(repeat, row, variant))
        return made

    def identity(self, experiment: int, key: CellKey) -> bytes:
        """A cell's identity."""
        ((found,),) = self._all(
            "SELECT identity FROM cell WHERE experiment = ? AND repeat = ? AND row = ?"
            " AND variant = ?", experiment, key.repeat, key.row, key.variant,
        )  # fmt: skip
        return bytes(found)

    # Looking --------------------------------------------------------------------------------------

    def results(self, file: str = "") -> list[ResultHead]:
        """Results, the newest first."""
        rows = self._all(
            "SELECT id, name, file, started, finished, state, repeats, spec, accepted, label"
            " FROM experiment WHERE ? IN ('', file) ORDER BY id DESC", file,
        )  # fmt: skip
        return [_head(row) for row in rows]

    def result(self, experiment: int) -> ResultHead:
        """One result.

        Raises:
            LedgerError: there is none of that number.
        """
        found = next((each for each in self.results() if each.id == experiment), None)
        if found is None:
            raise LedgerError(f"there is no result {experiment}")
        return found

    def variants(self, experiment: int) -> list[str]:
        """Names of the columns."""
        rows = self._all("SELECT name FROM variant WHERE experiment = ? ORDER BY ord", experiment)
        return [name for (name,) in rows]

    def rows(self, experiment: int, first: int = 1, last: int = 2**31) -> list[ResultRow]:
        """Rows of a range."""
        found = self._all(
            "SELECT ord, key, facts FROM row WHERE experiment = ? AND ord BETWEEN ? AND ?"
            " ORDER BY ord", experiment, first, last,
        )  # fmt: skip
        return [ResultRow(number, key, json.loads(_unpacked(facts)))
                for number, key, facts in found]  # fmt: skip

    def states(self, experiment: int) -> list[tuple[CellKey, int, bool | None, float]]:
        """State, verdict and score of every cell, in the order of repeats, rows and variants."""
        return [
            (CellKey(repeat, row, variant), state, None if passed is None else bool(passed),
             score or 0.0)
            for repeat, row, variant, state, passed, score in self._all(
                "SELECT repeat, row, variant, state, passed, score FROM cell WHERE experiment = ?",
                experiment,
            )
        ]  # fmt: skip

    def row_totals(self, experiment: int) -> list[RowTotal]:
        """The repeats of each row and variant, added up."""
        return [
            RowTotal(row, variant, done, passed or 0, score or 0.0, errors, undecided, ms or 0.0)
            for row, variant, done, passed, score, errors, undecided, ms in self._all(
                "SELECT row, variant, sum(state = 2), sum(passed = 1),"
                " avg(CASE WHEN state = 2 THEN score END), sum(state IN (3, 4)),"
                " sum(state = 2 AND passed IS NULL), avg(CASE WHEN state = 2 THEN ms END)"
                " FROM cell WHERE experiment = ? GROUP BY row, variant ORDER BY row, variant",
                experiment,
            )
        ]

    def variant_totals(self, experiment: int) -> list[VariantTotal]:
        """All cells of each variant, added up."""
        kept = self._all("SELECT totals FROM experiment WHERE id = ?", experiment)
        if kept and kept[0][0] is not None:
            return [VariantTotal(*each) for each in json.loads(kept[0][0])]
        return [VariantTotal(*each) for each in self._all(_TOTALS, experiment)]

    def times(self, experiment: int, variant: int) -> list[float]:
        """Times of the cells of a variant that have an answer, in milliseconds."""
        rows = self._all(
            "SELECT ms FROM cell WHERE experiment = ? AND variant = ? AND state = 2",
            experiment, variant,
        )  # fmt: skip
        return [float(ms or 0.0) for (ms,) in rows]


def _head(row: tuple[Any, ...]) -> ResultHead:
    number, name, file, started, finished, state, repeats, spec, accepted, label = row
    return ResultHead(
        number,
        name,
        file,
        started,
        finished,
        state,
        repeats,
        json.loads(spec),
        bool(accepted),
        label,
    )


def _json(value: Mapping[str, Json]) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _packed(text: str) -> bytes:
    return zlib.compress(text.encode("utf-8", "surrogatepass"))


def _unpacked(data: bytes) -> str:
    return zlib.decompress(data).decode("utf-8", "surrogatepass")
