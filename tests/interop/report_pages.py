"""`make interop`: the HTML report of a run in a real browser, stepped by keys and by clicks.

Chromium or Chrome of this machine, or the one that `BROWSER_BINARY` names; without one it is left
out by name. `REPORT_PICTURES` names a folder for pictures of what was looked at.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from studio.core.agent.values.commands import ChooseModel, StepOn
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.step import PausePoint, RunModel
from studio.core.models.scripted import ScriptedModel
from studio.core.runs.exchange import export_run, form_of
from tests.core.agent.runs import NATIVE, Session, call, calling
from tests.interop.browser import Page, browser_here, opened
from tests.interop.environments import FOLDER

_SHOWN = "[...document.querySelectorAll('.run>input')].findIndex(each => each.checked)"
_SEEN = (
    "(() => {const at = document.querySelector('.run>input:checked');"
    "const line = at.nextElementSibling, page = line.nextElementSibling;"
    "const r = line.getBoundingClientRect();"
    "return getComputedStyle(page).display === 'block' && r.top >= 0 && r.bottom <= innerHeight})()"
)
_FITS = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
_PAGE = "getComputedStyle(document.body).backgroundColor"
_SIZES = ((1600, 1000), (1280, 800), (900, 600), (420, 800))


def main() -> int:
    """Write a report and step through it; returns 1 where it does not hold."""
    what = "the report in a browser"
    binary = browser_here()
    if not binary:
        print(f"skipped {what}: there is no Chromium here (BROWSER_BINARY names one)")
        return 0
    path = asyncio.run(_written())
    with opened(binary, path.as_uri()) as page:
        faults = [*_stepped(page), *_sizes(page), *_told(page)]
    for fault in faults:
        print(f"  {fault}")
    print(f"{'ok     ' if not faults else 'WRONG  '} {what}: {Path(binary).name}")
    return int(bool(faults))


async def _written() -> Path:
    """The report of a run with a failed call, another model and an answer of many lines."""
    replies = [calling(call(), call("nope", '{"x": 1}', "c2"), text="I look it up. " * 20)]
    options = RunOptions(pause_at=frozenset(PausePoint))
    session = Session.over(NATIVE, [*replies, "unused"], options=options)
    await session.until_still()
    run = session.run
    while run.state.iteration < 2:
        await session.send(StepOn("into"))
    answer = "It is <b>here</b> & there.\n" + "one more line\n" * 60
    other = ScriptedModel([calling(call(call_id="c3")), answer])
    own = run.state.answered_by
    await session.send(ChooseModel(RunModel("Other"), own, other))
    while not run.state.is_over:
        await session.send(StepOn("into"))
    form = form_of("html")
    folder = FOLDER / "report"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "report.html"
    path.write_text(export_run(run.events, form, "1.0"), encoding="utf-8")
    return path


def _stepped(page: Page) -> list[str]:
    """Keys from the first moment, ticks, cards, and the way to what failed."""
    faults: list[str] = []

    def expect(words: str, wanted: int) -> None:
        shown = page.ask(_SHOWN)
        if shown != wanted:
            faults.append(f"after {words} card {shown} is shown, not {wanted}")
        elif not page.ask(_SEEN):
            faults.append(f"after {words} the card is out of sight")

    last = page.ask("document.querySelectorAll('.run>input').length") - 1
    expect("opening", 0)
    if page.ask("scrollY"):
        faults.append("it does not open at its beginning")
    for number in range(1, last + 1):
        page.press("ArrowRight")
        expect(f"{number} × Right", number)
    page.press("ArrowLeft")
    expect("Left", last - 1)
    page.click(".ticks label:nth-child(3)")
    expect("a click on the third tick", 2)
    page.press("ArrowRight")
    expect("Right after it", 3)
    page.click(f".run>label[for=c{last}]")
    expect("a click on the last card", last)
    page.click(".jump label")
    if not page.ask("document.querySelector('.run>input:checked+label .bad') !== null"):
        faults.append("the way to what failed leads elsewhere")
    lit = "getComputedStyle(document.querySelector(`.ticks [for=c${%s}]`)).opacity"
    if page.ask(lit % _SHOWN) != "1" or page.ask(lit % "0") == "1":
        faults.append("the tick of the card that is shown is not lit")
    if page.ask("document.querySelectorAll('b').length"):
        faults.append("a text of the run has become markup")
    return faults


def _sizes(page: Page) -> list[str]:
    """Nothing is wider than the window, light or dark; on paper every card is written out."""
    faults: list[str] = []
    pages: set[str] = set()
    pictures = os.environ.get("REPORT_PICTURES", "")
    for scheme in ("light", "dark"):
        page.emulate(scheme)
        pages.add(page.ask(_PAGE))
        for width, height in _SIZES:
            page.resize(width, height)
            if not page.ask(_FITS):
                faults.append(f"at {width} × {height} the page is wider than the window")
            if pictures:
                page.picture(Path(pictures) / f"report-{scheme}-{width}.png")
    if len(pages) != 2:
        faults.append(f"light and dark have one page color: {pages}")
    page.emulate("light", "print")
    shown = "[...document.querySelectorAll('.run>article')].every(each => each.offsetHeight > 0)"
    if not page.ask(shown):
        faults.append("a card is left out on paper")
    return faults


def _told(page: Page) -> list[str]:
    """What the browser said of it, and what it asked the network for."""
    faults = []
    for name, given in page.events:
        if name in ("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled"):
            faults.append(f"the browser says: {given}")
        if name == "Network.requestWillBeSent" and not given["request"]["url"].startswith("file:"):
            faults.append(f"it asks for {given['request']['url']}")
    return faults


if __name__ == "__main__":
    sys.exit(main())
