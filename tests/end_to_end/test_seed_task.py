"""The published documents in the real window: what they say is seen, asked for and sent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from studio.ui.app.workbench import Workbench
from studio.ui.inputs.fields import TextField

Open = Callable[[Path], Workbench]


def shown(workbench: Workbench) -> str:
    """All text of the preview's cards."""
    cards = workbench.preview_pane.messages.cards
    return "\n".join(body.toPlainText() for card in cards for body in card.bodies)


def open_text(open_workbench: Open, folder: Path, text: str) -> Workbench:
    path = folder / "prompt.prompty"
    path.write_text(text, encoding="utf-8")
    workbench = open_workbench(path)
    workbench.window.docks.show("inputs")
    return workbench


def test_a_parameter_is_asked_for_and_sent(
    qtbot: QtBot, open_workbench: Open, scripted: Callable[..., None], tmp_path: Path
) -> None:
    scripted("Hello.")
    workbench = open_text(open_workbench, tmp_path, "user:\nGreet ${params:who} now.\n")
    page = workbench.window.tabs.current
    assert page is not None
    with qtbot.waitSignal(workbench.window.services.messages.noticed) as refused:
        qtbot.keyClick(page.editor, Qt.Key.Key_F5)
    assert refused.args[0].what.startswith("The parameter 'who' has no value")
    field = workbench.inputs_pane.form.rows["who"].editor
    assert isinstance(field, TextField)
    assert field.text.hasFocus()  # the refusal leads to where the value goes
    qtbot.keyClicks(field.text, "Ann")
    qtbot.waitUntil(lambda: "Greet Ann now." in shown(workbench))
    preview = workbench.preview.preview
    assert preview is not None
    assert (dict(preview.prepared.inputs), preview.samples) == ({"who": "Ann"}, frozenset())
    qtbot.keyClick(page.editor, Qt.Key.Key_F5)
    qtbot.waitUntil(lambda: workbench.run.state is not None)
    qtbot.waitUntil(lambda: not workbench.run.is_live)
    state = workbench.run.state
    assert state is not None
    assert state.status == "done"
    assert next(iter(state.conversation)).text == "Greet Ann now."
