"""Everything about one tool: what it is, what models see of it, a call to try.

A JSON schema as a tree: name, and below its type what it means.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QFont
from PySide6.QtWidgets import (
    QFrame,
    QHeaderView,
    QLabel,
    QScrollArea,
    QStackedWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from studio.application.inputs.fields import FieldSpec, show_value
from studio.application.inputs.schema import schema_fields
from studio.application.tools.rows import APPROVAL_WORDS
from studio.application.words import tr
from studio.core.prompty.tool_spec import ToolId
from studio.core.text.plain_tip import plain_tip
from studio.core.text.values import JsonObject
from studio.core.tools.forms import tool_forms
from studio.core.tools.registry import ToolEntry
from studio.ui.parts.boxes import ComboBox
from studio.ui.parts.flow_layout import FlowLayout
from studio.ui.parts.json_view import JsonView
from studio.ui.parts.layouts import column_of, row_of
from studio.ui.parts.separator import Separator
from studio.ui.parts.yielding_tabs import YieldingTabs
from studio.ui.preview.cards.part_views import pretty_json
from studio.ui.style.colors import paint_text
from studio.ui.style.in_use import FollowsTheme, theme_in_use
from studio.ui.tools.head import ToolHead
from studio.ui.tools.mock_editor import MockEditor
from studio.ui.tools.try_panel import TryPanel


class SchemaTree(FollowsTheme, QTreeWidget):
    """The arguments of a tool; nested ones under their parents."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._schema: JsonObject = {}
        self.setAccessibleName(tr("Arguments of the tool"))
        self.setHeaderLabels([tr("Argument"), tr("Type and description")])
        self.setUniformRowHeights(False)
        self.setWordWrap(True)
        header = self.header()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft)
        header.setStretchLastSection(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        # Texts are broken for the new width.
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
            self.addTopLevelItem(QTreeWidgetItem([tr("Takes no arguments")]))
        self.expandAll()

    def recolor(self) -> None:
        """Take the colors of the theme in use."""
        self.show_schema(self._schema)

    def _add(self, parent: QTreeWidgetItem | None, fields: Sequence[FieldSpec]) -> None:
        for spec in fields:
            words = "\n".join(filter(None, (_type_text(spec), _description(spec))))
            item = QTreeWidgetItem([spec.name or "item", words])
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


class FormsPage(FollowsTheme, QScrollArea):
    """One title and one text a form; a form that is not sent says why."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._entry: ToolEntry | None = None
        self.views: dict[str, JsonView] = {}
        """The texts, by the form's title."""
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.follow_theme()

    def show_entry(self, entry: ToolEntry) -> None:
        """Show every form of a tool, from the top."""
        theme = theme_in_use()
        self._entry = entry
        self.views = {}
        page = QWidget()
        column = column_of(on=page, margins=12, spacing=8)
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
        """Take the colors of the theme in use."""
        if self._entry is not None:
            self.show_entry(self._entry)

    def _add(self, page: QWidget, column: QVBoxLayout, text: str, color: str) -> None:
        label = QLabel(text, page, textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        paint_text(label, color)
        column.addWidget(label)


class ToolDetail(QWidget):
    """Head with the switches, tabs below."""

    request_change = Signal(ToolId, Mapping)  # tool, fields of its entry to set
    request_recordings = Signal(ToolEntry)  # tool whose former answers are wanted

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.entry: ToolEntry | None = None
        """The tool that is shown."""
        self.head = ToolHead()
        self.approval = ComboBox()
        self.approval.setAccessibleName(tr("Approval of calls"))
        for key, each in APPROVAL_WORDS.items():
            words = tr(each)
            self.approval.addItem(words[0].upper() + words[1:], key)
        self._approval_label = QLabel(tr("Calls"))
        self.mock = MockEditor()
        self.tabs = YieldingTabs()
        self.tabs.setAccessibleName(tr("Views of the tool"))
        titles = (tr("Try it"), tr("Arguments"), tr("Schema"), tr("As sent"))
        for title in (*titles, tr("Options")):
            self.tabs.addTab(title)
        self.tabs.setTabToolTip(3, tr("What each provider and each protocol sends of it"))
        self.tabs.setTabToolTip(4, tr("What the prompt sets for the program that runs it"))
        self.try_panel = TryPanel()
        self.tree = SchemaTree()
        self.schema_text = JsonView()
        self.schema_text.setAccessibleName(tr("Schema as JSON"))
        self.returns_text = JsonView()
        self.returns_text.setAccessibleName(tr("Schema of the answer as JSON"))
        self._returns_title = QLabel(tr("Answer"))
        paint_text(self._returns_title, "muted")
        self.forms = FormsPage()
        self.options = JsonView()
        self.options.setAccessibleName(tr("Options as JSON, values put in"))
        self._pages = QStackedWidget()
        self._arrange()
        self._connect()
        paint_text(self._approval_label, "muted")

    def _arrange(self) -> None:
        switches = FlowLayout(spacing=8)
        switches.addWidget(_pair(self._approval_label, self.approval))
        switches.addWidget(_pair(*self.mock.chooser))
        top = column_of(self.head, switches, self.mock, margins=(12, 8, 12, 8), spacing=8)
        schema = QWidget()
        column_of(
            (self.schema_text, 2), self._returns_title, (self.returns_text, 1), on=schema, margins=0
        )
        self._returns_title.setContentsMargins(12, 4, 12, 0)
        for page in (self.try_panel, self.tree, schema, self.forms, self.options):
            self._pages.addWidget(page)
        self._pages.setMinimumHeight(1)  # in a low dock the switches above keep their room
        line = Separator()
        column_of(top, self.tabs, line, (self._pages, 1), on=self, margins=0, spacing=0)

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


def _pair(label: QWidget, switch: QWidget) -> QWidget:
    """A label that stays beside its switch when the row is broken."""
    page = QWidget()
    row_of(label, switch, on=page, margins=(0, 0, 8, 0), spacing=8)
    return page


def _schema_text(schema: JsonObject) -> str:
    return pretty_json(json.dumps(schema, ensure_ascii=False))
