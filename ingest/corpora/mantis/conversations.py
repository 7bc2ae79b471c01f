"""The plain and the intent file of a split: a record for each dialogue of the one object that a file is."""

from collections import Counter
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
from ingest.corpus import Frame, Loaded, Note, Outcome, Place, Rejected, reject
from ingest.decode import BadRecord, pointer
from ingest.rows import Block, Row
from ingest.sources import BOM, SourceFile

_RELEASED = 100
"""Dialogues after which the memory of those that are done is given back."""


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
        reader = _File(self._parser, self._talks, self._proof, stand_in, is_shared=role.split in self._shared)
        repeated, done = _repeated(pieces), 0
        for index, (key, piece) in enumerate(pieces):
            raw = bytes(piece)
            done += len(raw)
            place = Place(file, repeated.get(index, f"/{key}"), role.subset, None, role.split, index, key, len(raw))
            if index in repeated:
                yield Rejected(place, "TH-03", f"the key {key!r} stands more than once", stand_in.restored(raw))
            else:
                yield reader.dialogue(place, raw)
            if index % _RELEASED == 0:
                held.release(done)
        yield Frame(file, {"orders": list(self._parser.orders)}, len(pieces))


class _File:
    """One file that is read: turns dialogues into records."""

    def __init__(self, parser: Parser, talks: Talks, proof: Proof, stand_in: StandIn, *, is_shared: bool) -> None:
        self._parser, self._talks, self._proof = parser, talks, proof
        self._stand_in, self._is_shared = stand_in, is_shared
        self._decoder: Decoder = msgspec.json.Decoder(float_hook=stand_in.decoded if stand_in.number else str.encode)

    def dialogue(self, place: Place, raw: bytes) -> Loaded | Rejected:
        """Turn one dialogue into its record; one that is there already adds only what it states otherwise."""
        try:
            parsed = self._parser.parse(raw, self._decoder)
        except BadRecord as bad:
            return reject(place, bad, self._stand_in.restored(raw))
        key, name = place.native_id or "", place.split or ""
        known = self._talks.known(name, key, parsed, is_shared=self._is_shared)
        rows: list[Row] = []
        blocks: list[Block] = []
        notes: list[Note] = []
        if known.is_new:
            blocks.append(self._talks.rows(known.dialogue_id, key, parsed, rows))
            notes += oddities(parsed)
        if known.is_first:
            self._remember(name, key, known, parsed)
        notes += record(place, known, parsed, rows)
        return Loaded(place, rows, [placed(note, place) for note in notes], blocks)

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
