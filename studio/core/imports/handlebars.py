"""Handlebars, as dotprompt has it, in the words of Jinja2."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_TAG = re.compile(r"\{\{(?P<raw>\{)?~?(?P<inside>[^{}]*)~?\}\}(?(raw)\})")
_NAME = re.compile(r"(?:\.\./|@)?[A-Za-z_][\w.-]*|this|\.")
_BLOCK = re.compile(r"#(?P<kind>\w+)\s+(?P<what>[\w./@-]+)")
_JINJA = re.compile(r"\{[%#]")
_SPECIAL = {"@index": "loop.index0", "@first": "loop.first", "@last": "loop.last"}


@dataclass(slots=True)
class Rewritten:
    """A template in Jinja2, and what could not be said in it."""

    text: str = ""
    """The template."""

    notes: list[str] = field(default_factory=list)
    """What has no place, a sentence each."""

    roles: list[tuple[str, str]] = field(default_factory=list)
    """Role and template of each message, in order; `history` stands for the conversation."""

    media: list[str] = field(default_factory=list)
    """Inputs that hold a picture or a file."""


def rewrite(source: str) -> Rewritten:
    """Rewrite a dotprompt template; each `{{role "…"}}` begins a message."""
    work = _Work()
    at = 0
    for tag in _TAG.finditer(source):
        work.write(_literal(source[at : tag.start()]))
        work.tag(tag["inside"].strip(), tag[0])
        at = tag.end()
    work.write(_literal(source[at:]))
    work.end()
    return work.made


class _Work:
    def __init__(self) -> None:
        self.made = Rewritten()
        self._role = "user"
        self._pieces: list[str] = []
        self._blocks: list[tuple[str, str]] = []

    def write(self, text: str) -> None:
        self._pieces.append(text)

    def end(self) -> None:
        """End the message so far."""
        text = "".join(self._pieces)
        self._pieces.clear()
        if text.strip():
            self.made.roles.append((self._role, text.strip("\n")))

    def tag(self, inside: str, whole: str) -> None:
        word, _, rest = inside.partition(" ")
        rest = rest.strip()
        if inside.startswith("!"):
            return
        if word == "role":
            self.end()
            name = rest.strip("\"'")
            self._role = {"model": "assistant"}.get(name, name)
        elif word == "history":
            self.end()
            self.made.roles.append(("history", ""))
        elif word == "media":
            self._media(rest)
        elif inside.startswith(">"):
            self._lost(f"The partial {inside[1:].strip()!r} is another file; it is left out.")
        elif inside.startswith("#"):
            self._open(inside, whole)
        elif inside.startswith("/"):
            self._close()
        elif inside == "else":
            self.write("{% else %}")
        elif word == "json" and _NAME.fullmatch(rest.partition(" ")[0]):
            path = self._path(rest.partition(" ")[0])
            self.write(f"{{% if {path} is defined %}}{{{{ {path} | tojson }}}}{{% endif %}}")
        elif _NAME.fullmatch(inside):
            self.write(f"{{{{ {self._path(inside)} }}}}")
        else:
            self._lost(f"The helper {whole} has no place in a prompt file; it is left out.")

    def _lost(self, told: str) -> None:
        if told not in self.made.notes:
            self.made.notes.append(told)

    def _media(self, rest: str) -> None:
        found = re.search(r"url=([\w./@-]+)", rest)
        if found is None:
            self._lost("A medium with a fixed address is left out; declare an input of kind image.")
            return
        name = self._path(found[1])
        self.write(f"{{{{ {name} }}}}")
        if "." not in name:
            self.made.media.append(name)

    def _open(self, inside: str, whole: str) -> None:
        block = _BLOCK.fullmatch(inside)
        kind = block["kind"] if block is not None else ""
        if block is None or kind not in ("if", "unless", "each", "with"):
            self._lost(f"The block {whole} has no place in a prompt file; its text stays.")
            self._blocks.append(("", ""))
            return
        what = self._path(block["what"])
        if kind == "each":
            item = f"item{sum(1 for each, _ in self._blocks if each == 'for') + 1 or ''}"
            self.write(f"{{% for {item} in {what} %}}")
            self._blocks.append(("for", item))
        elif kind == "with":
            self._blocks.append(("with", what))
        else:
            self.write(f"{{% if {'not ' if kind == 'unless' else ''}{what} %}}")
            self._blocks.append(("if", ""))

    def _close(self) -> None:
        kind = self._blocks.pop()[0] if self._blocks else ""
        if kind in ("for", "if"):
            self.write(f"{{% end{kind} %}}")

    def _path(self, name: str) -> str:
        """A name as Jinja2 finds it: inside `#each` it is one of the item's."""
        if name in _SPECIAL:
            return _SPECIAL[name]
        if name.startswith("@"):
            return name[1:].replace("-", "_")
        scopes = [scope for kind, scope in self._blocks if kind in ("for", "with")]
        while name.startswith("../"):
            name = name[3:]
            scopes = scopes[:-1]
        scope = scopes[-1] if scopes else ""
        if name in ("this", "."):
            return scope or "this"
        name = name.removeprefix("this.").removeprefix("./")
        return f"{scope}.{name}" if scope else name


def _literal(text: str) -> str:
    """Text that Jinja2 would take for a statement or a comment."""
    return _JINJA.sub(lambda found: f"{{{{ '{found[0]}' }}}}", text)
