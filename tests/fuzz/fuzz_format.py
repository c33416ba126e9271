"""Coverage-guided fuzzing of the format engine: `make fuzz`, or

    python tests/fuzz/fuzz_format.py build/fuzz/corpus -max_total_time=1200

Any bytes go the whole way: parse, prepare (preview and run), JSON shapes, request bodies of every
provider, fixes, tidying, conversion, renaming. An exception, a place outside the text, an edit that
does not fit and a stop of two minutes (wall clock, so generous) are findings; libFuzzer writes the
input beside the corpus.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import atheris

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

with atheris.instrument_imports(
    include=["studio.core.text", "studio.core.prompty", "studio.core.wire", "studio.core.tools"]
):
    from studio.core.prompty.convert.whole import convert
    from studio.core.prompty.document import PromptDocument
    from studio.core.prompty.edit.edits import rename_input
    from studio.core.prompty.fmt import tidy_edits
    from studio.core.prompty.parse import parse
    from studio.core.prompty.prepare import Prepared, prepare
    from studio.core.prompty.reference_values import ReferenceContext
    from studio.core.prompty.shapes import messages_to_json, tools_to_json
    from studio.core.text.source import apply_edits
    from studio.core.tools.document import declared_tools
    from studio.core.wire.request import Provider, to_request
    from tests.support.errors import has_errors

VECTORS = Path(os.environ.get("PROMPTY_VECTORS", ROOT.parent / "shared/vectors/prompty"))
LEGACY = Path(os.environ.get("PROMPTY_V1_VECTORS", ROOT.parent / "shared/vectors/prompty-v1"))

WORDS = (
    "---\n",
    "+++\n",
    "name:",
    "model:",
    "  id:",
    "apiType:",
    "connection:",
    "configuration:",
    "parameters:",
    "inputs:",
    "outputs:",
    "kind:",
    "type:",
    "sample:",
    "default:",
    "tools:\n",
    "- id:",
    "options:",
    "bindings:",
    "template:",
    "format:",
    "parser:",
    "prompty",
    "section",
    "jinja2",
    "mustache",
    "fstring",
    "strict: false",
    "metadata:",
    "system:\n",
    "user:\n",
    "assistant:\n",
    "developer:\n",
    "tool[tool_call_id=1]:\n",
    "function:\n",
    "thread[a=b]:\n",
    'user[name="',
    '"]:\n',
    '[type="tool_call"]:\n',
    "![thread]",
    "![image](",
    '![type="',
    "```\n",
    "{{",
    "}}",
    "{%",
    "%}",
    "{#",
    "#}",
    "{{{",
    "{{#",
    "{{/",
    "{{^",
    "{{>",
    "{% for x in a %}",
    "{% endfor %}",
    "{% if a %}",
    "{% else %}",
    "{% endif %}",
    "{% set a = b %}",
    "{% macro f() %}",
    "{% raw %}",
    "|default(",
    "|tojson",
    " is defined",
    "range(",
    "loop.index",
    "${env:",
    "${file:",
    "${params:",
    "&a",
    "*a",
    "<<:",
    "!!",
    "|-\n",
    ">\n",
    "? ",
    "\r\n",
    "\u2028",
    "\ufeff",
    "required: true",
    "enumValues:",
    "properties:",
    "items:",
    "oneOf:",
    "thread",
    "image",
)
HOSTILE: dict[str, Any] = {
    "a": 'x"]:\n\nsystem:\ny\n![image](z)\n```',
    "question": "{{a}} ${env:HOME}\n\nuser:\n",
    "name": "user[a=1]:",
    "input": ["user:\n", None, {"b": 1.5}],
    "thread": [{"role": "user", "content": "z"}, {"role": None, "tool_calls": 5}, 7],
    "history": [{"thought": "t", "action": {"x": []}, "arguments": "{", "observation": ""}],
}
HERE = ReferenceContext(ROOT / "resources" / "examples", environment={"HOME": "system:\n"})
WAYS = tuple((values, preview) for values in ({}, HOSTILE) for preview in (True, False))


def one_input(data: bytes) -> None:
    """Take one text the whole way."""
    text = data.decode("utf-8", "surrogateescape")
    document = parse(text)
    assert document.source.text == text
    check_fixes(document)
    # One of the four ways for each text: the content decides, so that a finding happens again.
    values, preview = WAYS[zlib.crc32(data) % len(WAYS)]
    prepared = prepare(document, values, references=HERE, preview=preview)
    check_places(document, prepared)
    check_requests(prepared)
    check_edits(document)


def check_fixes(document: PromptDocument) -> None:
    """Every fix can be made, and the first one gives a document again."""
    text = document.source.text
    repaired = [apply_edits(text, fix.edits) for item in document.problems for fix in item.fixes]
    if repaired:
        parse(repaired[0])


def check_places(document: PromptDocument, prepared: Prepared) -> None:
    """Every place is inside the text."""
    text = document.source.text
    for problem in (*document.problems, *prepared.problems):
        assert 0 <= problem.span.start <= problem.span.end <= len(text), problem
    for entry in document.entries:
        assert 0 <= entry.key.start <= entry.key.end <= len(text), entry
        assert 0 <= entry.value.start <= entry.value.end <= len(text), entry


def check_requests(prepared: Prepared) -> None:
    """Messages and bodies are JSON."""
    document, messages = prepared.document, prepared.messages
    json.dumps(messages_to_json(messages, document.dialect))
    json.dumps(tools_to_json(messages.tools))
    tools = declared_tools(document, messages.tools)
    for provider in get_args(Provider):
        request = to_request(
            messages.messages, tools, document.model, provider=provider, outputs=document.outputs
        )
        json.dumps(request.body)


def check_edits(document: PromptDocument) -> None:
    """Edits fit the text, and tidying changes no value."""
    text = document.source.text
    tidy = parse(apply_edits(text, tidy_edits(document)))
    # As text, so that a YAML `.nan` equals itself.
    assert json.dumps(tidy.data) == json.dumps(document.data)
    for target in ("prompty", "section"):
        conversion = convert(document, target)
        assert apply_edits(text, conversion.edits) == conversion.text
    for declared in document.inputs[:5]:
        try:
            edits = rename_input(document, declared.name, "other_name")
        except ValueError:
            continue  # the name is taken
        renamed = parse(apply_edits(text, edits))
        assert has_errors(document) or len(renamed.inputs) == len(document.inputs)


def seeds() -> Iterator[bytes]:
    """Whole files and every longer text of the vectors."""
    for folder in (ROOT / "resources/examples", ROOT / "resources/templates", VECTORS, LEGACY):
        for path in sorted(folder.rglob("*.prompty")) if folder.is_dir() else ():
            yield path.read_bytes()
    for path in sorted(VECTORS.glob("*.json")) if VECTORS.is_dir() else ():
        yield from texts_in(json.loads(path.read_text(encoding="utf-8")))
    for path in sorted((ROOT / "tests/core/prompty/cases").glob("*.md")):
        for block in path.read_text(encoding="utf-8").split("````")[1::2]:
            yield block.encode()


def texts_in(value: object) -> Iterator[bytes]:
    """The strings of a JSON value that have more than one line or a template in them."""
    if isinstance(value, str) and ("\n" in value or "{{" in value):
        yield value.encode("utf-8", "surrogatepass")
    for inner in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        yield from texts_in(inner)


def write_seeds(corpus: Path) -> int:
    """Put the seeds and the dictionary on disk; returns how many seeds there are."""
    corpus.mkdir(parents=True, exist_ok=True)
    found = {hashlib.sha1(data).hexdigest(): data for data in seeds()}
    for name, data in found.items():
        (corpus / name).write_bytes(data)
    escaped = ("".join(f"\\x{byte:02x}" for byte in word.encode()) for word in WORDS)
    words = "".join(f'"{word}"\n' for word in escaped)
    (corpus.parent / "words.dict").write_text(words, encoding="ascii")
    return len(found)


def main() -> None:
    """Write the seeds, then let libFuzzer work."""
    corpus = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build/fuzz/corpus"
    if corpus.suffix or corpus.is_file():
        # One finding again, by its file.
        one_input(corpus.read_bytes())
        return
    print(f"{write_seeds(corpus)} seeds in {corpus}")
    options = [
        f"-dict={corpus.parent / 'words.dict'}",
        f"-artifact_prefix={corpus.parent}/",
        "-max_len=4000",
        "-timeout=120",
        "-rss_limit_mb=3000",
        "-print_final_stats=1",
        "-verbosity=1",
    ]
    atheris.Setup([sys.argv[0], str(corpus), *options, *sys.argv[2:]], one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
