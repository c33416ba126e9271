"""Tools for prompt files: check, fix, show requests and their origins, convert and export.

An origin is the text of the prompt file, or the input, that produced a piece of the request.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from studio.application.connections.model import asked_by, choice_of
from studio.application.document.checked_file import (
    MOST_ROUNDS,
    CheckedFile,
    check_text,
    finding_as_json,
    fix_all,
    merged,
    unreadable,
)
from studio.application.preview.build import shown_prompt
from studio.application.preview.places import ValueSource, source_of
from studio.application.preview.requests import RequestPreview, preview_target, request_preview
from studio.application.trust import references_of
from studio.core.export.target import ExportSource, make_checked
from studio.core.export.targets import all_targets, find_target
from studio.core.prompty.convert.whole import convert as convert_document
from studio.core.prompty.document import Dialect, PromptDocument, ToolSpec
from studio.core.prompty.prepare import Prepared
from studio.core.prompty.reference_values import ReferenceContext
from studio.core.prompty.shapes import messages_to_json, tools_to_json
from studio.core.text.diff import unified_diff
from studio.core.text.files import write_atomically, write_bytes_atomically
from studio.core.text.source import SourceText, Span
from studio.core.wire.request import Provider, provider_of
from studio.servers.mcp.debug_tools import (
    READS,
    WRITES,
    Answer,
    BodyForm,
    File,
    Inputs,
    UnsavedText,
)
from studio.servers.mcp.served_folder import ServedFolder, UserConsent, ask, checked_inputs, needs

_MOST = 600
"""Maximum number of characters of a quote that are traced to their origins."""


def add_request_tools(server: MCPServer, folder: ServedFolder) -> None:
    """Add the tools that show what a model would receive."""

    @server.tool(annotations=READS)
    async def messages(file: File, inputs: Inputs = None, text: UnsavedText = None) -> Answer:
        """Return the messages for the model; samples replace missing values."""
        prepared, _ = await _shown(folder, file, inputs, text)
        made = prepared.messages
        return {
            "messages": messages_to_json(made, prepared.document.dialect),
            "tools": tools_to_json(made.tools),
            "samples": sorted(prepared.samples),
            "problems": _problems(folder, prepared),
        }

    @server.tool(annotations=READS)
    async def request(
        file: File, inputs: Inputs = None, provider: BodyForm = None, text: UnsavedText = None
    ) -> Answer:
        """Return the exact request body that the provider would receive. Nothing is sent."""
        prepared, tools = await _shown(folder, file, inputs, text)
        document = prepared.document
        asked = asked_by(document, folder.trust)
        target = preview_target(choice_of(asked, folder.connections))
        wanted = provider or target.provider or provider_of(document.model)
        made = request_preview(wanted, prepared, tools, target)
        return {
            "provider": wanted,
            "answers": target.chosen,
            "body": made.body,
            "notes": list(made.notes),
            "problems": _problems(folder, prepared),
        }

    @server.tool(annotations=READS)
    async def explain_value(
        file: File,
        quote: Annotated[str, Field(description="Text that occurs in the request")],
        occurrence: Annotated[int, Field(description="Number of the match, from 1", ge=1)] = 1,
        inputs: Inputs = None,
        provider: BodyForm = None,
        text: UnsavedText = None,
    ) -> Answer:
        """Return the text of the prompt file or the input that produced a piece of the request."""
        prepared, tools = await _shown(folder, file, inputs, text)
        found = _origins_of(prepared, tools, quote, occurrence, provider)
        if found is None:
            raise ToolError(f"The request does not contain {quote!r} {occurrence} times.")
        return {"file": folder.name(prepared.document.source.path), **found}


async def _shown(
    folder: ServedFolder, file: str, inputs: dict[str, Any] | None, text: str | None
) -> tuple[Prepared, tuple[ToolSpec, ...]]:
    document = folder.document(file, text)
    offered = await folder.offered_tools(document)
    shown = shown_prompt(document, checked_inputs(document, inputs), offered, folder.trust)
    return shown.prepared, shown.tools


def _problems(folder: ServedFolder, prepared: Prepared) -> list[Answer]:
    document = prepared.document
    one = CheckedFile(document.source, merged(document.problems, prepared.problems))
    name = folder.name(document.source.path)
    return [finding_as_json(one, problem, name) for problem in one.problems]


@dataclass(slots=True)
class _Piece:
    text: str
    source: ValueSource | None

    def takes(self, source: ValueSource | None) -> bool:
        """Return whether the next character belongs to this piece."""
        mine = self.source
        if source is None or mine is None or source.span is None or mine.span is None:
            return source is mine
        if source.input != mine.input:
            return False
        is_next = bool(not source.input and source.span.start in (mine.span.end, mine.span.end + 1))
        return source.span == mine.span or is_next

    def take(self, character: str, source: ValueSource | None) -> None:
        """Append a character."""
        self.text += character
        if source is not None and source.span is not None and self.source is not None:
            start = self.source.span.start if self.source.span is not None else 0
            self.source = ValueSource(Span(start, max(start, source.span.end)), source.input)


def _origins_of(
    prepared: Prepared,
    tools: tuple[ToolSpec, ...],
    quote: str,
    occurrence: int,
    provider: Provider | None,
) -> dict[str, Any] | None:
    """Return the origins of a quote from the request, in pieces; None if the quote is not found.

    Args:
        prepared: the prompt with its values.
        tools: its tools.
        quote: a text of the body, without JSON escapes.
        occurrence: number of the match, from 1.
        provider: provider whose body is built; None for that of the prompt.
    """
    document = prepared.document
    request = request_preview(provider or provider_of(document.model), prepared, tools)
    at = _place(request.text, _escaped(quote), occurrence)
    if at is None or not quote:
        return None
    pieces = _pieces(document, request, quote, at)
    return {
        "quote": quote[:_MOST],
        "pieces": [_as_json(document.source, piece) for piece in pieces],
    }


def _pieces(document: PromptDocument, request: RequestPreview, quote: str, at: int) -> list[_Piece]:
    pieces: list[_Piece] = []
    for character in quote[:_MOST]:
        source = source_of(document, request, at)
        if pieces and pieces[-1].takes(source):
            pieces[-1].take(character, source)
        else:
            pieces.append(_Piece(character, source))
        at += len(_escaped(character))
    return pieces


def _as_json(source: SourceText, piece: _Piece) -> dict[str, Any]:
    found = piece.source
    if found is None or found.span is None:
        return {"text": piece.text, "from": "not in the file: set by the studio or the connection"}
    # The span of a literal character holds its start; its text ends one later.
    last = found.span.end if found.input else min(found.span.end + 1, len(source.text))
    start, end = source.position(found.span.start), source.position(last)
    return {
        "text": piece.text,
        "from": f"the input {found.input!r}" if found.input else "the text of the prompt",
        "input": found.input,
        "line": start.line,
        "column": start.column,
        "endLine": end.line,
        "endColumn": end.column,
        "source": source.text[found.span.start : last],
    }


def _escaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _place(text: str, wanted: str, occurrence: int) -> int | None:
    at = -1
    for _ in range(occurrence):
        at = text.find(wanted, at + 1)
        if at < 0:
            return None
    return at


def add_prompt_tools(server: MCPServer, folder: ServedFolder) -> None:
    """Add the tools for prompt files to a server."""
    _add_check(server, folder)
    add_request_tools(server, folder)
    _add_convert(server, folder)
    _add_export(server, folder)


def _add_check(server: MCPServer, folder: ServedFolder) -> None:
    @server.tool(annotations=READS)
    def check(
        file: Annotated[
            str, Field(description="A prompt file or a folder; the whole served folder if empty")
        ] = "",
        text: UnsavedText = None,
    ) -> Answer:
        """Find the problems of prompt files, each with its code, location, message and fixes."""
        found = _checked(folder, file, text)
        findings = [
            finding_as_json(one, problem, folder.name(one.source.path))
            for one in found
            for problem in one.problems
        ]
        return {"files": len(found), "findings": findings}

    @server.tool(annotations=WRITES)
    def fix(
        file: File,
        code: Annotated[str, Field(description="Fix findings of this code only")] = "",
        line: Annotated[int, Field(description="Fix findings of this line only", ge=0)] = 0,
        text: UnsavedText = None,
        write: Annotated[
            bool, Field(description="Save the file; otherwise the new text is only returned")
        ] = False,
    ) -> Answer:
        """Apply the first fix of each problem, or only of one code or line."""
        if write and text is not None:
            raise ToolError("`write` saves the fixes of the file; it takes no other `text`.")
        before = _checked_one(folder, file, text)
        lines = before.source.position
        chosen = {
            problem.code
            for problem in before.problems
            if code in ("", problem.code) and line in (0, lines(problem.span.start).line)
        }
        after, made = fix_all(
            before,
            folder.trust,
            lambda problem: (
                problem.code in chosen and (not line or lines(problem.span.start).line == line)
            ),
            # Line numbers change after the first round of fixes; codes do not.
            rounds=1 if line else MOST_ROUNDS,
        )
        if write and made:
            write_atomically(folder.path(file), after.source.text)
        name = folder.name(after.source.path)
        return {
            "file": name,
            "made": list(made),
            "written": bool(write and made),
            "diff": unified_diff(before.source.text, after.source.text, name),
            "text": after.source.text,
            "left": [finding_as_json(after, each, name) for each in after.problems],
        }


def _add_convert(server: MCPServer, folder: ServedFolder) -> None:
    @server.tool(annotations=WRITES)
    def convert(
        file: File,
        to: Annotated[Dialect, Field(description="The dialect to write")],
        write: Annotated[bool, Field(description="Save the file")] = False,
    ) -> Answer:
        """Convert a prompt to another dialect; losses and changes are listed."""
        document = folder.document(file)
        beside = document.source.path.parent if document.source.path else folder.root
        made = convert_document(document, to, ReferenceContext(beside, environment={}))
        if made.refusal is not None:
            line = document.source.position(made.refusal.span.start).line
            raise ToolError(f"Nothing was converted, fix line {line} first: {made.refusal.message}")
        if write and made.losses:
            raise ToolError(f"Nothing was written, for it would lose: {' '.join(made.losses)}")
        if write:
            write_atomically(folder.path(file), made.text)
        return {
            "text": made.text,
            "same_messages": made.same_messages,
            "notes": list(made.notes),
            "losses": list(made.losses),
            "written": write,
        }


def _add_export(server: MCPServer, folder: ServedFolder) -> None:
    async def may_write(ctx: Context, target: str, out: str) -> Elicit[UserConsent] | UserConsent:
        if find_target(target) is None:
            raise ToolError(f"There is no target {target!r}.")
        if not out:
            return UserConsent(allow=True)
        over = " over the existing file" if folder.path(out).exists() else ""
        return ask(folder, ctx, f"May the export be written to {out!r}{over}?")

    @server.tool(annotations=WRITES)
    async def export(
        file: File,
        target: Annotated[
            str, Field(description="One of: " + ", ".join(each.name for each in all_targets()))
        ],
        consent: Annotated[UserConsent, Resolve(may_write)],
        out: Annotated[str, Field(description="The file to write; empty only returns it")] = "",
        inputs: Inputs = None,
        accept_losses: Annotated[
            bool, Field(description="Write it even if something is lost; losses are listed")
        ] = False,
    ) -> Answer:
        """Export a prompt to the form of another program, check it, and list the losses."""
        form = find_target(target)
        if form is None:
            raise ToolError(f"There is no target {target!r}.")
        document = folder.document(file)
        source = ExportSource(
            document,
            checked_inputs(document, inputs),
            tools=await folder.offered_tools(document),
            references=references_of(document.source.path, folder.trust, masked=True),
        )
        made = make_checked(form, source.for_target(form))
        if out:
            needs(consent)
            if not made.may_write(losses=accept_losses):
                wrong = [problem.message for problem in made.errors.values()]
                raise ToolError(f"Nothing was written: {' '.join([*wrong, *made.losses])}")
            write_bytes_atomically(folder.path(out), made.content)
        checked = CheckedFile(document.source, made.problems)
        name = folder.name(document.source.path)
        return {
            "text": made.text,
            "written": out,
            "losses": list(made.losses),
            "same": all(each.is_same for each in made.round_trips),
            "problems": [finding_as_json(checked, each, name) for each in made.problems],
        }


def _checked(folder: ServedFolder, file: str, text: str | None) -> list[CheckedFile]:
    if text is not None or folder.path(file).is_file():
        return [_checked_one(folder, file, text)]
    where = folder.path(file)
    if not where.is_dir():
        raise ToolError(f"There is no file {file!r} in {folder.root}.")
    inside = [path for path in folder.prompts() if path.is_relative_to(where)]
    list(folder.tried(inside))
    return [_checked_among(folder, path) for path in inside]


def _checked_among(folder: ServedFolder, path: Path) -> CheckedFile:
    try:
        return _checked_one(folder, folder.name(path), None)
    except ToolError as error:
        return unreadable(path, str(error))


def _checked_one(folder: ServedFolder, file: str, text: str | None) -> CheckedFile:
    content = folder.text(file) if text is None else text
    path = folder.path(file)
    (failed,) = folder.trial([(content, path)])
    if failed is not None:
        return CheckedFile(SourceText(content, path), (failed,))
    return check_text(content, path, folder.trust)
