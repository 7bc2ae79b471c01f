"""Odd corpora of every format through a whole build: each file is restored equal, and each record is counted."""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import ONCE_BROKEN, invented_builds
from tests.declared.invented_corpora import DOCUMENTS, FORMATS, HEAD, TURNS, Invented, corpus, problems_of

pytestmark = pytest.mark.slow


def invented(of: Callable[[str], st.SearchStrategy[Invented]]) -> dict[str, Invented]:
    """Invent some corpora of every format, to be built together."""
    corpora: dict[str, Invented] = {}
    for format_ in FORMATS:

        @invented_builds(3, ONCE_BROKEN)
        @given(of(format_), st.just(format_))
        def keep(example: Invented, name: str) -> None:
            corpora[f"any_{name}_{len(corpora)}"] = example

        keep()
    return corpora


@pytest.mark.long
def test_any_corpus_is_restored(tmp_path: Path) -> None:
    assert problems_of(invented(corpus), tmp_path) == []


@pytest.mark.long
def test_with_one_mutation_a_record_is_named_or_loads(tmp_path: Path) -> None:
    def spoilt(format_: str) -> st.SearchStrategy[Invented]:
        return st.builds(with_one_mutation, corpus(format_), st.randoms(use_true_random=False))

    assert problems_of(invented(spoilt), tmp_path) == []


def with_one_mutation(invented: Invented, random_: random.Random) -> Invented:
    name = random_.choice(sorted(invented.files))
    return replace(invented, files={**invented.files, name: mutated(invented.files[name], random_)})


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


def test_corpora_that_were_not_restored_once_are(tmp_path: Path) -> None:
    chat = f'{HEAD}format = "chat"\n[[files]]\npath = "**"\n'
    record = '{"id": "a", "messages": [], "lang": %s}'
    in_languages = "\n".join(record % lang for lang in ('""', "null", '"en"'))
    in_parts = b'{"id": "a", "messages": [{"role": "user", "content": [{"text": "Hi", "type": "text"}]}]}'
    header = "id,title,domain,lang,fold,u,text,role,who,time,to,kind,from,till,name"
    rows = f"{header}\na,,,,,1,x,user,ann,,,,,,Ann\na,,,,,2,x,user,ann,,,,,,\n"
    files = {
        "a_language_of_no_letters": {"a.jsonl": in_languages.encode(), "b.jsonl": (record % "null").encode()},
        "a_file_that_only_repeats_parts": {"a.jsonl": in_parts, "b.jsonl": in_parts},
        "a_name_that_is_left_out_later": {"a.csv": rows.encode()},
        "files_without_records": {"a.jsonl": b"", "b.json": b"[]", "c.jsonl": b"\n\n", "d.jsonl": b'{"messages": []}'},
    }
    pages = (DOCUMENTS["chat"][0], DOCUMENTS["chat"][0], TURNS.partition("[[annotations]]")[0], chat)
    corpora = {name: Invented(page, files[name], {}) for name, page in zip(files, pages, strict=True)}
    assert problems_of(corpora, tmp_path) == []
