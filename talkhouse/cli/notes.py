"""``talkhouse notes``: labels and words of one's own on turns and dialogues."""

import sys
from collections.abc import Sequence
from getpass import getuser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from talkhouse.cli.terminal import completion, options
from talkhouse.cli.terminal.console import output, print_table, rows_as_json
from talkhouse.escaping import visible
from talkhouse.ingest.files.limits import LIMIT_OPTION
from talkhouse.schema.errors import UsageError
from talkhouse.settings import database

if TYPE_CHECKING:
    from talkhouse.notes.notes_file import NoteNow
    from talkhouse.notes.take import TakenNotes
    from talkhouse.warehouse.opened import Warehouse

_STATES = ("fits", "changed", "moved", "gone")


@options.command
@click.argument("files", metavar="[FILE]...", nargs=-1, type=options.PATH, help="With --take: the files.")
@click.option(
    "--label", metavar="LABEL", shell_complete=completion.note_labels, help="Only this label; with --add, the label."
)
@options.corpus
@click.option("--author", metavar="NAME", help="Only of this author; with --add and --take, the author. Default: you.")
@click.option("--state", type=click.Choice(_STATES), help="Only notes whose text is still there, or not.")
@click.option("--add", "added", metavar="ID[#TURN]", help="Write a note on a dialogue, or on one of its turns.")
@click.option("--note", "words", metavar="WORDS", help="With --add: what the note says.")
@click.option("--remove", "removed", metavar="N", type=click.IntRange(1), help="Remove the note of this number.")
@options.flag("--take", help="Import what was labelled elsewhere, from FILEs.")
@click.option(
    "--unmatched",
    type=click.Choice(("stop", "skip")),
    default="stop",
    help="With --take, of what does not fit the warehouse: stop, or take the rest.",
)
@options.path("--output", "table", metavar="FILE", help="Write the notes as a table; the ending sets the format.")
@options.escape_formulas
@options.force
@options.input_limit
@options.db
@options.as_json
def command(
    files: tuple[Path, ...],
    label: str | None,
    corpus: str | None,
    author: str | None,
    state: str | None,
    added: str | None,
    words: str | None,
    removed: int | None,
    take: bool,
    unmatched: str,
    table: Path | None,
    escape_formulas: bool,
    force: bool,
    input_limit: tuple[str, ...],
    db: Path | None,
    as_json: bool,
) -> None:
    r"""List notes: labels and words of your own on turns and dialogues; add, remove and import them.

    Notes are kept in notes.duckdb next to the warehouse, which builds do not touch, and never in the corpora. The page
    Read of talkhouse dashboard writes and shows them, talkhouse export --for labelstudio or argilla --notes includes
    them, and talkhouse sql has them as notes.notes.

    Each note says whether the text that it was written on is still there: it fits; the text has changed; the turn has
    moved within its dialogue; or it is gone. All are listed.

    --take reads JSON as Label Studio and Argilla export it, and tables (.csv .tsv .jsonl .parquet .arrow) with the
    columns dialogue_id, turn_index (empty: the dialogue), label, note or both, and perhaps text or text_sha256, author
    and source. Rows that do not match the warehouse, by their ids and the text in the file, are named, and nothing is
    imported unless --unmatched skip. What was imported before is not imported again. A JSON file brings at most 100,000
    notes.

    On a terminal the notes are a table. Elsewhere each is one line of tab-separated columns: number, state, dialogue id
    and turn, label, author, note; control characters are written as \n, \t, \x1b. --json and --output are exact; a
    spreadsheet takes some texts in .csv and .tsv for formulas, unless --escape-formulas.

    Examples:
        talkhouse notes --add dbdc3:CIC9001#4 --label "wrong gold" --note "this is no breakdown"
        talkhouse notes --label "wrong gold" --corpus dbdc3
        talkhouse notes --take project-1-at-2026-11-27.json
        talkhouse notes --output notes.csv
        talkhouse notes --remove 1
    """
    from talkhouse.warehouse.opened import opened

    path = database(db)
    actions = {"--add": added is not None, "--remove": removed is not None, "--take": take}
    if len(asked := [name for name, is_asked in actions.items() if is_asked]) > 1:
        raise UsageError(f"{asked[0]} does not go with {asked[1]}", next_step="give one of them")
    if not take:
        options.check_absent(["FILE", LIMIT_OPTION], "goes with --take")
    elif not files:
        raise UsageError("--take is of files", next_step="name them: talkhouse notes --take FILE")
    if added is None:
        options.check_absent(["--note"], "goes with --add")
    if take or removed is not None:
        options.check_absent(["--label"], "is for the list of notes, or goes with --add")
    if asked:
        options.check_absent(["--corpus", "--state", "--output"], "is for the list of notes")
    if table is None:
        options.check_absent(["--escape-formulas"], "goes with --output")
    with opened(path) as warehouse:
        if added is not None:
            _add(warehouse, path, added, label, words, author or _account(), as_json=as_json)
        elif removed is not None:
            _remove(path, removed)
        elif take:
            from talkhouse.ingest.files.limits import parse
            from talkhouse.notes.take import take as take_back

            limits, is_rest = parse(input_limit), unmatched == "skip"
            taken = take_back(warehouse.con, path, files, author or _account(), limits, skip=is_rest)
            _print_taken(taken, as_json=as_json)
        else:
            notes = _chosen(warehouse, path, {"label": label, "author": author}, corpus, state)
            if table is not None:
                _write(notes, table, path, escape_formulas=escape_formulas, force=force)
            elif as_json:
                print(rows_as_json([_as_data(note) for note in notes]))
            else:
                _show(notes)


