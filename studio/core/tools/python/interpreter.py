"""Choose the Python for a file of tools: the prompt's, the project's, or the studio's.

No program is started to find it.
"""

import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import studio
from studio.core.text.files import open_regular

_FOLDERS = (".venv", "venv")
_PROJECT = ("pyproject.toml", ".git", "setup.py", "requirements.txt", "uv.lock", "Pipfile")
"""Files at the root of a project; environments above it are not searched."""

_MOST_LEVELS = 8
_SCRIPT_HEADER = re.compile(rb"^# /// script[ \t]*\r?$", re.MULTILINE)
_HEAD_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Interpreter:
    """The interpreter for a file of tools."""

    path: Path | None = None
    """Path of the program; None for the studio's own Python."""

    environment: Path | None = None
    """Folder of its virtual environment; None if it has none."""

    problem: str = ""
    """Reason why the prompt's interpreter cannot be used; empty if it can."""

    is_script: bool = False
    """Whether the file lists its packages (PEP 723) and `uv` creates its environment."""

    @property
    def words(self) -> str:
        """Description for the user."""
        return str(self.path) if self.path is not None else f"the studio's own ({sys.executable})"

    def variables(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return the environment variables for its processes, with its environment activated."""
        made = dict(given)
        if self.path is None:
            return made
        if getattr(sys, "frozen", False):
            # The frozen program's own variables point to its own libraries.
            before = os.environ.get("LD_LIBRARY_PATH_ORIG")
            made.pop("LD_LIBRARY_PATH", None)
            made |= {"LD_LIBRARY_PATH": before} if before else {}
        made.pop("VIRTUAL_ENV", None)
        if self.environment is not None:
            made["VIRTUAL_ENV"] = str(self.environment)
            made["PATH"] = os.pathsep.join([str(self.path.parent), made.get("PATH", "")])
        return made


def find_interpreter(file: Path, named: str = "") -> Interpreter:
    """Return the Python for a file.

    Args:
        file: the tool file.
        named: the prompt's program or environment folder, as a path resolved by the caller, or the
            bare name of a program; empty for none.
    """
    if named:
        return _named(named)
    if _names_its_packages(file):
        uv = shutil.which("uv")
        if uv is not None:
            return Interpreter(Path(uv), is_script=True)
    for folder in project_folders(file):
        for name in _FOLDERS:
            found = _of_environment(os.path.join(folder, name))
            if found is not None:
                return found
    return Interpreter()


def missing_package_hint(file: Path, interpreter: Interpreter) -> str:
    """Return advice about a missing package."""
    if interpreter.path is not None:
        return f"it runs in {interpreter.words}: install the package there"
    if _names_its_packages(file):
        return "its header names packages (PEP 723): install uv, which creates its environment"
    return (
        "it runs in the studio's own Python: create a .venv beside it, or set "
        "metadata.agent.python to an interpreter"
    )


def _named(named: str) -> Interpreter:
    path = Path(named)
    if path.is_dir():
        found = _of_environment(named)
        if found is not None:
            return found
        return Interpreter(problem=f"metadata.agent.python: {named} is not a virtual environment")
    if path.is_file() and os.access(path, os.X_OK):
        home = path.parent.parent
        return Interpreter(path, home if (home / "pyvenv.cfg").is_file() else None)
    program = shutil.which(named) if path.name == named else None
    if program is not None:
        return Interpreter(Path(program))
    return Interpreter(problem=f"metadata.agent.python: there is no program {named}")


def _of_environment(place: str) -> Interpreter | None:
    if not os.path.isfile(os.path.join(place, "pyvenv.cfg")):
        return None
    folder = Path(place)
    for name in ("bin/python", "bin/python3", "Scripts/python.exe"):
        if (folder / name).is_file():
            return Interpreter(folder / name, folder)
    return None


def project_folders(file: Path) -> Iterator[str]:
    """Yield the file's folder and its parents up to the root of its project, if it has one.

    They are texts, since paths take five times as long.
    """
    folder = os.path.dirname(file)
    folders = [folder]
    while len(folders) < _MOST_LEVELS and (folder := os.path.dirname(folder)) != folders[-1]:
        folders.append(folder)
    exists, join = os.path.exists, os.path.join
    tops = (
        place
        for place, folder in enumerate(folders)
        if any(exists(join(folder, mark)) for mark in _PROJECT)
    )
    yield from folders[: next(tops, 0) + 1]


def _names_its_packages(file: Path) -> bool:
    try:
        with open_regular(file) as source:
            return _SCRIPT_HEADER.search(source.read(_HEAD_BYTES)) is not None
    except OSError:
        return False


# The environment variables that a tool file's process inherits: no keys.

_INHERITED = frozenset(
    {
        # Locations of programs and files, and the user.
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "PYTHONPATH", "VIRTUAL_ENV"),
        *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH", "CONDA_PREFIX"),
        *("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"),
        # Language and time zone; also `LC_…`.
        *("LANG", "LANGUAGE", "TZ"),
        # Temporary folders.
        *("TMPDIR", "TMP", "TEMP"),
        # Windows: required by its libraries.
        *("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "OS", "USERNAME"),
        *("USERPROFILE", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA"),
        *("PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432", "COMMONPROGRAMFILES"),
        *("NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE"),
        # Proxies, and trusted certificates.
        *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "NO_PROXY"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
    }
)
"""Variables, in upper case, for every tool file. No keys: of the remaining environment, a tool gets
only what the prompt names and the user allows.
"""


def tool_environment(given: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a tool file: the inherited variables and the given ones.

    Args:
        given: further variables that the user allowed.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if name.upper() in _INHERITED or name.upper().startswith("LC_")
    }
    return {**kept, **(given or {}), "PYTHONUTF8": "1"}


def server_environment() -> dict[str, str]:
    """Return the environment of a child that imports the studio itself."""
    kept = tool_environment()
    package_root = str(Path(studio.__file__).resolve().parent.parent)
    path = kept.get("PYTHONPATH")
    return {**kept, "PYTHONPATH": os.pathsep.join([package_root, *([path] if path else [])])}
