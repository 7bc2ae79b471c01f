"""Unusual texts, numbers and JSON for property tests, and comparisons that forgive nothing but blanks and escapes."""

import dataclasses
import json
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
from hypothesis import strategies as st

import talkhouse
from talkhouse.ingest import json_members
from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.progress import Silent
from talkhouse.ingest.stored_record import StoredRecord
from talkhouse.load.request import QuarantineLimit
from talkhouse.load.run import build
from talkhouse.restore.write_back import write_back

BOM = b"\xef\xbb\xbf"

# All planes: private use, noncharacters and unassigned code points too; only halves of surrogate pairs are no text.
_CHARACTERS = st.characters(exclude_categories=["Cs"])
_ODD = st.sampled_from(
    [
        *map(chr, range(0x20)),
        *"\x7f\x85\u2028\u2029\ufeff\ufffe\uffff\U0010ffff\ue000\U000f0000\u0301\u202e\u2066\u200f\u200b\u3000\xa0",
        *"\"'\\| /~#%:A{}[],",
        *("e\u0301", "\U0001f468\u200d\U0001f469", "||", "\r\n", "  ", "~1", r"\u0041", r"\ud800", r"\n"),
        *("null", "NaN", "1.0", "__PIPE__", "your persona: "),
    ]
)
_LONG = st.sampled_from(["x", "\\", '"', "\x00", "\u2028", "\U0001f600", "' ", "|"]).map(lambda some: some * 100_000)
_ANY = st.text(_CHARACTERS, max_size=8)
TEXT = st.integers(0, 99).flatmap(
    lambda kind: _LONG if kind == 37 else st.lists(_ODD, max_size=4).map("".join) if kind % 2 else _ANY
)
KEY = st.lists(_ODD, max_size=3).map("".join) | _ANY
"""Texts of every kind, a hundredth of them of 100,000 characters or more; keys are short."""


ODD_TEXTS = (
    *("", "   ", "\ufeffmark", "a\x00b", "\x7f\x80\x85\x9f\u2028\u2029\x1c\x1d\x1e\x0b\x0c", "x" * 100_000),
    *(
        "e\u0301 \u202eabc\u202c \u200d\u200b",
        "\ufdd0\uffff\U0001fffe\U0010ffff",
        "\ue000\U000f0000\U00020000\U0001f600",
    ),
)
"""Texts with characters that a reader or writer may drop; none has a tab or a line feed."""


def literal(text: str) -> str:
    """Write a text that ``json_text`` writes as this number, digit by digit."""
    return f"<number {text}>"


_BIG = ("9223372036854775808", "18446744073709551616", "-18446744073709551617", "1" * 60)
WHOLE = st.sampled_from(["0", "1", "-1", "7", "-0", *_BIG]).map(literal)
_FRACTIONS = (
    *("-0.0", "1.0", "1e3", "1E+3", "1e-400", "1e22", "12345.5"),
    *("0.1000000000000000055", "1234567890123456789.5"),
)
NUMBER = WHOLE | st.sampled_from(_FRACTIONS).map(literal)
"""Numbers as literals: beyond 64 bits, and of more digits than a double has."""

HUGE = st.sampled_from(["1e400", "-1e400", "1" * 400]).map(literal)
"""Numbers that are greater than any double; they can stand where nothing reads them."""


def values(leaf: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.recursive(
        leaf, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEY, inner, max_size=3), max_leaves=4
    )


JSON = values(st.none() | st.booleans() | TEXT | NUMBER | HUGE)
UNKNOWN = st.dictionaries(KEY.map(lambda key: f"{key} new"), JSON, max_size=2)
"""Fields that no documentation names."""

STYLES = st.sampled_from(["ascii", "plain", "compact", "indented", "escaped"])


def json_text(value: Any, style: str) -> bytes:
    options: dict[str, dict[str, Any]] = {"compact": {"separators": (",", ":")}, "indented": {"indent": "\t"}}
    text = json.dumps(value, ensure_ascii=style in ("ascii", "escaped"), **options.get(style, {}))
    if style == "escaped":
        text = text.replace("/", r"\/").replace("A", r"\u0041")
    return re.sub(r'"<number ([^>]*)>"', r"\1", text).encode()


def parsed(raw: bytes) -> str:
    """Show a JSON text with every value and key in order: 1, 1.0, -0.0 and keys that stand twice stay apart."""
    return repr(json.loads(raw.decode(errors="surrogateescape"), object_pairs_hook=lambda pairs: ("object", pairs)))


