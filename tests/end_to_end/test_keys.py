"""Keys planted wherever one can come from; then every byte that the studio wrote is searched."""

from __future__ import annotations

import base64
import logging
import urllib.parse
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from studio.application.connections.model_list import UseModel
from studio.application.exchange.export import make_export, targets
from studio.core.export.target import ExportSource
from studio.core.models.connections import EMBEDDED, Connection
from studio.core.models.secrets import KEYRING
from studio.core.runs.exchange import FORMS
from studio.ui.app.lifecycle import Lifecycle
from studio.ui.app.workbench import Workbench
from studio.ui.dialogs.crash import CrashDialog
from tests.support.chat_server import ChatServer, chat_server, chunk, events, failure, streamed
from tests.support.memory_keyring import MemoryKeyring, memory_keyring

Open = Callable[[Path], Workbench]
# No form that a pattern knows: only who handed them out can tell what they are.
ENVIRONMENT = "planted/in+environment=7f3e91d2"
IN_KEYRING = "planted-in-the-keyring-55a0c1"
SESSION = "planted-for-this-session-e4b8"
IN_FILE = "planted-in-the-prompts-file-0dd7"
KEYS = (ENVIRONMENT, IN_KEYRING, SESSION)


@pytest.fixture
def key_store() -> Iterator[MemoryKeyring]:
    with memory_keyring() as store:
        yield store


def forms_of(key: str) -> Iterator[bytes]:
    """The ways in which a key could stand in a file."""
    yield key.encode()
    yield urllib.parse.quote(key, safe="").encode()
    yield key.encode("utf-16-le")
    for offset in range(3):  # wherever it begins in what was encoded
        coded = base64.b64encode(b"x" * offset + key.encode())
        yield coded[4 : len(coded) // 4 * 4 - 4]


def places_of(key: str, folder: Path) -> list[Path]:
    """The files that hold a key in any form."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) > 5, "nothing was written that could be searched"
    return [path for path in files if any(form in content(path) for form in forms_of(key))]


def content(path: Path) -> bytes:
    """What is in a file; nothing where it has just got its final name, which is searched too."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def run_to_stop(qtbot: QtBot, workbench: Workbench) -> None:
    """Run until it is over or stands at an error."""
    workbench.run_pane.commands.run_or_continue()

    def stops() -> bool:
        state = workbench.run.state
        return state is not None and (not workbench.run.is_live or state.error is not None)

    qtbot.waitUntil(stops)
    workbench.run_pane.commands.stop()
    qtbot.waitUntil(lambda: not workbench.run.is_live)


def use_connections(qtbot: QtBot, workbench: Workbench, server: ChatServer) -> None:
    """Run with each connection: refused, broken off, answered; the server repeats the key."""
    connections = workbench.connections
    base = Connection("", "compatible", base_url=server.url, model="scripted-1", retries=0)
    made = tuple(
        replace(base, name=name, key=reference)
        for name, reference in (("E", "${env:PLANTED_KEY}"), ("K", KEYRING), ("S", KEYRING))
    )
    connections.save(replace(connections.connections, connections=(EMBEDDED, *made)))
    connections.keys.keep("K", IN_KEYRING, only_session=False)
    connections.keys.keep("S", SESSION, only_session=True)
    for connection, key in zip(made, KEYS, strict=True):
        connections.use(UseModel(connection), None)
        connections.trials.start(connection)
        qtbot.waitUntil(lambda one=connection: connections.trials.of(one).state == "works")
        said = {"error": {"message": f"lost, Bearer {key}", "type": "server_error"}}
        server.script(
            failure(401, f"Incorrect API key provided: {key}"),
            events([chunk({"content": "Half"}), said]),
        )
        server.always(streamed("Whole."))
        for _ in range(3):
            run_to_stop(qtbot, workbench)
        assert workbench.run.state is not None
        assert workbench.run.state.answer == "Whole."
        assert server.requests[-1].headers["authorization"] == f"Bearer {key}"


def write_everything(qtbot: QtBot, workbench: Workbench, folder: Path) -> None:
    """Exports of the prompt and of the run, and pictures of the window."""
    folder.mkdir()
    document = workbench.window.tabs.document
    assert document is not None
    for target in targets():
        result = make_export(target, ExportSource(document, base_url="http://127.0.0.1:1/v1"))
        data = result.data if result.data is not None else result.text.encode()
        (folder / f"prompt-{target.name}").write_bytes(data)
    state = workbench.run.state
    assert state is not None
    for form in FORMS:
        with qtbot.waitSignal(workbench.exchange.exported):
            workbench.exchange.export_run(
                state.setup.run, form, folder / f"run{form.suffix}-{form.name}"
            )
    dialog = workbench.coordinator.manage()
    for name in ("E", "K", "S"):
        dialog.show_connection(name)
        dialog.grab().save(str(folder / f"{name}.png"))
    dialog.close()
    workbench.window.grab().save(str(folder / "window.png"))


def crash(key: str) -> None:
    """A defect that has a key in its hands."""
    raise RuntimeError(f"cannot send {key!r}")


def test_no_key_is_in_anything_that_the_studio_wrote(
    qtbot: QtBot,
    user_home: Path,
    open_workbench: Open,
    key_store: MemoryKeyring,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PLANTED_KEY", ENVIRONMENT)
    path = user_home.parent / f"{user_home.name}-prompt" / "greet.prompty"
    path.parent.mkdir()
    path.write_text(
        "---\nname: greet\nmodel:\n  connection:\n    kind: key\n    provider: openai\n"
        f"    apiKey: {IN_FILE}\n---\nuser:\nHello\n",
        encoding="utf-8",
    )
    workbench = open_workbench(path)
    hide = workbench.connections.secrets.mask
    window = workbench.window
    lifecycle = Lifecycle(
        window.services, window.parts, window.commands, restore=True, is_first=True, hide=hide
    )
    with chat_server() as server:
        use_connections(qtbot, workbench, server)
    assert key_store.kept == {("prompt-studio", "K"): IN_KEYRING}
    write_everything(qtbot, workbench, user_home / "written")
    reports = []
    lifecycle.crashes.happened.connect(reports.append)
    for key in KEYS:
        logging.getLogger("httpx").warning("sent with %s", key)
        try:
            crash(key)
        except RuntimeError as error:
            lifecycle.crashes.tell(error, "window")
    qtbot.waitUntil(lambda: len(reports) == len(KEYS))
    assert not [one for one in reports if any(key in one.report + one.summary for key in KEYS)]
    page = workbench.window.tabs.current
    assert page is not None
    page.editor.insertPlainText("typed and not saved")  # goes into the swap file
    qtbot.waitUntil(lambda: any((user_home / "data").glob("swap/*")))
    assert not [each for key in KEYS for each in places_of(key, user_home)]
    for dialog in workbench.window.findChildren(CrashDialog):
        dialog.close()
    lifecycle.close()
    page.editor.document().setModified(False)
    workbench.window.close()  # settings, places and the session are written now
    workbench.close()
    assert (user_home / "data" / "log" / "studio.log").is_file()
    assert not [each for key in KEYS for each in places_of(key, user_home)]
    said = capfd.readouterr()
    assert not [key for key in KEYS if key in said.out + said.err]
    # What a person wrote into the prompt itself is in no record of its runs.
    kept = [path for path in places_of(IN_FILE, user_home) if path.parent.name != "swap"]
    assert [path.name for path in kept if not path.name.startswith("prompt-")] == []
