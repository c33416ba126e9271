from __future__ import annotations

from pathlib import Path

import pytest

from studio.application.history.rows import HistoryFilter, filtered_runs, holds_of
from studio.core.agent.values.options import RunOptions
from studio.core.prompty.templates.jinja.conditions import ConditionError
from studio.core.runs.rows import RunSummary
from studio.core.runs.store import RunFilter, RunStore
from tests.core.agent.runs import NATIVE, Functions, call, calling, run_of

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


def search(query: str) -> str:
    """Find something."""
    if query == "moon":
        raise TimeoutError("no answer from the moon")
    return f"all about {query}"


async def test_an_expression_finds_runs_by_what_they_did(tmp_path: Path) -> None:
    store = RunStore(tmp_path / "runs.sqlite")
    for name, query in (("a", "sun"), ("b", "moon")):
        replies = [
            calling(call(arguments=f'{{"query": "{query}"}}'), text="I look."),
            f"Done {name}.",
        ]
        run, _ = run_of(
            NATIVE,
            replies,
            tools=Functions(search),
            options=RunOptions(headless=True),
            journal=store.journal(name),
        )
        await run.go()

    def ids(text: str, limit: int = 9) -> list[str]:
        return sorted(run.id for run in filtered_runs(store, text, RunFilter(limit=limit)))

    assert ids('tool == "search"') == ["a", "b"]
    assert len(ids('tool == "search"', 1)) == 1
    assert ids('tool == "other"') == []
    assert ids('args.query == "sun" and status == "done"') == ["a"]
    assert ids('observation contains "about sun"') == ["a"]
    assert ids('text contains "from the moon"') == ["b"]
    assert ids('call.error == "error" or errors contains "timeout"') == ["b"]
    assert ids("errors != []") == ["b"]
    assert ids('inputs.question == "Where?" and steps|length == 2') == ["a", "b"]
    assert ids('prompt == "Caller" and tokens >= 0') == ["a", "b"]
    assert ids("Done b") == ["b"]
    with pytest.raises(ConditionError, match="did you mean 'observation'"):
        ids('obsevation contains "x"')
    store.close()
