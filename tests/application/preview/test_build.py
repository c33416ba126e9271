from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from studio.application.preview.build import build_preview, keep_last_good, sent_now, shown_prompt
from studio.application.preview.requests import PROVIDERS, count_preview, preview_target, request_of
from studio.application.preview.variables import PreviewJob, PreviewTarget
from studio.core.agent.loop.setup import make_setup
from studio.core.agent.values.options import RunOptions
from studio.core.models.base import Capabilities, ModelRequest
from studio.core.models.bodies import request_body
from studio.core.models.choice import choose_connection
from studio.core.models.connections import EMBEDDED, Connections
from studio.core.models.scripted import ScriptedModel
from studio.core.paths import resource
from studio.core.prompty.document import ToolSpec
from studio.core.prompty.parse import parse
from studio.core.text.values import Json
from studio.core.tools.trust.store import TrustStore
from studio.core.wire.request import Provider

CHAT = """---
name: trip
model:
  id: gpt-4o-mini
template:
  parser: {kind: section}
inputs:
  city: {kind: string, sample: Lisbon}
  days: {kind: integer, default: 2}
---
system:
You plan trips to {{ city }}.

user[name="Mina"]:
{{ days }} days{{ extra }}
"""


def test_messages_requests_and_tokens_come_from_one_order() -> None:
    preview = build_preview(PreviewJob(parse(CHAT), {"city": "Porto"}, revision=3))
    assert [message.text for message in preview.messages.messages] == [
        "You plan trips to Porto.",
        "2 days",
    ]
    assert preview.revision == 3
    assert len(count_preview(preview).tokens.messages) == 2
    assert count_preview(preview).tokens.total > sum(count_preview(preview).tokens.messages) > 8
    body = json.loads(request_of(preview, "openai-chat").text)
    assert body["model"] == "gpt-4o-mini"
    assert body["messages"][0] == {"role": "system", "content": "You plan trips to Porto."}
    assert json.loads(request_of(preview, "anthropic").text)["system"]


def test_a_broken_template_keeps_the_last_good_messages_and_names_the_problem() -> None:
    good = build_preview(PreviewJob(parse(CHAT), {}))
    broken = build_preview(PreviewJob(parse(CHAT.replace("{{ city }}", "{{ city | nope }}")), {}))
    assert broken.is_stale
    shown = keep_last_good(broken, good)
    assert shown.messages is good.messages
    assert shown.shown is good.document
    assert shown.blocker is not None
    place = shown.document.source.position(shown.blocker.span.start)
    assert place.line == 12
    assert keep_last_good(good, None) is good


def test_front_matter_that_cannot_be_read_is_a_blocker() -> None:
    broken = build_preview(PreviewJob(parse(CHAT.replace("name: trip", "name: [trip")), {}))
    assert broken.is_stale
    assert broken.blocker is not None


def test_the_request_names_the_model_that_a_run_would_be_sent_to() -> None:
    bare = parse("system:\nHello\n")
    preview = build_preview(PreviewJob(bare, {}, target=PreviewTarget("chosen")))
    assert json.loads(request_of(preview, "openai-chat").text)["model"] == "chosen"
    preview = build_preview(PreviewJob(parse(CHAT), {}, target=PreviewTarget("chosen")))
    assert json.loads(request_of(preview, "openai-chat").text)["model"] == "chosen"


def test_the_bundled_react_agent_lists_its_tools_in_the_prompt_and_sends_none(
    checkout: Path,
) -> None:
    path = checkout / "resources" / "examples" / "react-agent.prompty"
    preview = build_preview(PreviewJob(parse(path.read_text(encoding="utf-8"), path), {}))
    names = [tool.name for tool in preview.tools]
    assert names
    text = "\n".join(message.text for message in preview.messages.messages)
    assert all(name in text for name in names)
    assert "tools" not in request_of(preview, "openai-chat").body
    assert any("are in the prompt" in note for note in request_of(preview, "openai-chat").notes)


def test_the_native_agent_sends_its_tools(checkout: Path) -> None:
    path = checkout / "resources" / "examples" / "tool-calling-agent.prompty"
    preview = build_preview(PreviewJob(parse(path.read_text(encoding="utf-8"), path), {}))
    sent = json.loads(request_of(preview, "openai-chat").text)["tools"]
    assert [tool["function"]["name"] for tool in sent] == [tool.name for tool in preview.tools]


def test_a_key_in_a_message_is_not_shown_in_the_request() -> None:
    key = "sk-proj-" + "a1B2" * 8
    preview = build_preview(PreviewJob(parse(CHAT), {"city": key}))
    for request in (request_of(preview, provider) for provider in PROVIDERS):
        assert key not in request.text
        assert "••••" in request.text


