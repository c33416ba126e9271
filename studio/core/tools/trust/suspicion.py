"""Find texts in a tool's name and description that can mislead the model or the user.

These are marks for the user, no defense: a description can mislead in any words. Names of arguments
are read as words, encoded sentences are decoded, and look-alike letters count as hidden.
"""

from __future__ import annotations

import re
import unicodedata
from base64 import b64decode
from binascii import Error
from collections.abc import Iterator

from studio.core.prompty.document import ToolSpec
from studio.core.text.invisible import has_invisible
from studio.core.text.values import Json, texts_in

_SECRET = r"(?:api[ _-]?key|password|secret|credential|token)s?"

_ADDRESSED = re.compile(
    "|".join(
        (
            r"\b(?:ignore|disregard|forget|override)\b.{0,40}"
            r"\b(?:previous|prior|above|earlier|other|all|system)\b",
            r"\b(?:do not|don't|never)\b.{0,30}\b(?:tell|mention|inform|show|reveal)\b"
            r".{0,30}\buser\b",
            r"\byou (?:must|should) (?:(?:always|now|first|also)"
            r" (?:call|use|pass|send|read|include)|call|use (?:this|the) tool)\b",
            r"(?:^|[.!\n] *)you are (?:now )?an?\b",
            rf"\b(?:pass|send|include|attach)\b.{{0,40}}(?<!/)\b{_SECRET}\b",
            r"\b(?:before|instead of) (?:using |calling )?(?:this|any|every|all)"
            r"(?: other)? tools?\b",
            # Orders about another tool's calls, and for what the conversation holds.
            r"\bwhen(?:ever)?\b.{0,40}\b(?:is|are) (?:called|used|invoked)\b.{0,20}"
            r"\b(?:always|also|must|first)\b",
            r"\balways (?:add|bcc|cc|forward|call this|use this|prefer this)\b",
            r"\b(?:full|entire|whole|complete) (?:conversation|chat|transcript|system prompt)\b",
            r"\b(?:content|contents|output)s? (?:from|of) (?:reading )?\S{0,12} ?"
            r"(?:id rsa|ssh|env|passwd|shadow)\b",
            r"\bid[ _]rsa\b|\bid[ _]ed25519\b|/etc/(?:passwd|shadow)\b|~/\.(?:ssh|aws|gnupg)\b",
        )
    ),
    re.IGNORECASE | re.DOTALL,
)
_ADDRESSED_ELSEWHERE = re.compile(
    "|".join(
        (
            # Ignore the instructions: German, French, Spanish, Portuguese, Italian, Dutch.
            r"\b(?:ignorier\w*|missachte\w*|vergiss)\b.{0,40}\b(?:anweisung|anleitung|vorherig|regel)",
            r"\b(?:ignore[zr]?|oublie[zr]?)\b.{0,40}\b(?:instructions? précédent|consignes?)",
            r"\b(?:ignor[ae]r?|olvid[ae])\b.{0,40}\b(?:instruc|anterior|istruzioni|precedenti)",
            r"\b(?:negeer|vergeet)\b.{0,40}\b(?:instructies|eerdere|vorige)",
            # Say nothing to the user.
            r"\b(?:sag|sage|sagen sie|erzähl\w*|verrate?)\b.{0,20}\b(?:nutzer|benutzer|anwender)\b"
            r".{0,20}\bnicht",
            r"\bne\b.{0,20}\b(?:dis|dites|parle[zr]?|mentionne[zr]?)\b.{0,30}\butilisateur",
            r"\bno\b.{0,20}\b(?:digas|diga|menciones|informes)\b.{0,30}\busuario",
            r"\bn[aã]o\b.{0,20}\b(?:diga|mencione|informe)\b.{0,30}\b(?:usuário|utilizador)",
            r"\bnon (?:dire|dirlo|menzionare)\b.{0,30}\butente",
            # Call this before any other tool; always add somebody.
            r"\bvor (?:jede[mr]|allen) (?:anderen )?(?:werkzeug|tool|aufruf)",
            r"\bavant (?:tout|chaque) (?:autre )?outil",
            r"\bantes de (?:cualquier|qualquer) (?:otra|outra)",
            r"\bfüge\b.{0,30}\bimmer\b|\bimmer\b.{0,40}\b(?:bcc|hinzu)\b",
            r"\b(?:toujours|siempre|sempre)\b.{0,30}\b(?:ajoute|añad|adicion|aggiung|bcc)",
            # Russian, Chinese, Japanese, Korean.
            r"(?:игнорируй|забудь)\w*.{0,40}(?:инструкци|предыдущ|указани)",
            r"не (?:говори|сообщай|упоминай)\w*.{0,30}пользовател",
            r"(?:忽略|无视|忘记|不要理会).{0,20}(?:指令|指示|说明|提示)",
            r"不要(?:告诉|告知|透露).{0,8}用户",
            r"(?:指示|命令)を?.{0,6}無視|無視.{0,12}(?:指示|命令)|ユーザーに.{0,12}(?:言わない|知らせない)",
            r"(?:지시|명령).{0,8}무시|사용자에게.{0,12}(?:말하지|알리지)",
        )
    ),
    re.IGNORECASE | re.DOTALL,
)
_MARKUP = re.compile(
    r"</?(?:img|script|style|svg|iframe|object|embed|form|input|link|meta|base"
    r"|system|important|instructions?|user|assistant|tool)(?:\s[^<>]*)?/?>"
    r"|<!--|!\[[^\]]*\]\([^)]*\)",
    re.IGNORECASE,
)
"""Tags that load, run or ask, those of prompts, and pictures; formatting, a placeholder such as
`<owner>`, and links
are honest (GitHub's API has a thousand links, DigitalOcean's 23 `<br>`)."""

