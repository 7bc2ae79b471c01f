"""A toy corpus whose files are lines, declared in a folder of its own: what it takes and refuses can be changed."""

import shutil
import tarfile
import zipfile
from pathlib import Path

import duckdb

import talkhouse
from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.progress import Silent
from talkhouse.ingest.registry import corpora
from talkhouse.load.request import QuarantineLimit
from talkhouse.load.run import build

TOY = """
import re

from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.outcomes import FileEnvelope, Loaded, SourceLocation, Rejected, Unrecognised
from talkhouse.ingest.common_rules import Rule
from talkhouse.ingest.rows import Dialogue, Record, Turn

def read(files):
    for file in files:
        if not re.search(r"{taken}", file.name):
            yield Unrecognised(file, "its name has another ending")
            continue
        lines = file.read().decode().split("\\n")[:-1]
        yield FileEnvelope(file, {{"lines": len(lines)}}, len(lines))
        for index, line in enumerate(lines):
            location = SourceLocation(file, f"/{{index}}", split="all", record_index=index, size=len(line))
            key = f"{{file.id}}/{{index}}"
            if re.match(r"{refused}", line):
                yield Rejected(location, "TOY-01", f"it is {{line!r}}", line.encode())
                continue
            record = Record(
                key, "toy", f"toy:{{key}}", None, None, None, None, "all", None, index, file.id, location.pointer
            )
            turn = Turn(f"toy:{{key}}", 0, None, "user", "message", line)
            yield Loaded(location, [record, Dialogue(f"toy:{{key}}", "toy"), turn])

def write(records):
    for one in records:
        if one.raw is not None:
            yield one.path, one.raw + b"\\n"
        elif one.record is None:
            yield one.path, b""
        else:
            yield one.path, one.turns[0].text.encode() + b"\\n"

CORPUS = Corpus(
    id="toy", version={version}, title="Toy", description="", homepage="", licence="none", citation="none",
    languages=("en",), files="text files", splits={{"all": None}}, read=read, write=write,
    rules=(Rule("TOY-01", "reject_dialogue", "A line begins so.", "Mend it."),),
)
"""
"""A corpus of lines: which names it takes and which lines it refuses can be changed."""

LINES = {"one.txt": "hello\n!bad\nworld\n", "two.txt": "?odd\nwell\n"}


def declare(root: Path, refused: str = "[!?]", taken: str = r"\.txt$", version: int = 1) -> tuple[Path, ...]:
    (root / "roots" / "toy").mkdir(parents=True, exist_ok=True)
    text = TOY.format(refused=refused, taken=taken, version=version)
    # Python takes what it has compiled for current where the size and the second are the same.
    shutil.rmtree(root / "roots" / "toy" / "__pycache__", ignore_errors=True)
    (root / "roots" / "toy" / "__init__.py").write_text(text)
    return (root / "roots",)


def toy(root: Path) -> Corpus:
    return corpora((root / "roots",))["toy"]


def invent(root: Path) -> Path:
    folder = root / "data" / "toy"
    folder.mkdir(parents=True)
    for name, text in LINES.items():
        (folder / name).write_text(text)
    with zipfile.ZipFile(folder / "packed.zip", "w") as archive:
        for name, text in {
            **LINES,
            "deep/README": "notes\n",
            "deep/odd name.txt": "Ä\n",
            "image.png": "no text",
        }.items():
            archive.writestr(name, text)
    with tarfile.open(folder / "more.tar.gz", "w:gz") as more:
        more.add(folder / "one.txt", "./one.txt")
    (folder / "LICENSE").write_text("do as you like\n")
    declare(root)
    return root / "data"


def built(root: Path, name: str = "w.duckdb", **options: object) -> duckdb.DuckDBPyConnection:
    options = {"data": root / "data", "limit": QuarantineLimit("100%"), "corpus_roots": (root / "roots",)} | options
    build(root / name, Silent(), **options)  # type: ignore[arg-type]
    return talkhouse.open(root / name)
