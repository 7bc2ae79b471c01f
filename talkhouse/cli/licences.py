"""``talkhouse licences``: the licences of what is installed with Talkhouse, by extra."""

from dataclasses import asdict

from rich import box
from rich.table import Table
from rich.text import Text

from talkhouse.cli.terminal.console import Printer, output
from talkhouse.cli.terminal.options import AsJson
from talkhouse.visible import visible, visible_json


def command(as_json: AsJson = False) -> None:
    """List the licences of the packages that Talkhouse needs on this machine, with the extras that they come with.

    They are what each installed package says of itself: an SPDX expression, or a name. Of an extra that is not
    installed, only the packages are listed that it names itself. Corpora have licences of their own: see talkhouse
    status.

    Examples:
        talkhouse licences

        talkhouse licences --json
    """
    from talkhouse.installed import packages

    found = packages()
    if as_json:
        print(visible_json([asdict(one) for one in found]))
        return
    table = Table(box=box.SIMPLE, header_style="bold")
    for head in ("package", "version", "licence", "comes with"):
        table.add_column(head, overflow="fold")
    for one in found:
        cells = (one.name, one.version or "not installed", one.licence or "", ", ".join(one.extras) or "talkhouse")
        table.add_row(*(Text(visible(cell)) for cell in cells))
    (output if output.is_terminal else Printer(width=10_000)).print(table)
