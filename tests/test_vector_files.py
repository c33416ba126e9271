"""Every file of the cases from the outside world is read by a test."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = {
    "PROMPTY_VECTORS": ROOT / "../shared/vectors/prompty",
    "LOOP_VECTORS": ROOT / "../shared/vectors/loops",
}
ABOUT = {"meta.json"}
"""Files that tell about the others."""

READERS = "\n".join(
    path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "core").rglob("test_*vectors.py")
) + "\n".join(
    (ROOT / "tests" / "core" / "agent" / name).read_text(encoding="utf-8")
    for name in ("test_loop_cases.py", "past/test_turn_events.py")
)


@pytest.mark.parametrize("variable", FOLDERS)
def test_each_file_of_vectors_is_read(variable: str) -> None:
    folder = Path(os.environ.get(variable, FOLDERS[variable]))
    if not folder.is_dir():
        pytest.skip(f"no vectors at {folder} (set {variable})")
    unread = [
        path.relative_to(folder).as_posix()
        for path in sorted(folder.rglob("*.json"))
        if path.name not in ABOUT and "fixtures" not in path.parts and not is_named(path)
    ]
    assert not unread


def is_named(path: Path) -> bool:
    """Whether a test asks for the file: by its name, or as a stage without the ending."""
    return any(f'"{name}"' in READERS for name in (path.name, path.stem))
