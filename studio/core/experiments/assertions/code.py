"""What the code of a `python` or `javascript` assertion gave, as a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol, TypeAlias

from studio.core.experiments.assertions.result import UndecidedError, Verdict
from studio.core.experiments.values import AssertionSpec
from studio.core.text.values import Json, JsonObject

CodeLanguage: TypeAlias = Literal["python", "javascript"]
"""What the code of an assertion is written in."""


class CodeRunner(Protocol):
    """Runs the code of assertions; `child.AssertionChild` is one."""

    async def run(
        self, language: CodeLanguage, code: str, file: str, output: Json, context: JsonObject
    ) -> Json:
        """What the code gives for an answer.

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
    """A verdict of what the code gave: true or false, a score, or {pass, score, reason}.

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
