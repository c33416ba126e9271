from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolTip
from pytestqt.qtbot import QtBot

from studio.application.editing.editor_context import EditorContext, editor_context_of
from studio.application.editing.hover import hover
from studio.application.editing.names import name_at, places_of, tool_rename
from studio.core.prompty.document import ToolSpec
from studio.core.prompty.parse import parse
from studio.core.text.source import apply_edits
from studio.ui.app.main_window import MainWindow
from studio.ui.editor.page.naming import RenameField
from studio.ui.editor.page.page import EditorPage

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

PROMPT = """---
name: x
model:
  connection:
    key: ${env:STUDIO_TEST_KEY:none}
inputs:
  city:
    kind: string
    default: Oslo
  api_key:
    kind: string
tools:
  - name: "look"
    kind: function
metadata:
  facts: ${file:facts.json}
---
system:
Please look: call `look`, not look_up, as {"name": "look"} for {{ city }} and {{ town }}
{{ api_key }}.
Action: look
"""


@pytest.fixture
def page(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> Iterator[EditorPage]:
    path = tmp_path / "a.prompty"
    path.write_text(PROMPT, encoding="utf-8")
    (tmp_path / "facts.json").write_text("{}", encoding="utf-8")
    shown = window.tabs.open(path)
    assert shown is not None
    qtbot.waitUntil(lambda: shown.document is not None)
    yield shown
    QToolTip.hideText()


def caret_in(page: EditorPage, words: str) -> None:
    cursor = page.editor.textCursor()
    cursor.setPosition(page.editor.text().index(words) + 1)
    page.editor.setTextCursor(cursor)


def rename(page: EditorPage, qtbot: QtBot, new: str, end: Qt.Key = Qt.Key.Key_Return) -> None:
    """F2, then the new name in the field over the old one."""
    qtbot.keyClick(page.editor, Qt.Key.Key_F2)
    field = page.editor.findChild(RenameField)
    assert field is not None
    assert field.hasFocus()
    assert field.hasSelectedText()
    qtbot.keyClicks(field, new)
    qtbot.keyClick(field, end)
    qtbot.waitUntil(lambda: page.editor.findChild(RenameField) is None)
    assert page.editor.hasFocus()


def test_f2_renames_an_input_everywhere(page: EditorPage, qtbot: QtBot) -> None:
    caret_in(page, "city }}")
    rename(page, qtbot, "place", Qt.Key.Key_Escape)
    assert page.editor.text() == PROMPT
    rename(page, qtbot, "place")
    assert page.editor.text() == PROMPT.replace("city", "place")
    page.editor.undo()
    assert page.editor.text() == PROMPT


def test_f2_renames_a_tool_and_leaves_prose_alone(page: EditorPage, qtbot: QtBot) -> None:
    caret_in(page, "look`")
    rename(page, qtbot, "search")
    text = page.editor.text()
    assert '- name: "search"' in text
    assert "Please look: call `search`, not look_up" in text
    assert '{"name": "search"}' in text
    assert "Action: search\n" in text


def test_a_name_that_is_none_or_taken_changes_nothing(page: EditorPage) -> None:
    caret_in(page, "city }}")
    for taken in ("town", "2x", "api_key", "a b"):
        assert not page.names.rename_to(taken)
        assert page.editor.text() == PROMPT


def test_a_tool_cannot_take_a_tools_name() -> None:
    two = PROMPT.replace("metadata:", "  - name: find\n    kind: function\nmetadata:")
    with pytest.raises(ValueError, match="taken"):
        tool_rename(parse(two), "look", "find")
    done = apply_edits(two, tool_rename(parse(two), "find", "seek"))
    assert done == two.replace("name: find", "name: seek")


def test_f12_opens_the_file_of_a_reference(
    window: MainWindow, page: EditorPage, qtbot: QtBot
) -> None:
    caret_in(page, "facts.json")
    qtbot.keyClick(page.editor, Qt.Key.Key_F12)
    current = window.tabs.current
    assert current is not None
    assert current.controller.title == "facts.json"


def test_names_are_found_in_the_text_as_it_is_now(page: EditorPage) -> None:
    page.editor.replace_all(PROMPT.replace("name: x", "name: a much longer name"))
    caret_in(page, "city }}")  # before anyone read the new text
    page.names.go_to_definition()
    assert page.editor.marks.flashed == "city"
    assert page.editor.textCursor().blockNumber() == 6


LONG = PROMPT + "user:\nA line that makes it long.\n" * 4_000


def test_a_long_text_is_read_before_a_name_is_looked_up_and_the_window_does_not_wait(
    page: EditorPage, qtbot: QtBot
) -> None:
    page.editor.replace_all(LONG)
    caret_in(page, "city }}")
    before = page.editor.textCursor().position()
    page.names.go_to_definition()
    assert page.editor.textCursor().position() == before
    assert QToolTip.text() == "The text is still being parsed…"
    qtbot.waitUntil(lambda: page.editor.textCursor().position() != before)
    assert page.editor.marks.flashed == "city"
    assert page.editor.textCursor().blockNumber() == 6


def test_who_goes_on_typing_in_a_long_text_is_not_taken_away_later(
    page: EditorPage, qtbot: QtBot
) -> None:
    page.editor.replace_all(LONG)
    caret_in(page, "city }}")
    page.names.go_to_definition()
    qtbot.keyClick(page.editor, "x")
    now = page.editor.textCursor().position()
    text = page.editor.text()
    qtbot.waitUntil(lambda: page.document is not None and page.document.source.text == text)
    qtbot.waitUntil(lambda: not page.editor.reading.is_asked)
    assert page.editor.textCursor().position() == now


def told(words: str, editor_context: EditorContext) -> str:
    document = parse(PROMPT)
    return hover(document, (), PROMPT.index(words) + 1, editor_context)


def test_hover_tells_an_inputs_value_and_hides_what_looks_like_a_key() -> None:
    editor_context = EditorContext(values={"city": "Bergen", "api_key": "very secret"})
    assert "Value now: <code>&quot;Bergen&quot;</code>" in told("city }}", editor_context)
    assert "Oslo" in told("city }}", editor_context)
    assert "very secret" not in told("api_key }}", editor_context)
    assert "Value now" in told("api_key }}", editor_context)


def test_hover_tells_of_variables_only_where_the_folder_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def about(*, trusted: bool) -> str:
        known = editor_context_of({}, (), (), tmp_path, trusted=trusted)
        return told("STUDIO_TEST_KEY", known)

    monkeypatch.delenv("STUDIO_TEST_KEY", raising=False)
    assert "not set; the default is used" in about(trusted=True)
    (tmp_path / ".env").write_text("STUDIO_TEST_KEY=hidden\n", encoding="utf-8")
    assert "set in the environment" in about(trusted=True)
    assert "hidden" not in about(trusted=True)
    assert "not trusted" in about(trusted=False)


def test_hover_shows_the_schema_of_a_tool_of_another_source() -> None:
    schema = {"type": "object", "properties": {"where": {"type": "string"}}}
    editor_context = EditorContext(tools=(ToolSpec("Action", "Acts", schema),))
    assert "where" in told("Action", editor_context)


def test_hover_tells_whether_a_file_is_there(tmp_path: Path) -> None:
    path = tmp_path / "a.prompty"
    document = parse(PROMPT, path)
    at = PROMPT.index("facts.json")
    assert "does not exist" in hover(document, (), at)
    (tmp_path / "facts.json").write_text("{}", encoding="utf-8")
    assert "2 bytes" in hover(document, (), at)


def test_a_parameter_is_a_name_like_an_input() -> None:
    front = "model: {id: '${params:m}'}\ntemplate: {parser: {kind: section}}"
    text = f"---\n{front}\n---\nuser:\n${{params:m}}"
    document = parse(text)
    first, second = (text.index("m}"), text.rindex("m}"))
    assert name_at(document, second) == "m"
    assert [span.start for span in places_of(document, first)[1]] == [first, second]
    told = hover(document, (), second, EditorContext(values={"m": "gpt"}))
    assert "<b>m</b>: a parameter of the run" in told
    assert "gpt" in told
