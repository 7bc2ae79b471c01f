"""The plain and the intent file of a split: a record for each dialogue of the one object that a file is."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator

import msgspec
from msgspec import Raw

from ingest import decode, split
from ingest.corpora.mantis.layout import SPLITS, Role
from ingest.corpora.mantis.oddities import oddities
from ingest.corpora.mantis.parse import Decoder, Parsed, Parser
from ingest.corpora.mantis.proof import Proof
from ingest.corpora.mantis.record import placed, record
from ingest.corpora.mantis.stand_in import StandIn
from ingest.corpora.mantis.talk import Known, Talks
from ingest.corpora.mantis.turns import Columns, block
from ingest.corpus import Frame, LoadedMany, Note, Outcome, Place, Rejected, reject
from ingest.decode import BadRecord, pointer
from ingest.rows import Row
from ingest.sources import BOM, SourceFile

_TOGETHER = 200
"""Dialogues whose rows are handed on together; then the memory of their text is given back."""


class Conversations:
    """Reads the JSON files of one build; keeps keys and hashes of what it has given out."""

    def __init__(self, proof: Proof, shared: Collection[str] = tuple(SPLITS)) -> None:
        """Take the splits that have both a plain and an intent file: only there, words and facts are remembered."""
        self._proof, self._shared = proof, shared
        self._parser, self._talks = Parser(), Talks()

    def file(self, file: SourceFile, role: Role) -> Iterator[Outcome]:
        """Give every dialogue of a file, then what the file is beside them."""
        held = file.hold()
        stand_in = StandIn(held)
        text = held.view[len(BOM) :] if file.has_bom else held.view
        try:
            pieces = _split(text)
        except BadRecord as bad:
            place = Place(file, subset=role.subset, split=role.split, size=file.size)
            yield reject(place, bad, stand_in.restored(bytes(text)))
            return
        reader = _File(file, self._parser, self._talks, self._proof, stand_in, is_shared=role.split in self._shared)
        repeated, done = _repeated(pieces), 0
        for index, (key, piece) in enumerate(pieces):
            raw = bytes(piece)
            done += len(raw)
            place = Place(file, repeated.get(index, f"/{key}"), role.subset, None, role.split, index, key, len(raw))
            if index in repeated:
                yield Rejected(place, "TH-03", f"the key {key!r} stands more than once", stand_in.restored(raw))
            elif refused := reader.take(place, raw):
                yield refused
            if index % _TOGETHER == 0:
                yield from reader.taken()
                held.release(done)
        yield from reader.taken()
        yield Frame(file, {"orders": list(self._parser.orders)}, len(pieces))


class _File:
    """One file that is read: gathers the rows of many dialogues."""

    def __init__(
        self,
        file: SourceFile,
        parser: Parser,
        talks: Talks,
        proof: Proof,
        stand_in: StandIn,
        *,
        is_shared: bool,
    ) -> None:
        self._file, self._parser, self._talks, self._proof = file, parser, talks, proof
        self._stand_in, self._is_shared = stand_in, is_shared
        self._decoder: Decoder = msgspec.json.Decoder(float_hook=stand_in.decoded if stand_in.number else str.encode)
        self._clear()

    def take(self, place: Place, raw: bytes) -> Rejected | None:
        """Add one dialogue, or give why it can't be; one that is there already adds only what it states otherwise."""
        try:
            parsed = self._parser.parse(raw, self._decoder)
        except BadRecord as bad:
            return reject(place, bad, self._stand_in.restored(raw))
        key, name = place.native_id or "", place.split or ""
        known = self._talks.known(name, key, parsed, is_shared=self._is_shared)
        notes = record(place, known, parsed, self._rows)
        if known.is_new:
            self._talks.add(known.dialogue_id, key, parsed, self._rows, self._turns)
            notes = oddities(parsed) + notes
        if known.is_first:
            self._remember(name, key, known, parsed)
        if notes:
            self._notes += [placed(note, place) for note in notes]
        self._records += 1
        self._bytes += len(raw)
        return None

    def taken(self) -> Iterator[LoadedMany]:
        """Give what was taken since the last time, if anything was."""
        if self._records:
            blocks = [block(self._turns)] if self._turns else []
            yield LoadedMany(self._file, self._records, self._bytes, self._rows, blocks, self._notes)
        self._clear()

    def _clear(self) -> None:
        self._records = self._bytes = 0
        self._rows: list[Row] = []
        self._turns: Columns = defaultdict(list)
        self._notes: list[Note] = []

    def _remember(self, name: str, key: str, known: Known, parsed: Parsed) -> None:
        """Tell the response-ranking files what is said in a dialogue."""
        texts, _, positions, roles, *_ = parsed.spoken
        numbers = [said if type(said) is int else index + 1 for index, said in enumerate(positions)]
        self._proof.add(name, key, known.dialogue_id, texts, roles, numbers)


def _split(text: memoryview) -> list[tuple[str, Raw]]:
    """Split a file into its dialogues, without a copy; BadRecord if it is no object with whole numbers as keys."""
    if bytes(text[:1_000]).lstrip()[:1] != b"{":
        try:
            decode.decoder(Raw).decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise decode.json_problem(bytes(text), error) from error
        raise BadRecord("MA-01", "not an object of dialogues")
    pieces = list(split.views(text))
    for key, _ in pieces:
        try:
            int(key)
        except ValueError as error:
            raise BadRecord("MA-01", f"the key {key!r} is no whole number", pointer(key)) from error
    return pieces


def _repeated(pieces: list[tuple[str, Raw]]) -> dict[int, str]:
    """Give the pointer of each dialogue whose key stands more than once: numbered, since quarantine has each once."""
    if len(dict(pieces)) == len(pieces):
        return {}
    times, seen = Counter(key for key, _ in pieces), Counter[str]()
    found = {}
    for index, (key, _) in enumerate(pieces):
        if times[key] > 1:
            found[index] = f"/{key}#{seen[key]}" if seen[key] else f"/{key}"
            seen[key] += 1
    return found
