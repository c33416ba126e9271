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
"""Size up to which a referenced file is read."""

MAX_LOOK_BYTES = 500_000
"""Size up to which a file is shown before its folder is trusted."""

NOT_TRUSTED = "reference-not-trusted"
"""Code of the problem that a reference is not read because its folder is not trusted."""

_REFERENCE = re.compile(r"\$\{(env|file|params):([^{}\n]*)\}", re.IGNORECASE)
_DOTENV = re.compile(r"^[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*(.*?)[ \t]*$")

Protocol = Literal["env", "file", "params"]
"""The word before the first colon."""

PROTOCOLS: tuple[Protocol, ...] = ("env", "file", "params")
"""Every protocol that is resolved; `${other:…}` is text."""


@dataclass(frozen=True, slots=True)
class Reference:
    """One `${protocol:argument}` in a text."""

    protocol: Protocol
    """Which kind."""

    argument: str
    """Variable, path or parameter name."""

    default: str | None
    """After the second colon, for `env`; None where none is written."""

    span: Span
    """The whole construct, in the text it was found in."""


@dataclass(frozen=True)
class ReferenceContext:
    """The sources of references."""

    folder: Path | None = None
    """The prompt's own folder; without it no file is read."""

    roots: tuple[Path, ...] = ()
    """Further folders that files may be read from."""

    environment: Mapping[str, str] | None = None
    """Environment variables; None means the process's own."""

    params: JsonObject = field(default_factory=dict)
    """The run's parameters."""

    trusted: bool = True
    """False: the folder is not trusted, so no environment variable and no file is read at all."""

    opened: Path | None = None
    """The folder that the user opened; before trust, a preview shows text files below it. A run
    never has it: nothing that is read so is sent."""

    shown: bool = False
    """True: what is made is shown and not sent; a reference that trust keeps from being read is
    then a hint and no error."""

    masker: Masker | None = field(default=None, compare=False, repr=False)
    """Masker of each variable that is read."""

    def variable(self, name: str) -> str | None:
        """Return the value of an environment variable; None where it is not set."""
        if not self.trusted:
            return None
        value = (os.environ if self.environment is None else self.environment).get(name)
        if value is not None and self.masker is not None:
            self.masker.note(f"${{env:{name}}}", value)
        return value


class UnresolvedReference(Exception):  # noqa: N818 - it is no failure of the program
    """A reference that gives no value; `code` is the problem's code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def find_references(text: str) -> Iterator[Reference]:
    """Yield every reference in a text; other protocols are left alone."""
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
    """Return the reference that a text is, and nothing else."""
    if not (text.startswith("${") and text.endswith("}")):
        return None
    reference = next(find_references(text), None)
    return reference if reference and reference.span == Span(0, len(text)) else None


def resolve_reference(reference: Reference, context: ReferenceContext) -> Json:
    """Return the value of one reference.

    Raises:
        UnresolvedReference: it has none; the text says what to do.
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
    """Describe why a file of an untrusted folder is not read; a missing file is reported, too."""
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

    A file below the opened folder, in which nothing hides: no link out, no name with a dot in
    front (`.env`, `.git`), no device, no picture, and of a bounded size.
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
    """Return the file that a relative path means, inside the prompt's folder or a granted root.

    Links are followed first, so that none leads out (GHSA-7pfc-5v9r-j299).

    Raises:
        UnresolvedReference: it leads outside, or there is no folder.
    """
    if context.folder is None:
        raise UnresolvedReference(
            "file-no-folder", f"File {path!r}: save the prompt first, files are read beside it."
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
            f"File {path!r} is outside allowed roots: it must lie in the prompt's folder.",
        )
    return target


def read_reference_file(path: str, context: ReferenceContext) -> Json:
    """Read the content of a referenced file: JSON and YAML as values, anything else as text.

    Raises:
        UnresolvedReference: it is missing, outside, too large, or broken.
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
    """Read the variables of a `.env` file beside a prompt; empty where there is none.

    The caller puts them under the environment, never over it.
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
    """Return the resolver of a prompt's references: the one rule for window and scripts.

    Args:
        path: the prompt's file; None for a text that was never saved.
        trusted: whether the user trusts its folder. Of another no variable, no `.env` and no file
            is read.
        masked: what is made is shown or exported: a variable that is set stays as it is written.
        masker: is told each variable that is read, and the secrets of the `.env` file.
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
    """Return the process's environment over the `.env` file beside a prompt."""
    beside = read_dotenv(folder) if folder is not None else {}
    return {**beside, **os.environ}


# Finds the values of `${…}` references for a preview or a run, and says why there is none.

MOST_INCLUDES = 8
"""Files that may refer to one another before the next one stays a reference."""


@dataclass(frozen=True, slots=True)
class LookUp:
    """Finds the values of references, for a preview or for a run."""

    context: ReferenceContext
    """Sources of the values."""

    preview: bool = False
    """Leave `env` as written, and wait for parameters that are not given yet."""

    def find(
        self, reference: Reference, span: Span, problems: list[Problem], user: str = "The text"
    ) -> tuple[Json, bool]:
        """Return the value, and whether there is one; why not is added to the problems.

        Args:
            reference: what is looked up.
            span: place of the problem.
            problems: gets the problem.
            user: what needs the value, as the subject of a sentence.
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
            # A parameter comes with a run; until then it is no fault that there is none.
            is_awaited = preview and reference.protocol == "params" and reference.argument != ""
            severity = Severity.HINT if is_hint or is_awaited else Severity.ERROR
            needs = "" if reference.protocol == "params" else f" {user} needs it."
            problems.append(Problem(error.code, severity, f"{error}{needs}", span))
            return None, False

    def find_all(self, value: Json, span: Span, problems: list[Problem], includes: int = 0) -> Json:
        """Return a value from a file, with the references in its own texts resolved as well."""
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
    """Return the display name of a value's source; a parameter is an input, too."""
    if reference.protocol == "params":
        return reference.argument
    return f"{reference.protocol}:{reference.argument}"


def is_input(source: str) -> bool:
    """Return whether a segment's source is an input, and not a file or a variable."""
    return not source.startswith(("env:", "file:"))


def as_text(value: Json) -> str:
    """Return a value as text: JSON for anything but a string; nothing for null."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)
