"""``talkhouse inspect``: what a file holds, and which format it looks like."""

import shlex
from pathlib import Path
from typing import Any

import click

from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.console import output, styled
from talkhouse.cli.terminal.show_text import around, print_hanging
from talkhouse.visible import visible, visible_json

_WIDEST_NAME = 24
_ELSEWHERE = 160
"""Columns of a line where there is no terminal."""


@options.command
@click.argument(
    "file", metavar="FILE", type=options.PATH, help="A file of dialogues: JSON, JSON Lines, CSV, TSV, Parquet."
)
@options.as_json
def command(file: Path, as_json: bool) -> None:
    """Look at the beginning of a file: its fields, which format it looks like and why, and its first dialogue.

    At most the first 1,000 records or 8 MB are read, unpacked where it is a .gz, and 1,000 fields of them; the rest may
    be different. Nothing is loaded, nothing in the file is run, and no address in it is followed.

    --json prints one object: file, form, bytes, records (how many were read), is_whole (whether that is all), problem,
    fields (name, types with counts, count, distinct, low, high, example, words, members), looks_like (format, reason,
    or null), first_dialogue (who, text), next.

    Examples:
        talkhouse inspect chats/train.jsonl
        talkhouse inspect chats/train.jsonl --json
    """
    from rich.cells import set_cell_size

    from talkhouse.guess.inspection import inspected

    seen = inspected(file)
    if as_json:
        print(visible_json(seen.as_data()))
        return
    _line(f"{seen.name}: {seen.about}")
    if seen.problem:
        _line(f"  {seen.problem}")
    _put_fields(seen.lines)
    _line(f"looks like: {seen.looks_like}")
    if seen.first:
        _line("first dialogue:")
        width = min(max(len(visible(who)) for who, _ in seen.first), _WIDEST_NAME)
        for who, text in seen.first:
            _line(f"  {set_cell_size(visible(who), width)}  {visible(text)}")
    if seen.next_folder:
        print_hanging(styled("next: "), styled(visible(f"talkhouse new {shlex.quote(seen.next_folder)}")))


def _put_fields(lines: list[tuple[str, ...]]) -> None:
    """Print the fields in columns, the last of which gets what is left of the width."""
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
        output.print(line, soft_wrap=True)
    else:
        print(line.plain)
