"""Dialogue logs and background paragraphs to rows: one record per file."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from talkhouse.ingest import decode
from talkhouse.ingest.corpora.dbdc3.dialogue import CORPUS, Family, dialogue_rows, family, label_batches, speakers
from talkhouse.ingest.corpora.dbdc3.files import (
    CONTEXT,
    SPLITS,
    PathFacts,
    inner_path,
    locate,
    locate_context,
    path_facts,
)
from talkhouse.ingest.corpora.dbdc3.format import Log, published_keys, stated
from talkhouse.ingest.corpora.dbdc3.warnings import warnings
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.file_per_dialogue import DialogueKeys, DialogueRecord, read_each
from talkhouse.ingest.keys import Keys, digest
from talkhouse.ingest.outcomes import Loaded, Outcome, ReaderFinding, SourceLocation, reject
from talkhouse.ingest.restatements import Restatements
from talkhouse.ingest.rows import Row, Speaker
from talkhouse.ingest.sources import SourceFile


def read(files: list[SourceFile]) -> Iterator[Outcome]:
    """Read every log in path order; then every background paragraph, which needs to know its dialogue."""
    paragraphs: list[tuple[SourceLocation, str]] = []
    for file in (file for file in files if file.name.endswith(CONTEXT)):
        location, raw = locate_context(file), file.read_record()
        try:
            paragraphs.append((location, decode.text(raw)))
        except BadRecord as bad:
            yield reject(location, bad, raw)
    reader = _Reader({location.native_id or "": text for location, text in reversed(paragraphs)})
    yield from read_each((file for file in files if not file.name.endswith(CONTEXT)), locate, reader.log)
    yield from (reader.paragraph(location, text) for location, text in paragraphs)


class _Reader:
    """Reads one build's logs; keeps keys and hashes of what it has yielded, never texts of dialogues."""

    def __init__(self, backgrounds: dict[str, str]) -> None:
        self._backgrounds = backgrounds
        self._keys = DialogueKeys(CORPUS)
        self._speakers = Keys()
        self._restatements = Restatements()
        self._first: dict[str, str] = {}
        self._files: dict[tuple[str, str], str] = {}
        self._releases: set[tuple[str | None, str]] = set()
        self._unsaid_in: set[tuple[PurePosixPath, tuple[str, ...]]] = set()

    def log(self, location: SourceLocation, raw: bytes) -> Loaded:
        """Turn one log into its record; raises BadRecord."""
        log, unknown = decode.record(raw, Log, rule="DB-01")
        _require_annotations(log)
        stem, location = location.native_id or "", replace(location, native_id=log["dialogue-id"])
        facts = path_facts(location.file)
        path = "/".join([*filter(None, (facts.release, facts.language, facts.subset)), log["dialogue-id"]])
        stored = self._keys.record(
            location,
            log["dialogue-id"],
            ((turn["speaker"], turn["utterance"]) for turn in log["turns"]),
            path=path,
            standard_split=SPLITS.get(facts.split or ""),
        )
        record, dialogue_id, is_new = stored
        repeated = self._files.setdefault((path, location.file.sha256), record.record_id)
        differs = self._restatements.differing(dialogue_id, stated(log))
        extra = published_keys(raw, log, has_unknown=bool(unknown)) | {"differs": differs, "unknown": unknown}
        record.extra = decode.dump_extra(extra | {"repeats": repeated if repeated != record.record_id else None})
        bot, background = family(log["dialogue-id"], facts.subset), self._backgrounds.get(log["dialogue-id"])
        language = facts.language or (bot.language if bot else None)
        rows: list[Row] = [record]
        if is_new:
            both = [self._known(speaker) for speaker in speakers(dialogue_id, log, bot)]
            rows += dialogue_rows(dialogue_id, log, both, language, background)
        findings = list(warnings(log, stem, facts.subset, bot, has_background=background is not None))
        findings += self._repetitions(log["dialogue-id"], stored)
        findings += self._unsaid(location.file, facts, language, bot)
        self._first.setdefault(log["dialogue-id"], dialogue_id)
        return Loaded(location, rows, findings, list(label_batches(record, log)))

    def paragraph(self, location: SourceLocation, text: str) -> Loaded:
        """Turn one background paragraph into a record; its text is the dialogue's where both agree."""
        native_id = location.native_id or ""
        dialogue_id = self._first.get(native_id)
        is_kept = dialogue_id is not None and self._backgrounds[native_id] == text
        path = "/".join(["context", *inner_path(location.file).parent.parts, native_id])
        record_id = self._keys.record_id(path, location.file)
        record = location.record(record_id, dialogue_id, extra={} if is_kept else {"background": text})
        findings = []
        if dialogue_id is None:
            detail = f"a background paragraph without the dialogue {native_id}"
            findings.append(ReaderFinding("DB-06", detail, location.file, ""))
        return Loaded(location, [record], findings)

    def _known(self, speaker: Speaker) -> tuple[Speaker, bool]:
        """Assign a speaker's key, and tell whether it is new: a dialogue-id may look like the key of a person."""
        who = digest(speaker.kind, speaker.native_id or "")
        speaker.speaker_id, is_new = self._speakers.assign(speaker.speaker_id, who)
        return speaker, is_new

    def _unsaid(
        self, file: SourceFile, facts: PathFacts, language: str | None, bot: Family | None
    ) -> Iterator[ReaderFinding]:
        """Report once for each folder what the place of its logs does not say (DB-09)."""
        known = {**facts._asdict(), "language": language, "bot": bot}
        unsaid = tuple(name for name, value in known.items() if value is None)
        folder = inner_path(file).parent
        if unsaid and (folder, unsaid) not in self._unsaid_in:
            self._unsaid_in.add((folder, unsaid))
            yield ReaderFinding("DB-09", f"the place of the logs in '{folder}' does not say the {', '.join(unsaid)}")

    def _repetitions(self, native_id: str, stored: DialogueRecord) -> Iterator[ReaderFinding]:
        """Report a dialogue-id that another dialogue has (DB-08), or that its release had already (DB-03)."""
        if stored.is_new and stored.dialogue_id != f"{CORPUS}:{native_id}":
            detail = f"other words than the earlier dialogue {native_id}; kept as {stored.dialogue_id}"
            yield ReaderFinding("DB-08", detail)
        release = stored.record.release
        if (release, native_id) in self._releases:
            yield ReaderFinding("DB-03", f"the id {native_id} occurs twice within the release {release}")
        self._releases.add((release, native_id))


def _require_annotations(log: Log) -> None:
    """The challenge's script reads the list of every turn that is not the user's."""
    for index, turn in enumerate(log["turns"]):
        if turn["speaker"] != "U" and turn.get("annotations") is None:
            problem = "is null" if "annotations" in turn else "is missing"
            raise BadRecord("DB-01", f"the list of annotations {problem}", f"/turns/{index}/annotations")
