"""Reasoning that a provider wants back goes back: Responses on a server that insists on it."""

from __future__ import annotations

import json
from contextlib import aclosing
from functools import reduce
from typing import Any

from studio.core.agent.loop.context import assistant_message, exchange
from studio.core.agent.values.step import Action, Call, Step
from studio.core.models.base import ModelRequest
from studio.core.models.connections import Connection
from studio.core.models.remote.model import RemoteModel
from studio.core.models.secrets import Secret
from studio.core.prompty.document import Message, TextPart, ToolSpec
from studio.core.wire.reply import Reply, accumulate
from tests.support.chat_server import ChatServer, Exchange, chunk, events

TOOL = ToolSpec("weather", parameters={"type": "object", "properties": {}})
ASK = Message("user", (TextPart("Rome?"),))
SEALED = {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "c2VhbGVk"}
CALL = {
    "id": "fc_1",
    "type": "function_call",
    "call_id": "call_1",
    "name": "weather",
    "arguments": "{}",
}
SAID = {"id": "m_1", "type": "message", "phase": "commentary", "content": []}


def closed(status: str, **more: Any) -> dict[str, Any]:
    return {"type": f"response.{status}", "response": {"status": status, "output": [], **more}}


async def answer(exchange: Exchange) -> None:
    """First a call, with sealed reasoning; then an answer, but only to who gave that back."""
    body = exchange.request.body
    results = [item for item in body["input"] if item.get("type") == "function_call_output"]
    if results and SEALED not in body["input"]:
        await exchange.head(400, "application/json")
        error = {"message": "function_call 'fc_1' was provided without its 'reasoning' item"}
        await exchange.send(json.dumps({"error": error}))
        return
    await exchange.head()
    if results:
        await exchange.event({"type": "response.output_text.delta", "delta": "Mild."})
        await exchange.event(closed("completed"))
        return
    for item in (SEALED, SAID, CALL):
        index = (SEALED, SAID, CALL).index(item)
        for step in ("added", "done"):
            await exchange.event(
                {"type": f"response.output_item.{step}", "output_index": index, "item": item}
            )
    await exchange.event(closed("completed"))


async def ask(model: RemoteModel, *messages: Message, **more: Any) -> Reply:
    async with aclosing(model.stream(ModelRequest(messages, (TOOL,), **more))) as deltas:
        return reduce(accumulate, [delta async for delta in deltas], Reply())


def model_at(server: ChatServer, api: str = "responses") -> RemoteModel:
    connection = Connection("R", "compatible", base_url=server.url, api=api, retries=0)  # type: ignore[arg-type]
    return RemoteModel(connection, "gpt-x", Secret("sk-test-key"))


def after(reply: Reply) -> tuple[Message, ...]:
    calls = tuple(
        Call(each.id, each.name, {}, each.arguments, observation="mild")
        for each in reply.tool_calls
    )
    return exchange(Step(1, reply=reply, reading=Action(kept=reply.text), calls=calls))


async def test_a_run_with_tools_gives_the_reasoning_back(server: ChatServer) -> None:
    server.always(answer)
    model = model_at(server)
    first = await ask(model, ASK)
    second = await ask(model, ASK, *after(first))
    await model.close()
    assert (first.finish_reason, second.text) == ("tool_calls", "Mild.")
    sent = server.requests[0].body
    assert (sent["store"], sent["include"]) == (False, ["reasoning.encrypted_content"])
    kinds = [item.get("type", item.get("role")) for item in server.requests[1].body["input"]]
    assert kinds == ["user", "reasoning", "function_call", "function_call_output"]


async def test_the_phase_of_a_message_goes_back_and_options_stand_beside_ours(
    server: ChatServer,
) -> None:
    model = model_at(server)
    reply = Reply("Hm.", carried=(SEALED, {"type": "message", "phase": "final_answer"}))
    further = {"verbosity": "low", "reasoning": {"summary": "auto"}, "store": True}
    body = model.request_body(
        ModelRequest(
            (ASK, assistant_message("Hm.", reply), ASK),
            options={"reasoningEffort": "high", "additionalProperties": further},
            response_schema={"type": "object", "properties": {}},
        )
    )
    await model.close()
    assert body["input"][2] == {"role": "assistant", "content": "Hm.", "phase": "final_answer"}
    assert body["reasoning"] == {"summary": "auto", "effort": "high"}
    assert (body["text"]["verbosity"], body["text"]["format"]["type"]) == ("low", "json_schema")
    assert body["store"] is True
    assert "include" not in body


async def test_an_incomplete_response_says_why(server: ChatServer) -> None:
    for reason, finish in (("max_output_tokens", "length"), ("content_filter", "content_filter")):
        details = {"incomplete_details": {"reason": reason}}
        text = {"type": "response.output_text.delta", "delta": "Half"}
        server.script(events([text, closed("incomplete", **details)]))
        model = model_at(server)
        reply = await ask(model, ASK)
        await model.close()
        assert (reply.text, reply.finish_reason) == ("Half", finish)


async def test_a_call_that_gemini_signed_goes_back_signed(server: ChatServer) -> None:
    signed = {"google": {"thought_signature": "c2ln"}}
    call = {
        "index": 0,
        "id": "call_1",
        "function": {"name": "weather", "arguments": "{}"},
        "extra_content": signed,
    }
    server.script(events([chunk({"tool_calls": [call]}, "tool_calls"), "[DONE]"]))
    model = model_at(server, "chat")
    body = model.request_body(ModelRequest((ASK, *after(await ask(model, ASK))), (TOOL,)))
    await model.close()
    assert body["messages"][1]["tool_calls"][0]["extra_content"] == signed
