"""The secrets of a document's tools: given to a source, sent with a call, masked in results."""

import os
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import TypeVar, assert_never

from studio.core.masking.masker import Masker, MissingValueError, key_reference
from studio.core.masking.redact import names_secret, names_secret_variable
from studio.core.masking.walk import changed, masked
from studio.core.text.values import JsonObject
from studio.core.tools.document import McpServer, OpenApi, PluginTool, PythonFile, SourceDeclaration
from studio.core.tools.mcp.server_config import HttpServer, StdioServer, without_secrets
from studio.core.tools.source import ToolOutcome

T = TypeVar("T")


class ToolSecrets:
    """A masker of the secrets in the tools of one document; also reveals them."""

    def __init__(
        self, masker: Masker | None = None, environment: Mapping[str, str] | None = None
    ) -> None:
        """Store the masker and the environment.

        Args:
            masker: receives the values that sources get.
            environment: variables; by default the process's own.
        """
        self.masker = masker if masker is not None else Masker()
        """Masker, without values that the document declares as not secret."""
        self._environment = os.environ if environment is None else environment
        self._given: dict[str, set[str]] = {}

    def environment(self, key: str) -> Callable[[], Mapping[str, str]]:
        """Return the variables for a source; the ones that it looks up are registered."""
        given = self._given.setdefault(key, set())
        return lambda: self.masker.watch(self._environment, given.add)

    def note_written(self, declaration: SourceDeclaration) -> None:
        """Register the secrets that a file of servers or a prompt contains literally."""
        match declaration:
            case McpServer(address=StdioServer(command, arguments, given)):
                self._note_words([command, *arguments])
                for name, value in given.items():
                    if names_secret_variable(name) and "${" not in value:
                        self.masker.note(f"${{env:{name}}}", value)
            case McpServer(address=HttpServer(url, headers)):
                self._note_words([url])
                for name, value in headers.items():
                    if names_secret(name) and "${" not in value:
                        self.masker.note(key_reference(name), value)
            case OpenApi(name=name, connection=connection):
                keys = connection.get("keys")
                listed = [*(keys.items() if isinstance(keys, Mapping) else ())]
                for scheme, key in [(name, connection.get("apiKey")), *listed]:
                    if isinstance(key, str) and key and "${" not in key:
                        self.masker.note(key_reference(scheme), key)
            case McpServer() | PythonFile() | PluginTool():
                pass
            case _:
                assert_never(declaration)

    def _note_words(self, words: Sequence[str]) -> None:
        for secret in without_secrets(words)[1]:
            self.masker.note(key_reference(secret.name), secret.value)

    def masked(self, value: T) -> T:
        """Return a value from a source without secrets."""
        return masked(value, self.masker)

    def outcome(self, outcome: ToolOutcome) -> ToolOutcome:
        """Return the outcome of a call without secrets, even if one was cut in the middle."""
        made = masked(outcome, self.masker)
        if made.truncated:
            text, mark, rest = made.text.rpartition("\n… cut: ")
            if mark:
                made = replace(made, text=self.masker.mask_cut(text) + mark + rest)
        return made

    def revealed(
        self, arguments: JsonObject, released: AbstractSet[str], source: str
    ) -> JsonObject | None:
        """Return the arguments with the values that a source may get; None if one is missing.

        A plain value (a folder, an address) with which the source was started may be sent; a key
        may not, because a model could have it sent elsewhere.
        """
        given = self._given.get(source, set())
        known = released | {each for each in given if not self.masker.is_key(each)}
        if not known:
            return arguments
        try:
            return changed(arguments, lambda text: self.masker.reveal(text, known))
        except MissingValueError:
            return None
