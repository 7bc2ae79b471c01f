"""``talkhouse status``, ``findings``, ``views``, ``check`` and ``profile``: what is in it, and whether it is sound."""

import shlex
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.console import escape, output, print_table
from talkhouse.cli.terminal.progress import ProgressBar
from talkhouse.escaping import visible, visible_json
from talkhouse.provenance import not_published
from talkhouse.schema.errors import UsageError, closest
from talkhouse.settings import corpus_folders, database

if TYPE_CHECKING:
    from talkhouse.load.run import BuildResult
    from talkhouse.profile import CheckResult, Profile
    from talkhouse.warehouse.build_facts import Inventory


@options.command
@options.db
@options.flag("--hash", "is_hashed", help="Also compute the id of its contents, which reads every value.")
@options.path("--data", metavar="DIR", help="Also say which files in this data folder are new, changed or gone since.")
@options.flag("--files", "is_listed", help="List every file, with the time at which it was last changed on disk.")
@options.as_json
def status_command(db: Path | None, is_hashed: bool, data: Path | None, is_listed: bool, as_json: bool) -> None:
    """Show what is in the warehouse: corpora, counts, files, findings, and when and from what it was built.

    The id of its contents is shown once a release was made of it, or --hash has computed it. Files are compared as a
    build does it, by size, time and inode; none is read.
    """
    from talkhouse.warehouse.opened import described_with_ids, opened

    path = database(db)
    with opened(path) as warehouse:
        described = described_with_ids(warehouse, path, corpus_folders(), is_hashed=is_hashed)
    if data or is_listed:
        _describe_files(described, path, data, is_listed=is_listed)
    if as_json:
        print(visible_json(described))
        return
    build = described["build"]
    output.print(size(described))
    output.print(
        f"  built {build['finished_at']:%Y-%m-%d %H:%M} UTC by Talkhouse {escape(build['talkhouse_version'])} "
        f"from {escape(build['source'])} (build {build['load_id']})"
    )
    if described["content_id"]:
        release = f"release {escape(described['release'])}, " if described["release"] else ""
        output.print(f"  {release}content id {described['content_id']}")
    show_corpora(described)
    _show_files(described)
    if described["findings_without_corpus"]:
        output.print(f"  {described['findings_without_corpus']:,} findings about the data folder")


def _describe_files(described: dict[str, Any], path: Path, data: Path | None, *, is_listed: bool) -> None:
    """Add what has become of the files of each corpus: ``files_since`` counts them, ``source_files`` has each."""
    from talkhouse.ingest.registry import all_corpora
    from talkhouse.load.plan import file_states, read_published
    from talkhouse.load.request import from_data

    request = from_data(all_corpora(corpus_folders(), data), data, ()) if data else None
    published = read_published(path, path)
    states = file_states(published, request) if published else {}
    by_id = {corpus["corpus_id"]: corpus for corpus in described["corpora"]}
    for name, files in states.items():
        corpus = by_id.get(name) or described.setdefault("not_loaded", {}).setdefault(name, {})
        if data:
            counts = Counter(file.state for file in files)
            corpus["files_since"] = {state: counts[state] for state in ("unchanged", "changed", "new", "gone")}
        if is_listed:
            corpus["source_files"] = [file._asdict() for file in files]


def _show_files(described: dict[str, Any]) -> None:
    """Print from when the files of each corpus are, and what has become of them since they were read."""
    not_loaded = [{"corpus_id": name, **files} for name, files in described.get("not_loaded", {}).items()]
    output.print("Files, last changed (UTC):")
    for corpus in (*described["corpora"], *not_loaded):
        line = "not in the warehouse"
        if corpus.get("files_from"):
            line = f"{corpus['files_from']:%Y-%m-%d %H:%M} to {corpus['files_until']:%Y-%m-%d %H:%M}"
        if corpus.get("read_at"):
            line += f", read {corpus['read_at']:%Y-%m-%d %H:%M}"
        since = ", ".join(f"{count:,} {state}" for state, count in corpus.get("files_since", {}).items() if count)
        output.print(f"  {escape(corpus['corpus_id'])}: {line}{f'; now {since}' if since else ''}")
        for file in corpus.get("source_files", ()):
            state = "" if file["state"] in (None, "unchanged") else f"  [yellow]{file['state']}[/]"
            when, path = f"{file['modified_at']:%Y-%m-%d %H:%M:%S}", escape(file["path"])
            output.print(f"    {when}  {file['size']:>13,}  {path}{state}")


