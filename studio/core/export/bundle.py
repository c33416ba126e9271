"""A bundle: one zip with the prompt and everything that it reads, and a manifest with hashes.

The same prompt gives the same bytes: names are sorted, times fixed, nothing is compressed.
"""

import ast
import hashlib
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import assert_never

from studio.core.export.prompt_files import prompt_rounds, utf8_problem
from studio.core.export.target import ExportResult, ExportSource, RoundTrip, result
from studio.core.prompty.document import MediaPart
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import is_local
from studio.core.prompty.reference_values import (
    ReferenceContext,
    UnresolvedReference,
    confined_path,
    find_references,
)
from studio.core.text.amounts import counted, size
from studio.core.text.files import read_bounded
from studio.core.text.source import Problem, Severity, Span
from studio.core.tools.document import McpServer, OpenApi, PluginTool, PythonFile, named_sources

MANIFEST = "manifest.json"
_FORMAT = "prompt-studio-bundle/1"
_EPOCH = (1980, 1, 1, 0, 0, 0)
_MOST_BYTES = 100_000_000
_TEXTS = (".json", ".yaml", ".yml", ".txt", ".md", ".prompty", ".py")


def bundle(source: ExportSource) -> ExportResult:
    """Return the zip, verified by unpacking it and reading the prompt again."""
    document = source.document
    text = document.source.text
    fault = utf8_problem(text)
    if fault is not None:
        return result(text, (*document.problems, fault))
    packed = _collect(source)
    data = write_zip(packed.files)
    round_trips = _round_trips(source, data)
    return result(
        _listing(packed.files, len(data)),
        (*document.problems, *packed.problems),
        packed.losses,
        round_trips,
        data=data,
    )


def bundle_files(source: ExportSource) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """Return a bundle's files by path relative to the prompt, and what is left out."""
    packed = _collect(source)
    files = {name: content for name, content in packed.files.items() if name != MANIFEST}
    return files, tuple(packed.losses)


@dataclass(slots=True)
class _Packed:
    files: dict[str, bytes] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)
    losses: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def _collect(source: ExportSource) -> _Packed:
    """Collect the files of the bundle by their paths in it."""
    packed = _Packed()
    document = source.document
    path = document.source.path
    name = path.name if path is not None else "prompt.prompty"
    _put(packed, name, document.source.text.encode("utf-8"), "prompt")
    context = source.references or ReferenceContext()
    folder = path.parent if path is not None else None
    if folder is not None:
        context = replace(context, folder=folder)
    for written, role in _named(source):
        _add_file(packed, written, role, context, folder)
    _sources(packed, source, folder)
    if source.sets:
        values = {name: dict(item) for name, item in source.sets.items()}
        sets = json.dumps(values, ensure_ascii=False, indent=2) + "\n"
        _put(packed, f"{Path(name).stem}.inputs.json", sets.encode("utf-8"), "input sets")
    for reference in find_references(document.source.text):
        if reference.protocol == "env":
            packed.losses.append(
                f"The value of ${{env:{reference.argument}}} is not packed: secrets and settings "
                "are not part of a bundle."
            )
    packed.files[MANIFEST] = _manifest(packed, name)
    return packed


def _named(source: ExportSource) -> Iterator[tuple[str, str]]:
    """Yield the paths in the prompt, as written."""
    for reference in find_references(source.document.source.text):
        if reference.protocol == "file":
            yield reference.argument, "referenced file"
    for each in source.rounds.values():
        for message in each.prepared.messages.messages:
            for part in message.parts:
                if isinstance(part, MediaPart) and is_local(part):
                    yield part.source, part.kind


def _add_file(
    packed: _Packed, written: str, role: str, context: ReferenceContext, folder: Path | None
) -> None:
    if folder is None:
        packed.losses.append(f"{written!r} is not packed: the prompt has no folder yet; save it.")
        return
    if not context.trusted:
        packed.losses.append(f"{written!r} is not packed: the folder is not trusted.")
        return
    try:
        file = confined_path(written, context)
        content = read_bounded(file)
    except UnresolvedReference as error:
        packed.losses.append(f"{written!r} is not packed: {error}")
        return
    except OSError as error:
        packed.losses.append(f"{written!r} is not packed: {error.strerror or error}.")
        return
    inside = PurePosixPath(written.replace("\\", "/"))
    if inside.is_absolute() or ".." in inside.parts:
        packed.losses.append(f"{written!r} is not packed: it is outside the prompt's folder.")
        return
    name = str(inside)
    if name in packed.files:
        return
    _put(packed, name, content, role)
    if file.suffix.lower() in _TEXTS and role == "referenced file":
        for reference in find_references(content.decode("utf-8", "replace")):
            if reference.protocol == "file":
                _add_file(packed, reference.argument, role, context, folder)


