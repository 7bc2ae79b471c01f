"""``talkhouse licences``: the licences of what is installed with Talkhouse, by extra."""

from dataclasses import asdict

from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.console import print_table
from talkhouse.visible import visible, visible_json


@options.command
@options.as_json
def command(as_json: bool) -> None:
    """List the licences of the packages that Talkhouse needs on this machine, with the extras that they come with.

    Each is what the installed package declares: an SPDX expression, or a name. For an extra that is not installed, only
    the packages that it names itself are listed. Corpora have licences of their own: see talkhouse status.

    Examples:
        talkhouse licences

        talkhouse licences --json
    """
    from talkhouse.installed import packages

    found = packages()
    if as_json:
        print(visible_json([asdict(one) for one in found]))
        return
    rows = (
        (one.name, one.version or "not installed", one.licence or "", ", ".join(one.extras) or "talkhouse")
        for one in found
    )
    print_table(("package", "version", "licence", "comes with"), (list(map(visible, row)) for row in rows))
