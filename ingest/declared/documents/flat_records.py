"""Records whose turns and candidates are texts of the record itself, as most pairs and preferences are.

Those of one form are read together. The reader reads the first of a form. Of the others only the texts are another:
they have the same keys in the same order, and where something is wanted the same kind of value, so there is nothing to
find in them either, unless two candidates are the same.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from talkhouse.ingest.declared.documents.dialogue_rows import CANDIDATES, RECORDS, DecodedDialogues, OfRecord
from talkhouse.ingest.declared.documents.document_format import ID_PART
from talkhouse.ingest.declared.documents.typed import Seen
from talkhouse.ingest.declared.identity import joined_ids
from talkhouse.ingest.declared.record_files.content import RawRecord
from talkhouse.ingest.declared.shapes import Wanted, alias, members_of
from talkhouse.ingest.decode import BadRecord, check, dump, pointer

_FEW = 100
"""Records of one form from which on they are read together, which takes two milliseconds before the first of them."""

_FACTS = RECORDS.keys() - {"started_at"}
_TEXT, _EMPTY, _INTEGER, _NULL, _OTHER = "text", "empty", "integer", "null", "other"


class FlatRecords:
    """Reads such records of one corpus; ``see`` reads one as the reader does, or None if it needs the reader."""

    def __init__(self, texts: frozenset[str], want: Wanted, see: Callable[[RawRecord], Seen | None]) -> None:
        """``texts``: keys of turns and candidates; ``want``: what the reader takes of a record."""
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
        shape, turns, candidates = seen
        keys = {pointer(key): key for key in self._texts}
        answers = [keys[candidate.pointer] for candidate in candidates]
        if answers:
            are_different = {n: len({record[key] for key in answers}) == len(answers) for n, record in records.items()}
            records = {n: record for n, record in records.items() if are_different[n]}
        spoken = [keys[turn.pointer] for turn in turns]
        texts = _stacked(records, spoken, turns, {"role": pl.String})
        texts = texts.with_columns(pl.Series("i", [*range(len(spoken))] * len(records), pl.Int32), shape=None)
        offered = _stacked(records, answers, candidates, CANDIDATES)
        extra = [dump(candidate.extra) for candidate in candidates]
        offered = offered.with_columns(pl.Series("extra", extra * len(records), pl.String))
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
        return DecodedDialogues(pl.DataFrame(facts), texts, [], {}, of_records, offered)


def _stacked(
    records: Mapping[int, Mapping[str, Any]], keys: Sequence[str], items: Sequence[object], kinds: Mapping[str, Any]
) -> pl.DataFrame:
    """Return a row for each of some keys of each record: ``n``, ``text``, and what the item of the key's place has."""
    columns = {
        name: pl.Series([getattr(item, name) for item in items] * len(records), dtype=kinds[name]) for name in kinds
    }
    columns["n"] = pl.Series([n for n in records for _ in keys], dtype=pl.UInt32)
    columns["text"] = pl.Series([record[key] for record in records.values() for key in keys], dtype=pl.String)
    return pl.DataFrame(columns)
