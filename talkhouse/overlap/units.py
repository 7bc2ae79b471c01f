"""What is compared: places, the units that stand in them, and the distinct texts of the units.

All tables are in the current database, which is private; the warehouse is read under its name.
"""

from collections.abc import Collection, Iterable
from typing import NamedTuple

import duckdb

from talkhouse.queries.heads import ViewQuery
from talkhouse.schema.errors import QueryFailed
from talkhouse.schema.sql import insert, literal
from talkhouse.warehouse.opened import fits_views
from talkhouse.warehouse.tokens import LETTER_WITHOUT_BLANKS, tokens


def joined(tokens: str) -> str:
    """Return the SQL of tokens as one text: no token has a blank, so that two lists of them are equal if these are."""
    return f"array_to_string({tokens}, ' ')"


def letters_without_blanks(form: str) -> str:
    """Return the SQL of how many tokens of a joined form are letters of scripts without blanks."""
    # Most forms are ASCII, which needs no search.
    found = f"len(regexp_extract_all({form}, {literal(LETTER_WITHOUT_BLANKS)}))"
    return f"case when strlen({form}) = length({form}) then 0 else {found} end"


def words(tokens: str, letters: str) -> str:
    """Return the SQL of how many words a text has: two letters without blanks count as one, an odd one as none."""
    return f"({tokens} - ({letters} + 1) // 2)"


def runs(form: str, length: int) -> str:
    """Return the SQL of the set of runs of so many tokens of a joined form, each named by a hash; a list."""
    hashed = f"list_transform(string_split({form}, ' '), lambda token: hash(token))"
    parts = ", ".join(f"hashes[place + {offset}]" for offset in range(length))
    places = f"range(1, len(hashes) - {length - 2})"
    # The list of hashes is an argument of a lambda, so that it is made once.
    made = f"list_distinct(list_transform({places}, lambda place: hash({parts})))"
    return f"list_transform([{hashed}], lambda hashes: {made})[1]"


def too_many(units: str, most: str, found: str, option: str) -> QueryFailed:
    """Return the error of texts that are so many variants of some that their pairs can't all be compared."""
    return QueryFailed(
        f"too many texts begin to look alike to compare all pairs of them: unit {units}",
        expected=most,
        found=found,
        next_step=f"a template said in many variants does this: raise {option}, name other units with --unit, "
        "or build a warehouse with fewer of these dialogues",
    )


class UnitFamily(NamedTuple):
    """Units that are compared with each other."""

    units: tuple[str, ...]
    shingle: int
    """Tokens of a shingle."""


FAMILIES = (
    UnitFamily(("turn", "candidate"), 2),
    UnitFamily(("context",), 3),
    UnitFamily(("dialogue",), 3),
    UnitFamily(("persona",), 2),
)

CONTEXT = 3
"""Turns of a context at most."""

SHORT = 5
"""Words below which a text is a phrase."""


def create_places(con: duckdb.DuckDBPyConnection, warehouse: str) -> None:
    """Create ``places``, and ``owners`` with the places that each stands in: dialogues, candidate texts, personas.

    Numbers follow the order of names by bytes, so that the lowest number is the lowest name.
    """
    con.execute(f"""
create table published as
select
    record_id,
    dialogue_id,
    corpus_id,
    release,
    split,
    standard_split,
    concat_ws('/', corpus_id, release, coalesce(split, subset)) as place,
from {warehouse}.main.records
where split is not null or subset is not null
""")
    con.execute(f"""
create table standing as
select distinct 'dialogue' as thing, dialogue_id as owner, place
from published
where split is not null and dialogue_id is not null
union all
select distinct 'candidate', candidates.text_id, place
from {warehouse}.main.candidates inner join published on published.record_id = candidates.record_id
where candidates.text_id is not null
union all
select distinct 'persona', persona_uses.persona_id, place
from {warehouse}.main.persona_uses inner join published on published.record_id = persona_uses.record_id
where persona_uses.persona_id is not null
""")
    con.execute("""
create table places as
select
    row_number() over (order by place)::integer as place_no,
    place,
    min(corpus_id) as corpus_id,
    min(release) as release,
    min(split) as split,
    min(standard_split) as standard_split,
from published
where place in (select standing.place from standing)
group by place
""")
    con.execute("""
create table owners as
select row_number() over (order by thing, owner) as owner_no, thing, owner
from (select distinct thing, owner from standing)
""")
    con.execute("""
create table owner_places as
select owners.owner_no, places.place_no
from standing
inner join owners on owners.thing = standing.thing and owners.owner = standing.owner
inner join places on places.place = standing.place
""")


def create_turn_texts(con: duckdb.DuckDBPyConnection, warehouse: str) -> None:
    """Create ``said``, the turns of dialogues that stand somewhere, and ``turn_forms`` of their distinct texts."""
    con.execute(f"""
create table said as
select owners.owner_no, turns.turn_index, turns.text
from {warehouse}.main.turns
inner join owners on owners.thing = 'dialogue' and owners.owner = turns.dialogue_id
""")
    _create_forms(con, "turn_forms", "select distinct text from said")


def create_paths(con: duckdb.DuckDBPyConnection, warehouse: str, views: Iterable[ViewQuery]) -> None:
    """Create ``asked``, the turns of examples, with the path of each whose context is one; ``views``: of tasks.

    Where a turn is an example of several tasks, the first by name says its context.
    """
    con.execute("create table contexts (corpus_id varchar, task varchar, context varchar)")
    insert(con, "contexts", [[view.schema, view.name, view.context] for view in views if view.context])
    with fits_views("the overlap"):
        con.execute(f"""
create table asked as
select owners.owner_no, examples.turn_index, arg_min_null(paths.path, examples.task) as path
from {warehouse}.main.examples
inner join owners on owners.thing = 'dialogue' and owners.owner = examples.dialogue_id
left join contexts on contexts.corpus_id = examples.corpus_id and contexts.task = examples.task
left join {warehouse}.bi.turn_paths as paths
    on paths.dialogue_id = examples.dialogue_id
    and paths.turn_index = examples.turn_index
    and case when contexts.context is null then paths.is_tree else contexts.context = 'replies' end
where examples.turn_index is not null
group by owners.owner_no, examples.turn_index
""")


