"""A group of commands of which one has no name: ``talkhouse new DIR`` beside ``talkhouse new corpus ID``."""

from typing import Any

from typer.core import TyperCommand, TyperGroup

NAME = "DIR"
"""How help calls the command without a name, by its argument; a folder of this name is one like others."""


class DefaultCommand(TyperCommand):
    """A command that is called by its argument."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Leave out the argument, which stands in the place of the name."""
        return super().collect_usage_pieces(ctx)[:1]


class GroupWithDefault(TyperGroup):
    """Takes a first word that is no command's name for the argument of the command ``NAME``."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the name of the command, the command, and its arguments."""
        if args[0].startswith("-") or (args[0] in self.commands and args[0] != NAME):
            return super().resolve_command(ctx, args)
        return NAME, self.commands[NAME], args
