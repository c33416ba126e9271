"""Set up everything that Prompt Studio needs, with nothing but Python and pip.

Used by `make run` and `make test`; runs by hand too, on any system:

    python packaging/bootstrap.py          everything to run the studio
    python packaging/bootstrap.py --dev    and everything to test it
    … --newest                             the newest packages instead of the locked ones

It makes `.venv` (`build/newest` for the newest packages), installs the packages that
`packaging/lock` names, by version and hash, and the local model's weights, and on Debian and Ubuntu
the system libraries that the packages load: as root it installs them, otherwise it prints the
command. Done steps are remembered in the environment, so that a second call costs nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCKS = ROOT / "packaging" / "lock"
NEWEST_KNOWN_BAD = (3, 10)

TEST_PROGRAMS = (("Xvfb", "xvfb"), ("openbox", "openbox"), ("xdotool", "xdotool"))


def main() -> int:
    """Do what is missing; return 0 when everything is there."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--dev", action="store_true", help="also what the tests need")
    parser.add_argument("--newest", action="store_true", help="the newest packages, not the lock's")
    arguments = parser.parse_args()
    setup = Setup(dev=arguments.dev, newest=arguments.newest)
    if sys.version_info[:2] <= NEWEST_KNOWN_BAD:
        found = platform.python_version()
        say(f"Prompt Studio needs Python 3.11 or newer; this is {found} ({sys.executable}).")
        return 2
    environment(setup.venv)
    packages(setup)
    return 0 if system_packages(setup) else 1


@dataclass(frozen=True)
class Setup:
    """What is set up, and where."""

    dev: bool
    """Whether the packages of the tests are installed, too."""

    newest: bool
    """Whether the newest packages are installed instead of the locked ones."""

    @property
    def venv(self) -> Path:
        """Return the folder of the environment."""
        return ROOT / "build" / "newest" if self.newest else ROOT / ".venv"

    @property
    def python(self) -> Path:
        """Return the environment's interpreter."""
        return self.venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    def stamp(self, step: str) -> Path:
        """Return the file that says for which sources a step was done."""
        return self.venv / f".{step}{'-dev' if self.dev else ''}"


def say(text: str) -> None:
    """Tell the user one thing."""
    print(text, flush=True)


def run(*command: str | Path) -> None:
    """Run one command to its end, or stop with what failed."""
    words = [str(word) for word in command]
    ended = subprocess.run(words, cwd=ROOT, check=False)
    if ended.returncode:
        say(f"\nThis step failed (exit code {ended.returncode}):\n  {' '.join(words)}")
        sys.exit(1)


def system_packages(setup: Setup) -> bool:
    """See that what was installed finds its system libraries; True when nothing is missing."""
    stamp = setup.stamp("libraries")
    if platform.system() != "Linux" or _is_done(stamp):
        return True
    from libraries import debian_names, missing

    tried: list[str] = []
    while True:
        libraries = list(missing(setup.venv))
        others = [] if has_a_font() else ["fonts-dejavu-core"]
        if setup.dev:
            others += [package for name, package in TEST_PROGRAMS if not shutil.which(name)]
        if not libraries and not others:
            stamp.write_text(wanted(), encoding="utf-8")
            return True
        if not shutil.which("apt-get"):
            say(f"The system lacks {', '.join(libraries + others)}.")
            say(f"On Debian they come with: {' '.join(debian_names(libraries) + others)}")
            return True
        if administrator() is None:
            say("Packages of the system are missing. Install them, then call this again:\n")
            say(f"  sudo apt-get install -y {' '.join(debian_names(libraries) + others)}\n")
            return False
        if tried == libraries + others:
            say(f"Still missing: {', '.join(tried)}")
            return False
        tried = libraries + others  # what these bring may show that more is missing
        if not install_system_packages(libraries, others):
            return False


