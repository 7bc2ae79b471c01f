"""MPChat: invented files with unusual texts, numbers and defects come back equal, record by record."""

import dataclasses
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import talkhouse
from talkhouse.ingest.corpora.mpchat import CORPUS
from talkhouse.ingest.progress import Silent
from talkhouse.ingest.registry import sample_of
from talkhouse.ingest.stored_record import StoredRecord
from talkhouse.load.run import build
from talkhouse.restore.write_back import write_back
from tests.conftest import Build, invented_builds
from tests.corpora.unusual import (
    BOM,
    KEY,
    NUMBER,
    STYLES,
    TEXT,
    UNKNOWN,
    WHOLE,
    assert_comes_back,
    assert_same,
    at,
    built,
    damaged,
    json_text,
    laid_out,
    parsed,
    restored,
)

Files = dict[str, dict[str, list[tuple[bytes, bool]]]]
"""File -> split -> dialogues: the JSON of each, and whether it was damaged."""

NULLABLE = TEXT | st.none()
SOME_NUMBER = NUMBER | TEXT | st.none()
VOTE = st.tuples(NULLABLE | WHOLE, NUMBER | st.booleans() | st.none())
ELEMENT = st.builds(
    lambda known, unknown: known | unknown,
    st.fixed_dictionaries(
        {"id": TEXT, "title": TEXT, "file_name": TEXT},
        optional={
            **dict.fromkeys(("subreddit", "url", "author", "permalink", "direct_url", "label_overall"), NULLABLE),
            **dict.fromkeys(("score", "created_utc", "created_utcs"), SOME_NUMBER),
            "label_per_worker": st.none() | st.lists(VOTE.map(list), max_size=4),
        },
    ),
    UNKNOWN,
)
AUTHOR = st.sampled_from(["ann", "", "a:b", "\x00", "mpchat:x~"]) | TEXT


@st.composite
def dialogues(draw: st.DrawFn, subset: str, pool: list[dict[str, Any]]) -> dict[str, Any]:
    """Invent a dialogue in which every field that may be null, empty or absent sometimes is."""
    turns = draw(st.integers(1, 3))
    elements = st.lists(st.sampled_from(pool), max_size=3)
    per_turn = lambda item: st.none() | st.lists(item, min_size=turns, max_size=turns)  # noqa: E731
    authors = draw(st.lists(AUTHOR | st.none(), min_size=turns, max_size=turns))
    lists: dict[str, dict[str, Any]] = {
        "nrp": {
            "candidate_personas": st.none() | elements,
            "grounded_personas": per_turn(st.none() | elements),
            "ungrounded_personas": per_turn(st.none() | elements),
            "nrp_candidate_responses": per_turn(st.none() | st.lists(TEXT, max_size=3)),
        },
        "gpp": {
            "gpp_grounded_persona": per_turn(st.none() | st.sampled_from(pool)),
            "gpp_candidate_personas": per_turn(st.none() | elements),
            "gpp_candidate_authors_candidate_personas": per_turn(st.none() | elements),
        },
        "si": {
            "si_main_author_candidate_personas": st.none() | elements,
            "si_candidate_authors_candidate_personas": st.none() | st.lists(st.none() | elements, max_size=4),
        },
    }
    dialogue = draw(
        st.fixed_dictionaries(
            {
                "main_author": st.sampled_from([name for name in authors if name is not None] or [""]) | AUTHOR,
                "authors": st.just(authors),
                "messages": st.lists(TEXT, min_size=turns, max_size=turns),
                "has_image": st.booleans() | st.sampled_from([0, 1, None]),
                "file_name": TEXT,
            },
            optional={
                "subreddit": NULLABLE,
                "direct_url": NULLABLE,
                "message_ids": per_turn(st.sampled_from(["p", "q", ""]) | TEXT),
                "created_utcs": per_turn(SOME_NUMBER) | per_turn(NUMBER | st.just(float("nan"))),
                "all_personas": st.none() | elements,
                **lists[subset],
            },
        )
    )
    dialogue |= draw(UNKNOWN)
    return {name: dialogue[name] for name in draw(st.permutations(list(dialogue)))}


