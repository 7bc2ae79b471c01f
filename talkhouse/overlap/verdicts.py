"""Verdicts on examples: what of an example stands in the places that it is compared with."""

import duckdb

from talkhouse.overlap.overlap_file import KINDS

_CLOSENESS = "list_position([{}], kind)".format(", ".join(f"'{kind}'" for kind in KINDS))

_BEST = """
select {key}, min(struct_pack(
    is_phrase := is_phrase,
    closeness := {closeness},
    behind := -similarity,
    place := other_place,
    dialogue_id := other_owner,
    turn_index := other_turn_index,
    kind := kind,
    similarity := similarity
)) as best
from {result}.main.matches
where unit = '{unit}' and other_unit = '{unit}' and other_place in (select place from against)
group by {key}
"""


def insert_examples(con: duckdb.DuckDBPyConnection, warehouse: str, result: str) -> None:
    """Insert into ``result`` a verdict for each example of a place that is not in the table ``against``.

    ``published`` and ``against`` are in the current database. A dialogue that has no place can't be judged.
    """
    for unit in ("dialogue", "turn", "context"):
        key = "place, owner" if unit == "dialogue" else "place, owner, turn_index"
        query = _BEST.format(key=key, closeness=_CLOSENESS, result=result, unit=unit)
        con.execute(f"create table best_{unit} as {query}")
    best = ", ".join(
        f"{unit}.best.{field} as {unit}_{field}"
        for unit in ("dialogue", "turn", "context")
        for field in ("kind", "similarity", "place", "dialogue_id", "turn_index")
        if (unit, field) != ("dialogue", "turn_index")
    )
    con.execute(f"""
insert into {result}.main.examples
select
    examples.corpus_id,
    examples.task,
    examples.release,
    examples.split,
    examples.example_index,
    examples.record_id,
    examples.dialogue_id,
    examples.turn_index,
    case
        when examples.dialogue_id is null or published.split is null then 'unjudged'
        when not dialogue.best.is_phrase then 'dialogue'
        when not turn.best.is_phrase and not context.best.is_phrase then 'both'
        when not turn.best.is_phrase then 'turn'
        when not context.best.is_phrase then 'context'
        when coalesce(dialogue.best, turn.best, context.best) is not null then 'phrase'
        else 'clean'
    end as verdict,
    {best},
from {warehouse}.main.examples
left join published on published.record_id = examples.record_id
left join best_dialogue as dialogue
    on dialogue.place = published.place and dialogue.owner = examples.dialogue_id
left join best_turn as turn
    on turn.place = published.place
    and turn.owner = examples.dialogue_id
    and turn.turn_index = examples.turn_index
left join best_context as context
    on context.place = published.place
    and context.owner = examples.dialogue_id
    and context.turn_index = examples.turn_index
where published.place is null or published.place not in (select place from against)
order by all
""")
