"""Choosing a model in the popover of the toolbar, as a person does."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from studio.application.connections.model_list import ModelOffer, UseModel
from studio.ui.app.workbench import Workbench
from studio.ui.connections.model_popover import ModelPopover
from studio.viewmodels.connections.controller import ConnectionsController


def offers_of(popover: ModelPopover) -> list[ModelOffer]:
    """The lines of the list, without its headings."""
    found = (popover.list.item(row).data(Qt.ItemDataRole.UserRole) for row in range(rows(popover)))
    return [each for each in found if isinstance(each, ModelOffer)]


def rows(popover: ModelPopover) -> int:
    """Number of lines and headings."""
    return popover.list.count()


def go_to(popover: ModelPopover, title: str) -> None:
    """Move to a line of a name or of a connection."""
    for row in range(rows(popover)):
        offer = popover.list.item(row).data(Qt.ItemDataRole.UserRole)
        if not isinstance(offer, ModelOffer):
            continue
        is_of = isinstance(offer.act, UseModel) and offer.act.connection.name == title
        if offer.title == title or is_of:
            popover.list.setCurrentRow(row)
            return
    raise AssertionError(f"{title!r} is not among {[each.title for each in offers_of(popover)]}")


def choose_model(workbench: Workbench, title: str, *, for_folder: bool = False) -> None:
    """Open the popover, go to a line, and press Enter (for the folder) or Ctrl+Enter."""
    popover = workbench.coordinator.choose()
    go_to(popover, title)
    held = Qt.KeyboardModifier.NoModifier if for_folder else Qt.KeyboardModifier.ControlModifier
    QTest.keyClick(popover.line, Qt.Key.Key_Return, held)
    assert not popover.isVisible()


def use_model(controller: ConnectionsController, name: str, model: str = "") -> None:
    """Let a connection of the user's answer the open document, as Ctrl+Enter does."""
    connection = controller.connections.named(name)
    assert connection is not None
    controller.use(UseModel(connection, model), None)
