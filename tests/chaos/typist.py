"""A studio in a process of its own, in which somebody types into a prompt and runs it.

    python tests/chaos/typist.py FILE [alone]

Says `typed N` whenever so many words stand in the text, and now and then which notices are shown.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from PySide6.QtCore import QTimer

from studio.app import Studio

KEY_MS = 30
WORD = "word{number} "


def main() -> int:
    """Type until the process is ended."""
    file, alone = Path(sys.argv[1]), "alone" in sys.argv[2:]
    studio = Studio(alone=alone)
    number = 0

    def press() -> None:
        nonlocal number
        page = studio.window.tabs.current
        if studio.workbench is None or page is None:
            return
        number += 1
        page.editor.textCursor().insertText(WORD.format(number=number))
        print("typed", number, flush=True)
        if number % 10 == 0:
            print("said", [each.what for each in studio.window.notices.notices], flush=True)
        if number % 20 == 10 and not studio.workbench.run.is_live:
            studio.workbench.run_coordinator.start(at_entry=False)

    timer = QTimer(interval=KEY_MS)
    timer.timeout.connect(press)
    timer.start()
    return studio.run([file])


if __name__ == "__main__":
    sys.exit(main())
