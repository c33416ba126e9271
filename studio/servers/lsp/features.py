"""Language server features: turn a parsed text and a position into protocol objects."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from html import unescape
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeAlias

from lsprotocol import types

from studio.application.document.checked_file import findings_of, read_document
from studio.application.editing.editor_context import EditorContext, editor_context_of
from studio.application.editing.experiment.names import files_named
from studio.application.editing.hover import hover
from studio.application.editing.names import references_to_files
from studio.application.editing.offers import complete
from studio.application.editing.snippets import expand
from studio.application.editing.structure import folds
from studio.application.highlight.lexer import START, YAML_FILE, lex_line
from studio.application.preview.build import shown_prompt
from studio.application.preview.diff import messages_as_markdown
from studio.application.trust import is_trusted
from studio.core.models.connections import user_connections
from studio.core.prompty.document import InputDeclaration, PromptDocument
from studio.core.prompty.edit.edits import declare_input
from studio.core.prompty.evaluation import evaluation_limits
from studio.core.prompty.fmt import tidy_edits
from studio.core.text.amounts import one_line
from studio.core.text.files import files_beside
from studio.core.text.source import Problem, Severity, SourceText, Span, TextEdit
from studio.core.text.values import KeyPath
from studio.core.tools.trust.store import TrustStore

SOURCE = "prompt-studio"
"""Source name that an editor shows beside a diagnostic."""

_SEVERITIES: Mapping[Severity, types.DiagnosticSeverity] = MappingProxyType(
    {
        Severity.ERROR: types.DiagnosticSeverity.Error,
        Severity.WARNING: types.DiagnosticSeverity.Warning,
        Severity.HINT: types.DiagnosticSeverity.Information,
    }
)

_KINDS: Mapping[str, types.CompletionItemKind] = MappingProxyType(
    {
        "key": types.CompletionItemKind.Property,
        "value": types.CompletionItemKind.Value,
        "input": types.CompletionItemKind.Variable,
        "word": types.CompletionItemKind.Keyword,
        "role": types.CompletionItemKind.Keyword,
        "filter": types.CompletionItemKind.Function,
        "file": types.CompletionItemKind.File,
        "snippet": types.CompletionItemKind.Snippet,
    }
)

_TOKENS: Mapping[str, str] = MappingProxyType(
    {
        "key": "property",
        "role": "class",
        "attribute": "parameter",
        "string": "string",
        "number": "number",
        "constant": "keyword",
        "keyword": "keyword",
        "operator": "operator",
        "comment": "comment",
        "delimiter": "macro",
        "variable": "variable",
        "filter": "function",
        "name": "function",
        "reference": "decorator",
        "link": "string",
        "heading": "type",
        "code": "string",
    }
)
"""Token type of the protocol for each style of the lexer; a style that is missing is plain text."""

_NUMBERS = {name: number for number, name in enumerate(dict.fromkeys(_TOKENS.values()))}

LEGEND = types.SemanticTokensLegend(token_types=list(_NUMBERS), token_modifiers=[])

_LONGEST_VALUE = 40


def diagnostics(reading: OpenText) -> list[types.Diagnostic]:
    """Return every problem as a diagnostic with its range."""
    return [_diagnostic(reading, problem) for problem in reading.problems]


def _diagnostic(reading: OpenText, problem: Problem) -> types.Diagnostic:
    return types.Diagnostic(
        reading.positions.range(problem.span),
        problem.message,
        severity=_SEVERITIES[problem.severity],
        code=problem.code,
        source=SOURCE,
    )


def code_actions(reading: OpenText, range_: types.Range) -> list[types.CodeAction]:
    """Return the fixes of the problems that overlap a range; a problem's preferred fix is first."""
    start, end = reading.positions.offset(range_.start), reading.positions.offset(range_.end)
    lines = reading.document.source
    first, last = lines.line_of(start), lines.line_of(end)
    return [
        types.CodeAction(
            fix.title,
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[_diagnostic(reading, problem)],
            is_preferred=number == 0,
            edit=reading.workspace_edit(fix.edits),
        )
        for problem in reading.problems
        if lines.line_of(problem.span.start) <= last and lines.line_of(problem.span.end) >= first
        for number, fix in enumerate(problem.fixes)
    ]