@st.composite
def corpora(draw: st.DrawFn) -> Files:
    """Invent the three files; one dialogue in eight or so is damaged, and threads come back in other files."""
    pool = draw(st.lists(ELEMENT, min_size=2, max_size=6))
    files: Files = {}
    for subset in ("nrp", "gpp", "si"):
        splits = draw(st.permutations(["train", "val", "test"]))
        files[f"mpchat_{subset}.json"] = {
            name: draw(st.lists(_dialogue(subset, pool), min_size=1, max_size=6)) for name in splits
        }
    return files


@st.composite
def _dialogue(draw: st.DrawFn, subset: str, pool: list[dict[str, Any]]) -> tuple[bytes, bool]:
    raw = json_text(draw(dialogues(subset, pool)), draw(STYLES))
    if draw(st.integers(0, 7)):
        return raw, False
    return draw(damaged(raw)), True


def file_text(splits: dict[str, list[tuple[bytes, bool]]], unknown: dict[str, Any]) -> bytes:
    """Write one task file, with fields that nothing documents around its splits."""
    members = [json_text({name: value}, "plain")[1:-1] for name, value in unknown.items()]
    lists = [f'"{name}": ['.encode() + b", ".join(raw for raw, _ in some) + b"]" for name, some in splits.items()]
    return b"{" + b", ".join([*members[:1], *lists, *members[1:]]) + b"}"


GOOD = json_text(
    {"main_author": "ann", "authors": ["ann"], "messages": ["hello"], "has_image": False, "candidate_personas": []},
    "plain",
)


