"""What comes before a turn: its path through replies where these make a tree, else all turns, the same everywhere."""

from collections.abc import Iterator, Sequence

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from talkhouse.ingest.declared.declaration.model import Context, DeclaredTask, TurnFields
from talkhouse.load.base_copy import open_template
from talkhouse.overlap import units
from talkhouse.overlap.read import text_of
from talkhouse.queries.catalogue import catalogue_of
from talkhouse.queries.files import own_files
from talkhouse.queries.views import fill_examples
from talkhouse.schema.sql_files import sql_of
from talkhouse.warehouse.declared_tasks import task_files
from tests.conftest import invented_examples
from tests.declared.talks_in_files import declared
from tests.queries.bi_rows import A_CORPUS

Parents = Sequence[int | None]
"""Which turn each answers."""

TASKS = (
    DeclaredTask("better", "preference", 1),
    DeclaredTask("mood", "turn_label", 1, scheme="mood"),
    DeclaredTask("path", "next_turn", 1, context="replies"),
    DeclaredTask("quoted", "next_turn", 1, context="turns"),
    DeclaredTask("turn", "next_turn", 1),
)
DECLARATION = declared(*TASKS, turn=TurnFields(reply_to=("to",)))
CATALOGUE = catalogue_of((*own_files(), *task_files(DECLARATION)))

A_TREE: Parents = (None, 0, 1, 2, 0)
"""A(B(C(D)), E)."""
A_CHAT: Parents = (None, None, 0, 0, None, 2)
"""In the order of time; two messages quote the first."""


@pytest.fixture(scope="module")
def salon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    with open_template(tmp_path_factory.mktemp("salon") / "w.duckdb", CATALOGUE, {}) as con:
        con.execute(A_CORPUS.replace("'toy'", "'salon'"))
        yield con


@st.composite
def dialogues(draw: st.DrawFn) -> Parents:
    """Draw a forest, as often as not a tree, of which any turn may stand before what it answers."""
    count = draw(st.integers(1, 9))
    answered = [st.integers(0, turn - 1) for turn in range(1, count)]
    if draw(st.booleans()):
        answered = [earlier | st.none() for earlier in answered]
    parents = [None, *map(draw, answered)]
    places = draw(st.permutations(range(count)) | st.just(range(count)))
    found: list[int | None] = [None] * count
    for turn, parent in enumerate(parents):
        found[places[turn]] = None if parent is None else places[parent]
    return found


def expected(parents: Parents, turn: int, context: Context | None) -> list[int]:
    is_tree = sum(parent is None for parent in parents) == 1
    if context == "turns" or not any(parent is not None for parent in parents) or (context is None and not is_tree):
        return list(range(turn))
    path: list[int] = []
    at = parents[turn]
    while at is not None:
        path.insert(0, at)
        at = parents[at]
    return path


def fill(con: duckdb.DuckDBPyConnection, talks: Sequence[Parents]) -> None:
    for table in ("examples", "candidates", "texts", "annotations", "records", "turns", "dialogues"):
        con.execute(f"delete from main.{table}")
    con.execute("create temp table said (dialogue_id text, turn_index int, text text, reply_to int)")
    turns = [(f"salon:{n}", turn, f"{n} {turn}", to) for n, talk in enumerate(talks) for turn, to in enumerate(talk)]
    con.executemany("insert into said values (?, ?, ?, ?)", turns)
    con.execute(sql_of(__file__, "contexts_fill"))


@invented_examples(30)
@given(talks=st.lists(dialogues(), max_size=8))
def test_a_context_is_a_path_in_views_and_the_overlap(salon: duckdb.DuckDBPyConnection, talks: list[Parents]) -> None:
    talks = [A_TREE, A_CHAT, [None, 0, 1], [None, None], *talks]
    fill(salon, talks)
    fill_examples(salon, CATALOGUE, ["salon"])
    for task in TASKS:
        wanted = [
            (f"salon:{number}", turn, [f"{number} {place}" for place in expected(talk, turn, task.context)])
            for number, talk in enumerate(talks)
            for turn in range(task.kind == "next_turn", len(talk))
        ]
        roles = "context" if task.kind == "turn_label" else "list_transform(context_roles, lambda role: role[9:])"
        view = f"select dialogue_id, turn_index, context, {roles} from salon.{task.name} order by all"
        assert salon.execute(view).fetchall() == [(*row, row[-1]) for row in wanted]
        rows = salon.execute(
            "select dialogue_id, turn_index, list(text order by distance desc), list(distance order by distance desc) "
            "from bi.context_turns where task = $1 group by all order by all",
            [task.name],
        ).fetchall()
        assert rows == [(*row, [*range(len(row[-1]), 0, -1)]) for row in wanted if row[-1]]
        if task.name == "better":  # the first by name of those that have a turn
            texts = {row[:2]: "\n".join(row[-1][-3:]) for row in wanted if row[-1]}
    assert [expected(A_TREE, turn, None) for turn in range(5)] == [[], [0], [0, 1], [0, 1, 2], [0]]
    assert {at: text_of(salon, "context", *at) for at in [*texts][:6]} == dict([*texts.items()][:6])
    assert contexts_compared(salon) == texts


def contexts_compared(con: duckdb.DuckDBPyConnection) -> dict[tuple[str, int], str]:
    con.execute("attach ':memory:' as work; use work")
    units.create_places(con, "w")
    units.create_turn_texts(con, "w")
    units.create_paths(con, "w", CATALOGUE.views)
    units.create_units(con, "w", ["context"])
    query = (
        "select owner, turn_index_of(unit_no), text "
        "from units inner join texts using (text_no) inner join owners using (owner_no)"
    )
    found = {(owner, turn): text for owner, turn, text in con.execute(query).fetchall()}
    con.execute("use w; detach work")
    return found
