"""What the shell completes at TAB: the names of views, tables, corpora and layouts."""

from functools import partial
from pathlib import Path

import click

from talkhouse.escaping import visible
from talkhouse.schema.errors import TalkhouseError, UsageError
from talkhouse.settings import corpus_folders, database


def relations(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """List the views and tables whose names begin with what was typed."""
    import talkhouse
    from talkhouse.warehouse.relations import relations

    try:
        with talkhouse.open(database(context.params.get("db"))) as con:
            names = [f"{relation['schema']}.{relation['name']}" for relation in relations(con)]
    except TalkhouseError:
        return []  # there is no warehouse, and a message would disturb the command line
    return [name for name in names if name.startswith(incomplete) and name == visible(name)]


def corpora(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """List the corpora that are known here and whose ids begin with what was typed; none is imported."""
    from talkhouse.ingest.registry import all_corpora

    try:
        known = all_corpora(corpus_folders(context.params.get("folders")))
    except TalkhouseError:
        return []
    return [name for name in known if name.startswith(incomplete) and name == visible(name)]


def note_labels(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """List the labels of notes that begin with what was typed."""
    from talkhouse.notes.notes_file import labels, open_notes, path_for

    path = path_for(database(context.params.get("db")))
    try:
        with open_notes(path) as con:
            names = labels(con)
    except (TalkhouseError, OSError):
        return []
    return [name for name in names if name.startswith(incomplete) and name == visible(name)]


def layouts(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """List the values of ``--format``: those of the task, where one is named already."""
    from talkhouse.scores.options import AUTO, TABLE, layout_names
    from talkhouse.scores.task import task
    from talkhouse.warehouse.opened import opened

    name = context.params.get("name") or ""
    try:
        try:
            with opened(database(context.params.get("db"))) as warehouse:
                known = task(name, warehouse.catalogue)
        except TalkhouseError:
            known = task(name)
        names = [layout.name for layout in known.layouts]
    except TalkhouseError:
        names = layout_names()
    return [name for name in (AUTO, TABLE, *names) if name.startswith(incomplete)]


_PLACES = {
    "bash": (".bash_completions/talkhouse.sh", ".bashrc", "source '{path}'"),
    "zsh": (".zfunc/_talkhouse", ".zshrc", "fpath+=~/.zfunc; autoload -Uz compinit; compinit"),
    "fish": (".config/fish/completions/talkhouse.fish", None, ""),
}
"""Where a shell's script lies below the home folder, and the line and file that read it."""


def _script() -> tuple[str, str]:
    """Return the shell that this is started from, and its completion script. Raises UsageError."""
    from click.shell_completion import get_completion_class
    from shellingham import ShellDetectionFailure, detect_shell

    try:
        shell = detect_shell()[0]
    except ShellDetectionFailure:
        shell = "an unknown one"
    if (kind := get_completion_class("powershell" if shell == "pwsh" else shell)) is None:
        raise UsageError("there is no completion for this shell", expected="bash, zsh, fish or PowerShell", found=shell)
    return shell, kind(click.get_current_context().command, {}, "talkhouse", "_TALKHOUSE_COMPLETE").source()


def _show(context: click.Context, _: click.Parameter, is_asked: bool) -> None:
    if is_asked and not context.resilient_parsing:
        click.echo(_script()[1])
        context.exit()


def _install(context: click.Context, _: click.Parameter, is_asked: bool) -> None:
    if not is_asked or context.resilient_parsing:
        return
    shell, script = _script()
    if shell not in _PLACES:
        raise UsageError(
            f"completion can't be installed for {shell}",
            next_step="add what talkhouse --show-completion prints to the file that it reads when it starts",
        )
    place, read_by, line = _PLACES[shell]
    path = Path.home() / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(script, encoding="utf-8")
    if read_by is not None:
        start = Path.home() / read_by
        line = line.format(path=path)
        if not start.exists() or line not in start.read_text(encoding="utf-8").splitlines():
            with start.open("a", encoding="utf-8") as stream:
                stream.write(f"\n{line}\n")
    click.echo(f"{shell} completes talkhouse when it is started again: {path}")
    context.exit()


_option = partial(click.option, is_flag=True, is_eager=True, expose_value=False)
install = _option("--install-completion", callback=_install, help="Install completion for the current shell.")
show = _option(
    "--show-completion",
    callback=_show,
    help="Show completion for the current shell, to copy it or customize the installation.",
)
