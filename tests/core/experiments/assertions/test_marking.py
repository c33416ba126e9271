"""Every type of assertion on an answer; promptfoo's meaning where the name is its own."""

from __future__ import annotations

import shutil
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from studio.core.experiments.assertions.checker import _javascript
from studio.core.experiments.assertions.child import AssertionChild
from studio.core.experiments.assertions.marking import (
    CellMarks,
    Markers,
    mark_answer,
    results_as_json,
    results_of_json,
)
from studio.core.experiments.assertions.result import (
    AssertionContext,
    CellAnswer,
    MadeCall,
    UndecidedError,
)
from studio.core.experiments.file.read import read_experiment
from studio.core.experiments.values import AssertionSpec, ExperimentCase
from tests.support import patience

ANSWER = CellAnswer(
    'The capital of Norway is Oslo. {"city": "Oslo", "n": 3}',
    latency_ms=120,
    cost=0.002,
    input_tokens=30,
    output_tokens=12,
    steps=3,
    calls=(
        MadeCall("geocode", {"q": "Oslo"}),
        MadeCall("forecast", {"city": "Oslo", "days": 2}, is_error=True),
    ),
    finish_reason="stop",
    errors=1,
)
CONTEXT = AssertionContext({"expected": "Oslo", "country": "Norway", "n": 3, "names": ["a", "b"]})


def _specs(text: str) -> tuple[AssertionSpec, ...]:
    lines = "".join(f"      - {line}\n" for line in text.splitlines())
    file = read_experiment(f"prompts: [a]\ntests:\n  - assert:\n{lines}")
    assert not [each for each in file.problems if each.severity == "error"], file.problems
    (case,) = file.cases
    assert isinstance(case, ExperimentCase)
    return case.assertions


async def _mark(
    text: str,
    answer: CellAnswer | str = ANSWER,
    markers: Markers | None = None,
    threshold: float | None = None,
) -> CellMarks:
    given = CellAnswer(answer) if isinstance(answer, str) else answer
    return await mark_answer(_specs(text), threshold, given, CONTEXT, markers or _nothing())


def _nothing() -> Markers:
    def missing(name: str) -> str:
        raise UndecidedError(f"there is no file {name!r}")

    return Markers(missing, missing)


@pytest.mark.parametrize(
    ("assertion", "passes"),
    [
        ("{type: contains, value: 'Norway is {{ expected }}'}", True),
        ("{type: contains, value: oslo}", False),
        ("{type: icontains, value: oSLO}", True),
        ("{type: not-icontains, value: oslo}", False),
        ("{type: contains-any, value: [Bern, Oslo]}", True),
        ("{type: contains-any, value: 'Bern, Rome'}", False),
        ("{type: icontains-all, value: [NORWAY, '{{ expected }}']}", True),
        ("{type: contains-all, value: [Norway, Bern]}", False),
        ("{type: starts-with, value: The capital}", True),
        ("{type: starts-with, value: capital}", False),
        (r"{type: regex, value: 'Os\w+\.'}", True),
        (r"{type: regex, value: '^capital'}", False),
        ("{type: contains-json}", True),
        ("{type: contains-json, value: {required: [city], properties: {n: {type: number}}}}", True),
        ("{type: contains-json, value: {required: [town]}}", False),
        ("{type: is-json}", False),
        ("{type: not-is-json}", True),
        ("{type: latency, threshold: 120}", True),
        ("{type: latency, threshold: 119}", False),
        ("{type: cost, threshold: 0.002}", True),
        ("{type: cost, threshold: 0.001}", False),
        ("{type: tokens, threshold: 42}", True),
        ("{type: tokens, value: {output: 11}}", False),
        ("{type: word-count, value: {min: 5, max: 20}}", True),
        ("{type: is-refusal}", False),
        ("{type: no-error}", False),
        ("{type: trace-error-spans, value: {max_count: 1}}", True),
        ("{type: finish-reason, value: stop}", True),
        ("{type: final-answer, value: Oslo}", True),
        ("{type: 'trajectory:tool-used', value: geocode}", True),
        ("{type: 'trajectory:tool-used', value: [geocode, book]}", False),
        ("{type: 'trajectory:tool-used', value: {name: 'fore*', max: 0}}", False),
        ("{type: 'not-trajectory:tool-used', value: book}", True),
        ("{type: 'trajectory:tool-sequence', value: [geocode, forecast]}", True),
        ("{type: 'trajectory:tool-sequence', value: [forecast, geocode]}", False),
        ("{type: 'trajectory:tool-sequence', value: {steps: [geocode], mode: exact}}", False),
        ("{type: 'trajectory:tool-args-match', value: {name: forecast, args: {city: Oslo}}}", True),
        (
            "{type: 'trajectory:tool-args-match', value: "
            "{name: forecast, args: {city: Oslo}, mode: exact}}",
            False,
        ),
        ("{type: 'trajectory:step-count', value: {max: 3}}", True),
        ("{type: 'trajectory:step-count', value: {type: tool, max: 1}}", False),
        ("{type: tool-call-f1, value: [geocode, forecast]}", True),
        ("{type: tool-call-f1, value: [geocode, book], threshold: 0.5}", True),
        ("{type: is-valid-openai-tools-call}", True),
    ],
)
async def test_a_type_decides(assertion: str, passes: bool) -> None:
    marks = await _mark(assertion)
    assert marks.passed is passes
    assert marks.results[0].state == ("passed" if passes else "failed")
    assert marks.results[0].reason
    assert not marks.is_undecided


