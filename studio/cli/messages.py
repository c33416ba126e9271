"""`messages` and `request`: show what the first model call would send."""

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import get_args

from studio.application.document.checked_file import loaded_parts, merged, read_document
from studio.application.preview.diff import request_as_json
from studio.application.preview.requests import preview_target, request_preview
from studio.cli.arguments import add_inputs, add_trust, read_text, report, trust_of
from studio.cli.prepared import prepared_prompt
from studio.cli.run.model import add_choice, choice_for
from studio.cli.terminal import printable, tell
from studio.core.models.connections import user_connections
from studio.core.prompty.agent_files.read import agent_file_kind
from studio.core.prompty.document import OpenThread
from studio.core.prompty.prepare import Prepared
from studio.core.prompty.shapes import message_text, messages_to_json, tools_to_json
from studio.core.text.amounts import counted
from studio.core.text.values import Json
from studio.core.wire.request import Provider, provider_of


def add_messages(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `messages`."""
    add_inputs(parser)
    parser.add_argument("--json", action="store_true", help="write JSON")
    add_trust(parser, "files and variables it names are read")
    parser.set_defaults(action=_messages)


def add_request(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `request`."""
    add_inputs(parser)
    add_choice(parser)
    parser.add_argument(
        "--provider", choices=get_args(Provider), help="API format of the request body"
    )
    add_trust(parser, "files and variables it names are read")
    parser.set_defaults(action=_request)


def _report_all(prepared: Prepared) -> int:
    document = prepared.document
    return report(document, merged(document.problems, prepared.problems))


def _messages(options: argparse.Namespace) -> int:
    if agent_file_kind(options.file) is not None:
        return _loaded(options)
    prepared, _ = prepared_prompt(options)
    code = _report_all(prepared)
    messages = prepared.messages
    if options.json:
        shape: Json = messages_to_json(messages, prepared.document.dialect)
        if messages.tools:
            shape = {"tools": tools_to_json(messages.tools), "messages": shape}
        print(json.dumps(shape, ensure_ascii=False, indent=2))
        return code
    for item in messages.items():
        attributes = "".join(f" {key}={value!r}" for key, value in item.attributes.items())
        if isinstance(item, OpenThread):
            print(f"── thread{attributes} (filled by the run)")
            continue
        print(f"── {item.role}{attributes}")
        print(printable(message_text(item)))
    return code


def _loaded(options: argparse.Namespace) -> int:
    """Print which parts of an agent file are loaded when, and their sizes."""
    path: Path = options.file
    document = read_document(read_text(path), path.resolve())
    parts = loaded_parts(document)
    if options.json:
        print(json.dumps([asdict(part) for part in parts], ensure_ascii=False, indent=2))
    else:
        for part in parts:
            print(f"── {part.when}: {part.what} (about {counted(part.tokens, 'token')})")
            print(printable(part.text), end="\n" if part.text else "")
    return report(document, document.problems)


def _request(options: argparse.Namespace) -> int:
    prepared, tools = prepared_prompt(options)
    code = _report_all(prepared)
    document = prepared.document
    connections = user_connections()
    choice = choice_for(options, document, trust_of(options, options.file), connections)
    target = preview_target(choice)
    if choice.refusal:
        tell(f"prompt-studio: {target.chosen}")
    provider = options.provider or target.provider or provider_of(document.model)
    request = request_preview(provider, prepared, tools, target)
    for note in request.notes:
        tell(f"prompt-studio: {note}")
    print(request_as_json(request))
    return max(code, report(document, request.made.problems if request.made else ()))
