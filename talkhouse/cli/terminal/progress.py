"""Live progress of long work on a terminal (standard error); a build prints plain lines elsewhere."""

import time
from typing import TYPE_CHECKING, Self

from talkhouse.cli.terminal.console import Printer, decimal, errors, escape
from talkhouse.escaping import visible
from talkhouse.system import ctrl_c

if TYPE_CHECKING:
    from rich.progress import Progress

_REDRAWN = 0.1
"""Seconds after which the bar is drawn again."""


class ProgressBar:
    """Shows one step at a time: what it is, how many records and bytes are done, how fast, and the time left.

    It is drawn again after so many seconds at the earliest, ``redrawn``, and only where the printer is a terminal.
    """

    def __init__(self, printer: Printer = errors, redrawn: float = _REDRAWN) -> None:
        self._printer, self._redrawn = printer, redrawn
        self._bar: Progress | None = None
        self.records = self._size = 0
        self._begun = self._drawn = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.stop()

    def begin(self, step: str, *, records: int = 0, size: int = 0, unit: str = "records") -> None:
        """Show a new step, and no other; ``records`` and ``size`` (bytes) lie ahead, 0 where that is not known.

        Without a ``unit``, only bytes are shown.
        """
        self.end()
        self.records = self._size = 0
        if self._printer.is_terminal:
            self._bar = self._bar or self._started()
            self._bar.add_task(
                escape(visible(step)), total=size or records or None, counts="", records=records, size=size, unit=unit
            )

    def advance(self, records: int, size: int = 0) -> None:
        """Count records and bytes."""
        now = time.monotonic()
        if not self.records and not self._size:
            self._begun = now
        self.records += records
        self._size += size
        if now - self._drawn > self._redrawn:
            self._drawn = now
            if self._bar:
                self._draw(self._bar, max(now - self._begun, self._redrawn))

    def end(self) -> None:
        """Remove the step."""
        if self._bar:
            for task in self._bar.task_ids:
                self._bar.remove_task(task)

    def note(self, message: str) -> None:
        """Print why nothing moves."""
        self._printer.print(escape(message))

    def _started(self) -> "Progress":
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            TextColumn("{task.fields[counts]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=self._printer.console,
            transient=True,
            expand=True,
        )
        bar.start()
        return bar

    def _draw(self, bar: "Progress", seconds: float) -> None:
        for task in bar.tasks:
            records, size, unit = (task.fields[name] for name in ("records", "size", "unit"))
            counted = f"{self.records:,} of {records:,} {unit}" if records else f"{self.records:,} {unit}"
            counts = [counted] if unit else []
            if self._size:
                counts.append(f"{decimal(self._size)} of {decimal(size)}" if size else decimal(self._size))
            rate = decimal(int(self._size / seconds)) if self._size else f"{self.records / seconds:,.0f}"
            shown = ", ".join([*counts, f"{rate} a second"])
            bar.update(task.id, completed=self._size if size else self.records, counts=shown)


class BuildProgress(ProgressBar):
    """Shows a build's progress: a bar, or where there is no terminal a line as each corpus begins and ends."""

    _step = ""

    def __init__(self, unchanged: str = "the published warehouse is unchanged") -> None:
        """``unchanged``: what Ctrl-C is answered with."""
        super().__init__()
        self._unchanged = unchanged

    def __exit__(self, *raised: object) -> None:
        super().__exit__(*raised)
        if raised[0] is not None and ctrl_c.came():
            raise KeyboardInterrupt(f"interrupted; {self._unchanged}") from None

    def begin(self, step: str, *, records: int = 0, size: int = 0, unit: str = "records") -> None:
        """Show a new step, which reads so many bytes."""
        super().begin(step, records=records, size=size, unit=unit)
        self._step, self._started_at = step, time.monotonic()
        if not errors.is_terminal:
            errors.print(f"{step}: {size / 1e6:,.1f} MB" if size else step)

    def end(self) -> None:
        """Remove the step, and print how many records it had."""
        super().end()
        if self._step and not errors.is_terminal:
            seconds = time.monotonic() - self._started_at
            errors.print(f"{self._step.replace('reading', 'read', 1)}: {self.records:,} records in {seconds:,.1f} s")
        self._step = ""
