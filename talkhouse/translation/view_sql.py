"""What the SQL of a view may be: one query that calls functions which compute, and nothing else.

A lake from somebody else brings SQL that Spark runs with the rights of whoever attaches it. Spark has functions that
call Java, and clauses that start a script; and a text that is cut in two is another statement.
"""

import re
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise

_TOKEN = re.compile(
    r"""
    (?P<nothing>[ \t\r\n]+ | /\*(?!\+)(?:(?!/\*|\*/).)*\*/)
    | '(?:[^'\\]|\\.)*'
    | `(?P<name>[\w ]+)`
    | (?P<word>[A-Za-z_][A-Za-z0-9_]*)(?!['"`])
    | [0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?[A-Z]{0,2}\b
    | \|\| | -> | -(?!-) | /(?!\*) | \*(?!/) | [+%=<>!(),.\[\]]
    """,
    re.VERBOSE | re.DOTALL,
)
"""Only what reads alike wherever it is read: no double quotes, raw texts, line comments, hints or semicolons."""

_KEYWORDS = {
    *("ALL", "AND", "ANTI", "ANY", "AS", "BETWEEN", "BOTH", "BY", "CASE", "CROSS", "CUBE", "DISTINCT", "DIV", "ELSE"),
    *("EXCEPT", "EXISTS", "FILTER", "FROM", "GROUP", "HAVING", "IN", "INTERSECT", "IS", "JOIN", "LATERAL", "LEADING"),
    *("LIKE", "NOT", "ON", "OR", "OVER", "RLIKE", "ROLLUP", "SELECT", "SEMI", "SETS", "SOME", "THEN", "TRAILING"),
    *("UNION", "VALUES", "WHEN", "WHERE", "WITH"),
}
"""Words that parentheses may follow without being a call."""

_REFUSED = {"USING", "INSERT", "RECORDREADER", "RECORDWRITER"}
"""The words of clauses that run a script or write."""


@cache
def functions() -> frozenset[str]:
    """Return the functions that may be called, in capitals: those of Spark that do nothing but compute."""
    return frozenset((files(__package__) / "functions.txt").read_text(encoding="utf-8").upper().split())


@lru_cache(1024)  # each view is checked when it is translated, and again whenever a lake is read
def check_query(sql: str) -> None:
    """Raise ValueError for SQL that is more than a query, calls a function that is not listed, or names a file."""
    tokens = _tokens(sql)
    if tokens[:1] not in (["SELECT"], ["WITH"]):
        raise ValueError("this is no query")
    depth = 0
    for (before, here), (_, after) in pairwise(pairwise(["", *tokens, ""])):
        depth += {"(": 1, ")": -1}.get(here, 0)
        is_call = after == "(" and (here[0] == "`" or here[0].isalpha() or here[0] == "_")
        if is_call and before != "AS" and (before == "." or here not in _KEYWORDS | functions()):
            raise ValueError(f"the query calls a function that no view calls: {here[:100].lower()}")
        if depth < 0 or here in _REFUSED:
            raise ValueError(f"the query has something that no view has: {here}")
    if depth:
        raise ValueError("the query has a parenthesis that is not closed")


def _tokens(sql: str) -> list[str]:
    """Cut a query, words in capitals, without blanks and comments."""
    tokens, place = [], 0
    while place < len(sql):
        found = _TOKEN.match(sql, place)
        if found is None or "${" in found[0]:
            raise ValueError(f"the query has something that no view has: {sql[place : place + 40]!r}")
        place = found.end()
        if not found["nothing"]:
            tokens.append(found[0].upper() if found["word"] else found[0])
    return tokens
