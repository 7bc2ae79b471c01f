"""Ids of several columns or paths, and ids that begin again in each file or split: in rows, documents and labels."""

from itertools import product
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talkhouse.ingest.declared.record_files.content import CAREFULLY
from talkhouse.ingest.rows import Record
from tests.declared.rows_loaded import Read, json_lines, read_back
from tests.declared.test_declaration import mistake

TURNS = 'title = "Scenes"\nformat = "turns"\n[turn]\ntext = "line"\n'
CHAT = 'title = "Scenes"\nformat = "chat"\n'
SCENE = '[dialogue]\nid = ["season", "scene"]\n'
LABELS = '[[annotations]]\nscheme = "mood"\nfrom = "l.csv"\nlabel = "mood"\n'
OF_LABELS = '[[files]]\npath = "l.csv"\nholds = "annotations"\n'


def keys(result: Read) -> list[tuple[str | None, str | None]]:
    return [(row.dialogue_id, row.native_id) for row in result.of(Record)]


SIGNS = st.text(st.sampled_from("a/%2F5é"), max_size=4)


@pytest.mark.slow
@given(st.lists(st.tuples(SIGNS, SIGNS, st.sampled_from(["train", "test", ""])), max_size=8))
def test_whatever_the_values_are_they_are_told_apart_and_come_back(rows: list[tuple[str, str, str]]) -> None:
    cells = b"".join(",".join(("x", *row)).encode() + b"\n" for row in rows)
    objects = json_lines(
        *({"line": "x", "season": a, "scene": b} | ({"fold": fold} if fold else {}) for a, b, fold in rows)
    )
    toml = TURNS + SCENE + 'split = "fold"\nids = "split"\n'
    for files in ({"a.csv": b"line,season,scene,fold\n" + cells}, {"a.jsonl": objects}):
        result = read_back(toml, files)
        ids = [[unquote(part) for part in str(key).removeprefix("quay:").split("/")] for key, _ in keys(result)]
        assert ids == [[fold or "all", a, b] for a, b, fold in dict.fromkeys(rows)]


@pytest.mark.slow
@pytest.mark.parametrize("carefully", ["", "1"])
def test_several_paths_are_an_id_together(carefully: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CAREFULLY, carefully)
    record = {"messages": [{"role": "user", "content": "In?"}]}
    lines = [{"season": n % 3, "at": {"scene": f"x/{n}"}, "fold": "train"} | record for n in range(40)]
    lines[7] = {"season": 1, "at": {}} | record
    raw = json_lines(*lines)
    for path, ids in product(('"at.scene"', '"scene"'), ("corpus", "file", "split")):
        flat = raw.replace(b'"at":{"scene"', b'"scene"').replace(b'},"fold"', b',"fold"')
        of_file = raw if path == '"at.scene"' else flat
        toml = CHAT + f'[dialogue]\nid = ["season", {path}]\nids = "{ids}"\nsplit = "fold"\n'
        result = read_back(toml, {"a.jsonl": of_file})
        begin = {"corpus": "", "file": "a.jsonl/", "split": "train/"}[ids]
        assert keys(result)[4] == (f"quay:{begin}1/x%2F4", "1/x%2F4")
        assert len(keys(result)) == 39
        assert [(item.rule, item.location.record_index) for item in result.rejected] == [("GF-01", 7)]


@pytest.mark.parametrize(
    ("toml", "line", "message"),
    [
        (TURNS + SCENE.replace('["season", "scene"]', "[]"), 6, "or a list of names"),
        (TURNS + SCENE.replace("scene", "season"), 6, "the id together, each once"),
        (TURNS + SCENE.replace('"scene"', "1"), 6, "a list of texts"),
        (TURNS + '[dialogue]\nids = "file"\n', 6, "'ids' without 'id'"),
        (TURNS + SCENE + 'ids = "spilt"\n', 7, "split"),
        (CHAT + SCENE.replace("scene", "a[*]"), 4, "a path to one place"),
        (CHAT.replace("chat", "convokit") + SCENE, 4, "one path: the other files name a conversation by it"),
        (CHAT.replace("chat", "convokit") + '[dialogue]\nids = "file"\n', 4, "no 'ids'"),
        (TURNS + SCENE + OF_LABELS + '[[files]]\npath = "a"\n' + LABELS + 'dialogue = "n"\n', 16, "2 columns"),
        (
            TURNS + SCENE + 'ids = "file"\n' + OF_LABELS + '[[files]]\npath = "a"\n' + LABELS,
            15,
            "no other file can say",
        ),
        (TURNS + SCENE + 'ids = "split"\n' + OF_LABELS + LABELS, 9, "of which split these labels are"),
    ],
)
def test_what_can_be_no_id_is_refused_at_its_line(toml: str, line: int, message: str) -> None:
    error = mistake(toml)
    assert str(error).startswith(f"ferry_talk/corpus.toml:{line}: ")
    assert message in str(error)
