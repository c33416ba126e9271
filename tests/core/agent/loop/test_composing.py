"""The step that writes the answer where the format's last reply carries no words."""

from __future__ import annotations

from studio.core.agent.values.commands import SendBack, StepOn
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.step import Limits, PausePoint
from studio.core.prompty.parse import parse
from tests.core.agent.runs import JSON_ACTION, Session, run_of

COMPOSE = """metadata:
  agent:
    max_iterations: 2
    compose: |
      system:
      Answer in one sentence.
      user:
      {question} We found:
      {tools_output}
"""
PROMPT = JSON_ACTION.replace("template:\n", COMPOSE + "template:\n", 1)
SEARCH = '{"action": "search", "action_input": {"query": "a"}}'
END = '{"action": "final_answer", "action_input": null}'


async def test_the_answer_is_written_by_a_prompt_of_its_own():
    run, model = run_of(
        PROMPT, [SEARCH, END, "It is in {Rome}."], options=RunOptions(headless=True)
    )
    state = await run.go()
    assert (state.status, state.answer) == ("done", "It is in {Rome}.")
    asked = model.requests[-1]
    assert (asked.protocol, asked.tools, asked.stop) == ("native", (), ())
    assert [message.role for message in asked.messages] == ["system", "user"]
    assert asked.messages[0].text.strip() == "Answer in one sentence."
    found = state.steps[0].calls[0].observation
    assert f"We found:\n- search: {found}" in asked.messages[1].text
    assert "Choose one of" not in asked.messages[1].text


async def test_an_answer_with_words_needs_no_further_step():
    done = '{"action": "final_answer", "action_input": "Rome"}'
    run, model = run_of(PROMPT, [SEARCH, done], options=RunOptions(headless=True))
    state = await run.go()
    assert (state.answer, len(model.requests)) == ("Rome", 2)


async def test_without_a_template_the_answer_stays_without_words():
    run, model = run_of(JSON_ACTION, [END], options=RunOptions(headless=True))
    state = await run.go()
    assert (state.status, state.answer, len(model.requests)) == ("done", "", 1)


async def test_it_is_a_step_like_any_other_and_the_loop_goes_on_after_it():
    options = RunOptions(stop_at_entry=True, limits=Limits(5))
    session = Session.over(PROMPT, [END, "First.", SEARCH, END, "Second."], options=options)
    places = [(await session.until_still(), 1)]
    while not session.run.state.is_over:
        places.append((await session.send(StepOn("into")), session.run.state.iteration))
    assert places == [
        (PausePoint.BEFORE_REQUEST, 1),
        (PausePoint.REPLY, 1),
        (PausePoint.STEP_END, 1),
        (PausePoint.BEFORE_REQUEST, 2),
        (PausePoint.REPLY, 2),
        (PausePoint.ANSWER, 2),
        ("done", 2),
    ]
    assert session.run.state.answer == "First."
    session.run.gate.stepping = ""
    assert await session.send(SendBack("And more?")) == "done"
    assert session.run.state.answer == "Second."
    assert "- AI: First." in session.model.requests[2].messages[-1].text


def test_only_a_prompt_that_does_not_say_so_is_told_that_its_answer_has_no_words():
    ends = '\n{{"action": "final_answer", "action_input": null}}\n'
    told = [{item.code for item in parse(text + ends).problems} for text in (JSON_ACTION, PROMPT)]
    assert ["answer-without-words" in codes for codes in told] == [True, False]
