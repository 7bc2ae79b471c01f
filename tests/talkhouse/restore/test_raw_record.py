"""``show --raw``: one source record as it was published, from the tables or from the quarantine."""

import json
import shutil
from pathlib import Path

import duckdb
import pytest

from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.progress import Silent
from talkhouse.ingest.registry import corpora, sample_of
from talkhouse.load.request import QuarantineLimit
from talkhouse.load.run import build
from talkhouse.restore.raw_record import raw
from talkhouse.schema.errors import RegistryError, UsageError
from tests.commands import on_a_terminal, run, run_bytes
from tests.lanes import first_quick
from tests.talkhouse.dialogues.test_dialogue import TOY
from tests.talkhouse.search.test_provenance import at

CORPORA = corpora()


@pytest.mark.parametrize("corpus", first_quick(CORPORA.values()), ids=lambda corpus: corpus.id)
def test_every_record_of_the_sample_is_given_as_published(corpus: Corpus, con: duckdb.DuckDBPyConnection) -> None:
    """JSON by value, type of number and order of keys; the rest byte for byte, lines as part of their file."""
    query = "select record_id, source_file_id, source_pointer from bi.provenance where corpus_id = ?"
    found = con.execute(query, [corpus.id]).fetchall()
    assert found
    for record_id, file_id, pointer in found:
        whole = (sample_of(corpus) / Path(file_id).relative_to(corpus.id)).read_bytes()
        record = raw(con, record_id)
        if file_id.endswith(".json"):
            assert json.dumps(json.loads(record)) == json.dumps(at(json.loads(whole), pointer)), record_id
        else:
            assert record in whole if pointer else record == whole, record_id


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a warehouse of whole files and refused ones, w.duckdb, and its data."""
    folder = tmp_path_factory.mktemp("raw")
    for name in ("dbdc3", "delidata", "mpchat"):
        shutil.copytree(sample_of(CORPORA[name]), folder / "data" / name)
    (folder / "data" / "dbdc3" / "a#b.log.json").write_bytes(b'\xef\xbb\xbf{"turns": [\x00')
    path = folder / "data" / "mpchat" / "mpchat_nrp.json"
    talks = json.loads(path.read_bytes())
    talks["val"][0]["messages"] = "none"
    path.write_bytes(json.dumps(talks).encode())
    marked = min((folder / "data" / "delidata" / "delidata_corpus").glob("*-*"))
    marked.write_bytes(b"\xef\xbb\xbf" + marked.read_bytes())
    build(folder / "w.duckdb", Silent(), data=folder / "data", limit=QuarantineLimit("100%"))
    return folder


def out(folder: Path, *arguments: str) -> bytes:
    """Run ``show --raw`` into a pipe and give the bytes."""
    done = run_bytes("show", *arguments, "--raw", "--db", folder / "w.duckdb")
    done.check_returncode()
    return done.stdout


def test_a_whole_file_comes_out_with_its_byte_order_mark(folder: Path) -> None:
    files = list((folder / "data" / "delidata" / "delidata_corpus").glob("*-*"))
    assert any(path.read_bytes()[:1] == b"\xef" for path in files)
    for path in files:
        assert out(folder, f"delidata/{path.name}") == path.read_bytes()


def test_a_refused_file_comes_out_verbatim_by_its_name(folder: Path) -> None:
    refused = (folder / "data" / "dbdc3" / "a#b.log.json").read_bytes()
    for location in ("dbdc3/a#b.log.json", "dbdc3/a#b.log.json#", "dbdc3/a#b.log.json#/turns/0"):
        assert out(folder, location) == refused


def test_a_refused_record_comes_out_verbatim_by_its_place_or_that_of_a_finding(folder: Path) -> None:
    with duckdb.connect(str(folder / "w.duckdb"), read_only=True) as con:
        ((verbatim,),) = con.execute("select raw from meta.quarantine where pointer = '/val/0'").fetchall()
        ((finding,),) = con.execute(
            "select source_file_id || '#' || pointer from meta.findings where starts_with(pointer, '/val/0/')"
        ).fetchall()
    assert json.loads(verbatim)["messages"] == "none"
    assert out(folder, "mpchat/mpchat_nrp.json#/val/0") == out(folder, finding) == verbatim


def test_a_loaded_record_has_a_place_too(con: duckdb.DuckDBPyConnection) -> None:
    assert raw(con, "mpchat/mpchat_gpp.json#/val/0/messages") == raw(con, "mpchat/gpp/val/0")
    for location in ("mpchat/mpchat_gpp.json", "mpchat/mpchat_gpp.json#/val", "mpchat/mpchat_gpp.json#/val/00"):
        with pytest.raises(UsageError, match="no dialogue or record"):
            raw(con, location)


def test_a_dialogue_stands_for_its_only_record(con: duckdb.DuckDBPyConnection) -> None:
    query = "select dialogue_id, min(record_id) from main.records group by all having count(*) = 1 order by all limit 1"
    ((dialogue_id, record_id),) = con.execute(query).fetchall()
    assert raw(con, dialogue_id) == raw(con, record_id)


def test_a_dialogue_of_several_records_names_them(con: duckdb.DuckDBPyConnection, sample: Path) -> None:
    several = (
        "select dialogue_id, list(record_id) from main.records group by all having count(*) > 1 order by all limit 1"
    )
    ((dialogue_id, records),) = con.execute(several).fetchall()
    shown = run("show", dialogue_id, "--raw", "--db", sample)
    assert (shown.returncode, shown.stdout) == (2, "")
    assert all(record_id in shown.stderr for record_id in records)


@pytest.mark.parametrize("option", ["--json", "--all"])
def test_raw_goes_with_nothing_that_changes_it(option: str, sample: Path) -> None:
    shown = run("show", "dbdc3:CIC9001", "--raw", option, "--db", sample)
    assert (shown.returncode, shown.stdout) == (2, "")
    assert "be combined with --json or --all" in shown.stderr


@pytest.mark.slow
def test_a_terminal_gets_the_line_end_that_a_record_lacks(folder: Path) -> None:
    shown = on_a_terminal(["show", "mpchat/mpchat_nrp.json#/val/0", "--raw", "--db", folder / "w.duckdb"], folder)
    assert shown.endswith("}\r\n")
    assert not out(folder, "mpchat/mpchat_nrp.json#/val/0").endswith(b"\n")
    whole = out(folder, "delidata/10000001-aaaa-4bbb-8ccc-000000000001").decode("utf-8-sig")
    seen = on_a_terminal(
        ["show", "delidata/10000001-aaaa-4bbb-8ccc-000000000001", "--raw", "--db", folder / "w.duckdb"], folder
    )
    assert seen.replace("\r\n", "\n").removeprefix("\ufeff") == whole


@pytest.mark.slow
def test_a_corpus_that_is_not_among_ours_is_told_apart(tmp_path: Path) -> None:
    (tmp_path / "roots" / "toy").mkdir(parents=True)
    (tmp_path / "roots" / "toy" / "__init__.py").write_text(TOY)
    (tmp_path / "data" / "toy").mkdir(parents=True)
    (tmp_path / "data" / "toy" / "a.txt").write_text("hello")
    build(tmp_path / "w.duckdb", Silent(), data=tmp_path / "data", corpus_roots=(tmp_path / "roots",))
    shown = run("show", "toy/nrp/0", "--raw", "--db", tmp_path / "w.duckdb")
    assert (shown.returncode, shown.stdout) == (RegistryError.exit_code, "")
    assert "no code here reads or writes the corpus 'toy'" in shown.stderr


def test_a_key_is_no_picture(sample: Path) -> None:
    """Rich reads ``:train:`` as the picture of a train."""
    done = run("show", "mantis:train:0", "--raw", "--db", str(sample))
    assert done.returncode == 2
    assert "the dialogue mantis:train:0 has 6 records" in done.stderr
