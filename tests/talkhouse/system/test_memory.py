"""What counts as too little memory, and what fits into little."""

from pathlib import Path

import duckdb
import pytest

from talkhouse.schema.errors import QueryFailed
from talkhouse.system.memory import has_run_out, in_little_memory, out_of_memory


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


@pytest.mark.slow
def test_rows_are_sorted_in_little_memory_however_many_cores_there_are(tmp_path: Path) -> None:
    query = "select repeat(md5(i::varchar), 32) as text from range(300_000) as t(i) order by hash(i)"
    settings = "select current_setting('memory_limit'), current_setting('threads')"
    seen = []

    def sort() -> None:
        seen.append(con.execute(settings).fetchone())
        rows = con.cursor().execute(query)
        assert sum(len(batch) for batch in iter(lambda: rows.fetchmany(10_000), [])) == 300_000

    with duckdb.connect(config={"threads": 8, "temp_directory": str(tmp_path)}) as con:
        before = con.execute(settings).fetchone()
        in_little_memory(con, 250_000_000, sort)
        assert seen == [("238.4 MiB", 8), ("238.4 MiB", 1)]
        assert con.execute(settings).fetchone() == before