def completions(
    reading: OpenText, position: types.Position, *, asked: bool, snippets: bool
) -> types.CompletionList:
    """Return the completions at a position.

    Args:
        reading: the text.
        position: the caret.
        asked: whether the user asked for them; otherwise only unambiguous ones are returned.
        snippets: whether the editor supports snippets with tab stops.
    """
    document = reading.document
    caret = reading.positions.offset(position)
    offered = complete(
        document.source.text, caret, document, asked=asked, editor_context=reading.around
    )
    where = reading.positions.range(offered.span)
    typed = document.source.slice(offered.span)
    items = []
    for number, item in enumerate(offered.items):
        is_snippet = item.snippet and snippets
        text = item.insert if is_snippet or not item.snippet else expand(item.insert).text
        items.append(
            types.CompletionItem(
                item.label,
                kind=_KINDS.get(item.kind, types.CompletionItemKind.Text),
                detail=item.detail or None,
                sort_text=f"{number:04}",
                # The list is already filtered: an editor that filters it again finds the text that
                # was typed.
                filter_text=item.label if item.label.startswith(typed) else typed,
                insert_text_format=types.InsertTextFormat.Snippet if is_snippet else None,
                text_edit=types.TextEdit(where, text),
                additional_text_edits=reading.positions.edits(
                    declare_input(document, item.declares, "thread")
                )
                if item.declares
                else None,
            )
        )
    return types.CompletionList(is_incomplete=bool(typed), items=items)


def hover_at(reading: OpenText, position: types.Position) -> types.Hover | None:
    """Describe the element at a position as Markdown, without problems: the editor shows those."""
    text = hover(reading.document, (), reading.positions.offset(position), reading.around)
    if not text:
        return None
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, _markdown(text)))


def folding_ranges(reading: OpenText) -> list[types.FoldingRange]:
    """Return the folding ranges of the front matter, its blocks, the sections and fenced code."""
    return [types.FoldingRange(fold.first, fold.last) for fold in folds(reading.document)]


def formatting(reading: OpenText) -> list[types.TextEdit]:
    """Return the edits that tidy the text without changing its meaning."""
    if not reading.document.is_prompt:
        return []
    return reading.positions.edits(tidy_edits(reading.document))


def messages_text(reading: OpenText) -> str:
    """Return the messages for the model as Markdown; samples replace missing values."""
    document = reading.document
    prepared = shown_prompt(document, {}, None, reading.trust).prepared
    return messages_as_markdown(prepared.messages.messages)


def semantic_tokens(reading: OpenText) -> types.SemanticTokens:
    """Return all semantic tokens, with positions relative to the token before (LSP 3.17)."""
    if reading.document.agent_file:
        return types.SemanticTokens([])
    source, positions = reading.document.source, reading.positions
    data: list[int] = []
    state = YAML_FILE if reading.document.is_experiment else START
    last_line = last_start = 0
    starts = (*source.line_starts, len(source.text))
    for line, start in enumerate(source.line_starts):
        text = source.text[start : starts[line + 1]].rstrip("\r\n")
        tokens, state = lex_line(text, state)
        for token in tokens:
            kind = _TOKENS.get(token.style)
            if kind is None:
                continue
            place = positions.range(Span(start + token.start, start + token.end))
            column, length = place.start.character, place.end.character - place.start.character
            if line != last_line:
                last_start = 0
            data += (line - last_line, column - last_start, length, _NUMBERS[kind], 0)
            last_line, last_start = line, column
    return types.SemanticTokens(data)


