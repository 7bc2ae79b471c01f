"""Finds texts by their words or meaning in a warehouse, with the files beside it that this needs."""

from collections.abc import Callable, Mapping, Sequence

from talkhouse.schema.errors import UsageError
from talkhouse.search.ranked import RankedMatches, like, rank
from talkhouse.search.search_index import INDEX, ready_index
from talkhouse.search.text_groups import TextSearch, check_choices
from talkhouse.warehouse.opened import Warehouse


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
    from talkhouse.search.meaning import like_by_meaning, rank_by_meaning
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
