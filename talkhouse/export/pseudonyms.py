"""Pseudonyms in place of the ids of people: keyed hashes, the same in every table, file and run with one key."""

import json
import stat
from base64 import b32encode
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from enum import StrEnum
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypedDict

import duckdb
from pyarrow import lib as pa

from talkhouse.export.composition import key_of, owner
from talkhouse.export.selection import Selection, grain_of
from talkhouse.ingest.corpus import People
from talkhouse.ingest.registry import all_corpora
from talkhouse.schema.errors import RegistryError, UsageError
from talkhouse.schema.sql import literal, quoted
from talkhouse.settings import corpus_folders
from talkhouse.warehouse.opened import Warehouse


class Kind(StrEnum):
    """What a column holds, and so what takes its place; the first four are what heads of views say."""

    PERSON = "person"
    """The id of a person, as the publisher writes it."""
    NAME = "name"
    """A name of a person."""
    ID = "id"
    """The id of something that leads to a person, as the publisher writes it."""
    LINK = "link"
    """A publisher's id or an address that leads to a person, and by which nothing is joined."""
    SPEAKER = "speaker"
    """A key of ``main.speakers``."""
    NATIVE = "native"
    """``main.speakers.native_id``."""
    DIALOGUE = "dialogue"
    RECORD = "record"
    FILE = "file"
    """The id of a file, which is its path."""
    PERSONA = "persona"
    EXTRA = "extra"
    """What only one corpus has, as JSON."""
    VERBATIM = "verbatim"
    """Pieces of published files, with whatever is in them."""


_NAMED = {
    **dict.fromkeys(("speaker_id", "main_speaker_id", "reply_to_speaker_id"), Kind.SPEAKER),
    **dict.fromkeys(("speaker_name", "reply_to_speaker_name"), Kind.NAME),
    **dict.fromkeys(("dialogue_id", "derived_from"), Kind.DIALOGUE),
    "annotator_id": Kind.PERSON,
    "record_id": Kind.RECORD,
    "source_file_id": Kind.FILE,
    "persona_id": Kind.PERSONA,
    **dict.fromkeys(("image_file", "call_id"), Kind.ID),
    **dict.fromkeys(("native_id", "source_pointer", "pointer", "image_url", "uri"), Kind.LINK),
    **dict.fromkeys(("detail", "raw"), Kind.VERBATIM),
    "extra": Kind.EXTRA,
}
"""Columns that mean the same wherever they are."""

_PLACE = dict.fromkeys(("path", "member", "sha256"), Kind.LINK)

_IN_TABLES = {
    **dict.fromkeys(("meta.source_files", "bi.source_files", "bi.provenance"), _PLACE),
    "main.speakers": {"native_id": Kind.NATIVE, "name": Kind.NAME},
    "main.images": {"image_id": Kind.ID, "url": Kind.LINK},
}
"""Columns that lead to people only there."""

IF_PUBLIC = (Kind.ID, Kind.LINK, Kind.DIALOGUE, Kind.RECORD, Kind.FILE, Kind.PERSONA)
"""What leads to people only in a corpus whose keys are public."""


def kinds_of(warehouse: Warehouse, relation: str, columns: Iterable[str]) -> dict[str, tuple[Kind, bool]]:
    """Return the columns of a view or table that may lead to people, and whether the head of the view says so.

    A link that is one of the columns which together name a row is an id, so that rows stay apart.
    """
    view = warehouse.view_file(relation)
    declared = {column: Kind(kind) for column, kind in view.identifying_columns.items()} if view else {}
    known = {**_NAMED, **_IN_TABLES.get(relation, {}), **declared}
    grain = grain_of(warehouse, relation)
    return {
        column: (Kind.ID if known[column] is Kind.LINK and column in grain else known[column], column in declared)
        for column in columns
        if column in known
    }


def owner_of(warehouse: Warehouse, relation: str, columns: Collection[str]) -> str | None:
    """Return SQL for the corpus of a row; a literal if all rows are of one; None if no column tells it."""
    schema = relation.partition(".")[0]
    if schema in warehouse.corpus_ids:
        return literal(schema)
    key = key_of(columns)
    return key and owner(key)


