"""Rules for lists: made, read, cut and filled with numbers."""

from sqlglot import exp

from talkhouse.translation.dialects import written
from talkhouse.translation.refuse import NotPortable


def ordered_list(node: exp.ArrayAgg) -> exp.Expr:
    """``list(x order by k)``: Spark's collect_list has no order, and drops nulls.

    So rows of key and value are collected, which are never null, then sorted, and the values taken out.
    """
    order = node.this
    if not isinstance(order, exp.Order) or isinstance(order.this, exp.Distinct):
        raise NotPortable(node, "only 'order by' gives a list the same order everywhere")
    if isinstance(node.parent, exp.Filter | exp.Window):
        raise NotPortable(node, "a list of no rows is null in DuckDB, empty in Spark")
    if any(key.args.get("desc") for key in order.expressions):
        raise NotPortable(node, "Spark sorts lists by rising keys")
    keys = {f"key_{number}": key.this for number, key in enumerate(order.expressions)}
    # Numbered, since Sail wants the rows of two lists in one select to have different names.
    name = f"item_{len([*node.root().find_all(exp.ArrayAgg)])}"
    row = ", ".join([*(f"{{{key}}} as {key}" for key in keys), f"{{item}} as {name}"])
    return written(f"transform(array_sort(collect_list(struct({row}))), row -> row.{name})", **keys, item=order.this)


def at_position(node: exp.Bracket) -> exp.Expr:
    """``x[2]``, ``x[-1]``, ``m['k']``: Spark's brackets count from 0, and fail where there is nothing."""
    (key,) = node.expressions
    if isinstance(key, exp.Slice):
        return _slice(node, key)
    return written("try_element_at({items}, {key})", items=node.this, key=key)


def _slice(node: exp.Bracket, bounds: exp.Slice) -> exp.Expr:
    """``x[2:5]``, ``x[:-2]``: Spark's slice takes a start and a length, which may not be negative."""
    start, end = bounds.this or exp.Literal.number(1), bounds.expression
    if isinstance(start, exp.Neg) or end is None or bounds.args.get("step"):
        raise NotPortable(node, "a slice needs a start that counts from 1, and an end")
    if isinstance(end, exp.Neg):
        end = written("array_size({items}) + 1 - {left_out}", items=node.this, left_out=end.this)
    return written("slice({items}, {start}, greatest({end} - {start} + 1, 0))", items=node.this, start=start, end=end)


def size(node: exp.ArraySize) -> exp.Expr:
    """``len(list)``: Spark's ``size`` of null is -1 in some of its modes; ``array_size`` is null, as in DuckDB."""
    return written("array_size({items})", items=node.this)


def numbers(node: exp.GenerateSeries) -> exp.Expr:
    """``range(a, b)``: Spark's sequence has its end in it, and counts down where that is below the start."""
    start, end = node.args["start"], node.args["end"]
    if node.args.get("step") or not node.args.get("is_end_exclusive"):
        raise NotPortable(node, "only range(n) and range(a, b) are translated")
    # sqlglot's own `if(..., array(), sequence(...))` is as right, but its empty list has no type.
    up = written("sequence({start}, greatest({start}, {end}))", start=start, end=end)
    return written("slice({up}, 1, greatest({end} - {start}, 0))", up=up, start=start, end=end)


def distinct(node: exp.ArrayDistinct) -> exp.Expr:
    """``list_distinct(x)``: drops nulls in DuckDB; Spark's array_distinct keeps one."""
    return written("array_distinct(array_compact({items}))", items=node.this)
