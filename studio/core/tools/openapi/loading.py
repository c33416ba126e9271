"""From the text of a description to its values: JSON or YAML, of any size met in practice."""

from __future__ import annotations

import json
from collections.abc import Mapping

from studio.core.prompty.yaml.plain import YamlTextError, read_plain_yaml
from studio.core.text.foreign_json import JsonBoundError, parse_json
from studio.core.text.values import Json
from studio.core.tools.openapi.choice import OperationChoice, chosen
from studio.core.tools.openapi.description import read_description
from studio.core.tools.openapi.operation import Description, OpenApiError

LONGEST_DESCRIPTION = 64 * 1024 * 1024
"""Bytes of a description that are read. GitHub's has 13 million."""


def load_description(
    text: str, source: str, choice: OperationChoice, variables: Mapping[str, str]
) -> Description:
    """Read a description; takes seconds for a large one, so call it in a thread.

    Args:
        text: JSON or YAML.
        source: what its tools are said to come from.
        choice: the operations that are wanted.
        variables: values of variables in its servers' addresses.

    Raises:
        OpenApiError: it is none; says what is wrong and where.
    """
    return chosen(read_description(_values(text), source, variables), choice)


def _values(text: str) -> Json:
    text = text.removeprefix("\ufeff")
    if text.lstrip()[:1] in ("{", "["):
        try:
            return parse_json(text)
        except JsonBoundError as error:
            raise OpenApiError(f"its JSON cannot be used: {error}") from error
        except json.JSONDecodeError as json_error:
            try:
                return read_plain_yaml(text)  # YAML that begins with a bracket
            except YamlTextError:
                place = f"line {json_error.lineno}, column {json_error.colno}"
                raise OpenApiError(f"it is no JSON: {json_error.msg} ({place})") from json_error
    try:
        return read_plain_yaml(text)
    except YamlTextError as error:
        raise OpenApiError(f"it is no YAML: {error}") from error
