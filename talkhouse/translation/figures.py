"""Rules for numbers and aggregates."""

from sqlglot import exp

from talkhouse.translation.dialects import written
from talkhouse.translation.refuse import NotPortable


def divide(node: exp.Div) -> exp.Expr:
    """``a / b``: has a fraction in DuckDB whatever the types; in Spark, decimals give a rounded decimal."""
    return exp.Div(this=exp.cast(node.this, exp.DType.DOUBLE), expression=node.expression)


def of_extreme(node: exp.ArgMin | exp.ArgMax) -> exp.Expr:
    """``min_by(x, y)``: DuckDB leaves out rows whose x is null; Spark takes that null."""
    name = "min_by" if isinstance(node, exp.ArgMin) else "max_by"
    if isinstance(node.parent, exp.Window):
        raise NotPortable(node, "Spark filters no aggregate over a window")
    condition = exp.Not(this=exp.Is(this=node.this.copy(), expression=exp.Null()))
    call = written(f"{name}({{value}}, {{by}})", value=node.this, by=node.expression)
    if isinstance(node.parent, exp.Filter):
        node.parent.args["expression"].set("this", exp.and_(node.parent.expression.this, condition))
        return call
    return exp.Filter(this=call, expression=exp.Where(this=condition))


def percentile(node: exp.PercentileDisc) -> exp.Expr:
    """``percentile_disc(q) within group (order by x)``: the same in Spark, but sqlglot writes an approximation."""
    return written("percentile_disc({share})", share=node.this)


def whole_number(node: exp.TryCast) -> exp.Expr:
    """``try_cast('1.5' as integer)``: DuckDB takes a fraction or an exponent, and rounds; Spark, digits only."""
    if not node.to.is_type(*exp.DataType.INTEGER_TYPES):
        return node
    return written("try_cast(round(try_cast({text} as decimal(38, 10))) as {type})", text=node.this, type=node.to)


def milliseconds(node: exp.DateDiff) -> exp.Expr:
    """``date_diff('millisecond', a, b)``: DuckDB counts the milliseconds that begin in it, Spark those that pass."""
    if node.args["unit"].name.upper() != "MILLISECOND":
        raise NotPortable(node, "only milliseconds are translated")
    # In UTC, whatever the session's zone.
    start, end = (
        written("unix_millis(cast(concat(cast({time} as string), 'Z') as timestamp))", time=time)
        for time in (node.expression, node.this)
    )
    return exp.Sub(this=end, expression=start)


_TYPES = (
    *(exp.DType.TEXT, exp.DType.BOOLEAN, exp.DType.INT, exp.DType.BIGINT, exp.DType.DOUBLE, exp.DType.TIMESTAMPNTZ),
    *(exp.DType.LIST, exp.DType.ARRAY, exp.DType.MAP),
)


def data_type(node: exp.DataType) -> exp.Expr:
    """``::map(varchar, json)``: JSON is a text to Spark; the other types are those that tables and views have."""
    if node.is_type(exp.DType.JSON):
        return exp.DataType.build("text")
    if node.this not in _TYPES:
        raise NotPortable(node, "no table or view has a column of this type")
    return node
