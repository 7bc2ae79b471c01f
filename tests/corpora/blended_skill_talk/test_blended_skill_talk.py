"""Blended Skill Talk: the worked example to the character, invented files of every kind through views and back."""

import json
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import talkhouse
from talkhouse.ingest.corpora import blended_skill_talk
from talkhouse.ingest.corpora.blended_skill_talk import CORPUS
from talkhouse.ingest.corpora.blended_skill_talk.other_files import _parse_topic
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.progress import Silent
from talkhouse.load.run import build
from tests.conftest import Build, invented_builds, invented_examples
from tests.corpora.blended_skill_talk.rules import (
    MODELS,
    Topicifier,
    acts,
    clean_acts,
    contexts,
    overlap,
    round_tripped,
    standardized,
    wizard_entries,
)
from tests.corpora.unusual import assert_comes_back, files_in

HERE = Path(__file__).parent


def columns(con: duckdb.DuckDBPyConnection, view: str, wanted: str, split: str) -> list[tuple[Any, ...]]:
    query = f"select {wanted} from blended_skill_talk.{view} where split = ? order by example_index"
    return con.execute(query, [split]).fetchall()


@pytest.mark.slow
def test_a_rejected_file_does_not_stand_in_the_way_of_a_good_one(build_data: Build, tmp_path: Path) -> None:
    raw = tmp_path / "data" / "blended_skill_talk"
    good = (HERE / "golden" / "worked_example" / "raw" / "train.json").read_bytes()
    for folder, content in (("a", good[:-9]), ("b", good), ("c", good)):
        (raw / folder).mkdir(parents=True)
        (raw / folder / "train.json").write_bytes(content)
    con = build_data(tmp_path / "data")
    assert con.execute("select source_file_id[20:20], pointer from meta.quarantine").fetchall() == [("a", "")]
    loaded = """
        select distinct source_file_id[20:20]
        from blended_skill_talk.guided_response
        inner join main.records using (record_id)
    """
    assert con.execute(loaded).fetchall() == [("b",)]
    assert con.execute("select count(*) from main.dialogues").fetchall() == [(1,)]


@pytest.mark.slow
def test_a_topic_is_that_of_a_line_or_of_a_word_of_seven_letters_or_the_last(build_data: Build, tmp_path: Path) -> None:
    topics = {
        ("your persona: lighthouses", "your persona:  i play chess."): "Chess",
        ("your persona: estranged",): "Halo: Tower Defence",
        ("your persona: my brotherhood is strange",): "Halo: Tower Defence",
        ("your persona: brotherly",): "Ferry",
        ("your persona: i row.",): "Ferry",
        (): "Ferry",
    }
    raw = tmp_path / "data" / "blended_skill_talk"
    (raw / "convai2").mkdir(parents=True)
    shutil.copy(Path(blended_skill_talk.__path__[0]) / "sample" / "topic_to_persona_list.txt", raw)
    episodes = numbered([([*persona], ["hi"]) for persona in topics])
    (raw / "convai2" / "valid_self_original.txt").write_text(episodes, encoding="utf-8")
    found = columns(build_data(tmp_path / "data"), "convai2_persona_topicifier", "text", "valid")
    assert found == [("\n".join([*persona, topic, "hi"]),) for persona, topic in topics.items()]


# Invented files.

CHARACTERS = st.characters(exclude_categories=["Cs"])
ESCAPES = ("\\t", "\\n", "__PIPE__", "__PIPE", "__PIPE_", "|", "|", "_", "\t", "\n", "\\", "t")
PIECE = st.sampled_from([*ESCAPES, *(" ", "", "i'm", "im", " s", "I", ".!", "é")])
PIECES = st.lists(PIECE, max_size=6).map("".join)
TEXTS = PIECES | st.text(CHARACTERS, max_size=8)
# Lower case of a final sigma and of a dotted capital I depends on the library.
LINE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\nΣİ"), max_size=8)
TOKENS = (
    *("my", "has", "gardens", "garden.", "lanterns", "lantern", "S", "swim", "live"),
    *("i", "m", "IM", "i've", "ive", "ve", "i'll", "ll", "don", "don't", "dont", "can", "can't", "cant", "t"),
)
WORDS = st.lists(st.sampled_from(TOKENS), max_size=5)
SENTENCE = WORDS.map(" ".join) | LINE
SUGGESTED = st.fixed_dictionaries(dict.fromkeys(MODELS, TEXTS))


