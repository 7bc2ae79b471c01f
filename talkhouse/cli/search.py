"""``talkhouse search``: turns that contain a text, with their place."""

import sys
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer
from rich.cells import cell_len
from rich.text import Text

from talkhouse.cli.terminal.completion import corpora
from talkhouse.cli.terminal.console import Database, Json, output, quiet_end
from talkhouse.cli.terminal.show_text import around, as_json, marked, put, visible, who
from talkhouse.settings import database

if TYPE_CHECKING:
    from collections.abc import Iterable

    from talkhouse.explore.search import Found, Hit, Said

_MATCH = "bold red"
_HIT_LINES = 4
"""Lines of a terminal that a hit may take; a neighbour takes one."""


def command(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to look for, to the character.")],
    db: Database = None,
    regex: Annotated[
        bool, typer.Option("--regex", metavar="", help="TEXT is a regular expression, in RE2's syntax.")
    ] = False,
    ignore_case: Annotated[
        bool, typer.Option("--ignore-case", "-i", metavar="", help="Find it in capital and small letters alike.")
    ] = False,
    corpus: Annotated[
        str | None,
        typer.Option(
            "--corpus",
            metavar="ID",
            help="Only this corpus.",
            show_default=False,
            autocompletion=corpora,
        ),
    ] = None,
    role: Annotated[
        str | None,
        typer.Option("--role", metavar="ROLE", help="Only what this role said: user, system ...", show_default=False),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(
            "--split",
            metavar="SPLIT",
            help="Only dialogues of this split: the publisher's name, or train, validation, test.",
            show_default=False,
        ),
    ] = None,
    context: Annotated[
        int, typer.Option("--context", "-C", metavar="N", min=0, help="Turns to give before and after each.")
    ] = 1,
    limit: Annotated[
        int, typer.Option(metavar="N", min=0, help="Give at most N turns, and say how many more there are.")
    ] = 50,
    as_data: Json = False,
) -> None:
    r"""Find the turns that contain a text, with their place: dialogue id, and turn index from 0.

    The text is found as it stands, to the character: % and * and quotes mean themselves, and nothing is normalised.
    Turns come by dialogue id and turn index. Where nothing is found, that is said, and the exit code is 0.

    On a terminal long texts are cut around the match. Elsewhere each turn is one line, whole, in columns separated by
    tabs: dialogue id, turn index, > for a hit and nothing for a neighbour, role, speaker, text; control characters are
    written as \n, \t, \x1b. --json is exact: one array of objects, where matches are begin and end in characters.

    Examples:
        talkhouse search "lighthouse"

        talkhouse search --regex "\b(colou?r|shade)s?\b" -i --corpus dbdc3 --role user

        talkhouse search "lighthouse" --limit 100000 --context 0 --json > hits.json
    """
    import talkhouse
    from talkhouse import interrupt
    from talkhouse.explore.search import search

    with quiet_end(), talkhouse.open(database(db)) as con, interrupt.stoppable(con, None):
        # DuckDB would draw its progress bar among the hits.
        con.execute("set enable_progress_bar = false")
        found = search(
            con,
            text,
            regex=regex,
            ignore_case=ignore_case,
            corpus=corpus,
            role=role,
            split=split,
            context=context,
            limit=limit,
        )
        if as_data:
            print(as_json(found.hits))
        elif output.is_terminal:
            _show(found)
        else:
            _list(found)
        sys.stdout.flush()
        _summarise(found, text, regex=regex)


def _show(found: "Found") -> None:
    """Print for eyes: a heading per dialogue, matches highlighted, long texts cut around them."""
    for dialogue_id, hits in groupby(found.hits, key=lambda hit: hit.dialogue_id):
        lines = _lines(hits)
        splits = ", ".join(next(iter(lines.values()))[0].splits)
        put(Text(""), Text.assemble((visible(dialogue_id), "bold"), (f"  {visible(splits)}", "dim")))
        previous = None
        for index, (hit, said) in sorted(lines.items()):
            if previous is not None and index > previous + 1:
                put(Text("     ..."))
            previous = index
            _put_turn(said, is_hit=hit is said)
        output.print()


def _lines(hits: "Iterable[Hit]") -> "dict[int, tuple[Hit, Said]]":
    """Give the turns of one dialogue that are hits or neighbours, each once and with a hit that it belongs to."""
    lines: dict[int, tuple[Hit, Said]] = {}
    for hit in hits:
        for said in (*hit.before, *hit.after):
            lines.setdefault(said.turn_index, (hit, said))
        lines[hit.turn_index] = (hit, hit)
    return lines


def _put_turn(said: "Said", *, is_hit: bool) -> None:
    head = Text(f"{'>' if is_hit else ' '}{said.turn_index:>5}  ")
    name = f"{who(said.role, said.speaker, said.kind)}: "
    text = marked(said.text, said.matches, _MATCH)
    first = len(visible(said.text[: said.matches[0][0]])) if said.matches else 0
    room = max(output.width - head.cell_len, 20) * (_HIT_LINES if is_hit else 1) - cell_len(name)
    body = Text.assemble((name, "bold" if is_hit else ""), around(text, first, room))
    if not is_hit:
        head.stylize("dim")
        body.stylize("dim")
    put(head, body)


def _list(found: "Found") -> None:
    """Print for programs: a line per turn, whole, in columns that are separated by tabs."""
    for dialogue_id, hits in groupby(found.hits, key=lambda hit: hit.dialogue_id):
        for index, (hit, said) in sorted(_lines(hits).items()):
            sign = ">" if hit is said else ""
            cells = (dialogue_id, str(index), sign, said.role, said.speaker or "", said.text)
            print("\t".join(map(visible, cells)))


def _summarise(found: "Found", text: str, *, regex: bool) -> None:
    """Say on standard error how many there are, and how to see the rest."""
    turns, dialogues = _count(found.turns, "turn"), _count(found.dialogues, "dialogue")
    said = f"found in {turns} of {dialogues}"
    if not found.turns:
        said = f"no turn {'matches' if regex else 'contains'} '{visible(text)}'"
    if found.turns > len(found.hits):
        said += f"; {found.turns - len(found.hits):,} more with a higher --limit"
    typer.echo(said, err=True)
    if found.hits and output.is_terminal:
        typer.echo("read one whole with: talkhouse show DIALOGUE_ID", err=True)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")
