"""Odd corpora of every format through a whole build: each file is restored equal, and each record is counted."""

import random
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.declared.invented_corpora import DOCUMENTS, FORMATS, HEAD, TURNS, Invented, corpus
from tests.declared.whole_build import problems_of

pytestmark = pytest.mark.slow

SLOWLY = settings(max_examples=3, deadline=None, phases=[Phase.generate])


@pytest.mark.parametrize("format_", FORMATS)
@SLOWLY
@given(st.data())
def test_any_corpus_is_restored(format_: str, data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        assert problems_of({"a_corpus": data.draw(corpus(format_))}, Path(folder)) == []


@pytest.mark.parametrize("format_", FORMATS)
@SLOWLY
@given(st.data(), st.randoms(use_true_random=False))
def test_with_one_mutation_a_record_is_named_or_loads(
    format_: str, data: st.DataObject, random_: random.Random
) -> None:
    invented = data.draw(corpus(format_))
    name = random_.choice(sorted(invented.files))
    invented.files[name] = mutated(invented.files[name], random_)
    with TemporaryDirectory() as folder:
        assert problems_of({"a_corpus": invented}, Path(folder)) == []


def mutated(raw: bytes, random_: random.Random) -> bytes:
    """Change one byte, cut a line or the end, or put something else there."""
    place = random_.randrange(len(raw) + 1)
    lines = raw.splitlines(keepends=True)
    return random_.choice(
        [
            raw[:place] + bytes([random_.randrange(256)]) + raw[place + 1 :],
            raw[:place],
            b"".join(line for number, line in enumerate(lines) if number != len(lines) // 2),
            raw[:place] + random_.choice([b"null", b"[]", b'"', b"{}", b"1", b"\n", b","]) + raw[place:],
        ]
    )


def test_dialogues_that_differ_in_a_language_of_no_letters(tmp_path: Path) -> None:
    record = '{"id": "a", "messages": [], "lang": %s}'
    lines = "\n".join(record % lang for lang in ('""', "null", '"en"'))
    chat = Invented(DOCUMENTS["chat"][0], {"a.jsonl": lines.encode(), "b.jsonl": (record % "null").encode()}, {})
    assert problems_of({"a_chat": chat}, tmp_path) == []


def test_a_file_that_only_repeats_dialogues_with_parts(tmp_path: Path) -> None:
    record = b'{"id": "a", "messages": [{"role": "user", "content": [{"text": "Hi", "type": "text"}]}]}'
    chat = Invented(DOCUMENTS["chat"][0], {"a.jsonl": record, "b.jsonl": record}, {})
    assert problems_of({"a_chat": chat}, tmp_path) == []


def test_a_speaker_whose_name_is_left_out_later(tmp_path: Path) -> None:
    columns = TURNS.partition("[[annotations]]")[0]
    header = "id,title,domain,lang,fold,u,text,role,who,time,to,kind,from,till,name"
    raw = f"{header}\na,,,,,1,x,user,ann,,,,,,Ann\na,,,,,2,x,user,ann,,,,,,\n".encode()
    assert problems_of({"a_turns": Invented(columns, {"a.csv": raw}, {})}, tmp_path) == []


def test_files_without_records(tmp_path: Path) -> None:
    chat = f'{HEAD}format = "chat"\n[[files]]\npath = "**"\n'
    files = {"a.jsonl": b"", "b.json": b"[]", "c.jsonl": b"\n\n", "d.jsonl": b'{"messages": []}'}
    assert problems_of({"a_chat": Invented(chat, files, {})}, tmp_path) == []
