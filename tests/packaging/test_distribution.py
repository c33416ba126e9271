"""What the Debian package names as what it needs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.packaging.tool import load

pytestmark = pytest.mark.skipif(shutil.which("dpkg") is None, reason="dpkg is not installed")


def _libraries() -> list[Path]:
    """One library of the C library's package, and one of a package that may list a short name."""
    said = subprocess.run(
        ["dpkg", "-L", "libc6", "libselinux1"], capture_output=True, text=True, check=False
    )
    listed = [Path(each) for each in said.stdout.split() if each.endswith((".so.6", ".so.1"))]
    return [path.resolve() for path in listed if path.is_file()]


def test_the_package_of_a_library_is_found_by_its_real_name() -> None:
    libraries = _libraries()
    if not libraries:
        pytest.skip("libc6 was not installed by dpkg")
    for path in libraries:
        # As the loader says it: below /usr where /lib is a link to it.
        assert load("distribution")._owner(path) in ("libc6", "libselinux1")


def test_a_library_of_nobody_is_named(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"libown\.so"):
        load("distribution")._owner(tmp_path / "libown.so")
