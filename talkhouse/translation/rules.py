"""What becomes of each construct of the views: it stays where Spark means the same, or a rule rewrites it.

A construct that is in neither table is refused by name, so that a new view is right or fails.
"""

from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import exp

from talkhouse.translation import rewrites
from talkhouse.translation.dialects import NotPortable, called, check_parts

Rule = Callable[[Any], exp.Expr]
"""Returns what stands for a construct in Spark: something new, or the construct itself, which it has not changed."""

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
