"""``talkhouse search``: the turns that contain a text."""

import sys
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click

from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.console import around, highlighted, output, print_hanging, rows_as_json, styled, who
from talkhouse.settings import database
from talkhouse.visible import visible

if TYPE_CHECKING:
    from talkhouse.explore.dialogue import Target
    from talkhouse.explore.search import SearchMatches, ShownTurn

_MATCH = "bold red"
_IDS = 3
"""Ids that are named."""
_HIT_LINES = 4
"""Lines of a terminal that a hit may take; a turn beside it takes one."""


@options.command
@click.argument("text", metavar="TEXT", help="The text to search for.")
@options.db
@options.flag("--regex", help="TEXT is a regular expression in RE2 syntax.")
@options.flag("--case-sensitive/--ignore-case", "-s/-i", "match_case", help="Whether upper and lower case differ.")
@options.corpus
@click.option("--role", metavar="ROLE", help="Only turns of this role: user, system ...")
@options.split
@click.option("--context", "-C", metavar="N", type=options.ROWS, default=1, help="Turns to show before and after each.")
@click.option(
    "--limit", metavar="N", type=options.ROWS, default=50, help="Show at most N turns, and say how many more there are."
)
@options.as_json
def command(
    text: str,
    db: Path | None,
    regex: bool,
    match_case: bool,
    corpus: str | None,
    role: str | None,
    split: str | None,
    context: int,
    limit: int,
    as_json: bool,
) -> None:
    r"""Find the turns that contain a text, each with its dialogue id and its turn index, which counts from 0.

    Case is ignored unless --case-sensitive is given. Otherwise the text is matched to the character: %, * and quotes
    have no special meaning, and nothing is normalised. Turns are sorted by dialogue id and turn index. If nothing is
    found, the command says so, and the exit code is 0. If the text is the id of a dialogue or record, standard error
    names the command that shows it.

    On a terminal, long texts are cut around the match. Elsewhere each turn is one whole line of tab-separated columns:
    dialogue id, turn index, > for a match (nothing for the turns around it), role, speaker, text; control characters
    and invisible ones are written as \n, \t, \x1b, \u200b. --json is exact: one array of objects, with matches as begin
    and end in characters.

    Examples:
        talkhouse search "lighthouse"
        talkhouse search --regex "\b(colou?r|shade)s?\b" --corpus dbdc3 --role user
        talkhouse search "lighthouse" --limit 100000 --context 0 --json > hits.json
    """
    from talkhouse.explore.dialogue import find_ids
    from talkhouse.explore.search import search
    from talkhouse.warehouse.opened import opened

    with opened(database(db)) as warehouse:
        hits = search(
            warehouse.con,
            text,
            regex=regex,
            match_case=match_case,
            corpus=corpus,
            role=role,
            split=split,
            context=context,
            limit=limit,
        )
        if as_json:
            print(rows_as_json(hits.hits))
        elif output.is_terminal:
            _show(hits)
        else:
            _list(hits)
        sys.stdout.flush()
        _summarise(hits, text, regex=regex)
        _name([] if regex else find_ids(warehouse.con, text, _IDS, whole=True))


def _show(found: "SearchMatches") -> None:
    """Print for a person: a heading per dialogue, matches highlighted, long texts cut around them."""
    from talkhouse.explore.search import with_neighbours

    for dialogue_id, hits in groupby(found.hits, key=lambda hit: hit.dialogue_id):
        lines = with_neighbours(hits)
        splits = ", ".join(lines[0][0].splits)
        print_hanging(styled(), styled().append(visible(dialogue_id), "bold").append(f"  {visible(splits)}", "dim"))
        previous = None
        for hit, turn in lines:
            if previous is not None and turn.turn_index > previous + 1:
                print_hanging(styled("     ..."))
            previous = turn.turn_index
            _print_turn(turn, is_hit=hit is turn)
        output.print()


def _print_turn(turn: "ShownTurn", *, is_hit: bool) -> None:
    from rich.cells import cell_len
    from rich.text import Text

    head = styled(f"{'>' if is_hit else ' '}{turn.turn_index:>5}  ")
    name = f"{who(turn.role, turn.speaker, turn.kind)}: "
    text = highlighted(turn.text, turn.matches, _MATCH)
    first = len(visible(turn.text[: turn.matches[0][0]])) if turn.matches else 0
    room = max(output.console.width - head.cell_len, 20) * (_HIT_LINES if is_hit else 1) - cell_len(name)
    body = Text.assemble((name, "bold" if is_hit else ""), around(text, first, room))
    if not is_hit:
        head.stylize("dim")
        body.stylize("dim")
    print_hanging(head, body)


def _list(found: "SearchMatches") -> None:
    """Print for programs: one whole line per turn, in tab-separated columns."""
    from talkhouse.explore.search import with_neighbours

    for dialogue_id, hits in groupby(found.hits, key=lambda hit: hit.dialogue_id):
        for hit, turn in with_neighbours(hits):
            sign = ">" if hit is turn else ""
            cells = (dialogue_id, str(turn.turn_index), sign, turn.role, turn.speaker or "", turn.text)
            print("\t".join(map(visible, cells)))


def _summarise(found: "SearchMatches", text: str, *, regex: bool) -> None:
    """Print on standard error how many there are, and how to see the rest."""
    turns, dialogues = _count(found.turns, "turn"), _count(found.dialogues, "dialogue")
    message = f"found in {turns} of {dialogues}"
    if not found.turns:
        message = f"no turn {'matches' if regex else 'contains'} '{visible(text)}'"
    if found.turns > len(found.hits):
        message += f"; {found.turns - len(found.hits):,} more with a higher --limit"
    click.echo(message, err=True)
    if found.hits and output.is_terminal:
        click.echo("show a whole dialogue with: talkhouse show DIALOGUE_ID", err=True)


def _name(targets: "list[Target]") -> None:
    """Print on standard error how to see what has the text as its id."""
    for target in targets:
        click.echo(f"the id of a {target.kind}: talkhouse show {visible(target.id)}", err=True)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")
