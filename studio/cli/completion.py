"""`completion`: what a shell offers at Tab, from the parsers that read the commands.

The shells' own scripts are a few lines: they hand over the words, and show what comes back.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from studio.cli.exit_codes import COMMANDS, FINE
from studio.cli.window_arguments import window_parser

_BASH = """\
_prompt_studio() {
    local words=("${COMP_WORDS[@]:1:COMP_CWORD}") line
    COMPREPLY=()
    while IFS=$'\\t' read -r line _; do
        if [ "$line" = ":files" ]; then
            compopt -o filenames 2>/dev/null
            mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "${words[-1]}")
        else
            COMPREPLY+=("$line")
        fi
    done < <(printf '%s\\n' "${words[@]}" | prompt-studio completion --words 2>/dev/null)
}
complete -F _prompt_studio prompt-studio
"""

_ZSH = """\
#compdef prompt-studio
_prompt_studio() {
    local line files=0
    local -a found
    while IFS=$'\\t' read -r word told; do
        if [[ $word = ":files" ]]; then
            files=1
        else
            found+=("${word//:/\\\\:}${told:+:$told}")
        fi
    done < <(printf '%s\\n' "${(@)words[2,CURRENT]}" | prompt-studio completion --words 2>/dev/null)
    (( $#found )) && _describe 'prompt-studio' found
    (( files )) && _files
    return 0
}
if [ "$funcstack[1]" = "_prompt_studio" ]; then
    _prompt_studio "$@"
else
    compdef _prompt_studio prompt-studio
fi
"""

_FISH = """\
function __prompt_studio_offers
    set -l words (commandline -opc)[2..-1] (commandline -ct)
    for line in (printf '%s\\n' $words | prompt-studio completion --words 2>/dev/null)
        if test $line = ":files"
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c prompt-studio -f -a '(__prompt_studio_offers)'
"""

SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}
"""For each shell what it is told once."""

FILES = ":files"
"""Stands for the files and folders of the working directory; the shell finds them itself."""


@dataclass(frozen=True, slots=True)
class CompletionWord:
    """One thing that the word can become."""

    word: str
    """The whole word."""

    about: str = ""
    """What it means, in a line."""


def add_completion(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `completion`."""
    parser.add_argument("shell", nargs="?", choices=tuple(SCRIPTS), help="print its script")
    parser.add_argument("--words", action="store_true", help=argparse.SUPPRESS)
    parser.set_defaults(action=_completion)


def _completion(options: argparse.Namespace) -> int:
    if options.words:  # a line each: as arguments, `--` would be lost
        for offer in offers(sys.stdin.read().removesuffix("\n").split("\n")):
            print(f"{offer.word}\t{offer.about}".rstrip("\t"))
    else:
        print(SCRIPTS[options.shell or "bash"], end="")
    return FINE


def offers(words: Sequence[str]) -> list[CompletionWord]:
    """What the last of some words can become.

    Args:
        words: what stands behind `prompt-studio`; the last may be empty, or a beginning.
    """
    *before, begun = words
    if not before:
        window = [] if begun.startswith("-") else [CompletionWord(FILES)]
        named = [CompletionWord(name, help_text) for name, (help_text, _) in COMMANDS.items()]
        return [*_fitting([*named, *_window_options()], begun), *window]
    if before[0] not in COMMANDS:
        return [
            *(_fitting(_window_options(), begun) if begun.startswith("-") else ()),
            CompletionWord(FILES),
        ]
    from studio.cli.main import parser_of

    parser, open_option, given = _walk(parser_of(before[0]), before)
    if open_option is not None:
        return _values(open_option, begun)
    if begun.startswith("-"):
        return _fitting(_options(parser, given), begun)
    free = [each for each in parser._actions if not each.option_strings]  # noqa: SLF001
    found = [offer for each in free for offer in _values(each, begun)]
    return list(dict.fromkeys(found))


def _window_options() -> list[CompletionWord]:
    return _options(window_parser(), ())


def _walk(
    parser: argparse.ArgumentParser, before: Sequence[str]
) -> tuple[argparse.ArgumentParser, argparse.Action | None, tuple[str, ...]]:
    """The parser that reads the next word, the option that waits for it, and the options so far."""
    waits: argparse.Action | None = None
    given: list[str] = []
    for word in before:
        if waits is not None:
            waits = None
            continue
        flag = parser._option_string_actions.get(word)  # noqa: SLF001
        if flag is not None:
            given.append(word)
            waits = flag if flag.nargs is None else None
            continue
        for group in parser._actions:  # noqa: SLF001
            if isinstance(group, argparse._SubParsersAction) and word in group.choices:  # noqa: SLF001
                parser, given = group.choices[word], []
                break
    return parser, waits, tuple(given)


def _options(parser: argparse.ArgumentParser, given: Sequence[str]) -> list[CompletionWord]:
    """The options that are not given yet; those that may stand more than once stay."""
    found = []
    for action in parser._actions:  # noqa: SLF001
        is_done = not isinstance(action, argparse._AppendAction) and any(  # noqa: SLF001
            each in given for each in action.option_strings
        )
        if action.option_strings and action.help != argparse.SUPPRESS and not is_done:
            found += [CompletionWord(flag, _description(action)) for flag in action.option_strings]
    return found


def _values(action: argparse.Action, begun: str) -> list[CompletionWord]:
    if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
        descriptions = {each.dest: _description(each) for each in action._choices_actions}  # noqa: SLF001
        return _fitting(
            [CompletionWord(name, descriptions.get(name, "")) for name in action.choices], begun
        )
    if action.choices is not None:
        return _fitting([CompletionWord(str(each)) for each in action.choices], begun)
    return [CompletionWord(FILES)]


def _description(action: argparse.Action) -> str:
    text = (action.help or "").replace("%%", "%").replace("%(default)s", str(action.default))
    return " ".join(text.split())


def _fitting(found: Sequence[CompletionWord], begun: str) -> list[CompletionWord]:
    return [offer for offer in found if offer.word.startswith(begun)]


def every_parser() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Each command with its parser, and each of its own commands, for the manual."""
    from studio.cli.main import parser_of

    for name in COMMANDS:
        yield from _with_inner(name, parser_of(name))


def _with_inner(
    name: str, parser: argparse.ArgumentParser
) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    yield name, parser
    for action in parser._actions:  # noqa: SLF001
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for word, inner in action.choices.items():
                yield from _with_inner(f"{name} {word}", inner)
