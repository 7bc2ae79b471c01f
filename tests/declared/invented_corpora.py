"""Invented corpora of every format, their files of odd records, and builds of them."""

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import duckdb
from hypothesis import strategies as st

from talkhouse.ingest.files.limits import DEFAULT
from talkhouse.ingest.progress import Silent
from talkhouse.ingest.registry import all_corpora
from talkhouse.load.request import QuarantineLimit
from talkhouse.load.run import build
from talkhouse.restore.output_paths import files_built_from
from talkhouse.restore.verify import Verdict, verify
from talkhouse.schema import warehouse
from talkhouse.warehouse.readers import kept_declarations, reader_of
from tests.declared.records import ANY, LETTERS, NUMBERS, TEXTS, lists, objects, with_others

Texts = st.SearchStrategy[str]

HEAD = 'title = "Invented"\nlicence = "CC0-1.0"\ncitation = "Nobody"\n'

_ID = st.sampled_from(['"a"', '"a"', '"b"', '"é/ ~x"', '""', "7", "1.50"])
_ROLE = st.sampled_from(['"user"', '"assistant"', '"system"', '"guest"', '"chef"', '""'])
_TEXT = st.sampled_from(['"Hi"', '"Hi"', '"\\u00e9 😀"', '"a\\nb"', '""']) | TEXTS
_SCALAR = _TEXT | NUMBERS | st.sampled_from(["null", "true"])
_TIME = st.sampled_from(['"2024-03-01T10:00:00Z"', '"2024-03-01 10:00"', '"noon"', "1700000000", "null"])
_LABEL = st.sampled_from(['"yes"', '"no"', '""', "null", "1.0", "true"])
_SPLIT = st.sampled_from(['"train"', '"dev"', '"fold 3"', '""', "3", "null"])
_ABOUT = {"title": _SCALAR, "domain": _SCALAR, "lang": _SCALAR, "at": _TIME, "fold": _SPLIT, "good": _LABEL}
"""Members that ``_DIALOGUE`` maps."""

_DIALOGUE = '[dialogue]\nid = "id"\ntitle = "title"\ndomain = "domain"\nlanguage = "lang"\nsplit = "fold"\n'
_GOOD = '[[annotations]]\nscheme = "good"\non = "dialogue"\nlabel = "good"\n'
_FILES = '[[files]]\npath = "**"\n'


def _doc(format_: str, of_dialogue: str = "", rest: str = "") -> str:
    return f'{HEAD}format = "{format_}"\n{_FILES}{_DIALOGUE}started_at = "at"\n{of_dialogue}{rest}{_GOOD}'


_CALL = with_others({"function": with_others({}, {"name": _SCALAR, "arguments": ANY}), "type": _TEXT}, {"id": _SCALAR})
_PART = with_others(
    {"type": st.sampled_from(['"text"', '"image_url"', '"file"', '"refusal"', '"odd"'])},
    {"text": _SCALAR, "image_url": objects(st.fixed_dictionaries({"url": _TEXT})), "refusal": _SCALAR},
)
_MESSAGE = with_others(
    {"role": _ROLE, "content": _TEXT},
    {"name": _TEXT, "mood": _LABEL, "time": _TIME, "tool_calls": lists(_CALL) | _SCALAR}
    | dict.fromkeys(("id", "reasoning_content", "tool_call_id", "refusal"), _SCALAR),
) | with_others({"role": _ROLE, "content": lists(_PART) | st.just("null")}, {"weight": NUMBERS})
_WHO = with_others({}, {"id": _SCALAR, "name": _SCALAR, "bot": st.sampled_from(["true", "false", "null", "1"])})
_SAID = with_others(
    {"text": _TEXT, "role": _ROLE},
    {"who": _WHO, "time": _TIME, "spans": lists(with_others({}, {"l": _LABEL, "s": _SCALAR, "e": _SCALAR}))}
    | dict.fromkeys(("id", "to", "kind", "from", "till"), _SCALAR),
)
_NODE = st.deferred(lambda: _REPLY)
_REPLY = with_others(
    {"message_id": _ID, "text": _TEXT, "role": _ROLE},
    {"user": _SCALAR, "time": _TIME, "parent_id": _ID}
    | {"rank": NUMBERS, "replies": lists(_NODE, most=2) | st.just("null")},
)
_ANSWER = (
    _TEXT
    | with_others({"role": _ROLE, "content": _TEXT}, {})
    | lists(with_others({"role": _ROLE, "content": _TEXT}, {}))
)
_FROM = st.sampled_from(['"human"', '"gpt"', '"chatgpt"', '"observation"'])
_MARKED = st.lists(st.sampled_from(["H:", "A:", "AA:", "\n", "H", "hm ", "é😀"]), max_size=6).map(
    lambda words: json.dumps("H:" + "".join(words))
)

