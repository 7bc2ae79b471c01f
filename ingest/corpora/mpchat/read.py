"""The three task files and the two files of image addresses to rows: one record per dialogue of a file."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, Raw

from talkhouse.ingest import decode, json_members
from talkhouse.ingest.corpora.mpchat.format import (
    CORPUS,
    IMAGE_FILES,
    RESPONSE,
    SPEAKER,
    SPLITS,
    TASK_FILES,
    Lists,
    Nesting,
    ResponseDialogue,
    SourceDialogue,
    TaskFile,
    check_unknown,
)
from talkhouse.ingest.corpora.mpchat.personas import (
    MpchatPeople,
    PersonaElements,
    annotations,
    candidate_batch,
    persona_lists,
    persona_use_batch,
    response_batch,
)
from talkhouse.ingest.corpora.mpchat.warnings import (
    answers_first,
    dialogue_warnings,
    grouped,
    rejected_examples,
    unusual_values,
)
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.input_files import InputFile, InputFiles, load_or_reject
from talkhouse.ingest.keys import Keys, Restatements, Texts, digest
from talkhouse.ingest.outcomes import FileEnvelope, Loaded, Outcome, ReaderFinding, SourceLocation, Unrecognised, reject
from talkhouse.ingest.rows import ColumnBatch, Dialogue, Image, Participant, Record, Row, Turn
from talkhouse.ingest.sources import SourceFile
from talkhouse.ingest.stored_record import StoredRecord


class Parsed(NamedTuple):
    """A dialogue, its keys in published order, and the fields that no documentation names, by pointer."""

    dialogue: SourceDialogue
    fields: list[str]
    unknown: dict[str, Raw]
    empty: dict[str, Any]
    """By pointer, the nulls and empty lists that could not be told from the rows when they are written back."""
    nan: list[int]
    """The messages whose time is NaN, which the dialogue has as null."""


class MpchatDialogues:
    """All dialogues of a build: one thread is published in up to three files."""

    def __init__(self, people: MpchatPeople) -> None:
        self._people = people
        self._keys = Keys()
        self._restatements = Restatements()

    def add(self, dialogue: SourceDialogue, rows: list[Row]) -> tuple[str, list[ReaderFinding]]:
        """Return the key of a dialogue, and a finding if it has other words than the plain key's; add rows if new."""
        nobody = [",".join(str(turn) for turn, name in enumerate(dialogue.authors) if name is None)]
        utterances = zip((name or "" for name in dialogue.authors), dialogue.messages, strict=True)
        words = digest(*chain.from_iterable(utterances), *(nobody if None in dialogue.authors else ()))
        ids = dialogue.message_ids
        natural = f"{CORPUS}:{ids[0]}-{ids[-1]}" if isinstance(ids, list) else f"{CORPUS}:{words.hex()[:16]}"
        dialogue_id, is_new = self._keys.assign(natural, words)
        if not is_new:
            return dialogue_id, []
        self._rows(dialogue_id, dialogue, rows)
        if dialogue_id == natural:
            return dialogue_id, []
        detail = f"other words than an earlier thread with these first and last messages; kept as {dialogue_id}"
        return dialogue_id, [ReaderFinding("MP-12", detail)]

    def differing(self, dialogue_id: str, dialogue: SourceDialogue) -> Mapping[str, Any]:
        """Return a record's facts other than its words, if an earlier record of the dialogue stated them otherwise."""
        stated = {f"/{name}": value for name in _STATED if (value := getattr(dialogue, name)) is not UNSET}
        return self._restatements.differing(dialogue_id, stated)

    def _rows(self, dialogue_id: str, dialogue: SourceDialogue, rows: list[Row]) -> None:
        names = (name for name in dict.fromkeys(dialogue.authors) if name is not None)
        people = {name: self._people.id(name, rows) for name in names}
        turns = list(_turns(dialogue_id, dialogue, people))
        facts = {name: getattr(dialogue, name) for name in ("has_image", "direct_url", "file_name")}
        rows.append(
            Dialogue(
                dialogue_id=dialogue_id,
                corpus_id=CORPUS,
                domain=dialogue.subreddit if isinstance(dialogue.subreddit, str) else None,
                language="en",
                started_at=turns[0].said_at,
                extra=decode.dump({name: value for name, value in facts.items() if value is not UNSET}),
            )
        )
        for name, speaker_id in people.items():
            rows.append(Participant(dialogue_id, speaker_id, _role(dialogue, name)))
        rows += turns


_RELEASED = 100
"""Dialogues after which the memory of those that are done is given back."""


