"""Texts become variants of the experiment, or one edit of the prompt."""

from __future__ import annotations

from dataclasses import replace

import pytest

from studio.application.experiments.improve.accept import (
    ImproveError,
    Improvement,
    Spending,
    acceptance,
    with_variants,
)
from studio.application.experiments.prompts import ExperimentError
from studio.core.prompty.parse import parse
from studio.core.text.source import apply_edits
from tests.application.experiments.conftest import EXPERIMENT, PROMPT, Bench

TEXTS = ["Name the capital.", "Two lines:\n\n- one: {{ x }}\n# no comment"]


@pytest.mark.parametrize(
    "text",
    [
        EXPERIMENT,
        "prompts: [capital.prompty]\nproviders: [small]\ntests: file://rows.csv\n",
        "prompts: capital.prompty # the one\nproviders: [small]\ntests: file://rows.csv\n",
        "tests: file://rows.csv\nproviders: [small]\nprompts:\n- capital.prompty\n# the end\n",
        "variants:\n  one:\n    prompt: capital.prompty\n    provider: small\n"
        "tests: file://rows.csv\n",
        "variants: {one: {prompt: capital.prompty, provider: small}}\ntests: file://rows.csv\n",
    ],
)
def test_each_text_is_a_variant_beside_the_others(bench: Bench, text: str) -> None:
    bench.path.write_text(text)
    before = bench.plan()
    bench.path.write_text(with_variants(text, before.variants[0], "system", TEXTS))
    after = bench.plan()
    names = [each.name for each in after.variants]
    assert names[: len(before.variants)] == [each.name for each in before.variants]
    assert len(names) == len(before.variants) + 2
    assert [dict(each.entry.prompt.edit) for each in after.variants[-2:]] == [
        {"system": each} for each in TEXTS
    ]
    assert {each.entry.provider.id for each in after.variants} == {"small"}
    for line in text.splitlines():
        if line.startswith(("tests", "defaultTest", "  assert", "  - {id", "baseline")):
            assert line in bench.path.read_text()
    again = with_variants(bench.path.read_text(), before.variants[0], "system", TEXTS[:1])
    bench.path.write_text(again)
    assert len({each.name for each in bench.plan().variants}) == len(names) + 1


def test_a_baseline_that_would_lose_its_name_is_said(bench: Bench) -> None:
    text = (
        "prompts: [capital.prompty]\nproviders: [small, echo]\nbaseline: small\n"
        "tests: file://rows.csv\n"
    )
    bench.path.write_text(text)
    with pytest.raises(ExperimentError, match="would rename the baseline"):
        with_variants(text, bench.plan().variants[0], "system", TEXTS)


def test_the_better_text_is_one_edit_and_only_of_what_was_searched(bench: Bench) -> None:
    path = bench.folder / "capital.prompty"
    found = Improvement(
        "system",
        str(path),
        "Answer in one word.",
        "Name it.",
        (),
        (1, 1, 1),
        None,
        None,
        Spending(cost=None),
        "",
    )
    edit = acceptance(parse(PROMPT, path), found)
    assert apply_edits(PROMPT, [edit]) == PROMPT.replace("Answer in one word.", "Name it.")
    with pytest.raises(ImproveError, match="has changed since"):
        acceptance(parse(PROMPT.replace("one word", "words"), path), found)
    with pytest.raises(ImproveError, match="no section"):
        acceptance(parse(PROMPT, path), replace(found, section="Tone"))
