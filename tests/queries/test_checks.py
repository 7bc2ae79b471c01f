"""Checks: what each finds, that errors stop a build before it is published, and that warnings become findings."""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

import talkhouse
from talkhouse.ingest.progress import Silent
from talkhouse.ingest.registry import corpora, sample_of
from talkhouse.load.request import QuarantineLimit
from talkhouse.load.run import BuildResult, build
from talkhouse.queries.catalogue import catalogue
from talkhouse.queries.checks import checks, run
from talkhouse.schema.errors import CheckFailed, TooMuchQuarantined, UsageError
from tests.commands import run as command
from tests.data_files import data_of
from tests.talkhouse.load.test_run import contents

CORPUS = corpora()["dbdc3"]
ALL = {check.name: check for check in checks(catalogue(), corpora(), {})}


@pytest.fixture
def spoiled(sample: Path, tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    shutil.copy(sample, tmp_path / "copy.duckdb")
    (tmp_path / "copy.duckdb").chmod(0o644)
    with duckdb.connect(tmp_path / "copy.duckdb") as con:
        yield con


def offending(con: duckdb.DuckDBPyConnection, name: str) -> list[dict[str, object]]:
    (outcome,) = run(con, [ALL[name]])
    assert outcome.offending == len(outcome.rows)
    return outcome.rows


def test_the_sample_passes_every_check(con: duckdb.DuckDBPyConnection) -> None:
    assert [outcome.check.name for outcome in run(con, ALL.values()) if outcome.is_failure] == []


SPOILERS = data_of(__file__)["spoilers"]


@pytest.mark.parametrize(("name", "spoil", "named"), SPOILERS, ids=[f"{row[0]}-{i}" for i, row in enumerate(SPOILERS)])
def test_a_check_names_offending_rows(spoiled: duckdb.DuckDBPyConnection, name: str, spoil: str, named: str) -> None:
    assert offending(spoiled, name) == []
    spoiled.execute(spoil)
    rows = offending(spoiled, name)
    assert rows
    assert named in rows[0]


def test_every_written_check_has_its_spoiler() -> None:
    written = {query.name for query in catalogue().checks if query.schema == "checks"}
    assert written == {name for name, *_ in SPOILERS} & written


def test_null_in_a_grain_is_a_value(spoiled: duckdb.DuckDBPyConnection) -> None:
    row = "select 'dbdc3/x' as record_id, null::integer as turn_index, 's' as persona_set, "
    row += "0 as position, 'p' as persona_id"
    for _ in range(2):
        spoiled.execute(f"insert into main.persona_uses by name {row}")
    assert len(offending(spoiled, "persona_uses_have_one_row_per_grain")) == 1


def test_declared_exceptions_are_no_offence(spoiled: duckdb.DuckDBPyConnection) -> None:
    spoiled.execute("insert into main.labels (scheme, label) values ('dbdc3.breakdown', 'Q')")
    spoiled.execute("insert into meta.exceptions values ('dbdc3', 'labels_are_declared', 'dbdc3.breakdown', 'meant')")
    assert offending(spoiled, "labels_are_declared") == []


def test_many_offenders_are_counted_and_some_kept(spoiled: duckdb.DuckDBPyConnection) -> None:
    spoiled.execute("insert into main.turns from main.turns")
    spoiled.execute("insert into main.annotations from main.annotations")
    (outcome,) = run(spoiled, [ALL["annotations_have_one_row_per_grain"]])
    assert outcome.offending == spoiled.execute("select count(*) / 2 from main.annotations").fetchall()[0][0]
    assert len(outcome.rows) == 1000


# Checks in a build.


@pytest.fixture
def data(tmp_path: Path) -> Path:
    shutil.copytree(sample_of(CORPUS), tmp_path / "data" / CORPUS.id)
    return tmp_path / "data"


ROOTS = {
    "fails": ("error", "select dialogue_id, 'wrong' as detail from main.dialogues order by all limit 2"),
    "warns": ("warn", "select record_id, 1 as turn_index, 'odd' as detail from main.records order by all limit 2"),
}


@pytest.fixture
def with_check(data: Path, tmp_path: Path) -> Callable[..., BuildResult]:
    def go(name: str) -> BuildResult:
        severity, sql = ROOTS[name]
        folder = tmp_path / "more" / "checks"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        head = f"-- Nothing {name}.\n-- severity: {severity}\n-- remedy: Mend it.\n"
        (folder / f"nothing_{name}.sql").write_text(head + sql)
        return build(tmp_path / "w.duckdb", Silent(), data=data, query_roots=(tmp_path / "more",))

    return go


def test_an_error_stops_the_build_and_names_the_rows(
    with_check: Callable[..., BuildResult], data: Path, tmp_path: Path
) -> None:
    build(tmp_path / "w.duckdb", Silent(), data=data)
    published = (tmp_path / "w.duckdb").read_bytes()
    with pytest.raises(CheckFailed) as caught:
        with_check("fails")
    assert "Nothing fails." in str(caught.value)
    with talkhouse.open(tmp_path / "w.duckdb") as con:
        ((first,),) = con.execute("select min(dialogue_id) from main.dialogues").fetchall()
    assert f"dialogue_id='{first}'" in str(caught.value)
    assert "Mend it." in str(caught.value)
    assert caught.value.exit_code == 1
    assert (tmp_path / "w.duckdb").read_bytes() == published


@pytest.mark.slow
def test_a_warning_is_a_finding_with_rule_and_remedy(with_check: Callable[..., BuildResult], tmp_path: Path) -> None:
    with_check("warns")
    with talkhouse.open(tmp_path / "w.duckdb") as con:
        found = con.execute(
            "select findings.rule, findings.severity, source_file_id is not null, turn_index, detail, remedy "
            "from meta.findings inner join meta.rules using (rule) where rule = 'nothing_warns'"
        ).fetchall()
        costs = con.execute("select offending, milliseconds > 0 from meta.checks where check_name = 'nothing_warns'")
        assert costs.fetchall() == [(2, True)]
    assert found == [("nothing_warns", "warn", True, 1, "odd", "Mend it.")] * 2


@pytest.mark.slow
def test_findings_of_checks_are_found_anew(with_check: Callable[..., BuildResult], data: Path, tmp_path: Path) -> None:
    with_check("warns")
    before = contents(tmp_path / "w.duckdb")
    assert with_check("warns").unchanged_since is not None
    build(tmp_path / "w.duckdb", Silent(), data=data)
    assert with_check("warns").plan.load == ()
    after = contents(tmp_path / "w.duckdb")
    assert before == after


# The quarantine's limit.


@pytest.fixture
def broken(data: Path) -> Path:
    (data / CORPUS.id / "broken.log.json").write_text('{"turns": [')
    return data


def test_too_much_in_quarantine_stops_a_build(broken: Path, tmp_path: Path) -> None:
    with pytest.raises(TooMuchQuarantined) as caught:
        build(tmp_path / "w.duckdb", Silent(), data=broken)
    assert "1 of 30 records" in str(caught.value)
    assert "TH-01 dbdc3/broken.log.json" in str(caught.value)
    assert "--max-quarantine 1" in str(caught.value)
    assert not (tmp_path / "w.duckdb").exists()


@pytest.mark.slow
@pytest.mark.parametrize("limit", ["1", "4%", "100%"])
def test_the_limit_lets_pass_what_it_allows(broken: Path, tmp_path: Path, limit: str) -> None:
    build(tmp_path / "w.duckdb", Silent(), data=broken, limit=QuarantineLimit(limit))
    with talkhouse.open(tmp_path / "w.duckdb") as con:
        assert con.execute("select rule, raw from meta.quarantine").fetchall() == [("TH-01", b'{"turns": [')]


@pytest.mark.parametrize(
    ("limit", "quarantined", "records", "has_lost_count", "expected"),
    [
        *(("1%", 1, 100, False, False), ("1%", 2, 100, False, True), ("0.5%", 1, 100, False, True)),
        *(("0", 1, 1000, False, True), ("3", 3, 3, False, False), ("99%", 1, 1000, True, True)),
        *(("100%", 1, 1, True, False), ("1%", 0, 0, False, False)),
    ],
)
def test_counts_and_shares(limit: str, quarantined: int, records: int, has_lost_count: bool, expected: bool) -> None:
    assert QuarantineLimit(limit).is_exceeded(quarantined, records, has_lost_count=has_lost_count) is expected


@pytest.mark.parametrize("text", ["", "%", "some", "-1", "1.5", "nan%"])
def test_a_limit_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="max-quarantine"):
        QuarantineLimit(text)


