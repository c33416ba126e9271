"""An agent under the tracing of one maker: `python trace_emitter.py MAKER MODEL TRACES OUT`.

Run in the environment `emitters`. It asks the server MODEL; spans of OTLP go to TRACES, LangSmith's
runs into the file OUT as its client would send them.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import openai

MAKER, MODEL, TRACES, OUT = sys.argv[1:]
SCHEMA = {"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"]}
FUNCTION = {"name": "stock", "description": "Stock of an item.", "parameters": SCHEMA}


def agent(client: Any, stock: Any) -> str:
    """Ask until there is an answer."""
    messages: list[Any] = [
        {"role": "system", "content": "You sell."},
        {"role": "user", "content": "Two lamps? Ü"},
    ]
    tools = [{"type": "function", "function": FUNCTION}]
    while True:
        asked = {"model": "m", "messages": messages, "tools": tools, "temperature": 0.5}
        message = client.chat.completions.create(**asked).choices[0].message
        if not message.tool_calls:
            return str(message.content)
        messages.append(message.model_dump(include={"role", "content", "tool_calls"}))
        for call in message.tool_calls:
            text = stock(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": text})


def openai_client(kind: Any = openai) -> Any:
    """The SDK of the maker's choice, at the scripted server."""
    return kind.OpenAI(base_url=f"{MODEL}/v1", api_key="k", max_retries=0)


def provider() -> Any:
    """OpenTelemetry, which sends each span as it ends."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor

    made = TracerProvider()
    made.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter()))
    return made


def openinference() -> None:
    """Trace with Arize's instrumentation."""
    from openinference.instrumentation import OITracer, TraceConfig
    from openinference.instrumentation.openai import OpenAIInstrumentor

    traces = provider()
    OpenAIInstrumentor().instrument(tracer_provider=traces)
    tracer = OITracer(traces.get_tracer("shop"), config=TraceConfig())

    @tracer.tool
    def stock(item: str) -> str:
        return f"{item}: 7"

    tracer.agent(name="Seller")(lambda: agent(openai_client(), stock))()


def openllmetry() -> None:
    """Trace with Traceloop's instrumentation, and the conventions' names for the rest."""
    from opentelemetry.instrumentation.openai import OpenAIInstrumentor

    traces = provider()
    OpenAIInstrumentor().instrument(tracer_provider=traces)
    tracer = traces.get_tracer("shop")

    def stock(item: str) -> str:
        names = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "stock"}
        names["gen_ai.tool.call.arguments"] = json.dumps({"item": item})
        names["gen_ai.tool.call.result"] = f"{item}: 7"
        with tracer.start_as_current_span("execute_tool stock", attributes=names):
            return f"{item}: 7"

    names = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "Seller"}
    with tracer.start_as_current_span("invoke_agent Seller", attributes=names):
        agent(openai_client(), stock)


def langfuse() -> None:
    """Trace with Langfuse's SDK."""
    import langfuse.openai as wrapped
    from langfuse import get_client, observe

    @observe(as_type="tool")
    def stock(item: str) -> str:
        return f"{item}: 7"

    @observe(as_type="agent", name="Seller")
    def run() -> str:
        return agent(openai_client(wrapped.openai), stock)

    run()
    get_client().flush()


def langsmith() -> None:
    """Trace with LangSmith's SDK; its client keeps the runs instead of sending them."""
    from langsmith import Client, traceable
    from langsmith.run_helpers import tracing_context
    from langsmith.wrappers import wrap_openai

    runs: dict[str, dict[str, Any]] = {}

    class Kept(Client):
        def create_run(self, name: str, inputs: Any, run_type: str, **more: Any) -> None:
            made = {"name": name, "inputs": inputs, "run_type": run_type, **more}
            runs[str(more["id"])] = json.loads(json.dumps(made, default=str))

        def update_run(self, run_id: Any, **more: Any) -> None:
            runs[str(run_id)] |= {
                key: value
                for key, value in json.loads(json.dumps(more, default=str)).items()
                if value is not None
            }

    @traceable(run_type="tool")
    def stock(item: str) -> str:
        return f"{item}: 7"

    @traceable(run_type="chain", name="Seller")
    def run() -> str:
        return agent(wrap_openai(openai_client()), stock)

    with tracing_context(enabled=True, client=Kept(api_url=MODEL, api_key="k")):
        run()
    lines = "".join(f"{json.dumps(each)}\n" for each in runs.values())
    Path(OUT).write_text(lines, encoding="utf-8")


os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = TRACES
os.environ |= {"LANGFUSE_BASE_URL": TRACES, "LANGFUSE_HOST": TRACES}
os.environ |= {"LANGFUSE_PUBLIC_KEY": "pk-lf-1", "LANGFUSE_SECRET_KEY": "sk-lf-1"}
MAKERS = {
    "openinference": openinference,
    "openllmetry": openllmetry,
    "langfuse": langfuse,
    "langsmith": langsmith,
}
MAKERS[MAKER]()
