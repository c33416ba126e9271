"""Whole files that the fuzzing of files begins with: one of each format that is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from studio.core.prompty.yaml.reader import read_yaml

_ROOT = Path(__file__).resolve().parents[2]

_SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "string", "enum": ["x", "y"]}, "b": {"type": ["array", "null"]}},
    "required": ["a"],
}
_TOOL = {"type": "function", "function": {"name": "f", "description": "d", "parameters": _SCHEMA}}
_CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
_CHAT = {
    "model": "m",
    "temperature": 0,
    "stop": ["X"],
    "messages": [
        {"role": "system", "content": "S"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "T {{x}}"},
                {"type": "image_url", "image_url": {"url": "http://h/a.png", "detail": "low"}},
                {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
            ],
        },
        {"role": "assistant", "content": None, "tool_calls": [_CALL]},
        {"role": "tool", "tool_call_id": "1", "content": "42"},
    ],
    "tools": [_TOOL, {"type": "custom", "custom": {"name": "g"}}],
    "response_format": {"type": "json_schema", "json_schema": {"name": "o", "schema": _SCHEMA}},
}
_ANTHROPIC = {
    "model": "c",
    "max_tokens": 9,
    "system": [{"type": "text", "text": "S", "cache_control": {"type": "ephemeral"}}],
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "document", "source": {"type": "url", "url": "u"}, "title": "T"},
                {"type": "tool_result", "tool_use_id": "1", "content": [{"text": "4"}]},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "h"},
                {"type": "tool_use", "id": "1", "name": "f", "input": {"a": 1}},
            ],
        },
    ],
    "tools": [
        {"name": "f", "input_schema": _SCHEMA},
        {"type": "web_search_20250305", "name": "web_search"},
    ],
    "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
    "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": _SCHEMA}},
}
_RESPONSES = {
    "model": "m",
    "instructions": "S",
    "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "T"}]},
        {"type": "reasoning", "id": "r", "summary": []},
        {"role": "assistant", "content": [{"type": "output_text", "text": "A"}]},
        {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "1", "output": "42"},
    ],
    "tools": [{"type": "function", "name": "f", "parameters": _SCHEMA, "strict": True}],
    "reasoning": {"effort": "low"},
    "text": {"format": {"type": "json_schema", "schema": _SCHEMA}},
}
_LANGFUSE = {
    "name": "n",
    "type": "chat",
    "prompt": [
        {"role": "system", "content": "Hi {{ a }}"},
        {"type": "placeholder", "name": "talk"},
    ],
    "config": {"model": "m", "max_tokens": 9, "tools": [_TOOL], "response_format": {"type": "x"}},
    "labels": ["l"],
}
_STORED = {
    "object": "eval",
    "name": "n",
    "testing_criteria": [{"type": "x"}],
    "runs": [
        {
            "data_source": {
                "input_messages": {
                    "template": [
                        {"role": "user", "content": {"type": "input_text", "text": "{{a}}"}}
                    ]
                },
                "source": {"content": [{"item": {"a": 1}}]},
                "sampling_params": {"temperature": 0},
            }
        }
    ],
}
_CHATGPT = [
    {
        "title": "t",
        "current_node": "b",
        "mapping": {
            "a": {"message": {"author": {"role": "user"}, "content": {"parts": ["Hi"]}}},
            "b": {
                "parent": "a",
                "message": {
                    "author": {"role": "assistant"},
                    "content": {"parts": ["Ho", {"x": 1}]},
                },
            },
        },
    }
]
_PROMPTFOO = {
    "description": "d",
    "prompts": ["Hi {{a}}", {"raw": "Ho", "label": "l"}, "file://a.txt", "*.txt"],
    "providers": [{"id": "openai:chat:m", "config": {"temperature": 0, "tools": [_TOOL]}}, "b:c"],
    "defaultTest": {"vars": {"a": "x"}, "options": {"disableVarExpansion": True}},
    "tests": [
        {"vars": {"a": ["x", "y"]}, "assert": [{"type": "contains", "value": "x"}]},
        "file://tests.csv",
    ],
    "scenarios": [{"config": [{"vars": {"a": 1}}], "tests": [{"vars": {"b": 2}}]}],
}
_TEMPLATE = {"_type": "prompt", "template": "Hi {a}", "input_variables": ["a"]}
_LC = {
    "lc": 1,
    "type": "constructor",
    "id": ["langchain", "prompts", "chat", "ChatPromptTemplate"],
    "kwargs": {
        "messages": [
            {
                "lc": 1,
                "type": "constructor",
                "id": ["x", "HumanMessagePromptTemplate"],
                "kwargs": {
                    "prompt": {
                        "lc": 1,
                        "id": ["x", "PromptTemplate"],
                        "kwargs": {"template": "Hi {a}", "template_format": "f-string"},
                    }
                },
            },
            {"lc": 1, "id": ["x", "MessagesPlaceholder"], "kwargs": {"variable_name": "talk"}},
            {"lc": 1, "id": ["x", "AIMessage"], "kwargs": {"content": "x", "tool_calls": [_CALL]}},
            ["system", "S"],
        ],
        "partial_variables": {"a": "x"},
    },
}
_AGENT = {
    "kind": "prompt",
    "name": "n",
    "model": {"id": "m", "provider": "OpenAI", "apiType": "Chat", "connection": {"kind": "key"}},
    "inputSchema": {"strict": False, "properties": {"a": {"kind": "string", "default": "x"}}},
    "outputSchema": {"properties": [{"name": "o", "kind": "string"}]},
    "tools": [
        {
            "name": "f",
            "kind": "function",
            "parameters": {"properties": [{"name": "q", "kind": "string"}]},
            "bindings": [{"name": "q", "input": "a"}],
        }
    ],
    "template": {"format": "mustache", "parser": "prompty"},
    "instructions": "system:\nHi {{a}}\n",
    "additionalInstructions": "more",
}
_DOTPROMPT = """---
model: googleai/gemini
config: {temperature: 0.4, stopSequences: [x]}
input:
  schema:
    {name: string, "tags(array, words)": string, "mood(enum)": [a, b], "o?(object)": {p: integer}}
  default: {name: Ann}
