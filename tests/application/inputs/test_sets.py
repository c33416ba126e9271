from __future__ import annotations

from pathlib import Path

import pytest

from studio.application.inputs.fields import ValueHistory, input_fields, own_count
from studio.application.inputs.sets import (
    InputFileError,
    fit_values,
    read_sets,
    sample_edits,
    sets_path,
    write_sets,
)
from studio.core.prompty.parse import parse
from studio.core.text.source import apply_edits
from studio.core.text.values import Json

DOC = """---
# kept
inputs:
  city: {kind: string, sample: Lisbon}
  days: {kind: integer}
  deep:
    kind: boolean
---
system:
{{ city }} {{ days }} {{ deep }} {{ stranger }} {{ history }} {{ question }}
"""


def test_sets_are_kept_beside_the_prompt_and_read_again(tmp_path: Path) -> None:
    prompt = tmp_path / "trip.v2.prompty"
    assert read_sets(prompt) == {}
    sets = {"Rome": {"city": "Rome", "days": 2**70}, "größe": {"deep": None}}
    write_sets(prompt, sets)
    assert sets_path(prompt).name == "trip.v2.inputs.json"
    assert read_sets(prompt) == sets
    write_sets(prompt, {})
    assert not sets_path(prompt).exists()


@pytest.mark.parametrize("text", ["[1]", "{", '{"a": NaN}', "\xff"])
def test_a_broken_file_of_sets_is_said(tmp_path: Path, text: str) -> None:
    prompt = tmp_path / "a.prompty"
    sets_path(prompt).write_bytes(text.encode("latin-1"))
    with pytest.raises(InputFileError, match=r"a\.inputs\.json"):
        read_sets(prompt)


def test_a_tables_cells_become_what_the_inputs_are() -> None:
    specs = input_fields(parse(DOC))
    cells = {"city": "12", "days": "12", "deep": "TRUE", "stranger": "1"}
    assert fit_values(cells, specs) == {"city": "12", "days": 12, "deep": True, "stranger": "1"}
    assert fit_values({"days": "many"}, specs) == {"days": "many"}


def test_values_are_kept_as_samples_without_touching_the_rest() -> None:
    document = parse(DOC)
    values = {"city": "a: #b", "days": 4, "deep": False, "stranger": "x"}
    kept = sample_edits(document, values)
    assert kept.left_out == ("stranger",)
    assert len(kept.edits) == 1
    text = apply_edits(DOC, kept.edits)
    changed = parse(text)
    assert {item.name: item.sample for item in changed.inputs} == {
        "city": "a: #b",
        "days": 4,
        "deep": False,
    }
    assert text.startswith("---\n# kept\n")
    assert text.endswith(DOC[DOC.index("system:") :])
    assert sample_edits(changed, values).edits == ()


def test_only_a_persons_own_inputs_are_counted() -> None:
    specs = input_fields(parse(DOC))
    supplied = [spec.name for spec in specs if spec.supplied]
    assert supplied == ["history"]
    assert own_count(specs, {"city": "Rome", "history": []})[:2] == (1, 5)


def test_the_history_goes_back_and_returns_to_the_draft() -> None:
    history = ValueHistory()
    for text in ("one", "two", "one", ""):
        history.keep(text)
    assert history.texts == ("two", "one")
    assert history.step(back=True, shown="draft") == "one"
    assert history.step(back=True, shown="one") == "two"
    assert history.step(back=True, shown="two") is None
    assert history.step(back=False, shown="two") == "one"
    assert history.step(back=False, shown="one") == "draft"
    assert history.step(back=False, shown="draft") is None
    assert history.step(back=True, shown="one") == "two"
    assert history.step(back=False, shown="edited") is None


def test_a_cell_is_one_of_the_choices_that_it_names() -> None:
    text = (
        "---\ninputs:\n  size: {kind: integer, enum: [1, 2]}\n"
        "  tone: {kind: string, enum: [a, '1']}\n"
        "  sure: {kind: boolean}\n---\n{{ size }}{{ tone }}{{ sure }}\n"
    )
    specs = input_fields(parse(text))
    fitted = fit_values({"size": "2", "tone": "1", "sure": "TRUE"}, specs)
    assert fitted == {"size": 2, "tone": "1", "sure": True}
    assert fit_values({"size": "7"}, specs) == {"size": "7"}


LISTED = """---
inputs:
  - name: city
    kind: string
    # a remark
  - {name: days, kind: integer}
  - name: "tags"
    sample: [old]
    kind: array
---
system:
{{ city }} {{ days }} {{ tags }}
"""


def test_samples_of_inputs_in_a_list_are_kept_too() -> None:
    values: dict[str, Json] = {"city": 'Köln: "x"', "days": 4, "tags": ["ä"]}
    for text in (LISTED, LISTED.replace("\n", "\r\n")):
        document = parse(text)
        kept = sample_edits(document, values)
        assert kept.left_out == ()
        changed = parse(apply_edits(text, kept.edits))
        assert {item.name: item.sample for item in changed.inputs} == values
        assert "# a remark" in changed.source.text
        assert "ä" in changed.source.text
        assert changed.source.slice(changed.body) == document.source.slice(document.body)
        assert [item.code for item in changed.problems] == [i.code for i in document.problems]
