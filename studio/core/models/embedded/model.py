"""The embedded model: always available, without an account or a network, and very small.

This file writes the grammar that limits a reply to the valid ones of its protocol, in the Lark
syntax of llguidance, which is part of llama.cpp's server; `policy` decides which steps are allowed.
The grammar's levels are shown to the user, because what a grammar enforces is not an ability of the
model. Conversations are converted for chat templates without tools: roles and plain texts.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from studio.core.models.base import Capabilities, ModelError, ModelRequest, TellOpening
from studio.core.models.bodies import as_sent
from studio.core.models.embedded import policy
from studio.core.models.embedded.server import EmbeddedServer, EmbeddedSettings, LlamaClient
from studio.core.prompty.document import (
    MediaPart,
    Message,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    ToolSpec,
)
from studio.core.text.amounts import counted
from studio.core.text.values import JsonDict, JsonObject, parse_json
from studio.core.wire import reply
from studio.core.wire.draft import all_stops
from studio.core.wire.schema import strict_schema

_ROLES = {"developer": "system", "tool": "user"}


def template_messages(request: ModelRequest) -> tuple[dict[str, str], ...]:
    """Return the messages for `/apply-template`.

    The bundled model's template ignores tools (docs/design/embedded-model.md), so for the native
    protocol they are described in the system message, calls are written as the grammar's JSON, and
    results become user messages. Adjacent messages of one role are joined, because some templates
    reject them.
    """
    merged: list[dict[str, str]] = []
    for role, text in _turns(request):
        if merged and merged[-1]["role"] == role:
            merged[-1]["content"] += "\n\n" + text
        else:
            merged.append({"role": role, "content": text})
    return tuple(merged)


def last_user_text(request: ModelRequest) -> str:
    """Return the last text of the user, for a run without a question."""
    for message in reversed(request.messages):
        if message.role == "user":
            return message.text
    return ""


def _turns(request: ModelRequest) -> Iterator[tuple[str, str]]:
    if request.protocol == "native" and request.tools:
        yield "system", _tool_help(request.tools)
    for message in request.messages:
        yield _ROLES.get(message.role, message.role), _text(message)


def _tool_help(tools: tuple[ToolSpec, ...]) -> str:
    lines = [_tool_line(tool) for tool in tools]
    form = '{"name": "' + tools[0].name + '", "arguments": {…}}'
    return "\n".join(["Tools:", *lines, f"To use a tool, write only {form}."])


def _tool_line(tool: ToolSpec) -> str:
    properties = tool.parameters.get("properties")
    names = ", ".join(properties) if isinstance(properties, Mapping) else ""
    return f"- {tool.name}({names}): {tool.description.splitlines()[0] if tool.description else ''}"


def _text(message: Message) -> str:
    pieces: list[str] = []
    for part in message.parts:
        match part:
            case TextPart(text):
                pieces.append(text)
            case ToolResultPart(text):
                pieces.append(f"The tool answered: {text}")
            case ToolCallPart():
                name = json.dumps(part.name, ensure_ascii=False)
                pieces.append(f'{{"name": {name}, "arguments": {part.arguments or "{}"}}}')
            case MediaPart():
                pieces.append(f"[{part.alt or part.kind}]")
    return "\n".join(piece for piece in pieces if piece)


_LINE_CHARACTER = r"[^\x00-\x1f]"
_TEXT_CHARACTER = r"[^\x00-\x09\x0b-\x1f]"
_TEXT_START = r"[^\x00-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]"
"""A letter of any script or a digit."""

_CLAIMLESS = r"[^\x00-\x1f=]"
_THOUGHT = 120
_ANSWER = 240


def build_grammar(request: ModelRequest, level: policy.GrammarLevel) -> str | None:
    """Build the grammar of the reply's text; None if the model may write anything.

    Args:
        request: the request; its protocol, tools, past calls, observations and question are used.
        level: level of the grammar.
    """
    rule = _reply_rule(request, level)
    return None if rule is None else f"%llguidance {{}}\nstart: {rule}"


def with_end(grammar: str, token: int | None) -> str:
    """Return the grammar with the model's own end-of-turn token.

    The server tells the engine only one of the tokens that end a turn, which may not be the one
    that the model was trained with.
    """
    return grammar if token is None else f"{grammar} <[{token}]>?"


def _reply_rule(request: ModelRequest, level: policy.GrammarLevel) -> str | None:
    if level == "off":
        return None
    choices = policy.step_choices(request, level)
    asked = request.response_schema
    schema = None if asked is None else strict_schema(asked)  # as for every server
    match request.protocol:
        case "native":
            if not request.tools:
                return None if schema is None else policy.json_rule(policy.bounded(schema))
            return _native(choices, schema)
        case "react":
            return _react(choices)
        case "json_action":
            return _json_action(choices)


def _native(choices: policy.StepChoices, schema: JsonObject | None) -> str:
    """Return the grammar of a call as one JSON object, or of the answer."""
    ways = [
        policy.json_rule(
            policy.object_schema(
                (("name", {"const": offer.tool}, True), ("arguments", _arguments(offer), True))
            )
        )
        for offer in choices.calls
    ]
    if choices.may_answer:
        free = _answer(choices.findings, _TEXT_CHARACTER)
        ways.append(free if schema is None else policy.json_rule(policy.bounded(schema)))
    return _one_of(ways)


def _react(choices: policy.StepChoices) -> str:
    ways = [
        f"{_thought('I need to ', choices)} {_literal(f'Action: {offer.tool}')} {_NEW_LINE} "
        f"{_literal('Args: ')} {policy.json_rule(_arguments(offer))}"
        for offer in choices.calls
    ]
    if choices.may_answer:
        ways.append(
            f"{_thought(_lead_to_answer(choices), choices)} {_literal('Final Answer: ')} "
            f"{_answer(choices.findings, _LINE_CHARACTER)}"
        )
    return _one_of(ways)


def _json_action(choices: policy.StepChoices) -> str:
    ways = [
        f"{_quoted(offer.tool)} {_BETWEEN} {policy.json_rule(_input(offer))}"
        for offer in choices.calls
    ]
    if choices.may_answer:
        findings = [
            replace(each, answer=_in_string(each.answer), asked=_in_string(each.asked))
            for each in choices.findings
        ]
        answer = _answer(findings, policy.STRING_CHARACTER)
        ways.append(f'{_quoted("final_answer")} {_BETWEEN} "\\"" {answer} "\\""')
    return f'{_BEFORE} {_one_of(ways)} "\\n}}"'


def _literal(text: str) -> str:
    """Return the expression for exactly this text."""
    return json.dumps(text, ensure_ascii=False)


def _quoted(text: str) -> str:
    """Return the expression for exactly this text as a JSON string."""
    return _literal(json.dumps(text, ensure_ascii=False))


def _in_string(text: str) -> str:
    """Escape a text for use inside a JSON string."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _one_of(expressions: Iterable[str]) -> str:
    return "(" + " | ".join(dict.fromkeys(expressions)) + ")"


