"""The package index that pip uses here: which files of a project it has, and one of them fetched.

Nothing asks it by itself: a command, a button or a setting of the user's does.
"""

from __future__ import annotations

import configparser
import hashlib
import os
import re
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from studio.core.models.base import ModelError
from studio.core.models.proxies import transport_to
from studio.core.text.files import read_text
from studio.core.text.values import parse_json

if TYPE_CHECKING:
    import httpx2

PYPI = "https://pypi.org/simple"
_ACCEPT = "application/vnd.pypi.simple.v1+json, text/html;q=0.1"
_SECONDS = 30.0
_MOST_LISTED = 32 * 1024**2
_NAME = re.compile(r"[-_.]+")


@dataclass(frozen=True, slots=True)
class IndexFile:
    """A file that an index has."""

    name: str
    """Its name: `project-1.0-py3-none-any.whl`."""

    address: str
    """Address of the file."""


Progress = Callable[[int, int], None]
"""Callback with the number of bytes so far, and of all (0 if unknown)."""


def index_address(environ: Mapping[str, str] = os.environ) -> str:
    """The index that pip or uv would ask: of the environment, of pip's files, else PyPI."""
    for name in ("PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL"):
        if environ.get(name):
            return environ[name].strip()
    for path in reversed(pip_files(sys.platform, environ, sys.prefix)):
        found = _in_file(Path(path))
        if found:
            return found
    return PYPI


def pip_files(system: str, environ: Mapping[str, str], prefix: str) -> tuple[PurePath, ...]:
    """The files that pip reads its settings from, the strongest last.

    Args:
        system: as `sys.platform` names it.
        environ: the environment.
        prefix: the folder of this Python's environment.
    """
    named = environ.get("PIP_CONFIG_FILE")
    if system == "win32":
        home = PureWindowsPath(environ.get("USERPROFILE", ""))
        found: list[PurePath] = [
            PureWindowsPath(environ.get("PROGRAMDATA", "C:/ProgramData")) / "pip" / "pip.ini",
            home / "pip" / "pip.ini",
            PureWindowsPath(environ.get("APPDATA", home / "AppData/Roaming")) / "pip" / "pip.ini",
            PureWindowsPath(prefix) / "pip.ini",
        ]
        return (*found, PureWindowsPath(named)) if named else tuple(found)
    own = PurePosixPath(environ.get("HOME", "/"))
    shared = PurePosixPath("/etc/pip.conf")
    user = PurePosixPath(environ.get("XDG_CONFIG_HOME") or own / ".config") / "pip" / "pip.conf"
    found = [shared, own / ".pip" / "pip.conf", user]
    if system == "darwin":
        library = PurePosixPath("Library/Application Support/pip/pip.conf")
        found = ["/" / library, own / ".pip" / "pip.conf", user, own / library]
    found.append(PurePosixPath(prefix) / "pip.conf")
    return (*found, PurePosixPath(named)) if named else tuple(found)


def _in_file(path: Path) -> str:
    reader = configparser.RawConfigParser()
    try:
        reader.read_string(read_text(path))
    except (OSError, UnicodeDecodeError, configparser.Error):
        return ""  # pip itself says what is wrong with its file
    return reader.get("global", "index-url", fallback="").strip()


def shown_address(address: str) -> str:
    """An address without a user's name and password."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return "the address that pip is given"  # it may hold a password
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


async def files_of(project: str, index: str) -> tuple[IndexFile, ...]:
    """The files of a project; none where the index does not know it.

    Raises:
        ModelError: the index does not answer, or not as one.
    """
    page = f"{index.rstrip('/')}/{_NAME.sub('-', project).lower()}/"
    data = bytearray()
    async with _asked(page, _ACCEPT) as reply:
        if reply.status_code == 404:
            return ()
        if reply.is_error:
            raise _unreachable(index, f"it answers with {reply.status_code}")
        async for piece in reply.aiter_bytes():
            data += piece
            if len(data) > _MOST_LISTED:
                raise _unreachable(index, "its list is too large to be one")
        kind = reply.headers.get("content-type", "")
    try:
        text = data.decode("utf-8")
        return _of_json(text, page) if "json" in kind else _of_html(text, page)
    except (ValueError, KeyError, TypeError):
        raise _unreachable(index, "what came is not a list of files") from None


def _of_json(text: str, page: str) -> tuple[IndexFile, ...]:
    listed: Any = parse_json(text)
    return tuple(
        IndexFile(each["filename"], urljoin(page, each["url"])) for each in listed["files"]
    )


def _of_html(text: str, page: str) -> tuple[IndexFile, ...]:
    reader = _Anchors()
    reader.feed(text)
    addresses = [urljoin(page, href).partition("#")[0] for href in reader.found]
    return tuple(IndexFile(urlsplit(each).path.rpartition("/")[2], each) for each in addresses)


class _Anchors(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "a" and given.get("href"):
            self.found.append(str(given["href"]))


async def fetch(file: IndexFile, sha256: str, target: Path, progress: Progress) -> None:
    """Fetch a file and keep it if its hash is the expected one.

    Args:
        file: the file.
        sha256: its checksum, as the studio's makers saw it.
        target: where it is kept; what stands there is replaced at the end.
        progress: told how far it is.

    Raises:
        ModelError: it cannot be fetched or written, or is another one. Nothing is left of it.
    """
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f"{target.name}.")
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as out:
            found = await _copied(file, out.write, progress)
        if found != sha256:
            message = f"{file.name} is not the file that the studio was made with."
            raise ModelError("bad-checksum", message, f"Its SHA-256 is {found}, not {sha256}.")
        part.replace(target)
    except OSError as error:
        message = f"{file.name} cannot be kept: {error.strerror or error}."
        raise ModelError("unwritten", message, f"Make room in {target.parent}.") from None
    finally:
        part.unlink(missing_ok=True)


async def _copied(file: IndexFile, write: Callable[[bytes], object], progress: Progress) -> str:
    digest, done = hashlib.sha256(), 0
    async with _asked(file.address, "*/*") as reply:
        if reply.is_error:
            raise _unreachable(file.address, f"it answers with {reply.status_code}")
        total = int(reply.headers.get("content-length") or 0)
        async for piece in reply.aiter_raw():
            digest.update(piece)
            write(piece)
            done += len(piece)
            progress(done, total)
    return digest.hexdigest()


@asynccontextmanager
async def _asked(address: str, accept: str) -> AsyncIterator[httpx2.Response]:
    import httpx2

    try:
        scheme = urlsplit(address).scheme
    except ValueError:
        raise _unreachable(address, "it is not an address") from None
    if scheme not in ("http", "https"):
        raise _unreachable(address, "only http and https are asked")
    transport, _ = transport_to(address)
    headers = {"Accept": accept, "Accept-Encoding": "identity", "User-Agent": "prompt-studio"}
    try:
        async with (
            httpx2.AsyncClient(
                transport=transport, timeout=_SECONDS, follow_redirects=True, headers=headers
            ) as client,
            client.stream("GET", address) as reply,
        ):
            yield reply
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        raise _unreachable(address, type(error).__name__) from None


def _unreachable(address: str, why: str) -> ModelError:
    message = f"{shown_address(address)} cannot be asked: {why}."
    return ModelError(
        "unreachable", message, "It is the index that pip uses here; try again later."
    )
