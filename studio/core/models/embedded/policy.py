"""The possible next steps of a tiny model, and the supported part of JSON schemas.

* `policy`: a call comes before the answer; the last step, or one after a repeated call, answers.
* `grounded`: in addition, text arguments are phrases of the question, each matching phrase is used
    once before the answer, a tool without one is not offered, and the answer is built from the
    arguments and results of the calls.

Everything is bounded: a tiny model never stops by itself, and a string that may begin with any
character begins with one that the vocabulary merges with the quote. The server silently ignores a
grammar that it cannot read, so unsupported syntax is never sent.

The effect of each level is in docs/design/embedded-model.md; `make bench` measures it again.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from studio.core.models.base import ModelRequest
from studio.core.patterns import PatternError, schema_pattern
from studio.core.prompty.document import ToolSpec
from studio.core.text.values import JsonObject, parse_json

FIRST_CHARACTER = r"[^\x00-\x27\x29-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]"
"""Pattern of a letter of any script, a digit, or an opening parenthesis."""

STRING_CHARACTER = r'[^"\\\x00-\x1f]'
"""Pattern of an unescaped character in a JSON string."""

_LONGEST = 80
_LONGEST_ASKED = 4 * _LONGEST
_DEEPEST = 6
_MOST_ITEMS = 8
_LARGEST = 9_999_999_999
_DECIMALS = 0.000001
_NUMBER_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")


def bounded(schema: JsonObject, depth: int = 0) -> JsonObject:
    """Return a schema that allows only values of the given one, as far as it is supported.

    Supported: `const`, `enum`, `anyOf`/`oneOf`, `type` (also lists of types), `pattern` (as one of
    the whole text), `minLength`/`maxLength`, bounds of numbers, `properties` and `required`,
    `items`, `minItems`/`maxItems`. Other keywords are ignored.
    """
    if "const" in schema:
        return {"const": schema["const"]}
    choices = schema.get("enum")
    if isinstance(choices, Sequence) and choices and not isinstance(choices, str):
        return {"enum": choices}
    for key in ("anyOf", "oneOf"):
        branches = schema.get(key)
        if isinstance(branches, Sequence) and not isinstance(branches, str):
            found = [bounded(each, depth) for each in branches if isinstance(each, Mapping)]
            if found:
                return {"anyOf": found}
    kind = schema.get("type", "object" if "properties" in schema else None)
    if isinstance(kind, Sequence) and kind and not isinstance(kind, str):
        return {"anyOf": [bounded({**schema, "type": each}, depth) for each in kind]}
    return _typed(kind, schema, depth)


def object_schema(members: Iterable[tuple[str, JsonObject, bool]]) -> JsonObject:
    """Return the schema of an object.

    Args:
        members: name, schema of the value, and whether it is required; required ones are written
            first, each group in the given order.
    """
    ordered = sorted(members, key=lambda member: not member[2])
    return {
        "type": "object",
        "properties": {name: schema for name, schema, _ in ordered},
        "required": [name for name, _, needed in ordered if needed],
        "additionalProperties": False,
    }


def is_followed(grammar: str) -> bool:
    """Return whether the server's engine (llguidance's Lark) can enforce a grammar."""
    import llguidance

    return not llguidance.LLMatcher.validate_grammar(grammar)


def json_rule(schema: JsonObject) -> str:
    """Return the rule for JSON of a schema, with one blank after each colon and comma.

    Tiny models write blanks without end if the grammar allows them.
    """
    blanks = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
    return f"%json {json.dumps({**schema, 'x-guidance': blanks}, ensure_ascii=False)}"


def _typed(kind: object, schema: JsonObject, depth: int) -> JsonObject:
    match kind:
        case "string":
            return _string(schema)
        case "integer" | "number":
            return _number(str(kind), schema)
        case "boolean" | "null":
            return {"type": kind}
        case "array":
            return _array(schema, depth)
        case "object":
            return _fixed_object(schema, depth)
        case _:
            kinds = ("string", "number", "boolean", "null")
            return {"anyOf": [_typed(each, {}, depth) for each in kinds]}


def _string(schema: JsonObject) -> JsonObject:
    least, most = schema.get("minLength", 1), schema.get("maxLength", _LONGEST)
    least = least if isinstance(least, int) and least >= 0 else 1
    most = most if isinstance(most, int) and most > 0 else _LONGEST
    most = max(least, min(most, _LONGEST_ASKED), 1)
    rest = f"{STRING_CHARACTER}{{{max(0, least - 1)},{most - 1}}}"
    free: JsonObject = {"type": "string", "pattern": f"^{FIRST_CHARACTER}{rest}$"}
    pattern = schema.get("pattern")
    if not isinstance(pattern, str):
        return free
    longest = most if "maxLength" in schema else _LONGEST
    whole = f"^(?:{pattern.removeprefix('^').removesuffix('$')})$"
    ways: list[JsonObject] = [
        {"type": "string", "pattern": each, "maxLength": longest} for each in (whole, pattern)
    ]
    return _first_followed((*ways, free))


def _number(kind: str, schema: JsonObject) -> JsonObject:
    plain: dict[str, float] = {"minimum": -_LARGEST, "maximum": _LARGEST}
    asked: dict[str, float] = {}
    for key in _NUMBER_BOUNDS:
        bound = schema.get(key)
        if isinstance(bound, int | float) and not isinstance(bound, bool):
            asked[key] = bound
    ways = (plain | asked, plain) if asked else (plain,)
    if kind == "integer":
        return _first_followed([{"type": "integer", **bounds} for bounds in ways])
    return _first_followed([_decimal(bounds) for bounds in ways])


def _decimal(bounds: Mapping[str, float]) -> JsonObject:
    """Return the schema of a number with few digits, since the engine does not limit decimals."""
    above: JsonObject = {"type": "number", "multipleOf": _DECIMALS, **bounds}
    below: JsonObject = {"type": "number", **bounds, "maximum": min(0, bounds["maximum"])}
    return {"anyOf": [above, below]}


def _array(schema: JsonObject, depth: int) -> JsonObject:
    items = schema.get("items")
    if depth >= _DEEPEST:
        return {"const": []}
    item = bounded(items if isinstance(items, Mapping) else {}, depth + 1)
    least, most = schema.get("minItems", 0), schema.get("maxItems", _MOST_ITEMS)
    least = least if isinstance(least, int) and least >= 0 else 0
    most = most if isinstance(most, int) else _MOST_ITEMS
    most = max(1, least, min(most, _MOST_ITEMS))
    return {"type": "array", "items": item, "minItems": least, "maxItems": most}


def _fixed_object(schema: JsonObject, depth: int) -> JsonObject:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or depth >= _DEEPEST:
        return {"const": {}}
    required = schema.get("required")
    needed = set(required) if isinstance(required, Sequence) else set()
    return object_schema(
        (name, bounded(each if isinstance(each, Mapping) else {}, depth + 1), name in needed)
        for name, each in properties.items()
    )


def _first_followed(ways: Sequence[JsonObject]) -> JsonObject:
    """Return the first of several schemas that the engine supports and that has a value."""
    return next(
        (each for each in ways if is_followed(f"%llguidance {{}}\nstart: {json_rule(each)}")),
        ways[-1],
    )


_WORD = re.compile(r"\S+")
_EDGES = "?.,!;:=\"'`“”‘’«»…"
_BRACKETS = "()[]{}"
_PAIRS = {")": "(", "]": "[", "}": "{"}
_MOST_WORDS = 12
_MOST_FREE_WORDS = 4
_MOST_TEXT_WORDS = 300
_MOST_SPANS = 120
_LONGEST_PATTERN_TEXT = 120

_FUNCTION_WORDS = frozenset(
    re.findall(
        r"\S+",
        "a an and are as at be but by can could did do does for from give had has have how i in is "
        "it know me my of on or please show tell than that the their there these they this to was "
        "were what what's when where which who whose why will with would you your",
    )
)
_BREAK = re.compile(r"[,;:?!]\s")


def phrases(text: str, pattern: str | None = None) -> tuple[str, ...]:
    """Return the phrases of a text that can be an argument, ordered by start.

    Args:
        text: the question.
        pattern: regular expression that the whole phrase must match. With one, only the longest
            matches are returned (not "46" if "128 * 46" matches); without, short phrases that
            neither start nor end with a function word.
    """
    found = _matching(text, pattern) if pattern else _content(text)
    return tuple(dict.fromkeys(found))[:_MOST_SPANS]


def numbers(text: str, *, whole: bool) -> tuple[str, ...]:
    """Return the numbers in a text, written as JSON."""
    shape = r"(?<![\w.])-?(?:0|[1-9]\d{0,15})" + ("" if whole else r"(?:\.\d{1,9})?")
    return tuple(dict.fromkeys(re.findall(shape + r"(?![\w]|\.\d)", text)))


def _matching(text: str, pattern: str) -> list[str]:
    try:
        compiled = schema_pattern(pattern)
    except PatternError:
        return []
    kept: list[tuple[int, int, str]] = []
    for start, end, phrase in _spans(text, _MOST_WORDS):
        if len(phrase) > _LONGEST_PATTERN_TEXT or not compiled.fullmatch(phrase):
            continue
        if not any(first <= start and end <= last for first, last, _ in kept):
            # For each start the longest span comes first, so only earlier starts can cover this
            # one.
            kept.append((start, end, phrase))
    return [phrase for _, _, phrase in kept]


def _content(text: str) -> list[str]:
    found: list[str] = []
    for _, _, phrase in _spans(text, _MOST_FREE_WORDS):
        words = phrase.lower().split()
        if all(_is_content(word) for word in (words[0], words[-1])) and not _BREAK.search(phrase):
            found.append(phrase)
    return found


def _is_content(word: str) -> bool:
    return word not in _FUNCTION_WORDS and any(char.isalnum() for char in word)


def _spans(text: str, most: int) -> Iterator[tuple[int, int, str]]:
    """Yield the runs of whole words with their spans, without punctuation at the ends."""
    words = list(_WORD.finditer(text))[:_MOST_TEXT_WORDS]
    for first, word in enumerate(words):
        for last in range(min(first + most, len(words)) - 1, first - 1, -1):
            for phrase in _trimmed(text[word.start() : words[last].end()]):
                yield first, last, phrase


def _trimmed(phrase: str) -> Iterable[str]:
    bare = phrase.strip(_EDGES)
    if not _is_balanced(bare):
        bare = bare.strip(_BRACKETS + _EDGES)
    if bare and _is_balanced(bare) and any(char.isalnum() for char in bare):
        return (bare,)
    return ()


def _is_balanced(text: str) -> bool:
    open_brackets: list[str] = []
    for char in text:
        if char in "([{":
            open_brackets.append(char)
        elif char in _PAIRS and (not open_brackets or open_brackets.pop() != _PAIRS[char]):
            return False
    return not open_brackets


GrammarLevel: TypeAlias = Literal["off", "syntax", "policy", "grounded"]
"""Level of the grammar; each level includes all of the one before."""

LEVELS: tuple[GrammarLevel, ...] = ("off", "syntax", "policy", "grounded")
"""All levels, in ascending order."""

_LONGEST_QUOTE = 80


@dataclass(frozen=True, slots=True)
class Member:
    """One argument of an offered call."""

    name: str
    """Name of the parameter."""

    schema: JsonObject
    """Schema of its value."""

    required: bool
    """Whether it is required."""

    is_text: bool
    """Whether the value is a string."""


@dataclass(frozen=True, slots=True)
class CallOffer:
    """A call that the model may make."""

    tool: str
    """Name of the tool."""

    members: tuple[Member, ...]
    """Its arguments."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A usable result of a tool."""

    asked: str
    """The only text argument of the call; empty if it had others."""

    answer: str
    """Result of the tool as one short line; empty if no tool gave one."""