_WORD = re.compile(r"[^\W\d_]{2,}")
_ENCODED = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/]{24,}={0,2}(?![A-Za-z0-9+/=])")
_LIKE_LATIN = ("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE")


def suspicions(spec: ToolSpec) -> tuple[str, ...]:
    """Return warnings about a tool's texts, a sentence each.

    Args:
        spec: the tool; its name, its description, and all texts of its schema are looked at.
    """
    texts = list(_texts(spec))
    decoded = [text for each in texts for text in _decoded(each)]
    found = []
    if any(has_invisible(text) for text in texts):
        found.append("It contains invisible characters; they are shown as ⟨U+…⟩.")
    if any(_is_mixed(word) for text in texts if not text.isascii() for word in _WORD.findall(text)):
        found.append("It contains letters of other alphabets that look like Latin ones.")
    if decoded:
        found.append(f"It contains an encoded text: {decoded[0][:80]!r}.")
    if any(_is_addressed(text) for text in (*texts, *decoded)):
        found.append("Its text gives instructions to the model.")
    if any(_MARKUP.search(text) for text in texts):
        found.append("It contains markup, which is shown as text.")
    return tuple(found)


def _texts(spec: ToolSpec) -> Iterator[str]:
    """Yield the tool's texts; names as they are, and as words."""
    names = (spec.name, *_keys(spec.parameters))
    yield from (spec.description, *texts_in(spec.parameters), *names)
    yield from (name.replace("_", " ").replace("-", " ") for name in names)


def _keys(value: Json) -> Iterator[str]:
    if isinstance(value, dict):
        for name, each in value.items():
            yield name
            yield from _keys(each)
    elif isinstance(value, list):
        for each in value:
            yield from _keys(each)


def _is_addressed(text: str) -> bool:
    plain = unicodedata.normalize("NFKC", text)
    return bool(_ADDRESSED.search(plain) or _ADDRESSED_ELSEWHERE.search(plain))


def _is_mixed(word: str) -> bool:
    """Return whether a word has Latin letters beside letters that look like them."""
    alphabets = {unicodedata.name(letter, "").partition(" ")[0] for letter in word}
    return "LATIN" in alphabets and not alphabets.isdisjoint(_LIKE_LATIN)


def _decoded(text: str) -> Iterator[str]:
    """Yield the sentences that a text has in base64; keys and pictures are no sentences."""
    for match in _ENCODED.finditer(text):
        try:
            words = b64decode(match[0] + "=" * (-len(match[0]) % 4)).decode()
        except (Error, UnicodeDecodeError):
            continue
        if words.isprintable() and words.count(" ") >= 2:
            yield words
