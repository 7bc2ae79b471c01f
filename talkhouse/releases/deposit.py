"""What becomes of releases: archives of them to deposit, and those that are no longer wanted."""

import shutil
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZIP_STORED, ZipFile, ZipInfo

from talkhouse.citation import formats
from talkhouse.citation.work import Citation
from talkhouse.export.terms import check_terms, parts_of_corpus
from talkhouse.lake_format.inside import Inside
from talkhouse.packages.export import licence_of_corpus, plain
from talkhouse.releases import manifest
from talkhouse.releases import store as release_store
from talkhouse.releases.checkout import resolve
from talkhouse.schema.errors import UsageError
from talkhouse.system.atomic_output import atomic_file, check_replaceable, output_errors
from talkhouse.system.files import new_folder
from talkhouse.warehouse.opened import Warehouse, opened

CITATION, LICENCES = "CITATION.cff", "LICENCES.md"
_PIECE = 1_000_000
_BEGIN = (1980, 1, 1, 0, 0, 0)
"""The time of every file: the same release gives the same bytes."""


def export(stored: release_store.Stored, output: Path, *, is_accepted: bool, force: bool) -> None:
    """Write a release to one archive, a store of it alone, with its citation and licences.

    Raises TermsNotAccepted where a licence asks for more than names, ReleaseDamaged, and UsageError for a file that is
    there.
    """
    check_replaceable([output], {}, force=force)
    with opened(resolve(stored.release.name, stored.store)) as warehouse:
        parts = [part for corpus in warehouse.corpus_ids for part in parts_of_corpus(warehouse, corpus)]
        check_terms(parts, is_accepted=is_accepted, lie_apart=True)
        licences = "".join(f"{line}\n" for line in _licences(stored, warehouse))
        texts = {CITATION: _citation(stored, warehouse), LICENCES: licences}
    folder = f"{release_store.RELEASES}/{stored.release.name}"
    files = [f"{folder}/{manifest.CHECKSUM}", f"{folder}/{manifest.MANIFEST}"]
    files += sorted({f"{release_store.OBJECTS}/{file.file}" for file in stored.release.files})
    with atomic_file(output) as part, ZipFile(part, "w", ZIP_STORED) as archive:
        for name in sorted([*files, *texts]):
            info = ZipInfo(name, _BEGIN)
            info.external_attr = 0o444 << 16
            if name in texts:
                archive.writestr(info, texts[name])
            else:
                with Inside(stored.store).reading(name) as source, archive.open(info, "w", force_zip64=True) as copy:
                    shutil.copyfileobj(source, copy, _PIECE)


def _citation(stored: release_store.Stored, warehouse: Warehouse) -> str:
    cited = [Citation.from_corpus(corpus) for corpus in warehouse.corpora]
    return formats.cff(f"Talkhouse release {stored.release.name}", cited)


def _licences(stored: release_store.Stored, warehouse: Warehouse) -> Iterator[str]:
    release = stored.release
    yield f"# Licences of the Talkhouse release {plain(release.name)}"
    yield ""
    yield f"Made {release.created_at}, Talkhouse {plain(release.talkhouse_version)}. Content id: {release.content_id}."
    for corpus in warehouse.corpora:
        yield ""
        yield from licence_of_corpus(corpus, list(parts_of_corpus(warehouse, corpus["corpus_id"])))


class Pruned(NamedTuple):
    """What was removed, or would be."""

    releases: list[str]
    objects: int
    bytes: int


def prune(store: Path, keep: Collection[str], *, dry_run: bool = False) -> Pruned:
    """Remove all releases but those to keep, and the objects that none of these names.

    Raises UsageError where none is to be kept or there is no such release, ReleaseDamaged where one that stays is
    damaged: then nothing is removed.
    """
    if not keep:
        raise UsageError("no release is to be kept", next_step="name at least one: --keep NAME")
    if dry_run:
        return _prune(store, keep, None)
    with output_errors(store), release_store.held(store), new_folder(release_store.part_folder(store)):
        return _prune(store, keep, release_store.part_folder(store))


def _prune(store: Path, keep: Collection[str], part: Path | None) -> Pruned:
    stay = [release_store.read(store, name) for name in sorted({*keep})]
    for stored in stay:
        release_store.check_bytes(stored)
    named = {file.file for stored in stay for file in stored.release.files}
    gone = [name for name in release_store.names(store) if name not in keep]
    objects = {name: size for name, size in release_store.objects_in(store).items() if name not in named}
    if part is not None:
        inside = Inside(store)
        for name in gone:  # by one rename, so that none is ever half of itself
            inside.move(f"{release_store.RELEASES}/{name}", Inside(store, part.name), name)
        for name in objects:
            inside.remove(f"{release_store.OBJECTS}/{name}")
    return Pruned(gone, len(objects), sum(objects.values()))


def listed(store: Path) -> list[dict[str, Any]]:
    """Describe the releases of a store, from the first to the newest, with the bytes that only they need.

    ReleaseDamaged where a manifest can't be read.
    """
    found, damaged = release_store.read_all(store)
    if damaged:
        raise damaged[0]
    users: dict[str, int] = {}
    for stored in found:
        for file in {released.file for released in stored.release.files}:
            users[file] = users.get(file, 0) + 1
    return [_listed(stored, users) for stored in found]


def _listed(stored: release_store.Stored, users: dict[str, int]) -> dict[str, Any]:
    release = stored.release
    sizes = {released.file: released.bytes for released in release.files}
    own = sum(size for file, size in sizes.items() if users[file] == 1)
    return {
        "name": release.name,
        "created_at": release.created_at,
        "content_id": release.content_id,
        "note": release.note,
        "corpora": [corpus.corpus_id for corpus in release.corpora],
        "rows": release.rows,
        "own_bytes": own,
        "shared_bytes": sum(sizes.values()) - own,
    }
