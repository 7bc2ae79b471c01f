"""The best match of each unit in each place, of one family of units."""

from fractions import Fraction

import duckdb

from talkhouse.overlap.overlap_file import KINDS
from talkhouse.overlap.quotations import best, create_quotations, lowest
from talkhouse.overlap.units import OWNER_OF

TABLES = """
create table rows (
    unit varchar,
    place_no integer,
    unit_no bigint,
    tokens bigint,
    words bigint,
    other_unit varchar,
    other_place_no integer,
    other_unit_no bigint,
    kind varchar,
    shared bigint,
    total bigint,
    matches bigint
);
"""


def create_matches(con: duckdb.DuckDBPyConnection, contains: Fraction, units: str) -> None:
    """Add the matches of a family to ``rows``, where its ``near`` is there; QueryFailed names the ``units``."""
    lowest(con, "text_lowest", "text_no", "holders")
    lowest(con, "form_lowest", "form_no", "form_holders")
    _create_alike(con)
    _create_near_matches(con)
    con.execute("""
create table met as
select
    owner_no,
    text_no,
    other_unit,
    other_place_no,
    coalesce(alike.kind, 'near') as kind,
    coalesce(alike.other_unit_no, near_matches.other_unit_no) as other_unit_no,
    coalesce(alike.shared, near_matches.shared) as shared,
    coalesce(alike.total, near_matches.total) as total,
    coalesce(alike.matches, 0) + coalesce(near_matches.matches, 0) as matches,
from alike
full join near_matches using (owner_no, text_no, other_unit, other_place_no)
""")
    create_quotations(con, contains, units)
    _add_rows(con)


def _create_alike(con: duckdb.DuckDBPyConnection) -> None:
    """Create ``alike``: exact and normalised matches of what an owner says, and how many units match so."""
    of_own = f"{OWNER_OF.format('forms_there.lowest[1]')} = holders.owner_no"
    con.execute(f"""
create table alike as
select
    holders.owner_no,
    holders.text_no,
    forms_there.unit as other_unit,
    forms_there.place_no as other_place_no,
    if(texts_there.text_no is null, 'normalised', 'exact') as kind,
    case
        when texts_there.text_no is not null then {_of_another("texts_there.lowest", "holders.owner_no")}
        else {_of_another("forms_there.lowest", "holders.owner_no")}
    end as other_unit_no,
    1 as shared,
    1 as total,
    forms_there.units - if(stands.owner_no is null, 0, own.units) as matches,
from holders
inner join form_lowest as forms_there
    on forms_there.form_no = holders.form_no and not (forms_there.owners = 1 and {of_own})
inner join form_holders as own
    on own.owner_no = holders.owner_no and own.form_no = holders.form_no
left join text_lowest as texts_there
    on texts_there.text_no = holders.text_no
    and texts_there.unit = forms_there.unit
    and texts_there.place_no = forms_there.place_no
    and not (texts_there.owners = 1 and {of_own.replace("forms_there", "texts_there")})
left join owner_places as stands
    on stands.owner_no = holders.owner_no
    and stands.place_no = forms_there.place_no
    and holders.unit = forms_there.unit
""")


def _of_another(lowest: str, owner: str) -> str:
    """Return the SQL of the lowest of two units that is of another owner."""
    return f"if({OWNER_OF.format(f'{lowest}[1]')} = {owner}, {lowest}[2], {lowest}[1])"


def _create_near_matches(con: duckdb.DuckDBPyConnection) -> None:
    """Create ``near_matches``: the nearest to what an owner says, and how many units are near."""
    pairs = "select form_no, other_form_no as met_no, shared, total, shared / total as score from near"
    con.execute("create view form_lowest_met as select * rename (form_no as met_no) from form_lowest")
    best(con, "near_best", pairs, "met_no", "form_lowest_met")
    # What an owner says that is near to something else that it says itself.
    con.execute("""
create table near_own as
select mine.owner_no, mine.form_no, sum(others.units)::bigint as units
from form_holders as mine
inner join near on near.form_no = mine.form_no
inner join form_holders as others on others.owner_no = mine.owner_no and others.form_no = near.other_form_no
group by mine.owner_no, mine.form_no
""")
    con.execute(f"""
create table near_matches as
select
    owner_no, text_no, other_unit, other_place_no, chosen.unit_no as other_unit_no, chosen.shared, chosen.total, matches
from (
    select
        holders.owner_no,
        holders.text_no,
        near_best.unit as other_unit,
        near_best.place_no as other_place_no,
        if({OWNER_OF.format("first.unit_no")} = holders.owner_no, second, first) as chosen,
        near_best.units - if(stands.owner_no is null, 0, coalesce(near_own.units, 0)) as matches,
    from holders
    inner join near_best on near_best.form_no = holders.form_no
    left join near_own on near_own.owner_no = holders.owner_no and near_own.form_no = holders.form_no
    left join owner_places as stands
        on stands.owner_no = holders.owner_no
        and stands.place_no = near_best.place_no
        and holders.unit = near_best.unit
)
where chosen is not null
""")


def _add_rows(con: duckdb.DuckDBPyConnection) -> None:
    """Add a row for each unit, place that it stands in, and place that has a match; ``same`` before all others."""
    con.execute("""
insert into rows
select
    units.unit,
    owner_places.place_no,
    units.unit_no,
    forms.tokens,
    forms.words,
    met.other_unit,
    met.other_place_no,
    met.other_unit_no,
    met.kind,
    met.shared,
    met.total,
    met.matches,
from units
inner join forms on forms.form_no = units.form_no
inner join met on met.owner_no = units.owner_no and met.text_no = units.text_no
inner join owner_places on owner_places.owner_no = units.owner_no
left join owner_places as stands
    on stands.owner_no = units.owner_no
    and stands.place_no = met.other_place_no
    and units.unit = met.other_unit
where stands.owner_no is null or stands.place_no = owner_places.place_no
""")
    con.execute("""
insert into rows
select
    units.unit,
    here.place_no,
    units.unit_no,
    forms.tokens,
    forms.words,
    units.unit,
    there.place_no,
    units.unit_no,
    'same',
    1,
    1,
    coalesce(met.matches, 0),
from units
inner join forms on forms.form_no = units.form_no
inner join owner_places as here on here.owner_no = units.owner_no
inner join owner_places as there on there.owner_no = units.owner_no and there.place_no <> here.place_no
left join met
    on met.owner_no = units.owner_no
    and met.text_no = units.text_no
    and met.other_unit = units.unit
    and met.other_place_no = there.place_no
""")


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
