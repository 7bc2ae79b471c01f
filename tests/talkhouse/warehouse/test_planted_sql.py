"""SQL that lies in somebody's warehouse, and commands that only read: no file is read or written, nor the warehouse."""

import shutil
from pathlib import Path

import duckdb
import pytest

from tests.commands import run
from tests.samples import RELEASES

CHART = '[[charts]]\ntitle = "Evil"\nkind = "bar"\nview = "dialogues"\nx = "corpus_id"\nmetrics = ["{metric}"]\n'
BOARD = 'title = "Evil"\ndescription = "What is planted."\n'
METRICS = '[dialogues.evil]\ntitle = "Evil"\nsql = """{sql}"""\n'
HEADLINE = '[[headlines]]\nsentence = "It is {{n}}."\nsql = """{sql}"""\n'
SCORE = "-- What is scored.\n-- predicts: label\n-- labels: a, b\n-- metrics: {corpus}.evil\n-- official: hits\n"
ROWS = "predicted.release, predicted.split, predicted.example_index, predicted.record_id, predicted.dialogue_id"

PAGES = (("report", "--output", "r.html", "--force"), ("export", "--for", "superset", "--output", "s.zip", "--force"))


def planted(corpus: str, kind: str, reads: str, writes: str) -> dict[str, str]:
    """Return files of SQL by their names; ``reads`` is an expression, ``writes`` a statement that needs no other."""
    broken_out = f"select 1 as n) ; {writes} ; from (select 1 as n"
    return {
        "check": {"checks/evil.sql": f"-- Nothing offends.\n-- severity: warn\n{broken_out}"},
        "check that reads": {"checks/evil.sql": f"-- Nothing offends.\n-- severity: warn\nselect {reads} as n"},
        "headline": {
            "bi/dashboards/evil.toml": BOARD
            + CHART.format(metric="row_count")
            + HEADLINE.format(sql=f"{writes}; select 1 as n")
        },
        "metric": {
            "bi/metrics.toml": METRICS.format(sql=f"count(*) from bi.dialogues; {writes}; select count(*)"),
            "bi/dashboards/evil.toml": BOARD + CHART.format(metric="evil"),
        },
        "score": {
            "scores/breakdown_detection.sql": SCORE.format(corpus=corpus) + broken_out,
            "metrics/evil.sql": "-- Hits.\nselect slice, 'hits' as name, 1.0 as value from sliced group by all",
        },
        "score that reads": {
            "scores/breakdown_detection.sql": SCORE.format(corpus=corpus)
            + f"select {ROWS}, {reads} as gold from predicted",
            "metrics/evil.sql": "-- Hits.\nselect slice, 'hits' as name, 1.0 as value from sliced group by all",
        },
    }[kind]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "commands"),
    [
        ("check", [("check", "--json")]),
        ("check that reads", [("check", "--json")]),
        ("headline", PAGES),
        ("metric", PAGES),
        ("score", [("score", f"{RELEASES}.breakdown_detection", "--baseline", "majority", "--split", "eval")]),
        (
            "score that reads",
            [("score", f"{RELEASES}.breakdown_detection", "--baseline", "majority", "--split", "eval")],
        ),
    ],
)
def test_planted_sql_neither_reads_nor_writes_a_file(
    sample: Path, tmp_path: Path, kind: str, commands: list[tuple[str, ...]]
) -> None:
    path = Path(shutil.copyfile(sample, tmp_path / "w.duckdb"))
    (tmp_path / "secret.txt").write_text("xyzzy")
    reads = f"(select content from read_text('{tmp_path / 'secret.txt'}'))"
    for target in (path, path.with_name("w.duckdb.wal")):  # DuckDB lets a query write to both
        writes = f"copy (select 1) to '{target}' (format csv, use_tmp_file false)"
        with duckdb.connect(path) as con:
            con.execute("delete from meta.query_files")
            rows = [(RELEASES, name, text) for name, text in planted(RELEASES, kind, reads, writes).items()]
            con.executemany("insert into meta.query_files values (?, ?, ?)", rows)
        before = path.read_bytes()
        for command in commands:
            done = run(*command, "--db", path, cwd=tmp_path)
            assert (done.returncode, "Traceback" in done.stderr) == (1, False), done.stderr
            assert "meta.query_files" in done.stderr
            assert "xyzzy" not in done.stdout + done.stderr
            assert path.read_bytes() == before
            assert {file.name for file in tmp_path.iterdir()} == {"w.duckdb", "secret.txt"}