@dataclass(frozen=True, slots=True)
class StepChoices:
    """The possible next steps."""

    calls: tuple[CallOffer, ...]
    """The calls that are allowed."""

    may_answer: bool
    """Whether the final answer is allowed; always True without calls."""

    findings: tuple[Finding, ...] = ()
    """Findings that the answer is built from; empty if it is free text."""

    is_guided: bool = False
    """Whether thoughts begin with given words, and may not contain an equals sign."""


def step_choices(request: ModelRequest, level: GrammarLevel) -> StepChoices:
    """Return the possible next steps by the rules of a level."""
    if level in ("off", "syntax"):
        return StepChoices(_plain_offers(request.tools), may_answer=True)
    must_answer = request.iteration >= request.max_iterations or _is_repeating(request.past_calls)
    if level == "policy":
        offers = () if must_answer else _plain_offers(request.tools)
        return StepChoices(offers, may_answer=not offers or bool(request.past_calls))
    answered = any(not is_error(each) for each in request.observations)
    offers = () if must_answer else _grounded_offers(request, answered=answered)
    return StepChoices(offers, not offers, _findings(request), is_guided=True)


def is_error(observation: str) -> bool:
    """Return whether an observation reports a failure, in any protocol's wording."""
    text = observation.strip()
    if text.startswith("{"):
        try:
            value = parse_json(text)
        except ValueError:
            return False
        if not isinstance(value, Mapping):
            return False
        text = str(value.get("action_output", "Error" if "error" in value else ""))
    return text.partition(":")[0].strip() == "Error"