@options.command
@options.db
@options.corpus
@options.as_json
def findings_command(db: Path | None, corpus: str | None, as_json: bool) -> None:
    """List what was quarantined or warned about: the rule, where it applied, what was found, and what to do.

    Quarantined records are in meta.quarantine, byte for byte; all findings are in meta.findings.
    """
    from talkhouse.warehouse.build_facts import findings
    from talkhouse.warehouse.opened import opened
    from talkhouse.warehouse.relations import check_corpus

    with opened(database(db)) as warehouse:
        if corpus is not None:
            check_corpus(warehouse.con, corpus)
        listed = findings(warehouse.con, corpus)
    if as_json:
        print(visible_json(listed))
    else:
        show_findings(listed)


@options.command
@options.relation
@options.db
@options.as_json
def views_command(name: str | None, db: Path | None, as_json: bool) -> None:
    """List the views with the meaning and number of their rows; with NAME, show its columns and what they mean."""
    from talkhouse.warehouse.build_facts import view, views
    from talkhouse.warehouse.opened import opened

    with opened(database(db)) as warehouse:
        found: Any = view(warehouse.con, name) if name else views(warehouse.con)
    if as_json:
        print(visible_json(found))
    elif name:
        _show_relation(found)
    else:
        rows = [(f"{view['schema']}.{view['name']}", f"{view['rows']:,}", view["comment"] or "") for view in found]
        _print_rows(("view", "rows", "one row is"), rows)
        output.print("Columns and their meanings: talkhouse views NAME")


def _show_relation(relation: dict[str, Any]) -> None:
    name = escape(f"{relation['schema']}.{relation['name']}")
    output.print(f"[bold]{name}[/] ({relation['rows']:,} rows)")
    output.print(escape(relation["comment"] or ""))
    columns = [(column["name"], column["type"], column["meaning"] or "") for column in relation["columns"]]
    _print_rows(("column", "type", "meaning"), columns)