_MOOD = '[[annotations]]\nscheme = "mood"\non = "turn"\nlabel = "mood"\n'
_PEOPLE = '[speaker]\nscope = "corpus"\nname = "who.name"\nis_bot = "who.bot"\n'
_TURN = (
    '[turn]\nid = "id"\ntext = "text"\nrole = "role"\nspeaker = "who.id"\nsaid_at = "time"\nreply_to = "to"\n'
    'kind = "kind"\nstart_ms = "from"\nend_ms = "till"\n'
)
_SPANS = '[[annotations]]\nscheme = "span"\non = "turn"\neach = "spans[*]"\nlabel = "l"\nstart = "s"\nend = "e"\n'

DOCUMENTS: dict[str, tuple[str, Texts]] = {
    "chat": (
        _doc("chat", rest='[turn]\nid = "id"\nsaid_at = "time"\n[roles]\nguest = "user"\n' + _MOOD),
        with_others({"id": _ID, "messages": lists(_MESSAGE)}, _ABOUT),
    ),
    "sharegpt": (
        _doc("sharegpt", 'system = "system"\n'),
        with_others(
            {"id": _ID, "conversations": lists(with_others({"from": _FROM, "value": _TEXT}, {}))},
            {"system": _TEXT | st.just("null"), **_ABOUT},
        ),
    ),
    "pairs": (
        _doc(
            "pairs",
            rest='[pair]\nsystem = "system"\nhistory = "history"\nprompt = "q"\nquery = "more"\nresponse = "a"\n',
        ),
        with_others(
            {"id": _ID, "q": _TEXT, "a": _TEXT},
            {"more": _SCALAR, "system": _SCALAR, "history": lists(lists(_TEXT, most=2)) | st.just("null"), **_ABOUT},
        ),
    ),
    "preference": (
        _doc("preference", rest='[roles]\nguest = "user"\n'),
        with_others({"id": _ID, "chosen": _ANSWER, "rejected": _ANSWER}, {"prompt": _ANSWER, **_ABOUT}),
    ),
    "transcript": (
        _doc("transcript", rest='[markers]\n"H:" = "user"\n"A:" = "assistant"\n"AA:" = "assistant"\n'),
        with_others({"id": _ID, "text": _MARKED}, _ABOUT),
    ),
    "tree": (
        _doc(
            "tree",
            rest='[turn]\nspeaker = "user"\nsaid_at = "time"\n[roles]\nguest = "user"\n'
            '[[annotations]]\nscheme = "rank"\non = "turn"\nvalue = "rank"\n',
        ),
        with_others({"id": _ID, "prompt": _REPLY}, _ABOUT),
    ),
    "dialogue": (
        _doc("dialogue", 'turns = "d.turns"\n', _TURN + _PEOPLE + '[roles]\nguest = "user"\n' + _SPANS),
        with_others({"id": _ID, "d": with_others({"turns": lists(_SAID)}, {})}, _ABOUT),
    ),
}
"""Format -> its declaration, and the records of its files."""

