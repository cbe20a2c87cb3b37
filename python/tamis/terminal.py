"""What a terminal shows: a progress bar, and states in colour. Plain text wherever there is none.

With Python's rich at hand both look better; nothing depends on it.
"""

import sys
from contextlib import contextmanager

BAR_WIDTH = 30
COLOURS = {"ok": "green", "warning": "yellow", "problem": "bold red"}


def _rich(name):
    """A module of rich, for a terminal only; else None."""
    if not sys.stdout.isatty():
        return None
    try:
        return __import__(f"rich.{name}", fromlist=["rich"])
    except ImportError:
        return None


def print_state(state, text):
    """A line that begins with its state."""
    console, words = _rich("console"), _rich("text")
    if console is None or words is None:
        print(f"{state:<9}{text}")
        return
    line = words.Text(f"{state:<9}", style=COLOURS[state])
    console.Console().print(line.append(text, style="default"))


def _plain_bar():
    """On a terminal one line that is written again and again; elsewhere a line for each phase."""
    seen = []

    def show(share, what):
        if sys.stdout.isatty():
            filled = int(share * BAR_WIDTH)
            print(f"\r[{'#' * filled}{'.' * (BAR_WIDTH - filled)}] {what:<40}", end="", flush=True)
        elif seen[-1:] != [what]:
            print(what, flush=True)
        seen.append(what)

    def end():
        if seen and sys.stdout.isatty():
            print("\r" + " " * (BAR_WIDTH + 45) + "\r", end="", flush=True)

    return show, end


@contextmanager
def progress():
    """Gives a function show(share, what): a share from 0 to 1, and what is being done."""
    module = _rich("progress")
    if module is None:
        show, end = _plain_bar()
        try:
            yield show
        finally:
            end()
        return
    with module.Progress(transient=True) as bars:
        bar = bars.add_task("", total=1.0)
        yield lambda share, what: bars.update(bar, completed=share, description=what)
