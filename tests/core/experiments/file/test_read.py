"""Experiment files: promptfoo's names, problems at their place, fixes that mend."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from studio.core.experiments.file.names import is_experiment
from studio.core.experiments.file.read import KEYS, read_experiment
from studio.core.experiments.values import DatasetReference, ExperimentCase
from studio.core.prompty.yaml.reader import write_yaml
from studio.core.text.source import apply_edits
from studio.core.text.values import Json

WHOLE = """\
description: Is the edit better?
prompts:
  - {id: support.prompty@main, label: main}
  - {id: support.prompty, label: edit, edit: {Tone: file://tone.md}}
  - Say hello to {{ name }}
providers: [{id: small, config: {temperature: 0.2}}, "openai:gpt-x"]
exclude: [{prompt: edit, provider: "openai:gpt-x"}]
tests:
  - {path: file://cases.jsonl, take: 300, seed: 1, where: "tag == 'refund'"}
  - vars: {name: Ann, language: [de, en]}
    assert:
      - {type: not-contains, value: "{{ name }}", metric: fact, weight: 2}
      - type: assert-set
        threshold: 0.5
        assert: [{type: is-json}, {$ref: "#/assertionTemplates/short"}]
assertionTemplates: {short: {type: word-count, value: {max: 5}}}
defaultTest: {assert: [{type: latency, threshold: 900}], threshold: 0.7}
evaluateOptions: {repeat: 4, maxConcurrency: 3, timeoutMs: 5000}
passRule: 0.75
baseline: main
gates: {lost_rows: 3, pass_hat: {k: 4, at_least: 0.7}, slices: {language: {pass_rate: 0.85}}}
budget: {cost: 4.0}
keep: failed
"""


def test_a_whole_file_is_read() -> None:
    file = read_experiment(WHOLE, Path("refund.experiment.yaml"))
    assert not file.problems
    assert file.name == "refund"
    names = [each.name for each in file.variants]
    assert names[:3] == ["main · small", "edit · small", "Say hello to {{ name }} · small"]
    assert "edit · openai:gpt-x" not in names
    assert len(names) == 5
    first, second = file.variants[0].prompt, file.variants[1].prompt
    assert (first.id, first.revision) == ("support.prompty", "main")
    assert second.edit == {"Tone": "file://tone.md"}
    assert file.variants[2].prompt.text == "Say hello to {{ name }}"
    dataset, case = file.cases
    assert isinstance(dataset, DatasetReference)
    assert (dataset.path, dataset.take, dataset.where) == ("cases.jsonl", 300, "tag == 'refund'")
    assert isinstance(case, ExperimentCase)
    fact, group = case.assertions
    assert (fact.type, fact.negated, fact.metric, fact.weight) == ("contains", True, "fact", 2)
    assert [each.type for each in group.nested] == ["is-json", "word-count"]
    assert file.options.repeat == 4
    assert file.pass_rule == 0.75
    assert file.gates.pass_hat == (4, 0.7)
    assert file.gates.slices["language"].pass_rate == 0.85
    assert file.keep == "failed"


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        (
            "prompts: [a]\ntests:\n  - assert: [{type: contians, value: x}]",
            "assertion-type",
            (3, 21),
        ),
        ("prompts: [a]\ntests:\n  - assert: [{type: contains}]", "assertion-value", (3, 14)),
        ("prompts: [a]\ntests:\n  - assert: [{value: x}]", "assertion-type", (3, 14)),
        ("prompts: [a]\npassRule: often", "experiment-value", (2, 11)),
        ("prompts: [a]\ngates: {pass_rate: 90}", "experiment-value", (2, 20)),
        ("prompts: [a]\nproviders: [file://p.py]", "experiment-unsupported", (2, 13)),
        ("tests: [rows.txt]\nprompts: [a]", "experiment-value", (1, 9)),
        ("tests: []", "experiment-prompts", (1, 1)),
        ("- a", "experiment-value", (1, 1)),
        ("prompts: [a", "yaml-syntax", (1, 10)),
    ],
)
def test_problems_stand_at_their_place(text: str, code: str, place: tuple[int, int]) -> None:
    file = read_experiment(text)
    wrong = [each for each in file.problems if each.severity == "error"]
    assert [each.code for each in wrong] == [code]
    at = file.source.position(wrong[0].span.start)
    assert (at.line, at.column) == place


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "evaluateOptions: {repeat: 99999999999999}",
            "repeat must be from 1 to 10,000; it is 99,999,999,999,999.",
        ),
        ("evaluateOptions: {repeat: 0}", "repeat must be from 1 to 10,000; it is 0."),
        ("evaluateOptions: {maxConcurrency: -1}", "maxConcurrency must be at least 1; it is -1."),
        ("evaluateOptions: {timeoutMs: .inf}", "timeoutMs must be a number"),
        ("budget: {cost: .nan}", "cost must be a number"),
        (
            "budget: {tokens: 1" + "0" * 400 + "}",
            "tokens must be from 0 to 1,000,000,000,000,000; it is far out of range.",
        ),
        ("budget: {tokens: 0x" + "F" * 5_000 + "}", "tokens must be a number"),
        ("gates: {pass_rate: 2}", "pass_rate must be from 0 to 1; it is 2."),
        ("gates: {slices: {tone: {lost_rows: 0}}}", "lost_rows is not a gate of a slice"),
        ("evaluateOptions: {repeat: 1e308}", "repeat must be a number"),
    ],
)
def test_a_number_beyond_its_bounds_is_said_with_them(line: str, said: str) -> None:
    file = read_experiment(f"prompts: [a]\n{line}")
    assert [each.message[: len(said)] for each in file.problems] == [said]


def test_promptfoos_command_line_options_count_over_the_others() -> None:
    file = read_experiment(
        "prompts: [a]\nproviders: [{id: x, delay: 250}, y]\n"
        "evaluateOptions: {repeat: 2, delay: 5}\n"
        "commandLineOptions: {repeat: 3, maxConcurrency: 2, cache: false, verbose: true}\n"
    )
    assert not file.problems
    how = file.options
    assert (how.repeat, how.concurrency, how.delay_ms, how.cache) == (3, 2, 5, False)
    assert [each.provider.delay_ms for each in file.variants] == [250, 0]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("commandLineOptions: {repeat: 1e308}", "repeat must be a number"),
        ("commandLineOptions: {maxConcurrency: -1}", "maxConcurrency must be at least 1"),
        ("commandLineOptions: {filterSample: 3}", "`filterSample` is not followed here"),
        ("evaluateOptions: {filterRange: '1:2'}", "`filterRange` is not followed here"),
        ("providers: [{id: x, delay: -1}]", "delay must be at least 0; it is -1."),
        ("providers: [{id: x, delay: soon}]", "delay must be a number"),
    ],
)
def test_ways_of_running_that_are_not_followed_are_refused(line: str, said: str) -> None:
    (problem,) = read_experiment(f"prompts: [a]\n{line}").problems
    assert problem.severity == "error"
    assert problem.message.startswith(said)


def test_a_slip_of_the_pen_is_mended_by_its_fix() -> None:
    text = "prompts: [a]\ntets: [{vars: {x: 1}, assert: [{type: not-contians, value: a}]}]"
    file = read_experiment(text)
    fixed = apply_edits(text, file.problems[0].fixes[0].edits)
    file = read_experiment(fixed)
    fixed = apply_edits(fixed, file.problems[0].fixes[0].edits)
    assert "tests:" in fixed
    assert "type: not-contains" in fixed
    assert not read_experiment(fixed).problems


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("redteam: {plugins: [x]}", "`redteam` is not followed here: remove it"),
        ("derivedMetrics: [{name: f}]", "`derivedMetrics` is not followed"),
        ("tests: [{assert: [{type: moderation}]}]", "type 'moderation' are not supported here"),
        ("tests: [{assert: [{type: select-best, value: x}]}]", "'select-best' are not supported"),
        ("tests: [{assert: [{type: not-is-sql}]}]", "'is-sql' are not supported"),
        ("tests: [{assert: [{type: javascript, value: 'file://a.ts'}]}]", "'file://a.ts'"),
        ("tests: [{assert: [{type: contains, value: x, metric: '{{ m }}'}]}]", "write it out"),
        ("tests: [{assert: [{type: contains, value: x, contextTransform: x}]}]", "contextTransf"),
        ("tests: [{assertScoringFunction: 'file://a.js'}]", "use `weight` and `threshold`"),
        ("tests: [{providerOutput: x}]", "`providerOutput` is not followed"),
        ("tests: [{options: {storeOutputAs: x}}]", "`options.storeOutputAs`"),
        ("defaultTest: {options: {temperature: 0}}", "`options.temperature` is not supported"),
        ("providers: [{'openai:x': {transform: 'file://a.js'}}]", "`transform` is not followed"),
        ("providers: [{id: 'openai:x', transform: 'file://a.js'}]", "`transform` is not followed"),
        ("prompts: [{raw: a, function: f}]", "`function` is not followed"),
        ("prompts: ['langfuse://a:1']", "a program or a service"),
        ("prompts: [prompts.py]", "a program or a service"),
        ("prompts: ['file://rows.csv']", "a list of prompts"),
    ],
)
def test_what_is_not_run_is_refused_by_its_name(text: str, words: str) -> None:
    file = read_experiment(text if text.startswith("prompts") else f"prompts: [a]\n{text}")
    (problem,) = file.problems
    assert problem.severity == "error"
    assert words in problem.message


def test_what_says_nothing_of_requests_and_verdicts_is_let_be() -> None:
    text = "prompts: [a]\nsharing: true\ntracing: {enabled: true}\nderivedMetrics: []\n"
    assert not read_experiment(text).problems


def test_prompts_that_are_left_empty_are_named_at_their_place() -> None:
    (problem,) = read_experiment("description: x\nprompts:\ntests: [{vars: {a: b}}]\n").problems
    assert problem.code == "experiment-prompts"
    assert problem.span.start == 15


def test_scenarios_are_every_test_with_every_configuration() -> None:
    file = read_experiment(
        "prompts: [a]\nscenarios:\n  - config: [{vars: {x: 1}}, {vars: {x: 2}}]\n"
        "    tests: [{vars: {y: 1}}, {vars: {y: 2}}, {vars: {y: 3}}]\n"
    )
    found = [dict(each.variables) for each in file.cases if isinstance(each, ExperimentCase)]
    assert found == [{"x": x, "y": y} for x in (1, 2) for y in (1, 2, 3)]


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("a.experiment.yaml", True),
        ("b/A.Experiment.YML", True),
        ("promptfooconfig.yaml", True),
        ("a.yaml", False),
        ("a.prompty", False),
    ],
)
def test_experiments_are_known_by_their_name(name: str, is_one: bool) -> None:
    assert is_experiment(name) is is_one


_WORDS = (
    *KEYS,
    "vars",
    "assert",
    "type",
    "value",
    "threshold",
    "weight",
    "id",
    "label",
    "edit",
    "path",
    "take",
    "where",
    "columns",
    "repeat",
    "pass_hat",
    "slices",
    "$ref",
    "options",
    "config",
    "tests",
)
_VALUES: tuple[Json, ...] = (
    None,
    True,
    0,
    -1,
    1.5,
    "",
    "a",
    "file://x.csv",
    "samples",
    "https://x",
    "contains",
    "not-",
    "assert-set",
    "mean",
    "{{ x }}",
    "x.prompty@main",
    "file://p.py:f",
    "openai:chat:m",
    [],
    {},
)


def _anything(chance: random.Random, depth: int) -> Json:
    kind = chance.random()
    if not depth or kind < 0.4:
        return chance.choice(_VALUES)
    if kind < 0.65:
        return [_anything(chance, depth - 1) for _ in range(chance.randint(0, 3))]
    return {
        chance.choice(_WORDS): _anything(chance, depth - 1) for _ in range(chance.randint(0, 4))
    }


def test_whatever_stands_in_a_file_is_read_with_places_inside_it() -> None:
    chance = random.Random(5)
    for _ in range(400):
        data = {chance.choice(_WORDS): _anything(chance, 4) for _ in range(chance.randint(1, 6))}
        text = "\n".join(write_yaml(data))
        for problem in read_experiment(text).problems:
            assert 0 <= problem.span.start <= problem.span.end <= len(text)
            assert problem.message