def _plain_offers(tools: Sequence[ToolSpec]) -> tuple[CallOffer, ...]:
    """Return an offer for every tool, with arguments that fit its schema."""
    return tuple(
        CallOffer(
            tool.name,
            tuple(
                _member(name, schema, bounded(schema), needed)
                for name, schema, needed in _parameters(tool)
            ),
        )
        for tool in tools
    )


def _grounded_offers(request: ModelRequest, *, answered: bool) -> tuple[CallOffer, ...]:
    """Return the calls that the conversation suggests and that were not made yet.

    Args:
        request: the model request.
        answered: whether a tool has given a usable result; then further calls need a match of a
            tool's own pattern in the question, not just a word or number.
    """
    offers = (
        _grounded_offer(tool, request, answered=answered)
        for tool in request.tools
        if not answered or any("pattern" in schema for _, schema, _ in _parameters(tool))
    )
    return tuple(offer for offer in offers if offer is not None)


def _grounded_offer(tool: ToolSpec, request: ModelRequest, *, answered: bool) -> CallOffer | None:
    parameters = _parameters(tool)
    if not parameters and any(name == tool.name for name, _ in request.past_calls):
        return None
    used = _used(tool.name, request.past_calls)
    members: list[Member] = []
    for name, schema, needed in parameters:
        if schema.get("type") == "string" and not {"const", "enum"} & schema.keys():
            left = [
                phrase
                for phrase in phrases(request.question, _pattern(schema))
                if phrase not in used.get(name, ()) and not (answered and phrase.isalnum())
            ]
            value: JsonObject | None = {"enum": left} if left else None
        else:
            value = _grounded_value(schema, request.question)
        if value is not None:
            members.append(_member(name, schema, value, needed))
        elif needed:
            return None
    return CallOffer(tool.name, tuple(members))


