"""Tool calls answered with a task, by the extension `io.modelcontextprotocol/tasks`.

The server decides whether a call becomes a task (SEP-2663); a client with the extension requests
its state until it ends. This module imports the SDK, so import it only after `import_packages`.
"""

import asyncio
import contextlib
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any, Literal

import mcp_types as types
from mcp import MCPError
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp.client.session import ClientRequestContext, ClientSession
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from pydantic.alias_generators import to_camel

from studio.core.tools.source import Tell

TELL: ContextVar[Tell | None] = ContextVar("tell", default=None)
"""Callback for the server's messages about the current call's task."""

_USUAL_POLL_MILLISECONDS = 500
_LEAST_POLL_MILLISECONDS = 20
_GOODBYE_SECONDS = 2.0
_INPUT: TypeAdapter[types.InputRequest] = TypeAdapter(types.InputRequest)


class _TaskState(types.Result):
    """The common fields of tasks."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="ignore")

    task_id: str
    status: Literal["working", "input_required", "completed", "failed", "cancelled"]
    status_message: str = ""
    poll_interval_ms: int | None = None


class _CreatedTask(_TaskState):
    result_type: Literal["task"] = Field(alias="resultType")


class _KnownTask(_TaskState):
    """The fields of `tasks/get`."""

    wanted: dict[str, Any] = Field(default_factory=dict, alias="inputRequests")
    result: dict[str, Any] | None = None
    error: types.ErrorData | None = None


class _TaskParams(types.RequestParams):
    task_id: str = Field(alias="taskId")


class _AnswerParams(_TaskParams):
    answers: dict[str, Any] = Field(alias="inputResponses")


class _GetTask(types.Request[_TaskParams, Literal["tasks/get"]]):
    method: Literal["tasks/get"] = "tasks/get"
    name_param = "taskId"


class _CancelTask(types.Request[_TaskParams, Literal["tasks/cancel"]]):
    method: Literal["tasks/cancel"] = "tasks/cancel"
    name_param = "taskId"


class _AnswerTask(types.Request[_AnswerParams, Literal["tasks/update"]]):
    method: Literal["tasks/update"] = "tasks/update"
    name_param = "taskId"


class _Acknowledged(BaseModel):
    """An answer without content."""


class TasksExtension(ClientExtension):
    """A client extension that declares support for tasks, and waits for those of a server."""

    identifier = "io.modelcontextprotocol/tasks"

    def claims(self) -> Sequence[ResultClaim[Any]]:
        """Return the result type of a created task."""
        return (ResultClaim(result_type="task", model=_CreatedTask, resolve=_finish),)


async def _finish(created: _CreatedTask, context: ClaimContext) -> types.CallToolResult:
    """Wait for a task; if the wait is canceled, cancel the task at the server."""
    task, session = _TaskParams(taskId=created.task_id), context.session
    try:
        state = await _ended(created, task, session)
    except BaseException:
        # asyncio raises a cancellation only once, so that this request can still be sent
        with contextlib.suppress(MCPError, TimeoutError, OSError):
            async with asyncio.timeout(_GOODBYE_SECONDS):
                await session.send_request(_CancelTask(params=task), _Acknowledged)
        raise
    if state.error is not None:
        raise MCPError.from_error_data(state.error)
    if state.status == "completed" and state.result is not None:
        return types.CallToolResult.model_validate(state.result, by_name=False)
    text = state.status_message or "it says no more"
    words = f"the server ended the task without an answer ({state.status}): {text}"
    return types.CallToolResult(content=[types.TextContent(text=words)], is_error=True)


async def _ended(created: _TaskState, task: _TaskParams, session: ClientSession) -> _KnownTask:
    """Request a task's state until it is final."""
    reported, answered = "", set[str]()
    wait = created.poll_interval_ms
    tell = TELL.get()
    while True:
        state = await session.send_request(_GetTask(params=task), _KnownTask)
        if tell is not None and state.status_message not in ("", reported):
            reported = state.status_message
            tell(f"{reported}\n")
        if state.status in ("completed", "failed", "cancelled"):
            return state
        new = {key: each for key, each in state.wanted.items() if key not in answered}
        if new:
            answers = {key: await _answer(key, each, session) for key, each in new.items()}
            params = _AnswerParams(taskId=task.task_id, inputResponses=answers)
            await session.send_request(_AnswerTask(params=params), _Acknowledged)
            answered |= new.keys()
            continue
        wait = state.poll_interval_ms if state.poll_interval_ms is not None else wait
        wait = _USUAL_POLL_MILLISECONDS if wait is None else wait
        await asyncio.sleep(max(_LEAST_POLL_MILLISECONDS, wait) / 1000)


async def _answer(key: str, wanted: object, session: ClientSession) -> dict[str, object]:
    """Return the user's answer to a question of a task, asked like other server questions."""
    request = _INPUT.validate_python(wanted)
    meta = request.params.meta if request.params else None
    context = ClientRequestContext(session=session, request_id=key, meta=meta)
    given = await session.dispatch_input_request(context, request)
    if isinstance(given, types.ErrorData):
        raise MCPError.from_error_data(given)
    return given.model_dump(by_alias=True, mode="json", exclude_none=True)
