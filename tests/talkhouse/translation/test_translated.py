"""The SQL of a view in a lake: a query that computes is taken, and nothing that does more."""

import json
from pathlib import Path

import pytest

from talkhouse.lake_format.documents import sql
from talkhouse.schema.errors import LakeDamaged
from talkhouse.translation.translated import check_query, functions
from tests.data_files import data_of

REFUSED = data_of(__file__)["refused"]  # fmt: skip
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
