"""Read a project's settings for checks: `[tool.prompt-studio.check]`, `prompt-studio.toml`."""

import fnmatch
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from studio.core.project_file import OWN_FILE, SettingsError, sections
from studio.core.prompty.checks.dialects import without_echoes
from studio.core.prompty.checks.portability import CODES, GROUP, check_portability
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.runtimes.prompty1 import refusals
from studio.core.text.source import Problem, Severity, Span

_ORDER = (Severity.ERROR, Severity.WARNING, Severity.HINT)


@dataclass(frozen=True, slots=True)
class CheckSettings:
    """Settings of the problems to report and the files to check."""

    select: tuple[str, ...] = ()
    """Codes or patterns such as `unused-*` to report; empty for all."""

    ignore: tuple[str, ...] = ()
    """Codes or patterns not to report."""

    exclude: tuple[str, ...] = ()
    """Files and folders to exclude, in the syntax of a `.gitignore`."""

    severity: Severity = Severity.WARNING
    """Minimum severity that makes the exit code 1."""

    portability: bool = False
    """Whether the renderings of Prompty's runtimes are compared."""

    @property
    def wants_portability(self) -> bool:
        """Whether the group is enabled, or selected by name."""
        return self.portability or any(
            each == GROUP or each.startswith(CODES) for each in self.select
        )

    def shows(self, problem: Problem) -> bool:
        """Return whether a problem is reported."""
        chosen = not self.select or _matches(problem.code, self.select)
        return chosen and not _matches(problem.code, self.ignore)

    def counts(self, problem: Problem) -> bool:
        """Return whether a problem makes the exit code 1."""
        return _ORDER.index(problem.severity) <= _ORDER.index(self.severity)


def _matches(code: str, patterns: tuple[str, ...]) -> bool:
    return any(
        code.startswith(CODES) if pattern == GROUP else fnmatch.fnmatchcase(code, pattern)
        for pattern in patterns
    )


@dataclass(frozen=True, slots=True)
class ProjectFindings:
    """The effect of a project's settings on a file's problems."""

    settings: CheckSettings
    """Settings of the project."""

    problems: tuple[Problem, ...]
    """Problems from checks that the project enables, and problems of the settings."""

    def reported(self, document: PromptDocument, found: Iterable[Problem]) -> tuple[Problem, ...]:
        """Return the reported problems in source order, without duplicates.

        Args:
            document: the parsed file.
            found: its own problems, and those of later stages.
        """
        unique = dict.fromkeys((*found, *self.problems))
        problems = without_echoes(document, sorted(unique, key=lambda problem: problem.span))
        return tuple(problem for problem in problems if self.settings.shows(problem))


def project_findings(
    document: PromptDocument, settings: CheckSettings | None = None
) -> ProjectFindings:
    """Apply a project's settings to the problems of a file.

    Args:
        document: the parsed file.
        settings: settings that replace the project's.
    """
    found: tuple[Problem, ...] = ()
    if settings is None:
        path = document.source.path
        try:
            settings = settings_for(path.parent) if path is not None else CheckSettings()
        except SettingsError as error:
            settings = CheckSettings()
            found = (Problem("project-settings", Severity.WARNING, f"{error}.", Span(0, 0)),)
    if settings.wants_portability:
        found = (*found, *check_portability(document), *refusals(document))
    return ProjectFindings(settings, found)


def settings_for(start: Path) -> CheckSettings:
    """Return the settings of the nearest folder at or above `start` that has any.

    Raises:
        SettingsError: the settings cannot be read.
    """
    for path, ours in sections(start):
        if "check" in ours or path.name == OWN_FILE:
            return _read(path, ours.get("check", {}))
    return CheckSettings()


def _read(path: Path, table: object) -> CheckSettings:
    if not isinstance(table, Mapping):
        raise SettingsError(f"{path}: 'check' is a table")
    known = CheckSettings.__dataclass_fields__
    for key in table:
        if key not in known:
            raise SettingsError(f"{path}: 'check' has no {key!r}; its keys are {', '.join(known)}")
    lists: dict[str, tuple[str, ...]] = {}
    for key in ("select", "ignore", "exclude"):
        value = table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise SettingsError(f"{path}: 'check.{key}' is a list of texts")
        lists[key] = tuple(value)
    severity = table.get("severity", Severity.WARNING.value)
    if severity not in {each.value for each in Severity}:
        raise SettingsError(f"{path}: 'check.severity' is error, warning or hint")
    portability = table.get("portability", False)
    if not isinstance(portability, bool):
        raise SettingsError(f"{path}: 'check.portability' is true or false")
    return CheckSettings(**lists, severity=Severity(str(severity)), portability=portability)
