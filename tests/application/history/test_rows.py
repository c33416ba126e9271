from __future__ import annotations

from datetime import UTC, datetime

from studio.application.history.rows import HEADS, GroupBy, grouped, row_of
from studio.core.runs.rows import RunSummary

NOW = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)
DAY = 86_400.0
RUNS = (
    RunSummary(
        "a", NOW.timestamp(), prompt="Agent", model="big", status="done", tokens=10, cost=0.5
    ),
    RunSummary("b", NOW.timestamp() - DAY, prompt="Chat", model="big", status="failed", tokens=5),
    RunSummary(
        "c", NOW.timestamp() - DAY, prompt="Agent", model="", status="done", tokens=2, cost=0.25
    ),
)


def _listed(by: GroupBy, *closed: str) -> list[str]:
    rows = grouped([row_of(run, NOW) for run in RUNS], by, closed, NOW)
    return [row.run.id if row.group is None else f"[{row.group}]" for row in rows]


def test_runs_stand_below_the_head_of_what_they_have_in_common() -> None:
    assert _listed("") == ["a", "b", "c"]
    assert _listed("prompt") == ["[Agent]", "a", "c", "[Chat]", "b"]
    assert _listed("model") == ["[big]", "a", "b", "[(no model)]", "c"]
    assert _listed("day") == ["[today]", "a", "[22 Nov 2026]", "b", "c"]


def test_the_runs_of_a_recording_are_nested_by_their_calls() -> None:
    tags = {"one": (), "two": ("called by four@2",), "three": ("called by two@1",), "four": ()}
    runs = [RunSummary(name, tags=("recording x", *tags[name])) for name in tags]
    runs += [RunSummary("u", tags=("called by v@1",)), RunSummary("v", tags=("called by u@1",))]
    rows = grouped([row_of(run, NOW) for run in runs], "recording", (), NOW)
    assert [(row.run.id, row.cells[0]) for row in rows if row.group is None] == [
        ("one", "(unnamed)"),
        ("four", "(unnamed)"),
        ("two", "↳ (unnamed)"),
        ("three", "↳ ↳ (unnamed)"),
        ("u", "(unnamed)"),
        ("v", "↳ (unnamed)"),
    ]
    assert [row.group for row in rows if row.group] == ["recording x", "(no recording)"]


def test_a_closed_group_shows_its_head_alone() -> None:
    assert _listed("prompt", "Agent") == ["[Agent]", "[Chat]", "b"]


def test_a_head_adds_up() -> None:
    head = grouped([row_of(run, NOW) for run in RUNS], "prompt", (), NOW)[0]
    told = dict(zip(HEADS, head.cells, strict=True))

    assert (told["Prompt"], told["Question"], told["End"]) == ("▾ Agent", "2 runs", "2 done")
    assert (told["Tokens"], told["Cost"]) == ("12", "$0.7500")
