"""What a build and status print about a warehouse, and findings rule by rule."""

import shlex
from collections.abc import Collection
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from talkhouse.cli.terminal.console import escape, output
from talkhouse.made import not_published
from talkhouse.settings import database

if TYPE_CHECKING:
    from talkhouse.build.run import BuildResult
    from talkhouse.explore.inventory import Inventory


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
            f"{escape(of_rule[0]['condition'])}",
            soft_wrap=True,
        )
        for finding in of_rule[:_SHOWN]:
            location = (
                f"{finding['file'] or finding['corpus_id'] or ''}{'#' + finding['place'] if finding['place'] else ''}"
            )
            output.print(f"  {escape(location)}: {escape(finding['detail'])}", soft_wrap=True)
        if len(of_rule) > _SHOWN:
            output.print(f"  ... and {len(of_rule) - _SHOWN:,} more (all of them: --json, or meta.findings)")
        output.print(f"  [dim]what to do:[/] {escape(of_rule[0]['remedy'])}", soft_wrap=True)


_COUNTED = ("dialogues", "turns", "labels", "candidates", "personas", "examples")


def show(result: "BuildResult") -> None:
    """Print what a build did, what is in the warehouse, and what to type next."""
    for note in result.notes:
        output.print(f"[yellow]note:[/] {escape(note)}", soft_wrap=True)
    if result.unchanged_since:
        when = f"{result.unchanged_since:%Y-%m-%d %H:%M} UTC"
        output.print(f"Nothing changed: {escape(str(result.path))} is as it was built on {when}", soft_wrap=True)
        output.print(f"  see what is in it with: talkhouse status{_option(result.path)}", soft_wrap=True)
        return
    if result.inventory:
        _show_dry_run(result, result.inventory)
        return
    output.print(f"[bold green]Built[/] {size(result.status)} in {result.seconds:.1f} s", soft_wrap=True)
    for corpus_id in result.plan.remove:
        output.print(f"  removed {escape(corpus_id)}: it is no longer in the data folder")
    show_corpora(result.status, unchanged=result.plan.keep)
    _suggest(result.status, _option(result.path))


def _show_dry_run(result: "BuildResult", inventory: "Inventory") -> None:
    """Print what a build would do: what is recognised, what is ignored and why, what is found."""
    output.print("[bold]Dry run[/]: nothing was published. The warehouse would contain:")
    show_corpora(result.status, unchanged=result.plan.keep)
    for corpus_id in result.plan.remove:
        output.print(f"  removed {escape(corpus_id)}: it is no longer in the data folder")
    output.print("Files:")
    for group in inventory.files:
        what = "recognised" if group["kind"] in ("read", "archive") else group["kind"]
        records = f", {group['records']:,} records" if group["records"] else ""
        why = f": {group['note']}" if group["note"] else ""
        line = f"{group['corpus_id']}: {group['file_count']:,} {what}{records}{why}"
        output.print(f"  {escape(line)}", soft_wrap=True)
        if group["kind"] not in ("read", "archive"):
            for name in group["examples"]:
                output.print(f"    {escape(name)}", soft_wrap=True)
    output.print("Findings:")
    show_findings(inventory.findings)


def show_corpora(described: dict[str, Any], unchanged: Collection[str] = ()) -> None:
    """Print each corpus with its counts."""
    for corpus in described["corpora"]:
        tags = [note] if (note := not_published(corpus)) else []
        tags += ["unchanged"] if corpus["corpus_id"] in unchanged else []
        tag = f" [dim]({escape(', '.join(tags))})[/]" if tags else ""
        output.print(f"  [bold]{escape(corpus['corpus_id'])}[/]  {escape(corpus['title'])}{tag}", soft_wrap=True)
        counts = ", ".join(f"{corpus[name]:,} {name}" for name in _COUNTED if corpus[name])
        if others := corpus["annotations"] - corpus["labels"]:
            counts += f", {others:,} annotations without a label"
        output.print(f"    {counts}", soft_wrap=True)
        output.print(
            f"    {corpus['files']:,} files, {corpus['quarantined']:,} records in quarantine, "
            f"{corpus['findings']:,} findings",
            soft_wrap=True,
        )


def size(described: dict[str, Any]) -> str:
    """Return the path of the file with its size and schema revision."""
    megabytes, revision = described["bytes"] / 1e6, described["build"]["schema_revision"]
    return f"{escape(described['database'])} ({megabytes:,.1f} MB, schema {revision})"


def _suggest(described: dict[str, Any], option: str) -> None:
    """Print what to type next."""
    output.print("Next:")
    if any(corpus["examples"] for corpus in described["corpora"]):
        query = "select task, split, count(*) from main.examples group by all order by all"
        output.print(f'  talkhouse sql "{query}"{option}', soft_wrap=True)
    output.print(f"  talkhouse status{option}", soft_wrap=True)
    if all(corpus["is_sample"] for corpus in described["corpora"]):
        output.print(
            "  talkhouse build --data DIR   (your own copies: a folder for each corpus, named by its id)",
            soft_wrap=True,
        )


def _option(path: Path) -> str:
    """Return the option that names this warehouse to the next command, if it needs one."""
    return "" if path == database() else f" --db {escape(shlex.quote(str(path)))}"
