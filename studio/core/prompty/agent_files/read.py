"""Read agent files as documents: their keys with places, and the rules for each kind.

Sources: agent skills: agentskills.io/specification. Prompt files and custom agents:
code.visualstudio.com (agent customization) and docs.github.com (custom agents configuration).
Claude Code's agents and commands: code.claude.com (sub-agents, slash commands). Dotprompt:
google.github.io/dotprompt/reference/frontmatter; Genkit adds three keys. Handlebars of Dotprompt
files: the lexer of Handlebars (handlebars.l) and dotprompt's built-in helpers.
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from studio.core.paths import resource_table
from studio.core.prompty.document import FrontMatterEntry, PromptDocument
from studio.core.prompty.foreign import Split, split_front_matter
from studio.core.prompty.yaml.reader import read_yaml
from studio.core.text.naming import nearest
from studio.core.text.source import Fix, Problem, Severity, SourceText, Span, TextEdit
from studio.core.text.values import Json, JsonObject, text_of

AgentFileKind: TypeAlias = str
"""Kind of a file that coding agents read, by its name; a section of `agent_files.kinds`."""


@dataclass(frozen=True, slots=True)
class AgentFileRow:
    """Facts about one kind of agent file."""

    title: str
    """Display name."""

    files: str
    """Patterns of names, separated by blanks, each after the folders that it is below."""

    loaded: str
    """When a program gives its model the body."""

    listed: str = ""
    """When a program gives its model the name and the description; empty for never."""

    speaks: str = ""
    """Role of the body in a prompt file; empty if the file names its own roles."""

    arguments: str = ""
    """Syntax of the arguments in the body; empty for none."""

    def fits(self, path: Path) -> bool:
        """Return whether a file is of this kind by its name and folders."""
        return any(_is_below(path, *pattern.rpartition("/")) for pattern in self.files.split())


def _is_below(path: Path, folders: str, _: str, name: str) -> bool:
    """Return whether a path ends in the folders, any further ones, and the name."""
    if not fnmatchcase(path.name, name):
        return False
    if not folders:
        return True
    wanted = tuple(folders.split("/"))
    return any(
        each.parts[-len(wanted) :] == wanted
        or (wanted == (".claude", each.name) and (each.parent / ".claude-plugin").is_dir())
        for each in path.parents
    )


KINDS: Mapping[AgentFileKind, AgentFileRow] = {
    kind: AgentFileRow(**row) for kind, row in resource_table("schema", "agent_files.kinds").items()
}
"""Agent files by their kind, first match first."""


@lru_cache(maxsize=1000)
def _may_be_agent_file(name: str) -> bool:
    patterns = " ".join(row.files for row in KINDS.values()).split()
    return any(fnmatchcase(name, pattern.rpartition("/")[2]) for pattern in patterns)


def agent_file_kind(path: Path | None) -> AgentFileKind | None:
    """Return the kind of an agent file by its path; None for other files."""
    if path is None or not _may_be_agent_file(path.name):
        return None
    return next((kind for kind, row in KINDS.items() if row.fits(path)), None)


_TAG = re.compile(r"(?<!\\)\{\{[{~]{0,2}\s*(?P<mark>#[>*]?|[\^/>&])?\s*(?P<rest>[^{}]*?)~?\}\}\}?")
"""Matches a tag; `#` and `^` open a block, `#> partial` and `#*inline` too, `/` closes one."""

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
    """Yield the errors of a Dotprompt template: in its tags, blocks and roles.

    Args:
        text: the file's text.
        start: start of the template.
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
            yield _problem(f"{tag[0]} closes no open block.", place)
    for name, place in opened:
        yield _problem(f"No {{{{/{name}}}}} ends this block.", place)


def _tag_problems(tag: re.Match[str], name: str, place: Span) -> Iterator[Problem]:
    """Report syntax errors in a tag, blocks without their one argument, unknown helpers."""
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
        yield _problem(f"{{{{#{name}}}}} takes one value; this has {values}.", place)
    elif name == "role" and values == 1:
        yield from _role_problems(tag, place)
    elif values > 0 and (tag["mark"] or "#") == "#" and name not in (*_HELPERS, *_COMPARING):
        message = f"dotprompt has no helper {name!r}; the program that renders this must define it."
        yield Problem("agent-file-helper", Severity.WARNING, message, place)


def _role_problems(tag: re.Match[str], place: Span) -> Iterator[Problem]:
    """Report an unknown role in quotes."""
    role = re.search(r"[\"'](\w*)[\"']", tag["rest"])
    if role is not None and role[1] not in _ROLES:
        message = f"There is no role {role[1]!r}; the roles are {', '.join(_ROLES)}."
        yield _problem(message, Span(*role.span(1)).shift(tag.start("rest")))


def _problem(message: str, place: Span) -> Problem:
    return Problem("agent-file-template", Severity.ERROR, message, place)