def read(files: list[SourceFile]) -> Iterator[Outcome]:
    """Read every file in path order."""
    reader = MpchatReader()
    for file in files:
        yield from reader.file(file)


class MpchatReader:
    """Reads the files of one build; keeps keys and hashes of what it has yielded."""

    def __init__(self) -> None:
        self._files = InputFiles(CORPUS)
        self._people = MpchatPeople()
        self._dialogues = MpchatDialogues(self._people)
        self._elements = PersonaElements(self._people)
        self._texts = Texts(CORPUS)

    def file(self, file: SourceFile) -> Iterator[Outcome]:
        """Read one file by its name."""
        if file.name in TASK_FILES:
            yield from self._task_file(file, TASK_FILES[file.name])
        elif file.name in IMAGE_FILES:
            location = SourceLocation(file, subset=file.name.removesuffix(".json"), size=file.size)
            yield load_or_reject(partial(read_images, self._files), location, file.read_record())
        else:
            yield Unrecognised(file, f"none of {', '.join((*TASK_FILES, *IMAGE_FILES))}")

    def _task_file(self, file: SourceFile, task_file: TaskFile) -> Iterator[Outcome]:
        """Read every dialogue of a file, then the facts about the file other than its dialogues."""
        buffer = file.hold()
        location = SourceLocation(file, subset=task_file.subset, size=file.size)
        try:
            fields, splits = split_file(buffer.view)
        except BadRecord as bad:
            yield reject(location, bad, bytes(buffer.view))
            return
        input_file = self._files.take(location, task_file.subset)
        yield from input_file.findings("MP-13")
        unknown = {decode.pointer(name): Raw(bytes(fields[name])) for name in fields if name not in SPLITS}
        bytes_read = 0
        for split, pieces in splits.items():
            for index, piece in enumerate(pieces):
                file.check_record(len(memoryview(piece)), f"/{split}/{index}")
                raw = bytes(piece)
                bytes_read += len(raw)
                at = input_file.record_location(index, f"/{split}/{index}", len(raw), split=split)
                yield load_or_reject(partial(self._dialogue, input_file, task_file), at, raw)
                if index % _RELEASED == 0:
                    buffer.release(bytes_read)
        extra = {"fields": list(fields), "orders": list(self._elements.orders), "unknown": unknown}
        records = sum(map(len, splits.values()))
        yield FileEnvelope(file, {key: value for key, value in extra.items() if value}, records)

    def _dialogue(self, input_file: InputFile, task_file: TaskFile, location: SourceLocation, raw: bytes) -> Loaded:
        """Turn one dialogue into its record; raises BadRecord."""
        split = location.split or ""
        parsed = parse(raw, task_file, split)
        lists_in = list(persona_lists(task_file, parsed.dialogue))
        new = self._elements.decode_new(lists_in)
        rows: list[Row] = []
        findings = list(grouped(self._elements.add(new, rows)))
        for listed in lists_in:
            self._elements.fill_uses(listed)
        lists = {(listed.field.set_name, listed.turn_index): listed for listed in lists_in}
        record, more = self._record(input_file, location, parsed, rows)
        first = answers_first(parsed.dialogue, lists)
        column_batches = list(self._column_batches(record, parsed.dialogue, lists, first, rows))
        findings += dialogue_warnings(task_file, parsed.dialogue, split, lists)
        findings += unusual_values(parsed.dialogue, parsed.nan)
        findings += rejected_examples(task_file, parsed.dialogue, split, lists, first)
        return Loaded(location, rows, findings + more, column_batches)

    def _record(
        self, input_file: InputFile, location: SourceLocation, parsed: Parsed, rows: list[Row]
    ) -> tuple[Record, list[ReaderFinding]]:
        """Add the row of a record, and those of its dialogue where that is new; returns what is unusual about that."""
        dialogue, split = parsed.dialogue, location.split or ""
        dialogue_id, findings = self._dialogues.add(dialogue, rows)
        record = location.record(
            f"{input_file.prefix}/{split}/{location.record_index}",
            dialogue_id,
            standard_split=SPLITS[split],
            main_speaker_id=self._people.id(dialogue.main_author, rows),
            extra={
                "fields": parsed.fields,
                "lists": parsed.empty,
                "nan": parsed.nan,
                "differs": self._dialogues.differing(dialogue_id, dialogue),
                "unknown": parsed.unknown,
                "repeats": input_file.repeats,
            },
        )
        rows.append(record)
        return record, findings

    def _column_batches(
        self, record: Record, dialogue: SourceDialogue, lists: Lists, first: set[int], rows: list[Row]
    ) -> Iterator[ColumnBatch]:
        """Return the rows of all lists: long ones as column batches, labels and new texts among the other rows."""
        for (_, turn), personas in lists.items():
            if personas.field.is_candidates:
                yield candidate_batch(record, personas, is_answer_first=turn in first)
            else:
                yield persona_use_batch(record, personas)
            rows += annotations(record, personas)
        if isinstance(dialogue, ResponseDialogue):
            for turn, texts in enumerate(dialogue.nrp_candidate_responses or ()):
                if texts:
                    ids = self._texts.ids(texts, rows)
                    yield response_batch(record, turn, ids, is_answer_first=turn in first)


