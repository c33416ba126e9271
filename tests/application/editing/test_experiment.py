"""Help for experiment files, the same in the window and the language server."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from studio.application.document.checked_file import read_document
from studio.application.editing.editor_context import EditorContext
from studio.application.editing.experiment.names import file_at, rename_everywhere, write_all
from studio.application.editing.hover import hover
from studio.application.editing.offers import complete
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.parse import parse
from studio.core.text.files import files_beside
from studio.core.text.source import apply_edits
from studio.servers.lsp import features
from studio.servers.lsp import names as lsp_names
from studio.servers.lsp.features import read

PROMPT = """\
---
inputs:
  country: {kind: string, description: "A land", required: true}
  style: {kind: string, default: plain}
---
system:
Answer in a {{ style }} way.

user:
{{ country }}
"""
EXPERIMENT = """\
prompts: [capital.prompty]
providers: [small]
tests:
  - vars: {country: Norway}
    assert: [{type: contains, value: "{{ country }} {{expected}}"}]
  - file://rows.csv
defaultTest:
  assert:
    - type: contains
      value: "{{ expected }}"
baseline: capital.prompty
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "capital.prompty").write_text(PROMPT)
    (tmp_path / "rows.csv").write_bytes(b"note,country,expected\r\nx,Italy,Rome\r\n")
    (tmp_path / "a.experiment.yaml").write_text(EXPERIMENT)
    return tmp_path


def document(folder: Path, text: str = EXPERIMENT) -> PromptDocument:
    return read_document(text, folder / "a.experiment.yaml")


def offered(folder: Path, text: str) -> list[str]:
    """What is offered at the `|` of a text; the reading may be a few keys behind."""
    caret = text.index("|")
    whole = text.replace("|", "", 1)
    context = EditorContext(
        files=lambda: files_beside(folder / "a.experiment.yaml"), connections=("small", "Office")
    )
    found = complete(whole, caret, document(folder, whole), asked=True, editor_context=context)
    return [each.insert for each in found.items]


def test_a_sound_experiment_has_no_findings(folder: Path) -> None:
    found = document(folder)
    assert found.problems == ()
    assert not found.is_prompt


@pytest.mark.parametrize(
    ("old", "new", "code", "said", "fixed"),
    [
        ("[capital.prompty]", "[capitol.prompty]", "experiment-file", "no such file", "capital."),
        ("rows.csv", "row.csv", "experiment-file", "no such file", "rows.csv"),
        (
            "vars: {country",
            "vars: {contry",
            "experiment-value-unread",
            "Did you mean 'country'",
            "vars: {country",
        ),
        ("{country: Norway}", "{style: short}", "experiment-value-missing", "input 'country'", ""),
        ("type: contains\n", "type: contians\n", "assertion-type", "", "type: contains\n"),
        ("baseline: capital", "baseline: capitol", "experiment-baseline", "no variant", "capital"),
        ("defaultTest", "defaultTests", "experiment-key", "Did you mean 'defaultTest'", "defaultT"),
    ],
)
def test_what_is_wrong_has_a_place_and_a_fix(
    folder: Path, old: str, new: str, code: str, said: str, fixed: str
) -> None:
    text = EXPERIMENT.replace(old, new)
    found = next(each for each in document(folder, text).problems if each.code == code)
    assert said in found.message
    assert len(found.span) > 0
    if fixed:
        mended = apply_edits(text, found.fixes[0].edits)
        assert mended == EXPERIMENT
        assert document(folder, mended).problems == ()


@pytest.mark.parametrize(
    ("text", "wanted", "others"),
    [
        ("pro|", ["prompts:\n  - ", "providers:\n  - "], ["tests"]),
        ("prompts: [cap|", ["capital.prompty"], ["rows.csv"]),
        ("prompts:\n  - id: |", ["capital.prompty"], []),
        ("prompts:\n  - |", ["capital.prompty", "id: "], []),
        ("providers: [|", ["small", "Office", "echo"], []),
        ("providers: [{id: Of|", ["Office"], ["small"]),
        ("tests:\n  - |", ["file://rows.csv", "samples"], ["capital.prompty"]),
        ("prompts: [capital.prompty]\ntests:\n  - vars:\n      |", ["country: ", "style: "], []),
        ("prompts: [capital.prompty]\ntests:\n  - vars: {co|", ["country: "], []),
        ("tests:\n  - assert:\n      - type: not-cont|", ["not-contains"], []),
        ("defaultTest: {assert: [{type: icont|", ["icontains"], ["contains"]),
        (
            "prompts: [capital.prompty]\ndefaultTest:\n  assert:\n    - value: '{{ cou|",
            ["country"],
            [],
        ),
        ("prompts: [capital.prompty]\nbaseline: |", ["capital.prompty", "accepted"], []),
        ("prompts:\n  - id: capital.prompty\n    edit:\n      |", ["system: ", "user: "], []),
        ("evaluateOptions:\n  cache: |", ["true", "false"], []),
        ("gates: {lost|", ["lost_rows: "], []),
        ("keep: |", ["all", "failed", "none"], []),
    ],
)
def test_what_can_stand_at_the_caret(
    folder: Path, text: str, wanted: list[str], others: list[str]
) -> None:
    found = offered(folder, text)
    assert [each for each in wanted if each not in found] == []
    assert [each for each in others if each in found] == []


@pytest.mark.parametrize(
    ("at", "said"),
    [
        ("contains, value", "The answer holds the text"),
        ("country: Norway", "A land"),
        ("defaultTest", "What every row has"),
        ("rows.csv", "bytes"),
    ],
)
def test_what_is_under_the_mouse_is_told(folder: Path, at: str, said: str) -> None:
    assert said in hover(document(folder), (), EXPERIMENT.index(at) + 1)


