"""Which files are experiments, by their names alone."""

from pathlib import Path

SUFFIXES = (".experiment.yaml", ".experiment.yml")
"""Endings of experiment files."""


def is_experiment(path: Path | str) -> bool:
    """Return whether a file's name is one of experiments, or a promptfoo configuration."""
    name = Path(path).name.lower()
    return name.endswith(SUFFIXES) or name in ("promptfooconfig.yaml", "promptfooconfig.yml")
