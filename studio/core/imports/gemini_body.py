"""Convert contents, fields and schemas of Gemini's and Ollama's bodies to a thread's form.

Sources: ai.google.dev/api/generate-content, docs.ollama.com/api/chat.
"""

import json
import re
from collections.abc import Iterator

from studio.core.text.values import Json, JsonDict, JsonObject, list_of, object_of, objects_of


def gemini_rows(data: JsonObject) -> Iterator[JsonObject]:
    """Yield the contents of a Gemini body as items of a thread."""
    apart = object_of(gemini_field(data, "systemInstruction"))
    rows: list[JsonObject] = [
        {"role": "system", "parts": [part]} for part in objects_of(apart.get("parts"))
    ]
    unanswered: dict[str, list[str]] = {}
    for item in (*rows, *objects_of(data.get("contents"))):
        role = "assistant" if item.get("role") == "model" else item.get("role", "user")
        content: list[Json] = []
        calls: list[Json] = []
        for part in objects_of(item.get("parts")):
            call = object_of(gemini_field(part, "functionCall"))
            result = object_of(gemini_field(part, "functionResponse"))
            name = str((call or result).get("name", ""))
            if call:
                # An id that the studio's Gemini client generated is not sent back (`wire/gemini`).
                call_id = str(call.get("id") or f"gemini-{name}-{len(unanswered.get(name, ()))}")
                unanswered.setdefault(name, []).append(call_id)
                arguments = json.dumps(call.get("args") or {}, ensure_ascii=False)
                calls.append({"id": call_id, "name": name, "arguments": arguments})
            elif result:
                waits, given = unanswered.get(name, []), str(result.get("id") or "")
                # A client may give the result an id where the call has none.
                own = next((each for each in waits if not given or each.startswith("gemini-")), "")
                call_id = given if given in waits else own or given or f"gemini-{name}"
                unanswered[name] = [each for each in waits if each != call_id]
                answer = object_of(result.get("response"))
                plain = answer.get("result") if set(answer) == {"result"} else None
                text = plain if isinstance(plain, str) else json.dumps(answer, ensure_ascii=False)
                yield {"role": "tool", "tool_call_id": call_id, "content": text}
            elif not part.get("thought"):
                content.append(_part_of_thread(part))
        row: JsonDict = {"role": role, "content": content}
        if content or calls:
            yield row | ({"tool_calls": calls} if calls else {})


_PICTURES = {"iVBOR": "png", "/9j/": "jpeg", "R0lGOD": "gif", "UklGR": "webp"}
"""Prefixes of base64 images, with their types."""


def ollama_rows(data: JsonObject) -> Iterator[JsonObject]:
    """Yield the messages of an Ollama body as items of a thread, with ids for calls."""
    unanswered: list[tuple[str, str]] = []
    for number, item in enumerate(objects_of(data.get("messages"))):
        row: JsonDict = {"role": item.get("role"), "content": item.get("content") or ""}
        if images := list_of(item.get("images")):
            texts: list[Json] = [{"type": "text", "text": row["content"]}] if row["content"] else []
            row["content"] = [*texts, *map(_ollama_image, images)]
        calls: list[Json] = []
        for call in objects_of(item.get("tool_calls")):
            function = object_of(call.get("function"))
            name, call_id = str(function.get("name", "")), f"ollama-{number}-{len(calls)}"
            unanswered.append((name, call_id))
            calls.append({"id": call_id, "name": name, "arguments": function.get("arguments")})
        if calls:
            row["tool_calls"] = calls
        if row["role"] == "tool" and unanswered:
            wanted = item.get("tool_name", item.get("name"))
            found = next((each for each in unanswered if each[0] == wanted), unanswered[0])
            unanswered.remove(found)
            row["tool_call_id"] = found[1]
        yield row


def _ollama_image(data: Json) -> Json:
    kind = next((kind for start, kind in _PICTURES.items() if str(data).startswith(start)), "")
    return {"kind": "image", "value": f"data:image/{kind or 'unknown'};base64,{data}"}


def _part_of_thread(part: JsonObject) -> Json:
    """Return a part in a thread's form; one of an unknown kind is unchanged."""
    if "text" in part:
        return {"type": "text", "text": part["text"]}
    for key, source in (("inlineData", "data"), ("fileData", "fileUri")):
        inner = object_of(gemini_field(part, key))
        value = str(gemini_field(inner, source) or "")
        if value:
            kind = str(gemini_field(inner, "mimeType") or "")
            word = kind.partition("/")[0]
            shape: JsonObject = {"kind": word if word in ("image", "audio", "video") else "file"}
            if key == "inlineData":
                return {**shape, "value": f"data:{kind};base64,{value}"}
            return {**shape, "value": value} | ({"mediaType": kind} if kind else {})
    return part


def gemini_field(item: JsonObject, name: str) -> Json:
    """Return a field by its name in camel case or with underscores (protobuf's JSON)."""
    return item[name] if name in item else item.get(with_underscores(name))


def with_underscores(name: str) -> str:
    """Convert a name in camel case to underscores."""
    return re.sub("[A-Z]", r"_\g<0>", name).lower()


def answer_schema(data: JsonObject) -> Json:
    """Return the schema of the answer in a Gemini body; None without one."""
    config = object_of(gemini_field(data, "generationConfig"))
    for name in ("responseJsonSchema", "responseSchema"):
        if schema := gemini_field(config, name):
            lower_type_names(schema)
            return schema
    return None


def lower_type_names(schema: Json) -> None:
    """Convert the type names of a schema to JSON schema's; Gemini writes `STRING`.

    Changes the schema in place, so that its record of read keys stays complete.
    """
    if isinstance(schema, dict):
        for key, value in dict.items(schema):
            if key == "type" and isinstance(value, str):
                schema[key] = value.lower()
            lower_type_names(value)
    for item in list_of(schema):
        lower_type_names(item)
