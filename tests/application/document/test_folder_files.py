"""Files of a folder: new ones, copies, and names with those who use them."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio.application.document.files import FileError
from studio.application.document.folder_files import (
    duplicate,
    named_in,
    new_file,
    new_folder,
    rename,
    renamed,
    rewrite,
)
from studio.application.inputs.sets import sets_path

USER = """---
tools:
  - name: lookup
    path: data/facts.json  # what it knows
model:
  options: ${file:data/facts.json}
other: "data/facts.json"
---
system:
The file data/facts.json is not touched in prose.
![image](data/facts.json) and ![image](./data/facts.json "title")
"""


def test_everything_that_names_a_file_gets_the_new_name(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    facts = tmp_path / "data" / "facts.json"
    facts.write_text("{}", encoding="utf-8")
    user = tmp_path / "a.prompty"
    user.write_text(USER, encoding="utf-8")
    deep = tmp_path / "deep" / "b.yaml"
    deep.parent.mkdir()
    deep.write_text(
        "prompts:\n  - file://../data/facts.json\nx: more-facts.json\n", encoding="utf-8"
    )
    new = facts.with_name("known.json")
    found = named_in(facts, new, [tmp_path])
    rename(facts, new)
    for each in found:
        rewrite(each)
    assert {each.path for each in found} == {user, deep}
    text = user.read_text(encoding="utf-8")
    assert text.count("data/known.json") == 5
    assert "The file data/facts.json is not touched" in text
    assert "- file://../data/known.json\nx: more-facts.json" in deep.read_text(encoding="utf-8")


def test_a_folder_takes_the_paths_below_it_along(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    user = tmp_path / "a.prompty"
    user.write_text("![image](data/in/x.png) ${file:data/y.txt} data/ is prose", encoding="utf-8")
    (found,) = named_in(tmp_path / "data", tmp_path / "stuff", [tmp_path])
    rename(tmp_path / "data", tmp_path / "stuff")
    rewrite(found)
    assert user.read_text(encoding="utf-8") == (
        "![image](stuff/in/x.png) ${file:stuff/y.txt} data/ is prose"
    )


def test_unsaved_text_of_an_open_file_counts(tmp_path: Path) -> None:
    user = tmp_path / "a.prompty"
    user.write_text("nothing", encoding="utf-8")
    texts = {user.resolve(): "![image](x.png)"}
    (found,) = named_in(tmp_path / "x.png", tmp_path / "y.png", [tmp_path], texts)
    assert [edit.text for edit in found.edits] == ["y.png"]


def test_input_sets_go_along_with_their_prompt(tmp_path: Path) -> None:
    prompt = tmp_path / "a.prompty"
    prompt.write_text("user:\nHi\n", encoding="utf-8")
    sets_path(prompt).write_text("{}", encoding="utf-8")
    rename(prompt, tmp_path / "b.prompty")
    assert sets_path(tmp_path / "b.prompty").exists()
    assert not sets_path(prompt).exists()


def test_new_and_copied_files_never_write_over_others(tmp_path: Path) -> None:
    made = new_file(tmp_path, "one", "user:\n")
    assert made.name == "one.prompty"
    with pytest.raises(FileError, match="already"):
        new_file(tmp_path, "one.prompty")
    assert made.read_text(encoding="utf-8") == "user:\n"
    assert new_folder(tmp_path, "in/deep").is_dir()
    assert duplicate(made).name == "one-copy.prompty"
    assert duplicate(made).name == "one-copy-2.prompty"
    other = new_file(tmp_path, "two.experiment.yaml")
    assert duplicate(other).name == "two-copy.experiment.yaml"
    with pytest.raises(FileError, match="already"):
        rename(made, other)
    assert made.exists()


def test_a_link_to_a_file_is_not_a_second_file(tmp_path: Path) -> None:
    user = tmp_path / "a.prompty"
    user.write_text("![image](x.png) and ![image](x.png)", encoding="utf-8")
    (tmp_path / "link.prompty").symlink_to(user)
    names = named_in(tmp_path / "x.png", tmp_path / "longer.png", [tmp_path])
    for each in names:
        rewrite(each)
    assert user.read_text(encoding="utf-8") == "![image](longer.png) and ![image](longer.png)"


def test_what_was_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    user = tmp_path / "a.prompty"
    user.write_text("![image](x.png)", encoding="utf-8")
    (found,) = named_in(tmp_path / "x.png", tmp_path / "y.png", [tmp_path])
    user.write_text("Look: ![image](x.png)", encoding="utf-8")
    with pytest.raises(FileError, match="changed meanwhile"):
        rewrite(found)
    assert user.read_text(encoding="utf-8") == "Look: ![image](x.png)"


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\\b", "a\0b", "a\nb"])
def test_what_is_no_name_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="not a name"):
        renamed(tmp_path / "a.prompty", name)


@pytest.mark.parametrize("name", ["../out", "/tmp/out", "a//b", "a/../../b", "x\0"])
def test_a_new_file_stays_in_its_folder(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for make in (new_file, new_folder):
        with pytest.raises(FileError, match="not a name"):
            make(folder, name)
    assert [each.name for each in tmp_path.iterdir()] == ["in"]


def test_a_number_in_a_name_is_no_type(tmp_path: Path) -> None:
    made = new_file(tmp_path, "v1.2", "user:\n")
    assert made.name == "v1.2.prompty"
    assert made.read_text(encoding="utf-8") == "user:\n"
    assert duplicate(made).name == "v1.2-copy.prompty"
    assert new_file(tmp_path, "notes.md", "user:\n").read_text(encoding="utf-8") == ""


def test_a_name_too_long_and_a_link_that_leads_nowhere_are_told(tmp_path: Path) -> None:
    path = new_file(tmp_path, "a")
    with pytest.raises(FileError):
        rename(path, renamed(path, "x" * 300))
    nowhere = tmp_path / "b.prompty"
    nowhere.symlink_to(tmp_path / "nothing")
    with pytest.raises(FileError, match="already"):
        rename(path, nowhere)
    assert path.is_file()
    assert nowhere.is_symlink()
