"""Remove secrets from texts, and restore them where they are sent.

A masker receives each value from the environment, the key store or a header with its reference
(`${env:NAME}`, `${key:CONNECTION}`), and then replaces the value by the reference in all texts. One
masker serves a whole studio, from any thread. A secret is found in plain form and in the usual
encodings.
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
"""Encoding of a form. `part`: a part of the secret, or base64 of more than the secret, which cannot
be restored.
"""

_SHORTEST_PART = 8
_SHORTEST_LINE = 16
_SHORTEST_BASE64 = 8
_AS_GO_WRITES = str.maketrans({"&": "\\u0026", "<": "\\u003c", ">": "\\u003e"})
"""Further characters that Go's JSON encoder escapes."""

_PLAIN_WORD = re.compile(r"[A-Za-z]+(?:[_-][A-Za-z]+)*")
_SCHEME = re.compile(r"(?:Bearer|Basic|Token|ApiKey|Key)[ \t]+(\S+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Form:
    """One form in which a secret can appear."""

    text: str
    """Text to search for."""

    encoding: Encoding = ""
    """Encoding of the secret in it."""


def forms_of(value: str) -> tuple[Form, ...]:
    """Return every form of a secret, each once."""
    found: dict[str, Form] = {}
    for form in (Form(value), *_escaped(value), *_parts(value), *_in_base64(value)):
        if form.text:
            found.setdefault(form.text, form)
    return tuple(found.values())


def encoded(value: str, encoding: str) -> str:
    """Return a secret in an encoding that can be restored; for `""` the secret itself."""
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
    """Yield the escaped forms: in JSON, URLs, HTML and digits."""
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
    """Yield the parts of a longer value that are secrets: a token, a password, a line."""
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
    """Yield a value in base64, alone and inside other text (`user:key`) at three offsets.

    Characters at both ends that share bits with the neighboring text are omitted.
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


# Search in a text ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class KnownSecret:
    """A value to mask."""

    reference: str
    """Reference that replaces the secret."""

    value: str
    """The secret."""

    is_key: bool
    """Whether its name, its form or its origin shows that it is a key."""

    @property
    def is_name(self) -> bool:
        """Whether it could also be the name of a tool or a parameter."""
        return not self.is_key and _PLAIN_WORD.fullmatch(self.value) is not None


@dataclass(frozen=True, slots=True)
class SoughtForm:
    """A form of a secret with its replacement."""

    text: str
    """Form of the secret."""

    replacement: str
    """Replacement."""

    reference: str
    """Reference of the secret."""


@dataclass(frozen=True, slots=True)
class FormTable:
    """All forms to search for, longest first."""

    all: tuple[SoughtForm, ...] = ()
    """Forms for texts."""

    names: tuple[SoughtForm, ...] = ()
    """Forms for names of tools and parameters: without plain words."""

    keys: tuple[SoughtForm, ...] = ()
    """Forms of keys only."""

    longest: int = 0
    """Length of the longest form."""

    shortest: int = 0
    """Length of the shortest form."""

    beginnings: Mapping[str, tuple[str, ...]] | None = None
    """All forms by their first character."""

    def open_end(self, text: str) -> int:
        """Return where the end of a text begins a secret; the text's length if it does not."""
        beginnings = self.beginnings or {}
        for at in range(max(0, len(text) - self.longest + 1), len(text)):
            for form in beginnings.get(text[at], ()):
                if len(form) > len(text) - at and form.startswith(text[at:]):
                    return at
        return len(text)

    def before_whole(self, text: str, end: int) -> int:
        """Return the place, or an earlier one if a whole secret contains it."""
        if end == len(text):
            return end
        there = [form.text for form in self.all if form.text in text]
        for form in there:
            at = text.find(form, max(0, end - len(form) + 1))
            if 0 <= at < end:
                return self.before_whole(text, at)
        return end


def table_of(known: Iterable[KnownSecret]) -> FormTable:
    """Return the table of all forms of these secrets."""
    forms: dict[str, tuple[SoughtForm, KnownSecret]] = {}
    # If two references have the same value, a variable is easier to find than a key store.
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
        forms: the forms.
        found: gets the references of secrets in the text.
        spell: returns the replacement of a form; None for the reference.
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
"""Minimum length of masked values, in characters."""

SHORTEST_KEY = 6
"""Minimum length of values known to be keys, in characters; shorter ones are parts of many
words.
"""

_PARTIAL = 8
_REFERENCE = re.compile(r"\$\{(env|key):([^{}\n|]+)(?:\|(url|html|base64))?\}")
_SYSTEM = re.compile(
    r"HOME|USER|USERNAME|LOGNAME|PATH|PATHEXT|PWD|OLDPWD|SHELL|TERM|LANG|LANGUAGE|LC_\w+|TZ|EDITOR"
    r"|TMPDIR|TEMP|TMP|HOSTNAME|COMPUTERNAME|DISPLAY|XDG_\w+|SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC"
    r"|APPDATA|LOCALAPPDATA|PROGRAMDATA|PROGRAMFILES|USERPROFILE|HOMEPATH|HOMEDRIVE|OS|PYTHONPATH"
    r"|VIRTUAL_ENV|SSL_CERT_FILE|SSL_CERT_DIR"
)
"""Matches variables of the system, which are not secret."""


def key_reference(owner: str) -> str:
    """Return the reference for a key in the key store or in a file.

    Args:
        owner: the connection, header or tool of the key.
    """
    named = re.sub(r"[^\w .@+-]", "_", owner)  # it is inserted into JSON, YAML and HTML unchanged
    return f"${{key:{named}}}"


class MissingValueError(Exception):
    """Raised when a reference must be sent and has no value here."""

    def __init__(self, reference: str) -> None:
        super().__init__(f"{reference} has no value")
        self.reference = reference
        """The reference."""


class _Vault:
    """The values, shared by all maskers derived from one."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.known: dict[tuple[str, str], KnownSecret] = {}
        self.lock = threading.Lock()


class Masker:
    """Known secrets, with methods that mask and reveal them in texts."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        """Create a masker.

        Args:
            environment: variables; those with a secret's name are registered at once, because any
                child process can read them.
        """
        self._vault = _Vault()
        self._public: frozenset[str] = frozenset()
        self._made = FormTable()
        self._size = 0
        self.note_secrets(environment or {})

    def without(self, public: Iterable[str]) -> Masker:
        """Return this masker for a document that declares some variables as not secret.

        A value that is also known under another name is still masked.
        """
        names = frozenset(f"${{env:{name}}}" for name in public)
        if not names:
            return self
        made = Masker()
        made._vault, made._public = self._vault, names
        return made

    # Known values ---------------------------------------------------------------------------------

    def note(self, reference: str, value: str, *, is_key: bool = False) -> None:
        """Register a value: from now on it is replaced by its reference.

        Args:
            reference: `${env:NAME}` or `${key:NAME}`.
            value: the value.
            is_key: whether it is a key, regardless of its name.
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
                # An earlier value of a reference stays registered: it may still appear.
                vault.known[reference, value] = KnownSecret(reference, value, is_key)

    def note_secrets(self, environment: Mapping[str, str]) -> None:
        """Register the variables with a secret's name, a key or a login, and no others."""
        for name, value in environment.items():
            if names_secret_variable(name) or looks_like_key(value) or holds_login(value):
                self.note(f"${{env:{name}}}", value)

    def value(self, reference: str) -> str | None:
        """Return the last value of a reference; None if there is none."""
        return self._vault.values.get(reference)

    def is_key(self, reference: str) -> bool:
        """Return whether the value of a reference is known to be a key."""
        held = self._vault.known.get((reference, self._vault.values.get(reference, "")))
        return held is not None and held.is_key

    def watch(
        self, environment: Mapping[str, str], seen: Callable[[str], None] | None = None
    ) -> Mapping[str, str]:
        """Return the environment; each value is registered when it is looked up.

        Args:
            environment: the variables.
            seen: called with the reference of each.
        """
        return _Watched(environment, self, seen)

    # Masking --------------------------------------------------------------------------------------

    def mask(self, text: str, found: set[str] | None = None) -> str:
        """Return a text with each secret replaced by its reference.

        Args:
            text: any text.
            found: gets the references of secrets in the text.
        """
        return replaced(text, self.table().all, found)

    def mask_numbered(self, text: str, secrets: list[str], mark: str) -> str:
        """Return a text with each secret replaced by a numbered mark, `${MARK:1}`.

        Args:
            text: any text that contains no such mark.
            secrets: gets the secret of each number, in order.
            mark: the word of the marks.
        """

        def spell(form: SoughtForm) -> str:
            if form.replacement not in secrets:
                secrets.append(form.replacement)
            return f"${{{mark}:{secrets.index(form.replacement) + 1}}}"

        return replaced(text, self.table().all, None, spell)

    def mask_name(self, text: str, found: set[str] | None = None) -> str:
        """Mask the name of a tool or a parameter; plain words are kept."""
        return replaced(text, self.table().names, found)

    def mask_keys(self, text: str) -> str:
        """Mask only known keys."""
        return replaced(text, self.table().keys, None)

    def mask_cut(self, text: str) -> str:
        """Return a truncated text without the start of a secret at its end."""
        table = self.table()
        at = table.open_end(text)
        return text[:at] + DOTS if len(text) - at >= _PARTIAL else text

    def reveal(
        self, text: str, released: AbstractSet[str], spelled: Callable[[str], str] | None = None
    ) -> str:
        """Return a text with references replaced by their values.

        Args:
            text: a masked text.
            released: the references whose values may be inserted.
            spelled: encodes a value for the syntax of the text.

        Raises:
            MissingValueError: a reference has no value.
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
        """Return a masker for text in pieces; `found` gets the references of its secrets."""
        return MaskedStream(self, found)

    def table(self) -> FormTable:
        """Return the table of all forms."""
        known = self._vault.known
        if len(known) != self._size:
            with self._vault.lock:
                each = [item for item in known.values() if item.reference not in self._public]
                self._made, self._size = table_of(each), len(known)
        return self._made


class MaskedStream:
    """A masker of a text that arrives in pieces, even if a secret is split between them.

    Text that may begin a secret is held back until that is decided.
    """

    def __init__(self, masker: Masker, found: set[str] | None = None) -> None:
        self._masker = masker
        self._found = found
        self._held = ""

    @property
    def is_holding(self) -> bool:
        """Whether text is held back."""
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
        """Return the rest of the text; an incomplete secret is not shown."""
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
        return name in self._environment  # checked, not looked up

    def __iter__(self) -> Iterator[str]:
        return iter(self._environment)

    def __len__(self) -> int:
        return len(self._environment)
