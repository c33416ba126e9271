"""The grammar that keeps a tiny model on the road: the legal replies of a protocol.

It is written in the Lark of llguidance, which llama.cpp's server has built in. Which steps are on
offer is decided by `policy`; this file knows how a protocol writes them. The levels are switches
with labels, because none of what they give is the merit of the model.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from studio.core.models.base import ModelRequest
from studio.core.models.embedded.bounded_schema import (
    STRING_CHARACTER,
    bounded,
    json_rule,
    object_schema,
)
from studio.core.models.embedded.policy import (
    CallOffer,
    Finding,
    GrammarLevel,
    StepChoices,
    step_choices,
)
from studio.core.text.values import JsonObject
from studio.core.wire.schema import strict_schema

_LINE_CHARACTER = r"[^\x00-\x1f]"
_TEXT_CHARACTER = r"[^\x00-\x09\x0b-\x1f]"
_TEXT_START = r"[^\x00-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]"
"""A letter of any script or a digit."""

_CLAIMLESS = r"[^\x00-\x1f=]"
_THOUGHT = 120
_ANSWER = 240


def build_grammar(request: ModelRequest, level: GrammarLevel) -> str | None:
    """The grammar of the reply's text, or `None` where the model may write anything.

    Args:
        request: the call; its protocol, tools, past calls, observations and question are read.
        level: how much is decided for the model.
    """
    rule = _reply_rule(request, level)
    return None if rule is None else f"%llguidance {{}}\nstart: {rule}"


def with_end(grammar: str, token: int | None) -> str:
    """The grammar with the model's own token for the end of its turn.

    Of the tokens that end a turn, the server shows the engine one, which need not be the one that
    the model was taught.
    """
    return grammar if token is None else f"{grammar} <[{token}]>?"


def _reply_rule(request: ModelRequest, level: GrammarLevel) -> str | None:
    if level == "off":
        return None
    choices = step_choices(request, level)
    asked = request.response_schema
    schema = None if asked is None else strict_schema(asked)  # as every server is asked
    match request.protocol:
        case "native":
            if not request.tools:
                return None if schema is None else json_rule(bounded(schema))
            return _native(choices, schema)
        case "react":
            return _react(choices)
        case "json_action":
            return _json_action(choices)


def _native(choices: StepChoices, schema: JsonObject | None) -> str:
    """A call as one JSON object, or the answer; the studio makes tool calls of the former."""
    ways = [
        json_rule(
            object_schema(
                (("name", {"const": offer.tool}, True), ("arguments", _arguments(offer), True))
            )
        )
        for offer in choices.calls
    ]
    if choices.may_answer:
        free = _answer(choices.findings, _TEXT_CHARACTER)
        ways.append(free if schema is None else json_rule(bounded(schema)))
    return _one_of(ways)


def _react(choices: StepChoices) -> str:
    ways = [
        f"{_thought('I need to ', choices)} {_literal(f'Action: {offer.tool}')} {_NEW_LINE} "
        f"{_literal('Args: ')} {json_rule(_arguments(offer))}"
        for offer in choices.calls
    ]
    if choices.may_answer:
        ways.append(
            f"{_thought(_lead_to_answer(choices), choices)} {_literal('Final Answer: ')} "
            f"{_answer(choices.findings, _LINE_CHARACTER)}"
        )
    return _one_of(ways)


def _json_action(choices: StepChoices) -> str:
    ways = [
        f"{_quoted(offer.tool)} {_BETWEEN} {json_rule(_input(offer))}" for offer in choices.calls
    ]
    if choices.may_answer:
        findings = [
            replace(each, answer=_in_string(each.answer), asked=_in_string(each.asked))
            for each in choices.findings
        ]
        answer = _answer(findings, STRING_CHARACTER)
        ways.append(f'{_quoted("final_answer")} {_BETWEEN} "\\"" {answer} "\\""')
    return f'{_BEFORE} {_one_of(ways)} "\\n}}"'


def _literal(text: str) -> str:
    """The expression of exactly this text."""
    return json.dumps(text, ensure_ascii=False)


def _quoted(text: str) -> str:
    """The expression of exactly this text, written as a JSON string."""
    return _literal(json.dumps(text, ensure_ascii=False))


def _in_string(text: str) -> str:
    """A text as it stands between the quotes of a JSON string."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _one_of(expressions: Iterable[str]) -> str:
    return "(" + " | ".join(dict.fromkeys(expressions)) + ")"


_NEW_LINE = _literal("\n")
_BEFORE = _literal('{\n    "action": ')
_BETWEEN = _literal(',\n    "action_input": ')


def _lead_to_answer(choices: StepChoices) -> str:
    found = any(finding.answer for finding in choices.findings) or not choices.findings
    return "I now know " if found else "I could not find "


def _thought(lead: str, choices: StepChoices) -> str:
    """The line of the thought; a guided one begins with `lead`."""
    free = f"/{_TEXT_START}{_LINE_CHARACTER}{{1,{_THOUGHT}}}/"
    guided = f"{_literal(lead)} /[a-z0-9]{_CLAIMLESS}{{1,{_THOUGHT}}}/"
    return f"{_literal('Thought: ')} {guided if choices.is_guided else free} {_NEW_LINE}"


def _answer(findings: Sequence[Finding], character: str) -> str:
    """The words of an answer: free, or one sentence for each finding."""
    if not findings:
        return f"/{_TEXT_START}{character}{{0,{_ANSWER}}}/"
    alone = len(findings) == 1
    return f" {_literal(' ')} ".join(_sentence(each, alone=alone) for each in findings)


def _sentence(finding: Finding, *, alone: bool) -> str:
    """A finding in words; which words, the model chooses."""
    if not finding.answer:
        return _literal("I could not find that out.")
    ways = ["The answer is "] if alone or not finding.asked else []
    if finding.asked[:1].islower():
        ways.append(f"The {finding.asked} is ")
    elif finding.asked:
        ways += [f"{finding.asked} is ", f"{finding.asked} = "]
    return _one_of(_literal(f"{way}{finding.answer}.") for way in ways)


def _arguments(offer: CallOffer) -> JsonObject:
    return object_schema((each.name, each.schema, each.required) for each in offer.members)


def _input(offer: CallOffer) -> JsonObject:
    """The `action_input`: a tool's one text stands bare, as the format's own examples have it."""
    if len(offer.members) == 1 and offer.members[0].required and offer.members[0].is_text:
        return offer.members[0].schema
    return _arguments(offer)
