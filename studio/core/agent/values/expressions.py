"""The small expression language of breakpoints, guards and watches. Nothing of it runs code.

    iteration > 3 and tool == "search"        args.path startswith "/etc"
    "error" in observation or cost >= 0.05    not (args.tags contains "draft")

Values: numbers, "text", true, false, null, and names with dots (`args.x.0`). A name that has no
value is null; comparing what cannot be compared is false. Parsed by hand, never by `eval`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from studio.core.text.values import Json

NAMES = (
    "iteration", "place", "tool", "args", "thought", "reply", "observation", "answer", "error",
    "warnings", "tokens", "cost", "elapsed", "calls", "attempt", "prompt",
)  # fmt: skip
"""What a run offers to expressions; `tokens` has `input`, `output`, `total`; `prompt` is there for
guards on requests only."""

_TOKEN = re.compile(
    r"""\s*(?:(?P<number>-?\d+(?:\.\d+)?)|(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
    r"""|(?P<word>[A-Za-z_][\w]*(?:\.\w+)*)|(?P<op>==|!=|<=|>=|<|>|\(|\)|,))"""
)
_WORD_OPERATORS = frozenset(
    {"and", "or", "not", "in", "contains", "startswith", "endswith", "matches"}
)
_COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">=", "in", "contains", "startswith",
                          "endswith", "matches"})  # fmt: skip
_LONGEST = 2000
_DEEPEST = 50

Environment: TypeAlias = Mapping[str, Json]
"""Values by name."""

_Evaluator: TypeAlias = Callable[[Environment], Json]


class ExpressionError(ValueError):
    """An expression that cannot be read; the text says what and where."""


@dataclass(frozen=True)
class Expression:
    """A parsed expression."""

    source: str
    """As it was written."""

    _evaluate: _Evaluator

    def value(self, environment: Environment) -> Json:
        """Its value."""
        return self._evaluate(environment)

    def holds(self, environment: Environment) -> bool:
        """Whether its value counts as true."""
        return bool(self._evaluate(environment))


def parse_expression(source: str) -> Expression:
    """Read an expression.

    Raises:
        ExpressionError: it is empty, too long, or malformed.
    """
    if len(source) > _LONGEST:
        raise ExpressionError(f"the expression is longer than {_LONGEST} characters")
    parser = _Parser(_tokens(source))
    evaluate = parser.whole()
    return Expression(source, evaluate)


def fill(template: str, environment: Environment) -> str:
    """A log point's message with each `{expression}` replaced by its value.

    Raises:
        ExpressionError: one of the expressions cannot be read.
    """
    from studio.core.agent.values.json_text import json_text

    def value(found: re.Match[str]) -> str:
        result = parse_expression(found.group(1)).value(environment)
        return result if isinstance(result, str) else json_text(result)

    return re.sub(r"\{([^{}]+)\}", value, template)


def _tokens(source: str) -> list[tuple[str, str]]:
    tokens: list[tuple[str, str]] = []
    at = 0
    while source[at:].strip():
        found = _TOKEN.match(source, at)
        if found is None:
            rest = source[at:].strip()
            raise ExpressionError(f"{rest[:12]!r} is not understood")
        kind = found.lastgroup or ""
        text = found.group(kind)
        tokens.append(("op" if text in _WORD_OPERATORS else kind, text))
        at = found.end()
    if not tokens:
        raise ExpressionError("the expression is empty")
    return tokens


