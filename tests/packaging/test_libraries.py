"""What the wheels load of the system is found by asking the loader."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QLibraryInfo

from tests.packaging.tool import ROOT, load

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("ldd") is None, reason="the loader of Linux is asked"
)

LIBRARIES = load("libraries")
PLUGINS = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.PluginsPath))


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """An environment with a part of Qt, in which one plugin needs what nobody has."""
    qt = tmp_path / "PySide6" / "Qt"
    for kind, name in (("platforms", "libqxcb.so"), ("sqldrivers", "libqsqlodbc.so")):
        (qt / "plugins" / kind).mkdir(parents=True)
        data = (PLUGINS / kind / name).read_bytes()
        needed, nobodys = b"libxcb-cursor.so.0\0", b"libnobody-has.so.7\0"
        (qt / "plugins" / kind / name).write_bytes(data.replace(needed, nobodys))
    (qt / "lib").symlink_to(PLUGINS.parent / "lib")
    (tmp_path / "plain.py").write_text("x = 1\n", encoding="utf-8")
    return tmp_path


def test_what_is_missing_is_named_with_the_file_that_wants_it(environment: Path) -> None:
    plugin = environment / "PySide6" / "Qt" / "plugins" / "platforms" / "libqxcb.so"
    assert LIBRARIES.missing(environment)["libnobody-has.so.7"] == plugin


def test_plugins_that_are_never_loaded_are_not_looked_at(environment: Path) -> None:
    assert "libodbc.so.2" not in LIBRARIES.missing(environment)
    names = [path.name for path in LIBRARIES.loaded_files(environment)]
    assert names == ["libqxcb.so"]


def test_what_a_module_of_another_package_wants_is_looked_at(tmp_path: Path) -> None:
    import xllamacpp.xllamacpp as native

    (tmp_path / "xllamacpp").mkdir()
    shutil.copy(native.__file__, tmp_path / "xllamacpp" / "a.so")
    (path,) = LIBRARIES.loaded_files(tmp_path)
    assert "libgomp.so.1" in {name for name, _ in LIBRARIES.needs_of(path)}
    assert any(found.name.startswith("libgomp") for found in LIBRARIES.outside(tmp_path))


def test_the_modules_of_qt_are_those_that_the_studio_imports() -> None:
    modules = LIBRARIES.qt_modules()
    assert {"QtCore", "QtGui", "QtWidgets"} <= modules
    assert "QtQml" not in modules


@pytest.mark.parametrize(
    ("release", "names"),
    [
        ({"libgomp1", "libglib2.0-0"}, ["libglib2.0-0", "libgomp1"]),
        ({"libgomp1", "libglib2.0-0t64"}, ["libglib2.0-0t64", "libgomp1"]),
        (set(), ["libglib2.0-0", "libgomp1"]),  # nothing is known of packages here
    ],
)
def test_packages_are_called_as_the_release_calls_them(release: set[str], names: list[str]) -> None:
    wanted = ["libgomp.so.1", "libglib-2.0.so.0", "libgthread-2.0.so.0"]
    assert LIBRARIES.debian_names(wanted, release.__contains__) == names


def test_it_tells_what_is_missing(environment: Path) -> None:
    told = subprocess.run(
        [sys.executable, ROOT / "packaging" / "libraries.py", environment],
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 1
    assert "libnobody-has.so.7" in told.stdout
    assert "libnobody-has7" in told.stdout
