"""The types of columns as ``datasets`` names them: in the footers of files, and in the head of a card."""

import json
from collections.abc import Mapping
from typing import Any

from pyarrow.types import is_fixed_size_list, is_list, is_struct

from talkhouse.packages.content import Classes, Config
from talkhouse.query.expressions import Column
from talkhouse.schema.sql import literal

Feature = dict[str, Any]
"""A feature as ``datasets`` writes it in JSON."""

_OTHER_NAMES = {"float": "float32", "double": "float64", "halffloat": "float16", "date32[day]": "date32"}
"""Types that ``datasets`` calls otherwise than Arrow."""


def value(config: Config, column: Column) -> str:
    """Return the SQL expression of a column: its value, and of a class its number."""
    declared = next((each for each in config.classes if each.column == column.title), None)
    if declared is None:
        return column.as_packed()
    names = f"[{', '.join(literal(label.label) for label in declared.labels)}]::varchar[]"
    # Not a pattern to be filled in: a label may have braces.
    before, after = f"(list_position({names}, ", "::varchar) - 1)::bigint"
    return (
        f"list_transform({column.name}, lambda item: {before}item{after})"
        if declared.is_list
        else f"{before}{column.name}{after}"
    )


def features(config: Config, schema: Any) -> dict[str, Feature]:
    """Return the feature of each column of an Arrow schema."""
    declared = {each.column: each for each in config.classes}
    return {field.name: _feature(field.type, declared.get(field.name)) for field in schema}


def footer(config: Config, schema: Any) -> dict[str, str]:
    """Return what a Parquet file says for ``datasets``, which then knows the classes without a card."""
    return {"huggingface": json.dumps({"info": {"features": features(config, schema)}}, ensure_ascii=False)}


def _feature(kind: Any, declared: Classes | None) -> Feature:
    if is_list(kind) or is_fixed_size_list(kind):
        length = {"length": kind.list_size} if is_fixed_size_list(kind) else {}
        return {"feature": _feature(kind.value_type, declared), **length, "_type": "List"}
    if is_struct(kind):
        return {field.name: _feature(field.type, None) for field in kind}
    if declared:
        return {"names": [label.label for label in declared.labels], "_type": "ClassLabel"}
    return {"dtype": _OTHER_NAMES.get(str(kind), str(kind)), "_type": "Value"}


def in_head(named: Mapping[str, Feature]) -> list[dict[str, Any]]:
    """Return features as the head of a card has them."""
    return [{"name": name, **_in_head(feature)} for name, feature in named.items()]


def _in_head(feature: Feature) -> dict[str, Any]:
    match feature.get("_type"):
        case "Value":
            return {"dtype": feature["dtype"]}
        case "ClassLabel":
            names = {str(number): name for number, name in enumerate(feature["names"])}
            return {"dtype": {"class_label": {"names": names}}}
        case "List":
            inner = _in_head(feature["feature"])
            # What has only a type, or only parts, is written without saying so.
            short = next(iter(inner.values())) if list(inner) in (["dtype"], ["struct"]) else inner
            length = {"length": feature["length"]} if "length" in feature else {}
            return {"list": short, **length}
        case _:
            return {"struct": in_head(feature)}
