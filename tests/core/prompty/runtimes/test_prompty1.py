"""Each rule that stands for Prompty 1's runtime is asked of `prompty` 0.1.50, where it is built."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from studio.core.prompty.convert.whole import convert
from studio.core.prompty.document import MediaPart, TextPart
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import prepare
from studio.core.prompty.reference_values import references_beside
from studio.core.prompty.runtimes.prompty1 import RuntimeRefusal, prepare_as_runtime
from tests.interop.environments import python_of
from tests.support import patience

PYTHON = python_of("prompty1")
MODEL = "model: {api: chat}\n"

FILES = {
    "plain": f"---\nname: x\n{MODEL}---\nsystem:\nHi\nuser:\nHo\n",
    "no front matter": "system:\nHi\n",
    "unknown key": f"---\nname: x\nmetadata: {{a: 1}}\n{MODEL}---\nsystem:\nHi\n",
    "unknown key of the model": "---\nmodel: {api: chat, id: m}\n---\nsystem:\nHi\n",
    "model id": "---\nmodel: m\n---\nsystem:\nHi\n",
    "input": (
        f"---\n{MODEL}inputs: {{a: {{type: string}}}}\nsample: {{a: b}}\n---\nsystem:\n{{{{a}}}}\n"
    ),
    "input with a sample": (
        f"---\n{MODEL}inputs: {{a: {{type: string, sample: b}}}}\n---\nsystem:\nHi\n"
    ),
    "short input": f"---\n{MODEL}inputs: {{a: b}}\n---\nsystem:\nHi\n",
    "input without type": f"---\n{MODEL}inputs: {{a: {{description: b}}}}\n---\nsystem:\nHi\n",
    "list of inputs": f"---\n{MODEL}inputs:\n- name: a\n---\nsystem:\nHi\n",
    "output with items": (
        f"---\n{MODEL}outputs: {{a: {{type: array, items: {{}}}}}}\n---\nsystem:\nHi\n"
    ),
    "template block": (
        f"---\n{MODEL}template: {{type: jinja2, parser: prompty}}\n---\nsystem:\nHi\n"
    ),
    "template with format": f"---\n{MODEL}template: {{format: jinja2}}\n---\nsystem:\nHi\n",
    "bare reference": (
        "---\nmodel: {api: chat, configuration: {name: '${NAME}'}}\n---\nsystem:\nHi\n"
    ),
    "reference in capitals": "---\nname: ${ENV:NAME}\nmodel: {api: chat}\n---\nsystem:\nHi\n",
    "text from a file": f"---\ndescription: ${{file:a.txt}}\n{MODEL}---\nsystem:\nHi\n",
    "text before": f"---\n{MODEL}---\nIntro\nuser:\nHi\n",
    "function": f"---\n{MODEL}---\nsystem:\nHi\nfunction:\nx\n",
    "developer and tool": f"---\n{MODEL}---\nsystem:\nHi\ndeveloper:\na\ntool:\nb\n",
    "empty last section": f"---\n{MODEL}---\nsystem:\nHi\nuser:\n\n",
    "empty first section": f"---\n{MODEL}---\nsystem:\n\nuser:\nHi\n",
    "blanks": f"---\n{MODEL}---\nsystem:\n  Hi  \n\n  # User :\n\n  Ho\n\n",
    "values": (
        f"---\n{MODEL}sample: {{a: true, b: [1], c: 2.0}}\n---\nsystem:\n"
        "{{a}} {{b}} {{c}}\n"
    ),
    "blanks around samples": (
        f"---\n{MODEL}sample:\n  a: |\n    one\n    two\n  b: ['  c ', {{d: ' e '}}]\n---\n"
        "system:\n[{{ a }}] {{ b[0] }}{{ b[1].d }}.\n"
    ),
    "injection": f'---\n{MODEL}sample: {{a: "b\\nuser:\\nc"}}\n---\nsystem:\n{{{{a}}}}\n',
    "image": f"---\n{MODEL}---\nuser:\nLook ![one](https://a.b/c.png) here\n",
    "thread": f"---\n{MODEL}---\nuser:\nHi\n\n![thread]\n",
    "dashes": f"---\nname: a --- b\n{MODEL}---\nsystem:\nHi\n",
    "samples in a file": f"---\n{MODEL}sample: a.json\n---\nsystem:\n{{{{a}}}}\n",
    "samples by a reference": f"---\n{MODEL}sample: ${{file:a.json}}\n---\nsystem:\n{{{{a}}}}\n",
    "own api": "---\nmodel: {api: openai}\n---\nsystem:\nHi\n",
    "own template language": f"---\n{MODEL}template: fake\n---\nsystem:\nHi\n",
    "byte order mark": f"\ufeff---\n{MODEL}---\nsystem:\nHi\n",
    "include": f"---\n{MODEL}---\nsystem:\n{{% include 'a' %}}\n",
}

SCRIPT = """
import json, sys, prompty
found = {}
for path in json.load(sys.stdin):
    try:
        made = prompty.prepare(prompty.load(path))
        found[path] = [[m["role"], m["content"]] for m in made]
    except Exception as error:
        found[path] = f"{type(error).__name__}: {error}"
