"""Takes secrets out of texts, and puts them in again where they may be sent.

A masker is told each value that comes from the environment, the key store or a header, with the
reference that leads to it (`${env:NAME}`, `${key:CONNECTION}`). From then on the reference stands
wherever the value turns up. One masker serves a whole studio, from any thread.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from studio.core.masking.forms import encoded, forms_of
from studio.core.masking.looks import (
    DOTS,
    holds_login,
    is_placeholder,
    looks_like_key,
    names_secret_variable,
)

SHORTEST = 8
"""Characters from which on any value is masked."""

SHORTEST_KEY = 6
"""Characters from which on a value is masked that is known to be a key; shorter ones are parts of
many words."""

_PARTIAL = 8
_REFERENCE = re.compile(r"\$\{(env|key):([^{}\n|]+)(?:\|(url|html|base64))?\}")
_PLAIN_WORD = re.compile(r"[A-Za-z]+(?:[_-][A-Za-z]+)*")
_SYSTEM = re.compile(
    r"HOME|USER|USERNAME|LOGNAME|PATH|PATHEXT|PWD|OLDPWD|SHELL|TERM|LANG|LANGUAGE|LC_\w+|TZ|EDITOR"
    r"|TMPDIR|TEMP|TMP|HOSTNAME|COMPUTERNAME|DISPLAY|XDG_\w+|SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC"
    r"|APPDATA|LOCALAPPDATA|PROGRAMDATA|PROGRAMFILES|USERPROFILE|HOMEPATH|HOMEDRIVE|OS|PYTHONPATH"
    r"|VIRTUAL_ENV|SSL_CERT_FILE|SSL_CERT_DIR"
)
"""Variables that the system sets, and that are no secret."""


def key_reference(owner: str) -> str:
    """What stands for a key of the key store, or one written in a file.

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


@dataclass(frozen=True, slots=True)
class _Known:
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
class _Form:
    """What is looked for."""

    text: str
    """One spelling of a secret."""

    replacement: str
    """What stands for it."""

    reference: str
    """The secret's reference."""


@dataclass(frozen=True, slots=True)
class Table:
    """All that is looked for, the longest first."""

    all: tuple[_Form, ...] = ()
    """In texts."""

    names: tuple[_Form, ...] = ()
    """In names of tools and parameters: without plain words."""

    keys: tuple[_Form, ...] = ()
    """Keys alone."""

    longest: int = 0
    """Characters of the longest spelling."""

    shortest: int = 0
    """Characters of the shortest."""

    beginnings: Mapping[str, tuple[str, ...]] | None = None
    """All spellings by their first character."""


class _Vault:
    """The values, shared by all views of them."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.known: dict[tuple[str, str], _Known] = {}
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
        self._made = Table()
        self._size = 0
        self.note_secrets(environment or {})

    def without(self, public: Iterable[str]) -> Masker:
        """The same masker, for a document that says of some variables that they are no secrets.

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
        """A value was looked up: from now on its reference stands for it.

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
                vault.known[reference, value] = _Known(reference, value, is_key)

    def note_secrets(self, environment: Mapping[str, str]) -> None:
        """Know those variables that are named as secret or hold a key or a login, and no others."""
        for name, value in environment.items():
            if names_secret_variable(name) or looks_like_key(value) or holds_login(value):
                self.note(f"${{env:{name}}}", value)

    def value(self, reference: str) -> str | None:
        """The value of a reference as it was last looked up; None where it never was."""
        return self._vault.values.get(reference)

    def is_key(self, reference: str) -> bool:
        """Whether the value of a reference is known to be a key."""
        held = self._vault.known.get((reference, self._vault.values.get(reference, "")))
        return held is not None and held.is_key

    def watch(
        self, environment: Mapping[str, str], seen: Callable[[str], None] | None = None
    ) -> Mapping[str, str]:
        """The environment, each value of which is noted when it is looked up.

        Args:
            environment: the variables.
            seen: told the reference of each.
        """
        return _Watched(environment, self, seen)

    # Masking --------------------------------------------------------------------------------------

    def mask(self, text: str, found: set[str] | None = None) -> str:
        """A text with the reference in place of each secret.

        Args:
            text: any text.
            found: gets the references of those that were in it.
        """
        return _masked(text, self.table().all, found)

    def mask_name(self, text: str, found: set[str] | None = None) -> str:
        """The same for a name of a tool or a parameter, which may be the same plain word."""
        return _masked(text, self.table().names, found)

    def mask_keys(self, text: str) -> str:
        """The same, but only for what is known to be a key."""
        return _masked(text, self.table().keys, None)

    def mask_cut(self, text: str) -> str:
        """A text that was cut off at its end: the beginning of a secret there is taken away."""
        table = self.table()
        at = _open_end(text, table)
        return text[:at] + DOTS if len(text) - at >= _PARTIAL else text

    def reveal(
        self,
        text: str,
        released: AbstractSet[str],
        spelled: Callable[[str], str] | None = None,
    ) -> str:
        """A text with the values in place of their references.

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

    def stream(self) -> MaskedStream:
        """What masks a text that comes in pieces."""
        return MaskedStream(self)

    def table(self) -> Table:
        """All that is looked for now."""
        known = self._vault.known
        if len(known) != self._size:
            with self._vault.lock:
                each = [item for item in known.values() if item.reference not in self._public]
                self._made, self._size = _table_of(each), len(known)
        return self._made


