"""`make interop`: imported prompts give the messages that their own programs make of the files.

Dotprompt's templates are rendered by npm dotprompt, LangChain's scripts run with langchain-core,
Langfuse's prompts are compiled by langfuse, AgentSchema's agents are loaded by agentschema.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from studio.application.exchange.judge import (
    ProgramJob,
    evaluation_of,
    recorded,
    run_promptfoo,
)
from studio.core.export.sent import SentRequest, body_differences, sent_by_studio
from studio.core.export.target import ExportSource, make_checked, result
from studio.core.export.targets import find_target
from studio.core.imports.recognize import import_file, import_text
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import prepare
from studio.core.prompty.reference_values import references_beside
from studio.core.text.values import JsonObject
from studio.core.wire.request import Provider
from tests.core.imports.test_dotprompt import CASES, PARTIALS, parts
from tests.interop.bodies import said_by_the_command, values_of
from tests.interop.environments import (
    FOLDER,
    LIMIT,
    NPM_INSTALL,
    ROOT,
    build,
    npm_package,
    promptfoo_command,
)

_RENDER = """
import json, runpy, sys, warnings
warnings.simplefilter("ignore")
prompt = runpy.run_path(sys.argv[1])["prompt"]
values = json.load(sys.stdin)
given = {name: values.get(name, "") for name in prompt.input_variables}
made = prompt.invoke(given)
print(json.dumps([given, [[each.type, each.content] for each in made.to_messages()]]))
"""
_COMPILE = """
import json, sys
from langfuse.api import Prompt_Chat, Prompt_Text
from langfuse.model import ChatPromptClient, TextPromptClient
told = []
for prompt, values in json.load(sys.stdin):
    if prompt["type"] == "text":
        made = TextPromptClient(Prompt_Text(**prompt)).compile(**values)
        told.append([["user", made]])
    else:
        made = ChatPromptClient(Prompt_Chat(**prompt)).compile(**values)
        told.append([[each["role"], each["content"]] for each in made])
print(json.dumps(told))
"""
_LANGFUSE: Sequence[tuple[str, Any, dict[str, Any]]] = (
    ("text", "Hello {{name}}, {{ name }}!", {"name": "Ann"}),
    (
        "text",
        "{% if a %}no template{% endif %} {name} {{name}} {{{name}}} {{no name}}",
        {"name": "{{x}}"},
    ),
    (
        "chat",
        [
            {"type": "chatmessage", "role": "system", "content": "Help {{who}}: {{ n }}."},
            {"type": "placeholder", "name": "chat"},
            {"type": "chatmessage", "role": "assistant", "content": "Yes # no comment"},
            {"type": "chatmessage", "role": "user", "content": "system:\n{{who}}"},
        ],
        {"who": "Ann", "n": 2, "chat": [{"role": "user", "content": "x"}]},
    ),
)
"""Kinds, prompts and values that Langfuse compiles."""
_LOAD = """
import json, sys, yaml, agentschema
agent = agentschema.AgentDefinition.load(yaml.safe_load(sys.stdin))
tools = [each.name for each in agent.tools or []]
print(json.dumps([agent.name, agent.model.id, agent.instructions, tools]))
"""
_SEND = """
import inspect, json, sys, anthropic, openai
address, bodies = json.load(sys.stdin)
for number, (form, body) in enumerate(bodies):
    own = {"api_key": "k", "max_retries": 0, "default_headers": {"x-studio-round": str(number)}}
    if form == "anthropic":
        send = anthropic.Anthropic(base_url=address, **own).messages.create
    else:
        client = openai.OpenAI(base_url=address + "/v1", **own)
        api = client.responses if form == "openai-responses" else client.chat.completions
        send = api.create
    known = inspect.signature(send).parameters
    further = {key: body.pop(key) for key in list(body) if key not in known}
    send(**body, extra_body=further)
print(0)
"""
_PROMPTFOO: Sequence[str] = (
    """
prompts: ['{{ greeting | upper }} {{ name }}{% for tag in tags %}, {{ tag.x }}{% endfor %}!']
providers:
  - id: openai:chat:gpt-4o
    config:
      omitDefaults: true
      temperature: 0.2
      max_tokens: 50
      stop: [X]
      tools:
        - type: function
          function:
            name: look
            parameters: {type: object, properties: {q: {type: string}}, required: [q]}
defaultTest: {vars: {greeting: hi}}
tests:
  - vars: {name: Ann, tags: [{x: a}, {x: b}]}
  - vars: {name: Bo, greeting: [yo, ho], tags: []}
""",
    """
prompts:
  - '[{"role": "system", "content": "Help {{ who }}."}, {"role": "user", "content": "Hi"}]'
providers:
  - id: anthropic:messages:claude-3-5-haiku-20241022
    config: {temperature: 0.3, max_tokens: 9}
