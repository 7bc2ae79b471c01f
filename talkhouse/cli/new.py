"""``talkhouse new`` and ``inspect``: begin something of your own, and look into its files first."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.console import around, output, print_hanging, styled
from talkhouse.cli.terminal.options import Command, Group
from talkhouse.escaping import visible, visible_json
from talkhouse.new_corpus import Like

if TYPE_CHECKING:
    from talkhouse.guess.guessed_folder import Look
    from talkhouse.guess.trial import Trial

_WIDTH = 13
_PARTS = {
    "__init__.py": "what it is: title, licence, citation, splits, schemes, rules",
    "format.py": "the published files, in types",
    "read.py": "files to rows",
    "write.py": "rows back to files",
    "queries": "a task with its examples, its view, what it scores, and a chart",
    "sample": "invented files, which show every split and scheme",
    "README.md": "how raw becomes rows",
    "tests": "golden and broken files, clauses, and one test file: all of it passes",
    "pyproject.toml": "the package, with the entry point that Talkhouse finds it by",
}


_MOST_NAMED = 8
"""Files or fields that are named; of more, how many there are."""


_OF_FOLDER = "DIR"
"""How help calls the command that has no name, by its argument; a folder of this name is one like others."""


class _OfFolder(Command):
    """The command without a name: ``talkhouse new DIR`` beside ``talkhouse new corpus ID``."""

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Leave out the argument, which stands in the place of the name."""
        return super().collect_usage_pieces(ctx)[:1]


