"""The dialogue of an episode to rows: two workers, seeds, turns; and what a later record states otherwise of it."""

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET, Raw

from talkhouse.ingest import decode
from talkhouse.ingest.corpora.blended_skill_talk.format import CORPUS, SEEDS, WORKERS, ParsedEpisode
from talkhouse.ingest.decode import pointer
from talkhouse.ingest.keys import Keys, digest
from talkhouse.ingest.outcomes import ReaderFinding
from talkhouse.ingest.restatements import Restatements
from talkhouse.ingest.rows import Dialogue, Participant, Row, Speaker, Turn


class Dialogues:
    """All dialogues of a build; keys and hashes are held, never texts."""

    def __init__(self) -> None:
        self._keys = Keys()
        self._restatements = Restatements()

    def add(self, natural: str, parsed: ParsedEpisode) -> tuple[str, list[Row], list[ReaderFinding]]:
        """Return the key of a dialogue, its rows if it is new, and a finding if its words are not the plain key's."""
        dialogue_id, is_new = self._keys.assign(natural, digest(*_words(parsed)))
        if not is_new:
            return dialogue_id, [], []
        rows = list(_rows(dialogue_id, parsed))
        if dialogue_id == natural:
            return dialogue_id, rows, []
        detail = f"other words than the earlier {natural}; kept as {dialogue_id}"
        return dialogue_id, rows, [ReaderFinding("BS-10", detail)]

    def differing(self, dialogue_id: str, parsed: ParsedEpisode) -> dict[str, Any]:
        """Return, by pointer, what the rows of the dialogue and of its record would not give back."""
        restated = self._restatements.differing(dialogue_id, _stated(parsed))
        no_pairs = {pointer("dialog", i): turn.item for i, turn in enumerate(parsed.turns) if turn.item is not None}
        return {**restated, **parsed.differs, **no_pairs}


def speaker_id(dialogue_id: str, worker: str) -> str:
    """Return the key of a worker, who is known only within the dialogue."""
    return f"{dialogue_id}/{worker}"


def _rows(dialogue_id: str, parsed: ParsedEpisode) -> Iterator[Row]:
    episode = parsed.episode
    is_topic = episode.context_dataset == "wizard_of_wikipedia"
    extra = {} if episode.additional_context is UNSET else {"additional_context": episode.additional_context}
    yield Dialogue(
        dialogue_id=dialogue_id,
        corpus_id=CORPUS,
        domain=episode.context_dataset,
        title=parsed.topic if is_topic else None,
        language="en",
        extra=decode.dump(extra),
    )
    for worker in WORKERS:
        yield Speaker(speaker_id(dialogue_id, worker), CORPUS, None, None, "human", is_anonymous=True)
        yield Participant(dialogue_id, speaker_id(dialogue_id, worker), worker)
    yield _turn(dialogue_id, 0, episode.free_turker_utterance, "seed")
    yield _turn(dialogue_id, 1, episode.guided_turker_utterance, "seed")
    for index, turn in enumerate(parsed.turns):
        is_usual = turn.flag == str(index % 2).encode()
        who = None if is_usual else decode.dump({"who": Raw(turn.flag)})
        yield _turn(dialogue_id, index + SEEDS, turn.text, "message", who)


def _turn(dialogue_id: str, index: int, text: str, kind: str, extra: str | None = None) -> Turn:
    worker = WORKERS[index % 2]
    return Turn(dialogue_id, index, speaker_id(dialogue_id, worker), worker, kind, text, extra=extra)


def _words(parsed: ParsedEpisode) -> Iterator[str]:
    """List what makes a dialogue this one: who says what, in order."""
    yield from (parsed.episode.free_turker_utterance, parsed.episode.guided_turker_utterance)
    yield from (turn.text for turn in parsed.turns)


def _stated(parsed: ParsedEpisode) -> dict[str, Any]:
    """Return, by pointer, what hangs on the dialogue beside its words."""
    episode = parsed.episode
    facts: dict[str, Any] = {"/context_dataset": episode.context_dataset}
    if episode.additional_context is not UNSET:
        facts["/additional_context"] = episode.additional_context
    for index, turn in enumerate(parsed.turns):
        facts[pointer("dialog", index, 0)] = Raw(turn.flag)
    return facts
