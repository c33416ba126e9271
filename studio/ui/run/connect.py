"""Joins the run and history panes to their controllers; the window calls it once."""

from __future__ import annotations

from studio.bridge.history import HistoryController
from studio.bridge.run import RunController
from studio.core.agent.commands import Command
from studio.ui.history.history_pane import HistoryPane
from studio.ui.run.breakpoints_dialog import BreakpointsDialog
from studio.ui.run.run_pane import RunPane


def connect_run(pane: RunPane, controller: RunController) -> BreakpointsDialog:
    """Everything but starting a run, which needs the document (`pane.request_run`).

    Args:
        pane: shows the run.
        controller: runs it.

    Returns:
        The list of breakpoints, which the pane opens; it wants the theme and the tools' names.
    """

    def send(commands: tuple[Command, ...]) -> None:
        controller.send(*commands)

    dialog = BreakpointsDialog(controller.breakpoints, pane)
    controller.compared.connect(pane.show_comparison)
    pane.request_branch.connect(controller.go_to)
    pane.request_compare.connect(controller.compare_branches)
    controller.state_changed.connect(pane.show_view)
    controller.inspector_changed.connect(pane.show_inspector)
    pane.request_commands.connect(send)
    pane.request_inspection.connect(controller.inspect)
    pane.request_fork.connect(controller.fork_from)
    pane.request_record_move.connect(controller.move_record)
    pane.request_break_place.connect(controller.breakpoints.toggle_place)
    pane.request_breakpoints.connect(dialog.show)
    pane.request_breakpoints.connect(dialog.activateWindow)
    return dialog


def connect_history(
    pane: HistoryPane, history: HistoryController, controller: RunController, run_pane: RunPane
) -> None:
    """The list, and opening a run of the past in the run pane.

    Args:
        pane: shows the list.
        history: reads and changes it.
        controller: shows a run that is opened.
        run_pane: shows two runs side by side.
    """
    history.listed.connect(pane.show_runs)
    history.size_changed.connect(pane.show_size)
    history.opened.connect(controller.open_record)
    history.compared.connect(run_pane.show_comparison)
    pane.request_compare.connect(history.compare)
    pane.request_filter.connect(history.set_filter)
    pane.request_refresh.connect(history.refresh)
    pane.request_open.connect(history.open)
    pane.request_delete.connect(history.delete)
    pane.request_pin.connect(history.set_pinned)
    controller.started.connect(history.refresh)
    controller.ended.connect(history.refresh)
