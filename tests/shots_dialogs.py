"""Pictures of the dialogs and bars that a walk through the panes does not meet: `make shots`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from PySide6.QtWidgets import QDialog, QWidget
from shots_editor import Camera, dialog, wait

from studio.application.tools.pasted_server import PastedServer
from studio.application.tools.saved_calls import SavedCall
from studio.core.prompty.document import ToolId, ToolSpec
from studio.core.prompty.parse import parse
from studio.core.tools.mcp.connection import InputWanted
from studio.core.tools.openapi.loading import OperationRow, ReadingProgress
from studio.core.tools.registry import SourceStatus, ToolEntry
from studio.core.tools.source import OfferArgument, ServerOffer, TrafficLog
from studio.ui.app.workbench import Workbench
from studio.ui.dialogs.comparison import RewriteDialog
from studio.ui.dialogs.crash import CrashDialog
from studio.ui.dialogs.front_matter import FrontMatterDialog
from studio.ui.experiments.rating import BlindDialog
from studio.ui.experiments.view import ExperimentView
from studio.ui.history.pane import RetentionDialog
from studio.ui.tools.add_server import AddServerDialog, OperationsDialog
from studio.ui.tools.calls_dialog import CallsDialog
from studio.ui.tools.offers_dialog import OffersDialog
from studio.ui.tools.pane import ConsentDialog
from studio.ui.tools.questions import InputDialog
from studio.ui.tools.traffic_dialog import TrafficDialog
from studio.viewmodels.connections.controller import WeightsState
from studio.viewmodels.experiments.result_answers import AnswerPair
from studio.viewmodels.tools.calls import InputQuestion

_STRANGE = """---
model:
  id: gpt-4.1
  provider: openai
  connection:
    kind: key
    endpoint: https://models.example.org/v1
    apiKey: ${env:EXAMPLE_KEY}