def _sources(packed: _Packed, source: ExportSource, folder: Path | None) -> None:
    """Pack tool files with the modules beside them that they import; only name servers."""
    for item in named_sources(source.document):
        match item:
            case PythonFile(path):
                _python(packed, path, folder, "tools")
            case OpenApi(name, place):
                if isinstance(place, Path):
                    _local(packed, place, folder, "OpenAPI description")
                else:
                    packed.losses.append(
                        f"The tools of {name} are described at {place}, which is not packed."
                    )
            case PluginTool(kind, name):
                packed.losses.append(
                    f"The tool {name} is run by the plug-in for kind {kind}, which is not packed."
                )
            case McpServer(name):
                packed.losses.append(
                    f"The MCP server {name} is a separate program and is not packed; the prompt "
                    "names it."
                )
            case _:
                assert_never(item)


def _python(packed: _Packed, path: Path, folder: Path | None, role: str) -> None:
    name = _local(packed, path, folder, role)
    if name is None or folder is None:
        return
    try:
        tree = ast.parse(packed.files[name])
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        modules: list[str] = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules = [node.module]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            _data_file(packed, path.parent, node.value, folder)
        for module in modules:
            beside = path.parent / f"{module.partition('.')[0]}.py"
            if beside.is_file():
                _python(packed, beside, folder, "module of the tools")


def _data_file(packed: _Packed, beside: Path, written: str, folder: Path) -> None:
    """Pack a data file that tools name in a text (`facts.json`)."""
    if not 2 < len(written) < 100 or "\n" in written or "." not in written:
        return
    file = beside / written
    try:
        if file.is_file() and file.resolve().is_relative_to(folder.resolve()):
            _local(packed, file, folder, "file that the tools name")
    except (OSError, ValueError):
        return


def _local(packed: _Packed, path: Path, folder: Path | None, role: str) -> str | None:
    """Add a file of the prompt's folder; return its name in the bundle, or None."""
    try:
        inside = path.resolve().relative_to(folder.resolve()) if folder is not None else None
    except ValueError:
        inside = None
    if inside is None:
        packed.losses.append(f"{path.name!r} is not packed: it is outside the prompt's folder.")
        return None
    name = inside.as_posix()
    if name in packed.files:
        return None
    try:
        content = read_bounded(path)
    except OSError as error:
        packed.losses.append(f"{name!r} is not packed: {error.strerror or error}.")
        return None
    _put(packed, name, content, role)
    return name


def _put(packed: _Packed, name: str, content: bytes, role: str) -> None:
    if sum(map(len, packed.files.values())) + len(content) > _MOST_BYTES:
        message = f"{name!r} makes the bundle larger than {size(_MOST_BYTES)}."
        packed.problems.append(Problem("bundle-too-large", Severity.ERROR, message, Span(0, 0)))
        return
    packed.files[name] = content
    packed.roles[name] = role


def _manifest(packed: _Packed, prompt: str) -> bytes:
    listed = [
        {
            "path": name,
            "role": packed.roles[name],
            "bytes": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
        }
        for name, content in sorted(packed.files.items())
    ]
    manifest = {
        "format": _FORMAT,
        "prompt": prompt,
        "files": listed,
        "left_out": list(dict.fromkeys(packed.losses)),
    }
    return (json.dumps(manifest, ensure_ascii=False, indent=2) + "\n").encode("utf-8")


def write_zip(files: Mapping[str, bytes]) -> bytes:
    """Return a zip of the files; the same files give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files, key=lambda each: (each != MANIFEST, each)):
            info = zipfile.ZipInfo(name, _EPOCH)
            info.create_system = 3
            info.external_attr = 0o644 << 16
            archive.writestr(info, files[name])
    return buffer.getvalue()


def _listing(files: Mapping[str, bytes], size: int) -> str:
    """Return a list of the bundle's files for the user."""
    manifest = json.loads(files[MANIFEST])
    rows = [("manifest.json", "manifest", len(files[MANIFEST]), "")]
    rows += [
        (each["path"], each["role"], each["bytes"], each["sha256"]) for each in manifest["files"]
    ]
    width = max(len(row[0]) for row in rows)
    role = max(len(row[1]) for row in rows)
    digits = max(len(f"{row[2]:,}") for row in rows)
    lines = [
        f"{count:>{digits},}  {name:<{width}}  {what:<{role}}  {digest[:16]}".rstrip()
        for name, what, count, digest in rows
    ]
    return "\n".join([f"{counted(len(rows), 'file')}, {counted(size, 'byte')}", "", *lines]) + "\n"


def _round_trips(source: ExportSource, data: bytes) -> tuple[RoundTrip, ...]:
    """Compare the prompt read from the zip with the original, for every input set."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="bundle-") as folder:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            archive.extractall(folder)
            manifest = json.loads(archive.read(MANIFEST))
        path = Path(folder) / manifest["prompt"]
        text = read_bounded(path).decode("utf-8")
        references = source.references
        if references is not None:
            references = replace(references, folder=Path(folder), roots=())
        return prompt_rounds(parse(text, path), source, references=references)
