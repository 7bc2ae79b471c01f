"""The publishers' own files (set TALKHOUSE_DATA), all or some: nothing is refused, and every file comes back.

What each of them is counted to have is in the folder of its corpus.
"""

from pathlib import Path

import pytest

import talkhouse
from talkhouse.ingest.files.disk_files import disk_files
from talkhouse.ingest.registry import corpora
from talkhouse.restore.verify import Status, verify

CORPORA = corpora()


@pytest.mark.slow
@pytest.mark.parametrize("corpus_id", CORPORA)
def test_nothing_is_refused_and_all_comes_back(corpus_id: str, real_data: Path, request: pytest.FixtureRequest) -> None:
    folder = real_data / corpus_id
    if not folder.is_dir():
        pytest.skip(f"TALKHOUSE_DATA has no folder {corpus_id}")
    with talkhouse.open(request.getfixturevalue("real_warehouse")) as con:
        refused = "select source_file_id, pointer, detail from meta.quarantine where corpus_id = ?"
        assert con.execute(refused, [corpus_id]).fetchall() == []
        verdicts = list(verify(con, CORPORA[corpus_id], disk_files(folder, corpus_id)))
    assert [verdict for verdict in verdicts if verdict.status not in (Status.EQUAL, Status.NOT_DATA)] == []
    assert any(verdict.status is Status.EQUAL for verdict in verdicts)