# The commands.


def test_check_says_what_holds(sample: Path) -> None:
    shown = command("check", "--db", sample)
    assert shown.returncode == 0
    assert f"{len(ALL)} checks in" in shown.stdout
    assert {row["check"] for row in json.loads(command("check", "--db", sample, "--json").stdout)} == set(ALL)


def test_check_exits_with_1_and_the_rows(spoiled: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    spoiled.execute("delete from main.turns where turn_index = 1")
    spoiled.close()
    shown = command("check", "--db", tmp_path / "copy.duckdb")
    assert shown.returncode == 1
    assert "error  The turns of a dialogue are numbered" in shown.stdout
    assert re.search(r"^ +dialogue_id='\w+:", shown.stdout, re.MULTILINE)


def test_findings_say_rule_place_and_remedy(broken: Path, tmp_path: Path) -> None:
    arguments = ("--data", broken, "--max-quarantine", "100%", "--db", tmp_path / "w.duckdb")
    assert command("build", *arguments).returncode == 0
    shown = command("findings", "--db", tmp_path / "w.duckdb").stdout
    assert shown.startswith("TH-01 reject_file (1): The JSON is malformed.")
    assert "dbdc3/broken.log.json: malformed JSON" in shown
    assert "what to do: Compare the file" in shown
    found = json.loads(command("findings", "--db", tmp_path / "w.duckdb", "--corpus", "dbdc3", "--json").stdout)
    assert found[0]["rule"] == "TH-01"
    assert found[0]["file"] == "dbdc3/broken.log.json"
    assert command("findings", "--db", tmp_path / "w.duckdb", "--corpus", "nope").returncode == 2


def test_a_dry_run_says_all_and_publishes_nothing(broken: Path, tmp_path: Path) -> None:
    (broken / "elsewhere").mkdir()
    (broken / CORPUS.id / "stray.csv").write_text("a,b\n")
    arguments = ("--data", broken, "--max-quarantine", "100%", "--db", tmp_path / "w.duckdb")
    shown = command("build", "--dry-run", *arguments)
    assert shown.returncode == 0
    for words in ("ignored the folder elsewhere", "29 records", "1 refused", "1 unrecognised", "stray.csv", "TH-01"):
        assert words in shown.stdout, words
    assert not (tmp_path / "w.duckdb").exists()
    assert not list(tmp_path.glob(".w.duckdb*"))


def test_views_are_listed_with_their_columns(sample: Path) -> None:
    assert "dbdc3.breakdown_detection_eval" in command("views", "--db", sample).stdout
    shown = command("views", "dbdc3.breakdown_detection", "--db", sample).stdout
    assert "The utterances before the turn, in order" in shown
    assert "VARCHAR[]" in shown
    assert json.loads(command("views", "turns", "--db", sample, "--json").stdout)["columns"][0]["name"] == "dialogue_id"
    wrong = command("views", "dbdc3.breakdown", "--db", sample)
    assert wrong.returncode == 2
    assert "dbdc3.breakdown_detection" in wrong.stderr
