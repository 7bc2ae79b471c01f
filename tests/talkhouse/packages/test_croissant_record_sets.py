"""Ids of nodes, which are unique; and Arrow's types as Croissant names them."""

import re
from typing import Any

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from talkhouse.packages.croissant_record_sets import DataType, Ids, data_type


@given(st.lists(st.text(min_size=1), min_size=1))
def test_ids_are_only_once_and_no_step_in_a_path(names: list[str]) -> None:
    ids = Ids()
    new_ids = [ids.new("rows", name) for name in names]
    assert len(set(new_ids)) == len(names)
    assert all(re.fullmatch(r"rows/[\w.-]+", each) and each.partition("/")[2].strip(".") for each in new_ids)


def test_ordinary_names_stay_as_they_are() -> None:
    ids = Ids()
    assert ids.new("view", "column_1") == "view/column_1"
    assert ids.new("data", "view", "dev-00000-of-00001.parquet") == "data/view/dev-00000-of-00001.parquet"
    assert ids.new("view", "column_1") == "view/column_1_"


pa: Any = pyarrow


@pytest.mark.parametrize(
    ("arrow", "expected"),
    [
        (pa.string(), DataType("sc:Text")),
        (pa.int32(), DataType("cr:Int32")),
        (pa.uint8(), DataType("cr:UInt8")),
        (pa.float64(), DataType("cr:Float64")),
        (pa.decimal128(9, 2), DataType("cr:Float64")),
        (pa.bool_(), DataType("sc:Boolean")),
        (pa.date32(), DataType("sc:Date")),
        (pa.timestamp("us"), DataType("sc:DateTime")),
        (pa.timestamp("us", "UTC"), DataType("sc:DateTime")),
        (pa.time64("us"), DataType("sc:Time")),
        (pa.binary(), DataType("sc:Text")),
        (pa.dictionary(pa.int8(), pa.string()), DataType("sc:Text")),
        (pa.list_(pa.int64()), DataType("cr:Int64", (-1,))),
        (pa.list_(pa.list_(pa.string())), DataType("sc:Text", (-1, -1))),
        (pa.list_(pa.float32(), 3), DataType("cr:Float32", (3,))),
        (pa.struct({"a": pa.string()}), DataType(None, (), (("a", DataType("sc:Text")),))),
        (pa.list_(pa.struct({"a": pa.int8()})), DataType(None, (-1,), (("a", DataType("cr:Int8")),))),
    ],
    ids=str,
)
def test_data_type(arrow: Any, expected: DataType) -> None:
    assert data_type(arrow) == expected
