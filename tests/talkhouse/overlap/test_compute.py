"""The computation: equal to a plain one of all pairs, the same each time, and whole or not at all."""

import json
import random
import shutil
import signal
import subprocess
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import pytest

from talkhouse.overlap import near, quotations
from talkhouse.overlap.compute import overlap
from talkhouse.overlap.overlap_file import open_overlap
from talkhouse.overlap.read import read
from talkhouse.overlap.request import OverlapRequest, share
from talkhouse.overlap.units import joined, letters_without_blanks, tokens
from talkhouse.schema.errors import NotAWarehouse, OutputFailed, QueryFailed, SchemaMismatch, UsageError
from tests.commands import COMMAND, run
from tests.conftest import wait_for
from tests.data_files import data_of
from tests.talkhouse.overlap import brute_force
from tests.talkhouse.overlap.invented import invent
from tests.talkhouse.overlap.test_kit import KEYS, rows

DATA = data_of(__file__)

SEVEN = Fraction(7, 10)
OF_LANES = [0, *(pytest.param(seed, marks=pytest.mark.slow if seed < 4 else pytest.mark.long) for seed in range(1, 12))]
"""Seeds: the first four have every threshold, all of them every pair of thresholds."""


@pytest.fixture(scope="module")
def invented_once(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return invent(sample, tmp_path_factory.mktemp("invented") / "w.duckdb", 1)


@pytest.fixture
def invented(invented_once: Path, tmp_path: Path) -> Path:
    return Path(shutil.copyfile(invented_once, tmp_path / "w.duckdb"))


def summed(path: Path) -> str:
    with open_overlap(path) as con:
        return str(con.execute("select rows_sha256 from run").fetchall()[0][0])


def with_templates(path: Path, rng: random.Random) -> dict[str, str]:
    """Add dialogues that fill templates, and some with a word changed; return which is the original of which."""
    slots = ["parcel", "refund", "lamp", "invoice", "keyboard", "ticket"]
    planted = {}
    with duckdb.connect(path) as con:

        def add(dialogue_id: str, turns: list[str]) -> None:
            for index, text in enumerate(turns):
                con.execute(DATA["a_turn"], [dialogue_id, index, text])
            con.execute(DATA["a_record"], [dialogue_id, dialogue_id.split(":")[0], len(planted)])

        for number in range(90):
            turns = [
                template.format(rng.choice(slots), rng.choice(slots))
                for template in rng.sample(DATA["templates"], rng.choice([1, 3, 4]))
            ]
            add(f"harbour:chat{number}", turns)
            if number % 9 == 0 and len(turns) > 1:
                planted[f"quay_logs:chat{number}"] = f"harbour:chat{number}"
                add(f"quay_logs:chat{number}", [*turns[:-1], turns[-1].replace(" the ", " my ", 1)])
    return planted


@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.slow), *OF_LANES[1:]])
def test_templates_are_no_evidence_where_all_pairs_are_too_many(
    seed: int, sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = invent(sample, tmp_path / "w.duckdb", seed, dialogues=20)
    planted = with_templates(path, random.Random(seed))  # noqa: S311
    threshold = (SEVEN, Fraction(1, 2), Fraction(14, 25), Fraction(3, 5))[seed % 4]
    all_pairs = overlap(path, OverlapRequest(["harbour"], threshold, SEVEN, output=tmp_path / "all.duckdb"))
    assert read(all_pairs).templates == {}
    for module in (near, quotations):
        monkeypatch.setattr(module, "MOST_TEXTS", 3)
    monkeypatch.setattr(near, "MOST_MEETINGS", 2_500)
    few_pairs = overlap(path, OverlapRequest(["harbour"], threshold, SEVEN))
    assert {*read(few_pairs).templates} >= {"turn and candidate", "dialogue"}
    assert read(overlap(path, OverlapRequest(["quay_logs"], threshold, SEVEN))).templates == read(few_pairs).templates
    with duckdb.connect(few_pairs) as found, duckdb.connect(path, read_only=True) as con:
        got = {key: row for key, row in rows(found, "matches").items() if key[0] in ("turn", "candidate", "dialogue")}
        wanted = brute_force.matches(con, threshold, SEVEN, 3)
    keyed = {tuple(row[name] for name in KEYS["matches"]): row for row in wanted}
    keyed = {key: row for key, row in keyed.items() if key[0] in ("turn", "candidate", "dialogue")}
    assert got.keys() == keyed.keys()
    assert [{name: got[key][name] for name in row} for key, row in keyed.items()] == [*keyed.values()]
    assert planted
    for owner, original in planted.items():
        match = got["dialogue", "quay_logs/all", owner, None, "dialogue", "harbour/all"]
        assert (match["other_owner"], match["kind"], match["is_phrase"]) == (original, "near", False)
    shown = run("overlap", "--against", "quay_logs", "--threshold", float(threshold), "--db", path).stdout
    assert "texts are nothing else" in " ".join(shown.split())


@pytest.mark.parametrize("seed", OF_LANES)
def test_every_match_of_a_plain_computation_is_found_and_no_other(seed: int, sample: Path, tmp_path: Path) -> None:
    path = invent(sample, tmp_path / "w.duckdb", seed)
    threshold = (SEVEN, Fraction(1, 2), Fraction(14, 25), Fraction(1))[seed % 4]
    contains = (SEVEN, Fraction(1, 10), Fraction(1))[seed % 3]
    with duckdb.connect(overlap(path, OverlapRequest(["quay_logs", "harbour/train"], threshold, contains))) as found:
        ((against,),) = found.execute("select against from run").fetchall()
        got, verdicts = rows(found, "matches"), rows(found, "examples")
    with duckdb.connect(path, read_only=True) as con:
        wanted = brute_force.matches(con, threshold, contains)
        wanted_verdicts = brute_force.verdicts(con, wanted, {*against})
    keyed = {tuple(row[name] for name in KEYS["matches"]): row for row in wanted}
    assert got.keys() == keyed.keys()
    assert [{name: got[key][name] for name in row} for key, row in keyed.items()] == [*keyed.values()]
    assert {key: row["verdict"] for key, row in verdicts.items()} == wanted_verdicts
    assert len({row["kind"] for row in wanted}) >= 3


def test_texts_are_cut_into_tokens_as_defined() -> None:
    texts = DATA["texts"]
    with duckdb.connect() as con:
        for text, wanted in texts.items():
            query = f"select found, {letters_without_blanks('form')} from (select *, {joined('found')} as form from "
            ((found, letters),) = con.execute(f"{query} (select {tokens('$1::varchar')} as found))", [text]).fetchall()
            assert found == wanted
            assert letters == sum(brute_force.is_letter_without_blanks(token[0]) for token in found)
            assert (found or [text]) == brute_force.tokens(text)


@pytest.mark.slow
def test_planted_pairs_are_met_from_the_threshold_on_and_never_below(sample: Path, tmp_path: Path) -> None:
    rng = random.Random(4)  # noqa: S311
    path = invent(sample, tmp_path / "w.duckdb", 2, dialogues=3)
    planted: dict[tuple[str, str], Fraction] = {}
    with duckdb.connect(path) as con:
        con.execute("delete from main.turns")
        con.execute("delete from main.records")
        for number in range(600):
            words = [f"w{number}x{place}" for place in range(rng.choice([6, 11, 20, 40]))]
            other = [word if rng.random() > number % 12 / 40 else f"{word}y" for word in words]
            ids = f"harbour:{number}", f"quay_logs:{number}"
            for dialogue_id, spoken in zip(ids, (words, other), strict=True):
                con.execute(
                    "insert into main.turns by name select $1 as dialogue_id, 0 as turn_index, $2 as text, "
                    "'user' as role, 'message' as kind",
                    [dialogue_id, " ".join(spoken)],
                )
                con.execute(
                    "insert into main.records by name select $1 as record_id, $2 as corpus_id, $1 as dialogue_id, "
                    "'all' as split, 0 as record_index, 'f' as source_file_id, '' as source_pointer",
                    [dialogue_id, dialogue_id.split(":")[0]],
                )
            first, two = ({*pairwise(spoken)} for spoken in (words, other))
            planted[ids] = Fraction(len(first & two), len(first | two))
    with duckdb.connect(overlap(path, OverlapRequest(units=["turn"]))) as found:
        got = {
            (row["owner"], row["other_owner"]): Fraction(row["shared"], row["total"])
            for row in rows(found, "matches").values()
            if row["place"] == "harbour/all" and row["kind"] in ("near", "exact")
        }
    assert got == {ids: similarity for ids, similarity in planted.items() if similarity >= SEVEN}
    assert len(Counter(int(similarity * 20) for similarity in planted.values() if similarity >= SEVEN)) == 7


@pytest.mark.slow
def test_the_same_rows_whatever_the_threads_the_memory_and_the_order_of_the_tables(
    invented: Path, tmp_path: Path
) -> None:
    first = summed(overlap(invented, OverlapRequest(["harbour/train"], threads=1)))
    assert (
        summed(overlap(invented, OverlapRequest(["harbour/train"], threads=4, memory_limit="100MB", force=True)))
        == first
    )
    other = tmp_path / "other" / "w.duckdb"
    other.parent.mkdir()
    shutil.copyfile(invented, other)
    with duckdb.connect(other) as con:
        for table in ("turns", "records", "examples", "texts", "candidates", "personas", "persona_uses"):
            con.execute(f"create table shuffled as from main.{table} order by random()")
            con.execute(f"delete from main.{table}")
            con.execute(f"insert into main.{table} from shuffled")
            con.execute("drop table shuffled")
    assert summed(overlap(other, OverlapRequest(["harbour/train"]))) == first


@pytest.mark.slow
def test_other_corpora_change_nothing_between_two_places(invented: Path) -> None:
    mine = ("harbour/train", "harbour/test")

    def between() -> list[tuple[Any, ...]]:
        with open_overlap(overlap(invented, OverlapRequest())) as con:
            return con.execute("from matches where place in $1 and other_place in $1", [mine]).fetchall()

    before = between()
    with duckdb.connect(invented) as con:
        con.execute("delete from main.records where corpus_id <> 'harbour' or release is not null")
    assert between() == before
    assert before


@pytest.mark.slow
def test_what_does_not_fit_into_memory_is_written_to_the_disk(sample: Path, tmp_path: Path) -> None:
    path = invent(sample, tmp_path / "w.duckdb", 3, dialogues=3)
    with duckdb.connect(path) as con:
        con.execute(DATA["what_does_not_fit_into_memory_is_written_to_the_disk"])
    wide = overlap(path, OverlapRequest(units=["turn", "dialogue"], output=tmp_path / "wide.duckdb"))
    narrow = OverlapRequest(
        units=["turn", "dialogue"], output=tmp_path / "narrow.duckdb", memory_limit="120MB", threads=2
    )
    assert summed(overlap(path, narrow)) == summed(wide)
    with pytest.raises(OutputFailed, match="not enough memory"):
        overlap(path, OverlapRequest(output=tmp_path / "least.duckdb", memory_limit="3MB", threads=1))
    assert sorted(file.name for file in tmp_path.glob("*.duckdb")) == ["narrow.duckdb", "w.duckdb", "wide.duckdb"]


@pytest.mark.slow
def test_each_warehouse_of_a_folder_has_a_file_and_an_older_one_is_read_where_it_fits(invented: Path) -> None:
    first = overlap(invented, OverlapRequest())
    other = Path(shutil.copyfile(invented, invented.with_name("other.duckdb")))
    with duckdb.connect(other) as con:
        con.execute("delete from main.turns where rowid = 0")
    before = first.read_bytes()
    assert overlap(other, OverlapRequest()) == other.with_name("other.overlap.duckdb")
    assert first.read_bytes() == before
    older = first.rename(first.with_name("overlap.duckdb"))
    other.with_name("other.overlap.duckdb").unlink()
    query = "select count(*) as number from overlap.matches"
    assert run("sql", query, "--db", invented).returncode == 0
    assert "it is of another warehouse, or this one has changed" in run("sql", query, "--db", other).stderr
    overlap(invented, OverlapRequest())
    assert older.read_bytes() == before
    with duckdb.connect(first) as con:
        con.execute("alter table run drop column templates; update run set format = 1, rows_sha256 = 'older'")
    assert read(first).templates == {}
    assert summed(first) == "older"
    assert summed(overlap(invented, OverlapRequest())) != "older"


@pytest.mark.slow
def test_a_file_that_fits_is_used_again(invented: Path) -> None:
    path = overlap(invented, OverlapRequest(["harbour/train"]))
    assert path == invented.with_name("w.overlap.duckdb")
    mark = "update matches set owner = 'mine' where rowid = 0"
    with duckdb.connect(path) as con:
        con.execute(mark)

    def is_kept() -> bool:
        with open_overlap(path) as con:
            return con.execute("select count(*) from matches where owner = 'mine'").fetchall() == [(1,)]

    overlap(invented, OverlapRequest(["quay_logs"]))
    assert is_kept()
    assert read(path).against == ["quay_logs/all", "quay_logs/lists"]
    assert {row["corpus_id"] for row in read(path).verdicts} == {"harbour", "pier"}
    overlap(invented, OverlapRequest(["quay_logs"], threshold=Fraction(8, 10)))
    assert not is_kept()
    with duckdb.connect(path) as con:
        con.execute(mark)
    with duckdb.connect(invented) as con:
        con.execute("delete from main.turns where rowid = 0")
    overlap(invented, OverlapRequest(["quay_logs"], threshold=Fraction(8, 10)))
    assert not is_kept()


@pytest.mark.parametrize(
    "file",
    [pytest.param("work.duckdb", marks=pytest.mark.long), pytest.param("w.overlap.duckdb", marks=pytest.mark.slow)],
)
def test_a_killed_command_leaves_the_old_file(file: str, invented: Path) -> None:
    path = overlap(invented, OverlapRequest(["harbour/train"]))
    before = path.read_bytes()
    command = [*COMMAND, "overlap", "--force", "--against", "quay_logs", "--db", str(invented)]
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        wait_for(invented.with_name(".w.overlap.duckdb.part") / file, process)
        process.send_signal(signal.SIGKILL)
    assert path.read_bytes() == before
    again = run("overlap", "--against", "quay_logs", "--db", invented)
    assert again.returncode == 0, again.stderr
    assert read(path).against == ["quay_logs/all", "quay_logs/lists"]
    assert sorted(file.name for file in invented.parent.iterdir() if "part" in file.name and file.is_dir()) == []


@pytest.mark.slow
def test_all_pairs_are_written_where_they_are_asked_for(
    invented: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = OverlapRequest(["harbour/train"], pairs=tmp_path / "pairs.jsonl")
    overlap(invented, request)
    lines = [json.loads(line) for line in (tmp_path / "pairs.jsonl").read_text().splitlines()]
    found = Counter((row["unit"], row["place"], row["owner"], row["turn_index"]) for row in lines)
    assert not any(row["place"] == "harbour/train" or row["other_place"] != "harbour/train" for row in lines)
    assert all(row["owner"] != row["other_owner"] for row in lines)
    with open_overlap(invented.with_name("w.overlap.duckdb")) as con:
        matches = con.execute(
            "select unit, place, owner, turn_index, matches from matches where unit = other_unit and matches > 0 "
            "and unit in ('turn', 'dialogue') and other_place = 'harbour/train' and place <> other_place"
        ).fetchall()
    assert found == {tuple(key): number for *key, number in matches}
    (tmp_path / "pairs.jsonl").unlink()
    monkeypatch.setattr(near, "MOST", len(lines) - 1)
    before = invented.with_name("w.overlap.duckdb").read_bytes()
    with pytest.raises(QueryFailed, match=f"found: +{len(lines):,}"):
        overlap(invented, request)
    assert not (tmp_path / "pairs.jsonl").exists()
    assert invented.with_name("w.overlap.duckdb").read_bytes() == before
    with pytest.raises(UsageError, match="--against"):
        overlap(invented, OverlapRequest(pairs=tmp_path / "pairs.jsonl"))


def test_texts_that_quote_each_other_too_often_are_refused(invented: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quotations, "MOST_MEETINGS", 10)
    with pytest.raises(QueryFailed, match=r"338; a part of '.*' in 3 texts or more\n.*raise --contains"):
        overlap(invented, OverlapRequest(units=["dialogue"], contains=Fraction(1, 10)))


@pytest.mark.slow
@pytest.mark.parametrize("limit", ["MOST_MEETINGS", "MOST_COMPARED"])
def test_a_template_in_too_many_variants_is_refused_before_it_is_compared(
    invented: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(near, limit, 10)
    with pytest.raises(QueryFailed, match="--threshold") as refusal:
        overlap(invented, OverlapRequest(units=["turn", "candidate"]))
    assert "unit turn and candidate" in refusal.value.what
    assert refusal.value.found is not None
    parts = refusal.value.found.split("; ")
    assert len(parts) == 4
    with duckdb.connect(invented, read_only=True) as con:
        texts = [text for (text,) in con.execute("select text from main.turns").fetchall()]
    for part in parts[2:]:
        shown = part.split("'")[1].split(" ")
        assert any(brute_force.tokens(text)[at : at + 2] == shown for text in texts for at in range(len(text))), part
    assert not invented.with_name("w.overlap.duckdb").exists()


@pytest.mark.parametrize(
    "text", ["", "0.49", "1.01", "nan", "1e-1", "7/10", "-1", "0.7 ", "\u0660.\u0667", "0.7123456789"]
)
def test_a_threshold_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"--threshold.*\n.*0\.5 to 1"):
        share("--threshold", text, Fraction(1, 2))


def test_shares_are_exact() -> None:
    assert share("--contains", "0.56", None) == Fraction(14, 25)
    assert share("--threshold", ".5", Fraction(1, 2)) == Fraction(1, 2)
    assert share("--threshold", "1", Fraction(1, 2)) == 1
    with pytest.raises(UsageError, match="above 0"):
        share("--contains", "0.0", None)


def test_a_place_that_is_not_there_is_refused_with_the_nearest(invented: Path) -> None:
    with pytest.raises(UsageError, match=r"no place 'harbour/trian'\n.*harbour/train"):
        overlap(invented, OverlapRequest(["harbour/trian"]))
    with pytest.raises(UsageError, match="no place 'harb'"):
        overlap(invented, OverlapRequest(["harb"]))
    assert not invented.with_name("w.overlap.duckdb").exists()


@pytest.mark.slow
def test_the_output_is_never_the_warehouse_nor_somebody_elses_file(invented: Path, tmp_path: Path) -> None:
    before = invented.read_bytes()
    for force in (False, True):
        with pytest.raises(UsageError, match="replace the warehouse"):
            overlap(invented, OverlapRequest(output=invented, force=force))
    other = tmp_path / "notes.duckdb"
    other.write_text("my notes")
    with pytest.raises(UsageError, match="not a file that talkhouse overlap made"):
        overlap(invented, OverlapRequest(output=other))
    assert other.read_text() == "my notes"
    assert invented.read_bytes() == before
    overlap(invented, OverlapRequest(units=["dialogue"], output=other, force=True))
    assert read(other).against == []


@pytest.mark.slow
def test_a_file_that_was_changed_to_harm_is_no_file_of_ours(invented: Path, tmp_path: Path) -> None:
    path = overlap(invented, OverlapRequest(units=["dialogue"]))
    whole = path.read_bytes()
    changes = {
        "the macro list_position": "create macro list_position(a, b) as 1",
        "the table matches": "drop view matrix; drop table matches; create view matches as select 1 as unit",
        "a table run": "delete from run",
        "the table units": "drop view matrix; alter table units drop column owners",
    }
    for found, change in changes.items():
        path.write_bytes(whole)
        with duckdb.connect(path) as con:
            con.execute(change)
        with pytest.raises(UsageError, match=found):
            overlap(invented, OverlapRequest(["harbour/train"]))
    path.write_bytes(whole)
    with duckdb.connect(path) as con:
        con.execute("update run set format = 99")
    with pytest.raises(SchemaMismatch, match="newer Talkhouse"):
        overlap(invented, OverlapRequest())
    path.unlink()
    path.symlink_to(tmp_path / "elsewhere.duckdb")
    with pytest.raises(UsageError, match="a link"):
        overlap(invented, OverlapRequest())
    # A view is not read, whatever it says.
    path.unlink()
    path.write_bytes(whole)
    with duckdb.connect(path) as con:
        con.execute("create or replace view matrix as select 'mine' as unit")
    assert {row["unit"] for row in read(path).matrix} == {"dialogue"}


@pytest.mark.slow
def test_sql_has_the_overlap_and_nothing_else(invented: Path, tmp_path: Path) -> None:
    def asked(query: str) -> subprocess.CompletedProcess[str]:
        return run("sql", query, "--format", "csv", "--db", invented)

    assert "does not exist" in asked("from overlap.matrix").stderr
    path = overlap(invented, OverlapRequest(["harbour/train"]))
    with open_overlap(path) as con:
        number = con.execute("select count(*) from matches").fetchall()[0][0]
    assert asked("select count(*) as number from overlap.matches").stdout == f'"number"\n{number}\n'
    assert asked("select sum(affected + phrases) as number from overlap.matrix").stdout == f'"number"\n{number}\n'
    secret = tmp_path / "secret.csv"
    secret.write_text("secret\n1\n")
    with duckdb.connect(path) as con:
        con.execute(f"create view peek as from '{secret}'")
    refused = asked("from overlap.peek")
    assert refused.returncode == 1
    assert "sandboxed" in refused.stderr
    with duckdb.connect(invented) as con:
        con.execute("delete from main.turns where rowid = 0")
    gone = asked("from overlap.matches")
    assert "this one has changed since" in gone.stderr
    assert gone.returncode == 1
    path.write_text("my notes")
    assert asked("select 1 as one").stdout == '"one"\n1\n'


@pytest.mark.slow
def test_a_strangers_warehouse_reaches_nothing(invented: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("text\nsecret words that stand nowhere else but in this one file here\n")
    with duckdb.connect(invented) as con:
        con.execute("create macro hash(x) as 1")
        con.execute("create macro regexp_extract_all(a, b) as ['same']")
        con.execute("create macro list_intersect(a, b) as []")
    first = summed(overlap(invented, OverlapRequest(["harbour/train"])))
    with duckdb.connect(invented) as con:
        for name in ("hash", "regexp_extract_all", "list_intersect"):
            con.execute(f"drop macro {name}")
    assert summed(overlap(invented, OverlapRequest(["harbour/train"], force=True))) == first
    with duckdb.connect(invented) as con:
        con.execute("alter table main.turns rename to others")
        con.execute(
            f"create view main.turns as select 'harbour:1' as dialogue_id, 0 as turn_index, text from '{secret}'"
        )
    with pytest.raises(NotAWarehouse):
        overlap(invented, OverlapRequest(force=True))


@pytest.mark.slow
def test_the_command_prints_the_same_json_for_the_same_input(invented: Path, tmp_path: Path) -> None:
    asked = ("overlap", "--against", "harbour/train", "--json", "--db", invented)
    first = run(*asked, "--threads", 1)
    assert first.returncode == 0, first.stderr
    assert run(*asked, "--force", "--threads", 2, "--output", tmp_path / "other.duckdb").stdout == first.stdout
    data = json.loads(first.stdout)
    assert [*data] == ["threshold", "contains", "against", "matrix"]
    assert (data["threshold"], data["against"]) == (0.7, ["harbour/train"])
    names = ["unit", "place", "other_unit", "other_place", "units", "same", "exact", "normalised", "near", "contains"]
    assert [*data["matrix"][0]] == [*names, "phrases", "affected"]
    kinds = ("same", "exact", "normalised", "near", "contains")
    assert all(row["affected"] == sum(row[kind] for kind in kinds) for row in data["matrix"])
    shown = run("overlap", "--against", "harbour/train", "--db", invented)
    assert shown.returncode == 0, shown.stderr
    assert "harbour/second/test" in shown.stdout
    assert "harbour.reply" in shown.stdout
    for wrong in (["--threshold", "0.3"], ["--contains", "0"], ["--against", "nowhere"], ["--unit", "word"]):
        refused = run("overlap", *wrong, "--db", invented)
        assert (refused.returncode, refused.stdout) == (2, ""), wrong


@pytest.mark.slow
def test_findings_of_leaks_are_matches(sample: Path, tmp_path: Path) -> None:
    path = invent(sample, tmp_path / "w.duckdb", 5, dialogues=80)
    folder = Path(__file__).parents[3] / "queries" / "checks"
    with duckdb.connect(path) as con:
        con.execute("update main.records set release = null, split = coalesce(split, 'other')")
        leaks = {
            kinds: con.execute((folder / f"{name}.sql").read_text()).fetchall()
            for kinds, name in (
                (("same",), "dialogues_stay_in_one_split"),
                (("same", "exact"), "no_talk_is_repeated_in_another_split"),
            )
        }
    with open_overlap(overlap(path, OverlapRequest(units=["dialogue"]))) as con:
        for kinds, found in leaks.items():
            owners = con.execute(
                "select distinct owner from matches where kind in $1 and place <> other_place", [kinds]
            ).fetchall()
            assert found
            assert {dialogue_id for _, dialogue_id, *_ in found} <= {owner for (owner,) in owners}
