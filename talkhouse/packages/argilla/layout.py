"""The package of ``--for argilla``: ``records.json``, which ``dataset.records.from_json`` reads.

The dataset needs a ChatField ``dialogue``; metadata that it does not declare are let in by ``allow_extra_metadata``.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from talkhouse.packages.content import Package
from talkhouse.packages.layout import Layout
from talkhouse.packages.whole_dialogues import known, plan, write_list
from talkhouse.query.row_stream import OnRows


def _write(package: Package, folder: Path, on_rows: OnRows) -> list[dict[str, Any]]:
    return [write_list(folder / "records.json", package, _record, on_rows)]


def _record(dialogue: Mapping[str, Any]) -> dict[str, Any]:
    turns = dialogue["turns"] or ()
    facts = (("corpus", dialogue["corpus_id"]), ("title", dialogue["title"]), ("language", dialogue["language"]))
    return {
        "id": dialogue["dialogue_id"],
        "fields": {"dialogue": [{"role": turn["author"], "content": turn["text"]} for turn in turns]},
        "metadata": known((*facts, ("turns", len(turns)))),
        "suggestions": {},
        "responses": {},
        "vectors": {},
    }


LAYOUT = Layout(plan, _write)
