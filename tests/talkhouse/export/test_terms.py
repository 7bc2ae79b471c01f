"""Terms: those of the parts whose rows and columns are selected; what has to be accepted, and what excludes what."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

import talkhouse
from talkhouse.export.export import export
from talkhouse.export.selection import Filters, select
from talkhouse.export.terms import LicencePart, check_terms, parts_of, parts_of_corpus
from talkhouse.queries.catalogue import BI, catalogue
from talkhouse.schema.errors import TermsNotAccepted
from talkhouse.warehouse.opened import Warehouse
from tests.commands import run
from tests.samples import GROUPS, PICTURES, POSTS, RELEASES, SUGGESTIONS

TASK = f"{RELEASES}.breakdown_detection"
FREE, ALIKE, RESEARCH = "CC-BY-4.0", "CC-BY-SA-4.0", "LicenseRef-research"
TERMS = f"""
insert into main.corpus_terms by name
select *, coalesce(spdx, '') = '{ALIKE}' as is_share_alike, coalesce(spdx, '') = '{RESEARCH}' as is_non_commercial,
    true as is_attribution, spdx is null as is_unknown, 'So it is.' as note
from (
    values
        ('{RELEASES}', 'talks', null, null, null, '{FREE}'),
        ('{RELEASES}', 'pages', ['{TASK}.background', 'main.dialogues.extra.background'], null, null, '{ALIKE}'),
        ('{GROUPS}', 'all', null, null, null, null),
        ('{POSTS}', 'old', null, null, '2011-04-08', '{ALIKE}'),
        ('{POSTS}', 'young', null, '2011-04-08', null, '{ALIKE}'),
        ('{PICTURES}', 'all', null, null, null, '{RESEARCH}')
) as terms (corpus_id, part, columns, said_from, said_before, spdx)
"""
"""Terms of most of the sample's corpora, invented."""

TALKS, PAGES, OLD, YOUNG = f"{RELEASES} talks", f"{RELEASES} pages", f"{POSTS} old", f"{POSTS} young"
DELIDATA, MPCHAT = f"{GROUPS} all", f"{PICTURES} all"


@pytest.fixture(scope="module")
def asking(copied: Path) -> Iterator[Warehouse]:
    with duckdb.connect(copied) as con:
        con.execute(TERMS)
        con.execute(f"create view main.mine as select background, label, native_id as mine from {TASK}")
        yield Warehouse(con)
        con.execute("truncate main.corpus_terms")
        con.execute("drop view main.mine")


def names(parts: Sequence[LicencePart]) -> list[str]:
    return [f"{part.corpus_id} {part.part}" for part in parts]


def selected(warehouse: Warehouse, name: str, *columns: str, where: str = "true", **filters: Any) -> list[str]:
    """Name the parts of some columns, or of all, and of the rows for which an SQL condition is true."""
    selection = select(warehouse, name, Filters(**filters), columns=columns or None)
    return names(parts_of(warehouse, [replace(selection, conditions=(where,))]))


def test_a_part_of_columns_counts_where_they_are_selected_and_have_a_value(asking: Warehouse) -> None:
    assert selected(asking, TASK) == [TALKS, PAGES]
    assert selected(asking, TASK, "label", "utterance") == [TALKS]
    assert selected(asking, TASK, "background") == [PAGES]
    assert selected(asking, TASK, "background", "label") == [TALKS, PAGES]
    assert selected(asking, TASK, where="subset = 'IRIS_50'") == [TALKS]
    assert selected(asking, TASK, where="subset = 'CIC_50'") == [TALKS, PAGES]
    assert selected(asking, TASK, "background", where="subset = 'IRIS_50'") == []


def test_a_view_of_one_split_has_the_parts_of_its_task(asking: Warehouse) -> None:
    assert selected(asking, f"{TASK}_eval") == selected(asking, TASK, split="eval") == [TALKS, PAGES]
    assert selected(asking, f"{TASK}_eval", "background") == [PAGES]
    assert selected(asking, f"{TASK}_eval", where="language = 'ja'") == [TALKS]


def test_a_part_may_be_a_member_of_a_json_column(asking: Warehouse) -> None:
    of_releases = f"starts_with(dialogue_id, '{RELEASES}:')"
    assert selected(asking, "dialogues", where=of_releases) == [TALKS, PAGES]
    # The column has more than that member.
    assert selected(asking, "dialogues", "extra", where=of_releases) == [TALKS, PAGES]
    assert selected(asking, "dialogues", "dialogue_id", "language", where=of_releases) == [TALKS]
    assert selected(asking, "dialogues", "extra", where=f"{of_releases} and extra is null") == [TALKS]


def test_a_corpus_counts_where_it_has_rows(asking: Warehouse) -> None:
    assert selected(asking, "turns") == [TALKS, DELIDATA, OLD, YOUNG, MPCHAT]
    assert selected(asking, "bi.turns", where=f"corpus_id = '{GROUPS}'") == [DELIDATA]
    assert selected(asking, "bi.turns", where=f"corpus_id = '{SUGGESTIONS}'") == []
    assert selected(asking, f"{GROUPS}.outcome") == [DELIDATA]
    assert selected(asking, f"{GROUPS}.outcome", where="false") == []
    everything = [select(asking, f"{GROUPS}.outcome"), select(asking, TASK, columns=["background"])]
    assert names(parts_of(asking, everything)) == [PAGES, DELIDATA]


