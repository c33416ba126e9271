"""Reads the public conformance vectors where they are, as the values of this program."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from studio.core.prompty.document import MediaPart, Message, Part, PromptDocument, TextPart
from studio.core.prompty.parse import parse

_CHECKOUT = Path(__file__).resolve().parents[3]


def vector_folder() -> Path:
    """The folder of the vectors; it need not exist."""
    named = os.environ.get("PROMPTY_VECTORS", "../shared/vectors/prompty")
    return (_CHECKOUT / named).resolve()


def load_vectors(name: str) -> list[Any]:
    """The vectors of one stage as test parameters; one skipped test where there are none."""
    path = vector_folder() / f"{name}.json"
    if not path.is_file():
        reason = f"no vectors at {path}: set PROMPTY_VECTORS to their folder"
        return [pytest.param(None, marks=pytest.mark.skip(reason=reason), id="no-vectors")]
    return [
        pytest.param(vector, id=vector["id"])
        for vector in json.loads(path.read_text(encoding="utf-8"))
    ]


def document_of(given: Mapping[str, Any]) -> PromptDocument:
    """The vector's model, tools and outputs, read from a file as a person would write it."""
    front = {
        "name": "vector",
        "model": {
            "id": given["model_id"],
            "provider": given["provider"],
            "apiType": given["apiType"],
            "options": given.get("options") or {},
        },
        "outputs": given.get("outputs") or [],
        "tools": given.get("tools") or [],
        "template": {"format": {"kind": "jinja2"}, "parser": {"kind": "prompty"}},
    }
    return parse(f"---\n{json.dumps(front)}\n---\nuser:\nx\n")


def messages_of(given: Mapping[str, Any]) -> tuple[Message, ...]:
    """The vector's messages."""
    made = []
    for message in given["messages"]:
        content = message.get("content", message.get("parts", []))
        if isinstance(content, str):
            content = [{"kind": "text", "value": content}]
        parts = tuple(_part(part) for part in content)
        made.append(Message(message["role"], parts, message.get("metadata") or {}))
    return tuple(made)


def _part(part: Mapping[str, Any]) -> Part:
    value = part.get("value", part.get("source", ""))
    if part["kind"] == "text":
        return TextPart(value)
    further = {k: v for k, v in part.items() if k not in ("kind", "value", "source")}
    return MediaPart(part["kind"], value, further)
