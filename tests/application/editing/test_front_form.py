"""The front matter as a form: what it shows, and the YAML that it leaves as it was."""

from __future__ import annotations

import pytest

from studio.application.editing.front_form import (
    FrontField,
    FrontFormError,
    add_input,
    add_outputs,
    front_groups,
    remove_item,
    set_front,
)
from studio.core.prompty.parse import parse
from studio.core.text.source import apply_edits
from studio.core.text.values import KeyPath

PROMPT = """---
# who it is
name: Trip   # short
model:
  id: gpt-4o
  options:
    temperature: 0.5 # warm
inputs:
  city:   # where to
    kind: string
    default: "Rome"
  days:
    kind: integer
tools:
  - name: lookup
    kind: function
    description: Looks up
---
user:
Go to {{ city }} for {{ days }} days.
"""


def field_of(text: str, *path: str | int) -> FrontField:
    groups = front_groups(parse(text))
    return next(each for group in groups for each in group.fields if each.path == path)


def changed(text: str, path: KeyPath, typed: str) -> str:
    return apply_edits(text, set_front(parse(text), field_of(text, *path), typed))


def test_everything_is_shown_with_what_is_written() -> None:
    groups = front_groups(parse(PROMPT))
    assert [group.title for group in groups] == [
        "Prompt",
        "Model",
        "Input city",
        "Input days",
        "Tool lookup",
        "Options of the model",
    ]
    assert field_of(PROMPT, "name").value == "Trip"
    assert field_of(PROMPT, "model", "options", "temperature").value == 0.5
    assert field_of(PROMPT, "inputs", "city", "kind").choices[0] == "string"
    assert field_of(PROMPT, "model", "options", "seed").value is None
    assert "temperature" not in field_of(PROMPT, "model", "id").help


@pytest.mark.parametrize(
    ("path", "typed", "old", "new"),
    [
        (("name",), "Long trip", "name: Trip   # short", "name: Long trip   # short"),
        (
            ("model", "options", "temperature"),
            "1",
            "temperature: 0.5 # warm",
            "temperature: 1 # warm",
        ),
        (("inputs", "city", "default"), "yes: no", '"Rome"', '"yes: no"'),
        (
            ("inputs", "days", "default"),
            "3",
            "    kind: integer",
            "    kind: integer\n    default: 3",
        ),
        (("tools", 0, "description"), "Finds", "Looks up", "Finds"),
        (("inputs", "city", "required"), "true", '"Rome"', '"Rome"\n    required: true'),
        (("model", "options", "seed"), "7", "0.5 # warm", "0.5 # warm\n    seed: 7"),
        (("model", "options", "temperature"), "", "    temperature: 0.5 # warm\n", ""),
        (("inputs", "city", "default"), "", '    default: "Rome"\n', ""),
    ],
)
def test_one_value_changes_and_the_rest_stays(
    path: KeyPath, typed: str, old: str, new: str
) -> None:
    assert PROMPT.count(old) == 1
    assert changed(PROMPT, path, typed) == PROMPT.replace(old, new)


def test_keys_that_are_missing_are_made_in_a_prompt_without_front_matter() -> None:
    made = changed("user:\nHi\n", ("name",), "Trip")
    assert parse(made).name == "Trip"
    assert made.endswith("user:\nHi\n")


@pytest.mark.parametrize(
    ("path", "typed"),
    [(("model", "options", "temperature"), "warm"), (("inputs", "city", "required"), "perhaps")],
)
def test_what_is_no_value_is_said(path: KeyPath, typed: str) -> None:
    with pytest.raises(FrontFormError):
        changed(PROMPT, path, typed)


def test_inputs_come_and_go() -> None:
    document = parse(PROMPT)
    more = apply_edits(PROMPT, add_input(document, "hotel"))
    assert parse(more).input("hotel") is not None
    with pytest.raises(FrontFormError, match="already"):
        add_input(document, "city")
    with pytest.raises(FrontFormError, match="not a name"):
        add_input(document, "a b")
    less = apply_edits(PROMPT, remove_item(document, ("inputs", "days")))
    assert less == PROMPT.replace("  days:\n    kind: integer\n", "")


