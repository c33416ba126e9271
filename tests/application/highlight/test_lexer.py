from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studio.application.highlight.lexer import PYTHON_FILE, START, State, lex_line
from studio.core.prompty.parse import parse


def styles(text: str, state: State = START) -> list[list[tuple[str, str]]]:
    """Each line's (text, style) pairs."""
    found = []
    for line in text.split("\n"):
        tokens, state = lex_line(line, state)
        found.append([(line[token.start : token.end], token.style) for token in tokens])
    return found


def test_front_matter_keys_values_and_types() -> None:
    lines = styles("---\nname: A prompt # why\nn: 3\non: true\nkey: ${env:KEY}\n---")
    assert lines[0] == [("---", "fence")]
    assert ("name", "key") in lines[1]
    assert any(style == "comment" and "# why" in text for text, style in lines[1])
    assert ("3", "number") in lines[2]
    assert ("true", "constant") in lines[3]
    assert ("${env:KEY}", "reference") in lines[4]
    assert lines[5] == [("---", "fence")]


def test_three_dashes_inside_a_value_do_not_close() -> None:
    lines = styles("---\na: b --- c\nd: 1\n---\nsystem:")
    assert ("d", "key") in lines[2]
    assert ("system", "role") in lines[4]


def test_role_marker_with_attributes_and_an_expression() -> None:
    (marker,) = styles('user[name="{{ first }} x", n=3]:')
    assert marker[0] == ("user", "role")
    assert ("name", "attribute") in marker
    assert ("first", "variable") in marker
    assert ("n", "attribute") in marker
    assert marker[-1] == (":", "role")


@pytest.mark.parametrize("line", ["He is a user:", "username:", "the system: is down", "user"])
def test_prose_is_no_marker(line: str) -> None:
    assert not any(style == "role" for _, style in styles(line)[0])


def test_jinja_statement_over_two_lines() -> None:
    first, second, third = styles("{% for item in\nitems | sort %}x\nplain")
    assert ("for", "keyword") in first
    assert ("items", "variable") in second
    assert ("sort", "filter") in second
    assert third == []


def test_template_language_is_read_from_the_front_matter() -> None:
    text = "---\ntemplate:\n  format:\n    kind: {}\n---\n{{{{ a }}}} {{b}}"
    assert ("b", "variable") in styles(text.format("fstring"))[-1]
    assert ("a", "variable") not in styles(text.format("fstring"))[-1]
    assert ("a", "variable") in styles(text.format("jinja2"))[-1]
    assert ("b", "variable") not in styles(text.format("jinja2"))[-1]


def test_markers_in_fenced_code_are_code_and_expressions_are_not() -> None:
    lines = styles('```json\nsystem:\n{"a": {{ b }}}\n```\nuser:')
    assert not any(style == "role" for line in lines[1:3] for _, style in line)
    assert ('"a"', "key") in lines[2]
    assert ("b", "variable") in lines[2]
    assert ("user", "role") in lines[4]


def test_a_python_string_stays_open_over_lines_of_a_fence() -> None:
    lines = styles('```python\nx = """one\ntwo"""\ny = 1\n```')
    assert lines[2][0] == ('two"""', "string")
    assert ("1", "number") in lines[3]


def test_tools_section_and_tool_call_are_yaml() -> None:
    lines = styles(
        "tools:\n  - id: a\n    q: {{ t }}\n\n"
        'assistant[type="tool_call"]:\nid: 1\nfunction:\n  name: f'
    )
    assert ("id", "key") in lines[1]
    assert ("t", "variable") in lines[2]
    assert ("id", "key") in lines[5]
    assert ("function", "key") in lines[6]
    assert ("name", "key") in lines[7]


def test_block_scalar_ends_where_the_indent_does() -> None:
    lines = styles("---\ntext: |\n  not: a key\nnext: 1\n---")
    assert not any(style == "key" for _, style in lines[2])
    assert ("next", "key") in lines[3]


def test_a_huge_line_is_left_plain() -> None:
    tokens, after = lex_line("{{" * 20_000, State(zone="body"))
    assert tokens == ()
    assert after.zone == "body"


LINES = st.lists(
    st.one_of(
        st.text(max_size=40),
        st.sampled_from(
            [
                "---",
                "+++",
                "```py",
                "```",
                "~~~",
                "system:",
                "tools:",
                "{{ a",
                "b }}",
                "{% if",
                "a: |",
                "  - b: 'x",
                'user[name="',
                "{#",
                "#}",
                "kind: fstring",
                "kind: mustache",
                "\u2028",
                "😀{{ x }}",
            ]
        ),
    ),
    max_size=12,
)


