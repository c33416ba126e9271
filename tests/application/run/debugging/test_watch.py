from __future__ import annotations

from studio.application.run.debugging.console import watch_rows
from tests.application.run.examples import at_call, done


def test_values_are_those_of_the_place() -> None:
    rows = watch_rows(at_call(), ["args.fact", "iteration", "tokens.total > 400", "observation"])
    assert [row.value for row in rows] == ['"capital of France"', "1", "true", "null"]
    assert watch_rows(done(), ["iteration"])[0].value == "2"


def test_what_cannot_be_read_says_why() -> None:
    (row,) = watch_rows(at_call(), ["nothing.x"])
    assert row.is_wrong
    assert "there is no 'nothing'" in row.value
    (none,) = watch_rows(None, ["iteration"])
    assert none.value == "no run yet"


def test_long_values_are_cut() -> None:
    (row,) = watch_rows(at_call(), ['"' + "x" * 900 + '"'])
    assert len(row.value) == 500
