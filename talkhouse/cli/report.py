"""``talkhouse report``: the corpora on one HTML page."""

from pathlib import Path

from talkhouse.cli.dashboard import require_dashboard
from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.console import decimal, escape, output
from talkhouse.cli.terminal.progress import ProgressBar
from talkhouse.settings import database


@options.command
@options.path("--output", "path", metavar="FILE.html", required=True, help="The page to write.")
@options.force
@options.db
@options.named_folders
def command(path: Path, force: bool, db: Path | None) -> None:
    """Write one HTML page about the warehouse, to read, to print, or to attach to a paper.

    It has the corpora with their charts, splits and gold labels, how well annotators agree, findings and checks, a
    dictionary of all tables and views with a diagram, licences, and what to cite. Everything is inside the file: it
    asks nothing of the network. Where talkhouse overlap has written its file beside the warehouse, it has the matrix of
    places too. Two reports on one build, and one overlap, are equal to the byte.

    Needs Altair: pip install 'talkhouse[dashboard]'

    Examples:
        talkhouse report --output corpora.html
        talkhouse report --db talkhouse.duckdb --output corpora.html --force
    """
    require_dashboard()
    from talkhouse.query.export import settings
    from talkhouse.report.write_report import write_report
    from talkhouse.warehouse.opened import opened

    with opened(database(db), settings=settings(path)) as warehouse, ProgressBar() as bar:
        bar.begin("reading the rows of the charts", unit="charts")
        report = write_report(warehouse.con, path, force=force, on_chart=bar.advance)
    output.print(
        f"Wrote a report on {report.corpora} corpora, with {report.charts} charts ({decimal(report.bytes)}),"
        f" to {escape(str(report.path))}",
        soft_wrap=True,
    )