DEFECTS = (
    *(b'"x": NaN', b'"x": -Infinity', b'"x": 1, "x": 2', b'"x": 01', b'"x" 1', b'"x": [1 2]', b'"x": tru'),
    *(rb'"x": "\ud800"', rb'"\udfff": 1', b'"x": "\xff"', b'"\xed\xa0\x80": 1', b'"x": "\x01"'),
    *(b'"messages": null', b'"id": 1', b'"text": 3', b'"dialog": "?"', b'"x": ' + b"[" * 3_000 + b"]" * 3_000),
)
"""What makes an object another one, or none at all, when it stands among its members."""


@st.composite
def damaged(draw: st.DrawFn, raw: bytes) -> bytes:
    """Put a defect behind one of the opening braces of a JSON text."""
    braces = [match.end() for match in re.finditer(rb"\{", raw)]
    at, defect = draw(st.sampled_from(braces)), draw(st.sampled_from(DEFECTS))
    return raw[:at] + defect + b", " + raw[at:]


def laid_out(folder: Path, corpus: Corpus, texts: dict[str, bytes], inside: str = "") -> Path:
    for name, text in texts.items():
        path = folder / "data" / corpus.id / inside / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    return folder / "data"


def built(folder: Path, corpus: Corpus, texts: dict[str, bytes], inside: str = "", form: str | None = None) -> Path:
    """Build a warehouse of files, or of an archive of them, whatever of them is refused; return its path."""
    data = laid_out(folder, corpus, texts, inside)
    if form:
        raw = data / corpus.id / inside
        shutil.make_archive(str(raw), form, raw)
        shutil.rmtree(raw)
    build(folder / "w.duckdb", Silent(), data=data, limit=QuarantineLimit("100%"))
    return folder / "w.duckdb"


def files_back(
    folder: Path, corpus: Corpus, texts: dict[str, bytes], inside: str, form: str | None = None
) -> dict[str, bytes]:
    """Build files that are a record each, and restore them; each record alone is written as its whole file is."""
    out = folder / "out"
    for record in restored(corpus, built(folder, corpus, texts, inside, form), out).values():
        assert (out / record.path).read_bytes() == record.raw
    return files_in(out / inside)


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class Written(NamedTuple):
    """A loaded record: the file, its pointer there, and what ``write_record`` makes of its rows."""

    path: str
    pointer: str
    raw: bytes


def restored(corpus: Corpus, warehouse: Path, folder: Path) -> dict[str, Written]:
    """Restore a corpus into a folder; returns every loaded record by its id."""
    write_record = corpus.write_record
    assert write_record is not None
    found: dict[str, Written] = {}

    def noted(records: Iterable[StoredRecord]) -> Iterator[StoredRecord]:
        for record in records:
            if record.record is not None:
                raw = (b"" if record.pointer else record.bom) + write_record(record)
                found[record.record.record_id] = Written(record.path, record.pointer, raw)
            yield record

    with talkhouse.open(warehouse) as con:
        write_back(con, dataclasses.replace(corpus, write=lambda records: corpus.write(noted(records))), folder)
    return found


def at(raw: bytes, pointer: str) -> bytes:
    for token in pointer.split("/")[1:]:
        raw = bytes(dict(json_members.views(raw))[token.replace("~1", "/").replace("~0", "~")])
    return raw


def assert_comes_back(con: duckdb.DuckDBPyConnection, corpus: Corpus, texts: Mapping[str, bytes], folder: Path) -> None:
    """Restore a corpus into a folder, and compare files with what was published."""
    write_back(con, corpus, folder)
    for name, text in texts.items():
        assert_same(text, (folder / name).read_bytes())


def assert_same(came: bytes, went: bytes) -> None:
    """Compare two files: by value, or member by member where something is no JSON and has to be the same text."""
    if came == went:
        return
    assert went.startswith(BOM) == came.startswith(BOM)
    came, went = came.removeprefix(BOM), went.removeprefix(BOM)
    try:
        assert parsed(went) == parsed(came)
    except (ValueError, RecursionError):
        mine, expected = list(json_members.views(went)), list(json_members.views(came))
        assert [token for token, _ in mine] == [token for token, _ in expected]
        for (_, view), (_, other) in zip(mine, expected, strict=True):
            assert_same(bytes(other), bytes(view))
