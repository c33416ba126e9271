"""The controller of connections: picks, the list, keys, tries and the model of a run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from studio.application.connections.model import RequestedModel, SwitchedModel
from studio.application.connections.model_list import UseModel
from studio.core.agent.values.step import RunModel
from studio.core.models.base import ModelError, ModelRequest
from studio.core.models.choice import ModelChoice
from studio.core.models.connections import EMBEDDED, Connection
from studio.core.models.scripted import ScriptedModel
from studio.core.models.secrets import KEYRING
from studio.core.prompty.document import ModelDeclaration, PromptDocument
from studio.core.prompty.parse import parse
from studio.core.wire.reply import Reply, accumulate
from studio.viewmodels.app.background import Background
from studio.viewmodels.connections.controller import ConnectionsController
from tests.support.chat_server import ChatServer, chat_server
from tests.support.model_choice import use_model

REQUEST = ModelRequest(())


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server() as running:
        yield running


@pytest.fixture
def controller(qtbot: QtBot, user_home: Path) -> Iterator[ConnectionsController]:
    background = Background()
    made = ConnectionsController(background, user_home / "connections.toml")
    yield made
    made.close()
    background.stop()


def keep(controller: ConnectionsController, *more: Connection) -> None:
    known = controller.connections
    controller.save(replace(known, connections=(*known.connections, *more)))


def test_a_picked_model_holds_for_its_connection(controller: ConnectionsController) -> None:
    keep(
        controller,
        Connection("A", "compatible", base_url="http://localhost:1/v1", model="usual"),
        Connection("B", "compatible", base_url="http://localhost:2/v1"),
    )
    use_model(controller, "A", "other")
    assert controller.choice.declaration.id == "other"
    use_model(controller, "B")
    assert controller.choice.declaration.id == ""
    use_model(controller, "B", "first")  # it had none: this is its own from now on
    b = controller.connections.named("B")
    assert b is not None
    assert b.model == "first"
    assert controller.connections.default == EMBEDDED.name
    use_model(controller, "A")
    assert controller.choice.declaration.id == "usual"


def test_the_own_model_of_a_connection_is_chosen_for_a_folder(
    controller: ConnectionsController, tmp_path: Path
) -> None:
    here = Connection("A", "compatible", base_url="http://localhost:1/v1", model="usual")
    keep(controller, here)
    text = "---\nmodel: {id: retired, connection: {kind: reference, name: A}}\n---\nuser:\nHi\n"
    controller.set_document(parse(text, tmp_path / "one.prompty"))
    assert controller.choice.declaration.id == "retired"
    controller.use(UseModel(here, "usual"), tmp_path)
    assert controller.choice.declaration.id == "usual"
    controller.use(UseModel(here), tmp_path)  # the connection alone: each prompt names its model
    assert controller.choice.declaration.id == "retired"


def test_a_pick_belongs_to_its_file(controller: ConnectionsController, tmp_path: Path) -> None:
    keep(
        controller,
        Connection("A", "compatible", base_url="http://localhost:1/v1", model="usual"),
        Connection("B", "compatible", base_url="http://localhost:2/v1", model="other"),
    )
    text = "---\nmodel: {connection: {kind: reference, name: A}}\n---\nuser:\nHi\n"
    one, two = (parse(text, tmp_path / name) for name in ("one.prompty", "two.prompty"))

    def asks(document: PromptDocument) -> tuple[str, str]:
        controller.set_document(document)
        return controller.choice.connection.name, controller.choice.declaration.id

    controller.set_document(one)
    use_model(controller, "A", "plain")
    assert (asks(one), asks(two)) == (("A", "plain"), ("A", "usual"))
    use_model(controller, "B")
    assert (asks(one), asks(two)) == (("A", "plain"), ("B", "other"))

    draft = parse(text, None)
    controller.set_document(draft)
    use_model(controller, "B")
    saved = tmp_path / "saved.prompty"
    controller.follow_move("", str(saved))
    assert asks(parse(text, saved)) == ("B", "other")
    assert asks(draft) == ("A", "usual")  # the next new prompt begins without a pick

    b = controller.connections.named("B")
    assert b is not None
    controller.change("B", replace(b, name="C"))
    assert asks(two) == ("C", "other")
    controller.remove("C")
    assert asks(two) == ("A", "usual")


def test_the_list_of_another_program_is_read_unless_it_is_broken(
    qtbot: QtBot, controller: ConnectionsController, user_home: Path
) -> None:
    path = user_home / "connections.toml"
    entry = '[[connection]]\nname = "New"\nkind = "manual"\n'
    with qtbot.waitSignal(controller.saved):
        path.write_text(entry, encoding="utf-8")
    assert controller.connections.named("New") is not None
    with qtbot.waitSignal(controller.refused):
        path.write_text(entry + "[", encoding="utf-8")
    assert controller.connections.named("New") is not None


def test_the_list_of_models_is_asked_for_once_and_only_where_it_was_set_up(
    qtbot: QtBot, controller: ConnectionsController, server: ChatServer
) -> None:
    text = f"---\nmodel:\n  connection:\n    endpoint: {server.url}\n---\nuser:\nHi\n"
    controller.set_document(parse(text, None))
    assert controller.choice.connection.is_remote
    controller.list_models({})
    assert controller.trials.of(controller.choice.connection).state == "untried"
    keep(controller, Connection("Own", "compatible", base_url=server.url, retries=0))
    use_model(controller, "Own")
    controller.list_models({})
    controller.list_models({})
    qtbot.waitUntil(lambda: controller.models == ("scripted-1",))
    controller.list_models({})
    assert len(server.requests) == 1


def test_what_the_server_lists_corrects_what_is_known_of_a_model(
    qtbot: QtBot, controller: ConnectionsController, server: ChatServer
) -> None:
    server.models = [{"id": "gpt-4o", "context_length": 12_345}]
    made = Connection("Own", "compatible", base_url=server.url, model="gpt-4o")
    keep(controller, made)
    use_model(controller, "Own")
    known = controller.open(None).capabilities.context_window
    assert known is not None
    assert known > 100_000
    controller.trials.start(made)
    qtbot.waitUntil(lambda: controller.trials.of(made).state == "works")
    assert controller.open(None).capabilities.context_window == 12_345
    corrected = replace(made, capabilities={"context_window": 999})
    controller.change("Own", corrected)
    assert controller.open(None).capabilities.context_window == 999


def test_a_changed_connection_is_untried(
    qtbot: QtBot, controller: ConnectionsController, server: ChatServer
) -> None:
    made = Connection("Own", "compatible", base_url=server.url)
    keep(controller, made)
    controller.trials.start(made)
    qtbot.waitUntil(lambda: controller.trials.of(made).state == "works")
    renamed = replace(made, name="Mine", model="scripted-1")
    controller.change("Own", renamed)
    assert controller.trials.of(renamed).state == "works"
    assert controller.trials.of(replace(renamed, base_url="http://localhost:1/v1")).state == (
        "untried"
    )
    controller.remove("Mine")
    assert controller.trials.of(renamed).state == "untried"
    assert controller.connections.connections == (EMBEDDED,)


@pytest.mark.parametrize(
    ("made", "works"),
    [
        (Connection("x", "manual"), False),
        (Connection("x", "scripted"), False),
        (Connection("x", "scripted", settings={"script": "/nowhere/script.json"}), False),
        (Connection("x", "replay"), False),
        (Connection("x", "compatible"), False),
        (Connection("x", "embedded", settings={"weights": "/nowhere/model.gguf"}), False),
    ],
    ids=lambda value: value.kind if isinstance(value, Connection) else "",
)
def test_every_kind_can_be_tried(
    qtbot: QtBot, controller: ConnectionsController, made: Connection, works: bool
) -> None:
    with qtbot.waitSignal(
        controller.trials.changed,
        check_params_cb=lambda _, trial: trial.probe is not None,
    ) as tried:
        controller.trials.start(made)
    trial = tried.args[1]
    assert (trial.state == "works", trial.probe.works) == (works, works)
    assert trial.probe.message
    assert works or trial.probe.hint


def test_keys_are_kept_moved_and_forgotten(qtbot: QtBot, controller: ConnectionsController) -> None:
    keys = controller.keys
    with qtbot.waitSignal(keys.found) as found:
        keys.keep("A", " sk-some-planted-key ", only_session=True)
    assert (found.args[0], found.args[1].place) == ("A", "session")
    keep(controller, Connection("A", "openai", key=KEYRING))
    with qtbot.waitSignal(keys.found, check_params_cb=lambda name, _: name == "B") as found:
        controller.change("A", Connection("B", "openai", key=KEYRING))
    assert found.args[1].place == "session"
    with qtbot.waitSignal(keys.found) as found:
        keys.look_up(KEYRING, "A")
    assert found.args[1].place == "none"
    with qtbot.waitSignal(keys.found) as found:
        keys.forget("B")
    assert "key" in found.args[1].reason
    assert "planted" not in repr(found.args)


def test_nothing_opens_an_endpoint_that_was_not_allowed(
    controller: ConnectionsController,
) -> None:
    text = (
        "---\nmodel:\n  id: big\n  connection:\n    endpoint: https://models.example.org/v1\n"
        "---\nuser:\nHi\n"
    )
    controller.set_document(parse(text, None))
    assert controller.needs_trust() == "https://models.example.org"
    with pytest.raises(ModelError, match="not allowed"):
        controller.open(None)
    controller.allow_once("https://models.example.org")
    controller.open(None)
    with pytest.raises(ModelError, match="not allowed"):
        controller.open(None)  # once is once
    controller.trust("https://models.example.org")
    controller.open(None)


def test_a_run_keeps_its_model_and_the_one_picked_is_told(
    controller: ConnectionsController, tmp_path: Path
) -> None:
    script = tmp_path / "script.json"
    script.write_text('["One"]', encoding="utf-8")
    keep(
        controller,
        Connection("Script", "scripted", settings={"script": str(script)}),
        Connection("Empty", "scripted"),
    )
    model = controller.open(None)
    before = model.label
    picks: list[RunModel | None] = []
    controller.picked.connect(lambda: picks.append(controller.model_now(None)))
    use_model(controller, "Script")
    assert (model.label, picks) == (before, [RunModel("Script script.json")])
    refused: list[str] = []
    controller.refused.connect(lambda what, _: refused.append(what))
    use_model(controller, "Empty")
    assert refused == ["The connection 'Empty' names no script."]
    assert picks[1:] == [None]


def test_a_setting_of_its_model_holds_for_a_run_that_stands(
    controller: ConnectionsController,
) -> None:
    model = controller.open(None)
    assert isinstance(model, SwitchedModel)
    before = model.inner
    controller.set_level("syntax")
    assert model.inner is not before
    assert model.label == before.label


def test_the_model_of_a_run_is_found_among_the_connections(
    controller: ConnectionsController, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.json").write_text('["Hi"]', encoding="utf-8")
    keep(
        controller,
        *(
            Connection(name, "scripted", settings={"script": str(tmp_path / f"{name}.json")})
            for name in ("one", "two")
        ),
        Connection("server", "compatible", base_url="http://127.0.0.1:9/v1", model="small"),
    )
    use_model(controller, "one")
    asked = RequestedModel()
    found = controller.open_same(None, asked, RunModel("Script two.json"))
    assert found is not None
    assert found.label == "Script two.json"
    large = RunModel("large (server)", "large", "", "http://127.0.0.1:9")
    found = controller.open_same(None, asked, large)
    assert found is not None
    assert found.label == "large (server)"
    assert controller.open_same(None, asked, replace(large, server="http://other:9")) is None
    assert controller.open_same(None, asked, RunModel("Script gone.json")) is None


def test_a_run_keeps_its_own_document_when_another_one_is_opened(
    controller: ConnectionsController, tmp_path: Path
) -> None:
    scripts = {name: tmp_path / f"{name}.json" for name in ("one", "two")}
    for path in scripts.values():
        path.write_text('["Hi"]', encoding="utf-8")
    keep(
        controller,
        *(
            Connection(name, "scripted", settings={"script": str(path)})
            for name, path in scripts.items()
        ),
    )
    block = "---\nmodel:\n  connection: {{kind: reference, name: {}}}\n---\nuser:\nHi\n"
    one, two = (parse(block.format(name), None) for name in scripts)
    controller.set_document(two)  # it is open, and a run of the other is taken up again
    model = controller.open(None, RequestedModel(one.model))
    assert model.label == "Script one.json"
    controller.set_level("syntax")  # picked for what is open; the run's own choice stays
    assert model.label == "Script one.json"
    use_model(controller, "two")  # whether the run goes on with it the user is asked elsewhere
    assert model.label == "Script one.json"


def test_a_choice_that_was_made_elsewhere_counts(
    controller: ConnectionsController, tmp_path: Path
) -> None:
    """A cell of an experiment is stepped through with its own model, whatever the toolbar says."""
    scripts = {name: tmp_path / f"{name}.json" for name in ("column", "toolbar")}
    for path in scripts.values():
        path.write_text('["Hi"]', encoding="utf-8")
    made = [
        Connection(name, "scripted", settings={"script": str(path)})
        for name, path in scripts.items()
    ]
    keep(controller, *made)
    use_model(controller, "toolbar")
    column = ModelChoice(made[0], ModelDeclaration(id="large-7"), "the experiment names it")
    asked = RequestedModel(settled=column)
    assert controller.choice_of(asked) == column
    model = controller.open(None, asked)
    assert (model.label, controller.chosen) == ("Script column.json", "toolbar")


async def test_the_newest_settings_answer_and_all_are_let_go() -> None:
    model = SwitchedModel(ScriptedModel(["First"]))

    async def ask() -> str:
        reply = Reply()
        async for delta in model.stream(REQUEST):
            reply = accumulate(reply, delta)
        return reply.text

    assert await ask() == "First"
    model.switch(ScriptedModel(["Second"]))
    assert await ask() == "Second"
    await model.close()
