"""Whether a body is one of the description: judged by jsonschema, on the description as it is."""

from __future__ import annotations

from typing import Any

from jsonschema import Draft4Validator, Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT4, DRAFT202012

_PLACE = "urn:description"


class BodyJudge:
    """Knows the whole description; its own words are made those of JSON schema."""

    def __init__(self, data: Any) -> None:
        self._data = _plain(data)
        self._is_new = str(data.get("openapi", "")).startswith("3.1")
        kind = DRAFT202012 if self._is_new else DRAFT4
        self._registry: Registry[Any] = Registry().with_resource(
            _PLACE, Resource(contents=self._data, specification=kind)
        )

    def faults(self, path: str, method: str, body: Any) -> list[str]:
        """What of a body is not as the description wants it."""
        schema = self._schema(path, method)
        if schema is None:
            return []
        validator = Draft202012Validator if self._is_new else Draft4Validator
        judge = validator(_placed(schema), registry=self._registry)
        return [f"{each.json_path}: {each.message[:200]}" for each in judge.iter_errors(body)]

    def _schema(self, path: str, method: str) -> Any:
        item = self._data["paths"][path]
        operation = item[method]
        asked = self._followed(operation.get("requestBody"))
        for kind, media in (asked or {}).get("content", {}).items():
            if "json" in kind:
                return media.get("schema")
        for each in (*item.get("parameters", ()), *operation.get("parameters", ())):
            parameter = self._followed(each)
            if parameter.get("in") == "body":
                return parameter.get("schema")
        return None

    def _followed(self, node: Any) -> Any:
        while isinstance(node, dict) and "$ref" in node:
            found = self._data
            for step in node["$ref"].removeprefix("#/").split("/"):
                found = found[step.replace("~1", "/").replace("~0", "~")]
            node = found
        return node


def _placed(node: Any) -> Any:
    """The schema with references that lead into the description."""
    if isinstance(node, list):
        return [_placed(each) for each in node]
    if not isinstance(node, dict):
        return node
    return {
        key: f"{_PLACE}{value}" if key == "$ref" and isinstance(value, str) else _placed(value)
        for key, value in node.items()
    }


def _plain(node: Any) -> Any:
    """`nullable` and `readOnly` in words of JSON schema."""
    if isinstance(node, list):
        return [_plain(each) for each in node]
    if not isinstance(node, dict):
        return node
    made = {key: _plain(value) for key, value in node.items()}
    properties, required = made.get("properties"), made.get("required")
    if isinstance(properties, dict) and isinstance(required, list):
        made["required"] = [
            name
            for name in required
            if not (isinstance(properties.get(name), dict) and properties[name].get("readOnly"))
        ]
        if not made["required"]:
            del made["required"]
    if node.get("nullable") is True or node.get("x-nullable") is True:
        return {"anyOf": [{"type": "null"}, made]}
    return made
