"""`prompt-studio cluster`, and where `experiment run` finds its workers."""

from __future__ import annotations

import argparse
from pathlib import Path

from studio.application.experiments.cell_asker import CellAsker
from studio.application.experiments.cluster.asker import ClusterAsker
from studio.application.experiments.cluster.dask_pool import WorkersAddress
from studio.application.experiments.plan import ExperimentPlan, ExperimentServices
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
        "--host", action="append", default=[], metavar="NAME",
        help="name or address of a machine; localhost is always included",
    )  # fmt: skip
    make.set_defaults(action=_certificates)


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Add where cells are asked."""
    parser.add_argument(
        "--workers", default="", metavar="ADDRESS",
        help="use workers: local:4, tls://host:8786 (needs the extra dask)",
    )  # fmt: skip
    parser.add_argument(
        "--certificates",
        type=Path,
        metavar="FOLDER",
        help="folder with ca.pem, cert.pem and key.pem, for tls://",
    )
    parser.add_argument(
        "--insecure", action="store_true", help="allow an unencrypted scheduler on another machine"
    )


def asker_of(
    options: argparse.Namespace, plan: ExperimentPlan, services: ExperimentServices
) -> CellAsker | None:
    """Who asks the cells; None asks them in this process.

    Raises:
        WorkersError: the address cannot be used.
    """
    if not options.workers:
        return None
    address = WorkersAddress(options.workers, options.certificates, options.insecure)
    return ClusterAsker(plan, services, address, tell)


def _certificates(options: argparse.Namespace) -> int:
    from studio.application.experiments.cluster.certificates import write_certificates

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
    print(f"{options.folder}: ca.pem, cert.pem, key.pem for {', '.join(hosts)}. Whoever has the "
          "folder can run programs on the workers: copy it to your machines only.")  # fmt: skip
    return FINE
