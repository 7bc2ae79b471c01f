"""TOML as text: the line of every key, however the text is laid out; and what is written reads as the same again."""

import tomllib
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from talkhouse.ingest.declared.declaration.toml_text import KeyPath, TooDeep, lines_of, toml_key, toml_string, toml_text

KEYS = st.sampled_from(["a", "b", "a.b", "c d", "", "#", "[x]", "=", "1", "ä", '"', "'", "\\", "\n", "true"])
BREAKS = st.sampled_from([" ", "\n", "\n  # a = 1 ]\n", "\n\n"])
SCALARS = st.sampled_from(
    [
        *("1", "-1.5", "true", "2026-01-02 10:00:00", "1979-05-27T07:32:00Z", "inf"),
        *('""', "''", '"a = 1 # ["', "'\"]'", '"\\"]"', '"""\n[x]\na = 1\n"""', "'''\n\\'''", '""""a" ""\\""""""'),
    ]
)


class Layout:
    """Writes a TOML text as draws say, and notes where each key is put."""

    def __init__(self, draw: Callable[..., Any]) -> None:
        self.draw, self.text = draw, ""
        self.lines: dict[KeyPath, int] = {}

    def _note(self, path: KeyPath) -> None:
        self.lines[path] = self.text.count("\n") + 1

    def _key(self, name: str) -> str:
        literal = "'" not in name and "\n" not in name and self.draw(st.booleans())
        return f"'{name}'" if literal else self.draw(st.sampled_from([toml_key(name), toml_string(name)]))

    def _keys(self) -> list[str]:
        return self.draw(st.lists(KEYS, max_size=3, unique=True))

    def _gap(self) -> None:
        self.text += self.draw(st.sampled_from(["", "\n", "# [x]\n", "  \t", "\r\n"]))

    def _statements(self, path: KeyPath) -> None:
        for name in self._keys():
            self._gap()
            dotted = [name, *self.draw(st.lists(KEYS, max_size=2))]
            for depth in range(1, len(dotted) + 1):
                self._note((*path, *dotted[:depth]))
            self.text += self.draw(st.sampled_from([".", " . "])).join(self._key(part) for part in dotted) + " ="
            self._value((*path, *dotted), 0)
            self.text += self.draw(st.sampled_from(["\n", "\r\n", " # a = [\n"]))

    def _value(self, path: KeyPath, depth: int) -> None:
        kind = self.draw(st.sampled_from(["scalar", "list", "table"] if depth < 2 else ["scalar"]))
        if kind == "scalar":
            self.text += self.draw(SCALARS)
        elif kind == "list":
            self.text += "["
            for index in range(self.draw(st.integers(0, 3))):
                self.text += self.draw(BREAKS)
                self._note((*path, index))
                self._value((*path, index), depth + 1)
                self.text += self.draw(BREAKS) + ","
            self.text += "]"
        else:
            self.text += "{"
            for index, name in enumerate(self._keys()):
                self.text += ", " if index else " "
                self._note((*path, name))
                self.text += self._key(name) + " = "
                self._value((*path, name), depth + 1)
            self.text += "}"

    def write(self) -> None:
        """Write a document."""
        self._statements(())
        for name in self.draw(st.lists(st.sampled_from(["t1", "t 2", "t.3"]), max_size=3, unique=True)):
            if self.draw(st.booleans()):
                self._header((name,), "[", "]")
            else:
                for index in range(self.draw(st.integers(1, 3))):
                    self._header((name, index), "[[", "]]")
                    if self.draw(st.booleans()):
                        self._header((name, index, "only"), "[", "]")

    def _header(self, path: KeyPath, opening: str, closing: str) -> None:
        self._gap()
        self.lines.setdefault(path[:1], self.text.count("\n") + 1)
        self._note(path)
        names = [part for part in path if isinstance(part, str)]
        self.text += opening + " . ".join(self._key(name) for name in names) + closing + " # x\n"
        self._statements(path)


def paths_of(value: object, path: KeyPath = ()) -> Iterator[KeyPath]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield (*path, key)
        yield from paths_of(item, (*path, key))


@settings(max_examples=15)
@given(st.data())
def test_every_key_has_its_line(data: st.DataObject) -> None:
    layout = Layout(data.draw)
    layout.write()
    assert lines_of(layout.text) == {path: layout.lines[path] for path in paths_of(tomllib.loads(layout.text))}


@settings(max_examples=60)
@given(st.text(alphabet="ab.=[]{}\"'\\,# \n", max_size=40))
def test_what_is_no_toml_does_not_stop_it(text: str) -> None:
    try:
        lines = lines_of(text)
        values = tomllib.loads(text)
    except (TooDeep, tomllib.TOMLDecodeError):
        return
    assert set(lines) == set(paths_of(values))


@pytest.mark.parametrize("piece", ["a.", "a={", "a=[", "[", "[a.", '"a".', "'''", '"""', "[[a]]\n", "a=1\n", "\\"])
def test_malice_takes_time_in_proportion(piece: str) -> None:
    text = piece * (20_000 // len(piece))
    with suppress(TooDeep):
        assert len(lines_of(text)) <= len(text)


TEXTS = st.text(max_size=30)
PLAIN = TEXTS | st.integers(-(2**63), 2**63 - 1) | st.booleans() | st.floats(allow_nan=False)
VALUES = PLAIN | st.lists(PLAIN, max_size=3) | st.dictionaries(TEXTS, PLAIN, max_size=3)
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