@pytest.mark.parametrize(
    ("assertion", "answer", "passes"),
    [
        ("{type: equals, value: '{{ expected }}'}", "Oslo", True),
        ("{type: equals, value: '{{ expected }}'}", "Oslo ", False),
        ("{type: equals, value: {a: [1, 2]}}", '{"a":[1,2]}', True),
        ("{type: equals, value: 3}", "3", True),
        ("{type: levenshtein, value: Bergen}", "Berge", True),
        ("{type: levenshtein, value: Bergen, threshold: 1}", "Bern", False),
        ("{type: regex, value: 'end$'}", "the end\n", False),
        (r"{type: regex, value: '^[\w ]+$'}", "naïve", False),  # as promptfoo 0.123 decides it
        (r"{type: regex, value: '\W\s\d'}", "ï 5", True),
        ("{type: regex, value: 'cost: [$]5'}", "cost: $5", True),
        (
            "{type: is-json, value: {type: object, properties: {a: {type: string}}}}",
            '{"a": 1}',
            False,
        ),
        ("{type: is-refusal}", "I'm sorry, but I can't help with that.", True),
        ("{type: contains, value: '{{ names | dump }}'}", 'it is ["a", "b"]', True),
        ("{type: ends-with, value: done.}", "All done.", True),
    ],
)
async def test_a_type_decides_on_a_text(assertion: str, answer: str, passes: bool) -> None:
    assert (await _mark(assertion, answer)).passed is passes


@pytest.mark.parametrize(
    ("assertion", "state", "said"),
    [
        ("{type: regex, value: '(a'}", "error", "cannot be read"),
        ("{type: latency}", "error", "needs a threshold"),
        ("{type: is-json, value: {type: nothing}}", "error", "schema"),
        ("{type: contains, value: file://no.txt}", "error", "no.txt"),
        ("{type: contains, value: '{{ x '}", "error", "filled in"),
        ("{type: llm-rubric, value: polite}", "not_run", "no judge"),
        ("{type: python, value: 'True'}", "not_run", "not run here"),
        ("{type: contains, value: Oslo, transform: output.trim()}", "not_run", "not run here"),
    ],
)
async def test_what_cannot_be_decided_neither_passes_nor_fails(
    assertion: str, state: str, said: str
) -> None:
    answer = '{"a": 1}' if "is-json" in assertion else ANSWER
    marks = await _mark(assertion, answer)
    assert marks.results[0].state == state
    assert said in marks.results[0].reason
    assert not marks.passed
    assert marks.is_undecided


@pytest.mark.parametrize("kind", ["equals", "is-json", "contains-json"])
@pytest.mark.parametrize("answer", ["[" * 100_000, "9" * 10_000, '{"a":' * 50_000])
async def test_an_answer_of_any_depth_is_marked(kind: str, answer: str) -> None:
    marks = await _mark(f"{{type: {kind}, value: {{type: object}}}}", answer)
    assert marks.results[0].state in ("failed", "error")


async def test_a_runaway_pattern_ends() -> None:
    marks = await _mark("{type: regex, value: '^(a|a?)+$'}", "a" * 40 + "b")
    assert marks.results[0].state in ("error", "failed")


