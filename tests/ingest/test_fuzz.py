"""Readers and splitters against any bytes: the outcome is records or findings, and the work grows with the bytes.

The damaged files are the samples, with a piece that is cut out, put in, doubled, moved or flipped. What a run finds
becomes an example of its own in ``tests/corpora`` or below.
"""

import gzip
import json
import re
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import py7zr
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from talkhouse.ingest import decode, json_members
from talkhouse.ingest.contract.validation import Validator
from talkhouse.ingest.corpora.blended_skill_talk.format import MODELS
from talkhouse.ingest.corpora.mantis import intent_table, tsv
from talkhouse.ingest.corpora.mantis.tsv import cells
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.files.archives import is_archive
from talkhouse.ingest.files.disk_files import disk_files
from talkhouse.ingest.files.limits import DEFAULT, Limits
from talkhouse.ingest.outcomes import FileEnvelope, Loaded, LoadedBatch, Outcome, ReaderFinding, Rejected, Unrecognised
from talkhouse.ingest.registry import corpora, rules_of, sample_of
from talkhouse.ingest.sources import opened
from talkhouse.schema.errors import SourceError
from tests.archives import seven_zipped, tarred, zipped
from tests.conftest import ONCE_BROKEN, invented_examples

CORPORA = corpora()

PIECES = [b'"', b"'", b"\t", b"\n", b"\r\n", b"\\", b"[", b"]", b"{", b"}", b",", b":", b"null", b"NaN", b"1e999"]
PIECES += [b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\0", b"\\ud800", b"-1"]
PIECES += [b"9" * 5_000, b"[" * 300, b'{"a":' * 300]
PIECES += [b"true", b'"turns"', b'""', b"\\n", b"1\t", b"0\t", b"||", b": ['", b"  ", b"\xe2\x80\xa8", b"0", b"."]


@st.composite
def damage(draw: st.DrawFn) -> Callable[[bytes], bytes]:
    """Invent what is done to a file, at places that are shares of its length."""
    places = st.integers(0, 10_000)
    kinds = st.sampled_from(["flip", "cut", "insert", "double", "move", "truncate", "replace"])
    steps = draw(st.lists(st.tuples(kinds, places, places, st.sampled_from(PIECES), st.integers(1, 255)), max_size=4))

    def apply(raw: bytes) -> bytes:
        for kind, first, other, piece, mask in steps:
            start, end = sorted((len(raw) * first // 10_000, len(raw) * other // 10_000))
            if kind in ("cut", "double", "move", "replace"):
                end = min(end, start + 1 + mask)
            change = {
                "flip": bytes(byte ^ mask for byte in raw[start : start + 1]) + raw[start + 1 : end],
                "insert": piece + raw[start:end],
                "double": raw[start:end] * 2,
                "replace": piece,
            }.get(kind, b"")
            rest = b"" if kind == "truncate" else raw[end:]
            raw = raw[:start] + change + rest + (raw[start:end] if kind == "move" else b"")
        return raw

    return apply


@cache
def sample(corpus_id: str) -> dict[str, bytes]:
    root = sample_of(CORPORA[corpus_id])
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def outcomes(corpus_id: str, files: dict[str, bytes], limits: Limits = DEFAULT) -> list[Outcome] | SourceError:
    """Read files as a load does, each outcome held against the contract of readers; or what refused them."""
    corpus = CORPORA[corpus_id]
    with tempfile.TemporaryDirectory(dir=shm()) as name:
        root = Path(name) / corpus.id
        for file, content in files.items():
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_bytes(content)
        try:
            with opened(disk_files(root, corpus.id, limits)) as (seen, _):
                found = list(corpus.read(seen))
        except SourceError as error:
            return error
    validator = Validator(corpus, rules_of(corpus))
    for outcome in found:
        check(validator, outcome)
    return found


def shm() -> str | None:
    """Name a folder in memory, where there is one."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108


def check(validator: Validator, outcome: Outcome) -> None:
    """Hold an outcome against the contract; what it says must be text that a database takes."""
    match outcome:
        case Loaded():
            validator.record(outcome)
        case LoadedBatch():
            validator.many(outcome)
        case Rejected(_, rule, detail):
            validator.rule(rule)
            assert detail.encode()
        case Unrecognised(_, detail):
            assert detail.encode()
        case ReaderFinding(rule, detail):
            validator.rule(rule)
            assert detail.encode()
        case FileEnvelope(_, extra):
            assert decode.dump(dict(extra)) is not None or not extra
    findings = outcome.findings if isinstance(outcome, Loaded | LoadedBatch) else []
    for finding in findings:
        validator.rule(finding.rule)
        assert f"{finding.detail}{finding.pointer}".encode()


EVERY_CORPUS = pytest.mark.parametrize("corpus", CORPORA)


@EVERY_CORPUS
@invented_examples(100, ONCE_BROKEN)
@given(data=st.data())
def test_a_damaged_file_gives_records_or_findings(corpus: str, data: st.DataObject) -> None:
    whole = sample(corpus)
    name = data.draw(st.sampled_from(sorted(whole)))
    assert isinstance(outcomes(corpus, whole | {name: data.draw(damage())(whole[name])}), list)


@EVERY_CORPUS
@invented_examples(100, ONCE_BROKEN)
@given(data=st.data())
def test_any_bytes_give_records_or_findings(corpus: str, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(sample(corpus))))
    content = data.draw(st.binary(max_size=300) | st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join))
    assert isinstance(outcomes(corpus, {name: content}), list) or is_archive(content, name)


TEXTS = st.lists(st.sampled_from([*PIECES[:12], b"a", b"1\t", b"0\t", b'"1"\t', b'""', b'\t"', b"\n\n"])).map(b"".join)


class Pieces:
    """A file in memory, which is read in small pieces."""

    limits = Limits(record=10**9)

    def __init__(self, content: bytes, size: int) -> None:
        self.content, self.size = content, size

    def chunks(self) -> Iterator[bytes]:
        """Yield the pieces."""
        for start in range(0, len(self.content), self.size):
            yield self.content[start : start + self.size]

    def check_record(self, *_: object) -> None:
        """Let everything pass."""


def lines_of(content: bytes, size: int) -> tsv.Lines:
    return tsv.Lines(Pieces(content, size))  # type: ignore[arg-type]


@invented_examples(500, ONCE_BROKEN)
@example(b'""""""\r\n"', 1)  # the first line ends in the piece that is the last
@given(TEXTS, st.integers(1, 9))
def test_a_ranking_of_any_bytes_is_gathered_to_blocks_that_are_the_file(content: bytes, size: int) -> None:
    lines = lines_of(content, size)
    blocks = list(tsv.blocks(lines, {}))
    assert b"".join(lines.joined(block.rows, is_last=block.is_last) for block in blocks) == content
    assert [block.line for block in blocks] == [sum(map(len, blocks[:index])) for index in range(len(blocks))]
    lines = lines_of(content, size)
    assert lines.joined(list(lines), is_last=True) == content
    assert lines.count == content.count(b"\n") + (not content.endswith(b"\n") and content != b"")


@invented_examples(500)
@given(TEXTS.map(lambda text: text.replace(b"\n", b"")))
def test_an_open_quote_is_the_one_that_the_rule_of_csv_says(line: bytes) -> None:
    """A cell is open where a quote at its begin is followed by others in pairs only."""
    found = re.search(rb'(?:\A|\t)("[^"]*(?:""[^"]*)*)\Z', line)
    assert tsv._open_quote(line, 0, len(line), is_row=True) == (found.start(1) if found else None)


@invented_examples(300)
@given(TEXTS.map(lambda text: text.decode(errors="replace").replace("\n", "")))
def test_cells_of_any_row_are_read(row: str) -> None:
    assert len(cells(row)) <= row.count("\t") + 1


@invented_examples(300)
@given(TEXTS)
def test_a_table_of_any_bytes_is_split_into_rows_that_are_the_file(content: bytes) -> None:
    text = content.decode(errors="replace")
    assert "".join(row.text for row in intent_table._lines(text)) == text


@invented_examples(500, ONCE_BROKEN)
@given(st.lists(st.sampled_from([*PIECES, b'"a"', b'"a":', b"1", b" "])).map(b"".join))
def test_json_of_any_bytes_is_split_or_refused(content: bytes) -> None:
    for split in (json_members.views, json_members.items, json_members.fields):
        bad = problem(lambda split=split: list(split(content)))  # type: ignore[misc]
        assert bad is None or f"{bad.detail}{bad.pointer}".encode()


def problem(work: Callable[[], object]) -> BadRecord | None:
    """Return the problem that some work ends with."""
    try:
        work()
    except BadRecord as bad:
        return bad
    return None


# The work grows with the bytes. It is counted: calls of Python and C, or bytes that are looked at; never timed.


def calls(work: Callable[[], object]) -> int:
    count = 0

    def on_event(_: FrameType, event: str, __: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(on_event)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def assert_linear(counts: list[int]) -> None:
    for fewer, other in pairwise(counts):
        assert other < 2.5 * fewer + 1_000, counts


@pytest.mark.parametrize(
    ("begin", "repeated"),
    [
        *((b'1\t"some words\n', b"some words\n"), (b"1\t", b"words "), (b'1\t"', b'a""b\n'), (b"", b"0\tx\n")),
        *((b"1\ta\tb\n", b"0\ta\tc\n"), (b"", b'\t"'), (b"", b"1\ta\tb\n")),
    ],
)
def test_bytes_of_a_ranking_are_read_few_times(begin: bytes, repeated: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = 0
    any_rows, like_rows, grow = tsv._any_rows, tsv._like_rows, tsv._Buffer.grow

    def counted(gather: Any) -> Any:
        def count(*arguments: Any) -> Any:
            nonlocal seen
            block = gather(*arguments)
            seen += block.size if block else 0
            return block

        return count

    def grown(buffer: tsv._Buffer, position: int) -> None:
        nonlocal seen
        seen += len(buffer.text)
        grow(buffer, position)

    monkeypatch.setattr(tsv, "_any_rows", counted(any_rows))
    monkeypatch.setattr(tsv, "_like_rows", counted(like_rows))
    monkeypatch.setattr(tsv._Buffer, "grow", grown)
    text = begin + repeated * 20_000
    done = calls(lambda: list(tsv.blocks(lines_of(text, 500), {})))
    assert seen < 6 * len(text)
    assert done < 20 * 20_000 * 3


MANY: dict[str, Callable[[int], bytes]] = {
    "a string that nothing closes": lambda size: b'{"a":' + b'"' + b'\\"' * size,
    "brackets that nothing closes": lambda size: b"[" * size,
    "keys that repeat": lambda size: b"{" + b",".join([b'"a":1'] * size) + b"}",
    "members that are malformed": lambda size: b"[" + b",".join([b"[1 2]"] * size) + b"]",
    "quotes": lambda size: b'"' * size,
    "nested lists that are malformed": lambda size: b"{" + b",".join([b'"a":[[[[1 2]]]]'] * size) + b"}",
}


@pytest.mark.parametrize("name", MANY)
def test_json_is_split_in_calls_that_grow_with_its_bytes(name: str) -> None:
    def split(size: int) -> None:
        problem(lambda: list(json_members.views(memoryview(bytearray(MANY[name](size))), with_nan=True)))

    assert_linear([calls(lambda size=size: split(size)) for size in (1_000, 2_000, 4_000)])  # type: ignore[misc]


@pytest.mark.parametrize("text", [b'{"a":"' + b'\\"' * 10**6, b'"' * 10**6, b"[" * 10**6, b'["' + b"x" * 10**7])
def test_what_nothing_closes_is_looked_for_once(text: bytes) -> None:
    """It would not end if each quote or bracket were looked for again, nor fit in memory if each letter took some."""
    bad = problem(lambda: list(json_members.views(text)))
    assert bad is not None
    assert bad.rule == "TH-01"


def test_levels_are_counted_outside_of_strings() -> None:
    deep = b"[" * 101 + b"]" * 101
    for text in (deep[1:-1], b'["' + deep + b'"]', b'["\\"' + b"[" * 500 + b'"]', b"[" + b"{}," * 500 + b"{}]"):
        decode.check_depth(text)
    for text in (deep, b'{"a":' * 101 + b"1" + b"}" * 101, b'["\\\\", ' + deep[1:-1] + b', "]"]'):
        bad = problem(lambda text=text: decode.check_depth(text))  # type: ignore[misc]
        assert bad is not None
        assert bad.rule == "TH-01"


def log(size: int) -> dict[str, bytes]:
    votes = [{"breakdown": "O", "comment": "", "annotator-id": "a"}] * 2
    turns = [{"turn-index": n, "speaker": "S", "utterance": "x", "annotations": votes} for n in range(size)]
    log = {"dialogue-id": "x", "speaker-id": "y", "turns": turns, "more": [[]] * size}
    return {"x.log.json": json.dumps(log).encode()}


def group(size: int) -> dict[str, bytes]:
    name = next(name for name, raw in sample("delidata").items() if raw.startswith(b"group_id"))
    header, first, *rows = sample("delidata")[name].splitlines(keepends=True)
    return {name: header + first + rows[0] * size}


def episode(size: int) -> dict[str, bytes]:
    """Invent an episode of Blended Skill Talk with so many turns, all lists along."""
    whole = json.loads(sample("blended_skill_talk")["train.json"])[0]
    length = len(whole["dialog"])
    grown = {
        name: value * size if isinstance(value, list) and len(value) == length else value
        for name, value in whole.items()
    }
    return {"train.json": json.dumps([grown | {"suggestion_orders": [",".join(MODELS)] * length * size}]).encode()}


def numbered(size: int) -> dict[str, bytes]:
    """Invent an episode of ConvAI2 with so many lines before its label, and as many with one."""
    lines = [f"{number} said" for number in range(1, size)] + [f"{size + n} a\tb\t\tc|b" for n in range(size)]
    return {"convai2/train_self_original.txt": "".join(f"{line}\n" for line in lines).encode()}


def authors(size: int) -> dict[str, bytes]:
    """Invent a dialogue of MPChat with so many candidate authors, each with elements that have something unusual."""
    whole = json.loads(sample("mpchat")["mpchat_si.json"])
    field = "si_candidate_authors_candidate_personas"
    thread = next(talk for talk in whole["val"] if talk.get(field))
    element = next(items[0] for items in thread[field] if items)
    thread[field] = [
        [element | {"id": f"{author}-{n}", "created_utc": None, "created_utcs": None} for n in range(3)]
        for author in range(size)
    ]
    return {"mpchat_si.json": json.dumps({"train": [], "val": [thread], "test": []}).encode()}


LARGE = {
    log: "dbdc3",
    group: "delidata",
    episode: "blended_skill_talk",
    numbered: "blended_skill_talk",
    authors: "mpchat",
}


@pytest.mark.parametrize("make", LARGE)
def test_a_record_takes_work_that_grows_with_its_bytes(
    make: Callable[[int], dict[str, bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded = 0
    decoder = decode.decoder

    class Counting:
        def __init__(self, kind: Any) -> None:
            self.kind = kind

        def decode(self, text: Any) -> Any:
            nonlocal decoded
            decoded += len(text) if isinstance(text, str) else len(memoryview(text))
            return decoder(self.kind).decode(text)

    monkeypatch.setattr(decode, "decoder", Counting)
    outcomes(LARGE[make], make(1))  # what is made once, such as decoders
    done, bytes_decoded = [], []
    for size in (100, 200, 400):
        files, decoded = make(size), 0
        done.append(calls(lambda files=files: outcomes(LARGE[make], files)))  # type: ignore[misc]
        bytes_decoded.append(decoded)
    assert_linear(done)
    assert_linear(bytes_decoded)


@pytest.mark.parametrize("name", ["x.zip", "x.tar.gz", "x.7z"])
@invented_examples(300)
@given(data=st.data())
def test_a_damaged_archive_is_read_or_refused(name: str, data: st.DataObject) -> None:
    damaged = data.draw(damage())(packed(name))
    content = {"x.zip": bytes, "x.7z": signed}.get(name, partial(gzip.compress, compresslevel=1))(damaged)
    with tempfile.TemporaryDirectory(dir=shm()) as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        with suppress(SourceError), opened(disk_files(path, f"toy/{name}")) as (files, _):
            for file in files:
                assert file.read() == b"".join(file.chunks())


@cache
def packed(name: str) -> bytes:
    """Pack two files, of which one has a long name; a .tar.gz as it is before gzip."""
    members = {"a/b.json": b'{"x": 1}' * 20, "n" * 90 + "/" + "é" * 40: b"1" * 600}
    if name.endswith(".zip"):
        return zipped(members)
    if name.endswith(".7z"):
        return seven_zipped(members, has_plain_header=True, filters=[{"id": py7zr.FILTER_LZMA}])
    return tarred(members, "w")


def signed(raw: bytes) -> bytes:
    """Give the headers of a damaged .7z the checksums without which nothing of them is read."""
    start, size = (int.from_bytes(raw[at : at + 8], "little") for at in (12, 20))
    begin = raw[12:28] + zlib.crc32(raw[32 + start : 32 + start + size]).to_bytes(4, "little")
    return raw[:8] + zlib.crc32(begin).to_bytes(4, "little") + begin + raw[32:]
