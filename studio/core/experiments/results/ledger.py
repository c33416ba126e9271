"""The ledger of experiments: every cell of every result in one SQLite file of its own.

A cell is leased before its request and finished in one transaction with its answer and marks, so a
killed process loses only cells in progress. A lease is valid while its owner runs; the next start
releases those of ended processes.
"""

import json
import time
import uuid
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import starmap
from pathlib import Path
from typing import Any

from studio.core.experiments.assertions.marking import results_as_json, results_of_json
from studio.core.experiments.results import database
from studio.core.experiments.results.batch_store import BatchStore, forget_requests
from studio.core.experiments.results.cells import (
    CellKey,
    CellOutcome,
    CellState,
    LedgerScans,
    NewResult,
    ResultHead,
    ResultRow,
    add_outcome,
    begin_totals,
    sum_up,
)
from studio.core.experiments.results.ratings import RatingStore
from studio.core.runs.store import LockFile, is_held
from studio.core.text.values import JsonDict, reason_of

_AT_ONCE = 400
_UNDECIDED = "state = 2 AND passed IS NULL"
_TRIES = 20
_EQUAL = """
SELECT o.experiment, o.repeat, o.row, o.variant
FROM cell c JOIN cell o ON o.identity = c.identity AND o.state = 2 AND o.output IS c.output
JOIN journal j ON (j.experiment, j.repeat, j.row, j.variant)
  = (o.experiment, o.repeat, o.row, o.variant)
WHERE c.experiment = ? AND c.repeat = ? AND c.row = ? AND c.variant = ? AND c.cached = 1
ORDER BY o.experiment LIMIT 1
"""
"""Query for the cell with a stored run that has the same answer as another cell."""

_TRY_SECONDS = 0.005


