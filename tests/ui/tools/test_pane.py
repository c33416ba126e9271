from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from studio.core.prompty.document import ToolId, ToolSpec
from studio.core.prompty.parse import parse
from studio.core.text.values import JsonObject
from studio.core.tools.registry import FixedMock, SourceStatus, ToolEntry, ToolRegistry
from studio.core.tools.source import ToolOutcome
from studio.core.tools.trust.store import TrustStore
from studio.ui.inputs.fields import GrowingText, NumberField
from studio.ui.style.theme import DARK
from studio.ui.tools.pane import ConsentDialog, ToolsPane
from studio.viewmodels.app.background import Background
from studio.viewmodels.tools.calls import ToolTrial
from studio.viewmodels.tools.controller import ToolsController
from tests.support.counted import calls_of
from tests.support.held import hold
from tests.support.modal import answering
from tests.support.themes import wear
from tests.support.tool_ids import tool_id

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")

TOOLS = '''
def add(a: int, b: int = 2) -> int:
    """Add two numbers.

    Args:
        a: The first.
        b: The second.
    """
    return a + b
'''

DOC = """---
metadata:
  agent:
    tools: [tools.py]
---
system:
Hello
"""


class Bench:
    """A pane and its controller, joined as the window joins them."""

    def __init__(self, qtbot: QtBot, folder: Path, background: Background) -> None:
        self.bot = qtbot
        self.folder = folder
        self.controller = ToolsController(background, TrustStore(folder / "data" / "trust.json"))
        self.pane = ToolsPane()
        pane, controller = self.pane, self.controller
        controller.registry_changed.connect(pane.show_registry)
        controller.trial_changed.connect(pane.detail.try_panel.show_trial)
        controller.loading_changed.connect(pane.show_loading)
        pane.request_change.connect(controller.change)
        pane.detail.try_panel.request_try.connect(controller.trials.start)
        pane.detail.try_panel.request_cancel.connect(controller.trials.cancel)
        pane.request_trust.connect(controller.trust_folder)
        pane.request_reload.connect(controller.reload)
        qtbot.addWidget(pane)
        pane.resize(520, 760)
        pane.show()


@pytest.fixture
def bench(qtbot: QtBot, tmp_path: Path) -> Iterator[Bench]:
    (tmp_path / "tools.py").write_text(TOOLS, encoding="utf-8")
    background = Background()
    made = Bench(qtbot, tmp_path, background)
    yield made
    made.controller.close()
    background.stop()


