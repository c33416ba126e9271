"""Tools that read runs: state, expressions, comparison of two runs, history."""

import json
from dataclasses import asdict
from functools import partial
from typing import Annotated, TypeAlias

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from studio.application.history.rows import (
    call_of_step,
    filtered_runs,
    find_run,
    kept_state,
    raw_reply,
)
from studio.application.run.past.compare import CompareRow, RunSide, compare, figures_of
from studio.application.run.text import plain_text
from studio.core.agent.values import breakpoints
from studio.core.agent.values.state import RunState, steps_of
from studio.core.masking.walk import masked
from studio.core.prompty.templates.jinja.conditions import ConditionError
from studio.core.runs.codec import JournalError
from studio.core.runs.store import RunFilter, StoreError
from studio.servers.mcp.debug_tools import READS, Answer, RunName, Wait
from studio.servers.mcp.live_runs import MOST_STEPS, NO_ANSWER, KnownState, LiveRuns, news_of
from studio.servers.mcp.served_folder import ServedFolder

Expression: TypeAlias = Annotated[
    str,
    Field(
        description="A Jinja expression, such as args.n > 3, steps[-2].observation, "
        "messages[-1].text; names: " + ", ".join(breakpoints.NAMES),
        max_length=2000,
    ),
]

_LONGEST_VALUE = 30_000
"""Maximum number of characters of a JSON value in an answer."""

_LONGEST_TEXT = 3_000
_MOST_ROWS = 50
"""Maximum number of differing rows, and of characters of each side of the first difference."""


def add_state_tools(server: MCPServer, folder: ServedFolder, runs: LiveRuns) -> None:
    """Add the tools that read runs to a server."""
    _add_state(server, folder, runs)
    _add_history(server, folder)


def _add_state(server: MCPServer, folder: ServedFolder, runs: LiveRuns) -> None:
    @server.tool(annotations=READS)
    async def state(
        run: RunName,
        whole: Annotated[
            bool, Field(description="All of the current step, including parts of earlier answers")
        ] = False,
        steps: Annotated[bool, Field(description="Include finished steps")] = False,
        from_step: Annotated[
            int,
            Field(description=f"The first of them; {MOST_STEPS} at most, the newest if 0", ge=0),
        ] = 0,
        wait: Wait = 0,
        request: Annotated[
            int, Field(description="Include the request of this step as sent", ge=0)
        ] = 0,
        reply: Annotated[int, Field(description="Include the raw reply of this step", ge=0)] = 0,
        branch: Annotated[
            int | None,
            Field(description="Number of the branch whose end is returned, from 0", ge=0),
        ] = None,
    ) -> Answer:
        """Return what is new in the state of a live or past run since the last answer.

        A step contains only the messages that it added.
        """
        live = runs.get(run) if branch is None and runs.drives(run) else None
        if live is not None:
            await live.settle(wait)
            at = live.run.state
        else:
            line, at = _kept(folder, run, branch)
        first = from_step or max(1, at.iteration + 1 - MOST_STEPS)
        wanted = range(first, first + MOST_STEPS) if steps or from_step else None
        if live is not None:
            answer = runs.described(live, steps=wanted, whole=whole)
        else:
            before = (
                NO_ANSWER if whole or not at.steps else KnownState(messages=at.steps[-1].messages)
            )
            sent = partial(folder.history.call, line)
            shown, _ = news_of(at, sent, before, steps=wanted, whole=whole)
            answer = masked(shown, folder.secrets.masker)
        return answer | _sent(folder, answer["run"], at, request, reply)

    @server.tool(annotations=READS)
    def evaluate(
        run: RunName,
        expression: Expression,
        step: Annotated[
            int, Field(description="Step to evaluate in; 0 for the current point of the run", ge=0)
        ] = 0,
        call: Annotated[int, Field(description="Row of a call in the step", ge=0)] = 0,
    ) -> Answer:
        """Evaluate an expression at a point of a run, without side effects."""
        at = _state_of(folder, runs, run)
        if step:
            done = steps_of(at)
            if step > len(done):
                raise ToolError(f"The run has no step {step}; it has {len(done)}.")
            at = breakpoints.at_step(at, done[step - 1], call)
        try:
            value = breakpoints.parse_expression(expression).value(breakpoints.environment_of(at))
        except breakpoints.ExpressionError as error:
            raise ToolError(str(error)) from None
        text = json.dumps(masked(value, folder.secrets.masker), ensure_ascii=False)
        if len(text) > _LONGEST_VALUE:
            return {"beginning": text[:_LONGEST_VALUE], "characters": len(text)}
        return {"value": json.loads(text)}