def inlay_hints(reading: OpenText, range_: types.Range) -> list[types.InlayHint]:
    """Return an inlay hint with the default or sample of each input, after its expression."""
    start, end = reading.positions.offset(range_.start), reading.positions.offset(range_.end)
    shown = {item.name: _shown_value(item) for item in reading.document.inputs}
    found: dict[int, types.InlayHint] = {}
    for variable in reading.document.variables:
        value = shown.get(variable.name, "")
        inside = start <= variable.expression.end <= end
        if value and inside and variable.expression.end not in found:
            place = reading.positions.position(variable.expression.end)
            found[variable.expression.end] = types.InlayHint(
                place, value, padding_left=True, tooltip=f"{variable.name}: {value}"
            )
    return list(found.values())


def _shown_value(item: InputDeclaration) -> str:
    value = item.default if item.has_default else item.sample if item.has_sample else ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return one_line(text, _LONGEST_VALUE)


def document_links(reading: OpenText) -> list[types.DocumentLink]:
    """Return links to the existing files that the prompt refers to."""
    document = reading.document
    path = document.source.path
    if path is None:
        return []
    named = files_named(document) if document.is_experiment else references_to_files(document)
    return [
        types.DocumentLink(reading.positions.range(span), target=(path.parent / name).as_uri())
        for name, span in named
        if _is_file(path.parent / name)
    ]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # not a valid file name on this system
        return False


def symbols(reading: OpenText) -> list[types.DocumentSymbol]:
    """Return the keys of the front matter as a tree, then the sections of the body."""
    document, range_of = reading.document, reading.positions.range
    found = list(_keys(reading, ()))
    for section in document.sections:
        text = document.source.slice(section.content).strip().partition("\n")[0]
        found.append(
            types.DocumentSymbol(
                section.role or "text",
                types.SymbolKind.String,
                range_of(section.span),
                range_of(section.marker or Span(section.span.start, section.span.start)),
                detail=text[:80],
            )
        )
    return found


def _keys(reading: OpenText, parent: KeyPath) -> Iterator[types.DocumentSymbol]:
    document = reading.document
    for entry in document.entries:
        if entry.path[:-1] != parent:
            continue
        children = list(_keys(reading, entry.path))
        end = max([entry.value.end, entry.key.end])
        whole = Span(entry.key.start, end)
        yield types.DocumentSymbol(
            symbol_name(document, entry.path),
            types.SymbolKind.Object if children else types.SymbolKind.Property,
            reading.positions.range(whole),
            reading.positions.range(entry.key),
            children=children,
        )


def symbol_name(document: PromptDocument, path: KeyPath) -> str:
    """Return the label of a key; an item of a list gets its name if it has one."""
    last = path[-1]
    if isinstance(last, str):
        return last
    for key in ("name", "id"):
        entry = document.entry(*path, key)
        if entry is not None:
            return document.source.slice(entry.value).strip("\"'")
    return str(last)


_BREAK = re.compile(r"<br\s*/?>")
_RULE = re.compile(r"<hr\s*/?>")
_BOLD = re.compile(r"</?b>")
_ITALIC = re.compile(r"</?i>")
_CODE = re.compile(r"<code>(.*?)</code>", re.DOTALL)
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|])")


def _markdown(html: str) -> str:
    """Convert the studio's hover text, a small subset of HTML, to Markdown."""
    pieces: list[str] = []
    at = 0
    for match in _CODE.finditer(html):
        pieces.append(_prose(html[at : match.start()]))
        code = unescape(match[1])
        fence = "``" if "`" in code else "`"
        pieces.append(f"{fence}{code}{fence}")
        at = match.end()
    pieces.append(_prose(html[at:]))
    return "".join(pieces)


def _prose(html: str) -> str:
    out: list[str] = []
    for part in re.split(r"(<[^<>]*>)", html):
        if _BREAK.fullmatch(part):
            out.append("  \n")
        elif _RULE.fullmatch(part):
            out.append("\n\n---\n\n")
        elif _BOLD.fullmatch(part):
            out.append("**")
        elif _ITALIC.fullmatch(part):
            out.append("*")
        else:
            out.append(_MARKDOWN.sub(r"\\\1", unescape(part).replace("\N{NO-BREAK SPACE}", " ")))
    return "".join(out)


# An open text with its parsed document, which the features of the protocol read.