def _print_rows(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    print_table(heads, [[visible(cell, lines=True) for cell in row] for row in rows], right=["rows"])


_SHOWN = 10


def show_findings(findings: list[dict[str, Any]]) -> None:
    """Print findings by rule, the first of each rule with where they are."""
    if not findings:
        output.print("No findings.")
    for (rule, severity), group in groupby(findings, key=lambda finding: (finding["rule"], finding["severity"])):
        of_rule = list(group)
        colour = "red" if severity.startswith("reject") else "yellow"
        output.print(
            f"[bold]{escape(rule)}[/] [{colour}]{escape(severity)}[/] ({len(of_rule):,}): "
            f"{escape(of_rule[0]['condition'])}"
        )
        for finding in of_rule[:_SHOWN]:
            location = (
                f"{finding['file'] or finding['corpus_id'] or ''}{'#' + finding['place'] if finding['place'] else ''}"
            )
            output.print(f"  {escape(location)}: {escape(finding['detail'])}")
        if len(of_rule) > _SHOWN:
            output.print(f"  ... and {len(of_rule) - _SHOWN:,} more (all of them: --json, or meta.findings)")
        output.print(f"  [dim]what to do:[/] {escape(of_rule[0]['remedy'])}")


_COUNTED = ("dialogues", "turns", "labels", "candidates", "personas", "examples")


def show_build(result: "BuildResult") -> None:
    """Print what a build did, what is in the warehouse, and what to type next."""
    for note in result.notes:
        output.print(f"[yellow]note:[/] {escape(note)}")
    if result.unchanged_since:
        when = f"{result.unchanged_since:%Y-%m-%d %H:%M} UTC"
        output.print(f"Nothing changed: {escape(str(result.path))} is as it was built on {when}")
        output.print(f"  see what is in it with: talkhouse status{_option(result.path)}")
        return
    if result.inventory:
        _show_dry_run(result, result.inventory)
        return
    output.print(f"[bold green]Built[/] {size(result.status)} in {result.seconds:.1f} s")
    _show_removed(result)
    show_corpora(result.status, {**dict.fromkeys(result.plan.keep, "unchanged"), **result.read})
    option = _option(result.path)
    output.print("Next:")
    if any(corpus["examples"] for corpus in result.status["corpora"]):
        query = "select task, split, count(*) from main.examples group by all order by all"
        output.print(f'  talkhouse sql "{query}"{option}')
    output.print(f"  talkhouse status{option}")
    if all(corpus["is_sample"] for corpus in result.status["corpora"]):
        output.print("  talkhouse build --data DIR   (your own copies: a folder for each corpus, named by its id)")


def _show_removed(result: "BuildResult") -> None:
    for corpus_id in result.plan.remove:
        output.print(f"  removed {escape(corpus_id)}: its files are no longer in the data folder")


def _show_dry_run(result: "BuildResult", inventory: "Inventory") -> None:
    """Print what a build would do: what is recognised, what is ignored and why, what is found."""
    output.print("[bold]Dry run[/]: nothing was published. The warehouse would contain:")
    show_corpora(result.status, {**dict.fromkeys(result.plan.keep, "unchanged"), **result.read})
    _show_removed(result)
    output.print("Files:")
    for group in inventory.files:
        what = "recognised" if group["kind"] in ("read", "archive") else group["kind"]
        records = f", {group['records']:,} records" if group["records"] else ""
        why = f": {group['note']}" if group["note"] else ""
        line = f"{group['corpus_id']}: {group['file_count']:,} {what}{records}{why}"
        output.print(f"  {escape(line)}")
        if group["kind"] not in ("read", "archive"):
            for name in group["examples"]:
                output.print(f"    {escape(name)}")
    output.print("Findings:")
    show_findings(inventory.findings)


def _count(corpus: Mapping[str, Any], name: str) -> str:
    """Write a count; of labels that releases repeat, that of the default publications, which the pages show."""
    if name != "labels" or corpus["labels"] == corpus["default_labels"]:
        return f"{corpus[name]:,} {name}"
    return f"{corpus['default_labels']:,} labels ({corpus['labels']:,} in all of the publisher's releases)"


def show_corpora(described: dict[str, Any], read: Mapping[str, str] | None = None) -> None:
    """Print each corpus with its counts; ``read``: what a build has read of it."""
    for corpus in described["corpora"]:
        tags = [note] if (note := not_published(corpus)) else []
        tags += [read[corpus["corpus_id"]]] if read and corpus["corpus_id"] in read else []
        tag = f" [dim]({escape(', '.join(tags))})[/]" if tags else ""
        output.print(f"  [bold]{escape(corpus['corpus_id'])}[/]  {escape(corpus['title'])}{tag}")
        counts = ", ".join(_count(corpus, name) for name in _COUNTED if corpus[name])
        if others := corpus["annotations"] - corpus["labels"]:
            counts += f", {others:,} annotations without a label"
        output.print(f"    {counts}")
        output.print(
            f"    {corpus['files']:,} files, {corpus['quarantined']:,} records in quarantine, "
            f"{corpus['findings']:,} findings"
        )
        current = corpus["current_reader_version"]
        if current is not None and corpus["reader_version"] < current:
            output.print(
                f"    [yellow]read by version {corpus['reader_version']} of its reader; "
                f"installed is version {current}: build it again from its files[/]"
            )


def size(described: dict[str, Any]) -> str:
    """Return the path of the file with its size and schema revision."""
    megabytes, revision = described["bytes"] / 1e6, described["build"]["schema_revision"]
    return f"{escape(described['database'])} ({megabytes:,.1f} MB, schema {revision})"


def _option(path: Path) -> str:
    """Return the option that names this warehouse to the next command, if it needs one."""
    return "" if path == database() else f" --db {escape(shlex.quote(str(path)))}"


_ROWS_SHOWN = 5


@options.command
@options.db
@options.named_folders
@options.as_json
def check_command(db: Path | None, as_json: bool) -> None:
    """Run all checks: grain, references, counts, vocabulary, leaks between splits, and those of each corpus.

    Exit code 1, with the offending rows, if a check of severity error fails. Warnings are findings:
    see talkhouse findings.
    """
    from talkhouse.ingest.registry import all_corpora
    from talkhouse.queries.checks import checks, run
    from talkhouse.warehouse.opened import opened
    from talkhouse.warehouse.readers import current_versions

    with opened(database(db)) as warehouse:
        versions = current_versions(warehouse.con, all_corpora(corpus_folders()))
        outcomes = list(run(warehouse.con, checks(warehouse.catalogue, warehouse.corpus_ids, versions)))
    if as_json:
        described = [
            {
                "check": outcome.check.name,
                "severity": outcome.check.severity,
                "condition": outcome.check.condition,
                "offending": outcome.offending,
                "rows": outcome.rows,
                "milliseconds": round(outcome.milliseconds, 3),
            }
            for outcome in outcomes
        ]
        print(visible_json(described))
    else:
        for outcome in outcomes:
            verdict = "[green]ok[/]" if not outcome.offending else f"[red]{escape(outcome.check.severity)}[/]"
            cost = f"[dim]{outcome.milliseconds:,.0f} ms[/]"
            output.print(f"{verdict}  {escape(outcome.check.condition)}  {cost}")
            for row in outcome.rows[:_ROWS_SHOWN]:
                text = row.get("detail") or ", ".join(f"{name}={value!r}" for name, value in row.items())
                output.print(f"      {escape(str(text))}")
            if outcome.offending > _ROWS_SHOWN:
                output.print(f"      ... and {outcome.offending - _ROWS_SHOWN:,} more")
        failed = sum(outcome.is_failure for outcome in outcomes)
        warned = sum(outcome.offending > 0 for outcome in outcomes) - failed
        seconds = sum(outcome.milliseconds for outcome in outcomes) / 1000
        output.print(f"{len(outcomes)} checks in {seconds:.1f} s: {failed} failed, {warned} with warnings")
    if any(outcome.is_failure for outcome in outcomes):
        sys.exit(1)


@options.command
@options.corpora
@click.option(
    "--check", "names", metavar="NAME", multiple=True, help="Only this check, with its cases (may be repeated)."
)
@click.option(
    "--limit", metavar="N", type=options.ROWS, default=20, help="Show at most N cases of each check, the worst first."
)
@options.as_json
@options.memory_limit()
@options.db
def profile_command(
    corpus: tuple[str, ...],
    names: tuple[str, ...],
    limit: int,
    as_json: bool,
    memory_limit: str | None,
    db: Path | None,
) -> None:
    """Look through dialogues for what may be wrong with them: repeats, templates, gaps, times, personal data.

    Each check says how many dialogues, turns or texts it has found. With --check it also says what they do to a model
    or a chart, what to do about them, and shows some. Without --corpus, the corpora of your own are looked at, those
    with a corpus.toml, or all where there are none.

    Personal data are e-mail addresses, telephone numbers, card and account numbers with the right checksum, IP
    addresses, and names after a greeting or an introduction or in a signature; others are not found. See
    docs/personal-data.md for how sure that is. talkhouse export --redact puts marks in their place.

    Languages are told by py3langid: pip install 'talkhouse[languages]'

    Examples:
        talkhouse profile
        talkhouse profile --corpus my_chats --check templates --check personal_email
        talkhouse profile --corpus my_chats --json
    """
    from talkhouse.profile import as_data, checks, profile, profiled
    from talkhouse.system.memory import MemoryLimit
    from talkhouse.warehouse.opened import opened
    from talkhouse.warehouse.relations import check_corpus

    known = [check.name for check in checks()]
    for name in names:
        if name not in known:
            raise UsageError(f"there is no check '{name}'", expected=f"one of: {', '.join(closest(name, known))}")
    settings = {} if memory_limit is None else {"memory_limit": MemoryLimit(memory_limit).text}
    with opened(database(db), settings=settings) as warehouse, ProgressBar() as bar:
        for name in corpus:
            check_corpus(warehouse.con, name)
        bar.begin("looking through dialogues", unit="checks")
        wanted = corpus or profiled(warehouse)
        found = [profile(warehouse.con, name, only=names or None, most=limit, on_check=bar.advance) for name in wanted]
        warehouse.check_complete()
    if as_json:
        print(visible_json([as_data(of_corpus) for of_corpus in found]))
        return
    for of_corpus in found:
        _show(of_corpus, has_cases=bool(names))
    if not names:
        output.print("What a check means, and its cases: talkhouse profile --check NAME")


def _show(found: "Profile", *, has_cases: bool) -> None:
    output.print(f"[bold]{escape(found.corpus_id)}[/]")
    if has_cases:
        for result in found.results:
            _show_cases(result)
        return
    met = [result for result in found.results if result.count]
    cells = [[result.check.name, f"{result.count:,}", _share(result), result.check.title] for result in met]
    if cells:
        print_table(["check", "found", "of", "what"], cells, right=["found"])
    else:
        output.print("  nothing was found")
    for result in found.results:
        if result.note:
            output.print(f"  {result.check.name}: {escape(result.note)}")


def _share(result: "CheckResult") -> str:
    return f"{result.whole:,} {result.check.of} ({result.percent})"


def _show_cases(result: "CheckResult") -> None:
    check = result.check
    output.print(f"  [bold]{check.title}[/]: {result.count:,} of {_share(result)}")
    if result.note:
        output.print(f"    {escape(result.note)}")
    if result.count:
        output.print(f"    {escape(check.effect)}\n    [dim]what to do:[/] {escape(check.advice)}")
    for dialogue_id, turn_index, detail in [(case.dialogue_id, case.turn_index, case.detail) for case in result.cases]:
        place = dialogue_id if turn_index is None else f"{dialogue_id} {turn_index}"
        output.print(f"    {escape(visible(place))}: {escape(visible(detail))}")