class MaskedStream:
    """Masks a text that comes in pieces, also where a secret is split between them.

    What may be the beginning of a secret is held until it is known to be one or not.
    """

    def __init__(self, masker: Masker) -> None:
        self._masker = masker
        self._held = ""

    def feed(self, piece: str) -> str:
        """What can be shown by now; may be empty."""
        table = self._masker.table()
        if not table.all:
            return piece
        text = self._held + piece
        end = _open_end(text, table)
        if len(text) < table.shortest:
            self._held = text[end:]
            return text[:end]
        end = _before_whole(text, end, table)
        self._held = text[end:]
        return _masked(text[:end], table.all, None)

    def close(self) -> str:
        """What was held, now that nothing follows; a secret that was cut off is not shown."""
        text, self._held = self._held, ""
        return self._masker.mask_cut(self._masker.mask(text))


class _Watched(Mapping[str, str]):
    """An environment that tells of each value that is looked up."""

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


def _table_of(known: Iterable[_Known]) -> Table:
    forms: dict[str, tuple[_Form, _Known]] = {}
    # Where two references have one value, a variable is found again more easily than a key store.
    for item in sorted(known, key=lambda each: not each.reference.startswith("${env:")):
        for form in forms_of(item.value):
            how = f"|{form.encoding}}}" if form.encoding else "}"
            made = _Form(form.text, item.reference[:-1] + how, item.reference)
            forms.setdefault(form.text, (made, item))
    ordered = sorted(forms.values(), key=lambda pair: -len(pair[0].text))
    beginnings: dict[str, list[str]] = {}
    for one, _ in ordered:
        beginnings.setdefault(one.text[0], []).append(one.text)
    return Table(
        tuple(form for form, _ in ordered),
        tuple(form for form, item in ordered if not item.is_name),
        tuple(form for form, item in ordered if item.is_key),
        len(ordered[0][0].text) if ordered else 0,
        len(ordered[-1][0].text) if ordered else 0,
        {first: tuple(texts) for first, texts in beginnings.items()},
    )


def _masked(text: str, forms: tuple[_Form, ...], found: set[str] | None) -> str:
    there = [form for form in forms if form.text in text]
    if not there:
        return text
    by_text = {form.text: form for form in there}

    def replacement(match: re.Match[str]) -> str:
        form = by_text[match[0]]
        if found is not None:
            found.add(form.reference)
        return form.replacement

    return re.sub("|".join(re.escape(form.text) for form in there), replacement, text)


def _open_end(text: str, table: Table) -> int:
    """Where the longest end of a text begins that is the beginning of a secret; else its length."""
    beginnings = table.beginnings or {}
    for at in range(max(0, len(text) - table.longest + 1), len(text)):
        for form in beginnings.get(text[at], ()):
            if len(form) > len(text) - at and form.startswith(text[at:]):
                return at
    return len(text)


def _before_whole(text: str, end: int, table: Table) -> int:
    """The place, or one before it where a whole secret reaches over it."""
    if end == len(text):
        return end
    there = [form.text for form in table.all if form.text in text]
    for form in there:
        at = text.find(form, max(0, end - len(form) + 1))
        if 0 <= at < end:
            return _before_whole(text, at, table)
    return end
