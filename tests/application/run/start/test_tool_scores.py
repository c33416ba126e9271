"""Tools that an embedding model chooses for a run (`metadata.agent.tools_embedding`)."""

from __future__ import annotations

import pytest

from studio.application.run.start.session import begin_run, tool_scores_of
from studio.core.agent.loop.calls import NoTools
from studio.core.agent.run.plan import RunPlan
from studio.core.models.base import ChatModel
from studio.core.models.scripted import ScriptedModel
from studio.core.prompty.document import ToolSpec
from studio.core.prompty.parse import parse
from tests.core.models.remote_model import model_at
from tests.support.chat_server import chat_server, json_body

TEXT = (
    "---\nmetadata: {agent: {most_tools: 1, tools_embedding: nomic}}\n---\n"
    'Write "action_input". {{ tool_names }}\n{{ chat_history }}'
)
TOOLS = (ToolSpec("forecast", "Sun and rain."), ToolSpec("calculator", "Works out numbers."))


class TwoTools(NoTools):
    """Two tools that nothing calls."""

    specs = TOOLS


def plan_for(model: ChatModel, question: str = "Twelve times seven?") -> RunPlan:
    return RunPlan(parse(TEXT), {"question": question}, model, TwoTools())


async def reason(plan: RunPlan) -> tuple[list[str], str]:
    """Names of the tools that the model is told of, and why."""
    run = begin_run(plan, scores=await tool_scores_of(plan))
    await plan.model.close()
    setup = run.state.setup
    return [tool.name for tool in setup.tools], setup.protocol_reason


async def test_the_vectors_of_question_and_tools_choose() -> None:
    vectors = [[1.0, 0.0], [0.0, 2.0], [3.0, 0.5]]
    with chat_server() as server:
        # In any order: the index says whose it is.
        rows = [{"index": n, "embedding": vectors[n]} for n in (2, 0, 1)]
        server.script(json_body({"data": rows}))
        names, why = await reason(plan_for(model_at(server.url)))
        [request] = server.requests

    assert names == ["calculator"]
    assert "1 of 2 tools, by the embedding nomic: calculator" in why
    assert request.path.endswith("/v1/embeddings")
    assert request.body["model"] == "nomic"
    assert request.body["input"][0] == "Twelve times seven?"
    assert [text.split()[0] for text in request.body["input"][1:]] == ["forecast", "calculator"]


@pytest.mark.parametrize(
    "answer",
    [
        json_body({"error": {"message": "no such model"}}, status=404),
        json_body({"data": [{"embedding": [1.0]}]}),
        json_body({"data": [{"embedding": [1.0]}, {"embedding": [1.0, 2.0]}, {"embedding": []}]}),
        json_body(["?"]),
    ],
)
async def test_without_vectors_the_words_choose_and_the_run_says_why(answer: object) -> None:
    with chat_server() as server:
        server.always(answer)  # type: ignore[arg-type]
        names, why = await reason(plan_for(model_at(server.url), "What number is it?"))

    assert names == ["calculator"]
    assert "by the words of the question, since the embedding nomic failed (" in why


async def test_a_model_without_vectors_and_a_run_without_a_question_ask_nobody() -> None:
    names, why = await reason(plan_for(ScriptedModel([]), "numbers"))
    assert names == ["calculator"]
    assert "returns no vectors" in why
    with chat_server() as server:
        names, why = await reason(plan_for(model_at(server.url), " "))
        assert (names, server.requests) == (["forecast"], [])
    assert "embedding" not in why
