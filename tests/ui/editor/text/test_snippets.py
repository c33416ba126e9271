from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from studio.application.editing.snippets import SNIPPETS, Snippet, expand, fitting
from studio.core.prompty.parse import parse
from studio.core.text.source import Span
from studio.ui.editor.completion.assist import EditorAssist
from studio.ui.editor.text.view import PromptEditor
from studio.ui.style.application import apply_theme
from studio.ui.style.theme import DARK, LIGHT

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

FRONT = "---\n{root}template:\n  format:\n    kind: {format}\n  parser:\n    kind: {parser}\n---\n"
LEGACY = "---\nmodel:\n  api: chat\n  configuration:\n    type: openai\n{root}---\n"


@pytest.fixture
def editor(qtbot: QtBot) -> Iterator[PromptEditor]:
    view = PromptEditor()
    qtbot.addWidget(view)
    view.resize(700, 400)
    with qtbot.waitActive(view):
        view.show()
        view.activateWindow()
    view.setFocus()
    yield view
    view.close()


def test_places_come_in_the_order_of_their_numbers_and_the_end_last() -> None:
    made = expand("b ${2:two} a ${1:one}$0 c")
    assert made.text == "b two a one c"
    assert [made.text[stop.start : stop.end] for stop in made.stops] == ["one", "two", ""]
    assert made.stops[-1] == Span(11, 11)


def test_a_snippet_without_an_end_ends_behind_its_text() -> None:
    assert expand("${1:x} y").stops == (Span(0, 1), Span(3, 3))


def test_lines_take_the_indent_of_the_first() -> None:
    assert expand("a:\n  b: ${1:c}\n$0", "    ").text == "a:\n      b: c\n    "


def put(snippet: Snippet, dialect: str, template: str) -> str:
    """A prompt of a dialect with the snippet in it."""
    text = expand(snippet.body, "  " if snippet.place in ("inputs", "tools") else "").text
    root = {
        "root": text,
        "inputs": f"inputs:\n  {text.rstrip()}\n",
        "tools": f"tools:\n  {text.rstrip()}\n",
    }.get(snippet.place, "name: x\n")
    if snippet.place == "root" and snippet.name == "template block":
        head = f"---\n{text}---\n"
    elif dialect == "legacy":
        head = LEGACY.format(root=root)
    else:
        head = FRONT.format(root=root, format=template, parser=dialect)
    if snippet.place == "statement":
        return head + "user:\n{% " + text + " %}\n"
    needs_role = not text.split("\n")[0].rstrip().endswith(":") and "]:" not in text
    body = (("user:\n" if needs_role else "") + text) if snippet.place == "body" else "user:\nHi\n"
    return head + body


@pytest.mark.parametrize("number", range(len(SNIPPETS)))
def test_each_snippet_is_right_in_every_dialect_it_is_offered_in(number: int) -> None:
    snippet = SNIPPETS[number]
    for dialect in snippet.dialects:
        for template in snippet.formats if dialect != "legacy" else ("jinja2",):
            if template not in snippet.formats:
                continue
            text = put(snippet, dialect, template)
            document = parse(text)
            wrong = [
                problem
                for problem in document.problems
                # The names that a snippet begins with are declared by whoever fills it.
                if problem.severity != "hint"
                and "declared" not in problem.message
                and "is not there" not in problem.message
                and "No file" not in problem.message
            ]
            assert document.dialect == dialect, (snippet.name, document.dialect_reason)
            assert not wrong, (snippet.name, dialect, template, wrong)


def test_offered_by_dialect_and_template() -> None:
    section = {each.name for each in fitting(parse("user:\n![thread]\n"), "body")}
    assert {"thread", "image", "tool call", "if block"} <= section
    plain = parse(FRONT.format(root="", format="fstring", parser="prompty") + "user:\nHi\n")
    assert not {"image", "tool call", "if block"} & {each.name for each in fitting(plain, "body")}


def test_tab_goes_from_place_to_place_and_back_with_real_keys(
    editor: PromptEditor, qtbot: QtBot
) -> None:
    assist = EditorAssist(editor)
    editor.load("")
    assist.insert_snippet("{% for ${1:item} in ${2:items} %}\n{{ ${3:item} }}\n{% endfor %}\n$0")
    assert editor.textCursor().selectedText() == "item"
    qtbot.keyClicks(editor, "step")
    qtbot.keyClick(editor, Qt.Key.Key_Tab)
    assert editor.textCursor().selectedText() == "items"
    qtbot.keyClicks(editor, "history")
    qtbot.keyClick(editor, Qt.Key.Key_Backtab)
    assert editor.textCursor().selectedText() == "step"
    qtbot.keyClick(editor, Qt.Key.Key_Tab)
    assert editor.textCursor().selectedText() == "history"
    qtbot.keyClick(editor, Qt.Key.Key_Tab)
    qtbot.keyClicks(editor, "step.action")
    qtbot.keyClick(editor, Qt.Key.Key_Tab)
    assert editor.caret() == len(editor.text())
    assert editor.text() == "{% for step in history %}\n{{ step.action }}\n{% endfor %}\n"
    assert editor.snippet is not None
    assert not editor.snippet.is_active
    qtbot.keyClick(editor, Qt.Key.Key_Tab)
    assert editor.text().endswith("endfor %}\n  ")
    assist.rest()


