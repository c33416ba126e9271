"""Form, preview, Request and run show and send the same values, whatever became of an input."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from studio.application.preview.requests import provider_for, request_of
from studio.core.prompty.parse import parse
from studio.ui.app.workbench import Workbench
from studio.ui.editor.page.page import EditorPage
from tests.support.chat_server import ChatServer

PROMPT = """---
name: Triage
inputs:
  ticket: {kind: string, required: true, sample: The stove smells of gas.}
  customer: {kind: object, sample: {name: Ana Silva}}
---
system:
Customer: {{ customer.name }}

user:
{{ ticket }}
"""
SETS = {"double": {"ticket": "You charged my card twice.", "customer": {"name": "Cy Young"}}}
TEXTS = ["Customer: Cy Young", "You charged my card twice."]


@pytest.fixture
def triage(qtbot: QtBot, bench: Workbench, tmp_path: Path) -> Path:
    """The prompt, open, with the values of its set."""
    path = tmp_path / "triage.prompty"
    path.write_text(PROMPT, encoding="utf-8")
    sets_file(path).write_text(json.dumps(SETS), encoding="utf-8")
    bench.window.tabs.open(path)
    qtbot.waitUntil(lambda: bench.is_settled)
    bench.inputs_pane.library.take("double")
    qtbot.waitUntil(lambda: previewed(bench) == TEXTS)
    return path


def sets_file(prompt: Path) -> Path:
    return prompt.with_name("triage.inputs.json")


def previewed(bench: Workbench) -> list[str]:
    preview = bench.preview.preview
    assert preview is not None
    return [each.text for each in preview.messages.messages]


def ask(qtbot: QtBot, bench: Workbench, server: ChatServer) -> list[str]:
    """Run the prompt; gives the texts that the server got."""
    page = bench.window.tabs.current
    assert page is not None
    before = len(server.requests)
    qtbot.keyClick(page.editor, Qt.Key.Key_F5)
    qtbot.waitUntil(lambda: any(each.method == "POST" for each in server.requests[before:]))
    qtbot.waitUntil(lambda: bench.run.state is not None and bench.run.state.is_over)
    preview = bench.preview.preview
    assert preview is not None
    (sent,) = [each.body for each in server.requests[before:] if each.method == "POST"]
    assert (
        sent["messages"]
        == json.loads(json.dumps(request_of(preview, provider_for(preview)).body))["messages"]
    )
    return [each["content"] for each in sent["messages"]]


def write(qtbot: QtBot, bench: Workbench, old: str, new: str) -> None:
    """Write over the first place of a text in the editor, in one step that can be undone."""
    page = bench.window.tabs.current
    assert page is not None
    start = page.editor.text().index(old)
    cursor = page.editor.textCursor()
    cursor.setPosition(start)
    cursor.setPosition(start + len(old), cursor.MoveMode.KeepAnchor)
    cursor.insertText(new)
    qtbot.waitUntil(lambda: bench.is_settled)


def test_another_kind_and_its_undo_keep_the_value(
    qtbot: QtBot, bench: Workbench, triage: Path, server: ChatServer
) -> None:
    page = bench.window.tabs.current
    assert page is not None
    form = bench.inputs_pane.form
    write(qtbot, bench, "kind: object", "kind: thread")
    qtbot.waitUntil(lambda: form.rows["customer"].spec.kind == "thread")
    assert form.values() == bench.inputs_pane.values() == SETS["double"]
    preview = bench.preview.preview
    assert preview is not None
    assert preview.job.inputs == SETS["double"]
    page.editor.undo()
    qtbot.waitUntil(lambda: form.rows["customer"].spec.kind == "object" and bench.is_settled)
    assert form.values() == bench.inputs_pane.values() == SETS["double"]
    qtbot.waitUntil(lambda: previewed(bench) == TEXTS)
    assert ask(qtbot, bench, server) == TEXTS


EXPERIMENT = "prompts: [triage.prompty]\nproviders: [default]\ntests: rows.csv\n"


def files_beside(prompt: Path) -> list[str]:
    """The texts of the prompt and of every file that names its input."""
    names = ("triage.prompty", "triage.inputs.json", "rows.csv")
    return [prompt.with_name(each).read_text(encoding="utf-8") for each in names]


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_a_rename_keeps_the_value_and_reaches_all_files_at_once(
    qtbot: QtBot, bench: Workbench, triage: Path, server: ChatServer
) -> None:
    triage.with_name("a.experiment.yaml").write_text(EXPERIMENT, encoding="utf-8")
    triage.with_name("rows.csv").write_text("ticket\nThe oven is cold.\n", encoding="utf-8")
    before = files_beside(triage)
    after = [each.replace("ticket", "message") for each in before]
    page = bench.window.tabs.current
    assert page is not None
    page.editor.set_caret(page.editor.text().index("ticket"))
    assert page.names.rename_to("message")
    assert files_beside(triage) == after, "whatever happens to the window now"
    assert not page.controller.is_dirty
    form = bench.inputs_pane.form
    qtbot.waitUntil(lambda: "message" in form.rows and bench.is_settled)
    assert form.values()["message"] == TEXTS[1]
    qtbot.waitUntil(lambda: previewed(bench) == TEXTS)
    assert ask(qtbot, bench, server) == TEXTS
    page.editor.undo()
    qtbot.waitUntil(lambda: "ticket" in form.rows and bench.is_settled)
    assert form.values() == SETS["double"]
    assert ask(qtbot, bench, server) == TEXTS
    assert files_beside(triage) == before
    page.editor.redo()
    qtbot.waitUntil(lambda: files_beside(triage) == after)
    qtbot.waitUntil(lambda: "message" in form.rows and bench.is_settled)
    assert bench.inputs_pane.sets.text() == "double"


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_a_kill_between_the_files_of_a_rename_leaves_texts_that_agree(
    bench: Workbench, triage: Path, tmp_path: Path
) -> None:
    page = bench.window.tabs.current
    assert page is not None

    def killed() -> bool:
        raise SystemExit

    page.names._save = killed
    page.editor.set_caret(page.editor.text().index("ticket"))
    with pytest.raises(SystemExit):
        page.names.rename_to("message")
    assert '"message"' in sets_file(triage).read_text(encoding="utf-8")
    (kept,) = page.controller._swaps._own.glob("*.json")
    assert json.loads(kept.read_text(encoding="utf-8"))["text"] == PROMPT.replace(
        "ticket", "message"
    )


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_a_rename_reaches_no_file_where_one_cannot_follow(
    qtbot: QtBot, bench: Workbench, triage: Path
) -> None:
    triage.with_name("rows.csv").write_text("", encoding="utf-8")
    before = files_beside(triage)
    page = bench.window.tabs.current
    assert page is not None
    page.editor.set_caret(page.editor.text().index("ticket"))
    page.controller.file = replace(page.controller.file, digest="")  # another program wrote it
    assert not page.names.rename_to("message")
    assert files_beside(triage) == before
    assert page.editor.text() == PROMPT
    assert not page.names.rename_to("customer")
    assert files_beside(triage) == before


FROM_FILE = (
    "---\ninputs:\n  city: {kind: string}\nsample: ${file:x.json}\n---\nuser:\nGo to {{ city }}\n"
)


def open_with_samples(
    qtbot: QtBot, bench: Workbench, tmp_path: Path, others: tuple[str, ...] = ()
) -> tuple[EditorPage, Path]:
    """A prompt whose samples are in a file, open with the caret in its input."""
    samples = tmp_path / "x.json"
    samples.write_text('{\n\t"city": "Oslo", "days": 3\n}\n', encoding="utf-8")
    for name in ("trip.prompty", *others):
        (tmp_path / name).write_text(FROM_FILE, encoding="utf-8")
    bench.trust.trust(tmp_path)
    page = bench.window.tabs.open(tmp_path / "trip.prompty")
    assert page is not None
    qtbot.waitUntil(lambda: page.document is not None and bench.is_settled)
    page.editor.set_caret(page.editor.text().index("city"))
    return page, samples


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_a_rename_reaches_the_file_of_samples_and_its_undo_takes_it_back(
    qtbot: QtBot, bench: Workbench, tmp_path: Path, server: ChatServer
) -> None:
    page, samples = open_with_samples(qtbot, bench, tmp_path)
    before = samples.read_text(encoding="utf-8")
    assert page.names.rename_to("town")
    assert samples.read_text(encoding="utf-8") == before.replace("city", "town")
    qtbot.waitUntil(lambda: previewed(bench) == ["Go to Oslo"])
    page.editor.undo()
    qtbot.waitUntil(lambda: samples.read_text(encoding="utf-8") == before)
    qtbot.waitUntil(lambda: previewed(bench) == ["Go to Oslo"])
    page.editor.redo()
    qtbot.waitUntil(lambda: samples.read_text(encoding="utf-8") != before)
    qtbot.waitUntil(lambda: bench.is_settled and previewed(bench) == ["Go to Oslo"])
    page.close_document()  # whatever is left of the window: all files have the new name
    assert samples.read_text(encoding="utf-8") == before.replace("city", "town")
    assert page.controller.path is not None
    assert "city" not in page.controller.path.read_text(encoding="utf-8")


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_samples_of_two_prompts_refuse_a_rename_before_anything_is_written(
    qtbot: QtBot, bench: Workbench, tmp_path: Path, server: ChatServer
) -> None:
    page, samples = open_with_samples(qtbot, bench, tmp_path, ("other.prompty",))
    before = samples.read_text(encoding="utf-8")
    with pytest.raises(ValueError, match=r"'other.prompty'"):
        page.names.rename_input(parse(FROM_FILE, page.controller.path), "city", "town")
    with pytest.raises(ValueError, match="value of the name 'days'"):
        page.names.rename_input(parse(FROM_FILE, page.controller.path), "city", "days")
    assert not page.names.rename_to("town")
    assert page.editor.text() == FROM_FILE
    assert samples.read_text(encoding="utf-8") == before


def test_the_form_shows_the_values_of_a_file(
    qtbot: QtBot, bench: Workbench, tmp_path: Path, server: ChatServer
) -> None:
    (tmp_path / "ana.json").write_text('{"name": "Ana"}', encoding="utf-8")
    path = tmp_path / "chat.prompty"
    path.write_text(
        "---\ninputs:\n  ticket: {kind: string, required: true, sample: Do you sell tents}\n"
        "  customer: {kind: object, sample: '${file:ana.json}'}\n---\n"
        "system:\nCustomer: {{ customer.name }}\n\nuser:\n{{ ticket }}\n",
        encoding="utf-8",
    )
    bench.trust.trust(tmp_path)
    bench.window.tabs.open(path)
    form = bench.inputs_pane.form
    qtbot.waitUntil(lambda: "customer" in form.rows)
    qtbot.waitUntil(lambda: form.rows["customer"].spec.fallback == {"name": "Ana"})
    page = bench.window.tabs.current
    assert page is not None
    qtbot.keyClick(page.editor, Qt.Key.Key_F5)
    (notice,) = [each for each in bench.window.notices.notices if each.key == "run"]
    notice.offers[0].act()
    qtbot.waitUntil(lambda: bench.run.state is not None and bench.run.state.is_over)
    (sent,) = [each.body for each in server.requests if each.method == "POST"]
    texts = [each["content"] for each in sent["messages"]]
    assert texts == previewed(bench) == ["Customer: Ana", "Do you sell tents"]


def test_values_follow_a_prompt_that_is_saved_for_the_first_time(
    qtbot: QtBot, bench: Workbench, tmp_path: Path
) -> None:
    bench.window.actions_by_id["file.new"].trigger()
    qtbot.waitUntil(lambda: bench.is_settled)
    bench.inputs_pane.set_values({"question": "Why?"})
    page = bench.window.tabs.current
    assert page is not None
    assert page.controller.save(tmp_path / "why.prompty")
    qtbot.waitUntil(lambda: bench.inputs_pane.library.can_keep and bench.is_settled)
    assert bench.inputs_pane.values() == {"question": "Why?"}


def test_two_prompts_that_were_never_saved_have_values_of_their_own(
    qtbot: QtBot, bench: Workbench, tmp_path: Path
) -> None:
    pages = []
    for value in ("one", "two"):
        bench.window.actions_by_id["file.new"].trigger()
        qtbot.waitUntil(lambda: bench.is_settled)
        assert bench.inputs_pane.values() == {}
        bench.inputs_pane.set_values({"question": value})
        pages.append(bench.window.tabs.current)
    assert pages[0] is not None
    assert pages[0].controller.save(tmp_path / "one.prompty")  # while the other one is shown
    assert bench.inputs_pane.values() == {"question": "two"}
    bench.window.tabs.sides.select(pages[0])
    qtbot.waitUntil(lambda: bench.inputs_pane.values() == {"question": "one"})
    assert bench.inputs_pane.form.values() == {"question": "one"}


def test_a_problem_that_the_preview_found_does_not_flicker_while_the_user_types(
    qtbot: QtBot, bench: Workbench, tmp_path: Path
) -> None:
    path = tmp_path / "picture.prompty"
    path.write_text("user:\nLook: ![image](gone.png)\n", encoding="utf-8")
    bench.trust.trust(tmp_path)
    page = bench.window.tabs.open(path)
    assert page is not None

    def place() -> str:
        source = page.editor.source()
        found = [each for each in page.editor.problems if each.code == "media-missing"]
        return source.slice(found[0].span) if found else ""

    qtbot.waitUntil(lambda: place() != "")
    before, seen = place(), list[str]()
    bench.window.page_coordinator.document_changed.connect(lambda _: seen.append(place()))
    page.editor.set_caret(page.editor.text().index("Look"))
    qtbot.keyClicks(page.editor, "Please ")
    qtbot.waitUntil(lambda: bool(seen) and bench.is_settled)
    assert set(seen) == {before}


def test_a_run_says_that_it_has_an_earlier_text_and_offers_the_present_one(
    qtbot: QtBot, bench: Workbench, triage: Path, server: ChatServer
) -> None:
    page = bench.window.tabs.current
    assert page is not None
    head = bench.run_pane.head
    qtbot.keyClick(page.editor, Qt.Key.Key_F10)
    qtbot.waitUntil(lambda: bench.run.view.is_waiting and head.prompt.isVisible())
    assert not head.present.isVisible()
    page.editor.set_caret(page.editor.text().index("Customer"))
    qtbot.keyClicks(page.editor, "Our ")
    qtbot.waitUntil(head.present.isVisible)
    assert head.about.whole.startswith("earlier text")
    qtbot.keyClick(page.editor, Qt.Key.Key_F5)
    qtbot.waitUntil(lambda: bench.run.state is not None and bench.run.state.is_over)
    assert head.present.isVisible(), "what is shown was not sent by the text as it is"
    qtbot.mouseClick(head.present, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not head.present.isVisible())
    qtbot.waitUntil(lambda: bench.run.state is not None and bench.run.state.is_over)
    sent = [each.body["messages"][0] for each in server.requests if each.method == "POST"]
    assert [each["content"] for each in sent] == [TEXTS[0], f"Our {TEXTS[0]}"]


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_a_run_takes_the_text_that_is_shown_though_it_was_changed_a_moment_before(
    qtbot: QtBot, bench: Workbench, tmp_path: Path, server: ChatServer
) -> None:
    page, samples = open_with_samples(qtbot, bench, tmp_path)
    path = page.controller.path
    assert path is not None
    before = path.read_text(encoding="utf-8"), samples.read_text(encoding="utf-8")

    def run() -> str:
        count = len(server.requests)
        qtbot.keyClick(page.editor, Qt.Key.Key_F5)
        posted = "POST"
        qtbot.waitUntil(lambda: any(each.method == posted for each in server.requests[count:]))
        qtbot.waitUntil(lambda: bench.run.state is not None and bench.run.state.is_over)
        (sent,) = [each.body for each in server.requests[count:] if each.method == posted]
        return str(sent["messages"][0]["content"])

    assert page.names.rename_to("town")
    qtbot.waitUntil(lambda: bench.is_settled and previewed(bench) == ["Go to Oslo"])
    samples.write_text(before[1], encoding="utf-8")
    path.write_text(before[0], encoding="utf-8")  # as `git checkout .` does
    qtbot.waitUntil(lambda: page.editor.text() == before[0])
    assert run() == "Go to Oslo"
    assert samples.read_text(encoding="utf-8") == before[1]
    page.editor.set_caret(page.editor.text().index("Go"))
    page.editor.setFocus()
    qtbot.keyClicks(page.editor, "Please ")
    assert run() == "Please Go to Oslo"


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not here")
def test_the_diff_tab_offers_the_last_run_and_the_commits(
    qtbot: QtBot, bench: Workbench, triage: Path, server: ChatServer
) -> None:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    for words in (("init", "-q"), ("add", "."), (*who, "commit", "-q", "-m", "First")):
        subprocess.run(["git", *words], cwd=triage.parent, check=True)
    page = bench.window.tabs.current
    assert page is not None
    assert ask(qtbot, bench, server) == TEXTS
    page.editor.set_caret(page.editor.text().index("Customer"))
    page.editor.setFocus()
    qtbot.keyClicks(page.editor, "Our ")
    bench.inputs_pane.library.give("ticket", "Where is my order?")
    qtbot.waitUntil(lambda: previewed(bench)[0] == f"Our {TEXTS[0]}")
    bench.window.docks.show("preview")
    bench.preview_pane.tabs.setCurrentIndex(2)
    diff = bench.preview_pane.diff
    qtbot.waitUntil(lambda: diff.before.count() == 5)
    offered = [diff.before.itemText(index) for index in range(3, 5)]
    assert offered[0] == "Last run"
    assert offered[1].endswith(" First")

    def compare_with(index: int) -> str:
        diff.before.setCurrentIndex(index)
        diff.before.activated.emit(index)
        title = diff.before.itemText(index)
        qtbot.waitUntil(
            lambda: diff.compared is not None and diff.compared.pair.before.title == title
        )
        return diff.view.toPlainText()

    shown = compare_with(3)
    assert f"− {TEXTS[0]}" in shown
    assert f"− {TEXTS[1]}" in shown
    assert "+ Where is my order?" in shown
    shown = compare_with(4)
    assert f"− {TEXTS[0]}" in shown
    assert TEXTS[1] not in shown, "a commit is compared with the same values"
