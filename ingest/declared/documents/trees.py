"""Trees of messages, each with its replies: those of one form are decoded as lists, a message before all below it."""

from collections.abc import Callable, Mapping, Sequence

import msgspec
import polars as pl
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import Declaration
from talkhouse.ingest.declared.documents.document_format import ListColumns
from talkhouse.ingest.declared.documents.typed import Seen, Typed, TypedRecords
from talkhouse.ingest.declared.record_files.content import RawRecord
from talkhouse.ingest.decode import BadRecord, check, decoder

_OBJECT, _OBJECTS = decoder(dict[str, Raw]), decoder(list[dict[str, Raw]])
_NO_REPLIES = Raw(b"[]")
_NONE = (b"[]", b"null")


class TreeRecords(TypedRecords):
    """Decodes the trees of one corpus, of which one message is the first; ``see`` reads a tree as the reader does."""

    def __init__(
        self,
        declaration: Declaration,
        placeholders: Mapping[str, str],
        columns: ListColumns,
        see: Callable[[RawRecord], Seen | None],
    ) -> None:
        super().__init__(declaration, placeholders, columns, self._see_tree)
        self._replies, self._see_whole = columns.replies, see
        self._trees: dict[int, RawRecord] = {}
        """Record index -> the record of which a list was made."""

    def _see_tree(self, listed: RawRecord) -> Seen | None:
        tree = self._trees.get(listed.record_index)
        return None if tree is None else self._see_whole(tree)

    def decode(self, block: Sequence[RawRecord]) -> list[Typed]:
        """Decode trees; one in which a message has no text, or names another one than that above it, is left."""
        self._trees.clear()
        above: dict[int, list[int | None]] = {}
        listed = [msgspec.structs.replace(raw, raw=b"null") for raw in block]
        for n, raw in enumerate(block):
            try:
                listed[n], above[n] = self._listed(raw)
            except (BadRecord, msgspec.DecodeError):
                continue
            self._trees[raw.record_index] = raw
        return [_with_replies(typed, above) for typed in super().decode(listed)]

    def _listed(self, raw: RawRecord) -> tuple[RawRecord, list[int | None]]:
        """Return a tree as a list without replies, and which message each replies to; DecodeError where it is none."""
        check(raw.raw)
        record = _OBJECT.decode(raw.raw)
        messages, above = list[dict[str, Raw]](), list[int | None]()
        waiting: list[tuple[dict[str, Raw], int | None]] = [(_OBJECT.decode(record.get(self._list, b"")), None)]
        while waiting:
            message, parent = waiting.pop()
            replies = message.get(self._replies)
            if replies is not None and bytes(replies) not in _NONE:
                answers = _OBJECTS.decode(replies)
                waiting += [(answer, len(messages)) for answer in reversed(answers)]
                message[self._replies] = _NO_REPLIES
            messages.append(message)
            above.append(parent)
        record[self._list] = Raw(msgspec.json.encode(messages))
        return msgspec.structs.replace(raw, raw=msgspec.json.encode(record)), above


def _with_replies(typed: Typed, above: Mapping[int, Sequence[int | None]]) -> Typed:
    turns = typed.turns
    replies = pl.Series([place for n in turns["n"].unique(maintain_order=True) for place in above[n]], dtype=pl.Int32)
    is_bad = turns["layout"].is_in([number for number, layout in enumerate(typed.layouts) if not layout.has_text])
    if {"reply_to", "native_id"} <= {*turns.columns}:
        first = pl.int_range(len(turns), dtype=pl.Int32, eager=True) - turns["i"]
        ids = turns["native_id"].gather(first + replies)
        is_bad |= turns["reply_to"].is_not_null() & turns["reply_to"].ne_missing(ids)
    bad = turns["n"].filter(is_bad).implode()
    return typed._replace(
        records=typed.records.filter(~pl.col("n").is_in(bad)),
        turns=turns.with_columns(replies.alias("reply_to")).filter(~pl.col("n").is_in(bad)),
    )
