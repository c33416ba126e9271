"""`lsp`: the language server for editors."""

from __future__ import annotations

import argparse

from studio.cli.exit_codes import FINE


def add_lsp(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `lsp`; editors like to pass `--stdio`, which is the only way."""
    parser.add_argument(
        "--stdio", action="store_true", help="use stdin and stdout (always the case)"
    )
    parser.set_defaults(action=_lsp)


def _lsp(_: argparse.Namespace) -> int:
    from studio.servers.lsp.server import serve

    serve()
    return FINE
