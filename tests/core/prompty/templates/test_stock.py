"""Numbers and lists are written by the rules of ECMAScript; what V8 writes stands here."""

from __future__ import annotations

import pytest

from studio.core.prompty.templates.jinja.stock import as_javascript, written
from studio.core.text.values import Json

V8: tuple[tuple[Json, str], ...] = (
    (80.0, "80"),
    (-0.0, "0"),
    (0.1 + 0.2, "0.30000000000000004"),
    (1.2e-7, "1.2e-7"),
    (1e-6, "0.000001"),
    (1.5e16, "15000000000000000"),
    (1e21, "1e+21"),
    (123456789012345678, "123456789012345680"),
    (5e-324, "5e-324"),
    (-1234.5, "-1234.5"),
    (True, "true"),
    (None, ""),
    ([1, [True, None], {"a": 1}], "1,true,,[object Object]"),
)


@pytest.mark.parametrize(("value", "text"), V8)
def test_a_value_is_written_as_javascript_writes_it(value: Json, text: str) -> None:
    assert written(as_javascript(value)) == text


def test_an_empty_list_and_an_empty_object_are_true() -> None:
    assert as_javascript([])
    assert as_javascript({})
