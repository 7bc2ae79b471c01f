"""Writes the page of all commands from their help."""

import inspect
from collections.abc import Iterator, Sequence

import click

from talkhouse.cli.commands import app


def commands_page() -> str:
    """Return the page as Markdown."""
    paragraphs = _command(app.context_class(app, info_name="talkhouse", **app.context_settings))
    return "\n\n".join(["# Commands", *paragraphs]) + "\n"


def _command(ctx: click.Context) -> Iterator[str]:
    """Yield the paragraphs about a command, and of those under it."""
    command = ctx.command
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        head, *examples = paragraph.split("\n    ")
        yield "\n".join(["```sh", *examples, "```"]) if examples else _prose(" ".join(head.split()))
    yield f"**Usage**:\n\n```console\n$ {' '.join([ctx.command_path, *command.collect_usage_pieces(ctx)])}\n```"
    params = command.get_params(ctx)
    arguments = [param for param in params if isinstance(param, click.Argument)]
    records = {
        "Arguments": [
            (term, f"{text}{'  [required]' * argument.required}")
            for argument in arguments
            for term, text in [argument.get_help_record(ctx)]
        ],
        "Options": [param.get_help_record(ctx) for param in params if isinstance(param, click.Option)],
    }
    below = [app.context_class(sub, info_name=name, parent=ctx) for name, sub in _commands(ctx)]
    records["Commands"] = [(str(sub.info_name), sub.command.get_short_help_str(10_000)) for sub in below]
    for kind, known in records.items():
        if lines := [f"* `{term}`: {_prose(text)}" for term, text in filter(None, known)]:
            yield "\n".join([f"**{kind}**:", "", *lines])
    for sub in below:
        yield f"#{'#' * len(sub.command_path.split()[1:])} `{sub.command_path}`"
        yield from _command(sub)


def _prose(text: str) -> str:
    return text.replace("<", "&lt;")


def _commands(ctx: click.Context) -> Sequence[tuple[str, click.Command]]:
    group = ctx.command
    if not isinstance(group, click.Group):
        return []
    return [(name, sub) for name in group.list_commands(ctx) if (sub := group.get_command(ctx, name))]