def _create_forms(con: duckdb.DuckDBPyConnection, table: str, texts: str) -> None:
    con.execute(f"""
create table {table} as
select text, form, tokens, {letters_without_blanks("form")} as letters
from (
    select text, len(found) as tokens, {joined("found")} as form
    from (select text, {tokens("text")} as found from ({texts}))
)
""")


_UNIT_NO = "owner_no * 4294967296 + {}::bigint + 2147483648"
"""SQL: a number that has the order of (owner, turn_index), from which both are read."""
OWNER_OF = "({} >> 32)"
TURN_INDEX_OF = "(({} & 4294967295) - 2147483648)::integer"


def _with_forms(unit: str, warehouse: str) -> str:
    """Return the query of all units of a kind: owner_no, turn_index, text, form, tokens, letters."""
    with_forms = "from said inner join turn_forms on turn_forms.text = said.text"
    if unit == "turn":
        return f"select owner_no, turn_index, said.text, form, tokens, letters {with_forms}"
    if unit == "dialogue":
        return f"""
select
    owner_no,
    0 as turn_index,
    string_agg(said.text, chr(10) order by turn_index) as text,
    coalesce(string_agg(nullif(form, ''), ' ' order by turn_index), '') as form,
    sum(tokens)::bigint as tokens,
    sum(letters)::bigint as letters,
{with_forms}
group by owner_no
"""
    if unit == "context":
        before = range(CONTEXT, 0, -1)
        texts, forms, counts, letters = (
            [f"lag({column}, {back}) over one_dialogue" for back in before]
            for column in ("said.text", "nullif(form, '')", "tokens", "letters")
        )
        return f"""
select owner_no, turn_index, text, form, tokens, letters
from (
    select
        owner_no,
        turn_index,
        concat_ws(chr(10), {", ".join(texts)}) as text,
        concat_ws(' ', {", ".join(forms)}) as form,
        {" + ".join(f"coalesce({count}, 0)" for count in counts)} as tokens,
        {" + ".join(f"coalesce({count}, 0)" for count in letters)} as letters,
    {with_forms}
    window one_dialogue as (partition by owner_no order by turn_index)
)
where (owner_no, turn_index) in (select owner_no, turn_index from asked where path is null)
union all
select
    owner_no,
    before.turn_index,
    string_agg(said.text, chr(10) order by place),
    coalesce(string_agg(nullif(form, ''), ' ' order by place), ''),
    sum(tokens)::bigint,
    sum(letters)::bigint,
from (
    select owner_no, turn_index, unnest(path[-{CONTEXT}:]) as answered, unnest(range({CONTEXT})) as place
    from asked
) as before
inner join said using (owner_no)
inner join turn_forms on turn_forms.text = said.text
where said.turn_index = before.answered
group by owner_no, before.turn_index
"""
    table, key = ("texts", "text_id") if unit == "candidate" else ("personas", "persona_id")
    return f"""
select owners.owner_no, 0 as turn_index, {table}.text, form, tokens, letters
from {warehouse}.main.{table}
inner join owners on owners.thing = '{unit}' and owners.owner = {table}.{key}
inner join {unit}_forms as forms on forms.text = {table}.text
"""


def create_units(con: duckdb.DuckDBPyConnection, warehouse: str, units: Collection[str]) -> None:
    """Create the units of one family.

    ``texts`` are distinct texts, ``forms`` distinct normal forms; ``units`` has the text of each unit, ``holders``
    which owner has which text, and ``form_holders`` which form.
    """
    for unit in units:
        if unit in ("candidate", "persona"):
            table = "texts" if unit == "candidate" else "personas"
            _create_forms(con, f"{unit}_forms", f"select distinct text from {warehouse}.main.{table}")
    rows = " union all ".join(f"select '{unit}' as unit, * from ({_with_forms(unit, warehouse)})" for unit in units)
    # A text without a token is one, as it is; a joined form has tokens, so that the two never meet.
    con.execute(f"""
create table unit_rows as
select
    unit,
    owner_no,
    turn_index,
    text,
    if(tokens = 0, text, form) as form,
    greatest(tokens, 1) as tokens,
    if(tokens = 0, 1, {words("tokens", "letters")}) as words,
from ({rows})
where text <> ''
""")
    con.execute("""
create table forms as
select row_number() over () as form_no, form, any_value(tokens) as tokens, any_value(words) as words
from unit_rows
group by form
""")
    con.execute("""
create table texts as
select row_number() over () as text_no, text, form_no
from (select text, any_value(form) as form from unit_rows group by text)
inner join forms using (form)
""")
    con.execute(f"""
create table units as
select unit, owner_no, {_UNIT_NO.format("turn_index")} as unit_no, text_no, form_no
from unit_rows
inner join texts using (text)
""")
    con.execute("""
create table holders as
select unit, owner_no, text_no, any_value(form_no) as form_no, min(unit_no) as unit_no, count(*) as units
from units
group by unit, owner_no, text_no
""")
    con.execute("""
create table form_holders as
select unit, owner_no, form_no, min(unit_no) as unit_no, sum(units)::bigint as units
from holders
group by unit, owner_no, form_no
""")
    con.execute("drop table unit_rows")
