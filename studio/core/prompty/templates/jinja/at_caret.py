"""What an expression stands for at a place of a template that is still being written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jinja2 import TemplateSyntaxError

from studio.core.prompty.templates.jinja.fields import Bound, DataPath, path_of
from studio.core.prompty.templates.jinja.program import Program, ProgramParser
from studio.core.prompty.templates.jinja.sandbox import environment
from studio.core.prompty.templates.jinja.statements import Interpolation
from studio.core.prompty.templates.jinja.tokens import JinjaTokens
from studio.core.prompty.templates.jinja.variables import TemplateReader

_LONGEST = 200_000
"""Code points before the place that are read."""


class UnreadableTemplateError(ValueError):
    """What stands before the place cannot be read, so that nobody knows what names stand for."""


def path_at(before: str, expression: str) -> DataPath | None:
    """The fields that an expression reads, through the loops and assignments around it.

    Args:
        before: the template up to the place, in whole tags.
        expression: as it would stand between braces there.

    Raises:
        UnreadableTemplateError: what stands before cannot be read.
    """
    if len(before) > _LONGEST:
        raise UnreadableTemplateError
    source = f"{before}{{{{ ({expression}) }}}}"
    tokens = JinjaTokens(source, environment().lexer, 0)
    parser = ProgramParser(environment(), tokens, 0)
    try:
        body = parser.read()
    except (TemplateSyntaxError, RecursionError):
        source += "".join(f"{{% end{name} %}}" for _, name in reversed(parser.opened))
        tokens = JinjaTokens(source, environment().lexer, 0)
        try:
            body = ProgramParser(environment(), tokens, 0).read()
        except (TemplateSyntaxError, RecursionError) as error:
            raise UnreadableTemplateError from error
    finder = _Finder(Program(body, tuple(tokens.tags), 0), source, len(before))
    finder.body(body, dict.fromkeys((*environment().globals, "namespace", "self")))
    return finder.found


class _Finder(TemplateReader):
    """Notes what one expression stands for, with the names that are bound there."""

    def __init__(self, program: Program, source: str, at: int) -> None:
        super().__init__(program, source)
        self._at = at
        self.found: DataPath | None = None

    def body(self, body: Sequence[Any], bound: Bound) -> None:
        """Read statements one by one, each with the names that those before it bind."""
        for item in body:
            if isinstance(item, Interpolation) and item.span.start == self._at:
                self.found = path_of(item.expression, bound)
            super().body([item], bound)
