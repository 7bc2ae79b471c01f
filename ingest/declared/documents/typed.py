"""Records of one form, as most of a file are: DuckDB decodes and proves them many at a time, to the rows of the reader.

A look at some records, which the reader reads one by one, says how records and messages are written: their keys in
order, and whether a column takes a text, a whole number or null there. What is not proven to be written so, or has
anything to it that is not in columns, is left to the reader.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

import msgspec
import polars as pl
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import ISO, MOMENTS, UNIX, Declaration
from talkhouse.ingest.declared.documents.dialogue_rows import DecodedDialogues, OfRecord
from talkhouse.ingest.declared.documents.document_format import (
    ID_PART,
    ListColumns,
    label_placeholder,
    last_answer,
    paths_of,
)
from talkhouse.ingest.declared.documents.messages import results_without_calls
from talkhouse.ingest.declared.documents.parts import read_member
from talkhouse.ingest.declared.identity import joined_ids
from talkhouse.ingest.declared.labels import Labels, ParsedLabel
from talkhouse.ingest.declared.parsed_dialogue import ParsedCandidate, ParsedDialogue, ParsedPart, ParsedTurn
from talkhouse.ingest.declared.record_files.content import RawRecord
from talkhouse.ingest.declared.shapes import Members, Spelling, alias, members_of
from talkhouse.ingest.declared.speakers import NO_ROLE
from talkhouse.ingest.declared.times import read_moments, read_times
from talkhouse.ingest.decode import BadRecord, check, check_depth, decoder, pointer
from talkhouse.ingest.loading.typed_json import Columns, Proven, typed_json
from talkhouse.ingest.outcomes import ReaderFinding
from talkhouse.schema.sql import literal, quoted

_LOOKED_AT = 16
"""Records of a block that are looked at."""
_MOST_FORMS, _FEW = 4, 8
"""So many forms of records are tried, as long as more than one record of so many is left."""
_MOST_LAYOUTS, _MOST_KEYS = 8, 200
"""Forms of the messages of one form of records, and keys of either."""
_TEXT, _INTEGER, _ANY, _NULL = "VARCHAR", "BIGINT", "JSON", "null"
_VALUES = decoder(Any)
_NAMES = (_TEXT, _INTEGER, _NULL)
_KINDS = {"role": (_TEXT,), "text": (_TEXT, _NULL)} | dict.fromkeys(MOMENTS, (_INTEGER, _NULL))
"""What may stand where a column of messages wants something; elsewhere names."""

Form = tuple[tuple[str, str], ...]
"""The keys of an object in order, and what stands there, as ``from_json`` calls it."""


class Seen(NamedTuple):
    """What the reader made of a record."""

    shape: Mapping[str, Any]
    turns: Sequence[ParsedTurn]
    candidates: Sequence[ParsedCandidate] = ()


class Layout(NamedTuple):
    """How objects of one form are written."""

    form: Form
    shape: Mapping[str, Any]
    parts: Sequence[str] = ()
    """Keys of what becomes parts."""
    has_text: bool = True

    @property
    def rest(self) -> list[tuple[str, str]]:
        """Return the names in ``extra``, each with the key that it is for."""
        return [(alias(key), key) for key, item in self.shape.items() if item is None]

    def how(self, placeholder: str) -> str | None:
        """Return the form of the times there."""
        spellings = (Spelling.read(item) for item in self.shape.values() if isinstance(item, str))
        return next((spelling.form for spelling in spellings if spelling.column == placeholder and spelling.form), None)


class Typed(NamedTuple):
    """Records that were decoded, and their turns."""

    layout: Layout
    layouts: list[Layout]
    """Of messages."""
    records: pl.DataFrame
    """``n``, the place in the block, and placeholders."""
    turns: pl.DataFrame
    """``n``, ``i``, columns of the table, ``ours``, the role, ``layout``, and ``rest`` where that is read already."""
    list_key: str
    block: Sequence[RawRecord]


class _SeenForms(NamedTuple):
    """What the reader made of a record, and of which form it and its messages are."""

    form: Form
    shape: Mapping[str, Any]
    turns: Sequence[ParsedTurn]
    of_messages: list[Form]


class TypedRecords:
    """Decodes the records of one corpus; ``see`` reads one as the reader does, or None if it needs the reader."""

    def __init__(
        self,
        declaration: Declaration,
        placeholders: Mapping[str, str],
        columns: ListColumns,
        see: Callable[[RawRecord], Seen | None],
    ) -> None:
        """``placeholders``: key of a record -> placeholder."""
        self._placeholders, self._list, self._fields = placeholders, columns.list_key, columns.fields
        self._null_is_text = columns.null_is_text
        self._is_plain, self._parts, self._see = columns.is_plain, columns.parts, see
        self._roles = declaration.roles
        self._times = declaration.times
        self._kinds = {**_KINDS, **{moment: (_TEXT, _NULL) for moment in MOMENTS if moment in self._times}}
        self._no_labels = {label_placeholder(spec): spec.missing_values for spec in declaration.annotations}

    def decode(self, block: Sequence[RawRecord]) -> list[Typed]:
        """Decode those records of a block that are written as most are, and as most of the others."""
        forms: list[Typed] = []
        left = list(range(len(block)))
        while len(left) > len(block) // _FEW and len(forms) < _MOST_FORMS:
            some = [block[place] for place in left]
            layouts = self._look(some)
            proven = layouts and self._proven(some, *layouts)
            typed = self._typed(*layouts, proven, left, block) if layouts and proven else None
            if typed is None or typed.records.is_empty():
                break
            forms.append(typed)
            places = set(typed.records["n"])
            left = [place for place in left if place not in places]
        return forms

    def _look(self, block: Sequence[RawRecord]) -> tuple[Layout, list[Layout]] | None:
        looked_at = block[:: -(-len(block) // _LOOKED_AT)]
        seen = [found for raw in looked_at if (found := self._form_of(raw)) is not None]
        if not seen:
            return None
        most = Counter(found.form for found in seen).most_common(1)[0][0]
        counts = Counter[Form]()
        shapes: dict[Form, Mapping[str, Any]] = {}
        for form, shape, turns, of_messages in seen:
            if form == most:
                shape_of_most = shape
                counts.update(of_messages)
                shapes |= {each: turn.shape or {} for each, turn in zip(of_messages, turns, strict=True)}
        layouts: list[Layout] = []
        for message_form, _ in counts.most_common(_MOST_LAYOUTS):
            if _types([*(known.form for known in layouts), message_form]) is not None:
                parts = [key for key, kind in message_form if key in self._parts and kind != _NULL]
                kind = dict(message_form).get(self._fields["text"]) if "text" in self._fields else _TEXT
                has_text = kind == _TEXT or (kind == _NULL and self._null_is_text)
                layouts.append(Layout(message_form, shapes[message_form], parts, has_text))
        return Layout(most, shape_of_most), layouts

    def _form_of(self, raw: RawRecord) -> _SeenForms | None:
        seen = self._see(raw)
        if seen is None:
            return None
        try:
            value = self._value(raw)
        except msgspec.DecodeError:
            return None
        form = {key: _kind(item) if key in self._placeholders else _ANY for key, item in value.items()}
        for key, placeholder in self._placeholders.items():
            kinds = (_NULL,) if placeholder == "system" else _NAMES  # what the system says is a turn of its own
            if key in form and (form[key] not in kinds or seen.shape[key] is None):
                return None
        if not _are_names(value):
            return None
        if not isinstance(value.get(self._list), list):  # a cell that has it as JSON
            return None
        forms = []
        for message, turn in zip(value[self._list], seen.turns, strict=True):
            if (message_form := self._message_form(message, turn)) is None:
                return None
            forms.append(message_form)
        return _SeenForms(tuple(form.items()), seen.shape, seen.turns, forms)

    def _message_form(self, message: Mapping[str, Any], turn: ParsedTurn) -> Form | None:
        form = {key: _kind(item) for key, item in message.items()}
        taken = [key for key, item in (turn.shape or {}).items() if item is not None]
        parts = [key for key in self._parts & form.keys() if form[key] != _NULL]
        has_content = any(piece.field not in parts for piece in turn.parts or ())
        meant = {*parts, *(key for key in self._fields.values() if key in form)}
        if has_content or not meant <= {*taken} or not _are_names(message):
            return None
        for name, key in self._fields.items():
            if key in form and form[key] not in self._kinds.get(name, _NAMES):
                return None
        is_any = {key for key in form if key not in taken or key in parts}
        return tuple((key, _ANY if key in is_any and kind != _NULL else kind) for key, kind in form.items())

    def _value(self, raw: RawRecord) -> Any:
        return _VALUES.decode(raw.raw)

    def _proven(self, some: Sequence[RawRecord], layout: Layout, layouts: list[Layout]) -> Proven | None:
        with typed_json() as database:
            return database.decode([raw.raw for raw in some], self._columns(layout, layouts))

    def _columns(self, layout: Layout, layouts: list[Layout]) -> Columns:
        types = _types([known.form for known in layouts]) or {}
        records = {key: [types] if key == self._list else _type(kind) for key, kind in layout.form}
        items = f"d.{quoted(self._list)}"
        placeholders = {
            placeholder: f"d.{quoted(key)}::varchar"
            for key, placeholder in self._placeholders.items()
            if dict(layout.form).get(key, _NULL) != _NULL
        }
        fields = {name: f"m.{quoted(key)}" for name, key in self._fields.items() if key in types}
        for name, sql in fields.items():
            is_number = name in MOMENTS and name not in self._times
            fields[name] = sql if is_number else f"coalesce({sql}, '')" if name == "text" else f"{sql}::varchar"
        role = fields.get("role", literal(NO_ROLE))
        if self._roles:
            cases = " ".join(f"when {literal(word)} then {literal(meaning)}" for word, meaning in self._roles.items())
            role = f"case {role} {cases} else {role} end"
        fields.setdefault("text", "''")
        conditions = " and ".join(
            f"d.{quoted(key)} is {'' if kind == _NULL else 'not '}null"
            for key, kind in layout.form
            if key in self._placeholders or key == self._list
        )
        cases = " ".join(f"when {_is_of(known.form, types)} then {number}" for number, known in enumerate(layouts))
        return Columns(
            type=records,
            where=conditions,
            written="to_json(d)::varchar" if len(layouts) == 1 else _written(layout, self._list, layouts, types),
            of_object=placeholders,
            items=items,
            of_item={**fields, "ours": role, "layout": f"case {cases} end"},
        )

    def _typed(
        self, layout: Layout, layouts: list[Layout], proven: Proven, left: Sequence[int], block: Sequence[RawRecord]
    ) -> Typed:
        places = pl.Series(left, dtype=pl.UInt32)
        records, turns = (rows.with_columns(places.gather(rows["n"]).alias("n")) for rows in proven)
        records, is_bad = self._with_times(records, "started_at", [layout], pl.repeat(0, len(records), eager=True))
        for placeholder, missing in self._no_labels.items():
            if placeholder in records.columns:
                is_bad |= records[placeholder].is_in(missing)
        if parts := [placeholder for placeholder in self._placeholders.values() if placeholder.startswith(ID_PART)]:
            records = records.with_columns(joined_ids(records[part] for part in parts).alias("native_id"))
        bad = records["n"].filter(is_bad)
        of_form = turns["layout"]
        is_bad = of_form.is_null()
        for placeholder in ("said_at", *(moment for moment in MOMENTS if moment in self._times)):
            turns, is_other = self._with_times(turns, placeholder, layouts, of_form)
            is_bad |= is_other
        if "role" in turns.columns:
            plain = [word for word in turns["role"].unique().drop_nulls() if self._is_plain(word)]
            is_bad |= ~turns["role"].is_in(plain)
        for name in ("speaker", "native_id", "kind"):
            if name in turns.columns:
                is_bad |= (turns[name] == "").fill_null(value=False)
        if "native_id" in turns.columns:
            is_bad |= (
                turns["native_id"].is_not_null() & turns.select(pl.struct("n", "native_id")).to_series().is_duplicated()
            )
        there = turns["n"].unique()
        good = there.filter(~there.is_in(pl.concat([bad, turns["n"].filter(is_bad)]).implode())).implode()
        records, turns = (rows.filter(rows["n"].is_in(good)) for rows in (records, turns))
        return Typed(layout, layouts, records, turns, self._list, block)

    def _with_times(
        self, rows: pl.DataFrame, placeholder: str, layouts: Sequence[Layout], of_form: pl.Series
    ) -> tuple[pl.DataFrame, pl.Series]:
        """Read the times in a column; return too which are written otherwise than the row's layout says."""
        if placeholder not in rows.columns:
            return rows, pl.repeat(value=False, n=len(rows), eager=True)
        form, texts = self._times.get(placeholder, ISO), rows[placeholder]
        times = read_moments(texts, form) if placeholder in MOMENTS else read_times(texts, form, is_number=form in UNIX)
        hows = pl.Series([layout.how(placeholder) for layout in layouts], dtype=pl.String).gather(of_form)
        is_bad = rows[placeholder].is_not_null() & times["how"].ne_missing(hows)
        return rows.with_columns(times["value"].alias(placeholder)), is_bad


