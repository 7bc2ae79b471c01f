"""What an overlap is used for: exports without the examples that stand elsewhere, and scores with and without them."""

import json
import shutil
from collections import Counter
from pathlib import Path

import duckdb
import pytest

from talkhouse.overlap.compute import overlap
from talkhouse.overlap.read import read, sentences
from talkhouse.overlap.request import OverlapRequest
from tests.commands import run
from tests.samples import RELEASES
from tests.talkhouse.overlap.test_kit import OWN

pytestmark = pytest.mark.slow

TASK = f"{RELEASES}.breakdown_detection"
TRAINING = f"{RELEASES}/{RELEASES}/dev"
CHOSEN = ("--release", RELEASES, "--split", "eval")


@pytest.fixture
def leaking(sample: Path, tmp_path: Path) -> Path:
    """A warehouse with two evaluation examples whose turns stand in the development set, word for word."""
    path = tmp_path / "w.duckdb"
    shutil.copyfile(sample, path)
    path.chmod(0o644)
    with duckdb.connect(path) as con:
        con.execute(f"""
create temp table longest as
select text from main.turns inner join main.records using (dialogue_id)
where corpus_id = '{RELEASES}' and release = '{RELEASES}' and split = 'dev'
order by length(text) desc, text limit 1;
update main.turns set text = turn_index || ' ' || dialogue_id
where dialogue_id in (select dialogue_id from main.records where corpus_id = '{RELEASES}' and split = 'eval');
update main.turns set text = (from longest)
where (dialogue_id, turn_index) in (
    select dialogue_id, turn_index from main.examples
    where corpus_id = '{RELEASES}' and release = '{RELEASES}' and split = 'eval'
        and task = 'breakdown_detection' and example_index in (1, 4)
)
""")
    return path


def test_an_export_leaves_out_what_stands_elsewhere_and_says_so(leaking: Path, tmp_path: Path) -> None:
    all_of_them, left = tmp_path / "all.jsonl", tmp_path / "left.jsonl"
    assert run("export", TASK, *CHOSEN, "--output", all_of_them, "--db", leaking).returncode == 0
    drop = ("--drop-overlap", "--against", TRAINING)
    done = run("export", TASK, *CHOSEN, *drop, "--output", left, "--db", leaking)
    assert done.returncode == 0, done.stderr
    assert "2 turn" in done.stdout
    judged = {row["example_index"]: row for row in map(json.loads, all_of_them.read_text().splitlines())}
    assert [json.loads(line) for line in left.read_text().splitlines()] == [
        row for index, row in judged.items() if index not in (1, 4)
    ]
    about = json.loads((tmp_path / "left.jsonl.manifest.json").read_text())["overlap"]
    assert about["against"] == [TRAINING]
    assert about["left_out"] == {"dialogue": 0, "both": 0, "turn": 2}
    assert (about["threshold"], len(about["rows_sha256"])) == (0.7, 64)
    assert "overlap" not in json.loads((tmp_path / "all.jsonl.manifest.json").read_text())
    # By verdicts that are named, from the split's own view, and by the thresholds of the file that is there.
    overlap(leaking, OverlapRequest([TRAINING], threshold=OverlapRequest().threshold + OverlapRequest().threshold / 7))
    asked = ("export", f"{TASK}_eval", "--release", RELEASES, *drop, "--verdicts", "clean,phrase", "--force")
    assert run(*asked, "--output", left, "--db", leaking).returncode == 0
    assert [json.loads(line)["example_index"] for line in left.read_text().splitlines()] == [1, 4]
    assert json.loads((tmp_path / "left.jsonl.manifest.json").read_text())["overlap"]["threshold"] == 0.8


def test_scores_are_told_with_and_without_what_stands_elsewhere(leaking: Path) -> None:
    asked = ("score", TASK, *CHOSEN, "--baseline", "majority", "--threshold", "0.5", "--db", leaking)
    alone = json.loads(run(*asked, "--json").stdout)
    done = run(*asked, "--against", TRAINING, "--json")
    assert done.returncode == 0, done.stderr
    both = json.loads(done.stdout)
    found = both.pop("overlap")
    assert [found[part]["examples"] for part in ("all", "without", "only")] == [alone["rows"], alone["rows"] - 2, 2]
    both["metrics"] = [row for row in both["metrics"] if not (row["slice"] or "").startswith("overlap=")]
    assert both == alone
    shares = {
        part: {row["name"]: row for row in found[part]["metrics"]}["Accuracy"] for part in ("all", "without", "only")
    }
    assert shares["all"]["count"] == shares["without"]["count"] + shares["only"]["count"]
    assert shares["only"]["of"] == 2
    assert [row["official"] for row in shares.values()] == [True, False, False]
    assert "overlap=only: 2 examples" in run(*asked, "--against", TRAINING).stdout


