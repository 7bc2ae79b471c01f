"""The index of a ranked search, a file next to the warehouse: which text has which words, and where the text stands.

It can be deleted at any time. Where the warehouse has changed, the texts that did are replaced in a copy of it: those
of each dialogue whose turns, roles or splits give another hash, and so for candidates and personas. It holds words, ids
and counts; texts are read from the warehouse. Somebody else's file is neither read nor changed.
"""

from collections.abc import Callable
from pathlib import Path

import duckdb

from talkhouse.schema.sql import identifier
from talkhouse.schema.sql_files import sql_of
from talkhouse.schema.toml_files import toml_of
from talkhouse.search.text_groups import (
    GROUPS,
    GROUPS_VALUES,
    OWNERS,
    OWNERS_VALUES,
    TEXTS,
    compare_owners,
    drop_unused_groups,
    number_texts,
)
from talkhouse.settings import version
from talkhouse.warehouse.byte_copy import MOST_CHANGED, TooMuchChanged
from talkhouse.warehouse.derived_sidecar import RESULT, FileBeside
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.sidecar import COUNT, POSITIVE, SOME
from talkhouse.warehouse.tokens import search_tokens

INDEX = FileBeside(
    ending=".search.duckdb",
    schema="search",
    what="index of texts",
    made_by="talkhouse search --rank WORDS",
    # Raised where texts are cut into words by another rule, too.
    number=2,
    tables={**toml_of(__file__, "search_index"), "groups": GROUPS, "owners": OWNERS},
    values={
        "run": {COUNT: ["texts", "words", "in_order"], "isfinite({0}) and {0} >= if(texts = 0, 0, 1)": ["mean_words"]},
        "groups": GROUPS_VALUES,
        "owners": OWNERS_VALUES,
        "documents": {SOME: ["document", "group_no", "owner"]},
        "words": {SOME: ["word", "word_no"], POSITIVE: ["texts"]},
        "postings": {SOME: ["word_no", "document", "group_no"], POSITIVE: ["times", "words"]},
    },
    more_room="make room on the disk, or search without --rank",
)


def ready_index(warehouse: Warehouse, say: Callable[[str], None]) -> Path:
    """Return the index of a warehouse, made where there is none of its rows; as ``make_index``."""
    return make_index(warehouse.path, say) if INDEX.state_beside(warehouse) else INDEX.path(warehouse.path)


def make_index(warehouse: Path, say: Callable[[str], None]) -> Path:
    """Make the index of a warehouse, as ``FileBeside.make`` does; one that is there already stays."""
    return INDEX.make(warehouse, _fill, say, anew=False)


def _fill(warehouse: Warehouse, _: Path, now: str) -> None:
    """Replace in an index what is not as it is in the warehouse; in an empty one that is all.

    Raises TooMuchChanged where postings are too much out of order, or too many are deleted, as queries are slower then.
    """
    con, of = warehouse.con, identifier(warehouse.database)
    (counted,) = con.execute(sql_of(__file__, "counted", index=RESULT)).fetchall()
    first, word_no, documents, in_order, texts, words = counted
    if (first - in_order) + (first - documents) > MOST_CHANGED * documents:
        raise TooMuchChanged
    compare_owners(con, of)
    lost_texts, lost_words = _delete_gone(con)
    number_texts(con, of, INDEX, first)
    INDEX.insert(con, "documents", "select document, group_no, owner, turn_index from numbered order by document")
    drop_unused_groups(con, "documents")
    _insert_postings(con, of, word_no)
    ((new_texts, new_words),) = con.execute(
        f"select count(distinct document), coalesce(sum(times), 0) from {RESULT}.main.postings where document >= $1",
        [first],
    ).fetchall()
    ((numbered,),) = con.execute("select count(*) from numbered").fetchall()
    texts, words = texts - lost_texts + new_texts, words - lost_words + new_words
    run = {"warehouse_fingerprint": now, "texts": texts, "words": words, "mean_words": words / texts if texts else 0.0}
    INDEX.create_run(con, {**run, "in_order": in_order or numbered, "talkhouse_version": version()})


def _delete_gone(con: duckdb.DuckDBPyConnection) -> tuple[int, int]:
    """Delete the texts of the owners in ``gone``; return how many had words, and how many words.

    Creates ``lost``: in how many texts less each word is.
    """
    con.execute(sql_of(__file__, "leaving", index=RESULT))
    leaving = "where document in (select document from leaving)"
    con.execute(f"""
create or replace table lost as
select word_no, count(*) as texts from {RESULT}.main.postings {leaving} group by word_no
""")
    ((texts, words),) = con.execute(
        f"select count(distinct document), coalesce(sum(times), 0) from {RESULT}.main.postings {leaving}"
    ).fetchall()
    for table in ("postings", "documents"):
        con.execute(f"delete from {RESULT}.main.{table} {leaving}")
    return texts, words


def _insert_postings(con: duckdb.DuckDBPyConnection, warehouse: str, word_no: int) -> None:
    """Insert the words of the texts in ``numbered``; ``word_no`` is the first number of a new word."""
    # Counted within each text, which is much less work than to group the words of all. Cut twice: to keep the words
    # between the two would take more.
    counted = "unnest(map_entries(list_aggregate(found, 'histogram')))"
    texts = " union all ".join(
        f"select document, group_no, {search_tokens('texts.text')} from {warehouse}.main.{table} as texts "
        f"inner join numbered on numbered.kind = '{kind}' and numbered.row_number = texts.rowid"
        for kind, (table, _) in TEXTS.items()
    )
    used = (
        f"select document, group_no, len(found) as words, {counted} as entry "
        f"from ({texts}) as texts(document, group_no, found)"
    )
    INDEX.create(con, "words", sql_of(__file__, "words", index=RESULT, used=used, first=word_no))
    INDEX.insert(
        con,
        "postings",
        "select word_no, document, entry.value, used.words, group_no "
        f"from ({used}) as used inner join {RESULT}.main.words on words.word = entry.key order by word_no, document",
    )
