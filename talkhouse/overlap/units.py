"""What is compared: places, the units that stand in them, and the distinct texts of the units.

All tables are in the current database, which is private; the warehouse is read under its name.
"""

from collections.abc import Collection, Iterable
from typing import NamedTuple

import duckdb

from talkhouse.queries.heads import ViewQuery
from talkhouse.schema.errors import QueryFailed
from talkhouse.schema.sql import insert, literal
from talkhouse.schema.sql_files import sql_of
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
    distinct = f"list_distinct(list_transform({places}, lambda place: hash({parts})))"
    return f"list_transform([{hashed}], lambda hashes: {distinct})[1]"


class TooManyPairs(QueryFailed):
    """Texts are so many variants of some that their pairs can't all be compared."""


def too_many(units: str, most: str, found: str, option: str) -> TooManyPairs:
    """Return the error of too many pairs; a higher ``option`` would leave fewer."""
    return TooManyPairs(
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
    con.execute(sql_of(__file__, "places", warehouse=warehouse))


def create_turn_texts(con: duckdb.DuckDBPyConnection, warehouse: str) -> None:
    """Create ``said``, the turns of dialogues that stand somewhere, and ``turn_forms`` of their distinct texts."""
    con.execute(sql_of(__file__, "said", warehouse=warehouse))
    _create_forms(con, "turn_forms", "select distinct text from said")


def create_paths(con: duckdb.DuckDBPyConnection, warehouse: str, views: Iterable[ViewQuery]) -> None:
    """Create ``asked``, the turns of examples, with the path of each whose context is one; ``views``: of tasks.

    Where a turn is an example of several tasks, the first by name says its context.
    """
    con.execute("create table contexts (corpus_id varchar, task varchar, context varchar)")
    insert(con, "contexts", [[view.schema, view.name, view.context] for view in views if view.context])
    with fits_views("the overlap"):
        con.execute(sql_of(__file__, "asked", warehouse=warehouse))


def _create_forms(con: duckdb.DuckDBPyConnection, table: str, texts: str) -> None:
    con.execute(
        sql_of(
            __file__,
            "forms",
            table=table,
            letters=letters_without_blanks("form"),
            joined=joined("found"),
            tokens=tokens("text"),
            texts=texts,
        )
    )


def _with_forms(unit: str, warehouse: str) -> str:
    """Return the query of all units of a kind: owner_no, turn_index, text, form, tokens, letters."""
    with_forms = "from said inner join turn_forms on turn_forms.text = said.text"
    if unit == "turn":
        return f"select owner_no, turn_index, said.text, form, tokens, letters {with_forms}"
    if unit == "dialogue":
        return sql_of(__file__, "units_dialogue", with_forms=with_forms)
    if unit == "context":
        before = range(CONTEXT, 0, -1)
        texts, forms, counts, letters = (
            [f"lag({column}, {back}) over one_dialogue" for back in before]
            for column in ("said.text", "nullif(form, '')", "tokens", "letters")
        )
        return sql_of(
            __file__,
            "units_context",
            with_forms=with_forms,
            texts=", ".join(texts),
            forms=", ".join(forms),
            counts=" + ".join(f"coalesce({count}, 0)" for count in counts),
            letters=" + ".join(f"coalesce({count}, 0)" for count in letters),
            most=CONTEXT,
        )
    table, key = ("texts", "text_id") if unit == "candidate" else ("personas", "persona_id")
    return sql_of(__file__, "units_text", table=table, warehouse=warehouse, unit=unit, key=key)


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
    con.execute(sql_of(__file__, "units", rows=rows, words=words("tokens", "letters")))
