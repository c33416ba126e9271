"""Options of a provider or a prompt: each is in the body, or the plan is refused by its name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from studio.application.experiments.asking import Asker
from studio.application.experiments.prompts import ExperimentError
from studio.core.experiments.results.cells import CellKey
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.models.connections import Connection
from tests.application.experiments.conftest import Bench
from tests.support.chat_server import Exchange, chunk, events, streamed

_CALL = {"name": "weather", "arguments": "{}"}
_TOOL = "{type: function, function: {name: weather, parameters: {type: object, required: [city]}}}"


def experiment(bench: Bench, config: str, rest: str = "", prompt: str = "Say {{ a }}") -> None:
    bench.write(
        "capital.experiment.yaml",
        f"prompts: ['{prompt}']\nproviders:\n  - {{id: small, config: {config}}}\n"
        f"tests: [{{vars: {{a: Norway}}{rest}}}]\n",
    )


async def body_of(bench: Bench, ledger: ExperimentLedger) -> dict[str, Any]:
    bodies: list[dict[str, Any]] = []

    async def keep(exchange: Exchange) -> None:
        bodies.append(exchange.request.body)
        await streamed("Oslo")(exchange)

    bench.server.always(keep)
    await bench.run(ledger)
    (body,) = bodies
    return body


async def test_every_option_is_in_the_body(bench: Bench, ledger: ExperimentLedger) -> None:
    bench.write("tools.yaml", f"- {_TOOL}\n")
    bench.write("schema.json", '{"type": "json_schema", "json_schema": {"name": "a"}}')
    config = (
        "{temperature: 0.5, response_format: file://schema.json, tools: file://tools.yaml,"
        " tool_choice: auto, passthrough: {own: 1}}"
    )
    experiment(bench, config)
    body = await body_of(bench, ledger)
    assert body["temperature"] == 0.5
    assert body["response_format"] == {"type": "json_schema", "json_schema": {"name": "a"}}
    assert [each["function"]["name"] for each in body["tools"]] == ["weather"]
    assert (body["tool_choice"], body["own"]) == ("auto", 1)


@pytest.mark.parametrize("api", ["chat", "responses"])
async def test_the_api_in_the_name_of_a_provider_is_asked(bench: Bench, api: str) -> None:
    config = f"{{apiBaseUrl: '{bench.server.url}', reasoning_effort: low}}"
    bench.write(
        "capital.experiment.yaml",
        f"prompts: [Say it]\nproviders: [{{id: 'openai:{api}:gpt-5', config: {config}}}]\n"
        "tests: [{vars: {}}]\n",
    )
    plan = bench.plan()
    asker = Asker(plan, bench.services)
    await asker.open()
    sent = await asker.sent(0, plan.rows[0])
    await asker.close()
    assert not isinstance(sent, str)
    if api == "chat":
        assert (sent.body["reasoning_effort"], "messages" in sent.body) == ("low", True)
    else:
        assert (sent.body["reasoning"], "input" in sent.body) == ({"effort": "low"}, True)


async def test_the_options_of_a_prompt_count(bench: Bench, ledger: ExperimentLedger) -> None:
    bench.write(
        "capital.experiment.yaml",
        "prompts:\n  - raw: Say it\n"
        "    config: {temperature: 1, response_format: {type: json_object}}\n"
        "providers: [{id: small, config: {temperature: 0.5, seed: 4}}]\n",
    )
    body = await body_of(bench, ledger)
    assert (body["temperature"], body["seed"]) == (1, 4)
    assert body["response_format"] == {"type": "json_object"}


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ("{headers: {a: b}}", "`config.headers` is not followed here"),
        ("{functionToolCallbacks: {f: x}}", "declare the tool in a .prompty file"),
        ("{tools: file://tools.py}", "tools.py is a program"),
        ("{tools: file://no.json}", "no.json: there is no such file"),
        ("{response_format: {type: '{{ a }}'}}", "config.response_format: templates are not"),
    ],
)
def test_an_option_that_is_not_sent_is_refused(bench: Bench, config: str, words: str) -> None:
    experiment(bench, config)
    with pytest.raises(ExperimentError) as refused:
        bench.plan()
    assert str(refused.value).startswith("capital.experiment.yaml:3:5: ")
    assert words in str(refused.value)


def test_tools_that_are_no_list_are_refused(bench: Bench) -> None:
    bench.write("tools.json", '{"function_declarations": []}')
    experiment(bench, "{tools: file://tools.json}")
    with pytest.raises(ExperimentError, match="it must be a list of tools"):
        bench.plan()


def test_an_option_of_another_api_is_refused(bench: Bench) -> None:
    claude = Connection("claude", "anthropic", model="c", base_url=bench.server.url)
    connections = replace(bench.services.connections, connections=(claude,))
    bench.services = replace(bench.services, connections=connections)
    experiment(bench, "{seed: 4}")
    text = bench.path.read_text().replace("id: small", "id: claude")
    bench.write("capital.experiment.yaml", text)
    with pytest.raises(ExperimentError, match="'seed' is not sent"):
        bench.plan()


@pytest.mark.parametrize(
    ("key", "delta", "code"),
    [
        (
            f"tools: [{_TOOL}]",
            {"tool_calls": [{"index": 0, "id": "c", "function": _CALL}]},
            "output[0].function.name",
        ),
        (
            "functions: [{name: weather, parameters: {type: object, required: [city]}}]",
            {"function_call": _CALL},
            "output.name",
        ),
    ],
)
async def test_calls_of_offered_tools_are_the_answer(
    bench: Bench, ledger: ExperimentLedger, key: str, delta: dict[str, Any], code: str
) -> None:
    async def call(exchange: Exchange) -> None:
        bench.asked.append("asked")
        await events([chunk(delta, next(iter(delta))), "[DONE]"])(exchange)

    bench.server.always(call)
    experiment(
        bench,
        f"{{{key}}}",
        ", assert: [{type: contains, value: weather}, {type: not-is-valid-openai-tools-call},"
        f" {{type: javascript, value: '{code} === `weather`'}}]",
    )
    result, _ = await bench.run(ledger)
    outcome = ledger.outcome(result, CellKey(1, 1, 0))
    assert outcome is not None
    assert outcome.passed, outcome
    assert len(bench.asked) == 1  # nobody runs it, so nothing is asked again


@pytest.mark.parametrize(("kind", "is_value"), [("json_schema", True), ("json_object", False)])
async def test_code_gets_the_value_of_an_answer_by_a_schema(
    bench: Bench, ledger: ExperimentLedger, kind: str, is_value: bool
) -> None:
    form = f"{{type: {kind}, json_schema: {{name: a, schema: {{type: object}}}}}}"
    code = "output.a === 1" if is_value else "JSON.parse(output).a === 1"
    bench.server.always(streamed('{"a": 1}'))
    experiment(
        bench,
        f"{{response_format: {form}}}",
        f", assert: [{{type: javascript, value: '{code}'}}, {{type: equals, value: {{a: 1}}}}]",
    )
    result, _ = await bench.run(ledger)
    outcome = ledger.outcome(result, CellKey(1, 1, 0))
    assert outcome is not None
    assert outcome.passed, outcome
