"""Rules for regular expressions: DuckDB has RE2, Spark has Java's, which read some signs otherwise."""

import re

from sqlglot import exp

from talkhouse.translation.refuse import NotPortable

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
    """Rewrite a pattern, sign by sign."""
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
