"""Programs of nine makers, recorded, held and replayed: `python -m tests.interop.recorded`.

Each is written as its maker's documentation shows, or is a coding agent as npm installs it, with
two sub-agents at once. It asks a scripted server on loopback through `prompt-studio record`. What
is recorded must be the server's log, an answer that is edited while held must be what the program
gets, and with the server off `prompt-studio replay` must give the program the same answers.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from studio.core.agent.values.events import ModelCalled
from studio.core.runs.rows import CALLED
from studio.core.runs.store import RunStore
from tests.interop.environments import LIMIT, ROOT, build, node_of, npm_file
from tests.support.chat_server import ChatServer, Exchange, chat_server

ANSWER = "Yes, 6 EUR."
_KEY = "planted-key-0123456789-abcdef"
_STOCK = '''
def stock(item: str) -> str:
    """Stock of an item."""
    return item + ": 7"
'''
_PRICE = '''
def price(item: str) -> str:
    """Price of an item."""
    return item + ": 3 EUR"
'''
_SPEC = '{"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"]}'


@dataclass(frozen=True, slots=True)
class Program:
    """A program of one maker."""

    environment: str
    """Environment that has its packages."""

    conversations: int
    """Conversations that it holds."""

    code: str = ""
    """The program; it prints the answer last. Empty for a program of npm."""

    package: str = ""
    """Package of npm whose program it is."""

    arguments: tuple[str, ...] = ()
    """File of the package, and what it is started with."""

    files: Mapping[str, str] = field(default_factory=dict)
    """Files beside the folder in which it works, which is `work` (its home folder is `.`)."""

    answers: int = 1
    """Answers of its conversations that are held."""

    nested: int = 0
    """Conversations that answer the calls of another one."""

    def command(self, python: Path, folder: Path) -> list[str]:
        """Write its files; return its command line.

        Args:
            python: of its environment.
            folder: its home folder.
        """
        for name, text in {**self.files, "work/agent.py": self.code}.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        if not self.package:
            return [str(python), str(folder / "work/agent.py")]
        program = npm_file(python, self.package, self.arguments[0])
        assert program is not None, f"npm cannot install {self.package}"
        return [str(node_of(python)), str(program), *self.arguments[1:]]


PROGRAMS: Mapping[str, Program] = {
    "openai-agents": Program(
        "agents",
        2,
        f"""
import asyncio
from agents import Agent, Runner, function_tool, set_tracing_disabled

set_tracing_disabled(True)
{_STOCK}
{_PRICE}
tools = [function_tool(stock), function_tool(price)]
seller = Agent(name="Seller", instructions="You sell.", tools=tools, model="m")
desk = Agent(name="Desk", instructions="Hand over.", handoffs=[seller], model="m")
print(asyncio.run(Runner.run(desk, "Two lamps?")).final_output)
""",
    ),
    "pydantic-ai": Program(
        "frameworks",
        1,
        f"""
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
{_STOCK}
print(Agent(OpenAIChatModel("m"), tools=[stock]).run_sync("Two lamps?").output)
""",
    ),
    "langchain": Program(
        "langchain",
        1,
        f"""
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
{_STOCK}
model, messages = ChatOpenAI(model="m").bind_tools([tool(stock)]), [HumanMessage("Two lamps?")]
while (reply := model.invoke(messages)).tool_calls:
    messages.append(reply)
    messages += [ToolMessage(stock(**c["args"]), tool_call_id=c["id"]) for c in reply.tool_calls]
print(reply.content)
""",
    ),
    "langgraph": Program(
        "programs",
        2,
        f"""
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
{_STOCK}
{_PRICE}
tools, model = [tool(stock), tool(price)], ChatOpenAI(model="m")

def seller(state):
    return {{"messages": [model.bind_tools(tools).invoke(state["messages"])]}}

def writer(state):
    said = [SystemMessage("Write a letter."), HumanMessage(state["messages"][-1].content)]
    return {{"messages": [model.invoke(said)]}}

graph = StateGraph(MessagesState)
graph.add_node("seller", seller)
graph.add_node("tools", ToolNode(tools))
graph.add_node("writer", writer)
graph.add_edge(START, "seller")
graph.add_conditional_edges("seller", tools_condition, {{"tools": "tools", END: "writer"}})
graph.add_edge("tools", "seller")
graph.add_edge("writer", END)
print(graph.compile().invoke({{"messages": [HumanMessage("Two lamps?")]}})["messages"][-1].content)
""",
        answers=2,
    ),
    "litellm": Program(
        "programs",
        1,
        f"""