_NEW_LINE = _literal("\n")
_BEFORE = _literal('{\n    "action": ')
_BETWEEN = _literal(',\n    "action_input": ')


def _lead_to_answer(choices: policy.StepChoices) -> str:
    found = any(finding.answer for finding in choices.findings) or not choices.findings
    return "I now know " if found else "I could not find "


def _thought(lead: str, choices: policy.StepChoices) -> str:
    """Return the rule for the thought; a guided one begins with `lead`."""
    free = f"/{_TEXT_START}{_LINE_CHARACTER}{{1,{_THOUGHT}}}/"
    guided = f"{_literal(lead)} /[a-z0-9]{_CLAIMLESS}{{1,{_THOUGHT}}}/"
    return f"{_literal('Thought: ')} {guided if choices.is_guided else free} {_NEW_LINE}"


def _answer(findings: Sequence[policy.Finding], character: str) -> str:
    """Return the rule for an answer: free text, or one sentence per finding."""
    if not findings:
        return f"/{_TEXT_START}{character}{{0,{_ANSWER}}}/"
    alone = len(findings) == 1
    return f" {_literal(' ')} ".join(_sentence(each, alone=alone) for each in findings)


def _sentence(finding: policy.Finding, *, alone: bool) -> str:
    """Return the rule for a finding's sentence, whose wording the model chooses."""
    if not finding.answer:
        return _literal("I could not find that out.")
    ways = ["The answer is "] if alone or not finding.asked else []
    if finding.asked[:1].islower():
        ways.append(f"The {finding.asked} is ")
    elif finding.asked:
        ways += [f"{finding.asked} is ", f"{finding.asked} = "]
    return _one_of(_literal(f"{way}{finding.answer}.") for way in ways)