@pytest.mark.slow
@invented_builds(10)
@given(
    files=corpora(),
    images=st.dictionaries(KEY, NULLABLE, max_size=4),
    unknown=UNKNOWN,
    style=STYLES,
    has_bom=st.booleans(),
)
def test_unusual_files_come_back_equal(
    files: Files,
    images: dict[str, Any],
    unknown: dict[str, Any],
    style: str,
    has_bom: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("unusual")
    files["mpchat_nrp.json"]["val"].append((GOOD, False))
    bom = BOM if has_bom else b""
    texts = {name: bom + file_text(splits, unknown) for name, splits in files.items()}
    texts["persona_image_urls.json"] = bom + json_text(images, style)
    written = restored(CORPUS, built(folder, CORPUS, texts), folder / "out")
    for name, text in texts.items():
        assert_same(text, (folder / "out" / name).read_bytes())
    for name, splits in files.items():
        for split, some in splits.items():
            for index, (dialogue, is_damaged) in enumerate(some):
                record = written.get(f"mpchat/{name[7:-5]}/{split}/{index}")
                assert record or is_damaged, "unusual, and not wrong"
                if record:
                    assert record.pointer == f"/{split}/{index}"
                    assert (
                        parsed(record.raw)
                        == parsed(at(texts[name].removeprefix(bom), record.pointer))
                        == parsed(dialogue)
                    )


def nrp(*dialogues: bytes, rest: bytes = b"") -> bytes:
    return b'{"train": [' + b", ".join(dialogues) + b'], "val": [], "test": []' + rest + b"}"


WITH_VOTE = b'{"id": "m", "title": "t", "file_name": "f", "label_per_worker": [["w", %s]]}'
ENVELOPES = {
    "no comma": nrp(GOOD + b" " + GOOD),
    "a comma too many": nrp(GOOD + b","),
    "nothing between commas": nrp(GOOD + b",", GOOD),
    "no comma between splits": b'{"train": [' + GOOD + b'] "val": [], "test": []}',
    "no colon": b'{"train" [], "val": [], "test": []}',
    "an equals sign": b'{"train"= [], "val": [], "test": []}',
    "another bracket": b'{"train": [' + GOOD + b'}, "val": [], "test": []}',
    "another bracket at the end": nrp(GOOD)[:-1] + b"]",
    "something behind": nrp(GOOD) + b" x",
    "a NUL behind": nrp(GOOD) + b"\x00",
    "a comment": nrp(GOOD + b" /* */"),
    "NaN beside the splits": nrp(GOOD, rest=b', "x": NaN'),
    "malformed beside the splits": nrp(GOOD, rest=b', "x": [1 2]'),
    "malformed behind a number beyond any double": nrp(GOOD, rest=b', "x": [1e400, 01]'),
    "no UTF-8 beside the splits": nrp(GOOD, rest=b', "x": "\xff"'),
    "half of a pair beside the splits": nrp(GOOD, rest=rb', "x": "\ud800"'),
    "half of a pair in a key": nrp(GOOD, rest=rb', "\ud800": 1'),
    "a control character in a key": nrp(GOOD, rest=b', "x\n": 1'),
    "nested too deeply": nrp(GOOD, rest=b', "x": ' + b"[" * 3_000 + b"]" * 3_000),
}
"""Files that are malformed outside of their dialogues."""


@pytest.mark.slow
def test_a_file_that_is_malformed_around_its_dialogues_is_rejected_whole(build_data: Build, tmp_path: Path) -> None:
    texts = {f"{index}/mpchat_nrp.json": text for index, text in enumerate(ENVELOPES.values())}
    good = {"z/mpchat_nrp.json": nrp(GOOD)}
    con = build_data(laid_out(tmp_path, CORPUS, texts | good))
    rejected = con.execute("select source_file_id, pointer, starts_with(rule, 'TH-') from meta.quarantine").fetchall()
    assert set(rejected) == {(f"mpchat/{name}", "", True) for name in texts}
    assert_comes_back(con, CORPUS, texts | good, tmp_path / "out")
    assert con.execute("select record_id from main.records").fetchall() == [("mpchat/nrp/train/0",)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("member", "rule"),
    [
        (b'"x": "\xff"', "TH-02"),
        (b'"x": {"y": ["\xed\xa0\x80"]}', "TH-02"),
        (b'"all_personas": [{"id": "m", "title": "t", "file_name": "f", "x": "\xed\xa0\x80"}]', "TH-02"),
        (b'"x": 1e400, "y": %s' % (b"1" * 5_000), None),
        (b'"all_personas": [%s]' % (WITH_VOTE % (b"1" * 400)), None),
        (b'"all_personas": [%s]' % (WITH_VOTE % b"1e400"), "MP-06"),
    ],
    ids=["no UTF-8", "inside", "in a persona", "numbers beyond any double", "a vote beyond any", "an infinite vote"],
)
def test_an_odd_field_is_stored_or_rejected(member: bytes, rule: str | None, build_data: Build, tmp_path: Path) -> None:
    con = build_data(laid_out(tmp_path, CORPUS, {"mpchat_nrp.json": nrp(GOOD, b"{" + member + b", " + GOOD[1:], GOOD)}))
    assert con.execute("select rule from meta.quarantine").fetchall() == ([(rule,)] if rule else [])
    write_back(con, CORPUS, tmp_path / "out")
    assert member.replace(b" ", b"") in (tmp_path / "out" / "mpchat_nrp.json").read_bytes().replace(b" ", b"")
    if rule is None:
        labels = "select label, value from main.annotations where scheme = 'mpchat.entailment'"
        assert con.execute(labels).fetchall() == ([("1" * 400, None)] if b"label" in member else [])


# Files that are given twice.

SAMPLE = sample_of(CORPUS)
NAMES = sorted(path.name for path in SAMPLE.glob("*.json"))
COUNTS = """
select task, split, count(*) from main.examples group by all order by all
"""


@pytest.mark.slow
@pytest.mark.parametrize("is_packed", [True, False], ids=["packed and unpacked", "in two folders"])
def test_the_same_files_twice_make_their_examples_once_and_both_come_back(
    is_packed: bool, build_data: Build, tmp_path: Path
) -> None:
    once = {name: (SAMPLE / name).read_bytes() for name in NAMES}
    data = laid_out(
        tmp_path, CORPUS, once | ({} if is_packed else {f"copy/{name}": text for name, text in once.items()})
    )
    if is_packed:
        with ZipFile(data / "mpchat" / "copy.zip", "w") as archive:
            for name in NAMES:
                archive.write(SAMPLE / name, name)
    build(tmp_path / "twice.duckdb", Silent(), data=data)  # 1 % in quarantine would stop it
    plain = build_data(laid_out(tmp_path / "plain", CORPUS, once))
    with talkhouse.open(tmp_path / "twice.duckdb") as con:
        assert con.execute(COUNTS).fetchall() == plain.execute(COUNTS).fetchall() != []
        for table in ("dialogues", "turns", "speakers", "personas", "texts"):
            rows = f"from main.{table} order by all"
            assert con.execute(rows).fetchall() == plain.execute(rows).fetchall(), table
        for view in ("mpchat_worker_agreement", "mpchat_candidate_reuse", "mpchat_grounding_by_subreddit"):
            rows = f"from bi.{view} order by all"
            assert con.execute(rows).fetchall() == plain.execute(rows).fetchall() != [], view
        ((loaded, came),) = con.execute("select sum(records_loaded), sum(records_in) from meta.source_files").fetchall()
        marked = "select extra ->> 'repeats' is not null, count(*) from main.records group by all order by all"
        ((_, first), (_, second)) = con.execute(marked).fetchall()
        assert (loaded, came, first) == (first + second, first + second, second)
        found = con.execute("select rule, severity from meta.findings where rule = 'MP-13'").fetchall()
        assert found == [("MP-13", "warn")] * len(NAMES)
        assert_comes_back(con, CORPUS, once | {f"copy/{name}": text for name, text in once.items()}, tmp_path / "out")


@pytest.mark.slow
def test_another_file_of_a_name_is_kept_beside_the_one_that_counts(build_data: Build, tmp_path: Path) -> None:
    mug = b'{"id": "m", "title": "mug", "file_name": "m.jpg", "created_utc": 1}'
    dialogue = GOOD.replace(b'"candidate_personas": []', b'"candidate_personas": [' + mug + b"]")
    texts = {
        "a/mpchat_nrp.json": nrp(dialogue)[:-1],
        "b/mpchat_nrp.json": nrp(dialogue),
        "c/mpchat_nrp.json": nrp(dialogue.replace(b"hello", b"another"), dialogue),
        "a/dialog_image_urls.json": b'{"x": "u"}',
        "b/dialog_image_urls.json": b'{"x": "another", "y": null}',
    }
    con = build_data(laid_out(tmp_path, CORPUS, texts))
    assert con.execute("select source_file_id from meta.quarantine").fetchall() == [("mpchat/a/mpchat_nrp.json",)]
    counts = "select record_id, response from mpchat.next_response_prediction"
    assert con.execute(counts).fetchall() == [("mpchat/nrp/train/0", "hello")]
    marked = "select extra ->> 'repeats' from main.records where subset = 'nrp' order by source_file_id"
    assert con.execute(marked).fetchall() == [(None,), *[("mpchat/b/mpchat_nrp.json",)] * 2]
    urls = "select starts_with(kind, 'dialogue~'), image_id, url from main.images order by all"
    assert con.execute(urls).fetchall() == [(False, "x", "u"), (True, "x", "another"), (True, "y", None)]
    assert_comes_back(con, CORPUS, texts, tmp_path / "out")


def test_a_file_is_written_dialogue_by_dialogue(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    """No piece is much larger than the largest dialogue, and every record of a split comes by itself."""
    sizes: dict[str, list[int]] = {}

    def counted(records: Iterable[StoredRecord]) -> Iterator[tuple[str, bytes]]:
        for name, piece in CORPUS.write(records):
            sizes.setdefault(name, []).append(len(piece))
            yield name, piece

    write_back(con, dataclasses.replace(CORPUS, write=counted), tmp_path)
    for name in ("mpchat_nrp.json", "mpchat_gpp.json", "mpchat_si.json"):
        first = json.loads((SAMPLE / name).read_bytes())["train"]
        assert len(sizes[name]) > len(first)
        largest = max(len(record) for record in map(json.dumps, first))
        assert sizes[name][0] < sizes[name][2] <= largest, "the key, the bracket, the first dialogue"
