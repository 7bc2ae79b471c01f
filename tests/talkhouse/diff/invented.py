"""Small invented warehouses of one corpus whose ids are places, as rows and as files."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from talkhouse import migrations
from talkhouse.schema import warehouse
from talkhouse.schema.sql import literal
from talkhouse.schema.sql_files import sql_of

Row = dict[str, Any]
Rows = dict[str, list[Row]]
"""Rows by table, as they are inserted."""

VIEW = sql_of(__file__, "invented_view")


@dataclass(frozen=True)
class Talk:
    """A dialogue with its labels, and the splits in which it is published, in the order of a file for each."""

    turns: tuple[tuple[str, str], ...]
    """Roles and texts."""
    splits: tuple[str, ...] = ("train",)
    labels: tuple[tuple[str | None, float | None], ...] = ()
    """A label and a number for each of the first turns."""
    extra: str | None = None


def rows_of(talks: list[Talk]) -> Rows:
    """Return the rows of a state: an id is the place in a split's file."""
    rows: Rows = {name: [] for name in ("dialogues", "turns", "speakers", "participants", "records", "annotations")}
    rows["examples"] = []
    places: dict[str, int] = {}
    for talk in talks:
        dialogue = f"toy:{talk.splits[0]}:{places.get(talk.splits[0], -1) + 1}"
        rows["dialogues"].append({"dialogue_id": dialogue, "corpus_id": "toy", "extra": talk.extra})
        for role in sorted({role for role, _ in talk.turns}):
            speaker = f"{dialogue}/{role}"
            rows["speakers"].append({"speaker_id": speaker, "corpus_id": "toy", "kind": "human", "is_anonymous": True})
            rows["participants"].append({"dialogue_id": dialogue, "speaker_id": speaker, "role": role})
        for index, (role, text) in enumerate(talk.turns):
            row = {"dialogue_id": dialogue, "turn_index": index, "speaker_id": f"{dialogue}/{role}", "role": role}
            rows["turns"].append({**row, "kind": "message", "text": text})
        for split in talk.splits:
            place = places[split] = places.get(split, -1) + 1
            record = f"toy/{split}/{place}"
            row = {"record_id": record, "corpus_id": "toy", "dialogue_id": dialogue, "subset": "talks"}
            row |= {"release": "first", "split": split, "standard_split": split, "record_index": place}
            rows["records"].append({**row, "source_file_id": f"toy/{split}.json", "source_pointer": f"/{place}"})
            for index, (label, value) in enumerate(talk.labels[: len(talk.turns)]):
                about = {"record_id": record, "turn_index": index, "dialogue_id": dialogue}
                row = {"scheme": "toy.mood", "annotator_index": 0, "item_index": 0, "label": label, "value": value}
                rows["annotations"].append({**about, **row})
                of_split = [example for example in rows["examples"] if example["split"] == split]
                task = {"corpus_id": "toy", "task": "mood", "release": "first", "split": split}
                rows["examples"].append({**task, "example_index": len(of_split), **about})
    return rows


def examples_of(rows: Rows) -> list[Row]:
    """Return the rows of the task, as its view makes them."""
    records = {row["record_id"]: row for row in rows["records"]}
    texts = {(row["dialogue_id"], row["turn_index"]): row["text"] for row in rows["turns"]}
    labels = {(row["record_id"], row["turn_index"]): row for row in rows["annotations"]}
    return [
        {
            **{name: value for name, value in example.items() if name not in ("corpus_id", "task")},
            "standard_split": records[example["record_id"]]["standard_split"],
            "text": texts[example["dialogue_id"], example["turn_index"]],
            **{name: labels[example["record_id"], example["turn_index"]][name] for name in ("label", "value")},
        }
        for example in rows["examples"]
    ]


def written(path: Path, rows: Rows, sql: str = VIEW) -> Path:
    """Write a warehouse with these rows."""
    path.unlink(missing_ok=True)
    con = warehouse.create(path)
    migrations.make(con)
    con.execute(
        "insert into main.corpora by name select 'toy' as corpus_id, 'Toy' as title, '' as description, "
        "'' as homepage, 'CC0-1.0' as licence, '' as terms, '' as citation, 'en' as languages, 1 as reader_version, "
        "false as is_sample"
    )
    for table, some in rows.items():
        for row in some:
            values = ", ".join(f"{_literal(value)} as {name}" for name, value in row.items())
            con.execute(f"insert into main.{table} by name select {values}")
    con.execute(sql)
    con.close()
    return path


def _literal(value: object) -> str:
    if value is None:
        return "null"
    return (
        literal(value)
        if isinstance(value, str)
        else f"{str(value)!r}::{'double' if isinstance(value, float) else 'varchar'}"
    )
