"""From the text of a description to its values: JSON or YAML, of any size met in practice."""

from __future__ import annotations

import codecs
import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from studio.core.prompty.yaml.plain import YamlTextError, read_plain_yaml
from studio.core.text.foreign_json import JsonBoundError
from studio.core.text.sliced_json import parse_sliced_json
from studio.core.text.values import Json
from studio.core.tools.openapi.choice import OperationChoice, chosen
from studio.core.tools.openapi.description import read_description
from studio.core.tools.openapi.operation import Description, OpenApiError
from studio.core.tools.openapi.progress import DescriptionReading

LONGEST_DESCRIPTION = 64 * 1024 * 1024
"""Bytes of a description that are read. GitHub's has 13 million."""

_PIECE = 1024 * 1024


def read_text(path: Path) -> str:
    """A description's text, decoded piece by piece: at once, it would hold up the window.

    Raises:
        OSError: it cannot be read.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    with path.open("rb") as file:
        pieces = [decoder.decode(piece) for piece in iter(partial(file.read, _PIECE), b"")]
    return "".join((*pieces, decoder.decode(b"", final=True)))


def load_description(
    text: str,
    source: str,
    choice: OperationChoice,
    variables: Mapping[str, str],
    reading: DescriptionReading | None = None,
) -> Description:
    """Read a description; takes seconds for a large one, so call it in a thread.

    Args:
        text: JSON or YAML.
        source: what its tools are said to come from.
        choice: the operations that are wanted.
        variables: values of variables in its servers' addresses.
        reading: is told how far it is, and may stop it.

    Raises:
        OpenApiError: it is none; says what is wrong and where.
        ReadingStoppedError: it was stopped.
    """
    reading = reading if reading is not None else DescriptionReading(source)
    values = _values(text.removeprefix("\ufeff"), reading)
    return chosen(read_description(values, source, variables, reading.made), choice)


def _values(text: str, reading: DescriptionReading) -> Json:
    whole = len(text)

    def reached(done: int) -> None:
        reading.read(done, whole)

    if text.lstrip()[:1] in ("{", "["):
        try:
            return parse_sliced_json(text, reached)
        except JsonBoundError as error:
            raise OpenApiError(f"its JSON cannot be used: {error}") from error
        except json.JSONDecodeError as json_error:
            try:
                return read_plain_yaml(text, reached)  # YAML that begins with a bracket
            except YamlTextError:
                place = f"line {json_error.lineno}, column {json_error.colno}"
                raise OpenApiError(f"it is no JSON: {json_error.msg} ({place})") from json_error
    try:
        return read_plain_yaml(text, reached)
    except YamlTextError as error:
        raise OpenApiError(f"it is no YAML: {error}") from error
