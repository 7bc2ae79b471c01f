"""Tells quickly whether nothing about a dialogue is unusual, as is true of nearly all; then its rows need little work.

Usual is: the publisher's keys, once each; their order and the types are those of the file (``Form``). People take
turns, numbers count from 1 on, and every value is written as the publisher's code writes it, so that the columns of the
tables give it back.

What is unusual about any other is found out the long way, by ``parse`` and ``oddities``. A dialogue that is usual
would give the same rows there.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import accumulate, chain
from operator import attrgetter

import polars as pl
from msgspec import Struct

from ingest import decode
from ingest.corpora.mantis.form import Form
from ingest.corpora.mantis.oddities import DOMAINS, ID, PLACEHOLDER
from ingest.corpora.mantis.shapes import NAN

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


def _object(values: dict[str, str]) -> str:
    """Give the pattern of an object with these keys in this order."""
    return r"\{\s*" + r"\s*,\s*".join(rf'"{key}"\s*:\s*{value}' for key, value in values.items()) + r"\s*\}"


def _utterance(form: Form, role: str) -> str:
    """Give the pattern of an utterance."""
    values = {
        "utterance": _TEXT,
        "utterance_time": _TIME,
        "utterance_pos": r"[1-9]\d{0,2}",
        "actor_type": f'"{role}"',
        "user_name": f"(?:{_TEXT}|NaN)",
        "user_id": form.user.replace(".", r"\.").format(r"(?:0|[1-9]\d{0,14})"),
        "votes": form.votes.format(r"(?:0|-?[1-9]\d{0,8})"),
        "id": f'"{ID}"',
        "is_answer": "0",
    }
    return _object({name: values[name] for name in form.spoken})


@cache
def _pattern(form: Form) -> str:
    """Give the pattern of a usual dialogue: the publisher's keys in the file's order, people who take turns."""
    user, agent = _utterance(form, "user"), _utterance(form, "agent")
    turns = rf"{user}(?:\s*,\s*{agent}\s*,\s*{user})+(?:\s*,\s*{agent})?"
    values = {
        "category": f'"(?:{"|".join(sorted(DOMAINS))})"',
        "title": _TEXT,
        "dialog_time": _TIME,
        "utterances": rf"\[\s*{turns}\s*\]",
        "has_concatenated_utterances": "[01]",
    }
    whole = _object({name: values[name] for name in form.fields})
    return rf"(?s)^{whole}$".replace(r"\d", "[0-9]").replace(r"\s", r"[ \t\r\n]")


class _Said(Struct, gc=False):
    """What tells who speaks; DuckDB reads the words."""

    utterance_pos: int
    user_name: str | None
    user_id: float


class _Talk(Struct, gc=False):
    category: str
    title: str
    dialog_time: str
    utterances: list[_Said]
    has_concatenated_utterances: int


_NAMELESS = re.compile(rb'("user_name"[ \t\r\n]*:[ \t\r\n]*)NaN')
"""In a text the quotes would be escaped."""

_AGENTS = 2
"""Utterances of the agent, at least; with fewer there is a finding."""


def usual(raws: list[bytes], form: Form) -> pl.DataFrame:
    """Find the usual ones of some dialogues of a file, a row each.

    ``place`` is its position among them, ``raw`` its JSON, ``size`` the number of its utterances; ``user`` and
    ``agent`` are the ids of who speaks, ``user_shown`` and ``agent_shown`` their names, null for NaN; then its fields.
    """
    texts = _texts(raws)
    places = (texts.str.contains(_pattern(form)) & ~texts.str.contains(f'"{PLACEHOLDER}"', literal=True)).arg_true()
    talks = [decode.decoder(_Talk).decode(named(raws[place])) for place in places.to_list()]
    said = list(chain.from_iterable(map(attrgetter("utterances"), talks)))
    sizes = [len(talk.utterances) for talk in talks]
    second = pl.Series(list(accumulate(sizes, initial=1))[:-1], dtype=pl.Int64)
    spoken = pl.DataFrame(_columns(_Said, said))
    people = spoken.select(
        user=pl.col("user_id").gather(second - 1),
        user_shown=pl.col("user_name").gather(second - 1),
        agent=pl.col("user_id").gather(second),
        agent_shown=pl.col("user_name").gather(second),
    )
    own = [places.cast(pl.Int64).alias("place"), texts.gather(places).alias("raw"), pl.Series("size", sizes, pl.Int64)]
    found = people.hstack([*own, *_columns(_Talk, talks)])
    owners = found.lazy().drop("title", "raw").with_columns(turn_index=pl.int_ranges("size")).explode("turn_index")
    beside = pl.concat([spoken.lazy(), owners], how="horizontal")
    odd = beside.filter(~_is_plain()).select("place").collect(engine="in-memory")["place"]
    return without(found, odd.to_list())


def named(raw: bytes) -> bytes:
    """Write null for every name of a usual dialogue that is NaN, which JSON does not have."""
    return _NAMELESS.sub(rb"\1null", raw) if NAN in raw else raw


def without(talks: pl.DataFrame, places: Iterable[int]) -> pl.DataFrame:
    """Leave some dialogues out."""
    left_out = set(places)
    return talks.filter(~pl.col("place").is_in(left_out)) if left_out else talks


def _texts(raws: list[bytes]) -> pl.Series:
    """Give dialogues as texts; null for one that is not UTF-8."""
    try:
        return pl.Series(raws, dtype=pl.Binary).cast(pl.String)
    except pl.exceptions.ComputeError:
        return pl.Series([_text(raw) for raw in raws], dtype=pl.String)


def _text(raw: bytes) -> str | None:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None


def _columns(kind: type[Struct], rows: Sequence[Struct]) -> list[pl.Series]:
    """Lay structs out, but for lists in them; user ids are written as floats and are whole numbers."""
    types = {str: pl.String(), str | None: pl.String(), int: pl.Int64(), float: pl.Float64()}
    columns = [
        pl.Series(name, list(map(attrgetter(name), rows)), types[of])
        for name, of in kind.__annotations__.items()
        if of in types
    ]
    return [column.cast(pl.Int64) if column.dtype == pl.Float64 else column for column in columns]


def _is_plain() -> pl.Expr:
    """Tell of an utterance whether its number and person are usual."""
    is_user = pl.col("turn_index") % 2 == 0
    return (
        (pl.col("size") // 2 >= _AGENTS)
        & (pl.col("user_id") == pl.when(is_user).then("user").otherwise("agent"))
        & pl.col("user_name").eq_missing(pl.when(is_user).then("user_shown").otherwise("agent_shown"))
        & (pl.col("utterance_pos") == pl.col("turn_index") + 1)
    )
