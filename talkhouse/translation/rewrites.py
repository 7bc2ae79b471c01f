"""The rules for single constructs: numbers and aggregates, texts, patterns, JSON, lists, and lists that become rows."""

import json
import re

from sqlglot import exp

from talkhouse.schema.tables import metadata
from talkhouse.translation.dialects import NotPortable, SparkViews, Views, check_parts, written


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


def day_of_week(node: exp.DayOfWeekIso) -> exp.Expr:
    """``isodow(x)``: 1 for Monday, 7 for Sunday; Spark counts from Sunday, and sqlglot mistakes it."""
    return written("(dayofweek({time}) + 5) % 7 + 1", time=node.this)


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


def character(node: exp.Chr) -> exp.Expr:
    """``chr(8232)``: Spark takes the code modulo 256, so that this is '('; the character itself is written."""
    codes = node.expressions
    if len(codes) != 1 or not codes[0].is_int:
        raise NotPortable(node, "Spark knows 256 characters by their codes")
    return exp.Literal.string(chr(codes[0].to_py()))


def joined_literals(node: exp.DPipe | exp.Concat) -> exp.Expr:
    """``'a' || chr(9)``: one literal, for a pattern is rewritten only as a whole."""
    parts = node.expressions if isinstance(node, exp.Concat) else [node.left, node.right]
    parts = [part.unnest() for part in parts]
    if all(part.is_string for part in parts):
        return exp.Literal.string("".join(part.name for part in parts))
    return node


def lower(node: exp.Lower) -> exp.Expr:
    """``lower('İΣ')``: Spark's are two characters and a sigma for the end of a word; DuckDB changes each for one."""
    return written("lower(translate({text}, '\u0130\u03a3', 'i\u03c3'))", text=node.this)


def trim(node: exp.Trim) -> exp.Expr:
    """``trim(x)``: takes 17 blanks of Unicode in DuckDB, one in Spark; those to be taken must be named."""
    if node.expression is None:
        raise NotPortable(node, "name what is taken away: trim(x, ' ')")
    return node


Pattern = exp.RegexpExtract | exp.RegexpExtractAll | exp.RegexpReplace | exp.RegexpSplit

_SIGN = re.compile(r"\\[pP]\{\w+\}|\\.|\(\?(?:[a-z]+\)|:)?|.", re.DOTALL)
_OUTSIDE = {
    r"\s": r"[\t\n\f\r ]",  # in Java, U+000B is one, too
    r"\d": "[0-9]",  # of any script in some engines
    ".": r"[^\n]",  # Java leaves out four more line ends
    "$": r"\z",  # Java's is before a last line end, too
    "(?i)": "(?iu)",  # alone, Java's is for ASCII
}
_INSIDE = {r"\s": r"\t\n\f\r ", r"\d": "0-9"}
"""What stands for a sign outside a class, and inside."""
_SAME = re.compile(r"\\[pP]\{[LM]\}|\\[tnfr.?*+\-/()\[\]{}|^$\\]|\(\?:|[^\\]", re.DOTALL)
"""Signs that mean the same in both."""


def pattern(node: Pattern) -> exp.Expr:
    r"""``regexp_extract(x, '\s.$')``: signs that Java reads otherwise are written so that both read the same."""
    argument = node.expression.unnest()
    if not argument.is_string:
        raise NotPortable(node, "the pattern must be a literal")
    parts = {**node.args, "expression": exp.Literal.string(_for_java(node, argument.name))}
    if isinstance(node, exp.RegexpReplace):
        _check_replacement(node)
        parts["modifiers"] = None
    return type(node)(**parts)


def separator(node: exp.Split) -> exp.Expr:
    """``string_split(x, '|')``: Spark splits at a pattern, so the signs of one are escaped."""
    text = node.expression.unnest()
    if not text.is_string or not text.name:
        raise NotPortable(node, "the separator must be a literal, and not empty")
    escaped = re.sub(r"[\\\[\](){}.*+?^$|]", r"\\\g<0>", text.name)
    return exp.RegexpSplit(this=node.this, expression=exp.Literal.string(escaped))


