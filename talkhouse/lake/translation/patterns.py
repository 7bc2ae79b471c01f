"""Rules for regular expressions: DuckDB has RE2, Spark has Java's, which read some signs otherwise."""

import re

from sqlglot import exp

from talkhouse.lake.translation.refuse import NotPortable

_TOKEN = re.compile(r"\\[pP]\{\w+\}|\\.|\(\?(?:[a-z]+\)|:)|\{\d+,?\d*\}|.", re.DOTALL)
_BLANKS = r"\t\n\f\r "
"""What RE2's ``\\s`` is: without U+000B, which Java's has."""
_SAME = frozenset("tnfr.?*+-/()[]{}|^$\\\"'")
"""What may follow a backslash, and then means the same in both."""


def pattern(node: exp.RegexpExtract | exp.RegexpExtractAll | exp.RegexpReplace | exp.RegexpSplit) -> exp.Expr:
    """``regexp_extract(x, '\\s.$')``: signs that Java reads otherwise than RE2 are written so that both mean the same."""
    argument = node.expression.unnest()
    if not argument.is_string:
        raise NotPortable(node, "the pattern must be a literal")
    node.set("expression", exp.Literal.string(_java(node, argument.name)))
    if isinstance(node, exp.RegexpReplace):
        _check_replacement(node)
    return node


def _check_replacement(node: exp.RegexpReplace) -> None:
    """DuckDB replaces the first match unless told otherwise, Spark all; ``\\1`` is ``$1`` in Java."""
    replacement, options = node.args["replacement"].unnest(), node.args.get("modifiers")
    if options is None or options.name != "g":
        raise NotPortable(node, "Spark replaces every match: write 'g'")
    if not replacement.is_string or re.search(r"[\\$]", replacement.name):
        raise NotPortable(node, "the replacement must be a literal without \\ and $")
    node.set("modifiers", None)


def _java(node: exp.Expr, pattern: str) -> str:
    """Rewrite a pattern, sign by sign."""
    written, inside = [], False
    for token in _TOKEN.findall(pattern):
        written.append(_sign(node, token, inside))
        if token == "[" and inside or token == "&" and inside:
            raise NotPortable(node, "in a class, Java reads [ and && as its own signs: escape them")
        inside = token == "[" or (inside and token != "]")
    return "".join(written)


def _sign(node: exp.Expr, token: str, inside: bool) -> str:
    if token == r"\s":
        return _BLANKS if inside else f"[{_BLANKS}]"
    if token == r"\d":  # of Unicode in some engines
        return "0-9" if inside else "[0-9]"
    if token == "(?i)":  # alone it is for ASCII in Java
        return "(?iu)"
    if token == "." and not inside:  # leaves out five line ends in Java, one in RE2
        return r"[^\n]"
    if token == "$" and not inside:  # is before a last line end, too, in Java
        return r"\z"
    known = token.startswith((r"\p{L}", r"\p{M}")) or token in ("(?:",) or token[0] not in "\\(" or token == "("
    if known or token[1] in _SAME and token[0] == "\\":
        return token
    raise NotPortable(node, f"'{token}' is not known to mean the same in Java")
