"""The value of one reference: `${env:NAME:default}`, `${file:path}`, `${params:name}`.

Sources: Prompty 2 §4.3; docs/design/file-format.md, "References".
"""

from __future__ import annotations

import errno
import json
import mimetypes
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from studio.core.prompty.yaml.reader import read_yaml
from studio.core.prompty.yaml.tree import NoReference
from studio.core.text.amounts import size
from studio.core.text.files import read_bounded, read_text
from studio.core.text.source import Problem, Severity, Span
from studio.core.text.values import Json, JsonObject, parse_json, reason_of

if TYPE_CHECKING:
    from studio.core.masking.masker import Masker


MAX_FILE_BYTES = 5_000_000
"""Maximum size of a referenced file, in bytes."""

MAX_LOOK_BYTES = 500_000
"""Maximum size of a file that is shown before its folder is trusted, in bytes."""

NOT_TRUSTED = "reference-not-trusted"
"""Code of the problem of a reference in an untrusted folder."""

_REFERENCE = re.compile(r"\$\{(env|file|params):([^{}\n]*)\}", re.IGNORECASE)
_DOTENV = re.compile(r"^[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*(.*?)[ \t]*$")

Protocol = Literal["env", "file", "params"]
"""Protocol of a reference, before the first colon."""

PROTOCOLS: tuple[Protocol, ...] = ("env", "file", "params")
"""All supported protocols; `${other:…}` is text."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A `${protocol:argument}` in a text."""

    protocol: Protocol
    """Protocol."""

    argument: str
    """Variable, path or parameter name."""

    default: str | None
    """Default value of `env`, after the second colon; None without one."""

    span: Span
    """Span of the whole reference in its text."""


@dataclass(frozen=True)
class ReferenceContext:
    """The sources of references' values."""

    folder: Path | None = None
    """The prompt's folder; without it no file is read."""

    roots: tuple[Path, ...] = ()
    """Further folders whose files may be read."""

    environment: Mapping[str, str] | None = None
    """Environment variables; None means the process's own."""

    params: JsonObject = field(default_factory=dict)
    """The run's parameters."""

    trusted: bool = True
    """Whether the folder is trusted; otherwise no environment variable and no file is read."""

    opened: Path | None = None
    """The folder that the user opened; before trust, a preview shows text files below it. A run
    never has it, since such content must not be sent.
    """

    shown: bool = False
    """Whether the result is only shown, not sent; an untrusted reference is then a hint, not an
    error.
    """

    masker: Masker | None = field(default=None, compare=False, repr=False)
    """Masker, which receives each variable that is read."""

    def variable(self, name: str) -> str | None:
        """Return the value of an environment variable; None if it is not set."""
        if not self.trusted:
            return None
        value = (os.environ if self.environment is None else self.environment).get(name)
        if value is not None and self.masker is not None:
            self.masker.note(f"${{env:{name}}}", value)
        return value


