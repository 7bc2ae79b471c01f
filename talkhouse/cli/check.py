"""``talkhouse check``: all checks on a warehouse."""

import sys
from pathlib import Path

from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.console import escape, output
from talkhouse.settings import database
from talkhouse.visible import visible_json

_SHOWN = 5


@options.command
@options.db
@options.named_folders
@options.as_json
def command(db: Path | None, as_json: bool) -> None:
    """Run all checks: grain, references, counts, vocabulary, leaks between splits, and those of each corpus.

    Exit code 1, with the offending rows, if a check of severity error fails. Warnings are findings:
    see talkhouse findings.
    """
    from talkhouse.queries.checks import checks, run
    from talkhouse.warehouse.opened import opened

    with opened(database(db)) as warehouse:
        outcomes = list(run(warehouse.con, checks(warehouse.catalogue, warehouse.corpus_ids)))
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
            output.print(f"{verdict}  {escape(outcome.check.condition)}  {cost}", soft_wrap=True)
            for row in outcome.rows[:_SHOWN]:
                text = row.get("detail") or ", ".join(f"{name}={value!r}" for name, value in row.items())
                output.print(f"      {escape(str(text))}", soft_wrap=True)
            if outcome.offending > _SHOWN:
                output.print(f"      ... and {outcome.offending - _SHOWN:,} more")
        failed = sum(outcome.is_failure for outcome in outcomes)
        warned = sum(outcome.offending > 0 for outcome in outcomes) - failed
        seconds = sum(outcome.milliseconds for outcome in outcomes) / 1000
        output.print(f"{len(outcomes)} checks in {seconds:.1f} s: {failed} failed, {warned} with warnings")
    if any(outcome.is_failure for outcome in outcomes):
        sys.exit(1)
