"""The model gets a part of a long answer, by a rule; the whole is kept."""

from __future__ import annotations

import pytest

from studio.core.tools.document_tools import ToolSession
from studio.core.tools.source import USUAL_RULE, Keep, OutputRule, ToolOutcome, limited, read_rule
from studio.core.tools.trust.store import TrustStore
from tests.core.tools.conftest import WritePrompt, WriteTools

NOTE = "… cut: 1,000 characters, the limit is 100"


@pytest.mark.parametrize(
    ("keep", "text"),
    [
        ("head", "a" * 100 + f"\n{NOTE}"),
        ("tail", f"{NOTE}\n" + "b" * 100),
        ("both", "a" * 50 + f"\n{NOTE}\n" + "b" * 50),
    ],
)
def test_which_part(keep: Keep, text: str) -> None:
    whole = "a" * 500 + "b" * 500
    made = limited(ToolOutcome(whole, "ok"), OutputRule(100, keep))
    assert (made.text, made.whole, made.truncated) == (text, whole, True)


def test_a_short_answer_is_as_it_is() -> None:
    short = ToolOutcome("a" * 100, "ok")
    assert limited(short, OutputRule(100)) is short


@pytest.mark.parametrize(
    ("written", "rule"),
    [
        (None, USUAL_RULE),
        (5_000, OutputRule(5_000)),
        ({"characters": 200, "keep": "both"}, OutputRule(200, "both")),
        ({"keep": "tail"}, OutputRule(keep="tail")),
        ({"characters": True, "keep": "middle"}, USUAL_RULE),
        (3, USUAL_RULE),
        ("much", USUAL_RULE),
    ],
)
def test_what_a_prompt_says(written: object, rule: OutputRule) -> None:
    assert read_rule(written) == rule  # type: ignore[arg-type]


async def test_a_prompts_rule_holds_for_its_tools(
    tool_file: WriteTools, prompt: WritePrompt
) -> None:
    path = tool_file("def long() -> str: return 'x' * 150_000 + 'end'")
    TrustStore().trust(path.parent)
    session = ToolSession(TrustStore())
    rule = "tool_output: {characters: 300, keep: tail}"
    document = prompt(f"metadata: {{agent: {{tools: [my_tools.py], {rule}}}}}\n")
    await session.load(document)
    outcome = await session.current.toolbox().call("long", {})
    assert outcome.text.endswith("end")
    assert (len(outcome.whole), outcome.truncated) == (150_003, True)
    assert len(outcome.text) < 400
    await session.close()
