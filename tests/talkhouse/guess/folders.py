"""Invented folders of files in the form of each format, and the declarations that are proposed for them."""

import gzip
import io
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

FILES = Path(__file__).parent / "files"


def lines(*records: Any) -> bytes:
    return b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records)


def listed(*records: Any) -> bytes:
    return json.dumps(records).encode()


def parquet(rows: Sequence[Mapping[str, Any]]) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows)), buffer)
    return buffer.getvalue()


def write(folder: Path, files: Mapping[str, bytes]) -> Path:
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    return folder


def messages(*texts: str, role: str = "role", text: str = "content", who: Sequence[str] = ("user", "assistant")) -> Any:
    return [{role: who[place % 2], text: words} for place, words in enumerate(texts)]


def files_of(name: str) -> dict[str, bytes]:
    """Return the files of a folder by their paths; those of ``PACKED`` compressed, those with times made here."""
    if name == "chat_parquet":
        return {"data/train-00000-of-00001.parquet": parquet(LOG)}
    paths = sorted(path for path in (FILES / name).rglob("*") if path.is_file())
    files = {path.relative_to(FILES / name).as_posix(): path.read_bytes() for path in paths}
    return {f"{path}.gz": gzip.compress(content) for path, content in files.items()} if name in PACKED else files


def records_of(path: str) -> Any:
    """Return what a file of JSON or JSON Lines in ``files`` has."""
    text = (FILES / path).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()] if path.endswith(".jsonl") else json.loads(text)


LOG = [
    {
        "hash": f"h{n // 2}",
        "timestamp": datetime(2026, 3, n + 1, 8, tzinfo=UTC),
        "language": "English",
        "conversation": [{"content": "Is it far?", "role": "user"}, {"content": "Two miles.", "role": "assistant"}],
        "moderation": [{"flagged": False}, {"flagged": False}],
    }
    for n in range(4)
]

PACKED = ("preference_transcripts", "tree")

CHAT = records_of("chat/train.jsonl")
SHAREGPT = records_of("sharegpt/fog.json")
THUMBS = records_of("thumbs/a.jsonl")
PREFERENCE = records_of("preference/train.jsonl")
CHANNEL = records_of("channel/boats.json")
DAY = records_of("a_dialogue_a_file/boats/2026-01-01.json")
SCATTERED = files_of("scattered")["talks.tsv"]


DECLARATIONS = Path(__file__).parent / "declarations"

FOLDERS = {path.stem: files_of(path.stem) for path in sorted(DECLARATIONS.glob("*.toml"))}
"""Name -> its files; ``declarations/NAME.toml`` is what is proposed for them."""
