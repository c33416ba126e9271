"""Slips that people make: each is told once, at its place, in plain words, with the fix."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio.application.document.checked_file import findings_of
from studio.core.prompty.parse import parse
from studio.core.text.source import Severity, apply_edits
from studio.core.tools.trust.store import TrustStore
from tests.support.soon import soon

FRONT = "---\nname: Trip\ninputs:\n  city:\n    kind: string\n    default: Oslo\n---\n"
BODY = "system:\nHelp with {{ city }}.\n\nuser:\nHello\n"
MAIL = FRONT.replace("---\nname", "---\nprovider: x\nname", 0)

IN_TEMPLATE = [
    # body, where the problem is, words of it, what the first fix makes of the body
    ("user:\n{{ city\nmore\n", "{{", "never closed by }}", "user:\n{{ city }}\nmore\n"),
    (
        "user:\n{{ city\nand {{ city }}\n",
        "{{",
        "never closed",
        "user:\n{{ city }}\nand {{ city }}\n",
    ),
    ("user:\n{{ city\n![image](a.png)\n", "{{", "never closed", None),
    (
        "user:\n{% if city\nx{% endif %}\n",
        "{%",
        "never closed by %}",
        "user:\n{% if city %}\nx{% endif %}\n",
    ),
    ("user:\n{{ city } x\n", "}", "ends with }}", "user:\n{{ city }} x\n"),
    ("user:\n{{ city %} x\n", "}", "ends with }}", "user:\n{{ city }} x\n"),
    (
        "user:\n{% if city }x{% endif %}\n",
        "}",
        "ends with %}",
        "user:\n{% if city %}x{% endif %}\n",
    ),
    (
        "user:\n{% if city }}x{% endif %}\n",
        "}}",
        "ends with %}",
        "user:\n{% if city %}x{% endif %}\n",
    ),
    (
        "user:\n{% for c in city %}{{ c }}{% endif %}\n",
        "endif",
        "closed by 'endfor'",
        "user:\n{% for c in city %}{{ c }}{% endfor %}\n",
    ),
    (
        "user:\n{% if city %}x{% endfor %}\n",
        "endfor",
        "closed by 'endif'",
        "user:\n{% if city %}x{% endif %}\n",
    ),
    (
        "user:\n{% for c in city %}{% if c %}x{% endfor %}\n",
        "endfor",
        "closed by 'endif'",
        "user:\n{% for c in city %}{% if c %}x{% endif %}{% endfor %}\n",
    ),
    ("user:\n{{ city }}{% endif %}\n", "endif", "closes nothing", None),
    ("user:\n{{ city }}{% fi city %}\n", "fi", "there is no tag", None),
    ("user:\n{% esle %}{{ city }}\n", "esle", "did you mean 'else'", None),
    (
        "user:\n{% if city = 'Oslo' %}x{% endif %}\n",
        "=",
        "two compare",
        "user:\n{% if city == 'Oslo' %}x{% endif %}\n",
    ),
    ("user:\n{{ city name }}\n", "name", "is not expected", None),
    ("user:\n{{ city + }}\n", "}}", "something is missing", None),
    ("user:\n{{ city | }}\n", "}}", "a name belongs here", None),
    ("user:\n{{ 'city }}\n", "'", "quote is never closed", None),
    ("user:\n{% for city %}x{% endfor %}\n", "%}", "belongs here", None),
    ("user:\n{% if city %}x\n", "{% if city %}", "never closed by 'endif'", None),
    ("user:\n{# {{ city }}\n", "{#", "comment is never closed", None),
    (
        "user:\n{{ city | default('x' }}\n",
        "(",
        "this ( is never closed by )",
        "user:\n{{ city | default('x') }}\n",
    ),
    ("user:\n{{ city[0 }}\n", "[", "this [ is never closed by ]", "user:\n{{ city[0] }}\n"),
    (
        "user:\n{% if (city %}x{% endif %}\n",
        "(",
        "never closed by )",
        "user:\n{% if (city) %}x{% endif %}\n",
    ),
    ("user:\n{{ city && city }}\n", "&&", "write and", "user:\n{{ city and city }}\n"),
    ("user:\n{% if city || city %}x{% endif %}\n", "|", "name belongs here", None),
    (
        "user:\n{% if !city %}x{% endif %}\n",
        "!",
        "write not",
        "user:\n{% if not city %}x{% endif %}\n",
    ),
    ("user:\n{{ $city }}\n", "$", "$ does not belong", "user:\n{{ city }}\n"),
    ("user:\n{{ city; }}\n", ";", "; does not belong", "user:\n{{ city }}\n"),
    ("user:\n{{ @city }}\n", "@", "@ does not belong", "user:\n{{ city }}\n"),
    ("user:\n{{ city ? 'a' : 'b' }}\n", "?", "a if condition else b", None),
    (
        "user:\n{{ city | default(“x”) }}\n",
        "“",
        "Use straight quotes",
        'user:\n{{ city | default("x") }}\n',
    ),
    ("user:\n{{ city § }}\n", "§", "has no meaning", None),
    (
        "user:\n{% for c of city %}{{ c }}{% endfor %}\n",
        "of",
        "the word 'in' belongs here",
        "user:\n{% for c in city %}{{ c }}{% endfor %}\n",
    ),
    ("user:\n{% else %}{{ city }}\n", "else", "outside of an 'if'", None),
    ("user:\n{% elif city %}x\n", "elif", "outside of an 'if'", None),
    (
        "user:\n{% if city %}a{% else %}b{% else %}c{% endif %}\n",
        "else",
        "comes after the 'else'",
        None,
    ),
    (
        "user:\n{% if city %}a{% else if city %}b{% endif %}\n",
        "else if",
        "written 'elif'",
        "user:\n{% if city %}a{% elif city %}b{% endif %}\n",
    ),
    (
        "user:\n{% if city %}a{% end if %}\n",
        "end if",
        "one word",
        "user:\n{% if city %}a{% endif %}\n",
    ),
    (
        "user:\n{% for c in city %}a{% end %}\n",
        "end",
        "closed by 'endfor'",
        "user:\n{% for c in city %}a{% endfor %}\n",
    ),
]


@pytest.mark.parametrize(("body", "place", "words", "fixed"), IN_TEMPLATE)
def test_slips_in_a_template(body: str, place: str, words: str, fixed: str | None) -> None:
    document = parse(FRONT + body)
    told = [each for each in document.problems if each.severity is Severity.ERROR]
    assert len(told) == 1, told
    problem = told[0]
    assert words.lower() in problem.message.lower()
    assert document.source.slice(problem.span) == place
    assert "token" not in problem.message
    assert "Jinja" not in problem.message
    if fixed is not None:
        text = apply_edits(document.source.text, problem.fixes[0].edits)
        assert text == FRONT + fixed
        assert not [each for each in parse(text).problems if each.severity is Severity.ERROR]


IN_MARKERS = [
    # line, what the fix writes; None: nothing is said
    ("usr:", "user:"),
    ("[user]:", "user:"),
    ("<|im_start|>assistant", "assistant:"),
    ("sytem:", "system:"),
    ("asistant:", "assistant:"),
    ('usr[name="Ada"]:', 'user[name="Ada"]:'),
    ('user(name="Ada"):', 'user[name="Ada"]:'),
    ('user{name="Ada"}:', 'user[name="Ada"]:'),
    ('user[name="Ada"]', 'user[name="Ada"]:'),
    ("System", "system:"),
    ("Asistant", "assistant:"),
    ("Users:", None),
    ("use:", None),
    ("Steps:", None),
    ("Summary", None),
    ("a user: says", None),
    ("user", None),
    ("system(s):", None),
]


@pytest.mark.parametrize(("line", "right"), IN_MARKERS)
def test_lines_that_are_nearly_markers(line: str, right: str | None) -> None:
    text = f"{FRONT}{BODY}\n{line}\nMore.\n"
    document = parse(text)
    told = [each for each in document.problems if each.code == "near-marker"]
    if right is None:
        assert not document.problems
        return
    assert len(told) == 1
    assert len(document.problems) == 1
    assert document.source.slice(told[0].span) == line
    assert apply_edits(text, told[0].fixes[0].edits) == text.replace(f"\n{line}\n", f"\n{right}\n")


IN_FRONT = [
    # front matter, where, words, what the first fix makes of that line
    ('name: "Trip\nmodel: x\n', '"Trip', 'quote " is never closed', 'name: "Trip"'),
    ("name: 'Trip\nmodel: x\n", "'Trip", "quote ' is never closed", "name: 'Trip'"),
    ("name: Trip: to Oslo\n", ": to Oslo", "second colon", "name: 'Trip: to Oslo'"),
    ('tags: [one, "two]\nname: "x"\n', '"two', 'quote " is never closed', 'tags: [one, "two"]'),
    ('tags: ["a, "b"]\n', '"a', 'quote " is never closed', 'tags: ["a", "b"]'),
    ('tags: [{a: "x}, {b: "y"}]\n', '"', "ends this text too early", None),
    ('tags: ["a"b", c]\n', '"', "ends this text too early", 'tags: ["a\\"b", c]'),
    ("tags: ['it's', b]\n", "'", "ends this text too early", "tags: ['it''s', b]"),
    ("tags: [it's, 'two]\n", "'two", "quote ' is never closed", "tags: [it's, 'two']"),
    ('metadata: {a: "x}\nname: y\n', '"x', 'quote " is never closed', 'metadata: {a: "x"}'),
    ("name: @trip\n", "@trip", "cannot start with @", "name: '@trip'"),
    ("name: `trip`\n", "`trip`", "cannot start with `", "name: '`trip`'"),
    ("tags: [one, two\nname: x\n", "[one, two", "[ is never closed by ]", None),
    ("inputs: {city: {kind: string}\nname: x\n", None, "is never closed", None),
    ("metadata: {b: 'c' d: 'e'}\n", None, "or a comma is missing", None),
    ("tags: ['b' 'c']\n", None, "or a comma is missing", None),
    (
        "name: {{ 'a' if x else 'b' }}\n",
        "{{ 'a' if x else 'b' }}",
        "in quotes",
        "name: '{{ ''a'' if x else ''b'' }}'",
    ),
    ("metadata: {b: 'c', d: 'e'\nname: x\n", None, "or a comma is missing", None),
    ("tags: ['the dogs' bone']\n", "'", "too early", "tags: ['the dogs'' bone']"),
    ("name Trip\nmodel: x\n", "name Trip", "no colon", None),
    ("name: Trip\ndescription a\nmodel:\n  id: x\n", "description a", "no colon", None),
    ("inputs:\n\tcity:\n\t\tkind: string\n", None, "this is a tab", None),
]


@pytest.mark.parametrize(("front", "place", "words", "fixed"), IN_FRONT)
def test_slips_in_the_front_matter(
    front: str, place: str | None, words: str, fixed: str | None
) -> None:
    document = parse(f"---\n{front}---\nuser:\nHi\n")
    told = [each for each in document.problems if each.severity is Severity.ERROR]
    assert len(told) == 1, told
    assert words in told[0].message
    assert "expected" not in told[0].message
    if place is not None:
        assert document.source.slice(told[0].span) == place
    if fixed is not None:
        text = apply_edits(document.source.text, told[0].fixes[0].edits)
        assert text.split("\n")[1] == fixed
        assert not [each for each in parse(text).problems if each.severity is Severity.ERROR]


def test_single_braces_around_an_input_are_named_and_nothing_else_is_said() -> None:
    text = f"{FRONT}user:\nGo to {{ city }} and {{elsewhere}}.\n"
    document = parse(text)
    assert [each.code for each in document.problems] == ["single-braces"]
    fixed = apply_edits(text, document.problems[0].fixes[0].edits)
    assert fixed == text.replace("{ city }", "{{ city }}")
    assert not parse(fixed).problems


def test_what_only_follows_from_a_mistake_is_not_said() -> None:
    misspelled = parse(FRONT.replace("inputs:", "input:") + BODY)
    assert [each.code for each in misspelled.problems] == ["unknown-key"]
    name = parse(f"{FRONT}user:\nGo to {{{{ cty }}}}.\n")
    assert [each.code for each in name.problems] == ["undeclared-variable"]


@pytest.mark.parametrize("end", ["--", "----", "—", "–––", "-"])
def test_a_line_that_nearly_ends_the_front_matter_is_the_only_mistake(end: str) -> None:
    text = f"---\nname: Trip\n{end}\nuser:\nHi {{{{ city }}}}\n"
    document = parse(text)
    (told,) = document.problems
    assert (told.code, document.source.slice(told.span)) == ("front-matter-open", end)
    assert "three dashes" in told.message
    fixed = apply_edits(text, told.fixes[0].edits)
    assert [each.code for each in parse(fixed).problems] == ["undeclared-variable"]


@pytest.mark.parametrize("before", ["x", "My prompt\n", "# Trip\n\n"])
def test_text_before_the_front_matter_is_named(before: str) -> None:
    document = parse(before + FRONT + BODY)
    (told,) = document.problems
    assert (told.code, document.source.slice(told.span)) == ("front-matter-late", before)
    assert apply_edits(before + FRONT + BODY, told.fixes[0].edits) == FRONT + BODY
    ruled = parse("user:\nA rule follows.\n---\nname the place\n---\n")
    assert ruled.problems == ()


def test_a_missing_picture_is_told_once(tmp_path: Path) -> None:
    path = tmp_path / "a.prompty"
    document = parse(
        "---\nname: a\ntemplate: {parser: {kind: section}}\n---\nuser:\n![image](no.png)\n", path
    )
    found = findings_of(document, TrustStore(tmp_path / "trust.json"))
    assert [each.code for each in found].count("media-missing") <= 1
    assert "reference-not-trusted" not in [
        each.code
        for each in found
        if any(o.code == "media-missing" and o.span == each.span for o in found)
    ]


@pytest.mark.parametrize(
    ("written", "right"),
    [
        ("name: 'it's'  # own", "name: 'it''s'  # own"),
        ("tags:\n  - 'it's'\n  - x", "tags:\n  - 'it''s'\n  - x"),
        ("description: 'it's a trip\nname: b", "description: 'it''s a trip'\nname: b"),
        ('name: "say "hi""', 'name: "say \\"hi\\""'),
    ],
)
def test_a_quote_inside_a_quoted_text_is_told_at_its_place(written: str, right: str) -> None:
    text = f"---\n{written}\n---\nuser:\nHi\n"
    (problem,) = parse(text).problems
    assert "ends this text too early" in problem.message
    assert problem.span.end - problem.span.start == 1
    assert apply_edits(text, problem.fixes[0].edits) == text.replace(written, right)
    assert not parse(text.replace(written, right)).problems


@pytest.mark.parametrize(
    ("line", "place", "right"),
    [
        ("Look ![image](pic.png", "![image](pic.png", "Look ![image](pic.png)"),
        ("Look ![file](a.pdf and so on", "![file](a.pdf", "Look ![file](a.pdf) and so on"),
        ("See ![audio]({{ city }}", "![audio]({{ city }}", "See ![audio]({{ city }})"),
        ("Look ![image]( pic.png", "![image]( pic.png", "Look ![image]( pic.png)"),
    ],
)
def test_a_picture_without_its_last_bracket_is_told(line: str, place: str, right: str) -> None:
    text = f"{FRONT}user:\n{line}\n{{{{ city }}}}\n"
    (problem,) = parse(text).problems
    assert problem.span.start == text.index(place)
    assert problem.span.end == text.index(place) + len(place)
    assert "a ) is missing" in problem.message
    made = parse(apply_edits(text, problem.fixes[0].edits))
    assert right in made.source.text
    assert "near-marker" not in {each.code for each in made.problems}


def test_a_picture_that_was_only_begun_is_told() -> None:
    text = f"{FRONT}user:\n{{{{ city }}}} ![image](\nmore\n"
    (problem,) = parse(text).problems
    assert text[problem.span.start : problem.span.end] == "![image]("
    assert "an address and a ) are missing" in problem.message
    assert not problem.fixes


@pytest.mark.parametrize(
    "body", ["`![image](pic.png`", "![word](pic.png", "![image](a (b).png)", "`![image](`"]
)
def test_what_is_no_unclosed_picture_is_left_alone(body: str) -> None:
    assert not parse(f"---\nname: x\n---\nuser:\n{body}\n").problems


@pytest.mark.parametrize(
    ("written", "right"),
    [
        (
            "tools:\n  name: a\n  # of its own\n  kind: function\n  description: Finds",
            "tools:\n  - name: a\n    # of its own\n    kind: function\n    description: Finds",
        ),
        (
            "tools:\n  name: a\n  kind: function\n  parameters:\n    city: {kind: string}",
            "tools:\n  - name: a\n    kind: function\n    parameters:\n      city: {kind: string}",
        ),
        ("tools: {name: a, kind: function}", "tools: [{name: a, kind: function}]"),
    ],
)
def test_one_tool_without_its_dash_is_told_once(written: str, right: str) -> None:
    text = f"---\nmodel:\n  id: m\n{written}\n---\nuser:\nHi\n"
    (problem,) = parse(text).problems
    assert text[problem.span.start : problem.span.end] == "tools"
    assert "start it with a dash" in problem.message
    made = apply_edits(text, problem.fixes[0].edits)
    assert made == text.replace(written, right)
    assert not parse(made).problems


def test_a_mapping_of_tools_by_name_is_right() -> None:
    text = "---\ntools:\n  kind:\n    kind: function\n---\nuser:\nHi\n"
    assert not parse(text).problems


@pytest.mark.parametrize("written", ["city 1..{}", "city[1..{}]", "city + {}", "city[{}"])
def test_a_number_of_any_length_is_told_in_plain_words(written: str) -> None:
    text = f"{FRONT}user:\n{{{{ {written.format('9' * 5000)} }}}}\n"
    (problem,) = parse(text).problems
    assert problem.code == "template-syntax"
    assert "integer" not in problem.message


def test_long_lines_with_a_slip_are_read_in_linear_time() -> None:
    with soon():
        digits = parse(f'{FRONT}user:\n{{{{ city b "{"1" * 100_000}" }}}}\n')
        references = parse(f"---\ntags: [b {'${x} ' * 100_000}\nname: x\n---\nuser:\nHi\n")
    assert ["is not expected" in each.message for each in digits.problems] == [True]
    assert "never closed" in references.problems[0].message


def test_no_more_mistakes_of_a_template_are_told_than_anybody_reads() -> None:
    front = FRONT.replace("---\nname", "---\ntemplate: {format: {kind: mustache}}\nname")
    found = parse(f"{front}user:\n{'{{ ' * 1000}}}}}\n").problems
    assert [each.code for each in found].count("template-syntax") == 100