def _sent(folder: ServedFolder, run: str, state: RunState, request: int, reply: int) -> Answer:
    """Return what steps sent and received, byte for byte except for secrets."""
    found: Answer = {}
    try:
        if request:
            call = call_of_step(folder.history, run, state, request)
            found["request"] = {"path": call.path, "headers": dict(call.headers), "body": call.body}
        if reply:
            raw, lacks = raw_reply(call_of_step(folder.history, run, state, reply))
            found["reply"] = {"raw": raw, "missing": lacks}
    except LookupError as error:
        raise ToolError(str(error)) from None
    return masked(found, folder.secrets.masker)


def _add_history(server: MCPServer, folder: ServedFolder) -> None:
    @server.tool(name="compare", annotations=READS)
    def compare_runs(
        run: RunName,
        other: Annotated[str, Field(description="Other run; empty for the same run")] = "",
        branch: Annotated[
            int | None, Field(description="Branch of `run`, from 0; by default, the newest", ge=0)
        ] = None,
        other_branch: Annotated[
            int | None,
            Field(description="Branch of the other run, from 0; by default, the newest", ge=0),
        ] = None,
    ) -> Answer:
        """Compare two runs, or two branches of one: where they diverge and what differs."""
        if not other and branch == other_branch:
            raise ToolError("Name another run, or two branches of this one; `state` lists them.")
        left, right = (
            _side(folder, *each) for each in ((run, branch), (other or run, other_branch))
        )
        found = compare(left, right)
        differences = found.differences
        rows = [found.rows[at] for at in differences[:_MOST_ROWS]]
        shown: Answer = {
            "summary": found.summary,
            "figures": {each.name: [each.left, each.right] for each in figures_of(found)},
            "same_rows": len(found.rows) - len(differences),
            "different_rows": len(differences),
            "rows": [_row(each) for each in rows],
        }
        if differences:
            texts = found.texts(differences[0])
            shown["first"] = [
                plain_text(each)[:_LONGEST_TEXT] for each in (texts.left, texts.right)
            ]
        return masked(shown, folder.secrets.masker)

    @server.tool(name="runs", annotations=READS)
    def list_runs(
        words: Annotated[
            str,
            Field(
                description="Only runs with all these words, or an expression that is true for a "
                "run or one of its steps: status == 'failed', tool == 'search', text "
                "contains 'x'"
            ),
        ] = "",
        limit: Annotated[int, Field(ge=1, le=500)] = 20,
    ) -> Answer:
        """List the runs of prompts in the served folder, newest first."""
        try:
            found = filtered_runs(
                folder.history,
                words,
                RunFilter(limit=limit),
                lambda line: bool(line.path and folder.name(folder.root / line.path)),
            )
        except ConditionError as error:
            raise ToolError(str(error)) from None
        lines = [
            {key: value for key, value in asdict(line).items() if value or key == "cost"}
            for line in found
        ]
        return masked({"runs": lines}, folder.secrets.masker)


def _row(row: CompareRow) -> Answer:
    card = row.left or row.right
    return {
        "match": row.match,
        "step": card.step if card else None,
        "what": card.title if card else None,
        "left": row.left.summary if row.left else None,
        "right": row.right.summary if row.right else None,
    }


def _side(folder: ServedFolder, name: str, branch: int | None) -> RunSide:
    """Return one side of the comparison: the end of a run of the history or of a branch."""
    return RunSide(*_kept(folder, name, branch))


def _state_of(folder: ServedFolder, runs: LiveRuns, name: str) -> RunState:
    return runs.get(name).run.state if runs.holds(name) else _kept(folder, name)[1]


def _kept(folder: ServedFolder, name: str, branch: int | None = None) -> tuple[str, RunState]:
    """Return the id of a run of a prompt in the served folder, and the final state of its branch.

    Raises:
        ToolError: there is no such run, or it cannot be read.
    """
    try:
        line = find_run(folder.history, name)
        state = kept_state(folder.history.open(line.id), branch)
    except (LookupError, JournalError, StoreError) as error:
        raise ToolError(str(error)) from None
    if not folder.name(folder.root / line.path):
        raise ToolError(f"No run {name!r} belongs to this folder.")
    return line.id, state
