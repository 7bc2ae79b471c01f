"""Pseudonyms: no id of a person is in any byte of an export, and one person stays one."""

import json
import re
from base64 import b32encode
from collections import Counter
from collections.abc import Iterator
from hashlib import blake2b
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import pytest

from talkhouse.export import pseudonyms as identifying
from talkhouse.export.export import export
from talkhouse.export.formats import Tool
from talkhouse.export.pseudonyms import about, read_key
from talkhouse.export.selection import Filters
from talkhouse.ingest.progress import Silent
from talkhouse.ingest.registry import corpora
from talkhouse.load.run import build
from talkhouse.packages.chat import ChatOptions
from talkhouse.packages.export import export_package
from talkhouse.schema.errors import UsageError
from talkhouse.warehouse.opened import Warehouse
from tests.commands import run
from tests.data_files import data_of
from tests.talkhouse.leading_to_people import AUTHORS, POSTS, found_in, leading_to_people

DATA = data_of(__file__)

KEY = bytes(range(32))
SPEAKERS = "main.speakers"


@pytest.fixture
def warehouse(sample: Path) -> Iterator[Warehouse]:
    with duckdb.connect(sample, read_only=True) as con:
        yield Warehouse(con)


def rows_of(warehouse: Warehouse, name: str, output: Path, key: Path | None, **more: Any) -> list[dict[str, Any]]:
    export(warehouse, name, output, key_file=key, force=True, **more)
    return [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]


def every_export(warehouse: Warehouse, folder: Path, key: Path) -> Iterator[tuple[str, str]]:
    """Export each view and table but those of splits and of no corpus here; give its name, and what is written."""
    folder.mkdir()
    nowhere = {*corpora()} - {*warehouse.corpus_ids}
    relations = warehouse.con.execute(
        "select schema_name || '.' || view_name from duckdb_views() where not internal union all "
        "select schema_name || '.' || table_name from duckdb_tables() order by all"
    )
    for (name,) in relations.fetchall():
        if name not in warehouse.split_views and name.partition(".")[0] not in nowhere:
            output = folder / f"{name}.jsonl"
            export(warehouse, name, output, key_file=key, is_accepted=True)
            yield name, output.read_text(encoding="utf-8") + Path(f"{output}.manifest.json").read_text(encoding="utf-8")


@pytest.mark.slow
def test_no_id_of_a_person_is_in_any_byte_of_an_export(filled: Path, key: Path, tmp_path: Path) -> None:
    with duckdb.connect(filled, read_only=True) as con:
        secret = leading_to_people(con)
        found = {name: found_in(text, secret) for name, text in every_export(Warehouse(con), tmp_path / "out", key)}
    assert {name: ids for name, ids in found.items() if ids} == {}
    assert len(found) > 80


@pytest.mark.slow
def test_the_rows_of_tables_are_the_same_but_for_who_it_was(warehouse: Warehouse, key: Path, tmp_path: Path) -> None:
    written = {
        name: rows_of(warehouse, f"main.{name}", tmp_path / "out.jsonl", key)
        for name in ("speakers", "turns", "participants", "annotations", "records", "dialogues")
    }
    counts = warehouse.con.execute("select count(*), count(distinct speaker_id) from main.speakers").fetchall()
    assert counts == [(len(written["speakers"]), len({row["speaker_id"] for row in written["speakers"]}))]
    # Joins find what they found before.
    speakers = {row["speaker_id"]: row["kind"] for row in written["speakers"]}
    spoken = Counter(speakers[row["speaker_id"]] for row in written["turns"] if row["speaker_id"])
    query = "select speakers.kind, count(*) from main.turns join main.speakers using (speaker_id) group by all"
    assert dict(spoken) == dict(warehouse.con.execute(query).fetchall())
    taking_part = {(row["dialogue_id"], row["speaker_id"]) for row in written["participants"]}
    assert {(row["dialogue_id"], row["speaker_id"]) for row in written["turns"] if row["speaker_id"]} <= taking_part
    assert {row["dialogue_id"] for row in written["turns"]} <= {row["dialogue_id"] for row in written["dialogues"]}
    assert {row["record_id"] for row in written["annotations"]} <= {row["record_id"] for row in written["records"]}


