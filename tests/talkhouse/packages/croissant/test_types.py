"""Arrow's types as Croissant names them."""

from typing import Any

import pyarrow
import pytest

from talkhouse.packages.croissant_record_sets import DataType, data_type

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
