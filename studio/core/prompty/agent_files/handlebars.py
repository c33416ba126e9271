"""The Handlebars of a Dotprompt file: tags that dotprompt cannot read, and roles it does not know.

Source: the lexer of Handlebars (handlebars.l) and dotprompt's built-in helpers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from studio.core.text.problem import Problem, Severity
from studio.core.text.span import Span

_TAG = re.compile(r"(?<!\\)\{\{[{~]{0,2}\s*(?P<mark>#[>*]?|[\^/>&])?\s*(?P<rest>[^{}]*?)~?\}\}\}?")
"""A tag; `#` and `^` open a block, `#> partial` and `#*inline` too, `/` closes one."""

_OPEN = re.compile(r"(?<![\\{])\{\{\{?(?!\{|[^{}]*\}\})")
_COMMENT = re.compile(r"\{\{~?!(?:--.*?--~?\}\}|.*?\}\})", re.DOTALL)
_ID = r"[^\s!\"#%&'()*+,./;<=>@\[\\\]^`{|}~]+"
_WORD = re.compile(
    rf"(?P<text>\"[^\"]*\"|'[^']*')|(?P<names>as[ ]+\|[^|]*\|)|(?P<key>{_ID}=)|(?P<bracket>[()])"
    rf"|(?P<path>@?(?:\.\.?/)*(?:{_ID}|\[[^\]]*\]|\.\.?)(?:[./](?:{_ID}|\[[^\]]*\]))*)"
)
_ROLES = ("system", "user", "model", "tool")
_ONE_VALUE = ("if", "unless", "each", "with")
_HELPERS = (*_ONE_VALUE, "role", "history", "media", "json", "section", "lookup", "log", "else")
_COMPARING = ("ifEquals", "unlessEquals")


def template_problems(text: str, start: int) -> Iterator[Problem]:
    """Yield what dotprompt refuses in a template: its tags, its blocks, its roles.

    Args:
        text: the file's text.
        start: where the template begins.
    """
    body = _COMMENT.sub(lambda found: " " * len(found[0]), text)
    for unclosed in _OPEN.finditer(body, start):
        yield _problem("No }} ends this tag.", Span(*unclosed.span()))
    opened: list[tuple[str, Span]] = []
    for tag in _TAG.finditer(body, start):
        place = Span(*tag.span())
        name = tag["rest"].split(None, 1)[0] if tag["rest"].strip() else ""
        if tag["mark"] != "/":
            yield from _tag_problems(tag, name, place)
            if (tag["mark"] or " ")[0] in "#^" and name:
                opened.append((name, place))
        elif opened and opened[-1][0] == name:
            opened.pop()
        else:
            yield _problem(f"{tag[0]} closes nothing that is open.", place)
    for name, place in opened:
        yield _problem(f"No {{{{/{name}}}}} ends this block.", place)


def _tag_problems(tag: re.Match[str], name: str, place: Span) -> Iterator[Problem]:
    """Words that Handlebars cannot read, blocks without their one value, unknown helpers."""
    rest, end = tag["rest"], 0
    values, depth = 0, 0
    while end < len(rest):
        word = _WORD.match(rest, end)
        if word is None and rest[end].isspace():
            end += 1
            continue
        if word is None or (word["path"] and rest[word.end() : word.end() + 1].strip(" \t\r\n()")):
            yield _problem(f"Handlebars cannot read {rest[end:].split()[0]!r} in {tag[0]}.", place)
            return
        end = word.end()
        depth += {"(": 1, ")": -1}.get(word[0], 0)
        follows_key = bool(word["key"])
        if follows_key and (given := _WORD.match(rest, end)) is not None and given[0] != "(":
            end = given.end()
        elif not word["names"] and depth == (word[0] == "("):
            values += word[0] != ")"
    values -= 1
    if (tag["mark"] or "") == "#" and name in _ONE_VALUE and values != 1:
        yield _problem(f"{{{{#{name}}}}} takes one value; this one has {values}.", place)
    elif name == "role" and values == 1:
        yield from _role_problems(tag, place)
    elif values > 0 and not tag["mark"] and name not in (*_HELPERS, *_COMPARING):
        message = f"dotprompt has no helper {name!r}; the program that renders this must define it."
        yield Problem("agent-file-helper", Severity.WARNING, message, place)


def _role_problems(tag: re.Match[str], place: Span) -> Iterator[Problem]:
    """A role in quotes that nobody knows."""
    role = re.search(r"[\"'](\w*)[\"']", tag["rest"])
    if role is not None and role[1] not in _ROLES:
        start = tag.start("rest") + role.start(1)
        message = f"There is no role {role[1]!r}; the roles are {', '.join(_ROLES)}."
        yield _problem(message, Span(start, start + len(role[1])))


def _problem(message: str, place: Span) -> Problem:
    return Problem("agent-file-template", Severity.ERROR, message, place)
