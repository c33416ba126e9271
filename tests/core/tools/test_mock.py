"""Stand-ins for tools."""

from __future__ import annotations

import pytest

from studio.core.tools.registry import (
    AskMock,
    FixedMock,
    Mock,
    RecordedAnswer,
    RecordedMock,
    SequenceMock,
    TemplateMock,
    mock_answer,
)


def texts(mock: Mock, calls: int) -> list[str]:
    found = []
    for earlier in range(calls):
        outcome = mock_answer(mock, {"city": "Oslo", "days": 2}, earlier)
        assert outcome is not None
        found.append(f"{outcome.status} {outcome.text}")
    return found


@pytest.mark.parametrize(
    ("mock", "expected"),
    [
        (FixedMock("sunny"), ["ok sunny"] * 3),
        (FixedMock({"t": 1.5}), ['ok {"t": 1.5}'] * 3),
        (FixedMock("no", is_error=True), ["error no"] * 3),
        (SequenceMock(("a", "b")), ["ok a", "ok b", "ok b"]),
        (SequenceMock(("a", "b"), "again"), ["ok a", "ok b", "ok a"]),
        (
            SequenceMock(("a", "b"), "error"),
            ["ok a", "ok b", "error the mock has 2 answers, and all were used"],
        ),
        (
            TemplateMock("{city} for {{ days }} days{missing}, {not a name}"),
            ["ok Oslo for 2 days, {not a name}"] * 3,
        ),
    ],
)
def test_answers(mock: Mock, expected: list[str]) -> None:
    assert texts(mock, 3) == expected


def test_an_empty_sequence_is_an_error() -> None:
    assert texts(SequenceMock(()), 1) == ["error the mock has 0 answers, and all were used"]


def test_recorded_answers_go_by_arguments() -> None:
    mock = RecordedMock(
        (
            RecordedAnswer({"q": 1}, "first"),
            RecordedAnswer({"q": 2}, "other", is_error=True),
            RecordedAnswer({"q": 1}, "second"),
        )
    )

    def answer(q: int, earlier: int) -> str:
        outcome = mock_answer(mock, {"q": q}, earlier)
        assert outcome is not None
        return f"{outcome.status} {outcome.text}"

    assert [answer(1, 0), answer(1, 1), answer(1, 2)] == ["ok first", "ok second", "ok second"]
    assert answer(2, 0) == "error other"
    assert answer(3, 0) == "error no recorded answer for these arguments"


def test_the_person_is_asked() -> None:
    assert mock_answer(AskMock(), {}, 0) is None
