"""The page of a tool: description, declarations for models, and a panel for calls.

Its JSON schema is a tree with names, types and descriptions.
"""

import json
from collections.abc import Mapping, Sequence

from PySide6 import QtWidgets
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QResizeEvent, QTextCharFormat, QTextCursor

from studio.application.inputs.fields import FieldSpec, schema_fields, show_value
from studio.application.tools.rows import APPROVAL_WORDS, STATE_WORDS
from studio.application.words import tr
from studio.core.prompty.document import ToolId
from studio.core.text.invisible import plain_tip, reveal
from studio.core.text.values import JsonObject
from studio.core.tools.forms import tool_forms
from studio.core.tools.registry import ToolEntry
from studio.core.tools.trust.store import ToolChange
from studio.ui.parts import kit
from studio.ui.parts.fields import ComboBox
from studio.ui.parts.text_views import JsonView
from studio.ui.parts.yielding_tabs import YieldingTabs
from studio.ui.preview.cards.text_body import pretty_json
from studio.ui.style.theme import FollowsTheme, fixed_font, icon, paint_text, theme_in_use
from studio.ui.tools.mock_editor import MockEditor
from studio.ui.tools.try_panel import TryPanel

# The header of a tool's page: description, problems and changes.

_MOST_LINES = 8
_ROOM_FOR_WORDS = 396
"""Minimum width in pixels to show texts on the buttons beside the name."""


