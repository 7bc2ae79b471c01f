"""``talkhouse conform`` and ``corpora``: whether a corpus keeps to the contract, and which corpora there are."""

from collections import Counter
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click

from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.console import print_hanging, print_table, styled
from talkhouse.escaping import visible, visible_json
from talkhouse.settings import corpus_folders

if TYPE_CHECKING:
    from talkhouse.testing.contract import CheckResult


_COLOURS = {"holds": "green", "can't tell": "dim", "fails": "bold red"}
_WIDTH = 12


@options.command
@click.argument("corpus_id", metavar="ID", help="The corpus.")
@options.corpus_folders
@options.path(
    "--tests",
    metavar="DIR",
    help="The folder with golden/<case>, broken/<rule> and clauses.py. Default: tests in the corpus's folder, "
    "or next to it.",
)
@options.flag("--regen", help="Write the golden files again in place of comparing them.")
@options.as_json
def conform_command(corpus_id: str, folders: tuple[Path, ...], tests: Path | None, regen: bool, as_json: bool) -> None:
    """Check that a corpus keeps the contract: files come back equal, nothing is lost, views are documented.

    Warehouses of its invented sample and of the files in its tests are built in a temporary folder. Broken files for
    the rules of all corpora are made from the sample. It takes about a minute. In a test file of pytest,
    talkhouse.testing.contract_tests("ID", here=__file__) checks the same.

    What can't be checked here, such as views in an older DuckDB that is not installed, is listed with the reason. Exit
    code: 0 where nothing fails, else 1.

    Examples:
        talkhouse conform film_scenes
        talkhouse conform tea_talks --corpora ~/corpora --regen
    """
    from talkhouse.ingest.registry import folder_of
    from talkhouse.system.files import temporary_folder
    from talkhouse.testing.contract import results
    from talkhouse.testing.subject import folder_of_tests, subject_of

    with temporary_folder() as scratch:
        subject = subject_of(corpus_id, tests, scratch, corpus_folders(folders))
        subject.cases = tests or folder_of_tests(folder_of(subject.corpus))
        subject.regen = regen
        done = []
        for check, runs in groupby(results(subject), key=lambda result: result.name.partition("[")[0]):
            several = list(runs)
            done += several
            if not as_json:
                _print(check, several)
        subject.close()
    if as_json:
        print(visible_json([asdict(result) for result in done]))
    else:
        _print_summary(corpus_id, done)
    if any(result.outcome == "fails" for result in done):
        raise click.exceptions.Exit(1)


def _print(check: str, runs: "list[CheckResult]") -> None:
    """Print one line for a check, and what is to be said of each case that does not hold."""
    outcomes = {run.outcome for run in runs}
    worst = next(outcome for outcome in reversed(_COLOURS) if outcome in outcomes)
    cases = f" (cases: {len(runs):,})" if runs[0].name != check else ""
    print_hanging(styled(f"{worst:<{_WIDTH}}", _COLOURS[worst]), styled(check.replace("_", " ") + cases))
    for run in runs:
        if run.detail:
            case = run.name.removeprefix(check).strip("[]")
            for line in (f"{case}: {run.detail}" if case else run.detail).splitlines():
                print_hanging(styled(" " * _WIDTH), styled(visible(line), "dim" if run.outcome == "can't tell" else ""))


def _print_summary(corpus_id: str, done: "list[CheckResult]") -> None:
    counts = Counter(str(result.outcome) for result in done)
    words = {"holds": "hold", "fails": "fail", "can't tell": "can't be told"}
    parts = [f"{counts[outcome]:,} {word}" for outcome, word in words.items() if counts[outcome]]
    seconds = sum(result.seconds for result in done)
    print_hanging(styled(f"{len(done):,} checks of {corpus_id} in {seconds:.0f} s: {', '.join(parts)}"))


@options.command
@options.corpus_folders
@options.data
@options.as_json
def corpora_command(folders: tuple[Path, ...], data: Path | None, as_json: bool) -> None:
    """List the corpora that can be read here: id, where its code comes from, and title.

    They come with Talkhouse (built in), with installed packages (entry points of the group talkhouse.corpora), and from
    the folders in --corpora or TALKHOUSE_CORPORA. From a data folder, nothing is ever imported: there a page of TOML,
    corpus.toml, declares what a corpus is. Without --data, the folder corpora is used.

    All of them are imported for this list; one that can't be imported is listed with the reason, and stops only what
    needs it.

    Examples:
        talkhouse corpora
        talkhouse corpora --corpora ~/our-corpora --json
    """
    from talkhouse.ingest.registry import all_corpora
    from talkhouse.settings import DATA

    found = all_corpora(corpus_folders(folders), data or DATA).described()
    if as_json:
        print(visible_json(found))
        return
    rows = []
    for corpus in found:
        title = visible(corpus["title"] or "")
        about = styled(visible(corpus["problem"], lines=True), "red") if corpus["problem"] is not None else title
        rows.append([visible(corpus["corpus_id"] or ""), visible(corpus["origin"] or ""), about])
    print_table(("corpus", "from", "title"), rows)
