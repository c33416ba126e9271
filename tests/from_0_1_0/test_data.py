"""The files of 0.1.0 are evidence: nobody edits, renames in or reformats them."""

from __future__ import annotations

import hashlib
from pathlib import Path


def test_nothing_was_changed_since(left_behind: Path) -> None:
    listed = dict(
        reversed(line.split("  ", 1))
        for line in (left_behind / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    )
    found = {
        path.relative_to(left_behind).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in left_behind.rglob("*")
        if path.is_file() and path.name not in ("SHA256SUMS", "README.md")
    }
    assert found == listed
