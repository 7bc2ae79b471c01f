"""Keys of records and dialogues: the same id and words are one dialogue; other words under it get a hash."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

import polars as pl

from talkhouse.ingest.keys import Memory, digest, digest_of
from talkhouse.ingest.sources import SourceFile


class DialogueKey(NamedTuple):
    """The key of a record's dialogue."""

    dialogue_id: str
    is_new: bool
    """Whether no record before had this dialogue."""
    is_same: bool
    """Whether what else is known of the turns is the same too, so that the rows of the first record give both back."""
    is_taken: bool
    """Whether the id was taken by other words, GF-04."""


class Identity:
    """The keys of one corpus; kept are hashes, and of dialogues without an id nothing."""

    def __init__(self, corpus_id: str, memory: Memory) -> None:
        self._corpus_id = corpus_id
        self._files = memory.keys("files")
        self._dialogues = memory.keys("dialogues")

    def file(self, file: SourceFile) -> str:
        """Return the path of a file in keys: inside the corpus's folder, archives as folders."""
        inside = str(file.path).partition("/")[2]
        return self._files.assign(inside, digest(file.id))[0]

    def record_id(self, path: str, number: int) -> str:
        """Return the key of a record of a file, ``corpus/path/number``."""
        return f"{self._corpus_id}/{path}/{number}"

    def dialogue(self, native_id: str, words: bytes, rest: bytes, within: str = "") -> DialogueKey:
        """Return the key of a dialogue by its id, and hashes of its words with their speakers and of everything else.

        ``within``: where ids mean one dialogue (``ids_within``).
        """
        natural = f"{self._corpus_id}:{within}{native_id}"
        key, is_new = self._dialogues.assign(natural, words, beside=rest)
        is_same = is_new or self._dialogues.content(key) == words + rest
        return DialogueKey(key, is_new, is_same, is_new and key != natural)

    def dialogue_without_id(self, path: str, number: int) -> str:
        """Return the key of a dialogue that has no id: the place of its record."""
        return f"{self._corpus_id}:{path}/{number}"


def ids_within(ids: Literal["corpus", "file", "split"], path: str, split: str) -> str:
    """Return the prefix of an id in keys: empty, or the file's path or split inside which ids are unique."""
    match ids:
        case "corpus":
            return ""
        case "file":
            return f"{path}/"
        case "split":
            return f"{_escaped(split)}/"


def joined_id(parts: Iterable[str]) -> str:
    """Join values that are an id together, so that they can be told apart again."""
    return "/".join(map(_escaped, parts))


def joined_ids(parts: Iterable[pl.Series]) -> pl.Series:
    """Join columns of values that are ids together."""
    named = pl.DataFrame([part.alias(str(number)) for number, part in enumerate(parts)])
    escaped = pl.all().str.replace_all("%", "%25", literal=True).str.replace_all("/", "%2F", literal=True)
    return named.select(pl.concat_str(escaped, separator="/")).to_series()


def id_part(joined: str, number: int) -> str:
    """Return one of the values that an id was joined of."""
    return joined.split("/")[number].replace("%2F", "/").replace("%25", "%")


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("/", "%2F")


def line(rows: pl.DataFrame, names: Iterable[str]) -> pl.Expr:
    """Write the values of each row in some columns to be hashed, times in microseconds; nothing for a row of nothing.

    The lengths tell where each ends.
    """
    pieces: list[pl.Expr] = []
    columns = [rows[name] for name in names]
    for column in columns:
        value = pl.col(column.name)
        if column.dtype != pl.String:
            value = (value.cast(pl.Int64) if column.dtype == pl.Datetime else value).cast(pl.String)
        written = (value.str.len_bytes().cast(pl.String), pl.lit(":"), value)
        match column.null_count():
            case 0:
                pieces += written
            case nulls if nulls == len(rows):
                pieces.append(pl.lit("-"))
            case _:
                pieces.append(pl.concat_str(written).fill_null("-"))
    text = pl.concat_str(pieces)
    if len(pieces) == len(columns):  # a row may be nothing
        text = text.replace("-" * len(pieces), "")
    return text


def digests(keys: pl.Series, owners: pl.Series, rows: pl.Series, begins: pl.Series | None = None) -> list[bytes]:
    """Hash the lines of each key, which follow one another, behind what ``begins`` says of it.

    Lines at the end that are empty do not count.
    """
    texts: dict[int, bytes] = {}
    if (rows != "").any():
        by_row = pl.DataFrame({"key": owners, "text": rows}).group_by("key", maintain_order=True).agg("text")
        joined = by_row["text"].list.join("\n").str.strip_chars_end("\n").cast(pl.Binary)
        texts = dict(zip(by_row["key"], joined, strict=True))
    # In a dictionary: a join costs half a millisecond, however few the rows.
    own = (texts.get(key, b"") for key in keys)
    if begins is None:
        return [digest_of(text) for text in own]
    return [digest_of(begin + text) for begin, text in zip(begins.cast(pl.Binary), own, strict=True)]
