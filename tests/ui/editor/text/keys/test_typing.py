from __future__ import annotations

import pytest

from studio.ui.editor.text.keys.typing import (
    comment_lines,
    on_backspace,
    on_character,
    on_return,
)
from studio.ui.editor.text.marks import matching_bracket


def typed(char: str, before: str, after: str, **options: bool) -> tuple[str, int]:
    """The line after the key, and the caret in it."""
    result = on_character(char, before, after, yaml=options.pop("yaml", False), **options)
    if result is None:
        return before + char + after, len(before) + 1
    head = before[: len(before) - result.erase] + result.insert
    return head + after[result.overwrite :], len(head) - result.back


def test_two_braces_make_an_expression() -> None:
    line, caret = typed("{", "Hi ", "")
    assert (line, caret) == ("Hi {}", 4)
    assert typed("{", line[:caret], line[caret:]) == ("Hi {{  }}", 6)


def test_brace_and_percent_make_a_statement() -> None:
    assert typed("%", "{", "}") == ("{%  %}", 3)


@pytest.mark.parametrize(
    "wanted",
    [
        "{{ name }}",
        "{% if x %}",
        "{# note #}",
        "{{name}}",
        "{{ a | b }}",
        "({{ a }})",
        '{% if a == "b" -%}',
        "{{ a | join(', ') }}",
        "{% for a in b %}{{ a }}",
    ],
)
def test_writing_an_expression_out_gives_what_was_typed(wanted: str) -> None:
    line, caret = "", 0
    for char in wanted:
        line, caret = typed(char, line[:caret], line[caret:])
    assert line.replace(" ", "") == wanted.replace(" ", "")
    if " " in wanted:
        assert line == wanted
    assert caret == len(line)


def test_what_follows_a_completed_name_keeps_its_space_before_the_braces() -> None:
    """`{{ city| }}` after a completion: the space that is typed next is the one that is there."""
    before, after = "{{ city", " }}"
    for char in " | upper":
        line, caret = typed(char, before, after)
        before, after = line[:caret], line[caret:]
    assert before + after == "{{ city | upper }}"


def test_format_strings_keep_their_doubled_braces_plain() -> None:
    line, _ = typed("{", "{", "}", expressions=False)
    assert "{{  }}" not in line


def test_a_closing_bracket_is_typed_over() -> None:
    assert typed(")", "f(x", ")") == ("f(x)", 4)


def test_an_apostrophe_in_prose_stays_alone() -> None:
    assert typed("'", "don", "") == ("don'", 4)
    assert typed("'", "It was ", "") == ("It was '", 8)


def test_a_selection_is_put_between_the_pair() -> None:
    result = on_character('"', "", "", selected="word", yaml=True)
    assert result is not None
    assert result.insert == '"word"'


@pytest.mark.parametrize(
    ("before", "yaml", "insert"),
    [
        ("  key:", True, "\n    "),
        ("  key: |", True, "\n    "),
        ("  key: value", True, "\n  "),
        ("  - name: x", True, "\n    "),
        ("  - name:", True, "\n      "),
        ("  - 'a b': x", True, "\n    "),
        ("  - shipping", True, "\n  "),
        ("  - ", True, "\n  "),
        ('  - {text: "a", queue: b}', True, "\n  "),
        ('  - "a: b"', True, "\n  "),
        ("  - https://example.org", True, "\n  "),
        ("  - {text: a,", True, "\n    "),
        ("  - |", True, "\n    "),
        ("  - - inner", True, "\n    "),
        ("  -   name: x", True, "\n      "),
        ("- item", False, "\n- "),
        ("  2. item", False, "\n  3. "),
        ("  text", False, "\n  "),
    ],
)
def test_return_indents(before: str, yaml: bool, insert: str) -> None:
    result = on_return(before, "", yaml=yaml)
    assert result is not None
    assert result.insert == insert


def test_return_on_an_empty_item_ends_the_list() -> None:
    result = on_return("  - ", "", yaml=False)
    assert result is not None
    assert (result.insert, result.erase) == ("", 2)


@pytest.mark.parametrize("yaml", [True, False])
def test_return_takes_the_blanks_of_an_empty_line(yaml: bool) -> None:
    result = on_return("    ", " ", yaml=yaml)
    assert result is not None
    assert (result.insert, result.erase, result.overwrite) == ("\n    ", 4, 1)


def test_return_at_the_margin_is_left_to_the_widget() -> None:
    assert on_return("plain", "", yaml=False) is None


def test_backspace_takes_an_empty_pair_and_an_indent() -> None:
    pair = on_backspace("f(", ")")
    assert pair is not None
    assert (pair.erase, pair.overwrite) == (1, 1)
    indent = on_backspace("    ", "x")
    assert indent is not None
    assert indent.erase == 2
    assert on_backspace("word", "") is None


@pytest.mark.parametrize(
    ("lines", "yaml", "template", "expected"),
    [
        (["  a: 1", "    b: 2"], True, "jinja2", ["  # a: 1", "  #   b: 2"]),
        (["Hello", "", "  you"], False, "jinja2", ["{# Hello #}", "", "  {# you #}"]),
        (["Hello"], False, "mustache", ["{{! Hello }}"]),
        (["Hello"], False, "fstring", ["Hello"]),
        # A comment ends at its first closing sign: the next one goes on from there.
        (["Hi {# note #}"], False, "jinja2", ["{# Hi {# note #}{# #}"]),
        (["{# a #} b {# c #}"], False, "jinja2", ["{# {# a #}{# b {# c #}{# #}"]),
        (["Hi {{ x }}, {{{ y }}}!"], False, "mustache", ["{{! Hi {{ x }}{{!, {{{ y }}{{!}! }}"]),
    ],
)
def test_comment_and_back(lines: list[str], yaml: bool, template: str, expected: list[str]) -> None:
    commented = comment_lines(lines, yaml=yaml, template=template)
    assert commented == expected
    if template != "fstring":
        assert comment_lines(commented, yaml=yaml, template=template) == lines


def test_matching_bracket_skips_nested_ones() -> None:
    text = "a(b(c)d)e"
    assert matching_bracket(text, 1) == (1, 7)
    assert matching_bracket(text, 8) == (7, 1)
    assert matching_bracket("(", 0) is None
