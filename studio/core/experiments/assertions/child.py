"""Runs the code of assertions in a child process that is kept, and ended when it hangs."""

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

# What the code of a `python` or `javascript` assertion gave, as a verdict.

CodeLanguage: TypeAlias = Literal["python", "javascript"]
"""Language of an assertion's code."""


class CodeRunner(Protocol):
    """Runs the code of assertions; `child.AssertionChild` is one."""

    async def run(
        self, language: CodeLanguage, code: str, file: str, output: Json, context: JsonObject
    ) -> Json:
        """Run the code on an answer and return its value.

        Args:
            language: of the code.
            code: the code; of a file, the name of its function or empty.
            file: the file; empty for code that stands in the assertion.
            output: the answer.
            context: `vars`, `prompt` and the assertion's own `config`.

        Raises:
            UndecidedError: it failed.
            NotRunError: nothing here runs it.
        """
        ...


def verdict_of_code(spec: AssertionSpec, value: Json) -> Verdict:
    """Return a verdict of what the code gave: true or false, a score, or {pass, score, reason}.

    Raises:
        UndecidedError: it gave anything else.
    """
    if isinstance(value, bool):
        return Verdict(value, "The code says so." if value else "The code says no.")
    if isinstance(value, int | float):
        least = spec.threshold
        passed = value > 0 if least is None else value >= least
        return Verdict(passed, f"The code gives {value:g}.", float(value))
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
            words = str(reason or "The code gives no reason.")
            return Verdict(passed, words, number, is_final=True)
    raise UndecidedError(
        "The code must give true or false, a number, or {pass, score, reason}; "
        f"it gave {str(value)[:80]!r}."
    )


CALL_SECONDS = 20.0
"""The longest time of one call."""

UNTRUSTED = "Python runs only for experiments in folders that you trust."


def checker_command() -> list[str]:
    """Return the command of the child; in a frozen app the program is it itself."""
    if getattr(sys, "frozen", False):
        return [sys.executable, "experiment", "check-answers"]
    return [sys.executable, "-P", "-m", "studio.core.experiments.assertions.checker"]


class AssertionChild:
    """One child for an experiment; calls wait for each other."""

    def __init__(self, folder: Path, *, trusted: bool, seconds: float = CALL_SECONDS) -> None:
        """Start nothing yet.

        Args:
            folder: where the code finds its files.
            trusted: whether Python may run.
            seconds: the longest time of one call.
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
        """End the child."""
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
            await asyncio.shield(self._end(child))  # its answer would be taken for the next one
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
