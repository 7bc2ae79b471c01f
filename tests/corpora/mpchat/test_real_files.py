"""MPChat: the published counts on the publisher's own files (set TALKHOUSE_DATA)."""

import duckdb
import pytest

pytestmark = pytest.mark.slow

# arXiv 2305.17388, Table 6 and section 3.5; rows of the table are taken for examples, as the paper's counts of
# training steps suggest. Its appendix gives 1,539 test examples of speaker identification, probably a misprint.
EXAMPLES = {
    "next_response_prediction": {"train": 19_048, "val": 2_303, "test": 2_321},
    "grounding_persona_prediction": {"train": 6_628, "val": 709, "test": 676},
    "speaker_identification": {"train": 11_975, "val": 1_516, "test": 1_509},
}
DIALOGUES = {"train": (11_975, 34_098), "val": (1_516, 4_189), "test": (1_509, 4_244)}
"""Threads and messages of each split."""

SPEAKERS = 25_877
RATED_PAIRS = 16_327


@pytest.mark.parametrize("task", EXAMPLES)
def test_the_published_number_of_examples(real: duckdb.DuckDBPyConnection, task: str) -> None:
    assert dict(real.execute(f"select split, count(*) from mpchat.{task} group by all").fetchall()) == EXAMPLES[task]


@pytest.mark.parametrize("subset", ["nrp", "gpp", "si"])
def test_the_published_number_of_threads_and_messages(real: duckdb.DuckDBPyConnection, subset: str) -> None:
    query = """
        select split, count(distinct record_id), count(*)
        from main.records inner join main.turns using (dialogue_id)
        where subset = ?
        group by all
    """
    assert {split: tuple(rest) for split, *rest in real.execute(query, [subset]).fetchall()} == DIALOGUES


def test_the_published_number_of_speakers_and_rated_pairs(real: duckdb.DuckDBPyConnection) -> None:
    speakers = "select count(distinct speaker_id) from main.turns where starts_with(dialogue_id, 'mpchat:')"
    assert real.execute(speakers).fetchall() == [(SPEAKERS,)]
    pairs = "select count(*), avg(is_entailed::integer) from bi.mpchat_worker_agreement"
    ((count, share),) = real.execute(pairs).fetchall()
    assert count == RATED_PAIRS
    assert share == pytest.approx(0.504, abs=0.001)


def test_every_thread_is_one_dialogue(real: duckdb.DuckDBPyConnection) -> None:
    assert real.execute("select count(*) from main.dialogues where corpus_id = 'mpchat'").fetchall() == [(15_000,)]