def test_trust_try_and_mock_a_python_tool(
    bench: Bench, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    pane, controller = bench.pane, bench.controller
    assert pane.empty.isVisible()
    with qtbot.waitSignal(controller.registry_changed):
        controller.set_document(parse(DOC, bench.folder / "a.prompty"))
    banner = pane.banners.shown[0]
    assert "not trusted" in banner.text
    asked: list[str] = []

    def agree(dialog: ConsentDialog) -> None:
        asked.append(f"{dialog.words.text()}\n{dialog.covered.toPlainText()}")
        dialog.agree.click()

    with (
        qtbot.waitSignal(controller.registry_changed),
        answering(ConsentDialog, agree),
    ):
        qtbot.mouseClick(banner, Qt.MouseButton.LeftButton)
    assert str(bench.folder) in asked[0]
    assert str(bench.folder / "tools.py") in asked[0]
    assert pane.model.rowCount() == 1
    panel = pane.detail.try_panel
    field = panel.form.rows["a"].editor
    assert isinstance(field, NumberField)
    qtbot.mouseClick(panel.call_button, Qt.MouseButton.LeftButton)
    assert "attention" in panel.status.text()
    qtbot.keyClicks(field.line, "40")
    qtbot.mouseClick(panel.call_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: panel.status.text().startswith("Done"))
    assert panel.answer.result.toPlainText() == "42"
    mock = pane.detail.mock
    mock.kind.setCurrentIndex(1)
    mock.kind.activated.emit(1)
    qtbot.keyClicks(mock.text, "1000")
    qtbot.waitUntil(lambda: pane.model.index(0, 1).data() == "mocked")
    qtbot.waitUntil(pane.detail.head._state.isVisible)
    qtbot.mouseClick(panel.call_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: panel.answer.result.toPlainText() == "1000")
    assert mock.text.toPlainText() == "1000"
    mock.kind.setCurrentIndex(0)
    mock.kind.activated.emit(0)
    qtbot.waitUntil(lambda: pane.model.index(0, 1).data() == "ready")
    qtbot.waitUntil(lambda: not pane.detail.head._state.isVisible())  # the row says it


def test_what_models_see_is_shown(bench: Bench) -> None:
    spec = ToolSpec(
        "lookup",
        "Look up a fact.",
        {"type": "object", "required": ["q"], "properties": {"q": {"type": "string"}}},
    )
    bench.pane.show_registry(ToolRegistry((ToolEntry(spec),)))
    shown = [view.toPlainText() for view in bench.pane.detail.forms.views.values()]
    assert '"name": "lookup"' in shown[0]
    assert any(text.startswith("- **lookup**: Look up a fact.") for text in shown)
    assert any(text.startswith('- "lookup": Look up a fact.') for text in shown)
    assert bench.pane.detail.tree.topLevelItem(0).text(0) == "q"
    wear(DARK)


def test_search_filters_and_keeps_the_chosen_tool(bench: Bench, qtbot: QtBot) -> None:
    entries = tuple(ToolEntry(ToolSpec(f"tool_{n}", f"Does {n}.")) for n in range(20))
    pane = bench.pane
    pane.show_registry(ToolRegistry(entries))
    pane.choose(tool_id(pane.registry, "tool_7"))
    qtbot.keyClicks(pane.search, "7")
    assert [pane.model.index(row, 0).data() for row in range(pane.model.rowCount())] == [
        "tool_7",
        "tool_17",
    ]
    assert pane.detail.entry is not None
    assert pane.detail.entry.name == "tool_7"
    pane.search.setText("13")  # the list at once, the tool that is then chosen after it
    assert pane.model.rowCount() == 1
    qtbot.waitUntil(lambda: pane.detail.entry is entries[13])
    pane.search.setText("nothing like it")
    assert pane.model.rowCount() == 0


@pytest.mark.parametrize(
    "held", [Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier]
)
def test_a_key_held_for_something_else_selects_no_further_tool(
    bench: Bench, held: Qt.KeyboardModifier
) -> None:
    """Ctrl is held while a search is pasted, Shift while a capital letter is typed."""
    pane = bench.pane
    pane.show_registry(ToolRegistry(tuple(ToolEntry(ToolSpec(f"tool_{n}", "")) for n in range(9))))
    pane.choose(tool_id(pane.registry, "tool_2"))
    hold(held)
    pane.choose(tool_id(pane.registry, "tool_5"))
    assert [entry.name for entry in pane.table.selected] == ["tool_5"]


def test_a_thousand_tools_open_and_filter_quickly(bench: Bench) -> None:
    entries = tuple(
        ToolEntry(ToolSpec(f"tool_{n}", f"Does {n} things to files.")) for n in range(1000)
    )
    pane = bench.pane
    opened = calls_of(lambda: pane.show_registry(ToolRegistry(entries)))
    filtered = calls_of(lambda: pane.search.setText("99"))
    assert opened < 60_000
    assert filtered < 30_000
    assert pane.model.rowCount() == 19


def test_ticking_a_box_switches_the_tool_off(bench: Bench, qtbot: QtBot) -> None:
    pane = bench.pane
    asked: list[tuple[ToolId, dict[str, object]]] = []
    pane.request_change.disconnect(bench.controller.change)
    pane.request_change.connect(lambda name, changes: asked.append((name, changes)))
    pane.show_registry(ToolRegistry((ToolEntry(ToolSpec("add")),)))
    box = pane.table.visualRect(pane.model.index(0, 0))
    qtbot.mouseClick(
        pane.table.viewport(),
        Qt.MouseButton.LeftButton,
        pos=box.topLeft() + QPoint(12, box.height() // 2),
    )
    assert asked == [(ToolId("", "add"), {"enabled": False})]


def test_a_broken_source_is_named_and_leads_to_its_line(
    bench: Bench, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "broken.py"
    status = SourceStatus("python:x", "broken.py", "failed", "it cannot be read", path, 3)
    bench.pane.show_registry(ToolRegistry((), (status,)))
    banner = bench.pane.banners.shown[0]
    assert "it cannot be read" in banner.text
    with qtbot.waitSignal(bench.pane.request_open) as blocker:
        qtbot.mouseClick(banner, Qt.MouseButton.LeftButton)
    assert blocker.args == [path, 3]


def test_many_broken_sources_leave_room_for_the_tools(bench: Bench, qtbot: QtBot) -> None:
    broken = tuple(
        SourceStatus(f"mcp:{name}", f"mcp: {name}", "failed", f"mcp: {name} Connection closed")
        for name in ("one", "two", "three")
    )
    pane = bench.pane
    pane.show_registry(ToolRegistry((), broken[:2]))
    assert [banner.text for banner in pane.banners.shown] == [
        "mcp: one: Connection closed",
        "mcp: two: Connection closed",
    ]
    pane.show_registry(ToolRegistry((), broken))
    [banner] = pane.banners.shown
    assert banner.text == "3 sources have problems: mcp: one, mcp: two, mcp: three."
    qtbot.mouseClick(banner, Qt.MouseButton.LeftButton)
    assert pane.sources.isVisible()
    assert "Connection closed" in pane.sources.blocks["mcp:three"].text


def test_an_empty_pane_says_why_there_is_no_tool(bench: Bench, tmp_path: Path) -> None:
    def words() -> str:
        return " ".join(label.text() for label in bench.pane.empty.findChildren(QLabel))

    waiting = SourceStatus("python:x", "x.py", "untrusted", "not trusted", folder=tmp_path)
    bench.pane.show_registry(ToolRegistry((), (waiting,)))
    assert "when you trust them" in words()
    bench.pane.show_registry(ToolRegistry((), (SourceStatus("python:x", "x.py", "failed", "no"),)))
    assert "the problems are listed above" in words()
    bench.pane.show_registry(ToolRegistry())
    assert "Declare tools" in words()
    bench.pane.show_loading(True)
    assert "Declare tools" not in words()
    assert "Loading" in words()
    bench.pane.show_loading(False)
    assert "Declare tools" in words()


def test_a_filter_keeps_only_such_tools(bench: Bench) -> None:
    pane = bench.pane
    pane.show_registry(
        ToolRegistry(
            (
                ToolEntry(ToolSpec("bound", id=ToolId("x", "bound")), declared=False),
                ToolEntry(ToolSpec("lost")),
                ToolEntry(ToolSpec("off", id=ToolId("x", "off")), enabled=False, declared=False),
                ToolEntry(ToolSpec("send", has_effects=True), mock=FixedMock(1)),
            )
        )
    )

    def listed() -> list[str]:
        return [pane.model.index(row, 0).data() for row in range(pane.model.rowCount())]

    actions = {action.data(): action for action in pane.bar.filter.menu().actions()}
    for only, names in {
        "offered": ["bound", "lost", "send"],
        "declared": ["lost", "send"],
        "unbound": ["lost"],
        "mocked": ["send"],
        "effects": ["send"],
        "all": ["bound", "lost", "off", "send"],
    }.items():
        actions[only].trigger()
        assert listed() == names
    actions["declared"].trigger()
    pane.search.setText("lost")
    assert listed() == ["lost"]
    assert pane.bar.count.text() == "1 of 4"


def test_in_a_low_dock_table_and_tool_take_turns(bench: Bench, qtbot: QtBot) -> None:
    pane = bench.pane
    pane.show_registry(ToolRegistry((ToolEntry(ToolSpec("one")), ToolEntry(ToolSpec("two")))))
    assert pane.table.isVisible()
    assert pane.detail.isVisible()
    pane.resize(300, 420)
    assert pane.table.isVisible()
    assert not pane.detail.isVisible()
    pane.table.setFocus()
    qtbot.keyClick(pane.table, Qt.Key.Key_Down)
    assert not pane.detail.isVisible(), "looking through the table stays in it"
    qtbot.keyClick(pane.table, Qt.Key.Key_Return)
    assert pane.detail.isVisible()
    assert not pane.table.isVisible()
    assert pane.detail.entry is not None
    assert pane.detail.entry.name == "two"
    qtbot.keyClick(pane, Qt.Key.Key_Escape)
    assert pane.table.isVisible()
    box = pane.table.visualRect(pane.model.index(0, 0))
    qtbot.mouseClick(pane.table.viewport(), Qt.MouseButton.LeftButton, pos=box.center())
    assert pane.detail.entry.name == "one"
    assert pane.bar.back.isVisible()
    qtbot.keyClicks(pane.search, "t")
    assert pane.table.isVisible()
    assert not pane.detail.isVisible()


def test_columns_come_with_the_room_for_them(bench: Bench) -> None:
    pane = bench.pane
    pane.show_registry(ToolRegistry((ToolEntry(ToolSpec("one")),)))
    pane.resize(pane.minimumWidth(), 760)
    assert not pane.table.isColumnHidden(1)
    assert pane.table.isColumnHidden(8)
    name = "get_the_whole_weather_of_a_place"  # the name is whole, the others give way
    pane.show_registry(ToolRegistry((ToolEntry(ToolSpec(name)),)))
    assert pane.table.columnWidth(0) >= pane.table.sizeHintForColumn(0)
    assert pane.table.isColumnHidden(2)
    pane.show_registry(ToolRegistry((ToolEntry(ToolSpec("one")),)))
    pane.resize(1000, 760)
    shown = [not pane.table.isColumnHidden(column) for column in range(9)]
    assert shown == [True, True, True, False, False, *[True] * 4], "no tool has a path"
    entry = ToolEntry(ToolSpec("getPet"), method="GET", route="/pets/{id}")
    pane.show_registry(ToolRegistry((entry,)))
    assert not any(pane.table.isColumnHidden(column) for column in range(9))
    assert [pane.model.index(0, column).data() for column in (3, 4)] == ["GET", "/pets/{id}"]


def test_several_tools_are_switched_at_once(bench: Bench, qtbot: QtBot) -> None:
    pane, controller = bench.pane, bench.controller
    pane.request_changes.connect(controller.change_all)
    (bench.folder / "tools.py").write_text(
        "def a(): ...\ndef b(): ...\ndef c(): ...\n", encoding="utf-8"
    )
    controller.trust_folder(bench.folder)
    with qtbot.waitSignal(controller.registry_changed):
        controller.set_document(parse(DOC, bench.folder / "a.prompty"))
    pane.table.setFocus()
    pane.table.selectAll()
    with qtbot.waitSignal(controller.registry_changed):
        qtbot.keyClick(pane.table, Qt.Key.Key_Space)
    assert [entry.enabled for entry in controller.registry.entries] == [False] * 3
    assert len(pane.table.selected) == 3, "what is selected stays"
    menu = pane.table.menu()
    words = {action.text(): action for action in menu.actions()}
    with qtbot.waitSignal(controller.registry_changed):
        words["Calls: always ask"].trigger()
    assert [entry.approval for entry in controller.registry.entries] == ["always"] * 3
    keys = dict(text.split("\t") for text in words if "\t" in text)
    assert keys == {
        "Show details": "Return",
        "Offer to the model": "Space",
        "Select all": "Ctrl+A",
    }
    menu.deleteLater()


def test_the_answer_stands_beside_the_form_where_there_is_room(bench: Bench, qtbot: QtBot) -> None:
    panel = bench.pane.detail.try_panel
    bench.pane.show_registry(ToolRegistry((ToolEntry(ToolSpec("add")),)))
    bench.pane.resize(900, 760)
    assert not panel.answer.isVisible()
    outcome = ToolOutcome("long\n" * 200, "ok")
    panel.show_trial(ToolTrial(tool_id(bench.pane.registry, "add"), {}, outcome, 1.0))
    qtbot.waitUntil(lambda: panel.answer.result.isVisible() and panel.answer.width() > 200)

    def left_of_answer() -> bool:
        return panel.answer.mapTo(panel, QPoint(0, 0)).x() > panel.form.width() // 2

    assert left_of_answer()
    assert panel.answer.result.height() > 200
    bench.pane.resize(400, 760)
    qtbot.waitUntil(lambda: not left_of_answer())
    assert panel.answer.isVisible()
    with qtbot.waitSignal(panel.request_try) as asked:
        panel.again_button.click()
    assert asked.args == [ToolId("", "add"), {}]


def test_enter_calls_the_tool_and_shift_enter_is_a_line(bench: Bench, qtbot: QtBot) -> None:
    panel = bench.pane.detail.try_panel
    schema: JsonObject = {"type": "object", "properties": {"city": {"type": "string"}}}
    bench.pane.show_registry(ToolRegistry((ToolEntry(ToolSpec("look", parameters=schema)),)))
    field = panel.form.rows["city"].editor.findChild(GrowingText)
    assert field is not None
    qtbot.keyClicks(field, "Oslo")
    qtbot.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClicks(field, "Bergen")
    panel.request_try.disconnect(bench.controller.trials.start)
    with qtbot.waitSignal(panel.request_try) as asked:
        qtbot.keyClick(field, Qt.Key.Key_Return)
    assert asked.args == [ToolId("", "look"), {"city": "Oslo\nBergen"}]
