"""The command line: a module per command, or for several of one job, each a thin layer over what does the work."""

import gc
import os
import sys
from contextlib import suppress
from typing import NoReturn

from talkhouse.system import ctrl_c


def main() -> NoReturn:
    """Run a command; an error that the user can fix is one message, without a traceback."""
    # A command ends soon and makes no reference cycles, which Python would search for during its imports.
    gc.disable()
    sys.unraisablehook = _report
    # The imports take most of the time until a command begins, and modules in C don't pass KeyboardInterrupt on.
    with ctrl_c.ends_at_once():
        from talkhouse.cli.commands import run

        code = run()
        with suppress(BrokenPipeError):
            sys.stdout.flush()
            sys.stderr.flush()
        # Everything is closed; freeing millions of objects one by one would take another third of a second.
        os._exit(code)


def _report(lost: "sys.UnraisableHookArgs") -> None:
    """Report an exception that no caller can catch, unless it is Ctrl-C.

    Polars raises KeyboardInterrupt at Ctrl-C, and a moment later Python does so again, while generators are closed.
    """
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
