"""What ``talkhouse export`` writes, and what it says of it: a file, a folder for a program, or the dashboards."""

import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from shlex import quote
from typing import TYPE_CHECKING, Any

from talkhouse.cli.terminal.console import decimal, escape, output, warn
from talkhouse.cli.terminal.progress import ProgressBar
from talkhouse.made import not_published
from talkhouse.query.formats import ExportFormat, Tool
from talkhouse.settings import database
from talkhouse.visible import visible

if TYPE_CHECKING:
    from talkhouse.packages.content import SplitRows
    from talkhouse.packages.export import WrittenPackage
    from talkhouse.query.export import Exported
    from talkhouse.query.pseudonyms import AboutPseudonyms
    from talkhouse.query.selection import Filters
    from talkhouse.query.terms import LicencePart
    from talkhouse.schema.guard import Settings


@dataclass(frozen=True)
class Wanted:
    """The rows that are to be exported, and on what conditions."""

    name: str
    path: Path
    filters: "Filters"
    is_accepted: bool
    """Whether the terms of the corpora are accepted."""
    key_file: Path | None
    """The key of pseudonyms; None: ids of people stay as they are."""
    memory_limit: str | None


def export_file(
    wanted: Wanted,
    warehouse_path: Path,
    *,
    file_format: ExportFormat | None,
    columns: Sequence[str] | None,
    limit: int | None,
    escape_formulas: bool,
    against: Sequence[str],
    verdicts: Sequence[str],
    force: bool,
) -> None:
    """Write a view or table to a file, without examples of these ``verdicts`` against places; say what was written."""
    from talkhouse.query.export import export
    from talkhouse.warehouse.opened import opened

    beside: dict[str, Path] = {}
    if against:
        from talkhouse.overlap.drop import with_verdicts

        judged = with_verdicts(warehouse_path, against, wanted.memory_limit)
        beside = {judged.stem: judged}
    settings = _settings(wanted)
    with opened(warehouse_path, beside=beside, settings=settings) as warehouse, ProgressBar() as bar:
        filters = wanted.filters
        for file in beside.values():
            from talkhouse.overlap.drop import left_out

            filters = replace(filters, left_out=left_out(warehouse, wanted.name, filters, file, verdicts))
        bar.begin(f"exporting {wanted.name}", unit="rows")
        exported = export(
            warehouse,
            wanted.name,
            wanted.path,
            file_format=file_format,
            filters=filters,
            columns=columns,
            limit=limit,
            is_accepted=wanted.is_accepted,
            key_file=wanted.key_file,
            escape_formulas=escape_formulas,
            force=force,
            on_rows=bar.advance,
        )
    _show(exported)
    if filters.left_out is not None:
        counts = ", ".join(f"{number:,} {verdict}" for verdict, number in filters.left_out.about["left_out"].items())
        places = visible(", ".join(filters.left_out.about["against"]))
        output.print(f"  left out, since they stand in {escape(places)}: {counts}", soft_wrap=True)


def export_package(wanted: Wanted, warehouse_path: Path, tool: Tool) -> None:
    """Write a folder that a program opens, and say what was written."""
    from talkhouse.packages.export import export_package as export
    from talkhouse.warehouse.opened import opened

    with opened(warehouse_path, settings=_settings(wanted)) as warehouse, ProgressBar() as bar:
        bar.begin(f"exporting {wanted.name}", unit="rows")
        written = export(
            warehouse,
            wanted.name,
            tool,
            wanted.path,
            filters=wanted.filters,
            is_accepted=wanted.is_accepted,
            key_file=wanted.key_file,
            on_rows=bar.advance,
        )
    _show_package(written)


def _settings(wanted: Wanted) -> "Settings":
    from talkhouse.query.export import settings
    from talkhouse.system.memory import MemoryLimit

    made = settings(wanted.path)
    return made if wanted.memory_limit is None else {**made, "memory_limit": MemoryLimit(wanted.memory_limit).text}


