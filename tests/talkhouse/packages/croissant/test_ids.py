"""Ids of nodes: any names, and none twice."""

import re

from hypothesis import given
from hypothesis import strategies as st

from talkhouse.packages.croissant_record_sets import Ids


@given(st.lists(st.text(min_size=1), min_size=1))
def test_ids_are_only_once_and_no_step_in_a_path(names: list[str]) -> None:
    ids = Ids()
    made = [ids.new("rows", name) for name in names]
    assert len(set(made)) == len(names)
    assert all(re.fullmatch(r"rows/[\w.-]+", each) and each.partition("/")[2].strip(".") for each in made)


def test_ordinary_names_stay_as_they_are() -> None:
    ids = Ids()
    assert [ids.new("view", "column_1"), ids.new("data", "view", "dev-00000-of-00001.parquet")] == [
        "view/column_1",
        "data/view/dev-00000-of-00001.parquet",
    ]
    assert ids.new("view", "column_1") == "view/column_1_"
