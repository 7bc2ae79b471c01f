"""Rules for JSON, which is a text to Spark."""

import json

from sqlglot import exp

from talkhouse.translation.dialects import SparkViews, Views, written
from talkhouse.translation.refuse import NotPortable


def json_value(node: exp.JSONExtract) -> exp.Expr:
    """``extra -> 'key'``: the same only where it is made a list or a map at once: engines write JSON otherwise."""
    if isinstance(node.parent, exp.FromJson) or isinstance(_outside(node).parent, exp.Cast):
        return node
    raise NotPortable(node, "take a text with ->>, or cast the value to a list or a map")


def nested_cast(node: exp.Cast) -> exp.Expr:
    """``(extra -> 'ids')::varchar[]``, ``extra::map(varchar, json)``: Spark casts no text to a list; it reads it."""
    is_value = isinstance(node.this.unnest(), exp.JSONExtract)
    if is_value and not node.to.args.get("nested"):
        raise NotPortable(node, "take a text with ->>")
    if not is_value and not node.to.is_type(exp.DType.MAP):
        return node
    return written(
        "from_json({text}, {type})", text=node.this, type=exp.Literal.string(node.to.sql(dialect=SparkViews))
    )


def structure(node: exp.FromJson) -> exp.Expr:
    """``from_json(x, '[{"a": "VARCHAR"}]')``: Spark names the type instead of an example."""
    example = node.expression.unnest()
    if not example.is_string:
        raise NotPortable(node, "the structure must be a literal")
    return written(
        "from_json({text}, {type})", text=node.this, type=exp.Literal.string(_type_of(json.loads(example.name)))
    )


def _type_of(example: object) -> str:
    if isinstance(example, list):
        return f"array<{_type_of(example[0])}>"
    if isinstance(example, dict):
        return f"struct<{','.join(f'{name}:{_type_of(value)}' for name, value in example.items())}>"
    return exp.DataType.build(str(example), dialect=Views).sql(dialect=SparkViews)


def _outside(node: exp.Expr) -> exp.Expr:
    """Return the parentheses around an expression, or itself."""
    while isinstance(node.parent, exp.Paren):
        node = node.parent
    return node