def export_for_superset(path: Path, db: Path | None, db_path: str | None, *, force: bool) -> None:
    """Write the dashboards, and say how they are imported."""
    from talkhouse.superset.bundle import write_bundle
    from talkhouse.warehouse.opened import opened

    with opened(database(db)) as warehouse:
        there = PurePosixPath(db_path or database(db).resolve())
        bundle = write_bundle(warehouse.con, path, there, force=force)
    output.print(
        f"Wrote {len(bundle.dashboards)} dashboards with {bundle.chart_count} charts, on {bundle.dataset_count} "
        f"datasets ({decimal(bundle.bytes)}), to {escape(str(bundle.path))}",
        soft_wrap=True,
    )
    output.print(f"  opens {escape(str(there))} read-only", soft_wrap=True)
    for remark in _remarks(Path(there), database(db)):
        output.print(f"  {escape(remark)}", soft_wrap=True)
    output.print(
        f"  import it with: superset import-dashboards --path {escape(quote(str(bundle.path)))} --username admin",
        soft_wrap=True,
    )


def _remarks(there: Path, exported: Path) -> Iterator[str]:
    """Return what may keep Superset from opening the warehouse, as far as it shows from here."""
    try:
        if not there.exists():
            yield "there is no such file on this machine: the one where Superset runs must have it"
            return
        if not there.samefile(exported):
            yield f"on this machine that is another file than {exported}, whose views the dashboards fit"
        is_readable = there.stat().st_mode & stat.S_IROTH
        is_reached = all(folder.stat().st_mode & stat.S_IXOTH for folder in there.parents)
    except PermissionError:
        is_readable, is_reached = True, False
    if not is_readable:
        yield "only its owner and group may read that file: the user who runs Superset must be one of them"
    if not is_reached:
        yield "other users can't enter one of the folders above that file: the user who runs Superset must be able to"


def _show(exported: "Exported") -> None:
    """Print what was written, what to know of it, and under which licences."""
    warn(exported.warnings)
    size = decimal(exported.bytes)
    output.print(
        f"Exported {exported.rows:,} rows of {escape(exported.name)} ({size}) to {escape(str(exported.path))}",
        soft_wrap=True,
    )
    output.print(f"  described in {escape(str(exported.manifest))}", soft_wrap=True)
    if exported.contents.pseudonyms:
        _show_pseudonyms(exported.contents.pseudonyms)
    if exported.contents.formulas_escaped:
        output.print("  an apostrophe stands before texts that a spreadsheet takes for formulas", soft_wrap=True)
    for note in exported.notes:
        output.print(f"  {escape(visible(note))}", soft_wrap=True)
    _show_licences(exported.contents.corpora, exported.contents.parts)


def _show_package(written: "WrittenPackage") -> None:
    """Print what a package has, and under which licences."""
    package = written.package
    warn([warning for config in package.configs for warning in config.warnings])
    output.print(
        f"Wrote {escape(package.name)} ({decimal(written.bytes)}) to {escape(str(written.path))}", soft_wrap=True
    )
    for config in package.configs:
        splits = ", ".join(_split(split) for split in config.splits)
        output.print(f"  {escape(config.name)}: {config.rows:,} rows ({escape(splits)})", soft_wrap=True)
    for file in written.files:
        if "config" not in file and file["rows"] is not None:
            output.print(f"  {escape(file['path'])}: {file['rows']:,} rows", soft_wrap=True)
    if package.left_out:
        output.print(f"  left out, with no rows to export: {escape(', '.join(package.left_out))}", soft_wrap=True)
    for note in package.notes:
        output.print(f"  {escape(visible(note))}", soft_wrap=True)
    if said := package.about_pseudonyms:
        _show_pseudonyms(said)
    _show_licences(package.corpora, package.parts)


def _split(split: "SplitRows") -> str:
    """Return a split as users have to name it, how many rows it has, and what its publisher calls it."""
    other = f", published as '{split.published}'" if split.published not in (None, split.name) else ""
    return f"{split.name} {split.rows:,}{other}"


def _show_pseudonyms(said: "AboutPseudonyms") -> None:
    output.print(f"  pseudonyms by the key {said['key']}: {escape(visible(said['remark']))}", soft_wrap=True)


def _show_licences(corpora: Sequence[dict[str, Any]], parts: "Sequence[LicencePart]") -> None:
    for corpus in corpora:
        note = not_published(corpus)
        tag = f", {note}" if note else ""
        output.print(f"  licence of {escape(corpus['corpus_id'] + tag)}: {escape(corpus['licence'])}", soft_wrap=True)
        if corpus["terms"]:
            output.print(f"    {escape(corpus['terms'])}", soft_wrap=True)
        for part in (part for part in parts if part.corpus_id == corpus["corpus_id"]):
            output.print(f"    {escape(part.summary)}", soft_wrap=True)
