"""Everything about one tool: what it is, what models see of it, a call to try."""

from __future__ import annotations

import json
from collections.abc import Mapping

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from studio.application.tools.rows import APPROVAL_WORDS, STATE_WORDS
from studio.core.text.invisible import reveal
from studio.core.text.values import JsonObject
from studio.core.tools.forms import tool_forms
from studio.core.tools.registry import ToolEntry
from studio.core.tools.trust.suspicion import suspicions
from studio.ui.parts.chip import Chip
from studio.ui.parts.flow_layout import FlowLayout
from studio.ui.parts.json_view import JsonView
from studio.ui.parts.separator import Separator
from studio.ui.parts.yielding_tabs import YieldingTabs
from studio.ui.preview.cards.part_views import pretty_json
from studio.ui.style.colors import paint_text
from studio.ui.style.icons import icon
from studio.ui.style.in_use import FollowsTheme, theme_in_use
from studio.ui.tools.change_note import ChangeNote
from studio.ui.tools.mock_editor import MockEditor
from studio.ui.tools.schema_tree import SchemaTree
from studio.ui.tools.try_panel import TryPanel
from studio.viewmodels.tools.trial import ToolTrial

_STATE_TONES = {"bound": "success", "mocked": "accent"}
"""Tones of what a tool is in; the rest is a warning."""


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
        column = QVBoxLayout(page)
        column.setContentsMargins(12, 12, 12, 12)
        column.setSpacing(8)
        for form in tool_forms(entry.spec):
            self._add(page, column, form.title, theme.muted)
            if form.remark:
                self._add(page, column, form.remark, theme.warning)
            if form.text:
                view = JsonView(page, colored=form.language == "json")
                view.setAccessibleName(
                    self.tr("{tool} as {form}").format(tool=entry.name, form=form.title)
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
        label = QLabel(text, page)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        paint_text(label, color)
        column.addWidget(label)


_ROOM_FOR_WORDS = 420
"""Width, in pixels, from which the buttons beside the name have words."""


class ToolDetail(QWidget):
    """Head with the switches, tabs below."""

    request_change = Signal(str, Mapping)  # name, fields of the entry to set
    request_definition = Signal(ToolEntry)
    request_allow = Signal(str)  # name of a tool that is not as it was allowed
    request_try = Signal(str, Mapping)  # name, arguments
    request_cancel = Signal()
    request_declare = Signal(ToolEntry)  # write it into the document
    request_declaration = Signal(ToolEntry)  # show where the document declares it
    request_recordings = Signal(str)  # tool name
    request_http_request = Signal(str, Mapping)  # name, arguments
    request_saved_calls = Signal(str)  # tool name
    request_save_call = Signal(ToolTrial)
    request_calls = Signal(str)  # tool name

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._entry: ToolEntry | None = None
        self._insertable = True
        self._make_head()
        self.approval = QComboBox()
        self.approval.setAccessibleName(self.tr("Approval of calls"))
        for key, each in APPROVAL_WORDS.items():
            words = QCoreApplication.translate("ToolsModel", each)
            self.approval.addItem(words[0].upper() + words[1:], key)
        self._approval_label = QLabel(self.tr("Calls"))
        self.mock = MockEditor()
        self.tabs = YieldingTabs()
        self.tabs.setAccessibleName(self.tr("Views of the tool"))
        titles = (
            self.tr("Try it"), self.tr("Arguments"), self.tr("Schema"), self.tr("As sent"),
            self.tr("Options"),
        )  # fmt: skip
        for title in titles:
            self.tabs.addTab(title)
        self.tabs.setTabToolTip(3, self.tr("What each provider and each protocol sends of it"))
        self.tabs.setTabToolTip(4, self.tr("What the prompt sets for the program that runs it"))
        self.try_panel = TryPanel()
        self.tree = SchemaTree()
        self.schema_text = JsonView()
        self.schema_text.setAccessibleName(self.tr("Schema as JSON"))
        self.returns_text = JsonView()
        self.returns_text.setAccessibleName(self.tr("Schema of the answer as JSON"))
        self._returns_title = QLabel(self.tr("Answer"))
        paint_text(self._returns_title, "muted")
        self.forms = FormsPage()
        self.options = JsonView()
        self.options.setAccessibleName(self.tr("Options as JSON, values put in"))
        self._pages = QStackedWidget()
        self._arrange()
        self._connect()
        paint_text(self._description, "text")
        paint_text(self._problem, "warning")
        paint_text(self._approval_label, "muted")
        self._effects.set_color("warning")

    def _make_head(self) -> None:
        self._name = QLabel()
        self._name.setTextFormat(Qt.TextFormat.PlainText)
        font = self._name.font()
        font.setPointSizeF(font.pointSizeF() * 1.15)
        font.setWeight(font.Weight.DemiBold)
        self._name.setFont(font)
        self._name.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._state = Chip("")
        self._state.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._state.setEnabled(False)
        self._effects = Chip(self.tr("has effects"), self)
        self._effects.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._effects.setEnabled(False)
        self._effects.setToolTip(
            self.tr("It changes something outside; it asks before its first call")
        )
        self.declare = QToolButton(self)
        self.declare.clicked.connect(self._declare)
        self.definition = QToolButton(self)
        self.definition.setText(self.tr("Definition"))
        self.definition.setIcon(icon("arrow-up-right"))
        self.definition.setAccessibleName(self.tr("Go to where the tool is defined"))
        self.definition.setToolTip(self.tr("Go to where the tool is defined"))
        self.definition.clicked.connect(lambda: self.request_definition.emit(self._entry))
        self._description = QLabel()
        self._description.setTextFormat(Qt.TextFormat.PlainText)
        self._description.setWordWrap(True)
        self._problem = QLabel()
        self._problem.setTextFormat(Qt.TextFormat.PlainText)
        self._problem.setWordWrap(True)
        self.change = ChangeNote(self)
        self.change.allowed.connect(
            lambda: self.request_allow.emit(self._entry.name if self._entry else "")
        )

    def _arrange(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self._name)
        head.addWidget(self._state)
        head.addWidget(self._effects)
        head.addStretch(1)
        head.addWidget(self.declare)
        head.addWidget(self.definition)
        switches = FlowLayout(spacing=8)
        switches.addWidget(_pair(self._approval_label, self.approval))
        switches.addWidget(_pair(*self.mock.chooser))
        top = QVBoxLayout()
        top.setContentsMargins(12, 8, 12, 8)
        top.setSpacing(8)
        top.addLayout(head)
        top.addWidget(self._description)
        top.addWidget(self._problem)
        top.addWidget(self.change)
        top.addLayout(switches)
        top.addWidget(self.mock)
        schema = QWidget()
        column = QVBoxLayout(schema)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.schema_text, 2)
        column.addWidget(self._returns_title)
        column.addWidget(self.returns_text, 1)
        self._returns_title.setContentsMargins(12, 4, 12, 0)
        for page in (self.try_panel, self.tree, schema, self.forms, self.options):
            self._pages.addWidget(page)
        self._pages.setMinimumHeight(1)  # in a low dock the switches above keep their room
        line = Separator()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(top)
        layout.addWidget(self.tabs)
        layout.addWidget(line)
        layout.addWidget(self._pages, 1)

    def _connect(self) -> None:
        self.tabs.currentChanged.connect(self._pages.setCurrentIndex)
        self.approval.activated.connect(self._approval_chosen)
        self.mock.mock_changed.connect(self._mock_chosen)
        self.mock.request_recordings.connect(
            lambda: self.request_recordings.emit(self._entry.name if self._entry else "")
        )
        self.try_panel.request_http_request.connect(self.request_http_request)
        self.try_panel.request_saved.connect(self.request_saved_calls)
        self.try_panel.request_save.connect(self.request_save_call)
        self.try_panel.request_calls.connect(self.request_calls)
        self.try_panel.request_try.connect(self.request_try)
        self.try_panel.request_cancel.connect(self.request_cancel)

    @property
    def entry(self) -> ToolEntry | None:
        """The tool that is shown."""
        return self._entry

    def show_entry(self, entry: ToolEntry) -> None:
        """Show a tool."""
        redraw = self._entry is None or self._entry.spec != entry.spec
        self._entry = entry
        self._name.setText(reveal(entry.name, lines=False))
        self._state.setText(QCoreApplication.translate("ToolsModel", STATE_WORDS[entry.state]))
        self._state.set_color(_STATE_TONES.get(entry.state, "warning"))
        self._state.updateGeometry()
        self._effects.setVisible(entry.spec.has_effects)
        self._allow_declaring()
        self._description.setText(reveal(entry.spec.description) or self.tr("No description."))
        # A document's own words are the user's; a source's may be a stranger's.
        marks = suspicions(entry.spec) if entry.runner else ()
        problem = entry.problem if entry.mock is None else ""
        self._problem.setText(reveal("\n".join(filter(None, (problem, *marks)))))
        self._problem.setVisible(bool(self._problem.text()))
        self.change.show_change(entry.change)
        self.approval.setCurrentIndex(self.approval.findData(entry.approval))
        self.definition.setEnabled(entry.path is not None or entry.spec.span is not None)
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

    def set_insertable(self, insertable: bool) -> None:
        """Whether a prompt is open that a tool could be inserted into."""
        self._insertable = insertable
        self._allow_declaring()

    def _allow_declaring(self) -> None:
        entry = self._entry
        if entry is None:
            return
        self.declare.setText(self.tr("In the prompt") if entry.declared else self.tr("Insert"))
        self.declare.setIcon(icon("file-text" if entry.declared else "plus"))
        if entry.declared:
            tip = self.tr("Show where the prompt declares it")
        elif self._insertable:
            tip = self.tr("Declare the tool in the prompt, as one step that can be undone")
        else:
            tip = self.tr("Open the prompt that the tool is to be inserted into")
        self.declare.setToolTip(tip)
        self.declare.setAccessibleName(tip)
        able = entry.spec.span is not None if entry.declared else self._insertable
        self.declare.setEnabled(able)

    def show_trial(self, trial: ToolTrial) -> None:
        """Show a call that began or ended."""
        self.try_panel.show_trial(trial)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a narrow dock the buttons are drawings only."""
        super().resizeEvent(event)
        is_wide = self.width() >= _ROOM_FOR_WORDS
        style = Qt.ToolButtonStyle
        for button in (self.declare, self.definition):
            button.setToolButtonStyle(
                style.ToolButtonTextBesideIcon if is_wide else style.ToolButtonIconOnly
            )

    def _approval_chosen(self, _: int) -> None:
        if self._entry is not None:
            self.request_change.emit(self._entry.name, {"approval": self.approval.currentData()})

    def _declare(self) -> None:
        if self._entry is not None:
            asked = self.request_declaration if self._entry.declared else self.request_declare
            asked.emit(self._entry)

    def _mock_chosen(self) -> None:
        if self._entry is not None:
            self.request_change.emit(self._entry.name, {"mock": self.mock.mock})


def _pair(label: QWidget, switch: QWidget) -> QWidget:
    """A label that stays beside its switch when the row is broken."""
    page = QWidget()
    row = QHBoxLayout(page)
    row.setContentsMargins(0, 0, 8, 0)
    row.setSpacing(8)
    row.addWidget(label)
    row.addWidget(switch)
    return page


def _schema_text(schema: JsonObject) -> str:
    return pretty_json(json.dumps(schema, ensure_ascii=False))
