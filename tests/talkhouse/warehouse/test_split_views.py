"""Which views are those of one split: by name and query together, as a build makes them."""

import duckdb

from talkhouse.queries.catalogue import catalogue
from talkhouse.queries.views import split_view
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.relations import SplitView

VIEWS = """
create schema toy; create schema "select";
create view toy.mood as select 1 as example_index, 'dev' as split;
create view toy.mood_dev as select * from toy.mood where split = 'dev';
create view toy."mood_it's ""odd"" too" as select * from toy.mood where split = 'it''s "odd" too';
create view toy.mood_10 as select * from toy.mood;
create view toy.mood_10_dev as select * from toy.mood_10 where split = 'dev';
create view "select".mood as from toy.mood;
create view "select".mood_dev as select * from "select".mood where split = 'dev';
-- Somebody's own.
create view toy.mood_mine as select * from toy.mood where example_index = 1;
create view toy.mood_test as select * from toy.mood where split = 'train';
create view toy.mood_few as select example_index from toy.mood where split = 'few';
create view toy.calm_dev as select * from toy.mood where split = 'dev';
"""


def test_a_view_of_a_split_has_its_name_and_its_query() -> None:
    with duckdb.connect() as con:
        con.execute(VIEWS)
        assert Warehouse(con).split_views == {
            "toy.mood_dev": SplitView("toy.mood", "dev"),
            'toy.mood_it\'s "odd" too': SplitView("toy.mood", 'it\'s "odd" too'),
            "toy.mood_10_dev": SplitView("toy.mood_10", "dev"),
            "select.mood_dev": SplitView("select.mood", "dev"),
        }


def test_a_build_makes_no_other_views_beside_the_catalogues(con: duckdb.DuckDBPyConnection) -> None:
    names = "select schema_name || '.' || view_name from duckdb_views() where not internal and not temporary"
    views = {name for (name,) in con.execute(names).fetchall()}
    written = {view.full_name: view for view in catalogue().views}
    split_views = Warehouse(con).split_views
    assert split_views.keys() == views - written.keys()
    assert {split_view(written[task], split).full_name for task, split in split_views.values()} == split_views.keys()
