"""An invented corpus whose files say what rows they become, so that tasks can be tried on any rows."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from talkhouse.ingest.declared.declaration.model import Annotations, Declaration, DeclaredTask, Files
from talkhouse.ingest.progress import Silent
from talkhouse.load.run import build
from talkhouse.warehouse.declared_tasks import task_files

SALON = r"""
import json

from talkhouse.ingest.corpus import Corpus, Scheme
from talkhouse.ingest.outcomes import Loaded, SourceLocation
from talkhouse.ingest.rows import Candidate, CandidateText, Dialogue, Label, Turn

class Splits(dict):
    def __contains__(self, split):
        return True

    def __missing__(self, split):
        return None

def read(files):
    known = set()
    for file in sorted(files, key=lambda file: (file.name.startswith("labels"), file.id)):
        split = None if file.name.startswith("labels") else file.name.partition(".")[0]
        for index, item in enumerate(json.loads(file.read())):
            release = item.get("release")
            location = SourceLocation(file, f"/{index}", None, release, split, index, item["id"])
            key = f"salon:{item['id']}"
            record = location.record(f"{file.id}/{index}", key, standard_split=CORPUS.splits[split])
            rows = [record, *said(key, item, known), *labels(record, item), *answers(record, item)]
            yield Loaded(location, rows)

def said(key, item, known):
    if key not in known:
        known.add(key)
        yield Dialogue(key, "salon", item["id"])
        for index, (role, text, *answered) in enumerate(item["turns"]):
            yield Turn(key, index, None, role, "message", text, reply_to=answered[0] if answered else None)

def labels(record, item):
    for turn, scheme, annotator, number, label, *span in item.get("labels", []):
        start, end = span or (None, None)
        more = {"annotator_index": annotator, "item_index": number, "start_index": start, "end_index": end}
        is_number = isinstance(label, float)
        texts = (None, label) if is_number else (label, None)
        yield record.annotation(turn, f"salon.{scheme}", *texts, **more)

def answers(record, item):
    for position, messages in enumerate(item.get("answers", [])):
        for number, text in enumerate(messages):
            key = f"salon:{record.record_id}/{position}/{number}"
            yield CandidateText(key, "salon", text)
            yield Candidate(record.record_id, item["at"], "completion", position, number, record.dialogue_id, key,
                is_gold=position == 0)

def write(records):
    return iter(())

CORPUS = Corpus(id="salon", version=1, title="Salon", description="", homepage="", licence="none", citation="none",
    languages=("en",), files="json files", splits=Splits(train="train", test="test"), read=read, write=write,
    schemes=(
        Scheme("salon.mood", "How it sounds.", "turn", {"calm": "Calm.", "cross": "Cross."}),
        Scheme("salon.topic", "What it is about.", "dialogue"),
        Scheme("salon.place", "What names a place.", "turn", {"room": "", "thing": ""}),
        Scheme("salon.score", "A number.", "dialogue"),
    ))
"""

MOOD = Annotations(
    "mood", 1, columns=("a", "b"), labels={"calm": "Calm.", "cross": "Cross."}, description="How it sounds."
)
TOPIC = Annotations("topic", 2, on="dialogue")
PLACE = Annotations("place", 3, start=("from",), end=("to",), from_file="labels.json", labels={"room": "", "thing": ""})
SCORE = Annotations("score", 4, on="dialogue", value=("score",))


def declared(*tasks: DeclaredTask, **more: Any) -> Declaration:
    """Return a declaration of the corpus with these tasks."""
    usual: dict[str, Any] = {
        "corpus_id": "salon",
        "text": "",
        "place": "salon/corpus.toml",
        "title": "Salon",
        "format": "chat",
        "files": (Files("*.json", 1),),
        "annotations": (MOOD, TOPIC, PLACE, SCORE),
    }
    return Declaration(**usual | more, tasks=tasks)


def build_talks(folder: Path, files: Mapping[str, Iterable[Any]], declaration: Declaration) -> Path:
    """Build a warehouse of files, each a list of records, with the tasks of a declaration as a corpus's own files."""
    root = folder / "roots" / "salon"
    root.mkdir(parents=True)
    (root / "__init__.py").write_text(SALON, encoding="utf-8")
    for file in task_files(declaration):
        path = root / "queries" / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text, encoding="utf-8")
    data = folder / "data" / "salon"
    data.mkdir(parents=True)
    for name, records in files.items():
        (data / name).write_text(json.dumps(list(records), ensure_ascii=False), encoding="utf-8")
    build(folder / "w.duckdb", Silent(), data=folder / "data", corpus_roots=(folder / "roots",))
    return folder / "w.duckdb"
