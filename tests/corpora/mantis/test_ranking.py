"""Response-ranking files in every condition: what is loaded, what is refused, and that all of it comes back."""

import csv
import io
import json
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import pytest

from talkhouse.ingest import sources
from talkhouse.ingest.registry import corpora
from talkhouse.restore.write_back import write_back
from talkhouse.schema.errors import SourceError
from tests.conftest import Build

TSV, LOOKUP, TALKS = "data_train_easy.tsv", "data_train_easy_lookup.txt", "merged_train.json"
BLOCKS = 25
"""Contexts of the dialogues below: 2, 1, 7, 1 and 14."""


def talk(size: int, number: int) -> dict[str, Any]:
    """Invent a conversation of so many turns, with a quotation in each."""
    utterances = [
        {"utterance": f'{role[0]}{place} said "so" in {number}', "utterance_pos": place, "actor_type": role}
        for place, role in enumerate((["user", "agent"] * size)[:size], 1)
    ]
    about = {"category": "apple", "title": f"Question {number}", "dialog_time": "2011-02-03T04:05:06.789"}
    return about | {"utterances": utterances}


DIALOGUES = {str(number): talk(size, number) for number, size in enumerate([6, 5, 16, 4, 30])}


def ranking(negatives: int = 10, end: str = "\n") -> tuple[str, str]:
    """Write the TSV and the lookup file of the dialogues as their authors do."""
    rows, keys = io.StringIO(), []
    write = csv.writer(rows, delimiter="\t", lineterminator=end).writerow
    for key, dialogue in DIALOGUES.items():
        texts = [utterance["utterance"] for utterance in dialogue["utterances"]]
        for position in range(3, len(texts), 2):
            context = texts[max(0, position - 11) : position]
            wrong = [f"n{index}" if index % 2 else f'no "{index}" of {key}' for index in range(negatives)]
            for label, candidate in zip([1] + [0] * negatives, [texts[position], *wrong], strict=True):
                write([label, *context, candidate])
                keys.append(key + end)
    return rows.getvalue(), "".join(keys)


ROWS, KEYS = ranking()
FILES = {TALKS: json.dumps(DIALOGUES), TSV: ROWS, LOOKUP: KEYS}


@pytest.fixture
def built(build_data: Build, tmp_path: Path) -> Callable[[dict[str, str]], duckdb.DuckDBPyConnection]:
    """Build some files, restore them, and compare every text file byte for byte."""
    numbers = count()

    def run(files: dict[str, str]) -> duckdb.DuckDBPyConnection:
        top = tmp_path / f"files_{next(numbers)}"
        folder = top / "data" / "mantis"
        folder.mkdir(parents=True)
        for name, text in files.items():
            (folder / name).write_bytes(text.encode(errors="surrogateescape"))
        con = build_data(top / "data")
        write_back(con, corpora()["mantis"], top / "back")
        for name in (name for name in files if name.startswith("data")):
            assert (top / "back" / name).read_bytes() == (folder / name).read_bytes(), name
        return con

    return run


Built = Callable[[dict[str, str]], duckdb.DuckDBPyConnection]
Cases = Iterator[tuple[str, duckdb.DuckDBPyConnection, str]]


def as_splits(cases: dict[str, dict[str, str]], built: Built) -> Cases:
    """Build cases, three of them together; yield the name of each, the warehouse, and which split it is there."""
    names = list(cases)
    for at in range(0, len(names), 3):
        splits = dict(zip(("train", "dev", "test"), names[at : at + 3], strict=False))
        con = built(
            {file.replace("train", split): text for split, name in splits.items() for file, text in cases[name].items()}
        )
        yield from ((name, con, split) for split, name in splits.items())


def counts(con: duckdb.DuckDBPyConnection, split: str = "train") -> tuple[int, int, int]:
    """Count the loaded blocks, those of them that belong to a dialogue, and the refused ones."""
    found = con.execute(
        "select count(*), count(dialogue_id), (select count(*) from meta.quarantine where source_file_id = ?) "
        "from main.records where (subset, split) = ('mantis_10', ?)",
        [f"mantis/{TSV.replace('train', split)}", split],
    ).fetchall()
    return found[0]  # type: ignore[no-any-return]


def findings_of(con: duckdb.DuckDBPyConnection, rule: str, split: str = "train") -> list[tuple[str, str]]:
    """List the pointers and details of a rule's findings about the TSV."""
    return con.execute(
        "select pointer, detail from meta.findings where rule = ? and source_file_id = ? order by finding_index",
        [rule, f"mantis/{TSV.replace('train', split)}"],
    ).fetchall()


def count_of(con: duckdb.DuckDBPyConnection, what: str, split: str) -> int:
    query = f"select {what} from main.candidates where starts_with(record_id, 'mantis/mantis_10/{split}/')"
    return int(con.execute(query).fetchall()[0][0])


