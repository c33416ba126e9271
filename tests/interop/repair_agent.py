"""An agent of openai-agents that repairs a prompt through `prompt-studio mcp`, and proves it.

Runs in an environment of its own, which knows nothing of the studio. Its scripted model knows one
rule: what a tool's result names (a file, a code, a line, a fix) may be used in the next call.

    python repair_agent.py PROMPT_STUDIO FOLDER FILE EXPERIMENT
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from typing import Any

from agents import Agent, Model, ModelResponse, Runner, Usage, set_tracing_disabled
from agents.mcp import MCPServerStdio
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

MOST_TURNS = 30


class ReadsResults(Model):
    """Answers with the next call that the last results allow."""

    def __init__(self, file: str, experiment: str) -> None:
        self._file = file
        self._experiment = experiment
        self._calls = 0

    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> Any:  # noqa: A002
        made = self._next(input if isinstance(input, list) else [])
        return ModelResponse(output=[made], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        raise NotImplementedError("nothing here is streamed")

    def _next(self, items: list[Any]) -> Any:
        name, result = _last_result(items)
        if name is None:
            return self._call("check", file=self._file)
        if name == "check":
            fixable = [each for each in result["findings"] if each["fixes"]]
            if fixable:
                worst = min(fixable, key=lambda each: (each["severity"] != "error", each["line"]))
                return self._call(
                    "fix", file=worst["file"], code=worst["code"], line=worst["line"], write=True
                )
            if result["findings"]:
                return _say(f"left: {result['findings']}")
            return self._call("experiment_run", file=self._experiment)
        if name == "fix":
            return self._call("check", file=result["file"])
        return _say(json.dumps({"gates_hold": result["gates_hold"], "failed": result["failed"]}))

    def _call(self, name: str, **arguments: Any) -> Any:
        self._calls += 1
        return ResponseFunctionToolCall(
            type="function_call",
            name=name,
            call_id=f"call-{self._calls}",
            arguments=json.dumps(arguments),
        )


def _last_result(items: list[Any]) -> tuple[str | None, Any]:
    """The name of the tool that answered last, and what it answered."""
    names = {each["call_id"]: each["name"] for each in items if each.get("type") == "function_call"}
    given = [each for each in items if each.get("type") == "function_call_output"]
    if not given:
        return None, None
    output = given[-1]["output"]
    texts = [output] if isinstance(output, str) else [each["text"] for each in output]
    text = texts[0]
    if text.startswith('{"type"'):
        text = json.loads(text)["text"]
    try:
        return names[given[-1]["call_id"]], json.loads(text)
    except json.JSONDecodeError:
        raise RuntimeError(f"a tool answered: {text[:500]}") from None


def _say(text: str) -> Any:
    said = ResponseOutputText(type="output_text", text=text, annotations=[])
    return ResponseOutputMessage(
        id="said", type="message", role="assistant", status="completed", content=[said]
    )


async def main(studio: str, folder: str, file: str, experiment: str) -> None:
    """Let the agent work; prints what it said at the end."""
    set_tracing_disabled(True)
    command = {"command": studio, "args": ["mcp", folder, "--yes"], "env": dict(os.environ)}
    async with MCPServerStdio(command, client_session_timeout_seconds=120) as server:
        agent = Agent(
            "repairer",
            instructions="Repair the prompt and prove it.",
            model=ReadsResults(file, experiment),
            mcp_servers=[server],
        )
        done = await Runner.run(agent, "Repair it.", max_turns=MOST_TURNS)
        print(done.final_output)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
