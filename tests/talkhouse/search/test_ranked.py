"""``search --rank`` and ``--like``: scores as a plain BM25 has them, exact marks, and the index."""

import json
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from math import log
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import category, normalize

import duckdb
import pytest

import talkhouse
from talkhouse.schema import warehouse
from talkhouse.schema.errors import UsageError
from talkhouse.search.ranked import COMMON, K1, B, RankedMatches, like, rank
from talkhouse.search.search_index import INDEX, make_index
from talkhouse.search.text_groups import TextSearch
from tests.commands import COMMAND, on_a_terminal, run
from tests.samples import RELEASES
from tests.talkhouse.search.test_meaning import change_file

ODD = [
    "東京タワーへ行きました。タワーは高い",
    "きのう東京へ",
    "サッカーをしました。ｻｯｶｰは楽しい",
    "한국어를 공부해요, 한국",
    "Straße und STRASSE, Σίσυφος ΣΊΣΥΦΟΣ",
    "caf\u00e9, cafe\u0301 or CAFÉ",
    "\x1b[2Jwiped \x07\u202ecba zeppelin\0zeppelin <b>zeppelin</b> [bold]zeppelin[/bold] $1 \\0",
    f"{'filler ' * 300}balloon {'filler ' * 300}zeppelin balloon",
    "zeppelin zeppelin zeppelin balloon",
    "?!",
    "",
]
ODD_DIALOGUE = f"{RELEASES}:odd"

_PAIRED = re.compile("[\u0e00-\u0eff\u1100-\u11ff\u3040-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7ff]")


class Text(NamedTuple):
    """A text of the warehouse, in the order of ties."""

    kind: str
    owner: str
    turn_index: int | None
    words: list[str]


