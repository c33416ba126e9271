"""OTLP's protobuf as OTLP's JSON: the fields of traces that are read, by their numbers.

Source: opentelemetry-proto 1.x, `trace/v1/trace.proto` and `common/v1/common.proto`, whose numbers
are stable.
"""

import json
import struct
from collections.abc import Iterator, Mapping

from studio.core.text.values import Json

_FIELDS: Mapping[str, Mapping[int, tuple[str, str]]] = {
    "Request": {1: ("resourceSpans", "ResourceSpans*")},
    "ResourceSpans": {1: ("resource", "Resource"), 2: ("scopeSpans", "ScopeSpans*")},
    "Resource": {1: ("attributes", "KeyValue*")},
    "ScopeSpans": {2: ("spans", "Span*")},
    "Span": {
        1: ("traceId", "hex"),
        2: ("spanId", "hex"),
        4: ("parentSpanId", "hex"),
        5: ("name", "text"),
        7: ("startTimeUnixNano", "number"),
        8: ("endTimeUnixNano", "number"),
        9: ("attributes", "KeyValue*"),
        11: ("events", "Event*"),
        15: ("status", "Status"),
    },
    "Event": {2: ("name", "text"), 3: ("attributes", "KeyValue*")},
    "Status": {2: ("message", "text"), 3: ("code", "number")},
    "KeyValue": {1: ("key", "text"), 2: ("value", "AnyValue")},
    "AnyValue": {
        1: ("stringValue", "text"),
        2: ("boolValue", "bool"),
        3: ("intValue", "signed"),
        4: ("doubleValue", "double"),
        5: ("arrayValue", "ArrayValue"),
        6: ("kvlistValue", "KeyValueList"),
        7: ("bytesValue", "hex"),
    },
    "ArrayValue": {1: ("values", "AnyValue*")},
    "KeyValueList": {1: ("values", "KeyValue*")},
}
"""Message to its fields: number, name in JSON, and kind; `*` is a list."""

_DEEPEST = 60


def traces_of_protobuf(data: bytes) -> str:
    """Return an `ExportTraceServiceRequest` as JSON.

    Raises:
        ValueError: it is none.
    """
    try:
        return json.dumps(_message(data, "Request", 0))
    except (IndexError, struct.error) as error:
        raise ValueError("the protobuf breaks off") from error


def _message(data: bytes, kind: str, depth: int) -> dict[str, Json]:
    if depth > _DEEPEST:
        raise ValueError("the protobuf is nested too deep")
    made: dict[str, Json] = {}
    lists: dict[str, list[Json]] = {}
    for number, value in _fields(data):
        name, what = _FIELDS[kind].get(number, ("", ""))
        if not name:
            continue
        if what.endswith("*") and isinstance(value, bytes):
            lists.setdefault(name, []).append(_message(value, what[:-1], depth + 1))
        else:
            made[name] = _value(value, what, depth)
    return {**made, **lists}


def _value(value: int | bytes, what: str, depth: int) -> Json:
    match what, value:
        case "text", bytes():
            return value.decode("utf-8", "replace")
        case "hex", bytes():
            return value.hex()
        case "number", int():
            return value
        case "bool", int():
            return bool(value)
        case "signed", int():
            return value - 2**64 if value >= 2**63 else value
        case "double", int():
            (number,) = struct.unpack("<d", struct.pack("<Q", value))
            return float(number) if abs(number) < float("inf") else str(number)
        case _, bytes() if what in _FIELDS:
            return _message(value, what, depth + 1)
        case _:
            raise ValueError("the protobuf is of other messages")


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield numbers and values of fields, as protobuf's encoding has them."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        match key & 7:
            case 0:
                value, at = _varint(data, at)
                yield key >> 3, value
            case 1:
                yield key >> 3, struct.unpack_from("<Q", data, at)[0]
                at += 8
            case 5:
                yield key >> 3, struct.unpack_from("<I", data, at)[0]
                at += 4
            case 2:
                length, at = _varint(data, at)
                if at + length > len(data):
                    raise IndexError
                yield key >> 3, data[at : at + length]
                at += length
            case _:
                raise ValueError("the protobuf is of other messages")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & (2**64 - 1), at
    raise ValueError("the protobuf holds a number without an end")
