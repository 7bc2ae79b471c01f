"""What is public in Python stays as it is: its names and signatures, each with a docstring, and its types."""

import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import talkhouse as th

ROOT = Path(__file__).parents[3]
FUNCTIONS = {
    "open": "(path=None, *, settings=None, unsafe=False)",
    "warehouse": "(path=None, *, unsafe=False)",
    "build": "(data=None, *, db=None, corpora=None, jobs=None, max_quarantine=None, on_progress=None)",
    "release": "(name, *, db=None, store=None)",
}
CLASSES = {
    "Warehouse": {
        "cite": "(self, name, format='bibtex')",
        "close": "(self)",
        "corpora": "(self)",
        "dialogue": "(self, id)",
        "export": "(self, name, path, **options)",
        "is_current": "(self)",
        "search": "(self, text, *, rank=False, **where)",
        "sql": "(self, query, **frames)",
        "tasks": "(self)",
    },
    "Task": {
        **dict.fromkeys(("columns", "labels", "releases", "splits"), ""),
        "chat": "(self, split=None, *, release=None, as_=None, roles=None, persona=None)",
        "rows": "(self, split=None, *, release=None, where=None)",
        "score": "(self, predictions=None, *, split, release=None, where=None, baseline=None, threshold=None, "
        "interval=False)",
    },
    "Score": {**dict.fromkeys(("examples", "metrics", "official"), ""), "against": "(self, other)"},
    "Dialogue": {"messages": "(self)"},
    "BuildReport": {},
    "Release": {},
}


def signature(of: Any) -> str:
    if not callable(of):
        return ""
    found = inspect.signature(of)
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in found.parameters.values()]
    return str(found.replace(parameters=plain, return_annotation=inspect.Signature.empty))


def test_public_names_and_signatures_stay() -> None:
    assert set(th.__all__) == {*FUNCTIONS, *CLASSES, "TalkhouseError", "__version__"}
    assert {name: signature(getattr(th, name)) for name in FUNCTIONS} == FUNCTIONS
    for name, members in CLASSES.items():
        public = {key: value for key, value in vars(getattr(th, name)).items() if key[0] != "_"}
        assert {key: signature(value) for key, value in public.items()} == members
        assert all(inspect.getdoc(value) for value in [getattr(th, name), *public.values()])
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    assert all(f".{name}" in page for name in {*th.__all__, *(key for keys in CLASSES.values() for key in keys)})


CLIENT = """
import talkhouse as th
from talkhouse.corpus import Corpus, Dialogue, Turn

def accuracy(path: str, corpus: Corpus) -> float | None:
    with th.warehouse(path) as warehouse:
        task: th.Task = warehouse[f"{corpus.id}.task"]
        rows = task.rows("test").select("example_index")
        score: th.Score = task.score(rows, split="test", interval=True)
        texts: list[str] = [message["content"] for message in warehouse.dialogue("a").messages()]
        print(texts, score.examples.height, score.against(score).height, warehouse.tasks().columns)
        print(warehouse.sql("from rows", rows=rows).fetchall(), warehouse.path.name, th.__version__)
    try:
        report: th.BuildReport = th.build(db=path, on_progress=lambda step, done, of: print(step, done, of))
    except th.TalkhouseError as error:
        print(error.next_step)
    release: th.Release = th.release("a")
    print(release.content_id, report.seconds, th.open(path).execute("from main.corpora").fetchall())
    return score.official["Accuracy"]

th.open(path=5)  # type: ignore[arg-type]
th.warehouse(unsafe="no")  # type: ignore[arg-type]
th.warehouse().tasks(1)  # type: ignore[call-arg]
print(Dialogue("a", "b"), Turn("a", 0, None, "user", "message", "text"))
"""


@pytest.mark.slow
def test_types_hold_for_a_client(tmp_path: Path) -> None:
    """With the settings and the cache of ``uv run mypy``: all that a client imports need not be checked again."""
    path = tmp_path / "client.py"
    path.write_text(CLIENT)
    checked = [sys.executable, "-m", "mypy", str(path)]
    done = subprocess.run(checked, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
