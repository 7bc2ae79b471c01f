"""The key of pseudonyms, and a temporary table of the keyed hashes that it makes, for DuckDB has none."""

import stat
from base64 import b32encode
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

import duckdb
from pyarrow import lib as pa

from talkhouse.query.identifying import Kind
from talkhouse.query.sources import owner
from talkhouse.schema.errors import UsageError
from talkhouse.schema.sql import literal, quoted

_LEAST, _MOST = 32, 4096
"""Bytes of a key; a file with more is another one that was named by mistake."""

_DIGEST, _CHARACTERS = 10, 16
"""Bytes of a hash; and as many characters, in base32, without padding."""

_FOR_FINGERPRINTS = b"fingerprint of a talkhouse key"

_MAKE_ONE = "make one, and keep it apart from what you publish: (umask 077; head -c 32 /dev/urandom > KEYFILE)"


class PseudonymKey:
    """A key; its bytes are in no message, and nowhere but in this object."""

    def __init__(self, raw: bytes) -> None:
        # BLAKE2b takes keys of 64 bytes at most; as in HMAC, a longer one is hashed first.
        self._key = raw if len(raw) <= blake2b.MAX_KEY_SIZE else blake2b(raw).digest()

    @property
    def fingerprint(self) -> str:
        """16 hex digits that tell two keys apart, and nothing of either."""
        return blake2b(_FOR_FINGERPRINTS, key=self._key, digest_size=8).hexdigest()

    def hashed(self, identifiers: Iterable[tuple[str, str]]) -> list[str]:
        """Return 16 characters in place of each id: ``identifiers`` are corpora, each with an id of its own."""
        keyed = blake2b(key=self._key, digest_size=_DIGEST)
        digests = bytearray()
        for corpus_id, identifier in identifiers:
            state = keyed.copy()
            state.update(f"{corpus_id}\0{identifier}".encode())
            digests += state.digest()
        text = b32encode(digests).decode("ascii").lower()
        return [text[start : start + _CHARACTERS] for start in range(0, len(text), _CHARACTERS)]


def read_key(file: Path, output: Path) -> PseudonymKey:
    """Read a key. Raises UsageError for a file that is none, or that lies in ``output``."""
    try:
        found = file.stat()
        if not stat.S_ISREG(found.st_mode):
            raise _unfit("the key of pseudonyms is not a file", file, next_step=_MAKE_ONE)
        _check_place(file, output, found.st_mode)
        with file.open("rb") as stream:
            raw = stream.read(_MOST + 1)
    except FileNotFoundError:
        raise _unfit("there is no such key of pseudonyms", file, next_step=_MAKE_ONE) from None
    except OSError as error:
        raise _unfit("the key of pseudonyms can't be read", file, found=str(error), next_step=_MAKE_ONE) from error
    if not _LEAST <= len(raw) <= _MOST:
        found_bytes = f"{len(raw):,} bytes" if len(raw) <= _MOST else f"more than {_MOST:,} bytes"
        expected = f"{_LEAST} random bytes or more, {_MOST:,} at most"
        raise _unfit("this is no key of pseudonyms", file, expected=expected, found=found_bytes, next_step=_MAKE_ONE)
    return PseudonymKey(raw)


def _check_place(file: Path, output: Path, mode: int) -> None:
    written = output.resolve()
    if written in (file.resolve(), *file.resolve().parents):
        raise _unfit(
            "the key of pseudonyms lies in what is written",
            file,
            found=str(output),
            next_step="keep the key elsewhere: whoever has it knows who is behind a pseudonym",
        )
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise _unfit(
            "others than its owner can read or change the key of pseudonyms",
            file,
            expected="mode 600 or 400",
            found=f"mode {stat.S_IMODE(mode):o}",
            next_step=f"chmod 600 {file}",
        )


def _unfit(
    problem: str, file: Path, *, expected: str | None = None, found: str | None = None, next_step: str
) -> UsageError:
    return UsageError(problem, where=file, expected=expected, found=found, next_step=next_step)


_BATCH = 100_000
"""Ids that Python has in memory at a time."""

_LETTERS = {Kind.DIALOGUE: ":d-", Kind.RECORD: "/r-", Kind.FILE: "/f-", Kind.PERSONA: ":e-", Kind.ID: ":i-"}
"""What is between a corpus and a hash; the same characters as in the keys, by which a row's corpus is told."""

_OF_A_PERSON = ":p-"

_IS_PERSON = "kind not in ('bot', 'system')"