def placeholders_of_keys(declaration: Declaration) -> dict[str, str] | None:
    """Return the placeholder of each key of a record, or None if some are deeper, or two are for one key."""
    paths = {
        placeholder: path
        for placeholder, path in {**paths_of(declaration), "system": declaration.dialogue.system}.items()
        if path
    }
    placeholders = {
        path[0]: placeholder for placeholder, path in paths.items() if len(path) == 1 and isinstance(path[0], str)
    }
    return placeholders if len(placeholders) == len(paths) else None


def _kind(value: object) -> str:
    if type(value) is int:
        return _INTEGER if -(2**63) <= value < 2**63 else _ANY
    return _TEXT if type(value) is str else _NULL if value is None else _ANY


def _type(kind: str) -> str:
    return _ANY if kind == _NULL else kind


def is_of_form(form: Form, members: Mapping[str, Any], *, is_record: bool = False) -> bool:
    """Whether members are those of a form; null is no form's ``JSON`` but that of records."""
    return [key for key, _ in form] == [*members] and all(
        kind == _kind(members[key]) or (kind == _ANY and (is_record or members[key] is not None)) for key, kind in form
    )


def _are_names(members: Mapping[str, Any]) -> bool:
    """Whether keys can be names of a struct, which are the same in capitals."""
    return len({key.casefold() for key in members if key}) == len(members) <= _MOST_KEYS


