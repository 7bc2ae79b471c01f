"""The package of subtitles: installed as users install it, built, verified and queried; and tried by the contract."""

import runpy
import sys
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import talkhouse
from talkhouse.corpus import BadRecord
from tests import outside
from tests.commands import run
from tests.conftest import invented_examples
from tests.plugins import know

PACKAGE = Path(__file__).parents[2] / "examples" / "talkhouse-subtitles"
parse = runpy.run_path(str(PACKAGE / "talkhouse_subtitles" / "read.py"))["parse"]
HEAD = "WEBVTT\n\n"
CUE = "00:00:01.000 --> 00:00:02.000\n"

FILES = {
    "kitchen/tea.vtt": f"{HEAD}{CUE}<v Ida>Tea?</v>\n<v Ole>Please. \U0001f375\u2028\n\n{CUE}It rains.\n",
    "kitchen/tea.srt": "7\n0:0:1,500 --> 125:00:02,000\n Is it\n late? \n\n\n\n8\n00:00:03,000 --> 00:00:04,000\n",
    "kitchen/twice.srt": "1\n00:00:01,000 --> 00:00:02,000\nTea?\n",
    "kitchen/twice.vtt": f"{HEAD}00:07.000 --> 00:08.000 line:0\nTea?",
    "bom.srt": "\ufeff1\r\n00:00:01,000 --> 00:00:02,000\r\nTea?\r\nNow?\r\n\r\n",
    "empty.srt": "",
    "head.vtt": "WEBVTT",
    "no_times.srt": "1\n00:00:01,000 --> 00:00:02,000\nTea?\n\nNow?\n",
}
"""Files as they are found; all but the last can be read."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    install = ["uv", "pip", "install", "--quiet", "--python", sys.executable, "--no-deps", "--target", str(folder)]
    outside.run([*install, str(PACKAGE)], folder)
    return folder


def test_it_is_installed_built_verified_and_queried(site: Path, tmp_path: Path) -> None:
    talk = partial(run, cwd=tmp_path, env={"TALKHOUSE_DB": "w.duckdb"}, before=partial(know, site))
    for name, content in FILES.items():
        path = tmp_path / "data" / "subtitles" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())
    built = talk("build", "--data", "data", "--max-quarantine", "100%")
    assert built.returncode == 0, built.stderr
    verified = talk("verify", "--data", "data")
    assert f"{len(FILES)} equal ({len(FILES)} to the byte" in verified.stdout, verified.stdout + verified.stderr
    with talkhouse.open(tmp_path / "w.duckdb") as con:
        found = con.execute("select source_file_id, pointer, rule from meta.quarantine").fetchall()
        assert found == [("subtitles/no_times.srt", "", "SUBTITLES-01")]
        query = "select speaker_name, text, begins from subtitles.cues where dialogue_id = ? order by turn_index"
        assert con.execute(query, ["subtitles:kitchen/tea"]).fetchall() == [
            (None, " Is it\n late? ", 1.5),
            (None, "", 3.0),
        ]
        # The same words at other times, in a file of the same name, are the same talk; other words are not.
        talks = "select dialogue_id, count(*) from main.records where dialogue_id like '%:kitchen%' group by all"
        assert {(name.partition("~")[0], count) for name, count in con.execute(talks).fetchall()} == {
            ("subtitles:kitchen/tea", 1),
            ("subtitles:kitchen/twice", 2),
        }


@pytest.mark.slow
def test_it_keeps_to_the_contract(site: Path, tmp_path: Path) -> None:
    done = run("conform", "subtitles", "--tests", PACKAGE / "tests", cwd=tmp_path, before=partial(know, site))
    assert done.returncode == 0, done.stdout + done.stderr
    assert " of subtitles in " in done.stdout.splitlines()[-1]


PIECES = ["\n", "\r\n", "\n\n", "\r\n\r\n", CUE, CUE.replace("\n", "\r\n"), "<v Ida>", "</v>", "<v.loud Ole>"]
PIECES += ["Tea?", " \u2028", "NOTE", "STYLE", "1", "-->", "\r", "\U0001f375", "00:01.000 --> "]


@invented_examples(500)
@given(st.lists(st.sampled_from(PIECES)), st.booleans())
def test_texts_and_what_stands_between_them_are_the_file(pieces: list[str], is_webvtt: bool) -> None:
    content = "".join([HEAD if is_webvtt else "", *pieces])
    try:
        lines, between = parse(content, is_webvtt=is_webvtt)
    except BadRecord:
        return
    texts = [line.text for line in lines]
    assert "".join(before + text for before, text in zip(between, [*texts, ""], strict=True)) == content
    assert content.count("-->") == sum("-->" in before for before in between), "each cue is one"
