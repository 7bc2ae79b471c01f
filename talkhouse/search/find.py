"""Finds texts by their words or meaning, with the files beside a warehouse that this needs; and puts turns on a map."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import duckdb

from talkhouse.schema.errors import UsageError, check_unicode
from talkhouse.schema.sql import dicts
from talkhouse.schema.sql_files import sql_of
from talkhouse.search.ranked import RankedMatches, like, rank, read_hits
from talkhouse.search.search_index import INDEX, ready_index
from talkhouse.search.text_groups import Choices, TextSearch, check_choices, chosen_groups, counted_facets, groups_of
from talkhouse.search.text_model import TextModel
from talkhouse.search.user_vectors import Turn
from talkhouse.warehouse.opened import Warehouse

_NONE = MappingProxyType({"dialogue": None, "turn": None})

_OTHERS = "(dialogue_id, turn_index) is distinct from ($dialogue::varchar, $turn::integer)"

MOST_ON_MAP = 5_000
"""Turns that a map shows."""


def find_by_words(
    warehouse: Warehouse,
    text: str,
    choices: Mapping[str, Sequence[str]],
    limit: int,
    say: Callable[[str], None] = lambda _: None,
    *,
    is_like: bool = False,
) -> RankedMatches:
    """Find texts by the words of a text, or of a turn that it names.

    The index is made where it is missing or of another build; ``say`` is called with why. Raises UsageError for
    choices that no text has, and what ``rank`` and ``like`` raise.
    """
    turn = _turn(text) if is_like else None
    with INDEX.open(ready_index(warehouse, say)) as index:
        check_choices(index, choices)
        search = TextSearch(warehouse.con, index, choices, limit)
        return like(search, *turn) if turn else rank(search, text)


def find_by_meaning(
    warehouse: Warehouse, text: str, choices: Mapping[str, Sequence[str]], limit: int, model: str, *, is_like: bool
) -> RankedMatches:
    """Find turns by their vectors, which somebody has made before; UsageError where there are none, or no model."""
    from talkhouse.search.find import like_by_meaning, rank_by_meaning
    from talkhouse.search.text_model import open_model
    from talkhouse.search.turn_vectors import VECTORS

    turn = _turn(text) if is_like else None
    path = VECTORS.path(warehouse.path)
    if missing := VECTORS.state_beside(warehouse):
        raise UsageError(missing, where=path, next_step="make it with: talkhouse vectors FILE, or --model FOLDER")
    if not turn and not model:
        raise UsageError("a text needs the model that the vectors were made by", next_step="add --model FOLDER")
    with VECTORS.open(path) as vectors:
        check_choices(vectors, choices)
        search = TextSearch(warehouse.con, vectors, choices, limit)
        if turn:
            return like_by_meaning(search, *turn)
        return rank_by_meaning(search, open_model(model), text)


def _turn(text: str) -> tuple[str, int]:
    dialogue_id, _, turn = text.rpartition("#")
    if not (dialogue_id and turn.isdecimal() and len(turn) < 10):
        raise UsageError("this is no turn", expected="DIALOGUE_ID#TURN_INDEX, of a turn", found=text)
    return dialogue_id, int(turn)


def run_of(vectors: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    """Return the description in a file of vectors."""
    return dicts(vectors.execute("from main.run"))[0]


def like_by_meaning(search: TextSearch, dialogue_id: str, turn_index: int) -> RankedMatches:
    """Find the turns whose vectors are nearest to that of a turn, by the cosine; the turn itself is left out.

    Raises UsageError for a turn without a vector.
    """
    itself = {"dialogue": dialogue_id, "turn": turn_index}
    rows = search.file.execute(
        "select vector from main.vectors where dialogue_id = $dialogue and turn_index = $turn", itself
    ).fetchall()
    if not rows:
        raise UsageError(
            f"turn {turn_index} of '{dialogue_id}' has no vector",
            next_step="choose another turn, or make vectors of all with: talkhouse vectors",
        )
    return _nearest(search, rows[0][0], itself)


def rank_by_meaning(search: TextSearch, model: TextModel, text: str) -> RankedMatches:
    """Find the turns whose vectors are nearest to that of a text, as ``like_by_meaning`` does.

    Raises UsageError where the vectors are of another model, or the text has no word of it.
    """
    check_unicode(text, "the text")
    if (made_by := run_of(search.file)["sha256"]) != model.sha256:
        raise UsageError(
            "the vectors are not of this model",
            expected=f"the model whose files have the SHA-256 {made_by}",
            found=f"{model.name}: {model.sha256}",
            next_step="name the model that they were made by, or make them anew with: talkhouse vectors --model FOLDER",
        )
    (vector,) = model.encode([text])
    if not vector.any():
        raise UsageError("the text has no word that the model knows", found=text or "nothing")
    return _nearest(search, vector.tolist(), _NONE)


def _nearest(search: TextSearch, vector: Sequence[float], itself: Mapping[str, Any]) -> RankedMatches:
    con, vectors, choices, limit, offset, _ = search
    groups = groups_of(vectors)
    shown = chosen_groups(groups, choices)
    every = turns_with_vectors(vectors, choices, itself)
    # Not the inner product, for that of a stranger's vectors may be anything.
    found = dicts(
        vectors.execute(
            sql_of(__file__, "nearest_turns", dimensions=len(vector), others=_OTHERS),
            {"vector": vector, "groups": shown, "limit": limit, "offset": offset, **itself},
        )
    )
    return replace(every, hits=read_hits(con, found, groups, offset))


def turns_with_vectors(
    vectors: duckdb.DuckDBPyConnection, choices: Choices, without: Mapping[str, Any] = _NONE
) -> RankedMatches:
    """Count the turns that are chosen, and those of each facet; none of them is listed."""
    groups = groups_of(vectors)
    counts: dict[int, int] = dict(
        vectors.execute(
            f"select group_no, count(*) from main.vectors where {_OTHERS} group by group_no", dict(without)
        ).fetchall()
    )
    total = sum(counts.get(number, 0) for number in chosen_groups(groups, choices))
    return RankedMatches(total, [], counted_facets(groups, counts, choices))


def turns_on_map(
    vectors: duckdb.DuckDBPyConnection, choices: Choices, always: Sequence[Turn], most: int = MOST_ON_MAP
) -> list[dict[str, Any]]:
    """Return turns with their corpus, role and place on the map: a sample of those that are chosen, and ``always``.

    The sample is the same each time, and of fewer turns a part of it.
    """
    values = {
        "groups": chosen_groups(groups_of(vectors), choices),
        "dialogues": [dialogue for dialogue, _ in always],
        "turns": [turn for _, turn in always],
        "most": most,
    }
    return dicts(vectors.execute(sql_of(__file__, "turns_on_map"), values))
