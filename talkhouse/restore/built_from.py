"""Finds the files that a corpus in a warehouse was built from, or its files in a data folder."""

from pathlib import Path

import duckdb

from talkhouse.build.request import from_data, from_paths, from_samples
from talkhouse.ingest.files.disk_files import DiskFile, disk_files, listing
from talkhouse.ingest.files.limits import DEFAULT, Boundary, Limits
from talkhouse.ingest.registry import Registry
from talkhouse.schema.errors import UsageError

_SOURCE = """
select source
from meta.loads
where json_extract_string(outcome, $corpus) = 'loaded'
order by load_id desc
limit 1
"""
_IS_SAMPLE = "select is_sample from main.corpora where corpus_id = ?"


def files_built_from(
    con: duckdb.DuckDBPyConnection,
    known: Registry,
    corpus_id: str,
    limits: Limits = DEFAULT,
    *,
    follow_links: bool = False,
) -> list[DiskFile]:
    """List the files that a corpus was last read from; UsageError where they are no longer where they were.

    Links are followed as by the build.
    """
    if con.execute(_IS_SAMPLE, [corpus_id]).fetchall() == [(True,)]:
        return from_samples(known, [corpus_id]).inputs[0].files
    row = con.execute(_SOURCE, {"corpus": corpus_id}).fetchone()
    source = str(row[0]) if row else ""
    folder = Path(source) / corpus_id
    if row and _is_there(folder) and folder.is_dir():
        return from_data(known, Path(source), [corpus_id], limits, follow_links=follow_links).inputs[0].files
    paths = [Path(source)] if _is_there(Path(source)) else [Path(path) for path in source.split(" ")]
    if row and all(map(_is_there, paths)):
        return from_paths(known, corpus_id, paths, limits, follow_links=follow_links).inputs[0].files
    raise UsageError(
        f"the files that '{corpus_id}' was built from are no longer there",
        where=source or None,
        next_step="with --data DIR, name the folder that has them in a folder named by the corpus id",
    )


def _is_there(path: Path) -> bool:
    """Whether there is something at a path that a warehouse names, which may be any text."""
    try:
        return path.exists()
    except OSError:
        return False


def files_in_folder(
    known: Registry,
    data: Path,
    present: list[str],
    limits: Limits = DEFAULT,
    *,
    follow_links: bool = False,
) -> dict[str, list[DiskFile]]:
    """List the files of each corpus in a data folder; a corpus of the warehouse without a folder there has none.

    Raises UsageError where there is no such folder, or none of these corpora in it.
    """
    with listing(data):
        is_folder = data.is_dir()
        names = {path.name for path in data.iterdir() if path.is_dir()} if is_folder else set()
    if not is_folder:
        raise UsageError("there is no such data folder", where=data, next_step="check the path, as seen from here")
    if not names & set(present):
        raise UsageError(
            "the folder has none of these corpora",
            where=data,
            expected=f"a folder named {' or '.join(present)}",
            found=", ".join(sorted(names)) or "no folder at all",
            next_step="name the folder with the folders of the corpora",
        )
    boundary = Boundary.of(data, follow_links=follow_links)
    return {
        name: disk_files(data / name, name, limits, boundary) if name in names else []
        for name in sorted({*present, *(names & known.keys())})
    }
