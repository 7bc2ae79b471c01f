"""Writing a lake: the rows of the warehouse, whole or not at all, and nothing written twice."""

import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb
import polars
import pytest
from pyarrow import parquet

from talkhouse.ingest.progress import Silent
from talkhouse.lake import lake_files
from talkhouse.lake import write_lake as write_lake_module
from talkhouse.lake.folder import acquire
from talkhouse.lake.lake_files import attached, make_plan
from talkhouse.lake.write_lake import LakeOutcome, LakeResult, write_lake
from talkhouse.lake_format import lake_manifest
from talkhouse.lake_format.inside import Inside
from talkhouse.lake_format.lake_manifest import is_whole
from talkhouse.load.run import build
from talkhouse.schema.errors import LakeDamaged, NotALake, OutputFailed, SchemaMismatch, UsageError, WarehouseDamaged
from talkhouse.schema.tables import metadata, qualified
from talkhouse.system import memory
from talkhouse.system.atomic_output import private_folder
from tests.corpora.unusual import files_in
from tests.data_files import data_of
from tests.limits import largest_file, small_disk

CORPORA = ("delidata", "mpchat")
FACTS_OF_A_BUILD = {"meta.loads", "meta.checks"}
"""When it ran, and what its checks cost: no two builds have them alike."""

ODD_TEXTS = (
    "", " ", "a\0b", "\0", "line\nline\r\n\t", "\u2028\u202e\ufeff", "e\u0301 \U0001f9d1\u200d\U0001f680", "'\"\\",
)  # fmt: skip


def written(lake: Path, *warehouses: Path, **options: Any) -> LakeResult:
    return write_lake(lake, warehouses, Silent(), **options)


def hashes(lake: Path) -> dict[str, str]:
    current = lake_manifest.read(lake)
    return {file.path.partition("/")[2]: file.sha256 for table in current.tables for file in table.files}