PositionEncoding: TypeAlias = Literal["utf-8", "utf-16", "utf-32"]
"""Unit of a position's characters (LSP 3.17, PositionEncodingKind)."""


class Positions:
    """Converter between offsets in code points and positions of the protocol, for one text."""

    def __init__(self, source: SourceText, encoding: PositionEncoding) -> None:
        self._source = source
        self._encoding = encoding

    def position(self, offset: int) -> types.Position:
        """Convert an offset to a position of the protocol."""
        source = self._source
        line = source.line_of(offset)
        start, end = source.line_starts[line], max(0, min(offset, len(source.text)))
        if self._encoding == "utf-16":
            return types.Position(line, source.to_utf16(end) - source.to_utf16(start))
        return types.Position(line, self._units(source.text[start:end]))

    def range(self, span: Span) -> types.Range:
        """Convert a span to a range of the protocol."""
        return types.Range(self.position(span.start), self.position(span.end))

    def offset(self, position: types.Position) -> int:
        """Convert a position to an offset; a column past a line's end means that end (LSP 3.17)."""
        starts, text = self._source.line_starts, self._source.text
        if position.line >= len(starts):
            return len(text)
        start = starts[position.line]
        end = starts[position.line + 1] if position.line + 1 < len(starts) else len(text)
        line = text[start:end].rstrip("\r\n")
        if self._encoding == "utf-32" or line.isascii():
            return start + min(position.character, len(line))
        units = 0
        for index, character in enumerate(line):
            if units >= position.character:
                return start + index
            units += self._units(character)
        return start + len(line)

    def edits(self, edits: Iterable[TextEdit]) -> list[types.TextEdit]:
        """Convert edits of the text to edits of the protocol."""
        return [types.TextEdit(self.range(edit.span), edit.text) for edit in edits]

    def _units(self, text: str) -> int:
        if self._encoding == "utf-32" or text.isascii():
            return len(text)
        if self._encoding == "utf-8":
            return len(text.encode("utf-8", "surrogatepass"))
        return len(text.encode("utf-16-le", "surrogatepass")) // 2


@dataclass(frozen=True)
class OpenText:
    """A parsed and checked text of an editor."""

    uri: str
    """URI by which the editor identifies the text."""

    version: int | None
    """Version number that the editor gave this text."""

    document: PromptDocument
    """The parsed text."""

    problems: tuple[Problem, ...]
    """Problems that `check` finds in the text."""

    encoding: PositionEncoding
    """Unit of a position's characters."""

    trust: TrustStore = field(default_factory=TrustStore)
    """Trusted folders, whose files and variables may be read."""

    @cached_property
    def positions(self) -> Positions:
        """Converter between offsets and positions in the text."""
        return Positions(self.document.source, self.encoding)

    def workspace_edit(self, edits: Sequence[TextEdit]) -> types.WorkspaceEdit:
        """Return edits of the text as one workspace edit."""
        return types.WorkspaceEdit(changes={self.uri: self.positions.edits(edits)})

    @property
    def around(self) -> EditorContext:
        """Return the context for completions: tools, files and names of variables."""
        path = self.document.source.path
        folder = path.parent if path is not None else None
        trusted = is_trusted(path, self.trust)
        connections: tuple[str, ...] = ()
        if self.document.is_experiment:
            found = user_connections()
            connections = tuple(each.name for each in found.connections)
        known = editor_context_of({}, (), (), folder, trusted=trusted, connections=connections)
        return replace(known, files=partial(files_beside, path))


@evaluation_limits()
def read(
    uri: str,
    path: Path | None,
    text: str,
    version: int | None,
    encoding: PositionEncoding,
    trust: TrustStore | None = None,
) -> OpenText:
    """Parse a text of an editor.

    Args:
        uri: URI by which the editor identifies it.
        path: its file; None for a text that was never saved.
        text: the text.
        version: version number from the editor.
        encoding: unit of a position's characters.
        trust: trusted folders; None to read the user's anew.
    """
    document, trust = read_document(text, path), trust or TrustStore()
    return OpenText(uri, version, document, findings_of(document, trust), encoding, trust)