@settings(max_examples=300)
@given(LINES)
def test_any_text_gives_tokens_inside_the_line_in_order(lines: list[str]) -> None:
    state = START
    for line in lines:
        tokens, state = lex_line(line, state)
        hash(state)
        end = 0
        for token in tokens:
            assert end <= token.start < token.end <= len(line)
            assert token.style
            end = token.end


def test_a_python_file_is_python_from_its_first_line_to_its_last() -> None:
    text = 'def add(a: int) -> int:\n    """Add\n---\n```\nsystem:\n    """\n    return a + 1'
    lines = styles(text, PYTHON_FILE)
    assert ("def", "keyword") in lines[0]
    string = {style for _, style in lines[1]}
    for line in lines[2:5]:
        assert {style for _, style in line} == string, "all of the docstring is one string"
    assert ("1", "number") in lines[6]


@pytest.mark.parametrize("language", ["yaml", "yml", "python", "pug", "html+jinja", "console"])
def test_code_of_any_language_in_a_fence_has_its_colours(language: str) -> None:
    lines = ["def f(x): # c", "  key: value", "- a: |", '<b class="x">{{ y }}</b>', "$ ls", ""]
    state = State(zone="fence", fence="```", language=language)
    seen: set[str] = set()
    for line in lines * 2:
        tokens, state = lex_line(line, state)
        assert all(0 <= token.start < token.end <= len(line) for token in tokens)
        seen |= {token.style for token in tokens}
    assert len(seen) > 1


def test_yaml_in_a_fence_is_coloured_as_in_the_front_matter() -> None:
    fenced, _ = lex_line("key: 1 # c", State(zone="fence", fence="```", language="yaml"))
    front, _ = lex_line("key: 1 # c", State(zone="front", delimiter="---"))
    assert fenced == front


def test_prose_is_one_run_up_to_what_can_begin_something() -> None:
    tokens, _ = lex_line("the hat! costs $5, https://x.y ${env:A} hh", State(zone="body"))
    assert [(token.start, token.end, token.style) for token in tokens] == [
        (19, 30, "link"),
        (31, 39, "reference"),
    ]


@pytest.mark.parametrize(
    ("line", "first"),
    [
        ("Thought: it rains", ("Thought", "strong")),
        ("Final Answer: 3", ("Final Answer", "strong")),
        ("3. third", ("3.", "list")),
        ("+ more", ("+", "list")),
        ("> said", (">", "list")),
        ("  ## part", ("  ## part", "heading")),
    ],
)
def test_what_begins_a_line_is_told_from_prose(line: str, first: tuple[str, str]) -> None:
    assert styles(line)[0][0] == first
    assert styles(f"I say {line}")[0] == []


def test_names_that_begin_or_end_as_keywords_are_names() -> None:
    (line,) = styles("{{ ifs.is_it if noted is not in_x and trues.none }}")
    assert [each for each in line if each[1] != "delimiter"] == [
        ("ifs", "variable"),
        (".", "punctuation"),
        ("is_it", "attribute"),
        ("if", "keyword"),
        ("noted", "variable"),
        ("is not ", "keyword"),
        ("in_x", "filter"),
        ("and", "keyword"),
        ("trues", "variable"),
        (".", "punctuation"),
        ("none", "constant"),
    ]


@pytest.mark.parametrize(
    "said",
    [
        "template: mustache",
        "template:\n  format: mustache  # as others have it",
        "template:\n  format:\n    kind: 'mustache'",
        "template: {format: mustache}",
        "template: {format: mustache, parser: section}",
        "template: {parser: section, format: {kind: mustache}}",
        "template:\n  type: mustache",
    ],
)
def test_the_templates_language_is_the_one_that_the_prompt_is_read_with(said: str) -> None:
    text = f"---\nname: x\n{said}\n---\n"
    state = START
    for line in text.splitlines():
        _, state = lex_line(line, state)
    assert state.template == parse(text).template.format == "mustache"


@pytest.mark.parametrize("said", ["description: mustache", "template: {name: mustache}"])
def test_other_words_name_no_language(said: str) -> None:
    state = START
    for line in ("---", said, "---"):
        _, state = lex_line(line, state)
    assert state.template == "jinja2"