class _New(Group):
    """A group whose first word, if it names no command, is the folder of a corpus."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the name of the command, the command, and its arguments."""
        if args[0].startswith("-") or (args[0] in self.commands and args[0] != _OF_FOLDER):
            return super().resolve_command(ctx, args)
        return _OF_FOLDER, self.commands[_OF_FOLDER], args

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names in their order."""
        return [*self.commands]


@click.group(cls=_New)
def new_command() -> None:
    """Start a corpus of your own."""


@new_command.command(_OF_FOLDER, cls=_OfFolder)
@click.argument("folder", metavar="DIR", type=options.PATH, help="The folder of a corpus, named by its id.")
@options.flag("--known", help="Take the page of a known corpus without asking, if the files look like one.")
@options.as_json
def of_folder(folder: Path, known: bool, as_json: bool) -> None:
    """Write DIR/corpus.toml, by which the dialogues in DIR become a corpus, as far as its files show how.

    DIR is a folder of files (JSON, JSON Lines, CSV, TSV, Parquet, each also as .gz, and archives), named by the
    corpus's id. Some of its files are read, 8 MB at most. The result is a proposal: each guess has its evidence next to
    it, and what you have to decide or fill in is marked 'to decide' or 'to do'. If an assistant answers, or answers are
    compared, a task is declared for it. Editors complete and check the file with .corpus.schema.json, which is written
    next to it.

    If the files have the names and fields of a corpus whose declaration comes with Talkhouse, you are asked whether to
    write that declaration instead; without a terminal it is only mentioned, and --known takes it.

    Then the same records are read with the new declaration, as a build would do, and you see the result: dialogues,
    turns, roles, turns without words, how often each rule found something and where first, and the beginning of the
    first dialogue. A build reads every record.

    Nothing is ever overwritten; for files of an unknown format, a skeleton is written.

    --json prints one object: declaration (its path), known (the title of the page that was taken) or null, resembles
    (that of a known page that was not) or null, format or null, files (path, split), id, extra, labels, problems,
    left (path, reason), to_do, to_decide, sample (records, set_aside, dialogues, turns, roles, empty, findings, first,
    problem) or null, next.

    Examples:
        talkhouse new corpora/kitchen_chat
        talkhouse new ./corpus
        talkhouse new corpora/public_chat --known
    """
    from talkhouse.guess.new_declaration import new_declaration

    is_asked = sys.stdin.isatty() and output.is_terminal and not as_json
    look = new_declaration(folder, lambda title: known or (is_asked and _takes(title)))
    parent = folder.resolve().parent if folder.name in ("", "..") else folder.parent
    command = f"talkhouse build --data {shlex.quote(str(parent))} --dry-run"
    if as_json:
        print(visible_json({**look.as_data(folder), "next": command}))
        return
    _print_look(folder, look)
    if look.trial is not None:
        _print_trial(look.trial)
    print_hanging(styled("next: "), styled(visible(command)))


def _takes(title: str) -> bool:
    """Ask whether the known page of a corpus is taken."""
    try:
        return click.confirm(visible(f"this looks like {title}; its page is known. Take it?"), default=True)
    except click.Abort:
        raise KeyboardInterrupt("interrupted; nothing was written") from None


def _print_look(folder: Path, look: "Look") -> None:
    """Print what was written, and what is left to do."""
    from talkhouse.ingest.files.skipped import DECLARATION

    guess = look.guess
    files = _shortened([f"{path} ({split})" if split else path for path, split in look.files])
    head = f"{folder / DECLARATION}: "
    if look.known is not None:
        print_hanging(styled("wrote "), styled(visible(f"{head}the known page of {look.known}, " + ", ".join(files))))
    elif guess is None:
        print_hanging(
            styled("wrote "), styled(visible(f"{head}a skeleton, since this looks like no format that is known"))
        )
    else:
        about = [guess.format, *files, *([f"id = {look.id_text}"] if look.id_text else [])]
        print_hanging(styled("wrote "), styled(visible(head + ", ".join(about))))
        if guess.extra:
            print_hanging(styled("  kept in extra: "), styled(visible(", ".join(_shortened(guess.extra)))))
        if guess.left:
            print_hanging(styled("  kept in extra of turns: "), styled(visible(", ".join(guess.left))))
    if look.labels:
        print_hanging(styled("  labels, perhaps: "), styled(visible(", ".join(taken.path for taken in look.labels))))
    for path, problem in look.problems.items():
        print_hanging(styled("  problem: "), styled(visible(f"{path}: {problem}")))
    if look.left:
        left = [f"{path} ({reason})" for path, reason in look.left.items()]
        print_hanging(styled("  left: "), styled(visible(", ".join(_shortened(left)))))
    for line in look.to_decide:
        print_hanging(styled("  to decide: "), styled(visible(line)))
    if look.resembles is not None:
        text = f"{look.resembles}, whose page is known: to take that, remove this one, and run it again with --known"
        print_hanging(styled("  looks like: "), styled(visible(text)))
    if look.to_do:
        print_hanging(styled("  to do: "), styled(", ".join(look.to_do)))


_MOST_SHOWN = 3
"""Turns of the first dialogue that are shown."""


def _print_trial(trial: "Trial") -> None:
    """Print what came of the sample."""
    roles = ", ".join(_shortened([f"{role} {count:,}" for role, count in trial.roles.items()]))
    counts = [
        f"{trial.records:,} record{'s' * (trial.records != 1)}",
        *([f"{trial.set_aside:,} of them can't be loaded"] if trial.set_aside else []),
        f"{trial.dialogues:,} dialogue{'s' * (trial.dialogues != 1)}",
        f"{trial.turns:,} turn{'s' * (trial.turns != 1)}" + f" ({roles})" * bool(roles),
        *([f"{trial.empty:,} of them without words"] if trial.empty else []),
    ]
    print_hanging(styled("read by it: "), styled(visible(", ".join(counts))))
    if trial.problem:
        print_hanging(styled("  problem: "), styled(visible(trial.problem)))
    for finding in trial.findings:
        times = f" {finding.count:,} times, first" if finding.count > 1 else ""
        print_hanging(styled(f"  {finding.rule}{times} at "), styled(visible(f"{finding.place}: {finding.detail}")))
    _print_turns(trial.first[:_MOST_SHOWN], "first dialogue, its beginning:")


def _print_turns(turns: Sequence[tuple[str, str]], head: str) -> None:
    """Print who says what, a line each."""
    from rich.cells import set_cell_size

    if turns:
        _line(head)
        width = min(max(len(visible(who)) for who, _ in turns), _WIDEST_NAME)
        for who, text in turns:
            _line(f"  {set_cell_size(visible(who), width)}  {visible(text)}")


def _shortened(names: Sequence[str]) -> list[str]:
    more = len(names) - _MOST_NAMED
    return [*names[:_MOST_NAMED], f"{more:,} more"] if more > 1 else list(names)


@new_command.command("corpus", cls=Command)
@click.argument("corpus_id", metavar="ID", help="The id of the new corpus.")
@click.argument(
    "parent",
    metavar="[DIR]",
    type=options.PATH,
    default=Path(),
    help="The folder that gets it.  [default: this folder]",
)
@click.option("--like", type=options.OneOf(Like), required=True, help="What the publisher's files are like.")
@options.flag("--package", help="Make a package, which others can install.")
def corpus(corpus_id: str, parent: Path, like: Like, package: bool) -> None:
    """Start a corpus with code of its own: reader, writer, declaration, a task and its chart, a sample, and tests.

    What is written is a whole corpus of invented data, which builds and whose tests pass; adapt it to your own files.
    Nothing is ever overwritten.

    json-list: a file is a list of dialogues; csv-rows: a dialogue is several rows of a file; file-per-dialogue: each
    file, of text or anything else, is a dialogue.

    Examples:
        talkhouse new corpus tea_talks --like file-per-dialogue
        talkhouse new corpus film_scenes ~/src --like json-list --package
    """
    from talkhouse.new_corpus import new_corpus

    folder = new_corpus(corpus_id, like, parent, is_package=package)
    print_hanging(styled("wrote "), styled(f"{visible(str(folder))}: a corpus of invented data, like {like}"))
    width = _WIDTH + (len(f"talkhouse_{corpus_id}/") if package else 0)
    for path in sorted(folder.rglob("*")):
        if path.name in _PARTS and len(path.relative_to(folder).parts) <= 1 + package:
            name = path.relative_to(folder).as_posix() + "/" * path.is_dir()
            print_hanging(styled(f"  {name:<{width}}"), styled(_PARTS[path.name]))
    where = visible(str(folder))
    steps = f"pip install --editable {where}, then: talkhouse conform {corpus_id}"
    print_hanging(styled("next: "), styled(steps if package else f"talkhouse conform {corpus_id} --corpora {where}"))


_MOST_FILES = 20
"""Files of a folder or archive that are listed."""
_WIDEST_NAME = 24
_ELSEWHERE = 160
"""Columns of a line where there is no terminal."""


@options.command
@click.argument(
    "file", metavar="FILE", type=options.PATH, help="A file of dialogues, or a folder or archive of such files."
)
@options.as_json
def inspect_command(file: Path, as_json: bool) -> None:
    """Look at the beginning of a file: its fields, which format it looks like and why, and its first dialogue.

    FILE is JSON, JSON Lines, CSV, TSV or Parquet, each also as .gz; of a folder or archive the files are listed, some
    of them looked into, and the fields of one are shown.

    At most the first 1,000 records or 8 MB are read, unpacked where it is a .gz, and 1,000 fields of them; the rest may
    be different. Nothing is loaded, nothing in the file is run, and no address in it is followed.

    --json prints one object: file, files (path, size, what; of a folder or archive), form, bytes, records (how many
    were read), is_whole (whether that is all), problem, fields (name, types with counts, count, distinct, low, high,
    example, words, members), looks_like (format, reason, or null), first_dialogue (who, text), next.

    Examples:
        talkhouse inspect chats/train.jsonl
        talkhouse inspect chats/train.jsonl --json
        talkhouse inspect export.zip
    """
    from talkhouse.guess.inspection import inspected

    seen = inspected(file)
    if as_json:
        print(visible_json(seen.as_data()))
        return
    _line(f"{seen.name}: {seen.about}")
    if seen.problem:
        _line(f"  {seen.problem}")
    for path, size, what in seen.files[:_MOST_FILES]:
        _line(f"  {path}  {size}  {what}".rstrip())
    if len(seen.files) > _MOST_FILES:
        _line(f"  {len(seen.files) - _MOST_FILES:,} more")
    if seen.files:
        _line(f"{seen.sample.path}:")
    _print_fields(seen.lines)
    _line(f"looks like: {seen.looks_like}")
    _print_turns(seen.first, "first dialogue:")
    if seen.next_folder:
        print_hanging(styled("next: "), styled(visible(f"talkhouse new {shlex.quote(seen.next_folder)}")))


def _print_fields(lines: list[tuple[str, ...]]) -> None:
    """Print the fields in columns; the last gets the rest of the width."""
    from rich.cells import set_cell_size

    shown = [[visible(cell) for cell in line] for line in lines]
    widths = [min(max(map(len, cells)), _WIDEST_NAME) for cells in zip(*shown, strict=True)][:-1]
    for *cells, last in shown:
        padded = "  ".join(set_cell_size(cell, width) for cell, width in zip(cells, widths, strict=True))
        _line(f"  {padded}  {last}".rstrip())


def _line(text: str) -> None:
    """Print one line, cut to the width of the terminal."""
    width = output.console.width if output.is_terminal else _ELSEWHERE
    line: Any = around(styled(visible(text)), 0, width)
    if output.is_terminal:
        output.print(line)
    else:
        print(line.plain)
