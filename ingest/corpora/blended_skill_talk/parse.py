"""Reading an episode: strict where the reference code would stop."""

import re

import msgspec
from msgspec import UNSET, Raw

from talkhouse.ingest import decode, json_members
from talkhouse.ingest.corpora.blended_skill_talk.format import (
    CARRIED,
    MODELS,
    Episode,
    ParsedEpisode,
    SourceTurn,
    decoded_as,
)
from talkhouse.ingest.decode import BadRecord, pointer


def parse(raw: bytes) -> ParsedEpisode:
    """Read an episode; raises BadRecord: BS-02 to BS-04, or a common rule."""
    try:
        episode, unknown = decode.record(raw, Episode, rule="BS-03")
    except BadRecord as bad:
        raise BadRecord(_rule(bad), bad.detail, bad.pointer) from bad
    parsed = ParsedEpisode(episode, unknown, decode.keys(raw))
    parsed.turns = [_turn(index, item) for index, item in enumerate(episode.dialog)]
    parsed.suggestions = [_suggested(index, item, parsed) for index, item in enumerate(episode.suggestions)]
    parsed.chosen = [_chosen(index, item, parsed) for index, item in enumerate(episode.chosen_suggestions)]
    parsed.chosen_texts = _chosen_texts(parsed)
    for index, texts in enumerate(parsed.suggestions):
        if texts and list(texts) != list(MODELS):
            parsed.differs.setdefault(pointer("suggestions", index), episode.suggestions[index])
    for name in CARRIED:
        if (value := getattr(episode, name)) is not UNSET:
            parsed.carried[name] = value
    _check(parsed)
    return parsed


_OWN_RULE = {
    "personas": "BS-02",
    "free_turker_utterance": "BS-02",
    "guided_turker_utterance": "BS-02",
    "label_candidates": "BS-04",
}
_MISSING = re.compile(r"missing required field `(\w+)`")


def _rule(bad: BadRecord) -> str:
    """Return the rule of a defect by the field that it is in; the common rules stay."""
    missing = _MISSING.search(bad.detail)
    name = missing[1] if missing else bad.pointer.split("/")[1] if bad.pointer else ""
    return _OWN_RULE.get(name, "BS-03") if bad.rule == "BS-03" else bad.rule


def _turn(index: int, item: Raw) -> SourceTurn:
    """Read a turn; the reference code takes the second item of whatever stands there."""
    try:
        flag, text = decode.decoder(tuple[Raw, str]).decode(item)
        return SourceTurn(bytes(flag), text)
    except msgspec.ValidationError:
        pass
    try:
        parts = decode.decoder(list[Raw]).decode(item)
        text = decode.decoder(str).decode(parts[1])
    except (msgspec.ValidationError, IndexError) as error:
        detail = "a turn is no list with a text at its second place"
        raise BadRecord("BS-03", detail, pointer("dialog", index)) from error
    return SourceTurn(bytes(parts[0]), text, item)


def _suggested(index: int, item: Raw, parsed: ParsedEpisode) -> dict[str, str]:
    """Read the suggestions for a turn of the guided worker; those of the free worker's turns are not read."""
    if index % 2 == 0:
        if bytes(item) != b"{}":
            parsed.differs[pointer("suggestions", index)] = item
        return {}
    at = pointer("suggestions", index)
    try:
        found = decode.decoder(dict[str, Raw]).decode(item)
        _check_keys(item, at)
        texts = {model: decode.decoder(str).decode(found[model]) for model in found if model in MODELS}
    except msgspec.ValidationError as error:
        raise BadRecord("BS-03", f"suggestions are no object of texts: {error}", at) from error
    missing = [model for model in MODELS if model not in texts]
    if missing:
        raise BadRecord("BS-03", f"no suggestion of {', '.join(missing)}", at)
    if len(texts) < len(found):
        parsed.differs[at] = item
    return texts


def _check_keys(item: Raw, at: str) -> None:
    """Raise BadRecord TH-03 where a model suggests twice for one turn: one of the texts would be lost."""
    try:
        json_members.fields(bytes(item))
    except BadRecord as bad:
        raise BadRecord(bad.rule, bad.detail, at) from bad


def _chosen(index: int, item: Raw, parsed: ParsedEpisode) -> str:
    """Read which suggestion was taken; a text, on turns of the guided worker."""
    text = decoded_as(str, item)
    if text is not None:
        return text
    at = pointer("chosen_suggestions", index)
    if index % 2:
        raise BadRecord("BS-03", "the chosen suggestion is no text", at)
    parsed.differs[at] = item
    return ""


def _chosen_texts(parsed: ParsedEpisode) -> list[str]:
    """Read the texts of the taken suggestions, where they go turn by turn; else they are kept whole."""
    published = parsed.episode.chosen_suggestion_texts
    texts = [""] * len(parsed.turns)
    if published is UNSET:
        return texts
    items = decoded_as(list[Raw], published)
    if items is None or len(items) != len(parsed.turns):
        parsed.carried["chosen_suggestion_texts"] = published
        return texts
    for index, item in enumerate(items):
        text = decoded_as(str, item)
        # The free worker's turns have no annotation that could hold a text.
        if text is None or (text and index % 2 == 0 and not parsed.chosen[index]):
            parsed.differs[pointer("chosen_suggestion_texts", index)] = item
        else:
            texts[index] = text
    return texts


def _check(parsed: ParsedEpisode) -> None:
    """Check what the reference code takes for granted."""
    episode = parsed.episode
    if len(episode.personas) < 2:
        raise BadRecord("BS-02", f"{len(episode.personas)} personas, not 2", "/personas")
    if len(episode.personas[1]) < 2:
        detail = f"the guided worker's persona has {len(episode.personas[1])} sentences, not 2"
        raise BadRecord("BS-02", detail, "/personas/1")
    if episode.context_dataset == "wizard_of_wikipedia" and parsed.topic is None:
        raise BadRecord("BS-02", "a context of Wizard of Wikipedia without a topic", "/additional_context")
    if episode.label_candidates is not UNSET and len(episode.label_candidates) < parsed.entries:
        detail = f"{len(episode.label_candidates)} lists of candidates for {parsed.entries} entries"
        raise BadRecord("BS-04", detail, "/label_candidates")