class ChangeNote(FollowsTheme, QtWidgets.QWidget):
    """A note on how the tool differs from the approved one, with a button to allow it."""

    allowed = Signal()

    def __init__(self, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self._change: ToolChange | None = None
        self.words = kit.toned_label("warning", parent=self, wraps=True, is_plain=True)
        self.button = kit.push_button(tr("Allow"), self.allowed, parent=self)
        self.button.setToolTip(tr("It then asks only according to its approval setting"))
        self.difference = kit.named(
            QtWidgets.QPlainTextEdit(self, readOnly=True), tr("How the tool has changed")
        )
        self.difference.setFont(fixed_font(self.font()))
        row = kit.row_of((self.words, 1), spacing=8)
        row.addWidget(self.button, 0, Qt.AlignmentFlag.AlignTop)
        kit.column_of(row, self.difference, on=self, margins=0, spacing=8)
        self.hide()
        self.follow_theme()

    def show_change(self, change: ToolChange | None) -> None:
        """Show a change of the tool; None hides the note."""
        self._change = change
        self.setVisible(change is not None)
        if change is None:
            return
        lines = change.lines()
        self.words.setText(self._why(change))
        self.difference.setVisible(bool(lines))
        self.difference.setPlainText("\n".join(reveal(line, lines=False) for line in lines))
        rows = min(max(len(lines), 2), _MOST_LINES)
        height = QFontMetrics(self.difference.font()).lineSpacing() * rows
        self.difference.setFixedHeight(height + 14)
        self._paint()

    def recolor(self) -> None:
        """Use the colors of the current theme."""
        self._paint()

    def _why(self, change: ToolChange) -> str:
        if change.before is not None:
            return tr("This tool has changed. It asks before its next call.")
        if not change.now.effects:
            return tr(
                "It is new, and its source does not say whether it has side effects. It asks "
                "before its first call."
            )
        return tr("It is new. It asks before its first call.")

    def _paint(self) -> None:
        """Color removed and added text."""
        theme = theme_in_use()
        colors = {"-": theme.error, "+": theme.success}
        block = self.difference.document().begin()
        while block.isValid():
            looks = QTextCharFormat()
            looks.setForeground(QColor(colors.get(block.text()[:1], theme.text)))
            cursor = QTextCursor(block)
            cursor.select(QTextCursor.SelectionType.BlockUnderCursor)
            cursor.mergeCharFormat(looks)
            block = block.next()


class ToolHead(QtWidgets.QWidget):
    """Name, state and buttons; below them, description and problems."""

    request_definition = Signal(ToolEntry)
    request_allow = Signal(ToolId)  # a tool that differs from the approved one
    request_declare = Signal(ToolEntry)  # insert it into the document
    request_declaration = Signal(ToolEntry)  # show its declaration in the document

    def __init__(self) -> None:
        super().__init__()
        self._entry: ToolEntry | None = None
        self._insertable = True
        self._name = QtWidgets.QLabel(textFormat=Qt.TextFormat.PlainText)
        font = self._name.font()
        font.setPointSizeF(font.pointSizeF() * 1.15)
        font.setWeight(font.Weight.DemiBold)
        self._name.setFont(font)
        self._name.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._state = kit.Chip("")
        self._state.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._state.setEnabled(False)
        self._effects = kit.Chip(tr("has effects"), self)
        self._effects.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._effects.setEnabled(False)
        self._effects.setToolTip(tr("It has side effects; it asks before its first call"))
        self.declare = QtWidgets.QToolButton(self)
        self.declare.clicked.connect(self._declare)
        self.definition = QtWidgets.QToolButton(self)
        self.definition.setText(tr("Definition"))
        self.definition.setIcon(icon("arrow-up-right"))
        self.definition.setAccessibleName(tr("Go to where the tool is defined"))
        self.definition.setToolTip(tr("Go to where the tool is defined"))
        self.definition.clicked.connect(lambda: self.request_definition.emit(self._entry))
        self._description = kit.toned_label("text", wraps=True, is_plain=True)
        self._problem = kit.toned_label("warning", wraps=True, is_plain=True)
        self.change = ChangeNote(self)
        self.change.allowed.connect(
            lambda: self.request_allow.emit(self._entry.id if self._entry else ToolId())
        )
        self._lay_out()
        self._effects.set_color("warning")

    def show_entry(self, entry: ToolEntry) -> None:
        """Show a tool."""
        self._entry = entry
        self._name.setText(reveal(entry.name, lines=False))
        self._state.setText(tr(STATE_WORDS[entry.state]))
        self._state.set_color("accent" if entry.state == "mocked" else "warning")
        self._state.setVisible(entry.state != "bound")
        self._effects.setVisible(entry.spec.has_effects)
        self._allow_declaring()
        self._description.setText(reveal(entry.spec.description) or tr("No description."))
        problem = entry.problem if entry.mock is None else ""
        self._problem.setText(reveal("\n".join(filter(None, (problem, *entry.marks)))))
        self._problem.setVisible(bool(self._problem.text()))
        self.change.show_change(entry.change)
        self.definition.setEnabled(entry.path is not None or entry.spec.span is not None)

    def set_insertable(self, insertable: bool) -> None:
        """Set whether a prompt is open into which the tool can be inserted."""
        self._insertable = insertable
        self._allow_declaring()

    def _allow_declaring(self) -> None:
        entry = self._entry
        if entry is None:
            return
        self.declare.setText(tr("In the prompt") if entry.declared else tr("Insert"))
        self.declare.setIcon(icon("file-text" if entry.declared else "plus"))
        if entry.declared:
            tip = tr("Show where the prompt declares it")
        elif self._insertable:
            tip = tr("Declare the tool in the prompt, as one undo step")
        else:
            tip = tr("Open the prompt to insert the tool into")
        self.declare.setToolTip(tip)
        self.declare.setAccessibleName(tip)
        able = entry.spec.span is not None if entry.declared else self._insertable
        self.declare.setEnabled(able)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show only icons on the buttons in a narrow dock."""
        super().resizeEvent(event)
        is_wide = self.width() >= _ROOM_FOR_WORDS
        style = Qt.ToolButtonStyle
        for button in (self.declare, self.definition):
            button.setToolButtonStyle(
                style.ToolButtonTextBesideIcon if is_wide else style.ToolButtonIconOnly
            )

    def _declare(self) -> None:
        if self._entry is not None:
            asked = self.request_declaration if self._entry.declared else self.request_declare
            asked.emit(self._entry)

    def _lay_out(self) -> None:
        row = kit.row_of(
            self._name, self._state, self._effects, 1, self.declare, self.definition, spacing=8
        )
        kit.column_of(
            row, self._description, self._problem, self.change, on=self, margins=0, spacing=8
        )


class SchemaTree(FollowsTheme, QtWidgets.QTreeWidget):
    """The arguments of a tool; nested ones are below their parents."""

    def __init__(self) -> None:
        super().__init__()
        self._schema: JsonObject = {}
        self.setAccessibleName(tr("Arguments of the tool"))
        self.setHeaderLabels([tr("Argument"), tr("Type and description")])
        self.setUniformRowHeights(False)
        self.setWordWrap(True)
        header = self.header()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft)
        header.setStretchLastSection(True)
        self.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        header.setSectionResizeMode(0, QtWidgets.QHeaderView.ResizeMode.ResizeToContents)
        # Texts wrap at the new width.
        header.sectionResized.connect(lambda: self.scheduleDelayedItemsLayout())  # noqa: PLW0108 - it has three arguments
        self.follow_theme()

    def show_schema(self, schema: JsonObject) -> None:
        """Show the arguments of an object schema."""
        self._schema = schema
        self.clear()
        fields = schema_fields(schema)
        self.setRootIsDecorated(any(spec.properties or spec.items for spec in fields))
        self._add(None, fields)
        if not fields:
            self.addTopLevelItem(QtWidgets.QTreeWidgetItem([tr("Takes no arguments")]))
        self.expandAll()

    def recolor(self) -> None:
        """Use the colors of the current theme."""
        self.show_schema(self._schema)

    def _add(self, parent: QtWidgets.QTreeWidgetItem | None, fields: Sequence[FieldSpec]) -> None:
        for spec in fields:
            words = "\n".join(filter(None, (_type_text(spec), _description(spec))))
            item = QtWidgets.QTreeWidgetItem([spec.name or "item", words])
            item.setTextAlignment(0, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
            font = QFont(self.font())
            font.setWeight(QFont.Weight.DemiBold if spec.required else QFont.Weight.Normal)
            item.setFont(0, font)
            item.setToolTip(0, tr("Required") if spec.required else tr("Optional"))
            item.setToolTip(1, plain_tip(words))
            item.setForeground(1, QColor(theme_in_use().muted))
            if parent is None:
                self.addTopLevelItem(item)
            else:
                parent.addChild(item)
            self._add(item, spec.properties)
            if spec.items is not None:
                self._add(item, spec.items.properties)


def _type_text(spec: FieldSpec) -> str:
    words = spec.type_name or spec.kind
    if spec.items is not None:
        words = tr("array of {type_name}").format(type_name=spec.items.type_name or spec.items.kind)
    if spec.nullable:
        words += tr(" or null")
    return words if spec.required else tr("{words}, optional").format(words=words)


def _description(spec: FieldSpec) -> str:
    notes = [spec.description]
    if spec.choices:
        notes.append(tr("one of ") + ", ".join(show_value(item) for item in spec.choices))
    if spec.pattern:
        notes.append(tr("matches {pattern}").format(pattern=spec.pattern))
    if spec.minimum is not None:
        notes.append(tr("from {minimum:g}").format(minimum=spec.minimum))
    if spec.maximum is not None:
        notes.append(tr("up to {maximum:g}").format(maximum=spec.maximum))
    if spec.fallback_origin == "default":
        notes.append(tr("default {value}").format(value=show_value(spec.fallback)))
    return "\n".join(note.rstrip(".") for note in notes if note)


class FormsPage(FollowsTheme, QtWidgets.QScrollArea):
    """A title and a text for each provider's format, or why it is not sent."""

    def __init__(self) -> None:
        super().__init__()
        self._entry: ToolEntry | None = None
        self.views: dict[str, JsonView] = {}
        """The texts by the title of the format."""
        self.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.follow_theme()

    def show_entry(self, entry: ToolEntry) -> None:
        """Show all formats of a tool, from the top."""
        theme = theme_in_use()
        self._entry = entry
        self.views = {}
        page = QtWidgets.QWidget()
        column = kit.column_of(on=page, margins=12, spacing=8)
        for form in tool_forms(entry.spec):
            self._add(page, column, form.title, theme.muted)
            if form.remark:
                self._add(page, column, form.remark, theme.warning)
            if form.text:
                view = JsonView(page, colored=form.language == "json")
                view.setAccessibleName(
                    tr("{tool} as {form}").format(tool=entry.name, form=form.title)
                )
                view.show_json(form.text)
                view.grow(40)
                column.addWidget(view)
                self.views[form.title] = view
            column.addSpacing(6)
        column.addStretch(1)
        self.setWidget(page)

    def recolor(self) -> None:
        """Use the colors of the current theme."""
        if self._entry is not None:
            self.show_entry(self._entry)

    def _add(
        self, page: QtWidgets.QWidget, column: QtWidgets.QVBoxLayout, text: str, color: str
    ) -> None:
        label = QtWidgets.QLabel(text, page, textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        paint_text(label, color)
        column.addWidget(label)


class ToolDetail(QtWidgets.QWidget):
    """Header with the switches, and tabs below."""

    request_change = Signal(ToolId, Mapping)  # tool, fields of its entry to set
    request_recordings = Signal(ToolEntry)  # tool whose earlier answers are requested

    def __init__(self) -> None:
        super().__init__()
        self.entry: ToolEntry | None = None
        """The shown tool."""
        self.head = ToolHead()
        self.approval = kit.named(ComboBox(), tr("Approval of calls"))
        for key, each in APPROVAL_WORDS.items():
            words = tr(each)
            self.approval.addItem(words[0].upper() + words[1:], key)
        self._approval_label = kit.toned_label("muted", tr("Calls"))
        self.mock = MockEditor()
        self.tabs = YieldingTabs()
        self.tabs.setAccessibleName(tr("Views of the tool"))
        titles = (tr("Try it"), tr("Arguments"), tr("Schema"), tr("As sent"))
        for title in (*titles, tr("Options")):
            self.tabs.addTab(title)
        self.tabs.setTabToolTip(3, tr("How each provider and protocol sends it"))
        self.tabs.setTabToolTip(4, tr("Options of the prompt for the program that runs it"))
        self.try_panel = TryPanel()
        self.tree = SchemaTree()
        self.schema_text = kit.named(JsonView(), tr("Schema as JSON"))
        self.returns_text = kit.named(JsonView(), tr("Schema of the answer as JSON"))
        self._returns_title = kit.toned_label("muted", tr("Answer"))
        self.forms = FormsPage()
        self.options = kit.named(JsonView(), tr("Options as JSON, with their values"))
        self._pages = QtWidgets.QStackedWidget()
        self._arrange()
        self._connect()

    def _arrange(self) -> None:
        switches = kit.FlowLayout(spacing=8)
        switches.addWidget(_pair(self._approval_label, self.approval))
        switches.addWidget(_pair(*self.mock.chooser))
        top = kit.column_of(self.head, switches, self.mock, margins=(12, 8, 12, 8), spacing=8)
        schema = QtWidgets.QWidget()
        kit.column_of(
            (self.schema_text, 2), self._returns_title, (self.returns_text, 1), on=schema, margins=0
        )
        self._returns_title.setContentsMargins(12, 4, 12, 0)
        for page in (self.try_panel, self.tree, schema, self.forms, self.options):
            self._pages.addWidget(page)
        self._pages.setMinimumHeight(1)  # in a low dock, the switches above keep their room
        line = kit.Separator()
        kit.column_of(top, self.tabs, line, (self._pages, 1), on=self, margins=0, spacing=0)

    def _connect(self) -> None:
        self.tabs.currentChanged.connect(self._pages.setCurrentIndex)
        self.approval.activated.connect(self._approval_chosen)
        self.mock.mock_changed.connect(self._mock_chosen)
        self.mock.request_recordings.connect(self._ask_recordings)

    def show_entry(self, entry: ToolEntry) -> None:
        """Show a tool."""
        redraw = self.entry is None or self.entry.spec != entry.spec
        self.entry = entry
        self.head.show_entry(entry)
        self.approval.setCurrentIndex(self.approval.findData(entry.asks))
        self.mock.show_mock(entry.mock)
        self.try_panel.show_entry(entry)
        if redraw:
            self.tree.show_schema(entry.spec.parameters)
            self.schema_text.show_json(_schema_text(entry.spec.parameters))
            self.returns_text.show_json(_schema_text(entry.spec.returns))
            for part in (self._returns_title, self.returns_text):
                part.setVisible(bool(entry.spec.returns))
            self.forms.show_entry(entry)
            self.options.show_json(json.dumps(entry.spec.options, ensure_ascii=False, indent=2))
            self.tabs.setTabVisible(4, bool(entry.spec.options))

    def _ask_recordings(self) -> None:
        if self.entry is not None:
            self.request_recordings.emit(self.entry)

    def _approval_chosen(self, _: int) -> None:
        if self.entry is not None:
            self.request_change.emit(self.entry.id, {"approval": self.approval.currentData()})

    def _mock_chosen(self) -> None:
        if self.entry is not None:
            self.request_change.emit(self.entry.id, {"mock": self.mock.mock})


def _pair(label: QtWidgets.QWidget, switch: QtWidgets.QWidget) -> QtWidgets.QWidget:
    """Return a label that stays beside its switch when the row wraps."""
    page = QtWidgets.QWidget()
    kit.row_of(label, switch, on=page, margins=(0, 0, 8, 0), spacing=8)
    return page


def _schema_text(schema: JsonObject) -> str:
    return pretty_json(json.dumps(schema, ensure_ascii=False))
