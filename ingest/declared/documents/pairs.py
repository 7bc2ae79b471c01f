"""Format ``pairs``: a record has an instruction and its answer, or a list of such pairs (``each``)."""

from collections.abc import Iterator
from functools import partial

from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import Declaration, JsonPath
from talkhouse.ingest.declared.documents.pair import PairReader, count_turns
from talkhouse.ingest.declared.documents.parts import write_list
from talkhouse.ingest.declared.documents.required import items_of, required
from talkhouse.ingest.declared.documents.talk import Talk
from talkhouse.ingest.declared.shapes import KnownShapes, Members, Split, Wanted, join, members_of, wanted
from talkhouse.ingest.declared.values import kind_of
from talkhouse.ingest.decode import BadRecord, literals, pointer
from talkhouse.ingest.stored_record import StoredRecord

_EACH = "each"


class Pairs:
    """Reads and writes the records of one corpus."""

    columns = None

    def __init__(self, declaration: Declaration) -> None:
        each = declaration.pair.each or ()
        self._each: JsonPath = each[:-1] if each[-1:] == (None,) else each
        self._pairs = PairReader(declaration, in_list=bool(each))
        self.wanted: Wanted = wanted({_EACH: self._each}) if each else self._pairs.wanted

    def read(self, record: Split) -> Talk:
        """Make the turns; BadRecord GF-01 where prompt or response is missing, or anything is of another type."""
        return self._read_each(record) if self._each else self._read_one(record)

    def _read_one(self, record: Split) -> Talk:
        pair = self._pairs.read(record)
        return Talk(pair.said, taken=pair.taken, findings=pair.findings, response=pair.response)

    def _read_each(self, record: Split) -> Talk:
        """Read a list of pairs; the first turn of each has what else its object says."""
        at = pointer(*self._each)
        talk = Talk([])
        messages: dict[int, Members] = {}
        is_whole = True
        for place, raw in enumerate(items_of(required(record, self._each), at, "the list of pairs")):
            here = f"{at}/{place}"
            if bytes(raw)[:1] != b"{":
                raise BadRecord("GF-01", f"a pair is {kind_of(raw)}, not an object", here)
            item = Split(members_of(raw), self._pairs.wanted)
            pair = self._pairs.read(item, here)
            talk.findings += pair.findings
            rest: dict[str, Raw] = {}
            shape = item.shape(pair.taken, rest)
            is_whole = is_whole and bool(pair.said) and count_turns(shape) == len(pair.said)
            if pair.said:
                head = pair.said[0]
                head.pointer, head.shape, head.extra = here, shape, rest
                messages[len(talk.said)] = item.members
            if pair.response is not None:
                talk.response = len(talk.said) + pair.response
            talk.said += pair.said
        talk.messages = messages
        if is_whole:
            talk.taken[_EACH] = _EACH
        else:  # no turn can hold what a pair without words says: the list stays as it is
            for said in talk.said:
                said.shape = said.extra = None
        return talk

    def write(self, hole: str, stored: StoredRecord, shapes: KnownShapes) -> bytes:
        """Return a text, a history or messages, or the list of all pairs."""
        if hole == _EACH:
            return write_list(list(self._write_each(stored, shapes)))
        return self._pairs.write(hole, stored.turns, stored, shapes)

    def _write_each(self, stored: StoredRecord, shapes: KnownShapes) -> Iterator[bytes]:
        place = 0
        while place < len(stored.turns):
            extra = literals(stored.turns[place].extra)
            shape = shapes.of("message", extra)
            turns = stored.turns[place : place + count_turns(shape)]
            place += len(turns)
            yield join(shape, extra, partial(self._pairs.write, turns=turns, stored=stored, shapes=shapes))
