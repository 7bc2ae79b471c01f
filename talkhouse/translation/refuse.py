"""What a rule says of a construct that it has no equal for."""

from collections.abc import Mapping
from contextlib import suppress

from sqlglot import exp

from talkhouse.translation.dialects import Views

_SHOWN = 200
"""Characters of a construct that are shown."""


class NotPortable(Exception):
    """A construct has no equal in Spark, or none that anybody has made sure of."""

    def __init__(self, construct: exp.Expr, reason: str) -> None:
        """Keep the construct, and why it can't be translated."""
        super().__init__(construct, reason)
        self.construct = construct
        self.reason = reason

    def __str__(self) -> str:
        """Say why, and show the construct as the view writes it."""
        text = self.construct.key
        with suppress(ValueError):  # it has parts that are translated already
            text = " ".join(self.construct.sql(dialect=Views, comments=False).split())
        return f"{self.reason}: {text if len(text) <= _SHOWN else f'{text[:_SHOWN]}...'}"


_PARTS: Mapping[type[exp.Expr], frozenset[str]] = {
    exp.Select: frozenset(
        {*("expressions", "from_", "joins", "laterals", "where", "group", "having", "qualify", "windows", "order")}
        | {"with_", "distinct"}
    ),
    exp.Join: frozenset({"this", "on", "side", "kind"}),
    exp.Union: frozenset({"this", "expression", "with_", "distinct", "order"}),
    exp.With: frozenset({"expressions"}),
    exp.Group: frozenset({"expressions"}),
    exp.WindowSpec: frozenset({"kind", "start", "start_side", "end", "end_side"}),
}
"""What these may have: ``union all by name`` has another part, and another meaning, than ``union all``."""

_JOINS = {"", "INNER", "OUTER", "CROSS", "SEMI", "ANTI"}


def check_parts(node: exp.Expr) -> None:
    """Raise NotPortable for a construct with a part that changes its meaning."""
    known = _PARTS.get(type(node))
    if known is None:
        return
    parts = {name for name, part in node.args.items() if part}
    what = [f"{called(node)} with '{name}'" for name in sorted(parts - known)]
    if isinstance(node, exp.Join) and (others := {node.method, node.kind} - _JOINS):
        what = [f"a {others.pop().lower()} join"]
    if what:
        raise NotPortable(node, f"nobody has made sure that {what[0]} is the same in Spark")


def called(node: exp.Expr) -> str:
    """Name a construct, and a function as SQL does."""
    if isinstance(node, exp.Anonymous):
        return node.name.lower()
    return node.sql_name().lower() if isinstance(node, exp.Func) else node.key
