"""``talkhouse show``: one dialogue or record, readable, with all that belongs to it."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.console import highlighted, output, print_hanging, rows_as_json, styled, who
from talkhouse.dialogues.turns import (
    CALL,
    RESPONSE,
    DialogueTurn,
    Item,
    ItemList,
    Labelled,
    MessagePart,
    TurnPart,
    Votes,
    facts,
    readable,
)
from talkhouse.escaping import visible
from talkhouse.provenance import not_published
from talkhouse.schema.errors import UsageError
from talkhouse.settings import corpus_folders, database

if TYPE_CHECKING:
    from rich.text import Text

_STEP = 2
"""Blanks of a level in a tree."""

Line: TypeAlias = "tuple[str, Text]"
"""The head of a line, which is its indent or a position, and the text after it."""


def lines(shown: Votes | ItemList, *, show_all: bool) -> Iterator[Line]:
    """Yield the lines of what belongs to a turn: of a list the first items and the gold ones, or all."""
    if isinstance(shown, Votes) and shown.detailed:
        yield "", styled(visible(f"{shown.name}:"), "cyan")
        yield from (("  ", _detailed(label)) for label in shown.detailed)
        return
    if isinstance(shown, Votes):
        yield "", styled().append(visible(f"{shown.name}: "), "cyan").append(visible(shown.summary))
        return
    owner = f" of {shown.owner}" if shown.owner else ""
    yield "", styled(visible(f"{shown.kind} {shown.name}{owner}: {shown.summary}"), "cyan")
    items = shown.items if show_all else shown.shown
    yield from map(_listed, items)
    if left := len(shown.items) - len(items):
        yield "       ", styled(f"... {left:,} more (--all)", "dim")


def part_line(part: TurnPart) -> "Text":
    """Return a part of a turn in one line: ``tool_call clock({"zone": "UTC"}) -> turn 2: 12:00``."""
    text = styled(visible(part.kind), "cyan")
    text.append(visible("".join(f" {fact}" for fact in (part.name, part.address) if fact)))
    content = f"({part.content})" if part.kind == CALL else f": {part.content}" if part.content else ""
    text.append(visible(content))
    if part.other_turn is not None:
        arrow = "from" if part.kind == RESPONSE else "->"
        text.append(visible(f" {arrow} turn {part.other_turn}"), "dim")
        text.append(visible(f": {part.response}" if part.response is not None else ""))
    return text


def _detailed(labelled: Labelled) -> "Text":
    """Return a label with the words and place of its span, its facts, and its annotator."""
    text = styled(visible(labelled.label))
    if labelled.span:
        begin, end = labelled.span
        text.append(visible(f' "{labelled.words}"'), "underline").append(f" [{begin}:{end}]", "dim")
    for name, value in labelled.facts:
        text.append(visible(f"  {name}: "), "dim").append(visible(value))
    return text.append(visible(f" ({labelled.annotator})") if labelled.annotator else "", "dim")


def _listed(item: Item) -> Line:
    """Return an item in one line: its position, a star if it is gold, and its parts."""
    head = f"{'*' if item.is_gold else ' '}{item.position:>4}  "
    return head, styled(" / ".join(map(_named, item.parts)), "green" if item.is_gold else "")


def _named(part: MessagePart) -> str:
    """Return a persona or candidate in one line: its text, its picture, and who made it if that is known."""
    facts = [fact for fact in (part.image_file, part.source) if fact]
    return visible(" ".join([part.text, *(f"[{fact}]" for fact in facts)]))


@options.command
@click.argument(
    "name",
    metavar="ID",
    help="A dialogue_id, a record_id, or the publisher's own id if only one dialogue has it; "
    "with --raw also FILE#POINTER, as `talkhouse findings` prints it.",
)
@options.db
@options.corpus_folders
@options.flag("--all", "show_all", help="List every persona and candidate, not only the first of each list.")
@options.as_json
@options.flag("--raw", "as_published", help="Print only the source record, as published.")
def command(
    name: str, db: Path | None, folders: tuple[Path, ...], show_all: bool, as_json: bool, as_published: bool
) -> None:
    r"""Show a dialogue with its labels, personas and candidates, and the files that it came from.

    For a dialogue's id, the labels of all records that published it, record by record if there are several; for a
    record's id, the labels of that record, each with its span of the text, which a terminal underlines, and with what
    only its corpus has, such as a slot and its values. For more than five annotators, the distribution of their labels.
    A turn that answers another has an arrow; a tool call, its response. A tree of replies is shown as one: each turn
    before what answers it, moved in where several do, and numbered among them. Texts are never cut; control characters
    and invisible characters in them are written as \t, \x1b, \u200b.

    --json prints everything as one object: kind, id, corpus, dialogue, participants, turns, parts, and records, each
    with its source, annotations, personas and candidates, with all columns of their tables (extra, annotators' ids,
    times).

    --raw prints the record as it is in its file, written from the tables alone: JSON equal in every value, anything
    else byte for byte, nothing added, control characters included. A quarantined record, named by FILE#POINTER, is
    printed verbatim.

    Examples:
        talkhouse show dbdc3:CIC0100
        talkhouse show dbdc3/dbdc3_revised/en/CIC_115/CIC0100 --json
        talkhouse show "dbdc3/DBDC3.zip!DBDC3/broken.log.json" --raw
    """
    from talkhouse.dialogues.dialogue import show
    from talkhouse.ingest.registry import all_corpora
    from talkhouse.restore.raw_record import raw
    from talkhouse.warehouse.opened import opened

    if as_published and (as_json or show_all):
        raise UsageError("--raw prints the record as published and can't be combined with --json or --all")
    with opened(database(db)) as warehouse:
        if as_published:
            record = raw(warehouse.con, name, all_corpora(corpus_folders(folders)))
            sys.stdout.buffer.write(record)
            if output.is_terminal and not record.endswith(b"\n"):
                sys.stdout.buffer.write(b"\n")
            sys.stdout.buffer.flush()
            return
        shown = show(warehouse.con, name)
        if as_json:
            print(rows_as_json(shown))
        else:
            _show(shown, show_all=show_all)
        sys.stdout.flush()


def _show(found: dict[str, Any], *, show_all: bool) -> None:
    _print_header(found)
    dialogue = readable(found)
    _print_items(dialogue.whole, 2, show_all=show_all)
    output.print()
    for turn in dialogue.turns:
        _print_turn(turn)
        indent = 7 + _STEP * turn.indent
        for part in turn.parts:
            print_hanging(styled(" " * indent), part_line(part))
        _print_items(turn.items, indent, show_all=show_all)
    if dialogue.turns:
        output.print()
    for record in found["records"]:
        source = record["source"]
        print_hanging(styled("source of ", "dim"), styled(visible(record["record_id"])))
        _print_fact("file", source["source_file_id"])
        _print_fact("sha256", source["sha256"])
        _print_fact("pointer", source["pointer"] or "(the whole file)")


def _print_header(shown: dict[str, Any]) -> None:
    """Print id, corpus, the columns of the dialogue itself, its participants, and its records."""
    corpus, dialogue = shown["corpus"], shown["dialogue"] or {}
    print_hanging(styled(), styled(visible(shown["id"]), "bold"))
    note = not_published(corpus)
    tag = f", {note}" if note else ""
    _print_fact("corpus", f"{corpus['title']} ({corpus['corpus_id']}{tag})")
    if shown["kind"] == "record" and dialogue:
        _print_fact("dialogue", dialogue["dialogue_id"])
    for column in ("title", "language", "domain", "started_at"):
        _print_fact(column.removesuffix("_at"), dialogue.get(column))
    _print_fact("made from", dialogue.get("derived_from"))
    people = [
        f"{person['name'] or person['role'] or person['speaker_id']} ({person['kind']})"
        for person in shown["participants"]
    ]
    _print_fact("speakers", ", ".join(people))
    for record in shown["records"]:
        _print_fact("record", _describe(record))
    extra = dialogue.get("extra") if dialogue else shown["records"][0]["extra"]
    for key, value in facts(extra):
        _print_fact(key, value)


def _print_fact(name: str, value: object) -> None:
    if value not in (None, ""):
        print_hanging(styled(f"  {visible(name)}: ", "dim"), styled(visible(str(value).rstrip("\n"), lines=True)))


def _describe(record: dict[str, Any]) -> str:
    """Describe a record: its id, and the publisher's release, subset and split that it was published in."""
    split = record["split"]
    if split and record["standard_split"] not in (None, split):
        split = f"{split} ({record['standard_split']})"
    facts = {"release": record["release"], "subset": record["subset"], "split": split}
    facts["about"] = record["main_speaker_id"]
    described = ", ".join(f"{name} {value}" for name, value in facts.items() if value)
    return f"{record['record_id']}: {described}" if described else str(record["record_id"])


def _print_turn(turn: DialogueTurn) -> None:
    head, row = styled(f"{' ' * _STEP * turn.indent}{turn.turn_index:>5}  ", "dim"), turn.row
    if row is None:
        print_hanging(head, styled("(no turn)", "dim"))
        return
    body = styled().append(who(row["role"], turn.speaker, row["kind"]), "bold")
    if row["reply_to"] is not None:
        body.append(f" -> {row['reply_to']}{f' ({turn.rival})' if turn.rival else ''}", "dim")
    if row["said_at"]:
        body.append(f" {row['said_at']:%Y-%m-%d %H:%M:%S}", "dim")
    body.append(turn.in_recording, "dim").append(": ")
    spans = [(begin, end) for begin, end, _ in turn.spans]
    print_hanging(head, body.append_text(highlighted(turn.text, spans, "underline", lines=True)))


def _print_items(items: list[tuple[str, Votes | ItemList]], indent: int, *, show_all: bool) -> None:
    """Print what belongs to a turn, or to the whole, below it; with the record's name if there are several."""
    for record, shown in items:
        for head, body in lines(shown, show_all=show_all):
            named = styled().append(f"{visible(record)} ", "dim").append_text(body) if record and not head else body
            print_hanging(styled(" " * indent + head), named)