@dataclass(frozen=True, slots=True)
class KeyRule:
    """The valid values of a key."""

    shapes: tuple[str, ...]
    """Allowed types: "text", "yes or no", "a number", "a list of texts", "a list", "a mapping"."""

    choices: tuple[str, ...] = ()
    """Allowed words; empty for any."""

    needed: bool = False
    """Whether the key is required."""

    longest: int = 0
    """Maximum number of characters; 0 for no limit."""

    instead: str = ""
    """Replacement that the vendor recommends; empty if the key is not deprecated."""

    beyond_standard: bool = False
    """Whether only some programs document the key, but not the open standard."""


def _rule(words: str) -> KeyRule:
    shapes, *marks = words.split(", ")
    said = {word: rest for word, _, rest in (mark.partition(" ") for mark in marks)}
    return KeyRule(
        tuple(shapes.split(" / ")),
        tuple(said.get("one", "").removeprefix("of ").split()),
        "needed" in said,
        int(said.get("at", "most 0").removeprefix("most ")),
        said.get("now", ""),
        "beyond" in said,
    )


KEYS: Mapping[str, Mapping[str, KeyRule]] = {
    kind: {name: _rule(words) for name, words in rows.items()}
    for kind, rows in resource_table("schema", "agent_files.keys").items()
}
"""The rules of keys by the kind of file."""


def shape_of(value: Json) -> tuple[str, ...]:
    """Return the type of a value, in the words of `KeyRule.shapes`."""
    if isinstance(value, bool):
        return ("yes or no",)
    if isinstance(value, int | float):
        return ("a number",)
    if isinstance(value, Mapping):
        return ("a mapping",)
    if isinstance(value, list | tuple):
        is_plain = all(isinstance(each, str) for each in value)
        return ("a list", "a list of texts") if is_plain else ("a list",)
    return ("text",) if isinstance(value, str) else ()


def read_agent_file(text: str, path: Path, kind: AgentFileKind) -> PromptDocument:
    """Read an agent file. Never raises; errors are in `problems`.

    Args:
        text: the text.
        path: path of the file; a skill is named like its folder.
        kind: kind of the file.
    """
    file = read_parts(text, kind)
    found = list(file.problems)
    top = tuple(entry for entry in file.entries if len(entry.path) == 1)
    if not file.broken:
        found += _key_problems(kind, file.data, top, file.start)
        found += _skill_problems(file.data, top, path) if kind == "skill" else ()
    if kind == "dotprompt":
        found += template_problems(text, file.body.start)
    return PromptDocument(
        SourceText(text, path),
        dialect_reason=KINDS[kind].title,
        front_matter=file.front,
        body=file.body,
        data=file.data,
        entries=file.entries,
        name=text_of(file.data.get("name")),
        description=text_of(file.data.get("description")),
        problems=tuple(sorted(dict.fromkeys(found), key=lambda each: each.span)),
        agent_file=kind,
    )


@dataclass(frozen=True, slots=True)
class AgentFileParts:
    """The keys of an agent file and its body."""

    data: JsonObject
    """Values by key."""

    entries: tuple[FrontMatterEntry, ...]
    """The keys with their places."""

    front: Span | None
    """Place of the keys; None if there are none."""

    body: Span
    """Place of the body; for a body that is the value of a key, that of the file's end."""

    problems: tuple[Problem, ...] = ()
    """Findings on the syntax."""

    broken: bool = False
    """Whether keys could not be read."""

    start: Span = field(default=Span(0, 0))
    """Place of findings on keys that are missing."""


def read_parts(text: str, kind: AgentFileKind) -> AgentFileParts:
    """Read keys and body of an agent file: YAML between lines of dashes, YAML, or TOML."""
    if kind == "gemini-command":
        return _read_toml(text)
    split = split_front_matter(text) if kind != "github-models" else None
    if split is None:
        whole = Span(0, len(text))
        split = Split(whole, Span(len(text), len(text)))
    front = text[split.front.start : split.front.end] if split.front else ""
    reading = read_yaml(front, split.front.start if split.front else 0)
    found = list(reading.problems)
    if kind.startswith("claude-"):  # it quotes values that YAML rejects, and reads them again
        found = [replace(each, severity=Severity.WARNING) for each in found]
    if split.unclosed and split.opening is not None:
        message = "The front matter has no line '---' that ends it."
        found.append(Problem("front-matter-open", Severity.ERROR, message, split.opening))
    elif front.strip() and not isinstance(reading.value, Mapping) and not reading.problems:
        message = "The front matter is not a list of keys and values."
        place = split.front or Span(0, 0)
        found.append(Problem("front-matter-not-mapping", Severity.ERROR, message, place))
    return AgentFileParts(
        reading.value if isinstance(reading.value, Mapping) else {},
        reading.entries,
        split.front,
        split.body,
        tuple(found),
        reading.broken,
        split.opening or Span(0, 0),
    )