VARIANTS = {
    "as published": (ROWS, KEYS),
    "carriage returns": ranking(end="\r\n"),
    "no newline at the end": (ROWS[:-1], KEYS[:-1]),
    "carriage returns, none at the end": tuple(text[:-2] for text in ranking(end="\r\n")),
    "a byte order mark": ("\ufeff" + ROWS, "\ufeff" + KEYS),
    "every cell in quotes": (
        "".join(
            "\t".join(cell if cell.startswith('"') else f'"{cell}"' for cell in line.split("\t")) + "\n"
            for line in ROWS.splitlines()
        ),
        KEYS,
    ),
}


@pytest.mark.slow
def test_a_file_written_in_another_way_says_the_same(built: Built) -> None:
    cases = {name: {TALKS: FILES[TALKS], TSV: rows, LOOKUP: keys} for name, (rows, keys) in VARIANTS.items()}
    for name, con, split in as_splits(cases, built):
        assert counts(con, split) == (BLOCKS, BLOCKS, 0), name
        assert findings_of(con, "MA-06", split) == findings_of(con, "MA-07", split) == [], name
        assert count_of(con, "count(*)", split) == count_of(con, "count(turn_index)", split) == 275, name
        contexts = "select count(*) from main.texts where starts_with(text, 'u')"
        assert con.execute(contexts).fetchall() == [(0,)], "contexts are stored again"


def test_cells_over_several_lines_are_one_cell(built: Built) -> None:
    talks = FILES[TALKS].replace("a2 said", "a\\n2\\tsaid")
    con = built(
        {TALKS: talks, TSV: ROWS.replace("a2 said", "a\n2\tsaid").replace("\tn1\n", '\t"n\n\n\t1"\n'), LOOKUP: KEYS}
    )
    assert counts(con) == (BLOCKS, BLOCKS, 0)
    texts = "select count(*) from main.texts where text = 'n' || chr(10) || chr(10) || chr(9) || '1'"
    assert con.execute(texts).fetchall() == [(1,)]


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 50, 5_000])
def test_it_is_the_same_in_pieces_of_any_size(size: int, built: Built, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "_PIECE", size)
    rows, keys = ranking(end="\r\n")
    con = built({TALKS: FILES[TALKS], TSV: rows.replace("\tn1\r\n", '\t"n\n\t1"\r\n')[:-2], LOOKUP: keys})
    assert counts(con) == (BLOCKS, BLOCKS, 0)
    assert con.execute("select count(distinct text_id) from main.candidates where not is_gold").fetchall() == [(30,)]


@pytest.mark.slow
def test_blocks_of_one_other_size_are_loaded_with_a_warning(built: Built) -> None:
    rows, keys = ranking(negatives=2)
    con = built({TALKS: FILES[TALKS], TSV: rows, LOOKUP: keys})
    assert counts(con) == (BLOCKS, BLOCKS, 0)
    assert [pointer for pointer, _ in findings_of(con, "MA-06")] == ["/0"]
    assert "blocks of 3 rows" in findings_of(con, "MA-06")[0][1]


@pytest.mark.slow
def test_a_lookup_file_alone_is_kept(built: Built) -> None:
    con = built({TALKS: FILES[TALKS], LOOKUP: KEYS})
    runs = "select extra ->> '$.runs[0][0]', extra ->> '$.runs[0][1]' from main.records where subset like '%lookup'"
    assert con.execute(runs).fetchall() == [("0", "22")]


@pytest.mark.slow
def test_a_carriage_return_without_a_newline_belongs_to_the_only_row(built: Built) -> None:
    con = built({TALKS: FILES[TALKS], TSV: "1\tu1\ta2\r", LOOKUP: "0\n"})
    assert con.execute("select raw from meta.quarantine where subset = 'mantis_10'").fetchall() == [(b"1\tu1\ta2\r",)]


@pytest.mark.slow
def test_a_lookup_file_that_goes_on_is_told_and_kept(built: Built) -> None:
    con = built(FILES | {LOOKUP: KEYS + "7\n8\n"})
    assert counts(con) == (BLOCKS, BLOCKS, 0)
    assert con.execute("select pointer, raw from meta.quarantine").fetchall() == [("/275", b"7\n8\n")]


def changed(number: int, old: str, new: str) -> str:
    """Write the TSV with one row changed; rows count from 0."""
    lines = ROWS.splitlines(keepends=True)
    assert old in lines[number]
    lines[number] = lines[number].replace(old, new, 1)
    return "".join(lines)


