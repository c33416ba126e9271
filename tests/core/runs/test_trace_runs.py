"""Traces of other programs as runs: judged by what their server was asked.

The files of `tests/data/traces` were written by the packages of OpenInference, OpenLLMetry,
LangSmith and Langfuse; `make interop` writes them anew.
"""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from studio.application.exchange.runs import take_text
from studio.application.history.open_calls import open_calls
from studio.core.agent.past.replay import walk
from studio.core.agent.values.state import RunState, steps_of
from studio.core.prompty.parse import parse
from studio.core.runs.codec import JournalError
from studio.core.runs.exchange import export_run, form_of
from studio.core.runs.otlp import attributes_of
from studio.core.runs.spans import MOST_SPANS, read_spans
from studio.core.runs.store import RunStore
from studio.core.runs.trace_runs import runs_of
from studio.core.wire.reply import Reply, Usage
from tests.core.agent.runs import NATIVE, Functions, call, calling, run_of
from tests.support.planted import bytes_below, leaks

DATA = Path(__file__).parents[2] / "data" / "traces"
ASKED = [("system", "You sell."), ("user", "Two lamps? Ü")]
"""What the server of the four programs was asked first."""


def states(text: str) -> list[RunState]:
    found = [walk(run.events).state for run in runs_of(read_spans(text))]
    return [state for state in found if state is not None]


def asked(state: RunState, number: int) -> list[tuple[str, str]]:
    step = steps_of(state)[number - 1]
    return [(each.role, each.text) for each in step.messages if each.text]


@pytest.mark.parametrize("name", sorted(path.name for path in DATA.iterdir()))
def test_the_traces_of_real_emitters_are_the_servers_log(name: str) -> None:
    (state,) = states((DATA / name).read_text(encoding="utf-8"))
    assert (state.status, state.answer, state.setup.prompt) == ("done", "Yes, 6 EUR.", "Seller")
    assert [each.name for each in state.setup.tools] == ["stock"]
    assert state.setup.tools[0].parameters["required"] == ["item"]
    assert state.setup.model_id == ("m-2026" if "langfuse" in name else "m")
    assert state.setup.options["temperature"] == 0.5
    assert (state.usage.input_tokens, state.usage.output_tokens) == (10, 4)
    assert asked(state, 1) == ASKED
    assert asked(state, 2) == [*ASKED, ("tool", "lamp: 7")]
    (made,) = steps_of(state)[0].calls
    assert (made.tool, made.arguments, made.observation) == ("stock", {"item": "lamp"}, "lamp: 7")
    assert 0 < made.span[0] <= made.span[1]


@pytest.mark.parametrize("name", ["otlp", "otlp-genai-0.1", "tracy"])
async def test_what_the_studio_writes_comes_back(name: str) -> None:
    def search(query: str) -> str:
        return f"found {query}"

    def fails(query: str) -> str:
        raise ValueError(f"no {query}")

    first = calling(call(arguments='{"query": "Ünïcode 🙂"}'), call("fails", call_id="c2"))
    replies = [first, Reply("It is 5888.\n", usage=Usage(1200, 34, 200))]
    run, _ = run_of(NATIVE, replies, tools=Functions(search, fails))
    await run.go()
    (state,) = states(export_run(run.events, form_of(name), "1.0"))
    was = walk(run.events).state
    assert was is not None
    assert (state.status, state.answer) == (was.status, was.answer)
    for one, other in zip(steps_of(was), steps_of(state), strict=True):
        assert [(m.role, m.text) for m in one.messages] == [
            (m.role, m.text) for m in other.messages
        ]
        # A frame of a `.tracy` file has no word for a call that failed.
        seen = [(c.tool, c.arguments, c.observation) for c in one.calls]
        assert seen == [(c.tool, c.arguments, c.observation) for c in other.calls]


def span(number: int, began: int, parent: int | None = None, **more: Any) -> dict[str, Any]:
    made = {
        "traceId": "0" * 31 + "1",
        "spanId": f"{number:016x}",
        "name": more.pop("name", "chat m"),
        "startTimeUnixNano": str(began * 10**9),
        "endTimeUnixNano": str(began * 10**9 + 5 * 10**8),
        "status": more.pop("status", {}),
    }
    if parent is not None:
        made["parentSpanId"] = f"{parent:016x}"
    return {**made, "attributes": attributes_of(more)}


def chat(number: int, began: int, parent: int | None = None, **more: Any) -> dict[str, Any]:
    names = {key.replace("__", "."): value for key, value in more.items() if "__" in key}
    rest = {key: value for key, value in more.items() if "__" not in key}
    return span(number, began, parent, **{"gen_ai.operation.name": "chat"}, **names, **rest)


def otlp(*spans: dict[str, Any]) -> str:
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})


def test_what_a_trace_does_not_hold_is_not_recorded() -> None:
    (state,) = states(otlp(chat(1, 1, gen_ai__request__model="m"), chat(2, 2)))
    one, two = steps_of(state)
    assert (one.messages, two.messages) == ((), ())
    assert one.reply is not None
    assert one.reply.text == ""
    assert one.reply.usage is None
    assert one.reply.notices == ("The reply is not recorded.",)
    assert state.setup.tools == ()


def test_a_call_without_a_result_says_so() -> None:
    part = {"type": "tool_call", "id": "c1", "name": "stock", "arguments": {}}
    output = json.dumps([{"role": "assistant", "parts": [part]}])
    (state,) = states(otlp(chat(1, 1, gen_ai__output__messages=output)))
    (made,) = steps_of(state)[0].calls
    assert made.observation == "The result of this call is not recorded."
    assert state.status == "stopped"


