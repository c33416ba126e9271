"""The tools of the bundled agents: plain typed functions, nothing to register.

Prompt Studio reads the signature, the annotations and the docstring of each public function and
makes a JSON schema of them. The functions run in a process of their own, never inside the studio.
"""

from __future__ import annotations

import ast
import json
import operator
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from pydantic import Field

__all__ = ["calculator", "lookup"]

_FACTS = Path(__file__).with_name("facts.json")
_LARGEST_EXPONENT = 100

_BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_UNARY: dict[type[ast.unaryop], Callable[[float], float]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}


def calculator(
    expression: Annotated[
        str,
        Field(pattern=r"^[0-9(][0-9 .()+*/%-]{0,60}[0-9)]$", examples=["(3 + 4) * 5"]),
    ],
) -> float | int:
    """Work out an arithmetic expression.

    Args:
        expression: numbers with + - * / % ** and brackets.
    """
    return _value(ast.parse(expression, mode="eval").body)


def lookup(
    fact: Annotated[
        str,
        Field(
            pattern=r"^(capital|currency|language|continent) of [A-Z][a-z]+( [A-Z][a-z]+)?$",
            examples=["capital of Japan"],
        ),
    ],
) -> str:
    """Look up a fact about a country.

    Args:
        fact: capital, currency, language or continent, then "of" and the country.
    """
    table: dict[str, dict[str, str]] = json.loads(_FACTS.read_text(encoding="utf-8"))
    what, _, country = fact.partition(" of ")
    if country not in table:
        raise LookupError(f"no country {country!r} in the table; it has {', '.join(table)}")
    return table[country][what]


def _value(node: ast.expr) -> float | int:
    """The value of one node; only numbers and operators get in, so nothing can be executed."""
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return number
        case ast.BinOp(left=left, op=operation, right=right) if type(operation) in _BINARY:
            first, second = _value(left), _value(right)
            if isinstance(operation, ast.Pow) and abs(second) > _LARGEST_EXPONENT:
                raise ValueError(f"exponents go up to {_LARGEST_EXPONENT}")
            return _BINARY[type(operation)](first, second)
        case ast.UnaryOp(op=sign, operand=operand) if type(sign) in _UNARY:
            return _UNARY[type(sign)](_value(operand))
        case _:
            raise ValueError(f"{ast.unparse(node)!r} is not arithmetic")
