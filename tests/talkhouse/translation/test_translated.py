"""The SQL of a view in a lake: a query that computes is taken, and nothing that does more."""

import json
from pathlib import Path

import pytest

from talkhouse.lake_format.documents import sql
from talkhouse.schema.errors import LakeDamaged
from talkhouse.translation.translated import check_query, functions

REFUSED = [
    "SELECT reflect('java.lang.System', 'getProperty', 'user.home')",
    "SELECT java_method('java.lang.Runtime', 'getRuntime')", "SELECT TRY_REFLECT ('java.lang.System', 'exit', 0)",
    "SELECT `reflect`('java.lang.System', 'exit', 0)", "SELECT refl/**/ect('x')",
    "SELECT reflect/* */('java.lang.System', 'exit', 0)",
    "SELECT system.builtin.reflect('java.lang.System', 'exit', 0)", "SELECT bi.upper('x')", "SELECT my_function(1)",
    "SELECT TRANSFORM(text) USING 'sh -c id' AS (x) FROM main.turns", "FROM main.turns MAP text USING 'sh' AS x",
    "SELECT * FROM csv.`/etc/passwd`", "SELECT * FROM text.`file:///etc/passwd`",
    "SELECT * FROM read_files('/etc/passwd')", "SELECT * FROM IDENTIFIER('main.turns')",
    "SELECT 1; DROP TABLE main.turns", "SELECT 1 -- comment", "SELECT 1 /* a /* b */ ; DROP TABLE x",
    "SELECT /*+ BROADCAST(x) */ 1", "SELECT 1 /* not closed", "SELECT 'not closed", "SELECT 'a\\' || upper('b)",
    'SELECT "x"', "SELECT r'\\' ; DROP TABLE x --'", "SELECT X'00'", "SELECT '${env:SECRET}'", "SELECT (1",
    "SELECT 1) AS x, (SELECT 2", "DROP TABLE main.turns", "INSERT INTO main.turns SELECT 1",
    "WITH x AS (SELECT 1) INSERT INTO y SELECT * FROM x", "SELECT secret('scope', 'key')",
    "SELECT ai_query('model', text) FROM main.turns", "SELECT http_request('https://example.org')",
    "SELECT input_file_name()", "SELECT \u0440eflect('x')", "SELECT\u2028reflect('x')", "SELECT {x}", "SELECT a:b",
    "SELECT @x", "", "/* nothing */",
]  # fmt: skip
TAKEN = [
    "SELECT 1",
    "WITH x AS (SELECT 'it\\'s; \"`' AS `a b`) SELECT upper(`a b`) FROM x AS y(z) WHERE z IN (1, 2.5e3)",
    "/* a comment; with a semicolon */ SELECT TRANSFORM(x, y -> y || 'z')[0] FROM main.turns AS t",
    "SELECT CAST(x AS DECIMAL(38, 10)), COUNT(*) FILTER(WHERE NOT (x % 2 <> 0)) OVER (PARTITION BY y) FROM bi.turns",
]


def test_a_query_that_does_more_than_compute_is_refused() -> None:
    for query in REFUSED:
        with pytest.raises(ValueError, match=r"quer|parenthesis"):
            check_query(query)
    for query in TAKEN:
        check_query(query)


def test_no_function_that_may_be_called_reaches_out() -> None:
    out = {"REFLECT", "TRY_REFLECT", "JAVA_METHOD", "CALL_FUNCTION", "CURRENT_USER", "INPUT_FILE_NAME", "XPATH"}
    assert not functions() & out
    assert len(functions()) > 400


@pytest.mark.slow
def test_a_lake_with_another_query_is_refused(lake: Path) -> None:
    path = lake / "snapshot-1" / "translation.json"
    good = json.loads(path.read_bytes())
    for query in REFUSED:
        good["views"][0]["sql"] = query
        path.write_text(json.dumps(good))
        with pytest.raises(LakeDamaged, match="the views of the lake can't be read"):
            sql(lake)