def _arguments(offer: policy.CallOffer) -> JsonObject:
    return policy.object_schema((each.name, each.schema, each.required) for each in offer.members)


def _input(offer: policy.CallOffer) -> JsonObject:
    """Return the schema of `action_input`; a single text is not wrapped, as in the examples."""
    if len(offer.members) == 1 and offer.members[0].required and offer.members[0].is_text:
        return offer.members[0].schema
    return _arguments(offer)


DEFAULT_LEVEL: policy.GrammarLevel = "grounded"
"""Level for the bundled model, which needs the full grammar."""

_SEED = 1
_WAITING = "Waiting until the embedded model has finished another reply …"
_STEP_TOKENS = 256
_CHAT_TOKENS = 512
_LONG_PROMPT = 250
_OPTIONS = {
    "temperature": "temperature",
    "topP": "top_p",
    "topK": "top_k",
    "seed": "seed",
    "frequencyPenalty": "frequency_penalty",
    "presencePenalty": "presence_penalty",
    "maxOutputTokens": "n_predict",
}


@dataclass(frozen=True, slots=True)
class Speed:
    """The speed of the last reply."""

    reading: float
    """Tokens of the prompt per second."""

    writing: float
    """Tokens of the reply per second."""


class EmbeddedModel:
    """A model on the embedded server, which answers one request at a time."""

    def __init__(
        self,
        server: EmbeddedServer | None = None,
        *,
        settings: EmbeddedSettings | None = None,
        level: policy.GrammarLevel = DEFAULT_LEVEL,
    ) -> None:
        """Store the settings; no server is started yet.

        Args:
            server: a shared server, which its owner stops; None creates one that `close` stops.
            settings: settings of the server; None for its defaults.
            level: level of the grammar.
        """
        self._server = server or EmbeddedServer(settings)
        self._settings = settings or self._server.settings
        self._owns_server = server is None
        self.level: policy.GrammarLevel = level
        """Level of the grammar."""
        self.speed: Speed | None = None
        """Speed of the last reply; kept out of the reply, so that equal runs stay equal."""

    @property
    def label(self) -> str:
        """The model's name for the user."""
        weights = self._settings.weights
        name = weights.stem if weights else "SmolLM2 135M"
        return f"{name} (embedded)"

    @property
    def capabilities(self) -> Capabilities:
        """The abilities of the model."""
        return Capabilities(context_window=self._settings.context)

    def request_body(self, request: ModelRequest) -> JsonObject:
        """Return the body of the request; the model's chat template turns `messages` into a prompt.

        The temperature is 0 and the seed fixed unless the document sets them, so that the same
        prompt gives the same reply.
        """
        options = request.options or {}
        agent = request.protocol != "native" or bool(request.tools)
        body: JsonDict = {
            "messages": template_messages(request),
            "temperature": 0,
            "seed": _SEED,
            "n_predict": _STEP_TOKENS if agent else _CHAT_TOKENS,
            "stream": True,
            "cache_prompt": False,
        }
        body |= {theirs: options[ours] for ours, theirs in _OPTIONS.items() if ours in options}
        stops = all_stops(options, request.stop)
        if stops:
            body["stop"] = [item for item in stops if isinstance(item, str) and item]
        question = request.question or last_user_text(request)
        grammar = build_grammar(replace(request, question=question), self.level)
        if grammar is not None:
            body["grammar"] = grammar
        return body

    async def prepare(self, tell: TellOpening) -> None:
        """Start the server, which loads the weights.

        Raises:
            ModelError: "missing-model", "missing-library" or "crashed".
        """
        if self._server.is_busy:
            tell(_WAITING)
        async with self._server.turn():
            await self._server.change(self._settings)
            if self._server.state != "ready":
                tell(f"Starting {self.label} …")
            await self._server.start()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[reply.ReplyDelta, None]:
        """Yield the reply.

        Raises:
            ModelError: "missing-model", "crashed", "too-long" or "server-error".
            MissingValueError: a secret in the request has no value here.
        """
        request = as_sent(request)
        if self._server.is_busy:
            yield reply.ReplyNotice(_WAITING)
        async with self._server.turn():
            has_replied = False
            for is_last in (False, True):
                try:
                    async with aclosing(self._attempt(request)) as deltas:
                        async for delta in deltas:
                            has_replied = has_replied or not isinstance(delta, reply.ReplyNotice)
                            yield delta
                except ModelError as error:
                    if error.kind != "crashed" or not error.retryable or has_replied or is_last:
                        raise
                    yield reply.ReplyNotice(
                        "The embedded model's process had ended. Starting it again …"
                    )
                else:
                    return

    async def close(self) -> None:
        """Stop the server, unless it is shared."""
        if self._owns_server:
            await self._server.stop()

    async def _attempt(self, request: ModelRequest) -> AsyncGenerator[reply.ReplyDelta, None]:
        """Yield the reply of one attempt; a process that ended is the error "crashed"."""
        import httpx2

        await self._server.change(self._settings)
        if self._server.state != "ready":
            yield reply.ReplyNotice(f"Starting {self.label} …")
        address = await self._server.start()
        reading = True
        try:
            async with (
                LlamaClient(address) as client,
                aclosing(self._reply(client, request)) as deltas,
            ):
                async for delta in deltas:
                    reading = reading and isinstance(delta, reply.ReplyNotice)
                    yield delta
        except httpx2.TransportError as error:
            raise await self._lost(error) from error
        except (asyncio.CancelledError, GeneratorExit):
            if reading:
                # llama.cpp cannot be stopped while it reads a prompt, however long
                # (docs/design/embedded-model.md), except by ending the process. The next use starts
                # a new one.
                await self._server.stop()
            raise

    async def _lost(self, error: Exception) -> ModelError:
        crashed = await self._server.failure()
        if crashed is not None:
            return crashed
        await self._server.stop()
        return ModelError(
            "server-error",
            f"The embedded model stopped answering ({type(error).__name__}).",
            "Run again: it was restarted.",
            retryable=True,
        )

    async def _reply(
        self, client: LlamaClient, request: ModelRequest
    ) -> AsyncGenerator[reply.ReplyDelta, None]:
        body = dict(self.request_body(request))
        prompt = await client.template(template_messages(request))
        del body["messages"]
        grammar = body.get("grammar")
        if isinstance(grammar, str):
            body["grammar"] = with_end(grammar, await client.end_token())
        count = await client.count(prompt)
        if count > _LONG_PROMPT:
            yield reply.ReplyNotice(f"Reading {counted(count, 'token')} …")
        is_call: bool | None = None if request.protocol == "native" and request.tools else False
        held = ""
        end: JsonObject = {}
        async with aclosing(client.complete({"prompt": prompt, **body}, request.wire)) as pieces:
            async for piece in pieces:
                end = piece.end or end
                if is_call is None and (held + piece.text).strip():
                    is_call = (held + piece.text).lstrip().startswith("{")
                if is_call is False and held + piece.text:
                    yield reply.TextDelta(held + piece.text)
                    held = ""
                else:
                    held += piece.text
        for delta in _call_of(held, request):
            yield delta
        self.speed = _speed(end)
        yield reply.UsageDelta(
            reply.Usage(_number(end, "tokens_evaluated"), _number(end, "tokens_predicted"))
        )
        yield reply.Finished(_reason(end, called=bool(held)))


def _call_of(text: str, request: ModelRequest) -> tuple[reply.ReplyDelta, ...]:
    """Return the tool call in a native reply's JSON; any other JSON is text."""
    if not text:
        return ()
    try:
        value = parse_json(text)
    except ValueError:
        return (reply.TextDelta(text),)
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return (reply.TextDelta(text),)
    arguments = json.dumps(value.get("arguments", {}), ensure_ascii=False)
    identifier = f"call_{len(request.past_calls) + 1}"
    return (reply.ToolCallDelta(0, identifier, value["name"], arguments),)


def _number(end: JsonObject, key: str) -> int:
    value = end.get(key)
    return value if isinstance(value, int) else 0


def _speed(end: JsonObject) -> Speed | None:
    timings = end.get("timings")
    if not isinstance(timings, Mapping):
        return None
    reading, writing = timings.get("prompt_per_second"), timings.get("predicted_per_second")
    if not isinstance(reading, int | float) or not isinstance(writing, int | float):
        return None
    return Speed(float(reading), float(writing))


def _reason(end: JsonObject, *, called: bool) -> reply.FinishReason:
    if end.get("stop_type") == "limit":
        return "length"
    return "tool_calls" if called else "stop"