@st.composite
def episodes(draw: st.DrawFn, *, has_candidates: bool) -> dict[str, Any]:
    count = draw(st.integers(0, 5))
    episode = {
        "personas": [draw(st.lists(SENTENCE, min_size=2, max_size=3)) for _ in range(2)],
        "context_dataset": draw(st.sampled_from(MODELS) | TEXTS),
        "additional_context": draw(TEXTS),
        "free_turker_utterance": draw(TEXTS),
        "guided_turker_utterance": draw(TEXTS),
        "dialog": [[draw(st.sampled_from([turn % 2, 0, "x"])), draw(TEXTS)] for turn in range(count)],
        "suggestions": [
            draw(SUGGESTED) if turn % 2 else draw(st.sampled_from([{}, {}, None])) for turn in range(count)
        ],
        "chosen_suggestions": [draw(st.sampled_from([*MODELS, "", " ", "x"])) for _ in range(count)],
        "chosen_suggestion_texts": draw(st.lists(TEXTS | st.none(), min_size=count, max_size=count) | st.none()),
        "suggestion_orders": [draw(st.permutations(MODELS).map(",".join) | st.just("")) for _ in range(count)],
        draw(st.sampled_from(["workers", "new/field~"])): draw(st.lists(TEXTS, max_size=2)),
    }
    if has_candidates:
        lists = st.lists(TEXTS, max_size=4)
        episode["label_candidates"] = [draw(lists) for _ in range(count // 2 + draw(st.integers(0, 1)))]
    return {name: episode[name] for name in draw(st.permutations(list(episode)))}


PERSONAS = st.lists(st.lists(SENTENCE, min_size=1, max_size=3), min_size=1, max_size=5)
TOPIC = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="[\r\n"), min_size=1, max_size=6)
TOPICS = st.lists(st.tuples(TOPIC, st.lists(SENTENCE, min_size=1, max_size=3)), min_size=1, max_size=6)
SAID = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"], exclude_characters="\\|"), min_size=1)
PERSONA_LINE = (SAID | WORDS.map(" ".join)).map(lambda sentence: f"your persona: {sentence}.")
EPISODE = st.tuples(st.lists(PERSONA_LINE, max_size=3), st.lists(SAID, max_size=3))
WIZARD = st.fixed_dictionaries(
    {
        "chosen_topic": TOPIC.map(lambda topic: topic + "x"),
        "dialog": st.lists(
            st.fixed_dictionaries({"speaker": st.sampled_from(["0_Wizard", "1_Apprentice"]), "text": TEXTS}),
            min_size=1,
            max_size=5,
        ),
        "persona": TEXTS,
    }
)
CACHED = st.lists(
    st.fixed_dictionaries(
        {"text": TEXTS, "labels": st.lists(TEXTS, max_size=2), "episode_done": st.booleans()},
        optional={"situation": TEXTS, "label_candidates": st.lists(TEXTS, max_size=2) | st.none()},
    ),
    max_size=3,
)


def write_json(path: Path, value: object, *, ascii_only: bool = False) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=ascii_only), encoding="utf-8")


QUICK = invented_builds(8)