def _grounded_value(schema: JsonObject, question: str) -> JsonObject:
    """Return the schema of an argument that is no text: a number of the question, if any."""
    kind = schema.get("type")
    if kind in ("integer", "number") and not {"const", "enum"} & schema.keys():
        named = numbers(question, whole=kind == "integer")
        if named:
            return {"enum": [json.loads(each) for each in named]}
    return bounded(schema)


def _pattern(schema: JsonObject) -> str | None:
    pattern = schema.get("pattern")
    return pattern if isinstance(pattern, str) else None


def _member(name: str, schema: JsonObject, value: JsonObject, needed: bool) -> Member:
    return Member(name, value, needed, schema.get("type") == "string")


def _parameters(tool: ToolSpec) -> tuple[tuple[str, JsonObject, bool], ...]:
    """Return (name, schema, required) of every parameter."""
    properties = tool.parameters.get("properties")
    if not isinstance(properties, Mapping):
        return ()
    required = tool.parameters.get("required")
    needed = required if isinstance(required, Sequence) else ()
    return tuple(
        (name, schema if isinstance(schema, Mapping) else {}, name in needed)
        for name, schema in properties.items()
    )


def _used(tool: str, past: Iterable[tuple[str, str]]) -> Mapping[str, frozenset[str]]:
    """Return the texts that were a tool's only argument; combined arguments may be repeated."""
    used: dict[str, frozenset[str]] = {}
    for name, arguments in past:
        values = _object(arguments) if name == tool else {}
        if len(values) == 1:
            ((key, value),) = values.items()
            if isinstance(value, str):
                used[key] = used.get(key, frozenset()) | {value}
    return used


def _object(arguments: str) -> JsonObject:
    try:
        values = parse_json(arguments)
    except ValueError:
        return {}
    return values if isinstance(values, Mapping) else {}


def _findings(request: ModelRequest) -> tuple[Finding, ...]:
    """Return the tools' results that are short enough for an answer."""
    found: dict[str, Finding] = {}
    for (_, arguments), observation in zip(request.past_calls, request.observations, strict=False):
        words = observation.strip()
        if words and not is_error(words) and len(words) <= _LONGEST_QUOTE and "\n" not in words:
            values = [value for value in _object(arguments).values() if isinstance(value, str)]
            asked = values[0] if len(values) == 1 else ""
            found[asked or words] = Finding(asked, words)
    if not found and request.observations and all(map(is_error, request.observations)):
        return (Finding("", ""),)
    return tuple(found.values())


def _is_repeating(past: Sequence[tuple[str, str]]) -> bool:
    """Return whether the last call repeats an earlier one."""
    return len(past) >= 2 and past[-1] in past[:-1]
