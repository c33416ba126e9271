"""Why something cannot be read, without Python's own words; and no handler that says them."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from studio.core.text.values import named_reason, reason_of

SOURCES = sorted((Path(__file__).resolve().parents[3] / "studio").rglob("*.py"))
_BARE = re.compile(r"\bf\"[^\"\n]*\{error(![rs])?\}|str\(error\)|=error[)\n]")
_RAW = {"OSError", "UnicodeDecodeError", "UnicodeEncodeError", "json.JSONDecodeError"}


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (lambda: b"a\nb\xe4\n".decode("utf-8"), "line 2 is not UTF-8; save the file as UTF-8"),
        (
            lambda: "a".encode("utf-16").decode("utf-8"),
            "the text is UTF-16; save the file as UTF-8",
        ),
        (
            "\ud83d".encode,
            "it contains half a character (U+D83D), which no file can contain",
        ),
        (lambda: json.loads('{\n"a" 1}'), "line 2, column 5: expecting ':' delimiter"),
        (lambda: json.loads('{"a" 1}'), "column 6: expecting ':' delimiter"),
        (lambda: Path("/no/such/file").read_bytes(), "No such file or directory"),
        (lambda: int("x"), "invalid literal for int() with base 10: 'x'"),
    ],
)
def test_a_reason_says_what_and_where(act: Callable[[], object], reason: str) -> None:
    with pytest.raises((OSError, ValueError)) as caught:
        act()
    assert reason_of(caught.value) == reason


def test_an_error_without_words_is_named_by_its_kind() -> None:
    assert reason_of(TimeoutError()) == "TimeoutError"
    assert reason_of(OSError("the link is down")) == "the link is down"


def test_the_file_is_named_where_the_error_has_one() -> None:
    with pytest.raises(OSError, match="such") as caught:
        Path("/no/such/file").read_bytes()
    assert named_reason(caught.value) == "/no/such/file: No such file or directory"
    assert named_reason(ValueError("it is odd")) == "it is odd"


def _handlers(source: str) -> Iterator[str]:
    """The text of each handler of an error that has Python's own words."""
    lines = source.splitlines(keepends=True)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ExceptHandler) and node.name == "error" and node.type is not None:
            kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
            if _RAW & {ast.unparse(each) for each in kinds}:
                yield "".join(lines[node.lineno : node.end_lineno])


def test_no_handler_says_an_error_in_python_s_words() -> None:
    said = [
        (path.name, handler)
        for path in SOURCES
        if _BARE.search(source := path.read_text(encoding="utf-8"))
        for handler in _handlers(source)
        if _BARE.search(handler) and "missing_library(" not in handler
    ]
    assert said == []
