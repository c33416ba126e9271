"""Import promptfoo's configuration (YAML): prompts, first provider, and tests as input sets.

Source: promptfoo's configuration reference: `prompts`, `providers`, `tests[].vars`,
`defaultTest.vars`; prompts are Nunjucks, of which the usual part is Jinja.
"""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice, product

from studio.core.imports.compose import OPTION_WORDS, Composition, compose, declare_variables
from studio.core.imports.imported import Imported, ImportFailure, with_unread_keys
from studio.core.imports.promptfoo_parts import (
    FindFiles,
    ReadFile,
    asserted_experiment,
    head_comments,
    messages_of,
    prompts_of,
    template_notes,
)
from studio.core.prompty.document import Message, TextPart
from studio.core.prompty.front.declarations import function_tool
from studio.core.prompty.yaml.reader import plain, read_yaml
from studio.core.text.amounts import counted
from studio.core.text.naming import unique_names
from studio.core.text.values import (
    Json,
    JsonDict,
    JsonObject,
    object_of,
    parse_json,
    reason_of,
    whole_numbers,
)

_MOST_SETS = 100
_PROGRAMS = (".py", ".js", ".ts", ".mjs", ".cjs", ".mts", ".cts")


def is_promptfoo(data: Json) -> bool:
    """Return whether a YAML document is a promptfoo configuration."""
    return isinstance(data, Mapping) and "prompts" in data and "template" not in data


def import_promptfoo(
    text: str, read: ReadFile, choose: int = 0, find: FindFiles = lambda _: ()
) -> Imported:
    """Import one prompt of a configuration.

    Args:
        text: The YAML.
        read: Reads the files of `file://…` prompts.
        find: Returns the files beside the configuration that match a pattern.
        choose: Index of the prompt.

    Raises:
        ImportFailure: it cannot be read, or has no such prompt.
    """
    reading = read_yaml(text)
    data = reading.value
    if not isinstance(data, Mapping) or reading.broken:
        words = reading.problems[0].message.removeprefix("Invalid frontmatter: ")
        raise ImportFailure(f"The YAML cannot be read: {words}")
    experiment, notes = asserted_experiment(data)

    def make(record: Json) -> Imported:
        given = object_of(record)
        for key in experiment:
            plain(given[key])
        made = _made(given, text, read, choose, find)
        return replace(made, experiment=experiment, notes=(*made.notes, *notes))

    return with_unread_keys(data, make)


def _made(data: JsonObject, text: str, read: ReadFile, choose: int, find: FindFiles) -> Imported:
    prompts = list(prompts_of(data.get("prompts"), read, find))
    if not prompts:
        raise ImportFailure("The configuration contains no prompts.")
    if not 0 <= choose < len(prompts):
        raise ImportFailure(f"{counted(len(prompts), 'prompt')}; there is no number {choose + 1}.")
    names = unique_names([name for name, _ in prompts], " ({})")
    title, content = names[choose], prompts[choose][1]
    if isinstance(content, ImportFailure):
        raise content
    work = Composition(is_template=True)
    work.comments = head_comments(text)
    if isinstance(data.get("description"), str):
        work.front["description"] = data["description"]
    model = _model(data, work)
    if model:
        work.front["model"] = model
    work.messages += messages_of(content)
    work.notes += template_notes(content)
    sets = _sets(data, work, read)
    declare_variables(work, next(iter(sets.values()), {}), "sample")
    if len(prompts) > 1:
        others = ", ".join(name for index, name in enumerate(names) if index != choose)
        work.notes.append(f"This is the prompt {title!r}; the file also contains: {others}.")
    return Imported(
        compose(work),
        "promptfoo configuration",
        tuple(work.notes),
        sets,
        title=title,
        others=names if len(names) > 1 else (),
    )


def _model(data: JsonObject, work: Composition) -> JsonDict:
    """Read the first provider as the model, and report the others in notes."""
    given = data.get("providers", data.get("targets"))
    providers = given if isinstance(given, list) else [given] if given else []
    if not providers:
        return {}
    first, settings = providers[0], {}
    if isinstance(first, Mapping):
        config = first.get("config")
        settings = dict(config) if isinstance(config, Mapping) else {}
        if "id" not in first and len(first) == 1:  # {openai:gpt-4o: {config: …}}
            key, inner = next(iter(first.items()))
            config = inner.get("config") if isinstance(inner, Mapping) else None
            first, settings = key, dict(config) if isinstance(config, Mapping) else {}
        else:
            first = first.get("id", "")
    if len(providers) > 1:
        work.notes.append(f"providers: only the first one, {first!r}, is the model.")
    found = _provider(str(first), work)
    usual = {"temperature": "a temperature of 0", "tokens": "a limit of tokens"}
    added = [words for key, words in usual.items() if not any(key in each for each in settings)]
    if found.get("id") and added and not settings.get("omitDefaults"):
        words = " and ".join(added)
        work.notes.append(f"providers: promptfoo adds {words} for most models; the file does not.")
    _settings(settings, found, work)
    return found


