"""Values of tests that stand in files: `vars: {letter: file://letter.txt}`.

Source: promptfoo 0.123, `generateVarCombinations` (a pattern is a list of values) and
`renderPrompt` (what a file becomes, by its ending).
"""

from __future__ import annotations

import base64
from dataclasses import replace
from functools import partial
from pathlib import PurePath
from typing import TypeGuard

from studio.application.experiments.prompts import ExperimentError, Folder
from studio.application.words import translate
from studio.core.experiments.values import ExperimentCase, ExperimentFile
from studio.core.imports.imported import ImportFailure
from studio.core.imports.promptfoo import value_of_file
from studio.core.text.reason import reason_of
from studio.core.text.values import Json
from studio.core.wire.media import media_type_of

_tr = partial(translate, "ExperimentPlan")

_MARK = "file://"
_PATTERN = frozenset("*?[{")
_IMAGES = frozenset(
    ("jpg", "jpeg", "png", "gif", "bmp", "webp", "svg", "heic", "heif", "avif", "tif", "tiff")
)
_SOUNDS = frozenset((
    "mp4", "mpeg", "mpg", "webm", "ogg", "mov", "avi", "flv", "wmv", "mkv", "m4v", "3gp", "3gpp",
    "wav", "mp3", "aac", "m4a", "flac", "wma", "aif", "aiff", "aifc", "opus",
))  # fmt: skip
"""Videos too: both become base64."""

_MOST_BYTES = 20_000_000
_MOST_FILES = 10_000


class ValueFiles:
    """Reads the files that values name, each once."""

    def __init__(self, file: ExperimentFile, folder: Folder) -> None:
        """Take an experiment.

        Args:
            file: as it was read.
            folder: where its files are.
        """
        self._file, self._folder = file, folder
        self._known: dict[str, str] = {}

    def of(self, case: ExperimentCase) -> ExperimentCase:
        """A case with what stands in the files that its values name.

        Raises:
            ExperimentError: one cannot be read.
        """
        options = {**self._file.default.options, **case.options}
        spreads = options.get("disableVarExpansion") is not True
        try:
            changed = {
                name: made
                for name, value in case.variables.items()
                if (made := self._value(value, spreads=spreads)) is not value
            }
        except ExperimentError as error:
            name = case.file or (self._file.path.name if self._file.path else "experiment")
            raise ExperimentError(f"{name}:{max(1, case.line)}: {error}") from None
        return replace(case, variables={**case.variables, **changed}) if changed else case

    def _value(self, value: Json, *, spreads: bool) -> Json:
        if _names_file(value):
            names = self._names(value) if spreads else [value]
            values: list[Json] = [self._read(each.removeprefix(_MARK)) for each in names]
            return values if len(values) > 1 else values[0]
        if not spreads or not isinstance(value, list) or not value:
            return value
        if not isinstance(value[0], str) or not any(map(_names_file, value)):
            return value
        return [
            self._read(each.removeprefix(_MARK)) if _names_file(each) else each for each in value
        ]

    def _names(self, value: str) -> list[str]:
        pattern = value.removeprefix(_MARK)
        self._check_trust(pattern)
        if not _PATTERN & set(pattern) or (self._folder.path / pattern).is_file():
            return [pattern]
        found = self._folder.matching(pattern)
        if not found:
            raise ExperimentError(_tr("{name}: no file has such a name.").format(name=pattern))
        return [str(each.relative_to(self._folder.path)) for each in found[:_MOST_FILES]]

    def _check_trust(self, name: str) -> None:
        if not self._folder.trusted:
            raise ExperimentError(
                _tr("{name}: a file as a value is sent to the model, so it is read in trusted "
                    "folders only; trust the experiment's folder to use it.").format(name=name)
            )  # fmt: skip

    def _read(self, name: str) -> str:
        if name not in self._known:
            self._check_trust(name)
            path = self._folder.find(name)
            try:
                if path.stat().st_size > _MOST_BYTES:
                    raise ExperimentError(
                        _tr("{name}: the file is larger than {size} MB.").format(
                            name=name, size=_MOST_BYTES // 1_000_000)
                    )  # fmt: skip
                self._known[name] = _value_of(name, path.read_bytes())
            except (OSError, ValueError, ImportFailure) as error:
                raise ExperimentError(f"{name}: {reason_of(error)}") from None
        return self._known[name]


def _names_file(value: Json) -> TypeGuard[str]:
    return isinstance(value, str) and value.startswith(_MARK)


def _value_of(name: str, content: bytes) -> str:
    ending = PurePath(name).suffix[1:].lower()
    if ending in _IMAGES | _SOUNDS:
        text = base64.b64encode(content).decode("ascii")
        return f"data:{media_type_of(name, content)};base64,{text}" if ending in _IMAGES else text
    return value_of_file(name, "" if ending == "pdf" else content.decode("utf-8-sig"))
