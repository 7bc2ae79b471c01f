"""Trees of messages, each with its replies: those of one form are read together, a message before all below it.

To check a record is to decode it, and Python walks down its replies faster than it writes them as a list for DuckDB.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, TypeAlias

import msgspec
import polars as pl
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import MOMENTS, Declaration
from talkhouse.ingest.declared.documents.document_format import ListColumns
from talkhouse.ingest.declared.documents.typed import Layout, Seen, Typed, TypedRecords, is_of_form, rest_writer
from talkhouse.ingest.declared.record_files.content import RawRecord
from talkhouse.ingest.declared.shapes import Members, members_of
from talkhouse.ingest.declared.speakers import NO_ROLE
from talkhouse.ingest.decode import BadRecord, check, decoder
from talkhouse.ingest.loading.typed_json import MINUS_ZERO, Proven

_OBJECT, _OBJECTS = decoder(dict[str, Raw]), decoder(list[dict[str, Raw]])
_MINUS_ZERO = re.compile(MINUS_ZERO.encode())

_Message: TypeAlias = tuple[Mapping[str, Any], Members, int | None]
"""A message's values, its members as the file has them, and which message it replies to."""


class TreeRecords(TypedRecords):
    """Reads the trees of one corpus, of which one message is the first."""

    def __init__(
        self,
        declaration: Declaration,
        placeholders: Mapping[str, str],
        columns: ListColumns,
        see: Callable[[RawRecord], Seen | None],
    ) -> None:
        super().__init__(declaration, placeholders, columns, see)
        self._replies = columns.replies

    def decode(self, block: Sequence[RawRecord]) -> list[Typed]:
        """Read trees; one in which a message has no text, or names another one than that above it, is left."""
        return [_without_bad_replies(typed) for typed in super().decode(block)]

    def _messages(self, root: Any, members: Raw) -> Iterator[_Message]:
        """Yield a message and all below it; DecodeError where one is none."""
        waiting: list[_Message] = [(root, _OBJECT.decode(members), None)]
        count = 0
        while waiting:
            each = waiting.pop()
            yield each
            message, own, _ = each
            replies = message.get(self._replies)
            if replies is not None and replies != []:
                below = _OBJECTS.decode(own[self._replies])
                waiting += [(reply, its, count) for reply, its in zip(reversed(replies), reversed(below), strict=True)]
            count += 1

    def _value(self, raw: RawRecord) -> Any:
        record = super()._value(raw)
        root = members_of(raw.raw)[self._list]
        return {**record, self._list: [message for message, *_ in self._messages(record[self._list], root)]}

    def _proven(self, some: Sequence[RawRecord], layout: Layout, layouts: list[Layout]) -> Proven | None:
        """Return the trees of a form whose messages are all of some others."""
        there = {key for each in layouts for key, _ in each.form}
        fields = {name: key for name, key in self._fields.items() if key in there}
        values_of = [_getter(each, [*fields.values()]) for each in layouts]
        writers = [rest_writer(each) for each in layouts]
        known: dict[tuple[tuple[str, ...], tuple[type, ...]], int | None] = {}
        records = dict[int, Mapping[str, Any]]()
        turns = list[tuple[Any, ...]]()
        for n, raw in enumerate(some):
            own = list[tuple[Any, ...]]()
            try:
                record = check(raw.raw)
                if type(record) is not dict or not is_of_form(layout.form, record, is_record=True):
                    continue
                if b"-0" in raw.raw and _MINUS_ZERO.search(raw.raw):
                    continue
                root = members_of(raw.raw)[self._list]
                for message, members, above in self._messages(record[self._list], root):
                    form = tuple(message), tuple(map(type, message.values()))
                    if form not in known:
                        fitting = (number for number, each in enumerate(layouts) if is_of_form(each.form, message))
                        known[form] = next(fitting, None)
                    number = known[form]
                    if number is None:
                        break
                    own.append((n, len(own), number, above, writers[number](members), *values_of[number](message)))
                else:
                    records[n] = record
                    turns += own
            except (BadRecord, msgspec.DecodeError):
                continue
        if not turns:
            return None
        owners, places, numbers, parents, rest, *cells = zip(*turns, strict=True)
        columns = {
            "n": pl.Series(owners, dtype=pl.UInt32),
            "i": pl.Series(places, dtype=pl.Int32),
            "layout": pl.Series(numbers, dtype=pl.Int32),
            "above": pl.Series(parents, dtype=pl.Int32),
            "rest": pl.Series(rest, dtype=pl.Binary).cast(pl.String),
            "text": pl.repeat("", len(turns), eager=True),
        }
        try:
            columns |= {name: self._cells(name, own) for name, own in zip(fields, cells, strict=True)}
        except TypeError:  # a moment beyond 64 bits
            return None
        columns["ours"] = columns.get("role", pl.repeat(NO_ROLE, len(turns), eager=True)).replace(self._roles)
        of_record = {
            placeholder: self._cells(placeholder, [record[key] for record in records.values()])
            for key, placeholder in self._placeholders.items()
            if key in dict(layout.form)
        }
        objects = pl.DataFrame({"n": pl.Series([*records], dtype=pl.UInt32), **of_record})
        return Proven(objects, pl.DataFrame(columns))

    def _cells(self, name: str, cells: Sequence[Any]) -> pl.Series:
        """Return a column of texts, or of moments in milliseconds."""
        if name in MOMENTS and name not in self._times:
            return pl.Series(cells, dtype=pl.Int64)
        if {*map(type, cells)} <= {str, type(None)}:
            return pl.Series(cells, dtype=pl.String)
        return pl.Series([None if cell is None else str(cell) for cell in cells], dtype=pl.String)


def _getter(layout: Layout, keys: list[str]) -> Callable[[Mapping[str, Any]], tuple[Any, ...]]:
    """Return the getter of the values of some keys, of which a message may lack some."""
    if len(keys) > 1 and {*keys} <= {key for key, _ in layout.form}:
        return itemgetter(*keys)
    return lambda message: tuple([message.get(key) for key in keys])


def _without_bad_replies(typed: Typed) -> Typed:
    turns = typed.turns
    is_bad = turns["layout"].is_in([number for number, layout in enumerate(typed.layouts) if not layout.has_text])
    if {"reply_to", "native_id"} <= {*turns.columns}:
        first = pl.int_range(len(turns), dtype=pl.Int32, eager=True) - turns["i"]
        ids = turns["native_id"].gather(first + turns["above"])
        is_bad |= turns["reply_to"].is_not_null() & turns["reply_to"].ne_missing(ids)
    bad = turns["n"].filter(is_bad).implode()
    turns = turns.with_columns(reply_to="above").drop("above")
    return typed._replace(
        records=typed.records.filter(~pl.col("n").is_in(bad)), turns=turns.filter(~pl.col("n").is_in(bad))
    )
