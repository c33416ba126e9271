"""A missing library is named, and so is the package that brings it."""

from __future__ import annotations

import ctypes
import sys

import pytest

from studio.core.system_libraries import advice, debian_package, missing_library


@pytest.mark.parametrize(
    ("message", "library"),
    [
        (
            "ImportError: libgomp.so.1: cannot open shared object file: No such file or directory",
            "libgomp.so.1",
        ),
        ("libstdc++.so.6: cannot open shared object file", "libstdc++.so.6"),
        ("libEGL.so.1: cannot open shared object file: No such file", "libEGL.so.1"),
        (
            "dlopen(/x/y.so, 0x2): Library not loaded: @rpath/libomp.dylib\n  Referenced from: y",
            "libomp.dylib",
        ),
        ("No module named 'xllamacpp'", None),
        ("libx.so.1: undefined symbol: f", None),
        ("", None),
    ],
)
def test_the_library_is_found_in_the_loaders_words(message: str, library: str | None) -> None:
    assert missing_library(message) == library


@pytest.mark.skipif(sys.platform != "linux", reason="other loaders say it in other words")
def test_it_is_found_in_what_this_systems_loader_says() -> None:
    with pytest.raises(OSError, match="cannot open") as told:
        ctypes.CDLL("libnobody-has-this.so.7")
    assert missing_library(str(told.value)) == "libnobody-has-this.so.7"


@pytest.mark.parametrize(
    ("library", "package"),
    [
        ("libgomp.so.1", "libgomp1"),
        ("libGL.so.1", "libgl1"),
        ("libglib-2.0.so.0", "libglib2.0-0"),
        ("libdbus-1.so.3", "libdbus-1-3"),
        ("libxkbcommon-x11.so.0", "libxkbcommon-x11-0"),
        ("libX11-xcb.so.1", "libx11-xcb1"),
        ("libxcb-render-util.so.0", "libxcb-render-util0"),
        ("libpng16.so.16", "libpng16-16"),
        ("libgssapi_krb5.so.2", "libgssapi-krb5-2"),
        ("libstdc++.so.6", "libstdc++6"),
        ("libbz2.so.1.0", "libbz2-1.0"),
        ("libgcc_s.so.1", "libgcc-s1"),
        ("libz.so.1", "zlib1g"),
        ("libwayland-egl.so.1", "libwayland-egl1"),
    ],
)
def test_a_package_is_called_by_debians_rule(library: str, package: str) -> None:
    assert debian_package(library) == package
    assert f"apt-get install {package})" in advice(library)


def test_no_package_is_invented_for_other_systems() -> None:
    assert "apt-get" not in advice("libomp.dylib")
