"""A run as one HTML page that needs nothing else: to read, to send, to print.

No script, no picture, no address outside; a content policy in the page forbids them too. All of
what a model or a tool said is escaped text.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape

from studio.core.agent.loop.steps import messages_of, steps_of
from studio.core.agent.values.events import Event
from studio.core.agent.values.state import Call, RunState, Step
from studio.core.masking.redact import redact
from studio.core.prompty.messages import MediaPart, Message, ToolCallPart
from studio.core.runs.timing import CallTimes, fold_with_times
from studio.core.text.values import Json

_STYLE = """
:root{color-scheme:light dark;--text:#1f2328;--muted:#656d76;--line:#d8dee4;--soft:#f6f8fa;
--accent:#0b66c3;--bad:#b3261e;--page:#fff}
@media (prefers-color-scheme:dark){:root{--text:#e6edf3;--muted:#9198a1;--line:#30363d;
--soft:#161b22;--accent:#4ea1f3;--bad:#ff7b72;--page:#0d1117}}
*{box-sizing:border-box}body{margin:0 auto;padding:32px 24px;max-width:900px;background:var(--page);
color:var(--text);font:15px/1.5 system-ui,sans-serif}
h1{font-size:24px;margin:0 0 8px}h2{font-size:17px;margin:32px 0 8px;padding-top:16px;
border-top:1px solid var(--line)}h3{font-size:13px;margin:16px 0 4px;color:var(--muted);
font-weight:600}dl{display:grid;grid-template-columns:max-content 1fr;gap:4px 16px;margin:16px 0}
dt{color:var(--muted)}dd{margin:0;overflow-wrap:anywhere}
pre{margin:0 0 8px;padding:8px 12px;background:var(--soft);border:1px solid var(--line);
border-radius:6px;white-space:pre-wrap;overflow-wrap:anywhere;
font:13px/1.5 ui-monospace,Menlo,Consolas,monospace}
.answer pre{border-color:var(--accent)}.bad{color:var(--bad)}.quiet{color:var(--muted)}
@media print{:root{color-scheme:light;--text:#000;--muted:#555;--line:#ccc;--soft:#fff;
--accent:#000;--bad:#900;--page:#fff}body{padding:0;max-width:none;font-size:11pt}
h2,h3{break-after:avoid}pre{font-size:9pt}}
"""


def report(events: Sequence[Event], version: str) -> str:
    """The page of a branch: `events` is `tree.branch_path` of its last event.

    Args:
        events: The branch, from `Started`.
        version: The studio's version.
    """
    state, times = fold_with_times(events)
    title = escape(state.setup.prompt or "Run")
    sections = [_step(state, step, times) for step in steps_of(state)]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{_STYLE}</style></head><body>\n"
        f"<h1>{title}</h1>\n{_facts(state, events)}\n{_end(state)}\n"
        + "\n".join(sections)
        + f'\n<p class="quiet">Written by Prompt Studio {escape(version)}.</p>\n</body></html>\n'
    )


def _facts(state: RunState, events: Sequence[Event]) -> str:
    setup = state.setup
    usage = state.usage
    began, ended = events[0].at, events[-1].at
    tokens = f"{usage.total_tokens:,} ({usage.input_tokens:,} in, {usage.output_tokens:,} out)"
    rows = [
        ("Question", setup.question),
        ("Model", setup.model),
        ("Protocol", setup.protocol),
        ("Started", f"{datetime.fromtimestamp(began, UTC):%Y-%m-%d %H:%M:%S} UTC"),
        ("Duration", f"{ended - began:.1f} s"),
        ("Iterations", str(state.iteration)),
        ("Tokens", tokens if usage.total_tokens else ""),
        ("Cost", f"${usage.cost:.4f}" if usage.cost is not None else ""),
        ("End", state.status),
        ("Run", setup.run),
    ]
    cells = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in rows if text
    )
    return f"<dl>{cells}</dl>"


def _end(state: RunState) -> str:
    made = ""
    if state.answer is not None:
        made = f'<section class="answer"><h3>Answer</h3>{_pre(state.answer)}</section>'
    if state.error is not None and state.status != "done":
        words = f"{state.error.message} {state.error.hint}".strip()
        made += f'<p class="bad">{escape(words)}</p>'
    return made


def _step(state: RunState, step: Step, times: CallTimes) -> str:
    sent = messages_of(state, step.number)
    before = messages_of(state, step.number - 1) if step.number > 1 else ()
    same = _common(before, sent)
    began, ended = times.steps.get(step.number, [0.0, 0.0])
    words = [f"{ended - began:.1f} s"]
    if step.reply is not None and step.reply.usage is not None:
        words.append(f"{step.reply.usage.total_tokens:,} tokens")
    words += sorted(step.marks)
    parts = [
        f"<h2>Iteration {step.number}</h2>",
        f'<p class="quiet">{escape(" · ".join(words))}</p>',
    ]
    if same:
        parts.append(f'<p class="quiet">{same} messages as in the iteration before, then:</p>')
    parts += [_message(message) for message in sent[same:]]
    reply = step.reply or step.partial
    if reply is not None:
        calls = [f"{call.name} {_masked(call.arguments)}" for call in reply.tool_calls]
        whole = "\n".join(part for part in (reply.text, reply.refusal, *calls) if part)
        parts += [f"<h3>Reply ({escape(step.reply_origin)})</h3>", _pre(_masked(whole))]
    parts += [f'<p class="bad">{escape(each.message)}</p>' for each in step.warnings]
    parts += [_call(call) for call in step.calls]
    if step.observation:
        parts += ["<h3>The model is told</h3>", _pre(step.observation)]
    return f"<section>{''.join(parts)}</section>"


def _call(call: Call) -> str:
    arguments = json.dumps(redact(dict(call.arguments or {})), ensure_ascii=False, indent=2)
    shown = arguments if call.arguments is not None else call.text
    origin = "" if call.origin == "live" else f", {call.origin}"
    made = f"<h3>Tool {escape(call.tool)} ({escape(call.status + origin)})</h3>{_pre(shown)}"
    made += "".join(f'<p class="bad">{escape(problem)}</p>' for problem in call.problems)
    if call.observation is not None:
        words = "Observation (a failure)" if call.is_error else "Observation"
        made += f"<h3>{words}</h3>{_pre(_masked(call.observation))}"
    return made


def _message(message: Message) -> str:
    lines = [message.text] if message.text else []
    for part in message.parts:
        if isinstance(part, ToolCallPart):
            lines.append(f"{part.name} {_masked(part.arguments)}")
        elif isinstance(part, MediaPart):
            lines.append(f"[{part.kind}] {part.alt}".rstrip())
    return f"<h3>{escape(message.role)}</h3>{_pre(chr(10).join(lines))}"


def _masked(text: str) -> str:
    value: Json = redact(text)
    return value if isinstance(value, str) else text


def _pre(text: str) -> str:
    return f"<pre>{escape(text.strip(chr(10)))}</pre>"


def _common(before: Sequence[Message], after: Sequence[Message]) -> int:
    count = 0
    for one, other in zip(before, after, strict=False):
        if one is not other and one != other:
            break
        count += 1
    return count
