"""The bill of materials and the licenses of what is given to people."""

from __future__ import annotations

import json
import shutil
import sys
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.packaging.tool import ROOT, load

bill = load("bill")
DAY = datetime(2026, 11, 24, 12, tzinfo=UTC)


def test_a_bill_names_what_the_lock_names() -> None:
    lock = ROOT / "packaging" / "lock" / "requirements-run.txt"
    parts = bill.required(lock)
    names = {part.name for part in parts}
    assert "pyyaml" in names
    assert not names & {"hatchling", "editables"}, "what only builds is in no wheel"
    text = bill.bill_of("prompt-studio", "1.0", parts, DAY)
    assert text == bill.bill_of("prompt-studio", "1.0", reversed(parts), DAY)
    made = json.loads(text)
    assert (made["bomFormat"], made["specVersion"]) == ("CycloneDX", "1.6")
    assert made["metadata"]["timestamp"] == "2026-11-24T12:00:00Z"
    pins = [line for line in lock.read_text().splitlines() if line[:1].isalnum()]
    assert len(made["components"]) == len(parts) == len(pins)
    assert all(each["purl"].startswith("pkg:pypi/") for each in made["components"])
    listed = [each["content"] for component in made["components"] for each in component["hashes"]]
    assert len(listed) == lock.read_text().count("--hash=sha256:")


def frozen(tmp_path: Path, *modules: str) -> tuple[Path, Path]:
    (tmp_path / "_internal" / "yaml").mkdir(parents=True)
    table = tmp_path / "PYZ-00.toc"
    rows = [(name, f"/x/{name}.py", "PYMODULE") for name in modules]
    table.write_text(repr(("/x/PYZ-00.pyz", rows)), encoding="utf-8")
    return tmp_path, table


def test_what_is_frozen_is_listed_with_its_licenses(tmp_path: Path) -> None:
    lock = tmp_path / "lock.txt"
    digest = "ab" * 32
    lock.write_text(f"Jinja2=={version('jinja2')} \\\n    --hash=sha256:{digest}\n")
    made = frozen(tmp_path, "jinja2.nodes", "json", "studio")
    parts = bill.frozen_parts(*made, sys.executable, [lock])
    assert [part.hashes for part in parts] == [(digest,), ()]
    assert [part.name.lower() for part in parts] == ["jinja2", "pyyaml"]
    assert all(part.license and part.version for part in parts)
    written = bill.copyright_of("prompt-studio", "MIT words", parts)
    assert all(f"Comment: {part.name} {part.version}" in written for part in parts)
    bill.copy_licenses(tmp_path / "licenses", parts)
    for part in parts:
        kept = sorted(path.name for path in (tmp_path / "licenses" / part.name).iterdir())
        assert kept[-1] == "PACKAGE"
        assert len(kept) > 1


def test_what_only_builds_is_never_shipped(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="pip must not be shipped"):
        bill.frozen_parts(*frozen(tmp_path, "pip"), sys.executable)


@pytest.mark.skipif(shutil.which("dpkg") is None, reason="not a Debian system")
def test_libraries_of_the_system_are_listed_with_their_licenses(tmp_path: Path) -> None:
    (tmp_path / "_internal").mkdir()
    for name in ("libz.so.1", "libQt6Core.so.6"):
        (tmp_path / "_internal" / name).write_bytes(b"a library")
    (part,) = bill.system_parts(tmp_path)
    assert (part.name, part.index) == ("zlib1g", "deb/debian")
    assert "Zlib" in part.license
    assert part.hashes == (sha256(b"a library").hexdigest(),)
    assert [path.name for path in part.files] == ["copyright"]
    made = json.loads(bill.bill_of("prompt-studio", "1.0", (part,), DAY))
    assert made["components"][0]["purl"].startswith("pkg:deb/debian/zlib1g@")


def test_what_a_package_carries_of_others_is_listed_too(tmp_path: Path) -> None:
    parts = bill.frozen_parts(*frozen(tmp_path, "hunspell"), sys.executable)
    said = {part.name: part.license for part in parts}
    assert "LGPL-2.1" in said["hunspell"], "chunspell says MIT, and carries Hunspell"
    written = bill.copyright_of("prompt-studio", "MIT words", parts)
    assert "License: MPL-1.1 OR GPL-2.0-or-later OR LGPL-2.1-or-later" in written