def _types(forms: Sequence[Form]) -> dict[str, str] | None:
    """Return the types of all members, or None if forms conflict, or non-null values can't tell them apart."""
    types: dict[str, str] = {}
    for form in forms:
        for key, kind in form:
            if types.get(key, _NULL) == _NULL:
                types[key] = kind
            elif kind not in (_NULL, types[key]):
                return None
    there = {frozenset(key for key, kind in form if kind != _NULL) for form in forms}
    return {key: _type(kind) for key, kind in types.items()} if len(there) == len(forms) and _are_names(types) else None


def _is_of(form: Form, types: Mapping[str, str]) -> str:
    kinds = dict(form)
    return " and ".join(f"m.{quoted(key)} is {'not ' if kinds.get(key, _NULL) != _NULL else ''}null" for key in types)


def _written(layout: Layout, list_key: str, layouts: Sequence[Layout], types: Mapping[str, str]) -> str:
    cases = " ".join(f"when {_is_of(known.form, types)} then {_json(_members(known.form, 'm'))}" for known in layouts)
    record = _members(layout.form, "d")
    record[list_key] = f"list_transform({record[list_key]}, lambda m: case {cases} end)"
    return f"{_json(record)}::varchar"


def _members(form: Form, name: str) -> dict[str, str]:
    return {key: "null" if kind == _NULL else f"{name}.{quoted(key)}" for key, kind in form}


