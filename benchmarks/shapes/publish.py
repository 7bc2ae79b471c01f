"""A warehouse with many turns, and eight candidates for each, for what copies tables."""

from pathlib import Path

import duckdb

from talkhouse.build.run import build
from talkhouse.ingest.progress import Silent

CANDIDATES = 8
"""For each turn."""

_INVENT = """
insert into main.dialogues (dialogue_id, corpus_id)
    select 'mantis:invented:' || i, 'mantis' from range({dialogues}) invented(i);
insert into main.records (record_id, corpus_id, dialogue_id, split, record_index, source_file_id, source_pointer)
    select 'mantis/invented/' || i, 'mantis', 'mantis:invented:' || i, 'train', i,
        (select min(source_file_id) from meta.source_files where corpus_id = 'mantis'), '/' || i
    from range({dialogues}) invented(i);
insert into main.turns (dialogue_id, turn_index, role, kind, text)
    select 'mantis:invented:' || i // 10, i % 10, if(i % 2 = 0, 'user', 'agent'), 'message',
        'Turn ' || i || ' "é"' || chr(10) || repeat(md5(i::varchar), 4)
    from range({turns}) invented(i);
insert into main.texts (text_id, corpus_id, text)
    select 'mantis:invented:' || i, 'mantis', repeat(md5(i::varchar), 4) from range({texts}) invented(i);
insert into main.candidates (record_id, turn_index, candidate_set, position, item_index, dialogue_id, text_id, is_gold)
    select 'mantis/invented/' || i // 80, i // 8 % 10, 'ranking', i % 8, 0, 'mantis:invented:' || i // 80,
        'mantis:invented:' || hash(i) % {texts}, i % 8 = 0
    from range({candidates}) invented(i)
"""


def invent(path: Path, turns: int) -> None:
    """Make a warehouse with so many turns."""
    build(path, Silent())
    path.chmod(0o644)
    with duckdb.connect(path) as con:
        numbers = {"turns": turns, "dialogues": turns // 10, "texts": turns // 2, "candidates": CANDIDATES * turns}
        con.execute(_INVENT.format(**numbers))