@pytest.mark.parametrize("text", ["", "---\n", "\x00\ufeff{{", "---\n- 1\n---\nhi", "system:"])
def test_any_text_gives_a_preview(text: str) -> None:
    assert build_preview(PreviewJob(parse(text), {})).document.source.text == text


@pytest.mark.parametrize("trusted", [True, False])
def test_the_environment_is_looked_at_for_trusted_folders_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trusted: bool
) -> None:
    (tmp_path / ".env").write_text("BESIDE=1\n", encoding="utf-8")
    text = "---\nname: x\nmetadata:\n  a: ${env:BESIDE}\n  b: ${env:NOWHERE}\n---\nuser:\nHi\n"
    preview = build_preview(PreviewJob(parse(text, tmp_path / "x.prompty"), trusted=trusted))
    unset = [problem.message for problem in preview.problems if problem.code == "env-not-set"]
    assert [("NOWHERE" in message) for message in unset] == ([True] if trusted else [])


def test_a_variable_of_a_connection_that_is_not_used_is_no_problem() -> None:
    document = parse(
        "---\nname: a\nmodel:\n  provider: azure\n  connection: {kind: key, endpoint:"
        " '${env:NOT_SET_ANYWHERE}'}\n---\nuser:\nHello\n"
    )
    own = replace(EMBEDDED, name="Mine", kind="compatible", base_url="http://127.0.0.1:9/v1")
    here = Path("/nowhere/a.prompty")
    for folders, told in (({}, ["env-not-set"]), ({str(here.parent): "Mine"}, [])):
        connections = Connections((EMBEDDED, own), folders=folders)
        choice = choose_connection(document.model, connections, file=here)
        preview = build_preview(PreviewJob(document, target=preview_target(choice)))
        assert [each.code for each in preview.problems if each.code == "env-not-set"] == told


@pytest.mark.parametrize("trusted", [True, False])
def test_files_are_read_of_trusted_folders_only(tmp_path: Path, trusted: bool) -> None:
    (tmp_path / "beside.txt").write_text("what is beside", encoding="utf-8")
    text = "---\nname: x\ninputs: {a: '${file:beside.txt}'}\n---\nuser:\n{{ a }}\n"
    preview = build_preview(PreviewJob(parse(text, tmp_path / "x.prompty"), trusted=trusted))
    (message,) = preview.messages.messages
    assert message.text == ("what is beside" if trusted else "${file:beside.txt}")
    unread = [each for each in preview.problems if each.code == "reference-not-trusted"]
    assert [each.severity for each in unread] == ([] if trusted else ["hint"])


def test_a_declared_thread_of_any_name_is_what_the_token_means() -> None:
    text = "---\ninputs:\n  talk: {kind: thread}\n---\nsystem:\nHi\n\n![thread]\n"
    talk: list[Json] = [{"role": "user", "content": "mine"}]
    preview = build_preview(PreviewJob(parse(text), {"talk": talk}))
    assert [message.text for message in preview.messages.messages] == ["Hi", "mine"]
    assert preview.messages.messages[1].origin.input == "talk"
    without = build_preview(PreviewJob(parse(text)))
    assert [message.text for message in without.messages.messages] == ["Hi"]
    assert [(thread.index, thread.input) for thread in without.messages.threads] == [(1, "talk")]
    assert [(card.role, card.line) for card in without.cards] == [("system", 5), ("thread", 8)]


EXACT = """---
model:
  id: m
  options: {temperature: 0.2, topK: 3, additionalProperties: {logit_bias: {"5": 1}}}
outputs:
  answer: {kind: string, description: d}
  home: {kind: object, properties: {street: {kind: string}}}
  mode: {kind: string, enum: [a, b]}
tools:
  - name: search
    kind: function
    strict: true
    parameters: {properties: {q: {kind: string}, n: {kind: integer}}, required: [q]}
---
system:
You know {{ x }}.

user:
{{ question }}
"""


