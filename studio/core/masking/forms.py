"""In which spellings a secret may turn up, and where they are in a text.

A secret is looked for as it is, and encoded in the usual ways.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Literal, TypeAlias
from urllib.parse import quote, quote_plus, urlsplit

Encoding: TypeAlias = Literal["", "url", "html", "base64", "part"]
"""How a form is encoded. `part`: a part of the secret, or base64 of more than the secret: there is
no way back from it."""

_SHORTEST_PART = 8
_SHORTEST_LINE = 16
_SHORTEST_BASE64 = 8
_AS_GO_WRITES = str.maketrans({"&": "\\u0026", "<": "\\u003c", ">": "\\u003e"})
"""What Go's encoder escapes in JSON beside what all escape."""

_PLAIN_WORD = re.compile(r"[A-Za-z]+(?:[_-][A-Za-z]+)*")
_SCHEME = re.compile(r"(?:Bearer|Basic|Token|ApiKey|Key)[ \t]+(\S+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Form:
    """One spelling."""

    text: str
    """What is looked for."""

    encoding: Encoding = ""
    """How the secret is spelled in it."""


def forms_of(value: str) -> tuple[Form, ...]:
    """Every spelling of a secret that is looked for, each once."""
    found: dict[str, Form] = {}
    for form in (Form(value), *_escaped(value), *_parts(value), *_in_base64(value)):
        if form.text:
            found.setdefault(form.text, form)
    return tuple(found.values())


def encoded(value: str, encoding: str) -> str:
    """A secret as a form of it that can be made again; `""` gives the secret itself."""
    match encoding:
        case "url":
            return quote(_data(value), safe="")
        case "html":
            return html.escape(value)
        case "base64":
            return base64.b64encode(_data(value)).decode()
        case _:
            return value


def _escaped(value: str) -> Iterator[Form]:
    """In JSON, URLs, HTML and digits. What stands in JSON is the value itself once it is read."""
    for ascii_only in (False, True):
        text = json.dumps(value, ensure_ascii=ascii_only)[1:-1]
        yield Form(text)
        yield Form(text.replace("/", "\\/"))
        yield Form(json.dumps(text, ensure_ascii=ascii_only)[1:-1], "part")
        yield Form(text.translate(_AS_GO_WRITES))
    data = _data(value)
    for text in (quote(data, safe=""), quote(data), quote_plus(data), quote(data, safe="/:@!*'()")):
        yield Form(text, "url")
        yield Form(re.sub("%..", lambda found: found[0].lower(), text), "url")
    yield Form(html.escape(value), "html")
    yield Form(html.escape(value, quote=False), "html")
    yield Form(html.escape(value).replace("&#x27;", "&#39;").replace("&quot;", "&#34;"), "part")
    yield Form(data.hex(), "part")
    yield Form(data.hex().upper(), "part")


def _parts(value: str) -> Iterator[Form]:
    """What of a longer value is a secret by itself: the token of a header, a password, a line."""
    scheme = _SCHEME.fullmatch(value)
    if scheme is not None and len(scheme[1]) >= _SHORTEST_PART:
        yield Form(scheme[1], "part")
    if "://" in value:
        try:
            password = urlsplit(value).password or ""
        except ValueError:
            password = ""
        if len(password) >= _SHORTEST_PART:
            yield Form(password, "part")
    lines = value.splitlines()
    if len(lines) > 1:
        yield Form("\r\n".join(lines))
        for line in lines:
            if len(line) >= _SHORTEST_LINE and "-----" not in line:
                yield Form(line, "part")


def _in_base64(value: str) -> Iterator[Form]:
    """In base64 by itself, and inside of more (`user:key`): it then begins at one of three places.

    Of the characters at both ends some bits belong to the neighbors: these are left out.
    """
    data = _data(value)
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        whole = encode(data).decode()
        yield Form(whole, "base64")
        for before in range(3):
            shown = encode(bytes(before) + data).decode()
            first = (0, 2, 3)[before]
            last = (before + len(data)) * 8 // 6
            inner = shown[first:last]
            if len(inner) >= _SHORTEST_BASE64:
                yield Form(inner, "part")


def _data(value: str) -> bytes:
    return value.encode("utf-8", "surrogatepass")


# In a text ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class KnownSecret:
    """A value that is masked."""

    reference: str
    """What stands for it."""

    value: str
    """The secret."""

    is_key: bool
    """Whether it is known to be a key by its name, its form or where it was kept."""

    @property
    def is_name(self) -> bool:
        """Whether a tool or a parameter may well be called so."""
        return not self.is_key and _PLAIN_WORD.fullmatch(self.value) is not None


@dataclass(frozen=True, slots=True)
class SoughtForm:
    """What is looked for."""

    text: str
    """One spelling of a secret."""

    replacement: str
    """What stands for it."""

    reference: str
    """The secret's reference."""


@dataclass(frozen=True, slots=True)
class FormTable:
    """All that is looked for, the longest first."""

    all: tuple[SoughtForm, ...] = ()
    """In texts."""

    names: tuple[SoughtForm, ...] = ()
    """In names of tools and parameters: without plain words."""

    keys: tuple[SoughtForm, ...] = ()
    """Keys alone."""

    longest: int = 0
    """Characters of the longest spelling."""

    shortest: int = 0
    """Characters of the shortest."""

    beginnings: Mapping[str, tuple[str, ...]] | None = None
    """All spellings by their first character."""

    def open_end(self, text: str) -> int:
        """Where the longest end of a text begins that begins a secret; else the text's length."""
        beginnings = self.beginnings or {}
        for at in range(max(0, len(text) - self.longest + 1), len(text)):
            for form in beginnings.get(text[at], ()):
                if len(form) > len(text) - at and form.startswith(text[at:]):
                    return at
        return len(text)

    def before_whole(self, text: str, end: int) -> int:
        """The place, or one before it where a whole secret reaches over it."""
        if end == len(text):
            return end
        there = [form.text for form in self.all if form.text in text]
        for form in there:
            at = text.find(form, max(0, end - len(form) + 1))
            if 0 <= at < end:
                return self.before_whole(text, at)
        return end


def table_of(known: Iterable[KnownSecret]) -> FormTable:
    """All spellings of these secrets, and what stands for each."""
    forms: dict[str, tuple[SoughtForm, KnownSecret]] = {}
    # Where two references have one value, a variable is found again more easily than a key store.
    for item in sorted(known, key=lambda each: not each.reference.startswith("${env:")):
        for form in forms_of(item.value):
            how = f"|{form.encoding}}}" if form.encoding else "}"
            made = SoughtForm(form.text, item.reference[:-1] + how, item.reference)
            forms.setdefault(form.text, (made, item))
    ordered = sorted(forms.values(), key=lambda pair: -len(pair[0].text))
    beginnings: dict[str, list[str]] = {}
    for one, _ in ordered:
        beginnings.setdefault(one.text[0], []).append(one.text)
    return FormTable(
        tuple(form for form, _ in ordered),
        tuple(form for form, item in ordered if not item.is_name),
        tuple(form for form, item in ordered if item.is_key),
        len(ordered[0][0].text) if ordered else 0,
        len(ordered[-1][0].text) if ordered else 0,
        {first: tuple(texts) for first, texts in beginnings.items()},
    )


def replaced(
    text: str,
    forms: tuple[SoughtForm, ...],
    found: set[str] | None,
    spell: Callable[[SoughtForm], str] = attrgetter("replacement"),
) -> str:
    """A text with what stands for each form in its place.

    Args:
        text: any text.
        forms: what is looked for.
        found: gets the references of those that were in it.
        spell: what stands for a form, where it is not the reference.
    """
    there = [form for form in forms if form.text in text]
    if not there:
        return text
    by_text = {form.text: form for form in there}

    def replacement(match: re.Match[str]) -> str:
        form = by_text[match[0]]
        if found is not None:
            found.add(form.reference)
        return spell(form)

    return re.sub("|".join(re.escape(form.text) for form in there), replacement, text)
