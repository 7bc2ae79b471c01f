"""What is written as TOML reads as the same again."""

import tomllib

from hypothesis import given, settings
from hypothesis import strategies as st

from talkhouse.ingest.declared.declaration.toml_text import toml_key, toml_string, toml_text

TEXTS = st.text(max_size=30)
SCALARS = TEXTS | st.integers(-(2**63), 2**63 - 1) | st.booleans() | st.floats(allow_nan=False)
VALUES = SCALARS | st.lists(SCALARS, max_size=3) | st.dictionaries(TEXTS, SCALARS, max_size=3)
TABLES = st.dictionaries(TEXTS, VALUES, max_size=3)


@settings(max_examples=60)
@given(TEXTS, TEXTS)
def test_any_text_reads_as_the_same_again(key: str, text: str) -> None:
    written = f"{toml_key(key)} = {toml_string(text)}"
    assert tomllib.loads(written) == {key: text}
    assert written.isprintable()


@settings(max_examples=40)
@given(st.dictionaries(TEXTS, VALUES | TABLES | st.lists(TABLES, min_size=1, max_size=3), max_size=5))
def test_a_document_reads_as_the_same_again(document: dict[str, object]) -> None:
    assert tomllib.loads(toml_text(document)) == document


def test_a_document_is_laid_out_as_a_person_would() -> None:
    document = {
        "title": 'The "quiet" hours',
        "languages": ["en", "ja"],
        "files": [{"path": "a.csv"}, {"path": "b.csv", "split": "test"}],
        "markers": {"\n\nGuest: ": "user"},
        "annotations": [{"scheme": "mood", "labels": {"calm": "Calm."}}],
    }
    assert toml_text(document) == (
        'title = "The \\"quiet\\" hours"\nlanguages = ["en", "ja"]\n\n'
        '[[files]]\npath = "a.csv"\n\n[[files]]\npath = "b.csv"\nsplit = "test"\n\n'
        '[markers]\n"\\n\\nGuest: " = "user"\n\n'
        '[[annotations]]\nscheme = "mood"\nlabels = { calm = "Calm." }\n'
    )
