"""A group of commands of which one has no name: ``talkhouse new DIR`` beside ``talkhouse new corpus ID``."""

from typing import Any

from typer.core import TyperGroup


class DefaultCommand(TyperGroup):
    """Takes a first word that is no command's name for the argument of the command ``NAME``."""

    NAME = "DIR"
    """How help calls that command; a folder of this name is an argument like others."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the name of the command, the command, and its arguments."""
        if args[0].startswith("-") or (args[0] in self.commands and args[0] != self.NAME):
            return super().resolve_command(ctx, args)
        return self.NAME, self.commands[self.NAME], args
