"""``vectors`` and ``search --by meaning``: NumPy's cosine and components, files that do not fit, and a model."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest

import talkhouse
from talkhouse.schema import warehouse
from talkhouse.schema.errors import UsageError
from talkhouse.search.find import like_by_meaning, turns_on_map
from talkhouse.search.principal_components import components_of
from talkhouse.search.text_groups import TextSearch
from talkhouse.search.text_model import open_model
from talkhouse.search.turn_vectors import VECTORS, make_from_file
from tests.commands import run
from tests.samples import RELEASES
from tests.vectors import SIZE, WORDS, invented, save_model, turns_of


@pytest.fixture(scope="module")
def known(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, pl.DataFrame]:
    """The samples with vectors of all turns, and these."""
    path = Path(shutil.copyfile(sample, tmp_path_factory.mktemp("meaning") / "w.duckdb"))
    path.chmod(0o600)
    source = invented(turns_of(path))
    # In any order, and with one that is of no turn.
    other = pl.DataFrame({"dialogue_id": ["nobody"], "turn_index": [3], "vector": [[1.0] * SIZE]})
    pl.concat([source.sample(fraction=1, shuffle=True, seed=1), other]).write_parquet(path.with_name("v.parquet"))
    result = make_from_file(path, path.with_name("v.parquet"))
    assert (result.vectors, result.dimensions, result.unknown) == (source.height, SIZE, (1, [("nobody", 3)]))
    return path, source


def test_what_is_nearest_and_the_map_are_those_of_numpy(known: tuple[Path, pl.DataFrame]) -> None:
    path, source = known
    keys = [*source.select("dialogue_id", "turn_index").iter_rows()]
    vectors = np.array(source["vector"].to_list())
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    with talkhouse.open(path) as con, VECTORS.open(VECTORS.path(path)) as stored:
        assert stored.execute("select dialogue_id, turn_index from main.vectors").fetchall() == keys
        for place in (0, len(keys) // 2):
            found = like_by_meaning(TextSearch(con, stored, {}, limit=1_000), *keys[place])
            cosines = unit @ unit[place]
            assert {(hit.dialogue_id, hit.turn_index) for hit in found.hits} == {*keys} - {keys[place]}
            scores = {(hit.dialogue_id, hit.turn_index): hit.score for hit in found.hits}
            assert [scores[key] for key in keys if key in scores] == pytest.approx(np.delete(cosines, place), abs=2e-6)
            assert [hit.score for hit in found.hits] == sorted(scores.values(), reverse=True)
            assert found.texts == len(keys) - 1 == sum(found.facets["corpus"].values())
        narrow = like_by_meaning(
            TextSearch(con, stored, {"corpus": [RELEASES], "role": ["system"]}, limit=1_000), *keys[0]
        )
        assert {(hit.corpus_id, hit.role) for hit in narrow.hits} == {(RELEASES, "system")}
        assert narrow.texts == len(narrow.hits) > 5
        # The components by a decomposition of the vectors themselves.
        centred = unit - unit.mean(axis=0)
        along, singular, _ = np.linalg.svd(centred, full_matrices=False)
        wanted = along[:, :2] * singular[:2]
        rows = turns_on_map(stored, {}, [])
        places = np.array([(row["x"], row["y"]) for row in rows])
        assert [(row["dialogue_id"], row["turn_index"]) for row in rows] == keys
        assert np.abs(places) == pytest.approx(np.abs(wanted), abs=1e-5)
        ((share,),) = stored.execute("select variance from main.run").fetchall()
        assert share == pytest.approx((singular[:2] ** 2).sum() / (singular**2).sum())
        few = turns_on_map(stored, {}, [keys[-1]], most=5)
        some = {(row["dialogue_id"], row["turn_index"]) for row in turns_on_map(stored, {}, [], most=50)}
        assert {(row["dialogue_id"], row["turn_index"]) for row in few} - {keys[-1]} <= some
        assert keys[-1] in {(row["dialogue_id"], row["turn_index"]) for row in few}


def test_components_of_vectors_of_any_size_take_room_for_some_of_them() -> None:
    random = np.random.default_rng(3)
    rows = random.standard_normal((400, 40)) / np.sqrt(np.arange(1, 41)) @ random.standard_normal((40, 700)) + 0.2
    vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    found = components_of([vectors[:150], vectors[150:]], 700)
    _, singular, axes = np.linalg.svd(vectors - vectors.mean(axis=0, dtype=np.float64), full_matrices=False)
    assert np.abs(found.axes.T @ axes[:2].T) == pytest.approx(np.eye(2), abs=1e-6)
    assert found.share == pytest.approx((singular[:2] ** 2).sum() / (singular**2).sum())
    # All covariances of this would be 80 GB.
    assert components_of([np.eye(2, 100_000, dtype=np.float32)], 100_000).share == pytest.approx(1)


@pytest.mark.slow
def test_the_command_prints_what_is_nearest_and_sql_has_the_vectors(
    known: tuple[Path, pl.DataFrame], tmp_path: Path
) -> None:
    path, source = known
    dialogue, turn = source.row(3)[:2]
    listed = run("search", "--like", f"{dialogue}#{turn}", "--by", "meaning", "--json", "--limit", "4", "--db", path)
    assert listed.stderr == f"the nearest 4 of {source.height - 1} turns by meaning\n"
    query = (
        "select dialogue_id, turn_index, round(array_inner_product(vector, (select vector from vectors.vectors where "
        f"dialogue_id = '{dialogue}' and turn_index = {turn}))::double, 6) as score from vectors.vectors "
        f"where (dialogue_id, turn_index) <> ('{dialogue}', {turn}) order by score desc limit 4"
    )
    in_sql = json.loads(run("sql", "--format", "json", "--db", path, query).stdout)
    keys = ("dialogue_id", "turn_index", "score")
    assert [[row[key] for key in keys] for row in json.loads(listed.stdout)] == [[*row.values()] for row in in_sql]
    wrong: list[list[object]] = [
        [f"{dialogue}#{turn}", "--by", "meaning"],
        ["--like", f"{dialogue}#999", "--by", "meaning"],
        ["--like", f"{dialogue}#{turn}", "--by", "meaning", "--in", "persona"],
        ["--like", f"{dialogue}#{turn}", "--by", "meaning", "--corpus", "none"],
        ["--rank", "words", "--by", "meaning"],
    ]
    for arguments in wrong:
        refused = run("search", *arguments, "--db", path)
        assert (refused.returncode, refused.stdout) == (2, ""), arguments
        assert refused.stderr.startswith("error: "), arguments
    other = Path(shutil.copyfile(path, tmp_path / "w.duckdb"))
    other.chmod(0o600)
    none = run("search", "--like", f"{dialogue}#{turn}", "--by", "meaning", "--db", other)
    assert (none.returncode, "make it with: talkhouse vectors FILE" in none.stderr) == (2, True)
    shutil.copyfile(VECTORS.path(path), VECTORS.path(other))
    with duckdb.connect() as con:
        con.execute(f"attach '{other}' as {warehouse.name(other)}; use {warehouse.name(other)}")
        con.execute("delete from main.turns where dialogue_id = $1 and turn_index = $2", [dialogue, turn])
    old = run("search", "--like", f"{dialogue}#{turn}", "--by", "meaning", "--db", other)
    assert (old.returncode, "the warehouse has changed since its file of vectors was made" in old.stderr) == (2, True)
    asked = run("sql", "from vectors.run", "--db", other)
    assert (asked.returncode, "w.vectors.duckdb is not there as vectors" in asked.stderr) == (1, True)
    result = run("vectors", path.with_name("v.parquet"), "--db", other)
    assert f"2 turns with a vector, but not in this warehouse: {dialogue}#{turn}, nobody#3" in result.stdout
    assert VECTORS.path(other).stat().st_mode == other.stat().st_mode == 0o100600
    assert {*tmp_path.iterdir()} == {other, VECTORS.path(other)}


@pytest.mark.slow
def test_a_file_that_does_not_fit_is_told_where_and_changes_nothing(
    known: tuple[Path, pl.DataFrame], tmp_path: Path
) -> None:
    path, source = known
    dialogue, turn = source.row(5)[:2]
    here = (pl.col("dialogue_id") == dialogue) & (pl.col("turn_index") == turn)
    vector = source["vector"][5]

    def with_vector(values: object) -> pl.DataFrame:
        other = pl.Series("vector", [values], pl.List(pl.Float64))
        return source.with_columns(vector=pl.when(here).then(other).otherwise("vector"))

    broken = {
        f"nan in {dialogue}#{turn}": with_vector([float("nan"), *vector[1:]]),
        f"inf in {dialogue}#{turn}": with_vector([*vector[1:], float("inf")]),
        f"1 shorter than that: {dialogue}#{turn}": with_vector(vector[1:]),
        "a turn has two vectors": pl.concat([source, source[5:6]]),
        "rows without a dialogue_id": with_vector(None),
        "none of the vectors is of a turn": source.with_columns(dialogue_id=pl.col("dialogue_id") + "x"),
        "no column vector": source.drop("vector"),
        "no column turn_index": source.with_columns(pl.col("turn_index").cast(pl.String)),
        "no place on the map": source.with_columns(x=pl.lit(1.0), y=pl.when(~here).then(2.0)),
        "no column y": source.with_columns(x=pl.lit(1.0)),
        "too few numbers": source.with_columns(vector=pl.lit([], pl.List(pl.Float64))),
    }
    before = VECTORS.path(path).read_bytes()
    file = tmp_path / "v.parquet"
    for what, frame in broken.items():
        frame.write_parquet(file)
        with pytest.raises(UsageError, match=re.escape(what)):
            make_from_file(path, file)
    with_vector([None, *vector[1:]]).write_parquet(file)
    with pytest.raises(UsageError, match=re.escape(f"nan in {dialogue}#{turn}")):
        make_from_file(path, file)
    for content in (b"", b"PAR1 and no more", b"ARROW1 and no more", file.read_bytes()[:200]):
        file = tmp_path / r"a\1.parquet"  # nor is a name a pattern
        file.write_bytes(content)
        with pytest.raises(UsageError, match="can't be read"):
            make_from_file(path, file)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="neither a file"):
        make_from_file(path, tmp_path / "pipe")
    assert VECTORS.path(path).read_bytes() == before


@pytest.mark.slow
def test_numbers_of_any_size_places_that_are_given_and_arrow_are_taken(
    known: tuple[Path, pl.DataFrame], tmp_path: Path
) -> None:
    path, source = known
    other = Path(shutil.copyfile(path, tmp_path / "w.duckdb"))
    first = [1e300, -1e300] + [0.0] * (SIZE - 2)
    second = [1e-300, -1e-300] + [0.0] * (SIZE - 2)
    zero = [0.0] * SIZE
    vectors = [first, second, zero, *source["vector"].to_list()[3:-1]]
    frame = source[:-1].with_columns(
        vector=pl.Series(vectors, dtype=pl.Array(pl.Float64, SIZE)),
        x=pl.lit(0.25),
        y=pl.lit(-1.5, pl.Float32),
        turn_index=pl.col("turn_index").cast(pl.UInt8),
        more=pl.lit("left out"),
    )
    frame.write_ipc(tmp_path / "v.arrow", compat_level=pl.CompatLevel.oldest())
    result = make_from_file(other, tmp_path / "v.arrow")
    keys = [*source.select("dialogue_id", "turn_index").iter_rows()]
    assert (result.vectors, result.zero, result.without) == (source.height - 2, (1, [keys[2]]), (1, [keys[-1]]))
    with talkhouse.open(other) as con, VECTORS.open(VECTORS.path(other)) as stored:
        (best, *_) = like_by_meaning(TextSearch(con, stored, {}, limit=1), *keys[0]).hits
        assert ((best.dialogue_id, best.turn_index), best.score) == (keys[1], 1.0)
        assert {(row["x"], row["y"]) for row in turns_on_map(stored, {}, [])} == {(0.25, -1.5)}
        assert stored.execute("select map, variance from main.run").fetchall() == [("given", None)]


@pytest.mark.slow
def test_a_strangers_file_of_vectors_shows_no_text_of_its_own(known: tuple[Path, pl.DataFrame], tmp_path: Path) -> None:
    path, source = known
    other = Path(shutil.copyfile(path, tmp_path / "w.duckdb"))
    vectors = VECTORS.path(other)
    dialogue, turn = source.row(0)[:2]
    for harm in (
        "create macro main.round(a, b) as 42",
        "alter table main.vectors rename to other; create view main.vectors as select * from read_csv('/etc/passwd')",
        "alter table main.vectors alter x type varchar",
        "alter table main.vectors alter vector type float[]",
        "insert into main.run from main.run",
    ):
        shutil.copyfile(VECTORS.path(path), vectors)
        change_file(vectors, harm)
        refused = run("search", "--like", f"{dialogue}#{turn}", "--by", "meaning", "--db", other)
        assert (refused.returncode, refused.stdout) == (2, ""), harm
        before = vectors.read_bytes()
        assert run("vectors", path.with_name("v.parquet"), "--db", other).returncode == 2, harm
        assert vectors.read_bytes() == before, harm
    shutil.copyfile(VECTORS.path(path), vectors)
    change_file(
        vectors,
        "update main.vectors set vector = array_value('nan'::float, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1) "
        "where turn_number % 3 = 1; update main.vectors set dialogue_id = '<b>\x1b[2J' where turn_number % 3 = 2; "
        "update main.groups set corpus_id = '<b>\x1b[2J'",
    )
    with talkhouse.open(path) as con:
        texts = {text for (text,) in con.execute("select text from main.turns").fetchall()}
    shown = run("search", "--like", f"{dialogue}#{turn}", "--by", "meaning", "--limit", "1000", "--db", other)
    assert (shown.returncode, "Traceback" in shown.stderr, "\x1b" in shown.stdout) == (0, False, False)
    listed = run("search", "--like", f"{dialogue}#{turn}", "--by", "meaning", "--json", "--db", other).stdout
    assert {row["text"] for row in json.loads(listed)} <= texts
    assert "nan" not in listed.lower()


def change_file(path: Path, sql: str) -> None:
    with duckdb.connect() as con:
        con.execute(f"attach '{path}' as changed; use changed; {sql}")


PAGE = Path("docs/search.md").read_text(encoding="utf-8").partition("## By meaning")[2]


@pytest.mark.slow
def test_what_the_page_on_searches_shows_can_be_run(sample: Path, tmp_path: Path) -> None:
    path = Path(shutil.copyfile(sample, tmp_path / "talkhouse.duckdb"))
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)
    commands = re.findall(r"^\$ talkhouse (.*)$", PAGE, re.MULTILINE)
    result, listed = (run(*command.split(), cwd=tmp_path) for command in commands[:2])
    assert result.returncode == listed.returncode == 0, (result.stderr, listed.stderr)
    (query,) = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
    first, *rows = json.loads(run("sql", "--format", "json", "--db", path, query).stdout)
    assert (first["dialogue_id"], first["turn_index"], round(first["cosine"], 5)) == (f"{RELEASES}:CIC9001", 4, 1)
    assert [f"{row['cosine']:.5f}" for row in rows] == [
        f"{float(line.split()[1]):.5f}" for line in listed.stdout.splitlines()[: len(rows)]
    ]


_NO_NETWORK = """
import sys
def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        raise AssertionError(f"{event} {arguments}")
sys.addaudithook(refuse)
from talkhouse.cli import commands
sys.argv = ["talkhouse", *sys.argv[1:]]
sys.exit(commands.run())
"""


@pytest.mark.slow
def test_a_model_in_a_folder_gives_vectors_and_nothing_connects(sample: Path, tmp_path: Path) -> None:
    path = Path(shutil.copyfile(sample, tmp_path / "w.duckdb"))
    models = (tmp_path / "tiny", tmp_path / "other")
    for model, words in zip(models, (WORDS, WORDS[:-1]), strict=True):
        save_model(model, words)

    def command(*arguments: object) -> "subprocess.CompletedProcess[str]":
        program = [sys.executable, "-c", _NO_NETWORK, *map(str, arguments), "--db", str(path)]
        # A model that was opened in this process has told it to stay offline.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
        return subprocess.run(program, capture_output=True, text=True, check=False, env=environment)

    result = command("vectors", "--model", models[0])
    assert (result.returncode, "of 8 numbers each" in result.stdout) == (0, True), result.stderr
    assert "with a vector of zeros" in result.stdout
    found = command("search", "--rank", "A small MUSEUM", "--by", "meaning", "--model", models[0], "--json")
    texts = [row["text"] for row in json.loads(found.stdout)]
    # Of a text without other words of the model, the vector is the same.
    known = [[word for word in re.findall(r"\w+", text.lower()) if word in WORDS] for text in texts]
    assert "museum" in known[0]
    nothing = command("search", "--rank", "zeppelin", "--by", "meaning", "--model", models[0])
    another = command("search", "--rank", "museum", "--by", "meaning", "--model", models[1])
    named = command("vectors", "--model", "nobody/nothing")
    (tmp_path / "empty").mkdir()
    empty = command("vectors", "--model", tmp_path / "empty")
    for refused, what in (
        (nothing, "no word that the model knows"),
        (another, "the vectors are not of this model"),
        (named, "add --download, which fetches it"),
        (empty, "the model can't be read"),
    ):
        assert (refused.returncode, what in refused.stderr) == (2, True), refused.stderr
    fetched = command("vectors", "--model", "nobody/nothing", "--download")
    assert "socket." in fetched.stderr, "only then is anything asked"


@pytest.mark.slow
def test_a_model_that_does_not_hold_together_is_refused(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    save_model(tmp_path)
    table = np.ones((len(WORDS), 4), np.float32)
    words_of = tmp_path / "tokenizer.json"
    for other, words in (
        ({"embeddings": np.ones(len(WORDS))}, "the shape [8]"),
        ({"embeddings": np.ones((len(WORDS), 2, 2))}, "the shape [8, 2, 2]"),
        ({"embeddings": np.ones((len(WORDS), 16_385), np.float16)}, "1 to 16,384"),
        ({"weights": np.ones(3)}, "weights has the shape [3]"),
        ({"mapping": np.arange(len(WORDS)) + 1}, "its mapping names more"),
        ({}, "numbers up to 4,000,000,000"),
    ):
        save_file({"embeddings": table, **other}, tmp_path / "model.safetensors")
        if not other:
            words_of.write_text(words_of.read_text().replace('"museum":1', '"museum":4000000000'))
        with pytest.raises(UsageError, match=re.escape(words)):
            open_model(str(tmp_path))