def test_an_input_is_renamed_in_all_files_that_hold_it(folder: Path) -> None:
    changes = {
        each.path.name: each for each in rename_everywhere(document(folder), "country", "land")
    }
    assert sorted(changes) == ["a.experiment.yaml", "capital.prompty", "rows.csv"]
    write_all(changes.values())
    assert (folder / "rows.csv").read_bytes() == b"note,land,expected\r\nx,Italy,Rome\r\n"
    text = (folder / "a.experiment.yaml").read_text()
    assert "vars: {land: Norway}" in text
    assert "{{ land }} {{expected}}" in text
    assert document(folder, text).problems == ()
    write_all(changes.values())  # already so
    assert (folder / "a.experiment.yaml").read_text() == text
    (folder / "rows.csv").write_bytes(b"another\r\n")
    with pytest.raises(ValueError, match="it was changed meanwhile"):
        write_all(changes.values())
    assert (folder / "a.experiment.yaml").read_text() == text
    with pytest.raises(ValueError, match="not a name"):
        rename_everywhere(document(folder, text), "land", "1 2")


def test_a_prompt_that_shares_an_input_by_an_experiment_and_all_its_rows_follow(
    folder: Path,
) -> None:
    rows = {
        "rows.csv": 'note;"country";expected\r\nx;Italy;Rome\r\n',
        "more.tsv": "country\tother\nItaly\tcountry\n",
        "lines.jsonl": '{"country": "country", "deep": {"country": 1}}\n{"vars": {"country": 2}}\n',
        "list.yaml": "- country: Italy\n- vars: {country: Rome}\n",
        "capital.cases.csv": "country,expected\nPeru,Lima\n",
        "capital.inputs.json": '{"one": {"country": "Peru"}}',
        "second.inputs.json": '{"two": {"country": "Chad"}}',
        "unrelated.prompty": PROMPT,
        "second.prompty": PROMPT.replace("style", "mood"),
        "notes.csv": "country\nnot of these\n",
    }
    for name, text in rows.items():
        (folder / name).write_bytes(text.encode())
    text = EXPERIMENT.replace("[capital.prompty]", "[capital.prompty, second.prompty]").replace(
        "  - file://rows.csv\n", "".join(f"  - file://{each}\n" for each in list(rows)[:4])
    )
    (folder / "a.experiment.yaml").write_text(text)
    before = {each.name: each.read_bytes() for each in folder.iterdir()}
    from_prompt = rename_everywhere(parse(PROMPT, folder / "capital.prompty"), "country", "land")
    from_experiment = rename_everywhere(document(folder, text), "country", "land")
    assert from_prompt[0].path.name == "capital.prompty"
    assert {each.path for each in from_prompt} == {each.path for each in from_experiment}
    write_all(from_prompt)
    after = {each.name: each.read_text() for each in folder.iterdir()}
    assert [name for name in rows if before[name] == after[name].encode()] == [
        "unrelated.prompty",
        "notes.csv",
    ]
    lines = '{"land": "country", "deep": {"country": 1}}\n{"vars": {"land": 2}}\n'
    assert after["lines.jsonl"] == lines
    assert after["list.yaml"] == "- land: Italy\n- vars: {land: Rome}\n"
    assert after["more.tsv"] == "land\tother\nItaly\tcountry\n"
    assert after["second.prompty"] == PROMPT.replace("style", "mood").replace("country", "land")
    assert document(folder, after["a.experiment.yaml"]).problems == ()
    write_all(from_prompt, back=True)
    assert {each.name: each.read_bytes() for each in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("second.prompty", PROMPT),
        ("rows.csv", "country,style\nItaly,short\n"),
        ("capital.cases.jsonl", '{"country": 1, "style": 2}\n'),
    ],
)
def test_a_name_that_is_taken_in_another_file_refuses_the_rename(
    folder: Path, name: str, text: str
) -> None:
    (folder / name).write_text(text)
    experiment = EXPERIMENT.replace("[capital.prompty]", "[capital.prompty, second.prompty]")
    (folder / "a.experiment.yaml").write_text(experiment)
    prompt = parse(PROMPT.replace("style", "mood"), folder / "capital.prompty")
    with pytest.raises(ValueError, match=name):
        rename_everywhere(prompt, "country", "style")


def test_the_language_server_goes_from_an_experiment_to_its_files(folder: Path) -> None:
    path = folder / "a.experiment.yaml"
    reading = read(path.as_uri(), path, EXPERIMENT, 1, "utf-16")
    place = lsp_names.definition_at(
        reading, reading.positions.position(EXPERIMENT.index("Norway") - 4)
    )
    assert place is not None
    assert place.uri.endswith("capital.prompty")
    assert place.range.start == types.Position(2, 2)
    assert file_at(reading.document, EXPERIMENT.index("rows.csv") + 2) == "rows.csv"
    at = reading.positions.position(EXPERIMENT.index("country: Norway"))
    assert lsp_names.renamable_at(reading, at) is not None
    edit = lsp_names.rename_at(reading, at, "land")
    assert edit is not None
    assert edit.changes is not None
    assert {uri.rpartition("/")[2] for uri in edit.changes} == {
        "a.experiment.yaml",
        "capital.prompty",
        "rows.csv",
    }
    prompt = folder / "capital.prompty"
    own = read(prompt.as_uri(), prompt, PROMPT, 1, "utf-16")
    at = own.positions.position(PROMPT.index("country"))
    both = lsp_names.rename_at(own, at, "land")
    assert both is not None
    assert both.changes is not None
    assert path.as_uri() in both.changes
    assert len(features.document_links(reading)) == 3
    assert features.formatting(reading) == []
