"""The functions of a Python file as a source of tools.

The studio's own MCP server serves the file in a child process. Each call has a child to itself:
consecutive calls use the same one (so a tool may keep state), parallel calls use further ones, and
stopping a call only ends its own child.
"""

import asyncio
import os
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal

from studio.core.prompty.document import ToolSpec
from studio.core.text.values import Json, JsonBoundError, JsonObject, parse_json, texts_in
from studio.core.tools.mcp.connection import CallResult, ConnectionLost, ServerRefusal
from studio.core.tools.python.interpreter import missing_package_hint
from studio.core.tools.python.worker import (
    ToolFileProblem,
    ToolFileState,
    ToolFileWatch,
    UnusableToolFileError,
    Worker,
    crash_text,
    start_worker,
)
from studio.core.tools.python_server import tool_file
from studio.core.tools.source import (
    DEFAULT_LIMITS,
    Tell,
    ToolLimits,
    ToolOutcome,
    ToolSourceError,
    TrafficLog,
    tool_asked,
)


class PythonFileSource:
    """The source for one Python file; only for folders that the user trusts (`trust`)."""

    says_when_asked = True
    """Whether a call's time begins only when its process has started."""

    def __init__(
        self,
        path: Path,
        limits: ToolLimits = DEFAULT_LIMITS,
        variables: tuple[str, ...] = (),
        environment: Callable[[], Mapping[str, str]] = lambda: os.environ,
        python: str = "",
    ) -> None:
        """Create a source; nothing is started before it is needed.

        Args:
            path: path of the file.
            limits: limits of a call.
            variables: names of further variables for its process.
            environment: returns their values when it is started.
            python: the prompt's interpreter or environment; empty for none.
        """
        self.traffic = TrafficLog()
        """Messages to and from its processes."""
        self._watch = ToolFileWatch(path, python)
        self._version = ""
        self.path = path
        """Path of the file."""
        self._variables = variables
        self._environment = environment
        self._limits = limits
        self._idle: list[Worker] = []
        self._busy: set[Worker] = set()
        self._seats = asyncio.Semaphore(limits.at_once)
        self._endings: set[asyncio.Task[None]] = set()
        self._listed: tuple[ToolFileState, tuple[ToolSpec, ...] | UnusableToolFileError] | None = (
            None
        )
        self.problems: tuple[ToolFileProblem, ...] = ()
        """Functions that cannot be tools; known after `list_tools`."""
        self.lines: Mapping[str, int] = {}
        """Line of each tool's definition; known after `list_tools`."""
        self.python_names: Mapping[str, str] = {}
        """Names of tools by their names in the file, if a library gave them others."""

    @property
    def python(self) -> str:
        """The Python that runs it, with its version if it is running."""
        words = self._watch.state().interpreter.words
        return f"{self._version}, {words}" if self._version else words

    @property
    def label(self) -> str:
        """Name of the file."""
        return self.path.name

    async def list_tools(self) -> tuple[ToolSpec, ...]:
        """Return every function that is a tool.

        Raises:
            UnusableToolFileError: the file cannot be imported, or its process cannot be started.
        """
        state = self._watch.state()
        if self._listed is None or self._listed[0] != state:
            # Called at every pause in typing: for an unchanged file the previous result is
            # returned.
            try:
                self._listed = (state, await self._list())
            except UnusableToolFileError as error:
                self._listed = (state, error)
        answer = self._listed[1]
        if isinstance(answer, UnusableToolFileError):
            raise answer.with_traceback(None)
        return answer

    def place_of(self, name: str) -> str:
        """Return the file."""
        return str(self.path)

    async def call(self, name: str, arguments: JsonObject) -> ToolOutcome:
        """Call one function; canceling the task ends its process."""
        return await self.call_with_progress(name, arguments, None)

    async def call_with_progress(
        self, name: str, arguments: JsonObject, tell: Tell | None
    ) -> ToolOutcome:
        """Call a tool, and pass on its output while it runs."""
        try:
            worker = await self._take()
        except ToolSourceError as error:
            return ToolOutcome(str(error), "crashed")
        worker.child.take_log()
        worker.child.tell_log(tell)
        try:
            await self._imported(worker)
            tool_asked()
            async with asyncio.timeout(self._limits.seconds):
                result = await worker.client.call(name, arguments)
        except TimeoutError:
            log = worker.child.take_log()
            await self._retire(worker)
            return ToolOutcome(
                f"{name} was stopped after {self._limits.seconds:g} s", "timeout", stderr=log
            )
        except ServerRefusal as error:
            self._give_back(worker)
            unknown = "has no tool" in error.message
            status: Literal["unknown-tool", "error"] = "unknown-tool" if unknown else "error"
            return ToolOutcome(error.message, status, stderr=worker.child.take_log())
        except ConnectionLost:
            text = await crash_text(worker, f"while it ran {name}")
            log = worker.child.take_log()
            await self._retire(worker)
            return ToolOutcome(text, "crashed", stderr=log)
        except BaseException:
            # Canceled: the function may never return, so its process is ended at once.
            self._drop(worker)
            raise
        finally:
            worker.child.tell_log(None)
        # Its output came through another pipe before its result, so both were read in the same turn
        # of the loop; the result takes further turns to arrive here.
        log = worker.child.take_log()
        self._give_back(worker)
        return self._outcome(result, log)

    async def _imported(self, worker: Worker) -> None:
        """Make a new process import the file; the call reports any error of it."""
        if not worker.has_imported:
            worker.has_imported = True
            with suppress(ServerRefusal, ConnectionLost, TimeoutError):
                await asyncio.wait_for(
                    worker.client.list_tools(self.label), self._limits.start_seconds
                )

    async def close(self) -> None:
        """End every process of the file."""
        workers = [*self._idle, *self._busy]
        self._idle, self._busy = [], set()
        await asyncio.gather(*(worker.leave() for worker in workers))
        if self._endings:
            await asyncio.wait(set(self._endings))

    async def _list(self) -> tuple[ToolSpec, ...]:
        worker = await self._take()
        worker.has_imported = True
        try:
            listed, meta = await asyncio.wait_for(
                worker.client.list_tools(self.label), self._limits.start_seconds
            )
        except ServerRefusal as error:
            await self._retire(worker)
            message = error.message
            if message.startswith("ModuleNotFoundError"):
                interpreter = self._watch.state().interpreter
                message += f" ({missing_package_hint(self.path, interpreter)})"
            raise UnusableToolFileError(self.path, message, _line(error.data)) from error
        except ConnectionLost as error:
            text = await crash_text(worker, "while it was imported")
            await self._retire(worker)
            raise UnusableToolFileError(self.path, text) from error
        except TimeoutError as error:
            await self._retire(worker)
            raise UnusableToolFileError(
                self.path, f"is still being imported after {self._limits.start_seconds:g} s"
            ) from error
        except BaseException:
            await self._retire(worker)
            raise
        self._give_back(worker)
        self.lines = {spec.name: _line(own) for spec, own in listed}
        self.python_names = {
            name: spec.name
            for spec, own in listed
            for name in texts_in(own.get(tool_file.PYTHON_NAMES))
        }
        self.problems = tuple(_problems(meta.get(tool_file.PROBLEMS)))
        return tuple(spec for spec, _ in listed)

    def _outcome(self, result: CallResult, log: str) -> ToolOutcome:
        text, truncated = tool_file.cut(result.text, self._limits.characters + 200)
        truncated = truncated or bool(result.meta.get(tool_file.TRUNCATED))
        value: Json = result.text
        if result.meta.get(tool_file.VALUE) == "json" and not truncated:
            with suppress(JsonBoundError):  # otherwise the text is the value
                value = parse_json(result.text)
        failure: Literal["error", "bad-arguments"] = "error"
        if result.meta.get(tool_file.ARGUMENTS):
            failure = "bad-arguments"
        return ToolOutcome(
            text,
            failure if result.is_error else "ok",
            stderr=log,
            value=None if result.is_error else value,
            truncated=truncated,
            pictures=result.pictures,
        )

    def _given(self) -> dict[str, str]:
        known = self._environment() if self._variables else {}
        return {name: known[name] for name in self._variables if name in known}

    async def _take(self) -> Worker:
        """Return an idle child for the current file, or a new one; wait if all are in use."""
        await self._seats.acquire()
        try:
            state = self._watch.state()
            while self._idle:
                worker = self._idle.pop()
                if worker.state == state and worker.child.is_alive:
                    break
                self._end_later(worker)
            else:
                worker = await start_worker(
                    self.path, self._limits, self._given(), state, self.traffic
                )
                self._version = worker.client.python
        except BaseException:
            self._seats.release()
            raise
        self._busy.add(worker)
        return worker

    def _give_back(self, worker: Worker) -> None:
        if worker not in self._busy:
            return  # the source was closed meanwhile
        self._busy.discard(worker)
        self._seats.release()
        if self._idle or not worker.child.is_alive:
            self._end_later(worker)
        else:
            self._idle.append(worker)

    def _drop(self, worker: Worker) -> None:
        """Kill now, clean up later: for use during cancellation."""
        worker.child.kill()
        if worker in self._busy:
            self._busy.discard(worker)
            self._seats.release()
        self._end_later(worker)

    async def _retire(self, worker: Worker) -> None:
        if worker in self._busy:
            self._busy.discard(worker)
            self._seats.release()
        await worker.stop()

    def _end_later(self, worker: Worker) -> None:
        self._later(worker.leave())

    def _later(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.create_task(work)
        self._endings.add(task)
        task.add_done_callback(self._endings.discard)


def _line(data: object) -> int:
    line = data.get(tool_file.LINE) if isinstance(data, Mapping) else None
    return line if isinstance(line, int) else 0


def _problems(listed: object) -> list[ToolFileProblem]:
    found = []
    for item in listed if isinstance(listed, list) else []:
        match item:
            case [str() as message, int() as line]:
                found.append(ToolFileProblem(message, line))
    return found
