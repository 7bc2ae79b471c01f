"""The page of a corpus: what is said of it, its licence, its tasks and findings, each with the way to what it is of."""

import json
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from streamlit.testing.v1 import AppTest

from talkhouse.load.run import BuildResult
from tests.declared.invented_corpora import DOCUMENTS
from tests.samples import GROUPS, RELEASES
from tests.talkhouse.dashboard.conftest import Visit


def text_of(page: AppTest) -> str:
    """Everything that a page says in words, without the signs of Markdown that keep it as it is."""
    assert not page.exception
    assert not page.error
    kinds = (page.title, page.subheader, page.markdown, page.caption, page.info, page.code)
    tables = [str(table.value.to_dict()) for table in page.table]
    return "\n".join([*(element.value for kind in kinds for element in kind), *tables]).replace("\\", "")


def a_chat(data: Path) -> None:
    """Put a corpus that a page of TOML declares into a data folder."""
    folder = data / "a_chat"
    folder.mkdir(parents=True)
    (folder / "corpus.toml").write_text(DOCUMENTS["chat"][0], encoding="utf-8")
    (folder / "a.jsonl").write_text('{"id": "a", "messages": [{"role": "user", "content": "Hi"}]}', encoding="utf-8")


def test_the_datasheet_says_what_the_corpus_declares(
    visit: Visit, sample: Path, con: duckdb.DuckDBPyConnection
) -> None:
    ((declared,),) = con.execute("select datasheet from main.corpora where corpus_id = ?", [RELEASES]).fetchall()
    text = text_of(visit(sample, RELEASES, show="Datasheet"))
    for answer in json.loads(declared).values():
        for sentence in [answer] if isinstance(answer, str) else answer:
            assert sentence in text
    for (meaning,) in con.execute(
        "select meaning from main.labels where starts_with(scheme, ?)", [RELEASES]
    ).fetchall():
        assert meaning is None or meaning in text
    assert "invented sample" in text


@pytest.mark.slow
def test_each_split_of_a_task_leads_to_its_examples(visit: Visit, sample: Path, con: duckdb.DuckDBPyConnection) -> None:
    text = text_of(visit(sample, RELEASES, show="Tasks and splits"))
    splits = con.execute(
        "select task, release, split, example_count from bi.splits where corpus_id = ?", [RELEASES]
    ).fetchall()
    for task, release, split, count in splits:
        assert f"[{split}](<tasks?task={RELEASES}.{task}&task_release={release}&task_split={split}>)" in text
        assert f"'{count:,}'" in text
    task, release, split, count = splits[0]
    page = visit(sample, "tasks", task=f"{RELEASES}.{task}", task_release=release, task_split=split)
    assert any(f"of {count:,} example" in caption.value for caption in page.caption)


@pytest.mark.slow
def test_the_licence_has_what_each_part_asks_and_how_to_cite(visit: Visit, changed: Callable[[str], Path]) -> None:
    path = changed(f"""
        update main.corpora set is_sample = false;
        insert into main.corpus_terms by name
        select
            '{GROUPS}' as corpus_id, 'all' as part, 'CC-BY-SA-4.0' as spdx, true as is_attribution,
            true as is_share_alike, false as is_non_commercial, false as is_unknown, 'Ask <them>.' as note
    """)
    text = text_of(visit(path, GROUPS, show="Licence and citation"))
    for words in ("CC-BY-SA-4.0", "name the authors", "under the same licence", "Ask <them>.", f"@article{{{GROUPS}"):
        assert words in text
    assert "invented sample" not in text


@pytest.mark.slow
def test_findings_lead_to_their_places(visit: Visit, sample: Path, con: duckdb.DuckDBPyConnection) -> None:
    text = text_of(visit(sample, RELEASES, show="Findings"))
    rules = con.execute(
        "select rule, count(*) from meta.findings where corpus_id = ? group by rule", [RELEASES]
    ).fetchall()
    assert rules
    for rule, count in rules:
        assert f"[{rule}](<quality?rule={rule}>)" in text
        assert f"'{count:,}'" in text


@pytest.mark.slow
def test_further_dashboards_of_a_corpus_are_pages_and_old_addresses_stay(
    visit: Visit, rebuild: Callable[..., BuildResult], tmp_path: Path
) -> None:
    a_chat(tmp_path / "data")
    rebuild(tmp_path / "data")
    path = tmp_path / "w.duckdb"
    with duckdb.connect(path) as con:
        ((text,),) = con.execute("select text from meta.query_files where name like 'bi/dashboards/%'").fetchall()
        con.execute("update meta.query_files set name = 'bi/dashboards/charts.toml' where name like 'bi/dashboards/%'")
        more = text.replace('title = "', 'title = "More: ', 1)
        for name in ("more", "read"):
            con.execute("insert into meta.query_files values ('a_chat', ?, ?)", [f"bi/dashboards/{name}.toml", more])
    page = visit(path, "charts")
    assert text_of(page) == text_of(visit(path, "a_chat"))
    parts = [tab.label for tab in page.tabs]
    assert parts == ["Charts", "Datasheet", "Licence and citation", "Tasks and splits", "Overlap", "Findings"]
    for name in ("more", "a_chat_read"):
        assert visit(path, name).title[0].value.startswith("More")
    assert not visit(path, "read").tabs
    # A corpus of a page of TOML has less to say.
    assert "This corpus declares no datasheet." in text_of(visit(path, "a_chat", show="Datasheet"))
    for name in parts:
        assert text_of(visit(path, "a_chat", show=name))