def test_lists_of_inputs_and_short_forms() -> None:
    text = "---\ninputs:\n  - name: city\n    kind: string\n---\nuser:\n{{ city }}\n"
    assert changed(text, ("inputs", 0, "description"), "Where") == text.replace(
        "kind: string", "kind: string\n    description: Where"
    )
    short = "---\nmodel: gpt-4o\n---\nuser:\nHi\n"
    assert changed(short, ("model",), "gpt-5") == short.replace("gpt-4o", "gpt-5")


@pytest.mark.parametrize(
    ("front", "path", "typed", "expected"),
    [
        (  # the anchor stands where the first key would
            "model: &m\n  id: g # keep\n",
            ("model", "provider"),
            "openai",
            "model: &m\n  id: g # keep\n  provider: openai\n",
        ),
        (
            "model:\n  id: g\n  options: &o # c\n    temperature: 0.5\n",
            ("model", "options", "seed"),
            "7",
            "model:\n  id: g\n  options: &o # c\n    temperature: 0.5\n    seed: 7\n",
        ),
        (
            "model: !!map {id: g}\n",
            ("model", "provider"),
            "openai",
            "model: !!map {id: g, provider: openai}\n",
        ),
        (  # a comment before the bracket is not a place for a key
            "model: {\n  id: g # keep\n}\n",
            ("model", "provider"),
            "openai",
            "model: {\n  id: g, provider: openai # keep\n}\n",
        ),
        (
            "model: {\n  id: g, # keep\n}\n",
            ("model", "provider"),
            "openai",
            "model: {\n  id: g, provider: openai # keep\n}\n",
        ),
        (
            "model: {id: }\n",
            ("model", "provider"),
            "openai",
            "model: {id: , provider: openai }\n",
        ),
    ],
)
def test_a_key_comes_in_beside_anchors_tags_and_comments(
    front: str, path: tuple[str, ...], typed: str, expected: str
) -> None:
    for newline in ("\n", "\r\n"):
        text = f"---\n{front}---\nuser:\nHi\n".replace("\n", newline)
        after = f"---\n{expected}---\nuser:\nHi\n".replace("\n", newline)
        assert changed(text, path, typed) == after
        assert field_of(after, *path).value is not None


@pytest.mark.parametrize(
    ("front", "path", "typed"),
    [
        (
            "inputs:\n  a: &a\n    kind: string\n    default: x\n  b: *a\n",
            ("inputs", "a", "default"),
            "y",
        ),  # b says it too
        (
            "inputs:\n  a: &a\n    kind: string\n    default: x\n  b: *a\n",
            ("inputs", "b", "description"),
            "y",
        ),  # b would lose its kind and default
        (
            "inputs:\n  a:\n    kind: string\n    description: >+\n      keep\n\n",
            ("inputs", "a", "sample"),
            "y",
        ),  # the blank line belongs to the description
    ],
)
def test_what_would_change_something_else_is_left_to_the_text(
    front: str, path: tuple[str, ...], typed: str
) -> None:
    text = f"---\n{front}---\nuser:\nHi {{{{ a }}}}\n"
    with pytest.raises(FrontFormError, match="change it there"):
        changed(text, path, typed)


def test_an_input_is_added_before_a_comment_in_brackets() -> None:
    front = "inputs: {\n  a: {kind: string},   # one\n  b: {kind: integer}   # two\n}\n"
    text = f"---\n{front}---\nuser:\n"
    after = apply_edits(text, add_input(parse(text), "c"))
    assert "# one" in after
    assert "# two" in after
    assert parse(after).input("c") is not None