def read_images(files: InputFiles, location: SourceLocation, raw: bytes) -> Loaded:
    """Turn one file into its record and images; raises BadRecord for one that is not an object of texts."""
    urls, file, subset = _urls(raw), location.file, location.subset or ""
    input_file = files.take(location, subset)
    kind = IMAGE_FILES[file.name] + input_file.prefix.removeprefix(f"{CORPUS}/{subset}")
    rows: list[Row] = [location.record(input_file.prefix, extra={"repeats": input_file.repeats})]
    rows += (Image(CORPUS, kind, image_id, url, file.id, index) for index, (image_id, url) in enumerate(urls.items()))
    return Loaded(location, rows, input_file.findings("MP-13"))


def _urls(raw: bytes) -> dict[str, str | None]:
    """Return the addresses by image; raises BadRecord: MP-01 where one is no text, or a common rule."""
    members = decode.record(raw, dict[str, Raw], rule="MP-01").value
    for image_id, address in members.items():
        try:
            decode.decoder(str | None).decode(address)
        except msgspec.ValidationError as error:
            raise BadRecord("MP-01", str(error), decode.pointer(image_id)) from error
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise decode.json_problem(raw, error) from error
    return decode.record(raw, dict[str, str | None], rule="MP-01").value


def write_images(stored: StoredRecord) -> bytes:
    """Return the whole file."""
    return msgspec.json.encode({image.image_id: image.url for image in stored.images})


def split_file(raw: memoryview) -> tuple[dict[str, Raw], dict[str, list[Raw]]]:
    """Split a file into its fields, and its splits into dialogues, without a copy; BadRecord if it has none."""
    if bytes(raw[:1_000]).lstrip()[:1] == b"[":
        raise BadRecord("MP-01", "a bare list instead of an object with train, val and test")
    fields = decode.unique(json_members.views(raw))
    missing = [name for name in SPLITS if name not in fields]
    if missing:
        raise BadRecord("MP-01", f"no {' and no '.join(missing)}, but {', '.join(fields) or 'nothing'}")
    splits = {}
    for name, piece in fields.items():
        if name not in SPLITS:
            check_unknown(decode.pointer(name), bytes(piece))
        elif bytes(memoryview(piece)[:1]) == b"[":
            splits[name] = json_members.items(piece, raw)
        else:
            raise BadRecord("MP-01", "no list of dialogues", f"/{name}")
    return fields, splits


def parse(raw: bytes, task_file: TaskFile, split: str) -> Parsed:
    """Decode one dialogue; raises BadRecord: MP-02, MP-06, MP-11, or a common rule."""
    published, (raw, nan) = raw, _without_nan(raw)
    pieces = json_members.fields(raw)
    if nan and bytes(pieces.get("created_utcs", Raw(b"")))[:1] != b"[":
        json_members.fields(published)  # the list is one of an unknown field: TH-04
    known = _FIELDS[task_file.subset]
    unknown = {decode.pointer(key): piece for key, piece in pieces.items() if key not in known}
    for pointer, piece in unknown.items():
        check_unknown(pointer, bytes(piece))
    text = msgspec.json.encode({key: pieces[key] for key in pieces if key in known}) if unknown else raw
    try:
        dialogue = decode.decoder(task_file.dialogue).decode(text)
    except msgspec.ValidationError as error:
        bad = decode.shape_problem(error, "MP-02")
        rule = "MP-11" if bad.pointer.startswith("/messages/") else "MP-02"
        raise BadRecord(rule, bad.detail, bad.pointer) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise decode.json_problem(raw, error) from error
    _check_lengths(dialogue, split)
    return Parsed(dialogue, list(pieces), unknown, _unusually_empty(task_file, dialogue), nan)


_TIMES = re.compile(rb'"created_utcs"\s*:\s*\[([^\[\]{}"]*)')


