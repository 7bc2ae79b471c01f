"""What records of all kinds share: they are read one by one, and their texts and personas are rows once each."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from msgspec import Raw

from talkhouse.ingest import decode, json_members
from talkhouse.ingest.corpora.blended_skill_talk.format import CORPUS, SPLITS
from talkhouse.ingest.decode import BadRecord, pointer
from talkhouse.ingest.input_files import InputFile, load_or_reject
from talkhouse.ingest.keys import Keys, Texts, digest
from talkhouse.ingest.outcomes import FileEnvelope, Loaded, Outcome, SourceLocation, reject
from talkhouse.ingest.rows import Candidate, ColumnBatch, Persona, PersonaUse, Record, Row
from talkhouse.ingest.stored_record import StoredRecord

T = TypeVar("T")

ReadRecord = Callable[[SourceLocation, bytes], Loaded]
"""Reads one record; raises BadRecord where it is rejected."""

_DIGITS = 16


class UniqueTexts:
    """The texts of a build; keys and hashes are held, never texts."""

    def __init__(self) -> None:
        self.texts = Texts(CORPUS)
        self._personas = Keys()

    def persona(self, text: str, rows: list[Row]) -> str:
        """Return the key of a persona sentence; adds its row where it is new."""
        content = digest(text)
        key, is_new = self._personas.assign(f"{CORPUS}:persona/{content.hex()[:_DIGITS]}", content)
        if is_new:
            rows.append(Persona(key, CORPUS, None, None, text))
        return key

    def persona_uses(
        self, record: Record, name: str, sentences: Iterable[str], speaker_id: str | None = None
    ) -> list[Row]:
        """Return the rows of a persona: its sentences where they are new, and their uses."""
        rows: list[Row] = []
        for position, text in enumerate(sentences):
            persona_id = self.persona(text, rows)
            rows.append(PersonaUse(record.record_id, None, name, position, record.dialogue_id, persona_id, speaker_id))
        return rows

    def candidates(
        self, record: Record, name: str, lists: Iterable[tuple[int, list[str]]], golds: Iterable[bool] = ()
    ) -> tuple[list[Row], list[ColumnBatch]]:
        """Return the lists of candidate texts of a record, each with its turn: new texts as rows, and all uses.

        ``golds``: for every text whether it is the right answer; none where nothing says.
        """
        rows: list[Row] = []
        lists = list(lists)
        columns: dict[str, list[Any]] = {
            "turn_index": [turn for turn, texts in lists for _ in texts],
            "position": [position for _, texts in lists for position in range(len(texts))],
            "text_id": self.texts.ids((text for _, texts in lists for text in texts), rows),
        }
        if is_known := list(golds):
            columns["is_gold"] = is_known
        shared = {
            "record_id": record.record_id,
            "candidate_set": name,
            "item_index": 0,
            "dialogue_id": record.dialogue_id,
        }
        return rows, [ColumnBatch(Candidate, shared, columns)] if columns["position"] else []


def read_json_list(input_file: InputFile, raw: bytes, read_record: ReadRecord) -> Iterator[Outcome]:
    """Read a JSON list item by item; raises BadRecord where the file is none."""
    pieces = json_members.items(raw)
    yield FileEnvelope(input_file.file, {"shape": "list"}, len(pieces))
    yield from read_records(input_file, pieces, read_record)


def read_lines(input_file: InputFile, text: str, records: list[str], read_record: ReadRecord) -> Iterator[Outcome]:
    """Read the records of a text file, each of which is one line or several."""
    is_open = bool(text) and not text.endswith("\n")
    yield FileEnvelope(input_file.file, {"shape": "lines", "lacks_final_newline": is_open}, len(records))
    yield from read_records(input_file, map(str.encode, records), read_record)


def read_records(input_file: InputFile, pieces: Iterable[bytes | Raw], read_record: ReadRecord) -> Iterator[Outcome]:
    """Read one record after the other; a bad one is rejected alone."""
    for index, piece in enumerate(pieces):
        input_file.file.check_record(len(memoryview(piece)), pointer(index))
        raw = bytes(piece)
        location = input_file.record_location(index, pointer(index), len(raw))
        try:
            decode.text(raw)  # fields that nothing decodes have to be UTF-8 too
        except BadRecord as bad:
            yield reject(location, bad, raw)
            continue
        yield load_or_reject(read_record, location, raw)


def lines_of(text: str) -> list[str]:
    """Split a text file into its lines."""
    return text.removesuffix("\n").split("\n") if text else []


def record_at(
    location: SourceLocation, input_file: InputFile, extra: Mapping[str, Any], dialogue_id: str | None = None
) -> Record:
    """Make the row of a record."""
    return location.record(
        f"{input_file.prefix}/{location.record_index}",
        dialogue_id,
        standard_split=SPLITS.get(location.split or ""),
        extra={**extra, "repeats": input_file.repeats},
    )


def extra_of(stored: StoredRecord, kind: type[T]) -> T:
    """Decode ``records.extra``."""
    extra: T = decode.decoder(kind).decode(stored.loaded.extra or "{}")
    return extra


def texts_at(stored: StoredRecord, turn_index: int) -> list[str]:
    """List the candidate texts of a turn."""
    return [stored.texts[row.text_id or ""] for row in stored.candidates if row.turn_index == turn_index]