output: {format: json, schema: {answer: string}}
---
{{role "system"}}
Help {{name}}.{{#if age}} They are {{age}}.{{else}} Unknown.{{/if}}
{{#each tags}}{{@index}}: {{this}} {{../name}} {{media url=this}}{{/each}}{{tags.length}}
{{#unless age}}No.{{/unless}}{{history}}{{role "user"}}{{json tags}} {{>footer a=name b="c"}}
"""
_SCRIPT = '''"""Made by Prompt Studio."""
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
MESSAGES = [
    ("system", "Hi {who}."),
    MessagesPlaceholder("talk", optional=True),
    AIMessage(content="x", tool_calls=[{"id": "1", "name": "f", "args": {}}]),
]
prompt = ChatPromptTemplate(MESSAGES, template_format="f-string").partial(**{"who": "Ann"})
TOOLS = [{"type": "function", "function": {"name": "f"}}]
OPTIONS = {"temperature": 0.2}
'''
_CURL = """curl https://h/v1/chat/completions -H 'Content-Type: application/json' \\
  -d '{"model": "m", "messages": [{"role": "user", "content": "Hi"}]}'
"""

IMPORTS: tuple[tuple[str, Any], ...] = (
    ("json", _CHAT),
    ("json", _ANTHROPIC),
    ("json", _RESPONSES),
    ("json", _LANGFUSE),
    ("json", _STORED),
    ("json", _CHATGPT),
    ("yaml", _PROMPTFOO),
    ("json", _LC),
    ("json", _TEMPLATE),
    (
        "json",
        {**_TEMPLATE, "_type": "few_shot", "examples": [{"a": 1}], "example_prompt": _TEMPLATE},
    ),
    ("yaml", {"_type": "chat", "messages": [{"type": "human", "prompt": _TEMPLATE}]}),
    ("yaml", _AGENT),
    ("json", {"template": _AGENT, "parameters": {"a": {"kind": "string"}}}),
    (
        "jsonl",
        {"conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Ho"}]},
    ),
    ("jsonl", {"input": {"messages": _CHAT["messages"]}, "preferred_output": [{"role": "user"}]}),
    ("prompt", _DOTPROMPT),
    ("py", _SCRIPT),
    ("sh", _CURL),
    ("txt", "## User\nHi {{x}}\n\n## Assistant\nHo\n"),
    ("txt", "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHo<|im_end|>\n"),
    ("md", "# A\n\n## Messages\n\n### 1. user\n\n````text\nHi\n````\n\n````json call\n{}\n````\n"),
    (
        "prompty",
        "---\nmodel:\n  api: chat\n  configuration: {type: openai}\n---\nsystem:\nHi {{x}}\n",
    ),
)
"""Ending and content of each: a value, or a text."""

_REFUNDS = (_ROOT / "resources/examples/refunds.experiment.yaml").read_text(encoding="utf-8")

EXPERIMENTS: tuple[Any, ...] = (
    _REFUNDS,
    read_yaml(_REFUNDS).value,
    {
        **_PROMPTFOO,
        "variants": [{"prompt": "a", "provider": "b", "edit": {"user": "x"}}],
        "grid": {"prompts": ["a"], "exclude": [{"provider": "b"}]},
        "evaluateOptions": {"repeat": 3, "maxConcurrency": 2, "delay": 1},
        "passRule": {"runs": 2},
        "gates": {"pass_rate": 0.9, "cost": 1},
        "budget": {"cost": 1, "tokens": 5},
        "mocks": {"f": ["a", {"error": "x"}]},
        "keep": {"days": 3},
        "baseline": "x",
        "tags": ["a"],
        "assertionTemplates": {"t": {"type": "equals", "value": "x"}},
    },
)
"""Contents of experiment files: a value, or a text."""
