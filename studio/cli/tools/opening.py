"""What a command of `tools` names, opened as its set of tools."""

from __future__ import annotations

import argparse
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from studio.cli.arguments import allow_named, load, trust_of
from studio.cli.exit_codes import UsageError
from studio.cli.terminal import tell
from studio.core.text.invisible import reveal
from studio.core.text.reason import named_reason

if TYPE_CHECKING:
    from studio.cli.tools.sets import PromptToolSet, SourceToolSet
    from studio.core.prompty.tool_spec import ToolSpec

    ToolSet: TypeAlias = SourceToolSet | PromptToolSet


@asynccontextmanager
async def opened(options: argparse.Namespace) -> AsyncIterator[ToolSet]:
    """Open what is named; it is closed again.

    Raises:
        UsageError: there is no such source, or it cannot be read.
    """
    from studio.application.tools.named_source import is_address
    from studio.core.tools.source import ToolSourceError

    place = options.source
    options.file = Path(place)
    try:
        if not is_address(place):
            needs(options.file)
        if options.file.suffix in (".prompty", ".md"):
            async with _of_prompt(options) as tools:
                yield tools
        else:
            async with _of_source(options, place) as tools:
                yield tools
    except ToolSourceError as error:
        raise UsageError(named_reason(error)) from None


@asynccontextmanager
async def _of_source(options: argparse.Namespace, place: str) -> AsyncIterator[ToolSet]:
    from studio.application.tools.named_source import UnknownSourceError, named_by
    from studio.cli.ask_input import terminal_asker
    from studio.cli.tools.sets import SourceToolSet
    from studio.core.masking.masker import Masker
    from studio.core.tools.limits import DEFAULT_LIMITS
    from studio.core.tools.secrets import ToolSecrets
    from studio.core.tools.sources.opening import open_source, source_key

    connection = {"endpoint": options.endpoint, "apiKey": options.key}
    given = {name: text for name, text in connection.items() if text}
    try:
        declaration = named_by(place, options.server, given)
    except (UnknownSourceError, OSError) as error:
        raise UsageError(named_reason(error)) from None
    secrets = ToolSecrets(Masker(os.environ))
    secrets.note_written(declaration)
    environment = secrets.environment(source_key(declaration))
    source = open_source(
        declaration, DEFAULT_LIMITS, lambda: None, environment=environment, masker=secrets.masker,
        ask=terminal_asker(),
    )  # fmt: skip
    try:
        yield SourceToolSet(source, secrets)
    finally:
        await source.close()


@asynccontextmanager
async def _of_prompt(options: argparse.Namespace) -> AsyncIterator[ToolSet]:
    from studio.cli.ask_input import terminal_asker
    from studio.cli.tools.sets import PromptToolSet
    from studio.core.masking.masker import Masker
    from studio.core.paths import user_paths
    from studio.core.prompty.prepare import prepare
    from studio.core.tools.mcp.server_config import OWN_FILE
    from studio.core.tools.session import ToolSession

    document = load(options.file)
    trust = trust_of(options, options.file)
    allow_named(options, document, trust)
    own = user_paths().config / OWN_FILE
    session = ToolSession(
        trust, own_servers=own, masker=Masker(os.environ), ask_input=terminal_asker()
    )
    hoisted = prepare(document, {}, preview=True).messages.tools
    try:
        await session.load(document, hoisted)
        yield PromptToolSet(session)
    finally:
        await session.close()


def needs(path: Path) -> None:
    """Go on only with a file that is there.

    Raises:
        UsageError: it is not.
    """
    if not path.is_file():
        raise UsageError(f"{path}: no such file")


def say(problems: Sequence[str]) -> bool:
    """Write what is wrong with a source; says whether anything is."""
    for problem in problems:
        tell(problem)
    return bool(problems)


async def wanted(tools: ToolSet, name: str) -> ToolSpec:
    """The tool of that name.

    Raises:
        UsageError: there is none.
    """
    specs = await tools.specs()
    found = next((spec for spec in specs if spec.name == name), None)
    if found is None:
        say(tools.problems)
        names = reveal(", ".join(spec.name for spec in specs[:20]) or "none", lines=False)
        more = f" and {len(specs) - 20:,} more" if len(specs) > 20 else ""
        raise UsageError(f"there is no tool {name!r}; there are {names}{more}")
    return found