import json, os
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # of the package, not of its site
from litellm import completion
{_STOCK}
messages = [dict(role="user", content="Two lamps?")]
declared = dict(name="stock", description="Stock.", parameters={_SPEC})
tools = [dict(type="function", function=declared)]
while True:
    asked = dict(model="openai/m", messages=messages, tools=tools)
    reply = completion(**asked).choices[0].message
    if not reply.tool_calls:
        break
    messages.append(reply.model_dump())
    for call in reply.tool_calls:
        text = stock(**json.loads(call.function.arguments))
        messages.append(dict(role="tool", tool_call_id=call.id, content=text))
print(reply.content)
""",
    ),
    "gemini-cli": Program(
        "node",
        3,
        package="@google/gemini-cli",
        arguments=(
            *("bundle/gemini.js", "--skip-trust", "--yolo", "--model", "gemini-2.5-flash"),
            *("--prompt", "Two lamps?"),
        ),
        files={
            ".gemini/settings.json": json.dumps(
                {
                    "security": {"auth": {"selectedType": "gemini-api-key"}},
                    "privacy": {"usageStatisticsEnabled": False},
                }
            ),
            ".gemini/agents/clerk.md": "---\nname: clerk\ndescription: Knows the stock.\n"
            "tools:\n  - read_file\n---\nYou look up the stock of an item.\n",
            "work/stock.txt": "lamp: 7\n",
        },
        nested=2,
    ),
    "anthropic": Program(
        "clients",
        1,
        f"""
import anthropic
{_STOCK}
client, messages = anthropic.Anthropic(), [dict(role="user", content="Two lamps?")]
tools = [dict(name="stock", description="Stock.", input_schema={_SPEC})]
while True:
    asked = dict(model="m", max_tokens=100, system="Be brief.", messages=messages, tools=tools)
    with client.messages.stream(**asked) as stream:
        reply = stream.get_final_message()
    calls = [each for each in reply.content if each.type == "tool_use"]
    if not calls:
        break
    made = [dict(type="tool_use", id=c.id, name=c.name, input=c.input) for c in calls]
    messages.append(dict(role="assistant", content=made))
    results = [dict(type="tool_result", tool_use_id=c.id, content=stock(**c.input)) for c in calls]
    messages.append(dict(role="user", content=results))
print(reply.content[0].text)
""",
    ),
    "google-genai": Program(
        "clients",
        1,
        f"""
from google import genai
{_STOCK}
config = dict(tools=[stock], system_instruction="Be brief.")
asked = dict(model="m", contents="Two lamps?", config=config)
client = genai.Client()
print(client.models.generate_content(**asked).text)
""",
    ),
    "ollama": Program(
        "clients",
        1,
        f"""
import ollama
{_STOCK}
messages = [dict(role="user", content="Two lamps?")]
while (reply := ollama.chat("m", messages=messages, tools=[stock]).message).tool_calls:
    messages.append(reply)
    for call in reply.tool_calls:
        text = stock(**call.function.arguments)
        messages.append(dict(role="tool", tool_name="stock", content=text))
print(reply.content)
""",
    ),
}


class Shop(ChatServer):
    """Hands over where it can, calls the shop's tools once, then answers."""

    def __init__(self) -> None:
        super().__init__()
        self.always(self.reply)

    async def reply(self, exchange: Exchange) -> None:
        """Answer in the API of the path."""
        request = exchange.request
        path, number = request.path.partition("?")[0], len(self.requests)
        api = next((each for each in _ANSWERS if each in path), "/chat/completions")
        text, kind = _ANSWERS[api](_calls(request.body), number)
        if "alt=sse" in request.path:
            text, kind = f"data: {text}\n\n", "text/event-stream"
        await exchange.head(kind=kind)
        await exchange.send(text)


def _calls(body: dict[str, Any]) -> list[tuple[str, dict[str, str]]]:
    names: list[str] = []
    for tool in body.get("tools") or []:
        declared = tool.get("functionDeclarations") or [tool.get("function") or tool]
        names += [each["name"] for each in declared]
    handover = [name for name in names if name.startswith("transfer_to")]
    if handover:
        return [(handover[0], {})]
    if "complete_task" in names or "invoke_agent" in names:
        return _delegated(names, json.dumps(body.get("contents")))
    if "lamp: 7" in json.dumps(body):
        return []
    return [(name, {"item": "lamp"}) for name in names]