print(json.dumps(found))
"""


@pytest.mark.skipif(
    PYTHON is None, reason="prompty==0.1.50 is not installed; `make interop` does it"
)
def test_the_rules_are_those_of_the_package(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("text", encoding="utf-8")
    (tmp_path / "a.json").write_text('{"a": "b"}', encoding="utf-8")
    paths = {}
    for index, (name, text) in enumerate(FILES.items()):
        paths[name] = tmp_path / f"{index}.prompty"
        paths[name].write_text(text, encoding="utf-8")
    done = subprocess.run(
        [str(PYTHON), "-I", "-c", SCRIPT],
        input=json.dumps([str(p) for p in paths.values()]),
        capture_output=True,
        text=True,
        check=True,
        timeout=patience.SECONDS,
    )
    theirs = json.loads(done.stdout.strip().rpartition("\n")[2])
    wrong = {
        name: (ours(path), theirs[str(path)])
        for name, path in paths.items()
        if ours(path) != comparable(theirs[str(path)])
    }
    assert not wrong


def comparable(found: object) -> object:
    if not isinstance(found, list):
        return "refused"
    return [[role, _parts(content)] for role, content in found]


def _parts(content: object) -> list[object]:
    if not isinstance(content, list):
        return [content]
    return [p["text"] if p["type"] == "text" else [p["image_url"]["url"]] for p in content]


def ours(path: Path) -> object:
    document = parse(path.read_text(encoding="utf-8"), path)
    prepared = prepare(document, {}, references=references_beside(path, trusted=True))
    try:
        made = prepare_as_runtime(prepared)
    except RuntimeRefusal:
        return "refused"
    return [
        [
            "function" if m.role == "tool" else m.role,
            [
                p.text if isinstance(p, TextPart) else [p.source]
                for p in m.parts
                if isinstance(p, TextPart | MediaPart)
            ],
        ]
        for m in made
    ]


def test_samples_of_prompty_1_have_no_blanks_at_their_ends() -> None:
    document = parse(FILES["blanks around samples"])
    (message,) = prepare(document, {}).messages.messages
    assert message.text == "[one\ntwo] ce."
    assert prepare(document, {"a": " a ", "b": ["c", {"d": ""}]}).inputs["a"] == " a "
    converted = parse(convert(document, "prompty").text)
    assert [item.default for item in converted.inputs] == ["one\ntwo", ["c", {"d": "e"}]]


def test_long_samples_are_no_path_of_a_file() -> None:
    text = f"---\n{MODEL}sample:\n  a: {'long ' * 100}\n---\nsystem:\n{{{{a}}}}\n"
    (message,) = prepare_as_runtime(prepare(parse(text), {}))
    assert message.text == ("long " * 100).strip()
    refused = f"---\n{MODEL}sample: a.json\n---\nsystem:\n{{{{a}}}}\n"
    with pytest.raises(RuntimeRefusal, match="names a file"):
        prepare_as_runtime(prepare(parse(refused), {}))