def _without_nan(raw: bytes) -> tuple[bytes, list[int]]:
    """Return a dialogue with null for each NaN among its messages' times, and the numbers of these messages."""
    found = list(_TIMES.finditer(raw)) if b"NaN" in raw else []
    if len(found) != 1 or b"NaN" not in found[0][1]:
        return raw, []
    times = [time.strip() for time in found[0][1].split(b",")]
    start, end = found[0].span(1)
    text = raw[:start] + b", ".join(b"null" if time == b"NaN" else time for time in times) + raw[end:]
    return text, [index for index, time in enumerate(times) if time == b"NaN"]


def _unusually_empty(task_file: TaskFile, dialogue: SourceDialogue) -> dict[str, Any]:
    """As a rule no list is null, a turn without elements has [], and a turn without a gold persona has null."""
    empty: dict[str, Any] = {}
    for name in (*_MESSAGE_FIELDS, *(field.name for field in task_file.lists), task_file.candidates):
        value = getattr(dialogue, name, UNSET)
        if value is None:
            empty[f"/{name}"] = None
        elif name in (*_PER_TURN, task_file.candidates) and value == []:
            empty[f"/{name}"] = []
        elif name in _PER_TURN:
            empty |= {f"/{name}/{turn}": None for turn, items in enumerate(value or ()) if items is None}
        elif name == SPEAKER.candidates:
            empty |= {f"/{name}/{author}": items for author, items in enumerate(value or ()) if not items}
    return empty


def _check_lengths(dialogue: SourceDialogue, split: str) -> None:
    """Raise BadRecord where a list has not one item per message; an empty candidate list in train counts as none."""
    turns = len(dialogue.messages)
    if not turns:
        raise BadRecord("MP-11", "no messages", "/messages")
    for name in ("authors", *_ALIGNED):
        value = getattr(dialogue, name, UNSET)
        if value is UNSET or value is None or (value == [] and split == "train" and name in _CANDIDATES):
            continue
        if len(value) != turns:
            raise BadRecord("MP-02", f"{len(value)} items for {turns} messages", f"/{name}")
    if dialogue.has_image and not isinstance(dialogue.file_name, str):
        raise BadRecord("MP-06", "has_image, and no file_name", "/file_name")


_FIELDS = {
    task_file.subset: {field.name for field in msgspec.structs.fields(task_file.dialogue)}
    for task_file in TASK_FILES.values()
}
_CANDIDATES = frozenset(task_file.candidates for task_file in TASK_FILES.values())
_MESSAGE_FIELDS = ("message_ids", "created_utcs")
_PER_TURN = frozenset(
    {field.name for task_file in TASK_FILES.values() for field in task_file.lists if field.nesting is Nesting.PER_TURN}
    | {RESPONSE.candidates}
)
_ALIGNED = (*_MESSAGE_FIELDS, *sorted(_PER_TURN), "gpp_grounded_persona")


MAIN, OTHER = "main", "other"
_STATED = ("subreddit", "main_author", "message_ids", "created_utcs", "has_image", "direct_url", "file_name")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _turns(dialogue_id: str, dialogue: SourceDialogue, people: dict[str, str]) -> Iterator[Turn]:
    ids = dialogue.message_ids if isinstance(dialogue.message_ids, list) else None
    times = dialogue.created_utcs if isinstance(dialogue.created_utcs, list) else None
    for index, (author, text) in enumerate(zip(dialogue.authors, dialogue.messages, strict=True)):
        seconds = times[index] if times else None
        said_at = _time(seconds)
        is_exact = isinstance(seconds, float) and said_at is not None and repr(seconds_since(said_at)) == repr(seconds)
        yield Turn(
            dialogue_id=dialogue_id,
            turn_index=index,
            speaker_id=None if author is None else people[author],
            role=_role(dialogue, author),
            kind="message",
            text=text,
            native_id=ids[index] if ids else None,
            said_at=said_at,
            extra=decode.dump({"created_utc": seconds}) if times and not is_exact else None,
        )


def _role(dialogue: SourceDialogue, name: str | None) -> str:
    return MAIN if name == dialogue.main_author else OTHER


def _time(seconds: object) -> datetime | None:
    """Return the time so many seconds after 1970; None for what is no number or no time that a calendar has."""
    if not isinstance(seconds, int | float):
        return None
    try:
        return (_EPOCH + timedelta(seconds=seconds)).replace(tzinfo=None)
    except OverflowError:
        return None


def seconds_since(time: datetime) -> float:
    """Return a time as seconds since 1970, to the microsecond."""
    return (time.replace(tzinfo=UTC) - _EPOCH).total_seconds()
