"""A child process that runs the code of assertions; it is reused, and ended when it hangs."""

import asyncio
import itertools
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

from studio.core.experiments.assertions.result import NotRunError, UndecidedError, Verdict
from studio.core.experiments.values import AssertionSpec
from studio.core.text.values import Json, JsonDict, JsonObject
from studio.core.tools.mcp.child import ChildProcess
from studio.core.tools.python.interpreter import server_environment

# Turns the value of a `python` or `javascript` assertion into a verdict.

CodeLanguage: TypeAlias = Literal["python", "javascript"]
"""Language of an assertion's code."""


class CodeRunner(Protocol):
    """An object that runs the code of assertions, such as `child.AssertionChild`."""

    async def run(
        self, language: CodeLanguage, code: str, file: str, output: Json, context: JsonObject
    ) -> Json:
        """Run the code on an answer and return its value.

        Args:
            language: language of the code.
            code: the code; for a file, the name of its function or empty.
            file: the file; empty for code in the assertion.
            output: the answer.
            context: `vars`, `prompt` and the assertion's own `config`.

        Raises:
            UndecidedError: the code failed.
            NotRunError: there is no runner for it.
        """
        ...


def verdict_of_code(spec: AssertionSpec, value: Json) -> Verdict:
    """Return the verdict for the code's value: true or false, a score, or {pass, score, reason}.

    Raises:
        UndecidedError: the value is anything else.
    """
    if isinstance(value, bool):
        return Verdict(value, "The code returned true." if value else "The code returned false.")
    if isinstance(value, int | float):
        least = spec.threshold
        passed = value > 0 if least is None else value >= least
        return Verdict(passed, f"The code returned {value:g}.", float(value))
    if isinstance(value, str):
        word = value.strip().lower()
        if word in ("true", "false"):
            return verdict_of_code(spec, word == "true")
        try:
            return verdict_of_code(spec, float(word))
        except ValueError:
            pass
    if isinstance(value, Mapping):
        given = value.get("pass", value.get("pass_"))
        score = value.get("score")
        number = float(score) if isinstance(score, int | float) else None
        if isinstance(given, bool) or number is not None:
            passed = given if isinstance(given, bool) else (number or 0) > 0
            if spec.threshold is not None and number is not None:
                passed = passed and number >= spec.threshold
            reason = value.get("reason")
            words = str(reason or "The code gave no reason.")
            return Verdict(passed, words, number, is_final=True)
    raise UndecidedError(
        "The code must give true or false, a number, or {pass, score, reason}; "
        f"it gave {str(value)[:80]!r}."
    )


CALL_SECONDS = 20.0
"""Maximum time of one call, in seconds."""

UNTRUSTED = "Python only runs for experiments in trusted folders."


def checker_command() -> list[str]:
    """Return the command that starts the child; a frozen app starts itself."""
    if getattr(sys, "frozen", False):
        return [sys.executable, "experiment", "check-answers"]
    return [sys.executable, "-P", "-m", "studio.core.experiments.assertions.checker"]


class AssertionChild:
    """One child process for an experiment; only one call runs at a time."""

    def __init__(self, folder: Path, *, trusted: bool, seconds: float = CALL_SECONDS) -> None:
        """Create the object; the process starts with the first call.

        Args:
            folder: folder of the code's files.
            trusted: whether Python may run.
            seconds: maximum time of one call.
        """
        self._folder = folder
        self._trusted = trusted
        self._seconds = seconds
        self._child: ChildProcess | None = None
        self._lock = asyncio.Lock()
        self._numbers = itertools.count(1)
        self._no_javascript = ""

    async def run(
        self, language: CodeLanguage, code: str, file: str, output: Json, context: JsonObject
    ) -> Json:
        """Run the code and return its value; see `CodeRunner`."""
        if language == "python" and not self._trusted:
            raise NotRunError(UNTRUSTED)
        if language == "javascript" and self._no_javascript:
            raise NotRunError(self._no_javascript)
        async with self._lock:
            answer = await self._ask(
                {
                    "id": next(self._numbers),
                    "language": language,
                    "code": code,
                    "file": file,
                    "output": output,
                    "context": dict(context),
                    "node": self._trusted,
                }
            )
        if "missing" in answer:
            self._no_javascript = (
                "JavaScript is not run here: install jsbox (pip install prompt-studio[javascript]),"
                " or Node.js and trust the folder."
            )
            raise NotRunError(self._no_javascript)
        if "error" in answer:
            raise UndecidedError(str(answer["error"]))
        return answer.get("value")

    async def close(self) -> None:
        """End the child process."""
        child, self._child = self._child, None
        if child is not None:
            await child.close()

    async def _ask(self, question: JsonDict) -> JsonDict:
        child = self._child
        if child is None or not child.is_alive:
            child = self._child = await ChildProcess.start(
                checker_command(), cwd=self._folder, env=server_environment()
            )
        try:
            child.write(json.dumps(question).encode() + b"\n")
            line = await asyncio.wait_for(child.read_line(), self._seconds)
        except TimeoutError:
            await self._end(child)
            raise UndecidedError(f"The code did not end in {self._seconds:g} s.") from None
        except asyncio.CancelledError:
            await asyncio.shield(self._end(child))  # its answer would go to the next call
            raise
        if line is None:
            log = child.take_log().strip().splitlines()
            await self._end(child)
            last = f": {log[-1]}" if log else ""
            raise UndecidedError(f"The process of the code ended{last}.")
        answer: JsonDict = json.loads(line)
        return answer

    async def _end(self, child: ChildProcess) -> None:
        self._child = None
        child.kill()
        await child.close()