tests: [{vars: {who: Ann}}]
""",
    """
prompts: ['What is {{ this }}?']
providers:
  - id: openai:responses:gpt-4.1
    config: {omitDefaults: true, max_output_tokens: 99, instructions: Be short.}
tests: [{vars: {this: that}}]
""",
)
"""Configurations of which promptfoo sends every test."""
_ROLES = {"human": "user", "ai": "assistant", "model": "assistant"}


def main() -> int:
    """Ask each program; return 1 where an import reads something else."""
    wrong = [*_of_dotprompt(), *_of_langchain(), *_of_langfuse(), *_of_agentschema()]
    wrong += [*_of_bodies(), *_of_promptfoo()]
    for each in wrong:
        print(f"  {each}")
    print(f"{'FAILED' if wrong else 'ok    '} importers: {len(wrong)} differ")
    return 1 if wrong else 0


def _of_dotprompt() -> list[str]:
    python = build("nodejs")
    if python is None:
        print("importers: Node is not installed here")
        return []
    given = [[template, values, PARTIALS] for template, values, _ in CASES]
    answers = _asked([str(python.parent / "node"), _script(python)], given)
    wrong = []
    for (template, values, _), answer in zip(CASES, answers, strict=True):
        with tempfile.TemporaryDirectory() as folder:
            ours = parts(Path(folder), template, dict(values))
        theirs = [_message(each) for each in answer.get("messages", [])]
        if ours != theirs:
            wrong.append(f"dotprompt {template!r}: {ours} instead of {theirs or answer}")
    print(f"importers: {len(CASES)} templates of Dotprompt")
    return wrong


def _message(message: Mapping[str, Any]) -> tuple[str, list[str]]:
    """A message of dotprompt as `parts` gives ours: texts trimmed, media in angle brackets."""
    texts = [
        f"<{part['media']['url']}>" if "media" in part else part["text"].strip()
        for part in message["content"]
    ]
    return _ROLES.get(message["role"], message["role"]), [text for text in texts if text]


def _of_langchain() -> list[str]:
    python = build("langchain")
    if python is None:
        print("importers: langchain-core is not installed here")
        return []
    target = find_target("langchain")
    assert target is not None
    wrong, count = [], 0
    for path in sorted((ROOT / "resources").glob("*/*.prompty")):
        references = references_beside(path, trusted=True, masked=True)
        source = ExportSource(parse(path.read_text(encoding="utf-8"), path), references=references)
        made = make_checked(target, source.for_target(target))
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "script.py"
            script.write_text(made.text, encoding="utf-8")
            values: dict[str, Any] = {"thread": [], "history": [], "tools": []}
            given, theirs = _asked([str(python), "-c", _RENDER, str(script)], values)
            document = parse(import_file(script).text)
        ours = prepare(document, given).messages.messages
        count += 1
        one = [(each.role, each.text.strip()) for each in ours]
        other = [(_ROLES.get(role, role), _text(content)) for role, content in theirs]
        if one != other:
            wrong.append(f"langchain {path.name}: {one} instead of {other}")
    print(f"importers: {count} scripts for LangChain")
    return wrong


def _of_langfuse() -> list[str]:
    python = build("langfuse")
    if python is None:
        print("importers: langfuse is not installed here")
        return []
    common = {"name": "shop", "version": 1, "config": {}, "labels": [], "tags": []}
    given = [({**common, "type": kind, "prompt": text}, values) for kind, text, values in _LANGFUSE]
    wrong = []
    answers = _asked([str(python), "-c", _COMPILE], given)
    for (prompt, values), theirs in zip(given, answers, strict=True):
        document = parse(import_text(json.dumps(prompt), Path("prompt.json")).text)
        ours = [[each.role, each.text] for each in prepare(document, values).messages.messages]
        if ours != theirs:
            wrong.append(f"langfuse {prompt['prompt']!r}: {ours} instead of {theirs}")
    print(f"importers: {len(given)} prompts of Langfuse")
    return wrong


def _of_agentschema() -> list[str]:
    python = build("agentschema")
    target = find_target("agentschema")
    if python is None or target is None:
        print("importers: agentschema is not installed here")
        return []
    wrong, count = [], 0
    for path in sorted((ROOT / "resources").glob("*/*.prompty")):
        references = references_beside(path, trusted=True, masked=True)
        source = ExportSource(parse(path.read_text(encoding="utf-8"), path), references=references)
        agent = make_checked(target, source.for_target(target)).text
        done = subprocess.run(
            [str(python), "-c", _LOAD],
            input=agent,
            capture_output=True,
            text=True,
            check=True,
            timeout=LIMIT,
        )
        document = parse(import_text(agent, Path("agent.yaml")).text)
        body = document.source.slice(document.body).strip()
        ours = [document.name, document.model.id, body, [each.name for each in document.tools]]
        theirs = json.loads(done.stdout)
        theirs[2] = (theirs[2] or "").strip()
        count += 1
        if ours != theirs:
            wrong.append(f"agentschema {path.name}: {ours!r:.300} instead of {theirs!r:.300}")
    print(f"importers: {count} agents of AgentSchema")
    return wrong


def _of_bodies() -> list[str]:
    """The providers' packages send a body; its import makes the same request again."""
    python = build("script")
    if python is None:
        print("importers: openai and anthropic are not installed here")
        return []
    paths = sorted((ROOT / "resources").glob("*/*.prompty"))
    forms: tuple[Provider, ...] = ("openai-chat", "openai-responses", "anthropic", "gemini")
    cases = [
        (path, form, said_by_the_command(path, form, values_of(path)))
        for path in paths
        for form in forms
    ]
    given = [[form, body] for _, form, body in cases if form != "gemini"]
    with recorded() as log:
        _asked([str(python), "-W", "ignore", "-c", _SEND], [log.address, given])
        sent = iter([log.first_of(number) for number in range(len(given))])
    wrong = []
    for path, form, body in cases:
        request = SentRequest("x", body) if form == "gemini" else next(sent)
        assert request is not None
        document = parse(import_text(json.dumps(request.body), Path("body.json")).text)
        again = sent_by_studio(ExportSource(document), form).body
        told = [*body_differences(request.body, again)]
        if any(told):
            wrong.append(f"{form} body of {path.name}: {' '.join(told)}")
    print(f"importers: {len(cases)} bodies of OpenAI, Anthropic and Gemini")
    return wrong


