"""The keys of an experiment file: the one definition behind completion, hover and the schema.

Run as `python -m studio.core.experiments.file.keys [FILE]` it writes the JSON schema for other
editors.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import get_args

from studio.core.experiments.file.assertions import TYPES
from studio.core.experiments.values import KeepRule
from studio.core.models.base import ProtocolName
from studio.core.prompty.front.schema import json_schema, read_shapes

SHAPES = read_shapes(
    "experiment.keys",
    keep=get_args(KeepRule),
    protocols=get_args(ProtocolName),
    assertions=(*TYPES, *(f"not-{each}" for each in TYPES if each != "assert-set")),
)
"""Every mapping of an experiment file with its keys."""


def key_names(shape: str) -> tuple[str, ...]:
    """The keys of a mapping, by the name of its shape."""
    return tuple(key.name for key in SHAPES[shape])


def main(arguments: list[str]) -> int:
    """Write the schema to the named file, or to `resources/schema/experiment.schema.json`."""
    from studio.core.paths import resource

    target = Path(arguments[0]) if arguments else resource("schema", "experiment.schema.json")
    text = json.dumps(json_schema(SHAPES, "An experiment"), indent=2, ensure_ascii=False)
    target.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