ORDERS = """---
name: Trip
inputs:
  orders: # all of them
    kind: array
    default:
      - sku: A1 # first
        count: 2
      - {sku: "B2", gift: true, tags: [red, 1.5], none: []}
---
user:
{{ orders }}
"""


def test_a_list_of_objects_has_a_row_for_each_value_in_it() -> None:
    (group,) = (each for each in front_groups(parse(ORDERS)) if each.renames == "orders")
    rows = [(each.label, each.kind, each.value) for each in group.fields if each.value is not None]
    assert rows == [
        ("Kind", "text", "array"),
        ("Default[0]: sku", "text", "A1"),
        ("Default[0]: count", "number", 2),
        ("Default[1]: sku", "text", "B2"),
        ("Default[1]: gift", "boolean", True),
        ("Default[1]: tags[0]", "text", "red"),
        ("Default[1]: tags[1]", "number", 1.5),
        ("Default[1]: none", "json", []),
    ]


def test_outputs_and_options_are_in_the_form_by_words() -> None:
    text = PROMPT.replace("tools:", "outputs:\n  queue: {kind: string, description: Which}\ntools:")
    groups = {group.title: group for group in front_groups(parse(text))}
    output = groups["Output queue"]
    shown = [(each.label, each.value) for each in output.fields]
    assert shown == [("Kind", "string"), ("Description", "Which"), ("Required", None)]
    assert (output.renames, output.removes) == ("", ("outputs", "queue"))
    assert "Max output tokens" in {each.label for each in groups["Options of the model"].fields}
    edits = set_front(parse(text), output.fields[0], "integer")
    assert "queue: {kind: integer, description: Which}" in apply_edits(text, edits)
    edits = remove_item(parse(text), output.removes)
    assert "queue" not in apply_edits(text, edits)


@pytest.mark.parametrize(
    ("path", "typed", "old", "new"),
    [
        ((0, "sku"), "yes", "sku: A1 # first", 'sku: "yes" # first'),
        ((0, "count"), "3", "count: 2", "count: 3"),
        ((1, "sku"), "C: 3", '"B2"', '"C: 3"'),
        ((1, "gift"), "false", "gift: true", "gift: false"),
        ((1, "tags", 1), "2", "[red, 1.5]", "[red, 2]"),
        ((0, "count"), "", "        count: 2\n", ""),
    ],
)
def test_a_value_in_a_list_changes_alone(path: KeyPath, typed: str, old: str, new: str) -> None:
    assert ORDERS.count(old) == 1
    whole = ("inputs", "orders", "default", *path)
    assert changed(ORDERS, whole, typed) == ORDERS.replace(old, new)


def test_a_list_with_very_many_values_is_one_row() -> None:
    text = ORDERS.replace("[red, 1.5]", str(list(range(100))))
    assert field_of(text, "inputs", "orders", "default").kind == "json"


def test_an_example_answer_declares_its_outputs() -> None:
    text = "---\nname: T\noutputs:\n  queue: {kind: string, required: true}\n---\nuser:\nHi\n"
    example = (
        '{"queue": "safety", "urgency": 5, "sure": 0.5, "by": {"name": "Ana"}, "tags": ["a"], '
        '"is_new": true}'
    )
    made = apply_edits(text, add_outputs(parse(text), example))
    assert [(each.name, each.kind) for each in parse(made).outputs] == [
        ("queue", "string"),
        ("urgency", "integer"),
        ("sure", "float"),
        ("by", "object"),
        ("tags", "array"),
        ("is_new", "boolean"),
    ]
    assert "  queue: {kind: string, required: true}\n" in made
    assert not parse(made).problems
    fresh = apply_edits("user:\nHi\n", add_outputs(parse("user:\nHi\n"), '{"a": {"b": 1}}'))
    [output] = parse(fresh).outputs
    assert [each.name for each in output.properties] == ["b"]
    for wrong in ('{"queue"', "[1]", '{"queue": "x"}'):
        with pytest.raises(FrontFormError):
            add_outputs(parse(text), wrong)
