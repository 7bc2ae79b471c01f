"""One view in Spark SQL: its macros are written out, and each construct stays, or is rewritten by a rule.

A construct that Spark has with the same meaning stays; one that is in neither table below is refused by name, so that a
new view is right or fails. Whatever can't be translated ends here, and in nothing else.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError

from talkhouse.queries.heads import Query
from talkhouse.schema.sql import identifier
from talkhouse.translation import rewrites
from talkhouse.translation.dialects import NotPortable, called, check_parts, parsed, spark_sql
from talkhouse.translation.translated import NotTranslated, Outcome, Translated, spark_type

_Column = tuple[str, str]
"""The name of a column, and its type in DuckDB's words."""


def translated(sql: str, called: Iterable[Query], columns: Iterable[_Column]) -> Outcome:
    """Translate the query of a view, or say why that can't be done; ``called``: the macros that it calls."""
    try:
        types = {name: _spark_type(name, type_) for name, type_ in columns}
        tree = without_macros(parsed(sql), macros(called))
        reads = sorted({f"{table.db}.{table.name}" for table in tree.find_all(exp.Table) if table.db})
        tree, rules = ruled(tree)
        return Translated(spark_sql(_with_types(tree, types)), rules, reads)
    except NotPortable as error:
        reason = str(error)
    except ParseError as error:
        reason = f"sqlglot can't read it: {_where(error)}"
    except (SqlglotError, ValueError, RecursionError) as error:
        reason = f"sqlglot can't translate it: {' '.join(str(error).split()) or type(error).__name__}"
    return NotTranslated(f"can't be translated: {reason}")


def _spark_type(column: str, type_: str) -> str:
    try:
        return spark_type(type_)
    except KeyError:
        raise NotPortable(exp.column(column), f"no table or view of a lake has a column of the type {type_}") from None


def _with_types(tree: exp.Expr, types: dict[str, str]) -> exp.Expr:
    """Cast each column to its type in DuckDB: Spark counts the rows of a window in 32 bits, for example."""
    names = {name: exp.to_identifier(name, quoted=identifier(name) != name) for name in types}
    casts = [
        exp.alias_(exp.cast(exp.column(names[name]), type_, dialect="spark"), names[name].copy())
        for name, type_ in types.items()
    ]
    return exp.select(*casts).from_(exp.Subquery(this=tree))


def _where(error: ParseError) -> str:
    """Return the place at which sqlglot stops, on one line and without colours."""
    for found in error.errors:
        text = " ".join(f"{found['start_context'] or ''}{found['highlight'] or ''}".split())
        return f"it stops in line {found['line']}: {text[-80:]}"
    return str(error).partition("\n")[0]


_MACRO = re.compile(r"\((.*?)\)\s+as\s+(.*)", re.DOTALL)


class Macro(NamedTuple):
    """The names of the parameters, and the expression that a call stands for."""

    parameters: tuple[str, ...]
    body: exp.Expr


def macros(queries: Iterable[Query]) -> dict[str, Macro]:
    """Read macros, each after those that it calls, by their full names; what they call is written out.

    Raises NotPortable for a macro that is no expression, or none that sqlglot can read.
    """
    known: dict[str, Macro] = {}
    for query in queries:
        match = _MACRO.fullmatch(query.sql)
        if match is None or match[2].lower().startswith("table "):
            raise NotPortable(exp.table_(query.name, query.schema), "a macro must be an expression")
        try:
            body = parsed(match[2])
        except SqlglotError as error:
            raise NotPortable(exp.table_(query.name, query.schema), "sqlglot can't read the macro") from error
        parameters = tuple(name.strip() for name in match[1].split(",") if name.strip())
        known[query.full_name] = Macro(parameters, _with_own_variables(query, without_macros(body, known)))
    return known


def without_macros(tree: exp.Expr, known: Mapping[str, Macro]) -> exp.Expr:
    """Write out every call of a macro in a tree, the innermost first; NotPortable for one with other arguments."""
    root = exp.Paren(this=tree)
    for call in reversed([dot for dot in root.find_all(exp.Dot) if _called(dot) in known]):
        call.replace(_written_out(known[_called(call)], call))
    without: exp.Expr = root.this.pop()
    return without


def _called(dot: exp.Dot) -> str:
    """Return the name that ``schema.name(...)`` calls; empty if it calls none, as ``list.key``."""
    return f"{dot.this.name}.{dot.expression.name}" if isinstance(dot.expression, exp.Anonymous) else ""


def _written_out(macro: Macro, call: exp.Dot) -> exp.Expr:
    """Return the body with the arguments of a call in place of the parameters."""
    arguments = call.expression.expressions
    if len(arguments) != len(macro.parameters):
        raise NotPortable(call, "a macro needs an argument for each of its parameters, without names")
    body = exp.Paren(this=macro.body.copy())
    values = dict(zip(macro.parameters, arguments, strict=True))
    # A lambda's variable is no column to sqlglot, so that it is left even where it has a parameter's name.
    for column in [column for column in body.find_all(exp.Column) if not column.table]:
        if column.name in values:
            column.replace(exp.Paren(this=values[column.name].copy()))
    return body


def _with_own_variables(query: Query, body: exp.Expr) -> exp.Expr:
    """Rename the variables of lambdas after the macro: a column of that name in an argument would be taken for one."""
    for function in body.find_all(exp.Lambda):
        names = {variable.name for variable in function.expressions}
        for variable in function.find_all(exp.Identifier):
            is_field = isinstance(variable.parent, exp.Column | exp.PropertyEQ) and variable.arg_key == "this"
            if variable.name in names and not is_field:
                variable.set("this", f"_{query.name}_{variable.name}")
    return body