def _settings(settings: JsonObject, found: JsonDict, work: Composition) -> None:
    """Read a provider's `config`: options, address and tools of the model."""
    options: JsonDict = {}
    further: JsonDict = {}
    passed, extra = (object_of(settings.get(key)) for key in ("passthrough", "extra_body"))
    for key, value in {**settings, **passed, **extra}.items():
        if key in OPTION_WORDS:
            options[OPTION_WORDS[key]] = (
                [value] if key == "stop" and isinstance(value, str) else value
            )
        elif key in _ENDPOINTS and isinstance(value, str):
            found |= _server(value, work)
        elif key == "tools":
            _tools(value, work)
        elif key == "instructions" and isinstance(value, str):
            work.messages.append(Message("system", (TextPart(value),)))
        elif key in ("passthrough", "extra_body", "omitDefaults", "apiKeyRequired"):
            continue
        elif key in ("apiKey", "apiKeyEnvar"):
            work.notes.append(f"providers.config.{key}: keys belong to a connection.")
        elif found.get("id"):
            further[key] = value
        else:
            work.notes.append(f"providers.config.{key}: is not possible in a prompt file.")
    if further:
        options["additionalProperties"] = further
    if options:
        found["options"] = options


_APIS = frozenset(
    """
    chat completion completions responses messages embedding embeddings text-generation assistant
    realtime image converse invoke deployment
""".split()
)
"""Words between provider and model that name the API."""

_CODE = tuple(
    """
    exec file python javascript http https ws wss webhook browser script package sequence
    manual-input promptfoo echo
""".split()
)
"""Providers that are a program or a custom server and name no model."""

_ENDPOINTS = ("apiBaseUrl", "apiHost", "baseURL", "baseUrl")
_VARIABLE = re.compile(r"\{\{\s*env\.(\w+)[^{}]*\}\}")


def _server(address: str, work: Composition) -> JsonDict:
    """Return provider and connection for an address; variables become references."""
    written = _VARIABLE.sub(r"${env:\1}", address)
    resource = written.removesuffix("/openai/v1")
    work.references.update(f"${{env:{name}}}" for name in _VARIABLE.findall(address))
    connection: JsonDict = {"kind": "key", "endpoint": resource}
    if resource != written and ("azure" in resource or resource.endswith("}")):
        return {"provider": "azure", "connection": connection}
    return {"connection": {**connection, "endpoint": written}}


def _provider(word: str, work: Composition) -> JsonDict:
    """Read `provider:api:model` as model and settings; the model's name may contain colons."""
    name, _, rest = word.partition(":")
    if name.lower() in _CODE or "/" in name or re.fullmatch(r".*\.(?:js|ts|py|mjs)", word):
        work.notes.append(f"providers: {word!r} is a program or a server, and names no model.")
        return {}
    api, _, model = rest.partition(":")
    found: JsonDict = {}
    if api in _APIS:
        rest = model
        if api == "responses":
            found["apiType"] = "responses"
        elif api in ("embedding", "embeddings"):
            found["apiType"] = "embedding"
    if rest:
        found["id"] = rest
    found["provider"] = {"azureopenai": "foundry", "azure": "foundry"}.get(name, name)
    return found


def _tools(value: Json, work: Composition) -> None:
    """Read tools in a request's form; report a file of tools in a note."""
    if isinstance(value, str):
        work.notes.append(f"providers.config.tools: those of {value!r} are left out.")
    for tool in value if isinstance(value, list) else []:
        if isinstance(tool, Mapping) and isinstance(tool.get("function"), Mapping):
            work.tools.append(function_tool(tool))
        else:
            work.notes.append("providers.config.tools: a tool of the provider's own is left out.")