def _delegated(names: list[str], said: str) -> list[tuple[str, dict[str, str]]]:
    """Return the calls of a coding agent: two sub-agents at once, each with a call of its own."""
    is_answered = "functionResponse" in said
    if "complete_task" in names:
        item = "lamp" if "Stock of lamp" in said else "desk"
        reads = ("read_file", {"file_path": "stock.txt"})
        return [("complete_task", {"result": f"{item}: 7"}) if is_answered else reads]
    asked = [{"agent_name": "clerk", "prompt": f"Stock of {each}?"} for each in ("lamp", "desk")]
    return [] if is_answered else [("invoke_agent", each) for each in asked]


def _chat(calls: list[Any], number: int) -> tuple[str, str]:
    message: dict[str, Any] = {"role": "assistant", "content": None if calls else ANSWER}
    if calls:
        message["tool_calls"] = [
            {
                "id": f"call_{number}_{at}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for at, (name, arguments) in enumerate(calls)
        ]
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
    head = {"id": f"c{number}", "object": "chat.completion", "created": 1, "model": "m"}
    return json.dumps({**head, "choices": [choice], "usage": usage}), "application/json"


def _responses(calls: list[Any], number: int) -> tuple[str, str]:
    output: list[Any] = [
        {
            "type": "function_call",
            "id": f"fc_{number}_{at}",
            "call_id": f"call_{number}_{at}",
            "name": name,
            "arguments": json.dumps(arguments),
            "status": "completed",
        }
        for at, (name, arguments) in enumerate(calls)
    ]
    text = {"type": "output_text", "text": ANSWER, "annotations": []}
    message = {"type": "message", "id": f"m{number}", "role": "assistant", "status": "completed"}
    body = {
        "id": f"r{number}",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": "completed",
        "output": output or [{**message, "content": [text]}],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 5,
            "output_tokens": 2,
            "total_tokens": 7,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }
    return json.dumps(body), "application/json"


def _anthropic(calls: list[Any], number: int) -> tuple[str, str]:
    head = {"id": f"m{number}", "type": "message", "role": "assistant", "model": "m", "content": []}
    usage = {"input_tokens": 5, "output_tokens": 1}
    end = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
    block: dict[str, Any] = {"type": "text", "text": ""}
    delta = {"type": "text_delta", "text": ANSWER}
    if calls:
        (name, arguments), *_ = calls
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
    begun = {**head, "stop_reason": None, "stop_sequence": None, "usage": usage}
    events = [
        {"type": "message_start", "message": begun},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": end, "usage": {"output_tokens": 4}},
        {"type": "message_stop"},
    ]
    lines = (f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events)
    return "".join(lines), "text/event-stream"


def _gemini(calls: list[Any], number: int) -> tuple[str, str]:
    parts: list[Any] = [{"functionCall": {"name": n, "args": a}} for n, a in calls]
    content = {"role": "model", "parts": parts or [{"text": ANSWER}]}
    candidate = {"content": content, "finishReason": "STOP"}
    usage = {"promptTokenCount": 5, "candidatesTokenCount": 2, "totalTokenCount": 7}
    body = {"candidates": [candidate], "usageMetadata": usage, "responseId": f"g{number}"}
    return json.dumps(body), "application/json"


def _ollama(calls: list[Any], number: int) -> tuple[str, str]:
    message: dict[str, Any] = {"role": "assistant", "content": "" if calls else ANSWER}
    if calls:
        message["tool_calls"] = [{"function": {"name": n, "arguments": a}} for n, a in calls]
    head = {"model": "m", "created_at": f"2026-01-01T00:00:{number:02}Z"}
    body = {**head, "message": message, "done": True, "done_reason": "stop"}
    return json.dumps(body), "application/json"


_ANSWERS = {
    "/chat/completions": _chat,
    "/responses": _responses,
    "/messages": _anthropic,
    "enerateContent": _gemini,
    "/api/chat": _ollama,
}


def _studio(
    home: Path, address: str, *arguments: str, typed: str = "", folder: Path = ROOT
) -> subprocess.CompletedProcess[str]:
    keys = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY")
    variables = {
        **os.environ,
        **dict.fromkeys(keys, _KEY),
        "PROMPT_STUDIO_HOME": str(home),
        "PYTHONPATH": str(ROOT),
        "HOME": str(folder.parent),
        "OPENAI_BASE_URL": f"{address}/v1",
        "ANTHROPIC_BASE_URL": address,
        "GOOGLE_GEMINI_BASE_URL": address,
        "OLLAMA_HOST": address,
    }
    command = [sys.executable, "-m", "studio", *arguments]
    return subprocess.run(
        command,
        cwd=folder,
        env=variables,
        input=typed,
        capture_output=True,
        encoding="utf-8",
        timeout=LIMIT,
        check=False,
    )


_NAMED = (
    *("store is added", "include is added", "strict is left out", "responseJsonSchema"),
    *("].id is left out: it was", "].status is left out: it was"),  # of items of Responses
    *("functionResponse.id is left out", "thoughtSignature is left out"),  # of Gemini's parts
)
"""Differences that docs/record.md names, or that no prompt file has a word for."""


def _opened(home: Path, run: str, calls: int) -> Iterator[str]:
    """Yield what a prompt file of each call of a run sends otherwise than the program."""
    for number in range(1, calls + 1):
        made = _studio(home, "http://127.0.0.1:1", "runs", "open", run, "--request", str(number))
        lines = [line.strip() for line in made.stderr.splitlines() if line.startswith("  ")]
        others = [line for line in lines if not any(each in line for each in _NAMED)]
        if others or (made.returncode and not lines):
            yield f"opened call {number}: {'; '.join(others) or made.stderr[-300:]}"


def faults_of(program: Program, python: Path, folder: Path) -> list[str]:
    """Return what goes wrong when a program is recorded, replayed and held."""
    home, work, found = folder / "studio", folder / "work", list[str]()
    command = program.command(python, folder)
    with chat_server(Shop) as server:
        address = server.url.removesuffix("/v1")
        done = _studio(home, address, "record", "--", *command, folder=work)
        log = [each.data.decode() for each in server.requests]
    if done.returncode or not done.stdout.endswith(f"{ANSWER}\n"):
        return [f"recorded: {done.stdout[-300:]} {done.stderr[-300:]}"]
    with closing(RunStore(home / "data" / "runs.sqlite")) as store:
        runs = store.runs()
        kept = [
            call.body
            for run in runs
            for event in store.open(run.id).events
            if isinstance(event, ModelCalled) and (call := store.call(run.id, event.seq))
        ]
    if sorted(kept) != sorted(log):
        found.append("the recorded requests are not the server's log")
    if len(runs) != program.conversations:
        found.append(f"{len(runs)} conversations, not {program.conversations}")
    nested = [run.shared_tag(CALLED) for run in runs]
    if sum(map(bool, nested)) != program.nested:
        found.append(f"{sum(map(bool, nested))} nested conversations, not {program.nested}")
    if any(_KEY.encode() in each.read_bytes() for each in home.rglob("*") if each.is_file()):
        found.append("the key is in a file")
    found += (words for run in runs for words in _opened(home, run.id, run.calls_model))
    gone = "http://127.0.0.1:1"
    again = _studio(home, gone, "replay", runs[0].id, "--", *command, folder=work)
    if again.returncode or not again.stdout.endswith(f"{ANSWER}\n"):
        found.append(f"replayed: {again.stdout[-200:]} {again.stderr[-300:]}")
    with chat_server(Shop) as server:
        address = server.url.removesuffix("/v1")
        edited = _studio(
            folder / "other",
            address,
            *("record", "--break", "answer", "--", *command),
            typed="final Edited while held.\nc\n" * program.answers,
            folder=work,
        )
    if not edited.stdout.endswith("Edited while held.\n"):
        found.append(f"held: {edited.stdout[-200:]} {edited.stderr[-300:]}")
    return found


def main() -> int:
    """Print one line for each program; 1 if one of them has a fault."""
    is_fine = True
    for name, program in PROGRAMS.items():
        python = build(program.environment)
        if python is None:
            print(f"{name}: not installed here")
            continue
        with tempfile.TemporaryDirectory() as folder:
            found = faults_of(program, python, Path(folder))
        is_fine = is_fine and not found
        print(f"{name}: {'; '.join(found) or 'recorded, opened, replayed, held'}", flush=True)
    return 0 if is_fine else 1


if __name__ == "__main__":
    sys.exit(main())
