"""Rules for texts: characters, lower case, blanks."""

from sqlglot import exp

from talkhouse.translation.dialects import written
from talkhouse.translation.refuse import NotPortable


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
