"""Reading an episode: strict where the reference code would stop."""

import re

import msgspec
from msgspec import UNSET, Raw

from ingest import decode, json_members
from ingest.corpora.blended_skill_talk.envelope import check_utf8
from ingest.corpora.blended_skill_talk.episode import CARRIED, Episode, Lengths, Said, Talk, text_of
from ingest.corpora.blended_skill_talk.names import MODELS
from ingest.decode import BadRecord, pointer


def check_lengths(raw: bytes) -> None:
    """Raise BadRecord BS-01 where the three lists differ; any other defect is found later."""
    try:
        found = decode.decoder(Lengths).decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return
    lists = (found.dialog, found.suggestions, found.chosen_suggestions)
    sizes = [len(some) for some in lists if some is not UNSET]
    if len(sizes) == len(lists) and len(set(sizes)) > 1:
        detail = "dialog has {} items, suggestions {}, chosen_suggestions {}".format(*sizes)
        raise BadRecord("BS-01", detail)


def parse(raw: bytes) -> Talk:
    """Read an episode; raises BadRecord: BS-02 to BS-04, or a rule of the house."""
    check_utf8(raw)
    try:
        episode, unknown = decode.record(raw, Episode, rule="BS-03")
    except BadRecord as bad:
        raise BadRecord(_rule(bad), bad.detail, bad.pointer) from bad
    talk = Talk(episode, unknown, [], [], [], [], decode.keys(raw))
    talk.turns = [_said(index, item) for index, item in enumerate(episode.dialog)]
    talk.suggestions = [_suggested(index, item, talk) for index, item in enumerate(episode.suggestions)]
    talk.chosen = [_chosen(index, item, talk) for index, item in enumerate(episode.chosen_suggestions)]
    talk.chosen_texts = _chosen_texts(talk)
    for name in CARRIED:
        if (value := getattr(episode, name)) is not UNSET:
            talk.carried[name] = value
    _check(talk)
    return talk


_OWN_RULE = {
    "personas": "BS-02",
    "free_turker_utterance": "BS-02",
    "guided_turker_utterance": "BS-02",
    "label_candidates": "BS-04",
}
_MISSING = re.compile(r"missing required field `(\w+)`")


def _rule(bad: BadRecord) -> str:
    """Give the rule of a defect by the field that it is in; the house's rules stay."""
    missing = _MISSING.search(bad.detail)
    name = missing[1] if missing else bad.pointer.split("/")[1] if bad.pointer else ""
    return _OWN_RULE.get(name, "BS-03") if bad.rule == "BS-03" else bad.rule


def _said(index: int, item: Raw) -> Said:
    """Read a turn; the reference code takes the second item of whatever stands there."""
    try:
        flag, text = decode.decoder(tuple[Raw, str]).decode(item)
        return Said(bytes(flag), text)
    except msgspec.ValidationError:
        pass
    try:
        parts = decode.decoder(list[Raw]).decode(item)
        text = decode.decoder(str).decode(parts[1])
    except (msgspec.ValidationError, IndexError) as error:
        raise BadRecord(
            "BS-03", "a turn is no list with a text at its second place", pointer("dialog", index)
        ) from error
    return Said(bytes(parts[0]), text, item)


def _suggested(index: int, item: Raw, talk: Talk) -> dict[str, str]:
    """Read the suggestions for a turn of the guided worker; those of the free worker's turns are not read."""
    if index % 2 == 0:
        if bytes(item) != b"{}":
            talk.differs[pointer("suggestions", index)] = item
        return {}
    place = pointer("suggestions", index)
    try:
        found = decode.decoder(dict[str, Raw]).decode(item)
        _check_keys(item, place)
        texts = {model: decode.decoder(str).decode(found[model]) for model in found if model in MODELS}
    except msgspec.ValidationError as error:
        raise BadRecord("BS-03", f"suggestions are no object of texts: {error}", place) from error
    missing = [model for model in MODELS if model not in texts]
    if missing:
        raise BadRecord("BS-03", f"no suggestion of {', '.join(missing)}", place)
    if len(texts) < len(found):
        talk.differs[place] = item
    return texts


def _check_keys(item: Raw, place: str) -> None:
    """Raise BadRecord TH-03 where a model suggests twice for one turn: one of the texts would be lost."""
    try:
        json_members.fields(bytes(item))
    except BadRecord as bad:
        raise BadRecord(bad.rule, bad.detail, place) from bad


def _chosen(index: int, item: Raw, talk: Talk) -> str:
    """Read which suggestion was taken; a text, on turns of the guided worker."""
    text = text_of(item)
    if text is not None:
        return text
    place = pointer("chosen_suggestions", index)
    if index % 2:
        raise BadRecord("BS-03", "the chosen suggestion is no text", place)
    talk.differs[place] = item
    return ""


def _chosen_texts(talk: Talk) -> list[str]:
    """Read the texts of the taken suggestions, where they go turn by turn; else they are kept whole."""
    published = talk.episode.chosen_suggestion_texts
    texts = [""] * len(talk.turns)
    if published is UNSET:
        return texts
    items = _items(published)
    if items is None or len(items) != len(talk.turns):
        talk.carried["chosen_suggestion_texts"] = published
        return texts
    for index, item in enumerate(items):
        text = text_of(item)
        # The free worker's turns have no annotation that could hold a text.
        if text is None or (text and index % 2 == 0 and not talk.chosen[index]):
            talk.differs[pointer("chosen_suggestion_texts", index)] = item
        else:
            texts[index] = text
    return texts


def _items(published: Raw) -> list[Raw] | None:
    try:
        items: list[Raw] = decode.decoder(list[Raw]).decode(published)
    except msgspec.ValidationError:
        return None
    return items


def _check(talk: Talk) -> None:
    """Hold an episode against what the reference code takes for granted."""
    episode = talk.episode
    if len(episode.personas) < 2:
        raise BadRecord("BS-02", f"{len(episode.personas)} personas, not 2", "/personas")
    if len(episode.personas[1]) < 2:
        detail = f"the guided worker's persona has {len(episode.personas[1])} sentences, not 2"
        raise BadRecord("BS-02", detail, "/personas/1")
    if episode.context_dataset == "wizard_of_wikipedia" and talk.topic is None:
        raise BadRecord("BS-02", "a context of Wizard of Wikipedia without a topic", "/additional_context")
    if episode.label_candidates is not UNSET and len(episode.label_candidates) < talk.entries:
        detail = f"{len(episode.label_candidates)} lists of candidates for {talk.entries} entries"
        raise BadRecord("BS-04", detail, "/label_candidates")
