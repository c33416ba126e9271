"""What a project says of `check`: `[tool.prompt-studio.check]` or `prompt-studio.toml`."""

from __future__ import annotations

import fnmatch
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from studio.cli.exit_codes import UsageError
from studio.core.text.problem import Problem, Severity

OWN_FILE = "prompt-studio.toml"
_ORDER = (Severity.ERROR, Severity.WARNING, Severity.HINT)


@dataclass(frozen=True, slots=True)
class CheckSettings:
    """Which findings count, and which files are looked at."""

    select: tuple[str, ...] = ()
    """Codes, or patterns such as `unused-*`, that are shown; empty for all."""

    ignore: tuple[str, ...] = ()
    """Codes or patterns that are not shown."""

    exclude: tuple[str, ...] = ()
    """Files and folders that are left out, written as in a `.gitignore`."""

    severity: Severity = Severity.WARNING
    """The least severity that makes the exit code 1."""

    def shows(self, problem: Problem) -> bool:
        """Whether a finding is shown."""
        chosen = not self.select or _matches(problem.code, self.select)
        return chosen and not _matches(problem.code, self.ignore)

    def counts(self, problem: Problem) -> bool:
        """Whether a finding makes the exit code 1."""
        return _ORDER.index(problem.severity) <= _ORDER.index(self.severity)


def _matches(code: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(code, pattern) for pattern in patterns)


def settings_for(start: Path) -> CheckSettings:
    """The settings of the nearest folder at or above `start` that has some.

    Raises:
        UsageError: they cannot be read; the text says what, where, and what can stand there.
    """
    for folder in (start, *start.parents):
        own = folder / OWN_FILE
        if own.is_file():
            return _read(own, _table(own).get("check", {}))
        project = folder / "pyproject.toml"
        if project.is_file():
            tool = _table(project).get("tool", {})
            ours = tool.get("prompt-studio", {}) if isinstance(tool, Mapping) else {}
            if isinstance(ours, Mapping) and "check" in ours:
                return _read(project, ours["check"])
    return CheckSettings()


def _table(path: Path) -> Mapping[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: {error}") from None


def _read(path: Path, table: object) -> CheckSettings:
    if not isinstance(table, Mapping):
        raise UsageError(f"{path}: 'check' is a table")
    known = CheckSettings.__dataclass_fields__
    for key in table:
        if key not in known:
            raise UsageError(f"{path}: 'check' has no {key!r}; it knows {', '.join(known)}")
    lists: dict[str, tuple[str, ...]] = {}
    for key in ("select", "ignore", "exclude"):
        value = table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise UsageError(f"{path}: 'check.{key}' is a list of texts")
        lists[key] = tuple(value)
    severity = table.get("severity", Severity.WARNING.value)
    if severity not in {each.value for each in Severity}:
        raise UsageError(f"{path}: 'check.severity' is error, warning or hint")
    return CheckSettings(**lists, severity=Severity(str(severity)))