_IDS = {
    Kind.SPEAKER: f"select corpus_id, speaker_id, {_IS_PERSON} from main.speakers",
    Kind.NATIVE: f"select corpus_id, native_id, bool_or({_IS_PERSON}) from main.speakers group by all",
    # A bot's name stays, unless a person of the corpus has it too.
    Kind.NAME: f"select corpus_id, name, false from main.speakers group by all having not bool_or({_IS_PERSON})",
    Kind.PERSON: f"select distinct {owner('record_id')}, annotator_id, true from main.annotations",
    Kind.DIALOGUE: "select corpus_id, dialogue_id, true from main.dialogues where corpus_id in ({public})",
    Kind.RECORD: "select corpus_id, record_id, true from main.records where corpus_id in ({public})",
    Kind.FILE: "select corpus_id, source_file_id, true from meta.source_files where corpus_id in ({public})",
    Kind.PERSONA: "select corpus_id, persona_id, true from main.personas where corpus_id in ({public})",
}
"""For each kind its ids, with their corpus and whether they are replaced."""

KEYS = (Kind.SPEAKER, Kind.DIALOGUE, Kind.RECORD, Kind.FILE, Kind.PERSONA)
"""Kinds whose ids begin with their corpus."""

# No column of a view has a name that begins so, and none of a row is taken for one of these.
_TABLES = """
create or replace temp table pseudonyms (_kind varchar, _corpus_id varchar, _id varchar, _pseudonym varchar);
create or replace temp table new_ids (_corpus_id varchar, _id varchar, _is_replaced boolean)
"""


def is_text(sql_type: str) -> bool:
    """Whether a column has texts, or lists of texts."""
    return sql_type.partition("[")[0].upper() in ("VARCHAR", "TEXT")


class PseudonymTable:
    """The pseudonyms of a warehouse, each kind made when it is first asked for; cursors of its connection have none."""

    def __init__(self, con: duckdb.DuckDBPyConnection, key: PseudonymKey, public: Iterable[str]) -> None:
        """``public``: the corpora whose keys lead to people, as SQL literals; those of others stay."""
        self._con, self._key, self._public = con, key, ", ".join(public) or "null"
        self._present: set[Kind] = set()
        con.execute(_TABLES)

    def add(self, kind: Kind) -> None:
        """Make the pseudonyms of a kind."""
        if kind in _IDS and kind not in self._present:
            self._present.add(kind)
            self._fill(kind, _IDS[kind].format(public=self._public))

    def add_values(self, kind: Kind, relation: str, column: str, sql_type: str, whose: str) -> None:
        """Make those of what a column of a view or table has; ``whose``: the corpus of a row, in SQL."""
        self.add(kind)
        value = f"unnest({quoted(column)}, recursive := true)" if "[" in sql_type else quoted(column)
        values = f"select distinct {whose} as _corpus_id, {value} as _id from {_quoted_name(relation)}"
        known = f"select _corpus_id, _id from temp.pseudonyms where _kind = {literal(kind)}"
        self._fill(kind, f"select *, true from ({values}) anti join ({known}) using (_corpus_id, _id)")

    def _fill(self, kind: Kind, ids: str) -> None:
        con, letter = self._con, _LETTERS.get(kind, _OF_A_PERSON)
        con.execute(f"insert into temp.new_ids from ({ids}) as ids (_of, _id, _is_replaced) where _id is not null")
        ((count,),) = con.execute("select count(*) from temp.new_ids").fetchall()
        for start in range(0, count, _BATCH):
            batch = f"from temp.new_ids where rowid >= {start} and rowid < {start + _BATCH}"
            corpora, identifiers, replaced = zip(*con.execute(batch).fetchall(), strict=True)
            hashes = self._key.hashed(zip(corpora, identifiers, strict=True))
            made = [f"{corpus_id}{letter}{digits}" for corpus_id, digits in zip(corpora, hashes, strict=True)]
            written = [
                pseudonym if is_replaced else identifier
                for pseudonym, identifier, is_replaced in zip(made, identifiers, replaced, strict=True)
            ]
            columns = {"_corpus_id": pa.array(corpora), "_id": pa.array(identifiers), "_pseudonym": pa.array(written)}
            con.register("new_pseudonyms", pa.Table.from_pydict(columns))
            con.execute(f"insert into temp.pseudonyms select {literal(kind)}, * from new_pseudonyms")
            con.unregister("new_pseudonyms")
        con.execute("truncate temp.new_ids")


def looked_up(value: str, depth: int, kind: Kind, whose: str | None) -> str:
    """Return SQL for the pseudonym of a value, or a list of those of a list; null for what has none.

    ``depth``: 1 for a list, 2 for a list of lists; ``whose``: the corpus of a row, where the ids do not tell it.
    """
    if not depth:
        corpus = "" if whose is None else f" and _corpus_id = {whose}"
        return f"(select _pseudonym from temp.pseudonyms where _kind = {literal(kind)}{corpus} and _id = {value})"
    item, index = f"_item_{depth}", f"_index_{depth}"
    items = f"select unnest({value}) as {item}, generate_subscripts({value}, 1) as {index}"
    inner = looked_up(item, depth - 1, kind, whose)
    return f"case when len({value}) = 0 then {value} else (select list({inner} order by {index}) from ({items})) end"


def _quoted_name(relation: str) -> str:
    schema, _, name = relation.partition(".")
    return f"{quoted(schema)}.{quoted(name)}"
