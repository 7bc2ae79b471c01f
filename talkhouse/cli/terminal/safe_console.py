"""Rich's console, made safe for texts that come from files."""

from typing import Any

from rich.console import Console
from rich.text import Text

from talkhouse.cli.terminal.command import reader_has_left
from talkhouse.visible import visible


class SafeConsole(Console):
    """Prints what it is given as text safely for a terminal, and a reader who leaves is not an error.

    No emoji, since a key such as corpus:train:0 is not a picture of a train.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, emoji=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Make what acts on a terminal visible: messages quote texts, names of files and SQL."""
        return super().render_str(visible(text, lines=True), **options)

    def on_broken_pipe(self) -> None:
        """End with 0, as for ``| head``; Rich would end with 1."""
        raise reader_has_left()