---
user:
Hi
"""
_ROWS = 12_000
_ANOTHER = "model:\n  connection:\n    kind: reference\n    name: Embedded model\n"


def dialogs(workbench: Workbench, camera: Camera, home: Path) -> None:
    """Each dialog, filled as a person would find it."""
    window = workbench.window
    examples = home / "data" / "examples"
    page = window.tabs.open(examples / "react-agent.prompty")
    assert page is not None
    wait(900)
    for name, made in _made(window, page.editor.text(), home):
        made.open()
        wait(300)
        camera.take(f"30-{name}", made)
        made.close()
    _tools(workbench, camera)
    _other_model(workbench, camera)
    _connections(workbench, camera)
    _unsaved(workbench, camera, home)
    _experiment(workbench, camera, examples)
    _trust(workbench, camera, home)


def _made(parent: QWidget, text: str, home: Path) -> Iterator[tuple[str, QDialog]]:
    calls = (
        SavedCall("product", ToolId("", "calculator"), {"expression": "128 * 46"}, "ok", "5888"),
        SavedCall(
            "too long", ToolId("", "calculator"), {"expression": "2 ** 4096"}, "error", "Too large"
        ),
    )
    yield (
        "saved-calls",
        CallsDialog(
            ToolEntry(ToolSpec("calculator")), calls, lambda _: False, lambda _: None, parent
        ),
    )
    servers = [PastedServer("time", {"command": "uvx"}, "uvx mcp-server-time", "Claude Desktop")]
    yield "add-server", AddServerDialog(servers, ["~/.cursor/mcp.json cannot be read"], parent)
    covered = "command: uvx mcp-server-time\nenvironment: TZ=Europe/Lisbon"
    words = "server is new in a folder that you trust. It needs:"
    yield "consent", ConsentDialog("Allow what is new?", words, covered, "Allow", parent)
    offers = (
        ServerOffer("prompt", "greet", "Greets.", (OfferArgument("name", "Whom", required=True),)),
        ServerOffer("resource", "note://one", "A note"),
    )
    status = SourceStatus("mcp:s", "mcp: notes", "ready", offers=offers)
    yield "offers", OffersDialog(status, parent)
    rows = [
        OperationRow(
            f"op{n}", f"listPets{n}", "GET", f"/pets/{n}", "pets", ("pets",), "", 40, n < 9
        )
        for n in range(40)
    ]
    yield "operations", OperationsDialog("petstore", rows, parent)
    schema = {
        "type": "object",
        "properties": {
            "row": {"type": "integer", "description": "Which row"},
            "side": {"type": "string", "enum": ["left", "right"]},
        },
        "required": ["row"],
    }
    yield "input", InputDialog(InputQuestion(7, InputWanted("Which seat?", schema)), parent)
    log = TrafficLog()
    log.sent("GET http://h/pets", "GET http://h/pets", 0, 1, "curl -X GET http://h/pets")
    log.received("HTTP 200 OK", 'HTTP 200 OK\n\n{"pets": []}', 2, 1)
    traffic = TrafficDialog(SourceStatus("openapi:x", "openapi: petstore", "ready"), parent)
    traffic.show_traffic("openapi:x", log.messages)
    yield "traffic", traffic
    yield "front-matter", FrontMatterDialog(parse(text), parent)
    yield "rewrite", RewriteDialog(parse(text), parent)
    crash = CrashDialog(home, parent)
    crash.add("ValueError: a value that is none", "Traceback (most recent call last):\n  …")
    yield "crash", crash
    pairs = [AnswerPair(3, (0, 1), ("Lima.", "The capital of Peru is Lima, on the coast."))]
    yield "blind", BlindDialog(pairs, ("main", "short"), {3: "Capital of Peru?"}, parent)


def _tools(workbench: Workbench, camera: Camera) -> None:
    pane = workbench.tools_pane
    workbench.window.docks.show("tools")
    for key, progress in (
        ("a", ReadingProgress("petstore-with-a-long-name.yaml", "read", 4_000_000, 10_000_000)),
        ("b", ReadingProgress("https://api.example.org/openapi.json", "fetched", 800_000, 0)),
    ):
        pane.readings.show_progress(key, progress)
    wait(300)
    camera.take("31-reading-bars")
    pane.readings.clear()
    workbench.window.docks.show("files")


def _other_model(workbench: Workbench, camera: Camera) -> None:
    """The prompt asks for another model than its run has."""
    window = workbench.window
    page = window.tabs.current
    assert page is not None
    window.actions_by_id["run.step"].trigger()
    wait(1000)
    before = page.editor.text()
    page.editor.setPlainText(before.replace("model:\n", _ANOTHER, 1))
    wait(1000)
    window.actions_by_id["run.step"].trigger()
    wait(800)
    camera.take("32-other-model")
    window.actions_by_id["run.stop"].trigger()
    page.editor.undo()
    wait(500)
    window.actions_by_id["view.editor"].trigger()


def _connections(workbench: Workbench, camera: Camera) -> None:
    workbench.coordinator.manage()
    wait(500)
    shown = dialog()
    shown.list.setCurrentRow(0)  # type: ignore[attr-defined]
    wait(400)
    camera.take("33-embedded", shown)
    bar = shown.form.weights.bundled  # type: ignore[attr-defined]
    bar.show_state(WeightsState(is_missing=True, megabytes=105))
    wait(200)
    camera.take("33-weights-missing", shown)
    bar.show_state(WeightsState(is_missing=True, megabytes=105, fetched=42))
    wait(200)
    camera.take("33-weights-fetched", shown)
    fault = "The package index does not answer: check the network, then try again."
    bar.show_state(WeightsState(is_missing=True, megabytes=105, fault=fault))
    wait(200)
    camera.take("33-weights-fault", shown)
    shown.close()


def _unsaved(workbench: Workbench, camera: Camera, home: Path) -> None:
    from shots_editor import _asked

    page = workbench.window.tabs.current
    assert page is not None
    page.editor.insertPlainText("changed ")
    wait(300)
    _asked(camera, "34-unsaved", lambda: workbench.window.tabs.close_page(page))
    page.editor.undo()
    made = RetentionDialog(90, 500, workbench.window)
    made.open()
    wait(200)
    camera.take("34-retention", made)
    made.close()


def _experiment(workbench: Workbench, camera: Camera, examples: Path) -> None:
    window = workbench.window
    window.actions_by_id["view.editor"].trigger()
    window.tabs.open(examples / "refunds.experiment.yaml")
    wait(1200)
    view = window.tabs.sides.active.currentWidget()
    assert isinstance(view, ExperimentView)
    for name in ("improve", "workers"):
        view.more_actions[name].trigger()
        wait(500)
        shown = dialog()
        camera.take(f"35-{name}", shown)
        shown.close()
        wait(100)
    view.run_button.click()
    for _ in range(_ROWS // 100):
        wait(100)
        if not view.controller.is_running and view.controller.report is not None:
            break
    wait(600)
    camera.take("35-experiment-run")
    view.batch_box.setChecked(True)
    wait(300)
    camera.take("35-batches")
    window.tabs.close_view(view)


def _trust(workbench: Workbench, camera: Camera, home: Path) -> None:
    path = home / "strange.prompty"
    path.write_text(_STRANGE, encoding="utf-8")
    workbench.window.tabs.open(path)
    wait(900)
    store = workbench.window.services.settings
    store.set(replace(store.value))
    workbench.window.actions_by_id["run.start"].trigger()
    wait(800)
    shown = dialog()
    camera.take("36-trust", shown)
    shown.close()
