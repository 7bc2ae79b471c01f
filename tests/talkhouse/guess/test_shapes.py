"""Shapes that files of others have: declared right, asked about, or refused with what to do, and never half in silence.

The turns beside each shape are what its file says, written down by hand; nothing here derives them.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from talkhouse.guess.new_declaration import new_declaration
from talkhouse.ingest.declared.declaration import of_folder
from talkhouse.ingest.rows import Turn
from tests.data_files import data_of
from tests.declared.rows_loaded import read, restored
from tests.talkhouse.guess.folders import write

SHAPES: dict[str, dict[str, Any]] = data_of(__file__)


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_is_right_or_asked(name: str, tmp_path: Path) -> None:
    shape = SHAPES[name]
    files = {path: text.encode() for path, text in shape["files"].items()}
    folder = write(tmp_path / name, files)
    seen = new_declaration(folder)
    shown = "\n".join((*seen.to_decide, *seen.left.values()))
    assert [part for part in shape.get("asked", ()) if part not in shown] == [], shown
    assert bool(seen.to_decide) == ("asked" in shape and "turns" in shape), shown
    assert (seen.guess is None) == ("turns" not in shape)
    if seen.guess is not None:
        assert turns_of(folder, files) == [tuple(turn) for turn in shape["turns"]]


def turns_of(folder: Path, files: dict[str, bytes]) -> list[tuple[str, str]]:
    """Read files by the declaration of their folder: who says what, dialogue by dialogue; each file comes back."""
    result = read(of_folder(folder), files)
    assert not result.rejected
    for path, raw in restored(result).items():
        assert values_of(path, raw) == values_of(path, files[path])
    turns = result.of(Turn)
    return [((turn.speaker_id or turn.role).rpartition("/")[2].rpartition(":")[2], turn.text) for turn in turns]


def values_of(path: str, raw: bytes) -> object:
    """Return what counts when a file comes back: of JSON its values and the order of keys, of others the bytes."""
    if path.endswith(".jsonl"):
        return [json.dumps(json.loads(line)) for line in raw.splitlines()]
    return json.dumps(json.loads(raw)) if path.endswith(".json") else raw


CALL = "Agent: Good morning {n}.\nCaller: My line is dead.\nAgent: I see."


@pytest.mark.parametrize("word", ["Supervisor", "Über-Chef", "старший"])
def test_a_rare_speaker_is_asked_about_in_every_form_of_text(word: str, tmp_path: Path) -> None:
    calls = [CALL.format(n=n) + f"\n{word}: I take over." * (n == 70) for n in range(120)]
    rows = "".join(f'{n},"{call}"\n' for n, call in enumerate(calls))
    forms = {
        "lines": {"a.jsonl": "".join(json.dumps({"id": n, "text": call}) + "\n" for n, call in enumerate(calls))},
        "cells": {"a.csv": "call,words\n" + rows},
        "texts": {f"{n:03}.txt": call + "\n" for n, call in enumerate(calls)},
    }
    for form, files in forms.items():
        folder = write(tmp_path / form, {path: text.encode() for path, text in files.items()})
        asked = f"[markers]: 1 line begins like a mark that is none: {word.replace('-', '')}"
        assert asked in new_declaration(folder).to_decide, form
