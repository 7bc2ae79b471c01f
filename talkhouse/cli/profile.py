"""``talkhouse profile``: what may be wrong with the dialogues of a corpus, and the personal data in their texts."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.console import escape, output, print_table
from talkhouse.cli.terminal.progress import ProgressBar
from talkhouse.escaping import visible, visible_json
from talkhouse.schema.errors import UsageError, closest
from talkhouse.settings import database

if TYPE_CHECKING:
    from talkhouse.profile.profile import CheckResult, Profile


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
def command(
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
    from talkhouse.profile.profile import as_data, checks, profile, profiled
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
