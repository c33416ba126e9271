"""The studio in a window of its own process, for tests that press real keys.

    python window_child.py FILE

For every line on standard input it writes one line of JSON: what is shown, and where on the screen
the things are that a test wants to click. The test's own process presses the keys, with xdotool.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from PySide6.QtCore import QPoint, QSocketNotifier
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QApplication, QWidget

from studio.core.paths import user_paths
from studio.ui.app.workbench import Workbench
from studio.ui.base.services import build_services


def place_of(widget: QWidget, x: int, y: int) -> tuple[int, int]:
    """A point of a widget on the screen."""
    point = widget.mapToGlobal(QPoint(x, y))
    return (point.x(), point.y())


def state(workbench: Workbench) -> dict[str, object]:
    """What a person sees."""
    window, pane = workbench.window, workbench.preview_pane
    page = window.tabs.current
    if page is None or not workbench.is_settled or not pane.messages.is_settled:
        return {"ready": False}
    editor = page.editor
    caret = editor.textCursor()
    cards = pane.messages.cards
    rows = pane.probe_panel.list
    return {
        "ready": window.isActiveWindow(),
        "text": editor.text(),
        "line": caret.blockNumber() + 1,
        "selected": caret.selectedText(),
        "editor": place_of(editor.viewport(), 60, editor.viewport().height() - 10),
        "cards": ["\n".join(body.toPlainText() for body in card.bodies) for card in cards],
        "roles": [card.data.message.role for card in cards if card.data is not None],
        "lit": [card.is_lit for card in cards],
        "headers": [place_of(card, card.width() // 2, 8) for card in cards],
        "words": {word: _word(workbench, word) for word in ("Lisbon",)},
        "dimmed": pane.messages.is_dimmed,
        "banner": pane.banner.text if pane.banner.isVisible() else "",
        "banner_place": place_of(pane.banner, pane.banner.width() // 2, 10),
        "more": place_of(pane.bar.more, 10, 10),
        "probe_said": pane.probe_panel.summary.text() if pane.probe_panel.isVisible() else "",
        "holes": [rows.item(index).text() for index in range(rows.count())],
        "first_hole": place_of(rows.viewport(), 60, 8),
    }


def _word(workbench: Workbench, word: str) -> tuple[int, int] | None:
    """Where the first card that holds a word shows it."""
    for card in workbench.preview_pane.messages.cards:
        for body in card.bodies:
            at = body.toPlainText().find(word)
            if at >= 0:
                cursor = QTextCursor(body.document())
                cursor.setPosition(at + 2)
                point = body.cursorRect(cursor).center()
                return place_of(body.viewport(), point.x() + 2, point.y())
    return None


def main() -> int:
    """Show the window until standard input ends."""
    application = QApplication(sys.argv[:1])
    workbench = Workbench(build_services(user_paths()))
    window = workbench.window
    window.setGeometry(0, 0, 1280, 800)
    window.show()
    window.tabs.open(Path(sys.argv[1]))
    notifier = QSocketNotifier(sys.stdin.fileno(), QSocketNotifier.Type.Read)

    def answer() -> None:
        if not sys.stdin.readline():
            application.quit()
            return
        print(json.dumps(state(workbench)), flush=True)

    notifier.activated.connect(answer)
    application.exec()
    for page in window.tabs.pages():
        page.editor.document().setModified(False)
    window.close()
    workbench.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
