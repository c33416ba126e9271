"""Refusals of options: kept for 30 days, read by every process, and forgotten on request."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from studio.core.models.remote.faults import (
    KEPT,
    LearnedRefusal,
    RefusedOptions,
    without_refused,
)

PLACE = ("http://127.0.0.1:1/v1", "openai-chat", "m")
OTHER = ("http://127.0.0.1:2/v1", "openai-chat", "m")


def day(ago: timedelta) -> str:
    return (datetime.now(UTC).date() - ago).isoformat()


def test_another_process_knows_what_one_learned(tmp_path: Path) -> None:
    path = tmp_path / "config" / "refused.json"
    first, second = RefusedOptions(path), RefusedOptions(path)
    assert second.at(PLACE[0]) == ()
    first.learn(LearnedRefusal(*PLACE, "temperature"))
    second.learn(LearnedRefusal(*OTHER, "top_p"))
    assert [each.option for each in second.at(PLACE[0])] == ["temperature"]
    assert [each.option for each in first.at(OTHER[0])] == ["top_p"]
    second.forget(PLACE[0])
    assert first.at(PLACE[0]) == ()
    assert [each.option for each in first.at(OTHER[0])] == ["top_p"]


def test_a_refusal_is_believed_for_thirty_days(tmp_path: Path) -> None:
    refusals = RefusedOptions(tmp_path / "refused.json")
    refusals.learn(LearnedRefusal(*PLACE, "old", learned=day(KEPT)))
    refusals.learn(LearnedRefusal(*PLACE, "new", learned=day(KEPT - timedelta(days=1))))
    assert [each.option for each in refusals.at(PLACE[0])] == ["new"]


@pytest.mark.parametrize("text", ["", "{", "[1, {}]", '{"a": 1}', '[{"address": 1}]', "[" * 9000])
def test_a_broken_file_is_as_if_nothing_was_learned(tmp_path: Path, text: str) -> None:
    path = tmp_path / "refused.json"
    path.write_text(text, encoding="utf-8")
    refusals = RefusedOptions(path)
    assert refusals.at(PLACE[0]) == ()
    refusals.learn(LearnedRefusal(*PLACE, "temperature"))
    assert RefusedOptions(path).at(PLACE[0]) == refusals.at(PLACE[0]) != ()


def test_a_file_that_cannot_be_written_costs_only_the_memory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    refusals = RefusedOptions(tmp_path / "file" / "refused.json")
    refusals.learn(LearnedRefusal(*PLACE, "temperature"))
    assert [each.option for each in refusals.at(PLACE[0])] == ["temperature"]


def test_a_value_is_sent_under_another_name_or_not_at_all() -> None:
    refusals = (
        LearnedRefusal(*PLACE, "max_tokens", "max_completion_tokens"),
        LearnedRefusal(*PLACE, "temperature"),
        LearnedRefusal(*PLACE, "seed"),
    )
    body, refused = without_refused({"temperature": 0.5, "max_tokens": 9}, refusals)
    assert body == {"max_completion_tokens": 9}
    assert [each.sentence for each in refused] == [
        "The server does not accept 'max_tokens': 9 is sent as 'max_completion_tokens'.",
        "The server does not accept 'temperature': 0.5 is left out.",
    ]