def _sets(data: JsonObject, work: Composition, read: ReadFile) -> dict[str, JsonObject]:
    """Read the tests' variables as input sets, and report the assertions."""
    common = _vars(data.get("defaultTest"))
    tests = data.get("tests")
    if isinstance(tests, str):
        tests = [tests]
    tests = list(_tests(tests if isinstance(tests, list) else [], read, work))
    found: dict[str, JsonObject] = {}
    for number, test in enumerate(tests if isinstance(tests, list) else (), start=1):
        if not isinstance(test, Mapping):
            continue
        name = str(test.get("description") or f"test {number}")
        given = {**common, **_vars(test)}
        # A list whose first item is a text stands for several values (promptfoo 0.123).
        lists = {
            key: value
            for key, value in given.items()
            if isinstance(value, list) and value and isinstance(value[0], str)
        }
        if not lists or _keeps_lists(test) or _keeps_lists(data.get("defaultTest")):
            found[name] = given
            continue
        for index, row in enumerate(islice(product(*lists.values()), _MOST_SETS), start=1):
            found[f"{name} [{index}]"] = {**given, **dict(zip(lists, row, strict=True))}
    if not found and common:
        found["defaultTest"] = common
    return _with_files(found, work, read)


def _with_files(
    sets: Mapping[str, JsonObject], work: Composition, read: ReadFile
) -> dict[str, JsonObject]:
    """Replace the file names in the values of input sets by their contents, as promptfoo does."""
    known: JsonDict = {}

    def value(name: str, given: Json) -> Json:
        if not isinstance(given, str) or not given.startswith("file://"):
            return given
        if given not in known:
            path = given.removeprefix("file://")
            known[given] = given
            try:
                known[given] = value_of_file(path, read(path))
            except (ImportFailure, ValueError) as failure:
                work.notes.append(
                    f"vars.{name}: the file {path!r} is not read: {reason_of(failure)}"
                )
        return known[given]

    return {
        title: {name: value(name, given) for name, given in row.items()}
        for title, row in sets.items()
    }


def value_of_file(path: str, text: str) -> str:
    """Return a file's value: YAML as JSON, other text without surrounding blanks (`renderPrompt`).

    Raises:
        ImportFailure: it is a PDF, or a program that computes the value.
        ValueError: it is not YAML.
    """
    if path.lower().endswith(_PROGRAMS):
        raise ImportFailure("it is a program that computes the value; it is not run here.")
    if path.endswith(".pdf"):
        raise ImportFailure("text is not extracted from PDFs; save it as text.")
    if not path.endswith((".yaml", ".yml")):
        return text.strip()
    found = read_yaml(text)
    if found.problems:
        raise ValueError(found.problems[0].message)
    return json.dumps(whole_numbers(found.value), ensure_ascii=False, separators=(",", ":"))


def _keeps_lists(test: Json) -> bool:
    """Return whether a test keeps lists as values instead of one test per item."""
    options = test.get("options") if isinstance(test, Mapping) else None
    return isinstance(options, Mapping) and options.get("disableVarExpansion") is True


def _tests(tests: list[Json], read: ReadFile, work: Composition) -> Iterator[Json]:
    """Yield each test, including those in files: CSV, JSON, JSON lines or YAML."""
    for test in tests:
        if not isinstance(test, str):
            yield test
            continue
        path = test.removeprefix("file://")
        try:
            yield from read_tests(path, read(path))
        except (ImportFailure, ValueError) as failure:
            work.notes.append(f"tests: the file {path!r} is not read: {reason_of(failure)}")


def read_tests(path: str, text: str) -> Iterator[JsonObject]:
    """Yield the tests of a file, whose suffix decides the format.

    Raises:
        ImportFailure: the suffix is not that of a file with tests.
        ValueError: the content is invalid.
    """
    suffix = path.rpartition(".")[2].lower()
    if suffix == "csv":
        for row in csv.DictReader(io.StringIO(text, newline="")):
            kept = {k: v for k, v in row.items() if k and not k.startswith("__")}
            named = {"description": row["__description"]} if row.get("__description") else {}
            yield {"vars": kept, **named}
        return
    if suffix == "jsonl":
        values: Json = [parse_json(line) for line in text.split("\n") if line.strip()]
    elif suffix == "json":
        values = parse_json(text)
    elif suffix in ("yaml", "yml"):
        values = read_yaml(text).value
    else:
        raise ImportFailure(f"A file of kind {suffix!r} contains no tests.")
    for item in values if isinstance(values, list) else []:
        if isinstance(item, Mapping):
            yield item if "vars" in item or "assert" in item else {"vars": dict(item)}


def _vars(test: Json) -> JsonDict:
    values = test.get("vars") if isinstance(test, Mapping) else None
    return {str(key): item for key, item in values.items()} if isinstance(values, Mapping) else {}