Rule = Callable[[Any], exp.Expr]
"""Return the replacement of a construct in Spark: something new, or the construct itself, which it has not changed."""

RULES: Mapping[type[exp.Expr], Rule] = {
    exp.ArgMax: rewrites.of_extreme,
    exp.ArgMin: rewrites.of_extreme,
    exp.ArrayAgg: rewrites.ordered_list,
    exp.ArrayDistinct: rewrites.distinct,
    exp.ArrayPosition: rewrites.place,
    exp.ArraySize: rewrites.size,
    exp.Bracket: rewrites.at_position,
    exp.Cast: rewrites.nested_cast,
    exp.Chr: rewrites.character,
    exp.Column: rewrites.row_number,
    exp.Concat: rewrites.joined_literals,
    exp.DPipe: rewrites.joined_literals,
    exp.DataType: rewrites.data_type,
    exp.DateDiff: rewrites.milliseconds,
    exp.DayOfWeekIso: rewrites.day_of_week,
    exp.Div: rewrites.divide,
    exp.FromJson: rewrites.structure,
    exp.GenerateSeries: rewrites.numbers,
    exp.JSONExtract: rewrites.json_value,
    exp.Lower: rewrites.lower,
    exp.PercentileDisc: rewrites.percentile,
    exp.Reduce: rewrites.reduced,
    exp.RegexpExtract: rewrites.pattern,
    exp.RegexpExtractAll: rewrites.pattern,
    exp.RegexpReplace: rewrites.pattern,
    exp.RegexpSplit: rewrites.pattern,
    exp.Select: rewrites.unnested,
    exp.Split: rewrites.separator,
    exp.Star: rewrites.star,
    exp.Trim: rewrites.trim,
    exp.TryCast: rewrites.whole_number,
}

SAME: frozenset[type[exp.Expr]] = frozenset(
    {
        # queries
        *(exp.Select, exp.From, exp.Table, exp.TableAlias, exp.Join, exp.Where, exp.Group, exp.Having, exp.Qualify),
        *(exp.With, exp.CTE, exp.Subquery, exp.Union, exp.Values, exp.Tuple, exp.Alias, exp.Distinct),
        *(exp.Order, exp.Ordered, exp.Exists, exp.In, exp.Explode),
        # names, literals and conditions
        *(exp.Identifier, exp.Literal, exp.Boolean, exp.Null, exp.Var, exp.Paren, exp.Slice),
        *(exp.And, exp.Or, exp.Not, exp.Is, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between),
        *(exp.NullSafeEQ, exp.NullSafeNEQ, exp.Case, exp.If, exp.Coalesce, exp.Nullif),
        # numbers
        *(exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.IntDiv, exp.Mod, exp.Pow, exp.Log, exp.Greatest, exp.Least),
        # times, which have no zone
        *(exp.Hour, exp.TimestampTrunc),
        # texts
        *(exp.Length, exp.Replace, exp.Substring, exp.SplitPart, exp.ConcatWs),
        *(exp.StartsWith, exp.EndsWith, exp.Contains),
        # lists, structures and JSON
        *(exp.Array, exp.ArrayContains, exp.ArrayFilter, exp.ArraySort, exp.ArrayToString),
        *(exp.Transform, exp.Lambda, exp.Map),
        *(exp.JSONExtractScalar, exp.JSONPath, exp.JSONPathRoot, exp.JSONPathKey, exp.JSONKeys),
        # aggregates and windows
        *(exp.Count, exp.CountIf, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.LogicalAnd, exp.LogicalOr, exp.Filter),
        *(exp.WithinGroup, exp.Window, exp.WindowSpec, exp.RowNumber, exp.Rank, exp.Lag, exp.Lead, exp.FirstValue),
    }
)
"""What sqlglot writes so that it means the same in Spark."""

SAME_FUNCTIONS = frozenset({"map_entries"})
"""Functions that sqlglot does not know, and that are the same in Spark."""


def ruled(tree: exp.Expr) -> tuple[exp.Expr, list[str]]:
    """Apply the rules to a tree, the innermost constructs first; return it with the names of those that changed it.

    Raises NotPortable, with the construct as the view writes it, for the first one that has no rule and is not known to
    be the same, and for one that its rule fails for.
    """
    root, used = exp.Paren(this=tree), set()
    nodes = [*tree.walk()]
    as_written = {id(node): copy for node, copy in zip(nodes, tree.copy().walk(), strict=True)}
    for node in reversed(nodes):
        try:
            after = _rule(node)(node)
        except NotPortable as refusal:
            construct = as_written.get(id(refusal.construct), as_written[id(node)])
            raise NotPortable(construct, refusal.reason) from refusal
        except Exception as error:
            raise NotPortable(as_written[id(node)], "no rule covers this form of it") from error
        if after is not node:
            node.replace(after)
            used.add(_rule(node).__name__)
    return root.this.pop(), sorted(used)


def _rule(node: exp.Expr) -> Rule:
    return RULES.get(type(node), _same)


def _same(node: exp.Expr) -> exp.Expr:
    """Return a construct that means the same in Spark as it is; NotPortable for any other."""
    if not (type(node) in SAME or (isinstance(node, exp.Anonymous) and node.name.lower() in SAME_FUNCTIONS)):
        raise NotPortable(node, f"{called(node)} is not in the portable set, which is the same in Spark")
    check_parts(node)
    return node
