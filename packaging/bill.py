"""What is inside of the things given to people: a bill of materials and the licenses.

The bill is CycloneDX 1.6 in JSON, of the wheel (what it requires, by its lock) and of the Debian
package (what its frozen folder contains, by what PyInstaller put in).
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import shutil
import subprocess
import sysconfig
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

_PIN = re.compile(
    r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;\\]+)(.*(?:\n +--hash.*)*)", re.MULTILINE
)
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_LICENSE_LINE = re.compile(r"^License: *(\S.*?)\s*$", re.MULTILINE)
_NEVER_SHIPPED = ("setuptools", "pip", "wheel", "pyinstaller")
_PACKAGES = """
import json, sys
from importlib.metadata import distribution, packages_distributions
modules = set(json.load(sys.stdin))
owners = packages_distributions()
names = sorted({name for module in modules for name in owners.get(module, ())}, key=str.lower)
found = []
for name in names:
    each = distribution(name)
    classes = [c.rpartition(" :: ")[2] for c in each.metadata.get_all("Classifier") or ()
               if c.startswith("License ::")]
    files = [str(each.locate_file(f)) for f in each.files or ()
             if ".dist-info" in str(f) and any(w in f.name.upper() for w in
             ("LICEN", "COPYING", "NOTICE", "AUTHORS"))]
    said = each.metadata.get("License-Expression") or ""
    short = (each.metadata.get("License") or "").strip()
    found.append({
        "name": each.metadata["Name"],
        "version": each.version,
        "license": said or " and ".join(classes) or short.partition("\\n")[0],
        "author": each.metadata.get("Author") or each.metadata.get("Author-email")
                  or each.metadata.get("Maintainer-email") or "",
        "files": files,
    })
json.dump(found, sys.stdout)
"""


@dataclass(frozen=True)
class Part:
    """One package that is inside, or required."""

    name: str
    """Its name in the package index."""

    version: str
    """Its version."""

    license: str = ""
    """What it says of its license: an SPDX expression or a name; empty if it says nothing."""

    author: str = ""
    """Who it says made it."""

    files: tuple[Path, ...] = ()
    """Its files of licenses and notices."""

    index: str = "pypi"
    """Where it comes from, as a package URL says it."""

    hashes: tuple[str, ...] = ()
    """SHA-256 of its files: the archives that the lock takes, or the libraries that are inside."""


_COMMON = Path("/usr/share/common-licenses")
_BUNDLED = {
    "chunspell": Part(
        "hunspell",
        "1.7",
        "MPL-1.1 OR GPL-2.0-or-later OR LGPL-2.1-or-later",
        "László Németh and the authors of Hunspell and MySpell",
        (_COMMON / "MPL-1.1",),
        "generic",
    )
}
"""What a package carries of others, and does not say in what it tells of its license."""


def required(lock: Path) -> tuple[Part, ...]:
    """Return the packages that a lock names."""
    return tuple(
        Part(name, version, hashes=tuple(_HASH.findall(rest)))
        for name, version, rest in _PIN.findall(lock.read_text(encoding="utf-8"))
    )


def frozen_modules(folder: Path, table: Path) -> set[str]:
    """Return the top-level modules of a frozen folder.

    Args:
        folder: the folder.
        table: PyInstaller's list of the modules in the archive (`PYZ-00.toc`).
    """
    _, modules = ast.literal_eval(table.read_text(encoding="utf-8"))
    names = {str(name).partition(".")[0] for name, *_ in modules}
    inner = folder / "_internal"
    return names | {path.name.partition(".")[0] for path in inner.iterdir()}


def frozen_parts(
    folder: Path, table: Path, python: Path, locks: Iterable[Path] = ()
) -> tuple[Part, ...]:
    """Return the packages of a frozen folder; stops where one is there that is never shipped.

    Args:
        folder: the folder.
        table: PyInstaller's list of the modules in the archive.
        python: the interpreter whose packages were frozen.
        locks: what its packages were installed from, with their hashes.
    """
    hashes = {_reference(part): part.hashes for lock in locks for part in required(lock)}
    modules = sorted(frozen_modules(folder, table))
    done = subprocess.run(
        [python, "-c", _PACKAGES],
        input=json.dumps(modules),
        capture_output=True,
        text=True,
        check=True,
    )
    found = [
        Part(**{**each, "files": _texts(each["license"], each["files"])})
        for each in json.loads(done.stdout)
        if each["name"].lower() != "prompt-studio"
    ]
    found = [replace(each, hashes=hashes.get(_reference(each), ())) for each in found]
    found += [_BUNDLED[each.name] for each in found if each.name in _BUNDLED]
    wrong = [each.name for each in found if each.name.lower() in _NEVER_SHIPPED]
    if wrong:
        raise SystemExit(f"{', '.join(wrong)} must not be shipped: exclude it in the recipe")
    return tuple(found)


def _texts(license_: str, files: Sequence[str]) -> tuple[Path, ...]:
    """Return the license files of a package; Qt's bring none, and are under the LGPL."""
    common = [_COMMON / "LGPL-3", _COMMON / "GPL-3"] if "LGPL-3.0" in license_ else []
    return tuple(map(Path, files)) or tuple(common)