TURNS = (
    f'{HEAD}format = "turns"\n{_FILES}{_DIALOGUE}'
    + _TURN.replace('"id"', '"u"').replace("who.id", "who")
    + '[speaker]\nname = "name"\n[roles]\nguest = "user"\n'
    '[[annotations]]\nscheme = "mood"\non = "turn"\ncolumns = ["m1", "m2"]\nmissingValues = ["", "NA"]\n'
)
_CELLS = ("title", "domain", "lang", "u", "who", "to", "kind", "from", "till", "name")
_ROW = {"id": _ID, "text": _TEXT, "fold": _SPLIT, "role": _ROLE | st.just("null"), "time": _TIME}
_ROW |= dict.fromkeys(_CELLS, _SCALAR) | {"m1": _LABEL, "m2": _LABEL}
ROW = with_others(_ROW, {})
CONVOKIT = f'{HEAD}format = "convokit"\n' + '[[annotations]]\nscheme = "won"\non = "dialogue"\nlabel = "meta.won"\n'


@dataclass(frozen=True)
class Invented:
    declaration: str
    files: dict[str, bytes]
    usual: dict[str, bytes]
    """A file without anything odd: of a corpus of which nothing can be loaded, a build stops."""


@st.composite
def documents(draw: st.DrawFn, format_: str) -> Invented:
    """Invent files of records in every form."""
    declaration, record = DOCUMENTS[format_]
    return Invented(declaration, draw(record_files(record | ANY if draw(st.booleans()) else record)), _usual(format_))


@st.composite
def record_files(draw: st.DrawFn, record: Texts) -> dict[str, bytes]:
    """Invent files of records: lines, a list, .gz of both; with or without a byte order mark and a last newline."""
    files = {}
    for name in draw(
        st.lists(
            st.sampled_from(["a.jsonl", "b.json", "c/a.jsonl.gz", "d.ndjson", "e.json.gz"]), min_size=1, unique=True
        )
    ):
        records = draw(st.lists(record, min_size=1, max_size=6))
        if ".json." in name or name.endswith(".json"):
            text = "[" + draw(st.sampled_from([",", ",\n ", " , "])).join(records) + "]"
        else:
            end = draw(st.sampled_from(["\n", "\r\n", "\n\n"]))
            text = end.join(records) + draw(st.sampled_from(["", end]))
        raw = draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"])) + text.encode()
        files[name] = gzip.compress(raw) if name.endswith(".gz") else raw
    return files


@st.composite
def rows(draw: st.DrawFn) -> Invented:
    """Invent files of rows: JSON Lines, a list, and CSV."""
    files = draw(record_files(ROW))
    if draw(st.booleans()):
        files["t.csv"] = draw(csv_of())
    return Invented(TURNS, files, {"usual.json": json.dumps([dict.fromkeys(_ROW, "1")]).encode()})


_CELL = st.sampled_from(
    ["a", "b", "007", "", "NA", '"q, é"', '"x\ny"', "😀", 'he "x"', '"a""b"', "user", "2024-03-01T10:00:00", "1", "-0"]
)


@st.composite
def csv_of(draw: st.DrawFn) -> bytes:
    columns = draw(st.permutations([*_ROW, "shape", "lines", "cells"]))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    cells = draw(st.lists(st.lists(_CELL, min_size=len(columns), max_size=len(columns)), max_size=6))
    return (end.join(",".join(row) for row in [columns, *cells]) + draw(st.sampled_from(["", end]))).encode()