BROKEN = {
    "a label": (changed(3, "0\t", "2\t"), "MA-06", "/0", "the label '2', expected 0"),
    "another context": (changed(14, "u1", "uX"), "MA-06", "/11", "another context"),
    "two columns": (changed(24, ROWS.splitlines()[24], "0\tx"), "MA-06", "/22", "fewer than 3 columns"),
    "no right response": (changed(22, "1\t", "0\t"), "MA-06", "/11", "22 rows of one context"),
    "two right responses": (changed(23, "0\t", "1\t"), "MA-06", "/22", "1 rows of one context"),
    "other bytes": (changed(44, "said", "\udcff"), "TH-02", "/44", "not UTF-8"),
}
BROKEN_LOOKUPS = {
    "it ends early": (KEYS[: -2 * 15], 2, "/253", "rows 254 to 264: the lookup file ends after 260 lines"),
    "an unknown dialogue": (KEYS.replace("\n3", "\n99"), 1, "/110", "no dialogue '99' in "),
    "keys that do not fit the blocks": (KEYS[2:] + "4\n", 4, "/11", "different keys"),
}


@pytest.mark.slow
def test_a_broken_block_is_refused_whole_and_the_rest_is_loaded(built: Built) -> None:
    cases = {name: FILES | {TSV: rows} for name, (rows, *_) in BROKEN.items()}
    for name, con, split in as_splits(cases, built):
        _, rule, pointer, detail = BROKEN[name]
        loaded, linked, refused = counts(con, split)
        assert loaded == linked, name
        refusals = f"select count(*) from meta.quarantine where pointer <> '' and contains(source_file_id, '_{split}')"
        assert 0 < refused == con.execute(refusals).fetchall()[0][0] / 2, name
        assert findings_of(con, rule, split)[0][0] == pointer, name
        assert detail in findings_of(con, rule, split)[0][1], name
        lines = "select sum((extra ->> 'size')::integer) from main.records where (subset, split) = ('mantis_10', ?)"
        assert con.execute(lines, [split]).fetchall() == [(count_of(con, "count(*)", split),)], name


@pytest.mark.slow
def test_blocks_whose_keys_are_broken_are_refused(built: Built) -> None:
    cases = {name: FILES | {LOOKUP: keys} for name, (keys, *_) in BROKEN_LOOKUPS.items()}
    for name, con, split in as_splits(cases, built):
        _, refused, pointer, detail = BROKEN_LOOKUPS[name]
        assert counts(con, split) == (BLOCKS - refused, BLOCKS - refused, refused), name
        assert findings_of(con, "MA-06", split)[0][0] == pointer, name
        assert detail in findings_of(con, "MA-06", split)[0][1], name


ODD = {
    "words": (ROWS.replace("u3", "U3"), 4, "no context of dialogue 0 has these words"),
    "the response": (ROWS.replace('"a4 said ""so"" in 0"\n', "zz\n"), 0, "the right response is not the utterance 4"),
    "a repeated one": (ROWS.replace("\tn1\n", "\tn3\n"), 0, "1 wrong responses are repeated"),
    "a bare number": (ROWS.replace("\tn1\n", "\t12345\n"), 0, "1 wrong responses are bare numbers, such as 12345"),
    "the right one": (changed(2, "\tn1\n", '\t"a4 said ""so"" in 0"\n'), 0, "wrong response 2 is the right one"),
}


@pytest.mark.slow
def test_what_is_odd_is_loaded_and_told(built: Built) -> None:
    for name, con, split in as_splits({name: FILES | {TSV: rows} for name, (rows, *_) in ODD.items()}, built):
        _, unlinked, detail = ODD[name]
        loaded, linked, refused = counts(con, split)
        assert (loaded, refused) == (BLOCKS, 0), name
        details = [text for _, text in findings_of(con, "MA-07", split)]
        assert detail in details[0], name
        assert (linked < BLOCKS) == bool(unlinked), name
        if name == "a bare number":
            assert details == [detail] * BLOCKS


@pytest.mark.slow
def test_contexts_in_another_order_are_told(built: Built) -> None:
    lines = ROWS.splitlines(keepends=True)
    con = built(FILES | {TSV: "".join([*lines[11:22], *lines[:11], *lines[22:]])})
    assert counts(con) == (BLOCKS, BLOCKS, 0)
    details = [detail for _, detail in findings_of(con, "MA-07")]
    assert details == [
        "context 2 of dialogue 0 stands where context 1 is due",
        "context 1 of dialogue 0 stands where context 2 is due",
    ]


def test_one_part_given_twice_is_an_error(tmp_path: Path, build_data: Build) -> None:
    for name in ("a", "b"):
        (tmp_path / "data" / "mantis" / name).mkdir(parents=True)
        (tmp_path / "data" / "mantis" / name / TSV).write_text(ROWS, encoding="utf-8")
    with pytest.raises(SourceError, match="present twice"):
        build_data(tmp_path / "data")


def test_two_tables_of_intents_are_an_error(tmp_path: Path, build_data: Build) -> None:
    folder = tmp_path / "data" / "mantis"
    folder.mkdir(parents=True)
    (folder / TALKS).write_text(FILES[TALKS], encoding="utf-8")
    for name in ("a.csv", "b.csv"):
        (folder / name).write_text(
            "conversation_id,comment_pos,annotations,allocation\n0,2,PA,train\n", encoding="utf-8"
        )
    with pytest.raises(SourceError, match="present twice"):
        build_data(tmp_path / "data")