def _account() -> str:
    """Return the name of the account; UsageError where it has none."""
    try:
        return getuser()
    except (KeyError, OSError) as error:
        raise UsageError("this account has no name", next_step="name the author: --author NAME") from error


def _add(
    warehouse: "Warehouse", path: Path, name: str, label: str | None, words: str | None, author: str, *, as_json: bool
) -> None:
    from talkhouse.dialogues.dialogue import resolve
    from talkhouse.notes.notes_file import NewNote, add, hashes
    from talkhouse.schema.errors import check_unicode

    check_unicode(name, "the id")
    dialogue_id, turn = name, None
    head, _, number = name.rpartition("#")
    if head and number.isascii() and number.isdecimal() and len(number) < 10:
        dialogue_id, turn = head, int(number)
    known = hashes(warehouse.con, [name, dialogue_id])
    if (name, None) in known:  # an id that ends so
        dialogue_id, turn = name, None
    if (dialogue_id, None) not in known:
        found = resolve(warehouse.con, dialogue_id)
        raise UsageError(f"'{found.id}' is a {found.kind}", expected="the id of a dialogue, as talkhouse search has it")
    if (dialogue_id, turn) not in known:
        turns = ", ".join(str(index) for _, index in known if index is not None)
        raise UsageError(f"{dialogue_id} has no turn {turn}", expected=f"one of: {turns:.200}" if turns else None)
    note = NewNote(dialogue_id, turn, known[dialogue_id, turn], label or None, words or None, author, "command")
    ((written),) = add(path, [note])
    if as_json:
        print(rows_as_json({"note_id": written}))
    else:
        output.print("That note is there already" if written is None else f"Wrote note {written}")


def _remove(path: Path, number: int) -> None:
    from talkhouse.notes.notes_file import remove

    note = remove(path, number)
    place = visible(_place(note.dialogue_id, note.turn_index))
    output.print(f"Removed note {number}, on {place}", markup=False)


def _print_taken(taken: "TakenNotes", *, as_json: bool) -> None:
    if as_json:
        refused = [{**note._asdict(), "file": str(note.file)} for note in taken.unmatched]
        print(rows_as_json({"added": taken.added, "known": taken.known, "unmatched": refused}))
        return
    there = f"; {taken.known:,} {'was' if taken.known == 1 else 'were'} there already" if taken.known else ""
    output.print(f"Took {len(taken.added):,} {_notes(len(taken.added))}{there}")
    if taken.unmatched:
        sys.stdout.flush()
        click.echo(f"left out, since they do not fit the warehouse: {len(taken.unmatched):,}", err=True)
        for note in taken.unmatched:
            click.echo(f"  {visible(note.sentence)}", err=True)