def test_what_has_no_verdicts_is_refused(leaking: Path, tmp_path: Path) -> None:
    output = ("--output", tmp_path / "x.csv", "--db", leaking)
    drop = ("--drop-overlap", "--against", TRAINING)
    for arguments, message in {
        ("turns", *drop): "is not a task",
        (TASK, "--drop-overlap"): "against some places",
        (TASK, "--against", TRAINING): "goes with --drop-overlap",
        (TASK, *drop, "--verdicts", "dirty"): "not a verdict",
        (TASK, "--drop-overlap", "--against", "nowhere"): "no place 'nowhere'",
        (TASK, *drop, "--for", "huggingface"): "out of a file",
    }.items():
        refused = run("export", *arguments, *output)
        assert refused.returncode == 2, arguments
        assert message in refused.stderr, arguments
    assert not (tmp_path / "x.csv").exists()


def test_only_splits_in_which_something_is_met_are_listed(leaking: Path) -> None:
    shown = run("overlap", "--against", TRAINING, "--db", leaking)
    assert shown.returncode == 0, shown.stderr
    with duckdb.connect(leaking.with_name("w.overlap.duckdb"), read_only=True) as con:
        splits = con.execute("""
select corpus_id || '.' || task, count(*) filter (verdict not in ('clean', 'unjudged')) from main.examples
group by corpus_id, task, release, split
""").fetchall()
    listed = shown.stdout.partition("Examples, against")[2].partition("other splits")[0]
    unmet = [task for task, met in splits if not met]
    assert f"In {len(unmet):,} other" in shown.stdout
    assert TASK in listed
    assert all(task not in listed for task in {*unmet} - {task for task, met in splits if met})


# The sentences that pages and the report say: counted from the expected rows.


def test_an_example_repeats_a_turn_if_its_turn_or_dialogue_stands_there(with_overlap: Path) -> None:
    file = with_overlap.with_name("w.overlap.duckdb")
    with duckdb.connect(file) as con:
        for index, verdict in enumerate(("dialogue", "both", "both", "turn", "context", "phrase", "clean", "unjudged")):
            con.execute("update examples set verdict = $1 where example_index % 8 = $2", [verdict, index])
        ((number,),) = con.execute("select count(*) from examples").fetchall()
    assert number == 16
    there = "garden_club/train or seed_logs/all"
    (sentence,) = sentences(read(file))
    assert sentence == (
        f"50.0% of the examples of garden_club.answer, test (8 of 16) repeat a turn or a whole dialogue of {there}."
    )
    with duckdb.connect(file) as con:
        con.execute("update examples set verdict = 'phrase'")
    assert sentences(read(file)) == []


def test_without_verdicts_they_are_about_turns_and_the_greatest_share_comes_first(with_overlap: Path) -> None:
    file = with_overlap.with_name("w.overlap.duckdb")
    with duckdb.connect(file) as con:
        con.execute("delete from examples")
        con.execute("update run set against = []")
    wanted = json.loads((OWN.folder / "expected.json").read_text())
    units = {row["place"]: row["units"] for row in wanted["units"] if row["unit"] == "turn"}
    counts = Counter(
        (row["place"], row["other_place"])
        for row in wanted["matches"]
        if row["unit"] == "turn" and not row["is_phrase"] and row["place"] != row["other_place"]
    )
    shares = {pair: count / units[pair[0]] for pair, count in counts.items()}
    found = sentences(read(file))
    assert set(found) == {
        f"{shares[place, other]:.1%} of the turns of {place} ({count} of {units[place]}) stand in {other}."
        for (place, other), count in counts.items()
    }
    assert [float(sentence.partition("%")[0]) for sentence in found] == sorted(
        (round(100 * s, 1) for s in shares.values()), reverse=True
    )