def without_members(extra: str, members: Iterable[str]) -> str:
    """Return SQL for a JSON object without members, such as ``carried.workers``; other objects stay as they are."""
    by_parent = defaultdict[str, list[str]](list)
    for member in members:
        parent, _, name = member.rpartition(".")
        by_parent[parent].append(name)
    for parent, names in by_parent.items():
        outer = [name for name in parent.split(".") if name]
        patch: dict[str, Any] = dict.fromkeys(names)
        for name in reversed(outer):
            patch = {name: patch}
        paths = (".".join(["$", *(f'"{name}"' for name in (*outer, name))]) for name in names)
        present = " or ".join(f"json_exists({extra}, {literal(path)})" for path in paths)
        patched = f"json_merge_patch({extra}, {literal(json.dumps(patch))})"
        extra = f"case when {present} then {patched} else {extra} end"
    return extra


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
        raise _unfit("this is not a key of pseudonyms", file, expected=expected, found=found_bytes, next_step=_MAKE_ONE)
    return PseudonymKey(raw)


def _check_place(file: Path, output: Path, mode: int) -> None:
    written = output.resolve()
    if written in (file.resolve(), *file.resolve().parents):
        raise _unfit(
            "the key of pseudonyms lies in what is written",
            file,
            found=str(output),
            next_step="keep the key elsewhere: anyone who has it can tell who is behind a pseudonym",
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

    def add_values(self, kind: Kind, relation: str, column: str, sql_type: str, corpus_sql: str) -> None:
        """Make those of what a column of a view or table has; ``whose``: the corpus of a row, in SQL."""
        self.add(kind)
        value = f"unnest({quoted(column)}, recursive := true)" if "[" in sql_type else quoted(column)
        values = f"select distinct {corpus_sql} as _corpus_id, {value} as _id from {quoted(*relation.split('.', 1))}"
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
            new = [f"{corpus_id}{letter}{digits}" for corpus_id, digits in zip(corpora, hashes, strict=True)]
            written = [
                pseudonym if is_replaced else identifier
                for pseudonym, identifier, is_replaced in zip(new, identifiers, replaced, strict=True)
            ]
            columns = {"_corpus_id": pa.array(corpora), "_id": pa.array(identifiers), "_pseudonym": pa.array(written)}
            con.register("new_pseudonyms", pa.Table.from_pydict(columns))
            con.execute(f"insert into temp.pseudonyms select {literal(kind)}, * from new_pseudonyms")
            con.unregister("new_pseudonyms")
        con.execute("truncate temp.new_ids")


def looked_up(value: str, depth: int, kind: Kind, corpus_sql: str | None) -> str:
    """Return SQL for the pseudonym of a value, or a list of those of a list; null for what has none.

    ``depth``: 1 for a list, 2 for a list of lists; ``whose``: the corpus of a row, where the ids do not tell it.
    """
    if not depth:
        corpus = "" if corpus_sql is None else f" and _corpus_id = {corpus_sql}"
        return f"(select _pseudonym from temp.pseudonyms where _kind = {literal(kind)}{corpus} and _id = {value})"
    item, index = f"_item_{depth}", f"_index_{depth}"
    items = f"select unnest({value}) as {item}, generate_subscripts({value}, 1) as {index}"
    inner = looked_up(item, depth - 1, kind, corpus_sql)
    return f"case when len({value}) = 0 then {value} else (select list({inner} order by {index}) from ({items})) end"


_STAYS = (
    "Ids of speakers and annotators are replaced by keyed hashes, and their names left out. Texts are not touched, nor "
    "are names in them; and anyone who has the published files can find a row again by its text, time or position."
)

_UNDECLARED = (
    "Nobody has said what else leads to people in it: its columns 'extra', its native ids and addresses are left out, "
    "and the keys of its dialogues and records replaced."
)

_NOBODY = People(are_keys_public=True, note=_UNDECLARED)

_HIDDEN = "a condition of published values, which may name people"
"""In place of a user's own."""

_ALWAYS_REMOVED = ("differs", "unknown", "verbatim")
"""Members of any ``extra`` that have pieces of published files."""


class AboutPseudonyms(TypedDict):
    """What is said of an export with pseudonyms."""

    key: str
    """Its fingerprint."""
    remark: str
    """What still leads to people."""


class Pseudonyms:
    """What replaces the ids of people in a warehouse, for queries of one connection: its cursors do not see it."""

    def __init__(self, warehouse: Warehouse, key: PseudonymKey, people: Mapping[str, People]) -> None:
        self.fingerprint = key.fingerprint
        """Of the key, for manifests: it tells two keys apart and nothing of either."""
        self._warehouse, self._people = warehouse, people
        self._public = [literal(corpus_id) for corpus_id, declared in people.items() if declared.are_keys_public]
        self._table = PseudonymTable(warehouse.con, key, self._public)

    def about(self, corpora: Iterable[str]) -> AboutPseudonyms:
        """Return the text on an export with rows of these corpora, in messages, manifests and cards."""
        return about(self.fingerprint, corpora)

    def columns(self, relation: str, columns: Mapping[str, str]) -> dict[str, str]:
        """Return for the columns of people in a view or table, such as ``main.turns``, the expressions in their place.

        ``columns``: the names and SQL types of all its columns. An expression reads only columns of the same row.
        """
        corpus_sql, expressions = owner_of(self._warehouse, relation, columns), dict[str, str]()
        for column, (kind, is_declared) in kinds_of(self._warehouse, relation, columns).items():
            is_certain = is_declared or kind not in IF_PUBLIC
            of_rows = self._rows_with_public_keys(kind, column, corpus_sql)
            if not is_certain and of_rows == "false":
                continue
            sql_type, name = columns[column], quoted(column)
            if corpus_sql and is_text(sql_type) and (kind is Kind.ID or (kind is Kind.PERSON and is_declared)):
                self._table.add_values(kind, relation, column, sql_type, corpus_sql)
            expression = self._expression(kind, name, sql_type, corpus_sql)
            always = is_certain or of_rows == "true"
            expressions[column] = expression if always else f"case when {of_rows} then {expression} else {name} end"
        return expressions

    def _expression(self, kind: Kind, name: str, sql_type: str, corpus_sql: str | None) -> str:
        """Return the expression that replaces a column."""
        if kind is Kind.EXTRA:
            return self._extra(name, corpus_sql)
        of_key = kind in KEYS
        if kind in (Kind.LINK, Kind.VERBATIM) or not is_text(sql_type) or not (corpus_sql or of_key):
            return f"null::{sql_type}"
        self._table.add(kind)
        depth = sql_type.count("[")
        pseudonym = looked_up(name, depth, kind, None if of_key else corpus_sql)
        return pseudonym if depth else f"case when {name} = '' then '' else {pseudonym} end"

    def _rows_with_public_keys(self, kind: Kind, column: str, corpus_sql: str | None) -> str:
        """Return the SQL condition of the rows whose keys lead to people; where it is known, true or false."""
        if not self._public or (corpus_sql and corpus_sql.startswith("'")):
            return str(corpus_sql in self._public).lower()
        corpus = owner(column) if kind in KEYS else corpus_sql
        return f"{corpus} in ({', '.join(self._public)})" if corpus else "true"

    def _extra(self, name: str, corpus_sql: str | None) -> str:
        """Return ``extra`` without what leads to people."""
        if corpus_sql is None:
            return "null::json"
        cases = [f"when {corpus_sql} in ({', '.join(self._public)}) then null"] if self._public else []
        for corpus_id, declared in self._people.items():
            if declared.members and not declared.are_keys_public:
                members = without_members(name, (*_ALWAYS_REMOVED, *declared.members))
                cases.append(f"when {corpus_sql} = {literal(corpus_id)} then {members}")
        others = without_members(name, _ALWAYS_REMOVED)
        return f"case {' '.join(cases)} else {others} end" if cases else others


def pseudonyms(warehouse: Warehouse, key_file: Path, output: Path) -> Pseudonyms:
    """Read a key and make the pseudonyms of the people of a warehouse. Raises UsageError for a key that is none."""
    return Pseudonyms(warehouse, read_key(key_file, output), _people(warehouse.corpus_ids))


def with_pseudonyms(selection: Selection, warehouse: Warehouse, names: Pseudonyms) -> Selection:
    """Return the same rows with pseudonyms in place of the ids of people.

    A condition that a user wrote is of the published ids: nothing that describes the rows may repeat it.
    """
    types = {column["name"]: column["type"] for column in warehouse.columns[selection.schema, selection.name]}
    filters = selection.filters
    if filters.where is not None:
        filters = replace(filters, where=_HIDDEN)
    return replace(selection, filters=filters, replaced=names.columns(selection.full_name, types))


def about(fingerprint: str, corpora: Iterable[str]) -> AboutPseudonyms:
    """Return the text on pseudonyms by the key of this fingerprint, in rows of these corpora."""
    notes = (f"{corpus_id}: {declared.note}" for corpus_id, declared in _people(corpora).items() if declared.note)
    return {"key": fingerprint, "remark": " ".join([_STAYS, *notes])}


def are_keys_public(corpus_id: str) -> bool:
    """Whether the keys of a corpus lead to people, or are not declared not to."""
    return _people([corpus_id])[corpus_id].are_keys_public


def _people(corpora: Iterable[str]) -> dict[str, People]:
    """Return each corpus's declaration; for one without, or unknown here, the most cautious assumption."""
    known, people = all_corpora(corpus_folders()), dict[str, People]()
    for corpus_id in corpora:
        try:
            people[corpus_id] = known[corpus_id].people or _NOBODY
        except (KeyError, RegistryError):
            people[corpus_id] = _NOBODY
    return people
