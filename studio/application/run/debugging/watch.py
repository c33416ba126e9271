"""Watch expressions: what the user wants to keep an eye on while a run goes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from studio.core.agent.values.breakpoints import environment_of
from studio.core.agent.values.expressions import NAMES, ExpressionError, parse_expression
from studio.core.agent.values.state import RunState
from studio.core.text.shortened import shortened

HINT = "Names: " + ", ".join(name for name in NAMES if name != "prompt")
"""What expressions can see."""

_LONGEST = 500


@dataclass(frozen=True, slots=True)
class WatchRow:
    """One expression with its value now."""

    expression: str
    """As it was written."""

    value: str
    """Its value as JSON, or why it has none."""

    is_wrong: bool = False
    """Whether the expression cannot be read."""


def watch_rows(state: RunState | None, expressions: Iterable[str]) -> tuple[WatchRow, ...]:
    """The expressions with their values where the run stands."""
    environment = environment_of(state) if state is not None else None
    rows: list[WatchRow] = []
    for source in expressions:
        try:
            expression = parse_expression(source)
            value = None if environment is None else expression.value(environment)
        except ExpressionError as error:
            rows.append(WatchRow(source, str(error), is_wrong=True))
            continue
        if environment is None:
            rows.append(WatchRow(source, "no run yet"))
            continue
        text = json.dumps(value, ensure_ascii=False)
        rows.append(WatchRow(source, shortened(text, _LONGEST)))
    return tuple(rows)
