"""What counts as too little memory."""

import duckdb
import pytest

from talkhouse.schema.errors import QueryFailed
from talkhouse.system.memory import has_run_out, out_of_memory


def test_too_little_memory_is_not_a_text_that_speaks_of_it() -> None:
    with duckdb.connect(config={"memory_limit": "20MB", "temp_directory": ""}) as con:
        with pytest.raises(duckdb.Error) as caught:
            con.execute("select count(distinct i::varchar) from range(3_000_000) as t(i)")
        assert has_run_out(caught.value)
        error = out_of_memory(QueryFailed, "the query", caught.value, next_step="read less")
        with pytest.raises(duckdb.Error) as caught:
            con.execute("select 'Out of Memory'::integer")
        assert not has_run_out(caught.value)
    assert error.what == "the query needs more memory than it may take"
    assert str(error.found).startswith("Out of Memory Error: ")
    assert "\n" not in str(error.found)
    assert has_run_out(MemoryError())
