"""A view with long texts and lists, whose rows are stored in another order than the published one."""

from pathlib import Path

import duckdb

from talkhouse.build.run import build
from talkhouse.ingest.progress import Silent

VIEW = "dbdc3.breakdown_detection_invented"
"""Named like a view of one split, so that it is sorted as such a view is."""


def invent(path: Path, rows: int) -> None:
    """Make a warehouse with a view of so many rows, of 1 kB of text and two lists each."""
    build(path, Silent())
    path.chmod(0o644)
    with duckdb.connect(path) as con:
        con.execute("set memory_limit = '2GB'")
        con.execute(
            "create table main.invented as select 'dbdc3' as release, "
            "if(hash(i) % 10 = 0, 'dev', 'eval') as split, i as example_index, 'dbdc3:' || i as dialogue_id, "
            "[md5(i::varchar), 'a \"word\"', md5((i + 1)::varchar)] as context, "
            "repeat(md5(i::varchar) || ' é' || chr(10), 26) as utterance, "
            "if(i % 3 = 0, null, i % 7) as turn_index, i / 3.0::double as prob_o, [i, i + 1] as counts "
            f"from range({rows}) invented(i) order by hash(i)"
        )
        con.execute(f"create view {VIEW} as from main.invented")
