from __future__ import annotations

from studio.application.history.find import HistoryFilter, holds_of
from studio.core.runs.rows import RunSummary

RUNS = (
    RunSummary("a", 10.0, 12.0, prompt="Agent", tokens=900, status="done", tags=("good",)),
    RunSummary("b", 10.0, 80.0, prompt="Chat", tokens=20, status="failed", cost=0.2),
)


def test_words_stay_words_and_what_compares_is_an_expression() -> None:
    assert HistoryFilter.read("capital of Kenya") == HistoryFilter(words="capital of Kenya")
    assert HistoryFilter.read("tokens > 100").expression == "tokens > 100"
    assert HistoryFilter.read("tokens > ").problem
    assert HistoryFilter.read("nothing > 1").problem


def test_an_expression_chooses_runs() -> None:
    def ids(expression: str) -> list[str]:
        return [run.id for run in filter(holds_of(expression), RUNS)]

    assert ids('tokens > 100 and status == "done"') == ["a"]
    assert ids("seconds >= 60 or cost > 1") == ["b"]
    assert ids('"good" in tags') == ["a"]
    assert ids('prompt.lower() == "chat"') == ["b"]
