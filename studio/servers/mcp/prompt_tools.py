"""The tools on prompt files: check, fix, what a model would get, other dialects and forms."""

# The annotations are values: the SDK makes the schemas of them, and finds what is asked of the user
# in them. As texts it could not look up the functions that ask.

from pathlib import Path
from typing import Annotated

from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from studio.application.document.checked_file import (
    MOST_ROUNDS,
    CheckedFile,
    check_text,
    finding_as_json,
    fix_all,
    unreadable,
)
from studio.application.trust import references_of
from studio.core.export.target import ExportSource
from studio.core.export.targets import all_targets, find_target
from studio.core.export.written_keys import make_checked
from studio.core.prompty.convert.whole import convert as convert_document
from studio.core.prompty.document import Dialect
from studio.core.prompty.reference_values import ReferenceContext
from studio.core.text.atomic_file import write_atomically, write_bytes_atomically
from studio.core.text.diff import unified_diff
from studio.servers.mcp.consent import UserConsent, ask, needs
from studio.servers.mcp.request_tools import add_request_tools
from studio.servers.mcp.served_folder import ServedFolder, checked_inputs
from studio.servers.mcp.tool_types import READS, WRITES, Answer, File, Inputs, UnsavedText


def add_prompt_tools(server: MCPServer, folder: ServedFolder) -> None:
    """Give a server the tools on prompt files."""
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
        """Find the problems of prompt files, each with its code, place, message and fixes."""
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
        """Make the first fix of each finding, or of those of one code or line."""
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
            # A line is another one after the first round of fixes; a code stays what it is.
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
        """Write a prompt in another dialect; what would be lost or changed is named."""
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
        over = " over the file that is there" if folder.path(out).exists() else ""
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
            bool, Field(description="Write it although something is lost; each is named")
        ] = False,
    ) -> Answer:
        """Make a prompt into another program's form, checked, with what would be lost."""
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
    return [_checked_among(folder, path) for path in inside]


def _checked_among(folder: ServedFolder, path: Path) -> CheckedFile:
    try:
        return _checked_one(folder, folder.name(path), None)
    except ToolError as error:
        return unreadable(path, str(error))


def _checked_one(folder: ServedFolder, file: str, text: str | None) -> CheckedFile:
    content = folder.text(file) if text is None else text
    return check_text(content, folder.path(file), folder.trust)