def test_bots_and_systems_stay_and_people_are_hashed(warehouse: Warehouse, key: Path, tmp_path: Path) -> None:
    rows = rows_of(warehouse, SPEAKERS, tmp_path / "out.jsonl", key)
    others = {(row["speaker_id"], row["name"]) for row in rows if row["kind"] != "human"}
    query = "select speaker_id, name from main.speakers where kind <> 'human'"
    assert others == set(warehouse.con.execute(query).fetchall())
    people = [row for row in rows if row["kind"] == "human"]
    assert {row["name"] for row in people} == {None}
    assert all(re.fullmatch(r"\w+:p-[a-z2-7]{16}", row["speaker_id"]) for row in people)
    digest = blake2b(f"{AUTHORS}\0{AUTHORS}:ann".encode(), key=KEY, digest_size=10).digest()
    assert f"{AUTHORS}:p-{b32encode(digest).decode().lower()}" in {row["speaker_id"] for row in people}


@pytest.mark.slow
def test_two_exports_have_equal_pseudonyms_and_another_key_makes_others(
    warehouse: Warehouse, key: Path, tmp_path: Path
) -> None:
    first, again, other = tmp_path / "first.parquet", tmp_path / "again.parquet", tmp_path / "other.parquet"
    export(warehouse, "main.annotations", first, key_file=key)
    export(warehouse, "main.annotations", again, key_file=key)
    assert first.read_bytes() == again.read_bytes()
    manifest = Path(f"{first}.manifest.json").read_text()
    assert manifest == Path(f"{again}.manifest.json").read_text()
    key.write_bytes(KEY[::-1])
    export(warehouse, "main.annotations", other, key_file=key)
    names = [duckdb.execute(f"select distinct annotator_id from '{path}'").fetchall() for path in (first, other)]
    assert set(names[0]) & set(names[1]) == {(None,), ("",)}
    pseudonyms = json.loads(manifest)["pseudonyms"]
    assert re.fullmatch("[0-9a-f]{16}", pseudonyms["key"])
    assert pseudonyms["key"] != json.loads(Path(f"{other}.manifest.json").read_text())["pseudonyms"]["key"]
    assert "Texts are not touched" in pseudonyms["remark"]
    assert f"{AUTHORS}: Ids of posts" in pseudonyms["remark"]
    export(warehouse, f"{POSTS}.hyperlinks", tmp_path / "links.parquet", key_file=key)
    pseudonyms = json.loads((tmp_path / "links.parquet.manifest.json").read_text())["pseudonyms"]
    assert (AUTHORS in pseudonyms["remark"], f"{POSTS}: CC BY-SA asks" in pseudonyms["remark"]) == (False, True)


@pytest.mark.slow
def test_filters_see_what_was_published_and_the_order_is_of_what_is_written(
    warehouse: Warehouse, key: Path, tmp_path: Path
) -> None:
    output = tmp_path / "out.jsonl"
    wanted = Filters(split="train", where=f"dialogue_id = '{AUTHORS}:u0-u2' or dialogue_id = '{AUTHORS}:s0-s1'")
    rows = rows_of(
        warehouse, f"{AUTHORS}.next_response_prediction", output, key, filters=wanted, columns=["dialogue_id"]
    )
    assert (len(rows), len({row["dialogue_id"] for row in rows})) == (3, 2)
    assert "u0-u2" not in Path(f"{output}.manifest.json").read_text()
    for columns in (["speaker_id", "kind"], ["kind"]):
        every = rows_of(warehouse, SPEAKERS, output, key, columns=columns)
        assert rows_of(warehouse, SPEAKERS, output, key, columns=columns, limit=7) == every[:7]
    written = [row["speaker_id"] for row in rows_of(warehouse, SPEAKERS, output, key, columns=["speaker_id"])]
    assert written == sorted(written)
    kinds = [row["kind"] for row in rows_of(warehouse, SPEAKERS, output, key)]
    assert [row["kind"] for row in rows_of(warehouse, SPEAKERS, output, key, columns=["kind"])] == kinds


