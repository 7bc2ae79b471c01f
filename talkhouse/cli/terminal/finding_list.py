"""Findings on a terminal, rule by rule: for ``talkhouse findings`` and a dry run."""

from itertools import groupby
from typing import Any

from rich.markup import escape

from talkhouse.cli.terminal.console import output

_SHOWN = 10


def show_findings(found: list[dict[str, Any]]) -> None:
    """Print findings by rule, the first of each rule with where they are."""
    if not found:
        output.print("No findings.")
    for (rule, severity), group in groupby(found, key=lambda one: (one["rule"], one["severity"])):
        some = list(group)
        colour = "red" if severity.startswith("reject") else "yellow"
        output.print(
            f"[bold]{escape(rule)}[/] [{colour}]{escape(severity)}[/] ({len(some):,}): {escape(some[0]['condition'])}",
            soft_wrap=True,
        )
        for one in some[:_SHOWN]:
            location = f"{one['file'] or one['corpus_id'] or ''}{'#' + one['place'] if one['place'] else ''}"
            output.print(f"  {escape(location)}: {escape(one['detail'])}", soft_wrap=True)
        if len(some) > _SHOWN:
            output.print(f"  ... and {len(some) - _SHOWN:,} more (all of them: --json, or meta.findings)")
        output.print(f"  [dim]what to do:[/] {escape(some[0]['remedy'])}", soft_wrap=True)
