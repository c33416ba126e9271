"""The front matter as a form: what it shows, and the YAML that it leaves as it was."""

from __future__ import annotations

import pytest

from studio.application.editing.front_form import (
    FrontField,
    add_input,
    front_groups,
    rename,
    set_front,
)
from studio.application.editing.front_items import FrontFormError, remove_item
from studio.core.prompty.parse import parse
from studio.core.text.problem import apply_edits

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


def changed(text: str, path: tuple[str | int, ...], typed: str) -> str:
    return apply_edits(text, set_front(parse(text), field_of(text, *path), typed))


def test_everything_is_shown_with_what_is_written() -> None:
    groups = front_groups(parse(PROMPT))
    assert [group.title for group in groups] == [
        "Prompt", "Model", "Input city", "Input days", "Tool lookup", "Options of the model",
    ]  # fmt: skip
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
    path: tuple[str | int, ...], typed: str, old: str, new: str
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
def test_what_is_no_value_is_said(path: tuple[str | int, ...], typed: str) -> None:
    with pytest.raises(FrontFormError):
        changed(PROMPT, path, typed)


def test_inputs_come_go_and_change_their_names() -> None:
    document = parse(PROMPT)
    more = apply_edits(PROMPT, add_input(document, "hotel"))
    assert parse(more).input("hotel") is not None
    with pytest.raises(FrontFormError, match="already"):
        add_input(document, "city")
    with pytest.raises(FrontFormError, match="no name"):
        add_input(document, "a b")
    named = apply_edits(PROMPT, rename(document, "city", "place"))
    assert named == PROMPT.replace("city", "place")
    less = apply_edits(PROMPT, remove_item(document, ("inputs", "days")))
    assert less == PROMPT.replace("  days:\n    kind: integer\n", "")


def test_lists_of_inputs_and_short_forms() -> None:
    text = "---\ninputs:\n  - name: city\n    kind: string\n---\nuser:\n{{ city }}\n"
    assert changed(text, ("inputs", 0, "description"), "Where") == text.replace(
        "kind: string", "kind: string\n    description: Where"
    )
    short = "---\nmodel: gpt-4o\n---\nuser:\nHi\n"
    assert changed(short, ("model",), "gpt-5") == short.replace("gpt-4o", "gpt-5")
