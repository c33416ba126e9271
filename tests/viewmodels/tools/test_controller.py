from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from studio.core.prompty.parse import parse
from studio.core.tools.registry import FixedMock
from studio.core.tools.trust.store import TrustStore
from studio.viewmodels.app.background import Background
from studio.viewmodels.tools.calls import ToolTrial
from studio.viewmodels.tools.controller import ToolsController
from tests.support.tool_ids import tool_id

TOOLS = '''
import time
from pathlib import Path

def add(a: int, b: int = 2) -> int:
    """Add two numbers."""
    return a + b

def sleepy() -> str:
    """Never comes back."""
    print("on my way")
    Path(__file__).with_name("began").touch()
    time.sleep(600)
    return "late"
'''

DOC = """---
name: t
metadata:
  agent:
    tools: [tools.py]
---
system:
Hello
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tools.py").write_text(TOOLS, encoding="utf-8")
    return tmp_path


@pytest.fixture
def controller(qtbot: QtBot, tmp_path: Path) -> Iterator[ToolsController]:
    background = Background()
    made = ToolsController(background, TrustStore(tmp_path / "data" / "trust.json"))
    yield made
    made.close()
    background.stop()


def load(qtbot: QtBot, controller: ToolsController, folder: Path) -> None:
    with qtbot.waitSignal(controller.registry_changed):
        controller.set_document(parse(DOC, folder / "a.prompty"))


def trust(qtbot: QtBot, controller: ToolsController, folder: Path) -> None:
    with qtbot.waitSignal(controller.registry_changed):
        controller.trust_folder(folder)


def attempt(qtbot: QtBot, controller: ToolsController, name: str, **arguments: object) -> ToolTrial:
    trials: list[ToolTrial] = []
    controller.trial_changed.connect(trials.append)
    controller.trials.start(tool_id(controller.registry, name), arguments)  # type: ignore[arg-type]
    assert trials[-1].outcome is None
    qtbot.waitUntil(lambda: trials[-1].outcome is not None)
    controller.trial_changed.disconnect(trials.append)
    return trials[-1]


def test_nothing_of_an_untrusted_folder_runs(
    qtbot: QtBot, controller: ToolsController, folder: Path
) -> None:
    load(qtbot, controller, folder)
    assert controller.registry.entries == ()
    assert controller.registry.sources[0].state == "untrusted"


def test_a_trusted_python_tool_is_called_for_real(
    qtbot: QtBot, controller: ToolsController, folder: Path
) -> None:
    load(qtbot, controller, folder)
    trust(qtbot, controller, folder)
    trial = attempt(qtbot, controller, "add", a=5)
    assert trial.outcome is not None
    assert (trial.outcome.status, trial.outcome.text) == ("ok", "7")
    assert trial.outcome.duration > 0
    entry = controller.registry.named("add")
    assert entry is not None
    assert entry.calls == 1
    bad = attempt(qtbot, controller, "add", a="five")
    assert bad.outcome is not None
    assert bad.outcome.status == "bad-arguments"


def test_a_mock_answers_instead_and_gives_way_again(
    qtbot: QtBot, controller: ToolsController, folder: Path
) -> None:
    load(qtbot, controller, folder)
    trust(qtbot, controller, folder)
    with qtbot.waitSignal(controller.registry_changed):
        controller.change(tool_id(controller.registry, "add"), {"mock": FixedMock("mocked")})
    mocked = attempt(qtbot, controller, "add", a=5)
    assert mocked.outcome is not None
    assert mocked.outcome.text == "mocked"
    with qtbot.waitSignal(controller.registry_changed):
        controller.change(tool_id(controller.registry, "add"), {"mock": None})
    real = attempt(qtbot, controller, "add", a=5)
    assert real.outcome is not None
    assert real.outcome.text == "7"


def test_what_the_user_changed_since_is_never_shown_as_it_was_before(
    qtbot: QtBot, controller: ToolsController, folder: Path
) -> None:
    """Each key of a mock's text is a change; an older one shown late would take the text back."""
    load(qtbot, controller, folder)
    trust(qtbot, controller, folder)
    shown: list[object] = []
    controller.registry_changed.connect(lambda registry: shown.append(registry.named("add").mock))
    for value in (1, 10, 100):
        controller.change(tool_id(controller.registry, "add"), {"mock": FixedMock(value)})
    controller.change(tool_id(controller.registry, "add"), {"mock": None})
    qtbot.waitUntil(lambda: bool(shown))
    assert shown == [None]


def test_a_hanging_tool_is_cancelled(
    qtbot: QtBot, controller: ToolsController, folder: Path
) -> None:
    load(qtbot, controller, folder)
    trust(qtbot, controller, folder)
    trials: list[ToolTrial] = []
    controller.trial_changed.connect(trials.append)
    said: list[str] = []
    controller.trials.output_changed.connect(said.append)
    controller.trials.start(tool_id(controller.registry, "sleepy"), {})
    qtbot.waitUntil((folder / "began").exists)
    qtbot.waitUntil(lambda: "on my way\n" in said)
    controller.trials.cancel()
    qtbot.waitUntil(lambda: trials[-1].outcome is not None)
    assert trials[-1].outcome is not None
    assert trials[-1].outcome.status == "cancelled"
    assert not controller.trials.is_running


def test_a_slow_file_does_not_take_the_place_of_the_one_shown_since(
    qtbot: QtBot, controller: ToolsController, folder: Path
) -> None:
    controller.trust_folder(folder)
    go = folder / "go"
    (folder / "slow.py").write_text(
        "import os, time\n"
        f"while not os.path.exists({str(go)!r}): time.sleep(0.01)\n"
        "def slow() -> str: return ''\n",
        encoding="utf-8",
    )
    shown: list[list[str]] = []
    controller.registry_changed.connect(
        lambda registry: shown.append([entry.name for entry in registry.entries])
    )
    controller.set_document(parse("", folder / "slow.py"))
    controller.set_document(parse(TOOLS, folder / "tools.py"))
    qtbot.waitUntil(lambda: ["add", "sleepy"] in shown)
    go.touch()
    qtbot.waitUntil(lambda: not controller.is_loading)
    assert shown[-1] == ["add", "sleepy"]
    assert ["slow"] not in shown
