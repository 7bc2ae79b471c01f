"""``talkhouse search`` and ``vectors``: turns that contain a text, or are like it, and vectors of what turns mean."""

import sys
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.console import around, highlighted, output, print_hanging, rows_as_json, styled, who
from talkhouse.escaping import visible
from talkhouse.ingest.files.limits import LIMIT_OPTION, parse
from talkhouse.schema.errors import UsageError
from talkhouse.settings import database

if TYPE_CHECKING:
    from talkhouse.search.containing import SearchMatches, ShownTurn
    from talkhouse.search.ranked import RankedHit, RankedMatches


_KINDS = ("turn", "candidate", "persona")
_MATCH = "bold red"
_IDS = 3
"""Ids that are named."""
_HIT_LINES = 4
"""Lines of a terminal that a hit may take; a neighbouring turn takes one."""


@options.command
@click.argument("text", metavar="TEXT", help="The text to search for.")
@options.db
@options.flag("--regex", help="TEXT is a regular expression in RE2 syntax.")
@options.flag("--case-sensitive/--ignore-case", "-s/-i", "match_case", help="Whether upper and lower case differ.")
@options.flag("--rank", help="Find texts by the words of TEXT, the best first.")
@options.flag("--like", help="TEXT is DIALOGUE_ID#TURN_INDEX: find texts that are like this turn.")
@click.option(
    "--by",
    type=click.Choice(("words", "meaning")),
    default="words",
    help="With --rank and --like: by words, or by the vectors of talkhouse vectors.",
)
@options.model
@click.option(
    "--in", "kind", type=click.Choice(_KINDS), help="With --rank and --like: only texts of this kind. Default: all."
)
@options.corpus
@click.option("--role", metavar="ROLE", help="Only turns of this role: user, system ...")
@options.split
@click.option(
    "--context", "-C", metavar="N", type=options.ROWS, help="Turns to show before and after each. Default: 1."
)
@click.option(
    "--limit", metavar="N", type=options.ROWS, default=50, help="Show at most N turns, and say how many more there are."
)
@options.as_json
def search_command(
    text: str,
    db: Path | None,
    regex: bool,
    match_case: bool,
    rank: bool,
    like: bool,
    by: str,
    model: str | None,
    kind: str | None,
    corpus: str | None,
    role: str | None,
    split: str | None,
    context: int | None,
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

    --rank finds texts that have words of TEXT instead, by BM25: turns, the candidates that a response is chosen from,
    and personas. A word is letters and digits, upper or lower case; of Chinese, Japanese, Korean, Thai and the like
    each pair of neighbouring letters. A word that more than a tenth of all texts have finds no texts alongside a rarer
    word, and only adds to scores; if all words are such, a text must have all of them. The first time, and after the
    warehouse has changed, an index is written next to it, which can be deleted at any time. --like searches for the
    most characteristic words of a turn. With --by meaning, both find the turns whose vectors are nearest, and the score
    is the cosine; free text needs the model that the vectors were made by. All print place, score, kind, dialogue id,
    turn index, role, speaker and text.

    Examples:
        talkhouse search "lighthouse"
        talkhouse search --regex "\b(colou?r|shade)s?\b" --corpus dbdc3 --role user
        talkhouse search "lighthouse" --limit 100000 --context 0 --json > hits.json
        talkhouse search --rank "a night in the lighthouse" --in turn
        talkhouse search --like dbdc3:CIC9001#4
        talkhouse search --like dbdc3:CIC9001#4 --by meaning
    """
    from talkhouse.dialogues.dialogue import find_ids
    from talkhouse.search.containing import search
    from talkhouse.search.find import find_by_meaning, find_by_words
    from talkhouse.warehouse.opened import opened

    ranked = "--like" if like else "--rank" if rank else ""
    is_by_meaning = by == "meaning"
    if is_by_meaning and not ranked:
        raise UsageError("--by is for a search that ranks", expected="--by together with --rank or --like")
    if is_by_meaning and kind not in (None, "turn"):
        raise UsageError("only turns have vectors", next_step=f"leave out --in {kind}")
    if not ranked and kind is not None:
        raise UsageError("--in is for a search by words", expected="--in together with --rank or --like")
    others = {
        "--rank": rank and like,
        "--regex": regex,
        "--case-sensitive": match_case,
        "--context": context is not None,
    }
    if wrong := [name for name, is_given in others.items() if ranked and is_given]:
        raise UsageError(f"{ranked} does not go with {wrong[0]}", next_step=f"leave out {wrong[0]}")
    with opened(database(db)) as warehouse:
        if ranked:
            chosen = {"kind": kind, "corpus": corpus, "split": split, "role": role}
            choices = {name: [value] for name, value in chosen.items() if value}
            if is_by_meaning:
                found = find_by_meaning(warehouse, text, choices, limit, "" if like else model or "", is_like=like)
            else:
                found = find_by_words(warehouse, text, choices, limit, _making, is_like=like)
            if as_json:
                print(rows_as_json(found.hits))
            else:
                for hit in found.hits:
                    _show_ranked(hit)
            sys.stdout.flush()
            _summarise_ranked(found, is_by_meaning=is_by_meaning)
            return
        hits = search(
            warehouse.con,
            text,
            regex=regex,
            match_case=match_case,
            corpus=corpus,
            role=role,
            split=split,
            context=1 if context is None else context,
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
        for target in [] if regex else find_ids(warehouse.con, text, _IDS, whole=True):
            click.echo(f"the id of a {target.kind}: talkhouse show {visible(target.id)}", err=True)


def _making(why: str) -> None:
    click.echo(f"{why}; making it ...", err=True)


def _show_ranked(hit: "RankedHit") -> None:
    """Print a text that was found: for a person cut around its matches, for programs one whole line of columns."""
    from rich.text import Text

    from talkhouse.search.ranked import best_match

    who_says = who(hit.role or "", hit.speaker, "message") if hit.kind == "turn" else hit.kind
    at = "" if hit.turn_index is None else str(hit.turn_index)
    if not output.is_terminal:
        cells = (str(hit.place), f"{hit.score:.6f}", hit.kind, hit.dialogue_id or "", at, hit.role or "")
        print("\t".join(map(visible, (*cells, hit.speaker or "", hit.text))))
        return
    place = visible(f"{hit.dialogue_id or hit.record_id or hit.corpus_id}{at and f'#{at}'}")
    head = styled().append(f"{hit.place:>4}  ").append(place, "bold")
    print_hanging(head.append(f"  {visible(', '.join(hit.splits))}  {hit.score:.2f}", "dim"))
    first = len(visible(hit.text[: best_match(hit.text, hit.matches)]))
    room = max(output.console.width - 6, 20) * _HIT_LINES - len(who_says) - 2
    text = around(highlighted(hit.text, hit.matches, _MATCH), first, room)
    print_hanging(styled(" " * 6), Text.assemble((f"{who_says}: ", "bold"), text))


def _summarise_ranked(found: "RankedMatches", *, is_by_meaning: bool) -> None:
    """Print on standard error how many there are, by which words, and how to see the rest."""
    if is_by_meaning:
        click.echo(f"the nearest {len(found.hits):,} of {_count(found.texts, 'turn')} by meaning", err=True)
        return
    words = ", ".join(f"{visible(word.word)} ({_count(word.texts, 'text')})" for word in found.words)
    message = f"found {_count(found.texts, 'text')}" if found.texts else "no text was found"
    if found.texts > len(found.hits):
        message += f"; {found.texts - len(found.hits):,} more with a higher --limit"
    click.echo(f"{message}; words: {words or 'none that another text has'}", err=True)
    if found.hits and output.is_terminal:
        click.echo("show a whole dialogue with: talkhouse show DIALOGUE_ID", err=True)


def _show(found: "SearchMatches") -> None:
    """Print for a person: a heading per dialogue, matches highlighted, long texts cut around them."""
    from talkhouse.search.containing import with_neighbours

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
    from talkhouse.search.containing import with_neighbours

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
        if len(text.split()) > 1 and not regex:
            message += "; words in any order are found with: --rank"
    if found.turns > len(found.hits):
        message += f"; {found.turns - len(found.hits):,} more with a higher --limit"
    click.echo(message, err=True)
    if found.hits and output.is_terminal:
        click.echo("show a whole dialogue with: talkhouse show DIALOGUE_ID", err=True)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")


@options.command
@click.argument("file", metavar="FILE", type=options.PATH, required=False, help="A Parquet or Arrow file of vectors.")
@options.model
@options.flag("--download", help="Fetch the model from the Hugging Face Hub where --model is no folder, but its name.")
@options.input_limit
@options.db
def vectors_command(
    file: Path | None, model: str | None, download: bool, input_limit: tuple[str, ...], db: Path | None
) -> None:
    """Keep a vector for each turn, next to the warehouse, to find turns by what they mean.

    FILE has the columns dialogue_id, turn_index and vector: a list of floats or doubles, as many for each turn. It may
    have x and y, the place of each turn on the map, such as UMAP computes it; otherwise the map is made of the first
    two principal components. Any library or service can make the vectors.

    With --model they are made here, of the text of each turn. The folder is read without the network. A model that is
    not on this machine is fetched only with --download, into the cache of Hugging Face.

    The vectors are written to NAME.vectors.duckdb, each divided by its length. Turns without a vector, vectors of no
    turn here and those of zeros are counted and left out. After another build they are made again by the same command;
    the file can be deleted at any time. talkhouse sql has it as vectors.vectors.

    Needs NumPy, and --model model2vec: pip install 'talkhouse[embeddings]'

    Examples:
        talkhouse vectors vectors.parquet
        talkhouse vectors --model models/potion-base-8M
        talkhouse search --like dbdc3:CIC9001#4 --by meaning
    """
    if file is not None and click.get_current_context().get_parameter_source("model") is ParameterSource.ENVIRONMENT:
        model = None
    if (file is None) == (model is None):
        raise UsageError("name either a file or a model", next_step="talkhouse vectors FILE, or --model FOLDER")
    if download and model is None:
        raise UsageError("--download is for a model", next_step="add --model NAME")
    if file is None:
        options.check_absent([LIMIT_OPTION], "goes with FILE")
    from talkhouse.search.turn_vectors import make_by_model, make_from_file
    from talkhouse.search.user_vectors import named

    if file is not None:
        result = make_from_file(database(db), file, parse(input_limit))
    else:
        from talkhouse.search.text_model import open_model

        result = make_by_model(database(db), open_model(str(model), download=download))
    there = visible(str(result.path))
    print(f"Kept the vectors of {_count(result.vectors, 'turn')}, of {result.dimensions:,} numbers each: {there}")
    for (number, first), what in (
        (result.without, "without a vector"),
        (result.unknown, "with a vector, but not in this warehouse"),
        (result.zero, "with a vector of zeros, which points nowhere"),
    ):
        if number:
            print(f"  {_count(number, 'turn')} {what}: {visible(named((number, first)))}")
    click.echo("Next: talkhouse search --like DIALOGUE_ID#TURN_INDEX --by meaning", err=True)
