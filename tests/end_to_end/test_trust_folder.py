"""Trust in the real window: asked once for the opened folder, shown, and taken back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QToolButton
from pytestqt.qtbot import QtBot

from studio.core.tools.trust.store import TrustStore
from studio.ui.app.workbench import Workbench
from studio.ui.inputs.compound import ThreadField
from studio.ui.preview.cards.card import MediaView
from studio.ui.tools.pane import ConsentDialog
from tests.support.modal import answering

Open = Callable[[Path], Workbench]
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

PROMPT = "---\nname: x\nsample:\n  products: ${file:products.json}\n---\nuser:\n"
BODY = "{% for item in products %}{{ item.title }}{% endfor %}\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("writer", "editor"):
        folder = tmp_path / "project" / name
        folder.mkdir(parents=True)
        (folder / "products.json").write_text(f'[{{"title": "{name} tent"}}]', encoding="utf-8")
        (folder / f"{name}.prompty").write_text(PROMPT + BODY, encoding="utf-8")
    return tmp_path / "project"


def cell(workbench: Workbench) -> QToolButton:
    buttons = workbench.window.parts.status.findChildren(QToolButton)
    return next(each for each in buttons if each.accessibleName() == "Trust in the folder")


def offer(workbench: Workbench, *, by_menu: bool = False) -> Callable[[], None]:
    """Click the cell, or choose the menu's entry; gives what the first entry offered does."""
    if by_menu:
        workbench.window.actions_by_id["tools.trust"].trigger()
    else:
        cell(workbench).click()
    menu = next(
        each
        for each in QApplication.topLevelWidgets()
        if isinstance(each, QMenu) and each.isVisible()
    )
    action = menu.actions()[0]
    menu.close()
    return action.trigger


def previewed(workbench: Workbench) -> str:
    preview = workbench.preview.preview
    assert preview is not None
    return "".join(each.text for each in preview.messages.messages)


def notices(workbench: Workbench) -> list[str]:
    return [each.where for each in workbench.window.notices.notices if each.key == "trust"]


def test_trust_is_asked_once_for_the_opened_folder_and_taken_back_by_a_click(
    qtbot: QtBot, project: Path, open_workbench: Open, user_home: Path
) -> None:
    store = TrustStore(user_home / "data" / "trust.json")
    workbench = open_workbench(project / "writer" / "writer.prompty")
    assert notices(workbench) == [str(project / "writer")], "no folder is open yet"
    workbench.window.commands.files.show_folder(project)
    assert notices(workbench) == [str(project.resolve())], "the opened folder is asked for"
    # Before trust the files are shown, and nothing more is asked.
    qtbot.waitUntil(lambda: "writer tent" in previewed(workbench))
    assert cell(workbench).text().strip() == "Restricted"
    workbench.window.tabs.open(project / "editor" / "editor.prompty")
    qtbot.waitUntil(lambda: "editor tent" in previewed(workbench))
    assert not store.is_trusted(project / "editor")

    asked: list[str] = []

    def agree(dialog: ConsentDialog) -> None:
        asked.append(dialog.words.text())
        dialog.agree.click()

    with answering(ConsentDialog, agree):
        offer(workbench)()
    assert str(project) in asked[0]
    qtbot.waitUntil(lambda: cell(workbench).text().strip() == "Trusted")
    assert store.current.folders >= {project.resolve()}
    assert store.is_trusted(project / "writer")
    qtbot.waitUntil(lambda: notices(workbench) == [])

    offer(workbench, by_menu=True)()
    qtbot.waitUntil(lambda: cell(workbench).text().strip() == "Restricted")
    assert not store.is_trusted(project / "writer")
    qtbot.waitUntil(lambda: workbench.is_settled)


def test_what_is_shown_before_trust_is_not_sent(
    qtbot: QtBot, project: Path, open_workbench: Open
) -> None:
    workbench = open_workbench(project / "writer" / "writer.prompty")
    workbench.window.commands.files.show_folder(project)
    qtbot.waitUntil(lambda: "writer tent" in previewed(workbench))
    workbench.window.actions_by_id["run.start"].trigger()
    notices = workbench.window.notices
    refused = "not read in an untrusted folder"
    qtbot.waitUntil(lambda: any(refused in each.what for each in notices.notices))
    assert workbench.run.state is None


def test_a_picture_is_decoded_only_in_a_trusted_folder(
    project: Path, qtbot: QtBot, open_workbench: Open
) -> None:
    image = QImage(300, 200, QImage.Format.Format_RGB32)
    image.fill(QColor("#3377aa"))
    assert image.save(str(project / "writer" / "pic.png"))
    prompt = project / "writer" / "writer.prompty"
    prompt.write_text("---\nname: x\n---\nuser:\n![image](pic.png)\n", encoding="utf-8")
    workbench = open_workbench(prompt)

    def notes() -> list[str]:
        views = workbench.preview_pane.findChildren(MediaView)
        return [label.text() for view in views for label in view.findChildren(QLabel)]

    qtbot.waitUntil(lambda: any("its folder is not trusted" in note for note in notes()))
    assert not any("300" in note for note in notes())
    with answering(ConsentDialog, lambda dialog: dialog.agree.click()):
        offer(workbench)()
    qtbot.waitUntil(lambda: any("300 × 200" in note for note in notes()))
    qtbot.waitUntil(lambda: workbench.is_settled)


def test_a_conversation_shown_before_trust_is_not_taken_as_a_value(
    qtbot: QtBot, tmp_path: Path, open_workbench: Open
) -> None:
    folder = tmp_path / "chat"
    folder.mkdir()
    (folder / "talk.json").write_text('[{"role": "user", "content": "planted"}]', encoding="utf-8")
    path = folder / "talk.prompty"
    path.write_text(
        "---\nname: x\ninputs:\n  talk: {kind: thread, sample: '${file:talk.json}'}\n---\n"
        "system:\nHi\n\n![thread]\n",
        encoding="utf-8",
    )
    workbench = open_workbench(path)
    workbench.window.commands.files.show_folder(folder)
    qtbot.waitUntil(lambda: "planted" in previewed(workbench))
    editor = workbench.inputs_pane.form.rows["talk"].editor
    assert isinstance(editor, ThreadField)
    editor.start_button.click()
    assert workbench.inputs_pane.values() == {}
    workbench.tools.trust_folder(folder)
    qtbot.waitUntil(lambda: workbench.is_settled)
    workbench.inputs_pane.form.rows["talk"].editor.start_button.click()
    assert "planted" in str(workbench.inputs_pane.values())


def said(workbench: Workbench) -> str:
    return "\n".join(each.what for each in workbench.window.notices.notices)


@pytest.mark.parametrize("damage", ["bytes", "folder"])
def test_a_list_that_cannot_be_read_is_said_and_stays(
    qtbot: QtBot, open_workbench: Open, project: Path, user_home: Path, damage: str
) -> None:
    held = user_home / "data" / "trust.json"
    if damage == "bytes":
        held.parent.mkdir()
        held.write_text('{"folders": ["/ma', encoding="utf-8")
    else:
        held.mkdir(parents=True)
    workbench = open_workbench(project / "writer" / "writer.prompty")
    assert "no folder counts as trusted" in said(workbench)
    assert damage == "folder" or held.read_text(encoding="utf-8") == '{"folders": ["/ma'
    workbench.tools.trust_folder(project / "writer")
    qtbot.waitUntil(lambda: workbench.is_settled)
    assert workbench.trust.is_trusted(project / "writer") == (damage == "bytes")
    assert ("This cannot be kept" in said(workbench)) == (damage == "folder")