class ExperimentLedger:
    """The open file. May be used from several threads; several processes may share it."""

    def __init__(self, path: Path) -> None:
        """Open the file, or create it.

        Raises:
            LedgerError: it is no ledger, is from a newer studio, or cannot be created.
        """
        self.path = path
        """Path of the file."""
        self.owner = uuid.uuid4().hex[:12]
        """Name under which this process leases cells."""
        self._database = database.LedgerDatabase(path)
        self.batches = BatchStore(self._database)
        """Store of the batches."""
        self.ratings = RatingStore(self._database)
        """Store of the users' ratings."""
        self.scans = LedgerScans(self._database)
        """Queries over all cells of a result."""
        self._transaction = self._database.transaction
        self._read, self._scan = self._database.read, self._database.scan
        try:
            self._lock = LockFile(self._lock_path(self.owner))
        except OSError as error:
            self._database.close()
            raise database.LedgerError(f"{path} cannot be used: {reason_of(error)}") from error

    def _lock_path(self, owner: str) -> Path:
        return self.path.with_name(f"{self.path.stem}-{owner}.lock")

    def close(self) -> None:
        """Close the file."""
        self._database.close()
        self._lock.release()

    # Beginning and ending -------------------------------------------------------------------------

    def begin(self, new: NewResult) -> int:
        """Create a result with pending cells; return its number."""
        with self._transaction() as run:
            cursor = run.execute(
                "INSERT INTO experiment (name, file, started, state, repeats, spec)"
                " VALUES (?, ?, ?, 'running', ?, ?)",
                (new.name, new.file, time.time(), new.repeats, database.as_text(new.spec)),
            )
            number = int(cursor.lastrowid or 0)
            run.executemany(
                "INSERT INTO variant (experiment, ord, name) VALUES (?, ?, ?)",
                [(number, at, name) for at, name in enumerate(new.variants)],
            )
            run.executemany(
                "INSERT INTO row (experiment, ord, key, facts) VALUES (?, ?, ?, ?)",
                (
                    (number, row.number, row.key, database.packed(database.as_text(row.facts)))
                    for row in new.rows
                ),
            )
            counts: Counter[int] = Counter()
            run.executemany(
                "INSERT INTO cell (experiment, repeat, row, variant, identity) VALUES (?,?,?,?,?)",
                _cells(number, new.cells, counts),
            )
            begin_totals(run, number, [counts[at] for at in range(len(new.variants))])
        return number

    def end(self, experiment: int, state: str) -> None:
        """Set the state of a result: `done`, `paused`, `cancelled`, or `running` again."""
        finished = None if state == "running" else time.time()
        with self._transaction() as run:
            run.execute(
                "UPDATE experiment SET state = ?, finished = ? WHERE id = ?",
                (state, finished, experiment),
            )

    def accept(self, experiment: int, label: str = "") -> None:
        """Accept a result as the only baseline of its file."""
        with self._transaction() as run:
            run.execute(
                "UPDATE experiment SET accepted = 0 WHERE file ="
                " (SELECT file FROM experiment WHERE id = ?)",
                (experiment,),
            )
            run.execute(
                "UPDATE experiment SET accepted = 1, label = CASE ? WHEN '' THEN label ELSE ? END"
                " WHERE id = ?",
                (label, label, experiment),
            )

    def delete(self, experiment: int) -> None:
        """Delete a result."""
        with self._transaction() as run:
            for table in tuple(
                """
                mark journal rating preference total batch_request batch cell row variant
            """.split()
            ):
                run.execute(f"DELETE FROM {table} WHERE experiment = ?", (experiment,))
            run.execute("DELETE FROM experiment WHERE id = ?", (experiment,))

    def state(self, experiment: int) -> str:
        """Return the state of a result, as set by `end`."""
        found = self._read("SELECT state FROM experiment WHERE id = ?", experiment)
        return str(found[0][0]) if found else ""

    @contextmanager
    def hold(self, experiment: int) -> Iterator[None]:
        """Show other processes that this one runs a result, as long as it lives."""
        lock: LockFile | None = None
        for _ in range(_TRIES):
            try:
                lock = LockFile(self._run_path(experiment))
            except OSError:
                time.sleep(_TRY_SECONDS)  # another process that checks it locks it for a moment
            else:
                break
        try:
            yield
        finally:
            if lock is not None:
                lock.release()

    def is_run(self, experiment: int) -> bool:
        """Return whether a running process, this one included, runs a result."""
        return is_held(self._run_path(experiment))

    def _run_path(self, experiment: int) -> Path:
        return self.path.with_name(f"{self.path.stem}-run-{experiment}.lock")

    # Leases ---------------------------------------------------------------------------------------

    def take_back(self, experiment: int) -> int:
        """Release the leases of processes that ended; return their number."""
        owners = self._read(
            "SELECT DISTINCT owner FROM cell INDEXED BY cell_open"
            " WHERE experiment = ? AND state = 1 AND state < 2",
            experiment,
        )
        dead = [
            name
            for (name,) in owners
            if name != self.owner and not is_held(self._lock_path(str(name)))
        ]
        taken = 0
        with self._transaction() as run:
            for name in dead:
                cursor = run.execute(
                    "UPDATE cell SET state = 0, owner = NULL"
                    " WHERE experiment = ? AND state = 1 AND owner = ?",
                    (experiment, name),
                )
                taken += cursor.rowcount
        for name in dead:
            self._lock_path(str(name)).unlink(missing_ok=True)
        return taken

    def lease(self, experiment: int, count: int) -> list[CellKey]:
        """Lease pending cells: row by row over the variants, repeats last."""
        with self._transaction() as run:
            found = run.execute(
                "SELECT repeat, row, variant FROM cell WHERE experiment = ? AND state = 0"
                " AND state < 2 ORDER BY repeat, row, variant LIMIT ?",
                (experiment, count),
            ).fetchall()
            run.executemany(
                "UPDATE cell SET state = 1, owner = ? WHERE experiment = ? AND repeat = ?"
                " AND row = ? AND variant = ?",
                [(self.owner, experiment, *each) for each in found],
            )
        return [CellKey(*each) for each in found]

    def give_back(self, experiment: int, keys: Iterable[CellKey]) -> None:
        """Release leased cells that were not requested, so that they are pending again."""
        with self._transaction() as run:
            run.executemany(
                "UPDATE cell SET state = 0, owner = NULL WHERE experiment = ? AND repeat = ?"
                " AND row = ? AND variant = ? AND state = 1",
                [(experiment, key.repeat, key.row, key.variant) for key in keys],
            )

    def reopen(
        self,
        experiment: int,
        *,
        errors: bool = False,
        failed: bool = False,
        undecided: bool = False,
    ) -> int:
        """Make cells pending again: those without an answer, failed, or undecided."""
        wanted = []
        if errors:
            wanted.append("state IN (3, 4)")
        if failed:
            wanted.append("(state = 2 AND (passed IS NULL OR passed = 0))")
        if undecided:
            wanted.append(f"({_UNDECIDED})")
        if not wanted:
            return 0
        with self._transaction() as run:
            cursor = run.execute(
                "UPDATE cell SET state = 0, owner = NULL, cached = 0 WHERE experiment = ?"
                f" AND ({' OR '.join(wanted)})",
                (experiment,),
            )
            sum_up(run, experiment)
        return cursor.rowcount

    def waiting(self, experiment: int) -> int:
        """Return the number of unfinished cells."""
        ((count,),) = self._read(
            "SELECT count(*) FROM cell WHERE experiment = ? AND state < 2", experiment
        )
        return int(count)

    def waiting_keys(self, experiment: int) -> list[CellKey]:
        """Return the cells that are not finished."""
        found = self._scan(
            "SELECT repeat, row, variant FROM cell WHERE experiment = ? AND state < 2", experiment
        )
        return [CellKey(*where) for where in found]

    def undecided(self, experiment: int) -> dict[CellKey, CellOutcome]:
        """Return the answered cells that no check has decided."""
        found = self._read(
            f"SELECT repeat, row, variant FROM cell WHERE experiment = ? AND {_UNDECIDED}",
            experiment,
        )
        answered = ((key, self.outcome(experiment, key)) for key in starmap(CellKey, found))
        return {key: outcome for key, outcome in answered if outcome is not None}

    def reasons(self, experiment: int) -> list[tuple[str, int]]:
        """Return why cells have no answer, with the number of cells, most frequent first."""
        found = self._read(
            "SELECT error, count(*) FROM cell WHERE experiment = ? AND error IS NOT NULL"
            " GROUP BY error ORDER BY count(*) DESC, error LIMIT 3",
            experiment,
        )
        return [(str(error), int(count)) for error, count in found]

    # Outcomes -------------------------------------------------------------------------------------

    def finish(
        self, experiment: int, key: CellKey, outcome: CellOutcome, journal: bytes | None = None
    ) -> None:
        """Store the outcome of a cell; it is safe on disk when this returns."""
        where = (experiment, key.repeat, key.row, key.variant)
        with self._transaction() as run:
            (before,) = run.execute(
                "SELECT state FROM cell WHERE experiment = ? AND repeat = ? AND row = ?"
                " AND variant = ?",
                where,
            ).fetchone()
            output = database.keep_answer(run, outcome.output) if outcome.output else None
            run.execute(
                "UPDATE cell SET state = ?, owner = NULL, passed = ?, score = ?, cost = ?,"
                " in_tokens = ?, out_tokens = ?, ms = ?, steps = ?, cached = ?, error = ?,"
                " output = ?, facts = ? WHERE experiment = ? AND repeat = ? AND row = ?"
                " AND variant = ?",
                (
                    int(outcome.state),
                    outcome.passed,
                    outcome.score,
                    outcome.cost,
                    outcome.input_tokens,
                    outcome.output_tokens,
                    outcome.ms,
                    outcome.steps,
                    int(outcome.is_cached),
                    outcome.error or None,
                    output,
                    database.as_text(outcome.facts) if outcome.facts else None,
                    *where,
                ),
            )
            if outcome.results:
                run.execute(
                    "INSERT OR REPLACE INTO mark VALUES (?,?,?,?,?)",
                    (*where, database.packed(results_as_json(outcome.results))),
                )
            if journal is not None:
                database.keep_journal(run, where, journal)
            forget_requests(run, where, is_error=outcome.state is CellState.ERROR)
            if before >= CellState.DONE:  # another process finished it as well
                sum_up(run, experiment)
            else:
                add_outcome(run, experiment, key.variant, outcome)

    def journal(self, experiment: int, key: CellKey) -> bytes | None:
        """Return the stored run of a cell, or of the cell with the same answer."""
        where = (experiment, key.repeat, key.row, key.variant)
        with self._database.reading() as run:
            found = database.kept_journal(run, where)
            if found is None and (place := run.execute(_EQUAL, where).fetchone()) is not None:
                found = database.kept_journal(run, place)
            return found

    def outcome(self, experiment: int, key: CellKey) -> CellOutcome | None:
        """Return the outcome of a cell; None if it is not finished."""
        found = self._read(
            "SELECT c.state, b.data, c.passed, c.score, c.cost, c.in_tokens, c.out_tokens, c.ms,"
            " c.steps, c.error, c.cached, m.results, c.facts FROM cell c"
            " LEFT JOIN blob b ON b.id = c.output LEFT JOIN mark m ON m.experiment = c.experiment"
            " AND m.repeat = c.repeat AND m.row = c.row AND m.variant = c.variant"
            " WHERE c.experiment = ? AND c.repeat = ? AND c.row = ? AND c.variant = ?",
            experiment,
            key.repeat,
            key.row,
            key.variant,
        )
        if not found or found[0][0] < CellState.DONE:
            return None
        (state, data, passed, score, cost, into, out, ms, steps, error, cached, results, facts) = (
            found[0]
        )
        return CellOutcome(
            CellState(state),
            zlib.decompress(data).decode("utf-8", "surrogatepass") if data is not None else "",
            None if passed is None else bool(passed),
            score or 0.0,
            cost,
            into or 0,
            out or 0,
            ms or 0.0,
            steps or 0,
            error or "",
            bool(cached),
            results_of_json(database.unpacked(results)) if results is not None else (),
            json.loads(facts) if facts else {},
        )

    def known(self, identities: Sequence[bytes]) -> dict[bytes, tuple[int, CellKey]]:
        """Return where each identity that has an answer is found, in any result."""
        made: dict[bytes, tuple[int, CellKey]] = {}
        for at in range(0, len(identities), _AT_ONCE):
            part = identities[at : at + _AT_ONCE]
            marks = ",".join("?" * len(part))
            for identity, experiment, repeat, row, variant in self._read(
                "SELECT identity, experiment, repeat, row, variant FROM cell"
                f" WHERE state = 2 AND identity IN ({marks}) ORDER BY experiment",
                *part,
            ):
                made[bytes(identity)] = (experiment, CellKey(repeat, row, variant))
        return made

    def identities(self, experiment: int) -> dict[CellKey, bytes]:
        """Return the identities of all cells of a result."""
        found = self._scan(
            "SELECT repeat, row, variant, identity FROM cell WHERE experiment = ?", experiment
        )
        return {CellKey(*where): bytes(identity) for *where, identity in found}

    def rename_cells(self, experiment: int, identities: Mapping[CellKey, bytes]) -> None:
        """Change the identities of a result's cells to those of their current requests."""
        kept = self.identities(experiment)
        changed = [
            (identity, experiment, key.repeat, key.row, key.variant)
            for key, identity in identities.items()
            if kept.get(key, identity) != identity
        ]
        with self._transaction() as run:
            run.executemany(
                "UPDATE cell SET identity = ? WHERE experiment = ? AND repeat = ? AND row = ?"
                " AND variant = ?",
                changed,
            )

    # Queries --------------------------------------------------------------------------------------

    def results(self, file: str = "") -> list[ResultHead]:
        """Return the results, newest first."""
        rows = self._read(
            "SELECT id, name, file, started, finished, state, repeats, spec, accepted, label"
            " FROM experiment WHERE ? IN ('', file) ORDER BY id DESC",
            file,
        )
        return [self._head(row) for row in rows]

    def _head(self, row: tuple[Any, ...]) -> ResultHead:
        number, name, file, started, finished, state, repeats, spec, accepted, label = row
        if state == "running" and not self.is_run(number):
            state = "interrupted"  # its process was killed
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

    def result(self, experiment: int) -> ResultHead:
        """Return the head of one result.

        Raises:
            LedgerError: there is no result with that number.
        """
        found = next((each for each in self.results() if each.id == experiment), None)
        if found is None:
            raise database.LedgerError(f"there is no result {experiment}")
        return found

    def variants(self, experiment: int) -> list[str]:
        """Return the names of the variants."""
        rows = self._read("SELECT name FROM variant WHERE experiment = ? ORDER BY ord", experiment)
        return [name for (name,) in rows]

    def rows(
        self, experiment: int, first: int = 1, last: int = 2**31, *, with_values: bool = True
    ) -> list[ResultRow]:
        """Return the rows of a range, optionally without their values."""
        found = self._read(
            "SELECT ord, key, facts FROM row WHERE experiment = ? AND ord BETWEEN ? AND ?"
            " ORDER BY ord",
            experiment,
            first,
            last,
        )
        return [
            ResultRow(number, key, _facts(facts, with_values=with_values))
            for number, key, facts in found
        ]


def _facts(kept: bytes, *, with_values: bool) -> JsonDict:
    """Return the stored data of a row; its values are freed at once."""
    facts: JsonDict = json.loads(database.unpacked(kept))
    if not with_values:
        facts.pop("vars", None)
    return facts


def _cells(
    experiment: int, cells: Iterable[tuple[CellKey, bytes]], counts: Counter[int]
) -> Iterator[tuple[int, int, int, int, bytes]]:
    """Yield the database rows of cells, and count them by variant."""
    for key, identity in cells:
        counts[key.variant] += 1
        yield experiment, key.repeat, key.row, key.variant, identity