def _of_promptfoo() -> list[str]:
    python = build("promptfoo")
    if python is None:
        print("importers: promptfoo is not installed here")
        return []
    keys = {"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}
    wrong, count = [], 0
    for number, text in enumerate(_PROMPTFOO):
        with tempfile.TemporaryDirectory() as folder, recorded() as log:
            path = Path(folder) / "promptfooconfig.yaml"
            path.write_text(text, encoding="utf-8")
            made = import_file(path)
            source = ExportSource(parse(made.text), sets=made.input_sets)
            job = ProgramJob("promptfoo", source, result(text, ()), Path(folder), log, keys)
            done = run_promptfoo(job, *promptfoo_command(python), *evaluation_of(path))
            theirs = [request for _, request in log.requests]
        if len(theirs) != len(made.input_sets):
            wrong.append(f"promptfoo {number}: {len(theirs)} requests; {done.stderr[-200:]}")
        for (name, values), request in zip(made.input_sets.items(), theirs, strict=False):
            ours = sent_by_studio(ExportSource(source.document, values))
            told = [f"to {ours.address}"] if ours.address != request.address else []
            told += body_differences(_usual(request.body), _usual(ours.body))
            count += 1
            if any(told):
                wrong.append(f"promptfoo {number}, {name}: {' '.join(told)}")
    print(f"importers: {count} requests of promptfoo")
    return wrong


def _usual(body: JsonObject) -> JsonObject:
    """Return a body without the names and defaults in which the two clients differ."""
    text = body.get("input")
    body = {**body, "input": [{"role": "user", "content": text}]} if isinstance(text, str) else body
    names = {"max_tokens": "max_completion_tokens"} if "messages" in body else {}
    kept = {names.get(key, key): value for key, value in body.items() if key not in _CLIENTS_OWN}
    return {key: value for key, value in kept.items() if value != {"format": {"type": "text"}}}


_CLIENTS_OWN = ("store", "include")


def _text(content: Any) -> str:
    blocks = [content] if isinstance(content, str) else [each.get("text", "") for each in content]
    return "".join(blocks).strip()


def _asked(command: Sequence[str], given: object) -> Any:
    done = subprocess.run(
        command, input=json.dumps(given), capture_output=True, text=True, check=True, timeout=LIMIT
    )
    return json.loads(done.stdout)


def _script(python: Path) -> str:
    """The script beside its package, which Node finds there."""
    where = FOLDER / "dotprompt"
    where.mkdir(exist_ok=True)
    environment = {**os.environ, "PATH": f"{python.parent}:{os.environ['PATH']}"}
    command = ["npm", *NPM_INSTALL, "--no-save", "--prefix", str(where), npm_package("dotprompt")]
    subprocess.run(command, env=environment, check=True, timeout=LIMIT)
    script = where / "dotprompt.mjs"
    text = (Path(__file__).parent / "dotprompt.mjs").read_text(encoding="utf-8")
    script.write_text(text, encoding="utf-8")
    return str(script)


if __name__ == "__main__":
    sys.exit(main())