def _json(members: Mapping[str, str]) -> str:
    return f"to_json({{{', '.join(f'{literal(key)}: {sql}' for key, sql in members.items())}}})"


_MESSAGES = decoder(list[dict[str, Raw]])


def typed_dialogues(typed: Typed, labels: Sequence[Labels]) -> DecodedDialogues:
    """Return the records of one form in a block, but for those in which something is malformed or to be found."""
    records, turns = typed.records, typed.turns.drop("role", strict=False).rename({"ours": "role", "layout": "shape"})
    shapes = [layout.shape for layout in typed.layouts]
    has_rest = any(layout.rest for layout in (typed.layout, *typed.layouts))
    has_parts = any(layout.parts for layout in typed.layouts)
    if "rest" in turns.columns or not (labels or has_rest or has_parts):
        of_records = dict.fromkeys(records["n"], OfRecord(typed.layout.shape, {}))
        for n in of_records if typed.layout.rest else ():
            members = members_of(typed.block[n].raw)
            of_records[n] = OfRecord(typed.layout.shape, {name: members[key] for name, key in typed.layout.rest})
        return DecodedDialogues(records, turns, shapes, {}, of_records)
    read: dict[int, _Read] = {}
    writers = [rest_writer(layout) for layout in typed.layouts]
    names = [name for name in ("text", "role", "native_id") if labels and name in turns.columns]
    for n, forms, *texts in turns.group_by("n", maintain_order=True).agg("shape", *names).iter_rows():
        try:
            read[n] = _read(typed, writers, labels, typed.block[n].raw, forms, *texts)
        except (BadRecord, msgspec.DecodeError):
            continue
    if not _may_be_kept(chain.from_iterable(record.unchecked for record in read.values())):
        read = {n: record for n, record in read.items() if _may_be_kept(record.unchecked)}
    records, turns = (rows.filter(rows["n"].is_in(list(read))) for rows in (records, turns))
    rest = pl.Series([members for n in read for members in read[n].rest], dtype=pl.Binary).cast(pl.String)
    return DecodedDialogues(
        records,
        turns.with_columns(rest=rest),
        shapes,
        {(n, i): pieces for n, record in read.items() for i, pieces in enumerate(record.parts) if pieces},
        {n: OfRecord(typed.layout.shape, record.extra, record.labels) for n, record in read.items()},
    )


