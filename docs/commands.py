"""Writes the pages of the commands from their help."""

import inspect
from collections.abc import Iterator, Sequence

import click

from talkhouse.cli.commands import app


def commands_pages() -> dict[str, str]:
    """Return the pages as Markdown by their places in ``docs/``: an overview, and one for each command."""
    root = app.context_class(app, info_name="talkhouse", **app.context_settings)
    pages = {"commands.md": root} | {f"commands/{sub.info_name}.md": sub for sub in _below(root)}
    return {place: "\n\n".join(_command(ctx)) + "\n" for place, ctx in pages.items()}


def _command(ctx: click.Context) -> Iterator[str]:
    """Yield the paragraphs about a command and those under it; of the program, whose commands have pages, alone."""
    yield f"{'#' * len(ctx.command_path.split()[1:])} `{ctx.command_path}`" if ctx.parent else "# Commands"
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
    records["Commands"] = [(str(sub.info_name), sub.command.get_short_help_str(10_000)) for sub in _below(ctx)]
    for kind, known in records.items():
        link = "[`{0}`](commands/{0}.md)" if kind == "Commands" and not ctx.parent else "`{}`"
        if lines := [f"* {link.format(term)}: {_prose(text)}" for term, text in filter(None, known)]:
            yield "\n".join([f"**{kind}**:", "", *lines])
    for sub in _below(ctx) if ctx.parent else ():
        yield from _command(sub)


def _prose(text: str) -> str:
    return text.replace("<", "&lt;")


def _below(ctx: click.Context) -> Sequence[click.Context]:
    group = ctx.command
    if not isinstance(group, click.Group):
        return []
    known = ((name, group.get_command(ctx, name)) for name in group.list_commands(ctx))
    return [app.context_class(sub, info_name=name, parent=ctx) for name, sub in known if sub]