async def test_the_place_in_the_answer_is_told() -> None:
    marks = await _mark("{type: contains, value: Oslo}")
    span = marks.results[0].span
    assert span is not None
    assert ANSWER.text[span.start : span.end] == "Oslo"


@pytest.mark.parametrize(
    ("lines", "threshold", "passes", "score"),
    [
        (["{type: contains, value: Oslo}", "{type: contains, value: Bern}"], None, False, 0.5),
        (["{type: contains, value: Oslo}", "{type: contains, value: Bern}"], 0.5, True, 0.5),
        (
            ["{type: contains, value: Oslo, weight: 3}", "{type: contains, value: Bern}"],
            0.7,
            True,
            0.75,
        ),
        (
            ["{type: contains, value: Oslo}", "{type: contains, value: Bern, weight: 0}"],
            None,
            True,
            1.0,
        ),
        (
            [
                "{type: assert-set, threshold: 0.5, assert: [{type: contains, value: Oslo}, "
                "{type: contains, value: Bern}]}"
            ],
            None,
            True,
            0.5,
        ),
        (
            [
                "{type: assert-set, assert: [{type: contains, value: Oslo}, "
                "{type: contains, value: Bern}]}"
            ],
            None,
            False,
            0.5,
        ),
    ],
)
async def test_weights_thresholds_and_sets_make_the_verdict(
    lines: list[str], threshold: float | None, passes: bool, score: float
) -> None:
    marks = await _mark("\n".join(lines), threshold=threshold)
    assert (marks.passed, marks.score) == (passes, pytest.approx(score))


async def test_scores_are_added_up_by_metric() -> None:
    marks = await _mark(
        "{type: contains, value: Oslo, metric: fact}\n{type: contains, value: Bern, metric: fact}\n"
        "{type: latency, threshold: 5000, metric: fast}"
    )
    assert marks.metrics == {"fact": 0.5, "fast": 1.0}


async def test_results_are_kept_as_they_are() -> None:
    marks = await _mark(
        "{type: contains, value: Oslo, metric: m, weight: 2}\n{type: similar, value: x}\n"
        "{type: assert-set, assert: [{type: is-json}]}"
    )
    assert results_of_json(results_as_json(marks.results)) == marks.results


# Code ---------------------------------------------------------------------------------------------


@pytest_asyncio.fixture
async def child(tmp_path: Path) -> AsyncIterator[AssertionChild]:
    made = AssertionChild(tmp_path, trusted=True)
    yield made
    await made.close()


def _with_code(child: AssertionChild, folder: Path) -> Markers:
    return Markers(
        lambda name: (folder / name).read_text(encoding="utf-8"),
        lambda name: str(folder / name),
        child,
    )


CODE = [
    ("{type: javascript, value: 'output.includes(context.vars.expected)'}", "passed", 1),
    ("{type: javascript, value: 'output.length > 1000'}", "failed", 0),
    ("{type: javascript, value: 'Math.min(0.4, output.length)', threshold: 0.5}", "failed", 0.4),
    ("{type: javascript, value: '({pass: true, score: 0.7, reason: \"r\"})'}", "passed", 0.7),
    (
        "{type: javascript, value: \"const n = output.split(' ').length;\\nreturn n > 3;\"}",
        "passed",
        1,
    ),
    ("{type: javascript, value: 'Math.min(0.5, output.length);'}", "passed", 0.5),
    ("{type: javascript, value: 'return output.length > 3; // said'}", "passed", 1),
    ("{type: javascript, value: 'await Promise.resolve(true)'}", "passed", 1),
    ("{type: not-javascript, value: 'output.length > 1000'}", "passed", 1),
    ("{type: not-javascript, value: '({pass: false, score: 0.25})'}", "passed", 0.25),
    ("{type: javascript, value: 'require(\"fs\")'}", "error", 0),
    ("{type: javascript, value: 'while (true) {}'}", "error", 0),
    ("{type: javascript, value: '\"text\"'}", "error", 0),
    ("{type: javascript, value: file://check.js}", "passed", 1),
    ("{type: javascript, value: file://check.js:named}", "failed", 0),
    ("{type: python, value: \"context['vars']['expected'] in output\"}", "passed", 1),
    (
        "{type: python, value: \"import re\\nreturn len(re.findall('o', output)) / 100\"}",
        "passed",
        0.04,
    ),
    ("{type: python, value: '1/0'}", "error", 0),
    ("{type: python, value: \"print('noise') or True\"}", "passed", 1),
    ("{type: python, value: file://check.py}", "passed", 0.25),
    ("{type: python, value: file://check.py:slow_one}", "passed", 1),
    ("{type: python, value: file://check.py:none}", "error", 0),
    ("{type: python, value: '__import__(\"os\")._exit(3)'}", "error", 0),
    ("{type: python, value: 'True'}", "passed", 1),
    ("{type: equals, value: OSLO, transform: \"'Oslo'.toUpperCase()\"}", "passed", 1),
    (
        '{type: equals, value: {city: Oslo}, transform: "({city: context.vars.expected})"}',
        "passed",
        1,
    ),
    ("{type: equals, value: seen, transform: file://check.py:changed}", "passed", 1),
    ("{type: contains, value: Oslo, transform: nothing.here}", "error", 0),
]
"""Assertions by code, with the state and score that they give."""


