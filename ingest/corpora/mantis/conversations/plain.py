"""Tells quickly whether nothing about a dialogue is unusual, as is true of nearly all, and decodes those dialogues.

Plain is: the publisher's keys in their order, once each; two people who take turns, numbers that count from 1 on, and
every value written as the publisher's code writes it, so that the columns of the tables give it back. A plain dialogue
gives the same rows the long way (``dialogue``, ``warnings``), which finds out what is unusual about any other.
"""

from collections.abc import Collection, Iterator

import polars as pl

from talkhouse.ingest.corpora.mantis.conversations.dialogue import ID, PublishedDialogue
from talkhouse.ingest.corpora.mantis.files import SITES
from talkhouse.ingest.corpora.mantis.format import DIALOGUE_FIELDS, NAN, PLACEHOLDER, SPOKEN

_HEX = "[0-9a-fA-F]"
_PAIR = rf"\\u[dD][89abAB]{_HEX}{{2}}\\u[dD][c-fC-F]{_HEX}{{2}}"
_FIRST = rf"00(?:[01]{_HEX}|7[fF]|[89a-fA-F]{_HEX})|0[1-9a-fA-F]{_HEX}{{2}}"
_OTHER = rf"[1-9abcefABCEF]{_HEX}{{3}}|[dD][0-7]{_HEX}{{2}}"
_ESCAPE = rf'\\["\\/bfnrt]|\\u(?:{_FIRST}|{_OTHER})|{_PAIR}'
"""Of letters that JSON writes as they are, none is given as its number."""
_TEXT = rf'"(?:[^"\\\x00-\x1f]|{_ESCAPE})*"'
_DAY = r"(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
_TIME = rf'"[12]\d{{3}}-{_DAY}T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{{3}}"'
"""29 February goes the long way."""


def _object(names: tuple[str, ...], values: dict[str, str]) -> str:
    """Return the pattern of an object with these keys in this order."""
    return r"\{\s*" + r"\s*,\s*".join(rf'"{name}"\s*:\s*{values[name]}' for name in names) + r"\s*\}"


def _utterance(role: str) -> str:
    """Return the pattern of an utterance."""
    values = {
        "utterance": _TEXT,
        "utterance_time": _TIME,
        "utterance_pos": r"[1-9]\d{0,2}",
        "actor_type": f'"{role}"',
        "user_name": f"(?:{_TEXT}|NaN)",
        "user_id": r"(?:0|[1-9]\d{0,14})\.0",
        "votes": r'"(?:0|-?[1-9]\d{0,8})"',
        "id": f'"{ID}"',
        "is_answer": "0",
    }
    return _object(SPOKEN, values)


def _dialogue() -> str:
    """Return the pattern of a plain dialogue; an agent who speaks only once is unusual."""
    user, agent = _utterance("user"), _utterance("agent")
    turns = rf"{user}\s*,\s*{agent}(?:\s*,\s*{user}\s*,\s*{agent})+(?:\s*,\s*{user})?"
    values = {
        "category": f'"(?:{"|".join(sorted(SITES))})"',
        "title": _TEXT,
        "dialog_time": _TIME,
        "utterances": rf"\[\s*{turns}\s*\]",
        "has_concatenated_utterances": "[01]",
    }
    whole = _object(DIALOGUE_FIELDS, values)
    return rf"(?s)^{whole}$".replace(r"\d", "[0-9]").replace(r"\s", r"[ \t\r\n]")


_PATTERN = _dialogue()
_NAMELESS = r'("user_name"[ \t\r\n]*:[ \t\r\n]*)NaN'
"""In a text the quotes would be escaped."""

_UTTERANCE = pl.Struct(
    dict.fromkeys(("utterance", "utterance_time", "user_name", "votes", "id"), pl.String)
    | {"utterance_pos": pl.Int32, "user_id": pl.Float64}
)
_DIALOGUE = pl.Struct(
    dict.fromkeys(("category", "title", "dialog_time"), pl.String)
    | {"utterances": pl.List(_UTTERANCE), "has_concatenated_utterances": pl.Int32}
)


def plain_dialogues(raws: list[bytes]) -> pl.DataFrame:
    """Decode the plain ones of some dialogues, a row each; ``position`` is the position in the list.

    A name that is NaN is null. It all works without Python's lock.
    """
    texts = _texts(raws)
    is_plain = texts.str.contains(_PATTERN) & ~texts.str.contains(f'"{PLACEHOLDER}"', literal=True)
    positions = is_plain.arg_true()
    decoded = texts.gather(positions).str.replace_all(_NAMELESS, "${1}null").str.json_decode(_DIALOGUE)
    dialogues = decoded.struct.unnest().with_columns(position=positions)
    return without(dialogues, utterances(dialogues).filter(~_TAKES_TURNS)["position"].to_list())


_TAKES_TURNS = (pl.col("utterance_pos") == pl.col("turn_index") + 1) & (
    (pl.col("turn_index") < 2)
    | ((pl.col("user_id") == pl.col("user_id").shift(2)) & pl.col("user_name").eq_missing(pl.col("user_name").shift(2)))
)
"""Whether an utterance has its number, and is said by whoever said the one before the last."""


def utterances(dialogues: pl.DataFrame) -> pl.DataFrame:
    """Return the utterances of plain dialogues; ``owner`` is the row of the dialogue, ``position`` its own."""
    sizes = pl.col("utterances").list.len()
    owner = pl.int_range(pl.len(), dtype=pl.UInt32)
    numbered = dialogues.select("position", "utterances", owner=owner, turn_index=pl.int_ranges(sizes, dtype=pl.Int32))
    return numbered.explode("utterances", "turn_index").unnest("utterances")


def without(dialogues: pl.DataFrame, positions: Collection[int]) -> pl.DataFrame:
    """Leave some dialogues out."""
    return dialogues.filter(~pl.col("position").is_in(list(positions))) if positions else dialogues


def published(dialogues: pl.DataFrame) -> Iterator[PublishedDialogue]:
    """Return plain dialogues as the long way decodes them."""
    said, sizes = utterances(dialogues), dialogues["utterances"].list.len().to_list()
    columns = {
        "utterance_pos": said["turn_index"] + 1,
        "actor_type": pl.Series(["user", "agent"]).gather(said["turn_index"] % 2),
        "is_answer": pl.Series([0]).gather(said["turn_index"] * 0),
    }
    lists = {name: columns.get(name, said.get_column(name, default=None)).to_list() for name in SPOKEN}
    lists["user_name"] = [NAN if name is None else name for name in lists["user_name"]]
    lists["user_id"] = [str(number).encode() for number in lists["user_id"]]
    facts = dialogues.select(pl.exclude("utterances", "position"), pl.lit(None).alias("utterances")).rows(named=True)
    start = 0
    for fact, size in zip(facts, sizes, strict=True):
        spoken = {name: column[start : start + size] for name, column in lists.items()}
        yield PublishedDialogue({name: fact[name] for name in DIALOGUE_FIELDS}, spoken, [0] * size, {})
        start += size


def _texts(raws: list[bytes]) -> pl.Series:
    """Return dialogues as texts; null for one that is not UTF-8."""
    try:
        return pl.Series(raws, dtype=pl.Binary).cast(pl.String)
    except pl.exceptions.ComputeError:
        texts = [raw.decode(errors="replace") for raw in raws]
        whole = [text if text.encode() == raw else None for text, raw in zip(texts, raws, strict=True)]
        return pl.Series(whole, dtype=pl.String)