def test_a_snippet_keeps_the_dialect_and_its_places(editor: PromptEditor, qtbot: QtBot) -> None:
    body = "user:\n![image](a.png)\n"
    text = f"---\nname: x\n\n---\n{body}"
    editor.load(text)
    editor.set_document(parse(text))
    editor.set_caret(len("---\nname: x\n"))
    snippet = next(each for each in SNIPPETS if each.name == "inputs block")

    EditorAssist(editor).insert_snippet(snippet.body)
    assert editor.textCursor().selectedText() == "question"
    qtbot.keyClicks(editor, "topic")
    qtbot.keyClick(editor, Qt.Key.Key_Tab)

    assert editor.textCursor().selectedText() == "string"
    document = parse(editor.text())
    assert (document.dialect, document.template.parser) == ("section", "section")
    assert document.inputs[0].name == "topic"
    assert editor.text().endswith(f"---\n{body}")


def test_escape_ends_it_and_tab_indents_again(editor: PromptEditor, qtbot: QtBot) -> None:
    editor.load("")
    EditorAssist(editor).insert_snippet("a ${1:one} b ${2:two}\n$0")
    qtbot.keyClick(editor, Qt.Key.Key_Escape)
    editor.moveCursor(QTextCursor.MoveOperation.Start)
    qtbot.keyClick(editor, Qt.Key.Key_Tab)
    assert editor.text() == "  a one b two\n"


def test_leaving_it_or_undoing_it_ends_it(editor: PromptEditor) -> None:
    editor.load("first\n")
    editor.moveCursor(QTextCursor.MoveOperation.End)
    EditorAssist(editor).insert_snippet("a ${1:one} b ${2:two}\n$0")
    assert editor.snippet is not None
    editor.moveCursor(QTextCursor.MoveOperation.Start)
    assert not editor.snippet.is_active
    editor.moveCursor(QTextCursor.MoveOperation.End)
    EditorAssist(editor).insert_snippet("a ${1:one} b ${2:two}\n$0")
    assert editor.snippet.is_active
    editor.undo()
    assert not editor.snippet.is_active
    assert editor.text() == "first\na one b two\n"


def test_completion_puts_a_snippet_in_with_its_end(editor: PromptEditor, qtbot: QtBot) -> None:
    assist = EditorAssist(editor)
    text = "user:\n"
    editor.load(text)
    editor.set_document(parse(text))
    editor.moveCursor(QTextCursor.MoveOperation.End)
    qtbot.keyClicks(editor, "{% fo")
    qtbot.waitUntil(lambda: "for …" in assist._popup.labels())
    while assist._popup._list.currentItem().text() != "for …":
        qtbot.keyClick(editor, Qt.Key.Key_Down)
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert editor.text() == "user:\n{% for item in items %}text{% endfor %}"
    assert editor.textCursor().selectedText() == "item"


@pytest.mark.parametrize("head", [FRONT, LEGACY, "---\nmodel: {{id: m}}\n---\n"])
def test_the_thread_snippet_declares_its_thread_in_one_step(
    editor: PromptEditor, head: str
) -> None:
    text = head.format(root="name: x\n", format="jinja2", parser="prompty") + "system:\nHi\n"
    editor.load(text)
    editor.set_document(parse(text))
    editor.moveCursor(QTextCursor.MoveOperation.End)
    (snippet,) = (each for each in fitting(parse(text), "body") if each.name == "thread")
    EditorAssist(editor).insert_snippet(snippet.body, declares=snippet.declares)
    document = parse(editor.text())
    assert [(each.name, each.kind) for each in document.inputs] == [("thread", "thread")]
    assert editor.text().endswith("system:\nHi\n{{ thread }}\n")
    assert editor.caret() == len(editor.text())
    assert document.dialect == parse(text).dialect
    (again,) = (each for each in fitting(document, "body") if each.name == "thread")
    assert not again.declares
    editor.undo()
    assert parse(editor.text()).inputs == ()


def test_the_thread_snippet_takes_the_thread_that_is_declared_and_no_other_input() -> None:
    def thread(inputs: str) -> Snippet:
        text = f"---\nmodel: {{id: m}}\ninputs:\n{inputs}---\nsystem:\nHi\n"
        return next(each for each in fitting(parse(text), "body") if each.name == "thread")

    declared = thread("  history: {kind: thread}\n")
    assert (declared.body, declared.declares) == ("{{ history }}\n$0", "")
    taken = thread("  thread: {kind: string}\n")
    assert (taken.body, taken.declares) == ("{{ conversation }}\n$0", "conversation")


def test_places_to_be_filled_take_the_colors_of_another_theme(
    editor: PromptEditor, qapp: QApplication
) -> None:
    def grounds() -> list[str]:
        found = (each.format.background().color().name() for each in editor.extraSelections())
        return [color for color in found if color in (LIGHT.raised, DARK.raised)]

    apply_theme(qapp, LIGHT)
    editor.load("")
    EditorAssist(editor).insert_snippet("a ${1:one} b ${2:two}\n$0")
    assert grounds() == [LIGHT.raised] * 2
    try:
        apply_theme(qapp, DARK)
        assert grounds() == [DARK.raised] * 2
    finally:
        apply_theme(qapp, LIGHT)
    assert grounds() == [LIGHT.raised] * 2
