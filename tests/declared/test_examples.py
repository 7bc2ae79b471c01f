"""Files that a page of TOML declares: the rows that they become, and that they come back.

``--regen`` writes the golden rows again; the diff is the review.
"""

import gzip
import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
import pytest

from talkhouse.ingest import rows
from talkhouse.ingest.declared.declaration import read_declaration
from tests.declared.records import same
from tests.declared.rows_loaded import Read, read, restored

TOPICS = sorted(Path(__file__).with_name("examples").glob("*.toml"))


@pytest.mark.parametrize("topic", TOPICS, ids=lambda path: path.stem)
def test_an_example_becomes_its_rows_and_comes_back(topic: Path, *, regen: bool) -> None:
    found = []
    for name, page, files in examples(topic):
        result = read(read_declaration("quay", page, "quay/corpus.toml"), files)
        assert not_restored(result, files) == [], name
        found += [f"== {name}", *sorted(described(result)), ""]
    golden = topic.with_suffix(".golden")
    if regen:
        golden.write_text("\n".join(found), encoding="utf-8")
    assert found == golden.read_text(encoding="utf-8").split("\n")


def examples(topic: Path) -> Iterator[tuple[str, str, dict[str, bytes]]]:
    """Yield the name of each example, its page and its files, of which one named .gz is packed here."""
    declared = tomllib.loads(topic.read_text(encoding="utf-8"))
    pages = declared.get("pages", {})
    for example in declared["examples"]:
        raws = {name: text.encode() for name, text in example["files"].items()}
        files = {name: gzip.compress(raw, mtime=0) if name.endswith(".gz") else raw for name, raw in raws.items()}
        yield example["name"], f'title = "Quay"\n{pages.get(example["page"], example["page"])}', files


def described(result: Read) -> Iterator[str]:
    """Yield a line for each row, without nulls and defaults, for each finding, and for what was refused."""
    for kind in rows.ROWS:
        usual = dict(zip(reversed(kind.__struct_fields__), reversed(kind.__struct_defaults__), strict=False))
        usual["corpus_id"] = "quay"
        for row in result.of(kind):
            columns = msgspec.to_builtins(row).items()
            values = {name: value for name, value in columns if value not in (None, usual.get(name))}
            yield f"{kind.TABLE} {json.dumps(values, ensure_ascii=False)}"
    details = [finding.detail for finding in result.findings] + [item.detail for item in result.rejected]
    for (rule, place), detail in zip(result.places, details, strict=True):
        yield f"{rule} {place} {json.dumps(detail, ensure_ascii=False)}"
    yield from (f"rejected {item.location.pointer} {item.location.native_id}" for item in result.rejected)
    yield from (f"no data: {item.file.name}" for item in result.unrecognised)


def not_restored(result: Read, files: Mapping[str, bytes]) -> list[str]:
    """Name the files that are not written back: JSON with the same values, order and numbers, others to the byte."""
    back, no_data = restored(result), {item.file.name for item in result.unrecognised}
    return [name for name, raw in files.items() if name not in no_data and not is_same(name, raw, back.get(name, b""))]


def is_same(name: str, raw: bytes, back: bytes) -> bool:
    if name.endswith(".gz"):
        raw, back = gzip.decompress(raw), gzip.decompress(back)
    if raw == back or ".json" not in name:
        return raw == back
    texts = [text.decode().split("\n") if ".jsonl" in name else [text.decode()] for text in (raw, back)]
    return len(texts[0]) == len(texts[1]) and all(
        line == other or same(line, other) for line, other in zip(*texts, strict=True)
    )
