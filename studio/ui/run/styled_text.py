"""Read-only text made of `Block` values; a growing text is extended, not rebuilt."""

from collections.abc import Callable
from dataclasses import replace

from PySide6 import QtGui
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QTextEdit

from studio.application.run.text import Block, BlockKind, Blocks, Piece, Style
from studio.application.words import tr
from studio.core.text.diff import common_start
from studio.core.text.invisible import reveal
from studio.ui.style.theme import (
    CHANGED_TINT,
    FollowsTheme,
    Theme,
    blend,
    mono_font,
    paint_page,
    role_color,
    theme_in_use,
    ui_font,
)

_MARGIN = 12.0
_LINE = "\u2028"
_LONGEST_LINE = 50_000
"""Maximum number of characters in a laid-out line: Qt needs minutes for a million."""
_TINTED: tuple[BlockKind, ...] = ("added", "removed", "gone", "same", "warning", "error")


class StyledText(FollowsTheme, QTextEdit):
    """Shows blocks of text, which can be selected, copied and searched."""

    fold_clicked = Signal()  # folded lines were clicked

    def __init__(self, name: str, empty: str) -> None:
        """Create an empty view.

        Args:
            name: accessible name.
            empty: sentence of the empty view.
        """
        super().__init__()
        self.blocks: Blocks = ()
        """The shown blocks."""
        self._starts: list[int] = []  # position of each block in the document
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(name)
        self.setPlaceholderText(empty)
        self.setWordWrapMode(QtGui.QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.document().setDocumentMargin(_MARGIN)
        self.follow_theme()

    def recolor(self) -> None:
        """Use the colors of the current theme."""
        paint_page(self)
        blocks, self.blocks = self.blocks, ()
        place = self.verticalScrollBar().value()
        self.show_blocks(blocks)
        self.verticalScrollBar().setValue(place)

    def show_blocks(self, blocks: Blocks, *, follow: bool = False) -> None:
        """Show blocks and update only those that differ.

        Args:
            blocks: all blocks.
            follow: keep the end visible if it is visible now.
        """
        bar = self.verticalScrollBar()
        at_end = bar.value() >= bar.maximum() - 4
        place = bar.value()
        cut = tr("shortened; Copy copies the whole line")
        blocks = tuple(_with_short_lines(block, f" … [{cut}]") for block in blocks)
        same = common_start(self.blocks, blocks)
        if same == len(self.blocks) == len(blocks):
            return
        cursor = QtGui.QTextCursor(self.document())
        cursor.beginEditBlock()
        if not self._grow(cursor, same, blocks):
            self.setTextCursor(QtGui.QTextCursor(self.document()))  # a selection of the old text
            self._cut(cursor, same)
            for block in blocks[same:]:
                self._append(cursor, block)
        cursor.endEditBlock()
        self.blocks = blocks
        if follow and at_end:
            bar.setValue(bar.maximum())
        elif same:
            bar.setValue(place)
        else:
            bar.setValue(0)

    def show_block(self, index: int) -> None:
        """Scroll to a block with some lines above it."""
        if not 0 <= index < len(self._starts):
            return
        cursor = QtGui.QTextCursor(self.document())
        cursor.setPosition(self._starts[index])
        top = self.cursorRect(cursor).top() + self.verticalScrollBar().value()
        self.verticalScrollBar().setValue(max(0, top - 3 * self.fontMetrics().height()))

    def find_next(self, text: str) -> bool:
        """Select the next match of `text`, wrapping at the end; return False if there is none."""
        if self.find(text):
            return True
        self.moveCursor(QtGui.QTextCursor.MoveOperation.Start)
        return bool(text) and self.find(text)

    def mouseReleaseEvent(self, event: QtGui.QMouseEvent) -> None:
        """Unfold folded lines on a click."""
        super().mouseReleaseEvent(event)
        if self.textCursor().hasSelection():
            return
        position = self.cursorForPosition(event.position().toPoint()).position()
        for index in range(len(self._starts) - 1, -1, -1):
            if self._starts[index] <= position:
                if self.blocks[index].kind == "same":
                    self.fold_clicked.emit()
                return

    def _grow(self, cursor: QtGui.QTextCursor, same: int, blocks: Blocks) -> bool:
        """Append text in the common case of a stream: only the last block grew at its end."""
        if same != len(self.blocks) - 1 or same != len(blocks) - 1:
            return False
        old, new = self.blocks[same], blocks[same]
        if old.kind != new.kind or not old.pieces or len(old.pieces) > len(new.pieces):
            return False
        count = len(old.pieces) - 1
        last, grown = old.pieces[count], new.pieces[count]
        if old.pieces[:count] != new.pieces[:count] or last.style != grown.style:
            return False
        if not grown.text.startswith(last.text):
            return False
        cursor.movePosition(QtGui.QTextCursor.MoveOperation.End)
        rest = (Piece(grown.text[len(last.text) :], grown.style), *new.pieces[count + 1 :])
        self._insert(cursor, new, rest)
        return True

    def _cut(self, cursor: QtGui.QTextCursor, same: int) -> None:
        if same >= len(self._starts):
            return
        # A block starts after the paragraph mark before it, which is removed as well.
        cursor.setPosition(max(0, self._starts[same] - 1))
        cursor.movePosition(
            QtGui.QTextCursor.MoveOperation.End, QtGui.QTextCursor.MoveMode.KeepAnchor
        )
        cursor.removeSelectedText()
        if not same:
            cursor.setBlockFormat(QtGui.QTextBlockFormat())  # the last paragraph cannot be removed
        del self._starts[same:]

    def _append(self, cursor: QtGui.QTextCursor, block: Block) -> None:
        cursor.movePosition(QtGui.QTextCursor.MoveOperation.End)
        look = self._block_format(block)
        if self._starts:
            cursor.insertBlock(look)
        else:
            cursor.setBlockFormat(look)
        self._starts.append(cursor.position())
        self._insert(cursor, block, block.pieces)

    def _insert(self, cursor: QtGui.QTextCursor, block: Block, pieces: tuple[Piece, ...]) -> None:
        for piece in pieces:
            if piece.text:
                # A tinted block is one paragraph: between paragraphs, the tint has gaps.
                text = reveal(piece.text)
                text = text.replace("\n", _LINE) if block.kind in _TINTED else text
                cursor.insertText(text, self._char_format(block, piece.style))

    def _block_format(self, block: Block) -> QtGui.QTextBlockFormat:
        theme = theme_in_use()
        look = QtGui.QTextBlockFormat()
        tints: dict[BlockKind, tuple[str, float]] = {
            "added": (theme.accent, 0.10),
            "removed": (theme.muted, 0.08),
            "gone": (theme.muted, 0.08),
            "warning": (theme.warning, 0.12),
            "error": (theme.error, 0.12),
            "same": (theme.muted, 0.10),
        }
        if block.kind in tints:
            color, share = tints[block.kind]
            look.setBackground(QtGui.QColor(blend(color, theme.surface, share)))
        if block.kind in ("role", "title"):
            look.setTopMargin(10.0 if self._starts else 0.0)
            look.setBottomMargin(4.0)
        elif block.kind in ("warning", "error", "note", "rule"):
            look.setBottomMargin(2.0)
            look.setTopMargin(4.0 if block.kind == "rule" else 0.0)
        look.setLineHeight(125.0, QtGui.QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        return look

    def _char_format(self, block: Block, style: Style) -> QtGui.QTextCharFormat:
        look = QtGui.QTextCharFormat()
        size = self.font().pointSizeF()
        heading = block.kind in ("role", "title", "warning", "error", "note", "rule", "same")
        look.setFont(ui_font(size) if heading else mono_font(size))
        look.setForeground(QtGui.QColor(self._color(block, style)))
        if style == "strong":
            look.setFontWeight(QtGui.QFont.Weight.DemiBold)
        if style == "ignored":
            look.setFontStrikeOut(True)
        if style in ("reasoning", "thought"):
            look.setFontItalic(style == "reasoning")
        if block.kind == "removed":
            look.setFontStrikeOut(True)
        if style == "changed" and block.kind in ("added", "gone"):
            theme = theme_in_use()
            color = theme.accent if block.kind == "added" else theme.muted
            look.setForeground(QtGui.QColor(theme.text))  # the color is too pale on that background
            look.setBackground(QtGui.QColor(blend(color, theme.surface, CHANGED_TINT)))
            look.setFontUnderline(block.kind == "added")
            look.setFontStrikeOut(block.kind == "gone")
        return look

    def _color(self, block: Block, style: Style) -> str:
        theme = theme_in_use()
        if block.kind == "role" and style == "strong":
            return role_color(theme, block.role)
        if block.kind == "error":
            return theme.error
        if block.kind == "warning":
            return theme.warning
        pick: dict[Style, Callable[[Theme], str]] = {
            "muted": lambda t: t.muted,
            "key": lambda t: t.accent,
            "string": lambda t: t.success,
            "number": lambda t: t.warning,
            "word": lambda t: t.roles["system"],
            "thought": lambda t: t.roles["system"],
            "label": lambda t: t.muted,
            "tool": lambda t: t.accent,
            "args": lambda t: t.warning,
            "answer": lambda t: t.success,
            "reasoning": lambda t: t.muted,
            "ignored": lambda t: t.muted,
        }
        return pick[style](theme) if style in pick else theme.text


def _with_short_lines(block: Block, mark: str) -> Block:
    """Return a block whose lines can be laid out; a mark is at the end of each shortened line."""
    if all(len(piece.text) <= _LONGEST_LINE for piece in block.pieces):
        return block

    def short(line: str) -> str:
        return line if len(line) <= _LONGEST_LINE else line[:_LONGEST_LINE] + mark

    pieces = (
        replace(piece, text="\n".join(map(short, piece.text.split("\n")))) for piece in block.pieces
    )
    return replace(block, pieces=tuple(pieces))
