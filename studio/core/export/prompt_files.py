"""Prompt files: the prompt as it is, and in each dialect, each proven by reading it again."""

from __future__ import annotations

from dataclasses import dataclass, replace

from studio.core.agent.loop.setup import stop_sequences
from studio.core.agent.protocols.choose import choose_protocol
from studio.core.export.round_trip import prompt_rounds, utf8_problem
from studio.core.export.target import ExportResult, ExportSource, TargetGroup, result, unique
from studio.core.prompty.convert.compare import RUNTIMES
from studio.core.prompty.convert.whole import convert
from studio.core.prompty.document import Dialect
from studio.core.prompty.parse import parse
from studio.core.text.problem import Severity
from studio.core.text.span import Span


@dataclass(frozen=True, slots=True)
class PromptFile:
    """The prompt itself: the buffer's text, byte for byte, once it is proven."""

    name: str = "file"
    label: str = "Prompt file, as it is"
    group: TargetGroup = "Prompt files"
    suffix: str = ".prompty"
    needs_values: bool = False
    about: str = "The text of the editor, byte for byte, once it is checked and proven."

    def make(self, source: ExportSource) -> ExportResult:
        """The text as it is in the editor; an error of the document itself blocks it.

        What these inputs alone give (a missing value) is told, and blocks nothing.
        """
        document = source.document
        text = document.source.text
        fault = utf8_problem(text)
        if fault is not None:
            return result(text, (*source.problems, fault), before=text)
        proof = result(text, document.problems, (), prompt_rounds(text, source), before=text)
        return replace(proof, problems=unique((*source.problems, *proof.problems)))


_NOWHERE = Span(0, 0)
_LABELS: dict[Dialect, tuple[str, str]] = {
    "prompty": (
        "Prompty 2 file",
        "Microsoft's Prompty 2: its runtimes for Python, C# and JavaScript load it.",
    ),
    "section": (
        "Section dialect file",
        "The older prompt sections: body tools, tool calls, media and threads are markers.",
    ),
    "legacy": (
        "Prompty 1 file (legacy)",
        "For runtimes that stayed with Prompty 1: model.configuration, parameters, sample.",
    ),
}


@dataclass(frozen=True, slots=True)
class DialectFile:
    """The prompt in another dialect: text edits, so that comments, order and quoting stay."""

    dialect: Dialect
    group: TargetGroup = "Prompt files"
    suffix: str = ".prompty"
    needs_values: bool = False

    @property
    def name(self) -> str:
        """The dialect's name."""
        return self.dialect

    @property
    def label(self) -> str:
        """Name for people."""
        return _LABELS[self.dialect][0]

    @property
    def about(self) -> str:
        """What can read it."""
        return _LABELS[self.dialect][1]

    def make(self, source: ExportSource) -> ExportResult:
        """The converted text; what has no home in the dialect is a loss."""
        document = source.document
        made = convert(document, self.dialect, source.references)
        fault = utf8_problem(made.text)
        if fault is not None:
            return result(made.text, (*document.problems, fault), before=document.source.text)
        after = parse(made.text, document.source.path)
        own = {(item.code, item.message) for item in document.problems}
        faults = [
            replace(item, span=item.span if made.text == document.source.text else _NOWHERE)
            for item in after.problems
            if item.severity is Severity.ERROR and (item.code, item.message) not in own
        ]
        judge = ""
        loop: tuple[str, ...] = ()
        if self.dialect in RUNTIMES:
            judge, _ = RUNTIMES[self.dialect]
            stop = stop_sequences(document, choose_protocol(document).protocol)
            if stop and not document.model.options.get("stopSequences"):
                loop = (
                    f"The stop sequences {list(stop)!r} belong to the studio's loop: {judge} sends "
                    "none. Write them under model.options.stopSequences.",
                )
        # What is said of the messages, the rounds say with the names of the sets.
        notes = [note for note in (*made.notes, *made.losses) if note not in made.of_messages]
        return result(
            made.text,
            (*source.document.problems, *faults),
            (*notes, *loop),
            prompt_rounds(after, source, runtime=self.dialect if judge else None),
            before=document.source.text,
            judge=judge,
        )