def system_parts(folder: Path) -> tuple[Part, ...]:
    """Return the Debian packages of this system whose libraries are in a frozen folder."""
    found = (folder / "_internal").glob("lib*.so*")
    names = [path.name for path in found if not path.name.startswith("libpython")]
    multiarch = sysconfig.get_config_var("MULTIARCH")
    libraries = [f"{root}/{multiarch}/{name}" for root in ("/lib", "/usr/lib") for name in names]
    if not libraries or shutil.which("dpkg") is None:
        return ()
    owned = subprocess.run(["dpkg", "-S", *libraries], capture_output=True, text=True, check=False)
    files: dict[str, set[str]] = {}
    for line in owned.stdout.splitlines():
        library = folder / "_internal" / line.rpartition("/")[2]
        digest = hashlib.sha256(library.read_bytes()).hexdigest()
        files.setdefault(line.partition(":")[0], set()).add(digest)
    owners = sorted(files)
    form = "${Package} ${Version}\n"
    told = subprocess.run(
        ["dpkg-query", "-W", "-f", form, *owners], capture_output=True, text=True, check=False
    )
    versions = dict(line.split(" ", 1) for line in told.stdout.splitlines())
    return tuple(
        replace(_system_part(name, versions[name]), hashes=tuple(sorted(files[name])))
        for name in owners
        if name in versions
    )


def _system_part(name: str, version: str) -> Part:
    paper = Path("/usr/share/doc") / name / "copyright"
    text = paper.read_text(encoding="utf-8", errors="replace") if paper.is_file() else ""
    kinds = sorted(set(_LICENSE_LINE.findall(text))) if text.startswith("Format:") else []
    return Part(name, version, ", ".join(kinds), files=(paper,) if text else (), index="deb/debian")


def bill_of(
    name: str, version: str, parts: Iterable[Part], day: datetime, license_: str = "MIT"
) -> str:
    """Return a bill of materials as JSON; the same parts give the same bytes.

    Args:
        name: what it is of.
        version: the version of that.
        parts: what is in it.
        day: when it was made.
        license_: the license of the whole's own code.
    """
    listed = sorted(parts, key=lambda part: (part.name.lower(), part.version))
    text = f"{name} {version} " + " ".join(f"{part.name}=={part.version}" for part in listed)
    return (
        json.dumps(
            {
                "bomFormat": "CycloneDX",
                "specVersion": "1.6",
                "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, text)}",
                "version": 1,
                "metadata": {
                    "timestamp": day.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
                    "component": _component(
                        Part(name, version, license_), "application", has_purl=False
                    ),
                },
                "components": [_component(part, "library") for part in listed],
            },
            indent=2,
        )
        + "\n"
    )


def _reference(part: Part) -> str:
    """Return the package URL of a part."""
    name = re.sub(r"[-_.]+", "-", part.name).lower() if part.index == "pypi" else part.name
    return f"pkg:{part.index}/{name}@{quote(part.version, safe='')}"


def _component(part: Part, kind: str, *, has_purl: bool = True) -> dict[str, object]:
    reference = _reference(part)
    made: dict[str, object] = {
        "type": kind,
        "bom-ref": reference,
        "name": part.name,
        "version": part.version,
    }
    if part.hashes:
        made["hashes"] = [{"alg": "SHA-256", "content": each} for each in part.hashes]
    if part.license:
        made["licenses"] = [{"license": {"name": part.license}}]
    if has_purl:
        made["purl"] = reference
    return made


def copyright_of(name: str, own_license: str, parts: Sequence[Part]) -> str:
    """Return a Debian copyright file that names the license of each part.

    Args:
        name: the Debian package.
        own_license: the text of the license of its own code.
        parts: what else is inside.
    """
    sections = [
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
        f"Upstream-Name: {name}\n"
        "Comment: The program carries Python, Qt, Python packages and libraries of the system.\n"
        f" Their licenses, as their makers wrote them, are in /usr/share/doc/{name}/licenses, a\n"
        " folder each; those that many share are in /usr/share/common-licenses, too.",
        f"Files: *\nCopyright: The Prompt Studio authors\nLicense: Expat\n{_indented(own_license)}",
        "Files: usr/lib/prompt-studio/_internal/libpython*\n"
        "Copyright: Python Software Foundation\nLicense: PSF-2.0",
    ]
    for part in parts:
        sections.append(
            f"Files: {_place(part)}\n"
            f"Copyright: {_one_line(part.author) or f'the authors of {part.name}'}\n"
            f"License: {_one_line(part.license) or 'see-licenses'}\n"
            f"Comment: {part.name} {part.version}"
        )
    return "\n\n".join(sections) + "\n"


def _place(part: Part) -> str:
    return f"usr/share/doc/prompt-studio/licenses/{part.name}/*"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _indented(text: str) -> str:
    return "\n".join(f" {line}" if line else " ." for line in text.strip().splitlines())


def copy_licenses(folder: Path, parts: Iterable[Part]) -> None:
    """Put the files of licenses of each part into a folder of its name."""
    for part in parts:
        place = folder / part.name
        place.mkdir(parents=True, exist_ok=True)
        said = f"{part.name} {part.version}\nLicense: {part.license or 'not said'}\n"
        (place / "PACKAGE").write_text(said, encoding="utf-8")
        for number, path in enumerate(part.files):
            if path.is_file():
                shutil.copyfile(
                    path, place / (path.name if number == 0 else f"{number}-{path.name}")
                )
