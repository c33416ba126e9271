"""Remove secrets from texts, and restore them where they are sent.

A masker is told each value that comes from the environment, the key store or a header, with the
reference that leads to it (`${env:NAME}`, `${key:CONNECTION}`). From then on the reference stands
wherever the value turns up. One masker serves a whole studio, from any thread.

In which spellings a secret may turn up, and where they are in a text.

A secret is looked for as it is, and encoded in the usual ways.
"""

from __future__ import annotations

import base64
import html
import json
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from operator import attrgetter
from typing import Literal, TypeAlias
from urllib.parse import quote, quote_plus, urlsplit

from studio.core.masking.redact import (
    DOTS,
    holds_login,
    is_placeholder,
    looks_like_key,
    names_secret_variable,
)

Encoding: TypeAlias = Literal["", "url", "html", "base64", "part"]
"""Encoding of a form. `part`: a part of the secret, or base64 of more than the secret, which
cannot be restored."""

_SHORTEST_PART = 8
_SHORTEST_LINE = 16
_SHORTEST_BASE64 = 8
_AS_GO_WRITES = str.maketrans({"&": "\\u0026", "<": "\\u003c", ">": "\\u003e"})
"""Characters that Go's encoder escapes in JSON beside the usual ones."""

_PLAIN_WORD = re.compile(r"[A-Za-z]+(?:[_-][A-Za-z]+)*")
_SCHEME = re.compile(r"(?:Bearer|Basic|Token|ApiKey|Key)[ \t]+(\S+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Form:
    """One spelling."""

    text: str
    """Text to look for."""

    encoding: Encoding = ""
    """Encoding of the secret in it."""


def forms_of(value: str) -> tuple[Form, ...]:
    """Return every spelling of a secret that is looked for, each once."""
    found: dict[str, Form] = {}
    for form in (Form(value), *_escaped(value), *_parts(value), *_in_base64(value)):
        if form.text:
            found.setdefault(form.text, form)
    return tuple(found.values())


def encoded(value: str, encoding: str) -> str:
    """Return a secret in a form that can be made again; `""` gives the secret itself."""
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
    """Return the escaped forms: in JSON, URLs, HTML and digits."""
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
    """Return the parts of a longer value that are secrets: a token, a password, a line."""
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
    """Yield the Base64 of a value by itself, and inside more (`user:key`) at three offsets.

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
    """Reference that replaces the secret."""

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
    """The form that is searched."""

    text: str
    """One spelling of a secret."""

    replacement: str
    """Text that replaces it."""

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
        """Find where an end of a text begins a secret; the text's length if none does."""
        beginnings = self.beginnings or {}
        for at in range(max(0, len(text) - self.longest + 1), len(text)):
            for form in beginnings.get(text[at], ()):
                if len(form) > len(text) - at and form.startswith(text[at:]):
                    return at
        return len(text)

    def before_whole(self, text: str, end: int) -> int:
        """Return the place, or an earlier one if a whole secret spans it."""
        if end == len(text):
            return end
        there = [form.text for form in self.all if form.text in text]
        for form in there:
            at = text.find(form, max(0, end - len(form) + 1))
            if 0 <= at < end:
                return self.before_whole(text, at)
        return end


def table_of(known: Iterable[KnownSecret]) -> FormTable:
    """Return all spellings of these secrets, and their replacements."""
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
    """Replace each form in a text.

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


SHORTEST = 8
"""Characters from which on any value is masked."""

SHORTEST_KEY = 6
"""Characters from which on a value is masked that is known to be a key; shorter ones are parts of
many words."""

_PARTIAL = 8
_REFERENCE = re.compile(r"\$\{(env|key):([^{}\n|]+)(?:\|(url|html|base64))?\}")
_SYSTEM = re.compile(
    r"HOME|USER|USERNAME|LOGNAME|PATH|PATHEXT|PWD|OLDPWD|SHELL|TERM|LANG|LANGUAGE|LC_\w+|TZ|EDITOR"
    r"|TMPDIR|TEMP|TMP|HOSTNAME|COMPUTERNAME|DISPLAY|XDG_\w+|SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC"
    r"|APPDATA|LOCALAPPDATA|PROGRAMDATA|PROGRAMFILES|USERPROFILE|HOMEPATH|HOMEDRIVE|OS|PYTHONPATH"
    r"|VIRTUAL_ENV|SSL_CERT_FILE|SSL_CERT_DIR"
)
"""Variables that the system sets, and that are no secret."""


def key_reference(owner: str) -> str:
    """Return the reference of a key in the key store, or of one written in a file.

    Args:
        owner: the connection, header or tool that it belongs to.
    """
    named = re.sub(r"[^\w .@+-]", "_", owner)  # it is put into JSON, YAML and HTML as it is
    return f"${{key:{named}}}"


class MissingValueError(Exception):
    """A reference is to be sent and has no value here."""

    def __init__(self, reference: str) -> None:
        super().__init__(f"{reference} has no value")
        self.reference = reference
        """Which."""


class _Vault:
    """The values, shared by all views of them."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.known: dict[tuple[str, str], KnownSecret] = {}
        self.lock = threading.Lock()


class Masker:
    """Knows secrets by their references."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        """Begin.

        Args:
            environment: variables; those that are named as secret are known at once, because
                whatever the studio starts may read them.
        """
        self._vault = _Vault()
        self._public: frozenset[str] = frozenset()
        self._made = FormTable()
        self._size = 0
        self.note_secrets(environment or {})

    def without(self, public: Iterable[str]) -> Masker:
        """Return the same masker for a document that declares some variables no secrets.

        A value that is known by another name too is masked all the same.
        """
        names = frozenset(f"${{env:{name}}}" for name in public)
        if not names:
            return self
        made = Masker()
        made._vault, made._public = self._vault, names
        return made

    # What is known --------------------------------------------------------------------------------

    def note(self, reference: str, value: str, *, is_key: bool = False) -> None:
        """Register a value that was looked up: from now on its reference replaces it.

        Args:
            reference: `${env:NAME}` or `${key:NAME}`.
            value: what was found.
            is_key: whether it is a key whatever it is called.
        """
        value = value.strip()
        vault = self._vault
        if not value or value == reference:
            return
        if vault.values.get(reference) == value and (
            not is_key or (reference, value) in vault.known
        ):
            return
        name = reference[6:-1] if reference.startswith("${env:") else ""
        is_key = is_key or not name or names_secret_variable(name) or looks_like_key(value)
        with vault.lock:
            vault.values[reference] = value
            if len(value) < (SHORTEST_KEY if is_key else SHORTEST) or is_placeholder(value):
                return
            if is_key or not _SYSTEM.fullmatch(name.upper()):
                # The earlier value of a reference stays known: it may still turn up.
                vault.known[reference, value] = KnownSecret(reference, value, is_key)

    def note_secrets(self, environment: Mapping[str, str]) -> None:
        """Know those variables that are named as secret or hold a key or a login, and no others."""
        for name, value in environment.items():
            if names_secret_variable(name) or looks_like_key(value) or holds_login(value):
                self.note(f"${{env:{name}}}", value)

    def value(self, reference: str) -> str | None:
        """Return the value of a reference as it was last looked up; None where it never was."""
        return self._vault.values.get(reference)

    def is_key(self, reference: str) -> bool:
        """Return whether the value of a reference is known to be a key."""
        held = self._vault.known.get((reference, self._vault.values.get(reference, "")))
        return held is not None and held.is_key

    def watch(
        self, environment: Mapping[str, str], seen: Callable[[str], None] | None = None
    ) -> Mapping[str, str]:
        """Return the environment, each value of which is registered when it is looked up.

        Args:
            environment: the variables.
            seen: told the reference of each.
        """
        return _Watched(environment, self, seen)

    # Masking --------------------------------------------------------------------------------------

    def mask(self, text: str, found: set[str] | None = None) -> str:
        """Return a text with the reference in place of each secret.

        Args:
            text: any text.
            found: gets the references of those that were in it.
        """
        return replaced(text, self.table().all, found)

    def mask_numbered(self, text: str, secrets: list[str], mark: str) -> str:
        """Return a text with a numbered mark, `${MARK:1}`, in place of each secret.

        Args:
            text: any text that contains no such mark.
            secrets: gets what each number stands for, in order.
            mark: the word of the marks.
        """

        def spell(form: SoughtForm) -> str:
            if form.replacement not in secrets:
                secrets.append(form.replacement)
            return f"${{{mark}:{secrets.index(form.replacement) + 1}}}"

        return replaced(text, self.table().all, None, spell)

    def mask_name(self, text: str, found: set[str] | None = None) -> str:
        """Mask a name of a tool or a parameter, which may be the same plain word."""
        return replaced(text, self.table().names, found)

    def mask_keys(self, text: str) -> str:
        """Mask only what is known to be a key."""
        return replaced(text, self.table().keys, None)

    def mask_cut(self, text: str) -> str:
        """Return a text that was cut at its end, without the beginning of a secret there."""
        table = self.table()
        at = table.open_end(text)
        return text[:at] + DOTS if len(text) - at >= _PARTIAL else text

    def reveal(
        self, text: str, released: AbstractSet[str], spelled: Callable[[str], str] | None = None
    ) -> str:
        """Return a text with the values in place of their references.

        Args:
            text: a text that was masked.
            released: the references whose values may be put in.
            spelled: how a value is written, where the text has a syntax of its own.

        Raises:
            MissingValueError: one of them has no value.
        """
        if not released or "${" not in text:
            return text

        def value(match: re.Match[str]) -> str:
            reference = f"${{{match[1]}:{match[2]}}}"
            if reference not in released:
                return match[0]
            held = self.value(reference)
            if held is None:
                raise MissingValueError(reference)
            made = encoded(held, match[3] or "")
            return spelled(made) if spelled is not None else made

        return _REFERENCE.sub(value, text)

    def stream(self, found: set[str] | None = None) -> MaskedStream:
        """Return a masker of text in pieces; `found` gets the references of its secrets."""
        return MaskedStream(self, found)

    def table(self) -> FormTable:
        """Return all that is looked for now."""
        known = self._vault.known
        if len(known) != self._size:
            with self._vault.lock:
                each = [item for item in known.values() if item.reference not in self._public]
                self._made, self._size = table_of(each), len(known)
        return self._made


class MaskedStream:
    """Masks a text that comes in pieces, also where a secret is split between them.

    What may be the beginning of a secret is held until it is known to be one or not.
    """

    def __init__(self, masker: Masker, found: set[str] | None = None) -> None:
        self._masker = masker
        self._found = found
        self._held = ""

    @property
    def is_holding(self) -> bool:
        """Whether something is held."""
        return bool(self._held)

    def feed(self, piece: str) -> str:
        """Return the text that can be shown so far; may be empty."""
        table = self._masker.table()
        if not table.all:
            return piece
        text = self._held + piece
        end = table.open_end(text)
        if len(text) < table.shortest:
            self._held = text[end:]
            return text[:end]
        end = table.before_whole(text, end)
        self._held = text[end:]
        return replaced(text[:end], table.all, self._found)

    def close(self) -> str:
        """Return the rest of the text; a secret that was cut off is not shown."""
        text, self._held = self._held, ""
        return self._masker.mask_cut(self._masker.mask(text, self._found))


class _Watched(Mapping[str, str]):
    """An environment that reports each value that is looked up."""

    def __init__(
        self, environment: Mapping[str, str], masker: Masker, seen: Callable[[str], None] | None
    ) -> None:
        self._environment = environment
        self._masker = masker
        self._seen = seen

    def __getitem__(self, name: str) -> str:
        value = self._environment[name]
        reference = f"${{env:{name}}}"
        self._masker.note(reference, value)
        if self._seen is not None:
            self._seen(reference)
        return value

    def __contains__(self, name: object) -> bool:
        return name in self._environment  # asked for, not looked up

    def __iter__(self) -> Iterator[str]:
        return iter(self._environment)

    def __len__(self) -> int:
        return len(self._environment)