def administrator() -> list[str] | None:
    """What a command begins with that changes the system; None where that is not for us to do.

    A machine of a CI service belongs to the run and gives `sudo` without a password.
    """
    if os.geteuid() == 0:
        return []
    if os.environ.get("CI") and shutil.which("sudo"):
        asked = subprocess.run(["sudo", "-n", "true"], check=False, capture_output=True)
        return ["sudo", "-n", "--preserve-env=DEBIAN_FRONTEND"] if asked.returncode == 0 else None
    return None


def install_system_packages(libraries: list[str], others: list[str]) -> bool:
    """Install the packages that bring libraries, and others; True where that worked."""
    from libraries import debian_names

    quiet = {
        "stdout": subprocess.DEVNULL,
        "env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
    }
    # Before the names are asked for: a fresh system knows of no package.
    before = administrator() or []
    subprocess.run([*before, "apt-get", "update", "-qq"], check=False, **quiet)
    names = debian_names(libraries) + others
    say(f"Installing {len(names)} packages of the system …")
    command = [*before, "apt-get", "install", "-y", "-qq", "--no-install-recommends", *names]
    if subprocess.run(command, check=False, **quiet).returncode:
        say(f"They could not be installed. By hand:\n  {' '.join(command)}")
        return False
    return True


def has_a_font() -> bool:
    """Whether any font is installed: without one, Qt draws no letter at all."""
    folders = (Path("/usr/share/fonts"), Path("/usr/local/share/fonts"), Path.home() / ".fonts")
    return any(next(folder.rglob("*.[to]tf"), None) for folder in folders if folder.is_dir())


def environment(venv: Path) -> None:
    """Make the virtual environment, where there is none that works."""
    if any((venv / name).exists() for name in ("bin/python", "Scripts/python.exe")):
        return
    say(f"Making the virtual environment {venv.relative_to(ROOT)} …")
    command = [sys.executable, "-m", "venv", str(venv)]
    if subprocess.run(command, cwd=ROOT, check=False, capture_output=True).returncode == 0:
        return
    shutil.rmtree(venv, ignore_errors=True)
    # Debian keeps ensurepip in a package of its own; virtualenv needs only pip.
    say("This Python has no venv; using virtualenv instead …")
    tools = ROOT / "build" / "virtualenv"
    run(sys.executable, "-m", "pip", "install", "-q", "--target", tools, "virtualenv")
    path = {**os.environ, "PYTHONPATH": str(tools)}
    made = subprocess.run(
        [sys.executable, "-m", "virtualenv", "-q", str(venv)], cwd=ROOT, check=False, env=path
    )
    if made.returncode:
        say("No virtual environment could be made; on Debian: apt-get install python3-venv")
        sys.exit(1)


def packages(setup: Setup) -> None:
    """Install the packages and the weights, unless this very set was installed before."""
    stamp = setup.stamp("ready")
    if _is_done(stamp):
        return
    pip = (setup.python, "-m", "pip", "install", "-q", "--disable-pip-version-check")
    say("Installing the packages (a few minutes the first time) …")
    if setup.newest:
        run(*pip, "--upgrade", "pip>=25.1")  # the first that knows groups
        groups = ("--group", "build", "--group", "dev") if setup.dev else ("--group", "build")
        run(*pip, "--upgrade", "-e", ".", *groups)
    else:
        run(*pip, *(locked("dev") if setup.dev else (*locked("run"), *locked("build"))))
        run(*pip, "--no-deps", "--no-build-isolation", "-e", ".")
    run(*pip, "--no-deps", *locked("weights"))
    stamp.write_text(wanted(), encoding="utf-8")


def locked(name: str) -> tuple[str | Path, ...]:
    """Return what pip is given to install one lock, and nothing else."""
    return ("--require-hashes", "-r", LOCKS / f"requirements-{name}.txt")


def wanted() -> str:
    """What an environment was made for; another one is looked at again."""
    here = Path(__file__)
    sources = (ROOT / "pyproject.toml", here, here.with_name("libraries.py"), *LOCKS.glob("*.txt"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(sources))).hexdigest()


def _is_done(stamp: Path) -> bool:
    return stamp.exists() and stamp.read_text(encoding="utf-8") == wanted()


if __name__ == "__main__":
    sys.exit(main())
