"""The expressions of breakpoints, guards, watches and log points. Nothing of them runs code.

    iteration > 3 and tool == "search"        args.path.startswith("/etc")
    "error" in observation or cost >= 0.05    not (args.tags contains "draft")

They are those of templates, in the same sandbox, and read tests between two sides as well. A name
that has no value is null; comparing what cannot be compared is false.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from studio.core.agent.values.json_text import json_text
from studio.core.prompty.templates.jinja.conditions import ConditionError, compile_condition
from studio.core.text.values import Json

NAMES = tuple(
    """
    iteration place tool args thought reply observation answer error warnings tokens cost elapsed
    calls attempt prompt
""".split()
)
"""What a run offers to expressions; `tokens` has `input`, `output`, `total`; `prompt` is there for
guards on requests only."""

_HOLE = re.compile(r"\{([^{}]+)\}")

Environment: TypeAlias = Mapping[str, Json]
"""Values by name."""

ExpressionError: TypeAlias = ConditionError
"""An expression that cannot be read; the text says what and where."""


@dataclass(frozen=True)
class Expression:
    """A parsed expression."""

    source: str
    """As it was written."""

    value: Callable[[Environment], Json]
    """Its value for some values; raises `ExpressionError` where it has none."""

    def holds(self, environment: Environment) -> bool:
        """Whether its value counts as true.

        Raises:
            ExpressionError: it has none.
        """
        return bool(self.value(environment))


@lru_cache(maxsize=256)
def parse_expression(source: str) -> Expression:
    """Read an expression.

    Raises:
        ExpressionError: it is empty, too long, or malformed.
    """
    return Expression(source, compile_condition(source, NAMES))


def check_message(template: str) -> None:
    """Read the expressions of a log point's message.

    Raises:
        ExpressionError: one cannot be read.
    """
    for source in _HOLE.findall(template):
        parse_expression(source)


def fill(template: str, environment: Environment) -> str:
    """A log point's message with each `{expression}` replaced by its value.

    Raises:
        ExpressionError: one of the expressions cannot be read, or has no value.
    """

    def value(found: re.Match[str]) -> str:
        result = parse_expression(found.group(1)).value(environment)
        return result if isinstance(result, str) else json_text(result)

    return _HOLE.sub(value, template)