class UnresolvedReference(Exception):  # noqa: N818 - it is no failure of the program
    """Raised for a reference without a value; `code` is the problem's code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def find_references(text: str) -> Iterator[Reference]:
    """Yield every reference in a text, except other protocols."""
    if "${" not in text or isinstance(text, NoReference):
        return
    for found in _REFERENCE.finditer(text):
        protocol = found[1].lower()
        argument, colon, default = found[2].partition(":")
        if protocol == "env":
            yield Reference("env", argument, default if colon else None, Span(*found.span()))
        elif protocol == "file":
            yield Reference("file", found[2], None, Span(*found.span()))
        else:
            yield Reference("params", found[2].strip(), None, Span(*found.span()))


def whole_reference(text: str) -> Reference | None:
    """Return the reference that makes up a whole text; None if it contains anything else."""
    if not (text.startswith("${") and text.endswith("}")):
        return None
    reference = next(find_references(text), None)
    return reference if reference and reference.span == Span(0, len(text)) else None


def resolve_reference(reference: Reference, context: ReferenceContext) -> Json:
    """Return the value of a reference.

    Raises:
        UnresolvedReference: it has no value; the text says what to do.
    """
    match reference.protocol:
        case "env" if not reference.argument:
            text = "This reference names no variable; write ${env:NAME}."
            raise UnresolvedReference("env-not-set", text)
        case "env":
            value = context.variable(reference.argument)
            if value is not None:
                return value
            if reference.default:
                return reference.default
            if not context.trusted:
                raise UnresolvedReference(
                    NOT_TRUSTED,
                    f"Environment variable {reference.argument!r} is not read: variables are not "
                    f"read in an untrusted folder{_place(context)}; trust the folder first.",
                )
            raise UnresolvedReference(
                "env-not-set",
                f"Environment variable {reference.argument!r} not set; set it, or write a "
                f"default: ${{env:{reference.argument}:…}}.",
            )
        case "file" if not reference.argument:
            text = "This reference names no file; write ${file:name.json}."
            raise UnresolvedReference("file-missing", text)
        case "file":
            if not context.trusted and not may_be_shown(reference.argument, context):
                raise _unread_file(reference.argument, context)
            return read_reference_file(reference.argument, context)
        case "params":
            if reference.argument in context.params:
                return context.params[reference.argument]
            raise UnresolvedReference("param-not-given", missing_parameter(reference.argument))


def missing_parameter(name: str) -> str:
    """Describe a parameter without a value."""
    if not name:
        return "This reference names no parameter; write ${params:name}."
    return f"The parameter {name!r} has no value; give it one like an input."


def _unread_file(path: str, context: ReferenceContext) -> UnresolvedReference:
    """Return why a file of an untrusted folder is not read; a missing file is reported too."""
    try:
        is_there = confined_path(path, context).is_file()
    except UnresolvedReference as error:
        return error
    if not is_there:
        return UnresolvedReference("file-missing", f"File {path!r} is not found.")
    return UnresolvedReference(
        NOT_TRUSTED,
        f"File {path!r} is not read: files are not read in an untrusted folder{_place(context)}; "
        "trust the folder first.",
    )


def _place(context: ReferenceContext) -> str:
    return f" ({context.folder})" if context.folder is not None else ""


def may_be_shown(path: str, context: ReferenceContext) -> bool:
    """Return whether a preview may show a file of a folder that is not trusted yet.

    It must be a text file of limited size below the opened folder, without a link to the outside or
    a name that begins with a dot (`.env`, `.git`).
    """
    if context.opened is None:
        return False
    try:
        target = confined_path(path, context)
        inner = target.relative_to(context.opened.resolve())
        is_small = target.is_file() and target.stat().st_size <= MAX_LOOK_BYTES
    except (UnresolvedReference, OSError, ValueError, RuntimeError):
        return False
    names = (*inner.parts, *Path(path.replace("\\", "/")).parts)
    is_hidden = any(name.startswith(".") and name not in (".", "..") for name in names)
    kind = mimetypes.guess_type(target.name)[0] or ""
    return is_small and not is_hidden and not kind.startswith(("image/", "audio/", "video/"))


def confined_path(path: str, context: ReferenceContext) -> Path:
    """Return the path of a file inside the prompt's folder or a granted one.

    Links are resolved first, so that none leads outside (GHSA-7pfc-5v9r-j299).

    Raises:
        UnresolvedReference: the path leads outside, or there is no folder.
    """
    if context.folder is None:
        raise UnresolvedReference(
            "file-no-folder",
            f"File {path!r}: save the prompt first: files are read from its folder.",
        )
    try:
        folder = context.folder.resolve()
        target = (folder / path.replace("\\", "/")).resolve()
        roots = (folder, *(root.resolve() for root in context.roots))
    except (OSError, ValueError, RuntimeError) as error:
        raise UnresolvedReference(
            "file-missing", f"File {path!r} cannot be found: {reason_of(error)}"
        ) from None
    if not any(target.is_relative_to(root) for root in roots):
        raise UnresolvedReference(
            "file-outside",
            f"File {path!r} is outside allowed roots: it must be in the prompt's folder.",
        )
    return target


def read_reference_file(path: str, context: ReferenceContext) -> Json:
    """Read a referenced file: JSON and YAML as values, anything else as text.

    Raises:
        UnresolvedReference: the file is missing, outside, too large, or invalid.
    """
    target = confined_path(path, context)
    try:
        text = read_bounded(target, MAX_FILE_BYTES).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno == errno.EFBIG:
            raise UnresolvedReference(
                "file-too-large-to-read", f"File {path!r} is larger than {size(MAX_FILE_BYTES)}."
            ) from None
        is_missing = isinstance(error, FileNotFoundError)
        what = "not found" if is_missing else f"not readable: {reason_of(error)}"
        raise UnresolvedReference("file-missing", f"File {path!r} is {what}.") from None
    match target.suffix.lower():
        case ".json":
            try:
                value = parse_json(text)
            except ValueError as error:
                raise UnresolvedReference(
                    "file-broken", f"File {path!r} is not valid JSON: {reason_of(error)}"
                ) from None
            return value
        case ".yaml" | ".yml":
            reading = read_yaml(text)
            if reading.broken:
                raise UnresolvedReference(
                    "file-broken", f"File {path!r} is not valid YAML: {reading.problems[0].message}"
                )
            return reading.value
    return text


def read_dotenv(folder: Path) -> dict[str, str]:
    """Read the variables of a `.env` file beside a prompt; empty without one.

    The environment takes precedence over them.
    """
    try:
        text = read_text(folder / ".env", encoding="utf-8-sig")
    except (OSError, ValueError):
        return {}
    found: dict[str, str] = {}
    for line in text.splitlines():
        match = _DOTENV.match(line)
        if match is None:
            continue
        value = match[2]
        if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        else:
            value = value.split(" #", 1)[0].rstrip()
        found[match[1]] = value
    return found


def references_beside(
    path: Path | None,
    *,
    trusted: bool,
    masked: bool = False,
    masker: Masker | None = None,
    opened: Path | None = None,
) -> ReferenceContext:
    """Return the resolver of a prompt's references; the only rule, for window and scripts.

    Args:
        path: path of the prompt; None for a text that was never saved.
        trusted: whether the user trusts its folder; otherwise no variable, `.env` or file is read.
        masked: whether the result is shown or exported, so that a variable that is set stays as
            written.
        masker: receives each variable that is read, and the secrets of the `.env` file.
        opened: the folder that the user opened, for a preview.
    """
    folder = path.parent if path is not None else None
    environment = environment_for(folder) if trusted else {}
    if masker is not None and trusted and folder is not None:
        masker.note_secrets(read_dotenv(folder))
    if masked:
        environment = {name: f"${{env:{name}}}" for name in environment}
    return ReferenceContext(
        folder, environment=environment, trusted=trusted, opened=opened, shown=masked, masker=masker
    )


def environment_for(folder: Path | None) -> Mapping[str, str]:
    """Return the variables of a prompt's `.env` file, overridden by the process's environment."""
    beside = read_dotenv(folder) if folder is not None else {}
    return {**beside, **os.environ}


# Resolves `${…}` references for a preview or a run, and reports why one has no value.

MOST_INCLUDES = 8
"""Maximum number of files that may refer to one another."""


@dataclass(frozen=True, slots=True)
class LookUp:
    """A resolver of references for a preview or a run."""

    context: ReferenceContext
    """Sources of the values."""

    preview: bool = False
    """Whether to leave `env` as written, and not to require parameters."""

    def find(
        self, reference: Reference, span: Span, problems: list[Problem], user: str = "The text"
    ) -> tuple[Json, bool]:
        """Return the value, and whether there is one; if not, add the reason to the problems.

        Args:
            reference: the reference.
            span: place of the problem.
            problems: gets the problem.
            user: the user of the value, as the subject of a sentence.
        """
        context, preview = self.context, self.preview
        if preview and reference.protocol == "env" and reference.argument:
            known = not context.trusted or context.variable(reference.argument) is not None
            if reference.default is None and not known:
                message = f"Environment variable {reference.argument!r} not set. {user} needs it."
                problems.append(Problem("env-not-set", Severity.WARNING, message, span))
            return None, False
        try:
            value = resolve_reference(reference, context)
            if reference.protocol == "file" and not context.trusted:
                message = f"File {reference.argument!r} is only shown; trust the folder to send it."
                problems.append(Problem(NOT_TRUSTED, Severity.HINT, message, span))
            return value, True
        except UnresolvedReference as error:
            is_hint = error.code == NOT_TRUSTED and (preview or context.shown)
            # A parameter comes with a run; before it, a missing value is no error.
            is_awaited = preview and reference.protocol == "params" and reference.argument != ""
            severity = Severity.HINT if is_hint or is_awaited else Severity.ERROR
            needs = "" if reference.protocol == "params" else f" {user} needs it."
            problems.append(Problem(error.code, severity, f"{error}{needs}", span))
            return None, False

    def find_all(self, value: Json, span: Span, problems: list[Problem], includes: int = 0) -> Json:
        """Return a value from a file, with the references in its texts resolved as well."""
        if includes >= MOST_INCLUDES:
            return value
        if isinstance(value, Mapping):
            return {
                key: self.find_all(item, span, problems, includes) for key, item in value.items()
            }
        if isinstance(value, list):
            return [self.find_all(item, span, problems, includes) for item in value]
        whole = whole_reference(value) if isinstance(value, str) else None
        if whole is None:
            return value
        found, has_value = self.find(whole, span, problems)
        return self.find_all(found, span, problems, includes + 1) if has_value else value


def source_name(reference: Reference) -> str:
    """Return the name of a value's source for the user; a parameter is an input, too."""
    if reference.protocol == "params":
        return reference.argument
    return f"{reference.protocol}:{reference.argument}"


def is_input(source: str) -> bool:
    """Return whether a segment's source is an input instead of a file or a variable."""
    return not source.startswith(("env:", "file:"))


def as_text(value: Json) -> str:
    """Return a value as text: a string unchanged, null as an empty text, others as JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)