def test_what_was_said_later_is_under_later_terms(asking: Warehouse) -> None:
    assert selected(asking, f"{POSTS}.response_ranking", split="train") == [OLD, YOUNG]
    assert selected(asking, f"{POSTS}.response_ranking", split="dev") == [YOUNG]
    assert selected(asking, f"{POSTS}.response_ranking", where=f"dialogue_id = '{POSTS}:train:0'") == [OLD]
    assert selected(asking, "turns", where=f"said_at < '2011-04-08' and starts_with(dialogue_id, '{POSTS}:')") == [OLD]
    # Candidates are from other dialogues, which are not named.
    assert selected(asking, f"{POSTS}.response_ranking_10", where=f"dialogue_id = '{POSTS}:train:0'") == [OLD, YOUNG]
    # The text of an utterance is not where its speaker is.
    assert selected(asking, "speakers", where=f"corpus_id = '{POSTS}'") == [OLD, YOUNG]


def test_what_has_no_time_may_have_been_said_at_any(asking: Warehouse) -> None:
    untimed = f"update main.turns set said_at = null where dialogue_id = '{POSTS}:dev:0' and turn_index = 1"
    asking.con.execute("begin")
    try:
        asking.con.execute(untimed)
        assert selected(asking, f"{POSTS}.response_ranking", where=f"dialogue_id = '{POSTS}:dev:0'") == [OLD, YOUNG]
        assert selected(asking, f"{POSTS}.response_ranking", where=f"dialogue_id = '{POSTS}:dev:1'") == [YOUNG]
    finally:
        asking.con.execute("rollback")


def test_a_view_of_somebody_is_taken_by_the_names_of_its_columns(asking: Warehouse) -> None:
    # No column names the corpus, so that it may be any.
    assert selected(asking, "mine") == [TALKS, PAGES, DELIDATA, OLD, YOUNG, MPCHAT]
    assert selected(asking, "mine", "label") == [TALKS, DELIDATA, OLD, YOUNG, MPCHAT]


def test_facts_have_no_terms_and_texts_have(asking: Warehouse) -> None:
    facts = ("corpora", "corpus_terms", "schemes", "labels", "meta.findings", "bi.splits", f"bi.{POSTS}_answer_votes")
    for name in facts:
        assert selected(asking, name) == [], name
    for name in ("texts", "records", "annotations", "bi.label_counts", "bi.provenance"):
        assert selected(asking, name), name


def test_a_view_without_terms_shows_no_record_dialogue_or_person() -> None:
    without = [view for view in catalogue().views if view.terms == "none"]
    assert {view.schema for view in without} == {BI}
    facts = {"corpus_id", "load_id", "source_file_id", "scheme"}
    columns = {view.full_name: {*view.grain, *view.columns} for view in without if view.name != "findings"}
    for name, known in columns.items():
        keys = {column for column in known - facts if column.endswith("_id")}
        assert not keys | known & {"text", "title", "extra"} or name == "bi.corpora", name


def test_samples_have_no_terms(con: duckdb.DuckDBPyConnection) -> None:
    warehouse = Warehouse(con)
    assert parts_of(warehouse, [select(warehouse, "turns")]) == ()
    assert parts_of_corpus(warehouse, PICTURES) == ()


def part(corpus_id: str = "toy", name: str = "all", *flags: str, columns: tuple[str, ...] = ()) -> LicencePart:
    asked = {f"is_{flag}": flag in flags for flag in ("attribution", "share_alike", "non_commercial", "unknown")}
    return LicencePart(
        corpus_id, name, "LicenseRef-x", "https://example.org/x", **asked, note="It is so.", columns=columns
    )


@pytest.mark.parametrize("flag", ["share_alike", "non_commercial", "unknown"])
def test_terms_are_accepted_first(flag: str) -> None:
    parts = [part("toy", "texts", "attribution", flag), part("free", "all", "attribution")]
    with pytest.raises(TermsNotAccepted) as refused:
        check_terms(parts, is_accepted=False)
    shown = str(refused.value)
    for wanted in ("toy, texts: LicenseRef-x", flag.replace("_", "-"), "https://example.org/x", "It is so."):
        assert wanted in shown
    assert "--accept-terms" in shown
    assert "free" not in shown
    assert refused.value.exit_code == 1
    check_terms(parts, is_accepted=True)
    check_terms([part("toy", "all", "attribution"), part("other", "all")], is_accepted=False)


@pytest.mark.parametrize("is_accepted", [False, True])
def test_share_alike_and_non_commercial_of_two_corpora_exclude_each_other(is_accepted: bool) -> None:
    alike, other = part("alike", "all", "share_alike"), part("paid", "all", "non_commercial")
    for parts in ([alike, other], [other, alike]):
        with pytest.raises(TermsNotAccepted, match="exclude each other") as refused:
            check_terms(parts, is_accepted=is_accepted)
        assert """--where "corpus_id = 'alike'" """.strip() in str(refused.value)
        assert """--where "corpus_id = 'paid'" """.strip() in str(refused.value)


