"""Parse commands of a run from text: a line becomes a command or a breakpoint."""

from collections.abc import Callable, Mapping

from studio.core.agent.past.replay import RunTree
from studio.core.agent.run.effect_runner import RunTarget
from studio.core.agent.values import commands, events
from studio.core.agent.values.breakpoints import Breakpoint, problem_of
from studio.core.agent.values.commands import Command
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import PausePoint
from studio.core.prompty.shapes import message_text
from studio.core.text.amounts import whole_number
from studio.core.text.values import parse_json, reason_of
from studio.core.wire.reply import Reply

HELP = """\
  s, Enter      into: on to the next place      c             continue to a breakpoint, error or end
  n             over: a model call or tools     o             out: on to the end of this step
  q             stop the run                    m, r          show the messages, the reply
  reply TEXT    answer in the model's place     final [TEXT]  this is the answer
  args JSON     call with these arguments       obs TEXT      tell the model this instead
  y [all]       allow the call (all: with those that run at the same time)
  no [WHY]      refuse it
  skip          do not run it                   as TEXT       do not run it; this is its result
  repair [NAME] read the reply repaired         limit [N]     allow N steps (5 more without N)
  say TEXT      a message before the next step  back STEP     go back; going on is a new branch
  model NAME [ID]     the requests from here on go to that connection (and model)
  to [STEP] [PLACE]   run to there: `to tool_call`, `to 3`, `to 3 reply`
  ran, not-run, result TEXT   what became of an interrupted call"""


class CommandError(ValueError):
    """Raised when a line is not a command; the message gives the correct form."""


def breakpoint_of(text: str, number: int) -> Breakpoint:
    """Return the breakpoint of `PLACE|TOOL[:CONDITION]`.

    Args:
        text: the text of the breakpoint.
        number: its number, for its id.

    Raises:
        CommandError: the run can never reach it.
    """
    where, _, condition = text.partition(":")
    name = where.strip()
    place = PausePoint.of(name)
    if not name:
        raise CommandError(
            f"{text!r} is neither a pause point nor a tool; write tool_call or search:args.n > 3"
        )
    made = Breakpoint(
        f"break-{number}",
        places=frozenset({place}) if place is not None else frozenset(),
        tool="" if place is not None else name,
        condition=condition.strip(),
    )
    problem = problem_of(made, (made.tool,))
    if problem:
        raise CommandError(f"breakpoint {text!r}: {problem}")
    return made


def target_of(text: str) -> RunTarget:
    """Return the checkpoint of `STEP[:PLACE]`, or of `PLACE` alone.

    Raises:
        CommandError: it is not a place of a run.
    """
    words = text.replace(":", " ").split()
    places = [place for word in words if (place := PausePoint.of(word)) is not None]
    steps = [step for word in words if (step := whole_number(word)) is not None]
    if not words or len(places) > 1 or len(steps) > 1 or len(words) != len(places) + len(steps):
        raise CommandError(f"{text!r} is not a pause point; write 3, tool_call, or 3:tool_call")
    return RunTarget(places[0] if places else None, steps[0] if steps else None)


def command_of(line: str, state: RunState, tree: RunTree) -> Command | str:
    """Return the command of a line, or a text to show.

    Raises:
        CommandError: the line is not a command.
    """
    word, _, rest = line.partition(" ")
    rest = rest.strip()
    plain = _PLAIN.get(word)
    if plain is not None:
        if rest:
            raise CommandError(f"{word!r} takes no argument")
        return plain()
    match word:
        case "h" | "help" | "?":
            return HELP
        case "m":
            return _messages(state)
        case "r":
            return state.step.reply.text if state.step.reply is not None else "(no reply yet)"
        case "limit":
            allowed = rest or str((state.limits.iterations or state.iteration) + 5)
            return events.LimitRaised("iterations", _number(allowed, "limit 20"))
        case "to":
            target = target_of(rest)
            return commands.RunTo(target.place, target.iteration)
        case "back":
            return _back(rest, tree)
        case "repair":
            return _repair(rest, state)
        case "args":
            return _arguments(rest, state)
        case _:
            return _said(word, rest, state)


def _messages(state: RunState) -> str:
    return "\n".join(f"── {item.role}\n{message_text(item)}" for item in state.step.messages)


def _said(word: str, rest: str, state: RunState) -> Command:
    """Return the command of a word that takes text."""
    row = state.call or 0
    texts: Mapping[str, Callable[[], Command]] = {
        "reply": lambda: commands.EditReply(Reply(rest, finish_reason="stop")),
        "final": lambda: (
            events.AnswerEdited(rest)
            if state.place == PausePoint.ANSWER and rest
            else commands.TreatAsFinal(rest or None)
        ),
        "obs": lambda: (
            events.ErrorObservationEdited(rest)
            if state.place == PausePoint.ERROR
            else events.ObservationEdited(row, rest)
        ),
        "y": lambda: commands.Approve(row, others=rest == "all"),
        "no": lambda: commands.Reject(row, rest),
        "skip": lambda: commands.SkipCall(row),
        "as": lambda: commands.AnswerCall(row, rest),
        "say": lambda: (
            commands.SendBack(rest) if state.place == PausePoint.ANSWER else commands.Steer(rest)
        ),
        "ran": lambda: events.OutcomeTold(row, "ran"),
        "not-run": lambda: events.OutcomeTold(row, "did-not-run"),
        "result": lambda: events.OutcomeTold(row, "result", rest),
    }
    make = texts.get(word)
    if make is None:
        raise CommandError(f"{word!r} is not a command")
    return make()


_PLAIN: Mapping[str, Callable[[], Command]] = {
    "": lambda: commands.StepOn("into"),
    "s": lambda: commands.StepOn("into"),
    "n": lambda: commands.StepOn("over"),
    "o": lambda: commands.StepOn("out"),
    "c": commands.Continue,
    "q": commands.StopRun,
}


def _number(text: str, example: str) -> int:
    number = whole_number(text)
    if number is None:
        raise CommandError(f"{text!r} is not a number; write `{example}`")
    return number


def _back(rest: str, tree: RunTree) -> Command:
    step = _number(rest, "back 2")
    found = tree.find(step)
    if found is None:
        raise CommandError(f"the run has no step {step}")
    return commands.ForkFrom(found.id)


def _repair(name: str, state: RunState) -> Command:
    offered = [item.name for item in state.error.repairs] if state.error is not None else []
    offered += [item.name for call in state.step.calls for item in call.repairs]
    if not offered:
        raise CommandError("no repair is offered here")
    return commands.TakeRepair(name or offered[0], call=state.call or 0)


def _arguments(rest: str, state: RunState) -> Command:
    if not state.step.calls:
        raise CommandError("there is no call here")
    row = state.call or 0
    try:
        value = parse_json(rest)
    except ValueError as error:
        raise CommandError(f"the arguments are not JSON: {reason_of(error)}") from None
    if not isinstance(value, dict):
        raise CommandError("the arguments must be a JSON object")
    return events.CallEdited(row, state.step.calls[row].tool, value)
