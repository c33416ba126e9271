"""The secrets of a document's tools: what a source was given, gets with a call, and says back."""

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
    """The masks and values of secrets in the tools of one document."""

    def __init__(
        self, masker: Masker | None = None, environment: Mapping[str, str] | None = None
    ) -> None:
        """Take what knows the secrets.

        Args:
            masker: is told the values that sources are given.
            environment: variables; the process's own by default.
        """
        self.masker = masker if masker is not None else Masker()
        """Without what the document says is no secret."""
        self._environment = os.environ if environment is None else environment
        self._given: dict[str, set[str]] = {}

    def environment(self, key: str) -> Callable[[], Mapping[str, str]]:
        """Return the variables for a source; what it looks up is noted."""
        given = self._given.setdefault(key, set())
        return lambda: self.masker.watch(self._environment, given.add)

    def note_written(self, declaration: SourceDeclaration) -> None:
        """Note the secrets that a file of servers or a prompt writes out, without a reference."""
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
        """Return anything that a source says, without secrets."""
        return masked(value, self.masker)

    def outcome(self, outcome: ToolOutcome) -> ToolOutcome:
        """Return the outcome of a call without secrets, also one that the limit cut in two."""
        made = masked(outcome, self.masker)
        if made.truncated:
            text, mark, rest = made.text.rpartition("\n… cut: ")
            if mark:
                made = replace(made, text=self.masker.mask_cut(text) + mark + rest)
        return made

    def revealed(
        self, arguments: JsonObject, released: AbstractSet[str], source: str
    ) -> JsonObject | None:
        """Return the arguments with the values that a source may get; None where one has none.

        A plain value that the source was started with (a folder, an address) is no news to it; a
        key is: a model could have it sent on.
        """
        given = self._given.get(source, set())
        known = released | {each for each in given if not self.masker.is_key(each)}
        if not known:
            return arguments
        try:
            return changed(arguments, lambda text: self.masker.reveal(text, known))
        except MissingValueError:
            return None