@pytest.mark.slow
def test_lists_of_ids_and_members_of_extra(warehouse: Warehouse, key: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    view = f"{AUTHORS}.grounding_persona_prediction"
    for row in rows_of(warehouse, view, output, key, filters=Filters(split="test")):
        assert row["candidate_ids"][row["gold_position"]] == row["gold_id"]
        assert len(row["candidate_ids"]) == 100
        assert len(set(row["candidate_ids"])) > 2
        assert row["native_id"] is None
    nested = rows_of(warehouse, f"{AUTHORS}.speaker_identification", output, key, filters=Filters(split="val"))
    published = f"select candidate_images from {AUTHORS}.speaker_identification where split = 'val'"
    ((images,),) = warehouse.con.execute(published).fetchall()
    assert [len(each) for each in nested[0]["candidate_images"]] == [len(each) for each in images]
    carried = [
        (json.loads(row["extra"]) if isinstance(row["extra"], str) else row["extra"])["carried"]
        for row in rows_of(warehouse, "main.records", output, key)
        if "carried" in str(row["extra"])
    ]
    assert carried
    assert not {"workers", "bad_workers", "hit_ids", "assignment_ids"} & {name for each in carried for name in each}
    assert any("suggestion_orders" in each for each in carried)


def test_a_corpus_of_which_nothing_is_declared_is_taken_to_lead_to_people_everywhere(
    warehouse: Warehouse, key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identifying, "all_corpora", lambda _: {})
    rows = rows_of(warehouse, "main.dialogues", tmp_path / "out.jsonl", key)
    assert {row["native_id"] for row in rows} == {row["extra"] for row in rows} == {None}
    assert all(re.fullmatch(r"\w+:d-[a-z2-7]{16}", row["dialogue_id"]) for row in rows)
    assert "Nobody has said what else leads to people" in about("", ["toy"])["remark"]


def test_names_of_files_are_replaced_where_they_may_be_of_people(
    warehouse: Warehouse, key: Path, tmp_path: Path
) -> None:
    files = rows_of(warehouse, "meta.source_files", tmp_path / "files.jsonl", key)
    records = rows_of(warehouse, "main.records", tmp_path / "records.jsonl", key)
    assert {row["source_file_id"] for row in records} <= {row["source_file_id"] for row in files}
    assert len({row["source_file_id"] for row in files}) == len(files)
    for row in files:
        assert (row["path"] is None, row["sha256"] is None) == (row["corpus_id"] in (AUTHORS, POSTS),) * 2
        hashed = re.fullmatch(r"\w+/f-[a-z2-7]{16}", row["source_file_id"]) is not None
        assert hashed == (row["corpus_id"] in (AUTHORS, POSTS))


GATE = DATA["gate"]
ROWS = """conv,who,said,mood,by,message,to,note
zz_talk,zz_ida,Is it open?,calm,zz_worker,zz_m1,,zz_note
zz_talk,zz_ole,Since noon.,cross,zz_worker,zz_m2,zz_m1,zz_note
"""
TALK = DATA["talk"]
IMAGE = {"type": "image_url", "image_url": {"url": "https://example.org/zz_picture"}}
CALL = {"id": "zz_call", "type": "function", "function": {"name": "find", "arguments": "{}"}}
MESSAGES = [
    {"role": "user", "content": [{"type": "text", "text": "Find it."}, IMAGE]},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "zz_call", "content": "Found."},
]


