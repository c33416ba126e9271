"""Recognize experiment files by their names."""

from pathlib import Path

SUFFIXES = (".experiment.yaml", ".experiment.yml")
"""Suffixes of experiment files."""


def is_experiment(path: Path | str) -> bool:
    """Return whether a file's name is that of an experiment or a promptfoo configuration."""
    name = Path(path).name.lower()
    return name.endswith(SUFFIXES) or name in ("promptfooconfig.yaml", "promptfooconfig.yml")