@pytest.fixture(scope="module")
def odd(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = Path(shutil.copyfile(small, tmp_path_factory.mktemp("odd") / "odd.duckdb"))
    with duckdb.connect(path) as con:
        for index, text in enumerate(ODD_TEXTS):
            con.execute(
                "insert into main.turns by name select dialogue_id, 1000 + ? as turn_index, role, kind, ? as text, "
                "? as native_id, if(? = '', null, json_object('x', ?)) as extra from main.turns limit 1",
                [index, text, text, text, text],
            )
        con.execute(
            "insert into main.annotations by name select * replace (-(0.0::double) as value, 99 as item_index) "
            "from main.annotations where value = 1.0"
        )
        con.execute(
            "insert into meta.quarantine by name select corpus_id, source_file_id, '/1' as pointer, "
            "'TH-01' as rule, 'odd' as detail, '\\x00\\xFF\\x0A'::blob as raw from meta.source_files limit 1"
        )
    return path


@pytest.fixture(scope="module")
def odd_lake(odd: Path) -> Path:
    written(odd.with_name("lake"), odd)
    return odd.with_name("lake")


@pytest.fixture
def changeable(small: Path, tmp_path: Path) -> Path:
    return Path(shutil.copyfile(small, tmp_path / "changeable.duckdb"))


def change(path: Path, statement: str) -> None:
    with duckdb.connect(path) as con:
        con.execute(statement)


# The rows.


Reader = Callable[[list[Path]], Any]


def with_duckdb(paths: list[Path]) -> Any:
    names = ", ".join(f"'{path}'" for path in paths)
    return duckdb.sql(f"select * from read_parquet([{names}], hive_partitioning = false)").to_arrow_table()


def with_polars(paths: list[Path]) -> Any:
    return polars.read_parquet(paths, hive_partitioning=False).to_arrow()


def with_pyarrow(paths: list[Path]) -> Any:
    from pyarrow import concat_tables

    return concat_tables([parquet.ParquetFile(path).read() for path in paths])


READERS = [with_duckdb, *(pytest.param(read, marks=pytest.mark.slow) for read in (with_polars, with_pyarrow))]


@pytest.mark.parametrize("read", READERS)
def test_readers_find_the_rows_of_the_warehouse(odd: Path, odd_lake: Path, read: Reader) -> None:
    current = lake_manifest.read(odd_lake)
    assert {table.full_name for table in current.tables} == {qualified(table) for table in metadata.tables.values()}
    with duckdb.connect(odd, read_only=True) as con:
        for table in current.tables:
            names = [column.name for column in table.columns]
            found = read([odd_lake / file.path for file in table.files])
            assert found.column_names == names
            expected = con.execute(f"select {', '.join(names)} from {table.full_name}").fetchall()
            rows = [tuple(row[name] for name in names) for row in found.to_pylist()]
            assert sorted(map(repr, rows)) == sorted(map(repr, expected)), table.full_name
            assert table.rows == len(rows)


def test_files_are_sorted_by_grain_and_say_what_their_columns_mean(odd_lake: Path) -> None:
    for table in lake_manifest.read(odd_lake).tables:
        order = ", ".join(f"{column} asc nulls last" for column in table.grain)
        for file in table.files:
            assert f"corpus={file.corpus}" in file.path
            whole = parquet.ParquetFile(odd_lake / file.path)
            source = f"read_parquet('{odd_lake / file.path}', hive_partitioning = false)"
            rows = duckdb.sql(f"from {source}").fetchall()
            assert rows == duckdb.sql(f"from {source} order by {order}").fetchall()
            assert whole.metadata.row_group(0).column(0).compression == "ZSTD" if rows else True
            declared = [(item.name, item.nullable, item.metadata[b"comment"].decode()) for item in whole.schema_arrow]
            assert declared == [(column.name, column.nullable, column.comment) for column in table.columns]
            assert whole.schema_arrow.metadata[b"comment"].decode() == table.comment


def test_the_manifest_tells_types_rows_hashes_builds_and_licences(small: Path, lake: Path) -> None:
    current = lake_manifest.read(lake)
    with duckdb.connect(small, read_only=True) as con:
        for table in current.tables:
            types = con.execute(f"select column_name, column_type from (describe {table.full_name})").fetchall()
            assert {(column.name, column.type) for column in table.columns} == set(types)
            for file in table.files:
                path = lake / file.path
                assert (file.bytes, file.sha256) == (path.stat().st_size, sha256(path.read_bytes()).hexdigest())
                assert file.rows == parquet.ParquetFile(path).metadata.num_rows
        licences = con.execute("select corpus_id, licence, terms from main.corpora order by all").fetchall()
    assert [(corpus["corpus_id"], corpus["licence"], corpus["terms"]) for corpus in current.corpora] == licences
    assert [build["load_id"] for build in current.builds] == [1]
    assert not (current.tables[0].columns[0].nullable)
    assert json.loads((lake / "manifest.json").read_text())["format"] == 1


@pytest.mark.slow
def test_the_same_rows_are_the_same_bytes_however_many_threads_write_them(
    small: Path, small_lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = duckdb.connect
    monkeypatch.setattr(duckdb, "connect", lambda *path, **options: connect(*path, **options, config={"threads": 1}))
    written(tmp_path / "other", small)
    assert hashes(small_lake) == hashes(tmp_path / "other")


@pytest.mark.slow
def test_a_large_table_has_several_files(changeable: Path, tmp_path: Path) -> None:
    change(
        changeable,
        "insert into main.speakers by name select 'delidata:' || uuid() as speaker_id, 'delidata' as corpus_id, "
        "'human' as kind, false as is_anonymous from range(300_000)",
    )
    with attached([changeable], ["delidata"]) as warehouses:
        tables = {planned.table.name: planned for planned in make_plan(warehouses, tmp_path, None, Silent())}
        rows = tables["speakers"].parts[0].content
        snapshot = Inside(tmp_path, "snapshot-1")
        large = lake_files.write(warehouses.con, [rows], rows.sorted, snapshot, lambda _: None, bytes_a_file=1_000_000)
    assert [Path(file.path).name for file in large] == [f"part-{index:05}.parquet" for index in range(3)]
    paths = [str(tmp_path / file.path) for file in large]
    ids = [row[0] for row in duckdb.execute("select speaker_id from read_parquet(?)", [paths]).fetchall()]
    assert ids == sorted(ids)
    assert len(ids) == sum(file.rows for file in large) > 300_000


# Written again.


@pytest.mark.slow
def test_what_has_not_changed_is_not_written_again(changeable: Path, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    assert written(lake, changeable).outcome == LakeOutcome.WRITTEN
    before = files_in(lake)
    assert written(lake, changeable).outcome == LakeOutcome.UNCHANGED
    assert files_in(lake) == before
    change(changeable, "update main.turns set text = text || ' ' where starts_with(dialogue_id, 'mpchat:')")
    planned = written(lake, changeable, dry_run=True)
    assert planned.outcome == LakeOutcome.DRY_RUN
    assert files_in(lake) == before
    done = written(lake, changeable)
    assert [(part.table, part.corpus) for part in done.parts if part.is_new] == [("main.turns", "mpchat")]
    assert [part._replace(files=None, bytes=None) for part in done.parts] == [
        part._replace(files=None, bytes=None) for part in planned.parts
    ]
    same = "main/turns/corpus=delidata/part-00000.parquet"
    assert (lake / "snapshot-1" / same).samefile(lake / "snapshot-2" / same)
    other = "main/turns/corpus=mpchat/part-00000.parquet"
    assert (lake / "snapshot-1" / other).read_bytes() != (lake / "snapshot-2" / other).read_bytes()


@pytest.mark.slow
def test_the_format_decides_what_is_written_again_and_the_version_does_not(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = tmp_path / "lake"
    written(lake, small)
    monkeypatch.setattr(write_lake_module, "version", lambda: "99.0")
    assert written(lake, small).outcome == LakeOutcome.UNCHANGED
    script = lake / "snapshot-1" / "views.sql"
    script.write_text(script.read_text().replace("`text` string", "`text` blob"))  # another mapping of types
    done = written(lake, small)
    assert (done.outcome, [part for part in done.parts if part.is_new]) == (LakeOutcome.WRITTEN, [])
    assert lake_manifest.read(lake).talkhouse == "99.0"
    assert "`text` string" in (lake / "snapshot-2" / "views.sql").read_text()


@pytest.mark.slow
def test_the_snapshot_before_the_current_one_stays(changeable: Path, lake: Path) -> None:
    for number in range(2, 5):
        change(changeable, f"update main.corpora set terms = '{number}' where corpus_id = 'delidata'")
        assert written(lake, changeable).snapshot == f"snapshot-{number}"
    assert sorted(path.name for path in lake.iterdir()) == ["manifest.json", "snapshot-3", "snapshot-4"]
    inside = json.loads((lake / "snapshot-3" / "manifest.json").read_text())
    assert all((lake / file["path"]).is_file() for table in inside["tables"] for file in table["files"])


CHANGES = data_of(__file__)["changes"]


@pytest.mark.slow
def test_every_change_of_a_row_is_noticed(changeable: Path, lake: Path, tmp_path: Path) -> None:
    for statement in CHANGES:
        change(changeable, statement)
        (table,) = {part.table for part in written(lake, changeable).parts if part.is_new}
        assert f" {table}" in statement
    written(tmp_path / "new", changeable)
    assert hashes(lake) == hashes(tmp_path / "new")


@pytest.mark.slow
@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(path.read_bytes()[:-1] + b"?")])
def test_a_file_that_is_missing_or_changed_is_written_again(
    small: Path, damage: Callable[[Path], object], lake: Path
) -> None:
    before = hashes(lake)
    name = "snapshot-1/main/turns/corpus=delidata/part-00000.parquet"
    damage(lake / name)
    assert [part.damaged for part in written(lake, small).parts if part.is_new] == [(name,)]
    assert hashes(lake) == before
    assert all(is_whole(file, lake) for table in lake_manifest.read(lake).tables for file in table.files)


@pytest.mark.slow
def test_a_lake_of_some_corpora_has_these_and_what_belongs_to_none(
    small: Path, small_lake: Path, tmp_path: Path
) -> None:
    lake = tmp_path / "lake"
    written(lake, small, only=["mpchat"])
    found = {path: sha256 for path, sha256 in hashes(small_lake).items() if "=delidata/" not in path}
    without_rows = {f"meta/{table}/corpus=shared/part-00000.parquet" for table in ("exceptions", "findings")}
    assert {path: sha256 for path, sha256 in hashes(lake).items() if path not in without_rows} == found
    done = written(lake, small, only=["delidata"])
    assert (done.corpora, done.removed) == (("delidata",), ("mpchat",))
    assert [corpus["corpus_id"] for corpus in lake_manifest.read(lake).corpora] == ["delidata"]


# Several warehouses.


@pytest.fixture(scope="module")
def one_each(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("one_each")
    for corpus in CORPORA:
        build(folder / f"of_{corpus}.duckdb", Silent(), only=(corpus,))
    return [folder / f"of_{corpus}.duckdb" for corpus in CORPORA]


@pytest.mark.slow
def test_builds_of_one_corpus_each_make_the_lake_of_one_build(
    small_lake: Path, one_each: list[Path], tmp_path: Path
) -> None:
    written(tmp_path / "joined", *reversed(one_each))
    whole, joined = hashes(small_lake), hashes(tmp_path / "joined")
    assert whole.keys() == joined.keys()
    different = {path for path in whole if whole[path] != joined[path]}
    assert different == {f"{name.replace('.', '/')}/corpus=shared/part-00000.parquet" for name in FACTS_OF_A_BUILD}
    snapshot = tmp_path / "joined" / "snapshot-1"
    loads = duckdb.sql(f"select load_id, outcome from '{snapshot}/meta/loads/*/*.parquet' order by load_id").fetchall()
    assert [(number, list(json.loads(outcome))) for number, outcome in loads] == [
        (number, [corpus]) for number, corpus in enumerate(CORPORA, start=1)
    ]
    checks = "select check_name, severity, condition, offending from '{}/meta/checks/*/*.parquet' order by all"
    expected = duckdb.sql(checks.format(small_lake / "snapshot-1")).fetchall()
    assert duckdb.sql(checks.format(snapshot)).fetchall() == expected


@pytest.mark.slow
def test_the_order_in_which_warehouses_are_named_does_not_matter(one_each: list[Path], tmp_path: Path) -> None:
    written(tmp_path / "lake", *one_each)
    assert written(tmp_path / "lake", *reversed(one_each)).outcome == LakeOutcome.UNCHANGED


@pytest.mark.slow
def test_findings_of_no_corpus_are_numbered_once(one_each: list[Path], tmp_path: Path) -> None:
    paths = []
    for index, names in enumerate([["both"], ["both", "first"]]):
        paths.append(tmp_path / f"{index}.duckdb")
        shutil.copyfile(one_each[index], paths[-1])
        for number, name in enumerate(names):
            change(
                paths[-1],
                f"insert into meta.findings by name select null as corpus_id, {number} as finding_index, 'TH-05' as "
                f"rule, 'warn' as severity, '{name}' as source_file_id, 'ignored' as detail",
            )
    written(tmp_path / "lake", *paths)
    shared = tmp_path / "lake/snapshot-1/meta/findings/corpus=shared/part-00000.parquet"
    assert duckdb.sql(f"select finding_index, source_file_id from '{shared}'").fetchall() == [(0, "both"), (1, "first")]


def test_a_corpus_in_two_warehouses_is_an_error(small: Path, changeable: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the corpus delidata is in two of the warehouses"):
        written(tmp_path / "lake", small, changeable)
    assert not (tmp_path / "lake").exists()


@pytest.mark.slow
def test_warehouses_that_disagree_are_an_error(one_each: list[Path], tmp_path: Path) -> None:
    other = tmp_path / "other.duckdb"
    shutil.copyfile(one_each[0], other)
    change(other, "update meta.rules set remedy = 'another' where corpus_id is null and rule = 'TH-01'")
    with pytest.raises(UsageError, match=r"disagree[\s\S]*meta.rules[\s\S]*TH-01"):
        written(tmp_path / "lake", other, one_each[1])
    shutil.copyfile(one_each[0], other)
    change(other, "update meta.loads set catalogue_hash = 'another'")
    with pytest.raises(SchemaMismatch, match="other views"):
        written(tmp_path / "lake", other, one_each[1])
    assert not (tmp_path / "lake").exists()


# What stands in the way.


def test_a_folder_that_is_something_else_is_left_alone(small: Path, tmp_path: Path) -> None:
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "a.txt").write_text("dear")
    (tmp_path / "mine" / "snapshot-1").mkdir(parents=True)
    (tmp_path / "mine" / "snapshot-1" / "photo").write_text("of me")
    before = files_in(tmp_path)
    for name in ("letters", "mine"):
        with pytest.raises(NotALake, match="holds something else than a lake"):
            written(tmp_path / name, small)
    with pytest.raises(UsageError, match="this is a file"):
        written(tmp_path / "letters" / "a.txt", small)
    with pytest.raises(UsageError, match="no such folder"):
        written(tmp_path / "none" / "lake", small)
    assert files_in(tmp_path) == before


@pytest.mark.usefixtures("unprivileged")
def test_a_folder_that_may_not_be_written_is_said(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    with pytest.raises(UsageError, match=r"can't be written[\s\S]*Permission denied"), acquire(tmp_path / "lake"):
        pass


@pytest.mark.slow
def test_a_manifest_that_is_damaged_or_of_another_talkhouse_is_left_alone(small: Path, lake: Path) -> None:
    pointer = lake / "manifest.json"
    good = pointer.read_bytes()
    cases: list[tuple[bytes, type[Exception], str]] = [
        (good[:-500], LakeDamaged, "manifest is damaged"),
        (b"\xff\xfe", LakeDamaged, "manifest is damaged"),
        (b"", LakeDamaged, "manifest is damaged"),
        (b'{"name": "some other program"}', LakeDamaged, "manifest is damaged"),
        (good.replace(b'"snapshot-1"', b'"../other"', 1), LakeDamaged, "manifest is damaged"),
        (good.replace(b'"format": 1', b'"format": 2'), SchemaMismatch, "another layout"),
        (good.replace(b'"revision": "0', b'"revision": "9'), SchemaMismatch, "another schema"),
    ]
    for content, error, words in cases:
        assert content != good
        pointer.write_bytes(content)
        before = files_in(lake)
        with pytest.raises(error, match=words):
            written(lake, small)
        assert files_in(lake) == before


@pytest.mark.slow
def test_a_lake_of_an_older_revision_is_refreshed(small: Path, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    written(lake, small)
    expected = hashes(lake)
    old = json.loads((lake / "manifest.json").read_text())
    old["revision"] = "0001"
    for table in old["tables"]:
        table["columns"] = [column for column in table["columns"] if column["name"] in table["grain"]]
        table["fingerprints"] = dict.fromkeys(table["fingerprints"], "of another layout")
    (lake / "manifest.json").write_text(json.dumps(old))
    assert written(lake, small).outcome == LakeOutcome.WRITTEN
    assert hashes(lake) == expected


@pytest.mark.slow
def test_a_warehouse_of_an_older_revision_is_an_error(changeable: Path, lake: Path) -> None:
    before = files_in(lake)
    change(changeable, "update meta.alembic_version set version_num = '0001'")
    with pytest.raises(SchemaMismatch, match="older schema"):
        written(lake, changeable)
    assert files_in(lake) == before


@pytest.mark.slow
def test_a_damaged_warehouse_is_an_error(changeable: Path, lake: Path) -> None:
    before = files_in(lake)
    with changeable.open("r+b") as stream:
        for block in (4, 5, 6, 7):  # not all of them are in use
            stream.seek(12_288 + 262_144 * block)
            stream.write(b"damage" * 2000)
    with pytest.raises(WarehouseDamaged):
        written(lake, changeable)
    assert files_in(lake) == before


def test_one_process_writes_at_a_time(small: Path, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    lake.mkdir()
    with private_folder(lake / "manifest.json"), pytest.raises(UsageError, match="another process is writing"):
        written(lake, small)
    assert list(lake.iterdir()) == []


@pytest.mark.slow
def test_less_memory_is_enough(small: Path, small_lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where DuckDB needs more than it was given at first, the rows are written once all the same."""
    limits: list[int] = []

    def in_little_memory(con: duckdb.DuckDBPyConnection, most: int, work: Callable[[], list[int]]) -> list[int]:
        limits.append(most)
        work()
        return memory.in_little_memory(con, most, work)

    monkeypatch.setattr(lake_files, "in_little_memory", in_little_memory)
    written(tmp_path / "two", small)
    assert limits
    assert hashes(small_lake) == hashes(tmp_path / "two")


@pytest.mark.slow
def test_a_full_disk_leaves_the_old_lake(changeable: Path, tmp_path: Path, lake: Path) -> None:
    before = files_in(lake)
    change(changeable, "update main.texts set text = text || uuid() from range(20)")
    for output in (lake, tmp_path / "new"):
        with largest_file(20_000), pytest.raises(OutputFailed, match=r"no room for the lake[\s\S]*make room"):
            written(output, changeable)
    assert files_in(lake) == before
    assert not (tmp_path / "new").exists()
    assert written(lake, changeable).outcome == LakeOutcome.WRITTEN


@pytest.mark.parametrize(
    "step", [pytest.param(200_000, marks=pytest.mark.slow), pytest.param(50_000, marks=pytest.mark.long)]
)
def test_a_disk_that_fills_up_at_any_moment_leaves_the_old_lake(changeable: Path, step: int) -> None:
    with small_disk("size=4M") as disk:
        lake, ballast = disk / "lake", disk / "ballast"
        written(lake, changeable)
        before = files_in(lake)
        change(changeable, "update main.turns set text = text || '!'")
        change(changeable, "update main.candidates set source = 'x'")
        failed, done = 0, None
        while done is None:
            ballast.write_bytes(bytes(shutil.disk_usage(disk).free - failed * step))
            with suppress(OutputFailed):
                done = written(lake, changeable)
            ballast.unlink()
            if done is None:
                failed += 1
                assert files_in(lake) == before
        assert failed > 3
        assert all(is_whole(file, lake) for table in lake_manifest.read(lake).tables for file in table.files)
