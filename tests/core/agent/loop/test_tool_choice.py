"""Tools that are chosen by the question (`metadata.agent.most_tools`)."""

from __future__ import annotations

import pytest

from studio.application.preview.build import build_preview, tool_choice
from studio.application.preview.variables import PreviewJob
from studio.core.agent.loop.setup import chosen_tools, make_setup
from studio.core.agent.values.options import RunOptions
from studio.core.models.scripted import ScriptedModel
from studio.core.prompty.document import ToolSpec
from studio.core.prompty.parse import parse

TEXT = (
    "---\nmetadata: {agent: {most_tools: %s}}\n---\n"
    'Write "action_input". {{ tool_names }}\n{{ chat_history }}'
)
TOOLS = (
    ToolSpec("search_web", "Search the web for pages."),
    ToolSpec("getWeather", "The forecast of a city.", {"properties": {"city": {}}}),
    ToolSpec("convert_units", "Convert a number between units."),
    ToolSpec("send_mail", "Send a message to somebody."),
)


@pytest.mark.parametrize(
    ("question", "most", "names"),
    [
        ("What is the weather in Oslo?", 1, ["getWeather"]),
        ("Convert units of the forecast, please", 2, ["getWeather", "convert_units"]),
        ("Which cities are there?", 1, ["search_web"]),  # nothing fits: the first
        ("", 2, ["search_web", "getWeather"]),
        ("Send it", 4, [tool.name for tool in TOOLS]),
        ("Send it", 0, [tool.name for tool in TOOLS]),
        ("Send it", "two", [tool.name for tool in TOOLS]),
    ],
)
def test_the_tools_that_fit_the_question_are_told(
    question: str, most: object, names: list[str]
) -> None:
    document = parse(TEXT % most)
    assert [tool.name for tool in chosen_tools(document, question, TOOLS)] == names


def test_run_and_preview_tell_the_same_and_the_run_says_so() -> None:
    document, question = parse(TEXT % 1), {"question": "What is the weather in Oslo?"}
    setup = make_setup(document, question, TOOLS, ScriptedModel([]), RunOptions())
    assert [tool.name for tool in setup.tools] == ["getWeather"]
    assert "1 of 4 tools, by the words of the question: getWeather" in setup.protocol_reason
    preview = build_preview(PreviewJob(document, question, tools=TOOLS))
    assert [tool.name for tool in preview.tools] == ["getWeather"]
    assert '"getWeather"' in preview.cards[0].message.text
    assert "send_mail" not in preview.cards[0].message.text
    assert tool_choice(preview) == "1 of 4 tools, by the words of the question: getWeather"


def test_the_preview_says_what_only_a_run_asks() -> None:
    front = "most_tools: 1, tools_embedding: nomic"
    document = parse(TEXT.replace("most_tools: %s", front))
    preview = build_preview(PreviewJob(document, {"question": "Any weather?"}, tools=TOOLS))
    by = "1 of 4 tools, by the words of the question (a run asks the embedding nomic): getWeather"
    assert tool_choice(preview) == by
    assert tool_choice(build_preview(PreviewJob(parse(TEXT % 4), {}, tools=TOOLS))) == ""