@pytest.mark.parametrize("provider", list(PROVIDERS))
@pytest.mark.parametrize("able", [True, False])
@pytest.mark.parametrize("name", ["EXACT", "react-agent", "tool-calling-agent"])
def test_the_body_is_the_one_that_a_run_sends(name: str, able: bool, provider: Provider) -> None:
    example = resource("examples") / f"{name}.prompty"
    document = parse(EXACT if name == "EXACT" else example.read_text(encoding="utf-8"))
    values: dict[str, Json] = {"x": "v", "question": "q"}
    capabilities = Capabilities(tools=able, stop=able, json_schema=able)
    target = PreviewTarget("m", capabilities=capabilities)
    preview = build_preview(PreviewJob(document, values, target=target))
    setup = make_setup(document, values, preview.tools, ScriptedModel(()), RunOptions())
    sent = request_body(
        ModelRequest(
            messages=sent_now(preview)[0].messages.messages,
            tools=setup.tools,
            options=setup.options or None,
            stop=setup.stop,
            response_schema=setup.response_schema,
            protocol=setup.protocol,
        ),
        model_id="m",
        capabilities=capabilities,
        provider=provider,
    )
    shown = request_of(preview, provider)
    assert shown.body == sent
    is_cut = name != "react-agent" or provider != "openai-responses"
    assert able or not is_cut or any("left out" in note for note in shown.notes)


def test_the_protocol_chosen_for_runs_is_the_previews() -> None:
    order = PreviewJob(parse(EXACT), protocol="react")
    preview = build_preview(order)
    body = request_of(preview, "openai-chat").body
    assert count_preview(preview).request.protocol == "react"
    assert "tools" not in body
    assert body["stop"] == ["\nObservation:"]


def test_a_parameter_is_filled_as_an_input_is() -> None:
    document = parse("user:\nHi ${params:who}, ${params:who}\n")
    given = build_preview(PreviewJob(document, {"who": "Ann"}))
    body = json.loads(request_of(given, "openai-chat").text)
    assert body["messages"] == [{"role": "user", "content": "Hi Ann, Ann"}]


def test_the_options_of_a_tool_are_told_beside_the_request_and_not_sent() -> None:
    document = parse(
        "tools:\n  - id: q\n    type: bing\n    options: {a: '{{ x }}'}\n\nuser:\nhi\n"
    )
    preview = build_preview(PreviewJob(document, {"x": "1"}))
    for request in (request_of(preview, provider) for provider in PROVIDERS):
        [note] = [note for note in request.notes if "options of the tool 'q'" in note]
        assert note.endswith('{"a": "1"}')
        assert '"a"' not in request.text
        assert len(request.body["tools"]) == 1  # type: ignore[arg-type]


def test_a_preview_shows_what_a_run_sends_and_names_what_is_a_sample() -> None:
    """The published JSON-action prompt: its question stands in the conversation only."""
    text = 'Write "action_input". {{ tools }}\n{{ chat_history }}\n{{ agent_scratchpad }}'
    tool = ToolSpec("look", description="See a city.")
    unasked = build_preview(PreviewJob(parse(text), tools=(tool,)))
    (card,) = unasked.cards
    assert card.message.role == "user"
    assert '"look"' in card.message.text
    assert card.message.text.endswith("- Human: What is 12 * 7?")
    assert "chat_history" in unasked.samples
    assert "12 * 7" not in request_of(unasked, "openai-chat").text

    asked = build_preview(PreviewJob(parse(text), {"question": "Why?"}, tools=(tool,)))
    (card,) = asked.cards
    assert card.message.text.endswith("- Human: Why?")
    assert asked.samples == frozenset()
    without = build_preview(PreviewJob(parse(text), {"question": "Why?"}))
    assert "tools" in without.samples


def test_the_size_is_that_of_the_whole_body(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"0" * 9_001)
    document = parse("user:\n![image](a.png)\n", tmp_path / "a.prompty")
    request = request_of(build_preview(PreviewJob(document)), "openai-chat")
    assert "9,009 bytes" in request.text
    assert request.whole is not None
    sent = json.dumps(request.whole(), ensure_ascii=False, separators=(",", ":"))
    assert request.size == len(sent.encode())


def test_the_tools_of_another_file_are_sent_where_its_folder_is_trusted(tmp_path: Path) -> None:
    tool = {"type": "function", "function": {"name": "find", "parameters": {"type": "object"}}}
    (tmp_path / "functions.json").write_text(json.dumps([tool]), encoding="utf-8")
    front = "model:\n  api: chat\n  parameters:\n    tools: ${file:functions.json}\n"
    document = parse(f"---\n{front}---\nuser:\nHi\n", tmp_path / "a.prompty")
    preview = build_preview(PreviewJob(document, {}, trusted=True))
    assert [each.name for each in preview.sent_tools] == ["find"]
    assert build_preview(PreviewJob(document, {}, trusted=False)).sent_tools == ()
    trust = TrustStore()
    trust.trust(tmp_path)
    assert [each.name for each in shown_prompt(document, {}, None, trust).tools] == ["find"]