def test_what_is_alike_combines() -> None:
    both = part("both", "all", "share_alike", "non_commercial")
    check_terms([part("a", "1", "share_alike"), part("a", "2", "non_commercial")], is_accepted=True)
    check_terms([part("a", "1", "share_alike"), part("b", "2", "share_alike")], is_accepted=True)
    check_terms([both, part("paid", "all", "non_commercial")], is_accepted=True)
    with pytest.raises(TermsNotAccepted, match="alike and both exclude"):
        check_terms([part("alike", "all", "share_alike"), both], is_accepted=True)


def test_the_message_names_what_helps(asking: Warehouse, tmp_path: Path) -> None:
    def refused(name: str, **options: Any) -> str:
        with pytest.raises(TermsNotAccepted) as caught:
            export(asking, name, tmp_path / "rows.csv", **options)
        return str(caught.value).partition("next:")[2].strip()

    leave_out = "if you accept them, add --accept-terms; or leave out background"
    assert refused(TASK).startswith(leave_out)
    assert refused(f"{GROUPS}.outcome") == "if you accept them, add --accept-terms"
    apart = refused("turns", is_accepted=True)
    assert f"""--where "starts_with(dialogue_id, '{POSTS}:')" """.strip() in apart
    assert list(tmp_path.iterdir()) == []


def test_the_manifest_has_the_terms_of_what_is_in_the_file(asking: Warehouse, tmp_path: Path) -> None:
    def described(name: str, **options: Any) -> Any:
        export(asking, name, tmp_path / "rows.csv", force=True, **options)
        return json.loads((tmp_path / "rows.csv.manifest.json").read_text())["corpora"]

    (corpus,) = described(TASK, columns=["label"])
    terms = {"part": "talks", "spdx": FREE, "licence_url": None, "flags": ["attribution"], "note": "So it is."}
    assert corpus["licence_terms"] == [terms]
    (corpus,) = described(TASK, is_accepted=True)
    assert [terms["part"] for terms in corpus["licence_terms"]] == ["talks", "pages"]
    assert corpus["licence_terms"][1]["flags"] == ["attribution", "share_alike"]
    (corpus,) = described(f"{SUGGESTIONS}.guided_response")
    assert corpus["licence_terms"] == []


# The samples as if they were the publishers' files.

PUBLISHED = {
    SUGGESTIONS: [("CC-BY-4.0", ["attribution"])],
    RELEASES: [("MIT", ["attribution"]), ("CC-BY-SA-4.0", ["attribution", "share_alike"])],
    GROUPS: [("Apache-2.0", ["attribution"])],
    POSTS: [
        (f"CC-BY-SA-{version}", ["attribution", "share_alike", "unknown"])
        for version in ("2.5", "3.0")  # nothing in it was said after 2018-05-02
    ],
    PICTURES: [
        (f"CC-BY-4.0 AND LicenseRef-{PICTURES}-non-commercial-research", ["attribution", "non_commercial", "unknown"])
    ],
}


@pytest.mark.slow
def test_the_corpora_have_the_terms_of_their_publishers(licensed: Path) -> None:
    with talkhouse.open(licensed) as con:
        warehouse = Warehouse(con)
        parts = {corpus_id: parts_of_corpus(warehouse, corpus_id) for corpus_id in warehouse.corpus_ids}
        assert {key: [(part.spdx, list(part.flags)) for part in own] for key, own in parts.items()} == PUBLISHED
        ((post, *_),) = [own for key, own in parts.items() if key == POSTS]
        assert "link to the post" in post.note


@pytest.mark.slow
def test_an_export_of_published_rows_stops_for_their_terms(licensed: Path, tmp_path: Path) -> None:
    def exported(*arguments: object) -> tuple[int, str]:
        shown = run("export", *arguments, "--output", "rows.csv", "--db", licensed, "--force", cwd=tmp_path)
        return shown.returncode, " ".join((shown.stdout + shown.stderr).split())

    code, shown = exported(TASK)
    assert code == 1
    assert f"the terms of {RELEASES} are not accepted; nothing was exported" in shown
    assert "share-alike: what you make of it must be under the same licence" in shown
    assert list(tmp_path.iterdir()) == []
    assert exported(TASK, "--columns", "split,utterance,label")[0] == 0
    code, shown = exported(TASK, "--accept-terms")
    assert code == 0
    assert "dialogues and labels: MIT (attribution)" in shown
    assert "background: CC-BY-SA-4.0 (attribution, share-alike)" in shown
    for code, name in ((0, f"{GROUPS}.outcome"), (0, "bi.splits"), (1, f"{PICTURES}.next_response_prediction")):
        assert exported(name)[0] == code
    code, shown = exported("turns", "--accept-terms")
    assert code == 1
    assert f"the terms of {POSTS} and {PICTURES} exclude each other" in shown