@pytest.mark.slow
def test_no_id_and_no_path_of_a_declared_corpus_is_in_an_export_or_a_package(tmp_path: Path, key: Path) -> None:
    gate, talk = tmp_path / "data" / "gate", tmp_path / "data" / "talk"
    (gate / "zz_folder").mkdir(parents=True)
    (gate / "zz_folder" / "zz_file.csv").write_text(ROWS)
    (gate / "corpus.toml").write_text(GATE)
    talk.mkdir()
    (talk / "zz_chats.jsonl").write_text(json.dumps({"id": "zz_chat", "messages": MESSAGES, "user": "zz_user"}) + "\n")
    (talk / "corpus.toml").write_text(TALK)
    path = tmp_path / "w.duckdb"
    build(path, Silent(), data=tmp_path / "data")
    with duckdb.connect(path, read_only=True) as con:
        warehouse = Warehouse(con)
        leaking = {name for name, text in every_export(warehouse, tmp_path / "out", key) if "zz_" in text}
        for tool, corpus_id in product(set(Tool) - {Tool.SUPERSET, Tool.DBT}, ("gate", "talk")):
            if corpus_id == "talk" and tool in (Tool.HUGGINGFACE, Tool.CROISSANT):
                continue  # it has no task
            folder = tmp_path / "out" / f"{tool}-{corpus_id}"
            chats = ChatOptions(roles={"speaker": "user"}) if tool is Tool.CHAT else None
            export_package(warehouse, corpus_id, tool, folder, key_file=key, is_accepted=True, chats=chats)
            leaking |= {str(file) for file in folder.rglob("*") if file.is_file() and b"zz_" in file.read_bytes()}
    assert leaking == set()


@pytest.mark.parametrize(
    ("raw", "mode", "problem"),
    [
        (KEY[:-1], 0o600, "this is not a key"),
        (b"", 0o600, "this is not a key"),
        (bytes(5000), 0o600, "this is not a key"),
        (KEY, 0o640, "others than its owner"),
        (KEY, 0o602, "others than its owner"),
        (None, 0, "there is no such key"),
    ],
)
def test_a_key_that_is_none_is_refused(tmp_path: Path, raw: bytes | None, mode: int, problem: str) -> None:
    path = tmp_path / "key"
    if raw is not None:
        path.write_bytes(raw)
        path.chmod(mode)
    with pytest.raises(UsageError, match=problem) as error:
        read_key(path, tmp_path / "out")
    assert "head -c 32 /dev/urandom" in str(error.value) or "chmod 600" in str(error.value)


def test_a_key_does_not_lie_in_what_is_written(tmp_path: Path, key: Path) -> None:
    (tmp_path / "link").symlink_to(key.parent)
    for output in (key, key.parent, tmp_path, tmp_path / "link"):
        with pytest.raises(UsageError, match="lies in what is written"):
            read_key(key, output)
    with pytest.raises(UsageError, match="is not a file"):
        read_key(tmp_path, tmp_path / "out")


def test_long_keys_differ_in_all_their_bytes(tmp_path: Path, key: Path) -> None:
    prints = set()
    for raw in (bytes(64), bytes(65), bytes(64) + b"\1", bytes(65) + b"\1"):
        key.write_bytes(raw)
        prints.add(read_key(key, tmp_path / "out").fingerprint)
    assert len(prints) == 4


@pytest.mark.slow
def test_the_command_says_what_stays(sample: Path, tmp_path: Path, key: Path) -> None:
    arguments = ("export", "bi.turns", "--output", tmp_path / "out.csv", "--db", sample, "--pseudonymise")
    result = run(*arguments, key)
    assert result.returncode == 0, result.stderr
    assert "Texts are not touched" in result.stdout
    key.chmod(0o644)
    result = run(*arguments, key, "--force")
    assert (result.returncode, "chmod 600" in result.stderr) == (2, True)
