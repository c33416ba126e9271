"""The lines behind the moment of a run, lit in the editor; the caret stays where it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtGui import QTextBlock

from studio.core.text.span import Span

if TYPE_CHECKING:
    from studio.ui.editor.text.gutter import Gutter
    from studio.ui.editor.text.prompt_view import PromptView


class RunLines:
    """Marks whole lines, and brings the first into sight."""

    def __init__(self, editor: PromptView, gutter: Gutter) -> None:
        self._editor = editor
        self._gutter = gutter
        self._spans: tuple[Span, ...] = ()

    @property
    def spans(self) -> tuple[Span, ...]:
        """What is lit."""
        return self._spans

    def show(self, spans: Sequence[Span]) -> None:
        """Light the lines of these places; none where there are none."""
        is_new, self._spans = tuple(spans) != self._spans, tuple(spans)
        lines = self._lines()
        self._editor.marks.set_run(lines)
        self._gutter.set_run(frozenset(lines))
        if lines and is_new:
            self._bring(self._editor.document().findBlockByNumber(lines[0]))

    def paint_again(self) -> None:
        """The colors are others."""
        self.show(self._spans)

    def _lines(self) -> list[int]:
        """The lines, from 0; of a place that is folded away the line that it is folded behind."""
        source, document = self._editor.source(), self._editor.document()
        lines: set[int] = set()
        for span in self._spans:
            last = max(span.start, span.end - 1)
            for number in range(source.line_of(span.start), source.line_of(last) + 1):
                block = document.findBlockByNumber(number)
                while block.isValid() and not block.isVisible():
                    block = block.previous()
                lines.add(max(0, block.blockNumber()))
        return sorted(lines)

    def _bring(self, block: QTextBlock) -> None:
        """Scroll only where the line is out of sight: the text stands still while one steps."""
        editor = self._editor
        shown = [each.blockNumber() for each, _, _ in editor.visible_blocks()]
        if shown and not shown[0] <= block.blockNumber() < shown[-1]:
            bar = editor.verticalScrollBar()
            bar.setValue(block.firstLineNumber() - bar.pageStep() // 3)
