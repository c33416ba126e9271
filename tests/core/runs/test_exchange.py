"""Forms in which a run leaves, and journals that come in."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from studio.core.agent.loop.machine import fold
from studio.core.agent.past.replay import walk
from studio.core.agent.values.commands import Continue, ForkFrom
from studio.core.agent.values.events import AnswerEdited
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.step import PausePoint
from studio.core.runs.codec import JournalError
from studio.core.runs.exchange import (
    FORMS,
    export_run,
    form_of,
    import_run,
    whole_journal,
    write_journal,
)
from studio.core.runs.store import RunStore
from studio.core.wire.reply import Reply, Usage
from tests.core.agent.runs import NATIVE, REACT, Functions, call, calling, run_of


@pytest.fixture
def store(tmp_path):
    made = RunStore(tmp_path / "runs.sqlite")
    yield made
    made.close()


async def finished(prompt=NATIVE, replies=None, **more):
    script = [calling(call()), Reply("ok", usage=Usage(3, 4, 2))] if replies is None else replies
    run, _ = run_of(prompt, script, **more)
    await run.go()
    return run


def made(run, name, **more):
    form = form_of(name)
    return export_run(run.events, form, "1.0", **more)


def spans_of(run, **more):
    data = json.loads(made(run, "otlp", **more))
    return data["resourceSpans"][0]["scopeSpans"][0]["spans"]


def plain(value):
    (kind, inner), *rest = value.items()
    assert not rest
    match kind:
        case "intValue":
            assert isinstance(inner, str)
            return int(inner)
        case "arrayValue":
            return [plain(item) for item in inner["values"]]
        case _:
            return inner


def attributes(span):
    return {each["key"]: plain(each["value"]) for each in span["attributes"]}


async def test_spans_form_one_trace_under_the_agent():
    spans = spans_of(await finished())
    root, *others = spans
    assert [span["name"].split()[0] for span in spans] == [
        "invoke_agent",
        "chat",
        "execute_tool",
        "chat",
    ]
    assert {span["traceId"] for span in spans} == {root["traceId"]}
    assert {span["parentSpanId"] for span in others} == {root["spanId"]}
    assert len({span["spanId"] for span in spans}) == 4
    assert all(re.fullmatch("[0-9a-f]{16}", span["spanId"]) for span in spans)
    assert re.fullmatch("[0-9a-f]{32}", root["traceId"])
    assert "parentSpanId" not in root
    for span in others:
        assert int(root["startTimeUnixNano"]) <= int(span["startTimeUnixNano"])
        assert int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"])
        assert int(span["endTimeUnixNano"]) <= int(root["endTimeUnixNano"])


async def test_spans_say_what_was_sent_called_and_used():
    root, first, tool, last = (attributes(span) for span in spans_of(await finished()))
    assert (root["gen_ai.operation.name"], root["gen_ai.usage.input_tokens"]) == (
        "invoke_agent",
        13,
    )
    assert root["gen_ai.agent.name"] == "Caller"
    sent = json.loads(last["gen_ai.input.messages"])
    assert [message["role"] for message in sent] == ["system", "user", "assistant", "tool"]
    assert sent[2]["parts"][-1] == {
        "type": "tool_call",
        "id": "c1",
        "name": "search",
        "arguments": {"query": "x"},
    }
    assert sent[3]["parts"] == [{"type": "tool_call_response", "id": "c1", "response": "found x"}]
    assert json.loads(last["gen_ai.output.messages"])[0]["finish_reason"] == "stop"
    assert last["gen_ai.usage.cache_read.input_tokens"] == 2
    assert first["gen_ai.response.finish_reasons"] == ["tool_calls"]
    assert (tool["gen_ai.tool.name"], tool["gen_ai.tool.call.result"]) == ("search", "found x")
    assert json.loads(tool["gen_ai.tool.call.arguments"]) == {"query": "x"}


async def test_a_failed_model_call_is_an_error_of_its_span():
    run = await finished(replies=[], options=RunOptions(headless=True, attempts=1))
    root, chat = spans_of(run)
    assert (root["status"]["code"], chat["status"]["code"]) == (2, 2)
    assert attributes(chat)["error.type"] == attributes(root)["error.type"]


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags: list[str] = []
        self.shown: list[str] = []
        self.addresses: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.addresses += [value for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data):
        self.shown.append(data)


async def test_the_report_holds_all_and_asks_for_nothing_outside():
    evil = "<script>alert(1)</script><img src=http://example.com/x.png>"
    run = await finished(
        REACT,
        [f'Thought: {evil}\nAction: search\nArgs: {{"query": "a&b"}}', "Final Answer: <b>done</b>"],
    )
    page = Page(made(run, "html"))
    shown = "".join(page.shown)
    assert not {"script", "img", "link", "b"} & set(page.tags)
    assert page.addresses == []
    assert evil in shown
    assert "found a&b" in shown
    assert shown.count("<b>done</b>") >= 1
    assert [text for text in page.shown if text.startswith("Iteration ")] == [
        "Iteration 1",
        "Iteration 2",
    ]


async def test_the_report_is_gone_through_card_by_card_and_says_what_a_person_did():
    def fails(query: str) -> str:
        raise ValueError("no such thing")

    run, _ = run_of(
        NATIVE,
        [calling(call("fails")), "It is 1."],
        tools=Functions(fails),
        options=RunOptions(pause_at=frozenset({PausePoint.ANSWER})),
    )
    going = asyncio.create_task(run.go())
    while run.state.pause is None and not going.done():
        await asyncio.sleep(0)
    run.send(AnswerEdited("It is 2."))
    run.send(Continue())
    await going
    text = made(run, "html")
    page = Page(text)
    shown = "".join(page.shown)

    # One group of radio buttons: the arrow keys of a browser go through it, without a script.
    assert page.tags.count("input") == page.tags.count("article") == 7
    assert text.count('type="radio" name="card"') == 7
    assert text.count(" checked autofocus") == 1
    assert text.count("aria-current=step") == 7
    # What failed is led to; what a person wrote is said where it stands.
    assert 'class="jump"><label for="c3">Error in iteration 1</label>' in text
    assert text.count("written by the user") == 3  # answer, card, tip of its tick
    assert text.count("<label for=") == 2 * 7 + 1
    assert "It is 2." in shown
    assert "worked" in shown


async def test_secrets_do_not_leave_in_arguments():
    asked = call(arguments='{"query": "x", "api_key": "hunter2"}')
    run, _ = run_of(NATIVE, [calling(asked), "ok"])
    await run.go()
    for name in ("html", "otlp", "tracy", "messages"):
        assert "hunter2" not in made(run, name), name


async def test_spans_name_the_model_its_provider_and_its_server_as_back_ends_know_them():
    run = await finished()
    first, *rest = run.events
    setup = replace(
        first.setup,
        model="gpt-4o (mine)",
        model_id="gpt-4o",
        provider="openai",
        server="https://api.openai.com",
    )
    text = export_run([replace(first, setup=setup), *rest], form_of("otlp"), "1.0")
    spans = json.loads(text)["resourceSpans"][0]["scopeSpans"][0]["spans"]

    chat = next(span for span in spans if span["name"] == "chat gpt-4o")
    for found in (attributes(chat), attributes(spans[0])):
        assert found["gen_ai.request.model"] == "gpt-4o"
        assert found["gen_ai.provider.name"] == found["gen_ai.system"] == "openai"
        assert (found["server.address"], found["server.port"]) == ("api.openai.com", 443)
    (tool,) = json.loads(attributes(chat)["gen_ai.tool.definitions"])
    assert (tool["type"], tool["name"]) == ("function", "search")


async def test_a_server_that_is_no_address_is_written_as_it_is():
    run = await finished()
    first, *rest = run.events
    setup = replace(first.setup, server="https://host:abc")
    text = export_run([replace(first, setup=setup), *rest], form_of("otlp"), "1.0")
    spans = json.loads(text)["resourceSpans"][0]["scopeSpans"][0]["spans"]
    found = attributes(spans[0])
    assert found["server.address"] == "https://host:abc"
    assert "server.port" not in found


async def test_spans_are_also_written_in_the_newest_names():
    used = Usage(3, 4, 2, cache_write_tokens=7)
    run = await finished(replies=[calling(call()), Reply("ok", "stop", usage=used)])
    old = json.loads(made(run, "otlp"))["resourceSpans"][0]["scopeSpans"][0]
    new = json.loads(made(run, "otlp-genai-0.1"))["resourceSpans"][0]["scopeSpans"][0]
    assert old["schemaUrl"] == "https://opentelemetry.io/schemas/1.41.0"
    assert new["schemaUrl"] == "https://opentelemetry.io/schemas/gen-ai/0.1.0"

    root, chat = (attributes(new["spans"][at]) for at in (0, -1))
    before_root, before = (attributes(old["spans"][at]) for at in (0, -1))
    assert set(before_root) - set(root) == {"gen_ai.system", "gen_ai.provider.name"}
    assert set(before) - set(chat) == {
        "gen_ai.system",
        "gen_ai.usage.cache_creation.input_tokens",
    }
    assert chat["gen_ai.usage.cache_write.input_tokens"] == 7
    assert json.loads(before["gen_ai.output.messages"])[0]["finish_reason"] == "stop"
    assert "finish_reason" not in json.loads(chat["gen_ai.output.messages"])[0]
    assert chat["gen_ai.response.finish_reasons"] == ["stop"]
    named = [{**span, "attributes": None} for span in new["spans"]]
    assert named == [{**span, "attributes": None} for span in old["spans"]]


async def test_messages_are_one_model_call_a_line():
    lines = [json.loads(line) for line in made(await finished(), "messages").splitlines()]
    assert [[each["role"] for each in line["messages"]] for line in lines] == [
        ["system", "user", "assistant"],
        ["system", "user", "assistant", "tool", "assistant"],
    ]
    assert lines[1]["messages"][-1]["content"] == "ok"


async def test_every_form_can_be_written_of_any_text():
    run = await finished(replies=[calling(call()), Reply("lone \ud800 </pre>\u2028")])
    for form in FORMS:
        assert export_run(run.events, form, "1.0").encode("utf-8")


async def test_a_branch_is_exported_alone():
    run, _ = run_of(NATIVE, [calling(call()), "first", "second"], options=RunOptions())
    await run.go()
    end = len(run.events)
    await run.go(ForkFrom(run.tree.checkpoints[3].id), Continue())
    assert run.state.answer == "second"
    assert "second" not in made(run, "html", upto=end)
    assert "second" in made(run, "html")


async def test_a_journal_comes_back_as_it_was(store):
    run = await finished()
    text = made(run, "journal")
    assert import_run(*whole_journal(text), store) == "r1"
    assert walk(store.events("r1")).state == run.state
    again = import_run(*whole_journal(text), store)
    assert again != "r1"
    state = fold(store.events(again))
    assert (state.setup.run, state.answer) == (again, "ok")


async def test_what_is_no_journal_is_refused():
    events = list((await finished()).events)
    for wrong in (
        "",
        "hello",
        '{"t": "Nothing"}',
        "[1]\n",
        write_journal(events[1:]),
        write_journal([*events[:3], *events[4:]]),
    ):
        with pytest.raises(JournalError):
            whole_journal(wrong)


def test_a_trace_that_is_given_back_is_told_what_comes_in():
    with pytest.raises(JournalError, match="the file is not a journal of a run"):
        whole_journal('{\n  "runtime": "python"\n}\n')


async def test_a_run_is_one_conversation_for_fine_tuning_with_its_tools():
    from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam
    from pydantic import TypeAdapter

    (line,) = [json.loads(each) for each in made(await finished(), "fine-tuning").splitlines()]
    assert [each["role"] for each in line["messages"]] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert line["messages"][-1] == {"role": "assistant", "content": "ok"}
    TypeAdapter(list[ChatCompletionMessageParam]).validate_python(line["messages"], strict=True)
    TypeAdapter(list[ChatCompletionToolParam]).validate_python(line["tools"], strict=True)
    assert line["tools"]


async def test_each_call_of_a_prompt_that_shows_its_steps_is_a_conversation():
    replies = ["Thought: a\nAction: search\nArgs: {}", "Thought: b\nFinal Answer: ok"]
    text = made(await finished(REACT, replies), "fine-tuning")
    lines = [json.loads(each) for each in text.splitlines()]
    assert [line["messages"][-1]["content"] for line in lines] == replies
    assert not any("tools" in line for line in lines)


HEARD = """---
name: x
inputs:
  heard: {kind: KIND, default: "https://example.org/a"}
---
developer:
Be brief.
user:
What is {{ heard }}?
"""


async def test_fine_tuning_has_its_own_words_and_knows_pictures_but_no_sound():
    (line,) = made(await finished(HEARD.replace("KIND", "image"), ["ok"]), "fine-tuning").split(
        "\n"
    )[:-1]
    messages = json.loads(line)["messages"]
    assert [each["role"] for each in messages] == ["system", "user", "assistant"]
    assert "image_url" in line
    assert made(await finished(HEARD.replace("KIND", "audio"), ["ok"]), "fine-tuning") == ""


async def test_a_result_of_a_tool_has_no_name_for_fine_tuning():
    (line,) = made(await finished(), "fine-tuning").split("\n")[:-1]
    (result,) = [each for each in json.loads(line)["messages"] if each["role"] == "tool"]
    assert set(result) == {"role", "tool_call_id", "content"}
