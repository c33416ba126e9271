"""The three styles of docstrings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.core.tools.python_server.schemas import parse_docstring

GOOGLE = """Find a place.

    Looks on the map.

    Args:
        name: What it is called,
            in English.
        near (str, optional): Where: a city.
        **rest: More.

    Returns:
        name: not a parameter
    """

NUMPY = """Find a place.

    Looks on the map.

    Parameters
    ----------
    name : str
        What it is called,
        in English.
    near, far : str, optional
        Where.
    *rest
        More.

    Returns
    -------
    str
        The place.
    """

SPHINX = """Find a place.

    Looks on the map.

    :param name: What it is called,
        in English.
    :param str near: Where.
    :type name: str
    :returns: The place.
    :raises ValueError: never
    """


@pytest.mark.parametrize(
    ("text", "parameters"),
    [
        (
            GOOGLE,
            {"name": "What it is called, in English.", "near": "Where: a city.", "rest": "More."},
        ),
        (
            NUMPY,
            {
                "name": "What it is called, in English.",
                "near": "Where.",
                "far": "Where.",
                "rest": "More.",
            },
        ),
        (SPHINX, {"name": "What it is called, in English.", "near": "Where."}),
    ],
    ids=["google", "numpy", "sphinx"],
)
def test_styles(text: str, parameters: dict[str, str]) -> None:
    found = parse_docstring(text)
    assert found.description == "Find a place.\n\nLooks on the map."
    assert dict(found.parameters) == parameters


def test_no_docstring() -> None:
    assert parse_docstring(None).description == ""
    assert not parse_docstring("").parameters


def test_a_colon_in_prose_is_no_section() -> None:
    found = parse_docstring("Count: one, two.\n\nremember:\n  this is prose")
    assert "this is prose" in found.description
    assert not found.parameters


@given(st.text(alphabet=st.sampled_from(" \n\t:-*argsARGS()par"), max_size=200))
def test_any_text_is_read(text: str) -> None:
    parse_docstring(text)
