"""The grammar that keeps a tiny model on the road: the legal replies of a protocol, as GBNF.

Which steps are on offer is decided by `policy`; this file knows how a protocol writes them. The
levels are switches with labels, because none of what they give is the merit of the model.
"""

from __future__ import annotations

from collections.abc import Sequence

from studio.core.models.base import ModelRequest
from studio.core.models.embedded import gbnf
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
    """The GBNF of the reply's text, or `None` where the model may write anything.

    Args:
        request: the call; its protocol, tools, past calls, observations and question are read.
        level: how much is decided for the model.
    """
    if level == "off":
        return None
    choices = step_choices(request, level)
    asked = request.response_schema
    schema = None if asked is None else strict_schema(asked)  # as every server is asked
    match request.protocol:
        case "native":
            if not request.tools:
                return None if schema is None else f"root ::= {gbnf.schema_expression(schema)}"
            return _native(choices, schema)
        case "react":
            return _react(choices)
        case "json_action":
            return _json_action(choices)


def _native(choices: StepChoices, schema: JsonObject | None) -> str:
    """A call as one JSON object, or the answer; the studio makes tool calls of the former."""
    ways = [
        f"{gbnf.literal('{')} {gbnf.json_literal('name')} {gbnf.literal(': ')} "
        f"{gbnf.json_literal(offer.tool)} {gbnf.literal(', ')} {gbnf.json_literal('arguments')} "
        f"{gbnf.literal(': ')} {_arguments(offer)} {gbnf.literal('}')}"
        for offer in choices.calls
    ]
    if choices.may_answer:
        free = _answer(choices.findings, _TEXT_CHARACTER)
        ways.append(free if schema is None else gbnf.schema_expression(schema))
    return f"root ::= {gbnf.one_of(ways)}"


def _react(choices: StepChoices) -> str:
    ways = [
        f"{_thought('I need to ', choices)} {gbnf.literal('Action: ' + offer.tool)} {_NEW_LINE} "
        f"{gbnf.literal('Args: ')} {_arguments(offer)}"
        for offer in choices.calls
    ]
    if choices.may_answer:
        ways.append(
            f"{_thought(_lead_to_answer(choices), choices)} {gbnf.literal('Final Answer: ')} "
            f"{_answer(choices.findings, _LINE_CHARACTER)}"
        )
    return f"root ::= {gbnf.one_of(ways)}"


def _json_action(choices: StepChoices) -> str:
    ways = [
        f"{gbnf.json_literal(offer.tool)} {_BETWEEN} {_input(offer)}" for offer in choices.calls
    ]
    if choices.may_answer:
        answer = _answer(choices.findings, gbnf.STRING_CHARACTER, in_json=True)
        ways.append(f'{gbnf.json_literal("final_answer")} {_BETWEEN} "\\"" {answer} "\\""')
    return f'root ::= {_BEFORE} {gbnf.one_of(ways)} "\\n}}"'


_NEW_LINE = gbnf.literal("\n")
_BEFORE = gbnf.literal('{\n    "action": ')
_BETWEEN = gbnf.literal(',\n    "action_input": ')


def _lead_to_answer(choices: StepChoices) -> str:
    found = any(finding.said for finding in choices.findings) or not choices.findings
    return "I now know " if found else "I could not find "


def _thought(lead: str, choices: StepChoices) -> str:
    """The line of the thought; a guided one begins with `lead`."""
    free = f"{_TEXT_START} {_LINE_CHARACTER}{{1,{_THOUGHT}}}"
    guided = f"{gbnf.literal(lead)} [a-z0-9] {_CLAIMLESS}{{1,{_THOUGHT}}}"
    return f"{gbnf.literal('Thought: ')} {guided if choices.is_guided else free} {_NEW_LINE}"


def _answer(findings: Sequence[Finding], character: str, *, in_json: bool = False) -> str:
    """The words of an answer: free, or one sentence for each finding."""
    if not findings:
        return f"{_TEXT_START} {character}{{0,{_ANSWER}}}"
    alone = len(findings) == 1
    return f" {gbnf.literal(' ')} ".join(
        _sentence(each, alone=alone, in_json=in_json) for each in findings
    )


def _sentence(finding: Finding, *, alone: bool, in_json: bool) -> str:
    """A finding in words; which words, the model chooses."""
    if not finding.said:
        return gbnf.literal("I could not find that out.")
    ways = ["The answer is "] if alone or not finding.asked else []
    if finding.asked[:1].islower():
        ways.append(f"The {finding.asked} is ")
    elif finding.asked:
        ways += [f"{finding.asked} is ", f"{finding.asked} = "]
    whole = [way + finding.said + "." for way in ways]
    return gbnf.one_of(gbnf.literal(gbnf.in_string(each) if in_json else each) for each in whole)


def _arguments(offer: CallOffer) -> str:
    return gbnf.object_expression(
        [(member.name, member.value, member.required) for member in offer.members]
    )


def _input(offer: CallOffer) -> str:
    """The `action_input`: a tool's one text stands bare, as the format's own examples have it."""
    if len(offer.members) == 1 and offer.members[0].required and offer.members[0].is_text:
        return offer.members[0].value
    return _arguments(offer)