@pytest.fixture(scope="module")
def indexed(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The samples with a dialogue of odd texts, and their index."""
    path = tmp_path_factory.mktemp("ranked") / "w.duckdb"
    shutil.copyfile(sample, path)
    path.chmod(0o600)
    with duckdb.connect() as con:
        con.execute(f"attach '{path}' as {warehouse.name(path)}; use {warehouse.name(path)}")
        con.execute("insert into main.dialogues (dialogue_id, corpus_id) values (?, ?)", [ODD_DIALOGUE, RELEASES])
        for index, text in enumerate(ODD):
            values = [ODD_DIALOGUE, index, text]
            con.execute(
                "insert into main.turns (dialogue_id, turn_index, role, kind, text) values (?, ?, 'odd', 'message', ?)",
                values,
            )
    messages: list[str] = []
    make_index(path, messages.append)
    assert messages == ["there is no index of texts yet"]
    return path


@pytest.fixture
def both(indexed: Path) -> Iterator[tuple[duckdb.DuckDBPyConnection, duckdb.DuckDBPyConnection]]:
    with talkhouse.open(indexed) as con, INDEX.open(INDEX.path(indexed)) as index:
        yield con, index


def words_of(text: str) -> list[str]:
    """Cut a text by the rule, without DuckDB."""
    width = "".join(normalize("NFKC", letter) if "\uff01" <= letter < "\uffa0" else letter for letter in text)
    plain = (
        normalize("NFC", width)
        .lower()
        .replace("ß", "ss")
        .replace("\N{GREEK SMALL LETTER FINAL SIGMA}", "\N{GREEK SMALL LETTER SIGMA}")
    )
    found: list[str] = []
    run = ""
    for letter in [*plain, " "]:
        is_word = category(letter)[0] in "LMN"
        if not is_word or (run and bool(_PAIRED.match(letter)) != bool(_PAIRED.match(run[0]))):
            pairs = [run[at : at + 2] for at in range(len(run) - 1)]
            found += (pairs or [run]) if run and _PAIRED.match(run) else [run] if run else []
            run = ""
        run += letter if is_word else ""
    return found


def texts_of(con: duckdb.DuckDBPyConnection) -> list[Text]:
    queries = {
        "turn": "select dialogue_id, turn_index, text from main.turns order by all",
        "candidate": "select text_id, null, text from main.texts order by all",
        "persona": "select persona_id, null, text from main.personas where text is not null order by all",
    }
    rows = ((kind, row) for kind, query in queries.items() for row in con.execute(query).fetchall())
    every = [Text(kind, owner, turn, words_of(text)) for kind, (owner, turn, text) in rows]
    return [text for text in every if text.words]


def bm25(texts: list[Text], wanted: list[str]) -> list[tuple[float, Text]]:
    """Return the texts found with their scores, the best first, by the formula and the rule of common words."""
    mean = sum(len(text.words) for text in texts) / len(texts)
    having = Counter(word for text in texts for word in {*text.words})
    rare = [word for word in wanted if having[word] > 0 and having[word] * COMMON <= len(texts)]
    common = [word for word in wanted if having[word] * COMMON > len(texts)]
    found = []
    for text in texts:
        times = Counter(text.words)
        if any(times[word] for word in rare) if rare else common and all(times[word] for word in common):
            held = K1 * (1 - B + B * len(text.words) / mean)
            idf = {word: log(1 + (len(texts) - having[word] + 0.5) / (having[word] + 0.5)) for word in wanted}
            found.append((sum(idf[word] * times[word] * (K1 + 1) / (times[word] + held) for word in wanted), text))
    return sorted(found, key=lambda item: -round(item[0], 9))


def keys(found: RankedMatches) -> list[tuple[str, str | None, int | None]]:
    owners = {"turn": "dialogue_id", "candidate": "text_id", "persona": "persona_id"}
    return [
        (hit.kind, getattr(hit, owners[hit.kind]), hit.turn_index if hit.kind == "turn" else None) for hit in found.hits
    ]


RECIPE = next(
    block
    for block in re.findall(r"```sql\n(.*?)```", Path("docs/search.md").read_text(encoding="utf-8"), re.DOTALL)
    if "search.postings" in block
)
"""How to search by SQL, as the page on searches has it."""

QUERIES = [
    *("museum", "the museum train", "the", "the a i", "zeppelin balloon filler", "Play PLAY the cello", "like to you"),
    *("東京タワー", "サッカー", "한국", "strasse Σισυφος σίσυφοσ", "café", "unheard of", "unheard"),
]


def test_scores_and_order_are_those_of_a_plain_bm25_and_facets_are_counted(
    both: tuple[duckdb.DuckDBPyConnection, duckdb.DuckDBPyConnection],
) -> None:
    con, index = both
    texts = texts_of(con)
    assert {"東京", "京タ", "タワ", "ワー", "へ行", "한국"} <= {word for text in texts for word in text.words}
    for query in QUERIES:
        found = rank(TextSearch(con, index, {}, limit=10_000), query)
        wanted = bm25(texts, [*dict.fromkeys(words_of(query))])
        assert keys(found) == [text[:3] for _, text in wanted], query
        assert [hit.score for hit in found.hits] == pytest.approx([score for score, _ in wanted], abs=1e-6), query
        assert found.texts == len(wanted) == sum(found.facets.get("kind", {}).values()), query
        assert [hit.place for hit in found.hits] == [*range(1, len(wanted) + 1)]
    every = rank(TextSearch(con, index, {}, limit=10_000), "the museum train play")
    chosen = {"kind": ["turn", "persona"], "corpus": [RELEASES]}
    narrow = rank(TextSearch(con, index, chosen, limit=10_000), "the museum train play")
    assert [(hit.score, hit.text) for hit in narrow.hits] == [
        (hit.score, hit.text) for hit in every.hits if hit.kind in chosen["kind"] and hit.corpus_id == RELEASES
    ]
    assert narrow.facets["corpus"] == dict(Counter(hit.corpus_id for hit in every.hits if hit.kind in chosen["kind"]))
    assert every.facets["split"] == dict(Counter(name for hit in every.hits for name in hit.splits))
    second = rank(TextSearch(con, index, {}, limit=2, offset=2), "the museum train play")
    assert [(hit.place, hit.text) for hit in second.hits] == [(hit.place, hit.text) for hit in every.hits[2:4]]


@pytest.mark.slow
def test_marks_are_where_the_words_stand_in_the_text_as_it_is(
    both: tuple[duckdb.DuckDBPyConnection, duckdb.DuckDBPyConnection],
) -> None:
    con, index = both
    marked = {
        "タワー": [["タワー", "タワー"]],
        "サッカー": [["サッカー", "ｻｯｶｰ"]],
        "한국": [["한국", "한국"]],
        "strasse σίσυφος": [["Straße", "STRASSE", "Σίσυφος", "ΣΊΣΥΦΟΣ"]],
        "CAFÉ": [["caf\u00e9", "cafe\u0301", "CAFÉ"]],
    }
    for query, wanted in marked.items():
        found = [hit for hit in rank(TextSearch(con, index, {}), query).hits if hit.dialogue_id == ODD_DIALOGUE]
        assert [[hit.text[begin:end] for begin, end in hit.matches] for hit in found] == wanted, query
    for hit in rank(TextSearch(con, index, {}), "zeppelin").hits:
        assert hit.text == ODD[hit.turn_index or 0]
        assert {hit.text[begin:end] for begin, end in hit.matches} == {"zeppelin"}
        assert len(hit.matches) == hit.text.count("zeppelin")


def test_a_turn_leads_to_others_with_its_words_and_not_to_itself(
    both: tuple[duckdb.DuckDBPyConnection, duckdb.DuckDBPyConnection],
) -> None:
    con, index = both
    found = like(TextSearch(con, index, {}, limit=10), ODD_DIALOGUE, 8)
    assert [word.word for word in found.words] == ["zeppelin", "balloon"]
    assert [hit.turn_index for hit in found.hits] == [6, 7]
    of_turns = like(TextSearch(con, index, {"kind": ["turn"]}), ODD_DIALOGUE, 0)
    alike = [(hit.dialogue_id, hit.turn_index) for hit in of_turns.hits]
    assert (ODD_DIALOGUE, 1) in alike
    assert (ODD_DIALOGUE, 0) not in alike
    assert like(TextSearch(con, index, {}), ODD_DIALOGUE, 9).texts == 0
    with pytest.raises(UsageError, match="no turn 99"):
        like(TextSearch(con, index, {}), ODD_DIALOGUE, 99)


@pytest.mark.slow
def test_the_command_prints_lines_json_and_what_a_terminal_may_have(indexed: Path, tmp_path: Path) -> None:
    listed = run("search", "--rank", "zeppelin balloon", "--db", indexed)
    assert listed.stderr == "found 3 texts; words: zeppelin (3 texts), balloon (2 texts)\n"
    lines = [line.split("\t") for line in listed.stdout.splitlines()]
    assert lines[0][2:5] == ["turn", ODD_DIALOGUE, "8"]
    assert "\\x1b[2Jwiped \\x07\\u202ecba" in listed.stdout
    exact = json.loads(run("search", "--rank", "zeppelin balloon", "--json", "--db", indexed).stdout)
    assert [row["text"] for row in exact] == [ODD[row["turn_index"]] for row in exact]
    shown = on_a_terminal(["search", "--rank", "zeppelin balloon", "--db", indexed], tmp_path, 80)
    plain = re.sub(r"\x1b\[[\d;]*m", "", shown)
    assert not re.search("[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e]", plain)
    assert "\x1b[1;31mzeppelin" in shown
    assert "[bold]zeppelin[/bold]" in plain.replace("\r\n", "").replace("      ", "")
    in_sql = run(
        "sql", "--format", "csv", "--db", indexed, RECIPE.replace("night", "zeppelin").replace("train", "balloon")
    )
    scores = [row["score"] for row in exact]
    assert [float(line.split(",")[-1]) for line in in_sql.stdout.splitlines()[1:]] == pytest.approx(scores, abs=1e-6)
    alike = run("search", "--like", f"{ODD_DIALOGUE}#8", "--limit", "1", "--db", indexed)
    assert alike.stdout.split("\t")[3:5] == [ODD_DIALOGUE, "6"]
    assert "1 more with a higher --limit" in alike.stderr
    wrong: list[list[object]] = [
        ["--rank", "?!"],
        ["--rank", "x", "--regex"],
        ["--rank", "x", "--like"],
        ["--rank", "x", "--corpus", "none"],
        ["--like", ODD_DIALOGUE],
        ["x", "--in", "turn"],
        ["--rank", " ".join(map(str, range(60)))],
    ]
    for arguments in wrong:
        refused = run("search", *arguments, "--db", indexed)
        assert (refused.returncode, refused.stdout) == (2, ""), arguments
        assert refused.stderr.startswith("error: "), arguments


@pytest.mark.slow
def test_an_index_is_of_one_state_made_by_one_process_and_whole_or_not_there(indexed: Path, tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    shutil.copyfile(indexed, path)
    path.chmod(0o600)
    index = INDEX.path(path)
    others: list[subprocess.Popen[str]] = []
    make_index(path, lambda _: others.append(_started("search", "--rank", "zeppelin", "--db", path)))
    (other,) = others
    shown, errors = other.communicate(timeout=300)
    assert (len(shown.splitlines()), errors) == (3, "found 3 texts; words: zeppelin (3 texts)\n"), "it has waited"
    before = index.stat().st_ino
    run("search", "--rank", "zeppelin", "--db", path)
    assert index.stat().st_ino == before
    with duckdb.connect() as con:
        con.execute(f"attach '{path}' as {warehouse.name(path)}; use {warehouse.name(path)}")
        con.execute("delete from main.turns where dialogue_id = $1 and turn_index = 8", [ODD_DIALOGUE])
    again = run("search", "--rank", "zeppelin", "--db", path)
    assert again.stderr.startswith(
        "the warehouse has changed since its index of texts was made; making it ...\nfound 2 "
    )
    assert {*tmp_path.iterdir()} == {path, index}
    assert index.stat().st_mode == path.stat().st_mode == 0o100600


def _started(*arguments: object) -> "subprocess.Popen[str]":
    return subprocess.Popen([*COMMAND, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_a_strangers_index_shows_no_text_of_its_own_and_none_that_is_not_ours_is_touched(
    indexed: Path, tmp_path: Path
) -> None:
    path = tmp_path / "w.duckdb"
    shutil.copyfile(indexed, path)
    index = INDEX.path(path)
    for planted in (b"", b"notes", None):
        if planted is None:
            index.unlink()
            index.symlink_to(tmp_path / "elsewhere")
        else:
            index.write_bytes(planted)
        refused = run("search", "--rank", "zeppelin", "--db", path)
        assert (refused.returncode, "this is not the index of texts that talkhouse search made" in refused.stderr) == (
            2,
            True,
        )
    index.unlink()
    change_file(path, "create macro main.lower(x) as 'planted'; create macro main.len(x) as 0")
    run("search", "--rank", "zeppelin", "--db", path)
    with duckdb.connect(index, read_only=True) as built, duckdb.connect(INDEX.path(indexed), read_only=True) as wanted:
        assert built.execute("from postings").fetchall() == wanted.execute("from postings").fetchall()
    shutil.copyfile(indexed, path)
    for harm in (
        "create macro main.round(a, b) as 42",
        "alter table main.postings rename to other; create view main.postings as select * from read_csv('/etc/passwd')",
        "alter table main.words add column more varchar",
    ):
        shutil.copyfile(INDEX.path(indexed), index)
        change_file(index, harm)
        refused = run("search", "--rank", "zeppelin", "--db", path)
        assert (refused.returncode, refused.stdout) == (2, ""), harm
    shutil.copyfile(INDEX.path(indexed), index)
    change_file(
        index,
        "update main.documents set owner = 'nobody', turn_index = null where document % 2 = 0; "
        "update main.groups set corpus_id = '<b>\x1b[2J', kind = if(group_no % 2 = 0, 'persona', kind); "
        "insert into main.postings select word_no, -1, 1, 1, -1 from main.words",
    )
    with talkhouse.open(path) as con:
        union = " union all ".join(f"select text from main.{table}" for table in ("turns", "texts", "personas"))
        texts = {text for (text,) in con.execute(union).fetchall()}
    for query in ("zeppelin balloon", "the museum", "the"):
        shown = run("search", "--rank", query, "--db", path)
        assert (shown.returncode, "Traceback" in shown.stderr, "\x1b" in shown.stdout) == (0, False, False)
        listed: list[dict[str, Any]] = json.loads(run("search", "--rank", query, "--json", "--db", path).stdout)
        assert {row["text"] for row in listed} <= texts
