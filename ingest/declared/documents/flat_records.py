"""Records whose turns are texts of the record itself, as most pairs are: those of one form are read together.

The reader reads the first of a form. Of the others only the texts are another: they have the same keys in the same
order, and where something is wanted the same kind of value, so there is nothing to find in them either.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from talkhouse.ingest.declared.documents.dialogue_rows import RECORDS, DecodedDialogues, OfRecord
from talkhouse.ingest.declared.documents.document_format import ID_PART
from talkhouse.ingest.declared.documents.typed import Seen
from talkhouse.ingest.declared.identity import joined_ids
from talkhouse.ingest.declared.record_files.content import RawRecord
from talkhouse.ingest.declared.shapes import Wanted, alias, members_of
from talkhouse.ingest.decode import BadRecord, check, pointer

_FEW = 100
"""Records of one form from which on they are read together, which takes two milliseconds before the first of them."""

_FACTS = RECORDS.keys() - {"started_at"}
_TEXT, _EMPTY, _INTEGER, _NULL, _OTHER = "text", "empty", "integer", "null", "other"


class FlatRecords:
    """Reads such records of one corpus; ``see`` reads one as the reader does, or None if it needs the reader."""

    def __init__(self, texts: frozenset[str], want: Wanted, see: Callable[[RawRecord], Seen | None]) -> None:
        """``texts``: keys of turns; ``want``: what the reader takes of a record."""
        self._texts, self._want, self._see = texts, want, see
        names = {key: name for key, name in want.items() if isinstance(name, str) and key not in texts}
        self._facts = {key: name for key, name in names.items() if name in _FACTS or name.startswith(ID_PART)}

    def decode(self, block: Sequence[RawRecord]) -> list[DecodedDialogues]:
        """Read the records of all forms that many of a block have."""
        forms = defaultdict[tuple[tuple[str, ...], tuple[str, ...]], dict[int, dict[str, Any]]](dict)
        for n, raw in enumerate(block):
            try:
                value = check(raw.raw)
            except BadRecord:
                continue
            if type(value) is dict:
                kinds = tuple([self._kind(key, item) for key, item in value.items() if key in self._want])
                forms[tuple(value), kinds][n] = value
        many = (records for (_, kinds), records in forms.items() if len(records) >= _FEW and _OTHER not in kinds)
        return [decoded for records in many if (decoded := self._of_form(records, block)) is not None]

    def _kind(self, key: str, value: object) -> str:
        if key not in self._texts and key not in self._facts:
            return _OTHER
        if type(value) is str:
            return _TEXT if value else _EMPTY
        if type(value) is int and 0 < value < 2**63:  # which is written in one way only
            return _INTEGER
        return _NULL if value is None else _OTHER

    def _of_form(self, records: Mapping[int, Mapping[str, Any]], block: Sequence[RawRecord]) -> DecodedDialogues | None:
        """Read the records of one form, by their places; None where there is something to find in them."""
        seen = self._see(block[next(iter(records))])
        if seen is None:
            return None
        shape, turns = seen
        keys = {pointer(key): key for key in self._texts}
        spoken = [keys[turn.pointer] for turn in turns]
        texts = {
            "n": pl.Series([n for n in records for _ in spoken], dtype=pl.UInt32),
            "i": pl.Series([*range(len(spoken))] * len(records), dtype=pl.Int32),
            "role": pl.Series([turn.role for turn in turns] * len(records), dtype=pl.String),
            "text": pl.Series([record[key] for record in records.values() for key in spoken], dtype=pl.String),
            "shape": pl.repeat(None, len(spoken) * len(records), dtype=pl.UInt32, eager=True),
        }
        facts = {"n": pl.Series([*records], dtype=pl.UInt32)}
        for key, placeholder in self._facts.items():
            if shape.get(key) is not None:
                cells = (record[key] for record in records.values())
                facts[placeholder] = pl.Series([None if cell is None else str(cell) for cell in cells], dtype=pl.String)
        if parts := [placeholder for placeholder in facts if placeholder.startswith(ID_PART)]:
            facts["native_id"] = joined_ids(facts.pop(part) for part in parts)
        rest = [(alias(key), key) for key, item in shape.items() if item is None]
        of_records = dict.fromkeys(records, OfRecord(shape, {}))
        for n in records if rest else ():
            members = members_of(block[n].raw)
            of_records[n] = OfRecord(shape, {name: members[key] for name, key in rest})
        return DecodedDialogues(pl.DataFrame(facts), pl.DataFrame(texts), [], {}, of_records)
