"""Runs in the environment of `opentelemetry-proto`: reads OTLP JSON, and says what it lost.

A field that the protocol does not know is refused. Ids are hex in OTLP's JSON, where protobuf's own
has base64.
"""

import base64
import json
import sys
from pathlib import Path

from google.protobuf.json_format import MessageToDict, Parse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

_IDS = {"traceId": 16, "spanId": 8, "parentSpanId": 8}


def in_base64(value, name=""):
    """The same, with its ids as protobuf's JSON writes them."""
    if isinstance(value, dict):
        return {key: in_base64(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [in_base64(inner) for inner in value]
    if name in _IDS:
        id_bytes = bytes.fromhex(value)
        assert len(id_bytes) == _IDS[name], (name, value)
        return base64.b64encode(id_bytes).decode()
    return value


for path in map(Path, sys.argv[1:]):
    written = in_base64(json.loads(path.read_text(encoding="utf-8")))
    read = Parse(json.dumps(written), ExportTraceServiceRequest())
    again = ExportTraceServiceRequest.FromString(read.SerializeToString())
    told = MessageToDict(again, use_integers_for_enums=True)
    assert told == written, f"{path.name}: {told} is not {written}"
    spans = told["resourceSpans"][0]["scopeSpans"][0]["spans"]
    print(f"{path.name}: {len(spans)} spans")