class _Parser:
    """Recursive descent: or → and → not → comparison → value."""

    def __init__(self, tokens: Sequence[tuple[str, str]]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    def whole(self) -> _Evaluator:
        made = self._or()
        if self._at < len(self._tokens):
            raise ExpressionError(f"{self._tokens[self._at][1]!r} is unexpected")
        return made

    def _peek(self) -> str:
        if self._at < len(self._tokens):
            kind, text = self._tokens[self._at]
            return text if kind == "op" else ""
        return ""

    def _take(self, text: str) -> bool:
        if self._peek() == text:
            self._at += 1
            return True
        return False

    def _or(self) -> _Evaluator:
        left = self._and()
        while self._take("or"):
            left = _either(left, self._and())
        return left

    def _and(self) -> _Evaluator:
        left = self._not()
        while self._take("and"):
            left = _both(left, self._not())
        return left

    def _not(self) -> _Evaluator:
        if self._take("not"):
            self._enter()
            inner = self._not()
            self._depth -= 1
            return lambda environment: not inner(environment)
        return self._comparison()

    def _comparison(self) -> _Evaluator:
        left = self._value()
        operator = self._peek()
        if operator not in _COMPARISONS:
            return left
        self._at += 1
        return _compare(operator, left, self._value())

    def _value(self) -> _Evaluator:
        if self._at >= len(self._tokens):
            raise ExpressionError("something is missing at the end")
        kind, text = self._tokens[self._at]
        self._at += 1
        match kind:
            case "number":
                number: Json = float(text) if "." in text else int(text)
                return lambda _: number
            case "string":
                plain = re.sub(r"\\(.)", r"\1", text[1:-1])
                return lambda _: plain
            case "word":
                return _name(text)
            case _ if text == "(":
                self._enter()
                inner = self._or()
                self._depth -= 1
                if not self._take(")"):
                    raise ExpressionError("a bracket is not closed")
                return inner
            case _:
                raise ExpressionError(f"{text!r} is unexpected")

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ExpressionError("the expression is nested too deeply")


def _either(left: _Evaluator, right: _Evaluator) -> _Evaluator:
    return lambda environment: left(environment) or right(environment)


def _both(left: _Evaluator, right: _Evaluator) -> _Evaluator:
    return lambda environment: left(environment) and right(environment)


_CONSTANTS: dict[str, Json] = {"true": True, "false": False, "null": None}


def _name(word: str) -> _Evaluator:
    if word in _CONSTANTS:
        return lambda _: _CONSTANTS[word]
    first, *steps = word.split(".")
    if first not in NAMES:
        raise ExpressionError(f"there is no {first!r}; names are {', '.join(NAMES)}")

    def evaluate(environment: Environment) -> Json:
        value = environment.get(first)
        for step in steps:
            if isinstance(value, Mapping):
                value = value.get(step)
            elif isinstance(value, list | tuple) and step.isdigit() and int(step) < len(value):
                value = value[int(step)]
            else:
                return None
        return value

    return evaluate


def _compare(operator: str, left: _Evaluator, right: _Evaluator) -> _Evaluator:
    def evaluate(environment: Environment) -> Json:
        try:
            return _comparison(operator, left(environment), right(environment))
        except (TypeError, re.error):
            return False

    return evaluate


def _comparison(operator: str, one: Json, other: Json) -> bool:
    match operator:
        case "==":
            return bool(one == other)
        case "!=":
            return bool(one != other)
        case "<":
            return one < other  # type: ignore[operator]
        case "<=":
            return one <= other  # type: ignore[operator]
        case ">":
            return one > other  # type: ignore[operator]
        case ">=":
            return one >= other  # type: ignore[operator]
        case "in":
            return one in other  # type: ignore[operator]
        case "contains":
            return other in one  # type: ignore[operator]
        case "startswith":
            return isinstance(one, str) and one.startswith(str(other))
        case "endswith":
            return isinstance(one, str) and one.endswith(str(other))
        case _:
            return _matches(str(one), str(other))


def _matches(text: str, pattern: str) -> bool:
    """Whether `*` for anything makes them equal; regular expressions could take for ever."""
    pieces = pattern.split("*")
    if len(pieces) == 1:
        return text == pattern
    if not text.startswith(pieces[0]) or not text.endswith(pieces[-1]):
        return False
    at, end = len(pieces[0]), len(text) - len(pieces[-1])
    for piece in pieces[1:-1]:
        found = text.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return at <= end
