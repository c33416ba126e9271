"""`prompt-studio cluster`: certificates for the workers of experiments."""

from __future__ import annotations

import argparse
from pathlib import Path

from studio.cli.exit_codes import FINE, PROBLEMS
from studio.cli.terminal import tell


def add_cluster(parser: argparse.ArgumentParser) -> None:
    """Add the commands on workers."""
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
        tell(f"prompt-studio: {error.filename} is there already; nothing is overwritten")
        return PROBLEMS
    except ImportError:
        tell("prompt-studio: certificates need: pip install 'prompt-studio[dask]'")
        return PROBLEMS
    except OSError as error:
        tell(f"prompt-studio: {options.folder}: {error.strerror}")
        return PROBLEMS
    print(
        f"{options.folder}: ca.pem, cert.pem, key.pem for {', '.join(hosts)}. Whoever has the "
        "folder can run programs on the workers: copy it to your machines only."
    )
    return FINE
