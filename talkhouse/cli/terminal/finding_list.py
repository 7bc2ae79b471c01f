"""Findings on a terminal, rule by rule: for ``talkhouse findings`` and a dry run."""

from itertools import groupby
from typing import Any

from talkhouse.cli.terminal.console import escape, output

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
