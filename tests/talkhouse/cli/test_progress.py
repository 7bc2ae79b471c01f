"""The progress bar: what it says of records and bytes, on a terminal only."""

import io

import pytest

from talkhouse.cli.terminal.console import Printer
from talkhouse.cli.terminal.progress import ProgressBar


@pytest.mark.parametrize(
    ("ahead", "done", "shown"),
    [
        ({"size": 4_000_000}, (12, 1_000_000), ["12 records, 1.0 MB of 4.0 MB, ", " a second"]),
        ({"records": 2_000}, (1_200, 5_000), ["1,200 of 2,000 records, 5.0 kB, ", " a second"]),
        ({"size": 4_000_000, "unit": ""}, (0, 1_000_000), [" 1.0 MB of 4.0 MB, ", " a second"]),
        ({"unit": "rows"}, (70_000,), ["70,000 rows, ", " a second"]),
    ],
)
def test_it_counts_what_is_done(ahead: dict[str, int], done: tuple[int, ...], shown: list[str]) -> None:
    stream = io.StringIO()
    with ProgressBar(Printer(file=stream, force_terminal=True, width=120), redrawn=1e-9) as bar:
        bar.begin("reading [toy]", **ahead)
        bar.advance(*done)
    assert "reading [toy]" in stream.getvalue()
    assert all(words in stream.getvalue() for words in shown), stream.getvalue()


def test_elsewhere_nothing_is_shown() -> None:
    stream = io.StringIO()
    with ProgressBar(Printer(file=stream)) as bar:
        bar.begin("exporting", records=10)
        bar.advance(10)
    assert stream.getvalue() == ""
