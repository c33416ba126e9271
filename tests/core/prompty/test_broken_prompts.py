"""Broken prompts as people make them: one sentence each, at its place, and a fix that is right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from studio.application.document.checked_file import findings_of
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import prepare
from studio.core.text.source import Problem, apply_edits
from studio.core.tools.trust.store import TrustStore

FRONT = (
    "name: Trip\nmodel:\n  id: m\ninputs:\n  city:\n    kind: string\n    default: Oslo\n"
    "  stops:\n    kind: array\n    items: {kind: object}\n    default:\n      - {town: Bergen}\n"
)
BODY = "{{ city }} {% for s in stops %}{{ s.town }}{% endfor %}\n"
A_PARSERS_WORDS = re.compile(
    r"expected token|mapping values|while (?:scanning|parsing)|did not find|could not find|"
    r"cannot start any|tag name expected|Expected name|got an unexpected|\w+Error\b|__\w+__|"
    r"NoneType|object has no|unsupported operand|not iterable|is undefined|print statement",
    re.IGNORECASE,
)

IN_FRONT = [
    ('"name: a\nmodel: m\n', '"name: a', "never closed", '"name": a\nmodel: m\n'),
    ("model:{id: m}\n", ":", "a space is missing", "model: {id: m}\n"),
    ("{% if x %}\nname: a\n", "{% if x %}", "not a template", None),
    ('name: "C:\\Users"\n', None, "backslash twice", None),
    # front matter, place, words, what the fix makes of it (None: the user has to think)
    ("name: a\n  model: x\n", "model: x", "deeper than 'name'", "name: a\nmodel: x\n"),
    ("name:Trip\nmodel:\n  id: m\n", ":", "a space is missing", "name: Trip\nmodel:\n  id: m\n"),
    ("model:\n  id:m\n", ":", "a space is missing", "model:\n  id: m\n"),
    (
        "outputs:\n  a:\n    kind:string\n",
        ":",
        "a space is missing",
        "outputs:\n  a:\n    kind: string\n",
    ),
    ("name = Trip\nmodel: m\n", "name = Trip", "and not =", "name: Trip\nmodel: m\n"),
    (
        "outputs:\n  a:\n    kind: string\n   required: true\n",
        "required: true",
        "3 spaces",
        "outputs:\n  a:\n    kind: string\n    required: true\n",
    ),
    (
        "template = {format: {kind: jinja2}}\n",
        None,
        "and not =",
        "template: {format: {kind: jinja2}}\n",
    ),
    ("metadata:{a: {b: 1}}\n", ":", "a space is missing", "metadata: {a: {b: 1}}\n"),
    (
        "template:\n  format {kind: jinja2}\n",
        "format {kind",
        "a colon is missing",
        "template:\n  format: {kind: jinja2}\n",
    ),
    ("metadata: {a: [b], c: d]}\n", "]", "closes nothing", "metadata: {a: [b], c: d}\n"),
    (
        "metadata:\n  a:\n  b: 1\n    c: 2\n",
        "c: 2",
        "deeper than",
        "metadata:\n  a:\n    b: 1\n    c: 2\n",
    ),
    (
        "model:\n  id: m\ntools:\n  - name: t\n  kind: function\n",
        "kind: function",
        "its item",
        "model:\n  id: m\ntools:\n  - name: t\n    kind: function\n",
    ),
    (
        "metadata:\n  tags:\n    - one\n    name: a\n",
        "name: a",
        "dashes of a list",
        "metadata:\n  tags:\n    - one\n  name: a\n",
    ),
    (
        "model:\n  id: m\ntools:\n  -name: t\n    kind: function\n",
        "-",
        "after this dash",
        "model:\n  id: m\ntools:\n  - name: t\n    kind: function\n",
    ),
    ("model:\n  id: ${env:MODEL]\n", "${env:MODEL]", "closed by }", "model:\n  id: ${env:MODEL}\n"),
    (
        "metadata:\n  tags:\n    - one\n    two\n",
        "two",
        "must start with a dash",
        "metadata:\n  tags:\n    - one\n    - two\n",
    ),
    (
        "description: |\nTravels.\nmodel:\n  id: m\n",
        "Travels.",
        "indented more than its key",
        "description: |\n  Travels.\nmodel:\n  id: m\n",
    ),
    ("metadata: {a: 1,, b: 2}\n", ",", "missing before this comma", "metadata: {a: 1, b: 2}\n"),
    ("metadata: {tags: [a, b}}\n", "}", "] belongs here, not }", "metadata: {tags: [a, b]}\n"),
    ("metadata: {a: 1}}\n", "}", "closes nothing", "metadata: {a: 1}\n"),
    ("name: *bold*\n", "*", "in quotes", "name: '*bold*'\n"),
    ("name: %trip\n", "%trip", "cannot start with %", "name: '%trip'\n"),
    ("name: {{ city }}\n", "{{ city }}", "in quotes", "name: '{{ city }}'\n"),
    ("metadata: {a: ${A_B}}\n", "${A_B}", "in quotes", "metadata: {a: '${A_B}'}\n"),
    (
        'metadata: {a: {{ {"b": 1} }} c}\n',
        '{{ {"b": 1} }}',
        "in quotes",
        None,
    ),
    (
        "outputs:\n\u00a0\u00a0a:\n\u00a0\u00a0\u00a0\u00a0kind: string\n",
        "\u00a0\u00a0",
        "indented with spaces",
        "outputs:\n  a:\n    kind: string\n",
    ),
    ("name: a\x00b\n", "\x00", "U+0000", "name: ab\n"),
    ("name: a\nName: b\n", "Name", "'name' already exists", None),
    (
        "name: a\ntemperature: 0.2\nmodel:\n  id: m\n",
        "temperature",
        "model.options",
        "name: a\nmodel:\n  id: m\n  options:\n    temperature: 0.2\n",
    ),
    (
        "model:\n  id: m\n  options:\n    max_tokens: 5\n",
        "max_tokens",
        "'maxOutputTokens'",
        "model:\n  id: m\n  options:\n    maxOutputTokens: 5\n",
    ),
    (
        "model:\n  id: m\n  options:\n    temprature: 1\n",
        "temprature",
        "'temperature'",
        "model:\n  id: m\n  options:\n    temperature: 1\n",
    ),
    (
        "model:\n  id: m\n  apiType: chatt\n",
        "chatt",
        "one of chat",
        "model:\n  id: m\n  apiType: chat\n",
    ),
    (
        "model:\n  id: m\ntools:\n  - name: t\n    kind: funktion\n",
        "funktion",
        "'function'",
        "model:\n  id: m\ntools:\n  - name: t\n    kind: function\n",
    ),
    (
        "model:\n  id: m\ntools:\n  - type: function\n    function: {name: t}\n",
        None,
        "the format of a request",
        None,
    ),
    ("outputs:\n  a:\n    kind: integer\n    default: five\n", "five", "not of kind", None),
    ("description: ${fle:a.txt}\n", "fle", "'file'", None),
    ("model:\n  id: ${env:MODEL\n", "${env:MODEL", "closed by }", None),
]

IN_BODY = [
    (
        "user:\n{% for s stops %}x{% endfor %}\n",
        "stops",
        "is missing",
        "user:\n{% for s in stops %}x{% endfor %}\n",
    ),
    (
        "user:\n{% for s in stops %\nx\n{% endfor %}\n",
        "{%",
        "never closed",
        "user:\n{% for s in stops %}\nx\n{% endfor %}\n",
    ),
    (
        "user:\n{% if city %}{% for s in stops %}x{% endif %}{% endif %}\n",
        "endif",
        "'endfor'",
        "user:\n{% if city %}{% for s in stops %}x{% endfor %}{% endif %}\n",
    ),
    (
        "user:\n{% if city %}{% for s in stops %}x{% endif %}\n",
        "endif",
        "'endfor'",
        "user:\n{% if city %}{% for s in stops %}x{% endfor %}{% endif %}\n",
    ),
    (
        "user:\n{% if city %}x{{ endif %}\n",
        "{{",
        "begins with {%",
        "user:\n{% if city %}x{% endif %}\n",
    ),
    (
        "user:\n{%city}} of {% if city %}x{% endif %}\n",
        "{%",
        "between {{ and }}",
        "user:\n{{city}} of {% if city %}x{% endif %}\n",
    ),
    (
        "user:\n{% if 3 &gt; 2 %}x{% endif %}\n",
        "&gt;",
        "is HTML",
        "user:\n{% if 3 > 2 %}x{% endif %}\n",
    ),
    ("user:\n{{ '%d' | format(city) }}\n", None, "wants a number", None),
    # body, place, words, what the fix makes of it
    ("user:\n{{ city->name }}\n", "->", "after a dot", None),
    (
        "user:\n{% if city }%x{% endif %}\n",
        "}",
        "ends with %}",
        "user:\n{% if city %}x{% endif %}\n",
    ),
    (
        "user:\n{% if city %}a{% elseif city %}b{% endif %}\n",
        "elseif",
        "'elif'",
        "user:\n{% if city %}a{% elif city %}b{% endif %}\n",
    ),
    ("user:\n{% foreach s in stops %}a{% endforeach %}\n", "foreach", "'for'", None),
    ("user:\n{% if city %}x{% /if %}\n", "/if", "'endif'", "user:\n{% if city %}x{% endif %}\n"),
    (
        "user:\n{% for i in 1..3 %}{{ i }}{% endfor %}\n",
        "1..3",
        "range(1, 4)",
        "user:\n{% for i in range(1, 4) %}{{ i }}{% endfor %}\n",
    ),
    (
        "user:\n{{ city | default: 'x' }}\n",
        ":",
        "in parentheses",
        "user:\n{{ city | default('x') }}\n",
    ),
    (
        "user:\n{% if city AND city %}x{% endif %}\n",
        "AND",
        "written in lower case",
        "user:\n{% if city and city %}x{% endif %}\n",
    ),
    (
        "user:\n{% if city === 'Oslo' %}x{% endif %}\n",
        "===",
        "compares with ==",
        "user:\n{% if city == 'Oslo' %}x{% endif %}\n",
    ),
    ("user:\n{{ city. }}\n", "}}", "name of a field", None),
    ("user:\n{{ city\u200b }}\n", "\u200b", "invisible character", "user:\n{{ city }}\n"),
    (
        "user:\n{% if city %}{{#each stops}}x{{/each}}{% endif %}\n",
        "{{#each stops}}",
        "is Mustache",
        None,
    ),
    (
        "user:\n{% if city %}{{{ city }}}{% endif %}\n",
        "{{{ city }}}",
        "three braces",
        "user:\n{% if city %}{{ city }}{% endif %}\n",
    ),
    ("user:\n{{ city | default(‘x’) }}\n", "‘", "straight", "user:\n{{ city | default('x') }}\n"),
    (
        "user:\n{% if city is null %}x{% endif %}\n",
        "null",
        "'none'",
        "user:\n{% if city is none %}x{% endif %}\n",
    ),
    ("user:\n{{ city | uppercase }}\n", "uppercase", "'upper'", "user:\n{{ city | upper }}\n"),
    ("user:\n{{ city.toUpperCase() }}\n", "{{ city.toUpperCase() }}", "a text has no", None),
    ("user:\n{{ city + 1 }}\n", "{{ city + 1 }}", "~ joins texts", None),
    ("user:\n{{ city | truncate(lenght=3) }}\n", None, "'truncate' takes no 'lenght'", None),
    ("user:\n{{ city | round }}\n", None, "a text cannot be", None),
    ("user:\n{% for c in 5 %}{{ c }}{% endfor %}\n", None, "a number is not a list", None),
    ("user:\n{{ city > 5 }}\n", None, "cannot be compared", None),
    ("user:\n{{ ctiy - 1 }}\n", "ctiy", "not declared", None),
    ("user:\n{{ stops.length }}\n", "length", "'length' counts", "user:\n{{ stops | length }}\n"),
    ("user:\n{{ stops.town }}\n", "town", "each of its items", None),
    (
        "user:\n{% for s in stops %}{{ loop.idx }}{% endfor %}\n",
        "idx",
        "'index'",
        "user:\n{% for s in stops %}{{ loop.index }}{% endfor %}\n",
    ),
    ("user:\n{{ loop.index }}\n", "loop", "only exists inside a 'for'", None),
    ("user:\n{ { city } }\n", "{ { city } }", "is text here", "user:\n{{ city }}\n"),
    ("user:\n[[city]]\n", "[[city]]", "is text here", "user:\n{{ city }}\n"),
    (
        "user:\n{ % if city % }x{ % endif % }\n",
        "{ % if city % }",
        "a tag begins with",
        "user:\n{% if city %}x{% endif %}\n",
    ),
    ("user;\nHi\n", "user;", "role marker", "user:\nHi\n"),
    ("user\u200b:\nHi\n", "user\u200b:", "role marker", "user:\nHi\n"),
    ("system:\nx\n\nbot:\nHi\n", "bot:", "'assistant:'", "system:\nx\n\nassistant:\nHi\n"),
    (
        "system: Be kind.\nuser: Hi\n",
        "system: ",
        "alone on its line",
        "system:\nBe kind.\nuser:\nHi\n",
    ),
    (
        "<system>\nBe kind\n</system>\n<user>\nHi\n</user>\n",
        "<system>",
        "role marker",
        "system:\nBe kind\nuser:\nHi\n",
    ),
    ("user[name=Ada:\nHi\n", "user[name=Ada:", "a ] is missing", "user[name=Ada]:\nHi\n"),
    ('user[name="Ada]:\nHi\n', 'user[name="Ada]:', "never closed", 'user[name="Ada"]:\nHi\n'),
    ("user[name: Ada]:\nHi\n", "user[name: Ada]:", "key=value", "user[name=Ada]:\nHi\n"),
    ("user[name=“Ada”]:\nHi\n", "user[name=“Ada”]:", "straight", 'user[name="Ada"]:\nHi\n'),
    ("user:\n![image] (a.png)\n", "![image] (a.png)", "did you mean", None),
    ("user:\n![image]{a.png}\n", "![image]{a.png}", "did you mean", None),
]

WHOLE = [
    ("----\nname: a\n----\nuser:\nHi\n", "----", "three dashes", "---\nname: a\n---\nuser:\nHi\n"),
    ("  ---\n  name: a\n  ---\nuser:\nHi\n", "  ---", "three dashes", None),
    (
        "```prompty\n---\nname: a\n---\nuser:\nHi\n```\n",
        "```prompty\n",
        "precedes the front matter",
        "---\nname: a\n---\nuser:\nHi\n",
    ),
]


def told_of(text: str, folder: Path) -> tuple[PromptDocument, list[Problem]]:
    document = parse(text, folder / "a.prompty")
    found = findings_of(document, TrustStore(folder / "trust.json"))
    quiet = ("unused-input", "section-construct", "legacy-file")
    return document, [each for each in found if each.code not in quiet]


def judge(text: str, place: str | None, words: str, fixed: str | None, folder: Path) -> None:
    document, told = told_of(text, folder)
    assert len(told) == 1, told
    (problem,) = told
    assert words.lower() in problem.message.lower()
    assert not A_PARSERS_WORDS.search(problem.message)
    if place is not None:
        assert document.source.slice(problem.span) == place
    if fixed is not None:
        made = apply_edits(text, problem.fixes[0].edits)
        assert made == fixed
        assert not [each for each in told_of(made, folder)[1] if each.code != "bare-reference"]


@pytest.mark.parametrize(("front", "place", "words", "fixed"), IN_FRONT)
def test_in_the_front_matter(
    front: str, place: str | None, words: str, fixed: str | None, tmp_path: Path
) -> None:
    made = None if fixed is None else f"---\n{fixed}---\nuser:\nHi\n"
    judge(f"---\n{front}---\nuser:\nHi\n", place, words, made, tmp_path)


@pytest.mark.parametrize(("body", "place", "words", "fixed"), IN_BODY)
def test_in_the_body(
    body: str, place: str | None, words: str, fixed: str | None, tmp_path: Path
) -> None:
    made = None if fixed is None else f"---\n{FRONT}---\n{fixed}"
    judge(f"---\n{FRONT}---\n{body}", place, words, made, tmp_path)


@pytest.mark.parametrize(("text", "place", "words", "fixed"), WHOLE)
def test_in_the_whole_file(
    text: str, place: str, words: str, fixed: str | None, tmp_path: Path
) -> None:
    judge(text, place, words, fixed, tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "user:\nIt costs ${{ city }} and 5 % of { all }. See [notes] and <b>bold</b>.\n",
        "user:\nHuman beings and bots: read <user> in the log.\n",
        "user:\n{% if city %}{{ city.upper() }} {{ stops[0].town }}{% endif %}\n",
        "user:\n<city>{{ city }}</city> [city] $city %city% ${city}\n",
        "system:\nAnswer `user;` with https://a.example/x:y and 1..3.\n",
        "user:\n{% for s in stops %}{{ loop.index0 }}{{ loop.cycle('a', 'b') }}{% endfor %}\n",
    ],
)
def test_what_is_right_is_left_alone(text: str, tmp_path: Path) -> None:
    assert not told_of(f"---\n{FRONT}---\n{text}", tmp_path)[1]


@pytest.mark.parametrize(
    "text",
    [
        "---\nname: a\ndescription: |\n  \u3000日本語: の段落\n  \u00a0x\n---\nuser:\nHi\n",
        "---\nname: a\ndescription:\n  \u3000日本語の段落\n  \u3000二\n---\nuser:\nHi\n",
        "---\nname: a\n---\nuser:\n${title:-x} ${field:x} ${profile:a} ${filter:b} ${args:0}\n",
        "You are kind.\n<user>\n{# who #}Ada\n</user>\nAnswer the user.\n",
        "```yaml\nname: CI\non: push\n```\nExplain this file.\n",
    ],
)
def test_what_belongs_to_other_programs_is_left_alone(text: str) -> None:
    assert not parse(text).problems


@pytest.mark.parametrize(
    "body",
    [
        "{# <city> is the town, [city] #}Hi",
        "{% raw %}[city] and { city }{% endraw %}",
        "{% for row in [[stops]] %}{{ row }}{% endfor %}",
        "```bash\necho $city > [city]\n```",
        "<city>\nOslo\n</city>",
    ],
)
def test_a_placeholder_in_code_is_none(body: str) -> None:
    text = f"---\nname: a\ninputs:\n  city: {{kind: string}}\n  stops: {{}}\n---\nuser:\n{body}\n"
    told = {each.code for each in parse(text).problems}
    assert "single-braces" not in told


def test_the_value_of_a_bound_input_needs_no_placeholder() -> None:
    bound = "tools:\n- {name: t, kind: function, bindings: {where: city}}\n"
    text = f"---\nname: a\ninputs:\n  city: {{kind: string}}\n{bound}---\nuser:\nGo to <city>.\n"
    assert not [each for each in parse(text).problems if each.code == "single-braces"]


def test_roles_on_lines_with_text_are_put_on_their_own_outside_of_code() -> None:
    text = "system: Be kind.\n\n```\nuser: an example\n```\nuser: Hi\n"
    (problem,) = parse(text).problems
    fixed = apply_edits(text, problem.fixes[0].edits)
    assert fixed == "system:\nBe kind.\n\n```\nuser: an example\n```\nuser:\nHi\n"


@pytest.mark.parametrize("key", ["mode", "init"])
def test_a_key_that_is_only_alike_is_not_said_to_be_there_already(key: str) -> None:
    (problem,) = parse(f"---\n{key}: x\nmodel: m\ninputs: {{}}\n---\nuser:\nHi\n").problems
    assert problem.message == f"The key {key!r} is unknown; it is kept but has no effect."


@pytest.mark.parametrize("tag", ["{{> header}}", '{{#role "system"}}'])
def test_what_jinja_has_no_tag_for_is_given_none(tag: str) -> None:
    text = f"---\nname: a\n---\nuser:\n{{% if city %}}{tag}{{% endif %}}\n"
    told = [each for each in parse(text).problems if each.code == "template-syntax"]
    assert told[0].message == f"{tag} is Mustache, and the file is read as Jinja2."


def test_a_run_is_told_every_error_of_the_template() -> None:
    document = parse("---\nname: a\n---\nuser:\n{{ logs.foo() }}\n")
    assert not prepare(document, {}, preview=True).problems  # it follows from the missing name
    assert [each.severity for each in prepare(document, {}).problems] == ["error"]
    (given,) = prepare(document, {"logs": "a"}, preview=True).problems
    assert given.message == "A text has no 'foo'."


def test_placeholders_of_other_programs_are_named_where_nothing_else_puts_the_value_in() -> None:
    for written in ("<city>", "[city]", "$city", "${city}", "%city%", "{city}"):
        text = f"---\nname: a\ninputs:\n  city: {{kind: string}}\n---\nuser:\nGo to {written}.\n"
        (problem,) = parse(text).problems
        assert problem.code == "single-braces"
        assert "{{ city }}" in apply_edits(text, problem.fixes[0].edits)


@pytest.mark.parametrize(
    ("body", "place", "words", "fixed"),
    [
        (
            "{{city} x {{#stops}}{{town}}{{/stops}}\n",
            "{{city",
            "never closed",
            "{{city}} x {{#stops}}{{town}}{{/stops}}\n",
        ),
        (
            "{{city}} {{#stops x {{town}}{{/stops}}\n",
            "{{#stops",
            "never closed",
            "{{city}} {{#stops}} x {{town}}{{/stops}}\n",
        ),
        (
            "{{city}} {{#stops}}{{town}}{{/stop}}\n",
            "stop",
            "'stops' is open",
            "{{city}} {{#stops}}{{town}}{{/stops}}\n",
        ),
    ],
)
def test_in_mustache(body: str, place: str, words: str, fixed: str, tmp_path: Path) -> None:
    front = f"---\n{FRONT}template: {{format: {{kind: mustache}}}}\n---\nuser:\n"
    document = parse(f"{front}{body}", tmp_path / "a.prompty")
    told = [each for each in document.problems if each.code == "template-syntax"]
    assert words in told[0].message
    assert document.source.slice(told[0].span) == place
    made = apply_edits(document.source.text, told[0].fixes[0].edits)
    assert made == f"{front}{fixed}"
    assert not told_of(made, tmp_path)[1]
