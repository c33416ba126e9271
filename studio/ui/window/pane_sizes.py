"""How wide and high panes are, in pixels: what the user gave them, within the window's room."""

from __future__ import annotations

from dataclasses import dataclass

LEAST_RUN = 560
"""What its rows would like to have is more; they are cut at their ends before the editor is."""
LEAST_HALF = 320
"""Of an editor that is split: the side bar is its icons before a half is narrower than this."""
SIDE_WIDTH = 248
BOTTOM_HEIGHT = 200
_LEAST_EDITOR = 360
"""Beside a run and the side bar: a pane that comes takes its room from the run."""
_COLUMN_WIDTH, _COLUMN_WIDTH_SMALL = 440, 400
_WIDE = 1400
_RUN_SHARE = 0.6
_MOST = 0.75
"""Of the window's width, for whatever stands on the right."""
_MOST_INPUTS = 0.28
"""Of the window's height: the cards below need the rest."""


@dataclass(frozen=True, slots=True)
class PaneSizes:
    """The sizes that the user gave, in pixels; widths, but for the panel below the editor."""

    side: int = SIDE_WIDTH
    """Of the side bar while writing; a pane that needs more takes it."""
    column: int | None = None
    """Of the right column while writing; none: the usual one."""
    bottom: int = BOTTOM_HEIGHT
    """Height of the panel below the editor."""
    run: int | None = None
    """Of a run beside the editor alone; none: the usual one."""

    def column_in(self, window: int) -> int:
        """The column's width beside the editor.

        Args:
            window: the window's width in pixels.
        """
        usual = _COLUMN_WIDTH if window >= _WIDE else _COLUMN_WIDTH_SMALL
        return min(usual if self.column is None else self.column, int(window * _MOST))

    def run_in(self, window: int, halves: int) -> int:
        """The run's width beside so many halves of the editor, and no side bar."""
        usual = max(LEAST_RUN, int(window * _RUN_SHARE) - (halves - 1) * LEAST_HALF // 2)
        return min(usual if self.run is None else self.run, int(window * _MOST))

    def beside_run(self, window: int, strip: int, least: int) -> tuple[int, int]:
        """The widths of the side bar and of the run beside it: the editor keeps its room.

        Args:
            window: the window's width in pixels.
            strip: the width of the icons at the left edge.
            least: what the pane of the side bar needs.
        """
        side = max(self.side, least)
        room = window - strip - side - _LEAST_EDITOR
        return side, max(LEAST_RUN, min(room, int(window * _RUN_SHARE)))


def inputs_height(wanted: int, window: int) -> int:
    """The height of the inputs above the preview: what their form wants, or their share."""
    return min(wanted, int(window * _MOST_INPUTS))