EmptyTurn = tuple[int, str]
"""The place of a record in its block, and that of a turn in the record, as a pointer."""


def empty_turns(typed: Typed, decoded: DecodedDialogues) -> Iterator[EmptyTurn]:
    """Yield the turns of one form that have no text, nor anything else that is said."""
    silent = [number for number, layout in enumerate(typed.layouts) if not layout.has_text]
    if silent:
        turns = decoded.turns.filter(pl.col("shape").is_in(silent)).select("n", "i")
        yield from ((n, pointer(typed.list_key, i)) for n, i in turns.iter_rows() if (n, i) not in decoded.parts)


class _Read(NamedTuple):
    extra: Members
    rest: Sequence[bytes | None]
    """What goes to ``extra`` of each message, as JSON."""
    parts: Sequence[Sequence[ParsedPart]]
    labels: Sequence[ParsedLabel]
    unchecked: Sequence[Raw | bytes]
    """What has to be checked."""


_RestWriter = Callable[[Members], bytes | None]


def rest_writer(layout: Layout) -> _RestWriter:
    """Return the writer, as JSON, of those members of a message that no column holds, if there are any."""
    if not layout.rest:
        return lambda _: None
    names, keys = zip(*layout.rest, strict=True)
    pieces = [msgspec.json.encode(name).replace(b"%", b"%%") + b":%b" for name in names]
    template, values = b"{" + b",".join(pieces) + b"}", itemgetter(*keys)
    return lambda message: template % values(message)


def _read(
    typed: Typed,
    writers: Sequence[_RestWriter],
    labels: Sequence[Labels],
    raw: bytes,
    forms: Sequence[int],
    texts: Sequence[str] = (),
    roles: Sequence[str] = (),
    native_ids: Sequence[str | None] = (),
) -> _Read:
    """Read what is not in columns; BadRecord where there is something to find in it."""
    check_depth(raw)
    members = members_of(raw)
    extra = {name: members[key] for name, key in typed.layout.rest}
    messages: list[Members] = _MESSAGES.decode(members[typed.list_key])
    rest = [writers[form](message) for message, form in zip(messages, forms, strict=True)]
    unchecked: list[Raw | bytes] = [*extra.values(), *filter(None, rest)]
    parts = list[list[ParsedPart]]()
    if any(typed.layouts[form].parts for form in {*forms}):
        by_form = zip(messages, forms, strict=True)
        of_parts = [{key: message[key] for key in typed.layouts[form].parts} for message, form in by_form]
        unchecked += [piece for own in of_parts for piece in own.values()]
        parts = [[piece for key, part in own.items() for piece in _pieces(key, part)] for own in of_parts]
        if next(results_without_calls([ParsedTurn("", "", "", parts=pieces) for pieces in parts if pieces]), None):
            raise BadRecord("GF-16", "a result of no call")
    found = _read_labels(labels, members, typed.list_key, messages, texts, roles, native_ids) if labels else ()
    return _Read(extra, rest, parts, found, unchecked)


def _read_labels(
    labels: Sequence[Labels],
    members: Members,
    list_key: str,
    messages: Sequence[Members],
    texts: Sequence[str],
    roles: Sequence[str],
    native_ids: Sequence[str | None],
) -> list[ParsedLabel]:
    at, findings = pointer(list_key), list[ReaderFinding]()
    turns = [ParsedTurn("", text, f"{at}/{index}") for index, text in enumerate(texts)]
    for turn, native_id in zip(turns, native_ids, strict=False):
        turn.native_id = native_id
    dialogue = ParsedDialogue(turns, response=last_answer(roles), messages=dict(enumerate(messages)))
    found = [label for each in labels for label in each.read(members, dialogue, findings)]
    if findings:
        raise BadRecord("GF-01", "a label that has to be looked at")
    return found


def _pieces(key: str, raw: Raw) -> list[ParsedPart]:
    pieces = read_member(key, raw)
    if pieces is None:
        raise BadRecord("GF-01", "no parts")
    return pieces


def _may_be_kept(raws: Iterable[Raw | bytes]) -> bool:
    """Whether no object in any of the texts has a key twice, and all else is as ``check`` wants it."""
    try:
        check(b"[" + b",".join(map(bytes, raws)) + b"]")
    except BadRecord:
        return False
    return True
