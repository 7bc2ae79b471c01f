"""The files that benchmarks invent are as the publisher writes them."""

import json

import msgspec

from benchmarks.scenarios.files import logs
from talkhouse.ingest.corpora.dbdc3.format import Log


def test_an_invented_log_is_written_as_its_publisher_writes() -> None:
    path, text = next(logs(1))
    assert path == "DBDC3/dbdc3/en/dev/IRIS_100/iris_00000.log.json"
    assert text == json.dumps(json.loads(text), indent=4)
    log = msgspec.json.decode(text, type=Log)
    assert [(turn["speaker"], len(turn.get("annotations") or ())) for turn in log["turns"]] == [
        ("U", 0),
        ("S", 30),
    ] * 10
