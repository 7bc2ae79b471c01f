"""The index of a ranked search, a file next to the warehouse: which text has which words, and where the text stands.

It can be deleted at any time, and is made again where the warehouse has changed. It holds words, ids and counts; texts
are read from the warehouse. Somebody else's file is neither read nor changed.
"""

from collections.abc import Callable
from pathlib import Path

import duckdb

from talkhouse.schema.sql import identifier
from talkhouse.schema.toml_files import toml_of
from talkhouse.search.text_groups import GROUPS, GROUPS_VALUES, TEXTS, create_groups
from talkhouse.settings import version
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
    number=1,
    tables={**toml_of(__file__, "search_index"), "groups": GROUPS},
    values={
        "run": {COUNT: ["texts"], "isfinite({0}) and {0} >= if(texts = 0, 0, 1)": ["mean_words"]},
        "groups": GROUPS_VALUES,
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
    con, of = warehouse.con, identifier(warehouse.database)
    create_groups(con, of, INDEX)
    INDEX.create(con, "documents", "select document, group_no, owner, turn_index from numbered order by document")
    _create_postings(con, of)
    ((texts, words),) = con.execute(
        f"select count(distinct document), coalesce(sum(times), 0) from {RESULT}.main.postings"
    ).fetchall()
    run = {"warehouse_fingerprint": now, "texts": texts, "mean_words": words / texts if texts else 0.0}
    INDEX.create_run(con, {**run, "talkhouse_version": version()})


def _create_postings(con: duckdb.DuckDBPyConnection, warehouse: str) -> None:
    """Create the tables ``words`` and ``postings``."""
    # Counted within each text, which is much less work than to group the words of all. Cut twice: to keep the words
    # between the two would take more.
    counted = "unnest(map_entries(list_aggregate(found, 'histogram')))"
    texts = " union all ".join(
        f"select document, group_no, {search_tokens('texts.text')} from {warehouse}.main.{table} as texts "
        f"inner join numbered on numbered.kind = '{kind}' and numbered.row_number = texts.rowid"
        for kind, (table, _, _) in TEXTS.items()
    )
    used = (
        f"select document, group_no, len(found) as words, {counted} as entry "
        f"from ({texts}) as texts(document, group_no, found)"
    )
    INDEX.create(
        con,
        "words",
        "select word, row_number() over (order by word) - 1, texts "
        f"from (select entry.key as word, count(*) as texts from ({used}) group by word) order by word",
    )
    INDEX.create(
        con,
        "postings",
        "select word_no, document, entry.value, used.words, group_no "
        f"from ({used}) as used inner join {RESULT}.main.words on words.word = entry.key order by word_no, document",
    )