def _check_replacement(node: exp.RegexpReplace) -> None:
    r"""Ask for the option 'g', without which DuckDB replaces one match; ``\1`` would be ``$1`` in Java."""
    replacement, options = node.args["replacement"].unnest(), node.args.get("modifiers")
    if options is None or options.name != "g":
        raise NotPortable(node, "Spark replaces every match: say so with 'g'")
    if not replacement.is_string or re.search(r"[\\$]", replacement.name):
        raise NotPortable(node, "the replacement must be a literal without \\ and $")


def _for_java(node: exp.Expr, pattern: str) -> str:
    written, is_inside = "", False
    for sign in _SIGN.findall(pattern):
        if is_inside and sign in "[&":
            raise NotPortable(node, f"in a class, Java has a use of its own for {sign}")
        known = _INSIDE if is_inside else _OUTSIDE
        if sign not in known and not _SAME.fullmatch(sign):
            raise NotPortable(node, f"{sign} is not known to mean the same in Java")
        written += known.get(sign, sign)
        is_inside = sign == "[" or (is_inside and sign != "]")
    return written


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


def place(node: exp.ArrayPosition) -> exp.Expr:
    """``array_position(x, y)``: null in DuckDB where y is not there, 0 in Spark."""
    return written("nullif(array_position({items}, {item}), 0)", items=node.this, item=node.expression)


def reduced(node: exp.Reduce) -> exp.Expr:
    """``list_reduce(x, lambda a, b: ...)``: Spark's aggregate begins with a value of its own, here the first item."""
    if not isinstance(node.args["initial"], exp.Null):
        raise NotPortable(node, "the versions of DuckDB that read a warehouse have no initial value")
    rest = "slice({items}, 2, greatest(array_size({items}) - 1, 0))"
    return written(
        f"aggregate({rest}, try_element_at({{items}}, 1), {{merge}})", items=node.this, merge=node.args["merge"]
    )


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


def unnested(node: exp.Select) -> exp.Expr:
    """``select unnest(a) as x, unnest(b) as y``: Spark makes rows of one list, in a lateral view: both are zipped."""
    check_parts(node)
    calls = [call for column in node.expressions for call in column.find_all(exp.Explode) if call.parent_select is node]
    if not calls:
        return node
    if node.args.get("group") or not node.args.get("from_"):
        raise NotPortable(calls[0], "unnest needs a 'from', and no 'group by' in the same select")
    names = [exp.to_identifier(f"unnested_{number}") for number, _ in enumerate(calls)]
    if len(calls) == 1:
        rows = written("explode({items})", items=calls[0].this)
    else:
        # A list that is null has no rows, but a null would make the zipped list null.
        lists = {f"items_{number}": call.this for number, call in enumerate(calls)}
        rows = written(f"inline(arrays_zip({', '.join(f'coalesce({{{name}}}, array())' for name in lists)}))", **lists)
    for call, name in zip(calls, names, strict=True):
        call.replace(exp.Column(this=name.copy()))
    alias = exp.TableAlias(this=exp.to_identifier("unnested"), columns=names)
    laterals = [*node.args.get("laterals", ()), exp.Lateral(this=rows, view=True, alias=alias)]
    return exp.Select(**{**node.args, "laterals": laterals})


def star(node: exp.Star) -> exp.Expr:
    """``* exclude (x)``: Spark has it from version 4 on, and not every engine for its SQL."""
    if any(node.args.values()):
        raise NotPortable(node, "name the columns")
    return node


def row_number(node: exp.Column) -> exp.Expr:
    """``rowid``: Spark's rows have no numbers; the key of the table tells them apart as well."""
    if node.name != "rowid":
        return node
    for table in node.parent_select.find_all(exp.Table) if node.parent_select else ():
        if node.table in ("", table.alias_or_name) and table.db == "main":
            (key,) = metadata.tables[table.name].primary_key.columns
            return exp.column(key.name, node.table or None)
    raise NotPortable(node, "only a table has row numbers")
