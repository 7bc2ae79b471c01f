"""The data types of columns, as the files have them, in Croissant's words."""

from dataclasses import dataclass
from typing import Any

from pyarrow import types  # type: ignore[attr-defined]

_LENGTHS = (8, 16, 32, 64)


@dataclass(frozen=True)
class DataType:
    """The type of a column's values, of the items of its lists, or of the members of its structs."""

    name: str | None
    """None: a struct."""
    shape: tuple[int, ...] = ()
    """Of lists in lists, from the outside; -1: of any length."""
    members: tuple[tuple[str, "DataType"], ...] = ()

    def properties(self) -> dict[str, Any]:
        """Return what a field says of it, apart from members."""
        named = {"dataType": self.name} if self.name else {}
        shaped = {"isArray": True, "arrayShape": ",".join(map(str, self.shape))} if self.shape else {}
        return {**named, **shaped}


def data_type(arrow: Any) -> DataType:
    """Return the data type of an Arrow type; what Croissant has no name for is ``sc:Text``."""
    if types.is_list(arrow) or types.is_large_list(arrow) or types.is_fixed_size_list(arrow):
        of_items = data_type(arrow.value_type)
        length = arrow.list_size if types.is_fixed_size_list(arrow) else -1
        return DataType(of_items.name, (length, *of_items.shape), of_items.members)
    if types.is_struct(arrow):
        members = (arrow.field(index) for index in range(arrow.num_fields))
        return DataType(None, members=tuple((member.name, data_type(member.type)) for member in members))
    return DataType(_name(arrow.value_type if types.is_dictionary(arrow) else arrow))


def _name(arrow: Any) -> str:
    for length in _LENGTHS:
        if arrow == f"int{length}":
            return f"cr:Int{length}"
        if arrow == f"uint{length}":
            return f"cr:UInt{length}"
    if types.is_floating(arrow):
        return f"cr:Float{arrow.bit_width}"
    return next((name for is_type, name in _NAMES if is_type(arrow)), "sc:Text")


_NAMES = (
    (types.is_boolean, "sc:Boolean"),
    (types.is_decimal, "cr:Float64"),
    (types.is_date, "sc:Date"),
    (types.is_timestamp, "sc:DateTime"),
    (types.is_time, "sc:Time"),
)
