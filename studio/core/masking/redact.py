"""Recognize secrets by the name of their field or the form of a key, and hide them in JSON.

This is the only module that decides it: problems, previews, masks, traces and reports use it.
"""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise

from studio.core.text.values import Json, parse_json

DOTS = "••••••"
"""Replacement of a secret without a name."""

_HINTS = (
    "sk-",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "AKIA",
    "ASIA",
    "AIza",
    "xox",
    "hf_",
    "eyJ",
    "PRIVATE KEY",
)

_SHORTEST = 15
"""Length of the shortest key, `xoxb-` and 10 characters."""

_FORMS = re.compile(
    r"\b(?:"
    r"sk-(?:proj-|ant-|or-)?[A-Za-z0-9_-]{20,200}"
    r"|gh[pousr]_[A-Za-z0-9]{30,100}|github_pat_[A-Za-z0-9_]{40,120}|glpat-[A-Za-z0-9_-]{20,60}"
    r"|(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{30,60}"
    r"|xox[abprs]-[A-Za-z0-9-]{10,100}|hf_[A-Za-z0-9]{30,60}"
    r"|eyJ[A-Za-z0-9_-]{10,1000}\.eyJ[A-Za-z0-9_-]{10,2000}\.[A-Za-z0-9_-]{10,1000}"
    r")|-----BEGIN (?:[A-Z]{1,12} ){0,3}PRIVATE KEY-----"
)
_LOGIN = re.compile(r"(?<=://)[^\s/@:'\"]*:[^\s/@'\"]+(?=@)")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

_SECRET_WORDS = frozenset(
    """
    secret secrets password passwd passphrase credential credentials bearer cookie cookies
    authorization apikey token auth oauth clientsecret privatekey accesstoken refreshtoken
    authtoken
""".split()
)
_SECRET_PAIRS = frozenset(
    (
        *(
            (first, "key")
            for first in tuple(
                """
                api access private secret signing encryption subscription functions account master
                service
            """.split()
            )
        ),
        *(
            (first, last)
            for first in ("access", "auth", "refresh", "id", "session", "csrf")
            for last in ("token", "tokens")
        ),
        ("connection", "string"),
    )
)
_VARIABLE_WORDS = _SECRET_WORDS | {"key", "keys", "pwd", "pat", "dsn"}
_VARIABLE_ENDS = ("password", "passwd", "secret", "token", "apikey")
_NO_SECRET_ENDS = frozenset(
    """
    file path dir folder sock socket id ids name names port host url uri endpoint count limit max
    min ttl type version layout size length timeout expiry backend provider method mode enabled
    disabled
""".split()
)
_KEY_FIELD = re.compile(
    r"(?i)api[_-]?key|client[_-]?secret|secret|password|passphrase|access[_-]?token|"
    r"connection[_-]?string"
)
_PLACEHOLDERS = frozenset(
    """
    none null empty dummy test testing true false unused ollama lm-studio lmstudio not-needed
    not_needed notneeded no-key nokey no-key-required sk-no-key-required not-required placeholder
    undefined example anything whatever required optional enabled disabled
""".split()
)


@lru_cache(maxsize=1024)
def names_secret(name: str) -> bool:
    """Return whether the name of a field, header or parameter means a secret.

    Whole words only: parts of words would hide `maxOutputTokens` and `authors`.
    """
    words = _words(name)
    return not _SECRET_WORDS.isdisjoint(words) or not _SECRET_PAIRS.isdisjoint(pairwise(words))


def names_secret_field(name: str) -> bool:
    """Return whether a field of a prompt's front matter only holds secrets.

    Narrower than `names_secret`: an input may be called `token`.
    """
    return _KEY_FIELD.fullmatch(name) is not None


@lru_cache(maxsize=1024)
def names_secret_variable(name: str) -> bool:
    """Return whether an environment variable's name means a secret (`AZURE_KEY`, `DB_PWD`)."""
    words = _words(name)
    if not words or words in (["pwd"], ["oldpwd"]) or words[-1] in _NO_SECRET_ENDS:
        return False
    return not _VARIABLE_WORDS.isdisjoint(words) or any(
        word.endswith(_VARIABLE_ENDS) for word in words
    )


def is_placeholder(value: str) -> bool:
    """Return whether a value is a placeholder for a key (`none`, `ollama`, `xxxxxxxx`)."""
    return value.lower() in _PLACEHOLDERS or len(set(value)) < 2


def looks_like_key(value: str) -> bool:
    """Return whether a value has the form of a key."""
    return _may_hold_key(value) and _FORMS.fullmatch(value) is not None


def _may_hold_key(text: str) -> bool:
    """Return whether to search a text for keys: the pattern is slow on long texts."""
    return len(text) >= _SHORTEST and any(hint in text for hint in _HINTS)


def holds_login(value: str) -> bool:
    """Return whether an address contains a user name and a password."""
    return "@" in value and _LOGIN.search(value) is not None


def keys_in(text: str) -> list[tuple[int, int]]:
    """Return the spans of keys of well-known forms in a text."""
    return [found.span() for found in _FORMS.finditer(text)] if _may_hold_key(text) else []


def without_keys(text: str, dots: str = DOTS) -> str:
    """Return a text with keys of well-known forms replaced."""
    return _FORMS.sub(dots, text) if _may_hold_key(text) else text


def without_logins(text: str, dots: str = DOTS) -> str:
    """Return a text with the logins in addresses (`https://me:pass@host`) replaced."""
    return _LOGIN.sub(dots, text) if "@" in text else text


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORDS.findall(name)]


_LONGEST_JSON = 1_000_000


def redact(value: object, dots: str = DOTS, *, inside: bool = True) -> Json:
    """Return a value without its secrets.

    Args:
        value: any JSON; other values become text.
        dots: replacement for hidden values.
        inside: whether to redact JSON inside texts too.
    """
    if isinstance(value, Mapping):
        return {
            str(key): dots if _hides(str(key), item) else redact(item, dots, inside=inside)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [redact(item, dots, inside=inside) for item in value]
    if isinstance(value, str):
        return _redacted_text(value, dots) if inside else without_keys(value, dots)
    return value if isinstance(value, bool | int | float) or value is None else str(value)


def _redacted_text(text: str, dots: str) -> str:
    if text.lstrip()[:1] in ("{", "[") and len(text) <= _LONGEST_JSON:
        try:
            inner = parse_json(text)
        except ValueError:
            return without_keys(text, dots)
        hidden = redact(inner, dots)
        return text if hidden == inner else json.dumps(hidden, ensure_ascii=False)
    return without_keys(text, dots)


def _hides(key: str, value: object) -> bool:
    """Return whether a field is hidden: token counts and schemas are no secrets."""
    return isinstance(value, str) and bool(value) and names_secret(key)
