"""A library that Qt, or a package, lacks is named before the program ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QLibraryInfo

from studio.__main__ import missing_for_window
from tests.support.patience import SECONDS

ROOT = Path(__file__).resolve().parents[1]
WITHOUT_SCREEN = ("QT_QPA_PLATFORM", "WAYLAND_DISPLAY", "DISPLAY")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere Qt brings all it needs")


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """A folder of plugins in which the one for X11 needs a library that nobody has."""
    own = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.PluginsPath))
    needed, nobodys = b"libxcb-cursor.so.0\0", b"libnobody-has.so.7\0"
    data = (own / "platforms" / "libqxcb.so").read_bytes()
    assert needed in data
    (tmp_path / "plugins" / "platforms").mkdir(parents=True)
    made = tmp_path / "plugins" / "platforms" / "libqxcb.so"
    made.write_bytes(data.replace(needed, nobodys))
    (tmp_path / "lib").symlink_to(own.parent / "lib")  # where a plugin looks for Qt itself
    return tmp_path / "plugins"


def start(**changes: str) -> subprocess.CompletedProcess[str]:
    """Start the program as on a desktop, up to its end."""
    environment = {name: value for name, value in os.environ.items() if name not in WITHOUT_SCREEN}
    return subprocess.run(
        [sys.executable, "-m", "studio"],
        cwd=ROOT,
        env=environment | changes,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def test_a_library_that_qt_lacks_is_named_and_nothing_crashes(broken: Path) -> None:
    ended = start(QT_PLUGIN_PATH=str(broken), DISPLAY=":4711")
    assert ended.stderr == (
        "prompt-studio: the system library libnobody-has.so.7 is missing.\n"
        "  Install it (on Debian and Ubuntu: apt-get install libnobody-has7).\n"
    )
    assert ended.returncode == 2


def test_a_library_that_a_package_lacks_is_named_by_a_command_too(tmp_path: Path) -> None:
    package = tmp_path / "yaml"
    package.mkdir()
    (package / "__init__.py").write_text(
        "import ctypes\n"
        "try:\n"
        "    ctypes.CDLL('libnobody-has.so.7')\n"
        "except OSError as error:\n"
        "    raise ImportError(str(error)) from None\n",
        encoding="utf-8",
    )
    prompt = tmp_path / "a.prompty"
    prompt.write_text("---\nname: a\n---\nuser:\nHi\n", encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, "-m", "studio", "check", str(prompt)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert ended.stderr.startswith(
        "prompt-studio: the system library libnobody-has.so.7 is missing"
    )
    assert ended.returncode == 2


def test_what_qt_can_load_lacks_nothing(broken: Path) -> None:
    assert missing_for_window({"QT_QPA_PLATFORM": "offscreen"}) is None
    assert missing_for_window({"QT_QPA_PLATFORM": "nonsense:a=1"}) is None
    assert missing_for_window({}) is None
