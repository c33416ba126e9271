"""The studio in a window of its own process, for a debugging task that is done with real keys.

    python run_child.py FILE

For every line on standard input it writes one line of JSON: where the run stands and what has the
keyboard. The test's own process presses the keys, with xdotool.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from PySide6.QtCore import QSocketNotifier
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QMenu, QPushButton

from studio.core.paths import user_paths
from studio.ui.app.workbench import Workbench
from studio.ui.base.services import build_services


def state(workbench: Workbench) -> dict[str, object]:
    """What a person sees."""
    window, pane, run = workbench.window, workbench.run_pane, workbench.run.state
    page = window.tabs.current
    popup = QApplication.activePopupWidget()
    active = popup.activeAction() if isinstance(popup, QMenu) else None
    card = pane.timeline.current_card
    focus = QApplication.focusWidget()
    dialog = window.findChild(QFileDialog)
    if dialog is not None and dialog.isVisible() and QApplication.activeWindow() is None:
        dialog.activateWindow()  # a busy window manager may leave nobody with the keyboard
    return {
        "ready": page is not None and workbench.is_settled,
        "active": window.isActiveWindow(),
        "line": page.editor.textCursor().blockNumber() + 1 if page is not None else 0,
        "stops": [each.tool for each in workbench.run.breakpoints.value.breakpoints],
        "place": run.pause.place if run is not None and run.pause is not None else "",
        "over": run is not None and run.is_over,
        "answer": run.answer if run is not None else None,
        "arguments": [call.arguments for step in run.steps for call in step.calls] if run else [],
        "card": card.kind if card is not None else "",
        "focus": type(focus).__name__,
        "button": focus.text() if isinstance(focus, QPushButton) else "",
        "in_timeline": pane.timeline.hasFocus(),
        "editing": pane.editor.isVisible() and pane.editor.field.hasFocus(),
        "branches": len(pane.view.branches),
        "line_of_menu": active.text() if active is not None else "",
        "palette": window.commands.chooser.palette.isVisible(),
        "comparing": pane.comparing.isVisible(),
        "compares_by_keys": pane.comparing.isActiveWindow(),
        "compared": [pane.comparing.left.toPlainText(), pane.comparing.right.toPlainText()],
        # With the keyboard: a key that is pressed before it has it goes to the window below.
        "dialog": dialog is not None and dialog.isActiveWindow(),
        "path": dialog.findChild(QLineEdit).text() if dialog is not None else "",
        "said": [each.what for each in window.notices.notices],
    }


def main() -> None:
    """Open the file, and answer until nobody asks any more."""
    application = QApplication(sys.argv[:1])
    workbench = Workbench(build_services(user_paths()))
    window = workbench.window
    window.show()
    window.activateWindow()
    window.tabs.open(Path(sys.argv[1]))

    def answer() -> None:
        if not sys.stdin.readline():
            application.quit()
            return
        print(json.dumps(state(workbench)), flush=True)

    listener = QSocketNotifier(0, QSocketNotifier.Type.Read)
    listener.activated.connect(answer)
    application.exec()
    listener.setEnabled(False)
    for page in window.tabs.pages():
        page.editor.document().setModified(False)
    window.close()
    workbench.close()


if __name__ == "__main__":
    main()