@st.composite
def convokit(draw: st.DrawFn) -> Invented:
    line = with_others(
        {"id": _ID, "conversation_id": _ID, "text": _TEXT, "speaker": st.sampled_from(['"ann"', '"bo"', '""', "7"])},
        {"reply-to": _ID | st.just("null"), "timestamp": _TIME, "meta": ANY, "vectors": ANY},
    )
    member = with_others({}, {"meta": with_others({}, {"won": _LABEL}) | ANY, "vectors": ANY})
    names = st.sampled_from(["a", "b", "é/ ~x", "", "7", "ann", "gone"])
    whole = st.dictionaries(names, member, max_size=4).map(
        lambda members: "{" + ", ".join(f"{json.dumps(name)}: {text}" for name, text in members.items()) + "}"
    )
    files = {
        "utterances.jsonl": "\n".join(draw(st.lists(line, min_size=1, max_size=8))),
        "speakers.json": draw(whole),
        "conversations.json": draw(whole),
        "corpus.json": draw(objects(st.dictionaries(LETTERS, ANY, max_size=3))),
        "index.json": "{}",
    }
    return Invented(CONVOKIT, {name: text.encode() for name, text in files.items()}, {})


FORMATS = (*DOCUMENTS, "turns", "convokit")


def corpus(format_: str) -> st.SearchStrategy[Invented]:
    if format_ == "turns":
        return rows()
    return convokit() if format_ == "convokit" else documents(format_)


_SAID_USUALLY = {"role": "user", "content": "Hi", "from": "human", "value": "Hi", "text": "Hi", "message_id": "1"}
_USUAL = dict.fromkeys(("q", "a", "chosen"), "Hi") | {"id": "usual", "rejected": "Ho", "text": "H: Hi"}
_USUAL |= {"messages": [_SAID_USUALLY], "conversations": [_SAID_USUALLY], "prompt": _SAID_USUALLY}
_USUAL |= {"d": {"turns": [{"role": "user", "text": "Hi", "who": {"id": "ann"}}]}}


def _usual(format_: str) -> dict[str, bytes]:
    """Write a file of one record that has what every format needs."""
    return {"usual.jsonl": json.dumps(_USUAL if format_ != "preference" else {**_USUAL, "prompt": "Hi"}).encode()}


def laid_out(corpora: Mapping[str, Invented], data: Path) -> None:
    """Write corpora as a data folder."""
    for corpus_id, corpus in corpora.items():
        files = {"corpus.toml": corpus.declaration.encode(), **corpus.usual, **corpus.files}
        for name, raw in files.items():
            path = data / corpus_id / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(raw)


def problems_of(corpora: Mapping[str, Invented], folder: Path) -> list[str]:
    """Build corpora in a folder, and list what is not restored, not counted, or wrong by a check."""
    laid_out(corpora, folder / "data")
    path = folder / "w.duckdb"
    build(path, Silent(), data=folder / "data", limit=QuarantineLimit("100%"))
    with warehouse.connect(path) as con:
        return [*_counts(con), *not_restored(con, list(corpora))]


def not_restored(con: duckdb.DuckDBPyConnection, corpora: list[str]) -> Iterator[str]:
    """List the files that ``verify`` doesn't find equal."""
    for corpus_id in corpora:
        verdicts = verdicts_of(con, corpus_id)
        yield from (str(verdict) for verdict in verdicts if verdict.status not in ("equal", "not data"))


def verdicts_of(con: duckdb.DuckDBPyConnection, corpus_id: str) -> list[Verdict]:
    known = all_corpora().with_origins(kept_declarations(con))
    return list(verify(con, reader_of(con, known, corpus_id), files_built_from(con, known, corpus_id, DEFAULT)))


def _counts(con: duckdb.DuckDBPyConnection) -> Iterator[str]:
    """List files of which a record is neither loaded nor in quarantine, and checks that fail."""
    uncounted = "records_in is distinct from records_loaded + records_quarantined"
    rows = con.execute(f"select source_file_id, records_in from meta.source_files where {uncounted}").fetchall()
    yield from (f"not counted: {row}" for row in rows)
    failed = con.execute("select check_name from meta.checks where severity = 'error' and offending > 0").fetchall()
    yield from (f"check: {name}" for (name,) in failed)