def test_conversations_that_run_at_once_are_runs_of_their_own() -> None:
    def messages(*texts: str) -> str:
        rows = [{"role": "user", "parts": [{"type": "text", "content": text}]} for text in texts]
        return json.dumps(rows)

    trace = otlp(
        span(9, 0, name="invoke_agent a", **{"gen_ai.operation.name": "invoke_agent"}),
        chat(1, 1, 9, gen_ai__input__messages=messages("a")),
        chat(2, 2, 9, gen_ai__input__messages=messages("b")),
        chat(3, 3, 9, gen_ai__input__messages=messages("a", "c")),
        chat(4, 4, 9, gen_ai__input__messages=messages("b", "d")),
    )
    one, two = states(trace)
    assert [asked(one, n) for n in (1, 2)] == [[("user", "a")], [("user", "a"), ("user", "c")]]
    assert [asked(two, n) for n in (1, 2)] == [[("user", "b")], [("user", "b"), ("user", "d")]]


def test_a_call_that_failed_ends_its_run() -> None:
    bad = {"code": "STATUS_CODE_ERROR", "message": "429 too many"}
    (state,) = states(otlp(chat(1, 1, status=bad)))
    assert state.status == "failed"
    assert state.error is not None
    assert state.error.message == "429 too many"


def test_older_names_and_the_export_of_langfuse() -> None:
    flat = {
        "llm.request.type": "chat",
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": "Hi",
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": "Ho",
        "gen_ai.usage.prompt_tokens": 3,
    }
    (state,) = states(otlp(span(1, 1, **flat)))
    assert (asked(state, 1), state.answer) == ([("user", "Hi")], "Ho")
    assert state.usage.input_tokens == 3
    listed = {
        "id": "t",
        "observations": [
            {
                "id": "o",
                "traceId": "t",
                "type": "GENERATION",
                "name": "answer",
                "startTime": "2026-11-28T10:00:00.000Z",
                "endTime": "2026-11-28T10:00:01.500Z",
                "model": "m",
                "input": [{"role": "user", "content": "Hi"}],
                "output": {"role": "assistant", "content": "Ho"},
                "usageDetails": {"input": 3, "output": 1},
            },
            {"id": "p", "traceId": "t", "type": "SPAN", "startTime": "2026-11-28T10:00:00.000Z"},
        ],
    }
    (state,) = states(json.dumps(listed))
    assert (asked(state, 1), state.answer, state.setup.model) == ([("user", "Hi")], "Ho", "m")
    assert state.step.seconds_model == 1.5


def test_a_trace_is_taken_with_its_tree_and_without_keys(tmp_path: Path) -> None:
    key = "sk-planted-9876543210-abcdefghij"
    text = (DATA / "openllmetry.otlp.jsonl").read_text(encoding="utf-8").replace("You sell.", key)
    with closing(RunStore(tmp_path / "runs.sqlite")) as store:
        (run,) = take_text(text, store)
        summary = store.summary(run)
        assert summary is not None
        assert summary.tags == ("trace d6802010",)
        assert "\n  db lookup, 0.000 s\n" in summary.note
        (again,) = take_text(text, store)
        assert again != run
        assert len(store.runs()) == 2
    assert leaks({"key": key}, bytes_below(tmp_path)) == []


def test_a_call_of_a_trace_becomes_a_prompt_that_says_so(tmp_path: Path) -> None:
    text = (DATA / "openinference.otlp.jsonl").read_text(encoding="utf-8")
    with closing(RunStore(tmp_path / "runs.sqlite")) as store:
        (run,) = take_text(text, store)
        opened = open_calls(store, run, 2)
    made = parse(opened.made.text)
    assert opened.differences == {f"{run}, request 2": ()}
    assert "was not recorded" in opened.made.notes[-1]
    assert [tool.name for tool in made.tools] == ["stock"]
    assert made.model.id == "m"
    assert [each["text"] for each in opened.made.answers] == ["lamp: 7"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it is not JSON"),
        ("hello", "it is not JSON"),
        ('{"a": 1}\n{"b"', "line 2 is not JSON"),
        ("[]", "it holds no model call or tool call"),
        (otlp(span(1, 1)), "none of its 1 spans is a model call or tool call in the names of Open"),
        ("[" * 50_000, "it is not JSON"),
    ],
)
def test_what_is_no_trace_is_refused_in_words(text: str, words: str, tmp_path: Path) -> None:
    with (
        closing(RunStore(tmp_path / "runs.sqlite")) as store,
        pytest.raises(JournalError, match=f"neither a journal of a run nor a trace: .*{words}"),
    ):
        take_text(text, store)


def test_a_file_of_too_many_spans_is_refused() -> None:
    line = json.dumps({"run_type": "chain", "id": "a"})
    with pytest.raises(JournalError, match="more than 50,000 spans"):
        read_spans("\n".join([line] * (MOST_SPANS + 1)))


@pytest.mark.parametrize("odd", [None, 7, "x", [], {}, [[]], [{"role": 5, "parts": 3}], {"a": [1]}])
def test_odd_values_break_no_reading(odd: Any) -> None:
    given = odd if isinstance(odd, str) else json.dumps(odd)
    names = ("gen_ai__input__messages", "gen_ai__output__messages", "gen_ai__tool__definitions")
    more = dict.fromkeys((*names, "gen_ai__system_instructions"), given)
    (state,) = states(otlp(chat(1, 1, **more)))
    assert state.is_over
    listed = {"run_type": "llm", "id": odd, "inputs": odd, "outputs": odd, "start_time": odd}
    (state,) = states(json.dumps([listed, {"run_type": "tool", "inputs": odd}]))
    assert state.is_over
