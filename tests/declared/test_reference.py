"""The reference of ``corpus.toml`` and its JSON Schema are as the code that reads it, and their examples are read."""

import json
import tomllib
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from docs.corpus_toml import EXAMPLES, REFUSED, corpus_toml_page, example_of, examples, refusal
from talkhouse.ingest.declared.declaration import read_declaration
from talkhouse.ingest.declared.declaration.keys import FORMS, json_schema, known_tables, schema_text
from talkhouse.ingest.declared.declaration.toml_text import toml_text
from talkhouse.schema.errors import RegistryError
from tests.declared.test_declaration import MISTAKES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SCHEMA = jsonschema.Draft7Validator(json_schema())
OLDER = jsonschema.Draft4Validator(json_schema())
"""What Taplo promises to understand."""
KEYS = [(name, key) for name, table in known_tables().items() for key in table.keys]


def is_read(document: dict[str, Any]) -> bool:
    try:
        read_declaration("talks", toml_text(document), "talks/corpus.toml")
    except RegistryError:
        return False
    return True


@pytest.mark.parametrize(
    ("name", "written"), [("corpus-toml.md", corpus_toml_page), ("corpus.schema.json", schema_text)]
)
def test_the_reference_is_as_the_code_that_reads(name: str, written: Any, regen: bool) -> None:
    if regen:
        (DOCS / name).write_text(written(), encoding="utf-8")
    assert (DOCS / name).read_text(encoding="utf-8") == written()


def test_every_key_of_every_format_is_in_the_reference() -> None:
    for name in ("dialogue", "turn", "pair", "preference"):
        assert {key for form in FORMS.values() for key in form.fields.get(name, ())} == known_tables()[name].keys.keys()
    for name, key in KEYS:
        assert example_of(name, key) is not None


def test_the_examples_of_the_reference_are_read_or_refused_as_it_says() -> None:
    for text in examples():
        read_declaration("talks", text, "talks/corpus.toml")
        SCHEMA.validate(tomllib.loads(text))
        OLDER.validate(tomllib.loads(text))
    for text in REFUSED:
        assert f"```toml\n{text}```\n\n```text\n{refusal(text)}```\n" in corpus_toml_page()


NUMBERS = ("limit", "width", "height")
FLAGS = {name for table in known_tables().values() for name, key in table.keys.items() if key.type == "flag"}
OTHERS = (3, True, "", [], ["", 1], {"x": 1.5}, "no such word ][")


@pytest.mark.slow
def test_what_the_schema_refuses_is_refused() -> None:
    for (table, key), value in product(KEYS, OTHERS):
        document, fields = next(having(table, key))
        if fields[key] == value:
            continue
        fields[key] = value
        if not SCHEMA.is_valid(document):
            assert not is_read(document), (table, key, value)
        else:
            is_flag = key in FLAGS and isinstance(value, bool)
            is_number = key in NUMBERS and type(value) is int
            assert is_flag or is_number or not isinstance(value, int), (
                f"the schema takes {value} for {key} in [{table}]"
            )


def having(table: str, key: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield each example that has a key, and the table of it that has it."""
    for document in map(tomllib.loads, examples(table)):
        of_table: Any = document.get(table, {}) if table else document
        for fields in of_table if isinstance(of_table, list) else [of_table]:
            if key in fields:
                yield document, fields


@pytest.mark.slow
def test_the_schema_takes_what_is_read() -> None:
    found = [*DOCS.rglob("*.md"), *(ROOT / "tests" / "declared" / "kit").rglob("corpus.toml")]
    texts = [path.read_text(encoding="utf-8") for path in found if path.suffix == ".toml"]
    for page in (path for path in found if path.suffix == ".md"):
        texts += [block.partition("```")[0] for block in page.read_text(encoding="utf-8").split("```toml\n")[1:]]
    declared = [document for document in map(_parsed, texts) if document.keys() >= {"title", "format"}]
    assert len(declared) >= len(EXAMPLES) + len(FORMS)
    for document in declared:
        if is_read(document):
            SCHEMA.validate(document)


def _parsed(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}


def test_the_schema_names_mistakes_in_types_words_and_formats() -> None:
    named = [text for text, _, _ in MISTAKES if (document := _parsed(text)) and not SCHEMA.is_valid(document)]
    assert len(named) > 45, len(named)
    for text in (
        'title = "x"\nformat = "chat"\n[pair]\nprompt = "a"\n',
        'title = "x"\nformat = "tree"\n[turn]\norder = "n"\n',
    ):
        assert not SCHEMA.is_valid(tomllib.loads(text))
    for text in (
        "licens = 'a'",
        "licence = 1",
        "[dialogue]\nids = 'a'",
        "[[files]]\nholds = 'dialogs'",
        "homepage = 'here'",
    ):
        assert not OLDER.is_valid(tomllib.loads(f'title = "x"\nformat = "chat"\n{text}')), text
    assert json.loads(schema_text()) == json_schema()