def _notes(count: int) -> str:
    return "note" if count == 1 else "notes"


def _place(dialogue_id: str, turn_index: int | None) -> str:
    return dialogue_id if turn_index is None else f"{dialogue_id}#{turn_index}"


def _chosen(
    warehouse: "Warehouse", path: Path, where: dict[str, str | None], corpus: str | None, state: str | None
) -> "list[NoteNow]":
    from talkhouse.notes.notes_file import path_for, read, with_states

    found = read(path_for(path), {name: value for name, value in where.items() if value is not None})
    of_corpus = [note for note in found if corpus is None or note.dialogue_id.startswith(f"{corpus}:")]
    return [note for note in with_states(warehouse.con, of_corpus) if state is None or note.state == state]


def _as_data(now: "NoteNow") -> dict[str, Any]:
    """Return a note as an object, with its state and the turn that its text is at now."""
    written = now.note.written_at.isoformat(sep=" ", timespec="seconds")
    return {**vars(now.note), "written_at": written, "state": now.state.value, "turn_index_now": now.turn_index}


def _show(notes: "Sequence[NoteNow]") -> None:
    """Print notes: for a person a table, for programs one whole line each."""
    rows = [
        [
            str(note.note.note_id),
            note.state.value if note.state != "moved" else f"moved to {note.turn_index}",
            _place(note.note.dialogue_id, note.note.turn_index),
            note.note.label or "",
            note.note.author,
            note.note.note or "",
        ]
        for note in notes
    ]
    shown = [[visible(cell) for cell in row] for row in rows]
    if not output.is_terminal:
        for row in shown:
            print("\t".join(row))
    elif shown:
        print_table(["number", "state", "dialogue#turn", "label", "author", "note"], shown, right=["number"])
    sys.stdout.flush()
    counts = {state: sum(note.state == state for note in notes) for state in _STATES}
    parts = [f"{count:,} {state}" for state, count in counts.items() if count]
    hint = "; write one with: talkhouse notes --add DIALOGUE_ID#TURN_INDEX --note TEXT" if not notes else ""
    click.echo(f"{len(notes):,} {_notes(len(notes))}{': ' * bool(parts)}{', '.join(parts)}{hint}", err=True)


def _write(notes: "Sequence[NoteNow]", path: Path, warehouse: Path, *, escape_formulas: bool, force: bool) -> None:
    """Write notes as a table."""
    import duckdb

    from talkhouse.export.export import format_of
    from talkhouse.export.sandbox import run_query
    from talkhouse.notes.notes_file import path_for
    from talkhouse.schema.guard import guard
    from talkhouse.system.atomic_output import check_replaceable

    file_format = format_of(path)
    check_replaceable([path], {"the warehouse": [warehouse], "the notes": [path_for(warehouse)]}, force=force)
    with duckdb.connect() as con:
        guard(con)
        con.execute(
            "create table listed (note_id integer, state varchar, dialogue_id varchar, turn_index integer, "
            "turn_index_now integer, text_sha256 varchar, label varchar, note varchar, author varchar, source varchar, "
            "written_at timestamp)"
        )
        kinds = {column: kind for column, kind, *_ in con.execute("describe listed").fetchall()}
        rows = [
            [{**vars(note.note), "state": note.state.value, "turn_index_now": note.turn_index}[name] for name in kinds]
            for note in notes
        ]
        columns = ", ".join(f"unnest(?::{kind}[])" for kind in kinds.values())
        con.execute(
            f"insert into listed select {columns}", [[row[place] for row in rows] for place in range(len(kinds))]
        )
        run_query(con, "from listed", file_format, path, escape_formulas=escape_formulas)
    output.print(f"Wrote {len(notes):,} {_notes(len(notes))} to {visible(str(path))}", markup=False)
