"""Check the text of a search, and turn it and its corpus, role and split into conditions on turns."""

from dataclasses import dataclass
from typing import Any

import duckdb

from talkhouse.schema.errors import UsageError
from talkhouse.warehouse.relations import check_corpus

_OF_CORPUS = "starts_with(dialogue_id, $corpus || ':')"


@dataclass(frozen=True)
class Pattern:
    """What is searched for: a text to the character, or a regular expression in RE2's syntax."""

    text: str
    regex: bool = False
    match_case: bool = False
    """Whether A is another letter than a."""

    @property
    def options(self) -> str:
        """The options of DuckDB's regexp_matches that make it search as asked."""
        has_no_case = not self.regex and self.text.lower() == self.text.upper()
        return ("" if self.regex else "l") + ("" if self.match_case or has_no_case else "i")

    @property
    def condition(self) -> str:
        """The SQL condition on ``text`` that holds for a match; its value ``pattern`` is the text."""
        # As fast as a literal expression, and never read as a pattern.
        return (
            f"regexp_matches(text, $pattern, '{self.options}')" if self.options != "l" else "contains(text, $pattern)"
        )

    def check(self, con: duckdb.DuckDBPyConnection) -> None:
        """Raise UsageError for an empty text, one that is not Unicode, or an expression that RE2 can't read."""
        if not self.text:
            raise UsageError("there is nothing to search for", expected="a text of one character or more")
        try:
            con.execute(f"select regexp_matches('', $pattern, '{self.options}')", {"pattern": self.text})
        except duckdb.InvalidInputException as error:
            reason = str(error).removeprefix("Invalid Input Error: ")
            if not self.regex:
                raise UsageError("the text is not valid Unicode", found=reason, next_step="type it in UTF-8") from error
            raise UsageError(
                "the regular expression can't be read",
                expected="RE2's syntax: https://github.com/google/re2/wiki/Syntax",
                found=reason,
                next_step="leave out --regex to search for the text literally",
            ) from error


def conditions(
    con: duckdb.DuckDBPyConnection, corpus: str | None, role: str | None, split: str | None
) -> tuple[list[str], dict[str, Any]]:
    """Return the conditions that select turns, and their values; refuse names that do not exist."""
    on_turns: list[str] = []
    values: dict[str, Any] = {}
    if corpus is not None:
        check_corpus(con, corpus)
        on_turns.append(_OF_CORPUS)
        values["corpus"] = corpus
    where = on_turns[0] if on_turns else "true"
    if role is not None:
        _check_known(con, "role", role, f"select role from main.turns where {where}", values)
        on_turns.append("role = $role")
    if split is not None:
        known = f"select unnest([split, standard_split]) from main.records where dialogue_id is not null and {where}"
        _check_known(con, "split", split, known, values)
        on_turns.append("dialogue_id in (select dialogue_id from main.records where $split in (split, standard_split))")
    named = {"role": role, "split": split}
    return on_turns, values | {name: value for name, value in named.items() if value is not None}


def _check_known(con: duckdb.DuckDBPyConnection, what: str, name: str, query: str, values: dict[str, Any]) -> None:
    rows = con.execute(f"select distinct name from ({query}) as known(name) order by all", values).fetchall()
    names = [known for (known,) in rows if known is not None]
    if name not in names:
        raise UsageError(f"no {what} '{name}' here", expected=f"one of: {', '.join(names)}")
