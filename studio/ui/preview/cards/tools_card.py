"""The tools of the conversation, above its messages."""

import json
from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QFont, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QLabel, QWidget

from studio.application.inputs.fields import show_value
from studio.application.words import tr
from studio.core.prompty.document import HoistedTool, ToolSpec
from studio.core.text.amounts import by_count
from studio.core.text.invisible import plain_tip
from studio.core.text.source import Span
from studio.ui.parts.kit import Chip, FlowLayout, column_of, empty_layout
from studio.ui.style.theme import FollowsTheme, paint_text, theme_in_use

_MOST = 24
"""Maximum number of tools shown at first; the last chip shows the others, above the messages."""


_MOST_OPTIONS = 6
"""Maximum number of tools with options shown at first; the same chip shows the others."""

_LONGEST_TIP = 4_000


class ToolsCard(FollowsTheme, QWidget):
    """One chip for each tool; a click goes to its declaration. Hidden without tools."""

    place_clicked = Signal(Span)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._specs: tuple[ToolSpec, ...] = ()
        self._hoisted: tuple[HoistedTool, ...] = ()
        self._choice = ""
        self._is_open = False
        self._title = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        font = self._title.font()
        font.setWeight(QFont.Weight.DemiBold)
        self._title.setFont(font)
        chips = QWidget()
        policy = chips.sizePolicy()
        policy.setHeightForWidth(True)
        chips.setSizePolicy(policy)
        self._flow = FlowLayout(chips)
        layout = column_of(self._title, chips, on=self, margins=(16, 8, 12, 8), spacing=8)
        self.options = QLabel(self, wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        """Options of tools of the body with their rendered values."""
        self.options.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.options.setAccessibleName(tr("Options of the tools, with their values"))
        layout.addWidget(self.options)
        self.setAccessibleName(tr("Tools of this prompt"))
        self.hide()
        self.follow_theme()

    def show_tools(
        self, specs: Sequence[ToolSpec], hoisted: Sequence[HoistedTool], choice: str = ""
    ) -> None:
        """Show tools of the front matter and those of the body's `tools:` section.

        Args:
            specs: tools in the request.
            hoisted: tools of the body.
            choice: text that says which of all tools are shown; empty for all.
        """
        if choice:  # tools that were left out are not shown
            names = {spec.name for spec in specs}
            hoisted = [tool for tool in hoisted if tool.id in names]
        shown = (tuple(specs), tuple(hoisted), choice)
        if shown != (self._specs, self._hoisted, self._choice):
            self._specs, self._hoisted, self._choice = shown
            self._draw()

    def recolor(self) -> None:
        """Use the colors of the current theme."""
        self._draw()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint a card's background with a dashed border, since it is not a message."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = QPen(QColor(theme_in_use().border))
        pen.setStyle(Qt.PenStyle.DashLine)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(self.rect().toRectF().adjusted(0.75, 0.75, -0.75, -0.75), 6, 6)

    def _draw(self) -> None:
        empty_layout(self._flow)
        named = {tool.id for tool in self._hoisted}
        plain = [spec for spec in self._specs if spec.name not in named]
        count = len(plain) + len(self._hoisted)
        # Tools of the body come first if not all are shown: some need approval for each call.
        room = count if self._is_open or count <= _MOST + 1 else _MOST
        hoisted = self._hoisted[:room]
        for spec in plain[: room - len(hoisted)]:
            tip = spec.description or tr("No description")
            self._add(spec.name, tip, spec.span, dynamic=False)
        for tool in hoisted:
            self._add_hoisted(tool)
        lines = [_options_text(tool) for tool in hoisted if tool.options or tool.reference]
        self.options.setText("\n".join(lines if self._is_open else lines[:_MOST_OPTIONS]))
        self.options.setHidden(not lines)
        paint_text(self.options, "muted")
        hidden = max(count - room, 0 if self._is_open else len(lines) - _MOST_OPTIONS)
        if hidden > 0:
            self._add_more(hidden)
        counted = by_count(count, tr("{count} tool"), tr("{count} tools"))
        self._title.setText(self._choice.partition(": ")[0] or counted)
        self._title.setToolTip(plain_tip(self._choice) if self._choice else "")
        paint_text(self._title, "muted")
        self.setVisible(count > 0)
        self.update()

    def _add_hoisted(self, tool: HoistedTool) -> None:
        tip = tr("{type}, from the body's tools: section").format(type=tool.type)
        if tool.dynamic_inputs:
            tip += tr("; contains values of {names}, so it asks first").format(
                names=", ".join(tool.dynamic_inputs)
            )
        if tool.options or tool.reference:
            options = tool.reference or tool.options
            tip += "\n" + json.dumps(options, ensure_ascii=False, indent=2)[:_LONGEST_TIP]
        self._add(f"{tool.id} · {tool.type}", tip, tool.span, dynamic=bool(tool.dynamic_inputs))

    def _add_more(self, count: int) -> None:
        chip = Chip(tr("and {count} more").format(count=count))
        chip.clicked.connect(self._show_all)
        self._flow.addWidget(chip)
        chip.show()

    def _show_all(self, _: bool = False) -> None:
        self._is_open = True
        self._draw()

    def _add(self, text: str, tip: str, span: Span | None, *, dynamic: bool) -> None:
        chip = Chip(text)
        chip.set_color("warning" if dynamic else theme_in_use().roles["tool"])
        chip.setToolTip(plain_tip(tip))
        if span is not None:
            chip.clicked.connect(lambda *_, span=span: self.place_clicked.emit(span))
        self._flow.addWidget(chip)
        chip.show()  # now: a card with hidden chips would be measured too low


def _options_text(tool: HoistedTool) -> str:
    """Return a tool's options on one line."""
    if tool.reference:
        return f"{tool.id}: {tool.reference}"
    return f"{tool.id}: " + ", ".join(
        f"{key} = {show_value(value)}" for key, value in tool.options.items()
    )