@pytest.mark.slow
@QUICK
@given(
    train=st.lists(episodes(has_candidates=False), max_size=4),
    valid=st.lists(episodes(has_candidates=True), min_size=1, max_size=4),
    safe=st.lists(st.lists(SENTENCE.map(lambda text: text.replace("|", "")), min_size=1, max_size=4), max_size=6),
)
def test_invented_episodes_give_the_acts_of_the_rules_and_come_back_equal(
    train: list[dict[str, Any]],
    valid: list[dict[str, Any]],
    safe: list[list[str]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("episodes")
    raw = folder / "data" / "blended_skill_talk"
    write_json(raw / "train.json", train)
    write_json(raw / "valid.json", valid, ascii_only=True)
    lines = ["|".join(sentences) for sentences in safe]
    (raw / "safe_personas.txt").write_bytes("".join(f"{line}\n" for line in lines).encode())
    as_python_reads = (raw / "safe_personas.txt").open(encoding="utf-8").readlines()
    build(folder / "w.duckdb", Silent(), data=folder / "data")
    with talkhouse.open(folder / "w.duckdb") as con:
        for split, published in (("train", train), ("valid", valid)):
            for view, rule in (("guided_response", acts), ("guided_response_clean", clean_acts)):
                expected = [act for episode in published for act in rule(episode)]
                wanted = ", ".join(expected[0]) if expected else "text"
                found = [dict(zip(expected[0], row, strict=True)) for row in columns(con, view, wanted, split)]
                assert found == expected, view
            shown = [contexts(episode, as_python_reads) for episode in published]
            shown = [(free, guided, is_safe if lines else None) for free, guided, is_safe in shown]  # type: ignore[misc]
            assert columns(con, "persona_context", "free_context, guided_context, is_safe", split) == shown
        assert_comes_back(con, CORPUS, files_in(raw), folder / "out")


def test_a_lone_carriage_return_ends_a_line_of_safe_personas(build_data: Build, tmp_path: Path) -> None:
    path = tmp_path / "data" / "blended_skill_talk" / "safe_personas.txt"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"I bake. \r I row|I sew \r\n my cat |\ra\r\rb\r\n\tlast\r")
    con = build_data(tmp_path / "data")
    lines = path.open(encoding="utf-8").readlines()
    expected = {standardized(sentence) for line in lines for sentence in line.strip().split("|")}
    found = con.execute("select sentence from blended_skill_talk.safe_sentences").fetchall()
    assert {sentence for (sentence,) in found} == expected


@pytest.mark.slow
@QUICK
@given(
    personas=PERSONAS,
    topics=TOPICS,
    episodes=st.lists(EPISODE, max_size=4),
    wizard=st.lists(WIZARD, max_size=4),
    cached=st.lists(CACHED, min_size=1, max_size=3),
)
def test_invented_lists_choose_as_the_rules_do_and_come_back_equal(
    personas: list[list[str]],
    topics: list[tuple[str, list[str]]],
    episodes: list[tuple[list[str], list[str]]],
    wizard: list[dict[str, Any]],
    cached: list[list[dict[str, Any]]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("lists")
    raw = folder / "data" / "blended_skill_talk"
    published = "".join("".join(f"your persona: {line}\n" for line in lines) + "||" for lines in personas)
    convai2 = [(lines, texts) for lines, texts in episodes if texts]
    (raw / "convai2").mkdir(parents=True)
    (raw / "convai2" / "valid_self_original.txt").write_bytes(numbered(convai2).encode())
    (raw / "persona_list.txt").write_bytes(published.encode())
    (raw / "topic_to_persona_list.txt").write_bytes("".join(f"{topic}: {some!r}\n" for topic, some in topics).encode())
    write_json(raw / "wizard_of_wikipedia" / "test_random_split.json", wizard)
    write_json(raw / "ed_persona_topicifier__valid__experiencer_only.json", cached)
    build(folder / "w.duckdb", Silent(), data=folder / "data")
    chooser = Topicifier(published, topics)
    with talkhouse.open(folder / "w.duckdb") as con:
        assert con.execute("select detail from meta.findings where severity = 'reject_dialogue'").fetchall() == []
        expected = []
        for lines, texts in convai2:
            for number, answer in enumerate(texts):
                text = "\n".join([*lines, answer]) if number == 0 else answer
                expected.append((number, chooser.with_topic(text) if number == 0 else text, [answer]))
        assert columns(con, "convai2_persona_topicifier", "entry_index, text, labels", "test") == expected
        entries = [(n, *entry) for episode in wizard for n, entry in enumerate(wizard_entries(episode))]
        modified = [(n, text if n else chooser.with_persona(text), labels) for n, text, labels in entries]
        assert columns(con, "wow_persona_topicifier", "entry_index, text, labels", "test") == modified
        acts_of = [
            (n, act["text"], act["labels"], act.get("label_candidates"))
            for talk in cached
            for n, act in enumerate(talk)
        ]
        assert columns(con, "ed_persona_topicifier", "entry_index, text, labels, label_candidates", "valid") == acts_of
        for utterance in ("gardening has lanterns", "", " my lantern' "):
            query = "select blended_skill_talk.persona_of_utterance(?)"
            assert con.execute(query, [utterance]).fetchall() == [(chooser.persona_of_utterance(utterance),)]
        assert_comes_back(con, CORPUS, files_in(raw), folder / "out")


def numbered(episodes: list[tuple[list[str], list[str]]]) -> str:
    """Write episodes as ConvAI2's files have them; everybody answers what was said."""
    lines = []
    for persona, texts in episodes:
        turns = [f"{text}\t{text}\t\tno .|{text}" for text in texts]
        lines += [f"{number} {line}" for number, line in enumerate([*persona, *turns], 1)]
    return "".join(f"{line}\n" for line in lines)


@invented_examples(100)
@given(text=SENTENCE, other=SENTENCE, line=PIECES, blanks=st.text("\t \x1c\x85\xa0\u2003\u3000\u200b"))
def test_macros_are_the_rules(text: str, other: str, line: str, blanks: str, con: duckdb.DuckDBPyConnection) -> None:
    padded = blanks + text + blanks
    query = """
        select
            blended_skill_talk.standardized($one),
            blended_skill_talk.word_overlap($one, $other),
            blended_skill_talk.strip($padded),
            blended_skill_talk.round_trip($said)
    """
    found = con.execute(query, {"one": text, "other": other, "said": line, "padded": padded}).fetchall()
    assert found == [(standardized(text), overlap(text, other), padded.strip(), round_tripped(line))]


@pytest.mark.parametrize(
    "text", ["__PIPE|", "__PIPE_|x", "a\\\tb", "|PIPE__", "__PIPE____PIPE__", "\\n\n", "\\\\t", "|__PIPE|", ""]
)
def test_escapes_that_run_into_each_other(text: str, con: duckdb.DuckDBPyConnection) -> None:
    assert con.execute("select blended_skill_talk.round_trip(?)", [text]).fetchall() == [(round_tripped(text),)]


def test_a_line_of_topics_is_not_parsed_where_it_is_far_too_long() -> None:
    with pytest.raises(BadRecord, match="BS-09: 1,000,006 characters in a line"):
        _parse_topic(f"a: ['{'x' * 10**6}']"[: 10**6 + 4] + "']", is_open=False)
