"""Measures the window in a process of its own, for a screen at 200 %; prints one line of JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from tests.support.cut_words import cut_words
from tests.ui.window.test_layout import overlapping, rows_and_columns
from tests.ui.window.test_layout_paused import paused


def main() -> None:
    application = QApplication([])
    folder = Path(sys.argv[1])
    bench = paused(folder / "home", folder)
    window = bench.window
    window.show()
    page = window.tabs.current
    assert page is not None
    loop, ticks = QEventLoop(), QTimer()

    def look() -> None:
        if bench.is_settled and page.editor.folding.is_closed(0):
            loop.quit()

    ticks.timeout.connect(look)
    ticks.start(20)
    loop.exec()
    ticks.stop()
    application.processEvents()
    picture = window.grab().toImage()
    rows, columns = rows_and_columns(page)
    print(
        json.dumps(
            {
                "ratio": picture.devicePixelRatio(),
                "picture": [picture.width(), picture.height()],
                "rows": rows,
                "columns": columns,
                "right": window.docks["preview"].width(),
                "cards": bench.preview_pane.messages.height(),
                "overlapping": overlapping(window),
                "cut": cut_words(window),
                "sharp": is_sharp(picture),
            }
        )
    )
    window.close()
    bench.close()


def is_sharp(picture: QImage) -> bool:
    """Whether neighbors within a doubled pixel differ somewhere: stretched pictures never do."""
    return any(
        picture.pixel(x, y) != picture.pixel(x + 1, y)
        for y in range(0, picture.height(), 6)
        for x in range(0, picture.width() - 1, 2)
    )


if __name__ == "__main__":
    main()
