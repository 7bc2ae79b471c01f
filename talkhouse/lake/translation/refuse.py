"""What a rule says of a construct that it has no equal for."""

from sqlglot import exp

from talkhouse.lake.translation.dialects import Views


class NotPortable(Exception):
    """A construct has no equal in Spark, or none that anybody has made sure of."""

    def __init__(self, construct: exp.Expr, reason: str) -> None:
        """Keep the construct as the view writes it, and why it can't be translated."""
        super().__init__(f"{construct.sql(dialect=Views)}: {reason}")