async def test_code_decides(child: AssertionChild, tmp_path: Path) -> None:
    """One after another in one child: none spoils the next, not even one that ends it."""
    (tmp_path / "check.js").write_text(
        "module.exports = (output, context) => output.includes('Oslo');\n"
        "module.exports.named = () => false;\n"
    )
    (tmp_path / "check.py").write_text(
        "def get_assert(output, context):\n"
        "    return {'pass': 'Oslo' in output, 'score': 0.25, 'reason': 'seen'}\n"
        "def changed(output, context):\n    return 'seen'\n"
        "async def slow_one(output, context):\n    return True\n"
    )
    marks = await _mark(
        "\n".join(assertion for assertion, _, _ in CODE), markers=_with_code(child, tmp_path)
    )
    found = [(each.state, round(each.score, 2)) for each in marks.results]
    assert found == [(state, score) for _, state, score in CODE]


async def test_a_row_may_change_its_answer_before_it_is_marked(
    child: AssertionChild, tmp_path: Path
) -> None:
    markers = _with_code(child, tmp_path)
    specs = _specs("{type: equals, value: Oslo}")
    code = "JSON.parse(output.slice(output.indexOf('{'))).city"
    marks = await mark_answer(specs, None, ANSWER, CONTEXT, markers, code)
    assert marks.passed
    marks = await mark_answer(specs, None, ANSWER, CONTEXT, markers, "no.such")
    assert marks.is_undecided
    assert marks.results[0].state == "error"


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node.js")
def test_node_takes_the_place_of_the_engine_in_a_trusted_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "jsbox", None)  # as where there is no wheel

    def run(code: str, *, node: bool = True) -> object:
        return _javascript(
            {
                "code": code,
                "file": "",
                "output": "Oslo",
                "context": {"vars": {"n": 3}},
                "node": node,
            }
        )

    assert run("output.length > context.vars.n") is True
    assert run("console.log('noise'); return {pass: false, reason: 'r'}") == {
        "pass": False,
        "reason": "r",
    }
    with pytest.raises(RuntimeError, match="timed out"):
        run("while (true) {}")
    with pytest.raises(ImportError):
        run("true", node=False)


async def test_code_that_hangs_is_ended(tmp_path: Path) -> None:
    child = AssertionChild(tmp_path, trusted=True, seconds=0.5)
    markers = _with_code(child, tmp_path)
    try:
        hung = await _mark('{type: python, value: "while True: pass\\nreturn 1"}', markers=markers)
        child._seconds = patience.SECONDS  # a new process may need longer on a busy machine
        after = await _mark("{type: python, value: 'True'}", markers=markers)
    finally:
        await child.close()
    assert [each.state for each in hung.results] == ["error"]
    assert "did not end" in hung.results[0].reason
    assert [each.state for each in after.results] == ["passed"]


async def test_python_of_an_untrusted_folder_is_not_run(tmp_path: Path) -> None:
    child = AssertionChild(tmp_path, trusted=False)
    try:
        marks = await _mark(
            "{type: python, value: \"open('made', 'w')\"}\n{type: javascript, value: 'true'}",
            markers=_with_code(child, tmp_path),
        )
    finally:
        await child.close()
    assert [each.state for each in marks.results] == ["not_run", "passed"]
    assert not (tmp_path / "made").exists()


async def test_the_child_is_given_no_keys(
    child: AssertionChild, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    marks = await _mark(
        "{type: python, value: \"'OPENAI_API_KEY' not in __import__('os').environ\"}",
        markers=_with_code(child, tmp_path),
    )
    assert marks.passed