_TOML_KEY = re.compile(r"(?m)^[ \t]*(?P<key>[\w-]+)[ \t]*=[ \t]*(?P<value>[^\n]*)")
_TOML_LINE = re.compile(r"\(at line (\d+), column (\d+)\)")


def _read_toml(text: str) -> AgentFileParts:
    whole, end = Span(0, len(text)), Span(len(text), len(text))
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _TOML_LINE.search(str(error))
        line, column = (int(place[1]), int(place[2])) if place else (1, 1)
        starts = [0, *(found.end() for found in re.finditer("\n", text))]
        at = min(starts[min(line, len(starts)) - 1] + column - 1, len(text))
        message = f"The TOML cannot be read: {str(error).partition(' (at')[0]}."
        problem = Problem("agent-file-toml", Severity.ERROR, message, Span(at, at))
        return AgentFileParts({}, (), whole, end, (problem,), broken=True)
    entries = {
        found["key"]: FrontMatterEntry(
            (found["key"],), Span(*found.span("key")), Span(*found.span("value"))
        )
        for found in reversed([*_TOML_KEY.finditer(text)])
        if found["key"] in data
    }
    return AgentFileParts(data, tuple(entries.values()), whole, end)


def _key_problems(
    kind: AgentFileKind, data: JsonObject, entries: tuple[FrontMatterEntry, ...], start: Span
) -> Iterator[Problem]:
    rules, title = KEYS[kind], KINDS[kind].title
    if not rules or (kind == "claude-agent" and not entries):
        return  # plain Markdown, in which no program reads keys
    for entry in entries:
        key = str(entry.path[0])
        rule = rules.get(key)
        if rule is None:
            # A namespace of another program; options that OpenCode hands to the provider.
            if kind != "opencode-agent" and (kind != "dotprompt" or "." not in key):
                yield _unknown(kind, key, entry)
            continue
        yield from _value_problems(key, rule, data.get(key), entry)
    for key, rule in rules.items():
        if rule.needed and key not in data:
            message = f"A file of this kind ({title}) needs {key!r}."
            yield Problem("agent-file-missing", Severity.ERROR, message, start)


def _unknown(kind: AgentFileKind, key: str, entry: FrontMatterEntry) -> Problem:
    near = nearest(key, KEYS[kind])
    fixes = (Fix(f"Change to {near!r}", (TextEdit(entry.key, near),)),) if near else ()
    # Agents ignore such keys silently (945 keys in 150 skills of one repository); only the
    # standard's `skills-ref validate` rejects them.
    message = f"The key {key!r} has no effect in a file of this kind ({KINDS[kind].title})."
    return Problem("agent-file-key", Severity.WARNING, message, entry.key, fixes)


def _value_problems(
    key: str, rule: KeyRule, value: Json, entry: FrontMatterEntry
) -> Iterator[Problem]:
    if rule.beyond_standard:
        message = f"{key!r} is a key of Claude Code or VS Code; it is not in the open standard."
        yield Problem("agent-file-portable", Severity.HINT, message, entry.key)
    if rule.instead:
        message = f"{key!r} is deprecated; write {rule.instead!r}."
        yield Problem("agent-file-old-key", Severity.HINT, message, entry.key)
    if value is None and not rule.needed:
        return
    text = value if isinstance(value, str) else "-"
    broken = {
        f"is {' or '.join(rule.shapes)}": not set(shape_of(value)) & set(rule.shapes),
        "is empty": rule.needed and not text.strip(),
        f"has {len(text)} characters; {rule.longest} are allowed": 0 < rule.longest < len(text),
        f"is one of {', '.join(rule.choices)}": value == text
        and text not in (rule.choices or (text,)),
    }
    for words in filter(broken.get, broken):
        yield Problem("agent-file-value", Severity.ERROR, f"{key!r} {words}.", entry.value)


def _skill_problems(
    data: JsonObject, entries: tuple[FrontMatterEntry, ...], path: Path
) -> Iterator[Problem]:
    """Report names of skills that break the rules (agentskills.io, "name")."""
    name = data.get("name")
    place = next((each.value for each in entries if each.path == ("name",)), None)
    if not isinstance(name, str) or not name.strip() or place is None:
        return
    normal = unicodedata.normalize("NFKC", name.strip())
    broken = {
        "must be in lower case": normal != normal.lower(),
        "has letters, digits and hyphens only": not normal.replace("-", "a").isalnum(),
        "has hyphens only between words, one at a time": "--" in f"-{normal}-",
    }
    for words in filter(broken.get, broken):
        message = f"The name of a skill {words}."
        yield Problem("agent-file-name", Severity.ERROR, message, place)
    folder = unicodedata.normalize("NFKC", path.parent.name)
    if folder and folder != normal:
        fix = Fix(f"Change to {folder!r}", (TextEdit(place, folder),))
        message = f"The name of a skill must be that of its folder, {folder!r}."
        yield Problem("agent-file-name", Severity.ERROR, message, place, (fix,))
