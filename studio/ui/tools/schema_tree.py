"""A JSON schema as a tree: name, and below its type what it means."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QColor, QFont
from PySide6.QtWidgets import QFrame, QHeaderView, QTreeWidget, QTreeWidgetItem, QWidget

from studio.application.inputs.fields import FieldSpec, show_value
from studio.application.inputs.schema import schema_fields
from studio.core.text.plain_tip import plain_tip
from studio.core.text.values import JsonObject
from studio.ui.style.in_use import FollowsTheme, theme_in_use

_tr = partial(QCoreApplication.translate, "SchemaTree")


class SchemaTree(FollowsTheme, QTreeWidget):
    """The arguments of a tool; nested ones under their parents."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._schema: JsonObject = {}
        self.setAccessibleName(self.tr("Arguments of the tool"))
        self.setHeaderLabels([self.tr("Argument"), self.tr("Type and description")])
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
            self.addTopLevelItem(QTreeWidgetItem([self.tr("Takes no arguments")]))
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
            item.setToolTip(0, self.tr("Required") if spec.required else self.tr("Optional"))
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
        words = _tr("array of {type_name}").format(
            type_name=spec.items.type_name or spec.items.kind
        )
    if spec.nullable:
        words += _tr(" or null")
    return words if spec.required else _tr("{words}, optional").format(words=words)


def _description(spec: FieldSpec) -> str:
    notes = [spec.description]
    if spec.choices:
        notes.append(_tr("one of ") + ", ".join(show_value(item) for item in spec.choices))
    if spec.pattern:
        notes.append(_tr("matches {pattern}").format(pattern=spec.pattern))
    if spec.minimum is not None:
        notes.append(_tr("from {minimum:g}").format(minimum=spec.minimum))
    if spec.maximum is not None:
        notes.append(_tr("up to {maximum:g}").format(maximum=spec.maximum))
    if spec.fallback_origin == "default":
        notes.append(_tr("default {value}").format(value=show_value(spec.fallback)))
    return "\n".join(note.rstrip(".") for note in notes if note)
