"""`mcp`, `lsp` and `cluster`: servers for agents and editors, and workers of experiments."""

import argparse
from pathlib import Path

from studio.cli.arguments import add_trust, trust_of
from studio.cli.terminal import FINE, PROBLEMS, UsageError, tell, whole


def add_mcp(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `mcp`."""
    parser.add_argument(
        "folder",
        nargs="?",
        type=Path,
        default=Path(),
        metavar="FOLDER",
        help="folder to serve (default: the working directory)",
    )
    parser.add_argument(
        "--http",
        type=whole(0, 65_535),
        metavar="PORT",
        help="use HTTP on this machine, with a token (0: any free port), instead of stdio",
    )
    parser.add_argument(
        "--yes",
        action="store_true",
        help="allow without asking: requests to models, tool calls, exported files",
    )
    add_trust(parser, "its tools may run, and what its prompts refer to is read and sent")
    parser.set_defaults(action=_mcp)


def _mcp(options: argparse.Namespace) -> int:
    if not options.folder.is_dir():
        raise UsageError(f"{options.folder}: no such folder")
    from studio.servers.mcp.server import serve

    trust = trust_of(options, options.folder.resolve())
    serve(options.folder, port=options.http, allow_all=options.yes, trust=trust)
    return FINE


# `lsp`: the language server for editors.


def add_lsp(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `lsp`; `--stdio` is accepted because editors pass it."""
    parser.add_argument("--stdio", action="store_true", help="use stdin and stdout (always)")
    parser.set_defaults(action=_lsp)


def _lsp(_: argparse.Namespace) -> int:
    from studio.servers.lsp.server import serve

    serve()
    return FINE


# `prompt-studio cluster`: certificates for the workers of experiments.


def add_cluster(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands for workers."""
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    make = commands.add_parser(
        "certificates", help="make ca.pem, cert.pem and key.pem for your own cluster"
    )
    make.add_argument("folder", type=Path, metavar="FOLDER")
    make.add_argument(
        "--host",
        action="append",
        default=[],
        metavar="NAME",
        help="name or address of a machine; localhost is always included",
    )
    make.set_defaults(action=_certificates)


def _certificates(options: argparse.Namespace) -> int:
    from studio.application.experiments.cluster.dispatch import write_certificates

    hosts = list(dict.fromkeys(["localhost", "127.0.0.1", *options.host]))
    try:
        write_certificates(options.folder, hosts)
    except FileExistsError as error:
        tell(f"prompt-studio: {error.filename} already exists; nothing was overwritten")
        return PROBLEMS
    except ImportError:
        tell("prompt-studio: certificates need: pip install 'prompt-studio[dask]'")
        return PROBLEMS
    except OSError as error:
        tell(f"prompt-studio: {options.folder}: {error.strerror}")
        return PROBLEMS
    print(
        f"{options.folder}: ca.pem, cert.pem, key.pem for {', '.join(hosts)}. Anyone with "
        "these files can run programs on the workers: copy them to your machines only."
    )
    return FINE
